package linux

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// capturedMlnx is the read-back of a ConnectX port by mlnx_qos, as the tool prints it.
const capturedMlnx = "****** WARNING: lldpad service is running and may overwrite your settings ******\n\n" +
	"DCBX mode: OS controlled\nPriority trust state: dscp\ndscp2prio mapping:\n" +
	"\tprio:3 dscp:31,30,29,28,27,26,25,24,\n\tprio:4 dscp:32,\n" +
	"Receive buffer size (bytes): 130944,131072,0,0,0,0,0,0,max_buffer_size=262016\nCable len: 7\nPFC configuration:\n" +
	"\tpriority    0   1   2   3   4   5   6   7\n\tenabled     0   0   0   1   0   0   0   0   \n\tbuffer      0   0   0   1   0   0   0   0   \n" +
	"tc: 0 ratelimit: unlimited, tsa: ets, bw: 40%\n\t priority:  0\n\t priority:  1\n\t priority:  2\n\t priority:  4\n\t priority:  5\n\t priority:  7\n" +
	"tc: 1 ratelimit: 10.0 Gbps, tsa: ets, bw: 60%\n\t priority:  3\ntc: 2 ratelimit: unlimited, tsa: strict\n\t priority:  6\n"

func files(pairs ...string) targets.Captured {
	c := targets.Captured{Files: map[string][]byte{}}
	for i := 0; i < len(pairs); i += 2 {
		c.Files[pairs[i]] = []byte(pairs[i+1])
	}
	return c
}

