package funcs

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// ParseRange reads a name with ranges in brackets:
//
//	swp[1-4,9]        a-b is inclusive; commas join
//	Ethernet[0-252:4] :n steps
//	gpu[01-16]        leading zeros fix the width
//	smb_[a-b]         single letters of one case
//	eth[1-2]/[1-4]    of several ranges the last varies fastest
//
// Refused are, besides what does not read: numbers of differing width where one
// has leading zeros, a member named twice, and ranges in which one name could
// be read in two ways ("p[1-11][1-11]"). The error is a *RangeError. A text
// without brackets is a range of one.
func ParseRange(text string) (Range, error) {
	if text == "" {
		return Range{}, &RangeError{0, "name is empty"}
	}
	if len(text) > maxRangeText {
		return Range{}, &RangeError{maxRangeText, fmt.Sprintf("name is %d bytes long, at most %d are allowed", len(text), maxRangeText)}
	}
	if strings.IndexByte(text, '[') < 0 && strings.IndexByte(text, ']') < 0 {
		return Range{text: text}, nil
	}
	p := rangeParser{text: text}
	if err := p.parse(); err != nil {
		return Range{}, err
	}
	return Range{text, p.lits, p.sets}, nil
}

type rangeParser struct {
	text string
	pos  int
	lits []string
	sets []set
}

func (p *rangeParser) fail(at int, format string, args ...any) error {
	return &RangeError{at, fmt.Sprintf(format, args...)}
}

func (p *rangeParser) parse() error {
	var starts []int
	for {
		rest := p.text[p.pos:]
		i := strings.IndexAny(rest, "[]")
		if i < 0 {
			p.lits = append(p.lits, rest)
			break
		}
		if rest[i] == ']' {
			return p.fail(p.pos+i, "closing bracket without an opening one")
		}
		if len(p.sets) == maxRangeSets {
			return p.fail(p.pos+i, "more than %d ranges in one name", maxRangeSets)
		}
		p.lits = append(p.lits, rest[:i])
		starts = append(starts, p.pos+i)
		p.pos += i + 1
		s, err := p.set()
		if err != nil {
			return err
		}
		p.sets = append(p.sets, s)
	}
	return p.ambiguous(starts)
}

// ambiguous refuses two ranges of varying width with nothing but digits
// between them: p[1-11][1-11] would give p111 twice.
func (p *rangeParser) ambiguous(starts []int) error {
	open := false // a range of varying width, and only digits since
	for k := range p.sets {
		s := &p.sets[k]
		if strings.ContainsFunc(p.lits[k], func(c rune) bool { return c < '0' || c > '9' }) || !s.digits {
			open = false
		}
		if s.shortest == s.longest {
			continue
		}
		if open {
			return p.fail(starts[k], "numbers of varying width run together, so one name could be read in two ways: fix their width with leading zeros")
		}
		open = true
	}
	return nil
}

// bound is one number or letter as written.
type bound struct {
	at     int
	text   string
	value  int64
	letter bool
}

func (b bound) padded() bool { return !b.letter && len(b.text) > 1 && b.text[0] == '0' }

// set reads up to and including the closing bracket.
func (p *rangeParser) set() (set, error) {
	open := p.pos - 1
	var s set
	var bounds []bound
	for {
		it, ends, err := p.item(open)
		if err != nil {
			return set{}, err
		}
		for _, other := range s.items {
			if v, ok := common(other, it); ok {
				return set{}, p.fail(ends[0].at, "member %s is named twice", it.show(v))
			}
		}
		s.items = append(s.items, it)
		bounds = append(bounds, ends...)
		s.count = saturate(s.count, it.n)
		if p.text[p.pos] == ']' {
			p.pos++
			break
		}
		p.pos++ // comma
	}
	width, err := p.width(bounds)
	if err != nil {
		return set{}, err
	}
	s.shortest = maxRangeText
	for i := range s.items {
		it := &s.items[i]
		short, long := 1, 1
		if !it.letter {
			it.width = width
			short, long = max(width, digitsOf(it.lo)), max(width, digitsOf(it.last()))
			s.digits = true
		}
		s.shortest, s.longest = min(s.shortest, short), max(s.longest, long)
	}
	return s, nil
}

// width is the number of digits that leading zeros fix, or 0.
func (p *rangeParser) width(bounds []bound) (int, error) {
	fixed := -1
	for i, b := range bounds {
		if b.padded() {
			fixed = i
			break
		}
	}
	if fixed < 0 {
		return 0, nil
	}
	want := bounds[fixed]
	for _, b := range bounds {
		if !b.letter && len(b.text) != len(want.text) {
			return 0, p.fail(b.at, "%s and %s differ in width: leading zeros fix it for the whole range", b.text, want.text)
		}
	}
	return len(want.text), nil
}

