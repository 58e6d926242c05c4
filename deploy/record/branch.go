package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/rocec/rocec/deploy/checkout"
	"github.com/rocec/rocec/deploy/disk"
)

// committed is a backend: a folder of a work tree whose changes are committed when
// the lock is given back, and at Sync; those that a process that died left there are
// committed with them. The lock is that of the folder, and where there is a remote a
// reference on it too.
type committed struct {
	*folder
	*repository
	path   string   // of the workspace's folder in the work tree
	remote *refLock // nil: none

	mu    sync.Mutex
	dirty map[string]bool // devices
}

func openGit(s Settings, store *Store) (*Store, error) {
	ctx := context.Background()
	r, path, err := workTree(ctx, s.Source, s.Within)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	path = strings.Trim(path+"/"+store.workspace, "/")
	if s.Push && s.Remote == "" {
		s.Remote = "origin"
	}
	var lock *refLock
	if s.Remote != "" {
		if err := checkout.CheckRemote(ctx, r.dir, s.Remote); err != nil {
			return nil, fmt.Errorf("record: %w", err)
		}
		lock = &refLock{repository: r, remote: s.Remote, workspace: store.workspace}
		store.retryEvery = retryRemote
	}
	if !s.Push {
		store.backend = &committed{folder: store.folder, repository: r, path: path, remote: lock, dirty: map[string]bool{}}
		return store, nil
	}
	branch := s.Branch
	if branch == "" {
		if branch, err = r.line(ctx, "symbolic-ref", "--quiet", "--short", "HEAD"); err != nil {
			return nil, errors.New("record: no branch is checked out: write branch")
		}
	}
	if _, err := r.line(ctx, "check-ref-format", "--branch", branch); err != nil {
		return nil, fmt.Errorf("record: %q is no name of a branch", short(branch))
	}
	store.backend = &pushed{refLock: lock, path: path, branch: branch, sleep: sleep}
	store.folder = nil
	if s.Spool != "" {
		store.backend = newSpool(store.backend, s.Spool, store.workspace)
	}
	return store, nil
}

// Put writes the file.
func (c *committed) Put(ctx context.Context, id, device string, b []byte, version string) error {
	if err := c.folder.Put(ctx, id, device, b, version); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dirty[device] = true
	return nil
}

// putAll writes files together. Those that are there are committed, also if
// another failed.
func (c *committed) putAll(id string, list []putting) error {
	err := c.folder.putAll(id, list)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range list {
		if err != nil && c.is(p.device, Digest(p.text)) != nil {
			continue
		}
		c.dirty[p.device] = true
	}
	return err
}

// Sync commits what was put, on the branch that is checked out. Nothing else of
// the work tree or its index is in the commit.
func (c *committed) Sync(ctx context.Context, id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.dirty) == 0 {
		return nil
	}
	changes, err := c.changes(ctx)
	if err != nil {
		return err
	}
	head, err := c.tip(ctx, "HEAD")
	if err != nil {
		return err
	}
	commit, err := c.commit(ctx, head, message(c.workspace, len(c.dirty)), changes)
	if err != nil {
		return err
	}
	same, err := c.sameFiles(ctx, head, commit)
	if err != nil {
		return err
	}
	if !same { // else only the index is behind
		if _, err := c.run(ctx, nil, "update-ref", "-m", "rocec: record", "HEAD", commit, head); err != nil {
			return err
		}
	}
	clear(c.dirty)
	var paths bytes.Buffer
	for _, ch := range changes {
		paths.WriteString(ch.path + "\x00")
	}
	root, err := c.line(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	whole := *c.repository
	whole.dir = root
	_, err = whole.run(ctx, paths.Bytes(), "update-index", "--add", "--remove", "-z", "--stdin")
	return err
}

func (c *committed) changes(ctx context.Context) ([]change, error) {
	var list []change
	for _, device := range slices.Sorted(maps.Keys(c.dirty)) {
		b, err := c.folder.Get(ctx, device)
		if err != nil {
			return nil, err
		}
		list = append(list, change{c.path + "/" + device + suffix, b})
	}
	if b, err := disk.ReadFile(c.folder.dir()+"/"+ignoreFile, 1<<16); err == nil {
		list = append(list, change{c.path + "/" + ignoreFile, b})
	}
	return list, nil
}

