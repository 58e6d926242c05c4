package lab

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Disk is the file system of a simulated device, in memory. Paths are slash
// paths from the root; "C:/x" is "/C:/x". Symbolic links are followed as on a
// POSIX system. Everyone who asks is root: modes are kept and asked for, not
// enforced. It is safe for concurrent use. Errors are *fs.PathError that wrap
// those of package syscall and io/fs.
type Disk struct {
	mu    sync.RWMutex
	root  *node
	used  int64
	limit int64
	fold  bool
	now   func() time.Time
	gone  []string // folders whose content a loss of power takes
	nodes uint64
}

// DiskOptions are what disks differ in.
type DiskOptions struct {
	Limit int64            // bytes of content that fit; 0 = no limit
	Fold  bool             // names that differ in case only are one, as on Windows
	Now   func() time.Time // clock for times of change; nil = time.Now
	// Volatile are folders that a loss of power empties (/run, /tmp), but not
	// themselves.
	Volatile []string
}

// Special is a file whose content the machine makes and takes, like those of
// sysfs. Nil functions refuse.
type Special struct {
	Read  func() ([]byte, error)
	Write func([]byte) error
}

type node struct {
	name string // as it was first written
	mode fs.FileMode
	mod  time.Time
	data []byte
	kids map[string]*node
	link string
	id   uint64
	sp   *Special
	gone bool // it has no name any more: what is written to it takes no room
}

// NewDisk is an empty disk: a root folder and the volatile ones.
func NewDisk(o DiskOptions) *Disk {
	if o.Now == nil {
		o.Now = time.Now
	}
	d := &Disk{limit: o.Limit, fold: o.Fold, now: o.Now}
	d.root = d.make("/", fs.ModeDir|0o755)
	for _, p := range o.Volatile {
		_ = d.MkdirAll(p, 0o755)
		d.gone = append(d.gone, clean(p))
	}
	return d
}

// SetLimit changes how many bytes fit; what is there stays, 0 is no limit.
func (d *Disk) SetLimit(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.limit = bytes
}

// Used is how many bytes of content there are, and how many fit (0: no limit).
func (d *Disk) Used() (used, limit int64) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.used, d.limit
}

// PowerCut empties the volatile folders.
func (d *Disk) PowerCut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.gone {
		n, err := d.find(p, true)
		if err != nil {
			continue
		}
		for _, kid := range n.kids {
			d.free(kid)
		}
		n.kids = map[string]*node{}
	}
}

func (d *Disk) make(name string, mode fs.FileMode) *node {
	d.nodes++
	n := &node{name: name, mode: mode, mod: d.now(), id: d.nodes}
	if mode.IsDir() {
		n.kids = map[string]*node{}
	}
	return n
}

// free gives back the room of a tree that has no name any more.
func (d *Disk) free(n *node) {
	n.gone = true
	d.used -= int64(len(n.data))
	for _, kid := range n.kids {
		d.free(kid)
	}
}

func clean(p string) string {
	return path.Clean("/" + p)
}

func (d *Disk) key(name string) string {
	if d.fold {
		return strings.ToLower(name)
	}
	return name
}

func fail(op, p string, err error) error {
	return &fs.PathError{Op: op, Path: p, Err: err}
}

// find is the node at p, with the lock held. The last link is followed when
// follow says so.
func (d *Disk) find(p string, follow bool) (*node, error) {
	_, _, n, err := d.walk(p, follow)
	if err == nil && n == nil {
		err = fs.ErrNotExist
	}
	return n, err
}

// walk is the folder that p lies in, its name there and its node, nil when there
// is none.
func (d *Disk) walk(p string, follow bool) (dir *node, name string, n *node, err error) {
	const links = 40 // as Linux: path_resolution(7)
	followed := 0
	for {
		dir, name, n, rest := d.root, "", d.root, strings.Split(strings.TrimPrefix(clean(p), "/"), "/")
		at := "/"
		again := ""
		for i, part := range rest {
			if part == "" {
				continue
			}
			if n == nil {
				return nil, "", nil, fs.ErrNotExist
			}
			if !n.mode.IsDir() {
				return nil, "", nil, syscall.ENOTDIR
			}
			dir, name = n, part
			n = dir.kids[d.key(part)]
			last := i == len(rest)-1
			if n != nil && n.mode&fs.ModeSymlink != 0 && (!last || follow) {
				target := n.link
				if !path.IsAbs(target) {
					target = path.Join(at, target)
				}
				again = path.Join(append([]string{target}, rest[i+1:]...)...)
				break
			}
			at = path.Join(at, part)
		}
		if again == "" {
			return dir, name, n, nil
		}
		if followed++; followed > links {
			return nil, "", nil, syscall.ELOOP
		}
		p = again
	}
}

