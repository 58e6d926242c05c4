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

// TestBondSpeaks: what an exception or an override says of a bond's VLANs holds for the switch
// ports that follow its NICs, as what the bond itself says does.
func TestBondSpeaks(t *testing.T) {
	text := lint.Bonded(`speed = "100G"`) + "segment \"more\" {\n  vlan = 200\n  qos  = qos.roce\n}\n"
	before, rest, _ := strings.Cut(text, "switch \"tor\" {")
	ports, hosts, _ := strings.Cut(rest, "node \"b\" {")
	text = before + "switch \"tor\" {" + strings.ReplaceAll(ports, "    untagged = segment.storage\n", "") + "node \"b\" {" + hosts
	const bond = "    members = \"p[0-1]\"\n"
	const each = "node \"b\" {\n  for_each = toset([\"x\"])\n"
	for _, x := range []struct{ name, text string }{
		{"itself", strings.Replace(text, bond, bond+"    tagged  = [segment.more]\n", 1)},
		{"override", text + "override {\n  on      = node.b.bond[\"bond0\"]\n  set     = { tagged = [segment.more] }\n  reason  = \"r\"\n  expires = \"2999-01-01\"\n}\n"},
		{"except", strings.Replace(strings.ReplaceAll(text, "node.b.", "node.b[\"x\"]."), "node \"b\" {\n",
			each+"  except \"x\" {\n    bond \"bond0\" {\n      tagged = [segment.more]\n    }\n  }\n", 1)},
	} {
		res := compiledResult(t, x.text)
		f := res.Fabric
		for p := range f.Ports {
			row := &f.Ports[p]
			switch name := f.PortName(fabric.PortID(p)); name {
			case "tor/Ethernet8", "tor/Ethernet12":
				if row.Native == 0 || len(f.VLANSets[row.VLANs]) != 1 {
					t.Errorf("%s: %s has untagged %d, tagged %v", x.name, name, row.Native, f.VLANSets[row.VLANs])
				}
			}
		}
	}
}
