package lint

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/paths"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var roce805 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE805", Name: "no_path", Severity: diag.Error,
		Title: "members of a class that may talk do not reach each other",
		Why:   "connections between them never come up, or a job stops when the one way between them does",
		Fix:   "add the cable or the row that is missing, or enable the port that is shut",
		Source: "Qian et al., Alibaba HPN: A Data Center Network for Large Language Model Training, SIGCOMM 2024, on a node that " +
			"loses its only leaf; docs/language/blocks.md, class and routing",
		Bad:  netOf("r0 r1 r2", oneRing, byTable, "r0 * r1 r1", "r0 * r2 r2", "r1 * r2 r2", "r1 * r0 r0", "r2 * r0 r0"),
		Good: netOf("r0 r1 r2", oneRing, byTable, "r0 * r1 r1", "r0 * r2 r2", "r1 * r2 r2", "r1 * r0 r0", "r2 * r0 r0", "r2 * r1 r0", "r0 r2 r1 r1"),
	},
	Run: noPath,
}

func noPath(p *Pass) {
	for _, r := range p.routed() {
		if r.Strays == nil {
			continue
		}
		for i := range r.Strays.List {
			if s := &r.Strays.List[i]; !s.Loop && p.talk(r.Part, s.Path[0], s.To) && p.cut(r, s.Path[0], s.To) {
				p.Report(p.stray(r, s, ""))
				break // the others follow from the same: the note says how many
			}
		}
	}
	p.forsaken()
	p.apart()
	p.shutOff()
	p.failing(fabric.Reachability)
	if a := &p.Fabric.Analysis; a.Failures > 0 && a.Properties != 0 && a.Properties.Has(fabric.Reachability) && !a.Properties.Has(fabric.Deadlock) { // else ROCE801 says so
		_, left := p.proofs().failed()
		for _, why := range left {
			p.Report(diag.Diagnostic{
				Severity: diag.Warning, Summary: "whether all reach each other after a failure is not known: " + why, Address: fabric.AnalysisAddress, Labels: []diag.Label{p.Fabric.Label(a.Decl, 0, schema.AFailures, "")},
				Help: "ask for fewer failures, or try those that matter by rocec whatif --fail",
			})
		}
	}
}

// stray is the finding on packets that have no way on.
func (p *Pass) stray(r Routed, s *paths.Stray, after string) diag.Diagnostic {
	from, at := s.Path[0], s.Path[len(s.Path)-1]
	d := diag.Diagnostic{
		Summary: fmt.Sprintf("no path from the nodes of %s to those of %s%s", p.name(r.Part, from), p.name(r.Part, s.To), after),
		Address: p.address(r.Part, from), Concerns: []string{p.address(r.Part, s.To)},
		Labels: []diag.Label{p.atRouting(r.Part, schema.APaths, "")}, Help: "add the cable or the row that is missing", Notes: noted(p.guessed(r.Part)),
	}
	if at != from {
		d.Notes = append(d.Notes, fmt.Sprintf("packets come to %s by %s and have no way on", p.name(r.Part, at), p.way(r.Part, s.Path)))
		d.Concerns = append(d.Concerns, p.address(r.Part, at))
	}
	if shut := p.atShut(func(a, b fabric.DeviceID) bool {
		x, _ := r.Switch(a)
		y, _ := r.Switch(b)
		return x == at || y == at || x == s.To || y == s.To
	}); shut != nil {
		d.Labels, d.Help = append(d.Labels, shut...), "enable a port on each way between them"
	}
	if r.Strays.Lost > 1 {
		d.Notes = append(d.Notes, fmt.Sprintf("%d pairs of a switch and a destination have none", r.Strays.Lost))
	}
	return d
}

// talk reports whether nodes of two switches may talk: RDMA interfaces of theirs
// share a segment or a routing table, or the one is leaked to the other.
func (p *Pass) talk(part *paths.Part, a, b paths.Switch) bool {
	x, y := p.speakers(part.Devices[a]), p.speakers(part.Devices[b])
	for i := range x {
		for j := range y {
			if p.mayTalk(x[i], y[j]) {
				return true
			}
		}
	}
	return false
}

