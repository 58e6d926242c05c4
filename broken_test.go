package rocec_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/rocec/rocec/targets/targettest"
)

// wantDiag is the section of a case with the findings; optionsFile holds what
// stands on the command line, as "as-of DATE".
const (
	wantDiag    = "want/diag"
	optionsFile = "options"
)

// TestBroken compiles fabrics with one mistake each. The findings are exactly
// what an operator reads, and nothing follows from the mistake that has to be
// read past. -update rewrites the section want/diag.
func TestBroken(t *testing.T) {
	for _, file := range cases(t, "testdata/broken/*.txtar", 30) {
		t.Run(caseName(file), func(t *testing.T) {
			t.Parallel()
			a, m := compiled(t, file)
			if m.Findings == "" {
				t.Fatal("no finding at all")
			}
			if n := strings.Count("\n"+m.Findings, "\nError: ") + strings.Count("\n"+m.Findings, "\nWarning: ") + strings.Count("\n"+m.Findings, "\nNotice: "); n != 1 {
				t.Errorf("one mistake gives %d findings", n)
			}
			for i := range a.Files {
				if a.Files[i].Name == wantDiag {
					a.Files = a.Files[:i]
					break
				}
			}
			a.Files = append(a.Files, txtar.File{Name: wantDiag, Data: []byte(m.Findings)})
			targettest.Golden(t, file, string(txtar.Format(a)))
		})
	}
}

// TestGuards compiles fabrics that look suspicious and are right: a rule that
// speaks here would teach operators not to listen.
func TestGuards(t *testing.T) {
	for _, file := range cases(t, "testdata/guards/*.txtar", 8) {
		t.Run(caseName(file), func(t *testing.T) {
			t.Parallel()
			if _, m := compiled(t, file); m.Findings != "" {
				t.Errorf("findings:\n%s", m.Findings)
			} else if len(m.Devices) == 0 {
				t.Error("nothing was made of it")
			}
		})
	}
}

func caseName(file string) string { return strings.TrimSuffix(filepath.Base(file), ".txtar") }

func cases(t *testing.T, glob string, atLeast int) []string {
	t.Helper()
	files, err := filepath.Glob(glob)
	if err != nil || len(files) < atLeast {
		t.Fatalf("%s: %d files, %v", glob, len(files), err)
	}
	return files
}

// compiled reads a case and takes its files through every stage.
func compiled(t *testing.T, file string) (*txtar.Archive, made) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := txtar.Parse(text)
	if len(bytes.TrimSpace(a.Comment)) == 0 {
		t.Error("it does not say what it shows")
	}
	fsys, asOf := fstest.MapFS{}, "2026-06-01"
	for _, f := range a.Files {
		switch f.Name {
		case wantDiag:
		case optionsFile:
			asOf = strings.TrimSpace(strings.TrimPrefix(string(f.Data), "as-of "))
		default:
			fsys[f.Name] = &fstest.MapFile{Data: f.Data}
		}
	}
	return a, build(fsys, asOf)
}
