package paths

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestKindsBySize: how many kinds of failures a fabric has does not depend on its
// size where it is regular, and is all of them where it is not.
func TestKindsBySize(t *testing.T) {
	irregular := func(n int) *Net {
		r := rand.New(rand.NewPCG(7, uint64(n)))
		x, joined := &Net{Switches: n}, map[[2]Switch]bool{}
		for s := range Switch(n) {
			x.Sinks = append(x.Sinks, s)
			for _, other := range []Switch{(s + 1) % Switch(n), Switch(r.IntN(n))} {
				if ends := [2]Switch{min(s, other), max(s, other)}; s != other && !joined[ends] {
					joined[ends] = true
					x.Links = append(x.Links, Link{A: s, B: other, Lossless: 1 << rdma})
				}
			}
		}
		return x
	}
	flat := func(n *Net) *Net { n.Level = nil; return n }
	for _, c := range []struct {
		name  string
		net   *Net
		kinds int
	}{
		{"mesh of 4", mesh(4), 2},
		{"mesh of 128", mesh(128), 2},
		{"mesh of 256", mesh(256), 2},
		{"mesh of 512", mesh(512), 2},
		{"ring of 16", flat(&ring(16).Net), 2},
		{"ring of 1,000", flat(&ring(1_000).Net), 2},
		{"ring of 10,000", flat(&ring(10_000).Net), 2},
		{"leaf-spine of 64", &leafSpine(64, 16, 1).Net, 3},
		{"fat-tree k=4", &fatTree(4).Net, 5},
		{"fat-tree k=24", &fatTree(24).Net, 5},
		{"irregular of 40", irregular(40), -1},
		{"irregular of 2,000", irregular(2_000), -1},
	} {
		if c.kinds < 0 {
			c.kinds = len(c.net.Links) + c.net.Switches
		}
		links, switches := 0, 0
		list, _ := Failures(c.net, &Options{Routing: Routing{Base: Shortest}})
		for _, f := range list {
			links += len(f.Down.Links) * f.Alike
			switches += len(f.Down.Switches) * f.Alike
		}
		if len(list) != c.kinds {
			t.Errorf("%s: %d kinds of failures, want %d", c.name, len(list), c.kinds)
		}
		if links != len(c.net.Links) || switches != c.net.Switches {
			t.Errorf("%s: failures of %d links and %d switches, there are %d and %d", c.name, links, switches, len(c.net.Links), c.net.Switches)
		}
	}
}

// TestKindsBrute: kinds are those that trying every exchange of switches gives,
// or finer ones.
func TestKindsBrute(t *testing.T) {
	finer := 0
	rapid.Check(t, func(t *rapid.T) {
		n := &Net{Switches: rapid.IntRange(2, 6).Draw(t, "switches")}
		for range rapid.IntRange(1, 9).Draw(t, "links") {
			a, b := rapid.IntRange(0, n.Switches-1).Draw(t, "a"), rapid.IntRange(0, n.Switches-1).Draw(t, "b")
			if a != b {
				n.Links = append(n.Links, Link{A: Switch(a), B: Switch(b), Lossless: rapid.SampledFrom([]uint8{0, 1 << rdma}).Draw(t, "pfc")})
			}
		}
		for s := range Switch(n.Switches) {
			if rapid.IntRange(0, 3).Draw(t, "sink") > 0 {
				n.Sinks = append(n.Sinks, s)
			}
		}
		switches, links := orbits(n)
		want := map[int32]bool{}
		for s := range n.Switches {
			want[find(switches, int32(s))] = true
		}
		both := len(want)
		clear(want)
		for i := range n.Links {
			want[find(links, int32(i))] = true
		}
		both += len(want)
		got := 0
		seen := map[int32]int{}
		failures, _ := Failures(n, &Options{Routing: Routing{Base: Shortest}})
		for _, f := range failures {
			got++
			for _, s := range f.Down.Switches {
				seen[find(switches, int32(s))] += f.Alike
			}
			for _, l := range f.Down.Links {
				seen[int32(n.Switches)+find(links, int32(l))] += f.Alike
			}
		}
		if got < both {
			t.Fatalf("%d kinds, brute force tells %d apart\n%+v", got, both, n)
		}
		if got > both {
			finer++
		}
		for i := range n.Switches {
			seen[find(switches, int32(i))]--
		}
		for i := range n.Links {
			seen[int32(n.Switches)+find(links, int32(i))]--
		}
		for of, rest := range seen {
			if rest != 0 {
				t.Fatalf("kind %d counts %d too many\n%+v", of, rest, n)
			}
		}
	})
	if finer > 5 {
		t.Errorf("%d nets have more kinds than brute force finds", finer)
	}
}

// orbits are the switches and links that the symmetries of a small net exchange.
func orbits(n *Net) (switches, links []int32) {
	switches, links = singles(n.Switches), singles(len(n.Links))
	sink := n.sinkSet()
	count := func(a, b Switch, lossless uint8) (k int) {
		for _, l := range n.Links {
			if l.Lossless == lossless && (l.A == a && l.B == b || l.A == b && l.B == a) {
				k++
			}
		}
		return k
	}
	to, used := make([]Switch, n.Switches), make([]bool, n.Switches)
	var try func(s int)
	try = func(s int) {
		if s == n.Switches {
			for v, w := range to {
				join(switches, int32(v), int32(w))
			}
			for i, l := range n.Links {
				for j, m := range n.Links {
					if l.Lossless == m.Lossless && (to[l.A] == m.A && to[l.B] == m.B || to[l.A] == m.B && to[l.B] == m.A) {
						join(links, int32(i), int32(j))
					}
				}
			}
			return
		}
	next:
		for w := range Switch(n.Switches) {
			if used[w] || sink[s] != sink[w] {
				continue
			}
			for v := range Switch(s) {
				for _, pfc := range []uint8{0, 1 << rdma} {
					if count(v, Switch(s), pfc) != count(to[v], w, pfc) {
						continue next
					}
				}
			}
			to[s], used[w] = w, true
			try(s + 1)
			used[w] = false
		}
	}
	try(0)
	return switches, links
}
