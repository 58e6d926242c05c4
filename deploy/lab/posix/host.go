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
	"fmt"
	"io"
	"maps"
	"sync"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/rocec/rocec/deploy/lab"
)

// Program is what a command does; it returns the exit code.
type Program func(ctx context.Context, p *Proc) int

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
	Reload   func()                             // generators of units; run whenever systemd reads its files again; may be nil
	// Restarted is told of a unit of the system (Units.Fixed) that was restarted; may be nil.
	Restarted func(unit string)
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
	boots   int
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
	h.boots++
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
	from, boots := h.up, h.boots
	h.mu.Unlock()
	_ = disk.Special("/proc/uptime", 0o444, lab.Special{Read: func() ([]byte, error) {
		up := (h.o.Clock.Passed() - from).Seconds()
		return fmt.Appendf(nil, "%.2f %.2f\n", up, up*8), nil
	}})
	id := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", h.o.Name, booted.UnixNano(), boots))
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
	life := h.Life()
	alive, end := context.WithCancel(life)
	out, errs := &outlet{w: stdout, flooded: end}, &outlet{w: stderr, flooded: end}
	done := make(chan int, 1)
	home := "/root"
	if h.o.User != "root" {
		home = "/home/" + h.o.User
	}
	p := &Proc{
		Host: h, Name: "bash", Dir: home, Env: h.environ(), Stdin: stdin, Stdout: out, Stderr: errs,
	}
	p.Env["HOME"], p.Env["USER"], p.Env["LOGNAME"], p.Env["SHELL"] = home, h.o.User, h.o.User, "/bin/bash"
	// What it starts may outlive it, so that nothing but a flood or the machine ends alive.
	if !h.spawn(func() { done <- h.shell(alive, p, "bash", []byte(command), nil) }) {
		end()
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

// outlet is a writer that several may use, until it is shut. Who then goes on to print
// without end is ended: there is no SIGPIPE here.
type outlet struct {
	mu      sync.Mutex
	w       io.Writer
	unheard int    // bytes since it is shut
	flooded func() // may be nil
}

// mostUnheard is what a command may print to nobody.
const mostUnheard = 1 << 20

func (o *outlet) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.w == nil {
		if o.unheard += len(b); o.unheard > mostUnheard && o.flooded != nil {
			o.flooded()
		}
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
