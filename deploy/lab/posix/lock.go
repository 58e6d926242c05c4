package posix

import (
	"context"
	"errors"
	"time"
)

// lock is one of flock(2).
type lock struct {
	owner map[int]bool // processes; several share it
	alone bool
	free  chan struct{} // closed when it may be free
}

// release gives back the locks of a process, with the machine's mutex held.
func (h *Host) release(pid int) {
	for name, l := range h.locks {
		if l.owner[pid] {
			h.unlock(name, pid)
		}
	}
}

func (h *Host) unlock(name string, pid int) {
	l := h.locks[name]
	if l == nil || !l.owner[pid] {
		return
	}
	delete(l.owner, pid)
	close(l.free)
	l.free = make(chan struct{})
	if len(l.owner) == 0 {
		delete(h.locks, name)
	}
}

var errLocked = errors.New("locked")

// lock takes the lock of a file for a process, and waits at most so long, for
// ever when wait is negative.
func (h *Host) lock(ctx context.Context, name string, pid int, shared bool, wait time.Duration) error {
	deadline := make(chan struct{})
	if wait > 0 {
		defer h.o.Clock.AfterFunc(wait, func() { close(deadline) })()
	}
	for {
		h.mu.Lock()
		l := h.locks[name]
		if l == nil {
			l = &lock{owner: map[int]bool{}, free: make(chan struct{})}
			h.locks[name] = l
		}
		others := len(l.owner)
		if l.owner[pid] {
			others--
		}
		if others == 0 || shared && !l.alone {
			l.owner[pid], l.alone = true, !shared
			h.mu.Unlock()
			return nil
		}
		free := l.free
		h.mu.Unlock()
		if wait == 0 {
			return errLocked
		}
		select {
		case <-free:
		case <-deadline:
			return errLocked
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
