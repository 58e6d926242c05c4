package lint

import (
	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
)

// RunEvery is Run with walks that look at every row.
func RunEvery(f *fabric.Fabric, facts *derive.Facts, rules []*Rule) diag.List {
	p := &Pass{Fabric: f, Facts: facts, everyRow: true}
	found := make([]diag.List, len(rules))
	for i, r := range rules {
		p.rule, p.found = r, nil
		r.Run(p)
		found[i] = p.found
	}
	return joined(rules, found)
}
