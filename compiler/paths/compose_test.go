package paths

import (
	"fmt"
	"math/bits"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
)

// plot is a fabric made by hand with contracts, for composition.
type plot struct {
	*fabric.Fabric
	at map[string]fabric.DeviceID
}

const (
	classRDMA = iota
	classCNP
	classBulk
	classDefault
)

// contract is RDMA in DSCP and priority, without loss, CNPs at 48, bulk at 10.
func contract(f *fabric.Fabric, dscp uint64, priority uint8) fabric.QoS {
	name := func(s string) fabric.Str { return f.Names.Add(s) }
	return fabric.QoS{Trust: fabric.TrustDSCP, Classes: []fabric.Class{
		{Name: name("rdma"), Carries: fabric.CarriesRDMA, DSCP: dscp, Priority: priority, Queue: priority, Group: priority, Lossless: true, ECN: fabric.ECN{Mode: fabric.Auto}},
		{Name: name("cnp"), Carries: fabric.CarriesCNP, DSCP: 1 << 48, Priority: 6, Queue: 6, Strict: true},
		{Name: name("bulk"), Carries: fabric.CarriesOther, DSCP: 1 << 10, Priority: 1, Queue: 1},
		{Name: name("default"), Default: true},
	}}
}

func newPlot(contracts ...func(f *fabric.Fabric) fabric.QoS) *plot {
	f := &fabric.Fabric{
		Devices: make([]fabric.Device, 1), Ports: make([]fabric.Port, 1), Links: make([]fabric.Link, 1), Topologies: make([]fabric.Topology, 1), Routings: make([]fabric.Routing, 1),
		Profiles: make([]fabric.Profile, 1), QoS: make([]fabric.QoS, 1), Segments: make([]fabric.Segment, 1), VLANSets: make([][]fabric.SegmentID, 1), LAGs: make([]fabric.LAG, 1), Ifaces: make([]fabric.Iface, 1),
		MLAGs: make([]fabric.MLAG, 1), NICs: make([]fabric.NIC, 1), Models: make([]fabric.SwitchModel, 1), NICModels: make([]fabric.NICModel, 1), Headrooms: make([]fabric.Headroom, 1), Layers: make([]fabric.Layers, 1), Decls: make([]fabric.Decl, 1),
	}
	for _, c := range contracts {
		f.QoS = append(f.QoS, c(f))
	}
	return &plot{f, map[string]fabric.DeviceID{}}
}

func (m *plot) device(name string, kind fabric.DeviceKind, ports int) {
	id := fabric.DeviceID(len(m.Devices))
	m.at[name] = id
	m.Devices = append(m.Devices, fabric.Device{Name: m.Names.Add(name), Kind: kind, Trusted: true, First: fabric.PortID(len(m.Ports)), NPorts: uint32(ports)})
	for i := range ports {
		m.Ports = append(m.Ports, fabric.Port{Device: id, Name: m.Names.Add(fmt.Sprint(i)), Mbps: 100_000, MTU: 9000})
	}
}

// cable joins the next free ports of two devices.
func (m *plot) cable(a, b string) (p, q fabric.PortID) {
	free := func(name string) fabric.PortID {
		first, end := m.PortsOf(m.at[name])
		for p := first; p < end; p++ {
			if m.Ports[p].Link == 0 {
				return p
			}
		}
		panic("no port left on " + name)
	}
	p, q = free(a), free(b)
	l := fabric.LinkID(len(m.Links))
	m.Ports[p].Peer, m.Ports[q].Peer, m.Ports[p].Link, m.Ports[q].Link = q, p, l, l
	m.Links = append(m.Links, fabric.Link{A: min(p, q), B: max(p, q), CableMm: 3000})
	return p, q
}

