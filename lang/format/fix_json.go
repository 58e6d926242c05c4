package format

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/schema"
)

// fixJSON is Fix for a file in JSON: names of attributes, `admin` where it was true or false, and words of values are written anew in
// their place. What would have to move, and expressions, are left to do by hand.
func fixJSON(name string, src []byte, edition int) ([]byte, []Problem, *Problem) {
	if !strings.HasSuffix(name, ".roce.json") {
		return src, nil, nil
	}
	if p := deepJSON(src); p != nil {
		return src, nil, p
	}
	e, diags := hcljson.ParseExpressionWithStartPos(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return src, nil, problemOf(diags)
	}
	f := &jsonFixer{fixer{Tree: Tree{name: name, src: src}, edition: edition, items: map[*hclsyntax.AnonSymbolExpr]place{}}}
	f.body(e, schema.None)
	slices.SortStableFunc(f.changes, func(a, b Change) int { return cmp.Compare(a.Start, b.Start) })
	var out []byte
	at := 0
	for _, c := range f.changes {
		out = append(append(out, src[at:c.Start]...), c.Text...)
		at = c.End
	}
	slices.SortFunc(f.left, func(a, b Problem) int { return a.Offset - b.Offset })
	return append(out, src[at:]...), f.left, nil
}

// deepJSON is deep for JSON.
func deepJSON(src []byte) *Problem {
	depth, quoted := 0, false
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return &Problem{i, lineOf(src, i), 1, "values are nested too deep"}
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

type jsonFixer struct{ fixer }

// body fixes the properties of an object, or of each object of a list.
func (f *jsonFixer) body(e hcl.Expression, kind schema.Kind) {
	for _, o := range objectsOf(e) {
		list := f.pairs(o)
		for _, p := range list {
			k := schema.ByWord(kind, p.name)
			switch {
			case k == schema.None:
				f.attribute(p, list, kind)
			case k == schema.Except:
				f.blocks(p.json, kind, 1)
			case k == schema.Defaults:
				for _, of := range objectsOf(p.json) {
					for _, d := range f.pairs(of) {
						f.body(d.json, wordKind(d.name))
					}
				}
			default:
				f.blocks(p.json, k, len(schema.Def(k).Labels))
			}
		}
	}
}

// blocks goes through the labels of blocks to their bodies.
func (f *jsonFixer) blocks(e hcl.Expression, k schema.Kind, labels int) {
	if labels == 0 {
		f.body(e, k)
		return
	}
	for _, o := range objectsOf(e) {
		for _, p := range f.pairs(o) {
			f.blocks(p.json, k, labels-1)
		}
	}
}

type jsonPair struct {
	pair
	json hcl.Expression
}

func (f *jsonFixer) pairs(o hcl.Expression) []jsonPair {
	kv, _ := hcl.ExprMap(o)
	list := make([]jsonPair, 0, len(kv))
	for _, x := range kv {
		key, _ := x.Key.Value(nil)
		r := x.Key.Range()
		list = append(list, jsonPair{pair{name: key.AsString(), start: r.Start.Byte, end: r.End.Byte}, x.Value})
	}
	return list
}

func objectsOf(e hcl.Expression) []hcl.Expression {
	if _, diags := hcl.ExprMap(e); !diags.HasErrors() {
		return []hcl.Expression{e}
	}
	list, _ := hcl.ExprList(e)
	return slices.DeleteFunc(list, func(x hcl.Expression) bool {
		_, diags := hcl.ExprMap(x)
		return diags.HasErrors()
	})
}

func (f *jsonFixer) has(list []jsonPair, name string) bool {
	return slices.ContainsFunc(list, func(p jsonPair) bool { return p.name == name })
}

func (f *jsonFixer) attribute(p jsonPair, list []jsonPair, kind schema.Kind) {
	def := schema.LookupFormer(kind, p.name)
	admin := hasState(kind) && p.name == "enabled" && f.edition == 0
	switch {
	case kind == schema.None || kind == schema.Module || kind == schema.Locals:
	case kind == schema.Override && p.name == "set" && f.old(p.json):
		f.byPerson(p.start, "set may have words of earlier editions: JSON does not show what it is about")
	case kind == schema.NIC && p.name == "peer":
		f.byPerson(p.start, "`peer` is no more: write its attributes on the switch port that the NIC is plugged into")
	case admin && !f.has(list, "admin"):
		if now := map[string]string{"true": `"up"`, "false": `"down"`, "null": "null"}[f.text(p.json)]; now != "" {
			r := p.json.Range()
			f.replace(p.start, p.end, `"admin"`)
			f.replace(r.Start.Byte, r.End.Byte, now)
		} else {
			f.byPerson(p.start, `enabled of a %s is admin now: write "up" or "down"`, kind)
		}
	case def == nil:
	case def.Observed:
		f.byPerson(p.start, "%s is a field of observed now: write it there", p.name)
	case kind.Tier() && schema.ByWord(kind, schema.Link.String()) != schema.None && slices.Contains(ofLinks, def.Num):
		f.byPerson(p.start, "%s of a tier stands in its block `link` now: write it there", p.name)
	case def.Num.Name() != p.name && f.has(list, def.Num.Name()):
		f.byPerson(p.start, "%s is the former name of %s, which is written here too: leave one of them out", p.name, def.Num.Name())
	default:
		f.replace(p.start, p.end, `"`+def.Num.Name()+`"`)
		f.jsonValue(&def.Type, def.Num, p.json)
	}
	f.expressions(p.json)
}

func (f *jsonFixer) text(e hcl.Expression) string {
	r := e.Range()
	return string(f.src[r.Start.Byte:r.End.Byte])
}

func (f *jsonFixer) jsonValue(t *schema.Type, n schema.Attr, e hcl.Expression) {
	if kv, diags := hcl.ExprMap(e); !diags.HasErrors() {
		for i, p := range f.pairs(e) {
			switch def := schema.Named(t.Fields, p.name); {
			case t.Elem != nil:
				f.jsonValue(t.Elem, n, kv[i].Value)
			case def != nil && n == schema.AECN && def.Num == schema.AColors:
				f.byPerson(p.start, "colors of ecn is ecn_colors of observed now: write it there")
			case def != nil:
				f.replace(p.start, p.end, `"`+def.Num.Name()+`"`)
				f.jsonValue(&def.Type, def.Num, kv[i].Value)
			}
		}
		return
	}
	if list, diags := hcl.ExprList(e); !diags.HasErrors() {
		for _, x := range list {
			f.jsonValue(t, n, x)
		}
		return
	}
	v, diags := e.Value(nil)
	if diags.HasErrors() || v.IsNull() || v.Type() != cty.String {
		return
	}
	if now := canonical(t, v.AsString()); now != "" {
		r := e.Range()
		f.replace(r.Start.Byte, r.End.Byte, now)
	}
}

// old reports whether an object has a key that may be a former name or a field of `observed`.
func (f *jsonFixer) old(e hcl.Expression) bool {
	on := schema.Lookup(schema.Override, "on")
	return slices.ContainsFunc(f.pairs(e), func(p jsonPair) bool {
		return slices.ContainsFunc(on.Type.Refs, func(k schema.Kind) bool {
			def := schema.LookupFormer(k, p.name)
			return def != nil && (def.Observed || def.Num.Name() != p.name)
		})
	})
}

// expressions tells of what an expression in a text reads by a former name.
func (f *jsonFixer) expressions(e hcl.Expression) {
	if list, diags := hcl.ExprList(e); !diags.HasErrors() {
		for _, x := range list {
			f.expressions(x)
		}
		return
	}
	if kv, diags := hcl.ExprMap(e); !diags.HasErrors() {
		for _, x := range kv {
			f.expressions(x.Value)
		}
		return
	}
	text := f.text(e)
	if !strings.Contains(text, "${") {
		return
	}
	v, err := hclsyntax.ParseTemplate([]byte(strings.ReplaceAll(strings.Trim(text, `"`), `\"`, `"`)), f.name, hcl.InitialPos)
	if err.HasErrors() {
		return
	}
	look := f.silent()
	look.src = []byte(strings.ReplaceAll(strings.Trim(text, `"`), `\"`, `"`))
	if look.refer(v, site{}); len(look.changes) > 0 {
		f.byPerson(e.Range().Start.Byte, "an expression reads an attribute by its former name: write %s", look.changes[0].Text)
	}
}

// jsonLanguage is Language for a file in JSON, and where in it the block begins.
func jsonLanguage(name string, src []byte) (edition int, has bool, inside int) {
	if deepJSON(src) != nil {
		return 0, false, 0
	}
	e, diags := hcljson.ParseExpressionWithStartPos(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return 0, false, 0
	}
	f := &jsonFixer{}
	for _, o := range objectsOf(e) {
		for _, p := range f.pairs(o) {
			if p.name != schema.Rocec.String() {
				continue
			}
			for _, b := range objectsOf(p.json) {
				has, inside = true, b.Range().Start.Byte+1
				for _, a := range f.pairs(b) {
					if v, diags := a.json.Value(nil); a.name == schema.ALanguage.Name() && !diags.HasErrors() && v.Type() == cty.Number && !v.IsNull() {
						n, _ := v.AsBigFloat().Int64()
						edition = int(n)
					}
				}
			}
		}
	}
	return edition, has, inside
}
