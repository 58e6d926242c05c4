package main

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/aymanbagabas/go-udiff"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
	"github.com/rocec/rocec/targets/emit"
)

// What becomes of a run: it may not have been possible to carry it out.
const (
	testPass  = "pass"
	testFail  = "fail"
	testError = "error"
)

// placedRun is a run, and the folder of the fabric that it is of.
type placedRun struct {
	in string
	*lang.Run
}

// shown is the file of the run, from the working folder.
func (r placedRun) shown() string { return fileIn(r.in, r.File) }

// testResult is what became of a run.
type testResult struct {
	run      placedRun
	status   string
	findings diag.List // why it did not pass
	held     []string  // what was asked and holds, one line each
	view     *source.View
}

// tester carries runs out, several at a time.
type tester struct {
	*app
	in       *inputs
	settings map[string]*settings // for lint, by folder; nil if no run of it has that command
	groups   map[testInputs]*compiledTests
}

// testInputs is what a run is compiled from: where two agree, one compiling is
// enough.
type testInputs struct {
	in, file, inputs string
	pedantic         bool
}

func inputsOf(r placedRun) testInputs {
	return testInputs{r.in, r.File, r.Inputs(), r.Command.Text == "lint"}
}

// compiledTests are the runs that share what is compiled. One of them is carried
// out at a time.
type compiledTests struct {
	sync.Mutex
	p       *project
	devices []served
	prover  *lint.Prover
	proven  map[string]*lint.Outcome // by what is down
	files   *builtFiles
}

// tester prepares the runs. Settings are those that lint would read.
func (a *app) tester(f *testFlags, runs []placedRun) (*tester, error) {
	t := &tester{app: a, in: &f.in, settings: map[string]*settings{}, groups: map[testInputs]*compiledTests{}}
	l := &linter{app: a, flags: &lintFlags{}, settings: map[string]*settings{}}
	for _, r := range runs {
		if in := inputsOf(r); t.groups[in] == nil {
			t.groups[in] = &compiledTests{}
		}
		if r.Command.Text != "lint" || t.settings[r.in] != nil {
			continue
		}
		s, err := l.settingsOf(r.in)
		if err != nil {
			return nil, err
		}
		if s.diags.HasErrors() {
			a.print(&project{view: s.view}, s.diags)
			return nil, exit(1)
		}
		t.settings[r.in] = s
	}
	return t, nil
}

// running is one run that is carried out.
type running struct {
	*testResult
	p       *project
	list    diag.List // what the command finds
	broken  diag.List // what fails besides: properties that break with things down
	down    *fabric.Mask
	shared  *compiledTests
	devices []served
	files   *builtFiles
}

