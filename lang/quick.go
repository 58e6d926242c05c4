package lang

import (
	"bytes"
	"hash/maphash"
	"maps"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// quickFile reduces a file of the plain part of the syntax while it reads it:
// for blocks of the fabric no tree is made, which is most of what reducing a
// written-out fabric costs. A block with anything unusual in it, and every block
// of the language itself, is read as a tree and reduced as that; so all findings
// are those of the tree. False: nothing is known, and nothing was kept. A fuzz
// test holds the two ways against each other.
func (r *reducer) quickFile() bool {
	if bytes.Contains(r.src, []byte(ignoreWord)) {
		return false // what it covers is looked up in a tree
	}
	src, start := r.start()
	q := quick{r: r, large: r.large, p: plainParser{src: src, name: r.name, base: start.Byte, words: make(map[string]string, 32)}}
	r.decls = make([]decl, 0, min(bytes.Count(src, []byte{'{'}), maxQuickRows))
	r.attrs = make([]attr, 0, min(bytes.Count(src, []byte{'='}), maxQuickRows))
	if q.top() {
		return true
	}
	q.undo(quickMark{strs: 1})
	r.decls, r.attrs = nil, nil
	return false
}

// maxQuickRows bounds what is reserved before anything is read.
const maxQuickRows = 1 << 16

// quick reads one file.
type quick struct {
	r     *reducer
	p     plainParser
	head  hclsyntax.Block // of the block at hand, up to its brace
	found []quickAttr     // of the block at hand, by number
	known [schema.KindCount][]*quickWord
	large bool // too large for the library as a whole
}

// quickWord is an attribute that some block of a kind had, its last text with the
// value that it became, and its last reference.
type quickWord struct {
	word string // as it is written, now or in an earlier edition
	name string
	def  *schema.AttrDef
	ref  attrDef
	text string
	val  Value
	has  bool // the last text is known

	steps []byte
	same  uint32 // of the file's refs
}

// quickAttr is an attribute that was read and is not reduced yet: that is done
// in the order of numbers.
type quickAttr struct {
	*quickWord
	at   place
	from int // of the value in the source at hand
	form quickForm
	n    int64
	tree hclsyntax.Expression

	observed bool // it stands in `observed`
}

type quickForm uint8

const (
	quickTree quickForm = iota
	quickText
	quickInt
	quickBool
	quickNull
	quickRef
)

func (q *quick) top() bool {
	p := &q.p
	for !q.r.broken {
		from, mark := p.pos, q.mark()
		if p.blanks(true) {
			if p.pos >= len(p.src) {
				return true
			}
			from = p.pos
			if q.item() {
				continue
			}
		}
		if q.large = q.large || manyMarks(p.src); !q.large {
			return false
		}
		q.undo(mark)
		if p.pos = from; !q.library(from) {
			return false
		}
	}
	return true
}

// item reads a block at the top, and the end of its line.
func (q *quick) item() bool {
	p := &q.p
	from, mark := p.pos, q.mark()
	word, ok := p.ident()
	if !ok {
		return false
	}
	if !q.block(word, from, schema.None, schema.None, -1) {
		q.undo(mark)
		p.pos = from
		if !q.tree() {
			return false
		}
	}
	return p.lineEnd()
}

// tree reads the block at hand as a tree, and reduces that.
func (q *quick) tree() bool {
	body := hclsyntax.Body{Attributes: hclsyntax.Attributes{}}
	if !q.p.item(&body, 0) || len(body.Blocks) != 1 {
		return false
	}
	q.r.block(body.Blocks[0], schema.None, schema.None, -1)
	return true
}

// quickMark is how far the rows of a file are filled.
type quickMark struct {
	decls, attrs, refs, steps, exprs, progs, strs, lists, maps, ratios, diags, formers, outside int
	bound                                                                                       diag.Bound
}

func (q *quick) mark() quickMark {
	r := q.r
	return quickMark{
		len(r.decls), len(r.attrs), len(r.refs), len(r.steps), len(r.exprs), len(r.progs),
		len(r.strs), len(r.lists), len(r.maps), len(r.ratios), len(r.diags), len(r.formers), len(r.outside), r.bound,
	}
}

// undo takes back what was read since a mark.
func (q *quick) undo(m quickMark) {
	r := q.r
	r.cut(m.strs)
	maps.DeleteFunc(r.refNum, func(_ string, n uint32) bool { return int(n) >= m.refs })
	r.decls, r.attrs, r.refs, r.steps = r.decls[:m.decls], r.attrs[:m.attrs], r.refs[:m.refs], r.steps[:m.steps]
	r.exprs, r.progs, r.lists = r.exprs[:m.exprs], r.progs[:m.progs], r.lists[:m.lists]
	r.bound = m.bound
	r.maps, r.ratios, r.diags, r.formers, r.outside, r.stack = r.maps[:m.maps], r.ratios[:m.ratios], r.diags[:m.diags], r.formers[:m.formers], r.outside[:m.outside], r.stack[:0]
	q.known = [schema.KindCount][]*quickWord{} // their values may be of strings that are gone
}

// block reads a block from behind its word to behind its closing brace. False:
// it needs a tree.
func (q *quick) block(word string, from int, parent, parentOf schema.Kind, up int32) bool {
	p, r := &q.p, q.r
	kind := schema.ByWord(parent, word)
	if parent == schema.Except {
		kind = schema.ByWord(parentOf, word)
	}
	if kind == schema.None || kind == schema.TierLink || kind == schema.Except && parent == schema.Except || isProg(kind) || !q.header(word, from) {
		return false
	}
	def := schema.Def(kind)
	d := decl{kind: kind, of: kind, parent: up, head: r.head(&q.head), at: headPlace(&q.head)}
	me := int32(len(r.decls))
	r.decls = append(r.decls, d)
	r.stack = append(r.stack, me)
	if !r.labels(&q.head, def, &d) {
		d.flags |= hasDynamic // as in reducer.block
	}
	switch kind {
	case schema.Except:
		d.of = parentOf
	case schema.Defaults:
		d.of = defaultsOf(r.strs[d.label])
	}
	q.found = q.found[:0]
	open := p.pos
	p.pos++
	if !p.blanks(false) {
		return false
	}
	switch p.peek() {
	case '}':
		q.settle(&d)
		r.decls[me] = d
	case '\n', '\r':
		if !q.body(&d, me) {
			return false
		}
	default:
		at := p.pos
		if bytes.IndexByte(p.src[open:at], '#') >= 0 || !q.attr(&d, def, 0) || p.peek() != '}' {
			return false
		}
		q.settle(&d)
		r.decls[me] = d
	}
	p.pos++
	r.decls[me].end = int32(len(r.decls))
	r.stack = r.stack[:len(r.stack)-1]
	return true
}

// header reads the labels up to the brace.
func (q *quick) header(word string, from int) bool {
	p, b := &q.p, &q.head
	b.Type, b.TypeRange = word, p.span(from, p.pos)
	b.Labels, b.LabelRanges = b.Labels[:0], b.LabelRanges[:0]
	if !p.blanks(false) {
		return false
	}
	for p.peek() != '{' {
		at, label := p.pos, ""
		if p.peek() == '"' {
			text, ok := p.quoted()
			if !ok {
				return false
			}
			label = q.text(text)
		} else {
			word, ok := p.ident()
			if !ok {
				return false
			}
			label = word
		}
		b.Labels = append(b.Labels, label)
		b.LabelRanges = append(b.LabelRanges, p.span(at, p.pos))
		if !p.blanks(false) {
			return false
		}
	}
	return true
}

// body reads the lines of a block up to its closing brace: attributes, then
// blocks. The other way round takes a tree.
func (q *quick) body(d *decl, me int32) bool {
	p, r := &q.p, q.r
	def, settled := schema.Def(d.kind), false
	for next := 0; ; next++ {
		if !p.blanks(true) || p.pos >= len(p.src) {
			return false
		}
		if p.peek() == '}' {
			break
		}
		from := p.pos
		if !settled && q.attrAhead() {
			if !q.attr(d, def, next) {
				return false
			}
		} else {
			word, ok := p.ident()
			if !ok {
				return false
			}
			if !settled {
				q.settle(d)
				r.decls[me], settled = *d, true
			}
			if !q.block(word, from, d.kind, d.of, me) {
				return false
			}
		}
		if !p.lineEnd() {
			return false
		}
	}
	if !settled {
		q.settle(d)
		r.decls[me] = *d
	}
	return true
}

// attrAhead reports whether the word ahead has an equals sign behind it.
func (q *quick) attrAhead() bool {
	p := &q.p
	i := p.pos
	for i < len(p.src) && identByte(p.src[i]) {
		i++
	}
	for i < len(p.src) && (p.src[i] == ' ' || p.src[i] == '\t') {
		i++
	}
	return i < len(p.src) && p.src[i] == '='
}

// attr reads an attribute, and what is behind it on the line. It is likely the
// one that stood in this place in the block before.
func (q *quick) attr(d *decl, def *schema.BlockDef, likely int) bool {
	p := &q.p
	from := p.pos
	for p.pos < len(p.src) && identByte(p.src[p.pos]) {
		p.pos++
	}
	if p.pos == from || !identStart(p.src[from]) || p.peek() >= 0x80 {
		return false
	}
	w := q.word(d, def, p.src[from:p.pos], likely)
	if w == nil {
		return false
	}
	if w.name != w.word {
		q.r.formerWord(place{uint32(p.base + from), uint32(p.pos - from)}, w.def, w.word)
	}
	if !p.blanks(false) || p.peek() != '=' {
		return false
	}
	p.pos++
	if !p.blanks(false) {
		return false
	}
	a := quickAttr{quickWord: w, from: p.pos}
	if !q.value(&a) {
		return false
	}
	if a.form != quickTree {
		a.at = place{uint32(p.base + a.from), uint32(p.pos - a.from)}
		if !p.blanks(false) {
			return false
		}
	}
	if c := p.peek(); c != '\n' && c != '\r' && c != '}' {
		return false
	}
	if w.def.Num == schema.AObserved {
		return q.observed(d, def, &a)
	}
	return q.enter(a)
}

// observed enters the fields of `observed`. What is wrong in it takes a tree.
func (q *quick) observed(d *decl, def *schema.BlockDef, a *quickAttr) bool {
	if a.form != quickTree {
		return q.enter(*a)
	}
	list, ok := q.r.observations(d, a.tree)
	if !ok {
		return q.enter(*a)
	}
	for _, o := range list {
		if o.def == nil {
			return false
		}
		w := q.word(d, def, []byte(o.word), 0)
		if !q.enter(quickAttr{quickWord: w, form: quickTree, tree: o.tree, at: placeOf(o.tree.Range()), observed: true}) {
			return false
		}
	}
	return true
}

// enter enters an attribute in the order of numbers. False: it is written twice.
func (q *quick) enter(a quickAttr) bool {
	i := len(q.found)
	for i > 0 && q.found[i-1].def.Num >= a.def.Num {
		if i--; q.found[i].def.Num == a.def.Num {
			return false
		}
	}
	q.found = append(q.found, a)
	if i < len(q.found)-1 {
		copy(q.found[i+1:], q.found[i:])
		q.found[i] = a
	}
	return true
}

// word is what is known of an attribute's name; nil: the block does not take it.
func (q *quick) word(d *decl, def *schema.BlockDef, name []byte, likely int) *quickWord {
	list := q.known[d.kind]
	same := d.of == d.kind
	if same && likely < len(list) && list[likely].word == string(name) {
		return list[likely]
	}
	for _, w := range list {
		if same && w.word == string(name) {
			return w
		}
	}
	ad := q.r.lookup(d, def, string(name))
	if ad == nil || d.of.Tier() && linkWord(ad.Num.Name()) {
		return nil
	}
	w := &quickWord{word: string(name), name: ad.Num.Name(), def: ad, ref: defOf(d, ad)}
	switch ad.Num {
	case schema.AForEach, schema.AEnabled, schema.AName: // they leave a mark on every block
	default:
		if same {
			q.known[d.kind] = append(list, w)
		}
	}
	return w
}

// value reads a value: what is not plain becomes a tree.
func (q *quick) value(a *quickAttr) bool {
	p := &q.p
	if n := a.def.Num; n != schema.AForEach && n != schema.ASet {
		switch c := p.peek(); {
		case c == '"':
			a.form = quickText
			_, ok := p.quoted()
			return ok
		case c >= '0' && c <= '9':
			if q.digits(a) {
				return true
			}
		case identStart(c):
			if q.name(a) {
				return true
			}
		}
		p.pos = a.from
	}
	tree, ok := p.value(0)
	if !ok {
		return false
	}
	a.form, a.tree, a.at = quickTree, tree, placeOf(tree.Range())
	return true
}

// digits reads a whole number.
func (q *quick) digits(a *quickAttr) bool {
	p := &q.p
	for p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
		a.n = a.n*10 + int64(p.src[p.pos]-'0')
		p.pos++
	}
	if c := p.peek(); p.pos-a.from > 18 || c == '.' || identStart(c) || c == '_' || c >= 0x80 {
		return false
	}
	a.form = quickInt
	return true
}

