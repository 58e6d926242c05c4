package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/paths"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// Rules on links compare the two ends of a cable. What becomes of a class inside
// a switch, between the port that classifies it and the port that queues it, and
// of a mark that crosses more than one contract, is found by following it from
// NIC to NIC: the rules on classes, PFC, ECN and MTU each report their part.

// broken are the breaks of some kinds that no rule on links or single ports
// speaks of.
func (p *Pass) broken(faults ...paths.Fault) (list []*paths.Break) {
	all := p.proofs().composition(nil)
	for i := range all.Breaks {
		b := &all.Breaks[i]
		h := &b.Way[b.At]
		// Where a tag is trusted and there is none, ROCE206 and 207 say so.
		untagged := h.Mark.PCP < 0 && p.End(h.To).Profile.Trust == fabric.TrustPCP
		if !b.Local && !untagged && slices.Contains(faults, b.Fault) {
			list = append(list, b)
		}
	}
	return list
}

// crossing is a break as a rule reports it: what is wrong in summary and help,
// attr where it was written.
func (p *Pass) crossing(b *paths.Break, attr schema.Attr, summary, help string) {
	f := p.Fabric
	h := &b.Way[b.At]
	d := diag.Diagnostic{
		Summary: summary, Help: help, Address: f.PortAddress(h.Out), Concerns: []string{f.PortAddress(h.To), f.LinkAddress(f.Ports[h.Out].Link)},
		Labels: []diag.Label{p.atClass(b, h.Out, attr, "")}, Steps: p.steps(b), Count: b.Ports, Members: p.breakMembers(b, h.Out, summary),
	}
	add := func(port fabric.PortID, text string) {
		l := p.atClass(b, port, p.mapAttr(p.End(port)), text)
		if !slices.ContainsFunc(d.Labels, func(o diag.Label) bool { return o.Span == l.Span }) {
			d.Labels = append(d.Labels, l)
		}
	}
	if h.In != 0 {
		d.Concerns = append(d.Concerns, f.PortAddress(h.In))
		add(h.In, "where it comes in")
	}
	add(h.To, "the next device")
	p.Report(d)
}

// breakMembers are the members of a break, nil where it happens at one port. At is the
// end of its cable that the finding is about.
func (p *Pass) breakMembers(b *paths.Break, at fabric.PortID, summary string) []diag.Member {
	if len(b.Alike) < 2 {
		return nil
	}
	f, h := p.Fabric, &b.Way[b.At]
	list := make([]diag.Member, len(b.Alike))
	for i, id := range b.Alike {
		peer, about := f.Ports[id].Peer, id
		if at == h.To {
			about = peer
		}
		names := strings.NewReplacer(f.PortName(h.Out), f.PortName(id), f.PortName(h.To), f.PortName(peer))
		list[i] = diag.Member{Address: f.PortAddress(about), Summary: names.Replace(summary)}
	}
	return list
}

// atClass is where a port was told what it does with the class of a break: a
// deviation, what its contract's class of that name says otherwise than the class
// that is sent, else its qos.
func (p *Pass) atClass(b *paths.Break, port fabric.PortID, attr schema.Attr, text string) diag.Label {
	e := p.End(port)
	sent := &p.Fabric.QoS[b.Class.QoS].Classes[b.Class.Index]
	for i := range p.Fabric.QoS[e.Profile.QoS].Classes {
		c := &p.Fabric.QoS[e.Profile.QoS].Classes[i]
		if c.Name != sent.Name {
			continue
		}
		said := schema.APriority
		switch {
		case c.DSCP != sent.DSCP && e.Profile.Trust == fabric.TrustDSCP:
			said = schema.ADSCP
		case c.Lossless != sent.Lossless && c.Priority == sent.Priority:
			said = schema.ALossless
		}
		return p.AtContract(e, attr, c, said, text)
	}
	return p.AtContract(e, attr, nil, 0, text)
}

