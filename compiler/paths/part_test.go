package paths

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/fabric"
)

// flooding is pods whose links between switches carry a segment, in which some
// class floods.
func flooding(class fabric.Class, unknown fabric.UnknownUnicast) *model {
	m := pods(true)
	m.VLANSets = [][]fabric.SegmentID{nil, {1}}
	m.Segments = []fabric.Segment{{}, {VLAN: 100, QoS: 1, Unknown: unknown}}
	m.QoS = []fabric.QoS{{}, {Classes: []fabric.Class{class, {Priority: 0, Default: !class.Default}}}}
	m.LAGs = make([]fabric.LAG, 1)
	for l := 1; l < len(m.Links); l++ {
		a, b := &m.Ports[m.Links[l].A], &m.Ports[m.Links[l].B]
		if m.Devices[a.Device].Kind == fabric.Switch && m.Devices[b.Device].Kind == fabric.Switch {
			a.VLANs, b.VLANs = 1, 1
		}
	}
	return m
}

// TestFloods: lossless traffic that is flooded over a mesh of switches deadlocks
// whatever the routing is [Guo et al., SIGCOMM 2016, 4.2], and lossy floods and
// those behind a storm control do not.
func TestFloods(t *testing.T) {
	for _, c := range []struct {
		name    string
		class   fabric.Class
		unknown fabric.UnknownUnicast
		floods  int
	}{
		{"unknown unicast", fabric.Class{Priority: rdma, Lossless: true}, fabric.UnknownFlood, 1},
		{"no mark", fabric.Class{Priority: rdma, Lossless: true, Default: true}, fabric.UnknownUnset, 1},
		{"storm control", fabric.Class{Priority: rdma, Lossless: true}, fabric.UnknownLimit, 0},
		{"nothing said", fabric.Class{Priority: rdma, Lossless: true}, fabric.UnknownUnset, 0},
		{"lossy", fabric.Class{Priority: rdma}, fabric.UnknownFlood, 0},
	} {
		p := only(t, flooding(c.class, c.unknown).Fabric)
		b, err := Deadlock(&p.Net, p.Options(0))
		if err != nil || len(p.Floods) != c.floods || b.Acyclic() != (c.floods == 0) {
			t.Errorf("%s: %d floods, circles of %v, %v", c.name, len(p.Floods), b.Circles, err)
		}
		if c.floods > 0 && (len(p.Flooded) != 1 || p.Flooded[0] != 1 || len(p.Floods[0].Links) != len(p.Links)) {
			t.Errorf("%s: %+v of %v", c.name, p.Floods, p.Flooded)
		}
	}
}

// remapped is a ring of three switches whose class has one priority between two
// of them and another elsewhere.
func remapped() *model {
	m := newModel()
	for _, s := range []string{"r0", "r1", "r2"} {
		m.device(s, fabric.Switch, 0, 4)
		m.device("h"+s, fabric.Node, 0, 1)
		m.cable("h"+s, s)
	}
	for _, l := range [][2]string{{"r0", "r1"}, {"r1", "r2"}, {"r2", "r0"}} {
		m.cable(l[0], l[1])
	}
	m.QoS = []fabric.QoS{{}, {Classes: []fabric.Class{{Name: m.Names.Add("rdma"), Priority: rdma, Lossless: true, Remap: true}, {Name: m.Names.Add("default"), Default: true}}}}
	on := func(p uint8) (list [fabric.MaxClasses]fabric.ClassOn) {
		list[0] = fabric.ClassOn{Priority: p, PFC: true}
		return list
	}
	m.Profiles = []fabric.Profile{{}, {QoS: 1, PFC: 1<<rdma | 1<<4, On: on(rdma)}, {QoS: 1, PFC: 1<<rdma | 1<<4, On: on(4)}}
	clock := []fabric.Route{}
	for i := range 3 {
		at, next, last := m.at[ringName(i)], m.at[ringName(i+1)], m.at[ringName(i+2)]
		clock = append(clock, fabric.Route{At: at, To: next, Next: next, Priority: -1}, fabric.Route{At: at, To: last, Next: next, Priority: -1})
	}
	m.Routings = append(m.Routings, fabric.Routing{Default: true, Model: fabric.TableRouting, Table: clock})
	return m
}

func ringName(i int) string { return []string{"r0", "r1", "r2"}[i%3] }

