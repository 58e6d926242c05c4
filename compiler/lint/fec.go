package lint

import (
	"fmt"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on links that is about forward error correction: what a
// speed, the rate of its lanes and a medium have and need of it.

const clausesOfFEC = "IEEE 802.3 clauses 74 (10G and 40G: BASE-R FEC), 91, 92 and 95 (100GBASE-CR4 and SR4: RS-FEC), 108 and 110 " +
	"(25GBASE-CR: " +
	"RS-FEC above 3 m), 119 and 134 (PAM4: RS-FEC); AMD PG314 (Versal MRMAC), Port FEC Mode: the modes of each speed; "

var roce102 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE102", Name: "link_fec", Severity: diag.Error, Fixable: true,
		Title: "the ends of a link use different FEC",
		Why:   "ends with different error correction do not come up, or lose frames that a lossless class cannot afford",
		Fix: "use one mode on both ends, one that their speed and medium have: RS-FEC from 25G a lane on, none or BASE-R FEC at " +
			"10G and 40G",
		Interrupts: "the link until both ends have it: put them into one wave",
		Source:     clausesOfFEC + "sonic-net/sonic-buildimage #3578",
		Bad:        twoNodesEdit(`fec      = "rs"`, `fec      = "none"`),
		Good:       twoNodes(``),
	},
	Run: linkFEC,
}

func linkFEC(p *Pass) {
	p.Links(func(l fabric.LinkID, a, b End) {
		if !p.fecDiffers(a, b) {
			return
		}
		first, second, note := p.Deviant(a, b, func(e End) string { return fecName(e.Port.FEC) })
		d := diag.Diagnostic{
			Summary: fmt.Sprintf("port %s uses FEC %s, its peer %s FEC %s: the link stays down or loses frames", p.Name(first),
				fecName(first.Port.FEC), p.Name(second), fecName(second.Port.FEC)),
			Labels: []diag.Label{p.AtPort(first, schema.AFEC, ""), p.AtPort(second, schema.AFEC, "other end")},
			Help:   "write one mode on both ends, the one that the modules ask for", Notes: noted(note),
		}
		if want := p.fecOf(a, b); want != fabric.FECUnset {
			d.Help = `write fec = "` + fecName(want) + `" on both ends`
			if speed := max(a.Port.Mbps, b.Port.Mbps); !hasRS(speed) {
				d.Help += ": " + fabric.Speed(speed) + " has no RS-FEC"
			}
			d.Edits = append(p.writeFEC(first, want), p.writeFEC(second, want)...)
		}
		p.Report(p.AboutLink(l, first, second, d))
	})
}

// fecDiffers reports whether two ends are told different modes.
func (p *Pass) fecDiffers(a, b End) bool {
	return a.Port.FEC != b.Port.FEC && toldFEC(a.Port) && toldFEC(b.Port)
}

// toldFEC reports whether a port is told what it does: what is not written is left to
// the device, which knows its module.
func toldFEC(p *fabric.Port) bool { return p.FEC != fabric.FECUnset && p.FEC != fabric.FECAuto }

// fecOf is the mode that two ends that are told different ones should have: where both
// would be lawful and neither is the better one, unset. Of 100 Gb/s over single mode it
// depends on the module: one with the correction inside wants none from its ports.
func (p *Pass) fecOf(a, b End) fabric.FEC {
	speed := max(a.Port.Mbps, b.Port.Mbps)
	switch _, why := p.needsRS(a); {
	case why != "":
		return fabric.FECRS
	case a.Port.FEC != fabric.FECRS && b.Port.FEC != fabric.FECRS, speed == 0, speed >= 100_000 && p.mediaClass(a) == singleMode:
		return fabric.FECUnset
	case hasRS(speed):
		return fabric.FECRS
	case a.Port.FEC == fabric.FECRS:
		return b.Port.FEC
	}
	return a.Port.FEC
}

// writeFEC are the edits that give a port a mode, none if it has that.
func (p *Pass) writeFEC(e End, f fabric.FEC) []diag.Edit {
	if e.Port.FEC == f {
		return nil
	}
	return setAt(p.AtPort(e, schema.AFEC, ""), "fec", fmt.Sprintf("%q", fecName(f)))
}

