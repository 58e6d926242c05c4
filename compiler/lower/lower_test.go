package lower

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/schema"
)

var update = flag.Bool("update", false, "rewrite the expected intents")

func facts(t testing.TB, d *draft) *derive.Facts {
	t.Helper()
	f, diags := derive.Compute(d.Fabric, derive.Options{})
	if len(diags) > 0 {
		t.Fatalf("unexpected finding: %s", diags[0].Summary)
	}
	return f
}

func TestDevice(t *testing.T) {
	for name, make := range map[string]func() (*draft, fabric.DeviceID){
		"s2d-node":    func() (*draft, fabric.DeviceID) { d, n, _ := s2d(); return d, n },
		"s2d-tor":     func() (*draft, fabric.DeviceID) { d, _, s := s2d(); return d, s },
		"nvmeof-node": func() (*draft, fabric.DeviceID) { d, n, _ := nvmeof(); return d, n },
		"nvmeof-leaf": func() (*draft, fabric.DeviceID) { d, _, s := nvmeof(); return d, s },
		"mlag-a":      func() (*draft, fabric.DeviceID) { d, a, _ := mlag(); return d, a },
		"mlag-host":   func() (*draft, fabric.DeviceID) { d, _, b := mlag(); return d, b + 1 },
	} {
		t.Run(name, func(t *testing.T) {
			d, id := make()
			dev := Device(d.Fabric, facts(t, d), id)
			got, err := json.MarshalIndent(dev, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			file := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Error(diff)
			}
			check(t, dev)
		})
	}
}

// check is what holds in every intent: what is named exists, lists are ordered.
func check(t *testing.T, d *intent.Device) {
	t.Helper()
	names := map[string]bool{}
	for _, p := range d.Ports {
		names[p.Name] = true
		if p.QoS != "" && !slices.ContainsFunc(d.QoS, func(q intent.QoS) bool { return q.Name == p.QoS }) {
			t.Errorf("port %s names qos %q", p.Name, p.QoS)
		}
		if !slices.IsSorted(p.Tagged.Value) {
			t.Errorf("tagged VLANs of %s: %v", p.Name, p.Tagged.Value)
		}
	}
	for _, l := range d.LAGs {
		names[l.Name] = true
		for _, m := range l.Members {
			if !names[m] {
				t.Errorf("LAG %s has member %q", l.Name, m)
			}
		}
	}
	for _, i := range d.Ifaces {
		if i.On != "" && !names[i.On] || i.Pin != "" && !names[i.Pin] {
			t.Errorf("interface %s is on %q, pinned to %q", i.Name, i.On, i.Pin)
		}
	}
	if d.MLAG != nil && d.MLAG.PeerLink != "" && !names[d.MLAG.PeerLink] {
		t.Errorf("peer link %q", d.MLAG.PeerLink)
	}
	for _, q := range d.QoS {
		sum, used := 0, false
		for _, s := range q.Sched.Value {
			sum, used = sum+int(s.Percent), used || s.Kind == intent.SchedETS
		}
		if used && sum != 100 {
			t.Errorf("shares of %s sum to %d", q.Name, sum)
		}
	}
}

func TestDeviceTwice(t *testing.T) {
	for _, make := range []func() (*draft, fabric.DeviceID, fabric.DeviceID){s2d, nvmeof, mlag} {
		d, a, b := make()
		f := facts(t, d)
		for _, id := range []fabric.DeviceID{a, b} {
			if x, y := Device(d.Fabric, f, id), Device(d.Fabric, f, id); intent.Digest(x) != intent.Digest(y) || !reflect.DeepEqual(x, y) {
				t.Errorf("device %d: %s", id, cmp.Diff(x, y))
			}
		}
	}
}

