package sonic

import (
	_ "embed"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// checkProgram compares fragments with a running configuration. It is Python
// because every SONiC image has it (sonic-cfggen is), and jq or rocec are not.
//
//go:embed check.py
var checkProgram string

// forbid writes the list of what must not be there, if there is anything, and
// reports whether there is.
func forbid(gone []absence, out *emit.Out) bool {
	if len(gone) > 0 {
		writeAbsences(gone, out.File(absentFile, 0o644, emit.Data))
	}
	return len(gone) > 0
}

// checker writes the program.
func checker(d *intent.Device, out *emit.Out) {
	f := out.File(checkFile, 0o644, emit.Data)
	for _, h := range f.Header(d) {
		f.Line("# %s", h)
	}
	f.Text(checkProgram)
}
