package format

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"
)

func FuzzSource(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range txtar.Parse(data).Files {
			f.Add(part.Data)
		}
	}
	for _, s := range []string{"", "a=1", "\xef\xbb\xbfa=1\n", "a = <<E\nx\nE", "a = \"${<<E\n${x}\nE\n}\"", "a={b=<<-E\n E\n}", "a = b.0 .1", "a=[\n\n\n]\r\n", "x{/* */}//", "a = 1 /* x */ # y"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) { check(t, src) })
}
