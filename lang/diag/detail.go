package diag

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lookup finds what a rule says of itself by its ID. It may be nil and may
// return nil.
type Lookup func(id string) *Rule

func (l Lookup) name(id string) string {
	if l == nil || id == "" {
		return ""
	}
	if r := l(id); r != nil {
		return r.Name
	}
	return ""
}

// detail is the body of a finding: consequence, then remedy, as sentences.
func (d *Diagnostic) detail() string {
	var parts []string
	for _, s := range append(append([]string(nil), d.Notes...), d.Help) {
		if s = sentence(readableLines(s)); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " ")
}

// reference points to the rule's own page: "Rule: ROCE301 link_pfc_priorities
// (rocec explain ROCE301)."
func (d *Diagnostic) reference(rules Lookup) string {
	if d.Rule == "" {
		return ""
	}
	id := readable(d.Rule)
	s := "Rule: " + id
	if name := rules.name(d.Rule); name != "" {
		s += " " + name
	}
	return s + " (rocec explain " + id + ")."
}

// consequence is a finding in one line: "ROCE302 class rdma becomes lossy at leaf1/swp7 (2)".
func (d *Diagnostic) consequence() string {
	s := strings.TrimSpace(d.Rule + " " + d.Summary)
	if d.Count > 1 {
		s += " (" + strconv.Itoa(d.Count) + ")"
	}
	return s
}

// sentence makes a sentence of a note or help: a capital at its start, unless
// that is a name or a value, and a full stop at its end.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	first, _, _ := strings.Cut(s, " ")
	if plain := strings.TrimRight(first, ",;:"); strings.IndexFunc(plain, func(r rune) bool { return !unicode.IsLower(r) }) < 0 {
		r, size := utf8.DecodeRuneInString(s)
		s = string(unicode.ToUpper(r)) + s[size:]
	}
	if !strings.ContainsRune(".!?:", rune(s[len(s)-1])) {
		s += "."
	}
	return s
}

// Wrap breaks text at blanks so that no line is longer than width characters,
// but for single words; 0 means no limit. Line breaks in the text stay, and
// lines that start with a blank are left as they are.
func Wrap(text string, width int) []string {
	var lines []string
	for _, paragraph := range strings.Split(text, "\n") {
		if width <= 0 || strings.HasPrefix(paragraph, " ") || utf8.RuneCountInString(paragraph) <= width {
			lines = append(lines, paragraph)
			continue
		}
		var b strings.Builder
		column := 0
		for w := range strings.FieldsSeq(paragraph) {
			n := utf8.RuneCountInString(w)
			switch {
			case column == 0:
			case column+1+n > width:
				lines = append(lines, b.String())
				b.Reset()
				column = 0
			default:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(w)
			column += n
		}
		lines = append(lines, b.String())
	}
	return lines
}
