package lang

import (
	"slices"
	"strings"

	"github.com/rocec/rocec/lang/diag"
)

// Nearest returns the candidate that a typing mistake would turn into word, or
// "". Of equally near ones it takes the first.
func Nearest(word string, candidates []string) string {
	if len(word) > 64 {
		return ""
	}
	limit := (len(word) + 1) / 3
	if len(word) < 3 {
		limit = 0 // of so few letters any would be near
	}
	best, at := "", limit+1
	w := strings.ToLower(word)
	for _, c := range candidates {
		if d := diag.Distance(w, strings.ToLower(c), limit); d < at {
			best, at = c, d
		}
	}
	return best
}

// didYouMean is a sentence for Help, "" if nothing is near.
func didYouMean(word string, candidates []string) string {
	if n := Nearest(word, candidates); n != "" {
		return "did you mean " + quoteWord(n) + "?"
	}
	return ""
}

// mostChoices bounds the words that choiceHelp lists.
const mostChoices = 8

// choiceHelp is a sentence for Help: which of a few words was meant, or else, after
// lead, what there is, nearest first.
func choiceHelp(word, lead string, words []string) string {
	if s := didYouMean(word, words); s != "" {
		return s
	}
	s := lead + quotedPlain(nearestFirst(word, words, mostChoices))
	if more := len(words) - mostChoices; more > 0 {
		s += " and " + itoa(more) + " more"
	}
	return s
}

// What to do about names that do not read, and about things written twice.
const (
	keyHelp   = "a key has at least one letter or digit, at most 128 characters, and no control characters"
	labelHelp = "a label has at most 128 characters, and no control characters"
	twiceHelp = "give one another name, or leave it out"
)

// nearestFirst sorts names so that what is most like word comes first, and
// keeps at most n of them.
func nearestFirst(word string, names []string, n int) []string {
	type scored struct {
		name string
		d    int
	}
	if len(names) > 5000 {
		names = names[:5000]
	}
	all := make([]scored, len(names))
	for i, name := range names {
		all[i] = scored{name, diag.Distance(clipWord(word), clipWord(name), 64)}
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		if a.d != b.d {
			return a.d - b.d
		}
		return strings.Compare(a.name, b.name)
	})
	out := make([]string, 0, n)
	for i := 0; i < len(all) && i < n; i++ {
		out = append(out, all[i].name)
	}
	return out
}

func clipWord(s string) string {
	if len(s) > 64 {
		return s[:64]
	}
	return s
}

// quoted lists words for a message: "a", "b" or "c".
func quoted(words []string, last string) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			b.WriteString(" " + last + " ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(quoteWord(w))
	}
	return b.String()
}

// quoteWord puts a user's word in quotes, shortened and without control
// characters.
func quoteWord(s string) string {
	if len(s) > 60 {
		cut := 57
		for cut > 0 && s[cut]&0xC0 == 0x80 {
			cut--
		}
		s = s[:cut] + "..."
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r < 0x20 || r == 0x7f:
			b.WriteByte('?')
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
