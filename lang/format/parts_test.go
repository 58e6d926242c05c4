package format

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestParts: a file is laid out in parts as it is as a whole, wherever braces stand.
func TestParts(t *testing.T) {
	texts := []string{
		"", "\n\n", "a = 1\n", "a \"b\" {\n}\nc = 1\nlong = 2\n\n\n\nd {\n  x=1\n}\n   \n\n",
		"a {\r\n x=1\r\n}\r\n\r\n\r\nb {\r\n}\r\nc {\r\n}\r\n",
		"a {\n  b = <<EOT\nx\n}\ny\n}\n\nEOT\n}\nc  {\n}\n",
		"/* a {\n}\nb\n}\n\n*/\na {\n x=1\n}\nb {\n}\n", "# x\na {\n}\n\n  # y\n\n\nb {\n}\n# z",
		"a {\n  b = {\n}\nc = 1\n}\n", "a = {\n}\nb = 1\nccc = 2\n", "a {\n}\n\n}\nb {\n}\n", "a {\n}\n\"\nb {\n}\n",
	}
	names, err := filepath.Glob("../../examples/*/*.roce.hcl")
	if err != nil || len(names) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text), strings.ReplaceAll(strings.ReplaceAll(string(text), "\n  ", "\n      "), "\n\n", "\n\n\n\n"))
	}
	for _, src := range texts {
		for _, least := range []int{1, 20, 300} {
			want, bad := whole("f.roce.hcl", []byte(src))
			got, problem := inParts("f.roce.hcl", []byte(src), least)
			if !bytes.Equal(got, want) || (bad == nil) != (problem == nil) || bad != nil && bad.Line < problem.Line {
				t.Errorf("in parts of %d bytes %q is %q (%v), as a whole %q (%v)", least, src, got, problem, want, bad)
			}
		}
	}
}

// TestLongLinesAndBlocks: what would take more room than there is is said at its place.
func TestLongLinesAndBlocks(t *testing.T) {
	long := "a {\n  x = 1\n}\n\nb {\n  text = \"" + strings.Repeat("x", MaxLineBytes) + "\"\n}\n"
	src, problem := Source("f.roce.hcl", []byte(long))
	if problem == nil || problem.Line != 6 || problem.Message != "line is longer than 1024 KiB, which is the most that is laid out" || string(src) != long {
		t.Errorf("a long line: %+v", problem)
	}
	block := "a {\n  x = 1\n}\n\nb {\n" + strings.Repeat("  x = 1\n", MaxPartBytes/8) + "}\n"
	if _, problem = inParts("f.roce.hcl", []byte(block), 1); problem == nil || problem.Line != 5 || problem.Message != "block is longer than 8 MiB, which is the most that is laid out" {
		t.Errorf("a long block: %+v", problem)
	}
}

// TestPartsAreBounded: what is held of a file while it is laid out does not grow with it.
func TestPartsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&b, "node \"n%d\" {\n  os = \"ubuntu/24.04\"\n}\n", i)
	}
	for from := 0; from < b.Len(); {
		end := partEnd([]byte(b.String()), from, 1000)
		if end-from > 1100 {
			t.Fatalf("a part of %d bytes", end-from)
		}
		from = end
	}
}
