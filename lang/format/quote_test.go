package format

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"
)

// TestQuote: whatever the text is, its literal is that text again, and nothing is evaluated in it.
func TestQuote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.ToValidUTF8(rapid.OneOf(rapid.String(), rapid.StringMatching(`[$%{}"\\\n\r\tx\x00\x7f]{0,12}`)).Draw(t, "text"), "?")
		e, diags := hclsyntax.ParseExpression([]byte(Quote(s)), "x", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatalf("%s: %v", Quote(s), diags)
		}
		v, diags := e.Value(nil)
		if want := cty.NormalizeString(s); diags.HasErrors() || v.AsString() != want {
			t.Fatalf("%s is %q, want %q: %v", Quote(s), v.AsString(), want, diags)
		}
	})
}
