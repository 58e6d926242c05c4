//go:build unix

package record_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rocec/rocec/deploy/record"
)

// childMode, with a folder behind it, makes the test binary a process that is
// killed or runs out of disk.
const childMode = "ROCEC_RECORD_CHILD"

func TestMain(m *testing.M) {
	mode, dir, ok := strings.Cut(os.Getenv(childMode), ":")
	if !ok {
		os.Exit(m.Run())
	}
	s, err := record.Open(dir, "default")
	if err == nil {
		switch mode {
		case "write":
			err = writeForever(s)
		case "full":
			err = fillDisk(s)
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

func child(mode, dir string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childMode+"="+mode+":"+dir)
	return c
}

// writeForever puts entries of growing and shrinking size as fast as it can.
func writeForever(s *record.Store) error {
	l, err := s.Lock(context.Background(), "apply", "0.1.0", 0)
	if err != nil {
		return err
	}
	e, version, err := s.Get("tor")
	i := 0
	if e != nil {
		_, _ = fmt.Sscan(e.Inputs["n"], &i)
	}
	for err == nil {
		i++
		version, err = l.Put(sized(i), version)
	}
	return err
}

func sized(i int) *record.Entry {
	e := entry("tor", uint16(i))
	e.Inputs["n"] = fmt.Sprint(i)
	e.Inputs["filling"] = strings.Repeat("x", i%7*100_000)
	return e
}

// A process that is killed at any moment leaves a whole entry, and the next one
// takes its lock over.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	path := filepath.Join(s.Dir(), "tor.json")
	last := 0
	for i := range 15 {
		c := child("write", dir)
		out := &strings.Builder{}
		c.Stdout = out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		for before := modified(path); modified(path).Equal(before) && len(ended) == 0; {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(i) * 4 * time.Millisecond)
		_ = c.Process.Kill()
		<-ended
		if out.Len() > 0 {
			t.Fatalf("the child said %s", out)
		}
		e, _, err := s.Get("tor")
		if err != nil || e == nil {
			t.Fatalf("after kill %d: %v, %v", i, e, err)
		}
		n, err := strconv.Atoi(e.Inputs["n"])
		if err != nil || n <= last {
			t.Fatalf("after kill %d the entry is number %d, %v; it was %d", i, n, err, last)
		}
		last = n
	}
	lock(t, s)
	left, err := filepath.Glob(filepath.Join(s.Dir(), ".tor.json*"))
	if err != nil || len(left) > 0 {
		t.Errorf("pending files are left: %v, %v", left, err)
	}
	if alive, _ := filepath.Glob(filepath.Join(s.Dir(), ".alive-*")); len(alive) != 1 {
		t.Errorf("signs of life: %v", alive)
	}
}

func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// fillDisk writes an entry that the disk has no room for.
func fillDisk(s *record.Store) error {
	l, err := s.Lock(context.Background(), "apply", "0.1.0", 0)
	if err != nil {
		return err
	}
	_, version, err := s.Get("tor")
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGXFSZ) // so that a write fails instead of ending the process
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 50_000, Max: 50_000}); err != nil {
		return err
	}
	_, err = l.Put(sized(6), version)
	if err == nil {
		return nil
	}
	if e := l.Unlock(); e != nil {
		return fmt.Errorf("unlock after a full disk: %w", e)
	}
	return fmt.Errorf("refused: %w", err)
}

func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	l := lock(t, s)
	put(t, l, entry("tor", 1500), "")
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	_, before, _ := s.Get("tor")
	out, _ := child("full", dir).Output()
	for _, want := range []string{"refused: write record of tor: ", "tor.json", "file too large"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the child said %q without %q", out, want)
		}
	}
	if e, after, err := s.Get("tor"); err != nil || e == nil || after != before {
		t.Errorf("the old entry is %q, %v; it was %q", after, err, before)
	}
	if left, _ := filepath.Glob(filepath.Join(s.Dir(), ".tor.json*")); len(left) > 0 {
		t.Errorf("pending files are left: %v", left)
	}
}
