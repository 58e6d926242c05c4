package lang

import (
	"cmp"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// maxLateSteps is Options.MaxLateSteps unless one is given.
const maxLateSteps = 2_000_000

// askSteps is what a question to the fabric costs besides its rows.
const askSteps = 100

func (ld *loader) stepLimit() int { return cmp.Or(ld.MaxLateSteps, maxLateSteps) }

// spent reports whether the evaluation under way has no steps left.
func (ld *loader) spent() bool { return ld.steps > ld.stepLimit() }

func (ld *loader) tooLong() string {
	return fmt.Sprintf("this takes more than %d steps: elements that `for` goes over, and rows that the fabric answers with", ld.stepLimit())
}

// gone charges a collection that is gone over; false, with what to report, where
// nothing is left. What is asked after that is over at once and says nothing more.
func gone(ctx *hcl.EvalContext, v cty.Value, at hcl.Range) (bool, hcl.Diagnostics) {
	s := scopeOf(ctx)
	if s == nil || !s.ld.late {
		return true, nil
	}
	n := 1
	if plain, _ := v.Unmark(); plain.IsKnown() && !plain.IsNull() && plain.CanIterateElements() {
		n += plain.LengthInt()
	}
	if s.ld.spent() {
		return false, nil
	}
	if s.ld.steps += n; s.ld.spent() {
		return false, hcl.Diagnostics{errorAt(at, s.ld.tooLong(), "")}
	}
	return true, nil
}

// overNode is the collection of a for expression.
type overNode struct{ hclsyntax.Expression }

func (n *overNode) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := n.Expression.Value(ctx)
	if ok, more := gone(ctx, v, n.Range()); !ok {
		return cty.EmptyTupleVal, append(diags, more...)
	}
	return v, diags
}
