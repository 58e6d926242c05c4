package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/spf13/cobra"
)

// planFlags steer how a plan is made; apply has them too.
type planFlags struct {
	in          inputs
	pick        choice
	read        reading
	refreshOnly bool
	saved       *plan.Saved // the plan that this one is made again for; its devices only
}

func (f *planFlags) flags(c *cobra.Command) {
	f.in.flags(c)
	f.pick.flags(c)
	f.read.flags(c)
	c.Flags().StringVar(&f.read.from, "from", "", "compare with output captured from devices in `DIR`/<device>/ instead of the devices and the record")
	c.Flags().BoolVar(&f.refreshOnly, "refresh-only", false, "compare what devices show with the record, and plan no change")
}

// check refuses flags that have no meaning together.
func (f *planFlags) check() error {
	switch {
	case f.refreshOnly && !f.read.refresh && f.read.from == "":
		return errors.New("--refresh-only reads the devices: it does not go with --refresh=false")
	case f.read.parallelism < 1:
		return fmt.Errorf("--parallelism is at least 1, not %d", f.read.parallelism)
	}
	return within(f.read.from)
}

func (a *app) planCommand() *cobra.Command {
	var f planFlags
	var form planForm
	var against, out string
	var detailed, destroy, lock bool
	var timeout time.Duration
	c := &cobra.Command{
		Use: "plan", Short: "Show what would change, against the devices, captured output or the record", Args: cobra.NoArgs,
		Long: `plan reads every device whose target block or connection says that it is reached over
SSH, and takes the record for the others; --refresh=false takes the record for all, and
--from=DIR output that was captured. Devices are not read while somebody applies, unless
--lock=false says so. What it finds is compared with the configuration,
setting by setting, in the device's own units. Nothing is changed anywhere.

A device that cannot be read ends the plan with code 1, after all others were read: half
a plan is none. --refresh-only compares what devices show with the record instead, and
rocec apply --refresh-only accepts what moved. --against=REV compares with the
configuration of another git revision, and neither with devices nor with the record.`,
		Example: "  rocec plan --out=change.rocplan\n  rocec plan --from=captured --detailed-exitcode\n  rocec plan --against=origin/main --format=markdown --max-bytes=60000",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := errors.Join(form.check(), f.check(), exclusive(c, against != "", "--against", "from", "refresh-only", "refresh", "out", "lock-timeout")); err != nil {
				return err
			}
			if destroy {
				return errors.New("--destroy has no meaning here: a device that leaves the configuration is no longer managed, and what was written to it stays; to go back to an earlier revision run rocec rollback --to=REV")
			}
			if err := a.startStream(); err != nil {
				return err
			}
			a.foresee()
			p, devices, err := a.compiled(&f.in, &f.pick)
			if err != nil {
				return err
			}
			a.tellUntrusted(p, devices, against != "")
			var pl *planned
			if against != "" {
				pl, err = a.planAgainst(c.Context(), &f, p, devices, against)
			} else {
				asked := c.Flags().Changed("lock") || c.Flags().Changed("lock-timeout")
				if lock && !p.trust.untrusted && (asked || slices.ContainsFunc(devices, func(s served) bool { return f.read.live(p, &s) })) {
					if err := a.unheld(c.Context(), p, timeout); err != nil {
						return err
					}
				}
				pl, err = a.plan(c.Context(), &f, p, devices)
			}
			if err != nil {
				return err
			}
			if out != "" {
				if err := within(out); err != nil {
					return fmt.Errorf("save plan: %w", err)
				}
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
			if !a.json {
				if form.format == "json" {
					pl.plan.Properties = p.properties()
				}
				if err := a.printPlan(pl.plan, &form); err != nil {
					return err
				}
				if form.commands {
					if err := a.printCommands(pl); err != nil {
						return err
					}
				}
			}
			switch {
			case form.format != "text" || form.summary || against != "" || f.refreshOnly && !pl.plan.Moved():
			case f.refreshOnly:
				a.hint("To accept that into the record, run: rocec apply --refresh-only")
			case out != "":
				a.hint("Saved the plan to %s. To make its changes, run: rocec apply %s", out, pathWord(out))
			case pl.plan.HasChanges():
				a.hint("To make the changes, run: rocec apply")
			}
			if detailed && pl.plan.DetailedExit() != 0 {
				return exit(pl.plan.DetailedExit())
			}
			return nil
		},
	}
	f.flags(c)
	form.flags(c)
	c.Flags().StringVar(&against, "against", "", "compare with the configuration at this git `REV`, instead of devices and the record")
	c.Flags().StringVar(&out, "out", "", "save the plan to `FILE`")
	c.Flags().BoolVar(&detailed, "detailed-exitcode", false, "exit 2 when there are changes")
	c.Flags().BoolVar(&form.commands, "commands", false, "print what is run on each device besides")
	c.Flags().BoolVar(&destroy, "destroy", false, "refused: rocec destroys no device")
	c.Flags().BoolVar(&lock, "lock", true, "do not read devices while somebody applies")
	c.Flags().DurationVar(&timeout, "lock-timeout", 0, "wait this `LONG` for somebody who applies")
	return c
}

