package rocec_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/compiler/lint"
)

// TestDroppedWords: words that were read by nobody in one of the places that take them,
// and what comes of them now: a value that devices are told, or a refusal.
func TestDroppedWords(t *testing.T) {
	two := lint.Find("ROCE209").Good
	for _, c := range []struct{ name, at, more, want string }{
		{"cable of a port and of its link", `port "Ethernet0" {`, `cable = { length = "2m" }`, "the cable at tor/Ethernet0 has two lengths: 2m and 3m"},
		{"cables of both ends", `nic "rail0" {`, `cable = { media = "aoc" }`, "the cable at n1/rail0 has two kinds of media: aoc and dac"},
		{"marking of a NIC", `nic "rail0" {`, `ecn = "off"`, "ecn is for ports of switches"},
		{
			"marking of a port where no class marks", `port "Ethernet0" {`, `ecn = "auto"` + "\n    qos = qos.untrusted",
			"ecn is written for a port, and no class of its qos untrusted marks",
		},
		{"watchdog of a NIC", `nic "rail0" {`, `watchdog = "off"`, "watchdog is for ports of switches"},
		{"groups of a NIC", `nic "rail0" {`, `group_map = { 3 = 1 }`, "group_map is for ports of switches"},
		{"a peer", `nic "rail0" {`, `peer = { mtu = 9000 }`, "there is no attribute `peer`: a switch port has the speed and the VLANs of its NIC unless it writes its own"},
		{"at of all NICs", "", "defaults \"nic\" {\n  at = switch.tor.port[\"Ethernet0\"]\n}", "`defaults` has no attribute `at`"},
		{"at and a link", `nic "rail0" {`, `at = switch.tor.port["Ethernet8"]`, "n1/rail0 is `at` tor/Ethernet8, and another cable leads from it to tor/Ethernet0"},
		{
			"at a port with a link", `node "n" {`, "nic \"idle\" {\n    model = \"nvidia/connectx-6-dx\"\n    at = switch.tor.port[\"Ethernet0\"]\n  }",
			"n1/idle is `at` tor/Ethernet0, and another cable leads from there to n1/rail0",
		},
		{
			"two NICs at a port", `node "n" {`, "nic \"idle[0-1]\" {\n    model = \"nvidia/connectx-6-dx\"\n    at = switch.tor.port[\"Ethernet8\"]\n  }",
			"n1/idle0 and n1/idle1 are both at tor/Ethernet8",
		},
		{"two overrides", "", `override {
  on      = segment.storage
  set     = { mtu = 4000 }
  reason  = "one"
  expires = "2099-01-01"
}
override {
  on      = segment.storage
  set     = { mtu = 5000 }
  reason  = "two"
  expires = "2099-01-01"
}`, "mtu of segment.storage is set twice, to two values"},
		{"a name by override", "", `override {
  on      = segment.storage
  set     = { name = "x" }
  reason  = "r"
  expires = "2099-01-01"
}`, "`name` cannot be set by an override"},
	} {
		text := two + "\nsegment \"more\" {\n  vlan = 101\n}\n"
		if c.at == "" {
			text += c.more
		} else {
			text = strings.Replace(text, c.at, c.at+"\n    "+c.more, 1)
		}
		if m := buildText(text); !strings.Contains(strings.Join(strings.Fields(m.Findings), " "), c.want) {
			t.Errorf("%s: %q is not said:\n%s", c.name, c.want, m.Findings)
		}
	}
	// What an override sets on what is no port reaches devices.
	plain := outcomeOf(fstest.MapFS{"fabric.roce.hcl": {Data: []byte(two)}})
	for on, set := range map[string]string{
		"segment.storage": `{ mtu = 4000 }`, "qos.roce": `{ trust = "pcp" }`, `"link.*"`: `{ cable = { media = "aoc", length = "30m" } }`, "switch.tor": `{ model = "nvidia/sn3700c" }`,
	} {
		got := outcomeOf(fstest.MapFS{"fabric.roce.hcl": {Data: []byte(two + "\noverride {\n  on      = " + on + "\n  set     = " + set + "\n  reason  = \"r\"\n  expires = \"2099-01-01\"\n}\n")}})
		if got.text == plain.text {
			t.Errorf("an override of %s with %s changes nothing", on, set)
		}
	}
}
