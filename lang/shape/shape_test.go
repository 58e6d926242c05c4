package shape

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// presets are published fabric sizes: 32 nodes of a rail-optimised pod, Meta's 24k cluster, HPN's dual-plane fabric and a three-tier fabric of 100k NICs.
var presets = map[string]struct {
	plan             Plan
	slots            int
	perPair, perCore int
}{
	"pod-256":     {Plan{Kind: RailOptimized, NICs: 8, Leaves: 8, NodePorts: 32, LeafUp: 32, Spines: 4, SpineDown: 64}, 32, 8, 0},
	"fabric-4k":   {Plan{Kind: RailOptimized, NICs: 8, Leaves: 64, NodePorts: 64, LeafUp: 64, Spines: 32, SpineDown: 128}, 512, 2, 0},
	"meta-24k":    {Plan{Kind: LeafSpine, NICs: 8, Leaves: 192, NodePorts: 16, LeafUp: 18, Spines: 18, SpineDown: 192, SpineUp: 28, Pods: 8, Cores: 36, CoreDown: 112}, 384, 1, 14},
	"hpn-15k":     {Plan{Kind: RailOptimized, Planes: 2, NICs: 16, Leaves: 240, NodePorts: 128, LeafUp: 60, Spines: 120, SpineDown: 120}, 1920, 1, 0},
	"fabric-100k": {Plan{Kind: RailOptimized, NICs: 8, Leaves: 64, NodePorts: 64, LeafUp: 64, Spines: 64, SpineDown: 64, SpineUp: 64, Pods: 25, Cores: 1024, CoreDown: 128}, 512, 1, 4},
	"dual-tor":    {Plan{Kind: DualToR, NICs: 4, Leaves: 6, NodePorts: 40, LeafUp: 8, Spines: 2, SpineDown: 24}, 60, 4, 0},
}

func TestPresets(t *testing.T) {
	for name, c := range presets {
		p := c.plan
		if err := p.Nodes(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := p.Fabric("ports", "ports"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if p.Slots() != c.slots || p.LinksPerPair() != c.perPair || p.CoreLinksPerPair() != c.perCore {
			t.Errorf("%s: %d slots, %d and %d links per pair; want %d, %d, %d", name, p.Slots(), p.LinksPerPair(), p.CoreLinksPerPair(), c.slots, c.perPair, c.perCore)
		}
		walk(t, &p)
	}
}

type port struct{ sw, port int }

type fataler interface{ Fatalf(string, ...any) }

// walk places every NIC and uplink of a plan, and sees that each port is taken once and exists.
func walk(t fataler, p *Plan) {
	taken := map[port]bool{}
	for slot := 1; slot <= p.Slots(); slot++ {
		for n := range p.NICs {
			seat := p.NICSeat(n)
			leaf, at := p.NodeLeaf(slot, seat)
			if leaf < 0 || leaf >= p.Leaves || at < 0 || at >= p.NodePorts || taken[port{leaf, at}] {
				t.Fatalf("%+v: NIC %d of slot %d lands on port %d of leaf %d, which is taken or is none", *p, n, slot, at, leaf)
			}
			taken[port{leaf, at}] = true
			if r := p.LeafRole(leaf); p.Kind == RailOptimized && (r.Rail != seat.Rail || r.Plane != seat.Plane || r.Group != (slot-1)/p.SlotsPerLeaf()) {
				t.Fatalf("%+v: NIC %d of slot %d with seat %+v lands on leaf %d, which is %+v", *p, n, slot, seat, leaf, r)
			}
		}
	}
	clear(taken)
	pairs := map[port]int{}
	for leaf := range p.Leaves {
		for u := range p.LeafUp {
			if p.Spines == 0 {
				break
			}
			spine, at := p.Uplink(leaf, u)
			if spine < 0 || spine >= p.Spines || at < 0 || at >= p.SpineDown || taken[port{spine, at}] {
				t.Fatalf("%+v: uplink %d of leaf %d goes to port %d of spine %d, which is taken or is none", *p, u, leaf, at, spine)
			}
			taken[port{spine, at}] = true
			pairs[port{leaf, spine}]++
			if p.planes() > 1 && p.SpineRole(spine).Plane != p.LeafRole(leaf).Plane {
				t.Fatalf("%+v: leaf %d and spine %d are of different planes", *p, leaf, spine)
			}
		}
	}
	for at, n := range pairs {
		if n != p.LinksPerPair() {
			t.Fatalf("%+v: %d links between leaf %d and spine %d, %d expected", *p, n, at.sw, at.port, p.LinksPerPair())
		}
	}
	clear(taken)
	for pod := range p.pods() {
		for spine := range p.Spines {
			for u := range p.SpineUp {
				if p.Cores == 0 {
					break
				}
				core, at := p.CoreUplink(pod, spine, u)
				if core < 0 || core >= p.Cores || at < 0 || at >= p.CoreDown || taken[port{core, at}] || p.CoreRole(core).Group != spine {
					t.Fatalf("%+v: uplink %d of spine %d in pod %d goes to port %d of core %d, which is taken, is none or serves another", *p, u, spine, pod, at, core)
				}
				taken[port{core, at}] = true
			}
		}
	}
}

// TestPlaces: whatever counts come out even give every NIC and every uplink a port of its own.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, name) }
		p := Plan{Kind: Kind(draw("kind", int(RailOptimized), int(DualToR))), Planes: 1}
		switch p.Kind {
		case RailOptimized:
			p.Planes = draw("planes", 1, 3)
		case DualToR:
			p.Planes = draw("planes", 1, 2)
		}
		p.NICs = p.Planes * draw("rails", 1, 4)
		if p.Kind == DualToR {
			p.NICs = 2 * draw("nics", 1, 3)
		}
		groups := draw("groups", 1, 4)
		p.Leaves = groups * p.Rails() * p.Planes
		if p.Kind == DualToR {
			p.Leaves = 2 * groups
		}
		p.NodePorts = draw("slots", 1, 4) * p.PerLeaf()
		p.Spines = p.Planes * draw("spines", 1, 3)
		k := draw("k", 1, 3)
		p.LeafUp = k * p.Spines / p.Planes
		p.SpineDown = p.Leaves/p.Planes*k + draw("spare", 0, 3)
		part, kc := draw("part", 0, 3), draw("kc", 1, 3)
		p.Pods = draw("pods", 0, 3)
		p.Cores, p.SpineUp = part*p.Spines, part*kc
		p.CoreDown = p.pods() * kc
		if err := p.Nodes(); err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
		if err := p.Fabric("ports", "ports"); err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
		walk(t, &p)
	})
}

