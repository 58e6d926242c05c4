package main

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/compiler/lower"
	"github.com/rocec/rocec/compiler/resolve"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
	"github.com/spf13/cobra"
)

func (a *app) explainCommand() *cobra.Command {
	var in inputs
	c := &cobra.Command{
		Use: "explain WHAT", Short: "Explain a rule, an address, an attribute, or FILE:LINE of an artifact", Args: cobra.ExactArgs(1),
		Example: `  rocec explain ROCE301
  rocec explain link_pfc_priorities
  rocec explain 'switch.tor.port[Ethernet0]'
  rocec explain class.bandwidth
  rocec explain out/n1/rocec-netqos.ps1:120`,
		ValidArgsFunction: ruleNames,
		RunE: func(_ *cobra.Command, args []string) error {
			what := args[0]
			if r := ruleOf(what); r != nil {
				return a.explainRule(r)
			}
			if done, err := a.explainAttribute(what); done {
				return err
			}
			p, err := a.load(&in, false)
			if err != nil {
				return err
			}
			if !p.loaded() {
				a.print(p, atLeast(p.diags, diag.Error))
				return exit(1)
			}
			if file, line, ok := fileLine(what); ok {
				return a.explainArtifact(p, file, line)
			}
			return a.explainAddress(p, what)
		},
	}
	in.flags(c)
	return c
}

func (a *app) explainRule(r *diag.Rule) error {
	if a.json {
		return a.writeJSON(r)
	}
	fmt.Fprintf(a.out, "%s %s (%s)\n\n  %s\n\nWhy: %s.\nFix: %s.\nSource: %s.\n", r.ID, r.Name, r.Severity, r.Title, r.Why, r.Fix, r.Source)
	if r.Hard {
		fmt.Fprintln(a.out, "Neither a comment nor an override silences it.")
	}
	fmt.Fprintf(a.out, "\nA fabric that breaks it:\n\n%s\n", indent(strings.TrimSpace(r.Bad)))
	return nil
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }

// explainAttribute explains block.attribute or a block of the language.
func (a *app) explainAttribute(what string) (bool, error) {
	block, name, _ := strings.Cut(what, ".")
	for k := schema.None + 1; k < schema.KindCount; k++ {
		def := schema.Def(k)
		if def.Word != block {
			continue
		}
		if name == "" {
			fmt.Fprintf(a.out, "%s: %s\n\n", def.Word, def.Doc)
			for i := range def.Attrs {
				fmt.Fprintf(a.out, "  %-18s %s\n", def.Attrs[i].Num.Name(), def.Attrs[i].Doc)
			}
			return true, nil
		}
		if at := schema.Lookup(k, name); at != nil {
			fmt.Fprintf(a.out, "%s.%s (%s): %s\n", def.Word, name, typeText(at.Type), at.Doc)
			return true, nil
		}
	}
	return false, nil
}

func fileLine(what string) (file string, line int, ok bool) {
	i := strings.LastIndexByte(what, ':')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(what[i+1:])
	return what[:i], n, err == nil && n > 0
}

// explainArtifact says which setting a line of an artifact came from, and where
// that stands in the source. The artifact is emitted again: it must be the one
// that this source gives.
func (a *app) explainArtifact(p *project, file string, line int) error {
	devices := p.devices()
	if p.diags.HasErrors() {
		a.print(p, atLeast(p.diags, diag.Error))
		return exit(1)
	}
	for i := range devices {
		d := &devices[i]
		for _, art := range artifacts(d, true) {
			if !strings.HasSuffix("/"+file, "/"+d.intent.Name+"/"+art.Path) {
				continue
			}
			at := sort.Search(len(art.Lines), func(i int) bool { return art.Lines[i].Number > line }) - 1
			if at < 0 || art.Lines[at].Number != line {
				fmt.Fprintf(a.out, "%s:%d belongs to no single setting: it is part of what %s always writes\n", file, line, d.target.Name)
				return nil
			}
			path := art.Lines[at].Path
			fmt.Fprintf(a.out, "%s:%d is %s of %s\n", file, line, path, d.address)
			a.places(p, p.res.Origin(d.id, path))
			return nil
		}
	}
	return fmt.Errorf("no device has an artifact %s", file)
}

