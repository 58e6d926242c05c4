package intent

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// State says what is known or wanted of a setting.
type State uint8

// The three states of a setting. In what was read back from a device,
// Unmanaged means "could not be read".
const (
	Unmanaged State = iota
	Default         // left at the vendor's default
	Set
)

// Opt is a setting in one of three states. In JSON an unmanaged one is absent,
// a default is {"default":true}, and a value is {"value":x}.
type Opt[T any] struct {
	State State
	Value T
}

// Some is a setting with a value.
func Some[T any](v T) Opt[T] { return Opt[T]{Set, v} }

// Kept is a setting left at the vendor's default, whose value is v if known.
func Kept[T any](v T) Opt[T] { return Opt[T]{Default, v} }

// IsZero reports whether the setting is not managed.
func (o Opt[T]) IsZero() bool { return o.State == Unmanaged }

// IsSet reports whether there is a value to write.
func (o Opt[T]) IsSet() bool { return o.State == Set }

// Or is the value if one is set, else fallback.
func (o Opt[T]) Or(fallback T) T {
	if o.State == Set {
		return o.Value
	}
	return fallback
}

type optJSON[T any] struct {
	Default bool `json:"default,omitempty"`
	Value   *T   `json:"value,omitempty"`
}

// MarshalJSON writes the form described at Opt.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	switch o.State {
	case Default:
		return []byte(`{"default":true}`), nil
	case Set:
		return json.Marshal(optJSON[T]{Value: &o.Value})
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	*o = Opt[T]{}
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	if value, ok := onlyValue(b); ok { // as nearly all are; anything else comes to its error below
		var v T
		if json.Unmarshal(value, &v) == nil {
			*o = Opt[T]{Set, v}
			return nil
		}
	}
	var j struct {
		Default bool            `json:"default"`
		Value   json.RawMessage `json:"value"` // raw, so that null is a set empty list and not an absent value
	}
	if err := json.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("setting: %w", err)
	}
	switch {
	case j.Value != nil:
		var v T
		if err := json.Unmarshal(j.Value, &v); err != nil {
			return fmt.Errorf("setting: %w", err)
		}
		*o = Some(v)
	case j.Default:
		o.State = Default
	}
	return nil
}

// Has reports whether priority p is in the set.
func (s PrioritySet) Has(p uint8) bool { return p < 8 && s>>p&1 == 1 }

// With is the set with priority p.
func (s PrioritySet) With(p uint8) PrioritySet { return s | 1<<(p&7) }

// List is the set in ascending order.
func (s PrioritySet) List() []uint8 {
	var l []uint8
	for p := range uint8(8) {
		if s.Has(p) {
			l = append(l, p)
		}
	}
	return l
}

// String is the set as people write it: "[3, 4]".
func (s PrioritySet) String() string {
	b := []byte{'['}
	for i, p := range s.List() {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, '0'+p)
	}
	return string(append(b, ']'))
}

// onlyValue is what stands behind the key "value" that an object begins with: a
// JSON value, unless more keys follow.
func onlyValue(b []byte) ([]byte, bool) {
	const blanks = " \t\r\n"
	b, ok := bytes.CutSuffix(b, []byte{'}'})
	if !ok || len(b) == 0 || b[0] != '{' {
		return nil, false
	}
	b, ok = bytes.CutPrefix(bytes.TrimLeft(b[1:], blanks), []byte(`"value"`))
	if !ok {
		return nil, false
	}
	return bytes.CutPrefix(bytes.TrimLeft(b, blanks), []byte{':'})
}
