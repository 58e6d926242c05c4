package windows

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab/powershell"
	lab "github.com/rocec/rocec/deploy/lab/windows"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/targettest"
)

// scripts are the files that a node runs: its own and those of its kit.
func scripts(d *intent.Device) map[string]string { return filesOf(&Target, d) }

func filesOf(tg *targets.Target, d *intent.Device) map[string]string {
	m := map[string]string{}
	for _, a := range emitted(tg, d) {
		m[a.Path] = string(a.Bytes)
	}
	return m
}

func emitted(tg *targets.Target, d *intent.Device) []emit.Artifact {
	var out emit.Out
	tg.Emit(d, &out)
	files := slices.Clone(out.Artifacts)
	for _, k := range out.Kits {
		files = append(files, k.Artifacts...)
	}
	return files
}

func expect(t *testing.T, what string, want, code int, lines []string) {
	t.Helper()
	if code != want {
		t.Fatalf("%s exits with %d, want %d:\n%s", what, code, want, strings.Join(lines, "\n"))
	}
}

// read keeps the scripts that hosts of tests have read.
var read = &powershell.Scripts{}

// hostFor is a host as it is before rocec sees it.
func hostFor(name string) (*intent.Device, *lab.Host) {
	d, h := foundHost(name)
	h.Scripts = read
	return d, h
}

func foundHost(name string) (*intent.Device, *lab.Host) {
	switch name {
	case "converged":
		h := lab.NewHost("HV07", "Ethernet 5", "Ethernet 6")
		h.Build, h.Features = 20348, []string{"Hyper-V"}
		return converged(), h
	case "iwarp":
		h := lab.NewHost("FILES", "Slot 3", "Slot 4", "John's spare")
		h.Build = 17763
		h.NICs[0].Mbps, h.NICs[1].Mbps = 100000, 100000
		h.NICs[2].Driver = "14.2.1"
		return chelsio(), h
	}
	h := lab.NewHost("N1", "smb_a", "smb_b")
	h.DHCP = []string{"{guid-0}"}
	return s2d(), h
}

// The scripts against a model of the host: apply, apply again, verify, undo.
func TestRun(t *testing.T) {
	for _, name := range []string{"s2d", "converged", "iwarp"} {
		t.Run(name, func(t *testing.T) {
			d, h := hostFor(name)
			s := scripts(d)
			before := snapshot(t, h, s)

			code, lines, _ := h.Run(s, applyFile, map[string]any{"whatif": true})
			expect(t, "-WhatIf", 2, code, lines)
			if len(h.Changes) > 0 || len(h.Files) > 0 {
				t.Fatalf("-WhatIf changes %v and writes %d files", h.Changes, len(h.Files))
			}

			code, lines, _ = h.Run(s, applyFile, nil)
			expect(t, "apply without -AllowRestart", 4, code, lines)
			if len(h.Restarts) > 0 {
				t.Fatalf("restarted %v without being told to", h.Restarts)
			}
			code, lines, _ = h.Run(s, verifyFile, nil)
			expect(t, "verify before the restart", 2, code, lines)

			code, lines, _ = h.Run(s, applyFile, map[string]any{"allowrestart": true})
			expect(t, "apply with -AllowRestart", 2, code, lines)
			h.Changes = nil
			code, lines, _ = h.Run(s, applyFile, map[string]any{"allowrestart": true})
			expect(t, "apply again", 0, code, lines)
			if len(h.Changes) > 0 {
				t.Errorf("the last apply changes %v", h.Changes)
			}
			if h.Most > 1 {
				t.Errorf("%d priorities were lossless at once", h.Most)
			}
			if name == "iwarp" {
				// The verified adapter is as the host has it.
				verified := h.NIC("Slot 4")
				verified.QoS, verified.RDMA, verified.Willing, verified.Property("*NetworkDirectTechnology").Value = true, true, false, "1"
			}
			code, lines, _ = h.Run(s, verifyFile, nil)
			expect(t, "verify", 0, code, lines)

			code, lines, _ = h.Run(s, undoFile, map[string]any{"snapshot": oldest(h), "allowrestart": true, "removeswitch": true})
			expect(t, "undo", 2, code, lines)
			if name == "iwarp" {
				verified := h.NIC("Slot 4")
				verified.QoS, verified.RDMA, verified.Willing, verified.Property("*NetworkDirectTechnology").Value = false, false, true, "0"
			}
			if testing.Verbose() {
				t.Log(strings.Join(lines, "\n"))
			}
			after := snapshot(t, h, s)
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("undo leaves (-before +after):\n%s", diff)
			}
		})
	}
}

