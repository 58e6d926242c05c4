package lint

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var classes = []*Rule{
	roce201, roce202, roce203, roce204, roce205, roce206, roce207, roce208, roce209, roce210, roce211, roce212, roce213,
	roce214, roce215, roce216, roce217, roce218, roce219, roce220, roce221, roce222, roce223, roce224, roce225, roce226, roce227, roce228, roce229, roce230, roce231, roce236,
	roce237, roce238, roce239, roce240, roce241, roce242,
}

var roce201 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE201", Name: "ets_sum", Severity: diag.Error,
		Title:   "ETS shares of a port do not sum to 100",
		Why:     "drivers and switches refuse other sums, or hand out what was not meant",
		Fix:     "make the bandwidth of the classes that are not strict sum to 100",
		Source:  "IEEE 802.1Q-2018, annex D, ETS Configuration TLV: the TC bandwidth table sums to 100",
		Formula: "sum over the queues in use that are not strict of bandwidth in % = 100",
		Bad:     twoNodesEdit("bandwidth = 50", "bandwidth = 40"),
		Good:    twoNodes(``),
	},
	Run: etsSum,
}

func etsSum(p *Pass) {
	p.EachProfile(func(e End, ports int) {
		if p.mixed(e.Profile.QoS) {
			return
		}
		sum, shares := 0, 0
		for _, s := range e.Profile.Sched {
			if s.Used && !s.Strict {
				sum += int(s.Percent)
				if s.PercentSet {
					shares++
				}
			}
		}
		if shares == 0 || sum == 100 {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("ETS shares of %s add to %d", p.Name(e), sum), Address: p.Fabric.PortAddress(e.ID), Count: ports,
			Labels: p.atShares(e), Help: "make them 100",
		})
	})
}

// atShares points at the restated shares of a port, else at those of its contract.
func (p *Pass) atShares(e End) (at []diag.Label) {
	if e.Profile.Deviates&fabric.DeviatesETS != 0 {
		return []diag.Label{p.AtPort(e, schema.AETS, "")}
	}
	p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
		if c.Percent == 0 || on.Queue > 7 || e.Profile.Sched[on.Queue].Strict || len(at) > 2 {
			return
		}
		at = append(at, p.Fabric.Label(c.Decl, 0, schema.ABandwidth, map[bool]string{true: "and here"}[len(at) > 0]))
	})
	if at == nil {
		at = []diag.Label{p.Fabric.DeclLabel(p.Fabric.QoS[e.Profile.QoS].Decl, "")}
	}
	return at
}

var roce202 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE202", Name: "ets_share", Severity: diag.Error,
		Title:  "a traffic class that carries something has no share and is not strict",
		Why:    "a class with no share gets what others leave: under load, nothing",
		Fix:    "give it at least 1 %",
		Source: "IEEE 802.1Q-2018, 8.6.8.3, ETS transmission selection",
		Bad:    twoNodesEdit("bandwidth = 50", "bandwidth = 100", "    bandwidth = 50\n", ""),
		Good:   twoNodes(``),
	},
	Run: etsShare,
}

func etsShare(p *Pass) {
	p.EachProfile(func(e End, ports int) {
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			s := e.Profile.Sched[on.Queue&7]
			if s.Strict || s.Percent > 0 || s.PercentSet && !c.Lossless || on.Queue > 7 || Displaced(c, on) {
				return
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("class %s of %s is in traffic class %d with 0 %%", p.Fabric.Text(c.Name), p.Name(e), on.Queue),
				Address: p.Fabric.PortAddress(e.ID), Count: ports,
				Labels: append(p.beside(e, schema.AETS, c, schema.ABandwidth, "its share"), p.others(e)...), Help: "give it at least 1 %, or make it strict",
			})
		})
	})
}

// others is a label at the first share that the contract of a port gives, where the port restates none.
func (p *Pass) others(e End) (at []diag.Label) {
	p.Classes(e, func(c *fabric.Class, _ fabric.ClassOn) {
		if at == nil && c.Percent > 0 && e.Profile.Deviates&fabric.DeviatesETS == 0 {
			at = []diag.Label{p.Fabric.Label(c.Decl, 0, schema.ABandwidth, "what others have")}
		}
	})
	return at
}

