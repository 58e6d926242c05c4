package cumulus

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rocec/rocec/deploy/lab/posix"
)

// nv is NVUE's command.
func (m *Machine) nv(_ context.Context, p *posix.Proc) int {
	form, args := "", []string{}
	for i := 0; i < len(p.Args); i++ {
		switch a := p.Args[i]; {
		case (a == "-o" || a == "--output") && i+1 < len(p.Args):
			i++
			form = p.Args[i]
		case strings.HasPrefix(a, "--output="):
			form = strings.TrimPrefix(a, "--output=")
		default:
			args = append(args, a)
		}
	}
	if len(args) == 0 {
		return p.Fail("usage: nv [options] <command>")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch args[0] {
	case "config":
		if len(args) > 1 {
			return m.config(p, args[1], args[2:], form)
		}
	case "show":
		return m.showPath(p, args[1:], form)
	}
	return p.Fail("Error: 'nv %s' is not simulated: change the configuration with nv config patch", strings.Join(args, " "))
}

func (m *Machine) config(p *posix.Proc, verb string, args []string, form string) int {
	switch verb {
	case "patch", "replace":
		return m.patch(p, verb, args)
	case "diff":
		return m.diff(p, args, form)
	case "apply":
		return m.apply(p, args)
	case "detach":
		if m.pending == nil {
			return p.Fail("Error: there is no pending revision")
		}
		m.revs = append(m.revs, &revision{tree: m.pending, state: "detached", at: p.Host.Clock().Now(), user: p.User()})
		m.pending = nil
		p.Printf("detached [rev_id: %d]\n", len(m.revs))
		return 0
	case "save":
		if err := m.save(m.revs[m.applied-1].tree); err != nil {
			return p.Fail("Error: startup.yaml cannot be written: No space left on device")
		}
		m.revs[m.applied-1].state = "applied_and_saved"
		p.Printf("saved [rev_id: %d]\n", m.applied)
		return 0
	case "show":
		return m.show(p, args, form)
	case "revision", "history":
		return m.revisions(p, verb, form)
	}
	return p.Fail("Error: 'nv config %s' is not simulated", verb)
}

func (m *Machine) patch(p *posix.Proc, verb string, args []string) int {
	if len(args) != 1 {
		return p.Fail("usage: nv config %s <nvue-file>", verb)
	}
	b, err := m.disk.ReadFile(p.Path(args[0]))
	if err != nil {
		return p.Fail("Error: unable to read %s", args[0])
	}
	c, err := readChange(b)
	if err != nil {
		return p.Fail("Error: %s: %v", args[0], err)
	}
	next := m.pending
	if next == nil {
		next = m.revs[m.applied-1].tree
	}
	next = next.clone()
	if verb == "replace" {
		next = object()
	}
	next.remove(c.unset)
	next.merge(c.set)
	m.pending = next
	p.Printf("created [rev_id: %d]\n", len(m.revs)+1)
	return 0
}

func (m *Machine) diff(p *posix.Proc, args []string, form string) int {
	from, to := m.revs[m.applied-1].tree, m.pending
	if len(args) > 2 {
		return p.Fail("usage: nv config diff [<revision>] [<revision>]")
	}
	var err error
	if len(args) > 0 {
		if from, err = m.named(args[0]); err != nil {
			return p.Fail("Error: %v", err)
		}
	}
	if len(args) > 1 {
		if to, err = m.named(args[1]); err != nil {
			return p.Fail("Error: %v", err)
		}
	}
	if to == nil {
		return 0
	}
	gone, come := from.minus(to, false), to.minus(from, true)
	for _, part := range []struct {
		title string
		t     *tree
	}{{"unset", gone}, {"set", come}} {
		switch {
		case part.t == nil:
		case form == "commands":
			p.Printf("%s\n", strings.Join(part.t.commands(part.title), "\n"))
		default:
			p.Printf("%s", part.t.yaml(part.title))
		}
	}
	return 0
}

func (m *Machine) save(t *tree) error {
	scratch := startup + ".lab"
	if err := m.disk.WriteFile(scratch, []byte(t.yaml("set")), 0o644); err != nil {
		_ = m.disk.Remove(scratch)
		return err
	}
	return m.disk.Rename(scratch, startup)
}

// Time of a confirmation that says none (NVUE CLI, Configuration Management Commands).
const defaultConfirm = 10 * time.Minute

func (m *Machine) apply(p *posix.Proc, args []string) int {
	confirm, yes, target, message := time.Duration(0), false, "", ""
	for i := 0; i < len(args); i++ {
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch a := args[i]; a {
		case "-y", "--assume-yes":
			yes = true
		case "--assume-no":
			return p.Fail("Error: the answer was no; nothing was applied")
		case "-m", "--message":
			message = next
			i++
		case "--confirm-yes", "--confirm-no", "--confirm-status":
			return m.confirmed(p, a)
		case "--confirm":
			confirm = defaultConfirm
			if d, err := timeOf(next); err == nil {
				confirm = d
				i++
			} else if next != "" && !strings.HasPrefix(next, "-") {
				return p.Fail("Error: argument --confirm: %v", err)
			}
		default:
			if strings.HasPrefix(a, "-") || target != "" {
				return p.Fail("Error: unrecognized arguments: %s", a)
			}
			target = a
		}
	}
	if m.waits != nil {
		return p.Fail("Error: revision %d waits for its confirmation: nv config apply --confirm-yes or --confirm-no", m.waits.number)
	}
	next, number := m.pending, 0
	if target != "" {
		t, err := m.named(target)
		if err != nil {
			return p.Fail("Error: %v", err)
		}
		next, number = t, m.number(target)
	}
	if next == nil {
		return p.Fail("Error: there is no pending revision to apply")
	}
	if !yes {
		p.Printf("Are you sure? [y/N] \n")
		return p.Fail("Error: nobody answered")
	}
	before := m.applied
	if number == 0 {
		m.revs = append(m.revs, &revision{tree: next, at: p.Host.Clock().Now(), user: p.User(), message: message})
		number = len(m.revs)
	}
	if target == "" {
		m.pending = nil
	}
	r := m.revs[number-1]
	r.applies++
	m.applied = number
	if confirm > 0 {
		r.state = "confirm"
		w := &waiting{number: number, before: before, until: p.Host.Clock().Passed() + confirm}
		w.stop = p.Host.Clock().AfterFunc(confirm, func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			if m.waits == w {
				m.back()
			}
		})
		m.waits = w
		p.Printf("confirm [rev_id: %d]\nThe configuration goes back in %s unless nv config apply --confirm-yes is given.\n", number, confirm)
		return 0
	}
	return m.kept(p, number)
}

