package emit

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Comment is user text made fit for a comment of any of the languages that
// artifacts are written in, line comments and PowerShell's block comments
// alike: control and format characters, line and paragraph separators and
// broken UTF-8 become one space each, and a backtick parts the pairs "<#" and
// "#>", as about_Comments of PowerShell asks. It cannot fail, and what it
// returns may be shown but not compared.
func Comment(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	last := rune(0)
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				r = ' '
			}
		}
		if Unprintable(r) {
			r = ' '
		}
		if last == '<' && r == '#' || last == '#' && r == '>' {
			b.WriteByte('`')
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// Unprintable reports whether a character must not stand raw in an artifact
// or on a terminal: C0 and C1 controls, the line separators U+2028 and U+2029,
// and format characters such as the marks that turn the writing direction.
func Unprintable(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs)
}