// message is that of a commit. Pipelines of GitHub and GitLab pass over commits
// that say [skip ci]: nothing of the source changed.
func message(workspace string, n int) string {
	what := "devices"
	if n == 1 {
		what = "device"
	}
	return fmt.Sprintf("rocec record: workspace %s, %d %s [skip ci]", workspace, n, what)
}

// Lock takes the folder's lock, and that on the remote.
func (c *committed) Lock(ctx context.Context, h Holder) error {
	if err := c.folder.Lock(ctx, h); err != nil {
		return err
	}
	err := c.adopt(ctx)
	if err == nil && c.remote != nil {
		err = c.remote.take(ctx, h)
	}
	if err != nil {
		return errors.Join(err, c.folder.Unlock(ctx, h.ID))
	}
	return nil
}

// adopt finds what differs from what is committed: a process died before its commit,
// or between that and the index.
func (c *committed) adopt(ctx context.Context) error {
	out, err := c.run(ctx, nil, "status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all", "--untracked-files=all", "--ignored", "--", ":(top,literal)"+c.path)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for row := range strings.SplitSeq(string(out), "\x00") {
		if len(row) < len("XY ") {
			continue
		}
		name, in := strings.CutPrefix(row[len("XY "):], c.path+"/")
		device, entry := strings.CutSuffix(name, suffix)
		if !in || !entry || disk.CheckName(device) != nil {
			continue
		}
		b, err := c.folder.Get(ctx, device)
		if err != nil {
			return err
		}
		if b != nil {
			if _, err := Decode(b, c.workspace, device); err != nil {
				continue // no process of ours wrote it: a merge, perhaps
			}
		}
		c.dirty[device] = true
	}
	return nil
}

// Unlock gives both back.
func (c *committed) Unlock(ctx context.Context, id string) error {
	var err error
	if c.remote != nil {
		err = c.remote.give(ctx, id)
	}
	return errors.Join(err, c.folder.Unlock(ctx, id))
}

// Holder is who has the lock on the remote, else that of the folder.
func (c *committed) Holder(ctx context.Context) (*Holder, error) {
	if c.remote == nil {
		return c.folder.Holder(ctx)
	}
	_, h, err := c.remote.read(ctx)
	return h, err
}

// Break breaks both locks, as far as they have this ID.
func (c *committed) Break(ctx context.Context, id string) error {
	if c.remote == nil {
		return c.folder.Break(ctx, id)
	}
	err := c.remote.breakUp(ctx, id)
	if h, e := c.folder.Holder(ctx); e == nil && h != nil && h.ID == id {
		err = errors.Join(err, c.folder.Break(ctx, id))
	}
	return err
}

// pushed is a backend: a folder of a branch on a remote. Entries are read from
// there and pushed there; the work tree is left alone, whatever is checked out.
type pushed struct {
	*refLock
	path, branch string
	sleep        sleeper

	stateMu sync.Mutex
	base    string            // commit that known is of
	known   *state            // nil: not read yet
	old     map[string]string // versions that changed entries had, by device
}

// Where is the remote with the branch. The remote may be an address.
func (p *pushed) Where() string {
	return checkout.Words([]byte(p.remote)) + " " + p.branch + ":" + p.path
}

// load fetches the branch, unless that was done.
func (p *pushed) load(ctx context.Context) error {
	if p.known != nil {
		return nil
	}
	base, known, err := p.fetch(ctx)
	if err != nil {
		return err
	}
	p.base, p.known, p.old = base, known, map[string]string{}
	return nil
}

func (p *pushed) fetch(ctx context.Context) (string, *state, error) {
	name := "refs/heads/" + p.branch
	there, err := p.onRemote(ctx, p.remote, name)
	if err != nil {
		return "", nil, err
	}
	base := ""
	if there != "" {
		kept := "refs/rocec/remote/" + p.branch
		if _, err := p.run(ctx, nil, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", p.remote, "+"+name+":"+kept); err != nil {
			return "", nil, err
		}
		if base, err = p.tip(ctx, kept); err != nil {
			return "", nil, err
		}
	}
	known, err := p.files(ctx, base, p.path)
	return base, known, err
}