// steps shows the way of a break, cable by cable, to its receiver.
func (p *Pass) steps(b *paths.Break) []diag.Step {
	f := p.Fabric
	list := make([]diag.Step, 0, len(b.Way))
	for i := range b.Way {
		h := &b.Way[i]
		text := fmt.Sprintf("priority %d, queue %d, taken for priority %d", h.Priority, h.Queue, h.Next)
		switch {
		case p.End(h.Out).Port.Profile == 0 && p.End(h.To).Port.Profile == 0:
			text = "no qos at either end"
		case i == b.At:
			text += ": " + faultWords[h.Fault]
		}
		list = append(list, diag.Step{
			At: f.PortName(h.Out) + " > " + f.PortName(h.To), Address: f.PortAddress(h.Out), Text: text, Label: p.atClass(b, h.To, p.mapAttr(p.End(h.To)), ""),
		})
	}
	return list
}

var faultWords = [...]string{
	paths.Sound: "", paths.Parted: "another priority", paths.Remarked: "another mark", paths.Unpaused: "no PFC", paths.Unstopped: "the pause stops another queue",
	paths.Unbuffered: "no headroom", paths.Unmarked: "no ECN", paths.Mixed: "among what is lossless", paths.Oversized: "the MTU is too small",
}

// hopNames are the names that messages about a break use.
func (p *Pass) hopNames(b *paths.Break) (class, out, to, in string) {
	h := &b.Way[b.At]
	in = "its own sender"
	if h.In != 0 {
		in = p.Fabric.PortName(h.In)
	}
	return p.Fabric.Text(p.Fabric.QoS[b.Class.QoS].Classes[b.Class.Index].Name), p.Fabric.PortName(h.Out), p.Fabric.PortName(h.To), in
}

// crossedPriority is ROCE205 across a switch.
func crossedPriority(p *Pass) {
	for _, b := range p.broken(paths.Parted, paths.Remarked) {
		if p.follows(b) || p.blind(b) && p.classOf(b).Lossless {
			continue // ROCE302
		}
		class, out, to, in := p.hopNames(b)
		h := &b.Way[b.At]
		p.crossing(b, p.mapAttr(p.End(h.Out)), fmt.Sprintf("class %s comes in by %s in priority %d and leaves by %s, and %s takes it for priority %d", class, in, h.Priority, out, to, h.Next), "use one map on all ports")
	}
}

// crossedLossless is ROCE302 across a switch. Where the ways were too many to
// follow all, it says so for the others too.
func crossedLossless(p *Pass) {
	if l := p.proofs().composition(nil).Limit; l != nil {
		at, label := p.atWays()
		p.Report(diag.Diagnostic{
			Severity: diag.Warning, Address: at, Labels: []diag.Label{label}, Help: "give all ports one qos, which is proven whatever the ways are",
			Summary: fmt.Sprintf("whether classes keep their treatment on every way is not known: following them takes %d steps or more, and the limit is %d", l.Need, l.Limit),
		})
	}
	for _, b := range p.broken(paths.Parted) {
		if !p.blind(b) || !p.classOf(b).Lossless {
			continue // ROCE205
		}
		class, out, to, _ := p.hopNames(b)
		p.crossing(b, schema.AQoS, fmt.Sprintf("class %s becomes lossy at %s: neither it nor its peer %s trusts marks or has PFC, "+
			"and packets of the class go over that cable", class, out, to),
			"give both ends the qos of the class, or write external = true where the other end is not of this fabric")
	}
	for _, b := range p.broken(paths.Unpaused, paths.Unbuffered) {
		if p.rewritten(b) {
			continue // ROCE804
		}
		class, out, to, _ := p.hopNames(b)
		h := &b.Way[b.At]
		if p.End(h.Out).Port.Profile == 0 {
			p.uncontracted(b, class, out, to)
			continue
		}
		if b.Fault == paths.Unbuffered {
			p.crossing(b, schema.APFC, fmt.Sprintf("class %s becomes lossy at %s: it comes from %s in priority %d, which has no headroom there", class, to, out, h.Next), fmt.Sprintf("give %s a lossless class of priority %d", to, h.Next))
			continue
		}
		p.crossing(b, schema.APFC, fmt.Sprintf("class %s becomes lossy at %s: priority %d has no PFC there, on the way to %s", class, out, h.Next, to), fmt.Sprintf("enable PFC for priority %d on both ends, or send the class as one that they have", h.Next))
	}
}

