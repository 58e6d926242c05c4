package main

import (
	"fmt"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/spf13/cobra"
)

func (a *app) validateCommand() *cobra.Command {
	var in inputs
	var f forms
	var properties []string
	noTests := false
	c := &cobra.Command{
		Use: "validate", Short: "Check types, references, capability limits and every proof", Args: cobra.NoArgs,
		Long: `validate compiles the fabric and checks what each target can say of it. It reports
errors and warnings; rocec lint reports everything.`,
		Example: "  rocec validate --as-of=2027-01-31\n  rocec validate --failures=1 --property=deadlock",
		RunE: func(*cobra.Command, []string) error {
			set, err := propertySet(properties)
			if err != nil {
				return err
			}
			if in.failures < 0 || in.failures > schema.MaxFailures {
				return fmt.Errorf("failures is a number up to %d, not %d", schema.MaxFailures, in.failures)
			}
			in.properties = set
			if err := f.check(); err != nil {
				return err
			}
			if f.format == "auto" {
				f.format = a.auto()
			}
			p, err := a.load(&in, false)
			if err != nil {
				return err
			}
			p.devices()
			p.checks()
			if !noTests {
				if err := p.tests(); err != nil {
					return err
				}
			}
			p.diags = ofProperties(p.diags, set)
			p.rows(p.diags)
			list := atLeast(p.diags, diag.Warning)
			a.json = a.json || f.format == "json"
			if a.wantsJSON() {
				(&linter{app: a}).fixesOf(p, list)
				if err := a.writeJSON(p.verdict(list)); err != nil {
					return err
				}
			}
			all := []findings{{view: p.view, list: list}}
			if err := a.lintFiles(&f, all, diag.Error); err != nil {
				return err
			}
			switch {
			case a.json:
			case f.format == "text":
				a.print(p, list)
			default:
				if err := a.lintForm(a.out, f.format, all, diag.Error, false); err != nil {
					return err
				}
			}
			if list.HasErrors() {
				return exit(1)
			}
			if !a.json && !a.quiet && f.format == "text" {
				fmt.Fprintln(a.out, p.success())
			}
			return nil
		},
	}
	in.flags(c)
	f.flags(c)
	c.Flags().IntVar(&in.failures, "failures", 0, "prove again with up to this `NUMBER` of links and switches down at a time; more than analysis says")
	c.Flags().StringArrayVar(&properties, "property", nil, "prove `NAME` only: "+strings.Join(schema.Properties, ", ")+" (repeatable)")
	c.Flags().BoolVar(&noTests, "no-tests", false, "leave out the files of tests, which are read and not run")
	return c
}

// propertySet is a set of properties by their words, 0 for none.
func propertySet(words []string) (set fabric.PropertySet, err error) {
	for _, w := range words {
		p, ok := fabric.PropertyNamed(w)
		if !ok {
			return 0, oneOf("property", w, schema.Properties...)
		}
		set = set.With(p)
	}
	return set, nil
}

// ofProperties leaves out what rules of other properties found. 0 is all of them.
func ofProperties(list diag.List, set fabric.PropertySet) diag.List {
	if set == 0 {
		return list
	}
	return list.Keep(func(d *diag.Diagnostic) bool {
		p, is := lint.PropertyOf(d.Rule)
		return !is || set.Has(p)
	})
}

// success says what was proven, and over how much.
func (p *project) success() string {
	f := p.res.Fabric
	with := ""
	if v := p.verdict(p.diags); v.WarningCount > 0 {
		with = ", with " + count(v.WarningCount, "warning")
	}
	return fmt.Sprintf("The fabric is valid%s: %s, %s, %s.", with, count(len(f.Devices)-1, "device"), count(len(f.Links)-1, "link"), count(len(f.Segments)-1, "segment"))
}

// checks evaluates the conditions of check blocks over the compiled fabric.
func (p *project) checks() {
	if !p.loaded() {
		return
	}
	view := p.fabricView()
	var found diag.List
	for _, c := range p.cfg.Checks {
		holds, message, diags := p.cfg.Eval(c, view)
		found = append(found, diags...)
		if holds || diags.HasErrors() {
			continue
		}
		if message == "" {
			message = "its condition is false"
		}
		found.Add(diag.Diagnostic{
			Summary: fmt.Sprintf("check %s fails: %s", c.Name, message), Address: "check." + c.Name,
			Labels: []diag.Label{{Span: c.Span, Where: fmt.Sprintf("check %q", c.Name)}},
		})
	}
	p.diags = append(p.diags, diag.Fold(found)...)
}