// The two halves of a pair differ in what each is, and in nothing else.
func TestHalvesOfAPair(t *testing.T) {
	d, a, b := mlag()
	d.Ports[d.Devices[a].First+3].Manage = fabric.Full
	f := facts(t, d)
	x, y := Device(d.Fabric, f, a), Device(d.Fabric, f, b)
	y.Name, y.MLAG.Peer = x.Name, x.MLAG.Peer
	y.MLAG.Source, y.MLAG.PeerAddress = y.MLAG.PeerAddress, y.MLAG.Source
	y.Ifaces[0].Addresses = x.Ifaces[0].Addresses
	if intent.Digest(x) != intent.Digest(y) {
		a, _ := json.Marshal(x)
		b, _ := json.Marshal(y)
		t.Errorf("%s\n%s", a, b)
	}
}

func TestManage(t *testing.T) {
	d, node, tor := s2d()
	f := facts(t, d)
	d.Devices[node].Manage = fabric.HandsOff
	if Device(d.Fabric, f, node) != nil {
		t.Error("a device taken as declared has an intent")
	}
	d.Devices[tor].Manage = fabric.Verify
	d.Ports[d.port(tor, "Ethernet0")].Manage = fabric.HandsOff
	dev := Device(d.Fabric, f, tor)
	for _, p := range dev.Ports {
		if p.Name == "Ethernet0" || !p.Verify {
			t.Errorf("port %s, verify %t", p.Name, p.Verify)
		}
	}
	d.Devices[node].Manage = fabric.Full
	for _, p := range []string{"smb_a", "smb_b"} {
		d.Ports[d.port(node, p)].Manage = fabric.HandsOff
	}
	if dev := Device(d.Fabric, f, node); len(dev.Ports)+len(dev.LAGs)+len(dev.Ifaces)+len(dev.QoS) > 0 {
		t.Errorf("nothing of the node is managed: %+v", dev)
	}
}

// Ports of one contract with other values get values of their own, in the order
// of the ports; a name that is taken is passed over.
func TestNamesOfQoS(t *testing.T) {
	d := newDraft()
	q := d.contract("roce", fabric.TrustDSCP, d.storage()...)
	other := d.contract("roce-2", fabric.TrustPCP, d.storage()...)
	odd := d.contract("wört er", fabric.TrustDSCP, d.storage()...)
	tor := d.device("tor", "sonic", "202405", d.spectrum(), "Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12", "Ethernet16", "Ethernet20")
	plainQ, deviating := d.profile(q, false, nil), d.profile(q, false, func(p *fabric.Profile) { p.Pause, p.PauseSet = true, true })
	same := d.profile(q, false, func(p *fabric.Profile) { p.Deviates = fabric.DeviatesTrust }) // restates what it has anyway
	for i, p := range []fabric.ProfileID{plainQ, d.profile(other, false, nil), deviating, plainQ, same, d.profile(odd, false, nil)} {
		port := &d.Ports[d.Devices[tor].First+fabric.PortID(i)]
		port.Profile, port.Mbps, port.MTU = p, 100_000, 9100
	}
	d.Ports[d.port(tor, "Ethernet12")].Mbps = 25_000 // other thresholds
	dev := Device(d.Fabric, facts(t, d), tor)
	var names []string
	for _, p := range dev.Ports {
		names = append(names, p.QoS)
	}
	if diff := cmp.Diff([]string{"roce", "roce-2", "roce-3", "roce-4", "roce", "w_rt_er"}, names); diff != "" {
		t.Error(diff)
	}
	if len(dev.QoS) != 5 {
		t.Errorf("%d values", len(dev.QoS))
	}
	if p := dev.QoS[2].Pause; !p.IsSet() || !p.Value {
		t.Errorf("pause of %s is %+v", dev.QoS[2].Name, p)
	}
}