// run compiles the fabric as the run asks for and judges what comes of it.
func (t *tester) run(r placedRun) *testResult {
	shared := t.groups[inputsOf(r)]
	if shared == nil { // the tester was made for others
		shared = &compiledTests{}
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.p == nil || !shared.p.cfg.Test(r.Run) {
		alone, err := t.compile(r)
		if err != nil {
			x := &running{testResult: &testResult{run: r, status: testPass}}
			x.view = &source.View{Files: source.NewFiles(), Read: func(string) ([]byte, error) { return nil, nil }}
			x.stuck(diag.Diagnostic{Summary: err.Error()})
			return x.testResult
		}
		if alone.names(r.File) {
			return t.judge(r, alone) // a finding is about this run
		}
		shared.p, shared.devices, shared.prover, shared.proven, shared.files = alone.p, alone.devices, nil, nil, nil
	}
	return t.judge(r, shared)
}

// compile compiles the fabric for a run.
func (t *tester) compile(r placedRun) (*compiledTests, error) {
	in := *t.in
	in.run, in.pedantic = r.Run, r.Command.Text == "lint"
	if in.pedantic {
		in.limits = t.settings[r.in].limits()
	}
	p, err := t.loadFrom(r.in, &in, true)
	if err != nil {
		return nil, err
	}
	p.steps = func(string, int) steps { return steps{func() {}, func() {}} }
	c := &compiledTests{p: p, devices: p.devices()}
	p.checks()
	return c, nil
}

// names reports whether a finding points into a file of tests.
func (c *compiledTests) names(file string) bool {
	id := c.p.cfg.Files.Lookup(file)
	return slices.ContainsFunc(c.p.diags, func(d diag.Diagnostic) bool {
		return slices.ContainsFunc(d.Labels, func(l diag.Label) bool { return l.Span.File == id && id != 0 })
	})
}

// judge says what becomes of a run.
func (t *tester) judge(r placedRun, c *compiledTests) *testResult {
	x := &running{testResult: &testResult{run: r, status: testPass, view: c.p.view}, p: c.p, shared: c, devices: c.devices}
	x.list = t.reported(x)
	x.takeDown()
	if r.Command.Text == "build" && !c.p.diags.HasErrors() {
		if x.files = c.files; x.files == nil {
			x.build()
			c.files = x.files
		}
	}
	x.expected()
	x.asserts()
	x.artifacts()
	return x.testResult
}

// reported are the findings that the command of the run would print.
func (t *tester) reported(x *running) diag.List {
	p := x.p
	if x.run.Command.Text != "lint" || !p.loaded() {
		return atLeast(p.diags, diag.Warning)
	}
	s := t.settings[x.run.in]
	list, _ := s.exempt(p)
	list = list.Keep(func(d *diag.Diagnostic) bool {
		r := ruleOf(d.Rule)
		return r == nil || d.Severity == diag.Error || s.enabled(r, d.Severity)
	})
	return s.weigh(list)
}

// at is the place of something in the file of tests, in the table of this load.
func (x *running) at(s source.Span) source.Span {
	s.File = x.p.cfg.Files.Lookup(x.run.File)
	return s
}

// miss notes something that the run asks for and that does not hold.
func (x *running) miss(d diag.Diagnostic) {
	if x.status == testPass {
		x.status = testFail
	}
	x.findings.Add(d)
}

// stuck notes why something could not be asked.
func (x *running) stuck(list ...diag.Diagnostic) {
	if len(list) > 0 {
		x.status = testError
		x.findings = append(x.findings, list...)
	}
}

func (x *running) where() string { return fmt.Sprintf("run %q", x.run.Name) }

// takeDown proves the fabric again without what the run takes out.
func (x *running) takeDown() {
	if !x.run.Fails || !x.p.loaded() || x.p.res.Facts == nil {
		return
	}
	f := x.p.res.Fabric
	list, diags := x.p.cfg.Down()
	x.stuck(diags...)
	x.down = &fabric.Mask{Links: map[fabric.LinkID]bool{}, Devices: map[fabric.DeviceID]bool{}}
	for _, one := range list {
		m, err := maskOf(f, []string{one.Text})
		if err != nil {
			x.stuck(diag.Diagnostic{Summary: err.Error(), Labels: []diag.Label{{Span: one.At, Where: x.where()}}})
			continue
		}
		for l := range m.Links {
			x.down.Links[l] = true
		}
		for d := range m.Devices {
			x.down.Devices[d] = true
		}
	}
	if x.status != testPass || len(list) == 0 {
		return
	}
	set := f.Analysis.Properties
	if set == 0 {
		set = fabric.AllProperties
	}
	o := x.proved(set)
	for _, v := range o.Verdicts {
		x.broken = append(x.broken, v.Broken...)
		for _, why := range v.Open {
			x.miss(diag.Diagnostic{
				Summary: fmt.Sprintf("%s is not proven with %s down: %s", v.Property, o.Names, why),
				Labels:  []diag.Label{{Span: list[0].At, Where: x.where()}},
			})
		}
		if len(v.Broken) == 0 && len(v.Open) == 0 {
			x.held = append(x.held, fmt.Sprintf("%s holds with %s down", v.Property, o.Names))
		}
	}
}

// proved is the outcome with what the run takes out, proven once for all that
// take out the same.
func (x *running) proved(set fabric.PropertySet) *lint.Outcome {
	c := x.shared
	if c.prover == nil {
		c.prover, c.proven = lint.NewProver(x.p.res.Fabric, x.p.res.Facts), map[string]*lint.Outcome{}
	}
	key := fmt.Sprint(x.down.Links, x.down.Devices) // maps are printed in order
	o := c.proven[key]
	if o == nil {
		o = c.prover.Prove(x.down, set)
		c.proven[key] = o
	}
	return o
}

// fails reports whether a finding of the command makes it end badly.
func (x *running) fails(d *diag.Diagnostic) bool {
	if x.run.Command.Text == "lint" {
		return d.Severity <= diag.Warning
	}
	return d.Severity == diag.Error
}

// expects reports whether a finding is what an expectation names.
func expects(e *lang.Setting, d *diag.Diagnostic) bool {
	if r := ruleOf(e.Text); r != nil {
		return d.Rule == r.ID
	}
	return d.Rule == "" && d.Address == e.Text
}

// expected compares what is found with what the run expects: each expectation
// has to come true, and nothing else may fail.
func (x *running) expected() {
	all := slices.Concat(x.list, x.broken)
	for i := range x.run.Expects {
		e := &x.run.Expects[i]
		n := 0
		for _, d := range all.All() {
			if expects(e, &d) {
				n += max(d.Count, 1)
			}
		}
		if n > 0 {
			x.held = append(x.held, fmt.Sprintf("%s comes, as expected: %s", ruleWords(e.Text), count(n, "finding")))
			continue
		}
		x.miss(diag.Diagnostic{
			Summary: fmt.Sprintf("run %q expects %s, and it does not come", x.run.Name, ruleWords(e.Text)),
			Labels:  []diag.Label{{Span: x.at(e.At), Where: x.where()}},
		})
	}
	for i := range all {
		d := all[i]
		if i < len(x.list) && !x.fails(&d) || slices.ContainsFunc(x.run.Expects, func(e lang.Setting) bool { return expects(&e, &d) }) {
			continue
		}
		d.Notes = append(slices.Clone(d.Notes), fmt.Sprintf("run %q of %s does not expect this", x.run.Name, x.run.shown()))
		x.miss(d)
	}
}

func ruleWords(text string) string {
	if r := ruleOf(text); r != nil {
		return r.ID + " " + r.Name
	}
	return text
}

// asserts evaluates the conditions of the run over the fabric, with what is down.
func (x *running) asserts() {
	if x.run.Asserts == 0 {
		return
	}
	if !x.p.loaded() || x.p.res.Facts == nil {
		x.stuck(diag.Diagnostic{
			Summary: fmt.Sprintf("run %q asserts something of a fabric that does not load", x.run.Name), Labels: []diag.Label{{Span: x.at(x.run.At)}},
		})
		return
	}
	for i, done := range x.p.cfg.Asserts(x.testView()) {
		switch {
		case done.Diags.HasErrors():
			x.stuck(done.Diags...)
		case done.Holds:
			x.held = append(x.held, fmt.Sprintf("assert %d holds", i+1))
		default:
			x.miss(diag.Diagnostic{
				Summary: fmt.Sprintf("run %q fails: %s", x.run.Name, strings.TrimSuffix(done.Message, ".")),
				Labels:  []diag.Label{{Span: done.At, Where: x.where(), Values: done.Sides}},
			})
		}
	}
}

// artifacts compares what was built with the expect_artifact blocks.
func (x *running) artifacts() {
	if x.run.Artifacts == 0 || x.files == nil {
		if x.run.Artifacts > 0 && x.status == testPass {
			x.miss(diag.Diagnostic{Summary: fmt.Sprintf("run %q expects artifacts, and nothing is built", x.run.Name), Labels: []diag.Label{{Span: x.at(x.run.At)}}})
		}
		return
	}
	list, diags := x.p.cfg.Wants(x.testView())
	x.stuck(diags...)
	for i := range list {
		x.artifact(&list[i])
	}
}

// maxMisses bounds the files that one expectation is reported of.
const maxMisses = 4

func (x *running) artifact(w *lang.Wanted) {
	names, err := x.files.fitting([]string{w.File.Text})
	if err != nil || len(names) == 0 {
		d := diag.Diagnostic{Summary: fmt.Sprintf("no artifact is called %s", w.File.Text), Help: x.files.near(w.File.Text), Labels: []diag.Label{{Span: x.at(w.File.At), Where: x.where()}}}
		if err != nil {
			d.Summary = err.Error()
		}
		x.miss(d)
		return
	}
	missed := 0
	for _, name := range names {
		found := x.compare(w, name)
		if missed += min(len(found), 1); missed <= maxMisses {
			for _, d := range found {
				x.miss(d)
			}
		}
	}
	if missed > maxMisses {
		last := &x.findings[len(x.findings)-1]
		last.Notes = append(last.Notes, fmt.Sprintf("so do %s", count(missed-maxMisses, "more file")))
	}
	if missed == 0 {
		x.held = append(x.held, fmt.Sprintf("%s is as expected: %s", w.File.Text, count(len(names), "file")))
	}
}

// compare says what of an expectation a file does not meet.
func (x *running) compare(w *lang.Wanted, name string) (found diag.List) {
	text := x.files.texts[name]
	miss := func(s *lang.Setting, summary string, values ...string) {
		found.Add(diag.Diagnostic{Summary: name + summary, Labels: []diag.Label{{Span: s.At, Where: x.where() + fmt.Sprintf(", expect_artifact %q", w.File.Text), Values: values}}})
	}
	for i := range w.Equals {
		if e := &w.Equals[i]; text != e.Text {
			miss(e, " is not the text that is expected", difference(e.Text, text)...)
		}
	}
	for i := range w.Contains {
		if e := &w.Contains[i]; !strings.Contains(text, e.Text) {
			miss(e, fmt.Sprintf(" does not contain %q", clipped(e.Text)))
		}
	}
	for i := range w.Excludes {
		e := &w.Excludes[i]
		if at := strings.Index(text, e.Text); at >= 0 {
			miss(e, fmt.Sprintf(" contains %q", clipped(e.Text)), fmt.Sprintf("on line %d", 1+strings.Count(text[:at], "\n")))
		}
	}
	for i := range w.Matches {
		e := &w.Matches[i]
		switch re, err := regexp.Compile(e.Text); {
		case err != nil:
			miss(e, fmt.Sprintf(" cannot be matched: %v", err))
		case !re.MatchString(text):
			miss(e, fmt.Sprintf(" does not match %q", clipped(e.Text)))
		}
	}
	return found
}

// maxDiffLines bounds what is shown of a file that is not as expected.
const maxDiffLines = 12

func difference(want, got string) []string {
	lines := strings.Split(strings.TrimSuffix(udiff.Unified("expected", "built", want, got), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	if len(lines) > maxDiffLines {
		lines = append(lines[:maxDiffLines], fmt.Sprintf("... %s", count(len(lines)-maxDiffLines, "more line")))
	}
	return lines
}

func clipped(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:77]) + "..."
	}
	return s
}

