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
	in       inputs
	filter   []string
	dir      string
	junit    string
	parallel int
}

func (a *app) testCommand() *cobra.Command {
	var f testFlags
	c := &cobra.Command{
		Use: "test", Short: "Run the tests of the fabric: files *.rocetest.hcl, here and in tests/", Args: cobra.NoArgs,
		Long: `Reads the files *.rocetest.hcl and *.rocetest.json of the folder and of tests/,
compiles the fabric for the run blocks in them, with the variables of the run, and says
which hold. Runs of a file that set the same variables share what is compiled. A module
that is called has its tests in its own folder: rocec --chdir=DIR test runs them.

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
		Example: "  rocec test\n  rocec test --filter='rails_*' --verbose\n  rocec test --junit-xml=tests.xml --json",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.test(&f, c.Flags().Changed("test-directory"))
		},
	}
	f.in.flags(c)
	c.Flags().StringArrayVar(&f.filter, "filter", nil, "only runs that fit this `GLOB`, by file, its name or that of the run (repeatable)")
	c.Flags().StringVar(&f.dir, "test-directory", testsFolder, "`DIR` in the folder that has tests besides those beside the code")
	c.Flags().StringVar(&f.junit, "junit-xml", "", "write the results as JUnit's XML to `FILE`")
	c.Flags().IntVar(&f.parallel, "parallelism", 0, "work on this `NUMBER` of runs at a time; 0 is one for each core")
	return c
}

// tests are files of tests with their runs, and what is wrong in them.
type tests struct {
	runs  []*lang.Run
	view  *source.View
	diags diag.List
}

// readTests reads the files of tests of the working folder and of one in it, and
// enters them into a table.
func readTests(files *source.Files, dir string, named bool) (*tests, error) {
	root, err := os.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	defer root.Close()
	folder := path.Clean(filepath.ToSlash(dir))
	if !fs.ValidPath(folder) {
		return nil, fmt.Errorf("test-directory is a folder in this one, not %q", dir)
	}
	texts := map[string][]byte{}
	t := &tests{view: &source.View{Files: files, Read: func(name string) ([]byte, error) {
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
		if texts[name], err = readFile(name); err != nil {
			return nil, fmt.Errorf("read tests: %w", err)
		}
		runs, found := lang.ReadTests(t.view.Files, name, texts[name])
		t.runs, t.diags = append(t.runs, runs...), append(t.diags, found...)
	}
	t.judge()
	return t, nil
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
	t, err := readTests(p.cfg.Files, testsFolder, false)
	if err != nil {
		return err
	}
	if p.diags = append(p.diags, t.diags...); p.loaded() {
		p.diags = append(p.diags, t.against(p.cfg)...)
	}
	return nil
}

// keep leaves the runs that the filters fit. A filter that fits none is a mistake.
func (t *tests) keep(filters []string) error {
	if len(filters) == 0 {
		return nil
	}
	hit := make([]bool, len(filters))
	var kept []*lang.Run
	for _, r := range t.runs {
		fits := false
		for i, glob := range filters {
			for _, name := range []string{r.File, path.Base(r.File), r.Name} {
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
	if i := slices.Index(hit, false); i >= 0 && len(kept) > 0 {
		return fmt.Errorf("filter %q fits no file of tests and no run", filters[i])
	}
	t.runs = kept
	return nil
}

// test runs what is there, prints it in its order, and sums it up.
func (a *app) test(f *testFlags, named bool) error {
	if f.parallel < 0 {
		return fmt.Errorf("parallelism is a number of runs, not %d", f.parallel)
	}
	if f.parallel == 0 {
		f.parallel = runtime.GOMAXPROCS(0)
	}
	if err := a.startStream(); err != nil {
		return err
	}
	t, err := readTests(source.NewFiles(), f.dir, named)
	if err != nil {
		return err
	}
	if t.diags.HasErrors() {
		a.print(&project{view: t.view}, t.diags)
		return exit(1)
	}
	if err := t.keep(f.filter); err != nil {
		return err
	}
	if len(t.runs) == 0 {
		what := fmt.Sprintf("no test found: files of tests end in %s, and lie here or in %s", strings.Join(lang.TestEndings, " or "), f.dir)
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
	r, err := a.tester(f, t.runs)
	if err != nil {
		return err
	}
	results := a.runAll(r, t.runs, f.parallel)
	if f.junit != "" {
		if err := a.writeJUnit(f.junit, results); err != nil {
			return fmt.Errorf("write %s: %w", f.junit, err)
		}
	}
	return a.tellTests(results)
}

// runAll works on several runs at a time and shows each when those before it are
// shown.
func (a *app) runAll(r *tester, runs []*lang.Run, parallel int) []*testResult {
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
		if i == 0 || runs[i-1].File != runs[i].File {
			a.say("%s\n", diag.Printable(runs[i].File))
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
		a.stream.about = map[string]any{"@testfile": r.run.File, "@testrun": r.run.Name}
		defer func() { a.stream.about = nil }()
		a.stream.put(level, "test_run", fmt.Sprintf("run %q in %s: %s", r.run.Name, r.run.File, r.status), map[string]any{
			"test_run": map[string]string{"path": r.run.File, "run": r.run.Name, "progress": "complete", "status": r.status},
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
		c := report.TestCase{File: r.run.File, Name: r.run.Name, Status: r.status, Findings: diag.JSON(r.findings, r.view, ruleOf)}
		cases = append(cases, c)
	}
	var b strings.Builder
	if err := report.Tests(&b, cases); err != nil {
		return err
	}
	return a.write(func() error { return replaceFile(name, []byte(b.String()), 0o644) })
}
