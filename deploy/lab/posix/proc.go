package posix

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/rocec/rocec/deploy/lab"
)

// Proc is one run of a program.
type Proc struct {
	Host           *Host
	Args           []string // without the program's name
	Name           string   // as it was called
	Dir            string
	Env            map[string]string
	Stdin          io.Reader // may be nil
	Stdout, Stderr io.Writer
	PID            int
	sh             *shell // that started it; nil for none
}

// Output runs another program and returns what it printed.
func (p *Proc) Output(ctx context.Context, args ...string) (string, int) {
	var b bytes.Buffer
	c := *p
	c.Stdout = &b
	code := c.exec(ctx, args)
	return b.String(), code
}

// exec finds a program and runs it as p.
func (p *Proc) exec(ctx context.Context, args []string) int {
	h := p.Host
	if ctx.Err() != nil {
		return 255
	}
	name, kind, text := h.find(p, args[0])
	switch kind {
	case nothing:
		if strings.Contains(args[0], "/") {
			p.errf("bash: %s: No such file or directory\n", args[0])
		} else {
			p.errf("bash: %s: command not found\n", args[0])
		}
		return 127
	case refused:
		p.errf("bash: %s: Permission denied\n", args[0])
		return 126
	}
	p.Name, p.Args = path.Base(name), args[1:]
	line := strings.Join(append([]string{p.Name}, p.Args...), " ")
	pid, ctx, done := h.begin(ctx, line)
	defer done()
	p.PID = pid
	if code, struck := h.strike(ctx, p, line); struck {
		return code
	}
	if kind == script {
		return p.script(ctx, name, text)
	}
	return h.o.Programs[p.Name](ctx, p)
}

// strike lets a fault happen to a command that changes settings.
func (h *Host) strike(ctx context.Context, p *Proc, line string) (int, bool) {
	if h.o.Faults == nil {
		return 0, false
	}
	if h.o.Changes == nil || !h.o.Changes(line) {
		return 0, false
	}
	f, ok := h.o.Faults.Next(lab.Inside, line)
	if !ok {
		return 0, false
	}
	switch f.Kind {
	case lab.FaultRefuse:
		p.errf("%s: simulated refusal\n", p.Name)
		return 1, true
	case lab.FaultLie:
		return 0, true
	case lab.FaultStall:
		_ = lab.Sleep(ctx, h.o.Clock, f.Delay)
	case lab.FaultReboot:
		go h.Reboot()
		<-ctx.Done()
		return 255, true
	}
	return 0, false
}

// begin notes a process.
func (h *Host) begin(ctx context.Context, line string) (int, context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pid++
	pid := h.pid
	h.procs[pid] = proc{cancel, line}
	return pid, ctx, func() {
		cancel()
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.procs, pid)
		h.release(pid)
	}
}

// what find found.
const (
	nothing = iota
	refused
	builtIn
	script
)

// find looks a program up: by its path, else in the folders of PATH. Programs of
// the machine lie in /usr/bin, /usr/sbin, /bin and /sbin.
func (h *Host) find(p *Proc, name string) (full string, kind int, text []byte) {
	look := func(full string) (int, []byte) {
		if info, err := h.o.Disk.Stat(full); err == nil && !info.IsDir() {
			if info.Mode()&0o111 == 0 {
				return refused, nil
			}
			text, err := h.o.Disk.ReadFile(full)
			if err != nil {
				return refused, nil
			}
			return script, text
		}
		switch path.Dir(full) {
		case "/bin", "/sbin", "/usr/bin", "/usr/sbin":
			if h.o.Programs[path.Base(full)] != nil {
				return builtIn, nil
			}
		}
		return nothing, nil
	}
	if strings.Contains(name, "/") {
		full = p.abs(name)
		kind, text = look(full)
		return full, kind, text
	}
	for dir := range strings.SplitSeq(p.Env["PATH"], ":") {
		if !path.IsAbs(dir) {
			continue
		}
		full = path.Join(dir, name)
		if kind, text = look(full); kind > refused {
			return full, kind, text
		}
	}
	return name, nothing, nil
}

// script runs a file that is executable.
func (p *Proc) script(ctx context.Context, name string, text []byte) int {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	words := strings.Fields(strings.TrimPrefix(string(line), "#!"))
	if !bytes.HasPrefix(line, []byte("#!")) || len(words) == 0 {
		words = []string{"/bin/sh"}
	}
	if path.Base(words[0]) == "env" && len(words) > 1 {
		words = words[1:]
	}
	switch base := path.Base(words[0]); base {
	case "bash", "sh", "dash":
		return p.Host.shell(ctx, p, name, text, p.Args)
	default:
		if p.Host.o.Programs[base] == nil {
			p.errf("bash: %s: %s: bad interpreter: No such file or directory\n", name, words[0])
			return 126
		}
		c := *p
		return c.exec(ctx, slices.Concat([]string{base}, words[1:], []string{name}, p.Args))
	}
}

func (p *Proc) abs(name string) string {
	if name == "" {
		return noFile
	}
	if !path.IsAbs(name) {
		name = path.Join(p.Dir, name)
	}
	return path.Clean(name)
}

// noFile is what an empty name stands for: nothing is there, and nothing can be.
const noFile = "/proc/.rocec/none"

// Path is the whole path of a file that the program was told of.
func (p *Proc) Path(name string) string { return p.abs(name) }

func (p *Proc) errf(format string, args ...any) { fmt.Fprintf(p.Stderr, format, args...) }

func (p *Proc) outf(format string, args ...any) { fmt.Fprintf(p.Stdout, format, args...) }

// Printf writes to standard output.
func (p *Proc) Printf(format string, args ...any) { p.outf(format, args...) }

// Fail writes a line to standard error and returns 1.
func (p *Proc) Fail(format string, args ...any) int {
	p.errf(format+"\n", args...)
	return 1
}

// File is the content of a file that an argument names, be it what a process
// substitution printed; false where there is none.
func (p *Proc) File(name string) ([]byte, bool) {
	if name == "" || strings.HasPrefix(name, "-") {
		return nil, false
	}
	if key, ok := strings.CutPrefix(name, substitute); ok && p.sh != nil {
		return p.sh.take(key), true
	}
	b, err := p.Host.o.Disk.ReadFile(p.abs(name))
	return b, err == nil
}
