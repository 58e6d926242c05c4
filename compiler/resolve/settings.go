package resolve

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// settings folds the layers behind each port into what the port is told. Ports
// that have the same around them and say the same are folded once.
func (r *resolver) settings() {
	r.profiles = map[fabric.Profile]fabric.ProfileID{}
	r.vlanSets = map[string]fabric.VLANSetID{}
	replaced := r.replaced()
	r.portByPort()
	r.foldKeys(func(d fabric.DeviceID, keys []portKey) {
		around := r.around(d)
		first, end := r.f.PortsOf(d)
		for p := first; p < end; p++ {
			if replaced[p] {
				r.f.Ports[p].Manage = fabric.HandsOff
				continue
			}
			r.settle(p, &around, &keys[p-first])
		}
	})
	r.outwardQueues()
	r.follow()
	for id := 1; id < len(r.f.LAGs); id++ {
		r.lagVLANs(fabric.LAGID(id))
	}
}

// replaced are the whole ports that are not there, as their children have other
// names and stand for them: what is around them says nothing of them. One that
// something is on, or whose block says more than its split, stays: it is refused
// by what it says.
func (r *resolver) replaced() map[fabric.PortID]bool {
	gone := map[fabric.PortID]bool{}
	for i := range r.f.Breakouts {
		for _, p := range r.f.Breakouts[i].Overlaps {
			more := slices.ContainsFunc(r.cfg.AttrsOf(r.portBlock[p]), func(a lang.Attr) bool { return a.Num != schema.ABreakout && a.Num != schema.AName })
			if row := &r.f.Ports[p]; row.Link == 0 && row.LAG == 0 && !more {
				gone[p] = true
			}
		}
	}
	if len(gone) > 0 {
		for i := range r.f.Ifaces {
			delete(gone, r.f.Ifaces[i].On)
		}
	}
	return gone
}

// outwardQueues gives ports with qos.untrusted the queues that the switch's other
// ports give to priorities, and to pauses: what comes in there has one priority,
// and what goes out comes from those. Some switches have one such map for all
// their ports.
func (r *resolver) outwardQueues() {
	f := r.f
	if !slices.ContainsFunc(f.Profiles, func(p fabric.Profile) bool { return f.QoS[p.QoS].Untrusted }) {
		return // no port has it
	}
	for d := range f.Devices {
		if f.Devices[d].Kind != fabric.Switch {
			continue
		}
		first, end := f.PortsOf(fabric.DeviceID(d))
		other := fabric.ProfileID(0)
		for p := first; p < end && other == 0; p++ {
			if id := f.Ports[p].Profile; id != 0 && !f.QoS[f.Profiles[id].QoS].Untrusted {
				other = id
			}
		}
		if other == 0 {
			continue
		}
		for p := first; p < end; p++ {
			own := f.Profiles[f.Ports[p].Profile]
			if f.Ports[p].Profile == 0 || !f.QoS[own.QoS].Untrusted {
				continue
			}
			if own.Deviates&fabric.DeviatesQueue == 0 {
				own.Queue = f.Profiles[other].Queue
			}
			if own.Deviates&fabric.DeviatesPFCQueue == 0 {
				own.PFCQueue = f.Profiles[other].PFCQueue
			}
			r.compose(&own)
			f.Ports[p].Profile = r.profileID(own)
		}
	}
}

// portScope is what speaks of a port: overrides, exceptions, its block, its link, its
// LAG, the segments on it, its device, the tier and the topology that connect it, the
// defaults.
func (r *resolver) portScope(p fabric.PortID, a *around, segments []lang.BlockID) *scope {
	s := &scope{cfg: r.cfg, own: r.portBlock[p], nic: a.nic}
	s.before, s.chain = r.portChain(r.before(p), nil, p, a, segments)
	if len(s.before) > 1 {
		s.clash = func(n schema.Attr, one, other lang.BlockID) { r.clash(n, r.f.PortAddress(p), one, other) }
	}
	return s
}

// before lists the overrides and exceptions of a port itself, nearest first.
func (r *resolver) before(p fabric.PortID) []layer {
	if own := r.portBlock[p]; own != 0 {
		return itself(r.speak[own])
	}
	var list []lang.BlockID
	if len(r.portSets) > 0 {
		list = append(list, r.portSets[p]...)
	}
	if row := &r.f.Ports[p]; r.innerOf[row.Device] {
		list = append(list, r.innerExcepts(r.blockOf[row.Device], r.portKind(row.Device), r.f.Text(row.Name))...)
	}
	return itself(list)
}

