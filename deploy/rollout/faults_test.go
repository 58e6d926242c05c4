package rollout

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/targets"
)

var update = flag.Bool("update", false, "rewrite the expectations")

// faulty are all faults at the moments at which they can happen.
func faulty() []fault {
	var list []fault
	put := func(verb targets.Verb, kinds ...string) {
		for _, k := range kinds {
			list = append(list, fault{kind: k, verb: verb})
			if verb != "files" && k != dead && k != stranger && k != reboot && k != restart {
				list = append(list, fault{kind: k, verb: verb, each: true})
			}
		}
	}
	put(dial, dropBefore, silent, dead, stranger)
	put(targets.VerbStatus, dropBefore, garbage, dead, reboot, restart)
	put(read, dropBefore, garbage, dead, reboot, restart)
	put("files", full)
	for _, v := range []targets.Verb{targets.VerbBegin, targets.VerbChange, targets.VerbConfirm} {
		put(v, refuse, dropBefore, dropDuring, dropAfter, lie, silent, reboot, restart, dead, stranger)
	}
	put(targets.VerbChange, slow, pretend)
	return list
}

func (f fault) String() string {
	s := fmt.Sprintf("%s: %s", f.verb, f.kind)
	if f.each {
		s += " each time"
	}
	return s
}

// policies are what a plan says of failures.
var policies = map[string]func(*Plan){
	"rollback":    func(*Plan) {},
	"stop":        func(p *Plan) { p.Stop = true },
	"no rollback": func(p *Plan) { p.KeepFailed = true },
	"hold":        func(p *Plan) { p.Hold = true },
}

// TestFaults runs every fault on the second of three devices that change in step,
// after one that changed before, and on the way back. What becomes of each of
// them, the exit code and the message stand in testdata/faults.txt.
func TestFaults(t *testing.T) {
	var b strings.Builder
	for _, policy := range []string{"rollback", "stop", "no rollback", "hold"} {
		fmt.Fprintf(&b, "# %s\n\n", policy)
		for _, f := range append([]fault{{kind: "none"}}, faulty()...) {
			b.WriteString(trial(t, policy, f))
		}
	}
	b.WriteString("# rollback, after change was refused\n\n")
	for _, kind := range []string{refuse, dropBefore, dropDuring, dropAfter, lie, pretend, silent, reboot, dead, stranger} {
		for _, each := range []bool{false, true} {
			b.WriteString(trial(t, "rollback", fault{kind: refuse, verb: targets.VerbChange}, fault{kind: kind, verb: targets.VerbRevert, each: each}))
		}
	}
	golden(t, "faults.txt", b.String())
}

// trial is one run with faults, as text.
func trial(t *testing.T, policy string, faults ...fault) (out string) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "a", "b", "c", "d")
		policies[policy](s.plan)
		s.plan.Waves = []Wave{{Name: "first"}}
		for i := range s.plan.Devices {
			s.plan.Devices[i].Wave = 1
			s.plan.Devices[i].Rank = min(i, 1) // a changes first, the others in step
		}
		var names []string
		for _, f := range faults {
			names = append(names, f.String())
			s.net.machines["c"].faults = append(s.net.machines["c"].faults, f)
		}
		rep := s.run(t.Context())
		if err := s.soundness(rep); err != nil {
			t.Errorf("%s, %v: %v", policy, faults, err)
		}
		out = strings.Join(names, ", ") + "\n" + reportText(rep) + "\n"
		if s.net.open != 0 {
			t.Errorf("%s, %v: %d sessions are open", policy, faults, s.net.open)
		}
		_ = wait(t.Context(), time.Hour) // until the machines are at rest
	})
	return out
}

// reportText is a report in lines.
func reportText(rep *Report) string {
	var b strings.Builder
	var states []string
	for _, r := range rep.Results {
		states = append(states, r.Device+" "+string(r.Outcome))
	}
	fmt.Fprintf(&b, "  exit %d: %s\n", rep.Exit(), strings.Join(states, ", "))
	if rep.Failure != "" {
		fmt.Fprintf(&b, "  %s\n", rep.Failure)
	}
	for _, r := range rep.Results {
		if r.Message != "" {
			fmt.Fprintf(&b, "  %s: %s\n", r.Device, r.Message)
		}
		if r.Manual != "" {
			fmt.Fprintf(&b, "  %s: type: %s\n", r.Device, r.Manual)
		}
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}
