package machines

import (
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// sample are devices of the examples, one for each system with a POSIX shell.
var sample = []struct{ example, device string }{
	{"storage", "stor01"}, {"storage", "tor-a"}, {"gpu-pod", "pod1-leaf0"},
}

// trial is one device of a lab in a test, with a clock that stands still.
type trial struct {
	*made
	t       testing.TB
	clock   *lab.ManualTime
	faults  lab.Faults
	machine lab.Machine
}

func start(t testing.TB, example, device string) *trial {
	t.Helper()
	m := compiled(t, example)[device]
	if m == nil {
		t.Fatalf("%s has no %s", example, device)
	}
	return begun(t, m)
}

// begun starts the machine of a device.
func begun(t testing.TB, m *made) *trial {
	t.Helper()
	x := &trial{made: m, t: t, clock: lab.NewManualTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))}
	x.machine = m.machine(t, lab.Environment{Clock: x.clock, User: User(m.target.Name), Faults: &x.faults})
	return x
}

// lay puts a transaction on the device, made from what the device shows where the
// target does that.
func (x *trial) lay(id string) {
	x.t.Helper()
	x.rebase()
	x.laid(id)
}

// rebase makes the files from what the device shows, where the target does that.
func (x *trial) rebase() {
	x.t.Helper()
	if x.target.Rebase != nil {
		x.out = emit.Out{}
		if list := x.target.Rebase(x.d, x.captured(x.machine), &x.out); list.HasErrors() {
			x.t.Fatal(list)
		}
	}
}

// laid puts the files as they are on the device.
func (x *trial) laid(id string) {
	x.t.Helper()
	tx := targets.Transaction{ID: id, Device: x.d, Confirm: 10 * time.Minute}
	run(x.t, x.machine, 0, x.target.Live.Prepare(tx))
	x.put(x.t, x.machine, x.target.Live.Root+"/"+id)
}

func (x *trial) do(id string, verbs ...targets.Verb) {
	x.t.Helper()
	for _, v := range verbs {
		if code, out := x.verb(x.t, x.machine, v, id); code != 0 {
			x.t.Fatalf("%s: exit %d:\n%s\n%s", v, code, out, run(x.t, x.machine, 0, "tail -n 20 "+x.target.Live.Root+"/"+id+".state/log"))
		}
	}
}

func (x *trial) status(id string) targets.State {
	x.t.Helper()
	_, out := x.verb(x.t, x.machine, targets.VerbStatus, id)
	var s targets.State
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		x.t.Fatalf("%v: %s", err, out)
	}
	return s
}

// until waits for what a machine does by itself: the test's own limit of time ends it.
func (x *trial) until(what string, is func() bool) {
	x.t.Helper()
	for !is() {
		runtime.Gosched()
		if x.t.Context().Err() != nil {
			x.t.Fatal(what)
		}
	}
}

// wentBack waits until what was not confirmed has gone back.
func (x *trial) wentBack(id string) {
	x.t.Helper()
	x.until("nothing goes back", func() bool {
		s := x.status(id)
		return s.Phase != targets.PhaseChanged && s.Phase != targets.PhaseReverting
	})
	if s := x.status(id); s.Phase != targets.PhaseReverted {
		x.t.Errorf("after the time: %+v\n%s", s, run(x.t, x.machine, 0, "tail -n 20 "+x.target.Live.Root+"/"+id+".state/log"))
	}
}

// left are the differences to the intent; with back, those that going back leaves as they were.
func (x *trial) left(back bool) []string {
	x.t.Helper()
	if x.target.Name == "sonic" && !back { // both wait for a window
		return slices.DeleteFunc(x.differences(x.observed(x.t, x.machine)), func(s string) bool { return strings.Contains(s, ".ecn ") || strings.Contains(s, ".watchdog ") })
	}
	return x.differences(x.observed(x.t, x.machine))
}

// TestLive: a change that is confirmed is there, also after a loss of power; the
// artifacts of the examples make devices what their intent says.
func TestLive(t *testing.T) {
	for _, c := range sample {
		t.Run(c.device, func(t *testing.T) {
			t.Parallel()
			x := start(t, c.example, c.device)
			if len(x.left(false)) == 0 {
				t.Fatal("the device is as wanted before anything was done")
			}
			x.lay("a1")
			x.do("a1", targets.VerbBegin, targets.VerbChange)
			if s := x.status("a1"); s.Phase != targets.PhaseChanged || s.Left < 590 || s.Open != "a1" {
				t.Errorf("changed: %+v", s)
			}
			x.do("a1", targets.VerbConfirm)
			if s := x.status("a1"); s.Phase != targets.PhaseConfirmed || s.Left != 0 || s.Open != "" {
				t.Errorf("confirmed: %+v", s)
			}
			want := x.left(false)
			if len(want) > 0 {
				t.Errorf("after the change:\n%s", strings.Join(want, "\n"))
			}
			x.machine.Reboot()
			x.until("the settings do not come back after a reboot", func() bool { return len(x.left(false)) == 0 })
			x.clock.Advance(time.Hour)
			if got := x.left(false); len(got) > 0 {
				t.Errorf("an hour later:\n%s", strings.Join(got, "\n"))
			}
		})
	}
}

// TestLiveBack: what is not confirmed goes back by itself, with a reboot in the
// middle or without.
func TestLiveBack(t *testing.T) {
	for _, c := range sample {
		for _, reboot := range []bool{false, true} {
			if c.device == "tor-a" && !reboot {
				continue // python3 takes its time, and the other half says the same
			}
			t.Run(c.device+map[bool]string{true: "/reboot"}[reboot], func(t *testing.T) {
				t.Parallel()
				x := start(t, c.example, c.device)
				before := x.left(true)
				x.lay("b1")
				x.do("b1", targets.VerbBegin, targets.VerbChange)
				if reboot {
					x.machine.Reboot()
				}
				x.clock.Advance(9 * time.Minute)
				if s := x.status("b1"); s.Phase != targets.PhaseChanged {
					t.Fatalf("too early: %+v", s)
				}
				x.clock.Advance(2 * time.Minute)
				x.wentBack("b1")
				if diff := cmp.Diff(before, x.left(true)); diff != "" {
					t.Errorf("(-before +after):\n%s", diff)
				}
				if x.target.Name != "linux" {
					return
				}
				// What rdma_cm shows of no device before somebody asks for it goes back as well.
				tos := run(t, x.machine, 0, "grep -Hr . /sys/kernel/config/rdma_cm --include=default_roce_tos || true")
				for line := range strings.Lines(tos) {
					if !strings.HasSuffix(line, "/default_roce_tos:0\n") {
						t.Errorf("it was 0 before: %s", line)
					}
				}
			})
		}
	}
}