// ofPort is what a port says of itself, and what is said of it.
func (r *resolver) ofPort(p fabric.PortID, n schema.Attr) lang.Value {
	v, _ := (&scope{cfg: r.cfg, own: r.portBlock[p], before: r.before(p)}).nearest(n)
	return v
}

// portChain adds what stands around a port, nearest first: its link, its LAG, what its
// segments say it is for, its device, the tier and the topology that connect it, the
// defaults for ports, links and devices.
func (r *resolver) portChain(before, chain []layer, p fabric.PortID, a *around, segments []lang.BlockID) (_, _ []layer) {
	row := &r.f.Ports[p]
	link := r.linkBlock(row.Link)
	if link != 0 && r.cfg.Blocks[link].Kind != schema.NIC && r.linkSpeaks(link) { // what a NIC says is of its own end
		before, chain = r.stands(before, chain, link, fabric.AtLink)
	}
	if row.LAG != 0 {
		before, chain = r.stands(before, chain, r.lagBlock[row.LAG], fabric.AtLAG)
	}
	for _, b := range r.widestFirst(segments) {
		before, chain = r.stands(before, chain, b, fabric.AtSegment)
	}
	before, chain = r.stands(before, chain, a.device.own, r.heightOf(a.device.own))
	tier, topology := r.connects(p)
	before, chain = r.stands(before, chain, tier, fabric.AtTier)
	before, chain = r.stands(before, chain, topology, fabric.AtTopology)
	chain = append(chain, a.defaults...)
	if link != 0 {
		chain = r.defaultLayers(chain, link, schema.Link.String())
	}
	return before, append(chain, a.device.chain...)
}

// linkSpeaks reports whether the block of a link, or what speaks of it, says something
// of the ports at its ends.
func (r *resolver) linkSpeaks(b lang.BlockID) bool {
	return r.spokenOf(b) || slices.ContainsFunc(r.cfg.AttrsOf(b), func(x lang.Attr) bool { return fabric.AtLink.Says(x.Num, false) })
}

// widestFirst are the segments of a port, those with the largest MTU first: the port has
// to take the frames of all of them.
func (r *resolver) widestFirst(segments []lang.BlockID) []lang.BlockID {
	mtu := func(b lang.BlockID) uint16 { return r.f.Segments[r.segmentOf[b]].MTU }
	if slices.IsSortedFunc(segments, func(a, b lang.BlockID) int { return cmp.Compare(mtu(b), mtu(a)) }) {
		return segments
	}
	return slices.SortedStableFunc(slices.Values(segments), func(a, b lang.BlockID) int { return cmp.Compare(mtu(b), mtu(a)) })
}

func appendBlock(list []lang.BlockID, b lang.BlockID) []lang.BlockID {
	if b == 0 {
		return list
	}
	return append(list, b)
}

// fold settles one port from its layers, and returns the segments among them.
func (r *resolver) fold(p fabric.PortID, a *around) []lang.BlockID {
	row := &r.f.Ports[p]
	tagged, native, follows := r.vlansOf(p, a)
	if follows {
		row.Flags |= fabric.Follows
	}
	if x := r.carriedNative[p]; x.segment != 0 && x.segment != native {
		_, by := r.segmentScope(p).find(schema.ANative)
		r.twoNatives(p, x.by, x.segment, by, native)
	}
	segments := r.purposeOf(p, tagged, native)
	s := r.portScope(p, a, segments)
	s.id = r.layersOf(s.before, s.chain, s.nic)
	row.Layers = s.id
	row.VLANs = r.vlanSet(tagged)
	row.Native = r.segmentOf[native]
	r.keeps(row, s)
	if untagged, _ := s.find(schema.ANative); r.cfg.IsWord(untagged, "off") {
		row.Flags |= fabric.NativeSet
	} else if native == 0 && len(tagged) == 0 && !row.Kept.Has(schema.ANative) {
		row.Native = r.tierNative(p)
	}
	r.physical(p, s)
	row.Manage = max(manageOf(r.cfg.Text(s.get(schema.AManage))), r.f.Devices[row.Device].Manage)
	if s.get(schema.AExternal).N == 1 {
		row.Flags |= fabric.External
		if row.Role == fabric.RoleUnused {
			row.Role = fabric.RoleOutside
		}
	}
	r.deny(row, s.get(schema.ADeny))
	r.mtu(p, s, row.Native != 0 || len(tagged) > 0)
	row.Profile = r.profile(p, s, segments)
	row.Headroom = r.headroom(p, s, row.Profile)
	if a.nic {
		r.nic(p, s)
	} else {
		r.within(p, s)
	}
	return segments
}

