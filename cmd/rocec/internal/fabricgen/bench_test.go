package fabricgen_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/rocec/rocec/cmd/rocec/internal/fabricgen"
	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/packs"
)

// written are the fabrics that the benchmarks measure.
var written = []struct {
	name    string
	options fabricgen.Options
}{
	{"pod-256", fabricgen.Options{Nodes: 32}},
	{"nics-4000", fabricgen.Options{Nodes: 500}},
	{"nics-40000", fabricgen.Options{Nodes: 5000}},
}

// BenchmarkCompile is the compiler alone, from a loaded configuration to a
// proven fabric. A port is an end of a cable. live-B/port is what the fabric and
// its facts keep.
func BenchmarkCompile(b *testing.B) {
	for _, w := range written[:2] {
		b.Run(w.name, func(b *testing.B) {
			files, size := inMemory(w.options)
			cfg, diags := lang.Load(lang.Options{FS: files, Packs: packs.Files()})
			if diags.HasErrors() {
				b.Fatal(diags[0])
			}
			clear(files)
			var res *compiler.Result
			before := heapBytes()
			b.ReportAllocs()
			for b.Loop() {
				res = compiler.Compile(cfg, compiler.Options{Rows: packs.HeadroomRows})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size.EndPorts()), "ns/port")
			b.ReportMetric((heapBytes()-before)/float64(size.EndPorts()), "live-B/port")
			runtime.KeepAlive(cfg)
			if len(res.Diags) > 0 {
				b.Fatal(res.Diags[0])
			}
		})
	}
}

// heapBytes is what is reachable.
func heapBytes() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkProcess is the program from start to finish. validate runs in turns
// with a process that only parses the same files with the same settings of the
// runtime, so that a busy machine slows both: parse-ratio is CPU time by CPU time.
// best-ms is the wall time of the best run, peak-B/port the largest resident set.
func BenchmarkProcess(b *testing.B) {
	rocec := program(b)
	// Removed when all is measured: for some seconds ext4 avoids the inodes of
	// files that were just deleted, and a search for others costs more than a build.
	out := b.TempDir()
	example, err := filepath.Abs("../../../../examples/smb-direct")
	if err != nil {
		b.Fatal(err)
	}
	folders := []folder{{"smallest", example, 10}}
	for _, w := range written {
		dir := b.TempDir()
		size, err := fabricgen.Write(dir, w.options)
		if err != nil {
			b.Fatal(err)
		}
		folders = append(folders, folder{w.name, dir, size.EndPorts()})
	}
	for _, f := range folders {
		b.Run(f.name+"/validate", func(b *testing.B) {
			var program, parser costs
			for b.Loop() {
				parser.parse(b, f.dir)
				program.run(b, rocec, "--chdir="+f.dir, "validate")
			}
			program.report(b, f.ports)
			b.ReportMetric(program.cpu.Seconds()/parser.cpu.Seconds(), "parse-ratio")
		})
		b.Run(f.name+"/build", func(b *testing.B) {
			var program costs
			for b.Loop() {
				place, err := os.MkdirTemp(out, "")
				if err != nil {
					b.Fatal(err)
				}
				program.run(b, rocec, "--chdir="+f.dir, "build", "--out-dir="+filepath.Join(place, "out"))
			}
			program.report(b, f.ports)
		})
	}
}

// program builds rocec.
func program(b *testing.B) string {
	b.Helper()
	rocec := filepath.Join(b.TempDir(), "rocec")
	if out, err := exec.Command("go", "build", "-o", rocec, "github.com/rocec/rocec/cmd/rocec").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	return rocec
}

// BenchmarkPreset is the program from start to finish on published fabrics, in
// both forms. Beside validate runs a process that only parses the same files,
// beside build to an archive one that only writes as many bytes: parse-ratio and
// write-ratio are CPU time by CPU time. rebuild is a build into a folder after
// one line of the source has changed.
func BenchmarkPreset(b *testing.B) {
	rocec := program(b)
	out := b.TempDir()
	for _, p := range fabricgen.Presets {
		for _, form := range []fabricgen.Form{fabricgen.Compact, fabricgen.Written} {
			b.Run(p.Name+"/"+string(form), func(b *testing.B) {
				dir := b.TempDir()
				size, err := fabricgen.WritePreset(dir, p, form, 0)
				if err != nil {
					b.Fatal(err)
				}
				benchPreset(b, rocec, dir, out, size.EndPorts())
			})
		}
	}
}

func benchPreset(b *testing.B, rocec, dir, out string, ports int) {
	archive, floor := filepath.Join(out, "a.tar"), filepath.Join(out, "floor")
	b.Run("validate", func(b *testing.B) {
		var program, parser costs
		for b.Loop() {
			parser.parse(b, dir)
			program.run(b, rocec, "--chdir="+dir, "validate")
		}
		program.report(b, ports)
		b.ReportMetric(program.cpu.Seconds()/parser.cpu.Seconds(), "parse-ratio")
	})
	b.Run("build", func(b *testing.B) {
		var program, writer costs
		for b.Loop() {
			program.run(b, rocec, "--chdir="+dir, "build", "--archive="+archive)
			writer.write(b, floor, archive)
		}
		program.report(b, ports)
		b.ReportMetric(program.cpu.Seconds()/writer.cpu.Seconds(), "write-ratio")
		if info, err := os.Stat(archive); err == nil {
			b.ReportMetric(float64(info.Size())/1e6, "MB-written")
		}
	})
	// Against a record: the first plan after it was written, which makes every
	// device, and the next ones. To write that of the largest takes minutes.
	b.Run("plan", func(b *testing.B) {
		var program, next, ignored costs
		if ports < 500_000 {
			ignored.run(b, rocec, "--chdir="+dir, "apply", "--auto-approve", "--bundle="+filepath.Join(out, "bundle-"+filepath.Base(filepath.Dir(dir))))
			time.Sleep(3 * time.Second) // entries that were just written are read again (disk.Stamp)
		}
		for b.Loop() {
			if err := os.RemoveAll(filepath.Join(dir, ".rocec")); err != nil {
				b.Fatal(err)
			}
			program.run(b, rocec, "--chdir="+dir, "plan", "--summary")
			next.run(b, rocec, "--chdir="+dir, "plan", "--summary")
		}
		program.report(b, ports)
		b.ReportMetric(float64(next.cpu.Milliseconds())/float64(b.N), "next-cpu-ms")
	})
	b.Run("rebuild", func(b *testing.B) {
		var program, ignored costs
		tree := filepath.Join(out, "tree-"+filepath.Base(filepath.Dir(dir)))
		ignored.run(b, rocec, "--chdir="+dir, "build", "--out-dir="+tree)
		name := filepath.Join(dir, "qos-0000.roce.hcl")
		text, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		for n := 0; b.Loop(); n++ {
			// Another comment: the sources differ, and so does the manifest, but no device.
			if err := os.WriteFile(name, fmt.Appendf(nil, "# %d\n%s", n, text), 0o644); err != nil {
				b.Fatal(err)
			}
			program.run(b, rocec, "--chdir="+dir, "build", "--out-dir="+tree)
		}
		program.report(b, ports)
	})
}

// folder is a configuration on disk, whose cables have that many ends.
type folder struct {
	name, dir string
	ports     int
}
