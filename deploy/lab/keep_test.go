package lab

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
)

// box is a machine that does nothing, with a disk and a word that it keeps.
type box struct {
	disk  *Disk
	word  string
	boots int
}

func (b *box) Exec(context.Context, string, io.Reader, io.Writer, io.Writer) int { return 0 }
func (b *box) Disk() *Disk                                                       { return b.disk }
func (b *box) Reboot()                                                           { b.disk.PowerCut(); b.boots++ }
func (b *box) Close() error                                                      { return nil }
func (b *box) Keep() ([]byte, error)                                             { return []byte(b.word), nil }

func (b *box) Restore(state []byte) error { b.word = string(state); return nil }

func newBox() *box {
	return &box{disk: NewDisk(DiskOptions{Volatile: []string{"/run", "/var/run"}})}
}

// tree is all there is on a disk.
func tree(t testing.TB, d *Disk) map[string]string {
	t.Helper()
	all := map[string]string{}
	var walk func(p string)
	walk = func(p string) {
		i, err := d.Lstat(p)
		if err != nil {
			t.Fatal(err)
		}
		text := i.Mode().String() + " " + i.ModTime().UTC().Format(time.RFC3339Nano) + " "
		switch {
		case i.IsDir():
			list, err := d.ReadDir(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				walk(strings.TrimSuffix(p, "/") + "/" + e.Name())
			}
		case i.Mode()&fs.ModeSymlink != 0:
			target, _ := d.Readlink(p)
			text = i.Mode().String() + " " + target // its time nobody sees
		default:
			b, err := d.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			text += string(b)
		}
		all[p] = text
	}
	walk("/")
	return all
}

// TestKeep: what a machine had stored when a lab stopped is there in the next.
func TestKeep(t *testing.T) {
	dir := t.TempDir()
	up := func(keep bool, m Machine, target string) (*Lab, Machine, error) {
		t.Helper()
		l, err := Up(t.Context(), []Device{{
			Name: "d0", Target: target, User: "root", Intent: func() *intent.Device { return &intent.Device{} },
			Make: func(*intent.Device, Environment) (Machine, error) { return m, nil },
		}}, dir, Options{Keep: keep})
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.Machine("d0")
		return l, got, err
	}
	first := newBox()
	first.word = "kept"
	l, _, err := up(true, first, "linux")
	if err != nil || first.boots != 0 {
		t.Fatalf("%v, %d boots", err, first.boots)
	}
	d := first.disk
	for _, err := range []error{
		d.MkdirAll("/etc/a b/deep", 0o700), d.WriteFile("/etc/a b/f", []byte("text"), 0o640), d.WriteFile("/empty", nil, 0o755), d.Symlink("../nowhere", "/etc/link"),
		d.WriteFile("/run/gone", []byte("x"), 0o644), d.MkdirAll("/var/run/x", 0o755), d.Chtimes("/empty", time.Unix(12, 345)),
		d.Special("/special", 0o644, Special{}), d.Chtimes("/", time.Unix(3, 0)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
	<-l.Done()
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	d.PowerCut()
	if err := errors.Join(d.Remove("/special"), d.Chtimes("/", time.Unix(3, 0))); err != nil {
		t.Fatal(err)
	}
	want := tree(t, d)

	second := newBox()
	if l, _, err = up(true, second, "linux"); err != nil || second.word != "kept" || second.boots != 1 {
		t.Errorf("%v, %q, %d boots", err, second.word, second.boots)
	}
	if diff := cmp.Diff(want, tree(t, second.disk)); diff != "" {
		t.Errorf("(-kept +there):\n%s", diff)
	}
	l.Close()
	for _, other := range []struct {
		keep   bool
		target string
	}{{false, "linux"}, {true, "sonic"}} {
		fresh := newBox()
		if l, _, err = up(other.keep, fresh, other.target); err != nil || fresh.boots != 0 || fresh.word != "" {
			t.Errorf("%+v: %v, %q", other, err, fresh.word)
		}
		l.Close()
	}

	// What cannot be read is told, and left as it is.
	name := filepath.Join(l.Dir, keptFolder, "d0.linux.tar.gz")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b[:len(b)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if l, _, err = up(true, newBox(), "linux"); err == nil || !strings.Contains(err.Error(), "start d0 as it was kept in "+name) {
		t.Errorf("%v", err)
	}
	l.Close()
	if after, err := os.ReadFile(name); err != nil || !bytes.Equal(after, b[:len(b)/2]) {
		t.Errorf("it was overwritten: %v", err)
	}

	// A machine that keeps nothing is no reason to say that it does.
	if l, _, err = up(true, struct{ Machine }{newBox()}, "windows"); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := l.Err(); err == nil || err.Error() != "keep d0: the state of this system cannot be kept" {
		t.Errorf("%v", err)
	}
}

// TestHoles: a file with holes takes a header, and claims what no memory holds.
func TestHoles(t *testing.T) {
	for entry, want := range map[string]string{stateEntry: "state is a file with holes", diskEntry + "/a": "/a is neither a file nor a folder nor a link"} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		if entry != stateEntry {
			_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: stateEntry})
		}
		_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: entry, Format: tar.FormatGNU})
		_ = w.Close()
		// As GNU tar writes it: no byte is there, and 8 GiB of nothing are claimed.
		h := b.Bytes()[b.Len()-3*512:][:512]
		h[156] = tar.TypeGNUSparse
		copy(h[386:], "100000000000"+"00000000000\x00")
		copy(h[483:], "100000000000")
		copy(h[148:], "        ")
		sum := 0
		for _, c := range h {
			sum += int(c)
		}
		copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
		var z bytes.Buffer
		g := gzip.NewWriter(&z)
		_, _ = g.Write(b.Bytes())
		_ = g.Close()
		if err := restored(newBox(), z.Bytes()); err == nil || err.Error() != want {
			t.Errorf("%s: %v", entry, err)
		}
	}
}

func FuzzRestored(f *testing.F) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	d := NewDisk(DiskOptions{})
	_ = d.MkdirAll("/a/b", 0o755)
	_ = d.WriteFile("/a/f", []byte("x"), 0o644)
	_ = d.Symlink("a", "/l")
	_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: stateEntry, Size: 1})
	_, _ = w.Write([]byte("s"))
	if err := d.pack(w); err != nil {
		f.Fatal(err)
	}
	_ = w.Close()
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, plain []byte) {
		var z bytes.Buffer
		g := gzip.NewWriter(&z)
		_, _ = g.Write(plain)
		_ = g.Close()
		m := newBox()
		before := tree(t, m.disk)
		if err := restored(m, z.Bytes()); err != nil {
			if diff := cmp.Diff(before, tree(t, m.disk)); diff != "" {
				t.Errorf("%v, and the disk is another: %s", err, diff)
			}
			return
		}
		tree(t, m.disk)
	})
}
