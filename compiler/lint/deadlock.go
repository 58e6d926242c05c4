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

// The part of the family on paths that follows packets from switch to switch.

const (
	oneRing  = "r0-r1 r1-r2 r2-r0"
	byTable  = "model = \"table\"\n  file  = \"ways.csv\""
	twoPaths = "t1-l1 t2-l1 t1-l2 t2-l2 t3-l3 t4-l3 t3-l4 t4-l4 l1-s1 l2-s1 l3-s1 l4-s1 l1-s2 l2-s2 l3-s2 l4-s2"
)

var roce801 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE801", Name: "buffer_cycle", Severity: diag.Error, Hard: true,
		Title: "lossless buffers wait for each other in a circle",
		Why: "PFC holds a frame until the next buffer has room: buffers that wait for each other in a circle wait for ever, and what feeds them stops too. " +
			"The circle is what deadlock needs; that it is filled is a matter of load",
		Fix: "take the turn from down to up out of the ways, give frames another lossless priority where they turn, or make " +
			"the class lossy",
		Source: "Hu et al., Deadlocks in Datacenter Networks: Why Do They Form, and How to Avoid Them, HotNets 2016; Hu et al., " +
			"Tagger: Practical PFC Deadlock Prevention in Data Center Networks, CoNEXT 2017",
		Bad:  netOf("r0 r1 r2", oneRing, byTable, "r0 * r1 r1", "r0 * r2 r1", "r1 * r2 r2", "r1 * r0 r2", "r2 * r0 r0", "r2 * r1 r0"),
		Good: netOf("r0 r1 r2", oneRing, byTable, "r0 * r1 r1", "r0 * r2 r2", "r1 * r2 r2", "r1 * r0 r0", "r2 * r0 r0", "r2 * r1 r1"),
	},
	Run:   bufferCycle,
	first: true, // the ways and the buffers
}

func bufferCycle(p *Pass) {
	for _, r := range p.routed() {
		switch {
		case r.Err != nil:
			p.unproven(r)
		case !r.Buffers.Acyclic():
			p.Report(p.cycle(r, ""))
		default:
			for _, g := range r.Gaps {
				if !g.Failing {
					p.Report(diag.Diagnostic{
						Severity: diag.Warning, Summary: "deadlock is not ruled out: " + g.What, Address: p.address(r.Part, 0), Labels: []diag.Label{p.Fabric.DeclLabel(g.Decl, "")},
						Help: "give the class one priority between switches",
					})
				}
			}
		}
	}
	p.failing(fabric.Deadlock)
	if a := &p.Fabric.Analysis; a.Failures > 0 && (a.Properties == 0 || a.Properties.Has(fabric.Deadlock)) {
		for _, why := range p.notProven(fabric.Deadlock) {
			p.Report(diag.Diagnostic{
				Severity: diag.Warning, Summary: "deadlock after a failure is not ruled out: " + why, Address: fabric.AnalysisAddress, Labels: []diag.Label{p.Fabric.Label(a.Decl, 0, schema.AFailures, "")},
				Help: "leave deadlock out of properties of analysis, and judge this by hand",
			})
		}
	}
}

// routed are the parts of the fabric with what is proven of them.
func (p *Pass) routed() []Routed {
	return p.proofs().Parts()
}

// unproven reports a part that is too large for its budget.
func (p *Pass) unproven(r Routed) {
	d := diag.Diagnostic{
		Severity: diag.Warning, Summary: fmt.Sprintf("deadlock is not ruled out among %d switches and %d links: %v", r.Net.Switches, len(r.Net.Links), r.Err), Address: p.address(r.Part, 0),
		Labels: []diag.Label{p.atRouting(r.Part, schema.APaths, "")}, Help: `declare routing by "up_down" where tiers exist, which is proven by ranks`,
	}
	if l := limit(r.Err); l != nil && l.What == "steps" {
		d.Help += fmt.Sprintf(", or raise budget of analysis above %d", l.Need)
	}
	p.Report(d)
}

// maxShown is how many hops and flows of a circle a message names.
const maxShown = 8

