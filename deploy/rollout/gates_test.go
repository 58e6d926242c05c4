package rollout

import (
	"context"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
)

// answering is a dialer whose devices answer some commands besides.
type answering struct {
	*network
	answer func(device, command string) (session.Output, bool)
}

func (a answering) Dial(ctx context.Context, to session.Spec) (session.Session, error) {
	s, err := a.network.Dial(ctx, to)
	if err != nil {
		return nil, err
	}
	return answered{s, to.Device, a.answer}, nil
}

type answered struct {
	session.Session
	device string
	answer func(device, command string) (session.Output, bool)
}

func (a answered) Run(ctx context.Context, command string, in []byte) (session.Output, error) {
	if out, ok := a.answer(a.device, command); ok {
		return out, ctx.Err()
	}
	return a.Session.Run(ctx, command, in)
}

// watched is a site of two Linux hosts in one wave, and one that follows.
func watched(t *testing.T, gates Gates, answer func(device, command string) (session.Output, bool)) (*site, *Env) {
	s := newSite(t, "a", "b", "c")
	s.plan.Waves = []Wave{{Name: "canary", Soak: time.Minute, Gates: gates}, {Name: "rest"}}
	linux := *fakeTarget
	linux.Name, linux.Health = "linux", &targets.Health{Probes: []targets.Probe{{File: "%s.txt", Command: "counters %s", PerPort: true}}, Read: readFake}
	for i := range s.plan.Devices {
		d := &s.plan.Devices[i]
		d.Target, d.Wave = &linux, 1+i/2
		want := d.Intent()
		want.Ports[0].QoS = "roce"
		want.QoS = []intent.QoS{{Name: "roce", PFC: intent.Some(intent.PrioritySet(0).With(3))}}
		want.Ifaces = []intent.Iface{{Name: "r0", RDMA: true, Addresses: intent.Some([]netip.Prefix{
			netip.MustParsePrefix(fmt.Sprintf("10.0.0.%d/24", i+1)), netip.MustParsePrefix(fmt.Sprintf("10.0.0.%d/24", i+11)), // a host does not ping itself
		})}}
	}
	env := s.env(s.journal())
	env.Dialer = answering{s.net, answer}
	return s, env
}

// readFake reads lines "name port priority number" as vitals.
func readFake(_ *intent.Device, c targets.Captured) (*targets.Vitals, diag.List) {
	v := &targets.Vitals{}
	for _, text := range c.Files {
		for line := range strings.Lines(string(text)) {
			var name, port string
			var priority int8
			var n uint64
			if _, err := fmt.Sscan(line, &name, &port, &priority, &n); err == nil {
				v.Add(port, targets.Counter{Of: map[string]targets.Count{"drops": targets.Discarded, "storms": targets.Storms, "pauses": targets.PauseSent}[name], Priority: priority}, n)
			}
		}
	}
	return v, nil
}

