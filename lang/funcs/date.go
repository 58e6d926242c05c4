package funcs

import (
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func dateFuncs() []Func {
	const group = "date"
	return []Func{
		{"formatdate", "formatdate(format, time)", "An RFC 3339 time written in another form, such as \"YYYY-MM-DD\".", `formatdate("DD MMM YYYY hh:mm", "2027-03-31T23:12:01Z")`, `"31 Mar 2027 23:12"`, group, guard(stdlib.FormatDateFunc, dateLimit)},
		{"timeadd", "timeadd(timestamp, duration)", "An RFC 3339 time plus a duration such as \"10m\" or \"-1h30m\".", `timeadd("2027-03-31T00:00:00Z", "10m")`, `"2027-03-31T00:10:00Z"`, group, stdlib.TimeAddFunc},
		{"timecmp", "timecmp(timestamp_a, timestamp_b)", "-1, 0 or 1 as the first RFC 3339 time is before, at or after the second.", `timecmp("2027-03-31T00:00:00Z", "2027-03-31T01:00:00+01:00")`, `0`, group, timeCmpFunc()},
	}
}

// Each letter of a format gives at most a handful of characters.
func dateLimit(args []cty.Value) error {
	return textLimit(8 * len(args[0].AsString()))
}

func timeCmpFunc() function.Function {
	return fn(text("timestamp_a", "timestamp_b"), cty.Number, func(args []cty.Value) (cty.Value, error) {
		var at [2]time.Time
		for i := range at {
			t, err := time.Parse(time.RFC3339, args[i].AsString())
			if err != nil {
				return cty.NilVal, function.NewArgErrorf(i, "%q is not an RFC 3339 time like 2027-03-31T00:00:00Z", clip(args[i].AsString()))
			}
			at[i] = t
		}
		return cty.NumberIntVal(int64(at[0].Compare(at[1]))), nil
	})
}
