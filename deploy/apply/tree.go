package apply

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rocec/rocec/deploy/disk"
	"github.com/rocec/rocec/targets/emit"
)

// Tree is a folder of artifacts: <output>/<device>/<path>, kits that devices
// share in <output>/common/<kit>/<path>, and a manifest. It is made while it is
// written or compared, and nothing holds the whole of it.
type Tree struct {
	Source  Source
	Devices Devices
	// Keep names devices that are not among these and stay in a folder as they
	// lie there. Nil: none does.
	Keep func(device string) bool
}

// NewTree is the tree of devices. Names and folders that a file system could not
// hold, or that meet, are errors; of paths in them, whoever writes it says so.
func NewTree(src Source, devices Devices) (*Tree, error) {
	if err := devices.check(); err != nil {
		return nil, err
	}
	return &Tree{Source: src, Devices: devices.sorted()}, nil
}

// gathering is what a tree turns out to hold while its devices come by. It is
// safe for several goroutines.
type gathering struct {
	mu       sync.Mutex
	manifest *Manifest
	kits     map[string]*emit.Kit // by folder
	reserved map[string]string    // lower case folder of a device -> its name
	count    int                  // of files
}

func gather(src Source, devices Devices) *gathering {
	g := &gathering{manifest: newManifest(src), kits: map[string]*emit.Kit{}, reserved: map[string]string{}}
	for _, p := range devices.Places {
		g.reserved[strings.ToLower(p.Folder())] = p.Name
	}
	return g
}

