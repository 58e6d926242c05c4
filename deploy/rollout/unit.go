package rollout

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/targets"
)

// How long single calls may take, and for how long a device is asked again. The
// steps of a transaction share the time to confirm it: see unit.share.
const (
	statusWithin  = 30 * time.Second
	observeWithin = 5 * time.Minute
	confirmWithin = 2 * time.Minute
	revertWithin  = 10 * time.Minute
	firstPatience = 20 * time.Second // before anything was begun
	longestPause  = 15 * time.Second
	attempts      = 3 // of a step that was lost on its way
)

// unit is one device at work. It has one session at a time.
type unit struct {
	env    *Env
	device *Device
	wave   string
	tx     targets.Transaction
	grace  time.Duration // Plan.Patience
	over   func(device, transaction string) bool

	session  session.Session
	want     *intent.Device
	have     *intent.Device // as it was before; nil: not read, or not kept
	found    targets.Captured
	base     string // digest of what it was before; "" = not known
	before   []byte // that itself, packed
	armed    time.Time
	boot     string // State.Boot of its last answer
	begun    bool   // a transaction may be open on the device, or its change be there
	changed  bool   // it may have been changed
	windowed bool   // it is as it shall be but for what needs a maintenance window
	damaged  error  // the journal does not say what it was to be
	record   bool   // its entry of the record may have been written
	entry    []byte

	outcome Outcome
	failed  bool
	message string
	until   time.Time
}

func newUnit(env *Env, p *Plan, d *Device) *unit {
	return &unit{env: env, device: d, wave: p.waveName(d.Wave), tx: targets.Transaction{ID: p.ID, Confirm: p.Confirm}, grace: p.patience(), over: p.Over, outcome: Unchanged}
}

// intent makes the intent, once.
func (u *unit) intent() *intent.Device {
	if u.want == nil {
		u.want = u.device.Intent()
		u.tx.Device = u.want
	}
	return u.want
}

// release gives back what is needed at work only.
func (u *unit) release() {
	u.hangUp()
	u.want, u.have, u.tx.Device, u.found = nil, nil, nil, targets.Captured{}
}

// within bounds how long a call may take by the time to confirm: a device that
// does not answer is to be known as such before that is over.
func (u *unit) within(d time.Duration) time.Duration {
	return min(d, max(u.tx.Confirm/2, time.Second))
}

// share is a part of the time to confirm, counted from the beginning of the
// transaction: those who change in step with a device that hangs are not to lose
// theirs by it.
func (u *unit) share(eighths int) time.Time {
	return u.armed.Add(-u.tx.Confirm * time.Duration(8-eighths) / 8)
}

func (u *unit) hangUp() {
	if u.session != nil {
		_ = u.session.Close() // what it was for has been said
		u.session = nil
	}
}

func (u *unit) tell(e Event) {
	e.Device, e.Address, e.Wave = u.device.Name, u.device.Address, u.wave
	u.env.Tell(e)
}

func (u *unit) note(s step, message string) error {
	return u.env.Journal.write(line{Step: s, Device: u.device.Name, Message: message})
}

// manual is what a person types on the device to go back.
func (u *unit) manual() string {
	u.intent()
	return u.device.Target.Live.Manual(u.tx)
}

// connect opens a session unless there is one.
func (u *unit) connect(ctx context.Context) error {
	if u.session != nil {
		return nil
	}
	s, err := u.env.Dialer.Dial(ctx, u.device.Session)
	if err != nil {
		return callError(err)
	}
	u.session = s
	return nil
}

// sessionError is an error of a session in messages that name the device anyway.
type sessionError struct{ err *session.Error }

func (e sessionError) Error() string {
	what := e.err.Err
	if errors.Is(what, context.DeadlineExceeded) {
		what = errSilent
	}
	if e.err.Help == "" {
		return fmt.Sprintf("%s: %v", e.err.Op, what)
	}
	return fmt.Sprintf("%s: %v (%s)", e.err.Op, what, e.err.Help)
}

// errSilent is a call that the time for a step of the transaction has ended.
var errSilent = errors.New("no answer in the time that there is for it")

func (e sessionError) Unwrap() error { return e.err }

func callError(err error) error {
	var e *session.Error
	if errors.As(err, &e) {
		return sessionError{e}
	}
	return err
}

// verb gives one verb to the device, with the files of the transaction for the
// first one. An error says that the device gave no answer.
func (u *unit) verb(ctx context.Context, v targets.Verb, within time.Duration, files []session.File) (code int, said string, err error) {
	if err := u.connect(ctx); err != nil {
		return 0, "", err
	}
	u.intent()
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if prepare := u.device.Target.Live.Prepare; prepare != nil && len(files) > 0 {
		out, err := u.session.Run(limited, prepare(u.tx), nil)
		if err != nil {
			u.hangUp()
			return 0, "", callError(err)
		}
		if out.Exit != targets.ExitDone {
			return out.Exit, lastLine(out.Stderr, out.Stdout), nil
		}
	}
	out, err := u.session.Configure(limited, session.Change{
		Folder: path.Join(u.device.Target.Live.Root, u.tx.ID), Files: files, Dir: u.device.Name, Command: u.device.Target.Live.Command(v, u.tx),
	})
	if err != nil {
		u.hangUp()
		if lost(err) {
			_ = wait(ctx, time.Second) // it may be on its way still
		}
		return 0, "", callError(err)
	}
	return out.Exit, lastLine(out.Stderr, out.Stdout), nil
}

