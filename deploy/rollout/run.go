package rollout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/record"
)

// Run carries a plan out. When something fails it takes back what the plan says
// and stops. The context ends it at the next point at which nothing is under way;
// what was begun by then goes back. An error says that the run could not begin;
// everything later stands in the report.
func Run(ctx context.Context, p *Plan, env *Env) (*Report, error) {
	r := &run{plan: p, env: env.serial(), units: make([]*unit, len(p.Devices))}
	if err := r.open(); err != nil {
		return nil, err
	}
	failure := r.waves(ctx)
	r.expire(ctx)
	rep := r.report(failure)
	if err := r.env.Journal.write(line{Step: stepEnd, Exit: rep.Exit()}); err != nil && rep.Failure == "" {
		rep.Failure = err.Error()
	}
	return rep, nil
}

// run is a plan being carried out.
type run struct {
	plan    *Plan
	env     *Env
	units   []*unit // by index of the device; nil: its turn did not come
	again   []*unit // of Plan.Again, as far as their turn came
	watched []Part
	pinged  int // the wave that has sent pings last, from 1
}

// serial is the environment with events one at a time.
func (e *Env) serial() *Env {
	out := *e
	var mu sync.Mutex
	out.Tell = func(x Event) {
		if e.Tell != nil {
			mu.Lock()
			defer mu.Unlock()
			e.Tell(x)
		}
	}
	return &out
}

// open checks the plan and writes the head of the journal.
func (r *run) open() error {
	p := r.plan
	if p.Confirm < time.Second {
		return errors.New("the time to confirm is less than a second")
	}
	err := r.env.Journal.write(line{
		Step: stepOpen, Kind: journalKind, FormatVersion: JournalVersion, ID: p.ID, Workspace: p.Workspace, RocecVersion: p.RocecVersion, Plan: p.Digest,
		ConfirmSeconds: int(p.Confirm / time.Second), Hold: p.Hold, By: p.By,
	})
	if err != nil {
		return err
	}
	const together = 64 // devices in one write
	var head []line
	for i := range p.Devices {
		d := &p.Devices[i]
		if d.Target.Live == nil {
			return fmt.Errorf("%s: target %s is not changed over sessions", d.Address, d.Target.Name)
		}
		e, err := d.Entry()
		if err != nil {
			return err
		}
		e.Status = record.Applied
		packed, err := packEntry(e, p.Workspace)
		if err != nil {
			return err
		}
		head = append(head, line{Step: stepDevice, Device: d.Name, Address: d.Address, Target: d.Target.Name, Intent: e.IntentDigest, Wave: p.waveName(d.Wave), Part: d.Group, Entry: packed})
		if len(head) == together || i+1 == len(p.Devices) {
			if err := r.env.Journal.write(head...); err != nil {
				return err
			}
			head = nil
		}
	}
	return nil
}

// waves goes through the plan, and returns why it stopped.
func (r *run) waves(ctx context.Context) (failure string) {
	order := r.plan.schedule()
	var turns []int // waves in which devices change, or are left by an earlier run
	for _, b := range order {
		turns = append(turns, b.wave)
	}
	for i := range r.plan.Again {
		turns = append(turns, r.plan.Again[i].Wave)
	}
	last := len(r.plan.Waves) + 1 // place of the devices of no wave
	place := func(wave int) int { return (wave + last - 1) % last }
	slices.SortFunc(turns, func(a, b int) int { return cmp.Compare(place(a), place(b)) })
	turns = slices.Compact(turns)
	for i, wave := range turns {
		list := slices.DeleteFunc(slices.Clone(order), func(b batch) bool { return b.wave != wave })
		if failure := r.wave(ctx, wave, list, i+1 < len(turns)); failure != "" {
			return failure
		}
	}
	return ""
}

// expire looks at devices whose time to confirm was over before the run was.
func (r *run) expire(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	over := slices.DeleteFunc(slices.Clone(r.units), func(u *unit) bool {
		return u == nil || u.outcome != Pending || time.Until(u.armed) > longestPause
	})
	for part := range slices.Chunk(over, max(r.plan.Parallelism, 1)) {
		_, _ = each(part, func(u *unit) error {
			u.failed = true
			u.say(errors.New("the time to confirm was over before the run was"))
			u.goBack(ctx, r.plan.Workspace)
			u.release()
			return nil
		})
	}
}

// wave changes the devices of one wave, part after part.
func (r *run) wave(ctx context.Context, number int, list []batch, more bool) (failure string) {
	name, total := r.plan.waveName(number), 0
	for _, b := range list {
		total += len(b.devices)
	}
	r.env.Tell(Event{Kind: WaveStart, Wave: name, Total: total})
	var done []*unit // in the order in which they changed
	defer func() {
		r.env.Tell(Event{Kind: WaveComplete, Wave: name, Message: failure})
		for _, u := range done {
			u.entry = nil // nobody takes it back any more but by the journal
		}
	}()
	parts := r.parts(number, list)
	for i, part := range parts {
		batches := slices.DeleteFunc(slices.Clone(list), func(b batch) bool { return b.part != part })
		units, failure := r.part(ctx, number, part, batches, stage{before: done, last: i+1 == len(parts), more: more || i+1 < len(parts)})
		if done = append(done, units...); failure != "" {
			return failure
		}
	}
	return ""
}

