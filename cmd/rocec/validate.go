package main

import (
	"fmt"

	"github.com/rocec/rocec/lang/diag"
	"github.com/spf13/cobra"
)

func (a *app) validateCommand() *cobra.Command {
	var in inputs
	c := &cobra.Command{
		Use: "validate", Short: "Check types, references, capability limits and every proof", Args: cobra.NoArgs,
		Long: `validate compiles the fabric and checks what each target can say of it. It reports
errors and warnings; rocec lint reports everything.`,
		Example: "  rocec validate --as-of=2027-01-31",
		RunE: func(*cobra.Command, []string) error {
			p, err := a.load(&in, false)
			if err != nil {
				return err
			}
			p.devices()
			p.checks()
			list := atLeast(p.diags, diag.Warning)
			if a.wantsJSON() {
				if err := a.writeJSON(p.verdict(list)); err != nil {
					return err
				}
			}
			if !a.json {
				a.print(p, list)
			}
			if list.HasErrors() {
				return exit(1)
			}
			if !a.json && !a.quiet {
				fmt.Fprintln(a.out, p.success())
			}
			return nil
		},
	}
	in.flags(c)
	return c
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
	view := &fabricView{p.res.Fabric}
	for _, c := range p.cfg.Checks {
		holds, message, diags := p.cfg.Eval(c, view)
		p.diags = append(p.diags, diags...)
		if holds || diags.HasErrors() {
			continue
		}
		if message == "" {
			message = "its condition is false"
		}
		p.diags.Add(diag.Diagnostic{
			Summary: fmt.Sprintf("check %s fails: %s", c.Name, message), Address: "check." + c.Name,
			Labels: []diag.Label{{Span: c.Span, Where: fmt.Sprintf("check %q", c.Name)}},
		})
	}
}
