package rocec_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets/targettest"
)

// TestIncidents: each incident that is publicly known is one fabric with that
// fault, which its rules find on the right object and nothing else calls an
// error, and the same fabric repaired, of which nothing is said. -update rewrites the section want/diag.
func TestIncidents(t *testing.T) {
	for _, file := range cases(t, "testdata/incidents/*.txtar", 12) {
		t.Run(caseName(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			a := txtar.Parse(text)
			if len(bytes.TrimSpace(a.Comment)) == 0 {
				t.Error("it does not say what happened")
			}
			section := map[string][]byte{}
			for _, f := range a.Files {
				section[f.Name] = f.Data
			}
			as := func(name string) made {
				return build(fstest.MapFS{"fabric.roce.hcl": {Data: section[name]}}, "2026-06-01")
			}
			bad := as("fabric.roce.hcl")
			var rules []string
			for _, line := range strings.Split(strings.TrimSpace(string(section["rules"])), "\n") {
				code, address, ok := strings.Cut(line, " ")
				if !ok {
					t.Fatalf("%q names no rule and object", line)
				}
				rules = append(rules, code)
				f := fault{rules: []string{code}}
				if !slices.ContainsFunc(bad.Diags, func(d diag.Diagnostic) bool { return f.names(d, []string{address}) }) {
					t.Errorf("%s does not find %s:\n%s", code, address, bad.Findings)
				}
			}
			for _, d := range bad.Diags {
				if d.Severity == diag.Error && !slices.Contains(rules, d.Rule) {
					t.Errorf("besides: %s %s", d.Rule, d.Summary)
				}
			}
			for i := range a.Files {
				if a.Files[i].Name == wantDiag {
					a.Files = a.Files[:i]
					break
				}
			}
			a.Files = append(a.Files, txtar.File{Name: wantDiag, Data: []byte(bad.Findings)})
			targettest.Golden(t, file, string(txtar.Format(a)))
			if fixed := as("fixed.roce.hcl"); fixed.Findings != "" {
				t.Errorf("the repaired fabric has findings:\n%s", fixed.Findings)
			} else if len(fixed.Devices) == 0 {
				t.Error("nothing was made of the repaired fabric")
			}
		})
	}
}
