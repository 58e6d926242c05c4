package paths

import (
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
)

// breakPort is a port of a break.
type breakPort struct {
	index int
	out   fabric.PortID
}

// report adds a break at a cable that a frame would leave node i by, -1: at its
// sender.
func (w *follow) report(i int32, priority int8, x frameID, c cable, v verdict, ports int) {
	w.add(priority, x, c, v, ports, func() []Hop { return w.back(i) }, func(way []Hop) []Hop { return w.rest(way, c, v) })
}

// add enters a break, or one more port of a break that is known.
func (w *walker) add(priority int8, x frameID, c cable, v verdict, ports int, before func() []Hop, after func([]Hop) []Hop) {
	h := w.judge.on(0, priority, x, c)
	k := Kind{w.judge.frames[x].class, v.fault, h.Priority, w.judge.kindOf[c.out], w.judge.kindOf[c.to]}
	at, known := w.found[k]
	if !known {
		at = len(w.out.Breaks)
		w.found[k] = at
	}
	p := breakPort{at, c.out}
	more := !w.ports[p]
	w.ports[p] = true
	if known {
		if b := &w.out.Breaks[at]; more {
			b.Ports += ports
			b.Alike = append(b.Alike, c.out)
		}
		return
	}
	b := Break{Kind: k, Class: k.class, Fault: v.fault, Local: v.local, Ports: ports, Alike: []fabric.PortID{c.out}, Way: before()}
	b.At = len(b.Way)
	if b.At > 0 {
		h.In = b.Way[b.At-1].To
	}
	b.Way = append(b.Way, h)
	if after != nil {
		b.Way = after(b.Way)
	}
	w.out.Breaks = append(w.out.Breaks, b)
}

// unfold names the ports of breaks that were found on one of several devices that are
// alike: those with a cable between the same kinds of ports in the same tiers, where
// they are as many.
func (w *walker) unfold() {
	type ends struct {
		out, to         int32
		outTier, toTier fabric.Tier
	}
	tier := func(p fabric.PortID) fabric.Tier { return w.f.Devices[w.f.Ports[p].Device].Tier }
	of := func(out, to fabric.PortID) ends {
		return ends{w.judge.kindOf[out], w.judge.kindOf[to], tier(out), tier(to)}
	}
	like := map[ends][]fabric.PortID{}
	for i := range w.out.Breaks {
		if b := &w.out.Breaks[i]; len(b.Alike) < b.Ports {
			like[of(b.Way[b.At].Out, b.Way[b.At].To)] = nil
		}
	}
	if len(like) > 0 {
		for p := fabric.PortID(1); int(p) < len(w.f.Ports); p++ {
			if to := w.f.Ports[p].Peer; to != 0 {
				k := of(p, to)
				if list, wanted := like[k]; wanted {
					like[k] = append(list, p)
				}
			}
		}
	}
	for i := range w.out.Breaks {
		b := &w.out.Breaks[i]
		if all := like[of(b.Way[b.At].Out, b.Way[b.At].To)]; len(b.Alike) < b.Ports && len(all) == b.Ports {
			b.Alike = slices.Clone(all)
		}
		slices.Sort(b.Alike)
	}
}

// back are the hops by which a node was reached, from the sender.
func (w *follow) back(i int32) (way []Hop) {
	for ; i >= 0; i = w.nodes[i].prev {
		n := &w.nodes[i]
		in := fabric.PortID(0)
		if n.prev >= 0 {
			in = w.nodes[n.prev].by.to
		}
		way = append(way, w.judge.on(in, n.sent, n.was, n.by))
	}
	slices.Reverse(way)
	return way
}

// rest goes on to an endpoint by the first way of each switch, whatever else is
// wrong there.
func (w *follow) rest(way []Hop, c cable, v verdict) []Hop {
	x := w.p.x
	at := w.f.Ports[c.to].Device
	if w.f.Devices[at].Kind != fabric.Switch {
		return way
	}
	passed := map[Switch]bool{}
	s := w.ground.at[at]
	in := int32(-1)
	if l, ok := slices.BinarySearch(w.p.links, w.f.Ports[c.out].Link); ok {
		in = w.p.channel(l, s) - x.c.off[s]
	}
	for v.next != 0 && !passed[s] {
		passed[s] = true
		var by cable
		priority, was := v.prio, v.next
		hops := x.next(nil, s, w.t, in)
		k := int32(-1)
		if len(hops) > 0 {
			k = x.c.off[s] + hops[0].out
		}
		last := s == w.t || k >= 0 && x.c.to[k] == w.t && w.p.home(w.t)
		switch {
		case last:
			l := slices.IndexFunc(w.group.legs, func(l leg) bool { return w.on(l, s) })
			if l < 0 {
				return way
			}
			by = w.group.legs[l].cable
		case k < 0 || len(w.p.cables[k]) == 0:
			return way
		default:
			by, in = w.p.cables[k][0].cable, x.c.back[k]-x.c.off[x.c.to[k]]
			priority, was = w.judge.tag(priority, was, hops[0])
		}
		way = append(way, w.judge.on(c.to, priority, was, by))
		if last {
			return way
		}
		v, c, s = w.judge.hop(priority, was, by), by, w.ground.at[w.f.Ports[by.to].Device]
	}
	return way
}
