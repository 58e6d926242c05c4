package linux

import (
	"encoding/json"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/oracle"
)

const qosScript = "rocec-qos"

// bench is a folder that a script takes for the root of its host, with the
// model behind every program.
type bench struct {
	t    testing.TB
	root string
}

func newBench(t testing.TB, d *intent.Device) bench {
	oracle.Need(t, "bash")
	b := bench{t, t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b.must(os.MkdirAll(filepath.Join(b.root, "bin"), 0o755))
	for _, p := range []string{"dcb", "mlnx_qos", "ethtool", "rdma", "ip", "systemctl", "modprobe", "mstconfig", "ibv_devinfo", "devlink", "python3"} {
		b.must(os.Symlink(self, filepath.Join(b.root, "bin", p)))
	}
	ports := map[string]*modelPort{}
	for i, p := range d.Ports {
		ports[p.Name] = newPort(p.NIC.Driver)
		pci := filepath.Join(b.root, "sys/devices/0000:3b:00."+itoa(i))
		b.write("sys/class/net/"+p.Name+"/mtu", "9000\n")
		b.write("sys/class/net/"+p.Name+"/flags", "0x1003\n")
		b.write("sys/class/net/"+p.Name+"/speed", "100000\n")
		driver := filepath.Join(b.root, "sys/drivers", map[string]string{mlx5: "mlx5_core", bnxt: "bnxt_en", ice: "ice"}[p.NIC.Driver])
		b.must(os.MkdirAll(driver, 0o755))
		b.must(os.MkdirAll(pci, 0o755))
		b.must(os.Symlink(driver, filepath.Join(pci, "driver")))
		b.write("sys/class/infiniband/mlx5_"+itoa(i)+"/node_type", "1: CA\n")
		b.must(os.Symlink(pci, filepath.Join(b.root, "sys/class/net", p.Name, "device")))
		switch p.NIC.Driver {
		case mlx5:
			b.write("sys/kernel/debug/mlx5/0000:3b:00."+itoa(i)+"/cc_params/np_cnp_dscp", "48\n")
			b.write("sys/kernel/debug/mlx5/0000:3b:00."+itoa(i)+"/cc_params/np_cnp_prio", "5\n")
		case bnxt:
			for name, value := range map[string]string{"enable_cc": "0", "tos_ecn": "1", "tos_dscp": "0", "cc_mode": "0", "alt_vlan_pcp": "5", "alt_vlan_dscp": "46"} {
				b.write("sys/kernel/debug/bnxt_re/0000:3b:00."+itoa(i)+"/cc_config/"+name, value+"\n")
			}
		case ice:
			b.write("sys/kernel/config/irdma/mlx5_"+itoa(i)+"/roce_dcqcn_enable", "0\n")
		}
		cm := "sys/kernel/config/rdma_cm/mlx5_" + itoa(i) + "/ports/1/"
		b.write(cm+"default_roce_mode", "IB/RoCE v1\n")
		b.write(cm+"default_roce_tos", "0\n")
	}
	b.write("run/x", "")
	b.write("mask", "255")
	b.state(ports)
	moved := strings.NewReplacer("/sys/", b.root+"/sys/", "/proc/", b.root+"/proc/", "/run/", b.root+"/run/", "/etc/", b.root+"/etc/", "/usr/local/", b.root+"/usr/local/")
	for _, a := range artifacts(t, d) {
		b.write("bundle/"+a.Path, moved.Replace(string(a.Bytes)))
	}
	for _, a := range kit().Artifacts {
		b.write("common/"+kit().Name+"/"+a.Path, moved.Replace(string(a.Bytes)))
	}
	return b
}

func (b bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b bench) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.root, name)
	b.must(os.MkdirAll(filepath.Dir(path), 0o755))
	b.must(os.WriteFile(path, []byte(text), 0o644))
}

func (b bench) state(ports map[string]*modelPort) {
	text, err := json.Marshal(ports)
	b.must(err)
	b.write("state.json", string(text))
}

func (b bench) ports() map[string]*modelPort {
	text, err := os.ReadFile(filepath.Join(b.root, "state.json"))
	b.must(err)
	m := map[string]*modelPort{}
	b.must(json.Unmarshal(text, &m))
	return m
}

