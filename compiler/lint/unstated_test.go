package lint_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// stated is a fabric of one switch and two hosts whose models state everything.
func stated(t *testing.T, edits ...string) string {
	text := lint.TwoNodesEdit(edits...)
	text = swap(t, swap(t, text, "nvidia/sn3700", "example/switch"), "nvidia/connectx-6-dx", "example/nic")
	return text + `
nic_model "example/nic" {
  vendor          = "example"
  driver          = "mlx5"
  ports           = 2
  speeds          = ["50G", "100G"]
  pcie            = { gen = 4, lanes = 16 }
  roce            = ["v1", "v2"]
  iwarp           = true
  infiniband      = false
  traffic_classes = 8
  pfc_priorities  = 8
  dscp_trust      = true
  resilient       = true
  reordering      = true
  autoneg         = true
  max_mtu         = 9978
  cnp_dscp        = 48
  cnp_priority    = 6
}
asic "example/asic" {
  vendor       = "example"
  family       = "asic"
  cell         = 256
  buffer       = "32MB"
  max_lossless = 2
  queues       = 8
  formula      = "reference"
  has_pfc      = true
  has_ecn      = true
  has_ets      = true
  dscp_pfc     = true
  has_watchdog = true
  max_mtu      = 9216
  speeds       = ["25G", "50G", "100G"]
  autoneg      = { sonic = true }
}
switch_model "example/switch" {
  asic      = "example/asic"
  ports     = { sonic = "Ethernet[0-124:4]" }
  speeds    = { "*" = "100G" }
  lanes     = 4
  jumbo_mtu = 9216
}
`
}

// Fabrics in which the facts are asked for.
var (
	plainUse []string
	twoPFC   = []string{
		`  class "cnp" {`,
		"  class \"two\" {\n    carries = \"rdma\"\n    dscp = [34]\n    priority = 4\n    bandwidth = 20\n    ecn = \"auto\"\n  }\n  class " +
			"\"cnp\" {", "bandwidth = 50", "bandwidth = 30",
	}
	lossyUse   = []string{`ecn       = "auto"`, "ecn       = \"auto\"\n    lossless  = false"}
	iwarpUse   = []string{`trust = "dscp"`, "trust = \"dscp\"\n  transport = \"iwarp\"", `ecn       = "auto"`, "lossless = false"}
	slowUse    = []string{`"100G"`, `"50G"`, `"100G"`, `"50G"`, `"100G"`, `"50G"`}
	autonegNIC = []string{`nic "rail0" {`, "nic \"rail0\" {\n    autoneg = true"}
	autonegOn  = []string{"    fec      = \"rs\"\n", "    fec      = \"rs\"\n    autoneg = true\n"}
)

