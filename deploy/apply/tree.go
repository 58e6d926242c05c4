package apply

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/rocec/rocec/deploy/disk"
)

// Tree is a folder of artifacts: <output>/<device>/<path>, and a manifest.
type Tree struct {
	Manifest *Manifest
	Files    []File // sorted by path, the manifest not among them
}

// NewTree is the tree of devices. Names and paths that a file system could not
// hold, or that meet, are errors.
func NewTree(src Source, devices []Device) (*Tree, error) {
	list, err := files(devices)
	if err != nil {
		return nil, err
	}
	return &Tree{NewManifest(src, devices), list}, nil
}

// all are the files of the tree with its manifest.
func (t *Tree) all() ([]File, error) {
	b, err := t.Manifest.Encode()
	if err != nil {
		return nil, err
	}
	return append(slices.Clone(t.Files), File{manifestPath, 0o644, b}), nil
}

// ForeignError says that a folder holds files and no manifest of rocec.
type ForeignError struct{ Dir string }

// Error names the folder.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s is not empty and has no %s of rocec: it is not replaced", e.Dir, manifestPath)
}

// WriteTree makes dir hold the tree, in one step: the old one or the new one is
// there, whatever happens. A folder that is not empty and has no manifest is a
// *ForeignError. Files that the old manifest does not list are kept; one that
// is in the way of a new file is an error. A tree that is there already is left
// alone, with its times; changed says whether it was written.
func WriteTree(dir string, t *Tree) (changed bool, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", dir, err)
		}
	}()
	list, err := t.all()
	if err != nil {
		return false, err
	}
	place, err := resolve(dir)
	if err != nil {
		return false, err
	}
	prefix := "." + filepath.Base(place) + ".rocec-"
	if err := sweep(filepath.Dir(place), prefix); err != nil {
		return false, err
	}
	old, err := owner(place)
	if err != nil {
		return false, err
	}
	if old != nil && unchanged(place, list, old.paths("")) {
		return false, nil
	}
	s, err := newStage(filepath.Dir(place), prefix)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	owned := old.paths("")
	owned[manifestPath] = true
	if err := s.fill(list, place, owned); err != nil {
		return false, err
	}
	return true, s.swap(filepath.Base(place))
}

// resolve is the folder behind a path, which may be a link; its parent is made.
func resolve(dir string) (string, error) {
	place, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(place); err == nil {
		return real, nil
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return "", err
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(place))
	if err != nil {
		return "", err
	}
	return filepath.Join(parent, filepath.Base(place)), nil
}

// owner is the manifest of a folder, nil if the folder is empty or not there.
func owner(dir string) (*Manifest, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := ReadManifest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &ForeignError{dir}
	}
	return m, err
}

// unchanged reports whether a folder holds exactly these files, and of those
// that rocec wrote before no other.
func unchanged(dir string, list []File, before map[string]bool) bool {
	for _, f := range list {
		if difference(dir, f) != "" {
			return false
		}
		delete(before, f.Path)
	}
	for p := range before {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(p))); err == nil {
			return false
		}
	}
	return true
}

// Kinds of differences of a tree.
const (
	Missing     = "missing"
	Changed     = "changed"
	ChangedMode = "mode"
	Extra       = "extra"
)

// Difference is one file that is not as it would be written.
type Difference struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
}

// CheckTree compares a folder with the tree that would be written into it,
// without writing. Files that rocec did not write are passed over; a manifest
// that differs in the version of rocec alone is not a difference.
func CheckTree(dir string, t *Tree) ([]Difference, error) {
	var out []Difference
	for _, f := range t.Files {
		if kind := difference(dir, f); kind != "" {
			out = append(out, Difference{f.Path, kind})
		}
	}
	old, err := ReadManifest(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		out = append(out, Difference{manifestPath, Missing})
	case err != nil:
		out = append(out, Difference{manifestPath, Changed})
	default:
		same := *old
		same.RocecVersion, same.FormatVersion = t.Manifest.RocecVersion, t.Manifest.FormatVersion
		if !reflect.DeepEqual(&same, t.Manifest) {
			out = append(out, Difference{manifestPath, Changed})
		}
	}
	extra := old.paths("")
	for _, f := range t.Files {
		delete(extra, f.Path)
	}
	for _, p := range slices.Sorted(maps.Keys(extra)) {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(p))); err == nil {
			out = append(out, Difference{p, Extra})
		}
	}
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() && info.Mode()&fs.ModeSymlink == 0 {
		return nil, fmt.Errorf("check %s: it is not a folder", dir)
	}
	slices.SortFunc(out, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// difference compares one file with the disk, "" if it is as it should be.
func difference(dir string, f File) string {
	place := filepath.Join(dir, filepath.FromSlash(f.Path))
	info, err := os.Lstat(place)
	if err != nil {
		return Missing
	}
	b, err := disk.ReadFile(place, int64(len(f.Bytes)))
	if err != nil || !bytes.Equal(b, f.Bytes) {
		return Changed
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != f.Mode {
		return ChangedMode
	}
	return ""
}

// WriteTar writes the tree as a tar archive whose bytes depend on nothing but
// its files: sorted, of time 0, owned by root.
func WriteTar(w io.Writer, t *Tree) error {
	list, err := t.all()
	if err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	slices.SortFunc(list, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	archive := tar.NewWriter(w)
	for _, f := range list {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.Path, Mode: int64(f.Mode), Size: int64(len(f.Bytes)), ModTime: time.Unix(0, 0)}
		if err := archive.WriteHeader(h); err != nil {
			return fmt.Errorf("write archive: %s: %w", f.Path, err)
		}
		if _, err := archive.Write(f.Bytes); err != nil {
			return fmt.Errorf("write archive: %s: %w", f.Path, err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	return nil
}
