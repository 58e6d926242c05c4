package windows

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	lab "github.com/rocec/rocec/deploy/lab/windows"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/targettest"
)

// TestEveryDrift: a host that its script has just set is as wanted, and every
// setting that is then another is seen.
func TestEveryDrift(t *testing.T) {
	exempt := map[string]targettest.Exempt{
		"converged": {"QoS.PCP": "priorities of one traffic class are one to a NIC"},
		"iwarp": {
			"Iface.Name": "an interface on an adapter has the adapter's name",
			"VLAN.ID":    "nothing on a host shows the VLAN of its untagged frames",
		},
	}
	for _, name := range []string{"s2d", "converged", "iwarp"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, _ := hostFor(name)
			unteamed(base)
			targettest.EveryDrift(t, &Target, func(d *intent.Device) targets.Captured {
				_, h := hostFor(name)
				fit(h, d)
				s := scripts(d)
				code, lines, _ := h.Run(s, applyFile, map[string]any{"allowrestart": true, "allowdisconnect": true})
				if code != 2 && code != 0 {
					t.Fatalf("apply exits with %d: %v", code, lines)
				}
				return captured(string(capture(t, h, s)))
			}, exempt[name], base)
		})
	}
}

// TestATCEveryDrift is the same of a host that Network ATC sets.
func TestATCEveryDrift(t *testing.T) {
	named := "Network ATC names switches and vNICs by the intent"
	exempt := map[string]targettest.Exempt{"atc-converged": {"LAG.Name": named, "Iface.Name": named}, "atc-iwarp": {"LAG.Name": named, "Iface.Name": named}}
	for _, name := range []string{"atc-s2d", "atc-converged", "atc-iwarp"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, _ := atcHostFor(t, name)
			unteamed(base)
			targettest.EveryDrift(t, &NetworkATC, func(d *intent.Device) targets.Captured {
				_, h := atcHostFor(t, name)
				fit(h, d)
				takeOver(h, d)
				s := atcScripts(d)
				code, lines, _ := h.Run(s, atcApplyFile, map[string]any{"allowrestart": true, "allowdisconnect": true})
				if code != 2 && code != 0 {
					t.Fatalf("apply exits with %d: %v", code, lines)
				}
				code, lines, out := h.Run(s, captureFile, nil)
				expect(t, "capture", 0, code, lines)
				return targets.Captured{Files: map[string][]byte{atcReadBack: []byte(out[0].(string))}}
			}, exempt[name], base)
		})
	}
}

// unteamed leaves the RDMA of team members to that of the vNICs.
func unteamed(d *intent.Device) {
	for i := range d.Ports {
		if teamMember(d, d.Ports[i].Name) {
			d.Ports[i].NIC.RDMA = intent.Opt[bool]{}
		}
	}
}

// fit makes the adapters of a host those of an intent: of the speed that is
// negotiated, and of the name where that is what finds them.
func fit(h *lab.Host, d *intent.Device) {
	for i := range d.Ports {
		p := &d.Ports[i]
		if i < len(h.NICs) {
			h.NICs[i].Mbps = int64(p.Mbps.Or(25000))
		}
		there := slices.ContainsFunc(h.NICs, func(n *lab.NIC) bool { return n.Name == p.Name })
		if p.NIC == nil || p.NIC.PCI+p.NIC.MAC != "" || there {
			continue
		}
		for _, n := range h.NICs {
			if d.PortNamed(n.Name) == nil {
				n.Name = p.Name
				break
			}
		}
	}
}

// takeOver puts the addresses of a team on its first member, where Network ATC
// finds them.
func takeOver(h *lab.Host, d *intent.Device) {
	for i := range d.Ifaces {
		f := &d.Ifaces[i]
		team := d.LAGNamed(f.On)
		if f.Kind != intent.VNIC || f.RDMA || !f.Addresses.IsSet() || team == nil {
			continue
		}
		named := slices.ContainsFunc(h.NICs, func(n *lab.NIC) bool { return n.Name == team.Members[0] })
		for j, n := range h.NICs {
			n.Addresses = nil
			if n.Name == team.Members[0] || !named && j < len(d.Ports) && d.Ports[j].Name == team.Members[0] {
				n.Addresses = f.Addresses.Value
				h.Routes = [][2]string{{fmt.Sprintf("{guid-%d}", j), gatewayText(f)}}
			}
		}
	}
}
