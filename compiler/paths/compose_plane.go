package paths

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
)

// plane is a site as one realm sees it. Bonds of nodes that are on both switches of
// a pair are switches of its net, which send nothing on, after those of the site.
type plane struct {
	*site
	net    Net
	x      *router
	links  []fabric.LinkID // by index in net.Links, ascending; those to homes are none
	homes  []home          // by switch of the net, from len(devices) on
	cables [][]strand      // by channel
	room   []int32
}

// home is where bonds end that are on both switches of an MLAG pair, those of
// several nodes as one: they stand alike where their cables to the same switches
// are up. Whoever of the pair has a cable delivers, and a switch that has lost it
// sends what comes for them over the peer link, or round.
type home struct {
	pair fabric.MLAGID
	up   [2]bool // the cables to each switch of the pair
}

// heads is room for a number by switch, -1 in each.
func (p *plane) heads() []int32 {
	if p.room == nil {
		p.room = make([]int32, p.net.Switches)
	}
	for i := range p.room {
		p.room[i] = -1
	}
	return p.room
}

// home reports whether a switch of the plane is one.
func (p *plane) home(s Switch) bool { return int(s) >= len(p.devices) }

// strand is cables of one kind between two switches, by the first.
type strand struct {
	cable
	same int
}

// home is where the bond of a NIC ends; false if it is no bond, uses one cable at a
// time, or is not on both switches of a pair that other cables join.
func (w *walker) home(nic fabric.PortID) (h home, ok bool) {
	f := w.f
	lag := &f.LAGs[f.Ports[nic].LAG]
	if f.Ports[nic].LAG == 0 || lag.Mode == fabric.ActiveBackup || lag.Mode == fabric.SET {
		return h, false
	}
	if h.pair = f.Devices[f.Ports[f.Ports[nic].Peer].Device].MLAG; h.pair == 0 {
		return h, false
	}
	of := f.MLAGs[h.pair].Switches
	if w.ground.siteOf[of[0]] != w.ground.siteOf[of[1]] {
		return h, false
	}
	var on [2]bool
	for _, m := range lag.Members {
		port := &f.Ports[m]
		if port.Peer == 0 || !f.Up(port.Link, nil) {
			continue
		}
		for side, d := range of {
			if f.Ports[port.Peer].Device == d {
				on[side], h.up[side] = true, h.up[side] || w.up(m)
			}
		}
	}
	return h, on[0] && on[1]
}

// who is what a NIC sends and receives as: itself, or the first of its bond.
func (w *walker) who(nic fabric.PortID) fabric.PortID {
	if _, ok := w.home(nic); ok {
		return w.f.LAGs[w.f.Ports[nic].LAG].Members[0]
	}
	return nic
}

// planes are those of a site for a realm: as it is while switches beside a failure
// repair by themselves, where they do, and when all have learnt of it.
func (w *walker) planes(s *site, r *realm, homes []home) []*plane {
	first := w.lay(s, r, homes, s.routing.LocalRepair)
	if !first.x.frozen {
		return []*plane{first}
	}
	return []*plane{first, w.lay(s, r, homes, false)}
}

// lay makes the plane of a site for a realm.
func (w *walker) lay(s *site, r *realm, homes []home, repair bool) *plane {
	g, f := w.ground, w.f
	p := &plane{site: s, net: Net{Switches: s.net.Switches, Level: s.net.Level}}
	down := &Down{}
	var tags []bool
	for i, l := range s.links {
		ok, tagged := g.crosses(r, l)
		if !ok {
			continue
		}
		if !f.Up(l, w.mask) {
			down.Links = append(down.Links, len(p.links))
		}
		a, b, _ := joins(f, l)
		p.net.Links = append(p.net.Links, Link{A: g.at[a], B: g.at[b], Peer: f.Links[l].PeerLink != 0, Bond: s.bonds[i]})
		p.links, tags = append(p.links, l), append(tags, tagged)
	}
	for i, d := range s.devices {
		if w.mask != nil && w.mask.Devices[d] {
			down.Switches = append(down.Switches, Switch(i))
		}
	}
	routing := s.routing
	routing.LocalRepair = repair
	w.settle(p, homes, &routing, down)
	p.x = newRouter(&p.net, &routing, down)
	p.cables = make([][]strand, len(p.x.c.to))
	for i, l := range p.links {
		if !f.Up(l, w.mask) {
			continue
		}
		ends := &f.Links[l]
		for _, c := range [2]cable{{ends.A, ends.B, tags[i]}, {ends.B, ends.A, tags[i]}} {
			k := p.channel(i, g.at[f.Ports[c.out].Device])
			j := slices.IndexFunc(p.cables[k], func(o strand) bool {
				return w.judge.kindOf[o.out] == w.judge.kindOf[c.out] && w.judge.kindOf[o.to] == w.judge.kindOf[c.to] && o.tagged == c.tagged
			})
			if j >= 0 {
				p.cables[k][j].same++
				continue
			}
			p.cables[k] = append(p.cables[k], strand{c, 1})
		}
	}
	return p
}

