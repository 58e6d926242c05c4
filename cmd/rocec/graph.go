package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rocec/rocec/cmd/rocec/internal/document"
	"github.com/rocec/rocec/cmd/rocec/internal/picture"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/resolve"
	"github.com/spf13/cobra"
)

func (a *app) graphCommand() *cobra.Command {
	in := &inputs{}
	var kind, format string
	var marks []string
	formats := append(slices.Sorted(maps.Keys(picture.Formats)), "csv")
	c := &cobra.Command{
		Use: "graph", Short: "A picture of the fabric", Args: cobra.NoArgs,
		Long: `Draws the compiled fabric: its devices by tiers (physical) or which port is
cabled to which (cabling). Large fabrics are drawn by groups of devices that are
alike, with counts; the DOT and CSV forms of the cabling always list every cable.`,
		Example: "  rocec graph --format=svg > fabric.svg\n  rocec graph --kind=cabling --format=dot > topology.dot   # as ptmd reads it\n  rocec graph --highlight='node.gpu[\"gpu07\"]'",
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				format = "json"
			}
			if err := errors.Join(oneOf("kind", kind, "physical", "cabling"), oneOf("format", format, formats...)); err != nil {
				return err
			}
			if format == "csv" && kind != "cabling" {
				return errors.New("csv is a list of cables: add --kind=cabling")
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
	c.Flags().StringVar(&kind, "kind", "physical", "`WHAT` to draw: physical, cabling")
	c.Flags().StringVar(&format, "format", "svg", "`FORMAT`: dot, json, mermaid, svg; csv of the cabling")
	c.Flags().StringArrayVar(&marks, "highlight", nil, "`ADDRESS` of a device, port or link to stand out (repeatable, globs)")
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
		for d := 1; d < len(f.Devices); d++ {
			if resolve.Match(pattern, f.Text(f.Devices[d].Address)) || strings.EqualFold(pattern, f.Text(f.Devices[d].Name)) {
				mark(fabric.DeviceID(d))
			}
		}
		for p := 1; !found && p < len(f.Ports); p++ {
			if resolve.Match(pattern, f.PortAddress(fabric.PortID(p))) {
				mark(f.Ports[p].Device)
			}
		}
		for l := 1; !found && l < len(f.Links); l++ {
			if resolve.Match(pattern, f.LinkAddress(fabric.LinkID(l))) {
				mark(f.Ports[f.Links[l].A].Device)
				mark(f.Ports[f.Links[l].B].Device)
			}
		}
		if !found {
			return fmt.Errorf("nothing has the address %s", pattern)
		}
	}
	return nil
}