// name reads true, false, null, or a reference that the attribute takes.
func (q *quick) name(a *quickAttr) bool {
	p := &q.p
	word, ok := p.ident()
	if !ok {
		return false
	}
	if c := p.peek(); c != '.' && c != '[' {
		switch word {
		case "true":
			a.form, a.n = quickBool, 1
			return true
		case "false":
			a.form = quickBool
			return true
		case "null":
			a.form = quickNull
			return true
		}
	}
	if a.def.Type.Base != schema.Ref || !isBlockRoot(word) {
		return false
	}
	a.form = quickRef
	for n := 1; ; n++ {
		if n > plainDepth {
			return false
		}
		switch p.peek() {
		case '.':
			p.pos++
			from := p.pos
			for p.pos < len(p.src) && identByte(p.src[p.pos]) {
				p.pos++
			}
			if p.pos == from || !identStart(p.src[from]) || p.peek() >= 0x80 {
				return false
			}
		case '[':
			p.pos++
			if p.peek() != '"' {
				return false
			}
			if _, ok := p.quoted(); !ok || p.peek() != ']' {
				return false
			}
			p.pos++
		default:
			return true
		}
	}
}

// settle enters the attributes of a block, and reduces their values.
func (q *quick) settle(d *decl) {
	r := q.r
	first := len(r.attrs)
	d.attrs = span32{uint32(first), uint32(len(q.found))}
	for i := range q.found {
		a := &q.found[i]
		r.attrs = append(r.attrs, attr{def: a.ref, num: a.def.Num, at: a.at})
		r.noteMisplaced(a.def, a.at, a.observed)
	}
	for i := range q.found {
		q.reduce(&r.attrs[first+i], &q.found[i], d)
	}
}

