package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/deploy/verify"
	"github.com/rocec/rocec/lang/diag"
	"github.com/spf13/cobra"
)

// verifyFlags steer what is compared, and how often.
type verifyFlags struct {
	in       inputs
	pick     choice
	read     reading
	format   string
	detailed bool
	lldp     bool
	health   bool
	sample   time.Duration
	interval time.Duration
	count    int
}

func (f *verifyFlags) flags(c *cobra.Command) {
	f.in.flags(c)
	f.pick.flags(c)
	f.read.refresh = true
	c.Flags().StringVar(&f.read.from, "from", "", "`DIR` with the output captured from each device, instead of the devices")
	c.Flags().IntVar(&f.read.parallelism, "parallelism", parallelReads, "read this `NUMBER` of devices at once")
	c.Flags().StringVar(&f.format, "format", "text", "`FORM` of the result: text, json (one object; --json is a stream)")
	c.Flags().BoolVar(&f.detailed, "detailed", false, "show devices in sync and every object by itself")
	c.Flags().BoolVar(&f.lldp, "lldp", false, "compare what the devices hear of their neighbours with the cables of the source")
	c.Flags().BoolVar(&f.health, "health", false, "ask the devices how they are besides: links, what is not loaded, and counters that grow")
	c.Flags().DurationVar(&f.sample, "sample", 10*time.Second, "with --health: let this `LONG` pass between two looks at the counters")
	c.Flags().DurationVar(&f.interval, "interval", 0, "look again every so `LONG`, until interrupted, and print what changes")
	c.Flags().IntVar(&f.count, "count", 0, "with --interval: look this `NUMBER` of times (0: until interrupted)")
}

func (f *verifyFlags) check() error {
	if err := oneOf("format", f.format, "text", "json"); err != nil {
		return err
	}
	switch {
	case f.read.parallelism < 1:
		return fmt.Errorf("--parallelism is at least 1, not %d", f.read.parallelism)
	case f.interval < 0 || f.count < 0 || f.sample < 0:
		return errors.New("--interval, --sample and --count are not negative")
	case f.count > 0 && f.interval == 0:
		return errors.New("--count goes with --interval")
	case f.interval > 0 && f.format == "json":
		return errors.New("--interval prints no single object: use --json, which is a stream")
	}
	return within(f.read.from)
}

func (a *app) verifyCommand() *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use: "verify", Short: "Compare devices, or output captured on them, with what they shall be", Args: cobra.NoArgs,
		Long: `verify reads every device whose target block or connection says that it is reached over
SSH, or with --from=DIR the folder DIR/<device>/ of every device as the capture scripts
write it, compares each with its intent, and marks devices that were handed over as
applied when everything that can be seen is as wanted. It exits 2 when a device has
drifted, 1 when one could not be compared or DIR has a folder of no device.

With --lldp it asks each device for its neighbours besides (lldpctl, show lldp table,
nv show interface lldp; with --from a file lldp.json or lldp.txt in the device's folder)
and compares them with the cables of the source: ROCE119. Another neighbour is drift.

With --health it looks at what no setting is: the PCIe link, locked memory, modules and
GIDs of hosts, and counters of pauses, drops, bit errors and losses, twice, as far apart
as --sample or --interval says. With --from those are the files of the capture under
DIR/<device>/health, and DIR/<device>/before/health of an earlier one. Options of rules
in .rocec.hcl count here as for lint.`,
		Example: "  rocec verify --detailed --lldp\n  rocec verify --from=captured\n  rocec verify --interval=5m",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if err := a.startStream(); err != nil {
				return err
			}
			if err := a.liveLimits(&f); err != nil {
				return err
			}
			p, devices, err := a.compiled(&f.in, &f.pick)
			if err != nil {
				return err
			}
			if devices, err = a.readable(p, devices, &f); err != nil {
				return err
			}
			var last *round
			for n := 1; ; n++ {
				r, err := a.round(c, p, devices, last, &f)
				if err != nil {
					return err
				}
				if err := a.printRound(p, r, last, &f); err != nil {
					return err
				}
				if f.interval == 0 || n == f.count {
					if code := r.exit(); code != 0 {
						return exit(code)
					}
					return nil
				}
				last = r
				if err := a.wait(c.Context(), f.interval); err != nil {
					return err
				}
			}
		},
	}
	f.flags(c)
	return c
}

