package sonic

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wI2L/jsondiff"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// Patch is the RFC 6902 patch that brings a captured running configuration to
// the intent, for config apply-patch; the fragment of config_db.json with what
// apply-patch refuses on this ASIC and branch and config load merges; and the
// fragment for a maintenance window. Each is nil when there is nothing to do.
// Fields and rows that rocec does not manage stay as they are. The intent must
// have passed targets.Check. Removals of rows for ranges of queues stand first;
// Target.Rebase makes them a patch of their own (see withoutRanges).
func Patch(captured []byte, d *intent.Device) (patch, load, maintenance []byte, list diag.List) {
	r, list := rebased(captured, d, nil)
	if r.split || list.HasErrors() {
		return nil, nil, nil, list
	}
	if ops := append(r.first, r.ops...); len(ops) > 0 {
		patch = printPatch(ops)
	}
	text := func(t tables) []byte {
		if len(t) == 0 {
			return nil
		}
		var out emit.Out
		t.write(out.File(maintenanceFile, 0o644, emit.Data))
		return out.Artifacts[0].Bytes
	}
	return patch, text(r.loads), text(r.rest), list
}

// rebase is Target.Rebase.
func rebase(d *intent.Device, c targets.Captured, out *emit.Out) diag.List {
	text, ok := c.Files[running]
	if !ok {
		return diag.List{{Summary: "there is no " + running + " of " + d.Name, Help: "capture it with " + capture}}
	}
	r, list := rebased(text, d, c.Label)
	if list.HasErrors() {
		return list
	}
	lost, _ := boots(d, c) // plans and comparisons say what is odd about it
	if !r.split && len(r.first)+len(r.ops)+len(r.loads)+len(r.stops)+len(r.rest)+len(lost) == 0 {
		return list
	}
	want, rest := r.want, r.rest
	if r.split {
		splitSteps(d, want.breakouts, out)
		out.Use(kit())
		undoSplit(d, out)
		return list
	}
	gone := forbid(r.db.spare(notYet(absences(d), rest)), out)
	out.Use(kit())
	if len(want.breakouts) > 0 {
		want.breakouts.write(out.File(breakoutFile, 0o644, emit.Data))
	}
	files := fragments(config{normal: want.normal.without(rest)}, out)
	var steps []string
	for _, step := range []struct {
		suffix string
		ops    jsondiff.Patch
	}{{".clear.patch.json", r.first}, {".patch.json", r.ops}} {
		if len(step.ops) > 0 {
			steps = append(steps, "rocec-"+fileName(d.Name)+step.suffix)
			out.File(steps[len(steps)-1], 0o644, emit.Data).Text(string(printPatch(step.ops)))
		}
	}
	var loaded []string
	for _, part := range []struct {
		suffix string
		tables tables
	}{{loadSuffix, r.loads}, {stopSuffix, r.stops}} {
		if len(part.tables) > 0 {
			loaded = append(loaded, "rocec-"+fileName(d.Name)+part.suffix)
			part.tables.write(out.File(loaded[len(loaded)-1], 0o644, emit.Data))
		}
	}
	if len(steps)+len(loaded) > 0 {
		about := []string{
			"Applies the patch made from the captured running configuration, verifies and saves.",
			"The switch checks it against its own YANG models before the first change.",
		}
		if shutsPorts(r.first) || shutsPorts(r.ops) {
			about = append(about, "Ports whose rows of "+strings.Join(shutTables[:3], ", ")+" or "+shutTables[3]+" change go down meanwhile and come up again: the config",
				"updater shuts a port before it touches them.")
		}
		if len(r.loads) > 0 {
			about = append(about, "config load merges what config apply-patch refuses on this SKU and branch or what comes after it: the watchdog and ECN profiles.")
		}
		if len(r.stops) > 0 {
			about = append(about, "pfcwd stop ends the watchdog of ports, to begin anew or for good: while it runs, it keeps its action and its priorities.")
		}
		s := script(d, out, "apply.sh", emit.Apply, append(about, liveNote)...)
		s.before(slices.Concat(steps, loaded))
		s.canHash(d)
		s.checkpoint()
		for i, file := range steps {
			if i == 0 {
				s.Line("config apply-patch %s", file)
				s.gone(r.moved)
				continue
			}
			s.Line("if ! config apply-patch %s; then", file)
			s.Text("    echo \"ports that the first patch shut are shut still; sudo ./rollback.sh opens them\" >&2\n" +
				"    exit 1\nfi\n")
		}
		if x := r.stops["PFC_WD"]; x != nil {
			s.Line("pfcwd stop %s", strings.Join(x.sorted(), " "))
		}
		if len(r.loads) > 0 {
			s.Line("config load -y %s", loaded[0])
		}
		s.after(d, gone, files)
	} else if len(lost) > 0 {
		save(d, files, out)
		if len(rest) == 0 { // else the way back from the window is one for both
			unsave(d, out)
		}
	}
	var later []string
	if len(rest) > 0 {
		later = []string{"rocec-" + fileName(d.Name) + ".maintenance.json"}
		rest.write(out.File(later[0], 0o644, emit.Data))
		maintenance(d, rest.at("PORT_QOS_MAP", "global") != nil, out, later[0])
	}
	verifier(d, len(want.breakouts) > 0, gone, files, out)
	if len(steps)+len(loaded)+len(rest) > 0 {
		undo(d, append(loaded, later...), out)
	}
	return list
}

