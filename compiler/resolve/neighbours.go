package resolve

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"net/netip"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
)

// neighbours joins layer 3: addresses with the subnet of their segment or that of
// its router, both ends of routed cables, gateways with who has them.
type neighbours struct {
	f     *fabric.Fabric
	on    []fabric.IfaceID           // by PortID: its first interface without a tag and a segment
	homes []uint64                   // by PortID: the subnet of that interface in short; several: 0
	more  map[leg][]fabric.IfaceID   // all others that routed packets come to
	parts map[part]*crowd            // of segments without a subnet
	last  part                       // neighbours mostly stand alike
	lastM *crowd                     // of last
	wrong map[fabric.IfaceID]bool    // with a finding of their own; true: no address of it fits
	with  []fabric.IfaceID           // by SegmentID: the first interface of a switch there
	among []uint32                   // by SegmentID: how many switches have one
	asks  map[netip.Addr][]*question // gateways that are still to be found
	one   [1]fabric.IfaceID          // what peers returns mostly
}

// leg is what an interface without a row in `on` stands on.
type leg struct {
	port fabric.PortID
	lag  fabric.LAGID
	vlan uint16 // of its tag
}

// part is where one subnet is expected: a segment, or what of it is on one switch.
type part struct {
	segment fabric.SegmentID
	at      fabric.DeviceID
}

// crowd is what is known of a part: the SVIs there, or one that has an address.
type crowd struct {
	routers []fabric.IfaceID
	first   fabric.IfaceID
	differ  bool
}

// question is a gateway of an interface, or of a segment.
type question struct {
	iface     fabric.IfaceID
	segment   fabric.SegmentID // 0: none, then it is for the other end of the cable
	of        fabric.SegmentID // that writes it, else 0
	elsewhere fabric.IfaceID   // who has it and is not there: by a mistake of its own, perhaps
	found     bool
}

// neighbours notes the addresses that do not fit what is around them.
func (r *resolver) neighbours() {
	if r.written == 0 && len(r.routedTo) == 0 && len(r.askedFor) == 0 {
		return // what is generated fits
	}
	n := &neighbours{f: r.f, parts: map[part]*crowd{}, more: map[leg][]fabric.IfaceID{}, wrong: map[fabric.IfaceID]bool{}}
	n.with, n.among = make([]fabric.IfaceID, len(r.f.Segments)), make([]uint32, len(r.f.Segments))
	n.on, n.homes = make([]fabric.IfaceID, len(r.f.Ports)), make([]uint64, len(r.f.Ports))
	odd := n.enter()
	for l := 1; l < len(r.f.Links); l++ {
		link := &r.f.Links[l]
		if x := n.homes[link.A]; x != 0 && x == n.homes[link.B] {
			continue // as most are
		}
		switch a, b := n.on[link.A], n.on[link.B]; {
		case a != 0 && b != 0:
			odd = append(odd, a, b)
		case a|b != 0 && r.f.Ifaces[a|b].Segment == 0: // others have been held against their segment
			odd = append(odd, a|b)
		}
	}
	slices.Sort(odd)
	odd = slices.Compact(odd)
	for _, id := range odd {
		n.inSegment(id)
	}
	n.inParts()
	for _, id := range odd {
		n.ends(id)
	}
	n.gateways(r.routedTo, r.askedFor)
	n.astray()
}

// short is a subnet as a number: equal subnets have equal ones. It is never 0.
func short(p netip.Prefix) uint64 {
	if a := p.Addr(); a.Is4() {
		raw := a.As4()
		free := 32 - p.Bits()
		return (uint64(binary.BigEndian.Uint32(raw[:]))>>free<<free)<<8 | uint64(p.Bits())<<1 | 1
	}
	raw := p.Masked().Addr().As16()
	high, low := binary.BigEndian.Uint64(raw[:8]), binary.BigEndian.Uint64(raw[8:])
	return (high*0x9e3779b97f4a7c15 ^ bits.RotateLeft64(low, 17) ^ uint64(p.Bits())) | 1
}

// home reports whether an address says where its interface is at home: one of a
// link does not, and 0 is none.
func home(p netip.Prefix) bool { return p.IsValid() && !p.Addr().IsLinkLocalUnicast() }

