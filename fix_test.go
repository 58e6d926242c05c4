package rocec_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/format"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/targets/oracle"
)

// folder is a fabric of the repository.
type folder struct {
	name  string
	files fstest.MapFS
	vars  []lang.Var
}

// everyFabric lists what the repository holds of fabrics: examples, those in archives of tests, the examples of rules, random ones with
// and without faults, and those that were wrong once.
func everyFabric(t *testing.T) (list []folder) {
	t.Helper()
	dir := func(name, at string, vars ...lang.Var) {
		f := folder{name, fstest.MapFS{}, vars}
		err := fs.WalkDir(os.DirFS(at), ".", func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(filepath.Join(at, filepath.FromSlash(p)))
			f.files[p] = &fstest.MapFile{Data: b}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	for _, x := range examples {
		dir("examples/"+x.name, filepath.Join("examples", x.dir), x.vars...)
	}
	for _, d := range oracle.Cases(t) {
		dir("cases/"+filepath.Base(d), d)
	}
	for _, glob := range []string{
		"testdata/*/*.txtar", "lang/testdata/*.txtar", "compiler/*/testdata/*.txtar", "compiler/testdata/*.txtar", "targets/*/testdata/*.txtar",
		"cmd/rocec/testdata/script/*.txtar",
	} {
		names, err := filepath.Glob(filepath.FromSlash(glob))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, fabricsIn(filepath.ToSlash(name), a)...)
		}
	}
	for _, w := range wordCorpus(t) {
		files := maps.Clone(w.files)
		files["fabric.roce.hcl"] = &fstest.MapFile{Data: []byte(w.main)}
		list = append(list, folder{name: w.name, files: files})
	}
	for seed := range uint64(100) {
		one := func(kind string, s *site) {
			files := fstest.MapFS{"fabric.roce.hcl": {Data: []byte(s.String())}}
			list = append(list, folder{name: fmt.Sprintf("random %s %d", kind, seed), files: files})
		}
		one("right", siteOf(seed))
		s, r := siteOf(seed), rand.New(rand.NewPCG(seed, 23))
		if f := pick(r, faults...); f.put(r, s) != nil {
			one(f.name, s)
		}
	}
	return list
}

// fabricsIn are the folders of an archive that hold configuration, each with all that is below it.
func fabricsIn(name string, a *txtar.Archive) (list []folder) {
	var dirs []string
	for _, f := range a.Files {
		if d := path.Dir(f.Name); strings.HasSuffix(f.Name, ".roce.hcl") && !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	for _, d := range dirs {
		one := folder{name: name + "/" + d, files: fstest.MapFS{}}
		for _, f := range a.Files {
			if d == "." {
				one.files[f.Name] = &fstest.MapFile{Data: f.Data}
			} else if rest, ok := strings.CutPrefix(f.Name, d+"/"); ok {
				one.files[rest] = &fstest.MapFile{Data: f.Data}
			}
		}
		list = append(list, one)
	}
	return list
}

// migrated is a fabric after `rocec fmt --fix --recursive`. It is false where something is left to do by hand.
func (f folder) migrated(t *testing.T) (folder, bool) {
	out := folder{f.name, maps.Clone(f.files), f.vars}
	folders := map[string]map[string][]byte{}
	for name, file := range f.files {
		if strings.HasSuffix(name, ".roce.hcl") || strings.HasSuffix(name, ".rocetest.hcl") || strings.HasSuffix(name, ".roce.json") {
			dir := path.Dir(name)
			if folders[dir] == nil {
				folders[dir] = map[string][]byte{}
			}
			folders[dir][name] = file.Data
		}
	}
	whole := true
	for _, files := range folders {
		fixed, done := format.Folder(files, func(string) bool { return true }, true)
		whole = whole && done
		for name, one := range fixed {
			text, problem := format.Source(name, one.Text)
			if one.Problem == nil && problem != nil {
				t.Errorf("%s: %s: %v", f.name, name, problem)
			}
			out.files[name] = &fstest.MapFile{Data: text}
		}
	}
	return out, whole
}

// ofWords reports whether a finding is about words of earlier editions.
func ofWords(d diag.Diagnostic) bool {
	return d.Rule == "ROCE923" || strings.Contains(d.Summary, "since language")
}

// TestFixKeepsTheFabric: what `rocec fmt --fix` makes of any fabric has the findings of the fabric, and byte for byte its artifacts, and no
// word of an earlier edition.
func TestFixKeepsTheFabric(t *testing.T) {
	list := everyFabric(t)
	if testing.Short() {
		list = slices.DeleteFunc(list, func(f folder) bool { return strings.HasPrefix(f.name, "random") })
	}
	var mu sync.Mutex
	changed, made, whole := 0, 0, 0
	seedsOf(len(list), func(n uint64) {
		f := list[(n-*seedFlag)%uint64(len(list))]
		after, done := f.migrated(t)
		a, b := build(f.files, "2026-06-01", f.vars...), build(after.files, "2026-06-01", f.vars...)
		mu.Lock()
		defer mu.Unlock()
		before := slices.DeleteFunc(slices.Clone(a.Diags), ofWords)
		if d := cmp.Diff(verdictOf(before), verdictOf(b.Diags)); d != "" {
			t.Errorf("%s: other findings (-before +after)\n%s\n%s\n%s", f.name, d, b.Findings, after.source())
		}
		if d := cmp.Diff(contents(a), contents(b)); d != "" {
			t.Errorf("%s: other artifacts (-before +after)\n%s", f.name, d)
		}
		if len(b.Devices) > 0 {
			made++
		}
		if !done {
			return
		}
		whole++
		if after.source() != f.source() {
			changed++
		}
		cfg, diags := lang.Load(lang.Options{FS: after.files, Packs: packs.Files(), Vars: f.vars})
		if !diags.HasErrors() && len(cfg.Former) > 0 {
			t.Errorf("%s: a word of an earlier edition is left: %v\n%s", f.name, cfg.Former[0], after.source())
		}
	})
	if changed < len(lint.All)/2 || made < len(lint.All) {
		t.Errorf("of %d fabrics %d were changed and %d come to files", len(list), changed, made)
	}
	t.Logf("%d fabrics, %d come to files, %d are done, %d of them changed", len(list), made, whole, changed)
}

func (f folder) source() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		if strings.HasSuffix(name, ".hcl") {
			fmt.Fprintf(&b, "-- %s --\n%s", name, f.files[name].Data)
		}
	}
	return b.String()
}
