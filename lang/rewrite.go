package lang

import (
	"math/big"
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/funcs"
)

// rewriter replaces, in a tree that will be kept, the nodes that look names up
// by nodes of this package. Everything else stays the library's: operators,
// templates, for expressions and calls keep its semantics, and references
// never need a value that holds a whole fabric.
type rewriter struct {
	deps  deps
	names []string            // of for expressions around
	note  func(hcl.Traversal) // told of references; nil: nobody asks
}

func (w *rewriter) expr(e hclsyntax.Expression) hclsyntax.Expression {
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		w.root(e.Traversal)
		return &rootNode{Expression: e, trav: e.Traversal, at: e.SrcRange}
	case *hclsyntax.RelativeTraversalExpr:
		e.Source = w.expr(e.Source)
		return &stepNode{Expression: e, source: e.Source, trav: e.Traversal}
	case *hclsyntax.IndexExpr:
		e.Collection, e.Key = w.expr(e.Collection), w.expr(e.Key)
		return &indexNode{Expression: e, source: e.Collection, key: e.Key, at: e.BracketRange}
	case *hclsyntax.ParenthesesExpr:
		return w.expr(e.Expression)
	case *hclsyntax.TemplateWrapExpr:
		return w.expr(e.Wrapped)
	case *hclsyntax.ConditionalExpr:
		e.Condition, e.TrueResult, e.FalseResult = w.expr(e.Condition), w.expr(e.TrueResult), w.expr(e.FalseResult)
		return &chooseNode{Expression: e, cond: e}
	case *hclsyntax.TemplateExpr:
		w.all(e.Parts)
		asTexts(e.Parts)
	case *hclsyntax.TemplateJoinExpr:
		e.Tuple = w.expr(e.Tuple)
	case *hclsyntax.FunctionCallExpr:
		w.deps |= needsFuncs
		w.all(e.Args)
	case *hclsyntax.TupleConsExpr:
		w.all(e.Exprs)
	case *hclsyntax.ObjectConsExpr:
		for i := range e.Items {
			w.key(&e.Items[i])
			e.Items[i].ValueExpr = w.expr(e.Items[i].ValueExpr)
		}
	case *hclsyntax.BinaryOpExpr:
		e.LHS, e.RHS = w.expr(e.LHS), w.expr(e.RHS)
	case *hclsyntax.UnaryOpExpr:
		e.Val = w.expr(e.Val)
	case *hclsyntax.ForExpr:
		w.loop(e)
	case *hclsyntax.SplatExpr:
		e.Source, e.Each = w.expr(e.Source), w.expr(e.Each)
		return &splatNode{Expression: e, splat: e}
	}
	return e
}

func (w *rewriter) all(es []hclsyntax.Expression) {
	for i := range es {
		es[i] = w.expr(es[i])
	}
}

// key rewrites an object's key, but leaves bare words alone: they are names.
func (w *rewriter) key(it *hclsyntax.ObjectConsItem) {
	k, ok := it.KeyExpr.(*hclsyntax.ObjectConsKeyExpr)
	if !ok {
		it.KeyExpr = w.expr(it.KeyExpr)
		return
	}
	if k.ForceNonLiteral {
		k.Wrapped = w.expr(k.Wrapped)
		return
	}
	if _, bare := k.Wrapped.(*hclsyntax.ScopeTraversalExpr); bare || hcl.ExprAsKeyword(k.Wrapped) != "" {
		return
	}
	k.Wrapped = w.expr(k.Wrapped)
}

func (w *rewriter) loop(e *hclsyntax.ForExpr) {
	e.CollExpr = &overNode{w.expr(e.CollExpr)}
	n := len(w.names)
	w.names = append(w.names, e.KeyVar, e.ValVar)
	if e.KeyExpr != nil {
		e.KeyExpr = w.expr(e.KeyExpr)
	}
	e.ValExpr = w.expr(e.ValExpr)
	if e.CondExpr != nil {
		e.CondExpr = &condNode{Expression: w.expr(e.CondExpr)}
	}
	w.names = w.names[:n]
}

func (w *rewriter) root(trav hcl.Traversal) {
	name := trav.RootName()
	if slices.Contains(w.names, name) {
		return
	}
	if w.note != nil {
		w.note(trav)
	}
	switch name {
	case "each":
		w.deps |= needsEach
	case "self":
		w.deps |= needsSelf
	case "port", "nic", "interface":
		w.deps |= needsMember
	case "leaf":
		w.deps |= needsLeaf
	case "spine":
		w.deps |= needsSpine
	case "core":
		w.deps |= needsCore
	}
}

