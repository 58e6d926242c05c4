package lint

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var vlans = []*Rule{
	roce601, roce602, roce603, roce604, roce605, roce606, roce607, roce608, roce609, roce610, roce611, roce612, roce613, roce614,
	roce615, roce616, roce617, roce618, roce619, roce620, roce621, roce622, roce623, roce628,
}

// rdmaSegment reports whether a segment carries RDMA: its contract says so, or some
// NIC sends RDMA in it, wherever that is written.
func (p *Pass) rdmaSegment(s fabric.SegmentID) bool { return p.Fabric.Segments[s].RDMA != 0 }

// eachRDMA calls visit for each segment that carries RDMA.
func (p *Pass) eachRDMA(visit func(fabric.SegmentID)) {
	for s := fabric.SegmentID(1); int(s) < len(p.Fabric.Segments); s++ {
		if p.rdmaSegment(s) {
			visit(s)
		}
	}
}

var roce602 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE602", Name: "vlan_native", Severity: diag.Error,
		Title:      "the two ends of a link have different untagged VLANs",
		Why:        "untagged frames leave one VLAN and arrive in another: the two merge",
		Fix:        "align untagged",
		Steps:      "both ends in one step and out of band, as untagged frames are often the management",
		Interrupts: "untagged traffic of the link while its ends differ",
		Source:     "IEEE 802.1Q-2018, 6.9.1 (an untagged frame is in the VLAN of the port that receives it)",
		Bad:        twoNodesEdit(`switch "tor" {`, "segment \"other\" {\n  vlan = 200\n  qos = qos.roce\n}\nswitch \"tor\" {", "untagged = segment.storage", "untagged = segment.other"),
		Good:       twoNodes(``),
	},
	Run: vlanNative,
}

func vlanNative(p *Pass) {
	f := p.Fabric
	p.Links(func(l fabric.LinkID, a, b End) {
		na, nb := a.Port.Native, b.Port.Native
		if na == 0 || nb == 0 || f.Segments[na].VLAN == f.Segments[nb].VLAN {
			return
		}
		first, second, note := p.Deviant(a, b, func(e End) string { return fmt.Sprint(f.Segments[e.Port.Native].VLAN) })
		p.Report(p.AboutLink(l, first, second, diag.Diagnostic{
			Summary: fmt.Sprintf("untagged VLAN is %d on %s and %d on its peer %s: the VLANs merge", f.Segments[first.Port.Native].VLAN, p.Name(first), f.Segments[second.Port.Native].VLAN, p.Name(second)),
			Labels:  []diag.Label{p.AtPort(first, schema.ANative, ""), p.AtPort(second, schema.ANative, "other end")}, Help: "write one segment in untagged of both ends", Notes: noted(note),
		}))
	})
}

var roce603 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE603", Name: "vlan_untrusted", Severity: diag.Error, Hard: true,
		Title: "an untrusted port is reachable inside an RDMA VLAN",
		Why:   "RDMA has no authentication of its own: whoever is in the VLAN can read, write and pause",
		Fix:   "prune the VLAN, or put the port elsewhere",
		Source: "Rothenberger et al., ReDMArk: Bypassing RDMA Security Mechanisms, USENIX Security 2021; IEEE 802.1Qbb-2011 (PFC " +
			"has no authentication)",
		Bad:  leakyPair(`untagged = segment.office`) + given("office2"),
		Good: leakyPair(`untagged = segment.office2`),
	},
	Run: vlanUntrusted,
}

