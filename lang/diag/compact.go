package diag

import (
	"fmt"
	"io"
	"strings"

	"github.com/rocec/rocec/lang/source"
)

// Compact prints one line per finding, as editors and grep take it:
// "file:line:col: severity - message (rule)". The rule is its name if rules
// knows it, else its ID. Without a place the line starts with the severity; of
// a file that is not at hand only the name is printed.
func Compact(w io.Writer, list List, view *source.View, rules Lookup) error {
	var b strings.Builder
	list = Bounded(list)
	for i := range list {
		d := &list[i]
		span := d.Span()
		if name := view.Name(span.File); name != "" {
			b.WriteString(readable(name))
			if start, _, ok := view.Range(span); ok {
				fmt.Fprintf(&b, ":%d:%d", start.Line, start.Column)
			}
			b.WriteString(": ")
		}
		fmt.Fprintf(&b, "%s - %s", d.Severity, readable(d.Summary))
		if others := d.Others(); others != "" {
			b.WriteString("; used by " + readable(others))
		}
		rule := rules.name(d.Rule)
		if rule == "" {
			rule = readable(d.Rule)
		}
		if rule != "" {
			b.WriteString(" (" + rule + ")")
		}
		for j := range d.Follows {
			b.WriteString("; follows: " + readable(d.Follows[j].consequence()))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
