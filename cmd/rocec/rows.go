package main

import (
	"context"
	"slices"
	"strings"

	"github.com/rocec/rocec/deploy/checkout"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
)

// mostRows is how many rows of tables a finding shows besides its declarations: those of
// both ends.
const mostRows = 2

// rows adds the rows of tables that findings come of: to each member its own, and for
// people those of the first. What is written in the block stays the cause: a row alone
// parts no findings.
func (p *project) rows(list diag.List) {
	for i := range list {
		d := &list[i]
		d.Members = slices.Clone(d.Members)
		for j := range d.Members {
			d.Members[j].Row = p.cfg.RowOf(d.Members[j].Address)
		}
		shown := 0
		for _, a := range append([]string{d.Address}, d.Concerns...) {
			at := p.cfg.RowOf(a)
			if at.IsZero() || isConfiguration(p.cfg.Files.Name(at.File)) || shown == mostRows ||
				slices.ContainsFunc(d.Labels, func(l diag.Label) bool { return l.Span == at }) {
				continue
			}
			d.Labels = append(slices.Clip(d.Labels), diag.Label{Span: at, Text: "row"})
			shown++
		}
		p.rows(d.Follows)
	}
}

// changed points findings at the row of a table, or key of a for_each, that came with the
// change: a commit is compared with what it was before. What is written in the block is
// then told as what uses it.
func (p *project) changed(ctx context.Context, base string, list diag.List) {
	before := map[source.FileID]string{}
	isNew := func(at source.Span) bool {
		s, ok := p.view.Snippet(at)
		if at.IsZero() || !ok {
			return false
		}
		text, known := before[at.File]
		if !known {
			if b, err := checkout.Run(ctx, p.dir, "cat-file", "blob", base+":./"+p.cfg.Files.Name(at.File)); err == nil {
				text = "\n" + strings.ReplaceAll(string(b), "\r\n", "\n") + "\n"
			}
			before[at.File] = text
		}
		return !strings.Contains(text, "\n"+s.Code+"\n")
	}
	for i := range list {
		d := &list[i]
		of := []diag.Member{{Address: d.Address, Summary: d.Summary}}
		for _, a := range d.Concerns {
			of = append(of, diag.Member{Address: a, Summary: d.Summary})
		}
		for _, m := range append(of, d.Members...) {
			at := p.cfg.RowOf(m.Address)
			if !isNew(at) {
				continue
			}
			labels := []diag.Label{{Span: at, Text: ""}}
			for _, l := range d.Labels {
				if l.Span == at {
					continue
				}
				if l.Text == "" {
					l.Text = "what uses it"
				}
				labels = append(labels, l)
			}
			d.Summary, d.Labels = m.Summary, labels
			break
		}
	}
}
