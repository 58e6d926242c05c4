package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rocec/rocec/cmd/rocec/internal/expand"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/disk"
	"github.com/rocec/rocec/lang/source"
	"github.com/spf13/cobra"
)

func (a *app) expandCommand() *cobra.Command {
	in := &inputs{}
	var write bool
	c := &cobra.Command{
		Use: "expand", Short: "Write out what topologies generate", Args: cobra.NoArgs,
		Long: `Prints what the topologies of the configuration generate: switches with their
ports and addresses, links, and what NICs are told. With --write it stands in the
source in place of the topologies, which is for fabrics that stop being regular;
references to generated switches become references to the ones written out. What a
module generates is printed for each call, and written where it is called once.

Nothing changes by it: the new source is compiled first, and if any device would be
told something else, or something still refers to what was generated, it is refused
and no file is touched.`,
		Example: "  rocec expand                 # what does the generator make?\n  rocec expand --write         # and now by hand",
		RunE: func(*cobra.Command, []string) error {
			p, err := a.proven(in)
			if err != nil {
				return err
			}
			changes, err := expand.Topologies(p.cfg, p.res.Fabric)
			if err != nil {
				return err
			}
			if len(changes) == 0 {
				if !a.quiet {
					fmt.Fprintln(a.err, "There is no topology: every device and link is written out already.")
				}
				return nil
			}
			if !write {
				text, err := expand.Text(p.cfg, changes, p.view.Read)
				if err != nil {
					return err
				}
				_, err = io.WriteString(a.out, text)
				return err
			}
			return a.substitute(in, p, changes)
		},
	}
	in.flags(c)
	c.Flags().BoolVar(&write, "write", false, "put it into the source, in place of the topologies")
	return c
}

// substitute writes the source anew, if it says the same.
func (a *app) substitute(in *inputs, p *project, changes []expand.Change) error {
	f := p.res.Fabric
	for t := range f.Topologies {
		if r := f.Topologies[t].Routing; r != 0 && !f.Routings[r].Default {
			return fmt.Errorf("nothing was written: %s names %s, and written switches have that of the whole fabric; call it routing.default first",
				f.Text(f.Topologies[t].Address), f.Text(f.Routings[r].Address))
		}
	}
	files, err := expand.Files(p.cfg, f, changes, p.view.Read)
	if err != nil {
		return err
	}
	again := *in
	again.instead = files
	q, err := a.load(&again, false)
	if err != nil {
		return err
	}
	q.checks()
	if err := a.stopOnErrors(q); err != nil {
		fmt.Fprintln(a.err, "\nNothing was written: the expanded source does not compile. What still refers to the topologies, as a whole or in quotes, has to refer to switches by name first.")
		return err
	}
	if what := differs(p, q); what != "" {
		return fmt.Errorf("nothing was written: the expanded source would change %s", what)
	}
	if err := a.testsPass(in, &again); err != nil {
		return err
	}
	for name := range files {
		if err := within(p.shown(name)); err != nil {
			return err
		}
	}
	return a.write(func() error {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if err := disk.WriteFile(filepath.FromSlash(p.shown(name)), files[name], 0o666); err != nil {
				return fmt.Errorf("write %s: %w", name, err)
			}
			if !a.quiet {
				fmt.Fprintln(a.out, name)
			}
		}
		return nil
	})
}

// testsPass refuses a run of the tests that passes now and would not afterwards:
// it refers to what was generated.
func (a *app) testsPass(before, after *inputs) error {
	t, err := readTests(source.NewFiles(), ".", testsFolder, false)
	if err != nil || t.diags.HasErrors() || len(t.runs) == 0 {
		return err
	}
	runs := make([]placedRun, len(t.runs))
	for i, r := range t.runs {
		runs[i] = placedRun{".", r}
	}
	now, err := a.tester(&testFlags{in: *before}, runs)
	if err != nil {
		return err
	}
	then := &tester{app: a, in: after, settings: now.settings}
	for _, r := range runs {
		x := then.run(r)
		if x.status == testPass || now.run(r).status != testPass {
			continue
		}
		a.print(&project{view: x.view}, x.findings)
		return fmt.Errorf("nothing was written: run %q of %s passes now and would not then; what refers to generated switches has to refer to `switch` blocks first", r.Name, r.File)
	}
	return nil
}

// differs names the first thing that two compilations tell a device differently.
func differs(p, q *project) string {
	byName := func(f *fabric.Fabric) map[string]fabric.DeviceID {
		m := make(map[string]fabric.DeviceID, len(f.Devices))
		for d := 1; d < len(f.Devices); d++ {
			m[f.Text(f.Devices[d].Name)] = fabric.DeviceID(d)
		}
		return m
	}
	was, is := byName(p.res.Fabric), byName(q.res.Fabric)
	if len(was) != len(is) {
		return fmt.Sprintf("the number of devices from %d to %d", len(was), len(is))
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		before := p.res.Intent(was[name])
		if is[name] == 0 {
			return "the name of " + name
		}
		after := q.res.Intent(is[name])
		if (before == nil) != (after == nil) {
			return "whether " + name + " is managed"
		}
		if before == nil {
			continue
		}
		for _, d := range append(intent.Diff(after, before), intent.Diff(before, after)...) {
			return fmt.Sprintf("%s of %s from %q to %q", d.Path, name, d.Before, d.After)
		}
		for _, p := range append(intent.Unseen(before, after), intent.Unseen(after, before)...) { // written in one, left alone in the other
			return fmt.Sprintf("whether %s of %s is set", p, name)
		}
	}
	return ""
}

// instead is a file system in which some files have another text.
func instead(under fs.FS, files map[string][]byte) fs.FS {
	if len(files) == 0 {
		return under
	}
	return overlay{under, files}
}

type overlay struct {
	fs.FS
	files map[string][]byte
}

// Open opens the other text of a file, if it has one.
func (o overlay) Open(name string) (fs.File, error) {
	if text, ok := o.files[name]; ok {
		return &memory{Reader: bytes.NewReader(text), name: name, size: int64(len(text))}, nil
	}
	return o.FS.Open(name)
}

// ReadDir lists a folder, with the files in it that have a text and are not there.
func (o overlay) ReadDir(dir string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(o.FS, dir)
	if err != nil {
		return nil, err
	}
	for name, text := range o.files {
		if path.Dir(name) == dir && !slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == path.Base(name) }) {
			list = append(list, fs.FileInfoToDirEntry(&memory{bytes.NewReader(text), name, int64(len(text))}))
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// memory is a file that is only a text.
type memory struct {
	*bytes.Reader
	name string
	size int64
}

// Stat says what a regular file of that size would.
func (m *memory) Stat() (fs.FileInfo, error) { return m, nil }

// Close has nothing to give back.
func (m *memory) Close() error { return nil }

// Name is the last part of the path.
func (m *memory) Name() string { return m.name[strings.LastIndexByte(m.name, '/')+1:] }

// Size is the length of the text in bytes.
func (m *memory) Size() int64 { return m.size }

// Mode is that of a file that can be read.
func (m *memory) Mode() fs.FileMode { return 0o444 }

// ModTime is not known.
func (m *memory) ModTime() time.Time { return time.Time{} }

// IsDir is false.
func (m *memory) IsDir() bool { return false }

// Sys is nothing.
func (m *memory) Sys() any { return nil }
