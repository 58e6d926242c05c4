package sonic

import (
	"encoding/json"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// cell is one field of a row and the field of the intent it came from.
type cell struct {
	value string
	from  intent.Path
	list  bool // of names, value has them with commas as ConfigDB does
}

// plain is the cell as decoded JSON would be.
func (c cell) plain() any {
	if !c.list {
		return c.value
	}
	var list []any
	for name := range strings.SplitSeq(c.value, ",") {
		list = append(list, name)
	}
	return list
}

// row is one row of a table. A row without fields is written as {}. Rows of
// ports that have the same QoS are one and the same value.
type row map[string]cell

// table is rows by key, and the keys in the order in which they came.
type table struct {
	keys []string
	rows map[string]row
}

// tables is a part of config_db.json, by the name of the table.
type tables map[string]*table

// row finds or makes a row.
func (t tables) row(name, key string) row {
	if r := t.at(name, key); r != nil {
		return r
	}
	r := row{}
	t.share(name, key, r)
	return r
}

// share puts a row that other keys may have too. None of them may change it.
func (t tables) share(name, key string, r row) {
	x := t[name]
	if x == nil {
		x = &table{rows: map[string]row{}}
		t[name] = x
	}
	if x.rows[key] == nil {
		x.keys = append(x.keys, key)
	}
	x.rows[key] = r
}

// at is a row, nil if there is none.
func (t tables) at(name, key string) row {
	if x := t[name]; x != nil {
		return x.rows[key]
	}
	return nil
}

// each yields the rows of a table in the order in which they came.
func (t tables) each(name string) iter.Seq2[string, row] {
	return func(yield func(string, row) bool) {
		x := t[name]
		if x == nil {
			return
		}
		for _, key := range x.keys {
			if !yield(key, x.rows[key]) {
				return
			}
		}
	}
}

// sorted are the keys of a table in natural order.
func (x *table) sorted() []string {
	if slices.IsSortedFunc(x.keys, intent.Natural) {
		return x.keys
	}
	return slices.SortedFunc(slices.Values(x.keys), intent.Natural)
}

func (r row) set(field, value string, from intent.Path) { r[field] = cell{value: value, from: from} }

// list gives a field names without commas in them, in their order.
func (r row) list(field string, names []string, from intent.Path) {
	r[field] = cell{value: strings.Join(names, ","), from: from, list: true}
}

// order is the order of tables in files and patches: what is referred to stands
// before what refers to it. Additions follow it, removals go backwards.
var order = []string{
	breakoutTable, "PORT", "VRF", "PORTCHANNEL", "PORTCHANNEL_MEMBER", "VLAN", "VLAN_MEMBER",
	"LOOPBACK_INTERFACE", "INTERFACE", "PORTCHANNEL_INTERFACE", "MCLAG_DOMAIN", "MCLAG_INTERFACE", "MCLAG_UNIQUE_IP", "VLAN_INTERFACE", aclTable, aclRule, hashTable,
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
		if t[n] != nil {
			part[n] = t[n]
		}
	}
	return part
}

// without is the tables less the fields that another one has, and the rows that
// it leaves nothing of.
func (t tables) without(other tables) tables {
	part := tables{}
	for name := range t {
		for key, r := range t.each(name) {
			waits := other.at(name, key)
			if waits == nil {
				part.share(name, key, r)
				continue
			}
			for field, c := range r {
				if _, is := waits[field]; !is {
					part.row(name, key)[field] = c
				}
			}
		}
	}
	return part
}

// write prints the tables as JSON, one field per line, so that every line has
// one origin and a change of one field is a change of one line.
func (t tables) write(f *emit.File) { t.writeWith(nil, f) }

