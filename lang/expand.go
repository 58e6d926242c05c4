package lang

import (
	"errors"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
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
	if n, ok := ld.strNum[label]; ok {
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
	n, ok := ld.strNum[key]
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

// eachVal is what `each` stands for in one instance. A row of a table is not
// made a value unless it is asked for as a whole.
type eachVal struct {
	key   string
	value cty.Value
	rows  *funcs.Rows
	row   int
}

func (e *eachVal) keyValue() cty.Value { return cty.StringVal(e.key) }

func (e *eachVal) whole() cty.Value {
	if e.rows == nil {
		return e.value
	}
	m := make(map[string]cty.Value, len(e.rows.Header))
	for i, h := range e.rows.Header {
		m[h] = cty.StringVal(e.rows.Records[e.row][i])
	}
	return cty.ObjectVal(m)
}

func (e *eachVal) cell(name string) (val, *mistake) {
	for i, h := range e.rows.Header {
		if h == name {
			return val{v: cty.StringVal(e.rows.Records[e.row][i])}, nil
		}
	}
	return val{}, &mistake{"the table has no column " + quoteWord(name), listHelp(name, e.rows.Header)}
}

// rowTable is a CSV file with a key, read once.
type rowTable struct {
	rows  *funcs.Rows
	order []int // by key
	err   error
}

// forEach evaluates for_each: a map, a set of strings, or rows(...), which is
// read without becoming a value.
func (ld *loader) forEach(s *scope, f *file, num int32, at place) ([]*eachVal, bool) {
	e := &f.exprs[num-1]
	if call, ok := e.tree.(*hclsyntax.FunctionCallExpr); ok && call.Name == "rows" && len(call.Args) == 2 && !call.ExpandFinal {
		return ld.forRows(s, f, e, call)
	}
	v, ok := s.eval(f, e)
	if !ok {
		return nil, false
	}
	span := at.in(f.id)
	if v.HasMark(funcs.Sensitive) {
		ld.fail(span, "for_each is a secret, and its keys would land in artifacts", "", secretLabels(v)...)
		return nil, false
	}
	v, _ = v.Unmark()
	t := v.Type()
	if v.IsNull() {
		ld.fail(span, "for_each is null", "write {} for none")
		return nil, false
	}
	var out []*eachVal
	switch {
	case t.IsMapType() || t.IsObjectType():
		if n := v.LengthInt(); n > maxInstances {
			ld.fail(span, "for_each has "+itoa(n)+" elements, at most "+itoa(maxInstances)+" are allowed", "")
			return nil, false
		}
		for it := v.ElementIterator(); it.Next(); {
			k, el := it.Element()
			out = append(out, &eachVal{key: k.AsString(), value: el})
		}
		slices.SortFunc(out, func(a, b *eachVal) int { return strings.Compare(a.key, b.key) })
	case t.IsSetType() && (t.ElementType() == cty.String || t.ElementType() == cty.DynamicPseudoType):
		for it := v.ElementIterator(); it.Next(); {
			_, el := it.Element()
			if el.IsNull() || el.Type() != cty.String || el.IsMarked() {
				ld.fail(span, "for_each takes a map or a set of texts, and this set holds something else", "")
				return nil, false
			}
			out = append(out, &eachVal{key: el.AsString(), value: el})
		}
		slices.SortFunc(out, func(a, b *eachVal) int { return strings.Compare(a.key, b.key) })
	case t.IsTupleType() || t.IsListType():
		ld.fail(span, "for_each takes a map or a set of texts, not a list", "write toset([...])")
		return nil, false
	default:
		ld.fail(span, "for_each takes a map or a set of texts, not "+typeName(t), "write toset([\"a\", \"b\"]), { a = ..., b = ... } or rows(\"file.csv\", \"name\")")
		return nil, false
	}
	for _, e := range out {
		if why := badKey(e.key); why != "" {
			ld.fail(span, "key "+quoteWord(e.key)+" of for_each "+why, "")
			return nil, false
		}
	}
	return out, true
}

func badKey(s string) string {
	if s == "" {
		return "is empty"
	}
	return badLabel(s)
}

func (ld *loader) forRows(s *scope, f *file, e *expr, call *hclsyntax.FunctionCallExpr) ([]*eachVal, bool) {
	var args [2]string
	for i, a := range call.Args {
		v, diags := a.Value(s.context(e.deps))
		at := placeOf(a.Range()).in(f.id)
		if !ld.report(diags, at) {
			return nil, false
		}
		v, _ = v.Unmark()
		v, err := convert.Convert(v, cty.String)
		if err != nil || v.IsNull() {
			ld.fail(at, "rows takes the name of a file and of a column", "")
			return nil, false
		}
		args[i] = v.AsString()
	}
	t := ld.table(s.mod, args[0], args[1])
	if t.err != nil {
		ld.failRows(t.err, e.at.in(f.id))
		return nil, false
	}
	if len(t.rows.Keys) > maxInstances {
		ld.fail(e.at.in(f.id), "the table has "+itoa(len(t.rows.Keys))+" rows, at most "+itoa(maxInstances)+" are allowed", "")
		return nil, false
	}
	block := make([]eachVal, len(t.order))
	out := make([]*eachVal, len(t.order))
	for i, row := range t.order {
		block[i] = eachVal{key: t.rows.Keys[row], rows: t.rows, row: row}
		out[i] = &block[i]
		if why := badKey(out[i].key); why != "" {
			ld.fail(e.at.in(f.id), "key "+quoteWord(out[i].key)+" of the table "+why, "")
			return nil, false
		}
	}
	return out, true
}

// table reads a CSV file once for each key column.
func (ld *loader) table(m *modinst, name, key string) *rowTable {
	at := m.unit.dir + "\x00" + name + "\x00" + key
	if t, ok := ld.tabs[at]; ok {
		return t
	}
	t := &rowTable{}
	ld.tabs[at] = t
	full, err := insideModule(m.unit.dir, name)
	if err != nil {
		t.err = err
		return t
	}
	src, err := readLimited(ld.FS, full, funcs.MaxFileBytes)
	if err != nil {
		t.err = errors.New("file " + quoteWord(name) + " cannot be read: " + pathError(err))
		return t
	}
	ld.files.Add(full, src)
	if t.rows, t.err = funcs.ParseRows(src, full, key); t.err != nil {
		return t
	}
	t.order = make([]int, len(t.rows.Keys))
	for i := range t.order {
		t.order[i] = i
	}
	slices.SortFunc(t.order, func(a, b int) int { return strings.Compare(t.rows.Keys[a], t.rows.Keys[b]) })
	return t
}

func (ld *loader) failRows(err error, at source.Span) {
	var re *funcs.RowsError
	if !errors.As(err, &re) {
		ld.fail(at, err.Error(), "")
		return
	}
	span := source.Span{File: ld.files.Lookup(re.File), Start: uint32(re.Start), Len: uint32(re.Len)}
	summary := re.Msg
	if re.Row > 0 {
		summary = "row " + itoa(re.Row) + ": " + summary
	}
	ld.fail(span, "table "+quoteWord(re.File)+", "+summary, "", diag.Label{Span: at, Where: ld.whereIs(at), Text: "read here"})
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
	s := &scope{ld: ld, mod: m, inst: parent}
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
	if d.flags&hasEnabled != 0 && d.kind != schema.Port && d.kind != schema.NIC && d.kind != schema.Except {
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
		a := &u.attrs[int(d.attrs.first)+i]
		if a.num != schema.AEnabled {
			continue
		}
		if a.bad {
			return true, false
		}
		if a.expr == 0 {
			return a.val.Kind == Absent || a.val.N == 1, true
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
		if u.attrs[int(d.attrs.first)+i].num == schema.AForEach {
			a = &u.attrs[int(d.attrs.first)+i]
		}
	}
	list, ok := ld.forEach(s, u.fileOf(d, a), a.expr, a.at)
	if !ok {
		return false
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
				ld.fail(a.at.in(u.fileOf(d, a).id), "name "+quoteWord(e.key)+" of "+d.kind.String()+" "+why, "a name has letters, digits, '.', '_' and '-', and starts with a letter or digit; `name` may differ from the key")
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
	for i, mem := range ld.members(d) {
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

func (ld *loader) members(d *udecl) []member {
	if d.members == nil {
		r, err := funcs.ParseRange(ld.strs[d.label])
		if err != nil {
			return nil
		}
		d.members = make([]member, 0, min(r.Len(), funcs.MaxRange))
		r.Each(func(mem funcs.Member) bool {
			d.members = append(d.members, member{ld.str(mem.Name), ld.str(mem.Key)})
			return true
		})
	}
	return d.members
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
		a := &u.attrs[int(d.attrs.first)+i]
		if a.num != schema.AName {
			continue
		}
		if a.bad {
			return false
		}
		v, ok := a.val, true
		if a.expr != 0 {
			ld.insts[id].naming = true
			v, ok = ld.evalAttr(&scope{ld: ld, mod: m, inst: id}, u, d, a)
			ld.insts[id].naming = false
		}
		if !ok || v.Kind != Text {
			return ok
		}
		name := ld.strs[v.N]
		why := badLabel(name)
		if d.kind == schema.Switch || d.kind == schema.Node {
			why = badDeviceName(name)
		}
		if why != "" {
			ld.fail(a.at.in(u.fileOf(d, a).id), "name "+quoteWord(name)+" "+why, "")
			return false
		}
		ld.insts[id].name = Str(v.N)
	}
	return true
}

// newInst adds an instance as the last child of a parent.
func (ld *loader) newInst(m *modinst, di int32, parent instID) instID {
	if len(ld.insts) > maxInstances {
		ld.fail(m.unit.spanOf(&m.unit.decls[di]), "the configuration has more than "+itoa(maxInstances)+" blocks", "")
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

// expandKids makes the instances of the blocks inside a block.
func (ld *loader) expandKids(id instID) *mistake {
	in := &ld.insts[id]
	if in.kids == finished || in.decl < 0 {
		return nil
	}
	m := ld.mods[in.mod]
	di := in.decl
	if m.unit.decls[di].end == di+1 && len(m.unit.more) == 0 {
		in.kids = finished
		return nil
	}
	if !ld.enterKids(id) {
		return silent
	}
	in.kids = underWay
	m.unit.kids(di, func(k int32) {
		ld.instances(m, k, id, nobody)
	})
	ld.insts[id].kids = finished
	ld.leave()
	ld.twice(id)
	return nil
}

func nobody(instID) {}

// twice reports members that two blocks inside one block name.
func (ld *loader) twice(id instID) {
	if ld.insts[id].count < 2 {
		return
	}
	if st := &ld.mods[ld.insts[id].mod].state[ld.insts[id].decl]; ld.plainKids(id) {
		if st.kidsSeen {
			return // they are those of the instance before
		}
		st.kidsSeen = true
	}
	type key struct {
		kind schema.Kind
		name Str
	}
	var small [64]key
	seen := map[key]instID(nil)
	n := 0
	for kid := ld.insts[id].first; kid != 0; kid = ld.insts[kid].next {
		in := &ld.insts[kid]
		k := key{in.kind, in.name}
		if in.kind == schema.Except {
			continue
		}
		first := instID(0)
		if seen == nil && n < len(small) {
			if i := slices.Index(small[:n], k); i >= 0 {
				first = ld.kidNamed(id, k.kind, k.name)
			}
			small[n] = k
			n++
		} else {
			if seen == nil {
				seen = map[key]instID{}
				for c := ld.insts[id].first; c != kid; c = ld.insts[c].next {
					seen[key{ld.insts[c].kind, ld.insts[c].name}] = c
				}
			}
			first = seen[k]
			seen[k] = kid
		}
		if first == 0 {
			continue
		}
		ld.fail(ld.spanOfInst(kid), in.kind.String()+" "+quoteWord(ld.strs[in.name])+" of `"+ld.addrOf(id)+"` is written twice",
			"leave it out of one of them; `except` changes single members of a range",
			diag.Label{Span: ld.spanOfInst(first), Where: ld.whereIs(ld.spanOfInst(first)), Text: "first written"})
	}
}

// plainKids reports whether the blocks inside have the same names in every
// instance.
func (ld *loader) plainKids(id instID) bool {
	in := &ld.insts[id]
	u := ld.mods[in.mod].unit
	plain := true
	u.kids(in.decl, func(k int32) {
		d := &u.decls[k]
		if d.flags&(hasForEach|hasName) != 0 || d.flags&hasEnabled != 0 && !keepsEnabled(d.kind) {
			plain = false
		}
	})
	return plain
}

func (ld *loader) kidNamed(parent instID, k schema.Kind, name Str) instID {
	for kid := ld.insts[parent].first; kid != 0; kid = ld.insts[kid].next {
		if ld.insts[kid].kind == k && ld.insts[kid].name == name {
			return kid
		}
	}
	return 0
}

func (ld *loader) spanOfInst(id instID) source.Span {
	in := &ld.insts[id]
	if in.decl < 0 {
		return ld.cfg.Decls[in.declID].Span
	}
	return ld.mods[in.mod].unit.spanOf(&ld.mods[in.mod].unit.decls[in.decl])
}

type kidKey struct {
	parent instID
	kind   schema.Kind
	name   Str
}

// kid finds a child by name. Blocks with many children are indexed.
func (ld *loader) kid(parent instID, k schema.Kind, name Str) instID {
	p := &ld.insts[parent]
	if p.count <= 24 {
		return ld.kidNamed(parent, k, name)
	}
	if !ld.kidHas[parent] {
		for id := p.first; id != 0; id = ld.insts[id].next {
			key := kidKey{parent, ld.insts[id].kind, ld.insts[id].name}
			if _, ok := ld.kidIx[key]; !ok {
				ld.kidIx[key] = id
			}
		}
		ld.kidHas[parent] = true
	}
	return ld.kidIx[kidKey{parent, k, name}]
}

// impliedPort is a port of a switch that no block speaks of: its model has it,
// which is for compiler/resolve to see.
func (ld *loader) impliedPort(sw instID, name string) (instID, *mistake) {
	if len(ld.insts) > maxInstances {
		return 0, &mistake{"the configuration has more than " + itoa(maxInstances) + " blocks", ""}
	}
	n := ld.str(name)
	c := ld.cfg
	id := DeclID(len(c.Decls))
	c.Decls = append(c.Decls, Decl{
		Kind: schema.Port, Span: ld.refAt, Parent: ld.insts[sw].declID,
		Module: ld.insts[sw].mod, Head: ld.str("port " + quoteKey(name)), spans: span32{uint32(len(c.Spans)), 0},
	})
	many := ld.kidHas[sw]
	port := ld.link(inst{kind: schema.Port, kids: finished, done: true, name: n, label: n, mod: ld.insts[sw].mod, decl: -1, declID: id, parent: sw})
	if many {
		ld.kidIx[kidKey{sw, schema.Port, n}] = port
		ld.kidHas[sw] = true
	}
	return port, nil
}

// exceptOf puts an except block under the instance it speaks of: its label is
// the name or key of the parent, or a range with it.
func (ld *loader) exceptOf(m *modinst, di int32, parent instID, each func(instID)) bool {
	d := &m.unit.decls[di]
	in := &ld.insts[parent]
	name, key := in.name, in.key
	label := ld.strs[d.label]
	hit := d.label == name || d.label == key && key != 0
	if !hit && strings.ContainsAny(label, "[]") {
		r, err := funcs.ParseRange(label)
		if err != nil {
			ld.fail(d.labelP.in(m.unit.files[d.file].id), "label "+rangeProblem(label, err), "")
			return false
		}
		hit = r.Has(ld.strs[name]) || key != 0 && r.Has(ld.strs[key])
	}
	if !hit {
		return true // an except that nothing matches is reported when all is expanded
	}
	id := ld.newInst(m, di, parent)
	if id == 0 {
		return false
	}
	ld.insts[id].name = name
	m.state[di].matched = true
	each(id)
	return true
}
