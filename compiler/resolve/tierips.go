package resolve

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/shape"
)

// tierVLAN is the VLAN of the node ports of a leaf with a subnet of its own,
// unless they have a native segment: it never leaves the switch, so one number
// serves all leaves, and it is low because systems keep some of the high ones
// for themselves.
const tierVLAN = 2

// legs are what a leaf with a subnet does for the NICs below it.
type legs struct {
	subnet  netip.Prefix
	perPort bool
	segment fabric.SegmentID // of a shared subnet
	vrf     fabric.Str
}

// tierIfaces is how many interfaces generated switches have at most.
func (r *resolver) tierIfaces() (n int) {
	for _, t := range r.topos[1:] {
		for rank := fabric.LeafTier; rank <= fabric.CoreTier; rank++ {
			n += len(t.tiers[rank].blocks) // loopbacks
			for i, b := range t.tiers[rank].blocks {
				if up := t.tiers[rank].up; len(up) > 0 && r.attr(b, schema.AFabricSubnet).Kind != lang.Absent {
					n += 2 * len(up[i])
				}
				if down := t.tiers[rank].down; len(down) > 0 && r.attr(b, schema.AAddressing).Kind != lang.Absent {
					n += len(down[i]) // an address for each node port
				}
			}
		}
	}
	return n
}

// tierInterfaces makes the interfaces of generated switches: loopbacks, the
// subnets of leaves and those of uplinks.
func (r *resolver) tierInterfaces() {
	r.legOf = map[lang.BlockID]*legs{}
	for _, t := range r.topos[1:] {
		for rank := fabric.LeafTier; rank <= fabric.CoreTier; rank++ {
			x := &t.tiers[rank]
			for i, d := range x.devices {
				r.loopback(d, x.blocks[i], i)
			}
			r.uplinks(t, x)
		}
		r.leafSubnets(t)
	}
}

func (r *resolver) prefix(b lang.BlockID, n schema.Attr) netip.Prefix {
	p, err := netip.ParsePrefix(r.cfg.Text(r.attr(b, n)))
	if err != nil {
		return netip.Prefix{}
	}
	return p
}

// loopback gives a switch the address at its index of a prefix, or the whole
// address where one is written for each.
func (r *resolver) loopback(d fabric.DeviceID, b lang.BlockID, i int) {
	p := r.prefix(b, schema.ALoopback)
	if !p.IsValid() {
		return
	}
	a := p.Addr()
	if !p.IsSingleIP() {
		var ok bool
		if a, ok = offset(p, uint64(i)); !ok {
			r.fail(fmt.Sprintf("loopback %s of %s has no address for index %d", p, r.f.Text(r.f.Devices[d].Name), i), "widen the prefix", r.at(b, schema.ALoopback, ""))
			return
		}
	}
	name := "lo" // what every Linux calls it [Cumulus Linux, Interface Configuration and Management]
	if os := r.f.Text(r.f.Devices[d].OSName); os == "sonic" || os == "sonic-enterprise" {
		name = "Loopback0" // [SONiC Configuration.md, Loopback Interface; noolex/sonic-mgmt-framework interface.xml]
	}
	r.addIface(fabric.Iface{
		Device: d, Name: r.f.Names.Add(name), Kind: fabric.LoopbackIface, Decl: r.decl(b), Addresses: r.f.Prefixes.AddAddr(a),
	}, b)
}

// pair are the two addresses of link number n of a subnet: a /31 or /127.
func pair(p netip.Prefix, n int) (lower, upper netip.Prefix, ok bool) {
	a, ok1 := offset(p, 2*uint64(n))
	b, ok2 := offset(p, 2*uint64(n)+1)
	if !ok1 || !ok2 {
		return lower, upper, false
	}
	return netip.PrefixFrom(a, a.BitLen()-1), netip.PrefixFrom(b, b.BitLen()-1), true
}

