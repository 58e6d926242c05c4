package derive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/headroom"
	"github.com/rocec/rocec/lang/diag"
)

func compute(t *testing.T, d draft) *Facts {
	t.Helper()
	facts, diags := Compute(d.Fabric, Options{})
	if len(diags) > 0 {
		t.Fatalf("unexpected findings: %s", summaries(diags))
	}
	return facts
}

func summaries(list diag.List) string {
	var s []string
	for _, d := range list {
		s = append(s, d.Summary)
	}
	return strings.Join(s, "; ")
}

// Worked numbers of roce-theory A.2 and A.4.
func TestReference(t *testing.T) {
	for _, tt := range []struct {
		mbps, mm uint32
		mtu      uint16
		want     uint32
	}{
		{100_000, 5_000, 1500, 29_016},
		{400_000, 40_000, 9216, 96_723},
		{400_000, 300_000, 9216, 228_036},
		{100_000, 80_000_000, 9216, 10_144_827},
		{10_000, 1_000, 1500, 7_469},
		{800_000, 2_000_000, 4200, 2_086_691},
	} {
		d := newDraft()
		tor, _ := d.pair("other-os", d.spectrum(96, nil), tt.mbps, tt.mm, tt.mtu)
		h := compute(t, d).Port(tor).Headroom[3]
		if h.Source != SourceReference || h.Xoff != tt.want || h.Reference != tt.want || h.AssumedMm != 0 {
			t.Errorf("%d Mb/s, %d mm, MTU %d: %+v, want the reference %d", tt.mbps, tt.mm, tt.mtu, h, tt.want)
		}
		if h.Minimum >= h.Reference || h.Minimum == 0 {
			t.Errorf("minimum %d beside %d", h.Minimum, h.Reference)
		}
	}
}

// Worked numbers of roce-theory A.6, where small packets are 100 %.
func TestSpectrum(t *testing.T) {
	for _, tt := range []struct {
		release         string
		cell, mbps, mm  uint32
		lanes           uint8
		pool            uint64
		xon, xoff, size uint32
	}{
		{"202405", 96, 100_000, 5_000, 4, 0, 19456, 72704, 92160},
		{"202505", 144, 200_000, 5_000, 4, 0, 19456, 121856, 141312},
		{"", 144, 400_000, 40_000, 4, 0, 19456, 265216, 284672},
		{"202405", 144, 400_000, 40_000, 8, 0, 38912, 265216, 313344},
		{"202311", 192, 100_000, 40_000, 4, 0, 19456, 121856, 141312},
		{"202405", 144, 100_000, 5_000, 4, 1 << 20, 19456, 108544, 19456},
	} {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			d := newDraft()
			m := d.spectrum(tt.cell, func(m *fabric.SwitchModel) {
				m.Facts = map[string]int64{FactSmallPercent: 100_000}
				m.Lanes = tt.lanes
			})
			tor, _ := d.pair("sonic/"+tt.release, m, tt.mbps, tt.mm, 9100)
			d.Devices[1].Buffer.HeadroomBytes = tt.pool
			h := compute(t, d).Port(tor).Headroom[3]
			if h.Source != SourceFormula || h.Xon != tt.xon || h.Xoff != tt.xoff || h.Size != tt.size {
				t.Errorf("got %+v, want xon %d, xoff %d, size %d", h, tt.xon, tt.xoff, tt.size)
			}
		})
	}
}

func TestSpectrumOfSplitPort(t *testing.T) {
	d := newDraft()
	m := d.spectrum(144, func(m *fabric.SwitchModel) { m.Lanes = 8 })
	tor, _ := d.pair("sonic/202405", m, 400_000, 5_000, 9100)
	whole := compute(t, d).Port(tor).Headroom[3]
	d.Breakouts = []fabric.Breakout{{Device: 1, Count: 2, Lanes: 8, Children: []fabric.PortID{tor}}}
	half := compute(t, d).Port(tor).Headroom[3]
	if whole.Xon != 2*half.Xon || half.Xon == 0 {
		t.Errorf("xon of a port of 8 lanes is %d, of one of 4 %d", whole.Xon, half.Xon)
	}
}

