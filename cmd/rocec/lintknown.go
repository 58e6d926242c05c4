package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rocec/rocec/cmd/rocec/internal/baseline"
	"github.com/rocec/rocec/cmd/rocec/internal/report"
	"github.com/rocec/rocec/deploy/checkout"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
)

// known is a baseline, with what is wrong in it and what is to be written.
type known struct {
	file    string // as it is opened
	entries []baseline.Known
	view    *source.View
	diags   diag.List
	left    int              // findings that it left out
	write   []baseline.Entry // what is found now
	folders map[string]bool  // that were looked at
}

// leave takes out the findings that the baseline of a project lists, and reports
// entries that stand for nothing any more. Only what has a rule and is no error
// can be left for later. With --write-baseline all that is shown is.
func (l *linter) leave(p *project, s *settings, list diag.List, out []exempt, shown func(*diag.Diagnostic) bool) (diag.List, []exempt, error) {
	k, err := l.baselineOf(s)
	if k == nil || err != nil {
		return list, out, err
	}
	folder, err := folderFrom(k.file, p.dir)
	if err != nil {
		return nil, nil, err
	}
	var at []int // index in list
	var found []baseline.Entry
	for i := range list {
		if d := &list[i]; d.Severity != diag.Error && ruleOf(d.Rule) != nil {
			at, found = append(at, i), append(found, p.entry(d, folder))
		}
	}
	old, stale := baseline.Split(k.entries, folder, found)
	if l.flags.write {
		k.folders[folder], stale = true, nil
		for n := range found {
			if old[n] = shown(&list[at[n]]); old[n] {
				k.write = append(k.write, found[n])
			}
		}
	}
	drop := make([]bool, len(list))
	for n, i := range at {
		drop[i] = old[n]
	}
	var rest, taken diag.List
	for i, d := range list {
		if drop[i] {
			taken.Add(d)
		} else {
			rest.Add(d)
		}
	}
	if len(taken) > 0 {
		k.left += len(taken)
		out = append(out, exempt{taken, report.Exemption{Reason: "listed in " + fromHere(k.file)}})
	}
	if l.flags.newFrom == "" {
		l.reportStale(k, s, stale)
	}
	return rest, out, nil
}

// reportStale reports entries that stand for nothing any more.
func (l *linter) reportStale(k *known, s *settings, stale []baseline.Known) {
	id := k.view.Files.Lookup(fromHere(k.file))
	for _, e := range stale {
		d := diag.Diagnostic{
			Severity: diag.Warning, Summary: "baseline lists " + e.Rule, Help: "delete the entry, or write the list anew: rocec lint --write-baseline",
			Labels: []diag.Label{{Span: source.Span{File: id, Start: uint32(e.Start), Len: uint32(e.Len)}}},
		}
		name := ""
		if r := ruleOf(e.Rule); r != nil {
			name = r.Name
			if !l.flags.wanted(s, &diag.Diagnostic{Rule: r.ID, Severity: r.Severity}) {
				continue
			}
			d.Summary += " " + name
		}
		if e.Address != "" {
			d.Summary += " at " + e.Address
		}
		d.Summary += ", which is not found there any more"
		if e.Count > 1 {
			d.Summary = fmt.Sprintf("%s, %d times", d.Summary, e.Count)
		}
		if l.flags.inside(k.view, &d) {
			k.diags.Add(d)
		}
	}
}

// baselineOf is the baseline that the line or the settings name, nil if none
// does. It is read once.
func (l *linter) baselineOf(s *settings) (*known, error) {
	file := l.flags.baseline
	switch {
	case file == "" && s.Baseline.Text != "":
		file = filepath.FromSlash(s.Baseline.Text)
		if !filepath.IsAbs(file) {
			file = filepath.Join(filepath.Dir(s.file), file)
		}
		if err := s.mayName(file); err != nil {
			return nil, fmt.Errorf("%s names a baseline: %w", fromHere(s.file), err)
		}
	case file == "" && l.flags.write:
		return nil, errors.New("write-baseline needs a file: --baseline=FILE, or baseline in .rocec.hcl")
	case file == "":
		return nil, nil
	}
	key, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if k := l.baselines[key]; k != nil {
		return k, nil
	}
	k := &known{file: file, folders: map[string]bool{}}
	src, err := readFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && l.flags.write:
		src, err = nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no baseline %s yet: write it with rocec lint --write-baseline", fromHere(file))
	case err != nil:
		return nil, fmt.Errorf("read baseline: %w", err)
	}
	files := source.NewFiles()
	id := files.Add(fromHere(file), src)
	k.view = &source.View{Files: files, Read: func(string) ([]byte, error) { return src, nil }}
	if src != nil {
		entries, wrong := baseline.Read(src)
		k.entries = entries
		if wrong != nil {
			if !wrong.Ours {
				k.view.Read = func(string) ([]byte, error) { return nil, fs.ErrPermission } // what is no baseline is not shown
			}
			k.diags.Add(diag.Diagnostic{
				Summary: "baseline cannot be read: " + wrong.Text, Help: "mend it, or delete it and write it anew: rocec lint --write-baseline",
				Labels: []diag.Label{{Span: source.Span{File: id, Start: uint32(wrong.Start)}}},
			})
			l.broken = true
		}
	}
	l.baselines[key] = k
	return k, nil
}

// mayName refuses a file outside of the checkout that the settings came with.
func (s *settings) mayName(file string) error {
	if s.from == nil {
		return nil
	}
	if !s.from.Holds(file) {
		return fmt.Errorf("%s lies outside of the repository, where only the line may name one: --baseline=FILE", file)
	}
	return s.from.Check(file)
}

