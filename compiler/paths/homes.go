package paths

import (
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
)

// Homed is a part with what has a say only when something has failed: the peer
// links of MLAG pairs, and the bonds of nodes that are on both switches of a pair,
// each of which is one more switch that sends nothing on. A switch that has lost
// its cable to such a node sends what comes for it over the peer link; where the
// pair has none, local repair sends it round. A node with one switch has no way
// left when it loses that, and so no traffic; nor has one that has lost both.
type Homed struct {
	Net     Net
	Routing Routing           // with rows to the nodes, where there are rows
	Nodes   []fabric.DeviceID // by switch, from Part.Net.Switches on
	Links   []fabric.LinkID   // by link, from Part.Net.Links on
	Peers   bool              // some of them are of peer links
	Floods  []Flood           // those of the part, over peer links too
	Flooded bool              // some go over a peer link, and so with everything up
	Rowed   bool              // a row sends over a peer link, and so with everything up
	Hashed  bool              // LAGs of switches over pairs may send over a peer link, and so with everything up
	Bare    Net               // Net without traffic of the nodes
	Clash   bool              // the remap does not say what becomes of classes on a peer link

	ends   [][2]Switch // of each node
	uneven bool        // a pair has switches of two levels
	always bool        // some switches reach each other by peer links alone, with everything up
}

// homed lays out the pairs of a part, nil if nothing goes round there. Without a
// peer link and local repair, and by tables without a peer link, nothing does.
func (p *Part) homed(f *fabric.Fabric) *Homed {
	r := &p.Routing
	n := Net{Switches: p.Net.Switches, Sinks: slices.Clone(p.Net.Sinks), Links: slices.Clone(p.Net.Links), Level: slices.Clone(p.Net.Level)}
	for s, l := range n.Level {
		if l > 0 {
			n.Level[s] = min(l, 254) + 1
		}
	}
	h := &Homed{Net: n, Routing: *r}
	h.Routing.Rows = slices.Clone(r.Rows)
	for m := 1; m < len(f.MLAGs); m++ {
		a, okA := p.switchOf[f.MLAGs[m].Switches[0]]
		b, okB := p.switchOf[f.MLAGs[m].Switches[1]]
		if !okA || !okB {
			continue
		}
		peered := h.peerLink(f, &f.MLAGs[m], [2]Switch{a, b})
		h.uneven = h.uneven || peered && p.Net.level(a) != p.Net.level(b)
		if h.Peers = h.Peers || peered; peered || r.LocalRepair && r.Base != ByTable {
			h.pair(f, f.MLAGs[m].Switches, [2]Switch{a, b})
		}
	}
	if len(h.Links) == 0 {
		return nil
	}
	for i := range h.Nodes {
		h.rows(p, Switch(n.Switches+i), h.ends[i])
	}
	if h.Peers && r.Base != ByTable && len(r.Rows) == 0 {
		s, err := Ways(&p.Net, Options{Brief: true, Routing: Routing{Base: r.Base}})
		h.always = err != nil || s.Lost > 0
	}
	h.remap(p, f)
	h.floods(p, f)
	h.Hashed = h.Net.hashed()
	h.Bare = Net{Switches: h.Net.Switches, Level: h.Net.Level, Sinks: p.Net.Sinks, Links: h.Net.Links, Still: h.Net.Still}
	h.Rowed = slices.ContainsFunc(p.Routing.Rows, func(r Row) bool {
		return slices.ContainsFunc(h.Net.Links, func(l Link) bool { return l.Peer && (l.A == r.At && l.B == r.Next || l.B == r.At && l.A == r.Next) })
	})
	return h
}

// Crossed reports whether a peer link may be crossed with everything up.
func (h *Homed) Crossed() bool { return h != nil && (h.Flooded || h.Rowed || h.Hashed || h.always) }

// floods lets those of the part cross the peer links that carry their VLANs.
func (h *Homed) floods(p *Part, f *fabric.Fabric) {
	h.Floods = slices.Clone(p.Floods)
	on := trunked(f)
	for i, s := range p.Flooded {
		links := slices.Clone(h.Floods[i].Links)
		for j, l := range h.Links {
			if at := len(p.Links) + j; h.Net.Links[at].Peer && on[s].carries(f, f.Links[l].A) && on[s].carries(f, f.Links[l].B) {
				links, h.Flooded = append(links, at), true
			}
		}
		h.Floods[i].Links = links
	}
}

// peerLink adds the cables between the switches of a pair.
func (h *Homed) peerLink(f *fabric.Fabric, pair *fabric.MLAG, ends [2]Switch) (some bool) {
	for _, l := range pair.Links {
		if !f.Up(l, nil) {
			continue
		}
		x, y := &f.Ports[f.Links[l].A], &f.Ports[f.Links[l].B]
		h.Net.Links = append(h.Net.Links, Link{A: ends[0], B: ends[1], Lossless: f.Profiles[x.Profile].PFC & f.Profiles[y.Profile].PFC, Peer: true})
		h.Links, some = append(h.Links, l), true
	}
	return some
}

