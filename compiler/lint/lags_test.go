package lint_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLAGEnds: what a LAG may end on.
func TestLAGEnds(t *testing.T) {
	// half is a switch, of which something is said.
	half := func(name, more string) string {
		return `switch "` + name + `" {
  model = "nvidia/sn3700"
  os    = "cumulus-linux/5.9"
  port "swp[1-2]" {
    speed    = "100G"
    fec      = "rs"
    tagged = [segment.s]
  }
` + more + `
}
`
	}
	// joined are two switches with two cables, of which something is said.
	joined := func(a, b string) string {
		return `segment "s" {
  vlan = 100
}
` + half("a", a) + half("b", b) + `link "x" {
  for_each = toset(["swp1", "swp2"])
  ends     = [switch.a.port[each.key], switch.b.port[each.key]]
  cable    = { media = "dac", length = "1m" }
}
`
	}
	lag := func(name, mode, members string) string {
		return "  lag \"" + name + "\" {\n    mode     = \"" + mode + "\"\n    members  = " + members + "\n    tagged = [segment.s]\n  }\n"
	}
	both := `["swp1", "swp2"]`
	// host is a node at a switch that has something for its two ports.
	host := func(tor, nic, bond string) string {
		return `segment "s" {
  vlan = 100
}
` + half("tor", tor) + `node "n" {
  os   = "ubuntu/24.04"
  slot = 1
  nic "p[1-2]" {
    model = "nvidia/connectx-6-dx"
    speed = "100G"
    fec   = "rs"
    ` + nic + `
  }
` + bond + `
}
link "x" {
  for_each = toset(["1", "2"])
  ends     = [node.n.nic["p${each.key}"], switch.tor.port["swp${each.key}"]]
  cable    = { media = "dac", length = "1m" }
}
`
	}
	bond := func(mode string) string {
		return "  bond \"bond0\" {\n    mode     = \"" + mode + "\"\n    members  = \"p[1-2]\"\n    tagged = [segment.s]\n  }\n"
	}
	const tagged = `tagged = [segment.s]`
	for _, x := range []struct {
		name, text string
		want       []string
	}{
		{"LAGs at both ends", joined(lag("bond1", "lacp", both), lag("bond7", "lacp", both)), nil},
		{"static at both ends", joined(lag("bond1", "static", both), lag("bond1", "static", both)), nil},
		{"plain ports", joined(lag("bond1", "lacp", both), ""), []string{"ROCE820: bond1 of a (lacp) ends on b/swp1, which is in no LAG"}},
		{"plain ports at the first of the two", joined("", lag("bond1", "static", both)), []string{"ROCE820: bond1 of b (static) ends on a/swp1, which is in no LAG"}},
		{"one of two ports is plain", joined(lag("bond1", "lacp", both), lag("bond1", "lacp", `["swp1"]`)), []string{"ROCE820: bond1 of a (lacp) ends on b/swp2, which is in no LAG"}},
		{"one negotiates", joined(lag("bond1", "lacp", both), lag("bond2", "static", both)), []string{"ROCE820: bond1 of a (lacp) ends on b/swp1, whose bond2 is static"}},
		{
			"two LAGs", joined(lag("bond1", "lacp", both), lag("bond1", "lacp", `["swp1"]`)+lag("bond2", "lacp", `["swp2"]`)),
			[]string{"ROCE820: bond1 of a (lacp) ends on b/swp1, which is in bond1, while b/swp2 is in bond2"},
		},
		{"a switch of which nothing is known", swap(t, joined(lag("bond1", "lacp", both), ""), "switch \"b\" {\n", "switch \"b\" {\n  manage = \"none\"\n"), nil},
		{"ports of which nothing is known", swap(t, joined(lag("bond1", "lacp", both), ""), "    fec      = \"rs\"\n    tagged = [segment.s]\n  }\n\n}", "    manage   = \"none\"\n  }\n\n}"), nil},
		{"a cable to come", swap(t, joined(lag("bond1", "lacp", both), lag("bond1", "lacp", `["swp2"]`)), `toset(["swp1", "swp2"])`, `toset(["swp2"])`), nil},
		{"a bond", host("", "", bond("lacp")), nil},
		{"a bond and its LAG by name", host(lag("bond1", "lacp", both), "", bond("lacp")), nil},
		{"a bond that takes turns, without a LAG", host("", "", bond("active_backup")), nil},
		{"a bond that takes turns", host(lag("bond1", "lacp", both), "", bond("active_backup")), []string{"ROCE820: bond1 of tor (lacp) ends on n/p1, whose bond0 is active_backup"}},
		{"a bond that does not negotiate", host(lag("bond1", "lacp", both), "", bond("static")), []string{"ROCE820: bond1 of tor (lacp) ends on n/p1, whose bond0 is static"}},
		{"NICs without a bond", host(lag("bond1", "lacp", both), tagged, ""), []string{"ROCE820: bond1 of tor (lacp) ends on n/p1, which is in no LAG"}},
		{"NICs that others see to", host(lag("bond1", "lacp", both), "", ""), nil},
		{"NICs of which nothing is known", host(lag("bond1", "lacp", both), tagged+"\n    manage = \"none\"", ""), nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(x.want, findings(compiled(t, x.text), "ROCE820")); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}
