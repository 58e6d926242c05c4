package lang

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
)

// instID is the index of a block instance while a configuration is evaluated.
// The numbers of the Config are given at the end, when nothing is added any
// more.
type instID uint32

// inst is one instance of a block.
type inst struct {
	kind             schema.Kind
	kids             progress // of expanding the blocks inside
	done             bool     // its attributes are evaluated
	naming           bool     // its name is being computed
	name, key, label Str
	mod              uint32
	decl             int32 // of the module's unit; -1: an implied port
	declID           DeclID
	parent           instID
	first, last      instID // children
	next             instID // sibling
	count            uint32 // children
	index            uint32
	each             int32 // in loader.eaches; 0: that of the parent
	attrs            span32
}

type progress uint8

const (
	notYet progress = iota
	underWay
	finished
)

type famKey struct {
	kind  schema.Kind
	label Str
}

// family is the instances of one block at the top of a module.
type family struct {
	mod    *modinst
	kind   schema.Kind
	label  Str
	decl   int32
	state  progress
	failed bool
	single bool
	insts  []instID // in key order
	byKey  map[Str]instID
	asCty  cty.Value
}

func (ld *loader) addFamily(m *modinst, t int32) {
	d := &m.unit.decls[t]
	f := &family{mod: m, kind: d.kind, label: d.label, decl: t, single: d.flags&hasForEach == 0}
	if d.flags&isTwice != 0 {
		return
	}
	m.families = append(m.families, f)
	switch d.kind {
	case schema.Target, schema.Override, schema.Rocec, schema.Defaults:
		return
	}
	m.byName[famKey{d.kind, d.label}] = f
}

func (m *modinst) familyNames(k schema.Kind) []string {
	var names []string
	for _, f := range m.families {
		if f.kind == k {
			names = append(names, m.text(f.label))
		}
	}
	return names
}

// findFamily looks a block up by its label: in the module, then among what is
// predeclared.
func (ld *loader) findFamily(m *modinst, k schema.Kind, label string) *family {
	if n, ok := ld.lookup(label); ok {
		if f := m.byName[famKey{k, n}]; f != nil {
			return f
		}
	}
	if k == schema.QoS {
		return ld.packFamily(k, label)
	}
	return nil
}

func (f *family) find(ld *loader, key string) instID {
	n, ok := ld.lookup(key)
	if !ok {
		return 0
	}
	if f.byKey == nil {
		f.byKey = make(map[Str]instID, len(f.insts))
		for _, id := range f.insts {
			f.byKey[ld.insts[id].key] = id
		}
	}
	return f.byKey[n]
}

func (f *family) keys(ld *loader) []string {
	names := make([]string, len(f.insts))
	for i, id := range f.insts {
		names[i] = ld.strs[ld.insts[id].key]
	}
	return names
}

// asMap is the family as a map of references, made once.
func (f *family) asMap(ld *loader) cty.Value {
	if f.asCty != cty.NilVal {
		return f.asCty
	}
	f.asCty = cty.MapValEmpty(handleTypes[f.kind])
	if len(f.insts) > 0 {
		m := make(map[string]cty.Value, len(f.insts))
		for _, id := range f.insts {
			m[ld.strs[ld.insts[id].key]] = ld.handle(id)
		}
		f.asCty = cty.MapVal(m)
	}
	return f.asCty
}

func (ld *loader) kidsMap(id instID, k schema.Kind) cty.Value {
	m := map[string]cty.Value{}
	for kid := ld.insts[id].first; kid != 0; kid = ld.insts[kid].next {
		if in := &ld.insts[kid]; in.kind == k && in.decl >= 0 {
			m[ld.strs[in.name]] = ld.handle(kid)
		}
	}
	if len(m) == 0 {
		return cty.MapValEmpty(handleTypes[k])
	}
	return cty.MapVal(m)
}

// expand makes the instances of a family. Its attributes are not evaluated.
func (ld *loader) expand(f *family) *mistake {
	switch {
	case f.state == finished && f.failed:
		return silent
	case f.state == finished:
		return nil
	}
	d := &f.mod.unit.decls[f.decl]
	if !ld.enter(f, ld.strs[d.head], f.mod.unit.spanOf(d)) {
		f.failed = true
		return silent
	}
	f.failed = !ld.instances(f.mod, f.decl, 0, func(id instID) { f.insts = append(f.insts, id) }) || f.failed
	f.state = finished
	ld.leave()
	if f.failed {
		return silent
	}
	return nil
}

// instances makes the instances of a block under a parent.
func (ld *loader) instances(m *modinst, di int32, parent instID, each func(instID)) bool {
	u := m.unit
	d := &u.decls[di]
	if d.kind.Tier() {
		return ld.tierInstances(m, di, parent, each)
	}
	if d.flags&(hasForEach|hasEnabled|hasName|hasRange) == 0 {
		if d.kind == schema.Except {
			return ld.exceptOf(m, di, parent, each)
		}
		id := ld.newInst(m, di, parent)
		if id == 0 {
			return false
		}
		ld.insts[id].name = d.label
		each(id)
		return true
	}
	s := &scope{ld: ld, mod: m, inst: parent}
	if d.flags&hasEnabled != 0 && d.kind != schema.Except {
		on, ok := ld.enabled(s, u, d)
		if !ok {
			return false
		}
		if !on {
			return true
		}
	}
	switch {
	case d.kind == schema.Except:
		return ld.exceptOf(m, di, parent, each)
	case d.flags&hasForEach != 0:
		return ld.eachInstance(m, di, parent, s, each)
	case d.flags&hasRange != 0:
		return ld.rangeInstances(m, di, parent, each)
	}
	id := ld.newInst(m, di, parent)
	if id == 0 {
		return false
	}
	ld.insts[id].name = d.label
	ok := ld.nameOf(m, di, id)
	each(id)
	return ok
}

