package fabricgen

// Preset is a fabric of a known size: pods of leaves and spines, and cores over
// the pods where there are several. Its ports, links and names follow from the
// rules for topologies of the language reference, section 9, so that both forms
// say one and the same fabric.
type Preset struct {
	Name                       string
	Kind                       string // of the topology of a pod
	Pods                       int
	Nodes                      int // of a pod
	NICs                       int // of a node
	Planes                     int // 1, or 2 for NICs of two ports that end on two leaves
	Leaves, Down, Up           int // of a pod; ports of a leaf to nodes and to spines
	Spines, SpineDown, SpineUp int // of a pod
	Cores, CorePorts           int // of the fabric
	NICSpeed                   string
}

// Presets are published fabrics, by the arithmetic of their papers: pods of 32
// nodes up to 100,000 NICs. Meta is the Llama 3 cluster, HPN Alibaba's dual-ToR
// pod without the cores above it, whose number is not published.
var Presets = []Preset{
	{
		Name: "pod-256", Kind: "rail_optimized", Pods: 1, Nodes: 32, NICs: 8, Planes: 1,
		Leaves: 8, Down: 32, Up: 32, Spines: 4, SpineDown: 64, NICSpeed: "400G",
	},
	{
		Name: "fabric-4k", Kind: "rail_optimized", Pods: 1, Nodes: 512, NICs: 8, Planes: 1,
		Leaves: 64, Down: 64, Up: 64, Spines: 32, SpineDown: 128, NICSpeed: "400G",
	},
	{
		Name: "meta-24k", Kind: "leaf_spine", Pods: 8, Nodes: 384, NICs: 8, Planes: 1,
		Leaves: 192, Down: 16, Up: 18, Spines: 18, SpineDown: 192, SpineUp: 28, Cores: 36, CorePorts: 112, NICSpeed: "400G",
	},
	{
		Name: "hpn-15k", Kind: "rail_optimized", Pods: 1, Nodes: 1920, NICs: 16, Planes: 2,
		Leaves: 240, Down: 128, Up: 60, Spines: 120, SpineDown: 120, NICSpeed: "200G",
	},
	{
		Name: "fabric-100k", Kind: "rail_optimized", Pods: 25, Nodes: 512, NICs: 8, Planes: 1,
		Leaves: 64, Down: 64, Up: 64, Spines: 64, SpineDown: 64, SpineUp: 64, Cores: 1024, CorePorts: 100, NICSpeed: "400G",
	},
}

// PresetNamed finds a preset.
func PresetNamed(name string) (Preset, bool) {
	for _, p := range Presets {
		if p.Name == name {
			return p, true
		}
	}
	return Preset{}, false
}

// Size is what the preset has, whatever its form; files and bytes are not known.
func (p Preset) Size() Size {
	s := Size{Nodes: p.Pods * p.Nodes, NICs: p.Pods * p.Nodes * p.NICs, Switches: p.Pods*(p.Leaves+p.Spines) + p.Cores}
	s.Links = s.NICs + p.Pods*(p.Leaves*p.Up+p.Spines*p.SpineUp)
	s.Ports = 2*s.Links - s.NICs
	return s
}

// taken is how many NICs of a node a leaf takes.
func (p Preset) taken() int {
	if p.Kind == "rail_optimized" {
		return 1
	}
	return p.NICs
}

// seat is the leaf of a pod, and its port, that a NIC of a node is cabled to.
// The node is counted from 0.
func (p Preset) seat(node, nic int) (leaf, port int) {
	slots := p.Down / p.taken()
	group, place := node/slots, node%slots*p.taken()
	if p.taken() > 1 {
		return group, place + nic
	}
	rails := p.NICs / p.Planes
	return (group*p.Planes+nic%p.Planes)*rails + nic/p.Planes, place
}

// uplink is the spine of the pod, and its port, that an uplink of a leaf ends at.
func (p Preset) uplink(leaf, up int) (spine, port int) {
	rails := p.NICs / p.Planes
	plane, index := 0, leaf // within the plane
	if p.Planes > 1 {
		plane, index = leaf/rails%p.Planes, leaf/(rails*p.Planes)*rails+leaf%rails
	}
	spines := p.Spines / p.Planes
	pair := p.Up / spines
	return plane*spines + up/pair, index*pair + up%pair
}

// coreUplink is the core, and its port, that an uplink of a spine ends at.
func (p Preset) coreUplink(pod, spine, up int) (core, port int) {
	part := p.Cores / p.Spines
	pair := p.SpineUp / part
	return spine*part + up/pair, pod*pair + up%pair
}
