package lang

import (
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/diag"
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
	one, ok := t.Element()
	if !ok {
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
	if t.Joins() {
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
		if f := schema.Named(t.Fields, word); f != nil && f.Num.Name() != word {
			ld.formerKeys(f, word)
		}
		r, bad := ld.convert(et, elName, el)
		if bad != nil {
			return Value{}, bad
		}
		if r.Kind == Absent {
			continue
		}
		if slices.ContainsFunc(out, func(p Pair) bool { return p.Key == key }) {
			return Value{}, &mistake{name + " has " + quoteWord(keyName(t, word)) + " twice", "leave one out"}
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

// refers reports whether an attribute takes references to blocks of a kind.
func refers(t *schema.Type, kind schema.Kind) bool {
	return t.Base == schema.Ref && (slices.Contains(t.Refs, kind) || kind.Tier() && slices.Contains(t.Refs, schema.Switch))
}

// handleValue checks a reference against the kinds an attribute takes.
func (ld *loader) handleValue(t *schema.Type, name string, id instID) (Value, *mistake) {
	in := &ld.insts[id]
	switch {
	case refers(t, in.kind), t.Base == schema.Any:
		return Value{Handle, int64(id)}, nil
	case t.Base == schema.Ref:
		return Value{}, &mistake{name + " takes a reference to " + kindsOf(t) + ", and `" + ld.addrOf(id) + "` is a " + in.kind.String(), "write " + wanted(t)}
	case t.Base == schema.Range && (in.kind == schema.Port || in.kind == schema.NIC):
		return ld.list([]Value{{Text, int64(in.name)}}), nil
	case t.Base == schema.String && t.Enum == nil:
		return Value{}, &mistake{name + " takes text, and `" + ld.addrOf(id) + "` is a reference", "its name is " + ld.addrOf(id) + ".name"}
	}
	return Value{}, &mistake{name + " takes no reference, and `" + ld.addrOf(id) + "` is one", "write " + wanted(t)}
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
			ld.fail(ld.spanOfAttr(ring[0], schema.AFrom), "`"+ld.addrOf(ring[0])+"` starts from itself", "leave `from` out of one of them", labels...)
			return
		}
		state[id] = underWay
		chain = append(chain, id)
		if len(chain) < maxFrames {
			for _, a := range ld.attrsOf(id) {
				if a.Num == schema.AFrom && a.Val().Kind == Handle {
					visit(instID(a.Val().N))
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
