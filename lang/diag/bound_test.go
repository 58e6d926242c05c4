package diag

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/rocec/rocec/lang/source"
)

// TestBounded: what is cut off a list is counted, by severity, and every form says
// so; a folded finding keeps all that it stands for.
func TestBounded(t *testing.T) {
	var list List
	add := func(s Severity, n, count int) {
		for i := range n {
			list.Add(Diagnostic{Severity: s, Summary: fmt.Sprintf("%s %d", s, i), Count: count})
		}
	}
	add(Warning, MostKept+7, 3)
	add(Error, MostKept+2, 0)
	add(Notice, 5, 0)
	list[0].Members = make([]Member, 5*MostKept)
	list = append(list, (&Bound{rest: [Notice + 1]int{Error: 40}}).Rest()...)
	out := Bounded(list)
	if len(out) != 2*MostKept+5+2 || len(out[0].Members) != 5*MostKept {
		t.Errorf("%d findings, the first of %d", len(out), len(out[0].Members))
	}
	if got, want := Tally(out), Tally(list); got != want || want != "1042 errors, 3021 warnings, 5 notices" {
		t.Errorf("%s of %s", got, want)
	}
	list[0].Members = nil
	view := &source.View{Files: source.NewFiles()}
	var text, compact bytes.Buffer
	if err := Text(&text, list, view, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := Compact(&compact, list, view, nil); err != nil {
		t.Fatal(err)
	}
	said := JSON(list, view, nil)
	for form, got := range map[string]string{"text": text.String(), "compact": compact.String(), "JSON": fmt.Sprint(said)} {
		for _, want := range []string{"42 more errors are not listed", "21 more warnings are not listed"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s does not say %q", form, want)
			}
		}
	}
	if len(said) != len(out) || said[len(said)-2].Count != 42 {
		t.Errorf("JSON has %d findings", len(said))
	}
	if few := list[:MostKept]; len(Bounded(few)) != MostKept {
		t.Error("what has room is cut")
	}
	sorted := Sort(append((&Bound{rest: [Notice + 1]int{1}}).Rest(), list[:3]...), nil)
	if !sorted[3].Rest || sorted[3].Summary != "1 more error is not listed" {
		t.Errorf("what is left out stands at %+v", sorted)
	}
}
