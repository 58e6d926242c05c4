package oracle

import (
	"fmt"
	"slices"
	"strings"
)

// psScript is what the check needs to know of a script: what it calls, what it defines, and what is wrong with its syntax.
type psScript struct {
	commands []psCommand
	funcs    map[string]*psFunc  // lower-case name
	tables   map[string][]psPair // lower-case variable -> the hashtable last assigned to it
	findings []psFinding
}

// psFinding is one thing wrong, with a code of testdata/oracles/README.md.
type psFinding struct {
	line int
	code string
	text string
}

func (f psFinding) String() string { return fmt.Sprintf("line %d: %s %s", f.line, f.code, f.text) }

// psFunc is a function the script defines.
type psFunc struct {
	switches map[string]bool // lower-case parameter -> whether it is a switch
	binding  bool            // [CmdletBinding()] or [Parameter()]: takes the common parameters
}

type psPair struct{ name, text string }

// psCommand is one command with its arguments in order.
type psCommand struct {
	line  int
	name  string
	args  []psArg
	piped bool // takes input from a pipeline
}

// psArg is a parameter (param set), a splatted variable (splat set), or a value.
type psArg struct {
	line  int
	param string
	splat string
	value *psValue // of a parameter only when joined by a colon
}

// psValue is the text of one argument; items are the elements of a list, one if it is none.
type psValue struct {
	text  string
	items []psItem
}

// psItem is one element. literal says that text is the value itself, known without running the script.
type psItem struct {
	text    string
	literal bool
}

// parsePS parses the subset of Windows PowerShell 5.1 that is emitted: functions, script blocks, control flow, pipelines, expressions,
// strings. What lies outside it (classes, workflows, syntax of version 6 and later) is a finding, never passed over.
func parsePS(src string) *psScript {
	s := &psScript{funcs: map[string]*psFunc{}, tables: map[string][]psPair{}}
	p := &psParser{src: src, out: s, fn: &psFunc{switches: map[string]bool{}}, tableAt: map[int][]psPair{}}
	p.statements(0)
	return s
}

// psDepth bounds nesting, so that hostile text cannot exhaust the stack.
const psDepth = 200

type psParser struct {
	src     string
	pos     int
	depth   int
	failed  bool
	out     *psScript
	fn      *psFunc          // the function whose body is being read
	tableAt map[int][]psPair // offset of @{ -> its pairs
}

func (p *psParser) line() int { return 1 + strings.Count(p.src[:p.pos], "\n") }

// fail records a syntax error and ends the parse: every loop stops at the end of the text.
func (p *psParser) fail(format string, args ...any) {
	if !p.failed {
		p.failed = true
		p.out.findings = append(p.out.findings, psFinding{p.line(), "E-SYNTAX", fmt.Sprintf(format, args...)})
	}
	p.pos = len(p.src)
}

// at returns the byte n after the position, 0 past the end.
func (p *psParser) at(n int) byte {
	if p.pos+n >= len(p.src) {
		return 0
	}
	return p.src[p.pos+n]
}

