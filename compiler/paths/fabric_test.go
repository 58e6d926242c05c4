package paths

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/fabric"
)

// model builds a fabric by hand: as much of one as Parts reads.
type model struct {
	*fabric.Fabric
	at map[string]fabric.DeviceID
}

func newModel() *model {
	f := &fabric.Fabric{
		Devices: make([]fabric.Device, 1), Ports: make([]fabric.Port, 1), Links: make([]fabric.Link, 1), Topologies: make([]fabric.Topology, 2), Routings: make([]fabric.Routing, 1), QoS: make([]fabric.QoS, 1), LAGs: make([]fabric.LAG, 1), VLANSets: make([][]fabric.SegmentID, 1), Segments: make([]fabric.Segment, 1),
		Profiles: []fabric.Profile{{}, {PFC: 1<<rdma | 1<<4}, {PFC: 1 << rdma}},
	}
	return &model{f, map[string]fabric.DeviceID{}}
}

// device adds a switch or node with ports; tier 0 is none.
func (m *model) device(name string, kind fabric.DeviceKind, tier fabric.Tier, ports int) {
	id := fabric.DeviceID(len(m.Devices))
	m.at[name] = id
	m.Devices = append(m.Devices, fabric.Device{Kind: kind, Place: fabric.Place{Tier: tier, Topology: fabric.TopologyID(min(tier, 1))}, First: fabric.PortID(len(m.Ports)), NPorts: uint32(ports)})
	for range ports {
		m.Ports = append(m.Ports, fabric.Port{Device: id, Profile: 1})
	}
}

// cable joins the next free ports of two devices.
func (m *model) cable(a, b string) *fabric.Link {
	free := func(name string) fabric.PortID {
		first, end := m.PortsOf(m.at[name])
		for p := first; p < end; p++ {
			if m.Ports[p].Link == 0 {
				return p
			}
		}
		panic("no port left on " + name)
	}
	p, q := free(a), free(b)
	l := fabric.LinkID(len(m.Links))
	m.Ports[p].Peer, m.Ports[q].Peer, m.Ports[p].Link, m.Ports[q].Link = q, p, l, l
	m.Links = append(m.Links, fabric.Link{A: min(p, q), B: max(p, q)})
	return &m.Links[l]
}

// pods is T2c as a fabric, one host on each ToR; tiers says whether a topology
// names them. Links 1 to 4 are those of the hosts.
func pods(tiers bool) *model {
	m := newModel()
	tier := func(t fabric.Tier) fabric.Tier {
		if tiers {
			return t
		}
		return fabric.NoTier
	}
	for t := 1; t <= 4; t++ {
		m.device(fmt.Sprintf("h%d", t), fabric.Node, 0, 1)
		m.device(fmt.Sprintf("t%d", t), fabric.Switch, tier(fabric.LeafTier), 4)
		m.cable(fmt.Sprintf("h%d", t), fmt.Sprintf("t%d", t))
	}
	for l := 1; l <= 4; l++ {
		m.device(fmt.Sprintf("l%d", l), fabric.Switch, tier(fabric.SpineTier), 6)
	}
	for s := 1; s <= 2; s++ {
		m.device(fmt.Sprintf("s%d", s), fabric.Switch, tier(fabric.CoreTier), 6)
	}
	for l := 1; l <= 4; l++ {
		for t := 1; t <= 2; t++ {
			m.cable(fmt.Sprintf("l%d", l), fmt.Sprintf("t%d", (l-1)/2*2+t))
		}
		m.cable(fmt.Sprintf("l%d", l), "s1")
		m.cable(fmt.Sprintf("l%d", l), "s2")
	}
	return m
}

func only(t *testing.T, f *fabric.Fabric) *Part {
	t.Helper()
	parts := Parts(f)
	if len(parts) != 1 {
		t.Fatalf("%d parts, want 1", len(parts))
	}
	return parts[0]
}

