package funcs

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func collectionFuncs() []Func {
	const group = "collection"
	return []Func{
		{"alltrue", "alltrue(list)", "Whether all elements are true. It is true for an empty list.", `alltrue([true, false])`, `false`, group, allTrueFunc()},
		{"anytrue", "anytrue(list)", "Whether any element is true. It is false for an empty list.", `anytrue([true, false])`, `true`, group, anyTrueFunc()},
		{"coalesce", "coalesce(vals...)", "The first argument that is neither null nor empty text.", `coalesce("", "b")`, `"b"`, group, coalesceFunc()},
		{"coalescelist", "coalescelist(vals...)", "The first list that is not empty.", `coalescelist([], ["b"])`, `["b"]`, group, guard(stdlib.CoalesceListFunc, anArgument)},
		{"compact", "compact(list)", "The list of strings without null and empty ones.", `compact(["a", "", "b"])`, `["a", "b"]`, group, stdlib.CompactFunc},
		{"concat", "concat(seqs...)", "Puts lists one after another.", `concat(["a"], ["b", "c"])`, `["a", "b", "c"]`, group, guard(stdlib.ConcatFunc, concatLimit)},
		{"contains", "contains(list, value)", "Whether a list or set has the value as an element.", `contains(["a", "b"], "a")`, `true`, group, stdlib.ContainsFunc},
		{"distinct", "distinct(list)", "The list without repeated elements; the first of equal ones stays.", `distinct(["a", "b", "a"])`, `["a", "b"]`, group, distinctFunc()},
		{"element", "element(list, index)", "The element at an index from 0, which wraps around at the end of the list.", `element(["a", "b", "c"], 4)`, `"b"`, group, guard(stdlib.ElementFunc, numberLimit)},
		{"flatten", "flatten(list)", "Replaces lists within a list by their elements, at any depth.", `flatten([["a", "b"], [["c"]], "d"])`, `["a", "b", "c", "d"]`, group, guard(stdlib.FlattenFunc, flattenLimit)},
		{"index", "index(list, value)", "The position, from 0, of the first element equal to the value. It is an error if there is none.", `index(["a", "b"], "b")`, `1`, group, indexFunc()},
		{"keys", "keys(inputMap)", "The keys of a map or object, sorted as text.", `keys({ b = 1, a = 2 })`, `["a", "b"]`, group, stdlib.KeysFunc},
		{"length", "length(value)", "The number of elements of a collection, of attributes of an object, or of characters of a text.", `length(["a", "b"])`, `2`, group, lengthFunc()},
		{"lookup", "lookup(inputMap, key, default...)", "The element of a map or attribute of an object under a key, else the default. Without a default a missing key is an error.", `lookup({ a = "x" }, "c", "none")`, `"none"`, group, lookupFunc()},
		{"merge", "merge(maps...)", "Joins maps or objects; of equal keys the last one wins.", `merge({ a = 1, b = 2 }, { b = 3 })`, `{ a = 1, b = 3 }`, group, guard(stdlib.MergeFunc, mapsOnly)},
		{"one", "one(list)", "The only element of a collection, or null if it is empty. Two or more elements are an error.", `one(["a"])`, `"a"`, group, oneFunc()},
		{"range", "range(params...)", "Numbers from a start (0) up to a limit, which is left out, in steps (1): range(limit), range(start, limit) or range(start, limit, step). At most 1048576 of them.", `range(1, 8, 3)`, `[1, 4, 7]`, group, rangeFunc()},
		{"reverse", "reverse(list)", "The elements of a list in reverse order.", `reverse(["a", "b"])`, `["b", "a"]`, group, stdlib.ReverseListFunc},
		{"setintersection", "setintersection(first_set, other_sets...)", "The elements that are in all of the sets.", `setintersection(["a", "b"], ["b", "c"])`, `toset(["b"])`, group, guard(stdlib.SetIntersectionFunc, anArgument)},
		{"setproduct", "setproduct(sets...)", "All combinations of one element of each set. At most 1048576 of them.", `setproduct(["a", "b"], [1, 2])`, `[["a", 1], ["a", 2], ["b", 1], ["b", 2]]`, group, guard(stdlib.SetProductFunc, productLimit)},
		{"setsubtract", "setsubtract(a, b)", "The elements of the first set that are not in the second.", `setsubtract(["a", "b"], ["b"])`, `toset(["a"])`, group, guard(stdlib.SetSubtractFunc, anArgument)},
		{"setunion", "setunion(first_set, other_sets...)", "The elements that are in any of the sets.", `setunion(["a"], ["b", "a"])`, `toset(["a", "b"])`, group, guard(stdlib.SetUnionFunc, anArgument)},
		{"slice", "slice(list, start_index, end_index)", "The elements from a start index up to an end index, which is left out.", `slice(["a", "b", "c", "d"], 1, 3)`, `["b", "c"]`, group, guard(stdlib.SliceFunc, numberLimit)},
		{"sort", "sort(list)", "A list of strings sorted as text, so that \"10\" stands before \"9\".", `sort(["b", "10", "9"])`, `["10", "9", "b"]`, group, guard(stdlib.SortFunc, noNullElements)},
		{"sum", "sum(list)", "The sum of one or more numbers.", `sum([10, 13.5, 6])`, `29.5`, group, sumFunc()},
		{"values", "values(mapping)", "The values of a map or object, in the order of the sorted keys.", `values({ b = 1, a = 2 })`, `[2, 1]`, group, stdlib.ValuesFunc},
		{"zipmap", "zipmap(keys, values)", "A map made of a list of keys and a list of values.", `zipmap(["a", "b"], [1, 2])`, `{ a = 1, b = 2 }`, group, guard(stdlib.ZipmapFunc, noNullElements)},
	}
}

