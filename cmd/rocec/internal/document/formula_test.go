package document

import "testing"

// TestNoFormula: a spreadsheet computes nothing, and no name makes a row of its own.
func TestNoFormula(t *testing.T) {
	for in, want := range map[string]string{
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@a": "'@a", "\t=1": `\t=1`, "\r=1": `\x0d=1`, "a\nb": `a\nb`, "swp1": "swp1", "a=b": "a=b", "": "",
	} {
		if got := noFormula(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}