// enter takes down who stands where, and returns those that are to be looked at
// closer than by the subnet at the other end of their cable.
func (n *neighbours) enter() (odd []fabric.IfaceID) {
	f := n.f
	seen := make([]fabric.DeviceID, len(f.Segments))
	for i := 1; i < len(f.Ifaces); i++ {
		id, row := fabric.IfaceID(i), &f.Ifaces[i]
		if row.Addresses.Len() == 0 || row.Kind == fabric.LoopbackIface {
			continue
		}
		if row.Segment != 0 && f.Devices[row.Device].Kind == fabric.Switch {
			if n.with[row.Segment] == 0 {
				n.with[row.Segment] = id
			}
			if seen[row.Segment] != row.Device {
				n.among[row.Segment]++
			}
			seen[row.Segment] = row.Device
		}
		plain := false
		switch {
		case row.Kind == fabric.SVI:
			if !f.Segments[row.Segment].Subnet.IsValid() {
				m := n.of(row.Segment, row.Device)
				m.routers = append(m.routers, id)
			}
		case row.On != 0 && !row.Tagged && n.on[row.On] == 0 && f.Ports[row.On].Flags&fabric.IsLAG == 0:
			n.on[row.On] = id
			if plain = row.Addresses.Len() == 1; plain {
				n.homes[row.On] = short(f.Addresses(row)[0])
			}
		case row.Kind == fabric.RoutedIface || row.Segment == 0:
			k := n.leg(row, n.port(row))
			n.more[k] = append(n.more[k], id)
			n.homes[n.port(row)] = 0
		}
		if row.Segment == 0 && plain {
			continue // its cable tells
		}
		subnet := f.Segments[row.Segment].Subnet
		if !plain || row.Kind == fabric.RoutedIface || !subnet.IsValid() || !fits(f.Addresses(row)[0], subnet) {
			odd = append(odd, id)
		}
	}
	return odd
}

// fits reports whether an address is of a subnet, with its mask.
func fits(a, subnet netip.Prefix) bool { return a.Bits() == subnet.Bits() && subnet.Contains(a.Addr()) }

// leg is where an interface with the tag of another stands if it is on a port or its LAG.
func (n *neighbours) leg(row *fabric.Iface, port fabric.PortID) leg {
	k := leg{port: port}
	if lag := n.f.Ports[port].LAG; lag != 0 {
		k = leg{lag: lag}
	}
	if row.Tagged {
		k.vlan = n.f.Segments[row.Segment].VLAN
	}
	return k
}

// of is what is known of a part: of a segment with a subnet on each switch, one.
func (n *neighbours) of(s fabric.SegmentID, at fabric.DeviceID) *crowd {
	k := part{segment: s}
	if n.f.Segments[s].Tier {
		k.at = at
	}
	if k == n.last && n.lastM != nil {
		return n.lastM
	}
	m := n.parts[k]
	if m == nil {
		m = &crowd{}
		n.parts[k] = m
	}
	n.last, n.lastM = k, m
	return m
}

// port is a port below an interface, 0 if there is none.
func (n *neighbours) port(row *fabric.Iface) fabric.PortID {
	if row.On != 0 && n.f.Ports[row.On].Flags&fabric.IsLAG == 0 { // as most are
		return row.On
	}
	for _, p := range n.f.PortsBelow(row) {
		return p
	}
	return 0
}

// segment is the one that an interface is in: its own, else that in which the port
// below it or at the other end is untagged.
func (n *neighbours) segment(row *fabric.Iface) fabric.SegmentID {
	if row.Segment != 0 || row.Kind == fabric.LoopbackIface {
		return row.Segment
	}
	port := &n.f.Ports[n.port(row)]
	peer := &n.f.Ports[port.Peer]
	return cmp.Or(port.Native, n.f.LAGs[port.LAG].Native, peer.Native, n.f.LAGs[peer.LAG].Native)
}

func (n *neighbours) note(m fabric.Misaddressed, whole bool) {
	n.f.Misaddressed = append(n.f.Misaddressed, m)
	n.wrong[m.Iface] = n.wrong[m.Iface] || whole
}

