package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/targets"
)

// Standing is how a device of an earlier run stands, by the journal and by its own
// word.
type Standing struct {
	Device  string
	Address string
	Outcome Outcome        // what the journal says; Doubt where only the device knows
	State   *targets.State // nil: it was not asked
	Err     error          // why it did not answer
}

// Look asks the devices that an earlier run left open how they stand. The plan says
// how they are reached; nothing is changed, and nothing is written.
func Look(ctx context.Context, h *History, p *Plan, env *Env) []Standing {
	out := make([]Standing, len(h.Devices))
	past := onward(h, p, env)
	_, _ = past.each(slices.Collect(indices(len(out))), func(i int) error {
		d := h.Devices[i]
		out[i] = Standing{Device: d.Name, Address: d.Address, Outcome: d.Outcome()}
		if d.settled() {
			return nil
		}
		u, err := past.unit(d)
		if err == nil {
			var st targets.State
			st, err = u.ask(ctx, time.Now().Add(u.within(firstPatience)))
			u.release()
			if err == nil || st.Phase != "" {
				out[i].State, err = &st, nil
			}
		}
		out[i].Err = err
		return nil
	})
	return out
}

// Settle brings what an earlier run left open to an end: a device that is changed
// is read back, confirmed and recorded; every other one goes back. What it was to
// be stands in the journal, whatever the configuration says by now. The journal
// is that run's (History.Continue). Devices that wait for Confirm are left alone, and
// where a person was to confirm (Hold) those that are changed wait for it too.
func Settle(ctx context.Context, h *History, p *Plan, env *Env) *Report {
	return onward(h, p, env).run(h.unsettled, func(u *unit, d *Past) { settleOne(ctx, u, d, h) })
}

// Confirm confirms the devices that an earlier run left armed.
func Confirm(ctx context.Context, h *History, p *Plan, env *Env) *Report {
	pending := func() []*Past {
		return slices.DeleteFunc(slices.Clone(h.Devices), func(d *Past) bool { return d.step != stepPending })
	}
	return onward(h, p, env).run(pending, func(u *unit, _ *Past) { confirmOne(ctx, u, h) })
}

// Back takes back what an earlier run changed, the devices that changed last
// first, and the record with them.
func Back(ctx context.Context, h *History, p *Plan, env *Env) *Report {
	return onward(h, p, env).run(h.changed, func(u *unit, _ *Past) { backOne(ctx, u, h) })
}

// backOne takes a device back. One that is applied, and does not answer before anything
// was said to it, stays applied.
func backOne(ctx context.Context, u *unit, h *History) {
	if u.outcome == Applied {
		if st, err := u.ask(ctx, time.Now().Add(u.grace)); err != nil && st.Phase == "" {
			u.outcome, u.failed = Unchanged, true
			u.say(fmt.Errorf("it is as applied, and was not taken back: %w", err))
			u.tell(Event{Kind: Errored, Message: u.message})
			u.hangUp()
			return
		}
	}
	u.goBack(ctx, h.Workspace)
}

// Changed reports whether something of a run is there that Back would take back.
func (h *History) Changed() bool { return len(h.changed()) > 0 }

// changed are the devices that a run has, or may have, changed, the last ones first.
func (h *History) changed() []*Past {
	var out []*Past
	for _, d := range slices.Backward(h.Devices) {
		if d.begun || d.recorded {
			out = append(out, d)
		}
	}
	return out
}

// unsettled are the devices that Settle is for.
func (h *History) unsettled() []*Past {
	return slices.DeleteFunc(slices.Clone(h.Devices), func(d *Past) bool { return d.settled() || d.step == stepPending })
}

// earlier is an earlier run that is gone on with.
type earlier struct {
	history *History
	plan    *Plan
	env     *Env
	byName  map[string]*Device // of the plan
}

// onward goes on with an earlier run. Several goroutines look its devices up.
func onward(h *History, p *Plan, env *Env) *earlier {
	e := &earlier{h, p, env.serial(), make(map[string]*Device, len(p.Devices))}
	for i := range p.Devices {
		e.byName[p.Devices[i].Name] = &p.Devices[i]
	}
	return e
}

// atEnd reports whether nothing of a transaction is open in a phase.
func atEnd(p targets.Phase) bool {
	return p == targets.PhaseConfirmed || p == targets.PhaseReverted
}

