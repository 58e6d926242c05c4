package lint_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/packs"
)

// compiled is what is found in a fabric, pedantic rules included.
func compiled(t *testing.T, text string) diag.List {
	t.Helper()
	return compiledResult(t, text).Diags
}

func compiledResult(t *testing.T, text string) *compiler.Result {
	t.Helper()
	cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"fabric.roce.hcl": {Data: []byte(text)}}, Packs: packs.Files()})
	if diags.HasErrors() {
		t.Fatalf("%s\n%s", diags[0].Summary, text)
	}
	return compiler.Compile(cfg, compiler.Options{Rows: packs.HeadroomRows, AsOf: "2026-01-01", Pedantic: true})
}

// findings are the codes and summaries of some rules, in order.
func findings(found diag.List, rules string) []string {
	var list []string
	for _, d := range found.All() {
		if slices.Contains(strings.Fields(rules), d.Rule) {
			for _, words := range append([]string{d.Summary}, d.Differing()...) {
				list = append(list, d.Rule+": "+words)
			}
		}
	}
	slices.Sort(list)
	return list
}

// swap replaces a text that has to be there.
func swap(t *testing.T, text, old, new string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Errorf("the fabric has no %s", old)
	}
	return strings.ReplaceAll(text, old, new)
}

const dac = `{ media = "dac", length = "3m" }`