// purposeOf are the segments that say what a port is for: those that it carries, and where
// the port keeps the VLANs that the device has, those that something around writes, or else
// those of the NIC at its other end.
func (r *resolver) purposeOf(p fabric.PortID, tagged []lang.BlockID, native lang.BlockID) []lang.BlockID {
	segments := appendBlock(tagged[:len(tagged):len(tagged)], native)
	if !r.folds.keeps {
		return segments
	}
	s, keeps := r.segmentScope(p), false
	for _, n := range [...]schema.Attr{schema.ASegments, schema.ANative} {
		if !s.keeps(n) {
			continue
		}
		keeps = true
		for _, v := range r.cfg.List(s.below(n)) {
			if b := lang.BlockID(v.N); v.Kind == lang.Handle && !slices.Contains(segments, b) {
				segments = append(segments, b)
			}
		}
	}
	if peer := r.f.Ports[p].Peer; keeps && len(segments) == 0 && r.f.Ports[p].NIC == 0 && r.f.Ports[peer].NIC != 0 {
		tagged, native := r.segmentsOn(peer)
		return appendBlock(tagged, native)
	}
	return segments
}

// deny reads what RDMA a port keeps out.
func (r *resolver) deny(row *fabric.Port, v lang.Value) {
	if v.Kind == lang.Absent {
		return
	}
	row.Flags |= fabric.DenySet
	for _, word := range r.cfg.List(v) {
		switch r.cfg.Text(word) {
		case "roce_v2":
			row.Flags |= fabric.DenyRoCEv2
		case "roce_v1":
			row.Flags |= fabric.DenyRoCEv1
		}
	}
}

// physical reads speed, FEC, auto-negotiation and admin state.
func (r *resolver) physical(p fabric.PortID, s *scope) {
	row := &r.f.Ports[p]
	if v := s.get(schema.ASpeed); v.Kind == lang.Int {
		row.Mbps = uint32(v.N)
		row.Flags |= fabric.SpeedSet
	} else if !row.Kept.Has(schema.ASpeed) { // what the device has then is not known
		row.Mbps = r.modelSpeed(p, s)
	}
	if v := s.get(schema.AFEC); v.Kind != lang.Absent {
		row.FEC = fecOf(r.cfg.Text(v))
		row.Flags |= fabric.FECSet
	}
	if v := s.get(schema.AAutoneg); v.Kind != lang.Absent {
		row.Flags |= fabric.AutonegSet
		if v.N == 1 {
			row.Flags |= fabric.Autoneg
		}
	}
	row.MACsec = r.macsec(s.get(schema.AMACsec))
	if v := s.get(schema.AAdmin); v.Kind != lang.Absent {
		row.Flags |= fabric.EnabledSet
		if r.cfg.Text(v) == "down" {
			row.Flags |= fabric.ShutDown
			r.someShut.Store(true)
		}
	}
}

// keeps notes what of a port is left as the device has it.
func (r *resolver) keeps(row *fabric.Port, s *scope) {
	if !r.folds.keeps {
		return
	}
	for _, n := range fabric.Keepable() {
		if s.keeps(n) {
			row.Kept = row.Kept.With(n)
		}
	}
}

func fecOf(word string) fabric.FEC {
	switch word {
	case "off":
		return fabric.FECNone
	case "rs":
		return fabric.FECRS
	case "fc":
		return fabric.FECFC
	case "auto":
		return fabric.FECAuto
	}
	return fabric.FECUnset
}

func (r *resolver) linkBlock(l fabric.LinkID) lang.BlockID {
	if int(l) < len(r.linkBlocks) {
		return r.linkBlocks[l]
	}
	return 0
}

