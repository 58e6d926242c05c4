package lang

import (
	"bytes"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/rocec/rocec/lang/schema"
)

// maxMarks bounds the words and marks of what the library reads at once: it keeps
// each with its place, in a hundred times the room of the text.
const maxMarks = 4 << 20

// manyMarks reports whether a text has more words and marks than the library is given.
func manyMarks(src []byte) bool {
	if len(src) <= maxMarks {
		return false
	}
	n, word := 0, false
	for _, c := range src {
		switch {
		case identByte(c) || c >= 0x80:
			if !word {
				n++
			}
			word = true
		case c == ' ' || c == '\t':
			word = false
		default:
			n++
			word = false
		}
		if n > maxMarks {
			return true
		}
	}
	return false
}

func marksProblem(at int) *problem {
	return &problem{at, 1, "file has more than " + itoa(maxMarks) + " words and marks, and this part of it does not read by itself", "close the quotes and braces that stand open, or split the file"}
}

// mostEnds is how many closing braces at the start of a line one part may have, as
// a heredoc may hold some.
const mostEnds = 16

// library reads the block at an offset of a file that is too large for the library
// as a whole: it alone is handed over, up to the first closing brace at the start of
// a line behind which it reads. Where none is found the file is refused, with what
// is wrong up to the first.
func (q *quick) library(from int) bool {
	p, r := &q.p, q.r
	var first hcl.Diagnostics
	end := from
	for range mostEnds {
		i := bytes.Index(p.src[end:], []byte("\n}"))
		if i < 0 {
			end = len(p.src)
		} else {
			end += i + 2
		}
		part := p.src[from:end]
		if manyMarks(part) {
			break
		}
		if deep := checkDepth(part); deep != nil {
			return q.stop(func() { deep.start += p.base + from; r.refuse(deep) })
		}
		file, diags := hclsyntax.ParseConfig(part, p.name, hcl.Pos{Line: 1, Column: 1, Byte: p.base + from})
		body, _ := file.Body.(*hclsyntax.Body)
		sound := !slices.ContainsFunc(diags, func(d *hcl.Diagnostic) bool { return d.Severity == hcl.DiagError && d.Summary != redefinedTitle })
		if sound && len(body.Attributes) == 0 && len(body.Blocks) == 1 {
			for _, d := range diags {
				r.redefined(body, d)
			}
			r.block(body.Blocks[0], schema.None, schema.None, -1)
			p.pos = end
			return p.lineEnd() || q.stop(func() { r.refuse(marksProblem(p.base + end)) })
		}
		if first == nil {
			first = diags
		}
		if end == len(p.src) {
			break
		}
	}
	return q.stop(func() {
		if r.syntax(first); !r.broken {
			r.refuse(marksProblem(p.base + from))
		}
	})
}

// stop ends the reading of a file for what is said then: what was found before is
// of half a file.
func (q *quick) stop(say func()) bool {
	q.undo(quickMark{strs: 1})
	say()
	q.p.pos = len(q.p.src)
	return true
}
