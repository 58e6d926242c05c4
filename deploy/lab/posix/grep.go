package posix

import (
	"context"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

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

// sought is the expression of what grep looks for.
func sought(patterns []string, o options) (*regexp.Regexp, error) {
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
	return regexp.Compile(text)
}

func grep(_ context.Context, p *Proc) int {
	o, err := p.parse("qsxFEGHhrRlLcovinwae:m: include: quiet silent no-messages line-regexp fixed-strings extended-regexp count ignore-case invert-match no-filename with-filename recursive only-matching word-regexp line-number files-with-matches")
	if err != nil {
		return p.usage(err) + 1
	}
	patterns, rest := strings.Split(o.value("e"), "\n"), o.rest
	if !o.has("e") {
		if len(rest) == 0 {
			p.errf("Usage: grep [OPTION]... PATTERNS [FILE]...\n")
			return 2
		}
		patterns, rest = strings.Split(rest[0], "\n"), rest[1:]
	}
	re, err := sought(patterns, o)
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
					if m != "" {
						p.outf("%s%s%s\n", prefix, at, m)
					}
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
	case code != 0: // also where others were found
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