// cycle is the finding on the shortest circle of a part; after says when there
// is one, "" with everything up.
func (p *Pass) cycle(r Routed, after string) diag.Diagnostic {
	b, f := r.Buffers, p.Fabric
	var hops, flows []string
	for i, v := range b.Cycle {
		if i == maxShown {
			hops = append(hops, fmt.Sprintf("and %d more", len(b.Cycle)-maxShown))
			break
		}
		hops = append(hops, p.name(r.Part, v.From)+">"+p.name(r.Part, v.To))
	}
	priorities := ""
	for _, v := range b.Cycle {
		if s := fmt.Sprint(v.Priority); !strings.Contains(priorities, s) {
			priorities += " and " + s
		}
	}
	d := diag.Diagnostic{
		Summary: fmt.Sprintf("deadlock possible: %s wait for each other in priority %s%s", strings.Join(hops, ", "), strings.TrimPrefix(priorities, " and "), after),
		Address: p.address(r.Part, b.Cycle[0].To), Help: "take a turn of the circle out of the ways, change the lossless priority at it, or make the class lossy",
	}
	for i, v := range b.Cycle[:min(len(b.Cycle), 64)] {
		next := b.Cycle[(i+1)%len(b.Cycle)]
		s := diag.Step{At: p.name(r.Part, v.From) + " > " + p.name(r.Part, v.To), Address: p.address(r.Part, v.To), Text: fmt.Sprintf("priority %d, ", v.Priority)}
		if links := r.LinksOf(v); len(links) > 0 {
			s.Label = f.LinkLabel(links[0], schema.AEnds, "")
			d.Concerns = append(d.Concerns, f.LinkAddress(links[0]))
		}
		if i < len(b.Flows) && len(b.Flows[i].Path) > 0 {
			s.Text += "waits for it by " + p.flow(r.Part, &b.Flows[i])
			if l, ok := p.atRow(r.Part, v, next.To, b.Flows[i].To); ok {
				s.Label = l
				if len(d.Labels) < 3 && !slices.ContainsFunc(d.Labels, func(o diag.Label) bool { return o.Span == l.Span }) {
					l.Text = []string{"", "another turn", "another"}[len(d.Labels)]
					d.Labels = append(d.Labels, l)
				}
			}
			if flow := p.flow(r.Part, &b.Flows[i]); len(flows) < 2 && !slices.Contains(flows, flow) {
				flows = append(flows, flow)
			}
		} else if slices.ContainsFunc(r.Floods, func(f paths.Flood) bool { return f.Priority == v.Priority }) {
			s.Text += "waits for it by what is flooded"
		} else {
			s.Text += "waits for it"
		}
		d.Steps = append(d.Steps, s)
		d.Concerns = append(d.Concerns, p.address(r.Part, v.To))
	}
	if len(d.Labels) == 0 {
		attr := schema.APaths
		if r.Routing.LocalRepair && after != "" {
			attr = schema.ARepair
		}
		d.Labels = []diag.Label{p.atRouting(r.Part, attr, "")}
	}
	for i, s := range r.Flooded {
		if r.Floods[i].Priority == b.Cycle[0].Priority && len(d.Labels) < 3 {
			d.Labels = append(d.Labels, f.Label(f.Segments[s].Decl, 0, schema.AUnknownUnicast, "floods in this priority"))
		}
	}
	circled := int64(0)
	for _, n := range b.Circles {
		circled += n
	}
	note := fmt.Sprintf("of %d lossless buffers %d are part of circles, and this circle is the shortest", b.Vertices, circled)
	if !b.Shortest {
		note = strings.TrimSuffix(note, "is the shortest") + "is one of the shortest that were found"
	}
	if b.Proof == paths.Folded {
		note = "" // its counts are not those of the fabric
	}
	d.Notes = noted(note, p.guessed(r.Part))
	if len(flows) > 0 {
		d.Notes = append(d.Notes, "for example it closes by "+strings.Join(flows, " and "))
	}
	if r.Assumed && p.bridged(r) {
		d.Severity = diag.Warning // a tree of bridges may be all there is
	}
	return d
}