// readable are the devices that can be compared: of a folder of captures all, else
// those that are reached over a session. The others are named.
func (a *app) readable(p *project, devices []served, f *verifyFlags) ([]served, error) {
	switch {
	case f.read.from != "":
		return devices, nil
	case p.trust.untrusted:
		return nil, errors.New("--untrusted asks no device: say where the captured output is, rocec verify --from=DIR")
	}
	list := slices.DeleteFunc(slices.Clone(devices), func(s served) bool { return !f.read.live(p, &s) })
	switch left := len(devices) - len(list); {
	case len(list) == 0:
		return nil, errors.New("no device is read over a session: say where the captured output is, rocec verify --from=DIR")
	case left > 0 && !a.json && !a.quiet:
		fmt.Fprintf(a.err, "Not compared: %s without delivery over SSH (rocec verify --from=DIR compares captured output).\n", count(left, "device"))
	}
	return list, nil
}

// wait waits until it is time to look again.
func (a *app) wait(ctx context.Context, d time.Duration) error {
	after := time.After
	if a.after != nil {
		after = a.after
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-after(d):
		return nil
	}
}

// round is one look at all devices.
type round struct {
	results  []*verify.Result
	strays   diag.List
	cables   diag.List // what neighbours say otherwise
	cabled   *project  // whose view has the text that cables point into
	findings diag.List // about devices and captures, as they came
	vitals   looked
	health   diag.List
}

func (r *round) exit() int {
	code := verify.Exit(r.results)
	switch {
	case r.strays.HasErrors():
		return 1
	case code == 0 && (r.cables.HasErrors() || r.health.HasErrors()):
		return 2
	}
	return code
}

// round looks at all devices and marks what was handed over and is as wanted.
func (a *app) round(c *cobra.Command, p *project, devices []served, last *round, f *verifyFlags) (*round, error) {
	r := &round{}
	var err error
	if r.results, err = a.verify(c.Context(), p, devices, &f.read); err != nil {
		return nil, err
	}
	for _, x := range r.results {
		r.findings = append(r.findings, x.Findings...)
	}
	if f.read.from != "" {
		if r.strays, err = p.strays(f.read.from); err != nil {
			return nil, err
		}
	}
	if f.lldp {
		if r.cabled, r.cables, err = a.neighbours(c.Context(), p, devices, f); err != nil {
			return nil, err
		}
	}
	if f.health {
		if err := a.examine(c.Context(), p, devices, r, last, f); err != nil {
			return nil, err
		}
	}
	return r, a.confirm(c, p, r.results)
}

// examine looks at the health of devices: twice, unless an earlier round did.
func (a *app) examine(ctx context.Context, p *project, devices []served, r, last *round, f *verifyFlags) error {
	var before looked
	switch {
	case last != nil:
		before = last.vitals
	case f.read.from != "":
		before, _ = a.vitals(ctx, p, devices, &f.read, "before/")
	case f.interval == 0:
		before, _ = a.vitals(ctx, p, devices, &f.read, "")
		if err := a.wait(ctx, f.sample); err != nil {
			return err
		}
	}
	r.vitals, r.health = a.vitals(ctx, p, devices, &f.read, "")
	r.health = append(r.health, p.health(devices, before, r.vitals, f)...)
	return nil
}

