package sonic

import (
	_ "embed"
	"sync"

	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/posix"
)

// checkProgram compares fragments with a running configuration. It is Python
// because every SONiC image has it (sonic-cfggen is), and jq or rocec are not.
//
//go:embed check.py
var checkProgram string

// livePart is what rocec-live.sh does on this system.
//
//go:embed live.sh
var livePart string

// kit holds the programs, which are the same on every switch.
var kit = sync.OnceValue(func() *emit.Kit {
	return emit.NewKit("sonic", []emit.Artifact{{
		Path: checkFile, Mode: 0o644, Step: emit.Data, Bytes: []byte("# made by rocec, the same for every switch\n" + checkProgram),
	}, posix.Program(livePart)})
})

// forbid writes the list of what must not be there, if there is anything, and
// reports whether there is.
func forbid(gone []absence, out *emit.Out) bool {
	if len(gone) > 0 {
		writeAbsences(gone, out.File(absentFile, 0o644, emit.Data))
	}
	return len(gone) > 0
}

// checks says where the program is, from the device's folder on.
func (s scriptFile) checks() { s.Line("check=%s/%s", kit().Folder(), checkFile) }