// loadSuffix ends the name of the fragment with what config load merges besides
// a patch, stopSuffix that of the rows that go besides one, as they were captured:
// what puts the first back puts these back too. live.sh knows loadSuffix.
const (
	loadSuffix = ".load.json"
	stopSuffix = ".stop" + loadSuffix
)

// rebasing is what brings a captured configuration to the intent.
type rebasing struct {
	db    *database
	want  config         // with addresses as they are spelled there
	moved []ifaceRow     // interfaces that go and come again
	first jsondiff.Patch // what has to be cleared
	ops   jsondiff.Patch
	loads tables // what the config updater refuses, and config load merges while the switch runs
	stops tables // rows of PFC_WD that pfcwd stop takes out
	rest  tables // what waits for a window
	split bool   // ports are still to be split, and there is none of the others
}

// rebased compares the captured configuration with the wanted one: what has to
// be cleared first, the patch after that, and what waits for a window. While
// ports are still to be split there is none of these: the patch is made from
// what the switch has after that.
func rebased(captured []byte, d *intent.Device, label func(string, int, int) diag.Label) (r rebasing, list diag.List) {
	db, list := decode(running, captured, label)
	if list.HasErrors() {
		return r, list
	}
	list = append(list, db.told(d.Name)...)
	want := build(d)
	split := unsplit(db, want, &list)
	fit(db, d, split, &list)
	if list.HasErrors() {
		return r, list
	}
	if split {
		list.Add(diag.Diagnostic{
			Severity: diag.Warning, Summary: fmt.Sprintf("ports of %s have to be split before anything else", d.Name),
			Help: "run " + splitScript + " in a maintenance window, capture the running configuration again and repeat this", Labels: db.at(breakoutTable),
		})
		return rebasing{db: db, want: want, split: true}, list
	}
	db.spell(want)
	db.claim(want)
	m := merge{device: d, db: db, target: db.plain(), want: want, loads: tables{}, stops: tables{}, rest: tables{}}
	m.run()
	rates(db, d, &list)
	moved, refused := m.moved()
	if refused = append(refused, db.blocked(d, want, absences(d), moved)...); len(refused) > 0 {
		return r, append(list, refused...)
	}
	between := without(withoutRanges(db.plain(), m.target), moved)
	m.closed(between)
	between = db.restore(between)
	first, err1 := jsondiff.Compare(db.restore(db.plain()), between)
	ops, err2 := jsondiff.Compare(between, db.restore(m.target))
	if err := errors.Join(err1, err2); err != nil {
		list.Add(diag.Diagnostic{Summary: "the running configuration of " + d.Name + " cannot be compared: " + err.Error()})
		return r, list
	}
	for _, step := range []jsondiff.Patch{first, ops} {
		slices.SortStableFunc(step, func(a, b jsondiff.Operation) int { return rank(a) - rank(b) })
	}
	return rebasing{db: db, want: want, moved: moved, first: first, ops: ops, loads: m.loads, stops: m.stops, rest: m.rest}, list
}

// withoutRanges takes out the rows for ranges that the target no longer has, with the
// rows they overlap. It is a step of its own: orchagent answers the removal of
// QUEUE|Ethernet0|3-4 by unbinding queues 3 and 4, whichever row came since,
// and apply-patch is free in the order in which it applies one patch.
func withoutRanges(db, target map[string]any) map[string]any {
	for _, table := range indexed {
		rows, _ := db[table].(map[string]any)
		wanted, _ := target[table].(map[string]any)
		var gone []string
		for key := range rows {
			if _, low, high, ok := span(key); ok && low < high && wanted[key] == nil {
				gone = append(gone, key)
			}
		}
		for len(gone) > 0 {
			g := gone[0]
			delete(rows, g)
			gone = gone[1:]
			for key := range rows {
				if overlap(key, g) && !slices.Contains(gone, key) {
					gone = append(gone, key)
				}
			}
		}
		if rows != nil && len(rows) == 0 {
			delete(db, table)
		}
	}
	return db
}

