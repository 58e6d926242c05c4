package lint

import "github.com/rocec/rocec/compiler/fabric"

// rdmaSegment reports whether a segment carries RDMA: its contract says so, or some
// NIC sends RDMA in it, wherever that is written.
func (p *Pass) rdmaSegment(s fabric.SegmentID) bool { return p.rdmaSegments()[s] != 0 }

// eachRDMA calls visit for each segment that carries RDMA.
func (p *Pass) eachRDMA(visit func(fabric.SegmentID)) {
	for s, by := range p.rdmaSegments() {
		if by != 0 {
			visit(fabric.SegmentID(s))
		}
	}
}

// rdmaSegments are the contracts by which segments carry RDMA, 0 for those that do
// not: a segment's own, else that of the first NIC. What a node that nobody trusts
// would send does not count: it is not what the VLAN is for.
func (p *Pass) rdmaSegments() []fabric.QoSID {
	if p.rdma != nil {
		return p.rdma
	}
	f := p.Fabric
	set := make([]fabric.QoSID, len(f.Segments))
	p.rdma = set
	for s := 1; s < len(set); s++ {
		if q := f.Segments[s].QoS; f.CarriesRDMA(q) {
			set[s] = q
		}
	}
	type place struct {
		port    fabric.PortID
		segment fabric.SegmentID
	}
	one := make([]fabric.PortID, 1)
	said := map[place]bool{} // by an interface, against what its port would do
	for i := 1; i < len(f.Ifaces); i++ {
		iface := &f.Ifaces[i]
		if iface.Segment == 0 || f.Devices[iface.Device].Kind != fabric.Node {
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
	send := func(port fabric.PortID, s fabric.SegmentID) {
		if set[s] != 0 {
			return
		}
		sends, written := said[place{port, s}]
		if written && sends || !written && f.SendsRDMA(port, s) {
			set[s] = f.Profiles[f.Ports[port].Profile].QoS
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
		if s := nic.VFs.Segment; s != 0 && nic.VFs.RDMA && set[s] == 0 {
			set[s] = f.Profiles[port.Profile].QoS
		}
	}
	return set
}
