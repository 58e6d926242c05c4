package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rocec/rocec/cmd/rocec/internal/report"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
	"github.com/spf13/cobra"
)

// settingsExample is a file of settings that says everything there is to say.
const settingsExample = `  lint {
    preset         = "recommended" # without notices and pedantic rules; all; none. Without it: all but pedantic
    format         = "auto"        # as --format, which wins; of the current folder's file
    baseline       = "known.json"  # from the folder of this file
    require_reason = true          # a comment "rocec-ignore: RULE # reason" needs its reason
  }
  rule "class_iwarp_pfc" {
    enabled   = true      # whatever the preset says
    severity  = "warning" # for the exit code and the report
    ignorable = false     # comments do not silence it
  }
  rule "ets_default_share" {
    options = { share = 10 } # what the rule is measured by; rocec lint --list-rules --json has them
  }
`

// lintFlags are what lint takes besides the inputs.
type lintFlags struct {
	in     inputs
	config string
	forms
	severity  string
	only      []string
	switches  []ruleSwitch
	filter    []string
	baseline  string
	newFrom   string
	write     bool // the baseline
	fix       bool
	diff      bool // instead of what fix would write
	recursive bool
	force     bool
	list      bool
}

func (a *app) lintCommand() *cobra.Command {
	var f lintFlags
	c := &cobra.Command{
		Use: "lint [PATH...]", Short: "Report everything: errors, advice, notices",
		Long: `lint reports all there is to say of the fabric in the current folder, or of those in
other folders. It exits 2 when a finding is of the least severity that fails, and 1
when source does not load.

How one works with it stands in a file .rocec.hcl: the nearest one, from the folder
upwards, else the one in the home folder. ROCEC_CONFIG_FILE or --config names another.

` + settingsExample + `
Of a rule, --only has the first word, then --enable-rule and --disable-rule, then its
block, then the preset. None of them hides or weakens an error: it stops build all the
same, and an override block accepts it.

A baseline lists findings that are left for later, by rule, address and text, so that
lines may move. --write-baseline writes it anew. What it lists and lint does not find
any more is a warning, so that it shrinks; errors never enter it.

--new-from-rev reports what is found here and not where the current branch left the
revision, whatever line, file or table the change is in. Findings are the same when their
rule, address and text are, so that lines may move. What a new row of a table or key of a
for_each brings about is shown at that row.

What one declaration does to many ports is one finding, which lists them; JSON and SARIF have
each by itself. What follows from a finding stands below it and is not counted again; one
that an error follows from is an error.

--fix mends what rules bring edits for (docs/rules.md lists them). Layout and comments
stay. It mends what would be shown: --only, --filter and the like choose. Unless the
source then reads without these findings and without a new error, nothing is written.
Facts, as the length of a cable, and values that are worked out from others stay.

--format=auto writes annotations on GitHub Actions and a Code Quality report on GitLab,
and text elsewhere.`,
		Example: `  rocec lint --format=compact --minimum-failure-severity=error
  rocec lint --recursive --filter='pod1/*' --output=json=lint.json fabrics
  rocec lint --output=sarif=lint.sarif --output=junit=lint.xml
  rocec lint --baseline=known.json --write-baseline
  rocec lint --new-from-rev=origin/main
  rocec lint --fix --diff --only=port_watchdog`,
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("format") {
				f.format = ""
			}
			if f.list {
				return a.listRules(&f)
			}
			return a.lint(c.Context(), &f, args)
		},
	}
	f.in.flags(c)
	flags := c.Flags()
	flags.StringVar(&f.config, "config", "", "read settings from `FILE` instead of the nearest .rocec.hcl")
	f.forms.flags(c)
	flags.StringSliceVar(&f.only, "only", nil, "only these `RULES`, by code or name, whatever else is said")
	flags.Var(switches{&f.switches, true}, "enable-rule", "with these `RULES`, switched off by settings or before on the line")
	flags.Var(switches{&f.switches, false}, "disable-rule", "without these `RULES`; errors stay")
	flags.StringArrayVar(&f.filter, "filter", nil, "only findings in files that fit this `GLOB`, by path, or by name if it has no slash (repeatable)")
	flags.StringVar(&f.baseline, "baseline", "", "leave out the findings that this `FILE` lists")
	flags.BoolVar(&f.write, "write-baseline", false, "list in the baseline what is found now, errors aside")
	flags.BoolVar(&f.fix, "fix", false, "mend the source where rules say how, then report what is left")
	flags.BoolVar(&f.diff, "diff", false, "with --fix: show what would change, write and report nothing")
	flags.StringVar(&f.newFrom, "new-from-rev", "", "only findings that are not those of this git `REVISION`")
	flags.BoolVar(&f.recursive, "recursive", false, "folders below as well; modules count where they are called")
	flags.StringVar(&f.severity, "minimum-failure-severity", "warning", "least `SEVERITY` that fails: error, warning, notice")
	flags.BoolVar(&f.force, "force", false, "exit 0 in spite of findings")
	flags.BoolVar(&f.list, "list-rules", false, "list the rules as they are set here, and stop")
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

// lint reads every folder and reports on all of them.
func (a *app) lint(ctx context.Context, f *lintFlags, folders []string) error {
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
	l := &linter{app: a, flags: f, called: map[string]bool{}, settings: map[string]*settings{}, baselines: map[string]*known{}, earlier: map[string]earlier{}}
	if err := l.settle(); err != nil {
		return err
	}
	for _, dir := range folders {
		if f.recursive && l.called[dir] {
			continue
		}
		if err := l.folder(ctx, dir); err != nil {
			return err
		}
	}
	if f.write && !l.broken {
		if err := l.writeBaselines(); err != nil {
			return err
		}
	}
	all := l.all()
	if !f.diff || l.broken {
		if err := a.lintReport(&f.forms, all, least); err != nil {
			return err
		}
		l.tellKnown()
	}
	fails := slices.ContainsFunc(all, func(x findings) bool {
		return slices.ContainsFunc(x.list, func(d diag.Diagnostic) bool { return d.Severity <= least })
	})
	switch {
	case l.broken:
		return exit(1)
	case fails && !f.force:
		return exit(2)
	}
	return nil
}