// uplinks numbers the links above the switches of a tier: by index and uplink,
// the lower end first.
func (r *resolver) uplinks(t *topology, x *tier) {
	var p netip.Prefix
	var last lang.Value
	for i, d := range x.devices {
		if v := r.attr(x.blocks[i], schema.AFabricSubnet); v != last { // mostly one for all
			p, last = r.prefix(x.blocks[i], schema.AFabricSubnet), v
		}
		if !p.IsValid() || len(x.up) == 0 {
			continue
		}
		for u, lower := range x.up[i] {
			upper := r.f.Ports[lower].Peer
			if upper == 0 || t.plan.Kind.Flat() && !shape.Joins(t.plan.Kind, len(x.devices), len(x.up[i]), i, u) {
				continue
			}
			a, b, ok := pair(p, i*len(x.up[i])+u)
			if !ok {
				r.fail(fmt.Sprintf("fabric_subnet %s of %s has no pair of addresses for uplink %d of %s", p, r.cfg.Address(t.block), u, r.f.Text(r.f.Devices[d].Name)),
					fmt.Sprintf("%d switches with %d uplinks each take twice as many addresses", len(x.devices), len(x.up[i])), r.at(x.blocks[i], schema.AFabricSubnet, ""))
				return
			}
			r.routed(lower, a, x.blocks[i])
			above := r.tierBlock[r.f.Ports[upper].Device]
			if above == 0 {
				above = x.blocks[i]
			}
			r.routedBy(upper, b, above, x.blocks[i])
		}
	}
}

// routed makes the interface of a port with an address of its own.
func (r *resolver) routed(p fabric.PortID, a netip.Prefix, b lang.BlockID) { r.routedBy(p, a, b, b) }

// routedBy is routed where the subnet is written in another tier than the VRF.
func (r *resolver) routedBy(p fabric.PortID, a netip.Prefix, tier, subnet lang.BlockID) {
	row := &r.f.Ports[p]
	row.Flags |= fabric.RoutedPort
	r.addIface(fabric.Iface{
		Device: row.Device, Name: row.Name, Kind: fabric.RoutedIface, On: p, VRF: r.routingTable(r.attr(tier, schema.AVRF)), Decl: r.decl(subnet), Addresses: r.f.Prefixes.Add(a),
	}, tier)
}

// leafSubnets makes what leaves with a subnet have for their nodes: an SVI as
// host 1, or an address on each port.
func (r *resolver) leafSubnets(t *topology) {
	x := &t.tiers[fabric.LeafTier]
	segment := fabric.SegmentID(0)
	for i, d := range x.devices {
		b := x.blocks[i]
		p := r.subnet(b)
		if by := r.writer(b, schema.AAddressing); !p.IsValid() && by != b { // of the tier itself it is told before
			r.fail(fmt.Sprintf("%s has `addressing` and no `subnet` that it speaks of", r.f.Text(r.f.Devices[d].Name)), "write subnet, or leave addressing out", r.at(b, schema.AAddressing, ""))
		}
		if !p.IsValid() || len(x.down) == 0 {
			continue
		}
		l := &legs{subnet: p, perPort: r.cfg.Text(r.attr(b, schema.AAddressing)) == "per_port", vrf: r.routingTable(r.attr(b, schema.AVRF))}
		r.legOf[b] = l
		r.sharedLegs = r.sharedLegs || !l.perPort
		if l.perPort {
			for k, port := range x.down[i] {
				if nic := r.f.Ports[port].Peer; nic == 0 || r.f.Ports[nic].NIC == 0 {
					continue
				}
				a, _, ok := pair(p, k)
				if !ok {
					r.fail(fmt.Sprintf("subnet %s of %s has no pair of addresses for port %s", p, r.f.Text(r.f.Devices[d].Name), r.f.Text(r.f.Ports[port].Name)),
						fmt.Sprintf("%d node_ports take twice as many addresses", len(x.down[i])), r.at(b, schema.ASubnet, ""), r.at(b, schema.ANodePorts, "the ports"))
					return
				}
				r.routed(port, a, b)
			}
			continue
		}
		if segment == 0 {
			if segment = r.tierSegment(t, b); segment == 0 {
				return
			}
		}
		l.segment = r.nativeOf(x.down[i], segment)
		gateway, ok := hostAddress(p, 1)
		if !ok {
			r.fail(fmt.Sprintf("subnet %s of %s has no host 1 for the switch", p, r.f.Text(r.f.Devices[d].Name)), `widen it, or write addressing = "per_port"`, r.at(b, schema.ASubnet, ""))
			return
		}
		r.addIface(fabric.Iface{
			Device: d, Name: r.f.Names.Add(fmt.Sprintf("Vlan%d", r.f.Segments[l.segment].VLAN)), Kind: fabric.SVI, Segment: l.segment, VRF: l.vrf, Decl: r.decl(b),
			Addresses: r.f.Prefixes.Add(netip.PrefixFrom(gateway, p.Bits())),
		}, b)
	}
}