// run runs a script of the bundle and demands its exit code; it returns what
// was printed and the programs that were started.
func (b bench) run(code int, script string, args ...string) (out, started string) {
	b.t.Helper()
	b.must(os.RemoveAll(filepath.Join(b.root, "log")))
	if script == qosScript {
		args = append([]string{"--data", "host.sh"}, args...)
	}
	c := exec.Command("bash", append([]string{filepath.Join(kit().Folder(), script)}, args...)...)
	c.Dir = filepath.Join(b.root, "bundle")
	c.Env = append(os.Environ(), "PATH="+filepath.Join(b.root, "bin")+":/usr/bin:/bin", modelEnv+"="+b.root)
	text, _ := c.CombinedOutput()
	if got := c.ProcessState.ExitCode(); got != code {
		b.t.Errorf("%s %v: exit %d, wanted %d:\n%s", script, args, got, code, text)
	}
	log, _ := os.ReadFile(filepath.Join(b.root, "log"))
	return string(text), string(log)
}

// belongs are the files of the host: from, to and mode of each.
func (b bench) belongs() [][]string {
	b.t.Helper()
	lib, err := scripts.ReadFile("scripts/lib.sh")
	b.must(err)
	b.write("common/"+kit().Name+"/belongs.sh", strings.ReplaceAll(strings.ReplaceAll(string(lib)+belongs(), "/etc/", b.root+"/etc/"), "/usr/local/", b.root+"/usr/local/")+"belongs\n")
	out, _ := b.run(0, "belongs.sh")
	var list [][]string
	for line := range strings.Lines(out) {
		list = append(list, strings.Split(strings.TrimSpace(line), "|"))
	}
	return list
}

// captured reads back the way an operator would, with capture.sh.
func (b bench) captured(name string) targets.Captured {
	b.t.Helper()
	dir := filepath.Join(b.root, name)
	b.run(0, "capture.sh", dir)
	files := map[string][]byte{}
	b.must(filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = []byte(strings.ReplaceAll(string(text), b.root, ""))
		return err
	}))
	return targets.Captured{Files: files}
}

// changes are the started programs that set something.
func changes(started string) []string {
	var list []string
	for line := range strings.Lines(started) {
		line = strings.TrimSpace(line)
		switch f := strings.Fields(line); {
		case strings.Contains(line, " show"), f[0] == "systemctl", f[0] == "rdma", f[0] == "ibv_devinfo", f[0] == "mstconfig", f[0] == "modprobe",
			f[0] == "ip" && f[1] == "-d", strings.HasPrefix(line, "ethtool --json"), strings.HasPrefix(line, "ethtool -i"), strings.HasPrefix(line, "ethtool --get"), strings.HasPrefix(line, "ethtool --show"),
			f[0] == "mlnx_qos" && f[len(f)-1] == "-a", f[0] == "ethtool" && len(f) == 2, f[0] == "devlink":
		default:
			list = append(list, line)
		}
	}
	return list
}

// TestRoundTrip: rocec-qos brings a fresh port to the intent, and what is read
// back is the intent, with both programs and with dcb of older and newer iproute2.
func TestRoundTrip(t *testing.T) {
	for tool, d := range map[string]*intent.Device{dcbTool: nvmeHost(), mlnxTool: mlnxHost(), bnxt: bnxtHost(), ice: iceHost()} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			if tool != dcbTool {
				d.Ports, d.Ifaces = d.Ports[:1], d.Ifaces[:1] // the second port says nothing new, and costs seconds
			}
			d.Ports[0].FEC = intent.Some(intent.FECRS)
			if familyOf(&d.Ports[0]).storms {
				d.Ports[0].NIC.StormMs = intent.Some[uint16](100)
			}
			b := newBench(t, d)
			ports := b.ports()
			ports["rail0"].Newer = tool != dcbTool
			b.state(ports)
			before := b.captured("before")
			if out, _ := b.run(2, qosScript, "--all", "--check"); !strings.Contains(out, "rail0: differs: PFC is 0 0 0 0 0 0 0 0") {
				t.Errorf("the check says:\n%s", out)
			}
			b.run(0, qosScript, "--all")
			if out, started := b.run(0, qosScript, "--all"); out != "" || len(changes(started)) > 0 {
				t.Errorf("the second run starts %q and says:\n%s", changes(started), out)
			}
			b.run(0, qosScript, "--all", "--check")
			equalToIntent(t, d, b.captured("after"))
			b.run(0, qosScript, "--restore", filepath.Join(b.root, "before"))
			if diff := cmp.Diff(before.Files, b.captured("restored").Files); diff != "" && tool == mlnxTool {
				t.Errorf("not as before (-before +after):\n%s", diff)
			}
			p, fresh := b.ports()["rail0"], newPort(d.Ports[0].NIC.Driver)
			if p.PFC != fresh.PFC || p.Prio != fresh.Prio || len(p.DSCP) != 0 || !p.RX || p.Pause != fresh.Pause || p.FEC != fresh.FEC || p.Cable != fresh.Cable || p.Storm != fresh.Storm || p.RoCE != 0 || p.Agent != fresh.Agent || p.Host != fresh.Host {
				t.Errorf("not as before: %+v", p)
			}
		})
	}
}

