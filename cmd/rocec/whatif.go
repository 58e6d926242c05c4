package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/spf13/cobra"
)

func (a *app) whatifCommand() *cobra.Command {
	in := &inputs{}
	var fail, properties []string
	failures := 0
	c := &cobra.Command{
		Use: "whatif", Short: "Prove the fabric again with things down", Args: cobra.NoArgs,
		Long: `Takes links and switches out of the fabric and proves it again: that classes keep
their treatment on the ways that are left, that PFC cannot deadlock, that nodes
reach each other. What is proven of each port and link by itself stays proven
for those that are left. It ends with 2 when a property breaks.

With --failures each link between switches and each switch fails by itself, on
top of what --fail takes out; with 2, each pair, which counts in both orders.
Under local repair, and with peer links unless routing goes up and then down, so does
each peer link of an MLAG pair and each cable of a node that is bonded to both of its
switches. What a switch of a pair has lost the way for then takes the peer link. Those
that stand alike are proven once. With 2, cables of nodes to a pair that nothing else
joins to the rest fail one at a time, which is then said.

A cable with a port that the source shuts (admin = "down") is down before anything
fails: such ports are named.

A node that is cabled to one switch only, or by one cable, is down with it: that breaks
no property, and is told besides. redundancy on a class asks for more switches.`,
		Example: "  rocec whatif --fail=switch.spine1\n  rocec whatif --fail='switch.leaf1.port[Ethernet64]' --failures=1\n  rocec whatif --failures=1 --property=deadlock",
		RunE: func(*cobra.Command, []string) error {
			set, err := propertySet(properties)
			switch {
			case err != nil:
				return err
			case len(fail) == 0 && failures == 0:
				return errors.New("nothing fails: write --fail=ADDRESS or --failures=1")
			case failures < 0 || failures > schema.MaxFailures:
				return fmt.Errorf("failures is a number up to %d, not %d", schema.MaxFailures, failures)
			case set == 0:
				set = fabric.AllProperties
			}
			p, err := a.load(in, false)
			if err != nil {
				return err
			}
			if !p.loaded() || p.res.Facts == nil {
				return a.stopOnErrors(p)
			}
			w, err := p.whatif(fail, failures, set)
			if err != nil {
				return err
			}
			return a.answer(p, w)
		},
	}
	in.flags(c)
	c.Flags().StringArrayVar(&fail, "fail", nil, "`ADDRESS` or name of a link, port, switch or node that is down (repeatable, globs)")
	c.Flags().IntVar(&failures, "failures", 0, "prove each further failure of up to this `NUMBER` of links and switches")
	c.Flags().StringArrayVar(&properties, "property", nil, "prove `NAME` only: "+strings.Join(schema.Properties, ", ")+" (repeatable)")
	return c
}

// whatif is the answer to what happens when.
type whatif struct {
	set      fabric.PropertySet
	before   *lint.Outcome   // with what --fail takes out; nil: nothing
	failed   []*lint.Outcome // one for each kind of further failure
	open     []string
	standing []lint.Verdict // of properties that rest on no way
}

// whatif proves the fabric with addresses down, and under further failures.
func (p *project) whatif(fail []string, failures int, set fabric.PropertySet) (*whatif, error) {
	f := p.res.Fabric
	mask, err := maskOf(f, fail)
	if err != nil {
		return nil, err
	}
	w := &whatif{set: set, standing: p.standing(mask, set)}
	prover := lint.NewProver(f, p.res.Facts)
	if len(fail) > 0 {
		w.before = prover.Prove(mask, set)
	}
	if failures > 0 {
		w.failed, w.open = prover.Failures(mask, failures, set&lint.ByPath)
	}
	return w, nil
}