func allTrueFunc() function.Function {
	return fn([]function.Parameter{param("list", cty.List(cty.Bool))}, cty.Bool, func(args []cty.Value) (cty.Value, error) {
		for _, e := range elements(args[0]) {
			if e.IsNull() || e.False() {
				return cty.False, nil
			}
		}
		return cty.True, nil
	})
}

func anyTrueFunc() function.Function {
	return fn([]function.Parameter{param("list", cty.List(cty.Bool))}, cty.Bool, func(args []cty.Value) (cty.Value, error) {
		for _, e := range elements(args[0]) {
			if !e.IsNull() && e.True() {
				return cty.True, nil
			}
		}
		return cty.False, nil
	})
}

func anArgument(args []cty.Value) error {
	if len(args) == 0 {
		return fmt.Errorf("at least one argument is needed")
	}
	return nil
}

// A null of no type turns the check of types in merge off.
func mapsOnly(args []cty.Value) error {
	for i, a := range args {
		if t := a.Type(); !a.IsNull() && !t.IsMapType() && !t.IsObjectType() {
			return function.NewArgErrorf(i, "a map or an object is needed")
		}
	}
	return nil
}

func noNullElements(args []cty.Value) error {
	if args[0].IsNull() {
		return nil
	}
	for _, e := range elements(args[0]) {
		if e.IsNull() {
			return function.NewArgErrorf(0, "an element is null")
		}
	}
	return nil
}

func coalesceFunc() function.Function {
	rest := &function.Parameter{Name: "vals", Type: dyn, AllowNull: true, AllowDynamicType: true}
	return variadic(nil, rest, dyn, func(args []cty.Value) (cty.Value, error) {
		types := make([]cty.Type, len(args))
		for i, a := range args {
			types[i] = a.Type()
		}
		t, _ := convert.UnifyUnsafe(types)
		if t == cty.NilType {
			return cty.NilVal, fmt.Errorf("all arguments must have the same type")
		}
		for i, a := range args {
			if a.IsNull() {
				continue
			}
			v, err := convert.Convert(a, t)
			if err != nil {
				return cty.NilVal, function.NewArgError(i, err)
			}
			if t == cty.String && v.AsString() == "" {
				continue
			}
			return v, nil
		}
		return cty.NilVal, fmt.Errorf("no argument is other than null or empty text")
	})
}

// Lists are shared, not copied, when they are nested: a few lines of locals can
// stand for more elements than memory holds once they are joined.
func concatLimit(args []cty.Value) error {
	total := 0
	for _, a := range args {
		if a.IsNull() || !a.CanIterateElements() {
			continue
		}
		total += a.LengthInt()
	}
	return elementLimit(total)
}

func flattenLimit(args []cty.Value) error {
	left := MaxElements
	countLeaves(args[0], &left)
	return elementLimit(MaxElements - left)
}

