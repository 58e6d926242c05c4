package posix

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
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

// shell runs a script in a new process of bash. What the interpreter cannot bear
// ends that process alone.
func (h *Host) shell(ctx context.Context, p *Proc, name string, text []byte, params []string) (code int) {
	defer func() {
		if broken := recover(); broken != nil {
			p.errf("bash: %s: the simulated shell cannot run this: %v\n", name, broken)
			code = 2
		}
	}()
	f, err := h.o.Scripts.parse(name, text)
	if err != nil {
		p.errf("bash: %v\n", err)
		return 2
	}
	pid, ctx, done := h.begin(ctx, strings.Join(append([]string{name}, params...), " "))
	defer done()
	s := &shell{pid: pid, proc: p, start: h.o.Clock.Now(), files: map[string]string{}, lines: map[string][]byte{}, umask: 0o022, held: map[string][]byte{}}
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
	var status interp.ExitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
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
func (s *shell) call(ctx context.Context, args []string) ([]string, error) {
	rest := args[1:]
	switch args[0] {
	case "echo", "printf":
		return s.print(ctx, args[0], rest), nil
	case "read":
		return s.read(ctx, args), nil
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
	case "[", "test":
		if text, bad := noNumber(rest); bad {
			return []string{ownNumber, args[0], text}, nil
		}
	}
	return args, nil
}

// print does what echo and printf do, and returns what is left to do. Who prints into a
// pipe from which nobody reads any more ends, as by SIGPIPE: the interpreter would go on.
func (s *shell) print(ctx context.Context, name string, args []string) []string {
	hc := interp.HandlerCtx(ctx)
	p := s.process(&hc)
	var text bytes.Buffer
	p.Args, p.Stdout = args, &text
	say := printf
	if name == "echo" {
		say = echo
	}
	code := say(ctx, p)
	if text.Len() > 0 {
		if _, err := hc.Stdout.Write(text.Bytes()); err != nil {
			if _, pipe := hc.Stdout.(*os.File); pipe {
				return []string{"exit", "141"} // 128 and the number of SIGPIPE
			}
			code = p.Fail("bash: %s: write error: %v", name, err)
		}
	}
	if code == 0 {
		return []string{"true"}
	}
	return []string{ownStatus, strconv.Itoa(code)}
}

// echo prints its arguments, of which the first ones may be options, in one word or in
// several.
func echo(_ context.Context, p *Proc) int {
	args, newline, expands := p.Args, "\n", false
	for len(args) > 0 && len(args[0]) > 1 && strings.Trim(args[0][1:], "neE") == "" && args[0][0] == '-' {
		for _, option := range args[0][1:] {
			switch option {
			case 'n':
				newline = ""
			default:
				expands = option == 'e'
			}
		}
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if expands {
		text = escapes(text)
	}
	p.outf("%s%s", text, newline)
	return 0
}

var integer = regexp.MustCompile(`^\s*[+-]?[0-9]+\s*$`)

// noNumber finds what a test compares as a number and is none: to the interpreter
// it is 0, to bash a mistake.
func noNumber(args []string) (text string, bad bool) {
	for i := 1; i+1 < len(args); i++ {
		switch args[i] {
		case "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
			for _, operand := range []string{args[i-1], args[i+1]} {
				if !integer.MatchString(operand) {
					return operand, true
				}
			}
		}
	}
	return "", false
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
	p := s.process(&hc)
	hc.Env.Each(func(name string, v expand.Variable) bool {
		if !v.Set || !v.Exported {
			delete(p.Env, name)
		} else if v.Kind == expand.String {
			p.Env[name] = v.Str
		}
		return true
	})
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

// process is one that the shell starts where the interpreter is now, without anything
// in its environment.
func (s *shell) process(hc *interp.HandlerContext) *Proc {
	return &Proc{Host: s.proc.Host, Dir: hc.Dir, Env: map[string]string{}, Stdin: hc.Stdin, Stdout: hc.Stdout, Stderr: hc.Stderr, sh: s}
}

// ownCommands are what the rewriting and call send here.
func ownCommands() map[string]func(ctx context.Context, p *Proc, last int) int {
	return map[string]func(ctx context.Context, p *Proc, last int) int{
		"quote": func(_ context.Context, p *Proc, _ int) int {
			p.outf("%s", regexp.QuoteMeta(strings.Join(p.Args, " ")))
			return 0
		},
		"true": func(context.Context, *Proc, int) int { return 0 },
		"status": func(_ context.Context, p *Proc, _ int) int {
			code, _ := strconv.Atoi(p.Args[0])
			return code
		},
		"number": func(_ context.Context, p *Proc, _ int) int {
			p.errf("bash: %s: %s: integer expression expected\n", p.Args[0], p.Args[1])
			return 2
		},
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
