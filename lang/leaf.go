package lang

import (
	"errors"
	"math"
	"math/big"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/units"
)

// mistake is a value that its attribute does not take. The text is complete but
// for the attribute's name, which stands in front of it.
type mistake struct{ summary, help string }

// longestAddress is the length of the longest text of a prefix.
const longestAddress = len("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128")

// address is an address in its canonical form, which is mostly how it was written.
func (t *tables) address(written string, form []byte) Value {
	if written == string(form) {
		return t.text(written)
	}
	return t.text(string(form))
}

// leafText reads a string as a value of a type that is neither a list nor made
// of other values. The name is the attribute's, for messages.
func leafText(tb *tables, t *schema.Type, name, s string) (Value, *mistake) {
	if slices.Contains(t.Words, s) {
		return tb.word(s), nil
	}
	if now, ok := t.Was[s]; ok {
		if now == "[]" {
			return tb.list(nil), nil
		}
		s = now
	}
	switch t.Base {
	case schema.String:
		if t.Enum != nil && !slices.Contains(t.Enum, s) {
			return Value{}, notOneOf(t, name, s)
		}
		return tb.text(s), nil
	case schema.Bool:
		switch s {
		case "true":
			return Value{Int, 1}, nil
		case "false":
			return Value{Int, 0}, nil
		}
		return Value{}, takes(t, name, quoteWord(s), "true or false")
	case schema.Int, schema.Percent:
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return Value{}, takes(t, name, quoteWord(s), numberWanted(t))
		}
		return leafInt(tb, t, name, n)
	case schema.Speed:
		return withUnit(t, name, s, funcs.ParseSpeed)
	case schema.Length:
		return withUnit(t, name, s, funcs.ParseLength)
	case schema.Time:
		return withUnit(t, name, s, funcs.ParseTime)
	case schema.Delay:
		v, m := withUnit(t, name, s, funcs.ParseDelay)
		if m == nil && v.N > t.Max {
			return Value{}, takes(t, name, quoteWord(s), "a delay of at most 1000ms")
		}
		return v, m
	case schema.Bytes:
		v, m := withUnit(t, name, s, funcs.ParseBytes)
		if m != nil {
			return v, m
		}
		return checkBounds(t, name, v)
	case schema.DSCP:
		n, err := funcs.ParseDSCP(s)
		return fromErr(Value{Int, int64(n)}, t, name, err)
	case schema.Alpha:
		num, den, err := funcs.ParseAlpha(s)
		if err != nil {
			return fromErr(Value{}, t, name, err)
		}
		return tb.ratio(num, den), nil
	case schema.Cap:
		share, err := funcs.ParsePercentOrSpeed(s)
		if text, ok := units.Canonical(t.Base, s); ok && err != nil {
			share, err = funcs.ParsePercentOrSpeed(text)
		}
		if err != nil {
			return fromErr(Value{}, t, name, err)
		}
		if share.Mbps > 0 {
			return Value{Int, share.Mbps}, nil
		}
		if share.MilliPercent%1000 != 0 {
			return Value{}, takes(t, name, quoteWord(s), "a speed or a whole number of percent")
		}
		return Value{Percent, share.MilliPercent / 1000}, nil
	case schema.Range:
		return leafRange(tb, name, s)
	case schema.CIDR:
		p, err := netip.ParsePrefix(s)
		if err != nil {
			help := "write an address and its prefix length, like \"10.71.1.0/24\""
			if _, err := netip.ParseAddr(s); err == nil {
				help = "add the prefix length, like \"" + s + "/24\""
			}
			return Value{}, &mistake{name + " " + quoteWord(s) + " is not an address with a prefix length", help}
		}
		return tb.address(s, p.AppendTo(make([]byte, 0, longestAddress))), nil
	case schema.Addr:
		a, err := netip.ParseAddr(s)
		if err != nil || a.Zone() != "" {
			return Value{}, takes(t, name, quoteWord(s), "an IP address without a prefix length")
		}
		return tb.address(s, a.AppendTo(make([]byte, 0, longestAddress))), nil
	case schema.Date:
		d, err := time.Parse("2006-01-02", s)
		if err != nil {
			return Value{}, takes(t, name, quoteWord(s), "a date like \"2027-03-31\"")
		}
		return tb.text(d.Format("2006-01-02")), nil
	case schema.Host, schema.EnvVar, schema.HostKey:
		return leafHost(tb, t, name, s)
	case schema.Ref:
		if slices.Contains(t.Words, "*") {
			if s == "" {
				return Value{}, takes(t, name, `""`, "a name, a glob or a reference")
			}
			return tb.text(s), nil
		}
		return Value{}, notRef(t, name, quoteWord(s), s)
	case schema.Object:
		return Value{}, takes(t, name, quoteWord(s), objectWanted(t))
	case schema.Map:
		return Value{}, takes(t, name, quoteWord(s), "a map in braces")
	case schema.Number:
		r, ok := new(big.Rat).SetString(s)
		if !ok || len(s) > 64 {
			return Value{}, takes(t, name, quoteWord(s), "a number")
		}
		return leafRat(tb, t, name, r)
	}
	return tb.text(s), nil
}

