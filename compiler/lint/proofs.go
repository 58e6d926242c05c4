package lint

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/paths"
)

// Prover proves what rests on the ways that packets take, with everything up or
// with things down. All of its methods may be called at once from anywhere.
type Prover struct {
	f        *fabric.Fabric
	facts    *derive.Facts
	steps    int64 // bound of each proof, 0 = paths.DefaultSteps
	parts    func() []*paths.Part
	whole    func() []Routed
	worst    func() []repaired
	failed   func() (outcomes []*Outcome, open []string) // under the failures that the fabric's analysis asks for
	composed struct {
		sync.Mutex
		by *paths.Composer
	}
}

// Routed is a part of a fabric, and what is proven of the ways through it.
type Routed struct {
	*paths.Part
	Strays  *paths.Strays  // nil: Err
	Buffers *paths.Buffers // nil: Err; without destinations to which traffic goes round
	Err     error          // what stands in the way: a *paths.LimitError

	steps int64 // that it took
}

// NewProver prepares proofs of a compiled fabric, within its budget.
func NewProver(f *fabric.Fabric, facts *derive.Facts) *Prover {
	v := &Prover{f: f, facts: facts, steps: f.Analysis.BudgetSteps}
	v.parts = sync.OnceValue(func() []*paths.Part { return paths.Parts(f) })
	v.whole = sync.OnceValue(func() []Routed {
		list := make([]Routed, len(v.parts()))
		for i, p := range v.parts() {
			list[i] = v.route(p, nil, nil, true, false)
		}
		return list
	})
	v.worst = sync.OnceValue(v.repairs)
	v.failed = sync.OnceValues(func() ([]*Outcome, []string) {
		set := f.Analysis.Properties
		if set == 0 {
			set = fabric.AllProperties
		}
		// What classes do is ROCE822, which looks at failures by itself.
		return v.Failures(nil, int(f.Analysis.Failures), set&^fabric.PropertySet(0).With(fabric.Composition))
	})
	return v
}

// Parts are the parts of the fabric with everything up.
func (v *Prover) Parts() []Routed { return v.whole() }

// Under are the parts with what a mask has down. Switches are named only as far as
// that costs no second search. Where a part has a circle with everything up, or
// circles are not asked for, none are looked for, and Buffers are nil.
func (v *Prover) Under(m *fabric.Mask, circles bool) []Routed {
	list := make([]Routed, len(v.parts()))
	for i, p := range v.parts() {
		list[i] = v.whole()[i]
		if d, homes := p.Down(m), p.HomedDown(m); d != nil || homes != nil {
			list[i] = v.route(p, d, homes, circles && (list[i].Buffers == nil || list[i].Buffers.Acyclic()), true)
		} else {
			list[i].steps = 0
		}
	}
	return list
}

// route proves one part. Repair is looked at in both of its states: while
// switches beside the failure go round it, and when all have learnt of it. homes
// is what is down of the part with its nodes.
func (v *Prover) route(p *paths.Part, d, homes *paths.Down, circles, brief bool) Routed {
	o := p.Options(v.steps)
	o.Down, o.Brief = d, brief
	learnt := o
	learnt.Routing.LocalRepair = false
	r := Routed{Part: p}
	ways, net := learnt, &p.Net
	if p.Homed != nil && p.Homed.Rowed {
		ways.Down, net = homes, &p.Homed.Bare
	}
	if r.Strays, r.Err = paths.Ways(net, ways); r.Err != nil {
		return r
	}
	r.steps = r.Strays.Steps
	over := p.Homed != nil && p.Homed.Peers && r.Strays.Lost > 0 // by a peer link, on the way up and on the way down
	if over && net == &p.Net {
		ways.Down = homes
		if left, err := paths.Ways(&p.Homed.Bare, ways); err == nil {
			r.Strays = left
			r.steps += left.Steps
		}
	}
	if !circles {
		return r
	}
	for _, s := range r.Strays.List {
		if s.Loop {
			o.Skip = append(o.Skip, s.To)
		}
	}
	if !p.Lossless() {
		r.Buffers = &paths.Buffers{Proof: paths.ByRank}
		return r
	}
	learnt.Skip = o.Skip
	r.search(&p.Net, learnt)
	round := over || p.Homed.Crossed() || homes != nil && p.Round(len(homes.Links)+len(homes.Switches))
	if r.Err != nil || !r.Buffers.Acyclic() || !round && (!o.Routing.LocalRepair || d == nil) {
		return r
	}
	if !round {
		r.search(&p.Net, o)
		return r
	}
	pairs := p.HomedOptions(v.steps)
	pairs.Down, pairs.Brief, pairs.Skip = homes, brief, p.HomedSkip(o.Skip)
	if p.Homed.Peers { // all but the pair have learnt of it
		pairs.Routing.LocalRepair = false
		r.search(&p.Homed.Net, pairs)
	}
	if r.Err == nil && r.Buffers.Acyclic() && o.Routing.LocalRepair && homes != nil {
		pairs.Routing.LocalRepair = true
		r.search(&p.Homed.Net, pairs)
	}
	if limit(r.Err) != nil && d != nil { // without the pairs it may fit, and have a circle
		o.Down = d
		if b, err := paths.Deadlock(&p.Net, o); err == nil && !b.Acyclic() {
			r.Buffers, r.Err = b, nil
			r.steps += b.Steps
		}
	}
	return r
}

