package lang

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// maxLateSteps bounds one evaluation over the compiled fabric: conditions of
// checks and tests, and what a console is asked. A step is an element that a
// `for` or a splat goes over, or a row that the fabric answers with.
const maxLateSteps = 5_000_000

// askSteps is what a question to the fabric costs besides its rows.
const askSteps = 200

// charge takes steps from what an evaluation may still do; false: nothing is left.
func (ld *loader) charge(steps int) bool {
	ld.steps += steps
	return ld.steps <= maxLateSteps
}

func tooLong() string {
	return fmt.Sprintf("this takes more than %d steps: elements that `for` goes over, and rows that the fabric answers with", maxLateSteps)
}

// counted is a collection that is gone over: each evaluation charges its length.
type counted struct {
	hclsyntax.Expression
	ld *loader
}

// Value evaluates the collection.
func (c *counted) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := c.Expression.Value(ctx)
	n := 1
	if plain, _ := v.Unmark(); plain.IsKnown() && !plain.IsNull() && plain.CanIterateElements() {
		n += plain.LengthInt()
	}
	if c.ld.charge(n) {
		return v, diags
	}
	at := c.Range()
	return cty.DynamicVal, append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: tooLong(), Subject: &at})
}

// bounded has the loops of an expression counted, however often they are entered.
func (ld *loader) bounded(e hclsyntax.Expression) {
	count := func(coll *hclsyntax.Expression) {
		if c, done := (*coll).(*counted); done {
			c.ld = ld
			return
		}
		*coll = &counted{*coll, ld}
	}
	_ = hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
		switch x := n.(type) {
		case *hclsyntax.ForExpr:
			count(&x.CollExpr)
		case *hclsyntax.SplatExpr:
			count(&x.Source)
		}
		return nil
	})
}
