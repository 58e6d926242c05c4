package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
)

// TestRewrite: all files or none, and no leavings.
func TestRewrite(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	put := func(name, text string) {
		if err := os.WriteFile(path(name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what, a, b string) {
		t.Helper()
		for name, want := range map[string]string{"a": a, "b": b} {
			if got, err := os.ReadFile(path(name)); err != nil || string(got) != want {
				t.Errorf("%s: %s is %q, %v", what, name, got, err)
			}
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
			t.Errorf("%s: %d files, %v", what, len(list), err)
		}
	}
	put("a", "1")
	put("b", "2")
	both := []rewritten{{path("a"), []byte("1"), []byte("one")}, {path("b"), []byte("2"), []byte("two")}}
	if err := rewrite(both); err != nil {
		t.Fatal(err)
	}
	check("both", "one", "two")
	if info, err := os.Stat(path("a")); err != nil || info.Mode().Perm() != 0o640 {
		t.Error(info.Mode(), err)
	}
	put("a", "1")
	if err := rewrite(both); err == nil || !strings.Contains(err.Error(), "b was changed meanwhile") {
		t.Error(err)
	}
	check("changed", "1", "two")
	if err := rewrite(append(both[:1:1], rewritten{name: path("c")})); err == nil {
		t.Error("a file that is not there")
	}
	check("absent", "1", "two")
}

// TestWorse: what counts as mended.
func TestWorse(t *testing.T) {
	of := func(list ...diag.Diagnostic) *project {
		return &project{res: &compiler.Result{Fabric: &fabric.Fabric{}}, diags: list}
	}
	a := diag.Diagnostic{Rule: "ROCE307", Address: "a", Summary: "no watchdog on a"}
	b := diag.Diagnostic{Rule: "ROCE307", Address: "b", Summary: "no watchdog on b"}
	advice := diag.Diagnostic{Rule: "ROCE402", Address: "a", Summary: "late", Severity: diag.Warning}
	for _, c := range []struct {
		name          string
		before, after *project
		want          string
	}{
		{"mended", of(a), of(), ""},
		{"one of two at one address", of(a, a), of(a), ""},
		{"another error stays", of(a, b), of(b), ""},
		{"advice may come", of(a), of(advice), ""},
		{"not mended", of(a), of(a), "the edits do not mend this: no watchdog on a"},
		{"another error", of(a), of(b), "it would bring an error: no watchdog on b"},
		{"does not load", of(a), &project{diags: diag.List{{Summary: "unclosed"}}}, "mended, it does not load: unclosed"},
	} {
		if got := worse(c.before, c.after, diag.List{a}); got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestOptions: what is an error has no limits that settings could weaken it by,
// and those there are are sound.
func TestOptions(t *testing.T) {
	for _, r := range rules() {
		for _, o := range r.Options {
			weakens := r.Severity == diag.Error && r.ID != "ROCE305" // whose limit is that of its warning
			if weakens || o.Name == "" || o.Doc == "" || o.Default < o.Min || o.Default > o.Max {
				t.Errorf("%s: %+v", r.ID, o)
			}
		}
	}
}