func TestWatchdog(t *testing.T) {
	on := intent.Some(intent.Watchdog{On: true})
	for _, tt := range []struct {
		name     string
		os       string
		watchdog fabric.Watchdog
		pfc      bool
		want     intent.Opt[intent.Watchdog]
	}{
		{name: "by itself", os: "sonic", pfc: true, want: on},
		{name: "auto", os: "sonic", watchdog: fabric.Watchdog{Mode: fabric.Auto}, pfc: true, want: on},
		{name: "lossy", os: "sonic", watchdog: fabric.Watchdog{Mode: fabric.Auto}},
		{name: "a device without", os: "other", pfc: true},
		{name: "off", os: "sonic", watchdog: fabric.Watchdog{Mode: fabric.Off}, pfc: true, want: intent.Some(intent.Watchdog{})},
		{name: "off where there is none", os: "other", watchdog: fabric.Watchdog{Mode: fabric.Off}, pfc: true},
		{name: "kept", os: "sonic", watchdog: fabric.Watchdog{Mode: fabric.Keep}, pfc: true, want: intent.Kept(intent.Watchdog{})},
		{
			name: "written, for the target to refuse", os: "other", watchdog: fabric.Watchdog{Mode: fabric.Written, DetectMs: 200, RestoreMs: 400, PollMs: 100, Action: fabric.Forward}, pfc: true,
			want: intent.Some(intent.Watchdog{On: true, DetectMs: 200, RestoreMs: 400, PollMs: 100, Action: "forward"}),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDraft()
			classes := d.storage()
			classes[0].Lossless = tt.pfc
			q := d.contract("roce", fabric.TrustDSCP, classes...)
			tor := d.device("tor", tt.os, "", d.spectrum(), "Ethernet0")
			d.Ports[d.Devices[tor].First].Profile = d.profile(q, false, func(p *fabric.Profile) { p.Watchdog = tt.watchdog })
			dev := Device(d.Fabric, facts(t, d), tor)
			if got := dev.QoS[0].Watchdog; got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if want := (intent.Opt[bool]{}); !tt.pfc && dev.QoS[0].Pause != want {
				t.Errorf("pause of a lossy port is %+v", dev.QoS[0].Pause)
			}
		})
	}
}

