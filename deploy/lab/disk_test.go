package lab_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocec/rocec/deploy/lab"
)

// outcome is what an operation came to, in words that both file systems have.
func outcome(err error) string {
	for _, e := range []error{fs.ErrNotExist, fs.ErrExist, syscall.ENOTEMPTY, syscall.EISDIR, syscall.ENOTDIR, syscall.EINVAL, syscall.ELOOP} {
		if errors.Is(err, e) {
			if e == fs.ErrExist && errors.Is(err, syscall.ENOTEMPTY) {
				continue
			}
			return e.Error()
		}
	}
	return fmt.Sprint(err)
}

// TestDiskLikeSystem: random operations leave a disk as they leave a folder of
// the system, and fail where they fail there.
func TestDiskLikeSystem(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // errors and links differ by system
	}
	rapid.Check(t, func(t *rapid.T) {
		root, err := os.MkdirTemp("", "rocec-disk-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(root)
		d := lab.NewDisk(lab.DiskOptions{})
		name := rapid.SampledFrom([]string{"a", "b", "a/a", "a/b", "b/a", "a/a/b"})
		for range rapid.IntRange(1, 30).Draw(t, "count") {
			p, q := name.Draw(t, "name"), name.Draw(t, "other")
			real := func(s string) string { return filepath.Join(root, s) }
			var mine, theirs error
			op := rapid.SampledFrom([]string{"write", "mkdir", "remove", "removeall", "rename", "symlink", "read", "append"}).Draw(t, "op")
			switch op {
			case "write":
				mine, theirs = d.WriteFile("/"+p, []byte(q), 0o644), os.WriteFile(real(p), []byte(q), 0o644)
			case "mkdir":
				mine, theirs = d.Mkdir("/"+p, 0o755), os.Mkdir(real(p), 0o755)
			case "remove":
				mine, theirs = d.Remove("/"+p), os.Remove(real(p))
			case "removeall":
				mine, theirs = d.RemoveAll("/"+p), os.RemoveAll(real(p))
				if theirs != nil { // of a path below a file, where os finds an error and rm -rf none
					mine = theirs
				}
			case "rename":
				mine, theirs = d.Rename("/"+p, "/"+q), syscall.Rename(real(p), real(q))
				if theirs != nil && mine != nil { // which of several reasons is told first is nobody's business
					mine = theirs
				}
			case "symlink":
				mine, theirs = d.Symlink(filepath.Base(q), "/"+p), os.Symlink(filepath.Base(q), real(p))
			case "read":
				var a, b []byte
				a, mine = d.ReadFile("/" + p)
				b, theirs = os.ReadFile(real(p))
				if string(a) != string(b) {
					t.Fatalf("%s holds %q, wanted %q", p, a, b)
				}
			case "append":
				mine, theirs = grow(d, "/"+p), growReal(real(p))
			}
			if outcome(mine) != outcome(theirs) {
				t.Fatalf("%s %s %s: %v, wanted %v", op, p, q, mine, theirs)
			}
			if got, want := listed(d, "/"), listedReal(root); got != want {
				t.Fatalf("after %s %s %s:\n%s\nwanted:\n%s", op, p, q, got, want)
			}
		}
	})
}

func grow(d *lab.Disk, p string) error {
	f, err := d.OpenFile(p, lab.OpenWrite|lab.OpenAppend, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte("+"))
	return errors.Join(err, f.Close())
}

func growReal(p string) error {
	f, err := os.OpenFile(p, os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte("+"))
	return errors.Join(err, f.Close())
}

func listed(d *lab.Disk, dir string) string {
	var lines []string
	list, _ := d.ReadDir(dir)
	for _, e := range list {
		p := filepath.Join(dir, e.Name())
		lines = append(lines, fmt.Sprint(p, " ", e.Type()))
		if e.IsDir() {
			lines = append(lines, listed(d, p))
		}
	}
	return strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n")
}

func listedReal(root string) string {
	var lines []string
	_ = filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(root, p); err == nil && rel != "." {
			lines = append(lines, fmt.Sprint("/", rel, " ", e.Type()))
		}
		return nil
	})
	return strings.Join(lines, "\n")
}

// TestDiskRoom: what fits fits, and what is removed, also by a loss of power, makes
// room.
func TestDiskRoom(t *testing.T) {
	d := lab.NewDisk(lab.DiskOptions{Limit: 100, Volatile: []string{"/run"}})
	write := func(p string, n int) error { return d.WriteFile(p, []byte(strings.Repeat("x", n)), 0o600) }
	if err := errors.Join(write("/a", 60), write("/run/b", 40)); err != nil {
		t.Fatal(err)
	}
	if err := write("/c", 1); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk takes more: %v", err)
	}
	d.PowerCut()
	if _, err := d.Stat("/run/b"); err == nil {
		t.Error("what is volatile stays")
	}
	if used, _ := d.Used(); used != 60 {
		t.Errorf("%d bytes are used, wanted 60", used)
	}
	if err := errors.Join(grow(d, "/a"), write("/c", 39)); err != nil {
		t.Error(err)
	}
	if err := errors.Join(d.Rename("/c", "/a"), d.RemoveAll("/a"), write("/d", 100)); err != nil {
		t.Error(err)
	}
}

func TestDiskFolds(t *testing.T) {
	d := lab.NewDisk(lab.DiskOptions{Fold: true})
	if err := errors.Join(d.MkdirAll("C:/ProgramData/Rocec", 0o755), d.WriteFile("c:/programdata/ROCEC/a.txt", []byte("x"), 0o644)); err != nil {
		t.Fatal(err)
	}
	list, err := d.ReadDir("/C:/PROGRAMDATA/rocec")
	if err != nil || len(list) != 1 || list[0].Name() != "a.txt" {
		t.Errorf("%v %v", list, err)
	}
	if b, err := d.ReadFile("/C:/ProgramData/Rocec/A.TXT"); err != nil || string(b) != "x" {
		t.Errorf("%q %v", b, err)
	}
}

// TestDiskAtOnce is for the race detector.
func TestDiskAtOnce(t *testing.T) {
	d := lab.NewDisk(lab.DiskOptions{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				p := fmt.Sprintf("/d%d/f%d", j%3, i)
				_ = d.MkdirAll(fmt.Sprintf("/d%d", j%3), 0o755)
				_ = d.WriteFile(p, []byte("x"), 0o644)
				_ = grow(d, p)
				_, _ = d.ReadFile(p)
				_, _ = d.ReadDir("/d0")
				if j%10 == 0 {
					d.PowerCut()
				}
				_ = d.Rename(p, p+"x")
				_ = d.RemoveAll("/d1")
			}
		})
	}
	wg.Wait()
}

// TestPlaces: places of a file that no file has are refused, and what a special
// file replaces takes no room any more.
func TestPlaces(t *testing.T) {
	d := lab.NewDisk(lab.DiskOptions{})
	f, err := d.OpenFile("/f", lab.OpenRead|lab.OpenWrite|lab.OpenCreate, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("text")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadAt(make([]byte, 1), -1); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("read before the start: %v", err)
	}
	for _, at := range []int64{1 << 40, 1<<63 - 1} {
		if _, err := f.WriteAt([]byte("x"), at); !errors.Is(err, syscall.EFBIG) {
			t.Errorf("write at %d: %v", at, err)
		}
	}
	if err := d.Special("/f", 0o444, lab.Special{}); err != nil {
		t.Fatal(err)
	}
	if used, _ := d.Used(); used != 0 {
		t.Errorf("%d bytes are used", used)
	}
}
