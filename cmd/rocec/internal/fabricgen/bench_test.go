package fabricgen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

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
	rocec := filepath.Join(b.TempDir(), "rocec")
	if out, err := exec.Command("go", "build", "-o", rocec, "github.com/rocec/rocec/cmd/rocec").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
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

// folder is a configuration on disk, whose cables have that many ends.
type folder struct {
	name, dir string
	ports     int
}
