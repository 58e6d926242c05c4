package posix

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/rocec/rocec/deploy/lab"
)

// shell is one process of bash: what the interpreter does not keep of it.
type shell struct {
	pid   int
	proc  *Proc
	start time.Time

	mu    sync.Mutex
	files map[string]string // path by number, above 2
	lines map[string][]byte // what is left to read of those
	umask fs.FileMode
	held  map[string][]byte // what process substitutions printed
}

type shellKey struct{}

func shellOf(ctx context.Context) *shell {
	s, _ := ctx.Value(shellKey{}).(*shell)
	return s
}

// shell runs a script in a new process of bash.
func (h *Host) shell(ctx context.Context, p *Proc, name string, text []byte, params []string) int {
	f, err := h.o.Scripts.parse(name, text)
	if err != nil {
		p.errf("bash: %v\n", err)
		return 2
	}
	pid, ctx, done := h.begin(ctx, strings.Join(append([]string{name}, params...), " "))
	defer done()
	s := &shell{pid: pid, proc: p, start: h.o.Clock.Now(), files: map[string]string{}, lines: map[string][]byte{}, umask: 0o022, held: map[string][]byte{}}
	ctx = context.WithValue(ctx, shellKey{}, s)
	dir := p.Dir
	r, err := interp.New(
		interp.Env(environment{s, name}),
		interp.StdIO(p.Stdin, p.Stdout, p.Stderr),
		func(r *interp.Runner) error { r.Dir, r.Params = dir, params; return nil },
		interp.CallHandler(s.call),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return s.exec }),
		interp.OpenHandler(s.open),
		interp.ReadDirHandler2(func(_ context.Context, name string) ([]fs.DirEntry, error) {
			return h.o.Disk.ReadDir(s.name(dir, name))
		}),
		interp.StatHandler(func(_ context.Context, name string, follow bool) (fs.FileInfo, error) {
			if name == os.DevNull {
				return device("null"), nil
			}
			if follow {
				return h.o.Disk.Stat(name)
			}
			return h.o.Disk.Lstat(name)
		}),
		interp.AccessHandler(func(_ context.Context, name string, mode interp.AccessMode) error {
			if name == os.DevNull {
				return nil
			}
			info, err := h.o.Disk.Stat(name)
			if err != nil {
				if mode == interp.AccessExec && h.programAt(name) {
					return nil
				}
				return err
			}
			if mode == interp.AccessExec && !info.IsDir() && info.Mode()&0o111 == 0 {
				return fs.ErrPermission
			}
			return nil
		}),
	)
	if err != nil {
		p.errf("bash: %v\n", err)
		return 126
	}
	err = r.Run(ctx, f)
	var code interp.ExitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case ctx.Err() != nil:
		return 143 // as of a process that was ended by SIGTERM
	}
	p.errf("bash: %s: %v\n", name, err)
	return 1
}

// programAt tells whether a path is that of a program that is not on the disk.
func (h *Host) programAt(name string) bool {
	switch path.Dir(name) {
	case "/bin", "/sbin", "/usr/bin", "/usr/sbin":
		return h.o.Programs[path.Base(name)] != nil
	}
	return false
}

func (s *shell) name(dir, p string) string {
	if !path.IsAbs(p) {
		p = path.Join(dir, p)
	}
	return path.Clean(p)
}

// environment is what a shell starts with. SECONDS and the like follow the clock.
type environment struct {
	s      *shell
	script string
}

