// Package lint holds the rules: each a value with its title, reason, fix,
// examples and a function that looks at the fabric and its derived facts and
// reports. One file per family, rules in the order of their codes. A rule
// never prints, reads files or depends on another rule.
package lint

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
)

// Rule is one rule over the compiled fabric.
type Rule struct {
	diag.Rule
	Run   func(*Pass)
	mends []mend // of findings that do not bring edits of their own
	// What it proves takes long, and other rules wait for it: it begins before them, so
	// that no core waits as well.
	first bool
	// It says nothing of a line of the source that another rule says something of.
	yields bool
}

// All is every rule, by code.
var All = slices.Concat(physical, classes, pfc, ecn, buffers, vlans, capability, pathRules, operations)

// Find returns a rule by code or name, nil if there is none.
func Find(codeOrName string) *Rule {
	for _, r := range All {
		if r.ID == codeOrName || r.Name == codeOrName {
			return r
		}
	}
	return nil
}

// maxPasses bounds how many rules look at a fabric at a time: each pass keeps
// what its rules share, and more would cost more than they save.
const maxPasses = 4

// Run runs rules over a compiled fabric and returns their findings, rule by rule
// in the order given, not yet accepted, silenced, folded or sorted.
func Run(f *fabric.Fabric, facts *derive.Facts, asOf string, rules []*Rule) diag.List {
	return RunAs(f, facts, How{AsOf: asOf}, rules)
}

// How says how rules look at a fabric.
type How struct {
	AsOf string // YYYY-MM-DD, "" = no date given
	// Each gives a finding for each port of those that are alike: all of their edits
	// are wanted.
	Each   bool
	Limits Limits // in place of the rules' own
}

// Limits are values of options, in their units, by the code of a rule and the
// name of the option.
type Limits map[string]map[string]int64

// RunAs is Run with more to say.
func RunAs(f *fabric.Fabric, facts *derive.Facts, how How, rules []*Rule) diag.List {
	one := Pass{Fabric: f, Facts: facts, AsOf: how.AsOf, each: how.Each, limits: how.Limits, prover: NewProver(f, facts)}
	one.shared()
	order := make([]int, 0, len(rules)) // in which rules begin
	for i, r := range rules {
		if r.first {
			order = slices.Insert(order, 0, i)
		} else {
			order = append(order, i)
		}
	}
	var work sync.WaitGroup
	if slices.ContainsFunc(rules, func(r *Rule) bool { return r.first }) {
		work.Go(func() { one.prover.Parts() }) // which takes none of the kinds
	}
	one.kinds() // all passes walk by them
	found := make([]diag.List, len(rules))
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0)+1, maxPasses, len(rules)) { // one more than cores, as rules wait for what another proves
		p := one
		work.Go(func() {
			for n := int(next.Add(1)) - 1; n < len(order); n = int(next.Add(1)) - 1 {
				i := order[n]
				p.rule, p.found = rules[i], nil
				rules[i].Run(&p)
				found[i] = p.found
			}
		})
	}
	work.Wait()
	return joined(rules, found)
}

// joined are the findings of all rules, without those of rules that yield to others.
func joined(rules []*Rule, found []diag.List) diag.List {
	for i, r := range rules {
		if r.yields && len(found[i]) > 0 {
			found[i] = notSaid(found[i], slices.Concat(slices.Delete(slices.Clone(found), i, i+1)...))
		}
	}
	return slices.Concat(found...)
}

// notSaid are the findings whose cause is none of what others warn of on the same
// device.
func notSaid(list, others diag.List) diag.List {
	said := map[source.Span]diag.List{}
	for _, d := range others {
		if d.Severity == diag.Notice {
			continue
		}
		for _, l := range d.Labels {
			said[l.Span] = append(said[l.Span], d)
		}
	}
	return slices.DeleteFunc(list, func(d diag.Diagnostic) bool {
		return slices.ContainsFunc(said[d.Labels[0].Span], func(o diag.Diagnostic) bool {
			device := deviceOf(d.Address)
			return o.Count > 1 || slices.ContainsFunc(append(o.Concerns, o.Address), func(a string) bool { return deviceOf(a) == device })
		})
	})
}

// deviceOf is the part of an address that names the device.
func deviceOf(address string) string {
	for _, part := range []string{".port[", ".nic[", ".lag[", ".bond[", ".interface["} {
		if before, _, ok := strings.Cut(address, part); ok {
			return before
		}
	}
	return address
}
