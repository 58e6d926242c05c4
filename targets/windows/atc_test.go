package windows

import (
	"encoding/json"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab/powershell"
	lab "github.com/rocec/rocec/deploy/lab/windows"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/feature"
	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/targettest"
)

// atcS2D is the node of the S2D example under Network ATC.
func atcS2D() *intent.Device {
	d := s2d()
	for i := range d.Ifaces {
		d.Ifaces[i].Gateway = intent.Opt[netip.Addr]{}
	}
	return d
}

// atcConverged is an Azure Local host: one team for everything, adapters found
// by PCI address, storage addresses left to Network ATC.
func atcConverged() *intent.Device {
	d := converged()
	d.Name, d.OS = "hci1", intent.OS{Name: "azure-local", Version: "24H2"}
	d.LAGs[0].Name = "Converged"
	for i := range d.Ifaces {
		d.Ifaces[i].On = "Converged"
		d.Ifaces[i].QoS = ""
		if d.Ifaces[i].RDMA {
			d.Ifaces[i].Addresses = intent.Opt[[]netip.Prefix]{}
		}
	}
	d.Ifaces[2].Addresses = address("192.0.2.17/24")
	d.Options = map[string]string{optionCluster: "hci", optionTransport: "smb", optionBandwidth: "20", optionMigrations: "2"}
	return d
}

// atcIWARP has Chelsio adapters with iWARP, and a team without storage.
func atcIWARP() *intent.Device {
	d := atcS2D()
	for i := range d.Ports {
		n := d.Ports[i].NIC
		n.Model, n.Driver, n.IWARP, n.RoCE, n.RDMAMTU = "chelsio/t6", "cxgb4", true, intent.Opt[string]{}, 0
	}
	d.QoS[0].Marks[0].Transport = "iwarp"
	for _, name := range []string{"pNIC01", "pNIC02"} {
		d.Ports = append(d.Ports, intent.Port{Name: name, NIC: &intent.NIC{Model: "intel/e810", Driver: "ice", RDMA: intent.Some(false)}})
	}
	d.LAGs = []intent.LAG{{Name: "Compute", Members: []string{"pNIC01", "pNIC02"}, Mode: "set", Native: intent.Some(uint16(10))}}
	d.Ifaces = append(d.Ifaces, intent.Iface{Name: "mgmt", Kind: intent.VNIC, On: "Compute", VLAN: 10, Addresses: address("192.0.2.11/24"), Gateway: intent.Some(netip.MustParseAddr("192.0.2.1"))})
	return d
}

func atcSamples() map[string]*intent.Device {
	return map[string]*intent.Device{"atc-s2d": atcS2D(), "atc-converged": atcConverged(), "atc-iwarp": atcIWARP()}
}