// bridged reports whether some link of the circle carries VLANs at both ends.
func (p *Pass) bridged(r Routed) bool {
	for _, v := range r.Buffers.Cycle {
		for _, l := range r.LinksOf(v) {
			link := &p.Fabric.Links[l]
			a, b := &p.Fabric.Ports[link.A], &p.Fabric.Ports[link.B]
			if (a.VLANs != 0 || a.Native != 0 || a.LAG != 0) && (b.VLANs != 0 || b.Native != 0 || b.LAG != 0) {
				return true
			}
		}
	}
	return false
}

// guessed says what is assumed where no block says how packets go.
func (p *Pass) guessed(part *paths.Part) string {
	if !part.Assumed {
		return ""
	}
	why := "no routing block says how packets go"
	if len(p.Fabric.Routings) > 1 {
		why = "no routing block speaks for these switches"
	}
	if part.Routing.Base == paths.UpDown {
		return why + ": up and then down the tiers is assumed"
	}
	return why + ": every shortest way is assumed"
}

// name is a switch of a part as messages name it.
func (p *Pass) name(part *paths.Part, s paths.Switch) string {
	return p.Fabric.Text(p.Fabric.Devices[part.Device(s)].Name)
}

func (p *Pass) address(part *paths.Part, s paths.Switch) string {
	return p.Fabric.Text(p.Fabric.Devices[part.Device(s)].Address)
}

// way joins switches: "leaf1 > spine2 > leaf3".
func (p *Pass) way(part *paths.Part, list []paths.Switch) string {
	var names []string
	for i, s := range list {
		if i == 2*maxShown {
			names = append(names, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		names = append(names, p.name(part, s))
	}
	return strings.Join(names, " > ")
}

// flow shows a flow: from the nodes of one switch to those of another.
func (p *Pass) flow(part *paths.Part, f *paths.Flow) string {
	whose := func(s paths.Switch, nodes string) string {
		if int(s) >= len(part.Devices) {
			return p.name(part, s) // itself a node
		}
		return nodes + p.name(part, s)
	}
	return fmt.Sprintf("what %s send%s to %s (%s)", whose(f.From, "nodes of "), alone(int(f.From) >= len(part.Devices)), whose(f.To, "those of "), p.way(part, f.Path))
}

func alone(one bool) string {
	if one {
		return "s"
	}
	return ""
}

// atRow is the row of a table that sends what came in by a buffer on to the next
// switch, for a destination.
func (p *Pass) atRow(part *paths.Part, in paths.Vertex, next, to paths.Switch) (diag.Label, bool) {
	for _, from := range []paths.Switch{in.From, paths.Anywhere} {
		for i, row := range part.Routing.Rows {
			if row.At == in.To && row.From == from && row.Next == next && row.To == to {
				return diag.Label{Span: part.Table[i].Row, Where: p.routingName(part)}, true
			}
		}
	}
	return diag.Label{}, false
}

func (p *Pass) routingName(part *paths.Part) string {
	if len(part.By) == 0 {
		return ""
	}
	return p.Fabric.Text(p.Fabric.Routings[part.By[0]].Address)
}

// atRouting is where it stands how packets go in a part: its routing block, else
// its topology, else its first switch.
func (p *Pass) atRouting(part *paths.Part, n schema.Attr, text string) diag.Label {
	f := p.Fabric
	for _, by := range part.By {
		if r := &f.Routings[by]; n != schema.ARepair || r.LocalRepair {
			return f.Label(r.Decl, 0, n, text)
		}
	}
	first := &f.Devices[part.Devices[0]]
	if t := f.Topologies; int(first.Topology) < len(t) && first.Topology != 0 {
		return f.DeclLabel(t[first.Topology].Decl, text)
	}
	return f.DeclLabel(first.Decl, text)
}

var roce802 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE802", Name: "forwarding_loop", Severity: diag.Error, Hard: true,
		Title: "packets come back to where they were",
		Why:   "packets in a loop live until their TTL ends, fill every buffer on it, and with PFC stand still for ever",
		Fix:   "correct the rows of the table for that destination",
		Source: "Hu et al., Deadlocks in Datacenter Networks: Why Do They Form, and How to Avoid Them, HotNets 2016; RFC 1812, " +
			"5.2.7.3 (a packet in a loop lives until its TTL ends)",
		Bad:  netOf("r0 r1 r2", oneRing, byTable, "r0 * r1 r1", "r0 * r2 r1", "r1 * r2 r0", "r1 * r0 r0", "r2 * r0 r0", "r2 * r1 r1"),
		Good: netOf("r0 r1 r2", oneRing, byTable, "r0 * r1 r1", "r0 * r2 r1", "r1 r0 r2 r2", "r1 * r2 r2", "r1 * r0 r0", "r2 * r0 r0", "r2 * r1 r1"),
	},
	Run: forwardingLoop,
}

