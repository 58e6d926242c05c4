package powershell

import (
	"regexp"
	"strings"
)

// Like reports whether a text fits a pattern of -like, in which * stands for any
// text, ? for a letter, [ ] for one of some, and a backtick before one of them
// for itself (PowerShell-Docs, about_Wildcards).
func Like(text, pattern string) bool {
	p, err := regexp.Compile(wildcards(pattern))
	if err != nil {
		Throw("The specified wildcard character pattern is not valid: %s", pattern)
	}
	return p.MatchString(text)
}

// Escape makes a pattern that fits a text and nothing else.
func Escape(text string) string { return wildcard.ReplaceAllString(text, "`$0") }

var wildcard = regexp.MustCompile(`[*?\[\]]`)

func wildcards(pattern string) string {
	var b strings.Builder
	b.WriteString("(?is)^")
	letters := []rune(pattern)
	for i := 0; i < len(letters); i++ {
		switch c := letters[i]; c {
		case '`':
			if i++; i < len(letters) {
				b.WriteString(regexp.QuoteMeta(string(letters[i])))
			}
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteByte('.')
		case '[':
			i = set(&b, letters, i)
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	b.WriteByte('$')
	return b.String()
}

// set writes [ ] and returns where it ends. One without an end is no pattern.
func set(b *strings.Builder, letters []rune, i int) int {
	b.WriteByte('[')
	for i++; i < len(letters) && letters[i] != ']'; i++ {
		if letters[i] == '`' && i+1 < len(letters) {
			i++
		}
		if c := letters[i]; c != '-' {
			b.WriteString(regexp.QuoteMeta(string(c)))
		} else {
			b.WriteByte('-')
		}
	}
	if i < len(letters) {
		b.WriteByte(']')
	}
	return i
}
