package paths

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// everyFlow lists flows as whole paths: all simple paths of a net that is whole or
// has learnt of what failed, of which it keeps those that the base names. It
// shares no search with the package, nor with the naive graph.
type everyFlow struct {
	n    *Net
	o    *Options
	pfc  map[[2]Switch][]uint8 // of each cable that is up, both ways
	path []Switch
}

func newEveryFlow(n *Net, o *Options) *everyFlow {
	x := &everyFlow{n: n, o: o, pfc: map[[2]Switch][]uint8{}}
	for i, l := range n.Links {
		if l.A == l.B || o.Down != nil && (slices.Contains(o.Down.Links, i) || x.dead(l.A) || x.dead(l.B)) {
			continue
		}
		x.pfc[[2]Switch{l.A, l.B}] = append(x.pfc[[2]Switch{l.A, l.B}], l.Lossless)
		x.pfc[[2]Switch{l.B, l.A}] = append(x.pfc[[2]Switch{l.B, l.A}], l.Lossless)
	}
	return x
}

func (x *everyFlow) dead(s Switch) bool {
	return x.o.Down != nil && slices.Contains(x.o.Down.Switches, s)
}

func (x *everyFlow) joined(a, b Switch) bool { return len(x.pfc[[2]Switch{a, b}]) > 0 }

func (x *everyFlow) below(a, b Switch) bool {
	return x.n.level(b) > 0 && x.n.level(a) > x.n.level(b)
}

// simple calls visit for every simple path from the last switch of a path to d,
// over hops that may be taken.
func (x *everyFlow) simple(d Switch, may func(a, b Switch) bool, visit func(path []Switch)) {
	v := x.path[len(x.path)-1]
	if v == d {
		visit(slices.Clone(x.path))
		return
	}
	if len(x.path) > 1 && slices.Contains(x.n.Still, v) {
		return
	}
	for w := range Switch(x.n.Switches) {
		if x.joined(v, w) && may(v, w) && !slices.Contains(x.path, w) {
			x.path = append(x.path, w)
			x.simple(d, may, visit)
			x.path = x.path[:len(x.path)-1]
		}
	}
}

// flows are the paths from s to d that the base takes.
func (x *everyFlow) flows(s, d Switch) (list [][]Switch) {
	x.path = []Switch{s}
	x.simple(d, func(_, _ Switch) bool { return true }, func(p []Switch) {
		if x.o.Routing.Base == Shortest || x.climbsAndFalls(p, d) {
			list = append(list, p)
		}
	})
	if len(list) > 0 {
		least := len(slices.MinFunc(list, func(a, b []Switch) int { return len(a) - len(b) }))
		list = slices.DeleteFunc(list, func(p []Switch) bool { return len(p) > least })
	}
	return list
}

// climbsAndFalls reports whether a path climbs as long as d is not below, and then
// only falls.
func (x *everyFlow) climbsAndFalls(p []Switch, d Switch) bool {
	falls := false
	for i := range len(p) - 1 {
		switch {
		case x.below(p[i], p[i+1]):
			falls = true
		case falls || !x.below(p[i+1], p[i]):
			return false
		default:
			mine, under := x.path, false
			x.path = []Switch{p[i]}
			x.simple(d, x.below, func([]Switch) { under = true })
			if x.path = mine; under {
				return false
			}
		}
	}
	return true
}

// waits are the edges of the buffer graph, and how many pairs have no flow.
func (x *everyFlow) waits() (edges map[[2]Vertex]bool, holes int64) {
	edges = map[[2]Vertex]bool{}
	for _, s := range x.n.Sinks {
		for _, d := range x.n.Sinks {
			if s == d || x.dead(s) || x.dead(d) {
				continue
			}
			flows := x.flows(s, d)
			if len(flows) == 0 {
				holes++
			}
			for _, p := range flows {
				for _, priority := range x.o.Priorities {
					x.follow(p, priority, edges)
				}
			}
		}
	}
	return edges, holes
}