func countLeaves(v cty.Value, left *int) {
	t := v.Type()
	if v.IsNull() || !(t.IsListType() || t.IsSetType() || t.IsTupleType()) {
		*left--
		return
	}
	for it := v.ElementIterator(); it.Next() && *left >= 0; {
		_, e := it.Element()
		countLeaves(e, left)
	}
}

// productLimit multiplies the lengths. The elements of all combinations count,
// since each combination is a value of its own.
func productLimit(args []cty.Value) error {
	total := 1
	for _, a := range args {
		if a.IsNull() || !a.CanIterateElements() {
			return nil // the function itself says what is wrong
		}
		n := a.LengthInt()
		if n == 0 {
			return nil
		}
		total *= n
		if total > MaxElements {
			return elementLimit(total)
		}
	}
	return elementLimit(total * max(len(args)/8, 1))
}

// bag finds equal values of one type in constant time.
type bag map[int][]cty.Value

// add reports whether the value is new.
func (b bag) add(v cty.Value) bool {
	if b.has(v) {
		return false
	}
	h := v.Hash()
	b[h] = append(b[h], v)
	return true
}

func (b bag) has(v cty.Value) bool {
	return slices.ContainsFunc(b[v.Hash()], v.RawEquals)
}

func distinctFunc() function.Function {
	return fn([]function.Parameter{param("list", cty.List(dyn))}, dyn, func(args []cty.Value) (cty.Value, error) {
		seen := bag{}
		var out []cty.Value
		for _, e := range elements(args[0]) {
			if seen.add(e) {
				out = append(out, e)
			}
		}
		return list(args[0].Type().ElementType(), out), nil
	})
}

func indexFunc() function.Function {
	params := []function.Parameter{param("list", dyn), param("value", dyn)}
	return fn(params, cty.Number, func(args []cty.Value) (cty.Value, error) {
		if t := args[0].Type(); !t.IsListType() && !t.IsTupleType() {
			return cty.NilVal, function.NewArgErrorf(0, "a list is needed")
		}
		for i, e := range elements(args[0]) {
			if e.RawEquals(args[1]) {
				return cty.NumberIntVal(int64(i)), nil
			}
		}
		return cty.NilVal, function.NewArgErrorf(1, "the list has no such element")
	})
}

func lengthFunc() function.Function {
	return fn([]function.Parameter{param("value", dyn)}, cty.Number, func(args []cty.Value) (cty.Value, error) {
		v := args[0]
		t := v.Type()
		switch {
		case t == cty.String:
			return stdlib.Strlen(v)
		case t.IsObjectType():
			return cty.NumberIntVal(int64(len(t.AttributeTypes()))), nil
		case t.IsTupleType():
			return cty.NumberIntVal(int64(t.Length())), nil
		case t.IsCollectionType():
			return cty.NumberIntVal(int64(v.LengthInt())), nil
		}
		return cty.NilVal, function.NewArgErrorf(0, "a collection, an object or a text is needed")
	})
}

func lookupFunc() function.Function {
	params := []function.Parameter{param("inputMap", dyn), param("key", cty.String)}
	rest := &function.Parameter{Name: "default", Type: dyn, AllowNull: true, AllowDynamicType: true}
	return variadic(params, rest, dyn, func(args []cty.Value) (cty.Value, error) {
		if len(args) > 3 {
			return cty.NilVal, fmt.Errorf("at most three arguments are taken")
		}
		m, key := args[0], args[1].AsString()
		t := m.Type()
		switch {
		case t.IsObjectType():
			if t.HasAttribute(key) {
				return m.GetAttr(key), nil
			}
		case t.IsMapType():
			if m.HasIndex(args[1]).True() {
				return m.Index(args[1]), nil
			}
		default:
			return cty.NilVal, function.NewArgErrorf(0, "a map or an object is needed")
		}
		if len(args) < 3 {
			return cty.NilVal, function.NewArgErrorf(1, "there is no element %q, and no default", clip(key))
		}
		if !t.IsMapType() {
			return args[2], nil
		}
		v, err := convert.Convert(args[2], t.ElementType())
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(2, "the default must be of the type of the elements, %s", t.ElementType().FriendlyName())
		}
		return v, nil
	})
}

