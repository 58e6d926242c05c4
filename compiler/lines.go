package compiler

import (
	"slices"
	"strings"

	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
)

// Lines points findings at the lines that say what they tell: at the element of a for_each
// rather than at the attribute that reads it, and once at a line that makes both ends what
// they are, with the other end named. The findings are folded: whose cause is one block stay one.
func Lines(cfg *lang.Config, list diag.List) diag.List {
	for i := range list {
		d := &list[i]
		d.Edits = elementEdits(cfg, d)
		d.Labels = ownLines(cfg, d)
		d.Follows = Lines(cfg, d.Follows)
	}
	return list
}

// ownLines are the labels of a finding, each with a line of its own.
func ownLines(cfg *lang.Config, d *diag.Diagnostic) []diag.Label {
	addresses := append([]string{d.Address}, d.Concerns...)
	at := func(span source.Span) func(diag.Label) bool {
		return func(l diag.Label) bool { return l.Span == span }
	}
	var out []diag.Label
	for _, l := range d.Labels {
		for _, a := range addresses {
			if said, what := cfg.SaidBy(l.Span, a); !said.IsZero() && !slices.ContainsFunc(out, at(said)) {
				l.Span, l.Values = said, append(slices.Clip(l.Values), "read as "+what)
				break
			}
		}
		if same := slices.IndexFunc(out, at(l.Span)); same >= 0 && !l.Span.IsZero() {
			if l.Text != "" && !strings.HasPrefix(l.Text, "used by") {
				out[same].Values = append(slices.Clip(out[same].Values), "the same line: "+l.Text)
			}
			out[same].Values = append(slices.Clip(out[same].Values), l.Values...)
			continue
		}
		out = append(out, l)
	}
	return out
}

// elementEdits are the edits of a finding, with those of an attribute that says what an
// element of a for_each says made edits of the elements of all members.
func elementEdits(cfg *lang.Config, d *diag.Diagnostic) []diag.Edit {
	var out []diag.Edit
	for _, e := range d.Edits {
		n := len(out)
		for _, m := range append([]diag.Member{{Address: d.Address}}, d.Members...) {
			said, _ := cfg.SaidBy(e.Span, m.Address)
			element := diag.Edit{Span: said, New: e.New}
			if !said.IsZero() && e.New != "" && !slices.Contains(out, element) {
				out = append(out, element)
			}
		}
		if len(out) == n {
			out = append(out, e)
		}
	}
	return out
}