// The intents as an administrator would write them by hand, from the samples of
// "Deploy host networking with Network ATC" and the values of the fabric.
func TestATCIntents(t *testing.T) {
	for name, want := range map[string]string{
		"atc-s2d": `
    Intents = @(
        @{
            Name = 'Storage'
            Manage = $true
            Types = @('Storage')
            Adapters = @('smb_a', 'smb_b')
            StorageVlans = @(711, 712)
            ManagementVlan = $null
            Overrides = @(
                @{ Kind = 'Adapter'; Name = 'JumboPacket'; Value = 9014 }
                @{ Kind = 'Adapter'; Name = 'NetworkDirect'; Value = 1 }
                @{ Kind = 'Adapter'; Name = 'NetworkDirectTechnology'; Value = 4 }
                @{ Kind = 'Adapter'; Name = 'FlowControl'; Value = 0 }
                @{ Kind = 'Qos'; Name = 'PriorityValue8021Action_SMB'; Value = 3 }
                @{ Kind = 'Qos'; Name = 'BandwidthPercentage_SMB'; Value = 50 }
                @{ Kind = 'Qos'; Name = 'NetDirectPortMatchCondition'; Value = 445 }
                @{ Kind = 'Qos'; Name = 'PriorityValue8021Action_Cluster'; Value = 7 }
                @{ Kind = 'Qos'; Name = 'BandwidthPercentage_Cluster'; Value = 1 }
                @{ Kind = 'Storage'; Name = 'EnableAutomaticIPGeneration'; Value = $false }
            )
        }
    )
    Global = @()
`,
		"atc-converged": `
    Intents = @(
        @{
            Name = 'Converged'
            Manage = $true
            Types = @('Management', 'Compute', 'Storage')
            Adapters = @('SMB 1', 'SMB 2')
            StorageVlans = @(711, 712)
            ManagementVlan = 0
            Overrides = @(
                @{ Kind = 'Adapter'; Name = 'JumboPacket'; Value = 9014 }
                @{ Kind = 'Adapter'; Name = 'NetworkDirect'; Value = 1 }
                @{ Kind = 'Adapter'; Name = 'NetworkDirectTechnology'; Value = 4 }
                @{ Kind = 'Adapter'; Name = 'FlowControl'; Value = 0 }
                @{ Kind = 'Qos'; Name = 'PriorityValue8021Action_SMB'; Value = 3 }
                @{ Kind = 'Qos'; Name = 'BandwidthPercentage_SMB'; Value = 50 }
                @{ Kind = 'Qos'; Name = 'NetDirectPortMatchCondition'; Value = 445 }
                @{ Kind = 'Qos'; Name = 'PriorityValue8021Action_Cluster'; Value = 7 }
                @{ Kind = 'Qos'; Name = 'BandwidthPercentage_Cluster'; Value = 1 }
                @{ Kind = 'Switch'; Name = 'LoadBalancingAlgorithm'; Value = 'HyperVPort' }
            )
        }
    )
    Global = @(
        @{ Kind = 'Cluster'; Name = 'EnableVirtualMachineMigrationPerformanceSelection'; Value = $false }
        @{ Kind = 'Cluster'; Name = 'VirtualMachineMigrationPerformanceOption'; Value = 'SMB' }
        @{ Kind = 'Cluster'; Name = 'MaximumSMBMigrationBandwidthInGbps'; Value = 20 }
        @{ Kind = 'Cluster'; Name = 'MaximumVirtualMachineMigrations'; Value = 2 }
    )
`,
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.ReplaceAll(atcScripts(atcSamples()[name])[dataFile], "\r", "")
			_, got, _ = strings.Cut(got, "\n    Intents")
			got, _, _ = strings.Cut(got, "\n    ManageQos")
			if diff := cmp.Diff(want, "\n    Intents"+got+"\n"); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func atcScripts(d *intent.Device) map[string]string { return filesOf(&NetworkATC, d) }

func TestATCGolden(t *testing.T) {
	for name, d := range atcSamples() {
		t.Run(name, func(t *testing.T) {
			if list := targets.Check(&NetworkATC, d, nil); list.HasErrors() {
				t.Fatalf("refused:\n%s", targettest.Refusals(list))
			}
			for _, a := range targettest.Emit(&NetworkATC, d) {
				targettest.Golden(t, filepath.Join("testdata", name, a.Path), string(a.Bytes))
			}
		})
	}
}

func TestATCCommands(t *testing.T) {
	for name, d := range atcSamples() {
		for _, a := range emitted(&NetworkATC, d) {
			t.Run(name+"/"+a.Path, func(t *testing.T) { oracle.PowerShellCommands(t, a.Bytes) })
		}
	}
}

func TestATCEveryField(t *testing.T) {
	t.Parallel()
	targettest.EveryField(t, &NetworkATC, atcS2D(), atcConverged(), atcIWARP())
}

func TestATCFeatures(t *testing.T) {
	for _, id := range feature.All {
		if n := len(slices.DeleteFunc(slices.Clone(atcFeatures.Rows), func(r feature.Row) bool { return r.ID != id })); n != 1 {
			t.Errorf("%s has %d rows", id, n)
		}
	}
}

// No text of an intent gets out of its literal.
func TestATCEveryString(t *testing.T) {
	t.Parallel()
	plain, team := atcS2D(), atcConverged()
	plain.Ports, plain.Ifaces = plain.Ports[:1], plain.Ifaces[:1]
	team.Ports, team.LAGs[0].Members, team.Ifaces = team.Ports[1:], []string{"SMB 2"}, team.Ifaces[1:]
	for _, base := range []*intent.Device{plain, team} {
		targettest.EveryString(t, &NetworkATC, base, contained)
	}
}

// atcHostFor is a host as it is before Network ATC sees it.
func atcHostFor(t *testing.T, name string) (*intent.Device, *lab.Host) {
	d, h := atcHost(t, name)
	h.Scripts = read
	for _, n := range h.NICs {
		n.Property("*NetworkDirectRoCEFrameSize").Value = "4096" // no override sets it
	}
	return d, h
}

func atcHost(t *testing.T, name string) (*intent.Device, *lab.Host) {
	switch name {
	case "atc-converged":
		h := lab.NewHost("HCI1", "Ethernet 5", "Ethernet 6")
		h.Features = []string{"NetworkATC", "Hyper-V", "Failover-Clustering", "Data-Center-Bridging"}
		h.ATC = lab.NewCluster("HCI")
		h.NICs[0].Addresses = []netip.Prefix{netip.MustParsePrefix("192.0.2.17/24")}
		h.Routes = [][2]string{{"{guid-0}", "192.0.2.1"}}
		return atcConverged(), h
	case "atc-iwarp":
		h := lab.NewHost("N1", "smb_a", "smb_b", "pNIC01", "pNIC02")
		h.Features = []string{"NetworkATC", "Hyper-V", "Failover-Clustering", "Data-Center-Bridging"}
		h.ATC = lab.NewCluster("s2d")
		h.ATC.Fresh = false
		h.NICs[2].Addresses = []netip.Prefix{netip.MustParsePrefix("192.0.2.11/24")}
		h.Routes = [][2]string{{"{guid-2}", "192.0.2.1"}}
		for _, n := range h.NICs {
			n.Driver = "6.17.1.0"
		}
		return atcIWARP(), h
	}
	h := lab.NewHost("N1", "smb_a", "smb_b")
	h.Features = []string{"Hyper-V", "Failover-Clustering"}
	h.ATC = lab.NewCluster("s2d")
	return atcS2D(), h
}

func TestATCRun(t *testing.T) {
	for name := range atcSamples() {
		t.Run(name, func(t *testing.T) {
			d, h := atcHostFor(t, name)
			s := atcScripts(d)
			code, lines, _ := h.Run(s, atcApplyFile, map[string]any{"whatif": true})
			expect(t, "-WhatIf", 2, code, lines)
			if len(h.Changes) > 0 || len(h.Files) > 0 {
				t.Fatalf("-WhatIf changes %v and writes %d files", h.Changes, len(h.Files))
			}
			code, lines, _ = h.Run(s, atcApplyFile, nil)
			expect(t, "apply without -AllowRestart", 4, code, lines)
			if len(h.ATC.Intents) > 0 {
				t.Fatal("an intent was made without -AllowRestart")
			}
			code, lines, _ = h.Run(s, atcApplyFile, map[string]any{"allowrestart": true})
			expect(t, "apply with -AllowRestart", 2, code, lines)
			h.Changes = nil
			code, lines, _ = h.Run(s, atcApplyFile, nil)
			expect(t, "apply again", 0, code, lines)
			if len(h.Changes) > 0 {
				t.Errorf("the last apply changes %v", h.Changes)
			}
			code, lines, _ = h.Run(s, verifyFile, nil)
			expect(t, "verify", 0, code, lines)
			if testing.Verbose() {
				t.Log(strings.Join(lines, "\n"))
			}
			code, lines, _ = h.Run(s, undoFile, map[string]any{"snapshot": oldest(h), "allowrestart": true, "removeintent": true, "allowdisconnect": true})
			expect(t, "undo", 5, code, lines) // Network ATC leaves what it set, and keeps settings of the cluster
			if len(h.ATC.Intents) > 0 {
				t.Error("undo leaves intents")
			}
		})
	}
}

// A value that someone else overrode is kept, and one of ours goes back to what
// it was.
func TestATCChange(t *testing.T) {
	d, h := atcHostFor(t, "atc-s2d")
	code, lines, _ := h.Run(atcScripts(d), atcApplyFile, map[string]any{"allowrestart": true})
	expect(t, "apply", 2, code, lines)
	h.ATC.Intents[0].Overrides["Adapter"].Set("EncapOverhead", int64(256))
	for f := range h.Files {
		delete(h.Files, f)
	}

	for i := range d.Ports {
		d.Ports[i].MTU = intent.Some(uint16(4074))
		d.Ports[i].Tagged = intent.Some([]uint16{uint16(101 + 100*i)})
		d.Ifaces[i].VLAN = uint16(101 + 100*i)
	}
	d.QoS[0].Sched.Value[0].Percent, d.QoS[0].Sched.Value[1].Percent = 39, 60
	s := atcScripts(d)
	h.Jobs = 1 << 20
	code, lines, _ = h.Run(s, atcApplyFile, map[string]any{"allowrestart": true})
	expect(t, "apply while a storage job runs", 4, code, lines)
	h.Jobs, h.Changes = 0, nil
	code, lines, _ = h.Run(s, atcApplyFile, map[string]any{"allowrestart": true})
	expect(t, "apply", 2, code, lines)
	if diff := cmp.Diff([]string{"set intent Storage"}, h.Changes); diff != "" {
		t.Errorf("changes:\n%s", diff)
	}
	if v := h.ATC.Intents[0].Overrides["Adapter"].Field("encapoverhead"); v != int64(256) {
		t.Errorf("EncapOverhead is %v", v)
	}
	code, lines, _ = h.Run(s, verifyFile, nil)
	expect(t, "verify", 0, code, lines)
	code, lines, _ = h.Run(s, undoFile, map[string]any{"allowrestart": true})
	expect(t, "undo", 2, code, lines)
	i := h.ATC.Intents[0]
	if powershell.String(i.Overrides["Adapter"].Field("jumbopacket")) != "9014" || powershell.String(i.VLANs) != "711 712" || powershell.String(i.Overrides["Qos"].Field("bandwidthpercentage_smb")) != "50" {
		t.Errorf("undo leaves %v, %v", i.Overrides, i.VLANs)
	}
}

func TestATCPreconditions(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*intent.Device, *lab.Host)
		code  int
		says  string
	}{
		{"no cluster", func(_ *intent.Device, h *lab.Host) { h.ATC.Name = "" }, 3, "in no cluster"},
		{"another cluster", func(d *intent.Device, _ *lab.Host) { d.Options = map[string]string{optionCluster: "other"} }, 3, "in cluster 's2d', not in 'other'"},
		{"no Hyper-V", func(_ *intent.Device, h *lab.Host) { h.Features = []string{"Failover-Clustering"} }, 3, "Hyper-V is not installed"},
		{"an intent of another name", func(_ *intent.Device, h *lab.Host) {
			h.Features = append(h.Features, "NetworkATC")
			h.ATC.Hold("other", []string{"Storage"}, "smb_a")
		}, 3, "intent 'other' owns adapters"},
		{"other types", func(_ *intent.Device, h *lab.Host) {
			h.Features = append(h.Features, "NetworkATC")
			h.ATC.Hold("Storage", []string{"Compute", "Storage"}, "smb_a", "smb_b")
		}, 3, "has the types Compute, Storage, not Storage"},
		{"a down adapter", func(_ *intent.Device, h *lab.Host) { h.NICs[1].Down = true }, 3, "is not up"},
		{"no RDMA", func(_ *intent.Device, h *lab.Host) { h.NICs[1].RDMAAble = false }, 3, "has no RDMA"},
		{"a switch", func(_ *intent.Device, h *lab.Host) { h.NICs[1].Bound = []string{"vms_pp"} }, 3, "belongs to a virtual switch"},
		{"a driver without RoCEv2", func(_ *intent.Device, h *lab.Host) {
			h.NICs[0].Property("*NetworkDirectTechnology").Valid = []string{"0", "1"}
		}, 3, "cannot be 4"},
		{"what netqos left", func(_ *intent.Device, h *lab.Host) {
			h.Features = append(h.Features, "Data-Center-Bridging")
			h.Classes = []*lab.Class{{Name: "SMB_Direct", Algorithm: "ETS", Percent: 50, Priorities: []any{int64(3)}}}
		}, 3, "traffic class 'SMB_Direct': it is not of Network ATC"},
		{"a failure", func(_ *intent.Device, h *lab.Host) { h.ATC.Fails = "RDMANotOperational" }, 1, "RDMANotOperational"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, h := atcHostFor(t, "atc-s2d")
			c.spoil(d, h)
			code, lines, _ := h.Run(atcScripts(d), atcApplyFile, map[string]any{"allowrestart": true})
			expect(t, "apply", c.code, code, lines)
			if !strings.Contains(strings.Join(lines, "\n"), c.says) {
				t.Errorf("want %q in:\n%s", c.says, strings.Join(lines, "\n"))
			}
			if c.code == 3 && len(h.Changes) > 0 {
				t.Errorf("changed %v before it refused", h.Changes)
			}
		})
	}
}

