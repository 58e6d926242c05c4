package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/rocec/rocec/cmd/rocec/internal/fabricgen"
	"github.com/spf13/cobra"
)

func (a *app) generateCommand() *cobra.Command {
	var o fabricgen.Options
	var preset, form string
	c := &cobra.Command{
		Use: "generate DIR", Short: "Write the source of a large fabric, for measuring", Args: cobra.ExactArgs(1), Hidden: true,
		Example: "  rocec generate --preset=fabric-100k --form=written fabric",
		RunE: func(_ *cobra.Command, args []string) error {
			p, known := fabricgen.PresetNamed(preset)
			if err := oneOf("form", form, string(fabricgen.Compact), string(fabricgen.Written)); err != nil {
				return err
			}
			if preset != "" && !known {
				return fmt.Errorf("preset is %s, not %q", presetNames(), preset)
			}
			if err := within(args[0]); err != nil {
				return err
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			if list, err := os.ReadDir(args[0]); err != nil || len(list) > 0 {
				return errors.Join(err, fmt.Errorf("%s is not empty", args[0]))
			}
			var size fabricgen.Size
			var err error
			if known {
				size, err = fabricgen.WritePreset(args[0], p, fabricgen.Form(form), o.PerFile)
			} else {
				size, err = fabricgen.Write(args[0], o)
			}
			if err != nil {
				return err
			}
			return a.object(size, func() error {
				_, err := fmt.Fprintf(a.out, "Wrote %d nodes with %d NICs, %d switches and %d links: %d files, %d bytes.\n", size.Nodes, size.NICs, size.Switches, size.Links, size.Files, size.Bytes)
				return err
			})
		},
	}
	c.Flags().StringVar(&preset, "preset", "", "`NAME` of a known fabric: "+presetNames())
	c.Flags().StringVar(&form, "form", "compact", "`FORM` of a preset: compact, written")
	c.Flags().IntVar(&o.Nodes, "nodes", 0, "`NUMBER` of nodes")
	c.Flags().IntVar(&o.NICs, "nics", 0, "`NUMBER` of NICs of a node")
	c.Flags().IntVar(&o.PerFile, "per-file", 0, "`NUMBER` of blocks in a file")
	return c
}

func presetNames() string {
	var names []string
	for _, p := range fabricgen.Presets {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}
