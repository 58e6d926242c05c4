package posix

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"mvdan.cc/sh/v3/interp"

	"github.com/rocec/rocec/deploy/lab"
)

// open opens files of the disk and the devices that scripts name.
func (s *shell) open(ctx context.Context, name string, flag int, mode fs.FileMode) (io.ReadWriteCloser, error) {
	hc := interp.HandlerCtx(ctx)
	name = s.name(hc.Dir, name)
	if key, ok := strings.CutPrefix(name, substitute); ok {
		return s.substituted(key, flag)
	}
	switch name {
	case "/dev/null":
		return nowhere{}, nil
	case "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2":
		w := hc.Stdout
		if strings.HasSuffix(name, "err") || strings.HasSuffix(name, "2") {
			w = hc.Stderr
		}
		return through{w}, nil
	case "/dev/stdin", "/dev/fd/0":
		if hc.Stdin == nil {
			return nowhere{}, nil
		}
		return input{hc.Stdin}, nil
	case "/dev/tty":
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENXIO}
	}
	s.mu.Lock()
	mode &^= s.umask
	s.mu.Unlock()
	disk := s.proc.Host.o.Disk
	if flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		b, err := disk.ReadFile(name)
		if err != nil {
			return nil, readable(name, err)
		}
		return pipeOf(b)
	}
	how := lab.OpenWrite
	for bit, f := range map[int]int{os.O_CREATE: lab.OpenCreate, os.O_EXCL: lab.OpenExclusive, os.O_TRUNC: lab.OpenTruncate, os.O_APPEND: lab.OpenAppend} {
		if flag&bit != 0 {
			how |= f
		}
	}
	f, err := disk.OpenFile(name, how, mode)
	if err != nil {
		return nil, readable(name, err)
	}
	return f, nil
}

// readable is an error of the disk as the shell words it.
func readable(name string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return &fs.PathError{Op: "bash", Path: name, Err: errors.New(reason(err))}
	}
	return &fs.PathError{Op: "bash", Path: name, Err: err}
}

// reason is the text that a system's library has for an error.
func reason(err error) string {
	for _, e := range []struct {
		err  error
		text string
	}{
		{fs.ErrNotExist, "No such file or directory"},
		{fs.ErrExist, "File exists"},
		{fs.ErrPermission, "Permission denied"},
		{syscall.ENOSPC, "No space left on device"},
		{syscall.ENOTEMPTY, "Directory not empty"},
		{syscall.EISDIR, "Is a directory"},
		{syscall.ENOTDIR, "Not a directory"},
		{syscall.ELOOP, "Too many levels of symbolic links"},
		{syscall.EINVAL, "Invalid argument"},
		{syscall.EBUSY, "Device or resource busy"},
	} {
		if errors.Is(err, e.err) {
			return e.text
		}
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// pipeOf is a file that can be read once, and given to the interpreter as it is.
func pipeOf(b []byte) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	const fits = 4096 // in any pipe, without a reader
	if len(b) <= fits {
		_, err = w.Write(b)
		w.Close()
		return r, err
	}
	go func() {
		_, _ = w.Write(b) // ends when the reader is closed
		w.Close()
	}()
	return r, nil
}

// substituted keeps what a process substitution prints, and gives it once.
func (s *shell) substituted(key string, flag int) (io.ReadWriteCloser, error) {
	if flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		return &collector{s: s, key: key}, nil
	}
	return pipeOf(s.take(key))
}

// take is what a process substitution printed, or the next line of a descriptor.
func (s *shell) take(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if fd, ok := strings.CutPrefix(key, "fd"); ok {
		line, rest, found := bytes.Cut(s.lines[fd], []byte("\n"))
		s.lines[fd] = rest
		if found {
			line = append(slices.Clip(line), '\n')
		}
		return line
	}
	b := s.held[key]
	delete(s.held, key)
	return b
}

type collector struct {
	s   *shell
	key string
	mu  sync.Mutex
	b   bytes.Buffer
}

func (c *collector) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.Write(b)
}

func (c *collector) Read([]byte) (int, error) { return 0, io.EOF }

func (c *collector) Close() error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.held[c.key] = c.b.Bytes()
	return nil
}

type nowhere struct{}

func (nowhere) Read([]byte) (int, error) { return 0, io.EOF }

func (nowhere) Write(b []byte) (int, error) { return len(b), nil }

func (nowhere) Close() error { return nil }

type through struct{ io.Writer }

func (through) Read([]byte) (int, error) { return 0, io.EOF }

func (through) Close() error { return nil }

type input struct{ io.Reader }

func (input) Write([]byte) (int, error) { return 0, syscall.EBADF }

func (input) Close() error { return nil }

// device is a file of /dev.
type device string

func (d device) Name() string { return string(d) }

func (device) Size() int64 { return 0 }

func (device) Mode() fs.FileMode { return fs.ModeDevice | fs.ModeCharDevice | 0o666 }

func (device) ModTime() time.Time { return time.Time{} }

func (device) IsDir() bool { return false }

func (device) Sys() any { return nil }

// descriptor opens and closes what has a number above 2. Closing keeps the exit
// code of what came before.
func (s *shell) descriptor(_ context.Context, p *Proc, last int) int {
	if len(p.Args) == 2 && p.Args[0] == "close" {
		s.mu.Lock()
		name, open := s.files[p.Args[1]]
		delete(s.files, p.Args[1])
		s.mu.Unlock()
		if open {
			h := p.Host
			h.mu.Lock()
			h.unlock(name, s.pid)
			h.mu.Unlock()
		}
		return last
	}
	if len(p.Args) < 4 {
		return p.Fail("bash: ambiguous redirect")
	}
	name := p.abs(p.Args[3])
	how := lab.OpenRead
	var content []byte
	switch p.Args[2] {
	case "<":
		content, _ = p.read(p.Args[3]) // an error shows below
	case ">":
		how = lab.OpenWrite | lab.OpenCreate | lab.OpenTruncate
	case ">>", "<>":
		how = lab.OpenWrite | lab.OpenCreate
	}
	if name != os.DevNull && !strings.HasPrefix(name, substitute) {
		f, err := p.Host.o.Disk.OpenFile(name, how, 0o644)
		if err != nil {
			return p.Fail("bash: %s: %s", p.Args[3], reason(err))
		}
		_ = f.Close()
	}
	s.mu.Lock()
	s.files[p.Args[1]], s.lines[p.Args[1]] = name, content
	s.mu.Unlock()
	return 0
}

// file is the path that a number stands for.
func (s *shell) file(number string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, ok := s.files[number]
	return name, ok
}
