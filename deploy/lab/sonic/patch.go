package sonic

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/rocec/rocec/deploy/lab/posix"
)

// applyPatch is apply_patch_from_file of generic_config_updater/main.py: the whole result is held against the models, then the
// updater does its part and holds it against them again. A table that is missing has to be among the patch, as up to 202505.
func (m *Machine) applyPatch(p *posix.Proc, file string, dry bool) int {
	fail := func(err error) int {
		return failed(p, "apply-patch", "Failed to apply patch due to: "+err.Error(), err.Error())
	}
	b, err := m.open(p.Path(file), file)
	if err != nil {
		return fail(err)
	}
	patch, err := jsonpatch.DecodePatch(b)
	if err != nil {
		return fail(err)
	}
	var before error // the updater begins
	err = m.update(p, func(db database) (database, error) {
		after, err := patch.Apply(db.print())
		if err == nil {
			db, err = read(after)
		}
		if err == nil {
			err = m.accepted(db)
		}
		if err != nil && !errors.Is(err, errNoTable) {
			before = refusal("Validate json patch: %s failed due to: %v", pythonic(b), err)
			return nil, before
		}
		p.Printf("Patch Applier: localhost: Patch application starting.\n")
		return db, nil
	}, dry)
	switch {
	case before != nil:
		return fail(before)
	case err != nil:
		return fail(refusal("Failed to apply patch on the following scopes:\n- localhost: %v", err))
	}
	p.Printf("Patch Applier: localhost patch application completed.\nPatch applied successfully.\n")
	return 0
}

