package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/targets/all"
	"github.com/rocec/rocec/targets/feature"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) docsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "docs DIR", Short: "Print the reference pages from the program's own tables", Args: cobra.ExactArgs(1), Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			for name, text := range a.pages(c.Root()) {
				path := filepath.Join(args[0], filepath.FromSlash(name))
				if err := within(path); err != nil {
					return err
				}
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					return err
				}
				if err := replaceFile(path, text, 0o644); err != nil {
					return fmt.Errorf("write %s: %w", path, err)
				}
			}
			return nil
		},
	}
}

// pages are the generated documents, by path below docs/.
func (a *app) pages(root *cobra.Command) map[string][]byte {
	pages := map[string][]byte{
		"language/blocks.md":    languagePage(),
		"language/functions.md": functionsPage(),
		"rules.md":              rulesPage(),
		"targets.md":            targetsPage(),
		"commands.md":           commandsPage(root),
	}
	for _, r := range rules() {
		pages["rules/"+r.ID+".md"] = rulePage(r)
	}
	return pages
}

const generated = "<!-- Printed by `rocec docs`; a test keeps it equal to the program. -->\n\n"

func languagePage() []byte {
	var b bytes.Buffer
	b.WriteString(generated + "# Blocks of the language\n")
	for k := schema.None + 1; k < schema.KindCount; k++ {
		def := schema.Def(k)
		title := def.Word
		if k == schema.TierLink {
			title += " of a tier"
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", title, def.Doc)
		if head := header(def); head != "" {
			fmt.Fprintf(&b, "\n```hcl\n%s\n```\n", head)
		}
		if len(def.Attrs) > 0 {
			b.WriteString("\n| attribute | value | meaning | left out |\n| --- | --- | --- | --- |\n")
			for _, at := range inOrder(def) {
				name := attrWord(&at)
				if k.Tier() && schema.Lookup(schema.TierLink, at.Num.Name()) != nil {
					continue // it stands in that block
				}
				if at.Required {
					name += " (required)"
				}
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, cell(typeText(at.Type)), cell(docOf(&at)), cell(schema.LeftOutOf(k, &at).Text()))
			}
		}
		if def.Free {
			b.WriteString("\nTakes attributes of other names as well.\n")
		}
		if len(def.Blocks) > 0 {
			var inner []string
			for _, in := range def.Blocks {
				inner = append(inner, "`"+in.String()+"`")
			}
			fmt.Fprintf(&b, "\nBlocks inside: %s.\n", strings.Join(inner, ", "))
		}
	}
	return b.Bytes()
}

// inOrder are the attributes of a block as its documents list them: what is wanted, then what was seen.
func inOrder(def *schema.BlockDef) []schema.AttrDef { return append(def.Plain(), def.Seen()...) }

// attrWord is an attribute as it is written in its block.
func attrWord(at *schema.AttrDef) string {
	if at.Observed {
		return schema.AObserved.Name() + "." + at.Num.Name()
	}
	return at.Num.Name()
}

func header(def *schema.BlockDef) string {
	head := def.Word
	for _, l := range def.Labels {
		name := strings.ToUpper(l.Name)
		if len(l.Enum) > 0 {
			name = strings.Join(l.Enum, "|")
		}
		head += fmt.Sprintf(" %q", name)
	}
	if def.Each {
		return head + " {\n  for_each = ...\n  enabled  = true\n}"
	}
	return head + " {\n}"
}

// docOf is what an attribute means, and what it was called in earlier editions of the language.
func docOf(at *schema.AttrDef) string {
	if len(at.Former) == 0 {
		return at.Doc
	}
	return fmt.Sprintf("%s; called `%s` before language %d", at.Doc, strings.Join(at.Former, "`, `"), schema.Language)
}

