package paths

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/fabric"
)

// bonded is pods in which t1 and t2 are an MLAG pair without a peer link, and
// some nodes are bonded to both. One more node has its only cable on t1.
func bonded(nodes int, by fabric.Routing) *model {
	m := pods(true)
	for _, s := range []string{"t1", "t2"} { // room for more cables
		from, _ := m.PortsOf(m.at[s])
		d := m.at[s]
		m.Devices[d].First, m.Devices[d].NPorts = fabric.PortID(len(m.Ports)), uint32(4+nodes)
		for i := range 4 {
			port := m.Ports[from+fabric.PortID(i)]
			m.Ports = append(m.Ports, port)
			now := fabric.PortID(len(m.Ports) - 1)
			if port.Link != 0 {
				m.Ports[port.Peer].Peer = now
				if l := &m.Links[port.Link]; l.A == from+fabric.PortID(i) {
					l.A = now
				} else {
					l.B = now
				}
			}
			m.Ports[from+fabric.PortID(i)] = fabric.Port{}
		}
		for range nodes {
			m.Ports = append(m.Ports, fabric.Port{Device: d, Profile: 1})
		}
	}
	for i := range nodes {
		name := "b" + string(rune('1'+i))
		m.device(name, fabric.Node, 0, 2)
		first, _ := m.PortsOf(m.at[name])
		lag := fabric.LAGID(len(m.LAGs))
		m.LAGs = append(m.LAGs, fabric.LAG{Device: m.at[name], Members: []fabric.PortID{first, first + 1}})
		m.Ports[first].LAG, m.Ports[first+1].LAG = lag, lag
		m.cable(name, "t1")
		m.cable(name, "t2")
	}
	m.MLAGs = []fabric.MLAG{{}, {Switches: [2]fabric.DeviceID{m.at["t1"], m.at["t2"]}}}
	m.Routings = append(m.Routings, by)
	return m
}

// TestHomed: a node on both switches of a pair goes round the cable that it
// loses, and one with a single cable has no way left.
func TestHomed(t *testing.T) {
	local := fabric.Routing{Default: true, Model: fabric.UpDown, LocalRepair: true}
	m := bonded(2, local)
	p := only(t, m.Fabric)
	if p.Homed == nil || len(p.Gaps) != 0 {
		t.Fatalf("homed %v, gaps %+v", p.Homed, p.Gaps)
	}
	if d := cmp.Diff([]fabric.DeviceID{m.at["b1"], m.at["b2"]}, p.Homed.Nodes); d != "" {
		t.Errorf("nodes (-want +got):\n%s", d)
	}
	if len(p.Homed.Links) != 4 || p.Homed.Net.Switches != p.Net.Switches+2 {
		t.Fatalf("%d links of nodes, %d switches", len(p.Homed.Links), p.Homed.Net.Switches)
	}
	lost := func(l fabric.LinkID) *fabric.Mask { return &fabric.Mask{Links: map[fabric.LinkID]bool{l: true}} }
	one := p.Homed.Links[0]
	if p.Down(lost(one)) != nil || p.HomedDown(lost(one)) == nil || p.HomedDown(lost(1)) != nil {
		t.Errorf("a cable of a node is down: %v of the part, %v with its nodes; of the only cable of one: %v", p.Down(lost(one)), p.HomedDown(lost(one)), p.HomedDown(lost(1)))
	}
	if d := cmp.Diff(lost(one).Links, p.Mask(p.HomedDown(lost(one))).Links); d != "" {
		t.Errorf("mask (-want +got):\n%s", d)
	}
	for _, c := range []struct {
		name    string
		down    []fabric.LinkID
		returns bool
		valleys int64
		acyclic bool
	}{
		{"one cable: t1 sends up what comes from either spine, to the other", []fabric.LinkID{one}, false, 2, true},
		{"one cable, and frames go back where they came from [theory T4c]", []fabric.LinkID{one}, true, 4, false},
		{"cables of two nodes on two switches", []fabric.LinkID{p.Homed.Links[0], p.Homed.Links[3]}, false, 4, false},
		{"cables of two nodes on one switch", []fabric.LinkID{p.Homed.Links[0], p.Homed.Links[2]}, false, 2, true},
		{"both cables of one node, to which nothing goes then", []fabric.LinkID{p.Homed.Links[0], p.Homed.Links[1]}, false, 0, true},
		{"and it matters not whether frames go back where they came from", []fabric.LinkID{p.Homed.Links[0], p.Homed.Links[1]}, true, 0, true},
	} {
		mask := &fabric.Mask{Links: map[fabric.LinkID]bool{}}
		for _, l := range c.down {
			mask.Links[l] = true
		}
		o := p.Options(0)
		o.Down, o.Routing.MayReturn, o.Priorities = p.HomedDown(mask), c.returns, []uint8{rdma}
		for _, o.Whole = range []bool{false, true} {
			b, err := Deadlock(&p.Homed.Net, o)
			if err != nil || b.Valleys != c.valleys || b.Acyclic() != c.acyclic {
				t.Errorf("%s, whole %v: %d valleys, circles of %v, %v", c.name, o.Whole, b.Valleys, b.Circles, err)
			}
		}
	}
	kinds, cables := 0, 0
	failures, _ := Failures(&p.Homed.Net, &Options{Routing: p.Routing})
	for _, f := range failures {
		if len(f.Down.Links) > 0 && f.Down.Links[0] >= len(p.Links) {
			kinds++
			cables += f.Alike
		}
	}
	if kinds != 1 || cables != 4 {
		t.Errorf("%d kinds of %d cables of nodes, want 1 of 4", kinds, cables)
	}
}

