package windows

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/powershell"
)

// home is the folder that a login begins in.
const home = `C:\Users\Administrator`

// Machine is a simulated host with its files, its task scheduler and its clock.
// One process of PowerShell runs at a time; others run while it sleeps.
type Machine struct {
	host   *Host
	disk   *lab.Disk
	clock  lab.Clock
	faults *lab.Faults
	texts  *powershell.Scripts

	turn chan struct{} // held by the process that runs

	mu     sync.Mutex
	power  context.Context // ends with the power
	cut    context.CancelFunc
	start  time.Duration // of Windows, by clock.Passed
	fresh  bool          // Windows has started since the last process
	offset time.Duration // of the clock on the wall
	tasks  map[string]*task
	ended  chan struct{} // closed, and made anew, when a task ends
	locked map[string]bool
	busy   map[string]int    // how often a file, in lower case, is not replaced yet
	owners map[string]string // SID by folder in lower case; others are the administrators'
	access map[string]string // security descriptors that were set
	user   bool              // the login is no administrator

	watch func(step string)
}

// Watch calls f before each step that changes something: a cmdlet, by its name in
// lower case, a write to the disk ("write C:\...", "rename C:\...") or a task that
// starts ("start rocec-live-..."). What f does to the machine happens before the step.
func (m *Machine) Watch(f func(step string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watch = f
}

func (m *Machine) step(what string) {
	m.mu.Lock()
	watch := m.watch
	m.mu.Unlock()
	if watch != nil { // which may ask the machine
		watch(what)
	}
}

// newMachine starts a host.
func newMachine(h *Host, e lab.Environment, texts *powershell.Scripts) *Machine {
	m := &Machine{
		host: h, clock: e.Clock, faults: e.Faults, texts: texts, turn: make(chan struct{}, 1),
		tasks: map[string]*task{}, ended: make(chan struct{}), locked: map[string]bool{}, busy: map[string]int{}, owners: map[string]string{}, access: map[string]string{},
	}
	h.Dropped = func(counter string) uint64 { return m.faults.Count(lab.FaultDrops, counter) }
	if m.clock == nil {
		m.clock = lab.RealTime{}
	}
	m.disk = lab.NewDisk(lab.DiskOptions{Fold: true, Now: m.now})
	for _, dir := range []string{home, `C:\ProgramData`, `C:\Windows\System32\WindowsPowerShell\v1.0`} {
		_ = m.disk.MkdirAll(slash(dir), 0o755) // the disk is empty and has room
	}
	m.boot()
	return m
}

// slash is a path of Windows as the disk and SFTP have it.
func slash(p string) string { return "/" + strings.ReplaceAll(p, `\`, "/") }

// Disk holds the files.
func (m *Machine) Disk() *lab.Disk { return m.disk }

// Host is the state that Windows keeps. It may be read and changed while no
// process runs.
func (m *Machine) Host() *Host { return m.host }

// Do lets somebody else change the host, between the processes that run.
func (m *Machine) Do(f func(*Host)) {
	m.turn <- struct{}{}
	defer func() { <-m.turn }()
	f(m.host)
}

// SetClock sets the clock on the wall, as an administrator does.
func (m *Machine) SetClock(to time.Time) {
	m.mu.Lock()
	m.offset = to.Sub(m.clock.Now())
	m.mu.Unlock()
	m.plan()
}

func (m *Machine) now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wall()
}

// wall is now with the mutex held.
func (m *Machine) wall() time.Time { return m.clock.Now().Add(m.offset) }

// ticks are the milliseconds since Windows started, as Environment.TickCount has
// them: 32 bits with a sign.
func (m *Machine) ticks() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int64(int32((m.clock.Passed() - m.start).Milliseconds()))
}

// Reboot is a loss of power. Registry, tasks and files stay; processes and
// sessions end, and what adapters had taken from their drivers is read again.
func (m *Machine) Reboot() {
	m.mu.Lock()
	m.cut()
	for _, t := range m.tasks {
		t.running = nil
		t.unplan()
	}
	m.locked = map[string]bool{}
	m.mu.Unlock()
	m.disk.PowerCut()
	m.boot()
}

func (m *Machine) boot() {
	m.mu.Lock()
	m.power, m.cut = context.WithCancel(context.Background())
	m.start, m.fresh = m.clock.Passed(), true
	var first []*task
	for _, t := range m.tasks {
		if t.atStartup() {
			first = append(first, t)
		}
	}
	for _, t := range first {
		m.launch(t)
	}
	m.mu.Unlock()
	m.plan()
}

// Close ends what runs.
func (m *Machine) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cut()
	for _, t := range m.tasks {
		t.unplan()
	}
	return nil
}

// process is one powershell.exe and what it starts.
type process struct {
	m      *Machine
	login  context.Context // ends with the session, or with the task
	ctx    context.Context // ends with login and with the power
	cancel func()
	r      *powershell.Runner
	system bool
	out    func(line string)
	err    func(line string)
}

// run waits for its turn and runs powershell.exe with arguments.
func (m *Machine) run(login context.Context, args []string, dir string, system bool, stdout, stderr io.Writer) int {
	m.mu.Lock()
	ctx, cancel := context.WithCancel(m.power)
	m.mu.Unlock()
	defer cancel()
	defer context.AfterFunc(login, cancel)()
	select {
	case m.turn <- struct{}{}:
	case <-ctx.Done():
		return 1
	}
	defer func() { <-m.turn }()
	m.mu.Lock()
	if m.fresh {
		m.fresh = false
		m.host.started(m.wall().Add(m.start - m.clock.Passed()))
	}
	m.mu.Unlock()
	p := &process{m: m, login: login, ctx: ctx, cancel: cancel, system: system, out: lines(stdout), err: lines(stderr)}
	return p.shell(args, dir)
}

// lines writes lines as Windows ends them; what cannot be written is lost.
func lines(w io.Writer) func(string) {
	return func(line string) { _, _ = io.WriteString(w, line+"\r\n") }
}

// started is what a start of Windows changes: drivers read their settings again.
func (h *Host) started(at time.Time) {
	h.Boot = at.Unix()
	for _, n := range h.NICs {
		if !n.Virtual {
			n.restarted()
		}
	}
}

// alive ends the process here where the session or the power is gone.
func (p *process) alive() {
	if p.login.Err() != nil {
		p.cancel()
	}
	p.r.Killed()
}

// sleep lets others have their turn. Where tasks run it ends when one of them has
// ended: what polls for that is not held up by a clock that stands still.
func (p *process) sleep(ctx context.Context, d time.Duration) error {
	p.m.mu.Lock()
	var ended chan struct{}
	for _, t := range p.m.tasks {
		if t.running != nil {
			ended = p.m.ended
		}
	}
	p.m.mu.Unlock()
	return p.wait(ctx, d, ended)
}

// wait lets others have their turn until d has passed, or early is closed.
func (p *process) wait(ctx context.Context, d time.Duration, early <-chan struct{}) error {
	<-p.m.turn
	over := make(chan struct{})
	stop := p.m.clock.AfterFunc(d, func() { close(over) })
	select {
	case <-over:
	case <-early:
	case <-ctx.Done():
	}
	stop()
	p.m.turn <- struct{}{} // whoever holds it gives it back
	return ctx.Err()
}

// files are the disk as one process sees it.
type files struct{ p *process }

func (f files) touch(what string) {
	f.p.m.step(what)
	f.p.alive()
}

// ReadFile is of powershell.Files.
func (f files) ReadFile(name string) ([]byte, error) { return f.p.m.disk.ReadFile(slash(name)) }

// WriteFile is of powershell.Files. What did not fit leaves a file cut short.
func (f files) WriteFile(name string, data []byte) error {
	f.touch("write " + name)
	return f.p.m.disk.WriteFile(slash(name), data, 0o644)
}

// MkdirAll is of powershell.Files.
func (f files) MkdirAll(name string) error {
	f.touch("mkdir " + name)
	return f.p.m.disk.MkdirAll(slash(name), 0o755)
}

// Remove is of powershell.Files.
func (f files) Remove(name string) error {
	f.touch("remove " + name)
	return f.p.m.disk.Remove(slash(name))
}

// RemoveAll is of powershell.Trees.
func (f files) RemoveAll(name string) error {
	f.touch("remove " + name)
	return f.p.m.disk.RemoveAll(slash(name))
}

// Busy lets somebody have a file open whenever it is to be renamed or replaced,
// the next so many times.
func (m *Machine) Busy(path string, times int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy[strings.ToLower(path)] = times
}

// held reports whether somebody has a file open now.
func (m *Machine) held(path string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := strings.ToLower(path)
	if m.busy[key] == 0 {
		return false
	}
	m.busy[key]--
	return true
}

// Rename is of powershell.Files.
func (f files) Rename(from, to string) error {
	f.touch("rename " + from)
	if f.p.m.held(from) {
		return errors.New("the process cannot access the file because it is being used by another process")
	}
	return f.p.m.disk.Rename(slash(from), slash(to))
}

// Stat is of powershell.Files.
func (f files) Stat(name string) (dir, there bool) {
	info, err := f.p.m.disk.Stat(slash(name))
	return err == nil && info.IsDir(), err == nil
}

// List is of powershell.Files.
func (f files) List(name string) (names []string, err error) {
	list, err := f.p.m.disk.ReadDir(slash(name))
	for _, e := range list {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Lock is of powershell.Locker.
func (f files) Lock(name string) (func(), error) {
	m, key := f.p.m, strings.ToLower(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locked[key] {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	m.locked[key] = true
	power := m.power
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.power == power { // else the power took it
			delete(m.locked, key)
		}
	}, nil
}

// base is the name of a program without its folder and ending, in lower case.
func base(program string) string {
	name := path.Base(strings.ReplaceAll(strings.Trim(program, `"`), `\`, "/"))
	return strings.TrimSuffix(strings.ToLower(name), ".exe")
}
