package diag

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// Visible writes every character that a terminal, log or viewer would obey instead
// of showing as its escape, `\u202e`: text that was put together of what others
// wrote. Line ends and tabs stay. The form is one that JSON and HCL read back as the
// character, so it may be used on them as a whole.
func Visible(text []byte) []byte {
	if clean(text) {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		out = appendVisible(out, text[i:], r, size)
		i += size
	}
	return out
}

// clean reports whether text is ASCII that is shown as it is.
func clean(text []byte) bool {
	for i, c := range text {
		if (c < ' ' || c >= 0x7f) && c != '\n' && c != '\t' && !lineEnd(text[i:]) {
			return false
		}
	}
	return true
}

func lineEnd(text []byte) bool { return bytes.HasPrefix(text, []byte("\r\n")) }

// appendVisible appends the character that text begins with.
func appendVisible(out, text []byte, r rune, size int) []byte {
	switch {
	case r == '\n' || r == '\t' || lineEnd(text):
		return append(out, byte(r))
	case r == utf8.RuneError && size <= 1:
		return fmt.Appendf(out, `\x%02x`, text[0])
	case !hidden(r):
		return append(out, text[:size]...)
	case r >= 0x10000:
		a, b := utf16.EncodeRune(r)
		return fmt.Appendf(out, `\u%04x\u%04x`, a, b)
	}
	return fmt.Appendf(out, `\u%04x`, r)
}

// Screen makes what is printed for people Visible, piece by piece, and keeps a line
// from being taken for a command by the runner of a pipeline (GitHub: `::set-output`
// at the start of a line; Azure and older runners: `##[` and `##vso[` anywhere;
// actions/runner src/Runner.Common/ActionCommand.cs). Sequences that set a colour
// pass where there are colours.
type Screen struct {
	Color func() bool // nil: never

	held   []byte // the start of a character or sequence whose rest is to come
	inLine bool   // something stands on the line besides blanks
}

// commands are what runners look for anywhere in a line.
var commands = [][]byte{[]byte("##["), []byte("##vso[")}

// Show returns what may be printed of the next piece.
func (s *Screen) Show(piece []byte) []byte {
	text := piece
	if len(s.held) > 0 {
		text = append(s.held, piece...)
		s.held = nil
	}
	out := make([]byte, 0, len(text)+16)
	for i := 0; i < len(text); {
		rest := text[i:]
		n, escape := s.next(rest)
		switch {
		case n == 0:
			s.held = append([]byte(nil), rest...)
			return out
		case escape:
			out = append(out, fmt.Sprintf(`\u%04x`, rest[0])...)
		case n == 1 && rest[0] < utf8.RuneSelf || rest[0] == '\x1b':
			out = append(out, rest[:n]...)
		default:
			r, size := utf8.DecodeRune(rest)
			out = appendVisible(out, rest, r, size)
		}
		switch rest[0] {
		case '\n':
			s.inLine = false
		case ' ', '\t', '\r':
		default:
			s.inLine = true
		}
		i += n
	}
	return out
}

// Rest is what was held back, once nothing follows.
func (s *Screen) Rest() []byte {
	rest := s.held
	s.held = nil
	return Visible(rest)
}

// next is how many bytes text begins with belong together, 0 if more has to be
// seen, and whether the first of them must not stand there as it is.
func (s *Screen) next(text []byte) (n int, escape bool) {
	c := text[0]
	switch {
	case c == '\n' || c == '\t':
		return 1, false
	case c == '\r':
		if len(text) == 1 {
			return 0, false
		}
		return 1, text[1] != '\n'
	case c == '\x1b':
		return s.sequence(text)
	case c < ' ' || c == 0x7f:
		return 1, true
	case c == ':' && !s.inLine:
		if len(text) == 1 {
			return 0, false
		}
		return 1, text[1] == ':'
	case c == '#':
		for _, command := range commands {
			switch {
			case bytes.HasPrefix(text, command):
				return 1, true
			case bytes.HasPrefix(command, text):
				return 0, false
			}
		}
		return 1, false
	case c < utf8.RuneSelf:
		return 1, false
	case !utf8.FullRune(text):
		return 0, false
	}
	_, size := utf8.DecodeRune(text)
	return size, false
}

// longestSequence is more than a sequence of ours has.
const longestSequence = 16

// sequence is next for the start of an escape sequence: one that sets a colour or a
// style that can be seen.
func (s *Screen) sequence(text []byte) (int, bool) {
	if s.Color == nil || !s.Color() {
		return 1, true
	}
	if len(text) == 1 {
		return 0, false
	}
	if text[1] != '[' {
		return 1, true
	}
	for i := 2; i < min(len(text), longestSequence); i++ {
		switch c := text[i]; {
		case c == 'm':
			for _, code := range bytes.Split(text[2:i], []byte(";")) {
				if bytes.Equal(bytes.TrimLeft(code, "0"), []byte("8")) { // conceals
					return 1, true
				}
			}
			return i + 1, false
		case c != ';' && (c < '0' || c > '9'):
			return 1, true
		}
	}
	if len(text) < longestSequence {
		return 0, false
	}
	return 1, true
}
