package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var buffers = []*Rule{
	roce501, roce502, roce503, roce504, roce505, roce506, roce507, roce508, roce509, roce510, roce511, roce512, roce513, roce514, roce515, roce516, roce517, roce518, roce519,
	roce520,
}

var roce501 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE501", Name: "buffer_headroom", Severity: diag.Error, Fixable: true,
		Title:      "headroom holds less than still arrives after a pause",
		Why:        "below the physical minimum, or the vendor's own row, frames are lost whenever the port pauses",
		Fix:        "raise the headroom, or leave it to be computed",
		Interrupts: recarves,
		Source: "IEEE 802.1Qbb-2011, annex O; Cisco white paper C11-542809, Distance Limitations; rows of pg_profile_lookup.ini " +
			"in sonic-net/sonic-buildimage",
		Formula: "least headroom in bytes = largest frame of the port + frame of the class + 168 + 125 * metres * Gb/s / 99, or " +
			"the row of the vendor where there is one",
		Bad:  twoNodes(`headroom = 10080`),
		Good: twoNodes(``),
	},
	Run:   headroomSize,
	mends: drop("headroom", "buffer.headroom"),
}

func headroomSize(p *Pass) {
	p.eachHeadroom(func(e End, priority int, h derive.Headroom, ports int) {
		least, why := h.Minimum, "the physical minimum"
		if h.Table > least {
			least, why = h.Table, "the vendor's table"
		}
		if h.Source != derive.SourceOperator || h.Xoff >= least {
			return
		}
		l := p.Fabric.Links[e.Port.Link]
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("headroom of priority %d on %s is %d B, and %s for %s is %d B", priority, p.Name(e), h.Xoff, why, Meters(max(l.CableMm, h.AssumedMm)), least),
			Address: p.Fabric.PortAddress(e.ID), Count: ports,
			Labels: []diag.Label{p.atHeadroom(e, priority), p.Fabric.LinkLabel(e.Port.Link, schema.ACable, "the cable")},
			Notes:  []string{fmt.Sprintf("the reference formula gives %d B", h.Reference)}, Help: fmt.Sprintf("use %d B or more, or leave it to be computed", max(least, h.Reference)),
		})
	})
}

// eachHeadroom calls visit for each lossless priority of switch ports, once for
// every distinct row of derived facts on a device, and for all where that finds something.
func (p *Pass) eachHeadroom(visit func(e End, priority int, h derive.Headroom, ports int)) {
	p.eachDerived(func(e End, ports int) {
		for priority, h := range p.Facts.Port(e.ID).Headroom {
			if h.Source != derive.SourceNone || h.TableMiss {
				visit(e, priority, h, ports)
			}
		}
	})
}

// eachDerived calls visit for the distinct rows of derived facts of each switch, as EachProfile does.
func (p *Pass) eachDerived(visit func(e End, ports int)) {
	if p.headrooms.rows == nil {
		p.headrooms.rows, p.headrooms.find = p.shared().headrooms(), p.headroomRows
	}
	for i := range p.headrooms.rows {
		p.headrooms.visit(p, i, visit)
	}
}

func (p *Pass) headroomRows(other func(row int, id fabric.PortID)) []alike {
	f := p.Fabric
	rows := []alike{}
	alone := p.single()
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		if f.Devices[d].Kind != fabric.Switch {
			continue
		}
		start := len(rows) // few rows for each switch: a search through them is short
		first, end := f.PortsOf(d)
		for id := first; id < end; id++ {
			fact := p.Facts.Of[id]
			if fact == 0 {
				continue
			}
			i := slices.IndexFunc(rows[start:], func(r alike) bool { return p.Facts.Of[r.first] == fact })
			if i < 0 || alone {
				rows = append(rows, alike{id, 1})
				continue
			}
			rows[start+i].ports++
			if other != nil {
				other(start+i, id)
			}
		}
	}
	return rows
}

