package format

import (
	"bytes"
	"fmt"
)

// A file is laid out in parts, because the library keeps each word and mark in a
// hundred times the room of its text: whole blocks, of about partBytes together.
const partBytes = 256 << 10

// MaxPartBytes bounds one part, which is as long as the block that it holds, and
// MaxLineBytes one line.
const (
	MaxPartBytes = 8 << 20
	MaxLineBytes = 1 << 20
)

// inParts is Source for a file of any size. A part ends behind a closing brace at
// the start of a line that a blank line or a word at the start of a line follows:
// nothing is aligned across it. Where such a line stands in a heredoc or comment
// the part in front of it does not read, and is tried again with what follows.
func inParts(name string, src []byte, least int) ([]byte, *Problem) {
	if at, long := longLine(src); long {
		return src, &Problem{at, 1 + bytes.Count(src[:at], []byte("\n")), 1, fmt.Sprintf("line is longer than %d KiB, which is the most that is laid out", MaxLineBytes>>10)}
	}
	if len(src) <= least {
		return whole(name, src)
	}
	out := make([]byte, 0, len(src))
	line := 0 // of the part, from 0
	for from := 0; from < len(src); {
		var part []byte
		var problem *Problem
		end := from
		for grown := least; ; grown *= 2 {
			end = partEnd(src, from, grown)
			if end-from > MaxPartBytes {
				if problem == nil {
					problem = &Problem{0, 1, 1, fmt.Sprintf("block is longer than %d MiB, which is the most that is laid out", MaxPartBytes>>20)}
				}
				break
			}
			if part, problem = whole(name, src[from:end]); problem == nil || end == len(src) {
				break
			}
		}
		if problem != nil {
			problem.Offset += from
			problem.Line += line
			return src, problem
		}
		out = append(out, part...)
		line += bytes.Count(src[from:end], []byte("\n"))
		if len(bytes.TrimSpace(src[end:])) == 0 {
			break
		}
		for from = end; src[from] == '\n' || src[from] == '\r'; from++ {
			if src[from] == '\n' {
				line++
			}
		}
		if from > end {
			out = append(out, src[end:end+1+bytes.IndexByte(src[end:], '\n')]...)
		}
	}
	return out, nil
}

// partEnd is where a part may end that is at least so long, the end of the file if
// nowhere before.
func partEnd(src []byte, from, least int) int {
	for at := min(from+least, len(src)); ; {
		i := bytes.Index(src[at:], []byte("\n}"))
		if i < 0 {
			return len(src)
		}
		at += i + 2
		rest := src[at:]
		rest = bytes.TrimPrefix(rest, []byte("\r"))
		if len(rest) == 0 || rest[0] != '\n' {
			continue
		}
		next := bytes.TrimPrefix(rest[1:], []byte("\r"))
		if len(next) > 0 && (next[0] == '\n' || next[0]|0x20 >= 'a' && next[0]|0x20 <= 'z') {
			return len(src) - len(rest) + 1
		}
	}
}

// longLine is where a line begins that is too long.
func longLine(src []byte) (int, bool) {
	if len(src) <= MaxLineBytes {
		return 0, false
	}
	for at := 0; at < len(src); {
		n := bytes.IndexByte(src[at:], '\n')
		if n < 0 {
			n = len(src) - at
		}
		if n > MaxLineBytes {
			return at, true
		}
		at += n + 1
	}
	return 0, false
}