// stage is where in its wave a part is.
type stage struct {
	before []*unit // of the parts before it
	last   bool    // no part of the wave comes after it
	more   bool    // something comes after it
}

// parts are those of a wave in which devices change, or were left to be watched.
func (r *run) parts(number int, list []batch) []string {
	var parts []string
	for _, b := range list {
		parts = append(parts, b.part)
	}
	for i := range r.plan.Again {
		if d := &r.plan.Again[i]; number > 0 && d.Wave == number {
			parts = append(parts, d.Group)
		}
	}
	slices.SortFunc(parts, intent.Natural)
	return slices.Compact(parts)
}

// part changes the devices of one part of a wave and watches them: when something
// fails it goes back, and those before it stay.
func (r *run) part(ctx context.Context, number int, part string, list []batch, at stage) (done []*unit, failure string) {
	name := r.plan.waveName(number)
	for i, b := range list {
		units, err := r.batch(ctx, b)
		if err == nil {
			done = append(done, units...)
			continue
		}
		if !r.plan.Stop && !r.plan.KeepFailed && ctx.Err() == nil {
			r.takeBack(ctx, r.of(list[:i]))
		}
		return append(done, units...), err.Error()
	}
	if number == 0 {
		return done, ""
	}
	if err := r.watch(ctx, number, part, slices.Concat(done, r.left(number, part)), at); err != nil {
		if !r.plan.Stop && !r.plan.KeepFailed && ctx.Err() == nil {
			r.takeBack(ctx, done)
		}
		if part != "" {
			return done, fmt.Sprintf("wave %s, %s: %v", name, part, err)
		}
		return done, fmt.Sprintf("wave %s: %v", name, err)
	}
	if err := r.env.Journal.write(line{Step: stepWatched, Wave: name, Part: part}); err != nil {
		return done, err.Error()
	}
	r.watched = append(r.watched, Part{Wave: name, Name: part})
	return done, ""
}

// left are the devices of a part of a wave that an earlier run has changed.
func (r *run) left(number int, part string) (list []*unit) {
	for i := range r.plan.Again {
		if d := &r.plan.Again[i]; d.Wave == number && d.Group == part {
			u := newUnit(r.env, r.plan, d)
			u.outcome = Applied
			list = append(list, u)
		}
	}
	r.again = append(r.again, list...)
	return list
}

// of are the units of batches.
func (r *run) of(list []batch) []*unit {
	var out []*unit
	for _, b := range list {
		for _, i := range b.devices {
			out = append(out, r.units[i])
		}
	}
	return out
}

// takeBack takes devices back that are done, the newest first.
func (r *run) takeBack(ctx context.Context, done []*unit) {
	ctx = context.WithoutCancel(ctx)
	for len(done) > 0 {
		n := max(0, len(done)-max(r.plan.Parallelism, 1))
		each(done[n:], func(u *unit) error {
			u.goBack(ctx, r.plan.Workspace)
			u.release()
			return nil
		})
		done = done[:n]
	}
}

// each does something to devices at once. It returns those that failed.
func each[T any](list []T, do func(T) error) (failed []T, errs []error) {
	all := make([]error, len(list))
	var work sync.WaitGroup
	for i, x := range list {
		work.Go(func() { all[i] = do(x) })
	}
	work.Wait()
	for i, err := range all {
		if err != nil {
			failed, errs = append(failed, list[i]), append(errs, err)
		}
	}
	return failed, errs
}

// batch changes devices in step. An error says why the run has to stop; what had
// to go back of this batch has then gone.
func (r *run) batch(ctx context.Context, b batch) ([]*unit, error) {
	list := make([]*work, len(b.devices))
	units := make([]*unit, len(b.devices))
	for i, index := range b.devices {
		units[i] = newUnit(r.env, r.plan, &r.plan.Devices[index])
		units[i].intent()
		r.units[index], list[i] = units[i], &work{unit: units[i]}
	}
	defer func() {
		for _, u := range units {
			u.release()
		}
	}()
	if err := interrupted(ctx); err != nil {
		return nil, err
	}
	if err := r.phase(list, func(w *work) error { return w.prepare(ctx) }); err != nil {
		return units, err
	}
	// From here on the devices are the clock: what was begun is brought to an end.
	hold := context.WithoutCancel(ctx)
	err := interrupted(ctx)
	if err == nil {
		err = r.phase(list, func(w *work) error { return w.begin(hold) })
	}
	if err == nil {
		err = interrupted(ctx)
	}
	if err != nil { // nothing was changed yet
		_, _ = each(list, func(w *work) error { w.goBack(hold, r.plan.Workspace); return nil })
		return units, err
	}
	err = r.phase(list, func(w *work) error {
		w.made = nil // it is on the device
		return w.change(hold)
	})
	good := slices.DeleteFunc(slices.Clone(list), func(w *work) bool { return w.failed })
	if e := r.phase(good, func(w *work) error { return w.check(hold) }); err == nil {
		err = e
	}
	if err == nil {
		err = interrupted(ctx)
	}
	stop := r.plan.Stop || r.plan.KeepFailed || ctx.Err() != nil
	good = slices.DeleteFunc(good, func(w *work) bool { return w.failed })
	if err == nil || stop {
		if e := r.phase(good, func(w *work) error { return r.finish(hold, w) }); err == nil {
			err = e
		}
	}
	if err != nil {
		_, _ = each(list, func(w *work) error {
			switch {
			case w.failed && r.plan.KeepFailed && w.begun:
				r.leave(w.unit)
			case w.failed && w.outcome == Applied: // what failed is the record
			case w.failed || !stop:
				w.goBack(hold, r.plan.Workspace)
			}
			return nil
		})
	}
	return units, err
}

