package lint

import (
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on VLANs that is about layer 3: whether addresses fit what
// is around them. compiler/resolve has found those that do not.

var roce620 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE620", Name: "address_outside_segment", Severity: diag.Error,
		Title:  "an address is outside the subnet of its segment, or has another mask",
		Why:    "who has an address of another subnet takes everyone in its VLAN for a stranger: RDMA-CM finds no route, and nobody answers it",
		Fix:    "write an address of the segment's subnet with its mask; further addresses beside it may be of other subnets",
		Source: "RFC 1122, 3.3.1.1",
		Bad:    addressed(`"10.101.0.12/24"`),
		Good:   addressed(`"10.100.0.12/24"`),
	},
	Run: func(p *Pass) {
		p.misaddressed(func(m *fabric.Misaddressed, d *diag.Diagnostic) bool {
			seg := &p.Fabric.Segments[m.Segment]
			d.Concerns = []string{p.Fabric.Text(seg.Address)}
			d.Labels = append(d.Labels, p.Fabric.Label(seg.Decl, 0, schema.ASubnet, "the subnet"))
			d.Help = "write an address of the subnet with its mask, or put the interface into another segment"
			return m.Fault == fabric.OutsideSegment || m.Fault == fabric.OtherMask
		})
	},
}

// addressed is twoNodes with a written address on the second node.
func addressed(address string) string {
	return twoNodesEdit("untagged = segment.storage\n  }\n}\nlink",
		"untagged = segment.storage\n    address = self.name == \"n2\" ? ["+address+"] : [\"10.100.0.11/24\"]\n  }\n}\nlink")
}

var roce621 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE621", Name: "link_subnets", Severity: diag.Error,
		Title:  "the two ends of a routed cable are in different subnets",
		Why:    "ends that are no neighbours to each other exchange no routes and no packets: the cable is up and carries nothing",
		Fix:    "write the other address of the same /31 or /127; leave the addresses out at both ends where routing is unnumbered",
		Source: "RFC 1122 section 3.3.1.1, RFC 2328 section 10.5, RFC 3021",
		Bad:    routedHost("10.99.0.3/31"),
		Good:   routedHost("10.99.0.1/31"),
	},
	Run: func(p *Pass) {
		f := p.Fabric
		p.misaddressed(func(m *fabric.Misaddressed, d *diag.Diagnostic) bool {
			switch m.Fault {
			case fabric.LinkSubnets, fabric.LinkMasks:
				d.Concerns = []string{f.IfaceAddress(m.Other)}
				d.Labels = append(d.Labels, p.atHome(m.Other, "the other end"))
				d.Help = "write two addresses of one subnet, with one mask"
			case fabric.OneEnd:
				peer := f.Ports[f.Ifaces[m.Iface].On].Peer
				d.Severity, d.Concerns = diag.Warning, []string{f.PortAddress(peer)}
				d.Labels = append(d.Labels, f.DeclLabel(f.Ports[peer].Decl, "the other end"))
				d.Help = "write the other address of the subnet there, or leave this one out where routing is unnumbered"
			default:
				return false
			}
			link := f.Ports[f.PortsBelow(&f.Ifaces[m.Iface])[0]].Link
			d.Concerns = append(d.Concerns, f.LinkAddress(link))
			d.Labels = append(d.Labels, f.LinkLabel(link, schema.AEnds, "the cable"))
			return true
		})
	},
}

// routedHost is twoNodes without a segment: each node on a routed port; address is
// that of the first.
func routedHost(address string) string {
	return twoNodesEdit("segment \"storage\" {", "segment \"unused\" {", "  port \"Ethernet0\" {", "  qos = qos.roce\n  port \"Ethernet0\" {",
		"untagged = segment.storage", "address = \"10.99.0.0/31\"\n    mtu = 9000",
		"untagged = segment.storage", "address = \"10.99.0.4/31\"\n    mtu = 9000", "untagged = segment.storage",
		"qos = qos.roce\n    mtu = 9000\n    address = each.value == 1 ? \""+address+"\" : \"10.99.0.5/31\"") + given("unused")
}