// fit is how addresses of one family go with a subnet. Further ones may be of others.
func fit(list []netip.Prefix, subnet netip.Prefix) (fault fabric.AddressFault, of netip.Prefix) {
	for _, a := range list {
		switch {
		case a.Addr().Is4() != subnet.Addr().Is4() || !home(a) && !subnet.Contains(a.Addr()):
		case subnet.Contains(a.Addr()):
			if a.Bits() == subnet.Bits() || a.IsSingleIP() && a.Addr().Is6() { // of those routers tell the prefix
				return 0, a
			}
			fault, of = fabric.OtherMask, a
		case fault == 0:
			fault, of = fabric.OutsideSegment, a
		}
	}
	return fault, of
}

// others reports whether some of the addresses are of another family than a subnet.
func others(list []netip.Prefix, subnet netip.Prefix) bool {
	return slices.ContainsFunc(list, func(a netip.Prefix) bool { return home(a) && a.Addr().Is4() != subnet.Addr().Is4() })
}

// inSegment holds the addresses of an interface against the subnet of its segment;
// where that has none they are taken down.
func (n *neighbours) inSegment(id fabric.IfaceID) {
	f := n.f
	row := &f.Ifaces[id]
	if row.Addresses.Len() == 0 || row.Kind == fabric.LoopbackIface {
		return
	}
	s := n.segment(row)
	if s == 0 {
		return
	}
	list := f.Addresses(row)
	if subnet := f.Segments[s].Subnet; subnet.IsValid() {
		if fault, a := fit(list, subnet); fault != 0 {
			whole := fault == fabric.OutsideSegment && !others(list, subnet)
			n.note(fabric.Misaddressed{Fault: fault, Iface: id, Address: a, Subnet: subnet, Segment: s}, whole)
		}
		return
	}
	if row.Kind == fabric.SVI || !slices.ContainsFunc(list, home) {
		return
	}
	m := n.of(s, f.Ports[f.Ports[n.port(row)].Peer].Device)
	switch {
	case m.first == 0:
		m.first = id
		m.differ = len(m.routers) > 0 && !n.together(m.routers[0], id) || len(m.routers) > 1
	case !m.differ:
		m.differ = !n.together(m.first, id)
	}
}

// together reports whether two interfaces have the same subnets, as those that
// stand alike mostly do.
func (n *neighbours) together(a, b fabric.IfaceID) bool {
	x, y := n.f.Addresses(&n.f.Ifaces[a]), n.f.Addresses(&n.f.Ifaces[b])
	return slices.EqualFunc(x, y, func(p, q netip.Prefix) bool { return p.Bits() == q.Bits() && p.Contains(q.Addr()) })
}

// inParts looks closer at the parts whose members differ.
func (n *neighbours) inParts() {
	f := n.f
	hosts := map[*crowd][]fabric.IfaceID{}
	var order []*crowd
	for _, m := range n.parts {
		if m.differ {
			order = append(order, m)
		}
	}
	if len(order) == 0 {
		return
	}
	for i := 1; i < len(f.Ifaces); i++ {
		row := &f.Ifaces[i]
		if row.Addresses.Len() == 0 || row.Kind == fabric.SVI || row.Kind == fabric.LoopbackIface {
			continue
		}
		if s := n.segment(row); s != 0 && !f.Segments[s].Subnet.IsValid() {
			if m := n.of(s, f.Ports[f.Ports[n.port(row)].Peer].Device); m.differ {
				hosts[m] = append(hosts[m], fabric.IfaceID(i))
			}
		}
	}
	slices.SortFunc(order, func(a, b *crowd) int { return cmp.Compare(a.first, b.first) })
	for _, m := range order {
		slices.SortFunc(m.routers, n.before)
		slices.SortFunc(hosts[m], n.before)
		n.inPart(m.routers, hosts[m], true)
		n.inPart(m.routers, hosts[m], false)
	}
}