// kept saves what was applied: auto-save is on by default.
func (m *Machine) kept(p *posix.Proc, number int) int {
	r := m.revs[number-1]
	if err := m.save(r.tree); err != nil {
		r.state = "applied"
		return p.Fail("applied [rev_id: %d]\nError: startup.yaml cannot be written: No space left on device", number)
	}
	r.state = "applied_and_saved"
	p.Printf("applied_and_saved [rev_id: %d]\n", number)
	return 0
}

// back undoes what waits, with the mutex held.
func (m *Machine) back() {
	m.waits.stop()
	m.revs[m.waits.number-1].state = "undone"
	m.applied = m.waits.before
	m.waits = nil
}

func (m *Machine) confirmed(p *posix.Proc, how string) int {
	if m.waits == nil {
		return p.Fail("Error: no revision waits for its confirmation")
	}
	w := m.waits
	switch how {
	case "--confirm-status":
		p.Printf("revision %d: %d seconds left\n", w.number, int((w.until-p.Host.Clock().Passed())/time.Second))
		return 0
	case "--confirm-no":
		m.back()
		p.Printf("applied [rev_id: %d]\n", m.applied)
		return 0
	}
	w.stop()
	m.waits = nil
	return m.kept(p, w.number)
}

// timeOf reads a time with its unit; a number alone is minutes.
func timeOf(s string) (time.Duration, error) {
	digits := strings.TrimRight(s, "smh")
	n, err := strconv.ParseUint(digits, 10, 32)
	unit, ok := map[string]time.Duration{"": time.Minute, "s": time.Second, "m": time.Minute, "h": time.Hour}[s[len(digits):]]
	if err != nil || !ok || n == 0 {
		return 0, fmt.Errorf("%q is no time", s)
	}
	return time.Duration(n) * unit, nil
}