// The technology of a storage intent changes on all peers at once or not at all.
func TestATCTechnologyNeedsStorageOffline(t *testing.T) {
	d, h := atcHostFor(t, "atc-iwarp")
	code, lines, _ := h.Run(atcScripts(d), atcApplyFile, map[string]any{"allowrestart": true})
	expect(t, "apply", 2, code, lines)
	for i := range 2 {
		d.Ports[i].NIC.IWARP, d.Ports[i].NIC.RoCE = false, intent.Some("v2")
	}
	s := atcScripts(d)
	code, lines, _ = h.Run(s, atcApplyFile, map[string]any{"allowrestart": true})
	expect(t, "apply of RoCE", 3, code, lines)
	code, lines, _ = h.Run(s, atcApplyFile, map[string]any{"allowrestart": true, "storageisoffline": true})
	expect(t, "apply of RoCE while storage is offline", 2, code, lines)
}

// Network ATC works on its own: the script waits, and says so when it gives up.
func TestATCWaits(t *testing.T) {
	d, h := atcHostFor(t, "atc-s2d")
	h.ATC.Silent = 3
	code, lines, _ := h.Run(atcScripts(d), atcApplyFile, map[string]any{"allowrestart": true})
	expect(t, "apply", 2, code, lines)
	d, h = atcHostFor(t, "atc-s2d")
	h.ATC.Silent = 1 << 20
	code, lines, _ = h.Run(atcScripts(d), atcApplyFile, map[string]any{"allowrestart": true})
	expect(t, "apply that is not done in time", 4, code, lines)
	if len(h.NICs[0].Addresses) > 0 {
		t.Error("addresses were set on adapters that Network ATC still works on")
	}
}