func forwardingLoop(p *Pass) {
	for _, r := range p.routed() {
		if r.Strays == nil {
			continue
		}
		for i := range r.Strays.List {
			if s := &r.Strays.List[i]; s.Loop {
				p.Report(p.loop(r, s))
			}
		}
	}
	p.failing(fabric.Deadlock)
}

// loop is the finding on packets that go round.
func (p *Pass) loop(r Routed, s *paths.Stray) diag.Diagnostic {
	round := s.Round()
	d := diag.Diagnostic{
		Summary: fmt.Sprintf("packets to %s go round by %s", p.name(r.Part, s.To), p.way(r.Part, append(slices.Clone(round), round[0]))),
		Address: p.address(r.Part, round[0]), Help: "correct the rows for that destination: each next switch must be nearer to it", Notes: noted(p.guessed(r.Part)),
	}
	for i, at := range round {
		from, next := round[(i+len(round)-1)%len(round)], round[(i+1)%len(round)]
		step := diag.Step{At: p.name(r.Part, at) + " > " + p.name(r.Part, next), Address: p.address(r.Part, at), Text: "to " + p.name(r.Part, s.To)}
		d.Concerns = append(d.Concerns, p.address(r.Part, at))
		if l, ok := p.atRow(r.Part, paths.Vertex{From: from, To: at}, next, s.To); ok {
			step.Label = l
			if len(d.Labels) < 3 {
				l.Text = []string{"", "and back", "and on"}[len(d.Labels)]
				d.Labels = append(d.Labels, l)
			}
		}
		if len(d.Steps) < 64 {
			d.Steps = append(d.Steps, step)
		}
	}
	if len(d.Labels) == 0 {
		d.Labels = []diag.Label{p.atRouting(r.Part, schema.APaths, "")}
	}
	if more := r.Strays.Loops - 1; more > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("packets to %d switches go round in all", r.Strays.Loops))
	}
	return d
}

var roce803 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE803", Name: "lossless_valley", Severity: diag.Warning,
		Title:  "lossless traffic goes up again after it came down",
		Why:    "one bounce is no deadlock, two opposite ones are: a fabric with a bounce is one change away from standing still",
		Fix:    "take the bounce out of the ways, or give frames another lossless priority where they turn",
		Source: "Hu et al., Tagger: Practical PFC Deadlock Prevention in Data Center Networks, CoNEXT 2017",
		Bad:    netOf("t1 t2", "t1-l1 t2-l1 t1-l2 t2-l2", byTable, "t1 * t2 l1", "t2 * t1 l1", "l1 * t2 t2", "l1 * t1 t2", "t2 l1 t1 l2", "l2 * t1 t1"),
		Good:   netOf("t1 t2", "t1-l1 t2-l1 t1-l2 t2-l2", byTable, "t1 * t2 l1", "t2 * t1 l2", "l1 * t2 t2", "l2 * t1 t1"),
	},
	Run: losslessValley,
}

func losslessValley(p *Pass) {
	for _, r := range p.routed() {
		if r.Buffers == nil || !r.Buffers.Acyclic() || r.Assumed {
			continue
		}
		for i := range r.Buffers.Valley {
			v := &r.Buffers.Valley[i]
			if v.New != v.Priority {
				continue // a tag covers it
			}
			d := diag.Diagnostic{
				Summary: fmt.Sprintf("lossless priority %d bounces at %s: it comes down from %s and goes up to %s", v.Priority, p.name(r.Part, v.At), p.name(r.Part, v.From), p.name(r.Part, v.Next)),
				Address: p.address(r.Part, v.At), Concerns: []string{p.address(r.Part, v.From), p.address(r.Part, v.Next)},
				Help: "take the bounce out of the ways, or change the lossless priority there",
			}
			if len(v.Flow.Path) > 0 {
				d.Notes = []string{"for example " + p.flow(r.Part, &v.Flow)}
				if l, ok := p.atRow(r.Part, paths.Vertex{From: v.From, To: v.At}, v.Next, v.Flow.To); ok {
					d.Labels = []diag.Label{l}
				}
			}
			if len(d.Labels) == 0 {
				d.Labels = []diag.Label{p.atRouting(r.Part, schema.APaths, "")}
			}
			p.Report(d)
		}
	}
}

