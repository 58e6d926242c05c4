package rocec_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/format"
	"github.com/rocec/rocec/lang/langtest"
	"github.com/rocec/rocec/targets/targettest"
)

// example is a folder of examples/ with values of its variables.
type example struct {
	name, dir string
	vars      []lang.Var
	digests   bool // no artifact in full: another entry shows them
}

var examples = []example{
	{name: "smb-direct", dir: "smb-direct"},
	{name: "smb-direct-switchless", dir: "smb-direct", digests: true, vars: []lang.Var{{Name: "switchless", From: "--var", Text: "true"}}},
	{name: "storage", dir: "storage"},
	{name: "lossy-ecn", dir: "lossy-ecn"},
	{name: "gpu-pod", dir: "gpu-pod"},
	{name: "nvme-of", dir: "nvme-of"},
	{name: "hci", dir: "hci"},
	{name: "gitops", dir: "gitops", digests: true},
}

// TestExamplesAreListed: an example that nothing compiles would rot.
func TestExamplesAreListed(t *testing.T) {
	entries, err := os.ReadDir("examples")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !slices.ContainsFunc(examples, func(x example) bool { return x.dir == e.Name() }) {
			t.Errorf("examples/%s is not compiled by any test", e.Name())
		}
	}
}

func TestExamplesAreFormatted(t *testing.T) {
	files, err := filepath.Glob("examples/*/*.roce.hcl")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tidy, problem := format.Source(name, src)
		if problem != nil {
			t.Errorf("%s: %v", name, problem)
		} else if d := format.Diff(name, src, tidy); d != "" {
			t.Errorf("rocec fmt changes it:\n%s", d)
		}
		if !strings.HasPrefix(string(src), "# ") {
			t.Errorf("%s does not begin with what it shows", name)
		}
	}
}

func (x example) build(t *testing.T) made {
	t.Helper()
	return build(x.files(), "2026-01-01", x.vars...)
}

func (x example) files() fs.FS { return os.DirFS(filepath.Join("examples", x.dir)) }

// TestExamples compares every file of every device with a golden: in full for
// the first device of each block, by digest for all. The devices of one block
// differ in names and addresses only. No example has a finding of any kind.
func TestExamples(t *testing.T) {
	for _, x := range examples {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			m := x.build(t)
			if m.Findings != "" {
				t.Errorf("findings:\n%s", m.Findings)
			}
			root := filepath.Join("testdata", "examples", x.name)
			want := map[string]bool{filepath.Join(root, "digests.txt"): true}
			shapes := map[string]bool{}
			var digests strings.Builder
			for _, d := range m.Devices {
				full := !x.digests && !shapes[shape(d)]
				shapes[shape(d)] = true
				for _, f := range d.Files {
					fmt.Fprintf(&digests, "%x %#o %s %s/%s\n", sha256.Sum256(f.Bytes), f.Mode, f.Step, d.Intent.Name, f.Path)
					if full {
						path := filepath.Join(root, d.Intent.Name, filepath.FromSlash(f.Path))
						want[path] = true
						targettest.Golden(t, path, string(f.Bytes))
					}
				}
			}
			targettest.Golden(t, filepath.Join(root, "digests.txt"), digests.String())
			onlyFiles(t, root, want)
		})
	}
}

// shape is the block that a device comes from, with what writes it.
func shape(d device) string {
	block, _, _ := strings.Cut(d.Address, "[")
	return d.Target.Name + " " + block
}

// onlyFiles fails if a folder of goldens has files that nothing makes any more,
// or removes them under -update.
func onlyFiles(t *testing.T, root string, want map[string]bool) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || want[path] {
			return err
		}
		if targettest.Update() {
			return os.Remove(path)
		}
		t.Errorf("%s is made by nothing (-update removes it)", path)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestExamplesDoNotDependOnOrder: every block in a file of its own, the files in
// any order and the blocks within blocks in any order, give the digests and the
// bytes that the folder gives as it is.
func TestExamplesDoNotDependOnOrder(t *testing.T) {
	for _, x := range examples {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			want := contents(x.build(t))
			if len(want) == 0 {
				t.Fatal("nothing was made")
			}
			if diff := cmp.Diff(want, contents(x.build(t))); diff != "" {
				t.Errorf("a second run differs (-first +second):\n%s", diff)
			}
			for seed := range uint64(3) {
				mixed := shuffled(t, x.files(), rand.New(rand.NewPCG(seed, 0)))
				if diff := cmp.Diff(want, contents(build(mixed, "2026-01-01", x.vars...))); diff != "" {
					t.Errorf("in the order of seed %d (-as written +shuffled):\n%s", seed, diff)
				}
			}
		})
	}
}

func contents(m made) map[string]string {
	files := map[string]string{}
	for _, d := range m.Devices {
		files[d.Intent.Name] = intent.Digest(d.Intent)
		for _, f := range d.Files {
			files[d.Intent.Name+"/"+f.Path] = string(f.Bytes)
		}
	}
	return files
}

// shuffled puts each top-level block into a file of its own, the files in any
// order, and the blocks within a block in any order too.
func shuffled(t *testing.T, fsys fs.FS, r *rand.Rand) fs.FS {
	t.Helper()
	mixed := fstest.MapFS{}
	var blocks [][]byte
	err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		src, err := fs.ReadFile(fsys, name)
		if !strings.HasSuffix(name, ".roce.hcl") {
			mixed[name] = &fstest.MapFile{Data: src}
			return err
		}
		parts, err := langtest.Shuffle(src, name, r.Perm)
		blocks = append(blocks, parts...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range r.Perm(len(blocks)) {
		mixed[fmt.Sprintf("%03d.roce.hcl", i)] = &fstest.MapFile{Data: blocks[j]}
	}
	return mixed
}
