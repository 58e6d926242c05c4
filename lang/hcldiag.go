package lang

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
)

// place is a range of bytes in the file at hand.
type place struct{ start, length uint32 }

func placeOf(r hcl.Range) place {
	if r.End.Byte < r.Start.Byte {
		return place{uint32(r.Start.Byte), 0}
	}
	return place{uint32(r.Start.Byte), uint32(r.End.Byte - r.Start.Byte)}
}

func (p place) in(f source.FileID) source.Span {
	return source.Span{File: f, Start: p.start, Len: p.length}
}

// within keeps a place inside of its file: in JSON, the places in texts with
// escapes are only near.
func (p place) within(size int) place {
	p.start = min(p.start, uint32(size))
	p.length = min(p.length, uint32(size)-p.start)
	return p
}

// fromHCL turns a diagnostic of the HCL library into one of ours. The detail
// carries the names, so its first sentence becomes the summary where the
// library's own title says less.
func fromHCL(d *hcl.Diagnostic, span source.Span) diag.Diagnostic {
	summary, notes := hclText(d.Summary, d.Detail)
	out := diag.Diagnostic{Summary: summary, Notes: notes, Labels: []diag.Label{{Span: span}}}
	if d.Severity == hcl.DiagWarning {
		out.Severity = diag.Warning
	}
	return out
}

func hclText(title, detail string) (string, []string) {
	title = lowerFirst(strings.TrimSuffix(strings.TrimSpace(title), "."))
	if rest, ok := strings.CutPrefix(title, "invalid "); ok {
		title = rest + " is not understood"
	}
	detail = strings.Join(strings.Fields(strings.NewReplacer("Invalid", "Unfit", "an invalid", "an unfit", "invalid", "unfit").Replace(detail)), " ")
	first, rest := sentence(detail)
	switch {
	case first == "":
		return title, nil
	case strings.HasPrefix(strings.ToLower(first), title):
		title = lowerFirst(first)
	default:
		title += ": " + lowerFirst(first)
	}
	if rest == "" {
		return title, nil
	}
	return title, []string{lowerFirst(strings.TrimSuffix(rest, "."))}
}

// sentence cuts the first sentence off a text, without its full stop.
func sentence(s string) (first, rest string) {
	for i := 0; i+1 < len(s); i++ {
		if (s[i] == '.' || s[i] == ';') && s[i+1] == ' ' && i+2 < len(s) && (s[i] == ';' || unicode.IsUpper(rune(s[i+2]))) {
			return s[:i], s[i+2:]
		}
	}
	return strings.TrimSuffix(s, "."), ""
}

func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 || len(s) > n && isUpperAt(s[n:]) {
		return s
	}
	return string(unicode.ToLower(r)) + s[n:]
}

func isUpperAt(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

// syntaxErrors keeps one error for each top-level block: what follows an error
// before the next line that starts in the first column is its echo.
func syntaxErrors(ds hcl.Diagnostics, src []byte, id source.FileID) diag.List {
	var out diag.List
	ds = slices.DeleteFunc(slices.Clone(ds), func(d *hcl.Diagnostic) bool { return d.Severity != hcl.DiagError || d.Subject == nil })
	slices.SortStableFunc(ds, func(a, b *hcl.Diagnostic) int { return cmp.Compare(a.Subject.Start.Byte, b.Subject.Start.Byte) })
	blocked := -1 // errors before this offset are echoes
	for _, d := range ds {
		at := placeOf(*d.Subject)
		openText := strings.Contains(d.Detail, "Quoted strings may not be split")
		if int(at.start) < blocked {
			if openText {
				break
			}
			continue
		}
		blocked = nextTop(src, int(at.start))
		if at.start < uint32(len(src)) && (src[at.start] == '\n' || src[at.start] == '\r') {
			at = lineBefore(src, at.start)
		}
		at = at.within(len(src))
		at.length = min(at.length, 200)
		if openText {
			out.Add(diag.Diagnostic{Summary: "quoted text does not end on its line", Help: "end it with a quote, or write \\n for a line end", Labels: []diag.Label{{Span: at.in(id)}}})
			break // from here on texts and names are mistaken for each other
		}
		if d.Summary == "Invalid number literal" {
			at = wordAt(src, at.start)
			word := string(src[at.start : at.start+at.length])
			out.Add(diag.Diagnostic{Summary: clipName(word) + " is no number", Help: "texts stand in quotes: " + quoteWord(word), Labels: []diag.Label{{Span: at.in(id)}}})
			continue
		}
		out.Add(fromHCL(d, at.in(id)))
	}
	return out
}

// wordAt is what stands at an offset without a blank: an address, a version or a
// time that somebody wrote without quotes.
func wordAt(src []byte, start uint32) place {
	end := start
	for int(end) < len(src) && end-start < 64 && (idLetter(src[end]) || bytes.IndexByte([]byte(".:/-"), src[end]) >= 0) {
		end++
	}
	return place{start, end - start}
}

func idLetter(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// lineBefore is the text of the line that ends at an offset.
func lineBefore(src []byte, end uint32) place {
	start := uint32(bytes.LastIndexByte(src[:end], '\n') + 1)
	for start < end && (src[start] == ' ' || src[start] == '\t') {
		start++
	}
	return place{start, end - start}
}

// nextTop is the offset of the next line that starts with a letter.
func nextTop(src []byte, from int) int {
	for i := from; i < len(src); i++ {
		if src[i] == '\n' && i+1 < len(src) && (src[i+1]|0x20) >= 'a' && (src[i+1]|0x20) <= 'z' {
			return i + 1
		}
	}
	return len(src) + 1
}
