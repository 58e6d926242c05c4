package rollout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// goBack takes a device back and makes sure of it, by its own word and by reading
// it. It sets the outcome.
func (u *unit) goBack(ctx context.Context, workspace string) {
	if !u.begun {
		u.outcome = Unchanged
		u.hangUp()
		return
	}
	u.tell(Event{Kind: RollbackStart})
	err := u.undo(ctx)
	if err == nil {
		if err = u.unkeep(workspace); err != nil {
			u.failed = true
			u.say(fmt.Errorf("its entry of the record was not put back: %w", err))
		}
		u.outcome = RolledBack
	}
	u.tell(Event{Kind: RollbackComplete, Outcome: u.outcome, Message: u.message})
	u.hangUp()
}

// say adds to the message.
func (u *unit) say(err error) {
	if u.message != "" {
		u.message += "; "
	}
	u.message += err.Error()
}

// undo gives the verb until the device says that it went back, and reads it.
func (u *unit) undo(ctx context.Context) error {
	// Without a journal a device that can go back still does.
	if err := u.note(stepRevert, ""); err != nil {
		u.say(err)
	}
	until := time.Now().Add(u.grace)
	if u.armed.Add(u.grace).After(until) {
		until = u.armed.Add(u.grace)
	}
	longest := time.Now().Add(revertWithin)
	for try := 1; ; try++ {
		code, said, gone := u.verb(ctx, targets.VerbRevert, min(revertWithin, time.Until(until)), nil)
		st, err := u.ask(ctx, until)
		if err != nil && st.Phase == targets.PhaseReverting { // it answers, and takes its time
			st, err = u.ask(ctx, longest)
		}
		if err != nil {
			return u.lose(Doubt, fmt.Errorf("revert: %w", err))
		}
		switch st.Phase {
		case targets.PhaseReverted:
			return u.asBefore(ctx, until, wentBack)
		case targets.PhaseNone:
			if u.base == "" {
				return u.lose(Doubt, errors.New("revert: it knows nothing of the transaction, and it is not known how it was before"))
			}
			return u.asBefore(ctx, until, knowsNothing)
		case targets.PhaseConfirmed:
			if gone == nil && code == targets.ExitRefused {
				return u.stays(said)
			}
		}
		if try < attempts && (lost(gone) || gone != nil && u.heals(gone)) {
			continue
		}
		if said == "" {
			said = st.Message
		}
		return u.lose(Stuck, fmt.Errorf("revert: it is %s%s", st.Phase, because(said)))
	}
}

// stays is a device that refuses to take a confirmed change back, as another one came
// after it: nothing is between two states, and it is as those changes left it.
func (u *unit) stays(said string) error {
	err := fmt.Errorf("not taken back: %s", said)
	u.outcome, u.failed, u.armed = Applied, true, time.Time{}
	u.say(err)
	if e := u.note(stepNoted, said); e != nil {
		u.say(e)
	}
	return err
}

// Words of a device of which nothing is open.
const (
	wentBack     = "it says that it went back"
	knowsNothing = "it knows nothing of the transaction any more"
)

// asBefore demands that a device that says it went back is as it was.
func (u *unit) asBefore(ctx context.Context, until time.Time, says string) error {
	if u.base != "" {
		u.hangUp()
		_, now, err := u.reread(ctx, until)
		if err != nil {
			return u.lose(Doubt, fmt.Errorf("%s, and cannot be read: %w", says, err))
		}
		if what := u.moved(now); what != "" {
			return u.lose(Stuck, fmt.Errorf("%s: %s", says, what))
		}
	}
	u.begun, u.changed, u.armed = false, false, time.Time{}
	if err := u.note(stepBack, ""); err != nil {
		u.failed = true
		u.say(err)
	}
	return nil
}

// moved says in which way a device is not as it was before, "" if it is. What
// could not be seen then, and can now, is no difference: Windows shows flow control
// only once a feature is installed, and that stays.
func (u *unit) moved(now *intent.Device) string {
	if intent.Digest(now) == u.base {
		return ""
	}
	before, err := unpackDevice(u.before)
	if err != nil {
		return "it is not as it was"
	}
	if list := intent.Diff(before, now); len(list) > 0 {
		return sample(u.device.Address, before.Kind, list)
	}
	list := intent.Diff(now, before) // what has come since
	if len(list) == 0 {
		return ""
	}
	if list[0].Creates() {
		return place(u.device.Address, now.Kind, list[0].Path) + " is there, and was not"
	}
	for i := range list {
		list[i].Before, list[i].After = list[i].After, list[i].Before
	}
	return sample(u.device.Address, now.Kind, list)
}

// lose names a device that did not go back, or of which that is not known.
func (u *unit) lose(o Outcome, err error) error {
	confirmed := u.outcome == Applied
	u.outcome, u.failed = o, true
	u.say(err)
	s := stepStuck
	if o == Doubt {
		s = stepDoubt
		switch {
		case !u.armed.IsZero():
			u.say(fmt.Errorf("%s takes it back when it runs", u.device.Target.Live.Confirms))
		case confirmed:
			u.say(errors.New("it was changed and confirmed before, and nothing takes it back by itself"))
		}
	}
	if e := u.note(s, u.message); e != nil {
		u.say(e)
	}
	return err
}
