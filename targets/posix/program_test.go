package posix

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/oracle"
)

func itoa(n int) string { return strconv.Itoa(n) }

func TestProgramParses(t *testing.T) {
	oracle.Shell(t, File, Program("root=/var/test\n"+part).Bytes)
}

// reach brings a fresh device's change a1 to a phase.
var reach = map[targets.Phase]func(d device){
	targets.PhaseNone:      func(device) {},
	targets.PhaseBegun:     func(d device) { d.Do("a1", "begin") },
	targets.PhaseChanged:   func(d device) { d.Do("a1", "begin", "change") },
	targets.PhaseConfirmed: func(d device) { d.Do("a1", "begin", "change", "confirm") },
	targets.PhaseReverted:  func(d device) { d.Do("a1", "begin", "change", "revert") },
	targets.PhaseFailed: func(d device) {
		d.Write("fail-change", "")
		d.Do("a1", "begin")
		if code, why := d.Run("a1", "change"); code != targets.ExitFailed || why != `the "setting" \ is refused` {
			d.T.Fatalf("exit %d: %s", code, why)
		}
		d.Remove("fail-change")
	},
	targets.PhaseStuck: func(d device) {
		d.Write("fail-revert", "")
		d.Do("a1", "begin", "change")
		if code, why := d.Run("a1", "revert"); code != targets.ExitStuck || why != "the revert failed: no way back" {
			d.T.Fatalf("exit %d: %s", code, why)
		}
	},
	targets.PhaseChanging: func(d device) {
		d.Do("a1", "begin")
		d.cut("gate", "a1", "change")
	},
	targets.PhaseReverting: func(d device) {
		d.Do("a1", "begin", "change")
		d.cut("revert-gate", "a1", "revert")
	},
}

// cut starts a verb, waits until it is in the middle and kills all of it.
func (d device) cut(gate, id, verb string) {
	d.T.Helper()
	done := d.hold(gate, id, verb)
	d.kill()
	done()
	d.Remove(gate)
	d.Remove("waits")
}

// hold starts a verb that waits at a gate and returns, when it does, what waits for its end.
func (d device) hold(gate, id, verb string) (done func()) {
	d.T.Helper()
	d.Write(gate, "")
	c := d.Command(id, verb)
	d.must(c.Start())
	for d.Read("waits") == "" {
		runtime.Gosched()
	}
	return func() { _ = c.Wait() }
}

// kill ends every program that works in the device's folder. One may start another while
// they are looked for: they are gone when none is found.
func (d device) kill() {
	d.T.Helper()
	for found := true; found; {
		found = false
		dirs, err := os.ReadDir("/proc")
		d.must(err)
		for _, e := range dirs {
			pid, err := strconv.Atoi(e.Name())
			if err != nil || pid == os.Getpid() {
				continue
			}
			environ, _ := os.ReadFile("/proc/" + e.Name() + "/environ") // empty of one that has ended
			if strings.Contains("\x00"+string(environ), "\x00ROCEC_FAKE="+d.Root+"\x00") {
				p, _ := os.FindProcess(pid)
				_ = p.Kill()
				found = true
			}
		}
	}
}

