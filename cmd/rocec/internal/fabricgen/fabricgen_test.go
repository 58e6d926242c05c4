package fabricgen_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/cmd/rocec/internal/fabricgen"
	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lower"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/all"
)

// inMemory is a fabric as a file system.
func inMemory(o fabricgen.Options) (fstest.MapFS, fabricgen.Size) {
	files := fstest.MapFS{}
	var size fabricgen.Size
	for name, text := range fabricgen.Files(o, &size) {
		files[name] = &fstest.MapFile{Data: text}
	}
	return files, size
}

// shapes are a fabric of two tiers, one of three, and odd ones: nodes that do
// not fill a group, fewer rails than a leaf of spines has, many small files.
var shapes = []struct {
	name    string
	options fabricgen.Options
	size    fabricgen.Size // Files and Bytes are not compared
}{
	{"pod-256", fabricgen.Options{}, fabricgen.Size{Nodes: 32, NICs: 256, Switches: 12, Ports: 768, Links: 512}},
	{"one node", fabricgen.Options{Nodes: 1, NICs: 2}, fabricgen.Size{Nodes: 1, NICs: 2, Switches: 6, Ports: 2 + 4*32, Links: 2 + 2*32}},
	{"three tiers", fabricgen.Options{Nodes: 130, PerFile: 100}, fabricgen.Size{Nodes: 130, NICs: 1040, Switches: 40 + 64 + 32, Ports: 1040 + 2*(40+64)*32, Links: 1040 + (40+64)*32}},
}

func TestSize(t *testing.T) {
	for _, s := range shapes {
		files, size := inMemory(s.options)
		if size.Files != len(files) || size.Files < 5 {
			t.Errorf("%s: %d files are counted, %d are there", s.name, size.Files, len(files))
		}
		size.Files, size.Bytes = 0, 0
		if size != s.size {
			t.Errorf("%s is %+v, want %+v", s.name, size, s.size)
		}
	}
}

// TestValid compiles every shape: no finding of any rule or emitter, and the
// fabric has what was counted.
func TestValid(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			files, size := inMemory(s.options)
			cfg, found := lang.Load(lang.Options{FS: files, Packs: packs.Files()})
			if found.HasErrors() {
				t.Fatalf("does not load: %v", found[0])
			}
			res := compiler.Compile(cfg, compiler.Options{Rows: packs.HeadroomRows})
			found = append(found, res.Diags...)
			if res.Fabric == nil {
				t.Fatalf("does not resolve: %v", found[0])
			}
			found = append(found, refusals(t, res)...)
			for _, d := range found[:min(5, len(found))] {
				t.Errorf("%s %s", d.Rule, d.Summary)
			}
			if n := len(res.Fabric.Links) - 1; n != size.Links {
				t.Errorf("%d links are compiled, %d were written", n, size.Links)
			}
			if n := len(res.Fabric.Devices) - 1; n != size.Nodes+size.Switches {
				t.Errorf("%d devices are compiled, %d were written", n, size.Nodes+size.Switches)
			}
		})
	}
}

// refusals is what the emitters cannot say of the fabric.
func refusals(t *testing.T, res *compiler.Result) diag.List {
	t.Helper()
	var found diag.List
	for id := fabric.DeviceID(1); int(id) < len(res.Fabric.Devices); id++ {
		dev := res.Intent(id)
		chosen := lower.Selected(res.Fabric, id)
		if len(chosen) != 1 {
			t.Fatalf("%d emitters serve %s", len(chosen), dev.Name)
		}
		dev.Options = chosen[0].Options
		found = append(found, targets.Check(all.Find(chosen[0].Emitter), dev, nil)...)
	}
	return found
}

// TestSameBytes writes a fabric twice, and through a folder.
func TestSameBytes(t *testing.T) {
	o := fabricgen.Options{Nodes: 40, NICs: 4}
	one, size := inMemory(o)
	two, _ := inMemory(o)
	names := slices.Sorted(maps.Keys(one))
	if again := slices.Sorted(maps.Keys(two)); !slices.Equal(names, again) {
		t.Fatalf("files differ: %v, %v", names, again)
	}
	total := 0
	for _, n := range names {
		if !bytes.Equal(one[n].Data, two[n].Data) {
			t.Errorf("%s differs from one run to the next", n)
		}
		total += len(one[n].Data)
	}
	if size.Bytes != total {
		t.Errorf("%d bytes are counted, %d were written", size.Bytes, total)
	}
	if _, err := fabricgen.Write(t.TempDir()+"/missing", o); err == nil {
		t.Error("a folder that is not there is no error")
	}
}

// TestStop ends the walk over the files early.
func TestStop(t *testing.T) {
	var size fabricgen.Size
	for name := range fabricgen.Files(fabricgen.Options{}, &size) {
		if want := "qos-0000.roce.hcl"; name != want {
			t.Errorf("the first file is %s, want %s", name, want)
		}
		break
	}
	if got := fmt.Sprint(size.Files); got != "1" {
		t.Errorf("%s files are counted after one", got)
	}
}

// TestTooLarge: what three tiers cannot hold is refused before anything is written.
func TestTooLarge(t *testing.T) {
	for _, o := range []fabricgen.Options{{Nodes: 12800, NICs: 8}, {Nodes: -1}, {NICs: 200}} {
		dir := t.TempDir()
		_, err := fabricgen.Write(dir, o)
		if left, _ := os.ReadDir(dir); err == nil || len(left) > 0 {
			t.Errorf("%+v: %v, %d files", o, err, len(left))
		}
	}
}
