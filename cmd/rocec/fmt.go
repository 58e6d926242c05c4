package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rocec/rocec/deploy/disk"
	"github.com/rocec/rocec/lang/format"
	"github.com/spf13/cobra"
)

func (a *app) fmtCommand() *cobra.Command {
	var check, diff, recursive, fix bool
	list, write := true, true
	c := &cobra.Command{
		Use:     "fmt [PATH...]",
		Short:   "Rewrite files to the canonical layout and order of attributes, with --fix in the words of the newest edition; - reads standard input",
		Example: "  rocec fmt --check --diff --recursive\n  rocec fmt --fix --recursive",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "-" {
				return a.fmtStream(fix, check, diff)
			}
			files, worst, err := a.fmtFiles(args, recursive, fix)
			if err != nil {
				return err
			}
			var fixes map[string]format.Fixed
			if fix {
				if fixes, err = a.fixFiles(files, args, recursive); err != nil {
					return err
				}
			}
			for _, name := range files {
				code, err := a.fmtFile(name, fixes, check, diff, list, write)
				if err != nil {
					return err
				}
				if code == 2 || worst == 0 {
					worst = code
				}
			}
			if worst != 0 {
				return exit(worst)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&check, "check", false, "change nothing; exit 3 if something would change")
	c.Flags().BoolVar(&diff, "diff", false, "show what would change")
	c.Flags().BoolVar(&fix, "fix", false, "write the words of the newest edition of the language; what is left to do by hand is named on standard error")
	c.Flags().BoolVar(&recursive, "recursive", false, "folders below as well")
	c.Flags().BoolVar(&list, "list", true, "name the files that change")
	c.Flags().BoolVar(&write, "write", true, "write the files")
	return c
}

func (a *app) fmtStream(fix, check, diff bool) error {
	src, err := io.ReadAll(a.in)
	if err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	if what := notText(src); what != "" {
		fmt.Fprintf(a.err, "<stdin>: %s\n", what)
		return exit(2)
	}
	w := format.Fixed{Text: src}
	if fix {
		w = fixStream(src)
	}
	out, code := a.canonical("<stdin>", "-", w)
	if code == 2 && len(w.Left) == 0 {
		return exit(2)
	}
	switch {
	case diff:
		fmt.Fprint(a.out, format.Diff("<stdin>", src, out))
	case !check:
		a.out.Write(out)
	}
	switch {
	case code != 0:
		return exit(code)
	case check && string(out) != string(src):
		return exit(3)
	}
	return nil
}

// canonical is the canonical layout of a file. What is wrong with it, and what is left to do by hand, is told, and the exit code is 2.
func (a *app) canonical(shown, name string, w format.Fixed) ([]byte, int) {
	problem, out := w.Problem, w.Text
	if problem == nil {
		out, problem = format.Source(name, w.Text)
	}
	if problem != nil {
		fmt.Fprintln(a.err, problemAt(shown, *problem))
		return out, 2
	}
	for _, p := range w.Left {
		fmt.Fprintln(a.err, problemAt(shown, p))
	}
	if len(w.Left) > 0 {
		return out, 2
	}
	return out, 0
}

// notText says why bytes are no source: what the language refuses before it
// reads a word, the layout has no business with.
func notText(src []byte) string {
	switch {
	case bytes.IndexByte(src, 0) >= 0:
		return fmt.Sprintf("file is not text: byte %d is zero", bytes.IndexByte(src, 0))
	case !utf8.Valid(src):
		return "file is not text in UTF-8"
	}
	return ""
}

// fmtFiles lists the files of the arguments, of the folder without any. Links that lead out of the checkout are named and
// left out, and the exit code says so.
func (a *app) fmtFiles(args []string, recursive, fix bool) (files []string, code int, err error) {
	if len(args) == 0 {
		args = []string{"."}
	}
	take := func(of disk.Checkout, name string) {
		if err := of.Check(name); err != nil {
			fmt.Fprintf(a.err, "left alone: %v\n", err)
			code = 1
			return
		}
		files = append(files, name)
	}
	for _, arg := range args {
		path := arg
		if err := within(path); err != nil {
			return nil, 0, err
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, 0, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		of, err := checkoutAt(path)
		if err != nil {
			return nil, 0, err
		}
		err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && name != path && (!recursive || strings.HasPrefix(d.Name(), ".") || a.isDataDir(name)):
				return filepath.SkipDir
			case !d.IsDir() && (formatted(d.Name()) || fix && strings.HasSuffix(d.Name(), ".roce.json")):
				take(of, name)
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	slices.Sort(files)
	return slices.Compact(files), code, nil
}

func formatted(name string) bool {
	for _, ending := range []string{".roce.hcl", ".rocevars.hcl", ".rocetest.hcl"} {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return false
}

// fmtFile formats one file and returns the exit code it asks for.
func (a *app) fmtFile(name string, fixes map[string]format.Fixed, check, diff, list, write bool) (int, error) {
	src, err := readFile(name)
	if err != nil {
		return 1, err
	}
	if what := notText(src); what != "" {
		fmt.Fprintf(a.err, "%s: %s\n", name, what)
		return 2, nil
	}
	w, ok := fixes[filepath.Clean(name)]
	if !ok {
		w.Text = src
	}
	out, code := a.canonical(name, name, w)
	if string(out) == string(src) || code == 2 && len(w.Left) == 0 {
		return code, nil
	}
	if list {
		fmt.Fprintln(a.out, name)
	}
	if diff {
		fmt.Fprint(a.out, format.Diff(name, src, out))
	}
	if check {
		return cmp.Or(code, 3), nil // 2 where there is more to do than to run fmt
	}
	if write {
		info, err := os.Stat(name)
		if err != nil {
			return 1, err
		}
		if err := a.write(func() error { return replaceFile(name, out, info.Mode().Perm()) }); err != nil {
			return 1, fmt.Errorf("write %s: %w", name, err)
		}
	}
	return code, nil
}

// replaceFile writes a file beside the old one and renames it, so that a full
// disk or a killed process leaves the old one whole. A link stays one; one that
// leads out of the checkout is refused.
func replaceFile(name string, content []byte, mode fs.FileMode) error {
	return replaceBy(name, mode, func(to io.Writer) error {
		_, err := to.Write(content)
		return err
	})
}

// replaceBy does so with what a function writes.
func replaceBy(name string, mode fs.FileMode, write func(io.Writer) error) error {
	if err := within(name); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0) // a device or a pipe takes bytes and no other name
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".rocec-*")
	if err != nil {
		return err
	}
	err = write(f)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
