package verify_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/google/go-cmp/cmp"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/verify"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/linux"
	"github.com/rocec/rocec/targets/sonic"
)

// host is the node of the examples: one port with a lossless class on priority 3.
func host() (*intent.Device, *verify.Expect) {
	d := &intent.Device{
		Version: intent.Version, Name: "gpu1", Kind: intent.Node, OS: intent.OS{Name: "ubuntu", Version: "24.04"},
		QoS: []intent.QoS{{Name: "roce", PFC: intent.Some(intent.PrioritySet(0).With(3))}},
		Ports: []intent.Port{{
			Name: "rail0", Mbps: intent.Some(uint32(100000)), MTU: intent.Some(uint16(9000)), QoS: "roce",
			NIC: &intent.NIC{Model: "nvidia/connectx-6-dx", Driver: "mlx5", PCI: "0000:3b:00.0", RDMA: intent.Some(true)},
		}},
	}
	return d, &verify.Expect{GPUDirect: true, RDMA: true, Ports: map[string]verify.ExpectPort{
		"rail0": {PCIeGen: 4, PCIeLanes: 16, GID: 3, Marked: intent.PrioritySet(0).With(3)},
	}}
}

// found are the findings of an example: of settings as captured, or of health
// before and after.
func found(t *testing.T, target *targets.Target, d *intent.Device, x *verify.Expect, text string) diag.List {
	t.Helper()
	folders := map[string]targets.Captured{}
	for _, f := range txtar.Parse([]byte(text)).Files {
		folder, file, _ := strings.Cut(f.Name, "/")
		if folders[folder].Files == nil {
			folders[folder] = targets.Captured{Files: map[string][]byte{}}
		}
		folders[folder].Files[file] = f.Data
	}
	if c, ok := folders["capture"]; ok {
		r := verify.Compare("node."+d.Name, d, target, c)
		if r.Status == verify.Unknown {
			t.Fatalf("%s: %+v", r.Reason, r.Findings)
		}
		return r.Settings(d)
	}
	read := func(c targets.Captured) *targets.Vitals {
		v, list := target.Health.Read(d, c)
		if len(list) > 0 {
			t.Fatalf("%+v", list)
		}
		return v
	}
	var before *targets.Vitals
	if c, ok := folders["before"]; ok {
		before = read(c)
	}
	return verify.Health("node."+d.Name, d, x, before, read(folders["after"]), 10*time.Second)
}

// TestRules executes the examples of the rules that only a device can decide.
func TestRules(t *testing.T) {
	ids := map[string]bool{}
	for _, r := range verify.Rules {
		if ids[r.ID] || r.Name == "" || r.Title == "" || r.Why == "" || r.Fix == "" || r.Source == "" || r.When != diag.Live {
			t.Errorf("%s says too little of itself", r.ID)
		}
		ids[r.ID] = true
		d, x := host()
		if r.ID == "ROCE753" { // of a host with rails that is compared
			d.Verify = true
			for i, rail := range []string{"rail0", "rail1"} {
				d.Ifaces = append(d.Ifaces, intent.Iface{
					Name: rail, Kind: intent.Direct, On: rail, RDMA: true,
					Addresses: intent.Some([]netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i), 0, 1}), 24)}),
				})
			}
		}
		bad, good := found(t, &linux.Target, d, x, r.Bad), found(t, &linux.Target, d, x, r.Good)
		if len(bad) != 1 || bad[0].Rule != r.ID || bad[0].Severity != r.Severity {
			t.Errorf("%s: the bad example finds %+v", r.ID, bad)
		}
		if len(good) > 0 {
			t.Errorf("%s: the good example finds %+v", r.ID, good)
		}
	}
}

