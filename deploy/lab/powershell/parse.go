package powershell

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// deepest is how deep blocks and expressions may lie in each other.
const deepest = 100

// source is a script while it is read. It ends by a panic of syntaxError, which
// Parse catches.
type source struct {
	s     string
	i     int
	depth int
	args  bool // in the arguments of a method, where a comma makes no list
}

// syntaxError is what the reader trips over.
type syntaxError struct{ text string }

// Parse reads a script or a file of data. It knows what the engine and the lab
// use of PowerShell, and fails on all else.
func Parse(src string) (b *Block, err error) {
	p := &source{s: strings.ReplaceAll(strings.TrimPrefix(src, "\ufeff"), "\r\n", "\n")}
	defer func() {
		switch x := recover().(type) {
		case nil:
		case syntaxError:
			b, err = nil, errors.New(x.text)
		case runtime.Error: // a text that ends in the middle
			b, err = nil, fmt.Errorf("line %d: the text ends in the middle", 1+strings.Count(p.s[:min(p.i, len(p.s))], "\n"))
		default:
			panic(x)
		}
	}()
	b = &Block{}
	b.signature, b.Body = p.body(0)
	return b, nil
}

func (p *source) fail(format string, args ...any) {
	at := min(p.i, len(p.s))
	panic(syntaxError{fmt.Sprintf("line %d: %s near %.60q", 1+strings.Count(p.s[:at], "\n"), fmt.Sprintf(format, args...), p.s[at:])})
}

func (p *source) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *source) has(s string) bool { return strings.HasPrefix(p.s[p.i:], s) }

// blank skips blanks and comments; with lines, line ends and semicolons too.
func (p *source) blank(lines bool) {
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == ' ' || c == '\t' || lines && (c == '\n' || c == ';'):
			p.i++
		case p.has("<#"):
			p.i += strings.Index(p.s[p.i:], "#>") + 2
		case c == '#':
			for p.i < len(p.s) && p.s[p.i] != '\n' {
				p.i++
			}
		default:
			return
		}
	}
}

