package linux

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/oracle"
)

// systemd starts Debian's systemd in a process namespace of the guest, whose own
// first process is a shell, with nothing in it but timers. Inside runs a command
// where it is process 1. stop_systemd ends it and all that it started, as a loss
// of power does.
const systemd = `
mountpoint -q /sys/fs/cgroup || mount -t cgroup2 cgroup2 /sys/fs/cgroup
for u in /lib/systemd/system/{sysinit,sockets,basic,timers,local-fs,multi-user}.target.wants/* /etc/systemd/system/timers.target.wants/*; do
	case ${u##*/} in rocec-*) ;; *) ln -sf /dev/null "/etc/systemd/system/${u##*/}" ;; esac
done
printf '[Unit]\nRequires=sysinit.target\nWants=timers.target\n' >/etc/systemd/system/lab.target
start_systemd() {
	local space i first
	rm -rf /run/systemd
	setsid unshare --fork --pid --mount-proc --propagation unchanged env container=rocec /lib/systemd/systemd --unit=lab.target --log-target=null </dev/null >/dev/null 2>&1 &
	space=$!
	first=
	for ((i = 0; i < 100 && ! first; i++)); do
		read -r first <"/proc/$space/task/$space/children" # which has no newline, so that its exit code says nothing
		[[ -n $first ]] || sleep 0.2
	done 2>/dev/null
	echo "$first" >/run/lab/first
	for ((i = 0; i < 100; i++)); do
		! inside systemctl is-active --quiet lab.target 2>/dev/null || break
		sleep 0.2
	done
}
inside() { nsenter --target "$(</run/lab/first)" --mount --pid --root --wd -- "$@"; }
stop_systemd() { kill -9 "$(</run/lab/first)"; sleep 0.5; }
printf '#!/bin/sh\necho "netplan $*" >>/run/netplan\n' >/usr/local/sbin/netplan
printf '#!/bin/sh\nexit 1\n' >/usr/local/sbin/ethtool
chmod +x /usr/local/sbin/netplan /usr/local/sbin/ethtool
echo guest >/etc/hostname
`

// liveVerbs are functions of the shell for the verbs of a change: what a session
// runs, where it runs it.
func liveVerbs(d *intent.Device, id string, confirm time.Duration) string {
	tx := targets.Transaction{ID: id, Device: d, Confirm: confirm}
	var b strings.Builder
	for _, v := range []targets.Verb{targets.VerbBegin, targets.VerbChange, targets.VerbStatus, targets.VerbConfirm, targets.VerbRevert} {
		line := Target.Live.Command(v, tx)
		if v != targets.VerbStatus {
			line = "cd " + Target.Live.Root + "/" + id + "/" + d.Name + " && " + line
		}
		word, err := emit.Shell(line)
		if err != nil {
			panic(err) // of plain characters
		}
		b.WriteString("live_" + string(v) + "() { inside bash -c " + word + "; }\n")
	}
	return b.String()
}

// liveFiles lays a transaction out.
func liveFiles(t *testing.T, d *intent.Device, id string) map[string][]byte {
	files := map[string][]byte{}
	for path, text := range bundle(t, "/"+d.Name, d) {
		files[Target.Live.Root+"/"+id+path] = text
	}
	return files
}

const liveJob = `
ip link set rd0 mtu 9000 up
start_systemd
echo "@ before"; dump rd0
step begin live_begin
step begun live_status
echo "@ untouched"; dump rd0
step change live_change
step changed live_status
echo "@ set"; dump rd0
`

// Every job has a fresh rd0. The unit would set it; there is no udev here that
// would start it.
const liveKeepJob = `
ip link set rd0 mtu 9000 up
step confirm live_confirm
step confirmed live_status
/usr/local/sbin/rocec-qos rd0
echo "@ set"; dump rd0
echo "@ timers"; inside systemctl list-timers --all --no-legend 'rocec-*'
step revert live_revert
step reverted live_status
echo "@ after"; dump rd0
`

// A second change is under way when the power fails; its timer counts anew from
// the start of the system.
const liveCutJob = `
ip link set rd0 mtu 9000 up
step begin live_begin
step change live_change
step changed live_status
stop_systemd
`