// blind reports whether a class breaks on a cable both of whose ends ignore marks.
func (p *Pass) blind(b *paths.Break) bool {
	h := &b.Way[b.At]
	return p.untrusted(p.End(h.Out)) && p.untrusted(p.End(h.To))
}

// follows reports whether a break on such a cable is told with that of a lossless
// class of the same contract, which breaks there as well.
func (p *Pass) follows(b *paths.Break) bool {
	return p.blind(b) && !p.classOf(b).Lossless &&
		slices.ContainsFunc(p.Fabric.QoS[b.Class.QoS].Classes, func(c fabric.Class) bool { return c.Lossless })
}

// classOf is the class of a break.
func (p *Pass) classOf(b *paths.Break) *fabric.Class {
	return &p.Fabric.QoS[b.Class.QoS].Classes[b.Class.Index]
}

// atWays is where the ways of the fabric come from: the routing of its first part,
// or a switch where peer links at most join switches.
func (p *Pass) atWays() (string, diag.Label) {
	if parts := p.proofs().parts(); len(parts) > 0 {
		return p.address(parts[0], 0), p.atRouting(parts[0], schema.APaths, "")
	}
	d := max(0, slices.IndexFunc(p.Fabric.Devices, func(d fabric.Device) bool { return d.Kind == fabric.Switch }))
	return p.Fabric.Text(p.Fabric.Devices[d].Address), p.Fabric.DeclLabel(p.Fabric.Devices[d].Decl, "")
}

// uncontracted reports a cable on the way of a lossless class both of whose ends
// were told nothing.
func (p *Pass) uncontracted(b *paths.Break, class, out, to string) {
	f := p.Fabric
	h := &b.Way[b.At]
	first := &b.Way[0]
	summary := fmt.Sprintf("class %s becomes lossy at %s: neither it nor its peer %s has a qos, and what %s sends may go that way",
		class, out, to, f.PortName(first.Out))
	p.Report(diag.Diagnostic{
		Summary: summary, Members: p.breakMembers(b, h.Out, summary),
		Address: f.PortAddress(h.Out), Concerns: []string{f.PortAddress(h.To), f.LinkAddress(f.Ports[h.Out].Link)}, Count: b.Ports, Steps: p.steps(b),
		Labels: []diag.Label{p.AtPort(p.End(h.Out), schema.AQoS, ""), p.AtPort(p.End(h.To), schema.AQoS, "other end"), p.atClass(b, first.Out, schema.APFC, "the class")},
		Help:   "write qos on both ports, their devices or their topology",
	})
}

// rewritten reports whether a class breaks in a priority that a declared remap
// gave it on the way.
func (p *Pass) rewritten(b *paths.Break) bool {
	h := &b.Way[b.At]
	if h.Next == b.Way[0].Priority {
		return false
	}
	name := p.Fabric.QoS[b.Class.QoS].Classes[b.Class.Index].Name
	declares := func(q fabric.QoSID) bool {
		return slices.ContainsFunc(p.Fabric.QoS[q].Classes, func(c fabric.Class) bool { return c.Name == name && c.Remap })
	}
	return declares(b.Class.QoS) || declares(p.End(h.Out).Profile.QoS) || declares(p.End(h.To).Profile.QoS)
}

