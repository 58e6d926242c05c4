package sonic

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
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
	if list.HasErrors() || !r.split && len(r.first)+len(r.ops)+len(r.loads)+len(r.rest) == 0 {
		return list
	}
	want, rest := build(d), r.rest
	if r.split {
		splitSteps(d, want.breakouts, out)
		out.Use(kit())
		undoSplit(d, out)
		return list
	}
	gone := forbid(notYet(absences(d), rest), out)
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
	loaded := ""
	if len(r.loads) > 0 {
		loaded = "rocec-" + fileName(d.Name) + loadSuffix
		r.loads.write(out.File(loaded, 0o644, emit.Data))
	}
	if len(steps)+len(r.loads) > 0 {
		about := []string{
			"Applies the patch made from the captured running configuration, verifies and saves.",
			"The switch checks it against its own YANG models before the first change.",
		}
		needed := steps
		if loaded != "" {
			about = append(about, "config load merges what config apply-patch refuses on this ASIC and branch, the watchdog and ECN profiles.")
			needed = append(slices.Clone(steps), loaded)
		}
		s := script(d, out, "apply.sh", emit.Apply, append(about, liveNote)...)
		s.before(needed)
		s.canHash(d)
		s.checkpoint()
		for _, file := range steps {
			s.Line("config apply-patch %s", file)
		}
		if loaded != "" {
			s.Line("config load -y %s", loaded)
		}
		s.after()
	}
	if len(rest) > 0 {
		file := "rocec-" + fileName(d.Name) + ".maintenance.json"
		rest.write(out.File(file, 0o644, emit.Data))
		maintenance(d, rest.at("PORT_QOS_MAP", "global") != nil, out, file)
	}
	verifier(d, len(want.breakouts) > 0, gone, files, out)
	undo(d, loaded, out)
	return list
}

// loadSuffix ends the name of the fragment with what config load merges besides
// a patch. live.sh knows it too.
const loadSuffix = ".load.json"

// rebasing is what brings a captured configuration to the intent.
type rebasing struct {
	first jsondiff.Patch // what has to be cleared
	ops   jsondiff.Patch
	loads tables // what the config updater refuses, and config load merges while the switch runs
	rest  tables // what waits for a window
	split bool   // ports are still to be split, and there is none of the others
}

// rebased compares the captured configuration with the wanted one: what has to
// be cleared first, the patch after that, and what waits for a window. While
// ports are still to be split there is none of these: the patch is made from
// what the switch has after that.
func rebased(captured []byte, d *intent.Device, label func(string, int, int) diag.Label) (r rebasing, list diag.List) {
	db, list := decode(captured, label)
	if list.HasErrors() {
		return r, list
	}
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
		return rebasing{split: true}, list
	}
	m := merge{device: d, db: db, target: db.plain(), want: want, loads: tables{}, rest: tables{}}
	m.run()
	between := withoutRanges(db.plain(), m.target)
	first, err1 := jsondiff.Compare(db.plain(), between)
	ops, err2 := jsondiff.Compare(between, m.target)
	if err := errors.Join(err1, err2); err != nil {
		list.Add(diag.Diagnostic{Summary: "the running configuration of " + d.Name + " cannot be compared: " + err.Error()})
		return r, list
	}
	slices.SortStableFunc(ops, func(a, b jsondiff.Operation) int { return rank(a) - rank(b) })
	return rebasing{first: first, ops: ops, loads: m.loads, rest: m.rest}, list
}

