package targets_test

import (
	"strings"
	"testing"

	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// filesOf reads an example of the rule: a step and a path on each line.
func filesOf(t *testing.T, text string) (files []emit.Artifact) {
	t.Helper()
	for line := range strings.Lines(text) {
		step, path, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			t.Fatalf("line %q", line)
		}
		files = append(files, emit.Artifact{Step: emit.Step(step), Path: path})
	}
	return files
}

// TestReturns executes the examples of ROCE908, and takes files apart and into kits.
func TestReturns(t *testing.T) {
	bad, good := filesOf(t, targets.ROCE908.Bad), filesOf(t, targets.ROCE908.Good)
	for name, c := range map[string]struct {
		out  emit.Out
		want bool
	}{
		"bad":                  {emit.Out{Artifacts: bad}, false},
		"good":                 {emit.Out{Artifacts: good}, true},
		"nothing changes":      {emit.Out{Artifacts: filesOf(t, "verify a\ndata b\n")}, true},
		"a window changes":     {emit.Out{Artifacts: filesOf(t, "maintenance a\n")}, false},
		"shared, and no way":   {emit.Out{Kits: []*emit.Kit{{Artifacts: bad}}}, false},
		"the way is shared":    {emit.Out{Artifacts: bad, Kits: []*emit.Kit{{Artifacts: filesOf(t, "rollback undo.sh\n")}}}, true},
		"a change that shares": {emit.Out{Artifacts: filesOf(t, "rollback undo.sh\n"), Kits: []*emit.Kit{{Artifacts: bad}}}, true},
	} {
		if got := targets.Returns(&c.out); got != c.want {
			t.Errorf("%s: a way back: %v, want %v", name, got, c.want)
		}
	}
}