func (m *Machine) show(p *posix.Proc, args []string, form string) int {
	word := "applied"
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case (a == "-r" || a == "--rev" || a == "--revision") && i+1 < len(args):
			i++
			word = args[i]
		case strings.HasPrefix(a, "--rev="):
			word = strings.TrimPrefix(a, "--rev=")
		case a == "--applied", a == "--startup", a == "--pending":
			word = strings.TrimLeft(a, "-")
		default:
			return p.Fail("Error: unrecognized arguments: %s", a)
		}
	}
	t, err := m.named(word)
	if err != nil {
		return p.Fail("Error: %v", err)
	}
	header := map[string]string{"model": m.device.Model, "nvue-api-version": "nvue_v1", "rev-id": "1.0", "version": "Cumulus Linux " + m.device.OS.Version}
	switch form {
	case "commands":
		p.Printf("%s\n", strings.Join(t.commands("set"), "\n"))
	case "json":
		b, err := json.MarshalIndent([]any{map[string]any{"header": header}, map[string]any{"set": t}}, "", "  ")
		if err != nil {
			return p.Fail("Error: %v", err)
		}
		p.Printf("%s\n", b)
	default:
		p.Printf("- header:\n    model: %s\n    nvue-api-version: nvue_v1\n    rev-id: '1.0'\n    version: %s\n%s", header["model"], header["version"], t.yaml("set"))
	}
	return 0
}

func (m *Machine) revisions(p *posix.Proc, verb, form string) int {
	if form == "json" {
		all := map[string]map[string]string{}
		for i, r := range m.revs {
			all[strconv.Itoa(i+1)] = map[string]string{"state": r.state}
		}
		b, err := json.MarshalIndent(all, "", "  ")
		if err != nil {
			return p.Fail("Error: %v", err)
		}
		p.Printf("%s\n", b)
		return 0
	}
	const format = "%-20s  %-17s  %-32s  %-19s  %-8s  %-7s  %-13s  %s\n"
	if verb == "revision" {
		p.Printf(format, "Rev ID", "State", "Apply ID", "Apply Date", "Type", "User", "Reason", "Message")
	} else {
		p.Printf(format, "Apply ID", "State", "Rev ID", "Apply Date", "Type", "User", "Reason", "Message")
	}
	p.Printf(format, strings.Repeat("-", 20), strings.Repeat("-", 17), strings.Repeat("-", 32), strings.Repeat("-", 19), "--------", "-------", strings.Repeat("-", 13), strings.Repeat("-", 31))
	for i, r := range m.revs {
		number, id := strconv.Itoa(i+1), fmt.Sprintf("rev_%d_apply_%d", i+1, r.applies)
		if verb == "history" {
			number, id = id, number
		}
		p.Printf(format, number, r.state, id, r.at.UTC().Format(time.DateTime), "CLI", r.user, "Config update", r.message)
	}
	return 0
}

// showPath prints an object as it is applied, or as another revision has it.
func (m *Machine) showPath(p *posix.Proc, path []string, form string) int {
	word := "applied"
	for i, a := range path {
		if (a == "-r" || a == "--rev") && i+1 < len(path) {
			word = path[i+1]
			path = append(path[:i:i], path[i+2:]...)
			break
		}
	}
	if len(path) == 2 && path[0] == "interface" && path[1] == "lldp" {
		p.Printf("{}\n") // nobody is there
		return 0
	}
	if m.showCounted(p, path) {
		return 0
	}
	whole, err := m.named(word)
	if err != nil {
		return p.Fail("Error: %v", err)
	}
	t := whole.at(path...)
	if t == nil {
		return p.Fail("Error: The requested item does not exist.")
	}
	if form == "json" {
		b, err := json.MarshalIndent(t, "", "  ")
		if err != nil {
			return p.Fail("Error: %v", err)
		}
		p.Printf("%s\n", b)
		return 0
	}
	p.Printf("%-40s  %s\n%s  %s\n", "", word, strings.Repeat("-", 40), strings.Repeat("-", len(word)))
	var walk func(t *tree, key string, depth int)
	walk = func(t *tree, key string, depth int) {
		if key != "" {
			p.Printf("%-40s  %s\n", strings.Repeat("  ", depth-1)+key, t.text)
		}
		for _, k := range t.keys() {
			walk(t.kids[k], k, depth+1)
		}
	}
	walk(t, "", 0)
	return 0
}
