package funcs

import (
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
		{"max", "max(numbers...)", "The greatest of the numbers.", `max(12, 54, 3)`, `54`, group, stdlib.MaxFunc},
		{"min", "min(numbers...)", "The smallest of the numbers.", `min(12, 54, 3)`, `3`, group, stdlib.MinFunc},
		{"parseint", "parseint(number, base)", "Reads a whole number written in a base from 2 to 62.", `parseint("FF", 16)`, `255`, group, guard(stdlib.ParseIntFunc, intTextLimit)},
	}
}

// Reading digits is worse than linear in their number.
func intTextLimit(args []cty.Value) error {
	if args[0].Type() == cty.String && !args[0].IsNull() && len(args[0].AsString()) > 4096 {
		return function.NewArgErrorf(0, "number has more than 4096 digits")
	}
	return nil
}
