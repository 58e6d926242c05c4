package windows

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The parser of the small PowerShell that runs the emitted scripts in tests
// (psrun_test.go). It knows what the engine uses, and panics on all else.

type (
	psNode interface{}

	psLiteral struct{ value any }
	psVar     struct{ scope, name string }
	psMember  struct {
		of   psNode
		name string
		dyn  psNode // .$field
		args []psNode
		call bool
	}
	psStatic struct {
		typ, name string
		args      []psNode
		call      bool
	}
	psIndex struct{ of, at psNode }
	psUnary struct {
		op string
		x  psNode
	}
	psCast struct {
		typ string
		x   psNode
	}
	psBinary struct {
		op   string
		a, b psNode
	}
	psComma struct{ items []psNode }
	psArray struct{ body []psNode }
	psParen struct{ body []psNode }
	psHash  struct{ keys, values []psNode }
	psBlock struct {
		params []psParam
		body   []psNode
	}
	psAssign struct {
		to psNode
		op string
		x  psNode
	}
	psPipe    struct{ parts []psNode }
	psCommand struct {
		name  string
		block psNode // & $block
		args  []psArgument
	}
	psArgument struct {
		name  string // parameter
		value psNode // nil for a parameter without a colon
		splat string
	}
	psIf struct {
		conds  []psNode
		bodies [][]psNode
		other  []psNode
	}
	psForeach struct {
		name string
		in   psNode
		body []psNode
	}
	psWhile struct {
		cond psNode
		body []psNode
	}
	psSwitch struct {
		on     psNode
		cases  []psNode
		bodies [][]psNode
	}
	psTry  struct{ body, catch []psNode }
	psJump struct {
		word string
		x    psNode
	}
	psFunc struct {
		name string
		fn   *psBlock
	}
	psParam struct {
		name, typ string
		value     psNode
	}
)

type psSource struct {
	s string
	i int
}

func psParse(src string) *psBlock {
	p := &psSource{s: strings.ReplaceAll(strings.TrimPrefix(src, "\ufeff"), "\r\n", "\n")}
	b := &psBlock{}
	b.params, b.body = p.body(0)
	return b
}

func (p *psSource) fail(format string, args ...any) {
	panic(fmt.Sprintf("line %d: %s near %.60q", 1+strings.Count(p.s[:p.i], "\n"), fmt.Sprintf(format, args...), p.s[p.i:]))
}

func (p *psSource) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *psSource) has(s string) bool { return strings.HasPrefix(p.s[p.i:], s) }

// blank skips blanks and comments; with lines, line ends and semicolons too.
func (p *psSource) blank(lines bool) {
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

func (p *psSource) expect(s string) {
	p.blank(false)
	if !p.has(s) {
		p.fail("want %q", s)
	}
	p.i += len(s)
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func (p *psSource) word() string {
	j := p.i
	for j < len(p.s) && (isWord(p.s[j]) || p.s[j] == '-') {
		j++
	}
	return p.s[p.i:j]
}

// body is a list of statements up to a closing byte, with a param block first.
func (p *psSource) body(end byte) (params []psParam, list []psNode) {
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
			p.i += strings.Index(p.s[p.i:], ")]") + 2
			continue
		}
		if p.word() == "param" {
			p.i += len("param")
			params = p.params()
			continue
		}
		list = append(list, p.statement())
	}
}

func (p *psSource) params() (list []psParam) {
	p.expect("(")
	for {
		p.blank(true)
		switch {
		case p.has(")"):
			p.i++
			return
		case p.has(","):
			p.i++
		case p.has("[Parameter("):
			p.i += strings.Index(p.s[p.i:], ")]") + 2
		case p.has("["):
			list = append(list, psParam{typ: p.typeName()})
			p.blank(true)
			list[len(list)-1].name = p.variable().name
			p.initial(&list[len(list)-1])
		case p.has("$"):
			list = append(list, psParam{name: p.variable().name})
			p.initial(&list[len(list)-1])
		default:
			p.fail("parameter")
		}
	}
}

func (p *psSource) initial(to *psParam) {
	p.blank(false)
	if p.has("=") {
		p.i++
		to.value = p.unary()
	}
}

