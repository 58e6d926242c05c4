package lang

import (
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/schema"
)

// step is one step of a reference: the name after a dot or the key in brackets.
func (ld *loader) step(v val, name string) (val, *mistake) {
	switch v.form {
	case isRoot:
		f := ld.findFamily(v.mod, v.kind, name)
		if f == nil {
			return val{}, ld.noSuch("there is no `"+v.kind.String()+"` block "+quoteWord(name), name, v.mod.familyNames(v.kind))
		}
		if m := ld.expand(f); m != nil {
			return val{}, m
		}
		if f.single {
			if len(f.insts) == 0 {
				return val{}, &mistake{"`" + v.kind.String() + "." + name + "` is not there: its `enabled` is false", "refer to it only where it is enabled: try(..., null)"}
			}
			return val{form: isInst, ld: ld, inst: f.insts[0]}, nil
		}
		return val{form: isFamily, ld: ld, fam: f}, nil
	case isFamily:
		if id := v.fam.find(ld, name); id != 0 {
			return val{form: isInst, ld: ld, inst: id}, nil
		}
		what := v.fam.kind.String() + "." + ld.strs[v.fam.label]
		return val{}, ld.noSuch("`"+what+"` has no "+quoteWord(name), name, v.fam.keys(ld))
	case isInst:
		return ld.stepInst(v.inst, name)
	case isKids:
		return ld.stepKids(v, name)
	case isSelf, isMember, isTier:
		if !slices.Contains(v.names(), name) {
			return val{}, &mistake{"there is nothing called " + quoteWord(name) + " here", listHelp(name, v.names())}
		}
		switch v.form {
		case isSelf:
			return ld.stepSelf(v.inst, name)
		case isTier:
			return ld.stepTier(v.inst, name)
		}
		return ld.stepMember(v.inst, name)
	case isEach:
		switch name {
		case "key":
			return val{v: v.each.keyValue()}, nil
		case "value":
			if v.each.rows != nil {
				return val{form: isRow, ld: ld, each: v.each}, nil
			}
			return val{v: v.each.value}, nil
		}
		return val{}, &mistake{"`each` has no " + quoteWord(name), "it has each.key and each.value"}
	case isRow:
		return v.each.cell(name)
	}
	return ld.stepModule(v, name)
}

func (ld *loader) noSuch(summary, word string, names []string) *mistake {
	return &mistake{summary, listHelp(word, names)}
}

// listHelp names what exists, nearest first.
func listHelp(word string, names []string) string {
	if len(names) == 0 {
		return "there is none"
	}
	near := Nearest(word, names)
	shown := nearestFirst(word, names, 5)
	s := "there is " + quotedList(shown, len(names))
	switch {
	case near != "" && len(names) == 1:
		return "did you mean " + quoteWord(near) + "?"
	case near != "":
		return "did you mean " + quoteWord(near) + "? " + s
	}
	return s
}

func quotedList(shown []string, total int) string {
	s := ""
	for i, n := range shown {
		if i > 0 {
			s += ", "
		}
		s += quoteWord(n)
	}
	if total > len(shown) {
		s += " and " + strconv.Itoa(total-len(shown)) + " more"
	}
	return s
}

// stepInst reads something through a reference to a block: its name, key or
// index, an attribute as it was written, or the blocks inside.
func (ld *loader) stepInst(id instID, name string) (val, *mistake) {
	in := &ld.insts[id]
	switch name {
	case "name":
		return val{v: cty.StringVal(ld.strs[in.name])}, nil
	case "key":
		if in.key == 0 {
			return val{v: cty.NullVal(cty.String)}, nil
		}
		return val{v: cty.StringVal(ld.strs[in.key])}, nil
	case "index":
		return val{v: cty.NumberIntVal(int64(in.index))}, nil
	}
	for _, k := range schema.Inside(in.kind) {
		if schema.Def(k).Word == name {
			if m := ld.expandKids(id); m != nil {
				return val{}, m
			}
			return val{form: isKids, ld: ld, inst: id, kind: k}, nil
		}
	}
	if ad := schema.LookupFormer(in.kind, name); ad != nil {
		if ad.Num.Name() != name {
			ld.stepped = ad
		}
		v, m := ld.written(id, ad.Num)
		return val{v: v}, m
	}
	names := []string{"name", "key", "index"}
	for i := range schema.Def(in.kind).Attrs {
		if n := schema.Def(in.kind).Attrs[i].Num.Name(); n != "name" {
			names = append(names, n)
		}
	}
	for _, k := range schema.Inside(in.kind) {
		names = append(names, k.String())
	}
	return val{}, ld.noSuch("`"+in.kind.String()+"` has nothing called "+quoteWord(name), name, names)
}

func (ld *loader) stepKids(v val, name string) (val, *mistake) {
	if v.kind.Tier() {
		return ld.stepTierKids(v, name)
	}
	if n, ok := ld.lookup(name); ok {
		if id := ld.kid(v.inst, v.kind, n); id != 0 {
			return val{form: isInst, ld: ld, inst: id}, nil
		}
	}
	if in := ld.insts[v.inst].kind; v.kind == schema.Port && (in == schema.Switch || in.Tier()) && badPortName(name) == "" {
		id, m := ld.impliedPort(v.inst, name)
		return val{form: isInst, ld: ld, inst: id}, m
	}
	var names []string
	for id := ld.insts[v.inst].first; id != 0; id = ld.insts[id].next {
		if ld.insts[id].kind == v.kind {
			names = append(names, ld.strs[ld.insts[id].name])
		}
	}
	return val{}, ld.noSuch("`"+ld.addrOf(v.inst)+"` has no "+v.kind.String()+" "+quoteWord(name), name, names)
}

func badPortName(s string) string {
	if s == "" || len(s) > 128 {
		return "length"
	}
	for _, c := range s {
		if c <= 0x20 || c == 0x7f || c == '[' || c == ']' || c == '*' || c == '"' {
			return "character"
		}
	}
	return ""
}

func (ld *loader) stepSelf(id instID, name string) (val, *mistake) {
	in := &ld.insts[id]
	switch name {
	case "name", "index":
		if name == "name" && in.naming {
			return val{}, &mistake{"`self.name` is what is being computed here", "make the name of each.key or self.index"}
		}
		return ld.stepInst(id, name)
	}
	ad := schema.Lookup(in.kind, name)
	if ad == nil {
		return val{v: cty.NullVal(cty.DynamicPseudoType)}, nil
	}
	v, m := ld.written(id, ad.Num)
	return val{v: v}, m
}

func (ld *loader) stepMember(id instID, name string) (val, *mistake) {
	in := &ld.insts[id]
	switch name {
	case "keys":
		keys := ld.memberKeys(id)
		if len(keys) == 0 {
			return val{v: cty.ListValEmpty(cty.String)}, nil
		}
		vs := make([]cty.Value, len(keys))
		for i, k := range keys {
			vs[i] = cty.StringVal(k)
		}
		return val{v: cty.ListVal(vs)}, nil
	case "name":
		if in.naming {
			return val{}, &mistake{"the name of the " + in.kind.String() + " is what is being computed here", "make the name of its key or index"}
		}
	}
	return ld.stepInst(id, name)
}
