package rocec_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/compiler/lint"
)

// TestRefusedLines: a refusal of a target stands at the line that says the value, wherever
// what it is about has it from.
func TestRefusedLines(t *testing.T) {
	sonic := []string{
		"cumulus-linux/5.11", "sonic/202505", "swp[1-2]", "Ethernet[0-4:4]", "swp${each.value}", "Ethernet${4 * each.value - 4}",
		"bandwidth = 60", "bandwidth = 59", "bandwidth = 0", "bandwidth = 1",
	}
	for name, c := range map[string]struct {
		edits []string
		line  string
	}{
		"VRF of a segment": {[]string{
			`segment "st" {`, "segment \"st\" {\n  vrf    = \"gpu\"",
			"  port \"swp[1-2]\" {",
			"  interface \"Vlan10\" {\n    on      = segment.st\n    address = \"10.1.0.254/24\"\n  }\n  port \"Ethernet[0-4:4]\" {",
		}, `  vrf    = "gpu"`},
		"share of one class": {[]string{"bandwidth = 0", "bandwidth = 0 ", "bandwidth = 60", "bandwidth = 60 "}, "bandwidth = 0 "},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer(append(c.edits, sonic...)...).Replace(scavenger)
			m := build(fstest.MapFS{"fabric.roce.hcl": {Data: []byte(text)}}, "2026-01-01")
			if len(m.Diags) != 1 || !slices.Contains(lint.Refusals, m.Diags[0].Rule) {
				t.Fatalf("it is not refused once:\n%s", m.Findings)
			}
			at := m.Diags[0].Span()
			from := 1 + strings.LastIndexByte(text[:at.Start], '\n')
			if line, _, _ := strings.Cut(text[from:], "\n"); !strings.HasSuffix(line, c.line) {
				t.Errorf("it is refused at %q, not at %q", line, c.line)
			}
		})
	}
}
