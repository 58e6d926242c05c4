package windows

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rocec/rocec/deploy/lab/powershell"
)

// task is a scheduled task.
type task struct {
	name     string
	arg      []string // of powershell.exe
	dir      string
	triggers []*trigger
	limit    time.Duration // 0: none

	end     context.CancelFunc // of the run
	running *int               // which run it is; nil for none
	stops   []func() bool      // of timers
}

// trigger is what starts a task: a time on the clock on the wall, once or again
// and again, or the start of Windows.
type trigger struct {
	startup bool
	at      time.Time
	every   time.Duration // 0: once
}

type action struct {
	arg []string
	dir string
}

type settings struct{ limit time.Duration }

type principal struct{}

func (t *task) atStartup() bool {
	return slices.ContainsFunc(t.triggers, func(g *trigger) bool { return g.startup })
}

func (t *task) unplan() {
	for _, stop := range t.stops {
		stop()
	}
	t.stops = nil
}

// plan sets the timers of all tasks anew, after a change of tasks or clock.
func (m *Machine) plan() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.tasks {
		m.schedule(t)
	}
}

// schedule sets the timers of a task, with the mutex held.
func (m *Machine) schedule(t *task) {
	t.unplan()
	now := m.wall()
	for _, g := range t.triggers {
		next := g.at
		switch {
		case g.startup:
			continue
		case !next.After(now) && g.every == 0:
			continue // over
		case !next.After(now):
			next = next.Add((now.Sub(next)/g.every + 1) * g.every)
		}
		t.stops = append(t.stops, m.clock.AfterFunc(next.Sub(now), func() { m.due(t) }))
	}
}

// due starts a task whose time has come.
func (m *Machine) due(t *task) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tasks[strings.ToLower(t.name)] != t || m.power.Err() != nil {
		return
	}
	m.launch(t)
	m.schedule(t)
}

// launch starts a task unless it runs (IgnoreNew), with the mutex held.
func (m *Machine) launch(t *task) {
	if t.running != nil {
		return
	}
	run := new(int)
	t.running = run
	ctx, cancel := context.WithCancel(m.power)
	t.end = cancel
	if t.limit > 0 {
		stop := m.clock.AfterFunc(t.limit, cancel)
		context.AfterFunc(ctx, func() { stop() })
	}
	go func() {
		defer cancel()
		m.run(ctx, t.arg, t.dir, true, io.Discard, io.Discard)
		m.mu.Lock()
		defer m.mu.Unlock()
		if t.running == run {
			t.running = nil
		}
		close(m.ended)
		m.ended = make(chan struct{})
	}()
}

// End kills the processes of a task that runs, as the task manager does.
func (m *Machine) End(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.tasks[strings.ToLower(name)]; t != nil && t.running != nil {
		t.end()
	}
}

// Tasks are the names of the scheduled tasks, sorted.
func (m *Machine) Tasks() (names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(m.tasks)) {
		names = append(names, m.tasks[key].name)
	}
	return names
}

// scheduler gives a runner the cmdlets of scheduled tasks.
func (m *Machine) scheduler(r *powershell.Runner) {
	r.Cmdlets["new-scheduledtaskaction"] = func(c *powershell.Call) []any {
		if base(c.Str("execute")) != "powershell" {
			powershell.Throw("only powershell.exe is simulated as the program of a task, not %s", c.Str("execute"))
		}
		return object("MSFT_TaskExecAction", &action{words(c.Str("argument")), c.Str("workingdirectory")})
	}
	r.Cmdlets["new-scheduledtasktrigger"] = func(c *powershell.Call) []any {
		g := &trigger{startup: c.Has("atstartup")}
		if c.Has("once") != c.Has("at") {
			c.Mistake("-Once and -At go together")
		}
		if c.Has("at") {
			at, ok := c.Arg("at").(powershell.Time)
			if !ok {
				c.Mistake("-At takes a time here, not '%s'", c.Str("at"))
			}
			g.at = time.Time(at)
		}
		if c.Has("repetitioninterval") {
			every, ok := c.Arg("repetitioninterval").(powershell.Span)
			if !ok {
				c.Mistake("-RepetitionInterval takes a TimeSpan here, not '%s'", c.Str("repetitioninterval"))
			}
			g.every = time.Duration(every)
		}
		if c.Has("repetitionduration") || c.Has("randomdelay") || c.Has("daily") || c.Has("weekly") || c.Has("atlogon") {
			powershell.Throw("this trigger is not simulated")
		}
		return object("MSFT_TaskTrigger", g)
	}
	r.Cmdlets["new-scheduledtaskprincipal"] = func(c *powershell.Call) []any {
		if !strings.EqualFold(c.Str("userid"), `NT AUTHORITY\SYSTEM`) {
			powershell.Throw("No mapping between account names and security IDs was done.")
		}
		return object("MSFT_TaskPrincipal2", &principal{})
	}
	r.Cmdlets["new-scheduledtasksettingsset"] = func(c *powershell.Call) []any {
		s := &settings{limit: 72 * time.Hour} // win32 TaskSchd ExecutionTimeLimit: PT72H
		if c.Has("executiontimelimit") {
			limit, ok := c.Arg("executiontimelimit").(powershell.Span)
			if !ok {
				c.Mistake("-ExecutionTimeLimit takes a TimeSpan here, not '%s'", c.Str("executiontimelimit"))
			}
			s.limit = time.Duration(limit)
		}
		if !strings.EqualFold(c.Str("multipleinstances"), "IgnoreNew") {
			powershell.Throw("tasks of several instances are not simulated")
		}
		return object("MSFT_TaskSettings3", s)
	}
	m.tasksOf(r)
}

