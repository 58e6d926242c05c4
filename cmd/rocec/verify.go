package main

import (
	"errors"

	"github.com/rocec/rocec/deploy/verify"
	"github.com/spf13/cobra"
)

func (a *app) verifyCommand() *cobra.Command {
	var in inputs
	var pick choice
	var from string
	var detailed bool
	c := &cobra.Command{
		Use: "verify --from=DIR", Short: "Compare what was captured on devices with what they shall be", Args: cobra.NoArgs,
		Long: `verify reads DIR/<device>/ as the capture scripts write it, compares every device with
its intent, and marks devices that were handed over as applied when everything that
can be seen is as wanted. It exits 2 when a device has drifted.`,
		Example: "  rocec verify --from=captured --detailed",
		RunE: func(c *cobra.Command, _ []string) error {
			if from == "" {
				return errors.New("say where the captured output is: rocec verify --from=DIR")
			}
			p, devices, err := a.compiled(&in, &pick)
			if err != nil {
				return err
			}
			var results []*verify.Result
			for i := range devices {
				d := &devices[i]
				r, err := verify.Captures(from, d.address, d.intent, d.target, p.cfg.Files)
				if err != nil {
					return err
				}
				a.print(p, r.Findings)
				results = append(results, r)
			}
			if err := a.confirm(c, p, results); err != nil {
				return err
			}
			if a.json {
				if err := verify.JSON(a.out, results, version(), p.view); err != nil {
					return err
				}
			} else if err := verify.Text(a.out, results, verify.TextOptions{Style: a.planStyle(), Detailed: detailed}); err != nil {
				return err
			}
			if code := verify.Exit(results); code != 0 {
				return exit(code)
			}
			return nil
		},
	}
	in.flags(c)
	pick.flags(c)
	c.Flags().StringVar(&from, "from", "", "`DIR` with the output captured from each device")
	c.Flags().BoolVar(&detailed, "detailed", false, "show devices in sync and every object by itself")
	return c
}

// confirm marks what was handed over and is seen as wanted.
func (a *app) confirm(c *cobra.Command, p *project, results []*verify.Result) error {
	store, err := a.store(p)
	if err != nil {
		return err
	}
	if known, err := store.List(); err != nil || len(known) == 0 {
		return err
	}
	lock, err := store.Lock(c.Context(), "verify", version(), 0)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	return verify.Confirm(results, lock)
}
