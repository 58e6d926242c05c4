package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
	"github.com/spf13/cobra"
)

// lintFlags are what lint takes besides the inputs.
type lintFlags struct {
	in        inputs
	format    string
	outputs   []string // FORMAT=FILE
	severity  string
	only      []string
	switches  []ruleSwitch
	filter    []string
	recursive bool
	force     bool
	list      bool
}

// lintForms are the forms of findings that this version writes.
var lintForms = []string{"text", "compact", "json"}

func (a *app) lintCommand() *cobra.Command {
	var f lintFlags
	c := &cobra.Command{
		Use: "lint [PATH...]", Short: "Report everything: errors, advice, notices",
		Long: `lint reports all there is to say of the fabric in the current folder, or of those in
other folders. It exits 2 when a finding is of the least severity that fails, and 1
when source does not load.`,
		Example: `  rocec lint --format=compact --minimum-failure-severity=error
  rocec lint --recursive --filter='pod1/*' --output=json=lint.json fabrics`,
		RunE: func(_ *cobra.Command, args []string) error {
			if f.list {
				return a.listRules()
			}
			return a.lint(&f, args)
		},
	}
	f.in.flags(c)
	flags := c.Flags()
	flags.StringVar(&f.format, "format", "text", "`FORM` of the findings: text, compact, json")
	flags.StringArrayVar(&f.outputs, "output", nil, "write the findings to a file besides: `FORM=FILE` (repeatable)")
	flags.StringSliceVar(&f.only, "only", nil, "only these `RULES`, by code or name, whatever else is said")
	flags.Var(switches{&f.switches, true}, "enable-rule", "with these `RULES`, switched off before on the line")
	flags.Var(switches{&f.switches, false}, "disable-rule", "without these `RULES`; errors stay")
	flags.StringArrayVar(&f.filter, "filter", nil, "only findings in files that fit this `GLOB`, by path, or by name if it has no slash (repeatable)")
	flags.BoolVar(&f.recursive, "recursive", false, "folders below as well; modules count where they are called")
	flags.StringVar(&f.severity, "minimum-failure-severity", "warning", "least `SEVERITY` that fails: error, warning, notice")
	flags.BoolVar(&f.force, "force", false, "exit 0 in spite of findings")
	flags.BoolVar(&f.list, "list-rules", false, "list the rules and stop")
	for _, name := range []string{"only", "enable-rule", "disable-rule"} {
		c.RegisterFlagCompletionFunc(name, ruleNames)
	}
	return c
}

// ruleSwitch is one --enable-rule or --disable-rule. The last word on a rule holds.
type ruleSwitch struct {
	rule string
	on   bool
}

// switches collects both flags in the order of the line.
type switches struct {
	list *[]ruleSwitch
	on   bool
}

func (s switches) String() string { return "" }
func (s switches) Type() string   { return "RULES" }

// Set takes one flag.
func (s switches) Set(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		*s.list = append(*s.list, ruleSwitch{name, s.on})
	}
	return nil
}

// findings are what lint has to say of one folder.
type findings struct {
	project *project
	list    diag.List
}

// lint reads every folder and reports on all of them.
func (a *app) lint(f *lintFlags, folders []string) error {
	least, err := severityOf(f.severity)
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	if folders, err = a.lintFolders(folders, f.recursive); err != nil {
		return err
	}
	var all []findings
	broken, fails := false, false
	called := map[string]bool{} // folders that were read as modules of others
	for _, dir := range folders {
		if f.recursive && called[dir] {
			continue
		}
		p, err := a.loadFrom(dir, &f.in, false)
		if err != nil {
			return err
		}
		for id := range p.cfg.Files.Len() {
			if name := p.cfg.Files.Name(source.FileID(id + 1)); isConfiguration(name) && !outside(name) {
				called[filepath.Dir(filepath.FromSlash(p.shown(name)))] = true
			}
		}
		p.devices()
		p.checks()
		list := p.diags
		if !p.loaded() && list.HasErrors() {
			broken = true // neither a rule nor a filter hides why
		} else {
			list = f.selected(p)
		}
		fails = fails || slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Severity <= least })
		all = append(all, findings{p, list})
	}
	if err := a.lintReport(f, all); err != nil {
		return err
	}
	switch {
	case broken:
		return exit(1)
	case fails && !f.force:
		return exit(2)
	}
	return nil
}

// check refuses words that are no rules, forms or globs.
func (f *lintFlags) check() error {
	if err := oneOf("format", f.format, lintForms...); err != nil {
		return err
	}
	for _, o := range f.outputs {
		form, file, _ := strings.Cut(o, "=")
		if file == "" {
			return fmt.Errorf("output is written as FORM=FILE, not %q", o)
		}
		if err := oneOf("form of output", form, lintForms...); err != nil {
			return err
		}
	}
	names := slices.Clone(f.only)
	for _, s := range f.switches {
		names = append(names, s.rule)
	}
	for _, r := range names {
		if ruleOf(r) == nil {
			return fmt.Errorf("there is no rule %q (rocec lint --list-rules)", r)
		}
	}
	for _, glob := range f.filter {
		if _, err := path.Match(glob, ""); err != nil {
			return fmt.Errorf("filter %q is no glob: %w", glob, err)
		}
	}
	return nil
}

