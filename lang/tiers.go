package lang

import (
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// tierKey names a tier of a topology.
type tierKey struct {
	topo instID
	kind schema.Kind
}

// tier is the switches of one tier of a topology, in index order: generated ones, or those that `switches` lists.
type tier struct {
	insts  []instID
	places []instID // of listed switches: the instances of the tier, one for each
	byName map[Str]instID
}

// tierDeps is what an expression depends on when it names the switch of a tier.
func tierDeps(k schema.Kind) deps {
	switch k {
	case schema.Leaf:
		return needsLeaf
	case schema.Spine:
		return needsSpine
	case schema.Core:
		return needsCore
	}
	return 0
}

// belowTier is the tier that the links below a tier lead to, None for leaves.
func belowTier(k schema.Kind) schema.Kind {
	switch k {
	case schema.Spine:
		return schema.Leaf
	case schema.Core:
		return schema.Spine
	}
	return schema.None
}

// tierInstances makes the switches of a tier: `count` of them, or for each that `switches` lists a block without a name.
func (ld *loader) tierInstances(m *modinst, di int32, topo instID, each func(instID)) bool {
	u := m.unit
	d := &u.decls[di]
	key := tierKey{topo, d.kind}
	if ld.tiers[key] != nil {
		return false // written twice, which was said
	}
	t := &tier{}
	ld.tiers[key] = t
	if a := u.find(d, schema.ASwitches); a != nil {
		return ld.tierPlaces(m, di, topo, t, a, each)
	}
	n, ok := ld.tierCount(m, di, topo)
	if !ok {
		return false
	}
	t.insts = make([]instID, 0, n)
	prefix := ld.strs[ld.insts[topo].name] + "-" + d.kind.String()
	for i := range n {
		id := ld.newInst(m, di, topo)
		if id == 0 {
			return false
		}
		in := &ld.insts[id]
		in.index, in.key = uint32(i), ld.str(strconv.Itoa(i))
		t.insts = append(t.insts, id)
		each(id)
		if d.flags&hasName != 0 {
			if !ld.nameOf(m, di, id) {
				return false
			}
		}
		if in = &ld.insts[id]; in.name == 0 {
			in.name = ld.str(prefix + strconv.Itoa(i))
			if why := badDeviceName(ld.strs[in.name]); why != "" {
				ld.fail(u.spanOf(d), "name "+quoteWord(ld.strs[in.name])+" of a "+d.kind.String()+" "+why, "write `name` in the tier")
				return false
			}
		}
	}
	return ld.tierNames(m, d, t)
}

// tierPlaces makes a block for each switch that a tier lists, in which `leaf`, `spine` or `core` stands for it. A tier that lists none has
// one block all the same, at which that is said.
func (ld *loader) tierPlaces(m *modinst, di int32, topo instID, t *tier, a *attr, each func(instID)) bool {
	if a.bad {
		return false
	}
	v, ok := ld.evalAttr(&scope{ld: ld, mod: m, inst: topo}, m.unit, &m.unit.decls[di], a)
	if !ok {
		return false
	}
	for _, h := range ld.elements(v) {
		if h.Kind == Handle {
			t.insts = append(t.insts, instID(h.N))
		}
	}
	for i := range max(len(t.insts), 1) {
		id := ld.newInst(m, di, topo)
		if id == 0 {
			return false
		}
		if len(t.insts) > 0 {
			in := &ld.insts[id]
			in.index, in.key = uint32(i), ld.str(strconv.Itoa(i))
		}
		t.places = append(t.places, id)
		each(id)
	}
	return true
}

// tierNames refuses two switches of one name.
func (ld *loader) tierNames(m *modinst, d *udecl, t *tier) bool {
	t.byName = make(map[Str]instID, len(t.insts))
	for _, id := range t.insts {
		in := &ld.insts[id]
		if first, ok := t.byName[in.name]; ok {
			at := m.unit.spanOf(d)
			if a := m.unit.find(d, schema.AName); a != nil {
				at = a.at.in(m.unit.fileOf(d, a).id)
			}
			ld.fail(at, "`"+ld.addrOf(first)+"` and `"+ld.addrOf(id)+"` are both called "+quoteWord(ld.strs[in.name]),
				"let the name depend on "+d.kind.String()+".index")
			return false
		}
		t.byName[in.name] = id
	}
	return true
}

// tierCount is how many switches a tier has.
func (ld *loader) tierCount(m *modinst, di int32, topo instID) (int, bool) {
	u := m.unit
	d := &u.decls[di]
	if a := u.find(d, schema.ASwitches); a != nil {
		if a.bad {
			return 0, false
		}
		v, ok := ld.evalAttr(&scope{ld: ld, mod: m, inst: topo}, u, d, a)
		if !ok || v.Kind != List {
			return 1, ok
		}
		return len(ld.lists[v.N]), true
	}
	a := u.find(d, schema.ACount)
	if a == nil || a.bad {
		return 0, false
	}
	v, ok := ld.evalAttr(&scope{ld: ld, mod: m, inst: topo}, u, d, a)
	if ok && v.Kind != Int {
		ld.fail(a.at.in(u.fileOf(d, a).id), "count is null", "write how many switches the tier has")
		return 0, false
	}
	return int(v.N), ok
}

// tierOf finds what `leaf`, `spine` or `core` stands for.
func (s *scope) tierOf(word string) instID {
	if s.below != 0 && s.ld.insts[s.below].kind.String() == word {
		return s.below
	}
	id := s.ld.memberOf(s.inst, word)
	if id != 0 && s.ld.insts[id].key == 0 {
		return 0
	}
	return id
}

func (s *scope) noTier(word string) *mistake {
	help := "it is the switch of a `" + word + "` tier, and stands in that tier; one from outside is topology.NAME." + word + "[INDEX]"
	return &mistake{"`" + word + "` stands for nothing here", help}
}

// stepTier reads something of a generated switch through `leaf`, `spine` or `core`.
func (ld *loader) stepTier(id instID, name string) (val, *mistake) {
	in := ld.insts[id]
	switch name {
	case "name":
		if t := ld.tiers[tierKey{in.parent, in.kind}]; t != nil && t.places != nil && int(in.index) < len(t.insts) {
			return ld.stepInst(t.insts[in.index], "name")
		}
		if in.naming || in.name == 0 {
			return val{}, &mistake{"the name of the " + in.kind.String() + " is what is being computed here", "write it from " + in.kind.String() + ".index"}
		}
		return val{v: cty.StringVal(ld.strs[in.name])}, nil
	case "index":
		return val{v: cty.NumberIntVal(int64(in.index))}, nil
	case "pod":
		pod, m := ld.podOf(in.parent)
		return val{v: cty.NumberIntVal(int64(pod))}, m
	}
	role, m := ld.roleOf(id)
	if m != nil {
		return val{}, m
	}
	n := map[string]int{"group": role.Group, "plane": role.Plane, "rail": role.Rail}[name]
	return val{v: cty.NumberIntVal(int64(n))}, nil
}

// stepTierKids picks a switch of a tier, by index or name.
func (ld *loader) stepTierKids(v val, name string) (val, *mistake) {
	insts, m := ld.tierInsts(v.inst, v.kind)
	if m != nil {
		return val{}, m
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(insts) {
		return val{form: isInst, ld: ld, inst: insts[i]}, nil
	}
	if n, ok := ld.lookup(name); ok && len(insts) > 0 {
		if id := ld.tiers[tierKey{v.inst, v.kind}].named(ld, n); id != 0 {
			return val{form: isInst, ld: ld, inst: id}, nil
		}
	}
	what := "`" + ld.addrOf(v.inst) + "." + v.kind.String() + "`"
	switch {
	case len(insts) == 0:
		return val{}, &mistake{"`" + ld.addrOf(v.inst) + "` has no " + v.kind.String(), "write a `" + v.kind.String() + "` block in it, or leave the reference out"}
	case schema.Lookup(v.kind, name) != nil || schema.ByWord(v.kind, name) != schema.None:
		return val{}, &mistake{what + " is " + itoa(len(insts)) + " switches, and `" + name + "` is of one", "pick one by index or name: " + v.kind.String() + "[0]." + name}
	}
	if _, err := strconv.Atoi(name); err == nil {
		return val{}, &mistake{what + " has no index " + name, "it has " + itoa(len(insts)) + ", counted from 0"}
	}
	names := make([]string, len(insts))
	for i, id := range insts {
		names[i] = ld.strs[ld.insts[id].name]
	}
	return val{}, ld.noSuch(what+" has no "+quoteWord(name), name, names)
}

// tierInsts is the switches of a tier in index order.
func (ld *loader) tierInsts(topo instID, k schema.Kind) ([]instID, *mistake) {
	if m := ld.expandKids(topo); m != nil {
		return nil, m
	}
	if t := ld.tiers[tierKey{topo, k}]; t != nil {
		return t.insts, nil
	}
	return nil, nil
}

// tierBlocks is what `leaf`, `spine` or `core` stands for, switch by switch: the generated switches, or the places of listed ones.
func (ld *loader) tierBlocks(topo instID, k schema.Kind) ([]instID, *mistake) {
	insts, m := ld.tierInsts(topo, k)
	if t := ld.tiers[tierKey{topo, k}]; m == nil && len(insts) > 0 && t.places != nil {
		return t.places, nil
	}
	return insts, m
}

func (t *tier) named(ld *loader, name Str) instID {
	if t.byName == nil {
		t.byName = make(map[Str]instID, len(t.insts))
		for _, id := range t.insts {
			t.byName[ld.insts[id].name] = id
		}
	}
	return t.byName[name]
}

// tierList is a tier as a list of references.
func (ld *loader) tierList(topo instID, k schema.Kind) (cty.Value, *mistake) {
	insts, m := ld.tierInsts(topo, k)
	if m != nil {
		return cty.DynamicVal, m
	}
	if len(insts) == 0 {
		return cty.ListValEmpty(handleTypes[k]), nil
	}
	vs := make([]cty.Value, len(insts))
	for i, id := range insts {
		vs[i] = ld.handle(id)
	}
	return cty.ListVal(vs), nil
}

// attrOf evaluates one attribute of an instance ahead of the others.
func (ld *loader) attrOf(id instID, n schema.Attr) (Value, bool) {
	in := ld.insts[id]
	m := ld.mods[in.mod]
	d := &m.unit.decls[in.decl]
	a := m.unit.find(d, n)
	switch {
	case a == nil:
		return Value{}, true
	case a.bad:
		return Value{}, false
	}
	return ld.evalAttr(&scope{ld: ld, mod: m, inst: id}, m.unit, d, a)
}

func (ld *loader) elements(v Value) []Value {
	switch v.Kind {
	case Absent:
		return nil
	case List:
		return ld.lists[v.N]
	}
	return []Value{v}
}

// tiersFit reports tiers that a kind of topology does not have, lacks or has twice, and attributes of a tier that exclude each other. It needs
// no evaluation.
func (ld *loader) tiersFit(u *unit, i int32) {
	d := &u.decls[i]
	kind := ld.strs[d.first]
	if !slices.Contains(schema.TopologyKinds, kind) {
		return // its labels were reported
	}
	have := map[schema.Kind]int32{}
	u.kids(i, func(k int32) {
		t := &u.decls[k]
		if first, ok := have[t.kind]; ok {
			ld.fail(u.spanOf(t), "`"+ld.strs[d.head]+"` has two "+t.kind.String()+" tiers", "join them", diag.Label{Span: u.spanOf(&u.decls[first]), Text: "first written"})
			return
		}
		have[t.kind] = k
		ld.tierAttrsFit(u, k)
	})
	flat := kind == "ring" || kind == "full_mesh"
	allowed := []schema.Kind{schema.Leaf, schema.Spine}
	switch {
	case flat:
		allowed = allowed[:1]
	case kind == "clos3":
		allowed = append(allowed, schema.Core)
	}
	for k, t := range have {
		if !slices.Contains(allowed, k) {
			ld.fail(u.spanOf(&u.decls[t]), "a "+kind+" topology has no "+k.String()+" tier", "it has "+quotedKinds(allowed))
		}
	}
	if t, ok := have[schema.Leaf]; ok && !flat && u.has(&u.decls[t], schema.AUpPorts) {
		if _, ok := have[schema.Spine]; !ok {
			a := u.find(&u.decls[t], schema.AUpPorts)
			ld.fail(a.at.in(u.fileOf(&u.decls[t], a).id), "`up_ports` of a leaf lead to spines, and `"+ld.strs[d.head]+"` has none", "write a `spine` block, or leave up_ports out")
		}
	}
	pods := u.find(d, schema.APods)
	_, leaf := have[schema.Leaf]
	_, spine := have[schema.Spine]
	_, core := have[schema.Core]
	switch {
	case pods != nil && kind != "clos3":
		ld.fail(pods.at.in(u.fileOf(d, pods).id), "pods stand in a clos3 topology, and this is "+kind, "leave `pods` out, or write topology \"clos3\"")
	case pods != nil && !core:
		ld.fail(u.spanOf(d), "`"+ld.strs[d.head]+"` has pods and no core tier to join them", "write a `core` block")
	case pods != nil && (leaf || spine):
		ld.fail(u.spanOf(d), "`"+ld.strs[d.head]+"` has pods and tiers of its own below the core", "leaves and spines stand in the pods")
	case pods == nil && !leaf && !(flat && u.has(d, schema.ANodes)):
		ld.fail(u.spanOf(d), "`"+ld.strs[d.head]+"` needs a leaf tier", "write a `leaf` block")
	case kind == "clos3" && !core && pods == nil:
		ld.fail(u.spanOf(d), "`"+ld.strs[d.head]+"` has no core tier", "write a `core` block; two tiers are a leaf_spine topology")
	case core && !spine && pods == nil:
		ld.fail(u.spanOf(&u.decls[have[schema.Core]]), "`"+ld.strs[d.head]+"` has a core tier and neither spines nor pods below it", "write a `spine` block, or pods = [...]")
	}
}

func quotedKinds(ks []schema.Kind) string {
	words := make([]string, len(ks))
	for i, k := range ks {
		words[i] = k.String()
	}
	return quotedPlain(words)
}

// tierAttrsFit reports attributes of a tier that exclude each other.
func (ld *loader) tierAttrsFit(u *unit, i int32) {
	t := &u.decls[i]
	place := func(n schema.Attr) source.Span {
		a := u.find(t, n)
		return a.at.in(u.fileOf(t, a).id)
	}
	if !u.has(t, schema.ACount) && !u.has(t, schema.ASwitches) {
		ld.fail(u.spanOf(t), "`"+t.kind.String()+"` needs `count` or `switches`", "count = 4 generates four; switches = [...] takes written ones")
	}
	both := func(a, b schema.Attr, help string) {
		if u.has(t, a) && u.has(t, b) {
			ld.fail(place(b), "`"+t.kind.String()+"` has `"+a.Name()+"` and `"+b.Name()+"`", help, diag.Label{Span: place(a), Text: "first written"})
		}
	}
	both(schema.ACount, schema.ASwitches, "generate switches, or list written ones")
	both(schema.ADownPorts, schema.APorts, "`ports` is for a tier whose ports all go down")
	both(schema.AUpPorts, schema.APorts, "`ports` says that all go down: write `down_ports` for those that do")
	if u.has(t, schema.AAddressing) && !u.has(t, schema.ASubnet) {
		ld.fail(place(schema.AAddressing), "`"+t.kind.String()+"` has `addressing` and no `subnet` that it speaks of", "write subnet, or leave addressing out")
	}
	if !u.has(t, schema.ASwitches) {
		return
	}
	for _, n := range []schema.Attr{
		schema.AName, schema.AOS, schema.AModel, schema.AMgmt, schema.AConnection, schema.ARole, schema.AManage, schema.AVars, schema.ABuffer, schema.AFirmware, schema.AHash, schema.ARack,
		schema.ADescription,
	} {
		if u.has(t, n) {
			ld.fail(place(n), "`"+n.Name()+"` of a tier of written switches says nothing", "it stands in the blocks of the switches")
			return
		}
	}
	u.kids(i, func(k int32) {
		inner := &u.decls[k]
		ld.fail(u.spanOf(inner), "`"+inner.kind.String()+"` in a tier of written switches says nothing", "it stands in the blocks of the switches")
	})
}