// profile lays a contract out, and changes it.
func (m *plot) profile(q fabric.QoSID, host bool, change func(p *fabric.Profile)) fabric.ProfileID {
	p := fabric.Profile{QoS: q, Host: host, Trust: m.QoS[q].Trust}
	for _, c := range m.QoS[q].Classes {
		for d := range p.DSCP {
			if c.DSCP>>d&1 == 1 {
				p.DSCP[d] = c.Priority
			}
		}
		p.PCP[c.Priority] = c.Priority
		p.Queue[c.Priority], p.Group[c.Priority], p.PFCQueue[c.Priority] = c.Queue, c.Group, c.Queue
		if !host {
			p.ECN[c.Queue] = c.ECN
		}
		if c.Lossless {
			p.PFC |= 1 << c.Priority
		}
	}
	if change != nil {
		change(&p)
	}
	for i, c := range m.QoS[q].Classes {
		on := &p.On[i]
		switch {
		case p.Trust == fabric.TrustPCP:
			on.Priority = p.PCP[c.Priority]
		case p.Trust == fabric.TrustDSCP && c.DSCP != 0:
			on.Priority = p.DSCP[bits.TrailingZeros64(c.DSCP)]
		}
		on.Queue, on.Group, on.PFC = p.Queue[on.Priority], p.Group[on.Priority], p.PFC>>on.Priority&1 == 1
	}
	if i := slices.Index(m.Profiles, p); i > 0 {
		return fabric.ProfileID(i)
	}
	m.Profiles = append(m.Profiles, p)
	return fabric.ProfileID(len(m.Profiles) - 1)
}

func (m *plot) facts(t interface{ Fatalf(string, ...any) }) *derive.Facts {
	facts, diags := derive.Compute(m.Fabric, derive.Options{})
	if diags.HasErrors() {
		t.Fatalf("%s", diags[0].Summary)
	}
	return facts
}

// key is what makes two breaks one, without numbers of the package's own.
type key struct {
	Class    Class
	Fault    Fault
	Priority uint8
	Out, To  fabric.ProfileID
	MTU      [2]uint16
}

func keyOf(f *fabric.Fabric, c Class, h *Hop) key {
	out, to := &f.Ports[h.Out], &f.Ports[h.To]
	return key{c, h.Fault, h.Priority, out.Profile, to.Profile, [2]uint16{out.MTU, to.MTU}}
}