// TestGates watches a wave of two hosts: what its gates find, and that the wave
// goes back when they do not hold.
func TestGates(t *testing.T) {
	text := func(s string, args ...any) (session.Output, bool) {
		return session.Output{Stdout: []byte(fmt.Sprintf(s, args...))}, true
	}
	var mu sync.Mutex
	looks := map[string]int{} // of devices that are asked at once
	for _, c := range []struct {
		name   string
		gates  Gates
		answer func(s *site, device, command string) (session.Output, bool)
		fails  string
	}{
		{"none", Gates{}, nil, ""},
		{"verify", Gates{Verify: true}, nil, ""},
		{
			"drift",
			Gates{Verify: true},
			func(s *site, device, command string) (session.Output, bool) {
				if m := s.net.machines["b"]; command == string(read) && device == "b" && m.tx["tx1"] != nil && m.tx["tx1"].phase == targets.PhaseConfirmed {
					return text(`{"ports": [{"name": "p1", "mtu": {"value": 9001}}]}`)
				}
				return session.Output{}, false
			},
			`wave canary: gate verify: switch.b: switch.b.port["p1"].mtu is 9001, expected 9000, and 3 more differ`,
		},
		{
			"no discards",
			Gates{NoDiscards: true, NoPauseStorm: true},
			func(_ *site, _, command string) (session.Output, bool) {
				if command == "counters p1" {
					return text("drops p1 3 5\nstorms p1 -1 0\n")
				}
				return session.Output{}, false
			}, "",
		},
		{
			"discards",
			Gates{NoDiscards: true},
			func(_ *site, device, command string) (session.Output, bool) {
				if command == "counters p1" {
					mu.Lock()
					defer mu.Unlock()
					looks[device]++
					return text("drops p1 3 %d\n", looks[device])
				}
				return session.Output{}, false
			}, "wave canary: gate counters: switch.a: p1: frames dropped on priority 3 grew by 1",
		},
		{
			"nobody can tell",
			Gates{NoPauseStorm: true},
			func(_ *site, _, command string) (session.Output, bool) {
				if command == "counters p1" {
					return text("pauses p1 3 5\n")
				}
				return session.Output{}, false
			}, "wave canary: gate counters: switch.a: it shows no counters of storms of pauses",
		},
		{
			"pings",
			Gates{RDMAPing: true},
			func(s *site, device, command string) (session.Output, bool) {
				switch {
				case device == "a" && command == "timeout 60 rping -s -a 10.0.0.11 -p 8918 -C 10 -v", device == "b" && command == "timeout 30 rping -c -a 10.0.0.11 -p 8918 -C 10 -v":
					return text("ping data: rdma-ping-0\n")
				}
				return session.Output{Exit: 1, Stderr: []byte("unexpected")}, strings.Contains(command, "rping")
			}, "",
		},
		{
			"no pings",
			Gates{RDMAPing: true},
			func(s *site, device, command string) (session.Output, bool) {
				if strings.Contains(command, "rping -c") {
					return session.Output{Exit: 255, Stderr: []byte("cma event RDMA_CM_EVENT_UNREACHABLE, error -110")}, true
				}
				return session.Output{}, strings.Contains(command, "rping")
			}, "wave canary: gate rdma_ping: from switch.b to switch.a: timeout 30 rping -c -a 10.0.0.11 -p 8918 -C 10 -v: exit code 255: cma event RDMA_CM_EVENT_UNREACHABLE, error -110",
		},
	} {
		for _, stop := range []bool{false, true} {
			clear(looks)
			synctest.Test(t, func(t *testing.T) {
				var s *site
				s, env := watched(t, c.gates, func(device, command string) (session.Output, bool) {
					if c.answer == nil {
						return session.Output{}, false
					}
					return c.answer(s, device, command)
				})
				s.plan.Stop = stop
				begin := time.Now()
				rep, err := Run(t.Context(), s.plan, env)
				if err != nil {
					t.Fatal(err)
				}
				if rep.Failure != c.fails {
					t.Errorf("%s: %q, expected %q", c.name, rep.Failure, c.fails)
				}
				want := []Outcome{Applied, Applied, Applied}
				switch {
				case c.fails != "" && stop:
					want = []Outcome{Applied, Applied, Unchanged}
				case c.fails != "":
					want = []Outcome{RolledBack, RolledBack, Unchanged}
				}
				for i, r := range rep.Results {
					if r.Outcome != want[i] {
						t.Errorf("%s, stop %t: %s is %s, expected %s", c.name, stop, r.Device, r.Outcome, want[i])
					}
				}
				if (rep.Exit() == 1) != (c.fails != "") {
					t.Errorf("%s: exit code %d", c.name, rep.Exit())
				}
				if c.name != "nobody can tell" && time.Since(begin) < time.Minute {
					t.Errorf("%s: the wave was watched for %v", c.name, time.Since(begin))
				}
				if s.net.open != 0 {
					t.Errorf("%s: %d sessions are open", c.name, s.net.open)
				}
			})
		}
	}
}

