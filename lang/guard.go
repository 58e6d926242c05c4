package lang

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Limits of one file. The parser recurses on brackets and operators, so what
// it is given must not be able to exhaust the stack.
const (
	maxDepth     = 500
	maxOperators = 10000 // in one expression
)

// problem is a reason not to parse a file at all.
type problem struct {
	start, length int
	summary, help string
}

// checkText refuses what is not text in UTF-8.
func checkText(src []byte) *problem {
	if i := bytes.IndexByte(src, 0); i >= 0 {
		if len(src) > 2 && (src[0] == 0xff && src[1] == 0xfe || src[0] == 0xfe && src[1] == 0xff) {
			return &problem{0, 2, "file is in UTF-16, not in UTF-8", "save it as UTF-8"}
		}
		return &problem{i, 1, "file is not text: byte " + strconv.Itoa(i) + " is zero", ""}
	}
	if utf8.Valid(src) {
		return nil
	}
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return &problem{i, 1, "file is not text in UTF-8: byte " + strconv.Itoa(i) + " does not fit", "save it as UTF-8"}
		}
		i += n
	}
	return nil
}

// checkDepth refuses native syntax that nests too deeply. It follows the
// lexer's rules for comments, strings and heredocs; where a file is broken in a
// way that it cannot follow, the real lexer decides.
func checkDepth(src []byte) *problem {
	d := depthScan{src: src}
	d.stack = append(d.stack[:0], level{kind: 'f'})
	p, sure := d.run()
	if sure {
		return p
	}
	return depthOfTokens(src, false)
}

// checkTemplateDepth is checkDepth for the text of a template.
func checkTemplateDepth(src []byte) *problem {
	if bytes.IndexByte(src, '{') < 0 {
		return nil
	}
	return depthOfTokens(src, true)
}

type level struct {
	kind byte // 'f' file, '(' '[' '{', '"' quoted text, 'h' heredoc, '$' interpolation
	ops  int
	mark []byte // of a heredoc
}

type depthScan struct {
	src   []byte
	pos   int
	stack []level
}

func (d *depthScan) top() *level { return &d.stack[len(d.stack)-1] }

func (d *depthScan) push(kind byte, mark []byte) bool {
	d.stack = append(d.stack, level{kind: kind, mark: mark})
	return len(d.stack) <= maxDepth
}

func (d *depthScan) tooDeep() (*problem, bool) {
	return &problem{d.pos, 1, "nested deeper than " + strconv.Itoa(maxDepth) + " levels", "split it: locals can hold the parts"}, true
}

func (d *depthScan) run() (*problem, bool) {
	src := d.src
	for d.pos < len(src) {
		switch d.top().kind {
		case '"':
			if !d.quoted() {
				return nil, false
			}
			if len(d.stack) > maxDepth {
				return d.tooDeep()
			}
			continue
		case 'h':
			d.heredoc()
			if len(d.stack) > maxDepth {
				return d.tooDeep()
			}
			continue
		}
		c := src[d.pos]
		switch c {
		case '(', '[', '{':
			if !d.push(c, nil) {
				return d.tooDeep()
			}
		case ')', ']', '}':
			if len(d.stack) == 1 {
				return nil, false
			}
			open := d.top().kind
			if open == '$' && c != '}' || open == '(' && c != ')' || open == '[' && c != ']' || open == '{' && c != '}' {
				return nil, false
			}
			d.stack = d.stack[:len(d.stack)-1]
		case '"':
			if !d.push('"', nil) {
				return d.tooDeep()
			}
		case '#':
			d.line()
			continue
		case '/':
			if d.pos+1 < len(src) && src[d.pos+1] == '/' {
				d.line()
				continue
			}
			if d.pos+1 < len(src) && src[d.pos+1] == '*' {
				end := bytes.Index(src[d.pos+2:], []byte("*/"))
				if end < 0 {
					return nil, false
				}
				d.pos += end + 4
				continue
			}
			d.top().ops++
		case '<':
			if mark, n := heredocMark(src[d.pos:]); n > 0 {
				d.pos += n
				if !d.push('h', mark) {
					return d.tooDeep()
				}
				continue
			}
			d.top().ops++
		case '\n':
			if k := d.top().kind; k == '{' || k == 'f' {
				d.top().ops = 0
			}
		case ',':
			d.top().ops = 0
		case '!', '-', '+', '*', '%', '>', '=', '&', '|', '?', ':', '.':
			if d.top().ops++; d.top().ops > maxOperators {
				return &problem{d.pos, 1, "more than " + strconv.Itoa(maxOperators) + " operators in one expression", "split it: locals can hold the parts"}, true
			}
		}
		d.pos++
	}
	return nil, len(d.stack) == 1
}

