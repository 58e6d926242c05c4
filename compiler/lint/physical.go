package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var physical = []*Rule{roce101, roce102, roce103, roce104, roce105, roce106, roce107, roce108, roce109, roce110, roce111, roce113, roce114, roce116, roce117, roce118, roce119, roce121, roce122, roce123, roce124, roce125}

var roce101 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE101", Name: "link_speed", Severity: diag.Error,
		Title:  "the ends of a link run at different speeds",
		Why:    "ends forced to different speeds do not come up; where they negotiate, the slower one decides and headroom, ECN and ETS were computed for the other",
		Fix:    "write one speed on both ends, or leave it to the model on both",
		Source: "IEEE 802.3-2022, clauses 28 and 73 (negotiation settles on one speed, and a forced end takes no part)",
		Bad:    twoNodesEdit(`speed    = "100G"`, `speed    = "25G"`),
		Good:   twoNodes(``),
	},
	Run: linkSpeed,
}

func linkSpeed(p *Pass) {
	p.Links(func(l fabric.LinkID, a, b End) {
		if a.Port.Mbps == b.Port.Mbps || a.Port.Mbps == 0 || b.Port.Mbps == 0 {
			return
		}
		first, second, note := p.Deviant(a, b, func(e End) string { return fabric.Speed(e.Port.Mbps) })
		p.Report(p.AboutLink(l, first, second, diag.Diagnostic{
			Summary: fmt.Sprintf("port %s runs at %s, its peer %s at %s", p.Name(first), fabric.Speed(first.Port.Mbps), p.Name(second), fabric.Speed(second.Port.Mbps)),
			Labels:  []diag.Label{p.atSpeed(first, ""), p.atSpeed(second, "other end")},
			Help:    "write one speed on both ends", Notes: noted(note),
		}))
	})
}

// atSpeed is where the speed of a port comes from, with a word where nobody wrote it.
func (p *Pass) atSpeed(e End, text string) diag.Label {
	speed := fabric.Speed(e.Port.Mbps)
	switch {
	case e.Port.Flags&fabric.SpeedSet != 0:
		return p.AtPort(e, schema.ASpeed, text)
	case e.Port.Split != 0:
		return p.AtPort(e, schema.ABreakout, text, "speed is not written: each part of the breakout has "+speed)
	}
	return p.AtPort(e, schema.ASpeed, text, "speed is not written: the model's "+speed+" holds")
}

var roce103 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE103", Name: "link_autoneg", Severity: diag.Error,
		Title:      "one end of a link negotiates, and the other does not",
		Why:        "a forced end does not answer, and the negotiating end gives up or falls back; two Spectrum-4 switches with Cumulus Linux need both at 200G and more",
		Fix:        "write autoneg alike on both ends, or on the link; on Cumulus Linux before 5.14 a written speed ends negotiation",
		Interrupts: "the link until both ends have it",
		Source: "IEEE 802.3-2022, clause 73; sonic-net/sonic-mgmt #7038; Cumulus Linux user guide 5.13 and 5.14, Switch Port " +
			"Attributes, Auto-negotiation",
		Bad:  twoNodesEdit(`fec      = "rs"`, `fec      = "rs"`+"\n    autoneg = true", `fec      = "rs"`, `fec      = "rs"`, `fec      = "rs"`, `fec      = "rs"`+"\n    autoneg = false"),
		Good: twoNodes(``),
	},
	Run: linkAutoneg,
}

func linkAutoneg(p *Pass) {
	p.Links(func(l fabric.LinkID, a, b End) {
		x, y := p.negotiation(a), p.negotiation(b)
		if x == forced {
			a, b, x, y = b, a, y, x
		}
		d := diag.Diagnostic{Help: "write autoneg alike on both ends"}
		switch {
		case y != forced:
			return
		case x == negotiates:
			d.Summary = fmt.Sprintf("port %s negotiates, its peer %s is forced", p.Name(a), p.Name(b))
		case p.mustNegotiate(a) && p.mustNegotiate(b):
			d.Summary = fmt.Sprintf("port %s is forced, and with its peer %s it comes up at %s only where both negotiate", p.Name(b), p.Name(a), fabric.Speed(b.Port.Mbps))
			d.Help = "write autoneg = true on both ends; before Cumulus Linux 5.14 leave speed out besides, or update the switches"
			a, b, x, y = b, a, y, x
		default:
			return
		}
		d.Labels = []diag.Label{p.atNegotiation(a, x, ""), p.atNegotiation(b, y, "other end")}
		p.Report(p.AboutLink(l, a, b, d))
	})
}

