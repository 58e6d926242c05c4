package lint

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/paths"
	"github.com/rocec/rocec/lang/diag"
)

// Verdict is what becomes of one property when something is down.
type Verdict struct {
	Property fabric.Property
	Broken   diag.List // what breaks then, and does not with everything up; empty: the property holds
	Open     []string  // what is not proven of it
}

// Outcome is a failure with its verdicts.
type Outcome struct {
	Mask     *fabric.Mask
	Names    string // of what is down
	Alike    int    // failures that stand alike, this one included
	Verdicts []Verdict

	steps int64 // that it took
}

// Broken reports whether some property breaks.
func (o *Outcome) Broken() bool {
	return slices.ContainsFunc(o.Verdicts, func(v Verdict) bool { return len(v.Broken) > 0 })
}

// ByPath are the properties that rest on the ways of packets. The others are
// proven of each port, link and VLAN by itself, with everything up: to take
// something away leaves them as they are.
const ByPath = fabric.PropertySet(1<<fabric.Composition | 1<<fabric.Deadlock | 1<<fabric.Reachability)

// familyOf is the property that a rule is about, by the first two digits of its
// number where the whole family is about one.
var familyOf = map[string]fabric.Property{
	"ROCE205": fabric.Composition, "ROCE206": fabric.Composition, "ROCE207": fabric.Composition, "ROCE208": fabric.Composition, "ROCE210": fabric.Composition,
	"ROCE301": fabric.Composition, "ROCE302": fabric.Composition, "ROCE310": fabric.Composition, "ROCE404": fabric.Composition, "ROCE822": fabric.Composition,
	"ROCE801": fabric.Deadlock, "ROCE802": fabric.Deadlock, "ROCE803": fabric.Deadlock, "ROCE804": fabric.Deadlock, "ROCE825": fabric.Deadlock,
	"ROCE805": fabric.Reachability, "ROCE827": fabric.Reachability, "ROCE806": fabric.MTU, "ROCE807": fabric.MTU, "ROCE808": fabric.MTU, "ROCE826": fabric.MTU,
	"ROCE620": fabric.Reachability, "ROCE621": fabric.Reachability, "ROCE622": fabric.Reachability, "ROCE623": fabric.Reachability,
	"ROCE5": fabric.Buffers, "ROCE401": fabric.Buffers, "ROCE402": fabric.Buffers, "ROCE6": fabric.Isolation,
}

// PropertyOf is the property that a rule is a part of the proof of; false for
// rules that belong to none.
func PropertyOf(rule string) (fabric.Property, bool) {
	if p, ok := familyOf[rule]; ok || len(rule) < 5 {
		return p, ok
	}
	p, ok := familyOf[rule[:5]]
	return p, ok
}

// Prove gives a verdict on each property that rests on ways, of a set, with what
// a mask has down. Findings are those that the fabric does not have anyway.
func (v *Prover) Prove(m *fabric.Mask, set fabric.PropertySet) *Outcome {
	o := &Outcome{Mask: m, Names: FailedNames(v.f, m), Alike: 1}
	p := &Pass{Fabric: v.f, Facts: v.facts, prover: v}
	after := " with " + o.Names + " down"
	var under []Routed
	if set.Has(fabric.Deadlock) || set.Has(fabric.Reachability) {
		under = v.Under(m, set.Has(fabric.Deadlock))
	}
	o.steps = int64(len(v.f.Ports))
	for i := range under {
		o.steps += under[i].steps
	}
	for pr := fabric.Property(0); pr < fabric.PropertyCount; pr++ {
		if !set.Has(pr) || !ByPath.Has(pr) {
			continue
		}
		verdict := Verdict{Property: pr}
		switch pr {
		case fabric.Deadlock:
			v.deadlock(p, &verdict, under, m, after)
		case fabric.Reachability:
			v.reachability(p, &verdict, under, m, after)
		case fabric.Composition:
			v.classes(p, &verdict, m, after)
		}
		o.Verdicts = append(o.Verdicts, verdict)
	}
	return o
}

