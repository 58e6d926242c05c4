package yang

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// member and object are JSON objects that keep their order, so that yanglint's messages follow the file.
type member struct {
	name  string
	value any // string, json.Number, bool, nil, []any, object
}

type object []member

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// parseObject reads one JSON object. A name given twice is an error, since a reader of the file would see only one of the two.
func parseObject(text []byte) (object, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := parseValue(d, "")
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the JSON value")
	}
	o, ok := v.(object)
	if !ok {
		return nil, errors.New("a JSON object is wanted")
	}
	return o, nil
}

func parseValue(d *json.Decoder, path string) (any, error) {
	tok, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := parseValue(d, path)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	case json.Delim('{'):
		o, seen := object{}, map[string]bool{}
		for d.More() {
			tok, err := d.Token()
			if err != nil {
				return nil, err
			}
			name := tok.(string) // the decoder accepts nothing else before a colon
			if seen[name] {
				return nil, fmt.Errorf("%s|%s is there twice", path, name)
			}
			seen[name] = true
			v, err := parseValue(d, strings.TrimPrefix(path+"|"+name, "|"))
			if err != nil {
				return nil, err
			}
			o = append(o, member{name, v})
		}
		_, err := d.Token()
		return o, err
	}
	return tok, nil
}

// translate turns the text of a config_db.json into the JSON encoding (RFC 7951) of the same data under the models. Everything the
// models do not know, and every shape ConfigDB does not have, is an error; all of them are reported.
func (ms *models) translate(configDB []byte) ([]byte, error) {
	db, err := parseObject(configDB)
	if err != nil {
		return nil, err
	}
	var (
		out  object
		errs []error
		at   = map[string]int{} // module -> index in out
	)
	for _, row := range db {
		tab, ok := ms.tables[row.name]
		if !ok {
			errs = append(errs, fmt.Errorf("%s: %w", row.name, ErrNoTable))
			continue
		}
		body, err := ms.table(tab, row)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		m := tab.mod.name
		if _, ok := at[m]; !ok {
			at[m] = len(out)
			out = append(out, member{m + ":" + m, object{}})
		}
		i := at[m]
		out[i].value = append(out[i].value.(object), member{m + ":" + row.name, body})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return json.MarshalIndent(out, "", " ")
}

// table turns the rows of one table into the content of its container: a list entry per row, or a container where the model names
// the row itself (DEVICE_METADATA|localhost).
func (ms *models) table(tab table, rows member) (object, error) {
	entries, ok := rows.value.(object)
	if !ok {
		return nil, fmt.Errorf("%s: rows are wanted", rows.name)
	}
	nodes, err := tab.mod.nodes(tab.node)
	if err != nil {
		return nil, err
	}
	var (
		out  object
		errs []error
		at   = map[string]int{} // list -> index in out
	)
	for _, row := range entries {
		path := rows.name + "|" + row.name
		fields, ok := row.value.(object)
		if !ok {
			errs = append(errs, fmt.Errorf("%s: fields are wanted", path))
			continue
		}
		node, keys, err := rowNode(nodes, row.name)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
			continue
		}
		entry, err := ms.row(position{tab.mod, []*stmt{tab.node, node}}, keys, rows.name, path, fields)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if node.keyword == "container" {
			out = append(out, member{node.arg, entry})
			continue
		}
		if _, ok := at[node.arg]; !ok {
			at[node.arg] = len(out)
			out = append(out, member{node.arg, []any{}})
		}
		i := at[node.arg]
		out[i].value = append(out[i].value.([]any), entry)
	}
	return out, errors.Join(errs...)
}

// rowNode finds the node a row belongs to: the container of its name, else the one list with as many keys as the name has parts.
func rowNode(nodes []*stmt, row string) (*stmt, []string, error) {
	parts := strings.Split(row, "|")
	var found *stmt
	for _, n := range nodes {
		switch n.keyword {
		case "container":
			if n.arg == row {
				return n, nil, nil
			}
		case "list":
			if len(strings.Fields(n.argOf("key"))) != len(parts) {
				continue
			}
			if found != nil {
				return nil, nil, fmt.Errorf("the models have two lists for it, %s and %s", found.arg, n.arg)
			}
			found = n
		}
	}
	if found == nil {
		return nil, nil, fmt.Errorf("no row of %d part(s) in the models", len(parts))
	}
	return found, parts, nil
}

