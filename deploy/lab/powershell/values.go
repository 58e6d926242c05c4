package powershell

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Object is a hashtable, a custom object or a CIM instance. Names are found
// without regard to case, and keep their order.
type Object struct {
	keys    []string
	values  map[string]any
	table   bool // a hashtable: indexable, any key may be asked for by index
	ordered bool // a hashtable that was made [ordered]
	// Self is what a cmdlet made it of.
	Self any
}

// NewObject makes an object of names and values.
func NewObject(pairs ...any) *Object {
	o := &Object{values: map[string]any{}}
	for i := 0; i < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

// Field is a member, nil where there is none.
func (o *Object) Field(name string) any { return o.values[strings.ToLower(name)] }

// Set sets a member, or adds it.
func (o *Object) Set(key string, v any) {
	k := strings.ToLower(key)
	if _, known := o.values[k]; !known {
		o.keys = append(o.keys, key)
	}
	o.values[k] = v
}

// shown are the keys as they are enumerated. A hashtable has no order that a
// script may rest on: here it is another one than that of the script.
func (o *Object) shown() []string {
	if !o.table || o.ordered {
		return o.keys
	}
	keys := slices.Clone(o.keys)
	slices.Reverse(keys)
	return keys
}

// longestText is how long a text may get that is multiplied.
const longestText = 1 << 16

func arithmetic(op string, a, b any) any {
	if list, ok := a.([]any); ok && op == "+" {
		return append(slices.Clone(list), Spread(b)...)
	}
	if s, ok := a.(string); ok && op == "+" {
		return s + String(b)
	}
	if s, ok := a.(string); ok && op == "*" {
		n := Int(b)
		if n < 0 || n*int64(len(s)) > longestText {
			Throw("The string multiplied results in a string longer than %d characters.", longestText)
		}
		return strings.Repeat(s, int(n))
	}
	if isFloat(a) || isFloat(b) {
		x, y := number(a), number(b)
		switch op {
		case "/":
			return x / y
		case "%":
			return math.Mod(x, y)
		}
		return summed(op, x, y)
	}
	x, y := Int(a), Int(b)
	if (op == "/" || op == "%") && y == 0 {
		Throw("Attempted to divide by zero.")
	}
	switch {
	case op == "%":
		return x % y
	case op == "/" && x%y == 0:
		return x / y
	case op == "/":
		return float64(x) / float64(y)
	}
	return summed(op, x, y)
}

func summed[T int64 | float64](op string, x, y T) T {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	}
	return x * y
}

func isFloat(v any) bool {
	_, is := v.(float64)
	return is
}

// number is a value as [double] makes it.
func number(v any) float64 {
	if f, is := v.(float64); is {
		return f
	}
	return float64(Int(v))
}

var formatItem = regexp.MustCompile(`\{(\d+)(?:,(-?\d+))?(?::(x)(\d*))?\}`)

// widest is how far a format fills up.
const widest = 1000

func format(f string, args []any) string {
	return formatItem.ReplaceAllStringFunc(f, func(item string) string {
		m := formatItem.FindStringSubmatch(item)
		n, _ := strconv.Atoi(m[1])
		if n >= len(args) {
			Throw("Error formatting a string: Index (zero based) must be greater than or equal to zero and less than the size of the argument list..")
		}
		s := String(args[n])
		if m[3] == "x" {
			width, _ := strconv.Atoi(m[4])
			width = min(width, widest)
			s = fmt.Sprintf("%0*x", width, Int(args[n]))
		}
		if m[2] != "" {
			width, _ := strconv.Atoi(m[2])
			width = max(min(width, widest), -widest)
			s = fmt.Sprintf("%*s", width, s)
		}
		return s
	})
}

// integers are the types of whole numbers, as far as int64 goes.
var integers = map[string]struct {
	name        string
	least, most int64
}{
	"byte": {"Byte", 0, math.MaxUint8}, "int": {"Int32", math.MinInt32, math.MaxInt32}, "uint32": {"UInt32", 0, math.MaxUint32},
	"long": {"Int64", math.MinInt64, math.MaxInt64}, "uint64": {"UInt64", 0, math.MaxInt64},
}