// drawPlot draws a small fabric with a few faults in it.
func drawPlot(t *rapid.T) *plot {
	draw := func(name string, low, high int) int { return rapid.IntRange(low, high).Draw(t, name) }
	one := func(f *fabric.Fabric) fabric.QoS { return contract(f, 1<<26|1<<27, 3) }
	two := func(f *fabric.Fabric) fabric.QoS {
		q := contract(f, 1<<34, 4)
		if draw("lossy", 0, 3) == 0 {
			q.Classes[classRDMA].Lossless = false
		}
		q.Classes[classBulk].DSCP = 1<<10 | 1<<26
		return q
	}
	three := func(f *fabric.Fabric) fabric.QoS {
		q := contract(f, 1<<26|1<<27, 3)
		q.Classes[classRDMA].Remap = draw("remap", 0, 1) == 1
		if draw("tags", 0, 2) == 0 {
			q.Trust = fabric.TrustPCP
		}
		return q
	}
	m := newPlot(one, two, three)
	f := m.Fabric
	vrf := f.Names.Add("red")
	gateway := netip.MustParseAddr("10.0.0.1")
	for s := range draw("segments", 1, 3) {
		seg := fabric.Segment{VLAN: uint16(100 + s), QoS: 1}
		if draw("gateway", 0, 1) == 1 {
			seg.Gateway = gateway
			if draw("vrf", 0, 1) == 1 {
				seg.VRF = vrf
			}
		}
		f.Segments = append(f.Segments, seg)
		f.VLANSets = append(f.VLANSets, []fabric.SegmentID{fabric.SegmentID(s + 1)})
	}
	all := []fabric.SegmentID{}
	for s := 1; s < len(f.Segments); s++ {
		all = append(all, fabric.SegmentID(s))
	}
	f.VLANSets = append(f.VLANSets, all)
	switches := draw("switches", 1, 5)
	for s := range switches {
		m.device(fmt.Sprintf("s%d", s), fabric.Switch, 40)
	}
	var fabricPorts, nodePorts, nics []fabric.PortID
	trunk := func(p, q fabric.PortID) {
		if draw("trunk", 0, 4) > 0 {
			f.Ports[p].VLANs, f.Ports[q].VLANs = fabric.VLANSetID(len(f.VLANSets)-1), fabric.VLANSetID(len(f.VLANSets)-1)
		} else {
			f.Ports[p].Native, f.Ports[q].Native = 1, 1
		}
	}
	for s := 0; s+1 < switches && draw("pair", 0, 2) == 0; s += 2 { // of an MLAG
		a, b := fmt.Sprintf("s%d", s), fmt.Sprintf("s%d", s+1)
		id := fabric.MLAGID(len(f.MLAGs))
		pair := fabric.MLAG{Switches: [2]fabric.DeviceID{m.at[a], m.at[b]}}
		for range draw("peer links", 0, 2) {
			p, q := m.cable(a, b)
			l := f.Ports[p].Link
			f.Links[l].PeerLink, pair.Links = id, append(pair.Links, l)
			fabricPorts = append(fabricPorts, p, q)
			if draw("routed peers", 0, 1) == 0 {
				trunk(p, q)
			}
		}
		f.Devices[m.at[a]].MLAG, f.Devices[m.at[b]].MLAG = id, id
		f.MLAGs = append(f.MLAGs, pair)
	}
	lag := func(mode fabric.LAGMode, ports ...fabric.PortID) {
		id := fabric.LAGID(len(f.LAGs))
		f.LAGs = append(f.LAGs, fabric.LAG{Device: f.Ports[ports[0]].Device, Mode: mode, Members: ports})
		for _, p := range ports {
			f.Ports[p].LAG = id
		}
	}
	routed := draw("routed", 0, 3) > 0
	for range draw("cables", 0, 8) {
		a, b := draw("a", 0, switches-1), draw("b", 0, switches-1)
		if a == b {
			continue
		}
		p, q := m.cable(fmt.Sprintf("s%d", a), fmt.Sprintf("s%d", b))
		fabricPorts = append(fabricPorts, p, q)
		if !routed {
			trunk(p, q)
		}
	}
	for m1 := 1; m1 < len(f.MLAGs); m1++ { // LAGs of other switches, or of the two of another pair, over a pair
		of := f.MLAGs[m1].Switches
		for range draw("over the pair", 0, 2) {
			var ends []fabric.PortID
			other := draw("end", 0, switches-1)
			for side, d := range of {
				at := other
				if draw("pair over pair", 0, 1) == 0 && f.Devices[fabric.DeviceID(other+1)].MLAG != 0 && other^1 < switches {
					at = other&^1 + side
				}
				if dev := m.at[fmt.Sprintf("s%d", at)]; dev == of[0] || dev == of[1] {
					continue
				}
				p, q := m.cable(fmt.Sprintf("s%d", at), f.Text(f.Devices[d].Name))
				fabricPorts, ends = append(fabricPorts, p, q), append(ends, p)
				f.Ports[q].LAG = fabric.LAGID(len(f.LAGs)) // its half has the same number on both
				if !routed {
					trunk(p, q)
				}
			}
			if len(ends) > 0 {
				lag(fabric.LACP, ends...)
			}
		}
		for h := range draw("bonded nodes", 0, 2) {
			name := fmt.Sprintf("b%d.%d", m1, h)
			m.device(name, fabric.Node, 3)
			seg, tagged := fabric.SegmentID(draw("segment", 0, len(f.Segments)-1)), draw("tagged", 0, 1) == 1
			var members []fabric.PortID
			for i := range 2 + draw("third NIC", 0, 4)/4 {
				p, q := m.cable(name, f.Text(f.Devices[of[i&1]].Name))
				nics, nodePorts, members = append(nics, p), append(nodePorts, q), append(members, p)
				if seg > 0 && tagged {
					f.Ports[p].VLANs, f.Ports[q].VLANs = fabric.VLANSetID(seg), fabric.VLANSetID(seg)
				} else {
					f.Ports[p].Native, f.Ports[q].Native = seg, seg
				}
			}
			lag(rapid.SampledFrom([]fabric.LAGMode{fabric.LACP, fabric.LACP, fabric.ActiveBackup}).Draw(t, "mode"), members...)
		}
	}
	for h := range draw("nodes", 2, 5) {
		name := fmt.Sprintf("n%d", h)
		m.device(name, fabric.Node, 2)
		f.Devices[m.at[name]].Trusted = draw("stranger", 0, 7) > 0
		for range draw("nics", 1, 2) {
			p, q := m.cable(name, fmt.Sprintf("s%d", draw("leaf", 0, switches-1)))
			nics, nodePorts = append(nics, p), append(nodePorts, q)
			seg := fabric.SegmentID(draw("segment", 0, len(f.Segments)-1))
			if seg > 0 && draw("tagged", 0, 1) == 1 {
				f.Ports[p].VLANs, f.Ports[q].VLANs = fabric.VLANSetID(seg), fabric.VLANSetID(seg)
			} else {
				f.Ports[p].Native, f.Ports[q].Native = seg, seg
			}
		}
	}
	q := fabric.QoSID(draw("contract", 1, 3))
	for _, p := range nics {
		f.Ports[p].Profile = m.profile(q, true, nil)
	}
	for _, p := range append(slices.Clone(fabricPorts), nodePorts...) {
		f.Ports[p].Profile = m.profile(q, false, nil)
	}
	any := slices.Concat(fabricPorts, nodePorts, nics)
	for range draw("faults", 0, 4) {
		p := any[draw("port", 0, len(any)-1)]
		host := f.Devices[f.Ports[p].Device].Kind == fabric.Node
		c := q
		if draw("other", 0, 2) == 0 {
			c = fabric.QoSID(draw("contract", 1, 3))
		}
		var change func(x *fabric.Profile)
		switch draw("fault", 0, 10) {
		case 0:
			change = func(x *fabric.Profile) { x.DSCP[26] = 4 }
		case 1:
			change = func(x *fabric.Profile) { x.DSCP[27] = 1 }
		case 2:
			change = func(x *fabric.Profile) { x.PFC = 0 }
		case 3:
			change = func(x *fabric.Profile) { x.PFCQueue[3] = 5 }
		case 4:
			change = func(x *fabric.Profile) { x.Queue[3] = 1 }
		case 5:
			change = func(x *fabric.Profile) { x.ECN = [8]fabric.ECN{} }
		case 6:
			change = func(x *fabric.Profile) { x.DSCP[10] = 3 }
		case 7:
			change = func(x *fabric.Profile) { x.Trust = fabric.TrustPCP }
		case 8:
			change = func(x *fabric.Profile) {
				x.Remarks = true
				for d := range x.Remark {
					x.Remark[d] = uint8(d)
				}
				x.Remark[26] = 27
				x.Remark[27] = 48
			}
		case 9:
			f.Ports[p].MTU = 1500
		case 10:
			change = func(x *fabric.Profile) { x.PFC |= 1 << 4; x.DSCP[26], x.DSCP[27] = 4, 4 }
		}
		f.Ports[p].Profile = m.profile(c, host, change)
		if draw("bare", 0, 9) == 0 {
			f.Ports[p].Profile = 0
		}
	}
	f.Routings = append(f.Routings, fabric.Routing{Default: true, Model: fabric.RoutingModel(draw("routing", 1, 3)), LocalRepair: draw("repair", 0, 3) == 0})
	if r := &f.Routings[1]; r.Model == fabric.TableRouting {
		for range draw("rows", 1, 12) {
			sw := func(name string) fabric.DeviceID { return fabric.DeviceID(1 + draw(name, 0, switches-1)) }
			row := fabric.Route{At: sw("at"), To: sw("to"), Next: sw("next"), Priority: -1}
			if draw("from", 0, 1) == 1 {
				row.From = sw("from")
			}
			if row.At != row.To && row.At != row.Next {
				r.Table = append(r.Table, row)
			}
		}
	}
	return m
}