func TestParseCaptures(t *testing.T) {
	want := intent.QoS{
		Name: "rail0", Trust: intent.Some(intent.TrustDSCP),
		DSCP: dscpMap(map[int]uint8{24: 3, 25: 3, 26: 3, 27: 3, 28: 3, 29: 3, 30: 3, 31: 3, 32: 4}),
		TC:   intent.Some([8]uint8{3: 1, 6: 2}),
		Sched: intent.Some([8]intent.Sched{
			{Kind: intent.SchedETS, Percent: 40}, {Kind: intent.SchedETS, Percent: 60, CapMbps: 10_000}, {Kind: intent.SchedStrict},
		}),
		PFC: intent.Some(intent.PrioritySet(8)), Lossless: 8,
	}
	for name, c := range map[string]struct {
		files targets.Captured
		caps  bool
	}{
		"mlnx_qos": {files("rail0/mlnx_qos.txt", capturedMlnx), true},
		// mlnx-tools 22 and 23 had a default priority as well.
		"mlnx_qos, copied from a terminal": {files("rail0/mlnx_qos.txt", strings.NewReplacer("\t", "        ", "\n", "\r\n",
			"Receive", "default priority:\n        prio:0\nReceive", "max_buffer_size", "total_size").Replace(capturedMlnx)), true},
		"dcb": {files(
			"rail0/ets.json", `{"willing":false,"ets_cap":8,"cbs":false,"tc_bw":[40,60,100,100,100,100,100,100],"tc_tsa":["ets","ets","strict","strict","strict","strict","strict","strict"],"prio_tc":[0,0,0,1,0,0,2,0]}`,
			"rail0/pfc.json", `{"pfc_cap":8,"macsec_bypass":false,"delay":7,"prio_pfc":[false,false,false,true,false,false,false,false]}`,
			"rail0/app.json", `{"dscp_prio":[[24,3],[25,3],[26,3],[27,3],[28,3],[29,3],[30,3],[31,3],[32,4]]}`,
		), false},
		"dcb of iproute2 6.14": {files(
			"rail0/ets.json", `{"willing":false,"ets_cap":8,"cbs":false,"tc_bw":[40,60,100,100,100,100,100,100],"tc_tsa":["ets","ets","strict","strict","strict","strict","strict","strict"],"prio_tc":[0,0,0,1,0,0,2,0]}`,
			"rail0/pfc.json", `{"pfc_cap":8,"macsec_bypass":false,"delay":7,"prio_pfc":[false,false,false,true,false,false,false,false]}`,
			"rail0/app.json", `{"default_prio":[2],"dscp_prio":[[24,3," "],[25,3," "],[26,3," "],[27,3," "],[28,3," "],[29,3," "],[30,3," "],[31,3," "],[32,4," "]],"pcp_prio":[["1de",1," "]]}`,
		), false},
	} {
		t.Run(name, func(t *testing.T) {
			got, list := Target.Parse(nil, c.files)
			if list.HasErrors() || len(got.QoS) != 1 || len(got.Ports) != 1 {
				t.Fatalf("%+v %+v", got, list)
			}
			w := want
			if !c.caps {
				w.Sched.Value[1].CapMbps = 0
			}
			if diff := cmp.Diff(w, got.QoS[0]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Ports[0].CableMm.Or(0) != 7000 {
				t.Errorf("cable %+v", got.Ports[0].CableMm)
			}
		})
	}
}

// TestParseRefuses: what no device prints is a diagnostic in its file.
func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ file, text, says string }{
		{"rail0/ets.json", "{", "not the JSON"},
		{"rail0/ets.json", `{"tc_tsa":["ets"],"tc_bw":[1],"prio_tc":[0]}`, "1, 1 and 1 entries"},
		{"rail0/ets.json", `{"tc_tsa":["x","x","x","x","x","x","x","x"],"tc_bw":[0,0,0,0,0,0,0,0],"prio_tc":[0,0,0,0,0,0,0,0]}`, `scheduler "x"`},
		{"rail0/ets.json", `{"tc_tsa":["ets","ets","ets","ets","ets","ets","ets","ets"],"tc_bw":[0,0,0,0,0,0,0,0],"prio_tc":[9,0,0,0,0,0,0,0]}`, "traffic class 9"},
		{"rail0/pfc.json", `{"prio_pfc":[true]}`, "1 entries"},
		{"rail0/app.json", `{"dscp_prio":[[64,1]]}`, "[64 1]"},
		{"rail0/app.json", `{"dscp_prio":[[1]]}`, "[1]"},
		{"rail0/app.json", `{"dscp_prio":[[1,2," "," "]]}`, "not the JSON"},
		{"rail0/mlnx_qos.txt", "PFC configuration:\n\tenabled     0 0 0 1 0 0 0 0\ntc: 0 ratelimit: unlimited, tsa: strict\n\t priority:  0\n", "1 of 8 priorities"},
		{"rail0/mlnx_qos.txt", "Priority trust state: dscp\nPFC configuration:\n\tenabled     0 0 0 1 0 0 0 0\n", "no line shows a priority"},
		{"rail0/mlnx_qos.txt", "PFC configuration:\n\tenabled     0   0   0   1\n", "no line shows PFC"},
		{"rail0/mlnx_qos.txt", "Interface name is required\n", "no line shows PFC"},
		{"netplan.yaml", "network: [", "not a netplan file"},
		{"netplan.yaml", "network: {ethernets: {rail0: {addresses: [x]}}}", `address "x"`},
		{"addr.json", `[{"ifname":"rail0","addr_info":[{"local":"x"}]}]`, `address "x"`},
		{"addr.json", "[", "not the JSON"},
		{"rdma.json", "{}", "not the JSON"},
	} {
		_, list := Target.Parse(nvmeHost(), files(c.file, c.text))
		if len(list) == 0 || !strings.Contains(list[0].Summary, c.says) || !strings.HasPrefix(list[0].Summary, c.file) {
			t.Errorf("%s %s: %+v", c.file, c.text, list)
		}
	}
}

