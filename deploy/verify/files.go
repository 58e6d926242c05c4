package verify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/rocec/rocec/deploy/disk"
)

// folders are those of one device, each opened and listed once: a host has a
// hundred files, and looking for each of them alone takes longer than reading it.
type folders struct {
	root *os.Root
	path string // of root
	open map[string]*folderOf
}

func (f *folders) close() {
	for _, x := range f.open {
		x.close(f)
	}
}

// in is the folder of a name, "" for the device's own.
func (f *folders) in(dir string) (*folderOf, error) {
	if x, ok := f.open[dir]; ok {
		return x, nil
	}
	x := &folderOf{names: map[string]fs.FileMode{}}
	f.open[dir] = x
	list, err := x.list(f, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return x, nil
	}
	for _, e := range list {
		x.names[e.Name()] = e.Type()
	}
	return x, err
}

func (f *folders) read(name string) ([]byte, error) {
	dir, base := path.Split(name)
	x, err := f.in(dir)
	if err != nil {
		return nil, err
	}
	kind, there := x.names[base]
	switch {
	case !there:
		return nil, fs.ErrNotExist
	case kind.IsRegular():
		return x.read(f, dir, base)
	}
	return readIn(f.root, name) // what is not known before it is opened, as a link
}

func readIn(root *os.Root, name string) ([]byte, error) {
	name = filepath.FromSlash(name)
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a pipe may never end, even when it is opened
		return nil, errors.New("it is not a regular file")
	}
	return readFile(root, name)
}

func readFile(root *os.Root, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.Size() > MaxCaptureBytes:
		return nil, fmt.Errorf("%w: %d bytes, at most %d are read", disk.ErrTooLarge, info.Size(), MaxCaptureBytes)
	}
	b := make([]byte, info.Size()+1)
	switch n, err := io.ReadFull(f, b); {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return b[:n], nil
	case err != nil:
		return nil, err
	}
	return disk.ReadAll(io.MultiReader(bytes.NewReader(b), f), MaxCaptureBytes) // it has grown since
}
