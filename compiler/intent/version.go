package intent

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Versions is what a source expects of a version that rocec installs nowhere,
// as of firmware: a version ("28.43.2026"), one with anything after a point
// ("28.43.*"), or conditions that all hold (">= 28.43, < 29"). ~> lets the last
// number written rise.
type Versions struct{ conditions []condition }

type condition struct {
	operator string // "*" for a wildcard
	version  string
}

var conditionForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(=|!=|>=|<=|>|<|~>)\s*)?(v?[0-9A-Za-z]+(?:[._+-][0-9A-Za-z]+)*)(\.\*)?$`)
})

// ParseVersions reads an expectation. The error names the part that is none.
func ParseVersions(text string) (Versions, error) {
	var v Versions
	for part := range strings.SplitSeq(text, ",") {
		part = strings.Trim(part, " ")
		m := conditionForm().FindStringSubmatch(part)
		if m == nil || m[1] != "" && m[3] != "" || !hasDigit(m[2]) {
			return Versions{}, fmt.Errorf("%q is neither a version nor a condition on one", part)
		}
		c := condition{m[1], m[2]}
		if m[3] != "" {
			c.operator = "*"
		}
		v.conditions = append(v.conditions, c)
	}
	return v, nil
}

// Allow reports whether a version is as expected. Drivers print more than one
// number ("229.0.154.0/pkg 229.1.123.0", "4.40 0x8001b2a5 1.3429.0") and words before it
// ("mfw 8.25.7.0 storm 8.20.0.0"): the first that has a digit counts.
func (v Versions) Allow(version string) bool {
	words := strings.FieldsFunc(version, func(r rune) bool { return strings.ContainsRune(" /(,[]", r) })
	if i := slices.IndexFunc(words, hasDigit); i >= 0 {
		version = words[i]
	}
	for _, c := range v.conditions {
		if !c.holds(version) {
			return false
		}
	}
	return hasDigit(version) && len(v.conditions) > 0
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

func (c condition) holds(version string) bool {
	have, want := numbersOf(version), numbersOf(c.version)
	order := compareNumbers(have, want)
	switch c.operator {
	case "*":
		return len(have) > len(want) && slices.Equal(have[:len(want)], want)
	case "!=":
		return order != 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case "~>":
		last := len(want) - 1
		return order >= 0 && len(have) >= last && slices.Equal(have[:last], want[:last])
	}
	return order == 0
}

// numbersOf cuts a version at its points and the like. Parts are compared as
// numbers where both are, so leading zeros count for nothing: drivers print
// 28.43.0098 for what the release notes call 28.43.98.
func numbersOf(version string) []string {
	parts := strings.FieldsFunc(strings.TrimPrefix(version, "v"), func(r rune) bool { return strings.ContainsRune("._+-", r) })
	for i, p := range parts {
		if strings.Trim(p, "0123456789") == "" {
			parts[i] = strings.TrimLeft(p[:len(p)-1], "0") + p[len(p)-1:]
		}
	}
	return parts
}

func compareNumbers(a, b []string) int {
	return slices.CompareFunc(a, b, func(x, y string) int {
		if strings.Trim(x+y, "0123456789") == "" && len(x) != len(y) {
			return len(x) - len(y)
		}
		return strings.Compare(x, y)
	})
}

// fits reports whether a device shows what is wanted of a field.
func fits(p Path, want, have string) bool {
	if want == have || !p.Expected() {
		return want == have
	}
	v, err := ParseVersions(want)
	return err == nil && v.Allow(have)
}
