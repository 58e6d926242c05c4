package posix

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/deploy/lab"
)

// each gives a program the content of its operands, or of standard input.
func (p *Proc) each(names []string, f func(name string, b []byte)) int {
	if len(names) == 0 {
		names = []string{"-"}
	}
	code := 0
	for _, name := range names {
		if info, err := p.Host.o.Disk.Stat(p.abs(name)); err == nil && info.IsDir() && name != "-" {
			code = p.Fail("%s: %s: Is a directory", p.Name, name)
			continue
		}
		b, err := p.read(name)
		if err != nil {
			code = p.Fail("%s: %s: %s", p.Name, name, reason(err))
			continue
		}
		f(name, b)
	}
	return code
}

func cat(_ context.Context, p *Proc) int {
	o, err := p.parse("u")
	if err != nil {
		return p.usage(err)
	}
	return p.each(o.rest, func(_ string, b []byte) { _, _ = p.Stdout.Write(b) })
}

func tee(_ context.Context, p *Proc) int {
	o, err := p.parse("a append")
	if err != nil {
		return p.usage(err)
	}
	b, _ := p.read("-")
	_, _ = p.Stdout.Write(b)
	how := lab.OpenWrite | lab.OpenCreate | lab.OpenTruncate
	if o.has("a", "append") {
		how = lab.OpenWrite | lab.OpenCreate | lab.OpenAppend
	}
	code := 0
	for _, name := range o.rest {
		f, err := p.Host.o.Disk.OpenFile(p.abs(name), how, 0o644)
		if err == nil {
			_, err = f.Write(b)
			_ = f.Close()
		}
		if err != nil {
			code = p.Fail("tee: %s: %s", name, reason(err))
		}
	}
	return code
}