// builtFiles are the files of all devices, by their path below the folder of a
// build.
type builtFiles struct {
	texts map[string]string
	names []string // sorted
}

// build makes every file, which finds what only shows then.
func (x *running) build() {
	b := &builtFiles{texts: map[string]string{}}
	fail := func(err error) {
		x.stuck(diag.Diagnostic{Summary: fmt.Sprintf("build: %v", err), Labels: []diag.Label{{Span: x.at(x.run.At)}}})
	}
	tree, err := apply.NewTree(x.p.made, x.p.deliveries(x.devices, false, plain))
	if err != nil {
		fail(err)
		return
	}
	for i := range tree.Devices.Places {
		d, err := tree.Devices.Make(i)
		if err != nil {
			fail(err)
			return
		}
		for _, file := range d.Artifacts {
			b.texts[path.Join(d.Folder(), file.Path)] = string(file.Bytes)
		}
		for _, k := range d.Kits {
			for _, file := range k.Artifacts {
				b.texts[path.Join(d.Output, emit.KitFolder, k.Name, file.Path)] = string(file.Bytes)
			}
		}
	}
	for name := range b.texts {
		b.names = append(b.names, name)
	}
	slices.Sort(b.names)
	x.files = b
}

// fitting are the files that some glob fits; all without any.
func (b *builtFiles) fitting(globs []string) (list []string, err error) {
	if len(globs) == 0 {
		return b.names, nil
	}
	for _, g := range globs {
		if _, err := path.Match(g, ""); err != nil {
			return nil, fmt.Errorf("%q is no glob", g)
		}
	}
	for _, name := range b.names {
		if slices.ContainsFunc(globs, func(g string) bool { ok, _ := path.Match(g, name); return ok || g == name }) {
			list = append(list, name)
		}
	}
	return list, nil
}