var roce622 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE622", Name: "gateway_nowhere", Severity: diag.Error,
		Title: "the gateway of a segment or host is the address of no device",
		Why: "what hosts send to other subnets goes to an address that nobody answers for; " +
			"a warning where the source has no router in the segment at all",
		Fix: "write the address that the switch has, add the interface of the switch that routes " +
			"(`interface \"gateway\" { on = segment.x, address = [...] }`), or write " +
			"external_gateway = true on the segment or NIC where the router is a device that the source does not have",
		Source: "RFC 1122, 3.3.1.2",
		Bad:    routedSegment("10.100.0.2/24", ""),
		Good:   routedSegment("10.100.0.2/24", "external_gateway = true"),
	},
	Run: func(p *Pass) {
		f := p.Fabric
		p.misaddressed(func(m *fabric.Misaddressed, d *diag.Diagnostic) bool {
			at, own := p.onPort(&f.Ifaces[m.Iface], "", schema.AGateway)
			if !own {
				at = p.atGateway(m.Iface, "")
			}
			d.Labels = []diag.Label{at}
			if m.Segment != 0 && f.Segments[m.Segment].Gateway == m.Address.Addr() {
				d.Address, d.Concerns = f.Text(f.Segments[m.Segment].Address), []string{f.IfaceAddress(m.Iface)}
			}
			if m.Other != 0 {
				d.Concerns = append(d.Concerns, f.IfaceAddress(m.Other))
				d.Labels = append(d.Labels, p.atHome(m.Other, f.IfaceName(m.Other)+" routes"))
			}
			d.Help = "write the address of the router, give it an interface there, " +
				"or write external_gateway = true where the source does not have the router"
			if m.Fault == fabric.GatewayUnknown {
				d.Severity = diag.Warning
			}
			return m.Fault == fabric.GatewayUnknown || m.Fault == fabric.GatewayMistaken
		})
	},
}

// routing is the interface of a switch in the segment of twoNodes.
func routing(address string) string {
	return "  interface \"gateway\" {\n    on = segment.storage\n    address = \"" + address + "\"\n  }\n"
}

// routedSegment is twoNodes with a gateway and a switch that routes.
func routedSegment(address, segment string) string {
	return twoNodesEdit("  subnet = \"10.100.0.0/24\"", "  subnet = \"10.100.0.0/24\"\n  gateway = \"10.100.0.1\"\n  "+segment,
		"  port \"Ethernet0\" {", routing(address)+"  port \"Ethernet0\" {")
}

var roce623 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE623", Name: "segment_subnets", Severity: diag.Error,
		Title:  "hosts of a segment are in another subnet than their router, or than each other",
		Why:    "who is in another subnet than its router and everyone around it is reached by nobody",
		Fix:    "write an address of the subnet of the others; write the subnet on the segment, so that addresses follow from slots",
		Source: "RFC 1122, 3.3.1.1",
		Bad:    unwritten("10.101.0.12/24"),
		Good:   unwritten("10.100.0.12/24"),
	},
	Run: func(p *Pass) {
		p.misaddressed(func(m *fabric.Misaddressed, d *diag.Diagnostic) bool {
			switch m.Fault {
			case fabric.OutsideRouter:
				d.Labels = append(d.Labels, p.atHome(m.Other, "the router"))
			case fabric.AloneInSegment:
				d.Severity = diag.Warning
				d.Labels = append(d.Labels, p.atHome(m.Other, "one of the others"))
			default:
				return false
			}
			d.Concerns = []string{p.Fabric.IfaceAddress(m.Other), p.Fabric.Text(p.Fabric.Segments[m.Segment].Address)}
			d.Help = "write an address of the subnet of the others, or put the interface into a segment of its own"
			return true
		})
	},
}

// unwritten is a segment without a subnet: the switch and two nodes write their addresses.
func unwritten(address string) string {
	return edit(addressed(`"`+address+`"`), "  subnet = \"10.100.0.0/24\"\n", "",
		"  port \"Ethernet0\" {", routing("10.100.0.1/24")+"  port \"Ethernet0\" {")
}

// misaddressed reports what a rule says of the addresses that do not fit.
func (p *Pass) misaddressed(says func(m *fabric.Misaddressed, d *diag.Diagnostic) bool) {
	f := p.Fabric
	for i := range f.Misaddressed {
		m := &f.Misaddressed[i]
		d := diag.Diagnostic{Summary: f.MisaddressedText(m), Address: f.IfaceAddress(m.Iface), Labels: []diag.Label{p.atHome(m.Iface, "")}}
		if says(m, &d) {
			p.Report(d)
		}
	}
}

// atHome points at the address of an interface where it is written, by an exception
// too, else at what it follows from: a subnet and the slot.
func (p *Pass) atHome(id fabric.IfaceID, text string) diag.Label {
	f := p.Fabric
	iface := &f.Ifaces[id]
	if l, ok := p.onPort(iface, text, schema.AAddress, schema.ASubnet); ok {
		return l
	}
	_, _, written := f.Origin(iface.Decl, 0, schema.AAddress)
	if at, by, ok := f.Origin(iface.Decl, 0, schema.ASubnet); ok && !written {
		return diag.Label{Span: at, Where: f.Where(by), Text: text}
	}
	return p.atAddress(id, text)
}

// onPort points at the first of some attributes that is written of an interface with
// the port that it is on, be it by an exception.
func (p *Pass) onPort(iface *fabric.Iface, text string, attrs ...schema.Attr) (diag.Label, bool) {
	f := p.Fabric
	if iface.On == 0 || iface.Decl != f.Ports[iface.On].Decl && !f.Decls[iface.Decl].Tier {
		return diag.Label{}, false
	}
	for _, n := range attrs {
		if l, ok := f.PortOrigin(iface.On, n); ok {
			l.Text = text
			return l, true
		}
	}
	return diag.Label{}, false
}
