// Package changes reads which lines a diff adds or touches. It takes the output
// of `git diff --unified=0` with the prefixes a/ and b/, and returns, for each
// file as it is now, ranges of lines. It runs nothing.
package changes

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Range are lines from one number to another, both included, counted from 1.
type Range struct{ From, To int }

// All are the lines of a file that is new.
var All = Range{1, math.MaxInt}

// Lines are changed lines by file.
type Lines map[string][]Range

// Touch reports whether any of some lines of a file is changed.
func (l Lines) Touch(file string, from, to int) bool {
	for _, r := range l[file] {
		if from <= r.To && r.From <= to {
			return true
		}
	}
	return false
}

// Parse reads a diff. Where lines were only taken out, those around count as
// changed: what misses the lines stands there.
func Parse(diff []byte) (Lines, error) {
	lines := Lines{}
	file := ""
	old, added := 0, 0 // lines of the hunk at hand that are still to come
	number := 0
	for text := range bytes.Lines(diff) {
		number++
		text := strings.TrimSuffix(string(text), "\n")
		switch {
		case old > 0 && strings.HasPrefix(text, "-"):
			old--
		case added > 0 && strings.HasPrefix(text, "+"):
			added--
		case strings.HasPrefix(text, `\`): // no newline at the end of a file
		case old > 0 || added > 0:
			return nil, fmt.Errorf("line %d of the diff is neither added nor taken out", number)
		case strings.HasPrefix(text, "diff "):
			file = ""
		case strings.HasPrefix(text, "+++ "):
			name, err := fileName(text[len("+++ "):])
			if err != nil {
				return nil, fmt.Errorf("line %d of the diff: %w", number, err)
			}
			file = name
		case strings.HasPrefix(text, "@@ "):
			var r Range
			var err error
			if r, old, added, err = hunk(text); err != nil {
				return nil, fmt.Errorf("line %d of the diff: %w", number, err)
			}
			if file != "" {
				lines[file] = append(lines[file], r)
			}
		}
	}
	if old > 0 || added > 0 {
		return nil, fmt.Errorf("the diff ends within a change")
	}
	return lines, nil
}

// fileName reads a name as git writes it: quoted as in C if it has characters
// that need that, followed by a tab if it has blanks. It is "" for no file.
func fileName(text string) (string, error) {
	if strings.HasPrefix(text, `"`) {
		name, err := strconv.Unquote(strings.TrimSuffix(text, "\t"))
		if err != nil {
			return "", fmt.Errorf("name %s is not quoted as git does", text)
		}
		text = name
	} else {
		text = strings.TrimSuffix(text, "\t")
	}
	if text == "/dev/null" {
		return "", nil
	}
	name, ok := strings.CutPrefix(text, "b/")
	if !ok {
		return "", fmt.Errorf("name %q does not begin with b/", text)
	}
	return name, nil
}

// hunk reads `@@ -1,2 +3,4 @@`.
func hunk(text string) (r Range, old, added int, err error) {
	words := strings.Fields(text)
	if len(words) < 4 || words[3] != "@@" {
		return r, 0, 0, fmt.Errorf("%q is no head of a change", text)
	}
	_, old, err = span(words[1], "-")
	if err != nil {
		return r, 0, 0, err
	}
	from, added, err := span(words[2], "+")
	if err != nil {
		return r, 0, 0, err
	}
	if added == 0 {
		return Range{from, from + 1}, old, 0, nil
	}
	return Range{from, from + added - 1}, old, added, nil
}

func span(word, mark string) (from, n int, err error) {
	rest, ok := strings.CutPrefix(word, mark)
	first, count, several := strings.Cut(rest, ",")
	if !several {
		count = "1"
	}
	a, bad := strconv.ParseUint(first, 10, 31)
	b, worse := strconv.ParseUint(count, 10, 31)
	if !ok || bad != nil || worse != nil {
		return 0, 0, fmt.Errorf("%q is no range of lines", word)
	}
	return int(a), int(b), nil
}