// Forgotten are the devices of a run, by address, that would be taken back and know
// nothing of it any more: a device keeps the last changes only. Nothing is changed.
func Forgotten(ctx context.Context, h *History, p *Plan, env *Env) (list []string) {
	past := onward(h, p, env)
	changed := slices.DeleteFunc(h.changed(), func(d *Past) bool { return d.Outcome() != Applied })
	forgot := make([]bool, len(changed))
	_, _ = past.each(slices.Collect(indices(len(changed))), func(i int) error {
		u, err := past.unit(changed[i])
		if err != nil {
			return nil // Back says so
		}
		st, err := u.ask(ctx, time.Now().Add(u.within(firstPatience)))
		u.release()
		forgot[i] = err == nil && st.Phase == targets.PhaseNone
		return nil
	})
	for i, d := range changed {
		if forgot[i] {
			list = append(list, d.Address)
		}
	}
	return list
}

// errGone is a device that cannot be reached any more.
var errGone = errors.New("the configuration no longer has it, or does not say how it is reached: take the revision that was applied")

// unit is the device of a journal at work.
func (e *earlier) unit(d *Past) (*unit, error) {
	device := e.byName[d.Name]
	if device == nil || device.Target.Live == nil || d.Target != "" && device.Target.Name != d.Target {
		return nil, errGone
	}
	then := *device
	next, damaged := d.after(e.history.Workspace)
	if damaged != nil { // the ID is all that it takes to ask the device, and to take it back
		damaged = e.history.damage(d, damaged)
		then.Entry = func() (*record.Entry, error) { return nil, damaged }
	} else {
		then.Intent = func() *intent.Device { return next.Intent }
		then.Entry = func() (*record.Entry, error) { return next, nil }
	}
	u := &unit{
		damaged: damaged,
		env:     e.env, device: &then, wave: d.Wave, tx: targets.Transaction{ID: e.history.ID, Confirm: max(e.history.Confirm, time.Second)},
		grace: e.plan.patience(), base: d.Observed, before: d.found, begun: true, changed: true, record: d.recorded, entry: d.entry, outcome: d.Outcome(),
	}
	u.intent()
	return u, nil
}

// each does something to devices, as many at once as the plan allows.
func (e *earlier) each(list []int, do func(int) error) (failed []int, errs []error) {
	for part := range slices.Chunk(list, max(e.plan.Parallelism, 1)) {
		f, x := each(part, do)
		failed, errs = append(failed, f...), append(errs, x...)
	}
	return failed, errs
}

func indices(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// run does something to some devices of the run and reports on them.
func (e *earlier) run(which func() []*Past, do func(*unit, *Past)) *Report {
	list := which()
	rep := &Report{ID: e.history.ID, Results: make([]Result, len(list))}
	units := make([]*unit, len(list))
	for i, d := range list {
		u, err := e.unit(d)
		if err != nil {
			rep.Results[i] = Result{Device: d.Name, Address: d.Address, Wave: d.Wave, Outcome: d.Outcome(), Failed: true, Message: err.Error()}
			if o := d.Outcome(); o != Unchanged && o != Applied && o != RolledBack {
				rep.Results[i].Outcome = Doubt
			}
		}
		units[i] = u
	}
	_, _ = e.each(slices.Collect(indices(len(list))), func(i int) error {
		if u := units[i]; u != nil {
			do(u, list[i])
			rep.Results[i] = u.result()
			u.release()
		}
		return nil
	})
	if rep.Exit() != 3 {
		if err := e.env.Journal.write(line{Step: stepEnd, Exit: rep.Exit()}); err != nil {
			rep.Failure = err.Error()
		}
	}
	return rep
}

// goingBack reports whether a run was taking a device back.
func (d *Past) goingBack() bool {
	return slices.Contains([]step{stepRevert, stepBack, stepRestore, stepStuck, stepDoubt, stepKept}, d.step)
}

// confirming reports whether somebody has asked to confirm a device.
func (p *Past) confirming() bool {
	return slices.Contains([]step{stepConfirm, stepDone, stepRecord}, p.step)
}

// leave lets go of a device on which nothing of the run is open any more, and which is
// not what the run knows of it: somebody has set it otherwise, or the journal is
// damaged there. A plan that reads it says how it is.
func (u *unit) leave(why error) {
	u.outcome, u.begun = Left, false
	if why != nil {
		u.failed = true
		u.say(why)
	}
	if err := u.note(stepLeft, ""); err != nil {
		u.failed = true
		u.say(err)
	}
}

// pend reads a device back that a person wants to confirm, and leaves it armed.
func (w *work) pend(ctx context.Context, st targets.State) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	w.outcome, w.until = Pending, w.env.Now().Add(time.Duration(st.Left)*time.Second)
	return w.env.Journal.write(line{Step: stepPending, Device: w.device.Name, Until: &w.until, Message: w.message})
}