// leakyPair is two switches whose trunk merges an RDMA VLAN with the one that
// a node nobody trusts is in; port is said of that node's switch port.
func leakyPair(port string) string {
	return edit(twoNodes(``), `switch "tor" {`, `segment "office" {
  vlan = 10
}
segment "office2" {
  vlan = 20
}
switch "edge" {
  model = "nvidia/sn3700"
  os    = "sonic/202505"
  port "Ethernet0" {
    speed    = "100G"
    untagged = segment.office
    qos    = qos.roce
  }
  port "Ethernet4" {
    speed = "100G"
    `+port+`
  }
}
node "kiosk" {
  os      = "ubuntu/24.04"
  trusted = false
  nic "eth0" {
    model = "nvidia/connectx-6-dx"
    speed = "100G"
  }
}
link "kiosk" {
  ends  = [switch.edge.port["Ethernet4"], node.kiosk.nic["eth0"]]
  cable = { media = "dac", length = "3m" }
}
override {
  on      = link.trunk
  accept  = "vlan_native"
  reason  = "the two VLANs are joined on purpose in this example"
  expires = "2999-01-01"
}
link "trunk" {
  ends  = [switch.edge.port["Ethernet0"], switch.tor.port["Ethernet8"]]
  cable = { media = "dac", length = "3m" }
}
switch "tor" {
  port "Ethernet8" {
    speed    = "100G"
    untagged = segment.storage
  }`)
}

func vlanUntrusted(p *Pass) {
	f := p.Fabric
	p.eachRDMA(func(s fabric.SegmentID) {
		p.flood(s, nil, func(at place, e End, path []step) {
			hostile := p.hostile(e)
			if !hostile && len(path) == 0 {
				return // an external port that carries the segment itself is ROCE604 or 605
			}
			seg := &f.Segments[s]
			d := diag.Diagnostic{
				Summary: fmt.Sprintf("port %s is not trusted and reaches RDMA VLAN %d (%s) %s", p.Name(e), seg.VLAN, f.Text(seg.Name), p.via(path)), Address: f.PortAddress(e.ID),
				Labels: []diag.Label{p.AtPort(e, p.carriedBy(e, at.vlan), ""), f.DeclLabel(seg.Decl, "the RDMA VLAN")}, Help: "prune the VLAN, or put the port elsewhere",
			}
			if hostile {
				d.Labels = append(d.Labels, p.atTrusted(e))
			}
			p.Report(d)
		})
	})
}

func (p *Pass) carriedBy(e End, vlan uint16) schema.Attr {
	if _, untagged := p.hasVLAN(e, vlan); untagged {
		return schema.ANative
	}
	return schema.ASegments
}

var roce604 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE604", Name: "vlan_outside", Severity: diag.Error,
		Title:  "an RDMA VLAN leaves the fabric",
		Why:    "an uplink that allows the VLAN carries it to whoever is there",
		Fix:    "take the segment off the external port",
		Source: "Rothenberger et al., ReDMArk: Bypassing RDMA Security Mechanisms, USENIX Security 2021",
		Bad:    external(`tagged = segment.storage`),
		Good:   external(``),
	},
	Run: vlanOutside,
}

// external is twoNodes with an uplink out of the fabric; port is said of it.
func external(port string) string {
	return twoNodesEdit(`port "Ethernet4" {`, "port \"Ethernet8\" {\n    speed    = \"100G\"\n    external = true\n    "+port+"\n  }\n  port \"Ethernet4\" {")
}

func vlanOutside(p *Pass) {
	f := p.Fabric
	p.eachRDMA(func(s fabric.SegmentID) {
		p.flood(s, nil, func(at place, e End, path []step) {
			tagged, _ := p.hasVLAN(e, at.vlan)
			if e.Port.Flags&fabric.External == 0 || len(path) > 0 || !tagged {
				return // reached by other ways it is ROCE603, native it is ROCE605
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("RDMA VLAN %d (%s) leaves the fabric on %s", f.Segments[s].VLAN, f.Text(f.Segments[s].Name), p.Name(e)), Address: f.PortAddress(e.ID),
				Labels: []diag.Label{p.AtPort(e, schema.ASegments, ""), p.AtPort(e, schema.AExternal, "external")}, Help: "take the segment off the external port",
			})
		})
	})
}

