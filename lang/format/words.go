package format

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/rocec/rocec/lang/schema"
)

// site is where an expression stands: the blocks around it and the names that `for` binds.
type site struct {
	kinds []schema.Kind    // of the blocks around, the innermost last
	each  place            // what each.value is
	vars  map[string]place // a name that stands for something unknown is here too
}

// place is what an expression refers to, as far as the text shows it.
type place struct {
	form placeForm
	kind schema.Kind
}

type placeForm uint8

const (
	unknown placeForm = iota
	word              // `node`, before the name
	block             // a block, or all of a for_each, a range or a tier
	inner             // `.nic` of a block, before the name
)

// passes are functions whose result is made of what they are given.
var passes = []string{
	"coalesce", "concat", "distinct", "element", "flatten", "merge", "one", "reverse", "slice", "tolist", "tomap", "toset", "try", "values",
}

func (s site) innermost() schema.Kind {
	if len(s.kinds) == 0 {
		return schema.None
	}
	return s.kinds[len(s.kinds)-1]
}

// around is the innermost block around for which a condition holds.
func (s site) around(fits func(schema.Kind) bool) place {
	for i := len(s.kinds) - 1; i >= 0; i-- {
		if fits(s.kinds[i]) {
			return place{block, s.kinds[i]}
		}
	}
	return place{}
}

func (s site) root(name string) place {
	if p, bound := s.vars[name]; bound {
		return p
	}
	switch name {
	case "self":
		return s.around(schema.Kind.Device)
	case "port", "nic", "interface", "leaf", "spine", "core":
		return s.around(func(k schema.Kind) bool { return k.String() == name })
	}
	if k := schema.ByWord(schema.None, name); k != schema.None && len(schema.Def(k).Labels) > 0 {
		return place{word, k}
	}
	return place{}
}

// step follows a reference by one step, and renames the attribute that it reads.
func (f *fixer) step(p place, t hcl.Traverser) place {
	if p.form == unknown {
		return p
	}
	a, named := t.(hcl.TraverseAttr)
	switch {
	case p.form != block:
		return place{block, p.kind}
	case !named:
		return p
	}
	if k := schema.ByWord(p.kind, a.Name); k != schema.None {
		return place{inner, k}
	}
	def := schema.LookupFormer(p.kind, a.Name)
	if def == nil {
		if a.Name == "name" || a.Name == "key" || a.Name == "index" {
			return place{}
		}
		return p // the key of one of several
	}
	end := t.SourceRange().End.Byte
	if def.Num.Name() != a.Name {
		f.replace(end-len(a.Name), end, def.Num.Name())
	}
	if r := def.Type.Refs; def.Type.Base == schema.Ref && len(r) == 1 {
		return place{block, r[0]}
	}
	return place{}
}

