package record

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// byLibrary is what Canonical has to be.
func byLibrary(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var sorted any
	if err := d.Decode(&sorted); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := json.NewEncoder(&out)
	w.SetEscapeHTML(false)
	w.SetIndent("", "  ")
	if err := w.Encode(sorted); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestCanonical: values are written as the library writes them once their keys are
// sorted, whatever is in their texts.
func TestCanonical(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	texts := []string{"", "a", "ab", "b", "é", "<&>", "a\"b\\", "\u2028", "\xff", "\x00\n", "{", "],", "\\u003c", `"`}
	text := func() string { return texts[random.Intn(len(texts))] + texts[random.Intn(len(texts))] }
	var value func(depth int) any
	value = func(depth int) any {
		switch n := random.Intn(10); {
		case n < 3 && depth > 0:
			m := map[string]any{}
			for range random.Intn(5) {
				m[text()] = value(depth - 1)
			}
			return m
		case n < 6 && depth > 0:
			list := []any{}
			for range random.Intn(5) {
				list = append(list, value(depth-1))
			}
			// A struct has its fields in an order of its own.
			return struct {
				Z any            `json:"z"`
				L []any          `json:"list"`
				A any            `json:"a,omitempty"`
				N *int           `json:"<n>"`
				M map[string]any `json:"m"`
			}{value(depth - 1), list, value(depth - 1), nil, nil}
		case n == 7:
			return random.NormFloat64() * 1e30
		case n == 8:
			return random.Int63()
		case n == 9:
			return nil
		}
		return text()
	}
	for range 500 {
		v := value(5)
		got, err := Canonical(v)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(byLibrary(t, v), string(got)); d != "" {
			t.Fatalf("-library +own:\n%s", d)
		}
	}
	got, err := Canonical(full())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(byLibrary(t, full()), string(got)); d != "" {
		t.Fatalf("-library +own:\n%s", d)
	}
	if _, err := Canonical(func() {}); err == nil {
		t.Error("a value without a form was written")
	}
}

// FuzzCanonical: JSON that others wrote says the same in the canonical form, even
// where a name is there twice, and that form is its own.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{
		`{"b": [1, 2.50, {}], "a": "\u003c\u2028é", "\u0061b": null}`, `[]`, ` "x" `, `-0`,
		`{"c":0,"a":1,"b":2,"b":3,"c":4,"b":5,"b":6,"b":7,"c":8,"c":9,"a":0,"a":1,"a":2,"a":3,"a":4,"a":5,"c":6,"b":7,"a":8,"b":9,"b":0,"b":1,"a":2,"a":3,"a":4,"c":5,"a":6}`,
	} {
		f.Add([]byte(s))
	}
	read := func(t *testing.T, b []byte) (v any) {
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !json.Valid(b) || !utf8.Valid(b) {
			return
		}
		got, err := Canonical(json.RawMessage(b))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(read(t, b), read(t, got)); diff != "" {
			t.Fatalf("-it says +its form says\n%s", diff)
		}
		again, err := Canonical(json.RawMessage(got))
		if err != nil || !bytes.Equal(got, again) {
			t.Fatalf("%s becomes %s, %v", got, again, err)
		}
	})
}
