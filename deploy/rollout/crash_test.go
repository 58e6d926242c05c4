package rollout

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rocec/rocec/targets"
)

var errKilled = errors.New("killed")

// killAt makes a journal that dies with all that the process has: before the nth
// line of a device is written, or, torn, in the middle of it.
func (s *site) killAt(j *Journal, n int, torn bool) {
	seen := 0
	j.before = func(l line) error {
		if l.Step == stepOpen || l.Step == stepDevice {
			return nil
		}
		if seen++; seen < n {
			return nil
		}
		s.net.mu.Lock()
		s.net.cut = true
		s.net.mu.Unlock()
		s.record.mu.Lock()
		s.record.broken = true
		s.record.mu.Unlock()
		if torn {
			if _, err := j.file.WriteString(`{"event":"` + string(l.Step) + `","devi`); err != nil {
				s.t.Error(err)
			}
		}
		return errKilled
	}
}

// revive is the next process.
func (s *site) revive() {
	s.net.cut, s.record.broken = false, false
}

// TestKillAtEachStep kills the run before each line of the journal, and settles it
// or takes it back, at once or after the devices went back by themselves. Every
// device ends as it was or as it shall be; when all is settled, another run
// brings every device to where it shall be.
func TestKillAtEachStep(t *testing.T) {
	var b strings.Builder
	for _, how := range []string{"settle", "settle late", "back"} {
		for n := 1; ; n++ {
			text, more := killed(t, how, n, n%2 == 0)
			if !more {
				if n < 17 {
					t.Errorf("%s: the run has %d steps only", how, n)
				}
				break
			}
			b.WriteString(text)
		}
	}
	golden(t, "kills.txt", b.String())
}

func killed(t *testing.T, how string, n int, torn bool) (out string, more bool) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "a", "b")
		s.plan.Parallelism = 1
		j := s.journal()
		last := step("")
		s.killAt(j, n, torn)
		kill := j.before
		j.before = func(l line) error { last = l.Step; return kill(l) }
		if _, err := Run(t.Context(), s.plan, s.env(j)); err != nil {
			t.Fatal(err)
		}
		if more = s.net.cut; !more {
			return
		}
		s.revive()
		if how == "settle late" {
			_ = wait(t.Context(), 10*time.Minute)
		}
		h, env := s.again()
		if h.Ended {
			t.Errorf("%d: a run that was killed has ended", n)
		}
		var standing []string
		for _, x := range Look(t.Context(), h, s.plan, env) {
			text := fmt.Sprintf("%s %s", x.Device, x.Outcome)
			if x.State != nil {
				text += " (" + string(x.State.Phase) + ")"
			}
			standing = append(standing, text)
		}
		var rep *Report
		if how == "back" {
			rep = Back(t.Context(), h, s.plan, env)
		} else {
			rep = Settle(t.Context(), h, s.plan, env)
		}
		if err := s.soundness(rep); err != nil {
			t.Errorf("%s %d, killed before %s: %v", how, n, last, err)
		}
		var ends []string
		for _, r := range rep.Results {
			ends = append(ends, fmt.Sprintf("%s %s", r.Device, r.Outcome))
		}
		out = fmt.Sprintf("%s, killed before %q (line %d): %s -> exit %d: %s\n", how, last, n, strings.Join(standing, ", "), rep.Exit(), strings.Join(ends, ", "))
		// Nothing is left to be settled, and whatever is not applied is as it was.
		h = s.history()
		if h.Open() || how == "back" && h.Changed() {
			t.Errorf("%s %d: the journal is open still", how, n)
		}
		for name, m := range s.net.machines {
			recorded, before := s.recorded(name)
			if applied := mtuOf(&m.running) == mtuAfter; m.open != "" || mtuOf(&m.running) != mtuOf(&m.stored) || applied != recorded || applied == before {
				t.Errorf("%s %d: %s runs %d, stored %d, open %q, recorded %t, as before %t", how, n, name, mtuOf(&m.running), mtuOf(&m.stored), m.open, recorded, before)
			}
			if (h.Past(name).Outcome() == Applied) != recorded {
				t.Errorf("%s %d: the journal has %s as %s", how, n, name, h.Past(name).Outcome())
			}
		}
		// The next run does the rest.
		s.plan.ID = "tx2"
		for i := range s.plan.Devices {
			s.plan.Devices[i].Base = ""
		}
		if rep := s.run(t.Context()); rep.Exit() != 0 || rep.Count(Applied) != 2 {
			t.Errorf("%s %d: afterwards: %s", how, n, reportText(rep))
		}
		_ = wait(t.Context(), time.Hour)
	})
	return out, more
}

