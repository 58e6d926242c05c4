package lang

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
)

// Run is a `run` block of a file of tests: what can be told of it before any
// fabric is there. Options.Run loads a configuration for it.
type Run struct {
	File    string // as ReadTests was given it
	Name    string
	At      source.Span // of its head
	Command Setting     // validate, lint or build; where it is not written, At is zero
	// Variables are the names that get values, those for all runs of the file included.
	Variables []Setting
	// Expects are the findings that have to be there: a code or a name of a rule,
	// "check.NAME" or "var.NAME".
	Expects   []Setting
	Fails     bool // something is down
	Asserts   int
	Artifacts int // expect_artifact blocks

	src    []byte
	digest source.Digest
	index  int
	common place // the file's `variables` block
	own    place // the whole block
	inputs string
}

// Inputs is a text that runs of one file share if and only if they give variables
// the same expressions: what is compiled for one is what is for the other.
func (r *Run) Inputs() string { return r.inputs }

// TestEndings are the ends of the names of files of tests.
var TestEndings = []string{".rocetest.hcl", ".rocetest.json"}

// Commands are those that a run can have; the first is what it has unless it says so.
var Commands = []string{"validate", "lint", "build"}

// maxTestBytes bounds a file of tests, which people write.
const maxTestBytes = 1 << 20

// ReadTests reads the text of a file of tests and enters the file into the
// table. Nothing is evaluated: names of rules and variables are checked by who
// knows them.
func ReadTests(files *source.Files, name string, src []byte) ([]*Run, diag.List) {
	id := files.Add(name, src)
	t := parseTests(name, id, src)
	runs := make([]*Run, len(t.runs))
	for i := range t.runs {
		runs[i] = &t.runs[i].Run
		runs[i].src, runs[i].digest, runs[i].index, runs[i].common = src, files.Digest(id), i, t.commonAt
		runs[i].inputs = t.inputs(&t.runs[i])
	}
	return runs, t.diags
}

