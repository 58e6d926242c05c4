package fabricgen_test

import (
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rocec/rocec/cmd/rocec/internal/fabricgen"
	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/packs"
)

// BenchmarkRules is every rule over one compiled fabric, and with -v the rules
// that cost most, each alone and so with the walks that all share. Cost follows
// variety: a port costs little more than being looked at.
func BenchmarkRules(b *testing.B) {
	for _, w := range written {
		b.Run(w.name, func(b *testing.B) {
			files, _ := inMemory(w.options)
			benchRules(b, files)
		})
	}
	for _, name := range []string{"meta-24k", "fabric-100k"} {
		b.Run(name, func(b *testing.B) {
			preset, _ := fabricgen.PresetNamed(name)
			files := fstest.MapFS{}
			var size fabricgen.Size
			for file, text := range preset.Files(fabricgen.Compact, 1000, &size) {
				files[file] = &fstest.MapFile{Data: text}
			}
			benchRules(b, files)
		})
	}
}

func benchRules(b *testing.B, files fs.FS) {
	cfg, diags := lang.Load(lang.Options{FS: files, Packs: packs.Files()})
	if diags.HasErrors() {
		b.Fatal(diags[0])
	}
	res := compiler.Compile(cfg, compiler.Options{Rows: packs.HeadroomRows, Rules: []*lint.Rule{}})
	if res.Diags.HasErrors() {
		b.Fatal(res.Diags[0])
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, d := range lint.Run(res.Fabric, res.Facts, "", lint.All) {
			if !lint.Find(d.Rule).Pedantic { // those find something in any fabric
				b.Fatal(d)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*(len(res.Fabric.Links)-1)), "ns/port")
	for _, r := range lint.All {
		start := time.Now()
		lint.Run(res.Fabric, res.Facts, "", []*lint.Rule{r})
		if took := time.Since(start); took > 5*time.Millisecond {
			b.Logf("%s %v", r.ID, took.Round(100*time.Microsecond))
		}
	}
}
