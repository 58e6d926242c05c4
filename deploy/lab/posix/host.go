// Package posix is a simulated machine whose shell is bash, run in process by an
// interpreter, and whose programs are functions over a disk in memory. Scripts
// run as they are. It takes programs and units of systemd from the packages of
// the systems; a program that neither has fails as it does where it is not
// installed. Processes of other languages and the network are left out.
package posix

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/rocec/rocec/deploy/lab"
)

// Program is what a command does; it returns the exit code.
type Program func(ctx context.Context, p *Proc) int

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

// Options are what hosts differ in.
type Options struct {
	Name     string // of the machine
	Disk     *lab.Disk
	Clock    lab.Clock
	Programs map[string]Program
	User     string                             // who logs in; "" is root
	Faults   *lab.Faults                        // may be nil
	Scripts  *Scripts                           // shared between hosts; may be nil
	Changes  func(line string) bool             // whether a command changes settings: where faults strike
	Boot     func(ctx context.Context, h *Host) // after a start, before units
}

// Scripts keeps scripts that were parsed, by their content.
type Scripts struct {
	mu   sync.Mutex
	list map[[sha256.Size]byte]*syntax.File
}

// most is how many scripts are kept.
const most = 256

func (s *Scripts) parse(name string, text []byte) (*syntax.File, error) {
	if s == nil {
		return parse(name, text)
	}
	key := sha256.Sum256(append([]byte(name+"\x00"), text...))
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.list[key]; f != nil {
		return f, nil
	}
	f, err := parse(name, text)
	if err != nil {
		return nil, err
	}
	if s.list == nil || len(s.list) >= most {
		s.list = map[[sha256.Size]byte]*syntax.File{}
	}
	s.list[key] = f
	return f, nil
}

// Host is the machine. It is safe for concurrent use.
type Host struct {
	o     Options
	Units *Units

	mu      sync.Mutex
	life    context.Context
	end     context.CancelFunc
	running sync.WaitGroup
	closed  bool
	pid     int
	procs   map[int]proc
	locks   map[string]*lock
	booted  time.Time
	up      time.Duration // what the clock had passed then
}

type proc struct {
	cancel context.CancelFunc
	args   string
}

// NewHost starts a machine on a disk as it is.
func NewHost(o Options) *Host {
	if o.Clock == nil {
		o.Clock = lab.RealTime{}
	}
	if o.User == "" {
		o.User = "root"
	}
	all := maps.Clone(basic)
	maps.Copy(all, o.Programs)
	o.Programs = all
	h := &Host{o: o, pid: 400}
	h.Units = newUnits(h)
	for _, d := range []string{"/bin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/etc/systemd/system", "/root", "/var/lib", "/var/log", "/var/tmp", "/dev", "/home"} {
		_ = o.Disk.MkdirAll(d, 0o755)
	}
	for _, d := range []string{"/tmp", "/run/lock"} {
		_ = o.Disk.MkdirAll(d, 0o777)
	}
	if o.User != "root" {
		_ = o.Disk.MkdirAll("/home/"+o.User, 0o755)
	}
	h.start()
	return h
}

// Disk holds the files.
func (h *Host) Disk() *lab.Disk { return h.o.Disk }

// Clock is the time of the machine.
func (h *Host) Clock() lab.Clock { return h.o.Clock }

// Name is the machine's host name.
func (h *Host) Name() string { return h.o.Name }

// Booted is when the machine was started last.
func (h *Host) Booted() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.booted
}

func (h *Host) start() {
	h.mu.Lock()
	h.life, h.end = context.WithCancel(context.Background())
	h.procs, h.locks = map[int]proc{}, map[string]*lock{}
	h.booted, h.up = h.o.Clock.Now(), h.o.Clock.Passed()
	life := h.life
	h.mu.Unlock()
	for _, d := range []string{"/tmp", "/run/lock", "/run/systemd/system"} {
		_ = h.o.Disk.MkdirAll(d, 0o777)
	}
	h.kernelFiles()
	if h.o.Boot != nil {
		h.o.Boot(life, h)
	}
	h.Units.boot(life)
}

// kernelFiles are those of /proc that tell of the start.
func (h *Host) kernelFiles() {
	booted, disk := h.Booted(), h.o.Disk
	h.mu.Lock()
	from := h.up
	h.mu.Unlock()
	_ = disk.Special("/proc/uptime", 0o444, lab.Special{Read: func() ([]byte, error) {
		up := (h.o.Clock.Passed() - from).Seconds()
		return fmt.Appendf(nil, "%.2f %.2f\n", up, up*8), nil
	}})
	id := sha256.Sum256(fmt.Appendf(nil, "%s %d", h.o.Name, booted.UnixNano()+int64(from)))
	_ = disk.Special("/proc/sys/kernel/random/boot_id", 0o444, lab.Special{Read: func() ([]byte, error) {
		return fmt.Appendf(nil, "%x-%x-%x-%x-%x\n", id[:4], id[4:6], id[6:8], id[8:10], id[10:16]), nil
	}})
}

