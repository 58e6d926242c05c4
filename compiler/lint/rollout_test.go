package lint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/lint"
)

// TestMismatch is for how long the ends of links differ: what is watched of the waves
// between them, each part of a wave for itself.
func TestMismatch(t *testing.T) {
	const hosts, rest = "  wave \"hosts\" {\n    select = node.n\n    soak   = \"5m\"\n", "  wave \"rest\" {}\n"
	for _, x := range []struct {
		name, text string
		want       []string
	}{
		{"one wave", lint.Rolled(`max_mismatch = "1m"`, "  wave \"all\" {\n    soak = \"5m\"\n  }\n"), nil},
		{"a wave at once", lint.Rolled(`max_mismatch = "5m"`, hosts+"  }\n"+rest), nil},
		{"a wave at once, and too long", lint.Rolled(`max_mismatch = "4m"`, hosts+"  }\n"+rest), []string{
			"ROCE902: the ends of the link between tor/Ethernet0 and n1/rail0 and of 3 others differ for 5 min, 4 min is allowed: wave hosts is watched before wave rest begins",
		}},
		{"host after host", lint.Rolled(`max_mismatch = "15m"`, hosts+"    group_by = \"device\"\n  }\n"+rest), []string{
			"ROCE902: the ends of the link between tor/Ethernet0 and n1/rail0 differ for 20 min, 15 min is allowed: wave hosts is watched before wave rest begins",
		}},
		{"host after host, and time for it", lint.Rolled(`max_mismatch = "20m"`, hosts+"    group_by = \"device\"\n  }\n"+rest), nil},
		{"parts of one wave", lint.Rolled(`max_mismatch = "10m"`, "  wave \"all\" {\n    soak     = \"5m\"\n    group_by = \"device\"\n  }\n"), []string{
			"ROCE902: the ends of the link between tor/Ethernet0 and n1/rail0 and of 1 other differ for 20 min, 10 min is allowed: each part of wave all is watched before the next one begins",
		}},
	} {
		if d := cmp.Diff(x.want, findings(compiled(t, x.text), "ROCE902")); d != "" {
			t.Errorf("%s (-want +got):\n%s", x.name, d)
		}
	}
}

// TestShareOfAPair: two switches that are all of their role and cabled to each other may change
// together where the rollout bounds for how long ends differ, and nowhere else.
func TestShareOfAPair(t *testing.T) {
	pair := func(limits string) string {
		return lint.TwoTors("role = \"tor\"", `{ media = "dac", length = "3m" }`, "") + "rollout {\n  " + limits + "\n" +
			"  wave \"switches\" {\n    select = [switch.tor, switch.far]\n  }\n  wave \"rest\" {\n    group_by = \"device\"\n  }\n}\n"
	}
	apart := func(text string) string {
		before, rest, _ := strings.Cut(text, "link \"far\" {")
		_, after, _ := strings.Cut(rest, "\n}\n")
		return before + after
	}
	one := func(text string) string {
		return swap(t, text, "switch \"tor\" {", "switch \"tor\" {\n  role = \"tor\"")
	}
	for _, x := range []struct {
		name, text string
		want       []string
	}{
		{"no time is said", one(pair(`max_share = 50`)), []string{"ROCE906: wave switches changes 2 of 2 devices of role tor together, 50 % are allowed"}},
		{"a time is said", one(pair("max_share = 50\n  max_mismatch = \"1m\"")), nil},
		{"a time is said, and no cable joins them", apart(one(pair("max_share = 50\n  max_mismatch = \"1m\""))), []string{"ROCE906: wave switches changes 2 of 2 devices of role tor together, 50 % are allowed"}},
	} {
		if d := cmp.Diff(x.want, findings(compiled(t, x.text), "ROCE906 ROCE902")); d != "" {
			t.Errorf("%s (-want +got):\n%s", x.name, d)
		}
	}
}
