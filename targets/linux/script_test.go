package linux

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/oracle"
)

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
	for _, p := range []string{"dcb", "mlnx_qos", "ethtool", "rdma", "ip", "systemctl", "modprobe", "mstconfig", "ibv_devinfo"} {
		b.must(os.Symlink(self, filepath.Join(b.root, "bin", p)))
	}
	ports := map[string]*modelPort{}
	for i, p := range d.Ports {
		ports[p.Name] = newPort()
		pci := filepath.Join(b.root, "sys/devices/0000:3b:00."+itoa(i))
		b.write("sys/class/net/"+p.Name+"/mtu", "9000\n")
		b.write("sys/class/net/"+p.Name+"/flags", "0x1003\n")
		b.write("sys/class/net/"+p.Name+"/speed", "100000\n")
		b.must(os.MkdirAll(filepath.Join(b.root, "sys/drivers/mlx5_core"), 0o755))
		b.must(os.MkdirAll(pci, 0o755))
		b.must(os.Symlink(filepath.Join(b.root, "sys/drivers/mlx5_core"), filepath.Join(pci, "driver")))
		b.must(os.Symlink(pci, filepath.Join(b.root, "sys/class/net", p.Name, "device")))
		b.write("sys/kernel/debug/mlx5/0000:3b:00."+itoa(i)+"/cc_params/np_cnp_dscp", "48\n")
		b.write("sys/kernel/debug/mlx5/0000:3b:00."+itoa(i)+"/cc_params/np_cnp_prio", "5\n")
		cm := "sys/kernel/config/rdma_cm/mlx5_" + itoa(i) + "/ports/1/"
		b.write(cm+"default_roce_mode", "IB/RoCE v1\n")
		b.write(cm+"default_roce_tos", "0\n")
	}
	b.write("run/x", "")
	b.write("mask", "255")
	b.state(ports)
	for _, a := range artifacts(t, d) {
		b.write("bundle/"+a.Path, strings.NewReplacer("/sys/", b.root+"/sys/", "/proc/", b.root+"/proc/", "/run/", b.root+"/run/",
			"/etc/", b.root+"/etc/", "/usr/local/", b.root+"/usr/local/").Replace(string(a.Bytes)))
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
	c := exec.Command("bash", append([]string{filepath.Join(b.root, "bundle", script)}, args...)...)
	c.Env = append(os.Environ(), "PATH="+filepath.Join(b.root, "bin")+":/usr/bin:/bin", modelEnv+"="+b.root)
	text, _ := c.CombinedOutput()
	if got := c.ProcessState.ExitCode(); got != code {
		b.t.Errorf("%s %v: exit %d, wanted %d:\n%s", script, args, got, code, text)
	}
	log, _ := os.ReadFile(filepath.Join(b.root, "log"))
	return string(text), string(log)
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
			f[0] == "ip" && f[1] == "-d", strings.HasPrefix(line, "ethtool --json"), strings.HasPrefix(line, "ethtool -i"), strings.HasPrefix(line, "ethtool --show"),
			f[0] == "mlnx_qos" && f[len(f)-1] == "-a", f[0] == "ethtool" && len(f) == 2:
		default:
			list = append(list, line)
		}
	}
	return list
}

// TestRoundTrip: rocec-qos brings a fresh port to the intent, and what is read
// back is the intent, with both programs.
func TestRoundTrip(t *testing.T) {
	for _, tool := range []string{dcbTool, mlnxTool} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			d := mlnxHost()
			if tool == dcbTool {
				d = nvmeHost()
			} else {
				d.Ports, d.Ifaces = d.Ports[:1], d.Ifaces[:1] // the second port says nothing new, and costs seconds
			}
			d.Ports[0].FEC = intent.Some(intent.FECRS)
			b := newBench(t, d)
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
			if p := b.ports()["rail0"]; p.PFC != newPort().PFC || p.Prio != newPort().Prio || len(p.DSCP) != 0 || !p.RX || p.Cable != 7 {
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
		want.Marks = want.Marks[:2] // the default class marks nothing
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
		}
		of := func(p intent.Port) shown {
			return shown{Cable: p.CableMm, FEC: p.FEC, RoCE: p.NIC.RoCE, RDMA: p.NIC.RDMA, DCBX: p.NIC.DCBX, Mbps: p.Mbps}
		}
		w, s := of(p), of(*g)
		if !w.FEC.IsSet() {
			s.FEC = w.FEC
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

// TestOrder: what a family needs first comes first (sheet of the family: pause,
// trust, ETS, PFC, cable), and each concern in a command of its own.
func TestOrder(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string][]string{
		dcbTool: {
			"ethtool -A rail0 autoneg off rx off tx off",
			"dcb dcbx set dev rail0 host ieee",
			"dcb app replace dev rail0 dscp-prio 0:0 1:0",
			"dcb ets set dev rail0 willing off tc-tsa 0:ets 1:ets 2:strict 3:strict 4:strict 5:strict 6:strict 7:strict tc-bw all:0 0:50 1:50 prio-tc 0:0 1:0 2:0 3:1 4:0 5:0 6:2 7:0",
			"dcb pfc set dev rail0 prio-pfc all:off 3:on",
			"dcb pfc set dev rail0 delay 2",
		},
		mlnxTool: {
			"ethtool -A rail0 autoneg off rx off tx off",
			"mlnx_qos -i rail0 -d os",
			"mlnx_qos -i rail0 --trust dscp",
			"mlnx_qos -i rail0 --dscp2prio set,8,0",
			"mlnx_qos -i rail0 -p 0,0,0,1,0,0,2,0 -s ets,ets,strict,strict,strict,strict,strict,strict -t 50,50,0,0,0,0,0,0",
			"mlnx_qos -i rail0 -r 40,0,0,0,0,0,0,0",
			"mlnx_qos -i rail0 --pfc 0,0,0,1,0,0,0,0",
			"mlnx_qos -i rail0 --cable_len 2",
		},
	} {
		d := nvmeHost()
		if tool == mlnxTool {
			d = mlnxHost()
		}
		_, started := newBench(t, d).run(0, qosScript, "rail0")
		got := changes(started)
		if len(got) != len(want) {
			t.Errorf("%s: %d commands, wanted %d:\n%s", tool, len(got), len(want), strings.Join(got, "\n"))
			continue
		}
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("%s: command %d is %q, wanted %q", tool, i, got[i], want[i])
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

var fileEntry = regexp.MustCompile(`(?m)^\t'([^|']+)\|([^|']+)\|(\d+)'$`)

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
	script, err := os.ReadFile(filepath.Join(b.root, "bundle/verify.sh"))
	b.must(err)
	entries := fileEntry.FindAllStringSubmatch(string(script), -1)
	if len(entries) < 5 {
		t.Fatalf("verify.sh compares %d files", len(entries))
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(b.root, "bundle", e[1]))
		b.must(err)
		b.write(strings.TrimPrefix(e[2], b.root), string(text))
		mode, _ := strconv.ParseUint(e[3], 8, 32)
		b.must(os.Chmod(e[2], os.FileMode(mode)))
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
	p := b.ports()
	p["rail1"].PFC[4] = true
	b.state(p)
	out, _ := b.run(1, "verify.sh")
	for _, want := range []string{
		"/etc/sysctl.d/60-rocec.conf is not the file of this folder", "rocec-qos@rail0.service is not enabled", "rail0 has no address 10.10.0.11/24",
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
