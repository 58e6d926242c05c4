package resolve

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// settings folds the layers behind each port into what the port is told.
func (r *resolver) settings() {
	r.profiles = map[fabric.Profile]fabric.ProfileID{}
	r.vlanSets = map[string]fabric.VLANSetID{}
	for d := 1; d < len(r.f.Devices); d++ {
		around := r.around(fabric.DeviceID(d))
		first, end := r.f.PortsOf(fabric.DeviceID(d))
		for p := first; p < end; p++ {
			r.port(p, around)
		}
	}
	for id := 1; id < len(r.f.LAGs); id++ {
		r.lagVLANs(fabric.LAGID(id))
	}
}

// around is what stands around every port of one device.
type around struct {
	device   *scope
	defaults []lang.BlockID // of ports or NICs
	inner    bool           // some exception of the device speaks of its ports
}

func (r *resolver) around(d fabric.DeviceID) around {
	b := r.blockOf[d]
	label := "port"
	if r.f.Devices[d].Kind == fabric.Node {
		label = "nic"
	}
	a := around{device: r.deviceLayers(b), defaults: r.defaultsFor(b, label)}
	for _, e := range r.excepts(b) {
		first, end := r.cfg.Kids(e)
		a.inner = a.inner || first < end
	}
	return a
}

// portScope is the chain behind a port: overrides, exceptions, its block, its
// LAG, its device, the segments on it, the defaults.
func (r *resolver) portScope(p fabric.PortID, a around, segments []lang.BlockID) *scope {
	row := &r.f.Ports[p]
	s := &scope{cfg: r.cfg, own: r.portBlock[p]}
	if s.own != 0 {
		if sets := r.sets[s.own]; sets != nil {
			s.before = append(s.before, sets...)
		}
		s.before = append(s.before, r.excepts(s.own)...)
	}
	if a.inner {
		kind := schema.Port
		if r.f.Devices[row.Device].Kind == fabric.Node {
			kind = schema.NIC
		}
		s.before = append(s.before, r.innerExcepts(r.blockOf[row.Device], kind, r.f.Text(row.Name))...)
	}
	if row.LAG != 0 {
		if b := r.lagBlock[row.LAG]; b != 0 {
			s.chain = append(s.chain, r.sets[b]...)
			s.chain = append(s.chain, b)
		}
	}
	s.chain = append(s.chain, a.device.before...)
	s.chain = append(s.chain, a.device.own)
	s.chain = append(s.chain, segments...)
	s.chain = append(s.chain, a.defaults...)
	s.chain = append(s.chain, a.device.chain...)
	s.id = r.layersOf(s.before, s.chain)
	return s
}

func (r *resolver) port(p fabric.PortID, a around) {
	row := &r.f.Ports[p]
	if row.Flags&fabric.Implicit != 0 && row.Link == 0 && row.LAG == 0 {
		return // nothing mentions it and no cable reaches it: left alone
	}
	tagged, native := r.segmentsOn(p)
	blocks := make([]lang.BlockID, 0, len(tagged)+1)
	blocks = append(blocks, tagged...)
	if native != 0 {
		blocks = append(blocks, native)
	}
	s := r.portScope(p, a, blocks)
	row.Layers = s.id
	row.VLANs = r.vlanSet(tagged)
	row.Native = r.segmentOf[native]
	r.physical(p, s)
	row.Manage = max(manageOf(r.cfg.Text(s.get(schema.AManage))), r.f.Devices[row.Device].Manage)
	if s.get(schema.AExternal).N == 1 {
		row.Flags |= fabric.External
		if row.Role == fabric.RoleUnused {
			row.Role = fabric.RoleOutside
		}
	}
	r.mtu(p, s, native != 0 || len(tagged) > 0)
	row.Profile = r.profile(p, s, tagged, native)
	row.Headroom = r.headroom(s.get(schema.AHeadroom), row.Profile)
	if row.Headroom != 0 {
		row.Flags |= fabric.HeadroomSet
	}
	if r.f.Devices[row.Device].Kind == fabric.Switch && r.attrOrNone(s.own, schema.AAddress).Kind != lang.Absent {
		row.Flags |= fabric.RoutedPort
	}
	if r.f.Devices[row.Device].Kind == fabric.Node {
		r.nic(p, s)
	}
}

// physical reads speed, FEC, auto-negotiation and admin state.
func (r *resolver) physical(p fabric.PortID, s *scope) {
	row := &r.f.Ports[p]
	if v := s.get(schema.ASpeed); v.Kind == lang.Int {
		row.Mbps = uint32(v.N)
		row.Flags |= fabric.SpeedSet
	} else {
		row.Mbps = r.modelSpeed(p, s)
	}
	fec, autoneg := s.get(schema.AFEC), s.get(schema.AAutoneg)
	if row.Link != 0 {
		// What the link says of both ends is nearer than the device, farther than the port.
		if b := r.linkBlock(row.Link); b != 0 {
			fec = r.firstOf(r.attrOrNone(s.own, schema.AFEC), r.linkAttr(b, schema.AFEC), fec)
			autoneg = r.firstOf(r.attrOrNone(s.own, schema.AAutoneg), r.linkAttr(b, schema.AAutoneg), autoneg)
		}
	}
	if fec.Kind != lang.Absent {
		row.FEC = map[string]fabric.FEC{"none": fabric.FECNone, "rs": fabric.FECRS, "fc": fabric.FECFC, "auto": fabric.FECAuto}[r.cfg.Text(fec)]
		row.Flags |= fabric.FECSet
	}
	if autoneg.Kind != lang.Absent {
		row.Flags |= fabric.AutonegSet
		if autoneg.N == 1 {
			row.Flags |= fabric.Autoneg
		}
	}
	if v := s.get(schema.AEnabled); v.Kind != lang.Absent {
		row.Flags |= fabric.EnabledSet
		if v.N == 0 {
			row.Flags |= fabric.ShutDown
		}
	}
}

