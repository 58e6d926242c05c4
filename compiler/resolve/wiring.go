package resolve

import (
	"fmt"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/shape"
)

// wire makes the links of every topology. Ports exist by now.
func (r *resolver) wire() {
	r.atTaken = map[fabric.PortID]fabric.PortID{}
	r.elsewhere()
	links := 0
	for _, t := range r.topos[1:] {
		if !t.plan.Kind.Flat() && r.tierPorts(t) {
			p := &t.plan
			links += len(r.f.Topologies[t.id].Nodes)*p.NICs + p.Leaves*p.LeafUp + len(t.pods)*p.Spines*p.SpineUp
		}
	}
	r.roomForLinks(links)
	for _, t := range r.topos[1:] {
		r.wireUp(t)
	}
	r.strayUp()
	r.plug()
}

// strayUp refuses what a tier says of links to the one above where there is none. Leaves without spines are the loader's, which needs no pods for it.
func (r *resolver) strayUp() {
	joined := map[*topology]bool{}
	for _, t := range r.topos[1:] {
		for _, pod := range t.pods {
			joined[pod] = true
		}
	}
	for _, t := range r.topos[1:] {
		leaf, spine := first(t.tiers[fabric.LeafTier].blocks), first(t.tiers[fabric.SpineTier].blocks)
		if n := schema.AFabricSubnet; leaf != 0 && spine == 0 && !t.plan.Kind.Flat() && r.attr(leaf, n).Kind != lang.Absent {
			r.fail(fmt.Sprintf("`fabric_subnet` of a leaf is for links to spines, and %s has none", r.cfg.Address(t.block)), "write a `spine` block, or leave fabric_subnet out", r.at(leaf, n, ""))
		}
		if spine == 0 || joined[t] {
			continue
		}
		for _, n := range []schema.Attr{schema.AUpPorts, schema.AFabricSubnet} {
			if r.attr(spine, n).Kind != lang.Absent {
				r.fail(fmt.Sprintf("`%s` of a spine is for links to cores: %s has none, and no clos3 has it among its pods", n.Name(), r.cfg.Address(t.block)),
					fmt.Sprintf("write a `clos3` with a `core` block and pods = [%s], or leave %s out", r.cfg.Address(t.block), n.Name()), r.at(spine, n, ""))
				break
			}
		}
	}
}

func (r *resolver) wireUp(t *topology) {
	if t.plan.Kind.Flat() {
		r.ring(t)
		return
	}
	if !r.tierPorts(t) {
		return
	}
	for _, pod := range t.pods {
		if !r.tierPorts(pod) {
			return
		}
	}
	p := &t.plan
	down, core := "down_ports", "down_ports"
	if b := first(t.below(fabric.SpineTier).blocks); b != 0 && r.attr(b, schema.APorts).Kind != lang.Absent {
		down = "ports"
	}
	if b := first(t.tiers[fabric.CoreTier].blocks); b != 0 && r.attr(b, schema.APorts).Kind != lang.Absent {
		core = "ports"
	}
	if err := p.Nodes(); err != nil {
		r.misfit(t, err)
		return
	}
	if err := p.Fabric(down, core); err != nil {
		r.misfit(t, err)
		return
	}
	r.wireNodes(t)
	r.wireLeaves(t)
	r.wireCores(t)
}

// below is the tier of the topology, of its first pod if it has pods.
func (t *topology) below(rank fabric.Tier) *tier {
	if len(t.pods) > 0 {
		return &t.pods[0].tiers[rank]
	}
	return &t.tiers[rank]
}

func first(list []lang.BlockID) lang.BlockID {
	if len(list) == 0 {
		return 0
	}
	return list[0]
}

// tierPorts finds the ports that each tier names, and counts them.
func (r *resolver) tierPorts(t *topology) bool {
	if t.read {
		return t.fits
	}
	t.read = true
	leaf, spine, core := &t.tiers[fabric.LeafTier], &t.tiers[fabric.SpineTier], &t.tiers[fabric.CoreTier]
	t.fits = r.namedPorts(leaf, &leaf.down, schema.ANodePorts, &t.plan.NodePorts) &&
		r.namedPorts(leaf, &leaf.up, schema.AUpPorts, &t.plan.LeafUp) &&
		r.namedPorts(spine, &spine.down, schema.ADownPorts, &t.plan.SpineDown) &&
		r.namedPorts(spine, &spine.up, schema.AUpPorts, &t.plan.SpineUp) &&
		r.namedPorts(core, &core.down, schema.ADownPorts, &t.plan.CoreDown)
	if t.fits && len(t.pods) > 0 && t.pods[0] != t {
		t.fits = r.tierPorts(t.pods[0])
		t.plan.SpineUp = t.pods[0].plan.SpineUp
	}
	return t.fits
}

