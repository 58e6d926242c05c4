package paths

import (
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
)

// outKind is what frames meet that leave by a port.
type outKind struct {
	own, peer int32
	device    fabric.DeviceID
	ends      bool         // at a node that takes classes: an untrusted one may stand before it
	lag       fabric.LAGID // of NICs that are not alike
	vlans     [2]fabric.VLANSetID
	native    [2]fabric.SegmentID
}

// outs are the ports of a device by which frames can leave it.
func (j *judge) outs(d fabric.DeviceID) []fabric.PortID {
	if j.out == nil {
		j.out = make([][]fabric.PortID, len(j.f.Devices))
	}
	if j.out[d] != nil {
		return j.out[d]
	}
	list := []fabric.PortID{}
	clear(j.seen)
	var last outKind // neighbours are mostly alike
	first, end := j.f.PortsOf(d)
	for p := first; p < end; p++ {
		port := &j.f.Ports[p]
		if port.Peer == 0 || !j.f.Up(port.Link, nil) {
			continue
		}
		peer := &j.f.Ports[port.Peer]
		k := outKind{own: j.kindOf[p], peer: j.kindOf[port.Peer]}
		if j.f.Devices[peer.Device].Kind == fabric.Switch {
			k.device = peer.Device
		} else {
			k.ends, k.lag = endpoint(j.f, port.Peer), j.uneven(port.Peer)
		}
		if j.pcp {
			k.vlans, k.native = [2]fabric.VLANSetID{port.VLANs, peer.VLANs}, [2]fabric.SegmentID{port.Native, peer.Native}
		}
		if k != last && !j.seen[k] {
			j.seen[k] = true
			list = append(list, p)
		}
		last = k
	}
	j.out[d] = list
	return list
}

// uneven is the bond of a NIC that has others which are not like it; 0: it has none.
func (j *judge) uneven(nic fabric.PortID) fabric.LAGID {
	id := j.f.Ports[nic].LAG
	lag := &j.f.LAGs[id]
	if id == 0 || lag.Mode == fabric.ActiveBackup || lag.Mode == fabric.SET {
		return 0
	}
	if slices.ContainsFunc(lag.Members, func(m fabric.PortID) bool { return j.kindOf[m] != j.kindOf[nic] }) {
		return id
	}
	return 0
}

// tags says how frames may travel over a cable: with a tag, without, or either.
// It matters only where something trusts PCP.
func (j *judge) tags(out, to fabric.PortID) []bool {
	if !j.pcp {
		return without
	}
	a, b := &j.f.Ports[out], &j.f.Ports[to]
	switch tagged := a.VLANs != 0 && b.VLANs != 0; {
	case !tagged:
		return without
	case a.Native != 0 && b.Native != 0:
		return either
	}
	return with
}

var without, with, either = []bool{false}, []bool{true}, []bool{true, false}
