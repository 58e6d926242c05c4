package expand

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/intent"
)

// label is a name or range of names, and what it stands for.
type label struct {
	text  string
	names []string
}

// ranges are the shortest labels that stand for names, in their order: members
// whose numbers follow each other in equal steps are one range.
func ranges(names []string) []label {
	slices.SortFunc(names, intent.Natural)
	var out []label
	for i := 0; i < len(names); {
		stem, n, ok := trailing(names[i])
		j, step := i+1, 0
		for ok && j < len(names) {
			s, m, numbered := trailing(names[j])
			_, before, _ := trailing(names[j-1])
			if !numbered || s != stem || step != 0 && m-before != step {
				break
			}
			step = m - before
			j++
		}
		if j-i < 3 && step > 1 || j-i < 2 {
			out = append(out, label{names[i], names[i : i+1]})
			i++
			continue
		}
		text := fmt.Sprintf("%s[%d-%d", stem, n, n+step*(j-i-1))
		if step > 1 {
			text += fmt.Sprintf(":%d", step)
		}
		out = append(out, label{text + "]", names[i:j]})
		i = j
	}
	return out
}

// trailing splits a name before the number it ends in, which has no leading zero.
func trailing(name string) (stem string, n int, ok bool) {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' && len(name)-i < 9 {
		i--
	}
	digits := name[i:]
	if digits == "" || len(digits) > 1 && digits[0] == '0' {
		return name, 0, false
	}
	for _, c := range digits {
		n = n*10 + int(c-'0')
	}
	return name[:i], n, true
}
