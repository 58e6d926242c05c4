package lint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/lint"
)

// ladder is four switches of which the links to l2 carry the class in another
// priority; class is said of it there, and port of the ports on both ends.
func ladder(t *testing.T, class, port string) string {
	text := lint.NetOf("t1 t2", "t1-l1 t2-l1 t1-l2 t2-l2", `model = "up_down"`)
	text = swap(t, text, `node "n-t1"`, "qos \"bounced\" {\n  from = qos.roce\n  class \"rdma\" {\n    "+class+"\n  }\n}\nnode \"n-t1\"")
	edit := func(name, old, new string) {
		i := strings.Index(text, "switch \""+name+"\"")
		text = text[:i] + swap(t, text[i:], old, new)
	}
	edit("l2", "qos   = qos.roce", "qos   = qos.bounced")
	edit("l2", "    mtu   = 9000\n", "    mtu   = 9000\n"+port)
	edit("t1", `  port "Ethernet[0-8:4]" {`, "  port \"Ethernet8\" {\n    qos   = qos.bounced\n    speed = \"100G\"\n    fec   = \"rs\"\n    mtu   = 9000\n"+port+"  }\n  port \"Ethernet[0-4:4]\" {") // t2 too
	return text
}

// nameless is a ladder whose links to l2 have another lossless class instead;
// class is said of the one that is lost.
func nameless(t *testing.T, class string) string {
	text := ladder(t, "", "")
	text = swap(t, text, "qos \"bounced\" {\n  from = qos.roce\n  class \"rdma\" {\n    \n  }\n}", `qos "bounced" {
  trust = "dscp"
  class "tagged" {
    carries   = "rdma"
    dscp      = [34]
    priority  = 4
    bandwidth = 50
  }
  class "cnp" {
    carries  = "cnp"
    dscp     = [48]
    priority = 6
    strict   = true
    max_rate = 10
  }
  class "default" {
    priority  = 0
    bandwidth = 50
    default   = true
  }
}`)
	return swap(t, text, "priority  = 3\n", "priority  = 3\n    "+class+"\n")
}

// TestTagRules: a class that is remapped on its way needs a priority that is
// lossless there, or a contract that says it is lossy.
func TestTagRules(t *testing.T) {
	const rules = "ROCE302 ROCE804"
	for _, x := range []struct {
		name, text string
		want       []string
	}{
		{"lossless there too", ladder(t, "priority = 4\n    remap    = true", ""), nil},
		{"lossy on purpose", ladder(t, "priority = 4\n    remap    = true\n    lossless = false", ""), nil},
		{"no PFC for it, which the port shows by itself", ladder(t, "priority = 4\n    remap    = true", "    pfc = [3]\n"), []string{
			"ROCE302: class rdma becomes lossy at l2/Ethernet0: priority 4 has no PFC there, on the way to t1/Ethernet8",
			"ROCE302: class rdma becomes lossy at l2/Ethernet4: priority 4 has no PFC there, on the way to t2/Ethernet8",
			"ROCE302: class rdma becomes lossy at t1/Ethernet8: priority 4 has no PFC there, on the way to l2/Ethernet0",
			"ROCE302: class rdma becomes lossy at t2/Ethernet8: priority 4 has no PFC there, on the way to l2/Ethernet4",
		}},
		{"no class of its name", nameless(t, "remap     = true"), []string{
			"ROCE804: class rdma is remapped from priority 3 to 0, which has no PFC from t2/Ethernet8 to l2/Ethernet4: lossless there is [4]",
		}},
		{"no class of its name, and no remap", nameless(t, ""), nil}, // ROCE205
		{"the same priority, and no PFC", ladder(t, "remap = true", "    pfc = []\n"), []string{
			"ROCE302: class rdma becomes lossy at l2/Ethernet0: priority 3 has no PFC there, on the way to t1/Ethernet8",
			"ROCE302: class rdma becomes lossy at l2/Ethernet4: priority 3 has no PFC there, on the way to t2/Ethernet8",
			"ROCE302: class rdma becomes lossy at t1/Ethernet8: priority 3 has no PFC there, on the way to l2/Ethernet0",
			"ROCE302: class rdma becomes lossy at t2/Ethernet8: priority 3 has no PFC there, on the way to l2/Ethernet4",
		}},
	} {
		if diff := cmp.Diff(x.want, findings(compiled(t, x.text), rules)); diff != "" {
			t.Errorf("%s: %s", x.name, diff)
		}
	}
}
