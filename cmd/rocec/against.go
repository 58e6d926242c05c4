package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/deploy/checkout"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
)

// planAgainst compares the configuration with that of another git revision, both
// compiled by this rocec with these variables: what the change of the source
// means, whatever the devices have.
func (a *app) planAgainst(ctx context.Context, f *planFlags, p *project, devices []served, rev string) (*planned, error) {
	dir, err := a.revision(ctx, p.dir, rev)
	if err != nil {
		return nil, fmt.Errorf("against: %w", err)
	}
	defer os.RemoveAll(dir)
	old, err := a.loadFrom(dir, &f.in, false)
	if err != nil {
		return nil, fmt.Errorf("against: %w", err)
	}
	before := old.devices()
	if old.diags.HasErrors() {
		return nil, fmt.Errorf("against: the configuration at %s has an error: %s", rev, firstError(old, dir))
	}
	was := map[string]*served{}
	for i := range before {
		if old.written(before[i].id) {
			was[before[i].name] = &before[i]
		}
	}
	store, err := record.Open("record", a.workspace()) // which is not asked
	if err != nil {
		return nil, err
	}
	o := plan.Options{RocecVersion: version(), Variables: p.made.Variables, View: p.view, Waves: p.waves().planned(), Full: a.verbose}
	pl := &planned{project: p, devices: devices, store: store, captured: map[string]*targets.Captured{}}
	parts, failed := make([]*plan.Part, len(devices)), make([]error, len(devices))
	parallel(len(devices), func(i int) {
		if s := &devices[i]; p.written(s.id) {
			parts[i], failed[i] = apart(p, s, old, was[s.name], o)
		}
	})
	there := map[string]bool{}
	for i := range devices {
		if failed[i] != nil {
			return nil, failed[i]
		}
		there[devices[i].name] = parts[i] != nil
		if parts[i] != nil {
			pl.parts = append(pl.parts, parts[i])
		}
	}
	for i := range before {
		if s := &before[i]; f.pick.all() && !there[s.name] && was[s.name] != nil {
			e, err := entryOf(old, s)
			if err != nil {
				return nil, err
			}
			pl.parts = append(pl.parts, plan.Compare(&plan.Device{Address: s.address, Recorded: e}, o))
		}
	}
	pl.plan = plan.Join(pl.parts, o)
	a.print(p, append(p.waves().undrained(pl.plan), p.firstDenied(pl.plan)...))
	return pl, nil
}

// apart compares a device with itself in another revision, nil if it was not there.
func apart(p *project, s *served, old *project, was *served, o plan.Options) (*plan.Part, error) {
	c := p.lower(s)
	out, err := plain(c)
	if err != nil {
		return nil, err
	}
	in := plan.Device{
		Address: c.address, Target: c.target, Want: c.intent, Origin: p.origin(s.id), Digest: out.Digest(c.intent),
		Artifacts: (&apply.Device{Artifacts: out.Artifacts, Kits: out.Kits}).Digests(),
	}
	if was != nil {
		if in.Recorded, err = entryOf(old, was); err != nil {
			return nil, err
		}
	}
	return plan.Compare(&in, o), nil
}

// entryOf is what the record would hold of a device that was applied.
func entryOf(p *project, s *served) (*record.Entry, error) {
	c := p.lower(s)
	out, err := plain(c)
	if err != nil {
		return nil, err
	}
	return &record.Entry{
		Device: c.name, Address: c.address, Emitter: c.target.Name, Output: c.chosen.Output, Status: record.Applied, Intent: c.intent,
		IntentDigest: out.Digest(c.intent), Artifacts: (&apply.Device{Artifacts: out.Artifacts, Kits: out.Kits}).Digests(), Options: c.intent.Options,
	}, nil
}

// firstError is the first error of a project in a folder that nobody knows.
func firstError(p *project, dir string) string {
	var b strings.Builder
	for _, d := range p.diags {
		if d.Severity == diag.Error {
			b.WriteString(d.Summary)
			if len(d.Labels) > 0 {
				if name := p.view.Name(d.Labels[0].Span.File); name != "" {
					name = strings.TrimPrefix(name, filepath.ToSlash(dir)+"/")
					b.WriteString(", in " + name)
				}
			}
			break
		}
	}
	return diag.Printable(b.String())
}

// revision is a folder of its own with the files of the working folder as git has
// them at a revision. Whoever asks removes it.
func (a *app) revision(ctx context.Context, dir, rev string) (string, error) {
	sha, err := commitOf(ctx, dir, rev)
	if err != nil {
		return "", err
	}
	to, err := os.MkdirTemp("", "rocec-against-")
	if err != nil {
		return "", err
	}
	if err := unpack(ctx, dir, sha, to); err != nil {
		return "", errors.Join(fmt.Errorf("files at %s: %w", rev, err), os.RemoveAll(to))
	}
	return to, nil
}

// unpack writes the files that a folder has at a commit into another, and nothing outside of that.
func unpack(ctx context.Context, dir, commit, to string) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	// In a subfolder of the repository this is that folder only, its paths from there.
	return checkout.Files(ctx, dir, commit, func(f checkout.File) error {
		name := filepath.FromSlash(f.Path)
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if f.Link {
			return root.Symlink(string(f.Text), name)
		}
		return root.WriteFile(name, f.Text, 0o644)
	})
}
