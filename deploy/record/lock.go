package record

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/user"
	"strings"
	"sync"
	"time"
)

// Holder is the lock object: who holds the record, and what for.
type Holder struct {
	ID        string    `json:"id"`
	Operation string    `json:"operation"` // "apply"
	Who       string    `json:"who"`
	Host      string    `json:"host"`
	Machine   string    `json:"machine,omitempty"` // tells hosts of one name apart; "" = not known
	Boot      string    `json:"boot,omitempty"`    // of the start of its system
	Version   string    `json:"version"`           // of rocec
	Created   time.Time `json:"created"`
}

// How often a lock that somebody has is asked for again.
const (
	retryLocal  = 50 * time.Millisecond
	retryRemote = 2 * time.Second
)

// unlockWait bounds what giving a lock back may take: a run that was interrupted
// does it too.
const unlockWait = 2 * time.Minute

// LockedError says that somebody else holds the record.
type LockedError struct {
	Workspace string
	Holder    Holder
	Age       time.Duration // of the lock when it was met; 0 if that is not known
}

// Error names the holder, where the record says who it is.
func (e *LockedError) Error() string {
	h := e.Holder
	if h.ID == "" {
		return fmt.Sprintf("the record of workspace %q is locked", e.Workspace)
	}
	s := fmt.Sprintf("the record of workspace %q is locked by %q", e.Workspace, short(h.Who))
	if h.Host != "" {
		s += fmt.Sprintf(" on host %q", short(h.Host))
	}
	if h.Operation != "" {
		s += fmt.Sprintf(" for %q", short(h.Operation))
	}
	if !h.Created.IsZero() {
		s += " since " + h.Created.UTC().Format(time.RFC3339)
	}
	switch {
	case e.Age >= 48*time.Hour:
		s += fmt.Sprintf(" (%d days ago)", e.Age/(24*time.Hour))
	case e.Age >= time.Second:
		s += fmt.Sprintf(" (%s ago)", e.Age.Truncate(time.Second))
	}
	return s + fmt.Sprintf(", lock ID %q", short(h.ID))
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
	names map[string]string // lower case -> recorded device
}

// Lock takes the record for an operation, waiting up to timeout for whoever
// holds it; 0 tries once. A lock in a folder that was left by a process of this
// host that has died is taken over. A *LockedError says who holds it; version is
// that of rocec.
func (s *Store) Lock(ctx context.Context, operation, version string, timeout time.Duration) (*Lock, error) {
	h := Holder{ID: newID(), Operation: operation, Who: who(), Version: version}
	h.here()
	l := &Lock{store: s}
	err := l.acquire(ctx, h, timeout)
	if err == nil {
		if err = l.begin(ctx); err != nil {
			err = errors.Join(err, s.backend.Unlock(ctx, h.ID))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("lock record: %w", err)
	}
	return l, nil
}

// newID is the ID of a lock that nobody has.
func newID() string { return strings.ToLower(rand.Text()) }

func (l *Lock) acquire(ctx context.Context, h Holder, timeout time.Duration) error {
	s := l.store
	limit := s.now().Add(timeout)
	for {
		h.Created = s.now().UTC().Truncate(time.Second)
		err := s.backend.Lock(ctx, h)
		var locked *LockedError
		if err == nil {
			l.Holder = h
			return nil
		}
		if !errors.As(err, &locked) {
			return err
		}
		locked.Workspace = s.workspace
		if !locked.Holder.Created.IsZero() {
			locked.Age = max(s.now().Sub(locked.Holder.Created), 0)
		}
		if !s.now().Add(s.retryEvery).Before(limit) {
			return err
		}
		if e := s.sleep(ctx, s.retryEvery); e != nil {
			return errors.Join(e, err)
		}
	}
}

// begin reads the names once, which nobody else changes now.
func (l *Lock) begin(ctx context.Context) error {
	names, err := l.store.list(ctx)
	if err != nil {
		return err
	}
	l.names = make(map[string]string, len(names))
	for _, n := range names {
		l.names[strings.ToLower(n)] = n
	}
	return nil
}

// Unlock keeps what was put and gives the record back. A lock that was broken
// meanwhile is a *LostError.
func (l *Lock) Unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), unlockWait)
	defer cancel()
	err := l.store.backend.Sync(ctx, l.Holder.ID)
	if err != nil {
		err = fmt.Errorf("keep record: %w", err)
	}
	var lost *LostError
	e := l.store.backend.Unlock(ctx, l.Holder.ID)
	if e != nil && (err == nil || !errors.As(err, &lost)) {
		err = errors.Join(err, fmt.Errorf("unlock record: %w", e))
	}
	return err
}

// Sync makes last what was put until now, where a backend gathers it: a commit, a
// state. Unlock does so too.
func (l *Lock) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.store.backend.Sync(context.Background(), l.Holder.ID); err != nil {
		return fmt.Errorf("keep record: %w", err)
	}
	return nil
}

// Store is the record that is locked.
func (l *Lock) Store() *Store { return l.store }

// Holder is who holds the record, nil if nobody does or its backend does not
// tell. The answer may be old when it arrives.
func (s *Store) Holder() (*Holder, error) {
	h, err := s.backend.Holder(context.Background())
	if err != nil {
		return nil, fmt.Errorf("read lock: %w", err)
	}
	return h, nil
}

// ForceUnlock breaks the lock with this ID. Its holder notices at its next
// write, which is refused.
func (s *Store) ForceUnlock(id string) error {
	if err := s.backend.Break(context.Background(), id); err != nil {
		return fmt.Errorf("break lock: %w", err)
	}
	return nil
}

// otherID is the error of who would break a lock with an ID that it does not have.
func otherID(have, asked string) error {
	return fmt.Errorf("lock ID is %q, not %q", short(have), short(asked))
}

func notLocked(workspace string) error {
	return fmt.Errorf("the record of workspace %q is not locked", workspace)
}

// errBroken is a lock object that cannot be read: any ID breaks it.
var errBroken = errors.New("the lock object is broken; force-unlock with any ID removes it")

// decodeHolder reads a lock object.
func decodeHolder(b []byte) (*Holder, error) {
	h := &Holder{}
	err := Unmarshal(b, h)
	if err == nil && h.ID == "" {
		err = errors.New("it has no id")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	return h, nil
}

// who is the user as the lock shows it.
func who() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// sleep waits, unless ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