// rootNode is a reference: `var.x`, `node.gpu["a"].nic["b"]`, or the name of a
// for expression around it. The embedded node stands in for walks and ranges.
type rootNode struct {
	hclsyntax.Expression
	trav hcl.Traversal
	at   hcl.Range
	text bool // it is a part of a text
}

// stepNode is a traversal of the value of another expression.
type stepNode struct {
	hclsyntax.Expression
	source hclsyntax.Expression
	trav   hcl.Traversal
	text   bool
}

// indexNode is an index whose key is computed.
type indexNode struct {
	hclsyntax.Expression
	source, key hclsyntax.Expression
	at          hcl.Range
}

// chooseNode is a conditional. The two sides may be handles of different kinds
// of blocks.
type chooseNode struct {
	hclsyntax.Expression
	cond *hclsyntax.ConditionalExpr
}

// splatNode is x[*].y, whose source may be a family of blocks.
type splatNode struct {
	hclsyntax.Expression
	splat *hclsyntax.SplatExpr
}

// textNode is a computed part of a text.
type textNode struct{ hclsyntax.Expression }

// asTexts marks the parts of a text, in which whole numbers become texts before
// the library prints them: it does that with 512 bits, and slowly.
func asTexts(parts []hclsyntax.Expression) {
	for i, p := range parts {
		switch p := p.(type) {
		case *rootNode:
			p.text = true
		case *stepNode:
			p.text = true
		case *hclsyntax.BinaryOpExpr, *hclsyntax.FunctionCallExpr:
			parts[i] = &textNode{p}
		}
	}
}

// numberText is a whole number as the library would print it; other values stay
// what they are.
func numberText(v cty.Value) cty.Value {
	if v.Type() != cty.Number || v.IsMarked() || v.IsNull() || !v.IsKnown() {
		return v
	}
	if n, acc := v.AsBigFloat().Int64(); acc == big.Exact {
		return cty.StringVal(strconv.FormatInt(n, 10))
	}
	return v
}

// condNode is the condition of a for expression. The library tries it once
// with unknown values before the first element, which tells it nothing here.
type condNode struct{ hclsyntax.Expression }

// native is a node that can give its value before it is made one of cty's, so
// that x.y[z] never builds more than the last step asks for.
type native interface {
	native(ctx *hcl.EvalContext) (val, hcl.Diagnostics)
}

func nativeOf(e hclsyntax.Expression, ctx *hcl.EvalContext) (val, hcl.Diagnostics) {
	if n, ok := e.(native); ok {
		return n.native(ctx)
	}
	v, diags := e.Value(ctx)
	return val{v: v}, diags
}

func (n *rootNode) native(ctx *hcl.EvalContext) (val, hcl.Diagnostics) {
	name := n.trav.RootName()
	for c := ctx; c != nil; c = c.Parent() {
		if v, ok := c.Variables[name]; ok && name != scopeName {
			return walk(ctx, val{v: v}, n.trav[1:])
		}
	}
	s := scopeOf(ctx)
	if s == nil {
		return val{v: cty.DynamicVal}, hcl.Diagnostics{errorAt(n.at, "a reference cannot be used here", "Only plain values stand here.")}
	}
	return s.resolve(n.trav)
}

func (n *stepNode) native(ctx *hcl.EvalContext) (val, hcl.Diagnostics) {
	v, diags := nativeOf(n.source, ctx)
	if diags.HasErrors() {
		return v, diags
	}
	out, more := walk(ctx, v, n.trav)
	return out, append(diags, more...)
}

func (n *indexNode) native(ctx *hcl.EvalContext) (val, hcl.Diagnostics) {
	v, diags := nativeOf(n.source, ctx)
	key, more := n.key.Value(ctx)
	diags = append(diags, more...)
	if diags.HasErrors() {
		return val{v: cty.DynamicVal}, diags
	}
	out, more := index(ctx, v, key, n.at)
	return out, append(diags, more...)
}

func (n *rootNode) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := valueOf(n, ctx)
	if n.text {
		v = numberText(v)
	}
	return v, diags
}

func (n *stepNode) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := valueOf(n, ctx)
	if n.text {
		v = numberText(v)
	}
	return v, diags
}

func (n *textNode) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := n.Expression.Value(ctx)
	return numberText(v), diags
}

