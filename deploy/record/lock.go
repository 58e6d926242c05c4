package record

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/rocec/rocec/deploy/disk"
)

// Holder is the lock object: who holds the record, and what for.
type Holder struct {
	ID        string    `json:"id"`
	Operation string    `json:"operation"` // "apply"
	Who       string    `json:"who"`
	Host      string    `json:"host"`
	Version   string    `json:"version"` // of rocec
	Created   time.Time `json:"created"`
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

const (
	retryEvery = 50 * time.Millisecond
	guardWait  = 10 * time.Second
)

// LockedError says that somebody else holds the record.
type LockedError struct {
	Workspace string
	Holder    Holder
}

// Error names the holder, where the record says who it is.
func (e *LockedError) Error() string {
	h := e.Holder
	if h.ID == "" {
		return fmt.Sprintf("the record of workspace %q is locked", e.Workspace)
	}
	return fmt.Sprintf("the record of workspace %q is locked by %q on host %q for %q since %s, lock ID %q",
		e.Workspace, short(h.Who), short(h.Host), short(h.Operation), h.Created.UTC().Format(time.RFC3339), short(h.ID))
}

// LostError says that a lock is no longer the caller's: somebody broke it.
type LostError struct{ ID string }

// Error names the lock.
func (e *LostError) Error() string {
	return fmt.Sprintf("lock %s was broken by force-unlock while it was held", e.ID)
}

// Lock is a held lock, the right to write. Its methods are safe for several
// goroutines.
type Lock struct {
	Holder Holder

	mu    sync.Mutex
	store *Store
	alive *flock.Flock
	names map[string]string // lower case -> recorded device
}

// Lock takes the record for an operation, waiting up to timeout for whoever
// holds it; 0 tries once. A lock left by a process of this host that has died
// is taken over. A *LockedError says who holds it; version is that of rocec.
func (s *Store) Lock(ctx context.Context, operation, version string, timeout time.Duration) (*Lock, error) {
	if err := s.make(); err != nil {
		return nil, fmt.Errorf("lock record: %w", err)
	}
	h := Holder{ID: strings.ToLower(rand.Text()), Operation: operation, Who: who(), Version: version}
	h.Host, _ = os.Hostname() // unknown is ""
	l := &Lock{store: s, alive: flock.New(filepath.Join(s.Dir(), aliveFile+h.ID))}
	err := s.guard(ctx, func() error {
		if ok, err := l.alive.TryLock(); err != nil || !ok {
			return fmt.Errorf("%s: the file system keeps no locks: %w", l.alive.Path(), err)
		}
		return nil
	})
	if err == nil {
		err = l.acquire(ctx, h, timeout)
	}
	if err == nil {
		err = s.guard(ctx, l.begin)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock record: %w", err), l.discard())
	}
	return l, nil
}

func (l *Lock) acquire(ctx context.Context, h Holder, timeout time.Duration) error {
	limit := time.Now().Add(timeout)
	for {
		h.Created = time.Now().UTC().Truncate(time.Second)
		err := l.store.guard(ctx, func() error { return l.store.take(h) })
		var locked *LockedError
		if err == nil {
			l.Holder = h
			return nil
		}
		if !errors.As(err, &locked) || !time.Now().Add(retryEvery).Before(limit) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(retryEvery):
		}
	}
}

// take puts the lock object in place unless a living holder has one. It runs
// under the guard.
func (s *Store) take(h Holder) error {
	old, err := s.holder()
	if err != nil {
		return err
	}
	if old != nil && !s.dead(*old, h.Host) {
		return &LockedError{Workspace: s.workspace, Holder: *old}
	}
	b, err := Canonical(h)
	if err != nil {
		return err
	}
	return disk.WriteFile(filepath.Join(s.Dir(), objectFile), b, 0o644)
}