// item reads a, a-b or a-b:n and leaves pos on the comma or bracket after it.
func (p *rangeParser) item(open int) (item, []bound, error) {
	lo, err := p.bound(open)
	if err != nil {
		return item{}, nil, err
	}
	it := item{lo: lo.value, step: 1, n: 1, letter: lo.letter}
	ends := []bound{lo}
	if p.peek() == '-' {
		p.pos++
		hi, err := p.bound(open)
		if err != nil {
			return item{}, nil, err
		}
		ends = append(ends, hi)
		switch {
		case lo.letter != hi.letter:
			return item{}, nil, p.fail(lo.at, "range from %s to %s mixes a number and a letter", lo.text, hi.text)
		case lo.letter && (lo.value^hi.value)&0x20 != 0:
			return item{}, nil, p.fail(lo.at, "range from %s to %s mixes upper and lower case", lo.text, hi.text)
		case lo.value > hi.value:
			return item{}, nil, p.fail(lo.at, "range from %s to %s runs backwards", lo.text, hi.text)
		}
		if p.peek() == ':' {
			p.pos++
			at := p.pos
			step, err := p.bound(open)
			if err != nil {
				return item{}, nil, err
			}
			if step.letter || step.value == 0 {
				return item{}, nil, p.fail(at, "step %s is not a number above 0", step.text)
			}
			it.step = step.value
		}
		it.n = (hi.value-lo.value)/it.step + 1
	}
	switch p.peek() {
	case ',', ']':
		return it, ends, nil
	case ':':
		return item{}, nil, p.fail(p.pos, "a step needs a range before it, like 0-252:4")
	case 0:
		return item{}, nil, p.fail(open, "opening bracket without a closing one")
	}
	return item{}, nil, p.fail(p.pos, "%q in a range: it takes numbers, single letters, '-', ':' and ','", p.char())
}

func (p *rangeParser) peek() byte {
	if p.pos == len(p.text) {
		return 0
	}
	return p.text[p.pos]
}

func (p *rangeParser) char() string {
	for i := range p.text[p.pos:] {
		if i > 0 {
			return p.text[p.pos : p.pos+i]
		}
	}
	return p.text[p.pos:]
}

func (p *rangeParser) bound(open int) (bound, error) {
	start := p.pos
	c := p.peek()
	switch {
	case isDigit(c):
		v := int64(0)
		for isDigit(p.peek()) {
			if p.pos-start == maxDigits {
				return bound{}, p.fail(start, "number has more than %d digits", maxDigits)
			}
			v = v*10 + int64(p.peek()-'0')
			p.pos++
		}
		return bound{start, p.text[start:p.pos], v, false}, nil
	case isLetter(c):
		p.pos++
		if isLetter(p.peek()) || isDigit(p.peek()) {
			return bound{}, p.fail(start, "a range takes numbers and single letters, not words")
		}
		return bound{start, p.text[start:p.pos], int64(c), true}, nil
	case p.pos == len(p.text):
		return bound{}, p.fail(open, "opening bracket without a closing one")
	case c == ']' || c == ',' || c == '-' || c == ':':
		return bound{}, p.fail(start, "a number or a single letter is missing before %q", p.char())
	}
	return bound{}, p.fail(start, "%q in a range: it takes numbers, single letters, '-', ':' and ','", p.char())
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func saturate(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func (it item) show(v int64) string {
	if it.letter {
		return string(rune(v))
	}
	return fmt.Sprint(v)
}

// common finds a value that two items share, without expanding either: terms
// of two arithmetic progressions meet where one congruence has a solution in
// the part where they overlap.
func common(a, b item) (int64, bool) {
	lo, hi := max(a.lo, b.lo), min(a.last(), b.last())
	if a.letter != b.letter || lo > hi {
		return 0, false
	}
	g := gcd(a.step, b.step)
	if (b.lo-a.lo)%g != 0 {
		return 0, false
	}
	// a.lo + i*a.step = b.lo (mod b.step), so i = x (mod m)
	m := b.step / g
	x := mulmod(mod((b.lo-a.lo)/g, m), inverse(mod(a.step/g, m), m), m)
	first := (lo - a.lo + a.step - 1) / a.step
	i := first + mod(x-first, m)
	if i > (hi-a.lo)/a.step {
		return 0, false
	}
	return a.lo + i*a.step, true
}

func mod(a, m int64) int64 {
	a %= m
	if a < 0 {
		a += m
	}
	return a
}

func mulmod(a, b, m int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return int64(bits.Rem64(hi, lo, uint64(m)))
}

// inverse of a modulo m, for a prime to m.
func inverse(a, m int64) int64 {
	r0, r1 := m, a
	t0, t1 := int64(0), int64(1)
	for r1 != 0 {
		q := r0 / r1
		r0, r1 = r1, r0-q*r1
		t0, t1 = t1, t0-q*t1
	}
	return mod(t0, m)
}
