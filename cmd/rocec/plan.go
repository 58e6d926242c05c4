package main

import (
	"fmt"
	"os"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/deploy/verify"
	"github.com/rocec/rocec/lang/diag"
	"github.com/spf13/cobra"
)

// planFlags steer how a plan is made; apply has them too.
type planFlags struct {
	in   inputs
	pick choice
	from string
}

func (f *planFlags) flags(c *cobra.Command) {
	f.in.flags(c)
	f.pick.flags(c)
	c.Flags().StringVar(&f.from, "from", "", "compare with output captured from devices in `DIR`/<device>/ instead of the record")
}

func (a *app) planCommand() *cobra.Command {
	var f planFlags
	var out string
	var detailed, summary, verbose bool
	c := &cobra.Command{
		Use: "plan", Short: "Show what would change, against the record or captured output", Args: cobra.NoArgs,
		Example: "  rocec plan --out=change.rocplan\n  rocec plan --from=captured --detailed-exitcode",
		RunE: func(*cobra.Command, []string) error {
			pl, err := a.plan(&f)
			if err != nil {
				return err
			}
			if out != "" {
				if err := pl.saved.Save(out); err != nil {
					return fmt.Errorf("save plan: %w", err)
				}
			}
			switch {
			case a.wantsJSON():
				if err := a.writeJSON(pl.plan); err != nil {
					return err
				}
				if a.json {
					break
				}
				fallthrough
			case summary:
				fallthrough
			default:
				if summary {
					fmt.Fprintln(a.out, pl.plan.Summary)
					break
				}
				if err := pl.plan.Text(a.out, plan.TextOptions{Style: a.planStyle(), Verbose: verbose || a.verbose}); err != nil {
					return err
				}
				if out != "" {
					a.hint("Saved the plan to %s. To hand it over, run: rocec apply %s", out, out)
				} else if pl.plan.HasChanges() {
					a.hint("To hand the changes over, run: rocec apply")
				}
			}
			if detailed && pl.plan.DetailedExit() != 0 {
				return exit(pl.plan.DetailedExit())
			}
			return nil
		},
	}
	f.flags(c)
	c.Flags().StringVar(&out, "out", "", "save the plan to `FILE`")
	c.Flags().BoolVar(&detailed, "detailed-exitcode", false, "exit 2 when there are changes")
	c.Flags().BoolVar(&summary, "summary", false, "print the summary line only")
	c.Flags().BoolVar(&verbose, "ungrouped", false, "show every port by itself")
	return c
}

// planned is a plan and what it was made of.
type planned struct {
	project *project
	devices []compiled
	store   *record.Store
	inputs  []plan.Device
	plan    *plan.Plan
	saved   *plan.Saved
}

// plan compiles the fabric and compares it with captures or the record.
func (a *app) plan(f *planFlags) (*planned, error) {
	p, devices, err := a.compiled(&f.in, &f.pick)
	if err != nil {
		return nil, err
	}
	store, err := a.store(p)
	if err != nil {
		return nil, err
	}
	pl := &planned{project: p, devices: devices, store: store}
	known := map[string]bool{}
	for i := range devices {
		d := &devices[i]
		known[d.intent.Name] = true
		if !p.written(d) {
			continue
		}
		in := plan.Device{Address: d.address, Target: d.target, Want: d.intent, Origin: func(at intent.Path) []diag.Label { return p.res.Origin(d.id, at) }}
		if in.Recorded, in.Version, err = store.Get(d.intent.Name); err != nil {
			return nil, fmt.Errorf("read record: %w", err)
		}
		if f.from != "" {
			seen, err := verify.Captures(f.from, d.address, d.intent, d.target, p.cfg.Files)
			if err != nil {
				return nil, err
			}
			a.print(p, seen.Findings)
			in.Have = seen.Observed
		}
		if d.made, err = a.made(p, d, f.from); err != nil {
			return nil, err
		}
		in.Artifacts = (&apply.Device{Artifacts: d.made}).Digests()
		pl.inputs = append(pl.inputs, in)
	}
	if err := pl.gone(a, &f.pick, known); err != nil {
		return nil, err
	}
	pl.plan = plan.Compute(pl.inputs, plan.Options{RocecVersion: version(), View: p.view})
	pl.saved = plan.Snapshot(store.Workspace(), p.digest(), pl.inputs, pl.plan)
	return pl, nil
}

// gone adds the devices that the record has and the configuration has not,
// unless only some devices were asked for.
func (pl *planned) gone(a *app, pick *choice, known map[string]bool) error {
	if len(pick.target)+len(pick.exclude) > 0 {
		return nil
	}
	f := pl.project.res.Fabric
	for id := 1; id < len(f.Devices); id++ {
		if f.Devices[id].Manage != fabric.HandsOff {
			known[f.Text(f.Devices[id].Name)] = true
		}
	}
	names, err := pl.store.List()
	if err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	for _, name := range names {
		if known[name] {
			continue
		}
		e, v, err := pl.store.Get(name)
		if err != nil {
			return fmt.Errorf("read record: %w", err)
		}
		pl.inputs = append(pl.inputs, plan.Device{Address: e.Address, Recorded: e, Version: v})
	}
	return nil
}

// digest is one digest over everything that was compiled: files and variables.
func (p *project) digest() string {
	src := p.source()
	return apply.SourcesDigest(src.Sources, src.Variables)
}

func (a *app) planStyle() plan.Style {
	if !a.colored(a.out) {
		return plan.Style{}
	}
	paint := func(code string) func(string) string {
		return func(s string) string { return "\x1b[" + code + "m" + s + "\x1b[0m" }
	}
	return plan.Style{
		Add: paint("32"), Change: paint("33"), Destroy: paint("31"), Interrupt: paint("1;31"), Read: paint("36"),
		Heading: paint("1"), Faint: paint("2"),
	}
}

func (a *app) showCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show FILE", Short: "Print a saved plan, a manifest or an entry of the record", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path := args[0]
			if saved, err := plan.Load(path); err == nil {
				if a.json {
					return a.writeJSON(saved.Plan)
				}
				return saved.Plan.Text(a.out, plan.TextOptions{Style: a.planStyle(), Verbose: a.verbose})
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var any map[string]any
			if err := record.Unmarshal(text, &any); err != nil {
				return fmt.Errorf("%s is no plan, manifest or entry: %w", args[0], err)
			}
			pretty, err := record.Canonical(any)
			if err != nil {
				return err
			}
			_, err = a.out.Write(pretty)
			return err
		},
	}
}
