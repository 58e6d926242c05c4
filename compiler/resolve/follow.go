package resolve

import (
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// A switch port that rocec writes follows the NIC at its other end, however the two
// are joined: it has the NIC's speed where nothing writes one for the port, and its
// VLANs where neither the port nor its LAG nor defaults write any. What is proven of
// the two ends is proven of what follows as of what is written. A port as found is
// taken as it is.

// follow gives switch ports the speeds of the NICs they are for, as somebody has to
// tell them: a 400G NIC on an 800G port is meant to run; and routed ports the written
// MTUs of their NICs, as both ends of such a cable are routers.
func (r *resolver) follow() {
	for l := 1; l < len(r.f.Links); l++ {
		nic, port := r.nicAndPort(fabric.LinkID(l))
		if nic == nil || port.Manage != fabric.Full {
			continue
		}
		routed := port.Native == 0 && port.VLANs == 0 && port.LAG == 0
		if routed && port.MTU == 0 && nic.Flags&fabric.MTUSet != 0 && !port.Kept.Has(schema.AMTU) {
			port.MTU = nic.MTU
			port.Flags |= fabric.MTUSet
		}
		written := nic.Flags&fabric.SpeedSet != 0 && port.Flags&fabric.SpeedSet == 0 && !port.Kept.Has(schema.ASpeed)
		if written && (port.Mbps == 0 || port.Mbps > nic.Mbps) { // else that of its model will do, or no more is to be had
			port.Mbps = nic.Mbps
			port.Flags |= fabric.SpeedSet
		}
	}
}

// nicAndPort are the ends of a link between a NIC and a switch, nil of any other.
func (r *resolver) nicAndPort(l fabric.LinkID) (nic, port *fabric.Port) {
	nic, port = &r.f.Ports[r.f.Links[l].A], &r.f.Ports[r.f.Links[l].B]
	if nic.NIC == 0 {
		nic, port = port, nic
	}
	if nic.NIC == 0 || port.NIC != 0 {
		return nil, nil
	}
	return nic, port
}

// carries reports whether interfaces bring VLANs to a port.
func (r *resolver) carries(p fabric.PortID) bool {
	return len(r.carried) > 0 && r.carried[p] != nil || len(r.carriedNative) > 0 && r.carriedNative[p].segment != 0
}

// vlansOf are the segments of a port: those that are written for it, else those of
// the NIC at its other end.
func (r *resolver) vlansOf(p fabric.PortID, a *around) (tagged []lang.BlockID, native lang.BlockID, follows bool) {
	tagged, native = r.segmentsOn(p)
	if len(tagged) > 0 || native != 0 || !r.followsNIC(p, a) {
		return tagged, native, false
	}
	tagged, native = r.segmentsOn(r.f.Ports[p].Peer)
	return tagged, native, len(tagged) > 0 || native != 0
}

// portByPort notes the switches of which some port towards a node writes its VLANs, or its LAG does: there a port that writes none is
// the odd one out, and follows nobody.
func (r *resolver) portByPort() {
	r.byPort = make([]bool, len(r.f.Devices))
	if len(r.f.Segments) < 2 {
		return // nothing but the row of no segment
	}
	for p := 1; p < len(r.f.Ports); p++ {
		row := &r.f.Ports[p]
		if row.NIC != 0 || r.f.Ports[row.Peer].NIC == 0 || r.byPort[row.Device] {
			continue
		}
		r.byPort[row.Device] = r.writesVLANs(r.portBlock[p]) || row.LAG != 0 && r.writesVLANs(r.lagBlock[row.LAG])
	}
}

func (r *resolver) writesVLANs(b lang.BlockID) bool {
	if b == 0 {
		return false
	}
	tagged, native := r.cfg.Attr(b, schema.ASegments), r.cfg.Attr(b, schema.ANative) // an exception is one
	return native.Kind == lang.Handle || tagged.Kind == lang.Handle || tagged.Kind == lang.List && len(r.cfg.List(tagged)) > 0
}

// followsNIC reports whether a switch port without VLANs is one that rocec writes
// and of which nothing says that it has none: an empty list of its own, an address,
// the subnet of its leaf.
func (r *resolver) followsNIC(p fabric.PortID, a *around) bool {
	row := &r.f.Ports[p]
	if row.NIC != 0 || r.byPort[row.Device] || r.f.Ports[row.Peer].NIC == 0 || row.Flags&fabric.RoutedPort != 0 || r.tierNative(p) != 0 {
		return false
	}
	s := r.segmentScope(p)
	for _, n := range [...]schema.Attr{schema.ASegments, schema.ASegment, schema.ANative} {
		if _, by := s.find(n); by != 0 {
			return false
		}
	}
	return max(manageOf(r.cfg.Text(r.portScope(p, a, nil).get(schema.AManage))), r.f.Devices[row.Device].Manage) == fabric.Full
}