var roce203 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE203", Name: "ets_strict_uncapped", Severity: diag.Error,
		Title: "a strict class carries data, has no largest rate, and other data shares the port",
		Why: "strict traffic is served before everything else: without a largest rate it starves the other classes. Where only management shares the port that is a " +
			"warning; where nothing but RDMA and its CNPs do, there is nothing to starve",
		Fix:    "write bandwidth instead of strict, or max_rate",
		Source: "IEEE 802.1Q-2018, 8.6.8.1: by strict priority a queue sends only while all above it are empty",
		Bad:    besideStrict("true"),
		Good:   besideStrict("false\n    bandwidth = 20"),
	},
	Run: strictUncapped,
}

// besideStrict is twoNodes with a class of other data; strict is that of RDMA.
func besideStrict(strict string) string {
	shares := map[bool]string{true: "60", false: "40"}[strict == "true"]
	return twoNodesEdit("bandwidth = 50\n    ecn", "strict    = "+strict+"\n    ecn", `  class "default" {`, `  class "bulk" {
    carries   = "other"
    dscp      = [10]
    priority  = 1
    bandwidth = 40
    marked_by = "application"
  }
  class "default" {`, "bandwidth = 50", "bandwidth = "+shares)
}

// starved says what an uncapped strict class of a port starves: data of another class or of several segments that are
// not for RDMA, or only the management, which is one such segment. Where neither is there, the severity is not to be told.
func (p *Pass) starved(e End, strict *fabric.Class) (what string, severity diag.Severity) {
	p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
		if what == "" && (c.Carries == fabric.CarriesOther || c.Carries == fabric.CarriesRDMA) && c.Name != strict.Name && on.Queue != strict.Queue {
			what = "class " + p.Fabric.Text(c.Name)
		}
	})
	guests := p.guests(e)
	switch {
	case what != "":
		return what, diag.Error
	case len(guests) > 1:
		return fmt.Sprintf("segment %s and %d more", p.Fabric.Text(p.Fabric.Segments[guests[0]].Name), len(guests)-1), diag.Error
	case len(guests) == 1:
		return "segment " + p.Fabric.Text(p.Fabric.Segments[guests[0]].Name), diag.Warning
	}
	return "", 0
}

func strictUncapped(p *Pass) {
	said := map[fabric.DeclID]bool{}
	p.Managed(func(e End) {
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			s := e.Profile.Sched[on.Queue&7]
			if c.Carries == fabric.CarriesCNP && s.Strict && s.CapMbps == 0 && s.CapPercent == 0 && unmarkedIn(e, c) && !said[c.Decl] {
				said[c.Decl] = true
				p.Report(diag.Diagnostic{
					Severity: diag.Warning, Summary: fmt.Sprintf("all that nobody marks is in strict class %s on %s: DSCP 0 is its", p.Fabric.Text(c.Name), p.Name(e)),
					Address: p.Fabric.PortAddress(e.ID),
					Labels:  []diag.Label{p.AtContract(e, schema.ADSCPMap, c, schema.ADSCP, "")}, Help: "give CNPs a code point of their own, as 48",
				})
				return
			}
			control := c.Carries == fabric.CarriesCNP || c.Carries == fabric.CarriesCluster
			if !s.Strict || on.Queue > 7 || p.mixed(e.Profile.QoS) || Displaced(c, on) || control || s.CapMbps > 0 || s.CapPercent > 0 {
				return
			}
			rest, severity := p.starved(e, c)
			if rest == "" {
				return
			}
			p.Report(diag.Diagnostic{
				Severity: severity, Summary: fmt.Sprintf("class %s is strict on %s and has no max_rate: it can starve %s", p.Fabric.Text(c.Name), p.Name(e), rest),
				Address: p.Fabric.PortAddress(e.ID),
				Labels:  []diag.Label{p.AtContract(e, schema.AETS, c, schema.AStrict, "")}, Help: "write bandwidth instead of strict, or max_rate",
			})
		})
	})
}

var roce205 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE205", Name: "class_priority", Severity: diag.Error, Hard: true, Fixable: true,
		Title: "a class changes its priority between the ends of a link, or inside a switch",
		Why:   "a class that changes its priority from one hop to the next is paused by one and not by the other, and queued among strangers",
		Fix:   "use one map on both ends; a rewrite that is meant is declared with remap = true",
		Source: "IEEE 802.1Q-2018, clause 36: a pause names a priority, and stops what the receiver of the pause has in it; Guo " +
			"et al., SIGCOMM 2016, section 3",
		Bad:  twoNodes(`dscp_map = { 48 = 5 }`),
		Good: twoNodes(``),
	},
	Run:   classPriority,
	mends: drop("dscp_map", "pcp_map"),
	first: true, // the composition
}

