package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/deploy/rollout"
	"github.com/spf13/cobra"
)

func (a *app) confirmCommand() *cobra.Command {
	var in inputs
	var timeout time.Duration
	c := &cobra.Command{
		Use: "confirm", Short: "Make the changes of apply --confirm last", Args: cobra.NoArgs,
		Long: `confirm ends the time that rocec apply --confirm=DUR has left: each device is asked and
read back once more, then the change is confirmed and recorded. A device that is not as
it shall be any more goes back, and one whose time was over has gone back by itself:
then the code is 1.`,
		Example: "  rocec apply --auto-approve --confirm=10m\n  rocec confirm",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.startStream(); err != nil {
				return err
			}
			p, devices, err := a.compiled(&in, &choice{})
			if err != nil {
				return err
			}
			store, err := a.store(p)
			if err != nil {
				return err
			}
			return a.lockedLive(c.Context(), store, "confirm", timeout, func(lock *record.Lock) error {
				list, err := rollout.Journals(a.journals(store))
				for _, h := range list {
					if h.Count(rollout.Pending) == 0 {
						continue
					}
					todo, err := a.earlierPlan(p, devices, h)
					if err != nil {
						return err
					}
					rep, err := a.goOn(h, todo, lock, func(env *rollout.Env) *rollout.Report { return rollout.Confirm(c.Context(), h, todo, env) })
					if err != nil {
						return err
					}
					return a.reported(rep, "Confirm", false)
				}
				return errors.Join(err, fmt.Errorf("nothing waits to be confirmed in workspace %s", store.Workspace()))
			})
		},
	}
	in.flags(c)
	c.Flags().DurationVar(&timeout, "lock-timeout", 0, "wait this `LONG` for the record's lock")
	return c
}
