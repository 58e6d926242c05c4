package headroom

import (
	"errors"
	"fmt"
	"strings"
)

// ErrOverflow reports inputs so large that a result or an intermediate product
// leaves the integers the formula is computed in.
var ErrOverflow = errors.New("inputs are too large for headroom arithmetic")

// InputError reports one input outside the domain of a formula.
type InputError struct {
	Field string // name of the struct field or parameter, for example "CableMm"
	Value int64  // what was given
	Want  string // what would do, for example "at least 0"
}

// Error names the field, its value and what would do.
func (e *InputError) Error() string {
	return fmt.Sprintf("%s is %d, want %s", e.Field, e.Value, e.Want)
}

// SpeedError reports a speed for which a formula's table has no entry. The
// caller may state the missing figure instead, where the input has a field for it.
type SpeedError struct {
	Mbps      int64
	Quantity  string  // what is missing, for example "pause response time"
	KnownMbps []int64 // the speeds of the table, ascending
}

// Error names the missing figure and the speeds that have one.
func (e *SpeedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no %s known for %d Mb/s, only for", e.Quantity, e.Mbps)
	for i, mbps := range e.KnownMbps {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %d", mbps)
	}
	b.WriteString(" Mb/s")
	return b.String()
}

// speedRow is one entry of a table keyed by speed.
type speedRow struct{ mbps, value int64 }

func lookupSpeed(table []speedRow, mbps int64, quantity string) (int64, error) {
	for _, row := range table {
		if row.mbps == mbps {
			return row.value, nil
		}
	}
	known := make([]int64, len(table))
	for i, row := range table {
		known[i] = row.mbps
	}
	return 0, &SpeedError{Mbps: mbps, Quantity: quantity, KnownMbps: known}
}