// TestEveryFact: of each fact that a block of hardware may state it is decided whether a
// proof rests on it. Where one does, a model without it is told of, as an error for
// RDMA; with all of them stated nothing is found.
func TestEveryFact(t *testing.T) {
	type decided struct {
		use   []string // edits of the fabric, of one in which it is asked for
		more  string   // blocks besides
		rules string   // which tells of it
		level diag.Severity
		free  string // why nothing rests on it
	}
	asked := func(use []string) decided { return decided{use: use, rules: "ROCE722", level: diag.Error} }
	free := func(why string) decided { return decided{free: why} }
	mtu := decided{use: plainUse, rules: "ROCE722", level: diag.Warning}
	named := free("names the model, or is a source")
	facts := map[schema.Kind]map[string]decided{
		schema.NICModel: {
			"vendor": named, "driver": named, "source": named, "sources": named, "defaults": named,
			"ports": free("the source says which ports there are"), "infiniband": free("link_layer says what a port is in"),
			"pcie": free("of a card that is written; a slot is judged by what the source says of it"),
			"roce": {use: plainUse, rules: "ROCE703", level: diag.Error}, "iwarp": asked(iwarpUse), "speeds": asked(plainUse),
			"traffic_classes": asked(plainUse),
			"pfc_priorities":  asked(twoPFC), "dscp_trust": asked(plainUse), "resilient": asked(lossyUse), "max_mtu": mtu,
			"reordering": {more: "routing \"default\" {\n  paths    = \"ecmp\"\n  observed = { adaptive = true, reordering = true }\n  default  = true\n}\n", rules: "ROCE821", level: diag.Warning},
			"autoneg":    {use: autonegOn, rules: "ROCE122", level: diag.Warning},
			"cnp_dscp":   free("a CNP whose mark is not known goes by some queue, and is not lost"), "cnp_priority": free("likewise"),
			"interop": free("left out where any will do"), "os": free("makers ship drivers for older systems"),
			"facts": free("each is of the rule that reads it"),
		},
		schema.ASIC: {
			"vendor": named, "family": named, "source": named, "sources": named,
			"cell": asked(plainUse), "buffer": asked(plainUse), "max_lossless": free("left out where nothing but the buffer limits it: " +
				"ROCE305, ROCE502"), "queues": asked(plainUse),
			"has_pfc": asked(plainUse), "has_ecn": asked(plainUse),
			"has_ets": asked(plainUse), "dscp_pfc": asked(plainUse), "max_mtu": mtu,
			"has_watchdog": {rules: "ROCE307", level: diag.Warning}, "speeds": {use: slowUse, rules: "ROCE123", level: diag.Error},
			"autoneg":             {use: autonegNIC, rules: "ROCE122", level: diag.Warning},
			"lossless_priorities": free("left out where any priority can be lossless"), "formula": free("the reference formula stands in"),
			"pipeline_latency": free("of a formula of the vendor"), "mac_phy_delay": free("likewise"), "tile": free("likewise"),
			"compensation":   free("likewise"),
			"headroom_share": free("half of the buffer stands in"), "facts": free("each is of the rule that reads it"),
		},
		schema.SwitchModel: {
			"asic": named, "ports": named, "source": named, "sources": named, "defaults": named, "platform": named, "hwsku": named, "os": named,
			"speeds":    free("the speed that a port has when nobody writes one"),
			"jumbo_mtu": free("the MTU that a port has when nobody writes one"), "lanes": free("the platform refuses a split that it does not have"),
			"breakouts": free("the platform refuses a split that it does not have"), "max_mtu": free("that of the asic"),
			"buffer": free("that of the asic"), "max_lossless": free("likewise"),
			"has_watchdog": free("that of the asic"), "pause_response": free("the response that IEEE 802.3 allows stands in"),
			"facts": free("each is of the rule that reads it"),
		},
	}
	for kind, of := range facts {
		block := schema.Def(kind)
		for i := range block.Attrs {
			word := block.Attrs[i].Num.Name()
			d, ok := of[word]
			switch {
			case !ok:
				t.Errorf("whether a proof rests on %s of %s is not decided", word, block.Word)
				continue
			case d.free != "":
				continue
			}
			full := stated(t, d.use...) + d.more
			for _, found := range compiled(t, full) {
				if found.Rule == d.rules {
					t.Errorf("%s of %s is stated: %s: %s", word, block.Word, found.Rule, found.Summary)
				}
			}
			head, body, ok := strings.Cut(full, block.Word+` "example/`)
			if !ok {
				t.Fatalf("no block %s", block.Word)
			}
			without := head + block.Word + ` "example/` + regexp.MustCompile(`(?m)^  `+word+` *= .*\n`).ReplaceAllStringFunc(body, onlyFirst())
			if without == full {
				t.Fatalf("%s of %s is not stated", word, block.Word)
			}
			told := compiled(t, without)
			if !slices.ContainsFunc(told, func(f diag.Diagnostic) bool { return f.Rule == d.rules && f.Severity == d.level }) {
				t.Errorf("%s of %s is not stated, and %s does not say so: %v", word, block.Word, d.rules, findings(told, d.rules))
			}
		}
	}
}

// onlyFirst takes out the first match, and leaves the others.
func onlyFirst() func(string) string {
	done := false
	return func(s string) string {
		if done {
			return s
		}
		done = true
		return ""
	}
}

// TestHeadroomAdvice: who writes the headroom that a finding asks for has none of its
// family left.
func TestHeadroomAdvice(t *testing.T) {
	size := regexp.MustCompile(`(?:use|headroom =) (\d+)`)
	asked := 0
	for _, speed := range []string{"1G", "10G", "25G", "40G", "50G", "100G", "200G"} {
		for _, written := range []string{"", "headroom = 19200"} {
			base := swap(t, lint.TwoNodesEdit(`port "Ethernet0" {`, "port \"Ethernet0\" {\n    #", `port "Ethernet4" {`,
				"port \"Ethernet4\" {\n    #"), `"100G"`, `"`+speed+`"`)
			text := strings.ReplaceAll(base, "#", written)
			for _, d := range compiled(t, text) {
				m := size.FindStringSubmatch(d.Help)
				if d.Rule != "ROCE519" || m == nil {
					continue
				}
				asked++
				after := compiled(t, strings.ReplaceAll(base, "#", "headroom = "+m[1]))
				for _, left := range after {
					if strings.HasPrefix(left.Rule, "ROCE5") && left.Address == d.Address {
						t.Errorf("%s, %q: %s, and then %s: %s", speed, written, d.Help, left.Rule, left.Summary)
					}
				}
			}
		}
	}
	if asked == 0 {
		t.Error("nothing asks for headroom")
	}
}