func (v *Prover) deadlock(p *Pass, verdict *Verdict, under []Routed, m *fabric.Mask, after string) {
	for i, r := range under {
		base := v.whole()[i]
		known := base.Buffers != nil || base.Err == nil // else too large to prove, which less of it need not be
		if r.Down(m) == nil && r.HomedDown(m) == nil {  // as it is with everything up
			if !known {
				verdict.Open = append(verdict.Open, base.Err.Error())
			}
			continue
		}
		for _, g := range r.Gaps {
			if g.Failing {
				verdict.Open = append(verdict.Open, g.What)
			}
		}
		switch {
		case r.Err != nil:
			verdict.Open = append(verdict.Open, r.Err.Error())
			continue
		case base.Strays != nil && r.Strays.Loops > base.Strays.Loops:
			for j := range r.Strays.List {
				if s := &r.Strays.List[j]; s.Loop {
					verdict.Broken.Add(withDown(p.loop(r, s), "ROCE802", after))
					break
				}
			}
		}
		if r.Buffers == nil || r.Buffers.Acyclic() { // nil: it has a circle anyway
			continue
		}
		d := p.cycle(r, after)
		d.Rule = "ROCE801"
		verdict.Broken.Add(d)
	}
}

// withDown is a finding of a rule with what is down.
func withDown(d diag.Diagnostic, rule, after string) diag.Diagnostic {
	d.Rule, d.Summary = rule, d.Summary+after
	return d
}

// reachability compares which pairs of switches with nodes have no way: those
// that have none anyway are no news, and those that are down are not asked.
func (v *Prover) reachability(p *Pass, verdict *Verdict, under []Routed, m *fabric.Mask, after string) {
	for i, r := range under {
		base := v.whole()[i]
		if r.Down(m) == nil {
			continue
		}
		if r.Strays == nil {
			verdict.Open = append(verdict.Open, r.Err.Error())
			continue
		}
		if r.Strays.Lost == 0 {
			continue
		}
		if base.Strays == nil {
			verdict.Open = append(verdict.Open, base.Err.Error())
			continue
		}
		if int(base.Strays.Lost) > len(base.Strays.List) {
			verdict.Open = append(verdict.Open, fmt.Sprintf("%d pairs of a switch and a destination have no way as it is", base.Strays.Lost))
			continue
		}
		known := map[[2]paths.Switch]bool{}
		for _, s := range base.Strays.List {
			known[[2]paths.Switch{s.Path[0], s.To}] = true
		}
		// Of those that stand alike one is listed. Where that one is lost anyway, or
		// does not talk, another may talk.
		list, more, all := r.Strays.List, true, r.Homed != nil && r.Homed.Peers || base.Strays.Lost > 0
		for {
			if all {
				var err error
				if list, more, err = v.lost(r, m); err != nil {
					verdict.Open = append(verdict.Open, err.Error())
					break
				}
			}
			news := slices.DeleteFunc(slices.Clone(list), func(s paths.Stray) bool { return s.Loop || known[[2]paths.Switch{s.Path[0], s.To}] })
			at := slices.IndexFunc(news, func(s paths.Stray) bool {
				return p.talk(r.Part, s.Path[0], s.To) && p.survives(r.Part, s.Path[0], s.To, m)
			})
			if at >= 0 {
				d := p.stray(r, &news[at], after)
				d.Rule, d.Severity = "ROCE805", diag.Warning
				verdict.Broken.Add(d)
			} else if !all {
				all = true
				continue
			} else if more {
				verdict.Open = append(verdict.Open, "switches lose their way to each other, and the nodes of those that were looked at do not talk")
			}
			break
		}
	}
	v.cutOff(verdict, m)
}

// lost are pairs of switches without a way, by name, and whether there are more
// than are listed. What is lost may go over a peer link.
func (v *Prover) lost(r Routed, m *fabric.Mask) (list []paths.Stray, more bool, err error) {
	net, o := &r.Net, r.Options(v.steps)
	o.Down = r.Down(m)
	peers := r.Homed != nil && r.Homed.Peers
	if peers {
		net, o = &r.Homed.Net, r.HomedOptions(v.steps)
		o.Down = r.HomedDown(m)
	}
	o.Routing.LocalRepair = false
	s, err := paths.Ways(net, o)
	if err != nil {
		return nil, false, err
	}
	more = s.Lost+s.Loops > int64(len(s.List))
	return slices.DeleteFunc(s.List, func(s paths.Stray) bool { return peers && max(int(s.Path[0]), int(s.To)) >= len(r.Devices) }), more, nil
}

