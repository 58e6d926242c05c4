// Package report writes findings in the forms that other programs read: SARIF,
// JUnit, Checkstyle, the annotations of GitHub and GitLab, Markdown. It takes
// findings as lang/diag prints them for programs, their text printable already,
// and quotes them for each form. It reads nothing and judges nothing; the forms
// for people and the JSON of the command stand in lang/diag.
package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rocec/rocec/lang/diag"
)

// Report is what is written: findings in the order of the command, and what
// was taken out of them, which only SARIF and JUnit show.
type Report struct {
	Version  string // of rocec
	Findings []Finding
	Exempt   []Finding
	Rules    diag.Lookup
	Fails    diag.Severity // the least that fails
	// Path is where a shown file stands in the repository that the platform knows;
	// false for what is no file: data of a pack, a value of the command line.
	Path func(shown string) (string, bool)
}

// Finding is one of them.
type Finding struct {
	diag.JSONDiagnostic
	Exemption *Exemption // nil for what counts
}

// Exemption is why a finding does not count.
type Exemption struct {
	InSource bool   // a comment; else an override or a baseline
	Reason   string // as written, may be ""
}

// Form is a way to write a report.
type Form struct {
	Name  string
	Write func(io.Writer, *Report) error
}

// Forms are all of them, by name.
var Forms = []Form{
	{"checkstyle", Checkstyle},
	{"github", GitHub},
	{"gitlab", GitLab},
	{"junit", JUnit},
	{"markdown", Markdown},
	{"sarif", SARIF},
}

// Find returns a form, nil if there is none of that name.
func Find(name string) *Form {
	if i := slices.IndexFunc(Forms, func(f Form) bool { return f.Name == name }); i >= 0 {
		return &Forms[i]
	}
	return nil
}

// Source is the text that a finding points at, its blanks made one each: what
// stays the same when lines move.
func Source(d *diag.JSONDiagnostic) string {
	s := d.Snippet
	if s == nil || s.HighlightStartOffset < 0 || s.HighlightStartOffset > s.HighlightEndOffset || s.HighlightEndOffset > len(s.Code) {
		return ""
	}
	return strings.Join(strings.Fields(s.Code[s.HighlightStartOffset:s.HighlightEndOffset]), " ")
}

// fingerprints tell findings apart without line numbers: rule, address, file and
// text, and among equal ones their order. Of what has no rule the words count.
func (r *Report) fingerprints(list []Finding) []string {
	seen := map[string]int{}
	out := make([]string, len(list))
	for i := range list {
		d := &list[i].JSONDiagnostic
		file, _, _ := r.place(d.Range)
		what := d.Rule
		if what == "" {
			what = d.Summary
		}
		key := fmt.Sprintf("%q %q %q %q", what, d.Address, file, Source(d))
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", key, seen[key]))
		seen[key]++
		out[i] = hex.EncodeToString(sum[:16])
	}
	return out
}

// place is the file of a range, and the range if its lines are known.
func (r *Report) place(at *diag.JSONRange) (file string, known *diag.JSONRange, ok bool) {
	if at == nil {
		return "", nil, false
	}
	if file, ok = r.Path(at.Filename); !ok {
		return "", nil, false
	}
	if at.Start.Line > 0 {
		known = at
	}
	return file, known, true
}

// text is a finding in full: summary, users, then what follows from it and what
// to do, and other places by name.
func text(d *diag.JSONDiagnostic) string {
	var b strings.Builder
	b.WriteString(d.Summary)
	if d.Also != "" {
		b.WriteString("; used by " + d.Also)
	}
	if d.Detail != "" {
		b.WriteString(". " + d.Detail)
	}
	for _, line := range more(d) {
		b.WriteString("\n" + line)
	}
	return b.String()
}

// more is, line by line, what the members of a finding say that is not of all of them,
// and what follows from it.
func more(d *diag.JSONDiagnostic) (lines []string) {
	for _, words := range d.Differ {
		lines = append(lines, "also: "+words)
	}
	for i := range d.Follows {
		lines = append(lines, follows(&d.Follows[i]))
	}
	return lines
}

// follows is a consequence in one line.
func follows(d *diag.JSONDiagnostic) string {
	s := "and follows from it: " + strings.TrimSpace(d.Rule+" "+d.Summary)
	if d.Count > 1 {
		s += fmt.Sprintf(" (%d)", d.Count)
	}
	return s
}

// other is a place besides the cause, with what it has to do with it.
func other(x *diag.JSONRelated) string {
	if at := where(x.Range); at != "" {
		return x.Message + ": " + at
	}
	return x.Message
}

// label is how a finding names its rule: by code and name, or not at all.
func label(d *diag.JSONDiagnostic) string {
	return strings.TrimSpace(d.Rule + " " + d.RuleName)
}

// where is a place for people: "file:line:column", as much as is known of it.
func where(at *diag.JSONRange) string {
	switch {
	case at == nil:
		return ""
	case at.Start.Line == 0:
		return at.Filename
	}
	return fmt.Sprintf("%s:%d:%d", at.Filename, at.Start.Line, at.Start.Column)
}
