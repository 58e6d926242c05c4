package lang

import (
	"slices"
	"strings"
)

// distance is the number of single-letter edits between two words, swaps of
// neighbours counted as one, and gives up above limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}

// Apart reports whether two words are at most so many single-letter edits apart.
func Apart(a, b string, edits int) bool { return distance(a, b, edits) <= edits }

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
		if d := distance(w, strings.ToLower(c), limit); d < at {
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
		all[i] = scored{name, distance(clipWord(word), clipWord(name), 64)}
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
