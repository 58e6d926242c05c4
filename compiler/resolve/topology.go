package resolve

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/shape"
	"github.com/rocec/rocec/lang/source"
)

// topology is a generated part of the fabric while it is built.
type topology struct {
	id    fabric.TopologyID
	block lang.BlockID
	plan  shape.Plan
	tiers [fabric.CoreTier + 1]tier // by fabric.Tier
	pods  []*topology               // that its core joins; itself if it has spines of its own
	nics  []fabric.Str              // taken of each node, in order; nil = all
	read  bool                      // the ports of its tiers are read, or a switch of them was refused,
	fits  bool                      // and are all there
	crowd map[source.Span]int       // in diags: what failOnce said, by its place
}

// tier is the switches of one rank of a topology, in index order.
type tier struct {
	devices []fabric.DeviceID
	blocks  []lang.BlockID // by index: the generated switch, or the place of a written one
	down    [][]fabric.PortID
	up      [][]fabric.PortID
}

var tierOf = map[schema.Kind]fabric.Tier{schema.Leaf: fabric.LeafTier, schema.Spine: fabric.SpineTier, schema.Core: fabric.CoreTier}

// topologyRows makes the rows of topologies and tells their switches where they
// stand. Devices exist by now.
func (r *resolver) topologyRows() {
	r.topoOf = map[lang.BlockID]*topology{}
	r.tierBlock = make([]lang.BlockID, len(r.f.Devices))
	r.f.Topologies = make([]fabric.Topology, 1)
	r.topos = make([]*topology, 1)
	r.top(schema.Topology, func(b lang.BlockID) {
		t := &topology{id: fabric.TopologyID(len(r.f.Topologies)), block: b}
		t.plan.Kind = shape.ParseKind(r.cfg.TopologyKind(b))
		r.topoOf[b] = t
		r.topos = append(r.topos, t)
		r.f.Topologies = append(r.f.Topologies, fabric.Topology{
			Name: r.str(r.cfg.Blocks[b].Name), Address: r.f.Names.Add(r.cfg.Address(b)), Kind: fabric.TopologyKind(t.plan.Kind), Decl: r.decl(b),
			Planes: uint32(max(r.attr(b, schema.APlanes).N, 1)),
		})
		first, end := r.cfg.Kids(b)
		for k := first; k < end; k++ {
			if rank, ok := tierOf[r.cfg.Blocks[k].Kind]; ok {
				r.tier(t, rank, k)
			}
		}
	})
	for _, t := range r.topos[1:] {
		r.podsOf(t)
		r.counts(t)
	}
	for _, t := range r.topos[1:] {
		r.places(t)
	}
	for d := 1; d < len(r.f.Devices); d++ {
		if r.f.Devices[d].Kind == fabric.Switch {
			r.placed(fabric.DeviceID(d))
		}
	}
}

// placed gives a switch the place that it writes itself, or defaults where no tier does.
func (r *resolver) placed(d fabric.DeviceID) {
	b := r.blockOf[d]
	v := r.attr(b, schema.APlace)
	if v.Kind == lang.Absent && r.folds.defaults && r.tierBlock[d] == 0 {
		v = r.deviceLayers(b).get(schema.APlace)
	}
	if v.Kind != lang.Object {
		return
	}
	if tier := r.tierBlock[d]; tier != 0 {
		r.fail(fmt.Sprintf("switch %s writes its place, and %s gives it one", r.blockName(b), r.cfg.Address(tier)), "leave out `place`",
			r.at(b, schema.APlace, ""), r.at(tier, schema.ASwitches, "the other"))
		return
	}
	field := func(n schema.Attr) int32 {
		if f := r.cfg.Field(v, n); f.Kind == lang.Int {
			return int32(f.N)
		}
		return -1
	}
	at := fabric.Place{
		Index: uint32(max(field(schema.AIndex), 0)), Group: field(schema.AGroup), Plane: field(schema.APlane), Rail: field(schema.ARail), Pod: field(schema.APod),
	}
	switch r.cfg.Text(r.cfg.Field(v, schema.ATier)) {
	case "leaf":
		at.Tier = fabric.LeafTier
	case "spine":
		at.Tier = fabric.SpineTier
	case "core":
		at.Tier = fabric.CoreTier
	default:
		r.fail(fmt.Sprintf("place of switch %s does not say of which tier it is", r.blockName(b)), `write place = { tier = "leaf", index = 0 }`, r.at(b, schema.APlace, ""))
		return
	}
	r.f.Devices[d].Place = at
}