// places prints where values come from.
func (a *app) places(p *project, labels []diag.Label) {
	for _, l := range labels {
		if l.Span.IsZero() {
			continue
		}
		pos, _, _ := p.view.Range(l.Span)
		fmt.Fprintf(a.out, "  from %s line %d, in %s\n", p.view.Name(l.Span.File), pos.Line, l.Where)
		for _, v := range l.Values {
			fmt.Fprintf(a.out, "    %s\n", v)
		}
	}
}

// explainAddress shows what a port, device or link is, and why.
func (a *app) explainAddress(p *project, what string) error {
	f := p.res.Fabric
	for id := 1; id < len(f.Ports); id++ {
		if resolve.Match(what, f.PortAddress(fabric.PortID(id))) {
			a.explainPort(p, fabric.PortID(id))
			return nil
		}
	}
	for id := 1; id < len(f.Devices); id++ {
		if resolve.Match(what, f.Text(f.Devices[id].Address)) {
			return a.explainDevice(p, fabric.DeviceID(id))
		}
	}
	return fmt.Errorf("%q is no rule, no attribute of the language and no address of this fabric", what)
}

func (a *app) explainPort(p *project, id fabric.PortID) {
	f := p.res.Fabric
	port := &f.Ports[id]
	fmt.Fprintf(a.out, "%s\n", f.PortAddress(id))
	if port.Peer != 0 {
		fmt.Fprintf(a.out, "  peer: %s by %s\n", f.PortAddress(port.Peer), f.LinkAddress(port.Link))
	}
	if dev := p.res.Intent(port.Device); dev != nil {
		for path, v := range dev.Fields {
			if path.Object != intent.OfPort || path.Name != portIntentName(f, id) || v.State == intent.Unmanaged || path.Field == "" {
				continue
			}
			fmt.Fprintf(a.out, "  %-18s = %s\n", path.Field, v.Text)
			a.chain(p, p.res.Origin(port.Device, path))
		}
	}
	x := p.res.Facts.Port(id)
	for priority, h := range x.Headroom {
		if h.Source != 0 {
			fmt.Fprintf(a.out, "  headroom of priority %d: xoff %d B, by %s (the reference formula gives %d B, the physical minimum is %d B)\n", priority, h.Xoff, sourceName(h.Source), h.Reference, h.Minimum)
		}
	}
}

// portIntentName is a port's name in its device's intent: hosts use the name
// in the operating system.
func portIntentName(f *fabric.Fabric, id fabric.PortID) string {
	port := &f.Ports[id]
	if port.NIC != 0 {
		return f.Text(f.NICs[port.NIC].Device)
	}
	return f.Text(port.Name)
}

func (a *app) chain(p *project, labels []diag.Label) {
	for _, l := range labels {
		if l.Span == (source.Span{}) {
			continue
		}
		pos, _, _ := p.view.Range(l.Span)
		fmt.Fprintf(a.out, "    %s:%d, in %s\n", p.view.Name(l.Span.File), pos.Line, l.Where)
	}
}

func (a *app) explainDevice(p *project, id fabric.DeviceID) error {
	f := p.res.Fabric
	dev := p.res.Intent(id)
	fmt.Fprintf(a.out, "%s\n", f.Text(f.Devices[id].Address))
	if dev == nil {
		fmt.Fprintln(a.out, "  rocec never touches it")
		return nil
	}
	for _, c := range lower.Selected(f, id) {
		fmt.Fprintf(a.out, "  emitter: %s\n", c.Emitter)
	}
	if a.json {
		return a.writeJSON(dev)
	}
	for path, v := range dev.Fields {
		if v.State != intent.Unmanaged {
			fmt.Fprintf(a.out, "  %s = %s\n", path, v.Text)
		}
	}
	return nil
}