func fecName(f fabric.FEC) string {
	return [...]string{"unset", "none", "rs", "fc", "auto"}[f]
}

// hasRS reports whether a speed has RS-FEC: from 25 Gb/s a lane on, which 10 and 40 are not.
func hasRS(mbps uint32) bool { return mbps >= 25_000 && mbps != 40_000 }

// Classes of media, as data of the packs have them.
const (
	copper     = "copper"
	multiMode  = "multimode"
	singleMode = "singlemode"
)

// pamMbps is the least rate of a lane that takes PAM4.
const pamMbps = 50_000

// needsRS says why a link of a port needs RS-FEC, "" if it does not, and whether it stays
// down without. The rate of a lane is at least the speed by the lanes that a port can have.
func (p *Pass) needsRS(e End) (down bool, why string) {
	peer, speed := p.End(e.Port.Peer), e.Port.Mbps
	switch class := p.mediaClass(e); {
	case speed >= 200_000, max(p.laneMbps(e), p.laneMbps(peer)) >= pamMbps:
		return true, "PAM4 lanes need RS-FEC"
	case speed == 100_000 && class == copper:
		return false, "100G over copper needs RS-FEC"
	case speed == 100_000 && class == multiMode:
		return false, "100G over multimode fibre needs RS-FEC"
	case speed == 25_000 && class == copper:
		reach, _ := p.beyondReach(e.Port.Link, e, peer)
		if p.Fabric.Links[e.Port.Link].CableMm > 3000 && reach > 0 && reach <= twinaxMm {
			return false, "25G over more than 3 m of copper needs RS-FEC"
		}
	}
	return false, ""
}

// twinaxMm is how far 25GBASE-CR reaches. What carries 25 Gb/s farther over copper is
// twisted pair, which corrects errors by other means.
const twinaxMm = 5000

// laneMbps is the least rate that a lane of a switch port has at its speed, 0 if that is not
// known. Where a port uses fewer lanes than it has, the rate is higher.
func (p *Pass) laneMbps(e End) uint32 {
	lanes := uint32(p.Fabric.Models[e.Device.Model].Lanes)
	if b, _ := p.Fabric.SplitOf(e.ID); b != nil && b.Count > 0 {
		lanes = max(uint32(b.Lanes)/uint32(b.Count), min(uint32(b.Lanes), 1))
	}
	if e.ID == 0 || lanes == 0 {
		return 0
	}
	return e.Port.Mbps / lanes
}

var roce109 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE109", Name: "link_rs_fec", Severity: diag.Error, Fixable: true,
		Title: "a link that needs RS-FEC runs without",
		Why: "PAM4 lanes, of 50G and more, do not work without RS-FEC; 100G over copper or multimode fibre and 25G over more than 3 m of " +
			"copper lose " +
			"frames without it, and a lossless class cannot afford one. The second kind is a warning: a short cable of a good make may do without",
		Fix:        `write fec = "rs" on both ends`,
		Interrupts: "the link until both ends have it: put them into one wave",
		Source: clausesOfFEC + "sonic-net/sonic-buildimage #23978 (RS-FEC from 50G a lane on), sonic-net/sonic-mgmt #22669; " +
			"Cumulus Linux user guide 5.9, Switch Port Attributes, Cable Class of 100G and 25G DACs",
		Formula: "rate of a lane >= speed / lanes of the port, in Gb/s; RS-FEC from 50 Gb/s a lane or 200 Gb/s on",
		Bad:     strings.NewReplacer(`"100G"`, `"200G"`, `fec      = "rs"`, `fec      = "none"`).Replace(twoNodes(``)),
		Good:    twoNodes(``),
	},
	Run: rsFEC,
}

// rsFEC tells of a link once, and of a port without a cable by itself.
func rsFEC(p *Pass) {
	p.eachFEC(func(e, peer End, both bool) {
		down, why := p.needsRS(e)
		if e.Port.FEC == fabric.FECRS || why == "" {
			return
		}
		d := p.aboutFEC(e, peer, both, why)
		d.Help = `write fec = "rs"`
		d.Edits = p.writeFEC(e, fabric.FECRS)
		if both {
			d.Edits = append(d.Edits, p.writeFEC(peer, fabric.FECRS)...)
		}
		if !down {
			d.Severity = diag.Warning
		}
		p.Report(d)
	})
}

