package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/deploy/rollout"
	"github.com/rocec/rocec/lang/diag"
	"github.com/spf13/cobra"
)

// applyFlags steer an apply besides its plan.
type applyFlags struct {
	planFlags
	live
	bundle, wave    string
	approve, resume bool
	timeout         time.Duration
}

func (a *app) applyCommand() *cobra.Command {
	var f applyFlags
	c := &cobra.Command{
		Use: "apply [PLAN]", Short: "Change live devices in waves, and hand bundles over for the others", Args: cobra.MaximumNArgs(1),
		Long: `apply changes the devices whose delivery is ssh, wave after wave of the rollout, and
hands over bundles for the others.

Each live device changes in a transaction that goes back by itself: it is compared with
the plan, what it has is kept, a timer is set on it, the change is made, and only when a
new session has read back everything as wanted is it confirmed and recorded. Each part
of a wave is watched, and its gates asked, before the next one begins. When a device
fails it goes back, and so do the devices of its part that changed before it, as all of
a part do whose gates do not hold (on_failure = "stop" leaves those); nothing further
begins. Without a rollout block devices change ten at a time, those of one link together,
and all of them are one part. Exit code 1 says that every device is as it was or as it
shall be, 3 that one is not: it is named, with what to type on it.

A journal in .rocec/journal says what was done. After a crash the next apply asks each
device, says what is done, undone and in doubt, and finishes it; rocec rollback takes it
back instead. A part that was not watched to its end, as apply was interrupted or a gate
did not hold, is watched again by the next apply, also where nothing is left to change,
and before a later part changes. --confirm=DUR leaves the devices armed for that long:
rocec confirm makes the changes last.

A bundle has the artifacts of every device that changes and no session leads to;
apply prints what to run on each, and how to read it back where none of its scripts
does. rocec verify --from=DIR turns that into applied once the devices were read back;
until then rocec plan lists them as awaiting confirmation.`,
		Example: "  rocec plan --out=change.rocplan\n  rocec apply change.rocplan\n  rocec apply --wave=canary --confirm=15m",
		RunE: func(c *cobra.Command, args []string) error {
			if err := errors.Join(f.check(), within(f.bundle)); err != nil {
				return err
			}
			if f.hold = c.Flags().Changed("confirm"); f.hold && f.confirm < time.Second {
				return fmt.Errorf("--confirm is at least a second, not %s", f.confirm)
			}
			if f.live.parallelism = rollout.DefaultParallelism; c.Flags().Changed("parallelism") {
				f.live.parallelism = f.read.parallelism
			}
			if err := a.startStream(); err != nil {
				return err
			}
			if len(args) == 1 {
				err := within(args[0])
				if err == nil {
					f.saved, err = plan.Load(args[0])
				}
				if err != nil {
					return err
				}
				f.refreshOnly = f.saved.Plan.RefreshOnly
			}
			a.foresee()
			p, all, err := a.compiled(&f.in, &choice{}) // an earlier apply may have left any of them
			if err != nil {
				return err
			}
			devices, err := f.pick.pick(p.res.Fabric, all)
			if err == nil {
				devices, err = f.inWave(p, devices)
			}
			if err != nil {
				return err
			}
			store, err := a.store(p)
			if err != nil {
				return err
			}
			// Held from before the comparison, so that what is approved is what is done.
			return a.lockedLive(c.Context(), store, "apply", f.timeout, func(lock *record.Lock) error {
				if err := a.unfinished(c.Context(), p, all, f.approve || f.resume || f.saved != nil, lock); err != nil {
					return err
				}
				pl, err := a.plan(c.Context(), &f.planFlags, p, devices)
				if pl != nil {
					pl.all = all
				}
				if err == nil && f.saved != nil {
					err = f.same(pl, a.appliedBefore(store, f.saved), devices)
				}
				if err != nil {
					return err
				}
				if f.refreshOnly {
					return a.accept(pl, f.approve || f.saved != nil, lock)
				}
				if err := a.approve(pl, f.approve || f.saved != nil); err != nil {
					return err
				}
				if err := a.deliver(c.Context(), pl, &f, lock); err != nil {
					return err
				}
				return pl.unsettled(a.journals(store))
			})
		},
	}
	f.flags(c)
	c.Flags().Lookup("parallelism").Usage = "read this `NUMBER` of devices at once; when it is given, change as many too (10)"
	c.Flags().StringVar(&f.bundle, "bundle", "bundle", "`DIR` for the bundles")
	c.Flags().BoolVar(&f.approve, "auto-approve", false, "do not ask")
	c.Flags().DurationVar(&f.timeout, "lock-timeout", 0, "wait this `LONG` for the record's lock")
	c.Flags().DurationVar(&f.confirm, "confirm", rollout.DefaultConfirm, "leave devices armed for this `LONG` after a good look back, for rocec confirm")
	c.Flags().StringVar(&f.wave, "wave", "", "only the devices of this wave of the rollout, by its `NAME`")
	c.Flags().BoolVar(&f.noRollback, "no-rollback", false, "leave a device that failed as it is, for its own timer or a person")
	c.Flags().BoolVar(&f.resume, "resume", false, "finish an apply that did not come to its end without asking")
	return c
}

