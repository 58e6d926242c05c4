package posix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rocec/rocec/targets/emit"
)

// systemctl of systemd 252, as far as scripts use it.
func systemctl(ctx context.Context, p *Proc) int {
	o, err := p.parse("qp:t:aln: quiet now no-block no-legend no-pager plain state: property: value type: all full system lines: wait legend: force no-reload no-ask-password")
	if err != nil {
		return p.usage(err)
	}
	if len(o.rest) == 0 {
		return p.Fail("systemctl: only commands with a verb are simulated")
	}
	u, verb, names := p.Host.Units, o.rest[0], o.rest[1:]
	if reload := p.Host.o.Reload; reload != nil && slices.Contains([]string{"daemon-reload", "daemon-reexec", "enable", "disable"}, verb) && !o.has("no-reload") {
		defer reload() // systemctl(1): enable and disable read the units again when they are done
	}
	code := 0
	switch verb {
	case "daemon-reload", "daemon-reexec":
		return 0
	case "reboot":
		return reboot(ctx, p)
	case "is-system-running":
		p.outf("running\n")
		return 0
	case "list-unit-files":
		return p.listUnitFiles(o, names)
	case "list-timers":
		return p.listTimers(o, names)
	case "show":
		return p.showUnits(o, names)
	case "list-units":
		for _, name := range u.names() {
			if a := u.Active(name); a != "inactive" && matchAny(names, name) {
				p.outf("%s loaded %s %s\n", name, a, a)
			}
		}
		return 0
	}
	if len(names) == 0 {
		return p.Fail("Too few arguments.")
	}
	for _, name := range names {
		n, err := p.unitVerb(ctx, o, verb, name)
		switch {
		case errors.Is(err, errNoUnit):
			n = 5
			p.errf("Failed to %s %s: Unit %s not found.\n", verb, unitName(name), unitName(name))
		case errors.Is(err, errFailed):
			n = 1
			p.errf("Job for %s failed because the control process exited with error code.\n", unitName(name))
		case err != nil:
			n = p.Fail("Failed to %s %s: %v", verb, unitName(name), err)
		}
		code = cmp.Or(n, code)
	}
	return code
}

// unitVerb does what systemctl was told to one unit.
func (p *Proc) unitVerb(ctx context.Context, o options, verb, name string) (code int, err error) {
	u := p.Host.Units
	switch verb {
	case "start":
		return 0, u.Start(ctx, name, !o.has("no-block"))
	case "stop":
		return 0, u.Stop(name)
	case "restart", "try-restart", "reload-or-restart", "try-reload-or-restart":
		if strings.HasPrefix(verb, "try-") && u.Active(name) != "active" {
			return 0, nil
		}
		if err := u.Stop(name); err != nil && !errors.Is(err, errNoUnit) {
			return 0, err
		}
		err = u.Start(ctx, name, !o.has("no-block"))
		if restarted := p.Host.o.Restarted; err == nil && restarted != nil {
			restarted(unitName(name))
		}
		return 0, err
	case "enable":
		if err := u.enable(name, true); err != nil {
			return p.Fail("Failed to enable unit: %v", err), nil
		}
		if o.has("now") {
			return 0, u.Start(ctx, name, true)
		}
	case "disable":
		if o.has("now") {
			_ = u.Stop(name)
		}
		if err := u.enable(name, false); err != nil {
			return p.Fail("Failed to disable unit: %v", err), nil
		}
	case "reset-failed":
		u.mu.Lock()
		defer u.mu.Unlock()
		if s := u.states[unitName(name)]; s != nil && s.active == "failed" {
			s.active = "inactive"
		}
	case "cat":
		f, ok := u.load(unitName(name))
		if !ok {
			return p.Fail("No files found for %s.", unitName(name)), nil
		}
		b, _ := p.Host.o.Disk.ReadFile(f.path)
		p.outf("# %s\n%s", f.path, b)
	case "is-active", "is-failed", "is-enabled", "status":
		return p.unitState(verb, name, o.has("q", "quiet")), nil
	default:
		return p.Fail("Unknown command verb '%s', or one that is not simulated.", verb), nil
	}
	return 0, nil
}

// unitState prints what a unit is, unless it is to be quiet, and answers with a code.
func (p *Proc) unitState(verb, name string, quiet bool) (code int) {
	u := p.Host.Units
	state := u.Active(name)
	switch verb {
	case "status":
		p.outf("* %s\n     Active: %s\n", unitName(name), state)
		if state != "active" {
			return 3
		}
		return 0
	case "is-active":
		if state != "active" {
			code = 3
		}
	case "is-failed":
		if state != "failed" {
			code = 1
		}
	case "is-enabled":
		state = u.Enabled(name)
		if state == "" {
			if !quiet {
				p.errf("Failed to get unit file state for %s: No such file or directory\n", name)
			}
			return 1
		}
		if state == "disabled" || state == "masked" {
			code = 1
		}
	}
	if !quiet {
		p.outf("%s\n", state)
	}
	return code
}

