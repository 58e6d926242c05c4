package disk_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rocec/rocec/deploy/disk"
)

func TestCheckName(t *testing.T) {
	for _, s := range []string{"tor", "leaf-01.pod_2", "A", "9", "console", "com10", "nulls", strings.Repeat("a", disk.MaxName)} {
		if err := disk.CheckName(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []string{"", ".", "..", ".x", "-x", "_x", "a/b", `a\b`, "a b", "a\x00", "é", "x.", "nul", "NUL.json", "Com1", "lpt9.txt", strings.Repeat("a", disk.MaxName+1)} {
		if err := disk.CheckName(s); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
}

// Whatever CheckPath takes stays inside the folder it is joined to.
func FuzzCheckPath(f *testing.F) {
	for _, s := range []string{"a/b.sh", "../x", "/x", "a//b", "a/./b", "c:", "nul", "a\nb", "a/b/", ".rocec"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if disk.CheckPath(s) != nil {
			return
		}
		if !filepath.IsLocal(filepath.FromSlash(s)) || strings.ContainsAny(s, "\\:\n\x00") || strings.HasSuffix(s, "/") || s == "." {
			t.Fatalf("%q is taken", s)
		}
	})
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	for _, text := range []string{"first", "the second, which is longer", "3"} {
		if err := disk.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if b, err := disk.ReadFile(path, 100); err != nil || string(b) != text {
			t.Errorf("%q, %v", b, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	if _, err := disk.ReadFile(path, 0); !errors.Is(err, disk.ErrTooLarge) {
		t.Errorf("one byte above the limit: %v", err)
	}
	if _, err := disk.ReadFile(dir, 100); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("a folder: %v", err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.ReadFile(link, 100); err == nil {
		t.Error("a link is read")
	}
	if err := disk.WriteFile(filepath.Join(dir, "none", "x"), nil, 0o644); err == nil || !strings.Contains(err.Error(), "write ") {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestSyncTree(t *testing.T) {
	dir := t.TempDir()
	for i := range 300 { // enough for the one call that flushes all
		if err := disk.Create(filepath.Join(dir, strings.Repeat("x", i%50+1)+string(rune('a'+i/50))), []byte("x"), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := disk.SyncTree(dir); err != nil {
		t.Error(err)
	}
	if err := disk.SyncTree(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there is flushed")
	}
}

// TestHolds: the same bytes and no others, in files of every length around a chunk.
func TestHolds(t *testing.T) {
	dir := t.TempDir()
	place := filepath.Join(dir, "f")
	for _, n := range []int{0, 1, 5, 32<<10 - 1, 32 << 10, 32<<10 + 1, 70000} {
		data := bytes.Repeat([]byte("abc\n"), n/4+1)[:n]
		if err := os.WriteFile(place, data, 0o644); err != nil {
			t.Fatal(err)
		}
		tests := map[string][]byte{"longer": append(bytes.Clone(data), 'x')}
		if n > 0 {
			last := bytes.Clone(data)
			last[n-1] ^= 1
			tests["last"], tests["shorter"] = last, data[:n-1]
		}
		if same, err := disk.Holds(place, data); !same || err != nil {
			t.Errorf("%d bytes: %v, %v", n, same, err)
		}
		for what, other := range tests {
			if same, err := disk.Holds(place, other); same || err != nil {
				t.Errorf("%d bytes, %s: %v, %v", n, what, same, err)
			}
		}
	}
	if _, err := disk.Holds(dir, nil); err == nil {
		t.Error("a folder holds nothing")
	}
	if _, err := disk.Holds(filepath.Join(dir, "none"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := os.Symlink("f", filepath.Join(dir, "link")); err == nil {
		if _, err := disk.Holds(filepath.Join(dir, "link"), nil); err == nil {
			t.Error("a link is followed")
		}
	}
}

// TestWriteFiles: what is there keeps its permissions, what is new gets those asked for.
func TestWriteFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old"), []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := []disk.Content{{"old", []byte("after")}}
	for i := range 40 { // more than are flushed one by one
		files = append(files, disk.Content{fmt.Sprintf("new%02d", i), fmt.Appendf(nil, "%d", i)})
	}
	if err := disk.WriteFiles(dir, files, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if same, err := disk.Holds(filepath.Join(dir, f.Name), f.Bytes); !same || err != nil {
			t.Errorf("%s: %v, %v", f.Name, same, err)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "old")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("old: %v, %v", info, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(files) {
		t.Errorf("%d files are there, not %d: %v", len(entries), len(files), err)
	}
	if err := disk.WriteFiles(filepath.Join(dir, "none"), files, 0o644); err == nil {
		t.Error("no folder, and no error")
	}
}
