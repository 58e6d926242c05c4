package apply

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Encode is the manifest as its file holds it: the form of record.Canonical. It
// is written field by field, as the library takes ten times as long for a large
// fabric's, while nothing else is left to do.
func (m *Manifest) Encode() ([]byte, error) {
	const perDevice, perArtifact = 256, 256 // bytes, about
	size := 4096
	for _, d := range m.Devices {
		size += perDevice + perArtifact*len(d.Artifacts)
	}
	w := &indented{b: make([]byte, 0, size)}
	w.object(func() {
		if len(m.Common) > 0 {
			w.key("common")
			each(w, m.Common, func(k ManifestKit) {
				w.object(func() {
					w.artifacts(k.Artifacts)
					w.text("digest", k.Digest)
				})
			})
		}
		w.key("devices")
		each(w, m.Devices, w.device)
		w.text("format_version", m.FormatVersion)
		w.text("kind", m.Kind)
		w.text("rocec_version", m.RocecVersion)
		w.key("sources")
		each(w, m.Sources, w.value)
		w.key("variables")
		each(w, m.Variables, w.value)
	})
	return append(w.b, '\n'), nil
}

// indented writes JSON with two spaces for each level.
type indented struct {
	b     []byte
	depth int
	more  bool // something stands before in the object or list
}

func (w *indented) device(d ManifestDevice) {
	w.object(func() {
		w.text("address", d.Address)
		w.artifacts(d.Artifacts)
		if len(d.Common) > 0 {
			w.key("common")
			w.list('[', ']', len(d.Common), func(i int) { w.value(d.Common[i]) })
		}
		w.text("emitter", d.Emitter)
		w.text("intent_digest", d.Intent)
		if d.Output != "" {
			w.text("output", d.Output)
		}
	})
}

func (w *indented) artifacts(list []ManifestArtifact) {
	w.key("artifacts")
	if list == nil {
		w.b = append(w.b, "null"...)
		return
	}
	w.list('[', ']', len(list), func(i int) {
		a := &list[i]
		w.object(func() {
			w.text("mode", a.Mode)
			w.text("path", a.Path)
			if a.Run != "" {
				w.text("run", a.Run)
			}
			w.text("sha256", a.SHA256)
			w.text("step", string(a.Step))
		})
	})
}

// object writes the fields that it is given; there is at least one.
func (w *indented) object(fields func()) {
	w.b = append(w.b, '{')
	w.depth++
	w.more = false
	fields()
	w.end('}')
}

// list writes n elements, each on a line of its own.
func (w *indented) list(first, last byte, n int, one func(i int)) {
	w.b = append(w.b, first)
	if n == 0 {
		w.b = append(w.b, last)
		return
	}
	w.depth++
	w.more = false
	for i := range n {
		w.line()
		one(i)
	}
	w.end(last)
}

func (w *indented) end(last byte) {
	w.depth--
	w.more = false
	w.line()
	w.b = append(w.b, last)
	w.more = true
}

// line begins one.
func (w *indented) line() {
	if w.more {
		w.b = append(w.b, ',')
	}
	w.more = true
	w.b = append(w.b, '\n')
	for range w.depth {
		w.b = append(w.b, "  "...)
	}
}

func (w *indented) key(name string) {
	w.line()
	w.value(name)
	w.b = append(w.b, ": "...)
}

func (w *indented) text(name, value string) {
	w.key(name)
	w.value(value)
}

// value writes a text as the library does that does not care for HTML.
func (w *indented) value(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			if e.Encode(s) == nil { // a text always has a form
				w.b = append(w.b, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
			}
			return
		}
	}
	w.b = append(append(append(w.b, '"'), s...), '"')
}

// each writes a map by its keys in order.
func each[T any](w *indented, m map[string]T, one func(T)) {
	if m == nil {
		w.b = append(w.b, "null"...)
		return
	}
	keys := slices.Sorted(maps.Keys(m))
	w.list('{', '}', len(keys), func(i int) {
		w.value(keys[i])
		w.b = append(w.b, ": "...)
		one(m[keys[i]])
	})
}