// negotiation is what the source says of a port's.
type negotiation uint8

const (
	unsaid negotiation = iota
	negotiates
	forced
)

// negotiation: Cumulus Linux before 5.14 does not negotiate a speed that is written
// [Switch Port Attributes, Auto-negotiation and Link Speed].
func (p *Pass) negotiation(e End) negotiation {
	switch f := e.Port.Flags; {
	case f&fabric.AutonegSet != 0 && f&fabric.Autoneg != 0:
		return negotiates
	case f&fabric.AutonegSet != 0:
		return forced
	case f&fabric.SpeedSet == 0 && e.Port.Split == 0 || !p.cumulus(e) || e.Device.OSVersion == 0 || older(p.Fabric.Text(e.Device.OSVersion), "5.14") >= 0:
		return unsaid
	}
	return forced
}

func (p *Pass) cumulus(e End) bool { return p.Fabric.Text(e.Device.OSName) == "cumulus-linux" }

// mustNegotiate reports whether a port negotiates with its like or stays down: one of
// Spectrum-4 with PAM4, which 200G and more are [Switch Port Attributes,
// Auto-negotiation with the Spectrum-4 Switch].
func (p *Pass) mustNegotiate(e End) bool {
	return e.Device.Kind == fabric.Switch && p.cumulus(e) && e.Port.Mbps >= 200_000 && p.Fabric.Text(p.Fabric.Models[e.Device.Model].Family) == "spectrum-4"
}

// atNegotiation is where the source says how a port negotiates.
func (p *Pass) atNegotiation(e End, n negotiation, text string) diag.Label {
	if n == forced && e.Port.Flags&fabric.AutonegSet == 0 {
		return p.atSpeed(e, text)
	}
	return p.AtPort(e, schema.AAutoneg, text)
}

var roce104 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE104", Name: "link_ends", Severity: diag.Error, Hard: true,
		Title:  "a port has two cables, or a cable one end",
		Why:    "what one port is told depends on its peer: with two of them nothing about it can be proven",
		Fix:    "correct the list of links",
		Source: "docs/language/blocks.md, link: a cable has two ends, and a port one cable; a rule of the model, of which no standard speaks",
		Bad:    twoNodesEdit(`n2 = "Ethernet4"`, `n2 = "Ethernet0"`),
		Good:   twoNodes(``),
	},
	Run: linkEnds,
}

func linkEnds(p *Pass) {
	f := p.Fabric
	for id := 1; id < len(f.Links); id++ {
		l := &f.Links[id]
		if l.A == l.B {
			p.Report(p.AboutLink(fabric.LinkID(id), p.End(l.A), p.End(l.B), diag.Diagnostic{
				Summary: fmt.Sprintf("a cable joins port %s to itself", f.PortName(l.A)),
				Labels:  []diag.Label{f.LinkLabel(fabric.LinkID(id), schema.AEnds, "")}, Help: "name the port at the other end of the cable",
			}))
			continue
		}
		for _, end := range []fabric.PortID{l.A, l.B} {
			if first := f.Ports[end].Link; first != fabric.LinkID(id) && first != 0 {
				other := f.Links[first].A + f.Links[first].B - end
				p.Report(p.AboutLink(fabric.LinkID(id), p.End(end), p.End(l.A+l.B-end), diag.Diagnostic{
					Summary: fmt.Sprintf("port %s has two cables: to %s and to %s", f.PortName(end), f.PortName(other), f.PortName(l.A+l.B-end)),
					Labels:  []diag.Label{f.LinkLabel(fabric.LinkID(id), schema.AEnds, ""), f.LinkLabel(first, schema.AEnds, "the other cable")},
					Help:    "keep one of them, or name another port in one of them",
				}))
			}
		}
	}
}