// typeText shows a type in a few words.
func typeText(t schema.Type) string {
	text := ""
	switch t.Base {
	case schema.String:
		text = "text"
		if len(t.Enum) > 0 {
			text = `"` + strings.Join(t.Enum, `", "`) + `"`
		}
	case schema.Bool:
		text = "true or false"
	case schema.Int:
		text = "number"
		if t.Max > 0 {
			text = fmt.Sprintf("number %d to %d", t.Min, t.Max)
		}
		if t.Max > 0 && t.Min == t.Max {
			text = fmt.Sprint(t.Max)
		}
	case schema.Percent:
		text = "percent"
	case schema.Speed:
		text = `speed: "100G"`
	case schema.Length:
		text = `length: "3m"`
	case schema.Time:
		text = `time: "200ms"`
	case schema.Delay:
		text = `delay: "250ns"`
	case schema.Bytes:
		text = `size: "150KB", "150KiB" or bytes`
	case schema.DSCP:
		text = `DSCP: 26 or "af31"`
	case schema.Alpha:
		text = `number or "1/8"`
	case schema.Cap:
		text = "speed or percent"
	case schema.Range:
		text = `names: "swp[1-4]"`
	case schema.CIDR:
		text = "address/length"
	case schema.Addr:
		text = "address"
	case schema.Date:
		text = "date: 2027-01-31"
	case schema.Host:
		text = "host name or address"
	case schema.EnvVar:
		text = "name of an environment variable"
	case schema.HostKey:
		text = "fingerprint or key"
	case schema.Ref:
		var kinds []string
		for _, k := range t.Refs {
			kinds = append(kinds, k.String())
		}
		text = "reference to " + strings.Join(kinds, ", ")
	case schema.Object:
		var fields []string
		for i := range t.Fields {
			fields = append(fields, t.Fields[i].Num.Name())
		}
		text = "{ " + strings.Join(fields, ", ") + " }"
	case schema.Map:
		text = "map of " + typeText(*t.Key) + " to " + typeText(*t.Elem)
	case schema.Number:
		text = "number"
	case schema.Any:
		text = "any value"
	case schema.Scalar:
		text = "text, number or bool"
	}
	if t.Many {
		text = "list of " + text
	}
	if t.Key != nil && t.Base != schema.Map {
		text += ", or a map of " + typeText(*t.Key) + " to " + typeText(*t.Elem)
	}
	if len(t.Words) > 0 {
		text += `, or "` + strings.Join(t.Words, `", "`) + `"`
	}
	return text
}

func functionsPage() []byte {
	var b bytes.Buffer
	b.WriteString(generated + "# Functions\n")
	group := ""
	for _, f := range funcs.Table(funcs.Env{}) {
		if f.Group != group && f.Group != "" {
			group = f.Group
		}
		fmt.Fprintf(&b, "\n## %s\n\n`%s` (%s)\n\n%s\n\n```hcl\n%s\n# %s\n```\n", f.Name, f.Signature, f.Group, f.Doc, f.Example, f.Result)
	}
	b.WriteString("\n# Functions that ask the compiled fabric\n\nFor `check` blocks and `rocec console`; references stand for addresses, and `*` in a text for any run of characters.\n")
	for _, f := range asking {
		fmt.Fprintf(&b, "\n## %s\n\n`%s`\n\n%s\n\n```hcl\n%s\n```\n", f.name, f.signature, f.doc, f.example)
	}
	return b.Bytes()
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func targetsPage() []byte {
	var b bytes.Buffer
	b.WriteString(generated + "# Targets\n\n" + matrix())
	for _, t := range all.Targets {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n", t.Name, strings.TrimSuffix(t.Title, "."))
		if len(t.Options) > 0 {
			b.WriteString("\n| option | value | default | meaning |\n| --- | --- | --- | --- |\n")
			for _, o := range t.Options {
				kind := string(o.Kind)
				if len(o.Values) > 0 {
					kind = strings.Join(o.Values, ", ")
				}
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", o.Name, cell(kind), cell(o.Default), cell(o.Doc))
			}
		}
		if len(t.Written) > 0 {
			b.WriteString("\n| what is written | where | what keeps it |\n| --- | --- | --- |\n")
			for _, w := range t.Written {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(w.Settings), cell(w.Place), cell(w.Lasts))
			}
		}
		if len(t.Left) > 0 {
			fmt.Fprintf(&b, "\nLeft to others:\n\n- %s.\n", strings.Join(t.Left, ";\n- "))
		}
		b.WriteString("\n| feature | support | note | source |\n| --- | --- | --- | --- |\n")
		for _, id := range feature.All {
			for _, r := range t.Features.Rows {
				if r.ID != id {
					continue
				}
				support := r.Support.String()
				if r.Since != "" {
					support += " since " + r.Since
				}
				if r.Until != "" {
					support += " until " + r.Until
				}
				fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", id, support, cell(r.Note), cell(r.Source))
			}
		}
	}
	return b.Bytes()
}

