package format

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Step is one step of a reference after its first word: `.leaf`, `[3]` or
// `["a"]`, as its text.
type Step struct {
	Text  string
	Index bool // in brackets
}

// Leave says how a file does without the blocks of a word.
type Leave struct {
	Word  string                                  // the first word of references
	Refer func(steps []Step) (text string, n int) // what stands in place of the word and its first n steps, "" leaves them
	Drop  func(block, attr string) (without bool) // attributes that go, and with attr "" blocks
}

// Without rewrites the references of a file to blocks that are gone, takes out
// what had a meaning beside them only, and formats it if anything was changed.
// With a problem it returns src itself.
func Without(name string, src []byte, l Leave) ([]byte, *Problem) {
	tree, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return src, problemOf(diags)
	}
	type cut struct {
		from, to int
		text     string
	}
	var cuts []cut
	refer := func(e hclsyntax.Expression) {
		hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
			if trav, ok := n.(*hclsyntax.ScopeTraversalExpr); ok && trav.Traversal.RootName() == l.Word {
				steps := stepsOf(trav.Traversal[1:])
				if text, n := l.Refer(steps); text != "" {
					cuts = append(cuts, cut{trav.SrcRange.Start.Byte, trav.Traversal[n].SourceRange().End.Byte, text})
				}
			}
			return nil
		})
	}
	var walk func(block string, body *hclsyntax.Body)
	walk = func(block string, body *hclsyntax.Body) {
		for attr, a := range body.Attributes {
			if l.Drop(block, attr) {
				from, to := wholeLine(src, a.SrcRange.Start.Byte, a.SrcRange.End.Byte)
				cuts = append(cuts, cut{from, to, ""})
				continue
			}
			refer(a.Expr)
		}
		for _, b := range body.Blocks {
			if l.Drop(b.Type, "") {
				from, to := wholeLine(src, b.TypeRange.Start.Byte, b.CloseBraceRange.End.Byte)
				cuts = append(cuts, cut{from, to, ""})
				continue
			}
			walk(b.Type, b.Body)
		}
	}
	walk("", tree.Body.(*hclsyntax.Body))
	if len(cuts) == 0 {
		return src, nil
	}
	// From the last to the first, so that offsets hold.
	slices.SortFunc(cuts, func(a, b cut) int { return b.from - a.from })
	out := slices.Clone(src)
	for _, c := range cuts {
		out = slices.Concat(out[:c.from], []byte(c.text), out[c.to:])
	}
	tidied, problem := Source(name, out)
	if problem != nil {
		return src, problem
	}
	return tidied, nil
}

func stepsOf(t hcl.Traversal) []Step {
	steps := make([]Step, len(t))
	for i, s := range t {
		switch s := s.(type) {
		case hcl.TraverseAttr:
			steps[i] = Step{Text: s.Name}
		case hcl.TraverseIndex:
			steps[i].Index = true
			if s.Key.Type() == cty.String {
				steps[i].Text = s.Key.AsString()
			} else {
				steps[i].Text = s.Key.AsBigFloat().Text('f', -1)
			}
		}
	}
	return steps
}

// wholeLine widens a range to the lines that hold nothing else but a comment.
func wholeLine(src []byte, from, to int) (int, int) {
	start := bytes.LastIndexByte(src[:from], '\n') + 1
	end := len(src)
	if i := bytes.IndexByte(src[to:], '\n'); i >= 0 {
		end = to + i + 1
	}
	after := strings.TrimSpace(string(src[to:end]))
	if len(bytes.TrimSpace(src[start:from])) > 0 || after != "" && after[0] != '#' && !strings.HasPrefix(after, "//") {
		return from, to
	}
	return start, end
}
