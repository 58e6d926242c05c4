package main

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/deploy/plan"
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
devices as handed over, and prints what to run on each. rocec verify --from=DIR
turns that into applied once the devices were read back; until then rocec plan
lists them as awaiting confirmation.`,
		Example: "  rocec plan --out=change.rocplan\n  rocec apply change.rocplan --bundle=bundle",
		RunE: func(c *cobra.Command, args []string) error {
			pl, err := a.plan(&f)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				if err := a.same(args[0], pl); err != nil {
					return err
				}
				approve = true
			}
			if err := pl.plan.Text(a.out, plan.TextOptions{Style: a.planStyle(), Verbose: a.verbose}); err != nil {
				return err
			}
			if !pl.plan.HasChanges() {
				return nil
			}
			if !approve {
				if ok, err := a.approved(); err != nil || !ok {
					return err
				}
			}
			return a.deliver(c.Context(), pl, bundle, timeout)
		},
	}
	f.flags(c)
	c.Flags().StringVar(&bundle, "bundle", "bundle", "`DIR` for the bundles")
	c.Flags().BoolVar(&approve, "auto-approve", false, "do not ask")
	c.Flags().DurationVar(&timeout, "lock-timeout", 0, "wait this `LONG` for the record's lock")
	return c
}

// same demands that a saved plan is still what would be done.
func (a *app) same(name string, now *planned) error {
	saved, err := plan.Load(name)
	if err != nil {
		return fmt.Errorf("read plan: %w", err)
	}
	return saved.Stale(now.saved)
}

// approved asks.
func (a *app) approved() (bool, error) {
	if a.env["ROCEC_INPUT"] == "0" || a.json {
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
func (a *app) deliver(ctx context.Context, pl *planned, bundle string, timeout time.Duration) error {
	lock, err := pl.store.Lock(ctx, "apply", version(), timeout)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	changed := map[string]bool{}
	var removed []string
	for _, ch := range pl.plan.Changes {
		if ch.Action == plan.Delete && ch.Owner == ch.Address {
			removed = append(removed, ch.Device)
			continue
		}
		changed[ch.Device] = true
	}
	devices := slices.DeleteFunc(pl.project.delivered(pl.devices), func(d apply.Device) bool { return !changed[d.Name] })
	handed, err := apply.Bundle(bundle, pl.project.source(), devices, removed, lock)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(handed)
	}
	fmt.Fprintln(a.out)
	if err := handed.Text(a.out); err != nil {
		return err
	}
	a.hint("When the devices were read back into DIR/<device>/, confirm with: rocec verify --from=DIR")
	return nil
}
