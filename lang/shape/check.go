package shape

import (
	"fmt"
	"strconv"
)

// Tier is where an attribute of an error stands.
type Tier uint8

// Places of attributes.
const (
	Topology Tier = iota
	Leaf
	Spine
	Core
)

// String is the word of the language.
func (t Tier) String() string { return [...]string{"topology", "leaf", "spine", "core"}[t] }

// Term is one of the two attributes of an error, and what it amounts to.
type Term struct {
	Tier Tier
	Attr string // "up_ports", "count"
	N    int
}

// Error says which two counts do not fit. The text is complete but for the address of the topology.
type Error struct {
	A, B Term // A is the one that cannot be divided or is too small; B what it has to hold
	Why  string
	Help string
}

// Error is the sentence, with both attributes and what they amount to.
func (e *Error) Error() string { return e.Why }

// one is the plain form of a term: "32 up_ports of a leaf".
func (t Term) String() string {
	switch {
	case t.Attr == "count":
		return plural(t.N, t.Tier.String())
	case t.Tier == Topology:
		return plural(t.N, singular(t.Attr))
	}
	return strconv.Itoa(t.N) + " `" + t.Attr + "` of a " + t.Tier.String()
}

// divide is the term as one that cannot be divided; of says whose it is.
func (t Term) divide(of string) string {
	switch t.N {
	case 0:
		return t.String() + of + " cannot be divided"
	case 1:
		return t.String() + of + " does not divide"
	}
	return t.String() + of + " do not divide"
}

func singular(attr string) string {
	switch attr {
	case "nics":
		return "NIC"
	case "planes":
		return "plane"
	case "pods":
		return "pod"
	}
	return attr
}

func plural(n int, word string) string {
	switch {
	case n == 1:
	case word == "leaf":
		word = "leaves"
	default:
		word += "s"
	}
	return strconv.Itoa(n) + " " + word
}

// written is how an attribute is found in the source: `leaf.up_ports`.
func (t Term) written() string {
	if t.Tier == Topology {
		return "`" + t.Attr + "`"
	}
	return "`" + t.Tier.String() + "." + t.Attr + "`"
}

func uneven(a, b Term, what string) *Error {
	return &Error{a, b, fmt.Sprintf("%s evenly over %s", a.divide(""), what), "make " + a.written() + " a multiple of " + strconv.Itoa(max(b.N, 1)) + ", or change " + b.written()}
}

func tooFew(a, b Term, need int, what string) *Error {
	return &Error{a, b, fmt.Sprintf("%s are too few: %s", a, what), "make " + a.written() + " at least " + strconv.Itoa(need) + ", or change " + b.written()}
}

// Nodes checks what places the NICs of nodes: planes, rails, groups and slots.
func (p *Plan) Nodes() *Error {
	if err := p.planesFit(); err != nil {
		return err
	}
	nics := Term{Topology, "nics", p.NICs}
	leaves := Term{Leaf, "count", p.Leaves}
	switch p.Kind {
	case RailOptimized:
		if p.NICs%p.planes() != 0 {
			b := Term{Topology, "planes", p.planes()}
			return uneven(nics, b, b.String())
		}
		if each := p.Rails() * p.planes(); p.NICs > 0 && p.Leaves%each != 0 {
			return uneven(leaves, nics, fmt.Sprintf("the %s of a node: each needs a leaf of its own in every group", nics))
		}
	case DualToR:
		if p.NICs%2 != 0 {
			return &Error{nics, leaves, nics.divide(" of a node") + " evenly over the 2 leaves of a pair", "take an even number of `nics`"}
		}
		if p.Leaves%2 != 0 {
			return &Error{leaves, nics, leaves.String() + " do not make pairs", "make `leaf.count` even"}
		}
	}
	if p.NICs == 0 || p.NodePorts == 0 {
		return nil
	}
	if c := p.PerLeaf(); p.NodePorts%c != 0 {
		a, b := Term{Leaf, "node_ports", p.NodePorts}, nics
		return &Error{
			a, b, fmt.Sprintf("%s evenly over the %s that it takes of each node", a.divide(""), plural(c, "NIC")),
			"make " + a.written() + " a multiple of " + strconv.Itoa(c) + ", or change " + b.written(),
		}
	}
	return nil
}

// planesFit checks the planes alone.
func (p *Plan) planesFit() *Error {
	planes := Term{Topology, "planes", p.planes()}
	switch {
	case planes.N == 1, p.Kind == RailOptimized, p.Kind == DualToR && planes.N == 2:
	case p.Kind == Clos3 && p.Pods > 0: // they are those of its pods
	case p.Kind == DualToR:
		return &Error{planes, Term{Leaf, "count", p.Leaves}, planes.String() + ": a dual_tor topology has 1 or 2, one for each leaf of a pair", "write planes = 2, or leave it out"}
	default:
		return &Error{planes, Term{Leaf, "count", p.Leaves}, planes.String() + ": a " + p.Kind.String() + " topology has one", "leave out `planes`"}
	}
	return nil
}

