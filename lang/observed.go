package lang

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// What stands in `observed` are attributes of the block like others: each has its number
// and its place, so that layers of blocks are merged field by field and findings show the
// line of the field. Where the whole is an expression its fields are known when it is
// evaluated, and have its place.

// Misplaced are attributes of one file that say what was seen and are written beside
// `observed`, as they were in earlier editions of the language.
type Misplaced struct {
	Address string        // of the first block with one, "" if no instance of it is there
	Decl    DeclID        // of the first
	Span    source.Span   // of the first
	Attrs   []schema.Attr // in the order of their names, each once
	Count   int
}

// misplaced is one of them, by the number of its block in the file, then in the unit.
type misplaced struct {
	decl int32
	num  schema.Attr
	at   place
}

// observation is a field of `observed` as it is written.
type observation struct {
	def  *schema.AttrDef // nil: the block has none of that name
	word string
	key  hclsyntax.Expression
	tree hclsyntax.Expression
}

// observations are the fields of `observed` of a block. False: what they are has to be evaluated.
func (r *reducer) observations(d *decl, e hclsyntax.Expression) ([]observation, bool) {
	obj, ok := e.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return nil, false
	}
	list := make([]observation, len(obj.Items))
	for i := range obj.Items {
		it := &obj.Items[i]
		word, ok := keyText(it.KeyExpr)
		if !ok {
			return nil, false
		}
		list[i] = observation{schema.Field(d.of, word), word, it.KeyExpr, it.ValueExpr}
	}
	return list, true
}

// observed takes the fields of `observed` for attributes of the block at hand. False: it is no plain object.
func (r *reducer) observed(d *decl, e hclsyntax.Expression) bool {
	list, ok := r.observations(d, e)
	if !ok {
		return false
	}
	for i, o := range list {
		switch {
		case o.def == nil:
			r.fail(placeOf(o.key.Range()), "observed has no field "+quoteWord(clipName(o.word)), observedHelp(d.of, o.word))
		case slices.ContainsFunc(list[:i], func(before observation) bool { return before.def == o.def }):
			r.fail(placeOf(o.key.Range()), "observed has "+quoteWord(o.word)+" twice", "leave one out")
		default:
			r.taken = append(r.taken, takenAttr{attr{def: defOf(d, o.def), num: o.def.Num, at: placeOf(o.tree.Range())}, o.tree, true})
		}
	}
	return true
}

// observedHelp says where something belongs that `observed` of a kind of block does not have.
func observedHelp(k schema.Kind, word string) string {
	if schema.Lookup(k, word) != nil && word != schema.AObserved.Name() {
		return "it is a setting: write `" + word + "` in the block itself"
	}
	return choiceHelp(word, "it takes ", attrNamesOf(schema.Def(k).Seen()))
}

func attrNamesOf(rows []schema.AttrDef) []string {
	names := make([]string, len(rows))
	for i := range rows {
		names[i] = rows[i].Num.Name()
	}
	return names
}

// noteMisplaced notes an attribute of the block at hand that says what was seen and does not stand in `observed`.
func (r *reducer) noteMisplaced(def *schema.AttrDef, at place, observed bool) {
	if def.Observed && !observed {
		r.outside = append(r.outside, misplaced{r.stack[len(r.stack)-1], def.Num, at})
	}
}

// bothPlaces reports what stands in `observed` and beside it, and keeps the former.
func (r *reducer) bothPlaces() {
	kept := r.taken[:0]
	for _, a := range r.taken {
		if n := len(kept); n == 0 || kept[n-1].num != a.num {
			kept = append(kept, a)
			continue
		}
		one := &kept[len(kept)-1]
		if a.observed {
			*one, a = a, *one
		}
		r.say(bothPlaces(a.num, a.at.in(r.id), one.at.in(r.id), r.where()))
	}
	r.taken = kept
}

func bothPlaces(n schema.Attr, beside, inside source.Span, where string) diag.Diagnostic {
	return diag.Diagnostic{
		Summary: "`" + n.Name() + "` is written in `observed` and beside it", Help: "leave out the one beside it",
		Labels: []diag.Label{{Span: beside, Where: where}, {Span: inside, Text: "in observed"}},
	}
}

func (ld *loader) bothPlaces(n schema.Attr, beside, inside source.Span) {
	d := bothPlaces(n, beside, inside, "")
	ld.fail(beside, d.Summary, d.Help, d.Labels[1:]...)
}

// observedNow adds the fields of an `observed` that was evaluated to the attributes of its block.
func (ld *loader) observedNow(vals []Attr, m *modinst, d *udecl, a *attr, v Value) []Attr {
	for _, p := range ld.maps[v.N] {
		n := schema.Attr(p.Key.N)
		if other := m.unit.find(d, n); other != nil {
			ld.bothPlaces(n, other.at.in(m.unit.fileOf(d, other).id), a.at.in(m.unit.fileOf(d, a).id))
			continue
		}
		vals = append(vals, Attr{n, p.Val.Kind, p.Val.N})
	}
	slices.SortFunc(vals, func(a, b Attr) int { return cmp.Compare(a.Num, b.Num) })
	return vals
}

// observedField is a field of an `observed` that was evaluated, null if it has none of that name.
func observedField(v cty.Value, n schema.Attr) cty.Value {
	plain, marks := v.Unmark()
	if !plain.IsNull() && plain.IsKnown() {
		switch ty := plain.Type(); {
		case ty.IsObjectType() && ty.HasAttribute(n.Name()):
			return plain.GetAttr(n.Name()).WithMarks(marks)
		case ty.IsMapType() && plain.HasIndex(cty.StringVal(n.Name())).True():
			return plain.Index(cty.StringVal(n.Name())).WithMarks(marks)
		}
	}
	return cty.NullVal(cty.DynamicPseudoType)
}

// stepObserved reads a field of `observed` through a reference to its block.
func (ld *loader) stepObserved(id instID, name string) (val, *mistake) {
	ad := schema.Field(ld.insts[id].kind, name)
	if ad == nil {
		return val{}, &mistake{"observed has no field " + quoteWord(name), observedHelp(ld.insts[id].kind, name)}
	}
	v, bad := ld.written(id, ad.Num)
	return val{v: v}, bad
}

// misplacedIn lists what is written beside `observed`, by file, in the order of modules and files.
func (ld *loader) misplacedIn() (list []Misplaced) {
	seen := map[*unit]bool{}
	for _, m := range ld.mods {
		if seen[m.unit] {
			continue
		}
		seen[m.unit] = true
		for _, f := range m.unit.files {
			if len(f.outside) == 0 {
				continue
			}
			slices.SortFunc(f.outside, func(a, b misplaced) int {
				return cmp.Or(cmp.Compare(a.at.start, b.at.start), cmp.Compare(a.num, b.num))
			})
			f.outside = slices.Compact(f.outside) // what several instances have
			first := f.outside[0]
			x := Misplaced{Decl: m.declBase + DeclID(first.decl), Span: first.at.in(f.id), Count: len(f.outside)}
			for _, o := range f.outside {
				if !slices.Contains(x.Attrs, o.num) {
					x.Attrs = append(x.Attrs, o.num)
				}
			}
			slices.SortFunc(x.Attrs, func(a, b schema.Attr) int { return cmp.Compare(a.Name(), b.Name()) })
			i := slices.IndexFunc(ld.insts, func(in inst) bool { return in.mod == m.id && in.decl == first.decl })
			if i > 0 {
				x.Address = ld.addrOf(instID(i))
			}
			list = append(list, x)
		}
	}
	return list
}