// tierSegment is the segment of the node ports of leaves that have subnets and
// no segments.
func (r *resolver) tierSegment(t *topology, b lang.BlockID) fabric.SegmentID {
	for s := 1; s < len(r.f.Segments); s++ {
		if seg := &r.f.Segments[s]; seg.VLAN == tierVLAN && !seg.Tier {
			r.fail(fmt.Sprintf("node ports of %s are in VLAN %d, which segment %s has", r.cfg.Address(t.block), tierVLAN, r.f.Text(seg.Name)),
				"write `untagged` on the node ports of the leaves, give that segment another VLAN, or write addressing = \"per_port\"",
				r.at(b, schema.ASubnet, ""), r.f.Label(seg.Decl, 0, schema.AVLAN, "the segment"))
			return 0
		}
	}
	r.f.Segments = append(r.f.Segments, fabric.Segment{
		Name: r.f.Topologies[t.id].Name, VLAN: tierVLAN, First: 11, VRF: r.vrf(r.routingTable(r.attr(b, schema.AVRF))), MTU: uint16(r.attr(b, schema.AMTU).N),
		Decl: r.decl(b), Address: r.f.Topologies[t.id].Address, Tier: true,
	})
	return fabric.SegmentID(len(r.f.Segments) - 1)
}

// localVLANs finds written segments that are what tierSegment makes: without a
// subnet of their own, with an interface in another subnet on each switch that
// has them, and joined nowhere.
func (r *resolver) localVLANs() {
	on := map[fabric.SegmentID]map[fabric.DeviceID][]netip.Prefix{}
	for i := 1; i < len(r.f.Ifaces); i++ {
		row := &r.f.Ifaces[i]
		if seg := &r.f.Segments[row.Segment]; row.Kind != fabric.SVI || row.Addresses.Len() == 0 || seg.Subnet.IsValid() || seg.Gateway.IsValid() || seg.Tier || seg.Overlay {
			continue
		}
		if on[row.Segment] == nil {
			on[row.Segment] = map[fabric.DeviceID][]netip.Prefix{}
		}
		on[row.Segment][row.Device] = append(on[row.Segment][row.Device], r.f.Addresses(row)...)
	}
	for s, has := range on {
		if len(has) > 1 && apartSubnets(has) && r.joinedNowhere(s, has) {
			r.f.Segments[s].Tier = true
		}
	}
}

// apartSubnets reports whether no two devices have addresses of one subnet.
func apartSubnets(has map[fabric.DeviceID][]netip.Prefix) bool {
	type subnet struct {
		p netip.Prefix
		d fabric.DeviceID
	}
	var all []subnet
	for d, list := range has {
		for _, p := range list {
			all = append(all, subnet{p.Masked(), d})
		}
	}
	// Prefixes nest or are apart, and those of one device are apart (ROCE614), so
	// one that another contains follows it.
	slices.SortFunc(all, func(a, b subnet) int { return cmp.Or(a.p.Addr().Compare(b.p.Addr()), a.p.Bits()-b.p.Bits()) })
	for i := 1; i < len(all); i++ {
		if all[i].d != all[i-1].d && all[i].p.Overlaps(all[i-1].p) {
			return false
		}
	}
	return true
}

// joinedNowhere reports whether a segment is on switches with an interface in it
// alone, and on no cable between two of them.
func (r *resolver) joinedNowhere(s fabric.SegmentID, has map[fabric.DeviceID][]netip.Prefix) bool {
	for p := 1; p < len(r.f.Ports); p++ {
		row := &r.f.Ports[p]
		lag := &r.f.LAGs[row.LAG] // what it carries, its members do
		if r.f.Devices[row.Device].Kind != fabric.Switch ||
			row.Native != s && lag.Native != s && !slices.Contains(r.f.VLANSets[row.VLANs], s) && !slices.Contains(r.f.VLANSets[lag.VLANs], s) {
			continue
		}
		if has[row.Device] == nil || row.Peer != 0 && r.f.Devices[r.f.Ports[row.Peer].Device].Kind == fabric.Switch {
			return false
		}
	}
	return true
}

