package format

import (
	"testing"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
)

// TestWithout: a comment goes with its line where it stands alone, and else with
// the space before it.
func TestWithout(t *testing.T) {
	const comment = "# rocec-ignore: link_speed # why"
	for name, c := range map[string]struct{ src, want string }{
		"alone on a line":   {"a = 1\n  " + comment + "\nb = 2\n", "a = 1\nb = 2\n"},
		"alone, CRLF":       {"a = 1\r\n" + comment + "\r\nb = 2\r\n", "a = 1\r\nb = 2\r\n"},
		"behind a value":    {"a = 1 \t" + comment + "\nb = 2\n", "a = 1\nb = 2\n"},
		"at the top":        {comment + "\na = 1\n", "a = 1\n"},
		"at the end, no NL": {"a = 1\n" + comment, "a = 1\n"},
	} {
		tree, problem := Parse("a.roce.hcl", []byte(c.src))
		if problem != nil {
			t.Fatal(problem)
		}
		at := uint32(0)
		for c.src[at] != '#' {
			at++
		}
		d := diag.Diagnostic{Edits: []diag.Edit{{Span: source.Span{File: 1, Start: at, Len: uint32(len(comment))}}}}
		changes := Mends(&d, func(source.FileID) *Tree { return tree })
		if len(changes) != 1 {
			t.Fatalf("%s: %v", name, changes)
		}
		out, problem := tree.Apply([]Change{changes[0].Change})
		if problem != nil || string(out) != c.want {
			t.Errorf("%s: %q, want %q (%v)", name, out, c.want, problem)
		}
	}
}
