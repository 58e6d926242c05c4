package lang

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"
)

// FuzzLoad: whatever the bytes are, in either syntax, nothing panics, every
// error has a text and lies inside of a file, and loading again gives the same.
func FuzzLoad(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.txtar")
	for _, p := range paths {
		a, err := txtar.ParseFile(p)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			if !strings.HasPrefix(file.Name, "want/") {
				f.Add(file.Data, strings.HasSuffix(file.Name, ".json"))
			}
		}
	}
	for _, s := range []string{
		"switch \"a\" {\n  for_each = {for k, v in {a=1}: k => v...}\n  port \"x[1-2]\" { mtu = port.index * 1000 + 1000 }\n}\n",
		"locals { a = [for s in segment.x : s.vlan if s.vlan > 3]\n b = segment.x[*].name\n c = try(node.n.nic[\"e\"].mtu, 1) }\nsegment \"x\" { vlan = 4 }\n",
		"locals { a = { for k, v in var : k => v } }\nvariable \"v\" { type = map(object({ a = optional(list(string), []) })) }\n",
		"node \"n\" { name = \"x${self.index}\"\n nic \"a[1-3,5]\" { pci = nic.keys[0]\n except \"a[2-3]\" { mtu = each.key } } }\n",
		"override { on = \"switch.*\"\n set = { mtu = 1 }\n reason = <<-E\n  x ${1}\n E\n expires = \"2020-01-01\" }\n",
		"module \"m\" { source = \".\" }\nmodule \"n\" { source = \"./\" }\noutput \"o\" { value = module.m }\n",
	} {
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, src []byte, json bool) {
		name := "a.roce.hcl"
		if json {
			name = "a.roce.json"
		}
		files := fstest.MapFS{name: {Data: src}, "t.csv": {Data: []byte("name,slot\nx,1\n")}}
		o := Options{FS: files, Keep: true}
		c, ds := Load(o)
		for _, d := range ds {
			if d.Summary == "" {
				t.Fatal("a finding without a text")
			}
			for _, l := range d.Labels {
				got := files[c.Files.Name(l.Span.File)]
				if got != nil && int(l.Span.End()) > len(got.Data) {
					t.Fatalf("%s: the place ends at %d, the file at %d", d.Summary, l.Span.End(), len(got.Data))
				}
			}
			if len(d.Labels) == 0 {
				t.Fatalf("%s: no place", d.Summary)
			}
		}
		if len(c.Blocks) > 10000 {
			return
		}
		text := dump(c, false) + showDiags(c, ds, files)
		for _, ch := range c.Checks {
			c.Eval(ch, fakeView{})
		}
		text += reached(c, files)
		again, ds := Load(o)
		if other := dump(again, false) + showDiags(again, ds, files) + reached(again, files); other != text {
			t.Fatalf("loading again gives\n%s\nnot\n%s", other, text)
		}
	})
}