// selected are the findings of a project that the flags ask for. Those without a
// rule are mistakes of the source, and no flag but the filter hides them.
func (f *lintFlags) selected(p *project) diag.List {
	var out diag.List
	for _, d := range p.diags {
		if f.wanted(&d) && f.inside(p, &d) {
			out.Add(d)
		}
	}
	return out
}

// wanted applies --only, and else the switches. An error cannot be switched off:
// it stops build all the same.
func (f *lintFlags) wanted(d *diag.Diagnostic) bool {
	r := ruleOf(d.Rule)
	switch {
	case r == nil:
		return true
	case len(f.only) > 0:
		return slices.Contains(f.only, r.ID) || slices.Contains(f.only, r.Name)
	}
	on := true
	for _, s := range f.switches {
		if s.rule == r.ID || s.rule == r.Name {
			on = s.on
		}
	}
	return on || d.Severity == diag.Error
}

// inside reports whether the cause of a finding is in a file that a filter fits.
func (f *lintFlags) inside(p *project, d *diag.Diagnostic) bool {
	name := p.view.Name(d.Span().File)
	return len(f.filter) == 0 || slices.ContainsFunc(f.filter, func(glob string) bool {
		at := name
		if !strings.Contains(glob, "/") {
			at = path.Base(name)
		}
		fits, _ := path.Match(glob, at)
		return fits
	})
}

// lintFolders are the folders to read, clean and in order; with recursive, those
// below that hold configuration as well.
func (a *app) lintFolders(folders []string, recursive bool) ([]string, error) {
	if len(folders) == 0 {
		folders = []string{"."}
	}
	var list []string
	for _, dir := range folders {
		info, err := os.Stat(dir)
		switch {
		case err != nil:
			return nil, err
		case !info.IsDir():
			return nil, fmt.Errorf("%s is a file: lint takes folders, and --filter for the files in them", dir)
		case !recursive:
			list = append(list, filepath.Clean(dir))
			continue
		}
		below, err := a.foldersBelow(dir)
		if err != nil {
			return nil, err
		}
		if len(below) == 0 {
			return nil, fmt.Errorf("no folder in %s holds configuration: its files end in .roce.hcl or .roce.json", dir)
		}
		list = append(list, below...)
	}
	// What holds a folder comes before it, so that modules are known as such.
	slices.SortFunc(list, func(x, y string) int { return slices.Compare(parts(x), parts(y)) })
	return slices.Compact(list), nil
}

func parts(dir string) []string {
	if dir == "." {
		return nil
	}
	return strings.Split(filepath.ToSlash(dir), "/")
}

// foldersBelow are a folder and those below it that hold configuration. Hidden
// folders and the one of working data do not count.
func (a *app) foldersBelow(top string) ([]string, error) {
	var list []string
	err := filepath.WalkDir(top, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && name != top && (strings.HasPrefix(e.Name(), ".") || a.isDataDir(name)):
			return fs.SkipDir
		case !e.IsDir() && !strings.HasPrefix(e.Name(), ".") && isConfiguration(name):
			if dir := filepath.Dir(name); len(list) == 0 || list[len(list)-1] != dir {
				list = append(list, dir)
			}
		}
		return nil
	})
	slices.Sort(list) // the files of a folder may stand around the folders in it
	return slices.Compact(list), err
}

// isConfiguration reports whether a name is that of a file of a module.
func isConfiguration(name string) bool {
	return strings.HasSuffix(name, ".roce.hcl") || strings.HasSuffix(name, ".roce.json")
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

// lintReport prints the findings of every folder, and writes them to the files
// of --output.
func (a *app) lintReport(f *lintFlags, all []findings) error {
	for _, o := range f.outputs {
		form, file, _ := strings.Cut(o, "=")
		var b bytes.Buffer
		if err := a.lintForm(&b, form, all, false); err != nil {
			return err
		}
		if err := a.write(func() error { return replaceFile(file, b.Bytes(), 0o644) }); err != nil {
			return fmt.Errorf("write %s: %w", file, err)
		}
	}
	a.json = a.json || f.format == "json"
	if a.wantsJSON() {
		if err := a.writeJSON(verdictOf(all)); err != nil || a.json {
			return err
		}
	}
	return a.lintForm(a.out, f.format, all, a.colored(a.out))
}

// lintForm writes findings in one of the forms.
func (a *app) lintForm(w io.Writer, form string, all []findings, color bool) error {
	if form == "json" {
		return encodeJSON(w, verdictOf(all))
	}
	said := false
	for _, x := range all {
		var err error
		switch {
		case form == "compact":
			err = diag.Compact(w, x.list, x.project.view, ruleOf)
		default:
			if said && len(x.list) > 0 && !color {
				_, err = io.WriteString(w, "\n")
			}
			said = said || len(x.list) > 0
			err = errors.Join(err, diag.Text(w, x.list, x.project.view, diag.TextOptions{Color: color, Width: a.width(w), Rules: ruleOf}))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// verdictOf is one verdict on all folders.
func verdictOf(all []findings) verdict {
	v := verdict{FormatVersion: "1.0", Valid: true, Diagnostics: []diag.JSONDiagnostic{}}
	for _, x := range all {
		one := x.project.verdict(x.list)
		v.Valid = v.Valid && one.Valid
		v.ErrorCount += one.ErrorCount
		v.WarningCount += one.WarningCount
		v.Diagnostics = append(v.Diagnostics, one.Diagnostics...)
	}
	return v
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
