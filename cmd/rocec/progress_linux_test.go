package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rocec/rocec/cmd/rocec/internal/fabricgen"
)

// TestProgress: work on many devices shows how far it is on a terminal, work on
// a few does not, and nothing is shown where no terminal is.
func TestProgress(t *testing.T) {
	t.Parallel()
	large := t.TempDir()
	if _, err := fabricgen.Write(large, fabricgen.Options{Nodes: 64, NICs: 1}); err != nil {
		t.Fatal(err)
	}
	if got := onTerminal(t, large, "plan", "--summary"); !strings.Contains(got, "devices") || !strings.Contains(got, "Comparing") {
		t.Errorf("on a terminal plan shows %q", got)
	}
	if got := onTerminal(t, large, "build"); !strings.Contains(got, "Writing") {
		t.Errorf("on a terminal build shows %q", got)
	}
	if got := onTerminal(t, large, "build", "-q"); strings.Contains(got, "devices") {
		t.Errorf("with -q it shows %q", got)
	}
	if got := onTerminal(t, small(t), "build"); strings.Contains(got, "Writing") {
		t.Errorf("for three devices it shows %q", got)
	}
	if _, _, errOut := rocec(t, large, nil, "build"); strings.Contains(errOut, "Writing") || strings.Contains(errOut, "\x1b") {
		t.Errorf("in a pipe it shows %q", errOut)
	}
}

// onTerminal runs the program with a terminal for its errors, and returns what
// that was sent.
func onTerminal(t *testing.T, dir string, args ...string) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100})
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("rocec", args...)
	c.Dir, c.Stderr = dir, slave
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	var got strings.Builder
	done := make(chan bool)
	go func() {
		defer close(done)
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b) // an error when the last holder of the other side is gone
			got.Write(b[:n])
			if err != nil {
				return
			}
		}
	}()
	if err := c.Wait(); err != nil {
		t.Errorf("%s: %v", args, err)
	}
	<-done
	return got.String()
}
