package diag

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rocec/rocec/lang/source"
)

// Step is one hop of a counterexample: a way that shows what is wrong, or a
// circle. Steps are no part of what makes two findings equal.
type Step struct {
	At      string // what it passes, as messages name it: "tor/Ethernet0"
	Address string // of that: `switch.tor.port["Ethernet0"]`
	Text    string // what holds there: "priority 3, queue 3"
	Label   Label  // where that was written
}

// JSONStep is a step for programs.
type JSONStep struct {
	Address string       `json:"address"`
	Message string       `json:"message"`
	Range   *JSONRange   `json:"range,omitempty"`
	Snippet *JSONSnippet `json:"snippet,omitempty"`
}

func jsonSteps(steps []Step, view *source.View) []JSONStep {
	var out []JSONStep
	for i := range steps {
		s := &steps[i]
		out = append(out, JSONStep{readableAddress(s.Address), readable(s.Text), jsonRange(s.Label.Span, view), jsonSnippet(&s.Label, view)})
	}
	return out
}

// steps prints a counterexample, one hop a line, with the place of each.
func (p *printer) steps(steps []Step) {
	if len(steps) == 0 {
		return
	}
	p.line("")
	at, text := 0, 0
	for i := range steps {
		at, text = max(at, utf8.RuneCountInString(readable(steps[i].At))), max(text, utf8.RuneCountInString(readable(steps[i].Text)))
	}
	for i := range steps {
		s := &steps[i]
		line := fmt.Sprintf("  %d. %s  %s", i+1, pad(readable(s.At), at), pad(readable(s.Text), text))
		if name := p.view.Name(s.Label.Span.File); name != "" {
			place := Printable(name)
			if start, _, ok := p.view.Range(s.Label.Span); ok {
				place += fmt.Sprintf(":%d", start.Line)
			}
			line += "  " + place
		}
		p.line(line)
	}
}

// pad fills text up to a width in characters.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(width-utf8.RuneCountInString(s), 0))
}