// TestLateBegin settles a run that was killed with the first verb on its way, which
// the device does only then: the next run ends that transaction and does its own,
// if it knows of the earlier one.
func TestLateBegin(t *testing.T) {
	for _, c := range []struct {
		name  string
		over  func(device, transaction string) bool
		phase targets.Phase
		fails string
	}{
		{"known", func(device, transaction string) bool { return device == "a" && transaction == "tx1" }, targets.PhaseBegun, ""},
		{"of somebody else", func(_, transaction string) bool { return transaction == "tx0" }, targets.PhaseBegun, "switch.a: change tx1 is open on it and goes back in 5m0s: run rocec confirm or rocec rollback where it was begun, or wait"},
		{"nobody knows", nil, targets.PhaseBegun, "switch.a: change tx1 is open on it and goes back in 5m0s: run rocec confirm or rocec rollback where it was begun, or wait"},
		{"changed", func(_, _ string) bool { return true }, targets.PhaseChanged, "switch.a: change tx1 of an earlier apply is open on it: it is changed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, "a", "b")
			j := s.journal()
			s.killAt(j, 3, false) // both have written that they begin
			if _, err := Run(t.Context(), s.plan, s.env(j)); err != nil {
				t.Fatal(err)
			}
			s.revive()
			m := s.net.machines["a"]
			for _, t := range m.tx { // as if it had not come there yet
				t.stop()
			}
			m.tx, m.open = map[string]*transaction{}, ""
			h, env := s.again()
			if rep := Settle(t.Context(), h, s.plan, env); rep.Exit() != 0 {
				t.Fatal(reportText(rep))
			}
			m.mu.Lock()
			m.do(targets.VerbBegin, "tx1", "", s.plan.Confirm, verbTakes, nil)
			m.tx["tx1"].phase = c.phase
			m.mu.Unlock()
			s.plan.ID, s.plan.Over = "tx2", c.over
			rep := s.run(t.Context())
			if err := s.soundness(rep); err != nil && c.fails == "" {
				t.Errorf("%s: %v", c.name, err)
			}
			if rep.Failure != c.fails || c.fails == "" && rep.Count(Applied) != 2 || c.fails != "" && rep.Exit() != 1 {
				t.Errorf("%s: %s", c.name, reportText(rep))
			}
			_ = wait(t.Context(), time.Hour)
		})
	}
}

// TestBackOfDone takes back a run that came to its end, newest first, also one
// that came after another.
func TestBackOfDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "a", "b", "c")
		s.plan.Parallelism = 1
		if rep := s.run(t.Context()); rep.Exit() != 0 {
			t.Fatal(reportText(rep))
		}
		h, env := s.again()
		if h.Open() || !h.Ended || !h.Changed() {
			t.Errorf("open %t, ended %t, changed %t", h.Open(), h.Ended, h.Changed())
		}
		rep := Back(t.Context(), h, s.plan, env)
		if err := s.soundness(rep); err != nil {
			t.Error(err)
		}
		if rep.Exit() != 0 || rep.Count(RolledBack) != 3 || rep.Results[0].Device != "c" {
			t.Error(reportText(rep))
		}
		if h := s.history(); h.Changed() || h.Open() {
			t.Error("something is left to be taken back")
		}
	})
}

// TestBackUnreached takes a run back of which one device does not answer, or shows
// another key: it is as applied, in no doubt, and the next rollback takes it back.
func TestBackUnreached(t *testing.T) {
	for _, kind := range []string{dead, stranger} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, "a", "b")
			if rep := s.run(t.Context()); rep.Exit() != 0 {
				t.Fatal(reportText(rep))
			}
			m := s.net.machines["a"]
			m.faults = []fault{{kind: kind, verb: dial}}
			h, env := s.again()
			rep := Back(t.Context(), h, s.plan, env)
			if err := s.soundness(rep); err != nil || rep.Exit() != 1 || rep.Count(RolledBack) != 1 || rep.Count(Unchanged) != 1 {
				t.Errorf("%s: %v, %s", kind, err, reportText(rep))
			}
			if h := s.history(); h.Open() || !h.Changed() || h.Past("a").Outcome() != Applied {
				t.Errorf("%s: %s", kind, standings(h))
			}
			m.gone, m.odd = false, false
			h, env = s.again()
			if rep := Back(t.Context(), h, s.plan, env); rep.Exit() != 0 || rep.Count(RolledBack) != 1 || s.history().Changed() {
				t.Errorf("%s: %s", kind, reportText(rep))
			}
		})
	}
}

