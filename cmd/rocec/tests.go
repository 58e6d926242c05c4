package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/rocec/rocec/cmd/rocec/internal/report"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

const testsFolder = "tests"

// testFlags are what test is asked.
type testFlags struct {
	in        inputs
	filter    []string
	dir       string
	junit     string
	parallel  int
	recursive bool
}

func (a *app) testCommand() *cobra.Command {
	var f testFlags
	c := &cobra.Command{
		Use: "test [PATH...]", Short: "Run the tests of the fabric: files *.rocetest.hcl, here and in tests/",
		Long: `Reads the files *.rocetest.hcl and *.rocetest.json of the folder and of tests/,
compiles the fabric for the run blocks in them, with the variables of the run, and says
which hold. Runs of a file that set the same variables share what is compiled.

The tests of a module lie in its folder, and take it as a fabric of its own: the runs
give its variables their values, and what calls it plays no part. They run where the
folder is named, as in rocec test modules/pod, and with --recursive, which takes each
folder below that holds configuration and has tests, modules that nothing calls as well.

  variables {                              # for all runs of the file
    site = "lab"
  }
  run "rails_stay_apart" {
    command   = validate                   # or lint, or build; without it validate
    variables = { switchless = false }     # above those of the file and the line
    assert {
      condition     = length(links("node", "leaf")) == 64
      error_message = "Not every NIC has a cable."
    }
  }
  run "a_spine_may_fail" {
    fail = [topology.pod1.spine[0]]        # proves it again without
    assert {
      condition     = length(paths("gpu01", "gpu02")) > 0
      error_message = "No way is left."
    }
  }
  run "dcbx_willing_is_refused" {
    variables       = { dcbx = "willing" }
    expect_failures = ["host_dcbx_willing"] # or its code, check.NAME, var.NAME
  }
  run "mark_is_26" {
    command = build
    expect_artifact "gpu01/*.sh" {          # as below out/; also equals, excludes, matches
      contains = "cma_roce_tos"
    }
  }

A run fails on errors that it does not expect, with lint on warnings as well, and on
failures that it expects and that do not come. An assert has what a check block has,
and findings("RULE"), artifacts("GLOB") and artifact("DEVICE/FILE").

It ends with 1 if a run fails, and with 2 if there is none.`,
		Example: "  rocec test\n  rocec test --filter='rails_*' --verbose\n  rocec test --recursive\n  rocec test modules/pod --junit-xml=tests.xml --json",
		RunE: func(c *cobra.Command, args []string) error {
			return a.test(&f, args, c.Flags().Changed("test-directory"))
		},
	}
	f.in.flags(c)
	c.Flags().StringArrayVar(&f.filter, "filter", nil, "only runs that fit this `GLOB`, by file, its name or that of the run (repeatable)")
	c.Flags().BoolVar(&f.recursive, "recursive", false, "the tests of folders below as well, of modules too")
	c.Flags().StringVar(&f.dir, "test-directory", testsFolder, "`DIR` in the folder that has tests besides those beside the code")
	c.Flags().StringVar(&f.junit, "junit-xml", "", "write the results as JUnit's XML to `FILE`")
	c.Flags().IntVar(&f.parallel, "parallelism", 0, "work on this `NUMBER` of runs at a time; 0 is one for each core")
	return c
}

// tests are the files of tests of one folder with their runs, and what is wrong in
// them.
type tests struct {
	in    string // the folder, as it is shown
	runs  []*lang.Run
	view  *source.View
	diags diag.List
}

// fileIn is a file of a folder, from the working folder.
func fileIn(folder, name string) string { return path.Join(filepath.ToSlash(folder), name) }

// readTests reads the files of tests of a folder and of one in it, and enters them
// into a table.
func readTests(files *source.Files, in, dir string, named bool) (*tests, error) {
	root, err := os.OpenRoot(in)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	folder := path.Clean(filepath.ToSlash(dir))
	if !fs.ValidPath(folder) {
		return nil, fmt.Errorf("test-directory is a folder in this one, not %q", dir)
	}
	texts := map[string][]byte{}
	shown := func(name string) string { return fileIn(in, name) }
	t := &tests{in: in, view: &source.View{Files: files, Shown: shown, Read: func(name string) ([]byte, error) {
		if text, ok := texts[name]; ok {
			return text, nil
		}
		return nil, fs.ErrNotExist
	}}}
	var names []string
	for _, in := range slices.Compact([]string{".", folder}) {
		entries, err := fs.ReadDir(root.FS(), in)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !named:
			continue
		case err != nil:
			return nil, fmt.Errorf("read tests: %w", err)
		}
		for _, e := range entries {
			if n := e.Name(); !e.IsDir() && slices.ContainsFunc(lang.TestEndings, func(end string) bool { return strings.HasSuffix(n, end) }) && !strings.HasPrefix(n, ".") {
				names = append(names, path.Join(in, n))
			}
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if _, err := root.Stat(filepath.FromSlash(name)); err != nil { // a link that leads out
			return nil, fmt.Errorf("read tests: %w", err)
		}
		if texts[name], err = readFile(shown(name)); err != nil {
			return nil, fmt.Errorf("read tests: %w", err)
		}
		runs, found := lang.ReadTests(t.view.Files, name, texts[name])
		t.runs, t.diags = append(t.runs, runs...), append(t.diags, found...)
	}
	t.judge()
	return t, nil
}