// survives reports whether some node below each of two switches has no other
// switch that is up: nodes on several reach each other over those.
func (p *Pass) survives(part *paths.Part, a, b paths.Switch, m *fabric.Mask) bool {
	alone := func(s paths.Switch) bool {
		first, end := p.Fabric.PortsOf(part.Devices[s])
		for id := first; id < end; id++ {
			peer := p.Fabric.Ports[id].Peer
			if peer == 0 || p.Fabric.Devices[p.Fabric.Ports[peer].Device].Kind != fabric.Node || !p.Fabric.Up(p.Fabric.Ports[id].Link, nil) {
				continue
			}
			if lag := p.Fabric.Ports[peer].LAG; lag == 0 || len(p.switches(lag, m)) == 1 {
				return true
			}
		}
		return false
	}
	return alone(a) && alone(b)
}

// switches are those that the members of a bond are cabled to, as far as they are up.
func (p *Pass) switches(lag fabric.LAGID, m *fabric.Mask) (list []fabric.DeviceID) {
	for _, id := range p.Fabric.LAGs[lag].Members {
		port := &p.Fabric.Ports[id]
		if port.Peer == 0 || !p.Fabric.Up(port.Link, m) {
			continue
		}
		if d := p.Fabric.Ports[port.Peer].Device; !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	return list
}

// cutOff reports nodes that lose every cable, and have more than one: with one
// cable, or one switch, a node is down with it, and `redundancy` of a class asks
// for more.
func (v *Prover) cutOff(verdict *Verdict, m *fabric.Mask) {
	f := v.f
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		if f.Devices[d].Kind != fabric.Node || m.Devices[d] {
			continue
		}
		first, end := f.PortsOf(d)
		cables, up := 0, 0
		var facing []fabric.DeviceID
		for id := first; id < end; id++ {
			if f.Ports[id].Link == 0 || !f.Up(f.Ports[id].Link, nil) {
				continue
			}
			if other := f.Ports[f.Ports[id].Peer].Device; !slices.Contains(facing, other) {
				facing = append(facing, other)
			}
			cables++
			if f.Up(f.Ports[id].Link, m) {
				up++
			}
		}
		if cables > 1 && up == 0 && len(facing) > 1 {
			verdict.Broken.Add(diag.Diagnostic{
				Rule: "ROCE805", Severity: diag.Warning, Summary: fmt.Sprintf("%s is cut off with %s down", f.Text(f.Devices[d].Name), FailedNames(f, m)),
				Address: f.Text(f.Devices[d].Address), Labels: []diag.Label{f.DeclLabel(f.Devices[d].Decl, "")}, Help: "cable the node to a switch that does not fail with these",
			})
		}
	}
}

// classes compares where classes lose their treatment.
func (v *Prover) classes(p *Pass, verdict *Verdict, m *fabric.Mask, after string) {
	now := v.composition(m)
	if now.Always {
		return
	}
	if now.Limit != nil {
		verdict.Open = append(verdict.Open, now.Limit.Error())
	}
	for _, b := range v.news(now) {
		if !p.follows(b) {
			verdict.Broken.Add(p.backup(b, after))
		}
	}
}

// news are the breaks of a composition that the fabric does not have anyway.
func (v *Prover) news(now *paths.Composition) (list []*paths.Break) {
	known := map[paths.Kind]bool{}
	for _, b := range v.composition(nil).Breaks {
		known[b.Kind] = true
	}
	for i := range now.Breaks {
		if b := &now.Breaks[i]; !known[b.Kind] {
			list = append(list, b)
		}
	}
	return list
}

