package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets/emit"
	"github.com/spf13/cobra"
)

// planForm is how a plan is printed.
type planForm struct {
	format        string
	maxBytes      int
	summary, tree bool
	commands      bool
}

func (f *planForm) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.format, "format", "text", "`FORM` of the plan: text, json (one object; --json is a stream), markdown, html")
	c.Flags().IntVar(&f.maxBytes, "max-bytes", 0, "leave groups of changes out to stay below this `NUMBER` of bytes (markdown, html)")
	c.Flags().BoolVar(&f.summary, "summary", false, "print the summary line only")
	c.Flags().BoolVar(&f.tree, "tree", false, "print what changes device by device, without values")
}

func (f *planForm) check() error {
	if err := oneOf("format", f.format, "text", "json", "markdown", "html"); err != nil {
		return err
	}
	page := f.format == "markdown" || f.format == "html"
	switch {
	case f.maxBytes < 0:
		return fmt.Errorf("--max-bytes is at least 0, not %d", f.maxBytes)
	case f.maxBytes > 0 && !page:
		return errors.New("--max-bytes goes with --format=markdown and --format=html")
	case f.format != "text" && (f.tree || f.commands):
		return errors.New("--tree and --commands go with --format=text")
	case f.summary && (f.tree || f.commands):
		return errors.New("--summary is one line: it does not go with --tree and --commands")
	}
	return nil
}

// ofPlans refuses forms that something else than a plan does not have.
func (f *planForm) ofPlans(what string) error {
	if f.format == "markdown" || f.format == "html" || f.summary || f.tree {
		return fmt.Errorf("%s is no plan, and has the forms text and json only", what)
	}
	return nil
}

// exclusive refuses flags beside one that they have no meaning with.
func exclusive(c *cobra.Command, given bool, name string, others ...string) error {
	for _, o := range others {
		if given && c.Flags().Changed(o) {
			return fmt.Errorf("%s does not go with --%s", name, o)
		}
	}
	return nil
}

// printPlan prints a plan in a form.
func (a *app) printPlan(pl *plan.Plan, f *planForm) error {
	text := plan.TextOptions{Style: a.planStyle(), Verbose: a.verbose}
	page := plan.MarkupOptions{Verbose: a.verbose, MaxBytes: f.maxBytes}
	switch {
	case f.format == "json":
		return pl.JSON(a.out)
	case f.summary:
		_, err := fmt.Fprintln(a.out, pl.Line())
		return err
	case f.format == "markdown":
		return pl.Markdown(a.out, page)
	case f.format == "html":
		return pl.HTML(a.out, page)
	case f.tree:
		return pl.Tree(a.out, text)
	}
	return pl.Text(a.out, text)
}

// printCommands prints, for each device that changes, what says in its own words
// what will change there, where its target makes that from what was read, and what
// is run.
func (a *app) printCommands(pl *planned) error {
	changes := map[string]bool{}
	for i := range pl.plan.Changes {
		changes[pl.plan.Changes[i].Owner] = true
	}
	for i := range pl.devices {
		s := &pl.devices[i]
		if !changes[s.address] {
			continue
		}
		c := pl.project.lower(s)
		out, err := pl.emit(c)
		if err != nil {
			return err
		}
		device := apply.Device{Name: c.name, Artifacts: out.Artifacts, Kits: out.Kits}
		fmt.Fprintf(a.out, "\n%s:\n", diag.Printable(c.address))
		for _, x := range device.Steps() {
			if x.Step == emit.Apply {
				fmt.Fprintf(a.out, "  run %s\n", diag.Printable(x.Run))
			}
		}
		for j := range out.Artifacts {
			if f := &out.Artifacts[j]; pl.captured[c.name] != nil && slices.ContainsFunc(c.target.Delta, func(pattern string) bool { ok, _ := path.Match(pattern, f.Path); return ok }) {
				fmt.Fprintf(a.out, "  %s:\n", diag.Printable(f.Path))
				for line := range strings.Lines(string(f.Bytes)) {
					fmt.Fprintf(a.out, "    %s\n", diag.Printable(strings.TrimRight(line, "\r\n")))
				}
			}
		}
	}
	return nil
}

// unheld waits until nobody applies, and says who does. A plan keeps no lock, for
// everybody may look, also who may not write; but what is changing meanwhile is
// neither as it was nor as it will be.
func (a *app) unheld(ctx context.Context, p *project, timeout time.Duration) error {
	store, err := a.store(p)
	if err != nil {
		return err
	}
	if h, err := store.Holder(); err != nil || h == nil || h.Operation == "plan" {
		return err
	}
	err = a.locked(ctx, store, "plan", timeout, func(*record.Lock) error { return nil }) // which knows who has died
	var held *record.LockedError
	if errors.As(err, &held) {
		return fmt.Errorf("%w; wait with --lock-timeout, or plan all the same with --lock=false", err)
	}
	return err
}

// properties are what was proven of the configuration, class by class.
func (p *project) properties() []plan.Property {
	type key struct {
		property, class string
		holds           bool
	}
	ports := map[key]int{}
	var order []key
	x := p.prover()
	for id := range p.res.Fabric.Ports {
		for _, proof := range x.port(fabric.PortID(id)) {
			k := key{proof.Property, proof.Class, proof.Holds}
			if ports[k] == 0 {
				order = append(order, k)
			}
			ports[k]++
		}
	}
	slices.SortFunc(order, func(a, b key) int {
		return strings.Compare(a.class+"\x00"+a.property, b.class+"\x00"+b.property)
	})
	var list []plan.Property
	for _, k := range order {
		list = append(list, plan.Property{Property: k.property, Class: k.class, Holds: k.holds, Ports: ports[k]})
	}
	return list
}
