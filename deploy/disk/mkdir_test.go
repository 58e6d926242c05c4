package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMkdirAll: each folder that is made is flushed with the one above it, the outermost
// first, and no other is.
func TestMkdirAll(t *testing.T) {
	root := t.TempDir()
	var flushed []string
	note := func(dir string) error {
		flushed = append(flushed, strings.TrimPrefix(dir, root))
		return nil
	}
	for _, c := range []struct {
		dir     string
		flushed []string
	}{
		{"/a", []string{""}},
		{"/a/b/c/", []string{"/a", "/a/b"}},
		{"/a/b/c", nil},
	} {
		flushed = nil
		if err := mkdirAll(root+c.dir, 0o755, note); err != nil || !slices.Equal(flushed, c.flushed) {
			t.Errorf("%s: %q, %v", c.dir, flushed, err)
		}
	}
	if err := MkdirAll(filepath.Join(root, "x", "y"), 0o755); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := MkdirAll(filepath.Join(root, "file", "y"), 0o755); err == nil {
		t.Error("a folder below a file is made")
	}
}

// TestFoldersFlushed: what has to outlast a loss of power lies in folders that do.
func TestFoldersFlushed(t *testing.T) {
	for _, dir := range []string{"../rollout", "../record"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if strings.Contains(string(text), "os.MkdirAll(") || strings.Contains(string(text), "os.Mkdir(") {
				t.Errorf("%s makes folders that are not flushed: disk.MkdirAll flushes them", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