// TestUneven: a run that stops between two ends of a link says which one is changed; of
// one that nobody knows it says that alone.
func TestUneven(t *testing.T) {
	for kind, want := range map[string][]Uneven{refuse: {{"switch.a", "switch.b"}}, dead: nil, "": nil} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, "a", "b", "c")
			s.plan.Waves = []Wave{{Name: "one"}, {Name: "two"}}
			for i := range s.plan.Devices {
				s.plan.Devices[i].Wave, s.plan.Devices[i].Peers = 1+min(i, 1), []string{"b", "b", "a", "elsewhere"}
			}
			if kind != "" {
				s.net.machines["b"].faults = []fault{{kind: kind, verb: targets.VerbChange}}
			}
			rep := s.run(t.Context())
			if got := slices.DeleteFunc(rep.Uneven, func(u Uneven) bool { return u.Not == "switch.c" }); !slices.Equal(got, want) || kind == "" && rep.Exit() != 0 {
				t.Errorf("%s: %v, %s", kind, got, reportText(rep))
			}
			_ = wait(t.Context(), time.Hour)
		})
	}
}

// TestHold leaves devices armed: confirmed by Confirm in time, gone back by
// themselves after it.
func TestHold(t *testing.T) {
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, "a", "b")
			s.plan.Hold = true
			rep := s.run(t.Context())
			if err := s.soundness(rep); err != nil || rep.Exit() != 0 || rep.Count(Pending) != 2 {
				t.Fatal(err, reportText(rep))
			}
			if late {
				_ = wait(t.Context(), s.plan.Confirm)
			}
			h, env := s.again()
			rep = Confirm(t.Context(), h, s.plan, env)
			if err := s.soundness(rep); err != nil {
				t.Error(err)
			}
			if late && (rep.Exit() != 1 || rep.Count(RolledBack) != 2) || !late && (rep.Exit() != 0 || rep.Count(Applied) != 2) {
				t.Errorf("late %t: %s", late, reportText(rep))
			}
			if s.history().Open() {
				t.Errorf("late %t: the journal is open", late)
			}
		})
	}
}

// TestStale refuses a device that is no longer as it was planned for, before
// anything is done, and one on which somebody else is at work.
func TestStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "a", "b")
		s.net.machines["b"].running = *settingsOf("b", 4000)
		rep := s.run(t.Context())
		if rep.Exit() != 1 || rep.Count(Unchanged) != 2 || !strings.Contains(rep.Failure, "Saved plan is stale") {
			t.Error(reportText(rep))
		}
		s = newSite(t, "a")
		other := newSite(t, "a")
		other.net = s.net
		other.plan.ID, other.plan.Hold = "other", true
		if rep := other.run(t.Context()); rep.Exit() != 0 {
			t.Fatal(reportText(rep))
		}
		rep = s.run(t.Context())
		if rep.Exit() != 1 || rep.Count(Unchanged) != 1 || !strings.Contains(rep.Failure, "change other is open on it and goes back in ") {
			t.Error(reportText(rep))
		}
		_ = wait(t.Context(), time.Hour)
	})
}

// TestTwoAtOnce runs two plans on one device at the same moment: one of them goes
// through, the other one is refused and has changed nothing.
func TestTwoAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := newSite(t, "a"), newSite(t, "a")
		two.net, two.record, two.plan.ID = one.net, one.record, "tx2"
		reports := make(chan *Report, 2)
		for _, s := range []*site{one, two} {
			go func() { reports <- s.run(t.Context()) }()
		}
		a, b := <-reports, <-reports
		if a.Exit() != 0 {
			a, b = b, a
		}
		if a.Exit() != 0 || a.Count(Applied) != 1 || b.Exit() != 1 || b.Count(Unchanged)+b.Count(RolledBack) != 1 {
			t.Error(reportText(a), reportText(b))
		}
		if m := one.net.machines["a"]; mtuOf(&m.running) != mtuAfter || mtuOf(&m.stored) != mtuAfter || m.open != "" {
			t.Errorf("it runs %d, stored %d, open %q", mtuOf(&m.running), mtuOf(&m.stored), m.open)
		}
		_ = wait(t.Context(), time.Hour)
	})
}

// TestClockJumps lets the clock of the host jump back and forth: nothing that
// takes its time goes by it.
func TestClockJumps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "a", "b")
		n := 0
		s.clock = func() time.Time { n++; return time.Now().Add(time.Duration(n%3-1) * 1000 * time.Hour) }
		s.net.machines["b"].faults = []fault{{kind: dropDuring, verb: targets.VerbChange}}
		s.plan.Parallelism = 1
		if rep := s.run(t.Context()); rep.Exit() != 0 {
			t.Error(reportText(rep))
		}
		_ = wait(t.Context(), time.Hour)
	})
}

