package cumulus

import (
	_ "embed"
	"sync"

	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/posix"
)

// livePart is what rocec-live.sh does on this system.
//
//go:embed live.sh
var livePart string

// kit holds the program, which is the same on every switch.
var kit = sync.OnceValue(func() *emit.Kit {
	return emit.NewKit("cumulus", []emit.Artifact{posix.Program(livePart)})
})

var live = posix.Live(kit, "a systemd timer and nv config apply --confirm")
