package paths

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawTwins draws a small net without any order in it, each switch of which is
// one to three that stand alike, and what has failed: mostly all cables between
// two of them, so that they still stand alike.
func drawTwins(t *rapid.T) (*Net, *Down) {
	draw := func(name string, low, high int) int { return rapid.IntRange(low, high).Draw(t, name) }
	n, d := &Net{}, &Down{}
	var twins [][]Switch
	for range draw("kinds", 2, 5) {
		level, sink := uint8(draw("level", 0, 3)), draw("sink", 0, 2) > 0
		still := sink && draw("still", 0, 5) == 0
		var list []Switch
		for range draw("twins", 1, 3) {
			s := Switch(n.Switches)
			n.Switches++
			n.Level, list = append(n.Level, level), append(list, s)
			if sink {
				n.Sinks = append(n.Sinks, s)
			}
			if still {
				n.Still = append(n.Still, s)
			}
		}
		twins = append(twins, list)
	}
	if draw("flat", 0, 3) == 0 {
		n.Level = nil
	}
	paired := make([]bool, len(twins))
	for a := range twins {
		for b := range a {
			for range draw("bundles", 0, 2) {
				l := Link{Lossless: rapid.SampledFrom([]uint8{1 << rdma, 1 << rdma, 1<<rdma | 1<<4, 1 << 4, 0}).Draw(t, "pfc")}
				if len(twins[a])+len(twins[b]) == 2 && !paired[a] && !paired[b] && draw("peer", 0, 3) == 0 {
					l.Peer, paired[a], paired[b] = true, true, true
				}
				fails := draw("fails", 0, 4) == 0
				for range draw("width", 1, 2) {
					for _, l.A = range twins[a] {
						for _, l.B = range twins[b] {
							if fails {
								d.Links = append(d.Links, len(n.Links))
							}
							n.Links = append(n.Links, l)
						}
					}
				}
			}
		}
	}
	if len(n.Links) > 0 && draw("one fails", 0, 3) == 0 {
		d.Links = append(d.Links, draw("link down", 0, len(n.Links)-1))
	}
	if draw("switches fail", 0, 5) == 0 {
		d.Switches = append(d.Switches, twins[draw("switches down", 0, len(twins)-1)]...)
	}
	if d.empty() {
		d = nil
	}
	return n, d
}

// shown is what a folded net must show of the whole one.
type shown struct {
	Vertices, Edges, Valleys, Holes int64
	Acyclic                         bool
	Shortest                        int // 0 = not known on one side
}

func shownBy(b *Buffers, known bool) shown {
	s := shown{b.Vertices, b.Edges, b.Valleys, b.Holes, b.Acyclic(), 0}
	if known {
		s.Shortest = len(b.Cycle)
	}
	return s
}

// TestTwins: a net of switches that stand alike has the graph of all of them,
// whatever failed, and what it names of those without a way has none.
func TestTwins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := drawTwins(t)
		o := Options{
			Search: true, Brief: true, Down: d, Priorities: rapid.SampledFrom([][]uint8{{rdma}, {rdma, 4}}).Draw(t, "priorities"),
			Routing: Routing{Base: rapid.SampledFrom([]Base{UpDown, Shortest}).Draw(t, "base"), LocalRepair: rapid.Bool().Draw(t, "repair")},
		}
		compareFolded(t, n, o)
		o.Routing.LocalRepair = false
		lost, err := Ways(n, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Whole, o.Brief = true, false
		all, err := Ways(n, o)
		if err != nil {
			t.Fatal(err)
		}
		if lost.Lost != all.Lost || (len(lost.List) == 0) != (len(all.List) == 0) {
			t.Fatalf("%d lost, %d listed; of the whole net %d, %d\n%+v\n%+v", lost.Lost, len(lost.List), all.Lost, len(all.List), n, d)
		}
		x := newNaive(&Net{Switches: n.Switches, Level: n.Level, Links: n.Links, Still: n.Still}, &o)
		for _, s := range lost.List {
			from := s.Path[0]
			if from == s.To || x.deadAt[from] || x.deadAt[s.To] || !slices.Contains(n.Sinks, from) || !slices.Contains(n.Sinks, s.To) || len(s.Path) == 1 && len(x.ways(x.hops(s.To), Hosts, -1, from, s.To)) > 0 {
				t.Fatalf("%+v is not lost\n%+v\n%+v", s, n, d)
			}
		}
	})
}