// leafInt reads a whole number.
func leafInt(tb *tables, t *schema.Type, name string, n int64) (Value, *mistake) {
	switch t.Base {
	case schema.Int, schema.Percent:
		return checkBounds(t, name, Value{Int, n})
	case schema.Bytes:
		if n < 0 {
			return Value{}, takes(t, name, strconv.FormatInt(n, 10), "a size of 0 or more")
		}
		return checkBounds(t, name, Value{Int, n})
	case schema.DSCP:
		if n < 0 || n > 63 {
			want := "a number from 0 to 63 or a name like \"af31\""
			if n > 63 && n <= 255 {
				want += ": as a ToS byte, " + strconv.FormatInt(n, 10) + " is DSCP " + strconv.FormatInt(n>>2, 10)
			}
			return Value{}, takes(t, name, strconv.FormatInt(n, 10), want)
		}
		return Value{Int, n}, nil
	case schema.Alpha:
		if n <= 0 {
			return Value{}, takes(t, name, strconv.FormatInt(n, 10), "a number above 0 or a fraction like \"1/8\"")
		}
		return tb.ratio(n, 1), nil
	case schema.Cap:
		if n < 1 || n > 100 {
			return Value{}, takes(t, name, strconv.FormatInt(n, 10), "a percentage from 1 to 100 or a speed like \"25G\"")
		}
		return Value{Percent, n}, nil
	case schema.Number, schema.Any:
		return Value{Int, n}, nil
	case schema.String, schema.Range, schema.Scalar:
		return leafText(tb, t, name, strconv.FormatInt(n, 10))
	case schema.Bool:
		return Value{}, takes(t, name, strconv.FormatInt(n, 10), "true or false")
	case schema.Speed:
		return Value{}, takes(t, name, strconv.FormatInt(n, 10), "a speed with its unit, like \"25G\"")
	case schema.Length:
		return Value{}, takes(t, name, strconv.FormatInt(n, 10), "a length with its unit, like \"3m\"")
	case schema.Delay:
		return Value{}, takes(t, name, strconv.FormatInt(n, 10), "a delay with its unit, like \"250ns\"")
	case schema.Time:
		return Value{}, takes(t, name, strconv.FormatInt(n, 10), "a time with its unit, like \"200ms\"")
	case schema.Ref:
		return Value{}, notRef(t, name, strconv.FormatInt(n, 10), "")
	case schema.Object:
		return Value{}, takes(t, name, strconv.FormatInt(n, 10), objectWanted(t))
	case schema.Map:
		return Value{}, takes(t, name, strconv.FormatInt(n, 10), "a map in braces")
	}
	return leafText(tb, t, name, strconv.FormatInt(n, 10))
}

// leafRat reads a number that may have a fraction.
func leafRat(tb *tables, t *schema.Type, name string, r *big.Rat) (Value, *mistake) {
	if r.IsInt() && r.Num().IsInt64() {
		return leafInt(tb, t, name, r.Num().Int64())
	}
	shown := trimZeros(r.FloatString(6))
	if len(shown) > 40 {
		shown = shown[:37] + "..."
	}
	switch t.Base {
	case schema.Alpha, schema.Number, schema.Any:
		if !r.Num().IsInt64() || !r.Denom().IsInt64() {
			return Value{}, takes(t, name, shown, "a number of at most 18 digits")
		}
		if t.Base == schema.Alpha && r.Sign() <= 0 {
			return Value{}, takes(t, name, shown, "a number above 0 or a fraction like \"1/8\"")
		}
		return tb.ratio(r.Num().Int64(), r.Denom().Int64()), nil
	case schema.Scalar:
		return tb.text(trimZeros(r.FloatString(18))), nil
	case schema.Int, schema.Percent:
		return Value{}, takes(t, name, shown, numberWanted(t))
	case schema.String:
		return Value{}, takes(t, name, shown, "text in quotes")
	}
	return Value{}, takes(t, name, shown, wanted(t))
}

