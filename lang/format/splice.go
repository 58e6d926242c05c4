package format

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Splice is one change of a block: another text in its place, or lines at the
// end of its body.
type Splice struct {
	At      int    // byte offset of the block's word
	Replace string // what stands in its place; "" leaves it
	Inside  string // lines that come last in it
}

// Blocks makes changes to blocks of a file and formats it. Comments and all else
// stay as they are. With a problem it returns src itself.
func Blocks(name string, src []byte, changes []Splice) ([]byte, *Problem) {
	if strings.HasSuffix(name, ".json") {
		return src, &Problem{0, 1, 1, "files in JSON are not rewritten"}
	}
	tree, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return src, problemOf(diags)
	}
	at := map[int]*hclsyntax.Block{}
	var walk func(*hclsyntax.Body)
	walk = func(body *hclsyntax.Body) {
		for _, b := range body.Blocks {
			at[b.TypeRange.Start.Byte] = b
			walk(b.Body)
		}
	}
	walk(tree.Body.(*hclsyntax.Body))
	// From the last to the first, so that offsets hold.
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(a, b Splice) int { return b.At - a.At })
	out := slices.Clone(src)
	for i, c := range changes {
		b := at[c.At]
		switch {
		case b == nil:
			return src, &Problem{c.At, 1, 1, fmt.Sprintf("no block begins at byte %d", c.At)}
		case i > 0 && changes[i-1].At == c.At:
			return src, &Problem{c.At, 1, 1, fmt.Sprintf("two changes of the block at byte %d", c.At)}
		case c.Replace != "":
			out = slices.Concat(out[:c.At], []byte(c.Replace), out[b.CloseBraceRange.End.Byte:])
			continue
		}
		first, last := b.OpenBraceRange.End.Byte, b.CloseBraceRange.Start.Byte
		inner := bytes.TrimRight(out[first:last], " \t\r\n")
		if b.OpenBraceRange.Start.Line == b.CloseBraceRange.Start.Line && len(inner) > 0 {
			inner = append([]byte("\n"), inner...)
		}
		out = slices.Concat(out[:first], inner, []byte("\n"+strings.TrimRight(c.Inside, "\n")+"\n"), out[last:])
	}
	tidied, problem := Source(name, out)
	if problem != nil {
		return src, problem
	}
	return tidied, nil
}