// basic makes a regular expression of Go of a basic one of POSIX.
func basic2go(s string) string {
	var b strings.Builder
	class := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case class:
			b.WriteByte(c)
			if c == '[' && i+1 < len(s) && s[i+1] == ':' {
				if end := strings.Index(s[i:], ":]"); end > 0 {
					b.WriteString(s[i+1 : i+end+2])
					i += end + 1
				}
			} else if c == ']' {
				class = false
			}
		case c == '[':
			class = true
			b.WriteByte(c)
			if i+1 < len(s) && s[i+1] == '^' {
				i++
				b.WriteByte('^')
			}
			if i+1 < len(s) && s[i+1] == ']' {
				i++
				b.WriteString(`\]`)
			}
		case c == '\\' && i+1 < len(s):
			i++
			if strings.IndexByte("(){}|+?", s[i]) >= 0 {
				b.WriteByte(s[i])
			} else {
				b.WriteByte('\\')
				b.WriteByte(s[i])
			}
		case strings.IndexByte("(){}|+?", c) >= 0:
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func grep(_ context.Context, p *Proc) int {
	o, err := p.parse("qsxFEGHhrRlLcovinwae:m: include: quiet silent no-messages line-regexp fixed-strings extended-regexp count ignore-case invert-match no-filename with-filename recursive only-matching word-regexp line-number files-with-matches")
	if err != nil {
		return p.usage(err) + 1
	}
	var patterns []string
	rest := o.rest
	if o.has("e") {
		patterns = strings.Split(o.value("e"), "\n")
	} else {
		if len(rest) == 0 {
			p.errf("Usage: grep [OPTION]... PATTERNS [FILE]...\n")
			return 2
		}
		patterns, rest = strings.Split(rest[0], "\n"), rest[1:]
	}
	for i, s := range patterns {
		switch {
		case o.has("F", "fixed-strings"):
			s = regexp.QuoteMeta(s)
		case !o.has("E", "extended-regexp"):
			s = basic2go(s)
		}
		if o.has("w", "word-regexp") {
			s = `\b(?:` + s + `)\b`
		}
		patterns[i] = "(?:" + s + ")"
	}
	text := strings.Join(patterns, "|")
	if o.has("x", "line-regexp") {
		text = "^(?:" + text + ")$"
	}
	if o.has("i", "ignore-case") {
		text = "(?i)" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		p.errf("grep: %v\n", err)
		return 2
	}
	quiet, silent := o.has("q", "quiet", "silent"), o.has("s", "no-messages")
	most := 1 << 30
	if m := o.value("m"); m != "" {
		most, _ = strconv.Atoi(m)
	}
	names, code := p.grepFiles(rest, o, silent)
	shown := !o.has("h", "no-filename") && (o.has("H", "with-filename") || len(names) > 1 || o.has("r", "R", "recursive"))
	found := false
	for _, name := range names {
		b, err := p.read(name)
		if err != nil {
			if !silent {
				p.errf("grep: %s: %s\n", name, reason(err))
			}
			code = 2
			continue
		}
		prefix := ""
		if shown {
			prefix = name + ":"
		}
		count, number := 0, 0
		for line := range strings.Lines(string(b)) {
			number++
			line = strings.TrimSuffix(line, "\n")
			if re.MatchString(line) == o.has("v", "invert-match") || count >= most {
				continue
			}
			found = true
			count++
			if quiet {
				return 0
			}
			if o.has("c", "count", "l", "L", "files-with-matches") {
				continue
			}
			at := ""
			if o.has("n", "line-number") {
				at = strconv.Itoa(number) + ":"
			}
			if o.has("o", "only-matching") {
				for _, m := range re.FindAllString(line, -1) {
					p.outf("%s%s%s\n", prefix, at, m)
				}
				continue
			}
			p.outf("%s%s%s\n", prefix, at, line)
		}
		switch {
		case o.has("c", "count"):
			p.outf("%s%d\n", prefix, count)
		case o.has("l", "files-with-matches") && count > 0, o.has("L") && count == 0:
			p.outf("%s\n", name)
		}
	}
	switch {
	case code != 0 && !found:
		return code
	case found:
		return 0
	}
	return 1
}

// grepFiles are the files to search: with -r those below folders, as far as
// --include fits their names.
func (p *Proc) grepFiles(rest []string, o options, silent bool) (names []string, code int) {
	if len(rest) == 0 {
		return []string{"-"}, 0
	}
	deep := o.has("r", "R", "recursive")
	include := strings.Split(o.value("include"), "\n")
	var walk func(name string)
	walk = func(name string) {
		list, _ := p.Host.o.Disk.ReadDir(p.abs(name))
		for _, e := range list {
			below := strings.TrimSuffix(name, "/") + "/" + e.Name()
			switch {
			case e.IsDir():
				walk(below)
			case e.Type()&fs.ModeSymlink != 0 && !o.has("R"):
			case include[0] == "" || slices.ContainsFunc(include, func(g string) bool { ok, _ := path.Match(g, e.Name()); return ok }):
				names = append(names, below)
			}
		}
	}
	for _, name := range rest {
		info, err := p.Host.o.Disk.Stat(p.abs(name))
		switch {
		case err != nil || !info.IsDir():
			names = append(names, name) // an error shows when it is read
		case deep:
			walk(name)
		default:
			if !silent {
				p.errf("grep: %s: Is a directory\n", name)
			}
			code = 2
		}
	}
	return names, code
}

func lines(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

func sortLines(_ context.Context, p *Proc) int {
	o, err := p.parse("unrVk:t:sz unique numeric-sort reverse version-sort key: field-separator:")
	if err != nil {
		return p.usage(err)
	}
	var list []string
	code := p.each(o.rest, func(_ string, b []byte) { list = append(list, lines(b)...) })
	key := func(s string) string { return s }
	if k := o.value("k", "key"); k != "" {
		first, _, _ := strings.Cut(k, ",")
		n, err := strconv.Atoi(strings.TrimRight(first, "nrV"))
		if err != nil || n < 1 {
			return p.Fail("sort: invalid number at field start: ‘%s’", k)
		}
		sep := o.value("t", "field-separator")
		key = func(s string) string {
			f := strings.Fields(s)
			if sep != "" {
				f = strings.Split(s, sep)
			}
			if n <= len(f) {
				return f[n-1]
			}
			return ""
		}
	}
	number := func(s string) float64 {
		s = strings.TrimSpace(s)
		end := 0
		for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.' || end == 0 && s[end] == '-') {
			end++
		}
		n, _ := strconv.ParseFloat(s[:end], 64)
		return n
	}
	compare := func(a, b string) int {
		if o.has("n", "numeric-sort") {
			if c := cmp.Compare(number(key(a)), number(key(b))); c != 0 {
				return c
			}
		}
		if c := strings.Compare(key(a), key(b)); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	}
	slices.SortStableFunc(list, compare)
	if o.has("r", "reverse") {
		slices.Reverse(list)
	}
	if o.has("u", "unique") {
		list = slices.Compact(list)
	}
	for _, s := range list {
		p.outf("%s\n", s)
	}
	return code
}

func uniq(_ context.Context, p *Proc) int {
	o, err := p.parse("cd")
	if err != nil {
		return p.usage(err)
	}
	var list []string
	code := p.each(o.rest, func(_ string, b []byte) { list = append(list, lines(b)...) })
	for i := 0; i < len(list); {
		n := 1
		for i+n < len(list) && list[i+n] == list[i] {
			n++
		}
		switch {
		case o.has("d") && n == 1:
		case o.has("c"):
			p.outf("%7d %s\n", n, list[i])
		default:
			p.outf("%s\n", list[i])
		}
		i += n
	}
	return code
}

func cut(_ context.Context, p *Proc) int {
	o, err := p.parse("c:b:f:d:s delimiter: fields: characters:")
	if err != nil {
		return p.usage(err)
	}
	list := o.value("c", "b", "f", "fields", "characters")
	var ranges [][2]int
	for part := range strings.SplitSeq(list, ",") {
		a, b, through := strings.Cut(part, "-")
		from, errA := strconv.Atoi(cmp.Or(a, "1"))
		to, errB := strconv.Atoi(cmp.Or(b, "1000000000"))
		if !through {
			to = from
		}
		if part == "" || part == "-" || errA != nil || through && errB != nil || from < 1 {
			return p.Fail("cut: invalid field value '%s'", list)
		}
		ranges = append(ranges, [2]int{from, to})
	}
	in := func(n int) bool {
		return slices.ContainsFunc(ranges, func(r [2]int) bool { return r[0] <= n && n <= r[1] })
	}
	sep := cmp.Or(o.value("d", "delimiter"), "\t")
	return p.each(o.rest, func(_ string, b []byte) {
		for _, line := range lines(b) {
			if o.has("f", "fields") {
				if !strings.Contains(line, sep) {
					if !o.has("s") {
						p.outf("%s\n", line)
					}
					continue
				}
				var kept []string
				for i, f := range strings.Split(line, sep) {
					if in(i + 1) {
						kept = append(kept, f)
					}
				}
				p.outf("%s\n", strings.Join(kept, sep))
				continue
			}
			var kept []byte
			for i := range len(line) {
				if in(i + 1) {
					kept = append(kept, line[i])
				}
			}
			p.outf("%s\n", kept)
		}
	})
}

func headTail(_ context.Context, p *Proc) int {
	args := p.Args
	if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && args[0][1] >= '0' && args[0][1] <= '9' {
		args = append([]string{"-n", args[0][1:]}, args[1:]...)
	}
	o, err := parseOptions(args, "n:c:q lines: bytes:", true)
	if err != nil {
		return p.usage(err)
	}
	text := cmp.Or(o.value("n", "lines", "c", "bytes"), "10")
	n, err := strconv.Atoi(strings.TrimLeft(text, "+-"))
	if err != nil {
		return p.Fail("%s: invalid number of lines: ‘%s’", p.Name, text)
	}
	bytewise := o.has("c", "bytes")
	return p.each(o.rest, func(_ string, b []byte) {
		var parts [][]byte
		if bytewise {
			parts = bytes.SplitAfter(b, nil)
		} else if len(b) > 0 {
			parts = bytes.SplitAfter(b, []byte("\n"))
			if len(parts[len(parts)-1]) == 0 {
				parts = parts[:len(parts)-1]
			}
		}
		k := min(n, len(parts))
		switch {
		case p.Name == "head" && text[0] == '-':
			parts = parts[:len(parts)-k]
		case p.Name == "head":
			parts = parts[:k]
		case text[0] == '+':
			parts = parts[min(max(n-1, 0), len(parts)):]
		default:
			parts = parts[len(parts)-k:]
		}
		_, _ = p.Stdout.Write(bytes.Join(parts, nil))
	})
}

func tr(_ context.Context, p *Proc) int {
	o, err := p.parse("dscC")
	if err != nil || len(o.rest) == 0 {
		return p.Fail("tr: missing operand")
	}
	set := func(s string) []byte {
		s = escapes(s)
		for name, text := range map[string]string{"[:upper:]": "A-Z", "[:lower:]": "a-z", "[:digit:]": "0-9", "[:space:]": " \t\n\r\v\f", "[:alnum:]": "0-9A-Za-z"} {
			s = strings.ReplaceAll(s, name, text)
		}
		var list []byte
		for i := 0; i < len(s); i++ {
			if i+2 < len(s) && s[i+1] == '-' && s[i] <= s[i+2] {
				for c := int(s[i]); c <= int(s[i+2]); c++ {
					list = append(list, byte(c))
				}
				i += 2
				continue
			}
			list = append(list, s[i])
		}
		return list
	}
	from := set(o.rest[0])
	var to []byte
	if len(o.rest) > 1 {
		to = set(o.rest[1])
	}
	if !o.has("d") && !o.has("s") && len(to) == 0 {
		return p.Fail("tr: missing operand after '%s'", o.rest[0])
	}
	b, _ := p.read("-")
	var out []byte
	last := -1
	for _, c := range b {
		at := bytes.IndexByte(from, c)
		if o.has("c", "C") {
			if at < 0 {
				at = 1 << 20
			} else {
				at = -1
			}
		}
		if at >= 0 && o.has("d") {
			continue
		}
		if at >= 0 && len(to) > 0 {
			c = to[min(at, len(to)-1)]
		}
		if o.has("s") && at >= 0 && int(c) == last {
			continue
		}
		last = int(c)
		out = append(out, c)
	}
	_, _ = p.Stdout.Write(out)
	return 0
}

func wc(_ context.Context, p *Proc) int {
	o, err := p.parse("lcw lines bytes words")
	if err != nil {
		return p.usage(err)
	}
	return p.each(o.rest, func(name string, b []byte) {
		var fields []string
		all := !o.has("l", "c", "w", "lines", "bytes", "words")
		if all || o.has("l", "lines") {
			fields = append(fields, strconv.Itoa(bytes.Count(b, []byte("\n"))))
		}
		if all || o.has("w", "words") {
			fields = append(fields, strconv.Itoa(len(bytes.Fields(b))))
		}
		if all || o.has("c", "bytes") {
			fields = append(fields, strconv.Itoa(len(b)))
		}
		if name != "-" {
			fields = append(fields, name)
		}
		p.outf("%s\n", strings.Join(fields, " "))
	})
}

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
		scripts, rest = strings.Split(rest[0], ";"), rest[1:]
		if strings.Contains(scripts[0], "s") && len(scripts) > 1 {
			scripts = []string{strings.Join(scripts, ";")}
		}
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
	for _, script := range scripts {
		script = strings.TrimSpace(script)
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
