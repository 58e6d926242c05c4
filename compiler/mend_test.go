package compiler

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/format"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/lang/source"
)

// mend applies the edits of findings to the one file of a fabric, as often as
// that changes something, and returns the file and the changes.
func mend(t *testing.T, text string, rule string) (string, []format.Change) {
	t.Helper()
	var all []format.Change
	for range 10 {
		_, found, view := compileText(t, text)
		found = slices.DeleteFunc(found, func(d diag.Diagnostic) bool { return d.Rule != rule })
		tree, problem := format.Parse("fabric.roce.hcl", []byte(text))
		if problem != nil {
			t.Fatal(problem)
		}
		changes, taken := format.Pick(found, func(id source.FileID) *format.Tree {
			if view.Files.Name(id) != "fabric.roce.hcl" {
				return nil
			}
			return tree
		})
		if len(taken) == 0 {
			return text, all
		}
		for _, list := range changes {
			all = append(all, list...)
			out, problem := tree.Apply(list)
			if problem != nil {
				t.Fatalf("%v\n%+v", problem, list)
			}
			text = string(out)
		}
	}
	t.Error("edits do not come to an end")
	return text, all
}

// TestMends mends the bad example of every rule that brings edits: it becomes
// clean, and comments and all lines that nothing was to change at stay as they
// are. A rule without that mark brings none.
func TestMends(t *testing.T) {
	n := 0
	for _, r := range lint.All {
		if r.Fixable {
			n++
		}
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			if r.Fixable && r.Steps != "" {
				t.Error("it brings edits, and what it asks for has an order that an edit cannot keep")
			}
			if strings.Contains(r.Bad, "\n-- ") && !r.Fixable {
				return // of several files
			}
			text, changes := mend(t, r.Bad, r.ID)
			if !r.Fixable {
				if len(changes) > 0 {
					t.Errorf("brings edits: %+v", changes)
				}
				return
			}
			_, found, view := compileText(t, text)
			if found = asked(found, r); len(found) > 0 || len(changes) == 0 {
				t.Fatalf("%+v do not mend it:\n%s\n%s", changes, shown(found, view), text)
			}
			lines := strings.SplitAfter(r.Bad, "\n")
			var commented strings.Builder
			for i, line := range lines {
				if end := strings.TrimSuffix(line, "\n"); end != "" && end != line {
					line = fmt.Sprintf("%s # line %d\n", end, i)
				}
				commented.WriteString(line)
			}
			text, changes = mend(t, commented.String(), r.ID)
			rest, changed := text, 0
			for _, line := range strings.SplitAfter(commented.String(), "\n") {
				_, after, ok := strings.Cut(rest, line)
				if !ok {
					_, comment, _ := strings.Cut(line, "#")
					if _, after, ok = strings.Cut(rest, comment); !ok {
						t.Fatalf("lost %q:\n%s", line, text)
					}
					changed++
				}
				rest = after
			}
			if changed > len(changes) {
				t.Errorf("%d lines are changed by %d edits:\n%s", changed, len(changes), text)
			}
		})
	}
	if n < 25 {
		t.Errorf("%d rules bring edits", n)
	}
}

// TestLimits puts the limits of rules elsewhere: what was bad is quiet under a
// wider one, and what was good is found under a narrower one.
func TestLimits(t *testing.T) {
	found := func(text, rule string, limits map[string]int64) bool {
		cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"fabric.roce.hcl": {Data: []byte(text)}}, Packs: packs.Files()})
		if diags.HasErrors() {
			t.Fatal(diags[0].Summary)
		}
		res := Compile(cfg, Options{Rows: packs.HeadroomRows, AsOf: "2026-01-01", Limits: lint.Limits{rule: limits}})
		return slices.ContainsFunc(res.Diags, func(d diag.Diagnostic) bool { return d.Rule == rule })
	}
	tried := map[string]bool{}
	for _, c := range []struct {
		rule, option string
		wide, narrow int64 // 0: no value of it changes the example
	}{
		{"ROCE223", "share", 2, 10},
		{"ROCE225", "points", 20, 3},
		{"ROCE239", "share", 5, 60},
		{"ROCE240", "smb", 0, 60},
		{"ROCE240", "heartbeat", 20, 0},
		{"ROCE308", "least", 50, 300},
		{"ROCE305", "most", 3, 0},
		{"ROCE308", "most", 0, 150},
		{"ROCE309", "ratio", 0, 0},
		{"ROCE325", "retries", 60_000, 10_000},
		{"ROCE321", "length", 400, 200},
		{"ROCE407", "ratio", 5, 0},
		{"ROCE413", "packets", 1, 3},
		{"ROCE421", "part", 100, 1},
		{"ROCE505", "least", 64, 8},
		{"ROCE505", "most", 0, 0},
		{"ROCE732", "most", 8000, 80},
	} {
		r := lint.Find(c.rule)
		tried[c.rule+" "+c.option] = true
		if c.wide != 0 && found(r.Bad, c.rule, map[string]int64{c.option: c.wide}) {
			t.Errorf("%s is found with %s = %d", c.rule, c.option, c.wide)
		}
		if c.narrow != 0 && !found(r.Good, c.rule, map[string]int64{c.option: c.narrow}) {
			t.Errorf("%s is not found with %s = %d", c.rule, c.option, c.narrow)
		}
	}
	for _, r := range lint.All {
		for _, o := range r.Options {
			if !tried[r.ID+" "+o.Name] {
				t.Errorf("%s: option %s is not tried", r.ID, o.Name)
			}
		}
	}
	alpha := strings.Replace(lint.Find("ROCE505").Good, `"1/16"`, "4", 1)
	for most, want := range map[int64]bool{4: false, 3: true} {
		if found(alpha, "ROCE505", map[string]int64{"most": most}) != want {
			t.Errorf("alpha 4 with most = %d", most)
		}
	}
}

// TestEach: ports that are alike have a finding for each place that says so, and what is
// said of one place brings the edits of all where all are wanted.
func TestEach(t *testing.T) {
	two := strings.Replace(lint.Find("ROCE307").Bad, `  port "Ethernet4" {`, "  port \"Ethernet4\" {\n    watchdog = \"off\"", 1)
	spare := strings.Replace(lint.Find("ROCE118").Bad, `  port "Ethernet8" {`, "  port \"Ethernet12\" {}\n  port \"Ethernet8\" {", 1)
	for _, c := range []struct {
		text, rule      string
		each            bool
		findings, edits int
	}{{two, "ROCE307", false, 2, 2}, {two, "ROCE307", true, 2, 2}, {spare, "ROCE118", true, 1, 1}, {strings.Replace(spare, "Ethernet12\" {}", "Ethernet12\" {\n    speed    = \"100G\"\n    untagged = segment.storage\n  }", 1), "ROCE118", true, 1, 2}} {
		cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"fabric.roce.hcl": {Data: []byte(c.text)}}, Packs: packs.Files()})
		if diags.HasErrors() {
			t.Fatal(diags[0].Summary)
		}
		findings, edits := 0, 0
		for _, d := range Compile(cfg, Options{Rows: packs.HeadroomRows, AsOf: "2026-01-01", Each: c.each}).Diags {
			if d.Rule == c.rule {
				findings, edits = findings+1, edits+len(d.Edits)
			}
		}
		if findings != c.findings || edits != c.edits {
			t.Errorf("%s, each %v: %d findings with %d edits\n%s", c.rule, c.each, findings, edits, c.text)
		}
	}
}
