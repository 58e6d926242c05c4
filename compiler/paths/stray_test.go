package paths

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// naiveStrays finds what never arrives with maps: a way goes round if it comes
// back over a link that it has crossed in that direction.
func naiveStrays(n *Net, o *Options) (lost, loops int64) {
	x := newNaive(&Net{Switches: n.Switches, Level: n.Level, Links: n.Links}, o) // no destinations: only its routing is used
	x.n = n
	for _, d := range n.Sinks {
		if x.deadAt[d] || x.gone(d) {
			continue
		}
		type step struct {
			link int
			to   Switch
		}
		base, done, open := x.hops(d), map[step]bool{}, map[step]bool{}
		dead, round := map[Switch]bool{}, false
		var follow func(from Switch, in int, v Switch)
		follow = func(from Switch, in int, v Switch) {
			sent := false
			ways := x.ways(base, from, in, v, d)
			x.cables(func(l int, a, b Switch) {
				for w := range ways {
					if a != v || b != w.to || !w.takes(n.Links[l]) {
						continue
					}
					sent = true
					state := step{l, b}
					if open[state] {
						round = true
					}
					if b != d && !done[state] {
						done[state], open[state] = true, true
						follow(v, l, b)
						open[state] = false
					}
				}
			})
			if !sent {
				dead[v] = true
			}
		}
		for _, s := range n.Sinks {
			if s != d && !x.deadAt[s] && !x.gone(s) {
				follow(Hosts, -1, s)
			}
		}
		lost += int64(len(dead))
		if round {
			loops++
		}
	}
	return lost, loops
}

// TestStrays compares what does not arrive with the naive walk, and checks that
// each listed way is one.
func TestStrays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNet(t)
		if rapid.Bool().Draw(t, "alike") {
			n = drawAlike(t)
		}
		o := drawOptions(t, n)
		o.Routing.Remap = nil
		got, err := Ways(n, o)
		if err != nil {
			t.Fatal(err)
		}
		lost, loops := naiveStrays(n, &o)
		if d := cmp.Diff([]int64{lost, loops}, []int64{got.Lost, got.Loops}); d != "" {
			t.Fatalf("lost, loops (-naive +got):\n%s\n%+v\n%+v", d, n, o)
		}
		if (len(got.List) == 0) != (lost+loops == 0) {
			t.Fatalf("%d are lost, %d go round, and %d are listed", lost, loops, len(got.List))
		}
		x := newNaive(&Net{Switches: n.Switches, Level: n.Level, Links: n.Links}, &o)
		x.n = n
		for _, s := range got.List {
			base := x.hops(s.To)
			for i := 0; i+1 < len(s.Path); i++ {
				from, ok := Hosts, false
				if i > 0 {
					from = s.Path[i-1]
				}
				for in := -1; in < len(n.Links); in++ {
					if (in < 0) != (i == 0) || in >= 0 && (!x.up(in) || n.Links[in].A+n.Links[in].B != from+s.Path[i] || n.Links[in].A != from && n.Links[in].B != from) {
						continue
					}
					for w := range x.ways(base, from, in, s.Path[i], s.To) {
						ok = ok || w.to == s.Path[i+1]
					}
				}
				if !ok {
					t.Fatalf("%+v: no way from %d to %d", s, s.Path[i], s.Path[i+1])
				}
			}
			if (len(s.Round()) > 0) != s.Loop {
				t.Fatalf("%+v goes round by %v", s, s.Round())
			}
		}
	})
}

// TestWaysAreBounded: a net that is too large is refused with the number.
func TestWaysAreBounded(t *testing.T) {
	flat := ring(10_000).Net
	flat.Level = nil
	var limit *LimitError
	if _, err := Ways(&flat, Options{Routing: Routing{Base: Shortest}, Steps: 1e8}); !errors.As(err, &limit) || limit.Need <= limit.Limit {
		t.Errorf("error %v, want a limit", err)
	}
	rows := []Row{{0, Anywhere, 2, 1, -1}, {1, Anywhere, 2, 0, -1}}
	s, err := Ways(mesh(3), Options{Routing: Routing{Base: ByTable, Rows: rows}})
	if err != nil || s.Loops != 1 || s.Lost != 4 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, l := range s.List {
		if l.Loop && cmp.Diff([]Switch{1, 0}, l.Round()) != "" {
			t.Errorf("goes round by %v", l.Round())
		}
	}
}
