// Package shape is the arithmetic of regular fabrics: which leaf and port a NIC lands on, which spine and port an uplink goes to, what group,
// plane and rail a leaf belongs to. It takes counts and returns places, in integers only; it knows no names, ports or devices. Counts that do
// not come out even are errors that name the two attributes. It imports nothing of ours.
//
// Indices count from 0, slots from 1.
package shape

// Kind is how a topology is wired.
type Kind uint8

// Kinds of topologies. The zero value is none.
const (
	None Kind = iota
	RailOptimized
	LeafSpine
	Clos3
	DualToR
	Ring
	FullMesh
)

var words = [...]string{None: "", RailOptimized: "rail_optimized", LeafSpine: "leaf_spine", Clos3: "clos3", DualToR: "dual_tor", Ring: "ring", FullMesh: "full_mesh"}

// ParseKind returns the kind of a word of the language, None for any other.
func ParseKind(word string) Kind {
	for k := RailOptimized; k <= FullMesh; k++ {
		if words[k] == word {
			return k
		}
	}
	return None
}

// String is the word of the language.
func (k Kind) String() string { return words[k] }

// Flat reports whether the switches (or nodes) of a kind are joined with each other: there are no spines.
func (k Kind) Flat() bool { return k == Ring || k == FullMesh }

// MaxLinks is the greatest number of links that one topology may generate.
const MaxLinks = 1 << 22

// Plan is the counts of a topology, as they are written. A count that is not written is 0; what it bears on is then not asked for.
type Plan struct {
	Kind   Kind
	Planes int // 0 counts as 1
	NICs   int // NICs that the topology takes of each node; 0 without nodes

	Leaves, NodePorts, LeafUp  int // of each leaf: ports to nodes and to spines
	Spines, SpineDown, SpineUp int
	Pods                       int // pods under the cores; 0 counts as 1: the topology is its own pod
	Cores, CoreDown            int
}

// planes is the number of planes, at least 1.
func (p *Plan) planes() int { return max(p.Planes, 1) }

func (p *Plan) pods() int { return max(p.Pods, 1) }

// Rails is the number of rails: the NICs of a node over its planes where the kind has rails, else 1.
func (p *Plan) Rails() int {
	if p.Kind == RailOptimized {
		return max(p.NICs/p.planes(), 1)
	}
	return 1
}

// Role is what a switch is in its fabric.
type Role struct{ Group, Plane, Rail int }

// LeafRole is the place of a leaf: of rail_optimized leaves the index is (group x planes + plane) x rails + rail, of dual_tor it is
// 2 x group + which of the pair, and elsewhere each leaf is a group.
func (p *Plan) LeafRole(leaf int) Role {
	switch p.Kind {
	case RailOptimized:
		rails := p.Rails()
		return Role{Group: leaf / rails / p.planes(), Plane: leaf / rails % p.planes(), Rail: leaf % rails}
	case DualToR:
		return Role{Group: leaf / 2, Plane: leaf % p.planes()}
	}
	return Role{Group: leaf}
}

// SpineRole is the place of a spine. Spines are divided over the planes in order.
func (p *Plan) SpineRole(spine int) Role {
	return Role{Plane: spine / max(p.Spines/p.planes(), 1)}
}

// CoreRole is the place of a core: the group is the position of the spines it serves, the plane is theirs.
func (p *Plan) CoreRole(core int) Role {
	part := core / max(p.Cores/max(p.Spines, 1), 1)
	return Role{Group: part, Plane: p.SpineRole(part).Plane}
}

// Seat is the place of a NIC among the NICs that its topology takes of one node.
type Seat struct {
	Rail, Plane int
	Port        int // which of the node's ports on one leaf it takes
}

// NICSeat is the seat of the NIC at an index. Rails and planes that are written on a NIC go before.
func (p *Plan) NICSeat(nic int) Seat {
	switch p.Kind {
	case RailOptimized:
		return Seat{Rail: nic / p.planes(), Plane: nic % p.planes()}
	case DualToR:
		return Seat{Plane: nic % 2, Port: nic / 2}
	}
	return Seat{Port: nic}
}