// TestVariants are fabrics beside the examples of the rules: near misses that
// stay silent, and second ways to be wrong.
func TestVariants(t *testing.T) {
	const tos = "ROCE212 ROCE213"
	for _, x := range []struct {
		name, rules, text string
		want              []string
	}{
		{"ToS with ECT", tos, lint.FoundHosts(`tos = 105`, ``), nil},
		{"an application marks", tos, lint.FoundHosts(`tos = 0`, "    marked_by = \"application\"\n"), nil},
		{"a second RDMA class", tos, lint.Edit(lint.FoundHosts(`tos = 40`, ``), `  class "default" {`, "  class \"more\" {\n    carries = \"rdma\"\n    lossless = false\n    dscp = [10]\n    priority = 4\n    bandwidth = 10\n    ecn = \"auto\"\n  }\n  class \"default\" {", "bandwidth = 50", "bandwidth = 40"), nil},
		{"ToS under PCP", tos, swap(t, lint.FoundHosts(`tos = 0`, ``), `trust = "dscp"`, `trust = "pcp"`), nil},
		{"one host of two", tos, lint.FoundHosts(`tos = self.name == "n1" ? 0 : 104`, ``), []string{"ROCE212: nic n1/rail0 writes ToS 0 into its RDMA, which is DSCP 0: class rdma is DSCP 26"}},
		{"responders alone", "ROCE222", lint.FoundHosts(``, "    mark_on = [\"responders\"]\n"), []string{"ROCE222: requests of class rdma leave their node with DSCP 0: only responders mark it"}},
		{"declared rewrite", "ROCE224", lint.Edit(lint.FoundSwitch(`remark = { 26 = 0 }`), "carries   = \"rdma\"\n", "carries   = \"rdma\"\n    remap     = true\n"), nil},
		{"rewrite inside the class", "ROCE224", swap(t, lint.FoundSwitch(`remark = { 26 = 27 }`), "[26]", "[26, 27]"), nil},
		{"rewrite on the whole switch", "ROCE224", lint.Edit(lint.FoundSwitch(``), `manage = "verify"`, "manage = \"verify\"\n  remark = { 48 = 46 }"), []string{"ROCE224: port tor/Ethernet0 rewrites DSCP 48 to 46: class cnp is lost behind it"}},

		{"caps of all classes", "ROCE204", lint.TwoNodesEdit("bandwidth = 50\n", "strict = true\n    max_rate = 50\n", "bandwidth = 50\n", "strict = true\n    max_rate = 50\n"), nil},
		{"a class for the guest", "ROCE223", lint.Edit(lint.SharedPort(88, 2), `  class "default" {`, "  class \"tcp\" {\n    carries = \"other\"\n    dscp = [10]\n    priority = 1\n    bandwidth = 10\n  }\n  class \"default\" {"), nil},
		{"no guest", "ROCE223", lint.TwoNodesEdit("bandwidth = 50\n", "bandwidth = 98\n", "bandwidth = 50\n", "bandwidth = 2\n"), nil},
		{"one port of four", "ROCE225", lint.FourNodes(`ets = { 0 = 80, 3 = 20, 6 = "strict" }`, ``), []string{"ROCE225: class rdma has 20 % on tor/Ethernet0, and 50 % on its peer n1/rail0"}},
		{"strict at one end", "ROCE225", lint.TwoNodes(`ets = { 0 = 100, 3 = "strict", 6 = "strict" }`), nil},

		{"nothing is said of the switch", "ROCE216", swap(t, lint.BothDCBX(`"keep"`, `{ mode = "willing" }`), "    dcbx = \"keep\"\n", ""), nil},
		{"a Linux cluster", "ROCE219", swap(t, lint.ClusterPair(``), "windows-server/2025", "ubuntu/24.04"), nil},
		{"no cluster", "ROCE219", swap(t, lint.ClusterPair(``), `cluster  = "s2d"`, ``), nil},

		{"ports that stand by", "ROCE111", swap(t, lint.DualPort(`{ gen = 3, lanes = 16 }`), `mode    = "lacp"`, `mode    = "active_backup"`), nil},
		{"a slot of which half is known", "ROCE110 ROCE111", lint.DualPort(`{ gen = 1 }`), nil},
		{"a slot too slow for each", "ROCE110 ROCE111", lint.DualPort(`{ gen = 3, lanes = 8 }`), []string{"ROCE110: nic d/p0 runs at 100G, and its slot, PCIe 3 x8, carries 57.6G"}},

		{"a GPU of which nothing is known", "ROCE114", swap(t, lint.BesideGPU("sw1"), "    pcie_switch = \"sw0\"\n", "    numa = 1\n"), nil},
		{"a GPU on another NUMA node", "ROCE114", swap(t, swap(t, lint.BesideGPU("sw1"), "    pcie_switch = \"sw0\"\n", "    numa = 1\n"), `pcie_switch = "sw1"`, `pcie = { numa = 0 }`), []string{"ROCE114: nic n1/rail0 is on NUMA node 0, and gpu0, which it is for, on 1"}},
		{"the first GPU of the switch", "ROCE114", swap(t, lint.BesideGPU("sw1"), `    gpu         = "gpu0"`+"\n", ""), nil},

		{"the default class is lossless", "ROCE313", lint.TwoNodesEdit("default   = true", "default   = true\n    lossless  = true"), []string{"ROCE313: frames without a mark, broadcasts among them, are lossless on tor/Ethernet0: DSCP 0 is priority 0, which has PFC"}},
		{"a port maps DSCP 0 to RDMA", "ROCE313", lint.TwoNodes(`dscp_map = { 0 = 3 }`), []string{"ROCE313: frames without a mark, broadcasts among them, are lossless on tor/Ethernet0: DSCP 0 is priority 3, which has PFC"}},
		{"pauses are sent only", "ROCE315", lint.FoundSwitch(`pfc_direction = "send"`), []string{"ROCE315: port tor/Ethernet0 sends pauses and honours none, for priorities [3]"}},
		{"one way without PFC", "ROCE315", lint.FoundSwitch("pfc_direction = \"receive\"\n    pfc = []"), nil},
		{"encrypted between two of a kind", "ROCE316", lint.TwoTors(``, dac, `macsec = "on"`), nil},
		{"encrypted at one end only as far as is known", "ROCE316", lint.Edit(lint.TwoTors(``, dac, ``), "mtu      = 9216", "mtu      = 9216\n    macsec = { pfc_frames = \"clear\" }"), nil},
		{
			"treated differently", "ROCE316", lint.Edit(lint.TwoTors(``, dac, `macsec = { pfc_frames = "protected" }`), "mtu      = 9216", "mtu      = 9216\n    macsec = { pfc_frames = \"clear\" }"),
			[]string{"ROCE316: far/Ethernet0 sends PFC frames in clear, and its peer tor/Ethernet8 encrypted"},
		},
		{"long and lossy", "ROCE321", lint.Edit(lint.LongLink("400m"), "carries   = \"rdma\"\n", "carries   = \"rdma\"\n    lossless  = false\n"), nil},
		{"all switches alike", "ROCE323", lint.Edit(lint.TwoTors("manage = \"verify\"\n  semi_lossless = true", dac, ``), `os    = "sonic/202505"`, "os    = \"sonic/202505\"\n  manage = \"verify\"\n  semi_lossless = true"), nil},

		{"above both bounds", "ROCE401 ROCE402 ROCE415", lint.SharedBuffer(`{ min = "3MB", max = "4MB", probability = 5 }`), []string{"ROCE401: queue 3 of tor/Ethernet0: PFC fires at 2666666 B, before ECN at 3000000 B"}},
		{"the maximum is left open", "ROCE415", lint.SharedBuffer(`{ min = "500KB", probability = 5 }`), nil},
		{"green among others", "ROCE405", lint.FoundSwitch(`ecn = { min = "150KB", max = "1500KB", probability = 5, colors = ["green", "yellow"] }`), nil},
		{"yellow alone", "ROCE405", lint.FoundSwitch(`ecn = { min = "150KB", max = "1500KB", probability = 5, colors = ["yellow"] }`), []string{"ROCE405: ECN of class rdma on tor/Ethernet0 never marks: green is not enabled"}},
		{
			"yellow alone, one port of four", "ROCE405 ROCE416",
			swap(t, swap(t, lint.FourNodes(`ecn = { min = "150KB", max = "1500KB", probability = 5, colors = ["yellow"] }`, ``), `ecn       = "auto"`, `ecn       = { min = "150KB", max = "1500KB", probability = 5 }`), `os    = "sonic/202505"`, "os    = \"sonic/202505\"\n  manage = \"verify\""),
			[]string{"ROCE405: ECN of class rdma on tor/Ethernet0 never marks: green is not enabled"},
		},
		{"a half of the thresholds", "ROCE407", lint.TwoSpeeds(`{ min = "150KB", probability = 5 }`), nil},
		{"two speeds, of less than four to one", "ROCE407", swap(t, lint.TwoSpeeds(`{ min = "150KB", max = "1500KB", probability = 5 }`), `"25G"`, `"50G"`), nil},
		{"a generation of which nothing is known", "ROCE410", swap(t, lint.Generations(``), "  facts           = { cnp_at_receiver = 0 }\n", ""), nil},
		{"nor of the one before", "ROCE410", swap(t, swap(t, lint.Generations(``), "  facts           = { cnp_at_receiver = 1 }\n", ""), "cnp_at_receiver = 0", "cnp_at_receiver = 1"), nil},
		{"no marks to answer", "ROCE410 ROCE412", swap(t, lint.Generations(``), `ecn       = "auto"`, ``), nil},
		{"the neighbour can be marked", "ROCE411", swap(t, lint.SharedQueue("queue     = 1\n"), "bandwidth = 10\n", "bandwidth = 10\n    ecn = \"auto\"\n"), nil},
		{"small packets", "ROCE413", lint.TwoNodesEdit(`ecn       = "auto"`, "rdma_mtu = \"1024\"\n    ecn       = { min = \"5KB\", max = \"200KB\", probability = 1 }"), nil},
		{"a step for a receiver", "ROCE418", lint.TwoNodesEdit(`ecn       = "auto"`, "congestion_control = \"receiver\"\n    ecn       = { min = \"150KB\", max = \"150KB\", probability = 100 }"), nil},
		{"a step of half a probability", "ROCE418", lint.TwoNodesEdit(`ecn       = "auto"`, `ecn       = { min = "150KB", max = "150KB", probability = 50 }`), nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			if d := cmp.Diff(x.want, findings(compiled(t, x.text), x.rules)); d != "" {
				t.Errorf("findings (-want +got):\n%s", d)
			}
		})
	}
}

