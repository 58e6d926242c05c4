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
	"github.com/rocec/rocec/cmd/rocec/internal/changes"
	"github.com/rocec/rocec/cmd/rocec/internal/report"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/format"
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

// changed tells whether a finding touches a line that --new-from-rev asks for.
// What git does not know of, values of the command line and files outside of the
// folder, counts as changed.
func (l *linter) changed(ctx context.Context, p *project) (func(*diag.Diagnostic) bool, error) {
	if l.flags.newFrom == "" {
		return func(*diag.Diagnostic) bool { return true }, nil
	}
	lines, err := changedLines(ctx, p.dir, l.flags.newFrom)
	if err != nil {
		return nil, fmt.Errorf("new-from-rev: %w", err)
	}
	trees := map[source.FileID]*format.Tree{}
	// A finding that points to the head of a block is about what stands in it.
	whole := func(s source.Span, name string) source.Span {
		t, read := trees[s.File]
		if !read && len(lines[name]) > 0 {
			if text, err := p.view.Read(name); err == nil {
				t, _ = format.Parse(name, text)
			}
			trees[s.File] = t
		}
		if t != nil {
			if end, ok := t.BlockEnd(int(s.Start)); ok {
				s.Len = max(s.Len, uint32(end)-s.Start)
			}
		}
		return s
	}
	return func(d *diag.Diagnostic) bool {
		placed := false
		for _, label := range d.Labels {
			if label.Span.IsZero() {
				continue
			}
			placed = true
			name := p.cfg.Files.Name(label.Span.File)
			if strings.HasPrefix(name, "pack:") {
				continue
			}
			start, end, ok := p.view.Range(whole(label.Span, name))
			if !ok || outside(name) || slices.Contains(p.varFiles, name) || lines.Touch(name, start.Line, end.Line) {
				return true
			}
		}
		return !placed
	}, nil
}

// changedLines asks git which lines of a folder differ from where the current
// branch left a revision.
func changedLines(ctx context.Context, dir, rev string) (changes.Lines, error) {
	sha, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return nil, fmt.Errorf("it asks git, which is not there: %w", err)
		}
		return nil, fmt.Errorf("git knows no revision %q here (in a pipeline, fetch it first)", rev)
	}
	base := strings.TrimSpace(string(sha))
	if fork, err := git(ctx, dir, "merge-base", base, "HEAD"); err == nil {
		base = strings.TrimSpace(string(fork))
	}
	diff, err := git(ctx, dir, "diff", "--unified=0", "--inter-hunk-context=0", "--no-color", "--no-ext-diff", "--no-textconv", "--text", "--ignore-submodules",
		"--find-renames", "--relative", "--src-prefix=a/", "--dst-prefix=b/", base, "--", ".")
	if err != nil {
		return nil, err
	}
	lines, err := changes.Parse(diff)
	if err != nil {
		return nil, err
	}
	names, err := git(ctx, dir, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(string(names), "\x00") {
		if name != "" {
			lines[name] = []changes.Range{changes.All}
		}
	}
	return lines, nil
}

// git runs a command of git that only reads.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, "git", append([]string{"-C", dir, "-c", "core.fsmonitor=false", "--no-optional-locks"}, args...)...)
	c.Env = append(os.Environ(), "LC_ALL=C")
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if text := strings.TrimSpace(said.String()); err != nil && text != "" {
		return nil, fmt.Errorf("git %s: %s", args[0], diag.Printable(text))
	}
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out, nil
}