// tasksOf gives a runner the cmdlets that read, start and remove tasks.
func (m *Machine) tasksOf(r *powershell.Runner) {
	r.Cmdlets["register-scheduledtask"] = m.register
	r.Cmdlets["get-scheduledtask"] = func(c *powershell.Call) (out []any) {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, key := range slices.Sorted(maps.Keys(m.tasks)) {
			t := m.tasks[key]
			if c.Has("taskname") && !strings.EqualFold(t.name, c.Str("taskname")) {
				continue
			}
			out = append(out, powershell.NewObject("TaskName", t.name, "TaskPath", `\`, "State", when(t.running != nil, "Running", "Ready")))
		}
		if len(out) == 0 && c.Has("taskname") {
			missing(c)
		}
		return out
	}
	r.Cmdlets["start-scheduledtask"] = func(c *powershell.Call) []any {
		m.mu.Lock()
		defer m.mu.Unlock()
		t := m.tasks[strings.ToLower(c.Str("taskname"))]
		if t == nil {
			powershell.Throw("The system cannot find the file specified.")
		}
		m.launch(t)
		return nil
	}
	r.Cmdlets["unregister-scheduledtask"] = func(c *powershell.Call) []any {
		if sure, given := c.Named["confirm"]; !given || powershell.True(sure) {
			powershell.Throw("Windows PowerShell is in NonInteractive mode. Read and Prompt functionality is not available.")
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		key := strings.ToLower(c.Str("taskname"))
		t := m.tasks[key]
		if t == nil {
			missing(c)
		}
		t.unplan() // what runs goes on
		delete(m.tasks, key)
		return nil
	}
}

func object(class string, self any) []any {
	o := powershell.NewObject("CimClass", class)
	o.Self = self
	return []any{o}
}

func missing(c *powershell.Call) {
	powershell.Throw("No MSFT_ScheduledTask objects found with property 'TaskName' equal to '%s'.  Verify the value of the property and retry.", c.Str("taskname"))
}

// register is Register-ScheduledTask. Repetition intervals are a minute at least
// (win32 TaskSchd, repetitionType).
func (m *Machine) register(c *powershell.Call) []any {
	t, force := &task{name: c.Str("taskname")}, c.Has("force")
	for _, x := range powershell.Spread(c.Arg("trigger")) {
		if o, ok := x.(*powershell.Object); ok {
			if g, ok := o.Self.(*trigger); ok {
				t.triggers = append(t.triggers, g)
			}
		}
	}
	part := func(name string) any {
		if o, ok := c.Arg(name).(*powershell.Object); ok {
			return o.Self
		}
		return nil
	}
	a, isAction := part("action").(*action)
	s, hasSettings := part("settings").(*settings)
	if _, ok := part("principal").(*principal); !ok || !isAction || !hasSettings {
		powershell.Throw("The parameter is incorrect.")
	}
	t.arg, t.dir, t.limit = a.arg, a.dir, s.limit
	for _, g := range t.triggers {
		if g.every != 0 && g.every < time.Minute {
			powershell.Throw("The task XML contains a value which is incorrectly formatted or out of range. (Interval)")
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	key := strings.ToLower(t.name)
	if old := m.tasks[key]; old != nil {
		if !force {
			powershell.Throw("Cannot create a file when that file already exists.")
		}
		old.unplan()
		if old.running != nil {
			powershell.Throw("the task %s runs, and is not made anew while it does", t.name)
		}
	}
	m.tasks[key] = t
	m.schedule(t)
	return []any{powershell.NewObject("TaskName", t.name, "TaskPath", `\`, "State", "Ready")}
}
