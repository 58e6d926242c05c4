package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rocec/rocec/cmd/rocec/internal/document"
	"github.com/rocec/rocec/cmd/rocec/internal/picture"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/spf13/cobra"
)

func (a *app) graphCommand() *cobra.Command {
	in := &inputs{}
	var kind, format string
	var marks, fail []string
	formats := append(slices.Sorted(maps.Keys(picture.Formats)), "csv")
	c := &cobra.Command{
		Use: "graph", Short: "A picture of the fabric", Args: cobra.NoArgs,
		Long: `Draws the compiled fabric: its devices by tiers (physical) or which port is
cabled to which (cabling). Large fabrics are drawn by groups of devices that are
alike, with counts; the DOT and CSV forms of the cabling always list every cable.

The buffer graph (buffer) is what the proof against deadlock looks at: each lossless
buffer, and those that it waits for. A circle of them stands out. As JSON it is counted
in full: vertices, edges, the sizes of what hangs together in circles, and the shortest
circle with a flow for each of its steps. A large graph is drawn around its circle only.`,
		Example: "  rocec graph --format=svg > fabric.svg\n  rocec graph --kind=cabling --format=dot > topology.dot   # as ptmd reads it\n  rocec graph --highlight='node.gpu[\"gpu07\"]'\n  rocec graph --kind=buffer --fail=switch.spine1 --json",
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				format = "json"
			}
			if err := errors.Join(oneOf("kind", kind, "physical", "cabling", "buffer"), oneOf("format", format, formats...)); err != nil {
				return err
			}
			if format == "csv" && kind != "cabling" {
				return errors.New("csv is a list of cables: add --kind=cabling")
			}
			if kind == "buffer" {
				return a.buffers(in, fail, format)
			}
			if len(fail) > 0 {
				return errors.New("fail is about the buffer graph: add --kind=buffer")
			}
			p, err := a.proven(in)
			if err != nil {
				return err
			}
			o := picture.Options{Highlight: map[fabric.DeviceID]bool{}}
			if kind == "cabling" {
				o.Kind = picture.Cabling
			}
			if err := highlight(p.res.Fabric, marks, o.Highlight); err != nil {
				return err
			}
			if format == "csv" {
				return document.CablesCSV(a.out, p.res.Fabric)
			}
			return picture.Formats[format](a.out, p.res.Fabric, o)
		},
	}
	in.flags(c)
	c.Flags().StringVar(&kind, "kind", "physical", "`WHAT` to draw: physical, cabling, buffer")
	c.Flags().StringVar(&format, "format", "svg", "`FORMAT`: dot, json, mermaid, svg; csv of the cabling")
	c.Flags().StringArrayVar(&marks, "highlight", nil, "`ADDRESS` or name of a device, port or link to stand out (repeatable, globs)")
	c.Flags().StringArrayVar(&fail, "fail", nil, "`ADDRESS` or name of a link, port or switch that is down in the buffer graph (repeatable, globs)")
	return c
}

// proven is a configuration that compiles; findings are printed, and errors end
// the command.
func (a *app) proven(in *inputs) (*project, error) {
	p, err := a.load(in, false)
	if err != nil {
		return nil, err
	}
	p.checks()
	return p, a.stopOnErrors(p)
}

// highlight finds the devices that addresses speak of: themselves, or those a
// port or link belongs to.
func highlight(f *fabric.Fabric, patterns []string, into map[fabric.DeviceID]bool) error {
	for _, pattern := range patterns {
		found := false
		mark := func(d fabric.DeviceID) { into[d], found = true, true }
		for _, d := range devicesNamed(f, pattern) {
			mark(d)
		}
		if !found {
			for _, p := range portsNamed(f, pattern) {
				mark(f.Ports[p].Device)
			}
		}
		if !found {
			for _, l := range linksNamed(f, pattern) {
				mark(f.Ports[f.Links[l].A].Device)
				mark(f.Ports[f.Links[l].B].Device)
			}
		}
		if !found {
			return fmt.Errorf("nothing has the address %s%s", pattern, meant(f, pattern))
		}
	}
	return nil
}
