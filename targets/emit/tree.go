package emit

import (
	"slices"
	"strconv"

	"github.com/rocec/rocec/compiler/intent"
)

// Node is a value of a YAML or JSON document: a scalar, an Object or an Array.
type Node interface{ node() }

// Text is any string. It is quoted wherever it could be read as something else.
type Text string

// Int is a whole number.
type Int int64

// Bool is true or false.
type Bool bool

// Word is a fixed word of the emitter that YAML shall carry without quotes,
// although YAML 1.1 reads it as a flag: NVUE's "on". In JSON it is a string.
// Never make one of user text; what is not a plain word is quoted after all.
type Word string

// Object is a mapping whose keys keep the order in which they were set.
type Object struct {
	keys   []string
	fields map[string]field
}

// Array is a sequence.
type Array struct{ items []field }

type field struct {
	value Node
	from  intent.Path
}

func (Text) node()    {}
func (Int) node()     {}
func (Bool) node()    {}
func (Word) node()    {}
func (*Object) node() {}
func (*Array) node()  {}

// Set gives a key a value, and says which field of the intent it came from. A
// key that is there already keeps its place.
func (o *Object) Set(key string, value Node, from ...intent.Path) {
	if o.fields == nil {
		o.fields = map[string]field{}
	}
	if _, ok := o.fields[key]; !ok {
		o.keys = append(o.keys, key)
	}
	o.fields[key] = field{value, first(from)}
}

// Object is the object under a key; it is made when there is none.
func (o *Object) Object(key string, from ...intent.Path) *Object {
	if inner, ok := o.fields[key].value.(*Object); ok {
		return inner
	}
	inner := new(Object)
	o.Set(key, inner, from...)
	return inner
}

// Array is the array under a key; it is made when there is none.
func (o *Object) Array(key string, from ...intent.Path) *Array {
	if inner, ok := o.fields[key].value.(*Array); ok {
		return inner
	}
	inner := new(Array)
	o.Set(key, inner, from...)
	return inner
}

// Has reports whether a key was set.
func (o *Object) Has(key string) bool {
	_, ok := o.fields[key]
	return ok
}

// Len is the number of keys.
func (o *Object) Len() int { return len(o.keys) }

// SortKeys puts the keys in the order of compare, which works like strings.Compare.
func (o *Object) SortKeys(compare func(a, b string) int) { slices.SortStableFunc(o.keys, compare) }

// Add appends a value.
func (a *Array) Add(value Node, from ...intent.Path) {
	a.items = append(a.items, field{value, first(from)})
}

// Object appends an empty object and returns it.
func (a *Array) Object(from ...intent.Path) *Object {
	inner := new(Object)
	a.Add(inner, from...)
	return inner
}

// Len is the number of items.
func (a *Array) Len() int { return len(a.items) }

// Texts is an array of strings.
func Texts[S ~string](list ...S) *Array {
	a := new(Array)
	for _, s := range list {
		a.Add(Text(s))
	}
	return a
}

// Ints is an array of numbers.
func Ints[N ~int | ~uint8 | ~uint16 | ~uint32](list ...N) *Array {
	a := new(Array)
	for _, n := range list {
		a.Add(Int(n))
	}
	return a
}

func first(from []intent.Path) intent.Path {
	if len(from) == 0 {
		return intent.Path{}
	}
	return from[0]
}

// or is the origin of a line: its own, else that of what it stands in.
func (f field) or(outer intent.Path) intent.Path {
	if f.from == (intent.Path{}) {
		return outer
	}
	return f.from
}

func number(n Int) string { return strconv.FormatInt(int64(n), 10) }