// modelSpeed is the speed a port has when nobody writes one: that of its model.
func (r *resolver) modelSpeed(p fabric.PortID, s *scope) uint32 {
	row := &r.f.Ports[p]
	dev := &r.f.Devices[row.Device]
	if dev.Kind == fabric.Switch {
		return r.portsOf[row.Device].ports[p-dev.First].mbps
	}
	if m, ok := r.nicModel[r.cfg.Text(s.get(schema.AModel))]; ok && len(r.f.NICModels[m].Mbps) == 1 {
		return r.f.NICModels[m].Mbps[0]
	}
	return 0
}

// mtu settles the IP MTU. On a bridged switch port what is written is a floor,
// and the model's usual jumbo limit holds when that is larger; so it does on a
// link between switches that is not bridged and of which nothing is written. A
// port as found is taken as it is. Hosts have 1500 unless something says otherwise.
func (r *resolver) mtu(p fabric.PortID, s *scope, bridged bool) {
	row := &r.f.Ports[p]
	v := s.get(schema.AMTU)
	if v.Kind == lang.Int {
		row.MTU = uint16(v.N)
		row.Flags |= fabric.MTUSet
	}
	dev := &r.f.Devices[row.Device]
	if row.Kept.Has(schema.AMTU) {
		return
	}
	if dev.Kind == fabric.Node {
		if row.MTU == 0 {
			row.MTU = 1500
		}
		return
	}
	row.MTUFloor = row.MTU
	if jumbo := r.f.Models[dev.Model].JumboMTU; (bridged || row.MTU == 0 && row.Role == fabric.RoleFabric) && row.Manage != fabric.Verify && dev.Manage == fabric.Full && jumbo > row.MTU {
		row.MTU = jumbo
		row.Flags |= fabric.MTUSet
	}
}

// segmentsOn lists the segments a port carries: tagged ones, and the native.
func (r *resolver) segmentsOn(p fabric.PortID) (tagged []lang.BlockID, native lang.BlockID) {
	row := &r.f.Ports[p]
	add := func(v lang.Value) {
		for _, e := range r.cfg.List(v) {
			if e.Kind == lang.Handle && !slices.Contains(tagged, lang.BlockID(e.N)) {
				tagged = append(tagged, lang.BlockID(e.N))
			}
		}
	}
	one := func(v lang.Value) {
		if v.Kind == lang.Handle && native == 0 {
			native = lang.BlockID(v.N)
		}
	}
	s := r.segmentScope(p)
	add(s.get(schema.ASegments))
	add(s.get(schema.ASegment))
	one(s.get(schema.ANative))
	for _, extra := range r.carried[p] {
		if !slices.Contains(tagged, extra) {
			tagged = append(tagged, extra)
		}
	}
	if n := r.carriedNative[p].segment; n != 0 && native == 0 {
		native = n
	}
	if row.Role == fabric.RolePeerLink {
		for _, extra := range r.pairSegments(row.Device) {
			if !slices.Contains(tagged, extra) && extra != native {
				tagged = append(tagged, extra)
			}
		}
	}
	if len(tagged) > 1 {
		slices.SortStableFunc(tagged, func(a, b lang.BlockID) int {
			return int(r.f.Segments[r.segmentOf[a]].VLAN) - int(r.f.Segments[r.segmentOf[b]].VLAN)
		})
	}
	return tagged, native
}

// segmentScope is what says which segments a port is in.
func (r *resolver) segmentScope(p fabric.PortID) *scope {
	row := &r.f.Ports[p]
	s := &scope{cfg: r.cfg, own: r.portBlock[p], before: r.before(p)}
	if row.LAG != 0 {
		s.before, s.chain = r.stands(s.before, nil, r.lagBlock[row.LAG], fabric.AtLAG)
	}
	s.chain = r.defaultLayers(s.chain, r.blockOf[row.Device], r.portKind(row.Device).String())
	if len(s.before) > 1 {
		s.clash = func(n schema.Attr, one, other lang.BlockID) { r.clash(n, r.f.PortAddress(p), one, other) }
	}
	return s
}

