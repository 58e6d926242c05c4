package intent

import (
	"cmp"
	"strings"
)

// Natural orders names as people do, numbers by value: "swp9" before "swp10".
// It is the order of ports in an intent and wherever names are listed, and a
// total one: of equal numbers the one with fewer leading zeros is first, and
// only equal names compare as 0.
func Natural(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	for i > 0 && digit(a[i-1]) { // the names may part within a number
		i--
	}
	a, b = a[i:], b[i:]
	x, y := digits(a), digits(b)
	if x > 0 && y > 0 {
		m, n := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
		if c := cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n), cmp.Compare(x, y)); c != 0 {
			return c
		}
	}
	return strings.Compare(a, b)
}

// digits is the length of the number that s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && digit(s[n]) {
		n++
	}
	return n
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
