package picture

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestTextStaysInside: no name ends the string it stands in.
func TestTextStaysInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "name")
		m := mermaidText(s)
		if inner := m[1 : len(m)-1]; strings.ContainsAny(inner, "\"<>`\n&") {
			t.Fatalf("mermaid %q", m)
		}
		d := dotText(s)
		escaped := false
		for _, c := range d[1 : len(d)-1] {
			switch {
			case escaped:
				escaped = false
			case c == '\\':
				escaped = true
			case c == '"' || c == '\n':
				t.Fatalf("dot %q", d)
			}
		}
		if escaped {
			t.Fatalf("dot %q ends in half an escape", d)
		}
	})
}