// pairSegments are all segments that the ports of a pair carry: a peer link
// carries them all.
func (r *resolver) pairSegments(d fabric.DeviceID) []lang.BlockID {
	pair := r.f.Devices[d].MLAG
	if pair == 0 {
		return nil
	}
	if list, done := r.pairs[pair]; done {
		return list
	}
	if r.pairs == nil {
		r.pairs = map[fabric.MLAGID][]lang.BlockID{}
	}
	var list []lang.BlockID
	for _, dev := range r.f.MLAGs[pair].Switches {
		a := r.around(dev)
		first, end := r.f.PortsOf(dev)
		for p := first; p < end; p++ {
			if r.f.Ports[p].Role == fabric.RolePeerLink {
				continue
			}
			tagged, native, _ := r.vlansOf(p, &a)
			for _, s := range append(tagged, native) {
				if s != 0 && !slices.Contains(list, s) {
					list = append(list, s)
				}
			}
		}
	}
	r.pairs[pair] = list
	return list
}

func (r *resolver) vlanSet(tagged []lang.BlockID) fabric.VLANSetID {
	if len(tagged) == 0 {
		return 0
	}
	key := make([]byte, 0, 4*len(tagged))
	set := make([]fabric.SegmentID, 0, len(tagged))
	for _, b := range tagged {
		set = append(set, r.segmentOf[b])
		key = binary.LittleEndian.AppendUint32(key, uint32(r.segmentOf[b]))
	}
	if id, ok := r.vlanSets[string(key)]; ok {
		return id
	}
	id := fabric.VLANSetID(len(r.f.VLANSets))
	r.f.VLANSets = append(r.f.VLANSets, set)
	r.vlanSets[string(key)] = id
	return id
}

// lagVLANs gives a LAG what its members carry.
func (r *resolver) lagVLANs(id fabric.LAGID) {
	lag := &r.f.LAGs[id]
	if len(lag.Members) == 0 {
		return
	}
	first := &r.f.Ports[lag.Members[0]]
	lag.VLANs, lag.Native, lag.Kept = first.VLANs, first.Native, first.Kept
	if v := r.inside(r.lagBlock[id], schema.AMTU, r.blockOf[lag.Device], append(slices.Clip(r.f.VLANSets[lag.VLANs]), lag.Native)...); v.Kind == lang.Int {
		lag.MTU = uint16(v.N)
	}
	if lag.MTU == 0 && first.Flags&fabric.MTUSet != 0 {
		lag.MTU = first.MTU
	}
}

// headroom enters what is written of a port's headroom, 0 if nothing is.
func (r *resolver) headroom(p fabric.PortID, s *scope, profile fabric.ProfileID) fabric.HeadroomID {
	var h fabric.Headroom
	v, _ := s.find(schema.AHeadroom)
	switch {
	case v.Kind == lang.Int:
		h.AllBytes, h.Zero = uint32(v.N), v.N == 0
	case r.cfg.IsWord(v, "keep"):
		h.Keep = true
	case v.Kind == lang.Map:
		q := &r.f.QoS[r.f.Profiles[profile].QoS]
		for _, e := range r.cfg.Pairs(v) {
			i := slices.IndexFunc(q.Classes, func(c fabric.Class) bool { return r.f.Text(c.Name) == r.cfg.Text(e.Key) })
			switch {
			case i >= 0:
				h.ByClass[i], h.ZeroClass[i] = uint32(e.Val.N), e.Val.N == 0
			case profile == 0:
				r.fail(fmt.Sprintf("headroom of %s names class %s, and the port has no qos", r.f.PortName(p), r.cfg.Text(e.Key)),
					"write a qos for the port", r.f.PortLabel(p, schema.AHeadroom, ""))
			default:
				r.fail(fmt.Sprintf("headroom of %s names class %s, which qos %s does not have", r.f.PortName(p), r.cfg.Text(e.Key), r.f.Text(q.Name)),
					"name a class of the port's qos", r.f.PortLabel(p, schema.AHeadroom, ""), r.f.DeclLabel(q.Decl, "its qos"))
			}
		}
	default:
		return 0
	}
	if i := slices.Index(r.f.Headrooms, h); i > 0 {
		return fabric.HeadroomID(i)
	}
	r.f.Headrooms = append(r.f.Headrooms, h)
	return fabric.HeadroomID(len(r.f.Headrooms) - 1)
}