func trimZeros(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// leafFloat is leafRat for the numbers of cty. Decimal fractions such as 0.1
// are kept as they were written.
func leafFloat(tb *tables, t *schema.Type, name string, f *big.Float) (Value, *mistake) {
	if f.IsInt() {
		if n, acc := f.Int64(); acc == big.Exact {
			return leafInt(tb, t, name, n)
		}
	}
	if f.IsInf() || f.MantExp(nil) > 64 || f.MantExp(nil) < -64 {
		return Value{}, takes(t, name, f.Text('g', 6), wanted(t))
	}
	r, ok := new(big.Rat).SetString(f.Text('f', 17))
	if !ok {
		return Value{}, takes(t, name, f.Text('g', 6), wanted(t))
	}
	return leafRat(tb, t, name, r)
}

func leafBool(tb *tables, t *schema.Type, name string, b bool) (Value, *mistake) {
	n := int64(0)
	if b {
		n = 1
	}
	switch t.Base {
	case schema.Bool, schema.Any:
		return Value{Int, n}, nil
	case schema.String, schema.Scalar:
		if t.Enum == nil {
			return tb.text(strconv.FormatBool(b)), nil
		}
		if now, ok := t.Was[strconv.FormatBool(b)]; ok {
			return tb.text(now), nil
		}
		return Value{}, notOneOf(t, name, strconv.FormatBool(b))
	case schema.Ref:
		return Value{}, notRef(t, name, strconv.FormatBool(b), "")
	}
	return Value{}, takes(t, name, strconv.FormatBool(b), wanted(t))
}

// leafRange expands a range into a list of names.
func leafRange(tb *tables, name, s string) (Value, *mistake) {
	r, err := funcs.ParseRange(s)
	if err == nil {
		vs := make([]Value, 0, min(r.Len(), funcs.MaxRange))
		err = r.Each(func(m funcs.Member) bool {
			vs = append(vs, tb.text(m.Name))
			return true
		})
		if err == nil {
			return tb.list(vs), nil
		}
	}
	return Value{}, &mistake{name + ": " + rangeProblem(s, err), rangeHelp(r, err)}
}

// rangeHelp says what to do about a range that does not read, or has too many
// members.
func rangeHelp(r funcs.Range, err error) string {
	if r.Len() > funcs.MaxRange {
		return "no device has that many: check where the range ends"
	}
	return "ranges look like \"swp[1-4,9]\" or \"Ethernet[0-252:4]\""
}

func rangeProblem(s string, err error) string {
	var re *funcs.RangeError
	if errors.As(err, &re) {
		return quoteWord(s) + ": " + re.Msg
	}
	return quoteWord(s) + ": " + err.Error()
}

func withUnit(t *schema.Type, name, s string, parse func(string) (int64, error)) (Value, *mistake) {
	n, err := parse(s)
	if err != nil {
		if text, ok := units.Canonical(t.Base, s); ok {
			n, err = parse(text)
		}
	}
	return fromErr(Value{Int, n}, t, name, err)
}

// fromErr turns an error of the readers into a mistake.
func fromErr(v Value, t *schema.Type, name string, err error) (Value, *mistake) {
	if err == nil {
		return v, nil
	}
	var ve *funcs.ValueError
	if !errors.As(err, &ve) {
		return Value{}, &mistake{name + ": " + err.Error(), ""}
	}
	help := "write " + ve.Want
	if len(t.Words) > 0 {
		help += ", or " + quoted(t.Words, "or")
	}
	if n := Nearest(ve.Text, t.Words); n != "" {
		help += "; did you mean " + quoteWord(n) + "?"
	}
	return Value{}, &mistake{name + ": " + ve.Kind + " " + quoteWord(ve.Text) + " " + ve.Reason, help}
}

func checkBounds(t *schema.Type, name string, v Value) (Value, *mistake) {
	lo, hi := t.Min, t.Max
	if t.Base == schema.Percent && hi == 0 {
		hi = 100
	}
	if v.N < lo || (hi != 0 && v.N > hi) {
		return Value{}, takes(t, name, strconv.FormatInt(v.N, 10), numberWanted(t))
	}
	return v, nil
}

func numberWanted(t *schema.Type) string {
	lo, hi := t.Min, t.Max
	if t.Base == schema.Percent && hi == 0 {
		hi = 100
	}
	what := "a whole number"
	if t.Base == schema.Percent {
		what = "a whole number of percent"
	}
	if hi != 0 {
		return what + " from " + strconv.FormatInt(lo, 10) + " to " + strconv.FormatInt(hi, 10)
	}
	if lo > math.MinInt64 && lo != 0 {
		return what + " of at least " + strconv.FormatInt(lo, 10)
	}
	return what
}

func takes(t *schema.Type, name, got, want string) *mistake {
	help := "write " + want
	if words := plainWords(t); len(words) > 0 && !strings.HasSuffix(want, quoted(words, "or")) {
		help += ", or " + quoted(words, "or")
	}
	if len(got) > 1 && got[0] == '"' {
		if n := Nearest(got[1:len(got)-1], t.Words); n != "" {
			help += "; did you mean " + quoteWord(n) + "?"
		}
	}
	return &mistake{name + " does not take " + got, help}
}

func plainWords(t *schema.Type) []string {
	if !slices.Contains(t.Words, "*") {
		return t.Words
	}
	return slices.DeleteFunc(slices.Clone(t.Words), func(w string) bool { return w == "*" })
}

func notOneOf(t *schema.Type, name, s string) *mistake {
	all := append(slices.Clone(t.Enum), t.Words...)
	help := "write " + quoted(all, "or")
	if n := Nearest(s, all); n != "" {
		help += "; did you mean " + quoteWord(n) + "?"
	}
	return &mistake{name + " does not take " + quoteWord(s), help}
}

func notRef(t *schema.Type, name, got, text string) *mistake {
	m := &mistake{summary: name + " does not take " + got, help: "write " + wanted(t)}
	if n := Nearest(text, t.Words); text != "" && n != "" {
		m.help += "; did you mean " + quoteWord(n) + "?"
	}
	return m
}

func objectWanted(t *schema.Type) string {
	names := make([]string, len(t.Fields))
	for i := range t.Fields {
		names[i] = t.Fields[i].Num.Name()
	}
	s := "an object like { " + names[0] + " = ... }"
	if len(names) > 1 {
		s += " with any of " + quotedPlain(names)
	}
	return s
}

func quotedPlain(names []string) string {
	s := ""
	for i, n := range names {
		if i > 0 {
			s += ", "
		}
		s += n
	}
	return s
}

// wanted describes what a type takes.
func wanted(t *schema.Type) string {
	s := ""
	switch t.Base {
	case schema.String:
		if t.Enum != nil {
			return quoted(append(slices.Clone(t.Enum), t.Words...), "or")
		}
		s = "text in quotes"
	case schema.Bool:
		s = "true or false"
	case schema.Int, schema.Percent:
		s = numberWanted(t)
	case schema.Speed:
		s = "a speed like \"25G\""
	case schema.Length:
		s = "a length like \"3m\""
	case schema.Delay:
		s = "a delay like \"250ns\""
	case schema.Time:
		s = "a time like \"200ms\""
	case schema.Bytes:
		s = "a size like \"150KB\" or a number of bytes"
	case schema.DSCP:
		s = "a DSCP, a number from 0 to 63 or a name like \"af31\""
	case schema.Alpha:
		s = "a number above 0 or a fraction like \"1/8\""
	case schema.Cap:
		s = "a speed like \"25G\" or a percentage"
	case schema.Range:
		s = "a name, a range like \"swp[1-4]\" or a list of them"
	case schema.CIDR:
		s = "an address with a prefix length, like \"10.71.1.0/24\""
	case schema.Addr:
		s = "an IP address"
	case schema.Date:
		s = "a date like \"2027-03-31\""
	case schema.Ref:
		s = "a reference like " + refExample(t)
	case schema.Object:
		s = objectWanted(t)
	case schema.Map:
		s = "a map in braces"
	case schema.Number:
		s = "a number"
	case schema.Scalar:
		s = "a text, number or bool"
	case schema.Any:
		s = "any value"
	case schema.Host:
		s = "a host name or an IP address"
	case schema.EnvVar:
		s = "the name of an environment variable, like \"ROCEC_FABRIC_PASSWORD\""
	case schema.HostKey:
		s = "a fingerprint like \"SHA256:...\" or a key like \"ssh-ed25519 AAAA...\""
	}
	if words := plainWords(t); len(words) > 0 {
		s += ", or " + quoted(words, "or")
	}
	return s
}

func refExample(t *schema.Type) string {
	if len(t.Refs) == 0 {
		return "segment.NAME"
	}
	switch k := t.Refs[0]; k {
	case schema.Port:
		return `switch.NAME.port["PORT"]`
	case schema.NIC:
		return `node.NAME.nic["NIC"]`
	default:
		return k.String() + ".NAME"
	}
}
