package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// place is a VLAN on a switch: what a flood moves through.
type place struct {
	device fabric.DeviceID
	vlan   uint16
}

// step is how a flood came to a place: over which port, from which place.
type step struct {
	from place
	over fabric.PortID
}

// spread is a flood under way: where it has been, how it came there, and where
// it goes next.
type spread struct {
	came  map[place]step
	queue []place
}

func (s *spread) enter(at place, by step) {
	if _, seen := s.came[at]; !seen {
		s.came[at] = by
		s.queue = append(s.queue, at)
	}
}

func (s *spread) next() (place, bool) {
	if len(s.queue) == 0 {
		return place{}, false
	}
	at := s.queue[0]
	s.queue = s.queue[1:]
	return at, true
}

// trail is the way to a place, from where the flood started.
func (s *spread) trail(at place) []step {
	var path []step
	for by := s.came[at]; by.over != 0; by = s.came[by.from] {
		path = append(path, by)
	}
	slices.Reverse(path)
	return path
}

// flood visits every port towards the outside that frames of a VLAN can reach
// from the switches that carry its segment: over tagged VLANs that both ends
// allow, and over native VLANs whatever their numbers. What the mask has down
// is not crossed.
func (p *Pass) flood(s fabric.SegmentID, mask *fabric.Mask, visit func(at place, e End, path []step)) {
	if len(p.outward()) == 0 {
		return
	}
	around := spread{came: map[place]step{}}
	for _, d := range p.carriersOf(s) {
		around.enter(place{d, p.Fabric.Segments[s].VLAN}, step{})
	}
	for at, more := around.next(); more; at, more = around.next() {
		for _, id := range p.edgesOf(at.device) {
			e := p.End(id)
			if tagged, untagged := p.hasVLAN(e, at.vlan); !tagged && !untagged {
				continue
			}
			if p.faces(e) {
				visit(at, e, around.trail(at))
			}
			if to, ok := p.cross(at, e, mask); ok && p.Fabric.Devices[to.device].Kind == fabric.Switch {
				around.enter(to, step{at, id})
			}
		}
	}
}

// cross is the place that frames of a place come to over a port, if they do.
func (p *Pass) cross(at place, e End, mask *fabric.Mask) (to place, ok bool) {
	if e.Port.Peer == 0 || !p.Fabric.Up(e.Port.Link, mask) {
		return place{}, false
	}
	peer := p.End(e.Port.Peer)
	tagged, untagged := p.hasVLAN(e, at.vlan)
	if t, _ := p.hasVLAN(peer, at.vlan); tagged && t {
		return place{peer.Port.Device, at.vlan}, true
	}
	if untagged && peer.Port.Native != 0 {
		return place{peer.Port.Device, p.Fabric.Segments[peer.Port.Native].VLAN}, true
	}
	return place{}, false
}

// pausing is what is known of a port's PFC.
type pausing uint8

const (
	noPauses pausing = iota
	takesPauses
	unknownPauses
)

// pauses says whether a port takes and sends pauses. What is not written does
// not become lossless where rocec writes or compares a port; of a port that it
// never touches nothing is known then.
func (p *Pass) pauses(e End) pausing {
	_, _, written := p.Fabric.Origin(e.Port.Decl, e.Port.Layers, schema.AQoS)
	switch {
	case e.Port.Manage == fabric.HandsOff && (e.Port.Profile == 0 || p.untrusted(e) && !written):
		return unknownPauses
	case e.Profile.PFC != 0:
		return takesPauses
	}
	return noPauses
}

// pauseFlood follows the pauses that come in at ports towards the outside of
// which nothing is known, over the VLANs of those ports, and visits the first
// ports with PFC that they come to. Where an RDMA VLAN is on the way, ROCE603
// to 605 say that the outside is in it.
func (p *Pass) pauseFlood(visit func(e, outside End, path []step)) {
	around := spread{came: map[place]step{}}
	start := map[place]fabric.PortID{}
	for _, id := range p.outward() {
		e := p.End(id)
		if e.Device.Kind != fabric.Switch || p.pauses(e) != unknownPauses {
			continue
		}
		for _, s := range append(slices.Clone(p.Fabric.VLANSets[e.Port.VLANs]), e.Port.Native) {
			if at := (place{e.Port.Device, p.Fabric.Segments[s].VLAN}); s != 0 && start[at] == 0 {
				start[at] = id
				around.enter(at, step{})
			}
		}
	}
	reached := map[fabric.PortID]bool{}
	for at, more := around.next(); more; at, more = around.next() {
		first, end := p.Fabric.PortsOf(at.device)
		for id := first; id < end; id++ {
			e := p.End(id)
			if tagged, untagged := p.hasVLAN(e, at.vlan); !tagged && !untagged || p.pauses(e) == noPauses || p.faces(e) {
				continue
			}
			to, ok := p.cross(at, e, nil)
			if !ok || reached[e.Port.Peer] {
				continue
			}
			peer := p.End(e.Port.Peer)
			switch p.pauses(peer) {
			case unknownPauses:
				if peer.Device.Kind == fabric.Switch {
					around.enter(to, step{at, id})
				}
			case takesPauses:
				path := append(around.trail(at), step{at, id})
				if outside := p.End(start[path[0].from]); !p.meetsRDMA(path, to) {
					reached[peer.ID] = true
					visit(peer, outside, path)
				}
			}
		}
	}
}