// settle adds homes to the net of a plane, below all switches, and rows to them: one
// to a switch that they are on speaks for them, and their switches deliver.
func (w *walker) settle(p *plane, homes []home, routing *Routing, down *Down) {
	if p.homes = homes; len(homes) == 0 {
		return
	}
	p.net.Level = slices.Clone(p.net.Level)
	for s, l := range p.net.Level {
		if l > 0 {
			p.net.Level[s] = min(l, 254) + 1
		}
	}
	on := map[Switch][]Switch{}
	for i, h := range homes {
		s := Switch(len(p.devices) + i)
		p.net.Switches++
		p.net.Level, p.net.Still = append(p.net.Level, 1), append(p.net.Still, s)
		for side, d := range w.f.MLAGs[h.pair].Switches {
			if !h.up[side] {
				down.Links = append(down.Links, len(p.net.Links))
			}
			at := w.ground.at[d]
			p.net.Links = append(p.net.Links, Link{A: at, B: s})
			on[at] = append(on[at], s)
		}
	}
	if len(routing.Rows) == 0 && routing.Base != ByTable {
		return
	}
	known := map[Row]bool{}
	add := func(row Row) {
		if !known[row] {
			known[row] = true
			routing.Rows = append(routing.Rows, row)
		}
	}
	routing.Rows = slices.Clone(routing.Rows)
	for _, row := range p.routing.Rows {
		for _, s := range on[row.To] {
			if !slices.Contains(on[row.At], s) {
				row.To = s
				add(row)
			}
		}
	}
	if routing.Base == ByTable {
		for i := range homes {
			s := Switch(len(p.devices) + i)
			for _, l := range p.net.Links[len(p.links):] {
				if l.B == s {
					add(Row{At: l.A, From: Anywhere, To: s, Next: s, Priority: -1})
				}
			}
		}
	}
}

// channel is the one out of a switch that a link of the plane is in.
func (p *plane) channel(link int, from Switch) int32 {
	k := p.x.c.by(&p.net.Links[link])
	if p.net.Links[link].A != from {
		k = p.x.c.back[k]
	}
	return k
}

// Legs are the cables of bonds that are on both switches of an MLAG pair, one of each
// kind and how many there are of it. Its loss changes where packets to the bond go,
// and nothing else does that a node loses.
func (c *Composer) Legs() map[fabric.LinkID]int {
	if c.ground == nil {
		c.ground = newGround(c.f)
	}
	w := &walker{Composer: c}
	type leg struct {
		home    home
		at      fabric.DeviceID
		own     string // of the NICs of its bond, in order
		ordinal int    // of the NIC among them
	}
	first, legs := map[leg]fabric.LinkID{}, map[fabric.LinkID]int{}
	for id := range c.f.LAGs {
		members := c.f.LAGs[id].Members
		if len(members) == 0 || c.f.Devices[c.f.Ports[members[0]].Device].Kind != fabric.Node {
			continue
		}
		var key []byte
		for _, m := range members {
			port := &c.f.Ports[m]
			peer := &c.f.Ports[port.Peer]
			key = fmt.Appendf(key, "%d %d %d %d %d %d %d %v,", c.judge.kindOf[m], c.judge.kindOf[port.Peer], peer.Device, port.VLANs, peer.VLANs, port.Native, peer.Native, endpoint(c.f, m))
		}
		for i, m := range members {
			port := &c.f.Ports[m]
			if port.Peer == 0 || !c.f.Up(port.Link, nil) {
				continue
			}
			h, ok := w.home(m)
			if !ok {
				continue
			}
			k := leg{h, c.f.Ports[port.Peer].Device, string(key), i}
			if _, known := first[k]; !known {
				first[k] = port.Link
			}
			legs[first[k]]++
		}
	}
	return legs
}
