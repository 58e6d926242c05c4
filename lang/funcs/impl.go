package funcs

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// dyn is the type of parameters and results that depend on the call.
var dyn = cty.DynamicPseudoType

func param(name string, t cty.Type) function.Parameter {
	return function.Parameter{Name: name, Type: t}
}

func text(names ...string) []function.Parameter {
	ps := make([]function.Parameter, len(names))
	for i, n := range names {
		ps[i] = param(n, cty.String)
	}
	return ps
}

type body func(args []cty.Value) (cty.Value, error)

// fn makes a function of fixed parameters. Its body sees known, unmarked values
// that are not null at the top; nested nulls it must expect.
func fn(params []function.Parameter, result cty.Type, f body) function.Function {
	return variadic(params, nil, result, f)
}

func variadic(params []function.Parameter, rest *function.Parameter, result cty.Type, f body) function.Function {
	return function.New(&function.Spec{
		Params:   params,
		VarParam: rest,
		Type:     function.StaticReturnType(result),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			for _, a := range args {
				if !a.IsWhollyKnown() {
					return cty.UnknownVal(result), nil
				}
			}
			return f(args)
		},
	})
}

// guard puts a check of the arguments in front of a function that would
// otherwise make much of little. The result's type is left open, so that the
// function runs once and not once more for its type.
func guard(f function.Function, check func(args []cty.Value) error) function.Function {
	return function.New(&function.Spec{
		Params:   f.Params(),
		VarParam: f.VarParam(),
		Type:     function.StaticReturnType(dyn),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			plain := make([]cty.Value, len(args))
			for i, a := range args {
				plain[i], _ = a.UnmarkDeep()
				if !plain[i].IsWhollyKnown() {
					return f.Call(args)
				}
			}
			if err := check(plain); err != nil {
				return cty.NilVal, err
			}
			v, err := f.Call(args)
			if p := (function.PanicError{}); errors.As(err, &p) {
				// Seen in cty 1.19 for sets of nulls that have no type.
				return cty.NilVal, errors.New("values of these types do not go together")
			}
			if err == nil {
				err = checkText(v)
			}
			return v, err
		},
	})
}

// checkText refuses a string result that is too long.
func checkText(v cty.Value) error {
	v, _ = v.Unmark()
	if v.Type() == cty.String && v.IsKnown() && !v.IsNull() {
		return textLimit(len(v.AsString()))
	}
	return nil
}

func textLimit(n int) error {
	if n > MaxTextBytes {
		return fmt.Errorf("result would have more than %d bytes", MaxTextBytes)
	}
	return nil
}

func elementLimit(n int) error {
	if n > MaxElements {
		return fmt.Errorf("result would have more than %d elements", MaxElements)
	}
	return nil
}

// printedSize estimates the bytes of a value when it is printed, as text or as
// JSON, and gives up above the limit for text. A number counts: 1e600000000 is
// short in the source and 600 MB long in print.
func printedSize(v cty.Value) int {
	budget := MaxTextBytes + 1
	spend(v, &budget)
	return MaxTextBytes + 1 - budget
}

func spend(v cty.Value, budget *int) {
	if *budget <= 0 {
		*budget = 0
		return
	}
	*budget -= 4
	if v.IsNull() || !v.IsKnown() {
		return
	}
	switch t := v.Type(); {
	case t == cty.String:
		*budget -= len(v.AsString())
	case t == cty.Number:
		*budget -= digits(v.AsBigFloat())
	case v.CanIterateElements():
		for it := v.ElementIterator(); it.Next() && *budget > 0; {
			k, e := it.Element()
			if k.Type() == cty.String && (t.IsMapType() || t.IsObjectType()) {
				*budget -= len(k.AsString())
			}
			spend(e, budget)
		}
	}
	*budget = max(*budget, 0)
}

func digits(f *big.Float) int {
	e := f.MantExp(nil)
	return max(e, -e)/3 + int(f.MinPrec()/3) + 1
}

func checkPrinted(args []cty.Value) error {
	total := 0
	for _, a := range args {
		total += printedSize(a)
	}
	return textLimit(total)
}

// numberLimit bounds the exponent of numbers on which exact arithmetic is done.
func numberLimit(args []cty.Value) error {
	for i, a := range args {
		if a.Type() == cty.Number && !a.IsNull() && a.IsKnown() && digits(a.AsBigFloat()) > 4096 {
			return function.NewArgErrorf(i, "number has more than 4096 digits")
		}
	}
	return nil
}

// whole returns a number argument as an int.
func whole(args []cty.Value, i int) (int, error) {
	n, acc := args[i].AsBigFloat().Int64()
	if acc != big.Exact || int64(int(n)) != n {
		return 0, function.NewArgErrorf(i, "a whole number is needed")
	}
	return int(n), nil
}

func elements(v cty.Value) []cty.Value {
	if v.LengthInt() == 0 {
		return nil
	}
	return v.AsValueSlice()
}

func list(t cty.Type, vals []cty.Value) cty.Value {
	if len(vals) == 0 {
		return cty.ListValEmpty(t)
	}
	return cty.ListVal(vals)
}

func stringList(ss []string) cty.Value {
	vals := make([]cty.Value, len(ss))
	for i, s := range ss {
		vals[i] = cty.StringVal(s)
	}
	return list(cty.String, vals)
}
