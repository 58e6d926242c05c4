package fabricgen_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/sync/errgroup"
)

// parseDir in the environment makes the test binary the yardstick: a process
// that does nothing but parse the configuration of a folder.
const parseDir = "FABRICGEN_PARSE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(parseDir); dir != "" {
		if err := parseAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
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

// cost is what a process took.
type cost struct {
	wall, cpu time.Duration
	peakBytes int64
}

func (c *cost) add(o cost) {
	c.wall += o.wall
	c.cpu += o.cpu
	c.peakBytes = max(c.peakBytes, o.peakBytes)
}

// measure runs a command to its end.
func measure(b *testing.B, cmd *exec.Cmd) cost {
	b.Helper()
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	wall := time.Since(start)
	use := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return cost{wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), use.Maxrss * 1024}
}