// drawMask takes some links and switches down.
func drawMask(t *rapid.T, f *fabric.Fabric) *fabric.Mask {
	if rapid.Bool().Draw(t, "up") {
		return nil
	}
	m := &fabric.Mask{Links: map[fabric.LinkID]bool{}, Devices: map[fabric.DeviceID]bool{}}
	for range rapid.IntRange(0, 2).Draw(t, "links down") {
		m.Links[fabric.LinkID(rapid.IntRange(1, len(f.Links)-1).Draw(t, "link"))] = true
	}
	if rapid.IntRange(0, 3).Draw(t, "switch down") == 0 {
		m.Devices[fabric.DeviceID(rapid.IntRange(1, len(f.Devices)-1).Draw(t, "device"))] = true
	}
	return m
}

// TestComposeAgainstPackets follows every code point of every class from every
// NIC to every other one over every way, a packet at a time, and wants the same
// breaks.
func TestComposeAgainstPackets(t *testing.T) {
	broken, always := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m := drawPlot(t)
		got, want := comparePackets(t, m, drawMask(t, m.Fabric))
		if got.Always {
			always++
			if len(want) > 0 {
				t.Error("said to hold whatever fails")
			}
		}
		if len(want) > 0 {
			broken++
		}
	})
	if broken == 0 || always == 0 {
		t.Errorf("%d fabrics with breaks, %d without any: the test shows nothing", broken, always)
	}
}