func unitName(name string) string {
	if path.Ext(name) == "" {
		return name + ".service"
	}
	return name
}

func matchAny(patterns []string, name string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(g string) bool { ok, _ := path.Match(g, name); return ok })
}

// listUnitFiles prints units that have a file: an instance of a template has none
// unless it is masked, and a template that is not enabled as such is "indirect".
func (p *Proc) listUnitFiles(o options, patterns []string) int {
	for _, name := range p.Host.Units.names() {
		state := p.Host.Units.Enabled(name)
		before, instance, _ := strings.Cut(name, "@")
		switch {
		case before == name:
		case strings.HasPrefix(instance, "."):
			if state == "disabled" {
				state = "indirect"
			}
		case state != "masked":
			continue
		}
		if !matchAny(patterns, name) || state == "" || o.has("state") && o.value("state") != state {
			continue
		}
		p.outf("%s %s enabled\n", name, state)
	}
	return 0
}

func (p *Proc) listTimers(_ options, patterns []string) int {
	u := p.Host.Units
	for _, name := range u.names() {
		if path.Ext(name) != ".timer" || u.Active(name) != "active" || !matchAny(patterns, name) {
			continue
		}
		u.mu.Lock()
		next := u.states[name].next
		u.mu.Unlock()
		when := "-"
		if !next.IsZero() {
			when = next.UTC().Format("Mon 2006-01-02 15:04:05 MST")
		}
		p.outf("%s %s\n", when, name)
	}
	return 0
}

// showUnits prints properties.
func (p *Proc) showUnits(o options, names []string) int {
	u := p.Host.Units
	wanted := strings.FieldsFunc(o.value("p", "property"), func(r rune) bool { return r == ',' || r == '\n' })
	for i, name := range names {
		name = unitName(name)
		f, ok := u.load(name)
		state, load := u.Active(name), "loaded"
		if !ok {
			load = "not-found"
		}
		sub := map[string]string{"active": "exited", "inactive": "dead", "activating": "start", "failed": "failed"}[state]
		u.mu.Lock()
		s := u.states[name]
		all := [][2]string{{"Id", name}, {"LoadState", load}, {"ActiveState", state}, {"UnitFileState", ""}}
		next, result, status := "", "success", "0"
		if s != nil {
			result, status = s.result, strconv.Itoa(s.code)
			if path.Ext(name) == ".timer" && state == "active" {
				sub = "elapsed"
				if !s.next.IsZero() {
					sub, next = "waiting", s.next.UTC().Format("Mon 2006-01-02 15:04:05 MST")
				}
			}
		}
		_, fixed := u.fixed[name]
		u.mu.Unlock()
		if fixed {
			all[1][1] = "loaded"
		}
		all[3][1] = u.Enabled(name)
		path := ""
		if ok {
			path = f.path
		}
		all = append(all, [][2]string{{"SubState", sub}, {"Result", result}, {"ExecMainStatus", status}, {"NextElapseUSecRealtime", next}, {"FragmentPath", path}}...)
		if i > 0 {
			p.outf("\n")
		}
		for _, pair := range all {
			if len(wanted) > 0 && !slices.Contains(wanted, pair[0]) {
				continue
			}
			if o.has("value") {
				p.outf("%s\n", pair[1])
			} else {
				p.outf("%s=%s\n", pair[0], pair[1])
			}
		}
	}
	return 0
}