func classPriority(p *Pass) {
	p.Links(func(l fabric.LinkID, a, b End) {
		if a.Port.Profile == 0 || b.Port.Profile == 0 || a.Profile.Trust != b.Profile.Trust || p.untrusted(a) || p.untrusted(b) {
			return
		}
		p.LinkClasses(a, b, func(c *fabric.Class, onA, onB fabric.ClassOn) {
			if onA.Priority == onB.Priority && onA.Split == onB.Split || c.Remap || c.Default {
				return
			}
			if c.Carries == fabric.CarriesCNP && p.cnpMarksDiffer(a, b) {
				return // ROCE406
			}
			if p.nobodysLoss(a, c, onA) || p.nobodysLoss(b, c, onB) {
				return
			}
			first, second, note := p.Deviant(a, b, func(e End) string { return p.marks(e) }, schema.ADSCPMap, schema.APCPMap)
			if note == "" {
				note = parting(c, first, second)
			}
			f1, f2 := onA, onB
			if first.ID == b.ID {
				f1, f2 = onB, onA
			}
			name := p.Fabric.Text(c.Name)
			p.Report(p.AboutLink(l, first, second, diag.Diagnostic{
				Summary: fmt.Sprintf("class %s is priority %s on %s, and %s on its peer %s", name, landing(f1), p.Name(first), landing(f2), p.Name(second)),
				Labels:  p.withContract(first, second, p.mapAttr(first), p.atMark(first, second, c.Name, ""), p.atMark(second, first, c.Name, "other end")),
				Help:    "use one map on both ends", Notes: noted(note),
			}))
		})
	})
	crossedPriority(p)
}

// nobodysLoss reports whether a class that lands somewhere on a port is of no concern there: the port's contract has no such class,
// and it is a lossy one of neither RDMA nor CNPs that lands where none of them is. Whoever sends it is served as best effort.
func (p *Pass) nobodysLoss(e End, c *fabric.Class, on fabric.ClassOn) bool {
	if p.namedClass(e, c.Name) != nil || c.Lossless || rdmaOrCNP(c) || on.PFC || on.Split {
		return false
	}
	alone := true
	p.Classes(e, func(other *fabric.Class, there fabric.ClassOn) {
		alone = alone && !(rdmaOrCNP(other) && there.Priority == on.Priority)
	})
	return alone
}

func rdmaOrCNP(c *fabric.Class) bool {
	return c.Carries == fabric.CarriesRDMA || c.Carries == fabric.CarriesCNP
}

// namedClass is the class of a name in a port's contract, nil if it has none.
func (p *Pass) namedClass(e End, name fabric.Str) *fabric.Class {
	classes := p.Fabric.QoS[e.Profile.QoS].Classes
	if i := slices.IndexFunc(classes, func(c fabric.Class) bool { return c.Name == name }); i >= 0 {
		return &classes[i]
	}
	return nil
}

// atMark is a label at what makes a class what it is at one end of a link: the port's own map, else the marks of the class in the
// contract of that end where the other end's contract has other ones, else its priority, else the contract that lacks it.
func (p *Pass) atMark(e, other End, class fabric.Str, text string) diag.Label {
	own, theirs := p.namedClass(e, class), p.namedClass(other, class)
	attr := schema.APriority
	if own != nil && theirs != nil && own.DSCP != theirs.DSCP && e.Profile.Trust == fabric.TrustDSCP {
		attr = schema.ADSCP
	}
	return p.AtContract(e, p.mapAttr(e), own, attr, text)
}

// parting names the mark of a class that the two ends take for different things,
// which their contracts, with classes of one name, may hide.
func parting(c *fabric.Class, a, b End) string {
	for d := range a.Profile.DSCP {
		if x, y := a.Profile.DSCP[d], b.Profile.DSCP[d]; c.DSCP>>d&1 != 0 && x != y && a.Profile.Trust == fabric.TrustDSCP {
			return fmt.Sprintf("its DSCP %d is priority %d on the one and %d on the other", d, x, y)
		}
	}
	return ""
}

