package lint

import (
	"fmt"
	"net/netip"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var pathRules = []*Rule{
	roce801, roce802, roce803, roce804, roce805, roce806, roce807, roce808, roce809, roce810, roce811, roce812,
	roce813, roce814, roce815, roce816, roce817, roce818, roce819, roce820, roce821, roce822, roce823, roce824, roce825,
	roce826, roce827, roce830, roce831, roce832, roce833, roce835, roce836, roce837,
}

var roce806 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE806", Name: "path_mtu", Severity: diag.Error,
		Title:      "MTUs differ where they must agree, or a bridged port takes less than its host sends",
		Why:        "a frame that is too large for one hop is dropped there without a word: small messages work, large ones hang",
		Fix:        "write the MTU once, on the segment",
		Steps:      "switches first and hosts last for a larger MTU, hosts first for a smaller one",
		Interrupts: "each NIC whose MTU changes, until its driver has opened its queues anew",
		Source: "RFC 1191, section 1 (a frame above the MTU of a hop is dropped); RFC 4821, section 1 (without a word where ICMP " +
			"is filtered, and by a bridge always)",
		Bad:  twoNodesEdit(`model    = "nvidia/connectx-6-dx"`, `model    = "nvidia/connectx-6-dx"`+"\n    mtu      = self.slot == 1 ? 9000 : 4200"),
		Good: twoNodes(``),
	},
	Run: pathMTU,
}

func pathMTU(p *Pass) {
	f := p.Fabric
	p.Links(func(l fabric.LinkID, a, b End) {
		if a.Port.MTU == b.Port.MTU || a.Port.MTU == 0 || b.Port.MTU == 0 {
			return
		}
		if a.Device.Kind == fabric.Node && b.Device.Kind == fabric.Switch {
			a, b = b, a
		}
		bridged := a.Device.Kind == fabric.Switch && b.Device.Kind == fabric.Node && a.Port.Flags&fabric.RoutedPort == 0
		if bridged && a.Port.MTU >= b.Port.MTU {
			p.overruled(l, a, b)
			return // a bridged port only has to accept what its host sends
		}
		first, second, note := p.Deviant(a, b, func(e End) string { return fmt.Sprint(e.Port.MTU) })
		p.Report(p.AboutLink(l, first, second, diag.Diagnostic{
			Summary: fmt.Sprintf("MTU is %d on %s and %d on its peer %s", first.Port.MTU, p.Name(first), second.Port.MTU, p.Name(second)),
			Labels:  []diag.Label{p.atMTU(first, ""), p.atMTU(second, "other end")}, Help: "align them; an MTU is best written once, on the segment", Notes: noted(note),
		}))
	})
	p.deviceMTUs()
	p.hostMTUs(f)
	crossedMTU(p)
}

// overruled reports an MTU that is written on a bridged port and less than its host
// sends: the port takes more, as what is written there is a floor.
func (p *Pass) overruled(l fabric.LinkID, e, host End) {
	f := p.Fabric
	by, height, written := f.Height(e.Port.Decl, e.Port.Layers, schema.AMTU)
	if !written || height != fabric.AtItself || by == e.Device.Decl || f.Decls[by].Tier || e.Port.MTUFloor >= host.Port.MTU {
		return
	}
	at, _ := f.Spans.Find(by, schema.AMTU)
	p.Report(p.AboutLink(l, e, host, diag.Diagnostic{
		Severity: diag.Warning, Summary: fmt.Sprintf("mtu %d of %s does not hold: the port takes %d, and its peer %s sends %d", e.Port.MTUFloor, p.Name(e), e.Port.MTU, p.Name(host), host.Port.MTU),
		Labels: []diag.Label{{Span: at, Where: f.Where(by)}, p.AtPort(host, schema.AMTU, "other end")},
		Notes:  []string{"on a bridged switch port mtu is a floor"}, Help: "leave it out, or write the MTU once, on the segment",
	}))
}

