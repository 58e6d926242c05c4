package posix

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// Units is the part of systemd that is simulated: services and timers, what is
// enabled, and what a boot starts.
type Units struct {
	h *Host

	mu     sync.Mutex
	states map[string]*unitState
	fixed  map[string]bool // units that the system has, without a file, and whether they are active
	log    map[string][]string
}

type unitState struct {
	active string // "active", "activating", "inactive", "failed"
	result string // "success", "exit-code"
	code   int
	cancel context.CancelFunc
	done   chan struct{}
	stop   func() bool   // of a timer
	next   time.Time     // of a timer, by the clock on the wall
	due    time.Duration // the same by the time that passes
	mono   bool          // due counts, not next
	starts string        // what a timer starts
	again  time.Duration // after that has ended; 0 = not
	since  time.Time
}

func newUnits(h *Host) *Units {
	return &Units{h: h, states: map[string]*unitState{}, fixed: map[string]bool{}, log: map[string][]string{}}
}

// Fixed adds a unit that comes with the system and does nothing here.
func (u *Units) Fixed(name string, active bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.fixed[name] = active
}

// boot starts what is enabled: what targets want, and what devices that are there want.
func (u *Units) boot(life context.Context) {
	for _, target := range []string{"sysinit.target", "basic.target", "network.target", "network-online.target", "multi-user.target", "timers.target"} {
		u.startWanted(life, target)
	}
	list, _ := u.h.o.Disk.ReadDir("/etc/systemd/system")
	for _, e := range list {
		device, ok := strings.CutSuffix(e.Name(), ".device.wants")
		if !ok {
			continue
		}
		name := unescape(device)
		if _, err := u.h.o.Disk.Stat("/" + strings.Replace(name, "sys/subsystem/net/devices/", "sys/class/net/", 1)); err == nil {
			u.startWanted(life, device+".device")
		}
	}
}

func (u *Units) startWanted(life context.Context, target string) {
	for _, dir := range unitFolders {
		list, err := u.h.o.Disk.ReadDir(path.Join(dir, target+".wants"))
		if err != nil {
			continue
		}
		for _, e := range list {
			name := e.Name()
			if path.Ext(name) == ".timer" { // which counts from now
				_ = u.Start(life, name, false)
				continue
			}
			u.h.spawn(func() { _ = u.Start(life, name, true) })
		}
	}
}

// stop forgets timers and states, as a loss of power does.
func (u *Units) stop() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, s := range u.states {
		if s.stop != nil {
			s.stop()
		}
		if s.cancel != nil {
			s.cancel()
		}
	}
	u.states, u.log = map[string]*unitState{}, map[string][]string{}
}

var (
	errNoUnit = errors.New("not found")
	errFailed = errors.New("failed")
)

func (u *Units) state(name string) *unitState {
	s := u.states[name]
	if s == nil {
		s = &unitState{active: "inactive", result: "success"}
		u.states[name] = s
	}
	return s
}

// Start starts a unit, and waits, where wait says so, until it has started: a
// oneshot service until it has ended.
func (u *Units) Start(ctx context.Context, name string, wait bool) error {
	if path.Ext(name) == "" {
		name += ".service"
	}
	if _, masked := u.masked(name); masked {
		return fmt.Errorf("unit %s is masked", name)
	}
	f, ok := u.load(name)
	if !ok {
		u.mu.Lock()
		defer u.mu.Unlock()
		if _, ok := u.fixed[name]; ok {
			u.fixed[name] = true
			return nil
		}
		return errNoUnit
	}
	if path.Ext(name) == ".timer" {
		return u.startTimer(f)
	}
	if err := f.unknown(); err != nil {
		return err
	}
	for _, c := range f.values["Unit.ConditionPathExists"] {
		_, err := u.h.o.Disk.Stat(strings.TrimPrefix(c, "!"))
		if (err == nil) == strings.HasPrefix(c, "!") {
			return nil
		}
	}
	u.mu.Lock()
	s := u.state(name)
	if s.active == "active" || s.active == "activating" {
		done := s.done
		u.mu.Unlock()
		if s.active == "activating" && wait {
			select {
			case <-done:
				return u.outcome(s)
			case <-ctx.Done():
			}
		}
		return nil
	}
	life, cancel := context.WithCancel(u.h.Life())
	done := make(chan struct{})
	oneshot := f.last("Service.Type") == "oneshot"
	s.active, s.cancel, s.done, s.since = "active", cancel, done, u.h.o.Clock.Now()
	if oneshot {
		s.active = "activating"
	}
	u.mu.Unlock()
	if !u.h.spawn(func() { u.serve(life, f, s) }) {
		cancel()
		close(done)
		return errFailed
	}
	if !oneshot || !wait {
		return nil
	}
	select {
	case <-done:
	case <-ctx.Done():
		return ctx.Err()
	}
	return u.outcome(s)
}