// tier adds the switches of a tier block: itself, or those that it lists.
func (r *resolver) tier(t *topology, rank fabric.Tier, b lang.BlockID) {
	x := &t.tiers[rank]
	if r.cfg.Blocks[b].Name != 0 {
		d := r.deviceOf[b]
		if d == 0 {
			t.read = true // a switch was refused: without it no count fits
			return
		}
		x.devices, x.blocks = append(x.devices, d), append(x.blocks, b)
		r.tierBlock[d] = b
		return
	}
	list := r.cfg.List(r.attr(b, schema.ASwitches))
	if r.attr(b, schema.ASwitches).Kind == lang.List && len(list) == 0 {
		t.read = true
		r.fail(r.cfg.Address(b)+" lists no switch", "list some, or leave the tier out", r.at(b, schema.ASwitches, ""))
	}
	if blk := &r.cfg.Blocks[b]; blk.Key != 0 { // the place of one of them
		list = list[blk.Index : blk.Index+1]
	}
	for _, v := range list {
		if v.Kind != lang.Handle || r.deviceOf[v.N] == 0 {
			continue // reported where it was refused
		}
		d := r.deviceOf[v.N]
		if other := r.tierBlock[d]; other != 0 {
			what := "a generated switch"
			if r.cfg.Blocks[other].Name == 0 {
				what = r.cfg.Address(other)
			}
			r.fail(fmt.Sprintf("switch %s is listed in %s, and is in %s already", r.f.Text(r.f.Devices[d].Name), r.cfg.Address(b), what),
				"a switch has one place in one topology", r.at(b, schema.ASwitches, ""), r.at(other, schema.ASwitches, "the other"))
			t.read = true
			continue
		}
		r.tierBlock[d] = b
		x.devices, x.blocks = append(x.devices, d), append(x.blocks, b)
	}
}

// podsOf finds the topologies that a core joins: those it lists, or its own.
func (r *resolver) podsOf(t *topology) {
	if len(t.tiers[fabric.CoreTier].devices) == 0 {
		return
	}
	list := r.cfg.List(r.attr(t.block, schema.APods))
	if len(list) == 0 {
		t.pods = []*topology{t}
	}
	for _, v := range list {
		pod := r.topoOf[lang.BlockID(v.N)]
		switch {
		case v.Kind != lang.Handle || pod == nil:
			continue
		case slices.Contains(t.pods, pod):
			r.fail(fmt.Sprintf("%s lists the pod %s twice", r.cfg.Address(t.block), r.cfg.Address(pod.block)), "a pod has one position", r.at(t.block, schema.APods, ""))
			continue
		case len(pod.tiers[fabric.SpineTier].devices) == 0:
			r.fail(fmt.Sprintf("%s has no spines for the core of %s to join", r.cfg.Address(pod.block), r.cfg.Address(t.block)),
				"list topologies with spines", r.at(t.block, schema.APods, ""), r.f.DeclLabel(r.decl(pod.block), "the pod"))
			continue
		}
		t.pods = append(t.pods, pod)
		r.f.Topologies[t.id].Pods = append(r.f.Topologies[t.id].Pods, pod.id)
	}
}

// counts fills in the plan of a topology as far as it follows from switches.
func (r *resolver) counts(t *topology) {
	p, row := &t.plan, &r.f.Topologies[t.id]
	p.Planes = int(row.Planes)
	for rank := fabric.LeafTier; rank <= fabric.CoreTier; rank++ {
		row.Tiers[rank] = t.tiers[rank].devices
	}
	p.Leaves, p.Spines, p.Cores = len(row.Tiers[fabric.LeafTier]), len(row.Tiers[fabric.SpineTier]), len(row.Tiers[fabric.CoreTier])
	if len(t.pods) > 0 && t.pods[0] != t {
		if r.attr(t.block, schema.APlanes).Kind != lang.Absent {
			r.fail(fmt.Sprintf("%s has planes, and joins pods, which have theirs", r.cfg.Address(t.block)), "leave out `planes`",
				r.at(t.block, schema.APlanes, ""), r.at(t.block, schema.APods, "the pods"))
		}
		p.Pods, p.Spines, p.Planes = len(t.pods), len(t.pods[0].tiers[fabric.SpineTier].devices), int(max(r.attr(t.pods[0].block, schema.APlanes).N, 1))
		row.Planes = uint32(p.Planes)
	}
	for _, v := range r.cfg.List(r.attr(t.block, schema.ANICs)) {
		t.nics = append(t.nics, r.text(v))
	}
	for _, v := range r.cfg.List(r.attr(t.block, schema.ANodes)) {
		if v.Kind == lang.Handle && r.deviceOf[v.N] != 0 {
			row.Nodes = append(row.Nodes, r.deviceOf[v.N])
		}
	}
	if p.NICs = len(t.nics); t.nics == nil && len(row.Nodes) > 0 {
		p.NICs = len(r.takes(t, row.Nodes[0]))
	}
	if p.Kind == shape.RailOptimized {
		row.Rails = uint32(p.Rails())
	}
}

