package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// tags reports whether a port carries a segment's VLAN tagged.
func (p *Pass) tags(e End, s fabric.SegmentID) bool {
	vlan := p.Fabric.Segments[s].VLAN
	return slices.ContainsFunc(p.Fabric.VLANSets[e.Port.VLANs], func(o fabric.SegmentID) bool { return p.Fabric.Segments[o].VLAN == vlan })
}

func (p *Pass) native(e End, s fabric.SegmentID) bool {
	return e.Port.Native != 0 && p.Fabric.Segments[e.Port.Native].VLAN == p.Fabric.Segments[s].VLAN
}

var roce601 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE601", Name: "vlan_missing", Severity: diag.Error,
		Title:  "a VLAN is missing at one end of a link",
		Why:    "frames of a VLAN that one end does not allow are dropped there, silently",
		Fix:    "add the segment to the other end",
		Steps:  "both ends in one step, and out of band if the VLAN carries the management",
		Source: "IEEE 802.1Q-2018, 8.6.2 (a port drops frames of a VLAN of which it is no member)",
		Bad:    strings.Replace(twoNodes(``), "    untagged = segment.storage\n  }\n}\nlink", "    segment = segment.storage\n  }\n}\nlink", 1),
		Good: strings.NewReplacer(
			"    untagged = segment.storage\n  }\n}\nlink", "    segment = segment.storage\n  }\n}\nlink", "untagged = segment.storage", "tagged = segment.storage",
		).Replace(twoNodes(``)),
	},
	Run: vlanMissing,
}

// vlanMissing walks all links, and not one of each kind: what else a switch does with
// a VLAN is no part of a kind.
func vlanMissing(p *Pass) {
	if len(p.Fabric.Segments) < 2 {
		return // nothing but the row of no segment
	}
	for id := 1; id < len(p.Fabric.Links); id++ {
		l := &p.Fabric.Links[id]
		a, b := p.End(l.A), p.End(l.B)
		if a.Port.VLANs == b.Port.VLANs && a.Port.Native == b.Port.Native && p.vfSegment(a) == 0 && p.vfSegment(b) == 0 {
			continue
		}
		lostA, lostB := p.lost(fabric.LinkID(id), a, b), p.lost(fabric.LinkID(id), b, a)
		switch {
		case len(lostA) > 0 && len(lostB) > 0:
			if first, _, note := p.Deviant(a, b, p.vlansOf); note != "" && first.ID == a.ID {
				a, b, lostA = b, a, lostB
			}
			p.missing(fabric.LinkID(id), a, b, lostA)
		case len(lostA) > 0:
			p.missing(fabric.LinkID(id), a, b, lostA)
		case len(lostB) > 0:
			p.missing(fabric.LinkID(id), b, a, lostB)
		}
	}
}

// lost are the VLANs that one end tags and that the other has not at all. What one
// end tags and the other does not, or takes nothing untagged, is reported.
func (p *Pass) lost(l fabric.LinkID, e, other End) (lost []fabric.SegmentID) {
	if other.Port.Manage == fabric.HandsOff && other.Port.VLANs == 0 && other.Port.Native == 0 {
		return nil
	}
	// A trunk may offer a host more than it uses; the host's VLANs must be there,
	// and between switches both ends must agree.
	if e.Device.Kind == fabric.Switch && other.Device.Kind == fabric.Node {
		return nil
	}
	for _, s := range p.tagged(e) {
		switch {
		case p.tags(other, s) || !p.enters(e, s):
		case !p.native(other, s):
			lost = append(lost, s)
		default:
			p.Report(p.AboutLink(l, e, other, diag.Diagnostic{
				Severity: p.vlanSeverity(e, other, s),
				Summary:  fmt.Sprintf("%s is tagged on %s and untagged on its peer %s", p.vlanName(s), p.Name(e), p.Name(other)),
				Labels:   []diag.Label{p.AtPort(e, p.vlanAttr(e), ""), p.AtPort(other, schema.ANative, "other end")},
				Help:     "write untagged on both ends, or tagged on both",
			}))
		}
	}
	s := e.Port.Native
	if s == 0 || other.Port.Native != 0 || other.Device.Kind == fabric.Node && other.Port.VLANs == 0 || !p.enters(e, s) {
		return lost
	}
	if p.tags(other, s) && e.Device.Kind == other.Device.Kind {
		return lost // it is said of the other end
	}
	p.Report(p.AboutLink(l, e, other, diag.Diagnostic{
		Severity: p.vlanSeverity(e, other, s),
		Summary:  fmt.Sprintf("%s is untagged on %s, and its peer %s takes nothing untagged", p.vlanName(s), p.Name(e), p.Name(other)),
		Labels:   []diag.Label{p.AtPort(e, schema.ANative, ""), p.AtPort(other, schema.ANative, "other end")},
		Help:     "write untagged on the other end, or tagged on both",
	}))
	return lost
}

