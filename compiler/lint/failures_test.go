package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/lint"
)

// TestFailuresLeft: with more failures than are looked at, ROCE822 reports what
// it saw and says how many it did not see.
func TestFailuresLeft(t *testing.T) {
	const lossy = "lossless  = false"
	few := findings(compiled(t, lint.BackupWay(lossy, "")+"analysis {\n  failures = 1\n}\n"), "ROCE822")
	more, last := "", "r2"
	for i := range 31 { // 34 switches and as many links: 34 * 2 failures, and pairs of them
		next := fmt.Sprintf("x%d", i)
		more, last = more+" "+last+"-"+next, next
	}
	many := findings(compiled(t, lint.BackupWay(lossy, more)+"analysis {\n  failures = 2\n}\n"), "ROCE822")
	if len(few) == 0 {
		t.Fatal("nothing is found")
	}
	const left = "ROCE822: whether ways that stand in for others treat each class alike is not known: "
	var said []string
	for _, f := range many {
		if strings.HasPrefix(f, left) {
			said = append(said, f)
		}
	}
	for _, f := range few {
		if strings.HasPrefix(f, left) {
			t.Errorf("with one failure: %s", f)
		}
	}
	if len(many) <= len(said) {
		t.Errorf("what was seen is not reported: %q", many)
	}
	want := []string{left + "4 failures or more were not looked at: classes lose their treatment already, so that each failure is looked at by itself, and the limits are 4096 of them and 50000000 steps"}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
}
