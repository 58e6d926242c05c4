package lint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/lint"
)

// TestSecondWays are second ways to break a rule: the same fault said in another
// place, met between two devices instead of on one, or among several classes.
func TestSecondWays(t *testing.T) {
	const one = "ecn       = \"auto\"\n    "
	class := func(text string) string { return lint.TwoNodesEdit(`ecn       = "auto"`, one+text) }
	trunk := func(far string, port string) string { // two switches, each with a segment of VLAN 100
		return lint.TwoNodes(``) + `segment "far" {
  vlan   = 100
  subnet = "10.101.0.0/24"
  qos    = qos.roce
  mtu      = 9000
}
switch "x" {
  for_each = { near = segment.storage, far = ` + far + ` }
  model    = "nvidia/sn3700"
  os       = "sonic/202505"
  port "Ethernet0" {
    speed = "100G"
    fec   = "rs"
    ` + port + ` = each.value
  }
}
link "x" {
  ends  = [switch.x["near"].port["Ethernet0"], switch.x["far"].port["Ethernet0"]]
  cable = { media = "dac", length = "3m" }
}
`
	}
	apart := swap(t, trunk("segment.storage", "tagged"), "tagged = each.value", "tagged = [for s in [segment.far] : s if each.key == \"far\"]")
	bundles := func(lags string) string {
		return lint.TwoNodes(``) + `switch "ring" {
  for_each = toset(["a", "b"])
  model    = "nvidia/sn3700"
  os       = "sonic/202505"
  observed = { stp = "off" }
  port "Ethernet[0-12:4]" {
    speed    = "100G"
    fec      = "rs"
    tagged = segment.storage
  }
` + lags + `}
link "ring" {
  for_each = toset(["Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"])
  ends     = [switch.ring["a"].port[each.key], switch.ring["b"].port[each.key]]
  cable    = { media = "dac", length = "3m" }
}
`
	}
	routed := func(dscp string) string { // no port is in a VLAN
		const native = "    untagged = segment.storage"
		return lint.TwoNodesEdit("dscp      = [26]", dscp, native, "    qos    = qos.roce\n    tagged = []", native, "    qos    = qos.roce\n    tagged = []")
	}
	twoClasses := lint.TwoNodesEdit(`  class "cnp" {`, `  class "old" {
    carries   = "rdma"
    transport = "roce_v1"
    dscp      = [27]
    priority  = 4
    bandwidth = 10
    ecn       = "auto"
  }
  class "cnp" {`, "bandwidth = 50\n    default", "bandwidth = 40\n    default")
	mode := func(modes string) string { return lint.FourNodes(``, `roce_mode = `+modes) }
	for _, x := range []struct {
		name, rules, text string
		want              []string
	}{
		{"no headroom for a class", "ROCE512", class(`buffer    = { headroom = 0 }`), []string{"ROCE512: PFC [3] is on at tor/Ethernet0, and its headroom is 0 B"}},
		{"no headroom for a class on one port", "ROCE512", lint.TwoNodes(`headroom = { rdma = 0 }`), []string{"ROCE512: PFC [3] is on at tor/Ethernet0, and its headroom is 0 B"}},
		{"a port goes before its class", "ROCE512", swap(t, class(`buffer    = { headroom = 0 }`), `untagged = segment.storage`, "untagged = segment.storage\n    headroom = 50112"), nil},
		{"no headroom for a class that is lossy", "ROCE512", class("lossless  = false\n    buffer    = { headroom = 0 }"), nil},

		{"two segments over a trunk", "ROCE601 ROCE617", trunk("segment.far", "tagged"), []string{
			"ROCE617: VLAN 100 is segment far on far/Ethernet0 and segment storage on its peer near/Ethernet0",
		}},
		{"two segments untagged", "ROCE602 ROCE617", trunk("segment.far", "untagged"), []string{
			"ROCE617: VLAN 100 is segment far on far/Ethernet0 and segment storage on its peer near/Ethernet0",
		}},
		{"one segment over a trunk", "ROCE601 ROCE617", trunk("segment.storage", "tagged"), nil},
		{"two segments of one VLAN in two places", "ROCE601 ROCE617", apart, []string{
			"ROCE601: VLAN 100 (far) is tagged on far/Ethernet0 and missing on its peer near/Ethernet0",
		}},
		{"virtual functions in a VLAN that the switch lacks", "ROCE601", lint.TwoNodesEdit(`switch "tor" {`, "segment \"vf\" {\n  vlan = 300\n}\nswitch \"tor\" {", "    untagged = segment.storage\n  }\n}\nlink", "    untagged = segment.storage\n    vfs    = { count = 4, segment = segment.vf }\n  }\n}\nlink"), []string{
			"ROCE601: VLAN 300 (vf) is tagged on n1/rail0 and missing on its peer tor/Ethernet0",
			"ROCE601: VLAN 300 (vf) is tagged on n2/rail0 and missing on its peer tor/Ethernet4",
		}},
		{"a VLAN without RDMA that a host tags", "ROCE601", lint.TwoNodesEdit(`switch "tor" {`, "segment \"mgmt\" {\n  vlan = 300\n}\nswitch \"tor\" {", "    untagged = segment.storage\n  }\n}\nlink", "    untagged = segment.storage\n    segment = self.name == \"n1\" ? segment.mgmt : null\n  }\n}\nlink"), []string{
			"ROCE601: VLAN 300 (mgmt) is tagged on n1/rail0 and missing on its peer tor/Ethernet0",
		}},
		{"tagged at one end, untagged at the other", "ROCE601", swap(t, trunk("segment.storage", "tagged"), "tagged = each.value", "tagged = [for s in [segment.storage] : s if each.key == \"near\"]\n    untagged   = each.key == \"near\" ? null : segment.storage"), []string{
			"ROCE601: VLAN 100 (storage) is tagged on near/Ethernet0 and untagged on its peer far/Ethernet0",
		}},

		{"CNPs on what nobody marks", "ROCE203", lint.TwoNodesEdit("dscp     = [48]", "dscp     = [0]"), []string{
			"ROCE203: all that nobody marks is in strict class cnp on tor/Ethernet0: DSCP 0 is its",
		}},
		{"CNPs with a cap", "ROCE203", lint.TwoNodesEdit("dscp     = [48]", "dscp     = [0]\n    max_rate      = 5"), nil},
		{"CNPs where marks do not count", "ROCE203", lint.TwoNodesEdit(`trust = "dscp"`, `trust = "pcp"`, "dscp     = [48]", "dscp     = [0]"), nil},
		{"RDMA on what nobody marks, routed", "ROCE210 ROCE313", routed("dscp      = [0]"), []string{
			"ROCE210: all that nobody marks is in lossless class rdma on tor/Ethernet0: DSCP 0 is its",
		}},
		{"RDMA on a code point of its own, routed", "ROCE210 ROCE313", routed("dscp      = [26]"), nil},
		{"RDMA on what nobody marks, bridged", "ROCE210 ROCE313", lint.TwoNodesEdit("dscp      = [26]", "dscp      = [0]"), []string{
			"ROCE313: frames without a mark, broadcasts among them, are lossless on tor/Ethernet0: DSCP 0 is priority 3, which has PFC",
		}},

		{"the address of the gateway", "ROCE614", lint.TwoNodesEdit(`subnet = "10.100.0.0/24"`, "subnet = \"10.100.0.0/24\"\n  gateway = \"10.100.0.12\""), []string{
			"ROCE614: 10.100.0.12 is the address of n2/rail0 and of its gateway",
		}},
		{"another address than the gateway", "ROCE614", lint.TwoNodesEdit(`subnet = "10.100.0.0/24"`, "subnet = \"10.100.0.0/24\"\n  gateway = \"10.100.0.1\""), nil},

		{"two classes of two RoCE versions", "ROCE704", twoClasses, nil},
		{"one NIC of four is pinned", "ROCE704", mode(`self.name == "n1" ? "v1" : null`), []string{"ROCE704: class rdma: n1/rail0 uses RoCE v1, 3 of 4 NICs of the class use v2"}},
		{"two NICs of four", "ROCE704", mode(`self.slot > 2 ? "v1" : "v2"`), []string{"ROCE704: class rdma: n1/rail0 uses RoCE v2, n3/rail0 uses v1"}},
		{"all say what they have anyway", "ROCE704", mode(`"v2"`), nil},

		{"two LAGs between two switches", "ROCE819", bundles("  lag \"PortChannel1\" {\n    members = [\"Ethernet0\", \"Ethernet4\"]\n  }\n  lag \"PortChannel2\" {\n    members = [\"Ethernet8\", \"Ethernet12\"]\n  }\n"), []string{
			"ROCE819: VLAN 100 goes round in a circle: b > a > b",
		}},
		{"one LAG between them", "ROCE819", bundles("  lag \"PortChannel1\" {\n    members = \"Ethernet[0-12:4]\"\n  }\n"), nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(x.want, findings(compiled(t, x.text), x.rules)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// TestWhereItStands: a finding points at the line that says it, also where that
// is not the block it is about.
func TestWhereItStands(t *testing.T) {
	class := func(size string) string {
		return lint.TwoNodesEdit(`ecn       = "auto"`, "ecn       = \"auto\"\n    buffer    = { headroom = "+size+" }")
	}
	for _, x := range []struct{ name, rule, text, where string }{
		{"headroom of a class", "ROCE501", class("10080"), `qos "roce", class "rdma"`},
		{"no headroom of a class", "ROCE512", class("0"), `qos "roce", class "rdma"`},
		{"gateway of a segment", "ROCE613", lint.TwoNodesEdit(`subnet = "10.100.0.0/24"`, "subnet = \"10.100.0.0/24\"\n  gateway = \"10.100.0.1\"\n  isolated = true"), `segment "storage"`},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			for _, d := range compiled(t, x.text) {
				if d.Rule != x.rule {
					continue
				}
				if d.Labels[0].Where != x.where {
					t.Errorf("%s points at %s, want %s", x.rule, d.Labels[0].Where, x.where)
				}
				return
			}
			t.Errorf("%s says nothing", x.rule)
		})
	}
}

// TestAddressTwiceHelp: another slot helps two nodes, and neither two NICs of one
// node nor a switch.
func TestAddressTwiceHelp(t *testing.T) {
	for name, x := range map[string]struct{ text, help string }{
		"two nodes": {lint.TwoNodesEdit("n2 = 2 }", "n2 = 1 }"), "give each node a slot of its own"},
		"one node":  {lint.TwoNodesEdit("nic \"rail0\" {", "nic \"rail[0-1]\" {"), "give each a segment or subnet of its own"},
		"a switch":  {lint.TwoNodes("}\n  interface \"Vlan100\" {\n    on      = segment.storage\n    address = \"10.100.0.11/24\""), "write another address on one of them"},
	} {
		found := false
		for _, d := range compiled(t, x.text) {
			if d.Rule == "ROCE614" {
				found = true
				if !strings.HasPrefix(d.Help, x.help) {
					t.Errorf("%s: %s", name, d.Help)
				}
			}
		}
		if !found {
			t.Errorf("%s: nothing is said", name)
		}
	}
}
