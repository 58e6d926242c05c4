// Package disk writes and reads files of deliveries and of the record so that
// nobody ever sees half of one: a file is written whole beside its place,
// flushed, and renamed into it; a folder is built whole and exchanged. It takes
// paths and bytes and returns wrapped errors of the operating system. It also
// says which names are safe on every system that a repository may be checked
// out on. It leaves out what the files mean.
package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/rocec/rocec/lang/filename"
)

// MaxName is the length in bytes of the longest name of a device, as the language has it.
const MaxName = 63

// CheckName refuses what must not become the name of a file on any system:
// anything but [A-Za-z0-9][A-Za-z0-9._-]*, more than MaxName bytes, a dot at
// the end, which Windows drops, and the names of devices that Windows
// reserves, with any extension.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case len(name) > MaxName:
		return fmt.Errorf("name %q is %d bytes long, at most %d are allowed", name[:MaxName], len(name), MaxName)
	case strings.HasSuffix(name, "."):
		return fmt.Errorf("name %q ends in a dot, which some systems drop from file names", name)
	case filename.Reserved(name):
		return fmt.Errorf("name %q is reserved on Windows and cannot be a file there", name)
	}
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._-", rune(c))) {
			return fmt.Errorf("name %q has %q at byte %d; names are [A-Za-z0-9][A-Za-z0-9._-]*", name, c, i)
		}
	}
	return nil
}

// CheckPath refuses what must not become the path of a file inside a folder.
func CheckPath(path string) error { return filename.CheckPath(path) }

// ErrTooLarge says that a file is larger than whoever reads it allows.
var ErrTooLarge = errors.New("the file is too large")

// ReadFile reads a regular file of at most limit bytes. A link, a folder and a
// pipe are errors: what is read may come from a stranger's repository.
func ReadFile(path string, limit int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	return read(path, info, limit)
}

// ReadLinked is ReadFile for what may be a link to a regular file, as files of the
// user often are.
func ReadLinked(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return read(path, info, limit)
}

// maxKeyBytes bounds a private key and what stands beside it.
const maxKeyBytes = 1 << 20

// ErrOpenKey says that others than its owner may read a private key.
var ErrOpenKey = errors.New("others than its owner may read it")

// ReadKey is ReadLinked for a private key. As with ssh, one that belongs to the
// user who runs the program and that others may read is an ErrOpenKey.
func ReadKey(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 && mine(info) {
		return nil, fmt.Errorf("read %s: %w: its mode is %04o", path, ErrOpenKey, info.Mode().Perm())
	}
	return read(path, info, maxKeyBytes)
}

// read reads a file whose information was asked for.
func read(path string, info fs.FileInfo, limit int64) ([]byte, error) {
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("read %s: %w: %d bytes, at most %d are read", path, ErrTooLarge, info.Size(), limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead)) // room to see the end
	n, err := b.ReadFrom(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	case n > limit:
		return nil, fmt.Errorf("read %s: %w: more than %d bytes", path, ErrTooLarge, limit)
	}
	return b.Bytes(), nil
}

// Holds reports whether a regular file holds just these bytes. It reads no
// further than they are the same, and keeps nothing of it.
func Holds(path string, data []byte) (bool, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, fmt.Errorf("%s is not a regular file", path)
	}
	if info.Size() != int64(len(data)) {
		return false, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	room := chunks.Get().(*[chunkBytes]byte)
	defer chunks.Put(room)
	for {
		n, err := f.Read(room[:])
		if n > len(data) || !bytes.Equal(room[:n], data[:n]) {
			return false, nil
		}
		data = data[n:]
		switch {
		case errors.Is(err, io.EOF):
			return len(data) == 0, nil
		case err != nil:
			return false, fmt.Errorf("read %s: %w", path, err)
		}
	}
}

const chunkBytes = 32 << 10

var chunks = sync.Pool{New: func() any { return new([chunkBytes]byte) }}

// ReadAll reads at most limit bytes; more are ErrTooLarge.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	return b, nil
}

// WriteFile replaces a file or makes it, whole or not at all, and returns when
// it is on the disk. An existing file keeps its permissions; a new one gets
// perm less the umask.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	if err := replace(path, data, perm); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return SyncDir(filepath.Dir(path))
}

// Content is what a file of a folder shall hold.
type Content struct {
	Name  string // no path
	Bytes []byte
}

// WriteFiles is WriteFile for several files of a folder: each is whole or as it
// was, all are on the disk when it returns, and they are flushed together. If one
// fails, some of the others may have been written.
func WriteFiles(dir string, files []Content, perm fs.FileMode) error {
	if err := replaceAll(dir, files, perm); err != nil {
		return fmt.Errorf("write in %s: %w", dir, err)
	}
	return SyncDir(dir)
}

// Create writes a new file with exactly these permissions, for folders that
// nobody sees yet. It does not flush: see SyncTree.
func Create(path string, data []byte, perm fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(perm.Perm()) // after the write, and past the umask
	}
	return errors.Join(err, f.Close())
}

// SyncTree flushes every file and folder below root to the disk.
func SyncTree(root string) error {
	const few = 256 // above, one call for the whole file system is cheaper
	list := func(most int) (paths []string, err error) {
		err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err == nil && (e.IsDir() || e.Type().IsRegular()) {
				paths = append(paths, path)
			}
			if err == nil && len(paths) > most {
				return fs.SkipAll
			}
			return err
		})
		return paths, err
	}
	paths, err := list(few)
	if err != nil {
		return err
	}
	if len(paths) > few {
		if err := syncAll(root); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
		if paths, err = list(math.MaxInt); err != nil {
			return err
		}
	}
	for _, path := range paths {
		if err := syncPath(path); err != nil {
			return err
		}
	}
	return nil
}

// MkdirAll makes a folder and those above it, and returns when they are on the disk: a
// file that is flushed is lost all the same when the folder that it is in was not.
func MkdirAll(dir string, perm fs.FileMode) error { return mkdirAll(dir, perm, SyncDir) }

func mkdirAll(dir string, perm fs.FileMode, sync func(dir string) error) error {
	dir = filepath.Clean(dir)
	var made []string // the innermost first
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		made = append(made, at)
	}
	if err := os.MkdirAll(dir, perm); err != nil {
		return err
	}
	for _, m := range slices.Backward(made) {
		if err := sync(filepath.Dir(m)); err != nil {
			return err
		}
	}
	return nil
}

// SyncDir flushes the names in a folder to the disk, where the system can.
func SyncDir(dir string) error {
	if err := syncPath(dir); err != nil {
		return fmt.Errorf("flush folder %s: %w", dir, err)
	}
	return nil
}

// Exchange swaps two names of one file system in one step. It is
// errors.ErrUnsupported where the system or the file system cannot do that.
func Exchange(a, b string) error { return exchange(a, b) }