// hostMTUs compares the hosts of one segment.
func (p *Pass) hostMTUs(f *fabric.Fabric) {
	type tally struct {
		mtu    uint16
		ifaces []fabric.IfaceID
	}
	on := map[fabric.SegmentID][]tally{}
	for id := 1; id < len(f.Ifaces); id++ {
		iface := &f.Ifaces[id]
		if iface.Segment == 0 || f.Devices[iface.Device].Kind != fabric.Node || !p.rdmaSegment(iface.Segment) {
			continue
		}
		mtu := iface.MTU
		if mtu == 0 && iface.On != 0 {
			mtu = f.Ports[iface.On].MTU
		}
		if mtu == 0 {
			continue
		}
		found := false
		for i := range on[iface.Segment] {
			if t := &on[iface.Segment][i]; t.mtu == mtu {
				t.ifaces = append(t.ifaces, fabric.IfaceID(id))
				found = true
			}
		}
		if !found {
			on[iface.Segment] = append(on[iface.Segment], tally{mtu, []fabric.IfaceID{fabric.IfaceID(id)}})
		}
	}
	for s := fabric.SegmentID(1); int(s) < len(f.Segments); s++ {
		t := on[s]
		if len(t) < 2 {
			continue
		}
		most := t[0]
		for _, x := range t {
			if len(x.ifaces) > len(most.ifaces) {
				most = x
			}
		}
		for _, x := range t {
			if x.mtu == most.mtu {
				continue
			}
			for _, iface := range x.ifaces {
				p.Report(diag.Diagnostic{
					Summary: fmt.Sprintf("MTU is %d on %s and %d on %s, both in segment %s", x.mtu, p.ifaceName(iface), most.mtu, p.ifaceName(most.ifaces[0]), f.Text(f.Segments[s].Name)),
					Address: f.IfaceAddress(iface), Concerns: []string{f.IfaceAddress(most.ifaces[0]), f.Text(f.Segments[s].Address)},
					Labels: p.atIfaceMTUs(iface, most.ifaces[0], haveThis(len(most.ifaces))), Help: "write the MTU once, on the segment",
				})
			}
		}
	}
}

func haveThis(n int) string {
	if n == 1 {
		return "the other"
	}
	return fmt.Sprintf("%d others have this", n)
}

// atIfaceMTUs are labels at the MTUs of two interfaces of a segment. One line may write it for the one and leave it to the segment for the other.
func (p *Pass) atIfaceMTUs(a, b fabric.IfaceID, text string) []diag.Label {
	x, y := p.atIfaceMTU(a, ""), p.atIfaceMTU(b, text)
	if seg := &p.Fabric.Segments[p.Fabric.Ifaces[b].Segment]; x.Span == y.Span && seg.MTU != 0 && p.Fabric.Ifaces[b].MTU == seg.MTU {
		y = p.Fabric.Label(seg.Decl, seg.Layers, schema.AMTU, text)
	}
	return []diag.Label{x, y}
}

func (p *Pass) atIfaceMTU(id fabric.IfaceID, text string) diag.Label {
	f := p.Fabric
	iface := &f.Ifaces[id]
	if iface.On != 0 {
		return f.PortLabel(iface.On, schema.AMTU, text)
	}
	return f.Label(iface.Decl, iface.Layers, schema.AMTU, text)
}

var roce807 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE807", Name: "mtu_class", Severity: diag.Error, Hard: true,
		Title:      "a port does not carry the RDMA MTU that its classes ask for",
		Why:        "RDMA does not fragment: a path MTU of 4096 on a 1500 byte port connects and then fails at the first large message",
		Fix:        "raise the MTU, or ask for a smaller rdma_mtu",
		Steps:      "switches first and hosts last for a larger MTU, hosts first for a smaller one",
		Interrupts: "each NIC whose MTU changes, until its driver has opened its queues anew",
		Formula:    "MTU of the port >= RDMA MTU + 12 BTH + 16 RETH + 4 ICRC + 8 UDP + 20 IPv4 or 40 IPv6 (B), + 50 B in VXLAN",
		Source:     "InfiniBand Architecture Specification, 9.2 and Annex A17 (headers of RoCEv2); tensorflow/tensorflow #9432",
		Bad:        twoNodesEdit(`ecn       = "auto"`, "ecn       = \"auto\"\n    rdma_mtu  = \"4096\"", "mtu      = 9000", "mtu      = 2200"),
		Good:       twoNodesEdit(`ecn       = "auto"`, "ecn       = \"auto\"\n    rdma_mtu  = \"4096\""),
	},
	Run: classMTU,
}

