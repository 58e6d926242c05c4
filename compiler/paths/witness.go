package paths

import "slices"

// step is an edge that a flow is wanted for, and where the flow belongs.
type step struct {
	from, to int32
	circle   int // index in Cycle
	valley   int // index in Valley, -1 = it is for the circle
}

// witness finds a flow for each step: destinations are tried in order, and of
// the flows to one the first to arrive counts.
func (g *graph) witness(b *Buffers, wanted []step) error {
	type edge struct{ from, to int32 }
	want := map[edge][]step{} // a step of the circle may be a valley as well
	for _, s := range wanted {
		want[edge{s.from, s.to}] = append(want[edge{s.from, s.to}], s)
	}
	for _, d := range g.x.n.Sinks {
		if len(want) == 0 {
			return nil
		}
		if !g.x.sink[d] || g.x.towards(d) && !slices.ContainsFunc(wanted, func(s step) bool { return g.sends(s) }) {
			continue
		}
		var found []step
		if err := g.walk(d, func(from, to int32) {
			if s, ok := want[edge{from, to}]; ok {
				found = append(found, s...)
				delete(want, edge{from, to})
			}
		}, func(Switch) {}); err != nil {
			return err
		}
		wanted = slices.DeleteFunc(wanted, func(s step) bool { return slices.Contains(found, s) })
		for _, s := range found {
			f, err := g.flow(s, d)
			if err != nil {
				return err
			}
			if s.valley >= 0 {
				b.Valley[s.valley].Flow = f
			} else {
				b.Flows[s.circle] = f
			}
		}
	}
	return nil
}

// sends reports whether the switch of a step has its channel among the next hops
// to the destination: without that, no flow takes it.
func (g *graph) sends(s step) bool {
	x := g.x
	v := g.at(s.from)
	i := x.c.back[s.to/g.layers] - x.c.off[v]
	return x.of(x.nh, v)[i>>6]>>(i&63)&1 == 1
}

// flow is the way of the flow that took a step: back from it to the hosts by
// what the last walk noted, and on from it by the first way of each switch,
// until it arrives, is lossy, has no way, or is where it was before.
func (g *graph) flow(s step, d Switch) (Flow, error) {
	x := g.x
	var buffers []int32
	for b := s.from; b >= 0; b = g.parent[b] {
		buffers = append(buffers, b)
	}
	slices.Reverse(buffers)
	buffers = append(buffers, s.to)
	f := Flow{To: d}
	for _, b := range buffers {
		v := g.vertex(b)
		f.Path, f.Priority = append(f.Path, v.From), append(f.Priority, v.Priority)
	}
	f.From = f.Path[0]
	passed := map[int32]bool{}
	for _, b := range buffers {
		passed[b] = true
	}
	for b := s.to; ; {
		v := g.vertex(b)
		f.Path = append(f.Path, v.To)
		if v.To == d {
			return f, nil
		}
		in := b/g.layers - x.c.off[v.To]
		g.hops = x.next(g.hops[:0], v.To, d, in)
		if len(g.hops) == 0 {
			return f, nil
		}
		k := x.c.off[v.To] + g.hops[0].out
		p, err := g.onward(v.To, in, k, g.hops[0], v.Priority)
		if err != nil {
			return f, err
		}
		f.Priority = append(f.Priority, p)
		if p == Lossy {
			f.Path = append(f.Path, x.c.to[k])
			return f, nil
		}
		b = x.c.back[k]*g.layers + int32(g.layerOf[p])
		if passed[b] {
			f.Path = append(f.Path, x.c.to[k])
			return f, nil
		}
		passed[b] = true
	}
}