var roce105 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE105", Name: "link_breakout", Severity: diag.Error,
		Title:      "a split port is also used whole, has too few lanes for its children, or faces ports with other lanes",
		Why:        "children and parent share lanes: using both, more children than lanes, or a child of two lanes cabled to one of one, leaves ports that never come up",
		Fix:        "use the children, or do not split the port",
		Interrupts: "every port of the cage, while the device makes them anew",
		Source: "sonic-net/SONiC doc/dynamic-port-breakout/sonic-dynamic-port-breakout-HLD.md; Cumulus Linux user guide 5.13, Switch Port " +
			"Attributes, " +
			"Breakout Ports and Considerations",
		Bad:  strings.ReplaceAll(twoNodes(`breakout = "8x25G"`), "nvidia/sn3700", "example/no-dscp") + noDSCP("true"),
		Good: twoNodes(``),
	},
	Run: linkBreakout,
}

func linkBreakout(p *Pass) {
	f := p.Fabric
	for i := range f.Breakouts {
		b := &f.Breakouts[i]
		name := f.Text(f.Devices[b.Device].Name) + "/" + f.Text(b.Parent)
		at := f.Label(b.Decl, 0, schema.ABreakout, "")
		address := f.Text(f.Devices[b.Device].Address) + `.port["` + f.Text(b.Parent) + `"]`
		if b.Lanes > 0 && b.Count > b.Lanes {
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("port %s is split into %d, and has %d lanes", name, b.Count, b.Lanes), Address: address,
				Labels: []diag.Label{at}, Help: "split it into as many ports as it has lanes, at most",
			})
		}
		for _, whole := range b.Overlaps {
			l := f.Ports[whole].Link
			if l == 0 {
				continue
			}
			labels := []diag.Label{at, f.LinkLabel(l, schema.AEnds, "used whole here")}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("port %s is split %dx%s and also used whole as %s", name, b.Count, fabric.Speed(b.Mbps), f.PortName(whole)),
				Address: address, Concerns: []string{f.PortAddress(whole)}, Labels: labels, Help: "use its children, or do not split it",
			})
		}
	}
	p.Links(func(l fabric.LinkID, a, b End) {
		x, _ := f.SplitOf(a.ID)
		y, _ := f.SplitOf(b.ID)
		if x == nil || y == nil {
			return
		}
		if x.Lanes < y.Lanes {
			a, b, x, y = b, a, y, x
		}
		if !p.twoLanes(a, x) || y.Count != 4 || y.Lanes != 4 || !slices.Contains(fourLaned, f.Text(f.Models[b.Device.Model].Family)) {
			return
		}
		p.Report(p.AboutLink(l, a, b, diag.Diagnostic{
			Summary: fmt.Sprintf("port %s has two of the eight lanes of its cage, its peer %s one of four: the link stays down", p.Name(a), p.Name(b)),
			Labels:  []diag.Label{f.Label(x.Decl, 0, schema.ABreakout, ""), f.Label(y.Decl, 0, schema.ABreakout, "other end")},
			Help: fmt.Sprintf("split %s into 8; or run nv set interface %s link breakout 4x lanes-per-port 1 on the switch before its first plan, which keeps it, and accept this by an override",
				f.Text(x.Parent), f.Text(x.Parent)),
		}))
	})
}

// twoLanes reports whether the children of a split have two lanes by themselves: a
// quarter of a cage of eight on Cumulus Linux, since 5.9 [Switch Port Attributes, Set the
// Number of Lanes per Split Port].
func (p *Pass) twoLanes(e End, split *fabric.Breakout) bool {
	return p.cumulus(e) && split.Count == 4 && split.Lanes == 8
}

// fourLaned are the ASICs whose cages of four lanes, split into four, do not come up with
// children of two lanes [Switch Port Attributes, Connecting NVIDIA SN4410, SN4700, SN5600
// to a Spectrum-3 and Earlier Peer Switch].
var fourLaned = []string{"spectrum-1", "spectrum-2", "spectrum-3"}

