package lang

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// parsePlain reads a file that is written in the plain part of the syntax, as
// inventories that programs write are: blocks, and attributes whose values are
// texts, numbers, bools, references, lists and objects of these. It returns the
// tree that the library would, several times faster; places have offsets only.
// Whatever else it meets, or is not sure of, it leaves to the library as a
// whole: on false nothing is known. A fuzz test holds the two against each
// other.
func parsePlain(src []byte, name string, start int) (*hclsyntax.Body, bool) {
	p := plainParser{src: src, name: name, base: start, words: make(map[string]string, 32)}
	body := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}}
	if !p.body(body, false, 0) {
		return nil, false
	}
	body.SrcRange, body.EndRange = p.span(0, len(src)), p.span(len(src), len(src))
	return body, true
}

type plainParser struct {
	src   []byte
	name  string
	base  int
	pos   int
	words map[string]string // identifiers, each once
	attrs []hclsyntax.Attribute
	lits  []hclsyntax.LiteralValueExpr
	texts []hclsyntax.TemplateExpr
	parts []hclsyntax.Expression
}

const (
	plainChunk = 64
	plainDepth = 32
)

// span is a range of the source.
func (p *plainParser) span(from, to int) hcl.Range {
	return hcl.Range{
		Filename: p.name,
		Start:    hcl.Pos{Line: 1, Column: 1, Byte: p.base + from},
		End:      hcl.Pos{Line: 1, Column: 1, Byte: p.base + to},
	}
}

func (p *plainParser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

// blanks passes spaces and comments up to the end of the line; newlines too if
// they mean nothing here. False: something that only the library understands.
func (p *plainParser) blanks(newlines bool) bool {
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == ' ' || c == '\t':
			p.pos++
		case c == '\n':
			if !newlines {
				return true
			}
			p.pos++
		case c == '\r':
			if p.pos+1 >= len(p.src) || p.src[p.pos+1] != '\n' {
				return false
			}
			if !newlines {
				return true
			}
			p.pos += 2
		case c == '#', c == '/' && p.pos+1 < len(p.src) && p.src[p.pos+1] == '/':
			i := bytes.IndexByte(p.src[p.pos:], '\n')
			if i < 0 {
				p.pos = len(p.src)
				return true
			}
			p.pos += i
		case c == '/' && p.pos+1 < len(p.src) && p.src[p.pos+1] == '*':
			i := bytes.Index(p.src[p.pos+2:], []byte("*/"))
			if i < 0 || bytes.IndexByte(p.src[p.pos+2:p.pos+2+i], '\n') >= 0 {
				return false
			}
			p.pos += i + 4
		default:
			return true
		}
	}
	return true
}

// lineEnd passes the end of a line, which something on it must have.
func (p *plainParser) lineEnd() bool {
	if !p.blanks(false) {
		return false
	}
	switch p.peek() {
	case '\n':
		p.pos++
		return true
	case '\r':
		p.pos += 2
		return true
	}
	return p.pos >= len(p.src)
}