// row turns one row's fields into the members of its list entry, the keys first.
func (ms *models) row(at position, keys []string, tableName, path string, fields object) (object, error) {
	nodes, err := at.mod.nodes(at.last())
	if err != nil {
		return nil, err
	}
	byName := map[string]*stmt{}
	var inner *stmt
	for _, n := range nodes {
		byName[n.arg] = n
		if n.keyword == "list" {
			inner = n
		}
	}
	var out object
	keyNames := strings.Fields(at.last().argOf("key"))
	for i, name := range keyNames {
		v, err := ms.value(at.child(byName[name]), keys[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, member{name, v})
	}
	if inner != nil {
		list, err := ms.pairs(at.child(inner), path, fields)
		return append(out, member{inner.arg, list}), err
	}
	var errs []error
	for _, f := range fields {
		n := byName[f.name]
		if n == nil || slices.Contains(keyNames, f.name) {
			errs = append(errs, fmt.Errorf("%s: no field %s in the models", path, f.name))
			continue
		}
		v, err := ms.field(at.child(n), tableName, f)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s|%s: %w", path, f.name, err))
			continue
		}
		out = append(out, member{f.name, v})
	}
	return out, errors.Join(errs...)
}

// pairs turns the fields of a map (DSCP_TO_TC_MAP, CABLE_LENGTH) into the entries of the inner list that the models have for it: the
// field's name is the inner key, its value the one other leaf.
func (ms *models) pairs(at position, path string, fields object) ([]any, error) {
	nodes, err := at.mod.nodes(at.last())
	if err != nil {
		return nil, err
	}
	key := at.last().argOf("key")
	var keyLeaf, valueLeaf *stmt
	for _, n := range nodes {
		if n.arg == key {
			keyLeaf = n
		} else {
			valueLeaf = n
		}
	}
	if keyLeaf == nil || valueLeaf == nil || len(nodes) != 2 {
		return nil, fmt.Errorf("%s: list %s of the models is not a map of one key to one value", path, at.last().arg)
	}
	list, errs := []any{}, []error(nil)
	for _, f := range fields {
		s, ok := f.value.(string)
		if !ok {
			errs = append(errs, fmt.Errorf("%s|%s: a string is wanted", path, f.name))
			continue
		}
		k, err := ms.value(at.child(keyLeaf), f.name)
		if err != nil {
			return nil, err
		}
		v, err := ms.value(at.child(valueLeaf), s)
		if err != nil {
			return nil, err
		}
		list = append(list, object{{keyLeaf.arg, k}, {valueLeaf.arg, v}})
	}
	return list, errors.Join(errs...)
}

// field converts one field. ConfigDB knows strings, and arrays of strings for most leaf-lists.
func (ms *models) field(at position, tableName string, f member) (any, error) {
	switch n := at.last(); n.keyword {
	case "leaf":
		s, ok := f.value.(string)
		if !ok {
			return nil, errors.New("a string is wanted")
		}
		return ms.value(at, s)
	case "leaf-list":
		var items []any
		switch v := f.value.(type) {
		case []any:
			items = v
		case string:
			if !commaList(tableName, f.name) {
				return nil, errors.New("an array of strings is wanted")
			}
			for item := range strings.SplitSeq(v, ",") {
				items = append(items, strings.TrimSpace(item))
			}
		}
		list := []any{}
		for _, item := range items {
			s, ok := item.(string)
			if !ok {
				return nil, errors.New("an array of strings is wanted")
			}
			v, err := ms.value(at, s)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	default:
		return nil, fmt.Errorf("%s %s is not a field", n.keyword, n.arg)
	}
}

// commaList says whether ConfigDB keeps the leaf-list as one string with commas: the table LEAF_LIST_WITH_STRING_VALUE_DICT of
// sonic-buildimage src/sonic-yang-mgmt/sonic_yang_ext.py (commit 0f249daa), for the tables vendored here. All others are arrays.
func commaList(table, field string) bool {
	switch table + "." + field {
	case "MIRROR_SESSION.src_ip",
		"BUFFER_PORT_EGRESS_PROFILE_LIST.profile_list",
		"BUFFER_PORT_INGRESS_PROFILE_LIST.profile_list",
		"PORT.adv_speeds",
		"PORT.adv_interface_types":
		return true
	}
	return false
}