// equalToIntent compares every port's part of a capture with the intent.
func equalToIntent(t *testing.T, d *intent.Device, c targets.Captured) {
	t.Helper()
	got, list := Target.Parse(d, c)
	if list.HasErrors() {
		t.Fatal(list)
	}
	h := newHost(got)
	for _, p := range d.Ports {
		g := h.port[p.Name]
		if g == nil || h.qos[g.QoS] == nil {
			t.Fatalf("the capture does not show %s", p.Name)
		}
		want, have := d.QoS[0], *h.qos[g.QoS]
		want.Name, have.Name = "", ""
		want.Marks = want.Marks[:len(want.Marks)-1] // the default class marks nothing
		sortMarks(want.Marks)
		sortMarks(have.Marks)
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p.Name, diff)
		}
		type shown struct {
			Cable intent.Opt[uint32]
			FEC   intent.Opt[intent.FEC]
			RoCE  intent.Opt[string]
			RDMA  intent.Opt[bool]
			DCBX  intent.Opt[intent.DCBX]
			Mbps  intent.Opt[uint32]
			Storm intent.Opt[uint16]
		}
		of := func(p intent.Port) shown {
			return shown{Cable: p.CableMm, FEC: p.FEC, RoCE: p.NIC.RoCE, RDMA: p.NIC.RDMA, DCBX: p.NIC.DCBX, Mbps: p.Mbps, Storm: p.NIC.StormMs}
		}
		w, s := of(p), of(*g)
		if !w.FEC.IsSet() {
			s.FEC = w.FEC
		}
		if !w.Storm.IsSet() {
			s.Storm = w.Storm
		}
		if diff := cmp.Diff(w, s); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p.Name, diff)
		}
	}
}

func sortMarks(list []intent.Mark) {
	if len(list) == 2 && list[0].Carries > list[1].Carries {
		list[0], list[1] = list[1], list[0]
	}
}

// TestOrder: what a family needs first comes first (pause, then its own order),
// and each concern in a command of its own.
func TestOrder(t *testing.T) {
	t.Parallel()
	ets := " willing off tc-tsa 0:ets 1:ets 2:strict 3:strict 4:strict 5:strict 6:strict 7:strict tc-bw all:0 0:50 1:50 prio-tc 0:0 1:0 2:0 3:1 4:0 5:0 6:2 7:0"
	for name, c := range map[string]struct {
		host *intent.Device
		want []string
	}{
		dcbTool: {nvmeHost(), []string{
			"ethtool -A rail0 autoneg off rx off tx off",
			"dcb dcbx set dev rail0 host ieee",
			"dcb app replace dev rail0 dscp-prio 0:0 1:0",
			"dcb ets set dev rail0" + ets,
			"dcb pfc set dev rail0 prio-pfc all:off 3:on",
			"dcb pfc set dev rail0 delay 2",
		}},
		mlnxTool: {mlnxHost(), []string{
			"ethtool -A rail0 autoneg off rx off tx off",
			"mlnx_qos -i rail0 -d os",
			"mlnx_qos -i rail0 --trust dscp",
			"mlnx_qos -i rail0 --dscp2prio set,8,0",
			"mlnx_qos -i rail0 -p 0,0,0,1,0,0,2,0 -s ets,ets,strict,strict,strict,strict,strict,strict -t 50,50,0,0,0,0,0,0",
			"mlnx_qos -i rail0 -r 40,0,0,0,0,0,0,0",
			"mlnx_qos -i rail0 --pfc 0,0,0,1,0,0,0,0",
			"mlnx_qos -i rail0 --cable_len 2",
		}},
		bnxt: {bnxtHost(), []string{
			"ethtool -A rail0 autoneg off rx off tx off",
			"dcb ets set dev rail0" + ets,
			"dcb pfc set dev rail0 prio-pfc all:off 3:on",
			"dcb app add dev rail0 dscp-prio 26:3 48:6",
			"dcb app add dev rail0 dgram-port-prio 4791:3",
		}},
		ice: {iceHost(), []string{
			"ethtool -A rail0 rx off tx off",                   // which autonegotiation is not a word of
			"ethtool --set-priv-flags rail0 fw-lldp-agent off", // which makes the host the owner of DCBX
			"dcb app add dev rail0 dscp-prio 0:0 1:0",
			"dcb ets set dev rail0 willing off tc-tsa 0:ets 1:strict 2:strict 3:ets 4:strict 5:strict 6:strict 7:strict tc-bw all:0 0:50 3:50 prio-tc 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7",
			"dcb pfc set dev rail0 prio-pfc all:off 3:on",
		}},
	} {
		_, started := newBench(t, c.host).run(0, qosScript, "rail0")
		got := changes(started)
		if len(got) != len(c.want) {
			t.Errorf("%s: %d commands, wanted %d:\n%s", name, len(got), len(c.want), strings.Join(got, "\n"))
			continue
		}
		for i := range c.want {
			if !strings.HasPrefix(got[i], c.want[i]) {
				t.Errorf("%s: command %d is %q, wanted %q", name, i, got[i], c.want[i])
			}
		}
	}
}