var roce804 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE804", Name: "tag_priorities", Severity: diag.Error,
		Title: "a tag or remap leads to a priority that is not lossless",
		Why: "a scheme that tolerates k bounces takes k + 1 lossless priorities: a frame tagged beyond them is dropped where " +
			"it was promised not to be",
		Fix:     "tolerate fewer bounces, or declare a class for the priority, with PFC or lossless = false",
		Formula: "lossless priorities needed = bounces tolerated + 1",
		Source:  "Hu et al., Tagger: Practical PFC Deadlock Prevention in Data Center Networks, CoNEXT 2017",
		Bad:     netOf("t1 t2", "t1-l1 t2-l1 t1-l2 t2-l2", byTable, "t1 * t2 l1", "t2 * t1 l1", "l1 * t2 t2", "l1 * t1 t2", "t2 l1 t1 l2 4", "l2 * t1 t1"),
		Good:    netOf("t1 t2", "t1-l1 t2-l1 t1-l2 t2-l2", byTable, "t1 * t2 l1", "t2 * t1 l1", "l1 * t2 t2", "l1 * t1 t2", "t2 l1 t1 l2 0", "l2 * t1 t1"),
	},
	Run: tagPriorities,
}

func tagPriorities(p *Pass) {
	for _, part := range p.proofs().parts() {
		if !part.Lossless() {
			continue
		}
		said := map[int8]bool{}
		for i, row := range part.Routing.Rows {
			if row.Priority < 0 || said[row.Priority] || !p.undeclared(part, row) {
				continue
			}
			said[row.Priority] = true
			have, need := p.ladder(part)
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("frames are tagged with priority %d at %s, which no class has on the way to %s: to tolerate %s takes %d lossless priorities, and the links have %s",
					row.Priority, p.name(part, row.At), p.name(part, row.Next), bounces(need), need+1, Priorities(have)),
				Address: p.address(part, row.At), Concerns: []string{p.address(part, row.Next)},
				Labels: []diag.Label{{Span: part.Table[i].Row, Where: p.routingName(part)}}, Help: "declare a class with this priority, lossless or not, or tag with one that has a class",
			})
		}
	}
	remappedAway(p)
}

func bounces(n int) string {
	if n == 1 {
		return "1 bounce"
	}
	return fmt.Sprintf("%d bounces", n)
}

// undeclared reports whether the new priority of a row is that of no class on
// some link to the next switch.
func (p *Pass) undeclared(part *paths.Part, row paths.Row) bool {
	net, links := &part.Net, part.Links
	if part.Homed != nil { // it may be over a peer link
		net, links = &part.Homed.Net, slices.Concat(part.Links, part.Homed.Links)
	}
	for i, l := range net.Links {
		if l.Lossless>>row.Priority&1 == 1 || !(l.A == row.At && l.B == row.Next || l.B == row.At && l.A == row.Next) {
			continue
		}
		link := &p.Fabric.Links[links[i]]
		for _, id := range [2]fabric.PortID{link.A, link.B} {
			declared := false
			p.Classes(p.End(id), func(c *fabric.Class, on fabric.ClassOn) { declared = declared || int8(on.Priority) == row.Priority })
			if !declared {
				return true
			}
		}
	}
	return false
}

// ladder is the priorities that are lossless on every link of a part, and how
// many others rows tag with.
func (p *Pass) ladder(part *paths.Part) (have uint8, tags int) {
	have = 0xff
	for _, l := range part.Net.Links {
		have &= l.Lossless
	}
	seen := map[int8]bool{}
	for _, row := range part.Routing.Rows {
		if row.Priority >= 0 && !seen[row.Priority] {
			seen[row.Priority] = true
			tags++
		}
	}
	return have, tags
}