// TestRandom runs plans of random shape with random faults, kills some of them and
// settles what they left: no device is ever between two states without being named.
func TestRandom(t *testing.T) {
	n := 200
	if s := os.Getenv("ROCEC_SOAK"); s != "" {
		if _, err := fmt.Sscan(s, &n); err != nil {
			t.Fatal(err)
		}
	}
	for seed := range uint64(n) {
		random(t, seed)
	}
}

func random(t *testing.T, seed uint64) {
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(seed, 7))
		var names []string
		for i := range 1 + r.IntN(8) {
			names = append(names, fmt.Sprintf("d%d", i))
		}
		s := newSite(t, names...)
		p := s.plan
		p.Parallelism, p.Stop, p.KeepFailed, p.Hold = 1+r.IntN(4), r.IntN(3) == 0, r.IntN(4) == 0, r.IntN(5) == 0
		for i := range r.IntN(3) {
			p.Waves = append(p.Waves, Wave{Name: fmt.Sprint("w", i), Soak: time.Duration(r.IntN(3)) * 10 * time.Second, Gates: Gates{Verify: r.IntN(2) == 0}})
		}
		kinds := faulty()
		for _, k := range []string{refuse, dropBefore, dropDuring, lie, pretend, silent, reboot} {
			kinds = append(kinds, fault{kind: k, verb: targets.VerbRevert}, fault{kind: k, verb: targets.VerbRevert, each: true})
		}
		for i := range p.Devices {
			d := &p.Devices[i]
			d.Wave, d.Group, d.Rank = r.IntN(len(p.Waves)+1), fmt.Sprint(r.IntN(2)), r.IntN(2)
			d.Peers = []string{names[r.IntN(len(names))]}
			for range r.IntN(3) {
				if r.IntN(4) == 0 {
					s.net.machines[d.Name].faults = append(s.net.machines[d.Name].faults, kinds[r.IntN(len(kinds))])
				}
			}
		}
		j := s.journal()
		if r.IntN(3) == 0 {
			s.killAt(j, 1+r.IntN(6*len(names)), r.IntN(2) == 0)
		}
		rep, err := Run(t.Context(), p, s.env(j))
		if err != nil {
			t.Fatal(err)
		}
		if !s.net.cut {
			if err := s.soundness(rep); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
		s.revive()
		h, env := s.again()
		var later *Report
		switch r.IntN(3) {
		case 0:
			later = Settle(t.Context(), h, p, env)
		case 1:
			later = Back(t.Context(), h, p, env)
		case 2:
			later = Confirm(t.Context(), h, p, env)
			if s.net.cut = false; h.Open() {
				h, env = s.again()
				later = Settle(t.Context(), h, p, env)
			}
		}
		if err := s.soundness(later); err != nil {
			t.Errorf("seed %d, later: %v", seed, err)
		}
		_ = wait(t.Context(), time.Hour)
		// Whoever is reached and not named is as it was or as it shall be.
		h = s.history()
		for name, m := range s.net.machines {
			past := h.Past(name)
			m.mu.Lock() // its timer may run just now
			was := mtuOf(&m.running) == mtuBefore && mtuOf(&m.stored) == mtuBefore
			is := mtuOf(&m.running) == mtuAfter && mtuOf(&m.stored) == mtuAfter
			if !was && !is && past.settled() && past.Outcome() != Left {
				t.Errorf("seed %d: %s runs %d, stored %d, and the journal has it as %s", seed, name, mtuOf(&m.running), mtuOf(&m.stored), past.Outcome())
			}
			m.mu.Unlock()
		}
	})
}

// TestThousand changes 1,000 devices, a few at a time.
func TestThousand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names []string
		for i := range 1000 {
			names = append(names, fmt.Sprintf("d%d", i))
		}
		s := newSite(t, names...)
		s.plan.Parallelism = 50
		begin := time.Now()
		rep := s.run(t.Context())
		if err := s.soundness(rep); err != nil || rep.Exit() != 0 || rep.Count(Applied) != 1000 {
			t.Fatal(err, rep.Exit(), rep.Failure)
		}
		// Twenty batches, each of a change and what is asked around it.
		if took := time.Since(begin); took > 20*3*verbTakes {
			t.Errorf("it took %v of the machines' time", took)
		}
		if s.net.most > 50 {
			t.Errorf("%d sessions at once", s.net.most)
		}
		info, err := os.Stat(filepath.Join(s.dir, "tx1.ndjson"))
		if err != nil || info.Size() > 4<<20 {
			t.Errorf("the journal has %d bytes: %v", info.Size(), err)
		}
	})
}