// inPart judges the members of a part by their addresses of one family. The subnets
// of its routers are those of the part, unless all of several hosts agree on another;
// hosts may share a further one. Without a router, most hosts say which it is.
func (n *neighbours) inPart(routers, hosts []fabric.IfaceID, v4 bool) {
	f := n.f
	count := map[netip.Prefix]uint32{} // hosts
	of := func(id fabric.IfaceID) (list []netip.Prefix) {
		for _, a := range f.Addresses(&f.Ifaces[id]) {
			if home(a) && a.Addr().Is4() == v4 {
				list = append(list, a)
			}
		}
		return list
	}
	total := uint32(0)
	var most fabric.IfaceID // one of the largest
	var subnet netip.Prefix
	for _, id := range hosts {
		list := of(id)
		if len(list) > 0 {
			total++
		}
		for _, a := range list {
			if p := a.Masked(); !p.IsSingleIP() {
				if count[p]++; count[p] > count[subnet] {
					most, subnet = id, p
				}
			}
		}
	}
	routed := map[netip.Prefix]bool{}
	var router fabric.IfaceID // one with an address of the family
	var at netip.Prefix
	for _, id := range routers {
		for _, a := range of(id) {
			if routed[a.Masked()] = true; router == 0 {
				router, at = id, a
			}
		}
	}
	segment := func(id fabric.IfaceID) fabric.SegmentID { return n.segment(&f.Ifaces[id]) }
	if router != 0 && len(routed) == 1 && total > 1 && count[subnet] == total && !routed[subnet] {
		for _, id := range routers {
			if list := of(id); len(list) > 0 {
				n.note(fabric.Misaddressed{
					Fault: fabric.AloneInSegment, Iface: id, Address: list[0], Segment: segment(id),
					Subnet: subnet, Other: most, Have: total, Of: total + 1,
				}, false)
			}
		}
		return
	}
	for _, id := range hosts {
		list := of(id)
		if len(list) == 0 || slices.ContainsFunc(list, func(a netip.Prefix) bool { return routed[a.Masked()] || count[a.Masked()] > 1 }) {
			continue
		}
		a, whole := list[0], len(list) == len(f.Addresses(&f.Ifaces[id]))
		switch {
		case router != 0:
			n.note(fabric.Misaddressed{Fault: fabric.OutsideRouter, Iface: id, Address: a, Subnet: at, Other: router, Segment: segment(id)}, whole)
		case count[subnet] > 2 && 2*count[subnet] > total:
			n.note(fabric.Misaddressed{
				Fault: fabric.AloneInSegment, Iface: id, Address: a, Segment: segment(id),
				Subnet: subnet, Other: most, Have: count[subnet], Of: total,
			}, false)
		}
	}
}

// peers are the interfaces at the other end of the cable or LAG that an interface
// is on, with its tag or without. The list is good until the next call.
func (n *neighbours) peers(row *fabric.Iface) []fabric.IfaceID {
	if row.Kind == fabric.SVI || row.Kind == fabric.LoopbackIface {
		return nil
	}
	return n.at(row, n.f.Ports[n.port(row)].Peer)
}

// at are the interfaces on a port or its LAG that have the tag of another.
func (n *neighbours) at(row *fabric.Iface, port fabric.PortID) []fabric.IfaceID {
	if port == 0 {
		return nil
	}
	var list []fabric.IfaceID
	if len(n.more) > 0 {
		list = n.more[n.leg(row, port)]
	}
	on := n.on[port]
	switch {
	case on == 0 || row.Tagged:
		return list
	case len(list) == 0:
		n.one[0] = on
		return n.one[:]
	}
	return append(slices.Clone(list), on)
}