// dscpWords are the code points of a set: "26, 48".
func dscpWords(set uint64) string {
	var points []string
	for ; set != 0; set &= set - 1 {
		points = append(points, fmt.Sprint(bits.TrailingZeros64(set)))
	}
	return strings.Join(points, ", ")
}

func landing(on fabric.ClassOn) string {
	if on.Split {
		return "several"
	}
	return fmt.Sprint(on.Priority)
}

// marks shows by which marks the classes of a port's contract land where, for a majority.
func (p *Pass) marks(e End) string {
	var classes []string
	p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
		switch {
		case c.Default:
		case e.Profile.Trust == fabric.TrustDSCP && c.DSCP != 0:
			classes = append(classes, fmt.Sprintf("%s (DSCP %s) in priority %s", p.Fabric.Text(c.Name), dscpWords(c.DSCP), landing(on)))
		default:
			classes = append(classes, fmt.Sprintf("%s in priority %s", p.Fabric.Text(c.Name), landing(on)))
		}
	})
	return list(classes)
}

// mapAttr is the map by which a port classifies.
func (p *Pass) mapAttr(e End) schema.Attr {
	if e.Profile.Trust == fabric.TrustPCP {
		return schema.APCPMap
	}
	return schema.ADSCPMap
}

// untrusted reports whether a port ignores marks on purpose.
func (p *Pass) untrusted(e End) bool { return p.Fabric.QoS[e.Profile.QoS].Untrusted }

var roce206 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE206", Name: "class_pcp_untagged", Severity: diag.Error,
		Title:  "a port trusts PCP and carries its classes untagged",
		Why:    "PCP is a field of the VLAN tag: untagged frames have none and land in the default priority, without PFC",
		Fix:    "carry the segment tagged, or trust DSCP",
		Steps:  "both ends of a link in one step, by a management network that does not run over it",
		Source: "Guo et al., SIGCOMM 2016, section 3: VLAN-based PFC needs the tag",
		Bad:    twoNodesEdit(`trust = "dscp"`, `trust = "pcp"`),
		Good:   strings.NewReplacer(`trust = "dscp"`, `trust = "pcp"`, "untagged = segment.storage\n    \n", "tagged = segment.storage\n", "untagged = segment.storage\n  }\n  port", "tagged = segment.storage\n  }\n  port", "    untagged = segment.storage\n  }\n}\nnode", "    tagged = segment.storage\n  }\n}\nnode", "    untagged = segment.storage\n  }\n}\nlink", "    segment = segment.storage\n  }\n}\nlink").Replace(twoNodes(``)),
	},
	Run: pcpUntagged,
}

func pcpUntagged(p *Pass) {
	untagged := func(e End) bool { return e.Profile.Trust == fabric.TrustPCP && p.RDMA(e) && !p.Tagged(e) }
	p.Managed(func(e End) {
		if e.Port.Link == 0 || !untagged(e) {
			return
		}
		d := diag.Diagnostic{
			Summary: fmt.Sprintf("port %s trusts PCP, and its RDMA is untagged there: it lands in priority %d", p.Name(e), e.Profile.PCP[0]),
			Address: p.Fabric.PortAddress(e.ID),
			Labels:  []diag.Label{p.AtPort(e, schema.ANative, ""), p.atTrust(e, "trust")},
			Help:    `carry the segment in tagged, or write trust = "dscp"`,
		}
		if peer := p.End(e.Port.Peer); untagged(peer) {
			switch {
			case e.Device.Kind == fabric.Node && peer.Device.Kind == fabric.Switch:
				return // told with the switch
			case e.Device.Kind == fabric.Switch && peer.Device.Kind == fabric.Node:
				d.Labels = []diag.Label{d.Labels[0], p.AtPort(peer, schema.ANative, "other end"), d.Labels[1]}
				d.Concerns = []string{p.Fabric.PortAddress(peer.ID)}
			}
		}
		p.Report(d)
	})
}