// Get looks a variable up.
func (e environment) Get(name string) expand.Variable {
	text := func(v string) expand.Variable { return expand.Variable{Set: true, Kind: expand.String, Str: v} }
	now := e.s.proc.Host.o.Clock.Now
	switch name {
	case pidVar, "BASHPID":
		return text(strconv.Itoa(e.s.pid))
	case "BASH_SOURCE":
		return expand.Variable{Set: true, Kind: expand.Indexed, List: []string{e.script}}
	case "BASH_VERSION":
		return text("5.2.15(1)-release")
	case "BASH":
		return text("/bin/bash")
	case "SECONDS":
		return text(strconv.Itoa(int(now().Sub(e.s.start) / time.Second)))
	case "EPOCHSECONDS":
		return text(strconv.FormatInt(now().Unix(), 10))
	case "HOSTNAME":
		return text(e.s.proc.Host.o.Name)
	case "UID", "EUID", "GID":
		id := "0"
		if e.s.proc.Env["USER"] != "" && e.s.proc.Env["USER"] != "root" {
			id = "1000"
		}
		return expand.Variable{Set: true, Kind: expand.String, Str: id, ReadOnly: true}
	case "TMPDIR":
		if e.s.proc.Env["TMPDIR"] == "" {
			return expand.Variable{}
		}
	}
	if v, ok := e.s.proc.Env[name]; ok {
		return expand.Variable{Set: true, Exported: true, Kind: expand.String, Str: v}
	}
	return expand.Variable{}
}

// Each yields what was exported.
func (e environment) Each(yield func(string, expand.Variable) bool) {
	for name, v := range e.s.proc.Env {
		if !yield(name, expand.Variable{Set: true, Exported: true, Kind: expand.String, Str: v}) {
			return
		}
	}
}

// call sends elsewhere what the interpreter's own commands do not do as bash does.
func (s *shell) call(_ context.Context, args []string) ([]string, error) {
	rest := args[1:]
	switch args[0] {
	case "printf":
		return append([]string{ownPrintf}, rest...), nil
	case "kill", "umask":
		return append([]string{"/.rocec/" + args[0]}, rest...), nil
	case "disown", "ulimit", "enable":
		return []string{ownTrue}, nil
	case "command", "type":
		if len(rest) > 0 && (rest[0] == "-v" && args[0] == "command" || rest[0] == "-P" || rest[0] == "-p" && args[0] == "type") {
			return append([]string{ownWhich}, rest[1:]...), nil
		}
		if args[0] == "command" && len(rest) > 0 && rest[0] == "-p" {
			return rest[1:], nil
		}
	case "cd":
		rest = slices.DeleteFunc(slices.Clone(rest), func(a string) bool { return a == "--" || a == "-P" || a == "-L" || a == "-e" })
		return append([]string{"cd"}, rest...), nil
	case "pwd":
		return []string{"pwd"}, nil
	case "trap":
		return trap(args), nil
	}
	return args, nil
}

// trap keeps of the signals those that can come: nobody sends others here.
func trap(args []string) []string {
	at := slices.IndexFunc(args[1:], func(a string) bool { return a != "--" })
	if at < 0 || strings.HasPrefix(args[1+at], "-") && args[1+at] != "-" {
		return args
	}
	kept := []string{"trap", "--", args[1+at]}
	for _, signal := range args[2+at:] {
		switch signal {
		case "EXIT", "0":
			kept = append(kept, "EXIT")
		case "ERR":
			kept = append(kept, signal)
		}
	}
	if len(kept) == 3 {
		return []string{ownTrue}
	}
	return kept
}

// exec runs what is neither a function nor a command of the shell.
func (s *shell) exec(ctx context.Context, args []string) error {
	hc := interp.HandlerCtx(ctx)
	env := map[string]string{}
	hc.Env.Each(func(name string, v expand.Variable) bool {
		if !v.Set || !v.Exported {
			delete(env, name)
		} else if v.Kind == expand.String {
			env[name] = v.Str
		}
		return true
	})
	p := &Proc{Host: s.proc.Host, Dir: hc.Dir, Env: env, Stdin: hc.Stdin, Stdout: hc.Stdout, Stderr: hc.Stderr, sh: s}
	code := 0
	if own, ok := strings.CutPrefix(args[0], "/.rocec/"); ok {
		p.Name, p.Args, p.PID = own, args[1:], s.pid
		if run := ownCommands()[own]; run != nil {
			code = run(ctx, p, hc.LastExitStatus)
		} else {
			p.errf("bash: %s: No such file or directory\n", args[0])
			code = 127
		}
	} else {
		code = p.exec(ctx, args)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if code != 0 {
		return interp.ExitStatus(uint8(code))
	}
	return nil
}

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

func (nowhere) Read([]byte) (int, error)    { return 0, io.EOF }
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) Close() error                { return nil }

