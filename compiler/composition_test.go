package compiler

import (
	"slices"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets/targettest"
)

// crossing is two switches with three hosts each. uplink is said of the ports of
// the cable between them, more stands beside; the ends of every cable agree.
func crossing(uplink, more string) string {
	return strings.NewReplacer("#UPLINK", uplink, "#MORE", more).Replace(`
qos "roce" {
  trust = "dscp"
  class "rdma" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = 50
    ecn       = "auto"
  }
  class "cnp" {
    carries  = "cnp"
    dscp     = [48]
    priority = 6
  }
  class "bulk" {
    carries   = "other"
    dscp      = [10]
    priority  = 4
    bandwidth = 10
  }
  class "default" {
    priority  = 0
    bandwidth = 40
    default   = true
  }
}
#MORE
segment "storage" {
  vlan   = 100
  subnet = "10.100.0.0/24"
  qos    = qos.roce
  mtu      = 9000
}
switch "tor" {
  for_each = toset(["tor1", "tor2"])
  model    = "nvidia/sn3700"
  os       = "sonic/202505"
  port "Ethernet[0-8:4]" {
    speed    = "100G"
    fec      = "rs"
    untagged = segment.storage
  }
  port "Ethernet12" {
    speed    = "100G"
    fec      = "rs"
    untagged = segment.storage
    #UPLINK
  }
}
link "up" {
  ends  = [switch.tor["tor1"].port["Ethernet12"], switch.tor["tor2"].port["Ethernet12"]]
  cable = { media = "dac", length = "3m" }
}
node "n" {
  for_each = { n1 = 1, n2 = 2, n3 = 3, n4 = 4, n5 = 5, n6 = 6 }
  os       = "ubuntu/24.04"
  slot     = each.value
  nic "rail0" {
    model    = "nvidia/connectx-6-dx"
    speed    = "100G"
    fec      = "rs"
    untagged = segment.storage
  }
}
link "tor" {
  for_each = {
    n1 = ["tor1", "Ethernet0"], n2 = ["tor1", "Ethernet4"], n3 = ["tor1", "Ethernet8"]
    n4 = ["tor2", "Ethernet0"], n5 = ["tor2", "Ethernet4"], n6 = ["tor2", "Ethernet8"]
  }
  ends  = [node.n[each.key].nic["rail0"], switch.tor[each.value[0]].port[each.value[1]]]
  cable = { media = "dac", length = "3m" }
}
`)
}

// TestAcrossSwitches: fabrics in which the two ends of every cable agree, and a
// class is lost between them all the same. Each yields one rule, at the hop; what
// only looks like it yields nothing.
func TestAcrossSwitches(t *testing.T) {
	other := func(class string) string {
		return "qos \"other\" {\n  from = qos.roce\n" + class + "}\n"
	}
	for _, c := range []struct{ name, uplink, more, rule string }{
		{"same", "", "", ""},
		{"priority", "qos = qos.other", other("  class \"rdma\" {\n    priority = 5\n  }\n"), "ROCE205"},
		{"mark", "qos = qos.other", other("  class \"rdma\" {\n    dscp = [34]\n  }\n"), "ROCE205"},
		{"more_marks", "qos = qos.other", other("  class \"rdma\" {\n    dscp = [26, 34]\n  }\n"), ""},
		{"other_name", "qos = qos.plain", `qos "plain" {
  trust = "dscp"
  class "transit" {
    carries   = "other"
    lossless  = true
    dscp      = [26]
    priority  = 3
    bandwidth = 50
  }
  class "cnp" {
    carries  = "cnp"
    dscp     = [48]
    priority = 6
  }
  class "bulk" {
    carries   = "other"
    dscp      = [10]
    priority  = 4
    bandwidth = 10
  }
  class "default" {
    priority  = 0
    bandwidth = 40
    default   = true
  }
}
`, "ROCE404"},
		{"among_lossless", "qos = qos.other", strings.Replace(other("  class \"store\" {\n    carries   = \"other\"\n    lossless  = true\n    dscp      = [10]\n    priority  = 4\n    bandwidth = 10\n  }\n"),
			"from = qos.roce", "trust = \"dscp\"\n  class \"rdma\" {\n    carries   = \"rdma\"\n    dscp      = [26]\n    priority  = 3\n    bandwidth = 50\n    ecn       = \"auto\"\n  }\n"+
				"  class \"cnp\" {\n    carries  = \"cnp\"\n    dscp     = [48]\n    priority = 6\n  }\n  class \"default\" {\n    priority  = 0\n    bandwidth = 40\n    default   = true\n  }", 1), "ROCE210"},
		{"mtu", "manage = \"verify\"\n    mtu      = 1500", "", "ROCE806"},
		{"mtu_enough", "manage = \"verify\"\n    mtu      = 4200", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, found, view := compileText(t, crossing(c.uplink, c.more))
			found = slices.DeleteFunc(found, func(d diag.Diagnostic) bool { return lint.Find(d.Rule) != nil && lint.Find(d.Rule).Pedantic })
			text := shown(found, view)
			for _, d := range found {
				if d.Rule != c.rule {
					t.Errorf("yields %s besides:\n%s", d.Rule, text)
				}
			}
			if c.rule == "" {
				return
			}
			if len(found) == 0 {
				t.Fatal("nothing is found")
			}
			if i := slices.IndexFunc(found, func(x diag.Diagnostic) bool { return len(x.Steps) < 3 }); i >= 0 {
				t.Errorf("no way is shown for %s", found[i].Summary)
			}
			targettest.Golden(t, "testdata/across/"+c.name+".txt", text)
		})
	}
}
