package lang

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/source"
)

// TestView is what the asserts of a test may ask besides the fabric.
type TestView interface {
	View
	// Findings are those of the command, or of some rules by code or name.
	Findings(rules []string) []map[string]any
	// Artifacts are the names of the files that globs fit, of all without any.
	Artifacts(globs []string) ([]string, error)
	// Artifact is the text of a file.
	Artifact(name string) (string, error)
}

// Asserted is what became of an assert of a run.
type Asserted struct {
	At      source.Span // of the condition
	Holds   bool
	Message string    // its own, where it does not hold
	Sides   []string  // of a comparison that does not hold: "the left side is 3"
	Diags   diag.List // why it could not be evaluated
}

// Wanted is an expect_artifact block: which files, and what is asked of each.
type Wanted struct {
	File     Setting
	Equals   []Setting // at most one
	Contains []Setting
	Excludes []Setting
	Matches  []Setting
}

// underTest is the run that a configuration is loaded for.
type underTest struct {
	file *testFile
	run  *testRun
	mod  *modinst
}

// startRun gives the variables of the root the values of a run, above all others.
func (ld *loader) startRun(m *modinst) {
	if ld.Run == nil {
		return
	}
	t, run := parseRun(ld.Run, ld.files.AddDigest(ld.Run.File, ld.Run.digest, len(ld.Run.src)))
	if run == nil {
		for _, d := range t.diags {
			ld.say(d)
		}
		return
	}
	ld.test = &underTest{t, run, m}
	set := map[string]bool{}
	for _, v := range ld.test.run.vars {
		set[v.name] = true
	}
	for _, v := range t.common {
		if !set[v.name] {
			ld.giveTest(m, v)
		}
	}
	for _, v := range ld.test.run.vars {
		ld.giveTest(m, v)
	}
}

func (ld *loader) giveTest(m *modinst, v testVar) {
	t := ld.test
	decl, ok := m.variables[v.name]
	if !ok {
		ld.fail(v.key.in(t.file.id), "there is no variable "+quoteWord(v.name), listHelp(v.name, m.varNames))
		return
	}
	e := &t.file.exprs[v.expr-1]
	decl.given = &given{at: e.at.in(t.file.id), compute: func(*variable) (cty.Value, bool) {
		return (&scope{ld: ld, mod: m}).eval(t.file.file, e)
	}}
	ld.cfg.Inputs = slices.DeleteFunc(ld.cfg.Inputs, func(in Input) bool { return in.Name == v.name })
}

// testing adds the functions that only tests have.
func (ld *loader) testing(to map[string]function.Function, view TestView) {
	to["findings"] = ld.asking(func(args []string) ([]map[string]any, error) { return view.Findings(args), nil })
	texts := &function.Parameter{Name: "file", Type: cty.String}
	to["artifacts"] = function.New(&function.Spec{
		VarParam: texts, Type: function.StaticReturnType(cty.List(cty.String)),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			globs := make([]string, len(args))
			for i := range args {
				globs[i] = args[i].AsString()
			}
			names, err := view.Artifacts(globs)
			if err != nil || len(names) == 0 {
				return cty.ListValEmpty(cty.String), err
			}
			list := make([]cty.Value, len(names))
			for i, n := range names {
				list[i] = cty.StringVal(n)
			}
			return cty.ListVal(list), nil
		},
	})
	to["artifact"] = function.New(&function.Spec{
		Params: []function.Parameter{*texts}, Type: function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			text, err := view.Artifact(args[0].AsString())
			return cty.StringVal(text), err
		},
	})
}

// Test makes another run the one that Down, Asserts and Wants are of. It has to
// be of the same file, and to give variables the same values.
func (c *Config) Test(r *Run) bool {
	ld := c.tested()
	if ld == nil || ld.Run.File != r.File || ld.Run.inputs != r.inputs {
		return false
	}
	t, run := parseRun(r, ld.test.file.id)
	if run == nil {
		return false
	}
	ld.Run, ld.test = r, &underTest{t, run, ld.test.mod}
	return true
}

// viewedByTest is the root as the expressions of its run see it.
func (ld *loader) viewedByTest(view TestView) *scope {
	if view == nil {
		return &scope{ld: ld, mod: ld.viewed(ld.test.mod, nil)}
	}
	return &scope{ld: ld, mod: ld.viewed(ld.test.mod, view)}
}

// tested is the loader of a configuration with its run; nil without one.
func (c *Config) tested() *loader {
	if c.late == nil || c.late.test == nil {
		return nil
	}
	c.late.fresh()
	return c.late
}

// Down are the addresses that a run takes down, as texts and references gave
// them, each with the place of the attribute.
func (c *Config) Down() ([]Setting, diag.List) {
	ld := c.tested()
	if ld == nil || ld.test.run.fails == 0 {
		return nil, nil
	}
	t := ld.test
	e := &t.file.exprs[t.run.fails-1]
	at := e.at.in(t.file.id)
	if elems, ok := e.tree.(*hclsyntax.TupleConsExpr); ok {
		var list []Setting
		for _, el := range elems.Exprs {
			one := &expr{tree: el, deps: e.deps, at: placeOf(el.Range())}
			if v, ok := ld.viewedByTest(nil).eval(t.file.file, one); ok {
				ld.addresses(v, one.at.in(t.file.id), &list)
			}
		}
		return list, ld.sorted()
	}
	var list []Setting
	if v, ok := ld.viewedByTest(nil).eval(t.file.file, e); ok {
		ld.addresses(v, at, &list)
	}
	return list, ld.sorted()
}

const failHelp = "write fail = [switch.NAME, \"DEVICE/PORT\"]"