// TestStatedVariants are fabrics beside the examples of the rules on what is known.
func TestStatedVariants(t *testing.T) {
	old := `
nic_model "example/new" {
  vendor          = "example"
  driver          = "mlx5"
  roce            = ["v2"]
  speeds          = ["100G"]
  traffic_classes = 8
  pfc_priorities  = 8
  dscp_trust      = true
  resilient       = true
  max_mtu         = 9978
  os              = { ubuntu = "26.04" }
}
`
	foreign := swap(t, lint.TwoNodesEdit(`slot     = each.value`, "slot     = each.value\n  manage   = \"none\""), "nvidia/connectx-6-dx",
		"example/new") + old
	lossy := []string{`ecn       = "auto"`, `lossless  = false`}
	pause := func(node string, ports ...string) string {
		text := lint.TwoNodesEdit(append(slices.Clone(lossy), `port "Ethernet0" {`, "port \"Ethernet0\" {\n    global_pause = "+ports[0],
			`port "Ethernet4" {`, "port \"Ethernet4\" {\n    global_pause = "+ports[1])...)
		return lint.Edit(text, `slot     = each.value`, "slot     = each.value"+node)
	}
	const none = "\n  manage   = \"none\""
	words := func(class string) string {
		return lint.TwoNodesEdit(`ecn       = "auto"`, "ecn       = \"auto\"\n    consumers = "+class)
	}
	for _, x := range []struct {
		name, rules, text string
		want              []string
	}{
		{"a host that others see to", "ROCE706", foreign, []string{"ROCE706: n1 runs ubuntu 24.04, and example/new needs 26.04 or newer"}},
		{"global pause on ports and hosts of others", "ROCE408", pause(none, "true", "true"), nil},
		{
			"global pause on one port", "ROCE408", pause(none, "true", "false"),
			[]string{"ROCE408: class rdma of qos roce has neither PFC nor ECN"},
		},
		{
			"global pause on ports alone", "ROCE408", pause("", "true", "true"),
			[]string{"ROCE408: class rdma of qos roce has neither PFC nor ECN"},
		},
		{"a known consumer", "ROCE724 ROCE713", words(`["nccl"]`), nil},
		{
			"a mistyped consumer", "ROCE724 ROCE713", words(`["ncll"]`),
			[]string{`ROCE724: class rdma names "ncll" as a consumer, which is not known to use RDMA`},
		},
		{"a declared consumer", "ROCE724 ROCE713", words(`["nginx"]`) + "rocec {\n  consumers = [\"nginx\"]\n}\n", nil},
		{
			"a consumer of one node", "ROCE724", lint.Knowing(`consumers = self.name == "n2" ? ["nginx"] : ["nccl"]`),
			[]string{`ROCE724: n2 names "nginx" as a consumer, which is not known to use RDMA`},
		},
		{"no such speed", "ROCE123", swap(t, lint.TwoNodes(""), `"100G"`, `"37G"`), []string{
			"ROCE123: port tor/Ethernet0 and its peer n1/rail0 are told to run at 37G, which neither nvidia/sn3700 nor nvidia/connectx-6-dx has",
			"ROCE123: port tor/Ethernet4 and its peer n2/rail0 are told to run at 37G, which neither nvidia/sn3700 nor nvidia/connectx-6-dx has",
		}},
		{"1G on Spectrum-4", "ROCE123", swap(t, swap(t, swap(t, lint.TwoNodes(""), `"100G"`, `"1G"`), "nvidia/sn3700", "nvidia/sn5600"),
			"Ethernet4", "Ethernet8"), []string{
			"ROCE123: port tor/Ethernet0 and its peer n1/rail0 are told to run at 1G, which neither nvidia/sn5600 nor nvidia/connectx-6-dx has",
		}},
		{"autoneg as the adapter has it", "ROCE122 ROCE103", lint.TwoNodes("autoneg = true"), nil},
		{"autoneg on the host, and SONiC has none", "ROCE122 ROCE103", lint.FourNodes("", "autoneg = true"), []string{
			"ROCE122: port n1/rail0 is told autoneg = true, and its peer tor/Ethernet0 is left to its default, which does not negotiate",
			"ROCE122: port n2/rail0 is told autoneg = true, and its peer tor/Ethernet4 is left to its default, which does not negotiate",
		}},
		{"a default that nobody knows", "ROCE122 ROCE103", swap(t, lint.TwoNodes("autoneg = true"), "nvidia/connectx-6-dx",
			"broadcom/bcm575xx"), []string{
			"ROCE122: port tor/Ethernet0 is told autoneg = true, and its peer n1/rail0 is left to its default, which its data do not state",
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			got := findings(compiled(t, x.text), x.rules)
			if x.name == "1G on Spectrum-4" {
				got = got[:min(1, len(got))]
			}
			if diff := cmp.Diff(x.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, d := range compiled(t, words(`["ncll"]`)) {
		if d.Rule == "ROCE724" && !strings.HasPrefix(d.Help, `did you mean "nccl"?`) {
			t.Errorf("help: %s", d.Help)
		}
	}
}