// reduce is reducer.value for what has no tree.
func (q *quick) reduce(at *attr, a *quickAttr, d *decl) {
	r, t, name := q.r, &a.def.Type, a.name
	var v Value
	var m *mistake
	switch a.form {
	case quickTree:
		r.value(at, a.tree, d)
		return
	case quickRef:
		at.set(q.ref(a))
		d.flags |= hasDynamic
		return
	case quickNull:
		return
	case quickText:
		b := q.p.src[a.from+1 : a.from+int(a.at.length)-1]
		if a.has && a.text == string(b) {
			at.set(a.val)
			return
		}
		if t.Base == schema.String && t.Enum == nil && len(t.Words) == 0 {
			at.set(Value{Text, int64(r.bytesStr(b))})
			return
		}
		s := q.text(b)
		v, m = leafText(&r.tables, t, name, s)
		switch v.Kind {
		case Text, Word, Int, Percent:
			a.text, a.val, a.has = s, v, m == nil
		}
	case quickInt:
		v, m = leafInt(&r.tables, t, name, a.n)
	case quickBool:
		v, m = leafBool(&r.tables, t, name, a.n == 1)
	}
	if m == nil {
		at.set(v)
		return
	}
	said := len(r.diags)
	r.fail(at.at, m.summary, m.help)
	at.bad = true
	if t.Base == schema.EnvVar {
		r.conceal(said, d)
	}
}

// text is a text of the source, that of the tables if they have it.
func (q *quick) text(b []byte) string {
	if n, ok := find(q.r.strTable, b, uint32(maphash.Bytes(strSeed, b))); ok {
		return q.r.strs[n]
	}
	return string(b)
}

// ref notes the steps of a reference whose form is known to be right.
func (q *quick) ref(a *quickAttr) Value {
	r, src := q.r, q.p.src
	first := uint32(len(r.steps))
	end := a.from + int(a.at.length)
	if bytes.Equal(a.steps, src[a.from:end]) {
		return refValue(a.at.start, a.same)
	}
	for i := a.from; i < end; {
		from, text := i, i
		index := src[i] == '['
		switch {
		case index:
			text += 2
			i = text + bytes.IndexByte(src[text:end], '"')
		default:
			if src[i] == '.' {
				text++
			}
			for i = text; i < end && identByte(src[i]); {
				i++
			}
		}
		n := r.bytesStr(src[text:i])
		if index {
			i += 2
		}
		r.steps = append(r.steps, step{text: n, index: index, at: place{uint32(from - a.from), uint32(i - from)}})
	}
	a.steps, a.same = src[a.from:end], r.noteRef(first)
	return refValue(a.at.start, a.same)
}