func (p *Pass) mayTalk(x, y speaker) bool {
	f := p.Fabric
	switch {
	case x == y, x.segment == 0 && y.segment == 0 && x.vrf == y.vrf:
		return true
	case x.segment == 0 || y.segment == 0:
		return false
	case x.vrf == y.vrf && f.Segments[x.segment].Gateway.IsValid() && f.Segments[y.segment].Gateway.IsValid():
		return true
	}
	return p.leaked(x.segment, y.segment)
}

func (p *Pass) leaked(a, b fabric.SegmentID) bool {
	for i := range p.Fabric.Routings {
		for _, l := range p.Fabric.Routings[i].Leaks {
			if l.From == a && l.To == b || l.From == b && l.To == a {
				return true
			}
		}
	}
	return false
}

// speaker is a segment, or a routing table without one, that RDMA nodes of a
// switch are in.
type speaker struct {
	segment fabric.SegmentID
	vrf     fabric.Str
}

func (p *Pass) speakers(d fabric.DeviceID) (list []speaker) {
	first, end := p.Fabric.PortsOf(d)
	for id := first; id < end; id++ {
		e := p.End(id)
		if !p.speaks(e) {
			continue
		}
		for _, s := range p.spoken(e) {
			if !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	}
	return list
}

// speaks reports whether a port has an RDMA NIC behind its cable, and that is up.
func (p *Pass) speaks(e End) bool {
	f := p.Fabric
	return e.Port.Peer != 0 && f.Devices[f.Ports[e.Port.Peer].Device].Kind == fabric.Node && e.Device.Kind == fabric.Switch && f.Up(e.Port.Link, nil) && p.RDMA(p.End(e.Port.Peer))
}

// spoken are the speakers of one port.
func (p *Pass) spoken(e End) (list []speaker) {
	f := p.Fabric
	for _, s := range append(slices.Clone(f.VLANSets[e.Port.VLANs]), e.Port.Native) {
		switch {
		case s == 0 || !p.rdmaSegment(s):
		case f.Segments[s].Tier:
			list = append(list, speaker{})
		default:
			list = append(list, speaker{s, f.Segments[s].VRF})
		}
	}
	if e.Port.Native == 0 && e.Port.VLANs == 0 || e.Port.Native != 0 && f.Segments[e.Port.Native].Tier {
		list = append(list, speaker{})
	}
	return list
}

var roce822 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE822", Name: "backup_path", Severity: diag.Error,
		Title: "a path that stands in for another treats a class differently",
		Why: "a way that is taken only after a failure is never seen by load: its missing PFC, headroom or MTU shows on the " +
			"day when something else is broken",
		Fix: "give the links that stand in for others the same classes, headroom and MTU",
		Source: "IEEE 802.1Q-2018, 36.1 (PFC works where both ends of every link have it); Hu et al., Deadlocks in Datacenter " +
			"Networks: Why Do They Form, and How to Avoid Them, HotNets 2016",
		Bad:  backupWay("lossless  = false", ""),
		Good: backupWay("lossless  = true", ""),
	},
	Run: backupPath,
}

// backupWay is two switches with nodes, and a third by which they reach each
// other when the link between them is down; class is said of RDMA on its links,
// and more cables lead elsewhere.
func backupWay(class, more string) string {
	return edit(netOf("r0 r1", "r0-r1 r0-r2 r1-r2"+more, `model = "ecmp"`), `node "n-r0"`, `qos "backup" {
  from = qos.roce
  class "rdma" {
    `+class+`
  }
}
node "n-r0"`, `port "Ethernet[0-8:4]" {`, backupPorts, `port "Ethernet[0-8:4]" {`, backupPorts, `qos   = qos.roce`, `qos   = qos.backup`)
}