// stop ends all processes, and returns when they have ended.
func (h *Host) stop() {
	h.mu.Lock()
	h.end()
	h.mu.Unlock()
	h.Units.stop()
	h.running.Wait()
}

// Reboot is a loss of power and the start after it.
func (h *Host) Reboot() {
	h.mu.Lock()
	closed := h.closed
	h.mu.Unlock()
	if closed {
		return
	}
	h.stop()
	h.o.Disk.PowerCut()
	h.start()
}

// Close stops the machine.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.stop()
	return nil
}

// Life ends when the machine loses power.
func (h *Host) Life() context.Context {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.life
}

// Exec runs a command line in a shell of its own, as sshd does for the user. When
// ctx ends it returns; what runs goes on without anyone who reads its output, as
// under sshd without a terminal.
func (h *Host) Exec(ctx context.Context, command string, stdin io.Reader, stdout, stderr io.Writer) int {
	out, errs := &outlet{w: stdout}, &outlet{w: stderr}
	done := make(chan int, 1)
	life := h.Life()
	home := "/root"
	if h.o.User != "root" {
		home = "/home/" + h.o.User
	}
	p := &Proc{
		Host: h, Name: "bash", Dir: home, Env: h.environ(), Stdin: stdin, Stdout: out, Stderr: errs,
	}
	p.Env["HOME"], p.Env["USER"], p.Env["LOGNAME"], p.Env["SHELL"] = home, h.o.User, h.o.User, "/bin/bash"
	if !h.spawn(func() { done <- h.shell(life, p, "bash", []byte(command), nil) }) {
		return 255
	}
	select {
	case code := <-done:
		out.shut()
		errs.shut()
		if life.Err() != nil {
			return -1
		}
		return code
	case <-ctx.Done():
		out.shut()
		errs.shut()
		return -1
	case <-life.Done():
		out.shut()
		errs.shut()
		return -1
	}
}

// spawn runs f until the machine stops; it is false when it has stopped already.
func (h *Host) spawn(f func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.life.Err() != nil {
		return false
	}
	h.running.Go(f)
	return true
}

func (h *Host) environ() map[string]string {
	return map[string]string{"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
}

// outlet is a writer that several may use, until it is shut.
type outlet struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *outlet) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.w == nil {
		return len(b), nil
	}
	return o.w.Write(b)
}

func (o *outlet) shut() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.w = nil
}

// Run runs a program by its arguments in the environment of a start of the
// machine, and returns what it printed.
func (h *Host) Run(ctx context.Context, args ...string) (out string, code int) {
	var b bytes.Buffer
	w := &outlet{w: &b}
	p := &Proc{Host: h, Dir: "/", Env: h.environ(), Stdout: w, Stderr: w}
	code = p.exec(ctx, args)
	w.shut()
	return b.String(), code
}

// Exec runs another program as a child: with the same folder, environment and files.
func (p *Proc) Exec(ctx context.Context, args ...string) int {
	c := *p
	return c.exec(ctx, args)
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
	if !path.IsAbs(name) {
		name = path.Join(p.Dir, name)
	}
	return path.Clean(name)
}

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

// lock is one of flock(2).
type lock struct {
	owner map[int]bool // processes; several share it
	alone bool
	free  chan struct{} // closed when it may be free
}

// release gives back the locks of a process, with the machine's mutex held.
func (h *Host) release(pid int) {
	for name, l := range h.locks {
		if l.owner[pid] {
			h.unlock(name, pid)
		}
	}
}

func (h *Host) unlock(name string, pid int) {
	l := h.locks[name]
	if l == nil || !l.owner[pid] {
		return
	}
	delete(l.owner, pid)
	close(l.free)
	l.free = make(chan struct{})
	if len(l.owner) == 0 {
		delete(h.locks, name)
	}
}

var errLocked = errors.New("locked")

// lock takes the lock of a file for a process, and waits at most so long, for
// ever when wait is negative.
func (h *Host) lock(ctx context.Context, name string, pid int, shared bool, wait time.Duration) error {
	deadline := make(chan struct{})
	if wait > 0 {
		defer h.o.Clock.AfterFunc(wait, func() { close(deadline) })()
	}
	for {
		h.mu.Lock()
		l := h.locks[name]
		if l == nil {
			l = &lock{owner: map[int]bool{}, free: make(chan struct{})}
			h.locks[name] = l
		}
		others := len(l.owner)
		if l.owner[pid] {
			others--
		}
		if others == 0 || shared && !l.alone {
			l.owner[pid], l.alone = true, !shared
			h.mu.Unlock()
			return nil
		}
		free := l.free
		h.mu.Unlock()
		if wait == 0 {
			return errLocked
		}
		select {
		case <-free:
		case <-deadline:
			return errLocked
		case <-ctx.Done():
			return ctx.Err()
		}
	}
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
