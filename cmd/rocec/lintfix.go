package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rocec/rocec/cmd/rocec/internal/baseline"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/format"
	"github.com/rocec/rocec/lang/source"
)

// maxFixRounds bounds how often a folder is read anew for fixes: what two
// findings want of one attribute takes two rounds.
const maxFixRounds = 10

// fixes are the files of one folder with what was mended in them.
type fixes struct {
	texts  map[string][]byte // by name in the configuration
	mended int               // findings
}

// fix mends what is found in a folder, as far as rules bring edits, and writes
// the files, or shows what would change. What is mended is read again before:
// unless each finding is gone and there is no error that was not there, nothing
// is written. It returns the project as it is on disk afterwards.
func (l *linter) fix(ctx context.Context, p *project, s *settings, in inputs) (*project, error) {
	k, err := l.baselineOf(s)
	if err != nil {
		return nil, err
	}
	in.each = true
	f := &fixes{texts: map[string][]byte{}}
	load := func(texts map[string][]byte) (*project, error) {
		one := in // a project reads by its inputs for as long as it is there
		one.instead = texts
		q, err := l.loadFrom(p.dir, &one, false)
		if err == nil {
			if !p.diags.HasErrors() {
				q.devices() // what a target refuses is told where nothing else is wrong
			}
			q.checks()
		}
		return q, err
	}
	now, err := load(nil)
	if err != nil {
		return nil, err
	}
	before := now
	for range maxFixRounds {
		list, err := l.toFix(ctx, now, s, k, in)
		if err != nil {
			return nil, err
		}
		next, taken, err := f.round(now, list, l.fixable(now))
		if err != nil {
			return nil, err
		}
		if len(taken) == 0 {
			break
		}
		after, err := load(next)
		if err != nil {
			return nil, err
		}
		if why := worse(now, after, taken); why != "" {
			l.tell("Nothing was written in %s: %s. Choose what is mended with --only, --disable-rule or --filter.", fromHere(p.dir), why)
			return p, nil
		}
		f.texts, f.mended, now = next, f.mended+len(taken), after
	}
	return l.finish(p, before, f, in)
}

// finish shows or writes the files.
func (l *linter) finish(p, before *project, f *fixes, in inputs) (*project, error) {
	if len(f.texts) == 0 {
		return p, nil
	}
	old := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(f.texts)) {
		text, err := before.view.Read(name)
		if err != nil {
			return nil, err
		}
		old[name] = text
		if l.flags.diff {
			fmt.Fprint(l.out, format.Diff(p.shown(name), text, f.texts[name]))
		}
	}
	if l.flags.diff {
		return p, nil
	}
	var files []rewritten
	for _, name := range slices.Sorted(maps.Keys(f.texts)) {
		files = append(files, rewritten{filepath.FromSlash(p.shown(name)), old[name], f.texts[name]})
	}
	if err := l.app.write(func() error { return rewrite(files) }); err != nil {
		return nil, fmt.Errorf("nothing was mended: %w", err)
	}
	l.tell("Mended %s in %s.", count(f.mended, "finding"), count(len(files), "file"))
	in.each = false
	return l.loadFrom(p.dir, &in, false)
}

func (l *linter) tell(form string, args ...any) {
	if !l.quiet {
		fmt.Fprintf(l.err, form+"\n", args...)
	}
}

// toFix are the findings that count: neither silenced nor accepted, nor listed in
// a baseline, nor switched off.
func (l *linter) toFix(ctx context.Context, p *project, s *settings, k *known, in inputs) (diag.List, error) {
	old, err := l.before(ctx, p.dir, s, in)
	if err != nil {
		return nil, err
	}
	list, _ := s.exempt(p)
	list = old.without(p, list, false)
	if k != nil {
		folder, err := folderFrom(k.file, p.dir)
		if err != nil {
			return nil, err
		}
		var rest diag.List
		for i := range list {
			// An entry stands for a finding that was shown for all ports that are alike.
			e := p.entry(&list[i], folder)
			if list[i].Severity == diag.Error || !slices.ContainsFunc(k.entries, func(x baseline.Known) bool { return x.Folder == folder && x.Rule == e.Rule && x.Source == e.Source }) {
				rest.Add(list[i])
			}
		}
		list = rest
	}
	return list.Keep(func(d *diag.Diagnostic) bool {
		return len(d.Edits) > 0 && l.flags.wanted(s, d) && l.flags.inside(p.view, d)
	}), nil
}

// round makes the changes of as many findings as go together.
func (f *fixes) round(p *project, list diag.List, trees func(source.FileID) *format.Tree) (map[string][]byte, diag.List, error) {
	changes, at := format.Pick(list, trees)
	next := maps.Clone(f.texts)
	for id, list := range changes {
		name := p.cfg.Files.Name(id)
		out, problem := trees(id).Apply(list)
		if problem != nil {
			return nil, nil, fmt.Errorf("mend %s:%d:%d: %w", p.shown(name), problem.Line, problem.Column, problem)
		}
		next[name] = out
	}
	var taken diag.List
	for _, i := range at {
		taken.Add(list[i])
	}
	return next, taken, nil
}

