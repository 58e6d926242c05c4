package expand

import (
	"strconv"
	"strings"

	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/format"
	"github.com/rocec/rocec/lang/schema"
)

// valueText is a value as it is written in the language. It reads back as the
// same value of the same type.
func (x *expander) valueText(t *schema.Type, v lang.Value) string {
	cfg := x.cfg
	switch v.Kind {
	case lang.Word:
		return quoted(cfg.Text(v))
	case lang.Text:
		return quoted(cfg.Text(v))
	case lang.Percent:
		return strconv.FormatInt(v.N, 10)
	case lang.Ratio_:
		r := cfg.Fraction(v)
		if r.Den == 1 {
			return strconv.FormatInt(r.Num, 10)
		}
		if t.Base == schema.Alpha {
			return quoted(strconv.FormatInt(r.Num, 10) + "/" + strconv.FormatInt(r.Den, 10))
		}
		return strconv.FormatInt(r.Num, 10) + " / " + strconv.FormatInt(r.Den, 10)
	case lang.Handle:
		return x.reference(lang.BlockID(v.N))
	case lang.List:
		one, _ := t.Element()
		var items []string
		for _, e := range cfg.List(v) {
			items = append(items, x.valueText(&one, e))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case lang.Map:
		var items []string
		for _, p := range cfg.Pairs(v) {
			items = append(items, x.key(t.Key, p.Key)+" = "+x.valueText(t.Elem, p.Val))
		}
		return braces(items)
	case lang.Object:
		var items []string
		for _, p := range cfg.Pairs(v) {
			num := schema.Attr(p.Key.N)
			for i := range t.Fields {
				if t.Fields[i].Num == num {
					items = append(items, num.Name()+" = "+x.valueText(&t.Fields[i].Type, p.Val))
				}
			}
		}
		return braces(items)
	case lang.Int:
		return number(t.Base, v.N)
	}
	return "null"
}

func braces(items []string) string {
	if len(items) == 0 {
		return "{}"
	}
	return "{ " + strings.Join(items, ", ") + " }"
}

func (x *expander) key(t *schema.Type, v lang.Value) string {
	if v.Kind == lang.Int {
		return strconv.FormatInt(v.N, 10)
	}
	return quoted(x.cfg.Text(v))
}

// number is an integer in the unit of its type.
func number(base schema.Base, n int64) string {
	switch base {
	case schema.Bool:
		return strconv.FormatBool(n == 1)
	case schema.Speed, schema.Cap:
		if n%1000 == 0 {
			return quoted(strconv.FormatInt(n/1000, 10) + "G")
		}
		return quoted(strconv.FormatInt(n, 10) + "M")
	case schema.Length:
		return quoted(metres(n))
	case schema.Delay:
		return quoted(strconv.FormatInt(n, 10) + "ns")
	case schema.Time:
		switch {
		case n%1000 == 0:
			return quoted(strconv.FormatInt(n/1000, 10) + "ms")
		default:
			return quoted(strconv.FormatInt(n, 10) + "us")
		}
	}
	return strconv.FormatInt(n, 10)
}

func metres(mm int64) string { return strconv.FormatFloat(float64(mm)/1000, 'f', -1, 64) + "m" }

// quoted is a string literal of HCL.
func quoted(s string) string { return format.Quote(s) }
