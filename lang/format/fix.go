package format

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/units"
)

// Fix writes a file in the words of the newest edition of the language, as far as its text alone shows what stands there: names that
// the schema calls former ones, what was seen and stands outside of `observed`, and the moves below. Nothing is loaded, so files whose
// fabric no longer loads are served too. What a person has to do is listed. Edition is that of the file's folder, 0 where it says none.
// Layout and comments stay; Source makes it canonical. With a problem Fix returns src itself. Fixing the result again changes nothing.
func Fix(name string, src []byte, edition int) ([]byte, []Problem, *Problem) {
	if strings.HasSuffix(name, ".json") {
		return fixJSON(name, src, edition)
	}
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos)
	if p := deep(tokens); p != nil {
		return src, nil, p
	}
	if _, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos); diags.HasErrors() {
		return src, nil, problemOf(diags)
	}
	out := src
	var left []Problem
	for _, m := range moves {
		for range maxPasses {
			f := &fixer{Tree: Tree{name: name, src: out}, edition: edition, source: isSource(name), items: map[*hclsyntax.AnonSymbolExpr]place{}}
			next, p := f.run(m)
			if p != nil {
				return src, nil, p
			}
			if bytes.Equal(next, out) {
				left = append(left, f.left...)
				break
			}
			out = next
		}
	}
	slices.SortFunc(left, func(a, b Problem) int { return cmp.Or(a.Offset-b.Offset, strings.Compare(a.Message, b.Message)) })
	return out, slices.Compact(left), nil
}

// move changes one thing in a body of a kind; b is nil at the top of a file.
type move func(f *fixer, b *hclsyntax.Block, body *hclsyntax.Body, s site)

// moves are made one after the other, each until it finds no more to do.
var moves = []move{(*fixer).words, (*fixer).states, (*fixer).colors, (*fixer).seen, (*fixer).cables, (*fixer).fallback, (*fixer).byHand}

// fixer makes one move in one file.
type fixer struct {
	Tree
	edition int
	source  bool // the file holds blocks of the language
	changes []Change
	left    []Problem
	items   map[*hclsyntax.AnonSymbolExpr]place // what the * of [*] goes through
}

