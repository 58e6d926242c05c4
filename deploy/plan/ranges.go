package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// Ranges writes names in the range syntax of the language, as few patterns as
// they fall into: "Ethernet[0-28:4]", "swp[1-4,9]", "gpu[01-16]". Every name is
// in exactly one pattern. Names that hold brackets stand as they are.
func Ranges(names []string) []string {
	var out []string
	for _, s := range spans(names) {
		out = append(out, s.text)
	}
	return out
}

// span is a range and the names it stands for.
type span struct {
	text  string
	names []string
}

func spans(names []string) []span {
	list := slices.SortedFunc(slices.Values(names), intent.Natural)
	list = slices.Compact(list)
	var rows []pattern
	var out []span
	slots := 0
	for _, n := range list {
		if strings.ContainsAny(n, "[]") || len(n) > maxPattern {
			out = append(out, span{n, []string{n}})
			continue
		}
		p := split(n)
		slots = max(slots, len(p.sets))
		rows = append(rows, p)
	}
	// The last number varies first, as that is how ports are counted.
	for slot := slots - 1; slot >= 0; slot-- {
		rows = fold(rows, slot)
	}
	for _, p := range rows {
		out = append(out, span{p.String(), p.names})
	}
	slices.SortFunc(out, bySpan)
	return out
}

func bySpan(a, b span) int { return intent.Natural(a.text, b.text) }

// Bounds of the language on one range: bytes, and numbers in brackets.
const (
	maxPattern = 4000
	maxSlots   = 16
)

// pattern is a name cut at its numbers: text[0] sets[0] text[1] sets[1] ...
type pattern struct {
	text  []string
	sets  []set
	names []string // the names it was made of
}

// set is the numbers of one slot, ascending. Width is the number of digits when
// leading zeros fix it, else 0. Numbers too large to count with stay text.
type set struct {
	numbers []uint64
	width   int
}

