package plan

import "github.com/rocec/rocec/lang/diag"

// Style colours parts of the text. A nil function leaves its part plain, so
// that the zero Style is for pipes and files.
type Style struct {
	Add, Change, Destroy, Interrupt, Read func(string) string // symbols
	Heading, Faint                        func(string) string // addresses; comments
}

func paint(f func(string) string, s string) string {
	if f == nil || s == "" {
		return s
	}
	return f(s)
}

// printable is what came from users and devices, safe for a terminal.
func printable(s string) string { return diag.Printable(s) }
