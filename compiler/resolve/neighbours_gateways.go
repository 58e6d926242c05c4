package resolve

import (
	"net/netip"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
)

// gateways looks for who has each gateway of a host: in its segment, or at the other
// end of its cable. It is asked for one interface of each segment that writes one,
// and for those that write one themselves.
func (n *neighbours) gateways(bySegment map[fabric.SegmentID]fabric.IfaceID, own []fabric.IfaceID) {
	f := n.f
	n.asks = map[netip.Addr][]*question{}
	var asked []*question
	ask := func(id fabric.IfaceID, of fabric.SegmentID) {
		row := &f.Ifaces[id]
		s, gateway := n.segment(row), f.Gateway(row)
		if row.Outside || row.Addresses.Len() == 0 || f.Segments[s].Isolated { // which is to have none: ROCE613
			return
		}
		if of != 0 && n.routes(s, gateway) || of == 0 && n.near(row, s, gateway) {
			return
		}
		q := &question{iface: id, segment: s, of: of}
		asked = append(asked, q)
		n.asks[gateway] = append(n.asks[gateway], q)
	}
	for s := 1; s < len(f.Segments); s++ {
		if id := bySegment[fabric.SegmentID(s)]; id != 0 {
			ask(id, fabric.SegmentID(s))
		}
	}
	for _, id := range own {
		if row := &f.Ifaces[id]; f.Gateway(row) != f.Segments[n.segment(row)].Gateway {
			ask(id, 0)
		}
	}
	if len(asked) == 0 {
		return
	}
	for i := 1; i < len(f.Ifaces); i++ {
		row := &f.Ifaces[i]
		for _, a := range f.Addresses(row) {
			for _, q := range n.asks[a.Addr()] {
				if n.there(q, fabric.IfaceID(i), row) {
					q.found = true
				} else {
					q.elsewhere = fabric.IfaceID(i)
				}
			}
		}
	}
	var open []bool // by SegmentID, made on first use
	for _, q := range asked {
		if q.found {
			continue
		}
		if open == nil {
			open = n.open()
		}
		n.answer(q, open)
	}
}

// routes reports whether the first switch in a segment has an address there.
func (n *neighbours) routes(s fabric.SegmentID, gateway netip.Addr) bool {
	return n.with[s] != 0 && n.has(n.with[s], gateway)
}

func (n *neighbours) has(id fabric.IfaceID, gateway netip.Addr) bool {
	return slices.ContainsFunc(n.f.Addresses(&n.f.Ifaces[id]), func(a netip.Prefix) bool { return a.Addr() == gateway })
}

// near reports whether the other end of a cable has a gateway, or the router of the
// part that a host is in: most have.
func (n *neighbours) near(row *fabric.Iface, s fabric.SegmentID, gateway netip.Addr) bool {
	f := n.f
	has := func(id fabric.IfaceID) bool { return n.has(id, gateway) }
	if s != 0 && !f.Segments[s].Subnet.IsValid() {
		if slices.ContainsFunc(n.of(s, f.Ports[f.Ports[n.port(row)].Peer].Device).routers, has) {
			return true
		}
	}
	return slices.ContainsFunc(n.peers(row), has)
}

// there reports whether an interface is where a gateway is asked for.
func (n *neighbours) there(q *question, id fabric.IfaceID, row *fabric.Iface) bool {
	f := n.f
	asks := &f.Ifaces[q.iface]
	if asks.On != 0 && row.On != 0 && f.Ports[asks.On].Peer == row.On || slices.Contains(n.peers(asks), id) {
		return true
	}
	if q.segment == 0 {
		return false
	}
	if row.Segment == 0 && row.On != 0 { // a routed port may face a host that knows its segment
		if peer := n.on[f.Ports[row.On].Peer]; peer != 0 && f.Ifaces[peer].Segment == q.segment {
			return true
		}
	}
	return n.segment(row) == q.segment
}

// open are the segments of which the source does not have every switch: they reach
// an external port or a switch that rocec takes as it is, or no switch at all.
func (n *neighbours) open() []bool {
	f := n.f
	open, carried := make([]bool, len(f.Segments)), make([]bool, len(f.Segments))
	for id := 1; id < len(f.Ports); id++ {
		port := &f.Ports[id]
		dev := &f.Devices[port.Device]
		if dev.Kind != fabric.Switch {
			continue
		}
		strange := port.Flags&fabric.External != 0 || dev.Manage == fabric.HandsOff || port.Manage == fabric.HandsOff
		lag := &f.LAGs[port.LAG]
		for _, list := range [][]fabric.SegmentID{{port.Native, lag.Native}, f.VLANSets[port.VLANs], f.VLANSets[lag.VLANs]} {
			for _, s := range list {
				carried[s] = true
				open[s] = open[s] || strange
			}
		}
	}
	for s := range open {
		open[s] = open[s] || !carried[s]
	}
	return open
}

// answer notes a gateway that nobody has where it is asked for. Of several routers
// in a segment it may be the one address that they share.
func (n *neighbours) answer(q *question, open []bool) {
	f := n.f
	row := &f.Ifaces[q.iface]
	m := fabric.Misaddressed{Fault: fabric.GatewayUnknown, Iface: q.iface, Segment: q.segment, Address: f.Prefixes.Of(row.Gateway)[0]}
	port := &f.Ports[n.port(row)]
	peers := n.peers(row)
	router, routers := n.with[q.segment], n.among[q.segment]
	if f.Segments[q.segment].Tier { // each switch for itself
		list := n.of(q.segment, f.Ports[port.Peer].Device).routers
		if routers = uint32(len(list)); routers > 0 {
			router = list[0]
		}
	}
	switch {
	case q.segment != 0 && (routers > 1 || routers == 0 && open[q.segment]):
		return
	case q.segment != 0:
		m.Other = router
	case len(peers) > 0:
		m.Other = peers[0]
	case port.Peer == 0 || f.Devices[f.Ports[port.Peer].Device].Manage == fabric.HandsOff || f.Ports[port.Peer].Flags&fabric.External != 0:
		return
	}
	if m.Other != 0 {
		m.Fault = fabric.GatewayMistaken
		f.Segments[q.of].Unrouted = q.of != 0
	}
	_, mine := n.wrong[q.iface]
	_, theirs := n.wrong[m.Other]
	_, moved := n.wrong[q.elsewhere]
	if !mine && !theirs && !moved {
		f.Misaddressed = append(f.Misaddressed, m)
	}
}

// astray flags the ports on which no address fits.
func (n *neighbours) astray() {
	f := n.f
	right := map[fabric.PortID]bool{}
	if len(n.wrong) == 0 {
		return
	}
	for i := 1; i < len(f.Ifaces); i++ {
		if row := &f.Ifaces[i]; row.Addresses.Len() > 0 && !n.wrong[fabric.IfaceID(i)] {
			for _, p := range f.PortsBelow(row) {
				right[p] = true
			}
		}
	}
	for id, whole := range n.wrong {
		if !whole {
			continue
		}
		for _, p := range f.PortsBelow(&f.Ifaces[id]) {
			if !right[p] {
				f.Ports[p].Flags |= fabric.Astray
				f.SomeAstray = true
			}
		}
	}
}
