//go:build !windows

package disk

import (
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
