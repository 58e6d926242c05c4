package resolve

import (
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// analysis reads how far the proofs go.
func (r *resolver) analysis() {
	var first lang.BlockID
	r.top(schema.Analysis, func(b lang.BlockID) {
		if first != 0 {
			r.fail("a second analysis is written", "a fabric has one: join the two", r.f.DeclLabel(r.decl(b), ""), r.f.DeclLabel(r.decl(first), "the first"))
			return
		}
		first = b
		r.f.Analysis = fabric.Analysis{Failures: uint8(r.attr(b, schema.AFailures).N), BudgetSteps: r.attr(b, schema.ABudget).N, Decl: r.decl(b)}
		properties := r.attr(b, schema.AProperties)
		if properties.Kind != lang.Absent && len(r.cfg.List(properties)) == 0 {
			r.fail("properties of the analysis is empty, so that nothing would be proven", "leave it out for all of them", r.at(b, schema.AProperties, ""))
		}
		for _, v := range r.cfg.List(properties) {
			if p, ok := fabric.PropertyNamed(r.cfg.Text(v)); ok {
				r.f.Analysis.Properties = r.f.Analysis.Properties.With(p)
			}
		}
	})
}
