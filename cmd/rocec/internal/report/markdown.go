package report

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes a table for the summary of a job or a comment on a pull
// request, in the dialect of GitHub and GitLab. Everything in it is text: no
// name becomes a link, a mention or HTML.
func Markdown(w io.Writer, r *Report) error {
	var b strings.Builder
	b.WriteString("### rocec lint\n\n")
	count := map[string]int{}
	for i := range r.Findings {
		count[r.Findings[i].Severity] += max(r.Findings[i].Count, 1)
	}
	var tally []string
	for _, s := range []string{"error", "warning", "notice"} {
		switch n := count[s]; n {
		case 0:
		case 1:
			tally = append(tally, "1 "+s)
		default:
			tally = append(tally, fmt.Sprintf("%d %ss", n, s))
		}
	}
	if len(tally) == 0 {
		b.WriteString("No findings.\n")
		_, err := io.WriteString(w, b.String())
		return err
	}
	b.WriteString(strings.Join(tally, ", ") + ".\n\n| severity | place | finding | rule |\n| --- | --- | --- | --- |\n")
	for i := range r.Findings {
		d := &r.Findings[i].JSONDiagnostic
		finding := markdownText(d.Summary)
		if d.Also != "" {
			finding += "; used by " + markdownText(d.Also)
		}
		for i := range d.Related {
			finding += "<br>" + markdownText(other(&d.Related[i]))
		}
		if d.Detail != "" {
			finding += "<br>" + markdownText(d.Detail)
		}
		for _, line := range more(d) {
			finding += "<br>" + markdownText(line)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", d.Severity, markdownText(where(d.Range)), finding, markdownText(label(d)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// markdownText quotes text: a backslash makes any mark of ASCII a mark
// (CommonMark 2.4), which the rules for bare links then do not see; an empty
// comment behind @ and # keeps mentions and references from forming, for which
// platforms look after that. Line ends become breaks, because a cell is one line.
func markdownText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString("<br>")
		case r == '@' || r == '#':
			b.WriteByte('\\')
			b.WriteRune(r)
			b.WriteString("<!-- -->")
		case r > ' ' && r < 0x7f && !('0' <= r && r <= '9') && !('a' <= r|0x20 && r|0x20 <= 'z'):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
