package format

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// span is the inside of a template, between its opening and closing token.
//
// Where a template has interpolations, hclwrite lays out what is in there, too.
// So its inside is masked while hclwrite works: plain text of the same width
// stands in for it, and equals signs and comments align as if it were there.
type span struct {
	start, end int // bytes
	width      int // characters, as hclwrite counts them; of several lines bytes
}

// heredocBody cannot be the line that ends a heredoc, which is one word.
const heredocBody = "x x\n"

// hide appends what stands in for the inside of a template, which the given
// token opens.
func (s span) hide(out []byte, opener hclsyntax.TokenType) []byte {
	if opener == hclsyntax.TokenOHeredoc {
		return append(out, heredocBody...)
	}
	return append(out, bytes.Repeat([]byte("x"), s.width)...)
}

// unmask puts the templates back. They come in the same order in both texts.
func unmask(src []byte, tokens hclsyntax.Tokens, hidden []byte, masked []span) []byte {
	if len(masked) == 0 {
		return hidden
	}
	all := templates(tokens, false)
	now, _ := hclsyntax.LexConfig(hidden, "", hcl.InitialPos)
	places := templates(now, false)
	out := make([]byte, 0, len(src)+len(hidden))
	end := 0
	for i := range min(len(all), len(places)) {
		if len(masked) == 0 || all[i].start != masked[0].start {
			continue
		}
		masked = masked[1:]
		out = append(out, hidden[end:places[i].start]...)
		out = append(out, src[all[i].start:all[i].end]...)
		end = places[i].end
	}
	return append(out, hidden[end:]...)
}

// templates lists the outermost templates, quoted or heredoc; on request only
// those with an interpolation or a directive.
func templates(tokens hclsyntax.Tokens, sequences bool) []span {
	var list []span
	var open hcl.Pos
	depth, found := 0, false
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			if depth == 0 {
				open, found = t.Range.End, false
			}
			depth++
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			found = true
		case hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			depth--
			if depth == 0 && (found || !sequences) {
				end := t.Range.Start
				width := end.Column - open.Column
				if end.Line != open.Line {
					width = end.Byte - open.Byte
				}
				list = append(list, span{open.Byte, end.Byte, width})
			}
		}
	}
	return list
}