// TestVerbs: every verb in every phase.
func TestVerbs(t *testing.T) {
	type after struct {
		code  int
		phase targets.Phase
		says  string
	}
	const none, begun, changed, failed, confirmed, reverting, reverted, stuck = targets.PhaseNone, targets.PhaseBegun, targets.PhaseChanged,
		targets.PhaseFailed, targets.PhaseConfirmed, targets.PhaseReverting, targets.PhaseReverted, targets.PhaseStuck
	const changing = targets.PhaseChanging // cut off in the middle, which status calls failed
	for phase, verbs := range map[targets.Phase]map[string]after{
		none:      {"begin": {0, begun, ""}, "change": {10, none, "was not begun"}, "confirm": {10, none, "was not begun"}, "revert": {0, none, ""}, "release": {10, none, "is none"}},
		begun:     {"begin": {0, begun, ""}, "change": {0, changed, ""}, "confirm": {10, begun, "nothing to confirm"}, "revert": {0, reverted, ""}, "scheduled": {0, reverted, ""}},
		changing:  {"begin": {10, failed, "is changing already"}, "change": {20, failed, "cut off"}, "confirm": {20, failed, "cut off"}, "revert": {0, reverted, ""}, "scheduled": {0, reverted, ""}},
		changed:   {"begin": {10, changed, "is changed already"}, "change": {0, changed, ""}, "confirm": {0, confirmed, ""}, "revert": {0, reverted, ""}, "scheduled": {0, reverted, ""}},
		failed:    {"begin": {10, failed, "is failed already"}, "change": {20, failed, "is refused"}, "confirm": {20, failed, "is refused"}, "revert": {0, reverted, ""}, "scheduled": {0, reverted, ""}},
		confirmed: {"begin": {10, confirmed, "needs another ID"}, "change": {0, confirmed, ""}, "confirm": {0, confirmed, ""}, "revert": {0, reverted, ""}, "scheduled": {0, confirmed, ""}},
		reverting: {"begin": {10, reverting, "is reverting already"}, "change": {10, reverting, "is reverting"}, "confirm": {10, reverting, "is reverting"}, "revert": {0, reverted, ""}, "scheduled": {0, reverted, ""}},
		reverted:  {"begin": {10, reverted, "needs another ID"}, "change": {10, reverted, "is reverted"}, "confirm": {10, reverted, "is reverted"}, "revert": {0, reverted, ""}, "scheduled": {0, reverted, ""}},
		stuck:     {"begin": {10, stuck, "is stuck"}, "change": {10, stuck, "is stuck"}, "confirm": {10, stuck, "is stuck"}, "revert": {30, stuck, "no way back"}, "release": {0, stuck, ""}},
	} {
		t.Run(string(phase), func(t *testing.T) {
			t.Parallel()
			d := newDevice(t)
			reach[phase](d)
			kept := t.TempDir()
			d.Keep(kept)
			for verb, want := range verbs {
				d.T = t
				d.Restore(kept)
				code, why := d.Run("a1", verb)
				s := d.consistent("a1", verb)
				if code != want.code || s.Phase != want.phase || !strings.Contains(why, want.says) {
					t.Errorf("%s: exit %d, %s (%s), wanted exit %d, %s (%s)", verb, code, s.Phase, why, want.code, want.phase, want.says)
				}
				if want.code == targets.ExitRefused {
					d.same(kept, verb)
				}
			}
		})
	}
}

// consistent: what status says is so.
func (d device) consistent(id, when string) targets.State {
	d.T.Helper()
	s := d.Status(id)
	setting, saved := d.Read("setting"), d.Read("saved")
	open := id
	var fits bool
	switch s.Phase {
	case targets.PhaseNone, targets.PhaseReverted:
		fits, open = setting == "old" && saved == "old", ""
	case targets.PhaseBegun:
		fits = setting == "old" && saved == "old"
	case targets.PhaseChanged:
		fits = setting == "new"
	case targets.PhaseConfirmed:
		fits, open = setting == "new" && saved == "new", ""
	default:
		fits = true
	}
	if !fits {
		d.T.Errorf("%s: %s, and the setting is %s, in store %s", when, s.Phase, setting, saved)
	}
	if s.Open != open && !(s.Phase == targets.PhaseStuck && when == "release") {
		d.T.Errorf("%s: %s is open", when, s.Open)
	}
	if (s.Left > 0) != (d.Armed(id) && open != "") {
		d.T.Errorf("%s: %s, %d s are left, and armed is %t", when, s.Phase, s.Left, d.Armed(id))
	}
	return s
}

// over demands of a change that it has ended and nothing is scheduled any more.
func (d device) over(when string, confirmed bool) {
	d.T.Helper()
	phase, setting := "phase=reverted", "old"
	if confirmed {
		phase, setting = "phase=confirmed", "new"
	}
	if text := d.Read("var/live/a1.state/state"); text != "" && !strings.HasPrefix(text, phase+"\n") {
		d.T.Errorf("%s: %s", when, text)
	}
	if d.Read("setting") != setting || d.Read("saved") != setting || d.Armed("a1") || d.Read("var/live/.open") != "" {
		d.T.Errorf("%s: the setting is %s, in store %s, armed %t, open %s", when, d.Read("setting"), d.Read("saved"), d.Armed("a1"), d.Read("var/live/.open"))
	}
}

// same demands that nothing has changed but the files of steps that were asked.
func (d device) same(before, when string) {
	d.T.Helper()
	c := exec.Command("diff", "-r", "-x", "*.out", "-x", "*.lock", "-x", ".lock", "-x", "calls", before, d.Root)
	if out, err := c.CombinedOutput(); err != nil {
		d.T.Errorf("%s changes:\n%s", when, out)
	}
}