// TestRemap: a class that has another priority on one link of a ring breaks the
// circle there, and only there; two cables that do not agree leave a gap.
func TestRemap(t *testing.T) {
	m := remapped()
	p := only(t, m.Fabric)
	if b, err := Deadlock(&p.Net, p.Options(0)); err != nil || b.Acyclic() || p.Routing.Remap != nil {
		t.Errorf("one priority: circles of %v, %v", b.Circles, err)
	}
	dateline := &m.Links[len(m.Links)-1] // r2 - r0
	m.Ports[dateline.A].Profile, m.Ports[dateline.B].Profile = 2, 2
	p = only(t, m.Fabric)
	o := p.Options(0)
	if d := cmp.Diff([]uint8{rdma}, o.Priorities); d != "" {
		t.Errorf("priorities of hosts (-want +got):\n%s", d)
	}
	b, err := Deadlock(&p.Net, o)
	if err != nil || p.Routing.Remap == nil || len(p.Gaps) != 0 {
		t.Fatalf("remap %v, gaps %v, %v", p.Routing.Remap != nil, p.Gaps, err)
	}
	at := func(name string) Switch { s, _ := p.Switch(m.at[name]); return s }
	got := []uint8{
		p.Routing.Remap(Hosts, at("r2"), at("r0"), rdma), p.Routing.Remap(at("r2"), at("r0"), at("r1"), 4), p.Routing.Remap(at("r0"), at("r1"), at("r2"), rdma), p.Routing.Remap(at("r0"), at("r1"), at("r2"), 7),
	}
	if d := cmp.Diff([]uint8{4, rdma, rdma, 7}, got); d != "" {
		t.Errorf("priorities (-want +got):\n%s", d)
	}
	// r2 > r0 fills the buffer of priority 4, and waits for r0 > r1 in priority 3.
	if b.Vertices != 3 || b.Edges != 3 || b.Acyclic() {
		t.Errorf("%d vertices, %d edges, circles of %v: a remap to and fro changes no circle of links", b.Vertices, b.Edges, b.Circles)
	}
	m.cable("r2", "r0")
	if p = only(t, m.Fabric); len(p.Gaps) != 1 || p.Gaps[0].Failing || !strings.Contains(p.Gaps[0].What, "do not agree") {
		t.Errorf("gaps %+v", p.Gaps)
	}
}

// TestRemapKept: a class that comes in without PFC may have it further on, and is
// not lost among those that share its priority there.
func TestRemapKept(t *testing.T) {
	m := remapped()
	m.QoS = append(m.QoS, fabric.QoS{Classes: []fabric.Class{{Name: m.Names.Add("default"), Default: true}, {Name: m.Names.Add("rdma"), Remap: true}}})
	m.Profiles = append(m.Profiles, fabric.Profile{QoS: 2})
	for i := range 3 {
		first, _ := m.PortsOf(m.at[ringName(i)])
		m.Ports[first].Profile = 3
	}
	p := only(t, m.Fabric)
	if len(p.Gaps) != 1 || p.Gaps[0].Failing || !strings.Contains(p.Gaps[0].What, "class rdma is remapped") {
		t.Errorf("gaps %+v, priorities of hosts %v", p.Gaps, p.Options(0).Priorities)
	}
}

// TestGaps: what an MLAG pair does after a failure is covered by ranks, or laid
// out, but for a peer link between switches that nothing else joins.
func TestGaps(t *testing.T) {
	for _, c := range []struct {
		name  string
		by    fabric.Routing
		link  bool
		homed bool
		two   bool // a second failure is followed as well
	}{
		{"ranks", fabric.Routing{Default: true, Model: fabric.UpDown}, true, true, true},
		{"shortest ways", fabric.Routing{Default: true, Model: fabric.ECMP}, true, true, true},
		{"local repair", fabric.Routing{Default: true, Model: fabric.UpDown, LocalRepair: true}, true, true, true},
		{"a table", fabric.Routing{Default: true, Model: fabric.TableRouting}, true, true, true},
		{"no peer link", fabric.Routing{Default: true, Model: fabric.UpDown, LocalRepair: true}, false, false, false},
		{"no peer link, and ranks", fabric.Routing{Default: true, Model: fabric.ECMP}, false, false, false},
	} {
		m := pods(true)
		pair := fabric.MLAG{Switches: [2]fabric.DeviceID{m.at["t1"], m.at["t2"]}}
		if c.link {
			m.cable("t1", "t2").PeerLink = 1
			pair.Links = []fabric.LinkID{fabric.LinkID(len(m.Links) - 1)}
		}
		m.MLAGs = []fabric.MLAG{{}, pair}
		m.Routings = append(m.Routings, c.by)
		p := only(t, m.Fabric)
		if len(p.Gaps) > 0 || (p.Homed != nil) != c.homed || p.Round(2) != c.two || p.Round(1) != (c.homed && c.name != "ranks") {
			t.Errorf("%s: gaps %+v, homed %v, round one failure %v, round two %v", c.name, p.Gaps, p.Homed != nil, p.Round(1), p.Round(2))
		}
	}
	m := &model{Fabric: &fabric.Fabric{Devices: make([]fabric.Device, 1), Ports: make([]fabric.Port, 1), Links: make([]fabric.Link, 1), LAGs: make([]fabric.LAG, 1), QoS: make([]fabric.QoS, 1), Profiles: []fabric.Profile{{}, {PFC: 1 << rdma}}}, at: map[string]fabric.DeviceID{}}
	for _, s := range []string{"a", "b", "c", "d"} {
		m.device(s, fabric.Switch, 0, 3)
	}
	m.cable("a", "b")
	m.cable("c", "d")
	m.cable("b", "c").PeerLink = 1
	m.MLAGs = []fabric.MLAG{{}, {Switches: [2]fabric.DeviceID{m.at["b"], m.at["c"]}, Links: []fabric.LinkID{3}}}
	parts := Parts(m.Fabric)
	if len(parts) != 2 || len(parts[0].Gaps) != 1 || !parts[0].Gaps[0].Failing || !strings.Contains(parts[0].Gaps[0].What, "nothing else joins") {
		t.Errorf("two parts: %d, %+v", len(parts), parts[0].Gaps)
	}
}
