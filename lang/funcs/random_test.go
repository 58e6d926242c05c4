package funcs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"pgregory.net/rapid"
)

func randomValue(t *rapid.T, depth int) cty.Value {
	kinds := 8
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		return cty.StringVal(rapid.SampledFrom([]string{"", "a", "b\n", "10.0.0.0/8", "[a-", "%d%s", "/(/", "swp[1-3]", "inventory/nodes.csv", "name", "UTF-8", "2027-01-01T00:00:00Z", "é\u0301"}).Draw(t, "string"))
	case 1:
		return cty.NumberFloatVal(rapid.SampledFrom([]float64{0, 1, -1, 2, 0.5, 64, 1e300, -1e300}).Draw(t, "number"))
	case 2:
		return cty.BoolVal(rapid.Bool().Draw(t, "bool"))
	case 3:
		return cty.NullVal(rapid.SampledFrom([]cty.Type{dyn, cty.String, cty.Number, cty.List(cty.String), cty.Map(cty.Bool)}).Draw(t, "null"))
	case 4:
		return cty.StringVal(rapid.String().Draw(t, "text"))
	}
	var vals []cty.Value
	for range rapid.IntRange(0, 3).Draw(t, "length") {
		vals = append(vals, randomValue(t, depth-1))
	}
	switch rapid.IntRange(0, 3).Draw(t, "collection") {
	case 0:
		return cty.TupleVal(vals)
	case 1:
		attrs := map[string]cty.Value{}
		for i, v := range vals {
			attrs[string(rune('a'+i))] = v
		}
		return cty.ObjectVal(attrs)
	case 2:
		if v, err := convert.Convert(cty.TupleVal(vals), cty.List(dyn)); err == nil {
			return v
		}
	case 3:
		if v, err := convert.Convert(cty.TupleVal(vals), cty.Set(dyn)); err == nil {
			return v
		}
	}
	return cty.TupleVal(vals).Mark(Sensitive)
}

// No function panics, whatever it is given; cty turns a panic into an error
// with the stack in it.
func TestNoFunctionPanics(t *testing.T) {
	table := Table(testEnv())
	for _, f := range table {
		if f.Name == "try" || f.Name == "can" {
			continue // take expressions, not values
		}
		t.Run(f.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				params := f.Impl.Params()
				if rest := f.Impl.VarParam(); rest != nil {
					for range rapid.IntRange(0, 3).Draw(t, "rest") {
						params = append(params, *rest)
					}
				}
				args := make([]cty.Value, len(params))
				for i, p := range params {
					v, err := convert.Convert(randomValue(t, 2), p.Type)
					if err != nil {
						return
					}
					args[i] = v
				}
				_, err := f.Impl.Call(args)
				if err != nil && strings.Contains(err.Error(), "panic") {
					t.Fatalf("%#v: %v", args, err)
				}
			})
		})
	}
}

// A string is there again as it was, whatever is in it.
func TestStringsRoundTrip(t *testing.T) {
	table := Map(Table(Env{}))
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\v", "\n", "\t", "\u0307", "\u0303", "\U0001d165", "b", "\"", "\\", "\u2028", "\x7f", "<", "\u0338", "\u00a0", "\ufeff"}))
		want := cty.StringVal(strings.Join(rapid.SliceOf(part).Draw(t, "parts"), ""))
		text, err := table["jsonencode"].Call([]cty.Value{want})
		if err != nil {
			t.Fatal(err)
		}
		got, err := table["jsondecode"].Call([]cty.Value{text})
		if err != nil || !got.RawEquals(want) {
			t.Fatalf("%#v gives %s, and that %#v, %v", want, text.AsString(), got, err)
		}
	})
}

func TestReplaceIsRegexpReplace(t *testing.T) {
	f := Map(Table(Env{}))["replace"]
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[ab1-3é]{0,8}`).Draw(t, "s")
		pattern := rapid.SampledFrom([]string{`a`, `a*`, `(a)|b`, `\b`, `^`, `$`, `(?P<n>[0-9]+)`, `.`}).Draw(t, "pattern")
		repl := rapid.SampledFrom([]string{"", "x", "$1", "${n}-", "$$", "$0$0"}).Draw(t, "repl")
		want := cty.StringVal(regexp.MustCompile(pattern).ReplaceAllString(s, repl))
		got, err := f.Call([]cty.Value{cty.StringVal(s), cty.StringVal("/" + pattern + "/"), cty.StringVal(repl)})
		if err != nil || !got.RawEquals(want) {
			t.Fatalf("got %#v, %v, want %#v", got, err, want)
		}
	})
}

func FuzzYAMLDecode(f *testing.F) {
	for _, s := range []string{"a: 1", "- [x, {y: z}]", "a: &x 1\nb: *x", "<<: {a: 1}\nb: 2", "1: 0x1f\n2: 1_000\n3: .5", "? a\n: b", "!!binary aGk=", "a: |\n  x\n y", "%YAML 1.1\n---\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := yamlDecode([]cty.Value{cty.StringVal(s)})
		if err == nil && !v.IsWhollyKnown() {
			t.Fatalf("%#v", v)
		}
	})
}