// TestFailures: what did not take, what is missing and what is another adapter
// ends in a message and exit 1, whatever the programs' own exit codes say.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(b bench)
		says  string
	}{
		{"refused by the kernel", func(b bench) {
			p := b.ports()
			p["rail0"].Refuse = "pfc"
			b.state(p)
		}, "FAILED: PFC is 0 0 0 0 0 0 0 0 after the change, wanted 0 0 0 1 0 0 0 0"},
		{
			"no knob for CNPs", func(b bench) { b.must(os.RemoveAll(filepath.Join(b.root, "sys/kernel/debug"))) },
			"FAILED: cannot set DSCP of CNPs to 48: neither ecn/roce_np/cnp_dscp nor debugfs cc_params/np_cnp_dscp exists",
		},
		{"DCQCN off in NVRAM", func(b bench) { b.write("mask", "16") }, "FAILED: DCQCN is off for priority 3: ROCE_CC_PRIO_MASK is 16"},
		{"DCQCN not shown", func(b bench) { b.must(os.Remove(filepath.Join(b.root, "bin/mstconfig"))) }, "FAILED: cannot show that DCQCN runs on priority 3"},
		{"another adapter", func(b bench) {
			b.must(os.Remove(filepath.Join(b.root, "sys/class/net/rail0/device")))
			b.must(os.Symlink(filepath.Join(b.root, "sys/devices/0000:3b:00.1"), filepath.Join(b.root, "sys/class/net/rail0/device")))
		}, "FAILED: sits at PCI 0000:3b:00.1, wanted 0000:3b:00.0"},
		{"no device", func(b bench) { b.must(os.RemoveAll(filepath.Join(b.root, "sys/class/net/rail0"))) }, "FAILED: no such network device"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nvmeHost())
			c.spoil(b)
			if out, _ := b.run(1, qosScript, "rail0"); !strings.Contains(out, c.says) {
				t.Errorf("no %q in:\n%s", c.says, out)
			}
		})
	}
}