// planned is a plan and what it was made of.
type planned struct {
	project *project
	devices []served
	all     []served // also those that were not chosen; of apply
	store   *record.Store
	parts   []*plan.Part
	plan    *plan.Plan
	kept    *settling // nil: nothing is kept
	// captured are what was read of devices whose target writes less against it, by name.
	captured map[string]*targets.Captured
	full     bool // every setting of new devices is kept
	// unrecorded are devices that were read and of which the record does not have the
	// intent as applied, by name.
	unrecorded map[string]bool
}

// emit makes the files of a device as they were planned: to fit what was read of it.
func (pl *planned) emit(c *compiled) (*emit.Out, error) { return rebased(c, pl.captured[c.name]) }

// plan compares the devices with what is read of them, or the record, one by one.
func (a *app) plan(ctx context.Context, f *planFlags, p *project, devices []served) (*planned, error) {
	store, err := a.store(p)
	if err != nil {
		return nil, err
	}
	f.read.saved = f.saved
	if f.saved != nil {
		devices = slices.DeleteFunc(devices, func(d served) bool { _, ok := f.saved.Devices[d.name]; return !ok })
	}
	pl := &planned{project: p, devices: devices, store: store, captured: map[string]*targets.Captured{}, unrecorded: map[string]bool{}}
	known := map[string]bool{}
	results, parts := make([]comparison, len(devices)), make([]*plan.Part, len(devices))
	if f.read.from == "" && !f.refreshOnly && !p.trust.untrusted { // what is kept may be of the branch
		pl.kept = a.settling(store, len(devices))
	}
	o := plan.Options{RocecVersion: version(), Variables: p.made.Variables, View: p.view, Waves: p.waves().planned(), RefreshOnly: f.refreshOnly, Full: a.verbose}
	if f.saved != nil {
		o.Full = f.saved.Full // to be compared with it
	}
	pl.full = o.Full
	written := slices.DeleteFunc(slices.Clone(devices), func(d served) bool { return !p.written(d.id) })
	at := make(map[string]int, len(devices))
	for i := range devices {
		at[devices[i].name] = i
	}
	progress := p.steps("Comparing", len(written))
	a.look(ctx, p, written, &f.read, func(n int, seen sight) {
		i := at[written[n].name]
		r, d := &results[i], &devices[i]
		if seen.from == plan.FromRecord {
			r.part = pl.kept.find(p, i, d)
		}
		if r.part == nil {
			*r = compare(p, store, d, seen, o)
		}
		parts[i] = r.part
		progress.one()
	})
	progress.end()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	failed := false
	silent := map[string][]*served{} // by why they could not be read
	for i := range results {
		r := &results[i]
		known[devices[i].name] = true
		a.print(p, r.findings)
		if r.unread != "" {
			silent[r.unread] = append(silent[r.unread], &devices[i])
		}
		if r.err != nil {
			return nil, r.err
		}
		failed = failed || r.findings.HasErrors()
		if r.part != nil {
			pl.parts = append(pl.parts, r.part)
		}
		if r.captured != nil {
			pl.captured[devices[i].name] = r.captured
		}
		if r.unrecorded {
			pl.unrecorded[devices[i].name] = true
		}
	}
	for i := range results { // a jump host that is down is one finding
		if list := silent[results[i].unread]; len(list) > 0 && list[0] == &devices[i] {
			a.print(p, diag.List{p.unread(list, results[i].unread)})
			failed = true
		}
	}
	if failed { // every device that has something in its way was named, or counted
		return nil, exit(1)
	}
	pl.kept.keep(devices, parts, f.pick.all() && f.saved == nil)
	if err := pl.gone(f, known); err != nil {
		return nil, err
	}
	pl.plan = plan.Join(pl.parts, o)
	a.print(p, append(p.waves().undrained(pl.plan), p.firstDenied(pl.plan)...))
	return pl, nil
}