// oldest is the snapshot of the first run.
func oldest(h *lab.Host) string {
	var names []string
	for f := range h.Files {
		if strings.Contains(f, "netqos-before-") {
			names = append(names, f)
		}
	}
	slices.Sort(names)
	return names[0]
}

// snapshot is the state of a host as capture.ps1 prints it, without the
// features that undo leaves installed.
func snapshot(t *testing.T, h *lab.Host, s map[string]string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(capture(t, h, s), &m); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"Features", "FlowControl", "TrafficClasses", "Dcbx"} {
		delete(m, k) // not readable before the feature is there
	}
	return m
}

func capture(t *testing.T, h *lab.Host, s map[string]string) []byte {
	t.Helper()
	code, lines, out := h.Run(s, captureFile, nil)
	expect(t, "capture", 0, code, lines)
	if len(out) != 1 {
		t.Fatalf("capture prints %d values", len(out))
	}
	return []byte(out[0].(string))
}

// What is read back after an apply is the intent, in every field that can be
// observed.
func TestRoundTrip(t *testing.T) {
	for _, name := range []string{"s2d", "converged", "iwarp"} {
		t.Run(name, func(t *testing.T) {
			d, h := hostFor(name)
			if name == "iwarp" {
				d.Ports[1].Verify = false
			}
			s := scripts(d)
			code, lines, _ := h.Run(s, applyFile, map[string]any{"allowrestart": true})
			if code != 2 && code != 4 {
				t.Fatalf("apply exits with %d:\n%s", code, strings.Join(lines, "\n"))
			}
			got, list := parse(d, targets.Captured{Files: map[string][]byte{readBack: capture(t, h, s)}})
			for _, f := range list {
				t.Errorf("finding: %s", f.Summary)
			}
			if diff := cmp.Diff(observed(t, d), got, cmpopts.EquateComparable(netip.Prefix{}, netip.Addr{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}

// observed is what of an intent a capture shows.
func observed(t *testing.T, d *intent.Device) *intent.Device {
	w := targettest.Clone(t, d)
	w.VLANs = nil
	for i := range w.Ports {
		p := &w.Ports[i]
		p.CableMm, p.Native = intent.Opt[uint32]{}, intent.Opt[uint16]{}
		if !p.Enabled.IsSet() {
			p.Enabled = intent.Some(true)
		}
		if !p.Mbps.IsSet() {
			p.Mbps = intent.Some(uint32(25000))
		}
		if !p.MTU.IsSet() {
			p.MTU = intent.Some(uint16(1500))
		}
		if teamMember(d, p.Name) {
			p.Tagged = intent.Opt[[]uint16]{}
		} else if !p.Tagged.IsSet() {
			p.Tagged = intent.Some([]uint16(nil))
		}
		n := p.NIC
		n.Firmware = ""
		n.DriverV = "24.4.26429.0"
		if p.Name == "John's spare" {
			n.DriverV = "14.2.1"
		}
		if !n.DCBX.IsSet() {
			n.DCBX = intent.Some(intent.DCBX{Mode: "willing"})
		}
		if rdmaVNICs(d, teamOf(d, p.Name)) {
			n.RDMA = intent.Some(true)
		}
		if !n.RDMA.IsSet() {
			n.RDMA = intent.Some(false)
		}
		if n.RDMAMTU == 0 {
			n.RDMAMTU = 1024 // what the driver had
		}
	}
	for i := range w.LAGs {
		w.LAGs[i].Tagged, w.LAGs[i].Native = intent.Opt[[]uint16]{}, intent.Opt[uint16]{}
	}
	for i := range w.Ifaces {
		f := &w.Ifaces[i]
		if f.Kind == intent.VNIC && !f.MTU.IsSet() {
			f.MTU = intent.Some(uint16(1500))
		}
	}
	return w
}

// The frame size of RoCE is set by the keyword that a driver lists, and never
// taken for granted.
func TestFrameSizeOfOtherDrivers(t *testing.T) {
	d, h := hostFor("s2d")
	for i := range d.Ports {
		d.Ports[i].NIC.Model, d.Ports[i].NIC.Driver = "intel/e810", "ice"
	}
	h.NICs[0].Property(frameSize).Keyword = "RdmaRoceFrameSize"
	h.NICs[1].Properties = slices.DeleteFunc(h.NICs[1].Properties, func(p *lab.Property) bool { return p.Keyword == frameSize })
	s := scripts(d)
	code, lines, _ := h.Run(s, applyFile, map[string]any{"allowrestart": true})
	expect(t, "apply", 2, code, lines)
	if p := h.NICs[0].Property("RdmaRoceFrameSize"); p.Value != "4096" {
		t.Errorf("the keyword of the driver is %s", p.Value)
	}
	code, lines, _ = h.Run(s, verifyFile, nil)
	expect(t, "verify", 0, code, lines)
	text := strings.Join(lines, "\n")
	for want, n := range map[string]int{
		"adapter 'smb_a' RdmaRoceFrameSize = 4096": 1,
		"adapter 'smb_b': expected is a RoCE frame size of 4096; the driver has a setting of its own for it, or none": 1,
		"adapter 'smb_a': expected is a RoCE frame size":                                                              0,
	} {
		if strings.Count(text, want) != n {
			t.Errorf("not %d times %q:\n%s", n, want, text)
		}
	}
	h.NICs[0].Property("RdmaRoceFrameSize").Value = "1024"
	got, _ := Target.Parse(d, captured(string(capture(t, h, s))))
	if size := got.Ports[0].NIC.RDMAMTU; size != 1024 {
		t.Errorf("the frame size is read as %d", size)
	}
}

// A driver that puts no tag on frames has no VLAN, whatever VlanID says; it comes back
// as it was. One without the choice is left alone.
func TestTagsOfDrivers(t *testing.T) {
	d, h := hostFor("s2d")
	h.NICs[0].Properties = append(h.NICs[0].Properties, &lab.Property{Keyword: vlanTag, Value: "0", Valid: []string{"0", "1", "2", "3"}})
	s := scripts(d)
	tag := h.NICs[0].Property(vlanTag)
	code, lines, _ := h.Run(s, applyFile, map[string]any{"allowrestart": true})
	expect(t, "apply", 2, code, lines)
	if tag.Value != "3" {
		t.Errorf("the driver is left with %s", tag.Value)
	}
	code, lines, _ = h.Run(s, verifyFile, nil)
	expect(t, "verify", 0, code, lines)
	for value, shown := range map[string]bool{"0": false, "1": false, "2": true, "3": true} {
		tag.Value = value
		got, _ := Target.Parse(d, captured(string(capture(t, h, s))))
		if tagged := len(got.Ports[0].Tagged.Value) > 0; tagged != shown || len(got.Ports[1].Tagged.Value) != 1 {
			t.Errorf("with %s the VLANs are read as %v and %v", value, got.Ports[0].Tagged, got.Ports[1].Tagged)
		}
	}
	tag.Value = "1"
	code, lines, _ = h.Run(s, verifyFile, nil)
	expect(t, "verify of another value", 2, code, lines)
	if text := strings.Join(lines, "\n"); !strings.Contains(text, vlanTag) || strings.Contains(text, "smb_b' "+vlanTag) {
		t.Error(text)
	}
	tag.Value = "3"
	code, lines, _ = h.Run(s, undoFile, map[string]any{"allowrestart": true})
	expect(t, "undo", 2, code, lines)
	if tag.Value != "0" {
		t.Errorf("undo leaves %s", tag.Value)
	}
}

// A policy takes both ways of a connection; one that takes what goes to the port
// alone is none of ours, and comes back as it was.
func TestPoliciesTakeBothWays(t *testing.T) {
	d, h := hostFor("iwarp")
	s := scripts(d)
	old := func(name string) *lab.Policy {
		return &lab.Policy{Name: name, Template: "None", Protocol: "TCP", Port: 3260, Toward: true, Priority: 4, DSCP: 18, Precedence: 127}
	}
	h.Policies = []*lab.Policy{old("iscsi")}
	code, lines, _ := h.Run(s, applyFile, nil)
	expect(t, "apply", 4, code, lines)
	if p := h.Policies[slices.IndexFunc(h.Policies, func(p *lab.Policy) bool { return p.Name == "iscsi" })]; p.Toward || p.Port != 3260 {
		t.Errorf("not both ways: %+v", p)
	}
	code, lines, _ = h.Run(s, undoFile, map[string]any{"allowrestart": true})
	expect(t, "undo", 2, code, lines)
	if diff := cmp.Diff([]*lab.Policy{old("iscsi")}, h.Policies); diff != "" {
		t.Errorf("not as before (-before +after):\n%s", diff)
	}

	h.Policies = []*lab.Policy{old("by hand")}
	code, lines, _ = h.Run(s, applyFile, nil)
	expect(t, "apply beside one of another name", 3, code, lines)
	if !strings.Contains(strings.Join(lines, "\n"), "policy 'by hand': it matches the traffic of 'iscsi'") {
		t.Error(strings.Join(lines, "\n"))
	}
}

func TestRestartsWaitForStorageAndGoRailByRail(t *testing.T) {
	d, h := hostFor("s2d")
	s := scripts(d)
	h.Jobs = 1 << 20
	code, lines, _ := h.Run(s, applyFile, map[string]any{"allowrestart": true})
	expect(t, "apply while a job runs", 4, code, lines)
	if len(h.Restarts) > 0 {
		t.Fatalf("restarted %v while a storage job ran", h.Restarts)
	}
	h.Jobs = 2
	code, lines, _ = h.Run(s, applyFile, map[string]any{"allowrestart": true})
	expect(t, "apply when the job has ended", 2, code, lines)
	if diff := cmp.Diff([]string{"smb_a", "smb_b"}, h.Restarts); diff != "" {
		t.Errorf("restarts:\n%s", diff)
	}
}

func TestPendingRestartEndsWithABoot(t *testing.T) {
	d, h := hostFor("s2d")
	s := scripts(d)
	h.Run(s, applyFile, nil)
	code, lines, _ := h.Run(s, applyFile, nil)
	expect(t, "apply again without a restart", 4, code, lines)
	h.Boot += 3600
	code, lines, _ = h.Run(s, applyFile, nil)
	expect(t, "apply after a boot", 0, code, lines)
}

func TestPreconditions(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*lab.Host)
		says  string
	}{
		{"another host", func(h *lab.Host) { h.Computer = "N2" }, "this computer is 'N2'"},
		{"an older build", func(h *lab.Host) { h.Build = 20348 }, "build 26100"},
		{"no such adapter", func(h *lab.Host) { h.NICs[1].Name = "Ethernet 2" }, "0 adapters fit"},
		{"a driver without jumbo frames of that size", func(h *lab.Host) { h.NICs[0].Property("*JumboPacket").Most = "4088" }, "the driver takes 614 to 4088"},
		{"a driver without RoCEv2", func(h *lab.Host) { h.NICs[0].Property("*NetworkDirectTechnology").Valid = []string{"0", "1"} }, "cannot be 4, the driver takes 0, 1"},
		{"a driver without VLANs", func(h *lab.Host) { h.NICs[0].Properties = h.NICs[0].Properties[:6] }, "does not list VlanID"},
		{"an LBFO team", func(h *lab.Host) { h.NICs[0].Bound = []string{"ms_implat"} }, "LBFO"},
		{"no DCB", func(h *lab.Host) { h.NICs[1].DCB = false }, "has no DCB"},
		{"no RDMA", func(h *lab.Host) { h.NICs[1].RDMAAble = false }, "has no RDMA"},
		{"too few traffic classes", func(h *lab.Host) { h.NICs[1].Classes = 2 }, "2 traffic classes, 3 are wanted"},
		{"a policy in the way", func(h *lab.Host) {
			h.Policies = []*lab.Policy{{Name: "SMB", NetDirect: 445, Priority: 3, DSCP: -1, Template: "None", Protocol: "None"}}
		}, "-ReplaceConflicting"},
		{"a traffic class in the way", func(h *lab.Host) {
			h.Classes = []*lab.Class{{Name: "SMB", Algorithm: "ETS", Percent: 60, Priorities: []any{int64(3)}}}
		}, "-ReplaceConflicting"},
		{"an adapter of another switch", func(h *lab.Host) {
			h.Features = append(h.Features, "Hyper-V")
			h.NICs[0].Bound = []string{"vms_pp"}
			h.Switches = []*lab.Switch{{Name: "vmnet", Members: []string{h.NICs[0].Description}, Algorithm: "Dynamic"}}
		}, "belongs to the virtual switch 'vmnet'"},
		{"a group policy", func(h *lab.Host) {
			h.GPO = []*lab.Policy{{Name: "Domain SMB", NetDirect: 445, Priority: 4, DSCP: -1, Template: "None", Protocol: "None"}}
		}, "a group policy decides"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, h := hostFor("s2d")
			h.Features = []string{"Data-Center-Bridging"}
			c.spoil(h)
			code, lines, _ := h.Run(scripts(d), applyFile, nil)
			expect(t, "apply", 3, code, lines)
			if !strings.Contains(strings.Join(lines, "\n"), c.says) {
				t.Errorf("want %q in:\n%s", c.says, strings.Join(lines, "\n"))
			}
			if len(h.Changes) > 0 {
				t.Errorf("changed %v before it refused", h.Changes)
			}
		})
	}
}

// Traffic classes of every kind of beginning become the wanted ones; the model
// refuses every step at which the shares leave nothing to [Default].
func TestClassesNeverExceedTheLink(t *testing.T) {
	three := []any{int64(3)}
	seven := []any{int64(7)}
	for i, classes := range [][]*lab.Class{
		{{Name: "SMB_Direct", Algorithm: "ETS", Percent: 98, Priorities: three}, {Name: "Cluster", Algorithm: "ETS", Percent: 1, Priorities: seven}},
		{{Name: "SMB_Direct", Algorithm: "ETS", Percent: 1, Priorities: three}, {Name: "Cluster", Algorithm: "ETS", Percent: 98, Priorities: seven}},
		{{Name: "SMB_Direct", Algorithm: "ETS", Percent: 90, Priorities: seven}, {Name: "Cluster", Algorithm: "ETS", Percent: 9, Priorities: three}},
		{{Name: "SMB_Direct", Algorithm: "Strict", Percent: 0, Priorities: three}, {Name: "Cluster", Algorithm: "ETS", Percent: 99, Priorities: []any{int64(7), int64(5)}}},
		{{Name: "SMB", Algorithm: "ETS", Percent: 60, Priorities: three}, {Name: "Backup", Algorithm: "ETS", Percent: 39, Priorities: []any{int64(4)}}},
		{{Name: "SMB_Direct", Algorithm: "ETS", Percent: 50, Priorities: []any{int64(3), int64(4)}}, {Name: "Other", Algorithm: "ETS", Percent: 49, Priorities: seven}},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			d, h := hostFor("s2d")
			h.Features, h.Classes = []string{"Data-Center-Bridging"}, classes
			h.PFC = [8]bool{4: true}
			h.Policies = []*lab.Policy{
				{Name: "SMB", NetDirect: 445, Priority: 4, DSCP: -1, Template: "None", Protocol: "None", Precedence: 200},
				{Name: "iSCSI", Template: "iSCSI", Protocol: "None", Priority: 4, DSCP: -1, Precedence: 127},
			}
			s := scripts(d)
			old := capture(t, h, s)
			code, lines, _ := h.Run(s, applyFile, map[string]any{"allowrestart": true, "replaceconflicting": true})
			expect(t, "apply", 2, code, lines)
			code, lines, _ = h.Run(s, verifyFile, nil)
			expect(t, "verify", 0, code, lines)
			if h.Most > 1 {
				t.Errorf("%d priorities were lossless at once", h.Most)
			}
			code, lines, _ = h.Run(s, undoFile, map[string]any{"allowrestart": true})
			expect(t, "undo", 2, code, lines)
			if diff := cmp.Diff(tables(t, old), tables(t, capture(t, h, s))); diff != "" {
				t.Errorf("undo leaves (-before +after):\n%s", diff)
			}
		})
	}
}

// tables are the host-wide QoS tables of a capture, in the order of names.
func tables(t *testing.T, b []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	for _, c := range m["TrafficClasses"].([]any) {
		slices.SortFunc(c.(map[string]any)["Priority"].([]any), func(a, b any) int { return int(a.(float64) - b.(float64)) })
	}
	for _, k := range []string{"Policies", "TrafficClasses"} {
		slices.SortFunc(m[k].([]any), func(a, b any) int {
			return strings.Compare(a.(map[string]any)["Name"].(string), b.(map[string]any)["Name"].(string))
		})
	}
	return map[string]any{"policies": m["Policies"], "classes": m["TrafficClasses"], "pfc": m["FlowControl"]}
}

// The vendor's DscpForGlobalFlowControl ends in the word *FlowControl matches.
func TestVendorKeywordsAreLeftAlone(t *testing.T) {
	d, h := hostFor("s2d")
	h.Run(scripts(d), applyFile, nil)
	if v := h.NICs[0].Property("DscpForGlobalFlowControl").Value; v != "26" {
		t.Errorf("DscpForGlobalFlowControl is %s", v)
	}
	if v := h.NICs[0].Property("*FlowControl").Value; v != "0" {
		t.Errorf("*FlowControl is %s", v)
	}
}

func TestSwappedNames(t *testing.T) {
	d := s2d()
	d.Ports[0].NIC.PCI, d.Ports[1].NIC.PCI = "0000:3b:00.0", "0000:3b:00.1"
	h := lab.NewHost("n1.corp.example.com", "smb_b", "smb_a")
	h.Computer = "n1"
	code, lines, _ := h.Run(scripts(d), applyFile, map[string]any{"allowrestart": true})
	expect(t, "apply", 2, code, lines)
	if h.NICs[0].Name != "smb_a" || h.NICs[1].Name != "smb_b" {
		t.Errorf("names are %q and %q", h.NICs[0].Name, h.NICs[1].Name)
	}
	if v := h.NICs[1].Property("VlanID").Value; v != "712" {
		t.Errorf("VLAN of the second is %s", v)
	}
}

// A member that others put into the switch is not taken out of it.
func TestForeignTeamMember(t *testing.T) {
	d, h := hostFor("converged")
	more := lab.NewHost("HV07", "Ethernet 7").NICs[0]
	more.Description, more.GUID, more.PCI, more.MAC, more.Bound = "another", "{guid-9}", [4]int64{0, 0x5e, 0, 0}, "B83FD2000009", []string{"vms_pp"}
	h.NICs = append(h.NICs, more)
	h.Switches = []*lab.Switch{{Name: "team", Members: []string{more.Description}, Algorithm: "HyperVPort"}}
	code, lines, _ := h.Run(scripts(d), applyFile, map[string]any{"allowrestart": true})
	expect(t, "apply", 3, code, lines)
	if !strings.Contains(strings.Join(lines, "\n"), "has the member 'Ethernet 7'") {
		t.Errorf("says:\n%s", strings.Join(lines, "\n"))
	}
}

// A switch on the adapter with the default route would cut the host off.
func TestSwitchIsNotMadeOnTheManagementAdapter(t *testing.T) {
	d, h := hostFor("converged")
	h.Routes = [][2]string{{"{guid-0}", "192.0.2.1"}}
	code, lines, _ := h.Run(scripts(d), applyFile, map[string]any{"allowrestart": true})
	expect(t, "apply", 3, code, lines)
	code, lines, _ = h.Run(scripts(d), applyFile, map[string]any{"allowrestart": true, "allowdisconnect": true})
	expect(t, "apply at a console", 2, code, lines)
}
