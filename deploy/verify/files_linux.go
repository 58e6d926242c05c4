package verify

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/rocec/rocec/deploy/disk"
)

// folderOf is an open folder and what was in it. os.Root asks the kernel for the
// state of every name that it lists, and whether every file can be waited for: that
// is half of the calls that a host takes. What is plain, a folder without a link on
// the way to it and a file that the listing calls regular, is opened here by itself,
// below the open folder and without following links; all else by os.Root.
type folderOf struct {
	dir   *os.File // nil: there is none, or it is sub
	fd    int      // of dir
	sub   *os.Root // nil: none
	names map[string]fs.FileMode
}

func (x *folderOf) close(f *folders) {
	if x.dir != nil {
		_ = x.dir.Close() // it was read only
	}
	if x.sub != nil && x.sub != f.root {
		_ = x.sub.Close()
	}
}

func (x *folderOf) list(f *folders, dir string) ([]fs.DirEntry, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC
	var fd int
	var err error
	name := strings.TrimSuffix(dir, "/")
	switch {
	case dir == "": // os.Root follows links to it as well
		fd, err = openAt(unix.AT_FDCWD, f.path, flags)
	case f.open[""] != nil && f.open[""].dir != nil && name != ".." && !strings.Contains(name, "/"):
		fd, err = openAt(f.open[""].fd, name, flags|unix.O_NOFOLLOW)
	default:
		err = unix.ELOOP
	}
	if err == nil {
		x.dir, x.fd = os.NewFile(uintptr(fd), filepath.Join(f.path, name)), fd
		return x.dir.ReadDir(-1)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	x.sub = f.root
	if dir != "" {
		sub, err := f.root.OpenRoot(filepath.FromSlash(name))
		if x.sub = sub; err != nil {
			x.sub = nil
			return nil, err
		}
	}
	return fs.ReadDir(x.sub.FS(), ".")
}

func (x *folderOf) read(f *folders, dir, base string) ([]byte, error) {
	if x.dir == nil {
		return readFile(x.sub, base)
	}
	// What has become a pipe since it was listed is not waited for.
	fd, err := openAt(x.fd, base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC)
	if errors.Is(err, unix.ELOOP) {
		return readIn(f.root, dir+base)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "openat", Path: base, Err: err}
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := retry(func() error { return unix.Fstat(fd, &stat) }); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: base, Err: err}
	}
	switch {
	case stat.Mode&unix.S_IFMT != unix.S_IFREG:
		return readIn(f.root, dir+base)
	case stat.Size > MaxCaptureBytes:
		return nil, fmt.Errorf("%w: %d bytes, at most %d are read", disk.ErrTooLarge, stat.Size, MaxCaptureBytes)
	}
	b := make([]byte, stat.Size+1)
	var n int
	err = retry(func() (err error) { n, err = unix.Read(fd, b); return err })
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: base, Err: err}
	}
	if n == int(stat.Size) {
		return b[:n], nil
	}
	return readIn(f.root, dir+base) // it has grown or shrunk since, or comes in parts
}

func openAt(dir int, name string, flags int) (fd int, err error) {
	err = retry(func() (err error) { fd, err = unix.Openat(dir, name, flags, 0); return err })
	return fd, err
}

// retry repeats a call that a signal has interrupted.
func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