// ReadFile is the content of a file.
func (d *Disk) ReadFile(p string) ([]byte, error) {
	d.mu.RLock()
	n, err := d.find(p, true)
	if err != nil {
		d.mu.RUnlock()
		return nil, fail("open", p, err)
	}
	data, sp, dir := n.data, n.sp, n.mode.IsDir()
	d.mu.RUnlock()
	if dir {
		return nil, fail("read", p, syscall.EISDIR)
	}
	if sp != nil {
		if sp.Read == nil {
			return nil, fail("read", p, fs.ErrPermission)
		}
		b, err := sp.Read()
		if err != nil {
			return nil, fail("read", p, err)
		}
		return b, nil
	}
	return slices.Clone(data), nil
}

// WriteFile makes or replaces the content of a file; mode is that of a new one.
func (d *Disk) WriteFile(p string, data []byte, mode fs.FileMode) error {
	f, err := d.OpenFile(p, OpenWrite|OpenCreate|OpenTruncate, mode)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// Mkdir makes one folder.
func (d *Disk) Mkdir(p string, mode fs.FileMode) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, name, n, err := d.walk(p, false)
	switch {
	case err != nil:
		return fail("mkdir", p, err)
	case n != nil:
		return fail("mkdir", p, fs.ErrExist)
	}
	d.put(dir, name, d.make(name, fs.ModeDir|mode&fs.ModePerm))
	return nil
}

// MkdirAll makes a folder and those above it.
func (d *Disk) MkdirAll(p string, mode fs.FileMode) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := "/"
	for part := range strings.SplitSeq(strings.TrimPrefix(clean(p), "/"), "/") {
		at = path.Join(at, part)
		dir, name, n, err := d.walk(at, true)
		switch {
		case err != nil:
			return fail("mkdir", at, err)
		case n == nil:
			d.put(dir, name, d.make(name, fs.ModeDir|mode&fs.ModePerm))
		case !n.mode.IsDir():
			return fail("mkdir", at, syscall.ENOTDIR)
		}
	}
	return nil
}

func (d *Disk) put(dir *node, name string, n *node) {
	dir.kids[d.key(name)] = n
	dir.mod = d.now()
}

// Remove removes a file, a link or an empty folder.
func (d *Disk) Remove(p string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, name, n, err := d.walk(p, false)
	switch {
	case err != nil:
		return fail("remove", p, err)
	case n == nil:
		return fail("remove", p, fs.ErrNotExist)
	case n == d.root:
		return fail("remove", p, syscall.EBUSY)
	case len(n.kids) > 0:
		return fail("remove", p, syscall.ENOTEMPTY)
	}
	d.drop(dir, name, n)
	return nil
}

// RemoveAll removes what is there, with what is in it; that nothing is there is
// no error.
func (d *Disk) RemoveAll(p string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, name, n, err := d.walk(p, false)
	switch {
	case err != nil || n == nil:
		return nil
	case n == d.root:
		return fail("remove", p, syscall.EBUSY)
	}
	d.drop(dir, name, n)
	return nil
}

func (d *Disk) drop(dir *node, name string, n *node) {
	delete(dir.kids, d.key(name))
	dir.mod = d.now()
	d.free(n)
}

// Rename moves a file or a folder and replaces a file that is there, at once.
func (d *Disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	src, old, n, err := d.walk(from, false)
	if err == nil && n == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return fail("rename", from, err)
	}
	dst, name, there, err := d.walk(to, false)
	switch {
	case err != nil:
		return fail("rename", to, err)
	case there == n:
		if dst == src { // in another spelling
			n.name = name
		}
		return nil
	case n == d.root || n.holds(dst):
		return fail("rename", to, syscall.EINVAL)
	case there != nil && there.mode.IsDir() && !n.mode.IsDir():
		return fail("rename", to, syscall.EISDIR)
	case there != nil && !there.mode.IsDir() && n.mode.IsDir():
		return fail("rename", to, syscall.ENOTDIR)
	case there != nil && len(there.kids) > 0:
		return fail("rename", to, syscall.ENOTEMPTY)
	}
	if there != nil {
		d.free(there)
	}
	delete(src.kids, d.key(old))
	src.mod = d.now()
	n.name = name
	d.put(dst, name, n)
	return nil
}

