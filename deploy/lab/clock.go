package lab

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Clock is the time that a simulated device has.
type Clock interface {
	Now() time.Time        // as clocks on the wall show it; it can be set
	Passed() time.Duration // since some moment; nobody can set it
	// AfterFunc calls f, in a goroutine of its own, when d has passed. What it
	// returns takes that back, and tells whether it came in time.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// Sleep waits until d has passed or ctx ends, whose error it returns then.
func Sleep(ctx context.Context, c Clock, d time.Duration) error {
	done := make(chan struct{})
	stop := c.AfterFunc(d, func() { close(done) })
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		stop()
		return ctx.Err()
	}
}

// RealTime is the clock of this computer.
type RealTime struct{}

// Now is the time.
func (RealTime) Now() time.Time { return time.Now() }

var started = time.Now()

// Passed is the time since the program started.
func (RealTime) Passed() time.Duration { return time.Since(started) }

// AfterFunc is that of package time.
func (RealTime) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

// ManualTime stands still until it is told to go on.
type ManualTime struct {
	mu     sync.Mutex
	now    time.Time // what clocks on the wall show
	passed time.Duration
	timers []*manualTimer
}

type manualTimer struct {
	at time.Duration // passed
	f  func()
}

// NewManualTime makes a clock that shows a time.
func NewManualTime(now time.Time) *ManualTime { return &ManualTime{now: now} }

// Now is the time.
func (c *ManualTime) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Passed is the sum of all Advance.
func (c *ManualTime) Passed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.passed
}

// AfterFunc calls f in the Advance that brings the clock there.
func (c *ManualTime) AfterFunc(d time.Duration, f func()) func() bool {
	if d <= 0 {
		go f()
		return func() bool { return false }
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &manualTimer{c.passed + d, f}
	c.timers = append(c.timers, t)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		at := slices.Index(c.timers, t)
		if at < 0 {
			return false
		}
		c.timers = slices.Delete(c.timers, at, at+1)
		return true
	}
}

// Advance lets time pass, and what waits for it happen, in its order.
func (c *ManualTime) Advance(d time.Duration) {
	c.mu.Lock()
	end := c.passed + d
	for {
		var next *manualTimer
		for _, t := range c.timers {
			if t.at <= end && (next == nil || t.at < next.at) {
				next = t
			}
		}
		if next == nil {
			break
		}
		c.timers = slices.DeleteFunc(c.timers, func(t *manualTimer) bool { return t == next })
		c.now = c.now.Add(next.at - c.passed)
		c.passed = next.at
		c.mu.Unlock()
		next.f()
		c.mu.Lock()
	}
	c.now = c.now.Add(end - c.passed)
	c.passed = end
	c.mu.Unlock()
}

// Jump sets the clock on the wall to another time, as an administrator does: no
// time passes.
func (c *ManualTime) Jump(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = to
}

// Waiting is how many timers are set.
func (c *ManualTime) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}
