package funcs

import (
	"fmt"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// TestConverted holds long tuples and objects against the library's own
// conversion, which takes them element by element with every other.
func TestConverted(t *testing.T) {
	tuple := func(n int, of func(i int) cty.Value) cty.Value {
		list := make([]cty.Value, n)
		for i := range list {
			list[i] = of(i)
		}
		return cty.TupleVal(list)
	}
	text := func(i int) cty.Value { return cty.StringVal(fmt.Sprint(i % 30)) }
	number := func(i int) cty.Value { return cty.NumberIntVal(int64(i)) }
	attrs := map[string]cty.Value{}
	for i := range 40 {
		attrs[fmt.Sprint("k", i)] = number(i)
	}
	values := map[string]cty.Value{
		"texts": tuple(40, text), "numbers": tuple(40, number), "few": tuple(3, text), "none": cty.EmptyTupleVal, "object": cty.ObjectVal(attrs),
		"mixed":   tuple(40, func(i int) cty.Value { return []cty.Value{text(i), number(i)}[i%2] }),
		"nulls":   tuple(40, func(i int) cty.Value { return []cty.Value{text(i), cty.NullVal(cty.String)}[i%2] }),
		"words":   tuple(40, func(int) cty.Value { return cty.StringVal("x") }),
		"objects": tuple(40, func(i int) cty.Value { return cty.ObjectVal(map[string]cty.Value{"a": number(i)}) }),
		"lists":   tuple(40, func(i int) cty.Value { return cty.TupleVal([]cty.Value{number(i)}) }),
		"secrets": tuple(40, func(i int) cty.Value { return text(i).Mark(Sensitive) }),
		"unknown": cty.UnknownVal(cty.Tuple([]cty.Type{cty.String})),
		"list":    cty.ListVal([]cty.Value{text(1)}), "null": cty.NullVal(cty.EmptyTuple),
	}
	for name, v := range values {
		for _, want := range []cty.Type{
			cty.List(dyn), cty.Set(dyn), cty.Map(dyn), cty.List(cty.String), cty.List(cty.Number), cty.Set(cty.String), cty.Set(cty.Number), cty.List(cty.Bool), cty.Map(cty.String),
		} {
			got, err := converted(v, want)
			library, wrong := convert.Convert(v, want)
			if (err == nil) != (wrong == nil) {
				t.Errorf("%s to %s: %v, the library: %v", name, want.FriendlyName(), err, wrong)
				continue
			}
			if err == nil && !got.RawEquals(library) {
				t.Errorf("%s to %s: %#v, the library: %#v", name, want.FriendlyName(), got, library)
			}
		}
	}
}
