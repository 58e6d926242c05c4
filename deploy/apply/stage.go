package apply

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"github.com/rocec/rocec/deploy/disk"
)

// Names in a stage. The lock is held as long as the process lives, so that a
// later run knows a stage that was left behind from one that is in use.
const (
	stageLock = "lock"
	stageNew  = "new"
	stageOld  = "old"
	stageSwap = "swap" // where "old" belongs, should the process die between two renames
)

// stage is a folder beside what it will replace, on the same file system, in
// which new folders are built before anybody sees them: one in it, or one in each
// of its parts.
type stage struct {
	dir    string
	parent string // of what is replaced
	lock   *flock.Flock
	parts  []*part
}

// part is a folder of a stage with a fresh folder of its own, which waits for settle.
type part struct {
	stage
	rel string // of what it replaces, from the stage's parent, in slashes
}

// mostParts bounds how many fresh folders wait: they are flushed together, which
// costs one call for all of them and not one for each file.
const mostParts = 256

// newStage makes a stage in parent whose name starts with prefix, after putting
// right what earlier processes left there.
func newStage(parent, prefix string) (*stage, error) {
	if err := sweep(parent, prefix); err != nil {
		return nil, err
	}
	const tries = 10 // a sweep elsewhere may take a stage for a dead one before it is locked
	for range tries {
		dir, err := os.MkdirTemp(parent, prefix)
		if err != nil {
			return nil, err
		}
		s := &stage{dir: dir, parent: parent, lock: flock.New(filepath.Join(dir, stageLock))}
		ok, err := s.lock.TryLock()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), s.close())
		}
		if ok && s.there() {
			return s, nil
		}
		_ = s.lock.Unlock()
	}
	return nil, fmt.Errorf("make a folder beside %s: other processes remove it", prefix)
}

// there reports whether the lock is still the file of that name.
func (s *stage) there() bool {
	held, err := s.lock.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(s.lock.Path())
	return err == nil && os.SameFile(held, named)
}

func (s *stage) fresh() string { return filepath.Join(s.dir, stageNew) }

// part makes a part for what lies at rel.
func (s *stage) part(rel string) (*part, error) {
	p := &part{stage{dir: filepath.Join(s.dir, strconv.Itoa(len(s.parts))), parent: s.parent}, rel}
	return p, os.Mkdir(p.dir, 0o700)
}

// settle puts the fresh folders of all parts in place, one after the other, once
// all of them are on the disk.
func (s *stage) settle() error {
	if len(s.parts) == 0 {
		return nil
	}
	if err := disk.SyncTree(s.dir); err != nil {
		return err
	}
	dirs := map[string]bool{}
	for _, p := range s.parts {
		if err := p.put(p.rel); err != nil {
			return err
		}
		dirs[filepath.Dir(p.place(p.rel))] = true
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		if err := disk.SyncDir(dir); err != nil {
			return err
		}
	}
	for _, p := range s.parts { // what was there goes
		if err := removeAll(p.dir); err != nil {
			return err
		}
	}
	s.parts = s.parts[:0]
	return nil
}

func (s *stage) close() error { return errors.Join(s.lock.Unlock(), removeAll(s.dir)) }

// removeAll removes a folder, also if parts of it may not be written by their owner.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// sweep removes stages whose process is gone. If one died between the two
// renames that stand in for an exchange, the old folder is put back first.
func sweep(parent, prefix string) error {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		info, err := os.Lstat(filepath.Join(dir, stageLock))
		if err != nil || !info.Mode().IsRegular() {
			_ = os.Remove(dir) // empty: its process died before it locked it; else it is no stage
			continue
		}
		if err := bury(parent, dir); err != nil {
			return fmt.Errorf("remove what an earlier run left: %w", err)
		}
	}
	return nil
}

// bury removes one stage unless its process lives.
func bury(parent, dir string) error {
	lock := flock.New(filepath.Join(dir, stageLock))
	if ok, err := lock.TryLock(); err != nil || !ok {
		return nil // in use, or gone this instant
	}
	dirs := []string{dir}
	if parts, err := os.ReadDir(dir); err == nil {
		for _, p := range parts {
			if p.IsDir() {
				dirs = append(dirs, filepath.Join(dir, p.Name()))
			}
		}
	}
	for _, d := range dirs {
		if err := putBack(parent, d); err != nil {
			return errors.Join(err, lock.Unlock())
		}
	}
	// Once under the lock, so that nobody takes it over, and once more for
	// systems that do not remove open files.
	_ = removeAll(dir)
	return errors.Join(lock.Unlock(), removeAll(dir))
}

