package derive

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/headroom"
)

func TestMTU(t *testing.T) {
	for _, tt := range []struct {
		name       string
		mtu, ask   uint16
		v6         bool
		transport  fabric.Transport
		need, rdma uint16
	}{
		{name: "jumbo", mtu: 9000, need: 4156, rdma: 4096},
		{name: "4200", mtu: 4200, need: 4156, rdma: 4096},
		{name: "one less", mtu: 4191, need: 2108, rdma: 2048},
		{name: "plain", mtu: 1500, need: 1084, rdma: 1024},
		{name: "IPv6", mtu: 9000, v6: true, need: 4176, rdma: 4096},
		{name: "asked for less", mtu: 9000, ask: 1024, need: 1084, rdma: 4096},
		{name: "asked for more", mtu: 1500, ask: 4096, need: 4156, rdma: 1024},
		{name: "iWARP", mtu: 1500, ask: 4096, transport: fabric.IWARP},
		{name: "unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDraft()
			d.roce(func(q *fabric.QoS) { q.Classes[0].RDMAMTU, q.Classes[0].Transport = tt.ask, tt.transport })
			_, nic := d.pair("other", 0, 100_000, 1_000, tt.mtu)
			if tt.v6 {
				d.Segments = append(d.Segments, fabric.Segment{VLAN: 10}, fabric.Segment{VLAN: 11, Subnet: prefix("2001:db8::/64")})
				d.VLANSets = append(d.VLANSets, []fabric.SegmentID{1, 2})
				d.Ports[nic].VLANs = 1
			}
			p := compute(t, d).Port(nic)
			if p.NeedMTU != tt.need || p.RDMAMTU != tt.rdma || p.NeedClass != 0 {
				t.Errorf("need %d of class %d, RDMA MTU %d, want %d and %d", p.NeedMTU, p.NeedClass, p.RDMAMTU, tt.need, tt.rdma)
			}
			if tt.ask == 0 && p.NeedMTU > tt.mtu {
				t.Errorf("needs %d of %d without being asked", p.NeedMTU, tt.mtu)
			}
		})
	}
}

func TestCaps(t *testing.T) {
	d := newDraft()
	d.roce(func(q *fabric.QoS) { q.Classes[1].CapPercent, q.Classes[2].CapMbps = 5, 7_000 })
	tor, _ := d.pair("other", 0, 25_000, 1_000, 1500)
	if got, want := compute(t, d).Port(tor).CapMbps, ([8]uint32{0: 7_000, 6: 1_250}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLists(t *testing.T) {
	d := newDraft()
	for range 3 {
		d.device(fabric.Switch, "other", 0, 0)
	}
	d.LAGs = append(d.LAGs, fabric.LAG{Device: 3}, fabric.LAG{Device: 1}, fabric.LAG{Device: 3})
	d.Ifaces = append(d.Ifaces, fabric.Iface{Device: 2})
	facts := compute(t, d)
	if diff := cmp.Diff([][]fabric.LAGID{{2}, {}, {1, 3}}, [][]fabric.LAGID{facts.LAGsOf(1), facts.LAGsOf(2), facts.LAGsOf(3)}); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]fabric.IfaceID{{}, {1}, {}}, [][]fabric.IfaceID{facts.IfacesOf(1), facts.IfacesOf(2), facts.IfacesOf(3)}); diff != "" {
		t.Error(diff)
	}
}

// drawn is a fabric of switches cabled to hosts, with inputs from small sets.
func drawn(t *rapid.T) draft {
	d := newDraft()
	q := d.roce(nil)
	models := []fabric.ModelID{d.spectrum(96, nil), d.trident2(), 0}
	profiles := []fabric.ProfileID{0, d.profile(q, false, nil), d.profile(q, false, func(p *fabric.Profile) { p.PFC = 0 })}
	host := d.profile(q, true, nil)
	d.Headrooms = append(d.Headrooms, fabric.Headroom{AllBytes: 70_000})
	for range rapid.IntRange(1, 4).Draw(t, "switches") {
		os := rapid.SampledFrom([]string{"sonic/202405", "sonic/202311", "other/1"}).Draw(t, "os")
		n := rapid.IntRange(1, 6).Draw(t, "ports")
		sw := d.device(fabric.Switch, os, rapid.SampledFrom(models).Draw(t, "model"), n)
		d.Devices[sw].Buffer.SharedBytes = rapid.SampledFrom([]uint64{0, 1_000_000}).Draw(t, "shared")
		for i := range fabric.PortID(n) {
			node := d.device(fabric.Node, "ubuntu/24.04", 0, 1)
			p, x := d.Devices[sw].First+i, d.Devices[node].First
			d.cable(p, x, rapid.SampledFrom([]uint32{0, 1_000, 5_000, 30_000}).Draw(t, "cable"))
			d.Ports[p].Mbps = rapid.SampledFrom([]uint32{40_000, 100_000}).Draw(t, "speed")
			d.Ports[p].MTU = rapid.SampledFrom([]uint16{1500, 9100}).Draw(t, "mtu")
			d.Ports[p].Profile = rapid.SampledFrom(profiles).Draw(t, "profile")
			d.Ports[p].Headroom = fabric.HeadroomID(rapid.IntRange(0, 1).Draw(t, "headroom"))
			d.Ports[x].Mbps, d.Ports[x].MTU, d.Ports[x].Profile = d.Ports[p].Mbps, 1500, host
		}
	}
	return d
}

