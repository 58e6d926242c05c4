package record

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// refLock is a lock that is a reference on a remote: git makes it where there is
// none, and for one of those who ask. It points to a commit without files whose
// message is the lock's object.
type refLock struct {
	*repository
	remote, workspace string

	mu   sync.Mutex
	mine map[string]string // commits that locks of this process are, by ID
}

// know keeps what a lock of this process is.
func (l *refLock) know(id, commit string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mine == nil {
		l.mine = map[string]string{}
	}
	l.mine[id] = commit
}

func (l *refLock) ref() string { return "refs/rocec/lock/" + l.workspace }

// take makes the reference.
func (l *refLock) take(ctx context.Context, h Holder) error {
	text, err := Canonical(h)
	if err != nil {
		return err
	}
	tree, err := l.line(ctx, "mktree")
	if err != nil {
		return err
	}
	out, err := l.run(ctx, text, "commit-tree", tree, "-F", "-")
	if err != nil {
		return err
	}
	commit := strings.TrimSpace(string(out))
	for n := 1; ; n++ {
		pushed := l.push(ctx, "", commit)
		if pushed == nil {
			l.know(h.ID, commit)
			return nil
		}
		at, holder, err := l.read(ctx)
		switch {
		case err != nil:
			return errors.Join(pushed, err)
		case at == commit: // the answer was lost
			l.know(h.ID, commit)
			return nil
		case holder != nil:
			return &LockedError{Holder: *holder}
		case !errors.Is(pushed, errRejected):
			return pushed
		case n == attempts: // nobody has it, and time and again it cannot be taken
			return fmt.Errorf("the remote does not take the reference %s, which is the lock: %w", l.ref(), errors.Unwrap(pushed))
		}
		// It was given back meanwhile.
	}
}

// errRejected is a push of a reference that was not as it was expected.
var errRejected = errors.New("the reference has moved")

// rejectedError is errRejected with the words of git.
type rejectedError struct{ err error }

func (e *rejectedError) Error() string        { return errRejected.Error() + ": " + e.err.Error() }
func (e *rejectedError) Unwrap() error        { return e.err }
func (e *rejectedError) Is(target error) bool { return target == errRejected }

// push moves the reference from one commit to another, "" for none, at once or
// not at all.
func (l *refLock) push(ctx context.Context, from, to string) error {
	out, err := l.run(ctx, nil, "push", "--porcelain", "--no-verify", "--force-with-lease="+l.ref()+":"+from, "--", l.remote, to+":"+l.ref())
	if err == nil {
		return nil
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "!") {
			return &rejectedError{err}
		}
	}
	return err
}

// read is the reference and who holds it; "" and nil if nobody does.
func (l *refLock) read(ctx context.Context) (string, *Holder, error) {
	at, err := l.onRemote(ctx, l.remote, l.ref())
	if err != nil || at == "" {
		return "", nil, err
	}
	if _, err := l.run(ctx, nil, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", l.remote, "+"+l.ref()+":refs/rocec/seen/"+l.workspace); err != nil {
		return at, nil, err
	}
	text, err := l.run(ctx, nil, "show", "--no-patch", "--format=%B", at)
	if err != nil {
		return at, nil, err
	}
	h, err := decodeHolder(text)
	if err != nil {
		return at, nil, fmt.Errorf("%s: %w", l.ref(), err)
	}
	return at, h, nil
}

// held makes sure that the lock with an ID is held, and returns the reference.
func (l *refLock) held(ctx context.Context, id string) (string, error) {
	at, err := l.onRemote(ctx, l.remote, l.ref())
	if err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if mine := l.mine[id]; mine == "" || at != mine {
		return "", &LostError{ID: id}
	}
	return at, nil
}

// give takes the reference away.
func (l *refLock) give(ctx context.Context, id string) error {
	at, err := l.held(ctx, id)
	if err != nil {
		return err
	}
	if err := l.push(ctx, at, ""); errors.Is(err, errRejected) {
		return &LostError{ID: id}
	} else if err != nil {
		return err
	}
	return nil
}

// breakUp takes the reference away if it has this ID, or cannot be read.
func (l *refLock) breakUp(ctx context.Context, id string) error {
	at, h, err := l.read(ctx)
	switch {
	case err != nil && !errors.Is(err, errBroken):
		return err
	case at == "":
		return notLocked(l.workspace)
	case h != nil && h.ID != id:
		return otherID(h.ID, id)
	}
	return l.push(ctx, at, "")
}
