package lang

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// eachPlaces is where the keys of one for_each stand, for who asks.
type eachPlaces struct {
	head string                        // address of the family: `module.pod1.node.gpu`
	keys func() map[string]source.Span // made when the first is asked for
	list hclsyntax.Expression          // the for_each
	file source.FileID                 // it stands in
	uses []eachUse
}

// eachUse is an attribute inside a for_each that says what its element says.
type eachUse struct {
	at   source.Span
	name string   // of the attribute
	path []string // of the element: nil for each.value, {"slot"} for each.value.slot
	key  bool     // it is the key that is said
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
func (ld *loader) place(m *modinst, di int32, list []*eachVal, e *expr, file source.FileID) {
	d, tree := &m.unit.decls[di], e.tree
	if root, is := tree.(*rootNode); is && root.trav.RootName() == "local" && len(root.trav) == 2 {
		if step, is := root.trav[1].(hcl.TraverseAttr); is && m.locals[step.Name] != nil {
			c := m.locals[step.Name]
			tree, file = c.next.expr, c.origin.File
		}
	}
	find := func() map[string]source.Span { return writtenKeys(tree, file) }
	if len(list) > 0 && list[0].rows != nil {
		rows, table := list[0].rows, ld.rowFiles[list[0].rows]
		find = func() map[string]source.Span { return rowsByKey(rows, table) }
	}
	ld.cfg.places = append(ld.cfg.places, eachPlaces{
		head: topAddress(m.addr, d.kind, m.text(d.label), ""), keys: sync.OnceValue(find), list: tree, file: file, uses: ld.usesOf(m.unit, di),
	})
}

// usesOf are the attributes of a block, and of the blocks in it, that take a value from its for_each.
func (ld *loader) usesOf(u *unit, di int32) []eachUse {
	key := unitDecl{u, di}
	if list, known := ld.eachUses[key]; known {
		return list
	}
	var list []eachUse
	for i := di; i < u.decls[di].end; i++ {
		d := &u.decls[i]
		for j := range u.attrsOf(d) {
			a := u.attr(d, j)
			if a.expr() == 0 || a.num == schema.AForEach {
				continue
			}
			f := u.fileOf(d, a)
			if use, ok := useOf(a.num, f.exprs[a.expr()-1].tree); ok {
				use.at, use.name = a.at.in(f.id), a.num.Name()
				list = append(list, use)
			}
		}
	}
	if ld.eachUses == nil {
		ld.eachUses = map[unitDecl][]eachUse{}
	}
	ld.eachUses[key] = list
	return list
}

// unitDecl is a block of a module.
type unitDecl struct {
	unit *unit
	decl int32
}

// useOf is what an attribute takes from `each` as it is, or one field of its object does. The ends
// of a link take the whole element, whatever they make of it: it is what says where the cable is.
func useOf(n schema.Attr, e hclsyntax.Expression) (use eachUse, ok bool) {
	if object, is := e.(*hclsyntax.ObjectConsExpr); is {
		for _, item := range object.Items {
			if field, is := useOf(n, item.ValueExpr); is {
				if ok {
					return eachUse{}, false // two of them
				}
				use, ok = field, true
			}
		}
		return use, ok
	}
	if n == schema.AEnds {
		use.key = true
		findRoots(e, func(trav hcl.Traversal) {
			if words := eachWords(trav); words != nil {
				ok, use.key = true, use.key && words[0] == "key"
			}
		})
		return use, ok
	}
	root, is := e.(*rootNode)
	if !is {
		return eachUse{}, false
	}
	words := eachWords(root.trav)
	if words == nil {
		return eachUse{}, false
	}
	return eachUse{key: words[0] == "key", path: words[1:]}, true
}

// eachWords are the words of each.value.slot after the first, nil for other references.
func eachWords(trav hcl.Traversal) (words []string) {
	if trav.RootName() != "each" {
		return nil
	}
	for _, step := range trav[1:] {
		word := ""
		switch step := step.(type) {
		case hcl.TraverseAttr:
			word = step.Name
		case hcl.TraverseIndex:
			if v, err := convert.Convert(step.Key, cty.String); err == nil && !v.IsNull() {
				word = v.AsString()
			}
		}
		words = append(words, word)
	}
	return words
}

// SaidBy is where the for_each says what an attribute inside it takes of it for the instance
// that an address is of; zero if it takes nothing, or that stands elsewhere. It says what is
// read there: `slot of n1`.
func (c *Config) SaidBy(at source.Span, address string) (said source.Span, what string) {
	for i := range c.places {
		p := &c.places[i]
		rest, ok := strings.CutPrefix(address, p.head+`["`)
		if !ok {
			continue
		}
		u := slices.IndexFunc(p.uses, func(u eachUse) bool { return u.at == at })
		if key, _, ok := strings.Cut(rest, `"]`); ok && u >= 0 {
			return p.element(key, &p.uses[u]), p.uses[u].name + " of " + key
		}
	}
	return source.Span{}, ""
}

// element is where a for_each that is written out says what a use takes of one of its keys.
func (p *eachPlaces) element(key string, use *eachUse) source.Span {
	x, v := memberOf(p.list, key)
	if x == nil {
		return source.Span{}
	}
	if use.key {
		return placeOf(x.Range()).in(p.file)
	}
	for _, word := range use.path {
		if _, v = memberOf(v, word); v == nil {
			return source.Span{}
		}
	}
	return placeOf(v.Range()).in(p.file)
}

// memberOf is the key and the value of one member of an object, a tuple or a set that is written out.
func memberOf(e hclsyntax.Expression, key string) (k, v hclsyntax.Expression) {
	if call, ok := e.(*hclsyntax.FunctionCallExpr); ok && call.Name == "toset" && len(call.Args) == 1 {
		if set, ok := call.Args[0].(*hclsyntax.TupleConsExpr); ok {
			for _, x := range set.Exprs {
				if said(x) == key {
					return x, x
				}
			}
		}
		return nil, nil
	}
	switch e := e.(type) {
	case *hclsyntax.ObjectConsExpr:
		for _, item := range e.Items {
			if said(item.KeyExpr) == key {
				return item.KeyExpr, item.ValueExpr
			}
		}
	case *hclsyntax.TupleConsExpr:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(e.Exprs) {
			return e.Exprs[i], e.Exprs[i]
		}
	}
	return nil, nil
}

// said is the text of an expression that is written out, "" for others.
func said(e hclsyntax.Expression) string {
	if v, diags := e.Value(nil); !diags.HasErrors() && v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
		return v.AsString()
	}
	return ""
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
		if k := said(x); k != "" {
			keys[k] = placeOf(x.Range()).in(file)
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
