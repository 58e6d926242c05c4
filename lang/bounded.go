package lang

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/rocec/rocec/lang/funcs"
)

// maxLateSteps is Options.MaxLateSteps unless one is given.
const maxLateSteps = 2_000_000

// askSteps is what a question to the fabric costs besides its rows.
const askSteps = 100

// maxParts bounds the value of one expression, all that is nested in it counted.
const maxParts = 2_000_000

func (ld *loader) stepLimit() int { return cmp.Or(ld.MaxLateSteps, maxLateSteps) }

// spent reports whether the evaluation under way has no steps left.
func (ld *loader) spent() bool { return ld.steps > ld.stepLimit() }

func (ld *loader) tooLong() string {
	if !ld.late {
		return fmt.Sprintf("this takes more than %d steps: elements that `for` goes over", ld.stepLimit())
	}
	return fmt.Sprintf("this takes more than %d steps: elements that `for` goes over, what functions take and give, and rows that the fabric answers with", ld.stepLimit())
}

// gone charges a collection that is gone over; false, with what to report, where
// nothing is left. What is asked after that is over at once and says nothing more.
func gone(ctx *hcl.EvalContext, v cty.Value, at hcl.Range) (bool, hcl.Diagnostics) {
	s := scopeOf(ctx)
	if s == nil {
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

// A function goes over its arguments and its result much faster than `for` over
// elements: one step is for so many of these, or for so many bytes of text.
const (
	elementsOfStep = 8
	bytesOfStep    = 512
)

// charged are functions as they are once the fabric is there: each call takes
// steps by what goes in and comes out.
func (ld *loader) charged(all map[string]function.Function) map[string]function.Function {
	out := make(map[string]function.Function, len(all))
	for name, f := range all {
		out[name] = function.New(&function.Spec{
			Params: f.Params(), VarParam: f.VarParam(), Type: f.ReturnTypeForValues,
			Impl: func(args []cty.Value, is cty.Type) (cty.Value, error) {
				if ld.spent() {
					return cty.UnknownVal(is), nil // somebody said so
				}
				ld.steps++
				for _, a := range args {
					ld.steps += load(a)
				}
				if ld.spent() {
					return cty.DynamicVal, errors.New(ld.tooLong())
				}
				v, err := f.Call(args)
				if err != nil {
					return v, err
				}
				if ld.steps += load(v); ld.spent() {
					return cty.DynamicVal, errors.New(ld.tooLong())
				}
				return v, nil
			},
		})
	}
	return out
}

// load is the steps for a value that a function takes or gives.
func load(v cty.Value) int {
	v, _ = v.Unmark()
	switch {
	case !v.IsKnown() || v.IsNull():
	case v.Type() == cty.String:
		return len(v.AsString()) / bytesOfStep
	case v.CanIterateElements():
		return v.LengthInt() / elementsOfStep
	}
	return 0
}

// tooLarge says what is too much of a value that an expression has: one that is
// put together of itself doubles with every local. known reports whether nothing
// in it is unknown.
func tooLarge(v cty.Value) (known bool, why string) {
	parts := maxParts
	known = wholly(v, &parts)
	if parts < 0 {
		return false, fmt.Sprintf("this value has more than %d parts", maxParts)
	}
	if v, _ = v.Unmark(); known && !v.IsNull() && v.Type() == cty.String && len(v.AsString()) > funcs.MaxTextBytes {
		return false, fmt.Sprintf("this text has %d bytes, and %d are allowed", len(v.AsString()), funcs.MaxTextBytes)
	}
	return known, ""
}

// wholly is Value.IsWhollyKnown, as long as there are parts left.
func wholly(v cty.Value, left *int) bool {
	if *left--; *left < 0 {
		return false
	}
	v, _ = v.Unmark()
	switch {
	case !v.IsKnown():
		return false
	case v.IsNull() || v.Type().IsPrimitiveType() || !v.CanIterateElements():
		return true
	case v.Type().IsSetType() && v.Type().ElementType().IsPrimitiveType(): // an unknown element makes all of a set unknown, and going over one sorts it
		*left -= v.LengthInt()
		return *left >= 0
	}
	for it := v.ElementIterator(); it.Next(); {
		if _, e := it.Element(); !wholly(e, left) {
			return false
		}
	}
	return true
}
