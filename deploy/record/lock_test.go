package record_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocec/rocec/deploy/record"
)

func TestLockContention(t *testing.T) {
	s := open(t, t.TempDir())
	l := lock(t, s)
	var locked *record.LockedError
	if _, err := s.Lock(t.Context(), "apply", "0.1.0", 0); !errors.As(err, &locked) || locked.Holder.ID != l.Holder.ID {
		t.Fatalf("a second lock: %v", err)
	}
	for _, want := range []string{`for "apply"`, l.Holder.ID, "locked by"} {
		if !strings.Contains(locked.Error(), want) {
			t.Errorf("%q is not in %q", want, locked)
		}
	}
	start := time.Now()
	if _, err := s.Lock(t.Context(), "apply", "0.1.0", 200*time.Millisecond); !errors.As(err, &locked) {
		t.Fatalf("a lock that waits: %v", err)
	}
	if waited := time.Since(start); waited < 100*time.Millisecond {
		t.Errorf("it waited for %s only", waited)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := s.Lock(ctx, "apply", "0.1.0", time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted wait: %v", err)
	}
	time.AfterFunc(100*time.Millisecond, func() { _ = l.Unlock() })
	next, err := s.Lock(t.Context(), "verify", "0.1.0", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Unlock(); err != nil {
		t.Error(err)
	}
	if h, err := s.Holder(); h != nil || err != nil {
		t.Errorf("after all, %v holds it, %v", h, err)
	}
	names, err := filepath.Glob(filepath.Join(s.Dir(), ".*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if base := filepath.Base(n); base != ".guard" && base != ".gitignore" {
			t.Errorf("%s is left", n)
		}
	}
}

func TestForceUnlock(t *testing.T) {
	s := open(t, t.TempDir())
	if err := s.ForceUnlock("x"); err == nil || !strings.Contains(err.Error(), "is not locked") { // there is no folder yet
		t.Error("a record that is not there is unlocked")
	}
	l := lock(t, s)
	v := put(t, l, entry("tor", 9000), "")
	if err := s.ForceUnlock("wrong"); err == nil || !strings.Contains(err.Error(), l.Holder.ID) {
		t.Errorf("a wrong ID: %v", err)
	}
	if err := s.ForceUnlock(l.Holder.ID); err != nil {
		t.Fatal(err)
	}
	var lost *record.LostError
	if _, err := l.Put(entry("tor", 1500), v); !errors.As(err, &lost) {
		t.Errorf("a broken lock writes: %v", err)
	}
	next := lock(t, s)
	if _, err := l.Put(entry("tor", 1500), v); !errors.As(err, &lost) {
		t.Errorf("a broken lock writes beside its successor: %v", err)
	}
	if err := l.Unlock(); !errors.As(err, &lost) {
		t.Errorf("a broken lock is given back: %v", err)
	}
	put(t, next, entry("tor", 1500), v)
	if err := s.ForceUnlock(next.Holder.ID); err != nil {
		t.Error(err)
	}
	if err := s.ForceUnlock(next.Holder.ID); err == nil || !strings.Contains(err.Error(), "is not locked") {
		t.Errorf("a free record is unlocked: %v", err)
	}
}

func TestLockOfAnotherHost(t *testing.T) {
	s := open(t, t.TempDir())
	if err := os.MkdirAll(s.Dir(), 0o755); err != nil {
		t.Fatal(err)
	}
	object := filepath.Join(s.Dir(), ".lock.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(object, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"id":"abc","operation":"apply","who":"ann","host":"elsewhere.example.net","version":"0.1.0","created":"2026-01-02T03:04:05Z"}`)
	var locked *record.LockedError
	if _, err := s.Lock(t.Context(), "apply", "0.1.0", 0); !errors.As(err, &locked) || locked.Holder.Who != "ann" {
		t.Errorf("the lock of another host is passed over: %v", err)
	}
	write(`{"id":`)
	if _, err := s.Lock(t.Context(), "apply", "0.1.0", 0); err == nil || !strings.Contains(err.Error(), "force-unlock") {
		t.Errorf("a broken lock object: %v", err)
	}
	if err := s.ForceUnlock("whatever"); err != nil {
		t.Error(err)
	}
	// Hosts of this name: the folder may be one that passes no locks on.
	own := lock(t, s)
	holder := own.Holder
	if err := own.Unlock(); err != nil {
		t.Fatal(err)
	}
	alive := filepath.Join(s.Dir(), ".alive-abc")
	for _, c := range []struct {
		what          string
		machine, boot string
		sign, taken   bool // a sign of life that nobody keeps locked; the lock is taken over
	}{
		{"this machine", holder.Machine, holder.Boot, true, true},
		{"this machine, without a sign", holder.Machine, holder.Boot, false, true},
		{"another machine", "sha256:other", "other", true, false},
		{"another machine, without a sign", "sha256:other", "other", false, false},
		{"who knows", "", "", true, true},
		{"who knows, without a sign", "", "", false, false},
	} {
		if holder.Boot == "" && !strings.HasPrefix(c.what, "who knows") {
			continue // the system does not say
		}
		_ = os.Remove(alive)
		if c.sign {
			if err := os.WriteFile(alive, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write(`{"id":"abc","operation":"apply","who":"ann","host":"` + hostname(t) + `","machine":"` + c.machine + `","boot":"` + c.boot + `","created":"2026-01-02T03:04:05Z"}`)
		l, err := s.Lock(t.Context(), "apply", "0.1.0", 0)
		if taken := err == nil; taken != c.taken {
			t.Errorf("%s: %v", c.what, err)
		}
		if l != nil {
			if err := l.Unlock(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Of many who want it at once, one at a time has it.
func TestLockExcludes(t *testing.T) {
	s := open(t, t.TempDir())
	var inside, most, done int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			l, err := s.Lock(context.Background(), "apply", "0.1.0", time.Hour)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			inside++
			most = max(most, inside)
			mu.Unlock()
			time.Sleep(time.Millisecond)
			mu.Lock()
			inside--
			done++
			mu.Unlock()
			if err := l.Unlock(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most != 1 || done != 8 {
		t.Errorf("%d at once, %d in all", most, done)
	}
}