func convert(typ string, v any) any {
	if elem, ok := strings.CutSuffix(typ, "[]"); ok {
		out := []any{}
		for _, x := range Spread(v) {
			out = append(out, convert(elem, x))
		}
		return out
	}
	switch typ {
	case "string":
		return String(v)
	case "char":
		if c, ok := v.(char); ok {
			return c
		}
	case "bool":
		return True(v)
	case "pscustomobject":
		if o, ok := v.(*Object); ok {
			c := *o
			c.table = false
			return &c
		}
		return v
	case "ordered":
		if o, ok := v.(*Object); ok {
			o.ordered = true
		}
		return v
	case "object", "scriptblock":
		return v
	}
	if r, ok := integers[typ]; ok {
		n := Int(v)
		if n < r.least || n > r.most {
			Throw("Cannot convert value \"%d\" to type \"System.%s\". Error: \"Value was either too large or too small for an %[2]s.\"", n, r.name)
		}
		return n
	}
	Throw("Unable to find type [%s].", typ)
	return nil
}

// String is a value as [string] makes it.
func String(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		if v {
			return "True"
		}
		return "False"
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', 15, 64)
	case char:
		return string(rune(v)) // half of a pair is lost
	case []any:
		var words []string
		for _, x := range v {
			words = append(words, String(x))
		}
		return strings.Join(words, " ")
	}
	if s, ok := v.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", v)
}

// Int is a value as [int] makes it.
func Int(v any) int64 {
	switch v := v.(type) {
	case nil:
		return 0
	case bool:
		if v {
			return 1
		}
		return 0
	case int64:
		return v
	case float64:
		n := math.RoundToEven(v)
		if !(n >= math.MinInt64 && n < math.MaxInt64) {
			Throw("Cannot convert value \"%v\" to type \"System.Int64\". Error: \"Value was either too large or too small for an Int64.\"", v)
		}
		return int64(n)
	case char:
		return int64(v)
	case string:
		if v == "" {
			return 0
		}
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			Throw("Cannot convert value \"%s\" to type \"System.Int32\". Error: \"Input string was not in a correct format.\"", v)
		}
		return n
	}
	Throw("Cannot convert a value of type %T to type \"System.Int32\".", v)
	return 0
}

// True is a value as a condition takes it.
func True(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case int64:
		return v != 0
	case float64:
		return v != 0
	case []any:
		switch len(v) {
		case 0:
			return false
		case 1:
			return True(v[0])
		}
	}
	return true
}

// equal compares as -eq does: the right side takes the type of the left.
func equal(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	switch a := a.(type) {
	case string:
		return strings.EqualFold(a, String(b))
	case bool:
		return a == True(b)
	case int64, float64:
		if s, ok := b.(string); ok {
			n, err := strconv.ParseFloat(cmp.Or(s, "0"), 64)
			return err == nil && n == number(a)
		}
		return number(a) == number(b)
	case *Object:
		return a == b
	}
	return String(a) == String(b)
}

func order(a, b any) int {
	switch a := a.(type) {
	case string:
		return cmp.Compare(strings.ToLower(a), strings.ToLower(String(b)))
	case Time:
		if b, ok := b.(Time); ok {
			return time.Time(a).Compare(time.Time(b))
		}
	}
	return cmp.Compare(number(a), number(b))
}

// Spread is a value as the pipeline passes it on: arrays element by element,
// $null as one item.
func Spread(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case Void:
		return nil
	case properties:
		var out []any
		for _, k := range v.of.shown() {
			out = append(out, NewObject("Name", k, "Value", v.of.values[strings.ToLower(k)]))
		}
		return out
	}
	return []any{v}
}

// collect is what an assignment makes of a stream.
func collect(stream []any) any {
	switch len(stream) {
	case 0:
		return nil
	case 1:
		return stream[0]
	}
	return stream
}