var roce106 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE106", Name: "link_media_reach", Severity: diag.Error,
		Title: "a cable is longer than its medium reaches at that speed",
		Why:   "beyond its reach a medium loses frames, and no setting repairs that",
		Fix:   "use a medium that reaches",
		Source: "IEEE 802.3-2022, clauses 85, 92, 110, 136 and 162 (copper), 52, 86, 95, 112, 138 and 167 (multimode), 52, 87, 88, 114, 121, 122, " +
			"124, 139, 140 and 151 (single mode); active copper and AOC as sold; the source of each media block",
		Formula: "longest cable: DAC 7 m at 10G and 40G, 5 m at 25G, 50G and 100G, 3 m from 200G on; active copper 7 m; AOC 100 m; SR 400 m at 10G, " +
			"150 m at 40G, else 100 m; DR 500 m; FR 2 km; LR 10 km; or what the media block says",
		Bad:  twoNodesEdit(`length = "3m"`, `length = "30m"`),
		Good: twoNodes(``),
	},
	Run: mediaReach,
}

func mediaReach(p *Pass) {
	f := p.Fabric
	p.Links(func(id fabric.LinkID, a, b End) {
		reach, beyond := p.beyondReach(id, a, b)
		if !beyond {
			return
		}
		l := &f.Links[id]
		d := diag.Diagnostic{
			Summary: fmt.Sprintf("%s cannot run %s at %s between %s and %s: it reaches %s", f.Text(f.Media[l.Media].Name), Meters(l.CableMm), fabric.Speed(max(a.Port.Mbps, b.Port.Mbps)), p.Name(a), p.Name(b), Meters(reach)),
			Labels:  []diag.Label{p.Fabric.LinkLabel(id, schema.ACable, "")}, Help: "use a medium that reaches, or a shorter cable",
		}
		if reach == 0 {
			d.Summary = fmt.Sprintf("%s does not carry %s, which %s and %s run at", f.Text(f.Media[l.Media].Name), fabric.Speed(max(a.Port.Mbps, b.Port.Mbps)), p.Name(a), p.Name(b))
			d.Help = "use a medium for that speed"
		}
		p.Report(p.AboutLink(id, a, b, d))
	})
}

// beyondReach reports whether a cable is longer than its medium carries the speed of
// its ends, and how far that is, in mm.
func (p *Pass) beyondReach(id fabric.LinkID, a, b End) (reach uint32, beyond bool) {
	l := &p.Fabric.Links[id]
	if l.Media == 0 || l.CableMm == 0 {
		return 0, false
	}
	mbps, from, found := max(a.Port.Mbps, b.Port.Mbps), uint32(0), false
	for _, r := range p.Fabric.Media[l.Media].Reach {
		if mbps >= r.MinMbps && (!found || r.MinMbps > from) {
			reach, from, found = r.MaxMm, r.MinMbps, true
		}
	}
	return reach, found && l.CableMm > reach
}

var roce108 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE108", Name: "link_length", Severity: diag.Error,
		Title:  "a lossless link is written to be 0 m long or less",
		Why:    "headroom follows from the length: with a wrong one the buffer overruns when the far end has to be paused",
		Fix:    "write the real length",
		Source: "sonic-net/sonic-swss #3548",
		Bad:    twoNodesEdit(`length = "3m"`, `length = "0m"`),
		Good:   twoNodes(``),
	},
	Run: linkLength,
}

func linkLength(p *Pass) {
	f := p.Fabric
	p.Links(func(id fabric.LinkID, a, b End) {
		l := &f.Links[id]
		if !l.BadLength || a.Profile.PFC|b.Profile.PFC == 0 {
			return
		}
		p.Report(p.AboutLink(id, a, b, diag.Diagnostic{
			Summary: fmt.Sprintf("the cable between %s and %s is written to be 0 m long or less: headroom would be wrong", p.Name(a), p.Name(b)),
			Labels:  []diag.Label{p.Fabric.LinkLabel(id, schema.ACable, "")}, Help: "write the real length",
		}))
	})
}

