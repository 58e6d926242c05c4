package paths

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawAlike is a net in which many switches stand alike, and some do not.
func drawAlike(t *rapid.T) *Net {
	draw := func(name string, low, high int) int { return rapid.IntRange(low, high).Draw(t, name) }
	pods, leaves, spines := draw("pods", 1, 3), draw("leaves", 1, 4), draw("spines", 1, 3)
	up := spines * draw("width", 1, 2)
	cores := spines * draw("cores", 0, 2)
	spineUp := 0
	if cores > 0 {
		spineUp = cores / spines * draw("core width", 1, 2)
	}
	n := clos(pods, leaves, up, spines, spineUp, cores)
	for range draw("odd links", 0, 2) {
		n.Links = append(n.Links, Link{A: Switch(draw("a", 0, n.Switches-1)), B: Switch(draw("b", 0, n.Switches-1)), Lossless: rapid.SampledFrom([]uint8{0, 1 << rdma}).Draw(t, "pfc")})
	}
	if draw("sinks above", 0, 3) == 0 {
		n.Sinks = nil
		for s := range n.Switches {
			if draw("sink", 0, 1) == 1 {
				n.Sinks = append(n.Sinks, Switch(s))
			}
		}
	}
	return n
}

// drawFlat is a mesh, ring or hypercube without levels, and perhaps with a link
// too few or too many.
func drawFlat(t *rapid.T) *Net {
	var n *Net
	switch size := rapid.IntRange(3, 9).Draw(t, "size"); rapid.IntRange(0, 2).Draw(t, "kind") {
	case 0:
		n = mesh(size)
	case 1:
		n = &ring(size).Net
	default:
		n = &Net{Switches: 8}
		for a := range Switch(8) {
			n.Sinks = append(n.Sinks, a)
			for _, b := range []Switch{a ^ 1, a ^ 2, a ^ 4} {
				if a < b {
					n.Links = append(n.Links, Link{A: a, B: b, Lossless: 1 << rdma})
				}
			}
		}
	}
	n.Level = make([]uint8, n.Switches)
	switch rapid.IntRange(0, 3).Draw(t, "odd") {
	case 0:
		i := rapid.IntRange(0, len(n.Links)-1).Draw(t, "missing")
		n.Links = append(n.Links[:i:i], n.Links[i+1:]...)
	case 1:
		n.Links = append(n.Links, n.Links[rapid.IntRange(0, len(n.Links)-1).Draw(t, "twice")])
	case 2:
		n.Links[rapid.IntRange(0, len(n.Links)-1).Draw(t, "lossy")].Lossless = 0
	}
	return n
}

// drawHomed is a net with nodes that are cabled to two of its leaves.
func drawHomed(t *rapid.T) *Net {
	n := drawAlike(t)
	for s := range n.Level {
		n.Level[s]++
	}
	if leaves := slices.Clone(n.Sinks); len(leaves) > 1 {
		a := rapid.IntRange(0, len(leaves)-2).Draw(t, "pair")
		for range rapid.IntRange(1, 4).Draw(t, "nodes") {
			s := Switch(n.Switches)
			n.Switches++
			n.Sinks, n.Still = append(n.Sinks, s), append(n.Still, s)
			n.Links = append(n.Links, Link{A: leaves[a], B: s, Lossless: 1 << rdma}, Link{A: leaves[a+1], B: s, Lossless: 1 << rdma})
			if n.Level != nil {
				n.Level = append(n.Level, 1)
			}
		}
	}
	return n
}

func drawDown(t *rapid.T, n *Net) *Down {
	d := &Down{}
	for range rapid.IntRange(0, 2).Draw(t, "links down") {
		d.Links = append(d.Links, rapid.IntRange(0, len(n.Links)-1).Draw(t, "link down"))
	}
	if rapid.IntRange(0, 2).Draw(t, "switch fails") == 0 {
		d.Switches = []Switch{Switch(rapid.IntRange(0, n.Switches-1).Draw(t, "switch down"))}
	}
	return d
}

// TestFoldedFailures: a folded net with what failed in it counts what the whole
// net has, and has a circle if and only if that has one.
func TestFoldedFailures(t *testing.T) {
	folded := 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]func(*rapid.T) *Net{drawAlike, drawHomed}).Draw(t, "shape")(t)
		o := Options{
			Search: true, Brief: true, Down: drawDown(t, n), Priorities: []uint8{rdma},
			Routing: Routing{Base: rapid.SampledFrom([]Base{UpDown, Shortest}).Draw(t, "base"), LocalRepair: rapid.Bool().Draw(t, "repair")},
		}
		got, err := Deadlock(n, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Whole, o.Brief = true, false
		want, err := Deadlock(n, o)
		if err != nil {
			t.Fatal(err)
		}
		if got.Proof == Folded {
			folded++
		}
		// What the folded net names is a circle of the whole one, and its flows are flows.
		x := newNaive(n, &o)
		for i, v := range got.Cycle {
			next := got.Cycle[(i+1)%len(got.Cycle)]
			if v.To != next.From {
				t.Fatalf("circle %v", got.Cycle)
			}
			checkFlow(t, x, got.Flows[i], v, next)
		}
		type counts struct {
			vertices, edges, valleys, holes int64
			acyclic                         bool
		}
		of := func(b *Buffers) counts { return counts{b.Vertices, b.Edges, b.Valleys, b.Holes, b.Acyclic()} }
		if d := cmp.Diff(of(want), of(got), cmp.AllowUnexported(counts{})); d != "" {
			t.Fatalf("(-whole +folded):\n%s\n%+v\n%+v", d, n, o.Down)
		}
	})
	if folded == 0 {
		t.Error("nothing was folded")
	}
}

// TestKindsOfFailures: what is one kind fails alike. The answers to all single
// failures are those to one of each kind, as often as there are of it.
func TestKindsOfFailures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]func(*rapid.T) *Net{drawAlike, drawFlat, drawHomed}).Draw(t, "shape")(t)
		o := Options{Search: true, Whole: true, Priorities: []uint8{rdma}, Routing: Routing{
			Base: rapid.SampledFrom([]Base{UpDown, Shortest}).Draw(t, "base"), LocalRepair: rapid.Bool().Draw(t, "repair"),
		}}
		answer := func(d Down) string {
			o := o
			o.Down = &d
			b, err := Deadlock(n, o)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(len(d.Links), b.Vertices, b.Edges, b.Valleys, b.Holes, b.Circles, len(b.Cycle))
		}
		want, got := map[string]int{}, map[string]int{}
		for i, l := range n.Links {
			if l.A != l.B {
				want[answer(Down{Links: []int{i}})]++
			}
		}
		for s := range n.Switches {
			want[answer(Down{Switches: []Switch{Switch(s)}})]++
		}
		failures, _ := Failures(n, &o)
		for _, f := range failures {
			got[answer(f.Down)] += f.Alike
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("(-every failure +one of each kind):\n%s\n%+v", d, n)
		}
	})
}