// add enters a device and returns its files.
func (g *gathering) add(d *Device) ([]File, error) {
	list, err := d.files()
	if err != nil {
		return nil, err
	}
	entry := manifestDevice(d)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.manifest.Devices[d.Name] = entry
	g.count += len(list)
	for i, k := range d.Kits {
		if _, ok := g.kits[entry.Common[i]]; ok {
			continue
		}
		if err := g.addKit(entry.Common[i], k); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (g *gathering) addKit(folder string, k *emit.Kit) error {
	for dir := strings.ToLower(folder); dir != "."; dir = path.Dir(dir) {
		if name, ok := g.reserved[dir]; ok {
			return fmt.Errorf("the folder of device %s is that of files which devices share: %s", name, folder)
		}
	}
	if err := disk.CheckPath(folder); err != nil {
		return err
	}
	for _, a := range k.Artifacts {
		if err := disk.CheckPath(a.Path); err != nil {
			return fmt.Errorf("artifact of %s: %w", k.Name, err)
		}
	}
	if err := meet(kitFiles(folder, k)); err != nil {
		return err
	}
	g.kits[folder] = k
	g.manifest.enterKit(folder, manifestKit(folder, k))
	g.count += len(k.Artifacts)
	return nil
}

// common are the files of all kits, by path.
func (g *gathering) common() []File {
	var list []File
	for _, folder := range slices.Sorted(maps.Keys(g.kits)) {
		list = append(list, kitFiles(folder, g.kits[folder])...)
	}
	return list
}

func kitFiles(folder string, k *emit.Kit) []File {
	var list []File
	for _, a := range k.Artifacts {
		list = append(list, File{path.Join(folder, a.Path), fs.FileMode(a.Mode) & fs.ModePerm, a.Bytes})
	}
	slices.SortFunc(list, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// manifestFile is the manifest as a file of the tree.
func (g *gathering) manifestFile() (File, error) {
	b, err := g.manifest.Encode()
	return File{manifestPath, 0o644, b}, err
}

// Written says what a tree holds and whether writing it changed anything.
type Written struct {
	Manifest *Manifest
	Files    int // without the manifest
	Changed  bool
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
// is in the way of a new file is an error. Files whose bytes are there already
// stay the files they are, with their times; a tree that is there as a whole is
// left alone.
func WriteTree(dir string, t *Tree) (_ *Written, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", dir, err)
		}
	}()
	place, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	w := &treeWriter{place: place, prefix: "." + filepath.Base(place) + ".rocec-", same: make([][]string, len(t.Devices.Places))}
	if err := sweep(filepath.Dir(place), w.prefix); err != nil {
		return nil, err
	}
	if w.old, err = owner(place); err != nil {
		return nil, err
	}
	defer func() {
		if w.stage != nil {
			err = errors.Join(err, w.stage.close())
		}
	}()
	g := gather(t.Source, t.Devices)
	err = t.Devices.each(func(i int, d *Device) error {
		list, err := g.add(d)
		if err == nil {
			w.same[i], err = w.put(list)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	same, err := w.put(g.common())
	if err != nil {
		return nil, err
	}
	w.same = append(w.same, same)
	for _, a := range g.manifest.keep(w.old, t.Keep) {
		if _, err := os.Lstat(filepath.Join(place, filepath.FromSlash(a.Path))); err == nil {
			w.same[len(w.same)-1] = append(w.same[len(w.same)-1], a.Path)
		}
		g.count++
	}
	changed, err := w.finish(g)
	return &Written{Manifest: g.manifest, Files: g.count, Changed: changed}, err
}

// treeWriter writes what differs from the folder that is there, in a stage that
// is made for the first such file.
type treeWriter struct {
	place  string
	prefix string
	old    *Manifest  // nil: there is nothing
	same   [][]string // paths of files that are there already, by device

	mu    sync.Mutex
	stage *stage
}

// put writes the files that differ and returns the paths of the others.
func (w *treeWriter) put(list []File) (same []string, err error) {
	for _, f := range list {
		if w.old != nil && difference(w.place, f) == "" {
			same = append(same, f.Path)
			continue
		}
		s, err := w.open()
		if err != nil {
			return nil, err
		}
		if err := s.create(f); err != nil {
			return nil, err
		}
	}
	return same, nil
}

// open is the stage.
func (w *treeWriter) open() (*stage, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stage != nil {
		return w.stage, nil
	}
	s, err := newStage(filepath.Dir(w.place), w.prefix)
	if err != nil {
		return nil, err
	}
	w.stage = s
	return s, os.Mkdir(s.fresh(), 0o755)
}

// finish adds the manifest and what stays, and puts the folder in place, unless
// all of it is there already.
func (w *treeWriter) finish(g *gathering) (changed bool, err error) {
	m, err := g.manifestFile()
	if err != nil {
		return false, err
	}
	owned, fresh := w.old.paths(), g.manifest.paths()
	if w.old != nil && w.stage == nil && difference(w.place, m) == "" && !w.leftovers(owned, fresh) {
		return false, nil
	}
	s, err := w.open()
	if err != nil {
		return false, err
	}
	if err := s.create(m); err != nil {
		return false, err
	}
	work := errgroup.Group{}
	work.SetLimit(runtime.GOMAXPROCS(0))
	for _, paths := range w.same {
		work.Go(func() error { return s.link(w.place, paths) })
	}
	if err := work.Wait(); err != nil {
		return false, err
	}
	owned[manifestPath] = true
	fresh[manifestPath] = true
	if err := s.take(w.place, owned, fresh); err != nil {
		return false, err
	}
	return true, s.swap(filepath.Base(w.place))
}

// leftovers reports whether a file is there that rocec wrote and no longer writes.
func (w *treeWriter) leftovers(owned, fresh map[string]bool) bool {
	for p := range owned {
		if fresh[p] {
			continue
		}
		if _, err := os.Lstat(filepath.Join(w.place, filepath.FromSlash(p))); err == nil {
			return true
		}
	}
	return false
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
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() && info.Mode()&fs.ModeSymlink == 0 {
		return nil, fmt.Errorf("check %s: it is not a folder", dir)
	}
	var out []Difference
	var mu sync.Mutex
	compare := func(list []File) {
		for _, f := range list {
			if kind := difference(dir, f); kind != "" {
				mu.Lock()
				out = append(out, Difference{f.Path, kind})
				mu.Unlock()
			}
		}
	}
	g := gather(t.Source, t.Devices)
	err := t.Devices.each(func(_ int, d *Device) error {
		list, err := g.add(d)
		compare(list)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", dir, err)
	}
	compare(g.common())
	old, err := ReadManifest(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		out = append(out, Difference{manifestPath, Missing})
	case err != nil:
		out = append(out, Difference{manifestPath, Changed})
	default:
		g.manifest.keep(old, t.Keep)
		same := *old
		same.RocecVersion, same.FormatVersion = g.manifest.RocecVersion, g.manifest.FormatVersion
		if !reflect.DeepEqual(&same, g.manifest) {
			out = append(out, Difference{manifestPath, Changed})
		}
	}
	fresh := g.manifest.paths()
	for p := range old.paths() {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(p))); err == nil && !fresh[p] {
			out = append(out, Difference{p, Extra})
		}
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
	if same, err := disk.Holds(place, f.Bytes); err != nil || !same {
		return Changed
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != f.Mode {
		return ChangedMode
	}
	return ""
}

// WriteTar writes the tree as a tar archive whose bytes depend on nothing but
// its files: devices by folder, then what they share, the manifest last, all of
// time 0 and owned by root. It holds few devices at a time.
func WriteTar(to io.Writer, t *Tree) (*Written, error) {
	g := gather(t.Source, t.Devices)
	archive := tar.NewWriter(to)
	put := func(list []File) error {
		for _, f := range list {
			h := &tar.Header{Typeflag: tar.TypeReg, Name: f.Path, Mode: int64(f.Mode), Size: int64(len(f.Bytes)), ModTime: time.Unix(0, 0)}
			if err := archive.WriteHeader(h); err != nil {
				return fmt.Errorf("%s: %w", f.Path, err)
			}
			if _, err := archive.Write(f.Bytes); err != nil {
				return fmt.Errorf("%s: %w", f.Path, err)
			}
		}
		return nil
	}
	err := t.Devices.inOrder(func(_ int, d *Device) error {
		list, err := g.add(d)
		if err != nil {
			return err
		}
		return put(list)
	})
	if err == nil {
		err = put(g.common())
	}
	if err == nil {
		var m File
		if m, err = g.manifestFile(); err == nil {
			err = put([]File{m})
		}
	}
	if err == nil {
		err = archive.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("write archive: %w", err)
	}
	return &Written{Manifest: g.manifest, Files: g.count, Changed: true}, nil
}
