package lang

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/tools/txtar"

	"github.com/rocec/rocec/lang/schema"
)

// asExpressions puts every value of the fabric's blocks into a call, so that it
// is evaluated and not read off the tree.
func asExpressions(t *testing.T, name string, src []byte) []byte {
	f, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var values []hcl.Range
	var walk func(b *hclsyntax.Body)
	walk = func(b *hclsyntax.Body) {
		for _, a := range b.Attributes {
			if a.Name != "for_each" {
				values = append(values, a.Expr.Range())
			}
		}
		for _, in := range b.Blocks {
			walk(in.Body)
		}
	}
	for _, b := range f.Body.(*hclsyntax.Body).Blocks {
		if !isProg(schema.ByWord(schema.None, b.Type)) {
			walk(b.Body)
		}
	}
	slices.SortFunc(values, func(a, b hcl.Range) int { return b.Start.Byte - a.Start.Byte })
	for _, v := range values {
		text := string(src[v.Start.Byte:v.End.Byte])
		src = slices.Concat(src[:v.Start.Byte], []byte("try("+text+")"), src[v.End.Byte:])
	}
	return src
}

// TestBothPaths: a value that is read off the tree and one that is evaluated
// are the same value.
func TestBothPaths(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*.txtar")
	seen := 0
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		o, files := caseOptions(a)
		c, ds := Load(o)
		if ds.HasErrors() {
			continue
		}
		seen++
		other := fstest.MapFS{}
		for name, f := range files {
			other[name] = f
			if strings.HasSuffix(name, ".roce.hcl") {
				other[name] = &fstest.MapFile{Data: asExpressions(t, name, f.Data)}
			}
		}
		o.FS = other
		if d := cmp.Diff(strings.Split(dump(c, true), "\n"), strings.Split(dump(mustLoad(t, o), true), "\n")); d != "" {
			t.Errorf("%s: -read +evaluated\n%s", path, d)
		}
	}
	if seen < 5 {
		t.Errorf("only %d cases load", seen)
	}
}
