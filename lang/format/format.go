// Package format is rocec fmt: it gives source its canonical layout, which is
// that of terraform fmt (two spaces of indentation, aligned equals signs and
// comments), without trailing white space, with one newline at the end and at
// most one blank line in a row.
//
// Attributes of blocks stand in the order of the schema within each paragraph of
// them, and else only white space between tokens changes: each attribute keeps its
// tokens, and each block its attributes. Quoted strings, heredocs and what
// stands inside their interpolations stay byte for byte as they are; line ends
// stay CRLF or LF as written. Source that does not parse, or whose layout cannot
// be made canonical without changing what it says, comes back as it was with the
// reason. JSON is not formatted.
package format

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// Problem is why a source was not formatted.
type Problem struct {
	Offset  int // byte, from 0
	Line    int // from 1
	Column  int // in characters, from 1
	Message string
}

// Error is the message alone; the place is in the fields.
func (p *Problem) Error() string { return p.Message }

// maxPasses is how often the layout is made until it no longer changes: hclwrite
// needs a second or third time on some odd input.
const maxPasses = 4

// Source returns the canonical form of a file. With a problem it returns src
// itself, and so it does for a name that ends in .json. Formatting the result
// again changes nothing.
func Source(name string, src []byte) ([]byte, *Problem) {
	if strings.HasSuffix(name, ".json") {
		return src, nil
	}
	return inParts(name, src, partBytes)
}

// whole is Source for what the library reads at once.
func whole(name string, src []byte) ([]byte, *Problem) {
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos)
	if p := deep(tokens); p != nil {
		return src, p
	}
	tree, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return src, problemOf(diags)
	}
	written := src
	if src = inOrder(name, src, tree.Body.(*hclsyntax.Body)); !bytes.Equal(src, written) {
		tokens, _ = hclsyntax.LexConfig(src, name, hcl.InitialPos)
	}
	hidden, masked, tidied := tidy(src, tokens)
	for range maxPasses {
		next := hclwrite.Format(hidden)
		if !bytes.Equal(next, hidden) {
			hidden, tidied = next, true
			continue
		}
		if !tidied {
			return src, nil
		}
		out, problem := restore(name, src, tokens, hidden, masked)
		if problem != nil {
			return written, problem
		}
		return out, nil
	}
	return written, &Problem{0, 1, 1, "layout does not settle, file is left as it is"}
}

// Diff is the unified diff of two versions of a file, or "" if they are equal.
func Diff(name string, before, after []byte) string {
	old := string(before)
	// The edits come from the same text, so they are consistent with it.
	diff, _ := udiff.ToUnified("old/"+name, "new/"+name, old, udiff.Lines(old, string(after)), udiff.DefaultContextLines)
	return renumbered(diff)
}

var hunkHead = regexp.MustCompile(`(?m)^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@$`)

// renumbered counts anew at which line of the new text each part of a diff
// begins: udiff 0.4.1 leaves out the equal lines inside of parts before.
func renumbered(diff string) string {
	shift := 0
	return hunkHead.ReplaceAllStringFunc(diff, func(head string) string {
		m := hunkHead.FindStringSubmatch(head)
		from, _ := strconv.Atoi(m[1])
		length := func(text string) int {
			if text == "" {
				return 1
			}
			n, _ := strconv.Atoi(text[1:])
			return n
		}
		to := from + shift
		if old, now := length(m[2]), length(m[4]); old == 0 || now == 0 { // an empty file
			return head
		} else {
			shift += now - old
		}
		return fmt.Sprintf("@@ -%s%s +%d%s @@", m[1], m[2], to, m[4])
	})
}

func problemOf(diags hcl.Diagnostics) *Problem {
	for _, d := range diags {
		if d.Severity != hcl.DiagError {
			continue
		}
		p := &Problem{Line: 1, Column: 1, Message: d.Detail}
		if d.Detail == "" {
			p.Message = d.Summary
		}
		if d.Subject != nil {
			at := d.Subject.Start
			p.Offset, p.Line, p.Column = at.Byte, at.Line, at.Column
		}
		return p
	}
	return nil
}

// restore puts the templates back and makes sure that nothing but white space
// differs from the source. Lexing the result is the only sure way: "a.0 .1" has
// other tokens once the space is gone.
func restore(name string, src []byte, tokens hclsyntax.Tokens, hidden []byte, masked []span) ([]byte, *Problem) {
	out := unmask(src, tokens, hidden, masked)
	now, _ := hclsyntax.LexConfig(out, name, hcl.InitialPos)
	if at, same := sameTokens(tokens, now); !same {
		return src, &Problem{at.Byte, at.Line, at.Column, "white space here cannot be changed without changing the meaning, file is left as it is"}
	}
	return out, nil
}

// sameTokens compares two token lists less blank lines and white space at the
// end of comments, and returns the first place where they part.
func sameTokens(a, b hclsyntax.Tokens) (hcl.Pos, bool) {
	i, j := 0, 0
	startA, startB := true, true // at the start of a line
	for {
		i, startA = skipBlank(a, i, startA)
		j, startB = skipBlank(b, j, startB)
		x, y := a[i], b[j]
		switch {
		case x.Type == hclsyntax.TokenEOF && y.Type == hclsyntax.TokenEOF:
			return hcl.Pos{}, true
		case x.Type == hclsyntax.TokenEOF && y.Type == hclsyntax.TokenNewline:
			j++ // the newline that was added at the end
			continue
		case x.Type != y.Type || !bytes.Equal(significant(x), significant(y)):
			return x.Range.Start, false
		}
		startA, startB = endsLine(x), endsLine(x)
		i, j = i+1, j+1
	}
}

func skipBlank(tokens hclsyntax.Tokens, i int, lineStart bool) (int, bool) {
	for lineStart && tokens[i].Type == hclsyntax.TokenNewline {
		i++
	}
	return i, lineStart
}

func significant(t hclsyntax.Token) []byte {
	if t.Type == hclsyntax.TokenComment {
		return bytes.TrimRight(t.Bytes, " \t\r\n")
	}
	return t.Bytes
}

// endsLine reports whether the next token starts a line. Comments that start
// with # or // take their newline with them.
func endsLine(t hclsyntax.Token) bool {
	return t.Type == hclsyntax.TokenNewline || t.Type == hclsyntax.TokenComment && bytes.HasSuffix(t.Bytes, []byte("\n"))
}
