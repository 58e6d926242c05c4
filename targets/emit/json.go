package emit

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// JSON writes a document with one value per line, indented by so many blanks
// (2 and 4 are usual), keys in the order they were set. Strings are escaped as
// encoding/json does, without the detour for HTML. Bytes that are not UTF-8
// become U+FFFD. Lines carry the field that they came from.
func (f *File) JSON(root Node, indent int) {
	w := jsonWriter{file: f, step: strings.Repeat(" ", indent)}
	w.node(field{value: root}, intent.Path{}, "", "", "")
}

type jsonWriter struct {
	file *File
	step string
}

// node writes a value: lead is the indentation and key before it, tail the
// comma behind it.
func (w jsonWriter) node(x field, outer intent.Path, indent, lead, tail string) {
	from := x.or(outer)
	inner := indent + w.step
	switch v := x.value.(type) {
	case *Object:
		if len(v.keys) == 0 {
			w.file.From(from, "%s{}%s", lead, tail)
			return
		}
		w.file.From(from, "%s{", lead)
		for i, key := range v.keys {
			w.node(v.fields[key], from, inner, inner+jsonText(key)+": ", comma(i, len(v.keys)))
		}
		w.file.From(from, "%s}%s", indent, tail)
	case *Array:
		if len(v.items) == 0 {
			w.file.From(from, "%s[]%s", lead, tail)
			return
		}
		w.file.From(from, "%s[", lead)
		for i, item := range v.items {
			w.node(item, from, inner, inner, comma(i, len(v.items)))
		}
		w.file.From(from, "%s]%s", indent, tail)
	default:
		w.file.From(from, "%s%s%s", lead, jsonScalar(v), tail)
	}
}

func comma(i, n int) string {
	if i+1 < n {
		return ","
	}
	return ""
}

func jsonScalar(v Node) string {
	switch v := v.(type) {
	case Int:
		return number(v)
	case Bool:
		return strconv.FormatBool(bool(v))
	case Word:
		return jsonText(string(v))
	case Text:
		return jsonText(string(v))
	}
	return "null"
}

func jsonText(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("a string has no JSON form: " + err.Error()) // cannot happen
	}
	return strings.TrimSuffix(b.String(), "\n")
}