var roce605 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE605", Name: "vlan_default", Severity: diag.Error,
		Title:      "an RDMA VLAN is VLAN 1, or untagged towards the outside",
		Why:        "VLAN 1 is everywhere by default, and an untagged VLAN takes in whatever comes untagged",
		Fix:        "use a dedicated tagged VLAN",
		Steps:      "the new VLAN beside the old one first, hosts next, then the old one off",
		Interrupts: "the hosts of a VLAN while they and their switch ports differ",
		Source:     "IEEE 802.1Q-2018, table 9-2 (VLAN 1 is the default of every port) and 6.9.1",
		Bad:        twoNodesEdit(`vlan   = 100`, `vlan   = 1`),
		Good:       twoNodes(``),
	},
	Run: vlanDefault,
}

func vlanDefault(p *Pass) {
	f := p.Fabric
	var outward []End // with a native VLAN
	for _, id := range p.outward() {
		if e := p.End(id); e.Port.Flags&fabric.External != 0 && e.Port.Native != 0 {
			outward = append(outward, e)
		}
	}
	p.eachRDMA(func(s fabric.SegmentID) {
		seg := &f.Segments[s]
		if seg.VLAN == 1 {
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("segment %s carries RDMA on VLAN 1, the default VLAN", f.Text(seg.Name)), Address: f.Text(seg.Address),
				Labels: []diag.Label{f.Label(seg.Decl, 0, schema.AVLAN, "")}, Help: "use a dedicated VLAN",
			})
		}
		for _, e := range outward {
			if e.Port.Native != s {
				continue
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("RDMA VLAN %d (%s) is untagged on %s, towards the outside", seg.VLAN, f.Text(seg.Name), p.Name(e)), Address: f.PortAddress(e.ID),
				Labels: []diag.Label{p.AtPort(e, schema.ANative, ""), p.AtPort(e, schema.AExternal, "external")}, Help: "take it off the port",
			})
		}
	})
}

var roce614 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE614", Name: "vlan_address", Severity: diag.Error,
		Title:  "an address is used twice, or subnets of a node overlap",
		Why:    "two hosts with one address answer for each other; overlapping subnets send traffic out of the wrong NIC",
		Fix:    "renumber",
		Source: "RFC 5227 (two hosts with one IPv4 address); RFC 1122, 3.3.4.1 (a host with several addresses)",
		Bad:    twoNodesEdit(`n2 = 2 }`, `n2 = 1 }`),
		Good:   twoNodes(``),
	},
	Run: addressTwice,
}

func addressTwice(p *Pass) {
	f := p.Fabric
	type key struct {
		vrf  fabric.Str
		addr netip.Addr
	}
	used := map[key]fabric.IfaceID{}
	var used4 map[uint64]fabric.IfaceID // the same of IPv4, which is most
	if keys := p.keys4(); twice(keys) {
		used4 = make(map[uint64]fabric.IfaceID, len(keys))
	}
	for id := 1; id < len(f.Ifaces); id++ {
		iface := &f.Ifaces[id]
		gateway := f.Gateway(iface)
		for _, a := range f.Addresses(iface) {
			if a.Addr() == gateway {
				p.ownGateway(fabric.IfaceID(id))
			}
			if a.Addr().IsLinkLocalUnicast() {
				continue // good on one link only, and free to be the same on others
			}
			var other fabric.IfaceID
			switch is4 := a.Addr().Is4(); {
			case is4 && used4 == nil:
				continue // none is used twice
			case is4:
				k := key4(iface.VRF, a.Addr())
				other, used4[k] = used4[k], fabric.IfaceID(id)
			default:
				k := key{iface.VRF, a.Addr()}
				other, used[k] = used[k], fabric.IfaceID(id)
			}
			if other != 0 {
				first, second := p.sharers(other, fabric.IfaceID(id))
				p.Report(diag.Diagnostic{
					Summary: fmt.Sprintf("%s is used by %s and %s", a.Addr(), p.ifaceName(first), p.ifaceName(second)), Address: f.IfaceAddress(first),
					Concerns: []string{f.IfaceAddress(second)},
					Labels:   p.atAddresses(first, second), Help: p.sharedAddressHelp(&f.Ifaces[other], iface),
				})
			}
		}
	}
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		p.overlaps(p.Facts.IfacesOf(d))
	}
}