// The order of the ports of a device changes nothing about any of them.
func TestShuffledPorts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawn(t)
		before, _ := Compute(d.Fabric, Options{})
		seed := rapid.Uint64().Draw(t, "seed")
		r := rand.New(rand.NewPCG(seed, seed))
		to := make([]fabric.PortID, len(d.Ports)) // old -> new
		for id := range d.Devices {
			first, end := d.PortsOf(fabric.DeviceID(id))
			for i, j := range r.Perm(int(end - first)) {
				to[first+fabric.PortID(i)] = first + fabric.PortID(j)
			}
		}
		ports := make([]fabric.Port, len(d.Ports))
		for old, p := range d.Ports {
			p.Peer = to[p.Peer]
			ports[to[old]] = p
		}
		d.Ports = ports
		after, _ := Compute(d.Fabric, Options{})
		for old := range ports {
			if diff := cmp.Diff(before.Port(fabric.PortID(old)), after.Port(to[old])); diff != "" {
				t.Fatalf("port %d: %s", old, diff)
			}
		}
		if diff := cmp.Diff(before.Buffers, after.Buffers); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Every row is used, no two rows are equal, and facts hold their own order:
// a clamped threshold is within its bound, a minimum below the reference.
func TestRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawn(t)
		facts, _ := Compute(d.Fabric, Options{})
		again, _ := Compute(d.Fabric, Options{})
		if diff := cmp.Diff(facts, again, cmp.AllowUnexported(Facts{}, grouped[fabric.LAGID]{}, grouped[fabric.IfaceID]{})); diff != "" {
			t.Fatal(diff)
		}
		used := map[FactID]bool{0: true}
		for _, id := range facts.Of {
			used[id] = true
		}
		if len(used) != len(facts.Rows) {
			t.Fatalf("%d rows, %d used", len(facts.Rows), len(used))
		}
		seen := map[Port]bool{}
		for _, row := range facts.Rows {
			if seen[row] {
				t.Fatalf("two rows are %+v", row)
			}
			seen[row] = true
			for prio, h := range row.Headroom {
				if h.Source != SourceNone && h.Minimum >= h.Reference {
					t.Fatalf("priority %d: minimum %d, reference %d", prio, h.Minimum, h.Reference)
				}
			}
			for q, e := range row.ECN {
				if e.Auto && e.RelaxedBytes > 2*9100 && e.MinBytes > e.RelaxedBytes {
					t.Fatalf("queue %d marks from %d, bound %d", q, e.MinBytes, e.RelaxedBytes)
				}
				if e.On && e.MinBytes >= e.MaxBytes {
					t.Fatalf("queue %d: %+v", q, e)
				}
			}
		}
	})
}

// The number of rows follows the number of different inputs, not of ports.
func TestRowsFollowVariety(t *testing.T) {
	rows := func(pods, lengths int) int {
		d := large(pods, 8, lengths)
		facts, _ := Compute(d.Fabric, Options{})
		return len(facts.Rows)
	}
	one, many, varied := rows(1, 1), rows(20, 1), rows(20, 3)
	if one != many || one != 3 { // none, switch port, host port
		t.Errorf("%d rows for one pod, %d for 20 equal ones", one, many)
	}
	if varied != 1+3*2 {
		t.Errorf("%d rows for three lengths", varied)
	}
}

