package lang

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// View is the compiled fabric as conditions may ask it, in plain rows. A row
// holds strings, numbers, bools, slices and further maps.
type View interface {
	// Ask answers one of Questions; the error is one of the arguments.
	Ask(function string, args []string) ([]map[string]any, error)
}

// Questions are the functions that ask the compiled fabric.
var Questions = []string{"devices", "links", "paths", "peers", "ports", "segments"}

// checkExpr is the condition and the message of an assert.
type checkExpr struct {
	ld     *loader
	mod    *modinst
	file   *file
	assert assert
}

// checks keeps the conditions of a module's check blocks.
func (ld *loader) checks(m *modinst) {
	for _, f := range m.unit.files {
		for i := range f.progs {
			p := &f.progs[i]
			if p.kind != schema.Check {
				continue
			}
			for _, a := range p.asserts {
				ld.cfg.Checks = append(ld.cfg.Checks, Check{
					Name: m.addr + p.name, Decl: m.declBase + DeclID(p.decl),
					Span: f.exprs[a.cond-1].at.in(f.id),
					eval: checkExpr{ld: ld, mod: m, file: f, assert: a},
				})
			}
		}
	}
}

// Eval evaluates a condition over a compiled fabric. If it does not hold, the
// text is its message. If it holds because it asks about nothing, that is a warning. Conditions are evaluated by one goroutine at a time.
func (c *Config) Eval(check Check, view View) (bool, string, diag.List) {
	e := check.eval
	ld := e.ld
	if ld == nil {
		return false, "", diag.List{{Summary: "check " + quoteWord(check.Name) + " cannot be evaluated"}}
	}
	ld.fresh()
	s := &scope{ld: ld, mod: ld.viewed(e.mod, view)}
	holds, ok := ld.holds(s, e.file, e.assert)
	if !ok {
		return false, "", ld.sorted()
	}
	if holds {
		ld.vacuous(s, e.file, check)
		return true, "", ld.sorted()
	}
	msg, _ := ld.message(s, e.file, e.assert)
	return false, msg, ld.sorted()
}

// vacuous tells that a condition holds whatever the fabric is like: what it asks of each is asked of none. Who means that says so, as in
// `length(x) == 0 || alltrue(...)`.
func (ld *loader) vacuous(s *scope, f *file, check Check) {
	cond := &f.exprs[check.eval.assert.cond-1]
	var visit func(e hclsyntax.Expression)
	visit = func(e hclsyntax.Expression) {
		switch e := e.(type) {
		case *hclsyntax.BinaryOpExpr:
			if e.Op == hclsyntax.OpLogicalAnd {
				visit(e.LHS)
				visit(e.RHS)
			}
		case *hclsyntax.FunctionCallExpr:
			if e.Name != "alltrue" || len(e.Args) != 1 {
				return
			}
			all, ok := s.eval(f, &expr{tree: e.Args[0], deps: cond.deps, at: placeOf(e.Args[0].Range())})
			if all, _ = all.Unmark(); ok && all.IsKnown() && !all.IsNull() && all.CanIterateElements() && all.LengthInt() == 0 {
				ld.say(diag.Diagnostic{
					Severity: diag.Warning, Summary: "check " + check.Name + " asks about nothing: its list is empty, so it holds whatever the fabric is like", Address: "check." + check.Name,
					Labels: []diag.Label{{Span: placeOf(e.Args[0].Range()).in(f.id), Where: "check " + quoteWord(check.Name)}},
					Help:   "see what the list is made of; where it may be empty, write length(...) == 0 || alltrue(...)",
				})
			}
		}
	}
	visit(cond.tree)
}

// Console evaluates an expression in the root module of a Config that was
// loaded with Keep, and prints its value.
func Console(c *Config, text string, view View) (string, diag.List) {
	ld := c.late
	if ld == nil || len(ld.mods) == 0 {
		return "", diag.List{{Summary: "the configuration was not kept for the console"}}
	}
	ld.fresh()
	const name = "console"
	src := []byte(text)
	id := ld.files.Add(name, src)
	p := checkText(src)
	if p == nil {
		p = depthOfTokens(src, false)
	}
	if p != nil {
		return "", diag.List{{Summary: p.summary, Help: p.help, Labels: []diag.Label{{Span: source.Span{File: id, Start: uint32(p.start), Len: uint32(p.length)}}}}}
	}
	tree, diags := hclsyntax.ParseExpression(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return "", syntaxErrors(diags, src, id)
	}
	var w rewriter
	e := &expr{tree: w.expr(tree), deps: w.deps | needsFuncs, at: place{0, uint32(len(src))}}
	s := &scope{ld: ld, mod: ld.viewed(ld.mods[0], view)}
	v, ok := s.eval(&file{id: id, name: name}, e)
	if !ok {
		return "", ld.sorted()
	}
	var b strings.Builder
	ld.print(&b, v, 0)
	return b.String(), ld.sorted()
}

// fresh forgets the findings of the evaluation before.
func (ld *loader) fresh() {
	ld.diags, ld.bound, ld.said, ld.stack = nil, diag.Bound{}, map[source.Span]int{}, nil
	ld.steps, ld.late = 0, true
}