// TestBroadcom: where the driver of Broadcom has its folder, its settings are
// collected there and applied at once.
func TestBroadcom(t *testing.T) {
	t.Parallel()
	b := newBench(t, bnxtHost())
	cc := "sys/kernel/config/bnxt_re/mlx5_0/ports/1/cc/"
	names := []string{"ecn_marking", "ecn_enable", "cc_mode", "roce_prio", "roce_dscp", "cnp_prio", "cnp_dscp", "disable_prio_vlan_tx", "apply"}
	for _, n := range names {
		b.write(cc+n, "0\n")
	}
	b.run(0, qosScript, "rail0")
	var got []string
	for _, n := range names {
		text, err := os.ReadFile(filepath.Join(b.root, cc+n))
		b.must(err)
		got = append(got, n+"="+string(text))
	}
	want := []string{"ecn_marking=0x1", "ecn_enable=0x1", "cc_mode=0x1", "roce_prio=0x3", "roce_dscp=0x1a", "cnp_prio=0x6", "cnp_dscp=0x30", "disable_prio_vlan_tx=0x1", "apply=0x1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.write(cc+"apply", "0\n")
	if out, _ := b.run(0, qosScript, "rail0"); out != "" {
		t.Errorf("the second run says:\n%s", out)
	}
	if text, err := os.ReadFile(filepath.Join(b.root, cc+"apply")); err != nil || string(text) != "0\n" {
		t.Errorf("the second run applies %q, %v", text, err)
	}
	b.write(cc+"cnp_dscp", "0x2e\n")
	if out, _ := b.run(2, qosScript, "rail0", "--check"); !strings.Contains(out, "congestion control is") || !strings.Contains(out, "cnp_dscp=46") {
		t.Errorf("the check says:\n%s", out)
	}
}

// TestProtocol: an E810 that runs iWARP is told to run RoCE, and one that stays
// with iWARP is a failure.
func TestProtocol(t *testing.T) {
	t.Parallel()
	b := newBench(t, iceHost())
	b.write("sys/class/infiniband/mlx5_0/node_type", "4: RNIC\n")
	out, started := b.run(1, qosScript, "rail0")
	if !strings.Contains(out, "FAILED: RDMA protocol is iwarp after the change, wanted roce") {
		t.Error(out)
	}
	at := "devlink dev param set pci/0000:3b:00.0 name "
	if i, j := strings.Index(started, at+"enable_iwarp value false cmode runtime\n"), strings.Index(started, at+"enable_roce value true cmode runtime\n"); i < 0 || j < i {
		t.Errorf("started:\n%s", started)
	}
}

// TestOldKernel: a driver that takes a map without effect is no success.
func TestOldKernel(t *testing.T) {
	t.Parallel()
	for release, code := range map[string]int{"5.15.0-91-generic": 1, "5.16.0": 0, "6.1.0-9-amd64": 0} {
		b := newBench(t, iceHost())
		b.write("bin/uname", "#!/bin/sh\necho "+release+"\n")
		b.must(os.Chmod(filepath.Join(b.root, "bin/uname"), 0o755))
		if out, _ := b.run(code, qosScript, "rail0"); strings.Contains(out, "has no priorities by DSCP") != (code == 1) {
			t.Errorf("%s:\n%s", release, out)
		}
	}
}

// TestOldKernelVLAN: an irdma that leaves the map of a VLAN device aside is no
// success, unless it comes to the same.
func TestOldKernelVLAN(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		release, driver string
		prio            uint8
		old             bool
	}{
		{"6.1.0-9-amd64", "", 3, true},
		{"6.5.0-45-generic", "", 3, true},
		{"6.6.0", "", 3, false},
		{"6.1.0-9-amd64", "1.14.31", 3, false},
		{"6.1.0-9-amd64", "", 2, false}, // the kernel priority of DSCP 26
	} {
		d := iceHost()
		d.Ports, d.Ifaces = d.Ports[:1], d.Ifaces[:1]
		d.Ports[0].Tagged = intent.Some([]uint16{100})
		d.Ifaces[0] = intent.Iface{Name: "rail0.100", Kind: intent.VLANDev, On: "rail0", VLAN: 100, Addresses: prefixes("10.10.0.11/24"), RDMA: true, QoS: d.QoS[0].Name}
		q := &d.QoS[0]
		q.Trust, q.DSCP = intent.Some(intent.TrustPCP), intent.Opt[[64]uint8]{}
		var tc [8]uint8
		tc[c.prio], q.Lossless = 1, intent.PrioritySet(0).With(c.prio)
		q.TC, q.PFC = intent.Some(tc), intent.Some(q.Lossless)
		for i := range q.Marks {
			if q.Marks[i].Carries == "rdma" {
				q.Marks[i].Priority = c.prio
			}
		}
		b := newBench(t, d)
		b.write("bin/uname", "#!/bin/sh\necho "+c.release+"\n")
		b.must(os.Chmod(filepath.Join(b.root, "bin/uname"), 0o755))
		b.write("sys/class/net/rail0.100/mtu", "9000\n")
		if c.driver != "" {
			b.write("sys/module/irdma/version", c.driver+"\n")
		}
		if out, _ := b.run(2, qosScript, "rail0", "--check"); strings.Contains(out, "leaves the map of rail0.100 aside") != c.old {
			t.Errorf("%+v:\n%s", c, out)
		}
	}
}

// TestForcedSpeed: a port whose peer is off shows no speed, and a link that is
// there has to have the one that is wanted.
func TestForcedSpeed(t *testing.T) {
	t.Parallel()
	d := nvmeHost()
	d.Ports, d.Ifaces = d.Ports[:1], d.Ifaces[:1]
	d.Ports[0].Autoneg = intent.Some(false)
	b := newBench(t, d)
	b.write("bin/sleep", "#!/bin/sh\n")
	b.must(os.Chmod(filepath.Join(b.root, "bin/sleep"), 0o755))
	b.write("sys/class/net/rail0/speed", "-1\n")
	b.write("sys/class/net/rail0/carrier", "0\n")
	out, started := b.run(0, qosScript, "rail0")
	if !strings.Contains(out, "there is no link that shows it") || !strings.Contains(started, "ethtool -s rail0 autoneg off speed 100000") {
		t.Errorf("without a peer:\n%s\n%s", out, started)
	}
	if out, _ := b.run(2, qosScript, "--check", "rail0"); !strings.Contains(out, "speed is -1, wanted 100000 Mbit/s") {
		t.Errorf("the check says:\n%s", out)
	}
	b.write("sys/class/net/rail0/speed", "25000\n")
	b.write("sys/class/net/rail0/carrier", "1\n")
	if out, _ := b.run(1, qosScript, "rail0"); !strings.Contains(out, "FAILED: speed is 25000 after the change, wanted 100000") {
		t.Errorf("with another speed:\n%s", out)
	}
}