// unsettled is an error where a device that this apply had nothing to change on has a
// change open that may go back: it is not as it was planned to stay. What an apply of
// these journals has given up with nothing changed does not count.
func (pl *planned) unsettled(journals string) error {
	var open []string
	for i := range pl.plan.Open {
		o := &pl.plan.Open[i]
		changes := slices.ContainsFunc(pl.plan.Changes, func(c plan.Change) bool { return c.Device == o.Device })
		if !changes && !givenUp(journals, o) {
			open = append(open, o.String())
		}
	}
	if len(open) == 0 {
		return nil
	}
	return fmt.Errorf("not settled: %s", strings.Join(open, "; "))
}

// givenUp reports whether the journals have a change as one that is at its end.
func givenUp(journals string, o *plan.Open) bool {
	h, err := rollout.ReadJournal(filepath.Join(journals, o.Change+rollout.JournalSuffix))
	return err == nil && h.Past(o.Device) != nil && !h.Open()
}

// inWave are the devices of the wave that was asked for.
func (f *applyFlags) inWave(p *project, devices []served) ([]served, error) {
	if f.wave == "" {
		return devices, nil
	}
	out := &p.res.Fabric.Rollout
	number := 0
	var names []string
	for i := range out.Waves {
		name := p.res.Fabric.Text(out.Waves[i].Name)
		if names = append(names, name); name == f.wave {
			number = i + 1
		}
	}
	switch {
	case len(names) == 0:
		return nil, errors.New("--wave names a wave of the rollout, and none is written")
	case number == 0:
		return nil, fmt.Errorf("the rollout has no wave %q; it has %s", f.wave, strings.Join(names, ", "))
	}
	f.pick.some = true
	return slices.DeleteFunc(slices.Clone(devices), func(s served) bool { return out.Of[s.id] != number }), nil
}

// planDigest is what a journal knows a saved plan by.
func planDigest(s *plan.Saved) string {
	text, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	return record.Digest(text)
}

// appliedBefore are the devices that earlier runs of a saved plan have applied: a
// run that died does not make the rest of its plan stale.
func (a *app) appliedBefore(store *record.Store, saved *plan.Saved) map[string]bool {
	done := map[string]bool{}
	list, _ := rollout.Journals(a.journals(store)) // those that cannot be read were complained of
	digest := planDigest(saved)
	for _, h := range list {
		for _, d := range h.Devices {
			if h.Plan == digest && digest != "" && d.Outcome() == rollout.Applied {
				done[d.Name] = true
			}
		}
	}
	return done
}

// same demands that a saved plan is still what would be done with the devices that
// are chosen. Of those that earlier runs of it have applied nothing may be left to do.
// What it was made with is not in it, as variables may be secret.
func (f *applyFlags) same(now *planned, done map[string]bool, chosen []served) error {
	for _, d := range f.saved.Devices {
		if d.From == plan.FromCaptures && f.read.from == "" {
			return errors.New("the plan was made from captured output: give the same --from=DIR as to rocec plan")
		}
	}
	saved, was := now.snapshot(), *f.saved
	was.Devices = maps.Clone(was.Devices)
	if !f.pick.all() { // part of what was approved
		maps.DeleteFunc(was.Devices, func(name string, _ plan.Fingerprint) bool {
			return !slices.ContainsFunc(chosen, func(s served) bool { return s.name == name })
		})
	}
	waits := map[string]bool{} // for a maintenance window
	for _, w := range now.plan.Awaiting {
		waits[w.Device] = true
	}
	for _, ch := range now.plan.Changes {
		if !waits[ch.Device] {
			delete(done, ch.Device) // it has moved since
		}
	}
	for name := range done {
		delete(was.Devices, name)
		delete(saved.Devices, name)
	}
	err := was.Stale(saved)
	if err == nil {
		err = was.Shown(saved, len(was.Devices) < len(f.saved.Devices))
	}
	switch {
	case err == nil:
		return nil
	case len(was.Variables(saved)) > 0:
		return fmt.Errorf("%w (--var and --var-file are given again to apply)", err)
	case was.RocecVersion != saved.RocecVersion:
		return fmt.Errorf("%w (apply it with that rocec, or make it anew: rocec plan --out=FILE)", err)
	case was.Workspace != saved.Workspace:
		return fmt.Errorf("%w (ROCEC_WORKSPACE and ROCEC_LAB choose it)", err)
	}
	return fmt.Errorf("%w (make it anew: rocec plan --out=FILE)", err)
}

// approve shows the plan, and asks where there is something to do, unless that was
// done.
func (a *app) approve(pl *planned, approved bool) error {
	if a.stream != nil {
		if err := a.stream.plan(pl.plan, "apply"); err != nil {
			return err
		}
	}
	if !a.json {
		if err := pl.plan.Text(a.out, plan.TextOptions{Style: a.planStyle(), Verbose: a.verbose}); err != nil {
			return err
		}
	}
	if approved || !pl.plan.HasChanges() {
		return nil
	}
	return a.ask("Do you want to hand these changes over?")
}

