package rollout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// work is what the steps of one device hand on.
type work struct {
	*unit
	made   *apply.Device
	remark string // what the device said of a change that went through
}

// prepare makes sure that the device is the one that was planned for: nobody
// else's transaction is open, and it is as the plan saw it. Nothing is changed.
func (w *work) prepare(ctx context.Context) error {
	w.tell(Event{Kind: Start})
	w.progress("reading")
	st, err := w.ask(ctx, time.Now().Add(w.within(firstPatience)))
	if err != nil {
		return err
	}
	if st.Open != "" && st.Open != w.tx.ID {
		if w.over == nil || !w.over(w.device.Name, st.Open) {
			return errors.New((&targets.Armed{ID: st.Open, Left: time.Duration(st.OpenLeft) * time.Second}).String())
		}
		if err := w.clear(ctx, st.Open); err != nil {
			return err
		}
	}
	if st.Phase != targets.PhaseNone {
		return fmt.Errorf("transaction %s is there already: it is %s", w.tx.ID, st.Phase)
	}
	c, have, err := w.reread(ctx, time.Now().Add(w.within(firstPatience)))
	if err != nil {
		return err
	}
	w.found, w.have, w.base = c, have, intent.Digest(have)
	if w.device.Base != "" && w.device.Base != w.base {
		return &plan.StaleError{Moved: []string{"it is no longer as the plan has it"}}
	}
	if what := withheld(w.device.Address, w.want, have, w.device.Target); what != "" {
		return errors.New(what)
	}
	if w.made, err = w.device.Make(c); err != nil {
		return err
	}
	if w.device.Target.Rebase == nil {
		return nil
	}
	switch run, changes := steps(w.made); {
	case changes:
		return nil
	case len(run) > 0:
		return fmt.Errorf("all that is left on it needs a maintenance window: there, run %s of the bundle that build writes for it", strings.Join(run, "; "))
	}
	return &plan.StaleError{Moved: []string{"nothing is left to do on it: it was changed, or what it runs was stored, since it was planned for; plan again"}}
}

// clear ends a transaction of an earlier run that began when nobody waited for it any
// more. Nothing was changed in it.
func (w *work) clear(ctx context.Context, late string) error {
	own := w.tx.ID
	w.tx.ID = late
	defer func() { w.tx.ID = own }()
	until := time.Now().Add(w.within(firstPatience))
	st, err := w.ask(ctx, until)
	if err == nil && st.Phase == targets.PhaseBegun {
		var gone error
		if _, _, gone = w.verb(ctx, targets.VerbRevert, w.within(revertWithin), nil); gone != nil && !lost(gone) {
			return gone
		}
		st, err = w.ask(ctx, until)
	}
	switch {
	case err != nil:
		return err
	case st.Open == "":
		return nil
	}
	return fmt.Errorf("change %s of an earlier apply is open on it: it is %s", late, st.Phase)
}

func (w *work) progress(phase string) { w.tell(Event{Kind: Progress, Phase: phase}) }

// begin puts the files on the device and arms it: from here on it goes back by
// itself.
func (w *work) begin(ctx context.Context) error {
	files, err := w.made.Alone()
	if err != nil {
		return err
	}
	list := make([]session.File, len(files))
	for i, f := range files {
		list[i] = session.File{Path: f.Path, Mode: uint32(f.Mode & fs.ModePerm), Bytes: f.Bytes}
	}
	w.progress("beginning")
	if w.before, err = packDevice(w.have); err != nil {
		return err
	}
	if err := w.env.Journal.write(line{Step: stepBegin, Device: w.device.Name, Observed: w.base, Before: w.before}); err != nil {
		return err
	}
	w.begun = true
	for try := 1; ; try++ {
		w.armed = time.Now().Add(w.tx.Confirm) // for as long as it is not known when it began
		code, said, err := w.verb(ctx, targets.VerbBegin, w.tx.Confirm/4, list)
		st, asked := w.ask(ctx, w.share(4))
		w.armed = time.Now().Add(w.tx.Confirm)
		switch {
		case asked != nil:
			return unknown("begin", err, asked)
		case st.Phase == targets.PhaseBegun:
			return w.note(stepBegun, "")
		case st.Phase != targets.PhaseNone:
			return astray("begin", st)
		case lost(err) && try < attempts:
			continue
		case lost(err):
			return err // likewise: begun until it was taken back
		}
		// Nothing was begun, and the device says so.
		w.begun = false
		if e := w.note(stepClear, ""); e != nil {
			return e
		}
		if err != nil {
			return err
		}
		return refusal("begin", code, said)
	}
}

