package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/all"
	"github.com/rocec/rocec/targets/feature"
	"github.com/spf13/cobra"
)

func (a *app) capabilitiesCommand() *cobra.Command {
	var in inputs
	whole := false
	c := &cobra.Command{
		Use: "capabilities [TARGET|MODEL]", Short: "What a target or model can do, with the source of each fact", Args: cobra.MaximumNArgs(1),
		Long: `Prints what the emitter of a target can say, or the data of a model, with the source
of each fact; without a name it lists the targets, and what the source may name: models
of switches and NICs, contracts to start from, media of cables.

With --fabric it reads the fabric and prints what the packet buffers of its switches
have to hold: pools, the headroom of all lossless groups, the dynamic threshold of
each class, whether ECN marks before PFC pauses with one queue congested and with all
of them, and how many lossless priorities fit. Switches that are alike stand together.`,
		Example: "  rocec capabilities sonic\n  rocec capabilities nvidia/sn3700\n  rocec capabilities --fabric",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return append(all.Names(), packs.Names()...), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if whole {
				if len(args) > 0 {
					return errors.New("--fabric is about the fabric of the folder: leave out the name")
				}
				return a.fabricBuffers(&in)
			}
			for _, flag := range []string{"var", "var-file", "as-of"} {
				if c.Flags().Changed(flag) {
					return fmt.Errorf("--%s goes with --fabric", flag)
				}
			}
			if len(args) == 0 {
				return a.matrix()
			}
			if t := all.Find(args[0]); t != nil {
				return a.targetFeatures(t)
			}
			return a.model(args[0])
		},
	}
	in.flags(c)
	c.Flags().BoolVar(&whole, "fabric", false, "what the buffers of the switches of this fabric have to hold")
	return c
}

// fabricBuffers prints the buffers of the fabric of the folder.
func (a *app) fabricBuffers(in *inputs) error {
	p, err := a.load(in, false)
	if err != nil {
		return err
	}
	if !p.loaded() || p.res.Facts == nil {
		return a.stopOnErrors(p)
	}
	b := p.switchBuffers()
	return a.object(b, func() error {
		for i := range b.Switches {
			if i > 0 {
				fmt.Fprintln(a.out)
			}
			b.Switches[i].text(a.out)
		}
		if len(b.Switches) == 0 {
			fmt.Fprintln(a.out, "The fabric has no switch.")
		}
		return nil
	})
}

// packed are the kinds of data that sources name, and how.
var packed = []struct{ kind, title string }{
	{"switch_model", `Switches, model = "NAME"`},
	{"nic_model", `NICs, model = "NAME"`},
	{"qos", "Contracts to start from, from = qos.NAME"},
	{"media", `Cables, media = "NAME"`},
}

// matrix lists the targets, and the data that comes with rocec.
func (a *app) matrix() error {
	var list []map[string]any
	for _, t := range all.Targets {
		list = append(list, map[string]any{"kind": "target", "name": t.Name, "title": t.Title, "os": t.OS, "versions": t.Versions})
	}
	index := packs.Index()
	for _, p := range packed {
		for _, name := range slices.Sorted(maps.Keys(index[p.kind])) {
			list = append(list, map[string]any{"kind": p.kind, "name": name})
		}
	}
	return a.object(list, func() error {
		w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
		for _, t := range all.Targets {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.Name, strings.Join(t.OS, ", "), t.Versions, t.Title)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		for _, p := range packed {
			fmt.Fprintf(a.out, "\n%s:\n", p.title)
			for _, line := range diag.Wrap(strings.Join(slices.Sorted(maps.Keys(index[p.kind])), " "), 94) {
				fmt.Fprintf(a.out, "  %s\n", line)
			}
		}
		return nil
	})
}

func (a *app) targetFeatures(t *targets.Target) error {
	type row struct {
		Feature string `json:"feature"`
		Support string `json:"support"`
		Since   string `json:"since,omitempty"`
		Until   string `json:"until,omitempty"`
		Note    string `json:"note,omitempty"`
		Source  string `json:"source,omitempty"`
	}
	var rows []row
	for _, id := range feature.All {
		r := t.Features.Find(id, "")
		rows = append(rows, row{string(id), r.Support.String(), r.Since, r.Until, r.Note, r.Source})
	}
	return a.object(map[string]any{"target": t.Name, "title": t.Title, "os": t.OS, "features": rows}, func() error {
		fmt.Fprintf(a.out, "%s: %s\n\n", t.Name, t.Title)
		for _, r := range rows {
			since := ""
			if r.Since != "" {
				since = "since " + r.Since
			}
			fmt.Fprintln(a.out, strings.TrimRight(fmt.Sprintf("%-24s %-9s %s", r.Feature, r.Support, since), " "))
			for _, more := range []string{r.Note, r.Source} {
				if more != "" {
					fmt.Fprintf(a.out, "    %s\n", more)
				}
			}
		}
		return nil
	})
}

// model prints the data of a model as the pack states it: every fact with its
// source, in the language itself.
func (a *app) model(name string) error {
	file, ok := packs.FileOf(name)
	if !ok {
		return fmt.Errorf("there is no target and no model %q (%s)", name, namesLike(name))
	}
	text, err := fs.ReadFile(packs.Files(), file)
	if err != nil {
		return err
	}
	block := blockText(string(text), name)
	return a.object(map[string]string{"name": name, "file": file, "text": block}, func() error {
		_, err := io.WriteString(a.out, block)
		return err
	})
}

// namesLike says which names there are instead: those with the text in them, if they are few.
func namesLike(name string) string {
	var names []string
	for _, n := range append(all.Names(), packs.Names()...) {
		if name != "" && strings.Contains(n, strings.ToLower(name)) {
			names = append(names, n)
		}
	}
	if len(names) == 0 || len(names) > 20 {
		return "rocec capabilities lists them"
	}
	return "there is " + strings.Join(names, ", ")
}

// blockText cuts a top-level block out of a formatted file: from its header to
// the brace in column one.
func blockText(text, name string) string {
	at := strings.Index(text, ` "`+name+`" {`)
	if at < 0 {
		return text
	}
	start := strings.LastIndexByte(text[:at], '\n') + 1
	if end := strings.Index(text[at:], "\n}\n"); end >= 0 {
		return text[start : at+end+3]
	}
	return text[start:]
}
