package lint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/lint"
)

// said are the findings of one rule in a fabric, each as its severity.
func said(t *testing.T, text, rule string) []string {
	t.Helper()
	list := []string{}
	for _, d := range compiled(t, text).All() {
		if d.Rule == rule {
			list = append(list, d.Severity.String())
		}
	}
	return slices.Compact(list)
}

// TestJudged: fabrics in which a rule on classes, ECN or overlays speaks, in which it is weaker, and in which it is silent because
// nothing is wrong, or nobody knows.
func TestJudged(t *testing.T) {
	bad := func(rule string) string { return lint.Find(rule).Bad }
	good := func(rule string) string { return lint.Find(rule).Good }
	const bulk = "  class \"bulk\" {\n    carries   = \"other\"\n    dscp      = [10]\n    priority  = 1\n    bandwidth = 40\n    " +
		"marked_by = \"application\"\n  }\n"
	// RDMA that is strict beside the default class alone
	strict := swap(t, swap(t, bad("ROCE203"), bulk, ""), "bandwidth = 60", "bandwidth = 100")
	guests := func(n string) string {
		return strings.ReplaceAll(swap(t, strict, `switch "tor" {`, "segment \"vm\" {\n  for_each = toset("+n+")\n  vlan     = "+
			"each.key\n}\nswitch \"tor\" {"),
			"    untagged = segment.storage\n", "    untagged = segment.storage\n    tagged   = segment.vm\n")
	}
	// a lossy class with neither marks nor pauses, and what else may slow its senders
	neither := bad("ROCE408")
	found := func(firmware, priorities string) string {
		return swap(t, swap(t, bad("ROCE412"), "observed = { dcqcn = [0, 1] }", "observed = { dcqcn = "+priorities+" }"),
			`model    = "nvidia/connectx-6-dx"`,
			"model    = \"nvidia/connectx-6-dx\"\n    firmware = \""+firmware+"\"")
	}
	cumulus := strings.NewReplacer("sonic/202505", "cumulus-linux/5.14", `port "Ethernet0"`, `port "swp1"`, `port "Ethernet4"`, `port "swp2"`,
		`port "Ethernet8"`, `port "swp3"`,
		`port["Ethernet0"]`, `port["swp1"]`, `port["Ethernet8"]`, `port["swp3"]`, `"Ethernet0"`, `"swp1"`, `"Ethernet4"`, `"swp2"`,
		`, overlay_marks = "lost"`, "").Replace(bad("ROCE242"))
	noCNP := bad("ROCE237")
	// shares of SMB Direct and of the default class
	smb := func(percent, rest string) string {
		return strings.NewReplacer("bandwidth = 50", "bandwidth = "+percent, "bandwidth = 49", "bandwidth = "+rest).Replace(good("ROCE240"))
	}
	for _, c := range []struct {
		name, text, rule string
		want             []string
	}{
		{"strict beside other data", bad("ROCE203"), "ROCE203", []string{"error"}},
		{"strict beside one segment, as management is", guests(`["200"]`), "ROCE203", []string{"warning"}},
		{"strict beside segments of virtual machines", guests(`["200", "201"]`), "ROCE203", []string{"error"}},
		{"strict on a back end of its own", strict, "ROCE203", nil},
		{"strict under a cap", swap(t, bad("ROCE203"), "strict    = true", "strict    = true\n    max_rate  = 80"), "ROCE203", nil},

		{"no class for CNPs", noCNP, "ROCE237", []string{"warning"}},
		{"no marks", swap(t, noCNP, `ecn       = "auto"`, `ecn       = "off"`), "ROCE237", nil},
		{"receivers", swap(t, noCNP, `ecn       = "auto"`, "ecn       = \"auto\"\n    congestion_control = \"receiver\""), "ROCE237", nil},
		{"a NIC of which nobody says what it sends", strings.ReplaceAll(noCNP, "nvidia/connectx-6-dx", "intel/e810"), "ROCE237", nil},
		{"hosts without a switch", swap(t, good("ROCE226"), "match", "match"), "ROCE237", nil},

		{"RDMA in CS6", swap(t, good("ROCE238"), "dscp      = [26]", "dscp      = [48]"), "ROCE238", []string{"warning"}},
		{
			"RDMA in priority 6",
			strings.NewReplacer("priority  = 3", "priority  = 6", "priority = 6", "priority = 5").Replace(good("ROCE238")),
			"ROCE238",
			[]string{"warning"},
		},
		{"RDMA in priority 5", swap(t, good("ROCE238"), "priority  = 3", "priority  = 5"), "ROCE238", nil},

		{"SMB Direct below half", smb("40", "59"), "ROCE240", []string{"warning"}},
		{"a heartbeat of 1 % at 10G", strings.ReplaceAll(good("ROCE240"), `"100G"`, `"10G"`), "ROCE240", []string{"warning"}},
		{"no cluster", swap(t, bad("ROCE240"), "  cluster  = \"s2d\"\n", ""), "ROCE240", nil},
		{"SMB Direct of a few percent is said once", smb("5", "94"), "ROCE239", nil},

		{"small packets that are asked for", swap(t, bad("ROCE241"), `ecn       = "auto"`, "ecn       = \"auto\"\n    rdma_mtu  = "+
			"\"1024\""), "ROCE241", nil},
		{"packets of 2048", swap(t, good("ROCE241"), "mtu      = 4200", "mtu      = 2200"), "ROCE241", nil},

		{"an overlay of SONiC", swap(t, bad("ROCE242"), `, overlay_marks = "lost"`, ""), "ROCE242", nil},
		{"an overlay of Cumulus Linux", cumulus, "ROCE242", []string{"warning"}},
		{"one of which somebody has looked", swap(t, cumulus, `overlay = "vxlan"`, `overlay = "vxlan", overlay_marks = "kept"`), "ROCE242", nil},

		{"neither", neither, "ROCE408", []string{"warning"}},
		{"round-trip times", swap(t, neither, `lossless  = false`, "lossless  = false\n    observed  = { slowed_by = "+
			"\"rtt\" }"), "ROCE408", nil},

		{"DCQCN off", found("22.39.1002", "[0, 1]"), "ROCE412", []string{"warning"}},
		{"one setting for all priorities", found("22.45.1020", "[0, 1]"), "ROCE412", nil},
		{"and it is off", found("22.45.1020", "[]"), "ROCE412", []string{"warning"}},

		{"one leaf under a spine", swap(t, bad("ROCE420"), `{ tor = 0, leaf2 = 4 }`, `{ tor = 0 }`), "ROCE420", nil},
		{"a lossy class", swap(t, bad("ROCE420"), "bandwidth = 50", "bandwidth = 50\n    lossless  = false"), "ROCE420", nil},
		{
			"receivers over two tiers",
			swap(t, good("ROCE420"), `observed  = { slowed_by = "rtt" }`, `congestion_control = "receiver"`),
			"ROCE420", nil,
		},
		{"marks over two tiers", swap(t, good("ROCE420"), `observed  = { slowed_by = "rtt" }`, `ecn = "auto"`), "ROCE420", nil},

		{"10 km", bad("ROCE421"), "ROCE421", []string{"warning"}},
		{"500 m", swap(t, bad("ROCE421"), `length = "10km"`, `length = "500m"`), "ROCE421", nil},
		{"10 km, by the speed", swap(t, bad("ROCE421"), `min = "150KB"`, `min = "1MB"`), "ROCE421", nil},

		{"a step", bad("ROCE418"), "ROCE418", []string{"warning"}},
		{"idle ports", bad("ROCE515"), "ROCE515", []string{"notice"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.want == nil {
				c.want = []string{}
			}
			if d := cmp.Diff(c.want, said(t, c.text, c.rule)); d != "" {
				t.Errorf("%s (-want +got):\n%s\n%s", c.rule, d, c.text)
			}
		})
	}
}