func (n *indexNode) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) { return valueOf(n, ctx) }

func valueOf(n native, ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := n.native(ctx)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	out, more := v.cty(ctx)
	return out, append(diags, more...)
}

func (n *chooseNode) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	cond, diags := n.cond.Condition.Value(ctx)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	yes, yesDiags := n.cond.TrueResult.Value(ctx)
	no, noDiags := n.cond.FalseResult.Value(ctx)
	plain, _ := cond.Unmark()
	if plain.Type() == cty.Bool && plain.IsKnown() && !plain.IsNull() {
		// Of the side that is not taken only the type matters, and not even that where an attribute may take both.
		apart := isHandleType(yes.Type()) && isHandleType(no.Type()) || wordBeside(yes, no) || wordBeside(no, yes)
		switch {
		case plain.True() && (noDiags.HasErrors() || apart):
			return yes.WithSameMarks(cond), yesDiags
		case plain.False() && (yesDiags.HasErrors() || apart):
			return no.WithSameMarks(cond), noDiags
		}
	}
	yes, no = sameList(yes, no)
	lit := func(v cty.Value, e hclsyntax.Expression) hclsyntax.Expression {
		return &hclsyntax.LiteralValueExpr{Val: v, SrcRange: e.Range()}
	}
	whole := hclsyntax.ConditionalExpr{
		Condition: lit(cond, n.cond.Condition), TrueResult: lit(yes, n.cond.TrueResult), FalseResult: lit(no, n.cond.FalseResult),
		SrcRange: n.cond.SrcRange,
	}
	diags = append(append(diags, yesDiags...), noDiags...)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	return whole.Value(ctx)
}

// wordBeside reports whether one side of a conditional is a word, or null, and the other a block, a list or an object:
// `keep ? "keep" : qos.x` has no type of its own, and many an attribute takes either.
func wordBeside(word, other cty.Value) bool {
	null := word.IsNull() && word.Type() == cty.DynamicPseudoType
	return (null || word.Type() == cty.String) && other.Type() != cty.DynamicPseudoType && !other.Type().IsPrimitiveType()
}

// sameList gives two long tuples of different lengths that have elements of one
// type the type that the library finds for them by comparing each with each.
func sameList(a, b cty.Value) (cty.Value, cty.Value) {
	x, longX := funcs.Uniform(a)
	y, longY := funcs.Uniform(b)
	if !longX && !longY || !a.Type().IsTupleType() || !b.Type().IsTupleType() || a.IsMarked() || b.IsMarked() || a.Type().Length() == b.Type().Length() {
		return a, b
	}
	of := x.Type()
	if !longX {
		of = y.Type()
	}
	as := func(v, list cty.Value, long bool) (cty.Value, bool) {
		switch {
		case long:
			return list, list.Type().Equals(of)
		case !v.IsKnown() || v.IsNull():
			return v, false
		case v.LengthInt() == 0:
			return cty.ListValEmpty(of.ElementType()), true
		}
		for _, t := range v.Type().TupleElementTypes() {
			if !t.Equals(of.ElementType()) {
				return v, false
			}
		}
		return cty.ListVal(v.AsValueSlice()), true
	}
	l, okA := as(a, x, longX)
	m, okB := as(b, y, longY)
	if !okA || !okB {
		return a, b
	}
	return l, m
}

func (n *splatNode) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	src, diags := nativeOf(n.splat.Source, ctx)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	v, more := src.cty(ctx)
	diags = append(diags, more...)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	if t := v.Type(); t.IsMapType() && isHandleType(t.ElementType()) && v.IsKnown() && !v.IsNull() {
		v = inKeyOrder(v)
	}
	if ok, more := gone(ctx, v, n.splat.SrcRange); !ok {
		return cty.EmptyTupleVal, append(diags, more...)
	}
	whole := *n.splat // shares Item, which the library keys by context
	whole.Source = &hclsyntax.LiteralValueExpr{Val: v, SrcRange: n.splat.Source.Range()}
	return whole.Value(ctx)
}

func (n *condNode) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	for _, v := range ctx.Variables {
		if v.RawEquals(cty.DynamicVal) {
			return cty.UnknownVal(cty.Bool), nil
		}
	}
	return n.Expression.Value(ctx)
}

// errorAt makes a diagnostic of the library's form, for expressions.
func errorAt(at hcl.Range, summary, detail string) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at}
}