// line skips to the line end, and leaves it to be seen.
func (d *depthScan) line() {
	if i := bytes.IndexByte(d.src[d.pos:], '\n'); i >= 0 {
		d.pos += i
		return
	}
	d.pos = len(d.src)
}

// quoted reads up to the end of the text or into an interpolation. It reports
// false where a quoted text ends with its line.
func (d *depthScan) quoted() bool {
	src := d.src
	for d.pos < len(src) {
		switch c := src[d.pos]; c {
		case '"':
			d.pos++
			d.stack = d.stack[:len(d.stack)-1]
			return true
		case '\n':
			return false
		case '\\':
			if d.pos+1 < len(src) && src[d.pos+1] == '\n' {
				return false
			}
			d.pos += 2
		case '$', '%':
			if d.interpolation(c) {
				return true
			}
		default:
			d.pos++
		}
	}
	return true
}

// interpolation handles a $ or % in text, and reports whether it opened one.
func (d *depthScan) interpolation(c byte) bool {
	rest := d.src[d.pos:]
	if len(rest) >= 3 && rest[1] == c && rest[2] == '{' {
		d.pos += 3
		return false
	}
	if len(rest) >= 2 && rest[1] == '{' {
		d.pos += 2
		d.push('$', nil)
		return true
	}
	d.pos++
	return false
}

func (d *depthScan) heredoc() {
	src, mark := d.src, d.top().mark
	for d.pos < len(src) {
		if d.pos == 0 || src[d.pos-1] == '\n' {
			end := bytes.IndexByte(src[d.pos:], '\n')
			line := src[d.pos:]
			if end >= 0 {
				line = src[d.pos : d.pos+end]
			}
			if bytes.Equal(bytes.TrimSpace(line), mark) {
				d.pos += len(line)
				d.stack = d.stack[:len(d.stack)-1]
				return
			}
		}
		switch c := src[d.pos]; c {
		case '$', '%':
			if d.interpolation(c) {
				return
			}
		default:
			d.pos++
		}
	}
}

// heredocMark reads <<MARK or <<-MARK with its line end, and returns the mark
// and the length of all.
func heredocMark(s []byte) ([]byte, int) {
	if len(s) < 4 || s[1] != '<' {
		return nil, 0
	}
	i := 2
	if s[i] == '-' {
		i++
	}
	from := i
	for i < len(s) && s[i] != '\n' && s[i] != '\r' {
		i++
	}
	mark := s[from:i]
	if len(mark) == 0 || i == len(s) || !hclsyntax.ValidIdentifier(string(mark)) {
		return nil, 0
	}
	if s[i] == '\r' {
		i++
	}
	if i == len(s) || s[i] != '\n' {
		return nil, 0
	}
	return mark, i + 1
}

// depthOfTokens measures with the real lexer: every token that opens something
// counts, and only its own closing token ends it.
func depthOfTokens(src []byte, template bool) *problem {
	lex := hclsyntax.LexConfig
	if template {
		lex = hclsyntax.LexTemplate
	}
	tokens, _ := lex(src, "", hcl.InitialPos)
	depth, ops := 0, make([]int, maxDepth+2)
	for i := range tokens {
		t := &tokens[i]
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenOQuote,
			hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			if depth++; depth > maxDepth {
				return &problem{t.Range.Start.Byte, 1, "nested deeper than " + strconv.Itoa(maxDepth) + " levels", "split it: locals can hold the parts"}
			}
			ops[depth] = 0
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote,
			hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
			depth = max(depth-1, 0)
		case hclsyntax.TokenComma:
			ops[depth] = 0
		case hclsyntax.TokenBang, hclsyntax.TokenMinus, hclsyntax.TokenPlus, hclsyntax.TokenStar, hclsyntax.TokenSlash,
			hclsyntax.TokenPercent, hclsyntax.TokenGreaterThan, hclsyntax.TokenLessThan, hclsyntax.TokenEqual, hclsyntax.TokenEqualOp,
			hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenQuestion, hclsyntax.TokenColon, hclsyntax.TokenDot:
			if ops[depth]++; ops[depth] > maxOperators*4 {
				return &problem{t.Range.Start.Byte, 1, "more than " + strconv.Itoa(maxOperators) + " operators in one expression", "split it: locals can hold the parts"}
			}
		case hclsyntax.TokenNewline:
			if depth == 0 {
				ops[0] = 0
			}
		}
	}
	return nil
}

// checkJSONDepth refuses JSON that nests too deeply.
func checkJSONDepth(src []byte) *problem {
	depth, text := 0, false
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return &problem{i, 1, "nested deeper than " + strconv.Itoa(maxDepth) + " levels", ""}
			}
		case c == '}' || c == ']':
			depth = max(depth-1, 0)
		}
	}
	return nil
}