// nativeOf is the segment that a leaf's node ports are in untagged: the written
// one, else the tier's.
func (r *resolver) nativeOf(ports []fabric.PortID, tier fabric.SegmentID) fabric.SegmentID {
	for _, p := range ports {
		if v := r.ofPort(p, schema.ANative); v.Kind == lang.Handle {
			return r.segmentOf[lang.BlockID(v.N)]
		}
	}
	return tier
}

// legOn are the legs of the leaf that a NIC is cabled to, nil if it has none.
func (r *resolver) legOn(nic fabric.PortID) (*legs, lang.BlockID) {
	row := &r.f.Ports[nic]
	if len(r.legOf) == 0 || r.f.Links[row.Link].Topology == 0 {
		return nil, 0
	}
	b := r.tierBlock[r.f.Ports[row.Peer].Device]
	return r.legOf[b], b
}

// tierNative is the segment that a leaf's subnet puts a port in: its own node
// ports and the NICs there, unless they are written to carry something.
func (r *resolver) tierNative(p fabric.PortID) fabric.SegmentID {
	if !r.sharedLegs {
		return 0
	}
	row := &r.f.Ports[p]
	if row.NIC != 0 {
		if l, _ := r.legOn(p); l != nil && !l.perPort {
			return l.segment
		}
		return 0
	}
	if row.Peer == 0 || r.f.Ports[row.Peer].NIC == 0 || r.f.Links[row.Link].Topology == 0 {
		return 0
	}
	if l := r.legOf[r.tierBlock[row.Device]]; l != nil && !l.perPort {
		return l.segment
	}
	return 0
}

// legAddress is the address of a NIC in its leaf's subnet, and its gateway: by
// the position of its port among the node ports, so that all NICs on one leaf
// differ. With one NIC of each node on a leaf of all slots it is first + slot - 1.
func (r *resolver) legAddress(nic fabric.PortID) (a netip.Prefix, gateway netip.Addr, ok bool) {
	l, b := r.legOn(nic)
	if l == nil {
		return a, gateway, false
	}
	port := r.f.Ports[nic].Peer
	d := r.f.Ports[port].Device
	place := &r.f.Devices[d].Place
	down := r.topos[place.Topology].tiers[fabric.LeafTier].down[place.Index]
	at := -1
	if k := int(port) - int(down[0]); k >= 0 && k < len(down) && down[k] == port {
		at = k // consecutive ports, as they mostly are
	}
	for k := 0; at < 0 && k < len(down); k++ {
		if down[k] == port {
			at = k
		}
	}
	if at < 0 {
		r.fail(fmt.Sprintf("%s is on %s, which is not among the node_ports that its leaf's subnet counts", r.f.PortName(nic), r.f.PortName(port)),
			"write address on the NIC", r.atLabel(nic, ""), r.at(b, schema.ASubnet, "the subnet"))
		return a, gateway, false
	}
	if l.perPort {
		lower, upper, ok := pair(l.subnet, at)
		return upper, lower.Addr(), ok
	}
	host, ok := hostAddress(l.subnet, 11+uint64(at))
	if !ok {
		r.failOnce(r.topos[place.Topology], diag.Diagnostic{
			Summary: fmt.Sprintf("%s is at node port %d of %s, which does not fit its subnet %s from host 11", r.f.PortName(nic), at+1, r.f.Text(r.f.Devices[d].Name), l.subnet),
			Help:    "widen the subnet, or write the address", Address: r.f.PortAddress(nic), Labels: []diag.Label{r.at(b, schema.ASubnet, "")},
		})
		return a, gateway, false
	}
	gateway, _ = hostAddress(l.subnet, 1)
	return netip.PrefixFrom(host, l.subnet.Bits()), gateway, true
}
