package posix

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rocec/rocec/deploy/lab"
)

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for !is() {
		runtime.Gosched()
		if t.Context().Err() != nil {
			t.Fatal(what)
		}
	}
}

func there(h *Host, name string) func() bool {
	return func() bool {
		_, err := h.Disk().Stat(name)
		return err == nil
	}
}

// TestTimers: a timer counts the time that passes, again from the start after a
// reboot, whatever the clock on the wall shows; what it starts may run again.
func TestTimers(t *testing.T) {
	clock := lab.NewManualTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	h := newHost(t, Options{Clock: clock})
	for name, text := range map[string]string{
		"back.service": "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo x >>/var/lib/fired'\n",
		"back.timer":   "[Timer]\nOnActiveSec=10min\nOnUnitInactiveSec=60s\n[Install]\nWantedBy=timers.target\n",
	} {
		if err := h.Disk().WriteFile("/etc/systemd/system/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out := do(h, "systemctl enable --quiet --now back.timer; systemctl is-active back.timer; systemctl is-enabled back.timer"); out != "active\nenabled\nexit 0\n" {
		t.Fatal(out)
	}
	clock.Advance(9 * time.Minute)
	clock.Jump(clock.Now().Add(240 * time.Hour))
	h.Reboot()
	clock.Advance(9 * time.Minute)
	clock.Jump(clock.Now().Add(-480 * time.Hour))
	if there(h, "/var/lib/fired")() {
		t.Fatal("the timer came too early")
	}
	clock.Advance(time.Minute)
	until(t, "the timer does not come", there(h, "/var/lib/fired"))
	until(t, "the service does not end", func() bool { return h.Units.Active("back.service") == "inactive" && clock.Waiting() > 0 })
	clock.Advance(time.Minute)
	until(t, "it does not come again", func() bool { b, _ := h.Disk().ReadFile("/var/lib/fired"); return strings.Count(string(b), "x") == 2 })
	if out := do(h, "systemctl disable --quiet --now back.timer; systemctl is-active back.timer"); out != "inactive\nexit 3\n" {
		t.Error(out)
	}
}

// TestTransient: what systemd-run starts ends with the power, a persistent timer
// of the calendar does what it missed.
func TestTransient(t *testing.T) {
	clock := lab.NewManualTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	h := newHost(t, Options{Clock: clock})
	if out := do(h, `systemd-run --quiet --unit=later --on-active=5min touch /var/lib/later; systemctl is-active later.timer
systemd-run --unit=later --on-active=1 true 2>/dev/null; echo $?`); out != "active\n1\nexit 0\n" {
		t.Fatal(out)
	}
	h.Reboot()
	clock.Advance(time.Hour)
	if there(h, "/var/lib/later")() {
		t.Error("a transient timer outlives the power")
	}
	for name, text := range map[string]string{
		"at.service": "[Service]\nType=oneshot\nExecStart=touch /var/lib/at\n",
		"at.timer":   "[Timer]\nOnCalendar=2026-01-02 05:00:00 UTC\nPersistent=true\n[Install]\nWantedBy=timers.target\n",
	} {
		if err := h.Disk().WriteFile("/etc/systemd/system/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	do(h, "systemctl enable --now at.timer")
	clock.Jump(time.Date(2026, 1, 2, 6, 0, 0, 0, time.UTC)) // while it is off
	h.Reboot()
	clock.Advance(time.Second)
	until(t, "what was missed does not happen", there(h, "/var/lib/at"))
}

// TestReboot: a loss of power ends what runs, and empties what is volatile.
func TestReboot(t *testing.T) {
	h := newHost(t, Options{Clock: lab.NewManualTime(time.Unix(1e9, 0))})
	done := make(chan string)
	go func() { done <- do(h, "echo x >/run/a; echo y >/var/lib/b; sleep 1000; echo never >/var/lib/c") }()
	until(t, "it does not start", there(h, "/var/lib/b"))
	before := do(h, "cat /proc/sys/kernel/random/boot_id")
	h.Reboot()
	if out := <-done; out != "exit -1\n" {
		t.Errorf("the session ends with %q", out)
	}
	if there(h, "/run/a")() || !there(h, "/var/lib/b")() || there(h, "/var/lib/c")() {
		t.Error("files are not as after a loss of power")
	}
	if after := do(h, "cat /proc/sys/kernel/random/boot_id"); after == before {
		t.Error("the boot is not another one")
	}
}

// TestFaults: each strikes the command that it is for.
func TestFaults(t *testing.T) {
	for kind, want := range map[lab.FaultKind]string{
		lab.FaultRefuse: "touch: simulated refusal\nc\nexit 0\n", lab.FaultLie: "c\nexit 0\n", lab.FaultReboot: "exit -1\n",
	} {
		var faults lab.Faults
		h := newHost(t, Options{Faults: &faults, Changes: func(line string) bool { return strings.HasPrefix(line, "touch") }})
		faults.Inject(lab.Fault{Kind: kind, Nth: 2})
		out := do(h, "cd /var/lib; touch a; touch b; touch c; ls | grep -v -x -e a -e misc | grep -x '[bc]'")
		if out != want {
			t.Errorf("%s: %q, wanted %q", kind, out, want)
		}
		until(t, "it does not come back", func() bool { return do(h, "true") == "exit 0\n" })
		if !there(h, "/var/lib/a")() || there(h, "/var/lib/b")() {
			t.Errorf("%s strikes another command", kind)
		}
	}
}

// What a program or a unit has and the simulation has not is said, and not left out.
func TestNotSimulated(t *testing.T) {
	h := newHost(t, Options{})
	do(h, "echo a >a; echo b >b")
	for _, line := range []string{
		"sort -V a", "sort -k1,2 a", "mv -n a b", "mv --exchange a b", "touch -d x c", "chmod -R 700 .", "mktemp -u", "date -Is", "sudo -u nobody true", "df -B1 .",
		"sed 1q a", "sed /a/,3p a", "sed s/a/b/2 a", "tr '[:punct:]' x <a", "timeout --preserve-status 1 true", "systemctl --runtime enable x",
	} {
		if out := do(h, line); strings.HasSuffix(out, "exit 0\n") {
			t.Errorf("%s: %s", line, out)
		}
	}
	if out := do(h, "cat a b; ls"); out != "a\nb\na\nb\nexit 0\n" {
		t.Errorf("something was done: %s", out)
	}
	for _, line := range []string{"ExecStartPre=/bin/true", "EnvironmentFile=/etc/x"} {
		if err := h.Disk().WriteFile("/etc/systemd/system/x.service", []byte("[Service]\nType=oneshot\nExecStart=/bin/true\n"+line+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if out := do(h, "systemctl start x"); !strings.Contains(out, "is not simulated") {
			t.Errorf("%s: %s", line, out)
		}
	}
}

// A service that takes too long to start is ended, and has failed.
func TestTimeoutStart(t *testing.T) {
	clock := lab.NewManualTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	h := newHost(t, Options{Clock: clock})
	if err := h.Disk().WriteFile("/etc/systemd/system/x.service", []byte("[Service]\nType=oneshot\nTimeoutStartSec=5min\nExecStart=/bin/sleep 1h\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := do(h, "systemctl start --no-block x; systemctl is-active x"); out != "activating\nexit 3\n" {
		t.Fatal(out)
	}
	until(t, "nothing waits", func() bool { return clock.Waiting() == 2 })
	clock.Advance(4 * time.Minute)
	if state := h.Units.Active("x.service"); state != "activating" {
		t.Errorf("it is %s too early", state)
	}
	clock.Advance(time.Minute)
	until(t, "it goes on", func() bool { return h.Units.Active("x.service") == "failed" })
	if out := do(h, "systemctl show -p Result --value x"); !strings.HasPrefix(out, "timeout\n") {
		t.Error(out)
	}
}