// backup is the finding on a class that loses its treatment on a way that packets
// take only when something is down.
func (p *Pass) backup(b *paths.Break, after string) diag.Diagnostic {
	class, out, to, _ := p.hopNames(b)
	f := p.Fabric
	h := &b.Way[b.At]
	return diag.Diagnostic{
		Rule: "ROCE822", Summary: fmt.Sprintf("class %s goes by %s to %s%s, and loses its treatment there: %s", class, out, to, after, faultWords[b.Fault]),
		Address: f.PortAddress(h.Out), Concerns: []string{f.PortAddress(h.To), f.LinkAddress(f.Ports[h.Out].Link)}, Steps: p.steps(b),
		Labels: []diag.Label{p.atClass(b, h.Out, p.mapAttr(p.End(h.Out)), ""), p.atClass(b, h.To, p.mapAttr(p.End(h.To)), "the other end")},
		Help:   "give the links that stand in for others the same classes, headroom and MTU",
	}
}

// maxEach bounds the failures that are looked at one by one, where a fabric has
// breaks already and switches that stand alike cannot stand for each other.
const maxEach = 4096

// backupSteps bounds what is spent on them, in steps: some seconds.
const backupSteps = 50_000_000

// most is how many of them are looked at: of a large fabric each takes long.
func (v *Prover) most() int {
	return min(maxEach, max(8, backupSteps/(8*len(v.f.Ports))))
}

// failureMasks are failures, one of each kind, with how many there are of it.
type failureMasks struct {
	masks []*fabric.Mask
	alike []int
	left  int // beyond what is looked at, as far as they were counted
	alone int // of alike: cables of nodes to both switches of a pair that fail without another
	steps int64
}

// Bounds of what proofs under all failures take together, in steps: about a
// minute, or as many times the budget of analysis where one is written.
const (
	failureSteps   = paths.DefaultSteps
	failureBudgets = 16
	leastSteps     = 10_000 // of one failure, also where the net is small
	failureChunk   = 32     // failures between two looks at what they have taken
)

// masks are the failures of up to n links and switches on top of what a mask has
// down, single ones first. A cable to a node fails with the node: only links
// between switches, and switches, are taken out, and cables of nodes to both
// switches of a pair. With each, none stands for another but such a cable for those
// of its kind: switches that stand alike may treat classes in different ways. Beyond
// a limit of steps for the proofs under them there are none. Switches that are all
// that a node has left fail as what they are, also where others stand alike, and
// where nothing joins them.
func (v *Prover) masks(m *fabric.Mask, n int, each bool, limit int64) (out failureMasks) {
	most, ties := v.most(), v.ties(m, n)
	var legs map[fabric.LinkID]int
	if each && n > 0 {
		legs = v.legs()
	}
	laid := map[fabric.LinkID]bool{}
	for _, part := range v.parts() {
		o := part.Options(v.steps)
		o.Whole = each
		type failed struct {
			down  *paths.Down
			times int
		}
		net, last := &part.Net, []failed{{part.Down(m), 1}}
		if part.Round(n) || each && part.Homed != nil {
			net, last[0].down = &part.Homed.Net, part.HomedDown(m)
		}
		tied := net
		if len(ties) > 0 && !each {
			tied = part.Tied(net, ties)
		}
		for range n {
			var now []failed
			for _, before := range last {
				if out.left > 0 {
					break // how many more is not counted
				}
				o.Down = before.down
				failures, steps := paths.Failures(tied, &o)
				out.steps += steps
				for i := range failures {
					if down := failures[i].Down.Switches; len(down) > 0 && int(down[0]) >= len(part.Devices) {
						continue // a node, without which nothing goes to it
					}
					if down := failures[i].Down.Links; len(down) > 0 && down[0] >= len(net.Links) {
						continue // what ties switches is no cable
					}
					times := before.times * failures[i].Alike
					if down := failures[i].Down.Links; each && len(down) > 0 && down[0] >= len(part.Links) {
						if l := part.Homed.Links[down[0]-len(part.Links)]; v.f.Links[l].PeerLink == 0 {
							if laid[l] = true; legs[l] == 0 {
								continue // another of its kind stands for it
							}
							times *= legs[l]
						}
					}
					if each && len(out.masks) >= most || out.steps > limit {
						out.left += times
						continue
					}
					more := failed{before.down.With(&failures[i].Down), times}
					after := o
					after.Down = more.down
					out.steps += paths.Work(net, &after) + int64(len(v.f.Ports)) + leastSteps
					mask := part.Mask(more.down)
					if m != nil {
						maps.Copy(mask.Links, m.Links)
						maps.Copy(mask.Devices, m.Devices)
					}
					out.masks, out.alike, now = append(out.masks, mask), append(out.alike, times), append(now, more)
				}
			}
			last = now
		}
	}
	for _, l := range slices.Sorted(maps.Keys(legs)) {
		if laid[l] || m != nil && m.Links[l] {
			continue
		}
		if len(out.masks) >= most || out.steps > limit {
			out.left += legs[l]
			continue
		}
		mask := besides(m)
		mask.Links[l] = true
		out.masks, out.alike = append(out.masks, mask), append(out.alike, legs[l])
		out.steps += int64(len(v.f.Ports)) + leastSteps
		if n > 1 {
			out.alone += legs[l]
		}
	}
	for _, set := range ties {
		if slices.ContainsFunc(v.parts(), func(p *paths.Part) bool { return p.Has(set) }) {
			continue // is among them
		}
		mask, orders := besides(m), 1
		for i, d := range set {
			mask.Devices[d] = true
			orders *= i + 1
		}
		out.masks, out.alike = append(out.masks, mask), append(out.alike, orders)
		out.steps += int64(len(v.f.Ports)) + leastSteps
	}
	return out
}

