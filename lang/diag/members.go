package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mostListed is how many members a finding lists by name; more are shown as ranges.
const mostListed = 8

// Others says of a folded finding whom it is about: all members by address, more than
// eight of them as ranges. It is "" for what stands for itself.
func (d *Diagnostic) Others() string {
	var list []string
	for _, m := range d.Members {
		if m.Address != "" && !slices.Contains(list[max(0, len(list)-1):], m.Address) {
			list = append(list, m.Address)
		}
	}
	more := max(d.Count, 1) - max(len(d.Members), 1)
	if len(list) == 0 && more > 0 && d.Address != "" {
		list = []string{d.Address}
	}
	if len(list) == 0 || len(list) == 1 && more == 0 && len(d.Members) < 2 {
		return ""
	}
	if len(list) > mostListed {
		list = Ranges(list)
	}
	if n := len(list); n > mostListed {
		list = append(list[:mostListed:mostListed], fmt.Sprintf("and %d more such groups", n-mostListed))
	}
	if more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

// Differing are the words of the members besides the first that say more than another
// name: another number, another class. There are eight of them at most.
func (d *Diagnostic) Differing() []string {
	var forms []*Member
	more := 0
	for i := range d.Members {
		m := &d.Members[i]
		switch {
		case slices.ContainsFunc(forms, func(f *Member) bool { return f.renamed(m) }):
		case len(forms) > mostListed:
			more++
		default:
			forms = append(forms, m)
		}
	}
	var list []string
	for i, m := range forms {
		if i > 0 {
			list = append(list, m.Summary)
		}
	}
	if more > 0 {
		list = append(list, fmt.Sprintf("and %d more that differ", more))
	}
	return list
}

// renamed reports whether two members say the same but for names.
func (m *Member) renamed(o *Member) bool {
	if m.Summary == o.Summary {
		return true
	}
	x, y := strings.Fields(m.Summary), strings.Fields(o.Summary)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] && (!m.named(x[i]) || !o.named(y[i])) {
			return false
		}
	}
	return true
}

// named reports whether a word of the summary is a name.
func (m *Member) named(word string) bool {
	word = strings.Trim(word, ",;:()'\"")
	return isName(word) || strings.HasSuffix(m.Address, "."+word) || strings.Trim(word, digits) != "" && slices.Contains(addressNames(m.Address), word)
}

// Ranges are names, in natural order, with those that differ in one number made one
// as ranges of labels are written: node.h["h[01-32]"], Ethernet[0-28:4].
func Ranges(names []string) []string {
	list := make([][]string, len(names))
	for i, n := range names {
		list[i] = pieces(n)
	}
	most := 0
	for _, p := range list {
		most = max(most, len(p))
	}
	for at := most - 1; at >= 0; at-- { // the last number first, as it runs fastest
		list = rangesAt(list, at)
	}
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = strings.Join(p, "")
	}
	return out
}

// pieces are the numbers of a name and what stands between them, in turns: numbers
// are the odd ones.
func pieces(name string) []string {
	var out []string
	number := false
	from := 0
	for i := 0; i <= len(name); i++ {
		if i == len(name) || isDigit(name[i]) != number {
			out = append(out, name[from:i])
			from, number = i, !number
		}
	}
	return out
}

// rangesAt makes one of the names that differ in the number at one place.
func rangesAt(list [][]string, at int) [][]string {
	if at%2 == 0 {
		return list
	}
	groups := map[string][]int{}
	var order []string
	for i, p := range list {
		key := strconv.Itoa(i) + "\x00" // has no such number: stays
		if at < len(p) && isNumber(p[at]) {
			wide := 0
			if p[at][0] == '0' && len(p[at]) > 1 {
				wide = len(p[at])
			}
			key = strings.Join(p[:at], "") + "\x00" + strings.Join(p[at+1:], "") + "\x00" + strconv.Itoa(len(p)) + "\x00" + strconv.Itoa(wide)
			if wide == 0 { // 9 and 10 are of one range, 09 and 10 as well
				if padded := strings.Join(p[:at], "") + "\x00" + strings.Join(p[at+1:], "") + "\x00" + strconv.Itoa(len(p)) + "\x00" + strconv.Itoa(len(p[at])); groups[padded] != nil {
					key = padded
				}
			}
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], i)
	}
	var out [][]string
	for _, key := range order {
		rows := groups[key]
		p := list[rows[0]]
		if len(rows) > 1 {
			numbers := make([]string, len(rows))
			for i, r := range rows {
				numbers[i] = list[r][at]
			}
			p = slices.Clone(p)
			p[at] = runs(numbers)
			if !strings.HasSuffix(p[at-1], "[") || at+1 == len(p) || !strings.HasPrefix(p[at+1], "]") { // leaf[3] is leaf[0-3]
				p[at] = "[" + p[at] + "]"
			}
		}
		out = append(out, p)
	}
	return out
}

// runs writes numbers as a range does: "1-4,9", "0-28:4".
func runs(numbers []string) string {
	slices.SortFunc(numbers, natural)
	value := func(i int) int { n, _ := strconv.Atoi(numbers[i]); return n }
	var parts []string
	for i := 0; i < len(numbers); {
		j, step := i+1, 0
		for j < len(numbers) && (step == 0 || value(j)-value(j-1) == step) {
			step = value(j) - value(j-1)
			j++
		}
		switch {
		case j-i == 1 || j-i == 2 && step > 1:
			parts = append(parts, numbers[i])
			j = i + 1
		case step > 1:
			parts = append(parts, numbers[i]+"-"+numbers[j-1]+":"+strconv.Itoa(step))
		default:
			parts = append(parts, numbers[i]+"-"+numbers[j-1])
		}
		i = j
	}
	return strings.Join(parts, ",")
}

// natural orders names as people do, numbers by value, as the compiler's intent does,
// which findings know nothing of.
func natural(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	for i > 0 && isDigit(a[i-1]) { // the names may part within a number
		i--
	}
	a, b = a[i:], b[i:]
	x, y := len(a)-len(strings.TrimLeft(a, digits)), len(b)-len(strings.TrimLeft(b, digits))
	if x > 0 && y > 0 {
		m, n := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
		if c := cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n), cmp.Compare(x, y)); c != 0 {
			return c
		}
	}
	return strings.Compare(a, b)
}

const digits = "0123456789"

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isNumber: a range that stands there already is none.
func isNumber(s string) bool { return s != "" && len(s) < 10 && strings.Trim(s, digits) == "" }