func (p *source) expect(s string) {
	p.blank(false)
	if !p.has(s) {
		p.fail("want %q", s)
	}
	p.i += len(s)
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func (p *source) word() string {
	j := p.i
	for j < len(p.s) && (isWord(p.s[j]) || p.s[j] == '-') {
		j++
	}
	return p.s[p.i:j]
}

// body is a list of statements up to a closing byte, with a param block first.
func (p *source) body(end byte) (s signature, list []Node) {
	args := p.args
	p.args = false
	s, list = p.statements(end)
	p.args = args
	return s, list
}

func (p *source) statements(end byte) (s signature, list []Node) {
	for {
		p.blank(true)
		if p.i >= len(p.s) {
			if end != 0 {
				p.fail("want %q", end)
			}
			return
		}
		if p.s[p.i] == end {
			p.i++
			return
		}
		if p.has("[CmdletBinding(") {
			s.asks = strings.Contains(p.attribute(), "SupportsShouldProcess = $true")
			continue
		}
		if p.word() == "param" {
			p.i += len("param")
			s.params = p.params()
			continue
		}
		list = append(list, p.statement())
	}
}

// attribute reads over an attribute and returns its text.
func (p *source) attribute() string {
	from := p.i
	n := strings.Index(p.s[from:], ")]")
	if n < 0 {
		p.fail("attribute without an end")
	}
	p.i += n + len(")]")
	return p.s[from:p.i]
}

func (p *source) params() (list []parameter) {
	p.expect("(")
	mandatory := false
	add := func(typ string) {
		list = append(list, parameter{name: p.variable().Name, typ: typ, mandatory: mandatory})
		p.initial(&list[len(list)-1])
		mandatory = false
	}
	for {
		p.blank(true)
		switch {
		case p.has(")"):
			p.i++
			return
		case p.has(","):
			p.i++
		case p.has("[Parameter("):
			mandatory = strings.Contains(p.attribute(), "Mandatory = $true")
		case p.has("["):
			typ := p.typeName()
			p.blank(true)
			add(typ)
		case p.has("$"):
			add("")
		default:
			p.fail("parameter")
		}
	}
}

func (p *source) initial(to *parameter) {
	p.blank(false)
	if p.has("=") {
		p.i++
		to.value = p.unary()
	}
}

func (p *source) typeName() string {
	p.expect("[")
	depth, j := 1, p.i
	for depth > 0 {
		switch p.s[p.i] {
		case '[':
			depth++
		case ']':
			depth--
		}
		p.i++
	}
	return strings.ToLower(p.s[j : p.i-1])
}

func (p *source) braces() []Node {
	p.blank(true)
	p.expect("{")
	_, list := p.body('}')
	return list
}

func (p *source) condition() Node {
	p.expect("(")
	_, list := p.body(')')
	return &paren{list}
}

// deeper guards the stack.
func (p *source) deeper() {
	p.depth++
	if p.depth > deepest {
		p.fail("nested too deeply")
	}
}

func (p *source) statement() Node {
	p.deeper()
	n := p.oneStatement()
	p.depth--
	return n
}

func (p *source) oneStatement() Node {
	w := p.word()
	switch w {
	case "function":
		p.i += len(w)
		p.blank(false)
		f := &function{name: strings.ToLower(p.word()), fn: &Block{}}
		p.i += len(f.name)
		p.expect("{")
		f.fn.signature, f.fn.Body = p.body('}')
		return f
	case "if":
		p.i += len(w)
		n := &branch{}
		for {
			n.conds = append(n.conds, p.condition())
			n.bodies = append(n.bodies, p.braces())
			mark := p.i
			p.blank(true)
			switch p.word() {
			case "elseif":
				p.i += len("elseif")
			case "else":
				p.i += len("else")
				n.other = p.braces()
				return n
			default:
				p.i = mark
				return n
			}
		}
	case "foreach":
		p.i += len(w)
		p.expect("(")
		n := &foreach{name: p.variable().Name}
		p.expect("in")
		n.in = p.pipeline()
		p.blank(true)
		p.expect(")")
		n.body = p.braces()
		return n
	case "while":
		p.i += len(w)
		return &while{p.condition(), p.braces()}
	case "switch":
		p.i += len(w)
		n := &choice{on: p.condition()}
		p.expect("{")
		for p.blank(true); !p.has("}"); p.blank(true) {
			n.cases = append(n.cases, p.primary())
			n.bodies = append(n.bodies, p.braces())
		}
		p.i++
		return n
	case "try":
		p.i += len(w)
		n := &attempt{body: p.braces()}
		p.blank(true)
		if p.word() == "catch" {
			p.i += len("catch")
			n.catches, n.catch = true, p.braces()
		}
		mark := p.i
		p.blank(true)
		if p.word() != "finally" {
			p.i = mark
			return n
		}
		p.i += len("finally")
		n.finally = p.braces()
		return n
	case "return", "throw", "exit", "continue", "break":
		p.i += len(w)
		p.blank(false)
		n := &jump{word: w}
		if c := p.peek(); c != '\n' && c != '}' && c != ')' && c != ';' && c != 0 {
			n.x = p.pipeline()
		}
		return n
	}
	return p.pipeline()
}

func (p *source) pipeline() Node {
	first := p.element()
	p.blank(false)
	if _, command := first.(*command); !command {
		switch {
		case p.has("++"):
			p.i += 2
			return &assign{first, "+", &Literal{int64(1)}}
		case p.has("+=") || p.has("-="):
			op := p.s[p.i : p.i+1]
			p.i += 2
			p.blank(true)
			return &assign{first, op, p.statement()}
		case p.has("=") && !p.has("=="):
			p.i++
			p.blank(true)
			return &assign{first, "", p.statement()}
		}
	}
	parts := []Node{first}
	for p.blank(false); p.has("|"); p.blank(false) {
		p.i++
		p.blank(true)
		parts = append(parts, p.element())
	}
	if len(parts) == 1 {
		return first
	}
	return &pipe{parts}
}

func (p *source) element() Node {
	p.blank(false)
	c := p.peek()
	switch {
	case c == '&':
		p.i++
		p.blank(false)
		return p.arguments(&command{block: p.postfix(p.primary())})
	case c|0x20 >= 'a' && c|0x20 <= 'z':
		w := p.word()
		p.i += len(w)
		if p.has(".exe") {
			w += ".exe"
			p.i += len(".exe")
		}
		return p.arguments(&command{name: strings.ToLower(w)})
	}
	return p.expr()
}

func (p *source) arguments(c *command) *command {
	for {
		p.blank(false)
		switch b := p.peek(); {
		case b == 0 || strings.IndexByte("\n;|)}", b) >= 0:
			return c
		case p.has("6>&1"):
			p.i += len("6>&1")
			c.merge = true
		case b == '-' && p.i+1 < len(p.s) && p.s[p.i+1]|0x20 >= 'a' && p.s[p.i+1]|0x20 <= 'z':
			p.i++
			a := argument{name: strings.ToLower(p.word())}
			p.i += len(a.name)
			if p.has(":") {
				p.i++
				a.value = p.postfix(p.primary())
			}
			c.args = append(c.args, a)
		case b == '@' && isWord(p.s[p.i+1]):
			p.i++
			a := argument{splat: p.word()}
			p.i += len(a.splat)
			c.args = append(c.args, a)
		default:
			items := []Node{p.argument()}
			for p.blank(false); p.has(","); p.blank(false) {
				p.i++
				p.blank(true)
				items = append(items, p.argument())
			}
			var value Node = &Comma{items}
			if len(items) == 1 {
				value = items[0]
			}
			c.args = append(c.args, argument{value: value})
		}
	}
}

func (p *source) argument() Node {
	c := p.peek()
	if c >= '0' && c <= '9' || strings.IndexByte("$@('\"{[", c) >= 0 {
		return p.postfix(p.primary())
	}
	// A bare word.
	n := strings.IndexAny(p.s[p.i:], " \t\n;|)}(,'\"")
	if n < 0 {
		n = len(p.s) - p.i
	}
	if n == 0 {
		p.fail("argument")
	}
	w := p.s[p.i : p.i+n]
	p.i += n
	return &Literal{w}
}