const backupPorts = `port "Ethernet8" {
    speed = "100G"
    fec   = "rs"
    mtu   = 9000
    qos   = qos.backup
  }
  port "Ethernet[0-4:4]" {`

func backupPath(p *Pass) {
	v := p.proofs()
	if v.sound() || v.composition(nil).Limit != nil {
		return // whatever the ways are, or ROCE302 says that they are too many
	}
	type place struct {
		class string
		hop   [2]fabric.PortID
	}
	said := map[place]bool{}
	list := v.masks(nil, max(1, int(p.Fabric.Analysis.Failures)), true, math.MaxInt64)
	limit := cmp.Or(v.steps, backupSteps)
	steps, short := int64(0), (*paths.LimitError)(nil)
	for i, m := range list.masks {
		if steps > limit {
			list.left += len(list.masks) - i
			break
		}
		now := v.composition(m)
		steps += now.Steps + int64(len(p.Fabric.Ports))
		short = cmp.Or(short, now.Limit)
		for _, b := range v.news(now) {
			class, _, _, _ := p.hopNames(b)
			at := place{class, [2]fabric.PortID{b.Way[b.At].Out, b.Way[b.At].To}}
			if !said[at] && !p.follows(b) {
				said[at] = true
				p.Report(p.backup(b, " with "+FailedNames(p.Fabric, m)+" down"))
			}
		}
	}
	var why string
	switch {
	case list.left > 0:
		why = fmt.Sprintf("%d failures or more were not looked at: classes lose their treatment already, so that each failure is looked at by itself, and the limits are %d of them and %d steps", list.left, v.most(), limit)
	case short != nil:
		why = fmt.Sprintf("following the ways after a failure takes %d steps or more, and the limit is %d", short.Need, short.Limit)
	default:
		return
	}
	at, label := p.atWays()
	p.Report(diag.Diagnostic{
		Severity: diag.Warning, Summary: "whether ways that stand in for others treat each class alike is not known: " + why, Address: at,
		Labels: []diag.Label{label}, Help: "mend what is found on classes first, then nothing is left to look at, or try single failures by rocec whatif --fail",
	})
}

var roce825 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE825", Name: "local_repair", Severity: diag.Warning,
		Title: "lossless traffic goes round a failure by itself",
		Why: "the switch beside a failure sends what came down up again until the others know: two such bounces wait for each " +
			"other, and the fabric stands still after a failure that it should survive",
		Fix: "repair globally, or make the class lossy",
		Source: "Hu et al., Tagger: Practical PFC Deadlock Prevention in Data Center Networks, CoNEXT 2017; Hu et al., Deadlocks " +
			"in Datacenter Networks: Why Do They Form, and How to Avoid Them, HotNets 2016",
		Bad:  netOf("t1 t2 t3 t4", twoPaths, "model    = \"up_down\"\n  repair = \"local\""),
		Good: netOf("t1 t2 t3 t4", twoPaths, "model    = \"up_down\"\n  repair = \"global\""),
	},
	Run: localRepair,
}

func localRepair(p *Pass) {
	for _, r := range p.proofs().worst() {
		at := p.atRouting(r.part, schema.ARepair, "")
		switch {
		case r.err != nil:
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("whether lossless traffic bounces after a failure is not known: %v", r.err), Address: p.address(r.part, 0),
				Labels: []diag.Label{at}, Help: `write repair = "global" where all switches learn of a failure fast`,
			})
		case r.after != nil:
			v := &r.valley
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("%s may bounce lossless priority %d after a failure: with %s down, what comes from %s goes up again to %s",
					p.name(r.part, v.At), v.Priority, FailedNames(p.Fabric, r.after), p.name(r.part, v.From), p.name(r.part, v.Next)),
				Address: p.address(r.part, v.At), Concerns: []string{p.address(r.part, v.From), p.address(r.part, v.Next)},
				Labels: []diag.Label{at}, Help: `write repair = "global" where all switches learn of a failure fast, or make the class lossy`,
			})
		}
	}
}