// Fabric checks what joins switches: uplinks over spines, spine ports for all leaves, and the same for cores and pods. downAttr is the
// attribute in which the ports of spines to leaves are written, coreAttr that of cores to spines.
func (p *Plan) Fabric(downAttr, coreAttr string) *Error {
	if err := p.planesFit(); err != nil {
		return err
	}
	if p.Kind.Flat() {
		return nil
	}
	if p.Spines > 0 && p.Leaves > 0 {
		if err := p.leafUp(downAttr); err != nil {
			return err
		}
	}
	if p.Cores > 0 && p.Spines > 0 {
		return p.spineUp(coreAttr)
	}
	return nil
}

func (p *Plan) leafUp(downAttr string) *Error {
	planes := p.planes()
	spines, leaves := Term{Spine, "count", p.Spines}, Term{Leaf, "count", p.Leaves}
	up, down := Term{Leaf, "up_ports", p.LeafUp}, Term{Spine, downAttr, p.SpineDown}
	if p.Spines%planes != 0 {
		b := Term{Topology, "planes", planes}
		return uneven(spines, b, b.String())
	}
	if p.Leaves%planes != 0 {
		b := Term{Topology, "planes", planes}
		return uneven(leaves, b, b.String())
	}
	per := p.Spines / planes
	over := spines.String()
	if planes > 1 {
		over = plural(per, "spine") + " of each plane"
	}
	if p.LeafUp == 0 || p.LeafUp%per != 0 {
		e := uneven(up, spines, over)
		e.Help = "make `leaf.up_ports` a multiple of " + strconv.Itoa(per) + ", or change `spine.count`"
		return e
	}
	k := p.LeafUp / per
	inPlane := p.Leaves / planes
	if need := inPlane * k; p.SpineDown < need {
		return tooFew(down, leaves, need, fmt.Sprintf("%s with %s to each spine need %d", plural(inPlane, "leaf"), plural(k, "link"), need))
	}
	return p.bounded(p.Leaves, p.LeafUp, leaves, up)
}

func (p *Plan) spineUp(coreAttr string) *Error {
	cores, spines := Term{Core, "count", p.Cores}, Term{Spine, "count", p.Spines}
	up, down := Term{Spine, "up_ports", p.SpineUp}, Term{Core, coreAttr, p.CoreDown}
	if p.Cores%p.Spines != 0 {
		return uneven(cores, spines, plural(p.Spines, "spine")+" of a pod")
	}
	part := p.Cores / p.Spines
	if p.SpineUp == 0 || p.SpineUp%part != 0 {
		e := uneven(up, cores, plural(part, "core")+" that serve it")
		e.Help = "make `spine.up_ports` a multiple of " + strconv.Itoa(part) + ", or change `core.count`"
		return e
	}
	k := p.SpineUp / part
	if need := p.pods() * k; p.CoreDown < need {
		return tooFew(down, Term{Topology, "pods", p.pods()}, need, fmt.Sprintf("%s with %s to each core need %d", plural(p.pods(), "pod"), plural(k, "link"), need))
	}
	return p.bounded(p.pods()*p.Spines, p.SpineUp, spines, up)
}

// bounded refuses more links than one topology may have.
func (p *Plan) bounded(n, each int, a, b Term) *Error {
	if each == 0 || n <= MaxLinks/each {
		return nil
	}
	return &Error{a, b, fmt.Sprintf("%s with %s make more than %d links", a, b, MaxLinks), "divide the fabric into pods"}
}

// Members checks a ring or full mesh of n members with ports each. attr and tier tell where the ports are written: `leaf.up_ports`, or the
// `nics` of a topology without switches.
func Members(k Kind, n, ports int, tier Tier, attr string) *Error {
	a, b := Term{tier, attr, ports}, Term{Leaf, "count", n}
	if tier == Topology {
		b = Term{Topology, "nodes", n}
	}
	members := "switches"
	if tier == Topology {
		members = "nodes"
	}
	switch {
	case n < 2:
		return &Error{b, a, "a " + k.String() + " of " + strconv.Itoa(n) + " has nobody to join", "it takes 2 or more"}
	case k == Ring && (ports < 2 || ports%2 != 0):
		return &Error{a, b, a.divide("") + " evenly over the 2 neighbours in a ring", "make " + a.written() + " an even number"}
	case k == FullMesh && (ports == 0 || ports%(n-1) != 0):
		return &Error{a, b, a.divide("") + " evenly over the " + strconv.Itoa(n-1) + " others of a full mesh", "make " + a.written() + " a multiple of " + strconv.Itoa(n-1) + ", or change how many there are"}
	case ports > 0 && n > MaxLinks/ports:
		return &Error{b, a, fmt.Sprintf("%d %s with %d ports each make more than %d links", n, members, ports, MaxLinks), "divide the fabric"}
	}
	return nil
}
