package main

import (
	"fmt"
	"os"
	"slices"

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
	in    inputs
	pick  choice
	from  string
	saved *plan.Saved // the plan that this one is made again for; its devices only
}

func (f *planFlags) flags(c *cobra.Command) {
	f.in.flags(c)
	f.pick.flags(c)
	c.Flags().StringVar(&f.from, "from", "", "compare with output captured from devices in `DIR`/<device>/ instead of the record")
}

func (a *app) planCommand() *cobra.Command {
	var f planFlags
	var out, format string
	var detailed, summary bool
	c := &cobra.Command{
		Use: "plan", Short: "Show what would change, against the record or captured output", Args: cobra.NoArgs,
		Example: "  rocec plan --out=change.rocplan\n  rocec plan --from=captured --detailed-exitcode",
		RunE: func(*cobra.Command, []string) error {
			if err := oneOf("format", format, "text", "json"); err != nil {
				return err
			}
			if err := a.startStream(); err != nil {
				return err
			}
			p, devices, err := a.compiled(&f.in, &f.pick)
			if err != nil {
				return err
			}
			pl, err := a.plan(&f, p, devices)
			if err != nil {
				return err
			}
			if out != "" {
				if info, err := os.Stat(out); err == nil && !info.Mode().IsRegular() {
					return fmt.Errorf("save plan: %s is not a regular file", out)
				}
				if err := a.write(func() error { return pl.saved.Save(out) }); err != nil {
					return err
				}
			}
			if a.stream != nil {
				if err := a.stream.plan(pl.plan, "plan"); err != nil {
					return err
				}
			}
			switch {
			case a.json:
			case format == "json":
				err = pl.plan.JSON(a.out)
			case summary:
				_, err = fmt.Fprintln(a.out, pl.plan.Summary)
			default:
				err = pl.plan.Text(a.out, plan.TextOptions{Style: a.planStyle(), Verbose: a.verbose})
				if out != "" {
					a.hint("Saved the plan to %s. To hand it over, run: rocec apply %s", out, out)
				} else if pl.plan.HasChanges() {
					a.hint("To hand the changes over, run: rocec apply")
				}
			}
			if err != nil {
				return err
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
	c.Flags().StringVar(&format, "format", "text", "`FORM` of the plan: text, json (one object; --json is a stream)")
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

// plan compares the devices with captures or the record.
func (a *app) plan(f *planFlags, p *project, devices []compiled) (*planned, error) {
	store, err := a.store(p)
	if err != nil {
		return nil, err
	}
	if f.saved != nil {
		devices = slices.DeleteFunc(devices, func(d compiled) bool { _, ok := f.saved.Devices[d.intent.Name]; return !ok })
	}
	pl := &planned{project: p, devices: devices, store: store}
	known := map[string]bool{}
	progress := p.steps("Comparing", len(devices))
	defer progress.end()
	for i := range devices {
		progress.one()
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
			if seen.Findings.HasErrors() {
				return nil, exit(1)
			}
			if in.Have = seen.Observed; in.Have == nil {
				a.print(p, diag.List{{
					Severity: diag.Warning, Summary: fmt.Sprintf("%s is compared with the record: %s", d.address, seen.Reason), Address: d.address,
				}})
			}
		}
		if d.made, err = a.made(p, d, f.from); err != nil {
			return nil, err
		}
		in.Artifacts = (&apply.Device{Artifacts: d.made}).Digests()
		pl.inputs = append(pl.inputs, in)
	}
	if err := pl.gone(f, known); err != nil {
		return nil, err
	}
	pl.plan = plan.Compute(pl.inputs, plan.Options{RocecVersion: version(), View: p.view})
	pl.saved = plan.Snapshot(store.Workspace(), p.digest(), pl.inputs, pl.plan)
	return pl, nil
}

// gone adds the devices that the record has and the configuration has not,
// unless only some devices were asked for.
func (pl *planned) gone(f *planFlags, known map[string]bool) error {
	if !f.pick.all() {
		return nil
	}
	fab := pl.project.res.Fabric
	for id := 1; id < len(fab.Devices); id++ {
		if fab.Devices[id].Manage != fabric.HandsOff {
			known[fab.Text(fab.Devices[id].Name)] = true
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
		if f.saved != nil && f.saved.Devices[name].Address == "" {
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
	return apply.SourcesDigest(p.made.Sources, p.made.Variables)
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
	var format string
	c := &cobra.Command{
		Use: "show FILE", Short: "Print a saved plan, a manifest or an entry of the record", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := oneOf("format", format, "text", "json"); err != nil {
				return err
			}
			a.json = a.json || format == "json"
			path := args[0]
			text, err := readFile(path)
			if err != nil {
				return err
			}
			if saved, err := plan.Load(path); err == nil {
				return a.object(saved.Plan, func() error {
					return saved.Plan.Text(a.out, plan.TextOptions{Style: a.planStyle(), Verbose: a.verbose})
				})
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
	c.Flags().StringVar(&format, "format", "text", "`FORM` of a plan: text, json")
	return c
}
