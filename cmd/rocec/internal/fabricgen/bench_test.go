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

// BenchmarkProcess is the program from start to finish, in turns with a process
// that only parses the same files with the same settings of the runtime: a
// machine that is busy slows both. parse-ratio is CPU time by CPU time, peak-B
// the largest resident set.
func BenchmarkProcess(b *testing.B) {
	rocec := filepath.Join(b.TempDir(), "rocec")
	if out, err := exec.Command("go", "build", "-o", rocec, "github.com/rocec/rocec/cmd/rocec").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("smallest", func(b *testing.B) {
		examples, err := filepath.Abs("../../../../examples/smb-direct")
		if err != nil {
			b.Fatal(err)
		}
		processes(b, rocec, self, examples, 10)
	})
	for _, w := range written {
		b.Run(w.name, func(b *testing.B) {
			dir := b.TempDir()
			size, err := fabricgen.Write(dir, w.options)
			if err != nil {
				b.Fatal(err)
			}
			processes(b, rocec, self, dir, size.EndPorts())
		})
	}
}

// processes measures validate and build on a folder whose fabric has that many
// ends of cables.
func processes(b *testing.B, rocec, self, dir string, ports int) {
	for _, command := range []string{"validate", "build"} {
		b.Run(command, func(b *testing.B) {
			var all, parse cost
			runs := 0
			for b.Loop() {
				yardstick := exec.Command(self)
				yardstick.Env = append(os.Environ(), parseDir+"="+dir)
				parse.add(measure(b, yardstick))
				args := []string{"--chdir=" + dir, command}
				if command == "build" {
					args = append(args, "--out-dir="+filepath.Join(b.TempDir(), "out"))
				}
				all.add(measure(b, exec.Command(rocec, args...)))
				runs++
			}
			per := float64(runs)
			b.ReportMetric(0, "ns/op") // of the program and the yardstick together
			b.ReportMetric(all.wall.Seconds()*1000/per, "wall-ms")
			b.ReportMetric(all.cpu.Seconds()*1000/per, "cpu-ms")
			b.ReportMetric(float64(all.cpu.Nanoseconds())/per/float64(ports), "cpu-ns/port")
			b.ReportMetric(float64(all.peakBytes)/float64(ports), "peak-B/port")
			b.ReportMetric(all.cpu.Seconds()/parse.cpu.Seconds(), "parse-ratio")
		})
	}
}