// sharedAddressHelp is what to do about two interfaces with one address: that of
// a node follows from its slot mostly, and is the same on two NICs of a subnet.
func (p *Pass) sharedAddressHelp(a, b *fabric.Iface) string {
	switch {
	case p.Fabric.Devices[a.Device].Kind != fabric.Node || p.Fabric.Devices[b.Device].Kind != fabric.Node:
		return "write another address on one of them"
	case a.Device == b.Device:
		return "give each a segment or subnet of its own, or write another address on one of them"
	}
	return "give each node a slot of its own, or write another address on one of them"
}

// ownGateway reports a host that has the address of its router.
func (p *Pass) ownGateway(id fabric.IfaceID) {
	iface := &p.Fabric.Ifaces[id]
	if p.Fabric.Devices[iface.Device].Kind != fabric.Node {
		return
	}
	p.Report(diag.Diagnostic{
		Summary: fmt.Sprintf("%s is the address of %s and of its gateway", p.Fabric.Gateway(iface), p.ifaceName(id)), Address: p.Fabric.IfaceAddress(id),
		Labels: []diag.Label{p.atAddress(id, ""), p.atGateway(id, "its gateway")}, Help: "give the node another slot, or write another address or gateway",
	})
}

// atGateway is where the gateway of an interface stands: with it, else in its segment.
func (p *Pass) atGateway(id fabric.IfaceID, text string) diag.Label {
	f := p.Fabric
	iface := &f.Ifaces[id]
	if _, _, written := f.Origin(iface.Decl, iface.Layers, schema.AGateway); !written && f.Segments[iface.Segment].Gateway.IsValid() {
		return f.Label(f.Segments[iface.Segment].Decl, 0, schema.AGateway, text)
	}
	return f.Label(iface.Decl, iface.Layers, schema.AGateway, text)
}

// key4 is an IPv4 address in a VRF.
func key4(vrf fabric.Str, a netip.Addr) uint64 {
	b := a.As4()
	return uint64(vrf)<<32 | uint64(binary.BigEndian.Uint32(b[:]))
}

// keys4 are all IPv4 addresses of interfaces.
func (p *Pass) keys4() []uint64 {
	keys := make([]uint64, 0, len(p.Fabric.Ifaces))
	for i := range p.Fabric.Ifaces {
		for _, a := range p.Fabric.Addresses(&p.Fabric.Ifaces[i]) {
			if a.Addr().Is4() && !a.Addr().IsLinkLocalUnicast() {
				keys = append(keys, key4(p.Fabric.Ifaces[i].VRF, a.Addr()))
			}
		}
	}
	return keys
}

// twice reports whether a key is in a list twice, and sorts the list.
func twice(keys []uint64) bool {
	slices.Sort(keys)
	for i := 1; i < len(keys); i++ {
		if keys[i] == keys[i-1] {
			return true
		}
	}
	return false
}

// subnet is where an interface of a device is at home.
type subnet struct {
	vrf    fabric.Str
	prefix netip.Prefix // masked
	iface  fabric.IfaceID
}

// overlaps reports subnets of one device of which one lies within another. In
// order of address and length, those around a subnet are the last ones met that
// still hold it.
func (p *Pass) overlaps(ifaces []fabric.IfaceID) {
	f := p.Fabric
	if p.disjoint(ifaces) {
		return
	}
	p.subnets = p.subnets[:0]
	for _, id := range ifaces {
		for _, a := range f.Addresses(&f.Ifaces[id]) {
			if !a.Addr().IsLinkLocalUnicast() {
				p.subnets = append(p.subnets, subnet{f.Ifaces[id].VRF, a.Masked(), id})
			}
		}
	}
	if len(p.subnets) < 2 {
		return
	}
	slices.SortFunc(p.subnets, func(a, b subnet) int {
		return cmp.Or(cmp.Compare(a.vrf, b.vrf), a.prefix.Addr().Compare(b.prefix.Addr()), cmp.Compare(a.prefix.Bits(), b.prefix.Bits()), cmp.Compare(a.iface, b.iface))
	})
	var around []subnet
	for _, s := range p.subnets {
		for n := len(around); n > 0 && (around[n-1].vrf != s.vrf || !around[n-1].prefix.Overlaps(s.prefix)); n-- {
			around = around[:n-1]
		}
		if n := len(around); n > 0 && around[n-1].prefix != s.prefix && around[n-1].iface != s.iface {
			p.overlap(max(s.iface, around[n-1].iface), min(s.iface, around[n-1].iface), s.prefix, around[n-1].prefix)
		}
		if n := len(around); n == 0 || around[n-1].prefix != s.prefix {
			around = append(around, s)
		}
	}
}