// List names the entries.
func (p *pushed) List(ctx context.Context) ([]string, error) {
	p.stateMu.Lock()
	defer p.stateMu.Unlock()
	if err := p.load(ctx); err != nil {
		return nil, err
	}
	return p.known.names(), nil
}

// Get is an entry as it is in the branch, or was put.
func (p *pushed) Get(ctx context.Context, device string) ([]byte, error) {
	p.stateMu.Lock()
	defer p.stateMu.Unlock()
	if err := p.load(ctx); err != nil {
		return nil, err
	}
	return p.known.entries[device], nil
}

// Put keeps a change for Sync.
func (p *pushed) Put(ctx context.Context, _, device string, b []byte, version string) error {
	p.stateMu.Lock()
	defer p.stateMu.Unlock()
	if err := p.load(ctx); err != nil {
		return err
	}
	have := versionOf(p.known, device)
	if have != version {
		return &ConflictError{Device: device, Want: version, Have: have}
	}
	if _, again := p.old[device]; !again {
		p.old[device] = have
	}
	if b == nil {
		delete(p.known.entries, device)
	} else {
		p.known.entries[device] = b
	}
	return nil
}

func versionOf(s *state, device string) string {
	if b, ok := s.entries[device]; ok {
		return Digest(b)
	}
	return ""
}

// Sync commits the changes on top of the branch and pushes them. Where somebody
// else pushed meanwhile, it is tried again on top of that, unless one of the
// entries changed there too.
func (p *pushed) Sync(ctx context.Context, id string) error {
	p.stateMu.Lock()
	defer p.stateMu.Unlock()
	if len(p.old) == 0 {
		return nil
	}
	if _, err := p.held(ctx, id); err != nil {
		return err
	}
	var changes []change
	for _, device := range slices.Sorted(maps.Keys(p.old)) {
		changes = append(changes, change{p.path + "/" + device + suffix, p.known.entries[device]})
	}
	for n := 1; ; n++ {
		commit, err := p.commit(ctx, p.base, message(p.workspace, len(p.old)), changes)
		if err != nil {
			return err
		}
		_, err = p.run(ctx, nil, "push", "--porcelain", "--no-verify", "--", p.remote, commit+":refs/heads/"+p.branch)
		if err == nil {
			p.base = commit
			clear(p.old)
			return nil
		}
		base, now, fetched := p.fetch(ctx)
		switch {
		case fetched != nil:
			return errors.Join(err, fetched)
		case base == commit: // the answer was lost
			p.base = commit
			clear(p.old)
			return nil
		case n == attempts:
			return err
		}
		for device, version := range p.old {
			if have := versionOf(now, device); have != version {
				return &ConflictError{Device: device, Want: version, Have: have}
			}
		}
		if base == p.base { // nobody was faster: the remote, or the way there, refuses
			if e := p.sleep(ctx, firstRetry); e != nil {
				return errors.Join(err, e)
			}
		}
		for device := range p.old {
			if b, ok := p.known.entries[device]; ok {
				now.entries[device] = b
			} else {
				delete(now.entries, device)
			}
		}
		p.base, p.known = base, now
	}
}

// Lock takes the lock on the remote, and reads the branch anew.
func (p *pushed) Lock(ctx context.Context, h Holder) error {
	if err := p.take(ctx, h); err != nil {
		return err
	}
	p.stateMu.Lock()
	defer p.stateMu.Unlock()
	p.known = nil
	if err := p.load(ctx); err != nil {
		return errors.Join(err, p.give(ctx, h.ID))
	}
	return nil
}

// Unlock gives the lock on the remote back.
func (p *pushed) Unlock(ctx context.Context, id string) error { return p.give(ctx, id) }

// Break breaks the lock on the remote.
func (p *pushed) Break(ctx context.Context, id string) error { return p.breakUp(ctx, id) }

// Holder is who has the lock on the remote.
func (p *pushed) Holder(ctx context.Context) (*Holder, error) {
	_, h, err := p.read(ctx)
	return h, err
}