// testFolders are the folders whose tests are asked for, in order: those that are
// named, and with recursive those below that hold configuration. One that another
// has its tests in is none of its own.
func (a *app) testFolders(f *testFlags, folders []string) ([]string, error) {
	list, err := a.lintFolders(folders, f.recursive)
	if err != nil || !f.recursive {
		return list, err
	}
	all := slices.Clone(list)
	return slices.DeleteFunc(list, func(dir string) bool {
		return slices.ContainsFunc(all, func(of string) bool { return of != dir && filepath.Join(of, filepath.FromSlash(f.dir)) == dir })
	}), nil
}

// judge checks what only the program knows: the names of rules.
func (t *tests) judge() {
	for _, r := range t.runs {
		for _, e := range r.Expects {
			if kind, _, ok := strings.Cut(e.Text, "."); ok && (kind == "check" || kind == "var") || ruleOf(e.Text) != nil {
				continue
			}
			t.diags.Add(diag.Diagnostic{
				Summary: fmt.Sprintf("there is no rule %q", e.Text), Help: "see rocec lint --list-rules; checks and variables are written check.NAME and var.NAME",
				Labels: []diag.Label{{Span: e.At, Where: "run " + fmt.Sprintf("%q", r.Name)}},
			})
		}
	}
}

// against checks the names of runs that a configuration would have to declare.
func (t *tests) against(cfg *lang.Config) (found diag.List) {
	for _, r := range t.runs {
		wrong := func(at source.Span, what string) {
			found.Add(diag.Diagnostic{Summary: "there is no " + what, Labels: []diag.Label{{Span: at, Where: fmt.Sprintf("run %q", r.Name)}}})
		}
		for _, v := range r.Variables {
			if !cfg.Declares("var." + v.Text) {
				wrong(v.At, fmt.Sprintf("variable %q", v.Text))
			}
		}
		for _, e := range r.Expects {
			if kind, name, ok := strings.Cut(e.Text, "."); ok && ruleOf(e.Text) == nil && !cfg.Declares(e.Text) {
				wrong(e.At, fmt.Sprintf("%s %q", map[string]string{"check": "check", "var": "variable"}[kind], name))
			}
		}
	}
	return found
}

// tests reads the tests of the folder and checks them, without running any.
func (p *project) tests() error {
	t, err := readTests(p.cfg.Files, p.dir, testsFolder, false)
	if err != nil {
		return err
	}
	if p.diags = append(p.diags, t.diags...); p.loaded() {
		p.diags = append(p.diags, t.against(p.cfg)...)
	}
	return nil
}

// keep leaves the runs that the filters fit. A filter that fits none is a mistake.
func keep(all []*tests, filters []string) error {
	if len(filters) == 0 {
		return nil
	}
	hit, left := make([]bool, len(filters)), false
	for _, t := range all {
		var kept []*lang.Run
		for _, r := range t.runs {
			fits := false
			for i, glob := range filters {
				for _, name := range []string{fileIn(t.in, r.File), path.Base(r.File), r.Name} {
					ok, err := path.Match(glob, name)
					if err != nil {
						return fmt.Errorf("filter %q is no glob", glob)
					}
					if ok || glob == name {
						fits, hit[i] = true, true
					}
				}
			}
			if fits {
				kept = append(kept, r)
			}
		}
		t.runs, left = kept, left || len(kept) > 0
	}
	if i := slices.Index(hit, false); i >= 0 && left {
		return fmt.Errorf("filter %q fits no file of tests and no run", filters[i])
	}
	return nil
}