func identStart(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func identByte(c byte) bool {
	return identStart(c) || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// ident reads a name of ASCII letters, digits, '_' and '-'.
func (p *plainParser) ident() (string, bool) {
	from := p.pos
	if !identStart(p.peek()) {
		return "", false
	}
	for p.pos < len(p.src) && identByte(p.src[p.pos]) {
		p.pos++
	}
	if p.peek() >= 0x80 {
		return "", false
	}
	b := p.src[from:p.pos]
	if w, ok := p.words[string(b)]; ok {
		return w, true
	}
	w := string(b)
	p.words[w] = w
	return w, true
}

// quoted reads a text without escapes, templates and letters beyond ASCII, and
// returns what is between the quotes.
func (p *plainParser) quoted() ([]byte, bool) {
	from := p.pos + 1
	for i := from; i < len(p.src); i++ {
		switch c := p.src[i]; {
		case c == '"':
			p.pos = i + 1
			return p.src[from:i], true
		case c < 0x20, c >= 0x7f, c == '\\':
			return nil, false
		case (c == '$' || c == '%') && i+1 < len(p.src) && p.src[i+1] == '{':
			return nil, false
		}
	}
	return nil, false
}

// body reads attributes and blocks up to the closing brace, or to the end of
// the file outside of any block.
func (p *plainParser) body(into *hclsyntax.Body, inside bool, depth int) bool {
	if depth > plainDepth {
		return false
	}
	for {
		if !p.blanks(true) {
			return false
		}
		if p.pos >= len(p.src) {
			return !inside
		}
		if p.peek() == '}' {
			return inside
		}
		if !p.item(into, depth) || !p.lineEnd() {
			return false
		}
	}
}

// item reads an attribute or a block.
func (p *plainParser) item(into *hclsyntax.Body, depth int) bool {
	from := p.pos
	word, ok := p.ident()
	if !ok {
		return false
	}
	end := p.pos
	if !p.blanks(false) {
		return false
	}
	if p.peek() == '=' {
		return p.attribute(into, word, from, end)
	}
	b := &hclsyntax.Block{Type: word, TypeRange: p.span(from, end)}
	for p.peek() != '{' {
		at := p.pos
		if p.peek() == '"' {
			text, ok := p.quoted()
			if !ok {
				return false
			}
			b.Labels = append(b.Labels, string(text))
		} else {
			word, ok := p.ident()
			if !ok {
				return false
			}
			b.Labels = append(b.Labels, word)
		}
		b.LabelRanges = append(b.LabelRanges, p.span(at, p.pos))
		if !p.blanks(false) {
			return false
		}
	}
	return p.block(into, b, depth)
}

// block reads what stands in braces. On one line there is one attribute at most.
func (p *plainParser) block(into *hclsyntax.Body, b *hclsyntax.Block, depth int) bool {
	open := p.pos
	b.OpenBraceRange = p.span(open, open+1)
	b.Body = &hclsyntax.Body{Attributes: hclsyntax.Attributes{}}
	p.pos++
	if !p.blanks(false) {
		return false
	}
	switch c := p.peek(); {
	case c == '}':
	case c == '\n' || c == '\r':
		if !p.body(b.Body, true, depth+1) {
			return false
		}
	default:
		from := p.pos
		word, ok := p.ident()
		if !ok || bytes.IndexByte(p.src[open:from], '#') >= 0 {
			return false
		}
		end := p.pos
		if !p.blanks(false) || p.peek() != '=' || !p.attribute(b.Body, word, from, end) || !p.blanks(false) || p.peek() != '}' {
			return false
		}
		b.Body.SrcRange = b.Body.Attributes[word].SrcRange
	}
	b.CloseBraceRange = p.span(p.pos, p.pos+1)
	if b.Body.SrcRange.Filename == "" {
		b.Body.SrcRange = p.span(open, p.pos+1)
	}
	b.Body.EndRange = p.span(p.pos+1, p.pos+1)
	p.pos++
	into.Blocks = append(into.Blocks, b)
	return true
}

func (p *plainParser) attribute(into *hclsyntax.Body, word string, from, end int) bool {
	if _, twice := into.Attributes[word]; twice {
		return false
	}
	eq := p.pos
	p.pos++
	if !p.blanks(false) {
		return false
	}
	e, ok := p.value(0)
	if !ok {
		return false
	}
	if len(p.attrs) == cap(p.attrs) {
		p.attrs = make([]hclsyntax.Attribute, 0, plainChunk)
	}
	p.attrs = append(p.attrs, hclsyntax.Attribute{
		Name: word, Expr: e, SrcRange: p.span(from, e.Range().End.Byte-p.base), NameRange: p.span(from, end), EqualsRange: p.span(eq, eq+1),
	})
	into.Attributes[word] = &p.attrs[len(p.attrs)-1]
	return true
}

// value reads a value, and sees that nothing follows that would make it part of
// an expression.
func (p *plainParser) value(depth int) (hclsyntax.Expression, bool) {
	if depth > plainDepth {
		return nil, false
	}
	var e hclsyntax.Expression
	ok := false
	switch c := p.peek(); {
	case c == '"':
		e, ok = p.text()
	case c >= '0' && c <= '9':
		e, ok = p.number()
	case c == '[':
		e, ok = p.tuple(depth)
	case c == '{':
		e, ok = p.object(depth)
	case identStart(c):
		e, ok = p.reference()
	}
	if !ok || !p.blanks(false) {
		return nil, false
	}
	switch p.peek() {
	case '\n', '\r', ',', ']', '}':
		return e, true
	}
	return e, p.pos >= len(p.src)
}

func (p *plainParser) literal(v cty.Value, from, to int) *hclsyntax.LiteralValueExpr {
	if len(p.lits) == cap(p.lits) {
		p.lits = make([]hclsyntax.LiteralValueExpr, 0, plainChunk)
	}
	p.lits = append(p.lits, hclsyntax.LiteralValueExpr{Val: v, SrcRange: p.span(from, to)})
	return &p.lits[len(p.lits)-1]
}

func (p *plainParser) text() (hclsyntax.Expression, bool) {
	from := p.pos
	b, ok := p.quoted()
	if !ok {
		return nil, false
	}
	if len(p.texts) == cap(p.texts) {
		p.texts = make([]hclsyntax.TemplateExpr, 0, plainChunk)
		p.parts = make([]hclsyntax.Expression, 0, plainChunk)
	}
	p.parts = append(p.parts, p.literal(cty.StringVal(string(b)), from+1, p.pos-1))
	n := len(p.parts)
	p.texts = append(p.texts, hclsyntax.TemplateExpr{Parts: p.parts[n-1 : n : n], SrcRange: p.span(from, p.pos)})
	return &p.texts[len(p.texts)-1], true
}

func (p *plainParser) number() (*hclsyntax.LiteralValueExpr, bool) {
	from, n := p.pos, int64(0)
	for p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
		n = n*10 + int64(p.src[p.pos]-'0')
		p.pos++
	}
	if c := p.peek(); p.pos-from > 18 || c == '.' && (p.pos+1 >= len(p.src) || p.src[p.pos+1] < '0' || p.src[p.pos+1] > '9') || identStart(c) || c == '_' || c >= 0x80 {
		return nil, false
	}
	if p.peek() != '.' {
		return p.literal(cty.NumberIntVal(n), from, p.pos), true
	}
	p.pos++
	for p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
		p.pos++
	}
	if c := p.peek(); c == '.' || identStart(c) || c == '_' || c >= 0x80 {
		return nil, false
	}
	v, err := cty.ParseNumberVal(string(p.src[from:p.pos]))
	return p.literal(v, from, p.pos), err == nil
}