func split(name string) pattern {
	p := pattern{names: []string{name}}
	for i := 0; i < len(name) && len(p.sets) < maxSlots; {
		start := i
		for i < len(name) && !digit(name[i]) {
			i++
		}
		text := name[start:i]
		start = i
		for i < len(name) && digit(name[i]) {
			i++
		}
		n, err := strconv.ParseUint(name[start:i], 10, 63)
		if start == i || err != nil {
			p.text = append(p.text, text+name[start:])
			return p
		}
		s := set{numbers: []uint64{n}}
		if digits := name[start:i]; len(digits) > 1 && digits[0] == '0' {
			s.width = len(digits)
		}
		p.text, p.sets = append(p.text, text), append(p.sets, s)
		if i == len(name) {
			p.text = append(p.text, "")
		}
		if len(p.sets) == maxSlots && i < len(name) {
			p.text = append(p.text, name[i:])
		}
	}
	if len(p.text) == 0 {
		p.text = []string{name}
	}
	return p
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// fold joins patterns that differ in one slot only.
func fold(rows []pattern, slot int) []pattern {
	// A number without leading zeros has a fixed width if one of its length
	// beside it has them: 08, 09, 10.
	padded := map[string]bool{}
	for _, p := range rows {
		if slot < len(p.sets) && p.sets[slot].width > 0 {
			padded[p.around(slot)+"\x00"+strconv.Itoa(p.sets[slot].width)] = true
		}
	}
	var out []pattern
	at := map[string]int{}
	for _, p := range rows {
		if slot >= len(p.sets) {
			out = append(out, p)
			continue
		}
		s := &p.sets[slot]
		around := p.around(slot)
		if s.width == 0 && len(s.numbers) == 1 {
			if w := len(strconv.FormatUint(s.numbers[0], 10)); padded[around+"\x00"+strconv.Itoa(w)] {
				s.width = w
			}
		}
		key := around + "\x00" + strconv.Itoa(s.width)
		i, ok := at[key]
		if !ok {
			at[key] = len(out)
			out = append(out, p)
			continue
		}
		out[i].sets[slot].numbers = append(out[i].sets[slot].numbers, s.numbers...)
		out[i].names = append(out[i].names, p.names...)
	}
	for i := range out {
		if slot < len(out[i].sets) {
			slices.Sort(out[i].sets[slot].numbers)
		}
	}
	return out
}

// around is a pattern without one slot, as a key.
func (p pattern) around(slot int) string {
	var b strings.Builder
	for i, t := range p.text {
		b.WriteString(t)
		b.WriteByte(0)
		if i < len(p.sets) && i != slot {
			b.WriteString(p.sets[i].String())
			b.WriteByte(0)
		}
	}
	return b.String()
}

func (p pattern) String() string {
	var b strings.Builder
	for i, t := range p.text {
		b.WriteString(t)
		if i < len(p.sets) {
			b.WriteString(p.sets[i].String())
		}
	}
	return b.String()
}

// String is one number as it is, several in brackets with runs joined.
func (s set) String() string {
	if len(s.numbers) == 1 {
		return s.number(s.numbers[0])
	}
	return "[" + s.runs("-") + "]"
}

func (s set) runs(to string) string {
	var parts []string
	for i := 0; i < len(s.numbers); {
		n := run(s.numbers[i:])
		last := s.numbers[i+n-1]
		part := s.number(s.numbers[i])
		if n > 1 {
			part += to + s.number(last)
			if step := s.numbers[i+1] - s.numbers[i]; step > 1 {
				part += ":" + strconv.FormatUint(step, 10)
			}
		}
		parts = append(parts, part)
		i += n
	}
	return strings.Join(parts, ",")
}

// run is how many numbers from the first on make one item: neighbours, or at
// least three with one step.
func run(numbers []uint64) int {
	if len(numbers) < 2 {
		return len(numbers)
	}
	step := numbers[1] - numbers[0]
	n := 2
	for n < len(numbers) && numbers[n]-numbers[n-1] == step {
		n++
	}
	if step > 1 && n < 3 {
		return 1
	}
	return n
}

func (s set) number(n uint64) string {
	text := strconv.FormatUint(n, 10)
	return strings.Repeat("0", max(s.width-len(text), 0)) + text
}

func number(s string) string {
	n := 0
	for n < len(s) && digit(s[n]) {
		n++
	}
	return s[:n]
}

// addresses writes addresses of devices as few ranges: the index of tiers as
// `leaf[0..7]`, keys as `gpu["gpu[01-32]"]`, plain names as `switch.tor[1-2]`.
func addresses(list []string) []span {
	type shape struct{ before, after string }
	members := map[shape][]string{}
	var order []shape
	for _, a := range list {
		s, name := shape{}, a
		switch open := strings.LastIndexByte(a, '['); {
		case strings.HasSuffix(a, `"]`) && strings.Contains(a, `["`):
			i := strings.LastIndex(a, `["`) + 2
			s, name = shape{a[:i], `"]`}, a[i:len(a)-2]
		case open > 0 && len(a) > open+2 && number(a[open+1:])+"]" == a[open+1:]:
			s, name = shape{a[:open+1], "]"}, a[open+1:len(a)-1]
		default:
			i := strings.LastIndexByte(a, '.') + 1
			s, name = shape{a[:i], ""}, a[i:]
		}
		if _, ok := members[s]; !ok {
			order = append(order, s)
		}
		members[s] = append(members[s], name)
	}
	var out []span
	for _, s := range order {
		found := spans(members[s])
		if s.after == "]" {
			found = []span{{indexes(members[s]), members[s]}}
		}
		for _, f := range found {
			names := make([]string, len(f.names))
			for i, n := range f.names {
				names[i] = s.before + n + s.after
			}
			out = append(out, span{s.before + f.text + s.after, names})
		}
	}
	slices.SortFunc(out, bySpan)
	return out
}

// indexes is "0..7" or "0..3,7".
func indexes(list []string) string {
	var s set
	for _, text := range list {
		n, err := strconv.ParseUint(text, 10, 63)
		if err != nil {
			return strings.Join(list, ",")
		}
		s.numbers = append(s.numbers, n)
	}
	slices.Sort(s.numbers)
	s.numbers = slices.Compact(s.numbers)
	return s.runs("..")
}