// namedPorts reads a list of ports of each switch of a tier. `ports` stands for
// all those that point down.
func (r *resolver) namedPorts(x *tier, out *[][]fabric.PortID, n schema.Attr, count *int) bool {
	if len(x.devices) == 0 {
		return true
	}
	*out = make([][]fabric.PortID, len(x.devices))
	var arena []fabric.PortID
	for i, d := range x.devices {
		attr := n
		if n == schema.ADownPorts && r.attr(x.blocks[i], schema.APorts).Kind != lang.Absent {
			attr = schema.APorts
		}
		names := r.cfg.List(r.attr(x.blocks[i], attr))
		if i == 0 {
			*count = len(names)
		}
		if len(names) != *count {
			r.fail(fmt.Sprintf("%s has %d ports in %s, and %s has %d", r.f.Text(r.f.Devices[d].Name), len(names), attr.Name(), r.f.Text(r.f.Devices[x.devices[0]].Name), *count),
				"switches of one tier have as many ports of a kind", r.at(x.blocks[i], attr, ""))
			return false
		}
		start := len(arena)
		for _, v := range names {
			p := r.port(d, r.text(v))
			if dev := &r.f.Devices[d]; p == 0 && (dev.Model == 0 || r.f.Text(dev.OSName) == "") && dev.Manage != fabric.HandsOff {
				return false // that it has no model or os was said
			}
			if p == 0 {
				r.fail(fmt.Sprintf("switch %s has no port %s", r.f.Text(r.f.Devices[d].Name), r.cfg.Text(v)), "name ports that its model has, or that its breakouts make",
					r.at(x.blocks[i], attr, ""), r.at(r.blockOf[d], schema.AModel, "its model"))
				return false
			}
			arena = append(arena, p)
		}
		(*out)[i] = arena[start:len(arena):len(arena)]
		if i == 0 { // the ports of the first are there, so their number is one that hardware has
			arena = make([]fabric.PortID, 0, len(names)*(len(x.devices)-1))
		}
	}
	return r.apart(x)
}

// apart refuses a port that a tier names for both directions.
func (r *resolver) apart(x *tier) bool {
	if len(x.up) == 0 || len(x.down) == 0 {
		return true
	}
	for i := range x.devices {
		if i > 0 && x.blocks[i] == x.blocks[i-1] || len(x.up[i]) == 0 {
			continue
		}
		has := make(map[fabric.PortID]bool, len(x.up[i]))
		for _, p := range x.up[i] {
			has[p] = true
		}
		for _, p := range x.down[i] {
			if has[p] {
				other := schema.ANodePorts
				if r.attr(x.blocks[i], other).Kind == lang.Absent {
					other = schema.ADownPorts
				}
				r.fail(fmt.Sprintf("port %s is in %s and in %s", r.f.PortName(p), other.Name(), schema.AUpPorts.Name()), "a port leads up or down",
					r.at(x.blocks[i], other, ""), r.at(x.blocks[i], schema.AUpPorts, "the other"))
				return false
			}
		}
		if i == 0 && r.cfg.AttrsOf(x.blocks[0]) != nil && len(x.blocks) > 1 && &r.cfg.AttrsOf(x.blocks[0])[0] == &r.cfg.AttrsOf(x.blocks[1])[0] {
			return true // all say the same
		}
	}
	return true
}

// join makes a link of a topology. The upper switch's tier speaks for it.
func (r *resolver) join(t *topology, lower, upper fabric.PortID, from lang.BlockID, cable lang.Value) {
	row := r.cableOf(from, cable)
	row.A, row.B = min(lower, upper), max(lower, upper)
	row.Decl, row.Origin, row.Topology = r.decl(from), fabric.OfTopology, t.id
	r.addLink(row, from)
}

// cableOf is what the block of a link says of its cable, read once for equal ones.
func (r *resolver) cableOf(from lang.BlockID, cable lang.Value) fabric.Link {
	var by lang.BlockID // who speaks for the block
	if cable.Kind == lang.Absent {
		if cable, by = r.linkSays(from, schema.ACable); by == from {
			by = 0
		}
	}
	if cable != r.lastCable || by != r.lastBy {
		r.lastCable, r.lastBy, r.lastLink = cable, by, fabric.Link{}
		r.cable(&r.lastLink, cable)
		if by != 0 {
			r.saidBy(&r.lastLink, by)
		}
	}
	return r.lastLink
}

