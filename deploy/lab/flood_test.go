package lab_test

import (
	"strings"
	"testing"

	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/session"
)

// TestFlood ends a loop that prints for ever, and says so; whoever reads no more than
// rocec does is told by its own bound.
func TestFlood(t *testing.T) {
	l, all := parrots(t, 1, lab.Options{})
	spec, err := l.Spec("d0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := (&session.Client{MaxOutput: 1 << 30}).Dial(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(t.Context(), "yes", nil)
	if err != nil || out.Exit != 141 || len(out.Stdout) != 64<<20 || !strings.Contains(string(out.Stderr), "rocec lab: the command printed more than 64 MiB and was ended") {
		t.Errorf("exit code %d, %d bytes, %q, %v", out.Exit, len(out.Stdout), out.Stderr, err)
	}
	if out, err := s.Run(t.Context(), "still", nil); err != nil || string(out.Stdout) != "still\n" {
		t.Errorf("afterwards: %q, %v", out.Stdout, err)
	}
	if got := all[0].lines(); got != "yes,still" {
		t.Error(got)
	}
	// Closed by the reader: nothing goes on, or the lab would not stop.
	few, err := (&session.Client{MaxOutput: 1 << 10}).Dial(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer few.Close()
	if _, err := few.Run(t.Context(), "yes", nil); err == nil {
		t.Error("a bound of the reader is passed over")
	}
}