// takes lists the NIC blocks that a topology takes of a node, by ordinal.
func (r *resolver) takes(t *topology, d fabric.DeviceID) []lang.BlockID {
	blocks := r.portBlocks(nil, d)
	if t.nics == nil {
		return blocks
	}
	var list []lang.BlockID
	for _, n := range t.nics {
		i := slices.IndexFunc(blocks, func(b lang.BlockID) bool { return r.str(r.cfg.Blocks[b].Name) == n })
		if i >= 0 {
			list = append(list, blocks[i])
		}
	}
	return list
}

// places tells each switch of a topology where it stands.
func (r *resolver) places(t *topology) {
	p := &t.plan
	if p.Nodes() != nil {
		return // reported where it is wired
	}
	for rank := fabric.LeafTier; rank <= fabric.CoreTier; rank++ {
		for i, d := range t.tiers[rank].devices {
			at := fabric.Place{Topology: t.id, Tier: rank, Index: uint32(i), Group: -1, Plane: -1, Rail: -1, Pod: -1}
			switch rank {
			case fabric.LeafTier:
				role := p.LeafRole(i)
				at.Group, at.Plane = int32(role.Group), int32(role.Plane)
				if p.Kind == shape.RailOptimized {
					at.Rail = int32(role.Rail)
				}
			case fabric.SpineTier:
				at.Plane = int32(p.SpineRole(i).Plane)
			case fabric.CoreTier:
				role := p.CoreRole(i)
				at.Group, at.Plane = int32(role.Group), int32(role.Plane)
			}
			r.f.Devices[d].Place = at
		}
	}
	for k, pod := range t.pods {
		for rank := fabric.LeafTier; rank <= fabric.SpineTier; rank++ {
			for _, d := range pod.tiers[rank].devices {
				r.f.Devices[d].Pod = int32(k)
			}
		}
	}
}

// misfit reports counts that do not come out even, at both attributes.
func (r *resolver) misfit(t *topology, err *shape.Error) {
	t.fits = false
	a, b := r.term(t, err.A), r.term(t, err.B)
	labels := []diag.Label{a}
	if b.Span != a.Span {
		b.Text = "what it has to fit"
		labels = append(labels, b)
	}
	r.fail(r.cfg.Address(t.block)+": "+err.Error(), err.Help, labels...)
}

// term is where a count stands in the source.
func (r *resolver) term(t *topology, x shape.Term) diag.Label {
	b, attr := t.block, termAttr(x.Attr)
	if x.Tier != shape.Topology {
		from := t
		if len(t.pods) > 0 && x.Tier != shape.Core {
			from = t.pods[0]
		}
		if blocks := from.tiers[x.Tier].blocks; len(blocks) > 0 {
			b = blocks[0]
		}
	}
	if r.attr(b, attr).Kind == lang.Absent {
		switch attr {
		case schema.ACount:
			attr = schema.ASwitches
		case schema.ANICs:
			attr = schema.ANodes
		}
	}
	return r.at(b, attr, "")
}

func termAttr(word string) schema.Attr {
	switch word {
	case "count":
		return schema.ACount
	case "node_ports":
		return schema.ANodePorts
	case "up_ports":
		return schema.AUpPorts
	case "down_ports":
		return schema.ADownPorts
	case "ports":
		return schema.APorts
	case "nics":
		return schema.ANICs
	case "nodes":
		return schema.ANodes
	case "planes":
		return schema.APlanes
	}
	return schema.APods
}

// connects are the tier, if a listed one, and the topology whose cable reaches a
// port: what they say goes for it. The tier of a generated switch is the switch.
func (r *resolver) connects(p fabric.PortID) (tier, topo lang.BlockID) {
	row := &r.f.Ports[p]
	t := r.f.Links[row.Link].Topology
	if t == 0 {
		return 0, 0
	}
	d := row.Device
	if row.NIC != 0 {
		d = r.f.Ports[row.Peer].Device
	}
	if tier = r.tierBlock[d]; tier == r.blockOf[row.Device] || r.f.Devices[d].Topology != t {
		tier = 0
	}
	return tier, r.topos[t].block
}
