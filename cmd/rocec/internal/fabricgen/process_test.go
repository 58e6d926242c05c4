package fabricgen_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/sync/errgroup"
)

// Variables that make the test binary another program, of its arguments.
const (
	asParser = "FABRICGEN_PARSE" // parses the configuration of a folder and does nothing else: the yardstick
	asWatch  = "FABRICGEN_WATCH" // runs a command and prints its cost
	asWriter = "FABRICGEN_WRITE" // writes a file of as many bytes as another and does nothing else: the floor of a build
)

func TestMain(m *testing.M) {
	var err error
	switch {
	case os.Getenv(asWatch) != "":
		err = watch(os.Args[1:])
	case os.Getenv(asParser) != "":
		err = parseAll(os.Args[1])
	case os.Getenv(asWriter) != "":
		err = writeLike(os.Args[1], os.Args[2])
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// parseAll reads and parses files one by one on every core, as rocec does, and
// drops the trees.
func parseAll(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.roce.hcl"))
	if err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, name := range names {
		g.Go(func() error {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			if _, diags := hclsyntax.ParseConfig(text, name, hcl.InitialPos); diags.HasErrors() {
				return diags
			}
			return nil
		})
	}
	return g.Wait()
}

// writeLike writes a file as large as another, in pieces as an archive is written.
func writeLike(name, like string) error {
	info, err := os.Stat(like)
	if err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	piece := bytes.Repeat([]byte("rocec "), 1<<17)
	for left := info.Size(); left > 0 && err == nil; left -= int64(len(piece)) {
		_, err = f.Write(piece[:min(left, int64(len(piece)))])
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// cost is what one run of a command took.
type cost struct {
	Wall, CPU time.Duration // CPU: user and system
	PeakBytes int64         // largest resident set, 0 if unknown
}

// watch runs a command from a process that is small itself: a child starts with
// the peak of whoever forks it, and the benchmarks are larger than most fabrics.
func watch(args []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), asWatch+"=")
	start := time.Now()
	out, err := cmd.CombinedOutput()
	wall := time.Since(start)
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	s := cmd.ProcessState
	return json.NewEncoder(os.Stdout).Encode(cost{wall, s.UserTime() + s.SystemTime(), peakBytes(s)})
}

// costs are what the runs of a command took.
type costs struct {
	runs      int
	best      time.Duration // wall time of the fastest
	cpu       time.Duration // of all together
	peakBytes int64         // of the largest
}

// parse runs the yardstick on a folder.
func (c *costs) parse(b *testing.B, dir string) {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	c.measure(b, asParser+"=1", self, dir)
}

// write runs the floor of a build to an archive.
func (c *costs) write(b *testing.B, name, like string) {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	c.measure(b, asWriter+"=1", self, name, like)
}

// run runs a command to its end.
func (c *costs) run(b *testing.B, args ...string) {
	b.Helper()
	c.measure(b, asParser+"=", args...)
}

func (c *costs) measure(b *testing.B, env string, args ...string) {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), asWatch+"=1", env)
	out, err := cmd.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			b.Fatalf("%s", failed.Stderr)
		}
		b.Fatal(err)
	}
	var one cost
	if err := json.Unmarshal(out, &one); err != nil {
		b.Fatal(err)
	}
	if c.runs == 0 || one.Wall < c.best {
		c.best = one.Wall
	}
	c.runs++
	c.cpu += one.CPU
	c.peakBytes = max(c.peakBytes, one.PeakBytes)
}

// report says what a run took, and what that is for each port.
func (c *costs) report(b *testing.B, ports int) {
	cpu := float64(c.cpu.Nanoseconds()) / float64(c.runs)
	b.ReportMetric(0, "ns/op") // with the yardstick in it, it says nothing
	b.ReportMetric(float64(c.best.Nanoseconds())/1e6, "best-ms")
	b.ReportMetric(cpu/1e6, "cpu-ms")
	b.ReportMetric(cpu/float64(ports), "cpu-ns/port")
	if c.peakBytes > 0 {
		b.ReportMetric(float64(c.peakBytes)/float64(ports), "peak-B/port")
		b.ReportMetric(float64(c.peakBytes)/1e6, "peak-MB")
	}
}
