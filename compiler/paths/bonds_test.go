package paths

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler/fabric"
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

// TestBondHash: the hash of a bond takes legs to the switch of a pair that has no way
// of its own, and that one sends over the peer link; also where both ends are pairs,
// and a switch that has lost one leg sends by its other.
func TestBondHash(t *testing.T) {
	alone := paired(true, "x", "y")
	alone.add("z", 1, true)
	alone.link("b", "z")
	// y, over the pair p, q, over the pair a, b, over x, and w that is on a alone.
	pairs := func(cables ...[2]string) *drawn {
		n := &drawn{}
		for _, s := range []string{"p", "q", "a", "b"} {
			n.add(s, map[string]uint8{"p": 3, "q": 3, "a": 2, "b": 2}[s], false)
		}
		n.link("p", "q")
		n.link("a", "b")
		n.Links[0].Peer, n.Links[1].Peer = true, true
		for _, c := range cables {
			n.link(c[0], c[1])
			n.Links[len(n.Links)-1].Bond = 1
		}
		for i, c := range [][3]string{{"y", "p", "q"}, {"x", "a", "b"}} {
			n.add(c[0], uint8(2-i), true)
			for _, to := range c[1:] {
				n.link(c[0], to)
				n.Links[len(n.Links)-1].Bond = int32(2 + i)
			}
		}
		n.add("w", 1, true)
		n.link("w", "a")
		return n
	}
	mesh := pairs([2]string{"p", "a"}, [2]string{"p", "b"}, [2]string{"q", "a"}, [2]string{"q", "b"})
	ladder := pairs([2]string{"p", "a"}, [2]string{"q", "b"})
	for _, c := range []struct {
		name string
		net  *drawn
		down *Down
		want []string
	}{
		{"a switch on one of the two", alone, nil, []string{
			"x>a a>y", "x>b b>y", "y>a a>x", "y>b b>x", "x>b b>z", "y>b b>z", "z>b b>x", "z>b b>y", "x>a a>b", "y>a a>b", "a>b b>z",
		}},
		{"and the leg to the other is down", alone, alone.down("b-x"), []string{
			"x>a a>y", "y>a a>x", "y>b b>a", "b>a a>x", "x>a a>b", "y>a a>b", "a>b b>z", "y>b b>z", "z>b b>a", "z>b b>y",
		}},
		{"two pairs, and a leg is down", mesh, mesh.down("p-a"), []string{
			"y>p p>b", "y>q q>a", "y>q q>b", "p>b b>a", "q>a a>w", "q>b b>a", "b>a a>w", // to w
			"w>a a>q", "a>q q>y", "x>a a>q", "x>b b>p", "x>b b>q", "b>p p>y", "b>q q>y", // to y
			"p>b b>x", "q>a a>x", "q>b b>x", // to x
			"x>a a>w", "x>b b>a", "w>a a>x",
		}},
		{"two pairs, with a cable between each two of them", ladder, nil, []string{
			"y>p p>a", "y>q q>b", "p>a a>w", "q>b b>a", "b>a a>w", // to w
			"w>a a>p", "a>p p>y", "x>a a>p", "x>b b>q", "b>q q>y", // to y
			"p>a a>x", "q>b b>x", // to x
			"x>a a>w", "x>b b>a", "w>a a>x",
		}},
		{"and one of them is down", ladder, ladder.down("q-b"), []string{
			"y>p p>a", "y>q q>p", "q>p p>a", "p>a a>w", // to w
			"w>a a>p", "a>p p>y", "x>a a>p", "x>b b>a", "b>a a>p", // to y
			"p>a a>x",
			"x>a a>w", "b>a a>w", "w>a a>x",
		}},
	} {
		want := map[string]bool{}
		for _, w := range c.want {
			want[w] = true
		}
		if d := cmp.Diff(want, c.net.waits(t, Options{Down: c.down})); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		b, err := Deadlock(&c.net.Net, Options{Down: c.down, Priorities: []uint8{rdma}, Search: true})
		if err != nil || !b.Acyclic() || b.Valleys != 0 || b.Holes != 0 {
			t.Errorf("%s: circles of %v, %d valleys, %d holes, %v", c.name, b.Circles, b.Valleys, b.Holes, err)
		}
	}
}

// TestPeerClimb: what a switch of a pair has lost all its ways up for crosses the
// peer link, also what comes from a switch below that has no cable to the other one,
// and from one beside.
func TestPeerClimb(t *testing.T) {
	n := &drawn{}
	for _, s := range []string{"s", "a", "b", "x", "y", "z"} {
		n.add(s, map[string]uint8{"s": 3, "a": 2, "b": 2}[s], s >= "x")
		if s >= "x" {
			n.Level[n.at[s]] = 1
		}
	}
	n.link("a", "b")
	n.Links[0].Peer = true
	for _, c := range [][2]string{{"s", "a"}, {"s", "b"}, {"a", "x"}, {"s", "z"}, {"x", "y"}} {
		n.link(c[0], c[1])
	}
	for _, c := range []struct {
		base Base
		want []string
	}{
		{UpDown, []string{"x>a a>b", "a>b b>s", "b>s s>z", "z>s s>b", "s>b b>a", "b>a a>x"}},
		{Shortest, []string{"y>x x>a", "x>a a>b", "a>b b>s", "b>s s>z", "z>s s>b", "s>b b>a", "b>a a>x", "a>x x>y"}},
	} {
		want := map[string]bool{}
		for _, w := range c.want {
			want[w] = true
		}
		if d := cmp.Diff(want, n.waits(t, Options{Down: n.down("s-a"), Routing: Routing{Base: c.base}})); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.base, d)
		}
	}
}