func putBack(parent, dir string) error {
	b, err := disk.ReadFile(filepath.Join(dir, stageSwap), 1<<16)
	if err != nil {
		return nil // it died before the first rename
	}
	rel := string(b)
	if disk.CheckPath(rel) != nil && !fs.ValidPath(rel) {
		return nil
	}
	place, old := filepath.Join(parent, filepath.FromSlash(rel)), filepath.Join(dir, stageOld)
	if _, err := os.Lstat(place); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Lstat(old); err != nil {
		return nil
	}
	return os.Rename(old, place)
}

// swap puts the fresh folder in place: rel, from the stage's parent, in slashes.
// Nobody sees the place half filled; only where the system cannot exchange two
// names is it missing for an instant, which sweep mends after a crash.
func (s *stage) swap(rel string) error {
	if err := disk.SyncTree(s.fresh()); err != nil {
		return err
	}
	if err := s.put(rel); err != nil {
		return err
	}
	if err := disk.SyncDir(filepath.Dir(s.place(rel))); err != nil {
		return err
	}
	// What was there is now in the stage, and goes.
	return errors.Join(removeAll(s.fresh()), removeAll(filepath.Join(s.dir, stageOld)))
}

func (s *stage) place(rel string) string { return filepath.Join(s.parent, filepath.FromSlash(rel)) }

// put is the exchange itself: what was there is in the stage then.
func (s *stage) put(rel string) error {
	place := s.place(rel)
	if _, err := os.Lstat(place); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			return err
		}
		return os.Rename(s.fresh(), place)
	}
	err := disk.Exchange(s.fresh(), place)
	if errors.Is(err, errors.ErrUnsupported) {
		err = s.twoRenames(place, rel)
	}
	return err
}

func (s *stage) twoRenames(place, rel string) error {
	old := filepath.Join(s.dir, stageOld)
	if err := disk.WriteFile(filepath.Join(s.dir, stageSwap), []byte(rel), 0o600); err != nil {
		return err
	}
	if err := os.Rename(place, old); err != nil {
		return err
	}
	if err := os.Rename(s.fresh(), place); err != nil {
		return errors.Join(err, os.Rename(old, place))
	}
	return nil
}

// fill builds the fresh folder: the files, whose paths start at the folder, and
// from the folder that is there now everything that rocec did not write. Owned
// are the files of the old folder that it did write.
func (s *stage) fill(list []File, old string, owned map[string]bool) error {
	if err := os.Mkdir(s.fresh(), 0o755); err != nil {
		return err
	}
	fresh := make(map[string]bool, len(list))
	for _, f := range list {
		if err := s.create(f); err != nil {
			return err
		}
		fresh[f.Path] = true
	}
	return s.take(old, owned, fresh)
}

// create writes one file of the fresh folder.
func (s *stage) create(f File) error {
	return s.under(f.Path, func(place string) error { return disk.Create(place, f.Bytes, f.Mode) })
}

// under makes a file of the fresh folder, after its folder if that is not there.
func (s *stage) under(path string, do func(place string) error) error {
	place := filepath.Join(s.fresh(), filepath.FromSlash(path))
	err := do(place)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return err
	}
	return do(place)
}

// link takes files of a folder into the fresh one as they are.
func (s *stage) link(from string, paths []string) error {
	for _, p := range paths {
		old := filepath.Join(from, filepath.FromSlash(p))
		err := s.under(p, func(place string) error {
			err := os.Link(old, place)
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return copyFile(old, place)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// take carries over from the old folder, if there is one, what rocec did not write.
func (s *stage) take(old string, owned, fresh map[string]bool) error {
	info, err := os.Lstat(old)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", old)
	}
	folded := make(map[string]bool, len(fresh))
	for p := range fresh {
		folded[strings.ToLower(p)] = true
	}
	if err := s.carry(old, owned, folded); err != nil {
		return err
	}
	return os.Chmod(s.fresh(), info.Mode().Perm())
}

// carry links or copies into the fresh folder what rocec did not write.
func (s *stage) carry(old string, owned, fresh map[string]bool) error {
	parents := map[string]bool{".": true}
	for p := range owned {
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			parents[dir] = true
		}
	}
	return filepath.WalkDir(old, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(old, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		place := filepath.Join(s.fresh(), filepath.FromSlash(rel))
		switch {
		case e.IsDir() && parents[rel], owned[rel] && e.Type().IsRegular():
			return nil
		case fresh[strings.ToLower(rel)]:
			return fmt.Errorf("%s is in the way: rocec did not write it and will not replace it", p)
		case e.IsDir():
			return os.MkdirAll(place, 0o755)
		}
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			return err
		}
		switch {
		case e.Type().IsRegular():
			if os.Link(p, place) == nil {
				return nil
			}
			return copyFile(p, place)
		case e.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			if err != nil {
				return err
			}
			return os.Symlink(to, place)
		}
		return fmt.Errorf("%s is neither a file, a link nor a folder", p)
	})
}

// copyFile is for file systems without links.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}
