package diag

import (
	"strings"

	"github.com/rocec/rocec/lang/source"
)

// JSONDiagnostic is a finding for programs, in Terraform's shape with additions:
// rule, rule_name, address, related, count, also, members, fixes, counterexample, follows.
type JSONDiagnostic struct {
	Severity string        `json:"severity"`
	Summary  string        `json:"summary"`
	Detail   string        `json:"detail"`
	Rule     string        `json:"rule,omitempty"`
	RuleName string        `json:"rule_name,omitempty"`
	Address  string        `json:"address,omitempty"`
	Range    *JSONRange    `json:"range,omitempty"`
	Snippet  *JSONSnippet  `json:"snippet,omitempty"`
	Related  []JSONRelated `json:"related,omitempty"`
	Count    int           `json:"count,omitempty"`
	Also     string        `json:"also,omitempty"`
	Members  []JSONMember  `json:"members,omitempty"`
	Differ   []string      `json:"-"` // words of members that say more than another name
	Fixes    []JSONFix     `json:"fixes,omitempty"`

	Counterexample []JSONStep       `json:"counterexample,omitempty"`
	Follows        []JSONDiagnostic `json:"follows,omitempty"` // what the same cause leads to
}

// JSONMember is one of the findings that were folded into one.
type JSONMember struct {
	Address string     `json:"address"`
	Summary string     `json:"summary"`
	Row     *JSONRange `json:"row,omitempty"` // of the table or key that it comes of
}

// JSONRange is a span of one file.
type JSONRange struct {
	Filename string       `json:"filename"`
	Start    JSONPosition `json:"start"`
	End      JSONPosition `json:"end"`
}

// JSONPosition is a place in a file. Line and column count from 1 and are 0
// when the file has changed or is gone since it was compiled.
type JSONPosition struct {
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Byte   uint32 `json:"byte"`
}

// JSONSnippet is source text; the offsets are bytes of Code.
type JSONSnippet struct {
	Context              *string     `json:"context"` // the block, as written
	Code                 string      `json:"code"`
	StartLine            int         `json:"start_line"`
	HighlightStartOffset int         `json:"highlight_start_offset"`
	HighlightEndOffset   int         `json:"highlight_end_offset"`
	Values               []JSONValue `json:"values"`
}

// JSONValue is one line of a label: `qos.legacy.class["rdma"].priority` `is 4`.
type JSONValue struct {
	Traversal string `json:"traversal"`
	Statement string `json:"statement"`
}

// JSONRelated is a place that belongs to the finding besides its cause.
type JSONRelated struct {
	Message string       `json:"message"`
	Range   *JSONRange   `json:"range,omitempty"`
	Snippet *JSONSnippet `json:"snippet,omitempty"`
}

// JSONFix is one edit: the text that replaces the range.
type JSONFix struct {
	Range *JSONRange `json:"range,omitempty"`
	Text  string     `json:"text"`
}

// JSON is a list of findings for programs, in its order and Bounded. It is never nil, so
// that an empty list is written as []. Text is made printable as everywhere,
// but for the text of fixes, which is meant for files.
func JSON(list List, view *source.View, rules Lookup) []JSONDiagnostic {
	list = Bounded(list)
	out := make([]JSONDiagnostic, 0, len(list))
	for i := range list {
		out = append(out, list[i].json(view, rules))
	}
	return out
}

func (d *Diagnostic) json(view *source.View, rules Lookup) JSONDiagnostic {
	j := JSONDiagnostic{
		Severity: d.Severity.String(), Summary: readable(d.Summary), Detail: d.detail(),
		Rule: readable(d.Rule), RuleName: rules.name(d.Rule), Address: readableAddress(d.Address), Also: readable(d.Others()),
	}
	if d.Count > 1 {
		j.Count = d.Count
	}
	for i := range d.Labels {
		l := &d.Labels[i]
		r, s := jsonRange(l.Span, view), jsonSnippet(l, view)
		if i == 0 {
			j.Range, j.Snippet = r, s
			continue
		}
		message := l.Text
		if message == "" {
			message = l.Where
		}
		j.Related = append(j.Related, JSONRelated{Message: readable(message), Range: r, Snippet: s})
	}
	for _, m := range d.Members {
		j.Members = append(j.Members, JSONMember{Address: readableAddress(m.Address), Summary: readable(m.Summary), Row: jsonRange(m.Row, view)})
	}
	for _, words := range d.Differing() {
		j.Differ = append(j.Differ, readable(words))
	}
	if len(d.Follows) > 0 {
		j.Follows = JSON(d.Follows, view, rules)
	}
	j.Counterexample = jsonSteps(d.Steps, view)
	for _, e := range d.Edits {
		if e.Attr != "" {
			continue // of no bytes yet
		}
		j.Fixes = append(j.Fixes, JSONFix{Range: jsonRange(e.Span, view), Text: e.New})
	}
	return j
}

func jsonRange(s source.Span, view *source.View) *JSONRange {
	name := view.Name(s.File)
	if name == "" {
		return nil
	}
	r := &JSONRange{Filename: Printable(name), Start: JSONPosition{Byte: s.Start}, End: JSONPosition{Byte: s.End()}}
	if start, end, ok := view.Range(s); ok {
		r.Start, r.End = JSONPosition(start), JSONPosition(end)
	}
	return r
}

// jsonSnippet is nil only where there is nothing to show: no text, block or value.
func jsonSnippet(l *Label, view *source.View) *JSONSnippet {
	s, ok := view.Snippet(l.Span)
	if !ok && l.Where == "" && len(l.Values) == 0 {
		return nil
	}
	before := printableCode(s.Code[:s.HighlightStart])
	marked := printableCode(s.Code[s.HighlightStart:s.HighlightEnd])
	after := printableCode(s.Code[s.HighlightEnd:])
	j := &JSONSnippet{
		Code: before + marked + after, StartLine: s.StartLine,
		HighlightStartOffset: len(before), HighlightEndOffset: len(before) + len(marked), Values: []JSONValue{},
	}
	if l.Where != "" {
		where := readable(l.Where)
		j.Context = &where
	}
	for _, v := range l.Values {
		name, statement, found := strings.Cut(readable(v), " is ")
		if !found {
			name, statement = "", name
		} else {
			statement = "is " + statement
		}
		j.Values = append(j.Values, JSONValue{Traversal: name, Statement: statement})
	}
	return j
}