func (p *psParser) done() bool           { return p.pos >= len(p.src) }
func (p *psParser) starts(s string) bool { return strings.HasPrefix(p.src[p.pos:], s) }
func (p *psParser) newline() bool        { return p.at(0) == '\n' || p.starts("\r\n") }
func letter(c byte) bool                 { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
func digit(c byte) bool                  { return c >= '0' && c <= '9' }
func wordByte(c byte) bool               { return letter(c) || digit(c) }
func (p *psParser) skipWhile(f func() bool) {
	for !p.done() && f() {
		p.pos++
	}
}

// step moves n bytes on, to the end at most: an escape may be the last byte of the script.
func (p *psParser) step(n int) { p.pos = min(p.pos+n, len(p.src)) }

// inline skips blanks, line continuations and block comments, but stays on the logical line.
func (p *psParser) inline() {
	for !p.done() {
		switch {
		case p.at(0) == ' ' || p.at(0) == '\t':
			p.pos++
		case p.starts("`\r\n"):
			p.pos += 3
		case p.starts("`\n"):
			p.pos += 2
		case p.starts("<#"):
			end := strings.Index(p.src[p.pos:], "#>")
			if end < 0 {
				p.fail("a comment has no end")
				return
			}
			p.pos += end + 2
		default:
			return
		}
	}
}

// blank skips everything that separates statements but the semicolon.
func (p *psParser) blank() {
	for !p.done() {
		p.inline()
		switch {
		case p.newline() || p.at(0) == '\r':
			p.pos++
		case p.at(0) == '#':
			p.skipWhile(func() bool { return p.at(0) != '\n' })
		default:
			return
		}
	}
}

func (p *psParser) expect(c byte) {
	if p.blank(); p.at(0) != c {
		p.fail("%q is wanted, not %s", c, p.next())
		return
	}
	p.pos++
}

// next quotes what stands at the position, for messages.
func (p *psParser) next() string {
	if p.done() {
		return "the end"
	}
	text, _, _ := strings.Cut(p.src[p.pos:], "\n")
	return fmt.Sprintf("%q", text[:min(len(text), 20)])
}

// enter counts one level of nesting; leave gives it back.
func (p *psParser) enter() bool {
	if p.depth++; p.depth > psDepth {
		p.fail("nested more than %d deep", psDepth)
		return false
	}
	return true
}

func (p *psParser) leave() { p.depth-- }

// statements reads up to and over the closing byte; 0 is the end of the script.
func (p *psParser) statements(end byte) {
	if !p.enter() {
		return
	}
	defer p.leave()
	for {
		p.blank()
		switch c := p.at(0); {
		case p.done():
			if end != 0 {
				p.fail("%q is missing", end)
			}
			return
		case c == end:
			p.pos++
			return
		case c == ';':
			p.pos++
			continue
		}
		if p.statement() {
			continue // it ended with a block, and anything may follow
		}
		p.inline()
		if c := p.at(0); !p.done() && !p.newline() && c != ';' && c != '#' && c != end {
			p.fail("unexpected %s", p.next())
		}
	}
}

// word returns the keyword or command name at the position without taking it.
func (p *psParser) word() string {
	n := 0
	for strings.IndexByte(" \t\r\n;|&(){}[]\"'`,$@#<>=", p.at(n)) < 0 && p.at(n) != 0 {
		n++
	}
	return p.src[p.pos : p.pos+n]
}

// keyword takes the word if it is the one given.
func (p *psParser) keyword(want string) bool {
	if w := p.word(); strings.EqualFold(w, want) {
		p.pos += len(w)
		return true
	}
	return false
}

// clause takes a keyword that may stand on a later line, as else after a closing brace.
func (p *psParser) clause(want string) bool {
	start := p.pos
	p.blank()
	if p.keyword(want) {
		return true
	}
	p.pos = start
	return false
}

func (p *psParser) block() {
	p.expect('{')
	p.statements('}')
}

func (p *psParser) condition() {
	p.expect('(')
	p.statements(')')
}

// statement reads one statement and says whether it ended with a block.
func (p *psParser) statement() (block bool) {
	if !p.enter() {
		return false
	}
	defer p.leave()
	w := p.word()
	switch strings.ToLower(w) {
	case "if":
		p.pos += len(w)
		p.condition()
		p.block()
		for p.clause("elseif") {
			p.condition()
			p.block()
		}
		if p.clause("else") {
			p.block()
		}
	case "while":
		p.pos += len(w)
		p.condition()
		p.block()
	case "for":
		p.pos += len(w)
		p.condition()
		p.block()
	case "do":
		p.pos += len(w)
		p.block()
		if !p.clause("while") && !p.clause("until") {
			p.fail("do without while or until")
		}
		p.condition()
	case "foreach":
		p.pos += len(w)
		p.foreach()
	case "switch":
		p.pos += len(w)
		p.switches()
	case "try":
		p.pos += len(w)
		p.try()
	case "function", "filter":
		p.pos += len(w)
		p.function()
	case "param":
		p.pos += len(w)
		p.expect('(')
		p.params()
	case "begin", "process", "end":
		p.pos += len(w)
		p.block()
	case "return", "throw", "exit":
		p.pos += len(w)
		p.inline()
		if c := p.at(0); !p.done() && !p.newline() && c != ';' && c != '}' && c != ')' && c != '#' {
			p.pipeline()
		}
		return false
	case "break", "continue":
		p.pos += len(w)
		return false
	case "class", "enum", "using", "workflow", "data", "configuration", "trap", "dynamicparam", "parallel", "sequence", "inlinescript":
		p.fail("%s is outside the subset that is emitted", w)
	default:
		p.pipeline()
		return false
	}
	return true
}

func (p *psParser) foreach() {
	p.expect('(')
	if p.blank(); p.at(0) != '$' {
		p.fail("foreach wants a variable, not %s", p.next())
		return
	}
	p.variable()
	if p.blank(); !p.keyword("in") {
		p.fail("foreach wants in, not %s", p.next())
		return
	}
	p.statements(')')
	p.block()
}

func (p *psParser) switches() {
	for p.blank(); p.at(0) == '-'; p.blank() {
		w := p.word()
		if !slices.Contains([]string{"-regex", "-wildcard", "-exact", "-casesensitive"}, strings.ToLower(w)) {
			p.fail("switch has no option %s", w)
			return
		}
		p.pos += len(w)
	}
	p.condition()
	p.expect('{')
	for p.blank(); !p.done() && p.at(0) != '}'; p.blank() {
		if p.at(0) == ';' {
			p.pos++
			continue
		}
		if p.value(); p.failed {
			return
		}
		p.block()
	}
	p.expect('}')
}

func (p *psParser) try() {
	p.block()
	handled := false
	for p.clause("catch") {
		handled = true
		for p.blank(); p.at(0) == '[' || p.at(0) == ','; p.blank() {
			p.pos++
			if p.src[p.pos-1] == '[' {
				p.args(']')
			}
		}
		p.block()
	}
	if p.clause("finally") {
		handled = true
		p.block()
	}
	if !handled {
		p.fail("try without catch or finally")
	}
}

func (p *psParser) function() {
	p.inline()
	name := p.word()
	if name == "" {
		p.fail("function wants a name, not %s", p.next())
		return
	}
	p.pos += len(name)
	outer := p.fn
	p.fn = &psFunc{switches: map[string]bool{}}
	// A name may carry a scope: function script:Set-It.
	p.out.funcs[strings.ToLower(name[strings.LastIndexByte(name, ':')+1:])] = p.fn
	if p.blank(); p.at(0) == '(' {
		p.pos++
		p.params()
	}
	p.block()
	p.fn = outer
}

// params reads a parameter list after its opening parenthesis.
func (p *psParser) params() {
	for {
		isSwitch := false
		for p.blank(); p.at(0) == '['; p.blank() {
			start := p.pos
			p.pos++
			p.args(']')
			attr := strings.ToLower(p.src[start:p.pos])
			isSwitch = isSwitch || attr == "[switch]"
			p.fn.binding = p.fn.binding || strings.HasPrefix(attr, "[parameter")
		}
		switch p.at(0) {
		case ')':
			p.pos++
			return
		case ',':
			p.pos++
			continue
		case '$':
		default:
			p.fail("a parameter is wanted, not %s", p.next())
			return
		}
		name := p.variable()
		p.fn.switches[strings.ToLower(name)] = isSwitch
		if p.blank(); p.at(0) == '=' {
			p.pos++
			p.operands(true, ",)")
		}
	}
}

// scriptBlock reads { ... } as a value; its param() is its own.
func (p *psParser) scriptBlock() {
	outer := p.fn
	p.fn = &psFunc{switches: map[string]bool{}}
	p.block()
	p.fn = outer
}

func (p *psParser) pipeline() {
	for piped := false; ; piped = true {
		p.element(piped)
		p.inline()
		switch {
		case p.starts("||") || p.starts("&&"):
			p.fail("%s is not known to Windows PowerShell 5.1", p.src[p.pos:p.pos+2])
			return
		case p.at(0) != '|':
			return
		}
		p.pos++
		p.blank()
	}
}

// element reads one stage of a pipeline: an expression, a call through & or ., or a command.
func (p *psParser) element(piped bool) {
	c := p.at(0)
	switch {
	case c == '&' && p.at(1) != '&', c == '.' && (p.at(1) == ' ' || p.at(1) == '\t'):
		p.pos++
		p.inline()
		p.value()
		p.arguments(&psCommand{})
	case strings.IndexByte("$\"'([@{-+!,", c) >= 0 && c != 0 || digit(c) || c == '.' && digit(p.at(1)):
		p.expression()
	case letter(c) || c == '%' || c == '?' || c == '.' || c == '\\':
		cmd := psCommand{line: p.line(), name: p.word(), piped: piped}
		p.pos += len(cmd.name)
		if c := p.at(0); c == '=' || c == '"' || c == '\'' || c == '[' || c == '$' {
			p.fail("unexpected %s after %s", p.next(), cmd.name)
			return
		}
		p.arguments(&cmd)
		p.out.commands = append(p.out.commands, cmd)
	default:
		p.fail("unexpected %s", p.next())
	}
}
