package lint

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var roce606 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE606", Name: "vlan_shared", Severity: diag.Warning,
		Title: "an RDMA VLAN carries other traffic too",
		Why:   "management and client traffic in the VLAN brings strangers beside memory that has no password, and goes down with it",
		Fix:   "give management and clients a segment of their own",
		Source: "Microsoft Learn, Azure Local host network requirements: storage traffic has VLANs of its own; Rothenberger et " +
			"al., ReDMArk: Bypassing RDMA Security Mechanisms, USENIX Security 2021",
		Bad:  strings.Replace(twoNodes(``), `  slot     = each.value`, "  slot     = each.value\n  mgmt     = \"10.100.0.${each.value + 100}\"", 1),
		Good: strings.Replace(twoNodes(``), `  slot     = each.value`, "  slot     = each.value\n  mgmt     = \"10.200.0.${each.value + 100}\"", 1),
	},
	Run: vlanShared,
}

func vlanShared(p *Pass) {
	f := p.Fabric
	type shared struct {
		segment fabric.SegmentID
		what    string
	}
	type met struct {
		first, last fabric.DeviceID
		iface       fabric.IfaceID // of the first, 0 = its management address
		devices     int
	}
	all := map[shared]*met{}
	var order []shared
	meet := func(k shared, d fabric.DeviceID, iface fabric.IfaceID) {
		m := all[k]
		switch {
		case m == nil:
			all[k] = &met{d, d, iface, 1}
			order = append(order, k)
		case m.last != d:
			m.last = d
			m.devices++
		}
	}
	subnets := p.rdmaSubnets()
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		if a, ok := f.MgmtAddr(d); ok {
			for _, s := range subnets {
				if f.Segments[s].Subnet.Contains(a) {
					meet(shared{s, "management"}, d, 0)
				}
			}
		}
	}
	for i := 1; i < len(f.Ifaces); i++ {
		iface := &f.Ifaces[i]
		if !iface.RDMA && iface.Addresses.Len() > 0 && f.Devices[iface.Device].Kind == fabric.Node && p.rdmaSegment(iface.Segment) && !p.mostlyRDMA(iface) {
			meet(shared{iface.Segment, "other traffic of hosts"}, iface.Device, fabric.IfaceID(i))
		}
	}
	for _, k := range order {
		seg, m := &f.Segments[k.segment], all[k]
		dev := &f.Devices[m.first]
		by := f.Text(dev.Name)
		if m.devices > 1 {
			by += " and " + others(m.devices-1)
		}
		at := f.Label(dev.Decl, dev.Layers, schema.AMgmt, "")
		if m.iface != 0 {
			at = p.atAddress(m.iface, "")
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("VLAN %d (%s) carries %s (%s) and RDMA", seg.VLAN, f.Text(seg.Name), k.what, by), Address: f.Text(dev.Address), Concerns: []string{f.Text(seg.Address)},
			Labels: []diag.Label{at, f.DeclLabel(seg.Decl, "the RDMA VLAN")}, Help: "give it a segment of its own",
		})
	}
}

// mostlyRDMA reports whether the interfaces of one name in a segment carry RDMA on
// most hosts: one that does not has lost it, which is ROCE726, and is no stranger.
func (p *Pass) mostlyRDMA(of *fabric.Iface) bool {
	if p.namedAlike == nil {
		p.namedAlike = map[ifaceName][2]int{}
		for i := 1; i < len(p.Fabric.Ifaces); i++ {
			iface := &p.Fabric.Ifaces[i]
			k := ifaceName{iface.Segment, iface.Name}
			n := p.namedAlike[k]
			if n[1]++; iface.RDMA {
				n[0]++
			}
			p.namedAlike[k] = n
		}
	}
	n := p.namedAlike[ifaceName{of.Segment, of.Name}]
	return mostOf(n[0], n[1])
}

// ifaceName is what interfaces of a segment are told apart by on a host.
type ifaceName struct {
	segment fabric.SegmentID
	name    fabric.Str
}

// others counts what is not named.
func others(n int) string {
	if n == 1 {
		return "1 other"
	}
	return fmt.Sprintf("%d others", n)
}

