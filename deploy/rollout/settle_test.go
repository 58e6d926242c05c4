package rollout

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/targets"
)

// killedBefore runs the plan of a site until a line is to be written the nth time.
func (s *site) killedBefore(what step, n int) {
	s.t.Helper()
	j := s.journal()
	s.killAt(j, 1, false)
	kill := j.before
	j.before = func(l line) error {
		if l.Step != what {
			return nil
		}
		if n--; n > 0 {
			return nil
		}
		j.before = kill
		return kill(l)
	}
	if _, err := Run(s.t.Context(), s.plan, s.env(j)); err != nil || !s.net.cut {
		s.t.Fatalf("it was not killed: %v", err)
	}
	s.revive()
}

// TestSettleHold: whoever was to confirm by hand still is when the run has died, and
// confirms in time or finds the devices as before. What was about to be confirmed by
// that hand is.
func TestSettleHold(t *testing.T) {
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, "a", "b")
			s.plan.Hold, s.plan.Parallelism = true, 1
			s.killedBefore(stepPending, 2)
			h, env := s.again()
			rep := Settle(t.Context(), h, s.plan, env)
			if err := s.soundness(rep); err != nil || rep.Exit() != 0 || len(rep.Results) != 1 || rep.Count(Pending) != 1 {
				t.Fatal(err, reportText(rep))
			}
			if late {
				_ = wait(t.Context(), s.plan.Confirm)
			}
			h, env = s.again()
			if !late { // and dies when it has begun to
				s.killAt(env.Journal, 2, false)
				Confirm(t.Context(), h, s.plan, env)
				s.revive()
				h, env = s.again()
				if rep = Settle(t.Context(), h, s.plan, env); rep.Count(Applied) != 1 {
					t.Error(reportText(rep))
				}
				h, env = s.again()
			}
			rep = Confirm(t.Context(), h, s.plan, env)
			if err := s.soundness(rep); err != nil {
				t.Error(err)
			}
			if late && (rep.Exit() != 1 || rep.Count(RolledBack) != 2) || !late && (rep.Exit() != 0 || rep.Count(Applied) != 1) || s.history().Open() {
				t.Errorf("late %t: %s", late, reportText(rep))
			}
		})
	}
}

// TestSettleUnwatched: a run that dies while its last wave is watched, or before a device
// of it is recorded, leaves the wave to be watched by whoever settles it.
func TestSettleUnwatched(t *testing.T) {
	for step, n := range map[step]int{stepWatched: 2, stepNoted: 2, stepDone: 2} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, "a", "b")
			s.plan.Waves = []Wave{{Name: "canary"}, {Name: "rest", Soak: time.Hour, Gates: Gates{Verify: true}}}
			s.plan.Devices[0].Wave, s.plan.Devices[1].Wave = 1, 2
			s.killedBefore(step, n)
			h, env := s.again()
			if rep := Settle(t.Context(), h, s.plan, env); rep.Exit() != 0 {
				t.Fatal(reportText(rep))
			}
			h, _ = s.again()
			if h.Unwatched(h.Past("a")) || !h.Unwatched(h.Past("b")) || h.Open() {
				t.Fatalf("killed before %s: %s", step, standings(h))
			}
			s.net.machines["b"].running = *settingsOf("b", 4000) // since
			s.plan.ID, s.plan.Again, s.plan.Devices = "tx2", s.plan.Devices[1:], nil
			rep, err := Run(t.Context(), s.plan, s.env(s.journal()))
			if err != nil || rep.Exit() != 1 || !strings.HasPrefix(rep.Failure, "wave rest: gate verify: switch.b: ") || mtuOf(&s.net.machines["b"].running) != 4000 {
				t.Errorf("killed before %s: %s", step, reportText(rep))
			}
		})
	}
}