func classMTU(p *Pass) {
	f := p.Fabric
	for id := 1; id < len(f.Ports); id++ {
		e := p.End(fabric.PortID(id))
		if e.Port.Profile == 0 || e.Port.MTU == 0 || e.Port.Link == 0 {
			continue
		}
		x := p.Facts.Port(e.ID)
		if x.NeedMTU <= e.Port.MTU {
			continue
		}
		c := &f.QoS[e.Profile.QoS].Classes[x.NeedClass]
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("MTU %d of %s is below the %d that class %s needs for RDMA MTU %d", e.Port.MTU, p.Name(e), x.NeedMTU, f.Text(c.Name), c.RDMAMTU), Address: f.PortAddress(e.ID),
			Labels: []diag.Label{p.AtPort(e, schema.AMTU, ""), f.Label(c.Decl, 0, schema.ARDMAMTU, "the class")}, Help: raise(e, c, x.NeedMTU),
		})
	}
}

// raise says how large an MTU has to be. A Linux host counts 96 bytes of headers
// before it picks an RDMA MTU, more than are ever on the wire.
func raise(e End, c *fabric.Class, need uint16) string {
	if e.Device.Kind == fabric.Node {
		need = max(need, c.RDMAMTU+96)
	}
	help := fmt.Sprintf("raise it to %d or more", need)
	switch c.RDMAMTU {
	case 4096:
		help += "; 4200 is usual"
	case 2048:
		help += "; 2200 is usual"
	}
	return help
}

var roce811 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE811", Name: "host_subnet_twice", Severity: diag.Error,
		Title: "two NICs of a node are in one subnet, and nothing tells the host how to keep them apart",
		Why: "Linux answers ARP for any of its addresses on any NIC and sends out of the first: one NIC carries the load of all. Where rocec writes the host, each NIC " +
			"has a table, a rule and ARP answers of its own, and one subnet does no harm. " +
			"Windows uses all NICs of a subnet by itself while they are on one switch: over two, the subnet has no second path when the cable between them fails",
		Fix: "one subnet per rail, or let rocec write the host",
		Source: "NVIDIA/nccl #1109, #1269; torvalds/linux Documentation/networking/ip-sysctl.rst, arp_ignore and arp_filter; " +
			"Microsoft, Simplified SMB Multichannel and Multi-NIC Cluster Networks; Azure Local physical network " +
			"requirements",
		Bad:  twoRails(`segment.storage`, `verify`, ``) + given("storage2"),
		Good: twoRails(`segment.storage2`, `verify`, onStorage("Ethernet[16-20:4]", `segment.storage`)) + sameSubnet,
	},
	Run: subnetTwice,
}

// onStorage is more ports of tor in a segment.
func onStorage(name, segment string) string {
	return "  port \"" + name + "\" {\n    speed    = \"100G\"\n    untagged = " + segment + "\n  }\n"
}

// twoRails is a host with two NICs; the second is in segment, manage says who writes
// the host, and more are further ports of tor.
func twoRails(segment, manage, more string) string {
	ports := onStorage("Ethernet8", "segment.storage") + onStorage("Ethernet12", segment) + more
	return edit(twoNodes(``), `  port "Ethernet4" {`, ports+`  port "Ethernet4" {`, `node "n" {`, `segment "storage2" {
  vlan   = 101
  subnet = "10.101.0.0/24"
  qos    = qos.roce
  mtu      = 9000
}
node "r" {
  os     = "ubuntu/24.04"
  role   = "bench"
  manage = "`+manage+`"
  slot   = 9
  nic "rail0" {
    model    = "nvidia/connectx-6-dx"
    speed    = "100G"
    untagged = segment.storage
  }
  nic "rail1" {
    model   = "nvidia/connectx-6-dx"
    speed   = "100G"
    untagged = `+segment+`
    address = `+segment+` == segment.storage ? "10.100.0.99/24" : "10.101.0.99/24"
  }
}
node "n" {`) + cabled("r", `rail0 = "Ethernet8", rail1 = "Ethernet12"`)
}

