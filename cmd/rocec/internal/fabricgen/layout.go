package fabricgen

// A switch has 64 ports; a leaf gives half of them to nodes.
const (
	switchPorts  = 64
	leafDown     = 32
	podGroups    = 4 // groups of a pod in three tiers
	twoTierRails = 8
	spinesOfTwo  = 4
)

// plan is the shape of a fabric. A group is 32 nodes and a leaf for each rail.
type plan struct {
	nodes, rails int
	groups       int // of the whole fabric, the last may be partly filled
	pods         int
	groupsOfPod  int
	spinesOfPod  int
	coresOfPlane int // 0: two tiers
}

// layout chooses the number of tiers. Two tiers hold one group of up to eight
// rails under four spines; more take pods of up to 32 leaves, 32 spines each with
// one link to each leaf, and planes of cores that take the spines of one position.
func layout(o Options) plan {
	p := plan{nodes: o.Nodes, rails: o.NICs, groups: (o.Nodes + leafDown - 1) / leafDown}
	if p.groups == 1 && p.rails <= twoTierRails {
		p.pods, p.groupsOfPod, p.spinesOfPod = 1, 1, spinesOfTwo
		return p
	}
	p.groupsOfPod, p.spinesOfPod = max(1, podGroups*twoTierRails/p.rails), leafDown
	p.pods = (p.groups + p.groupsOfPod - 1) / p.groupsOfPod
	p.coresOfPlane = 1
	for p.pods*leafDown > p.coresOfPlane*switchPorts {
		p.coresOfPlane *= 2
	}
	return p
}

// leaves of the fabric; those of groups that are not there are left out.
func (p *plan) leaves() int { return p.groups * p.rails }

func (p *plan) spines() int { return p.pods * p.spinesOfPod }

func (p *plan) cores() int { return p.spinesOfPod * p.coresOfPlane }

// leafUp is the number of links from a leaf to each spine of its pod.
func (p *plan) leafUp() int { return leafDown / p.spinesOfPod }

// spineUp is the number of links from a spine to each core of its plane.
func (p *plan) spineUp() int {
	if p.coresOfPlane == 0 {
		return 0
	}
	return leafDown / p.coresOfPlane
}

// leafOf is the leaf that a NIC is cabled to.
func (p *plan) leafOf(node, rail int) int { return node/leafDown*p.rails + rail }

// podOf is the pod of a leaf, place its position there.
func (p *plan) podOf(leaf int) (pod, place int) {
	n := p.groupsOfPod * p.rails
	return leaf / n, leaf % n
}

// trunk is one cable between two switches, by tier, index and port.
type trunk struct{ low, high end }

// end is a port of a switch: its tier ("leaf", "spine", "core"), the index of
// the switch in its tier, and the index of the port.
type end struct {
	tier        string
	index, port int
}

// trunks calls visit for every cable between switches, in the order of the
// lower ends.
func (p *plan) trunks(visit func(trunk)) {
	up := p.leafUp()
	for leaf := range p.leaves() {
		pod, place := p.podOf(leaf)
		for u := range leafDown {
			spine := pod*p.spinesOfPod + u/up
			visit(trunk{end{"leaf", leaf, leafDown + u}, end{"spine", spine, place*up + u%up}})
		}
	}
	if p.coresOfPlane == 0 {
		return
	}
	up = p.spineUp()
	for spine := range p.spines() {
		pod, plane := spine/p.spinesOfPod, spine%p.spinesOfPod
		for u := range leafDown {
			core := plane*p.coresOfPlane + u/up
			visit(trunk{end{"spine", spine, leafDown + u}, end{"core", core, pod*up + u%up}})
		}
	}
}
