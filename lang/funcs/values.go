package funcs

import (
	"fmt"
	"math"
	"math/bits"
)

// ValueError is a written value (a size, a speed, a length ...) that does not
// read. Its message says what is accepted.
type ValueError struct {
	Kind   string // "size", "speed", ...
	Text   string // what was written
	Reason string // what is wrong with it
	Want   string // what is accepted
}

// Error names the kind, the text that was written, and what is accepted.
func (e *ValueError) Error() string {
	text := e.Text
	if len(text) > 40 {
		text = text[:37] + "..."
	}
	return fmt.Sprintf("%s %q %s: write %s", e.Kind, text, e.Reason, e.Want)
}

const (
	wantBytes  = `a plain number of bytes or one with B, KB, MB, GB (powers of 1000) or KiB, MiB, GiB (powers of 1024), like "150KB"`
	wantSpeed  = `a number with M, G or T, like "25G" or "1.6T"`
	wantLength = `a number with m or km, like "3m" or "1.5km"`
	wantTime   = `a number with us, ms, s, m or h, like "200ms"`
	wantDelay  = `a number with ns, us or ms, like "250ns"`
	wantDSCP   = `a number from 0 to 63 or one of cs0 to cs7, af11 to af43, ef, va, le`
	wantAlpha  = `a number above 0 or a fraction of whole numbers, like "1/8"`
	wantShare  = `a percentage as a plain number above 0 and up to 100, or a speed like "25G"`

	notUnderstood = "is not understood"
	tooLarge      = "is too large"
	tooPrecise    = "has too many digits"
)

// ParseBytes reads a size: a plain number of bytes ("79248") or one with B, KB,
// MB, GB (powers of 1000) or KiB, MiB, GiB (powers of 1024). Fractions are
// allowed where the result is a whole number of bytes ("1.5MB").
func ParseBytes(s string) (int64, error) {
	d, unit, reason := scanDecimal(s)
	mult := uint64(0)
	switch unit {
	case "", "B":
		mult = 1
	case "KB":
		mult = 1e3
	case "MB":
		mult = 1e6
	case "GB":
		mult = 1e9
	case "KiB":
		mult = 1 << 10
	case "MiB":
		mult = 1 << 20
	case "GiB":
		mult = 1 << 30
	}
	n, reason := d.times(mult, "is not a whole number of bytes", reason)
	if reason != "" {
		return 0, &ValueError{"size", s, reason, wantBytes}
	}
	return n, nil
}

// ParseSpeed reads a speed with M, G or T (bit/s, powers of 1000) and returns
// Mbit/s. A speed is above zero and a whole number of Mbit/s.
func ParseSpeed(s string) (mbps int64, err error) {
	n, reason := speed(s)
	if reason != "" {
		return 0, &ValueError{"speed", s, reason, wantSpeed}
	}
	return n, nil
}

func speed(s string) (mbps int64, reason string) {
	d, unit, reason := scanDecimal(s)
	mult := uint64(0)
	switch unit {
	case "M":
		mult = 1
	case "G":
		mult = 1e3
	case "T":
		mult = 1e6
	}
	n, reason := d.times(mult, "is not a whole number of Mbit/s", reason)
	if reason == "" && n == 0 {
		reason = "is zero"
	}
	return n, reason
}

// ParseLength reads a length with m or km and returns millimetres.
func ParseLength(s string) (mm int64, err error) {
	d, unit, reason := scanDecimal(s)
	mult := uint64(0)
	switch unit {
	case "m":
		mult = 1e3
	case "km":
		mult = 1e6
	}
	n, reason := d.times(mult, "is not a whole number of millimetres", reason)
	if reason != "" {
		return 0, &ValueError{"length", s, reason, wantLength}
	}
	return n, nil
}

// ParseTime reads a time with us, ms, s, m (minutes) or h (hours) and returns
// microseconds.
func ParseTime(s string) (us int64, err error) {
	d, unit, reason := scanDecimal(s)
	mult := uint64(0)
	switch unit {
	case "us":
		mult = 1
	case "ms":
		mult = 1e3
	case "s":
		mult = 1e6
	case "m":
		mult = 60e6
	case "h":
		mult = 3600e6
	}
	n, reason := d.times(mult, "is not a whole number of microseconds", reason)
	if reason != "" {
		return 0, &ValueError{"time", s, reason, wantTime}
	}
	return n, nil
}

// ParseDelay reads a delay on a cable with ns, us or ms and returns
// nanoseconds.
func ParseDelay(s string) (ns int64, err error) {
	d, unit, reason := scanDecimal(s)
	mult := uint64(0)
	switch unit {
	case "ns":
		mult = 1
	case "us":
		mult = 1e3
	case "ms":
		mult = 1e6
	}
	n, reason := d.times(mult, "is not a whole number of nanoseconds", reason)
	if reason != "" {
		return 0, &ValueError{"delay", s, reason, wantDelay}
	}
	return n, nil
}

// ParseAlpha reads the factor of a dynamic buffer threshold, a number or a
// fraction of whole numbers, and returns it in lowest terms: "2/16" and "0.125"
// are both 1 and 8.
func ParseAlpha(s string) (num, den int64, err error) {
	num, den, reason := alpha(s)
	if reason != "" {
		return 0, 0, &ValueError{"alpha", s, reason, wantAlpha}
	}
	return num, den, nil
}

