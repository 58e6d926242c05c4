package paths

import (
	"errors"
	"slices"
	"testing"
)

// mesh is switches that are all joined, each with hosts.
func mesh(n int) *Net {
	x := &Net{Switches: n}
	for a := range n {
		x.Sinks = append(x.Sinks, Switch(a))
		for b := range a {
			x.Links = append(x.Links, Link{A: Switch(b), B: Switch(a), Lossless: 1 << rdma})
		}
	}
	return x
}

// TestHostile: nets that a mistake or malice may write end in an answer or in a
// refusal with a number, soon.
func TestHostile(t *testing.T) {
	flat := ring(10_000).Net
	flat.Level = nil
	around := make([]Row, 0, 10_000)
	for s := range Switch(10_000) {
		if s != 0 {
			around = append(around, Row{s, Anywhere, 0, (s + 1) % 10_000, -1})
		}
	}
	loops := []Row{{0, Anywhere, 2, 1, -1}, {1, Anywhere, 2, 0, -1}} // nothing ever reaches 2
	parts := &Net{Switches: 6, Sinks: []Switch{0, 1, 2, 3, 4, 5}, Links: []Link{{A: 0, B: 1, Lossless: 8}, {A: 2, B: 3, Lossless: 8}, {A: 4, B: 4, Lossless: 8}, {A: 2, B: 2, Lossless: 8}}}
	const leaves = 70_000
	star := &Net{Switches: leaves + 1, Sinks: []Switch{0, 1}}
	for s := range Switch(leaves) {
		star.Links = append(star.Links, Link{A: s, B: leaves, Lossless: 1 << rdma})
	}
	for _, c := range []struct {
		name            string
		net             *Net
		o               Options
		vertices, edges int64
		holes           int64
		circles         []int64
		refused         string
	}{
		{name: "mesh of 512", net: mesh(512), o: Options{Routing: Routing{Base: Shortest}}, vertices: 512 * 511},
		{name: "mesh of 512 whole", net: mesh(512), o: Options{Routing: Routing{Base: Shortest}, Whole: true}, vertices: 512 * 511},
		{name: "ring of 10,000 one way", net: &flat, o: Options{Routing: Routing{Base: ByTable, Rows: around}, Priorities: []uint8{rdma}}, vertices: 9_999, edges: 9_998, holes: 99_990_000 - 9_999},
		{name: "ring of 10,000", net: &flat, o: Options{Routing: Routing{Base: Shortest}}, refused: "steps"},
		{name: "too wide", net: star, o: Options{Routing: Routing{Base: Shortest}, Whole: true}, refused: "bytes of bit matrix"},
		{name: "loop", net: mesh(3), o: Options{Routing: Routing{Base: ByTable, Rows: loops}}, vertices: 2, edges: 2, holes: 4, circles: []int64{2}},
		{name: "disconnected, self-links", net: parts, o: Options{Routing: Routing{Base: Shortest}}, vertices: 4, holes: 26},
		{name: "nothing", net: &Net{}, o: Options{Routing: Routing{Base: Shortest}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := Deadlock(c.net, c.o)
			if c.refused != "" {
				var limit *LimitError
				if !errors.As(err, &limit) || limit.What != c.refused || limit.Need <= limit.Limit {
					t.Fatalf("error %v, want a limit of %s", err, c.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if b.Vertices != c.vertices || b.Edges != c.edges || b.Holes != c.holes || !slices.Equal(b.Circles, c.circles) {
				t.Errorf("%d vertices, %d edges, %d holes, circles of %v; want %d, %d, %d, %v", b.Vertices, b.Edges, b.Holes, b.Circles, c.vertices, c.edges, c.holes, c.circles)
			}
		})
	}
}

// TestLargeCircle: the shortest circle of a ring of 2,000 is the ring, and flows
// are given for its beginning.
func TestLargeCircle(t *testing.T) {
	n := ring(2_000)
	var rows []Row
	for _, to := range []Switch{0, 1_000} {
		for s := range Switch(2_000) {
			if s != to {
				rows = append(rows, Row{s, Anywhere, to, (s + 1) % 2_000, -1})
			}
		}
	}
	b, err := Deadlock(&n.Net, Options{Routing: Routing{Base: ByTable, Rows: rows}, Priorities: []uint8{rdma}})
	if err != nil {
		t.Fatal(err)
	}
	if b.Acyclic() || len(b.Cycle) != 2_000 || len(b.Flows) != maxFlows || !b.Shortest {
		t.Fatalf("circles of %v, shortest %d (%v), %d flows", b.Circles, len(b.Cycle), b.Shortest, len(b.Flows))
	}
	for i, f := range b.Flows {
		if len(f.Path) == 0 || f.From == f.To {
			t.Errorf("flow %d is %+v", i, f)
		}
	}
}

// TestRefusals: input that names what is not there.
func TestRefusals(t *testing.T) {
	for want, c := range map[string]struct {
		net *Net
		o   Options
	}{
		"1 levels for 2 switches":                                 {&Net{Switches: 2, Level: []uint8{1}}, Options{}},
		"link 0 joins switches 0 and 2 of 2":                      {&Net{Switches: 2, Links: []Link{{A: 0, B: 2, Lossless: 8}}}, Options{}},
		"sink 1 is switch 0 of 2, or not after the one before it": {&Net{Switches: 2, Sinks: []Switch{1, 0}}, Options{}},
		"row 0 names a switch beyond the 2 there are":             {&Net{Switches: 2}, Options{Routing: Routing{Rows: []Row{{0, Anywhere, 1, 5, -1}}}}},
		"row 0 has priority 9":                                    {&Net{Switches: 2}, Options{Routing: Routing{Rows: []Row{{0, Anywhere, 1, 1, 9}}}}},
		"link 3 of 0 is down":                                     {&Net{Switches: 2}, Options{Down: &Down{Links: []int{3}}}},
		"switch 7 of 2 is down":                                   {&Net{Switches: 2}, Options{Down: &Down{Switches: []Switch{7}}}},
		"priority 9 is not one of 0 to 7":                         {&Net{Switches: 2}, Options{Search: true, Priorities: []uint8{9}}},
		"at switch 1 towards 0 frames are remapped to priority 6, which is not among those to follow": {
			mesh(2), Options{Routing: Routing{Base: Shortest, Remap: func(_, _, _ Switch, _ uint8) uint8 { return 6 }}},
		},
	} {
		if _, err := Deadlock(c.net, c.o); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestFailures: one failure of each kind, and every link and switch is in one.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name  string
		net   *Net
		kinds int
	}{
		{"leaf-spine", &leafSpine(4, 2, 2).Net, 3},
		{"fat-tree k=4", &fatTree(4).Net, 5},
		{"ring of 101", &ring(101).Net, 2},
		{"meta-24k", meta24k(), 5},
		{"fabric-100k", fabric100k(), 5},
	} {
		links, switches := 0, 0
		list, _ := Failures(c.net, &Options{})
		for _, f := range list {
			links += len(f.Down.Links) * f.Alike
			switches += len(f.Down.Switches) * f.Alike
		}
		if links != len(c.net.Links) || switches != c.net.Switches {
			t.Errorf("%s: failures of %d links and %d switches, there are %d and %d", c.name, links, switches, len(c.net.Links), c.net.Switches)
		}
		if c.kinds != 0 && len(list) != c.kinds {
			t.Errorf("%s: %d kinds of failures, want %d", c.name, len(list), c.kinds)
		}
	}
}

// TestAlike: what fails one way fails the same way everywhere of its kind.
func TestAlike(t *testing.T) {
	n := &leafSpine(3, 2, 1).Net
	for _, repair := range []bool{false, true} {
		var first *Buffers
		for i := range n.Links {
			b, err := Deadlock(n, Options{Routing: Routing{LocalRepair: repair}, Search: true, Down: &Down{Links: []int{i}}})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = b
			}
			if b.Vertices != first.Vertices || b.Edges != first.Edges || b.Valleys != first.Valleys {
				t.Errorf("link %d: %+v, link 0: %+v", i, b, first)
			}
		}
	}
}
