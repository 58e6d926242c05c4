package lang

import (
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// eachPlaces is where the keys of one for_each stand, for who asks.
type eachPlaces struct {
	head string                        // address of the family: `module.pod1.node.gpu`
	keys func() map[string]source.Span // made when the first is asked for
}

// RowOf is the row of the table that an instance comes of, or the key in the for_each that
// makes it, by the address of the instance or of anything inside it; zero if its for_each
// takes them from elsewhere.
func (c *Config) RowOf(address string) source.Span {
	for i := range c.places {
		p := &c.places[i]
		rest, ok := strings.CutPrefix(address, p.head+`["`)
		if !ok {
			continue
		}
		if key, _, ok := strings.Cut(rest, `"]`); ok {
			return p.keys()[key]
		}
	}
	return source.Span{}
}

// place notes where the keys of a for_each stand.
func (ld *loader) place(m *modinst, kind schema.Kind, label string, list []*eachVal, e *expr, file source.FileID) {
	find := func() map[string]source.Span { return writtenKeys(e.tree, file) }
	if len(list) > 0 && list[0].rows != nil {
		rows, table := list[0].rows, ld.rowFiles[list[0].rows]
		find = func() map[string]source.Span { return rowsByKey(rows, table) }
	}
	ld.cfg.places = append(ld.cfg.places, eachPlaces{topAddress(m.addr, kind, label, ""), sync.OnceValue(find)})
}

func rowsByKey(rows *funcs.Rows, file source.FileID) map[string]source.Span {
	keys := make(map[string]source.Span, len(rows.Keys))
	for row, k := range rows.Keys {
		at := rows.KeyOffset[row]
		keys[k] = source.Span{File: file, Start: at.Start, Len: at.Len}
	}
	return keys
}

// writtenKeys are the keys of a map or set that is written out.
func writtenKeys(tree hclsyntax.Expression, file source.FileID) map[string]source.Span {
	keys := map[string]source.Span{}
	if call, ok := tree.(*hclsyntax.FunctionCallExpr); ok && call.Name == "toset" && len(call.Args) == 1 {
		tree = call.Args[0]
	}
	note := func(x hclsyntax.Expression) {
		if v, diags := x.Value(nil); !diags.HasErrors() && v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
			keys[v.AsString()] = placeOf(x.Range()).in(file)
		}
	}
	switch tree := tree.(type) {
	case *hclsyntax.ObjectConsExpr:
		for _, item := range tree.Items {
			note(item.KeyExpr)
		}
	case *hclsyntax.TupleConsExpr:
		for _, x := range tree.Exprs {
			note(x)
		}
	}
	return keys
}
