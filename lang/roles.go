package lang

import (
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/shape"
	"github.com/rocec/rocec/lang/source"
)

// topoPlan is the counts of a topology as far as expressions ask for them, computed once.
type topoPlan struct {
	plan  shape.Plan
	m     *mistake // it cannot be counted
	rails *mistake // its NICs cannot, and the leaves' roles follow them
	done  bool
}

// roleOf is the group, plane and rail of a generated switch.
func (ld *loader) roleOf(id instID) (shape.Role, *mistake) {
	in := ld.insts[id]
	p, m := ld.planOf(in.parent)
	if m != nil {
		return shape.Role{}, m
	}
	switch in.kind {
	case schema.Leaf:
		if m := ld.plans[in.parent].rails; m != nil {
			return shape.Role{}, m
		}
		return p.LeafRole(int(in.index)), nil
	case schema.Spine:
		return p.SpineRole(int(in.index)), nil
	}
	return p.CoreRole(int(in.index)), nil
}

// planOf counts a topology: its planes, NICs and switches. What makes roles unknowable is refused at the attribute that does.
func (ld *loader) planOf(topo instID) (*shape.Plan, *mistake) {
	if t := ld.plans[topo]; t != nil {
		if !t.done {
			return nil, &mistake{"the shape of `" + ld.addrOf(topo) + "` is what is being computed here", "counts cannot depend on group, plane or rail"}
		}
		return &t.plan, t.m
	}
	t := &topoPlan{}
	ld.plans[topo] = t
	t.m = ld.count(topo, t)
	t.done = true
	return &t.plan, t.m
}

func (ld *loader) count(topo instID, t *topoPlan) *mistake {
	p := &t.plan
	in := ld.insts[topo]
	m := ld.mods[in.mod]
	p.Kind = shape.ParseKind(ld.strs[m.unit.decls[in.decl].first])
	planes, ok := ld.attrOf(topo, schema.APlanes)
	if !ok {
		return silent
	}
	p.Planes = max(int(planes.N), 1)
	ok = true
	m.unit.kids(in.decl, func(k int32) {
		n := 0
		switch d := &m.unit.decls[k]; d.kind {
		case schema.Leaf:
			n, ok = ld.tierSize(m, k, topo, ok)
			p.Leaves = n
		case schema.Spine:
			n, ok = ld.tierSize(m, k, topo, ok)
			p.Spines = n
		case schema.Core:
			n, ok = ld.tierSize(m, k, topo, ok)
			p.Cores = n
		}
	})
	if !ok {
		return silent
	}
	if mis := ld.countPods(topo, p); mis != nil {
		return mis
	}
	if p.Kind == shape.RailOptimized {
		if t.rails = ld.countNICs(topo, p); t.rails != nil {
			return nil
		}
	}
	if err := p.Nodes(); err != nil {
		ld.shapeError(topo, err)
		return silent
	}
	return nil
}

func (ld *loader) tierSize(m *modinst, k int32, topo instID, ok bool) (int, bool) {
	n, good := ld.tierCount(m, k, topo)
	return n, ok && good
}

// countPods takes the spines of the pods for those of a clos3 that joins them.
func (ld *loader) countPods(topo instID, p *shape.Plan) *mistake {
	pods, ok := ld.attrOf(topo, schema.APods)
	if !ok {
		return silent
	}
	list := ld.elements(pods)
	p.Pods = len(list)
	if len(list) == 0 {
		return nil
	}
	if !ld.podsFit(topo, list) {
		return silent
	}
	pod, m := ld.planOf(instID(list[0].N))
	if m != nil {
		return m
	}
	p.Spines = pod.Spines
	p.Planes = pod.Planes
	return nil
}

// podsFit refuses pods that have no spines to join.
func (ld *loader) podsFit(topo instID, pods []Value) bool {
	seen := map[instID]bool{}
	for _, h := range pods {
		id := instID(h.N)
		at := ld.spanOfAttr(topo, schema.APods)
		if seen[id] {
			ld.fail(at, "pods has `"+ld.addrOf(id)+"` twice", "leave one out")
			return false
		}
		seen[id] = true
		in := &ld.insts[id]
		switch kind := shape.ParseKind(ld.strs[ld.mods[in.mod].unit.decls[in.decl].first]); kind {
		case shape.Clos3, shape.Ring, shape.FullMesh:
			ld.fail(at, "pods takes topologies with spines, and `"+ld.addrOf(id)+"` is "+kind.String(), "join rail_optimized, leaf_spine or dual_tor topologies")
			return false
		}
	}
	return true
}