// TestHomedNot: where nothing goes round, no node is laid out.
func TestHomedNot(t *testing.T) {
	for name, by := range map[string]fabric.Routing{
		"all switches learn of it": {Default: true, Model: fabric.UpDown},
		"by table":                 {Default: true, Model: fabric.TableRouting, LocalRepair: true},
	} {
		if p := only(t, bonded(1, by).Fabric); p.Homed != nil || len(p.Gaps) != 0 {
			t.Errorf("%s: %+v, %+v", name, p.Homed, p.Gaps)
		}
	}
	m := bonded(1, fabric.Routing{Default: true, Model: fabric.UpDown, LocalRepair: true})
	m.LAGs[1].Members = nil
	first, _ := m.PortsOf(m.at["b1"])
	m.Ports[first].LAG, m.Ports[first+1].LAG = 0, 0 // two NICs with addresses of their own
	if p := only(t, m.Fabric); p.Homed != nil || len(p.Gaps) != 0 {
		t.Errorf("no bond: %+v, %+v", p.Homed, p.Gaps)
	}
}

// peered is bonded with a peer link between t1 and t2.
func peered(nodes int, by fabric.Routing) *model {
	m := bonded(nodes, by)
	m.cable("t1", "t2").PeerLink = 1
	m.MLAGs[1].Links = []fabric.LinkID{fabric.LinkID(len(m.Links) - 1)}
	return m
}

// linkOf is a cable between two devices.
func (m *model) linkOf(a, b string) fabric.LinkID {
	for l := 1; l < len(m.Links); l++ {
		x, y := m.Ports[m.Links[l].A].Device, m.Ports[m.Links[l].B].Device
		if x == m.at[a] && y == m.at[b] || x == m.at[b] && y == m.at[a] {
			return fabric.LinkID(l)
		}
	}
	return 0
}

