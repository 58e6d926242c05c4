package paths

import (
	"math/bits"
	"slices"
)

// maxScan bounds the search for the shortest circle, in looks at an edge.
const maxScan = 10_000_000

// sum counts vertices and edges, and finds valleys. It returns the steps of the
// valleys that are listed.
func (g *graph) sum(b *Buffers) (valleys []step) {
	c := g.x.c
	type turn struct {
		at       Switch
		priority uint8
	}
	listed := map[turn]bool{}
	for v := range g.each {
		s, in := g.at(v), g.vertex(v)
		ports := int64(c.width[v/g.layers])
		b.Vertices += g.u.times * g.times(in.From) * g.times(s) * ports
		down := g.x.n.level(in.From) > g.x.n.level(s) && g.x.n.level(s) > 0
		for w := range g.next(v) {
			out := g.vertex(w)
			n := g.u.times * g.times(in.From) * g.times(s) * ports * int64(c.width[w/g.layers])
			if g.size != nil && in.From == out.To {
				n *= g.size[out.To] - 1 // back to another of those behind it
			} else {
				n *= g.times(out.To)
			}
			b.Edges += n
			if !down || g.x.n.level(out.To) <= g.x.n.level(s) {
				continue
			}
			b.Valleys += n
			if t := (turn{s, in.Priority}); len(b.Valley) < maxValleys && !listed[t] {
				listed[t] = true
				valleys = append(valleys, step{from: v, to: w, valley: len(b.Valley)})
				b.Valley = append(b.Valley, Valley{From: in.From, At: s, Next: out.To, Priority: in.Priority, New: out.Priority})
			}
		}
	}
	return valleys
}

// times is the number of switches behind one.
func (g *graph) times(s Switch) int64 {
	if g.size == nil {
		return 1
	}
	return g.size[s]
}

// each yields the buffers that traffic reaches, ascending.
func (g *graph) each(yield func(v int32) bool) {
	for i, word := range g.seen {
		for ; word != 0; word &= word - 1 {
			if !yield(int32(i<<6 + bits.TrailingZeros64(word))) {
				return
			}
		}
	}
}

// next yields the buffers that one waits for, by switch.
func (g *graph) next(v int32) func(yield func(w int32) bool) {
	return func(yield func(w int32) bool) {
		s := g.at(v)
		for i, word := range g.row(v) {
			for ; word != 0; word &= word - 1 {
				if !yield(g.after(s, int32(i<<6+bits.TrailingZeros64(word)))) {
					return
				}
			}
		}
	}
}

// judge finds the circles of a filled graph, the shortest if the one that b has
// is longer, and flows for its steps and for the valleys.
func (g *graph) judge(b *Buffers, wanted []step) error {
	part, sizes := g.parts()
	if len(sizes) > 0 {
		for _, n := range sizes {
			for range g.u.times {
				b.Circles = append(b.Circles, n)
			}
		}
		cycle, shortest := g.shortest(part)
		b.Shortest = b.Shortest && shortest
		if b.Cycle == nil || len(cycle) < len(b.Cycle) {
			b.Cycle, b.Flows = nil, make([]Flow, min(len(cycle), maxFlows))
			for i, v := range cycle {
				b.Cycle = append(b.Cycle, g.vertex(v))
				if i < maxFlows {
					wanted = append(wanted, step{from: v, to: cycle[(i+1)%len(cycle)], circle: i, valley: -1})
				}
			}
		}
	}
	// What was found stands without flows for it: they have a bound of their own.
	g.limit += g.steps/8 + 1<<20
	if err := g.witness(b, wanted); !limited(err) {
		return err
	}
	return nil
}

// parts are the strongly connected parts of more than one buffer: the number of
// the part of each buffer, from 1, and how many buffers each part has, parallel
// links counted. A buffer never waits for itself: no link leads to where it
// comes from.
//
// Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1972;
// the stack of calls is written out.
func (g *graph) parts() (part []int32, sizes []int64) {
	n := len(g.x.c.to) * int(g.layers)
	t := tarjan{g: g, index: make([]int32, n), low: make([]int32, n), part: make([]int32, n)}
	for v := range g.each {
		if t.index[v] == 0 {
			t.from(v)
		}
	}
	return t.part, t.sizes
}

