package paths

import "math/bits"

// graph is the buffer dependency graph of a unit: for each switch a matrix of
// bits, rows by ingress buffer and columns by the buffer after it. A buffer is
// (channel the other way) * layers + layer, so that those at one switch are
// consecutive, and in the matrix of the switch they count from 0.
type graph struct {
	x       *router
	u       unit
	layers  int32
	layerOf [8]int8
	rowOff  []int64 // first word of the matrix of each switch
	words   []int32 // of a row
	bits    []uint64
	seen    []uint64 // buffers that traffic reaches
	size    []int64  // switches behind each one, nil = 1
	limit   int64    // of steps
	steps   int64    // that were taken
	scans   int64    // besides, in looks for the shortest circle

	// Of one destination, used again.
	in     []uint64 // buffers that traffic to it reaches, by channel
	pass   []bool
	some   []int32 // words of the next hops that are not empty
	mark   []int32 // by buffer, the walk that was there last
	walks  int32
	empty  []int32 // by switch, the walk that found it without a way on
	parent []int32
	queue  []int32
	hops   []hop
}

func newGraph(x *router, u unit, steps int64) (*graph, error) {
	g := &graph{x: x, u: u, layers: int32(len(u.layers)), limit: steps}
	for i := range g.layerOf {
		g.layerOf[i] = -1
	}
	for i, p := range u.layers {
		g.layerOf[p] = int8(i)
	}
	n := x.n.Switches
	g.rowOff, g.words = make([]int64, n+1), make([]int32, n)
	for s := range n {
		deg := int64(x.c.degree(Switch(s))) * int64(g.layers)
		g.words[s] = int32((deg + 63) / 64)
		g.rowOff[s+1] = g.rowOff[s] + deg*int64(g.words[s])
	}
	if g.rowOff[n] > maxWords {
		return nil, &LimitError{"bytes of bit matrix", 8 * g.rowOff[n], 8 * maxWords}
	}
	g.bits = make([]uint64, g.rowOff[n])
	buffers := len(x.c.to) * int(g.layers)
	g.seen = make([]uint64, (buffers+63)/64)
	g.in, g.pass = make([]uint64, len(x.nh)), make([]bool, n)
	return g, nil
}

// at is the switch whose ingress buffer it is.
func (g *graph) at(b int32) Switch { return g.x.c.from[b/g.layers] }

// vertex names a buffer.
func (g *graph) vertex(b int32) Vertex {
	k := b / g.layers
	return Vertex{g.x.c.to[k], g.x.c.from[k], g.u.layers[b%g.layers]}
}

// row is the part of a switch's matrix that belongs to one of its buffers.
func (g *graph) row(b int32) []uint64 {
	s := g.at(b)
	w := int64(g.words[s])
	first := g.rowOff[s] + int64(b-g.x.c.off[s]*g.layers)*w
	return g.bits[first : first+w]
}

// after is the buffer that a column of a switch's matrix stands for.
func (g *graph) after(s Switch, column int32) int32 {
	return g.x.c.back[g.x.c.off[s]+column/g.layers]*g.layers + column%g.layers
}

// lossless reports whether a buffer is one: its priority has PFC on the link. A
// frame that crosses a link without goes on, and waits for nothing there.
func (g *graph) lossless(b int32) bool {
	return g.x.c.lossless(b/g.layers)>>g.u.layers[b%g.layers]&1 == 1
}

func (g *graph) reach(b int32) { g.seen[b>>6] |= 1 << (b & 63) }

// fill follows the flows to every destination. Holes are counted where count
// says so: they are the same for every unit.
func (g *graph) fill(b *Buffers, count bool) error {
	x := g.x
	if len(g.u.starts) == 0 {
		return nil
	}
	lossless := make([]uint64, len(x.nh))
	simple := g.layers == 1 && x.r.Remap == nil
	if simple {
		for k := range x.c.to {
			if x.c.lossless(int32(k))>>g.u.layers[0]&1 == 1 {
				x.set(lossless, int32(k))
			}
		}
	}
	for _, d := range x.n.Sinks {
		if !x.sink[d] || x.skip != nil && x.skip[d] {
			continue
		}
		plain := x.towards(d)
		if g.size != nil && g.size[d] > 1 {
			g.hops = x.between(g.hops[:0], d)
			if x.frozen && x.c.degree(d) > 0 && (len(g.hops) == 0 || x.aside(d)) {
				return errFold // what goes round the failure may pass another of those behind it
			}
		}
		if !plain || !simple {
			if err := g.walk(d, func(from, to int32) {
				if !g.lossless(to) {
					return
				}
				g.reach(to)
				if from >= 0 && g.lossless(from) {
					s := g.at(from)
					col := (x.c.back[to/g.layers]-x.c.off[s])*g.layers + to%g.layers
					g.row(from)[col>>6] |= 1 << (col & 63)
				}
			}, func(at Switch) {
				if count {
					b.hole(at, d, g.pairs(at, d))
				}
			}); err != nil {
				return err
			}
			continue
		}
		if err := g.pour(d, lossless); err != nil {
			return err
		}
		if count {
			g.holes(b, d)
		}
	}
	return nil
}

