package verify_test

import (
	"strings"
	"testing"

	"github.com/rocec/rocec/deploy/verify"
)

// Of a later look only what is not as it was is printed, with the counts of all.
func TestChanged(t *testing.T) {
	before, after := results(t), results(t)
	if list := verify.Changed(before, after); len(list) != 0 {
		t.Errorf("%d results changed, and nothing did", len(list))
	}
	after[0], after[1] = after[1], after[0] // the order is none
	after[2].Status, after[2].Reason = verify.Unknown, "it does not answer"
	after[3].Confirmed = true // is no news of the device
	list := verify.Changed(before, after)
	if len(list) != 1 || list[0] != after[2] {
		t.Fatalf("%+v", list)
	}
	var b strings.Builder
	if err := verify.News(&b, list, after, verify.TextOptions{Detailed: true}); err != nil {
		t.Fatal(err)
	}
	if want := "switch.gaps: unknown, it does not answer\n\n" + verify.Tally(after) + "\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	if list := verify.Changed(before[:4], before); len(list) != 1 || list[0].Device != "none" {
		t.Errorf("a device that is new: %+v", list)
	}
}