// TestParts watches each part of a wave before the next part begins: what fails goes
// back with its part, and those before it stay. A run that goes on watches what was not.
func TestParts(t *testing.T) {
	for name, c := range map[string]struct {
		gates   Gates
		bad     string // device whose counters grow
		alone   bool   // the hosts are in networks of their own
		want    []Outcome
		failure string
		watched []Part
		pings   int
	}{
		"all hold": {
			gates: Gates{NoDiscards: true, RDMAPing: true}, want: []Outcome{Applied, Applied, Applied},
			watched: []Part{{"canary", "rail 2"}, {"canary", "rail 10"}, {Wave: "rest"}}, pings: 2,
		},
		"the first": {
			gates: Gates{NoDiscards: true}, bad: "b", want: []Outcome{Unchanged, RolledBack, Unchanged},
			failure: "wave canary, rail 2: gate counters: switch.b: p1: frames dropped on priority 3 grew by 1",
		},
		"the second": {
			gates: Gates{NoDiscards: true, RDMAPing: true}, bad: "a", want: []Outcome{RolledBack, Applied, Unchanged},
			failure: "wave canary, rail 10: gate counters: switch.a: p1: frames dropped on priority 3 grew by 1",
			watched: []Part{{"canary", "rail 2"}},
		},
		"nobody to ping": {
			gates: Gates{RDMAPing: true}, alone: true, want: []Outcome{RolledBack, Applied, Unchanged},
			failure: "wave canary, rail 10: gate rdma_ping: the wave has no two Linux hosts with RDMA addresses in one network, nor has the network another",
			watched: []Part{{"canary", "rail 2"}},
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			pings, begin := 0, time.Now()
			s, env := watched(t, c.gates, func(device, command string) (session.Output, bool) {
				if strings.Contains(command, "rping") {
					mu.Lock()
					defer mu.Unlock()
					pings++
					return session.Output{}, true
				}
				n := 0
				if device == c.bad {
					n = int(time.Since(begin) / time.Minute)
				}
				return session.Output{Stdout: fmt.Appendf(nil, "drops p1 3 %d\n", n)}, command == "counters p1"
			})
			s.plan.Devices[0].Group, s.plan.Devices[1].Group = "rail 10", "rail 2"
			if c.alone {
				s.plan.Devices[0].Intent().Ifaces = nil
			}
			rep, err := Run(t.Context(), s.plan, env)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.soundness(rep); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if rep.Failure != c.failure || !slices.Equal(rep.Watched, c.watched) || pings != c.pings {
				t.Errorf("%s: %q, watched %v, %d pings", name, rep.Failure, rep.Watched, pings)
			}
			parts := time.Duration(min(len(c.watched)+len(c.failure), 2))
			if took := time.Since(begin); took < parts*time.Minute && c.bad != "b" || s.net.open != 0 {
				t.Errorf("%s: in %v, %d sessions open", name, took, s.net.open)
			}
			for i, r := range rep.Results {
				if r.Outcome != c.want[i] {
					t.Errorf("%s: %s is %s, expected %s", name, r.Device, r.Outcome, c.want[i])
				}
			}
			h := s.history()
			for _, d := range h.Devices {
				if h.Unwatched(d) {
					t.Errorf("%s: %s was not watched", name, d.Name)
				}
			}
		})
	}
}