// comparePackets compares the breaks of a fabric with those that packets meet.
func comparePackets(t *rapid.T, m *plot, mask *fabric.Mask) (got *Composition, want map[key]bool) {
	facts := m.facts(t)
	got = Compose(m.Fabric, facts, mask)
	x := newPackets(m, facts, mask)
	x.all()
	have := map[key]bool{}
	for i := range got.Breaks {
		b := &got.Breaks[i]
		have[keyOf(m.Fabric, b.Class, &b.Way[b.At])] = true
		if !slices.ContainsFunc(x.ways[keyOf(m.Fabric, b.Class, &b.Way[b.At])], func(way []fabric.PortID) bool { return slices.Equal(way, ports(b.Way[:b.At+1])) }) {
			t.Errorf("no packet goes %v to break as %v", ports(b.Way), b.Fault)
		}
	}
	want = map[key]bool{}
	for k := range x.ways {
		want[k] = true
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("breaks (-want +got):\n%s", diff)
	}
	return got, want
}

func ports(way []Hop) (list []fabric.PortID) {
	for _, h := range way {
		list = append(list, h.Out)
	}
	return list
}

// pair is two switches of an MLAG pair, their peer link without PFC, and two
// nodes with a bond on both; links 1 is the peer link, 2 and 3 are of n1, 4 and 5
// of n2.
func pair(mode fabric.LAGMode) *plot {
	m := newPlot(func(f *fabric.Fabric) fabric.QoS { return contract(f, 1<<26, 3) })
	f := m.Fabric
	f.Segments = append(f.Segments, fabric.Segment{VLAN: 100, QoS: 1})
	f.MLAGs = append(f.MLAGs, fabric.MLAG{})
	f.LAGs = append(f.LAGs, fabric.LAG{Mode: mode}, fabric.LAG{Mode: mode})
	for i, name := range []string{"s1", "s2"} {
		m.device(name, fabric.Switch, 4)
		f.Devices[m.at[name]].MLAG = 1
		f.MLAGs[1].Switches[i] = m.at[name]
	}
	a, b := m.cable("s1", "s2")
	f.Links[1].PeerLink, f.MLAGs[1].Links = 1, []fabric.LinkID{1}
	lossy := m.profile(1, false, func(p *fabric.Profile) { p.PFC = 0 })
	f.Ports[a].Profile, f.Ports[b].Profile = lossy, lossy
	f.Ports[a].Native, f.Ports[b].Native = 1, 1
	for i, name := range []string{"n1", "n2"} {
		m.device(name, fabric.Node, 2)
		for _, to := range []string{"s1", "s2"} {
			p, q := m.cable(name, to)
			f.Ports[p].Profile, f.Ports[q].Profile = m.profile(1, true, nil), m.profile(1, false, nil)
			f.Ports[p].Native, f.Ports[q].Native = 1, 1
			f.Ports[p].LAG = fabric.LAGID(i + 1)
			f.LAGs[i+1].Members = append(f.LAGs[i+1].Members, p)
		}
	}
	return m
}

