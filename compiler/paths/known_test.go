package paths

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// known is one row of theory C.3.
type known struct {
	id              string
	net             *drawn
	o               Options
	vertices, edges int64
	circles         []int64
	length          int    // of the shortest circle
	cycle           string // where there is just one shortest circle, from its lowest buffer
	valley          []string
	holes           int64 // what a repair sends to a leaf whose only other spine it came from
}

func knownAnswers() []known {
	base := func(b Base) Options { return Options{Routing: Routing{Base: b}, Priorities: []uint8{rdma}} }
	repair := func(b Base, d *Down, mayReturn bool) Options {
		return Options{Routing: Routing{Base: b, LocalRepair: true, MayReturn: mayReturn}, Down: d, Priorities: []uint8{rdma}}
	}
	table := func(b Base, rows []Row) Options {
		return Options{Routing: Routing{Base: b, Rows: rows}, Priorities: []uint8{rdma}}
	}
	with := func(o Options, remap Remap, more ...uint8) Options {
		o.Routing.Remap, o.Remapped = remap, more
		return o
	}

	tree := fatTree(4)
	detour := tree.rows("a0.0 * e0.0 e0.1", "e0.1 * e0.0 a0.1")
	mirror := tree.rows("a0.1 * e0.1 e0.0", "e0.0 * e0.1 a0.0")
	pods := twoPods()
	l1t1 := pods.down("l1-t1")
	both := pods.down("l1-t1", "l3-t4")
	r3, r4 := ring(3), ring(4)
	dateline := Tags([]Tag{{At: r3.at["r2"], From: Anywhere, Next: r3.at["r0"], Priority: rdma, New: 4}})
	ls := leafSpine(4, 2, 1)
	small, smallRows := dragonfly(2, 1)
	large, largeRows := dragonfly(4, 2)
	group := func(s Switch) Switch { return s / 4 }
	global := func(from, at, _ Switch, p uint8) uint8 {
		if from != Hosts && group(from) != group(at) {
			return p + 1
		}
		return p
	}
	return []known{
		{id: "T1a", net: tree, o: base(UpDown), vertices: 64, edges: 128},
		{id: "T1b", net: fatTree(8), o: base(UpDown), vertices: 512, edges: 2304},
		{id: "T2a", net: tree, o: table(UpDown, detour), vertices: 63, edges: 126, valley: []string{"a0.0>e0.1>a0.1"}},
		{
			id: "T2b", net: tree, o: table(UpDown, append(slices.Clone(detour), mirror...)), vertices: 62, edges: 124, circles: []int64{4}, length: 4,
			cycle: "a0.1>e0.0, e0.0>a0.0, a0.0>e0.1, e0.1>a0.1", valley: []string{"a0.1>e0.0>a0.0", "a0.0>e0.1>a0.1"},
		},
		{id: "T2c", net: pods, o: base(UpDown), vertices: 32, edges: 56},
		{id: "T2d", net: pods, o: repair(UpDown, l1t1, false), vertices: 30, edges: 54, valley: []string{"s1>l1>s2"}},
		{
			id: "T2e", net: pods, o: repair(UpDown, both, false), vertices: 28, edges: 52, circles: []int64{4, 4}, length: 4,
			cycle: "s1>l1, l1>s2, s2>l3, l3>s1", valley: []string{"s1>l1>s2", "s1>l3>s2"},
		},
		{id: "T2f", net: pods, o: with(repair(UpDown, both, false), Bounces(pods.Level, []uint8{rdma, 4}), 4), vertices: 38, edges: 60, valley: []string{"s1>l1>s2/4", "s1>l3>s2/4"}},
		{id: "T2g", net: pods, o: with(repair(UpDown, both, false), Bounces(pods.Level, []uint8{rdma})), vertices: 28, edges: 48},
		{id: "T3a", net: r3, o: table(ByTable, clockwise(3, 2)), vertices: 3, edges: 3, circles: []int64{3}, length: 3, cycle: "r2>r0, r0>r1, r1>r2"},
		{id: "T3b", net: r3, o: base(Shortest), vertices: 6, edges: 0},
		{id: "T3c", net: r4, o: table(ByTable, clockwise(4, 2)), vertices: 8, edges: 4, circles: []int64{4}, length: 4, cycle: "r3>r0, r0>r1, r1>r2, r2>r3"},
		{id: "T3d", net: r3, o: with(table(ByTable, clockwise(3, 2)), dateline, 4), vertices: 4, edges: 3},
		{id: "T4a", net: ls, o: Options{Routing: Routing{Base: Shortest}, Down: ls.down("s1-l1"), Priorities: []uint8{rdma}}, vertices: 14, edges: 18},
		{id: "T4b", net: ls, o: repair(Shortest, ls.down("s1-l1"), false), vertices: 14, edges: 21, valley: []string{"s1>l2>s2", "s1>l3>s2", "s1>l4>s2"}},
		{
			id: "T4c", net: ls, o: repair(Shortest, ls.down("s1-l1"), true), vertices: 14, edges: 27, circles: []int64{6}, length: 2, cycle: "s1>l2, l2>s1",
			valley: []string{"s1>l2>s1", "s1>l3>s1", "s1>l4>s1"},
		},
		{
			id: "T4d", net: ls, o: repair(Shortest, ls.down("s1-l1", "s2-l4"), false), vertices: 12, edges: 16, circles: []int64{4, 4}, length: 4,
			cycle: "s1>l2, l2>s2, s2>l3, l3>s1", holes: 2, valley: []string{"s1>l2>s2", "s1>l3>s2"},
		},
		{id: "T5a", net: small, o: table(ByTable, smallRows), vertices: 12, edges: 12, circles: []int64{6, 6}, length: 6},
		{id: "T5b", net: large, o: table(ByTable, largeRows), vertices: 180, edges: 432, circles: []int64{180}, length: 6},
		{id: "T5c", net: large, o: with(table(ByTable, largeRows), global, 4), vertices: 288, edges: 432},
	}
}

