package disk

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// exchange is renameat2(2) with RENAME_EXCHANGE, Linux 3.15. A file system
// that lacks it says EINVAL.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL):
		return errors.ErrUnsupported
	}
	return fmt.Errorf("exchange %s and %s: %w", a, b, err)
}

// syncAll flushes the whole file system: syncfs(2), which reports lost writes
// since Linux 5.8.
func syncAll(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Syncfs(int(f.Fd())); err != nil {
		return fmt.Errorf("flush the file system of %s: %w", dir, err)
	}
	return nil
}