// addresses collects texts and references, those in lists and maps included.
func (ld *loader) addresses(v cty.Value, at source.Span, into *[]Setting) {
	v, _ = v.Unmark()
	switch t := v.Type(); {
	case v.IsNull():
		ld.fail(at, "`fail` takes addresses, and this is null", failHelp)
	case t == cty.String:
		*into = append(*into, Setting{v.AsString(), at})
	case handleOf(v) != 0:
		*into = append(*into, Setting{ld.addrOf(handleOf(v)), at})
	case v.CanIterateElements():
		for it := v.ElementIterator(); it.Next(); {
			_, el := it.Element()
			ld.addresses(el, at, into)
		}
	default:
		ld.fail(at, "`fail` takes addresses: texts and references to switches, nodes, ports, NICs and links", failHelp)
	}
}

// Asserts evaluates the asserts of the run in their order.
func (c *Config) Asserts(view TestView) []Asserted {
	ld := c.tested()
	if ld == nil {
		return nil
	}
	t := ld.test
	var list []Asserted
	for _, a := range t.run.asserts {
		ld.fresh()
		s := ld.viewedByTest(view)
		e := &t.file.exprs[a.cond-1]
		done := Asserted{At: e.at.in(t.file.id)}
		holds, ok := ld.holds(s, t.file.file, a)
		if done.Holds = holds && ok; ok && !holds {
			done.Message, _ = ld.message(s, t.file.file, a)
			if len(ld.diags) == 0 {
				done.Sides = ld.sides(s, t.file.file, e)
			}
		}
		done.Diags = ld.sorted()
		list = append(list, done)
	}
	return list
}

var comparisons = []*hclsyntax.Operation{
	hclsyntax.OpEqual, hclsyntax.OpNotEqual, hclsyntax.OpGreaterThan, hclsyntax.OpGreaterThanOrEqual, hclsyntax.OpLessThan, hclsyntax.OpLessThanOrEqual,
}

// maxSide is how much of a side is shown.
const maxSide = 160

// sides are both values of a comparison, where they are short.
func (ld *loader) sides(s *scope, f *file, e *expr) (list []string) {
	op, ok := e.tree.(*hclsyntax.BinaryOpExpr)
	if !ok || !slices.Contains(comparisons, op.Op) {
		return nil
	}
	for i, side := range []hclsyntax.Expression{op.LHS, op.RHS} {
		if _, plain := side.(*hclsyntax.LiteralValueExpr); plain {
			continue
		}
		if _, plain := quotedText(side); plain {
			continue
		}
		v, ok := s.eval(f, &expr{tree: side, deps: e.deps, at: e.at})
		if !ok {
			return nil
		}
		var b strings.Builder
		if v.HasMarkDeep(funcs.Sensitive) {
			b.WriteString("(sensitive)")
		} else {
			ld.print(&b, v, 0)
		}
		if text := strings.Join(strings.Fields(b.String()), " "); len(text) <= maxSide {
			list = append(list, "the "+[]string{"left", "right"}[i]+" side is "+text)
		}
	}
	return list
}

// Wants evaluates the expect_artifact blocks of the run.
func (c *Config) Wants(view TestView) ([]Wanted, diag.List) {
	ld := c.tested()
	if ld == nil {
		return nil, nil
	}
	t := ld.test
	s := ld.viewedByTest(view)
	var list []Wanted
	for _, w := range t.run.wants {
		out := Wanted{File: w.file}
		for _, a := range w.args {
			v, ok := s.eval(t.file.file, &t.file.exprs[a.expr-1])
			if !ok {
				continue
			}
			texts := ld.wantedTexts(v, a.at.in(t.file.id), a.name)
			switch a.name {
			case "equals":
				if out.Equals = texts; len(texts) > 1 {
					ld.fail(a.at.in(t.file.id), "`equals` takes one text, the whole file", "write parts of it in `contains`")
				}
			case "contains":
				out.Contains = texts
			case "excludes":
				out.Excludes = texts
			case "matches":
				out.Matches = texts
			}
		}
		list = append(list, out)
	}
	return list, ld.sorted()
}

// wantedTexts is a text, or each of a list.
func (ld *loader) wantedTexts(v cty.Value, at source.Span, name string) []Setting {
	if v.HasMarkDeep(funcs.Sensitive) {
		ld.fail(at, "`"+name+"` holds a secret, which no artifact does", "leave it out", secretLabels(v)...)
		return nil
	}
	v, _ = v.UnmarkDeep()
	switch t := v.Type(); {
	case v.IsNull():
	case t == cty.String:
		return []Setting{{v.AsString(), at}}
	case t.IsTupleType() || t.IsListType() || t.IsSetType():
		var list []Setting
		for it := v.ElementIterator(); it.Next(); {
			_, el := it.Element()
			if el.Type() != cty.String || el.IsNull() {
				ld.fail(at, "`"+name+"` takes texts", "write "+name+" = [\"mtu 9216\"]")
				return nil
			}
			list = append(list, Setting{el.AsString(), at})
		}
		return list
	}
	ld.fail(at, "`"+name+"` takes a text or a list of texts", "write "+name+" = [\"mtu 9216\"]")
	return nil
}

// Declares reports whether the root has a variable or a check: "var.NAME",
// "check.NAME".
func (c *Config) Declares(what string) bool {
	if name, ok := strings.CutPrefix(what, "var."); ok {
		return slices.Contains(c.variables, name)
	}
	name, ok := strings.CutPrefix(what, "check.")
	return ok && slices.ContainsFunc(c.Checks, func(x Check) bool { return x.Name == name })
}
