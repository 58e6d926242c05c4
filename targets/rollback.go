package targets

import (
	"slices"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets/emit"
)

// ROCE908 is the rule that every change has a way back. No source can break it:
// it is about what a target writes. Its examples are lists of files, by step.
var ROCE908 = diag.Rule{
	ID: "ROCE908", Name: "plan_rollback", Severity: diag.Error, When: diag.Compile, Hard: true,
	Title:  "a change of a device has no files that change it back",
	Why:    "a change that turns out wrong is undone within its confirm window or not at all: without a way back the device stays as it is until somebody works one out at night",
	Fix:    "report it: a target that writes a change without a rollback is wrong, and rocec does not hand its files over",
	Source: "docs/reliability.md; RFC 6241, 8.4 (confirmed commit)",
	Bad:    "apply rocec-qos.sh\nverify rocec-check.py\n",
	Good:   "apply rocec-qos.sh\nverify rocec-check.py\nrollback rocec-undo.sh\n",
}

// Returns reports whether files of a device that change it, at once or in a
// window, come with some that change it back.
func Returns(out *emit.Out) bool {
	changes, returns := false, false
	look := func(files []emit.Artifact) {
		changes = changes || slices.ContainsFunc(files, func(f emit.Artifact) bool { return f.Step == emit.Apply || f.Step == emit.Maintenance })
		returns = returns || slices.ContainsFunc(files, func(f emit.Artifact) bool { return f.Step == emit.Rollback })
	}
	look(out.Artifacts)
	for _, k := range out.Kits {
		look(k.Artifacts)
	}
	return returns || !changes
}
