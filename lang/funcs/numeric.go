package funcs

import (
	"math"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func numericFuncs() []Func {
	const group = "numeric"
	return []Func{
		{"abs", "abs(num)", "The number without its sign.", `abs(-12.4)`, `12.4`, group, stdlib.AbsoluteFunc},
		{"ceil", "ceil(num)", "The closest whole number at or above the given one.", `ceil(5.1)`, `6`, group, guard(stdlib.CeilFunc, numberLimit)},
		{"floor", "floor(num)", "The closest whole number at or below the given one.", `floor(4.9)`, `4`, group, guard(stdlib.FloorFunc, numberLimit)},
		{"log", "log(num, base)", "The logarithm of a number in a base.", `log(1024, 2)`, `10`, group, logFunc()},
		{"max", "max(numbers...)", "The greatest of the numbers.", `max(12, 54, 3)`, `54`, group, stdlib.MaxFunc},
		{"min", "min(numbers...)", "The smallest of the numbers.", `min(12, 54, 3)`, `3`, group, stdlib.MinFunc},
		{"parseint", "parseint(number, base)", "Reads a whole number written in a base from 2 to 62.", `parseint("FF", 16)`, `255`, group, guard(stdlib.ParseIntFunc, intTextLimit)},
		{"pow", "pow(num, power)", "The number raised to a power.", `pow(3, 4)`, `81`, group, powFunc()},
		{"signum", "signum(num)", "The sign of a number: -1, 0 or 1.", `signum(-13)`, `-1`, group, guard(stdlib.SignumFunc, wholeNumber)},
	}
}

// Reading digits is worse than linear in their number.
func intTextLimit(args []cty.Value) error {
	if args[0].Type() == cty.String && !args[0].IsNull() && len(args[0].AsString()) > 4096 {
		return function.NewArgErrorf(0, "number has more than 4096 digits")
	}
	return nil
}

func wholeNumber(args []cty.Value) error {
	_, err := whole(args, 0)
	return err
}

func logFunc() function.Function {
	return float("num", "base", func(num, base float64) float64 {
		if exact := math.Round(math.Log2(num)); base == 2 && math.Exp2(exact) == num {
			return exact
		}
		return math.Log(num) / math.Log(base)
	})
}

func powFunc() function.Function { return float("num", "power", math.Pow) }

// float makes a function of two numbers in floating point. cty numbers have no
// "not a number", so a result that is none is an error.
func float(a, b string, f func(a, b float64) float64) function.Function {
	params := []function.Parameter{param(a, cty.Number), param(b, cty.Number)}
	return fn(params, cty.Number, func(args []cty.Value) (cty.Value, error) {
		x, _ := args[0].AsBigFloat().Float64()
		y, _ := args[1].AsBigFloat().Float64()
		v := f(x, y)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return cty.NilVal, function.NewArgErrorf(0, "result is not a finite number")
		}
		return cty.NumberFloatVal(v), nil
	})
}
