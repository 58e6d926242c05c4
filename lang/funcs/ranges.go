package funcs

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// MaxRange is the greatest number of members that a range may expand to.
const MaxRange = 1 << 16

const (
	maxRangeText = 4096
	maxRangeSets = 16
)

// RangeError is a range that does not read. Offset is the byte of the text at
// which it goes wrong.
type RangeError struct {
	Offset int
	Msg    string
}

// Error is the message alone; the place is in Offset.
func (e *RangeError) Error() string { return e.Msg }

// Range is a name with bracketed ranges in it, such as "swp[1-4,9]" or
// "Ethernet[1-2]/[1-4]". A name without brackets is a Range of one member. The
// zero Range has no member. A Range is immutable and small however many
// members it has.
type Range struct {
	text string
	lits []string // len(sets)+1 pieces of fixed text around the sets
	sets []set
}

// set is one pair of brackets: its items, joined by commas.
type set struct {
	items    []item
	count    int64 // saturates at math.MaxInt64
	shortest int   // bytes of the shortest and the longest member
	longest  int
	digits   bool // some member is a number
}

// item is lo, lo+step, ... with n terms; a single value has one term.
type item struct {
	lo, step, n int64
	width       int  // fixed number of digits, 0: as many as needed
	letter      bool // lo is the code of a letter
}

func (it item) last() int64 { return it.lo + (it.n-1)*it.step }

// Member is one name of a range.
type Member struct {
	Name  string   // "swp7"
	Key   string   // the varying text: "7"; of several ranges, their keys joined by "/": "1/4"; "" if nothing varies
	Keys  []string // one per range
	Index int      // from 0, in the order written; the last range varies fastest
}

// Len is the number of members, counted without expanding. It saturates at
// math.MaxInt.
func (r Range) Len() int {
	if r.text == "" {
		return 0
	}
	n := int64(1)
	for i := range r.sets {
		hi, lo := bits.Mul64(uint64(n), uint64(r.sets[i].count))
		if hi != 0 || lo > math.MaxInt {
			return math.MaxInt
		}
		n = int64(lo)
	}
	return int(n)
}

// String is the text the range was read from.
func (r Range) String() string { return r.text }

// Each calls f for every member in order until f returns false. A range of more
// than MaxRange members is an error, and f is not called.
func (r Range) Each(f func(Member) bool) error {
	n, err := r.expandable()
	if err != nil {
		return err
	}
	var buf []byte
	for i := range n {
		var m Member
		m, buf = r.member(i, buf)
		if !f(m) {
			break
		}
	}
	return nil
}

// Names lists the members' names in order. A range of more than MaxRange
// members is an error.
func (r Range) Names() ([]string, error) {
	n, err := r.expandable()
	if err != nil {
		return nil, err
	}
	names := make([]string, n)
	var buf []byte
	for i := range names {
		buf, _ = r.appendName(buf[:0], i, nil)
		names[i] = string(buf)
	}
	return names, nil
}

func (r Range) expandable() (int, error) {
	n := r.Len()
	if n <= MaxRange {
		return n, nil
	}
	count := fmt.Sprint(n)
	if n == math.MaxInt {
		count = "more than " + count
	}
	return 0, &RangeError{0, fmt.Sprintf("range %q has %s members, at most %d are allowed", clip(r.text), count, MaxRange)}
}

// At returns member i, which is at least 0 and less than Len.
func (r Range) At(i int) Member {
	m, _ := r.member(i, nil)
	return m
}

func (r Range) member(i int, buf []byte) (Member, []byte) {
	if len(r.sets) == 0 {
		return Member{Name: r.text}, buf
	}
	var at [2 * maxRangeSets]int
	buf, _ = r.appendName(buf[:0], i, at[:])
	name := string(buf)
	keys := make([]string, len(r.sets))
	for k := range keys {
		keys[k] = name[at[2*k]:at[2*k+1]]
	}
	m := Member{Name: name, Key: keys[0], Keys: keys, Index: i}
	if len(keys) > 1 {
		m.Key = strings.Join(keys, "/")
	}
	return m, buf
}

