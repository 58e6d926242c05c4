package rocec_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/targets/oracle"
)

// sshSite is where rocec runs in the guest.
const sshSite = "/root/site"

// sshApply: hosts that know nothing of rocec, on one of which somebody paused a
// priority. They become what the fabric says, and RDMA crosses the result.
const sshApply = `
cd $site
chmod +x rocec
ssh-keygen -q -t ed25519 -N '' -f key
prepare a 2201 '[127.0.0.1]:2201'
prepare b 2202 '[127.0.0.1]:2202'
equip a
equip b
machine
at a dcb pfc set dev rd0 prio-pfc 5:on >/dev/null 2>&1
step apply rocec apply --auto-approve
echo "@ set"; settings rd0 rd1 rd2
echo "@ file"; at a cat /etc/netplan/60-rocec.yaml; at a networkctl status rd0
step again rocec plan --detailed-exitcode
step write crossed
`

// sshArmed is a change of one of them that nobody confirms.
const sshArmed = `
sed -i 's/priority  = 3/priority  = 4/; s/, "rdma_ping"//' fabric.roce.hcl # a wave of one host has nobody to ping
step armed rocec apply --auto-approve --confirm=1h --target=node.b
echo "@ unconfirmed"; pfc rd2; open_change b
`

// sshBoot: after a loss of power nobody but udev and systemd sets anything.
const sshBoot = `
cd $site
machine
booted rd0 rd1 rd2
echo "@ booted"; settings rd0 rd1
`

// sshUndone: the hour in which the change could have been confirmed is made to end.
const sshUndone = `
sed -i 's/priority  = 4/priority  = 3/' fabric.roce.hcl
echo "@ waiting"; pfc rd2; open_change b
hour_over b
echo "@ back"; settings rd2; open_change b
`

const sshAgain = `
step again rocec plan --detailed-exitcode
`

// sshGone: all is taken back, to what the hosts were before they knew of rocec. make
// hosts does this and what nobody confirms, and not the gate, which has half an hour:
// TestManyHosts has changes that nobody confirms too.
const sshGone = `
step settle rocec rollback --auto-approve
step rollback rocec rollback --auto-approve
echo "@ gone"; settings rd0 rd1 rd2
echo "@ left"; for h in a b; do at $h find /etc /usr/local/sbin -type f -name '*rocec*'; done
`

// built is the rocec of this tree, linked so that it needs no library of the guest.
func built(t *testing.T) []byte {
	t.Helper()
	program := filepath.Join(t.TempDir(), "rocec")
	cmd := exec.Command("go", "build", "-o", program, "./cmd/rocec")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return read(t, program)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// sshJobs are the whole of rocec over Debian's sshd, on two hosts at once and
// across a loss of power.
func sshJobs(t *testing.T) []oracle.GuestJob {
	t.Helper()
	for _, tool := range []string{"sshd", "ssh-keygen", "dbus-daemon", "udevadm", "netplan", "sysctl", "rping", "ib_write_bw", oracle.SoftRoCE} {
		oracle.Need(t, tool)
	}
	hosts := hostScripts(t, "guest.sh")
	apply, boot := hosts+sshApply, hosts+sshBoot+sshAgain
	if soaks() {
		apply, boot = apply+sshArmed, hosts+sshBoot+sshUndone+sshAgain+sshGone
	}
	return []oracle.GuestJob{
		{Name: "ssh apply", Seconds: 1100, Script: apply, Files: map[string][]byte{
			sshSite + "/rocec": built(t), sshSite + "/fabric.roce.hcl": read(t, "testdata/lab/hosts/fabric.roce.hcl"),
		}},
		{Name: "ssh boot", Seconds: 1100, Script: boot, PowerCut: true},
	}
}

// hostScripts is what tells of hosts, and what tells where these are.
func hostScripts(t *testing.T, place string) string {
	t.Helper()
	return string(read(t, "testdata/lab/hosts/"+place)) + string(read(t, "testdata/lab/hosts/hosts.sh"))
}

func soaks() bool { return os.Getenv("ROCEC_SOAK") != "" }

// said demands an exit code and some of what a step printed.
func said(t *testing.T, s map[string]string, step, code string, says ...string) {
	t.Helper()
	if !strings.Contains("\n"+s[step]+"\n", "\nexit "+code+"\n") {
		t.Errorf("%s, wanted exit code %s:\n%s", step, code, s[step])
	}
	for _, x := range says {
		if !strings.Contains(s[step], x) {
			t.Errorf("%s does not say %q:\n%s", step, x, s[step])
		}
	}
}

// portLine is a line of settings.
var portLine = regexp.MustCompile(`(?m)^(rd\d) mtu (\d+) arp ([\d ]+)tos (\d+) ?(.*)$`)

// onlyPaused: so many ports show this priority paused and no other; -1 is none.
func onlyPaused(t *testing.T, s map[string]string, step string, ports, priority int) {
	t.Helper()
	on := []string{"false", "false", "false", "false", "false", "false", "false", "false"}
	if priority >= 0 {
		on[priority] = "true"
	}
	if want := `"prio_pfc":[` + strings.Join(on, ",") + "]"; strings.Count(s[step], want) != ports || strings.Count(s[step], "prio_pfc") != ports {
		t.Errorf("%s: not %d ports have %s:\n%s", step, ports, want, s[step])
	}
}

// shows demands the lines of settings.
func shows(t *testing.T, s map[string]string, step string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, portLine.FindAllString(s[step], -1)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", step, diff)
	}
}

