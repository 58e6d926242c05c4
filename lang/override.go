package lang

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/schema"
)

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
			ad := schema.LookupFormer(kind, k.AsString())
			if ad == nil {
				var names []string
				for i := range schema.Def(kind).Attrs {
					names = append(names, schema.Def(kind).Attrs[i].Num.Name())
				}
				ld.fail(span, "`"+kind.String()+"` has no attribute "+quoteWord(k.AsString())+" to set", choiceHelp(k.AsString(), "it has ", names))
				return Value{}, false
			}
			if ad.Num.Name() != k.AsString() {
				ld.formerKeys(ad, k.AsString())
			}
			r, bad := ld.convert(&ad.Type, ad.Num.Name(), el)
			if bad != nil {
				ld.fail(span, bad.summary, bad.help)
				return Value{}, false
			}
			if why, ok := madeBefore[ad.Num]; ok || kind.Tier() && (ad.Num == schema.ACount || ad.Num == schema.ASwitches) {
				if !ok {
					why = "how many there are is settled before: change the tier"
				}
				ld.fail(span, "`"+k.AsString()+"` cannot be set by an override", why)
				return Value{}, false
			}
			ld.noteOf(kind, ad.Num, r, writtenAt{u, d, a})
			val, num = r, ad.Num
		}
		if slices.ContainsFunc(out, func(p Pair) bool { return p.Key == fieldKey(num) }) {
			ld.fail(span, "set has `"+num.Name()+"` twice: once by a former name", "leave one of them out")
			return Value{}, false
		}
		if val.Kind != Absent {
			out = append(out, Pair{fieldKey(num), val})
		}
	}
	return ld.pairsOf(Object, out), true
}

// madeBefore are the attributes that a fabric is made by before overrides are read.
var madeBefore = map[schema.Attr]string{
	schema.AName: "addresses are made of names: change it in the block itself",
	schema.AFrom: "a qos starts from what its block says: change it there, or set what shall differ",
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