// TestAnyCounts: counts that are refused name two attributes, and those that are not give each its place.
func TestAnyCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string) int { return rapid.IntRange(0, 9).Draw(t, name) }
		p := Plan{
			Kind: Kind(rapid.IntRange(int(RailOptimized), int(FullMesh)).Draw(t, "kind")), Planes: n("planes"), NICs: n("nics"), Leaves: n("leaves"), NodePorts: n("node_ports"),
			LeafUp: n("up"), Spines: n("spines"), SpineDown: n("down"), SpineUp: n("spine up"), Pods: n("pods"), Cores: n("cores"), CoreDown: n("core down"),
		}
		err := p.Nodes()
		if err == nil {
			err = p.Fabric("down_ports", "ports")
		}
		if err != nil {
			if err.Error() == "" || err.Help == "" || err.A.Attr == "" || err.B.Attr == "" || err.A == err.B {
				t.Fatalf("%+v: %+v", p, err)
			}
			return
		}
		if !p.Kind.Flat() {
			walk(t, &p)
		}
	})
}

// TestBeside: in rings and full meshes each port leads to one that leads back.
func TestBeside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 9).Draw(t, "n")
		k := rapid.SampledFrom([]Kind{Ring, FullMesh}).Draw(t, "kind")
		ports := rapid.IntRange(1, 4).Draw(t, "each") * map[Kind]int{Ring: 2, FullMesh: n - 1}[k]
		if err := Members(k, n, ports, Leaf, "up_ports"); err != nil {
			t.Fatal(err)
		}
		met := map[int]int{}
		for i := range n {
			for u := range ports {
				peer, at := Beside(k, n, ports, i, u)
				if peer == i || peer < 0 || peer >= n || at < 0 || at >= ports {
					t.Fatalf("%v of %d with %d ports: port %d of %d leads to port %d of %d", k, n, ports, u, i, at, peer)
				}
				if j, v := Beside(k, n, ports, peer, at); j != i || v != u {
					t.Fatalf("%v of %d with %d ports: port %d of %d leads to port %d of %d, and that to port %d of %d", k, n, ports, u, i, at, peer, v, j)
				}
				if i == 0 {
					met[peer]++
				}
			}
		}
		if k == FullMesh {
			for peer := 1; peer < n; peer++ {
				if met[peer] != ports/(n-1) {
					t.Fatalf("member 0 has %d links to member %d, want %d", met[peer], peer, ports/(n-1))
				}
			}
		}
	})
}

