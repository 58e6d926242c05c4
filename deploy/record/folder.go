package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/rocec/rocec/deploy/disk"
)

// folder is a backend: a file for each device in a folder of a disk.
type folder struct {
	root, workspace string

	mu    sync.Mutex
	alive map[string]*flock.Flock // by lock ID: that this process lives
}

// Names in the folder of a workspace. The guard is held for the instant in
// which the lock object is read or changed; beside the object lies a file that
// its holder keeps locked as long as it lives, so that a killed process on this
// host does not block the next one.
const (
	guardFile  = ".guard"
	objectFile = ".lock.json"
	aliveFile  = ".alive-" // and the ID
	ignoreFile = ".gitignore"
)

const guardWait = 10 * time.Second

const suffix = ".json"

func (f *folder) dir() string { return filepath.Join(f.root, f.workspace) }

func (f *folder) file(device string) string { return filepath.Join(f.dir(), device+suffix) }

// Where is the folder.
func (f *folder) Where() string { return f.dir() }

// List names the files. No workspace, no devices.
func (f *folder) List(context.Context) ([]string, error) {
	entries, err := os.ReadDir(f.dir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), suffix); ok && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	return names, nil
}

// Get reads a file.
func (f *folder) Get(_ context.Context, device string) ([]byte, error) {
	b, err := disk.ReadFile(f.file(device), maxEntryBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Put writes a file, which is on the disk then; a process that dies in it, or a
// disk that is full, leaves the old one.
func (f *folder) Put(_ context.Context, id, device string, b []byte, version string) error {
	return f.guarded(id, func() error {
		if err := f.is(device, version); err != nil {
			return err
		}
		if b != nil {
			return disk.WriteFile(f.file(device), b, 0o644)
		}
		if err := os.Remove(f.file(device)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return disk.SyncDir(f.dir())
	})
}

// putAll is Put for several entries, which are on the disk together.
func (f *folder) putAll(id string, list []putting) error {
	return f.guarded(id, func() error {
		files := make([]disk.Content, len(list))
		for i, c := range list {
			if err := f.is(c.device, c.version); err != nil {
				return fmt.Errorf("%s: %w", c.device, err)
			}
			files[i] = disk.Content{Name: c.device + suffix, Bytes: c.text}
		}
		return disk.WriteFiles(f.dir(), files, 0o644)
	})
}

// is refuses an entry that is not of a version.
func (f *folder) is(device, version string) error {
	have := ""
	old, err := disk.ReadFile(f.file(device), maxEntryBytes)
	switch {
	case err == nil:
		have = Digest(old)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if have != version {
		return &ConflictError{Device: device, Want: version, Have: have}
	}
	return nil
}

// Sync has nothing to do: Put has done it.
func (f *folder) Sync(context.Context, string) error { return nil }

// Lock puts the lock object in place, and the sign that this process lives.
func (f *folder) Lock(ctx context.Context, h Holder) error {
	if err := f.make(); err != nil {
		return err
	}
	return f.guard(ctx, func() error {
		alive := flock.New(filepath.Join(f.dir(), aliveFile+h.ID))
		ok, err := alive.TryLock()
		var open *fs.PathError // also says that nothing may be written there
		switch {
		case errors.As(err, &open) && open.Op == "open":
			return err
		case err != nil:
			return fmt.Errorf("%s: the file system keeps no locks: %w", alive.Path(), err)
		case !ok:
			return fmt.Errorf("%s: the file system keeps no locks", alive.Path())
		}
		if err = f.take(h); err == nil {
			err = f.clean(alive.Path())
		}
		if err != nil {
			return errors.Join(err, drop(alive))
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.alive == nil {
			f.alive = map[string]*flock.Flock{}
		}
		f.alive[h.ID] = alive
		return nil
	})
}

// take puts the lock object in place unless a living holder has one. It runs
// under the guard.
func (f *folder) take(h Holder) error {
	old, err := f.holder()
	if err != nil {
		return err
	}
	if old != nil && !f.dead(*old, h) {
		return &LockedError{Holder: *old}
	}
	b, err := Canonical(h)
	if err != nil {
		return err
	}
	return disk.WriteFile(filepath.Join(f.dir(), objectFile), b, 0o644)
}

// dead reports whether the holder was a process of this machine that has ended. Of
// another machine nothing can be known, also where it has the same name: a folder that
// both mount may pass no locks on. A sign of life that is missing was lost, or is not
// passed on: it tells only of a machine that is known to be this one.
func (f *folder) dead(h, own Holder) bool {
	same, known := sameMachine(h, own)
	if !same || !idForm().MatchString(h.ID) {
		return false
	}
	path := filepath.Join(f.dir(), aliveFile+h.ID)
	if _, err := os.Lstat(path); err != nil {
		return known && errors.Is(err, fs.ErrNotExist)
	}
	return bury(path)
}

// bury removes the file of a process that has ended; false if it lives. It runs
// under the guard, as does the making of such files.
func bury(path string) bool {
	f := flock.New(path)
	if ok, err := f.TryLock(); err != nil || !ok {
		return false
	}
	return f.Unlock() == nil && os.Remove(path) == nil
}

var idForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]{1,64}$`) })

// clean removes what processes that died left behind: pending entries and their
// signs of life, but not the own one.
func (f *folder) clean(own string) error {
	entries, err := os.ReadDir(f.dir())
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(f.dir(), e.Name())
		switch {
		case strings.HasPrefix(e.Name(), aliveFile) && path != own:
			bury(path)
		case leftover().MatchString(e.Name()):
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// leftover is the form of pending files of entries: a dot, the name, a number.
var leftover = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.[A-Za-z0-9][A-Za-z0-9._-]*\.json[0-9]+$`) })

// Unlock removes the lock object and the sign of life.
func (f *folder) Unlock(_ context.Context, id string) error {
	err := f.guarded(id, func() error { return os.Remove(filepath.Join(f.dir(), objectFile)) })
	f.mu.Lock()
	alive := f.alive[id]
	delete(f.alive, id)
	f.mu.Unlock()
	if alive != nil {
		err = errors.Join(err, drop(alive))
	}
	return err
}

// drop ends a sign of life.
func drop(alive *flock.Flock) error {
	err := alive.Unlock()
	if e := os.Remove(alive.Path()); e != nil && !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}

// guarded runs do while nobody can break or take the lock, after making sure
// that it is still held.
func (f *folder) guarded(id string, do func() error) error {
	return f.guard(context.Background(), func() error {
		h, err := f.holder()
		if err != nil {
			return err
		}
		if h == nil || h.ID != id {
			return &LostError{ID: id}
		}
		return do()
	})
}

// Holder reads the lock object.
func (f *folder) Holder(context.Context) (*Holder, error) { return f.holder() }

// Break removes the lock object with this ID, or one that cannot be read.
func (f *folder) Break(ctx context.Context, id string) error {
	if _, err := os.Stat(f.dir()); errors.Is(err, fs.ErrNotExist) {
		return notLocked(f.workspace)
	} else if err != nil {
		return err
	}
	return f.guard(ctx, func() error {
		h, err := f.holder()
		switch {
		case err != nil && !errors.Is(err, errBroken):
			return err
		case err == nil && h == nil:
			return notLocked(f.workspace)
		case err == nil && h.ID != id:
			return otherID(h.ID, id)
		}
		return os.Remove(filepath.Join(f.dir(), objectFile))
	})
}

func (f *folder) holder() (*Holder, error) {
	path := filepath.Join(f.dir(), objectFile)
	b, err := disk.ReadFile(path, 1<<16)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, errBroken, err)
	}
	h, err := decodeHolder(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return h, nil
}

// guard runs do alone among all processes and goroutines that ask for it. The
// file stays: a lock on a file that others may remove excludes nobody.
func (f *folder) guard(ctx context.Context, do func() error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, guardWait)
	defer cancel()
	g := flock.New(filepath.Join(f.dir(), guardFile))
	if info, err := os.Lstat(g.Path()); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", g.Path())
	}
	if _, err := g.TryLockContext(ctx, time.Millisecond); err != nil {
		return fmt.Errorf("wait for %s: %w", g.Path(), err)
	}
	defer func() { err = errors.Join(err, g.Unlock()) }()
	return do()
}

// make makes the folder of the workspace, with a list of what git shall not take.
func (f *folder) make() error {
	if err := disk.MkdirAll(f.dir(), 0o755); err != nil {
		return err
	}
	path := filepath.Join(f.dir(), ignoreFile)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return disk.WriteFile(path, []byte(".*\n!"+ignoreFile+"\n"), 0o644)
}