// pour follows all flows to a destination at once, the farthest switch first:
// whatever enters a switch leaves by all of its next hops.
func (g *graph) pour(d Switch, lossless []uint64) error {
	x, c := g.x, g.x.c
	clear(g.in)
	clear(g.pass)
	if g.size != nil && g.size[d] > 1 {
		g.among(d, lossless)
	}
	for _, v := range x.order {
		if v == d || !x.sink[v] && !g.pass[v] {
			continue
		}
		nh, mask := x.of(x.nh, v), x.of(lossless, v)
		for i, word := range nh {
			for ; word != 0; word &= word - 1 {
				g.enter(c.off[v]+int32(i<<6+bits.TrailingZeros64(word)), lossless)
			}
		}
		g.some = g.some[:0]
		for j := range nh {
			if nh[j]&mask[j] != 0 {
				g.some = append(g.some, int32(j))
			}
		}
		if len(g.some) == 0 {
			continue
		}
		w := int64(g.words[v])
		for i, word := range x.of(g.in, v) {
			g.steps += int64(bits.OnesCount64(word)*len(g.some)) + 1
			for ; word != 0; word &= word - 1 {
				row := g.bits[g.rowOff[v]+int64(i<<6+bits.TrailingZeros64(word))*w:]
				for _, j := range g.some {
					row[j] |= nh[j] & mask[j]
				}
			}
		}
		if g.steps > g.limit {
			return &LimitError{"steps", g.steps, g.limit}
		}
	}
	g.keep()
	return nil
}

// enter lets traffic out by a channel and into the switch at its end.
func (g *graph) enter(k int32, lossless []uint64) {
	x := g.x
	g.pass[x.c.to[k]] = true
	if i := k - x.c.off[x.c.from[k]]; x.of(lossless, x.c.from[k])[i>>6]>>(i&63)&1 == 1 {
		x.set(g.in, x.c.back[k])
	}
}

// among lets the switches behind a folded one send to each other.
func (g *graph) among(d Switch, lossless []uint64) {
	g.hops = g.x.between(g.hops[:0], d)
	for _, h := range g.hops {
		g.enter(g.x.c.off[d]+h.out, lossless)
	}
}

// flood lets each flood of the unit's priorities out of every switch by all of
// its links but those to where it came from.
//
// What came by the peer link of an MLAG pair goes out by no bond that both
// switches have: the other one has sent it there. Once that has lost its legs, the
// filter is gone [SONiC, MCLAG Enhancements HLD 3.3.1 and 3.7.1; Cisco, vPC loop
// avoidance]. And what came by a bond goes back by none of its legs.
func (g *graph) flood(floods []Flood) error {
	x, c := g.x, g.x.c
	on := make([]bool, len(c.to)) // channels that the flood goes by
	for _, f := range floods {
		layer := g.layerOf[f.Priority]
		if layer < 0 {
			continue
		}
		clear(on)
		for _, i := range f.Links {
			if k := c.by(&x.n.Links[i]); k >= 0 && c.width[k] > 0 && c.lossless(k)>>f.Priority&1 == 1 {
				on[k], on[c.back[k]] = true, true
			}
		}
		for k := range int32(len(c.to)) {
			if !on[k] {
				continue
			}
			to := c.back[k]*g.layers + int32(layer)
			g.reach(to)
			v := c.from[k]
			if g.steps += int64(c.degree(v)); g.steps > g.limit {
				return &LimitError{"steps", g.steps, g.limit}
			}
			for in := c.off[v]; in < c.off[v+1]; in++ {
				if on[in] && c.to[in] != c.to[k] && !x.filtered(in, k) {
					col := (k-c.off[v])*g.layers + int32(layer)
					g.row(in*g.layers + int32(layer))[col>>6] |= 1 << (col & 63)
				}
			}
		}
	}
	return nil
}

