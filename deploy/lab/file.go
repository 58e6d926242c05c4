package lab

import (
	"errors"
	"io"
	"io/fs"
	"sync"
	"syscall"
)

// Ways to open a file of a Disk. They are not those of package os, whose values
// differ by system.
const (
	OpenRead = 1 << iota
	OpenWrite
	OpenAppend
	OpenCreate
	OpenExclusive
	OpenTruncate
)

// maxFile is how many bytes a file can have: disks are in memory.
const maxFile = 1 << 30

// File is an open file of a Disk. It goes on when the name is gone.
type File struct {
	disk *Disk
	path string
	n    *node
	flag int

	mu     sync.Mutex
	at     int64
	closed bool
	held   []byte // of a special file: what was read at the first read, or is to be written
	loaded bool
}

// OpenFile opens, and with OpenCreate makes, a file.
func (d *Disk) OpenFile(p string, flag int, mode fs.FileMode) (*File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, name, n, err := d.walk(p, flag&OpenExclusive == 0)
	switch {
	case err != nil:
		return nil, fail("open", p, err)
	case n == nil && flag&OpenCreate == 0:
		return nil, fail("open", p, fs.ErrNotExist)
	case n == nil:
		n = d.make(name, mode&fs.ModePerm)
		d.put(dir, name, n)
	case flag&OpenCreate != 0 && flag&OpenExclusive != 0:
		return nil, fail("open", p, fs.ErrExist)
	case n.mode.IsDir() && flag&OpenWrite != 0:
		return nil, fail("open", p, syscall.EISDIR)
	}
	if flag&OpenTruncate != 0 && n.sp == nil && len(n.data) > 0 {
		d.used -= int64(len(n.data))
		n.data, n.mod = nil, d.now()
	}
	return &File{disk: d, path: p, n: n, flag: flag}, nil
}

// Read reads on from where the last read or write ended.
func (f *File) Read(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k, err := f.readAt(b, f.at)
	f.at += int64(k)
	if k > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return k, err
}

// ReadAt reads from a place.
func (f *File) ReadAt(b []byte, at int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.readAt(b, at)
}

func (f *File) readAt(b []byte, at int64) (int, error) {
	if f.closed {
		return 0, fail("read", f.path, fs.ErrClosed)
	}
	if f.flag&OpenRead == 0 {
		return 0, fail("read", f.path, syscall.EBADF)
	}
	if f.n.mode.IsDir() {
		return 0, fail("read", f.path, syscall.EISDIR)
	}
	if at < 0 {
		return 0, fail("read", f.path, syscall.EINVAL)
	}
	var data []byte
	if f.n.sp != nil {
		if !f.loaded {
			if f.n.sp.Read == nil {
				return 0, fail("read", f.path, fs.ErrPermission)
			}
			held, err := f.n.sp.Read()
			if err != nil {
				return 0, fail("read", f.path, err)
			}
			f.held, f.loaded = held, true
		}
		data = f.held
	} else {
		f.disk.mu.RLock()
		data = f.n.data
		f.disk.mu.RUnlock()
	}
	if at >= int64(len(data)) {
		return 0, io.EOF
	}
	k := copy(b, data[at:])
	if k < len(b) {
		return k, io.EOF
	}
	return k, nil
}

// Write writes on from where the last read or write ended, or at the end.
func (f *File) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.at
	if f.flag&OpenAppend != 0 {
		at = -1
	}
	k, end, err := f.writeAt(b, at)
	if err == nil {
		f.at = end
	}
	return k, err
}

// WriteAt writes to a place.
func (f *File) WriteAt(b []byte, at int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at < 0 {
		return 0, fail("write", f.path, syscall.EINVAL)
	}
	k, _, err := f.writeAt(b, at)
	return k, err
}

// writeAt writes at a place, at the end when it is -1.
func (f *File) writeAt(b []byte, at int64) (int, int64, error) {
	if f.closed {
		return 0, 0, fail("write", f.path, fs.ErrClosed)
	}
	if f.flag&(OpenWrite|OpenAppend) == 0 {
		return 0, 0, fail("write", f.path, syscall.EBADF)
	}
	if f.n.sp != nil {
		if f.n.sp.Write == nil {
			return 0, 0, fail("write", f.path, fs.ErrPermission)
		}
		if err := f.n.sp.Write(append([]byte(nil), b...)); err != nil {
			return 0, 0, fail("write", f.path, err)
		}
		return len(b), max(at, 0) + int64(len(b)), nil
	}
	d := f.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if at < 0 {
		at = int64(len(f.n.data))
	}
	end := at + int64(len(b))
	if end < at || end > maxFile {
		return 0, 0, fail("write", f.path, syscall.EFBIG)
	}
	if grow := end - int64(len(f.n.data)); grow > 0 && !f.n.gone {
		if d.limit > 0 && d.used+grow > d.limit {
			return 0, 0, fail("write", f.path, syscall.ENOSPC)
		}
		d.used += grow
	}
	// Somebody may still read the old content, up to its length: what is written behind
	// that is nobody else's, anything else is made anew.
	if at == int64(len(f.n.data)) {
		f.n.data = append(f.n.data, b...)
	} else {
		data := make([]byte, max(end, int64(len(f.n.data))))
		copy(data, f.n.data)
		copy(data[at:], b)
		f.n.data = data
	}
	f.n.mod = d.now()
	return len(b), end, nil
}

// Seek sets where the next read or write starts.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		f.disk.mu.RLock()
		offset += int64(len(f.n.data))
		f.disk.mu.RUnlock()
	}
	if offset < 0 {
		return 0, fail("seek", f.path, syscall.EINVAL)
	}
	f.at = offset
	return offset, nil
}

// Stat tells of the file.
func (f *File) Stat() (fs.FileInfo, error) {
	f.disk.mu.RLock()
	defer f.disk.mu.RUnlock()
	return f.n.info(), nil
}

// Name is the path it was opened by.
func (f *File) Name() string { return f.path }

// Close ends the use of the file.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return fail("close", f.path, fs.ErrClosed)
	}
	f.closed = true
	return nil
}
