package compiler

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/deploy/verify"
)

// TestSources: what a rule rests on is a document that a reader can open, and a limit of
// our own is called one and can be set.
func TestSources(t *testing.T) {
	const families = "13"
	sheet := regexp.MustCompile(`\btheory\b|\bcatalogue\b|linux-hosts|switches-linux-nos|data of the|, section [0-9]+$`)
	rules := slices.Clone(verify.Rules)
	for _, r := range lint.All {
		rules = append(rules, &r.Rule)
	}
	n := 0
	for _, r := range rules {
		if r.Title == "" || !strings.Contains(families, r.ID[4:5]) {
			continue
		}
		n++
		if said := sheet.FindString(r.Source); said != "" {
			t.Errorf("%s rests on %q, which nobody can open", r.ID, said)
		}
		if strings.Contains(r.Source, "house limit") && len(r.Options) == 0 {
			t.Errorf("%s has a limit of the house that cannot be set", r.ID)
		}
		if r.Fixable && r.Steps != "" {
			t.Errorf("%s brings edits, and what it asks for has an order", r.ID)
		}
	}
	if n < 45 {
		t.Errorf("%d rules", n)
	}
}