// cableTo is the cable of a spine or core to one switch of the tier below, Absent
// where exceptions or overrides may say it.
func (r *resolver) cableTo(b lang.BlockID, below int) lang.Value {
	if r.spokenOf(b) {
		s := scope{cfg: r.cfg, before: itself(r.speak[b])}
		if _, l := s.nearest(schema.ACable); l.by != 0 {
			return lang.Value{}
		}
	}
	return r.cfg.CableTo(b, below)
}

// wireLeaves joins leaves and spines.
func (r *resolver) wireLeaves(t *topology) {
	leaf, spine, p := &t.tiers[fabric.LeafTier], &t.tiers[fabric.SpineTier], &t.plan
	if len(spine.devices) == 0 || len(leaf.devices) == 0 {
		return
	}
	for i := range leaf.devices {
		for u, lower := range leaf.up[i] {
			s, port := p.Uplink(i, u)
			r.join(t, lower, spine.down[s][port], spine.blocks[s], r.cableTo(spine.blocks[s], i))
		}
	}
}

// wireCores joins the spines of every pod and the cores.
func (r *resolver) wireCores(t *topology) {
	core := &t.tiers[fabric.CoreTier]
	for k, pod := range t.pods {
		spine := &pod.tiers[fabric.SpineTier]
		if !r.samePod(t, k) {
			return
		}
		for i := range spine.devices {
			for u, lower := range spine.up[i] {
				c, port := t.plan.CoreUplink(k, i, u)
				below := i
				if pod != t {
					below = k
				}
				r.join(t, lower, core.down[c][port], core.blocks[c], r.cableTo(core.blocks[c], below))
			}
		}
	}
}

// samePod refuses a pod that differs from the first in what the core counts.
func (r *resolver) samePod(t *topology, k int) bool {
	a, b := &t.pods[0].plan, &t.pods[k].plan
	for _, x := range []struct {
		what string
		a, b int
		attr schema.Attr
	}{{"spines", a.Spines, b.Spines, schema.ACount}, {"uplinks of each spine", a.SpineUp, b.SpineUp, schema.AUpPorts}, {"planes", a.Planes, b.Planes, schema.APlanes}} {
		if x.a != x.b {
			at := func(p *topology) lang.BlockID {
				if x.attr == schema.APlanes {
					return p.block
				}
				return p.tiers[fabric.SpineTier].blocks[0]
			}
			r.fail(fmt.Sprintf("%s has %d %s, and %s has %d", r.cfg.Address(t.pods[k].block), x.b, x.what, r.cfg.Address(t.pods[0].block), x.a),
				"pods under one core are alike", r.at(at(t.pods[k]), x.attr, ""), r.at(at(t.pods[0]), x.attr, "the other pod"), r.at(t.block, schema.APods, "the core joins them"))
			return false
		}
	}
	return true
}

// ring joins the switches of a ring or full mesh with each other, or its nodes
// where it has no switches.
func (r *resolver) ring(t *topology) {
	if t.read {
		return // without a switch that was refused
	}
	leaf := &t.tiers[fabric.LeafTier]
	ports, where, attr := leaf.up, shape.Leaf, schema.AUpPorts
	if len(leaf.devices) > 0 {
		if !r.namedPorts(leaf, &leaf.up, attr, &t.plan.LeafUp) || !r.namedPorts(leaf, &leaf.down, schema.ANodePorts, &t.plan.NodePorts) {
			return
		}
		ports = leaf.up
	} else {
		where, attr = shape.Topology, schema.ANICs
		for _, d := range r.f.Topologies[t.id].Nodes {
			var list []fabric.PortID
			for _, b := range r.takes(t, d) {
				list = append(list, r.portOf[b])
			}
			if len(list) != t.plan.NICs {
				r.unequal(t, d, len(list))
				return
			}
			ports = append(ports, list)
		}
	}
	each := 0
	if len(ports) > 0 {
		each = len(ports[0])
	}
	if err := shape.Members(t.plan.Kind, len(ports), each, where, attr.Name()); err != nil {
		r.misfit(t, err)
		return
	}
	for i := range ports {
		from := t.block
		if len(leaf.blocks) > 0 {
			from = leaf.blocks[i]
		}
		for u, a := range ports[i] {
			if !shape.Joins(t.plan.Kind, len(ports), each, i, u) {
				continue
			}
			peer, port := shape.Beside(t.plan.Kind, len(ports), each, i, u)
			if b := ports[peer][port]; r.free(t, a) && r.free(t, b) {
				r.join(t, a, b, from, lang.Value{})
			}
		}
	}
	if len(leaf.devices) > 0 {
		if err := t.plan.Nodes(); err != nil {
			r.misfit(t, err)
			return
		}
		r.wireNodes(t)
	}
}