// TestParseDefaults: a port as its driver leaves it is not as wanted, in every part.
func TestParseDefaults(t *testing.T) {
	d := nvmeHost()
	c := shown(t, d)
	for file, text := range map[string]string{
		"rail0/ets.json":   `{"willing":false,"ets_cap":8,"cbs":false,"tc_bw":[0,0,0,0,0,0,0,0],"tc_tsa":["vendor","vendor","vendor","vendor","vendor","vendor","vendor","vendor"],"prio_tc":[0,0,0,1,0,0,2,0]}`,
		"rail0/pause.json": `[{"ifname":"rail0","autonegotiate":false,"rx":true,"tx":false}]`,
		"rail0/app.json":   `{}`,
		"rail0/pfc.json":   `{"pfc_cap":8,"macsec_bypass":false,"delay":7,"prio_pfc":[false,false,false,false,false,false,false,false]}`,
		"rail0/dcbx.json":  `{}`,
	} {
		c.Files[file] = []byte(text)
	}
	got, list := Target.Parse(d, c)
	if list.HasErrors() {
		t.Fatal(list)
	}
	var fields []string
	for _, x := range intent.Diff(d, got) {
		if x.Path.Object != intent.OfPort || x.Path.Name != "rail0" {
			t.Errorf("%s = %q, wanted %q", x.Path, x.Before, x.After)
		}
		fields = append(fields, x.Path.Field)
	}
	slices.Sort(fields)
	if want := []string{"cable", "dcbx", "dcbx.owner", "ets", "pause", "pfc", "trust"}; !slices.Equal(fields, want) {
		t.Errorf("differences in %v, wanted in %v", fields, want)
	}
}

// TestParseRoCEPort: on a bnxt the priority of RoCE is that of UDP port 4791, whatever
// the map of DSCPs says; one that is missing or another differs.
func TestParseRoCEPort(t *testing.T) {
	d := bnxtHost()
	for entries, want := range map[string]string{
		`,"dgram_port_prio":[[4791,3]]`:                  "",
		`,"dgram_port_prio":[[53,5," "],[4791,3," "]]`:   "",
		`,"dgram_port_prio":[[4791,5]]`:                  "5",
		`,"dgram_port_prio":[[4791,3," "],[4791,6," "]]`: "6",
		"": "0",
	} {
		c := shown(t, d)
		c.Files["rail0/app.json"] = []byte(`{"dscp_prio":[[26,3],[48,6]]` + entries + "}")
		got, list := Target.Parse(d, c)
		if list.HasErrors() {
			t.Fatal(list)
		}
		differ := intent.Diff(d, got)
		switch {
		case want == "" && len(differ) == 0:
		case want != "" && len(differ) == 1 && differ[0].Path.Field == "class.rdma.priority" && differ[0].Before == want:
		default:
			t.Errorf("%s: %+v, wanted %q", entries, differ, want)
		}
	}
}

// TestParseLive: what ip shows comes before the file.
func TestParseLive(t *testing.T) {
	d := pcpHost()
	plan := string(find(t, artifacts(t, d), netplanFile))
	live := `[{"ifname":"rail0","flags":["UP"],"mtu":1500,"address":"b8:3f:d2:00:00:01","parentdev":"0000:3b:00.0","master":"bond0"},
{"ifname":"bond0","flags":["UP"],"mtu":1500,"linkinfo":{"info_kind":"bond","info_data":{"mode":"active-backup","ad_lacp_rate":"slow","xmit_hash_policy":"layer2"}},"addr_info":[{"family":"inet","local":"192.0.2.99","prefixlen":24,"scope":"global"},{"family":"inet6","local":"fe80::1","prefixlen":64,"scope":"link"}]},
{"ifname":"bond0.100","link":"bond0","mtu":1500,"linkinfo":{"info_kind":"vlan","info_data":{"id":101}},"addr_info":[{"family":"inet","local":"10.100.0.11","prefixlen":24,"scope":"global"},{"family":"inet6","local":"2001:db8:100::11","prefixlen":64,"scope":"global"}]}]`
	got, list := Target.Parse(d, files("netplan.yaml", plan, "addr.json", live))
	if list.HasErrors() {
		t.Fatal(list)
	}
	if len(got.Ports) != 1 || got.Ports[0].MTU.Or(0) != 1500 || got.Ports[0].NIC.PCI != "0000:3b:00.0" {
		t.Errorf("ports %+v", got.Ports)
	}
	if l := got.LAGs[0]; l.Mode != "active_backup" || l.MTU.Or(0) != 1500 || l.Hash != "layer2" || !slices.Equal(l.Members, []string{"rail0"}) {
		t.Errorf("bond %+v", l)
	}
	h := newHost(got)
	if a := h.on("bond0", intent.Direct)[0].Addresses.Value; len(a) != 1 || a[0].String() != "192.0.2.99/24" {
		t.Errorf("addresses %v", a)
	}
	if v := h.on("bond0", intent.VLANDev)[0]; v.VLAN != 101 || v.MTU.Or(0) != 1500 || len(v.Addresses.Value) != 2 {
		t.Errorf("VLAN %+v", v)
	}
}