// TestContradicted: what was seen of a device that rocec writes is an error where its
// settings say otherwise, at both lines, and stands where they do not.
func TestContradicted(t *testing.T) {
	unmanaged := func(text string) string { return swap(t, text, `manage = "verify"`, `manage = "full"`) }
	hosts := func(text string) string { return swap(t, text, `manage   = "verify"`, ``) }
	buffer := func(pools string) string {
		return lint.TwoNodesEdit(`switch "tor" {`, "switch \"tor\" {\n  buffer = { shared = \"20MB\", headroom = \"4MB\" }\n  observed = { pools = { "+pools+" } }")
	}
	far := func(seen string) string { return lint.TwoTors(`observed = { `+seen+` }`, dac, ``) }
	for _, x := range []struct{ text, want, line, other string }{
		{hosts(lint.FoundHosts(`observed = { tos = 106 }`, ``)), "", "", ""},
		{hosts(lint.FoundHosts(`observed = { tos = 26 }`, ``)), "tos of nic n1/rail0 is 26, which is DSCP 6, and rocec writes that of class rdma: DSCP 26", "26", "[26]"},
		{hosts(lint.FoundHosts(`tos = 26`, ``)), "tos of nic n1/rail0 is 26, which is DSCP 6, and rocec writes that of class rdma: DSCP 26", "26", "[26]"},
		{hosts(lint.FoundHosts(`observed = { dcqcn = [3] }`, "    congestion_control = \"dcqcn\"\n")), "", "", ""},
		{hosts(lint.FoundHosts(`observed = { dcqcn = [] }`, ``)), "", "", ""},
		{hosts(lint.FoundHosts(`observed = { dcqcn = [] }`, "    congestion_control = \"dcqcn\"\n")), "dcqcn of nic n1/rail0 is off for priority 3, and rocec turns it on for class rdma", "[]", `"dcqcn"`},
		{hosts(lint.FoundHosts(`observed = { dcqcn = [3] }`, "    congestion_control = \"receiver\"\n")), "dcqcn of nic n1/rail0 is on for priority 3, and rocec turns it off for class rdma", "[3]", `"receiver"`},
		{hosts(lint.FoundHosts(`observed = { pfc_direction = "send" }`, ``)), `pfc_direction of port n1/rail0 is "send", and rocec turns PFC on in both directions`, `"send"`, `class "rdma"`},
		{unmanaged(lint.FoundSwitch(`observed = { pfc_direction = "both" }`)), "", "", ""},
		{unmanaged(lint.FoundSwitch(`observed = { pfc_direction = "receive" }`)), `pfc_direction of port tor/Ethernet0 is "receive", and rocec turns PFC on in both directions`, `"receive"`, `class "rdma"`},
		{unmanaged(lint.FoundSwitch("pfc = [3]\n    observed = { pfc_direction = \"receive\" }")), `pfc_direction of port tor/Ethernet0 is "receive", and rocec turns PFC on in both directions`, `"receive"`, `[3]`},
		{unmanaged(lint.FoundSwitch(`observed = { ecn_colors = ["red", "green", "yellow"] }`)), "", "", ""},
		{unmanaged(lint.FoundSwitch(`observed = { ecn_colors = ["green"] }`)), "port tor/Ethernet0 marks some colours only, and rocec writes ECN for all", `["green"]`, `"auto"`},
		{unmanaged(lint.FoundSwitch(`ecn = { min = "150KB", max = "1500KB", probability = 5, colors = [] }`)), "port tor/Ethernet0 marks some colours only, and rocec writes ECN for all", `{ min = "150KB", max = "1500KB", probability = 5, colors = [] }`, `"auto"`},
		{far(`semi_lossless = false`), "", "", ""},
		{far(`semi_lossless = true`), "switch far is semi-lossless, and rocec turns PFC on for port far/Ethernet0", "true", `class "rdma"`},
		{buffer(`ingress = "20MB", headroom = "4MB"`), "", "", ""},
		{buffer(`egress_lossy = "14MB"`), "", "", ""},
		{buffer(`ingress = "18MB"`), "the shared pool of switch tor has 18000000 B, and rocec writes 20000000 B", `{ ingress = "18MB" }`, `{ shared = "20MB", headroom = "4MB" }`},
		{buffer(`headroom = "5MB"`), "the shared headroom pool of switch tor has 5000000 B, and rocec writes 4000000 B", `{ headroom = "5MB" }`, `{ shared = "20MB", headroom = "4MB" }`},
		{swap(t, lint.BothDCBX(`"advertise"`, `{ mode = "off", owner = ["os", "lldpad"] }`), "manage = \"verify\"\n  slot", "slot"), "dcbx of port n1/rail0 has several owners, and rocec writes one", "", ""},
		{lint.TwoNodesEdit("  mtu      = 9000\n}\nswitch", "  mtu      = 9000\n  observed = { flood_class = \"x\" }\n}\nswitch"), "flood_class of segment storage is x, which qos roce does not have", `"x"`, ""},
	} {
		found := slices.DeleteFunc(compiled(t, x.text), func(d diag.Diagnostic) bool { return d.Rule != "" })
		switch {
		case x.want == "" && len(found) == 0:
			continue
		case len(found) != 1 || found[0].Summary != x.want:
			t.Errorf("%+v, and not once %q:\n%s", found, x.want, x.text)
			continue
		}
		for i, want := range []string{x.line, x.other} {
			if want == "" {
				continue
			}
			if len(found[0].Labels) <= i {
				t.Errorf("%s: label %d is missing", x.want, i)
			} else if at := found[0].Labels[i].Span; !strings.HasPrefix(x.text[at.Start:at.End()], want) {
				t.Errorf("%s: label %d is at %q, not %q", x.want, i, x.text[at.Start:at.End()], want)
			}
		}
	}
}
