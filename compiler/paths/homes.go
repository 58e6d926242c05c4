package paths

import (
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
)

// Homed is a part with the bonds of nodes that are on both switches of an MLAG
// pair without a peer link: each is one more switch, which sends nothing on.
// While local repair is under way, a switch that has lost its cable to such a
// node sends what comes for it round over the other. A node with one switch has
// no way left when it loses it, and so no traffic.
type Homed struct {
	Net   Net
	Nodes []fabric.DeviceID // by switch, from Part.Net.Switches on
	Links []fabric.LinkID   // by link, from Part.Net.Links on
}

// homed lays out the nodes of pairs, where something goes round. Rows and remaps
// speak of switches only: with them it is nil, and followed is false. By tables
// alone nothing goes round.
func (p *Part) homed(f *fabric.Fabric) (h *Homed, followed bool) {
	r := &p.Routing
	if !r.LocalRepair || r.Base == ByTable {
		return nil, true
	}
	if len(r.Rows) > 0 || r.Remap != nil {
		return nil, false
	}
	n := Net{Switches: p.Net.Switches, Sinks: slices.Clone(p.Net.Sinks), Links: slices.Clone(p.Net.Links), Level: slices.Clone(p.Net.Level)}
	for s, l := range n.Level {
		if l > 0 {
			n.Level[s] = min(l, 254) + 1
		}
	}
	h = &Homed{Net: n}
	for m := 1; m < len(f.MLAGs); m++ {
		if len(f.MLAGs[m].Links) == 0 {
			h.pair(p, f, f.MLAGs[m].Switches)
		}
	}
	if len(h.Nodes) == 0 {
		return nil, true
	}
	return h, true
}

// pair adds the bonds of nodes that have cables to both switches.
func (h *Homed) pair(p *Part, f *fabric.Fabric, pair [2]fabric.DeviceID) {
	type bond struct {
		lag   fabric.LAGID
		links [2][]fabric.LinkID
	}
	var bonds []bond
	at := map[fabric.LAGID]int{}
	var ends [2]Switch
	for side, d := range pair {
		s, ok := p.switchOf[d]
		if !ok {
			return
		}
		ends[side] = s
		first, end := f.PortsOf(d)
		for id := first; id < end; id++ {
			port := &f.Ports[id]
			peer := &f.Ports[port.Peer]
			if port.Peer == 0 || f.Devices[peer.Device].Kind != fabric.Node || peer.LAG == 0 || (port.Flags|peer.Flags)&fabric.ShutDown != 0 {
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
		h.Nodes = append(h.Nodes, f.LAGs[b.lag].Device)
		if h.Net.Level != nil {
			h.Net.Level = append(h.Net.Level, 1)
		}
		for side, links := range b.links {
			for _, l := range links {
				x, y := &f.Ports[f.Links[l].A], &f.Ports[f.Links[l].B]
				h.Net.Links = append(h.Net.Links, Link{ends[side], s, f.Profiles[x.Profile].PFC & f.Profiles[y.Profile].PFC})
				h.Links = append(h.Links, l)
			}
		}
	}
}

// HomedDown is what a mask takes out of the part with its nodes; nil if that is
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