// What a change sets besides DCB. Two ports of host a share a subnet, so that each
// is to answer ARP for itself.
var (
	linesOfA = []string{"rd0 mtu 9000 arp 1 2 2 tos 106 inet 10.100.0.11/24", "rd1 mtu 9000 arp 1 2 2 tos 106 inet 10.100.0.12/24"}
	lineOfB  = "rd2 mtu 9000 arp 0 0 0 tos 106 inet 10.100.0.21/24"
)

// TestHosts is rocec as a whole on hosts in the guest: see sshApply, sshBoot and sshGone.
func TestHosts(t *testing.T) {
	oracle.Need(t, oracle.Guest)
	t.Parallel()
	sshResult(t, oracle.RunGuest(t, sshJobs(t)))
}

func sshResult(t *testing.T, results []oracle.GuestResult) {
	for _, r := range results {
		if r.ExitCode == 124 {
			t.Errorf("%s takes too long", r.Name)
		}
	}
	apply, boot := results[0].Steps(), results[1].Steps()
	said(t, apply, "apply", "0", "pfc             = [5] -> [3]", "3 ports, 3 interfaces interrupted on 2 devices", "Wave hosts: 2 devices", "Apply complete: 2 applied")
	onlyPaused(t, apply, "set", 3, 3)
	shows(t, apply, "set", append(slices.Clone(linesOfA), lineOfB)...)
	for _, want := range []string{"/run/systemd/network/10-netplan-rd0.network", "(configured)"} {
		if !strings.Contains(apply["file"], want) {
			t.Errorf("networkd does not have rd0 from the file, no %q:\n%s", want, apply["file"])
		}
	}
	said(t, apply, "again", "0", "No changes.")
	said(t, apply, "write", "0")
	wrote(t, apply["write"])
	if soaks() {
		said(t, apply, "armed", "0")
		onlyPaused(t, apply, "unconfirmed", 1, 4)
	}

	onlyPaused(t, boot, "booted", 2, 3)
	shows(t, boot, "booted", linesOfA...)
	said(t, boot, "again", "0", "No changes.")
	if soaks() {
		undoneResult(t, boot)
		goneResult(t, boot)
	}
}

func undoneResult(t *testing.T, boot map[string]string) {
	t.Helper()
	onlyPaused(t, boot, "waiting", 1, 4)
	if !strings.Contains(boot["waiting"], `"phase":"changed"`) || !strings.Contains(boot["waiting"], "rocec-live-") {
		t.Errorf("after the boot the change of b does not wait for its confirmation:\n%s", boot["waiting"])
	}
	onlyPaused(t, boot, "back", 1, 3)
	shows(t, boot, "back", lineOfB)
	if !strings.Contains(boot["back"], `"phase":"reverted"`) {
		t.Errorf("the change of b is not undone:\n%s", boot["back"])
	}
}

func goneResult(t *testing.T, boot map[string]string) {
	t.Helper()
	said(t, boot, "settle", "0")
	said(t, boot, "rollback", "0", "Rollback complete: 0 applied, 2 rolled back")
	for _, port := range []struct {
		pfc   string
		count int
	}{{"[false,false,false,false,false,true,false,false]", 1}, {"[false,false,false,false,false,false,false,false]", 2}} {
		if strings.Count(boot["gone"], `"prio_pfc":`+port.pfc) != port.count {
			t.Errorf("not %d ports have PFC as before, %s:\n%s", port.count, port.pfc, boot["gone"])
		}
	}
	if strings.Contains(boot["gone"], "tos 106") || strings.Contains(boot["gone"], "inet ") || strings.Contains(boot["gone"], "mtu 9000") {
		t.Errorf("something of the ports stays:\n%s", boot["gone"])
	}
	if strings.TrimSpace(boot["left"]) != "" {
		t.Errorf("files stay:\n%s", boot["left"])
	}
}

// wrote: all writes were made, and left with the TOS of the class. ib_write_bw prints
// its row once the last has completed. The bandwidth in it says nothing: where the
// clock of an emulated processor is not even, perftest has it as 0 (get_cpu_mhz in its
// src/get_clock.c).
func wrote(t *testing.T, text string) {
	t.Helper()
	if !regexp.MustCompile(`(?m)^ *65536 +20([ \t]+\S+){3}[ \t]*$`).MatchString(text) {
		t.Errorf("ib_write_bw has no row of 20 writes of 65536 bytes:\n%s", text)
	}
	sent := regexp.MustCompile(`Sent (\d+) bytes`).FindAllStringSubmatch(text, -1)
	if len(sent) != 2 {
		t.Fatalf("%d counters:\n%s", len(sent), text)
	}
	if marked, err := strconv.Atoi(sent[0][1]); err != nil || marked < 20*65536 {
		t.Errorf("%s bytes left with the TOS of the class:\n%s", sent[0][1], text)
	}
	if sent[1][1] != "0" {
		t.Errorf("%s bytes left with another TOS:\n%s", sent[1][1], text)
	}
}
