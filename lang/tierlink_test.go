package lang

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/lang/diag"
)

// TestBesideTierLinks: what speaks of links stands in the block of that name; beside
// it, as before there was one, it means the same, and one warning for each tier says
// where it belongs.
func TestBesideTierLinks(t *testing.T) {
	load := func(tier string) (*Config, diag.List) {
		text := "topology \"leaf_spine\" \"p\" {\n  leaf {\n    count = 1\n" + tier + "  }\n}\n"
		return Load(Options{FS: fstest.MapFS{"a.roce.hcl": {Data: []byte(text)}}})
	}
	old, diags := load("    speed = \"100G\"\n    cable = { length = \"3m\" }\n    except \"0\" {\n      fec = \"rs\"\n    }\n")
	if len(diags) > 0 || len(old.Former) != 2 {
		t.Fatalf("%d warnings, want 2: %v %v", len(old.Former), diags, old.Former)
	}
	for i, want := range []string{"a leaf writes speed, cable beside its `link` block", "a leaf writes fec beside its `link` block"} {
		if d := old.Former[i]; d.Severity != diag.Warning || d.Summary != want || !strings.Contains(d.Help, "rocec fmt --fix") {
			t.Errorf("%v, want %s", d, want)
		}
	}
	now, diags := load("    link {\n      speed = \"100G\"\n      cable = { length = \"3m\" }\n    }\n" +
		"    except \"0\" {\n      link { fec = \"rs\" }\n    }\n")
	if len(diags)+len(now.Former) > 0 {
		t.Fatalf("%v %v", diags, now.Former)
	}
	for b := range old.Blocks {
		for i, a := range old.AttrsOf(BlockID(b)) {
			if n := now.AttrsOf(BlockID(b))[i]; n.Num != a.Num || n.kind != a.kind || n.kind == Int && n.n != a.n {
				t.Errorf("%s is %v beside the block and %v in it", a.Num.Name(), a, n)
			}
		}
	}
}
