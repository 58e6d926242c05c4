package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on classes that is about how a port divides its rate.

var roce204 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE204", Name: "ets_strict_caps", Severity: diag.Warning,
		Title:   "caps of strict classes leave nothing to the others",
		Why:     "strict queues are served first, each up to its max_rate: where these add to the line rate, the shares of the other classes are shares of nothing",
		Fix:     "lower the caps",
		Source:  "IEEE 802.1Q-2018, 8.6.8.1, strict priority, and 8.6.8.3, ETS: shares divide what strict queues leave",
		Formula: "sum of max_rate of the strict classes in Mb/s < rate of the port in Mb/s",
		Bad:     strictPair("60", "40"),
		Good:    strictPair("30", "40"),
	},
	Run: strictCaps,
}

// strictPair is twoNodes with RDMA and a second class strict under caps, as others have set it.
func strictPair(rdma, bulk string) string {
	return strings.NewReplacer(`"sonic/202505"`, "\"sonic/202505\"\n  manage = \"verify\"", `"ubuntu/24.04"`, "\"ubuntu/24.04\"\n  manage   = \"verify\"").Replace(twoNodesEdit("bandwidth = 50\n", "strict    = true\n    max_rate  = "+rdma+"\n", `  class "default" {`, `  class "bulk" {
    carries  = "other"
    dscp     = [10]
    priority = 1
    strict   = true
    max_rate = `+bulk+`
  }
  class "default" {`, "bandwidth = 50", "bandwidth = 100"))
}

func strictCaps(p *Pass) {
	p.Managed(func(e End) {
		sum, shares := uint64(0), false
		caps := &p.Facts.Port(e.ID).CapMbps
		for q, s := range e.Profile.Sched {
			switch {
			case s.Used && s.Strict:
				sum += uint64(caps[q])
			case s.Used:
				shares = true
			}
		}
		if !shares || e.Port.Mbps == 0 || sum < uint64(e.Port.Mbps) {
			return
		}
		d := diag.Diagnostic{
			Summary: fmt.Sprintf("strict caps on %s add to %s and leave 0 %% of its %s for the other classes", p.Name(e), Rate(uint32(min(sum, 1<<31))), fabric.Speed(e.Port.Mbps)),
			Address: p.Fabric.PortAddress(e.ID), Help: "lower max_rate",
		}
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			if s := e.Profile.Sched[on.Queue&7]; on.Queue < 8 && s.Strict && caps[on.Queue] > 0 && len(d.Labels) < 3 {
				text := ""
				if len(d.Labels) > 0 {
					text = "and max_rate of " + p.Fabric.Text(c.Name)
				}
				d.Labels = append(d.Labels, p.Fabric.Label(c.Decl, 0, schema.ACap, text))
			}
		})
		if len(d.Labels) == 0 {
			d.Labels = []diag.Label{p.AtPort(e, schema.AQoS, "")}
		}
		p.Report(d)
	})
}

// fairShare is the least share of the default class where TCP needs one.
const fairShare = 5

var roce223 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE223", Name: "ets_default_share", Severity: diag.Warning,
		Options: []diag.Option{{Name: "share", Unit: "%", Default: fairShare, Min: 1, Max: 50, Doc: "least share of the default class"}},
		Title:   "the default class has next to nothing on a port that other traffic than RDMA shares",
		Why:     "logins, connection setup and management are TCP in the default class: under full RDMA load they time out, and the node looks dead",
		Fix:     "give the default class 5 % or more, or a class of its own to what shares the port",
		Source: "house limit: 5 %, option share. The RoCE guide of Emulex OneConnect adapters asks for more than 1 %, for the " +
			"TCP that sets up RDMA connections",
		Bad:  sharedPort(98, 2),
		Good: sharedPort(95, 5),
	},
	Run: defaultShare,
}

// sharedPort is twoNodes with a management VLAN on all ports.
func sharedPort(rdma, rest int) string {
	const untagged, tagged = "untagged = segment.storage", "untagged = segment.storage\n    tagged = segment.mgmt"
	return strings.ReplaceAll(twoNodesEdit("bandwidth = 50", fmt.Sprintf("bandwidth = %d", rdma), "bandwidth = 50", fmt.Sprintf("bandwidth = %d", rest),
		`switch "tor" {`, "segment \"mgmt\" {\n  vlan   = 5\n  subnet = \"10.5.0.0/24\"\n}\nswitch \"tor\" {",
		"slot     = each.value\n", "slot     = each.value\n  interface \"mgmt\" {\n    on      = \"rail0\"\n    segment = segment.mgmt\n  }\n"), untagged, tagged)
}