// change makes the change. Whatever becomes of the session, the device says how
// it ended.
func (w *work) change(ctx context.Context) error {
	w.progress("changing")
	if err := w.note(stepChange, ""); err != nil {
		return err
	}
	w.changed = true
	for try := 1; ; try++ {
		code, said, err := w.verb(ctx, targets.VerbChange, time.Until(w.share(5)), nil)
		st, asked := w.ask(ctx, w.share(6))
		switch {
		case asked != nil:
			return unknown("change", err, asked)
		case st.Phase == targets.PhaseChanged:
			if st.Message != string(targets.PhaseChanged) {
				w.remark = st.Message
			}
			return w.note(stepChanged, "")
		case st.Phase == targets.PhaseBegun && lost(err) && try < attempts:
			continue
		case st.Phase == targets.PhaseBegun && err != nil:
			return err
		case err != nil && st.Phase == targets.PhaseFailed:
			return fmt.Errorf("change: %w; it says that it failed%s", err, because(st.Message))
		case st.Phase == targets.PhaseFailed, st.Phase == targets.PhaseBegun:
			if said == "" {
				said = st.Message
			}
			return refusal("change", code, said)
		}
		return astray("change", st)
	}
}

// check comes back over a new session and compares the device with the intent. What it
// finds holds for the start of the device that the last status was of.
func (w *work) check(ctx context.Context) error {
	w.progress("reading back")
	w.tx.Boot = w.boot
	w.hangUp()
	c, have, err := w.reread(ctx, w.share(7))
	if err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	if what := unlike(w.device.Address, w.want, have, w.device.Target); what != "" {
		run := w.windowOnly(c)
		if len(run) == 0 {
			if w.remark != "" {
				what += "; the device says: " + short(w.remark)
			}
			return fmt.Errorf("read back: %s", what)
		}
		w.windowed = true
		w.message = fmt.Sprintf("what is left needs a maintenance window (%s in %s/%s/%s): %s", strings.Join(run, "; "), w.device.Target.Live.Root, w.tx.ID, w.device.Name, what)
	}
	return nil
}

// windowOnly is what is run in a maintenance window on a device that lacks nothing
// but what its target leaves to one; none for any other.
func (w *work) windowOnly(c targets.Captured) (run []string) {
	if w.device.Target.Rebase == nil {
		return nil
	}
	made, err := w.device.Make(w.device.Target.Running(c)) // it is stored when it is confirmed
	if err != nil {
		return nil
	}
	run, changes := steps(made)
	if changes {
		return nil
	}
	return run
}

// steps are what is run in a maintenance window, and whether a transaction has something
// to change.
func steps(made *apply.Device) (window []string, changes bool) {
	for _, a := range made.Artifacts {
		switch {
		case a.Step == emit.Apply:
			changes = true
		case a.Step == emit.Maintenance && a.Run != "":
			window = append(window, a.Run)
		}
	}
	return window, changes
}