// missing reports the VLANs that one end of a link tags and the other lacks, at the
// end that differs from the ports of its role, else at the one that lacks them.
func (p *Pass) missing(l fabric.LinkID, e, lacks End, lost []fabric.SegmentID) {
	severity := diag.Warning
	names := make([]string, len(lost))
	for i, s := range lost {
		names[i] = p.vlanName(s)
		severity = min(severity, p.vlanSeverity(e, lacks, s))
	}
	are := "is"
	if len(lost) > 1 {
		are = "are"
	}
	summary := fmt.Sprintf("%s %s tagged on %s and missing on its peer %s", list(names), are, p.Name(e), p.Name(lacks))
	var instead []string
	for _, s := range p.tagged(lacks) {
		if !p.tags(e, s) && !p.native(e, s) {
			instead = append(instead, p.vlanName(s))
			severity = min(severity, p.vlanSeverity(e, lacks, s))
		}
	}
	if len(instead) > 0 {
		summary += ", which tags " + list(instead)
	}
	d := diag.Diagnostic{Severity: severity, Summary: summary, Help: "add the segment to tagged of the other end"}
	attr := schema.ASegments
	if lacks.Device.Kind == fabric.Node {
		attr = schema.ASegment
	}
	first, _, note := p.Deviant(e, lacks, p.vlansOf)
	d.Notes = noted(note)
	if note != "" && first.ID == e.ID {
		d.Labels = []diag.Label{p.AtPort(e, p.vlanAttr(e), ""), p.AtPort(lacks, attr, "other end")}
		d.Help = "write the segment that the other end has, or add this one there"
		p.Report(p.AboutLink(l, e, lacks, d))
		return
	}
	d.Labels = []diag.Label{p.AtPort(lacks, attr, ""), p.AtPort(e, p.vlanAttr(e), "other end")}
	d.Help = "add the segment to tagged of " + p.Name(lacks)
	p.Report(p.AboutLink(l, lacks, e, d))
}

// vlanAttr is the attribute that put a tagged VLAN on a port.
func (p *Pass) vlanAttr(e End) schema.Attr {
	if _, _, ok := p.Fabric.Origin(e.Port.Decl, e.Port.Layers, schema.ASegments); ok {
		return schema.ASegments
	}
	return schema.ASegment
}

// vlanSeverity: a VLAN without RDMA between ends without RDMA loses other traffic.
func (p *Pass) vlanSeverity(a, b End, s fabric.SegmentID) diag.Severity {
	if p.rdmaSegment(s) || p.RDMA(a) || p.RDMA(b) {
		return diag.Error
	}
	return diag.Warning
}

func (p *Pass) vlanName(s fabric.SegmentID) string {
	seg := &p.Fabric.Segments[s]
	return fmt.Sprintf("VLAN %d (%s)", seg.VLAN, p.Fabric.Text(seg.Name))
}

// tagged are the segments of the frames that a port tags, those of virtual functions
// among them.
func (p *Pass) tagged(e End) []fabric.SegmentID {
	set := p.Fabric.VLANSets[e.Port.VLANs]
	if s := p.vfSegment(e); s != 0 && !slices.Contains(set, s) {
		return append(slices.Clone(set), s)
	}
	return set
}

// vfSegment is the segment that the virtual functions of a NIC are in.
func (p *Pass) vfSegment(e End) fabric.SegmentID { return p.Fabric.NICs[e.Port.NIC].VFs.Segment }

// vlansOf shows the VLANs of a port, for a majority.
func (p *Pass) vlansOf(e End) string {
	var names []string
	for _, s := range p.tagged(e) {
		names = append(names, p.vlanName(s)+" tagged")
	}
	if e.Port.Native != 0 {
		names = append(names, p.vlanName(e.Port.Native)+" untagged")
	}
	if len(names) == 0 {
		return "no VLAN"
	}
	return list(names)
}

// enters reports whether frames of a VLAN can come to a port from its own device:
// what a switch has on one port alone nobody sends there.
func (p *Pass) enters(e End, s fabric.SegmentID) bool {
	f := p.Fabric
	if e.Device.Kind == fabric.Node || p.rdmaSegment(s) {
		return true
	}
	vlan := f.Segments[s].VLAN
	first, end := f.PortsOf(e.Port.Device)
	for id := first; id < end; id++ {
		if tagged, untagged := p.hasVLAN(p.End(id), vlan); id != e.ID && (tagged || untagged) {
			return true
		}
	}
	return slices.ContainsFunc(p.Facts.IfacesOf(e.Port.Device), func(i fabric.IfaceID) bool {
		return f.Ifaces[i].Kind == fabric.SVI && f.Segments[f.Ifaces[i].Segment].VLAN == vlan
	})
}
