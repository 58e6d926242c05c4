// Package lint holds the rules: each a value with its title, reason, fix,
// examples and a function that looks at the fabric and its derived facts and
// reports. One file per family, rules in the order of their codes. A rule
// never prints, reads files or depends on another rule.
package lint

import (
	"slices"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
)

// Rule is one rule over the compiled fabric.
type Rule struct {
	diag.Rule
	Run func(*Pass)
}

// All is every rule, by code.
var All = slices.Concat(physical, classes, pfc, ecn, buffers, vlans, capability, paths, operations)

// Find returns a rule by code or name, nil if there is none.
func Find(codeOrName string) *Rule {
	for _, r := range All {
		if r.ID == codeOrName || r.Name == codeOrName {
			return r
		}
	}
	return nil
}

// Run runs rules over a compiled fabric and returns their findings, not yet
// accepted, silenced, folded or sorted.
func Run(f *fabric.Fabric, facts *derive.Facts, asOf string, rules []*Rule) diag.List {
	p := &Pass{Fabric: f, Facts: facts, AsOf: asOf}
	for _, r := range rules {
		p.rule = r
		r.Run(p)
	}
	return p.found
}