// TestParseTags: the PCPs that a VLAN device writes are those of the mark in force, and no measure where the port has another PFC.
func TestParseTags(t *testing.T) {
	d := pcpHost()
	d.QoS[0].PCP = intent.Some([8]uint8{0, 1, 2, 3, 4, 5, 6, 7})
	q := newHost(d).qos[newHost(d).on("bond0", intent.VLANDev)[0].QoS]
	right := egress(q) // by the mark that is wanted
	if len(right) != 1 || q.PFC.Value == 0 {
		t.Fatalf("a QoS for this test tags one class, and that with PFC: %v, %v", right, q.PFC)
	}
	var from, to uint8
	for from, to = range right {
	}
	entry := func(from, to uint8) string { return fmt.Sprintf(`{"from":%d,"to":%d}`, from, to) }
	other := intent.Mark{Carries: "rdma", DSCP: intent.Some[uint8](28)}
	moved, _ := kernelPriority(tos(other))
	if moved == from {
		t.Fatal("DSCP 28 has the kernel priority of the one that is wanted")
	}
	cases := []struct {
		name, egress, tos, pfc string
		want                   string // the field, "" where it is as wanted
	}{
		{name: "as wanted", egress: entry(from, to)},
		{name: "none", want: fmt.Sprintf("PCP %d: 0", to)},
		{name: "another", egress: entry(from, to^1), want: fmt.Sprintf("PCP %d: %d", to, to^1)},
		{name: "others too", egress: entry(from, to) + "," + entry(0, to), want: fmt.Sprintf("PCP %d: 0", to)},
		{name: "another mark", egress: entry(moved, to), tos: "112"},
		{name: "another mark, and the map of this one", egress: entry(from, to), tos: "112", want: fmt.Sprintf("PCP %d: 0", to)},
		{name: "another PFC", pfc: `{"prio_pfc":[false,false,false,false,false,false,false,false]}`},
	}
	for _, c := range cases {
		live := `[{"ifname":"rail0","flags":["UP"],"mtu":9000,"master":"bond0"},{"ifname":"bond0","flags":["UP"],"mtu":9000},
{"ifname":"bond0.100","link":"bond0","mtu":9000,"linkinfo":{"info_kind":"vlan","info_data":{"id":100,"egress_qos":[` + c.egress + `]}}}]`
		in := files("netplan.yaml", string(find(t, artifacts(t, d), netplanFile)), "addr.json", live, "rdma.json", `[{"ifname":"mlx5_0","port":1,"netdev":"rail0"}]`)
		mark := c.tos
		if mark == "" {
			mark = strconv.Itoa(int(tos(q.Marks[slices.IndexFunc(q.Marks, func(m intent.Mark) bool { return m.Carries == "rdma" })])))
		}
		in.Files["rdma_cm.txt"] = []byte("/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos:" + mark + "\n")
		if c.pfc != "" {
			in.Files["rail0/pfc.json"] = []byte(c.pfc)
		}
		got, list := Target.Parse(d, in)
		if list.HasErrors() {
			t.Fatal(c.name, list)
		}
		h := newHost(got)
		have, found := h.qos[h.on("bond0", intent.VLANDev)[0].QoS], ""
		if have == nil || !have.PCP.IsSet() {
			t.Errorf("%s: no map was read", c.name)
			continue
		}
		for pcp, prio := range have.PCP.Value {
			if prio != q.PCP.Value[pcp] {
				found = fmt.Sprintf("PCP %d: %d", pcp, prio)
			}
		}
		if found != c.want {
			t.Errorf("%s: read as %q, wanted %q", c.name, found, c.want)
		}
	}
	if _, list := Target.Parse(d, files("netplan.yaml", string(find(t, artifacts(t, d), netplanFile)), "addr.json",
		`[{"ifname":"bond0.100","link":"bond0","linkinfo":{"info_kind":"vlan","info_data":{"id":100,"egress_qos":[{"from":2,"to":8}]}}}]`)); !list.HasErrors() {
		t.Error("a PCP of 8 is read")
	}
}

