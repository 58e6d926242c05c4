//go:build !windows

package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// replace keeps the pending file in the folder of its place: a folder for
// temporary files elsewhere may be another file system.
func replace(path string, data []byte, perm fs.FileMode) error {
	return renameio.WriteFile(path, data, perm, renameio.WithTempDir(filepath.Dir(path)))
}

// replaceAll writes all pending files before the first is flushed: the system
// then writes them out together, and finds little left to do for each.
func replaceAll(dir string, files []Content, perm fs.FileMode) (err error) {
	pending := make([]*renameio.PendingFile, 0, len(files))
	defer func() {
		for _, p := range pending {
			err = errors.Join(err, p.Cleanup())
		}
	}()
	for _, f := range files {
		p, err := renameio.NewPendingFile(filepath.Join(dir, f.Name), renameio.WithTempDir(dir), renameio.WithPermissions(perm), renameio.WithExistingPermissions())
		if err != nil {
			return err
		}
		pending = append(pending, p)
		if _, err := p.Write(f.Bytes); err != nil {
			return err
		}
	}
	const few = 16 // below, flushing one by one is cheaper than the whole file system
	if len(files) > few {
		if err := syncAll(dir); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	for _, p := range pending {
		if err := p.CloseAtomicallyReplace(); err != nil {
			return err
		}
	}
	return nil
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		if os.IsPermission(err) {
			return nil // an artifact that its owner may not read: the folder's own flush has to do
		}
		return err
	}
	defer f.Close()
	return f.Sync()
}
