package posix

import (
	"path"
	"slices"
	"strings"
	"time"
)

// startTimer arms a timer. What Persistent= missed while the machine was off
// happens at once: the stamp file says when it was last looked at (systemd.timer(5)).
func (u *Units) startTimer(f *unitFile) error {
	u.mu.Lock()
	s := u.state(f.name)
	if s.active == "active" {
		u.mu.Unlock()
		return nil
	}
	u.mu.Unlock()
	now := u.h.o.Clock.Now()
	var at time.Time
	mono := true
	sooner := func(t time.Time, monotonic bool) {
		if at.IsZero() || t.Before(at) {
			at, mono = t, monotonic
		}
	}
	for key, from := range map[string]time.Time{"Timer.OnActiveSec": now, "Timer.OnBootSec": u.h.Booted(), "Timer.OnStartupSec": u.h.Booted()} {
		for _, v := range f.values[key] {
			d, err := span(v)
			if err != nil {
				return err
			}
			sooner(from.Add(d), true)
		}
	}
	stamp := "/var/lib/systemd/timers/stamp-" + f.name
	for _, v := range f.values["Timer.OnCalendar"] {
		t, err := calendar(v)
		if err != nil {
			return err
		}
		from := now
		if f.yes("Timer.Persistent") {
			if info, err := u.h.o.Disk.Stat(stamp); err == nil {
				from = info.ModTime()
			} else {
				_ = u.h.o.Disk.MkdirAll(path.Dir(stamp), 0o755)
				_ = u.h.o.Disk.WriteFile(stamp, nil, 0o644)
			}
		}
		if t.After(from) {
			sooner(t, false)
		}
	}
	again := time.Duration(0)
	for _, v := range slices.Concat(f.values["Timer.OnUnitInactiveSec"], f.values["Timer.OnUnitActiveSec"]) {
		d, err := span(v)
		if err != nil {
			return err
		}
		again = d
	}
	unit := f.last("Timer.Unit")
	if unit == "" {
		unit = strings.TrimSuffix(f.name, ".timer") + ".service"
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	s.active, s.since, s.next, s.mono, s.starts, s.again = "active", now, at, mono, unit, again
	s.due = u.h.o.Clock.Passed() + at.Sub(now)
	if at.IsZero() {
		return nil // nothing will come: it stays active and elapsed
	}
	u.arm(f, s, unit, stamp)
	return nil
}

// ended lets timers start a unit again, some time after it has ended.
func (u *Units) ended(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for timer, s := range u.states {
		if s.active != "active" || s.starts != name || s.again == 0 {
			continue
		}
		s.next, s.due, s.mono = u.h.o.Clock.Now().Add(s.again), u.h.o.Clock.Passed()+s.again, true
		u.arm(&unitFile{name: timer, values: map[string][]string{}}, s, name, "")
	}
}

// arm waits for the time of a timer, with the mutex held. Events of the calendar
// follow the clock on the wall, also when it is set.
func (u *Units) arm(f *unitFile, s *unitState, unit, stamp string) {
	clock := u.h.o.Clock
	wait := max(s.due-clock.Passed(), 0)
	if !s.mono {
		wait = min(max(s.next.Sub(clock.Now()), 0), time.Minute) // and look again: the clock may have been set
	}
	s.stop = u.h.o.Clock.AfterFunc(wait, func() {
		u.mu.Lock()
		if u.states[f.name] != s || s.active != "active" {
			u.mu.Unlock()
			return
		}
		if !s.mono && u.h.o.Clock.Now().Before(s.next) {
			u.arm(f, s, unit, stamp)
			u.mu.Unlock()
			return
		}
		s.next = time.Time{}
		u.mu.Unlock()
		if f.yes("Timer.Persistent") && len(f.values["Timer.OnCalendar"]) > 0 {
			_ = u.h.o.Disk.WriteFile(stamp, nil, 0o644)
			_ = u.h.o.Disk.Chtimes(stamp, u.h.o.Clock.Now())
		}
		u.h.spawn(func() { _ = u.Start(u.h.Life(), unit, false) })
	})
}
