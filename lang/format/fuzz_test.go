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

// FuzzFix: whatever a file holds, --fix ends, its result parses, and a second time changes nothing.
func FuzzFix(f *testing.F) {
	files, err := filepath.Glob("testdata/fix/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range txtar.Parse(data).Files {
			f.Add(part.Data, 0)
			f.Add(part.Data, 1)
		}
	}
	for _, s := range []string{
		"node \"h\" {\n  acs = true /* a\n# b */\n  memlock = 1 /* c */\n}\n",
		"override {\n  on = \"node.h\"\n  set = { acs = <<E\nx\nE\n}\n}\n",
		"node \"h\" {\n  acs = [\n# x\n]\n # y\n modules = {\n}}",
		"\xef\xbb\xbfrocec {}\n", "# a\r\n\r\nnode \"h\" { acs = 1 }\r\n",
	} {
		f.Add([]byte(s), 0)
	}
	f.Fuzz(func(t *testing.T, src []byte, edition int) {
		fixed(t, "x.roce.hcl", src, edition&1)
		fixed(t, "x.roce.json", src, edition&1)
		if with, problem := SetLanguage("x.roce.json", src); problem == nil {
			if e, has := Language("x.roce.json", with); !has || e < 1 {
				t.Errorf("language %d, %t\n%s", e, has, with)
			}
		}
		if with, problem := SetLanguage("x.roce.hcl", src); problem == nil {
			if e, has := Language("x.roce.hcl", with); e != 1 || !has {
				if e, _ := Language("x.roce.hcl", src); e == 0 {
					t.Errorf("language %d, %t\n%s", e, has, with)
				}
			}
		}
	})
}