// pair adds the bonds of nodes that have cables to both switches.
func (h *Homed) pair(f *fabric.Fabric, pair [2]fabric.DeviceID, ends [2]Switch) {
	type bond struct {
		lag   fabric.LAGID
		links [2][]fabric.LinkID
	}
	var bonds []bond
	at := map[fabric.LAGID]int{}
	for side, d := range pair {
		first, end := f.PortsOf(d)
		for id := first; id < end; id++ {
			port := &f.Ports[id]
			peer := &f.Ports[port.Peer]
			if port.Peer == 0 || f.Devices[peer.Device].Kind != fabric.Node || peer.LAG == 0 || !f.Up(port.Link, nil) {
				continue
			}
			i, ok := at[peer.LAG]
			if !ok {
				i = len(bonds)
				at[peer.LAG] = i
				bonds = append(bonds, bond{lag: peer.LAG})
			}
			bonds[i].links[side] = append(bonds[i].links[side], port.Link)
		}
	}
	for _, b := range bonds {
		if len(b.links[0]) == 0 || len(b.links[1]) == 0 {
			continue
		}
		s := Switch(h.Net.Switches)
		h.Net.Switches++
		h.Net.Sinks, h.Net.Still = append(h.Net.Sinks, s), append(h.Net.Still, s)
		h.Nodes, h.ends = append(h.Nodes, f.LAGs[b.lag].Device), append(h.ends, ends)
		if h.Net.Level != nil {
			h.Net.Level = append(h.Net.Level, 1)
		}
		for side, links := range b.links {
			for _, l := range links {
				x, y := &f.Ports[f.Links[l].A], &f.Ports[f.Links[l].B]
				h.Net.Links = append(h.Net.Links, Link{A: ends[side], B: s, Lossless: f.Profiles[x.Profile].PFC & f.Profiles[y.Profile].PFC})
				h.Links = append(h.Links, l)
			}
		}
	}
}

// rows adds those to a node: a line to the node, or to a switch that it is on,
// speaks for it at all others, and its switches deliver.
func (h *Homed) rows(p *Part, node Switch, ends [2]Switch) {
	if len(p.Routing.Rows) == 0 && p.Routing.Base != ByTable {
		return
	}
	for i, row := range p.Routing.Rows {
		if to := p.Table[i].To; row.At == ends[0] || row.At == ends[1] || row.To != ends[0] && row.To != ends[1] {
			continue
		} else if _, ok := p.switchOf[to]; !ok && to != h.Nodes[int(node)-len(p.Devices)] {
			continue // it is for another node
		}
		row.To = node
		h.Routing.Rows = append(h.Routing.Rows, row)
	}
	if p.Routing.Base == ByTable {
		for _, s := range ends {
			h.Routing.Rows = append(h.Routing.Rows, Row{At: s, From: Anywhere, To: node, Next: node, Priority: -1})
		}
	}
}

// remap follows classes over peer links, and to and from the nodes.
func (h *Homed) remap(p *Part, f *fabric.Fabric) {
	if p.Routing.Remap == nil {
		return
	}
	t := newRemapTable(f)
	t.part(p)
	for i, l := range h.Links {
		if h.Net.Links[len(p.Links)+i].Peer {
			t.link(p, f.Links[l].A, f.Links[l].B)
			t.link(p, f.Links[l].B, f.Links[l].A)
		}
	}
	h.Clash = t.clash
	for i, l := range h.Links {
		of := &h.Net.Links[len(p.Links)+i]
		if of.Peer {
			continue
		}
		nic := f.Links[l].A
		if f.Devices[f.Ports[nic].Device].Kind == fabric.Switch {
			nic = f.Links[l].B
		}
		t.leave([2]Switch{of.A, of.B}, nic)
	}
	switches := Switch(p.Net.Switches)
	h.Routing.Remap = func(from, at, next Switch, priority uint8) uint8 {
		switch {
		case at >= switches:
			return priority
		case from >= switches:
			from = Hosts
		}
		return t.remap(from, at, next, priority)
	}
}

// HomedOptions are what to ask of the part with its pairs.
func (p *Part) HomedOptions(steps int64) Options {
	o := p.Options(steps)
	o.Routing, o.Floods = p.Homed.Routing, p.Homed.Floods
	return o
}

// HomedSkip are destinations to leave out with those that are left out of the part:
// nodes on one of them.
func (p *Part) HomedSkip(skip []Switch) []Switch {
	list := slices.Clone(skip)
	for i, ends := range p.Homed.ends {
		if slices.Contains(skip, ends[0]) || slices.Contains(skip, ends[1]) {
			list = append(list, Switch(p.Net.Switches+i))
		}
	}
	return list
}

// Round reports whether what goes round a failure is to be followed with the pairs
// of the part. By ranks alone it is not: a peer link is then crossed first, by
// what hosts send below a switch that has lost its way up, or last, to hosts whose
// cable to the other switch is down, and by one failure never both. That holds
// where none is crossed with everything up, by no LAG over a pair either, none leads
// to another level, and no switches have lost all their ways but those by peer
// links: that is for who asks to find out, as it needs the ways.
func (p *Part) Round(failures int) bool {
	h := p.Homed
	if h == nil {
		return false
	}
	return p.Routing.LocalRepair || h.Peers && (p.Routing.Base != UpDown || len(p.Routing.Rows) > 0 || failures > 1 || h.uneven || h.Crossed())
}

// HomedDown is what a mask takes out of the part with its pairs; nil if that is
// nothing, or none is laid out.
func (p *Part) HomedDown(m *fabric.Mask) *Down {
	if m == nil || p.Homed == nil {
		return nil
	}
	d := &Down{}
	if of := p.Down(m); of != nil {
		d.Links, d.Switches = slices.Clone(of.Links), slices.Clone(of.Switches)
	}
	for i, l := range p.Homed.Links {
		if m.Links[l] {
			d.Links = append(d.Links, len(p.Links)+i)
		}
	}
	for i, node := range p.Homed.Nodes {
		if m.Devices[node] {
			d.Switches = append(d.Switches, Switch(len(p.Devices)+i))
		}
	}
	if d.empty() {
		return nil
	}
	return d
}

// Device is a switch of the part, or a node of Homed.
func (p *Part) Device(s Switch) fabric.DeviceID {
	if i := int(s) - len(p.Devices); i >= 0 {
		return p.Homed.Nodes[i]
	}
	return p.Devices[s]
}
