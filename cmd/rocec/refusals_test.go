package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/targets"
)

// TestRefusals executes the examples of the rules that live with the targets:
// the bad one is refused by its rule and nothing else, the good one by nothing.
func TestRefusals(t *testing.T) {
	for _, r := range targets.Refusals {
		for what, text := range map[string]string{"bad": r.Bad, "good": r.Good} {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "fabric.roce.hcl"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Chdir(dir)
			a := &app{env: map[string]string{}}
			p, err := a.load(&inputs{vars: orderedVars{list: &[]lang.Var{}}}, false)
			if err != nil {
				t.Fatal(err)
			}
			p.devices()
			if what == "good" && len(p.diags) > 0 {
				t.Errorf("%s: the good example has findings: %+v", r.ID, p.diags)
			}
			if what == "bad" && len(p.diags) == 0 {
				t.Errorf("%s: the bad example has no finding", r.ID)
			}
			for _, d := range p.diags {
				if d.Rule != r.ID {
					t.Errorf("%s: the %s example has another finding: %s %s", r.ID, what, d.Rule, d.Summary)
				}
			}
		}
	}
}