// serve runs the commands of a service, as long as it may take to start, and notes
// how that ended.
func (u *Units) serve(life context.Context, f *unitFile, s *unitState) {
	defer s.cancel()
	late := false
	if limit, err := span(f.last("Service.TimeoutStartSec")); f.last("Service.Type") == "oneshot" && err == nil && limit > 0 {
		defer u.h.o.Clock.AfterFunc(limit, func() {
			u.mu.Lock()
			late = true
			u.mu.Unlock()
			s.cancel()
		})()
	}
	code := u.run(life, f, "Service.ExecStart")
	u.mu.Lock()
	if u.states[f.name] == s {
		s.active, s.code, s.result = "inactive", code, "success"
		switch {
		case late:
			s.active, s.result = "failed", "timeout"
		case code != 0:
			s.active, s.result = "failed", "exit-code"
		case f.yes("Service.RemainAfterExit"):
			s.active = "active"
		}
	}
	u.mu.Unlock()
	close(s.done)
	u.ended(f.name)
}

// outcome is how the start of a unit ended.
func (u *Units) outcome(s *unitState) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if s.active == "failed" {
		return errFailed
	}
	return nil
}

// run runs the commands of a service one after the other.
func (u *Units) run(ctx context.Context, f *unitFile, key string) int {
	for _, line := range f.values[key] {
		ignore := strings.HasPrefix(line, "-")
		args, err := words(strings.TrimLeft(line, "-@:+!"))
		if err != nil || len(args) == 0 {
			return 203
		}
		p := &Proc{Host: u.h, Dir: "/", Env: u.h.environ()}
		if d := f.last("Service.WorkingDirectory"); d != "" {
			p.Dir = d
		}
		for _, e := range f.values["Service.Environment"] {
			pairs, _ := words(e)
			for _, pair := range pairs {
				name, value, _ := strings.Cut(pair, "=")
				p.Env[name] = value
			}
		}
		if user := f.last("Service.User"); user != "" {
			p.Env["USER"] = user
		}
		w := &outlet{w: journal{u, f.name}}
		p.Stdout, p.Stderr = w, w
		code := p.exec(ctx, args)
		w.shut()
		if code != 0 && !ignore {
			return code
		}
	}
	return 0
}

// journal keeps the last lines of a unit.
type journal struct {
	u    *Units
	name string
}

func (j journal) Write(b []byte) (int, error) {
	const most = 200
	j.u.mu.Lock()
	defer j.u.mu.Unlock()
	list := append(j.u.log[j.name], strings.TrimRight(string(b), "\n"))
	j.u.log[j.name] = list[max(len(list)-most, 0):]
	return len(b), nil
}

// Stop stops a unit and what it runs.
func (u *Units) Stop(name string) error {
	if path.Ext(name) == "" {
		name += ".service"
	}
	f, ok := u.load(name)
	u.mu.Lock()
	if !ok {
		_, there := u.fixed[name]
		s := u.states[name]
		if there {
			u.fixed[name] = false
		}
		if s == nil {
			u.mu.Unlock()
			if there {
				return nil
			}
			return errNoUnit
		}
	}
	s := u.state(name)
	was := s.active
	if s.stop != nil {
		s.stop()
	}
	cancel, done := s.cancel, s.done
	s.active = "inactive"
	delete(u.states, name)
	u.mu.Unlock()
	if ok && was == "active" && f.yes("Service.RemainAfterExit") {
		u.run(u.h.Life(), f, "Service.ExecStop")
	}
	if cancel != nil {
		cancel()
		<-done
	}
	return nil
}

