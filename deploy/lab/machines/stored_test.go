package machines

import (
	"testing"

	"github.com/rocec/rocec/targets"
)

// TestStored: a switch that runs as it shall and would not start so is found by what
// is read of it, gets scripts that store and do nothing else, and starts with what
// they stored; undone, it would start as before.
func TestStored(t *testing.T) {
	for _, c := range []struct{ example, device, stored string }{
		{"storage", "tor-a", "/etc/sonic/config_db.json"}, {"gpu-pod", "pod1-leaf0", "/etc/nvue.d/startup.yaml"},
	} {
		t.Run(c.device, func(t *testing.T) {
			t.Parallel()
			x := start(t, c.example, c.device)
			lost := func() int {
				list, odd := x.target.Stored(x.d, x.captured(x.machine))
				if len(odd) > 0 {
					t.Errorf("what is stored is odd: %v", odd)
				}
				return len(list)
			}
			run(t, x.machine, 0, "sudo cp "+c.stored+" /var/tmp/old")
			old := run(t, x.machine, 0, "cat "+c.stored)
			x.lay("a1")
			x.do("a1", targets.VerbBegin, targets.VerbChange)
			if n := lost(); n > 0 {
				t.Errorf("of a change that waits for its confirmation %d settings are missed", n)
			}
			if got := run(t, x.machine, 0, "cat "+c.stored); got != old {
				t.Error("stored before the confirmation")
			}
			x.do("a1", targets.VerbConfirm)
			good := run(t, x.machine, 0, "cat "+c.stored)
			if n := lost(); n > 0 {
				t.Errorf("after the confirmation %d settings are not stored", n)
			}
			run(t, x.machine, 0, "sudo cp /var/tmp/old "+c.stored)
			if lost() == 0 {
				t.Fatal("nobody sees what the switch starts with")
			}
			if left := x.left(false); len(left) > 0 {
				t.Fatalf("it does not run as it shall: %v", left)
			}
			x.lay("b2")
			x.do("b2", targets.VerbBegin, targets.VerbChange)
			if got := run(t, x.machine, 0, "cat "+c.stored); got != old {
				t.Error("stored before the confirmation")
			}
			x.do("b2", targets.VerbConfirm)
			if got := run(t, x.machine, 0, "cat "+c.stored); got != good || lost() > 0 {
				t.Error("the confirmation stores something else than what runs")
			}
			x.do("b2", targets.VerbRevert)
			if got := run(t, x.machine, 0, "cat "+c.stored); got != old {
				t.Error("undone, the switch would not start as before")
			}
			if left := x.left(false); len(left) > 0 {
				t.Errorf("undone, it does not run as before: %v", left)
			}
			x.lay("c3")
			x.do("c3", targets.VerbBegin, targets.VerbChange, targets.VerbConfirm)
			x.machine.Reboot()
			x.until("after a reboot it does not run as it shall", func() bool { return len(x.left(false)) == 0 })
		})
	}
}