// PerLeaf is the number of NICs of a node that one leaf takes.
func (p *Plan) PerLeaf() int {
	switch p.Kind {
	case RailOptimized:
		return 1
	case DualToR:
		return max(p.NICs/2, 1)
	}
	return max(p.NICs, 1)
}

// SlotsPerLeaf is the number of nodes that a leaf has ports for.
func (p *Plan) SlotsPerLeaf() int { return p.NodePorts / p.PerLeaf() }

// Groups is the number of groups of leaves that share their nodes.
func (p *Plan) Groups() int {
	switch p.Kind {
	case RailOptimized:
		return p.Leaves / (p.Rails() * p.planes())
	case DualToR:
		return p.Leaves / 2
	}
	return p.Leaves
}

// Slots is the greatest slot that there is a leaf port for.
func (p *Plan) Slots() int { return p.Groups() * p.SlotsPerLeaf() }

// NodeLeaf is the leaf, and the position among its node ports, of a seat of the node in a slot. The slot is within 1 to Slots.
func (p *Plan) NodeLeaf(slot int, s Seat) (leaf, port int) {
	m := p.SlotsPerLeaf()
	group := (slot - 1) / m
	port = (slot-1)%m*p.PerLeaf() + s.Port
	switch p.Kind {
	case RailOptimized:
		return (group*p.planes()+s.Plane)*p.Rails() + s.Rail, port
	case DualToR:
		return 2*group + s.Plane, port
	}
	return group, port
}

// Uplink is the spine, and the position among its down ports, that an uplink of a leaf goes to. With k links for each pair, uplink u goes to
// spine u div k of the leaf's plane, port l x k + u mod k, l being the leaf's index in its plane.
func (p *Plan) Uplink(leaf, u int) (spine, port int) {
	planes := p.planes()
	per := p.Spines / planes
	k := p.LinksPerPair()
	plane, l := 0, leaf
	switch r := p.LeafRole(leaf); {
	case p.Kind == RailOptimized:
		plane, l = r.Plane, r.Group*p.Rails()+r.Rail
	case p.Kind == DualToR && planes == 2:
		plane, l = r.Plane, r.Group
	}
	return plane*per + u/k, l*k + u%k
}

// LinksPerPair is the number of links between a leaf and a spine of its plane.
func (p *Plan) LinksPerPair() int {
	if p.Spines == 0 {
		return 0
	}
	return p.LeafUp / (p.Spines / p.planes())
}

// CoreUplink is the core, and the position among its down ports, that an uplink of a spine of a pod goes to. The cores are divided evenly over
// the positions of spines; part j serves spine j of every pod.
func (p *Plan) CoreUplink(pod, spine, u int) (core, port int) {
	part := p.Cores / p.Spines
	k := p.CoreLinksPerPair()
	return spine*part + u/k, pod*k + u%k
}

// CoreLinksPerPair is the number of links between a spine and a core of its part.
func (p *Plan) CoreLinksPerPair() int {
	if p.Cores == 0 || p.Spines == 0 {
		return 0
	}
	return p.SpineUp / (p.Cores / p.Spines)
}

// Joins reports whether a link of a ring or full mesh, which is met at both of its ends, counts at port u of member i.
func Joins(k Kind, n, ports, i, u int) bool {
	if k == Ring {
		return u < ports/2
	}
	peer, _ := Beside(k, n, ports, i, u)
	return i < peer
}

// Beside is where port u of member i of a ring or full mesh goes: to which member, and which of its ports. There are n members with ports
// each. In a ring the first half of the ports goes to the next member and the second half comes from the one before; in a full mesh the ports
// are divided evenly over the other members in order.
func Beside(k Kind, n, ports, i, u int) (peer, port int) {
	if k == Ring {
		half := ports / 2
		if u < half {
			return (i + 1) % n, u + half
		}
		return (i + n - 1) % n, u - half
	}
	per := ports / (n - 1)
	peer = u / per
	if peer >= i {
		peer++
	}
	back := i
	if i > peer {
		back--
	}
	return peer, back*per + u%per
}