// TestComposeOverPeerLinks: the peer link of a pair counts where something has no
// other way: a bond that has lost a cable, or that uses one of two at a time.
func TestComposeOverPeerLinks(t *testing.T) {
	down := func(links ...fabric.LinkID) *fabric.Mask {
		m := &fabric.Mask{Links: map[fabric.LinkID]bool{}}
		for _, l := range links {
			m.Links[l] = true
		}
		return m
	}
	for _, c := range []struct {
		name string
		mode fabric.LAGMode
		mask *fabric.Mask
		want bool
	}{
		{"bonds on both switches", fabric.LACP, nil, false},
		{"one has lost a cable", fabric.LACP, down(4), true},
		{"and the peer link is down", fabric.LACP, down(4, 1), false},
		{"each has lost one, on different switches", fabric.LACP, down(2, 5), true},
		{"each has lost one, on the same switch", fabric.LACP, down(2, 4), false},
		{"one cable at a time", fabric.ActiveBackup, nil, true},
	} {
		m := pair(c.mode)
		got := Compose(m.Fabric, m.facts(t), c.mask)
		broken := slices.ContainsFunc(got.Breaks, func(b Break) bool {
			h := b.Way[b.At]
			return b.Fault == Unpaused && m.Ports[h.Out].Link == 1 && b.Class == Class{1, classRDMA}
		})
		if broken != c.want {
			t.Errorf("%s: %+v, want the class to be lost on the peer link: %v", c.name, got.Breaks, c.want)
		}
	}
}

// TestComposeAcross: what no cable shows by itself is told from what its ends do.
func TestComposeAcross(t *testing.T) {
	two := func(f *fabric.Fabric) fabric.QoS { return contract(f, 1<<26, 4) }
	m := newPlot(func(f *fabric.Fabric) fabric.QoS { return contract(f, 1<<26, 3) }, two)
	f := m.Fabric
	for _, s := range []string{"s1", "s2"} {
		m.device(s, fabric.Switch, 4)
	}
	a, b := m.cable("s1", "s2")
	f.Ports[a].Profile, f.Ports[b].Profile = m.profile(2, false, nil), m.profile(2, false, nil)
	for i, s := range []string{"s1", "s2", "s2"} {
		name := fmt.Sprintf("n%d", i)
		m.device(name, fabric.Node, 1)
		p, q := m.cable(name, s)
		f.Ports[p].Profile, f.Ports[q].Profile = m.profile(1, true, nil), m.profile(1, false, nil)
	}
	c := NewComposer(f, m.facts(t))
	if c.Clean() {
		t.Error("a fabric whose uplink has another priority is said to be clean")
	}
	got := c.Under(nil)
	if len(got.Breaks) != 1 || got.Breaks[0].Fault != Parted || got.Breaks[0].Local || got.Breaks[0].Ports != 2 || got.Breaks[0].At != 1 || len(got.Breaks[0].Way) != 3 {
		t.Errorf("breaks %+v", got.Breaks)
	}
	// The same on one end of the cable is that cable's own.
	f.Ports[b].Profile = m.profile(1, false, nil)
	got = Compose(f, m.facts(t), nil)
	if !slices.ContainsFunc(got.Breaks, func(b Break) bool { return b.Local && b.Fault == Parted }) {
		t.Errorf("breaks %+v", got.Breaks)
	}
	// With the cable down, nothing breaks, and nothing is said of always.
	got = Compose(f, m.facts(t), &fabric.Mask{Links: map[fabric.LinkID]bool{1: true}})
	if len(got.Breaks) != 0 || got.Always {
		t.Errorf("with the cable down: %+v", got)
	}
}

// TestComposeUntrusted: a node that is not trusted stands for none that is, also
// where their ports are alike in all else.
func TestComposeUntrusted(t *testing.T) {
	m := newPlot(func(f *fabric.Fabric) fabric.QoS { return contract(f, 1<<26, 3) }, func(f *fabric.Fabric) fabric.QoS { return contract(f, 1<<27, 3) })
	f := m.Fabric
	m.device("s", fabric.Switch, 4)
	both := func(p *fabric.Profile) { p.DSCP[26] = 3 }
	for i, name := range []string{"stranger", "sender", "receiver"} {
		m.device(name, fabric.Node, 1)
		p, q := m.cable(name, "s")
		f.Ports[p].Profile, f.Ports[q].Profile = m.profile(1, true, nil), m.profile(1, false, nil)
		if i == 1 { // sends what the others do not know
			f.Ports[p].Profile, f.Ports[q].Profile = m.profile(2, true, both), m.profile(2, false, both)
		}
	}
	f.Devices[m.at["stranger"]].Trusted = false
	c := NewComposer(f, m.facts(t))
	got := c.Under(nil)
	if c.Clean() || got.Always || len(got.Breaks) != 1 || f.Ports[got.Breaks[0].Way[1].To].Device != m.at["receiver"] || got.Breaks[0].Fault != Parted {
		t.Errorf("clean %v, always %v, breaks %+v", c.Clean(), got.Always, got.Breaks)
	}
}

