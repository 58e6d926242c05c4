package format

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

func TestDeep(t *testing.T) {
	t.Parallel()
	const n = 40000
	tests := []struct {
		name, src string
		deep      bool
	}{
		{"brackets", "a = " + strings.Repeat("[", n), true},
		{"parentheses", "a = " + strings.Repeat("(", n), true},
		{"calls", "a = " + strings.Repeat("f(", n), true},
		{"blocks", strings.Repeat("b {\n", n), true},
		{"signs", "a = " + strings.Repeat("-", n) + "1", true},
		{"negations", "a = " + strings.Repeat("!", n) + "b", true},
		{"conditions", "a = " + strings.Repeat("b?", n), true},
		{"templates", "a = " + strings.Repeat(`"${`, n), true},
		{"sums", "a = 1" + strings.Repeat("+1", n), true},
		{"sums over lines", "a = (1" + strings.Repeat("+\n1", n) + ")", true},
		{"indexes", "a = b" + strings.Repeat("[0]", n), true},
		{"splats", "a = b" + strings.Repeat(".*", n), true},
		{"directives", "a = \"" + strings.Repeat("%{if b}", n) + "\"", true},
		{"closing brackets in strings", "a = " + strings.Repeat(`[ "]", `, n), true},
		{"many attributes", strings.Repeat("a = [1, -2, \"${b[0]}\"] # ([{\n", n), false},
		{"many elements", "a = [" + strings.Repeat("[b + 1], ", n) + "]", false},
		{"many elements over lines", "a = [\n" + strings.Repeat("{ x = -1 },\n", n) + "]", false},
		{"many interpolations", "a = \"" + strings.Repeat("${b}(", n) + "\"", false},
		{"many directives", "a = \"" + strings.Repeat("%{if b}x%{endif}", n) + "\"", false},
		{"object over lines", "a = {\n" + strings.Repeat("x = 1 + 1\n", n) + "}", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tokens, _ := hclsyntax.LexConfig([]byte(tt.src), "", hcl.InitialPos)
			if got := deep(tokens); (got != nil) != tt.deep {
				t.Errorf("problem %+v, want one: %v", got, tt.deep)
			}
		})
	}
}

// What is below SafeBytes is parsed without a look: it must not exhaust the
// stack, which would end the test itself.
func TestSafeBytesAreSafe(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"[", "(", "{a=", "-", "!", "b?", `"${`, "f(", "+1", "[0]"} {
		src := "a = 1" + strings.Repeat(piece, (SafeBytes-10)/len(piece))
		f, _ := hclsyntax.ParseConfig([]byte(src), "x", hcl.InitialPos)
		if attrs, _ := f.Body.JustAttributes(); attrs["a"] != nil {
			attrs["a"].Expr.Value(nil)
		}
	}
}
