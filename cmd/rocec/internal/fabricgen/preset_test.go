package fabricgen_test

import (
	"bytes"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/cmd/rocec/internal/fabricgen"
	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/packs"
)

// files is a preset as a file system.
func files(p fabricgen.Preset, form fabricgen.Form) (fstest.MapFS, fabricgen.Size) {
	list := fstest.MapFS{}
	var size fabricgen.Size
	for name, text := range p.Files(form, 0, &size) {
		list[name] = &fstest.MapFile{Data: text}
	}
	return list, size
}

// TestPresetSize compares the presets with the figures they were published with:
// nodes, NICs, switches, links to nodes, links between switches.
func TestPresetSize(t *testing.T) {
	want := map[string][5]int{
		"pod-256":     {32, 256, 8 + 4, 256, 256},
		"fabric-4k":   {512, 4096, 64 + 32, 4096, 4096},
		"meta-24k":    {3072, 24_576, 1536 + 144 + 36, 24_576, 27_648 + 4_032},
		"hpn-15k":     {1920, 30_720, 240 + 120, 30_720, 14_400},
		"fabric-100k": {12_800, 102_400, 1600 + 1600 + 1024, 102_400, 102_400 + 102_400},
	}
	got := map[string][5]int{}
	for _, p := range fabricgen.Presets {
		s := p.Size()
		got[p.Name] = [5]int{s.Nodes, s.NICs, s.Switches, s.NICs, s.Links - s.NICs}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPresetCables reads the lists of cables back: as many as were counted, and
// no port has two.
func TestPresetCables(t *testing.T) {
	for _, p := range fabricgen.Presets {
		if p.Name == "fabric-100k" && testing.Short() {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			seen := map[string]bool{}
			rows := 0
			var size fabricgen.Size
			for name, text := range p.Files(fabricgen.Written, 0, &size) {
				if !strings.HasPrefix(name, "cables-") {
					continue
				}
				for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
					if i == 0 {
						continue
					}
					rows++
					cell := strings.Split(string(line), ",")
					for _, end := range []string{cell[0] + " " + cell[2], cell[3] + " " + cell[5]} {
						if seen[end] {
							t.Fatalf("%s line %d: %s has two cables", name, i+1, end)
						}
						seen[end] = true
					}
				}
			}
			if rows != size.Links || len(seen) != size.EndPorts() {
				t.Errorf("%d cables with %d ends, want %d with %d", rows, len(seen), size.Links, size.EndPorts())
			}
		})
	}
}

// compiled is a fabric with its findings and its cables, ends sorted.
func compiled(t *testing.T, fsys fs.FS) (*compiler.Result, []string) {
	t.Helper()
	cfg, found := lang.Load(lang.Options{FS: fsys, Packs: packs.Files()})
	if found.HasErrors() {
		t.Fatalf("does not load: %v", found[0])
	}
	res := compiler.Compile(cfg, compiler.Options{Rows: packs.HeadroomRows})
	if res.Fabric == nil {
		t.Fatalf("does not resolve: %v", res.Diags[0])
	}
	for _, d := range res.Diags[:min(5, len(res.Diags))] {
		t.Errorf("%s %s", d.Rule, d.Summary)
	}
	var cables []string
	f := res.Fabric
	for id := 1; id < len(f.Links); id++ {
		ends := []string{f.PortName(f.Links[id].A), f.PortName(f.Links[id].B)}
		slices.Sort(ends)
		cables = append(cables, strings.Join(ends, " "))
	}
	slices.Sort(cables)
	return res, cables
}

// TestForms compiles both forms: no finding, the same devices, the same cables,
// the same addresses.
func TestForms(t *testing.T) {
	presets := []fabricgen.Preset{{
		// The shape of meta-24k, small: pods under cores, leaves that take all NICs.
		Name: "tiny", Kind: "leaf_spine", Pods: 2, Nodes: 4, NICs: 2, Planes: 1, Leaves: 2, Down: 4, Up: 4,
		Spines: 2, SpineDown: 4, SpineUp: 2, Cores: 2, CorePorts: 4, NICSpeed: "400G",
	}, {
		// That of hpn-15k: two planes, another speed below.
		Name: "planes", Kind: "rail_optimized", Pods: 1, Nodes: 4, NICs: 4, Planes: 2, Leaves: 8, Down: 2, Up: 4,
		Spines: 4, SpineDown: 8, NICSpeed: "200G",
	}}
	pod, _ := fabricgen.PresetNamed("pod-256")
	for _, p := range append(presets, pod) {
		t.Run(p.Name, func(t *testing.T) {
			one, size := files(p, fabricgen.Compact)
			two, _ := files(p, fabricgen.Written)
			a, short := compiled(t, one)
			b, long := compiled(t, two)
			if diff := cmp.Diff(short, long); diff != "" || len(short) != size.Links {
				t.Errorf("%d cables, want %d (-compact +written):\n%s", len(short), size.Links, diff)
			}
			if diff := cmp.Diff(addresses(a.Fabric), addresses(b.Fabric)); diff != "" {
				t.Errorf("addresses (-compact +written):\n%s", diff)
			}
		})
	}
}

// addresses are those of every device, sorted.
func addresses(f *fabric.Fabric) map[string][]string {
	out := map[string][]string{}
	for i := 1; i < len(f.Devices); i++ {
		out[f.Text(f.Devices[i].Name)] = nil
	}
	for i := range f.Ifaces {
		x := &f.Ifaces[i]
		if x.Device == 0 {
			continue
		}
		name := f.Text(f.Devices[x.Device].Name)
		for _, a := range f.Addresses(x) {
			out[name] = append(out[name], a.String())
		}
	}
	for name := range maps.Keys(out) {
		slices.Sort(out[name])
	}
	return out
}