// disjoint reports whether subnets are all of IPv4 and none of them meets the next
// one: of most devices that is all there is to know, and numbers sort faster than
// prefixes.
func (p *Pass) disjoint(ifaces []fabric.IfaceID) bool {
	p.homes = p.homes[:0]
	for _, id := range ifaces {
		for _, a := range p.Fabric.Addresses(&p.Fabric.Ifaces[id]) {
			if a.Addr().IsLinkLocalUnicast() {
				continue
			}
			if !a.Addr().Is4() || p.Fabric.Ifaces[id].VRF > 1<<26-1 {
				return false
			}
			// The first address of the subnet, and the bits behind the prefix: 0 to 32.
			free := uint64(32 - a.Bits())
			p.homes = append(p.homes, key4(p.Fabric.Ifaces[id].VRF, a.Addr())>>free<<free<<6|free)
		}
	}
	slices.Sort(p.homes)
	for i := 1; i < len(p.homes); i++ {
		before := p.homes[i-1]
		if p.homes[i]>>6 < before>>6+1<<(before&63) {
			return false
		}
	}
	return true
}

func (p *Pass) overlap(a, b fabric.IfaceID, inner, outer netip.Prefix) {
	f := p.Fabric
	p.Report(diag.Diagnostic{
		Summary: fmt.Sprintf("%s of %s and %s overlap: %s lies in %s", f.Text(f.Ifaces[a].Name), f.Text(f.Devices[f.Ifaces[a].Device].Name), f.Text(f.Ifaces[b].Name), inner, outer), Address: f.IfaceAddress(a),
		Concerns: []string{f.IfaceAddress(b)}, Labels: []diag.Label{p.atSubnet(a, ""), p.atSubnet(b, "the other")}, Help: "renumber one of them",
	})
}

// ifaceName is an interface as messages name it, like a port.
func (p *Pass) ifaceName(id fabric.IfaceID) string {
	iface := &p.Fabric.Ifaces[id]
	return p.Fabric.Text(p.Fabric.Devices[iface.Device].Name) + "/" + p.Fabric.Text(iface.Name)
}

var roce615 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE615", Name: "secret_literal", Severity: diag.Error, Hard: true,
		Title:  "a secret stands in the source",
		Why:    "the source, the artifacts and the record are read by many and kept for ever",
		Fix:    "name where the secret is kept instead of writing it",
		Source: "CWE-798, Use of Hard-coded Credentials",
		Bad:    twoNodes(``) + "target \"linux\" {\n  options = { password = \"hunter2\" }\n}\n",
		Good:   twoNodes(``),
	},
	Run: secretLiteral,
}

func secretLiteral(p *Pass) {
	f := p.Fabric
	for i := range f.Selections {
		for _, o := range f.Selections[i].Options {
			name := strings.ToLower(f.Text(o.Name))
			if !slices.ContainsFunc([]string{"password", "passwd", "secret", "token", "private_key", "community", "psk"}, func(w string) bool { return strings.Contains(name, w) }) || f.Text(o.Value) == "" {
				continue
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("option %s of target %s holds a secret, written out", f.Text(o.Name), f.Text(f.Selections[i].Emitter)),
				Labels:  []diag.Label{{Span: o.Span, Where: f.Where(f.Selections[i].Decl)}}, Help: "take it out: no emitter needs a secret",
			})
		}
	}
}

