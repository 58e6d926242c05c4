package emit

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rocec/rocec/compiler/intent"
)

// YAML writes a document in block style with an indentation of two. Every
// string and key that is not plainly a word is double-quoted, so that YAML 1.1
// and 1.2 read the same: no flags (on, no), numbers (1e3, 08), base-60 numbers
// (MAC addresses of digits), dates, nulls or merges come out of text. Bytes
// that are not UTF-8 become U+FFFD. Lines carry the field that they came from.
func (f *File) YAML(root Node) {
	w := yamlWriter{file: f}
	w.node(field{value: root}, intent.Path{}, "", "")
}

type yamlWriter struct{ file *File }

// longestKey is how long a key without a question mark may be; YAML allows 1024
// characters (YAML 1.2.2, 8.2.2 and 7.4.2).
const longestKey = 1000

// node writes a value. Lead is what stands before it on its first line: the
// indentation with a key or a dash; indent is that of the lines that follow.
func (w yamlWriter) node(x field, outer intent.Path, lead, indent string) {
	from := x.or(outer)
	switch v := x.value.(type) {
	case *Object:
		if len(v.keys) == 0 {
			w.line(from, lead, "{}")
			return
		}
		lead, indent = w.open(from, lead, indent)
		for _, key := range v.keys {
			text := yamlText(key)
			if len(text) > longestKey {
				w.file.From(from, "%s? %s", lead, text)
				lead, text = indent, ""
			}
			w.node(v.fields[key], from, lead+text+":", indent)
			lead = indent
		}
	case *Array:
		if len(v.items) == 0 {
			w.line(from, lead, "[]")
			return
		}
		lead, indent = w.open(from, lead, indent)
		for _, item := range v.items {
			w.node(item, from, lead+"-", indent)
			lead = indent
		}
	default:
		w.line(from, lead, yamlScalar(v))
	}
}

// open starts a block. After a key it goes on in the next line; after a dash,
// or at the start of the document, in the same.
func (w yamlWriter) open(from intent.Path, lead, indent string) (string, string) {
	switch {
	case strings.HasSuffix(lead, ":"):
		w.file.From(from, "%s", lead)
		return indent + "  ", indent + "  "
	case strings.HasSuffix(lead, "-"):
		return lead + " ", indent + "  "
	}
	return lead, indent
}

func (w yamlWriter) line(from intent.Path, lead, value string) {
	if lead != "" && !strings.HasSuffix(lead, " ") {
		lead += " "
	}
	w.file.From(from, "%s%s", lead, value)
}

func yamlScalar(v Node) string {
	switch v := v.(type) {
	case Int:
		return number(v)
	case Bool:
		return strconv.FormatBool(bool(v))
	case Word:
		if isWord(string(v)) {
			return string(v)
		}
		return yamlText(string(v))
	case Text:
		return yamlText(string(v))
	}
	return "null"
}

// yamlWords are words that some version of YAML, or a reader of numbers, takes
// for something else (YAML 1.1 types bool, null, float).
const yamlWords = " y n yes no on off true false null nan inf infinity "

func yamlText(s string) string {
	if isWord(s) && !strings.Contains(yamlWords, " "+strings.ToLower(s)+" ") {
		return s
	}
	return yamlQuoted(s)
}

// isWord reports whether a text is a letter followed by letters, digits, dots,
// underscores and hyphens: nothing that YAML has another reading for, apart
// from yamlWords.
func isWord(s string) bool {
	if s == "" || !isLetter(s[0]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// yamlQuoted is a double-quoted scalar (YAML 1.2.2, 5.7 and 7.3.1).
func yamlQuoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case !Unprintable(r) && !noncharacter(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// noncharacter reports the code points that YAML does not call printable,
// besides control characters.
func noncharacter(r rune) bool { return r == 0xfffe || r == 0xffff || r > utf8.MaxRune }