// worse says why a folder is not better than it was: it does not load, a finding
// is still there, or an error is new. It is "" if all is well.
func worse(before, after *project, taken diag.List) string {
	key := func(d *diag.Diagnostic) string {
		if d.Rule == "" {
			return d.Summary
		}
		return d.Rule + " " + d.Address
	}
	if !after.loaded() {
		for _, d := range after.diags {
			if d.Severity == diag.Error {
				return "mended, it does not load: " + diag.Printable(d.Summary)
			}
		}
		return "mended, it does not load"
	}
	left := map[string]int{}
	for i := range before.diags {
		if d := &before.diags[i]; d.Severity == diag.Error {
			left[key(d)]++
		}
	}
	gone := map[string]string{}
	for i := range taken {
		gone[key(&taken[i])] = taken[i].Summary
	}
	still := map[string]int{}
	for i := range after.diags {
		d := &after.diags[i]
		still[key(d)]++
		if d.Severity != diag.Error {
			continue
		}
		if left[key(d)]--; left[key(d)] < 0 {
			return "it would bring an error: " + diag.Printable(d.Summary)
		}
	}
	was := map[string]int{}
	for i := range before.diags {
		was[key(&before.diags[i])]++
	}
	for _, k := range slices.Sorted(maps.Keys(gone)) {
		if still[k] >= was[k] {
			return "the edits do not mend this: " + diag.Printable(gone[k])
		}
	}
	return ""
}

// fixable returns the files of a project in which attributes may be written
// otherwise: those of the configuration, but for hidden ones and JSON.
func (l *linter) fixable(p *project) func(source.FileID) *format.Tree {
	trees := map[source.FileID]*format.Tree{}
	return func(id source.FileID) *format.Tree {
		t, seen := trees[id]
		if !seen {
			t = p.tree(id)
			trees[id] = t
		}
		return t
	}
}

func (p *project) tree(id source.FileID) *format.Tree {
	name := p.cfg.Files.Name(id)
	hidden := slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.HasPrefix(part, ".") })
	if hidden || outside(name) || slices.Contains(p.varFiles, name) || !isConfiguration(name) {
		return nil
	}
	text, err := p.view.Read(name)
	if err != nil || sha256.Sum256(text) != p.cfg.Files.Digest(id) {
		return nil
	}
	t, problem := format.Parse(name, text)
	if problem != nil {
		return nil
	}
	return t
}

// fixesOf gives each finding that can be mended the bytes that are to change, and
// takes the edits off the others, so that programs can make them.
func (l *linter) fixesOf(p *project, list diag.List) {
	trees := l.fixable(p)
	for i := range list {
		d := &list[i]
		var edits []diag.Edit
		for _, c := range format.Mends(d, trees) {
			edits = append(edits, diag.Edit{Span: source.Span{File: c.File, Start: uint32(c.Start), Len: uint32(c.End - c.Start)}, New: c.Text})
		}
		d.Edits = edits
	}
}

// rewritten is a file with its text before and after.
type rewritten struct {
	name     string
	old, new []byte
}

// rewrite gives files other texts, all of them or none: each is written beside
// the old one first, then all are renamed. A file that is no more as it was read
// is not touched, and no other is.
func rewrite(files []rewritten) (err error) {
	staged := make([]string, len(files))
	defer func() {
		for _, name := range staged {
			if name != "" {
				os.Remove(name)
			}
		}
	}()
	names := make([]string, len(files))
	modes := make([]fs.FileMode, len(files))
	for i, f := range files {
		if names[i], err = filepath.EvalSymlinks(f.name); err != nil {
			return err
		}
		info, err := os.Stat(names[i])
		if err != nil {
			return err
		}
		modes[i] = info.Mode().Perm()
		if staged[i], err = stage(names[i], f.new, modes[i]); err != nil {
			return err
		}
	}
	for i, f := range files {
		switch text, err := os.ReadFile(names[i]); {
		case err != nil:
			return err
		case !bytes.Equal(text, f.old):
			return fmt.Errorf("%s was changed meanwhile", f.name)
		}
	}
	for i := range files {
		if err := os.Rename(staged[i], names[i]); err != nil {
			for j := range i {
				err = errors.Join(err, replaceFile(names[j], files[j].old, modes[j]))
			}
			return err
		}
		staged[i] = ""
	}
	return nil
}

// stage writes a file in the folder of another one and returns its name.
func stage(name string, text []byte, mode fs.FileMode) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".rocec-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	return f.Name(), errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
}
