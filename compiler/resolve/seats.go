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

// wireNodes joins the NICs of nodes and the leaves, by slot.
func (r *resolver) wireNodes(t *topology) {
	row, leaf, p := &r.f.Topologies[t.id], &t.tiers[fabric.LeafTier], &t.plan
	if len(row.Nodes) == 0 {
		return
	}
	if p.NodePorts == 0 {
		r.fail(r.cfg.Address(t.block)+" has nodes, and its leaves have no ports for them", "write `node_ports` in the leaf tier, or leave out `nodes`",
			r.at(first(leaf.blocks), schema.ANodePorts, ""), r.at(t.block, schema.ANodes, "the nodes"))
		return
	}
	slots := make([]fabric.DeviceID, p.Slots()+1) // by slot
	var seats []shape.Seat
	var used []int
	for _, d := range row.Nodes {
		if !r.slot(t, d, slots) {
			continue
		}
		nics := r.takes(t, d)
		if len(nics) != p.NICs {
			r.unequal(t, d, len(nics))
			return
		}
		seats = r.seats(t, nics, seats[:0])
		slot := int(r.f.Devices[d].Slot)
		used = used[:0]
		for i, b := range nics {
			s := seats[i]
			if s.Rail >= p.Rails() || s.Plane >= max(p.Planes, 1) && p.Kind == shape.RailOptimized {
				r.offRail(t, b, s)
				continue
			}
			l, port := p.NodeLeaf(slot, s)
			if k := slices.Index(used, l<<16|port); k >= 0 {
				r.fail(fmt.Sprintf("%s and %s land on the same port", r.f.PortName(r.portOf[b]), r.f.PortName(r.portOf[nics[k]])),
					"NICs of a node have a rail and plane of their own each", r.at(b, schema.ARail, ""), r.at(nics[k], schema.ARail, "the other"))
				continue
			}
			used = append(used, l<<16|port)
			nic := r.portOf[b]
			n := &r.f.NICs[r.f.Ports[nic].NIC]
			if p.Kind == shape.RailOptimized {
				n.Rail = int32(s.Rail)
			}
			if max(p.Planes, 1) > 1 {
				n.Plane = int32(s.Plane)
			}
			r.seat(t, nic, leaf.down[l][port], leaf.blocks[l])
		}
	}
}

// seats are the places of the NICs of one node, in order.
func (r *resolver) seats(t *topology, nics []lang.BlockID, list []shape.Seat) []shape.Seat {
	for i, b := range nics {
		s := t.plan.NICSeat(i)
		if v := r.said(b, schema.ARail); v.Kind == lang.Int && t.plan.Kind == shape.RailOptimized {
			s.Rail = int(v.N)
		}
		if v := r.said(b, schema.APlane); v.Kind == lang.Int && t.plan.Kind == shape.RailOptimized {
			s.Plane = int(v.N)
		} else if v.Kind == lang.Int && t.plan.Kind == shape.DualToR && t.plan.Planes == 2 && int(v.N) != s.Plane {
			r.fail(fmt.Sprintf("%s writes plane %d, and in the dual_tor %s it is in plane %d by its position", r.f.PortName(r.portOf[b]), v.N, r.cfg.Address(t.block), s.Plane),
				"leave it out, or write `nics` in another order", r.at(b, schema.APlane, ""), r.f.DeclLabel(r.decl(t.block), "the topology"))
		}
		list = append(list, s)
	}
	return list
}

func (r *resolver) offRail(t *topology, b lang.BlockID, s shape.Seat) {
	n, what, attr := s.Rail, "rail", schema.ARail
	have := t.plan.Rails()
	if s.Rail < have {
		n, what, attr, have = s.Plane, "plane", schema.APlane, max(t.plan.Planes, 1)
	}
	r.fail(fmt.Sprintf("%s is in %s %d, and %s has %d, counted from 0", r.f.PortName(r.portOf[b]), what, n, r.cfg.Address(t.block), have),
		"write one that there is, or leave it out", r.at(b, attr, ""), r.f.DeclLabel(r.decl(t.block), "the topology"))
}

// slot finds the place of a node among the slots of a topology.
func (r *resolver) slot(t *topology, d fabric.DeviceID, slots []fabric.DeviceID) bool {
	dev := &r.f.Devices[d]
	name, label := r.f.Text(dev.Name), r.f.Label(dev.Decl, dev.Layers, schema.ASlot, "")
	switch n := int(dev.Slot); {
	case n == 0:
		r.fail(fmt.Sprintf("node %s has no slot, and %s places nodes by it", name, r.cfg.Address(t.block)),
			"write slot = 1 and up: it fixes the leaf ports, so that no other node moves them", label, r.at(t.block, schema.ANodes, "the topology"))
	case n >= len(slots):
		p, groups, ports := &t.plan, "groups", "ports"
		if p.Groups() == 1 {
			groups = "group"
		}
		if p.PerLeaf() == 1 {
			ports = "port"
		}
		r.failOnce(t, diag.Diagnostic{
			Summary: fmt.Sprintf("node %s has slot %d, and %s has %d: %d %s of %d node_ports at %d %s a node", name, n, r.cfg.Address(t.block), p.Slots(), p.Groups(), groups, p.NodePorts, p.PerLeaf(), ports),
			Help:    "give it a slot that there is, or add leaves", Address: r.f.Text(r.f.Devices[d].Address),
			Labels: []diag.Label{label, r.at(first(t.tiers[fabric.LeafTier].blocks), schema.ANodePorts, "the ports")},
		})
	case slots[n] != 0:
		other := &r.f.Devices[slots[n]]
		if slots[n] == d {
			r.fail(fmt.Sprintf("%s lists node %s twice", r.cfg.Address(t.block), name), "list it once", r.at(t.block, schema.ANodes, ""))
			return false
		}
		r.fail(fmt.Sprintf("nodes %s and %s both have slot %d in %s", r.f.Text(other.Name), name, n, r.cfg.Address(t.block)), "give each a slot of its own",
			label, r.f.Label(other.Decl, other.Layers, schema.ASlot, "the other"))
	default:
		slots[n] = d
		return true
	}
	return false
}

