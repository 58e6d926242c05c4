package verify

import (
	"strings"
	"testing"
)

// TestUnknownFolds: devices that were not captured are one line, and each its
// own where details are wanted or reasons differ.
func TestUnknownFolds(t *testing.T) {
	unknown := func(name, reason string) *Result {
		return &Result{Address: "switch." + name, Device: name, Status: Unknown, Reason: reason}
	}
	missing := func(name string) *Result {
		return unknown(name, "no captured output in cap/"+name+"; its files are a.json")
	}
	results := []*Result{missing("a"), missing("b"), missing("c"), unknown("d", "the captured output could not be read")}
	for _, c := range []struct {
		detailed bool
		lines    int
		want     string
	}{
		{false, 2, "switch.a to switch.c (3 devices): unknown, no captured output in cap/<device>; its files are a.json\n"},
		{true, 4, "switch.b: unknown, no captured output in cap/b; its files are a.json\n"},
	} {
		var b strings.Builder
		if err := Text(&b, results, TextOptions{Detailed: c.detailed}); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); !strings.Contains(got, c.want) || strings.Count(got, ": unknown, ") != c.lines {
			t.Errorf("detailed %v:\n%s", c.detailed, got)
		}
	}
}
