package langtest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Tree is a block of a source, or the whole of it, without its comments.
type Tree struct {
	Head  string      // the type with the labels as they are written: `port "Ethernet0"`
	Attrs [][2]string // names and expressions, as text, in the order of the source
	Kids  []*Tree
}

// Parse reads a source into a tree.
func Parse(src []byte, name string) (*Tree, error) {
	file, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	root := &Tree{}
	root.read(src, file.Body.(*hclsyntax.Body))
	return root, nil
}

func (t *Tree) read(src []byte, body *hclsyntax.Body) {
	attrs := make([]*hclsyntax.Attribute, 0, len(body.Attributes))
	for _, a := range body.Attributes {
		attrs = append(attrs, a)
	}
	slices.SortFunc(attrs, func(a, b *hclsyntax.Attribute) int { return cmp.Compare(a.SrcRange.Start.Byte, b.SrcRange.Start.Byte) })
	for _, a := range attrs {
		t.Attrs = append(t.Attrs, [2]string{a.Name, strings.TrimSpace(string(src[a.EqualsRange.End.Byte:a.SrcRange.End.Byte]))})
	}
	for _, b := range body.Blocks {
		kid := &Tree{Head: strings.TrimSpace(string(src[b.TypeRange.Start.Byte:b.OpenBraceRange.Start.Byte]))}
		kid.read(src, b.Body)
		t.Kids = append(t.Kids, kid)
	}
}
