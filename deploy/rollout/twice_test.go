package rollout

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestKillTwice kills a run before a line of its journal, or lets it end, then kills
// what goes on with it before each of its lines, and goes on once more. Every device
// ends as it was or as it shall be, and the record with it.
func TestKillTwice(t *testing.T) {
	type goOn func(s *site, h *History, env *Env) *Report
	ways := map[string]goOn{
		"settle":  func(s *site, h *History, env *Env) *Report { return Settle(s.t.Context(), h, s.plan, env) },
		"back":    func(s *site, h *History, env *Env) *Report { return Back(s.t.Context(), h, s.plan, env) },
		"confirm": func(s *site, h *History, env *Env) *Report { return Confirm(s.t.Context(), h, s.plan, env) },
	}
	for i, then := range []struct {
		hold       bool
		way, after string
	}{
		{false, "settle", "settle"},
		{false, "settle", "back"},
		{false, "back", "settle"},
		{false, "back", "back"},
		{true, "confirm", "settle"},
		{true, "confirm", "back"},
		{true, "back", "settle"},
		{true, "settle", "back"},
	} {
		// The line before which the run dies, every other one, until it does not.
		for first := 1 + i%2; ; first += 2 {
			cut := false
			for second, more := 1, true; more; second++ {
				synctest.Test(t, func(t *testing.T) {
					s := newSite(t, "a", "b")
					s.plan.Parallelism, s.plan.Hold = 1, then.hold
					j := s.journal()
					s.killAt(j, first, first%3 == 0)
					if _, err := Run(t.Context(), s.plan, s.env(j)); err != nil {
						t.Fatal(err)
					}
					cut = s.net.cut
					s.revive()
					h, env := s.again()
					s.killAt(env.Journal, second, second%2 == 0)
					rep := ways[then.way](s, h, env)
					if more = s.net.cut; !more {
						if err := s.soundness(rep); err != nil {
							t.Errorf("%v, killed at %d: %v", then, first, err)
						}
					}
					s.revive()
					if second%3 == 0 { // the devices go back by themselves meanwhile
						_ = wait(t.Context(), 10*time.Minute)
					}
					h, env = s.again()
					rep = ways[then.after](s, h, env)
					if then.hold {
						h, env = s.again()
						rep = Confirm(s.t.Context(), h, s.plan, env)
					}
					if err := s.soundness(rep); err != nil {
						t.Errorf("%v, killed at %d and %d: %v", then, first, second, err)
					}
					h = s.history()
					if h.Open() || then.after == "back" && h.Changed() {
						t.Errorf("%v, killed at %d and %d: the journal is open still: %s", then, first, second, standings(h))
					}
					for name, m := range s.net.machines {
						recorded, before := s.recorded(name)
						if applied := mtuOf(&m.running) == mtuAfter; m.open != "" || mtuOf(&m.running) != mtuOf(&m.stored) || applied != recorded || applied == before {
							t.Errorf("%v, killed at %d and %d: %s runs %d, stored %d, open %q, recorded %t, as before %t", then, first, second, name, mtuOf(&m.running), mtuOf(&m.stored), m.open, recorded, before)
						}
						if (h.Past(name).Outcome() == Applied) != recorded {
							t.Errorf("%v, killed at %d and %d: the journal has %s as %s", then, first, second, name, h.Past(name).Outcome())
						}
					}
					_ = wait(t.Context(), time.Hour)
				})
			}
			if !cut {
				break
			}
		}
	}
}

func standings(h *History) (out string) {
	for _, d := range h.Devices {
		out += d.Name + " " + string(d.Outcome()) + " (" + string(d.step) + ") "
	}
	return out
}