// viewed is a module in which the functions that ask the fabric can be called.
func (ld *loader) viewed(m *modinst, view View) *modinst {
	if m.ctx.Functions == nil {
		ld.functions(m)
	}
	if m.late == nil {
		m.late = ld.charged(m.ctx.Functions)
	}
	out := *m
	out.ctx = &hcl.EvalContext{Functions: maps.Clone(m.late)}
	if view == nil {
		return &out
	}
	for _, name := range Questions {
		out.ctx.Functions[name] = ld.asking(func(args []string) ([]map[string]any, error) { return view.Ask(name, args) })
	}
	if t, ok := view.(TestView); ok {
		ld.testing(out.ctx.Functions, t)
	}
	return &out
}

// asking is a function that takes texts or references and returns rows.
func (ld *loader) asking(f func([]string) ([]map[string]any, error)) function.Function {
	return function.New(&function.Spec{
		VarParam: &function.Parameter{Name: "what", Type: cty.DynamicPseudoType},
		Type:     function.StaticReturnType(cty.DynamicPseudoType),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			var texts []string
			for i, a := range args {
				switch {
				case a.Type() == cty.String:
					texts = append(texts, a.AsString())
				case handleOf(a) != 0:
					texts = append(texts, ld.addrOf(handleOf(a)))
				default:
					return cty.NilVal, function.NewArgErrorf(i, "a text or a reference is needed")
				}
			}
			if ld.spent() {
				return cty.EmptyTupleVal, nil // somebody said so
			}
			rows, err := f(texts)
			if ld.steps += askSteps + len(rows); err == nil && ld.spent() {
				err = errors.New(ld.tooLong())
			}
			if err != nil {
				return cty.NilVal, err
			}
			vals := make([]cty.Value, len(rows))
			for i, r := range rows {
				vals[i] = fromGo(r)
			}
			return cty.TupleVal(vals), nil
		},
	})
}

// fromGo turns a plain Go value into one of cty's.
func fromGo(x any) cty.Value {
	switch x := x.(type) {
	case nil:
		return cty.NullVal(cty.DynamicPseudoType)
	case string:
		return cty.StringVal(x)
	case bool:
		return cty.BoolVal(x)
	case int:
		return cty.NumberIntVal(int64(x))
	case int64:
		return cty.NumberIntVal(x)
	case uint32:
		return cty.NumberUIntVal(uint64(x))
	case uint64:
		return cty.NumberUIntVal(x)
	case float64:
		return cty.NumberFloatVal(x)
	case map[string]any:
		m := make(map[string]cty.Value, len(x))
		for k, v := range x {
			m[k] = fromGo(v)
		}
		return cty.ObjectVal(m)
	case []map[string]any:
		vs := make([]cty.Value, len(x))
		for i := range x {
			vs[i] = fromGo(x[i])
		}
		return cty.TupleVal(vs)
	case []any:
		vs := make([]cty.Value, len(x))
		for i := range x {
			vs[i] = fromGo(x[i])
		}
		return cty.TupleVal(vs)
	case []string:
		vs := make([]cty.Value, len(x))
		for i := range x {
			vs[i] = cty.StringVal(x[i])
		}
		return cty.TupleVal(vs)
	}
	return cty.StringVal(fmt.Sprint(x))
}

// print writes a value as one writes it in the language; references are shown
// by their address.
func (ld *loader) print(b *strings.Builder, v cty.Value, indent int) {
	if v.IsMarked() {
		b.WriteString("(sensitive)")
		return
	}
	pad := strings.Repeat("  ", indent+1)
	switch t := v.Type(); {
	case v.IsNull():
		b.WriteString("null")
	case isHandleType(t):
		b.WriteString(ld.addrOf(handleOf(v)))
	case t == cty.String:
		b.WriteString(quoteKey(v.AsString()))
	case t == cty.Number && v.AsBigFloat().IsInf():
		b.WriteString("(not a finite number)")
	case t == cty.Number || t == cty.Bool:
		text, _ := json.Marshal(ld.plainGo(v))
		b.Write(text)
	case t.IsObjectType() || t.IsMapType():
		if v.LengthInt() == 0 {
			b.WriteString("{}")
			return
		}
		m := v.AsValueMap()
		b.WriteString("{\n")
		for _, k := range slices.Sorted(maps.Keys(m)) {
			b.WriteString(pad)
			if hclsyntax.ValidIdentifier(k) {
				b.WriteString(k)
			} else {
				b.WriteString(quoteKey(k))
			}
			b.WriteString(" = ")
			ld.print(b, m[k], indent+1)
			b.WriteString("\n")
		}
		b.WriteString(pad[2:] + "}")
	case v.CanIterateElements():
		if v.LengthInt() == 0 {
			b.WriteString("[]")
			return
		}
		b.WriteString("[\n")
		for it := v.ElementIterator(); it.Next(); {
			_, el := it.Element()
			b.WriteString(pad)
			ld.print(b, el, indent+1)
			b.WriteString(",\n")
		}
		b.WriteString(pad[2:] + "]")
	default:
		b.WriteString(t.FriendlyName())
	}
}
