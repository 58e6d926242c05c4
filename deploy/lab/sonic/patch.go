package sonic

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/rocec/rocec/deploy/lab/posix"
	"github.com/rocec/rocec/deploy/lab/sonic/yang"
)

// applyPatch is apply_patch_from_file of generic_config_updater/main.py: the whole result is held against the models, then the
// updater does its part and holds it against them again. A table that is missing has to be among the patch, as up to 202505.
func (m *Machine) applyPatch(ctx context.Context, p *posix.Proc, file string, dry bool) int {
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
	err = m.update(ctx, func(db database) (database, error) {
		after, err := patch.Apply(db.print())
		if err == nil {
			db, err = read(after)
		}
		if err == nil {
			err = m.accepted(ctx, db)
		}
		if err != nil && !errors.Is(err, yang.ErrNoTable) {
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
func (m *Machine) update(ctx context.Context, change func(database) (database, error), dry bool) error {
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
	err = m.accepted(ctx, after)
	switch {
	case errors.Is(err, yang.ErrNoTable):
		return refusal("Given patch is not valid because it has changes to tables without YANG models")
	case err == nil:
		err = after.lanes()
	}
	if err != nil {
		return refusal("Given patch will produce invalid config. Error: %v", err)
	}
	if !dry {
		m.put(after)
	}
	return nil
}

// rejected is what sonic_yang_ext.py says of a configuration that libyang does not take.
type rejected struct{ why error }

// Error is the text.
func (r rejected) Error() string { return "Data Loading Failed\n" + r.why.Error() }

// Unwrap is what the models say.
func (r rejected) Unwrap() error { return r.why }

// accepted is why SONiC's models do not accept a database, nil where they do and where the lab has no models.
func (m *Machine) accepted(ctx context.Context, db database) error {
	if err := db.older(m.device.OS.Version); err != nil {
		return rejected{err}
	}
	if m.accept == nil {
		return nil
	}
	text := db.print()
	digest := sha256.Sum256(text)
	m.mu.Lock()
	again := m.good == digest
	m.mu.Unlock()
	if again {
		return nil
	}
	if err := m.accept(ctx, text); err != nil {
		return rejected{err}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.good = digest
	return nil
}

// older is what the models of an older branch do not take and those of the newest do: empty sets of priorities before 202505
// (sonic-buildimage#22252), the table and the field for rewriting before 202411 (sonic-buildimage#21395).
func (db database) older(version string) error {
	before := func(branch string) bool { return len(version) == len(branch) && version < branch }
	if _, is := db["TC_TO_DSCP_MAP"]; is && before("202411") {
		return yang.ErrNoTable
	}
	for _, port := range slices.Sorted(maps.Keys(db["PORT_QOS_MAP"])) {
		fields := db["PORT_QOS_MAP"][port]
		if _, is := fields["tc_to_dscp_map"]; is && before("202411") {
			return refusal("PORT_QOS_MAP|%s: Unknown element \"tc_to_dscp_map\".", port)
		}
		for _, name := range []string{"pfc_enable", "pfcwd_sw_enable"} {
			if v, is := fields[name]; is && v == "" && before("202505") {
				return refusal("PORT_QOS_MAP|%s: Unsatisfied pattern - \"\" does not conform to \"[0-7](,[0-7])*\" (%s).", port, name)
			}
		}
	}
	return nil
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
	for _, table := range []string{"BUFFER_POOL", "BUFFER_PROFILE", "PFC_WD"} {
		if ok, function := m.mayChange(table, before[table], after[table]); !ok {
			return refusal("Modification of %s table is illegal- validating function generic_config_updater.field_operation_validators.%s returned False", table, function)
		}
	}
	return nil
}

// mayChange is rdma_config_update_validator and that of buffer profiles.
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
	}
	for key, fields := range after { // whole profiles may come and go
		old := before[key]
		if old == nil {
			continue
		}
		for name, v := range fields {
			if was, ok := old[name]; ok && fmt.Sprint(was) == fmt.Sprint(v) {
				continue
			} else if !m.known || !ok || name != "dynamic_th" && name != "xoff" {
				return false, "buffer_profile_config_update_validator"
			}
		}
		for name := range old {
			if _, ok := fields[name]; !ok {
				return false, "buffer_profile_config_update_validator"
			}
		}
	}
	return true, function
}

func equalRows(a, b map[string]map[string]any) bool {
	return maps.EqualFunc(a, b, func(x, y map[string]any) bool {
		return maps.EqualFunc(x, y, func(v, w any) bool { return fmt.Sprint(v) == fmt.Sprint(w) })
	})
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