// TestPartner heals one host whose gate sends RDMA: the others of its network are in no
// wave of the run, and the first that is read as wanted is its partner, never changed.
func TestPartner(t *testing.T) {
	const none = "wave canary: gate rdma_ping: the wave has no two Linux hosts with RDMA addresses in one network, "
	for name, c := range map[string]struct {
		mtu     map[string]uint16 // of the others as they are
		open    string            // one of them that has a change open
		server  string
		failure string
	}{
		"the first":         {mtu: map[string]uint16{"b": mtuAfter, "c": mtuAfter}, server: "b"},
		"one drifted too":   {mtu: map[string]uint16{"b": 4000, "c": mtuAfter}, server: "c"},
		"one may go back":   {mtu: map[string]uint16{"b": mtuAfter, "c": mtuAfter}, open: "b", server: "c"},
		"none is as wanted": {mtu: map[string]uint16{"b": mtuAfter, "c": 4000}, open: "b", failure: none + `and no other is as wanted: switch.c: switch.c.port["p1"].mtu is 4000, expected 9000`},
		"none is there":     {failure: none + "nor has the network another"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			served := ""
			s, env := watched(t, Gates{RDMAPing: true}, func(device, command string) (session.Output, bool) {
				if strings.Contains(command, "rping -s") {
					mu.Lock()
					defer mu.Unlock()
					served = device
				}
				return session.Output{}, strings.Contains(command, "rping")
			})
			all := s.plan.Devices
			s.plan.Devices = all[:1]
			for i := range all[1:] {
				d := &all[i+1]
				have := *d.Intent()
				have.Ports = slices.Clone(have.Ports)
				have.Ports[0].MTU = intent.Some(c.mtu[d.Name])
				m := s.net.machines[d.Name]
				m.running, m.stored = have, have
				if c.open == d.Name {
					m.open, m.transaction("other").phase = "other", targets.PhaseChanged
				}
			}
			s.plan.Partners = func(network netip.Prefix) iter.Seq[*Device] {
				return func(yield func(*Device) bool) {
					for i := range all {
						if network.String() != "10.0.0.0/24" || len(c.mtu) == 0 || !yield(&all[i]) {
							return
						}
					}
				}
			}
			rep, err := Run(t.Context(), s.plan, env)
			if err != nil {
				t.Fatal(err)
			}
			if rep.Failure != c.failure || served != c.server || rep.Exit() != min(len(c.failure), 1) || s.net.open != 0 {
				t.Errorf("%s: %s, %q served, %d sessions open", name, reportText(rep), served, s.net.open)
			}
			for _, d := range []string{"b", "c"} {
				if verbs := s.net.machines[d].verbs; len(verbs) > 0 {
					t.Errorf("%s: %s was told %q", name, d, verbs)
				}
			}
		})
	}
}

// TestAgain goes on after a run that died while a wave was watched: the wave is watched
// again, before the next one begins where one does, and what holds is written down.
func TestAgain(t *testing.T) {
	for name, c := range map[string]struct {
		grows   int
		done    bool      // nothing comes after the wave
		want    []Outcome // of the device of the later wave
		failure string
	}{
		"holds":                      {0, false, []Outcome{Applied}, ""},
		"does not hold":              {1, false, []Outcome{Unchanged}, "wave canary: gate counters: switch.a: p1: frames dropped on priority 3 grew by 1"},
		"of the last, holds":         {0, true, nil, ""},
		"of the last, does not hold": {1, true, nil, "wave canary: gate counters: switch.a: p1: frames dropped on priority 3 grew by 1"},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			s, env := watched(t, Gates{NoDiscards: true}, func(_, command string) (session.Output, bool) {
				minutes := int(time.Since(begin) / time.Minute)
				return session.Output{Stdout: fmt.Appendf(nil, "drops p1 3 %d\n", minutes*c.grows)}, command == "counters p1"
			})
			s.plan.Again, s.plan.Devices = s.plan.Devices[:2], s.plan.Devices[2:]
			if c.done {
				s.plan.Devices = nil
			}
			rep, err := Run(t.Context(), s.plan, env)
			if err != nil {
				t.Fatal(err)
			}
			changed, left := rep.Results[:len(c.want)], rep.Results[len(c.want):]
			if rep.Failure != c.failure || len(c.want) > 0 && changed[0].Outcome != c.want[0] || (rep.Exit() == 0) != (c.failure == "") {
				t.Errorf("%s: %s", name, reportText(rep))
			}
			if c.failure != "" && (left[0].Device != "a" || left[0].Outcome != Unchanged || !strings.HasSuffix(left[0].Message, "rocec rollback takes that back")) {
				t.Errorf("%s: %+v", name, rep.Results)
			}
			if slices.Contains(rep.Watched, Part{Wave: "canary"}) != (c.failure == "") || time.Since(begin) < time.Minute || s.net.open != 0 {
				t.Errorf("%s: watched %v in %v, %d sessions open", name, rep.Watched, time.Since(begin), s.net.open)
			}
		})
	}
}

