package powershell

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// FromJSON is a text as ConvertFrom-Json gives it.
func FromJSON(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	x, err := readJSON(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the value")
	}
	return x, nil
}

// readJSON reads one value. Members keep their order.
func readJSON(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '[' {
			return readList(d)
		}
		return readMembers(d)
	case json.Number:
		if n, err := t.Int64(); err == nil {
			return n, nil
		}
		return t.Float64()
	}
	return t, nil
}

func readList(d *json.Decoder) (any, error) {
	list := []any{}
	for d.More() {
		x, err := readJSON(d)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	_, err := d.Token()
	return list, err
}

func readMembers(d *json.Decoder) (any, error) {
	o := NewObject()
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string) // the decoder takes nothing else for a key
		if _, twice := o.values[strings.ToLower(name)]; twice {
			return nil, errors.New("duplicated keys '" + name + "'")
		}
		x, err := readJSON(d)
		if err != nil {
			return nil, err
		}
		o.Set(name, x)
	}
	_, err := d.Token()
	return o, err
}

// toJSON is a value as ConvertTo-Json writes it: what lies deeper than depth is a
// text, and lines are broken unless it is compressed.
func toJSON(v any, depth int, compress bool) (string, error) {
	var b bytes.Buffer
	if err := writeJSON(&b, v, depth); err != nil {
		return "", err
	}
	if compress {
		return b.String(), nil
	}
	var broken bytes.Buffer
	if err := json.Indent(&broken, b.Bytes(), "", "    "); err != nil {
		return "", err
	}
	return strings.ReplaceAll(broken.String(), "\n", "\r\n"), nil
}

func writeJSON(b *bytes.Buffer, v any, depth int) error {
	switch x := v.(type) {
	case nil, bool, int64, float64, string:
		text, err := json.Marshal(x)
		b.Write(text)
		return err
	case []any:
		if depth < 0 {
			break
		}
		b.WriteByte('[')
		for i, item := range x {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, item, depth-1); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	case *Object:
		if depth < 0 {
			break
		}
		b.WriteByte('{')
		for i, k := range x.shown() {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, k, 0); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := writeJSON(b, x.values[strings.ToLower(k)], depth-1); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	}
	return writeJSON(b, String(v), 0)
}