func (f *fixer) run(m move) ([]byte, *Problem) {
	tree, diags := hclsyntax.ParseConfig(f.src, f.name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, problemOf(diags)
	}
	f.walk(m, nil, tree.Body.(*hclsyntax.Body), site{})
	slices.SortStableFunc(f.changes, func(a, b Change) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	var out []byte
	at, last := 0, Change{Start: -1}
	for _, c := range f.changes {
		if c == last {
			continue
		}
		if c.Start < at {
			return nil, &Problem{c.Start, lineOf(f.src, c.Start), 1, "two changes are needed here that cannot both be made, file is left as it is"}
		}
		out = append(append(out, f.src[at:c.Start]...), c.Text...)
		at, last = c.End, c
	}
	return append(out, f.src[at:]...), nil
}

func (f *fixer) walk(m move, b *hclsyntax.Block, body *hclsyntax.Body, s site) {
	m(f, b, body, s)
	for _, inside := range body.Blocks {
		t := s
		if f.source {
			t.kinds = append(s.kinds[:len(s.kinds):len(s.kinds)], kindOf(inside, s))
		}
		if a := inside.Body.Attributes["for_each"]; a != nil {
			t.each = f.silent().refer(a.Expr, s)
		}
		f.walk(m, inside, inside.Body, t)
	}
}

// silent looks at what f changes.
func (f *fixer) silent() *fixer {
	return &fixer{Tree: f.Tree, edition: f.edition, items: map[*hclsyntax.AnonSymbolExpr]place{}}
}

// kindOf is the kind of block whose attributes stand in a block.
func kindOf(b *hclsyntax.Block, s site) schema.Kind {
	around := s.innermost()
	k := schema.ByWord(around, b.Type)
	switch {
	case len(s.kinds) > 0 && around == schema.None:
		return schema.None
	case k == schema.Except:
		return around
	case k == schema.Defaults && len(b.Labels) == 1:
		return wordKind(b.Labels[0])
	}
	return k
}

func wordKind(word string) schema.Kind {
	for k := schema.None + 1; k < schema.KindCount; k++ {
		if k.String() == word {
			return k
		}
	}
	return schema.None
}

func (f *fixer) replace(start, end int, text string) {
	if string(f.src[start:end]) != text {
		f.changes = append(f.changes, Change{Start: start, End: end, Text: text})
	}
}

func (f *fixer) byPerson(at int, format string, args ...any) {
	column := 1 + len([]rune(string(f.src[bytes.LastIndexByte(f.src[:at], '\n')+1:at])))
	f.left = append(f.left, Problem{at, lineOf(f.src, at), column, fmt.Sprintf(format, args...)})
}

// pair is an attribute of a body, or a field of an object that stands for one.
type pair struct {
	name       string
	start, end int // of the name
	value      hclsyntax.Expression
}

// bodyPairs are the attributes of a body as they stand in it.
func bodyPairs(body *hclsyntax.Body) []pair {
	var list []pair
	for _, a := range body.Attributes {
		list = append(list, pair{a.Name, a.NameRange.Start.Byte, a.NameRange.End.Byte, a.Expr})
	}
	slices.SortFunc(list, func(a, b pair) int { return a.start - b.start })
	return list
}

func objectPairs(o *hclsyntax.ObjectConsExpr) []pair {
	var list []pair
	for _, item := range o.Items {
		r := item.KeyExpr.Range()
		list = append(list, pair{keyOf(item.KeyExpr), r.Start.Byte, r.End.Byte, item.ValueExpr})
	}
	return list
}

func find(list []pair, name string) *pair {
	if i := slices.IndexFunc(list, func(p pair) bool { return p.name == name }); i >= 0 {
		return &list[i]
	}
	return nil
}

// rename keeps the quotes that a key may have.
func (f *fixer) rename(p pair, name string) {
	if f.src[p.start] == '"' {
		name = `"` + name + `"`
	}
	f.replace(p.start, p.end, name)
}

// set is the object `set` of an override and the kinds of blocks that it is about.
func (f *fixer) set(b *hclsyntax.Block, s site) (*hclsyntax.ObjectConsExpr, []schema.Kind) {
	if b == nil || s.innermost() != schema.Override || b.Body.Attributes["set"] == nil || b.Body.Attributes["on"] == nil {
		return nil, nil
	}
	o, _ := b.Body.Attributes["set"].Expr.(*hclsyntax.ObjectConsExpr)
	return o, f.silent().about(b.Body.Attributes["on"].Expr, s)
}

// about lists the kinds of blocks that `on` names; none if one of them cannot be told.
func (f *fixer) about(e hclsyntax.Expression, s site) []schema.Kind {
	list := []hclsyntax.Expression{e}
	if t, ok := e.(*hclsyntax.TupleConsExpr); ok {
		list = t.Exprs
	}
	var kinds []schema.Kind
	for _, x := range list {
		p := f.refer(x, s)
		if glob, ok := text(x); ok {
			p.kind = schema.GlobKind(glob)
		}
		if p.kind == schema.None {
			return nil
		}
		kinds = append(kinds, p.kind)
	}
	return kinds
}

// words renames attributes and fields where they are written and where they are read, and writes values in their canonical words.
func (f *fixer) words(b *hclsyntax.Block, body *hclsyntax.Body, s site) {
	kind := s.innermost()
	list := bodyPairs(body)
	for _, p := range list {
		f.refer(p.value, s)
		if kind != schema.None && kind != schema.Module && kind != schema.Locals {
			f.word(p, list, schema.LookupFormer(kind, p.name))
		}
	}
	if o, kinds := f.set(b, s); o != nil {
		list := objectPairs(o)
		for _, p := range list {
			if def, ok := oneOf(kinds, p.name); ok {
				f.word(p, list, def)
			} else {
				f.byPerson(p.start, "%s has another name now, and the text does not show which: write the new one for what `on` is about", p.name)
			}
		}
	}
}

// oneOf is the attribute that a name stands for in several kinds of blocks. It is false where that cannot be told.
func oneOf(kinds []schema.Kind, name string) (*schema.AttrDef, bool) {
	if len(kinds) == 0 {
		return nil, !formerAnywhere(name)
	}
	var one *schema.AttrDef
	for _, k := range kinds {
		def := schema.LookupFormer(k, name)
		if one != nil && def != nil && def.Num != one.Num {
			return nil, false
		}
		if def != nil {
			one = def
		}
	}
	return one, true
}

// formerAnywhere reports whether a name is a former one of what an override sets.
func formerAnywhere(name string) bool {
	on := schema.Lookup(schema.Override, "on")
	return slices.ContainsFunc(on.Type.Refs, func(k schema.Kind) bool {
		def := schema.LookupFormer(k, name)
		return def != nil && def.Num.Name() != name
	})
}

func (f *fixer) word(p pair, list []pair, def *schema.AttrDef) {
	if def == nil {
		return
	}
	if now := def.Num.Name(); now != p.name {
		if find(list, now) != nil {
			f.byPerson(p.start, "%s is the former name of %s, which is written here too: leave one of them out", p.name, now)
			return
		}
		f.rename(p, now)
	}
	f.value(&def.Type, p.value)
}

// value writes the words of a value, wherever in an expression they are written out.
func (f *fixer) value(t *schema.Type, e hclsyntax.Expression) {
	switch e := e.(type) {
	case *hclsyntax.ConditionalExpr:
		f.value(t, e.TrueResult)
		f.value(t, e.FalseResult)
	case *hclsyntax.ParenthesesExpr:
		f.value(t, e.Expression)
	case *hclsyntax.TupleConsExpr:
		for _, x := range e.Exprs {
			f.value(t, x)
		}
	case *hclsyntax.ObjectConsExpr:
		list := objectPairs(e)
		for _, p := range list {
			switch {
			case t.Elem != nil:
				f.value(t.Elem, p.value)
			case t.Base == schema.Object:
				f.word(p, list, schema.Named(t.Fields, p.name))
			}
		}
	case *hclsyntax.TemplateExpr:
		if said, ok := text(e); ok {
			if now := canonical(t, said); now != "" {
				f.replace(e.SrcRange.Start.Byte, e.SrcRange.End.Byte, now)
			}
		}
	}
}

// canonical is how a text is to be written, "" if as it is.
func canonical(t *schema.Type, said string) string {
	if now, ok := t.Was[said]; ok {
		if now == "[]" {
			return now
		}
		return Quote(now)
	}
	if now, ok := units.Canonical(t.Base, said); ok && now != said {
		return Quote(now)
	}
	return ""
}

// hasState reports whether `enabled` on a kind of block was the state of a port.
func hasState(k schema.Kind) bool { return k == schema.Port || k == schema.NIC }

// states writes `admin` for what `enabled` said of ports and NICs. In a folder of edition 1 it says that the block is there.
func (f *fixer) states(b *hclsyntax.Block, body *hclsyntax.Body, s site) {
	if f.edition > 0 {
		return
	}
	list := bodyPairs(body)
	if hasState(s.innermost()) {
		f.state(list)
	}
	if o, kinds := f.set(b, s); o != nil && slices.ContainsFunc(kinds, hasState) {
		f.state(objectPairs(o))
	}
}

func (f *fixer) state(list []pair) {
	p := find(list, "enabled")
	switch {
	case p == nil:
	case find(list, "admin") != nil:
		f.byPerson(p.start, "enabled is the former name of admin, which is written here too: leave one of them out")
	default:
		f.rename(*p, "admin")
		r := p.value.Range()
		f.replace(r.Start.Byte, r.End.Byte, f.upOrDown(p.value))
	}
}

// upOrDown is the text of an expression with "up" for true and "down" for false.
func (f *fixer) upOrDown(e hclsyntax.Expression) string {
	r := e.Range()
	said := string(f.src[r.Start.Byte:r.End.Byte])
	within := func(of hclsyntax.Expression) string { // the text of e with that of a part of it in other words
		p := of.Range()
		return string(f.src[r.Start.Byte:p.Start.Byte]) + f.upOrDown(of) + string(f.src[p.End.Byte:r.End.Byte])
	}
	switch e := e.(type) {
	case *hclsyntax.LiteralValueExpr:
		switch said {
		case "true":
			return `"up"`
		case "false":
			return `"down"`
		case "null":
			return said
		}
	case *hclsyntax.ParenthesesExpr:
		return within(e.Expression)
	case *hclsyntax.ConditionalExpr:
		yes, no := e.TrueResult.Range(), e.FalseResult.Range()
		return string(f.src[r.Start.Byte:yes.Start.Byte]) + f.upOrDown(e.TrueResult) +
			string(f.src[yes.End.Byte:no.Start.Byte]) + f.upOrDown(e.FalseResult) + string(f.src[no.End.Byte:r.End.Byte])
	}
	return said + ` ? "up" : "down"`
}

// fallback says by an attribute what the label "default" of routing said.
func (f *fixer) fallback(b *hclsyntax.Block, body *hclsyntax.Body, s site) {
	name := schema.ADefault.Name()
	if b == nil || s.innermost() != schema.Routing || !slices.Equal(b.Labels, []string{"default"}) || body.Attributes[name] != nil {
		return
	}
	if schema.Lookup(schema.Routing, name) == nil {
		return
	}
	if c, ok := f.insert(b, Setting{Value: "true"}, name, ""); ok {
		f.changes = append(f.changes, c)
	}
}

// byHand tells of what has no form in this edition that the text alone could give it.
func (f *fixer) byHand(b *hclsyntax.Block, body *hclsyntax.Body, s site) {
	if b == nil && f.source && strings.HasSuffix(f.name, "_override.roce.hcl") {
		f.byPerson(0, "files that end in _override are read no more: "+
			"write `except` in the block itself, or `override` with a reason and an end date")
	}
	if a := body.Attributes["peer"]; a != nil && s.innermost() == schema.NIC {
		f.byPerson(a.NameRange.Start.Byte, "`peer` is no more: write its attributes on the switch port that the NIC is plugged into; "+
			"a port that writes no VLANs takes those of its NIC")
	}
}