func (p *psSource) typeName() string {
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

func (p *psSource) braces() []psNode {
	p.blank(true)
	p.expect("{")
	_, list := p.body('}')
	return list
}

func (p *psSource) condition() psNode {
	p.expect("(")
	_, list := p.body(')')
	return &psParen{list}
}

func (p *psSource) statement() psNode {
	w := p.word()
	switch w {
	case "function":
		p.i += len(w)
		p.blank(false)
		f := &psFunc{name: strings.ToLower(p.word()), fn: &psBlock{}}
		p.i += len(f.name)
		p.expect("{")
		f.fn.params, f.fn.body = p.body('}')
		return f
	case "if":
		p.i += len(w)
		n := &psIf{}
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
		n := &psForeach{name: p.variable().name}
		p.expect("in")
		n.in = p.pipeline()
		p.blank(true)
		p.expect(")")
		n.body = p.braces()
		return n
	case "while":
		p.i += len(w)
		return &psWhile{p.condition(), p.braces()}
	case "switch":
		p.i += len(w)
		n := &psSwitch{on: p.condition()}
		p.expect("{")
		for p.blank(true); !p.has("}"); p.blank(true) {
			n.cases = append(n.cases, p.primary())
			n.bodies = append(n.bodies, p.braces())
		}
		p.i++
		return n
	case "try":
		p.i += len(w)
		n := &psTry{body: p.braces()}
		p.blank(true)
		p.expect("catch")
		n.catch = p.braces()
		return n
	case "return", "throw", "exit", "continue", "break":
		p.i += len(w)
		p.blank(false)
		n := &psJump{word: w}
		if c := p.peek(); c != '\n' && c != '}' && c != ')' && c != ';' && c != 0 {
			n.x = p.pipeline()
		}
		return n
	}
	return p.pipeline()
}

func (p *psSource) pipeline() psNode {
	first := p.element()
	p.blank(false)
	if _, command := first.(*psCommand); !command {
		switch {
		case p.has("++"):
			p.i += 2
			return &psAssign{first, "+", &psLiteral{int64(1)}}
		case p.has("=") && !p.has("=="):
			p.i++
			p.blank(true)
			return &psAssign{first, "", p.statement()}
		}
	}
	parts := []psNode{first}
	for p.blank(false); p.has("|"); p.blank(false) {
		p.i++
		p.blank(true)
		parts = append(parts, p.element())
	}
	if len(parts) == 1 {
		return first
	}
	return &psPipe{parts}
}

func (p *psSource) element() psNode {
	p.blank(false)
	c := p.peek()
	switch {
	case c == '&':
		p.i++
		p.blank(false)
		return p.arguments(&psCommand{block: p.postfix(p.primary())})
	case c|0x20 >= 'a' && c|0x20 <= 'z':
		w := p.word()
		p.i += len(w)
		return p.arguments(&psCommand{name: strings.ToLower(w)})
	}
	return p.expr()
}

func (p *psSource) arguments(c *psCommand) *psCommand {
	for {
		p.blank(false)
		switch b := p.peek(); {
		case b == 0 || strings.IndexByte("\n;|)}", b) >= 0:
			return c
		case b == '-' && p.i+1 < len(p.s) && p.s[p.i+1]|0x20 >= 'a' && p.s[p.i+1]|0x20 <= 'z':
			p.i++
			a := psArgument{name: strings.ToLower(p.word())}
			p.i += len(a.name)
			if p.has(":") {
				p.i++
				a.value = p.postfix(p.primary())
			}
			c.args = append(c.args, a)
		case b == '@' && isWord(p.s[p.i+1]):
			p.i++
			a := psArgument{splat: p.word()}
			p.i += len(a.splat)
			c.args = append(c.args, a)
		default:
			items := []psNode{p.argument()}
			for p.blank(false); p.has(","); p.blank(false) {
				p.i++
				p.blank(true)
				items = append(items, p.argument())
			}
			var value psNode = &psComma{items}
			if len(items) == 1 {
				value = items[0]
			}
			c.args = append(c.args, psArgument{value: value})
		}
	}
}

func (p *psSource) argument() psNode {
	c := p.peek()
	if c >= '0' && c <= '9' || strings.IndexByte("$@('\"{[", c) >= 0 {
		return p.postfix(p.primary())
	}
	w := p.word()
	if w == "" {
		p.fail("argument")
	}
	p.i += len(w)
	return &psLiteral{w}
}

// Operators by rank, low first; all bind to the left.
var psRanks = [][]string{
	{"-and", "-or"},
	{"-eq", "-ne", "-gt", "-ge", "-lt", "-le", "-contains", "-notcontains", "-like", "-match", "-replace", "-join", "-is"},
	{"+", "-"},
	{"/", "*"},
	{"-f"},
	{".."},
}

func (p *psSource) expr() psNode { return p.binary(0) }

func (p *psSource) binary(rank int) psNode {
	if rank == len(psRanks) {
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
		x = &psBinary{op, x, p.binary(rank + 1)}
	}
}

func (p *psSource) operator(rank int) string {
	if p.has("++") {
		return ""
	}
	for _, op := range psRanks[rank] {
		if op[0] == '-' && len(op) > 1 {
			if strings.EqualFold("-"+strings.TrimPrefix(p.wordAt(1), ""), op) && p.peek() == '-' {
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

func (p *psSource) wordAt(skip int) string {
	if p.i+skip > len(p.s) {
		return ""
	}
	q := psSource{p.s, p.i + skip}
	return q.word()
}

func (p *psSource) comma() psNode {
	items := []psNode{p.unary()}
	for p.blank(false); p.has(","); p.blank(false) {
		p.i++
		p.blank(true)
		items = append(items, p.unary())
	}
	if len(items) == 1 {
		return items[0]
	}
	return &psComma{items}
}

func (p *psSource) unary() psNode {
	p.blank(false)
	switch {
	case strings.EqualFold(p.wordAt(0), "-not"):
		p.i += 4
		return &psUnary{"-not", p.unary()}
	case p.has("-") && p.s[p.i+1] >= '0' && p.s[p.i+1] <= '9':
		p.i++
		return &psUnary{"-", p.unary()}
	case p.has("["):
		mark := p.i
		typ := p.typeName()
		if p.has("::") {
			p.i = mark
			return p.postfix(p.primary())
		}
		if p.has(")") { // the type itself
			return &psLiteral{typ}
		}
		return &psCast{typ, p.unary()}
	}
	return p.postfix(p.primary())
}

func (p *psSource) variable() *psVar {
	p.expect("$")
	w := p.s[p.i:]
	n := 0
	for n < len(w) && (isWord(w[n]) || w[n] == ':' && n > 0 && n+1 < len(w) && isWord(w[n+1])) {
		n++
	}
	p.i += n
	v := &psVar{name: strings.ToLower(w[:n])}
	if scope, name, found := strings.Cut(v.name, ":"); found {
		v.scope, v.name = scope, name
	}
	if v.name == "" {
		p.fail("variable")
	}
	return v
}

func (p *psSource) primary() psNode {
	p.blank(false)
	switch c := p.peek(); {
	case c == '$':
		return p.variable()
	case c == '\'':
		return &psLiteral{p.single()}
	case c == '"':
		s := p.quoted('"')
		if strings.ContainsAny(s, "$`") {
			p.fail("expandable string")
		}
		return &psLiteral{s}
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
		return &psLiteral{n}
	case p.has("@("):
		p.i += 2
		_, list := p.body(')')
		return &psArray{list}
	case p.has("@{"):
		p.i += 2
		return p.hash()
	case c == '(':
		p.i++
		_, list := p.body(')')
		return &psParen{list}
	case c == '{':
		p.i++
		b := &psBlock{}
		b.params, b.body = p.body('}')
		return b
	case c == '[':
		typ := p.typeName()
		p.expect("::")
		n := &psStatic{typ: typ, name: p.word()}
		p.i += len(n.name)
		n.args, n.call = p.callArgs()
		return n
	}
	p.fail("expression")
	return nil
}

// single is a literal in single quotes, of which PowerShell knows five
// (CharTraits.IsSingleQuote): any one ends it, any two stand for the first.
func (p *psSource) single() string {
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

func (p *psSource) quoted(q byte) string {
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

func (p *psSource) hash() psNode {
	h := &psHash{}
	for {
		p.blank(true)
		if p.has("}") {
			p.i++
			return h
		}
		if w := p.word(); w != "" {
			p.i += len(w)
			h.keys = append(h.keys, &psLiteral{w})
		} else {
			h.keys = append(h.keys, p.primary())
		}
		p.expect("=")
		p.blank(true)
		h.values = append(h.values, p.statement())
	}
}

func (p *psSource) callArgs() (args []psNode, call bool) {
	if !p.has("(") {
		return nil, false
	}
	p.i++
	for p.blank(true); !p.has(")"); p.blank(true) {
		args = append(args, p.binary(0))
		p.blank(true)
		if p.has(",") {
			p.i++
		}
	}
	p.i++
	// A list of arguments is no array.
	if len(args) == 1 {
		if c, ok := args[0].(*psComma); ok {
			args = c.items
		}
	}
	return args, true
}

func (p *psSource) postfix(x psNode) psNode {
	for {
		switch {
		case p.has("..") || !(p.has(".") || p.has("[")):
			return x
		case p.has("["):
			p.i++
			at := p.expr()
			p.blank(false)
			p.expect("]")
			x = &psIndex{x, at}
		default:
			p.i++
			m := &psMember{of: x}
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
