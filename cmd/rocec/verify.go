package main

import (
	"errors"

	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/deploy/verify"
	"github.com/rocec/rocec/lang/diag"
	"github.com/spf13/cobra"
)

func (a *app) verifyCommand() *cobra.Command {
	var in inputs
	var pick choice
	var from, format string
	var detailed bool
	c := &cobra.Command{
		Use: "verify --from=DIR", Short: "Compare what was captured on devices with what they shall be", Args: cobra.NoArgs,
		Long: `verify reads DIR/<device>/ as the capture scripts write it, compares every device with
its intent, and marks devices that were handed over as applied when everything that
can be seen is as wanted. It exits 2 when a device has drifted, 1 when one could not
be compared or DIR has a folder of no device.`,
		Example: "  rocec verify --from=captured --detailed",
		RunE: func(c *cobra.Command, _ []string) error {
			if from == "" {
				return errors.New("say where the captured output is: rocec verify --from=DIR")
			}
			if err := oneOf("format", format, "text", "json"); err != nil {
				return err
			}
			if err := a.startStream(); err != nil {
				return err
			}
			p, devices, err := a.compiled(&in, &pick)
			if err != nil {
				return err
			}
			results, err := a.verify(p, devices, from)
			if err != nil {
				return err
			}
			strays, err := p.strays(from)
			if err != nil {
				return err
			}
			a.print(p, strays)
			if err := a.confirm(c, p, results); err != nil {
				return err
			}
			if a.stream != nil {
				err = a.stream.verified(results, p)
			}
			switch {
			case err != nil:
			case a.json:
			case format == "json":
				err = verify.JSON(a.out, results, strays, version(), p.view)
			default:
				err = verify.Text(a.out, results, verify.TextOptions{Style: a.planStyle(), Detailed: detailed, View: p.view})
			}
			if err != nil {
				return err
			}
			code := verify.Exit(results)
			if strays.HasErrors() {
				code = 1
			}
			if code != 0 {
				return exit(code)
			}
			return nil
		},
	}
	in.flags(c)
	pick.flags(c)
	c.Flags().StringVar(&from, "from", "", "`DIR` with the output captured from each device")
	c.Flags().StringVar(&format, "format", "text", "`FORM` of the result: text, json (one object; --json is a stream)")
	c.Flags().BoolVar(&detailed, "detailed", false, "show devices in sync and every object by itself")
	return c
}

// verify compares every device with what was captured of it.
func (a *app) verify(p *project, devices []served, from string) ([]*verify.Result, error) {
	results, failed := make([]*verify.Result, len(devices)), make([]error, len(devices))
	progress := p.steps("Comparing", len(devices))
	parallel(len(devices), func(i int) {
		c := p.lower(&devices[i])
		r, err := verify.Captures(from, c.address, c.intent, c.target, p.cfg.Files)
		if err == nil {
			r.Observed = nil // what differs is known, and there may be many devices
			if len(r.Differences) > 0 {
				r.Locate(p.res.Origins(c.id))
			}
		}
		results[i], failed[i] = r, err
		progress.one()
	})
	progress.end()
	for i, r := range results {
		if failed[i] != nil {
			return nil, failed[i]
		}
		a.print(p, r.Findings)
	}
	return results, nil
}

// strays are findings about captures of no device. Those that were not chosen,
// or that rocec never touches, are devices all the same.
func (p *project) strays(from string) (diag.List, error) {
	f := p.res.Fabric
	var names []string
	for i := 1; i < len(f.Devices); i++ {
		names = append(names, f.Text(f.Devices[i].Name))
	}
	return verify.Strays(from, names)
}

// confirm marks what was handed over and is seen as wanted. It locks the record
// only if there is something to mark: everybody may look.
func (a *app) confirm(c *cobra.Command, p *project, results []*verify.Result) error {
	store, err := a.store(p)
	if err != nil {
		return err
	}
	open := false
	for _, r := range results {
		e, _, err := store.Get(r.Device)
		if err != nil {
			return err
		}
		open = open || r.Status == verify.InSync && e != nil && e.Status == record.HandedOver
	}
	if !open {
		return nil
	}
	return a.locked(c.Context(), store, "verify", 0, func(lock *record.Lock) error {
		return a.write(func() error { return verify.Confirm(results, lock) })
	})
}