const liveBootJob = `
ip link set rd0 mtu 9000 up
/usr/local/sbin/rocec-qos rd0
echo "@ set"; dump rd0
start_systemd
step booted live_status
for ((i = 0; i < 300; i++)); do
	[[ $(live_status) != *'"reverted"'* ]] || break
	sleep 0.3
done
step reverted live_status
echo "@ after"; dump rd0
echo "@ units"; ls /etc/systemd/system/rocec-live-* 2>&1; inside systemctl list-timers --all --no-legend 'rocec-*'
`

// liveJobs are the verbs on a host whose port is rd0, under Debian's systemd.
func liveJobs(t *testing.T) []oracle.GuestJob {
	d := guestHost("rd0")
	folder := Target.Live.Root + "/live1/" + d.Name
	job := func(name, id string, confirm time.Duration, script string) oracle.GuestJob {
		return oracle.GuestJob{Name: name, Files: liveFiles(t, d, id), Script: in(folder, systemd+liveVerbs(d, id, confirm)+script)}
	}
	return []oracle.GuestJob{
		job("live", "live1", 10*time.Minute, liveJob),
		job("keep", "live1", 10*time.Minute, liveKeepJob),
		job("power", "live2", time.Minute, liveCutJob),
		job("boot", "live2", time.Minute, liveBootJob),
	}
}

// state is what a step of live_status shows.
func state(t *testing.T, s map[string]string, step string) targets.State {
	t.Helper()
	var out targets.State
	line, _, _ := strings.Cut(s[step], "\n")
	if err := json.Unmarshal([]byte(line), &out); err != nil {
		t.Errorf("%s: %v: %s", step, err, s[step])
	}
	return out
}

func exits(t *testing.T, s map[string]string, steps ...string) {
	t.Helper()
	for _, step := range steps {
		if !strings.Contains("\n"+s[step], "\nexit 0\n") {
			t.Errorf("%s: %s", step, s[step])
		}
	}
}

// sameDCB: two dumps show the same settings.
func sameDCB(t *testing.T, before, after string) {
	t.Helper()
	a, b := captured(before).Files, captured(after).Files
	for _, f := range []string{"rd0/app.json", "rd0/pfc.json", "rd0/ets.json", "rd0/dcbx.json"} {
		if diff := cmp.Diff(string(a[f]), string(b[f])); diff != "" {
			t.Errorf("%s (-before +after):\n%s", f, diff)
		}
	}
}

func liveResult(t *testing.T, results []oracle.GuestResult) {
	d := guestHost("rd0")
	s := steps(results[0].Output)
	exits(t, s, "begin", "change")
	if got := state(t, s, "begun"); got.Phase != targets.PhaseBegun || got.Left < 400 || got.Open != "live1" {
		t.Errorf("begun: %+v", got)
	}
	sameDCB(t, s["before"], s["untouched"])
	if got := state(t, s, "changed"); got.Phase != targets.PhaseChanged || got.Left == 0 {
		t.Errorf("changed: %+v", got)
	}
	sameQoS(t, d, captured(s["set"]))
	kept := steps(results[1].Output)
	exits(t, kept, "confirm", "revert")
	if got := state(t, kept, "confirmed"); got.Phase != targets.PhaseConfirmed || got.Left != 0 || got.Open != "" || strings.Contains(kept["timers"], "rocec") {
		t.Errorf("confirmed: %+v, timers %s", got, kept["timers"])
	}
	sameQoS(t, d, captured(kept["set"]))
	if got := state(t, kept, "reverted"); got.Phase != targets.PhaseReverted {
		t.Errorf("reverted: %+v", got)
	}
	sameDCB(t, s["before"], kept["after"])

	cut, boot := steps(results[2].Output), steps(results[3].Output)
	exits(t, cut, "begin", "change")
	if got := state(t, cut, "changed"); got.Phase != targets.PhaseChanged {
		t.Errorf("before the boot: %+v", got)
	}
	if got := state(t, boot, "reverted"); got.Phase != targets.PhaseReverted || got.Open != "" {
		t.Errorf("after the boot: %+v, before that %+v", got, state(t, boot, "booted"))
	}
	sameQoS(t, d, captured(boot["set"]))
	sameDCB(t, s["before"], boot["after"])
	if strings.Contains(boot["units"], "/etc/systemd/system/rocec-live") && !strings.Contains(boot["units"], "No such file") {
		t.Errorf("units stay:\n%s", boot["units"])
	}
}