// TestRefusals: each names both attributes and both counts.
func TestRefusals(t *testing.T) {
	fits := presets["pod-256"].plan
	big := presets["fabric-100k"].plan
	for _, c := range []struct {
		change func(p *Plan)
		base   Plan
		a, b   string
		want   string
	}{
		{func(p *Plan) { p.Planes = 3 }, fits, "topology.nics", "topology.planes", "8 NICs do not divide evenly over 3 planes"},
		{func(p *Plan) { p.Leaves = 12 }, fits, "leaf.count", "topology.nics", "12 leaves do not divide evenly over the 8 NICs of a node: each needs a leaf of its own in every group"},
		{func(p *Plan) { p.Kind, p.NodePorts = LeafSpine, 30 }, fits, "leaf.node_ports", "topology.nics", "30 `node_ports` of a leaf do not divide evenly over the 8 NICs that it takes of each node"},
		{func(p *Plan) { p.Spines = 5 }, fits, "leaf.up_ports", "spine.count", "32 `up_ports` of a leaf do not divide evenly over 5 spines"},
		{func(p *Plan) { p.SpineDown = 60 }, fits, "spine.ports", "leaf.count", "60 `ports` of a spine are too few: 8 leaves with 8 links to each spine need 64"},
		{func(p *Plan) { p.Spines, p.Planes, p.NICs = 3, 2, 8 }, fits, "spine.count", "topology.planes", "3 spines do not divide evenly over 2 planes"},
		{func(p *Plan) { p.Cores = 1000 }, big, "core.count", "spine.count", "1000 cores do not divide evenly over 64 spines of a pod"},
		{func(p *Plan) { p.SpineUp = 63 }, big, "spine.up_ports", "core.count", "63 `up_ports` of a spine do not divide evenly over 16 cores that serve it"},
		{func(p *Plan) { p.CoreDown = 99 }, big, "core.ports", "topology.pods", "99 `ports` of a core are too few: 25 pods with 4 links to each core need 100"},
		{func(p *Plan) { p.Kind, p.Leaves = DualToR, 7 }, fits, "leaf.count", "topology.nics", "7 leaves do not make pairs"},
		{func(p *Plan) { p.Kind, p.NICs = DualToR, 3 }, fits, "topology.nics", "leaf.count", "3 NICs of a node do not divide evenly over the 2 leaves of a pair"},
		{func(p *Plan) { p.Kind, p.Planes = Clos3, 2 }, fits, "topology.planes", "leaf.count", "2 planes: a clos3 topology has one"},
		{func(p *Plan) { p.Leaves, p.LeafUp, p.Spines, p.SpineDown = 1<<16, 128, 64, 1<<17 }, fits, "leaf.count", "leaf.up_ports", "65536 leaves with 128 `up_ports` of a leaf make more than 4194304 links"},
	} {
		p := c.base
		c.change(&p)
		err := p.Nodes()
		if err == nil {
			err = p.Fabric("ports", "ports")
		}
		if err == nil {
			t.Errorf("%+v: not refused", p)
			continue
		}
		if a, b := err.A.Tier.String()+"."+err.A.Attr, err.B.Tier.String()+"."+err.B.Attr; a != c.a || b != c.b || err.Error() != c.want {
			t.Errorf("%+v:\n got %s (%s, %s)\nwant %s (%s, %s)", p, err, a, b, c.want, c.a, c.b)
		}
	}
	for _, c := range []struct {
		k        Kind
		n, ports int
		tier     Tier
		want     string
	}{
		{Ring, 1, 2, Leaf, "a ring of 1 has nobody to join"},
		{Ring, 4, 3, Leaf, "3 `up_ports` of a leaf do not divide evenly over the 2 neighbours in a ring"},
		{FullMesh, 4, 4, Topology, "4 NICs do not divide evenly over the 3 others of a full mesh"},
		{FullMesh, 1 << 16, 1<<16 - 1, Leaf, "65536 switches"},
	} {
		attr := map[Tier]string{Leaf: "up_ports", Topology: "nics"}[c.tier]
		err := Members(c.k, c.n, c.ports, c.tier, attr)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v of %d with %d: %v, want %q", c.k, c.n, c.ports, err, c.want)
		}
	}
}

func TestKinds(t *testing.T) {
	for k := RailOptimized; k <= FullMesh; k++ {
		if ParseKind(k.String()) != k {
			t.Errorf("%v does not read", k)
		}
	}
	if ParseKind("torus") != None || ParseKind("") != None {
		t.Error("a word that is no kind is taken for one")
	}
}