// withoutRanges takes out the rows for ranges that the target no longer has, with the
// rows they overlap. It is a step of its own: orchagent answers the removal of
// QUEUE|Ethernet0|3-4 by unbinding queues 3 and 4, whichever row came since,
// and apply-patch is free in the order in which it applies one patch.
func withoutRanges(db, target map[string]any) map[string]any {
	for _, table := range []string{"QUEUE", "BUFFER_PG"} {
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
				if overlaps(key, g) && !slices.Contains(gone, key) {
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

func overlaps(a, b string) bool {
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

// merge makes the target of a patch: the captured configuration with every
// managed field as wanted, and without managed rows that are not.
type merge struct {
	device *intent.Device
	db     *database
	target map[string]any
	want   config
	loads  tables // what the config updater refuses
	rest   tables // what has to wait
}

func (m *merge) run() {
	for table := range m.want.normal {
		for key, r := range m.want.normal.each(table) {
			if table == "PFC_WD" && !m.watchdogByPatch() || table == "WRED_PROFILE" && !wredPatchable(m.device) {
				m.left(m.loads, table, key, r)
				continue
			}
			m.split(table, key)
			m.put(table, key, m.referable(table, key, r))
		}
	}
	for table := range m.want.maintenance {
		for key, r := range m.want.maintenance.each(table) {
			m.left(m.rest, table, key, r)
			if table != "BUFFER_PG" {
				continue
			}
			// Until the window the group has computed headroom: with PFC it must not be lossy.
			m.split(table, key)
			if m.table(table)[key] == nil {
				m.put(table, key, row{"profile": {value: computed}})
			}
		}
	}
	m.removals()
	for table, v := range m.target {
		// A patch must not leave an empty table.
		if rows, ok := v.(map[string]any); ok && len(rows) == 0 {
			delete(m.target, table)
		}
	}
}

// watchdogByPatch: besides ASIC and branch, the validators look at paths, and
// those of a whole PFC_WD table or GLOBAL row match none of their fields
// (field_operation_validators.py, rdma_config_update_validator).
func (m *merge) watchdogByPatch() bool {
	return watchdogPatchable(m.device) && m.db.value("PFC_WD", "GLOBAL", "POLL_INTERVAL") != ""
}

// referable is a row without its WRED profile where that comes after the patch: a
// patch may not name what is not there. The queue gets the name after it too.
func (m *merge) referable(table, key string, r row) row {
	profile, marks := r["wred_profile"]
	if table != "QUEUE" || !marks || wredPatchable(m.device) || m.db.rows("WRED_PROFILE")[profile.value] != nil {
		return r
	}
	m.left(m.loads, table, key, row{"wred_profile": profile})
	rest := maps.Clone(r)
	delete(rest, "wred_profile")
	return rest
}

func (m *merge) table(name string) map[string]any {
	if t, ok := m.target[name].(map[string]any); ok {
		return t
	}
	t := map[string]any{}
	m.target[name] = t
	return t
}

func (m *merge) put(table, key string, r row) {
	t := m.table(table)
	fields, ok := t[key].(map[string]any)
	if !ok {
		fields = map[string]any{}
		t[key] = fields
	}
	for field, c := range r {
		// Numbers of a capture are text in ConfigDB too; an old reference is the same reference.
		if have, ok := fields[field]; !ok || text(have) != c.value {
			fields[field] = c.plain()
		}
	}
}

// left keeps the fields that are not there yet for another way than the patch.
func (m *merge) left(to tables, table, key string, r row) {
	if len(m.db.rows(table)[key]) == 0 && len(r) == 0 {
		to.row(table, key)
	}
	for field, c := range r {
		if m.db.value(table, key, field) != c.value {
			to.row(table, key)[field] = c
		}
	}
}

// split turns a row for a range that meets a wanted row into rows for its parts.
func (m *merge) split(table, key string) {
	if table != "QUEUE" && table != "BUFFER_PG" {
		return
	}
	t, _ := m.target[table].(map[string]any)
	port, low, high, ok := span(key)
	if !ok {
		return
	}
	for other, v := range t {
		p, from, to, ok := span(other)
		if other == key || !ok || p != port || to < low || high < from || from == to && table == "QUEUE" {
			continue
		}
		delete(t, other)
		for i := from; i <= to; i++ {
			single := port + "|" + strconv.Itoa(i)
			if _, there := t[single]; there || i >= low && i <= high && table == "BUFFER_PG" {
				continue
			}
			if table == "BUFFER_PG" && m.groupsManaged(port) && strings.EqualFold(text(field(v, "profile")), computed) {
				continue // a lossless group that no lossless priority uses
			}
			t[single] = copied(v)
		}
	}
}

// groupsManaged reports whether the lossless groups of a port are an intent's matter.
func (m *merge) groupsManaged(port string) bool {
	return slices.ContainsFunc(m.device.Ports, func(p intent.Port) bool {
		return p.Name == port && !p.Verify && m.device.QoSNamed(p.QoS) != nil
	})
}

// removals takes out managed rows and fields that are not wanted.
func (m *merge) removals() {
	for _, a := range absences(m.device) {
		m.split(a.table, a.key)
		t, ok := m.target[a.table].(map[string]any)
		if !ok || a.table == "PFC_WD" && !watchdogPatchable(m.device) {
			continue
		}
		for key, v := range t {
			r, ok := v.(map[string]any)
			if !ok || !matches(a.key, key) || slices.Contains(a.keep, key) || a.field != "" && (r[a.field] == nil || !matches(a.value, text(r[a.field]))) {
				continue
			}
			wanted, is := m.wanted(a.table, key)
			switch {
			case a.row && !is:
				delete(t, key)
			case !a.row && wanted[a.field].value == "":
				delete(r, a.field)
				if len(r) == 0 {
					delete(t, key)
				}
			}
		}
	}
	m.unused()
}

// wanted is a row of either half of the wanted configuration.
func (m *merge) wanted(table, key string) (row, bool) {
	if r := m.want.normal.at(table, key); r != nil {
		return r, true
	}
	r := m.want.maintenance.at(table, key)
	return r, r != nil
}

// unused takes out objects that rocec made and nothing names any more. Buffer
// profiles stay: whether they may go depends on the image.
func (m *merge) unused() {
	named := map[string]bool{}
	for _, table := range []string{"PORT_QOS_MAP", "QUEUE"} {
		for _, v := range m.table(table) {
			r, _ := v.(map[string]any)
			for _, value := range r {
				named[text(value)] = true
			}
		}
	}
	from, to := slices.Index(order, "DSCP_TO_TC_MAP"), slices.Index(order, "BUFFER_POOL")
	for _, table := range order[from:to] {
		t, ok := m.target[table].(map[string]any)
		if !ok || table == "WRED_PROFILE" && !wredPatchable(m.device) {
			continue
		}
		for name := range t {
			if m.want.normal.at(table, name) == nil && ours(name) && !named[name] {
				delete(t, name)
			}
		}
	}
}

// span reads "Ethernet0|3-4".
func span(key string) (port string, low, high int, ok bool) {
	port, index, found := strings.Cut(key, "|")
	a, b, isRange := strings.Cut(index, "-")
	if !isRange {
		b = a
	}
	low, err1 := strconv.Atoi(a)
	high, err2 := strconv.Atoi(b)
	return port, low, high, found && err1 == nil && err2 == nil && 0 <= low && low <= high && high < maxIndex
}

// maxIndex is more than any queue or group index of the YANG models.
const maxIndex = 64

func field(v any, name string) any {
	r, _ := v.(map[string]any)
	return r[name]
}

func copied(v any) any {
	r, ok := v.(map[string]any)
	if !ok {
		return v
	}
	return maps.Clone(r)
}
