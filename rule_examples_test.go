package rocec_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/targets"
)

// pending are rules whose examples do not pass yet.
var pending = []string{
	"ROCE204", "ROCE219", "ROCE223", "ROCE226", "ROCE411",
}

// TestRuleExamples takes the examples of every rule on the fabric through every stage:
// what a rule shows as good is loaded, compiled and written by the emitters of its
// devices, and nothing is said of it; what it shows as bad is found by that rule alone.
// Targets may refuse what is an error anyway.
func TestRuleExamples(t *testing.T) {
	for _, r := range lint.All {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			if slices.Contains(pending, r.ID) {
				return
			}
			good := buildExample(r, r.Good)
			if len(good.Diags) > 0 {
				t.Errorf("the good example has findings:\n%s", good.Findings)
			}
			if len(good.Devices) == 0 {
				t.Error("the good example gives no device anything")
			}
			bad := buildExample(r, r.Bad)
			if !slices.ContainsFunc(bad.Diags, func(d diag.Diagnostic) bool { return d.Rule == r.ID }) {
				t.Errorf("the bad example is not found:\n%s", bad.Findings)
			}
			if slices.ContainsFunc(bad.Diags, func(d diag.Diagnostic) bool {
				return d.Rule != r.ID && (r.Severity != diag.Error || !refuses(d.Rule))
			}) {
				t.Errorf("the bad example has other findings:\n%s", bad.Findings)
			}
		})
	}
}

// refuses reports whether a rule is of what targets refuse.
func refuses(id string) bool {
	return slices.ContainsFunc(targets.Refusals, func(r *diag.Rule) bool { return r.ID == id })
}

// buildExample builds the files of an example. A pedantic rule is asked for by name.
func buildExample(r *lint.Rule, text string) made {
	a := txtar.Parse([]byte(text))
	fsys := fstest.MapFS{"fabric.roce.hcl": {Data: a.Comment}}
	for _, f := range a.Files {
		fsys[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	m := buildWith(fsys, compiler.Options{AsOf: "2026-01-01", Rows: packs.HeadroomRows, Pedantic: r.Pedantic})
	if !r.Pedantic {
		return m
	}
	m.Diags = slices.DeleteFunc(m.Diags, func(d diag.Diagnostic) bool {
		other := lint.Find(d.Rule)
		return other != nil && other != r && other.Pedantic
	})
	return m
}
