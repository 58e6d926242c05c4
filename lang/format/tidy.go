package format

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// tidy does what hclwrite leaves alone: it drops white space at the end of
// lines, blank lines at the start, at the end and after another, and ends the
// last line.
func tidy(src []byte) []byte {
	tokens, _ := hclsyntax.LexConfig(src, "", hcl.InitialPos)
	out := make([]byte, 0, len(src)+2)
	end := 0 // of the last token that was looked at
	lineStart := true
	var blank []byte // a blank line that is written if more follows
	for _, t := range tokens {
		gap := src[end:t.Range.Start.Byte]
		end = t.Range.End.Byte
		switch {
		case t.Type == hclsyntax.TokenEOF:
			if !lineStart {
				out = append(out, newline(src)...)
			}
			return out
		case t.Type == hclsyntax.TokenNewline && lineStart:
			if len(out) > 0 {
				blank = t.Bytes
			}
		case t.Type == hclsyntax.TokenNewline:
			out = append(out, t.Bytes...)
			lineStart = true
		default:
			out = append(out, blank...)
			out = append(out, gap...)
			out = appendToken(out, t)
			blank = nil
			lineStart = endsLine(t)
		}
	}
	return out
}

func appendToken(out []byte, t hclsyntax.Token) []byte {
	if t.Type != hclsyntax.TokenComment || bytes.HasPrefix(t.Bytes, []byte("/*")) {
		return append(out, t.Bytes...)
	}
	text := bytes.TrimRight(t.Bytes, " \t\r\n")
	out = append(out, text...)
	switch {
	case bytes.HasSuffix(t.Bytes, []byte("\r\n")):
		return append(out, "\r\n"...)
	case bytes.HasSuffix(t.Bytes, []byte("\n")):
		return append(out, '\n')
	}
	return out
}

// newline is the line end of the file's first line.
func newline(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
