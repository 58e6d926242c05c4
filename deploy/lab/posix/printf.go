package posix

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// printf prints by a format: %s, %d, %i, %u, %x, %X, %o, %c, %b, %q, %(TIME)T.
func printf(_ context.Context, p *Proc) int {
	args := p.Args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		p.errf("printf: usage: printf [-v var] format [arguments]\n")
		return 2
	}
	format, args := args[0], args[1:]
	code := 0
	for {
		text, used, err := p.format(format, args)
		_, _ = io.WriteString(p.Stdout, text)
		if err != nil {
			code = p.Fail("bash: printf: %v", err)
		}
		if args = args[min(used, len(args)):]; len(args) == 0 || used == 0 {
			return code
		}
	}
}

func (p *Proc) format(format string, args []string) (text string, used int, failed error) {
	var b strings.Builder
	next := func() string {
		used++
		if used <= len(args) {
			return args[used-1]
		}
		return ""
	}
	for i := 0; i < len(format); i++ {
		switch format[i] {
		case '\\':
			s, n := escape(format[i:])
			b.WriteString(s)
			i += n - 1
		case '%':
			end := i + 1
			for end < len(format) && strings.IndexByte("-+ #0123456789.*", format[end]) >= 0 {
				end++
			}
			if end == len(format) {
				return b.String(), used, fmt.Errorf("`%s': missing format character", format[i:])
			}
			flags := format[i+1 : end]
			for strings.Contains(flags, "*") {
				flags = strings.Replace(flags, "*", next(), 1)
			}
			switch verb := format[end]; verb {
			case '%':
				b.WriteByte('%')
			case 's':
				fmt.Fprintf(&b, "%"+flags+"s", next())
			case 'c':
				if s := next(); s != "" {
					fmt.Fprintf(&b, "%"+flags+"s", s[:1])
				}
			case 'b':
				b.WriteString(escapes(next()))
			case 'q':
				b.WriteString(quoteWord(next()))
			case 'd', 'i', 'u', 'x', 'X', 'o':
				s := next()
				n, err := strconv.ParseInt(strings.TrimSpace(s), 0, 64)
				if err != nil && s != "" {
					failed = fmt.Errorf("%s: invalid number", s)
				}
				if verb == 'i' || verb == 'u' {
					verb = 'd'
				}
				fmt.Fprintf(&b, "%"+flags+string(verb), n)
			case '(':
				close := strings.Index(format[end:], ")T")
				if close < 0 {
					return b.String(), used, fmt.Errorf("`(': invalid format character")
				}
				at := p.Host.o.Clock.Now()
				if s := next(); s != "" && s != "-1" && s != "-2" {
					n, err := strconv.ParseInt(s, 10, 64)
					if err != nil {
						failed = fmt.Errorf("%s: invalid number", s)
					}
					at = time.Unix(n, 0)
				}
				b.WriteString(strftime(at.UTC(), format[end+1:end+close]))
				end += close + 1
			default:
				return b.String(), used, fmt.Errorf("`%c': invalid format character", verb)
			}
			i = end
		default:
			b.WriteByte(format[i])
		}
	}
	return b.String(), used, failed
}

// escape is the character that the start of s stands for, and its length there.
func escape(s string) (string, int) {
	if len(s) < 2 {
		return s, len(s)
	}
	if at := strings.IndexByte(`abfnrtve\"'`, s[1]); at >= 0 {
		return "\a\b\f\n\r\t\v\x1b\\\"'"[at : at+1], 2
	}
	digits := func(from, most int, set string) (string, int) {
		n := from
		for n < len(s) && n < from+most && strings.IndexByte(set, s[n]) >= 0 {
			n++
		}
		base := 8
		if len(set) > 8 {
			base = 16
		}
		v, err := strconv.ParseUint(s[from:n], base, 32)
		if err != nil {
			return s[:n], n
		}
		return string([]byte{byte(v)}), n
	}
	switch {
	case s[1] >= '0' && s[1] <= '7':
		return digits(1, 3, "01234567")
	case s[1] == 'x':
		return digits(2, 2, "0123456789abcdefABCDEF")
	}
	return s[:2], 2
}

func escapes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		text, n := escape(s[i:])
		b.WriteString(text)
		i += n
	}
	return b.String()
}

// quoteWord quotes as printf %q of bash does.
func quoteWord(s string) string {
	if s == "" {
		return "''"
	}
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) >= 0 {
		q, err := syntax.Quote(s, syntax.LangBash)
		if err != nil {
			return s // a NUL, which no argument holds
		}
		return q
	}
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if strings.IndexByte(" !\"#$&'()*,;<>?[\\]^`{|}", c) >= 0 || c == '~' && i == 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}