// snapshot is the plan as a file holds it.
func (pl *planned) snapshot() *plan.Saved {
	saved := plan.Snapshot(pl.store.Workspace(), pl.project.digest(), pl.parts, pl.plan)
	saved.Full = pl.full
	return saved
}

// comparison is what came of one device.
type comparison struct {
	part       *plan.Part
	captured   *targets.Captured // where the target writes less against it; nil elsewhere
	unrecorded bool              // it was read, and the record does not have its intent
	findings   diag.List
	unread     string // why the device could not be read, "" if it was
	err        error
}

// compare compares a device with what was read of it, else with the record.
func compare(p *project, store *record.Store, s *served, seen sight, o plan.Options) (r comparison) {
	var bad *refused
	switch {
	case errors.As(seen.err, &bad):
		r.findings = bad.findings
		return r
	case seen.err != nil && seen.from == plan.FromDevice:
		said := strings.TrimPrefix(seen.err.Error(), "read "+s.name+": ")
		r.unread = strings.TrimPrefix(said, s.name+": ")
		return r
	case seen.err != nil:
		r.err = seen.err
		return r
	}
	c := p.lower(s)
	in := plan.Device{Address: c.address, Target: c.target, Want: c.intent, Origin: p.origin(s.id), From: seen.from}
	if seen.captured != nil {
		in.Armed = seen.captured.Armed
	}
	if seen.from != plan.FromRecord {
		if seen.captured != nil && c.target.Parse != nil { // what differs is for the plan to say
			if in.Have, r.findings = c.target.Parse(c.intent, *seen.captured); r.findings.HasErrors() {
				return r
			}
			if in.Have != nil && c.target.Stored != nil {
				var odd diag.List
				in.Boots, odd = c.target.Stored(c.intent, *seen.captured)
				if r.findings = append(r.findings, odd...); odd.HasErrors() {
					return r
				}
			}
			if in.Have != nil && c.target.Outdated != nil {
				in.Outdated = func() []intent.Difference { return c.target.Outdated(c.intent, *seen.captured) }
			}
			seen.reason = "the captured output could not be read"
		}
		if in.Have == nil {
			r.findings.Add(diag.Diagnostic{
				Severity: diag.Warning, Summary: fmt.Sprintf("%s is compared with the record: %s", c.address, seen.reason), Address: c.address,
			})
		}
	}
	out, err := rebased(c, seen.captured)
	if errors.As(err, &bad) {
		r.findings = append(r.findings, bad.findings...)
		return r
	}
	if r.err = err; err != nil {
		return r
	}
	in.Digest = out.Digest(c.intent)
	if in.Recorded, in.Version, r.err = store.GetUnless(c.intent, in.Digest); r.err != nil { // equal intents are not read
		r.err = fmt.Errorf("read record: %w", r.err)
		return r
	}
	r.unrecorded = seen.from == plan.FromDevice && in.Have != nil && (in.Recorded == nil || in.Recorded.IntentDigest != in.Digest)
	switch e := in.Recorded; {
	case e == nil:
	case seen.from != plan.FromRecord:
		if e.Intent == nil { // it is just this one
			e.Intent = c.intent
		}
	case e.Observed != nil: // it moved, and somebody has accepted that it did
		if e.Intent == nil {
			e.Intent = c.intent
		}
		in.Have = e.Observed
	}
	in.Artifacts = (&apply.Device{Artifacts: out.Artifacts, Kits: out.Kits}).Digests()
	r.part = plan.Compare(&in, o)
	if c.target.Rebase != nil {
		r.captured = seen.captured
	}
	return r
}

// gone adds the devices that the record has and the configuration has not,
// unless only some devices were asked for.
func (pl *planned) gone(f *planFlags, known map[string]bool) error {
	if !f.pick.all() || f.refreshOnly {
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