// checkPods looks at the pods of every clos3 of a module.
func (ld *loader) checkPods(m *modinst) {
	for _, f := range m.families {
		if f.kind != schema.Topology {
			continue
		}
		for _, id := range f.insts {
			for _, a := range ld.attrsOf(id) {
				if a.Num == schema.APods {
					ld.podsFit(id, ld.elements(a.Val()))
				}
			}
		}
	}
}

// countNICs counts the NICs that a topology takes of a node.
func (ld *loader) countNICs(topo instID, p *shape.Plan) *mistake {
	nics, ok := ld.attrOf(topo, schema.ANICs)
	if !ok {
		return silent
	}
	if p.NICs = len(ld.elements(nics)); p.NICs > 0 {
		return nil
	}
	nodes, ok := ld.attrOf(topo, schema.ANodes)
	if !ok {
		return silent
	}
	for _, n := range ld.elements(nodes) {
		if m := ld.expandKids(instID(n.N)); m != nil {
			return m
		}
		for kid := ld.insts[n.N].first; kid != 0; kid = ld.insts[kid].next {
			if ld.insts[kid].kind == schema.NIC {
				p.NICs++
			}
		}
		if p.NICs > 0 {
			return nil
		}
	}
	return &mistake{"rails of `" + ld.addrOf(topo) + "` cannot be counted: it has no NICs", "write `nodes`, or the names of their NICs in `nics`"}
}

// shapeError reports counts that do not fit, at both attributes.
func (ld *loader) shapeError(topo instID, err *shape.Error) {
	a := ld.spanOfTerm(topo, err.A)
	var more []diag.Label
	if b := ld.spanOfTerm(topo, err.B); !b.IsZero() && b != a {
		more = append(more, diag.Label{Span: b, Where: ld.whereIs(b), Text: "what it has to fit"})
	}
	ld.fail(a, "`"+ld.addrOf(topo)+"`: "+err.Error(), err.Help, more...)
}

// spanOfTerm is where a count is written, else the block that should say it.
func (ld *loader) spanOfTerm(topo instID, t shape.Term) source.Span {
	in := ld.insts[topo]
	u := ld.mods[in.mod].unit
	at := in.decl
	if t.Tier != shape.Topology {
		u.kids(in.decl, func(k int32) {
			if u.decls[k].kind.String() == t.Tier.String() {
				at = k
			}
		})
	}
	d := &u.decls[at]
	for i := range u.attrsOf(d) {
		a := u.attr(d, i)
		if name := a.num.Name(); name == t.Attr || t.Attr == "count" && name == "switches" || t.Attr == "nics" && name == "nodes" {
			return a.at.in(u.fileOf(d, a).id)
		}
	}
	return u.spanOf(d)
}

// podOf is the position of a topology among the pods of the clos3 that joins it, 0 if none does. The clos3 stands in the same module or one
// around it.
func (ld *loader) podOf(topo instID) (int, *mistake) {
	for m := ld.mods[ld.insts[topo].mod]; m != nil; m = m.parent {
		if bad := ld.indexPods(m); bad != nil {
			return 0, bad
		}
	}
	return ld.podIx[topo], nil
}

// indexPods notes the places of the pods that the clos3 topologies of a module join.
func (ld *loader) indexPods(m *modinst) *mistake {
	if m.pods == finished {
		return nil
	}
	for _, f := range m.families {
		if f.kind != schema.Topology || m.unit.find(&m.unit.decls[f.decl], schema.APods) == nil {
			continue
		}
		if bad := ld.indexJoined(m, f); bad != nil {
			return bad
		}
	}
	m.pods = finished
	return nil
}

func (ld *loader) indexJoined(m *modinst, f *family) *mistake {
	d := &m.unit.decls[f.decl]
	if !ld.enter(&m.pods, "pods of "+ld.strs[d.head], m.unit.spanOf(d)) {
		return silent
	}
	defer ld.leave()
	if bad := ld.expand(f); bad != nil {
		return bad
	}
	for _, id := range f.insts {
		pods, ok := ld.attrOf(id, schema.APods)
		if !ok {
			return silent
		}
		for i, p := range ld.elements(pods) {
			if _, twice := ld.podIx[instID(p.N)]; !twice && p.Kind == Handle {
				ld.podIx[instID(p.N)] = i
			}
		}
	}
	return nil
}

// pairCables evaluates the cables of the spines and cores of a module that depend on the switch below.
func (ld *loader) pairCables(m *modinst) {
	for _, f := range m.families {
		if f.kind != schema.Topology {
			continue
		}
		for _, topo := range f.insts {
			ld.pairOf = map[instID]Value{}
			for kid := ld.insts[topo].first; kid != 0; kid = ld.insts[kid].next {
				if a := ld.pairCable(kid); a != nil && !ld.pairsOfSwitch(topo, kid, a) {
					return
				}
			}
		}
	}
}

