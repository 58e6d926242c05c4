package sonic

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
)

// database is a captured ConfigDB. Tables that are not rows of fields, such as
// the FRR text that show runningconfiguration all adds, are not in it.
type database struct {
	tables map[string]map[string]map[string]any
	unread []unreadRow // of the tables that are written here
	file   string      // of the capture
	text   []byte
	label  func(file string, offset, length int) diag.Label
}

// decode reads the JSON text of a running configuration. The commands that
// print it may stand behind a prompt or a warning, so what precedes the first
// brace is passed over.
func decode(file string, captured []byte, label func(string, int, int) diag.Label) (*database, diag.List) {
	db := &database{tables: map[string]map[string]map[string]any{}, file: file, text: captured, label: label}
	var list diag.List
	start := max(0, bytes.IndexByte(captured, '{'))
	dec := json.NewDecoder(bytes.NewReader(captured[start:]))
	dec.UseNumber()
	var top map[string]any
	if err := dec.Decode(&top); err != nil {
		offset := start + int(dec.InputOffset())
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			offset = start + int(syntax.Offset)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the text ends early")
		}
		list.Add(diag.Diagnostic{
			Summary: file + " is not JSON: " + err.Error(),
			Help:    "capture the whole output of " + map[string]string{running: capture, stored: captureStored}[file],
			Labels:  db.span(min(offset, len(captured)), 0),
		})
		return db, list
	}
	for _, name := range slices.Sorted(maps.Keys(top)) {
		if top[name] == nil {
			continue // no such table: see rowsOf
		}
		rows, ok := top[name].(map[string]any)
		switch ours := slices.Contains(order, name); {
		case ok && ours:
			rows = db.unreadOf(name, rows)
		case ours:
			db.unread = append(db.unread, unreadRow{table: name, value: top[name], why: "does not hold rows of fields", whole: true})
		}
		if table, fields := rowsOf(rows); ok && fields {
			db.tables[name] = table
		}
	}
	return db, list
}

// rowsOf reads a table. ConfigDB has no null: to load one takes a table or a row
// away, and a field gets what Python calls it, as flags do in text [sonic-swss-common
// common/configdb.h typed_to_raw and mod_config, configdb.cpp mod_entry].
func rowsOf(rows map[string]any) (map[string]map[string]any, bool) {
	table := make(map[string]map[string]any, len(rows))
	for key, f := range rows {
		if f == nil {
			continue
		}
		fields, ok := f.(map[string]any)
		if !ok {
			return nil, false
		}
		delete(fields, "NULL") // how ConfigDB stores a row without fields
		for name, v := range fields {
			if v == nil {
				fields[name] = "None"
			}
		}
		table[key] = fields
	}
	return table, true
}

func (db *database) rows(table string) map[string]map[string]any { return db.tables[table] }

// keys are the keys of a table in natural order.
func (db *database) keys(table string) []string {
	return slices.SortedFunc(maps.Keys(db.tables[table]), intent.Natural)
}

// value is a field as text, "" if there is none.
func (db *database) value(table, key, field string) string {
	return text(db.tables[table][key][field])
}

// ref is a field that names a row of another table, in the plain form or in the
// form of images up to 2021: "[DSCP_TO_TC_MAP|AZURE]".
func (db *database) ref(table, key, field string) string {
	return plainRef(db.value(table, key, field))
}

func plainRef(s string) string {
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		if _, name, ok := strings.Cut(s[1:len(s)-1], "|"); ok {
			return name
		}
	}
	return s
}

func (db *database) has(table, key, field string) bool {
	_, ok := db.tables[table][key][field]
	return ok
}

// plain is a deep copy.
func (db *database) plain() map[string]any {
	out := make(map[string]any, len(db.tables))
	for name, rows := range db.tables {
		table := make(map[string]any, len(rows))
		for key, fields := range rows {
			table[key] = maps.Clone(fields)
		}
		out[name] = table
	}
	return out
}

// text is a JSON scalar as ConfigDB keeps it, and a list of them as one text.
func text(v any) string {
	switch x := v.(type) {
	case []any:
		words := make([]string, len(x))
		for i := range x {
			words[i] = text(x[i])
		}
		return strings.Join(words, ",")
	case string:
		return x
	case json.Number:
		return x.String()
	case bool:
		if x {
			return "True"
		}
		return "False"
	}
	return ""
}

// at points to the first place that names a table, row or value.
func (db *database) at(words ...string) []diag.Label {
	offset, length := 0, 0
	for _, w := range words {
		q := []byte(quote(w))
		i := bytes.Index(db.text[offset:], q)
		if i < 0 {
			break
		}
		offset, length = offset+i, len(q)
	}
	return db.span(offset, length)
}

func (db *database) span(offset, length int) []diag.Label {
	if db.label == nil {
		return nil
	}
	return []diag.Label{db.label(db.file, offset, length)}
}
