package lint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/lint"
)

// TestKeptSpeed: a port whose speed is left as the device has it runs at a speed that is not
// known, and not at that of its model: no rule judges by it.
func TestKeptSpeed(t *testing.T) {
	const speed = "  port \"Ethernet0\" {\n    speed    = \"100G\"\n"
	uplinks := swap(t, lint.UnevenSpeed("keep"), `ecn       = "auto"`, "ecn       = \"auto\"\n    max_oversubscription = 1") +
		"defaults \"port\" {\n  headroom = \"60KB\"\n}\n"
	for _, x := range []struct{ name, rules, text string }{
		{"the peer of a NIC of half the model's speed", "ROCE101 ROCE102 ROCE109 ROCE123", swap(t, lint.TwoNodes(`headroom = "60KB"`), speed,
			strings.Replace(speed, "100G", "keep", 1))},
		{"defaults keep it", "ROCE101 ROCE102 ROCE109 ROCE123", swap(t, lint.TwoNodes(`headroom = "60KB"`), speed, "  port \"Ethernet0\" {\n") +
			"defaults \"port\" {\n  speed = \"keep\"\n}\n"},
		{"one uplink of two", "ROCE809 ROCE815", uplinks},
	} {
		if d := cmp.Diff([]string(nil), findings(compiled(t, x.text), x.rules)); d != "" {
			t.Errorf("%s (-want +got)\n%s", x.name, d)
		}
	}
}