// TestPauseAndPFC: of two that exclude each other, what ends goes first, on the
// way there and back.
func TestPauseAndPFC(t *testing.T) {
	t.Parallel()
	d := iceHost()
	d.Ports, d.Ifaces = d.Ports[:1], d.Ifaces[:1]
	d.QoS[0].Pause, d.QoS[0].PFC, d.QoS[0].Lossless = intent.Some(true), intent.Some(intent.PrioritySet(0)), 0
	b := newBench(t, d)
	p := b.ports()
	p["rail0"].Agent, p["rail0"].Host, p["rail0"].RX, p["rail0"].TX, p["rail0"].PFC = false, true, false, false, [8]bool{3: true}
	b.state(p)
	b.captured("before")
	b.run(0, qosScript, "rail0")
	if p := b.ports()["rail0"]; !p.RX || !p.TX || p.PFC != [8]bool{} {
		t.Errorf("%+v", p)
	}
	b.run(0, qosScript, "--restore", filepath.Join(b.root, "before"))
	if p := b.ports()["rail0"]; p.RX || p.TX || !p.PFC[3] {
		t.Errorf("back: %+v", p)
	}
	// And the other way round.
	b = newBench(t, iceHost())
	b.captured("before")
	b.run(0, qosScript, "rail0")
	if p := b.ports()["rail0"]; p.RX || p.TX || !p.PFC[3] {
		t.Errorf("%+v", p)
	}
	b.run(0, qosScript, "--restore", filepath.Join(b.root, "before"))
	if p := b.ports()["rail0"]; !p.RX || !p.TX || p.PFC != [8]bool{} {
		t.Errorf("back: %+v", p)
	}
}

// TestFEC: each family shows what it was told in a way of its own.
func TestFEC(t *testing.T) {
	t.Parallel()
	for driver, words := range map[string][]intent.FEC{bnxt: {intent.FECAuto, intent.FECNone}, ice: {intent.FECRS, intent.FECFC, intent.FECNone}} {
		for _, word := range words {
			d := map[string]*intent.Device{bnxt: bnxtHost(), ice: iceHost()}[driver]
			d.Ports, d.Ifaces = d.Ports[:1], d.Ifaces[:1]
			d.Ports[0].FEC = intent.Some(word)
			b := newBench(t, d)
			p := b.ports()
			p["rail0"].FEC = "BaseR"
			if word == intent.FECFC {
				p["rail0"].FEC = "RS"
			}
			b.state(p)
			if _, started := b.run(0, qosScript, "rail0"); !strings.Contains(started, "--set-fec rail0 encoding "+fecWords[word]) {
				t.Errorf("%s %s is not set:\n%s", driver, word, started)
			}
			got, _ := Target.Parse(d, b.captured("after"))
			if diff := cmp.Diff(d.Ports[0].FEC, got.Ports[0].FEC); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", driver, word, diff)
			}
		}
	}
}

// TestEnvironment: applications are told the mark of their class, and by
// rocec-env what changes from boot to boot.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	b := newBench(t, nvmeHost())
	for i, p := range []string{"rail0", "rail1"} {
		port := "sys/class/infiniband/mlx5_" + itoa(i) + "/ports/1/"
		for j, gid := range []string{"fe80:0000:0000:0000:ba3f:d2ff:fe00:0001", "fe80:0000:0000:0000:ba3f:d2ff:fe00:0001", "0000:0000:0000:0000:0000:ffff:0a0a:000b", "0000:0000:0000:0000:0000:ffff:0a0a:000b"} {
			b.write(port+"gids/"+itoa(j), gid+"\n")
			b.write(port+"gid_attrs/types/"+itoa(j), []string{"IB/RoCE v1", "RoCE v2"}[j%2]+"\n")
			b.write(port+"gid_attrs/ndevs/"+itoa(j), p+"\n")
		}
	}
	text, err := os.ReadFile(filepath.Join(b.root, "bundle/env/rdma.env"))
	b.must(err)
	b.write("etc/rocec/env/rdma.env", string(text))
	values := func(out string) []string {
		var list []string
		for line := range strings.Lines(out) {
			if !strings.HasPrefix(line, "#") {
				list = append(list, strings.TrimSpace(line))
			}
		}
		return list
	}
	out, _ := b.run(0, "rocec-env")
	if diff := cmp.Diff([]string{
		"ROCEC_PORTS=rail0=rail0,rail1=rail1", "NCCL_IB_ROCE_VERSION_NUM=2", "NCCL_IB_TC=106", "UCX_IB_TRAFFIC_CLASS=106",
		"NCCL_IB_HCA==mlx5_0:1,mlx5_1:1", "UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1", "NCCL_IB_GID_INDEX=3",
	}, values(out)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// One index cannot serve rails that differ.
	b.write("sys/class/infiniband/mlx5_1/ports/1/gid_attrs/types/3", "IB/RoCE v1\n")
	b.write("sys/class/infiniband/mlx5_1/ports/1/gid_attrs/types/2", "RoCE v2\n")
	if out, _ := b.run(0, "rocec-env", "rdma"); strings.Contains(out, "GID_INDEX") {
		t.Errorf("one index for two:\n%s", out)
	}
	b.run(1, "rocec-env", "nosuch")
}