// TestRefusals: what begin does not like leaves the device as it was.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(d *device)
		args  []string
		says  string
	}{
		"another device":     {args: []string{"600", "leaf-2"}, says: "these files are for leaf-2, this is leaf-1.example"},
		"a name of a script": {args: []string{"600", "$(touch x)"}, says: "these files are for $(touch x)"},
		"no time":            {args: []string{"0", "leaf-1"}, says: "not a number of seconds"},
		"no number":          {args: []string{"a[$(touch x)]", "leaf-1"}, says: "not a number of seconds"},
		"no room":            {spoil: func(d *device) { d.Write("free", "100\n") }, says: "no room on the disk: 100 KiB are free"},
		"nothing written":    {spoil: func(d *device) { d.Write("fail-sync", "") }, says: "no file could be written"},
		"no systemd":         {spoil: func(d *device) { d.Remove("run") }, says: "systemd does not run here"},
		"systemctl refuses":  {spoil: func(d *device) { d.Write("fail-systemctl", "") }, says: "systemctl refused"},
		"the system":         {spoil: func(d *device) { d.Write("fail-check", "") }, says: "the system says no"},
		"cannot keep":        {spoil: func(d *device) { d.Remove("setting") }, says: "cannot keep what there is"},
		"no sudo":            {spoil: func(d *device) { d.Env = []string{"ROCEC_UID=1000"} }, says: "admin is not root, and sudo asks for a password"},
		"a program missing": {spoil: func(d *device) {
			p := filepath.Join(d.Root, "var/live/a1/common/kit", File)
			text, err := os.ReadFile(p)
			d.must(err)
			d.must(os.WriteFile(p, []byte(strings.Replace(string(text), `part_programs="sort"`, `part_programs="surely-no-program"`, 1)), 0o755))
		}, says: "surely-no-program is not installed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDevice(t)
			if c.spoil != nil {
				c.spoil(&d)
			}
			if c.args == nil {
				c.args = []string{"600", "leaf-1"}
			}
			kept := t.TempDir()
			d.Keep(kept)
			code, why := d.Finish(d.Program("a1", append([]string{"../common/kit/" + File, "begin", "a1"}, c.args...)...))
			if code != targets.ExitRefused || !strings.Contains(why, c.says) {
				t.Errorf("exit %d: %s", code, why)
			}
			d.same(kept, "begin")
			if s := d.Status("a1"); s.Phase != targets.PhaseNone || s.Open != "" {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestSecond: one change at a time, and the newest is undone first.
func TestSecond(t *testing.T) {
	t.Parallel()
	d := newDevice(t)
	d.Do("a1", "begin", "change")
	if code, why := d.Run("b2", "begin"); code != targets.ExitRefused || why != "change a1 is changed here, it is undone by itself in 600 s unless it is confirmed" {
		t.Errorf("exit %d: %s", code, why)
	}
	if s := d.Status("b2"); s.Phase != targets.PhaseNone || s.Open != "a1" {
		t.Errorf("%+v", s)
	}
	d.Do("a1", "confirm")
	d.Do("b2", "begin", "change")
	if code, why := d.Run("a1", "revert"); code != targets.ExitRefused || why != "change b2 is open here, and is undone by itself in 600 s unless it is confirmed" {
		t.Errorf("exit %d: %s", code, why)
	}
	d.Do("b2", "confirm")
	if code, why := d.Run("a1", "revert"); code != targets.ExitRefused || why != "change b2 came after a1: undo that one first" {
		t.Errorf("exit %d: %s", code, why)
	}
	d.Do("b2", "revert")
	if d.Read("setting") != "new" {
		t.Error("undoing the second undoes the first")
	}
	d.Do("a1", "revert")
	d.consistent("a1", "revert")
}

// TestStuck: a change that cannot be undone stops others until somebody has looked.
func TestStuck(t *testing.T) {
	t.Parallel()
	d := newDevice(t)
	reach[targets.PhaseStuck](d)
	if code, why := d.Run("b2", "begin"); code != targets.ExitRefused || !strings.Contains(why, "a person has to look, then rocec-live.sh release a1") {
		t.Errorf("exit %d: %s", code, why)
	}
	d.Do("a1", "release")
	d.Do("b2", "begin", "revert")
	d.Remove("fail-revert")
	d.Do("a1", "revert")
	d.consistent("a1", "revert")
}

// TestBroken: a change goes on when its session is gone, a second one waits for
// it, and what undoes it ends it first.
func TestBroken(t *testing.T) {
	t.Parallel()
	d := newDevice(t)
	d.Do("a1", "begin")
	c := d.Command("a1", "change")
	d.Write("gate", "")
	d.must(c.Start())
	for d.Read("waits") == "" {
		runtime.Gosched()
	}
	d.must(c.Process.Kill())
	_ = c.Wait()
	if s := d.Status("a1"); s.Phase != targets.PhaseChanging || s.Left != 600 {
		t.Errorf("%+v", s)
	}
	if code, why := d.Run("a1", "confirm"); code != targets.ExitRefused || why != "change a1 is under way" {
		t.Errorf("exit %d: %s", code, why)
	}
	again := d.Command("a1", "change")
	d.must(again.Start())
	d.Remove("gate")
	if err := again.Wait(); err != nil {
		t.Errorf("the second change: %v", err)
	}
	d.consistent("a1", "change")
	d.Do("a1", "revert")

	d.Remove("waits")
	d.Do("b2", "begin")
	done := d.hold("gate", "b2", "change")
	if code := d.Expire("b2"); code != 0 {
		t.Errorf("the timer: exit %d", code)
	}
	done()
	d.consistent("b2", "the timer")
	if d.Read("setting") != "old" {
		t.Error("the change went on")
	}
}

// TestReboot: the time that is left begins anew, what is half done is told, and
// the timer goes back.
func TestReboot(t *testing.T) {
	t.Parallel()
	d := newDevice(t)
	d.Do("a1", "begin")
	d.Write("proc/uptime", "1100.00 1\n")
	if s := d.Status("a1"); s.Left != 500 {
		t.Errorf("%+v", s)
	}
	d.Do("a1", "change")
	d.restart("second")
	if s := d.Status("a1"); s.Left != 580 || s.Phase != targets.PhaseChanged {
		t.Errorf("%+v", s)
	}
	if code := d.Boot("a1"); code != 0 || d.Status("a1").Left != 580 || d.Read("setting") != "new" {
		t.Errorf("exit %d, the setting is %s", code, d.Read("setting"))
	}
	timer, service := d.Read("etc/systemd/system/rocec-live-a1.timer"), d.Read("etc/systemd/system/rocec-live-a1.service")
	for _, want := range []string{"OnActiveSec=600s", "WantedBy=timers.target", "OnUnitInactiveSec=60s"} {
		if !strings.Contains(timer, want) {
			t.Errorf("the timer lacks %s:\n%s", want, timer)
		}
	}
	if !strings.Contains(service, "ExecStart=/bin/bash "+d.Root+"/var/live/a1.state/"+File+" scheduled a1") {
		t.Errorf("the service:\n%s", service)
	}
	if code := d.Expire("a1"); code != 0 {
		t.Errorf("the timer: exit %d", code)
	}
	d.consistent("a1", "the timer")
	if d.Read("etc/systemd/system/rocec-live-a1.timer") != "" {
		t.Error("the timer stays")
	}
}

// restart is what a loss of power does, and the start of the system after it.
func (d device) restart(name string) {
	d.Write("proc/uptime", "20.00 1\n")
	d.Write("proc/sys/kernel/random/boot_id", name+"\n")
}

// Boot is what the unit of a change does when the system starts.
func (d device) Boot(id string) int {
	d.T.Helper()
	code, _ := d.Finish(d.Program(id, filepath.Join(d.Root, "var/live", id+".state/rocec-live.sh"), "booted", id))
	return code
}

// TestCutOff: what a loss of power finds begun, in the middle, failed or on its way back
// is undone as soon as the system is up; the timer is for what cannot be undone by then.
func TestCutOff(t *testing.T) {
	for _, phase := range []targets.Phase{targets.PhaseBegun, targets.PhaseChanging, targets.PhaseFailed, targets.PhaseReverting} {
		t.Run(string(phase), func(t *testing.T) {
			t.Parallel()
			d := newDevice(t)
			reach[phase](d)
			unit := d.Read("etc/systemd/system/rocec-live-a1-boot.service")
			for _, want := range []string{"WantedBy=multi-user.target", "ExecStart=/bin/bash " + d.Root + "/var/live/a1.state/" + File + " booted a1"} {
				if !strings.Contains(unit, want) {
					t.Errorf("the unit lacks %s:\n%s", want, unit)
				}
			}
			if code := d.Boot("a1"); code != 0 || d.Read("var/live/.open") != "a1" {
				t.Errorf("exit %d, and the same start of the system undoes it", code)
			}
			d.restart("second")
			if s := d.Status("a1"); s.Phase != targets.PhaseReverting || s.Left != 1 {
				t.Errorf("%+v", s)
			}
			if phase != targets.PhaseBegun {
				d.Write("fail-revert", "")
				if code := d.Boot("a1"); code == 0 {
					t.Error("it says that it went back")
				}
				if s := d.Status("a1"); s.Phase != targets.PhaseFailed || s.Left != 580 || !strings.Contains(s.Message, "could not be undone at boot: no way back") {
					t.Errorf("%+v", s)
				}
				d.Remove("fail-revert")
				d.restart("third")
			}
			if code := d.Boot("a1"); code != 0 {
				t.Errorf("exit %d", code)
			}
			d.over("the boot", false)
			if d.Read("etc/systemd/system/rocec-live-a1-boot.service") != "" {
				t.Error("the unit stays")
			}
		})
	}
}

// TestNotArmed: no change without a way back; begin makes it again.
func TestNotArmed(t *testing.T) {
	t.Parallel()
	d := newDevice(t)
	d.Do("a1", "begin")
	d.Remove("timers/rocec-live-a1.timer")
	if code, why := d.Run("a1", "change"); code != targets.ExitRefused || why != "the revert of change a1 is not scheduled" {
		t.Errorf("exit %d: %s", code, why)
	}
	d.consistent("a1", "change")
	d.Do("a1", "begin", "change")
	d.consistent("a1", "change")
}

// TestFull: a disk that fills up later stops neither the revert nor the truth.
func TestFull(t *testing.T) {
	t.Parallel()
	d := newDevice(t)
	d.Do("a1", "begin")
	d.Write("fail-sync", "")
	if code, why := d.Run("a1", "change"); code != targets.ExitRefused || !strings.HasPrefix(why, "cannot write to") {
		t.Errorf("exit %d: %s", code, why)
	}
	d.consistent("a1", "change")
	d.Remove("fail-sync")
	d.Do("a1", "change")
	d.Write("fail-sync", "")
	if code, why := d.Run("a1", "confirm"); code != targets.ExitFailed || !strings.HasPrefix(why, "cannot be confirmed") {
		t.Errorf("exit %d: %s", code, why)
	}
	if s := d.Status("a1"); s.Phase != targets.PhaseChanged || s.Left == 0 {
		t.Errorf("%+v", s)
	}
	if code, _ := d.Run("a1", "revert"); code == 0 || d.Read("setting") != "old" || d.Status("a1").Left == 0 {
		t.Errorf("exit %d, the setting is %s", code, d.Read("setting"))
	}
	d.Remove("fail-sync")
	d.Do("a1", "revert")
	d.consistent("a1", "revert")
}

// TestKilled: wherever the program is killed, status tells what is so, and what
// the timer does then, or a person, brings the device back.
func TestKilled(t *testing.T) {
	for _, verbs := range [][]string{{"begin"}, {"begin", "change"}, {"begin", "change", "confirm"}, {"begin", "change", "confirm", "revert"}} {
		before, verb := verbs[:len(verbs)-1], verbs[len(verbs)-1]
		t.Run(strings.Join(verbs, " "), func(t *testing.T) {
			t.Parallel()
			d := newDevice(t)
			d.Do("a1", before...)
			kept := t.TempDir()
			d.Keep(kept)
			for n := 1; ; n++ {
				d.Restore(kept)
				d.Write("calls", "0\n")
				d.Env = []string{"ROCEC_KILL=" + itoa(n)}
				code, _ := d.Run("a1", verb)
				d.Env = nil
				when := fmt.Sprintf("%s, killed at call %d", verb, n)
				s := d.consistent("a1", when)
				if calls, _ := strconv.Atoi(d.Read("calls")); calls < n {
					if code != 0 || n < 3 {
						t.Errorf("%s ends with %d after %d calls", verb, code, calls)
					}
					break
				}
				if n%2 == 0 && d.Armed("a1") {
					if code := d.Expire("a1"); code != 0 {
						t.Errorf("%s: the timer ends with %d", when, code)
					}
					d.over(when+", after the timer", s.Phase == targets.PhaseConfirmed)
				} else {
					d.Do("a1", "revert")
					d.over(when+", after revert", false)
				}
				if n == 3 {
					d.Do("a1", "revert")
					d.Do("b2", "begin")
				}
			}
		})
	}
}

// TestForgotten: only the last changes are kept.
func TestForgotten(t *testing.T) {
	t.Parallel()
	d := newDevice(t)
	for i := range 7 {
		id := "c" + itoa(i)
		d.Put(id)
		d.Do(id, "begin", "change", "confirm")
	}
	for i := range 7 {
		_, err := os.Stat(filepath.Join(d.Root, "var/live", "c"+itoa(i)+".state"))
		if (err == nil) != (i >= 2) {
			t.Errorf("c%d: %v", i, err)
		}
	}
}
