package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/pkg/sftp"
)

// check refuses what would land elsewhere than said.
func (c *Change) check() error {
	if len(c.Lines) > 0 {
		return failed(KindLocal, "", "lines for a prompt, and the device has a shell")
	}
	if strings.ContainsFunc(c.Folder+c.Dir, unicode.IsControl) {
		return failed(KindLocal, "", "the folder %q holds control characters", path.Join(c.Folder, c.Dir))
	}
	if c.Folder == "" && (len(c.Files) > 0 || c.Dir != "") {
		return failed(KindLocal, "", "files without a folder to put them in")
	}
	if c.Dir != "" && !fs.ValidPath(c.Dir) {
		return failed(KindLocal, "", "%q is no folder below that of the change", c.Dir)
	}
	seen := map[string]bool{}
	for _, f := range c.Files {
		switch {
		case strings.ContainsFunc(f.Path, unicode.IsControl):
			return failed(KindLocal, "", "the path %q holds control characters", f.Path)
		case !fs.ValidPath(f.Path) || f.Path == ".":
			return failed(KindLocal, "", "%q is no path below the folder of the change", f.Path)
		case seen[f.Path]:
			return failed(KindLocal, "", "%s is there twice", f.Path)
		}
		seen[f.Path] = true
	}
	return nil
}

// system is what copying has to know of the system at the other end.
type system interface {
	// path is a path as SFTP names it; for an absolute folder only.
	path(p string) (string, error)
	// modes reports whether files have modes there.
	modes() bool
	// without copies where there is no SFTP; why is what came of asking for it.
	without(c *Change, why error) error
}

// copy puts the files of a change on the device, each whole or not at all.
func (l *link) copy(ctx context.Context, c Change, sys system) error {
	_, err := l.do(ctx, opCopy, func() (Output, error) { return Output{}, l.copyFiles(&c, sys) })
	return err
}

func (l *link) copyFiles(c *Change, sys system) error {
	if len(c.Files) == 0 && c.Folder == "" {
		return nil
	}
	root, err := sys.path(c.Folder)
	if err != nil {
		return err
	}
	remote, closeSFTP, err := l.openSFTP()
	if err != nil {
		if l.ended() != nil {
			return err
		}
		return sys.without(c, err)
	}
	defer closeSFTP()
	folders := map[string]bool{root: true}
	for _, f := range c.Files {
		folders[path.Dir(path.Join(root, f.Path))] = true
	}
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		if err := remote.MkdirAll(dir); err != nil {
			return fileError(remote, dir, fmt.Errorf("make the folder %s: %w", dir, err))
		}
	}
	for _, f := range c.Files {
		at := path.Join(root, f.Path)
		if err := put(remote, at, &f, sys.modes()); err != nil {
			return fileError(remote, at, fmt.Errorf("write %s: %w", at, err))
		}
	}
	return nil
}

// openSFTP starts the subsystem on a channel of its own.
func (l *link) openSFTP() (*sftp.Client, func(), error) {
	s, err := l.channel()
	if err != nil {
		return nil, nil, refusal("a channel for SFTP", err)
	}
	in, err := s.StdinPipe()
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	out, err := s.StdoutPipe()
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	if err := s.RequestSubsystem("sftp"); err != nil {
		s.Close()
		return nil, nil, refusal("SFTP", err)
	}
	remote, err := sftp.NewClientPipe(out, in)
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	return remote, func() {
		s.Close()
		go remote.Close() // which waits for the device to close its side
	}, nil
}

// put writes one file under another name and then gives it its own: what runs on
// the device meanwhile sees the old file or the new one, never a part.
func put(remote *sftp.Client, at string, f *File, modes bool) (err error) {
	part := partOf(at)
	if err := remote.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w, err := remote.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = remote.Remove(part) // the error that is reported is the first one
		}
	}()
	if err := fill(remote, w, f, modes); err != nil {
		w.Close()
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	// A device that says yes and does not is found out here.
	info, err := remote.Stat(part)
	if err != nil {
		return err
	}
	if info.Size() != int64(len(f.Bytes)) {
		return failed(KindRefused, "", "the device kept %d of %d bytes", info.Size(), len(f.Bytes))
	}
	if _, ok := remote.HasExtension("posix-rename@openssh.com"); ok {
		return remote.PosixRename(part, at)
	}
	// Plain SFTP does not rename onto a file that is there.
	if err := remote.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return remote.Rename(part, at)
}

func fill(remote *sftp.Client, w *sftp.File, f *File, modes bool) error {
	if modes {
		// Before the first byte: nobody else reads what is not meant for them.
		if err := w.Chmod(fs.FileMode(f.Mode).Perm()); err != nil {
			return fmt.Errorf("mode %04o: %w", f.Mode, err)
		}
	}
	if _, err := w.ReadFrom(bytes.NewReader(f.Bytes)); err != nil {
		return err
	}
	// A loss of power must not leave an empty file under the right name.
	if _, ok := remote.HasExtension("fsync@openssh.com"); ok {
		return w.Sync()
	}
	return nil
}

// partOf is the name under which a file is written.
func partOf(at string) string { return path.Join(path.Dir(at), "."+path.Base(at)+".part") }

// fileError is the failure of an operation on a file: the device answered, so it is a
// refusal, and where the disk is full it is said so, which SFTP has no word for.
func fileError(remote *sftp.Client, at string, err error) error {
	var status *sftp.StatusError
	switch {
	case errors.As(err, new(*failure)):
		return err
	case errors.Is(err, fs.ErrPermission):
		return failed(KindRefused, "log in as a user that may write there", "%w", err)
	case errors.As(err, &status):
		if _, ok := remote.HasExtension("statvfs@openssh.com"); ok {
			if v, e := remote.StatVFS(path.Dir(at)); e == nil && (v.Bavail == 0 || v.Files > 0 && v.Ffree == 0) {
				return failed(KindRefused, "make room there", "%w: the file system is full", err)
			}
		}
		return failed(KindRefused, "", "%w", err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrExist), errors.As(err, new(*fs.PathError)):
		return failed(KindRefused, "", "%w", err)
	}
	return err
}