// eachFEC visits every port that is told a mode, and of two ends that are told the same
// one of them. Where they differ in that or in speed, ROCE102 and ROCE101 speak.
func (p *Pass) eachFEC(visit func(e, peer End, both bool)) {
	for id := fabric.PortID(1); int(id) < len(p.Fabric.Ports); id++ {
		port := &p.Fabric.Ports[id]
		peer := &p.Fabric.Ports[port.Peer]
		same := port.Peer != 0 && peer.FEC == port.FEC
		if !toldFEC(port) || port.Mbps == 0 || same && port.Peer < id {
			continue
		}
		if port.Peer != 0 && (peer.Mbps != port.Mbps || toldFEC(peer) && !same) {
			continue
		}
		visit(p.End(id), p.End(port.Peer), same)
	}
}

// aboutFEC is a finding on the mode of a port, or on the one of both ends of its link.
func (p *Pass) aboutFEC(e, peer End, both bool, why string) diag.Diagnostic {
	d := diag.Diagnostic{
		Summary: fmt.Sprintf("port %s runs at %s with FEC %s: %s", p.Name(e), fabric.Speed(e.Port.Mbps), fecName(e.Port.FEC), why),
		Address: p.Fabric.PortAddress(e.ID), Labels: []diag.Label{p.AtPort(e, schema.AFEC, "")},
	}
	if both {
		d.Summary = fmt.Sprintf("ports %s and %s run at %s with FEC %s: %s", p.Name(e), p.Name(peer), fabric.Speed(e.Port.Mbps),
			fecName(e.Port.FEC), why)
		d.Concerns = []string{p.Fabric.PortAddress(peer.ID)}
		d.Labels = append(d.Labels, p.AtPort(peer, schema.AFEC, "other end"))
	}
	return d
}

var roce124 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE124", Name: "link_fec_missing", Severity: diag.Error,
		Title:      "a port is told an FEC that its speed does not have",
		Why:        "10G and 40G have no RS-FEC, and 100G and more no BASE-R FEC: the device refuses the setting, or the port stays down",
		Fix:        `at 10G and 40G write fec = "none", or "fc"; at 100G "rs" or "none"; or leave fec out, where the device shall follow its module`,
		Interrupts: "the link until both ends have it: put them into one wave",
		Source: clausesOfFEC + "Cumulus Linux user guide 5.9, Switch Port Attributes, Spectrum ASIC FEC Behavior (BASE-R: 25G only); " +
			"Fortinet FortiOS 7.0.4, supported FEC implementations on 10G, 25G, 40G and 100G interfaces",
		Bad:  twoNodesAt40G("rs"),
		Good: twoNodesAt40G("none"),
	},
	Run: fecMissing,
}

// twoNodesAt40G is twoNodes at 40 Gb/s, with one mode on all ports.
func twoNodesAt40G(fec string) string {
	return strings.NewReplacer(`"100G"`, `"40G"`, `"rs"`, `"`+fec+`"`).Replace(twoNodes(""))
}

func fecMissing(p *Pass) {
	p.eachFEC(func(e, peer End, both bool) {
		switch mbps := e.Port.Mbps; {
		case e.Port.FEC == fabric.FECRS && !hasRS(mbps):
			d := p.aboutFEC(e, peer, both, fabric.Speed(mbps)+" has no RS-FEC")
			d.Help = `write fec = "none" on both ends, or "fc" where the cable asks for it`
			p.Report(d)
		case e.Port.FEC == fabric.FECFC && mbps >= 100_000:
			if _, why := p.needsRS(e); why == "" { // else ROCE109
				d := p.aboutFEC(e, peer, both, fabric.Speed(mbps)+" has no BASE-R FEC")
				d.Help = `write fec = "rs" or "none" on both ends, as their modules ask`
				p.Report(d)
			}
		}
	})
}
