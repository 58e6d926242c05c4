package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// replace does what renameio does elsewhere, which has no Windows part: the
// rename of package os is MoveFileEx with MOVEFILE_REPLACE_EXISTING.
func replace(path string, data []byte, perm fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Chmod(f.Name(), perm)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// syncPath flushes files; a folder has no handle that could be flushed, and a
// file needs one that may write.
func syncPath(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.IsDir() || info.Mode().Perm()&0o200 == 0 {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// replaceAll has no flush that is shared here.
func replaceAll(dir string, files []Content, perm fs.FileMode) error {
	for _, f := range files {
		if err := replace(filepath.Join(dir, f.Name), f.Bytes, perm); err != nil {
			return err
		}
	}
	return nil
}