// rdmaSubnets are the segments that carry RDMA and have a subnet.
func (p *Pass) rdmaSubnets() []fabric.SegmentID {
	var list []fabric.SegmentID
	p.eachRDMA(func(s fabric.SegmentID) {
		if p.Fabric.Segments[s].Subnet.IsValid() {
			list = append(list, s)
		}
	})
	return list
}

var roce607 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE607", Name: "route_leaves", Severity: diag.Error,
		Title: "a route leads from an RDMA prefix to the outside, or out of an isolated segment",
		Why:   "whoever has a route to an RDMA endpoint can try its keys; a segment that is called isolated is taken to have none",
		Fix:   "take the prefix out of announce, or the gateway off the segment",
		Source: "Rothenberger et al., ReDMArk: Bypassing RDMA Security Mechanisms, USENIX Security 2021; docs/language/blocks.md, " +
			"segment: isolated",
		Bad:  twoNodes(``) + "routing \"default\" {\n  paths    = \"ecmp\"\n  announce = \"10.100.0.0/16\"\n  default  = true\n}\n",
		Good: twoNodes(``) + "routing \"default\" {\n  paths    = \"ecmp\"\n  announce = \"10.101.0.0/16\"\n  default  = true\n}\n",
	},
	Run: routeLeaves,
}

func routeLeaves(p *Pass) {
	f := p.Fabric
	for i := 1; i < len(f.Routings); i++ {
		row := &f.Routings[i]
		for _, prefix := range row.Announce {
			if who, at, address := p.inPrefix(prefix); who != "" {
				p.Report(diag.Diagnostic{
					Summary: fmt.Sprintf("%s is announced to the outside, and %s is in it", prefix, who), Address: address, Concerns: []string{f.Text(row.Address)},
					Labels: []diag.Label{f.Label(row.Decl, 0, schema.AAnnounce, ""), at}, Help: "announce prefixes without RDMA only",
				})
			}
		}
		for _, l := range row.Leaks {
			for _, ends := range [2][2]fabric.SegmentID{{l.From, l.To}, {l.To, l.From}} {
				if s, other := &f.Segments[ends[0]], &f.Segments[ends[1]]; s.Isolated && ends[0] != ends[1] {
					p.Report(diag.Diagnostic{
						Summary: fmt.Sprintf("segment %s is isolated, and a leak joins it to segment %s", f.Text(s.Name), f.Text(other.Name)), Address: f.Text(s.Address), Concerns: []string{f.Text(other.Address)},
						Labels: []diag.Label{f.Label(s.Decl, 0, schema.AIsolated, ""), f.Label(row.Decl, 0, schema.ALeak, "the leak")}, Help: "take out the leak, or isolated",
					})
				}
			}
		}
	}
	for id := 1; id < len(f.Segments); id++ {
		s := &f.Segments[id]
		if !s.Isolated || !s.Gateway.IsValid() {
			continue
		}
		for o := 1; o < len(f.Segments); o++ {
			other := &f.Segments[o]
			if o == id || other.VRF != s.VRF || !other.Gateway.IsValid() {
				continue
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("segment %s is isolated, and its gateway leads to segment %s: they share %s", f.Text(s.Name), f.Text(other.Name), p.vrfName(s.VRF)), Address: f.Text(s.Address), Concerns: []string{f.Text(other.Address)},
				Labels: []diag.Label{f.Label(s.Decl, 0, schema.AGateway, ""), f.Label(other.Decl, 0, schema.AGateway, "the other gateway"), f.Label(s.Decl, 0, schema.AIsolated, "isolated")}, Help: "leave the gateway out, or give the segments different VRFs",
			})
			break
		}
	}
}

func (p *Pass) vrfName(vrf fabric.Str) string {
	if vrf == 0 {
		return "the default VRF"
	}
	return "VRF " + p.Fabric.Text(vrf)
}