// near names files of the same folder, or folders of devices.
func (b *builtFiles) near(name string) string {
	dir := path.Dir(name)
	var same, dirs []string
	for _, n := range b.names {
		if d := path.Dir(n); d == dir {
			same = append(same, n)
		} else if !slices.Contains(dirs, d) && !slices.Contains(strings.Split(d, "/"), emit.KitFolder) {
			dirs = append(dirs, d)
		}
	}
	shown, what := same, "there is "
	if len(same) == 0 {
		shown, what = dirs, "there are files in "
	}
	if len(shown) == 0 {
		return "nothing is built"
	}
	if len(shown) > 6 {
		shown = append(slices.Clone(shown[:6]), "...")
	}
	return what + strings.Join(shown, ", ")
}

// testView is what the asserts of a run may ask.
type testView struct {
	*fabricView
	x *running
}

func (x *running) testView() *testView {
	v := x.p.fabricView()
	v.t.down = x.down
	return &testView{v, x}
}

// Findings are the rows of what was found, of some rules if they are named.
func (v *testView) Findings(rules []string) []map[string]any {
	rows := []map[string]any{}
	for _, d := range slices.Concat(v.x.list, v.x.broken).All() {
		name := ""
		if r := ruleOf(d.Rule); r != nil {
			name = r.Name
		}
		if len(rules) > 0 && !slices.ContainsFunc(rules, func(r string) bool { return r != "" && (r == d.Rule || r == name) }) {
			continue
		}
		row := map[string]any{
			"rule": d.Rule, "name": name, "severity": d.Severity.String(), "summary": d.Summary, "address": d.Address, "count": max(d.Count, 1), "file": "", "line": 0,
		}
		if len(d.Labels) > 0 {
			row["file"] = v.x.view.Name(d.Labels[0].Span.File)
			if start, _, ok := v.x.view.Range(d.Labels[0].Span); ok {
				row["line"] = start.Line
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// Artifacts are the names of built files.
func (v *testView) Artifacts(globs []string) ([]string, error) {
	if err := v.built(); err != nil {
		return nil, err
	}
	return v.x.files.fitting(globs)
}

// Artifact is the text of a built file.
func (v *testView) Artifact(name string) (string, error) {
	if err := v.built(); err != nil {
		return "", err
	}
	text, ok := v.x.files.texts[name]
	if !ok {
		return "", fmt.Errorf("no artifact is called %s; %s", name, v.x.files.near(name))
	}
	return text, nil
}

func (v *testView) built() error {
	switch {
	case v.x.run.Command.Text != "build":
		return fmt.Errorf("command %s makes no artifacts: write command = build", v.x.run.Command.Text)
	case v.x.files == nil:
		return fmt.Errorf("nothing is built: the fabric has errors")
	}
	return nil
}
