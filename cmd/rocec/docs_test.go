package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocec/rocec/targets/targettest"
)

// TestDocs keeps the generated pages, and the matrix in the README, equal to
// the program's own tables.
func TestDocs(t *testing.T) {
	a := &app{env: map[string]string{}}
	for name, text := range a.pages(a.root()) {
		targettest.Golden(t, filepath.Join("..", "..", "docs", filepath.FromSlash(name)), string(text))
	}
	// A rule that is gone leaves no page behind.
	known := a.pages(a.root())
	old, err := filepath.Glob("../../docs/rules/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range old {
		if known["rules/"+filepath.Base(name)] == nil {
			t.Errorf("%s is the page of no rule: delete it", name)
		}
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- matrix -->\n", "<!-- /matrix -->"
	before, rest, ok := strings.Cut(string(readme), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("README.md has lost the marks of its matrix")
	}
	want := before + begin + matrix() + end + after
	if targettest.Update() {
		if err := os.WriteFile("../../README.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(readme, []byte(want)) {
		t.Error("the matrix in README.md is stale: go test ./cmd/rocec -run TestDocs -update")
	}
}