// reference reads true, false, null, or a name with steps behind it.
func (p *plainParser) reference() (hclsyntax.Expression, bool) {
	from := p.pos
	word, ok := p.ident()
	if !ok {
		return nil, false
	}
	c := p.peek()
	if c != '.' && c != '[' {
		switch word {
		case "true":
			return p.literal(cty.True, from, p.pos), true
		case "false":
			return p.literal(cty.False, from, p.pos), true
		case "null":
			return p.literal(cty.NullVal(cty.DynamicPseudoType), from, p.pos), true
		}
	}
	switch word {
	case "true", "false", "null", "for":
		return nil, false
	}
	trav := make(hcl.Traversal, 1, 4)
	trav[0] = hcl.TraverseRoot{Name: word, SrcRange: p.span(from, p.pos)}
	for {
		at := p.pos
		if len(trav) > plainDepth {
			return nil, false
		}
		switch p.peek() {
		case '.':
			p.pos++
			name, ok := p.ident()
			if !ok {
				return nil, false
			}
			trav = append(trav, hcl.TraverseAttr{Name: name, SrcRange: p.span(at, p.pos)})
			continue
		case '[':
			p.pos++
			key, ok := p.index()
			if !ok || p.peek() != ']' {
				return nil, false
			}
			p.pos++
			trav = append(trav, hcl.TraverseIndex{Key: key, SrcRange: p.span(at, p.pos)})
			continue
		}
		return &hclsyntax.ScopeTraversalExpr{Traversal: trav, SrcRange: p.span(from, p.pos)}, true
	}
}

// index reads what stands in brackets behind a name: a text or a whole number.
func (p *plainParser) index() (cty.Value, bool) {
	switch c := p.peek(); {
	case c == '"':
		b, ok := p.quoted()
		return cty.StringVal(string(b)), ok
	case c >= '0' && c <= '9':
		if n, ok := p.number(); ok {
			return n.Val, true
		}
	}
	return cty.NilVal, false
}

func (p *plainParser) tuple(depth int) (hclsyntax.Expression, bool) {
	from := p.pos
	p.pos++
	var list []hclsyntax.Expression
	for {
		if !p.blanks(true) {
			return nil, false
		}
		if p.peek() == ']' {
			p.pos++
			return &hclsyntax.TupleConsExpr{Exprs: list, SrcRange: p.span(from, p.pos), OpenRange: p.span(from, from+1)}, true
		}
		e, ok := p.value(depth + 1)
		if !ok || !p.blanks(true) {
			return nil, false
		}
		list = append(list, e)
		switch p.peek() {
		case ',':
			p.pos++
		case ']':
		default:
			return nil, false
		}
	}
}

func (p *plainParser) object(depth int) (hclsyntax.Expression, bool) {
	from := p.pos
	p.pos++
	var items []hclsyntax.ObjectConsItem
	for {
		if !p.blanks(true) {
			return nil, false
		}
		if p.peek() == '}' {
			p.pos++
			return &hclsyntax.ObjectConsExpr{Items: items, SrcRange: p.span(from, p.pos), OpenRange: p.span(from, from+1)}, true
		}
		key, ok := p.key()
		if !ok || !p.blanks(false) {
			return nil, false
		}
		if c := p.peek(); c != '=' && c != ':' {
			return nil, false
		}
		p.pos++
		if !p.blanks(false) {
			return nil, false
		}
		e, ok := p.value(depth + 1)
		if !ok {
			return nil, false
		}
		items = append(items, hclsyntax.ObjectConsItem{KeyExpr: &hclsyntax.ObjectConsKeyExpr{Wrapped: key}, ValueExpr: e})
		switch p.peek() {
		case ',':
			p.pos++
		case '\n', '\r', '}':
		default:
			return nil, false
		}
	}
}

// key reads a key of an object: a word, a text or a whole number.
func (p *plainParser) key() (hclsyntax.Expression, bool) {
	switch c := p.peek(); {
	case c == '"':
		return p.text()
	case c >= '0' && c <= '9':
		n, ok := p.number()
		return n, ok
	}
	from := p.pos
	word, ok := p.ident()
	if !ok || word == "for" || word == "true" || word == "false" || word == "null" {
		return nil, false
	}
	return &hclsyntax.ScopeTraversalExpr{
		Traversal: hcl.Traversal{hcl.TraverseRoot{Name: word, SrcRange: p.span(from, p.pos)}}, SrcRange: p.span(from, p.pos),
	}, true
}