// TestAgainOrder watches what was left of two waves, each in its turn, around the one
// that changes something, and last what is in no wave.
func TestAgainOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "a", "b", "c", "d")
		s.plan.Waves = []Wave{{Name: "one", Gates: Gates{Verify: true}}, {Name: "two"}, {Name: "three", Soak: time.Hour, Gates: Gates{Verify: true}}}
		for i := range s.plan.Devices {
			s.plan.Devices[i].Wave = (i + 1) % 4
		}
		for _, d := range []string{"a", "c"} {
			m := s.net.machines[d]
			m.running, m.stored = *settingsOf(d, mtuAfter), *settingsOf(d, mtuAfter)
		}
		s.plan.Again = []Device{s.plan.Devices[2], s.plan.Devices[0]}
		s.plan.Devices = []Device{s.plan.Devices[3], s.plan.Devices[1]}
		env, seen := s.env(s.journal()), []string{}
		env.Tell = func(e Event) {
			if e.Kind == WaveStart || e.Kind == Soaking {
				seen = append(seen, fmt.Sprintf("%s %s %d", e.Kind, e.Wave, e.Total))
			}
		}
		rep, err := Run(t.Context(), s.plan, env)
		if err != nil || rep.Exit() != 0 || rep.Count(Applied) != 2 {
			t.Fatal(err, reportText(rep))
		}
		want := []string{"wave_start one 0", "wave_start two 1", "wave_start three 0", "wave_soak three 0", "wave_start  1"}
		if !slices.Equal(seen, want) || !slices.Equal(rep.Watched, []Part{{Wave: "one"}, {Wave: "two"}, {Wave: "three"}}) {
			t.Errorf("%q, watched %v", seen, rep.Watched)
		}
	})
}

// TestUnwatched: what a journal says of waves that were not watched to their end.
func TestUnwatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "a", "b")
		s.plan.Waves = []Wave{{Name: "canary", Soak: time.Hour}, {Name: "rest"}}
		s.plan.Devices[0].Wave, s.plan.Devices[1].Wave = 1, 2
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(30*time.Minute, cancel)
		if rep := s.run(ctx); rep.Failure != "wave canary: interrupted" {
			t.Fatal(reportText(rep))
		}
		h, _ := s.again()
		if !h.Unwatched(h.Past("a")) || h.Unwatched(h.Past("b")) {
			t.Error("a was changed and not watched, b not changed")
		}
		past := h.Past("a")
		past.Part = "rail 1"
		h.watched[Part{"canary", "rail 2"}] = true
		if !h.Unwatched(past) {
			t.Error("another part was watched")
		}
		h.watched[Part{Wave: "canary"}] = true
		if h.Unwatched(past) {
			t.Error("the whole wave was watched")
		}
		if err := h.NoteWatched([]string{"b"}, time.Now); err != nil {
			t.Fatal(err)
		}
		if h, _ = s.again(); !h.Unwatched(h.Past("a")) {
			t.Error("another device was watched since")
		}
		if err := h.NoteWatched([]string{"a"}, time.Now); err != nil {
			t.Fatal(err)
		}
		if h, _ = s.again(); h.Unwatched(h.Past("a")) || h.Open() {
			t.Error("it was watched since")
		}
	})
}