func (ld *loader) enabled(s *scope, u *unit, d *udecl) (bool, bool) {
	for i := range u.attrsOf(d) {
		a := u.attr(d, i)
		if a.num != schema.AEnabled {
			continue
		}
		if a.bad {
			return true, false
		}
		if a.expr() == 0 {
			return a.kind == Absent || a.n == 1, true
		}
		v, ok := ld.evalAttr(s, u, d, a)
		if !ok {
			return true, false
		}
		return v.Kind == Absent || v.N == 1, true
	}
	return true, true
}

func (ld *loader) eachInstance(m *modinst, di int32, parent instID, s *scope, each func(instID)) bool {
	u := m.unit
	d := &u.decls[di]
	var a *attr
	for i := range u.attrsOf(d) {
		if u.attr(d, i).num == schema.AForEach {
			a = u.attr(d, i)
		}
	}
	list, ok := ld.forEach(s, u.fileOf(d, a), a.expr(), a.at)
	if !ok {
		return false
	}
	if parent == 0 {
		f := u.fileOf(d, a)
		ld.place(m, di, list, &f.exprs[a.expr()-1], f.id)
	}
	device := d.kind == schema.Switch || d.kind == schema.Node
	for i, e := range list {
		id := ld.newInst(m, di, parent)
		if id == 0 {
			return false
		}
		in := &ld.insts[id]
		in.name = ld.str(e.key)
		in.key, in.index = in.name, uint32(i)
		in.each = int32(len(ld.eaches))
		ld.eaches = append(ld.eaches, e)
		if d.flags&hasName != 0 {
			ok = ld.nameOf(m, di, id) && ok
		} else if device {
			if why := badDeviceName(e.key); why != "" {
				ld.fail(a.at.in(u.fileOf(d, a).id), "name "+quoteWord(e.key)+" of "+d.kind.String()+" "+why, deviceNameHelp+"; `name` may differ from the key")
				ok = false
			}
		}
		each(id)
	}
	return ok
}

// rangeInstances makes one instance for each member of a label.
func (ld *loader) rangeInstances(m *modinst, di int32, parent instID, each func(instID)) bool {
	d := &m.unit.decls[di]
	for i, mem := range ld.members(m.unit, d) {
		id := ld.newInst(m, di, parent)
		if id == 0 {
			return false
		}
		in := &ld.insts[id]
		in.name, in.key, in.index = mem.name, mem.key, uint32(i)
		each(id)
	}
	return true
}

func (ld *loader) members(u *unit, d *udecl) []member {
	list, ok := u.ranges[d.self]
	if !ok {
		r, err := funcs.ParseRange(ld.strs[d.label])
		if err != nil {
			return nil
		}
		list = make([]member, 0, min(r.Len(), funcs.MaxRange))
		r.Each(func(mem funcs.Member) bool {
			list = append(list, member{ld.str(mem.Name), ld.str(mem.Key)})
			return true
		})
		u.ranges[d.self] = list
	}
	return list
}

// memberKeys lists the varying texts of a member, one for each range.
func (ld *loader) memberKeys(id instID) []string {
	in := &ld.insts[id]
	if in.decl < 0 || ld.mods[in.mod].unit.decls[in.decl].flags&hasRange == 0 {
		return nil
	}
	r, err := funcs.ParseRange(ld.strs[in.label])
	if err != nil {
		return nil
	}
	return r.At(int(in.index)).Keys
}

// nameOf evaluates the attribute `name` of an instance.
func (ld *loader) nameOf(m *modinst, di int32, id instID) bool {
	u := m.unit
	d := &u.decls[di]
	for i := range u.attrsOf(d) {
		a := u.attr(d, i)
		if a.num != schema.AName {
			continue
		}
		if a.bad {
			return false
		}
		v, ok := a.value(), true
		if a.expr() != 0 {
			ld.insts[id].naming = true
			v, ok = ld.evalAttr(&scope{ld: ld, mod: m, inst: id}, u, d, a)
			ld.insts[id].naming = false
		}
		if !ok || v.Kind != Text {
			return ok
		}
		name := ld.strs[v.N]
		why, help := badLabel(name), labelHelp
		if d.kind.Device() {
			why, help = badDeviceName(name), deviceNameHelp
		}
		if why != "" {
			ld.fail(a.at.in(u.fileOf(d, a).id), "name "+quoteWord(name)+" "+why, help)
			return false
		}
		ld.insts[id].name = Str(v.N)
	}
	return true
}

// newInst adds an instance as the last child of a parent.
func (ld *loader) newInst(m *modinst, di int32, parent instID) instID {
	if len(ld.insts) > ld.limit {
		if !ld.full { // what comes after it has no room either
			ld.full = true
			ld.fail(m.unit.spanOf(&m.unit.decls[di]), "the configuration has more than "+itoa(ld.limit)+" blocks", blocksHelp)
		}
		return 0
	}
	d := &m.unit.decls[di]
	return ld.link(inst{kind: d.kind, mod: m.id, decl: di, declID: m.declBase + DeclID(di), label: d.label, parent: parent})
}

func (ld *loader) link(in inst) instID {
	id := instID(len(ld.insts))
	ld.insts = append(ld.insts, in)
	if in.parent != 0 {
		p := &ld.insts[in.parent]
		if p.last == 0 {
			p.first = id
		} else {
			ld.insts[p.last].next = id
		}
		p.last = id
		p.count++
		if ld.kidHas[in.parent] {
			delete(ld.kidHas, in.parent)
		}
	}
	return id
}
