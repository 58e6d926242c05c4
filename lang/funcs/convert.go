package funcs

import (
	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

type mark string

// Sensitive marks values that may not be shown. It spreads to whatever is
// computed from them.
const Sensitive = mark("sensitive")

func conversionFuncs() []Func {
	const group = "conversion"
	return []Func{
		{"can", "can(expression)", "Whether an expression evaluates without an error.", `can(tonumber("x"))`, `false`, group, tryfunc.CanFunc},
		{"issensitive", "issensitive(value)", "Whether a value is marked as sensitive.", `issensitive(sensitive("x"))`, `true`, group, isSensitiveFunc()},
		{"nonsensitive", "nonsensitive(value)", "The value without its mark as sensitive. Elements keep their own marks.", `issensitive(nonsensitive(sensitive("x")))`, `false`, group, nonSensitiveFunc()},
		{"sensitive", "sensitive(value)", "Marks a value, and whatever is computed from it, as not to be shown.", `issensitive("${sensitive("x")}y")`, `true`, group, sensitiveFunc()},
		{"tobool", "tobool(v)", "Converts to bool; of strings only \"true\" and \"false\" are accepted.", `tobool("true")`, `true`, group, stdlib.MakeToFunc(cty.Bool)},
		{"tolist", "tolist(v)", "Converts to a list; its elements get one type.", `tolist(["a", 1])`, `["a", "1"]`, group, conversion(cty.List(dyn), stdlib.MakeToFunc(cty.List(dyn)))},
		{"tomap", "tomap(v)", "Converts to a map; its elements get one type.", `tomap({ a = "x", b = 2 })`, `{ a = "x", b = "2" }`, group, conversion(cty.Map(dyn), stdlib.MakeToFunc(cty.Map(dyn)))},
		{"tonumber", "tonumber(v)", "Converts to a number.", `tonumber("9000")`, `9000`, group, guard(stdlib.MakeToFunc(cty.Number), intTextLimit)},
		{"toset", "toset(v)", "Converts to a set: without order and without equal elements.", `toset(["b", "a", "b"])`, `toset(["a", "b"])`, group, conversion(cty.Set(dyn), stdlib.MakeToFunc(cty.Set(dyn)))},
		{"tostring", "tostring(v)", "Converts a number or a bool to text.", `tostring(9000)`, `"9000"`, group, guard(stdlib.MakeToFunc(cty.String), checkPrinted)},
		{"try", "try(expressions...)", "The value of the first expression that evaluates without an error.", `try(tonumber("x"), 7)`, `7`, group, tryfunc.TryFunc},
	}
}

func anyValue(name string) []function.Parameter {
	return []function.Parameter{{
		Name: name, Type: dyn,
		AllowMarked: true, AllowNull: true, AllowUnknown: true, AllowDynamicType: true,
	}}
}

func sameType(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil }

func sensitiveFunc() function.Function {
	return function.New(&function.Spec{
		Params: anyValue("value"),
		Type:   sameType,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return args[0].Mark(Sensitive), nil
		},
	})
}

func nonSensitiveFunc() function.Function {
	return function.New(&function.Spec{
		Params: anyValue("value"),
		Type:   sameType,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, marks := args[0].Unmark()
			delete(marks, Sensitive)
			return v.WithMarks(marks), nil
		},
	})
}

func isSensitiveFunc() function.Function {
	return function.New(&function.Spec{
		Params: anyValue("value"),
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(args[0].HasMark(Sensitive)), nil
		},
	})
}