// inPrefix is an RDMA segment or host interface whose addresses are in a
// prefix: its name, "" if there is none, where it is written and its address.
func (p *Pass) inPrefix(prefix netip.Prefix) (name string, at diag.Label, address string) {
	f := p.Fabric
	for _, s := range p.rdmaSubnets() {
		if seg := &f.Segments[s]; seg.Subnet.Overlaps(prefix) {
			return fmt.Sprintf("RDMA segment %s (%s)", f.Text(seg.Name), seg.Subnet), f.Label(seg.Decl, 0, schema.ASubnet, "the segment"), f.Text(seg.Address)
		}
	}
	for i := 1; i < len(f.Ifaces); i++ {
		iface := &f.Ifaces[i]
		if !iface.RDMA || f.Devices[iface.Device].Kind != fabric.Node {
			continue
		}
		for _, a := range f.Addresses(iface) {
			if prefix.Contains(a.Addr()) {
				return fmt.Sprintf("%s of %s", a.Addr(), p.ifaceName(fabric.IfaceID(i))), p.atAddress(fabric.IfaceID(i), "an RDMA endpoint"), f.IfaceAddress(fabric.IfaceID(i))
			}
		}
	}
	return "", at, ""
}

var roce616 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE616", Name: "class_tenants", Severity: diag.Warning,
		Title:  "tenants share a lossless class",
		Why:    "a pause stops the whole priority: the slow receiver of one tenant stops the senders of the other",
		Fix:    "give each tenant a class with a priority of its own",
		Source: "Bai et al., Empowering Azure Storage with RDMA, NSDI 2023, section 3.2",
		Bad:    strings.Replace(twoNodes(``), `  slot     = each.value`, "  slot     = each.value\n  tenant   = each.key", 1),
		Good:   strings.Replace(twoNodes(``), `  slot     = each.value`, "  slot     = each.value\n  tenant   = \"blue\"", 1),
	},
	Run: sharedByTenants,
}

func sharedByTenants(p *Pass) {
	f := p.Fabric
	if !p.anyDevice(func(d *fabric.Device) bool { return d.Tenant != 0 }) {
		return
	}
	island := p.islands()
	type key struct {
		island   int
		priority uint8
	}
	type user struct {
		tenant fabric.Str
		port   fabric.PortID
		class  *fabric.Class
	}
	first := map[key]user{}
	said := map[key]bool{}
	for id := fabric.PortID(1); int(id) < len(f.Ports); id++ {
		port := &f.Ports[id]
		tenant := f.Devices[port.Device].Tenant
		if tenant == 0 || port.Profile == 0 || port.Link == 0 {
			continue
		}
		e := p.End(id)
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			if !c.Lossless || !on.PFC {
				return
			}
			k := key{island[port.Device], on.Priority}
			other, known := first[k]
			if !known {
				first[k] = user{tenant, id, c}
				return
			}
			if other.tenant == tenant || said[k] {
				return
			}
			said[k] = true
			dev, was := e.Device, p.End(other.port)
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("tenants %s and %s share lossless class %s (priority %d): pauses cross from one to the other", f.Text(other.tenant), f.Text(tenant), f.Text(c.Name), on.Priority),
				Address: f.Text(dev.Address), Concerns: []string{f.Text(was.Device.Address)},
				Labels: []diag.Label{f.Label(dev.Decl, dev.Layers, schema.ATenant, ""), f.Label(was.Device.Decl, was.Device.Layers, schema.ATenant, "the other"), f.Label(c.Decl, 0, schema.APriority, "the class")}, Help: "give each tenant a qos whose class has another priority",
			})
		})
	}
}

// islands numbers the parts of the fabric that cables join, by DeviceID.
func (p *Pass) islands() []int {
	f := p.Fabric
	root := make([]int, len(f.Devices))
	for d := range root {
		root[d] = d
	}
	find := func(d int) int {
		for root[d] != d {
			root[d] = root[root[d]]
			d = root[d]
		}
		return d
	}
	for l := 1; l < len(f.Links); l++ {
		a, b := find(int(f.Ports[f.Links[l].A].Device)), find(int(f.Ports[f.Links[l].B].Device))
		root[max(a, b)] = min(a, b)
	}
	for d := range root {
		root[d] = find(d)
	}
	return root
}