// Active is the state of a unit: "active", "inactive", "activating" or "failed".
func (u *Units) Active(name string) string {
	if path.Ext(name) == "" {
		name += ".service"
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if s := u.states[name]; s != nil {
		return s.active
	}
	if u.fixed[name] {
		return "active"
	}
	return "inactive"
}

// enable makes or removes the links by which targets want a unit.
func (u *Units) enable(name string, yes bool) error {
	if path.Ext(name) == "" {
		name += ".service"
	}
	f, ok := u.load(name)
	if !ok {
		if !yes { // what is gone can have left its links
			u.unlink(name)
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		if _, ok := u.fixed[name]; ok {
			return nil
		}
		return fmt.Errorf("unit file %s does not exist", name)
	}
	if !yes {
		u.unlink(name)
		return nil
	}
	if at, masked := u.masked(name); masked {
		return fmt.Errorf("unit file %s is masked", at)
	}
	for _, kind := range []string{"Wanted", "Required"} {
		for _, target := range f.list("Install." + kind + "By") {
			dir := "/etc/systemd/system/" + target + map[string]string{"Wanted": ".wants", "Required": ".requires"}[kind]
			if err := u.h.o.Disk.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			_ = u.h.o.Disk.Remove(dir + "/" + name)
			if err := u.h.o.Disk.Symlink(f.path, dir+"/"+name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (u *Units) unlink(name string) {
	u.wants(func(link string) {
		if path.Base(link) == name {
			_ = u.h.o.Disk.Remove(link)
		}
	})
}

// wants visits the links of all targets.
func (u *Units) wants(visit func(link string)) {
	const dir = "/etc/systemd/system"
	list, _ := u.h.o.Disk.ReadDir(dir)
	for _, e := range list {
		if !strings.HasSuffix(e.Name(), ".wants") && !strings.HasSuffix(e.Name(), ".requires") {
			continue
		}
		links, _ := u.h.o.Disk.ReadDir(path.Join(dir, e.Name()))
		for _, l := range links {
			visit(path.Join(dir, e.Name(), l.Name()))
		}
	}
}

// masked tells whether an administrator has put a unit out of use, and the file that says so.
func (u *Units) masked(name string) (string, bool) {
	at := "/etc/systemd/system/" + name
	target, err := u.h.o.Disk.Readlink(at)
	return at, err == nil && target == "/dev/null"
}

// Enabled is what is-enabled prints of a unit; "" where there is none.
func (u *Units) Enabled(name string) string {
	if path.Ext(name) == "" {
		name += ".service"
	}
	if _, masked := u.masked(name); masked {
		return "masked"
	}
	found := ""
	u.wants(func(link string) {
		if path.Base(link) == name {
			found = "enabled"
		}
	})
	f, ok := u.load(name)
	switch {
	case found != "":
		return found
	case !ok:
		u.mu.Lock()
		defer u.mu.Unlock()
		if _, ok := u.fixed[name]; ok {
			return "static"
		}
		return ""
	case strings.HasPrefix(f.path, "/run/systemd/transient"):
		return "transient"
	case len(f.list("Install.WantedBy"))+len(f.list("Install.RequiredBy")) == 0:
		return "static"
	}
	return "disabled"
}

// names are all units that have a file or a state, and instances that are enabled.
func (u *Units) names() []string {
	all := map[string]bool{}
	for _, dir := range unitFolders {
		list, _ := u.h.o.Disk.ReadDir(dir)
		for _, e := range list {
			switch path.Ext(e.Name()) {
			case ".service", ".timer", ".target", ".socket", ".path":
				all[e.Name()] = true
			}
		}
	}
	u.wants(func(link string) { all[path.Base(link)] = true })
	u.mu.Lock()
	defer u.mu.Unlock()
	for name := range u.states {
		all[name] = true
	}
	return slices.Sorted(maps.Keys(all))
}
