package lab_test

import (
	"context"
	"regexp"
	"runtime"
	"testing"

	"github.com/rocec/rocec/deploy/lab"
)

// TestCount: counters grow at every look for as long as the fault is there, each by
// itself, and never fall.
func TestCount(t *testing.T) {
	var f lab.Faults
	look := func(k lab.FaultKind, counter string, want uint64) {
		t.Helper()
		if n := f.Count(k, counter); n != want {
			t.Errorf("%s of %s: %d, wanted %d", k, counter, n, want)
		}
	}
	look(lab.FaultDrops, "p1 3", 0)
	f.Inject(lab.Fault{Kind: lab.FaultDrops})
	look(lab.FaultDrops, "p1 3", 12)
	look(lab.FaultDrops, "p1 3", 24)
	look(lab.FaultDrops, "p2 3", 12)
	look(lab.FaultStorm, "p1 3", 0)
	f.Clear()
	look(lab.FaultDrops, "p1 3", 24)
	f.Inject(lab.Fault{Kind: lab.FaultStorm})
	look(lab.FaultStorm, "p1 3", 1)
	look(lab.FaultDrops, "p1 3", 24)
	var none *lab.Faults
	if none.Count(lab.FaultDrops, "p1") != 0 || none.Struck(lab.FaultHang) {
		t.Error("faults of nobody")
	}
}

// TestHang: the command line is run and not answered; a device that is healed answers.
func TestHang(t *testing.T) {
	l, all := parrots(t, 1, lab.Options{})
	if err := l.Inject("d0", lab.Fault{Kind: lab.FaultHang, Match: regexp.MustCompile(`^change$`)}); err != nil {
		t.Fatal(err)
	}
	s, err := dial(t, l, "d0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), "before", nil); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := s.Run(ctx, "change", nil)
		done <- err
	}()
	for all[0].lines() != "before,change" {
		runtime.Gosched()
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("change was answered")
	}
	if err := l.Heal("d0"); err != nil {
		t.Fatal(err)
	}
	other, err := dial(t, l, "d0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Run(t.Context(), "after", nil); err != nil || all[0].lines() != "before,change,after" {
		t.Errorf("%v; it was told %s", err, all[0].lines())
	}
}