// ends holds the addresses at one end of a cable against those at the other, once
// for all of both.
func (n *neighbours) ends(id fabric.IfaceID) {
	f := n.f
	row := &f.Ifaces[id]
	if f.Ports[n.port(row)].Flags&fabric.External != 0 {
		return
	}
	peers := slices.Clone(n.peers(row))
	if len(peers) == 0 {
		n.oneEnd(id, row)
		return
	}
	own := slices.Clone(n.at(row, n.port(row)))
	if !slices.Contains(own, id) { // of a host, in a segment
		own = append(own, id)
	}
	if slices.Min(own) != id || slices.Min(peers) < id {
		return
	}
	for _, p := range slices.Concat(own, peers) {
		if _, known := n.wrong[p]; known {
			return
		}
	}
	ours, theirs := n.addresses(own), n.addresses(peers)
	fault, a, b := disagree(ours, theirs)
	if fault == 0 {
		return
	}
	has := func(list []fabric.IfaceID, a netip.Prefix) fabric.IfaceID {
		return list[slices.IndexFunc(list, func(p fabric.IfaceID) bool { return slices.Contains(f.Addresses(&f.Ifaces[p]), a) })]
	}
	id, other := has(own, a), has(peers, b)
	if n.before(other, id) < 0 {
		id, other, a, b = other, id, b, a
	}
	shared := slices.ContainsFunc(ours, func(a netip.Prefix) bool {
		return slices.ContainsFunc(theirs, func(b netip.Prefix) bool { return a.Masked() == b.Masked() })
	})
	n.note(fabric.Misaddressed{Fault: fault, Iface: id, Address: a, Subnet: b, Other: other}, fault == fabric.LinkSubnets && !shared)
	n.wrong[other] = n.wrong[id]
}

// addresses are those of some interfaces.
func (n *neighbours) addresses(of []fabric.IfaceID) (list []netip.Prefix) {
	for _, id := range of {
		list = append(list, n.f.Addresses(&n.f.Ifaces[id])...)
	}
	return list
}

// before orders interfaces by their addresses in the source, whatever its order.
func (n *neighbours) before(a, b fabric.IfaceID) int {
	return cmp.Compare(n.f.IfaceAddress(a), n.f.IfaceAddress(b))
}

// disagree is what is wrong between addresses at two ends. One that is whole is
// borrowed from a loopback, and one of the link alone says nothing.
func disagree(ours, theirs []netip.Prefix) (fault fabric.AddressFault, a, b netip.Prefix) {
	for _, v4 := range [2]bool{true, false} {
		x, y := firstHome(ours, v4), firstHome(theirs, v4)
		if !x.IsValid() || !y.IsValid() {
			continue
		}
		if slices.ContainsFunc(ours, func(a netip.Prefix) bool {
			return a.Addr().Is4() == v4 && slices.ContainsFunc(theirs, func(b netip.Prefix) bool { return a.Masked() == b.Masked() })
		}) {
			continue
		}
		if x.Overlaps(y) {
			return fabric.LinkMasks, x, y
		}
		return fabric.LinkSubnets, x, y
	}
	x, y := either(firstHome(ours, true), firstHome(ours, false)), either(firstHome(theirs, true), firstHome(theirs, false))
	if x.IsValid() && y.IsValid() && !firstHome(theirs, x.Addr().Is4()).IsValid() && !firstHome(ours, y.Addr().Is4()).IsValid() {
		return fabric.LinkSubnets, x, y
	}
	return 0, a, b
}

func either(a, b netip.Prefix) netip.Prefix {
	if a.IsValid() {
		return a
	}
	return b
}

// firstHome is the first subnet of a family, the zero prefix if there is none.
func firstHome(list []netip.Prefix, v4 bool) netip.Prefix {
	for _, a := range list {
		if home(a) && !a.IsSingleIP() && a.Addr().Is4() == v4 {
			return a
		}
	}
	return netip.Prefix{}
}

// oneEnd notes an address towards a switch port that has none, and bridges nothing.
func (n *neighbours) oneEnd(id fabric.IfaceID, row *fabric.Iface) {
	f := n.f
	if row.Kind != fabric.RoutedIface || row.On == 0 || row.Tagged {
		return
	}
	port := &f.Ports[row.On]
	peer := &f.Ports[port.Peer]
	list := f.Addresses(row)
	a := either(firstHome(list, true), firstHome(list, false))
	switch {
	case !a.IsValid(), port.Peer == 0, f.Devices[peer.Device].Kind != fabric.Switch:
	case port.Manage == fabric.HandsOff, peer.Manage == fabric.HandsOff, f.Devices[peer.Device].Manage == fabric.HandsOff:
	case port.LAG|peer.LAG != 0, port.VLANs|peer.VLANs != 0, port.Native|peer.Native != 0:
	default:
		f.Misaddressed = append(f.Misaddressed, fabric.Misaddressed{Fault: fabric.OneEnd, Iface: id, Address: a})
	}
}
