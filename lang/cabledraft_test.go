package lang

import (
	"fmt"
	"io/fs"
	"sync"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/rocec/rocec/lang/source"
)

// countedFS counts how often each file is opened.
type countedFS struct {
	fstest.MapFS
	mu     sync.Mutex
	opened map[string]int
}

func (f *countedFS) ReadFile(name string) ([]byte, error) {
	f.mu.Lock()
	f.opened[name]++
	f.mu.Unlock()
	return f.MapFS.ReadFile(name)
}

// TestListsAhead: whether lists are read while the rest is evaluated or when they
// are wanted, the Config is the same to the last number, findings included.
func TestListsAhead(t *testing.T) {
	for _, name := range []string{"cabling", "cabling_wrong", "routes", "routes_wrong"} {
		t.Run(name, func(t *testing.T) {
			a, err := txtar.ParseFile("testdata/" + name + ".txtar")
			if err != nil {
				t.Fatal(err)
			}
			o, files := caseOptions(a)
			text := func(workers int) string {
				o.Workers = workers
				c, ds := Load(o)
				names := ""
				for i := range c.Files.Len() {
					id := source.FileID(i + 1)
					names += fmt.Sprintf("%s %x\n", c.Files.Name(id), c.Files.Digest(id))
				}
				return dump(c, false) + showDiags(c, ds, files) + fmt.Sprint(c.strings, c.Attrs, c.Lists, c.Maps, c.Cables, c.Routes) + names
			}
			one := text(1)
			for _, workers := range []int{2, 8} {
				if got := text(workers); got != one {
					t.Errorf("%d workers give another Config than one:\n%s\nin place of\n%s", workers, got, one)
				}
			}
		})
	}
}

// TestListsOnce: a list that is a plain value is begun ahead, and what was begun is
// what is taken: its files are read once. One that takes an expression, or another
// module has, is read when it is wanted.
func TestListsOnce(t *testing.T) {
	row := &fstest.MapFile{Data: []byte("a_device,a_port,b_device,b_port\nx,1,y,1\n")}
	files := &countedFS{opened: map[string]int{}, MapFS: fstest.MapFS{
		"a.roce.hcl": {Data: []byte(`
locals {
  name = "of-local.csv"
}
cabling "plain" {
  file   = "plain.csv"
  format = "csv"
}
cabling "several" {
  file   = ["one.csv", "two.csv"]
  format = "csv"
  rename = { x = "z" }
}
cabling "columns" {
  file    = "columns.csv"
  format  = "csv"
  columns = { a_device = "From" }
}
cabling "later" {
  file   = local.name
  format = "csv"
}
module "inner" {
  source = "./inner"
}
`)},
		"inner/a.roce.hcl": {Data: []byte("cabling \"plain\" {\n  file = \"plain.csv\"\n  format = \"csv\"\n}\n")},
		"plain.csv":        row, "one.csv": row, "of-local.csv": row, "inner/plain.csv": row,
		"two.csv":     {Data: []byte("a_device,a_port,b_device,b_port\nx,2,y,2\n")},
		"columns.csv": {Data: []byte("From,a_port,b_device,b_port\nx,1,y,1\n")},
	}}
	ld := newLoader(Options{FS: files, Workers: 3})
	u := ld.unit(".", nil)
	stop := ld.readAhead(u)
	if got := len(ld.drafts); got != 3 {
		t.Errorf("%d lists are read ahead, want 3", got)
	}
	stop()
	clear(files.opened)
	c := mustLoad(t, Options{FS: files, Workers: 3})
	for name := range files.MapFS {
		if got := files.opened[name]; got != 1 {
			t.Errorf("%s is read %d times, want once", name, got)
		}
	}
	if len(c.Cables) != 5 {
		t.Errorf("%d lists, want 5", len(c.Cables))
	}
	for _, l := range c.Cables {
		for _, r := range l.Rows {
			want := "x"
			if l.Name == c.Cables[1].Name {
				want = "z"
			}
			if got := c.String(r.ADevice); got != want {
				t.Errorf("list %s has device %s, want %s", c.String(l.Name), got, want)
			}
		}
	}
}

// TestForgotten: the text of a file is kept as long as something can ask for a
// value that stands in it.
func TestForgotten(t *testing.T) {
	model := "switch_model \"a/b\" {\n  asic = \"a/b\"\n  ports = { sonic = \"Ethernet0\" }\n}\nasic \"a/b\" {\n  cell = 208\n}\n"
	node := "node \"a\" {\n  os = \"ubuntu/24.04\"\n}\n"
	local := "locals {\n  os = node.a.os\n}\noutput \"os\" {\n  value = local.os\n}\n"
	for _, c := range []struct {
		name  string
		files fstest.MapFS
		keep  bool
		want  map[string]bool
	}{
		{"plain", fstest.MapFS{"a.roce.hcl": {Data: []byte(node)}, "m.roce.hcl": {Data: []byte(model)}}, false, map[string]bool{"m.roce.hcl": true}},
		{"kept", fstest.MapFS{"a.roce.hcl": {Data: []byte(node)}}, true, map[string]bool{"a.roce.hcl": true}},
		{"read", fstest.MapFS{"a.roce.hcl": {Data: []byte(node)}, "l.roce.hcl": {Data: []byte(local)}}, false, map[string]bool{"a.roce.hcl": true, "l.roce.hcl": true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var fsys fs.FS = c.files
			ld := newLoader(Options{FS: fsys, Workers: 2, Keep: c.keep})
			ld.load()
			for _, f := range ld.units["."].files {
				if got := f.src != nil; got != c.want[f.name] {
					t.Errorf("text of %s is there: %t, want %t", f.name, got, c.want[f.name])
				}
			}
			if cfg, ds := ld.finish(); ds.HasErrors() {
				t.Error(showDiags(cfg, ds, c.files))
			}
		})
	}
}
