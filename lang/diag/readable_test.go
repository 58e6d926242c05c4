package diag_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/rocec/rocec/lang/diag"
)

// TestReadable holds that no word of a user makes a finding long, in any form,
// and that what is cut closes its quotes.
func TestReadable(t *testing.T) {
	name := strings.Repeat("a", 70_000)
	d := diag.Diagnostic{
		Summary: `there is no switch "` + name + `" here`, Address: `switch["` + name + `"].port["1"]`, Count: 2, Members: []diag.Member{{Address: name}, {Address: name + "b", Summary: name}}, Help: "rename " + name + " to b",
		Notes:  []string{strings.Repeat("many words ", 20_000)},
		Labels: []diag.Label{{Where: `switch "` + name + `"`, Values: []string{"x is " + name}}},
		Steps:  []diag.Step{{At: name, Address: name, Text: name}},
	}
	var text, compact strings.Builder
	if err := diag.Text(&text, diag.List{d}, nil, diag.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := diag.Compact(&compact, diag.List{d}, nil, nil); err != nil {
		t.Fatal(err)
	}
	j := diag.JSON(diag.List{d}, nil, nil)[0]
	all := j.Summary + j.Detail + j.Address + j.Also + j.Members[1].Summary + *j.Snippet.Context + j.Snippet.Values[0].Statement + j.Counterexample[0].Address + j.Counterexample[0].Message
	for form, s := range map[string]string{"text": text.String(), "compact": compact.String(), "json": all} {
		if len(s) > 10_000 {
			t.Errorf("%s has %d bytes", form, len(s))
		}
	}
	want := `there is no switch "` + strings.Repeat("a", 119) + "...(70002 characters)..." + strings.Repeat("a", 59) + `" here`
	if j.Summary != want {
		t.Errorf("summary is %s", j.Summary)
	}
	if address := `module.` + strings.Repeat("a", 400) + `.switch.tor`; diag.JSON(diag.List{{Address: address}}, nil, nil)[0].Address != address {
		t.Error("an address that may be looked up is cut")
	}
}

// TestReadableAny holds it for any text, and that what is short stays.
func TestReadableAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Repeat(rapid.String().Draw(t, "part"), rapid.IntRange(1, 400).Draw(t, "times"))
		got := diag.JSON(diag.List{{Summary: s}}, nil, nil)[0].Summary
		if !utf8.ValidString(got) || len(got) > 10*4*4100 { // a character that is written as an escape has ten
			t.Fatalf("%d bytes become %d", len(s), len(got))
		}
		if len(s) < 200 && got != diag.Printable(s) {
			t.Fatalf("%q becomes %q", s, got)
		}
	})
}

// TestGravest holds that a limit hides no error behind advice.
func TestGravest(t *testing.T) {
	list := diag.List{
		{Severity: diag.Notice, Summary: "n1"},
		{Severity: diag.Warning, Summary: "w1"},
		{Severity: diag.Error, Summary: "e1"},
		{Severity: diag.Warning, Summary: "w2"},
		{Severity: diag.Error, Summary: "e2", Count: 3},
	}
	for limit, want := range map[int]string{
		0: "Notice: n1|Warning: w1|Error: e1|Warning: w2|Error: e2",
		1: "Error: e1|Not shown: 3 errors, 2 warnings, 1 notice (ask)",
		3: "Warning: w1|Error: e1|Error: e2|Not shown: 1 warning, 1 notice (ask)",
		5: "Notice: n1|Warning: w1|Error: e1|Warning: w2|Error: e2",
	} {
		var b strings.Builder
		if err := diag.Text(&b, list, nil, diag.TextOptions{Limit: limit, More: "ask"}); err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(strings.TrimSpace(b.String()), "\n\n", "|"); got != want {
			t.Errorf("limit %d: %s, want %s", limit, got, want)
		}
	}
}
