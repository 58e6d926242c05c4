package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/machines"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/oracle"
)

// liveSite is a folder with a configuration, and simulated devices for it.
type liveSite struct {
	t       *testing.T
	dir     string
	lab     *lab.Lab
	clock   *shiftedTime                        // of the devices
	met     atomic.Pointer[func(device string)] // called before a device runs a command line
	env     []string
	old     []string // journals of runs before
	victim  string   // the device that something happens to
	args    []string // of an apply
	project *project
	devices map[string]*served
}

// shiftedTime is real time on clocks that can be set.
type shiftedTime struct {
	lab.RealTime
	ahead atomic.Int64 // ns
}

func (c *shiftedTime) Now() time.Time {
	return c.RealTime.Now().Add(time.Duration(c.ahead.Load()))
}

// onLab starts simulated devices for a configuration of testdata, in which some
// text was replaced by other.
func onLab(t *testing.T, name string, replace ...string) *liveSite {
	t.Helper()
	dir := t.TempDir()
	files, err := filepath.Glob(filepath.Join("testdata", name, "*.roce.hcl"))
	if err != nil || len(files) == 0 {
		t.Fatal("no configuration", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		put(t, dir, filepath.Base(file), []byte(strings.NewReplacer(replace...).Replace(string(text))))
	}
	site := &liveSite{t: t, dir: dir, clock: &shiftedTime{}}
	devices := site.load()
	o := lab.Options{Clock: site.clock, Before: func(device string) {
		if f := site.met.Load(); f != nil {
			(*f)(device)
		}
	}}
	if slices.ContainsFunc(devices, func(d served) bool { return d.target.Name == "sonic" }) {
		oracle.Need(t, "python3")
	}
	first, makers := site.project, new(machines.All)
	o.Cables = first.cables
	var list []lab.Device
	for i := range devices {
		s := &devices[i]
		list = append(list, lab.Device{
			Name: s.name, Target: s.target.Name, User: machines.User(s.target.Name), Shell: s.target.Live.Shell, Make: makers.Maker(s.target.Name),
			Intent: func() *intent.Device { return first.alone(s) },
		})
	}
	l, err := lab.Up(context.Background(), list, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	site.lab, site.env = l, []string{"ROCEC_LAB=" + l.File}
	return site
}

// load reads the configuration as it is now.
func (s *liveSite) load() []served {
	s.t.Helper()
	p, err := newApp(strings.NewReader(""), io.Discard, io.Discard, nil).loadFrom(s.dir, noInputs(), false)
	if err != nil {
		s.t.Fatal(err)
	}
	devices := p.devices()
	if p.diags.HasErrors() {
		s.t.Fatal(p.diags)
	}
	s.project, s.devices = p, map[string]*served{}
	for i := range devices {
		s.devices[devices[i].name] = &devices[i]
	}
	return devices
}

// observed is what a simulated device shows, without a session.
func (s *liveSite) observed(device string) *intent.Device {
	s.t.Helper()
	m, err := s.lab.Machine(device)
	if err != nil {
		s.t.Fatal(err)
	}
	d := s.devices[device]
	want := s.project.alone(d)
	c := targets.Captured{Files: map[string][]byte{}}
	for _, p := range d.target.Runs(want) {
		var out, errOut bytes.Buffer
		if m.Exec(context.Background(), p.Command, nil, &out, &errOut); out.Len() > 0 {
			c.Files[p.File] = out.Bytes()
		}
	}
	have, found := d.target.Parse(want, c)
	if found.HasErrors() {
		s.t.Fatalf("%s shows what cannot be read: %v", device, found)
	}
	return have
}

func noInputs() *inputs {
	list := &[]lang.Var{}
	return &inputs{vars: orderedVars{list, false}, varFiles: orderedVars{list, true}}
}

// run runs rocec and demands its exit code and some of what it prints.
func (s *liveSite) run(code int, args []string, says ...string) string {
	s.t.Helper()
	got, out, errOut := rocec(s.t, s.dir, s.env, args...)
	all := out + errOut
	if got != code {
		s.t.Errorf("rocec %q: exit code %d, expected %d:\n%s", args, got, code, all)
	}
	for _, x := range says {
		if !strings.Contains(all, x) {
			s.t.Errorf("rocec %q does not say %q:\n%s", args, x, all)
		}
	}
	return all
}

// edit changes the configuration.
func (s *liveSite) edit(from, to string) {
	s.t.Helper()
	s.editIn("fabric.roce.hcl", from, to)
}

func (s *liveSite) editIn(name, from, to string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	text, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	if !strings.Contains(string(text), from) {
		s.t.Fatalf("the configuration has no %q", from)
	}
	put(s.t, s.dir, name, []byte(strings.ReplaceAll(string(text), from, to)))
}

// exec runs a command line on a simulated device.
func (s *liveSite) exec(device, command string) string {
	s.t.Helper()
	m, err := s.lab.Machine(device)
	if err != nil {
		s.t.Fatal(err)
	}
	var out bytes.Buffer
	if code := m.Exec(context.Background(), command, nil, &out, &out); code != 0 {
		s.t.Errorf("%s on %s: exit code %d: %s", command, device, code, out.String())
	}
	return out.String()
}

// lastApply is the ID of the last apply.
func (s *liveSite) lastApply() string {
	s.t.Helper()
	list, err := filepath.Glob(filepath.Join(s.dir, ".rocec", "journal", "lab", "*.ndjson"))
	if err != nil || len(list) == 0 {
		s.t.Fatal("there is no journal", err)
	}
	return strings.TrimSuffix(filepath.Base(list[len(list)-1]), ".ndjson")
}

// TestLive applies to simulated devices, sees that nothing is left to do, changes,
// holds, confirms and takes back.
func TestLive(t *testing.T) {
	t.Parallel()
	s := onLab(t, "live")
	s.run(2, []string{"plan", "--detailed-exitcode"}, "Plan: 4 to add")
	out := s.run(0, []string{"apply", "--auto-approve"}, "Apply complete: 4 applied", "Wave canary: 1 device", "Wave rest: 3 devices",
		`node.s["s1"] and switch.tor are joined by a link, and change one after the other`)
	if strings.Index(out, "switch.tor: changing") < strings.Index(out, `node.s["s3"]: applied`) {
		t.Errorf("the order is not downstream first:\n%s", out)
	}
	first := s.lastApply()
	s.run(0, []string{"plan", "--detailed-exitcode"}, "No changes.")
	s.run(0, []string{"apply", "--auto-approve"}, "No changes.")
	s.run(0, []string{"record", "list"}, "applied")

	// A change of one class, held for a person, and confirmed.
	s.edit(`dscp     = [48]`, `dscp     = [46]`)
	s.run(0, []string{"apply", "--auto-approve", "--wave=canary", "--confirm=1h"}, "1 to be confirmed", "rocec confirm", `node.s["s1"]: changed, goes back at`)
	s.run(1, []string{"apply", "--auto-approve"}, "waits to be confirmed until", "run rocec confirm, or rocec rollback")
	s.run(0, []string{"rollback", "--status"}, "waits to be confirmed", "says that it is changed, and goes back by itself in")
	s.run(0, []string{"confirm"}, "Confirm complete: 1 applied")
	s.run(1, []string{"confirm"}, "nothing waits to be confirmed")

	// A saved plan; a device that moves makes it stale.
	s.run(0, []string{"plan", "--out=change.rocplan"})
	s.exec("s2", "ip link set dev rdma0 mtu 4200")
	s.run(1, []string{"apply", "change.rocplan"}, `Saved plan is stale: what the device shows has changed of node.s["s2"] (make it anew: rocec plan --out=FILE)`)
	s.exec("s2", "ip link set dev rdma0 mtu 9000")
	s.run(0, []string{"apply", "change.rocplan"}, "3 applied")
	// What it has done already makes it no more stale, and approves nothing further.
	s.run(0, []string{"apply", "change.rocplan"}, "No changes.")
	s.exec("s2", "ip link set dev rdma0 mtu 4200")
	s.run(1, []string{"apply", "change.rocplan"}, `Saved plan is stale: what the device shows has changed of node.s["s2"]; the record has changed of node.s["s2"] (make it anew`)
	s.exec("s2", "ip link set dev rdma0 mtu 9000")
	s.run(0, []string{"plan", "--detailed-exitcode"}, "No changes.")

	// Back, one apply after the other.
	s.run(0, []string{"rollback", "--auto-approve"}, "Rollback complete: 0 applied, 3 rolled back")
	s.run(2, []string{"plan", "--detailed-exitcode"})
	s.run(0, []string{"rollback", "--to=" + first, "--auto-approve"}, "Rollback complete: 0 applied, 1 rolled back")
	s.run(0, []string{"rollback", "--to=" + first, "--auto-approve"}, "Nothing to take back.")
	s.run(1, []string{"rollback", "--to=none"}, "no apply has the ID")
	s.edit(`dscp     = [46]`, `dscp     = [48]`)
	s.run(0, []string{"plan", "--detailed-exitcode"}, "No changes.")
	s.run(0, []string{"rollback", "--status"}, "taken back", "applied")
}

// TestOthersLeft: what an apply that died has left is settled also by one for other devices.
func TestOthersLeft(t *testing.T) {
	t.Parallel()
	s := onLab(t, "live")
	s.victim, s.args = "s2", applyHosts
	s.until("changed").kill()
	s.run(0, []string{"apply", "--auto-approve", "--target=node.s[s1]"}, "did not come to its end", "Resume complete:", "No changes.")
	if left := s.run(0, []string{"rollback", "--status"}); strings.Contains(left, "not at its end") || strings.Contains(left, "needs you") {
		t.Error(left)
	}
}

// TestLastWatched: the gates of the last wave are asked by the next apply when the one
// that changed it was killed before it had asked them, also where nothing is left to
// change; and then no more.
func TestLastWatched(t *testing.T) {
	t.Parallel()
	const canary = `select = [node.s["s1"]]
    gate   = ["verify"]
  }
  wave "rest" {`
	s := onLab(t, "live", canary+"}", canary+`
    soak = "20m"
    gate = ["no_discards"]
  }`)
	s.victim = "tor"
	p := s.start([]string{"apply", "--auto-approve"})
	p.await("recorded")
	p.kill()
	s.editIn("rollout.roce.hcl", "20m", "1s")
	s.run(0, []string{"plan", "--detailed-exitcode"}, "No changes.")
	if err := s.lab.Inject("s3", *struck(lab.FaultDrops, "", 0, 0)); err != nil {
		t.Fatal(err)
	}
	s.run(0, []string{"rollback", "--status"}, "  applied, not watched to the end\n")
	const again = "Wave rest was changed by an earlier apply, and not watched to its end"
	s.run(0, []string{"apply", "--auto-approve", "--wave=canary"}, "No changes.") // not asked for
	for range 2 {
		s.run(1, []string{"apply", "--auto-approve", "--wave=rest"}, "No changes.", again, "Wave rest is watched for 1 s",
			`Stopped by wave rest: gate counters: node.s["s3"]: rdma0: frames dropped on priority 3 grew by 12`)
	}
	if err := s.lab.Heal("s3"); err != nil {
		t.Fatal(err)
	}
	// It is asked for under the name that it has by now.
	s.editIn("rollout.roce.hcl", `wave "rest"`, `wave "others"`)
	s.run(0, []string{"apply", "--auto-approve"}, "No changes.", "Wave others is watched for 1 s", "Apply complete: 0 applied")
	if out := s.run(0, []string{"apply", "--auto-approve"}, "No changes."); strings.Contains(out, "watched") {
		t.Errorf("it is watched once more:\n%s", out)
	}
	if out := s.run(0, []string{"rollback", "--status"}); strings.Contains(out, "watched") {
		t.Error(out)
	}
	s.run(0, []string{"rollback", "--auto-approve"}, "4 rolled back")
}

// TestLiveFirst: a first apply that fails on a host which rocec never configured leaves it as it was found.
func TestLiveFirst(t *testing.T) {
	t.Parallel()
	s := onLab(t, "live", "rollout {", "target \"linux\" {\n  options = { qos_tool = \"mlnx_qos\" }\n}\n\nrollout {")
	network := func() string { return s.exec("s2", "ip -o link show; ip -o addr show; ip rule show") }
	before, observed := network(), s.observed("s2")
	if err := s.lab.Inject("s2", *struck(lab.FaultRefuse, `^mlnx_qos .*--pfc`, 1, 1)); err != nil {
		t.Fatal(err)
	}
	s.run(1, []string{"apply", "--auto-approve", `--target=node.s["s2"]`}, "1 rolled back")
	if diff := cmp.Diff(before, network()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	if left := intent.Diff(observed, s.observed("s2")); len(left) > 0 {
		t.Errorf("observed otherwise than before: %v", left)
	}
}

// TestTags: what a VLAN device writes into its tags is set, seen, missed and taken back: RDMA without its PCP is lossy at the switch.
func TestTags(t *testing.T) {
	t.Parallel()
	s := onLab(t, "tags")
	maps := func(want string) {
		t.Helper()
		if got := s.exec("s1", "ip -d link show dev rdma0.100"); !strings.Contains(got, "egress-qos-map { "+want+" }") {
			t.Errorf("the map of the VLAN device is not %s: %s", want, got)
		}
	}
	s.run(0, []string{"apply", "--auto-approve"}, "1 applied")
	s.run(0, []string{"plan", "--detailed-exitcode"}, "No changes.")
	maps("2:3")

	for _, other := range []string{"2:0", "2:5", "2:3 0:3"} {
		s.exec("s1", "ip link set dev rdma0.100 type vlan egress-qos-map "+other)
		s.run(2, []string{"verify"}, `interface["rdma0.100"].pcp_map`)
	}
	s.run(0, []string{"apply", "--auto-approve"}, "1 applied")
	s.run(0, []string{"verify"}, "1 in sync")
	maps("2:3")

	// Another DSCP has another priority of the kernel; that is no drift, and goes back.
	s.edit("dscp      = [26]", "dscp      = [28]")
	if out := s.run(2, []string{"plan", "--detailed-exitcode"}, "class.rdma.dscp"); strings.Contains(out, "pcp_map") {
		t.Errorf("the tags are as they shall be:\n%s", out)
	}
	s.run(0, []string{"apply", "--auto-approve"}, "1 applied")
	maps("6:3")
	s.run(0, []string{"rollback", "--auto-approve"}, "1 rolled back")
	maps("2:3")
}

// TestLiveKept: a host that runs as it should and would not start so is not in sync: a plan says what is missing and what to put
// it back does, apply does that, and a way back leaves it to start as it did.
func TestLiveKept(t *testing.T) {
	t.Parallel()
	s := onLab(t, "tags")
	s.run(0, []string{"apply", "--auto-approve"}, "1 applied")
	s.run(0, []string{"plan", "--detailed-exitcode"}, "No changes.")
	s.run(0, []string{"verify"}, "1 in sync")
	lost := func() string {
		return s.exec("s1", "ls /etc/netplan/60-rocec.yaml /etc/systemd/system/*.wants/rocec-qos@*.service 2>&1; grep -c hand /etc/rocec/host.sh")
	}
	s.exec("s1", "rm /etc/netplan/60-rocec.yaml && systemctl disable rocec-qos@rdma0.service && echo '# hand' >>/etc/rocec/host.sh; chmod 644 /usr/local/sbin/rocec-qos")
	before := lost()
	s.run(2, []string{"verify"}, "stored./etc/netplan/60-rocec.yaml = as installed -> missing", "stored.rocec-qos@rdma0.service = enabled -> disabled",
		"stored./etc/rocec/host.sh = as installed -> edited", "stored./usr/local/sbin/rocec-qos = mode 755 -> mode 644", "apply stores it again")
	s.run(2, []string{"plan", "--detailed-exitcode"}, "stored./etc/netplan/60-rocec.yaml", "netplan apply sets every device anew",
		"stored.rocec-qos@rdma0.service", "nothing is interrupted", "0 to add, 1 to change")
	s.run(0, []string{"apply", "--auto-approve"}, "1 applied")
	s.run(0, []string{"verify"}, "1 in sync")
	s.run(0, []string{"plan", "--detailed-exitcode"}, "No changes.")
	s.run(0, []string{"rollback", "--auto-approve"}, "1 rolled back")
	if got := lost(); got != before {
		t.Errorf("taken back, the host has\n%s, before it had\n%s", got, before)
	}

	// Files of another version of rocec are replaced, and are no drift; that of netplan only differs in the digest of its intent.
	s.run(0, []string{"apply", "--auto-approve"}, "1 applied")
	older := func(file, mode, command string) {
		s.exec("s1", command+` && sed -i "s,^`+mode+` [0-9a-f]* \(`+file+`\)$,`+mode+` $(sha256sum <`+file+` | cut -d' ' -f1) \1," /var/lib/rocec/installed`)
	}
	older("/usr/local/sbin/rocec-qos", "755", "echo '# older' >>/usr/local/sbin/rocec-qos")
	older("/etc/netplan/60-rocec.yaml", "600", "echo '# older' >>/etc/netplan/60-rocec.yaml")
	s.run(0, []string{"verify"}, "1 in sync")
	out := s.run(2, []string{"plan", "--detailed-exitcode"}, "stored./etc/netplan/60-rocec.yaml = of another version, in comments only -> as installed",
		"stored./usr/local/sbin/rocec-qos = of another version -> as installed", "# only rocec's own files are renewed; nothing is interrupted", "Impact: no interruption known.")
	if strings.Contains(out, "!") {
		t.Errorf("something is interrupted:\n%s", out)
	}
	s.run(0, []string{"apply", "--auto-approve"}, "1 applied")
	s.run(0, []string{"plan", "--detailed-exitcode"}, "No changes.")
}

// TestMute: a device that lets in and then says nothing does not hold up a plan.
func TestMute(t *testing.T) {
	t.Parallel()
	s := onLab(t, "live")
	s.env = append(s.env, "ROCEC_PATIENCE=1s")
	if err := s.lab.Inject("s2", lab.Fault{Kind: lab.FaultMute}); err != nil {
		t.Fatal(err)
	}
	s.run(1, []string{"plan", "--target=node.s[s2]", "--json"}, "could not be read: run: no end in the time allowed, 1s")
}