// TestWorse compares two looks at a port that has priority 3 lossless, in group 4,
// and at one that has none.
func TestWorse(t *testing.T) {
	groups := [8]uint8{0, 0, 0, 4}
	d := &intent.Device{
		Name: "a", Ports: []intent.Port{{Name: "p1", QoS: "roce"}, {Name: "p2"}},
		QoS: []intent.QoS{{Name: "roce", PFC: intent.Some(intent.PrioritySet(0).With(3)), Group: intent.Some(groups)}},
	}
	type row struct {
		port     string
		of       targets.Count
		priority int8
		n        uint64
	}
	seen := func(stormed intent.PrioritySet, rows ...row) *targets.Vitals {
		v := &targets.Vitals{}
		v.Port("p1").Stormed = stormed
		for _, r := range rows {
			v.Add(r.port, targets.Counter{Of: r.of, Priority: r.priority}, r.n)
		}
		return v
	}
	drops := func(n uint64) row { return row{"p1", targets.Discarded, 3, n} }
	storms := func(n uint64) row { return row{"p1", targets.Storms, targets.NoPriority, n} }
	both := Gates{NoDiscards: true, NoPauseStorm: true}
	held := intent.PrioritySet(0).With(3)
	for name, c := range map[string]struct {
		gates       Gates
		before, now *targets.Vitals
		want        string
	}{
		"the same":                {both, seen(0, drops(5), storms(1)), seen(0, drops(5), storms(1)), ""},
		"drops":                   {both, seen(0, drops(5)), seen(0, drops(7)), "p1: frames dropped on priority 3 grew by 2"},
		"storms":                  {both, seen(0, storms(0)), seen(0, storms(1)), "p1: pause storms grew by 1"},
		"both":                    {both, seen(0, drops(1), storms(1)), seen(0, drops(2), storms(2)), "p1: frames dropped on priority 3 grew by 1, and 1 more"},
		"stormed now":             {both, seen(held), seen(held), "p1: the watchdog holds back [3]"},
		"stormed, and not asked":  {Gates{NoDiscards: true}, seen(0), seen(held), ""},
		"storms, and not asked":   {Gates{NoDiscards: true}, seen(0, storms(0)), seen(0, storms(1)), ""},
		"drops, and not asked":    {Gates{NoPauseStorm: true}, seen(0, drops(0)), seen(0, drops(1)), ""},
		"cleared":                 {both, seen(0, drops(5)), seen(0, drops(1)), ""},
		"nothing to compare with": {both, seen(0), seen(0, drops(5)), ""},
		"of a lossy priority":     {both, seen(0, row{"p1", targets.Discarded, 0, 1}), seen(0, row{"p1", targets.Discarded, 0, 9}), ""},
		"of a lossy port":         {both, seen(0, row{"p2", targets.Discarded, 3, 1}), seen(0, row{"p2", targets.Discarded, 3, 9}), ""},
	} {
		if got := worse(d, c.gates, c.before, c.now); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if !shows(&intent.Device{}, seen(0), targets.Storms) || shows(d, seen(0, row{"p1", targets.Discarded, 0, 1}), targets.Discarded) || !shows(d, seen(0, drops(0)), targets.Discarded) {
		t.Error("what tells, and what does not")
	}
}

// TestGateOfOtherTargets fails where nobody can tell, and says so.
func TestGateOfOtherTargets(t *testing.T) {
	for gates, fails := range map[Gates]string{
		{NoDiscards: true}: "gate counters: switch.a: target fake shows no counters that tell",
		{RDMAPing: true}:   "gate rdma_ping: the wave has no two Linux hosts with RDMA addresses in one network, nor has the network another",
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, "a")
			s.plan.Waves = []Wave{{Name: "w", Gates: gates}}
			s.plan.Devices[0].Wave = 1
			rep := s.run(t.Context())
			if !strings.Contains(rep.Failure, fails) || rep.Count(RolledBack) != 1 {
				t.Error(reportText(rep))
			}
		})
	}
}

// TestInterrupt ends a run at every moment: what was begun goes back or is done,
// nothing further begins.
func TestInterrupt(t *testing.T) {
	for after := time.Duration(0); after < 12*time.Second; after += 500 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, "a", "b", "c", "d")
			s.plan.Parallelism = 2
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(after, cancel)
			rep := s.run(ctx)
			if err := s.soundness(rep); err != nil {
				t.Errorf("after %v: %v", after, err)
			}
			if n := rep.Count(Applied) + rep.Count(RolledBack) + rep.Count(Unchanged); n != 4 || rep.Exit() == 3 {
				t.Errorf("after %v: %s", after, reportText(rep))
			}
			if rep.Count(Applied) < 4 && (rep.Exit() != 1 || !strings.Contains(rep.Failure, "interrupted")) {
				t.Errorf("after %v: %s", after, reportText(rep))
			}
			_ = wait(context.WithoutCancel(t.Context()), time.Hour)
		})
	}
}

// TestRecordFails stops when the record cannot be written: the device is named, as
// it is changed.
func TestRecordFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "a", "b")
		s.plan.Parallelism = 1
		s.record.broken = true
		rep := s.run(t.Context())
		if rep.Exit() != 1 || rep.Count(Applied) != 1 || rep.Count(Unchanged) != 1 || !strings.Contains(rep.Failure, "it is changed and confirmed, and not recorded") {
			t.Error(reportText(rep))
		}
		// The next run records it.
		s.record.broken = false
		h, env := s.again()
		rep = Settle(t.Context(), h, s.plan, env)
		if err := s.soundness(rep); err != nil || rep.Exit() != 0 || rep.Count(Applied) != 1 {
			t.Error(err, reportText(rep))
		}
	})
}
