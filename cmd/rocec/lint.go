package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/rocec/rocec/lang/diag"
	"github.com/spf13/cobra"
)

func (a *app) lintCommand() *cobra.Command {
	var in inputs
	var format, severity string
	var only, disable []string
	var force, list bool
	c := &cobra.Command{
		Use: "lint", Short: "Report everything: errors, advice, notices", Args: cobra.NoArgs,
		Example: "  rocec lint --format=compact --minimum-failure-severity=error",
		RunE: func(*cobra.Command, []string) error {
			if list {
				return a.listRules()
			}
			least, err := severityOf(severity)
			if err != nil {
				return err
			}
			if err := oneOf("format", format, "text", "compact", "json"); err != nil {
				return err
			}
			for _, r := range append(slices.Clone(only), disable...) {
				if ruleOf(r) == nil {
					return fmt.Errorf("there is no rule %q (rocec lint --list-rules)", r)
				}
			}
			p, err := a.load(&in, false)
			if err != nil {
				return err
			}
			if !p.loaded() && p.diags.HasErrors() {
				if err := a.report(p, p.diags, format); err != nil {
					return err
				}
				return exit(1)
			}
			p.devices()
			p.checks()
			found := selected(p.diags, only, disable)
			if err := a.report(p, found, format); err != nil {
				return err
			}
			fails := slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Severity <= least })
			if fails && !force {
				return exit(2)
			}
			return nil
		},
	}
	in.flags(c)
	c.Flags().StringVar(&format, "format", "text", "`FORM` of the findings: text, compact, json")
	c.Flags().StringSliceVar(&only, "only", nil, "only these `RULES`, by code or name")
	c.Flags().StringSliceVar(&disable, "disable-rule", nil, "without these `RULES`")
	c.Flags().StringVar(&severity, "minimum-failure-severity", "warning", "least `SEVERITY` that fails: error, warning, notice")
	c.Flags().BoolVar(&force, "force", false, "exit 0 in spite of findings")
	c.Flags().BoolVar(&list, "list-rules", false, "list the rules and stop")
	c.RegisterFlagCompletionFunc("only", ruleNames)
	c.RegisterFlagCompletionFunc("disable-rule", ruleNames)
	return c
}

func ruleNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, r := range rules() {
		names = append(names, r.Name+"\t"+r.ID+" "+r.Title)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func severityOf(word string) (diag.Severity, error) {
	for _, s := range []diag.Severity{diag.Error, diag.Warning, diag.Notice} {
		if s.String() == word {
			return s, nil
		}
	}
	return 0, fmt.Errorf("severity is error, warning or notice, not %q", word)
}

// selected applies --only and --disable-rule. Findings without a rule are
// mistakes of the source and always stay.
func selected(list diag.List, only, disable []string) diag.List {
	named := func(names []string, d diag.Diagnostic) bool {
		r := ruleOf(d.Rule)
		return r != nil && (slices.Contains(names, r.ID) || slices.Contains(names, r.Name))
	}
	var out diag.List
	for _, d := range list {
		if d.Rule != "" && (len(only) > 0 && !named(only, d) || named(disable, d) && d.Severity != diag.Error) {
			continue
		}
		out.Add(d)
	}
	return out
}

func (a *app) report(p *project, list diag.List, format string) error {
	a.json = a.json || format == "json"
	return a.object(p.verdict(list), func() error {
		if format == "compact" {
			return diag.Compact(a.out, list, p.view, ruleOf)
		}
		return diag.Text(a.out, list, p.view, diag.TextOptions{Color: a.colored(a.out), Width: a.width(a.out), Rules: ruleOf})
	})
}

func (a *app) listRules() error {
	var list []ruleJSON
	for _, r := range rules() {
		list = append(list, jsonOf(r))
	}
	return a.object(list, func() error {
		w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
		for _, r := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.ID, r.Name, r.Severity, strings.TrimSpace(r.Title))
		}
		return w.Flush()
	})
}