func alpha(s string) (num, den int64, reason string) {
	d, rest, reason := scanDecimal(s)
	if reason != "" {
		return 0, 0, reason
	}
	num, den = int64(d.digits), int64(pow10[d.scale])
	if rest != "" {
		below, tail, reason := scanDecimal(rest[1:])
		switch {
		case rest[0] != '/' || tail != "":
			return 0, 0, notUnderstood
		case reason != "":
			return 0, 0, reason
		case d.scale != 0 || below.scale != 0:
			return 0, 0, "is not a fraction of whole numbers"
		case below.digits == 0:
			return 0, 0, "divides by zero"
		}
		den = int64(below.digits)
	}
	if num == 0 {
		return 0, 0, "is zero"
	}
	g := gcd(num, den)
	return num / g, den / g, ""
}

// Share is a part of a port's bandwidth, written as a speed or as a percentage.
// Exactly one field is set.
type Share struct {
	Mbps         int64
	MilliPercent int64 // thousandths of a percent: 12.5 % is 12500
}

// ParsePercentOrSpeed reads a share: a speed ("25G"), or a percentage as a
// plain number above 0 and up to 100, with at most three decimals.
func ParsePercentOrSpeed(s string) (Share, error) {
	d, unit, reason := scanDecimal(s)
	if unit == "%" && reason == "" {
		return Share{}, &ValueError{"share", s, "has a percent sign", wantShare}
	}
	if unit != "" || reason != "" {
		n, reason := speed(s)
		if reason != "" {
			return Share{}, &ValueError{"share", s, reason, wantShare}
		}
		return Share{Mbps: n}, nil
	}
	n, reason := d.times(1e3, "has more than three decimals", "")
	if reason == "" && (n == 0 || n > 100e3) {
		reason = "is not a percentage above 0 and up to 100"
	}
	if reason != "" {
		return Share{}, &ValueError{"share", s, reason, wantShare}
	}
	return Share{MilliPercent: n}, nil
}

// ParseDSCP reads a DSCP: a number from 0 to 63 or a name, in either case. The
// names are CS0-CS7 (RFC 2474), AF11-AF43 (RFC 2597), EF (RFC 3246), VA (RFC
// 5865, VOICE-ADMIT) and LE (RFC 8622).
func ParseDSCP(s string) (uint8, error) {
	if v, ok := dscp(s); ok {
		return v, nil
	}
	return 0, &ValueError{"DSCP", s, notUnderstood, wantDSCP}
}

func dscp(s string) (uint8, bool) {
	if len(s) == 0 || len(s) > 4 {
		return 0, false
	}
	if isDigit(s[0]) {
		return smallDSCP(s)
	}
	if len(s) < 2 {
		return 0, false
	}
	a, b := s[0]|0x20, s[1]|0x20
	switch {
	case len(s) == 2 && a == 'e' && b == 'f':
		return 46, true
	case len(s) == 2 && a == 'v' && b == 'a':
		return 44, true
	case len(s) == 2 && a == 'l' && b == 'e':
		return 1, true
	case len(s) == 3 && a == 'c' && b == 's' && s[2] >= '0' && s[2] <= '7':
		return 8 * (s[2] - '0'), true
	case len(s) == 4 && a == 'a' && b == 'f' && s[2] >= '1' && s[2] <= '4' && s[3] >= '1' && s[3] <= '3':
		return 8*(s[2]-'0') + 2*(s[3]-'0'), true
	}
	return 0, false
}

func smallDSCP(s string) (uint8, bool) {
	n := uint(0)
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, false
		}
		n = n*10 + uint(s[i]-'0')
	}
	return uint8(n), n <= 63
}

// decimal is digits / 10^scale, without trailing zeros in the fraction.
type decimal struct {
	digits uint64
	scale  uint8
}

// maxDigits keeps digits below 10^18, so that sums and powers stay in 64 bits.
const maxDigits = 18

var pow10 = [maxDigits + 1]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
}

// scanDecimal reads digits[.digits] from the start of s and returns what
// follows. The reason is empty when a number was read.
func scanDecimal(s string) (d decimal, rest, reason string) {
	i := 0
	for ; i < len(s) && isDigit(s[i]); i++ {
		if d.digits >= pow10[maxDigits-1] {
			return decimal{}, "", tooLarge
		}
		d.digits = d.digits*10 + uint64(s[i]-'0')
	}
	if i == 0 {
		return decimal{}, s, notUnderstood
	}
	if i == len(s) || s[i] != '.' {
		return d, s[i:], ""
	}
	first := i + 1
	zeros := uint8(0) // read but not yet needed
	for i = first; i < len(s) && isDigit(s[i]); i++ {
		if s[i] == '0' {
			zeros = min(zeros+1, maxDigits)
			continue
		}
		if int(d.scale)+int(zeros)+1 > maxDigits || d.digits >= pow10[maxDigits-1-zeros] {
			return decimal{}, "", tooPrecise
		}
		d.digits = d.digits*pow10[zeros+1] + uint64(s[i]-'0')
		d.scale += zeros + 1
		zeros = 0
	}
	if i == first {
		return decimal{}, s, notUnderstood
	}
	return d, s[i:], ""
}

// times returns d*mult where that is whole and fits. A mult of zero stands for
// a unit that is not known. A reason that is already there is passed on.
func (d decimal) times(mult uint64, notWhole, reason string) (int64, string) {
	if reason != "" {
		return 0, reason
	}
	if mult == 0 {
		return 0, notUnderstood
	}
	hi, lo := bits.Mul64(d.digits, mult)
	if hi >= pow10[d.scale] {
		return 0, tooLarge
	}
	q, r := bits.Div64(hi, lo, pow10[d.scale])
	if r != 0 {
		return 0, notWhole
	}
	if q > math.MaxInt64 {
		return 0, tooLarge
	}
	return int64(q), ""
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