// TestKindsOfTwins: what fails besides what is down already has the answers that
// one of each kind has, as often as there are of it.
func TestKindsOfTwins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := drawTwins(t)
		if len(n.Links) > 40 {
			n, d = &leafSpine(3, 2, 1).Net, nil
		}
		o := Options{
			Search: true, Whole: true, Priorities: []uint8{rdma},
			Routing: Routing{Base: rapid.SampledFrom([]Base{UpDown, Shortest}).Draw(t, "base"), LocalRepair: rapid.Bool().Draw(t, "repair")},
		}
		answer := func(f Down) string {
			o := o
			o.Down = d.With(&f)
			b, err := Deadlock(n, o)
			if err != nil {
				t.Fatal(err)
			}
			w, err := Ways(n, o)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(len(f.Links), b.Vertices, b.Edges, b.Valleys, b.Holes, b.Circles, len(b.Cycle), w.Lost, w.Loops)
		}
		x := newNaive(&Net{Switches: n.Switches, Level: n.Level, Links: n.Links}, &Options{Down: d})
		want, got := map[string]int{}, map[string]int{}
		for i := range n.Links {
			if x.up(i) {
				want[answer(Down{Links: []int{i}})]++
			}
		}
		for s := range Switch(n.Switches) {
			if !x.deadAt[s] {
				want[answer(Down{Switches: []Switch{s}})]++
			}
		}
		alike := o
		alike.Whole, alike.Down = false, d
		list, _ := Failures(n, &alike)
		for _, f := range list {
			got[answer(f.Down)] += f.Alike
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-every failure +one of each kind):\n%s\n%+v\n%+v", diff, n, d)
		}
	})
}

func compareFolded(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, n *Net, o Options,
) {
	got, err := Deadlock(n, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Whole, o.Brief = true, false
	want, err := Deadlock(n, o)
	if err != nil {
		t.Fatal(err)
	}
	known := got.Shortest && want.Shortest
	if diff := cmp.Diff(shownBy(want, known), shownBy(got, known)); diff != "" {
		t.Fatalf("%s (-whole +%s):\n%s\n%+v\n%+v", o.Routing.Base, got.Proof, diff, n, o.Down)
	}
}

// TestTwinsAside: where what goes round a failure may pass one of the switches
// that stand alike with its destination, they do not stand for each other.
func TestTwinsAside(t *testing.T) {
	n := &drawn{}
	for _, s := range []string{"x", "y1", "y2", "y3"} {
		n.add(s, 1, true)
	}
	n.add("top", 2, false)
	for _, s := range []string{"x", "y1", "y2", "y3"} {
		n.link(s, "top")
	}
	for _, y := range []string{"y1", "y2", "y3"} {
		n.link("x", y) // to the side: none of its ways, as long as it has one up
	}
	o := Options{Search: true, Brief: true, Down: n.down("x-top"), Priorities: []uint8{rdma}, Routing: Routing{LocalRepair: true}}
	compareFolded(t, &n.Net, o)
	b, err := Deadlock(&n.Net, o)
	if err != nil || b.Proof != Searched {
		t.Errorf("proof by %s, %v: y1 gets what goes to y2", b.Proof, err)
	}
}

// TestTwinsLap: one lap of the folded net's shortest circle ends at another of
// those behind its first switch, so that it is the shortest of the folded net alone.
func TestTwinsLap(t *testing.T) {
	n := &drawn{}
	for _, s := range []string{"a1", "a2", "m1", "m2"} {
		n.add(s, 0, true)
	}
	for _, ends := range [][2]string{{"a1", "m1"}, {"a1", "m2"}, {"a2", "m1"}, {"a2", "m2"}} {
		n.link(ends[0], ends[1])
	}
	b, err := Deadlock(&n.Net, Options{Search: true, Brief: true, Priorities: []uint8{rdma}, Routing: Routing{Base: Shortest}})
	if err != nil {
		t.Fatal(err)
	}
	if b.Proof != Folded || len(b.Cycle) != 4 || b.Shortest {
		t.Errorf("%s: circle of %s, known to be the shortest: %v", b.Proof, n.hops(b.Cycle), b.Shortest)
	}
}

// TestTwinsTooLarge: what the folded net shows is said also where the whole net
// takes more steps than there are.
func TestTwinsTooLarge(t *testing.T) {
	n := &drawn{}
	for _, s := range []string{"a", "b"} { // every switch of the one side to every one of the other
		for i := range 40 {
			n.add(fmt.Sprint(s, i), 0, true)
		}
	}
	for i := range 40 {
		for j := range 40 {
			n.link(fmt.Sprint("a", i), fmt.Sprint("b", j))
		}
	}
	n.add("alone", 0, true)
	o := Options{Priorities: []uint8{rdma}, Routing: Routing{Base: Shortest}, Steps: 100_000}
	b, err := Deadlock(&n.Net, o)
	if err != nil || b.Proof != Folded || b.Acyclic() || len(b.Cycle) != 4 || b.Holes != 160 {
		t.Fatalf("%+v, %v", b, err)
	}
	for i, f := range b.Flows {
		if len(f.Path) != 3 || f.Path[0] != b.Cycle[i].From || f.Path[1] != b.Cycle[i].To || f.Path[2] == f.Path[0] {
			t.Errorf("flow %+v of %v", f, b.Cycle)
		}
	}
	s, err := Ways(&n.Net, o)
	if err != nil || s.Lost != 160 || len(s.List) == 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	for _, l := range s.List {
		if l.To != n.at["alone"] && l.Path[0] != n.at["alone"] {
			t.Errorf("%s has no way to %s", n.names[l.Path[0]], n.names[l.To])
		}
	}
	o.Whole = true
	if _, err := Deadlock(&n.Net, o); !limited(err) {
		t.Errorf("of the whole net: %v, want a limit", err)
	}
}