// status asks the device how far the transaction is.
func (u *unit) status(ctx context.Context) (st targets.State, err error) {
	if err := u.connect(ctx); err != nil {
		return st, err
	}
	u.intent()
	ctx, cancel := context.WithTimeout(ctx, u.within(statusWithin))
	defer cancel()
	out, err := u.session.Run(ctx, u.device.Target.Live.Command(targets.VerbStatus, u.tx), nil)
	if err == nil {
		st, err = decodeState(out, u.tx.ID)
	}
	if err == nil {
		u.boot = st.Boot
	}
	if err != nil {
		u.hangUp()
	}
	return st, callError(err)
}

// errStatus is an answer about another transaction.
var errStatus = errors.New("its status cannot be read")

// decodeState reads the answer to VerbStatus.
func decodeState(out session.Output, id string) (targets.State, error) {
	st, err := targets.ReadState(out.Stdout)
	switch said := lastLine(out.Stderr, nil); {
	case err != nil && said != "":
		return st, fmt.Errorf("%w: %s", errStatus, said)
	case err == nil && st.ID != id && st.Phase != targets.PhaseNone:
		return st, fmt.Errorf("%w: it is of transaction %q, not %s", errStatus, short(st.ID), id)
	}
	return st, err
}

// atRest reports whether a phase stays as it is for as long as nobody does anything.
func atRest(p targets.Phase) bool { return p != targets.PhaseChanging && p != targets.PhaseReverting }

// ask asks until the device says how far it is, and that it is at rest, or until
// the time is over. What no waiting heals ends it at once.
func (u *unit) ask(ctx context.Context, until time.Time) (st targets.State, err error) {
	pause := time.Second
	for {
		st, err = u.status(ctx)
		if err == nil && atRest(st.Phase) {
			return st, nil
		}
		if err != nil && !u.heals(err) {
			return st, err
		}
		if !time.Now().Add(pause).Before(until) {
			if err == nil {
				err = fmt.Errorf("it is still %s", st.Phase)
			}
			return st, err
		}
		if e := wait(ctx, pause); e != nil {
			return st, errors.Join(e, err)
		}
		pause = min(2*pause, longestPause)
	}
}

// heals reports whether a failure may pass. While a device boots it refuses
// logins, which looks like a wrong key.
func (u *unit) heals(err error) bool {
	var e *session.Error
	if !errors.As(err, &e) {
		return u.begun
	}
	switch e.Kind {
	case session.KindUnreachable, session.KindTimeout, session.KindLost:
		return true
	case session.KindHostKey, session.KindLocal:
		return false
	}
	return u.begun
}

// lost reports whether it is unknown if the device did what it was told.
func lost(err error) bool {
	var e *session.Error
	return err != nil && (!errors.As(err, &e) || e.Kind == session.KindLost || e.Kind == session.KindTimeout)
}

// wait waits, unless the context ends.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// read reads the device as it is.
func (u *unit) read(ctx context.Context) (targets.Captured, *intent.Device, error) {
	var none targets.Captured
	if err := u.connect(ctx); err != nil {
		return none, nil, err
	}
	want := u.intent()
	ctx, cancel := context.WithTimeout(ctx, u.within(observeWithin))
	defer cancel()
	c, err := u.env.Observe(ctx, u.session, want, u.device.Target)
	if err != nil {
		u.hangUp()
		return none, nil, callError(err)
	}
	have, found := u.device.Target.Parse(want, c)
	if have == nil || found.HasErrors() {
		for _, d := range found {
			return none, nil, fmt.Errorf("%w: %s", errUnreadable, d.Summary)
		}
		return none, nil, errUnreadable
	}
	return c, have, nil
}

// errUnreadable is a device whose answers the target cannot read.
var errUnreadable = errors.New("what it shows cannot be read")

// reread reads the device until that goes through or the time is over.
func (u *unit) reread(ctx context.Context, until time.Time) (c targets.Captured, have *intent.Device, err error) {
	pause := time.Second
	for {
		c, have, err = u.read(ctx)
		if err == nil || errors.Is(err, errUnreadable) || !u.heals(err) || !time.Now().Add(pause).Before(until) {
			return c, have, err
		}
		if e := wait(ctx, pause); e != nil {
			return c, nil, errors.Join(e, err)
		}
		pause = min(2*pause, longestPause)
	}
}

// lastLine is the last line of what was said, on the first stream that has one.
func lastLine(streams ...[]byte) string {
	for _, b := range streams {
		text := strings.TrimSpace(string(b))
		if i := strings.LastIndexAny(text, "\r\n"); i >= 0 {
			text = strings.TrimSpace(text[i+1:])
		}
		if text != "" {
			return short(strings.ToValidUTF8(text, "?"))
		}
	}
	return ""
}
