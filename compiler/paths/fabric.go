package paths

import (
	"math"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
)

// Part is switches of a fabric that reach each other, as a net. Lossless are the
// priorities that the profiles of both ends have PFC for. The peer link of an
// MLAG pair is not in it, but in Homed: with all links up no unicast crosses it,
// unless a row of a table or the hash of a LAG over the pair sends it there, or
// nothing else joins two switches.
type Part struct {
	Net     Net
	Routing Routing           // with the remap of classes whose priority differs between links
	Devices []fabric.DeviceID // by Switch, ascending
	Links   []fabric.LinkID   // by index in Net.Links, ascending
	By      []fabric.RoutingID
	Table   []*fabric.Route    // by index in Routing.Rows
	Floods  []Flood            // lossless floods of VLANs
	Flooded []fabric.SegmentID // by index in Floods
	Gaps    []Gap
	Homed   *Homed // nil: nothing goes round a failure by a pair

	starts  []uint8 // priorities that hosts send without loss, where classes are remapped or a table gives priorities; nil: all
	Assumed bool    // no routing block says how packets go: Base follows from the shape

	switchOf map[fabric.DeviceID]Switch
}

// Gap is something of a part that the net does not have, so that what is proven
// of the net is not proven of the part.
type Gap struct {
	What    string
	Decl    fabric.DeclID // what brings it about
	Failing bool          // it matters once something has failed
}

// Parts lays out every part of a fabric that has a link between switches, by
// their first switches. Levels are the tiers of the topologies where every
// switch of a part has one, else one more than the links to the nearest switch
// with hosts. Where routing blocks of one part differ, the model that allows
// more counts: table before ecmp before up_down, and local repair before global.
func Parts(f *fabric.Fabric) []*Part {
	part := components(f)
	var parts []*Part
	at := map[uint32]*Part{}
	for d := 1; d < len(f.Devices); d++ {
		if part[d] == 0 {
			continue
		}
		p := at[part[d]]
		if p == nil {
			p = &Part{switchOf: map[fabric.DeviceID]Switch{}}
			at[part[d]] = p
			parts = append(parts, p)
		}
		p.switchOf[fabric.DeviceID(d)] = Switch(len(p.Devices))
		p.Devices = append(p.Devices, fabric.DeviceID(d))
	}
	sink := make([]bool, len(f.Devices))
	for id := 1; id < len(f.Ports); id++ {
		port := &f.Ports[id]
		if facesHosts(f, port) {
			sink[port.Device] = true
		}
	}
	for l := 1; l < len(f.Links); l++ {
		a, b, ok := between(f, fabric.LinkID(l))
		if !ok {
			continue
		}
		p := at[part[a.Device]]
		p.Links = append(p.Links, fabric.LinkID(l))
		p.Net.Links = append(p.Net.Links, Link{A: p.switchOf[a.Device], B: p.switchOf[b.Device], Lossless: f.Profiles[a.Profile].PFC & f.Profiles[b.Profile].PFC})
	}
	for _, p := range parts {
		p.Net.Switches = len(p.Devices)
		for s, d := range p.Devices {
			if sink[d] {
				p.Net.Sinks = append(p.Net.Sinks, Switch(s))
			}
		}
		p.levels(f)
		p.routing(f)
		p.bonds(f)
		p.remap(f)
		p.floods(f)
		p.gaps(f, part)
	}
	return parts
}

// between are the ends of a link that joins two switches and may carry a frame;
// that of an MLAG pair is none.
func between(f *fabric.Fabric, l fabric.LinkID) (a, b *fabric.Port, ok bool) {
	link := &f.Links[l]
	a, b = &f.Ports[link.A], &f.Ports[link.B]
	return a, b, link.PeerLink == 0 && f.Up(l, nil) && !f.Unrouted(l) && a.Device != b.Device &&
		f.Devices[a.Device].Kind == fabric.Switch && f.Devices[b.Device].Kind == fabric.Switch
}

// components numbers the parts by their first devices; 0 = not linked to another
// switch.
func components(f *fabric.Fabric) []uint32 {
	root := make([]uint32, len(f.Devices))
	find := func(d uint32) uint32 {
		for root[d] != d {
			root[d] = root[root[d]]
			d = root[d]
		}
		return d
	}
	for l := 1; l < len(f.Links); l++ {
		a, b, ok := between(f, fabric.LinkID(l))
		if !ok {
			continue
		}
		for _, d := range [2]fabric.DeviceID{a.Device, b.Device} {
			if root[d] == 0 {
				root[d] = uint32(d)
			}
		}
		x, y := find(uint32(a.Device)), find(uint32(b.Device))
		root[max(x, y)] = min(x, y)
	}
	for d := range root {
		if root[d] != 0 {
			root[d] = find(uint32(d))
		}
	}
	return root
}

// levels ranks the switches of a part.
func (p *Part) levels(f *fabric.Fabric) {
	n := &p.Net
	n.Level = make([]uint8, n.Switches)
	tiers := true
	for s, d := range p.Devices {
		n.Level[s] = uint8(f.Devices[d].Tier)
		tiers = tiers && n.Level[s] != 0
	}
	if tiers {
		return
	}
	clear(n.Level)
	c := layChannels(n, nil)
	queue := slices.Clone(n.Sinks)
	for _, s := range queue {
		n.Level[s] = 1
	}
	for head := 0; head < len(queue); head++ {
		s := queue[head]
		for _, to := range c.to[c.off[s]:c.off[s+1]] {
			if n.Level[to] == 0 {
				n.Level[to] = min(n.Level[s], math.MaxUint8-1) + 1
				queue = append(queue, to)
			}
		}
	}
}

