package machines

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/targets"
)

// TestKeeps: in the next lab a device is what it would be after a loss of power:
// what was confirmed is there, and what was not goes back when its time is over.
func TestKeeps(t *testing.T) {
	for _, c := range sample {
		t.Run(c.device, func(t *testing.T) {
			t.Parallel()
			x := begun(t, compiled(t, c.example)[c.device])
			target := x.target.Name
			dir := t.TempDir()
			o := lab.Options{Clock: x.clock, Keep: true}
			var l *lab.Lab
			again := func() {
				t.Helper()
				if l != nil {
					l.Close()
					if err := l.Err(); err != nil {
						t.Fatal(err)
					}
				}
				var err error
				l, err = lab.Up(t.Context(), []lab.Device{{
					Name: c.device, Target: target, User: User(target), Shell: targets.POSIX, Intent: func() *intent.Device { return x.d }, Make: new(All).Maker(target),
				}}, dir, o)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(l.Close)
				if x.machine, err = l.Machine(c.device); err != nil {
					t.Fatal(err)
				}
				if _, ok := x.machine.(lab.Keeper); ok != Keeps(target) {
					t.Errorf("a machine for %s keeps its state: %t", target, ok)
				}
			}
			again()
			if target == "sonic" { // what goes back there are scripts, as on Linux
				x.confirmed("b2", again)
				return
			}
			found := x.left(true)
			x.lay("a1")
			x.do("a1", targets.VerbBegin, targets.VerbChange)
			again()
			if s := x.status("a1"); s.Phase != targets.PhaseChanged || s.Left <= 0 {
				t.Errorf("before its time: %+v", s)
			}
			x.clock.Advance(11 * time.Minute)
			x.wentBack("a1")
			if diff := cmp.Diff(found, x.left(true)); diff != "" {
				t.Errorf("(-found +went back):\n%s", diff)
			}
			history := x.confirmed("b2", again)
			if target == "cumulus" {
				if diff := cmp.Diff(history, run(t, x.machine, 0, "nv config revision")); diff != "" {
					t.Errorf("revisions (-before +after):\n%s", diff)
				}
			}
		})
	}
}

// confirmed changes a device, and demands that the next lab has it so. It returns
// what the switch told of its revisions before.
func (x *trial) confirmed(id string, again func()) (history string) {
	x.t.Helper()
	x.lay(id)
	x.do(id, targets.VerbBegin, targets.VerbChange, targets.VerbConfirm)
	if x.target.Name == "cumulus" {
		history = run(x.t, x.machine, 0, "nv config revision")
	}
	again()
	x.until("what was confirmed does not come back", func() bool { return len(x.left(false)) == 0 })
	return history
}