// Before the first intent, each node is cleaned without making one.
func TestATCCleansWithoutMaking(t *testing.T) {
	d, h := atcHostFor(t, "atc-s2d")
	h.Features = append(h.Features, "Data-Center-Bridging")
	h.Classes = []*lab.Class{{Name: "SMB", Algorithm: "ETS", Percent: 60, Priorities: []any{int64(3)}}}
	code, lines, _ := h.Run(atcScripts(d), atcApplyFile, map[string]any{"replaceconflicting": true})
	expect(t, "apply", 4, code, lines)
	if len(h.Classes) > 0 || len(h.ATC.Intents) > 0 {
		t.Errorf("classes %v, intents %v", h.Classes, h.ATC.Intents)
	}
}

// Leftovers of netqos go with -ReplaceConflicting, and come back with nothing:
// Network ATC owns the tables then.
func TestATCReplacesConflicting(t *testing.T) {
	d, h := atcHostFor(t, "atc-s2d")
	h.Features = append(h.Features, "Data-Center-Bridging")
	h.Policies = []*lab.Policy{{Name: "SMB", NetDirect: 445, Priority: 3, DSCP: -1, Template: "None", Protocol: "None"}}
	h.Classes = []*lab.Class{{Name: "SMB", Algorithm: "ETS", Percent: 60, Priorities: []any{int64(3)}}}
	code, lines, _ := h.Run(atcScripts(d), atcApplyFile, map[string]any{"allowrestart": true, "replaceconflicting": true})
	expect(t, "apply", 2, code, lines)
	if slices.ContainsFunc(h.Policies, func(p *lab.Policy) bool { return p.Name == "SMB" }) {
		t.Error("the policy is still there")
	}
}