// matrix is the table of features by target, as the README has it too.
func matrix() string {
	var b strings.Builder
	b.WriteString("| feature |")
	for _, t := range all.Targets {
		b.WriteString(" " + t.Name + " |")
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(all.Targets)) + "\n")
	for _, id := range feature.All {
		fmt.Fprintf(&b, "| %s |", strings.ReplaceAll(string(id), "_", " "))
		for _, t := range all.Targets {
			fmt.Fprintf(&b, " %s |", map[feature.Support]string{feature.Native: "yes", feature.Emulated: "emulated", feature.Refused: "refused"}[t.Features.Find(id, "").Support])
		}
		b.WriteString("\n")
	}
	return b.String()
}

func commandsPage(root *cobra.Command) []byte {
	var b bytes.Buffer
	b.WriteString(generated + "# Commands\n\nFlags before or after any command:\n\n")
	flagTable(&b, root.PersistentFlags())
	commandsBelow(&b, root)
	b.WriteString("\n## Exit codes\n\n| command | code | meaning |\n| --- | --- | --- |\n")
	for _, e := range exitCodes {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", e.commands, e.code, cell(e.meaning))
	}
	b.WriteString("\n## Environment\n\n| variable | effect |\n| --- | --- |\n")
	for _, v := range variables {
		fmt.Fprintf(&b, "| `%s` | %s |\n", v.name, cell(v.doc))
	}
	return b.Bytes()
}

// commandsBelow describes the commands of one, and theirs.
func commandsBelow(b *bytes.Buffer, parent *cobra.Command) {
	for _, c := range parent.Commands() {
		if c.Hidden || c.IsAdditionalHelpTopicCommand() || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		path := strings.TrimPrefix(c.CommandPath(), "rocec ")
		line := strings.TrimSuffix(c.CommandPath(), c.Name()) + c.Use
		fmt.Fprintf(b, "\n## %s\n\n%s.\n\n```\n%s\n```\n", path, strings.TrimSuffix(c.Short, "."), line)
		if c.Long != "" {
			fmt.Fprintf(b, "\n```text\n%s\n```\n", c.Long)
		}
		if c.Example != "" {
			fmt.Fprintf(b, "\n```sh\n%s\n```\n", strings.TrimPrefix(strings.ReplaceAll(c.Example, "\n  ", "\n"), "  "))
		}
		if c.LocalNonPersistentFlags().HasFlags() {
			b.WriteString("\n")
			flagTable(b, c.LocalNonPersistentFlags())
		}
		commandsBelow(b, c)
	}
}

func flagTable(b *bytes.Buffer, flags *pflag.FlagSet) {
	b.WriteString("| flag | meaning |\n| --- | --- |\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		flag := "--" + f.Name
		if name != "" {
			flag += "=" + name
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" {
			usage += " (" + f.DefValue + ")"
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", flag, cell(usage))
	})
}

// cell makes text fit a cell of a table.
func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;", ">", "&gt;").Replace(s)
}
