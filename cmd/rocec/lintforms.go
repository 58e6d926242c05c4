package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/rocec/rocec/cmd/rocec/internal/report"
	"github.com/rocec/rocec/lang/diag"
	"github.com/spf13/cobra"
)

// lintForms are the forms of findings.
func lintForms() []string {
	names := []string{"text", "compact", "json"}
	for _, f := range report.Forms {
		names = append(names, f.Name)
	}
	return names
}

// forms are the flags that say in which forms findings are written.
type forms struct {
	format  string
	outputs []string // FORM=FILE
}

func (f *forms) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.format, "format", "text", "`FORM` of the findings: "+strings.Join(append(lintForms(), "auto"), ", "))
	c.Flags().StringArrayVar(&f.outputs, "output", nil, "write the findings to a file besides: `FORM=FILE` (repeatable)")
}

// check refuses words that are no forms.
func (f *forms) check() error {
	if f.format != "" {
		if err := oneOf("format", f.format, append(lintForms(), "auto")...); err != nil {
			return err
		}
	}
	for _, o := range f.outputs {
		form, file, _ := strings.Cut(o, "=")
		if file == "" {
			return fmt.Errorf("output is written as FORM=FILE, not %q", o)
		}
		if err := oneOf("form of output", form, lintForms()...); err != nil {
			return err
		}
	}
	return nil
}

// auto is the form that shows findings where a pipeline runs.
func (a *app) auto() string {
	switch {
	case a.env["GITHUB_ACTIONS"] == "true":
		return "github"
	case a.env["GITLAB_CI"] == "true":
		return "gitlab"
	}
	return "text"
}

// lintReport prints the findings of every folder, and writes them to the files
// of --output.
func (a *app) lintReport(f *forms, all []findings, least diag.Severity) error {
	if err := a.lintFiles(f, all, least); err != nil {
		return err
	}
	a.json = a.json || f.format == "json"
	if a.wantsJSON() {
		if err := a.writeJSON(verdictOf(all)); err != nil || a.json {
			return err
		}
	}
	return a.lintForm(a.out, f.format, all, least, a.colored(a.out))
}

// lintFiles writes the findings to the files of --output.
func (a *app) lintFiles(f *forms, all []findings, least diag.Severity) error {
	for _, o := range f.outputs {
		form, file, _ := strings.Cut(o, "=")
		var b bytes.Buffer
		if err := a.lintForm(&b, form, all, least, false); err != nil {
			return err
		}
		if err := a.write(func() error { return replaceFile(file, diag.Visible(b.Bytes()), 0o644) }); err != nil {
			return fmt.Errorf("write %s: %w", file, err)
		}
	}
	return nil
}