// TestSettleMoved settles devices that somebody has set otherwise since a run died.
func TestSettleMoved(t *testing.T) {
	// Nothing had begun there: what it is by now is no matter of the run.
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "a")
		s.killedBefore(stepBegun, 1)
		m := s.net.machines["a"]
		for _, x := range m.tx { // the verb did not come there
			x.stop()
		}
		m.tx, m.open, m.running, m.stored = map[string]*transaction{}, "", *settingsOf("a", 4000), *settingsOf("a", 4000)
		h, env := s.again()
		if rep := Settle(t.Context(), h, s.plan, env); rep.Exit() != 0 || rep.Count(Unchanged) != 1 {
			t.Error(reportText(rep))
		}
		if h := s.history(); h.Open() || h.Changed() {
			t.Errorf("it is %s", standings(h))
		}
	})
	// It went back by itself, and was set by hand since: it is named, and the next run
	// plans it as it is.
	for _, phase := range []targets.Phase{targets.PhaseReverted, targets.PhaseNone} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, "a")
			s.killedBefore(stepChanged, 1)
			_ = wait(t.Context(), time.Hour)
			m := s.net.machines["a"]
			m.mu.Lock() // its timer has run
			m.running, m.stored = *settingsOf("a", 4000), *settingsOf("a", 4000)
			words := wentBack
			if phase == targets.PhaseNone {
				m.tx, words = map[string]*transaction{}, knowsNothing
			}
			m.mu.Unlock()
			h, env := s.again()
			rep := Settle(t.Context(), h, s.plan, env)
			if rep.Exit() != 3 || rep.Count(Stuck) != 1 || !strings.Contains(rep.Results[0].Message, words+`: switch.a.port["p1"].mtu is 4000, expected 1500`) || !s.history().Open() {
				t.Error(reportText(rep))
			}
			h, env = s.again()
			rep = Settle(t.Context(), h, s.plan, env)
			if rep.Exit() != 0 || rep.Count(Left) != 1 || !strings.Contains(rep.Results[0].Message, "4000") {
				t.Error(reportText(rep))
			}
			if h := s.history(); h.Open() || h.Changed() || h.Past("a").Outcome() != Left {
				t.Errorf("it is %s", standings(h))
			}
			s.plan.ID, s.plan.Devices[0].Base = "tx2", intent.Digest(settingsOf("a", 4000))
			if rep := s.run(t.Context()); rep.Exit() != 0 || rep.Count(Applied) != 1 {
				t.Error(reportText(rep))
			}
		})
	}
}

// TestConfirmTooLate lets the device's own timer run between the look back and the
// confirmation: it is as before, and said to be.
func TestConfirmTooLate(t *testing.T) {
	for _, hold := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, "a")
			s.plan.Hold = hold
			dawdle := func(env *Env) *Env {
				observe := env.Observe
				env.Observe = func(ctx context.Context, to session.Session, d *intent.Device, target *targets.Target) (targets.Captured, error) {
					c, err := observe(ctx, to, d, target)
					m := s.net.machines["a"]
					m.mu.Lock()
					changed := mtuOf(&m.running) == mtuAfter
					m.mu.Unlock()
					if err == nil && changed {
						_ = wait(t.Context(), s.plan.Confirm) // an answer that was long on its way
					}
					return c, err
				}
				return env
			}
			var rep *Report
			if hold {
				if rep := s.run(t.Context()); rep.Count(Pending) != 1 {
					t.Fatal(reportText(rep))
				}
				h, env := s.again()
				rep = Confirm(t.Context(), h, s.plan, dawdle(env))
			} else {
				var err error
				if rep, err = Run(t.Context(), s.plan, dawdle(s.env(s.journal()))); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.soundness(rep); err != nil || rep.Exit() != 1 || rep.Count(RolledBack) != 1 || !strings.Contains(rep.Results[0].Message, "confirm: it went back by itself") {
				t.Error(err, reportText(rep))
			}
			if h := s.history(); h.Open() || h.Changed() {
				t.Errorf("it is %s", standings(h))
			}
		})
	}
}