var roce207 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE207", Name: "class_pcp_routed", Severity: diag.Error,
		Title:  "a port behind a router trusts PCP",
		Why:    "a router takes the VLAN tag off: PCP is gone and the class lands in the default priority",
		Fix:    `use trust = "dscp" end to end`,
		Steps:  "DSCP on the switches first, with the maps of both marks, hosts next, then trust",
		Source: "Guo et al., SIGCOMM 2016, section 3",
		Bad: strings.NewReplacer(`trust = "dscp"`, `trust = "pcp"`,
			"    untagged = segment.storage\n  }\n}\nlink", "    segment = segment.storage\n  }\n}\nlink", "    untagged = segment.storage\n", "    tagged = segment.storage\n",
			`  mtu      = 9000
}`, `  mtu      = 9000
  gateway = "10.100.0.1"
  external_gateway = true
}
segment "far" {
  vlan = 101
  subnet = "10.101.0.0/24"
  gateway = "10.101.0.1"
  external_gateway = true
  qos = qos.roce
}`).Replace(twoNodes(``)) + given("far"),
		Good: twoNodes(``),
	},
	Run: pcpRouted,
}

func pcpRouted(p *Pass) {
	f := p.Fabric
	routed := p.routedSegments()
	p.Managed(func(e End) {
		if e.Profile.Trust != fabric.TrustPCP || !p.RDMA(e) {
			return
		}
		report := func(why string, other diag.Label) {
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("port %s trusts PCP, which is lost at the router: %s", p.Name(e), why), Address: f.PortAddress(e.ID),
				Labels: []diag.Label{p.AtContract(e, schema.ATrust, nil, 0, ""), other}, Help: `use trust = "dscp" end to end`,
			})
		}
		if e.Port.Flags&fabric.RoutedPort != 0 {
			report("the port is routed", p.AtPort(e, schema.AAddress, "the routed port"))
			return
		}
		for _, s := range append(slices.Clone(f.VLANSets[e.Port.VLANs]), e.Port.Native) {
			if other := routed[s]; other != 0 {
				report(fmt.Sprintf("segments %s and %s reach each other", f.Text(f.Segments[s].Name), f.Text(f.Segments[other].Name)),
					f.Label(f.Segments[s].Decl, 0, schema.AGateway, "the gateway"))
				return
			}
		}
	})
}

// routedSegments says of each segment with a gateway which other one it reaches
// in its VRF, 0 for none.
func (p *Pass) routedSegments() []fabric.SegmentID {
	reaches := make([]fabric.SegmentID, len(p.Fabric.Segments))
	first := map[fabric.Str]fabric.SegmentID{}
	for id := fabric.SegmentID(1); int(id) < len(p.Fabric.Segments); id++ {
		s := &p.Fabric.Segments[id]
		if !s.Gateway.IsValid() || s.Contract() == 0 {
			continue
		}
		one := first[s.VRF]
		if one == 0 {
			first[s.VRF] = id
			continue
		}
		reaches[id] = one
		if reaches[one] == 0 {
			reaches[one] = id
		}
	}
	return reaches
}

var roce208 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE208", Name: "class_trust", Severity: diag.Error, Fixable: true,
		Title:  "the two ends of a link classify a class by different marks",
		Why:    "where one end goes by DSCP and the other by PCP, the class lands in different priorities",
		Fix:    "align trust",
		Source: "Guo et al., SIGCOMM 2016, section 3: PFC by VLAN tag against PFC by DSCP",
		Bad:    twoNodes(`trust = "none"`),
		Good:   twoNodes(``),
	},
	Run:   classTrust,
	mends: drop("trust"),
}

func classTrust(p *Pass) {
	p.Links(func(l fabric.LinkID, a, b End) {
		if a.Port.Profile == 0 || b.Port.Profile == 0 || a.Profile.Trust == b.Profile.Trust || p.untrusted(a) || p.untrusted(b) {
			return
		}
		var moved []string
		p.LinkClasses(a, b, func(c *fabric.Class, onA, onB fabric.ClassOn) {
			if onA.Priority != onB.Priority && !c.Remap {
				moved = append(moved, fmt.Sprintf("%s is priority %d on %s and %d on %s", p.Fabric.Text(c.Name), onA.Priority, p.Name(a), onB.Priority, p.Name(b)))
			}
		})
		if len(moved) == 0 {
			return
		}
		first, second, note := p.Deviant(a, b, func(e End) string { return trustName(e.Profile.Trust) }, schema.ATrust)
		edits := []diag.Edit{} // of what a port says, never of a contract
		for _, e := range [2]End{first, second} {
			if e.Profile.DeviatesIn(schema.ATrust) {
				edits = append(edits, mended(p.rule.mends, []diag.Label{p.atTrust(e, "")})...)
			}
		}
		p.Report(p.AboutLink(l, first, second, diag.Diagnostic{
			Edits:   edits,
			Summary: fmt.Sprintf("port %s trusts %s, its peer %s trusts %s", p.Name(first), trustName(first.Profile.Trust), p.Name(second), trustName(second.Profile.Trust)),
			Labels:  p.withContract(first, second, schema.ATrust, p.atTrust(first, ""), p.atTrust(second, "other end")),
			Notes:   noted("class "+list(moved), note), Help: "align trust",
		}))
	})
}

