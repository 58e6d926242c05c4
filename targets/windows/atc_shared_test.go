package windows

import (
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/targettest"
)

// Nodes of one cluster may differ in their addresses, and in nothing else.
func TestATCShared(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*intent.Device)
		want   string // "" for none
	}{
		{"addresses", func(d *intent.Device) {
			d.Ifaces[0].Addresses, d.Ifaces[1].Addresses = address("10.71.1.12/24"), address("10.71.2.12/24")
		}, ""},
		{"another adapter", func(d *intent.Device) {
			d.Ports[1].Name, d.Ifaces[1].On = "smb_c", "smb_c"
		}, "adapters of intent Storage of n2 are smb_a, smb_c, those of n1 of its cluster smb_a, smb_b"},
		{"another MTU", func(d *intent.Device) {
			d.Ports[0].MTU.Value, d.Ports[1].MTU.Value = 1500, 1500
		}, "overrides of JumboPacket of intent Storage of n2 are 1514, those of n1 of its cluster 9014"},
		{"another share", func(d *intent.Device) {
			d.QoS[0].Sched.Value[0].Percent, d.QoS[0].Sched.Value[1].Percent = 39, 60
		}, "overrides of BandwidthPercentage_SMB of intent Storage of n2 are 60"},
		{"no MTU", func(d *intent.Device) {
			d.Ports[0].MTU, d.Ports[1].MTU = intent.Opt[uint16]{}, intent.Opt[uint16]{}
		}, "n2 has no overrides of JumboPacket of intent Storage, n1 of its cluster has 9014"},
		{"a setting of the cluster", func(d *intent.Device) { d.Options = map[string]string{optionMigrations: "4"} }, "n2 has settings of MaximumVirtualMachineMigrations, which are 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			one, two := atcS2D(), atcS2D()
			two.Name = "n2"
			c.change(two)
			if list := targets.Check(&NetworkATC, two, nil); list.HasErrors() {
				t.Fatalf("refused:\n%s", targettest.Refusals(list))
			}
			list := targets.Alike(&NetworkATC, targets.Peer{Device: one}, targets.Peer{Device: two})
			if c.want == "" && len(list) > 0 || c.want != "" && (len(list) != 1 || !strings.Contains(list[0].Summary, c.want)) {
				t.Errorf("want %q in:\n%s", c.want, targettest.Refusals(list))
			}
			for _, f := range list {
				if len(f.Labels) != 2 || f.Help == "" {
					t.Errorf("%q has %d labels", f.Summary, len(f.Labels))
				}
			}
		})
	}
	if list := targets.Alike(&Target, targets.Peer{Device: s2d()}, targets.Peer{Device: converged()}); len(list) > 0 {
		t.Errorf("hosts of netqos are on their own, and %s", list[0].Summary)
	}
}
