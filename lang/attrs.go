package lang

import (
	"slices"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// declState is what is known of a written block in one module instance, so that
// what its instances share is evaluated once.
type declState struct {
	attrs    span32 // shared by all instances, or by those under parent
	parent   instID
	partly   int32 // index+1 in modinst.partly; 0: none
	shape    sharing
	looked   bool // at what the expressions depend on
	ready    bool
	matched  bool // of an except: it speaks of some instance
	kidsSeen bool // the names of the blocks inside are checked
}

// partlyShared is what some instances of a written block share.
type partlyShared struct {
	members  []span32  // by member of the label; n = noSpan: not evaluated
	fixed    []Value   // of attributes that depend on no instance, by position; nil where all instances share all
	byMember [][]Value // of attributes that depend on the member alone, by position and member
}

func (m *modinst) partlyOf(st *declState) *partlyShared {
	if st.partly == 0 {
		m.partly = append(m.partly, &partlyShared{})
		st.partly = int32(len(m.partly))
	}
	return m.partly[st.partly-1]
}

// sharing says which instances of a block have the same values. It is a set: what depends on the member and on the parent differs in each.
type sharing uint8

const (
	forAll    sharing = 0
	forMember sharing = 1 // those of the same member of the label, whatever they stand in
	forParent sharing = 2
	forOne    sharing = 3
)

const (
	noSpan    = 1<<32 - 1
	notValued = ValueKind(255)
)

// evalAttrs evaluates the attributes of an instance, or takes over those of
// another that must be the same.
func (ld *loader) evalAttrs(id instID) {
	in := &ld.insts[id]
	if in.done {
		return
	}
	in.done = true
	m := ld.mods[in.mod]
	d := &m.unit.decls[in.decl]
	st := &m.state[in.decl]
	if !st.looked {
		st.shape, st.looked = ld.shapeOf(m.unit, d), true
	}
	switch {
	case st.ready && (st.shape == forAll || st.shape == forParent && st.parent == in.parent):
		in.attrs = st.attrs
		return
	case st.shape == forMember:
		if of := m.partlyOf(st).members; int(in.index) < len(of) && of[in.index].n != noSpan {
			in.attrs = of[in.index]
			return
		}
	}
	out := ld.attrsNow(m, d, st, id)
	in = &ld.insts[id]
	in.attrs = out
	st.attrs, st.parent, st.ready = out, in.parent, true
	if st.shape == forMember {
		p := m.partlyOf(st)
		for int(in.index) >= len(p.members) {
			p.members = append(p.members, span32{n: noSpan})
		}
		p.members[in.index] = out
	}
}

// shapeOf looks at what the expressions of a block depend on.
func (ld *loader) shapeOf(u *unit, d *udecl) sharing {
	if d.flags&hasDynamic == 0 {
		return forAll
	}
	shape := forAll
	for i := range u.attrsOf(d) {
		a := u.attr(d, i)
		if a.expr() == 0 {
			continue
		}
		if a.num == schema.AForEach || a.num == schema.AEnabled || later(d, a, u.fileOf(d, a)) {
			continue
		}
		shape |= sharedBy(d, u.fileOf(d, a).exprs[a.expr()-1].deps)
	}
	return shape
}

func sharedBy(d *udecl, need deps) sharing {
	device := d.kind.Device()
	member := d.kind == schema.Port || d.kind == schema.NIC || d.kind == schema.Interface
	shape := forAll
	if need&needsMember != 0 && member && d.flags&(hasForEach|hasName) == 0 {
		shape, need = forMember, need&^needsMember
	}
	switch {
	case need&needsMember != 0 && member, need&needsEach != 0 && d.flags&hasForEach != 0, need&needsSelf != 0 && device, need&tierDeps(d.kind) != 0:
		return forOne
	case need&(needsMember|needsEach|needsSelf|needsTier) != 0:
		return shape | forParent
	}
	return shape
}

// later reports whether an attribute is evaluated by itself, after the blocks: the cable of a tier that names the switch below, and what
// connections say of a device.
func later(d *udecl, a *attr, f *file) bool { return seesBelow(d, a, f) || ofDevice(d, a, f) }

func (ld *loader) attrsNow(m *modinst, d *udecl, st *declState, id instID) span32 {
	u := m.unit
	attrs := u.attrsOf(d)
	var room [32]Attr
	vals := room[:0]
	if d.flags&hasDynamic == 0 || !slices.ContainsFunc(attrs, func(a attr) bool { return a.kind == valExpr }) {
		for i := range attrs {
			a := &attrs[i]
			v := a.value()
			if a.bad || a.num == schema.AEnabled || a.num == schema.AVars {
				continue
			}
			if pending(v.Kind) {
				v, _ = ld.settle(m, u.fileOf(d, a), a, v, &a.def.of().Type)
			}
			if v.Kind != Absent {
				ld.noteValue(m, d, a, v)
				vals = append(vals, Attr{a.num, v.Kind, v.N})
			}
		}
		return ld.enterAttrs(vals)
	}
	var fixed []Value
	var once [16]Value
	if st.shape == forAll && len(attrs) <= len(once) {
		fixed = once[:len(attrs)] // nobody asks again
		ld.fixedOnes(m, d, fixed, id)
	} else {
		p := m.partlyOf(st)
		if p.fixed == nil {
			p.fixed = make([]Value, len(attrs))
			ld.fixedOnes(m, d, p.fixed, id)
		}
		fixed = p.fixed
	}
	s := ld.scopeFor(m, id)
	for i := range attrs {
		a := &attrs[i]
		if a.bad || a.num == schema.AForEach || a.num == schema.AEnabled || later(d, a, u.fileOf(d, a)) {
			continue
		}
		v := fixed[i]
		if a.expr() != 0 {
			if shape := sharedBy(d, u.fileOf(d, a).exprs[a.expr()-1].deps); shape != forAll {
				v = ld.valueFor(s, d, st, i, shape)
			}
		}
		if v.Kind == Absent || a.num == schema.AVars {
			continue
		}
		if a.num == schema.AObserved {
			vals = ld.observedNow(vals, m, d, a, v)
			continue
		}
		vals = append(vals, Attr{a.num, v.Kind, v.N})
	}
	ld.scopes = append(ld.scopes, s)
	return ld.enterAttrs(vals)
}

// enterAttrs enters the values of a block. They are collected before, as evaluating
// one may enter those of other blocks.
func (ld *loader) enterAttrs(vals []Attr) span32 {
	first := len(ld.cfg.Attrs)
	ld.cfg.Attrs = append(ld.cfg.Attrs, vals...)
	return span32{uint32(first), uint32(len(vals))}
}

// scopeFor is the scope of an instance. Scopes are used again, with what the library keeps of them; whoever is done gives them back.
func (ld *loader) scopeFor(m *modinst, id instID) *scope {
	if n := len(ld.scopes); n > 0 {
		s := ld.scopes[n-1]
		ld.scopes = ld.scopes[:n-1]
		if s.mod != m {
			s.ctx = nil
		}
		s.mod, s.inst = m, id
		return s
	}
	return &scope{ld: ld, mod: m, inst: id}
}

// valueFor evaluates an attribute for the instance of a scope, or takes it over from one that has the same.
func (ld *loader) valueFor(s *scope, d *udecl, st *declState, i int, shape sharing) Value {
	u := s.mod.unit
	a := u.attr(d, i)
	index := int(ld.insts[s.inst].index)
	if shape == forMember {
		p := s.mod.partlyOf(st)
		if p.byMember == nil {
			p.byMember = make([][]Value, d.attrs.n)
		}
		for index >= len(p.byMember[i]) {
			p.byMember[i] = append(p.byMember[i], Value{Kind: notValued})
		}
		if v := p.byMember[i][index]; v.Kind != notValued {
			return v
		}
	}
	v, _ := ld.evalAttr(s, u, d, a)
	if v.Kind != Absent {
		ld.noteValue(s.mod, d, a, v)
	}
	if shape == forMember {
		s.mod.partlyOf(st).byMember[i][index] = v
	}
	return v
}

// fixedOnes evaluates what depends on no instance.
func (ld *loader) fixedOnes(m *modinst, d *udecl, fixed []Value, id instID) {
	u := m.unit
	var s *scope // until an expression takes one
	for i := range u.attrsOf(d) {
		a := u.attr(d, i)
		if a.bad || a.num == schema.AForEach || a.num == schema.AEnabled || later(d, a, u.fileOf(d, a)) {
			continue
		}
		v := a.value()
		switch {
		case a.expr() == 0 && pending(v.Kind):
			v, _ = ld.settle(m, u.fileOf(d, a), a, v, &a.def.of().Type)
		case a.expr() != 0:
			if sharedBy(d, u.fileOf(d, a).exprs[a.expr()-1].deps) != forAll {
				continue
			}
			if s == nil {
				s = &scope{ld: ld, mod: m, inst: id}
			}
			v, _ = ld.evalAttr(s, u, d, a)
		}
		if v.Kind != Absent {
			ld.noteValue(m, d, a, v)
		}
		fixed[i] = v
	}
}

// evalAttr evaluates one attribute in a scope, to a typed value.
func (ld *loader) evalAttr(s *scope, u *unit, d *udecl, a *attr) (Value, bool) {
	f := u.fileOf(d, a)
	if a.expr() == 0 {
		if pending(a.kind) {
			return ld.settle(s.mod, f, a, a.value(), &a.def.of().Type)
		}
		return a.value(), true
	}
	span := a.at.in(f.id)
	if !ld.push(frame{key: a, inst: s.inst, head: d.head, at: span}) {
		return Value{}, false
	}
	defer ld.leave()
	v, ok := s.eval(f, &f.exprs[a.expr()-1])
	if !ok {
		return Value{}, false
	}
	if v.IsMarked() || !v.Type().IsPrimitiveType() {
		if !a.def.of().Secret && v.HasMarkDeep(funcs.Sensitive) {
			ld.secretValue(span, d, a, v)
			return Value{}, false
		}
		v, _ = v.UnmarkDeep()
	}
	ld.converted = converted{f, a}
	if a.num == schema.ASet {
		return ld.overrideSet(s, u, d, f, a, v)
	}
	out, bad := ld.convert(&a.def.of().Type, a.num.Name(), v)
	if bad != nil && a.def.of().Type.Base == schema.EnvVar {
		ld.fail(u.spanOf(d), bad.summary, bad.help) // where it was written a secret may stand
		return Value{}, false
	}
	if bad != nil {
		ld.fail(span, bad.summary, bad.help, append(ld.originLabel(s.mod, f, a), ld.rowLabel(s, f, a)...)...)
		return Value{}, false
	}
	if out.Kind == Absent {
		ld.cfg.noteNull(s.mod.declBase+DeclID(d.self), a.num)
	}
	if def := a.def.of(); out.Kind == Absent && def.Required {
		ld.fail(span, a.num.Name()+" is null, which leaves it out, and `"+ld.strs[d.head]+"` needs it", "write "+wanted(&def.Type),
			append(ld.originLabel(s.mod, f, a), ld.rowLabel(s, f, a)...)...)
		return Value{}, false
	}
	return out, true
}

// originLabel shows where a value was written that does not fit where it is
// used.
func (ld *loader) originLabel(m *modinst, f *file, a *attr) []diag.Label {
	at := ld.originOf(m, f.exprs[a.expr()-1].tree, 0)
	if at.IsZero() {
		return nil
	}
	return []diag.Label{{Span: at, Where: ld.whereIs(at), Text: "value comes from"}}
}

// rowLabel shows the row of a table that a value which does not fit was made of.
func (ld *loader) rowLabel(s *scope, f *file, a *attr) []diag.Label {
	e := &f.exprs[a.expr()-1]
	if e.deps&needsEach == 0 {
		return nil
	}
	each := s.eachOf()
	if each == nil || each.rows == nil {
		return nil
	}
	at := each.rows.KeyOffset[each.row]
	span := source.Span{File: ld.rowFiles[each.rows], Start: at.Start, Len: at.Len}
	return []diag.Label{{Span: span, Text: "value comes from"}}
}

// settle resolves the references in a value.
func (ld *loader) settle(m *modinst, f *file, a *attr, v Value, t *schema.Type) (Value, bool) {
	switch v.Kind {
	case valRef:
		return ld.settleRef(m, f, a, v, t)
	case valPendList:
		one, _ := t.Element()
		list := ld.lists[v.N]
		out := ld.newValues(len(list))
		ok := true
		for i, el := range list {
			r, good := ld.settle(m, f, a, el, &one)
			out[i], ok = r, ok && good && r.Kind != Absent
		}
		if !ok {
			return Value{}, false
		}
		if t.Joins() {
			out = ld.flatten(out)
		}
		return ld.list(out), true
	case valPendMap, valPendObj:
		pairs := ld.maps[v.N]
		out := ld.newPairs(len(pairs))
		ok := true
		for i, p := range pairs {
			et := t.Elem
			if v.Kind == valPendObj {
				et = fieldType(t, p.Key)
			}
			if et == nil {
				et = &anyType
			}
			r, good := ld.settle(m, f, a, p.Val, et)
			out[i], ok = Pair{p.Key, r}, ok && good
		}
		if !ok {
			return Value{}, false
		}
		kind := Map
		if v.Kind == valPendObj {
			kind = Object
		}
		return ld.pairsOf(kind, out), true
	}
	return v, true
}

func fieldType(t *schema.Type, key Value) *schema.Type {
	for i := range t.Fields {
		if fieldKey(t.Fields[i].Num) == key {
			return &t.Fields[i].Type
		}
	}
	return nil
}

// settledRef is a reference as the value of an attribute, wherever in a file it is
// written.
type settledRef struct {
	file *file
	ref  uint32
	def  attrDef
}

// settleRef resolves a written reference to a handle, or to all of a family
// where a list is taken.
func (ld *loader) settleRef(m *modinst, f *file, a *attr, v Value, t *schema.Type) (Value, bool) {
	start, n := v.ref()
	key := settledRef{f, n, a.def}
	own := t == &a.def.of().Type
	if out, ok := m.settled[key]; ok && own {
		return out, true
	}
	steps := f.steps[f.refs[n].first : f.refs[n].first+f.refs[n].n]
	kind, _ := rootKind(ld.strs[f.shift.strs[steps[0].text]])
	cur := val{form: isRoot, ld: ld, mod: m, kind: kind}
	last := steps[len(steps)-1].at
	whole := place{start, last.start + last.length}
	ld.refAt = whole.in(f.id)
	var read attributeOf
	for i := 1; i < len(steps); i++ {
		name := ld.strs[f.shift.strs[steps[i].text]]
		at := place{start + steps[i].at.start, steps[i].at.length}
		if cur.form == isCty {
			if cur = cur.unwrap(); cur.form == isCty {
				ld.fail(at.in(f.id), a.num.Name()+" is no reference: it goes on after an attribute", "name the block itself, as in switch.NAME.port[\"PORT\"]")
				return Value{}, false
			}
		}
		next, bad := ld.step(cur, name)
		if ld.stepped != nil {
			ld.formerStep(at.in(f.id), name)
		}
		if bad != nil {
			ld.fail(at.in(f.id), bad.summary, bad.help)
			return Value{}, false
		}
		if next.form == isObserved || next.form == isCty && cur.form != isObserved {
			read = attributeOf{cur, name}
		}
		cur = next
	}
	bad := ld.wholeBlock(t, a.num.Name(), read)
	var out Value
	if bad == nil {
		out, bad = ld.fromVal(t, a.num.Name(), cur)
	}
	if bad != nil {
		ld.fail(whole.in(f.id), bad.summary, bad.help)
		return Value{}, false
	}
	if own {
		m.settled[key] = out
	}
	return out, true
}

// attributeOf is the last attribute that a reference reads, and of what.
type attributeOf struct {
	of   val
	name string
}

// wholeBlock is what is said of a reference that goes on to an attribute which never names a
// block, where a block is taken: `segment.s.vlan` where `segment.s` is meant; nil if it does not.
func (ld *loader) wholeBlock(t *schema.Type, name string, read attributeOf) *mistake {
	if t.Base != schema.Ref || read.of.form != isInst {
		return nil
	}
	kind := ld.insts[read.of.inst].kind
	if def := schema.Lookup(kind, read.name); def != nil && (def.Type.Base == schema.Ref || def.Type.Base == schema.Any) {
		return nil
	}
	block, help := ld.addrOf(read.of.inst), "write "+wanted(t)
	if refers(t, kind) {
		help = "write `" + block + "`"
	}
	return &mistake{name + " takes a reference to " + kindsOf(t) + ", and `" + block + "." + read.name + "` is an attribute of the " + kind.String(), help}
}

// fromVal converts the end of a reference.
func (ld *loader) fromVal(t *schema.Type, name string, v val) (Value, *mistake) {
	switch v.form {
	case isInst:
		return ld.handleValue(t, name, v.inst)
	case isFamily:
		if !t.Many && t.Base == schema.Ref && !refers(t, v.fam.kind) && len(v.fam.insts) > 0 {
			return ld.handleValue(t, name, v.fam.insts[0])
		}
		if !t.Many {
			what := v.fam.kind.String() + "." + ld.strs[v.fam.label]
			return Value{}, &mistake{name + " takes one " + v.fam.kind.String() + ", and `" + what + "` is " + itoa(len(v.fam.insts)) + " of them", "pick one: " + what + "[\"KEY\"]; " + listHelp("", v.fam.keys(ld))}
		}
		out := ld.newValues(len(v.fam.insts))
		one := *t
		one.Many = false
		for i, id := range v.fam.insts {
			h, bad := ld.handleValue(&one, name, id)
			if bad != nil {
				return Value{}, bad
			}
			out[i] = h
		}
		return ld.list(out), nil
	}
	c, bad := v.plain()
	if bad != nil {
		return Value{}, bad
	}
	return ld.convert(t, name, c)
}
