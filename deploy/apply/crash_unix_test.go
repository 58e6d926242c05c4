//go:build unix

package apply_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/targets/emit"
)

// childMode, with a folder behind it, makes the test binary a process that is
// killed or runs out of disk.
const childMode = "ROCEC_APPLY_CHILD"

func TestMain(m *testing.M) {
	mode, dir, ok := strings.Cut(os.Getenv(childMode), ":")
	if !ok {
		os.Exit(m.Run())
	}
	var err error
	switch mode {
	case "tree":
		err = treesForever(dir)
	case "bundle":
		err = bundlesForever(dir)
	case "full":
		err = fillDisk(dir)
	}
	fmt.Println(err)
	os.Exit(1)
}

func child(mode, dir string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childMode+"="+mode+":"+dir)
	return c
}

// generation is a few devices of which every file says the same number.
func generation(i int) []apply.Device {
	var list []apply.Device
	for _, name := range []string{"a", "b", "c"} {
		d := tor(name, "sub", fmt.Sprint(i))
		// A file that only some generations have, and one that is large.
		if i%2 == 0 {
			d.Artifacts = append(d.Artifacts, emit.Artifact{Path: fmt.Sprintf("only-%d", i), Mode: 0o644, Step: emit.Data, Bytes: fmt.Appendf(nil, "only %d", i)})
		}
		d.Artifacts = append(d.Artifacts, emit.Artifact{Path: "large", Mode: 0o644, Step: emit.Data, Bytes: []byte(strings.Repeat("x", 200_000) + " " + fmt.Sprint(i))})
		list = append(list, d)
	}
	return list
}

func treesForever(dir string) error {
	for i := os.Getpid() * 1000; ; i++ {
		t, err := apply.NewTree(src, made(generation(i)...))
		if err != nil {
			return err
		}
		if _, err := apply.WriteTree(filepath.Join(dir, "out"), t); err != nil {
			return err
		}
	}
}

func bundlesForever(dir string) error {
	s, err := record.Open(filepath.Join(dir, "record"), "default")
	if err != nil {
		return err
	}
	l, err := s.Lock(context.Background(), "apply", "0.1.0", 0)
	if err != nil {
		return err
	}
	for i := os.Getpid() * 1000; ; i++ {
		if _, err := apply.Bundle(filepath.Join(dir, "bundle"), src, made(generation(i)...), nil, l); err != nil {
			return err
		}
	}
}

// killed runs a child until it has written something, and kills it a bit later.
func killed(t *testing.T, mode, dir, watched string, after time.Duration) {
	t.Helper()
	c := child(mode, dir)
	out := &strings.Builder{}
	c.Stdout = out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for before := manifest(watched); manifest(watched) == before && len(ended) == 0; {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(after)
	_ = c.Process.Kill()
	<-ended
	if out.Len() > 0 {
		t.Fatalf("the child said %s", out)
	}
}

func manifest(dir string) string {
	b, _ := os.ReadFile(filepath.Join(dir, "manifest.json"))
	return string(b)
}

// numbers are the last words of all files of a folder.
func numbers(t *testing.T, dir string) map[string]int {
	t.Helper()
	found := map[string]int{}
	for line := range strings.Lines(listing(t, dir)) {
		if !strings.HasPrefix(line, "manifest.json ") {
			words := strings.Fields(line)
			found[words[len(words)-1]]++
		}
	}
	return found
}

// A process that is killed at any moment leaves the old tree or the new one,
// and the next run cleans up behind it.
func TestTreeKilled(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	seen := map[string]bool{}
	for i := range 8 {
		killed(t, "tree", dir, out, time.Duration(i)*6*time.Millisecond)
		found := numbers(t, out)
		if len(found) != 1 {
			t.Fatalf("after kill %d the tree is a mixture: %v", i, found)
		}
		for n, files := range found {
			seen[n] = true
			if files != 18 && files != 21 {
				t.Fatalf("after kill %d the tree has %d files", i, files)
			}
		}
	}
	if len(seen) < 2 {
		t.Errorf("the child wrote %d different trees only", len(seen))
	}
	write(t, out, tree(t, generation(1)...))
	if list, err := apply.CheckTree(out, tree(t, generation(1)...)); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	clean(t, dir)
}

// Of a bundle each device is whole, is recorded as something that was written
// whole, and the next run completes it.
func TestBundleKilled(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "bundle")
	for i := range 8 {
		killed(t, "bundle", dir, out, time.Duration(i)*9*time.Millisecond)
		for _, name := range []string{"a", "b", "c"} {
			found := numbers(t, filepath.Join(out, "sub", name))
			if len(found) != 1 {
				t.Fatalf("after kill %d device %s is a mixture: %v", i, name, found)
			}
			for n, files := range found {
				if files != 6 && files != 7 {
					t.Fatalf("after kill %d device %s of %s has %d files", i, name, n, files)
				}
			}
		}
	}
	l := locked(t, filepath.Join(dir, "record"))
	bundle(t, out, l, nil, generation(1)...)
	if found := numbers(t, out); len(found) != 1 || found["1"] != 18 {
		t.Errorf("after all: %v", found)
	}
	for _, d := range generation(1) {
		if e := entry(t, l, d.Name); e.Artifacts["large"] != d.Digests()["large"] {
			t.Errorf("%s is recorded with other files", d.Name)
		}
	}
	clean(t, out, dir)
}

// fillDisk writes trees and bundles that the disk has no room for.
func fillDisk(dir string) error {
	s, err := record.Open(filepath.Join(dir, "record"), "default")
	if err != nil {
		return err
	}
	l, err := s.Lock(context.Background(), "apply", "0.1.0", 0)
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGXFSZ) // so that a write fails instead of ending the process
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100_000, Max: 100_000}); err != nil {
		return err
	}
	t, err := apply.NewTree(src, made(generation(2)...))
	if err != nil {
		return err
	}
	_, one := apply.WriteTree(filepath.Join(dir, "out"), t)
	_, two := apply.Bundle(filepath.Join(dir, "bundle"), src, made(generation(2)...), nil, l)
	if one == nil || two == nil {
		return fmt.Errorf("written: %w", errors.Join(one, two))
	}
	return fmt.Errorf("both refused: %w", errors.Join(one, two, l.Unlock()))
}

func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	l := locked(t, filepath.Join(dir, "record"))
	write(t, filepath.Join(dir, "out"), tree(t, generation(1)...))
	bundle(t, filepath.Join(dir, "bundle"), l, nil, generation(1)...)
	recorded := entry(t, l, "a").IntentDigest
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	before := listing(t, filepath.Join(dir, "out"))
	out, _ := child("full", dir).Output()
	for _, want := range []string{"both refused: write ", "/out: ", "/bundle: device a: ", "file too large"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the child said %q without %q", out, want)
		}
	}
	if after := listing(t, filepath.Join(dir, "out")); after != before {
		t.Error("the tree has changed")
	}
	if found := numbers(t, filepath.Join(dir, "bundle", "sub")); len(found) != 1 || found["1"] != 18 {
		t.Errorf("the bundle holds %v", found)
	}
	l = locked(t, filepath.Join(dir, "record"))
	if now := entry(t, l, "a").IntentDigest; now != recorded {
		t.Error("the record has changed")
	}
	clean(t, dir)
}