var roce502 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE502", Name: "buffer_headroom_sum", Severity: diag.Error,
		Title: "headroom of all ports takes more of the buffer than it may",
		Why:   "headroom is taken from the shared buffer: past about half of it, nothing is left to absorb a burst",
		Fix: "fewer lossless priorities, shorter cables, or a shared headroom pool; where the chip takes more, write " +
			"headroom_share in its switch_model",
		Interrupts: recarves,
		Source: "house limit: half of the buffer, headroom_share of the switch_model; Guo et al., SIGCOMM 2016, section 2: " +
			"headroom is what limits the lossless classes of a switch",
		Formula: "sum over ports and lossless priorities of headroom in whole cells <= headroom_share (50 %) * buffer, in bytes",
		Bad:     strings.Replace(twoNodes(``), `model = "nvidia/sn3700"`, `model = "example/shallow"`, 1) + shallowSwitch("100KB"),
		Good:    strings.Replace(twoNodes(``), `model = "nvidia/sn3700"`, `model = "example/shallow"`, 1) + shallowSwitch("32MB"),
	},
	Run: headroomSum,
}

func shallowSwitch(buffer string) string {
	return strings.NewReplacer("example/plain", "example/few", "example/no-dscp", "example/shallow", `buffer       = "32MB"`, `buffer       = "`+buffer+`"`).Replace(noDSCP("true"))
}

func headroomSum(p *Pass) {
	f := p.Fabric
	for id, sum := range p.headroomSums() {
		share, most := p.headroomShare(fabric.DeviceID(id))
		if most == 0 || sum <= most {
			continue
		}
		dev := &f.Devices[id]
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("headroom of %s sums to %d B, and %d %% of its buffer is %d B", f.Text(dev.Name), sum, share, most), Address: f.Text(dev.Address),
			Labels: []diag.Label{f.Label(dev.Decl, dev.Layers, schema.AModel, "")},
			Help:   "fewer lossless priorities, shorter cables, or a shared headroom pool; where the chip takes more, write headroom_share in its switch_model",
		})
	}
}

// headroomSums are the headroom of all lossless priorities of each switch, in
// whole cells.
func (p *Pass) headroomSums() []uint64 {
	f := p.Fabric
	sum := make([]uint64, len(f.Devices))
	p.eachHeadroom(func(e End, _ int, h derive.Headroom, ports int) {
		cell := uint64(max(f.Models[e.Device.Model].CellBytes, 1))
		sum[e.Port.Device] += (uint64(h.Xoff) + cell - 1) / cell * cell * uint64(ports)
	})
	return sum
}

// headroomShare is how many percent of a switch's buffer may be reserved for
// headroom, and how many bytes that is; 0 where that is not known, or where a
// shared headroom pool takes the place of reserves.
func (p *Pass) headroomShare(d fabric.DeviceID) (percent, bytes uint64) {
	dev := &p.Fabric.Devices[d]
	m := &p.Fabric.Models[dev.Model]
	if dev.Kind != fabric.Switch || dev.Buffer.HeadroomBytes > 0 {
		return 0, 0
	}
	percent = uint64(m.HeadroomSharePercent)
	if percent == 0 {
		percent = 50
	}
	return percent, m.BufferBytes * percent / 100
}

var roce503 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE503", Name: "buffer_table_row", Severity: diag.Error,
		Title:  "a device that looks its headroom up has no row for the speed and length",
		Why:    "without a row the port gets no lossless group at all, and nobody says so",
		Fix:    "write headroom on the port, or use a switch that has the row; a length shorter than the real one would lose frames",
		Source: "sonic-net/sonic-buildimage #5837",
		Bad:    strings.ReplaceAll(edit(twoNodes(``), `"nvidia/sn3700"`, `"example/lookup"`), `"100G"`, `"200G"`) + lookupSwitch,
		Good:   edit(twoNodes(``), `"nvidia/sn3700"`, `"example/lookup"`, `length = "3m"`, `length = "5m"`) + lookupSwitch,
	},
	Run: tableRow,
}

