package source

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// Position is a place in a file as people and editors count it. Lines and
// columns start at 1; a column is one character (rune), a tab and a byte that
// is not UTF-8 count as one each. Byte is the offset from 0.
type Position struct {
	Line   int
	Column int
	Byte   uint32
}

// starts are the offsets at which lines start; the first is always 0.
type starts []uint32

func lineStarts(src []byte) starts {
	s := make(starts, 1, 1+bytes.Count(src, []byte{'\n'}))
	for i, b := range src {
		if b == '\n' {
			s = append(s, uint32(i)+1)
		}
	}
	return s
}

// line is the index of the line that holds an offset, from 0.
func (s starts) line(offset uint32) int {
	return sort.Search(len(s), func(i int) bool { return s[i] > offset }) - 1
}

// locate is the position of an offset. An offset behind the end is the end. A line
// ends with "\n"; the "\r" of "\r\n" is its last character.
func (s starts) locate(src []byte, offset uint32) Position {
	offset = min(offset, uint32(len(src)))
	line := s.line(offset)
	return Position{Line: line + 1, Column: utf8.RuneCount(src[s[line]:offset]) + 1, Byte: offset}
}

// text is a line without its end, by index from 0, and where it starts.
func (s starts) text(src []byte, line int) (text []byte, start uint32) {
	start = s[line]
	end := uint32(len(src))
	if line+1 < len(s) {
		end = s[line+1]
	}
	text = bytes.TrimSuffix(src[start:end], []byte{'\n'})
	return bytes.TrimSuffix(text, []byte{'\r'}), start
}
