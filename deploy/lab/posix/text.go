package posix

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
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

func lines(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

func sortLines(_ context.Context, p *Proc) int {
	o, err := p.parse("unrk:t: unique numeric-sort reverse key: field-separator:")
	if err != nil {
		return p.usage(err)
	}
	var list []string
	code := p.each(o.rest, func(_ string, b []byte) { list = append(list, lines(b)...) })
	key := func(s string) string { return s }
	numeric := o.has("n", "numeric-sort")
	if k := o.value("k", "key"); k != "" {
		numeric = numeric || strings.HasSuffix(k, "n")
		first, last, _ := strings.Cut(strings.TrimSuffix(k, "n"), ",")
		first = strings.TrimSuffix(first, "n")
		n, err := strconv.Atoi(first)
		if err != nil || n < 1 || last != "" && last != first || o.has("u", "unique") {
			return p.Fail("sort: -k %s: only one whole field, and without -u, is simulated", k)
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
		if numeric {
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

// firstOf prints the first lines or bytes of what comes in, and reads no more than those.
func (p *Proc) firstOf(n int, bytewise bool) int {
	if bytewise {
		_, _ = io.CopyN(p.Stdout, p.Stdin, int64(n))
		return 0
	}
	in := bufio.NewReader(p.Stdin)
	for range n {
		line, err := in.ReadBytes('\n')
		_, _ = p.Stdout.Write(line)
		if err != nil {
			break
		}
	}
	return 0
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
	if p.Name == "head" && text[0] != '-' && len(o.rest) == 0 && p.Stdin != nil {
		return p.firstOf(n, bytewise)
	}
	return p.each(o.rest, func(_ string, b []byte) {
		var parts [][]byte
		if bytewise {
			for i := range b {
				parts = append(parts, b[i:i+1])
			}
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

// classes are the character classes that tr knows here.
var classes = regexp.MustCompile(`^\[:(?:upper|lower|digit|space|alnum):\]`)

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
	for _, s := range o.rest {
		if i := strings.Index(s, "[:"); i >= 0 && !classes.MatchString(s[i:]) || strings.Contains(s, "[=") {
			return p.Fail("tr: the class in '%s' is not simulated", s)
		}
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
