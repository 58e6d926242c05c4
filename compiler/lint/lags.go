package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on paths that looks at what LAGs end on.

var roce820 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE820", Name: "lag_two_switches", Severity: diag.Error,
		Title: "a LAG ends on ports that are no LAG of its mode, or on switches that are no pair",
		Why: "switches that do not know of each other both negotiate for themselves: one leg stays down, or frames loop and " +
			"arrive twice; ports that are in no LAG answer no LACP, and without it take what a static LAG spreads over them " +
			"for a station that moves",
		Fix:        `write the LAG at both ends, an mlag block for two switches (with evpn = true where EVPN multihoming joins them), use active_backup, or write the two as a topology "dual_tor"`,
		Steps:      "LACP with fallback first, or the host end and the switch end in one step",
		Interrupts: "the host, from the moment that one end waits for LACP until the other answers",
		Source: "IEEE 802.1AX-2020, 6.4 (LACP); RFC 7432, 8 (multihoming by EVPN); Qian et al., Alibaba HPN, SIGCOMM 2024, on " +
			"dual-ToR without stacking",
		Bad:  unpaired(""),
		Good: unpaired("pair"),
	},
	Run: func(p *Pass) {
		twoSwitches(p)
		lagEnds(p)
	},
}

func unpaired(pair string) string {
	text := pairedLegs(``)
	start, rest, _ := strings.Cut(text, `mlag "pair" {`)
	if pair != "" {
		return text
	}
	_, rest, _ = strings.Cut(rest, "\n}\n")
	return start + rest
}

// multihomedPair is pairedLegs with a pair that EVPN multihoming joins.
func multihomedPair() string {
	start, rest, _ := strings.Cut(pairedLegs(``), "  peer_link = ")
	_, rest, _ = strings.Cut(rest, "\n}\n")
	return start + "  evpn = true\n}\n" + rest
}

func twoSwitches(p *Pass) {
	f := p.Fabric
	for id := 1; id < len(f.LAGs); id++ {
		lag := &f.LAGs[id]
		if lag.Mode != fabric.LACP && lag.Mode != fabric.Static {
			continue
		}
		var on []fabric.DeviceID
		for _, m := range lag.Members {
			if peer := f.Ports[m].Peer; peer != 0 && f.Devices[f.Ports[peer].Device].Kind == fabric.Switch && !slices.Contains(on, f.Ports[peer].Device) {
				on = append(on, f.Ports[peer].Device)
			}
		}
		if len(on) < 2 || p.knownPair(on) {
			continue
		}
		names := make([]string, len(on))
		for i, d := range on {
			names[i] = f.Text(f.Devices[d].Name)
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s of %s ends on %s, which are no pair", f.Text(lag.Name), f.Text(f.Devices[lag.Device].Name), list(names)), Address: f.LAGAddress(fabric.LAGID(id)),
			Concerns: []string{f.Text(f.Devices[on[0]].Address), f.Text(f.Devices[on[1]].Address)},
			Labels:   []diag.Label{f.Label(lag.Decl, 0, schema.AMembers, ""), f.LinkLabel(f.Ports[lag.Members[len(lag.Members)-1]].Link, schema.AEnds, "a cable")}, Help: "write an mlag block for the two, with evpn = true where they are multihomed by EVPN, or use active_backup",
		})
	}
}

// knownPair reports whether switches are a pair, or the two of a topology that
// needs no pairs; of switches that are taken as declared nothing is known.
func (p *Pass) knownPair(on []fabric.DeviceID) bool {
	a := &p.Fabric.Devices[on[0]]
	for _, d := range on {
		b := &p.Fabric.Devices[d]
		switch {
		case b.Manage == fabric.HandsOff:
		case len(on) == 2 && a.MLAG != 0 && a.MLAG == b.MLAG:
		case len(on) == 2 && a.Topology != 0 && a.Topology == b.Topology && p.Fabric.Topologies[a.Topology].Kind == fabric.DualToR:
		default:
			return false
		}
	}
	return true
}

// lagEnds reports LAGs that negotiate or hash, and whose cables do not end in one
// LAG that does the same. Of what is taken as declared nothing is known, nor of a
// NIC without any segment: whoever made its interfaces may have made a bond of them.
// A bond makes the LAG at its switch by itself, so that mostly LAGs of switches are
// left to look at.
func lagEnds(p *Pass) {
	f := p.Fabric
	for id := 1; id < len(f.LAGs); id++ {
		lag := &f.LAGs[id]
		if lag.Mode != fabric.LACP && lag.Mode != fabric.Static || f.Devices[lag.Device].Manage == fabric.HandsOff {
			continue
		}
		var seen []fabric.DeviceID
		for _, m := range lag.Members {
			peer := f.Ports[m].Peer
			if peer == 0 {
				continue
			}
			e := p.End(peer)
			if slices.Contains(seen, e.Port.Device) || e.Device.Manage == fabric.HandsOff || e.Port.Manage == fabric.HandsOff {
				continue
			}
			if what := p.otherEnd(fabric.LAGID(id), e); what != "" {
				seen = append(seen, e.Port.Device)
				p.reportEnd(fabric.LAGID(id), e, what)
			}
		}
	}
}

// otherEnd says what is wrong with a LAG whose cable ends on a port, "" if nothing is.
func (p *Pass) otherEnd(id fabric.LAGID, e End) string {
	f := p.Fabric
	lag := &f.LAGs[id]
	if e.Port.LAG == 0 {
		if e.Device.Kind == fabric.Node && e.Port.Native == 0 && len(f.VLANSets[e.Port.VLANs]) == 0 {
			return ""
		}
		return "which is in no LAG"
	}
	other := &f.LAGs[e.Port.LAG]
	if other.Mode != lag.Mode {
		if e.Port.LAG < id && (other.Mode == fabric.LACP || other.Mode == fabric.Static) {
			return "" // it was reported with the other one
		}
		return fmt.Sprintf("whose %s is %s", f.Text(other.Name), lagWords[other.Mode])
	}
	for _, m := range lag.Members {
		if q := f.Ports[m].Peer; q != 0 && f.Ports[q].Device == e.Port.Device && f.Ports[q].LAG != 0 && f.Ports[q].LAG != e.Port.LAG {
			return fmt.Sprintf("which is in %s, while %s is in %s", f.Text(other.Name), f.PortName(q), f.Text(f.LAGs[f.Ports[q].LAG].Name))
		}
	}
	return ""
}

func (p *Pass) reportEnd(id fabric.LAGID, e End, what string) {
	f := p.Fabric
	lag := &f.LAGs[id]
	labels := []diag.Label{f.Label(lag.Decl, 0, schema.AMembers, ""), f.LinkLabel(e.Port.Link, schema.AEnds, "the cable")}
	concerns := []string{f.PortAddress(e.ID)}
	if e.Port.LAG != 0 {
		labels = append(labels, f.Label(f.LAGs[e.Port.LAG].Decl, 0, schema.AMode, "the other end"))
		concerns = append(concerns, f.LAGAddress(e.Port.LAG))
	}
	p.Report(diag.Diagnostic{
		Summary: fmt.Sprintf("%s of %s (%s) ends on %s, %s", f.Text(lag.Name), f.Text(f.Devices[lag.Device].Name), lagWords[lag.Mode], p.Name(e), what), Address: f.LAGAddress(id),
		Concerns: concerns, Labels: labels, Help: "write a LAG of the same mode with the ports of the other end, or take these out of it",
	})
}