// closed keeps the ports whose rows the first patch removes shut until the second one
// opens them, so that they go down once, and so that the buffer manager, which makes
// its groups anew when a port opens, does so of what it is told by then [sonic-swss
// cfgmgr/buffermgr.cpp doSpeedUpdateTask]. Its other groups that have to go, go with
// them: on Spectrum it takes them from a port that is down.
func (m *merge) closed(between map[string]any) {
	ports, _ := between["PORT"].(map[string]any)
	shut := map[string]bool{}
	for _, table := range shutTables {
		rows, _ := between[table].(map[string]any)
		for key := range m.db.rows(table) {
			name, _, _ := strings.Cut(key, "|")
			if port, _ := ports[name].(map[string]any); rows[key] == nil && text(port["admin_status"]) == "up" {
				port["admin_status"], shut[name] = "down", true
			}
		}
	}
	groups, _ := between["BUFFER_PG"].(map[string]any)
	wanted, _ := m.target["BUFFER_PG"].(map[string]any)
	for key := range groups {
		name, _, _ := strings.Cut(key, "|")
		if shut[name] && strings.HasPrefix(m.db.value("BUFFER_PG", key, "profile"), looked) && wanted[key] == nil {
			delete(groups, key)
		}
	}
	if groups != nil && len(groups) == 0 {
		delete(between, "BUFFER_PG")
	}
}

func overlap(a, b string) bool {
	p, low, high, ok1 := span(a)
	q, from, to, ok2 := span(b)
	return ok1 && ok2 && p == q && low <= to && from <= high
}

// fit finds what makes a capture and an intent two different switches.
func fit(db *database, d *intent.Device, split bool, list *diag.List) {
	if model := db.value("DEVICE_METADATA", "localhost", optionModel); model != "" && model != bufferModel(d) {
		list.Add(diag.Diagnostic{
			Summary: fmt.Sprintf("%s runs the %s buffer model, its target has %s", d.Name, model, bufferModel(d)),
			Help:    fmt.Sprintf("write options = { %s = %q } in the target", optionModel, model),
			Labels:  db.at("DEVICE_METADATA"),
		})
	}
	if len(d.QoS) > 0 {
		otherTables(db, d, list)
	}
	for i := range d.Ports {
		if p := &d.Ports[i]; !p.Verify && db.rows("PORT")[p.Name] == nil && !(split && p.Split != nil) {
			list.Add(diag.Diagnostic{
				Summary: fmt.Sprintf("%s has no port %s", d.Name, p.Name),
				Help:    "write breakout on the port that it is split off, or name a port that exists",
				Labels:  db.at("PORT"),
			})
		}
	}
}

// otherTables finds what makes the QoS tables of a switch others than those that
// are written here [qos_config.j2: voq_chassis and tunnel_qos_remap_enable, alike
// from 202205 to master].
func otherTables(db *database, d *intent.Device, list *diag.List) {
	if db.value("DEVICE_METADATA", "localhost", "switch_type") == "voq" {
		list.Add(diag.Diagnostic{
			Summary: d.Name + " has virtual output queues: its QUEUE rows name system ports",
			Help:    "leave its QoS to the image: virtual output queues are not covered", Labels: db.at("DEVICE_METADATA"),
		})
	}
	if db.value("SYSTEM_DEFAULTS", "tunnel_qos_remap", "status") == "enabled" {
		list.Add(diag.Diagnostic{
			Summary: d.Name + " is one half of a dual ToR that sends bounced RDMA on priorities of its own (SYSTEM_DEFAULTS|tunnel_qos_remap)",
			Help:    "leave its QoS to the image: the maps written here have no priorities for what comes back from the other half", Labels: db.at("SYSTEM_DEFAULTS"),
		})
	}
}

// shutsPorts reports whether the config updater shuts ports for a patch.
func shutsPorts(ops jsondiff.Patch) bool {
	return slices.ContainsFunc(ops, func(op jsondiff.Operation) bool {
		table, _, _ := strings.Cut(strings.TrimPrefix(op.Path, "/"), "/")
		return slices.Contains(shutTables, table)
	})
}

// rank orders operations: additions and replacements by table, so that what is
// referred to comes first, then removals the other way.
func rank(op jsondiff.Operation) int {
	table, _, _ := strings.Cut(strings.TrimPrefix(op.Path, "/"), "/")
	i := slices.Index(order, table)
	if op.Type == jsondiff.OperationRemove {
		return 2*len(order) - i
	}
	return i
}

// printPatch writes one operation per line.
func printPatch(ops jsondiff.Patch) []byte {
	var b strings.Builder
	b.WriteString("[\n")
	for i, op := range ops {
		text := fmt.Sprintf(`{"op": %s, "path": %s`, quote(op.Type), quote(op.Path))
		if op.Type != jsondiff.OperationRemove {
			v, err := json.Marshal(op.Value)
			if err != nil {
				v = []byte("null") // decoded JSON and strings only: cannot happen
			}
			text += `, "value": ` + string(v)
		}
		b.WriteString("    " + text + "}" + comma(i, len(ops)) + "\n")
	}
	b.WriteString("]\n")
	return []byte(b.String())
}

func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_", r) {
			return r
		}
		return '_'
	}, s)
}