// trident2 adds the rows of roce-theory A.7 for one speed and names the model.
func (d draft) trident2() fabric.ModelID {
	m := d.spectrum(208, func(m *fabric.SwitchModel) {
		m.Formula = d.Names.Add("reference")
		m.Platform, m.HWSKU = d.Names.Add("x86_64-arista_7050_qx32s"), d.Names.Add("Arista-7050-QX-32S")
	})
	for _, r := range []struct{ mbps, m, size, xoff uint32 }{
		{40_000, 5, 46_384, 45_136}, {40_000, 40, 48_464, 47_216}, {40_000, 300, 64_064, 62_816}, {100_000, 5, 48_464, 47_216},
	} {
		d.HeadroomRows = append(d.HeadroomRows, fabric.HeadroomRow{
			Platform: d.Models[m].Platform, SKU: d.Models[m].HWSKU, Mbps: r.mbps, CableMm: r.m * 1000,
			SizeBytes: r.size, XonBytes: 18_432, XonOffsetBytes: 2_496, XoffBytes: r.xoff, AlphaExponent: -3,
		})
	}
	return m
}

func TestLookUp(t *testing.T) {
	row := func(mm, size, xoff uint32) Headroom {
		return Headroom{Source: SourceTable, Xoff: xoff, Xon: 18_432, Size: size, XonOffset: 2_496, Alpha: -3, HasAlpha: true, Table: xoff, TableMm: mm}
	}
	for _, tt := range []struct {
		name     string
		os       string
		mbps, mm uint32
		want     Headroom
	}{
		{"exact", "sonic/202405", 40_000, 40_000, row(40_000, 48_464, 47_216)},
		{"next longer", "sonic/202405", 40_000, 41_000, row(300_000, 64_064, 62_816)},
		{"shortest", "sonic/202405", 40_000, 500, row(5_000, 46_384, 45_136)},
		{"too long", "sonic/202405", 40_000, 301_000, Headroom{Source: SourceReference, TableMiss: true, ShorterMm: 300_000}},
		{"speed not listed", "sonic/202405", 10_000, 5_000, Headroom{Source: SourceReference, TableMiss: true}},
		{"another system", "cumulus-linux/5.11", 40_000, 40_000, Headroom{Source: SourceReference}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDraft()
			tor, _ := d.pair(tt.os, d.trident2(), tt.mbps, tt.mm, 1500)
			got := compute(t, d).Port(tor).Headroom[3]
			want := tt.want
			want.Minimum, want.Reference = got.Minimum, got.Reference
			if want.Source == SourceReference {
				want.Xoff = got.Reference
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Tables can come beside the fabric; what the fabric holds wins. A threshold
// outside the exponents is one in bytes.
func TestRowsBeside(t *testing.T) {
	d := newDraft()
	tor, _ := d.pair("sonic/202405", d.trident2(), 40_000, 5_000, 1500)
	row := headroom.Row{Platform: "x86_64-arista_7050_qx32s", SKU: "Arista-7050-QX-32S", Mbps: 40_000, CableMm: 5_000, XoffBytes: 50_000, Threshold: 36_736}
	get := func() Headroom {
		facts, diags := Compute(d.Fabric, Options{Rows: []headroom.Row{{Platform: "other", SKU: row.SKU, Mbps: 40_000, CableMm: 5_000, XoffBytes: 1}, row}})
		if len(diags) > 0 {
			t.Fatal(summaries(diags))
		}
		return facts.Port(tor).Headroom[3]
	}
	if h := get(); h.Xoff != 45_136 {
		t.Errorf("the fabric's own row: %+v", h)
	}
	d.HeadroomRows = nil
	if h := get(); h.Source != SourceTable || h.Xoff != 50_000 || h.HasAlpha {
		t.Errorf("the row beside: %+v", h)
	}
}

// A platform without any row is not said to miss one.
func TestLookUpWithoutTable(t *testing.T) {
	d := newDraft()
	m := d.spectrum(208, func(m *fabric.SwitchModel) { m.Formula, m.Platform = d.Names.Add("reference"), d.Names.Add("x") })
	tor, _ := d.pair("sonic/202405", m, 40_000, 40_000, 1500)
	if h := compute(t, d).Port(tor).Headroom[3]; h.TableMiss || h.Source != SourceReference {
		t.Errorf("got %+v", h)
	}
}

// The option of the target block says which of the two an image does.
func TestBufferModelOption(t *testing.T) {
	d := newDraft()
	m := d.trident2()
	d.Models[m].Formula = d.Names.Add("spectrum")
	tor, _ := d.pair("sonic/202405", m, 40_000, 5_000, 9100)
	model := func(value string, devices ...fabric.DeviceID) fabric.Selection {
		return fabric.Selection{Emitter: d.Names.Add("sonic"), Devices: devices, Options: []fabric.Option{{Name: d.Names.Add("buffer_model"), Value: d.Names.Add(value)}}}
	}
	for _, tt := range []struct {
		name string
		sel  []fabric.Selection
		want Source
	}{
		{"none", nil, SourceFormula},
		{"traditional", []fabric.Selection{model("traditional")}, SourceTable},
		{"named goes first", []fabric.Selection{model("dynamic", 1), model("traditional")}, SourceFormula},
		{"of another device", []fabric.Selection{model("traditional", 2)}, SourceFormula},
	} {
		d.Selections = tt.sel
		if got := compute(t, d).Port(tor).Headroom[3].Source; got != tt.want {
			t.Errorf("%s: source %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestWritten(t *testing.T) {
	for _, tt := range []struct {
		name  string
		port  fabric.Headroom
		class func(*fabric.Class)
		want  func(*Headroom)
	}{
		{name: "port for all", port: fabric.Headroom{AllBytes: 60_000}, want: func(h *Headroom) { h.Source, h.Xoff, h.Size = SourceOperator, 60_000, 61_248 }},
		{name: "port by class", port: fabric.Headroom{AllBytes: 1, ByClass: [fabric.MaxClasses]uint32{0: 70_000}}, want: func(h *Headroom) { h.Source, h.Xoff, h.Size = SourceOperator, 70_000, 71_248 }},
		{name: "class", class: func(c *fabric.Class) { c.HeadroomBytes = 50_000 }, want: func(h *Headroom) { h.Source, h.Xoff, h.Size = SourceOperator, 50_000, 51_248 }},
		{name: "port before class", port: fabric.Headroom{AllBytes: 60_000}, class: func(c *fabric.Class) { c.HeadroomBytes = 50_000 }, want: func(h *Headroom) { h.Source, h.Xoff, h.Size = SourceOperator, 60_000, 61_248 }},
		{name: "keep", port: fabric.Headroom{Keep: true}, class: func(c *fabric.Class) { c.HeadroomBytes = 50_000 }, want: func(h *Headroom) { h.Source = SourceKept }},
		{name: "xon and alpha", class: func(c *fabric.Class) { c.XonBytes, c.Alpha = 9_000, fabric.Ratio{Num: 1, Den: 16} }, want: func(h *Headroom) { h.Xon, h.Alpha = 9_000, -4 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			build := func(written bool) Headroom {
				d := newDraft()
				d.roce(func(q *fabric.QoS) {
					if written && tt.class != nil {
						tt.class(&q.Classes[0])
					}
				})
				tor, _ := d.pair("sonic/202405", d.trident2(), 40_000, 5_000, 1500)
				if written {
					d.Headrooms = append(d.Headrooms, tt.port)
					d.Ports[tor].Headroom = 1
				}
				return compute(t, d).Port(tor).Headroom[3]
			}
			want := build(false)
			tt.want(&want)
			if diff := cmp.Diff(want, build(true)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Adapters [roce-theory A.8]; without a length the driver takes 7 m.
func TestReceiveBuffer(t *testing.T) {
	for _, tt := range []struct {
		mbps, mm uint32
		mtu      uint16
		want     uint32
	}{{25_000, 7_000, 1500, 16_720}, {100_000, 0, 1500, 35_680}, {200_000, 30_000, 9216, 98_067}} {
		d := newDraft()
		_, nic := d.pair("sonic/202405", d.spectrum(96, nil), tt.mbps, tt.mm, tt.mtu)
		d.NICModels = append(d.NICModels, fabric.NICModel{Driver: d.Names.Add("mlx5"), MaxMTU: 9978, Facts: map[string]int64{FactReceiveCell: 128_000}})
		d.NICs = append(d.NICs, fabric.NIC{Model: 1, Port: nic})
		d.Ports[nic].NIC = 1
		h := compute(t, d).Port(nic).Headroom[3]
		if h.Source != SourceFormula || h.Xoff != tt.want || h.Size != tt.want+9978+128 {
			t.Errorf("%d Mb/s: %+v, want xoff %d", tt.mbps, h, tt.want)
		}
		d.NICModels[1].Driver = d.Names.Add("ice")
		if h := compute(t, d).Port(nic).Headroom[3]; h.Source != SourceReference {
			t.Errorf("another driver: %+v", h)
		}
	}
}

func TestAssumedLength(t *testing.T) {
	for role, want := range map[fabric.PortRole]uint32{
		fabric.RoleNode: 5_000, fabric.RoleHost: 5_000, fabric.RoleFabric: 40_000, fabric.RolePeerLink: 40_000, fabric.RoleUnused: 40_000,
	} {
		d := newDraft()
		tor, _ := d.pair("other", d.spectrum(96, nil), 100_000, 0, 1500)
		d.Ports[tor].Role = role
		p := compute(t, d).Port(tor)
		if p.Headroom[3].AssumedMm != want || p.CableMm != want {
			t.Errorf("role %d: assumed %d, computed for %d, want %d", role, p.Headroom[3].AssumedMm, p.CableMm, want)
		}
	}
}

func TestAssumedLengthByOption(t *testing.T) {
	d := newDraft()
	tor, nic := d.pair("other", d.spectrum(96, nil), 100_000, 0, 1500)
	d.Ports[tor].Role = fabric.RoleFabric
	facts, _ := Compute(d.Fabric, Options{NodeCableMm: 2_000, FabricCableMm: 90_000})
	if a, b := facts.Port(tor).CableMm, facts.Port(nic).CableMm; a != 90_000 || b != 2_000 {
		t.Errorf("assumed %d and %d", a, b)
	}
	d.Links[1].CableMm, d.Links[1].BadLength = 7_000, true
	facts, _ = Compute(d.Fabric, Options{})
	if got := facts.Port(tor).CableMm; got != 40_000 {
		t.Errorf("a refused length counts: %d", got)
	}
}

// 500 ns of equipment are 99 m of cable.
func TestDelayCountsAsCable(t *testing.T) {
	d := newDraft()
	tor, _ := d.pair("other", d.spectrum(96, nil), 100_000, 1_000, 1500)
	d.Links[1].DelayNs = 500
	delayed := compute(t, d).Port(tor)
	d.Links[1].DelayNs, d.Links[1].CableMm = 0, 100_000
	long := compute(t, d).Port(tor)
	if delayed.CableMm != 100_000 || delayed.Headroom[3] != long.Headroom[3] {
		t.Errorf("got %d mm and %+v, want %+v", delayed.CableMm, delayed.Headroom[3], long.Headroom[3])
	}
}

// A class that asks for an RDMA MTU sends smaller frames than the port may
// (roce-theory A.4, asymmetric): 9216 here and 4156 from the peer.
func TestFramesOfBothEnds(t *testing.T) {
	d := newDraft()
	d.roce(func(q *fabric.QoS) { q.Classes[0].RDMAMTU = 4096 })
	tor, nic := d.pair("other", d.spectrum(96, nil), 100_000, 5_000, 9216)
	if got, want := compute(t, d).Port(tor).Headroom[3].Reference, uint32(44_448-9216+4156); got != want {
		t.Errorf("with an RDMA MTU: %d, want %d", got, want)
	}
	d.QoS[1].Classes[0].RDMAMTU = 0
	d.Ports[nic].MTU = 4200
	if got, want := compute(t, d).Port(tor).Headroom[3].Reference, uint32(44_448-9216+4200); got != want {
		t.Errorf("with a smaller peer: %d, want %d", got, want)
	}
}

func TestFindings(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(d draft, tor fabric.PortID)
		want string
	}{
		{"fine", func(draft, fabric.PortID) {}, ""},
		{"no speed", func(d draft, p fabric.PortID) { d.Ports[p].Mbps = 0 }, "headroom of d1/p0 follows from a speed that is not known"},
		{"odd speed", func(d draft, p fabric.PortID) { d.Ports[p].Mbps = 1_600_000 }, "headroom of d1/p0 cannot be computed: no pause response time is known for 1600000 Mb/s"},
		{"not ours", func(d draft, p fabric.PortID) { d.Ports[p].Mbps, d.Devices[1].Manage = 0, fabric.HandsOff }, ""},
		{"odd speed with a written size", func(d draft, p fabric.PortID) {
			d.Headrooms = append(d.Headrooms, fabric.Headroom{AllBytes: 300_000})
			d.Ports[p].Mbps, d.Ports[p].Headroom = 1_600_000, 1
		}, ""},
		{"alpha of a switch", func(d draft, _ fabric.PortID) { d.Devices[1].Buffer.Alpha = fabric.Ratio{Num: 3, Den: 10} }, "alpha of switch d1 is 3/10, which is no power of two"},
		{"alpha of a class", func(d draft, _ fabric.PortID) { d.QoS[1].Classes[0].Alpha = fabric.Ratio{Num: 3, Den: 1} }, "alpha of class rdma is 3/1, which is no power of two"},
		{"cap", func(d draft, p fabric.PortID) {
			d.Ports[p].Mbps = 0
			d.Profiles[d.Ports[p].Profile].Sched[0].CapPercent = 10
			d.Profiles[d.Ports[p].Profile].PFC = 0
		}, "d1/p0 caps queue 0 at 10 % of a speed that is not known"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDraft()
			tor, _ := d.pair("other", d.spectrum(96, nil), 100_000, 5_000, 1500)
			tt.edit(d, tor)
			_, diags := Compute(d.Fabric, Options{})
			if got := summaries(diags); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			for _, x := range diags {
				if x.Address == "" || len(x.Labels) == 0 || x.Help == "" {
					t.Errorf("finding lacks a place or help: %+v", x)
				}
			}
		})
	}
}

// The peer's own response time stands in for the standard's.
func TestPeerResponse(t *testing.T) {
	d := newDraft()
	m := d.spectrum(96, func(m *fabric.SwitchModel) { m.PauseResponseNs = 3_430 })
	a, b := d.device(fabric.Switch, "other", m, 1), d.device(fabric.Switch, "other", 0, 1)
	p, q := d.Devices[a].First, d.Devices[b].First
	d.cable(p, q, 1_000)
	qos := d.roce(nil)
	for _, x := range []fabric.PortID{p, q} {
		d.Ports[x].Mbps, d.Ports[x].MTU, d.Ports[x].Profile = 10_000, 1500, d.profile(qos, false, nil)
	}
	facts := compute(t, d)
	if got := facts.Port(q).Headroom[3].Reference; got != 7_469 { // 67 quanta are 3430 ns
		t.Errorf("reference is %d, want 7469", got)
	}
	d.Models[m].PauseResponseNs = 51
	if got := compute(t, d).Port(q).Headroom[3].Reference; got != 7_469-66*64 {
		t.Errorf("with a faster peer: %d", got)
	}
	if got := compute(t, d).Port(p).Headroom[3].Reference; got != 7_469 {
		t.Errorf("the fast end itself: %d", got)
	}
}
