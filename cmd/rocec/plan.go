package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
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
				if err := a.write(func() error { return pl.snapshot().Save(out) }); err != nil {
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
	devices []served
	store   *record.Store
	parts   []*plan.Part
	plan    *plan.Plan
	kept    *settling // nil: nothing is kept
}

// plan compares the devices with captures or the record, one by one.
func (a *app) plan(f *planFlags, p *project, devices []served) (*planned, error) {
	store, err := a.store(p)
	if err != nil {
		return nil, err
	}
	if f.saved != nil {
		devices = slices.DeleteFunc(devices, func(d served) bool { _, ok := f.saved.Devices[d.name]; return !ok })
	}
	pl := &planned{project: p, devices: devices, store: store}
	known := map[string]bool{}
	results, parts := make([]comparison, len(devices)), make([]*plan.Part, len(devices))
	if f.from == "" {
		pl.kept = a.settling(store, len(devices))
	}
	progress := p.steps("Comparing", len(devices))
	parallel(len(devices), func(i int) {
		if d := &devices[i]; p.written(d.id) {
			if results[i].part = pl.kept.find(p, i, d); results[i].part == nil {
				results[i] = compare(p, store, d, f.from)
			}
			parts[i] = results[i].part
		}
		progress.one()
	})
	progress.end()
	for i := range results {
		r := &results[i]
		known[devices[i].name] = true
		a.print(p, r.findings)
		if r.findings.HasErrors() {
			return nil, exit(1)
		}
		if r.err != nil {
			return nil, r.err
		}
		if r.part != nil {
			pl.parts = append(pl.parts, r.part)
		}
	}
	pl.kept.keep(devices, parts, f.pick.all() && f.saved == nil)
	if err := pl.gone(f, known); err != nil {
		return nil, err
	}
	pl.plan = plan.Join(pl.parts, plan.Options{RocecVersion: version(), View: p.view, Waves: p.waves().planned()})
	a.print(p, p.waves().undrained(pl.plan))
	return pl, nil
}

// snapshot is the plan as a file holds it.
func (pl *planned) snapshot() *plan.Saved {
	return plan.Snapshot(pl.store.Workspace(), pl.project.digest(), pl.parts, pl.plan)
}

// comparison is what came of one device.
type comparison struct {
	part     *plan.Part
	findings diag.List
	err      error
}

// compare compares a device with what was captured of it, else with the record.
func compare(p *project, store *record.Store, s *served, from string) (r comparison) {
	c := p.lower(s)
	in := plan.Device{Address: c.address, Target: c.target, Want: c.intent, Origin: p.origin(s.id)}
	if from != "" {
		if in.Recorded, in.Version, r.err = store.Get(c.name); r.err != nil {
			r.err = fmt.Errorf("read record: %w", r.err)
			return r
		}
		seen, err := verify.Captures(from, c.address, c.intent, c.target, p.cfg.Files)
		if err != nil {
			r.err = err
			return r
		}
		if r.findings = seen.Findings; r.findings.HasErrors() {
			return r
		}
		if in.Have = seen.Observed; in.Have == nil {
			r.findings.Add(diag.Diagnostic{
				Severity: diag.Warning, Summary: fmt.Sprintf("%s is compared with the record: %s", c.address, seen.Reason), Address: c.address,
			})
		}
	}
	out, err := against(from)(c)
	var bad *refused
	if errors.As(err, &bad) {
		r.findings = append(r.findings, bad.findings...)
		return r
	}
	if r.err = err; err != nil {
		return r
	}
	in.Digest = out.Digest(c.intent)
	if from == "" { // equal intents are not compared
		if in.Recorded, in.Version, r.err = store.GetUnless(c.intent, in.Digest); r.err != nil {
			r.err = fmt.Errorf("read record: %w", r.err)
			return r
		}
	}
	in.Artifacts = (&apply.Device{Artifacts: out.Artifacts, Kits: out.Kits}).Digests()
	r.part = plan.Compare(&in, plan.Options{})
	return r
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
		pl.parts = append(pl.parts, plan.Compare(&plan.Device{Address: e.Address, Recorded: e, Version: v}, plan.Options{}))
	}
	return nil
}

// digest is one digest over everything that was compiled: files and variables.
func (p *project) digest() string {
	return apply.SourcesDigest(p.made.Sources, p.made.Variables)
}

// planStyle is the colours of Terraform's plans, as escape sequences for the same
// reason as those of findings (lang/diag/text.go).
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
