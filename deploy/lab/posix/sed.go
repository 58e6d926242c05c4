package posix

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Programs of sed that are simulated: lines to print or delete, by number or
// expression, and substitutions. A program of awk prints fields.
var (
	sedSubst  = regexp.MustCompile(`^(?:(/(?:[^/\\]|\\.)*/|\d+|\$))?s(.)(.*)$`)
	sedAddr   = regexp.MustCompile(`^(/(?:[^/\\]|\\.)*/|\d+|\$)(?:,(\d+|\$))?([pdq])$`)
	awkFields = regexp.MustCompile(`^(?:/((?:[^/\\]|\\.)*)/\s*)?\{\s*print((?:\s+\$(?:\d+|NF)(?:\s*,\s*\$(?:\d+|NF))*)?)\s*;?\s*\}$`)
)

func sed(_ context.Context, p *Proc) int {
	o, err := p.parse("nEre:is quiet silent regexp-extended expression: in-place separate")
	if err != nil {
		return p.usage(err)
	}
	rest := o.rest
	var scripts []string
	if e := o.value("e", "expression"); e != "" {
		scripts = strings.Split(e, "\n")
	} else if len(rest) > 0 {
		scripts, rest = rest[:1], rest[1:]
	}
	compile := func(s string) (*regexp.Regexp, error) {
		if !o.has("E", "r", "regexp-extended") {
			s = basic2go(s)
		}
		return regexp.Compile(s)
	}
	type step func(line string, n int, last bool) (out string, print, drop bool)
	var steps []step
	addressed := func(a string) (func(string, int, bool) bool, error) {
		switch {
		case a == "":
			return func(string, int, bool) bool { return true }, nil
		case a == "$":
			return func(_ string, _ int, last bool) bool { return last }, nil
		case a[0] == '/':
			re, err := compile(a[1 : len(a)-1])
			return func(line string, _ int, _ bool) bool { return re.MatchString(line) }, err
		}
		want, err := strconv.Atoi(a)
		return func(_ string, n int, _ bool) bool { return n == want }, err
	}
	for _, script := range sedCommands(scripts) {
		if m := sedAddr.FindStringSubmatch(script); m != nil {
			from, err := addressed(m[1])
			if err != nil {
				return p.Fail("sed: -e expression #1: %v", err)
			}
			first, _ := strconv.Atoi(m[1])
			to, _ := strconv.Atoi(m[2])
			steps = append(steps, func(line string, n int, last bool) (string, bool, bool) {
				hit := from(line, n, last)
				if m[2] == "$" {
					hit = n >= first
				} else if m[2] != "" {
					hit = n >= first && n <= to
				}
				return line, hit && m[3] == "p", hit && m[3] == "d"
			})
			continue
		}
		m := sedSubst.FindStringSubmatch(script)
		if m == nil {
			return p.Fail("sed: -e expression #1, char 1: unknown command: %q is not simulated", script)
		}
		parts := splitEscaped(m[3], m[2][0])
		if len(parts) != 3 {
			return p.Fail("sed: -e expression #1, char %d: unterminated `s' command", len(script))
		}
		re, err := compile(parts[0])
		if err != nil {
			return p.Fail("sed: -e expression #1: %v", err)
		}
		on, err := addressed(m[1])
		if err != nil {
			return p.Fail("sed: -e expression #1: %v", err)
		}
		with, global, shows := replacement(parts[1]), strings.Contains(parts[2], "g"), strings.Contains(parts[2], "p")
		steps = append(steps, func(line string, n int, last bool) (string, bool, bool) {
			if !on(line, n, last) || !re.MatchString(line) {
				return line, false, false
			}
			if global {
				return re.ReplaceAllString(line, with), shows, false
			}
			at := re.FindStringSubmatchIndex(line)
			out := re.ExpandString([]byte(line[:at[0]]), with, line, at)
			return string(out) + line[at[1]:], shows, false
		})
	}
	quiet := o.has("n", "quiet", "silent")
	edit := func(b []byte) []byte {
		var out bytes.Buffer
		list := lines(b)
		for i, line := range list {
			dropped := false
			for _, s := range steps {
				var show bool
				line, show, dropped = s(line, i+1, i == len(list)-1)
				if show {
					fmt.Fprintln(&out, line)
				}
				if dropped {
					break
				}
			}
			if !quiet && !dropped {
				fmt.Fprintln(&out, line)
			}
		}
		return out.Bytes()
	}
	if o.has("i", "in-place") {
		code := 0
		for _, name := range rest {
			b, err := p.read(name)
			if err == nil {
				err = p.Host.o.Disk.WriteFile(p.abs(name), edit(b), 0o644)
			}
			if err != nil {
				code = p.Fail("sed: can't read %s: %s", name, reason(err))
			}
		}
		return code
	}
	return p.each(rest, func(_ string, b []byte) { _, _ = p.Stdout.Write(edit(b)) })
}