func oneFunc() function.Function {
	return fn([]function.Parameter{param("list", dyn)}, dyn, func(args []cty.Value) (cty.Value, error) {
		v := args[0]
		t := v.Type()
		if !t.IsListType() && !t.IsSetType() && !t.IsTupleType() {
			return cty.NilVal, function.NewArgErrorf(0, "a list or a set is needed")
		}
		switch n := v.LengthInt(); {
		case n == 1:
			return elements(v)[0], nil
		case n > 1:
			return cty.NilVal, function.NewArgErrorf(0, "there are %d elements, at most one is allowed", n)
		case t.IsTupleType():
			return cty.NullVal(dyn), nil
		}
		return cty.NullVal(t.ElementType()), nil
	})
}

func rangeFunc() function.Function {
	rest := &function.Parameter{Name: "params", Type: cty.Number}
	return variadic(nil, rest, cty.List(cty.Number), func(args []cty.Value) (cty.Value, error) {
		start, limit, step, err := rangeBounds(args)
		if err != nil {
			return cty.NilVal, err
		}
		if err := numberLimit(args); err != nil {
			return cty.NilVal, err
		}
		span := new(big.Float).Sub(limit, start)
		if span.Sign() != 0 && span.Sign() != step.Sign() {
			return cty.NilVal, function.NewArgErrorf(2, "the step leads away from the limit")
		}
		count := new(big.Float).Quo(span, step)
		if count.Cmp(big.NewFloat(MaxElements)) > 0 {
			return cty.NilVal, elementLimit(MaxElements + 1)
		}
		out, err := progression(start, limit, step)
		if err != nil {
			return cty.NilVal, err
		}
		return list(cty.Number, out), nil
	})
}

// progression lists start, start+step, ... below the limit. Whole numbers are
// made from integers: those of cty print a hundred times faster.
func progression(start, limit, step *big.Float) ([]cty.Value, error) {
	var out []cty.Value
	sign := step.Sign()
	first, acc1 := start.Int64()
	by, acc2 := step.Int64()
	if acc1 == big.Exact && acc2 == big.Exact && max(first, -first, by, -by) < 1<<40 {
		n := new(big.Float)
		for v := first; n.SetInt64(v).Cmp(limit)*sign < 0; v += by {
			out = append(out, cty.NumberIntVal(v))
		}
		return out, nil // as many as the quotient said: nothing was rounded
	}
	for v := start; v.Cmp(limit)*sign < 0; v = new(big.Float).SetPrec(512).Add(v, step) {
		out = append(out, cty.NumberVal(v))
		if len(out) > MaxElements { // the quotient was rounded
			return nil, elementLimit(len(out))
		}
	}
	return out, nil
}

func rangeBounds(args []cty.Value) (start, limit, step *big.Float, err error) {
	num := func(i int) *big.Float { return args[i].AsBigFloat() }
	start = new(big.Float)
	switch len(args) {
	case 1:
		limit = num(0)
	case 2, 3:
		start, limit = num(0), num(1)
	default:
		return nil, nil, nil, fmt.Errorf("one, two or three arguments are needed")
	}
	if len(args) == 3 {
		step = num(2)
		if step.Sign() == 0 {
			return nil, nil, nil, function.NewArgErrorf(2, "the step is zero")
		}
		return start, limit, step, nil
	}
	step = big.NewFloat(1)
	if limit.Cmp(start) < 0 {
		step = big.NewFloat(-1)
	}
	return start, limit, step, nil
}

func sumFunc() function.Function {
	return fn([]function.Parameter{param("list", dyn)}, cty.Number, func(args []cty.Value) (cty.Value, error) {
		t := args[0].Type()
		if !t.IsListType() && !t.IsSetType() && !t.IsTupleType() {
			return cty.NilVal, function.NewArgErrorf(0, "a list or a set is needed")
		}
		if args[0].LengthInt() == 0 {
			return cty.NilVal, function.NewArgErrorf(0, "there is no element")
		}
		total := cty.Zero
		for _, e := range elements(args[0]) {
			n, err := convert.Convert(e, cty.Number)
			if err != nil || n.IsNull() {
				return cty.NilVal, function.NewArgErrorf(0, "an element is not a number")
			}
			if err := numberLimit([]cty.Value{n}); err != nil {
				return cty.NilVal, err
			}
			total = total.Add(n)
		}
		return total, nil
	})
}
