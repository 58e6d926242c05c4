package compiler

import (
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/lint"
)

// accepting is an override of one rule.
func accepting(on, rule string) string {
	return "\noverride {\n  on      = " + on + "\n  accept  = [\"" + rule + "\"]\n  reason  = \"agreed\"\n  expires = \"2026-06-01\"\n}\n"
}

// TestAcceptOrders: waves of a rollout are accepted by their addresses as texts,
// as they are no objects that a reference names.
func TestAcceptOrders(t *testing.T) {
	for _, c := range []struct {
		rule, on string
		want     string // of what is found; "": nothing
	}{
		{"ROCE907", `["rollout.wave[rest]"]`, ""},
		{"ROCE911", `"rollout.wave[*]"`, ""},
		{"ROCE911", `"rollout"`, ""},
		{"ROCE911", `"rollout.wave[rest]"`, "override accepts ROCE911, which finds nothing here"},
		{"ROCE911", `"rollout.wave[none]"`, `"rollout.wave[none]" matches nothing`},
		{"ROCE911", `"analysis"`, `"analysis" matches nothing`},
	} {
		r := lint.Find(c.rule)
		_, found, view := compileText(t, r.Bad+accepting(c.on, r.ID))
		found = asked(found, r)
		text := shown(found, view)
		if c.want == "" && len(found) > 0 || c.want != "" && !strings.Contains(text, c.want) {
			t.Errorf("%s on %s:\n%s", c.rule, c.on, text)
		}
	}
	r := lint.Find("ROCE911")
	_, found, view := compileText(t, r.Bad+strings.Replace(accepting(`"rollout.wave[canary]"`, r.ID), "accept ", "set     = { soak = \"1m\" }\n  accept ", 1))
	if text := shown(found, view); !strings.Contains(text, "matches nothing") {
		t.Errorf("a wave is set:\n%s", text)
	}
}
