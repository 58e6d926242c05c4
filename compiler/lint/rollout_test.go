package lint_test

import (
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