// TestParts: T2c and T2e of theory C.3, from a fabric and a mask.
func TestParts(t *testing.T) {
	for _, tiers := range []bool{true, false} {
		m := pods(tiers)
		m.Routings = append(m.Routings, fabric.Routing{Default: true, Model: fabric.UpDown, LocalRepair: true})
		p := only(t, m.Fabric)
		want := twoPods()
		if diff := cmp.Diff(want.Level, p.Net.Level); diff != "" {
			t.Errorf("levels (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want.Sinks, p.Net.Sinks); diff != "" {
			t.Errorf("sinks (-want +got):\n%s", diff)
		}
		b, err := Deadlock(&p.Net, Options{Routing: p.Routing, Priorities: []uint8{rdma}, Search: true})
		if err != nil || b.Vertices != 32 || b.Edges != 56 || !b.Acyclic() {
			t.Errorf("T2c: %+v, %v", b, err)
		}
		link := func(x, y string) fabric.LinkID {
			for l := 1; l < len(m.Links); l++ {
				if a, b := m.Ports[m.Links[l].A].Device, m.Ports[m.Links[l].B].Device; a == m.at[x] && b == m.at[y] || a == m.at[y] && b == m.at[x] {
					return fabric.LinkID(l)
				}
			}
			t.Fatalf("no link %s %s", x, y)
			return 0
		}
		mask := &fabric.Mask{Links: map[fabric.LinkID]bool{link("l1", "t1"): true, link("l3", "t4"): true, link("h2", "t2"): true}}
		down := p.Down(mask)
		b, err = Deadlock(&p.Net, Options{Routing: p.Routing, Priorities: []uint8{rdma}, Down: down})
		if err != nil || b.Vertices != 28 || b.Edges != 52 || len(b.Circles) != 2 || len(b.Cycle) != 4 {
			t.Errorf("T2e: %+v, %v", b, err)
		}
		if l := p.LinksOf(b.Cycle[0]); len(l) != 1 || l[0] != link("s1", "l1") {
			t.Errorf("links of %v are %v", b.Cycle[0], l)
		}
		delete(mask.Links, link("h2", "t2")) // a host's cable is none of the net
		if diff := cmp.Diff(mask.Links, p.Mask(down).Links); diff != "" {
			t.Errorf("mask (-want +got):\n%s", diff)
		}
		if s, ok := p.Switch(m.at["l1"]); !ok || p.Devices[s] != m.at["l1"] {
			t.Errorf("l1 is switch %d, %v", s, ok)
		}
		if d := p.Down(&fabric.Mask{Devices: map[fabric.DeviceID]bool{m.at["s2"]: true, m.at["h1"]: true}}); d == nil || len(d.Switches) != 1 || p.Devices[d.Switches[0]] != m.at["s2"] {
			t.Errorf("down is %+v", d)
		}
		if d := p.Down(&fabric.Mask{Devices: map[fabric.DeviceID]bool{m.at["h1"]: true}}); d != nil {
			t.Errorf("down is %+v, want nothing", d)
		}
	}
}

// TestPartsOfLinks: which links carry what without loss, and which are in no part.
func TestPartsOfLinks(t *testing.T) {
	m := newModel()
	for _, s := range []string{"a", "b", "c", "d", "alone"} {
		m.device(s, fabric.Switch, 0, 6)
	}
	m.device("h", fabric.Node, 0, 2)
	m.cable("h", "a")
	m.cable("h", "alone")
	m.cable("a", "b")
	m.Ports[m.cable("a", "b").B].Profile = 2
	m.Ports[m.cable("a", "b").A].Profile = 0
	m.cable("a", "b").PeerLink = 1
	m.Ports[m.cable("b", "a").A].Flags = fabric.ShutDown
	m.cable("c", "d")
	m.Ports[m.Devices[m.at["c"]].First+5].Flags = fabric.External
	parts := Parts(m.Fabric)
	if len(parts) != 2 {
		t.Fatalf("%d parts, want 2", len(parts))
	}
	if diff := cmp.Diff([]Link{{A: 0, B: 1, Lossless: 1<<rdma | 1<<4}, {A: 0, B: 1, Lossless: 1 << rdma}, {A: 0, B: 1}}, parts[0].Net.Links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if p := parts[1]; len(p.Net.Sinks) != 1 || p.Devices[p.Net.Sinks[0]] != m.at["c"] || !p.Assumed {
		t.Errorf("second part: %+v", p)
	}
}

// TestRouting: which model counts, and what a table says of a net.
func TestRouting(t *testing.T) {
	for _, c := range []struct {
		name    string
		rows    []fabric.Routing
		base    Base
		repair  bool
		assumed bool
	}{
		{name: "none", base: UpDown, assumed: true},
		{name: "not for all", rows: []fabric.Routing{{Model: fabric.ECMP}}, base: UpDown, assumed: true},
		{name: "default", rows: []fabric.Routing{{Model: fabric.ECMP, Default: true, LocalRepair: true}}, base: Shortest, repair: true},
		{name: "table", rows: []fabric.Routing{{Model: fabric.TableRouting, Default: true}}, base: ByTable},
	} {
		m := pods(true)
		m.Routings = append(m.Routings, c.rows...)
		p := only(t, m.Fabric)
		if p.Routing.Base != c.base || p.Routing.LocalRepair != c.repair || p.Assumed != c.assumed {
			t.Errorf("%s: %s, local repair %v, assumed %v", c.name, p.Routing.Base, p.Routing.LocalRepair, p.Assumed)
		}
	}
	m := pods(true)
	at := func(name string) fabric.DeviceID { return m.at[name] }
	m.Routings = append(m.Routings, fabric.Routing{Default: true, Model: fabric.TableRouting, Table: []fabric.Route{
		{At: at("t1"), From: at("h1"), To: at("h3"), Next: at("l1"), Priority: -1},
		{At: at("l1"), To: at("t3"), Next: at("s2"), Priority: 4},
		{At: at("t3"), To: at("h3"), Next: at("h3"), Priority: -1},
	}})
	p := only(t, m.Fabric)
	s := func(name string) Switch { s, _ := p.Switch(at(name)); return s }
	want := []Row{{s("t1"), Hosts, s("t3"), s("l1"), -1}, {s("l1"), Anywhere, s("t3"), s("s2"), 4}}
	if diff := cmp.Diff(want, p.Routing.Rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// TestFlat: without tiers and hosts on every switch nothing is above, and the
// shortest ways are assumed.
func TestFlat(t *testing.T) {
	m := newModel()
	for i := range 3 {
		m.device(fmt.Sprint("r", i), fabric.Switch, 0, 3)
		m.device(fmt.Sprint("h", i), fabric.Node, 0, 1)
		m.cable(fmt.Sprint("r", i), fmt.Sprint("h", i))
	}
	for i := range 3 {
		m.cable(fmt.Sprint("r", i), fmt.Sprint("r", (i+1)%3))
	}
	p := only(t, m.Fabric)
	b, err := Deadlock(&p.Net, Options{Routing: p.Routing, Priorities: []uint8{rdma}})
	if err != nil || p.Routing.Base != Shortest || b.Vertices != 6 || b.Edges != 0 {
		t.Errorf("T3b: %+v, %v", b, err)
	}
}