var errInterrupted = errors.New("interrupted")

func interrupted(ctx context.Context) error {
	if ctx.Err() != nil {
		return errInterrupted
	}
	return nil
}

// phase does one step of every device of a batch. Its error names the first that
// failed, and how many more did.
func (r *run) phase(list []*work, do func(*work) error) error {
	failed, errs := each(list, do)
	if len(failed) == 0 {
		return nil
	}
	for i, w := range failed {
		w.failed = true
		w.say(errs[i])
		w.tell(Event{Kind: Errored, Message: errs[i].Error()})
	}
	err := fmt.Errorf("%s: %w", failed[0].device.Address, errs[0])
	if more := len(failed) - 1; more > 0 {
		err = fmt.Errorf("%w (and %d more failed)", err, more)
	}
	return err
}

// finish confirms a device that was read back, or leaves that to a person, and
// records it.
func (r *run) finish(ctx context.Context, w *work) error {
	if r.plan.Hold {
		until := r.env.Now().Add(time.Until(w.armed))
		if err := r.env.Journal.write(line{Step: stepPending, Device: w.device.Name, Until: &until, Message: w.message}); err != nil {
			return err
		}
		w.outcome, w.until = Pending, until
		w.tell(Event{Kind: ConfirmPending, Until: until})
		return nil
	}
	if err := w.confirm(ctx); err != nil {
		return err
	}
	w.outcome = Applied
	status := record.Applied
	if w.windowed {
		status = record.HandedOver
	}
	if err := w.keep(r.plan.Workspace, status); err != nil {
		return fmt.Errorf("it is changed and confirmed, and not recorded (the next apply does that): %w", err)
	}
	w.tell(Event{Kind: Complete, Outcome: Applied, Message: w.message})
	return nil
}

// leave leaves a device that failed as it is.
func (r *run) leave(u *unit) {
	u.until = r.env.Now().Add(time.Until(u.armed))
	u.outcome = Kept
	if err := r.env.Journal.write(line{Step: stepKept, Device: u.device.Name, Until: &u.until, Message: u.message}); err != nil {
		u.say(err)
	}
	u.hangUp()
}

// report says what became of every device.
func (r *run) report(failure string) *Report {
	rep := &Report{ID: r.plan.ID, Failure: failure, Apart: r.plan.Apart(), Watched: r.watched}
	for i := range r.plan.Devices {
		d := &r.plan.Devices[i]
		u := r.units[i]
		if u == nil {
			rep.Results = append(rep.Results, Result{Device: d.Name, Address: d.Address, Wave: r.plan.waveName(d.Wave), Outcome: Unchanged})
			continue
		}
		rep.Results = append(rep.Results, u.result())
	}
	rep.Uneven = r.plan.uneven(rep.Results)
	for _, u := range r.again {
		if u.failed {
			u.outcome = Unchanged // by this run
			u.say(errors.New("an earlier apply changed it: rocec rollback takes that back"))
			rep.Results = append(rep.Results, u.result())
		}
	}
	return rep
}

// uneven are the links of which one end is changed, by the results of the devices.
func (p *Plan) uneven(results []Result) (list []Uneven) {
	at := make(map[string]int, len(p.Devices))
	for i := range p.Devices {
		at[p.Devices[i].Name] = i
	}
	changed := func(i int) bool { return results[i].Outcome == Applied || results[i].Outcome == Pending }
	same := func(i int) bool { return results[i].Outcome == Unchanged || results[i].Outcome == RolledBack }
	for i := range p.Devices {
		seen := map[string]bool{} // some links lead to the same device
		for _, peer := range p.Devices[i].Peers {
			if j, in := at[peer]; in && changed(i) && same(j) && !seen[peer] {
				seen[peer] = true
				list = append(list, Uneven{results[i].Address, results[j].Address})
			}
		}
	}
	return list
}

func (u *unit) result() Result {
	out := Result{Device: u.device.Name, Address: u.device.Address, Wave: u.wave, Outcome: u.outcome, Failed: u.failed, Message: u.message, Until: u.until}
	switch u.outcome {
	case Stuck, Doubt, Kept:
		out.Manual = u.manual()
		u.release()
	}
	return out
}
