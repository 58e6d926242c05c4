package record

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestSpool: what a process that died had not sent is sent by the next one, unless
// somebody recorded the device meanwhile.
func TestSpool(t *testing.T) {
	states := newStateServer(t, true)
	at := states.URL + "/s"
	dir := filepath.Join(t.TempDir(), "spool")
	open := func(spooled bool) *Store {
		s := Settings{Kind: HTTP, Address: at, LockAddress: at + "/lock", LockMethod: "POST", UnlockMethod: "DELETE"}
		if spooled {
			s.Spool = dir
		}
		return opened(t, s)
	}
	left := func() int {
		list, err := filepath.Glob(filepath.Join(dir, "*", "*"))
		must(t, err)
		return len(list)
	}
	s := open(true)
	l := locked(t, s)
	gone, err := l.Put(sample("gone", 1500), "")
	must(t, err)
	v, err := l.Put(sample("tor", 1500), "")
	must(t, err)
	must(t, l.Unlock())
	if left() != 0 {
		t.Errorf("%d changes lie here after they were sent", left())
	}

	l = locked(t, s)
	v2, err := l.Put(sample("tor", 4000), v)
	must(t, err)
	_, err = l.Put(sample("tor", 9000), v2)
	must(t, err)
	must(t, l.Delete("gone", gone))
	_, err = l.Put(sample("both", 9000), "")
	must(t, err)
	if _, have, err := open(true).Get("tor"); err != nil || have != v {
		t.Fatalf("it was sent: %q, %v", have, err)
	}
	// The process dies here, and somebody else records a device.
	other := open(false)
	must(t, other.ForceUnlock(l.Holder.ID))
	l = locked(t, other)
	theirs, err := l.Put(sample("both", 2000), "")
	must(t, err)
	must(t, l.Unlock())

	next := open(true)
	l = locked(t, next)
	if e, _, err := next.Get("tor"); err != nil || e.Intent.Ports[0].MTU.Value != 9000 {
		t.Errorf("what was not sent is not there: %v, %v", e, err)
	}
	must(t, l.Unlock())
	again := open(false)
	if e, _, err := again.Get("tor"); err != nil || e.Intent.Ports[0].MTU.Value != 9000 {
		t.Errorf("what was not sent is not sent: %v, %v", e, err)
	}
	if e, _, err := again.Get("gone"); err != nil || e != nil {
		t.Errorf("a delete that was not sent: %v, %v", e, err)
	}
	if _, have, err := again.Get("both"); err != nil || have != theirs {
		t.Errorf("what somebody else recorded is %q, %v", have, err)
	}
	if left() != 0 {
		t.Errorf("%d changes lie here after they were sent", left())
	}

	// What lies here and cannot be read stops whoever takes the lock, and leaves none.
	l = locked(t, next)
	_, err = l.Put(sample("leaf", 9000), "")
	must(t, err)
	files, err := filepath.Glob(filepath.Join(dir, "*", "leaf.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	must(t, os.WriteFile(files[0], []byte("{"), 0o644))
	must(t, other.ForceUnlock(l.Holder.ID))
	if _, err := open(true).Lock(t.Context(), "apply", "0.1.0", 0); err == nil {
		t.Error("a change that cannot be read is passed over")
	}
	var busy *LockedError
	l, err = open(false).Lock(t.Context(), "apply", "0.1.0", 0)
	if errors.As(err, &busy) {
		t.Fatal("the lock is left")
	}
	must(t, err)
	must(t, l.Unlock())
}
