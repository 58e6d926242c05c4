package windows

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	machines "github.com/rocec/rocec/deploy/lab/windows"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// rig is one device, its simulated host, and a transaction.
type rig struct {
	t  *testing.T
	tg *targets.Target
	m  *machines.Machine
	tx targets.Transaction
}

// makers make hosts that share the scripts that they have read.
var makers = map[string]lab.Maker{Target.Name: machines.Maker(Target.Name, read), NetworkATC.Name: machines.Maker(NetworkATC.Name, read)}

// newRig starts the host of a device and puts the files of a transaction on it.
func newRig(t *testing.T, tg *targets.Target, d *intent.Device, e lab.Environment) *rig {
	t.Helper()
	made, err := makers[tg.Name](d, e)
	if err != nil {
		t.Fatal(err)
	}
	m := made.(*machines.Machine)
	m.SetClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	t.Cleanup(func() { _ = m.Close() })
	r := &rig{t, tg, m, targets.Transaction{ID: "t1", Device: d, Confirm: 10 * time.Minute}}
	r.put()
	return r
}

// folder is that of the device in the transaction, as SFTP has it.
func (r *rig) folder() string { return "/" + r.tg.Live.Root + "/" + r.tx.ID + "/" + r.tx.Device.Name }

// put lays the files out as a session does.
func (r *rig) put() {
	r.t.Helper()
	var errs strings.Builder
	if code := r.m.Exec(context.Background(), encoded(r.tg.Live.Prepare(r.tx)), nil, io.Discard, &errs); code != 0 {
		r.t.Fatalf("prepare exits with %d: %s", code, errs.String())
	}
	if got := r.m.Access(`C:\ProgramData\rocec\live`); got != liveAccess {
		r.t.Errorf("the access is %q", got)
	}
	var out emit.Out
	r.tg.Emit(r.tx.Device, &out)
	write := func(folder string, list []emit.Artifact) {
		if err := r.m.Disk().MkdirAll(folder, 0o755); err != nil {
			r.t.Fatal(err)
		}
		for _, a := range list {
			if err := r.m.Disk().WriteFile(folder+"/"+a.Path, a.Bytes, 0o644); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	write(r.folder(), out.Artifacts)
	for _, k := range out.Kits {
		write("/"+r.tg.Live.Root+"/"+r.tx.ID+"/"+emit.KitFolder+"/"+k.Name, k.Artifacts)
	}
}

// encoded is a text as a session starts it.
func encoded(text string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return "powershell.exe -NoProfile -NonInteractive -EncodedCommand " + base64.StdEncoding.EncodeToString(b)
}

// verb runs one verb over a session that ends with ctx.
func (r *rig) verb(ctx context.Context, v targets.Verb) (code int, stdout, reason string) {
	r.t.Helper()
	text := r.tg.Live.Command(v, r.tx)
	if v != targets.VerbStatus {
		text = "Set-Location -LiteralPath '" + strings.TrimPrefix(r.folder(), "/") + "'; " + text
	}
	line := encoded(text)
	if len(line) > 4000 {
		r.t.Errorf("the command line of %s has %d characters", v, len(line))
	}
	var o, e bytes.Buffer
	code = r.m.Exec(ctx, line, nil, &o, &e)
	said := strings.Split(strings.TrimRight(e.String(), "\r\n"), "\r\n")
	return code, o.String(), said[len(said)-1]
}

// want runs a verb and demands its exit code.
func (r *rig) want(v targets.Verb, code int) (reason string) {
	r.t.Helper()
	got, out, reason := r.verb(context.Background(), v)
	if got != code {
		r.t.Fatalf("%s exits with %d, want %d: %s %s", v, got, code, out, reason)
	}
	return reason
}

func (r *rig) status() (s targets.State) {
	r.t.Helper()
	code, out, reason := r.verb(context.Background(), targets.VerbStatus)
	if code != 0 || strings.Count(out, "\n") != 1 {
		r.t.Fatalf("status exits with %d: %q %s", code, out, reason)
	}
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		r.t.Fatalf("%v: %s", err, out)
	}
	return s
}

// phase demands a phase, and that what is open and scheduled goes with it.
func (r *rig) phase(want targets.Phase) targets.State {
	r.t.Helper()
	s := r.status()
	open, scheduled := "", 0
	switch want {
	case targets.PhaseBegun, targets.PhaseChanging, targets.PhaseChanged, targets.PhaseFailed:
		open, scheduled = r.tx.ID, 4
		if s.Left < 1 || s.Left > int(r.tx.Confirm/time.Second) {
			r.t.Errorf("%s: %d seconds are left", want, s.Left)
		}
	case targets.PhaseReverting:
		open, scheduled = r.tx.ID, 4
	case targets.PhaseStuck:
		open = r.tx.ID
	}
	if s.Phase != want || s.Open != open || s.ID != r.tx.ID || scheduled == 0 && s.Left != 0 {
		r.t.Fatalf("want phase %s with %q open: %+v", want, open, s)
	}
	if n := len(r.m.Tasks()); n != scheduled {
		r.t.Errorf("%s with the tasks %v", want, r.m.Tasks())
	}
	return s
}

// settings are what a capture shows of the host, without what undo.ps1 leaves.
func (r *rig) settings() map[string]any {
	r.t.Helper()
	var out emit.Out
	r.tg.Emit(r.tx.Device, &out)
	var o, e bytes.Buffer
	script := strings.ReplaceAll(r.tg.Live.Root+"/"+r.tx.ID+"/"+emit.KitFolder+"/"+out.Kits[0].Name+"/"+captureFile, "/", `\`)
	if code := r.m.Exec(context.Background(), run+script, nil, &o, &e); code != 0 {
		r.t.Fatalf("capture: %s%s", o.String(), e.String())
	}
	var m map[string]any
	if err := json.Unmarshal(o.Bytes(), &m); err != nil {
		r.t.Fatal(err)
	}
	for _, k := range []string{"Features", "FlowControl", "TrafficClasses", "Dcbx", "Boot"} {
		delete(m, k)
	}
	return m
}

// same demands that the host has the settings that it had.
func (r *rig) same(before map[string]any) {
	r.t.Helper()
	if diff := cmp.Diff(before, r.settings()); diff != "" {
		r.t.Errorf("the host is not as it was (-before +after):\n%s", diff)
	}
}

func TestLive(t *testing.T) {
	for name, d := range samples() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &Target, d, lab.Environment{Clock: lab.RealTime{}})
				before := r.settings()
				r.phase(targets.PhaseNone)
				r.want(targets.VerbBegin, targets.ExitDone)
				r.phase(targets.PhaseBegun)
				r.same(before)
				r.want(targets.VerbChange, targets.ExitDone)
				s := r.phase(targets.PhaseChanged)
				if !strings.Contains(s.Message, "restart is pending of") || !strings.Contains(s.Message, "live_restart") {
					t.Errorf("nothing is said of restarts: %s", s.Message)
				}
				r.want(targets.VerbConfirm, targets.ExitDone)
				r.phase(targets.PhaseConfirmed)
				r.want(targets.VerbRevert, targets.ExitDone)
				r.phase(targets.PhaseReverted)
				r.same(before)
			})
		})
	}
}

// until waits, on the clock of the test, for what goes on by itself.
func until(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// reach brings a transaction into a phase.
func (r *rig) reach(f *lab.Faults, p targets.Phase) {
	r.t.Helper()
	switch p {
	case targets.PhaseNone:
	case targets.PhaseBegun:
		r.want(targets.VerbBegin, 0)
	case targets.PhaseFailed:
		r.want(targets.VerbBegin, 0)
		f.Inject(lab.Fault{Kind: lab.FaultRefuse, Nth: 4})
		r.want(targets.VerbChange, targets.ExitFailed)
		f.Clear()
	case targets.PhaseChanged:
		r.want(targets.VerbBegin, 0)
		r.want(targets.VerbChange, 0)
	case targets.PhaseConfirmed:
		r.reach(f, targets.PhaseChanged)
		r.want(targets.VerbConfirm, 0)
	case targets.PhaseReverted:
		r.reach(f, targets.PhaseChanged)
		r.want(targets.VerbRevert, 0)
	case targets.PhaseStuck:
		r.reach(f, targets.PhaseChanged)
		f.Inject(lab.Fault{Kind: lab.FaultRefuse, Times: -1})
		if reason := r.want(targets.VerbRevert, targets.ExitStuck); !strings.Contains(reason, "simulated refusal") {
			r.t.Errorf("stuck because of %q", reason)
		}
		f.Clear()
	}
	r.phase(p)
}

// Every verb in every phase: its exit code, and the phase that is then.
func TestLiveVerbs(t *testing.T) {
	const refused, failed = targets.ExitRefused, targets.ExitFailed
	type end struct {
		code  int
		phase targets.Phase
	}
	for from, ends := range map[targets.Phase]map[targets.Verb]end{
		targets.PhaseNone: {
			targets.VerbBegin: {0, targets.PhaseBegun}, targets.VerbChange: {refused, targets.PhaseNone},
			targets.VerbConfirm: {refused, targets.PhaseNone}, targets.VerbRevert: {refused, targets.PhaseNone},
		},
		targets.PhaseBegun: {
			targets.VerbBegin: {0, targets.PhaseBegun}, targets.VerbChange: {0, targets.PhaseChanged},
			targets.VerbConfirm: {failed, targets.PhaseBegun}, targets.VerbRevert: {0, targets.PhaseReverted},
		},
		targets.PhaseChanged: {
			targets.VerbBegin: {0, targets.PhaseChanged}, targets.VerbChange: {0, targets.PhaseChanged},
			targets.VerbConfirm: {0, targets.PhaseConfirmed}, targets.VerbRevert: {0, targets.PhaseReverted},
		},
		targets.PhaseFailed: {
			targets.VerbBegin: {0, targets.PhaseFailed}, targets.VerbChange: {failed, targets.PhaseFailed},
			targets.VerbConfirm: {failed, targets.PhaseFailed}, targets.VerbRevert: {0, targets.PhaseReverted},
		},
		targets.PhaseConfirmed: {
			targets.VerbBegin: {refused, targets.PhaseConfirmed}, targets.VerbChange: {refused, targets.PhaseConfirmed},
			targets.VerbConfirm: {0, targets.PhaseConfirmed}, targets.VerbRevert: {0, targets.PhaseReverted},
		},
		targets.PhaseReverted: {
			targets.VerbBegin: {refused, targets.PhaseReverted}, targets.VerbChange: {refused, targets.PhaseReverted},
			targets.VerbConfirm: {refused, targets.PhaseReverted}, targets.VerbRevert: {0, targets.PhaseReverted},
		},
		targets.PhaseStuck: {
			targets.VerbBegin: {refused, targets.PhaseStuck}, targets.VerbChange: {refused, targets.PhaseStuck},
			targets.VerbConfirm: {0, targets.PhaseConfirmed}, targets.VerbRevert: {0, targets.PhaseReverted},
		},
	} {
		for v, want := range ends {
			t.Run(string(from)+"/"+string(v), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					faults := &lab.Faults{}
					r := newRig(t, &Target, s2d(), lab.Environment{Faults: faults})
					before := r.settings()
					r.reach(faults, from)
					reason := r.want(v, want.code)
					if want.code != 0 && reason == "" {
						t.Errorf("%s says nothing", v)
					}
					r.phase(want.phase)
					if want.phase == targets.PhaseReverted || want.phase == targets.PhaseNone {
						r.same(before)
					}
				})
			})
		}
	}
}

// The host goes back when the time is over, whatever the clock on the wall does
// meanwhile, and not before.
func TestLiveTime(t *testing.T) {
	for name, jump := range map[string]time.Duration{"no jump": 0, "a day back": -24 * time.Hour, "a day forth": 24 * time.Hour, "years back": -40 * 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &Target, s2d(), lab.Environment{})
				now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
				before := r.settings()
				r.reach(nil, targets.PhaseChanged)
				if jump != 0 {
					r.m.SetClock(now.Add(jump))
				}
				until(9 * time.Minute)
				if s := r.phase(targets.PhaseChanged); s.Left > 60 {
					t.Errorf("%d seconds are left of a minute", s.Left)
				}
				until(125 * time.Second)
				if s := r.phase(targets.PhaseReverted); s.Message == "" {
					t.Error("nothing is said")
				}
				r.same(before)
			})
		})
	}
}

// A confirmed change is not taken back, by no time and no start of Windows.
func TestLiveConfirmedStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &Target, s2d(), lab.Environment{})
		r.reach(nil, targets.PhaseConfirmed)
		after := r.settings()
		until(time.Hour)
		r.same(after)
		r.m.Reboot()
		until(time.Hour)
		r.phase(targets.PhaseConfirmed)
		if v := r.m.Host().NICs[0].Property("VlanID").Value; v != "711" {
			t.Errorf("the VLAN is %s", v)
		}
	})
}

// Windows is started anew in the middle: the host goes back.
func TestLiveReboot(t *testing.T) {
	for _, p := range []targets.Phase{targets.PhaseBegun, targets.PhaseChanged, targets.PhaseFailed} {
		t.Run(string(p), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				faults := &lab.Faults{}
				r := newRig(t, &Target, s2d(), lab.Environment{Faults: faults})
				before := r.settings()
				r.reach(faults, p)
				r.m.Reboot()
				until(30 * time.Second)
				r.phase(targets.PhaseReverted)
				r.same(before)
			})
		})
	}
}

// The session is lost while the change is under way: the change goes on, and can
// be asked for.
func TestLiveSessionLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faults := &lab.Faults{}
		r := newRig(t, &Target, s2d(), lab.Environment{Faults: faults})
		r.want(targets.VerbBegin, 0)
		faults.Inject(lab.Fault{Kind: lab.FaultStall, Delay: time.Minute})
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if code, _, _ := r.verb(ctx, targets.VerbChange); code == 0 {
			t.Fatal("the change ended at once")
		}
		r.phase(targets.PhaseChanging)
		r.want(targets.VerbConfirm, targets.ExitFailed)
		r.want(targets.VerbChange, 0)
		r.phase(targets.PhaseChanged)
		r.want(targets.VerbConfirm, 0)
	})
}

// A change that does not end is ended with the time, and then the host goes back.
func TestLiveChangeThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faults := &lab.Faults{}
		r := newRig(t, &Target, s2d(), lab.Environment{Faults: faults})
		before := r.settings()
		r.want(targets.VerbBegin, 0)
		faults.Inject(lab.Fault{Kind: lab.FaultStall, Delay: 24 * time.Hour, Nth: 5})
		if reason := r.want(targets.VerbChange, targets.ExitFailed); reason == "" {
			t.Error("nothing is said")
		}
		until(3 * time.Minute)
		r.phase(targets.PhaseReverted)
		r.same(before)
	})
}

// The last transactions that ended stay, with their files, and no other; the one
// before the last can still be undone by its own files.
func TestLiveForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &Target, small(), lab.Environment{})
		before := r.settings()
		var ids []string
		for i := range 8 {
			r.tx.ID = fmt.Sprintf("t%d", 8-i)
			ids = append(ids, r.tx.ID)
			r.put()
			if i%2 == 0 {
				r.reach(nil, targets.PhaseReverted)
			} else {
				r.reach(nil, targets.PhaseConfirmed)
				r.want(targets.VerbRevert, 0)
			}
		}
		list, err := r.m.Disk().ReadDir("/C:/ProgramData/rocec/live")
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			var left []string
			for _, e := range list {
				if e.Name() == id || strings.HasPrefix(e.Name(), id+".") {
					left = append(left, e.Name())
				}
			}
			if kept := i >= 3; kept != (len(left) > 0) {
				t.Errorf("of %s, which ended as the %d. of 8, there is %v", id, i+1, left)
			}
		}
		r.tx.ID = ids[0]
		if s := r.status(); s.Phase != targets.PhaseNone {
			t.Errorf("%+v", s)
		}
		r.tx.ID = ids[6]
		if s := r.status(); s.Phase != targets.PhaseReverted {
			t.Errorf("%+v", s)
		}
		r.same(before)
	})
}

// An earlier change left a MTU waiting for a restart, and a start of Windows in the
// middle of the next one brings it: what that change did is undone all the same, and
// the host shows nothing else of what it is set to.
func TestLiveOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &Target, s2d(), lab.Environment{})
		r.reach(nil, targets.PhaseConfirmed)
		shown := func() *intent.Device {
			b, err := json.Marshal(r.settings())
			if err != nil {
				t.Fatal(err)
			}
			d, found := Target.Parse(r.tx.Device, captured(string(b)))
			if found.HasErrors() {
				t.Fatal(found)
			}
			return d
		}
		before, running := shown(), r.m.Host().NICs[0].MTU
		d := s2d()
		d.QoS[0].Sched.Value[1].Percent, d.QoS[0].Sched.Value[0].Percent = 60, 39
		r.tx.ID, r.tx.Device = "t2", d
		r.put()
		r.reach(nil, targets.PhaseChanged)
		r.m.Reboot()
		until(2 * time.Minute)
		r.phase(targets.PhaseReverted)
		if now := r.m.Host().NICs[0].MTU; now == running {
			t.Fatalf("the MTU is still %d: nothing was overdue", now)
		}
		if list := intent.Diff(before, shown()); len(list) > 0 {
			t.Errorf("not as it was: %v", list)
		}
	})
}