// sameSubnet is a host that rocec writes, with two NICs in one subnet.
var sameSubnet = `
node "own" {
  os   = "ubuntu/24.04"
  role = "bench"
  slot = 10
  nic "rail0" {
    model    = "nvidia/connectx-6-dx"
    speed    = "100G"
    untagged = segment.storage
  }
  nic "rail1" {
    model    = "nvidia/connectx-6-dx"
    speed    = "100G"
    untagged = segment.storage
    address  = "10.100.0.100/24"
  }
}
` + cabled("own", `rail0 = "Ethernet16", rail1 = "Ethernet20"`)

func subnetTwice(p *Pass) {
	f := p.Fabric
	var mine []fabric.IfaceID // RDMA interfaces of the node, so far
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		if f.Devices[d].Kind != fabric.Node || f.Devices[d].Manage == fabric.HandsOff {
			continue
		}
		mine = mine[:0]
		for _, id := range p.Facts.IfacesOf(d) {
			if !f.Ifaces[id].RDMA {
				continue
			}
			for _, other := range mine {
				if subnet, ok := p.commonSubnet(other, id); ok {
					p.sameSubnet(other, id, subnet)
				}
			}
			mine = append(mine, id)
		}
	}
}

// commonSubnet is a subnet in which two interfaces have different addresses.
func (p *Pass) commonSubnet(a, b fabric.IfaceID) (netip.Prefix, bool) {
	for _, x := range p.Fabric.Addresses(&p.Fabric.Ifaces[a]) {
		for _, y := range p.Fabric.Addresses(&p.Fabric.Ifaces[b]) {
			if x.Bits() == y.Bits() && x.Addr() != y.Addr() && x.Overlaps(y) {
				return x.Masked(), true
			}
		}
	}
	return netip.Prefix{}, false
}

// sameSubnet reports two interfaces of a node in one subnet where that does harm.
func (p *Pass) sameSubnet(a, b fabric.IfaceID, subnet netip.Prefix) {
	f := p.Fabric
	node := &f.Devices[f.Ifaces[b].Device]
	d := diag.Diagnostic{
		Address: f.IfaceAddress(b), Concerns: []string{f.IfaceAddress(a), f.Text(node.Address)},
		Labels: p.atSubnets(b, a), Help: "give each NIC of the node a segment or subnet of its own",
	}
	if p.windows(node) {
		one, other := p.faced(a), p.faced(b)
		if one == 0 || other == 0 || one == other || f.Devices[one].MLAG != 0 && f.Devices[one].MLAG == f.Devices[other].MLAG {
			return
		}
		d.Severity = diag.Warning
		d.Summary = fmt.Sprintf("%s and %s share subnet %s over two switches, %s and %s", p.ifaceName(a), p.ifaceName(b), subnet, f.Text(f.Devices[one].Name), f.Text(f.Devices[other].Name))
		p.Report(d)
		return
	}
	if p.written(a) && p.written(b) {
		return // by tables, rules and ARP settings of its own
	}
	d.Summary = fmt.Sprintf("%s and %s share subnet %s: either answers ARP for both, and rocec does not write the rules that keep them apart", p.ifaceName(a), p.ifaceName(b), subnet)
	d.Help += `, or leave manage at "full"`
	p.Report(d)
}

// written reports whether rocec writes an interface and what it is on.
func (p *Pass) written(id fabric.IfaceID) bool {
	iface := &p.Fabric.Ifaces[id]
	return p.Fabric.Devices[iface.Device].Manage == fabric.Full && (iface.On == 0 || p.Fabric.Ports[iface.On].Manage == fabric.Full)
}

// faced is the switch at the other end of the port an interface is on, 0 if
// there is none or it is on several.
func (p *Pass) faced(id fabric.IfaceID) fabric.DeviceID {
	if on := p.Fabric.Ifaces[id].On; on != 0 && p.Fabric.Ports[on].Peer != 0 {
		if d := p.Fabric.Ports[p.Fabric.Ports[on].Peer].Device; p.Fabric.Devices[d].Kind == fabric.Switch {
			return d
		}
	}
	return 0
}
