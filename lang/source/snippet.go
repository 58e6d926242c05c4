package source

import (
	"strings"
	"unicode/utf8"
)

// Snippet is the source text around a span, fit to be shown: whole lines
// joined by "\n", valid UTF-8, never longer than a few short lines.
type Snippet struct {
	Code           string
	StartLine      int // number of the first line of Code, from 1
	HighlightStart int // byte offsets in Code of what the span covers
	HighlightEnd   int
}

const (
	snippetLines = 4   // of a span over many lines the first ones are shown
	snippetWidth = 160 // characters of one line around the span
	ellipsis     = "..."
)

// excerpt is the snippet of a span given by its offsets. Of a span over many
// lines the first few are shown; of a line that is longer than a screen, a
// window around the start of the span. Bytes that are not UTF-8 become U+FFFD;
// other control characters stay, and renderers must not print them raw.
func (s starts) excerpt(src []byte, start, end uint32) Snippet {
	start = min(start, uint32(len(src)))
	end = max(start, min(end, uint32(len(src))))
	first, last := s.line(start), s.line(end)
	if last > first && end == s[last] {
		last-- // the span ends with a line's end, not with the next line
	}
	last = min(last, first+snippetLines-1)
	w := &excerpt{start: start, end: end, highlightStart: -1, highlightEnd: -1}
	for line := first; line <= last; line++ {
		if line > first {
			w.code.WriteByte('\n')
		}
		text, at := s.text(src, line)
		w.line(text, at)
	}
	if w.highlightStart < 0 {
		w.highlightStart = w.code.Len()
	}
	if w.highlightEnd < 0 {
		w.highlightEnd = w.code.Len()
	}
	return Snippet{Code: w.code.String(), StartLine: first + 1, HighlightStart: w.highlightStart, HighlightEnd: w.highlightEnd}
}

// excerpt builds a snippet and notes where the ends of the span come to lie.
type excerpt struct {
	code                         strings.Builder
	start, end                   uint32
	highlightStart, highlightEnd int // -1: not passed yet
}

func (w *excerpt) line(text []byte, at uint32) {
	from, to := window(text, int(max(w.start, at)-at))
	if from > 0 {
		w.code.WriteString(ellipsis)
	}
	for i := from; i < to; {
		w.pass(at + uint32(i))
		r, size := utf8.DecodeRune(text[i:])
		w.code.WriteRune(r)
		i += size
	}
	if to == len(text) {
		w.pass(at + uint32(to))
		return
	}
	if w.end <= at+uint32(len(text)) {
		w.pass(at + uint32(len(text))) // the rest of the span is cut off
	}
	w.code.WriteString(ellipsis)
}

func (w *excerpt) pass(offset uint32) {
	if w.highlightStart < 0 && offset >= w.start {
		w.highlightStart = w.code.Len()
	}
	if w.highlightEnd < 0 && offset >= w.end {
		w.highlightEnd = w.code.Len()
	}
}

// window is the part of a long line that is shown: a quarter of it in front of
// the span. Its ends lie between characters.
func window(text []byte, focus int) (from, to int) {
	if len(text) <= snippetWidth || utf8.RuneCount(text) <= snippetWidth {
		return 0, len(text)
	}
	from = min(focus, len(text))
	for n := 0; n < snippetWidth/4 && from > 0; n++ {
		_, size := utf8.DecodeLastRune(text[:from])
		from -= size
	}
	to = from
	for n := 0; n < snippetWidth && to < len(text); n++ {
		_, size := utf8.DecodeRune(text[to:])
		to += size
	}
	return from, to
}
