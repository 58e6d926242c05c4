package format

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// Each archive has a file "in", what Fix and Source make of it, and, where there is any, what is left to be done by hand. A file
// "edition" says that the folder is in edition 1 already.
func TestFix(t *testing.T) {
	files, err := filepath.Glob("testdata/fix/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := ar.Files[0]
			edition := 0
			if in.Name == "in1" {
				edition = 1
			}
			name := "x.roce.hcl"
			if filepath.Ext(in.Name) != "" {
				name = in.Name
			}
			got, left := fixed(t, name, in.Data, edition)
			want := &txtar.Archive{Comment: ar.Comment, Files: []txtar.File{in, {Name: "want", Data: got}}}
			if left != "" {
				want.Files = append(want.Files, txtar.File{Name: "left", Data: []byte(left)})
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(want), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(string(txtar.Format(ar)), string(txtar.Format(want))); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// fixed is what fmt --fix makes of a file. It checks what holds for each file.
func fixed(t testing.TB, name string, src []byte, edition int) (out []byte, left string) {
	t.Helper()
	words, list, problem := Fix(name, src, edition)
	if problem != nil {
		if string(words) != string(src) {
			t.Errorf("%v, and the source is changed", problem)
		}
		return src, "problem: " + problem.Message + "\n"
	}
	out, problem = Source(name, words)
	if problem != nil {
		if _, before := Source(name, src); before == nil {
			t.Errorf("what Fix made cannot be formatted: %+v\n%s", problem, words)
		}
		return words, ""
	}
	again, _, problem := Fix(name, out, edition)
	if problem != nil || string(again) != string(out) {
		t.Errorf("a second time: %v\n%s", problem, cmp.Diff(string(out), string(again)))
	}
	if twice, _ := Source(name, out); string(twice) != string(out) {
		t.Errorf("the layout of what Fix made does not settle:\n%s", cmp.Diff(string(out), string(twice)))
	}
	for _, p := range list {
		left += strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column) + ": " + p.Message + "\n"
	}
	return out, left
}
