package intent

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// canon appends a value as encoding/json writes it, without white space. It
// knows the kinds that an intent is made of and leaves the rest to the library.
// It exists because a digest is computed for each device of a build, and the
// library checks and copies the text of every Opt twice over.
type canon func(b []byte, v reflect.Value) []byte

// setting is implemented by Opt of any type.
type setting interface{ setting() }

func (Opt[T]) setting() {}

var (
	settingType = reflect.TypeFor[setting]()
	marshaler   = reflect.TypeFor[json.Marshaler]()
	textMarshal = reflect.TypeFor[encoding.TextMarshaler]()
	textAppend  = reflect.TypeFor[encoding.TextAppender]()
	zeroerType  = reflect.TypeFor[zeroer]()
)

// canonOf is the appender of a type. No type of an intent holds itself. Sorted
// puts the fields of structs in the order of their names.
func canonOf(t reflect.Type, sorted bool) canon {
	switch {
	case t.Implements(settingType):
		return canonSetting(t, sorted)
	case t.Implements(marshaler):
		return canonByLibrary
	case t.Implements(textMarshal) && t.Kind() != reflect.Pointer:
		return canonTextOf(t)
	}
	switch t.Kind() {
	case reflect.Bool:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendBool(b, v.Bool()) }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendInt(b, v.Int(), 10) }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendUint(b, v.Uint(), 10) }
	case reflect.String:
		return func(b []byte, v reflect.Value) []byte { return appendString(b, v.String()) }
	case reflect.Struct:
		return canonStruct(t, sorted)
	case reflect.Array:
		return canonList(t.Elem(), false, sorted)
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 { // the library writes those in base64
			return canonList(t.Elem(), true, sorted)
		}
	case reflect.Pointer:
		one := canonOf(t.Elem(), sorted)
		return func(b []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(b, "null"...)
			}
			return one(b, v.Elem())
		}
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return canonMap(t.Elem(), sorted)
		}
	}
	return canonByLibrary
}

func canonByLibrary(b []byte, v reflect.Value) []byte {
	text, err := json.Marshal(v.Interface())
	if err != nil {
		panic("part of an intent has no JSON form: " + err.Error()) // plain data only: cannot happen
	}
	return append(b, text...)
}

// canonTextOf writes the text of a value. One that can append it, as addresses do, is
// asked for it in place where it has one: in an interface it would be copied first.
func canonTextOf(t reflect.Type) canon {
	if !reflect.PointerTo(t).Implements(textAppend) {
		return canonText
	}
	return func(b []byte, v reflect.Value) []byte {
		if !v.CanAddr() {
			return canonText(b, v)
		}
		start := len(b)
		b = append(b, '"')
		b, err := v.Addr().Interface().(encoding.TextAppender).AppendText(b)
		if err != nil {
			panic("part of an intent has no text: " + err.Error()) // addresses only: cannot happen
		}
		if !bare(b[start+1:]) {
			return appendString(b[:start], string(b[start+1:]))
		}
		return append(b, '"')
	}
}

func canonText(b []byte, v reflect.Value) []byte {
	text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
	if err != nil {
		panic("part of an intent has no text: " + err.Error()) // addresses only: cannot happen
	}
	return appendString(b, string(text))
}

// canonSetting is the form described at Opt.
func canonSetting(t reflect.Type, sorted bool) canon {
	value := canonOf(t.Field(1).Type, sorted)
	return func(b []byte, v reflect.Value) []byte {
		switch State(v.Field(0).Uint()) {
		case Default:
			return append(b, `{"default":true}`...)
		case Set:
			b = append(b, `{"value":`...)
			return append(value(b, v.Field(1)), '}')
		}
		return append(b, "null"...)
	}
}

func canonList(elem reflect.Type, orNull, sorted bool) canon {
	one := canonOf(elem, sorted)
	return func(b []byte, v reflect.Value) []byte {
		if orNull && v.IsNil() {
			return append(b, "null"...)
		}
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = one(b, v.Index(i))
		}
		return append(b, ']')
	}
}

func canonMap(elem reflect.Type, sorted bool) canon {
	one := canonOf(elem, sorted)
	return func(b []byte, v reflect.Value) []byte {
		if v.IsNil() {
			return append(b, "null"...)
		}
		keys := v.MapKeys()
		slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
		b = append(b, '{')
		for i, k := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, k.String()), ':')
			b = one(b, v.MapIndex(k))
		}
		return append(b, '}')
	}
}

// canonField is one field of a struct.
type canonField struct {
	index int
	name  []byte                   // with quotes and colon
	none  func(reflect.Value) bool // whether it is left out; nil: never
	one   canon
}

// fieldsOf are the fields of a struct in their order, nil if it needs the library.
func fieldsOf(t reflect.Type, sorted bool) []canonField {
	var fields []canonField
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "" || name == "-" || strings.Contains(options, "string") {
			return nil
		}
		fields = append(fields, canonField{i, append(appendString(nil, name), ':'), noneOf(f.Type, options), canonOf(f.Type, sorted)})
	}
	if sorted {
		slices.SortFunc(fields, func(a, b canonField) int { return bytes.Compare(a.name, b.name) })
	}
	return fields
}

// canonStruct writes the fields in their order, those left out that their tag
// leaves out when they are empty or zero.
func canonStruct(t reflect.Type, sorted bool) canon {
	fields := fieldsOf(t, sorted)
	if fields == nil && t.NumField() > 0 {
		return canonByLibrary
	}
	return func(b []byte, v reflect.Value) []byte {
		b = append(b, '{')
		first := true
		for i := range fields {
			f := &fields[i]
			x := v.Field(f.index)
			if f.none != nil && f.none(x) {
				continue
			}
			if !first {
				b = append(b, ',')
			}
			first = false
			b = f.one(append(b, f.name...), x)
		}
		return append(b, '}')
	}
}

// noneOf tells by the options of a field's tag whether a value is left out, nil
// if none ever is. It asks the type once: doing so for each value costs more than
// the value.
func noneOf(t reflect.Type, options string) func(reflect.Value) bool {
	empty, zero := strings.Contains(options, "omitempty"), strings.Contains(options, "omitzero")
	switch {
	case empty && zero:
		return func(v reflect.Value) bool { return isEmpty(v) || isZero(v) }
	case empty:
		return isEmpty
	case !zero:
		return nil
	case t.Implements(settingType):
		return func(v reflect.Value) bool { return State(v.Field(0).Uint()) == Unmanaged }
	case t.Implements(zeroerType):
		return isZero
	}
	return reflect.Value.IsZero
}

// isEmpty is what omitempty means.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// zeroer is a type that says itself when it is zero.
type zeroer interface{ IsZero() bool }

// isZero is what omitzero means: a method IsZero decides where there is one.
func isZero(v reflect.Value) bool {
	if z, ok := v.Interface().(zeroer); ok {
		return z.IsZero()
	}
	return v.IsZero()
}

// appendString quotes as encoding/json does by default, with < > & escaped.
func appendString(b []byte, s string) []byte {
	if bare(s) {
		b = append(b, '"')
		b = append(b, s...)
		return append(b, '"')
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic("a string has no JSON form: " + err.Error()) // cannot happen
	}
	return append(b, text...)
}

// bare reports whether a text stands in JSON as it is.
func bare[T string | []byte](s T) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}