// appendName appends the name of member i. Into at, unless nil, go the start
// and end of each set's text.
func (r Range) appendName(buf []byte, i int, at []int) ([]byte, []int) {
	if len(r.sets) == 0 {
		return append(buf, r.text...), at
	}
	var digit [maxRangeSets]int64
	rest := int64(i)
	for k := len(r.sets) - 1; k >= 0; k-- {
		digit[k] = rest % r.sets[k].count
		rest /= r.sets[k].count
	}
	for k := range r.sets {
		buf = append(buf, r.lits[k]...)
		start := len(buf)
		buf = r.sets[k].append(buf, digit[k])
		if at != nil {
			at[2*k], at[2*k+1] = start, len(buf)
		}
	}
	return append(buf, r.lits[len(r.sets)]...), at
}

func (s *set) append(buf []byte, i int64) []byte {
	for _, it := range s.items {
		if i >= it.n {
			i -= it.n
			continue
		}
		v := it.lo + i*it.step
		if it.letter {
			return append(buf, byte(v))
		}
		for w := digitsOf(v); w < it.width; w++ {
			buf = append(buf, '0')
		}
		return strconv.AppendInt(buf, v, 10)
	}
	return buf
}

// Has reports whether name is a member.
func (r Range) Has(name string) bool {
	_, ok := r.Index(name)
	return ok
}

// Index returns the position of the member called name. It neither expands the
// range nor allocates.
func (r Range) Index(name string) (int, bool) {
	if r.text == "" || len(r.sets) == 0 {
		return 0, r.text != "" && name == r.text
	}
	i, ok := r.match(0, name)
	if !ok || i > math.MaxInt {
		return 0, false
	}
	return int(i), true
}

// match finds the position, among the members of sets k and later, of what is
// left of the name. Only one split of a name can fit: parse refuses ranges with
// two.
func (r Range) match(k int, rest string) (uint64, bool) {
	rest, ok := strings.CutPrefix(rest, r.lits[k])
	if !ok {
		return 0, false
	}
	if k == len(r.sets) {
		return 0, rest == ""
	}
	s := &r.sets[k]
	for n := s.shortest; n <= s.longest && n <= len(rest); n++ {
		i, ok := s.index(rest[:n])
		if !ok {
			continue
		}
		tail, ok := r.match(k+1, rest[n:])
		if !ok {
			continue
		}
		below := uint64(1)
		for j := k + 1; j < len(r.sets); j++ {
			hi, lo := bits.Mul64(below, uint64(r.sets[j].count))
			if hi != 0 {
				return math.MaxUint64, true // beyond any index that can be asked for
			}
			below = lo
		}
		hi, lo := bits.Mul64(uint64(i), below)
		sum, carry := bits.Add64(lo, tail, 0)
		if hi != 0 || carry != 0 {
			return math.MaxUint64, true
		}
		return sum, true
	}
	return 0, false
}

func (s *set) index(text string) (int64, bool) {
	letter := !isDigit(text[0])
	v := int64(text[0])
	if letter && len(text) > 1 {
		return 0, false
	}
	if !letter {
		v = 0
		for i := range len(text) {
			if !isDigit(text[i]) {
				return 0, false
			}
			v = v*10 + int64(text[i]-'0')
		}
	}
	before := int64(0)
	for _, it := range s.items {
		fits := it.letter == letter && v >= it.lo && v <= it.last() && (v-it.lo)%it.step == 0
		if fits && !letter {
			fits = len(text) == max(it.width, digitsOf(v))
		}
		if fits {
			return before + (v-it.lo)/it.step, true
		}
		before += it.n
	}
	return 0, false
}

func digitsOf(v int64) int {
	n := 1
	for ; v >= 10; v /= 10 {
		n++
	}
	return n
}

func clip(s string) string {
	if len(s) > 60 {
		return s[:57] + "..."
	}
	return s
}
