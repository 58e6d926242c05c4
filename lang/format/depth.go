package format

import (
	"fmt"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// MaxDepth is how deep expressions and blocks may be nested. The parser of HCL
// calls itself for each bracket, sign and condition, and evaluation for each
// operator in a row, without a limit; Go ends the whole process when a stack
// outgrows a gigabyte, which about a hundred thousand brackets can bring about.
const MaxDepth = 1000

// SafeBytes is the size below which no source can nest deep enough to matter.
const SafeBytes = 32 << 10

// deep bounds the recursion of parser and evaluator from above: by the brackets
// and templates that are open, plus, in each of them, the operators, indexes and
// template directives of the item that is being read.
func deep(tokens hclsyntax.Tokens) *Problem {
	d := depth{frames: []frame{{lines: true}}}
	for i, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrack:
			if i > 0 && endsTerm(tokens[i-1].Type) {
				d.add(1) // a[0][0] nests to the left
			}
			d.push(false)
		case hclsyntax.TokenOBrace:
			d.push(true)
		case hclsyntax.TokenOParen, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp:
			d.push(false)
		case hclsyntax.TokenTemplateControl:
			d.add(directive(tokens[i+1:]))
			d.push(false)
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote,
			hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
			d.pop()
		case hclsyntax.TokenComma:
			d.endItem()
		case hclsyntax.TokenNewline, hclsyntax.TokenComment:
			if d.top().lines && endsLine(t) {
				d.endItem()
			}
		case hclsyntax.TokenPlus, hclsyntax.TokenMinus, hclsyntax.TokenStar, hclsyntax.TokenSlash, hclsyntax.TokenPercent,
			hclsyntax.TokenBang, hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenQuestion,
			hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq,
			hclsyntax.TokenGreaterThan, hclsyntax.TokenGreaterThanEq:
			d.add(1)
		}
		if d.total > MaxDepth {
			at := t.Range.Start
			return &Problem{at.Byte, at.Line, at.Column, fmt.Sprintf("expressions are nested deeper than %d", MaxDepth)}
		}
	}
	return nil
}

// depth is the sum of all frames: one for each that is open, and their chains.
type depth struct {
	frames []frame
	total  int
}

type frame struct {
	chain int  // operators and the like of the item that is being read
	lines bool // a newline ends the item
}

func (d *depth) top() *frame { return &d.frames[len(d.frames)-1] }

func (d *depth) add(n int) {
	d.top().chain += n
	d.total += n
}

func (d *depth) push(lines bool) {
	d.frames = append(d.frames, frame{lines: lines})
	d.total++
}

func (d *depth) pop() {
	if len(d.frames) == 1 {
		return
	}
	d.endItem()
	d.frames = d.frames[:len(d.frames)-1]
	d.total--
}

func (d *depth) endItem() {
	d.total -= d.top().chain
	d.top().chain = 0
}

// endsTerm reports whether a bracket after such a token is an index.
func endsTerm(t hclsyntax.TokenType) bool {
	switch t {
	case hclsyntax.TokenIdent, hclsyntax.TokenNumberLit, hclsyntax.TokenStar, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc,
		hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCBrace:
		return true
	}
	return false
}

// directive is 1 where a directive opens a part of a template, -1 where it ends
// one.
func directive(rest hclsyntax.Tokens) int {
	if len(rest) == 0 {
		return 0
	}
	switch string(rest[0].Bytes) {
	case "if", "for":
		return 1
	case "endif", "endfor":
		return -1
	}
	return 0
}
