package compiler

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rocec/rocec/lang/diag"
)

// wideSwitch is a model with as many ports as a mesh wants.
const wideSwitch = `
asic "example/wide" {
  vendor       = "example"
  family       = "wide"
  cell         = 256
  buffer       = "1000MB"
  max_lossless = 8
  queues       = 8
  dscp_pfc     = true
  has_pfc      = true
  has_ecn      = true
  has_ets      = true
  has_watchdog = true
  max_mtu      = 9216
}
switch_model "example/wide" {
  asic      = "example/wide"
  ports     = { sonic = "Ethernet[0-%d:4]" }
  speeds    = { "*" = "100G" }
  lanes     = 4
  jumbo_mtu = 9216
}
`

// flat is a topology of n switches that are joined with each other, each with
// traffic of its own.
func flat(kind string, n, ports int, more string) string {
	contract, _, _ := strings.Cut(pods("  model = \"ecmp\"").text(), "node ")
	return contract + fmt.Sprintf(wideSwitch, 4*ports) + fmt.Sprintf(`
topology "%s" "t" {
  qos = qos.roce
  leaf {
    count    = %d
    model    = "example/wide"
    os       = "sonic/202505"
    speed    = "100G"
    up_ports = "Ethernet[4-%d:4]"
    cable    = { media = "dac", length = "3m" }
    port "Ethernet0" {
      external = true
    }
  }
}
routing "default" {
  model = "ecmp"
}
`, kind, n, 4*ports) + more
}

// TestHostileRouting: fabrics that a mistake or malice may write end in findings
// or in a refusal that names a number.
func TestHostileRouting(t *testing.T) {
	parts := pods(`  paths = "ecmp"`)
	parts.cables = append(parts.cables, "x1-x2", "x2-x3", "y1-y2")
	parts.hosts = append(parts.hosts, "x1", "x3", "y1")
	astray := &wired{
		hosts: []string{"r0", "r1", "r2"}, cables: []string{"r0-r1", "r1-r2", "r2-r0"}, routing: aTable,
		table: []string{"r0 * r1 r2", "r2 * r1 r0", "r0 * r2 r1", "r1 * r0 r0", "r2 * r0 r0"},
	}
	itself := pods(`  paths = "ecmp"`)
	itself.cables = append(itself.cables, "s1-s1")
	for _, c := range []struct {
		name, source string
		found        []string // rules, or parts of summaries
		not          []string
	}{
		{"mesh of 512", flat("full_mesh", 512, 511, ""), nil, []string{"ROCE801", "ROCE803"}},
		{"ring of 10,000", flat("ring", 10_000, 2, ""), []string{"among 10000 switches and 10000 links: the buffer graph takes 300000000 steps or more, and the limit is 250000000", "budget of analysis above 300000000"}, nil},
		{"ring of 300", flat("ring", 300, 2, ""), []string{"ROCE801"}, []string{"ROCE802"}},
		{"parts", parts.text(), nil, []string{"ROCE801", "ROCE802", "ROCE805"}},
		{"a loop and a black hole", astray.text(), []string{"ROCE802", "ROCE805"}, []string{"ROCE801"}},
		{"a cable to itself", itself.text(), nil, []string{"ROCE801", "ROCE802"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, diags, view := compileText(t, c.source)
			has := func(what string) bool {
				return slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Rule == what || strings.Contains(d.Summary+"\n"+d.Help, what) })
			}
			for _, what := range c.found {
				if !has(what) {
					t.Errorf("%s is not found\n%.3000s", what, shown(diags, view))
				}
			}
			for _, what := range c.not {
				if has(what) {
					t.Errorf("%s is found\n%.3000s", what, shown(diags, view))
				}
			}
		})
	}
}
