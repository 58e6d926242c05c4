package paths

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// paired is an MLAG pair a, b with a peer link, and switches below that are on
// both: by a LAG over the pair each, or by cables of their own.
func paired(bonded bool, below ...string) *drawn {
	n := &drawn{}
	n.add("a", 2, false)
	n.add("b", 2, false)
	n.link("a", "b")
	n.Links[0].Peer = true
	for i, name := range below {
		n.add(name, 1, true)
		n.link("a", name)
		n.link("b", name)
		if bonded {
			n.Links[len(n.Links)-2].Bond, n.Links[len(n.Links)-1].Bond = int32(i+1), int32(i+1)
		}
	}
	return n
}

// waits are the waits of a net's buffer graph, as names.
func (n *drawn) waits(t *testing.T, o Options) map[string]bool {
	t.Helper()
	list := map[string]bool{}
	o.Priorities, o.Search, o.Whole = []uint8{rdma}, true, true
	o.Each = func(v, w Vertex) { list[n.hop(v)+" "+n.hop(w)] = true }
	if _, err := Deadlock(&n.Net, o); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestBondLegs: nobody but the pair learns of a leg of a bond that is down, and
// what its hash sends there takes the peer link. Of a cable that is routed all learn.
func TestBondLegs(t *testing.T) {
	for _, c := range []struct {
		name   string
		bonded bool
		want   map[string]bool
	}{
		{"bonded", true, map[string]bool{"y>b b>x": true, "x>b b>y": true, "y>a a>b": true, "a>b b>x": true}},
		{"routed", false, map[string]bool{"y>b b>x": true, "x>b b>y": true}},
	} {
		n := paired(c.bonded, "x", "y")
		o := Options{Down: n.down("a-x")}
		if d := cmp.Diff(c.want, n.waits(t, o)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		for _, whole := range []bool{false, true} {
			b, err := Deadlock(&n.Net, Options{Down: o.Down, Priorities: []uint8{rdma}, Search: true, Whole: whole})
			if err != nil || !b.Acyclic() || b.Edges != int64(len(c.want)) || b.Holes != 0 {
				t.Errorf("%s, whole %v: %+v, %v", c.name, whole, b, err)
			}
		}
	}
}

// TestFloodPair: a flood enters a pair by one leg of a bond and never comes back by
// the other, as what crosses the peer link goes out by no bond that both switches
// have. By cables that are bridged and no bonds it goes round for ever; and it goes
// on to what only the other switch still has.
func TestFloodPair(t *testing.T) {
	for _, c := range []struct {
		name    string
		bonded  bool
		more    string // a switch that is on b alone
		down    []string
		acyclic bool
		across  map[string]bool // waits for what leaves the other side of the peer link
	}{
		{"bonds", true, "", nil, true, map[string]bool{}},
		{"cables of their own", false, "", nil, false, map[string]bool{"a>b b>x": true, "a>b b>y": true, "b>a a>x": true, "b>a a>y": true}},
		{"one has lost a leg", true, "", []string{"a-x"}, true, map[string]bool{"a>b b>x": true}},
		{"one on b alone", true, "z", nil, true, map[string]bool{"a>b b>z": true}},
	} {
		n := paired(c.bonded, "x", "y")
		if c.more != "" {
			n.add(c.more, 1, true)
			n.link("b", c.more)
		}
		f := Flood{Priority: rdma}
		for i := range n.Links {
			f.Links = append(f.Links, i)
		}
		o := Options{Floods: []Flood{f}, Routing: Routing{Base: ByTable}} // nothing but floods
		if c.down != nil {
			o.Down = n.down(c.down...)
		}
		across := map[string]bool{}
		for w := range n.waits(t, o) {
			if w[:3] == "a>b" || w[:3] == "b>a" {
				across[w] = true
			}
		}
		if d := cmp.Diff(c.across, across); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		b, err := Deadlock(&n.Net, o)
		if err != nil || b.Acyclic() != c.acyclic {
			t.Errorf("%s: circles of %v, %v", c.name, b.Circles, err)
		}
	}
}

// TestFloodFrames compares floods with frames that are sent one by one, by what a
// switch does with its ports: a bond is one port, from which the hash takes any leg.
func TestFloodFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawPaired(func(name string, low, high int) int { return rapid.IntRange(low, high).Draw(t, name) })
		f, down := Flood{Priority: rdma}, &Down{}
		for i := range n.Links {
			if rapid.IntRange(0, 5).Draw(t, "in the VLAN") > 0 {
				f.Links = append(f.Links, i)
			}
			if rapid.IntRange(0, 5).Draw(t, "down") == 0 {
				down.Links = append(down.Links, i)
			}
		}
		got := map[[4]Switch]bool{}
		o := Options{Floods: []Flood{f}, Down: down, Routing: Routing{Base: ByTable}, Priorities: []uint8{rdma}, Whole: true, Search: true}
		o.Each = func(v, w Vertex) { got[[4]Switch{v.From, v.To, w.From, w.To}] = true }
		if _, err := Deadlock(&n, o); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(floodFrames(&n, f.Links, down.Links), got); diff != "" {
			t.Fatalf("(-frames +got):\n%s\n%+v\n%+v down %v", diff, n, f.Links, down.Links)
		}
	})
}

// floodFrames sends a broadcast from the hosts of every switch, and follows each
// copy: the steps are (from, at, at, to).
func floodFrames(n *Net, vlan, down []int) map[[4]Switch]bool {
	type port struct { // of a switch, as it sees it
		bond  int32
		cable int // of a port that is no bond
	}
	type frame struct{ cable, from, at int }
	ports := make([]map[port][]int, n.Switches) // live cables of each
	other := func(cable int, s Switch) Switch { return n.Links[cable].A + n.Links[cable].B - s }
	for i, l := range n.Links {
		if slices.Contains(down, i) {
			continue
		}
		for _, s := range []Switch{l.A, l.B} {
			p := port{cable: i}
			if l.Bond != 0 {
				p = port{bond: l.Bond}
			}
			if ports[s] == nil {
				ports[s] = map[port][]int{}
			}
			ports[s][p] = append(ports[s][p], i)
		}
	}
	took, sent := map[[4]Switch]bool{}, map[frame]bool{}
	var send func(came *frame, at Switch)
	send = func(came *frame, at Switch) {
		for p, legs := range ports[at] {
			if came != nil {
				in := n.Links[came.cable]
				if p.bond != 0 && in.Bond == p.bond || p.bond == 0 && p.cable == came.cable {
					continue // where it came in
				}
				if in.Peer && p.bond != 0 && len(ports[came.from][p]) > 0 {
					continue // the other switch of the pair has sent it there
				}
			}
			for _, leg := range legs {
				to := other(leg, at)
				if !slices.Contains(vlan, leg) {
					continue
				}
				if came != nil {
					took[[4]Switch{Switch(came.from), at, at, to}] = true
				}
				if f := (frame{leg, int(at), int(to)}); !sent[f] {
					sent[f] = true
					send(&f, to)
				}
			}
		}
	}
	for s := range n.Switches {
		send(nil, Switch(s))
	}
	return took
}