// TestPeered: with a peer link nothing turns up again for a cable of a node, and
// what a switch has lost all ways for crosses it.
func TestPeered(t *testing.T) {
	local := fabric.Routing{Default: true, Model: fabric.UpDown, LocalRepair: true}
	for _, c := range []struct {
		name    string
		by      fabric.Routing
		down    [][2]string // cables, or a switch and ""
		crosses [2]bool     // t1 to t2, and back
		valleys int64
		acyclic bool
	}{
		{"one cable of a node", local, [][2]string{{"b1", "t1"}}, [2]bool{true, true}, 0, true},
		{"cables of two nodes on two switches, a circle without the peer link", local, [][2]string{{"b1", "t1"}, {"b2", "t2"}}, [2]bool{true, true}, 0, true},
		{"and the peer link", local, [][2]string{{"b1", "t1"}, {"b2", "t2"}, {"t1", "t2"}}, [2]bool{false, false}, 4, false},
		{"a cable and the peer link", local, [][2]string{{"b1", "t1"}, {"t1", "t2"}}, [2]bool{false, false}, 2, true},
		{"the other switch", local, [][2]string{{"t2", ""}}, [2]bool{false, false}, 0, true},
		{"both cables up of one, whose own nodes both leaves look for above", local, [][2]string{{"t1", "l1"}, {"t1", "l2"}}, [2]bool{true, false}, 4, false},
		{"all learn, one cable of a node", fabric.Routing{Default: true, Model: fabric.ECMP}, [][2]string{{"b1", "t1"}}, [2]bool{true, true}, 0, true},
		{"all learn, both cables up of one, for which the peer link is the only way in", fabric.Routing{Default: true, Model: fabric.UpDown}, [][2]string{{"t1", "l1"}, {"t1", "l2"}}, [2]bool{true, true}, 0, true},
		{"all learn, the peer link", fabric.Routing{Default: true, Model: fabric.ECMP}, [][2]string{{"t1", "t2"}}, [2]bool{false, false}, 0, true},
	} {
		m := peered(2, c.by)
		p := only(t, m.Fabric)
		mask := &fabric.Mask{Links: map[fabric.LinkID]bool{}, Devices: map[fabric.DeviceID]bool{}}
		for _, d := range c.down {
			if d[1] == "" {
				mask.Devices[m.at[d[0]]] = true
			} else {
				mask.Links[m.linkOf(d[0], d[1])] = true
			}
		}
		if len(p.Gaps) != 0 || !p.Homed.Peers {
			t.Fatalf("%s: %+v", c.name, p.Gaps)
		}
		t1, _ := p.Switch(m.at["t1"])
		t2, _ := p.Switch(m.at["t2"])
		for _, whole := range []bool{false, true} {
			o := p.HomedOptions(0)
			o.Down, o.Priorities, o.Whole, o.Search = p.HomedDown(mask), []uint8{rdma}, whole, true
			b, err := Deadlock(&p.Homed.Net, o)
			if err != nil || b.Valleys != c.valleys || b.Acyclic() != c.acyclic {
				t.Errorf("%s, whole %v: %d valleys, circles of %v, %v", c.name, whole, b.Valleys, b.Circles, err)
			}
		}
		var crosses [2]bool
		o := p.HomedOptions(0)
		o.Down, o.Priorities, o.Whole, o.Search = p.HomedDown(mask), []uint8{rdma}, true, true
		o.Each = func(v, w Vertex) {
			for _, x := range []Vertex{v, w} {
				crosses[0], crosses[1] = crosses[0] || x.From == t1 && x.To == t2, crosses[1] || x.From == t2 && x.To == t1
			}
		}
		if _, err := Deadlock(&p.Homed.Net, o); err != nil || crosses != c.crosses {
			t.Errorf("%s: the peer link is crossed %v, want %v, %v", c.name, crosses, c.crosses, err)
		}
	}
}

// TestPeeredSpines: T4d, where two spines have each lost a leaf, is a circle under
// local repair. Spines with a peer link send over that: 12 cables up and down and
// the peer link both ways, and of the edges 12 of what goes straight, 3 each into
// the peer link and 1 each out of it.
func TestPeeredSpines(t *testing.T) {
	n := leafSpine(4, 2, 1)
	down := n.down("s1-l1", "s2-l4")
	o := Options{Routing: Routing{Base: Shortest, LocalRepair: true}, Down: down, Priorities: []uint8{rdma}, Search: true}
	before, err := Deadlock(&n.Net, o)
	if err != nil || before.Vertices != 12 || before.Edges != 16 || len(before.Circles) != 2 {
		t.Fatalf("T4d: %+v, %v", before, err)
	}
	n.Links = append(n.Links, Link{A: n.at["s1"], B: n.at["s2"], Lossless: 1 << rdma, Peer: true})
	for _, o.Whole = range []bool{false, true} {
		b, err := Deadlock(&n.Net, o)
		if err != nil || !b.Acyclic() || b.Valleys != 0 || b.Holes != 0 || o.Whole && (b.Vertices != 14 || b.Edges != 20) {
			t.Errorf("whole %v: %d vertices, %d edges, %d valleys, %d holes, circles of %v, %v", o.Whole, b.Vertices, b.Edges, b.Valleys, b.Holes, b.Circles, err)
		}
	}
	o.Routing = Routing{} // what all have learnt of: no way is left to l1 but by s2
	b, err := Deadlock(&n.Net, o)
	if err != nil || !b.Acyclic() || b.Holes != 0 {
		t.Errorf("learnt: circles of %v, %d holes, %v", b.Circles, b.Holes, err)
	}
}