// settleOne settles one device.
func settleOne(ctx context.Context, u *unit, d *Past, h *History) {
	st, err := u.ask(ctx, time.Now().Add(u.within(firstPatience)))
	if err != nil && st.Phase != "" && !atRest(st.Phase) {
		st, err = u.ask(ctx, time.Now().Add(u.tx.Confirm+u.grace))
	}
	if err != nil {
		_ = u.lose(Doubt, err)
		return
	}
	u.armed = time.Now().Add(time.Duration(st.Left) * time.Second)
	w := &work{unit: u}
	switch {
	case st.Phase == targets.PhaseNone && !d.answered:
		// The process died with the first verb on its way, or before that. What the device
		// is by now is no matter of this run.
		u.outcome, u.begun = Unchanged, false
		if err := u.note(stepClear, ""); err != nil {
			u.failed = true
			u.say(err)
		}
	case u.damaged != nil && (atEnd(st.Phase) || st.Phase == targets.PhaseNone):
		u.leave(fmt.Errorf("%w: it says that it is %s, and whoever plans next reads it", u.damaged, st.Phase))
	case st.Since != "":
		u.leave(fmt.Errorf("it says that it is %s, and change %s was confirmed on it since: whoever plans next reads it", st.Phase, st.Since))
	case u.damaged != nil:
		u.failed = true
		u.say(u.damaged)
		u.goBack(ctx, h.Workspace)
	case st.Phase == targets.PhaseNone || st.Phase == targets.PhaseReverted:
		u.settleBack(ctx, h.Workspace, st.Phase)
		if u.outcome == Stuck && d.step == stepStuck {
			u.failed = false
			u.leave(nil)
		}
	case d.goingBack():
		u.goBack(ctx, h.Workspace)
	case st.Phase == targets.PhaseChanged && h.Hold && !d.confirming():
		if err := w.pend(ctx, st); err != nil {
			u.failed = true
			u.say(err)
			u.goBack(ctx, h.Workspace)
		}
	case st.Phase == targets.PhaseChanged || st.Phase == targets.PhaseConfirmed:
		if err := w.complete(ctx, h.Workspace, st.Phase); err != nil {
			u.failed = true
			u.say(err)
			if u.outcome != Applied {
				u.goBack(ctx, h.Workspace)
			}
		}
	default:
		u.goBack(ctx, h.Workspace)
	}
}

// settleBack is a device that says that nothing of the transaction is there, or no
// longer.
func (u *unit) settleBack(ctx context.Context, workspace string, phase targets.Phase) {
	says := wentBack
	if phase == targets.PhaseNone {
		says = knowsNothing
	}
	if err := u.asBefore(ctx, time.Now().Add(u.grace), says); err != nil {
		return
	}
	u.outcome = RolledBack
	if err := u.unkeep(workspace); err != nil {
		u.failed = true
		u.say(err)
	}
}

// complete reads a device back that is changed, confirms it unless it is, and
// records it.
func (w *work) complete(ctx context.Context, workspace string, phase targets.Phase) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	if phase != targets.PhaseConfirmed {
		if err := w.confirm(ctx); err != nil {
			return err
		}
	}
	w.outcome = Applied
	status := record.Applied
	if w.windowed {
		status = record.HandedOver
	}
	if err := w.keep(workspace, status); err != nil {
		return fmt.Errorf("it is changed and confirmed, and not recorded (the next apply does that): %w", err)
	}
	w.tell(Event{Kind: Complete, Outcome: Applied, Message: w.message})
	return nil
}

// confirmOne confirms a device that was left armed, if it still is.
func confirmOne(ctx context.Context, u *unit, h *History) {
	st, err := u.ask(ctx, time.Now().Add(u.within(firstPatience)))
	if err != nil {
		_ = u.lose(Doubt, err)
		return
	}
	u.armed = time.Now().Add(time.Duration(st.Left) * time.Second)
	w := &work{unit: u}
	switch {
	case u.damaged != nil: // it cannot be compared with what was to be confirmed
		u.failed = true
		u.say(u.damaged)
		u.goBack(ctx, h.Workspace)
	case st.Phase == targets.PhaseChanged || st.Phase == targets.PhaseConfirmed:
		if err := w.complete(ctx, h.Workspace, st.Phase); err != nil {
			u.failed = true
			u.say(err)
			if u.outcome != Applied {
				u.goBack(ctx, h.Workspace)
			}
		}
	case st.Phase == targets.PhaseNone || st.Phase == targets.PhaseReverted:
		u.failed = true
		u.say(errors.New("it went back by itself: the time to confirm was over"))
		u.settleBack(ctx, h.Workspace, st.Phase)
	default:
		u.failed = true
		u.say(fmt.Errorf("it is %s%s", st.Phase, because(st.Message)))
		u.goBack(ctx, h.Workspace)
	}
}
