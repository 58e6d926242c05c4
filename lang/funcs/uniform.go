package funcs

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

// A for expression makes a tuple, and the library makes a list of a tuple by
// comparing the type of each element with that of every other: at twenty
// thousand elements that takes seconds. Where all are of one type there is
// nothing to compare.

// uniformFrom is the number of elements from which that is worth a look.
const uniformFrom = 32

// Uniform is a tuple whose elements are all of one type as a list of it; ok is
// false for all other values, and for short ones.
func Uniform(v cty.Value) (list cty.Value, ok bool) {
	t := v.Type()
	if !t.IsTupleType() || v.IsMarked() || !v.IsKnown() || v.IsNull() || v.LengthInt() < uniformFrom {
		return v, false
	}
	types := t.TupleElementTypes()
	if types[0].HasDynamicTypes() {
		return v, false
	}
	for _, other := range types[1:] {
		if !other.Equals(types[0]) {
			return v, false
		}
	}
	return cty.ListVal(v.AsValueSlice()), true
}

// uniformMap is the same for an object: a map.
func uniformMap(v cty.Value) (cty.Value, bool) {
	t := v.Type()
	if !t.IsObjectType() || v.IsMarked() || !v.IsKnown() || v.IsNull() || v.LengthInt() < uniformFrom {
		return v, false
	}
	var first cty.Type
	for _, of := range t.AttributeTypes() {
		if first == cty.NilType {
			first = of
		}
		if !of.Equals(first) || of.HasDynamicTypes() {
			return v, false
		}
	}
	return cty.MapVal(v.AsValueMap()), true
}

// converted is convert.Convert, in a time that grows with the elements. What
// goes from primitive to primitive goes element by element.
func converted(v cty.Value, want cty.Type) (cty.Value, error) {
	list, ok := Uniform(v)
	if !ok {
		if m, ok := uniformMap(v); ok && want.IsMapType() {
			list = m
		}
		return convert.Convert(list, want)
	}
	if !want.IsListType() && !want.IsSetType() {
		return convert.Convert(v, want)
	}
	if of := want.ElementType(); of != dyn && of.IsPrimitiveType() && !of.Equals(list.Type().ElementType()) {
		elems := list.AsValueSlice()
		for i, e := range elems {
			to, err := convert.Convert(e, of)
			if err != nil {
				return cty.NilVal, cty.Path{cty.IndexStep{Key: cty.NumberIntVal(int64(i))}}.NewError(err)
			}
			elems[i] = to
		}
		list = cty.ListVal(elems)
	}
	if want.IsSetType() && want.ElementType() == dyn {
		return cty.SetVal(list.AsValueSlice()), nil
	}
	return convert.Convert(list, want)
}

// uniform is a function that converts its arguments to lists, sets and maps by
// itself.
func uniform(f function.Function) function.Function {
	collection := func(p function.Parameter) bool {
		return p.Type.IsListType() || p.Type.IsSetType() || p.Type.IsMapType()
	}
	params, rest := f.Params(), f.VarParam()
	some := rest != nil && collection(*rest)
	want := make([]cty.Type, len(params))
	for i, p := range params {
		want[i] = p.Type
		if collection(p) {
			some = true
			params[i].Type = dyn
		}
	}
	if !some {
		return f
	}
	last := cty.NilType
	if rest != nil {
		last = rest.Type
		if collection(*rest) {
			any := *rest
			any.Type = dyn
			rest = &any
		}
	}
	as := func(args []cty.Value) ([]cty.Value, error) {
		out := make([]cty.Value, len(args))
		for i, a := range args {
			to := last
			if i < len(want) {
				to = want[i]
			}
			v, err := converted(a, to)
			if err != nil {
				return nil, function.NewArgError(i, err)
			}
			out[i] = v
		}
		return out, nil
	}
	return function.New(&function.Spec{
		Description: f.Description(), Params: params, VarParam: rest,
		Type: func(args []cty.Value) (cty.Type, error) {
			args, err := as(args)
			if err != nil {
				return cty.NilType, err
			}
			return f.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			args, err := as(args)
			if err != nil {
				return cty.NilVal, err
			}
			return f.Call(args)
		},
	})
}

// conversion is stdlib.MakeToFunc for collections.
func conversion(want cty.Type, make function.Function) function.Function {
	fast := func(v cty.Value) (cty.Value, bool) {
		if want.IsMapType() {
			return uniformMap(v)
		}
		list, ok := Uniform(v)
		if ok && want.IsSetType() {
			list = cty.SetVal(list.AsValueSlice())
		}
		return list, ok
	}
	return function.New(&function.Spec{
		Description: make.Description(), Params: make.Params(),
		Type: func(args []cty.Value) (cty.Type, error) {
			if v, ok := fast(args[0]); ok {
				return v.Type(), nil
			}
			return make.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if v, ok := fast(args[0]); ok {
				return v, nil
			}
			return make.Call(args)
		},
	})
}