// printRound prints a look, of a later one only what is not as it was.
func (a *app) printRound(p *project, r, last *round, f *verifyFlags) error {
	results := r.results
	if last == nil || rendered(last.findings) != rendered(r.findings) {
		a.print(p, r.findings)
	}
	if last == nil {
		a.print(p, r.strays)
	}
	if f.health && (last == nil || rendered(last.health) != rendered(r.health)) {
		a.print(p, r.health)
		if !a.json && len(r.health) == 0 && (last != nil || f.detailed) {
			fmt.Fprintln(a.out, "Nothing is wrong with the health of the devices.")
		}
	}
	if r.cabled != nil && (last == nil || rendered(last.cables) != rendered(r.cables)) {
		a.print(r.cabled, r.cables)
		if !a.json && len(r.cables) == 0 && (last != nil || f.detailed) {
			fmt.Fprintln(a.out, "The neighbours are those of the source.")
		}
	}
	if last != nil {
		if results = verify.Changed(last.results, r.results); len(results) == 0 {
			return nil
		}
	}
	if a.stream != nil {
		if err := a.stream.verified(results, p); err != nil {
			return err
		}
	}
	switch {
	case a.json:
		return nil
	case f.format == "json":
		return verify.JSON(a.out, results, slices.Concat(r.strays, r.cables, r.health), version(), p.view)
	}
	o := verify.TextOptions{Style: a.planStyle(), Detailed: f.detailed || last != nil, View: p.view}
	if last == nil {
		return verify.Text(a.out, results, o)
	}
	return verify.News(a.out, results, r.results, o)
}

// rendered are findings as one text, to tell whether they are the same.
func rendered(list diag.List) string {
	var b strings.Builder
	for i := range list {
		fmt.Fprintf(&b, "%s %s %s\n", list[i].Rule, list[i].Address, list[i].Summary)
	}
	return b.String()
}

// verify compares every device with what is read of it.
func (a *app) verify(ctx context.Context, p *project, devices []served, r *reading) ([]*verify.Result, error) {
	results, failed := make([]*verify.Result, len(devices)), make([]error, len(devices))
	progress := p.steps("Comparing", len(devices))
	a.look(ctx, p, devices, r, func(i int, seen sight) {
		results[i], failed[i] = p.compared(&devices[i], seen)
		progress.one()
	})
	progress.end()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i := range results {
		if failed[i] != nil {
			return nil, failed[i]
		}
	}
	return results, nil
}

// compared is the verdict on a device. One that cannot be reached is unknown; a
// folder that cannot be read is an error.
func (p *project) compared(s *served, seen sight) (*verify.Result, error) {
	c := p.lower(s)
	var bad *refused
	switch {
	case errors.As(seen.err, &bad):
		r := verify.Unread(c.address, c.intent, bad.why)
		r.Findings = bad.findings
		return r, nil
	case seen.err != nil && seen.from == plan.FromDevice:
		said := strings.TrimPrefix(strings.TrimPrefix(seen.err.Error(), "read "+c.name+": "), c.name+": ")
		return verify.Unread(c.address, c.intent, "it could not be read: "+said), nil
	case seen.err != nil:
		return nil, seen.err
	case seen.captured == nil:
		return verify.Unread(c.address, c.intent, seen.reason), nil
	}
	r := verify.Compare(c.address, c.intent, c.target, *seen.captured)
	r.Findings = append(r.Findings, p.labelled(s, r.Settings(c.intent))...)
	r.Observed = nil // what differs is known, and there may be many devices
	if len(r.Differences) > 0 {
		r.Locate(p.res.Origins(c.id))
	}
	return r, nil
}

// labelled are findings about a device, with the place where it is written.
func (p *project) labelled(s *served, list diag.List) diag.List {
	f := p.res.Fabric
	for i := range list {
		list[i].Labels = []diag.Label{f.DeclLabel(f.Devices[s.id].Decl, "")}
	}
	return list
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
	if p.trust.untrusted { // it marks nothing
		return nil
	}
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
