package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/rocec/rocec/lang/schema"
)

// prog reduces variable, locals, output, module and check blocks.
func (r *reducer) prog(b *hclsyntax.Block, kind schema.Kind, me int32) {
	p := prog{kind: kind, decl: me, name: r.strs[r.decls[me].label]}
	def := schema.Def(kind)
	if kind == schema.Variable {
		r.own = mention{"var", p.name}
		defer func() { r.own = mention{} }()
	}
	for _, a := range sortedAttrs(b.Body.Attributes) {
		if !def.Free && schema.Lookup(kind, a.Name) == nil {
			d := r.decls[me]
			r.unknownAttr(a, &d, def)
			continue
		}
		p.args = append(p.args, arg{name: a.Name, expr: r.progExpr(kind, a), at: placeOf(a.Expr.Range()), nmAt: placeOf(a.NameRange)})
	}
	for _, in := range b.Body.Blocks {
		switch {
		case kind == schema.Variable && in.Type == "validation", kind == schema.Check && in.Type == "assert":
			r.assert(in, &p)
		default:
			r.unknownBlock(in, kind, kind)
		}
	}
	for i := range def.Attrs {
		if ad := &def.Attrs[i]; ad.Required && p.arg(ad.Num.Name()) == nil {
			r.fail(r.decls[me].at, "`"+def.Word+"` needs `"+ad.Num.Name()+"`", ad.Doc)
		}
	}
	if kind == schema.Check && len(p.asserts) == 0 {
		r.fail(r.decls[me].at, "`check` has no `assert` block", "write assert { condition = ... error_message = ... }")
	}
	r.progs = append(r.progs, p)
}

// progExpr keeps an argument. The type of a variable is not evaluated, so it is
// kept as it is; in JSON it is a text.
func (r *reducer) progExpr(kind schema.Kind, a *hclsyntax.Attribute) int32 {
	if kind != schema.Variable || a.Name != "type" {
		return r.expr(a.Expr)
	}
	e := a.Expr
	if t, ok := e.(*hclsyntax.TemplateExpr); ok && t.IsStringLiteral() {
		text := t.Parts[0].(*hclsyntax.LiteralValueExpr).Val.AsString()
		start := t.SrcRange.Start
		start.Byte++
		start.Column++
		if checkTypeDepth(text) {
			if parsed, diags := hclsyntax.ParseExpression([]byte(text), r.name, start); !diags.HasErrors() {
				e = parsed
			}
		}
	}
	r.exprs = append(r.exprs, expr{tree: e, at: placeOf(a.Expr.Range())})
	return int32(len(r.exprs))
}

func checkTypeDepth(text string) bool {
	return strings.Count(text, "(")+strings.Count(text, "{")+strings.Count(text, "[") < maxDepth && strings.Count(text, "!")+strings.Count(text, "-") < maxDepth
}

func (r *reducer) assert(b *hclsyntax.Block, p *prog) {
	a := assert{at: headPlace(b)}
	for _, at := range sortedAttrs(b.Body.Attributes) {
		switch at.Name {
		case "condition":
			a.cond = r.expr(at.Expr)
		case "error_message":
			a.msg = r.expr(at.Expr)
		default:
			r.fail(placeOf(at.NameRange), "`"+b.Type+"` has no attribute `"+clipName(at.Name)+"`", choiceHelp(at.Name, "it takes ", []string{"condition", "error_message"}))
		}
	}
	for _, in := range b.Body.Blocks {
		r.fail(placeOf(in.TypeRange), "`"+b.Type+"` takes no blocks, and `"+clipName(in.Type)+"` stands in it", "write it outside of `"+b.Type+"`")
	}
	if a.cond == 0 || a.msg == 0 {
		r.fail(a.at, "`"+b.Type+"` needs `condition` and `error_message`", "write condition = what has to hold, and error_message = what is said where it does not")
		return
	}
	p.asserts = append(p.asserts, a)
}