// plans generates hosts as far as netplan shows them.
func plans(t *rapid.T) *intent.Device {
	d := node("any")
	address := func(label string, n, i int) intent.Opt[[]netip.Prefix] {
		list := []string{fmt.Sprintf("10.%d.%d.1/24", n, i)}
		if rapid.Bool().Draw(t, label+" v6") {
			list = append(list, fmt.Sprintf("2001:db8:%x:%x::1/64", n, i))
		}
		return prefixes(list...)
	}
	count := rapid.IntRange(1, 4).Draw(t, "ports")
	bonded := 0
	if count > 1 {
		bonded = rapid.SampledFrom([]int{0, 2}).Draw(t, "bonded")
	}
	for i := range count {
		name := fmt.Sprintf("rail%d", i)
		p := intent.Port{Name: name, NIC: &intent.NIC{Model: "m", Driver: mlx5, Adapter: "a"}}
		if rapid.Bool().Draw(t, "mac") {
			p.NIC.MAC = fmt.Sprintf("b8:3f:d2:00:00:%02x", i)
		}
		if i >= bonded {
			if rapid.Bool().Draw(t, "off") {
				p.Enabled = intent.Some(false)
			}
			if rapid.Bool().Draw(t, "mtu") {
				p.MTU = intent.Some(rapid.Uint16Range(1500, 9000).Draw(t, "mtu value"))
			}
			if rapid.Bool().Draw(t, "vfs") {
				p.NIC.VFs = intent.Some(intent.VFs{Count: rapid.Uint16Range(0, 64).Draw(t, "count"), Mode: rapid.SampledFrom([]string{"", "legacy", "switchdev"}).Draw(t, "mode")})
			}
			if rapid.Bool().Draw(t, "addressed") {
				f := intent.Iface{Name: name, Kind: intent.Direct, On: name, Addresses: address(name, 0, i)}
				if rapid.Bool().Draw(t, "gateway") {
					f.Gateway = intent.Some(netip.MustParseAddr(fmt.Sprintf("10.0.%d.254", i)))
				}
				d.Ifaces = append(d.Ifaces, f)
			}
		}
		d.Ports = append(d.Ports, p)
	}
	parents := []string{"rail" + itoa(count-1)}
	if bonded > 0 {
		l := intent.LAG{Name: "bond0", Members: []string{"rail0", "rail1"}, Mode: rapid.SampledFrom([]string{"lacp", "static", "active_backup"}).Draw(t, "mode")}
		if l.Mode == "lacp" {
			l.Rate = rapid.SampledFrom([]string{"", "fast", "slow"}).Draw(t, "rate")
		}
		if l.Mode != "active_backup" {
			l.Hash = rapid.SampledFrom(append(bondHashes, "")).Draw(t, "hash")
		}
		d.LAGs = []intent.LAG{l}
		parents = append(parents, "bond0")
		if bonded == count {
			parents = parents[1:]
		}
	}
	for i, on := range parents {
		if rapid.Bool().Draw(t, "vlan") {
			f := intent.Iface{Name: on + ".7", Kind: intent.VLANDev, On: on, VLAN: rapid.Uint16Range(1, 4094).Draw(t, "id"), Addresses: address(on, 1, i)}
			if rapid.Bool().Draw(t, "vlan mtu") {
				f.MTU = intent.Some[uint16](1500)
			}
			d.Ifaces = append(d.Ifaces, f)
		}
	}
	return d
}

