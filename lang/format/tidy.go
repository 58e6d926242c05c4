package format

import (
	"bytes"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// tidy does what hclwrite leaves alone: it drops white space at the end of
// lines, blank lines at the start, at the end and after another, and ends the
// last line. In the same pass it masks templates. Changed is false if the result
// is the source but for the masks.
func tidy(src []byte, tokens hclsyntax.Tokens) (out []byte, masked []span, changed bool) {
	masked = templates(tokens, true)
	w := tidier{src: src, out: make([]byte, 0, len(src)+2), lineStart: true, masked: masked}
	for _, t := range tokens {
		w.token(t)
	}
	return w.out, masked, w.changed
}

type tidier struct {
	src, out  []byte
	end       int // in src, of what was looked at
	lineStart bool
	blank     []byte // a blank line that is written if more follows
	masked    []span // that are still to come
	changed   bool
}

func (w *tidier) token(t hclsyntax.Token) {
	if t.Range.Start.Byte < w.end {
		return // inside a masked template
	}
	gap := w.src[w.end:t.Range.Start.Byte]
	w.end = t.Range.End.Byte
	switch {
	case t.Type == hclsyntax.TokenEOF:
		w.changed = w.changed || len(w.blank) > 0 || len(gap) > 0
		if !w.lineStart {
			w.out = append(w.out, newline(w.src)...)
			w.changed = true
		}
	case t.Type == hclsyntax.TokenNewline && w.lineStart:
		w.changed = w.changed || len(w.blank) > 0 || len(gap) > 0 || len(w.out) == 0
		if len(w.out) > 0 {
			w.blank = t.Bytes
		}
	case t.Type == hclsyntax.TokenNewline:
		w.changed = w.changed || len(gap) > 0
		w.out = append(w.out, t.Bytes...)
		w.lineStart = true
	default:
		w.out = append(w.out, w.blank...)
		w.out = append(w.out, gap...)
		w.text(t)
		w.blank = nil
		w.lineStart = endsLine(t)
	}
}

// text writes a token that is not a newline, and the mask of a template after
// the token that opens it.
func (w *tidier) text(t hclsyntax.Token) {
	if t.Type == hclsyntax.TokenComment && !bytes.HasPrefix(t.Bytes, []byte("/*")) {
		w.comment(t.Bytes)
		return
	}
	w.out = append(w.out, t.Bytes...)
	if len(w.masked) > 0 && w.masked[0].start == t.Range.End.Byte {
		w.out = w.masked[0].hide(w.out, t.Type)
		w.end = w.masked[0].end
		w.masked = w.masked[1:]
	}
}

func (w *tidier) comment(b []byte) {
	text := bytes.TrimRight(b, " \t\r\n")
	tail := b[len(text):]
	w.out = append(w.out, text...)
	switch {
	case bytes.HasSuffix(tail, []byte("\r\n")):
		w.out = append(w.out, "\r\n"...)
		w.changed = w.changed || len(tail) > 2
	case bytes.HasSuffix(tail, []byte("\n")):
		w.out = append(w.out, '\n')
		w.changed = w.changed || len(tail) > 1
	default:
		w.changed = w.changed || len(tail) > 0
	}
}

// newline is the line end of the file's first line.
func newline(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