// linter is one run over all folders.
type linter struct {
	*app
	flags     *lintFlags
	called    map[string]bool // folders that were read as modules of others
	settings  map[string]*settings
	baselines map[string]*known
	earlier   map[string]earlier // findings at the revision of --new-from-rev, by folder
	fabrics   []findings
	broken    bool // something could not be read
}

// findings are what lint has to say of one folder, of settings or of a baseline.
type findings struct {
	view   *source.View
	list   diag.List
	exempt []exempt
}

// exempt are findings that something takes out.
type exempt struct {
	list diag.List
	why  report.Exemption
}

// all are the findings of settings and baselines, then those of the folders.
func (l *linter) all() []findings {
	var list []findings
	for _, name := range slices.Sorted(maps.Keys(l.settings)) {
		s := l.settings[name]
		list = append(list, findings{view: s.view, list: s.diags})
	}
	for _, name := range slices.Sorted(maps.Keys(l.baselines)) {
		k := l.baselines[name]
		list = append(list, findings{view: k.view, list: k.diags})
	}
	return append(list, l.fabrics...)
}

// folder reads one folder.
func (l *linter) folder(ctx context.Context, dir string) error {
	s, err := l.settingsOf(dir)
	if err != nil {
		return err
	}
	in := l.flags.in
	in.pedantic = true // settings and flags sort them out
	in.limits = s.limits()
	p, err := l.loadFrom(dir, &in, false)
	if err != nil {
		return err
	}
	for id := range p.cfg.Files.Len() {
		if name := p.cfg.Files.Name(source.FileID(id + 1)); isConfiguration(name) && !outside(name) {
			l.called[filepath.Dir(filepath.FromSlash(p.shown(name)))] = true
		}
	}
	if l.flags.fix && !s.diags.HasErrors() && p.loaded() {
		if p, err = l.fix(ctx, p, s, in); err != nil {
			return err
		}
	}
	p.devices()
	p.checks()
	p.rows(p.diags)
	if s.diags.HasErrors() || !p.loaded() && p.diags.HasErrors() {
		l.broken = true // neither a rule nor a filter hides why
		list := p.diags
		if p.loaded() { // which rules are wanted is not known: those of validate are
			list = slices.DeleteFunc(slices.Clone(list), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
		}
		l.fabrics = append(l.fabrics, findings{view: p.view, list: list})
		return nil
	}
	old, err := l.before(ctx, p.dir, s, in)
	if err != nil {
		return err
	}
	shown := func(d *diag.Diagnostic) bool { return l.flags.wanted(s, d) && l.flags.inside(p.view, d) }
	list, out := s.exempt(p)
	if list = old.without(p, list, false); old != nil {
		base, err := forkPoint(ctx, p.dir, l.flags.newFrom)
		if err != nil {
			return fmt.Errorf("new-from-rev: %w", err)
		}
		p.changed(ctx, base, list)
	}
	if list, out, err = l.leave(p, s, list, out, shown); err != nil {
		return err
	}
	x := findings{view: p.view, list: s.weigh(list.Keep(shown))}
	l.fixesOf(p, x.list)
	for _, e := range out {
		if e.list = s.weigh(old.without(p, e.list, true).Keep(shown)); len(e.list) > 0 {
			l.fixesOf(p, e.list)
			x.exempt = append(x.exempt, e)
		}
	}
	l.fabrics = append(l.fabrics, x)
	return nil
}

// check refuses words that are no rules, forms or globs.
func (f *lintFlags) check() error {
	if err := f.forms.check(); err != nil {
		return err
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
	if f.diff && !f.fix {
		return errors.New("diff shows what --fix would change: give both")
	}
	if f.write && f.fix {
		return errors.New("write-baseline leaves for later what --fix mends now: choose one")
	}
	if f.write && (len(f.only) > 0 || len(f.filter) > 0 || f.newFrom != "") {
		return errors.New("write-baseline lists all that is found: leave out --only, --filter and --new-from-rev")
	}
	return nil
}

// wanted applies --only, then the switches, then the settings. A finding without
// a rule is a mistake of the source, and an error cannot be switched off: it
// stops build all the same.
func (f *lintFlags) wanted(s *settings, d *diag.Diagnostic) bool {
	r := ruleOf(d.Rule)
	switch {
	case r == nil:
		return true
	case len(f.only) > 0:
		return slices.Contains(f.only, r.ID) || slices.Contains(f.only, r.Name)
	}
	return d.Severity == diag.Error || f.enabled(s, r, d.Severity)
}

// enabled reports whether findings of a rule that are as severe are asked for.
// The last word on a rule holds.
func (f *lintFlags) enabled(s *settings, r *diag.Rule, severity diag.Severity) bool {
	on := s.enabled(r, severity)
	for _, w := range f.switches {
		if w.rule == r.ID || w.rule == r.Name {
			on = w.on
		}
	}
	return on
}

// inside reports whether the cause of a finding is in a file that a filter fits.
func (f *lintFlags) inside(view *source.View, d *diag.Diagnostic) bool {
	name := view.Name(d.Span().File)
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
			return nil, fmt.Errorf("%s is a file: name its folder, and pick files in it with --filter", dir)
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
