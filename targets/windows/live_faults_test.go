package windows

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	machines "github.com/rocec/rocec/deploy/lab/windows"
	"github.com/rocec/rocec/targets"
)

// flow is a change that goes well, up to where something ends it.
func (r *rig) flow(ctx context.Context) {
	for _, v := range []targets.Verb{targets.VerbBegin, targets.VerbChange, targets.VerbConfirm} {
		if code, _, _ := r.verb(ctx, v); code != 0 || ctx.Err() != nil {
			return
		}
	}
}

// small is a host whose change has few steps.
func small() *intent.Device {
	d := s2d()
	d.Ports, d.Ifaces = d.Ports[:1], d.Ifaces[:1]
	return d
}

// Somebody reads the state while it is to be replaced, as a scanner does: what is
// done is kept all the same. Where that never ends, the change is not begun.
func TestLiveBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &Target, small(), lab.Environment{})
		before := r.settings()
		r.want(targets.VerbBegin, targets.ExitDone)
		state := `C:\ProgramData\rocec\live\` + r.tx.ID + `.state.json`
		r.m.Busy(state, 1000)
		r.want(targets.VerbChange, targets.ExitFailed)
		r.phase(targets.PhaseBegun)
		r.same(before)
		for _, v := range []targets.Verb{targets.VerbChange, targets.VerbConfirm} {
			r.m.Busy(state, 3)
			r.want(v, targets.ExitDone)
		}
		r.phase(targets.PhaseConfirmed)
	})
}

// settled demands that the host is as it was, or as it should be and confirmed,
// and that nothing is left of a transaction that is over.
func (r *rig) settled(before map[string]any) {
	r.t.Helper()
	s := r.status()
	switch s.Phase {
	case targets.PhaseConfirmed:
		if v := r.m.Host().NICs[0].Property("VlanID").Value; v != "711" {
			r.t.Errorf("it is confirmed, and the VLAN is %s", v)
		}
	case targets.PhaseNone, targets.PhaseReverted:
		r.same(before)
	default:
		r.t.Errorf("it ends as %+v", s)
	}
	if s.Open != "" || s.Left != 0 || len(r.m.Tasks()) > 0 {
		r.t.Errorf("%+v with the tasks %v", s, r.m.Tasks())
	}
}

// Something ends in each step of a change: the session, the power, the process of
// the task. The host is then as it was or as it should be, by itself.
func TestLiveKilledAtEachStep(t *testing.T) {
	var steps []string
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &Target, small(), lab.Environment{})
		r.m.Watch(func(step string) { steps = append(steps, step) })
		r.flow(t.Context())
		r.phase(targets.PhaseConfirmed)
	})
	if len(steps) < 30 {
		t.Fatalf("a change has the steps %v", steps)
	}
	for name, c := range map[string]struct {
		every int // which steps
		kill  func(r *rig, cancel func())
	}{
		"session": {4, func(_ *rig, cancel func()) { cancel() }},
		"power":   {1, func(r *rig, _ func()) { r.m.Reboot() }},
		"task": {4, func(r *rig, _ func()) {
			for _, name := range r.m.Tasks() {
				r.m.End(name)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for at := 1; at <= len(steps); at += c.every {
				if setting := !strings.Contains(steps[at-1], "scheduledtask") && !strings.Contains(steps[at-1], " "); setting && at%3 != 0 {
					continue // one setting is like another
				}
				t.Run(fmt.Sprint(at), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						r := newRig(t, &Target, small(), lab.Environment{})
						before := r.settings()
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						n, where := 0, ""
						r.m.Watch(func(step string) {
							if n++; n == at {
								where = step
								c.kill(r, cancel)
							}
						})
						r.flow(ctx)
						until(15 * time.Minute)
						r.settled(before)
						if t.Failed() {
							t.Log("ended at " + where)
						}
					})
				})
			}
		})
	}
}

// The way back is ended in each of its steps: it goes on by itself, or a person
// is told.
func TestLiveRevertKilledAtEachStep(t *testing.T) {
	count := func(t *testing.T, at int, kill func(r *rig)) (steps int) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &Target, small(), lab.Environment{})
			before := r.settings()
			r.reach(nil, targets.PhaseChanged)
			r.m.Watch(func(string) {
				if steps++; steps == at {
					kill(r)
				}
			})
			until(30 * time.Minute)
			r.m.Watch(nil)
			r.settled(before)
		})
		return steps
	}
	steps := count(t, 0, nil)
	if steps < 15 {
		t.Fatalf("the way back has %d steps", steps)
	}
	for at := 1; at <= steps; at += 1 + at%2*2 { // 1, 4, 5, 8, 9: both kinds of end
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			count(t, at, func(r *rig) {
				if at%2 == 0 {
					r.m.Reboot()
					return
				}
				for _, name := range r.m.Tasks() {
					r.m.End(name)
				}
			})
		})
	}
}

// The disk is full from some moment on.
func TestLiveDiskFull(t *testing.T) {
	full := func(r *rig) {
		used, _ := r.m.Disk().Used()
		r.m.Disk().SetLimit(used)
	}
	t.Run("begin", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &Target, s2d(), lab.Environment{})
			before := r.settings()
			full(r)
			if reason := r.want(targets.VerbBegin, targets.ExitRefused); !strings.Contains(reason, "not enough space") {
				t.Errorf("refused because of %q", reason)
			}
			r.m.Disk().SetLimit(0)
			r.phase(targets.PhaseNone)
			r.same(before)
			r.reach(nil, targets.PhaseBegun)
		})
	})
	t.Run("change", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &Target, s2d(), lab.Environment{})
			before := r.settings()
			r.reach(nil, targets.PhaseBegun)
			full(r)
			if code, _, reason := r.verb(t.Context(), targets.VerbChange); code != targets.ExitFailed || reason == "" {
				t.Errorf("change exits with %d: %s", code, reason)
			}
			until(15 * time.Minute)
			r.settled(before)
		})
	})
	t.Run("revert", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &Target, s2d(), lab.Environment{})
			before := r.settings()
			r.reach(nil, targets.PhaseChanged)
			full(r)
			r.want(targets.VerbRevert, 0)
			r.settled(before)
		})
	})
}

// What begin refuses, and what it says.
func TestLiveRefusals(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(r *rig)
		says  string
	}{
		{"another host", func(r *rig) { r.m.Host().Computer = "N2" }, "this computer is 'N2'"},
		{"no administrator", func(r *rig) { r.m.SetAdministrator(false) }, "no administrator"},
		{"a folder of somebody else", func(r *rig) { r.m.SetOwner(`C:\ProgramData\rocec`, "S-1-5-21-9-9-9-1001") }, "'S-1-5-21-9-9-9-1001'"},
		{"a group policy", func(r *rig) {
			r.m.Host().GPO = policies("Domain SMB")
		}, "a group policy decides"},
		{"an open change", func(r *rig) {
			r.reach(nil, targets.PhaseBegun)
			r.tx.ID = "t2"
			r.put()
		}, "transaction t1 is open"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &Target, s2d(), lab.Environment{})
				c.spoil(r)
				tasks := r.m.Tasks()
				if reason := r.want(targets.VerbBegin, targets.ExitRefused); !strings.Contains(reason, c.says) {
					t.Errorf("want %q: %s", c.says, reason)
				}
				if s := r.status(); s.Phase != targets.PhaseNone || !slices.Equal(r.m.Tasks(), tasks) {
					t.Errorf("%+v with %v", s, r.m.Tasks())
				}
				if len(r.m.Host().Changes) > 0 {
					t.Errorf("changed %v", r.m.Host().Changes)
				}
			})
		})
	}
}

// A command that is given before its files are there fails, and begins nothing.
func TestLiveWithoutFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &Target, s2d(), lab.Environment{})
		if err := r.m.Disk().RemoveAll("/C:/ProgramData/rocec/live/t1/common"); err != nil {
			t.Fatal(err)
		}
		for _, v := range []targets.Verb{targets.VerbBegin, targets.VerbChange, targets.VerbConfirm, targets.VerbRevert} {
			if code, _, _ := r.verb(t.Context(), v); code == 0 {
				t.Errorf("%s exits with 0", v)
			}
		}
		r.phase(targets.PhaseNone)
	})
}

// The folder of transactions is of administrators alone, since SYSTEM runs what
// lies there.
func TestLiveFolderIsProtected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &Target, s2d(), lab.Environment{})
		r.m.SetAccess(`C:\ProgramData\rocec\live`, "D:(A;OICI;FA;;;WD)")
		r.reach(nil, targets.PhaseBegun)
		if got := r.m.Access(`C:\ProgramData\rocec\live`); got != liveAccess {
			t.Errorf("the access is %q", got)
		}
	})
}

// With live_restart adapters restart and switches are made, in both directions.
func TestLiveRestart(t *testing.T) {
	for _, d := range []*intent.Device{s2d(), converged()} {
		t.Run(d.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				options := map[string]string{optionRestart: "true"}
				for k, v := range d.Options {
					options[k] = v
				}
				d.Options = options
				r := newRig(t, &Target, d, lab.Environment{})
				before := r.settings()
				r.want(targets.VerbBegin, 0)
				r.want(targets.VerbChange, 0)
				if s := r.phase(targets.PhaseChanged); strings.Contains(s.Message, "run again") {
					t.Errorf("something is left to do: %s", s.Message)
				}
				if len(r.m.Host().Restarts) == 0 || len(r.m.Host().Switches) != len(d.LAGs) {
					t.Errorf("restarted %v, made %d switches", r.m.Host().Restarts, len(r.m.Host().Switches))
				}
				r.want(targets.VerbRevert, 0)
				r.phase(targets.PhaseReverted)
				r.same(before)
			})
		})
	}
}

// Network ATC: without live_restart no intent changes and the way back is whole;
// with it, intents stay and a person is told what to type.
func TestATCLive(t *testing.T) {
	for _, d := range []*intent.Device{atcS2D(), atcConverged()} {
		t.Run(d.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &NetworkATC, d, lab.Environment{})
				before := r.settings()
				r.reach(nil, targets.PhaseBegun)
				r.want(targets.VerbChange, 0)
				r.phase(targets.PhaseChanged)
				if n := len(r.m.Host().ATC.Intents); n > 0 {
					t.Errorf("made %d intents", n)
				}
				r.want(targets.VerbRevert, 0)
				r.phase(targets.PhaseReverted)
				r.same(before)
			})
		})
		t.Run(d.Name+" with restarts", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				options := map[string]string{optionRestart: "true"}
				for k, v := range d.Options {
					options[k] = v
				}
				d.Options = options
				r := newRig(t, &NetworkATC, d, lab.Environment{})
				r.reach(nil, targets.PhaseBegun)
				r.want(targets.VerbChange, 0)
				r.phase(targets.PhaseChanged)
				if n := len(r.m.Host().ATC.Intents); n != 1 {
					t.Errorf("made %d intents", n)
				}
				reason := r.want(targets.VerbRevert, targets.ExitStuck)
				if !strings.Contains(reason, "-RemoveIntent") {
					t.Errorf("says %q", reason)
				}
				r.phase(targets.PhaseStuck)
				// What a person types removes the intent, and says that what it set is still there.
				_ = r.m.Exec(t.Context(), r.tg.Live.Manual(r.tx), nil, io.Discard, io.Discard)
				if n := len(r.m.Host().ATC.Intents); n > 0 {
					t.Errorf("%d intents are left", n)
				}
				if s := r.phase(targets.PhaseStuck); !strings.Contains(s.Message, "leaves on every node what it set") {
					t.Errorf("says %q", s.Message)
				}
				r.want(targets.VerbConfirm, 0)
				r.phase(targets.PhaseConfirmed)
			})
		})
	}
}

func policies(name string) []*machines.Policy {
	return []*machines.Policy{{Name: name, NetDirect: 445, Priority: 4, DSCP: -1, Template: "None", Protocol: "None"}}
}

// Nothing that lies in a folder of somebody else is run, not even to ask for the
// status: everyone may make folders in ProgramData.
func TestLivePlanted(t *testing.T) {
	const stranger = "S-1-5-21-9-9-9-1001"
	for _, folder := range []string{`C:\ProgramData\rocec`, `C:\ProgramData\rocec\live`} {
		r := newRig(t, &Target, s2d(), lab.Environment{})
		planted := "param([string]$Verb, [string]$Id)\nWrite-Output '{\"id\":\"t1\",\"phase\":\"confirmed\"}'\nexit 0"
		if err := r.m.Disk().WriteFile("/"+liveRoot+"/"+liveFile, []byte(planted), 0o644); err != nil {
			t.Fatal(err)
		}
		if code, out, why := r.verb(t.Context(), targets.VerbStatus); code != 0 || !strings.Contains(out, "confirmed") {
			t.Fatalf("what lies there is not run at all: exit %d: %s%s", code, out, why)
		}
		r.m.SetOwner(folder, stranger)
		if code, out, why := r.verb(t.Context(), targets.VerbStatus); code == 0 || strings.Contains(out, "confirmed") || !strings.Contains(why, stranger) {
			t.Errorf("%s: status: exit %d: %s%s", folder, code, out, why)
		}
		var errs strings.Builder
		if code := r.m.Exec(t.Context(), encoded(Target.Live.Prepare(r.tx)), nil, io.Discard, &errs); code != targets.ExitRefused || !strings.Contains(errs.String(), stranger) {
			t.Errorf("%s: prepare: exit %d: %s", folder, code, errs.String())
		}
	}
}
