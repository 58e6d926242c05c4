package lang

import (
	"testing"

	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/units"
)

// TestUnits: a value that is not in the spelling of the language is the one that it stands for, and what units calls canonical is read as it is.
func TestUnits(t *testing.T) {
	parse := map[schema.Base]func(string) (int64, error){
		schema.Speed: funcs.ParseSpeed, schema.Length: funcs.ParseLength, schema.Time: funcs.ParseTime, schema.Delay: funcs.ParseDelay, schema.Bytes: funcs.ParseBytes,
	}
	for base, texts := range map[schema.Base][]string{
		schema.Speed: {"100g", "100 G", "100gbps", "1.6t", "100000k"}, schema.Length: {"3 m"}, schema.Time: {"200 ms", "5min"}, schema.Delay: {"250 ns"},
		schema.Bytes: {"100k", "150 kB", "32M"},
	} {
		for _, s := range texts {
			if _, err := parse[base](s); err == nil {
				t.Errorf("%q is in the spelling of the language", s)
			}
			text, ok := units.Canonical(base, s)
			want, err := parse[base](text)
			tb := newTables()
			v, m := leafText(&tb, &schema.Type{Base: base, Max: 1 << 40}, "x", s)
			if !ok || err != nil || m != nil || v != (Value{Int, want}) {
				t.Errorf("%q is %v, and %q is wanted: %d (%v)", s, v, text, want, err)
			}
		}
	}
	tb := newTables()
	if v, m := leafText(&tb, &schema.Type{Base: schema.Cap}, "x", "10g"); m != nil || v != (Value{Int, 10_000}) {
		t.Errorf("a share of 10g is %v", v)
	}
}
