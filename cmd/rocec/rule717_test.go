package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/targets"
)

// TestROCE717 executes the examples of the rule that lives with the targets:
// the bad one is refused by it and nothing else, the good one by nothing.
func TestROCE717(t *testing.T) {
	for what, text := range map[string]string{"bad": targets.ROCE717.Bad, "good": targets.ROCE717.Good} {
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
			t.Errorf("the good example has findings: %+v", p.diags)
		}
		if what == "bad" && len(p.diags) == 0 {
			t.Error("the bad example has no finding")
		}
		for _, d := range p.diags {
			if d.Rule != targets.ROCE717.ID {
				t.Errorf("the %s example has another finding: %s %s", what, d.Rule, d.Summary)
			}
		}
	}
}
