package format

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// span is the inside of a template, between its opening and closing token.
type span struct {
	start, end int // bytes
	width      int // characters, as hclwrite counts them; of several lines bytes
}

// mask replaces the inside of each template that has interpolations by plain
// text of the same width. hclwrite would lay out what is in there, too; so it
// stays as written, yet equals signs and comments align as if it were there.
func mask(src []byte, tokens hclsyntax.Tokens) (hidden []byte, masked []span) {
	masked = templates(tokens, true)
	if len(masked) == 0 {
		return src, nil
	}
	end := 0
	for _, m := range masked {
		hidden = append(hidden, src[end:m.start]...)
		if src[m.start-1] == '\n' {
			hidden = append(hidden, heredocBody...)
		} else {
			hidden = append(hidden, bytes.Repeat([]byte("x"), m.width)...)
		}
		end = m.end
	}
	return append(hidden, src[end:]...), masked
}

// heredocBody cannot be the line that ends a heredoc, which is one word.
const heredocBody = "x x\n"

// unmask is the reverse of mask. Templates come in the same order in both
// texts.
func unmask(name string, src, hidden []byte, masked []span) []byte {
	if len(masked) == 0 {
		return hidden
	}
	all := templates(mustLex(src, name), false)
	now := templates(mustLex(hidden, name), false)
	var out []byte
	end, next := 0, 0
	for i := range min(len(all), len(now)) {
		if next == len(masked) || all[i] != masked[next] {
			continue
		}
		next++
		out = append(out, hidden[end:now[i].start]...)
		out = append(out, src[all[i].start:all[i].end]...)
		end = now[i].end
	}
	return append(out, hidden[end:]...)
}

func mustLex(src []byte, name string) hclsyntax.Tokens {
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos)
	return tokens
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