var roce617 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE617", Name: "vlan_twice", Severity: diag.Error,
		Title:  "a VLAN has two segments on a device or at the two ends of a link",
		Why:    "two names for one VLAN are one broadcast domain: what was meant to be apart is together",
		Fix:    "give each segment its own VLAN",
		Source: "IEEE 802.1Q-2018, 3.274 and 9.6 (a VLAN is known by its identifier alone)",
		Bad:    twoNodesEdit(`switch "tor" {`, "segment \"other\" {\n  vlan = 100\n  qos = qos.roce\n}\nswitch \"tor\" {", "untagged = segment.storage\n    \n  }\n  port", "untagged = segment.storage\n  }\n  port", "untagged = segment.storage", "untagged = segment.other"),
		Good:   twoNodes(``),
	},
	Run: vlanTwice,
}

func vlanTwice(p *Pass) {
	f := p.Fabric
	reported := map[[2]fabric.SegmentID]bool{}
	on := map[uint16]fabric.SegmentID{} // of one device
	meet := func(d fabric.DeviceID, s fabric.SegmentID) {
		vlan := f.Segments[s].VLAN
		other, taken := on[vlan]
		on[vlan] = s
		pair := [2]fabric.SegmentID{min(s, other), max(s, other)}
		if !taken || other == s || reported[pair] {
			return
		}
		reported[pair] = true
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("VLAN %d is segment %s and segment %s, and %s carries both", vlan, f.Text(f.Segments[other].Name), f.Text(f.Segments[s].Name), f.Text(f.Devices[d].Name)),
			Address: f.Text(f.Segments[s].Address), Concerns: []string{f.Text(f.Segments[other].Address)},
			Labels: []diag.Label{f.Label(f.Segments[s].Decl, 0, schema.AVLAN, ""), f.Label(f.Segments[other].Decl, 0, schema.AVLAN, "the other")}, Help: "give each segment its own VLAN",
		})
	}
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		clear(on)
		var set fabric.VLANSetID
		var native fabric.SegmentID // those of the port before, which most ports share
		first, end := f.PortsOf(d)
		for id := first; id < end; id++ {
			if port := &f.Ports[id]; port.VLANs != set {
				set = port.VLANs
				for _, s := range f.VLANSets[set] {
					meet(d, s)
				}
			}
			if port := &f.Ports[id]; port.Native != native && port.Native != 0 {
				native = port.Native
				meet(d, native)
			}
		}
	}
	p.Links(func(l fabric.LinkID, a, b End) {
		if a.Port.VLANs != b.Port.VLANs {
			for _, s := range f.VLANSets[a.Port.VLANs] {
				for _, o := range f.VLANSets[b.Port.VLANs] {
					p.joined(l, a, b, s, o, reported)
				}
			}
		}
		p.joined(l, a, b, a.Port.Native, b.Port.Native, reported)
	})
}

// joined reports a VLAN that is one segment at one end of a link and another at
// the other, once for two segments.
func (p *Pass) joined(l fabric.LinkID, a, b End, s, o fabric.SegmentID, reported map[[2]fabric.SegmentID]bool) {
	f := p.Fabric
	pair := [2]fabric.SegmentID{min(s, o), max(s, o)}
	if s == o || s == 0 || o == 0 || f.Segments[s].VLAN != f.Segments[o].VLAN || reported[pair] {
		return
	}
	reported[pair] = true
	p.Report(p.AboutLink(l, a, b, diag.Diagnostic{
		Summary: fmt.Sprintf("VLAN %d is segment %s on %s and segment %s on its peer %s", f.Segments[s].VLAN, f.Text(f.Segments[s].Name), p.Name(a), f.Text(f.Segments[o].Name), p.Name(b)),
		Labels:  []diag.Label{f.Label(f.Segments[s].Decl, 0, schema.AVLAN, ""), f.Label(f.Segments[o].Decl, 0, schema.AVLAN, "the other"), f.LinkLabel(l, schema.AEnds, "the link")}, Help: "give each segment its own VLAN",
	}))
}
