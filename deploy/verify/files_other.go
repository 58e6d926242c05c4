//go:build !linux

package verify

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// folderOf is an open folder and what was in it.
type folderOf struct {
	root  *os.Root // nil: there is none
	names map[string]fs.FileMode
}

func (x *folderOf) close(f *folders) {
	if x.root != nil && x.root != f.root {
		_ = x.root.Close() // it was read only
	}
}

func (x *folderOf) list(f *folders, dir string) ([]fs.DirEntry, error) {
	root := f.root
	if dir != "" {
		sub, err := f.root.OpenRoot(filepath.FromSlash(strings.TrimSuffix(dir, "/")))
		if err != nil {
			return nil, err
		}
		root = sub
	}
	x.root = root
	return fs.ReadDir(root.FS(), ".")
}

func (x *folderOf) read(_ *folders, _, base string) ([]byte, error) { return readFile(x.root, base) }
