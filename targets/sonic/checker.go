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

// checker writes the program, and the list of what must not be there.
func checker(d *intent.Device, gone []absence, out *emit.Out) {
	if len(gone) > 0 {
		writeAbsences(gone, out.File(absentFile, 0o644, emit.Data))
	}
	f := out.File(checkFile, 0o644, emit.Data)
	for _, h := range f.Header(d) {
		f.Line("# %s", h)
	}
	f.Text(checkProgram)
}