// inputs are the values that a run gives variables, as they are written.
func (t *testFile) inputs(r *testRun) string {
	var list []string
	for i, v := range slices.Concat(r.vars, t.common) {
		if i < len(r.vars) || !slices.ContainsFunc(r.vars, func(own testVar) bool { return own.name == v.name }) {
			at := t.exprs[v.expr-1].at
			list = append(list, v.name+" = "+string(t.src[at.start:at.start+at.length]))
		}
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// testFile is a file of tests with its expressions.
type testFile struct {
	*file
	common   []testVar // of its `variables` block
	commonAt place
	runs     []testRun
}

type testRun struct {
	Run
	vars    []testVar
	fails   int32 // index+1 in exprs; 0: nothing is down
	asserts []assert
	wants   []testArtifact
}

// testVar is a value for a variable.
type testVar struct {
	name string
	key  place
	expr int32 // index+1 in exprs
}

// testArtifact is an expect_artifact block.
type testArtifact struct {
	file Setting
	args []arg
}

func parseTests(name string, id source.FileID, src []byte) *testFile {
	f := &file{name: name, id: id, src: src, part: place{0, uint32(min(len(src), maxTestBytes))}, json: strings.HasSuffix(name, ".json"), tables: newTables()}
	t := &testFile{file: f}
	if len(src) > maxTestBytes {
		f.refuse(&problem{summary: "file has " + itoa(len(src)) + " bytes, at most " + itoa(maxTestBytes) + " of tests are read"})
		return t
	}
	if p := checkText(src); p != nil {
		f.refuse(p)
		return t
	}
	t.read()
	return t
}

// read enters what the part of the file holds.
func (t *testFile) read() {
	body, _ := t.parseTests()
	if body == nil || t.broken {
		return
	}
	r := testReader{reducer: reducer{file: t.file}, into: t}
	r.top(body)
}

// parseTests is parse with the blocks of tests.
func (t *testFile) parseTests() (*hclsyntax.Body, []jsonComment) {
	if t.json {
		return t.parseJSON(testsJSON)
	}
	return t.parse()
}

// parseRun reads the file of a run as far as the run needs it: a file may hold
// thousands, each of which is loaded by itself.
func parseRun(r *Run, id source.FileID) (t *testFile, run *testRun) {
	if strings.HasSuffix(r.File, ".json") {
		if t = parseTests(r.File, id, r.src); t.diags.HasErrors() || r.index >= len(t.runs) {
			return t, nil
		}
		return t, &t.runs[r.index]
	}
	t = &testFile{file: &file{name: r.File, id: id, src: r.src, tables: newTables()}}
	for _, t.part = range []place{r.common, r.own} {
		if t.part.length > 0 {
			t.read()
		}
	}
	if t.diags.HasErrors() || len(t.runs) != 1 {
		return t, nil
	}
	return t, &t.runs[0]
}

type testReader struct {
	reducer
	into   *testFile
	common *hclsyntax.Block // the first `variables` block
}

// wrong reports a mistake, in the run at hand.
func (r *testReader) wrong(at hcl.Range, in *testRun, summary, help string, more ...diag.Label) {
	l := diag.Label{Span: placeOf(at).in(r.id)}
	if in != nil {
		l.Where = runWhere(in.Name)
	}
	r.diags.Add(diag.Diagnostic{Summary: summary, Help: help, Labels: append([]diag.Label{l}, more...)})
}

func runWhere(name string) string { return "run " + quoteWord(name) }

func (r *testReader) top(body *hclsyntax.Body) {
	for _, a := range sortedAttrs(body.Attributes) {
		help := "the blocks are run and variables"
		if a.Name == "variables" {
			help = "it is a block here: write `variables { }` without the equals sign"
		}
		r.wrong(a.NameRange, nil, "a file of tests has no attribute `"+clipName(a.Name)+"` outside of blocks", help)
	}
	for _, b := range body.Blocks {
		switch b.Type {
		case "variables":
			r.variables(b)
		case "run":
			r.run(b)
		default:
			help := choiceHelp(b.Type, "what describes a fabric stands in files that end in .roce.hcl; the blocks of tests are ", []string{"run", "variables"})
			r.wrong(b.TypeRange, nil, "a file of tests has no block `"+clipName(b.Type)+"`", help)
		}
	}
	for i := range r.into.runs {
		run := &r.into.runs[i]
		for _, v := range slices.Concat(r.into.common, run.vars) {
			run.Variables = append(run.Variables, Setting{v.name, v.key.in(r.id)})
		}
	}
}

// variables reads the values that all runs of the file have.
func (r *testReader) variables(b *hclsyntax.Block) {
	if r.common != nil {
		r.wrong(b.TypeRange, nil, "block `variables` is written twice", "join them", diag.Label{Span: placeOf(r.common.TypeRange).in(r.id), Text: "first written"})
		return
	}
	r.common, r.into.commonAt = b, blockPlace(b)
	if len(b.Labels) > 0 {
		r.wrong(b.LabelRanges[0], nil, "block `variables` takes no label", "write `variables { }`; values of one run stand in its `variables = { }`")
	}
	for _, in := range b.Body.Blocks {
		r.wrong(in.TypeRange, nil, "`variables` takes no blocks, and `"+clipName(in.Type)+"` stands in it", "write `"+clipName(in.Type)+" = { ... }` for a variable of that name")
	}
	for _, a := range sortedAttrs(b.Body.Attributes) {
		r.into.common = append(r.into.common, testVar{a.Name, placeOf(a.NameRange), r.expr(a.Expr)})
	}
}

// blockPlace is a block from its type to its closing brace.
func blockPlace(b *hclsyntax.Block) place {
	return placeOf(hcl.RangeBetween(b.TypeRange, b.CloseBraceRange))
}

var (
	runAttrs  = []string{"command", "variables", "fail", "expect_failures"}
	runBlocks = []string{"assert", "expect_artifact"}
)

func (r *testReader) run(b *hclsyntax.Block) {
	head := placeOf(b.TypeRange)
	if n := len(b.LabelRanges); n > 0 {
		end := placeOf(b.LabelRanges[n-1])
		head.length = end.start + end.length - head.start
	}
	if len(b.Labels) != 1 || b.Labels[0] == "" {
		r.wrong(b.TypeRange, nil, "block `run` takes one label, its name", "write `run \"what_holds\" { }`")
		return
	}
	run := testRun{Run: Run{File: r.name, Name: b.Labels[0], At: head.in(r.id), Command: Setting{Text: Commands[0]}, own: blockPlace(b)}}
	if why := badLabel(run.Name); why != "" {
		r.wrong(b.LabelRanges[0], nil, "name "+quoteWord(run.Name)+" of `run` "+why, labelHelp)
		return
	}
	if i := slices.IndexFunc(r.into.runs, func(x testRun) bool { return x.Name == run.Name }); i >= 0 {
		r.wrong(b.LabelRanges[0], nil, "run "+quoteWord(run.Name)+" is written twice", "give one another name", diag.Label{Span: r.into.runs[i].At, Text: "first written"})
		return
	}
	for _, a := range sortedAttrs(b.Body.Attributes) {
		r.attr(a, &run)
	}
	for _, in := range b.Body.Blocks {
		switch in.Type {
		case "assert":
			r.asserted(in, &run)
		case "expect_artifact":
			r.artifact(in, &run)
		default:
			help := choiceHelp(in.Type, "the blocks are ", runBlocks)
			if slices.Contains(runAttrs, in.Type) {
				help = "it is an attribute: write `" + in.Type + " = ...`"
			}
			r.wrong(in.TypeRange, &run, "`run` has no block `"+clipName(in.Type)+"`", help)
		}
	}
	if len(run.wants) > 0 && run.Command.Text != "build" {
		r.wrong(b.TypeRange, &run, "run "+quoteWord(run.Name)+" expects artifacts, and its command makes none", "write command = build")
	}
	run.Asserts, run.Artifacts, run.Fails = len(run.asserts), len(run.wants), run.fails > 0
	r.into.runs = append(r.into.runs, run)
}

func (r *testReader) attr(a *hclsyntax.Attribute, run *testRun) {
	switch a.Name {
	case "command":
		r.command(a, run)
	case "variables":
		r.values(a, run)
	case "fail":
		run.fails = r.expr(a.Expr)
	case "expect_failures":
		r.expects(a, run)
	default:
		help := choiceHelp(a.Name, "it takes ", runAttrs)
		if slices.Contains(runBlocks, a.Name) {
			help = "it is a block: write `" + a.Name + " ... { }` without the equals sign"
		}
		r.wrong(a.NameRange, run, "`run` has no attribute `"+clipName(a.Name)+"`", help)
	}
}

func (r *testReader) command(a *hclsyntax.Attribute, run *testRun) {
	word, ok := quotedText(a.Expr)
	if !ok {
		word = hcl.ExprAsKeyword(a.Expr)
	}
	if !slices.Contains(Commands, word) {
		help := "write " + quoted(Commands, "or") + "; without one it is validate"
		if word == "plan" || word == "apply" || word == "verify" {
			help = "it depends on what was handed over before, and a test on the source alone; " + help
		}
		r.wrong(a.Expr.Range(), run, "`command` of a run is none that tests have", help)
		return
	}
	run.Command = Setting{word, placeOf(a.Expr.Range()).in(r.id)}
}

// values reads the variables of a run, whose names have to be there before the
// configuration is.
func (r *testReader) values(a *hclsyntax.Attribute, run *testRun) {
	obj, ok := a.Expr.(*hclsyntax.ObjectConsExpr)
	if !ok {
		r.wrong(a.Expr.Range(), run, "`variables` names what it sets", "write variables = { name = value }")
		return
	}
	for _, it := range obj.Items {
		name := hcl.ExprAsKeyword(it.KeyExpr)
		if key, ok := it.KeyExpr.(*hclsyntax.ObjectConsKeyExpr); ok && name == "" {
			if text, plain := quotedText(key.Wrapped); plain {
				name = text
			}
		}
		if name == "" {
			r.wrong(it.KeyExpr.Range(), run, "name of a variable is not written plainly", "write variables = { name = value }")
			continue
		}
		if i := slices.IndexFunc(run.vars, func(v testVar) bool { return v.name == name }); i >= 0 {
			r.wrong(it.KeyExpr.Range(), run, "variable "+quoteWord(name)+" is set twice", "leave one out", diag.Label{Span: run.vars[i].key.in(r.id), Text: "first written"})
			continue
		}
		run.vars = append(run.vars, testVar{name, placeOf(it.KeyExpr.Range()), r.expr(it.ValueExpr)})
	}
}

func (r *testReader) expects(a *hclsyntax.Attribute, run *testRun) {
	list := []hclsyntax.Expression{a.Expr}
	if t, ok := a.Expr.(*hclsyntax.TupleConsExpr); ok {
		list = t.Exprs
	}
	for _, e := range list {
		text, ok := quotedText(e)
		if t, is := e.(*hclsyntax.ScopeTraversalExpr); is && len(t.Traversal) == 2 {
			if step, named := t.Traversal[1].(hcl.TraverseAttr); named && (t.Traversal.RootName() == "check" || t.Traversal.RootName() == "var") {
				text, ok = t.Traversal.RootName()+"."+step.Name, true
			}
		}
		if !ok || text == "" {
			r.wrong(e.Range(), run, "`expect_failures` takes names of rules", "write them as in expect_failures = [\"link_pfc_priorities\", \"ROCE301\", check.NAME, var.NAME]")
			continue
		}
		run.Expects = append(run.Expects, Setting{text, placeOf(e.Range()).in(r.id)})
	}
}

// asserted reads an assert block as `check` has it.
func (r *testReader) asserted(b *hclsyntax.Block, run *testRun) {
	if len(b.Labels) > 0 {
		r.wrong(b.LabelRanges[0], run, "block `assert` takes no label", "write `assert { }`")
	}
	said := len(r.diags)
	var p prog
	r.assert(b, &p)
	for i := said; i < len(r.diags); i++ {
		r.diags[i].Labels[0].Where = runWhere(run.Name)
	}
	run.asserts = append(run.asserts, p.asserts...)
}

var artifactAttrs = []string{"equals", "contains", "excludes", "matches"}

func (r *testReader) artifact(b *hclsyntax.Block, run *testRun) {
	if len(b.Labels) != 1 || b.Labels[0] == "" {
		r.wrong(b.TypeRange, run, "block `expect_artifact` takes one label, a file", "write `expect_artifact \"DEVICE/FILE\" { }`, as it stands below out/")
		return
	}
	w := testArtifact{file: Setting{b.Labels[0], placeOf(b.LabelRanges[0]).in(r.id)}}
	for _, in := range b.Body.Blocks {
		r.wrong(in.TypeRange, run, "`expect_artifact` takes no blocks, and `"+clipName(in.Type)+"` stands in it", "it takes "+quotedPlain(artifactAttrs))
	}
	for _, a := range sortedAttrs(b.Body.Attributes) {
		if !slices.Contains(artifactAttrs, a.Name) {
			r.wrong(a.NameRange, run, "`expect_artifact` has no attribute `"+clipName(a.Name)+"`", listHelp(a.Name, artifactAttrs))
			continue
		}
		w.args = append(w.args, arg{name: a.Name, expr: r.expr(a.Expr), at: placeOf(a.Expr.Range()), nmAt: placeOf(a.NameRange)})
	}
	run.wants = append(run.wants, w)
}

// quotedText is a quoted text without anything computed.
func quotedText(e hclsyntax.Expression) (string, bool) {
	t, ok := e.(*hclsyntax.TemplateExpr)
	switch {
	case !ok:
		return "", false
	case len(t.Parts) == 0:
		return "", true
	case !t.IsStringLiteral():
		return "", false
	}
	return t.Parts[0].(*hclsyntax.LiteralValueExpr).Val.AsString(), true
}
