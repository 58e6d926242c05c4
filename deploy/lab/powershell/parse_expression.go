package powershell

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Operators by rank, low first; all bind to the left.
var ranks = [][]string{
	{"-and", "-or"},
	{"-eq", "-ne", "-gt", "-ge", "-lt", "-le", "-contains", "-notcontains", "-like", "-match", "-notmatch", "-replace", "-join", "-is"},
	{"+", "-"},
	{"/", "*", "%"},
	{"-f"},
	{".."},
}

func (p *source) expr() Node { return p.binary(0) }

func (p *source) binary(rank int) Node {
	if rank == len(ranks) {
		return p.comma()
	}
	x := p.binary(rank + 1)
	for {
		p.blank(false)
		op := p.operator(rank)
		if op == "" {
			return x
		}
		p.blank(true)
		x = &binary{op, x, p.binary(rank + 1)}
	}
}

func (p *source) operator(rank int) string {
	if p.has("++") || p.has("+=") || p.has("-=") {
		return ""
	}
	for _, op := range ranks[rank] {
		if op[0] == '-' && len(op) > 1 {
			if strings.EqualFold("-"+p.wordAt(1), op) && p.peek() == '-' {
				p.i += len(op)
				return op
			}
			continue
		}
		if p.has(op) && !(op == "-" && p.i+1 < len(p.s) && isWord(p.s[p.i+1])) {
			p.i += len(op)
			return op
		}
	}
	return ""
}

func (p *source) wordAt(skip int) string {
	if p.i+skip > len(p.s) {
		return ""
	}
	q := source{s: p.s, i: p.i + skip}
	return q.word()
}

func (p *source) comma() Node {
	items := []Node{p.unary()}
	for p.blank(false); !p.args && p.has(","); p.blank(false) {
		p.i++
		p.blank(true)
		items = append(items, p.unary())
	}
	if len(items) == 1 {
		return items[0]
	}
	return &Comma{items}
}

func (p *source) unary() Node {
	p.deeper()
	n := p.oneUnary()
	p.depth--
	return n
}

func (p *source) oneUnary() Node {
	p.blank(false)
	switch {
	case strings.EqualFold(p.wordAt(0), "-not"):
		p.i += 4
		return &Unary{"-not", p.unary()}
	case p.has("-") && p.s[p.i+1] >= '0' && p.s[p.i+1] <= '9':
		p.i++
		return &Unary{"-", p.unary()}
	case p.has("["):
		mark := p.i
		typ := p.typeName()
		if p.has("::") {
			p.i = mark
			return p.postfix(p.primary())
		}
		if p.has(")") { // the type itself
			return &Literal{typ}
		}
		return &cast{typ, p.unary()}
	}
	return p.postfix(p.primary())
}

func (p *source) variable() *Var {
	p.expect("$")
	if p.has("?") {
		p.i++
		return &Var{Name: "?"}
	}
	w := p.s[p.i:]
	n := 0
	for n < len(w) && (isWord(w[n]) || w[n] == ':' && n > 0 && n+1 < len(w) && isWord(w[n+1])) {
		n++
	}
	p.i += n
	v := &Var{Name: strings.ToLower(w[:n])}
	if scope, name, found := strings.Cut(v.Name, ":"); found {
		v.Scope, v.Name = scope, name
	}
	if v.Name == "" {
		p.fail("variable")
	}
	return v
}

func (p *source) primary() Node {
	p.blank(false)
	switch c := p.peek(); {
	case c == '$':
		return p.variable()
	case c == '\'':
		return &Literal{p.single()}
	case c == '"':
		s := p.quoted('"')
		if strings.ContainsAny(s, "$`") {
			p.fail("expandable string")
		}
		return &Literal{s}
	case c >= '0' && c <= '9':
		j := p.i
		for j < len(p.s) && p.s[j] >= '0' && p.s[j] <= '9' {
			j++
		}
		n, err := strconv.ParseInt(p.s[p.i:j], 10, 64)
		if err != nil {
			p.fail("number")
		}
		p.i = j
		if p.has(".") && p.s[p.i+1] >= '0' && p.s[p.i+1] <= '9' { // a version
			p.i += 2
		}
		return &Literal{n}
	case p.has("@("):
		p.i += 2
		_, list := p.body(')')
		return &Array{list}
	case p.has("@{"):
		p.i += 2
		return p.hash()
	case c == '(':
		p.i++
		_, list := p.body(')')
		return &paren{list}
	case c == '{':
		p.i++
		b := &Block{}
		b.signature, b.Body = p.body('}')
		return b
	case c == '[':
		typ := p.typeName()
		p.expect("::")
		n := &static{typ: typ, name: p.word()}
		p.i += len(n.name)
		n.args, n.call = p.callArgs()
		return n
	}
	p.fail("expression")
	return nil
}

// single is a literal in single quotes, of which PowerShell knows five
// (CharTraits.IsSingleQuote): any one ends it, any two stand for the first.
func (p *source) single() string {
	isQuote := func(r rune) bool { return r == '\'' || r >= 0x2018 && r <= 0x201b }
	var b strings.Builder
	p.i++
	for {
		r, n := utf8.DecodeRuneInString(p.s[p.i:])
		if n == 0 {
			p.fail("literal without an end")
		}
		p.i += n
		if isQuote(r) {
			next, n := utf8.DecodeRuneInString(p.s[p.i:])
			if !isQuote(next) {
				return b.String()
			}
			p.i += n
		}
		b.WriteRune(r)
	}
}

func (p *source) quoted(q byte) string {
	var b strings.Builder
	for p.i++; ; p.i++ {
		if p.peek() == q {
			if p.i+1 < len(p.s) && p.s[p.i+1] == q {
				p.i++
			} else {
				p.i++
				return b.String()
			}
		}
		b.WriteByte(p.s[p.i])
	}
}

func (p *source) hash() Node {
	args := p.args
	p.args = false
	h := p.pairs()
	p.args = args
	return h
}

func (p *source) pairs() *Hash {
	h := &Hash{}
	for {
		p.blank(true)
		if p.has("}") {
			p.i++
			return h
		}
		if w := p.word(); w != "" {
			p.i += len(w)
			h.Keys = append(h.Keys, &Literal{w})
		} else {
			h.Keys = append(h.Keys, p.primary())
		}
		p.expect("=")
		p.blank(true)
		h.Values = append(h.Values, p.statement())
	}
}

func (p *source) callArgs() (args []Node, call bool) {
	if !p.has("(") {
		return nil, false
	}
	p.i++
	was := p.args
	p.args = true
	for p.blank(true); !p.has(")"); p.blank(true) {
		args = append(args, p.binary(0))
		p.blank(true)
		if p.has(",") {
			p.i++
		}
	}
	p.i++
	p.args = was
	return args, true
}

func (p *source) postfix(x Node) Node {
	for {
		switch {
		case p.has("..") || !(p.has(".") || p.has("[")):
			return x
		case p.has("["):
			p.i++
			args := p.args
			p.args = false
			at := p.expr()
			p.args = args
			p.blank(false)
			p.expect("]")
			x = &index{x, at}
		default:
			p.i++
			m := &member{of: x}
			if p.has("$") {
				m.dyn = p.variable()
			} else {
				m.name = p.word()
				if m.name == "" || strings.Contains(m.name, "-") {
					m.name, _, _ = strings.Cut(m.name, "-")
				}
				p.i += len(m.name)
			}
			m.args, m.call = p.callArgs()
			x = m
		}
	}
}
