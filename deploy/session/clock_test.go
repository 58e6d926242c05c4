package session_test

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocec/rocec/deploy/session"
)

// Times of a client under test, each of a length of its own.
const (
	dialTime  = 31 * time.Second
	opTime    = 901 * time.Second
	pauseTime = 16 * time.Second
)

// clock is a clock that stands still but for what expire says.
type clock struct {
	mu      sync.Mutex
	waiting map[time.Duration][]chan time.Time
}

func (c *clock) after(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := make(chan time.Time, 1)
	c.waiting[d] = append(c.waiting[d], ch)
	return ch
}

// expire ends all waits of that length, and reports whether there were any.
func (c *clock) expire(d time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	any := len(c.waiting[d]) > 0
	for _, ch := range c.waiting[d] {
		ch <- time.Time{}
	}
	delete(c.waiting, d)
	return any
}

func timed(t testing.TB) (*session.Client, *clock) {
	k := &clock{waiting: map[time.Duration][]chan time.Time{}}
	c := client(t)
	c.DialTimeout, c.OpTimeout, c.Keepalive, c.After = dialTime, opTime, pauseTime, k.after
	return c, k
}

// waitFor lets other goroutines run until something holds.
func waitFor(t testing.TB, holds func() bool) {
	t.Helper()
	for !holds() {
		select {
		case <-t.Context().Done():
			t.Fatal("it never came to that")
		default:
			runtime.Gosched()
		}
	}
}

// leakFree checks at the end of a test that no goroutine of this package, of
// x/crypto/ssh or of scrapligo is left. Servers of the test end before.
func leakFree(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		for range 20_000 {
			if left() == "" {
				return
			}
			runtime.Gosched()
		}
		t.Errorf("left behind:\n%s", left())
	})
}

func left() string {
	buf := make([]byte, 1<<20)
	var ours []string
	for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")[1:] {
		if strings.Contains(g, "deploy/session.") || strings.Contains(g, "crypto/ssh") || strings.Contains(g, "scrapligo") {
			ours = append(ours, g)
		}
	}
	return strings.Join(ours, "\n\n")
}