func trustName(t fabric.Trust) string { return [...]string{"nothing", "DSCP", "PCP", "nothing"}[t] }

var roce209 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE209", Name: "class_code_points", Severity: diag.Error,
		Title: "two classes share a code point",
		Why:   "frames with one mark cannot be told apart: both classes get what only one of them was meant to have",
		Fix:   "give each class its own code points and priority",
		Steps: "the new marks on switches first, hosts next, the old marks last",
		Source: "RFC 2474, section 3: a node selects the treatment of a packet by its code point alone; IEEE 802.1Q-2018, clause " +
			"36: a pause names a priority",
		Bad:  twoNodesEdit(`dscp     = [48]`, `dscp     = [26, 48]`),
		Good: twoNodes(``),
	},
	Run: codePoints,
}

func codePoints(p *Pass) {
	f := p.Fabric
	for id := 1; id < len(f.QoS); id++ {
		q := &f.QoS[id]
		for i := range q.Classes {
			for j := range i {
				a, b := &q.Classes[j], &q.Classes[i]
				what, found := clash(a, b)
				if !found {
					continue
				}
				attr := schema.ADSCP
				if a.DSCP&b.DSCP == 0 {
					attr = schema.APriority
				}
				p.Report(diag.Diagnostic{
					Summary: fmt.Sprintf("classes %s and %s of qos %s both use %s", f.Text(a.Name), f.Text(b.Name), f.Text(q.Name), what),
					Address: f.Text(q.Address), Labels: []diag.Label{f.Label(b.Decl, 0, attr, ""), f.Label(a.Decl, 0, attr, "the other class")},
					Help: "give each its own",
				})
			}
		}
	}
}

// mixed reports whether a contract has a lossless and a lossy class in one priority,
// which is ROCE209: what the two are together is no finding besides.
func (p *Pass) mixed(id fabric.QoSID) bool {
	classes := p.Fabric.QoS[id].Classes
	for i := range classes {
		for j := range i {
			if classes[i].Priority == classes[j].Priority && classes[i].Lossless != classes[j].Lossless {
				return true
			}
		}
	}
	return false
}

// clash says which code point two classes both claim.
func clash(a, b *fabric.Class) (what string, found bool) {
	switch shared := a.DSCP & b.DSCP; {
	case shared != 0 && (a.Priority != b.Priority || a.Lossless != b.Lossless):
		return fmt.Sprintf("DSCP %d", bits.TrailingZeros64(shared)), true
	case a.Priority == b.Priority && a.Lossless != b.Lossless:
		return fmt.Sprintf("priority %d, and one is lossless", a.Priority), true
	}
	return "", false
}

var roce210 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE210", Name: "class_group_shared", Severity: diag.Error, Fixable: true,
		Title: "a lossless priority group holds a lossy class",
		Why:   "lossy frames in a lossless group take its headroom and cause pauses for traffic that did not need them",
		Fix:   "move the lossy class to a group of its own",
		Source: "sonic-net/sonic-swss doc/swss-schema.md, BUFFER_PG_TABLE: a group has one profile, lossless or not; Guo et al., " +
			"SIGCOMM 2016, section 2",
		Bad:  twoNodesEdit("dscp     = [48]\n", "dscp     = [48]\n    priority_group    = 3\n"),
		Good: twoNodes(``),
	},
	Run:   groupShared,
	mends: drop("priority_group", "group"),
}

// unmarkedIn reports whether a port of a switch puts frames that nobody marks in
// a class, which is then no longer of its own traffic alone.
func unmarkedIn(e End, c *fabric.Class) bool {
	return e.Device.Kind == fabric.Switch && e.Profile.Trust == fabric.TrustDSCP && c.DSCP&1 != 0
}

