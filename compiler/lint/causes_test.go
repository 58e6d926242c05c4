package lint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
	"github.com/rocec/rocec/targets"
)

// TestLeadsEnd: no rule leads to itself by way of others, and all of them are there.
func TestLeadsEnd(t *testing.T) {
	next := map[string][]string{}
	for _, row := range lint.Leads {
		next[row.Cause] = append(next[row.Cause], strings.Fields(row.Effects)...)
		for _, rule := range append(strings.Fields(row.Effects), row.Cause) {
			if lint.Find(rule) == nil && rule != "refused" && rule != "error" {
				t.Errorf("there is no rule %s", rule)
			}
		}
	}
	var walk func(rule string, on []string)
	walk = func(rule string, on []string) {
		if slices.Contains(on, rule) {
			t.Errorf("%s leads to itself: %v", rule, on)
			return
		}
		for _, n := range next[rule] {
			walk(n, append(slices.Clone(on), rule))
		}
	}
	for rule := range next {
		walk(rule, nil)
	}
}

// TestConsequences: what follows stands under its cause where they share a line, and
// alone where they do not; no error is lost below a warning.
func TestConsequences(t *testing.T) {
	at := func(rule string, severity diag.Severity, address string, start uint32) diag.Diagnostic {
		return diag.Diagnostic{Rule: rule, Severity: severity, Summary: rule, Address: address, Labels: []diag.Label{{Span: source.Span{File: 1, Start: start, Len: 1}}}}
	}
	refusal := at("ROCE717", diag.Error, "b", 5)
	for name, c := range map[string]struct {
		list diag.List
		want string
	}{
		"one line":      {diag.List{at("ROCE201", diag.Error, "a", 5), refusal}, "error ROCE201(ROCE717)"},
		"another line":  {diag.List{at("ROCE201", diag.Error, "b", 6), refusal}, "error ROCE201 error ROCE717"},
		"a warning":     {diag.List{at("ROCE308", diag.Warning, "a", 5), refusal}, "warning ROCE308 error ROCE717"},
		"effect first":  {diag.List{refusal, at("ROCE201", diag.Error, "a", 5)}, "error ROCE201(ROCE717)"},
		"folded before": {lint.Consequences(diag.List{at("ROCE201", diag.Error, "a", 5), refusal}), "error ROCE201(ROCE717)"},
		"several":       {diag.List{at("ROCE201", diag.Error, "a", 5), refusal, at("ROCE717", diag.Error, "c", 5)}, "error ROCE201(ROCE717)"},
	} {
		var got []string
		for _, d := range diag.Fold(lint.Consequences(c.list)) {
			s := d.Severity.String() + " " + d.Rule
			for _, f := range d.Follows {
				s += "(" + f.Rule + ")"
			}
			got = append(got, s)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", name, s, c.want)
		}
	}
	grave := at("ROCE308", diag.Warning, "a", 5)
	grave.Follows = diag.List{refusal}
	if got := diag.Fold(diag.List{grave}); got[0].Severity != diag.Error || diag.Tally(got) != "1 error" || !got.HasErrors() {
		t.Errorf("an error below a warning is %s", diag.Tally(got))
	}
	hidden := grave.Follows.Keep(func(d *diag.Diagnostic) bool { return d.Rule != "ROCE308" })
	if len(hidden) != 1 || len(diag.List{grave}.Keep(func(d *diag.Diagnostic) bool { return d.Rule != "ROCE308" })) != 1 {
		t.Error("what follows from a finding that is not wanted is lost")
	}
}

// TestRefusals: what leads call refused is what targets refuse.
func TestRefusals(t *testing.T) {
	var codes []string
	for _, r := range targets.Refusals {
		codes = append(codes, r.ID)
	}
	if diff := cmp.Diff(codes, lint.Refusals); diff != "" {
		t.Errorf("(-targets +leads):\n%s", diff)
	}
}