// systemdRun makes a transient service, and a timer where --on-... say so
// (systemd-run(1)).
func systemdRun(ctx context.Context, p *Proc) int {
	o, err := parseOptions(p.Args, "qGdp:E:u: unit: on-active: on-boot: on-calendar: timer-property: property: setenv: description: collect quiet no-block wait pipe same-dir service-type: remain-after-exit no-ask-password working-directory: slice: uid: user system", false)
	if err != nil {
		return p.usage(err)
	}
	if len(o.rest) == 0 {
		return p.Fail("Command line to execute required.")
	}
	name := cmp.Or(o.value("u", "unit"), "run-r"+strconv.FormatInt(p.Host.o.Clock.Now().UnixNano(), 16))
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".service"), ".timer")
	u := p.Host.Units
	for _, kind := range []string{".service", ".timer"} {
		if f, ok := u.load(name + kind); ok && (u.Active(name+kind) != "inactive" || !strings.HasPrefix(f.path, "/run/systemd/transient")) {
			return p.Fail("Failed to start transient %s unit: Unit %s%s was already loaded or has a fragment file.", kind[1:], name, kind)
		}
	}
	var quoted []string
	program := o.rest[0]
	if full, kind, _ := p.Host.find(p, program); kind > refused {
		program = full
	} else {
		return p.Fail("Failed to find executable %s: No such file or directory", program)
	}
	for _, w := range append([]string{program}, o.rest[1:]...) {
		quoted = append(quoted, `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$", "\n", `\n`).Replace(w)+`"`)
	}
	disk := p.Host.o.Disk
	const dir = "/run/systemd/transient/"
	_ = disk.MkdirAll(dir, 0o755)
	if err := disk.WriteFile(dir+name+".service", []byte(p.transient(o, strings.Join(quoted, " "))), 0o644); err != nil {
		return p.cannot("Failed to start transient service unit", err)
	}
	timer := ""
	for option, key := range map[string]string{"on-active": "OnActiveSec", "on-boot": "OnBootSec", "on-calendar": "OnCalendar"} {
		if v := o.value(option); v != "" {
			timer += key + "=" + v + "\n"
		}
	}
	if timer != "" {
		for e := range strings.SplitSeq(o.value("timer-property"), "\n") {
			timer += e + "\n"
		}
		if err := disk.WriteFile(dir+name+".timer", []byte("[Timer]\n"+timer), 0o644); err != nil {
			return p.cannot("Failed to start transient timer unit", err)
		}
		if err := u.Start(ctx, name+".timer", true); err != nil {
			return p.Fail("Failed to start transient timer unit: %v", err)
		}
		if !o.has("q", "quiet") {
			p.errf("Running timer as unit: %s.timer\nWill run service as unit: %s.service\n", name, name)
		}
		return 0
	}
	if err := u.Start(ctx, name+".service", o.has("wait")); err != nil {
		return p.Fail("Job for %s.service failed.", name)
	}
	if !o.has("q", "quiet") {
		p.errf("Running as unit: %s.service\n", name)
	}
	return 0
}

// transient is the unit file of a service that systemd-run makes.
func (p *Proc) transient(o options, command string) string {
	var service strings.Builder
	fmt.Fprintf(&service, "[Unit]\nDescription=%s\n[Service]\n", cmp.Or(o.value("description"), strings.Join(o.rest, " ")))
	if t := o.value("service-type"); t != "" {
		fmt.Fprintf(&service, "Type=%s\n", t)
	} else if o.has("wait") {
		service.WriteString("Type=oneshot\n")
	}
	if o.has("remain-after-exit") {
		service.WriteString("RemainAfterExit=yes\n")
	}
	if o.has("d", "same-dir") {
		fmt.Fprintf(&service, "WorkingDirectory=%s\n", p.Dir)
	}
	if d := o.value("working-directory"); d != "" {
		fmt.Fprintf(&service, "WorkingDirectory=%s\n", d)
	}
	for e := range strings.SplitSeq(o.value("E", "setenv"), "\n") {
		if e != "" {
			fmt.Fprintf(&service, "Environment=\"%s\"\n", e)
		}
	}
	for e := range strings.SplitSeq(o.value("p", "property"), "\n") {
		if e != "" {
			fmt.Fprintf(&service, "%s\n", e)
		}
	}
	fmt.Fprintf(&service, "ExecStart=%s\n", command)
	return service.String()
}

func systemdEscape(_ context.Context, p *Proc) int {
	o, err := p.parse("pum template: suffix: path unescape mangle instance")
	if err != nil {
		return p.usage(err)
	}
	var list []string
	for _, s := range o.rest {
		switch {
		case o.has("u", "unescape"):
			s = unescape(s)
		case o.has("p", "path"):
			s = emit.SystemdInstance(strings.Trim(path.Clean("/"+s), "/"))
		default:
			s = emit.SystemdInstance(s)
		}
		if t := o.value("template"); t != "" {
			before, after, ok := strings.Cut(t, "@")
			if !ok {
				return p.Fail("Invalid template unit name %s.", t)
			}
			s = before + "@" + s + after
		}
		if x := o.value("suffix"); x != "" {
			s += "." + x
		}
		list = append(list, s)
	}
	p.outf("%s\n", strings.Join(list, " "))
	return 0
}

// udevadm: rules are read when devices appear, which here is at boot.
func udevadm(_ context.Context, p *Proc) int {
	if len(p.Args) == 0 {
		return p.Fail("udevadm: missing command")
	}
	switch p.Args[0] {
	case "control", "trigger", "settle":
		return 0
	}
	return p.Fail("udevadm: Unknown command verb %s, or one that is not simulated", p.Args[0])
}

func journalctl(_ context.Context, p *Proc) int {
	o, err := p.parse("u:n:o:bqe unit: lines: output: boot no-pager quiet since:")
	if err != nil {
		return p.usage(err)
	}
	u := p.Host.Units
	u.mu.Lock()
	list := slices.Clone(u.log[unitName(o.value("u", "unit"))])
	u.mu.Unlock()
	if n, err := strconv.Atoi(o.value("n", "lines")); err == nil {
		list = list[max(len(list)-n, 0):]
	}
	for _, l := range list {
		p.outf("%s\n", l)
	}
	return 0
}

// Since is when a unit took its state.
func (u *Units) Since(name string) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if s := u.states[name]; s != nil {
		return s.since
	}
	return time.Time{}
}
