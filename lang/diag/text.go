package diag

import (
	"fmt"
	"io"
	"strings"

	"github.com/rocec/rocec/lang/source"
)

// TextOptions say how findings are printed for people.
type TextOptions struct {
	Color bool   // a terminal: colours, and each finding in a box
	Width int    // columns to wrap at; 0 does not wrap
	Limit int    // findings shown, errors before the others; 0 shows all
	More  string // how to see what the limit hides: "--verbose shows them"
	Rules Lookup // names of rules
}

// Text prints findings for people: severity and summary, each place with its
// source line, values and users, then consequence, remedy and the rule. The
// list is printed in its order; Sort and Fold come before.
func Text(w io.Writer, list List, view *source.View, o TextOptions) error {
	shown, rest := gravest(Bounded(list), o.Limit)
	p := &printer{view: view, o: o}
	for i := range shown {
		if i > 0 && !o.Color {
			p.b.WriteByte('\n')
		}
		p.finding(&shown[i])
	}
	if len(rest) > 0 {
		if len(shown) > 0 && !o.Color {
			p.b.WriteByte('\n')
		}
		fmt.Fprintf(&p.b, "Not shown: %s", Tally(rest))
		if o.More != "" {
			p.b.WriteString(" (" + o.More + ")")
		}
		p.b.WriteByte('\n')
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

// gravest takes the first findings of a list, in its order: those that are errors
// if there are too many of all, and the others as far as there is room.
func gravest(list List, limit int) (shown, rest List) {
	if limit <= 0 || len(list) <= limit {
		return list, nil
	}
	var count [Notice + 1]int
	for i := range list {
		count[min(list[i].Severity, Notice)]++
	}
	for s, n := range count {
		count[s] = min(n, limit)
		limit -= count[s]
	}
	for i := range list {
		if s := min(list[i].Severity, Notice); count[s] > 0 {
			count[s]--
			shown = append(shown, list[i])
		} else {
			rest = append(rest, list[i])
		}
	}
	return shown, rest
}

// Tally counts findings by severity, folded ones with all they stand for:
// "2 errors, 1 warning". It is "" for an empty list.
func Tally(list List) string {
	var count [Notice + 1]int
	for i := range list {
		count[min(list[i].Severity, Notice)] += max(list[i].Count, 1)
	}
	var parts []string
	for s, n := range count {
		switch n {
		case 0:
		case 1:
			parts = append(parts, "1 "+Severity(s).String())
		default:
			parts = append(parts, fmt.Sprintf("%d %ss", n, Severity(s)))
		}
	}
	return strings.Join(parts, ", ")
}

// Escape sequences of terminals (ECMA-48, SGR), in one table. A library of styles,
// lipgloss, would give the same six and lay out nothing here; whether there is
// colour at all is the caller's word, so that a pipe never depends on what a
// library makes of its environment.
const (
	reset     = "\x1b[0m"
	bold      = "\x1b[1m"
	underline = "\x1b[4m"
	noLine    = "\x1b[24m"
	red       = "\x1b[31m"
	yellow    = "\x1b[33m"
	cyan      = "\x1b[36m"
)

var heads = [...]struct{ word, color string }{
	Error:   {"Error", red},
	Warning: {"Warning", yellow},
	Notice:  {"Notice", cyan},
}

type printer struct {
	b    strings.Builder
	view *source.View
	o    TextOptions
	bar  string // what starts each line of the box, with its colour
}

func (p *printer) style(codes, s string) string {
	if !p.o.Color {
		return s
	}
	return codes + s + reset
}

func (p *printer) line(s string) {
	s = strings.TrimRight(s, " ")
	if p.o.Color {
		p.b.WriteString(p.bar)
		if s != "" {
			p.b.WriteByte(' ')
		}
	}
	p.b.WriteString(s)
	p.b.WriteByte('\n')
}

func (p *printer) finding(d *Diagnostic) {
	head := heads[min(d.Severity, Notice)]
	p.bar = p.style(head.color, "│")
	if p.o.Color {
		p.b.WriteString(p.style(head.color, "╷") + "\n")
	}
	p.line(p.style(bold+head.color, head.word+":") + " " + p.style(bold, readable(d.Summary)))
	for i := range d.Labels {
		p.line("")
		p.label(&d.Labels[i])
		if i == 0 {
			p.users(d)
		}
	}
	if len(d.Labels) == 0 && d.Others() != "" {
		p.line("")
		p.users(d)
	}
	p.steps(d.Steps)
	if body := strings.TrimSpace(d.detail() + " " + d.reference(p.o.Rules)); body != "" {
		p.line("")
		width := p.o.Width
		if p.o.Color && width > 2 {
			width -= 2
		}
		for _, l := range Wrap(body, width) {
			p.line(l)
		}
	}
	p.follows(d)
	if p.o.Color {
		p.b.WriteString(p.style(head.color, "╵") + "\n")
	}
}

// follows lists what the cause leads to.
func (p *printer) follows(d *Diagnostic) {
	if len(d.Follows) == 0 {
		return
	}
	p.line("")
	for i := range d.Follows {
		const head = "And follows from it: "
		for j, l := range Wrap(readable(d.Follows[i].consequence()), max(p.o.Width-len(head), 0)) {
			if i+j > 0 {
				p.line(strings.Repeat(" ", len(head)) + l)
			} else {
				p.line(head + l)
			}
		}
	}
}

func (p *printer) users(d *Diagnostic) {
	if others := d.Others(); others != "" {
		const head = "  used by "
		for i, l := range Wrap(readable(others), max(p.o.Width-len(head), 0)) {
			p.line(strings.Repeat(" ", len(head)*min(i, 1)) + head[len(head)*min(i, 1):] + l)
		}
	}
	for _, words := range d.Differing() {
		p.line("  also: " + readable(words))
	}
}

func (p *printer) label(l *Label) {
	place := place(l, p.view)
	if l.Text != "" {
		place = strings.TrimSpace(readable(l.Text) + ": " + place)
	}
	snippet, ok := p.view.Snippet(l.Span)
	if ok || len(l.Values) > 0 {
		place += ":"
	} else if !l.Span.IsZero() {
		place += " (source is not at hand)"
	}
	p.line("  " + place)
	if ok {
		p.code(snippet)
	}
	if len(l.Values) == 0 {
		return
	}
	p.line("    ├────────────────")
	for _, v := range l.Values {
		p.line("    │ " + readable(v))
	}
}

// place is `on FILE line N, in BLOCK`, with as much of it as is known.
func place(l *Label, view *source.View) string {
	var parts []string
	if name := view.Name(l.Span.File); name != "" {
		on := "on " + Printable(name)
		if start, _, ok := view.Range(l.Span); ok {
			on += fmt.Sprintf(" line %d", start.Line)
		}
		parts = append(parts, on)
	}
	if l.Where != "" {
		parts = append(parts, "in "+readable(l.Where))
	}
	return strings.Join(parts, ", ")
}

func (p *printer) code(s source.Snippet) {
	at := 0
	for i, line := range strings.Split(s.Code, "\n") {
		from := min(max(s.HighlightStart-at, 0), len(line))
		to := min(max(s.HighlightEnd-at, from), len(line))
		text := printableCode(line[:from])
		if marked := printableCode(line[from:to]); p.o.Color && marked != "" {
			text += underline + marked + noLine
		} else {
			text += marked
		}
		p.line(fmt.Sprintf("%4d: %s", s.StartLine+i, text+printableCode(line[to:])))
		at += len(line) + 1
	}
}