// folderFrom is a folder as entries of a baseline name it.
func folderFrom(file, dir string) (string, error) {
	from, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(from, to)
	if err != nil {
		return "", fmt.Errorf("a baseline and what it lists stand on one volume: %w", err)
	}
	if rel == "." {
		return "", nil
	}
	return filepath.ToSlash(rel), nil
}

// entry is a finding as a baseline lists it.
func (p *project) entry(d *diag.Diagnostic, folder string) baseline.Entry {
	one := diag.JSON(diag.List{*d}, p.view, ruleOf)
	return baseline.Entry{Folder: folder, Rule: d.Rule, Address: one[0].Address, Source: report.Source(&one[0])}
}

// writeBaselines writes what is found now in place of what was known of the
// folders that were looked at.
func (l *linter) writeBaselines() error {
	for _, name := range slices.Sorted(maps.Keys(l.baselines)) {
		k := l.baselines[name]
		for _, e := range k.entries {
			if !k.folders[e.Folder] {
				k.write = append(k.write, e.Entry)
			}
		}
		var b bytes.Buffer
		if err := baseline.Write(&b, k.write); err != nil {
			return err
		}
		if err := l.app.write(func() error { return replaceFile(k.file, b.Bytes(), 0o644) }); err != nil {
			return fmt.Errorf("write %s: %w", k.file, err)
		}
	}
	return nil
}

// tellKnown says to people what was left out.
func (l *linter) tellKnown() {
	if l.quiet || l.json {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(l.baselines)) {
		k := l.baselines[name]
		switch {
		case l.flags.write && !l.broken:
			fmt.Fprintf(l.err, "%s lists %s now.\n", fromHere(k.file), count(len(k.write), "finding"))
		case k.left > 0:
			fmt.Fprintf(l.err, "Not shown: %s that %s lists.\n", count(k.left, "finding"), fromHere(k.file))
		}
	}
}

// before are the findings that the configuration of a folder has where the current branch left the revision of --new-from-rev,
// under the same settings; nil without the flag. A folder that was not there, or that did not load, leaves all to the branch.
func (l *linter) before(ctx context.Context, dir string, s *settings, in inputs) (earlier, error) {
	if l.flags.newFrom == "" {
		return nil, nil
	}
	name := fmt.Sprint(dir, " ", in.each)
	if e, known := l.earlier[name]; known {
		return e, nil
	}
	e := earlier{}
	base, err := forkPoint(ctx, dir, l.flags.newFrom)
	if err != nil {
		return nil, fmt.Errorf("new-from-rev: %w", err)
	}
	there, err := checkout.Run(ctx, dir, "ls-tree", base, ".")
	if err == nil && len(there) > 0 {
		err = l.at(ctx, dir, base, s, in, e)
	}
	if err != nil {
		return nil, fmt.Errorf("new-from-rev: %w", err)
	}
	l.earlier[name] = e
	return e, nil
}

// at enters the findings that a folder has at a commit.
func (l *linter) at(ctx context.Context, dir, commit string, s *settings, in inputs, e earlier) error {
	tree, err := l.revision(ctx, dir, commit)
	if err != nil {
		return err
	}
	defer os.RemoveAll(tree)
	old, err := l.loadFrom(tree, &in, false)
	if err != nil {
		return err
	}
	old.devices()
	old.checks()
	list, out := s.exempt(old)
	e.enter(old, list, false)
	for _, x := range out {
		e.enter(old, x.list, true)
	}
	return nil
}

// earlier are findings by what stays of them when lines move, and how many each of them stands for.
type earlier map[fingerprint][]int

type fingerprint struct {
	baseline.Entry
	exempt bool
}

func (e earlier) enter(p *project, list diag.List, exempt bool) {
	for i := range list {
		key := p.fingerprint(&list[i], exempt)
		e[key] = append(e[key], list[i].Count)
	}
}

// without leaves the findings of a project that are not among the earlier ones. One that stands for more than before is new.
func (e earlier) without(p *project, list diag.List, exempt bool) diag.List {
	if e == nil {
		return list
	}
	var fresh diag.List
	taken := map[fingerprint][]bool{}
	for _, d := range list {
		key := p.fingerprint(&d, exempt)
		if taken[key] == nil {
			taken[key] = make([]bool, len(e[key]))
		}
		known := false
		for i, count := range e[key] {
			if known = !taken[key][i] && count >= d.Count; known {
				taken[key][i] = true
				break
			}
		}
		if !known {
			fresh.Add(d)
		}
	}
	return fresh
}

// fingerprint is what a finding is known by; what has no rule is told by its words.
func (p *project) fingerprint(d *diag.Diagnostic, exempt bool) fingerprint {
	e := p.entry(d, "")
	if d.Rule == "" {
		e.Source = d.Summary
	}
	return fingerprint{e, exempt}
}

// forkPoint is the commit where the current branch left a revision.
func forkPoint(ctx context.Context, dir, rev string) (string, error) {
	sha, err := commitOf(ctx, dir, rev)
	if err != nil {
		return "", err
	}
	if fork, err := checkout.Run(ctx, dir, "merge-base", sha, "HEAD"); err == nil {
		sha = strings.TrimSpace(string(fork))
	}
	return sha, nil
}

// commitOf is the commit that a revision names.
func commitOf(ctx context.Context, dir, rev string) (string, error) {
	sha, err := checkout.Run(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	switch {
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, checkout.ErrCommitted):
		return "", err
	case err != nil:
		return "", fmt.Errorf("git knows no revision %q here (in a pipeline, fetch it first)", rev)
	}
	return strings.TrimSpace(string(sha)), nil
}