// maskOf is what addresses take out: links by their own address, or a port's
// address or name, devices by theirs. The links of a device that is out are not
// listed besides.
func maskOf(f *fabric.Fabric, patterns []string) (*fabric.Mask, error) {
	m := &fabric.Mask{Links: map[fabric.LinkID]bool{}, Devices: map[fabric.DeviceID]bool{}}
	for _, pattern := range patterns {
		found := false
		for _, d := range devicesNamed(f, pattern) {
			m.Devices[d], found = true, true
		}
		if !found {
			for _, l := range linksNamed(f, pattern) {
				m.Links[l], found = true, true
			}
		}
		for _, p := range portsNamed(f, pattern) {
			if l := f.Ports[p].Link; l != 0 {
				m.Links[l], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("no link, cabled port or device has the address %s%s", pattern, meant(f, pattern))
		}
	}
	if down := len(m.Devices); down > 0 && down == len(f.Devices)-1 {
		return nil, fmt.Errorf("%s is every device: nothing is left to prove", strings.Join(patterns, " and "))
	}
	maps.DeleteFunc(m.Links, func(l fabric.LinkID, _ bool) bool {
		return m.Devices[f.Ports[f.Links[l].A].Device] || m.Devices[f.Ports[f.Links[l].B].Device]
	})
	return m, nil
}

// standing are the verdicts on properties of ports and links by themselves: what
// is wrong with them anyway, but for those that are down.
func (p *project) standing(m *fabric.Mask, set fabric.PropertySet) (list []lint.Verdict) {
	f := p.res.Fabric
	var down []string
	for d := range m.Devices {
		down = append(down, f.Text(f.Devices[d].Address))
	}
	for l := range m.Links {
		down = append(down, f.LinkAddress(l), f.PortAddress(f.Links[l].A), f.PortAddress(f.Links[l].B))
	}
	moot := func(d *diag.Diagnostic) bool {
		return slices.ContainsFunc(append([]string{d.Address}, d.Concerns...), func(at string) bool {
			return slices.ContainsFunc(down, func(x string) bool { return at == x || strings.HasPrefix(at, x+".") })
		})
	}
	for pr := fabric.Property(0); pr < fabric.PropertyCount; pr++ {
		if !set.Has(pr) {
			continue
		}
		v := lint.Verdict{Property: pr}
		for _, d := range p.diags.All() {
			if of, is := lint.PropertyOf(d.Rule); is && of == pr && d.Severity == diag.Error && !moot(&d) {
				v.Broken.Add(d)
			}
		}
		list = append(list, v)
	}
	return list
}

// besides counts the errors that are of no property: no verdict shows them.
func (p *project) besides() int {
	n := 0
	for i := range p.diags {
		if _, is := lint.PropertyOf(p.diags[i].Rule); !is && p.diags[i].Severity == diag.Error {
			n++
		}
	}
	return n
}

// whatifJSON is the answer for programs.
type whatifJSON struct {
	FormatVersion string        `json:"format_version"`
	Holds         bool          `json:"holds"`
	Proven        int           `json:"failures_proven"` // of further failures, those that stand alike included
	Kinds         int           `json:"failures_kinds"`
	Anyway        []verdictJSON `json:"anyway"` // what is wrong with or without the failures
	Failed        []failedJSON  `json:"failed"` // what --fail takes out, and each kind of further failure that breaks something
	Open          []string      `json:"not_proven"`
	Besides       int           `json:"errors_besides"` // in the fabric as it is, of no property
	Shut          []string      `json:"shut,omitempty"` // cabled ports with admin = "down", which are down in every proof
}

type failedJSON struct {
	Down       []string      `json:"down"`
	WithIt     []string      `json:"down_with_it,omitempty"` // nodes without a cable that is up, and NICs of others
	Alike      int           `json:"alike"`
	Properties []verdictJSON `json:"properties"`
}

type verdictJSON struct {
	Property    string                `json:"property"`
	Holds       bool                  `json:"holds"`
	NotProven   []string              `json:"not_proven,omitempty"`
	Diagnostics []diag.JSONDiagnostic `json:"diagnostics,omitempty"`
}

func (p *project) verdictsJSON(list []lint.Verdict) []verdictJSON {
	out := []verdictJSON{}
	for _, v := range list {
		j := verdictJSON{Property: v.Property.String(), Holds: len(v.Broken) == 0, NotProven: v.Open}
		if len(v.Broken) > 0 {
			j.Diagnostics = diag.JSON(v.Broken, p.view, ruleOf)
		}
		out = append(out, j)
	}
	return out
}

func (p *project) failedJSON(o *lint.Outcome) failedJSON {
	f := p.res.Fabric
	j := failedJSON{Alike: o.Alike, Properties: p.verdictsJSON(o.Verdicts)}
	for l := range o.Mask.Links {
		j.Down = append(j.Down, f.LinkAddress(l))
	}
	for d := range o.Mask.Devices {
		j.Down = append(j.Down, f.Text(f.Devices[d].Address))
	}
	slices.Sort(j.Down)
	nodes, nics := downWith(f, o.Mask)
	j.WithIt = append(nodes, nics...)
	return j
}

// shutPorts are the cabled ports that the source shuts.
func shutPorts(f *fabric.Fabric) (list []string) {
	for id := fabric.PortID(1); int(id) < len(f.Ports); id++ {
		if f.Ports[id].Link != 0 && f.Ports[id].Flags&fabric.ShutDown != 0 {
			list = append(list, f.PortAddress(id))
		}
	}
	return list
}

// downWith are the nodes that have no cable left with a mask, and the NICs without
// one of nodes that have others.
func downWith(f *fabric.Fabric, m *fabric.Mask) (nodes, nics []string) {
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		if f.Devices[d].Kind != fabric.Node || m.Devices[d] {
			continue
		}
		first, end := f.PortsOf(d)
		cables, before := 0, len(nics)
		for id := first; id < end; id++ {
			if l := f.Ports[id].Link; l != 0 && f.Up(l, nil) {
				cables++
				if !f.Up(l, m) {
					nics = append(nics, f.PortAddress(id))
				}
			}
		}
		if lost := len(nics) - before; lost > 0 && lost == cables {
			nodes, nics = append(nodes, f.Text(f.Devices[d].Address)), nics[:before]
		}
	}
	return nodes, nics
}

// first names some of a list.
func first(list []string) string {
	const most = 3
	if len(list) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
	}
	return strings.Join(list, ", ")
}