// meetsRDMA reports whether some place of a way is in an RDMA VLAN.
func (p *Pass) meetsRDMA(path []step, to place) bool {
	return p.rdmaVLAN(to.vlan) || slices.ContainsFunc(path, func(s step) bool { return p.rdmaVLAN(s.from.vlan) })
}

func (p *Pass) rdmaVLAN(vlan uint16) bool {
	for id := 1; id < len(p.Fabric.Segments); id++ {
		if p.Fabric.Segments[id].VLAN == vlan && p.rdmaSegment(fabric.SegmentID(id)) {
			return true
		}
	}
	return false
}

// hostile reports whether the node that a port faces is not trusted.
func (p *Pass) hostile(e End) bool {
	return e.Device.Kind == fabric.Switch && e.Port.Peer != 0 && !p.Fabric.Devices[p.Fabric.Ports[e.Port.Peer].Device].Trusted
}

// faces reports whether a port is towards the outside: declared external, or
// cabled to a node that nobody trusts.
func (p *Pass) faces(e End) bool { return e.Port.Flags&fabric.External != 0 || p.hostile(e) }

// outward are the ports of trusted devices towards the outside, ascending.
func (p *Pass) outward() []fabric.PortID { return p.shared().outward() }

func (p *Pass) portsOutward() (list []fabric.PortID) {
	untrusted := slices.ContainsFunc(p.Fabric.Devices[1:], func(d fabric.Device) bool { return !d.Trusted })
	for id := fabric.PortID(1); int(id) < len(p.Fabric.Ports); id++ {
		if !untrusted && p.Fabric.Ports[id].Flags&fabric.External == 0 {
			continue // nothing but a mark makes it outward
		}
		if e := p.End(id); p.faces(e) && e.Device.Trusted {
			list = append(list, id)
		}
	}
	return list
}

// edgesOf are the ports of a switch that a flood can leave it by: those cabled
// to switches, and those towards the outside.
func (p *Pass) edgesOf(d fabric.DeviceID) []fabric.PortID {
	if p.edges == nil {
		p.edges = make([][]fabric.PortID, len(p.Fabric.Devices))
		for id := fabric.PortID(1); int(id) < len(p.Fabric.Ports); id++ {
			e := p.End(id)
			if peer := e.Port.Peer; p.faces(e) || peer != 0 && p.Fabric.Devices[p.Fabric.Ports[peer].Device].Kind == fabric.Switch {
				p.edges[e.Port.Device] = append(p.edges[e.Port.Device], id)
			}
		}
	}
	return p.edges[d]
}

// atTrusted is the place that says that the node which a port faces is not trusted.
func (p *Pass) atTrusted(e End) diag.Label {
	node := &p.Fabric.Devices[p.Fabric.Ports[e.Port.Peer].Device]
	return p.Fabric.Label(node.Decl, node.Layers, schema.ATrusted, "not trusted")
}

// hasVLAN says how a port carries a VLAN.
func (p *Pass) hasVLAN(e End, vlan uint16) (tagged, untagged bool) {
	f := p.Fabric
	_, tagged = slices.BinarySearchFunc(f.VLANSets[e.Port.VLANs], vlan, func(s fabric.SegmentID, v uint16) int { return int(f.Segments[s].VLAN) - int(v) })
	return tagged, e.Port.Native != 0 && f.Segments[e.Port.Native].VLAN == vlan
}

// carriersOf are the switches that carry a segment, ascending. All segments are
// looked up in one walk: a fabric may have as many as it has leaves.
func (p *Pass) carriersOf(s fabric.SegmentID) []fabric.DeviceID {
	if p.carriers != nil {
		return p.carriers[s]
	}
	f := p.Fabric
	p.carriers = make([][]fabric.DeviceID, len(f.Segments))
	last := make([]fabric.DeviceID, len(f.VLANSets)) // the device that a set was last met on
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		if f.Devices[d].Kind != fabric.Switch {
			continue
		}
		add := func(s fabric.SegmentID) {
			if on := p.carriers[s]; len(on) == 0 || on[len(on)-1] != d {
				p.carriers[s] = append(on, d)
			}
		}
		first, end := f.PortsOf(d)
		for id := first; id < end; id++ {
			add(f.Ports[id].Native) // 0, no segment, is never asked for
			if set := f.Ports[id].VLANs; last[set] != d {
				last[set] = d
				for _, s := range f.VLANSets[set] {
					add(s)
				}
			}
		}
	}
	return p.carriers[s]
}

// via shows the hops of a way.
func (p *Pass) via(path []step) string {
	if len(path) == 0 {
		return "directly"
	}
	var hops []string
	for _, s := range path {
		hops = append(hops, fmt.Sprintf("%s (VLAN %d)", p.Fabric.PortName(s.over), s.from.vlan))
	}
	return "via " + strings.Join(hops, ", ")
}
