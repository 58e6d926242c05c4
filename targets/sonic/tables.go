package sonic

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// cell is one field of a row and the field of the intent it came from.
type cell struct {
	value string
	from  intent.Path
}

// row is one row of a table. A row without fields is written as {}.
type row map[string]cell

// tables is a part of config_db.json: table, key, row.
type tables map[string]map[string]row

// row finds or makes a row.
func (t tables) row(table, key string) row {
	if t[table] == nil {
		t[table] = map[string]row{}
	}
	if t[table][key] == nil {
		t[table][key] = row{}
	}
	return t[table][key]
}

func (r row) set(field, value string, from intent.Path) { r[field] = cell{value, from} }

// order is the order of tables in files and patches: what is referred to stands
// before what refers to it. Additions follow it, removals go backwards.
var order = []string{
	"PORT", "VRF", "PORTCHANNEL", "PORTCHANNEL_MEMBER", "VLAN", "VLAN_MEMBER",
	"LOOPBACK_INTERFACE", "INTERFACE", "PORTCHANNEL_INTERFACE", "MCLAG_DOMAIN", "MCLAG_INTERFACE", "MCLAG_UNIQUE_IP", "VLAN_INTERFACE",
	"DSCP_TO_TC_MAP", "DOT1P_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE",
	"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "TC_TO_DSCP_MAP", "SCHEDULER", "WRED_PROFILE",
	"BUFFER_POOL", "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "BUFFER_PROFILE", "CABLE_LENGTH", "BUFFER_PG", "BUFFER_QUEUE",
	"QUEUE", "PORT_QOS_MAP", "PFC_WD",
}

// links are the tables of the first fragment, everything below the QoS.
var links = order[:slices.Index(order, "DSCP_TO_TC_MAP")]

// only is the part that consists of the named tables.
func (t tables) only(names []string) tables {
	part := tables{}
	for _, n := range names {
		if len(t[n]) > 0 {
			part[n] = t[n]
		}
	}
	return part
}

// write prints the tables as JSON, one field per line, so that every line has
// one origin and a change of one field is a change of one line.
func (t tables) write(f *emit.File) {
	f.Line("{")
	names := slices.DeleteFunc(slices.Clone(order), func(n string) bool { return len(t[n]) == 0 })
	for i, name := range names {
		f.Line("    %s: {", quote(name))
		keys := slices.SortedFunc(maps.Keys(t[name]), natural)
		for j, key := range keys {
			writeRow(f, key, t[name][key], comma(j, len(keys)))
		}
		f.Line("    }%s", comma(i, len(names)))
	}
	f.Line("}")
}

func writeRow(f *emit.File, key string, r row, end string) {
	if len(r) == 0 {
		f.Line("        %s: {}%s", quote(key), end)
		return
	}
	f.Line("        %s: {", quote(key))
	fields := slices.SortedFunc(maps.Keys(r), natural)
	for i, field := range fields {
		f.From(r[field].from, "            %s: %s%s", quote(field), quote(r[field].value), comma(i, len(fields)))
	}
	f.Line("        }%s", end)
}

// plain is the tables as decoded JSON would be.
func (t tables) plain() map[string]any {
	out := map[string]any{}
	for name, rows := range t {
		table := map[string]any{}
		for key, r := range rows {
			fields := map[string]any{}
			for field, c := range r {
				fields[field] = c.value
			}
			table[key] = fields
		}
		out[name] = table
	}
	return out
}

func comma(i, n int) string {
	if i+1 < n {
		return ","
	}
	return ""
}

// quote is a JSON string. Marshalling a string cannot fail.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return strconv.Quote(s)
	}
	return string(b)
}