// pythonic is JSON as Python prints what it read of it; nothing of a patch is a number.
func pythonic(b []byte) string {
	var ops []struct {
		Op    string `json:"op"`
		From  string `json:"from"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	if err := json.Unmarshal(b, &ops); err != nil {
		return string(b)
	}
	list := make([]string, len(ops))
	for i, o := range ops {
		fields := []string{"'op': " + quoted(o.Op)}
		if o.From != "" {
			fields = append(fields, "'from': "+quoted(o.From))
		}
		fields = append(fields, "'path': "+quoted(o.Path))
		if o.Value != nil {
			fields = append(fields, "'value': "+quoted(o.Value))
		}
		list[i] = "{" + strings.Join(fields, ", ") + "}"
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func quoted(v any) string {
	var parts []string
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, quoted(k)+": "+quoted(v[k]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		for _, one := range v {
			parts = append(parts, quoted(one))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(v) + "'"
	}
	return fmt.Sprint(v)
}

// update is the config updater: what it does not allow changes nothing.
func (m *Machine) update(p *posix.Proc, change func(database) (database, error), dry bool) error {
	m.one.Lock()
	defer m.one.Unlock()
	before := m.snapshot()
	after, err := change(before.clone())
	if err != nil {
		return err
	}
	if err := m.allowed(before, after); err != nil {
		return err
	}
	var empty []string
	for table, rows := range after {
		if len(rows) == 0 {
			empty = append(empty, table)
		}
	}
	if len(empty) > 0 {
		slices.Sort(empty)
		gap := strings.Repeat(" ", 33) // the line goes on behind the margin of its source
		return refusal("localhost: given patch is not valid because it will result in empty tables%swhich is not allowed in ConfigDb.%sTable%s: %s",
			gap, gap, map[bool]string{true: "s", false: ""}[len(empty) != 1], strings.Join(empty, ", "))
	}
	err = m.accepted(after)
	switch {
	case errors.Is(err, errNoTable):
		return refusal("Given patch is not valid because it has changes to tables without YANG models")
	case err == nil:
		err = after.lanes()
	}
	if err != nil {
		return refusal("Given patch will produce invalid config. Error: %v", err)
	}
	if !dry {
		m.sorted(p, before, after)
	}
	return nil
}

// portCritical are the tables of whose rows the updater shuts the port: "requiring_patterns" of RequiredValueIdentifier in
// generic_config_updater/patch_sorter.py, alike from 202205 to master.
var portCritical = []string{"BUFFER_PG", "BUFFER_PORT_EGRESS_PROFILE_LIST", "BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_QUEUE", "PORT_QOS_MAP", "QUEUE"}

// sorted makes a change in the order of the updater: ports that have to be shut for it go down, all else changes, and what they
// shall be they are last (RequiredValueMoveExtender). The services see each of the three.
func (m *Machine) sorted(p *posix.Proc, before, after database) {
	shut := before.shutFor(after)
	down, dark := before.clone(), after.clone()
	admin := func(port, to string) {
		p.Printf("Patch Applier:   * [{\"op\": \"replace\", \"path\": \"/PORT/%s/admin_status\", \"value\": \"%s\"}]\n", port, to)
	}
	for _, port := range shut {
		admin(port, "down")
		for _, db := range []database{down, dark} {
			if db["PORT"][port] != nil {
				db["PORT"][port]["admin_status"] = "down"
			}
		}
	}
	m.move(before, down)
	m.move(down, dark)
	for _, port := range shut {
		if to := after.text("PORT", port, "admin_status"); to == "up" {
			admin(port, to)
		}
	}
	m.move(dark, after)
}

// shutFor are the ports that are up and have rows of portCritical that change.
func (db database) shutFor(after database) (list []string) {
	changed := map[string]bool{}
	for _, table := range portCritical {
		for key := range db[table] {
			changed[portOf(key)] = changed[portOf(key)] || !equalRow(db[table][key], after[table][key])
		}
		for key := range after[table] {
			changed[portOf(key)] = changed[portOf(key)] || !equalRow(db[table][key], after[table][key])
		}
	}
	for _, port := range db.ports() {
		if changed[port] && db.text("PORT", port, "admin_status") == "up" {
			list = append(list, port)
		}
	}
	return list
}

func portOf(key string) string {
	port, _, _ := strings.Cut(key, "|")
	return port
}

// move writes the rows that two states do not have alike: what came into the database besides stays (change_applier.py).
func (m *Machine) move(from, to database) {
	db := m.snapshot()
	for _, tables := range []database{from, to} {
		for table, rows := range tables {
			for key := range rows {
				row, is := to[table][key]
				switch {
				case equalRow(from[table][key], row):
				case !is:
					delete(db[table], key)
				case db[table] == nil:
					db[table] = map[string]map[string]any{key: maps.Clone(row)}
				default:
					db[table][key] = maps.Clone(row)
				}
			}
		}
	}
	m.put(db)
}

// rejected is what sonic_yang_ext.py says of a configuration that libyang does not take.
type rejected struct{ why error }

// Error is the text.
func (r rejected) Error() string { return "Data Loading Failed\n" + r.why.Error() }

// Unwrap is what the models say.
func (r rejected) Unwrap() error { return r.why }

// accepted is why SONiC's models do not accept a database, nil where they do.
func (m *Machine) accepted(db database) error {
	err := m.older(db)
	if err == nil {
		err = db.valid()
	}
	if err != nil {
		return rejected{err}
	}
	return nil
}

// older is what the models of an older branch do not take and those of the newest do: empty sets of priorities before 202505
// (sonic-buildimage#22252), the table and the field for rewriting before 202411 (sonic-buildimage#21395).
func (m *Machine) older(db database) error {
	if _, is := db["TC_TO_DSCP_MAP"]; is && m.before("202411") {
		return errNoTable
	}
	for _, port := range slices.Sorted(maps.Keys(db["PORT_QOS_MAP"])) {
		fields := db["PORT_QOS_MAP"][port]
		if _, is := fields["tc_to_dscp_map"]; is && m.before("202411") {
			return refusal("PORT_QOS_MAP|%s: Unknown element \"tc_to_dscp_map\".", port)
		}
		for _, name := range []string{"pfc_enable", "pfcwd_sw_enable"} {
			if v, is := fields[name]; is && v == "" && m.before("202505") {
				return refusal("PORT_QOS_MAP|%s: Unsatisfied pattern - \"\" does not conform to \"[0-7](,[0-7])*\" (%s).", port, name)
			}
		}
	}
	return nil
}

// before reports whether the image is of an older branch; "master" and "" are the newest.
func (m *Machine) before(branch string) bool {
	version := m.device.OS.Version
	return len(version) == len(branch) && version < branch
}

// lanes is validate_lanes of gu_common.py.
func (db database) lanes() error {
	owner := map[string]string{}
	for _, port := range db.ports() {
		if _, ok := db["PORT"][port]["lanes"]; !ok {
			continue
		}
		for lane := range strings.SplitSeq(db.text("PORT", port, "lanes"), ",") {
			lane = strings.TrimSpace(lane)
			switch other := owner[lane]; {
			case lane == "":
				return refusal("PORT '%s' has an empty lane", port)
			case strings.Trim(lane, "0123456789") != "":
				return refusal("PORT '%s' has an invalid lane '%s'", port, lane)
			case other != "" && other != port:
				return refusal("'%s' lane is used multiple times in PORT: {'%s', '%s'}", lane, port, other)
			}
			owner[lane] = port
		}
	}
	return nil
}

// allowed is validate_field_operation of gu_common.py.
func (m *Machine) allowed(before, after database) error {
	for _, one := range [][3]string{{"PFC_WD", "GLOBAL", "POLL_INTERVAL"}, {"PFC_WD", "GLOBAL", ""}, {"LOOPBACK_INTERFACE", "Loopback0", ""}} {
		table, key, field := one[0], one[1], one[2]
		had, has := before[table][key], after[table][key]
		gone := had != nil && has == nil && after[table] != nil
		at := "/" + table + "/" + key
		if field != "" {
			_, was := had[field]
			_, is := has[field]
			gone, at = was && !is && has != nil, at+"/"+field
		}
		if gone {
			return refusal("Given patch operation is invalid. Operation: remove is illegal on field: %s", at)
		}
	}
	if err := aclAllowed(before, after); err != nil {
		return err
	}
	if m.device.OS.Version == "202211" { // it has no gcu_field_operation_validators.conf.json
		return nil
	}
	for _, table := range []string{"BUFFER_POOL", "BUFFER_PROFILE", "PFC_WD", "WRED_PROFILE"} {
		if ok, function := m.mayChange(table, before[table], after[table]); !ok {
			return refusal("Modification of %s table is illegal- validating function generic_config_updater.field_operation_validators.%s returned False", table, function)
		}
	}
	return nil
}

// mayChange is rdma_config_update_validator and, since 202511, that of buffer profiles, which lets whole ones come and go.
func (m *Machine) mayChange(table string, before, after map[string]map[string]any) (bool, string) {
	const function = "rdma_config_update_validator"
	if equalRows(before, after) {
		return true, function
	}
	switch table {
	case "BUFFER_POOL":
		return false, function
	case "PFC_WD":
		return m.known, function
	case "WRED_PROFILE":
		return !m.before("202511") || m.known && onlyReplaces(before, after, func(key, field string) bool {
			return (key == "AZURE_LOSSLESS" || m.device.OS.Version == "202505") && strings.HasPrefix(field, "green_")
		}), function
	}
	tunes := func(_, field string) bool { return m.known && (field == "dynamic_th" || field == "xoff") }
	if m.before("202511") {
		return onlyReplaces(before, after, tunes), function
	}
	both := func(rows, others map[string]map[string]any) map[string]map[string]any {
		rows = maps.Clone(rows)
		maps.DeleteFunc(rows, func(key string, _ map[string]any) bool { return others[key] == nil })
		return rows
	}
	return onlyReplaces(both(before, after), both(after, before), tunes), "buffer_profile_config_update_validator"
}

// onlyReplaces reports whether rows differ in values of fields alone that may have others.
func onlyReplaces(before, after map[string]map[string]any, may func(key, field string) bool) bool {
	if len(before) != len(after) {
		return false
	}
	for key, fields := range after {
		old := before[key]
		if len(old) != len(fields) {
			return false
		}
		for name, v := range fields {
			if was, is := old[name]; !is || fmt.Sprint(was) != fmt.Sprint(v) && !may(key, name) {
				return false
			}
		}
	}
	return true
}

func equalRows(a, b map[string]map[string]any) bool { return maps.EqualFunc(a, b, equalRow) }

// equalRow compares rows; one without fields is one.
func equalRow(a, b map[string]any) bool {
	return (a == nil) == (b == nil) && maps.EqualFunc(a, b, func(v, w any) bool { return fmt.Sprint(v) == fmt.Sprint(w) })
}

// aclAllowed is illegal_dataacl_check of gu_common.py: the type of a table of rules for traffic, and its rules, do not change at once.
func aclAllowed(before, after database) error {
	var retyped []string
	for table, fields := range before["ACL_TABLE"] {
		was, is := fields["type"], after["ACL_TABLE"][table]["type"]
		if was != nil && is != nil && was != "CTRLPLANE" && is != "CTRLPLANE" && was != is {
			retyped = append(retyped, table)
		}
	}
	slices.Sort(retyped)
	keys := maps.Clone(before["ACL_RULE"])
	if keys == nil {
		keys = map[string]map[string]any{}
	}
	maps.Copy(keys, after["ACL_RULE"])
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		table, _, _ := strings.Cut(key, "|")
		if slices.Contains(retyped, table) && !equalRows(map[string]map[string]any{key: before["ACL_RULE"][key]}, map[string]map[string]any{key: after["ACL_RULE"][key]}) {
			return refusal("Modification of dataacl rule %s is illegal: %sacl table type changed in ['%s']", key, strings.Repeat(" ", 24), strings.Join(retyped, "', '"))
		}
	}
	return nil
}