// answer prints the verdicts, and ends with 2 if some property breaks.
func (a *app) answer(p *project, w *whatif) error {
	holds, shown := true, []*lint.Outcome{}
	if w.before != nil {
		shown = append(shown, w.before)
	}
	proven := 0
	for _, o := range w.failed {
		if proven += o.Alike; o.Broken() {
			shown = append(shown, o)
		}
	}
	for _, o := range shown {
		holds = holds && !o.Broken()
	}
	for _, v := range w.standing {
		holds = holds && len(v.Broken) == 0
	}
	j := whatifJSON{FormatVersion: "1.0", Holds: holds, Proven: proven, Kinds: len(w.failed), Anyway: p.verdictsJSON(w.standing), Failed: []failedJSON{}, Open: w.notProven(), Besides: p.besides(), Shut: shutPorts(p.res.Fabric)}
	for _, o := range shown {
		j.Failed = append(j.Failed, p.failedJSON(o))
	}
	if err := a.object(j, func() error { a.whatifText(p, w, shown, proven); return nil }); err != nil {
		return err
	}
	if !holds {
		return exit(2)
	}
	return nil
}

// notProven are the reasons why something is not proven, each once.
func (w *whatif) notProven() []string {
	list := slices.Clone(w.open)
	all := w.failed
	if w.before != nil {
		all = append([]*lint.Outcome{w.before}, all...)
	}
	for _, o := range all {
		for _, v := range o.Verdicts {
			for _, why := range v.Open {
				if s := v.Property.String() + ": " + why; !slices.Contains(list, s) {
					list = append(list, s)
				}
			}
		}
	}
	return list
}

// isOpen reports whether something of a property is not proven.
func (w *whatif) isOpen(pr fabric.Property) bool {
	return slices.ContainsFunc(w.notProven(), func(why string) bool { return strings.HasPrefix(why, pr.String()+": ") })
}

// whatifText prints a line for each property, then what breaks it.
func (a *app) whatifText(p *project, w *whatif, shown []*lint.Outcome, proven int) {
	var broken diag.List
	for pr := fabric.Property(0); pr < fabric.PropertyCount; pr++ {
		if !w.set.Has(pr) {
			continue
		}
		fmt.Fprintf(a.out, "%-13s %s\n", pr, w.line(pr, shown, proven, &broken))
	}
	for _, why := range w.notProven() {
		fmt.Fprintf(a.out, "not proven    %s\n", why)
	}
	if w.before != nil {
		nodes, nics := downWith(p.res.Fabric, w.before.Mask)
		if len(nodes) > 0 {
			fmt.Fprintf(a.out, "down with it  %s: cut off\n", first(nodes))
		}
		if len(nics) > 0 {
			fmt.Fprintf(a.out, "down with it  %s, of nodes that have others\n", first(nics))
		}
	}
	if shut := shutPorts(p.res.Fabric); len(shut) > 0 {
		fmt.Fprintf(a.out, "down anyway   %s: admin = \"down\"\n", first(shut))
	}
	if n := p.besides(); n > 0 {
		fmt.Fprintf(a.out, "besides       %s in the fabric as it is, of no property: rocec validate\n", count(n, "error"))
	}
	if len(broken) > 0 {
		fmt.Fprintln(a.out)
		diag.Text(a.out, diag.Fold(broken), p.view, a.textOptions(a.out))
	}
}

// maxBreaks bounds the counterexamples of one property that are printed.
const maxBreaks = 4

// line says what becomes of a property, and adds its counterexamples to broken.
func (w *whatif) line(pr fabric.Property, shown []*lint.Outcome, proven int, broken *diag.List) string {
	add := func(list diag.List) {
		for i, d := range list {
			if i == maxBreaks {
				break
			}
			broken.Add(d)
		}
	}
	for _, v := range w.standing {
		if v.Property == pr && len(v.Broken) > 0 {
			add(v.Broken)
			return fmt.Sprintf("is broken whatever fails: %s", count(len(v.Broken), "finding"))
		}
	}
	var with []string
	failures, printed := 0, 0
	for _, o := range shown {
		for _, v := range o.Verdicts {
			if v.Property != pr || len(v.Broken) == 0 {
				continue
			}
			failures += o.Alike
			if len(with) < maxBreaks {
				with = append(with, o.Names)
			}
			if printed++; printed <= maxBreaks {
				add(v.Broken)
			}
		}
	}
	switch {
	case len(with) > 0 && proven == 0:
		return "breaks with " + with[0] + " down"
	case len(with) > 0:
		return fmt.Sprintf("breaks under %s of %d, for example with %s down", count(failures, "failure"), proven, strings.Join(with, "; with "))
	case w.isOpen(pr):
		return "is not proven whole"
	case !lint.ByPath.Has(pr):
		return "holds: it rests on each port and link by itself"
	case proven > 0 && len(w.open) > 0:
		return fmt.Sprintf("holds under %s in %s, and more were not looked at", count(proven, "failure"), count(len(w.failed), "kind"))
	case proven > 0:
		return fmt.Sprintf("holds under all of %s in %s", count(proven, "failure"), count(len(w.failed), "kind"))
	}
	return "holds"
}