// TestPairsOfPlanes: two pairs whose switches are each in a plane of their own, and
// what joined the planes is gone. Each peer link stands in for it, on the way up and
// on the way down, and that is a circle, as s and r have hosts, too.
func TestPairsOfPlanes(t *testing.T) {
	n := &drawn{}
	for _, s := range []string{"a", "b", "c", "d", "s", "r", "top"} {
		n.add(s, map[string]uint8{"s": 2, "r": 2, "top": 3}[s], s != "top")
		n.Level[n.at[s]] = max(1, n.Level[n.at[s]])
	}
	n.link("a", "b")
	n.link("c", "d")
	n.Links[0].Peer, n.Links[1].Peer = true, true
	for _, c := range [][2]string{{"a", "s"}, {"b", "r"}, {"c", "s"}, {"d", "r"}, {"s", "top"}, {"r", "top"}} {
		n.link(c[0], c[1])
	}
	for _, c := range []struct {
		down *Down
		want string
	}{
		{nil, ""},
		{n.down("s-top"), "b>a, a>s, s>c, c>d, d>r, r>b"},
	} {
		b, err := Deadlock(&n.Net, Options{Down: c.down, Priorities: []uint8{rdma}})
		if err != nil || n.hops(b.Cycle) != c.want {
			t.Errorf("%+v: circle of %s, %v, want %s", c.down, n.hops(b.Cycle), err, c.want)
		}
	}
}

// TestBonds: LAGs over pairs are found, and what of them is not followed is said.
func TestBonds(t *testing.T) {
	up := fabric.Routing{Default: true, Model: fabric.UpDown}
	table := func(m *plot) fabric.Routing {
		return fabric.Routing{Default: true, Model: fabric.TableRouting, Table: []fabric.Route{{At: m.at["x"], To: m.at["s"], Next: m.at["a"], Priority: -1}}}
	}
	for _, c := range []struct {
		name   string
		change func(m *plot)
		want   []string
	}{
		{"a peer link", func(*plot) {}, nil},
		{"no peer link", func(m *plot) { m.MLAGs[1].Links = nil }, []string{
			"the hash of 2 lags over mlag pair also takes the switch that has no cable to y, and what it sends there is not followed, as the pair has no peer link",
			"after a failure a switch of mlag pair that has lost one leg of a lag to another pair sends by its other leg, and what it sends there is not followed, as the pair has no peer link: 1 lag of that kind",
		}},
		{"a table", func(m *plot) { m.Routings[1] = table(m) }, []string{
			"the hash of 2 lags over mlag pair also takes the switch that has no cable to y, and what it sends there is not followed, as a table says the ways",
			"after a failure a switch of mlag pair that has lost one leg of a lag to another pair sends by its other leg, and what it sends there is not followed, as a table says the ways: 1 lag of that kind",
		}},
	} {
		m := over(true, up, true, "y")
		f := m.Fabric
		f.MLAGs[1].Name = f.Names.Add("pair")
		f.MLAGs = append(f.MLAGs, fabric.MLAG{Switches: [2]fabric.DeviceID{m.at["s"], m.at["r"]}})
		f.LAGs = append(f.LAGs, fabric.LAG{Mode: fabric.LACP, Device: m.at["s"]}) // over both pairs
		for _, l := range []fabric.LinkID{2, 3, 4, 5} {
			f.Ports[f.Links[l].A].LAG, f.Ports[f.Links[l].B].LAG = 2, 2
		}
		f.Routings[1] = up
		c.change(m)
		p := only(t, f)
		var got []string
		for _, g := range p.Gaps {
			got = append(got, g.What)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		var of []int32
		for _, l := range p.Net.Links {
			of = append(of, l.Bond)
		}
		if d := cmp.Diff([]int32{1, 1, 1, 1, 2, 2, 0}, of); d != "" {
			t.Errorf("%s: bonds of links (-want +got):\n%s", c.name, d)
		}
	}
}

// TestBondsLinear: ten thousand pairs with a LAG over each are found at once.
func TestBondsLinear(t *testing.T) {
	const pairs = 10_000
	f := &fabric.Fabric{Links: make([]fabric.Link, 1), Ports: make([]fabric.Port, 1), MLAGs: make([]fabric.MLAG, 1), LAGs: make([]fabric.LAG, 1)}
	var links []fabric.LinkID
	for i := range fabric.DeviceID(pairs) {
		f.MLAGs = append(f.MLAGs, fabric.MLAG{Switches: [2]fabric.DeviceID{3*i + 1, 3*i + 2}})
		f.LAGs = append(f.LAGs, fabric.LAG{Device: 3*i + 3})
		for side := range fabric.DeviceID(2) {
			a := fabric.PortID(len(f.Ports))
			f.Ports = append(f.Ports, fabric.Port{Device: 3*i + 3, LAG: fabric.LAGID(i + 1)}, fabric.Port{Device: 3*i + 1 + side})
			links, f.Links = append(links, fabric.LinkID(len(f.Links))), append(f.Links, fabric.Link{A: a, B: a + 1})
		}
	}
	of, list := bonds(f, links)
	if len(list) != pairs || of[0] != 1 || of[1] != 1 || of[len(of)-1] != pairs {
		t.Errorf("%d bonds, the first cables of %v, the last of %d", len(list), of[:2], of[len(of)-1])
	}
}