// TestClasses: what an environment says follows from the class.
func TestClasses(t *testing.T) {
	t.Parallel()
	app := nvmeHost()
	q := &app.QoS[0]
	q.DSCP.Value[34], q.DSCP.Value[35] = 4, 4
	q.Marks = append(q.Marks, intent.Mark{Class: "gpu", Carries: "rdma", Priority: 4, Application: true, ECT: true, Transport: "roce_v2"})
	text := string(find(t, artifacts(t, app), "env/gpu.env"))
	if !strings.Contains(text, "\nNCCL_IB_TC=138\n") || !strings.Contains(text, "cannot be told") {
		t.Errorf("gpu:\n%s", text)
	}
	text = string(find(t, artifacts(t, pcpHost()), "env/rdma.env"))
	for _, want := range []string{"ROCEC_PORTS=bond0.100=bond0/rail0/rail1\n", "NCCL_IB_SL=3\n", "UCX_IB_SL=3\n", "NCCL_IB_TC=106\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	for want, first := range map[bool][]string{true: {"2001:db8::b/64"}, false: {"2001:db8::b/64", "10.10.0.11/24"}} {
		six := nvmeHost()
		for i, addresses := range [][]string{first, {"2001:db8:1::b/64"}} {
			six.Ifaces[i].Addresses, six.Ifaces[i].Gateway = prefixes(addresses...), intent.Opt[netip.Addr]{}
		}
		text := string(find(t, artifacts(t, six), "env/rdma.env"))
		if got := strings.Contains(text, "\nNCCL_IB_ADDR_FAMILY=AF_INET6\n"); got != want {
			t.Errorf("of IPv6 alone %v:\n%s", want, text)
		}
	}
	for _, a := range artifacts(t, iwarpHost()) {
		if strings.HasPrefix(a.Path, "env/") {
			t.Errorf("iWARP has %s", a.Path)
		}
	}
}

// TestEnvironmentFollowsGPUs: the list of devices is in the order of the GPUs
// beside them, without those that are beside none.
func TestEnvironmentFollowsGPUs(t *testing.T) {
	t.Parallel()
	d := nvmeHost()
	for i, gpu := range []string{"gpu10", "gpu2", ""} {
		if i == 2 {
			p := d.Ports[0]
			n := *p.NIC
			n.MAC, n.PCI, p.Name, p.NIC = "b8:3f:d2:00:00:03", "0000:5e:00.0", "store0", &n
			d.Ports = append(d.Ports, p)
		}
		d.Ports[i].NIC.GPU = gpu
	}
	text := string(find(t, artifacts(t, d), "env/rdma.env"))
	for _, want := range []string{"# In the order of the GPUs beside them: gpu2, gpu10\n", "# Beside no GPU, and left out: store0\n", "\nROCEC_PORTS=rail1=rail1,rail0=rail0\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	for i := range d.Ports {
		d.Ports[i].NIC.GPU = ""
	}
	if text := string(find(t, artifacts(t, d), "env/rdma.env")); !strings.Contains(text, "\nROCEC_PORTS=rail0=rail0,rail1=rail1,store0=store0\n") || strings.Contains(text, "GPU") {
		t.Errorf("without GPUs:\n%s", text)
	}
}

// TestClockTurns: an error that dcb reports of what took effect is none, and what it left undone is done.
func TestClockTurns(t *testing.T) {
	t.Parallel()
	d := nvmeHost()
	d.Ports, d.Ifaces = d.Ports[:1], d.Ifaces[:1]
	b := newBench(t, d)
	p := b.ports()
	p["rail0"].Turn, p["rail0"].DSCP = true, map[int]int{26: 5, 8: 0}
	b.state(p)
	if out, _ := b.run(0, qosScript, "rail0"); strings.Contains(out, "FAILED") {
		t.Error(out)
	}
	b.run(0, qosScript, "rail0", "--check")
	got := b.ports()["rail0"]
	if got.DSCP[26] != 3 || len(got.Left) > 0 || !got.PFC[3] || got.Cable != 2 {
		t.Errorf("the port is left as %+v", got)
	}
	// The error is there: what stands alone fails.
	c := exec.Command(filepath.Join(b.root, "bin/dcb"), "pfc", "set", "dev", "rail0", "delay", "3")
	c.Env = append(os.Environ(), modelEnv+"="+b.root)
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "Protocol error") {
		t.Errorf("the model says nothing: %s", out)
	}
}