type through struct{ io.Writer }

func (through) Read([]byte) (int, error) { return 0, io.EOF }
func (through) Close() error             { return nil }

type input struct{ io.Reader }

func (input) Write([]byte) (int, error) { return 0, syscall.EBADF }
func (input) Close() error              { return nil }

// device is a file of /dev.
type device string

func (d device) Name() string     { return string(d) }
func (device) Size() int64        { return 0 }
func (device) Mode() fs.FileMode  { return fs.ModeDevice | fs.ModeCharDevice | 0o666 }
func (device) ModTime() time.Time { return time.Time{} }
func (device) IsDir() bool        { return false }
func (device) Sys() any           { return nil }

// ownCommands are what the rewriting and call send here.
func ownCommands() map[string]func(ctx context.Context, p *Proc, last int) int {
	return map[string]func(ctx context.Context, p *Proc, last int) int{
		"true":      func(context.Context, *Proc, int) int { return 0 },
		"printf":    func(ctx context.Context, p *Proc, _ int) int { return printf(ctx, p) },
		"kill":      func(ctx context.Context, p *Proc, _ int) int { return kill(ctx, p) },
		"command-v": func(_ context.Context, p *Proc, _ int) int { return which(p) },
		"umask":     func(_ context.Context, p *Proc, _ int) int { return p.sh.setUmask(p) },
		"fd":        func(ctx context.Context, p *Proc, last int) int { return p.sh.descriptor(ctx, p, last) },
	}
}

func (s *shell) setUmask(p *Proc) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(p.Args) == 0 {
		p.outf("%04o\n", s.umask)
		return 0
	}
	n, err := strconv.ParseUint(p.Args[0], 8, 9)
	if err != nil {
		return p.Fail("bash: umask: %s: invalid octal number", p.Args[0])
	}
	s.umask = fs.FileMode(n)
	return 0
}

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

// which is command -v: a program's path.
func which(p *Proc) int {
	code := 1
	for _, name := range p.Args {
		if interp.IsBuiltin(name) {
			p.outf("%s\n", name)
			code = 0
			continue
		}
		if full, kind, _ := p.Host.find(p, name); kind > refused {
			p.outf("%s\n", full)
			code = 0
		}
	}
	return code
}

// kill ends processes of the machine; signal 0 asks whether there is one.
func kill(_ context.Context, p *Proc) int {
	ask, code := false, 0
	for i, a := range p.Args {
		if i == 0 && strings.HasPrefix(a, "-") {
			ask = a == "-0"
			continue
		}
		if a == "--" {
			continue
		}
		pid, err := strconv.Atoi(strings.TrimPrefix(a, "-"))
		h := p.Host
		h.mu.Lock()
		target, ok := h.procs[pid]
		h.mu.Unlock()
		switch {
		case err != nil || !ok:
			code = p.Fail("bash: kill: (%s) - No such process", a)
		case !ask:
			target.cancel()
		}
	}
	return code
}

// printf prints by a format: %s, %d, %i, %u, %x, %X, %o, %c, %b, %q, %(TIME)T.
func printf(_ context.Context, p *Proc) int {
	args := p.Args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		p.errf("printf: usage: printf [-v var] format [arguments]\n")
		return 2
	}
	format, args := args[0], args[1:]
	code := 0
	for {
		text, used, err := p.format(format, args)
		_, _ = io.WriteString(p.Stdout, text)
		if err != nil {
			code = p.Fail("bash: printf: %v", err)
		}
		if args = args[min(used, len(args)):]; len(args) == 0 || used == 0 {
			return code
		}
	}
}

