package diag

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// How much of what others wrote a finding shows. A name has 63 characters at
// most, so an address of several devices fits into a word; a text is longer than
// the longest that is written here.
const (
	wordMost    = 250
	addressMost = 1000 // for programs, which may look it up
	wordHead    = 120
	wordTail    = 60
	textMost    = 4000
)

// readable is Printable for text that holds words of users and devices: words and
// texts that nobody reads to their end are cut, and say how long they are.
func readable(s string) string { return Printable(shorten(s)) }

// readableAddress is readable for an address that programs read.
func readableAddress(s string) string {
	if len(s) <= addressMost {
		return Printable(s)
	}
	return readable(s)
}

// readableLines is readable for text that may have several lines.
func readableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = readable(l)
	}
	return strings.Join(lines, "\n")
}

// shorten leaves out the middle of words that are too long, so that brackets and
// quotes are closed as they were opened, and then the end of a line that is.
func shorten(s string) string {
	if len(s) <= wordMost {
		return s
	}
	var b strings.Builder
	for rest, more := s, true; more && b.Len() <= utf8.UTFMax*textMost; {
		var word string
		word, rest, more = strings.Cut(rest, " ")
		b.WriteString(shortWord(word))
		if more {
			b.WriteByte(' ')
		}
	}
	s = b.String()
	if utf8.RuneCountInString(s) > textMost {
		s = s[:after(s, textMost)] + "..."
	}
	return s
}

func shortWord(w string) string {
	if len(w) <= wordMost {
		return w
	}
	n := utf8.RuneCountInString(w)
	if n <= wordMost {
		return w
	}
	return w[:after(w, wordHead)] + "...(" + strconv.Itoa(n) + " characters)..." + w[after(w, n-wordTail):]
}

// after is where the first n characters of a text end, in bytes.
func after(s string, n int) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}