// TestNetplanRoundTrip: the file that is written reads as the intent.
func TestNetplanRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := plans(rt)
		list := artifacts(t, d)
		got, errs := Target.Parse(d, files("netplan.yaml", string(find(t, list, netplanFile))))
		if errs.HasErrors() {
			rt.Fatal(errs)
		}
		byName := cmpopts.SortSlices(func(a, b intent.Iface) bool { return a.Name+string(a.Kind) < b.Name+string(b.Kind) })
		if diff := cmp.Diff(d, got, byName, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
			rt.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// FuzzParse: no capture panics, and the same capture reads the same twice.
func FuzzParse(f *testing.F) {
	f.Add("rail0/mlnx_qos.txt", capturedMlnx)
	f.Add("rail0/ets.json", `{"tc_tsa":["ets","ets","ets","ets","ets","ets","ets","ets"],"tc_bw":[100,0,0,0,0,0,0,0],"prio_tc":[0,0,0,0,0,0,0,0]}`)
	f.Add("rail0/app.json", `{"dscp_prio":[[26,3],[48,6]]}`)
	f.Add("rail0/pause.json", `[{"ifname":"rail0","autonegotiate":false,"rx":false,"tx":false}]`)
	f.Add("rail0/driver.txt", "driver: mlx5_core\nversion: 6\nfirmware-version: 22\nbus-info: 0000:3b:00.0\n")
	f.Add("rail0/vfs.txt", "    vf 0     link/ether 00:11:22:33:44:55 brd ff:ff:ff:ff:ff:ff, vlan 100, spoof checking off, link-state auto, trust on\n")
	f.Add("rdma_cm.txt", "/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos:106\n")
	f.Add("cc_params.txt", "/sys/kernel/debug/mlx5/0000:3b:00.0/cc_params/np_cnp_dscp:48\n/sys/kernel/debug/mlx5/0000:3b:00.0/cc_params/np_cnp_prio:6\n")
	f.Add("addr.json", `[{"ifname":"rail0","mtu":9000,"flags":["UP"],"addr_info":[{"family":"inet","local":"10.0.0.1","prefixlen":24,"scope":"global"}]}]`)
	if plan, err := os.ReadFile("testdata/nvme-dcb.txtar"); err == nil {
		f.Add("netplan.yaml", string(plan[:min(len(plan), 2000)]))
	}
	d := nvmeHost()
	f.Fuzz(func(t *testing.T, file, text string) {
		c := files(file, text, "rdma.json", `[{"ifname":"mlx5_0","port":1,"netdev":"rail0"}]`)
		for _, want := range []*intent.Device{nil, d} {
			a, listA := Target.Parse(want, c)
			b, listB := Target.Parse(want, c)
			if intent.Digest(a) != intent.Digest(b) || len(listA) != len(listB) {
				t.Fatal("two readings differ")
			}
			for _, q := range a.QoS {
				if q.Sched.IsSet() {
					for _, s := range q.Sched.Value {
						if s.Percent > 100 && s.Kind == "" {
							t.Fatal("an idle class with a share")
						}
					}
				}
			}
		}
	})
}

// TestParseNoMark: a host of which rdma_cm has no folder sends connections with TOS 0.
// Where the intent sets another one that is a difference, and not something unseen.
func TestParseNoMark(t *testing.T) {
	d := nvmeHost()
	in := files("addr.json", `[{"ifname":"rail0","flags":["UP"],"mtu":9000}]`, "rdma.json", `[{"ifname":"mlx5_0","port":1,"netdev":"rail0"}]`)
	got, list := Target.Parse(d, in)
	if list.HasErrors() {
		t.Fatal(list)
	}
	differences, _ := intent.Compare(d, got)
	if !slices.ContainsFunc(differences, func(x intent.Difference) bool {
		return x.Path.Name == "rail0" && x.Path.Field == "class.rdma.dscp" && x.Before == "0"
	}) {
		t.Errorf("the mark of RDMA that nobody set is no difference: %v", differences)
	}
}