// pairCable is the attribute `cable` of a tier if it depends on the tier below.
func (ld *loader) pairCable(id instID) *attr {
	in := &ld.insts[id]
	if in.decl < 0 || !in.kind.Tier() {
		return nil
	}
	u := ld.mods[in.mod].unit
	d := &u.decls[in.decl]
	if a := u.find(d, schema.ACable); a != nil && a.expr() != 0 && !a.bad && seesBelow(d, a, u.fileOf(d, a)) {
		return a
	}
	return nil
}

// seesBelow reports whether the cable of a tier names the switch below.
func seesBelow(d *udecl, a *attr, f *file) bool {
	return a.num == schema.ACable && a.expr() != 0 && d.kind.Tier() && f.exprs[a.expr()-1].deps&tierDeps(belowTier(d.kind)) != 0
}

// maxPairs bounds the pairs of switches whose cable is evaluated one by one.
const maxPairs = 1 << 18

// pairsOfSwitch evaluates the cable of one switch to every switch below that it is joined with.
func (ld *loader) pairsOfSwitch(topo, id instID, a *attr) bool {
	in := ld.insts[id]
	mod := ld.mods[in.mod]
	u := mod.unit
	below, m := ld.joinedBelow(topo, id)
	if m != nil {
		ld.fail(a.at.in(u.fileOf(&u.decls[in.decl], a).id), m.summary, m.help)
		return false
	}
	if in.index == 0 {
		ld.pairCount += len(below) * len(ld.tiers[tierKey{topo, in.kind}].insts)
	}
	if ld.pairCount > maxPairs {
		ld.fail(a.at.in(u.fileOf(&u.decls[in.decl], a).id), "cable is evaluated for more than "+itoa(maxPairs)+" pairs of switches", "let it depend on one end only, or divide the fabric")
		return false
	}
	vs := make([]Value, len(below))
	s := &scope{ld: ld, mod: mod, inst: id}
	need := u.fileOf(&u.decls[in.decl], a).exprs[a.expr()-1].deps
	byBelow := need&(tierDeps(in.kind)|needsSelf) == 0 // the upper end does not matter
	for i, b := range below {
		if b == 0 {
			continue
		}
		if v, ok := ld.pairOf[b]; ok && byBelow {
			vs[i] = v
			continue
		}
		s.below = b
		v, ok := ld.evalAttr(s, u, &u.decls[in.decl], a)
		if !ok {
			return false
		}
		if i > 0 && ld.sameObject(vs[i-1], v) {
			v = vs[i-1]
		} else {
			ld.noteValue(mod, &u.decls[in.decl], a, v)
		}
		vs[i] = v
		if byBelow {
			ld.pairOf[b] = v
		}
	}
	ld.pairVals[id] = vs
	return true
}

// joinedBelow is the switches below that a switch has links to, by the index that Config.CableTo takes; 0 where there is no link.
func (ld *loader) joinedBelow(topo, id instID) ([]instID, *mistake) {
	p, m := ld.planOf(topo)
	if m != nil {
		return nil, m
	}
	in := ld.insts[id]
	if in.kind == schema.Core {
		return ld.joinedPods(topo, p.CoreRole(int(in.index)).Group)
	}
	leaves, m := ld.tierBlocks(topo, schema.Leaf)
	if m != nil || p.Planes == 1 {
		return leaves, m
	}
	if m := ld.plans[topo].rails; m != nil {
		return nil, m
	}
	out := make([]instID, len(leaves))
	plane := p.SpineRole(int(in.index)).Plane
	for i, l := range leaves {
		if p.LeafRole(i).Plane == plane {
			out[i] = l
		}
	}
	return out, nil
}

// joinedPods is the spines at one position of every pod of a topology.
func (ld *loader) joinedPods(topo instID, position int) ([]instID, *mistake) {
	pods := []instID{topo}
	list, ok := ld.attrOf(topo, schema.APods)
	switch {
	case !ok:
		return nil, silent
	case list.Kind != Absent:
		pods = pods[:0]
		for _, h := range ld.elements(list) {
			pods = append(pods, instID(h.N))
		}
	}
	out := make([]instID, len(pods))
	for i, pod := range pods {
		spines, m := ld.tierBlocks(pod, schema.Spine)
		if m != nil {
			return nil, m
		}
		if position < len(spines) {
			out[i] = spines[position]
		}
	}
	return out, nil
}

// sameObject reports whether two values are equal objects of plain values.
func (ld *loader) sameObject(a, b Value) bool {
	if a.Kind != Object || b.Kind != Object || len(ld.maps[a.N]) != len(ld.maps[b.N]) {
		return a == b
	}
	for i, p := range ld.maps[a.N] {
		if p != ld.maps[b.N][i] {
			return false
		}
	}
	return true
}