// sedCommands takes programs apart at semicolons and ends of lines that stand
// outside of addresses and substitutions.
func sedCommands(programs []string) []string {
	var list []string
	for _, s := range programs {
		start, left, sep := 0, 0, byte(0)
		for i := 0; i < len(s); i++ {
			c := s[i]
			switch {
			case c == '\\':
				i++
			case left > 0:
				if c == sep {
					left--
				}
			case c == '/':
				left, sep = 1, c
			case c == 's' && i+1 < len(s):
				i++
				left, sep = 2, s[i]
			case c == ';' || c == '\n':
				list = append(list, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
		list = append(list, strings.TrimSpace(s[start:]))
	}
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

// splitEscaped splits at a byte that no backslash precedes.
func splitEscaped(s string, sep byte) []string {
	var parts []string
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			if s[i+1] != sep {
				b.WriteByte('\\')
			}
			i++
			b.WriteByte(s[i])
		case s[i] == sep:
			parts = append(parts, b.String())
			b.Reset()
		default:
			b.WriteByte(s[i])
		}
	}
	return append(parts, b.String())
}

// replacement makes what regexp expands of what sed does.
func replacement(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '$':
			b.WriteString("$$")
		case s[i] == '&':
			b.WriteString("${0}")
		case s[i] == '\\' && i+1 < len(s):
			i++
			switch {
			case s[i] >= '0' && s[i] <= '9':
				b.WriteString("${" + s[i:i+1] + "}")
			case s[i] == 'n':
				b.WriteByte('\n')
			case s[i] == 't':
				b.WriteByte('\t')
			default:
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func awk(_ context.Context, p *Proc) int {
	o, err := parseOptions(p.Args, "F:v:", false)
	if err != nil || len(o.rest) == 0 {
		return p.Fail("usage: awk [-F fs] 'prog' [file ...]")
	}
	m := awkFields.FindStringSubmatch(strings.TrimSpace(o.rest[0]))
	if m == nil || o.has("v") {
		return p.Fail("awk: %q is not simulated: only '{print $N, ...}' is", o.rest[0])
	}
	var re *regexp.Regexp
	if m[1] != "" {
		if re, err = regexp.Compile(m[1]); err != nil {
			return p.Fail("awk: %v", err)
		}
	}
	return p.each(o.rest[1:], func(_ string, b []byte) {
		for _, line := range lines(b) {
			if re != nil && !re.MatchString(line) {
				continue
			}
			fields := strings.Fields(line)
			if sep := o.value("F"); sep != "" {
				fields = strings.Split(line, sep)
			}
			var out []string
			for word := range strings.FieldsFuncSeq(m[2], func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
				n := len(fields)
				if word != "$NF" {
					n, _ = strconv.Atoi(word[1:])
				}
				switch {
				case n == 0:
					out = append(out, line)
				case n <= len(fields):
					out = append(out, fields[n-1])
				default:
					out = append(out, "")
				}
			}
			if m[2] == "" {
				out = []string{line}
			}
			p.outf("%s\n", strings.Join(out, " "))
		}
	})
}
