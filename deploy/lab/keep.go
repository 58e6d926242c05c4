package lab

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rocec/rocec/deploy/disk"
)

// Keeper is a machine whose state can be kept while no lab runs: what lies on its
// disk, and what it has elsewhere and does not lose with the power.
type Keeper interface {
	Machine
	// Keep is what the machine has elsewhere, nil for nothing. Nothing runs on it any
	// more.
	Keep() ([]byte, error)
	// Restore takes what Keep gave. The files are there already; Reboot follows.
	Restore(state []byte) error
}

// keptFolder is where states lie, below the folder of the lab.
const keptFolder = "kept"

// Names of the entries of a state: that of the machine, and what lies on the disk.
const (
	stateEntry = "state"
	diskEntry  = "disk"
)

// kept is the file with the state of a device. One that was given another system
// has none.
func (l *Lab) kept(r *running) string {
	return filepath.Join(l.Dir, keptFolder, r.Name+"."+r.Target+".tar.gz")
}

// keep writes the state of a machine that has stopped.
func (l *Lab) keep(r *running, m Machine) error {
	k, ok := m.(Keeper)
	if !ok {
		return fmt.Errorf("keep %s: the state of this system cannot be kept", r.Name)
	}
	state, err := k.Keep()
	if err != nil {
		return fmt.Errorf("keep %s: %w", r.Name, err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: stateEntry, Mode: 0o600, Size: int64(len(state))})
	if err == nil {
		_, err = w.Write(state)
	}
	if err == nil {
		err = m.Disk().pack(w)
	}
	if err = errors.Join(err, w.Close(), z.Close()); err == nil {
		err = os.MkdirAll(filepath.Join(l.Dir, keptFolder), 0o700)
	}
	if err == nil {
		err = disk.WriteFile(l.kept(r), b.Bytes(), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep %s: %w", r.Name, err)
	}
	return nil
}

// restore gives a machine the state that was kept of its device, if there is one,
// and switches it on with that.
func (l *Lab) restore(r *running, m Machine) error {
	b, err := os.ReadFile(l.kept(r))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	k, ok := m.(Keeper)
	if err == nil && !ok {
		err = errors.New("the state of this system cannot be kept")
	}
	if err == nil {
		err = restored(k, b)
	}
	if err != nil {
		return fmt.Errorf("start %s as it was kept in %s: %w", r.Name, l.kept(r), err)
	}
	m.Reboot()
	return nil
}

func restored(m Keeper, b []byte) error {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return err
	}
	t := tar.NewReader(io.LimitReader(z, maxFile))
	h, err := t.Next()
	switch {
	case err != nil:
		return err
	case h.Name != stateEntry:
		return fmt.Errorf("it begins with %q, not with %q", h.Name, stateEntry)
	}
	state, err := contents(t, h)
	if err == nil {
		err = m.Disk().unpack(t)
	}
	if err != nil {
		return err
	}
	return m.Restore(state)
}

// pack writes what a loss of power leaves. Files that the machine makes are none
// of that.
func (d *Disk) pack(w *tar.Writer) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var walk func(p string, n *node) error
	walk = func(p string, n *node) error {
		h := &tar.Header{Name: diskEntry + p, Mode: int64(n.mode.Perm()), ModTime: n.mod, Format: tar.FormatPAX}
		switch {
		case n.sp != nil:
			return nil
		case n.mode.IsDir():
			h.Typeflag = tar.TypeDir
		case n.mode&fs.ModeSymlink != 0:
			h.Typeflag, h.Linkname = tar.TypeSymlink, n.link
		default:
			h.Typeflag, h.Size = tar.TypeReg, int64(len(n.data))
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if h.Size > 0 {
			if _, err := w.Write(n.data); err != nil {
				return err
			}
		}
		if slices.Contains(d.gone, p) {
			return nil
		}
		for _, key := range slices.Sorted(maps.Keys(n.kids)) {
			if err := walk(path.Join(p, n.kids[key].name), n.kids[key]); err != nil {
				return err
			}
		}
		return nil
	}
	return walk("/", d.root)
}

// contents is what an entry holds. One with holes, which pack does not write, could
// claim more than fits into memory.
func contents(t *tar.Reader, h *tar.Header) ([]byte, error) {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return nil, fmt.Errorf("%s is a file with holes", h.Name)
		}
	}
	switch {
	case h.Typeflag == tar.TypeGNUSparse:
		return nil, fmt.Errorf("%s is a file with holes", h.Name)
	case h.Size > maxFile:
		return nil, fmt.Errorf("%s has %d bytes", h.Name, h.Size)
	}
	return io.ReadAll(t)
}

// unpack puts what pack wrote in the place of all there is.
func (d *Disk) unpack(t *tar.Reader) error {
	from := NewDisk(DiskOptions{Fold: d.fold, Now: d.now})
	type changed struct {
		path string
		at   time.Time
	}
	var times []changed
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		p, ok := strings.CutPrefix(h.Name, diskEntry)
		if !ok || p == "" || p[0] != '/' || clean(p) != strings.TrimSuffix(p, "/") && p != "/" {
			return fmt.Errorf("it holds %q, which is no path of the disk", h.Name)
		}
		switch h.Typeflag {
		case tar.TypeDir:
			if err = from.MkdirAll(p, 0o755); err == nil {
				err = from.Chmod(p, fs.FileMode(h.Mode))
			}
		case tar.TypeSymlink:
			err = from.Symlink(h.Linkname, p)
		case tar.TypeReg:
			var b []byte
			if b, err = contents(t, h); err == nil {
				err = from.WriteFile(p, b, fs.FileMode(h.Mode))
			}
		default:
			err = fmt.Errorf("%s is neither a file nor a folder nor a link", p)
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeSymlink {
			times = append(times, changed{p, h.ModTime})
		}
	}
	for _, c := range times {
		if err := from.Chtimes(c.path, c.at); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.free(d.root)
	d.root, d.used, d.nodes = from.root, from.used, d.nodes+from.nodes
	return nil
}