// firstOf is the port's own value where it has one, else the link's, else the rest.
func (r *resolver) firstOf(own, link, rest lang.Value) lang.Value {
	switch {
	case own.Kind != lang.Absent:
		return own
	case link.Kind != lang.Absent:
		return link
	}
	return rest
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
		for i := range r.f.Breakouts {
			if slices.Contains(r.f.Breakouts[i].Children, p) {
				return r.f.Breakouts[i].Mbps
			}
		}
		m := &r.f.Models[dev.Model]
		if g, ok := m.Mbps[r.f.Text(row.Name)]; ok {
			return g
		}
		return m.Mbps["*"]
	}
	if m, ok := r.nicModel[r.cfg.Text(s.get(schema.AModel))]; ok && len(r.f.NICModels[m].Mbps) == 1 {
		return r.f.NICModels[m].Mbps[0]
	}
	return 0
}

// mtu settles the IP MTU. On a bridged switch port what is written is a floor,
// and the model's usual jumbo limit holds when that is larger; a port as found
// is taken as it is. Hosts have 1500 unless something says otherwise.
func (r *resolver) mtu(p fabric.PortID, s *scope, bridged bool) {
	row := &r.f.Ports[p]
	v := s.get(schema.AMTU)
	if peer := r.peerObject(p); v.Kind == lang.Absent && peer.Kind == lang.Object {
		v = r.cfg.Field(peer, schema.AMTU)
	}
	if v.Kind == lang.Int {
		row.MTU = uint16(v.N)
		row.Flags |= fabric.MTUSet
	}
	dev := &r.f.Devices[row.Device]
	if dev.Kind == fabric.Node {
		if row.MTU == 0 {
			row.MTU = 1500
		}
		return
	}
	row.MTUFloor = row.MTU
	if jumbo := r.f.Models[dev.Model].JumboMTU; bridged && row.Manage != fabric.Verify && dev.Manage == fabric.Full && jumbo > row.MTU {
		row.MTU = jumbo
		row.Flags |= fabric.MTUSet
	}
}

// peerObject is what the NIC at the other end says of a switch port.
func (r *resolver) peerObject(p fabric.PortID) lang.Value {
	row := &r.f.Ports[p]
	if row.Peer == 0 || r.f.Devices[row.Device].Kind != fabric.Switch {
		return lang.Value{}
	}
	v := r.attrOrNone(r.portBlock[row.Peer], schema.APeer)
	if v.Kind == lang.Object {
		row.Flags |= fabric.FromPeer
	}
	return v
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
	read := func(b lang.BlockID) {
		if b == 0 {
			return
		}
		add(r.attr(b, schema.ASegments))
		add(r.attr(b, schema.ASegment))
		one(r.attr(b, schema.ANative))
	}
	for _, b := range r.near(r.portBlock[p]) {
		read(b)
	}
	read(r.portBlock[p])
	if row.LAG != 0 {
		read(r.lagBlock[row.LAG])
	}
	if peer := r.peerObject(p); peer.Kind == lang.Object && len(tagged) == 0 && native == 0 {
		add(r.cfg.Field(peer, schema.ASegments))
		one(r.cfg.Field(peer, schema.ANative))
	}
	for _, extra := range r.carried[p] {
		if !slices.Contains(tagged, extra) {
			tagged = append(tagged, extra)
		}
	}
	if n := r.carriedNative[p]; n != 0 && native == 0 {
		native = n
	}
	if row.Role == fabric.RolePeerLink {
		for _, extra := range r.pairSegments(row.Device) {
			if !slices.Contains(tagged, extra) && extra != native {
				tagged = append(tagged, extra)
			}
		}
	}
	slices.SortStableFunc(tagged, func(a, b lang.BlockID) int {
		return int(r.f.Segments[r.segmentOf[a]].VLAN) - int(r.f.Segments[r.segmentOf[b]].VLAN)
	})
	return tagged, native
}

// near lists the overrides and exceptions that hold for a block.
func (r *resolver) near(b lang.BlockID) []lang.BlockID {
	if b == 0 {
		return nil
	}
	return append(append([]lang.BlockID(nil), r.sets[b]...), r.excepts(b)...)
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
		first, end := r.f.PortsOf(dev)
		for p := first; p < end; p++ {
			if r.f.Ports[p].Role == fabric.RolePeerLink {
				continue
			}
			tagged, native := r.segmentsOn(p)
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
	lag.VLANs, lag.Native = first.VLANs, first.Native
	if lag.MTU == 0 && first.Flags&fabric.MTUSet != 0 {
		lag.MTU = first.MTU
	}
}

// headroom enters what is written of headroom, 0 if nothing is.
func (r *resolver) headroom(v lang.Value, profile fabric.ProfileID) fabric.HeadroomID {
	var h fabric.Headroom
	switch {
	case v.Kind == lang.Int:
		h.AllBytes, h.Zero = uint32(v.N), v.N == 0
	case r.cfg.IsWord(v, "keep"):
		h.Keep = true
	case v.Kind == lang.Map:
		q := &r.f.QoS[r.f.Profiles[profile].QoS]
		for _, e := range r.cfg.Pairs(v) {
			i := slices.IndexFunc(q.Classes, func(c fabric.Class) bool { return r.f.Text(c.Name) == r.cfg.Text(e.Key) })
			if i >= 0 {
				h.ByClass[i] = uint32(e.Val.N)
			} else {
				r.fail(fmt.Sprintf("headroom names class %s, which qos %s does not have", r.cfg.Text(e.Key), r.f.Text(q.Name)), "name a class of the port's qos")
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
