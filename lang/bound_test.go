package lang

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/diag"
)

// TestManyFaults: of a configuration with thousands of faults the first are kept and
// all are counted, wherever they are found.
func TestManyFaults(t *testing.T) {
	for what, line := range map[string]string{
		"unknown blocks":     "bogus \"x%d\" {}\n",
		"unknown attributes": "switch \"x%d\" { foo = 1 }\n",
		"two attributes":     "switch \"x%d\" {\n  role = \"leaf\"\n  role = \"spine\"\n}\n",
		"values":             "segment \"x%d\" { vlan = 5000 }\n",
		"names of nothing":   "switch \"x%d\" { model = nothing.x }\n",
		"references":         "segment \"x%d\" { qos = qos.none }\n",
		"labels":             "node \"x%d\" \"y\" {}\n",
		"variables":          "variable \"x%d\" { type = nothing }\n",
	} {
		t.Run(what, func(t *testing.T) {
			load := func(n int) (list diag.List, count int) {
				var b strings.Builder
				for i := range n {
					fmt.Fprintf(&b, line, i)
				}
				_, list = Load(Options{FS: fstest.MapFS{"f.roce.hcl": {Data: []byte(b.String())}}})
				for _, d := range list {
					count += max(d.Count, 1)
				}
				return list, count
			}
			_, few := load(diag.MostKept / 4)
			list, count := load(3 * diag.MostKept)
			if len(list) != diag.MostKept+1 || few < diag.MostKept/4 || count < 12*few-12 || count > 12*few+12 || !list[diag.MostKept].Rest {
				t.Errorf("%d findings are listed and %d counted; of a twelfth %d are", len(list), count, few)
			}
		})
	}
}

// TestQuickParts: a file too large for the library as a whole is read block by block
// as the library would read all of it.
func TestQuickParts(t *testing.T) {
	texts := append([]string{
		"locals {\n  a = upper(\"b\")\n  b = <<EOT\nx\n}\ny\nEOT\n}\nnode \"n\" {\n  slot = 1 + 2\n}\n",
		"variable \"x\" {\n  default = {\n    a = \"${1 + 2}\"\n  }\n} # behind\n\n/* a\n}\nb */\nnode \"n\" {}\n",
	}, quickSeeds...)
	names, err := filepath.Glob("../examples/*/*.roce.hcl")
	if err != nil || len(names) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	for _, src := range append(texts, "node \"n\" {\n  os = \"ubu\n}\nnode \"m\" {}\n", "\"\"\"\n", "node \"n\" {\n", "x = 1\n") {
		if strings.Contains(src, ignoreWord) {
			continue
		}
		read := func(large bool) *reducer {
			return &reducer{large: large, file: &file{name: "f.roce.hcl", id: 1, src: []byte(src), part: place{0, uint32(len(src))}, tables: newTables()}}
		}
		parts, whole := read(true), read(false)
		if !parts.quickFile() {
			t.Fatalf("%q: left to the library as a whole", src)
		}
		body, _ := whole.parse()
		if whole.broken || body == nil || len(body.Attributes) > 0 {
			if !parts.broken || len(parts.diags) == 0 {
				t.Errorf("%q: is refused as a whole, and reads in parts", src)
			}
			continue
		}
		whole.top(body)
		for _, f := range []*file{whole.file, parts.file} { // loading sorts them
			slices.SortStableFunc(f.diags, func(a, b diag.Diagnostic) int { return cmp.Compare(a.Span().Start, b.Span().Start) })
		}
		if d := gocmp.Diff(rows(whole.file), rows(parts.file)); d != "" {
			t.Fatalf("%q: -whole +parts\n%s", src, d)
		}
	}
}

// TestManyMarks: words and marks are what is counted, not bytes.
func TestManyMarks(t *testing.T) {
	quotes := strings.Repeat("\"", maxMarks+1)
	for src, want := range map[string]bool{
		quotes:                               true,
		quotes[1:]:                           false,
		strings.Repeat("word", maxMarks):     false,
		strings.Repeat("é ", maxMarks+1):     true,
		strings.Repeat("        ", maxMarks): false,
	} {
		if manyMarks([]byte(src)) != want {
			t.Errorf("%.16q of %d bytes: want %t", src, len(src), want)
		}
	}
	for _, name := range []string{"f.roce.hcl", "f.roce.json", "fabric.rocevars.hcl", "fabric.rocevars.json"} {
		files := fstest.MapFS{name: {Data: []byte(quotes)}, "main.roce.hcl": {Data: []byte("segment \"s\" { vlan = 7 }\n")}}
		conf, list := Load(Options{FS: files})
		if said := showDiags(conf, list, files); len(list) != 1 || !strings.Contains(said, "words and marks") {
			t.Errorf("%s: %.300s", name, said)
		}
	}
}

// TestManyCalls: modules that call modules multiply, and stop at a number.
func TestManyCalls(t *testing.T) {
	files := fstest.MapFS{"m9/f.roce.hcl": {Data: []byte("segment \"s\" { vlan = 7 }\n")}}
	for d := range 9 {
		var b strings.Builder
		for w := range 10 {
			fmt.Fprintf(&b, "module \"w%d\" {\n  source = \"../m%d\"\n}\n", w, d+1)
		}
		files[fmt.Sprintf("m%d/f.roce.hcl", d)] = &fstest.MapFile{Data: []byte(b.String())}
	}
	files["f.roce.hcl"] = &fstest.MapFile{Data: []byte("module \"a\" {\n  source = \"./m0\"\n}\n")}
	conf, list := Load(Options{FS: files})
	if said := showDiags(conf, list, files); len(list) != 1 || !strings.Contains(said, "more than 100000 calls of modules") {
		t.Errorf("%.500s", said)
	}
	each := fstest.MapFS{
		"f.roce.hcl":   {Data: []byte("module \"a\" {\n  source   = \"./m\"\n  for_each = toset([for i in range(100001) : \"n${i}\"])\n}\n")},
		"m/f.roce.hcl": {Data: []byte("segment \"s\" { vlan = 7 }\n")},
	}
	conf, list = Load(Options{FS: each})
	if said := showDiags(conf, list, each); len(list) != 1 || !strings.Contains(said, "more than 100000 calls of modules") {
		t.Errorf("%.500s", said)
	}
}

// TestManyKeys: a for_each of too many names is refused before anything goes over
// them, and to see that a set is known nothing does.
func TestManyKeys(t *testing.T) {
	files := fstest.MapFS{"f.roce.hcl": {Data: []byte("node \"n\" {\n  for_each = toset([for i in range(262145) : \"n${i}\"])\n}\n")}}
	conf, list := Load(Options{FS: files})
	if said := showDiags(conf, list, files); len(list) != 1 || !strings.Contains(said, "for_each has 262145 elements, at most 262144 are allowed") {
		t.Errorf("%.500s", said)
	}
	work := func(n int) float64 {
		var names []cty.Value
		for i := range n {
			names = append(names, cty.StringVal(fmt.Sprint("n", i)))
		}
		set := cty.SetVal(names)
		return testing.AllocsPerRun(3, func() {
			if left := maxParts; !wholly(set, &left) || left != maxParts-n-1 {
				t.Errorf("%d parts left", left)
			}
		})
	}
	if one, two := work(1000), work(2000); two > one+10 {
		t.Errorf("a set of twice the names takes %v allocations, not %v", two, one)
	}
}