// routing settles how packets go in a part.
func (p *Part) routing(f *fabric.Fabric) {
	for _, d := range p.Devices {
		t := f.Devices[d].Topology
		if int(t) >= len(f.Topologies) {
			continue // a fabric without routing and topologies
		}
		if r := f.RoutingOf(t); r != 0 && !slices.Contains(p.By, r) {
			p.By = append(p.By, r)
		}
	}
	model := fabric.RoutingUnset
	for _, r := range p.By {
		row := &f.Routings[r]
		model = max(model, row.Model)
		p.Routing.LocalRepair = p.Routing.LocalRepair || row.LocalRepair
		for i := range row.Table {
			p.row(f, &row.Table[i])
		}
	}
	switch model {
	case fabric.UpDown:
		p.Routing.Base = UpDown
	case fabric.ECMP:
		p.Routing.Base = Shortest
	case fabric.TableRouting:
		p.Routing.Base = ByTable
	case fabric.RoutingUnset:
		p.Assumed = true
		for _, l := range p.Net.Links {
			if p.Net.Level[l.A] == p.Net.Level[l.B] {
				p.Routing.Base = Shortest // nothing is above: only the shortest way is left
				return
			}
		}
		if s, err := Ways(&p.Net, Options{Brief: true}); err == nil && s.Lost > 0 {
			p.Routing.Base = Shortest // whoever wired them so has them reach each other
		}
	}
}

// row adds a line of a table: one to a node for each switch that the node is
// cabled to, and one from a node for what hosts send. What leaves the part, or
// is delivered, is no hop between switches.
func (p *Part) row(f *fabric.Fabric, r *fabric.Route) {
	at, okAt := p.switchOf[r.At]
	next, okNext := p.switchOf[r.Next]
	if !okAt || !okNext {
		return
	}
	from := Anywhere
	if r.From != 0 {
		s, ok := p.switchOf[r.From]
		if from = s; !ok {
			from = Hosts
		}
	}
	sinks := p.sinksOf(f, r.To)
	for _, to := range sinks {
		if to != at && (next == to || !slices.Contains(sinks, next)) { // else the next one delivers, too
			p.Routing.Rows = append(p.Routing.Rows, Row{At: at, From: from, To: to, Next: next, Priority: r.Priority})
			p.Table = append(p.Table, r)
		}
	}
}

// sinksOf are the switches where traffic to a device ends.
func (p *Part) sinksOf(f *fabric.Fabric, d fabric.DeviceID) (list []Switch) {
	if s, ok := p.switchOf[d]; ok {
		return []Switch{s}
	}
	first, end := f.PortsOf(d)
	for id := first; id < end; id++ {
		if peer := f.Ports[id].Peer; peer != 0 && f.Up(f.Ports[id].Link, nil) {
			if s, ok := p.switchOf[f.Ports[peer].Device]; ok && !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	}
	return list
}

// Switch is a device of the fabric in the part.
func (p *Part) Switch(d fabric.DeviceID) (s Switch, ok bool) {
	s, ok = p.switchOf[d]
	return s, ok
}

// Down is what a mask takes out of the part; nil if that is nothing.
func (p *Part) Down(m *fabric.Mask) *Down {
	if m == nil {
		return nil
	}
	d := &Down{}
	for l, down := range m.Links {
		if i, ok := slices.BinarySearch(p.Links, l); ok && down {
			d.Links = append(d.Links, i)
		}
	}
	for dev, down := range m.Devices {
		if s, ok := p.switchOf[dev]; ok && down {
			d.Switches = append(d.Switches, s)
		}
	}
	if d.empty() {
		return nil
	}
	slices.Sort(d.Links)
	slices.Sort(d.Switches)
	return d
}

// Mask is a Down of the part, or of its Homed, as the fabric says it.
func (p *Part) Mask(d *Down) *fabric.Mask {
	m := &fabric.Mask{Links: map[fabric.LinkID]bool{}, Devices: map[fabric.DeviceID]bool{}}
	for _, l := range d.Links {
		if i := l - len(p.Links); i >= 0 {
			m.Links[p.Homed.Links[i]] = true
		} else {
			m.Links[p.Links[l]] = true
		}
	}
	for _, s := range d.Switches {
		m.Devices[p.Device(s)] = true
	}
	return m
}

// LinksOf are the links of the fabric behind a vertex, ascending.
func (p *Part) LinksOf(v Vertex) (list []fabric.LinkID) {
	for i, l := range p.Net.Links {
		if (l.A == v.From && l.B == v.To || l.A == v.To && l.B == v.From) && l.Lossless>>v.Priority&1 == 1 {
			list = append(list, p.Links[i])
		}
	}
	if p.Homed != nil {
		for i, l := range p.Homed.Net.Links[len(p.Links):] {
			if (l.A == v.From && l.B == v.To || l.A == v.To && l.B == v.From) && l.Lossless>>v.Priority&1 == 1 {
				list = append(list, p.Homed.Links[i])
			}
		}
	}
	return list
}