// besides is a mask to add to, of what another one has down; nil: nothing.
func besides(m *fabric.Mask) *fabric.Mask {
	mask := &fabric.Mask{Links: map[fabric.LinkID]bool{}, Devices: map[fabric.DeviceID]bool{}}
	if m != nil {
		maps.Copy(mask.Links, m.Links)
		maps.Copy(mask.Devices, m.Devices)
	}
	return mask
}

// ties are the sets of up to n switches, each once, that are all that some node
// with more than one has left with what a mask has down.
func (v *Prover) ties(m *fabric.Mask, n int) (sets [][]fabric.DeviceID) {
	if n < 2 && m == nil {
		return nil // a node with one switch is down with it
	}
	f := v.f
	seen := map[string]bool{}
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		if f.Devices[d].Kind != fabric.Node || m != nil && m.Devices[d] {
			continue
		}
		var facing, left []fabric.DeviceID
		first, end := f.PortsOf(d)
		for id := first; id < end; id++ {
			if f.Ports[id].Link == 0 || !f.Up(f.Ports[id].Link, nil) {
				continue
			}
			at := f.Ports[f.Ports[id].Peer].Device
			if !slices.Contains(facing, at) {
				facing = append(facing, at)
			}
			if f.Up(f.Ports[id].Link, m) && !slices.Contains(left, at) {
				left = append(left, at)
			}
		}
		if len(facing) < 2 || len(left) == 0 || len(left) > n || slices.ContainsFunc(left, func(at fabric.DeviceID) bool { return f.Devices[at].Kind != fabric.Switch }) {
			continue
		}
		slices.Sort(left)
		if key := fmt.Sprint(left); !seen[key] {
			seen[key] = true
			sets = append(sets, left)
		}
	}
	return sets
}

// sound reports whether classes keep their treatment whatever the ways are.
func (v *Prover) sound() bool {
	return v.composition(nil).Always
}

