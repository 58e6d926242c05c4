package langtest

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/rocec/rocec/lang/schema"
)

// Word is an attribute of a block, or a field of one that is an object, as it stands in
// a source. A former name counts as the present one.
type Word struct {
	Key        string // "port.cable", "port.cable.length"
	Start, End int    // what has to be cut out to leave it out
}

// Block is a block of a source.
type Block struct {
	Open  int               // behind its opening brace
	Attrs map[string][2]int // where its attributes start and end
}

// Words lists the words of a source that are in the schema, in their order; none of one
// that cannot be parsed.
func Words(text string) []Word {
	var list []Word
	walk(text, func(kind schema.Kind, b *hclsyntax.Block) {
		for name, a := range b.Body.Attributes {
			if def := schema.LookupFormer(kind, name); def != nil {
				one := Word{kind.String() + "." + def.Num.Name(), a.SrcRange.Start.Byte, a.SrcRange.End.Byte}
				list = append(append(list, one), fields(one.Key, def.Type, a.Expr)...)
			}
		}
	})
	slices.SortFunc(list, func(a, b Word) int { return a.Start - b.Start })
	return list
}

// Blocks lists the first blocks of a word.
func Blocks(text, word string, most int) []Block {
	var list []Block
	walk(text, func(kind schema.Kind, b *hclsyntax.Block) {
		if b.Type != word || len(list) == most {
			return
		}
		attrs := map[string][2]int{}
		for name, a := range b.Body.Attributes {
			if def := schema.LookupFormer(kind, name); def != nil {
				name = def.Num.Name()
			}
			attrs[name] = [2]int{a.SrcRange.Start.Byte, a.SrcRange.End.Byte}
		}
		list = append(list, Block{b.OpenBraceRange.End.Byte, attrs})
	})
	return list
}

func walk(text string, visit func(schema.Kind, *hclsyntax.Block)) {
	file, diags := hclsyntax.ParseConfig([]byte(text), "fabric.roce.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		return
	}
	var inside func(parent schema.Kind, blocks hclsyntax.Blocks)
	inside = func(parent schema.Kind, blocks hclsyntax.Blocks) {
		for _, b := range blocks {
			if k := schema.ByWord(parent, b.Type); k != schema.None {
				visit(k, b)
				inside(k, b.Body.Blocks)
			}
		}
	}
	inside(schema.None, file.Body.(*hclsyntax.Body).Blocks)
}

// fields are those of an object that is written out.
func fields(of string, t schema.Type, e hclsyntax.Expression) []Word {
	var list []Word
	switch x := e.(type) {
	case *hclsyntax.TupleConsExpr:
		for _, in := range x.Exprs {
			list = append(list, fields(of, t, in)...)
		}
	case *hclsyntax.ObjectConsExpr:
		for i, it := range x.Items {
			if t.Base == schema.Map && t.Elem != nil {
				list = append(list, fields(of, *t.Elem, it.ValueExpr)...)
				continue
			}
			field := schema.Named(t.Fields, hcl.ExprAsKeyword(it.KeyExpr))
			if field == nil {
				continue
			}
			one := Word{of + "." + field.Num.Name(), it.KeyExpr.Range().Start.Byte, it.ValueExpr.Range().End.Byte}
			if i+1 < len(x.Items) {
				one.End = x.Items[i+1].KeyExpr.Range().Start.Byte
			} else if i > 0 {
				one.Start = x.Items[i-1].ValueExpr.Range().End.Byte
			}
			list = append(list, one)
		}
	}
	return list
}
