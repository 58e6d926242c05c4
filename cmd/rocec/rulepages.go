package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/format"
)

// rulesPage lists the rules and says how they are set.
func rulesPage() []byte {
	var b bytes.Buffer
	b.WriteString(generated + "# Rules\n\n`rocec lint` reports what they find, `rocec explain CODE` shows one.\n\n| code | name | severity | `--fix` | what is wrong |\n| --- | --- | --- | --- | --- |\n")
	for _, r := range rules() {
		fix := ""
		if r.Fixable {
			fix = "yes"
		}
		fmt.Fprintf(&b, "| [%s](rules/%s.md) | `%s` | %s | %s | %s |\n", r.ID, r.ID, r.Name, severityText(r), fix, cell(strings.TrimSpace(r.Title)))
	}
	b.WriteString("\n## Settings\n\nA file `.rocec.hcl`, the nearest one from the folder upwards, else the one in the home folder, says how one works with the rules. `rocec lint --help` explains each line.\n\n```hcl\n")
	for line := range strings.Lines(settingsExample) {
		b.WriteString(strings.TrimPrefix(line, "  "))
	}
	b.WriteString("```\n")
	return b.Bytes()
}

func severityText(r *diag.Rule) string {
	switch {
	case r.Hard:
		return r.Severity.String() + "; nothing silences it"
	case r.Pedantic:
		return r.Severity.String() + "; pedantic: only by name, or with preset all"
	}
	return r.Severity.String()
}

// ruleSentences is what explain and the page of a rule both say of it, a sentence each.
func ruleSentences(r *diag.Rule) []string {
	list := []string{"Why: " + r.Why + ".", "Fix: " + r.Fix + "."}
	if live := r.OnLive(); live != "" {
		list = append(list, upper(live)+".")
	}
	if r.Formula != "" {
		list = append(list, "Formula: "+r.Formula+".")
	}
	if r.Needs != "" {
		list = append(list, "It finds nothing without: "+r.Needs+".")
	}
	return append(list, "Source: "+r.Source+".")
}

// rulePage is all that a rule says of itself, with what mends its bad example.
func rulePage(r *diag.Rule) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s# %s %s\n\n%s (%s).\n", generated, r.ID, r.Name, upper(strings.TrimSpace(r.Title)), severityText(r))
	for _, s := range ruleSentences(r) {
		b.WriteString("\n" + s + "\n")
	}
	switch {
	case r.Hard:
	case elsewhere(r.ID) != nil:
		b.WriteString("\nIt is found on devices, or while something is done to them: nothing in the source silences it.\n")
	case r.Severity == diag.Error:
		fmt.Fprintf(&b, "\nA finding that has to stay for a while is accepted by an override block with a reason and an end date.\n\n```hcl\noverride {\n  on      = switch.tor\n  accept  = %q\n  reason  = \"...\"\n  expires = \"2027-03-31\"\n}\n```\n", r.Name)
	default:
		fmt.Fprintf(&b, "\nA comment silences it, on its line or above it: `# rocec-ignore: %s # reason`\n", r.Name)
	}
	if r.Fixable {
		b.WriteString("\n`rocec lint --fix` mends it, where the value is written and not worked out from others.\n")
	}
	if len(r.Options) > 0 {
		fmt.Fprintf(&b, "\nLimits that `.rocec.hcl` may put elsewhere:\n\n| option | default | from | to | what |\n| --- | --- | --- | --- | --- |\n")
		for _, o := range r.Options {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", o.Name, unitOf(o, o.Default), unitOf(o, o.Min), unitOf(o, o.Max), cell(o.Doc))
		}
	}
	if r.Bad != "" && r.Good != "" && r.Bad != r.Good {
		diff := udiff.Unified("found.roce.hcl", "quiet.roce.hcl", laidOut(r.Bad), laidOut(r.Good))
		fmt.Fprintf(&b, "\n## Example\n\n```diff\n%s```\n", diff)
	}
	return b.Bytes()
}

// laidOut is an example of a rule in the layout of rocec fmt, as it is made of pieces.
func laidOut(example string) string {
	text, _ := format.Source("", []byte(strings.TrimSpace(example)+"\n"))
	return string(text)
}