// TestOFED: where the driver has the files of OFED, they are used.
func TestOFED(t *testing.T) {
	t.Parallel()
	b := newBench(t, nvmeHost())
	ecn := "sys/class/net/rail0/ecn/"
	for _, f := range []string{"roce_np/enable/3", "roce_rp/enable/3", "roce_np/cnp_dscp", "roce_np/cnp_802p_prio"} {
		b.write(ecn+f, "0\n")
	}
	b.run(0, qosScript, "rail0")
	for f, want := range map[string]string{"roce_np/enable/3": "1", "roce_rp/enable/3": "1", "roce_np/cnp_dscp": "48", "roce_np/cnp_802p_prio": "6"} {
		got, err := os.ReadFile(filepath.Join(b.root, ecn+f))
		b.must(err)
		if strings.TrimSpace(string(got)) != want {
			t.Errorf("%s is %s, wanted %s", f, got, want)
		}
	}
}

// TestVerify: verify.sh is content with a host that is as it should be, and
// names each thing that is not.
func TestVerify(t *testing.T) {
	t.Parallel()
	oracle.Need(t, "systemd-escape")
	b := newBench(t, nvmeHost())
	b.write("rules", "0:\tfrom all lookup local\n1001:\tfrom 10.10.0.11 lookup 1001\n1002:\tfrom 10.10.1.11 lookup 1002\n")
	b.write("addresses", "3: rail0    inet 10.10.0.11/24 brd x scope global rail0\\  valid_lft forever\n4: rail1    inet 10.10.1.11/24 brd x scope global rail1\\\n")
	b.write("active_mtu", "4096 (5)")
	for i, p := range []string{"rail0", "rail1"} {
		b.write("sys/class/infiniband/mlx5_"+itoa(i)+"/ports/1/gid_attrs/ndevs/0", p+"\n")
	}
	for _, n := range []string{"rail0", "rail1"} {
		for f, v := range map[string]string{"arp_ignore": "1", "arp_announce": "2", "rp_filter": "2"} {
			b.write("proc/sys/net/ipv4/conf/"+n+"/"+f, v+"\n")
		}
	}
	entries := b.belongs()
	if len(entries) < 10 {
		t.Fatalf("verify.sh compares %d files", len(entries))
	}
	for _, e := range entries {
		text, err := os.ReadFile(e[0])
		b.must(err)
		b.write(strings.TrimPrefix(e[1], b.root), string(text))
		mode, _ := strconv.ParseUint(e[2], 8, 32)
		b.must(os.Chmod(e[1], os.FileMode(mode)))
	}
	b.run(0, qosScript, "--all")
	if out, started := b.run(0, "verify.sh"); out != "" || len(changes(started)) > 0 {
		t.Errorf("verify.sh starts %q and says:\n%s", changes(started), out)
	}
	b.write("rules", "1001:\tfrom 10.10.0.110 lookup 1001\n1002:\tfrom 10.10.1.11 lookup 1002\n")
	b.write("addresses", "3: rail0    inet 10.10.0.110/24 scope global\n4: rail1    inet 10.10.1.11/24 brd x\n")
	b.write("active_mtu", "1024 (3)")
	b.write("disabled", "x")
	b.write("sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "eno1\n")
	b.write("etc/sysctl.d/60-rocec.conf", "")
	b.write("proc/sys/net/ipv4/conf/rail1/arp_ignore", "0\n")
	p := b.ports()
	p["rail1"].PFC[4] = true
	b.state(p)
	out, _ := b.run(1, "verify.sh")
	for _, want := range []string{
		"/etc/sysctl.d/60-rocec.conf is not the file of ", "net.ipv4.conf of rail1: arp_ignore is not 1", "rocec-qos@rail0.service is not enabled", "rail0 has no address 10.10.0.11/24",
		"no rule sends what comes from 10.10.0.11 to table 1001", "no RDMA device has a GID of rail0", "RDMA MTU of mlx5_1 is 1024, wanted at least 4096",
		"rail1: differs: PFC is 0 0 0 1 1 0 0 0",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	for _, no := range []string{"10.10.1.11/24", "table 1002", "GID of rail1"} {
		if strings.Contains(out, no) {
			t.Errorf("%q is well, and reported:\n%s", no, out)
		}
	}
}
