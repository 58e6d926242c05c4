package lint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/lint"
)

// TestDeadVariants are fabrics beside the examples of the rules on what is described
// and dead: near misses that stay silent, and second ways to be wrong.
func TestDeadVariants(t *testing.T) {
	const enable = "port \"Ethernet4\" {\n    admin = \"up\""
	host := func(text string) string {
		return lint.TwoNodes(``) + "node \"m\" {\n  os = \"ubuntu/24.04\"\n" + text + "}\n"
	}
	const nic = "  nic \"p0\" {\n    model = \"nvidia/connectx-6-dx\"\n    speed = \"100G\"\n"
	for _, x := range []struct {
		name, rules, text string
		want              []string
	}{
		{"a switch with the outside behind it", "ROCE830", lint.TwoNodes(``) + strings.Replace(lint.LoneSwitch, "}\n", "  port \"Ethernet0\" {\n    external = true\n  }\n}\n", 1), nil},
		{"a switch that is somebody else's", "ROCE830", lint.TwoNodes(``) + strings.Replace(lint.LoneSwitch, "}\n", "  manage = \"none\"\n}\n", 1), nil},
		{"no cable at all", "ROCE830", swap(t, lint.TwoNodes(``), `for_each = { n1 = "Ethernet0", n2 = "Ethernet4" }`, `for_each = tomap({})`), nil},
		{"a host without RDMA", "ROCE830", host(nic + "  }\n"), nil},
		{"a host with RDMA", "ROCE830", host(nic + "    qos   = qos.roce\n  }\n"), []string{"ROCE830: no cable leads to node m"}},
		{"a host whose NIC is shut", "ROCE830", host(nic + "    admin = \"down\"\n    qos   = qos.roce\n  }\n"), nil},

		{"the host shuts its end", "ROCE831", lint.Edit(lint.TwoNodesEdit(`untagged = segment.storage
  }
}
link`, "untagged = segment.storage\n    admin = self.name == \"n1\" ? \"down\" : \"up\"\n  }\n}\nlink"), `port "Ethernet4" {`, `port "Ethernet[4-8:4]" {`,
			`n2 = 2 }`, `n2 = 2, n3 = 3 }`, `n2 = "Ethernet4" }`, `n2 = "Ethernet4", n3 = "Ethernet8" }`), []string{"ROCE831: n1/rail0 is shut, and its peer tor/Ethernet0 is not"}},
		{"both ends are shut", "ROCE831", lint.Edit(lint.TwoNodes(`admin = "down"`), `untagged = segment.storage
  }
}
link`, "untagged = segment.storage\n    admin = self.name == \"n1\" ? \"down\" : \"up\"\n  }\n}\nlink"), nil},
		{"the other end is not seen", "ROCE831", lint.Edit(lint.TwoNodes(`admin = "down"`), `slot     = each.value`, "slot     = each.value\n  manage   = \"none\""), nil},

		{"the vendor's own contract", "ROCE832", lint.SmallPod(`qos = "keep"`), nil},
		{"no contract", "ROCE832", lint.SmallPod(``), []string{"ROCE832: no port of topology pod has a qos: nothing is lossless, marked or proven there"}},

		{"nothing is enabled", "ROCE833", lint.TwoNodes(``), nil},
		{"all are", "ROCE833", lint.Edit(lint.TwoNodes(`admin = "up"`), `port "Ethernet4" {`, enable), nil},
		{"one is shut", "ROCE833", lint.TwoNodes(`admin = "down"`), nil},
		{"a system whose ports start up", "ROCE833", swap(t, swap(t, lint.TwoNodes(`admin = "up"`), "sonic/202505", "cumulus-linux/5.14"), "Ethernet", "swp"), nil},

		{"a range", "ROCE920", lint.TwoNodes(``) + lint.RangeHost("rail[0-7]"), nil},
		{"a number behind a dash", "ROCE920", lint.TwoNodes(``) + lint.RangeHost("rail-7"), nil},
		{"downwards", "ROCE920", lint.TwoNodes(``) + lint.RangeHost("rail7-0"), nil},
		{"a path of numbers", "ROCE920", lint.TwoNodes(``) + lint.RangeHost("rail0-7-8"), nil},
		{"a name that a cable has", "ROCE920", swap(t, swap(t, lint.TwoNodes(``), `nic "rail0"`, `nic "rail0-7"`), `nic["rail0"]`, `nic["rail0-7"]`), nil},

		{"another system", "ROCE921", lint.UnseenHost(`"rhel/9"`), []string{"ROCE921: rocec sees nothing of n1: no target reads rhel, and what the source says of it is taken for true"}},
		{"one that is read, left alone", "ROCE921", lint.UnseenHost(`"ubuntu/24.04"`), nil},

		{"an address of its own", "ROCE922", swap(t, lint.Edit(lint.TwoNodes(``), "untagged = segment.storage\n  }\n}\nlink", "untagged = segment.storage\n    address = \"10.100.0.${each.value}/24\"\n  }\n}\nlink"), "  subnet = \"10.100.0.0/24\"\n", ""), nil},
		{"no slot", "ROCE922", swap(t, swap(t, lint.TwoNodes(``), "  subnet = \"10.100.0.0/24\"\n", ""), "  slot     = each.value\n", ""), nil},

		{"another frame", "ROCE729", swap(t, lint.Windows(`match = { netdirect_port = 445 }`), "mtu      = 9000", "mtu      = 1514"), []string{
			"ROCE729: mtu = 1514 on n1/rail0 is the size of a frame: Windows would be told *JumboPacket 1528",
		}},
		{"Linux counts as IP does", "ROCE729", swap(t, lint.TwoNodes(``), "mtu      = 9000", "mtu      = 9014"), nil},
		{"SMB Direct over iWARP", "ROCE730", swap(t, lint.Windows(`match = { netdirect_port = 5445 }`), "trust = \"pcp\"\n", "trust = \"pcp\"\n  transport = \"iwarp\"\n"), nil},
		{"an application's port", "ROCE730", lint.Windows(`match = { netdirect_port = 5446 }`), nil},
		{"a member for each", "ROCE731", lint.PinnedTeam("p1"), nil},
		{"both on the second", "ROCE731", swap(t, lint.PinnedTeam("p1"), `"p0"`+"\n  }\n  interface", `"p1"`+"\n  }\n  interface"), []string{
			"ROCE731: b/smb1 and smb0 are pinned to one member, p1, and no vNIC with RDMA to p0",
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(x.want, findings(compiled(t, x.text), x.rules)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}
