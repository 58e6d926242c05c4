package rocec_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rocec/rocec/targets/emit"
)

// TestEveryStepHasAWayBack is ROCE908, which no source can break: a device whose
// files change anything has files that change it back.
func TestEveryStepHasAWayBack(t *testing.T) {
	seen := map[string]bool{}
	check := func(of string, m made) {
		for _, d := range m.Devices {
			files := slices.Clone(d.Files)
			for _, k := range d.Kits {
				files = append(files, k.Artifacts...)
			}
			has := func(s emit.Step) bool {
				return slices.ContainsFunc(files, func(f emit.Artifact) bool { return f.Step == s })
			}
			if has(emit.Apply) || has(emit.Maintenance) {
				seen[d.Target.Name] = true
				if !has(emit.Rollback) {
					t.Errorf("%s: %s changes with nothing to go back with (%s)", of, d.Address, d.Target.Name)
				}
			}
		}
	}
	for _, x := range examples {
		check(x.name, x.build(t))
	}
	for seed := range uint64(60) {
		check("random", buildText(randomSite(rand.New(rand.NewPCG(seed, 31))).String()))
	}
	for _, name := range []string{"sonic", "cumulus", "linux", "netqos", "network-atc"} {
		if !seen[name] {
			t.Errorf("no device of %s was made", name)
		}
	}
}