var roce618 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE618", Name: "vlan_flooding", Severity: diag.Warning,
		Title:  "an RDMA VLAN floods frames to unknown addresses without bound",
		Why:    "a dead host whose address is still in ARP tables and gone from MAC tables has its lossless frames flooded, and pauses then go round in a circle",
		Fix:    "bound unknown unicast by a storm control, and keep the MAC time above the ARP time",
		Source: "Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.2",
		Bad:    twoNodesEdit(`qos    = qos.roce`, "qos    = qos.roce\n  observed = { unknown_unicast = \"flood\" }"),
		Good:   twoNodesEdit(`qos    = qos.roce`, "qos    = qos.roce\n  observed = { unknown_unicast = \"limit\" }"),
	},
	Run: unknownFlooded,
}

func unknownFlooded(p *Pass) {
	f := p.Fabric
	p.eachRDMA(func(s fabric.SegmentID) {
		seg := &f.Segments[s]
		if seg.Unknown != fabric.UnknownFlood {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("VLAN %d (%s) carries RDMA and floods frames to unknown addresses", seg.VLAN, f.Text(seg.Name)), Address: f.Text(seg.Address),
			Labels: []diag.Label{f.Label(seg.Decl, 0, schema.AUnknownUnicast, "")}, Help: "bound them with the switches' storm control, and write \"limit\"",
		})
	})
}

var roce619 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE619", Name: "vlan_sites", Severity: diag.Warning,
		Title:  "an RDMA VLAN spans two sites",
		Why:    "one broadcast domain over two sites fails with either, and its cables need more headroom than switches have",
		Fix:    "route between the sites",
		Source: "Bai et al., Empowering Azure Storage with RDMA, NSDI 2023 (links between sites need gigabytes of headroom)",
		Bad:    twoSites("b"),
		Good:   twoSites("a"),
	},
	Run: vlanSites,
}

// twoSites is two switches with one RDMA VLAN, the second on a site.
func twoSites(site string) string {
	return edit(twoNodes("site"), `switch "tor" {`, `switch "far" {
  model = "nvidia/sn3700"
  os    = "sonic/202505"
  site  = "`+site+`"
  port "Ethernet0" {
    speed    = "100G"
    fec      = "rs"
    tagged = segment.storage
  }
}
link "dci" {
  ends  = [switch.far.port["Ethernet0"], switch.tor.port["Ethernet8"]]
  cable = { media = "lr", length = "200m" }
}
switch "tor" {
  site = "a"
  port "Ethernet8" {
    speed    = "100G"
    fec      = "rs"
    tagged = segment.storage
  }`, "    site\n", "\n")
}

func vlanSites(p *Pass) {
	f := p.Fabric
	p.eachRDMA(func(s fabric.SegmentID) {
		seg := &f.Segments[s]
		said := false
		for _, d := range p.carriersOf(s) {
			site := f.Devices[d].Site
			if site == 0 || seg.Tier || said {
				continue
			}
			for _, id := range p.edgesOf(d) {
				e := p.End(id)
				to, ok := p.cross(place{d, seg.VLAN}, e, nil)
				if !ok {
					continue
				}
				far := &f.Devices[to.device]
				if far.Kind != fabric.Switch || far.Site == 0 || far.Site == site {
					continue
				}
				said = true
				p.Report(diag.Diagnostic{
					Summary: fmt.Sprintf("RDMA VLAN %d (%s) goes from site %s to site %s over %s", seg.VLAN, f.Text(seg.Name), f.Text(site), f.Text(far.Site), p.Name(e)), Address: f.PortAddress(id), Concerns: []string{f.PortAddress(e.Port.Peer), f.Text(seg.Address)},
					Labels: []diag.Label{p.AtPort(e, p.carriedBy(e, seg.VLAN), ""), f.Label(f.Devices[d].Decl, f.Devices[d].Layers, schema.ASite, "one site"), f.Label(far.Decl, far.Layers, schema.ASite, "the other")}, Help: "route between the sites",
				})
				break
			}
		}
	})
}
