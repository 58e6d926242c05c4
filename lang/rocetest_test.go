package lang

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
)

const testText = `variables {
  site = "lab"
}

run "first" {
  variables       = { vlan = 5, "site" = upper("x") }
  expect_failures = ["link_speed", "ROCE312", check.one, var.vlan]
  fail            = [switch.tor, "link.*"]
  assert {
    condition     = length(links("a")) == var.vlan
    error_message = "there are ${length(links("a"))}"
  }
}
run "second" {
  command = build
  expect_artifact "tor/*.json" {
    equals   = file("golden.txt")
    contains = ["a", var.site]
    excludes = "b"
    matches  = "^x${1 + 1}$"
  }
  expect_artifact "n1/x" {}
}
`

const underTestText = `variable "vlan" {
  type    = number
  default = 2
  validation {
    condition     = var.vlan < 100
    error_message = "too many"
  }
}
variable "site" { default = "s" }
variable "key" {
  default   = "hush"
  sensitive = true
}
switch "tor" {
  for_each = toset(["a", "b"])
}
segment "x" { vlan = var.vlan }
check "one" {
  assert {
    condition     = true
    error_message = "no"
  }
}
`

func TestReadTests(t *testing.T) {
	files := source.NewFiles()
	runs, diags := ReadTests(files, "a.rocetest.hcl", []byte(testText))
	if len(diags) > 0 || len(runs) != 2 {
		t.Fatal(runs, diags)
	}
	at := func(text string) source.Span {
		return source.Span{File: 1, Start: uint32(strings.Index(testText, text)), Len: uint32(len(text))}
	}
	set := func(text, as string) Setting { return Setting{text, at(as)} }
	common := Setting{"site", at("site")}
	want := []*Run{
		{
			File: "a.rocetest.hcl", Name: "first", At: at(`run "first"`), Command: Setting{Text: "validate"},
			Variables: []Setting{common, set("vlan", "vlan"), set("site", `"site"`)},
			Expects:   []Setting{set("link_speed", `"link_speed"`), set("ROCE312", `"ROCE312"`), set("check.one", "check.one"), set("var.vlan", "var.vlan")},
			Fails:     true, Asserts: 1,
		},
		{
			File: "a.rocetest.hcl", Name: "second", At: at(`run "second"`), Command: set("build", "build"), Variables: []Setting{common}, Artifacts: 2,
		},
	}
	for i := range runs {
		runs[i].src, runs[i].digest, runs[i].index, runs[i].inputs = nil, source.Digest{}, 0, ""
		if own := runs[i].own; i == 0 && !strings.HasPrefix(testText[own.start:own.start+own.length], "run \"first\"") {
			t.Errorf("the first run stands at %+v", own)
		}
		runs[i].own, runs[i].common = place{}, place{}
	}
	if diff := cmp.Diff(want, runs, cmp.AllowUnexported(Run{}, place{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReadTestsMistakes: each is one message, at the text that causes it.
func TestReadTestsMistakes(t *testing.T) {
	for _, c := range []struct{ src, at, want, help string }{
		{`command = lint`, "command", "a file of tests has no attribute `command` outside of blocks", "run and variables"},
		{`variables = {}`, "variables", "a file of tests has no attribute `variables` outside of blocks", "write `variables { }` without"},
		{`rnu "a" {}`, "rnu", "a file of tests has no block `rnu`", `did you mean "run"?`},
		{`switch "a" {}`, "switch", "a file of tests has no block `switch`", ".roce.hcl"},
		{"variables {}\nvariables {}", "variables", "block `variables` is written twice", ""},
		{`variables "x" {}`, `"x"`, "block `variables` takes no label", ""},
		{"variables {\n  a {}\n}", "a {}", "`variables` takes no blocks, and `a` stands in it", ""},
		{`run {}`, "run", "block `run` takes one label, its name", "write `run"},
		{`run "a" "b" {}`, "run", "block `run` takes one label, its name", ""},
		{`run "" {}`, "run", "block `run` takes one label, its name", ""},
		{"run \"a\" {}\nrun \"a\" {}", `"a"`, `run "a" is written twice`, ""},
		{`run "a\nb" {}`, `"a\nb"`, "has a control character", ""},
		{"run \"a\" {\n  commnd = lint\n}", "commnd", "`run` has no attribute `commnd`", `did you mean "command"?`},
		{"run \"a\" {\n  assert = true\n}", "assert", "`run` has no attribute `assert`", "it is a block"},
		{"run \"a\" {\n  variables {}\n}", "variables", "`run` has no block `variables`", "it is an attribute"},
		{"run \"a\" {\n  asert {}\n}", "asert", "`run` has no block `asert`", `did you mean "assert"?`},
		{"run \"a\" {\n  command = plan\n}", "plan", "`command` of a run is none that tests have", "it depends on what was handed over"},
		{"run \"a\" {\n  command = 3\n}", "3", "`command` of a run is none that tests have", `write "validate", "lint" or "build"`},
		{"run \"a\" {\n  variables = var.x\n}", "var.x", "`variables` names what it sets", "{ name = value }"},
		{"run \"a\" {\n  variables = { (var.x) = 1 }\n}", "(var.x)", "name of a variable is not written plainly", ""},
		{"run \"a\" {\n  variables = { x = 1, \"x\" = 2 }\n}", `"x"`, `variable "x" is set twice`, ""},
		{"run \"a\" {\n  expect_failures = [3]\n}", "3", "`expect_failures` takes names of rules", "check.NAME"},
		{"run \"a\" {\n  expect_failures = switch.a\n}", "switch.a", "`expect_failures` takes names of rules", ""},
		{"run \"a\" {\n  expect_failures = \"\"\n}", `""`, "`expect_failures` takes names of rules", ""},
		{"run \"a\" {\n  assert {\n    condition = true\n  }\n}", "assert", "`assert` needs `condition` and `error_message`", ""},
		{"run \"a\" {\n  assert \"x\" {\n    condition = true\n    error_message = \"\"\n  }\n}", `"x"`, "block `assert` takes no label", ""},
		{"run \"a\" {\n  command = build\n  expect_artifact {}\n}", "expect_artifact", "block `expect_artifact` takes one label, a file", ""},
		{"run \"a\" {\n  command = build\n  expect_artifact \"x\" {\n    contain = \"\"\n  }\n}", "contain", "`expect_artifact` has no attribute `contain`", `"contains"`},
		{"run \"a\" {\n  command = build\n  expect_artifact \"x\" {\n    y {}\n  }\n}", "y {}", "`expect_artifact` takes no blocks, and `y` stands in it", ""},
		{"run \"a\" {\n  expect_artifact \"x\" {}\n}", "run", `run "a" expects artifacts, and its command makes none`, "command = build"},
		{"run \"a\" {", "", "", ""}, // does not parse
		{"run \"a\" {}\x00", "\x00", "file is not text: byte 10 is zero", ""},
		{strings.Repeat("#", maxTestBytes+1), "", "file has 1048577 bytes, at most 1048576 of tests are read", ""},
	} {
		_, diags := ReadTests(source.NewFiles(), "a.rocetest.hcl", []byte(c.src))
		if len(diags) != 1 {
			t.Errorf("%.60q: %d findings, want 1: %v", c.src, len(diags), diags)
			continue
		}
		d := diags[0]
		if !strings.Contains(d.Summary, c.want) || !strings.Contains(d.Help, c.help) {
			t.Errorf("%.60q: %q with help %q", c.src, d.Summary, d.Help)
		}
		s := d.Span()
		if c.at != "" && !strings.HasPrefix(c.src[s.Start:], strings.Fields(c.at + " ")[0]) && !strings.HasPrefix(c.src[s.Start:], c.at) {
			t.Errorf("%.60q: points to %q, want %q", c.src, c.src[s.Start:s.End()], c.at)
		}
	}
}

// twoLinks has two links, and one artifact.
type twoLinks struct{}

func (twoLinks) Ask(function string, _ []string) ([]map[string]any, error) {
	switch function {
	case "links":
		return []map[string]any{{"up": true}, {"up": false}}, nil
	case "paths":
		return nil, errors.New("no such end")
	}
	return nil, nil
}

func (twoLinks) Findings(rules []string) []map[string]any {
	return []map[string]any{{"rule": strings.Join(rules, " ")}}
}
func (twoLinks) Artifacts(globs []string) ([]string, error) { return globs, nil }
func (twoLinks) Artifact(name string) (string, error)       { return "text of " + name, nil }

// underRun loads the fabric of the tests for a run of a text.
func underRun(t *testing.T, text string, index int, vars ...Var) (*Config, diag.List) {
	t.Helper()
	runs, diags := ReadTests(source.NewFiles(), "tests/a.rocetest.hcl", []byte(text))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return Load(Options{
		FS: fstest.MapFS{
			"main.roce.hcl": {Data: []byte(underTestText)}, "golden.txt": {Data: []byte("whole\n")},
			"fabric.rocevars.hcl": {Data: []byte("vlan = 3\n")},
		},
		Keep: true, Run: runs[index], Vars: vars,
	})
}

// TestRunVariables: those of a run are above all others, those of its file below
// them, and both are evaluated in the module.
func TestRunVariables(t *testing.T) {
	line := Var{Name: "vlan", From: "--var", Text: "4"}
	for _, c := range []struct {
		src, expr, want string
	}{
		{`run "a" {}`, "var.vlan", "4"},
		{`run "a" { variables = { vlan = 7 } }`, "var.vlan", "7"},
		{"variables {\n  vlan = 8\n}\nrun \"a\" {}", "var.vlan", "8"},
		{"variables {\n  vlan = 8\n}\nrun \"a\" { variables = { vlan = 9 } }", "segment.x.vlan", "9"},
		{`run "a" { variables = { site = length(file("golden.txt")) + var.vlan } }`, "var.site", "10"},
	} {
		cfg, diags := underRun(t, c.src, 0, line)
		if diags.HasErrors() {
			t.Errorf("%s: %v", c.src, diags)
			continue
		}
		if got, _ := Console(cfg, c.expr, nil); got != c.want {
			t.Errorf("%s: %s is %s, want %s", c.src, c.expr, got, c.want)
		}
	}
	for _, c := range []struct{ src, at, want, address string }{
		{`run "a" { variables = { vlna = 7 } }`, "vlna", `there is no variable "vlna"`, ""},
		{"variables {\n  vlna = 7\n}\nrun \"a\" {}", "vlna", `there is no variable "vlna"`, ""},
		{`run "a" { variables = { vlan = "x" } }`, `"x"`, `variable "vlan" takes number`, ""},
		{`run "a" { variables = { vlan = 700 } }`, "700", `variable "vlan" is refused: too many`, "var.vlan"},
		{`run "a" { variables = { vlan = var.vlan } }`, "", `var.vlan refers to itself`, ""},
	} {
		cfg, diags := underRun(t, c.src, 0)
		if len(diags) == 0 || !strings.Contains(diags[0].Summary, c.want) || diags[0].Address != c.address {
			t.Errorf("%s: %v, want %q", c.src, diags, c.want)
			continue
		}
		s := diags[0].Span()
		if c.at != "" && (cfg.Files.Name(s.File) != "tests/a.rocetest.hcl" || c.src[s.Start:s.End()] != c.at) {
			t.Errorf("%s: points to %s %d", c.src, cfg.Files.Name(s.File), s.Start)
		}
	}
}

func TestRunAsserts(t *testing.T) {
	assert := func(condition string) string {
		return "run \"a\" {\n  assert {\n    condition = " + condition + "\n    error_message = \"no ${var.vlan}\"\n  }\n}"
	}
	for _, c := range []struct {
		condition string
		holds     bool
		message   string
		sides     string
		diag      string
	}{
		{`length(links()) == 2`, true, "", "", ""},
		{`length(links()) == var.vlan`, false, "no 3", "the left side is 2; the right side is 3", ""},
		{`length(links()) > 5`, false, "no 3", "the left side is 2", ""},
		{`links()[1].up`, false, "no 3", "", ""},
		{`(var.site == "t")`, false, "no 3", `the left side is "s"`, ""},
		{`var.key == "x"`, false, "no 3", "the left side is (sensitive)", ""},
		{`findings("ROCE301", "x")[0].rule == "ROCE301 x"`, true, "", "", ""},
		{`artifact("n1/a") == "text of n1/a"`, true, "", "", ""},
		{`artifacts("n1/*") == tolist(["n1/*"])`, true, "", "", ""},
		{`length(artifacts()) == 0`, true, "", "", ""},
		{`switch.tor["a"].name == "a"`, true, "", "", ""},
		{`length(paths("a", "b")) == 0`, false, "", "", "no such end"},
		{`3`, false, "", "", "condition is neither true nor false"},
		{`nope()`, false, "", "", `there is no function "nope"`},
		{`var.nope`, false, "", "", `"nope"`},
	} {
		cfg, diags := underRun(t, assert(c.condition), 0)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		list := cfg.Asserts(twoLinks{})
		if len(list) != 1 {
			t.Fatalf("%s: %d asserts", c.condition, len(list))
		}
		got := list[0]
		if got.Holds != c.holds || got.Message != c.message || strings.Join(got.Sides, "; ") != c.sides {
			t.Errorf("%s: %+v", c.condition, got)
		}
		if c.diag == "" != (len(got.Diags) == 0) || c.diag != "" && !strings.Contains(got.Diags[0].Summary, c.diag) {
			t.Errorf("%s: %v, want %q", c.condition, got.Diags, c.diag)
		}
	}
}

// TestOnlyTestsAskForArtifacts: a check is of the fabric, not of a command.
func TestOnlyTestsAskForArtifacts(t *testing.T) {
	_, diags := Load(Options{FS: fstest.MapFS{"a.roce.hcl": {Data: []byte("locals { a = findings() }\nsegment \"x\" { vlan = 3 }\n")}}})
	if len(diags) != 1 || !strings.Contains(diags[0].Help, "which only tests can") {
		t.Error(diags)
	}
}

func TestRunDown(t *testing.T) {
	for _, c := range []struct{ fail, want, diag string }{
		{`"a"`, "a", ""},
		{`[switch.tor["a"], "link.*"]`, `switch.tor["a"] link.*`, ""},
		{`switch.tor`, `switch.tor["a"] switch.tor["b"]`, ""},
		{`[for k in ["x", "y"] : k]`, "x y", ""},
		{`[]`, "", ""},
		{`3`, "", "`fail` takes addresses"},
		{`[null]`, "", "this is null"},
		{`[switch.nope]`, "", `"nope"`},
	} {
		cfg, diags := underRun(t, "run \"a\" {\n  fail = "+c.fail+"\n}", 0)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		list, diags := cfg.Down()
		var got []string
		for _, s := range list {
			got = append(got, s.Text)
			if name := cfg.Files.Name(s.At.File); name != "tests/a.rocetest.hcl" {
				t.Errorf("%s: stands in %q", c.fail, name)
			}
		}
		if strings.Join(got, " ") != c.want || c.diag == "" != (len(diags) == 0) || c.diag != "" && !strings.Contains(diags[0].Summary, c.diag) {
			t.Errorf("%s: %q %v", c.fail, got, diags)
		}
	}
}

func TestRunWants(t *testing.T) {
	cfg, diags := underRun(t, testText, 1)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	list, diags := cfg.Wants(twoLinks{})
	if len(diags) > 0 || len(list) != 2 {
		t.Fatal(list, diags)
	}
	texts := func(l []Setting) string {
		var out []string
		for _, s := range l {
			out = append(out, s.Text)
		}
		return strings.Join(out, ",")
	}
	w := list[0]
	got := strings.Join([]string{w.File.Text, texts(w.Equals), texts(w.Contains), texts(w.Excludes), texts(w.Matches)}, "|")
	if want := "tor/*.json|whole\n|a,lab|b|^x2$"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, c := range []struct{ attr, want string }{
		{`contains = 3`, "`contains` takes a text or a list of texts"},
		{`contains = ["a", 3]`, "`contains` takes texts"},
		{`contains = null`, "`contains` takes a text or a list of texts"},
		{`equals = ["a", "b"]`, "`equals` takes one text"},
		{`equals = var.key`, "`equals` holds a secret"},
		{`matches = file("nope")`, "nope"},
	} {
		cfg, diags := underRun(t, "run \"a\" {\n  command = build\n  expect_artifact \"x\" {\n    "+c.attr+"\n  }\n}", 0)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if _, diags = cfg.Wants(twoLinks{}); len(diags) != 1 || !strings.Contains(diags[0].Summary, c.want) {
			t.Errorf("%s: %v, want %q", c.attr, diags, c.want)
		}
	}
}

func TestDeclares(t *testing.T) {
	cfg, _ := underRun(t, `run "a" {}`, 0)
	for what, want := range map[string]bool{"var.vlan": true, "var.x": false, "check.one": true, "check.two": false, "one": false, "vlan": false} {
		if cfg.Declares(what) != want {
			t.Errorf("%s: %v", what, !want)
		}
	}
}

// FuzzTests: whatever the bytes are, nothing panics, every finding has a text and
// a place in its file, and what reads can be run.
func FuzzTests(f *testing.F) {
	f.Add([]byte(testText))
	for _, s := range []string{
		"run \"a\" {\n  fail = [for k, v in switch.tor : v]\n  variables = { vlan = each.value }\n}\n",
		"run \"a\" {\n  assert {\n    condition = artifact(\"${findings()[0].rule}\") != [] \n    error_message = 3\n  }\n}\n",
		"variables {\n  key = \"a\"\n}\nrun \"é\" { command = \"lint\" }\n",
		"run \"a\" {\n  command = build\n  expect_artifact \"[\" { equals = var.key\n matches = [\"(\"] }\n}\n",
		"run \"a\" { expect_failures = [check.one, \"x\", var[0]] }\nrun \"b\" { expect_failures = { a = 1 } }\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		sound := func(list diag.List, files *source.Files, size int) {
			for _, d := range list {
				if d.Summary == "" || len(d.Labels) == 0 {
					t.Fatalf("a finding without text or place: %+v", d)
				}
				for _, l := range d.Labels {
					if files.Name(l.Span.File) == "a.rocetest.hcl" && int(l.Span.End()) > size {
						t.Fatalf("%s: the place ends at %d, the file at %d", d.Summary, l.Span.End(), size)
					}
				}
			}
		}
		files := source.NewFiles()
		runs, diags := ReadTests(files, "a.rocetest.hcl", src)
		sound(diags, files, len(src))
		if len(diags) > 0 {
			return
		}
		for _, r := range runs[:min(len(runs), 4)] {
			if r.Name == "" || r.At.IsZero() {
				t.Fatalf("%+v", r)
			}
			cfg, diags := Load(Options{FS: fstest.MapFS{"main.roce.hcl": {Data: []byte(underTestText)}}, Keep: true, Run: r})
			sound(diags, cfg.Files, len(src))
			_, diags = cfg.Down()
			sound(diags, cfg.Files, len(src))
			_, diags = cfg.Wants(twoLinks{})
			sound(diags, cfg.Files, len(src))
			done := cfg.Asserts(twoLinks{})
			if len(done) != r.Asserts {
				t.Fatalf("%d of %d asserts", len(done), r.Asserts)
			}
			for _, a := range done {
				sound(a.Diags, cfg.Files, len(src))
				if a.Holds && len(a.Diags) > 0 {
					t.Fatalf("holds, and fails: %v", a.Diags)
				}
			}
		}
	})
}

// TestRunsOfOneLoad: runs that give variables the same values share a load, and
// one that gives others does not.
func TestRunsOfOneLoad(t *testing.T) {
	const text = `variables {
  site = "lab"
}
run "first" {
  assert {
    condition     = length(links("x")) == 2
    error_message = "first"
  }
}
run "same" {
  variables = { site = "lab" }
  fail      = ["switch.tor"]
  assert {
    condition     = var.site == "lab" && length(links("x")) == 3
    error_message = "same ${var.site}"
  }
}
run "other" {
  variables = { vlan = 9 }
}
`
	files := source.NewFiles()
	runs, diags := ReadTests(files, "tests/a.rocetest.hcl", []byte(text))
	if len(diags) > 0 || len(runs) != 3 {
		t.Fatal(runs, diags)
	}
	if runs[0].Inputs() != runs[1].Inputs() || runs[0].Inputs() == runs[2].Inputs() {
		t.Errorf("inputs %q, %q, %q", runs[0].Inputs(), runs[1].Inputs(), runs[2].Inputs())
	}
	cfg, diags := underRun(t, text, 0)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for i, want := range []string{"", "same lab", ""} {
		if i > 0 && !cfg.Test(runs[1-(i-1)]) {
			t.Fatalf("run %d is not that of the load", i)
		}
		done := cfg.Asserts(twoLinks{})
		if len(done) != 1 || done[0].Message != want {
			t.Errorf("step %d: %+v", i, done)
		}
		down, _ := cfg.Down()
		if (len(down) == 1) != (want != "") {
			t.Errorf("step %d: down %v", i, down)
		}
	}
	if cfg.Test(runs[2]) {
		t.Error("a run with other values shares the load")
	}
}

// TestRunJSON: a file of tests in JSON is the same file.
func TestRunJSON(t *testing.T) {
	const text = `{
  "//": "tests",
  "variables": {"vlan": 4},
  "run": {
    "first": {
      "variables": {"site": "${upper(\"x\")}"},
      "expect_failures": ["ROCE312", "check.one"],
      "fail": ["switch.tor"],
      "assert": [
        {"condition": "${var.site == \"X\" && var.vlan == 4}", "error_message": "no"},
        {"condition": "${length(links(\"x\")) == 3}", "error_message": "there are ${length(links(\"x\"))}"}
      ]
    },
    "second": {"command": "build", "expect_artifact": {"tor/*.json": {"contains": ["a", "b"]}}}
  }
}
`
	load := func(index int) (*Config, *Run) {
		runs, diags := ReadTests(source.NewFiles(), "a.rocetest.json", []byte(text))
		if len(diags) > 0 || len(runs) != 2 {
			t.Fatal(runs, diags)
		}
		cfg, diags := Load(Options{FS: fstest.MapFS{"main.roce.hcl": {Data: []byte(underTestText)}}, Keep: true, Run: runs[index]})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		return cfg, runs[index]
	}
	cfg, run := load(0)
	if run.Name != "first" || run.Asserts != 2 || !run.Fails || len(run.Expects) != 2 || run.Expects[1].Text != "check.one" {
		t.Errorf("%+v", run)
	}
	done := cfg.Asserts(twoLinks{})
	if len(done) != 2 || !done[0].Holds || done[1].Holds || done[1].Message != "there are 2" {
		t.Errorf("%+v", done)
	}
	if down, _ := cfg.Down(); len(down) != 1 || down[0].Text != "switch.tor" {
		t.Errorf("down %v", down)
	}
	cfg, run = load(1)
	if wants, diags := cfg.Wants(twoLinks{}); run.Command.Text != "build" || len(diags) > 0 || len(wants) != 1 || len(wants[0].Contains) != 2 {
		t.Errorf("%+v, %+v, %v", run, wants, diags)
	}
	for src, want := range map[string]string{
		`{"rnu": {}}`:                     "a file of tests has no attribute `rnu` outside of blocks",
		`{"run": {"a": {"comand": "x"}}}`: "`run` has no attribute `comand`",
		`{"run": {"a": {}, "a": {}}}`:     `run "a" is written twice`,
		`{"run": 5}`:                      "an object is needed here",
	} {
		_, diags := ReadTests(source.NewFiles(), "a.rocetest.json", []byte(src))
		if len(diags) == 0 || !strings.Contains(diags[0].Summary, want) {
			t.Errorf("%s: %v, want %s", src, diags, want)
		}
	}
}

// TestRunSteps: loops over loops, and questions in them, end with a refusal.
func TestRunSteps(t *testing.T) {
	const deep = "length(flatten([for a in range(1000) : [for b in range(1000) : [for c in range(1000) : [for d in range(1000) : a + d]]]])) == 1"
	for _, c := range []struct {
		condition string
		refused   bool
	}{
		{"length([for a in range(100) : [for b in range(100) : a + b]]) == 100", false},
		{"length([for a in range(100) : links(\"x\")]) == 100", false},
		{deep, true},
		{"length([for a in range(1000) : [for b in range(1000) : links(\"x\")]]) == 1000", true},
		{"length([for a in range(1000) : [for b in range(1000) : range(1000)[*]]]) == 1000", true},
		{"length([for a in range(100) : length(range(1000))]) == 100", true},
		{"length([for a in range(10) : length(range(1000))]) == 10", false},
		{"length([for a in range(100) : length(format(\"%2000000s\", a))]) == 100", true},
		{"length(range(200000)) == 200000", true},
	} {
		text := "run \"a\" {\n  assert {\n    condition = " + c.condition + "\n    error_message = \"no\"\n  }\n}"
		runs, diags := ReadTests(source.NewFiles(), "a.rocetest.hcl", []byte(text))
		if len(diags) > 0 {
			t.Fatal(diags)
		}
		cfg, diags := Load(Options{FS: fstest.MapFS{"main.roce.hcl": {Data: []byte(underTestText)}}, Keep: true, Run: runs[0], MaxLateSteps: 20_000})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		for range 2 { // the second has as much to spend
			done := cfg.Asserts(twoLinks{})
			refused := len(done) == 1 && len(done[0].Diags) == 1 && strings.Contains(done[0].Diags[0].Summary, "this takes more than 20000 steps")
			if refused != c.refused || !c.refused && !done[0].Holds {
				t.Errorf("%s: %+v", c.condition, done)
			}
		}
	}
}
