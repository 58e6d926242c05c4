package lang

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/schema"
)

// state is what became of a value.
type state uint8

const (
	isFinal state = iota
	isExpr
	isWrong
)

// value reduces the value of an attribute: to a final value, a reference to be
// resolved, or an expression.
func (r *reducer) value(at *attr, e hclsyntax.Expression, d *decl) {
	switch at.num {
	case schema.AForEach, schema.ASet:
		r.keep(at, e)
		d.flags |= hasDynamic
		return
	}
	said := len(r.diags)
	t := &at.def.of().Type
	v, st := r.literal(t, at.num.Name(), e)
	if t.Base == schema.EnvVar {
		r.conceal(said, d)
	}
	switch st {
	case isFinal:
		at.set(v)
		if pending(v.Kind) {
			d.flags |= hasDynamic
		}
	case isWrong:
		at.bad = true
	case isExpr:
		if at.num == schema.ALanguage {
			r.fail(at.at, "language takes a plain number: it is read before anything is evaluated", "write language = "+itoa(schema.Language))
			at.bad = true
			return
		}
		r.keep(at, e)
		d.flags |= hasDynamic
	}
}

// conceal puts what was found of a value that may be a secret at the head of its
// block: messages show the line they are about.
func (r *reducer) conceal(from int, d *decl) {
	for i := range r.diags[from:] {
		r.diags[from+i].Labels[0].Span = d.at.in(r.id)
	}
}

func (r *reducer) keep(at *attr, e hclsyntax.Expression) {
	at.set(Value{valExpr, int64(r.expr(e))})
}

// literal reads a value that needs no evaluation.
func (r *reducer) literal(t *schema.Type, name string, e hclsyntax.Expression) (Value, state) {
	if t.Many {
		if tuple, ok := e.(*hclsyntax.TupleConsExpr); ok {
			return r.tuple(t, name, tuple)
		}
	}
	switch e := e.(type) {
	case *hclsyntax.TemplateExpr:
		if s, ok := plainText(e); ok {
			if t.Base == schema.Ref && r.json {
				if trav, ok := refText(s, r.name, e.SrcRange.Start); ok {
					return r.ref(t, name, trav, placeOf(e.SrcRange))
				}
			}
			v, m := leafText(&r.tables, t, name, s)
			return r.done(v, m, e)
		}
		return Value{}, isExpr
	case *hclsyntax.LiteralValueExpr:
		return r.plain(t, name, e, e, false)
	case *hclsyntax.UnaryOpExpr:
		if l, ok := e.Val.(*hclsyntax.LiteralValueExpr); ok && e.Op == hclsyntax.OpNegate && l.Val.Type() == cty.Number {
			return r.plain(t, name, l, e, true)
		}
	case *hclsyntax.ScopeTraversalExpr:
		if t.Base == schema.Ref && isBlockRoot(e.Traversal.RootName()) {
			return r.ref(t, name, e.Traversal, placeOf(e.SrcRange))
		}
	case *hclsyntax.TupleConsExpr:
		return r.tuple(t, name, e)
	case *hclsyntax.ObjectConsExpr:
		return r.object(t, name, e)
	}
	return Value{}, isExpr
}

// plainText is the text of a template without interpolations.
func plainText(e *hclsyntax.TemplateExpr) (string, bool) {
	if len(e.Parts) == 1 {
		if l, ok := e.Parts[0].(*hclsyntax.LiteralValueExpr); ok && isText(l) {
			return l.Val.AsString(), true
		}
		return "", false
	}
	var b strings.Builder
	for _, p := range e.Parts {
		l, ok := p.(*hclsyntax.LiteralValueExpr)
		if !ok || !isText(l) {
			return "", false
		}
		b.WriteString(l.Val.AsString())
	}
	return b.String(), true
}

// isText reports whether a literal is a text that could be read.
func isText(l *hclsyntax.LiteralValueExpr) bool {
	return l.Val.Type() == cty.String && l.Val.IsKnown() && !l.Val.IsNull()
}

// plain reads a number, bool or null. The whole is the number with its sign.
func (r *reducer) plain(t *schema.Type, name string, e *hclsyntax.LiteralValueExpr, whole hclsyntax.Expression, negative bool) (Value, state) {
	switch ty := e.Val.Type(); {
	case !e.Val.IsKnown():
		return Value{}, isFinal // a number such as 10.0.0.1: the parser has reported it
	case e.Val.IsNull():
		return Value{}, isFinal
	case ty == cty.Bool:
		v, m := leafBool(&r.tables, t, name, e.Val.True())
		return r.done(v, m, whole)
	case ty == cty.Number:
		if n, ok := r.digits(e.SrcRange); ok {
			if negative {
				n = -n
			}
			v, m := leafInt(&r.tables, t, name, n)
			return r.done(v, m, whole)
		}
		f := e.Val.AsBigFloat()
		if negative {
			f = f.Neg(f)
		}
		v, m := leafFloat(&r.tables, t, name, f)
		return r.done(v, m, whole)
	case ty == cty.String:
		v, m := leafText(&r.tables, t, name, e.Val.AsString())
		return r.done(v, m, whole)
	}
	return Value{}, isExpr
}

// digits reads a plain whole number off the source, which is cheaper than
// asking cty for it.
func (r *reducer) digits(at hcl.Range) (int64, bool) {
	from, to := at.Start.Byte, at.End.Byte
	if to <= from || to-from > 18 || to > len(r.src) {
		return 0, false
	}
	n := int64(0)
	for _, c := range r.src[from:to] {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

func (r *reducer) done(v Value, m *mistake, e hclsyntax.Expression) (Value, state) {
	if m == nil {
		return v, isFinal
	}
	r.fail(placeOf(e.Range()), m.summary, m.help)
	return Value{}, isWrong
}

func (r *reducer) tuple(t *schema.Type, name string, e *hclsyntax.TupleConsExpr) (Value, state) {
	one, ok := t.Element()
	if !ok {
		m := takes(t, name, "a list", wanted(t))
		r.fail(placeOf(e.SrcRange), m.summary, m.help)
		return Value{}, isWrong
	}
	vs := r.newValues(len(e.Exprs))
	kind, bad := List, false
	for i, el := range e.Exprs {
		v, st := r.literal(&one, name, el)
		switch {
		case st == isExpr:
			return Value{}, isExpr
		case st == isWrong:
			bad = true
		case v.Kind == Absent:
			m := takes(t, name, "null in a list", "")
			r.fail(placeOf(el.Range()), m.summary, "leave the element out")
			bad = true
		case pending(v.Kind):
			kind = valPendList
		}
		vs[i] = v
	}
	if bad {
		return Value{}, isWrong
	}
	if t.Joins() && kind == List {
		vs = r.flatten(vs)
	}
	v := r.list(vs)
	v.Kind = kind
	return v, isFinal
}

// flatten joins the lists that ranges in a list expanded to, or that references to all of a family did.
func (t *tables) flatten(vs []Value) []Value {
	var out []Value
	for _, v := range vs {
		if v.Kind == List {
			out = append(out, t.lists[v.N]...)
			continue
		}
		out = append(out, v)
	}
	return out
}

func (r *reducer) object(t *schema.Type, name string, e *hclsyntax.ObjectConsExpr) (Value, state) {
	switch {
	case t.Base == schema.Object, t.Base == schema.Map, t.Base == schema.Any:
	case t.Key != nil:
		return r.object(mapForm(t), name, e)
	case t.Base == schema.Ref && t.Many:
		return Value{}, isExpr
	default:
		m := takes(t, name, "an object", wanted(t))
		r.fail(placeOf(e.SrcRange), m.summary, m.help)
		return Value{}, isWrong
	}
	ps := r.newPairs(len(e.Items))[:0]
	kind, wait, bad := Map, valPendMap, false
	if t.Base == schema.Object {
		kind, wait = Object, valPendObj
	}
	isPending := false
	for i := range e.Items {
		it := &e.Items[i]
		word, ok := keyText(it.KeyExpr)
		if !ok {
			return Value{}, isExpr
		}
		key, et, elName, ok := r.key(t, name, word, it.KeyExpr)
		if !ok {
			bad = true
			continue
		}
		v, st := r.literal(et, elName, it.ValueExpr)
		if st == isExpr {
			return Value{}, isExpr
		}
		if st == isWrong {
			bad = true
			continue
		}
		if slices.ContainsFunc(ps, func(p Pair) bool { return p.Key == key }) {
			r.fail(placeOf(it.KeyExpr.Range()), name+" has "+quoteWord(keyName(t, word))+" twice", "leave one out")
			bad = true
			continue
		}
		if v.Kind == Absent {
			continue
		}
		isPending = isPending || pending(v.Kind)
		ps = append(ps, Pair{key, v})
	}
	if bad || !r.fieldsThere(t, name, ps, placeOf(e.SrcRange)) {
		return Value{}, isWrong
	}
	if isPending {
		kind = wait
	}
	return r.pairsOf(kind, ps), isFinal
}

// mapForm is the map that a type takes besides its plain form.
func mapForm(t *schema.Type) *schema.Type {
	return &schema.Type{Base: schema.Map, Key: t.Key, Elem: t.Elem}
}

func (r *reducer) fieldsThere(t *schema.Type, name string, ps []Pair, at place) bool {
	if m := missingField(t, name, ps); m != nil {
		r.fail(at, m.summary, m.help)
		return false
	}
	return true
}

func missingField(t *schema.Type, name string, ps []Pair) *mistake {
	if t.Base != schema.Object {
		return nil
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Required && !slices.ContainsFunc(ps, func(p Pair) bool { return p.Key == fieldKey(f.Num) }) {
			return &mistake{name + " needs `" + f.Num.Name() + "`", f.Doc}
		}
	}
	return nil
}

// keyText is the text of an object's key that needs no evaluation.
func keyText(e hclsyntax.Expression) (string, bool) {
	k, ok := e.(*hclsyntax.ObjectConsKeyExpr)
	if !ok {
		return "", false
	}
	if !k.ForceNonLiteral {
		if word := hcl.ExprAsKeyword(k.Wrapped); word != "" {
			return word, true
		}
	}
	switch w := k.Wrapped.(type) {
	case *hclsyntax.TemplateExpr:
		return plainText(w)
	case *hclsyntax.LiteralValueExpr:
		if w.Val.Type() == cty.Number && w.Val.IsKnown() && !w.Val.IsNull() {
			f := w.Val.AsBigFloat()
			if n, acc := f.Int64(); f.IsInt() && acc == 0 {
				return strconv.FormatInt(n, 10), true
			}
		}
	}
	return "", false
}

// key reads the key of an object or map, and returns the type of its value.
func (r *reducer) key(t *schema.Type, name, word string, e hclsyntax.Expression) (Value, *schema.Type, string, bool) {
	key, et, elName, m := keyOf(&r.tables, t, name, word)
	if m != nil {
		r.fail(placeOf(e.Range()), m.summary, m.help)
		return Value{}, nil, "", false
	}
	if f := schema.Named(t.Fields, word); f != nil && f.Num.Name() != word {
		r.formerWord(placeOf(e.Range()), f, word)
	}
	return key, et, elName, true
}

var anyType = schema.Type{Base: schema.Any}

// keyName is the name of a field that is written under this or a former name, and any other key as it is.
func keyName(t *schema.Type, word string) string {
	if f := schema.Named(t.Fields, word); f != nil {
		return f.Num.Name()
	}
	return word
}

// keyOf reads a key of a value of a type: the name of a field, or a map's key.
func keyOf(tb *tables, t *schema.Type, name, word string) (Value, *schema.Type, string, *mistake) {
	switch t.Base {
	case schema.Object:
		if f := schema.Named(t.Fields, word); f != nil {
			return fieldKey(f.Num), &f.Type, name + "." + f.Num.Name(), nil
		}
		names := make([]string, len(t.Fields))
		for i := range t.Fields {
			names[i] = t.Fields[i].Num.Name()
		}
		return Value{}, nil, "", &mistake{name + " has no field " + quoteWord(word), choiceHelp(word, "it takes ", names)}
	case schema.Map:
		v, m := leafText(tb, t.Key, "key of "+name, word)
		return v, t.Elem, name, m
	}
	return tb.text(word), &anyType, name, nil
}

// ref notes a written reference.
func (r *reducer) ref(t *schema.Type, name string, trav hcl.Traversal, at place) (Value, state) {
	first := uint32(len(r.steps))
	for i := range trav {
		switch s := trav[i].(type) {
		case hcl.TraverseRoot:
			r.steps = append(r.steps, step{text: r.str(s.Name), at: placeOf(s.SrcRange)})
		case hcl.TraverseAttr:
			r.steps = append(r.steps, step{text: r.str(s.Name), at: placeOf(s.SrcRange)})
		case hcl.TraverseIndex:
			text, ok := keyString(s.Key)
			if !ok {
				r.steps = r.steps[:first]
				return Value{}, isExpr
			}
			r.steps = append(r.steps, step{text: r.str(text), index: true, at: placeOf(s.SrcRange)})
		default:
			r.steps = r.steps[:first]
			return Value{}, isExpr
		}
	}
	start := r.steps[first].at.start
	for i := range r.steps[first:] {
		r.steps[int(first)+i].at.start -= start
	}
	return refValue(start, r.noteRef(first)), isFinal
}

// noteRef enters the reference whose steps are the last ones, from first, and
// returns its number. One that is written like another, as most are, is that one.
func (r *reducer) noteRef(first uint32) uint32 {
	key := r.refKey[:0]
	for _, s := range r.steps[first:] {
		key = binary.LittleEndian.AppendUint32(key, uint32(s.text))
		key = binary.LittleEndian.AppendUint32(key, s.at.start)
		key = binary.LittleEndian.AppendUint32(key, s.at.length)
		key = strconv.AppendBool(key, s.index)
	}
	r.refKey = key
	n, ok := r.refNum[string(key)]
	if ok {
		r.steps = r.steps[:first]
		return n
	}
	n = uint32(len(r.refs))
	r.refs = append(r.refs, span32{first, uint32(len(r.steps)) - first})
	if r.refNum == nil {
		r.refNum = map[string]uint32{}
	}
	r.refNum[string(key)] = n
	return n
}

// keyString is an index as text: map keys are texts.
func keyString(v cty.Value) (string, bool) {
	v, _ = v.Unmark()
	if v.IsNull() || !v.IsKnown() {
		return "", false
	}
	switch v.Type() {
	case cty.String:
		return v.AsString(), true
	case cty.Number:
		f := v.AsBigFloat()
		if n, acc := f.Int64(); acc == 0 && f.IsInt() {
			return strconv.FormatInt(n, 10), true
		}
	}
	return "", false
}

// isBlockRoot reports whether a reference may start with a word.
func isBlockRoot(word string) bool {
	_, ok := rootKind(word)
	return ok
}

func rootKind(word string) (schema.Kind, bool) {
	switch word {
	case "connection":
		return schema.Connection, true
	case "qos":
		return schema.QoS, true
	case "segment":
		return schema.Segment, true
	case "switch":
		return schema.Switch, true
	case "node":
		return schema.Node, true
	case "mlag":
		return schema.MLAG, true
	case "link":
		return schema.Link, true
	case "topology":
		return schema.Topology, true
	case "routing":
		return schema.Routing, true
	}
	return schema.None, false
}