// dead reports whether the holder was a process of this host that has ended.
// Of another host nothing can be known.
func (s *Store) dead(h Holder, host string) bool {
	if h.Host != host || host == "" || !idForm().MatchString(h.ID) {
		return false
	}
	path := filepath.Join(s.Dir(), aliveFile+h.ID)
	if _, err := os.Lstat(path); err != nil {
		return errors.Is(err, fs.ErrNotExist)
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

// begin reads the names once, which nobody else changes now, and removes what
// processes that died left behind: pending entries and their signs of life.
func (l *Lock) begin() error {
	names, err := l.store.List()
	if err != nil {
		return err
	}
	l.names = make(map[string]string, len(names))
	for _, n := range names {
		l.names[strings.ToLower(n)] = n
	}
	entries, err := os.ReadDir(l.store.Dir())
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(l.store.Dir(), e.Name())
		switch {
		case strings.HasPrefix(e.Name(), aliveFile) && path != l.alive.Path():
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

// Unlock gives the record back. A lock that was broken meanwhile is a *LostError.
func (l *Lock) Unlock() error {
	err := l.guarded(func() error { return os.Remove(filepath.Join(l.store.Dir(), objectFile)) })
	if err = errors.Join(err, l.discard()); err != nil {
		return fmt.Errorf("unlock record: %w", err)
	}
	return nil
}

func (l *Lock) discard() error {
	path := l.alive.Path()
	err := l.alive.Unlock()
	if e := os.Remove(path); e != nil && !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}

// Store is the record that is locked.
func (l *Lock) Store() *Store { return l.store }

// guarded runs f while nobody can break or take the lock, after making sure
// that it is still held.
func (l *Lock) guarded(f func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.store.guard(context.Background(), func() error {
		h, err := l.store.holder()
		if err != nil {
			return err
		}
		if h == nil || h.ID != l.Holder.ID {
			return &LostError{ID: l.Holder.ID}
		}
		return f()
	})
}

// Holder is who holds the record, nil if nobody does. The answer may be old
// when it arrives.
func (s *Store) Holder() (*Holder, error) {
	h, err := s.holder()
	if err != nil {
		return nil, fmt.Errorf("read lock: %w", err)
	}
	return h, nil
}

// ForceUnlock breaks the lock with this ID. Its holder notices at its next
// write, which is refused.
func (s *Store) ForceUnlock(id string) error {
	if _, err := os.Stat(s.Dir()); err != nil {
		return fmt.Errorf("break lock: %w", err)
	}
	err := s.guard(context.Background(), func() error {
		path := filepath.Join(s.Dir(), objectFile)
		h, err := s.holder()
		switch {
		case err != nil && !errors.Is(err, errBroken):
			return err
		case err == nil && h == nil:
			return fmt.Errorf("the record of workspace %q is not locked", s.workspace)
		case err == nil && h.ID != id:
			return fmt.Errorf("lock ID is %q, not %q", short(h.ID), id)
		}
		return os.Remove(path)
	})
	if err != nil {
		return fmt.Errorf("break lock: %w", err)
	}
	return nil
}

// errBroken is a lock object that cannot be read: any ID breaks it.
var errBroken = errors.New("the lock object is broken; force-unlock with any ID removes it")

func (s *Store) holder() (*Holder, error) {
	path := filepath.Join(s.Dir(), objectFile)
	b, err := disk.ReadFile(path, 1<<16)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	h := &Holder{}
	if err == nil {
		err = Unmarshal(b, h)
	}
	if err == nil && h.ID == "" {
		err = errors.New("it has no id")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, errBroken, err)
	}
	return h, nil
}

// guard runs f alone among all processes and goroutines that ask for it. The
// file stays: a lock on a file that others may remove excludes nobody.
func (s *Store) guard(ctx context.Context, f func() error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, guardWait)
	defer cancel()
	g := flock.New(filepath.Join(s.Dir(), guardFile))
	if _, err := g.TryLockContext(ctx, time.Millisecond); err != nil {
		return fmt.Errorf("wait for %s: %w", g.Path(), err)
	}
	defer func() { err = errors.Join(err, g.Unlock()) }()
	return f()
}

// make makes the folder of the workspace, with a list of what git shall not take.
func (s *Store) make() error {
	if err := os.MkdirAll(s.Dir(), 0o755); err != nil {
		return err
	}
	path := filepath.Join(s.Dir(), ignoreFile)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return disk.WriteFile(path, []byte(".*\n!"+ignoreFile+"\n"), 0o644)
}

// who is the user as the lock shows it.
func who() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}