// test runs what is there, prints it in its order, and sums it up.
func (a *app) test(f *testFlags, folders []string, named bool) error {
	if f.parallel < 0 {
		return fmt.Errorf("parallelism is a number of runs, not %d", f.parallel)
	}
	if f.parallel == 0 {
		f.parallel = runtime.GOMAXPROCS(0)
	}
	if err := a.startStream(); err != nil {
		return err
	}
	folders, err := a.testFolders(f, folders)
	if err != nil {
		return err
	}
	var all []*tests
	broken := false
	for _, in := range folders {
		t, err := readTests(source.NewFiles(), in, f.dir, named && !f.recursive)
		if err != nil {
			return err
		}
		if all = append(all, t); t.diags.HasErrors() {
			a.print(&project{view: t.view}, t.diags)
			broken = true
		}
	}
	if broken {
		return exit(1)
	}
	if err := keep(all, f.filter); err != nil {
		return err
	}
	var runs []placedRun
	for _, t := range all {
		for _, r := range t.runs {
			runs = append(runs, placedRun{t.in, r})
		}
	}
	if len(runs) == 0 {
		where := "here"
		if len(folders) != 1 || folders[0] != "." {
			where = "in the folder"
		}
		what := fmt.Sprintf("no test found: files of tests end in %s, and lie %s or in %s", strings.Join(lang.TestEndings, " or "), where, f.dir)
		if len(f.filter) > 0 {
			what = "no test found that the filters fit"
		}
		if a.stream != nil {
			a.stream.failure(errors.New(what))
		}
		if !a.json {
			fmt.Fprintf(a.err, "rocec: %s\n", what)
		}
		return exit(2)
	}
	r, err := a.tester(f, runs)
	if err != nil {
		return err
	}
	results := a.runAll(r, runs, f.parallel)
	if f.junit != "" {
		if err := a.writeJUnit(f.junit, results); err != nil {
			return fmt.Errorf("write %s: %w", f.junit, err)
		}
	}
	return a.tellTests(results)
}

// runAll works on several runs at a time and shows each when those before it are
// shown.
func (a *app) runAll(r *tester, runs []placedRun, parallel int) []*testResult {
	results, done := make([]*testResult, len(runs)), make([]chan struct{}, len(runs))
	for i := range done {
		done[i] = make(chan struct{})
	}
	var work errgroup.Group
	work.SetLimit(parallel)
	go func() {
		for i := range runs {
			work.Go(func() error {
				results[i] = r.run(runs[i])
				close(done[i])
				return nil
			})
		}
	}()
	for i := range runs {
		<-done[i]
		if i == 0 || runs[i-1].shown() != runs[i].shown() {
			a.say("%s\n", diag.Printable(runs[i].shown()))
		}
		a.show(results[i])
	}
	return results
}

// say prints for people, unless they want findings only.
func (a *app) say(format string, args ...any) {
	if !a.json && !a.quiet {
		fmt.Fprintf(a.out, format, args...)
	}
}

// show prints what became of a run.
func (a *app) show(r *testResult) {
	a.say("  run %q... %s\n", r.run.Name, r.status)
	if a.verbose {
		for _, n := range r.held {
			a.say("    %s\n", diag.Printable(n))
		}
	}
	if a.stream != nil {
		level := map[string]string{testPass: "info"}[r.status]
		if level == "" {
			level = "error"
		}
		a.stream.about = map[string]any{"@testfile": r.run.shown(), "@testrun": r.run.Name}
		defer func() { a.stream.about = nil }()
		a.stream.put(level, "test_run", fmt.Sprintf("run %q in %s: %s", r.run.Name, r.run.shown(), r.status), map[string]any{
			"test_run": map[string]string{"path": r.run.shown(), "run": r.run.Name, "progress": "complete", "status": r.status},
		})
	}
	if len(r.findings) > 0 {
		if !a.json {
			fmt.Fprintln(a.err)
		}
		a.print(&project{view: r.view}, r.findings)
	}
}

// tellTests prints the sum, and ends with 1 if something did not pass.
func (a *app) tellTests(results []*testResult) error {
	n := map[string]int{}
	for _, r := range results {
		n[r.status]++
	}
	failed := n[testFail] + n[testError]
	sum, status := "Success!", testPass
	if failed > 0 {
		sum, status = "Failure!", testFail
		if n[testError] > 0 {
			status = testError
		}
	}
	sum += fmt.Sprintf(" %d passed, %d failed.", n[testPass], failed)
	if a.stream != nil {
		a.stream.put("info", "test_summary", sum, map[string]any{
			"test_summary": map[string]any{"status": status, "passed": n[testPass], "failed": n[testFail], "errored": n[testError], "skipped": 0},
		})
	}
	if !a.json {
		if !a.quiet {
			fmt.Fprintln(a.out)
		}
		fmt.Fprintln(a.out, sum)
	}
	if failed > 0 {
		return exit(1)
	}
	return nil
}

// writeJUnit writes the results for what collects them.
func (a *app) writeJUnit(name string, results []*testResult) error {
	var cases []report.TestCase
	for _, r := range results {
		c := report.TestCase{File: r.run.shown(), Name: r.run.Name, Status: r.status, Findings: diag.JSON(r.findings, r.view, ruleOf)}
		cases = append(cases, c)
	}
	var b strings.Builder
	if err := report.Tests(&b, cases); err != nil {
		return err
	}
	return a.write(func() error { return replaceFile(name, diag.Visible([]byte(b.String())), 0o644) })
}