type tarjan struct {
	g          *graph
	count      int32
	index, low []int32 // index 0 = not seen yet; low 0 = off the stack
	stack      []int32
	calls      []call
	part       []int32
	sizes      []int64
}

// call is a visit of a buffer: which word of its row is under way, and what is
// left of it.
type call struct {
	v    int32
	i    int32
	word uint64
}

func (t *tarjan) enter(v int32) {
	t.count++
	t.index[v], t.low[v] = t.count, t.count
	t.stack = append(t.stack, v)
	word := uint64(0)
	if row := t.g.row(v); len(row) > 0 {
		word = row[0]
	}
	t.calls = append(t.calls, call{v, 0, word})
}

func (t *tarjan) from(root int32) {
	t.enter(root)
	for len(t.calls) > 0 {
		f := &t.calls[len(t.calls)-1]
		row := t.g.row(f.v)
		for f.word == 0 && int(f.i)+1 < len(row) {
			f.i++
			f.word = row[f.i]
		}
		if f.word == 0 {
			t.leave(f.v)
			continue
		}
		w := t.g.after(t.g.at(f.v), f.i<<6+int32(bits.TrailingZeros64(f.word)))
		f.word &= f.word - 1
		switch {
		case t.index[w] == 0:
			t.enter(w)
		case t.low[w] != 0:
			t.low[f.v] = min(t.low[f.v], t.index[w])
		}
	}
}

func (t *tarjan) leave(v int32) {
	t.calls = t.calls[:len(t.calls)-1]
	low := t.low[v]
	if low == t.index[v] {
		first := len(t.stack) - 1
		for t.stack[first] != v {
			first--
		}
		members, size := t.stack[first:], int64(0)
		for _, w := range members {
			t.low[w] = 0
			size += int64(t.g.x.c.width[w/t.g.layers])
		}
		if len(members) > 1 {
			t.sizes = append(t.sizes, size)
			for _, w := range members {
				t.part[w] = int32(len(t.sizes))
			}
		}
		t.stack = t.stack[:first]
	}
	if len(t.calls) > 0 && t.low[v] != 0 {
		up := t.calls[len(t.calls)-1].v
		t.low[up] = min(t.low[up], low)
	}
}

// shortest is a shortest circle of all parts, from its lowest buffer: the first
// that breadth-first searches from each buffer find. known is false where the
// bound came first, and there may be a shorter one.
func (g *graph) shortest(part []int32) (cycle []int32, known bool) {
	n := len(part)
	mark, parent, depth := make([]int32, n), make([]int32, n), make([]int32, n)
	var queue []int32
	scans, walk := int64(0), int32(0)
	for start := range g.each {
		if part[start] == 0 {
			continue
		}
		if scans > maxScan && cycle != nil {
			g.scans += scans
			return g.rotate(cycle), false
		}
		walk++
		queue = append(queue[:0], start)
		mark[start], depth[start] = walk, 1
	search:
		for head := 0; head < len(queue); head++ {
			v := queue[head]
			if cycle != nil && int(depth[v]) >= len(cycle) {
				break
			}
			for w := range g.next(v) {
				scans++
				if w == start {
					cycle = cycle[:0]
					for u := v; ; u = parent[u] {
						cycle = append(cycle, u)
						if u == start {
							break
						}
					}
					slices.Reverse(cycle)
					break search
				}
				if part[w] == part[start] && mark[w] != walk {
					mark[w], parent[w], depth[w] = walk, v, depth[v]+1
					queue = append(queue, w)
				}
			}
		}
		if len(cycle) == 2 {
			break // no buffer waits for itself
		}
	}
	g.scans += scans
	return g.rotate(cycle), true
}

// rotate begins a circle with its lowest buffer.
func (g *graph) rotate(cycle []int32) []int32 {
	low := 0
	for i := range cycle {
		if cycle[i] < cycle[low] {
			low = i
		}
	}
	return append(slices.Clone(cycle[low:]), cycle[:low]...)
}