// search looks for circles.
func (r *Routed) search(n *paths.Net, o paths.Options) {
	if r.Buffers, r.Err = paths.Deadlock(n, o); r.Err == nil {
		r.steps += r.Buffers.Steps
	}
}

// repaired is what a part with local repair does while a failure is new.
type repaired struct {
	part   *paths.Part
	after  *fabric.Mask // a failure after which lossless traffic turns up again; nil: none does
	valley paths.Valley
	err    error
}

// repairSteps bounds what the search for a bounce takes in each part, in steps:
// some seconds, or as many times the budget of analysis as failures have.
const repairSteps = failureSteps / 8

// repairs looks, in each part with local repair, for a failure that makes
// lossless traffic bounce.
func (v *Prover) repairs() []repaired {
	var list []repaired
	limit := cmp.Or(failureBudgets*v.steps, repairSteps)
	for _, p := range v.parts() {
		if !p.Routing.LocalRepair || !p.Lossless() {
			continue
		}
		r := repaired{part: p}
		net, o := &p.Net, p.Options(v.steps)
		if p.Homed != nil && p.Homed.Peers { // a peer link is a way round that does not turn
			net, o = &p.Homed.Net, p.HomedOptions(v.steps)
		}
		if !net.Turns() {
			list = append(list, r)
			continue
		}
		failures, steps := paths.Failures(net, &o)
		for i := range failures {
			if steps > limit {
				r.err = fmt.Errorf("%d of %d kinds of failures take %d steps, and the limit is %d; raise budget of analysis above %d", i, len(failures), steps, limit, steps/failureBudgets)
				break
			}
			o.Down, o.Brief = &failures[i].Down, true
			b, err := paths.Deadlock(net, o)
			if err != nil {
				r.err = err
				break
			}
			steps += b.Steps + leastSteps
			if b.Valleys > 0 {
				r.after, r.valley = p.Mask(o.Down), b.Valley[0]
				break
			}
		}
		list = append(list, r)
	}
	return list
}

// composition is the composition with what a mask has down.
func (v *Prover) composition(m *fabric.Mask) *paths.Composition {
	v.composed.Lock()
	defer v.composed.Unlock()
	if v.composed.by == nil {
		v.composed.by = paths.NewComposer(v.f, v.facts)
	}
	return v.composed.by.Under(m)
}

// legs are the cables of bonds on both switches of a pair, one of each kind.
func (v *Prover) legs() map[fabric.LinkID]int {
	if len(v.f.MLAGs) < 2 {
		return nil
	}
	v.composed.Lock()
	defer v.composed.Unlock()
	if v.composed.by == nil {
		v.composed.by = paths.NewComposer(v.f, v.facts)
	}
	return v.composed.by.Legs()
}

// limit is the refusal behind an error, nil if there is none.
func limit(err error) *paths.LimitError {
	var l *paths.LimitError
	errors.As(err, &l)
	return l
}