// keep marks the buffers of the last destination as reached. There is one layer.
func (g *graph) keep() {
	c := g.x.c
	for s := range g.x.n.Switches {
		for i, word := range g.x.of(g.in, Switch(s)) {
			for ; word != 0; word &= word - 1 {
				g.reach(c.off[s] + int32(i<<6+bits.TrailingZeros64(word)))
			}
		}
	}
}

// holes counts the sources without a way to a plain destination.
func (g *graph) holes(b *Buffers, d Switch) {
	for _, s := range g.x.n.Sinks {
		switch {
		case !g.x.sink[s]:
		case s != d && g.x.dist[s] < 0:
			b.hole(s, d, g.pairs(s, d))
		case s == d && g.pairs(d, d) > 0:
			if g.hops = g.x.between(g.hops[:0], d); len(g.hops) == 0 {
				b.hole(s, d, g.pairs(d, d))
			}
		}
	}
}

// pairs is how many pairs of switches stand behind a pair.
func (g *graph) pairs(s, d Switch) int64 {
	switch {
	case g.size == nil && s == d:
		return 0
	case g.size == nil:
		return 1
	case s == d:
		return g.size[d] * (g.size[d] - 1)
	}
	return g.size[s] * g.size[d]
}

func (b *Buffers) hole(at, to Switch, times int64) {
	if b.Holes += times; len(b.Hole) < maxHoles {
		b.Hole = append(b.Hole, Hole{at, to})
	}
}

// walk follows the flows to a destination one buffer at a time, nearest to the
// sources first, so that what came from where can decide: edge sees every step,
// from = -1 where hosts send; hole sees each switch without a way on, once. The
// router must stand at the destination. It fails when it is out of steps, and
// when a remap leads to a priority that was not named.
func (g *graph) walk(d Switch, edge func(from, to int32), hole func(at Switch)) error {
	x := g.x
	if g.mark == nil {
		g.empty = make([]int32, x.n.Switches)
		g.mark, g.parent = make([]int32, len(x.c.to)*int(g.layers)), make([]int32, len(x.c.to)*int(g.layers))
	}
	g.walks++
	g.queue = g.queue[:0]
	expand := func(v Switch, in int32, from int32, priority uint8) error {
		if v == d {
			g.hops = x.between(g.hops[:0], d)
		} else {
			g.hops = x.next(g.hops[:0], v, d, in)
		}
		if len(g.hops) == 0 && g.empty[v] != g.walks {
			g.empty[v] = g.walks
			hole(v)
		}
		if g.steps += int64(len(g.hops)) + 1; g.steps > g.limit {
			return &LimitError{"steps", g.steps, g.limit}
		}
		for _, h := range g.hops {
			k := x.c.off[v] + h.out
			p, err := g.onward(v, in, k, h, priority)
			if err != nil || p == Lossy {
				if err != nil {
					return err
				}
				continue
			}
			to := x.c.back[k]*g.layers + int32(g.layerOf[p])
			edge(from, to)
			if g.mark[to] != g.walks {
				g.mark[to], g.parent[to] = g.walks, from
				g.queue = append(g.queue, to)
			}
		}
		return nil
	}
	for _, s := range x.n.Sinks {
		if s == d && g.pairs(d, d) == 0 || !x.sink[s] {
			continue
		}
		for _, p := range g.u.starts {
			if err := expand(s, -1, -1, p); err != nil {
				return err
			}
		}
	}
	for head := 0; head < len(g.queue); head++ {
		b := g.queue[head]
		if v := g.at(b); v != d {
			if err := expand(v, b/g.layers-x.c.off[v], b, g.u.layers[b%g.layers]); err != nil {
				return err
			}
		}
	}
	return nil
}

// onward is the priority with which a frame leaves v by a channel: that of the
// row, else of the remap, else the one it has.
func (g *graph) onward(v Switch, in, k int32, h hop, priority uint8) (uint8, error) {
	x := g.x
	switch {
	case h.priority >= 0:
		return uint8(h.priority), nil
	case x.r.Remap == nil:
		return priority, nil
	}
	from := Hosts
	if in >= 0 {
		from = x.c.to[x.c.off[v]+in]
	}
	p := x.r.Remap(from, v, x.c.to[k], priority)
	if p != Lossy && (p > 7 || g.layerOf[p] < 0) {
		return 0, &RemapError{At: v, Next: x.c.to[k], Priority: p}
	}
	return p, nil
}
