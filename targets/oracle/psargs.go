package oracle

import "strings"

// arguments reads a command's arguments up to the end of the command.
func (p *psParser) arguments(cmd *psCommand) {
	if !p.enter() {
		return
	}
	defer p.leave()
	for !p.failed {
		p.inline()
		c := p.at(0)
		switch {
		case p.done() || p.newline() || strings.IndexByte(";|)}#", c) >= 0:
			return
		case c == '>' || (digit(c) || c == '*') && p.at(1) == '>':
			p.redirection()
		case c == '-' && letter(p.at(1)):
			cmd.args = append(cmd.args, p.parameter())
		case c == '@' && letter(p.at(1)):
			line := p.line()
			p.pos++
			start := p.pos
			p.skipWhile(func() bool { return wordByte(p.at(0)) })
			cmd.args = append(cmd.args, psArg{line: line, splat: p.src[start:p.pos]})
		case strings.IndexByte(",]&<", c) >= 0:
			p.fail("unexpected %s", p.next())
		default:
			line := p.line()
			v := p.value()
			cmd.args = append(cmd.args, psArg{line: line, value: &v})
		}
	}
}

// parameter reads -Name or -Name:value.
func (p *psParser) parameter() psArg {
	arg := psArg{line: p.line()}
	p.pos++
	start := p.pos
	p.skipWhile(func() bool { return wordByte(p.at(0)) })
	arg.param = p.src[start:p.pos]
	switch c := p.at(0); {
	case c == ':':
		p.pos++
		p.inline()
		v := p.value()
		arg.value = &v
	case !p.done() && strings.IndexByte(" \t\r\n;|)}`", c) < 0:
		p.fail("unexpected %s after -%s", p.next(), arg.param)
	}
	return arg
}

// redirection reads >file, 2>&1 and their kin.
func (p *psParser) redirection() {
	p.skipWhile(func() bool { return p.at(0) != '>' })
	p.skipWhile(func() bool { return p.at(0) == '>' })
	if p.at(0) == '&' {
		if !digit(p.at(1)) {
			p.fail("a stream's number is wanted after >&")
			return
		}
		p.pos += 2
		return
	}
	p.inline()
	p.value()
}

// value reads one argument: words, strings, variables, groups, joined by commas into a list.
func (p *psParser) value() psValue {
	start := p.pos
	var v psValue
	for !p.failed {
		v.items = append(v.items, p.atom())
		v.text = p.src[start:p.pos]
		if p.inline(); p.at(0) != ',' {
			break
		}
		p.pos++
		p.blank()
	}
	return v
}

// atom reads one element of a list in argument mode, where a word needs no quotes.
func (p *psParser) atom() psItem {
	start := p.pos
	parts, literal := 0, true
	var text strings.Builder
	for !p.failed {
		c := p.at(0)
		switch {
		case p.done() || p.newline() || c == '\r' || strings.IndexByte(" \t;|)},&>", c) >= 0:
			if parts == 0 {
				p.fail("a value is wanted, not %s", p.next())
			}
			if !literal {
				return psItem{text: p.src[start:p.pos]}
			}
			return psItem{text: text.String(), literal: true}
		case c == '"' || c == '\'':
			s, ok := p.quoted()
			literal = literal && ok && parts == 0
			text.WriteString(s)
		case c == '$':
			literal = false
			p.dollar()
			p.trailers()
		case c == '(' && parts == 0:
			literal = false
			p.pos++
			p.statements(')')
			p.trailers()
		case c == '@' && parts == 0:
			literal = false
			p.atSign()
			p.trailers()
		case c == '{' && parts == 0:
			literal = false
			p.scriptBlock()
			p.trailers()
		case c == '(' || c == '{':
			p.fail("unexpected %s", p.next())
		case c == '`':
			literal = false
			p.step(2)
		default:
			text.WriteByte(c)
			p.pos++
		}
		parts++
	}
	return psItem{}
}

// trailers reads the members, indexes and calls that follow a variable or a group.
func (p *psParser) trailers() {
	for !p.failed {
		switch c := p.at(0); {
		case c == '.' && (letter(p.at(1)) || p.at(1) == '$'), p.starts("::"):
			p.member()
			if p.at(0) == '(' {
				p.pos++
				p.args(')')
			}
		case c == '[':
			p.pos++
			p.args(']')
		default:
			return
		}
	}
}