// ask asks a question that only 'yes' answers with yes. Every other answer is an error.
func (a *app) ask(question string) error {
	if slices.Contains([]string{"0", "false"}, a.env["ROCEC_INPUT"]) || a.json {
		return fmt.Errorf("nobody can be asked here: give --auto-approve or a saved plan")
	}
	fmt.Fprintf(a.out, "\n%s\n  Only 'yes' will be accepted to approve.\n\n  Enter a value: ", question)
	line, err := bufio.NewReader(a.in).ReadString('\n')
	if strings.TrimSpace(line) == "yes" {
		fmt.Fprintln(a.out)
		return nil
	}
	fmt.Fprintln(a.out, "\nApply cancelled.")
	if err != nil && line == "" {
		return fmt.Errorf("read the answer: %w", err)
	}
	return exit(1)
}

// deliver changes what is live and hands the rest over, under the record's lock.
func (a *app) deliver(ctx context.Context, pl *planned, f *applyFlags, lock *record.Lock) error {
	changed := map[string]bool{}
	var removed []string
	for _, ch := range pl.plan.Changes {
		if ch.Action == plan.Delete && ch.Owner == ch.Address {
			removed = append(removed, ch.Device)
			continue
		}
		changed[ch.Device] = true
	}
	var over, bundled []served
	for _, s := range pl.devices {
		switch {
		case !changed[s.name]:
		case pl.project.delivery(s.id) == fabric.SSH:
			over = append(over, s)
		default:
			bundled = append(bundled, s)
		}
	}
	approved := ""
	if f.saved != nil {
		approved = planDigest(f.saved)
	}
	if err := a.rollOut(ctx, pl, over, &f.live, approved, lock); err != nil {
		return err
	}
	if err := a.recordAsRead(pl, changed, lock); err != nil {
		return err
	}
	if _, err := os.Lstat(f.bundle); len(bundled) == 0 && (len(removed) == 0 || errors.Is(err, fs.ErrNotExist)) {
		return a.forget(removed, lock)
	}
	return a.handOver(pl, bundled, removed, f.bundle, lock)
}

// recordAsRead enters devices into the record that were read as wanted and are not in
// it so: an apply that died, or one with another record, has changed them. Plans that
// take the record for them would have them change for ever.
func (a *app) recordAsRead(pl *planned, changed map[string]bool, lock *record.Lock) error {
	differs := map[string]bool{}
	for _, d := range pl.plan.Drift {
		differs[d.Device] = true
	}
	for _, o := range pl.plan.Open {
		differs[o.Device] = true
	}
	for i := range pl.devices {
		s := &pl.devices[i]
		if !pl.unrecorded[s.name] || changed[s.name] || differs[s.name] {
			continue
		}
		made, err := pl.project.made1(s, plain)
		if err != nil {
			return err
		}
		_, at, err := lock.Store().Get(s.name)
		if err == nil {
			_, err = lock.Put(made.Entry(record.Applied, pl.project.digest()), at)
		}
		if err != nil {
			return fmt.Errorf("%s is as wanted, and not recorded: %w", s.address, err)
		}
	}
	return nil
}

// forget takes devices out of the record that the configuration no longer has.
func (a *app) forget(removed []string, lock *record.Lock) error {
	if len(removed) == 0 {
		return nil
	}
	if err := a.write(func() error { return apply.Forget(removed, lock) }); err != nil {
		return err
	}
	if a.stream != nil {
		a.stream.applied(&apply.Delivery{Removed: removed})
	}
	if !a.json {
		fmt.Fprintf(a.out, "No longer managed; what was written to them stays there: %s\n", diag.Printable(strings.Join(removed, ", ")))
	}
	return nil
}

// handOver writes the bundles and says what to run.
func (a *app) handOver(pl *planned, list []served, removed []string, bundle string, lock *record.Lock) error {
	if a.stream != nil {
		for i := range list {
			a.stream.put("info", "apply_start", list[i].address+": handing over", map[string]any{"address": list[i].address, "device": list[i].name, "action": "hand_over"})
		}
	}
	devices := pl.project.deliveries(list, true, pl.emit)
	var handed *apply.Delivery
	err := a.write(func() (err error) {
		handed, err = apply.Bundle(bundle, pl.project.made, devices, removed, lock)
		return err
	})
	if err != nil {
		if a.stream != nil {
			a.stream.put("error", "apply_errored", "nothing further was handed over", map[string]any{"error": err.Error()})
		}
		return err
	}
	pl.project.waves().order(handed)
	if a.stream != nil {
		a.stream.applied(handed)
	}
	if a.json {
		return nil
	}
	fmt.Fprintln(a.out)
	if err := handed.Text(a.out); err != nil {
		return err
	}
	a.hint("When the devices were read back into DIR/<device>/, confirm with: rocec verify --from=DIR")
	return nil
}
