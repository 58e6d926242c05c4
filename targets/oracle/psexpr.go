package oracle

import (
	"slices"
	"strings"
)

// expression reads an expression statement, an assignment's right side included.
func (p *psParser) expression() { p.operands(false, "") }

// args reads the arguments of a method call, an attribute or an index up to and over the closing byte.
func (p *psParser) args(end byte) {
	p.operands(true, "")
	switch {
	case p.done():
		p.fail("%q is missing", end)
	case p.at(0) == end:
		p.pos++
	default:
		p.fail("unexpected %s", p.next())
	}
}

// operands reads operands and operators. listed is the inside of parentheses or brackets, where lines do not end an expression and
// Name = value is a named argument; stop names further bytes to end at.
func (p *psParser) operands(listed bool, stop string) {
	if !p.enter() {
		return
	}
	defer p.leave()
	start := p.pos
	operand := false // whether the last token was a value, after which a line may end
	cast := false    // whether it was the type of a cast, as in [int](Get-It): what follows is cast, not called
	for {
		gap := p.pos
		p.inline()
		joined := gap == p.pos && p.pos > start // no blank before this token: a call, an index, a member
		c := p.at(0)
		typed := cast
		cast = false
		switch {
		case p.done() || strings.IndexByte(stop+";|)}]", c) >= 0:
			return
		case p.newline() || c == '#':
			if !listed && operand {
				return
			}
			p.blank()
		case c == '"' || c == '\'':
			p.quoted()
			operand = true
		case c == '(':
			p.pos++
			if joined && operand && !typed {
				p.args(')')
			} else {
				p.statements(')')
			}
			operand = true
		case c == '$':
			p.dollar()
			operand = true
		case c == '@':
			p.atSign()
			operand = true
		case c == '{':
			p.scriptBlock()
			operand = true
		case c == '[':
			attr := p.pos
			p.pos++
			p.args(']')
			p.fn.binding = p.fn.binding || strings.HasPrefix(strings.ToLower(p.src[attr:p.pos]), "[cmdletbinding")
			cast = typed || !operand
			operand = true
		case digit(c):
			p.skipWhile(func() bool { return wordByte(p.at(0)) || p.at(0) == '.' && digit(p.at(1)) })
			operand = true
		case p.starts("::") || c == '.' && operand && joined && p.at(1) != '.':
			p.member()
			operand = true
		case p.starts(".."):
			p.pos += 2
			operand = false
		case c == '=':
			if p.at(1) == '=' {
				p.fail("== is no operator: -eq is")
				return
			}
			p.pos++
			if !listed {
				p.assigned(p.src[start : p.pos-1])
				return
			}
			operand = false
		case c == ',' || c == '!':
			p.pos++
			operand = false
		case c == '-' && letter(p.at(1)):
			p.pos++
			name := p.word()
			if !psOperator(name) {
				p.fail("-%s is no operator", name)
				return
			}
			p.pos += len(name)
			operand = false
		case strings.IndexByte("+-*/%", c) >= 0:
			p.arithmetic()
			// ++ and -- follow or precede a value; the others want one.
			operand = operand && (p.src[p.pos-1] == c && p.pos-2 >= start && p.src[p.pos-2] == c)
		case c == '>':
			p.redirection()
		case listed && (letter(c) || c == '.'):
			// The name in [Name], Name(...) or Name = value. A bare word means nothing else here.
			p.skipWhile(func() bool { return wordByte(p.at(0)) || p.at(0) == '.' || p.at(0) == '`' })
			operand = true
		default:
			p.fail("unexpected %s in an expression", p.next())
			return
		}
	}
}

// arithmetic takes an operator of + - * / %, doubled or with = behind it.
func (p *psParser) arithmetic() {
	c := p.at(0)
	p.pos++
	if p.at(0) == c && (c == '+' || c == '-') {
		p.pos++
	}
}

// assigned reads what is assigned to target. A hashtable given to a plain variable is kept for the command it is splatted into.
func (p *psParser) assigned(target string) {
	p.blank()
	start := p.pos
	if c := p.at(0); p.done() || c == ';' || c == ')' || c == '}' {
		p.fail("an assignment without a value")
		return
	}
	p.statement()
	if pairs, ok := p.tableAt[start]; ok {
		p.out.tables[variableName(target)] = pairs
	}
}

// variableName is the lower-case name of a variable without $ and scope.
func variableName(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	s = strings.TrimPrefix(s, "$")
	return s[strings.LastIndexByte(s, ':')+1:]
}

// psOperator says whether -name is an operator of Windows PowerShell 5.1. Comparison operators may carry c or i in front.
func psOperator(name string) bool {
	name = strings.ToLower(name)
	if slices.Contains([]string{"and", "or", "xor", "not", "band", "bor", "bxor", "bnot", "shl", "shr", "is", "isnot", "as", "f", "join"}, name) {
		return true
	}
	compare := []string{
		"eq", "ne", "gt", "ge", "lt", "le", "like", "notlike", "match", "notmatch",
		"contains", "notcontains", "in", "notin", "replace", "split",
	}
	if slices.Contains(compare, name) {
		return true
	}
	return len(name) > 1 && (name[0] == 'c' || name[0] == 'i') && slices.Contains(compare, name[1:])
}