// remappedAway is ROCE804 for classes that remap takes from one priority to another.
func remappedAway(p *Pass) {
	for _, b := range p.broken(paths.Unpaused, paths.Unbuffered) {
		if !p.rewritten(b) {
			continue
		}
		class, out, to, _ := p.hopNames(b)
		h := &b.Way[b.At]
		lacks := "PFC"
		if b.Fault == paths.Unbuffered {
			lacks = "headroom"
		}
		p.crossing(b, schema.APFC, fmt.Sprintf("class %s is remapped from priority %d to %d, which has no %s from %s to %s: lossless there is %s",
			class, b.Way[0].Priority, h.Next, lacks, out, to, Priorities(p.End(h.Out).Profile.PFC&p.End(h.To).Profile.PFC)),
			fmt.Sprintf("give both ends a lossless class %s, or declare it there with lossless = false", class))
	}
}

// crossedPause is ROCE310 across a switch.
func crossedPause(p *Pass) {
	for _, b := range p.broken(paths.Unstopped) {
		class, out, to, in := p.hopNames(b)
		h := &b.Way[b.At]
		p.crossing(b, schema.APFCQueueMap, fmt.Sprintf("class %s comes in by %s in priority %d and leaves by queue %d of %s, and the pause of %s for priority %d stops another", class, in, h.Priority, h.Queue, out, to, h.Next), "align the queue maps of the two ports")
	}
}

// crossedMarking is ROCE404 across a switch.
func crossedMarking(p *Pass) {
	for _, b := range p.broken(paths.Unmarked) {
		class, out, _, _ := p.hopNames(b)
		p.crossing(b, schema.AECN, fmt.Sprintf("class %s is not ECN marked at %s, queue %d", class, out, b.Way[b.At].Queue), `write ecn = "auto" there`)
	}
}

// crossedGroup is ROCE210 across a switch.
func crossedGroup(p *Pass) {
	for _, b := range p.broken(paths.Mixed) {
		class, out, to, _ := p.hopNames(b)
		h := &b.Way[b.At]
		p.crossing(b, p.mapAttr(p.End(h.Out)), fmt.Sprintf("class %s is lossy, and leaves %s in queue %d for %s in priority %d, among what is lossless there", class, out, h.Queue, to, h.Next), "give the class code points that no contract on its way has for a lossless one")
	}
}

// crossedMTU is ROCE806 along a way.
func crossedMTU(p *Pass) {
	f := p.Fabric
	for _, b := range p.broken(paths.Oversized) {
		h, last := &b.Way[b.At], b.Way[len(b.Way)-1].To
		first := b.Way[0].Out
		need := min(p.Facts.Port(first).NeedMTU, p.Facts.Port(last).NeedMTU)
		e, other := p.End(h.Out), p.End(h.To)
		if e.Port.MTU == 0 || e.Port.MTU >= need {
			e, other = other, e
		}
		summary := fmt.Sprintf("MTU is %d on %s, on the way from %s to %s, whose RDMA packets take %d", e.Port.MTU, p.Name(e), f.PortName(first), f.PortName(last), need)
		d := diag.Diagnostic{
			Summary: summary, Members: p.breakMembers(b, e.ID, summary),
			Address: f.PortAddress(e.ID), Concerns: []string{f.PortAddress(other.ID), f.PortAddress(first), f.PortAddress(last)}, Count: b.Ports,
			Labels: []diag.Label{p.AtPort(e, schema.AMTU, "")}, Steps: p.steps(b), Help: fmt.Sprintf("raise it to %d or more", need),
		}
		for i, end := range [2]fabric.PortID{first, last} {
			l := p.AtPort(p.End(end), schema.AMTU, [...]string{"the sender", "the receiver"}[i])
			if !slices.ContainsFunc(d.Labels, func(o diag.Label) bool { return o.Span == l.Span }) {
				d.Labels = append(d.Labels, l)
			}
		}
		p.Report(d)
	}
}