var roce116 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE116", Name: "link_layer", Severity: diag.Error,
		Title:  "one end of a link is InfiniBand, and the other Ethernet",
		Why:    "an adapter in InfiniBand mode does not come up on an Ethernet port",
		Fix:    `set link_layer = "ethernet", or cable it to an InfiniBand switch`,
		Source: "NVIDIA MLNX_OFED user manual, Port Type Management (LINK_TYPE_P1 of mlxconfig)",
		Bad:    twoNodesEdit(`model    = "nvidia/connectx-6-dx"`, `model    = "nvidia/connectx-6"`+"\n    link_layer = \"infiniband\""),
		Good:   twoNodes(``),
	},
	Run: linkLayer,
}

func linkLayer(p *Pass) {
	p.Links(func(l fabric.LinkID, a, b End) {
		if (a.Port.Flags^b.Port.Flags)&fabric.InfiniBand == 0 {
			return
		}
		if b.Port.Flags&fabric.InfiniBand != 0 {
			a, b = b, a
		}
		p.Report(p.AboutLink(l, a, b, diag.Diagnostic{
			Summary: fmt.Sprintf("port %s is InfiniBand, its peer %s is Ethernet", p.Name(a), p.Name(b)),
			Labels:  []diag.Label{p.AtPort(a, schema.ALinkLayer, ""), p.AtPort(b, schema.ALinkLayer, "other end")},
			Help:    `set link_layer = "ethernet"`,
		}))
	})
}

var roce117 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE117", Name: "link_lag_members", Severity: diag.Error,
		Title: "members of a LAG have different speeds or media",
		Why:   "hashing treats members as equal: a slower one congests while others idle, and different media have different headroom",
		Fix:   "make the members equal",
		Source: "IEEE 802.1AX-2020, clause 6 (capabilities and keys: members of one data rate); torvalds/linux " +
			"Documentation/networking/bonding.rst, 802.3ad (same speed and duplex)",
		Bad:  edit(oneCard(bonded(`speed = "25G"`)), `port "Ethernet[8-12:4]" {`, "port \"Ethernet12\" {\n    speed    = \"25G\"\n    untagged = segment.storage\n  }\n  port \"Ethernet8\" {"),
		Good: oneCard(bonded(`speed = "100G"`)),
	},
	Run: lagMembers,
}

// oneCard is bonded with both ports on one adapter.
func oneCard(text string) string {
	const model = "    model = \"nvidia/connectx-6-dx\"\n"
	return strings.ReplaceAll(text, model, model+"    adapter = \"mlx0\"\n")
}

func lagMembers(p *Pass) {
	f := p.Fabric
	for id := 1; id < len(f.LAGs); id++ {
		lag := &f.LAGs[id]
		if len(lag.Members) < 2 {
			continue
		}
		first := p.End(lag.Members[0])
		for _, m := range lag.Members[1:] {
			e := p.End(m)
			var how string
			switch a, b := p.mediaClass(first), p.mediaClass(e); {
			case e.Port.Mbps != first.Port.Mbps && e.Port.Mbps != 0 && first.Port.Mbps != 0:
				how = fmt.Sprintf("%s at %s and %s at %s", p.Name(first), fabric.Speed(first.Port.Mbps), p.Name(e), fabric.Speed(e.Port.Mbps))
			case a != b && a != "" && b != "":
				how = fmt.Sprintf("%s on %s and %s on %s", p.Name(first), a, p.Name(e), b)
			default:
				continue
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("%s mixes %s", f.Text(lag.Name), how), Address: f.LAGAddress(fabric.LAGID(id)),
				Concerns: []string{f.PortAddress(first.ID), f.PortAddress(e.ID)},
				Labels:   []diag.Label{f.Label(lag.Decl, 0, schema.AMembers, ""), p.AtPort(e, schema.ASpeed, "the member that differs")},
				Help:     "make the members equal",
			})
			break
		}
	}
}

func (p *Pass) mediaClass(e End) string {
	return p.Fabric.Text(p.Fabric.Media[p.Fabric.Links[e.Port.Link].Media].Class)
}

// Meters shows millimetres as people write it.
func Meters(mm uint32) string {
	if mm%1000 == 0 {
		return fmt.Sprintf("%dm", mm/1000)
	}
	return fmt.Sprintf("%d.%03dm", mm/1000, mm%1000)
}