// TestFan counts ways, one representative for each treatment.
func TestFan(t *testing.T) {
	m := rails(2, 4, 2, 1, 2, 2, 2)
	f := m.Fabric
	facts := m.facts(t)
	nic := func(n int) fabric.PortID {
		for p := 1; p < len(f.Ports); p++ {
			if f.Devices[f.Ports[p].Device].Kind == fabric.Node {
				if n == 0 {
					return fabric.PortID(p)
				}
				n--
			}
		}
		t.Fatal("too few NICs")
		return 0
	}
	class := Class{1, classRDMA}
	c := NewComposer(f, facts)
	for _, x := range []struct {
		from, to int
		ways     uint64
		hops     int
	}{
		{0, 2, 1, 2},  // one leaf
		{0, 3, 8, 4},  // two leaves of a pod: 2 spines, 2 cables up and 2 down
		{0, 8, 16, 6}, // two pods: 2 spines, 2 cables up, 2 cores each, 2 cables down
	} {
		fan, err := c.Fan(Traffic{From: nic(x.from), To: nic(x.to), Class: class, Mark: Marks(f, class, &f.Profiles[f.Ports[nic(x.from)].Profile])}, nil)
		if err != nil || len(fan.Shapes) != 1 || fan.Count != x.ways || len(fan.Shapes[0].Way) != x.hops {
			t.Errorf("%d to %d: %+v, %v, want %d ways of %d hops", x.from, x.to, fan, err, x.ways, x.hops)
		}
	}
	// One cable that differs makes a shape of its own.
	up := f.Ports[nic(0)].Peer
	for p := range f.Ports {
		if f.Ports[p].Device == f.Ports[up].Device && f.Devices[f.Ports[f.Ports[p].Peer].Device].Kind == fabric.Switch {
			f.Ports[p].Profile = m.profile(1, false, func(x *fabric.Profile) { x.PFC = 0 })
			break
		}
	}
	fan, err := NewComposer(f, m.facts(t)).Fan(Traffic{From: nic(0), To: nic(3), Class: class, Mark: Marks(f, class, &f.Profiles[f.Ports[nic(0)].Profile])}, nil)
	if err != nil || len(fan.Shapes) != 2 || fan.Count != 8 {
		t.Errorf("%+v, %v", fan, err)
	}
	if _, err := NewComposer(f, m.facts(t)).Fan(Traffic{From: nic(0), To: nic(3), Class: class}, &fabric.Mask{Links: map[fabric.LinkID]bool{f.Ports[nic(0)].Link: true}}); err == nil {
		t.Error("a NIC whose cable is down sends")
	}
}

// TestFanOfALoop: a table that leads back ends, and says so; so does the proof.
func TestFanOfALoop(t *testing.T) {
	m := newPlot(func(f *fabric.Fabric) fabric.QoS { return contract(f, 1<<26, 3) })
	f := m.Fabric
	for _, s := range []string{"s0", "s1", "s2"} {
		m.device(s, fabric.Switch, 4)
	}
	for _, c := range [][2]string{{"s0", "s1"}, {"s1", "s2"}} {
		p, q := m.cable(c[0], c[1])
		f.Ports[p].Profile, f.Ports[q].Profile = m.profile(1, false, nil), m.profile(1, false, nil)
	}
	var nics []fabric.PortID
	for _, s := range []string{"s0", "s2"} {
		m.device("n"+s, fabric.Node, 1)
		p, q := m.cable("n"+s, s)
		f.Ports[p].Profile, f.Ports[q].Profile = m.profile(1, true, nil), m.profile(1, false, nil)
		nics = append(nics, p)
	}
	row := func(at, to, next string) fabric.Route {
		return fabric.Route{At: m.at[at], To: m.at[to], Next: m.at[next], Priority: -1}
	}
	f.Routings = append(f.Routings, fabric.Routing{Default: true, Model: fabric.TableRouting, Table: []fabric.Route{row("s0", "s2", "s1"), row("s1", "s2", "s0"), row("s2", "s0", "s1"), row("s1", "s0", "s0")}})
	c := NewComposer(f, m.facts(t))
	class := Class{1, classRDMA}
	there, err := c.Fan(Traffic{From: nics[0], To: nics[1], Class: class, Mark: Marks(f, class, &f.Profiles[f.Ports[nics[0]].Profile])}, nil)
	if err != nil || there.Count != 0 {
		t.Errorf("%+v, %v", there, err)
	}
	back, err := c.Fan(Traffic{From: nics[1], To: nics[0], Class: class, Mark: Marks(f, class, &f.Profiles[f.Ports[nics[1]].Profile])}, nil)
	if err != nil || back.Count != 1 || back.Loop {
		t.Errorf("%+v, %v", back, err)
	}
	f.Routings[1].Table = append(f.Routings[1].Table, row("s1", "s2", "s2")) // and one of two ways out of it
	if there, err = NewComposer(f, m.facts(t)).Fan(Traffic{From: nics[0], To: nics[1], Class: class, Mark: Marks(f, class, &f.Profiles[f.Ports[nics[0]].Profile])}, nil); err != nil || there.Count != 1 || !there.Loop {
		t.Errorf("%+v, %v", there, err)
	}
}