// holds tells whether m is n or lies in it.
func (n *node) holds(m *node) bool {
	if n == m {
		return true
	}
	for _, kid := range n.kids {
		if kid.holds(m) {
			return true
		}
	}
	return false
}

// Symlink makes a link at p.
func (d *Disk) Symlink(target, p string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, name, n, err := d.walk(p, false)
	switch {
	case err != nil:
		return fail("symlink", p, err)
	case n != nil:
		return fail("symlink", p, fs.ErrExist)
	}
	n = d.make(name, fs.ModeSymlink|0o777)
	n.link = target
	d.put(dir, name, n)
	return nil
}

// Readlink is where the link at p points to.
func (d *Disk) Readlink(p string) (string, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	n, err := d.find(p, false)
	switch {
	case err != nil:
		return "", fail("readlink", p, err)
	case n.mode&fs.ModeSymlink == 0:
		return "", fail("readlink", p, syscall.EINVAL)
	}
	return n.link, nil
}

// Chmod sets the permissions of a file or a folder.
func (d *Disk) Chmod(p string, mode fs.FileMode) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(p, true)
	if err != nil {
		return fail("chmod", p, err)
	}
	n.mode = n.mode&^fs.ModePerm | mode&fs.ModePerm
	return nil
}

// Chtimes sets the time of change.
func (d *Disk) Chtimes(p string, mod time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(p, true)
	if err != nil {
		return fail("chtimes", p, err)
	}
	n.mod = mod
	return nil
}

// Special puts a file there that the machine makes and takes. Folders above it
// are made.
func (d *Disk) Special(p string, mode fs.FileMode, sp Special) error {
	if err := d.MkdirAll(path.Dir(clean(p)), 0o755); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, name, old, err := d.walk(p, false)
	if err != nil {
		return fail("mknod", p, err)
	}
	if old != nil {
		d.free(old)
	}
	n := d.make(name, mode&fs.ModePerm)
	n.sp = &sp
	d.put(dir, name, n)
	return nil
}

// Stat tells of what is at p, behind links.
func (d *Disk) Stat(p string) (fs.FileInfo, error) {
	return d.stat("stat", p, true)
}

// Lstat tells of what is at p, which may be a link.
func (d *Disk) Lstat(p string) (fs.FileInfo, error) {
	return d.stat("lstat", p, false)
}

func (d *Disk) stat(op, p string, follow bool) (fs.FileInfo, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	n, err := d.find(p, follow)
	if err != nil {
		return nil, fail(op, p, err)
	}
	return n.info(), nil
}

// ReadDir lists a folder, sorted by name.
func (d *Disk) ReadDir(p string) ([]fs.DirEntry, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	n, err := d.find(p, true)
	switch {
	case err != nil:
		return nil, fail("open", p, err)
	case !n.mode.IsDir():
		return nil, fail("readdir", p, syscall.ENOTDIR)
	}
	list := make([]fs.DirEntry, 0, len(n.kids))
	for _, kid := range n.kids {
		list = append(list, fs.FileInfoToDirEntry(kid.info()))
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

func (n *node) info() FileInfo {
	size := int64(len(n.data))
	if n.mode&fs.ModeSymlink != 0 {
		size = int64(len(n.link))
	}
	return FileInfo{name: n.name, size: size, mode: n.mode, mod: n.mod, id: n.id}
}

// FileInfo tells of a file of a disk.
type FileInfo struct {
	name string
	size int64
	mode fs.FileMode
	mod  time.Time
	id   uint64
}

// Name is the last part of the path.
func (i FileInfo) Name() string { return i.name }

// Size is the number of bytes.
func (i FileInfo) Size() int64 { return i.size }

// Mode is the kind and the permissions.
func (i FileInfo) Mode() fs.FileMode { return i.mode }

// ModTime is when the content changed.
func (i FileInfo) ModTime() time.Time { return i.mod }

// IsDir tells a folder.
func (i FileInfo) IsDir() bool { return i.mode.IsDir() }

// Sys is nil: there is no system below.
func (i FileInfo) Sys() any { return nil }

// ID is the number of the file on its disk: two names with one ID are one file.
func (i FileInfo) ID() uint64 { return i.id }