// The halves of rules whose other half the compiler decides.
func TestHalves(t *testing.T) {
	gids := func(index, address, kind string) string {
		dir := "/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/"
		return "-- after/health/rail0/gids.txt --\n" + dir + "gids/" + index + ":" + address + "\n" + dir + "gid_attrs/types/" + index + ":" + kind + "\n"
	}
	for name, c := range map[string]struct{ text, want string }{
		"acs on":         {"-- after/health/acs.txt --\n3a:00.0 PCI bridge: PLX\n\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+\n3c:00.0 PCI bridge: PLX\n\t\tACSCtl:\tSrcValid- TransBlk-\n", "ROCE113 node.gpu1 has access control services on at 3a:00.0: what its GPUs and NICs send each other goes through the root complex"},
		"acs off":        {"-- after/health/acs.txt --\n3a:00.0 PCI bridge: PLX\n\t\tACSCtl:\tSrcValid- TransBlk-\n", ""},
		"two agents":     {"-- after/health/lldpad.txt --\nactive\n-- after/health/rail0/dcbx.json --\n{\"host\":false,\"lld-managed\":true,\"cee\":false,\"ieee\":true,\"static\":false}\n", `ROCE217 node.gpu1.nic["rail0"] has DCBX of its firmware, and lldpad speaks it as well`},
		"one agent":      {"-- after/health/lldpad.txt --\ninactive\n-- after/health/rail0/dcbx.json --\n{\"lld-managed\":true}\n", ""},
		"dcqcn off":      {"-- after/health/rail0/ecn.txt --\n/sys/class/net/rail0/ecn/roce_np/enable/3:0\n/sys/class/net/rail0/ecn/roce_rp/enable/3:1\n", `ROCE412 node.gpu1.nic["rail0"] has DCQCN off on priorities [3], which switches mark`},
		"of another":     {"-- after/health/rail0/ecn.txt --\n/sys/class/net/rail0/ecn/roce_np/enable/2:0\n/sys/class/net/rail0/ecn/roce_np/enable/3:1\n", ""},
		"memlock":        {"-- after/health/limits.txt --\nLimit                     Soft Limit           Hard Limit           Units     \nMax locked memory         8388608              8388608              bytes     \n", "ROCE714 node.gpu1 lets a login lock 8388608 bytes of memory, and RDMA registers more"},
		"no limit":       {"-- after/health/limits.txt --\nMax locked memory         unlimited            unlimited            bytes     \n", ""},
		"GID of v1":      {gids("3", "0000:0000:0000:0000:0000:ffff:0a01:0001", "IB/RoCE v1"), `ROCE715 node.gpu1.nic["rail0"] has at GID 3 an address of type IB/RoCE v1`},
		"GID link-local": {gids("3", "fe80:0000:0000:0000:0e42:a1ff:fe00:0001", "RoCE v2"), `ROCE715 node.gpu1.nic["rail0"] has at GID 3 a link-local address`},
		"no such GID":    {gids("1", "fe80:0000:0000:0000:0e42:a1ff:fe00:0001", "RoCE v2"), `ROCE715 node.gpu1.nic["rail0"] has no GID 3`},
		"GID":            {gids("3", "0000:0000:0000:0000:0000:ffff:0a01:0001", "RoCE v2"), ""},
		"storms": {
			"-- after/health/rail0/storm.txt --\npfc-prevention-tout: 8000\n",
			`ROCE732 node.gpu1.nic["rail0"] may pause its switch for 8000 ms when its host takes nothing`,
		},
		"endless storms": {
			"-- after/health/rail0/storm.txt --\npfc-prevention-tout: 0\n",
			`ROCE732 node.gpu1.nic["rail0"] may pause its switch without end when its host takes nothing`,
		},
		"storms end":  {"-- after/health/rail0/storm.txt --\npfc-prevention-tout: 100\n", ""},
		"no tunable":  {"-- after/health/rail0/storm.txt --\npfc-prevention-tout: Cannot get tunable\n", ""},
		"modules":     {"-- after/health/modules.txt --\nib_uverbs\nmlx5_core\nrdma_cm\n", "ROCE716 node.gpu1 has not loaded mlx5_ib"},
		"all modules": {"-- after/health/modules.txt --\nib_uverbs\nmlx5_core\nmlx5_ib\nrdma_cm\n", ""},
	} {
		d, x := host()
		got := ""
		for _, f := range found(t, &linux.Target, d, x, c.text) {
			got += f.Rule + " " + f.Summary
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// PFC that is on without any headroom.
func TestNoHeadroom(t *testing.T) {
	d := want("tor", 2)
	d.QoS = []intent.QoS{{Name: "roce", PFC: intent.Some(intent.PrioritySet(0).With(3))}}
	for i := range d.Ports {
		d.Ports[i].QoS, d.Ports[i].Headroom = "roce", []intent.Headroom{{Group: 3, XoffBytes: 80 << 10}}
	}
	r := &verify.Result{Address: "switch.tor", Kind: intent.Switch, Device: "tor"}
	for i := range d.Ports {
		r.Differences = append(r.Differences, intent.Difference{Path: intent.Path{Object: intent.OfPort, Name: d.Ports[i].Name, Field: "headroom"}, Before: "3: 0", After: "3: 81920"})
	}
	list := r.Settings(d)
	if len(list) != 1 || list[0].Rule != "ROCE512" || list[0].Count != 2 || list[0].Summary != `switch.tor.port["swp[1-2]"] has PFC on and the headroom 3: 0, declared is 3: 81920` {
		t.Errorf("%+v", list)
	}
	r.Differences[0].Before, r.Differences[1].Before = "4: 0", "3: 1"
	if list := r.Settings(d); len(list) != 1 || list[0].Rule != "ROCE904" {
		t.Errorf("headroom that is there: %+v", list)
	}
}

// A switch is judged by the tables of SONiC: what grew, and of which priority.
func TestSonicHealth(t *testing.T) {
	d := &intent.Device{
		Version: intent.Version, Name: "tor", Kind: intent.Switch, OS: intent.OS{Name: "sonic", Version: "202405"},
		QoS: []intent.QoS{{Name: "roce", PFC: intent.Some(intent.PrioritySet(0).With(3))}}, Ports: []intent.Port{{Name: "Ethernet0", QoS: "roce"}, {Name: "Ethernet4", QoS: "roce"}},
	}
	sample := func(folder, rx, drops, storms, fec string) string {
		return "-- " + folder + "/health/pfc.txt --\n  Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7\n---------  ------  ------  ------  ------  ------  ------  ------  ------\n" +
			"Ethernet0       0       0       0  " + rx + "       0       0       0       0\nEthernet4     N/A     N/A     N/A     N/A     N/A     N/A     N/A     N/A\n\n" +
			"  Port Tx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7\n---------  ------  ------  ------  ------  ------  ------  ------  ------\nEthernet0       0       0       0   1,200       0       0       0       0\n" +
			"-- " + folder + "/health/pg_drops.txt --\nIngress PG dropped packets:\n     Port    PG0    PG1    PG2    PG3    PG4    PG5    PG6    PG7\n---------  -----  -----  -----  -----  -----  -----  -----  -----\nEthernet4      9      0      0  " + drops + "      0      0      0      0\n" +
			"-- " + folder + "/health/watchdog.txt --\n      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP    TX LAST OK/DROP    RX LAST OK/DROP\n-----------  -----------  -------------------------  ------------  ------------  -----------------  -----------------\nEthernet0:3  operational                        " + storms + "       100/300       100/300              0/200              0/200\n" +
			"-- " + folder + "/health/fec.txt --\n    IFACE    STATE    FEC_CORR    FEC_UNCORR    FEC_SYMBOL_ERR\n---------  -------  ----------  ------------  ----------------\nEthernet0        U       1,024  " + fec + "                 0\n"
	}
	var got []string
	for _, f := range found(t, &sonic.Target, d, &verify.Expect{}, sample("before", "   100", "    0", "0/0", "         1")+sample("after", "50,100", "    7", "1/0", "         4")) {
		got = append(got, f.Rule+" "+f.Summary)
	}
	want := []string{
		`ROCE115 node.tor.port["Ethernet0"] lost 3 frames to bit errors in 10 s`, `ROCE317 node.tor.port["Ethernet0"] had 1 pause storms on priority 3 in 10 s`,
		`ROCE317 node.tor.port["Ethernet0"] is paused 5000 times a second on priority 3`, `ROCE913 node.tor.port["Ethernet4"] dropped 7 frames of lossless priority 3 in 10 s`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	// Counters that began anew say nothing.
	if list := found(t, &sonic.Target, d, &verify.Expect{}, sample("before", "50,100", "    7", "1/0", "         4")+sample("after", "   100", "    0", "0/0", "         1")); len(list) > 0 {
		t.Errorf("%+v", list)
	}
}

// TestStormed: what a watchdog holds back now needs no second look.
func TestStormed(t *testing.T) {
	d, x := host()
	v := &targets.Vitals{}
	if list := verify.Health("node.gpu1", d, x, nil, v, time.Second); len(list) > 0 {
		t.Fatal(list)
	}
	v.Port("rail0").Stormed = intent.PrioritySet(0).With(3)
	list := verify.Health("node.gpu1", d, x, nil, v, time.Second)
	if len(list) != 1 || list[0].Rule != "ROCE317" || !strings.Contains(list[0].Summary, `nic["rail0"] is stormed: the watchdog holds back [3]`) {
		t.Errorf("%+v", list)
	}
}

// Pauses count by what they stop of a port: as many are nothing at 400 Gb/s that are a
// storm at 25. Limits of settings stand in place of those of the rules.
func TestPauseLimits(t *testing.T) {
	pauses := func(of string, n string) string {
		return "-- before/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_pause: 0\n     tx_prio3_pause: 0\n-- " +
			"after/health/rail0/counters.txt --\n" +
			"NIC statistics:\n     " + of + ": " + n + "\n"
	}
	for name, c := range map[string]struct {
		mbps   uint32
		text   string
		limits map[string]map[string]int64
		want   string
	}{
		"1000 a second at 100G":           {100_000, pauses("rx_prio3_pause", "10000"), nil, ""},
		"1500 a second at 100G":           {100_000, pauses("rx_prio3_pause", "15000"), nil, "ROCE317"},
		"1000 a second at 25G":            {25_000, pauses("rx_prio3_pause", "10000"), nil, "ROCE317"},
		"5000 a second at 400G":           {400_000, pauses("rx_prio3_pause", "50000"), nil, ""},
		"of an unknown speed, as at 100G": {0, pauses("rx_prio3_pause", "10000"), nil, ""},
		"less is asked for":               {100_000, pauses("rx_prio3_pause", "10000"), map[string]map[string]int64{"ROCE317": {"share": 20}}, "ROCE317"},
		"more is allowed":                 {100_000, pauses("rx_prio3_pause", "15000"), map[string]map[string]int64{"ROCE317": {"share": 100}}, ""},
		"a slow receiver":                 {100_000, pauses("tx_prio3_pause", "200") + "     rx_prio3_pause: 0\n", nil, "ROCE318"},
		"one that is let be":              {100_000, pauses("tx_prio3_pause", "200") + "     rx_prio3_pause: 0\n", map[string]map[string]int64{"ROCE318": {"rate": 50}}, ""},
	} {
		d, x := host()
		port := x.Ports["rail0"]
		port.Mbps, x.Limits = c.mbps, c.limits
		x.Ports["rail0"] = port
		got := ""
		for _, f := range found(t, &linux.Target, d, x, c.text) {
			got += f.Rule
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
