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