func TestATCRoundTrip(t *testing.T) {
	for name := range atcSamples() {
		t.Run(name, func(t *testing.T) {
			d, h := atcHostFor(t, name)
			s := atcScripts(d)
			files := func() targets.Captured {
				code, lines, out := h.Run(s, captureFile, nil)
				expect(t, "capture", 0, code, lines)
				return targets.Captured{Files: map[string][]byte{atcReadBack: []byte(out[0].(string))}}
			}
			if _, list := atcParse(d, files()); len(list) == 0 {
				t.Error("nothing is found where no intent is")
			}
			code, lines, _ := h.Run(s, atcApplyFile, map[string]any{"allowrestart": true})
			expect(t, "apply", 2, code, lines)
			got, list := atcParse(d, files())
			for _, f := range list {
				t.Errorf("finding: %s", f.Summary)
			}
			want := observed(t, d)
			for i := range want.Ifaces {
				f := &want.Ifaces[i]
				if f.RDMA && !f.Addresses.IsSet() {
					f.Addresses = intent.Some([]netip.Prefix{netip.MustParsePrefix("10.71." + string(rune('1'+i)) + ".7/24")})
				}
			}
			for i := range want.Ports {
				want.Ports[i].NIC.DriverV, want.Ports[i].NIC.RDMAMTU = h.NICs[i].Driver, 4096
				want.Ports[i].NIC.DCBX = intent.Some(intent.DCBX{Mode: "off"})
				if teamMember(d, want.Ports[i].Name) && want.Ports[i].QoS == "" {
					want.Ports[i].NIC.RoCE, want.Ports[i].NIC.IWARP = got.Ports[i].NIC.RoCE, got.Ports[i].NIC.IWARP // the driver's own
				}
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Prefix{}, netip.Addr{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}

// What drifts from an intent is seen by the script, and by the parser in a
// device that differs or a finding.
func TestATCDriftIsSeen(t *testing.T) {
	for _, c := range []struct {
		name  string
		drift func(*lab.Host)
	}{
		{"an override", func(h *lab.Host) { h.ATC.Intents[0].Overrides["Qos"].Set("BandwidthPercentage_SMB", int64(40)) }},
		{"an adapter less", func(h *lab.Host) { h.ATC.Intents[0].Adapters = h.ATC.Intents[0].Adapters[:1] }},
		{"a type more", func(h *lab.Host) { h.ATC.Intents[0].Types = append(h.ATC.Intents[0].Types, "Stretch") }},
		{"no intent", func(h *lab.Host) { h.ATC.Intents = nil }},
		{"a failure", func(h *lab.Host) { h.ATC.Fails = "PhysicalAdapterNotFound" }},
		{"a setting of the cluster", func(h *lab.Host) { h.ATC.Global.Set("MaximumVirtualMachineMigrations", int64(5)) }},
		{"a VLAN", func(h *lab.Host) { h.NICs[2].Isolation, h.NICs[3].Isolation = 713, 713 }},
		{"a pin", func(h *lab.Host) { h.NICs[3].Pin = h.NICs[4].Pin }},
		{"jumbo", func(h *lab.Host) { h.NICs[0].Property("*JumboPacket").Value = "1514" }},
		{"PFC", func(h *lab.Host) { h.PFC[4] = true }},
		{"a share", func(h *lab.Host) { h.Classes[1].Percent = 40 }},
		{"the management address", func(h *lab.Host) {
			for _, n := range h.NICs {
				n.Addresses = nil
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, h := atcHostFor(t, "atc-converged")
			s := atcScripts(d)
			code, lines, _ := h.Run(s, atcApplyFile, map[string]any{"allowrestart": true})
			expect(t, "apply", 2, code, lines)
			look := func() (string, int) {
				code, lines, out := h.Run(s, captureFile, nil)
				expect(t, "capture", 0, code, lines)
				got, list := atcParse(d, targets.Captured{Files: map[string][]byte{atcReadBack: []byte(out[0].(string))}})
				b, err := json.Marshal(got)
				if err != nil {
					t.Fatal(err)
				}
				return string(b), len(list)
			}
			before, _ := look()
			c.drift(h)
			code, lines, _ = h.Run(s, verifyFile, nil)
			expect(t, "verify", 2, code, lines)
			if after, findings := look(); after == before && findings == 0 {
				t.Error("the parser sees nothing")
			}
		})
	}
}

func TestATCRefusals(t *testing.T) {
	qos := func(change func(*intent.QoS)) func(*intent.Device) {
		return func(d *intent.Device) { change(&d.QoS[0]) }
	}
	for _, c := range []struct {
		name   string
		base   func() *intent.Device
		change func(*intent.Device)
		says   string
	}{
		{"Windows Server 2022", atcS2D, func(d *intent.Device) { d.OS.Version = "2022" }, "Network ATC is of 2025"},
		{"an old release", atcConverged, func(d *intent.Device) { d.OS.Version = "2311" }, `from "2311.2" on`},
		{"another class", atcS2D, qos(func(q *intent.QoS) {
			q.Marks = append(q.Marks, intent.Mark{Class: "backup", Carries: "other", Priority: 4, TCPPort: 3260})
		}), "none of the three"},
		{"no cluster class", atcS2D, qos(func(q *intent.QoS) {
			q.Marks = []intent.Mark{q.Marks[0], q.Marks[2]}
			q.TC.Value[7], q.PCP.Value[7] = 0, 0
			q.Sched.Value[2], q.Sched.Value[0].Percent = intent.Sched{}, 50
		}), "no class for the cluster"},
		{"no PFC", atcS2D, qos(func(q *intent.QoS) { q.PFC, q.Lossless = intent.Some(intent.PrioritySet(0)), 0 }), "switches it on for priority 3"},
		{"default on 1", atcS2D, qos(func(q *intent.QoS) { q.Marks[2].Priority = 1 }), "leaves that at 0"},
		{"strict cluster", atcS2D, qos(func(q *intent.QoS) {
			q.Sched.Value[2], q.Sched.Value[0].Percent = intent.Sched{Kind: intent.SchedStrict}, 50
		}), "classes of Network ATC are ETS"},
		{"two jumbo sizes", atcS2D, func(d *intent.Device) { d.Ports[1].MTU.Value = 1500 }, "differ in mtu"},
		{"two models", atcS2D, func(d *intent.Device) { d.Ports[1].NIC.Model = "nvidia/connectx-7" }, "differ in model"},
		{"one VLAN for both", atcS2D, func(d *intent.Device) { d.Ports[1].Tagged.Value, d.Ifaces[1].VLAN = []uint16{711}, 711 }, "VLAN 711 on two adapters"},
		{"an address on one only", atcS2D, func(d *intent.Device) { d.Ifaces[1].Addresses = intent.Opt[[]netip.Prefix]{} }, "to all or to none"},
		{"storage without qos", atcS2D, func(d *intent.Device) { d.Ports[0].QoS, d.Ports[1].QoS = "", "" }, "carries storage and has no qos"},
		{"an adapter of no intent", atcS2D, func(d *intent.Device) {
			d.Ports = append(d.Ports, intent.Port{Name: "Ethernet", MTU: intent.Some(uint16(1500))})
		}, "no intent would hold it"},
		{"RoCE v1", atcS2D, func(d *intent.Device) {
			for i := range d.Ports {
				d.Ports[i].NIC.RoCE = intent.Some("v1")
			}
		}, "cannot set roce_v1"},
		{"a gateway of storage", atcS2D, func(d *intent.Device) { d.Ifaces[0].Gateway = intent.Some(netip.MustParseAddr("10.71.1.1")) }, "are not routed"},
		{"a storage vNIC on one member", atcConverged, func(d *intent.Device) { d.Ifaces = append(d.Ifaces[:1], d.Ifaces[2]) }, "no storage VLAN for adapter \"SMB 2\""},
		{"no pin", atcConverged, func(d *intent.Device) { d.Ifaces[0].Pin = "" }, "is not pinned"},
		{"a pinned management vNIC", atcConverged, func(d *intent.Device) { d.Ifaces[2].Pin = "SMB 1" }, "pins storage only"},
		{"a name with blanks", atcConverged, func(d *intent.Device) {
			d.LAGs[0].Name = "my team"
			for i := range d.Ifaces {
				d.Ifaces[i].On = "my team"
			}
		}, "cannot be the name of an intent"},
		{"the same name twice", atcIWARP, func(d *intent.Device) { d.Options = map[string]string{optionIntent: "compute"} }, "have the name"},
		{"a jumbo vNIC", atcConverged, func(d *intent.Device) { d.Ifaces[0].MTU.Value = 4074 }, "sets one for all"},
		{"qos on a compute team", atcIWARP, func(d *intent.Device) { d.Ports[2].QoS, d.Ports[3].QoS = "smb_direct", "smb_direct" }, "on storage adapters only"},
		{"eleven migrations", atcConverged, func(d *intent.Device) { d.Options[optionMigrations] = "11" }, "write 0 to 10"},
		{"a limit of SMB over TCP", atcConverged, func(d *intent.Device) { d.Options[optionTransport] = "tcpip" }, "chooses another transport"},
		{"a cluster of a long name", atcConverged, func(d *intent.Device) { d.Options[optionCluster] = "a-name-that-is-too-long" }, "cannot be the name of a cluster"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := c.base()
			if list := targets.Check(&NetworkATC, d, nil); list.HasErrors() {
				t.Fatalf("the base is refused:\n%s", targettest.Refusals(list))
			}
			c.change(d)
			list := targets.Check(&NetworkATC, d, nil)
			if text := targettest.Refusals(list); !strings.Contains(text, c.says) {
				t.Errorf("want %q in:\n%s", c.says, text)
			}
			for _, f := range list {
				if f.Help == "" || len(f.Labels) == 0 {
					t.Errorf("%q has no help or no label", f.Summary)
				}
			}
		})
	}
}

// netqos serves no Azure Local, and asks Network ATC before it touches anything.
func TestOneOwner(t *testing.T) {
	d := s2d()
	d.OS = intent.OS{Name: "azure-local", Version: "24H2"}
	if !targets.Check(&Target, d, nil).HasErrors() {
		t.Error("netqos serves azure-local")
	}
	d, h := hostFor("s2d")
	h.Features, h.ATC = []string{"Hyper-V", "Failover-Clustering", "NetworkATC"}, lab.NewCluster("s2d")
	h.ATC.Hold("Storage", []string{"Storage"}, "smb_a")
	code, lines, _ := h.Run(scripts(d), applyFile, nil)
	expect(t, "netqos beside an intent", 3, code, lines)
	if !strings.Contains(strings.Join(lines, "\n"), "intent 'Storage' owns adapters of this host") {
		t.Errorf("says:\n%s", strings.Join(lines, "\n"))
	}
}

// Captures are hostile.
func FuzzATCParse(f *testing.F) {
	for _, s := range []string{`{"Schema":1}`, `{"Schema":1,"Computer":"N1","Intents":[{"Name":"Storage","Adapters":null,"Types":"Storage"}]}`, `{"Schema":1,"Intents":{"value":[],"Count":0}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, list := atcParse(atcConverged(), targets.Captured{Files: map[string][]byte{atcReadBack: b}})
		if got == nil && !list.HasErrors() {
			t.Error("no device and no error")
		}
		if got != nil {
			if _, err := json.Marshal(got); err != nil {
				t.Error(err)
			}
		}
	})
}