// large is a fabric of switches with n hosts each; cables have so many lengths,
// by switch.
func large(switches, n, lengths int) draft {
	d := newDraft()
	q := d.roce(nil)
	m := d.spectrum(192, func(m *fabric.SwitchModel) { m.Tile = true })
	d.NICModels = append(d.NICModels, fabric.NICModel{Driver: d.Names.Add("mlx5")})
	tor, nic := d.profile(q, false, nil), d.profile(q, true, nil)
	for i := range switches {
		sw := d.device(fabric.Switch, "sonic/202405", m, n)
		for j := range n / 8 {
			node := d.device(fabric.Node, "ubuntu/24.04", 0, 8)
			for k := range fabric.PortID(8) {
				p, x := d.Devices[sw].First+fabric.PortID(j)*8+k, d.Devices[node].First+k
				d.cable(p, x, uint32(1+i%lengths)*1_000)
				d.NICs = append(d.NICs, fabric.NIC{Model: 1, Port: x})
				d.Ports[p].Mbps, d.Ports[p].MTU, d.Ports[p].Profile = 400_000, 9100, tor
				d.Ports[x].Mbps, d.Ports[x].MTU, d.Ports[x].Profile, d.Ports[x].NIC = 400_000, 9000, nic, fabric.NICID(len(d.NICs)-1)
			}
		}
	}
	return d
}

func BenchmarkCompute(b *testing.B) {
	for _, bb := range []struct {
		name    string
		lengths int
	}{{"one length", 1}, {"50 lengths", 50}} {
		b.Run(bb.name, func(b *testing.B) {
			d := large(800, 64, bb.lengths) // 51,200 cables, 102,400 ports
			b.ReportAllocs()
			for b.Loop() {
				Compute(d.Fabric, Options{})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(d.Ports)), "ns/port")
		})
	}
}

// Data that lacks a constant of a formula leaves the reference formula.
// TestOneLane: on a model of eight lanes a port of SFP28 has one, at whatever speed it
// runs, and a port of eight keeps them at 25G.
func TestOneLane(t *testing.T) {
	group := func(lanes uint8, most uint32) Headroom {
		d := newDraft()
		m := d.spectrum(192, func(m *fabric.SwitchModel) { m.Lanes, m.Mbps = lanes, map[string]uint32{"p0": most} })
		tor, _ := d.pair("sonic/202505", m, 25_000, 3_000, 9216)
		return compute(t, d).Port(tor).Headroom[3]
	}
	one, four, eight := group(8, 25_000), group(4, 800_000), group(8, 800_000)
	if one != four || one.Xon >= eight.Xon {
		t.Errorf("of one lane %+v, of four %+v, of eight %+v", one, four, eight)
	}
}

func TestFormulas(t *testing.T) {
	for _, tt := range []struct {
		formula string
		edit    func(*fabric.SwitchModel)
		mbps    uint32
		want    uint32
		source  Source
	}{
		{formula: "cisco", mbps: 100_000, want: 111_992, source: SourceFormula}, // roce-theory A.9: 100G 300 m
		{formula: "cisco", mbps: 800_000, want: 379_551, source: SourceReference},
		{formula: "mlxsw", mbps: 100_000, want: mlxsw(t, 81_695), source: SourceFormula},
		{formula: "mlxsw", mbps: 100_000, edit: func(m *fabric.SwitchModel) { m.CellBytes = 0 }, want: 81_695, source: SourceReference},
		{formula: "", mbps: 100_000, want: 81_695, source: SourceReference},
	} {
		d := newDraft()
		m := d.spectrum(96, func(m *fabric.SwitchModel) {
			m.Formula = d.Names.Add(tt.formula)
			if tt.edit != nil {
				tt.edit(m)
			}
		})
		tor, _ := d.pair("any/1", m, tt.mbps, 300_000, 9216)
		if h := compute(t, d).Port(tor).Headroom[3]; h.Source != tt.source || h.Xoff != tt.want {
			t.Errorf("%s at %d: %+v, want %d from %d", tt.formula, tt.mbps, h, tt.want, tt.source)
		}
	}
}

// mlxsw is 2*ceil(delay/96) + ceil(9216/96) cells of 96 bytes.
func mlxsw(t *testing.T, reference int64) uint32 {
	t.Helper()
	cells := 2*((reference-9216+95)/96) + 96
	if whole, err := headroom.CellRound(cells*96, 96); err != nil || whole != cells*96 {
		t.Fatal("not in whole cells")
	}
	return uint32(cells * 96)
}

func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }
