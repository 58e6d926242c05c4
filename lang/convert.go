package lang

import (
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
)

// convert turns an evaluated value into a value of an attribute's type. It is
// what reducer.literal is for values that were written plainly.
func (ld *loader) convert(t *schema.Type, name string, v cty.Value) (Value, *mistake) {
	if v.IsNull() {
		return Value{}, nil
	}
	vt := v.Type()
	switch {
	case isHandleType(vt):
		return ld.handleValue(t, name, handleOf(v))
	case vt == cty.String:
		return leafText(&ld.tables, t, name, v.AsString())
	case vt == cty.Number:
		return leafFloat(&ld.tables, t, name, v.AsBigFloat())
	case vt == cty.Bool:
		return leafBool(&ld.tables, t, name, v.True())
	case vt.IsTupleType(), vt.IsListType(), vt.IsSetType():
		return ld.convertList(t, name, v)
	case vt.IsObjectType(), vt.IsMapType():
		return ld.convertObject(t, name, v)
	}
	return Value{}, takes(t, name, "a value of type "+vt.FriendlyName(), wanted(t))
}

func (ld *loader) convertList(t *schema.Type, name string, v cty.Value) (Value, *mistake) {
	one := *t
	one.Many = false
	switch {
	case t.Many:
	case t.Base == schema.Range, t.Base == schema.Any:
		one = *t
	default:
		return Value{}, takes(t, name, "a list", wanted(t))
	}
	out := ld.newValues(v.LengthInt())[:0]
	for it := v.ElementIterator(); it.Next(); {
		_, el := it.Element()
		if el.IsNull() {
			return Value{}, &mistake{name + " does not take null in a list", "leave the element out"}
		}
		r, bad := ld.convert(&one, name, el)
		if bad != nil {
			return Value{}, bad
		}
		out = append(out, r)
	}
	if t.Base == schema.Range {
		out = ld.flatten(out)
	}
	return ld.list(out), nil
}

func (ld *loader) convertObject(t *schema.Type, name string, v cty.Value) (Value, *mistake) {
	switch {
	case t.Base == schema.Object, t.Base == schema.Map, t.Base == schema.Any:
	case t.Many && v.LengthInt() == 0:
		return ld.list(nil), nil
	case t.Many:
		return ld.convertList(t, name, cty.TupleVal(sortedElements(v)))
	case t.Key != nil:
		return ld.convertObject(mapForm(t), name, v)
	case t.Base == schema.Ref && v.LengthInt() > 0 && allHandles(v):
		return Value{}, &mistake{name + " takes one " + kindsOf(t) + ", and this is " + itoa(v.LengthInt()) + " of them", "pick one with [\"KEY\"]"}
	default:
		return Value{}, takes(t, name, "an object", wanted(t))
	}
	kind := Map
	if t.Base == schema.Object {
		kind = Object
	}
	out := make([]Pair, 0, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		k, el := it.Element()
		word := k.AsString()
		key, et, elName, bad := keyOf(&ld.tables, t, name, word)
		if bad != nil {
			return Value{}, bad
		}
		r, bad := ld.convert(et, elName, el)
		if bad != nil {
			return Value{}, bad
		}
		if r.Kind == Absent {
			continue
		}
		if slices.ContainsFunc(out, func(p Pair) bool { return p.Key == key }) {
			return Value{}, &mistake{name + " has " + quoteWord(word) + " twice", ""}
		}
		out = append(out, Pair{key, r})
	}
	if bad := missingField(t, name, out); bad != nil {
		return Value{}, bad
	}
	return ld.pairsOf(kind, out), nil
}

func kindsOf(t *schema.Type) string {
	var words []string
	for _, k := range t.Refs {
		words = append(words, k.String())
	}
	return strings.Join(words, " or ")
}

// handleValue checks a reference against the kinds an attribute takes.
func (ld *loader) handleValue(t *schema.Type, name string, id instID) (Value, *mistake) {
	in := &ld.insts[id]
	switch {
	case t.Base == schema.Ref && slices.Contains(t.Refs, in.kind), t.Base == schema.Any:
		return Value{Handle, int64(id)}, nil
	case t.Base == schema.Ref:
		return Value{}, &mistake{name + " takes a reference to " + kindsOf(t) + ", and `" + ld.addrOf(id) + "` is a " + in.kind.String(), ""}
	case t.Base == schema.Range && (in.kind == schema.Port || in.kind == schema.NIC):
		return ld.list([]Value{{Text, int64(in.name)}}), nil
	case t.Base == schema.String && t.Enum == nil:
		return Value{}, &mistake{name + " takes text, and `" + ld.addrOf(id) + "` is a reference", "its name is " + ld.addrOf(id) + ".name"}
	}
	return Value{}, &mistake{name + " takes no reference, and `" + ld.addrOf(id) + "` is one", "write " + wanted(t)}
}

// overrideSet types the attributes that an override sets by the kinds of blocks
// it applies to.
func (ld *loader) overrideSet(s *scope, u *unit, d *udecl, f *file, a *attr, v cty.Value) (Value, bool) {
	span := a.at.in(f.id)
	if v.IsNull() {
		return Value{}, true
	}
	if !v.Type().IsObjectType() && !v.Type().IsMapType() {
		ld.fail(span, "set takes an object of attributes", "write set = { mtu = 9000 }")
		return Value{}, false
	}
	on := u.find(d, schema.AOn)
	if on == nil || on.bad {
		return Value{}, false
	}
	target, ok := ld.evalAttr(s, u, d, on)
	if !ok {
		return Value{}, false
	}
	kinds := ld.kindsIn(target)
	if len(kinds) == 0 {
		ld.fail(on.at.in(u.fileOf(d, on).id), "this does not say which kind of block `set` applies to", "end it in a word like port or nic: \"switch.tor.port[*]\"")
		return Value{}, false
	}
	var out []Pair
	for it := v.ElementIterator(); it.Next(); {
		k, el := it.Element()
		var val Value
		var num schema.Attr
		for _, kind := range kinds {
			ad := schema.Lookup(kind, k.AsString())
			if ad == nil {
				var names []string
				for i := range schema.Def(kind).Attrs {
					names = append(names, schema.Def(kind).Attrs[i].Num.Name())
				}
				ld.fail(span, "`"+kind.String()+"` has no attribute "+quoteWord(k.AsString())+" to set", didYouMean(k.AsString(), names))
				return Value{}, false
			}
			r, bad := ld.convert(&ad.Type, ad.Num.Name(), el)
			if bad != nil {
				ld.fail(span, bad.summary, bad.help)
				return Value{}, false
			}
			val, num = r, ad.Num
		}
		if val.Kind != Absent {
			out = append(out, Pair{fieldKey(num), val})
		}
	}
	return ld.pairsOf(Object, out), true
}

// kindsIn lists the kinds of blocks that references and globs speak of.
func (ld *loader) kindsIn(v Value) []schema.Kind {
	var kinds []schema.Kind
	add := func(k schema.Kind) {
		if k != schema.None && !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	list := []Value{v}
	if v.Kind == List {
		list = ld.lists[v.N]
	}
	for _, el := range list {
		switch el.Kind {
		case Handle:
			add(ld.insts[el.N].kind)
		case Text, Word:
			add(globKind(ld.strs[el.N]))
		}
	}
	return kinds
}

// globKind is the kind of block a glob such as `node.gpu[*].nic[rail3]` ends in.
func globKind(s string) schema.Kind {
	kind := schema.None
	depth, word := 0, ""
	flush := func() {
		for k := schema.None + 1; k < schema.KindCount; k++ {
			if schema.Def(k).Word == word && (kind == schema.None && slices.Contains(schema.Inside(schema.None), k) || slices.Contains(schema.Inside(kind), k)) {
				kind = k
				break
			}
		}
		word = ""
	}
	for _, c := range s {
		switch {
		case c == '[':
			flush()
			depth++
		case c == ']':
			depth--
		case depth > 0:
		case c == '.':
			flush()
		default:
			word += string(c)
		}
	}
	flush()
	return kind
}

// exceptsHit reports except blocks whose label is no member of what they stand
// in.
func (ld *loader) exceptsHit(m *modinst) {
	u := m.unit
	for i := range u.decls {
		d := &u.decls[i]
		if d.kind != schema.Except || d.parent < 0 {
			continue
		}
		st := &m.state[i]
		label := ld.strs[d.label]
		ranged := strings.ContainsAny(label, "[]")
		if st.matched && !ranged {
			continue
		}
		var names, keys []string
		for id := 1; id < len(ld.insts); id++ {
			in := &ld.insts[id]
			if in.mod != m.id || !ld.sameBlock(u, in.decl, d.parent) {
				continue
			}
			names = append(names, ld.strs[in.name])
			keys = append(keys, ld.strs[in.key])
		}
		if len(names) == 0 {
			continue // nothing is there to be excepted: enabled is false, or it failed
		}
		at := d.labelP.in(u.files[d.file].id)
		if !st.matched {
			ld.fail(at, "except "+quoteWord(label)+" matches no member of `"+ld.strs[u.decls[d.parent].head]+"`", listHelp(label, slices.Compact(slices.Sorted(slices.Values(names)))))
			continue
		}
		r, err := funcs.ParseRange(label)
		if err != nil {
			continue
		}
		r.Each(func(mem funcs.Member) bool {
			if slices.Contains(names, mem.Name) || slices.Contains(keys, mem.Name) {
				return true
			}
			ld.fail(at, "except "+quoteWord(label)+" names "+quoteWord(mem.Name)+", which is no member of `"+ld.strs[u.decls[d.parent].head]+"`", listHelp(mem.Name, slices.Compact(slices.Sorted(slices.Values(names)))))
			return false
		})
	}
}

// sameBlock reports whether an instance is one of a block, which an override
// file may have added to.
func (ld *loader) sameBlock(u *unit, decl, of int32) bool {
	if decl == of {
		return true
	}
	if decl < 0 || of < 0 || !u.files[u.decls[of].file].override {
		return false
	}
	a, b := &u.decls[decl], &u.decls[of]
	return a.kind == b.kind && a.label == b.label
}

// qosCycles reports contracts that start from each other.
func (ld *loader) qosCycles() {
	state := map[instID]progress{}
	var chain []instID
	var visit func(id instID)
	visit = func(id instID) {
		switch state[id] {
		case finished:
			return
		case underWay:
			i := slices.Index(chain, id)
			ring := chain[i:]
			var labels []diag.Label
			for _, r := range ring[1:] {
				labels = append(labels, diag.Label{Span: ld.spanOfAttr(r, schema.AFrom), Where: ld.strs[ld.cfg.Decls[ld.insts[r].declID].Head], Text: "which starts from the next"})
			}
			ld.fail(ld.spanOfAttr(ring[0], schema.AFrom), "`"+ld.addrOf(ring[0])+"` starts from itself", "", labels...)
			return
		}
		state[id] = underWay
		chain = append(chain, id)
		if len(chain) < maxFrames {
			for _, a := range ld.attrsOf(id) {
				if a.Num == schema.AFrom && a.Val.Kind == Handle {
					visit(instID(a.Val.N))
				}
			}
		}
		chain = chain[:len(chain)-1]
		state[id] = finished
	}
	for id := instID(1); int(id) < len(ld.insts); id++ {
		if ld.insts[id].kind == schema.QoS {
			visit(id)
		}
	}
}

func (ld *loader) attrsOf(id instID) []Attr {
	a := ld.insts[id].attrs
	return ld.cfg.Attrs[a.first : a.first+a.n]
}