// writeWith does so with tables that were printed before, by bodies of that name.
// No table is in both.
func (t tables) writeWith(printed []emit.Artifact, f *emit.File) {
	w := rowWriter{file: f, bodies: map[uintptr]body{}}
	f.Line("{")
	size := 0
	ready := make(map[string]*emit.Artifact, len(printed))
	for i := range printed {
		ready[printed[i].Path] = &printed[i]
		size += len(printed[i].Bytes) + 8
	}
	names := slices.DeleteFunc(slices.Clone(order), func(n string) bool { return t[n] == nil && ready[n] == nil })
	f.Grow(w.size(t, names) + size)
	for i, name := range names {
		if a := ready[name]; a != nil {
			f.Insert(a)
		} else {
			w.table(name, t[name])
		}
		f.Put(intent.Path{}, "    }", comma(i, len(names)))
	}
	f.Line("}")
}

// print writes each table as a body for writeWith.
func (t tables) print(out *emit.Out) {
	for _, name := range order {
		if t[name] == nil {
			continue
		}
		w := rowWriter{file: out.File(name, 0o644, emit.Data), bodies: map[uintptr]body{}}
		w.file.Grow(w.size(t, []string{name}))
		w.table(name, t[name])
	}
}

// rowWriter keeps the text of rows by their identity: most rows of a switch
// stand for many ports.
type rowWriter struct {
	file   *emit.File
	bodies map[uintptr]body
}

// body is the lines of the fields of a row.
type body struct {
	text string
	from []intent.Path
}

// table writes a table up to its closing brace.
func (w *rowWriter) table(name string, x *table) {
	w.file.Put(intent.Path{}, "    ", quote(name), ": {")
	keys := x.sorted()
	for i, key := range keys {
		w.row(key, x.rows[key], comma(i, len(keys)))
	}
}

func (w *rowWriter) row(key string, r row, end string) {
	if len(r) == 0 {
		w.file.Put(intent.Path{}, "        ", quote(key), ": {}", end)
		return
	}
	w.file.Put(intent.Path{}, "        ", quote(key), ": {")
	b := w.body(r)
	w.file.Block(b.text, b.from)
	w.file.Put(intent.Path{}, "        }", end)
}

func (w *rowWriter) body(r row) body {
	id := reflect.ValueOf(r).Pointer()
	b, known := w.bodies[id]
	if !known {
		b = fieldsOf(r)
		w.bodies[id] = b
	}
	return b
}

// size is how many bytes tables take, and some more.
func (w *rowWriter) size(t tables, names []string) int {
	const around = 32 // a key's own characters besides
	n := around
	for _, name := range names {
		n += 2*around + len(name)
		for key, r := range t.each(name) {
			if n += around + len(key); len(r) > 0 {
				n += len(w.body(r).text)
			}
		}
	}
	return n
}

func fieldsOf(r row) body {
	fields := slices.SortedFunc(maps.Keys(r), intent.Natural)
	text, from := make([]byte, 0, 64*len(fields)), make([]intent.Path, 0, len(fields))
	for i, field := range fields {
		text = append(text, "            "...)
		text = appendQuoted(text, field)
		text = append(text, ": "...)
		text = r[field].append(text)
		text = append(append(text, comma(i, len(fields))...), '\n')
		from = append(from, r[field].from)
	}
	return body{string(text), from}
}

// append writes the value as JSON, on one line.
func (c cell) append(b []byte) []byte {
	if !c.list {
		return appendQuoted(b, c.value)
	}
	b = append(b, '[')
	for i, name := range strings.Split(c.value, ",") {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendQuoted(b, name)
	}
	return append(b, ']')
}

// plain is the tables as decoded JSON would be.
func (t tables) plain() map[string]any {
	out := map[string]any{}
	for name := range t {
		rows := map[string]any{}
		for key, r := range t.each(name) {
			fields := map[string]any{}
			for field, c := range r {
				fields[field] = c.plain()
			}
			rows[key] = fields
		}
		out[name] = rows
	}
	return out
}

func comma(i, n int) string {
	if i+1 < n {
		return ","
	}
	return ""
}

// quote is a JSON string.
func quote(s string) string { return string(appendQuoted(make([]byte, 0, len(s)+2), s)) }

// appendQuoted appends a JSON string as encoding/json writes it. Nearly all of
// them need no escape.
func appendQuoted(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, err := json.Marshal(s)
			if err != nil {
				return strconv.AppendQuote(b, s) // marshalling a string cannot fail
			}
			return append(b, text...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