// TestComposeTags: a row that gives another priority takes the frame to where
// that one has PFC, or to where it has none.
func TestComposeTags(t *testing.T) {
	for _, four := range []bool{true, false} {
		m := newPlot(func(f *fabric.Fabric) fabric.QoS {
			q := contract(f, 1<<26, 3)
			second := q.Classes[classRDMA]
			second.Name, second.DSCP, second.Priority, second.Queue, second.Group = f.Names.Add("bounced"), 1<<34, 4, 4, 4
			q.Classes = append(q.Classes, second)
			return q
		})
		f := m.Fabric
		lossy := func(p *fabric.Profile) {
			if !four {
				p.PFC &^= 1 << 4
			}
		}
		for _, s := range []string{"s0", "s1", "s2"} {
			m.device(s, fabric.Switch, 4)
		}
		for _, c := range [][2]string{{"s0", "s1"}, {"s1", "s2"}} {
			p, q := m.cable(c[0], c[1])
			f.Ports[p].Profile, f.Ports[q].Profile = m.profile(1, false, nil), m.profile(1, false, nil)
			if c[0] == "s1" {
				f.Ports[p].Profile, f.Ports[q].Profile = m.profile(1, false, lossy), m.profile(1, false, lossy)
			}
		}
		var nics []fabric.PortID
		for _, s := range []string{"s0", "s2"} {
			m.device("n"+s, fabric.Node, 1)
			p, q := m.cable("n"+s, s)
			f.Ports[p].Profile, f.Ports[q].Profile = m.profile(1, true, nil), m.profile(1, false, nil)
			nics = append(nics, p)
		}
		row := func(at, to, next string, priority int8) fabric.Route {
			return fabric.Route{At: m.at[at], To: m.at[to], Next: m.at[next], Priority: priority}
		}
		f.Routings = append(f.Routings, fabric.Routing{Default: true, Model: fabric.TableRouting, Table: []fabric.Route{row("s0", "s2", "s1", -1), row("s1", "s2", "s2", 4)}})
		class := Class{1, classRDMA}
		fan, err := NewComposer(f, m.facts(t)).Fan(Traffic{From: nics[0], To: nics[1], Class: class, Mark: Marks(f, class, &f.Profiles[f.Ports[nics[0]].Profile])}, nil)
		if err != nil || len(fan.Shapes) != 1 {
			t.Fatalf("%+v, %v", fan, err)
		}
		var got []uint8
		for _, h := range fan.Shapes[0].Way {
			got = append(got, h.Priority, h.Next)
		}
		if diff := cmp.Diff([]uint8{3, 3, 3, 3, 4, 4, 4, 4}, got); diff != "" {
			t.Errorf("priorities (-want +got):\n%s", diff)
		}
		if c := Compose(f, m.facts(t), nil); c.Always || four != (len(c.Breaks) == 0) {
			t.Errorf("priority 4 without loss: %v, and breaks %+v", four, c.Breaks)
		}
	}
}
