package format

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBlocks(t *testing.T) {
	const src = `# head
a "x" { # why
  b {
    c = 1 # one
  }
}

d { e = 2 }
`
	for _, c := range []struct {
		name   string
		splice []Splice
		want   string
	}{
		{"replace", []Splice{{At: strings.Index(src, "a "), Replace: "f {\n  g = 1\n}"}}, "# head\nf {\n  g = 1\n}\n\nd { e = 2 }\n"},
		{"inside", []Splice{{At: strings.Index(src, "b {"), Inside: "h = 3\n"}}, strings.Replace(src, "# one\n", "# one\n    h = 3\n", 1)},
		{"in one line", []Splice{{At: strings.Index(src, "d {"), Inside: "h = 3"}}, strings.Replace(src, "d { e = 2 }", "d {\n  e = 2\n  h = 3\n}", 1)},
		{"two", []Splice{{At: strings.Index(src, "d {"), Replace: "z {}"}, {At: strings.Index(src, "b {"), Inside: "h = 3"}}, strings.NewReplacer("# one\n", "# one\n    h = 3\n", "d { e = 2 }", "z {}").Replace(src)},
	} {
		got, problem := Blocks("f.roce.hcl", []byte(src), c.splice)
		if problem != nil {
			t.Errorf("%s: %v", c.name, problem)
		}
		if d := cmp.Diff(c.want, string(got)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
	for name, bad := range map[string][]Splice{
		"no block": {{At: 1, Replace: "x {}"}},
		"twice":    {{At: strings.Index(src, "a "), Replace: "x {}"}, {At: strings.Index(src, "a "), Inside: "y = 1"}},
		"syntax":   {{At: strings.Index(src, "a "), Replace: "x {"}},
	} {
		if got, problem := Blocks("f.roce.hcl", []byte(src), bad); problem == nil || string(got) != src {
			t.Errorf("%s: %v, %q", name, problem, got)
		}
	}
	if _, problem := Blocks("f.roce.json", []byte("{}"), nil); problem == nil {
		t.Error("JSON is rewritten")
	}
}