// TestKnownAnswers is theory C.3: counts that an independent implementation found.
func TestKnownAnswers(t *testing.T) {
	for _, c := range knownAnswers() {
		for _, whole := range []bool{false, true} {
			c.o.Search, c.o.Whole = true, whole
			b, err := Deadlock(&c.net.Net, c.o)
			if err != nil {
				t.Fatalf("%s: %v", c.id, err)
			}
			if b.Vertices != c.vertices || b.Edges != c.edges {
				t.Errorf("%s: %d vertices and %d edges, want %d and %d", c.id, b.Vertices, b.Edges, c.vertices, c.edges)
			}
			if !slices.Equal(b.Circles, c.circles) || b.Acyclic() != (c.circles == nil) {
				t.Errorf("%s: circles of %v, want %v", c.id, b.Circles, c.circles)
			}
			if len(b.Cycle) != c.length || !b.Shortest {
				t.Errorf("%s: shortest circle %s, want length %d", c.id, c.net.hops(b.Cycle), c.length)
			}
			if got := c.net.hops(b.Cycle); c.cycle != "" && got != c.cycle {
				t.Errorf("%s: shortest circle %s, want %s", c.id, got, c.cycle)
			}
			var valleys []string
			for _, v := range b.Valley {
				valleys = append(valleys, c.net.hop(Vertex{v.From, v.At, rdma})+">"+c.net.hop(Vertex{v.At, v.Next, v.New})[len(c.net.names[v.At])+1:])
			}
			if diff := cmp.Diff(c.valley, valleys); diff != "" {
				t.Errorf("%s: valleys (-want +got):\n%s", c.id, diff)
			}
			if b.Holes != c.holes {
				t.Errorf("%s: %d holes, want %d: %v", c.id, b.Holes, c.holes, b.Hole)
			}
		}
	}
}
