package lint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lint"
)

// TestKeptSpeed: a port whose speed is left as the device has it runs at a speed that is not
// known, and not at that of its model: no rule judges by it.
func TestKeptSpeed(t *testing.T) {
	const speed = "  port \"Ethernet0\" {\n    speed    = \"100G\"\n"
	uplinks := swap(t, lint.UnevenSpeed("keep"), `ecn       = "auto"`, "ecn       = \"auto\"\n    max_oversubscription = 1") +
		"defaults \"port\" {\n  headroom = \"60KB\"\n}\n"
	for _, x := range []struct{ name, rules, text string }{
		{"the peer of a NIC of half the model's speed", "ROCE101 ROCE102 ROCE109 ROCE123", swap(t, lint.TwoNodes(`headroom = "60KB"`), speed,
			strings.Replace(speed, "100G", "keep", 1))},
		{"defaults keep it", "ROCE101 ROCE102 ROCE109 ROCE123", swap(t, lint.TwoNodes(`headroom = "60KB"`), speed, "  port \"Ethernet0\" {\n") +
			"defaults \"port\" {\n  speed = \"keep\"\n}\n"},
		{"one uplink of two", "ROCE809 ROCE815", uplinks},
	} {
		if d := cmp.Diff([]string(nil), findings(compiled(t, x.text), x.rules)); d != "" {
			t.Errorf("%s (-want +got)\n%s", x.name, d)
		}
	}
}

// TestKeptVLANs: a port that keeps its VLANs is still for the segment that stands around it, or
// on the NIC at its other end: it has that segment's contract.
func TestKeptVLANs(t *testing.T) {
	const native = "    untagged = segment.storage\n    \n"
	for _, x := range []struct{ name, around, port string }{
		{"defaults", "defaults \"port\" {\n  untagged = segment.storage\n}\n", "    untagged = \"keep\"\n"},
		{"the NIC", "", "    untagged = \"keep\"\n"},
		{"the NIC, and defaults keep", "defaults \"port\" {\n  untagged = \"keep\"\n}\n", ""},
		{"tagged ones", "defaults \"port\" {\n  tagged = [segment.storage]\n}\n", "    tagged = \"keep\"\n"},
	} {
		res := compiledResult(t, swap(t, lint.TwoNodes(``), native, x.port)+x.around)
		f := res.Fabric
		for p := range f.Ports {
			if f.PortName(fabric.PortID(p)) != "tor/Ethernet0" {
				continue
			}
			row := &f.Ports[p]
			if got := f.Text(f.QoS[f.Profiles[row.Profile].QoS].Name); got != "roce" || row.Native != 0 || row.VLANs != 0 {
				t.Errorf("%s: qos %q, and VLANs %d and %d are written", x.name, got, row.Native, row.VLANs)
			}
		}
	}
}