// confirm takes the revert off the schedule.
func (w *work) confirm(ctx context.Context) error {
	w.progress("confirming")
	if err := w.note(stepConfirm, ""); err != nil {
		return err
	}
	for try := 1; ; try++ {
		code, said, err := w.verb(ctx, targets.VerbConfirm, confirmWithin, nil)
		st, asked := w.ask(ctx, w.armed.Add(w.grace))
		switch {
		case asked != nil:
			return unknown("confirm", err, asked)
		case st.Phase == targets.PhaseConfirmed && st.Boot == w.tx.Boot:
			w.armed = time.Time{}
			return w.note(stepDone, "")
		case (st.Phase == targets.PhaseConfirmed || st.Phase == targets.PhaseChanged) && st.Boot != w.tx.Boot && try < attempts:
			// It was started since it was read: what was changed may be gone.
			w.armed = time.Now().Add(time.Duration(st.Left) * time.Second)
			if err := w.check(ctx); err != nil {
				return fmt.Errorf("it was started again before it was confirmed: %w", err)
			}
			continue
		case st.Phase == targets.PhaseChanged && lost(err) && try < attempts:
			continue
		case err != nil && (st.Phase == targets.PhaseChanged || st.Phase == targets.PhaseFailed):
			return err
		case st.Phase == targets.PhaseChanged, st.Phase == targets.PhaseFailed:
			if said == "" {
				said = st.Message
			}
			return refusal("confirm", code, said)
		}
		return astray("confirm", st)
	}
}

// keep writes the record.
func (u *unit) keep(workspace string, status record.Status) error {
	e, err := u.device.Entry()
	if err != nil {
		return err
	}
	e.Status = status
	before, version, err := u.env.Record.Get(e.Device)
	if err != nil {
		return err
	}
	l := line{Step: stepRecord, Device: u.device.Name}
	switch {
	case u.record: // a process died in this: what is there may be its own
		l.Entry = u.entry
	case before != nil:
		if l.Entry, err = packEntry(before, workspace); err != nil {
			return err
		}
	}
	if err := u.env.Journal.write(l); err != nil {
		return err
	}
	u.record, u.entry = true, l.Entry
	if _, err := u.env.Record.Put(e, version); err != nil {
		return err
	}
	return u.note(stepNoted, "")
}

// unkeep puts the entry of the record back that was there before.
func (u *unit) unkeep(workspace string) error {
	if !u.record {
		return nil
	}
	before, err := (&Past{Name: u.device.Name, entry: u.entry}).before(workspace)
	if err != nil {
		return err
	}
	if err := u.note(stepRestore, ""); err != nil {
		return err
	}
	_, version, err := u.env.Record.Get(u.device.Name)
	switch {
	case err != nil:
		return err
	case before != nil:
		_, err = u.env.Record.Put(before, version)
	case version != "":
		err = u.env.Record.Delete(u.device.Name, version)
	}
	if err != nil {
		return err
	}
	u.record, u.entry = false, nil
	return u.note(stepClean, "")
}

// stepError is a step of which it is not known whether it was done.
type stepError struct{ err error }

func (e *stepError) Error() string { return e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

// unknown is the failure of a step after which the device could not be asked.
func unknown(verb string, gone, asked error) error {
	if gone == nil {
		gone = asked
	}
	return &stepError{fmt.Errorf("%s: %w", verb, gone)}
}

// refusal is what a device said when it did not do what it was told.
func refusal(verb string, code int, said string) error {
	switch {
	case code == targets.ExitDone:
		return fmt.Errorf("%s: it says that this is done, and did not do it", verb)
	case said == "":
		return fmt.Errorf("%s: exit code %d", verb, code)
	case code == targets.ExitRefused:
		return fmt.Errorf("%s was refused: %s", verb, said)
	}
	return fmt.Errorf("%s: %s (exit code %d)", verb, said, code)
}

// astray is a device that did something else than it was told.
func astray(verb string, st targets.State) error {
	switch st.Phase {
	case targets.PhaseReverted:
		return fmt.Errorf("%s: it went back by itself%s", verb, because(st.Message))
	case targets.PhaseNone:
		return fmt.Errorf("%s: it knows nothing of the transaction any more", verb)
	}
	return fmt.Errorf("%s: it is %s%s", verb, st.Phase, because(st.Message))
}

func because(message string) string {
	if message == "" {
		return ""
	}
	return ": " + short(message)
}