func TestRewrite(t *testing.T) {
	build := func(remap bool, priority uint8) intent.Opt[[8]uint8] {
		d := newDraft()
		classes := d.storage()
		classes[0].Remap = remap
		q := d.contract("roce", fabric.TrustDSCP, classes...)
		tor := d.device("tor", "sonic", "202405", d.spectrum(), "Ethernet0")
		d.Ports[d.Devices[tor].First].Profile = d.profile(q, false, func(p *fabric.Profile) { p.On[0].Priority = priority })
		return Device(d.Fabric, facts(t, d), tor).QoS[0].Rewrite
	}
	if got, want := build(true, 4), intent.Some([8]uint8{4: 26, 6: 48}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := build(true, 3); got.State != intent.Unmanaged {
		t.Errorf("without a difference: %+v", got)
	}
	if got := build(false, 4); got.State != intent.Unmanaged {
		t.Errorf("not declared: %+v", got)
	}
}

func TestECNStates(t *testing.T) {
	for mode, want := range map[fabric.Mode]intent.State{
		fabric.Unwritten: intent.Unmanaged, fabric.Off: intent.Set, fabric.Auto: intent.Set, fabric.Written: intent.Set, fabric.Keep: intent.Default,
	} {
		d := newDraft()
		classes := d.storage()
		classes[0].ECN = fabric.ECN{Mode: mode}
		q := d.contract("roce", fabric.TrustDSCP, classes...)
		tor := d.device("tor", "sonic", "202405", d.spectrum(), "Ethernet0")
		port := &d.Ports[d.Devices[tor].First]
		port.Profile, port.Mbps = d.profile(q, false, nil), 100_000
		got := Device(d.Fabric, facts(t, d), tor).QoS[0].ECN
		if on := mode == fabric.Auto || mode == fabric.Written; got.State != want || got.Value[3].On != on {
			t.Errorf("mode %d: %+v", mode, got)
		}
	}
}

func TestHosts(t *testing.T) {
	build := func(edit func(*fabric.QoS, *fabric.Profile)) (*intent.NIC, *intent.QoS) {
		d := newDraft()
		q := d.contract("roce", fabric.TrustDSCP, d.storage()...)
		node := d.device("h", "ubuntu", "24.04", 0, "eth0")
		p := d.Devices[node].First
		d.nic(p, fabric.NIC{Model: d.connectx()})
		d.Ports[p].MTU = 9000
		d.Ports[p].Profile = d.profile(q, true, func(p *fabric.Profile) { edit(&d.QoS[q], p) })
		dev := Device(d.Fabric, facts(t, d), node)
		return dev.Ports[0].NIC, &dev.QoS[0]
	}
	nic, q := build(func(*fabric.QoS, *fabric.Profile) {})
	if nic.DCBX != intent.Some(intent.DCBX{Mode: "off"}) || nic.RoCE != intent.Some("v2") || nic.RDMA != intent.Some(true) || nic.RDMAMTU != 4096 {
		t.Errorf("got %+v", nic)
	}
	if q.Marks[0].DSCP != intent.Some(uint8(26)) || !q.Marks[0].ECT || q.Marks[0].Congestion != "" || q.Marks[1].DSCP != intent.Some(uint8(48)) || q.Marks[2].DSCP.IsSet() {
		t.Errorf("got %+v", q.Marks)
	}
	if q.Group.IsSet() || q.ECN.IsSet() || q.PFCQueue.IsSet() || q.Watchdog.IsSet() {
		t.Errorf("a host has what is of switches: %+v", q)
	}
	nic, _ = build(func(_ *fabric.QoS, p *fabric.Profile) {
		p.DCBX = fabric.DCBX{Mode: fabric.DCBXWilling, VersionSet: true, CEE: true, Owner: fabric.OwnerLLDPAD}
	})
	if nic.DCBX.Value.Mode != "off" {
		t.Errorf("the dcbx of a qos reached a host: %+v", nic.DCBX)
	}
	nic, _ = build(func(_ *fabric.QoS, p *fabric.Profile) {
		p.DCBX = fabric.DCBX{Mode: fabric.DCBXWilling, VersionSet: true, CEE: true, Owner: fabric.OwnerLLDPAD}
		p.Deviates = fabric.DeviatesDCBX
	})
	if nic.DCBX != intent.Some(intent.DCBX{Mode: "willing", Version: "cee", Owner: "lldpad"}) {
		t.Errorf("restated dcbx: %+v", nic.DCBX)
	}
	if q.PCP.IsSet() || q.DSCP.Value[26] != 3 {
		t.Errorf("maps under trust in DSCP: %+v, %+v", q.DSCP, q.PCP)
	}
	_, q = build(func(_ *fabric.QoS, p *fabric.Profile) { p.Trust = fabric.TrustPCP })
	if q.Marks[0].DSCP != intent.Some(uint8(26)) || q.DSCP.IsSet() || q.PCP != intent.Some([8]uint8{0, 1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("trusting PCP: %+v, %+v, %+v", q.DSCP, q.PCP, q.Marks[0])
	}
	_, q = build(func(_ *fabric.QoS, p *fabric.Profile) { p.Trust, p.PCP[4] = fabric.TrustPCP, 3 })
	if want := intent.Some([8]uint8{0, 1, 2, 3, 3, 5, 6, 7}); q.PCP != want {
		t.Errorf("a PCP in a class that is served otherwise: %+v", q.PCP)
	}
	_, q = build(func(_ *fabric.QoS, p *fabric.Profile) { p.PCP[4], p.Deviates = 0, fabric.DeviatesPCP })
	if want := intent.Some([8]uint8{3: 3, 6: 6}); q.PCP != want {
		t.Errorf("a restated map: %+v", q.PCP)
	}
	_, q = build(func(c *fabric.QoS, _ *fabric.Profile) { c.Classes[0].MarkByApplication = true })
	if q.Marks[0].DSCP.IsSet() || !q.Marks[0].Application {
		t.Errorf("marked by the application: %+v", q.Marks[0])
	}
	nic, q = build(func(c *fabric.QoS, _ *fabric.Profile) { c.Classes[0].Transport = fabric.IWARP })
	if !nic.IWARP || nic.RoCE.IsSet() || nic.RDMAMTU != 0 || q.Marks[0].ECT || q.Marks[0].Transport != "iwarp" {
		t.Errorf("iWARP: %+v, %+v", nic, q.Marks[0])
	}
	nic, _ = build(func(c *fabric.QoS, _ *fabric.Profile) { c.Classes[0].Transport = fabric.RoCEv1 })
	if nic.RoCE != intent.Some("v1") {
		t.Errorf("RoCE v1: %+v", nic.RoCE)
	}
	nic, _ = build(func(c *fabric.QoS, _ *fabric.Profile) { c.Classes[0].Carries = fabric.CarriesOther })
	if nic.RDMA.IsSet() || nic.RoCE.IsSet() || nic.RDMAMTU != 0 {
		t.Errorf("no RDMA: %+v", nic)
	}
}

// The VRF of a segment reaches its hosts in the fabric's rows, not in their intents.
func TestVRF(t *testing.T) {
	d, node, tor := s2d()
	for i := range d.Ifaces {
		d.Ifaces[i].VRF = d.s("Vrf-blue")
	}
	written := d.decl(`interface "vMgmt"`, d.Devices[node].Decl, schema.AVRF)
	d.Ifaces[3].Decl = written
	f := facts(t, d)
	var got []string
	for _, id := range []fabric.DeviceID{node, tor} {
		for _, i := range Device(d.Fabric, f, id).Ifaces {
			got = append(got, i.Name+" "+i.VRF)
		}
	}
	if diff := cmp.Diff([]string{"vMgmt Vrf-blue", "vSMBA ", "vSMBB ", "Vlan10 Vrf-blue"}, got); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkDevice(b *testing.B) {
	d := newDraft()
	q := d.contract("roce", fabric.TrustDSCP, d.storage()...)
	var names []string
	for i := range 64 {
		names = append(names, "Ethernet"+string(rune('0'+i/10))+string(rune('0'+i%10)))
	}
	tor := d.device("leaf", "sonic", "202405", d.spectrum(), names...)
	node := d.device("gpu", "ubuntu", "24.04", 0, names[:8]...)
	model, onSwitch, onHost, set := d.connectx(), d.profile(q, false, nil), d.profile(q, true, nil), d.vlans(d.segment("s", 10, 9000), d.segment("t", 20, 9000))
	for i := range fabric.PortID(64) {
		p := &d.Ports[d.Devices[tor].First+i]
		p.Mbps, p.MTU, p.Profile, p.VLANs, p.Flags = 400_000, 9216, onSwitch, set, fabric.MTUSet
	}
	for i := range fabric.PortID(8) {
		x := d.Devices[node].First + i
		d.nic(x, fabric.NIC{Model: model})
		p := &d.Ports[x]
		p.Mbps, p.MTU, p.Profile, p.Flags = 400_000, 9000, onHost, fabric.MTUSet
		d.cable(d.Devices[tor].First+i, x, 3_000)
		d.iface(fabric.Iface{Device: node, Name: p.Name, Kind: fabric.DirectIface, On: x, RDMA: true, MTU: 9000, Addresses: d.prefixes("10.0.0.1/24")})
	}
	f := facts(b, d)
	for name, id := range map[string]fabric.DeviceID{"switch of 64 ports": tor, "node of 8": node} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Device(d.Fabric, f, id)
			}
		})
	}
}