// Failures proves a set of properties under every failure of up to n links and
// switches on top of what a mask has down. With more than one failure, a pair
// counts twice in Alike, once in each order. open says what was left out.
func (v *Prover) Failures(m *fabric.Mask, n int, set fabric.PropertySet) (outcomes []*Outcome, open []string) {
	limit := cmp.Or(failureBudgets*v.steps, failureSteps)
	list := v.masks(m, n, set.Has(fabric.Composition) && !v.sound(), limit)
	masks, alike := list.masks, list.alike
	if list.left > 0 && list.steps <= limit {
		open = append(open, fmt.Sprintf("%d failures or more: classes lose their treatment already, so that each failure is looked at by itself, and %d at most are", list.left, v.most()))
	}
	v.whole()        // all below compare with it
	took := int64(0) // known when a chunk is done, and so the same on any number of cores
	for len(outcomes) < len(masks) && took <= limit {
		first := len(outcomes)
		outcomes = append(outcomes, v.proveEach(masks[first:min(first+failureChunk, len(masks))], set)...)
		for i := first; i < len(outcomes); i++ {
			outcomes[i].Alike = alike[i]
			took += outcomes[i].steps
		}
	}
	if list.alone > 0 && len(outcomes) > 0 {
		for i := range outcomes[0].Verdicts {
			if verdict := &outcomes[0].Verdicts[i]; verdict.Property == fabric.Composition { // the others do not go by them
				verdict.Open = append(verdict.Open, fmt.Sprintf("%d cables of nodes to both switches of a pair fail one at a time, and not with something else: --fail takes out more", list.alone))
			}
		}
	}
	left := 0
	for _, n := range alike[len(outcomes):] {
		left += n
	}
	if list.steps > limit {
		left += list.left
	}
	if took = max(took, list.steps); left > 0 {
		open = append(open, fmt.Sprintf("%d failures or more were not looked at: those under %d kinds take %d steps, and the limit is %d; raise budget of analysis above %d",
			left, len(outcomes), took, limit, took/failureBudgets))
	}
	return outcomes, open
}

// proveEach proves a set of properties under each of some masks.
func (v *Prover) proveEach(masks []*fabric.Mask, set fabric.PropertySet) []*Outcome {
	outcomes := make([]*Outcome, len(masks))
	var next atomic.Int64
	var work sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxPasses, len(masks)) {
		work.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(masks); i = int(next.Add(1)) - 1 {
				outcomes[i] = v.Prove(masks[i], set)
			}
		})
	}
	work.Wait()
	return outcomes
}

// maxReported bounds the findings of one rule about failures.
const maxReported = 16

// failing reports what breaks of a property under the failures that `analysis`
// asks for.
func (p *Pass) failing(property fabric.Property) {
	a := &p.Fabric.Analysis
	if a.Failures == 0 || a.Properties != 0 && !a.Properties.Has(property) {
		return
	}
	reported, more := 0, 0
	outcomes, _ := p.proofs().failed()
	for _, o := range outcomes {
		for _, v := range o.Verdicts {
			if v.Property != property {
				continue
			}
			for _, d := range v.Broken {
				if d.Rule != p.rule.ID {
					continue
				}
				if reported++; reported > maxReported {
					more += o.Alike
					continue
				}
				if o.Alike > 1 {
					d.Notes = append(slices.Clone(d.Notes), fmt.Sprintf("%d failures stand alike", o.Alike))
				}
				p.Report(d)
			}
		}
	}
	if more > 0 {
		last := &p.found[len(p.found)-1]
		last.Notes = append(last.Notes, fmt.Sprintf("%d more failures break it", more))
	}
}

// notProven are the reasons why a property is not proven under failures, each once.
func (p *Pass) notProven(property fabric.Property) (list []string) {
	outcomes, list := p.proofs().failed()
	list = slices.Clone(list)
	for _, o := range outcomes {
		for _, v := range o.Verdicts {
			for _, why := range v.Open {
				if v.Property == property && !slices.Contains(list, why) {
					list = append(list, why)
				}
			}
		}
	}
	return list
}

// proofs are the proofs that all passes share.
func (p *Pass) proofs() *Prover {
	if p.prover == nil {
		p.prover = NewProver(p.Fabric, p.Facts)
	}
	return p.prover
}

// FailedNames names what a mask has down: "the link tor/a - far/b and spine2".
func FailedNames(f *fabric.Fabric, m *fabric.Mask) string {
	var names []string
	for _, l := range slices.Sorted(maps.Keys(m.Links)) {
		if m.Links[l] {
			names = append(names, "the link "+f.PortName(f.Links[l].A)+" - "+f.PortName(f.Links[l].B))
		}
	}
	for _, d := range slices.Sorted(maps.Keys(m.Devices)) {
		if m.Devices[d] {
			names = append(names, f.Text(f.Devices[d].Name))
		}
	}
	if len(names) > maxShown {
		names = append(names[:maxShown], fmt.Sprintf("%d more", len(names)-maxShown))
	}
	return strings.TrimSpace(list(names))
}