// unmarkedLossless warns of a lossless class that has DSCP 0 where ports are
// routed; bridged ones have floods in it besides, which is ROCE313.
func (p *Pass) unmarkedLossless() {
	f := p.Fabric
	has := func(c fabric.Class) bool { return c.Lossless && c.DSCP&1 != 0 }
	if !slices.ContainsFunc(f.QoS, func(q fabric.QoS) bool { return slices.ContainsFunc(q.Classes, has) }) {
		return
	}
	for i := range f.Ports {
		if row := &f.Ports[i]; f.Devices[row.Device].Kind == fabric.Switch && (row.VLANs != 0 || row.Native != 0) {
			return
		}
	}
	said := map[fabric.DeclID]bool{}
	p.EachProfile(func(e End, ports int) {
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			if !c.Lossless || !unmarkedIn(e, c) || Displaced(c, on) || said[c.Decl] {
				return
			}
			said[c.Decl] = true
			p.Report(diag.Diagnostic{
				Severity: diag.Warning, Summary: fmt.Sprintf("all that nobody marks is in lossless class %s on %s: DSCP 0 is its", f.Text(c.Name), p.Name(e)),
				Address: f.PortAddress(e.ID), Count: ports,
				Labels: []diag.Label{p.AtContract(e, schema.ADSCPMap, c, schema.ADSCP, "")}, Help: "give the class a code point that its hosts mark, as 26; where the fabric carries nothing else, say so in an ignore",
			})
		})
	})
}

func groupShared(p *Pass) {
	p.unmarkedLossless()
	p.EachProfile(func(e End, ports int) {
		p.strays(e, ports)
		if e.Profile.Host || p.mixed(e.Profile.QoS) {
			return
		}
		p.pairs(e, func(lossless, lossy *fabric.Class, a, b fabric.ClassOn) {
			if a.Group != b.Group || a.Priority == b.Priority {
				return
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("class %s shares priority group %d with lossless class %s on %s", p.Fabric.Text(lossy.Name), a.Group, p.Fabric.Text(lossless.Name), p.Name(e)),
				Address: p.Fabric.PortAddress(e.ID), Count: ports,
				Labels: []diag.Label{p.AtContract(e, schema.AGroupMap, lossy, schema.APriorityGroup, ""), p.AtContract(e, 0, lossless, schema.APriority, "the lossless class")},
				Help:   "move it to a group of its own",
			})
		})
	})
	crossedGroup(p)
}

// pairs calls visit for every lossless and lossy class of a port.
func (p *Pass) pairs(e End, visit func(lossless, lossy *fabric.Class, a, b fabric.ClassOn)) {
	p.Classes(e, func(x *fabric.Class, onX fabric.ClassOn) {
		if !x.Lossless {
			return
		}
		p.Classes(e, func(y *fabric.Class, onY fabric.ClassOn) {
			if !y.Lossless && !Displaced(x, onX) && !Displaced(y, onY) {
				visit(x, y, onX, onY)
			}
		})
	})
}

var roce211 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE211", Name: "class_range", Severity: diag.Error, Fixable: true,
		Title:  "a code point, priority, queue or priority group does not exist on the device",
		Why:    "a queue that a device does not have is dropped by its configuration tool, or taken for another",
		Fix:    "use a queue the device has",
		Source: "IEEE 802.1Q-2018, 8.6.6: eight traffic classes at most; queues of the asic in lang/packs, each with its source",
		Bad:    twoNodesEdit("dscp     = [48]\n", "dscp     = [48]\n    queue    = 12\n"),
		Good:   twoNodes(``),
	},
	Run:   classRange,
	mends: drop("queue", "priority_group", "group", "queue_map", "group_map"),
}

func classRange(p *Pass) {
	p.EachProfile(func(e End, ports int) {
		have := uint8(8)
		if m := &p.Fabric.Models[e.Device.Model]; e.Device.Model != 0 && m.Queues > 0 {
			have = min(have, m.Queues)
		}
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			if on.Queue < have && on.Group < 8 {
				return
			}
			what, n := "queue", on.Queue
			attr, dev := schema.AQueue, schema.AQueueMap
			if on.Queue < have {
				what, n, attr, dev = "priority group", on.Group, schema.APriorityGroup, schema.AGroupMap
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("class %s uses %s %d, and %s has 0 to %d", p.Fabric.Text(c.Name), what, n, p.Name(e), have-1),
				Address: p.Fabric.PortAddress(e.ID), Count: ports, Labels: []diag.Label{p.AtContract(e, dev, c, attr, "")},
				Help: "use one the device has",
			})
		})
	})
}