// refer says what an expression refers to, and renames what it reads on the way.
func (f *fixer) refer(e hclsyntax.Expression, s site) place {
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		steps := e.Traversal[1:]
		p := s.root(e.Traversal.RootName())
		if _, bound := s.vars["each"]; !bound && e.Traversal.RootName() == "each" && len(steps) > 0 {
			if a, ok := steps[0].(hcl.TraverseAttr); ok && a.Name == "value" {
				p, steps = s.each, steps[1:]
			}
		}
		for _, t := range steps {
			p = f.step(p, t)
		}
		return p
	case *hclsyntax.RelativeTraversalExpr:
		p := f.refer(e.Source, s)
		for _, t := range e.Traversal {
			p = f.step(p, t)
		}
		return p
	case *hclsyntax.IndexExpr:
		p := f.refer(e.Collection, s)
		f.refer(e.Key, s)
		return f.step(p, hcl.TraverseIndex{})
	case *hclsyntax.SplatExpr:
		item := f.refer(e.Source, s)
		if item.form == inner {
			item.form = block
		}
		f.items[e.Item] = item
		return f.refer(e.Each, s)
	case *hclsyntax.AnonSymbolExpr:
		return f.items[e]
	case *hclsyntax.ForExpr:
		of := f.refer(e.CollExpr, s)
		if of.form == inner {
			of.form = block
		}
		vars := map[string]place{}
		for name, p := range s.vars {
			vars[name] = p
		}
		if e.KeyVar != "" {
			vars[e.KeyVar] = place{}
		}
		vars[e.ValVar] = of
		s.vars = vars
		for _, x := range []hclsyntax.Expression{e.KeyExpr, e.CondExpr} {
			if x != nil {
				f.refer(x, s)
			}
		}
		return f.refer(e.ValExpr, s)
	case *hclsyntax.ConditionalExpr:
		f.refer(e.Condition, s)
		return f.alike([]hclsyntax.Expression{e.TrueResult, e.FalseResult}, s)
	case *hclsyntax.ParenthesesExpr:
		return f.refer(e.Expression, s)
	case *hclsyntax.FunctionCallExpr:
		if p := f.alike(e.Args, s); slices.Contains(passes, e.Name) {
			return p
		}
	case *hclsyntax.TupleConsExpr:
		return f.alike(e.Exprs, s)
	case *hclsyntax.ObjectConsExpr:
		var values []hclsyntax.Expression
		for _, item := range e.Items {
			f.refer(item.KeyExpr, s)
			values = append(values, item.ValueExpr)
		}
		return f.alike(values, s)
	case *hclsyntax.ObjectConsKeyExpr:
		if e.ForceNonLiteral || hcl.ExprAsKeyword(e.Wrapped) == "" {
			f.refer(e.Wrapped, s)
		}
	case *hclsyntax.TemplateExpr:
		f.alike(e.Parts, s)
	case *hclsyntax.TemplateWrapExpr:
		return f.refer(e.Wrapped, s)
	case *hclsyntax.TemplateJoinExpr:
		f.refer(e.Tuple, s)
	case *hclsyntax.BinaryOpExpr:
		f.alike([]hclsyntax.Expression{e.LHS, e.RHS}, s)
	case *hclsyntax.UnaryOpExpr:
		f.refer(e.Val, s)
	}
	return place{}
}

// alike is what several expressions refer to if it is the same. Those that refer to nothing, as null, do not count.
func (f *fixer) alike(list []hclsyntax.Expression, s site) place {
	var common place
	same := true
	for _, e := range list {
		p := f.refer(e, s)
		switch {
		case p.form == unknown && empty(e):
		case common.form == unknown:
			common = p
			same = same && p.form != unknown
		default:
			same = same && common == p
		}
	}
	if !same {
		return place{}
	}
	return common
}

// empty reports whether an expression is null or an empty list or object.
func empty(e hclsyntax.Expression) bool {
	switch e := e.(type) {
	case *hclsyntax.TupleConsExpr:
		return len(e.Exprs) == 0
	case *hclsyntax.ObjectConsExpr:
		return len(e.Items) == 0
	}
	return isNull(e)
}

func isNull(e hclsyntax.Expression) bool {
	l, ok := e.(*hclsyntax.LiteralValueExpr)
	return ok && l.Val.IsNull()
}

// text is what a quoted string says that has nothing to work out in it.
func text(e hclsyntax.Expression) (string, bool) {
	t, ok := e.(*hclsyntax.TemplateExpr)
	if !ok || !t.IsStringLiteral() {
		return "", false
	}
	v, diags := t.Value(nil)
	if diags.HasErrors() {
		return "", false
	}
	return v.AsString(), true
}

// isSource reports whether a file is one of blocks of the language, and no other that fmt takes.
func isSource(name string) bool {
	return !strings.HasSuffix(name, ".rocetest.hcl") && !strings.HasSuffix(name, ".rocevars.hcl")
}

// lineOf is the line of a byte, from 1.
func lineOf(src []byte, at int) int { return 1 + bytes.Count(src[:at], []byte("\n")) }