func (p *Proc) format(format string, args []string) (text string, used int, failed error) {
	var b strings.Builder
	next := func() string {
		used++
		if used <= len(args) {
			return args[used-1]
		}
		return ""
	}
	for i := 0; i < len(format); i++ {
		switch format[i] {
		case '\\':
			s, n := escape(format[i:])
			b.WriteString(s)
			i += n - 1
		case '%':
			end := i + 1
			for end < len(format) && strings.IndexByte("-+ #0123456789.*", format[end]) >= 0 {
				end++
			}
			if end == len(format) {
				return b.String(), used, fmt.Errorf("`%s': missing format character", format[i:])
			}
			flags := format[i+1 : end]
			for strings.Contains(flags, "*") {
				flags = strings.Replace(flags, "*", next(), 1)
			}
			switch verb := format[end]; verb {
			case '%':
				b.WriteByte('%')
			case 's':
				fmt.Fprintf(&b, "%"+flags+"s", next())
			case 'c':
				if s := next(); s != "" {
					fmt.Fprintf(&b, "%"+flags+"s", s[:1])
				}
			case 'b':
				b.WriteString(escapes(next()))
			case 'q':
				q, err := syntax.Quote(next(), syntax.LangBash)
				if err != nil {
					failed = err
				}
				b.WriteString(q)
			case 'd', 'i', 'u', 'x', 'X', 'o':
				s := next()
				n, err := strconv.ParseInt(strings.TrimSpace(s), 0, 64)
				if err != nil && s != "" {
					failed = fmt.Errorf("%s: invalid number", s)
				}
				if verb == 'i' || verb == 'u' {
					verb = 'd'
				}
				fmt.Fprintf(&b, "%"+flags+string(verb), n)
			case '(':
				close := strings.Index(format[end:], ")T")
				if close < 0 {
					return b.String(), used, fmt.Errorf("`(': invalid format character")
				}
				at := p.Host.o.Clock.Now()
				if s := next(); s != "" && s != "-1" && s != "-2" {
					n, err := strconv.ParseInt(s, 10, 64)
					if err != nil {
						failed = fmt.Errorf("%s: invalid number", s)
					}
					at = time.Unix(n, 0)
				}
				b.WriteString(strftime(at.UTC(), format[end+1:end+close]))
				end += close + 1
			default:
				return b.String(), used, fmt.Errorf("`%c': invalid format character", verb)
			}
			i = end
		default:
			b.WriteByte(format[i])
		}
	}
	return b.String(), used, failed
}

// escape is the character that the start of s stands for, and its length there.
func escape(s string) (string, int) {
	if len(s) < 2 {
		return s, len(s)
	}
	if at := strings.IndexByte(`abfnrtve\"'`, s[1]); at >= 0 {
		return "\a\b\f\n\r\t\v\x1b\\\"'"[at : at+1], 2
	}
	digits := func(from, most int, set string) (string, int) {
		n := from
		for n < len(s) && n < from+most && strings.IndexByte(set, s[n]) >= 0 {
			n++
		}
		base := 8
		if len(set) > 8 {
			base = 16
		}
		v, err := strconv.ParseUint(s[from:n], base, 32)
		if err != nil {
			return s[:n], n
		}
		return string([]byte{byte(v)}), n
	}
	switch {
	case s[1] >= '0' && s[1] <= '7':
		return digits(1, 3, "01234567")
	case s[1] == 'x':
		return digits(2, 2, "0123456789abcdefABCDEF")
	}
	return s[:2], 2
}

func escapes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		text, n := escape(s[i:])
		b.WriteString(text)
		i += n
	}
	return b.String()
}