// lintForm writes findings in one of the forms.
func (a *app) lintForm(w io.Writer, form string, all []findings, least diag.Severity, color bool) error {
	if form == "json" {
		return encodeJSON(w, verdictOf(all))
	}
	if found := report.Find(form); found != nil {
		if form == "github" {
			w = exact{w} // they are commands
		}
		return found.Write(w, a.reportOf(all, least))
	}
	said := false
	for _, x := range all {
		var err error
		switch {
		case form == "compact":
			err = diag.Compact(w, x.list, x.view, ruleOf)
		default:
			if said && len(x.list) > 0 && !color {
				_, err = io.WriteString(w, "\n")
			}
			said = said || len(x.list) > 0
			o := a.textOptions(w)
			o.Color = color
			err = errors.Join(err, diag.Text(w, x.list, x.view, o))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reportOf is what the forms of other programs are written from.
func (a *app) reportOf(all []findings, least diag.Severity) *report.Report {
	r := &report.Report{Version: version(), Rules: ruleOf, Fails: least, Path: a.inRepository()}
	for _, x := range all {
		for _, d := range diag.JSON(x.list, x.view, ruleOf) {
			r.Findings = append(r.Findings, report.Finding{JSONDiagnostic: d})
		}
		for _, e := range x.exempt {
			for _, d := range diag.JSON(e.list, x.view, ruleOf) {
				r.Exempt = append(r.Exempt, report.Finding{JSONDiagnostic: d, Exemption: &e.why})
			}
		}
	}
	return r
}

// inRepository turns the shown name of a file into its path from the root of the
// repository that a pipeline checked out; without a pipeline, the working folder
// is taken for the root.
func (a *app) inRepository() func(string) (string, bool) {
	here, root := realPath("."), ""
	for _, name := range []string{"GITHUB_WORKSPACE", "CI_PROJECT_DIR"} {
		if dir := a.env[name]; dir != "" && root == "" {
			root = realPath(dir)
		}
	}
	if root == "" || below(root, here) == "" {
		root = here
	}
	return func(shown string) (string, bool) {
		if shown == "" || outside(shown) {
			return "", false
		}
		file := filepath.FromSlash(shown)
		if !filepath.IsAbs(file) {
			file = filepath.Join(here, file)
		}
		if rel := below(root, file); rel != "" {
			return rel, true
		}
		return filepath.ToSlash(file), true
	}
}

// below is the path of a file from a folder, with slashes; "" if it is not in it.
func below(dir, file string) string {
	rel, err := filepath.Rel(dir, file)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// realPath is the absolute path of a folder without links, as near as it can be
// known.
func realPath(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return dir
}

// fromHere is how a file is shown: by its path from the working folder where it
// is in it or near.
func fromHere(file string) string {
	abs, err := filepath.Abs(file)
	here, bad := os.Getwd()
	if err != nil || bad != nil {
		return filepath.ToSlash(file)
	}
	rel, err := filepath.Rel(here, abs)
	if err != nil || len(rel) > len(abs) {
		return filepath.ToSlash(abs)
	}
	return path.Clean(filepath.ToSlash(rel))
}

// verdictOf is one verdict on all folders.
func verdictOf(all []findings) verdict {
	v := verdict{FormatVersion: "1.0", Valid: true, Diagnostics: []diag.JSONDiagnostic{}}
	for _, x := range all {
		one := (&project{view: x.view}).verdict(x.list)
		v.Valid = v.Valid && one.Valid
		v.ErrorCount += one.ErrorCount
		v.WarningCount += one.WarningCount
		v.Diagnostics = append(v.Diagnostics, one.Diagnostics...)
	}
	return v
}

// ruleAsSet is a rule under the settings of the working folder.
type ruleAsSet struct {
	ruleJSON
	Enabled   bool `json:"enabled"` // of one that finds errors, these stay without it
	Ignorable bool `json:"ignorable"`
	Fixable   bool `json:"fixable"` // --fix mends its findings, where values are written

	Options []optionAsSet `json:"options,omitempty"`
}

// optionAsSet is a limit of a rule, under these settings too.
type optionAsSet struct {
	Name    string `json:"name"`
	Value   int64  `json:"value"`
	Unit    string `json:"unit,omitempty"`
	Default int64  `json:"default"`
	Min     int64  `json:"min"`
	Max     int64  `json:"max"`
	Doc     string `json:"doc"`
}

// optionsOf are the limits of a rule.
func (s *settings) optionsOf(r *diag.Rule) []optionAsSet {
	var list []optionAsSet
	for _, o := range r.Options {
		value, ok := s.limits()[r.ID][o.Name]
		if !ok {
			value = o.Default
		}
		list = append(list, optionAsSet{o.Name, value, o.Unit, o.Default, o.Min, o.Max, o.Doc})
	}
	return list
}

// listRules lists the rules as the settings of the working folder have them.
func (a *app) listRules(f *lintFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	l := &linter{app: a, flags: f, settings: map[string]*settings{}}
	s, err := l.settingsOf(".")
	if err != nil {
		return err
	}
	if s.diags.HasErrors() {
		a.print(&project{view: s.view}, s.diags)
		return exit(1)
	}
	var list []ruleAsSet
	for _, r := range rules() {
		row := ruleAsSet{jsonOf(r), f.enabled(s, r, r.Severity), !r.Hard && r.Severity != diag.Error && s.ignorable(r), r.Fixable, s.optionsOf(r)}
		if len(f.only) > 0 {
			row.Enabled = f.wanted(s, &diag.Diagnostic{Rule: r.ID})
		}
		row.Severity = s.severity(r, r.Severity).String()
		list = append(list, row)
	}
	return a.object(list, func() error {
		w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
		for _, r := range list {
			word := r.Severity
			if !r.Enabled && (word != "error" || len(f.only) > 0) {
				word = "off"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.ID, r.Name, word, strings.TrimSpace(r.Title))
		}
		return w.Flush()
	})
}
