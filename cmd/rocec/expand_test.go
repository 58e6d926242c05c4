package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamplesExpanded writes out every example that has a generator: what comes
// of it is valid, its checks hold, nothing of it is generated any more, and every
// device gets the bytes it got before.
func TestExamplesExpanded(t *testing.T) {
	dirs, err := filepath.Glob("../../examples/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("%d examples, %v", len(dirs), err)
	}
	generators := 0
	for _, dir := range dirs {
		at := t.TempDir()
		if err := os.CopyFS(at, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		if _, _, errOut := rocec(t, at, nil, "expand"); strings.Contains(errOut, "There is no topology") {
			continue
		}
		generators++
		t.Run(filepath.Base(dir), func(t *testing.T) {
			run := func(args ...string) {
				t.Helper()
				if code, out, errOut := rocec(t, at, nil, args...); code != 0 {
					t.Fatalf("%v: %d\n%s%s", args, code, out, errOut)
				}
			}
			built := func(into string) map[string]string {
				t.Helper()
				run("build", "--out-dir="+into, "-q")
				list, err := files(filepath.Join(at, into))
				if err != nil || len(list) < 2 {
					t.Fatalf("%d files, %v", len(list), err)
				}
				delete(list, "manifest.json") // says where in the source each device stands
				return list
			}
			before := built("before")
			run("expand", "--write")
			run("validate")
			run("lint", "--minimum-failure-severity=notice")
			after := built("after")
			for name, text := range before {
				if after[name] != text {
					t.Errorf("%s is another", name)
				}
				delete(after, name)
			}
			for name := range after {
				t.Errorf("%s is new", name)
			}
			if _, _, errOut := rocec(t, at, nil, "expand"); !strings.Contains(errOut, "There is no topology") {
				t.Errorf("something is generated still: %s", errOut)
			}
		})
	}
	if generators == 0 {
		t.Error("no example has a generator")
	}
}
