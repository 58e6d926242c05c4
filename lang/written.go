package lang

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// attrKey names an attribute of an instance as it was written.
type attrKey struct {
	inst instID
	num  schema.Attr
}

// treeKey is a written value whose tree was dropped.
type treeKey struct {
	file  source.FileID
	start uint32
}

// written is the value of an attribute as it was written in its block, for
// expressions that read it through a reference. Null if it is not written.
func (ld *loader) written(id instID, n schema.Attr) (cty.Value, *mistake) {
	in := ld.insts[id]
	if in.decl < 0 {
		return cty.NullVal(cty.DynamicPseudoType), nil
	}
	key := attrKey{id, n}
	c, ok := ld.memo[key]
	if !ok {
		m := ld.mods[in.mod]
		d := &m.unit.decls[in.decl]
		a := m.unit.find(d, n)
		if a == nil {
			return ld.observedField(id, n)
		}
		f := m.unit.fileOf(d, a)
		c = &cell{what: n.Name() + " of " + ld.strs[d.head], span: a.at.in(f.id)}
		c.compute = func() (cty.Value, bool) {
			e := ld.tree(f, a)
			if e == nil || a.bad {
				return cty.DynamicVal, false
			}
			return (&scope{ld: ld, mod: m, inst: id}).eval(f, e)
		}
		ld.memo[key] = c
	}
	v, ok := ld.force(c)
	if !ok {
		return cty.DynamicVal, silent
	}
	return v, nil
}

func (u *unit) find(d *udecl, n schema.Attr) *attr {
	for i := range u.attrsOf(d) {
		if a := u.attr(d, i); a.num == n {
			return a
		}
	}
	return nil
}

// tree is the expression of an attribute. Those that were reduced are parsed
// again from the source, which is rare: only what expressions read.
func (ld *loader) tree(f *file, a *attr) *expr {
	if a.expr() != 0 {
		return &f.exprs[a.expr()-1]
	}
	key := treeKey{file: f.id, start: a.at.start}
	if e, ok := ld.trees[key]; ok {
		return e
	}
	end := a.at.start + a.at.length
	if int(end) < len(f.src) && f.src[end] == '\n' {
		end++ // a heredoc needs the end of its line
	}
	src := f.src[a.at.start:end]
	start := hcl.Pos{Line: 1, Column: 1, Byte: int(a.at.start)}
	var tree hclsyntax.Expression
	if f.json {
		je, diags := hcljson.ParseExpressionWithStartPos(src, f.name, start)
		if diags.HasErrors() {
			return nil
		}
		tree = (&jsonReader{src: f.src}).expr(je)
	} else {
		var diags hcl.Diagnostics
		if tree, diags = hclsyntax.ParseExpression(src, f.name, start); diags.HasErrors() {
			return nil
		}
	}
	var w rewriter
	e := &expr{tree: w.expr(tree), at: a.at}
	e.deps = w.deps
	ld.trees[key] = e
	return e
}

// originOf follows references to variables and locals to where the value was
// written.
func (ld *loader) originOf(m *modinst, e hclsyntax.Expression, depth int) source.Span {
	if depth > maxModules {
		return source.Span{}
	}
	var found source.Span
	findRoots(e, func(trav hcl.Traversal) {
		if !found.IsZero() || len(trav) < 2 {
			return
		}
		step, ok := trav[1].(hcl.TraverseAttr)
		if !ok {
			return
		}
		var c *cell
		switch trav.RootName() {
		case "var":
			c = m.vars[step.Name]
		case "local":
			c = m.locals[step.Name]
		}
		if c == nil || !c.done {
			return
		}
		found = c.origin
		if c.next == nil {
			return
		}
		if _, pure := c.next.expr.(*rootNode); pure {
			if further := ld.originOf(c.next.mod, c.next.expr, depth+1); !further.IsZero() {
				found = further
			}
		}
	})
	return found
}

// findRoots calls f for the references in a rewritten tree.
func findRoots(e hclsyntax.Expression, f func(hcl.Traversal)) {
	hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *rootNode:
			f(n.trav)
		}
		return nil
	})
}
