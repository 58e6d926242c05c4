package lang

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/zclconf/go-cty/cty"
)

// TestExpressionSteps: one expression of the source has so many elements to go
// over, and each has them anew.
func TestExpressionSteps(t *testing.T) {
	for _, c := range []struct {
		locals  string
		refused bool
	}{
		{"a = [for i in range(40) : [for j in range(40) : i]]", false},
		{"a = [for i in range(40) : [for j in range(40) : i]]\n  b = [for i in range(40) : [for j in local.a[0] : i]]", false},
		{"a = [for i in range(60) : [for j in range(60) : i]]", true},
		{"a = [for i in range(60) : { for j in range(60) : \"k${j}\" => i }]", true},
		{"a = [for i in range(60) : range(60)[*]]", true},
	} {
		text := "locals {\n  " + c.locals + "\n}\nsegment \"s\" {\n  vlan = length(concat(local.a, local.a))\n}\n"
		_, diags := Load(Options{FS: fstest.MapFS{"main.roce.hcl": {Data: []byte(text)}}, MaxLateSteps: 2000})
		refused := len(diags) == 1 && strings.Contains(diags[0].Summary, "this takes more than 2000 steps")
		if refused != c.refused || !c.refused && len(diags) > 0 {
			t.Errorf("%s: %v", c.locals, diags)
		}
		if refused && len(diags[0].Labels) == 1 && diags[0].Labels[0].Span.Start >= uint32(strings.Index(text, "segment")) {
			t.Errorf("%s: reported where it is used", c.locals)
		}
	}
}

// TestValueParts: what is put together of itself is counted as often as it is
// there.
func TestValueParts(t *testing.T) {
	v := cty.StringVal("x")
	for range 10 {
		v = cty.TupleVal([]cty.Value{v, v})
	}
	for _, c := range []struct {
		v     cty.Value
		left  int
		known bool
		spent bool
	}{
		{v, 2047, true, false},
		{v, 2046, false, true},
		{v.Mark("secret"), 2047, true, false},
		{cty.UnknownVal(cty.String), 5, false, false},
		{cty.ListVal([]cty.Value{cty.UnknownVal(cty.String)}), 5, false, false},
		{cty.NullVal(cty.List(cty.String)), 1, true, false},
	} {
		left := c.left
		if known := wholly(c.v, &left); known != c.known || left < 0 != c.spent {
			t.Errorf("%s with %d parts: known %t, %d left", fmt.Sprintf("%.40s", c.v.GoString()), c.left, known, left)
		}
	}
}
