package rollout

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rocec/rocec/targets"
)

// TestDamagedJournal damages each line of a journal but its first, in its beginning, its
// middle and its end, after a run was killed and after one that ended. Whoever goes on
// leaves no device between two states, names the file and the line where something was
// lost, and has nothing to do the second time: neither apply nor rollback is blocked.
func TestDamagedJournal(t *testing.T) {
	for _, killed := range []bool{true, false} {
		for _, back := range []bool{false, true} {
			for number := 1; ; number++ {
				more := false
				for _, part := range []int{1, 2, 3} {
					synctest.Test(t, func(t *testing.T) {
						s := newSite(t, "a", "b")
						s.plan.Parallelism = 1
						if killed {
							s.killedBefore(stepConfirm, 2)
						} else {
							s.run(t.Context())
						}
						path := filepath.Join(s.dir, s.plan.ID+JournalSuffix)
						text, err := os.ReadFile(path)
						if err != nil {
							t.Fatal(err)
						}
						lines := bytes.SplitAfter(text, []byte("\n"))
						if more = number < len(lines)-1; !more {
							return
						}
						at := max(len(lines[number])*part/3-2, 0)
						lines[number][at] ^= 1
						if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
							t.Fatal(err)
						}
						for try := 1; try <= 2; try++ {
							h, env := s.again()
							var rep *Report
							if back {
								rep = Back(t.Context(), h, s.plan, env)
							} else {
								rep = Settle(t.Context(), h, s.plan, env)
							}
							if rep.Exit() == 3 || try == 2 && !back && len(rep.Results) > 0 {
								t.Errorf("killed %t, back %t, line %d, part %d, try %d: %s", killed, back, number, part, try, reportText(rep))
							}
						}
						_ = wait(t.Context(), time.Hour) // until the machines are at rest
						for name, m := range s.net.machines {
							if m.open != "" || mtuOf(&m.running) != mtuOf(&m.stored) {
								t.Errorf("killed %t, back %t, line %d, part %d: %s runs %d, stored %d, open %q", killed, back, number, part, name, mtuOf(&m.running), mtuOf(&m.stored), m.open)
							}
						}
					})
				}
				if !more {
					break
				}
			}
		}
	}
}

// TestDamagedEntry: where a journal has lost what a device was to be, the device is still
// asked and taken back by the ID alone, and the message has the file and the line.
func TestDamagedEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "a", "b")
		s.plan.Parallelism = 1
		s.killedBefore(stepConfirm, 2)
		path := filepath.Join(s.dir, s.plan.ID+JournalSuffix)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(text), "\n")
		lines[2] = strings.Replace(lines[2], `"entry":"H4`, `"entry":"H5`, 1) // of b, which is changed and not confirmed
		if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		h, env := s.again()
		rep := Settle(t.Context(), h, s.plan, env)
		if rep.Exit() != 1 || len(rep.Results) != 1 || rep.Results[0].Outcome != RolledBack || !strings.Contains(rep.Results[0].Message, JournalSuffix+", line 3 is damaged") {
			t.Error(reportText(rep))
		}
		if h = s.history(); h.Open() {
			t.Errorf("it is open still: %s", standings(h))
		}
		_ = wait(t.Context(), time.Hour)
	})
}

// TestBackRefused: a device on which another change was confirmed since refuses to take
// the earlier one back. It stays as applied with exit code 1, and blocks nothing.
func TestBackRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "a")
		s.run(t.Context())
		other := newSite(t, "a")
		other.net, other.plan.ID, other.plan.Devices[0].Base = s.net, "tx2", ""
		if rep := other.run(t.Context()); rep.Exit() != 0 {
			t.Fatal(reportText(rep))
		}
		for range 2 {
			h, env := s.again()
			rep := Back(t.Context(), h, s.plan, env)
			if r := rep.Results[0]; rep.Exit() != 1 || r.Outcome != Applied || r.Message != "not taken back: change tx2 came after tx1: undo that one first" {
				t.Error(reportText(rep))
			}
			if h = s.history(); h.Open() {
				t.Errorf("it is open: %s", standings(h))
			}
		}
		h, env := other.again()
		if rep := Back(t.Context(), h, other.plan, env); rep.Exit() != 0 {
			t.Error(reportText(rep))
		}
		h, env = s.again()
		if rep := Back(t.Context(), h, s.plan, env); rep.Exit() != 0 || mtuOf(&s.net.machines["a"].running) != mtuBefore {
			t.Error(reportText(rep))
		}
	})
}

// TestSettleSince: a device that went back by itself and was changed by somebody else
// since is left to whoever plans next, not fought and not named as stuck.
func TestSettleSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "a")
		s.killedBefore(stepConfirm, 1)
		_ = wait(t.Context(), time.Hour)
		other := newSite(t, "a")
		other.net, other.plan.ID = s.net, "tx2"
		if rep := other.run(t.Context()); rep.Exit() != 0 {
			t.Fatal(reportText(rep))
		}
		h, env := s.again()
		rep := Settle(t.Context(), h, s.plan, env)
		if r := rep.Results[0]; rep.Exit() != 1 || r.Outcome != Left || !strings.Contains(r.Message, "change tx2 was confirmed on it since") {
			t.Error(reportText(rep))
		}
		if h = s.history(); h.Open() || mtuOf(&s.net.machines["a"].running) != mtuAfter {
			t.Errorf("it is open still: %s", standings(h))
		}
	})
}

// TestForgotten names the devices that know nothing of a run any more.
func TestForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "a", "b")
		s.run(t.Context())
		delete(s.net.machines["b"].tx, "tx1")
		h, env := s.again()
		if got := Forgotten(t.Context(), h, s.plan, env); len(got) != 1 || got[0] != "switch.b" {
			t.Errorf("%q", got)
		}
	})
}

// TestRestartBeforeConfirm: a device that loses power after it was read back is not
// confirmed before a session of its new start has read it, whatever its state says.
func TestRestartBeforeConfirm(t *testing.T) {
	for _, stored := range []bool{false, true} { // whether what was changed outlasts the start
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, "a")
			m := s.net.machines["a"]
			m.faults = []fault{{kind: restart, verb: targets.VerbConfirm}}
			m.stores = stored
			rep := s.run(t.Context())
			want := RolledBack
			if stored {
				want = Applied
			}
			if rep.Results[0].Outcome != want {
				t.Error(reportText(rep))
			}
			if err := s.soundness(rep); err != nil {
				t.Error(err)
			}
			_ = wait(t.Context(), time.Hour)
		})
	}
}
