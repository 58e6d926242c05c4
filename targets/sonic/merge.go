package sonic

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// merge makes the target of a patch: the captured configuration with every
// managed field as wanted, and without managed rows that are not.
type merge struct {
	device *intent.Device
	db     *database
	target map[string]any
	want   config
	loads  tables // what the config updater refuses
	stops  tables // what pfcwd stop takes out
	rest   tables // what has to wait
}

func (m *merge) run() {
	for table := range m.want.normal {
		for key, r := range m.want.normal.each(table) {
			if table == "PFC_WD" && (key == "GLOBAL" || m.restarts(key, r)) {
				continue
			}
			if table == "PFC_WD" && !m.watchdogByPatch() || table == "WRED_PROFILE" && !wredPatchable(m.device) {
				m.left(m.loads, table, key, r)
				continue
			}
			m.split(table, key)
			m.put(table, key, m.referable(table, key, r))
		}
	}
	if r := m.want.normal.at("PFC_WD", "GLOBAL"); r != nil {
		if m.loads["PFC_WD"] == nil && m.watchdogByPatch() {
			m.put("PFC_WD", "GLOBAL", r)
		} else { // no time may be shorter than the interval, and those of the rows come later
			m.left(m.loads, "PFC_WD", "GLOBAL", r)
		}
	}
	for table := range m.want.maintenance {
		for key, r := range m.want.maintenance.each(table) {
			m.left(m.rest, table, key, r)
			if table == "BUFFER_QUEUE" { // as it is until the window, in rows that the window's do not overlap with
				m.split(table, key)
			}
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
		// A patch must not leave an empty table. One that was empty is not of a patch.
		if rows, ok := v.(map[string]any); ok && len(rows) == 0 && (m.db.tables[table] == nil || len(m.db.rows(table)) > 0) {
			delete(m.target, table)
		}
	}
}

// watchdogByPatch: besides SKU and branch, the validators look at paths, and
// those of a whole PFC_WD table or GLOBAL row match none of their fields
// (field_operation_validators.py, rdma_config_update_validator).
func (m *merge) watchdogByPatch() bool {
	return m.watchdogKnown() && m.db.value("PFC_WD", "GLOBAL", "POLL_INTERVAL") != ""
}

func (m *merge) watchdogKnown() bool {
	return watchdogPatchable(m.device, m.db.value("DEVICE_METADATA", "localhost", "hwsku"))
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
	if !slices.Contains(indexed, table) {
		return
	}
	t, _ := m.target[table].(map[string]any)
	port, low, high, ok := span(key)
	if !ok {
		return
	}
	for other, v := range t {
		p, from, to, ok := span(other)
		if other == key || !ok || p != port || to < low || high < from || from == to && table != "BUFFER_PG" {
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
		if !ok {
			continue
		}
		if a.table == "PFC_WD" && !m.watchdogKnown() {
			m.stop(a.key)
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
				if len(r) == 0 && !is {
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
	for _, v := range m.target {
		rows, _ := v.(map[string]any)
		for _, r := range rows {
			names(named, r)
		}
	}
	for i := range m.db.unread {
		names(named, m.db.unread[i].value)
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

// names adds what a row names, in the plain form or in that of images up to 2021.
func names(to map[string]bool, row any) {
	fields, _ := row.(map[string]any)
	for _, value := range fields {
		for name := range strings.SplitSeq(text(value), ",") {
			to[plainRef(name)] = true
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
