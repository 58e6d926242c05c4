package format

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/rocec/rocec/lang/schema"
)

// inOrder puts the attributes of blocks into the order of the schema, within paragraphs: a blank line, a block or a comment on a line of
// its own parts them, and the attribute below a comment stays there. Whole lines change places, with the comments behind them. It
// returns src itself where the order is right.
func inOrder(name string, src []byte, tree *hclsyntax.Body) []byte {
	f := &fixer{Tree: Tree{name: name, src: src}, source: isSource(name)}
	f.walk((*fixer).order, nil, tree, site{})
	if len(f.changes) == 0 {
		return src
	}
	slices.SortFunc(f.changes, func(a, b Change) int { return a.Start - b.Start })
	var out []byte
	at := 0
	for _, c := range f.changes {
		out = append(append(out, src[at:c.Start]...), c.Text...)
		at = c.End
	}
	return append(out, src[at:]...)
}

// order is the move of inOrder.
func (f *fixer) order(b *hclsyntax.Block, body *hclsyntax.Body, s site) {
	if b == nil || schema.Rank(s.innermost(), "") == 0 {
		return
	}
	type line struct {
		piece
		rank int
	}
	var paragraph []line
	end := func() {
		if byRank := func(a, b line) int { return cmp.Compare(a.rank, b.rank) }; !slices.IsSortedFunc(paragraph, byRank) {
			whole := Change{Start: paragraph[0].from, End: paragraph[len(paragraph)-1].to}
			slices.SortStableFunc(paragraph, byRank)
			for _, l := range paragraph {
				whole.Text += string(f.src[l.from:l.to])
			}
			f.changes = append(f.changes, whole)
		}
		paragraph = nil
	}
	for _, p := range bodyPairs(body) {
		l := line{f.pieceOf(p), schema.Rank(s.innermost(), p.name)}
		if !l.alone || len(l.above) > 0 || len(paragraph) > 0 && paragraph[len(paragraph)-1].to != l.from {
			end()
		}
		if l.alone && len(l.above) == 0 {
			paragraph = append(paragraph, l)
		}
	}
	end()
}
