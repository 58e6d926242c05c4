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
[[ -e /etc/systemd/system/lab.target ]] || for u in /lib/systemd/system/{sysinit,sockets,basic,timers,local-fs,multi-user}.target.wants/* /etc/systemd/system/timers.target.wants/*; do
	case ${u##*/} in rocec-*) ;; *) ln -sf /dev/null "/etc/systemd/system/${u##*/}" ;; esac
done
printf '[Unit]\nRequires=sysinit.target\nWants=timers.target\n' >/etc/systemd/system/lab.target
start_systemd() {
	local space i first
	rm -rf /run/systemd
	mkdir -p /run/lab
	setsid unshare --fork --pid --mount-proc --propagation unchanged env container=rocec /lib/systemd/systemd --unit=lab.target --show-status=false --log-target=null </dev/null >/dev/null 2>&1 &
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

// Every job has a fresh rd0, as after a boot; the unit would set it, but there is
// no udev here that would start it.
const (
	liveShort = `
step begin live_begin
`
	liveElapsed = `
for ((i = 0; i < 200; i++)); do
	[[ $(live_status) != *'"reverted"'* ]] || break
	sleep 0.3
done
step reverted live_status
for ((i = 0; i < 100; i++)); do
	[[ -n $(inside systemctl list-timers --all --no-legend 'rocec-*') ]] || break
	sleep 0.3
done
echo "@ units"; ls /etc/systemd/system/ | grep rocec-live; inside systemctl list-timers --all --no-legend 'rocec-*'
`
	liveBegin = `
ip link set rd0 mtu 9000 up
echo "@ before"; dump rd0
step begin live_begin
step begun live_status
echo "@ untouched"; dump rd0
`
	liveChange = `
ip link set rd0 mtu 9000 up
step change live_change
step changed live_status
echo "@ set"; dump rd0
`
	liveConfirm = `
step confirm live_confirm
step confirmed live_status
echo "@ timers"; inside systemctl list-timers --all --no-legend 'rocec-*'
ip link set rd0 mtu 9000 up
/usr/local/sbin/rocec-qos rd0
echo "@ set"; dump rd0
`
	liveRevert = `
ip link set rd0 mtu 9000 up
/usr/local/sbin/rocec-qos rd0
step revert live_revert
step reverted live_status
echo "@ after"; dump rd0
`
	liveBoot = `
stop_systemd
start_systemd
step booted live_status
`
)

// liveJobs are the verbs on a host whose port is rd0, under Debian's systemd: a
// change that is forgotten, and one with a loss of power before its confirmation,
// which is undone after it.
func liveJobs(t *testing.T) []oracle.GuestJob {
	d := guestHost("rd0")
	var jobs []oracle.GuestJob
	for _, j := range []struct {
		id, name string
		confirm  time.Duration
		script   string
	}{
		{"live0", "start", time.Second, "start_systemd"},
		{"live0", "short", time.Second, liveShort},
		{"live0", "elapsed", time.Second, liveElapsed},
		{"live1", "begin", time.Hour, liveBegin},
		{"live1", "change", time.Hour, liveChange},
		{"live1", "boot", time.Hour, liveBoot},
		{"live1", "confirm", time.Hour, liveConfirm},
		{"live1", "revert", time.Hour, liveRevert},
	} {
		script := in(Target.Live.Root+"/"+j.id+"/"+d.Name, systemd+liveVerbs(d, j.id, j.confirm)+j.script)
		jobs = append(jobs, oracle.GuestJob{Name: j.name, Files: liveFiles(t, d, j.id), Script: script})
	}
	return jobs
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
	var r []map[string]string
	for _, one := range results {
		if one.ExitCode == 124 {
			t.Errorf("%s takes too long", one.Name)
		}
		r = append(r, one.Steps())
	}
	short, elapsed, begin, change, boot, confirm, revert := r[1], r[2], r[3], r[4], r[5], r[6], r[7]
	in := func(s map[string]string, step string, phase targets.Phase, scheduled bool, open string) {
		t.Helper()
		if got := state(t, s, step); got.Phase != phase || (got.Left > 0) != scheduled || got.Open != open {
			t.Errorf("%s: %+v", step, got)
		}
	}
	exits(t, short, "begin")
	in(elapsed, "reverted", targets.PhaseReverted, false, "")
	exits(t, begin, "begin")
	in(begin, "begun", targets.PhaseBegun, true, "live1")
	sameDCB(t, begin["before"], begin["untouched"])
	exits(t, change, "change")
	in(change, "changed", targets.PhaseChanged, true, "live1")
	sameQoS(t, d, captured(change["set"]))
	in(boot, "booted", targets.PhaseChanged, true, "live1") // its timer runs again
	exits(t, confirm, "confirm")
	in(confirm, "confirmed", targets.PhaseConfirmed, false, "")
	sameQoS(t, d, captured(confirm["set"]))
	exits(t, revert, "revert")
	in(revert, "reverted", targets.PhaseReverted, false, "")
	restoredDCB(t, begin["before"], revert["after"])
	for name, s := range map[string]string{"forgotten": elapsed["units"], "confirmed": confirm["timers"]} {
		if strings.Contains(s, "rocec-live") {
			t.Errorf("%s: the timer stays:\n%s", name, s)
		}
	}
}

// restoredDCB is sameDCB but for what restoring cannot bring back on this device:
// who owns DCBX, which needs mlnx_qos, and the shares of classes that have none.
func restoredDCB(t *testing.T, before, after string) {
	t.Helper()
	a, b := captured(before).Files, captured(after).Files
	for _, f := range []string{"rd0/app.json", "rd0/pfc.json"} {
		if diff := cmp.Diff(string(a[f]), string(b[f])); diff != "" {
			t.Errorf("%s (-before +after):\n%s", f, diff)
		}
	}
	if ets := string(b["rd0/ets.json"]); !strings.Contains(ets, `"tc_tsa":["vendor","vendor","vendor"`) || !strings.Contains(ets, `"prio_tc":[1,0,2,3,4,5,6,7]`) {
		t.Errorf("ETS is not as before: %s", ets)
	}
}
