package fabric

import "cmp"

// CarriesRDMA reports whether a contract has a class that carries RDMA.
func (f *Fabric) CarriesRDMA(q QoSID) bool {
	for i := range f.QoS[q].Classes {
		if f.QoS[q].Classes[i].Carries == CarriesRDMA {
			return true
		}
	}
	return false
}

// likely says how likely RDMA of a port is in one of its segments: by the
// segment's own contract, then by what its frames hold.
type likely struct {
	contract int
	mtu      uint16
}

func (f *Fabric) likely(s SegmentID) likely {
	switch seg := &f.Segments[s]; {
	case s == 0: // no native segment
		return likely{}
	case seg.QoS == 0:
		return likely{2, seg.MTU}
	case f.CarriesRDMA(seg.QoS):
		return likely{contract: 3}
	}
	return likely{contract: 1}
}

func (l likely) compare(o likely) int {
	return cmp.Or(cmp.Compare(l.contract, o.contract), cmp.Compare(l.mtu, o.mtu))
}

// SendsRDMA reports whether a port sends RDMA in a segment, wherever its contract is
// written. Of several segments those whose own contract carries RDMA go first, then
// those without a contract, of which the ones with the largest MTU; a segment whose
// contract has no RDMA is the last. 0 is what goes in no segment.
func (f *Fabric) SendsRDMA(p PortID, s SegmentID) bool {
	port := &f.Ports[p]
	if !f.CarriesRDMA(f.Profiles[port.Profile].QoS) {
		return false
	}
	if port.VLANs == 0 || s == 0 {
		return true // there is no other, or no segment says more
	}
	own := f.likely(s)
	if own.compare(f.likely(port.Native)) < 0 {
		return false
	}
	for _, o := range f.VLANSets[port.VLANs] {
		if own.compare(f.likely(o)) < 0 {
			return false
		}
	}
	return true
}

// Contract is the qos of what goes in a segment: its own, else that by which a NIC
// sends RDMA in it, 0 if there is none.
func (s *Segment) Contract() QoSID { return cmp.Or(s.QoS, s.RDMA) }

// MarkRDMA says of each segment by which contract RDMA goes in it. Interfaces know
// whether they carry RDMA by now.
func (f *Fabric) MarkRDMA() {
	for s := 1; s < len(f.Segments); s++ {
		if q := f.Segments[s].QoS; f.CarriesRDMA(q) {
			f.Segments[s].RDMA = q
		}
	}
	type place struct {
		port    PortID
		segment SegmentID
	}
	one := make([]PortID, 1)
	said := map[place]bool{} // by an interface, against what its port would do
	for i := 1; i < len(f.Ifaces); i++ {
		iface := &f.Ifaces[i]
		if iface.Segment == 0 || f.Devices[iface.Device].Kind != Node {
			continue
		}
		below := f.LAGs[iface.OnLAG].Members
		if iface.On != 0 {
			one[0], below = iface.On, one
		}
		for _, port := range below {
			if f.SendsRDMA(port, iface.Segment) != iface.RDMA {
				said[place{port, iface.Segment}] = iface.RDMA
			}
		}
	}
	send := func(port PortID, s SegmentID) {
		if f.Segments[s].RDMA != 0 {
			return
		}
		sends, written := said[place{port, s}]
		if written && sends || !written && f.SendsRDMA(port, s) {
			f.Segments[s].RDMA = f.Profiles[f.Ports[port].Profile].QoS
		}
	}
	for i := 1; i < len(f.NICs); i++ {
		nic := &f.NICs[i]
		port := &f.Ports[nic.Port]
		if !f.Devices[port.Device].Trusted {
			continue
		}
		for _, s := range f.VLANSets[port.VLANs] {
			send(nic.Port, s)
		}
		if port.Native != 0 {
			send(nic.Port, port.Native)
		}
		if s := nic.VFs.Segment; s != 0 && nic.VFs.RDMA && f.Segments[s].RDMA == 0 {
			f.Segments[s].RDMA = f.Profiles[port.Profile].QoS
		}
	}
}