func (x *everyFlow) follow(p []Switch, priority uint8, edges map[[2]Vertex]bool) {
	from, last, filled := Hosts, Vertex{}, false
	for i := range len(p) - 1 {
		if x.o.Routing.Remap != nil {
			priority = x.o.Routing.Remap(from, p[i], p[i+1], priority)
		}
		if priority == Lossy {
			return
		}
		v := Vertex{p[i], p[i+1], priority}
		fills := slices.ContainsFunc(x.pfc[[2]Switch{v.From, v.To}], func(set uint8) bool { return set>>priority&1 == 1 })
		if filled && fills {
			edges[[2]Vertex{last, v}] = true
		}
		from, last, filled = p[i], v, fills
	}
}

// least is the length of the shortest circle of a graph, 0 = there is none.
func least(edges map[[2]Vertex]bool) (length int) {
	for start := range edges {
		seen := map[Vertex]bool{}
		wave := map[Vertex]bool{start[0]: true}
		for n := 1; len(wave) > 0; n++ {
			next := map[Vertex]bool{}
			for e := range edges {
				if wave[e[0]] && !seen[e[1]] {
					seen[e[1]], next[e[1]] = true, true
				}
			}
			if next[start[0]] && (length == 0 || n < length) {
				length = n
			}
			wave = next
		}
	}
	return length
}

// TestEveryFlow: the graph has the waits of all flows and no other, one by one, and
// its shortest circle is the shortest of them.
func TestEveryFlow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, low, high int) int { return rapid.IntRange(low, high).Draw(t, name) }
		n := &Net{Switches: draw("switches", 2, 7)}
		for s := range Switch(n.Switches) {
			n.Level = append(n.Level, uint8(draw("level", 0, 3)))
			if draw("sink", 0, 3) > 0 {
				if n.Sinks = append(n.Sinks, s); draw("still", 0, 9) == 0 {
					n.Still = append(n.Still, s)
				}
			}
		}
		pick := func(name string) Switch { return Switch(draw(name, 0, n.Switches-1)) }
		for range draw("links", 1, 13) {
			n.Links = append(n.Links, Link{A: pick("a"), B: pick("b"), Lossless: rapid.SampledFrom([]uint8{1 << rdma, 1<<rdma | 1<<4, 1 << 4, 0}).Draw(t, "pfc")})
		}
		o := Options{
			Search: true, Whole: true, Priorities: rapid.SampledFrom([][]uint8{{rdma}, {rdma, 4}}).Draw(t, "priorities"),
			Routing: Routing{Base: rapid.SampledFrom([]Base{UpDown, Shortest}).Draw(t, "base")},
		}
		if draw("failure", 0, 2) == 0 {
			o.Down = &Down{Links: []int{draw("link down", 0, len(n.Links)-1)}}
		}
		if draw("tags", 0, 1) == 0 {
			var tags []Tag
			for range draw("rules", 1, 4) {
				tags = append(tags, Tag{At: pick("at"), From: Anywhere, Next: pick("next"), Priority: uint8(draw("tag", rdma, 4)), New: rapid.SampledFrom([]uint8{rdma, 4, Lossy}).Draw(t, "new")})
			}
			o.Routing.Remap, o.Remapped = Tags(tags), []uint8{rdma, 4}
		}
		want, holes := newEveryFlow(n, &o).waits()
		got := map[[2]Vertex]bool{}
		o.Each = func(v, w Vertex) { got[[2]Vertex{v, w}] = true }
		b, err := Deadlock(n, o)
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(want, got) {
			t.Fatalf("waits (-want +got):\n%s\n%+v\n%+v", cmp.Diff(want, got), n, o)
		}
		if b.Holes != holes || len(b.Cycle) != least(want) {
			t.Fatalf("%d holes, circle of %d; want %d, %d\n%+v\n%+v", b.Holes, len(b.Cycle), holes, least(want), n, o)
		}
	})
}