// failOnce reports what many places of a topology have from one declaration:
// the first of them, and how many there are.
func (r *resolver) failOnce(t *topology, d diag.Diagnostic) {
	at := d.Span()
	if prior, ok := t.crowd[at]; ok {
		r.diags[prior].Count++
		return
	}
	if t.crowd == nil {
		t.crowd = map[source.Span]int{}
	}
	t.crowd[at] = len(r.diags)
	d.Count = 1
	r.diags.Add(d)
}

// unequal reports a node that has other NICs than the first one.
func (r *resolver) unequal(t *topology, d fabric.DeviceID, n int) {
	one := r.f.Topologies[t.id].Nodes[0]
	dev := &r.f.Devices[d]
	if t.nics != nil {
		for _, want := range t.nics {
			if r.port(d, want) == 0 {
				r.fail(fmt.Sprintf("node %s has no NIC %s, which %s takes", r.f.Text(dev.Name), r.f.Text(want), r.cfg.Address(t.block)),
					"name NICs that every node has", r.f.DeclLabel(dev.Decl, ""), r.at(t.block, schema.ANICs, "the list"))
				return
			}
		}
	}
	r.fail(fmt.Sprintf("node %s has %d NICs in %s, and %s has %d", r.f.Text(dev.Name), n, r.cfg.Address(t.block), r.f.Text(r.f.Devices[one].Name), t.plan.NICs),
		"write in `nics` those that every node has", r.f.DeclLabel(dev.Decl, ""), r.f.DeclLabel(r.f.Devices[one].Decl, "the other"))
}

// seat joins a NIC and its leaf port, or the port that `at` says.
func (r *resolver) seat(t *topology, nic, port fabric.PortID, leaf lang.BlockID) {
	if !r.free(t, nic) {
		return
	}
	if to := r.atOf[nic]; to != 0 {
		if !r.free(t, to) {
			return
		}
		if b := r.tierBlock[r.f.Ports[to].Device]; b != 0 {
			leaf = b
		}
		r.join(t, nic, to, leaf, lang.Value{})
		return
	}
	if by := r.atTaken[port]; by != 0 {
		r.fail(fmt.Sprintf("%s lands on %s, which %s takes by `at`", r.f.PortName(nic), r.f.PortName(port), r.f.PortName(by)),
			"write `at` on this NIC too, or choose a free port", r.f.PortLabel(nic, 0, ""), r.atLabel(by, "takes it"))
		return
	}
	r.join(t, nic, port, leaf, lang.Value{})
}

// free refuses a port that another topology has joined already.
func (r *resolver) free(t *topology, p fabric.PortID) bool {
	link := r.f.Ports[p].Link
	if link == 0 || r.f.Links[link].Origin != fabric.OfTopology {
		return true // two links on one port are for a rule to say
	}
	attr, what := schema.ANodes, "nodes"
	if r.f.Devices[r.f.Ports[p].Device].Kind == fabric.Switch {
		attr, what = 0, "switches"
	}
	other := r.topos[r.f.Links[link].Topology]
	labels := []diag.Label{r.at(t.block, attr, ""), r.at(other.block, attr, "the other")}
	if r.topoTwice[p] {
		return false
	}
	r.topoTwice[p] = true
	r.fail(fmt.Sprintf("%s is joined by %s and by %s", r.f.PortName(p), r.cfg.Address(other.block), r.cfg.Address(t.block)),
		"a port is in one topology: write `nics`, or divide the "+what, labels...)
	return false
}

// elsewhere notes the NICs that `at` puts on a port: what is nearest to each
// decides, so that exceptions may exchange two.
func (r *resolver) elsewhere() {
	r.atOf, r.topoTwice, r.atBlock = map[fabric.PortID]fabric.PortID{}, map[fabric.PortID]bool{}, map[fabric.PortID]lang.BlockID{}
	for b := range r.cfg.Blocks {
		if r.cfg.Blocks[b].Kind == schema.NIC && r.portOf[b] != 0 {
			r.noteAt(lang.BlockID(b))
		}
	}
}

// noteAt reads the `at` of one NIC, that of its exceptions and overrides before
// its own.
func (r *resolver) noteAt(b lang.BlockID) {
	s := r.alone(b)
	v, l := s.nearest(schema.AAt)
	by := l.by
	if v.Kind != lang.Handle {
		return
	}
	nic, to := r.portOf[b], r.portAt(lang.BlockID(v.N))
	if to == 0 {
		return // refused elsewhere
	}
	r.atBlock[nic] = by
	if other := r.atTaken[to]; other != 0 {
		r.fail(fmt.Sprintf("%s and %s are both at %s", r.f.PortName(other), r.f.PortName(nic), r.f.PortName(to)), "a port takes one cable: correct `at` of one of the two", r.atLabel(nic, ""), r.atLabel(other, "the other"))
		return
	}
	r.atOf[nic], r.atTaken[to] = to, nic
}

func (r *resolver) atLabel(nic fabric.PortID, text string) diag.Label {
	by, n := r.atBlock[nic], schema.AAt
	if r.cfg.Blocks[by].Kind == schema.Override {
		n = schema.ASet
	}
	return r.at(by, n, text)
}