func defaultShare(p *Pass) {
	f := p.Fabric
	p.Managed(func(e End) {
		if !p.RDMA(e) || p.untrusted(e) {
			return
		}
		guest := p.guest(e)
		if guest == 0 {
			return
		}
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			s := e.Profile.Sched[on.Queue&7]
			if !c.Default || on.Queue > 7 || s.Strict || !s.PercentSet || int64(s.Percent) >= p.option("share") || p.otherClass(e) {
				return
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("the default class has %d %% on %s, which also carries segment %s", s.Percent, p.Name(e), f.Text(f.Segments[guest].Name)),
				Address: f.PortAddress(e.ID), Labels: []diag.Label{p.AtContract(e, schema.AETS, c, schema.ABandwidth, ""), f.DeclLabel(f.Segments[guest].Decl, "not for RDMA alone")},
				Help: fmt.Sprintf("give it %d %% or more", p.option("share")),
			})
		})
	})
}

// guest is a segment without RDMA on a port that has one with RDMA besides, 0 if
// there is none. Where no segment says that it carries RDMA, any of them may.
func (p *Pass) guest(e End) fabric.SegmentID {
	for _, s := range p.guests(e) {
		return s
	}
	return 0
}

// guests are all such segments of a port.
func (p *Pass) guests(e End) []fabric.SegmentID {
	n := e.Port.Native
	if !p.rdmaSegment(n) && !p.hasRDMASegment(e) {
		return nil
	}
	var all []fabric.SegmentID
	if n != 0 && !p.rdmaSegment(n) {
		all = append(all, n)
	}
	for _, s := range p.Fabric.VLANSets[e.Port.VLANs] {
		if !p.rdmaSegment(s) && s != n {
			all = append(all, s)
		}
	}
	return all
}

func (p *Pass) hasRDMASegment(e End) bool {
	return slices.ContainsFunc(p.Fabric.VLANSets[e.Port.VLANs], p.rdmaSegment)
}

// otherClass reports whether a port has a class for what is neither RDMA nor
// control, with a fair share: what shares the port may be in it.
func (p *Pass) otherClass(e End) bool {
	found := false
	p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
		s := e.Profile.Sched[on.Queue&7]
		found = found || c.Carries == fabric.CarriesOther && on.Queue < 8 && (s.Strict || int64(s.Percent) >= p.option("share"))
	})
	return found
}

var roce225 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE225", Name: "ets_link", Severity: diag.Warning,
		Options: []diag.Option{{Name: "points", Unit: "%", Default: 5, Min: 0, Max: 100, Doc: "how much the shares of a class may differ at the ends of a link"}},
		Title:   "an RDMA class has different shares at the ends of a link",
		Why:     "the end with the smaller share is where the class queues under load: throughput then differs by direction, and the pauses come from one side",
		Fix:     "align the shares",
		Source:  "house limit: 5 points, option points; IEEE 802.1Q-2018, 8.6.8.3, ETS: each end divides only what it sends itself",
		Bad:     twoNodes(`ets = { 0 = 70, 3 = 30, 6 = "strict" }`),
		Good:    twoNodes(`ets = { 0 = 46, 3 = 54, 6 = "strict" }`),
	},
	Run: etsLink,
}

func etsLink(p *Pass) {
	p.Links(func(l fabric.LinkID, a, b End) {
		if a.Port.Profile == 0 || b.Port.Profile == 0 || p.untrusted(a) || p.untrusted(b) {
			return
		}
		p.LinkClasses(a, b, func(c *fabric.Class, onA, onB fabric.ClassOn) {
			if c.Carries != fabric.CarriesRDMA || Displaced(c, onA) || Displaced(c, onB) || onA.Queue > 7 || onB.Queue > 7 {
				return
			}
			sa, sb := a.Profile.Sched[onA.Queue], b.Profile.Sched[onB.Queue]
			if sa.Strict || sb.Strict || !sa.PercentSet || !sb.PercentSet || int64(max(sa.Percent, sb.Percent)-min(sa.Percent, sb.Percent)) <= p.option("points") {
				return // a share of nothing is ROCE202
			}
			share := func(e End) uint8 {
				if e.ID == a.ID {
					return sa.Percent
				}
				return sb.Percent
			}
			first, second, note := p.Deviant(a, b, func(e End) string { return p.rdmaShares(e) }, schema.AETS)
			p.Report(p.AboutLink(l, first, second, diag.Diagnostic{
				Summary: fmt.Sprintf("class %s has %d %% on %s, and %d %% on its peer %s", p.Fabric.Text(c.Name), share(first), p.Name(first), share(second), p.Name(second)),
				Labels:  p.withContract(first, second, schema.AETS, p.AtClass(first, schema.AETS, c.Name, schema.ABandwidth, ""), p.AtClass(second, schema.AETS, c.Name, schema.ABandwidth, "other end")),
				Help:    "align the shares", Notes: noted(note),
			}))
		})
	})
}

// rdmaShares shows what the RDMA classes of a port have, for a majority.
func (p *Pass) rdmaShares(e End) string {
	var shares []string
	p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
		if c.Carries == fabric.CarriesRDMA && on.Queue < 8 {
			shares = append(shares, fmt.Sprintf("%s at %d %%", p.Fabric.Text(c.Name), e.Profile.Sched[on.Queue].Percent))
		}
	})
	return list(shares)
}
