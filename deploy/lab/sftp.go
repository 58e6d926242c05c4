package lab

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path"
	"syscall"
	"time"

	"github.com/pkg/sftp"
)

// files serves a disk over SFTP.
type files struct {
	disk *Disk
	wait func() // before each request
}

// serveFiles answers requests until the channel ends.
func serveFiles(ch io.ReadWriteCloser, d *Disk, home string, wait func()) error {
	h := files{d, wait}
	s := sftp.NewRequestServer(ch, sftp.Handlers{FileGet: h, FilePut: h, FileCmd: h, FileList: h}, sftp.WithStartDirectory(home))
	err := s.Serve()
	_ = s.Close()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// status is an error as the protocol tells it.
func status(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return sftp.ErrSSHFxNoSuchFile
	case errors.Is(err, fs.ErrPermission):
		return sftp.ErrSSHFxPermissionDenied
	}
	var p *fs.PathError
	if errors.As(err, &p) { // sftp-server of OpenSSH says no more than "Failure"
		return sftp.ErrSSHFxFailure
	}
	return err
}

// Fileread opens a file for reading.
func (f files) Fileread(r *sftp.Request) (io.ReaderAt, error) {
	f.wait()
	file, err := f.disk.OpenFile(r.Filepath, OpenRead, 0)
	if err != nil {
		return nil, status(err)
	}
	if file.n.mode.IsDir() {
		return nil, sftp.ErrSSHFxFailure
	}
	return file, nil
}

// Filewrite opens a file for writing.
func (f files) Filewrite(r *sftp.Request) (io.WriterAt, error) { return f.OpenFile(r) }

// OpenFile opens a file as the request says.
func (f files) OpenFile(r *sftp.Request) (sftp.WriterAtReaderAt, error) {
	f.wait()
	how, flags := 0, r.Pflags()
	for _, one := range []struct {
		is  bool
		way int
	}{{flags.Read, OpenRead}, {flags.Write, OpenWrite}, {flags.Creat, OpenCreate}, {flags.Excl, OpenExclusive}, {flags.Trunc, OpenTruncate}} {
		if one.is {
			how |= one.way
		}
	}
	mode := fs.FileMode(0o644)
	if r.AttrFlags().Permissions {
		mode = r.Attributes().FileMode().Perm()
	}
	file, err := f.disk.OpenFile(r.Filepath, how, mode)
	if err != nil {
		return nil, status(err)
	}
	return full{file}, nil
}

// full tells a full disk as OpenSSH does.
type full struct{ *File }

// WriteAt writes to a place.
func (f full) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(b, at)
	if errors.Is(err, syscall.ENOSPC) {
		err = sftp.ErrSSHFxFailure
	}
	return n, err
}

// Filecmd changes names and attributes.
func (f files) Filecmd(r *sftp.Request) error {
	f.wait()
	d := f.disk
	switch r.Method {
	case "Setstat":
		return f.setstat(r)
	case "Rename": // without the extension of OpenSSH nothing is replaced
		if _, err := d.Lstat(r.Target); err == nil {
			return sftp.ErrSSHFxFailure
		}
		return status(d.Rename(r.Filepath, r.Target))
	case "Rmdir", "Remove":
		return status(d.Remove(r.Filepath))
	case "Mkdir":
		mode := fs.FileMode(0o755)
		if r.AttrFlags().Permissions {
			mode = r.Attributes().FileMode().Perm()
		}
		return status(d.Mkdir(r.Filepath, mode))
	case "Symlink":
		return status(d.Symlink(r.Filepath, r.Target))
	}
	return sftp.ErrSSHFxOpUnsupported
}

func (f files) setstat(r *sftp.Request) error {
	flags, a := r.AttrFlags(), r.Attributes()
	if flags.Permissions {
		if err := f.disk.Chmod(r.Filepath, a.FileMode().Perm()); err != nil {
			return status(err)
		}
	}
	if flags.Acmodtime {
		if err := f.disk.Chtimes(r.Filepath, time.Unix(int64(a.Mtime), 0)); err != nil {
			return status(err)
		}
	}
	if !flags.Size {
		return nil
	}
	b, err := f.disk.ReadFile(r.Filepath)
	if err != nil {
		return status(err)
	}
	if a.Size > uint64(len(b)) {
		return sftp.ErrSSHFxOpUnsupported
	}
	return status(f.disk.WriteFile(r.Filepath, b[:a.Size], 0o644))
}

// PosixRename replaces what is there.
func (f files) PosixRename(r *sftp.Request) error {
	f.wait()
	return status(f.disk.Rename(r.Filepath, r.Target))
}

// Filelist lists folders and tells of files.
func (f files) Filelist(r *sftp.Request) (sftp.ListerAt, error) {
	f.wait()
	switch r.Method {
	case "List":
		entries, err := f.disk.ReadDir(r.Filepath)
		if err != nil {
			return nil, status(err)
		}
		var list infos
		for _, e := range entries {
			if info, err := e.Info(); err == nil {
				list = append(list, info)
			}
		}
		return list, nil
	case "Stat":
		info, err := f.disk.Stat(r.Filepath)
		if err != nil {
			return nil, status(err)
		}
		return infos{info}, nil
	}
	return nil, sftp.ErrSSHFxOpUnsupported
}

// Lstat tells of a link itself.
func (f files) Lstat(r *sftp.Request) (sftp.ListerAt, error) {
	f.wait()
	info, err := f.disk.Lstat(r.Filepath)
	if err != nil {
		return nil, status(err)
	}
	return infos{info}, nil
}

// Readlink is where a link points to.
func (f files) Readlink(name string) (string, error) {
	target, err := f.disk.Readlink(name)
	return target, status(err)
}

// RealPath is an absolute path.
func (f files) RealPath(name string) (string, error) {
	return path.Clean("/" + cmp.Or(name, "/")), nil
}

type infos []fs.FileInfo

// ListAt copies a part of the list.
func (l infos) ListAt(into []fs.FileInfo, at int64) (int, error) {
	if at >= int64(len(l)) {
		return 0, io.EOF
	}
	n := copy(into, l[at:])
	if n < len(into) {
		return n, io.EOF
	}
	return n, nil
}
