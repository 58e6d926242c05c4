package main

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
	"github.com/spf13/cobra"
)

func (a *app) applyCommand() *cobra.Command {
	var f planFlags
	var bundle string
	var approve bool
	var timeout time.Duration
	c := &cobra.Command{
		Use: "apply [PLAN]", Short: "Hand the changes over: write bundles and record them", Args: cobra.MaximumNArgs(1),
		Long: `apply writes the artifacts of every device that changes into a bundle, records the
devices as handed over, and prints what to run on each, and how to read it back
where none of its scripts does. rocec verify --from=DIR turns that into applied
once the devices were read back; until then rocec plan lists them as awaiting
confirmation.`,
		Example: "  rocec plan --out=change.rocplan\n  rocec apply change.rocplan --bundle=bundle",
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.startStream(); err != nil {
				return err
			}
			if len(args) == 1 {
				var err error
				if f.saved, err = plan.Load(args[0]); err != nil {
					return err
				}
			}
			p, devices, err := a.compiled(&f.in, &f.pick)
			if err != nil {
				return err
			}
			store, err := a.store(p)
			if err != nil {
				return err
			}
			// Held from before the comparison, so that what is approved is what is done.
			return a.locked(c.Context(), store, "apply", timeout, func(lock *record.Lock) error {
				pl, err := a.plan(&f, p, devices)
				if err == nil && f.saved != nil {
					err = f.same(pl)
				}
				if err != nil {
					return err
				}
				if todo, err := a.approve(pl, approve || f.saved != nil); err != nil || !todo {
					return err
				}
				return a.deliver(pl, bundle, f.from, lock)
			})
		},
	}
	f.flags(c)
	c.Flags().StringVar(&bundle, "bundle", "bundle", "`DIR` for the bundles")
	c.Flags().BoolVar(&approve, "auto-approve", false, "do not ask")
	c.Flags().DurationVar(&timeout, "lock-timeout", 0, "wait this `LONG` for the record's lock")
	return c
}

// same demands that a saved plan is still what would be done. What it was made
// with is not in it, as variables may be secret.
func (f *planFlags) same(now *planned) error {
	for _, d := range f.saved.Devices {
		if d.Observed != "" && f.from == "" {
			return errors.New("the plan was made from captured output: give the same --from=DIR as to rocec plan")
		}
	}
	saved := now.snapshot()
	err := f.saved.Stale(saved)
	if err != nil && f.saved.SourcesDigest != saved.SourcesDigest {
		return fmt.Errorf("%w (--var and --var-file are given again to apply)", err)
	}
	return err
}

// approve shows the plan and asks, unless that was done. It reports whether
// there is something to do.
func (a *app) approve(pl *planned, approved bool) (bool, error) {
	if a.stream != nil {
		if err := a.stream.plan(pl.plan, "apply"); err != nil {
			return false, err
		}
	}
	if !a.json {
		if err := pl.plan.Text(a.out, plan.TextOptions{Style: a.planStyle(), Verbose: a.verbose}); err != nil {
			return false, err
		}
	}
	if approved || !pl.plan.HasChanges() {
		return pl.plan.HasChanges(), nil
	}
	if slices.Contains([]string{"0", "false"}, a.env["ROCEC_INPUT"]) || a.json {
		return false, fmt.Errorf("nobody can be asked here: give --auto-approve or a saved plan")
	}
	fmt.Fprint(a.out, "\nDo you want to hand these changes over?\n  Only 'yes' will be accepted to approve.\n\n  Enter a value: ")
	line, err := bufio.NewReader(a.in).ReadString('\n')
	if strings.TrimSpace(line) == "yes" {
		fmt.Fprintln(a.out)
		return true, nil
	}
	fmt.Fprintln(a.out, "\nApply cancelled.")
	if err != nil && line == "" {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	return false, exit(1)
}

// deliver writes the bundles under the record's lock and says what to run.
func (a *app) deliver(pl *planned, bundle, from string, lock *record.Lock) error {
	changed := map[string]bool{}
	var removed []string
	for _, ch := range pl.plan.Changes {
		if ch.Action == plan.Delete && ch.Owner == ch.Address {
			removed = append(removed, ch.Device)
			continue
		}
		changed[ch.Device] = true
	}
	list := slices.DeleteFunc(slices.Clone(pl.devices), func(d served) bool { return !changed[d.name] })
	if a.stream != nil {
		for i := range list {
			a.stream.put("info", "apply_start", list[i].address+": handing over", map[string]any{"address": list[i].address, "device": list[i].name, "action": "hand_over"})
		}
	}
	devices := pl.project.deliveries(list, true, against(from))
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