// member reads .Name or ::Name; the arguments of a call follow as the next token.
func (p *psParser) member() {
	p.pos += len("::")
	if p.src[p.pos-2] == '.' {
		p.pos--
	}
	switch c := p.at(0); {
	case wordByte(c):
		p.skipWhile(func() bool { return wordByte(p.at(0)) })
	case c == '$':
		p.dollar()
	case c == '"' || c == '\'':
		p.quoted()
	default:
		p.fail("a member's name is wanted, not %s", p.next())
	}
}

// dollar reads a variable or $( ... ).
func (p *psParser) dollar() {
	if p.at(1) == '(' {
		p.pos += 2
		p.statements(')')
		return
	}
	p.variable()
}

// variable reads $name, $scope:name, ${any name} or one of $? $^ $$, and returns the name without its scope.
func (p *psParser) variable() string {
	p.pos++
	start := p.pos
	switch c := p.at(0); {
	case c == '{':
		end := strings.IndexByte(p.src[p.pos:], '}')
		if end < 0 {
			p.fail("${ has no end")
			return ""
		}
		p.pos += end + 1
		return p.src[start+1 : p.pos-1]
	case c == '?' || c == '^' || c == '$':
		p.pos++
		return p.src[start:p.pos]
	case !wordByte(c):
		p.fail("a variable's name is wanted, not %s", p.next())
		return ""
	}
	p.skipWhile(func() bool { return wordByte(p.at(0)) })
	if p.at(0) == ':' && wordByte(p.at(1)) {
		p.pos++
		start = p.pos
		p.skipWhile(func() bool { return wordByte(p.at(0)) })
	}
	return p.src[start:p.pos]
}

// atSign reads @( ), @{ } or a here-string.
func (p *psParser) atSign() {
	switch p.at(1) {
	case '(':
		p.pos += 2
		p.statements(')')
	case '{':
		p.hashtable()
	case '\'', '"':
		p.hereString()
	default:
		p.fail("unexpected %s", p.next())
	}
}

func (p *psParser) hashtable() {
	at := p.pos
	p.pos += 2
	pairs := []psPair{}
	for {
		if p.blank(); p.at(0) == ';' {
			p.pos++
			continue
		}
		if p.done() {
			p.fail("a hashtable has no end")
			return
		}
		if p.at(0) == '}' {
			p.pos++
			p.tableAt[at] = pairs
			return
		}
		start := p.pos
		switch c := p.at(0); {
		case c == '"' || c == '\'':
			p.quoted()
		case c == '$':
			p.dollar()
		case wordByte(c):
			p.skipWhile(func() bool { return wordByte(p.at(0)) || p.at(0) == '-' })
		default:
			p.fail("a key is wanted, not %s", p.next())
			return
		}
		key := strings.Trim(p.src[start:p.pos], `'"`)
		p.expect('=')
		p.blank()
		start = p.pos
		p.statement()
		pairs = append(pairs, psPair{key, strings.TrimSpace(p.src[start:p.pos])})
		p.inline()
		if c := p.at(0); !p.done() && !p.newline() && c != ';' && c != '}' && c != '#' {
			p.fail("unexpected %s in a hashtable", p.next())
			return
		}
	}
}

func (p *psParser) hereString() {
	quote := p.src[p.pos+1 : p.pos+2]
	first, rest, _ := strings.Cut(p.src[p.pos+2:], "\n")
	end := strings.Index("\n"+rest, "\n"+quote+"@")
	if strings.TrimSpace(first) != "" || end < 0 {
		p.fail("a here-string begins and ends on lines of its own")
		return
	}
	p.pos += 2 + len(first) + 1 + end + 2
}

// quoted reads a string and returns its value, if that is known without running the script.
func (p *psParser) quoted() (text string, literal bool) {
	if !p.enter() {
		return "", false
	}
	defer p.leave()
	quote := p.at(0)
	literal = true
	var b strings.Builder
	for p.pos++; !p.done(); {
		c := p.at(0)
		switch {
		case c == quote && p.at(1) == quote:
			b.WriteByte(c)
			p.pos += 2
		case c == quote:
			p.pos++
			return b.String(), literal
		case quote == '"' && c == '`':
			literal = false
			p.step(2)
		case quote == '"' && c == '$' && (p.at(1) == '(' || p.at(1) == '{' || wordByte(p.at(1))):
			literal = false
			p.dollar()
			if p.at(0) == ':' && p.at(1) != ':' && wordByte(p.src[p.pos-1]) {
				p.fail("a colon after a variable in a string makes it a scope: ${name}: is meant")
			}
		default:
			b.WriteByte(c)
			p.pos++
		}
	}
	p.fail("a string has no end")
	return "", false
}
