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

// sedStep does one command of a program to a line, and says whether the line is
// printed now and whether that was the last of it.
type sedStep func(line string, n int, last bool) (out string, shows, drops bool)

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
	program := sedProgram{extended: o.has("E", "r", "regexp-extended")}
	for _, script := range sedCommands(scripts) {
		if err := program.add(script); err != nil {
			return p.Fail("sed: -e expression #1: %v", err)
		}
	}
	quiet := o.has("n", "quiet", "silent")
	if o.has("i", "in-place") {
		code := 0
		for _, name := range rest {
			b, err := p.read(name)
			if err == nil {
				err = p.Host.o.Disk.WriteFile(p.abs(name), program.edit(b, quiet), 0o644)
			}
			if err != nil {
				code = p.Fail("sed: can't read %s: %s", name, reason(err))
			}
		}
		return code
	}
	return p.each(rest, func(_ string, b []byte) { _, _ = p.Stdout.Write(program.edit(b, quiet)) })
}

// sedProgram are the commands of a call of sed.
type sedProgram struct {
	extended bool
	steps    []sedStep
}

// edit is a text as the program leaves it.
func (g *sedProgram) edit(b []byte, quiet bool) []byte {
	var out bytes.Buffer
	list := lines(b)
	for i, line := range list {
		dropped := false
		for _, s := range g.steps {
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

func (g *sedProgram) compile(s string) (*regexp.Regexp, error) {
	if !g.extended {
		s = basic2go(s)
	}
	return regexp.Compile(s)
}

// at is whether a line has an address.
func (g *sedProgram) at(address string) (func(line string, n int, last bool) bool, error) {
	switch {
	case address == "":
		return func(string, int, bool) bool { return true }, nil
	case address == "$":
		return func(_ string, _ int, last bool) bool { return last }, nil
	case address[0] == '/':
		re, err := g.compile(address[1 : len(address)-1])
		return func(line string, _ int, _ bool) bool { return re.MatchString(line) }, err
	}
	want, err := strconv.Atoi(address)
	return func(_ string, n int, _ bool) bool { return n == want }, err
}

// add takes one command: a substitution, or lines to print or delete.
func (g *sedProgram) add(script string) error {
	if m := sedAddr.FindStringSubmatch(script); m != nil {
		return g.lines(script, m[1], m[2], m[3])
	}
	m := sedSubst.FindStringSubmatch(script)
	if m == nil {
		return fmt.Errorf("unknown command: %q is not simulated", script)
	}
	parts := splitEscaped(m[3], m[2][0])
	if len(parts) != 3 {
		return fmt.Errorf("char %d: unterminated `s' command", len(script))
	}
	if strings.Trim(parts[2], "gp") != "" {
		return fmt.Errorf("the flags %q are not simulated", parts[2])
	}
	re, err := g.compile(parts[0])
	if err != nil {
		return err
	}
	on, err := g.at(m[1])
	if err != nil {
		return err
	}
	with, global, shows := replacement(parts[1]), strings.Contains(parts[2], "g"), strings.Contains(parts[2], "p")
	g.steps = append(g.steps, func(line string, n int, last bool) (string, bool, bool) {
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
	return nil
}

// lines adds "FIRST,LASTp" or the same with d.
func (g *sedProgram) lines(script, first, last, command string) error {
	from, err := g.at(first)
	if err != nil {
		return err
	}
	low, noNumber := strconv.Atoi(first)
	high, _ := strconv.Atoi(last)
	if last != "" && noNumber != nil || command == "q" {
		return fmt.Errorf("%q is not simulated", script)
	}
	g.steps = append(g.steps, func(line string, n int, end bool) (string, bool, bool) {
		hit := from(line, n, end)
		switch last {
		case "":
		case "$":
			hit = n >= low
		default:
			hit = n == low || n >= low && n <= high // the first is taken also where the last comes before it
		}
		return line, hit && command == "p", hit && command == "d"
	})
	return nil
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
