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
	var named []schema.Attr
	for it := v.ElementIterator(); it.Next(); {
		k, el := it.Element()
		var val Value
		var num schema.Attr
		for _, kind := range kinds {
			ad := schema.LookupFormer(kind, k.AsString())
			if ad == nil {
				ld.fail(span, "`"+kind.String()+"` has no attribute "+quoteWord(k.AsString())+" to set",
					choiceHelp(k.AsString(), "it has ", attrNamesOf(schema.Def(kind).Plain())))
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
		if slices.Contains(named, num) {
			ld.fail(span, "set has `"+num.Name()+"` twice: once by a former name", "leave one of them out")
			return Value{}, false
		}
		named = append(named, num)
		if !slices.ContainsFunc(kinds, func(of schema.Kind) bool { return schema.Field(of, k.AsString()) == nil }) {
			f.outside = append(f.outside, misplaced{d.self, num, a.at})
		}
		var more []Pair
		switch {
		case val.Kind == Absent:
		case num == schema.AObserved:
			more = ld.maps[val.N]
		default:
			more = []Pair{{fieldKey(num), val}}
		}
		for _, p := range more {
			if slices.ContainsFunc(out, func(o Pair) bool { return o.Key == p.Key }) {
				ld.bothPlaces(schema.Attr(p.Key.N), span, span)
				return Value{}, false
			}
		}
		out = append(out, more...)
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
			add(schema.GlobKind(ld.strs[el.N]))
		}
	}
	return kinds
}