// lookupSwitch has the headroom table of a shipping platform.
var lookupSwitch = strings.NewReplacer("example/plain", "example/old", "example/no-dscp", "example/lookup",
	"{ \"*\" = \"100G\" }", "{ \"*\" = \"200G\" }", "  lanes     = 4\n", "  lanes     = 4\n  platform  = \"x86_64-dell_z9100_c2538-r0\"\n  hwsku     = \"Force10-Z9100-C32\"\n").Replace(noDSCP("true"))

func tableRow(p *Pass) {
	p.eachHeadroom(func(e End, priority int, h derive.Headroom, ports int) {
		if !h.TableMiss || h.Source == derive.SourceOperator {
			return
		}
		l := p.Fabric.Links[e.Port.Link]
		m := &p.Fabric.Models[e.Device.Model]
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s has no lossless profile for %s at %s: port %s would have PFC and no buffer for it", p.Fabric.Text(e.Device.Name), fabric.Speed(e.Port.Mbps), Meters(max(l.CableMm, h.AssumedMm)), p.Name(e)),
			Address: p.Fabric.PortAddress(e.ID), Count: ports,
			Labels: []diag.Label{p.Fabric.LinkLabel(e.Port.Link, schema.ACable, ""), p.Fabric.Label(e.Device.Decl, e.Device.Layers, schema.AModel, "the switch")},
			Notes:  []string{p.lengths(m, e.Port.Mbps)},
			Help:   "write headroom on the port, or use a switch that has the row; a length shorter than the real one would lose frames",
		})
	})
}

// lengths says which cable lengths a model's table has for a speed.
func (p *Pass) lengths(m *fabric.SwitchModel, mbps uint32) string {
	var have []string
	for _, r := range p.Fabric.HeadroomRows {
		if r.Platform == m.Platform && r.SKU == m.HWSKU && r.Mbps == mbps {
			have = append(have, Meters(r.CableMm))
		}
	}
	if len(have) == 0 {
		return fmt.Sprintf("its table has no row for %s at all", fabric.Speed(mbps))
	}
	return fmt.Sprintf("its table has %s for %s", strings.Join(have, ", "), fabric.Speed(mbps))
}

var roce512 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE512", Name: "buffer_headroom_zero", Severity: diag.Error, When: diag.Both, Fixable: true,
		Title:      "a port has PFC and no headroom",
		Why:        "PFC without headroom pauses too late: whatever is on the cable is lost",
		Fix:        "write the cable's length, or a headroom",
		Interrupts: recarves,
		Source:     "IEEE 802.1Qbb-2011, annex O; Cisco white paper C11-542809, Distance Limitations",
		Bad:        twoNodes(`headroom = 0`),
		Good:       twoNodes(``),
	},
	Run:   headroomZero,
	mends: drop("headroom", "buffer.headroom"),
}

func headroomZero(p *Pass) {
	f := p.Fabric
	p.Managed(func(e End) {
		if e.Profile.PFC == 0 || e.Device.Kind != fabric.Switch {
			return
		}
		h := &f.Headrooms[e.Port.Headroom]
		if h.Keep || h.AllBytes > 0 {
			return
		}
		report := func(pfc uint8, at diag.Label) {
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("PFC %s is on at %s, and its headroom is 0 B", Priorities(pfc), p.Name(e)), Address: f.PortAddress(e.ID),
				Labels: []diag.Label{at}, Help: "leave it to be computed, or write a size",
			})
		}
		if h.Zero {
			report(e.Profile.PFC, p.AtPort(e, schema.AHeadroom, ""))
			return
		}
		q := &f.QoS[e.Profile.QoS]
		for i := range q.Classes {
			c, on := &q.Classes[i], e.Profile.On[i]
			switch {
			case !on.PFC || h.ByClass[i] > 0:
			case h.ZeroClass[i]:
				report(1<<on.Priority, p.AtPort(e, schema.AHeadroom, ""))
			case c.HeadroomZero:
				report(1<<on.Priority, f.Label(c.Decl, 0, schema.ABuffer, ""))
			}
		}
	})
}
