package derive

import (
	"fmt"
	"sync"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/headroom"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// Options say what Compute may assume.
type Options struct {
	// Lengths of cables whose length is not written; 0 takes what SONiC assumes
	// by role: 5 m between a switch and a host, 40 m between switches
	// [switches-linux-nos 3.2].
	NodeCableMm   uint32
	FabricCableMm uint32
	// Rows are the headroom tables of shipping platforms, in the order of their
	// files; rows that the fabric holds come after them. Of equal ones the last
	// counts.
	Rows []headroom.Row
}

const (
	defaultNodeCableMm   = 5_000
	defaultFabricCableMm = 40_000
)

// Compute derives the facts of every port. The diagnostics are errors about
// values that cannot be settled: an alpha that no device can be told, a cap in
// percent of an unknown speed, a lossless port for which no formula holds.
// The facts are complete as far as they go even then.
//
// One sweep goes over the devices in their order, as nearly every port finds its
// row by a comparison with the last.
func Compute(f *fabric.Fabric, opt Options) (*Facts, diag.List) {
	if opt.NodeCableMm == 0 {
		opt.NodeCableMm = defaultNodeCableMm
	}
	if opt.FabricCableMm == 0 {
		opt.FabricCableMm = defaultFabricCableMm
	}
	s := newSweep(f, opt)
	var lists sync.WaitGroup
	lists.Go(func() { s.facts.group(f) })
	s.alphas()
	for d := range fabric.DeviceID(len(f.Devices)) {
		if d > 0 {
			s.device(d)
		}
	}
	lists.Wait()
	return s.facts, s.diags
}

// sweep holds the tables by which equal inputs share a row.
type sweep struct {
	f     *fabric.Fabric
	opt   Options
	facts *Facts
	diags diag.List

	plans   []*plan // by ProfileID, made when first met
	places  []place
	placeID map[placeKey]uint32
	lanes   []uint8 // by PortID, of split ports only; nil if there are none
	images  []image // by DeviceID; nil if no target says it
	v6      []int8  // by VLANSetID: 1 = has an IPv6 subnet, -1 = has none

	rows    []row
	rowID   map[inputs]uint32
	finalID map[final]FactID
	factID  map[Port]FactID
	scratch []uint32
}

// inputs is all that the headroom and the MTUs of a port depend on.
type inputs struct {
	profile   fabric.ProfileID
	headroom  fabric.HeadroomID
	nic       fabric.NICModelID
	place     uint32
	mbps      uint32
	cableMm   uint32
	assumedMm uint32
	peerNs    uint32 // response to a pause that the peer's model states
	mtu       uint16
	peerMTU   uint16
	lanes     uint8
	v6        bool
	logical   bool // a LAG or virtual NIC: has no cable, buffer or marking of its own
}

// row is what follows from inputs alone.
type row struct {
	in      inputs
	port    Port   // without ECN
	reserve uint64 // headroom of all groups in whole cells
}

// final is a row together with the switch's buffer, which ECN bounds follow.
type final struct {
	row    uint32
	buffer Buffer
}

func newSweep(f *fabric.Fabric, opt Options) *sweep {
	s := &sweep{
		f: f, opt: opt,
		facts: &Facts{Of: make([]FactID, len(f.Ports)), Rows: make([]Port, 1), Buffers: make([]Buffer, len(f.Devices))},
		plans: make([]*plan, max(len(f.Profiles), 1)), placeID: map[placeKey]uint32{}, places: make([]place, 1),
		images: images(f), v6: make([]int8, max(len(f.VLANSets), 1)), lanes: splitLanes(f),
		rows: make([]row, 1), rowID: map[inputs]uint32{}, finalID: map[final]FactID{}, factID: map[Port]FactID{{}: 0},
	}
	return s
}

// splitLanes is how many lanes the children of split ports have.
func splitLanes(f *fabric.Fabric) []uint8 {
	if len(f.Breakouts) == 0 {
		return nil
	}
	lanes := make([]uint8, len(f.Ports))
	for i := range f.Breakouts {
		b := &f.Breakouts[i]
		if b.Count == 0 {
			continue
		}
		for _, c := range b.Children {
			lanes[c] = b.Lanes / b.Count
		}
	}
	return lanes
}

// device derives the ports of one device: headroom first, as the sum of all is
// what a switch's shared buffer goes without, then ECN.
func (s *sweep) device(d fabric.DeviceID) {
	first, end := s.f.PortsOf(d)
	if first == end {
		return
	}
	place := s.place(d)
	s.scratch = s.scratch[:0]
	var last inputs
	var id uint32
	for p := first; p < end; p++ {
		if s.f.Ports[p].Profile == 0 {
			s.scratch = append(s.scratch, 0)
			continue
		}
		in := s.inputs(p, place)
		if in != last || id == 0 {
			last, id = in, s.row(in, p)
		}
		s.scratch = append(s.scratch, id)
	}
	b := s.buffer(d, first)
	s.facts.Buffers[d] = b
	if s.f.Devices[d].Kind == fabric.Switch {
		b.HeadroomBytes = 0 // what is left counts for ECN, not how it came about
	}
	var fact FactID
	id = 0
	for i, r := range s.scratch {
		if r == 0 {
			continue
		}
		if r != id {
			id, fact = r, s.fact(final{r, b})
		}
		s.facts.Of[first+fabric.PortID(i)] = fact
	}
}

// inputs collects what the facts of a port depend on.
func (s *sweep) inputs(p fabric.PortID, place uint32) inputs {
	port := &s.f.Ports[p]
	in := inputs{
		profile: port.Profile, headroom: port.Headroom, place: place, mbps: port.Mbps, mtu: port.MTU,
		v6: s.hasIPv6(port), logical: port.Flags&(fabric.IsLAG|fabric.IsVNIC) != 0,
	}
	if in.logical {
		return in
	}
	in.cableMm, in.assumedMm = s.cable(p, port)
	if port.NIC != 0 {
		in.nic = s.f.NICs[port.NIC].Model
	}
	if port.Peer != 0 {
		peer := &s.f.Ports[port.Peer]
		in.peerMTU = peer.MTU
		if m := s.f.Devices[peer.Device].Model; m != 0 {
			in.peerNs = s.f.Models[m].PauseResponseNs
		}
	}
	if m := s.places[place].model; m != nil {
		in.lanes = m.Lanes
		if most := m.Mbps[s.f.Text(port.Name)]; most > 0 && most <= oneLaneMbps {
			in.lanes = 1
		}
	}
	if s.lanes != nil && s.lanes[p] != 0 {
		in.lanes = s.lanes[p]
	}
	return in
}

// oneLaneMbps is the fastest that the one lane of an SFP28 cage carries. Models state
// the lanes of their other ports [sonic-net/sonic-buildimage
// device/mellanox/x86_64-nvidia_sn5600-r0/platform.json at 086b03bd: Ethernet512].
const oneLaneMbps = 25_000

// delayMm is the cable in which a signal spends one nanosecond, at the
// 198,000,000 m/s of package headroom.
const delayMm = 198

// Length is how long a cable is to headroom, in millimetres: equipment in the
// path counts as the cable that delays as much. 0 means that it is not known.
func Length(l *fabric.Link) uint32 {
	if l.BadLength || l.CableMm == 0 {
		return 0
	}
	return bytes32(uint64(l.CableMm) + uint64(l.DelayNs)*delayMm)
}

// cable is the length that headroom has to cover, and what of it is assumed.
func (s *sweep) cable(p fabric.PortID, port *fabric.Port) (mm, assumedMm uint32) {
	link := s.f.CableAt(p)
	if link.BadLength || link.CableMm == 0 {
		assumedMm = s.opt.FabricCableMm
		if port.Role == fabric.RoleNode || port.Role == fabric.RoleHost {
			assumedMm = s.opt.NodeCableMm
		}
		link.CableMm, link.BadLength = assumedMm, false
	}
	return Length(&link), assumedMm
}

func (s *sweep) hasIPv6(port *fabric.Port) bool {
	if port.Native != 0 && s.f.Segments[port.Native].Subnet.Addr().Is6() {
		return true
	}
	if port.VLANs == 0 {
		return false
	}
	if s.v6[port.VLANs] == 0 {
		s.v6[port.VLANs] = -1
		for _, seg := range s.f.VLANSets[port.VLANs] {
			if s.f.Segments[seg].Subnet.Addr().Is6() {
				s.v6[port.VLANs] = 1
			}
		}
	}
	return s.v6[port.VLANs] > 0
}

// row finds or makes the row of inputs; findings about it name port p, the
// first that has them.
func (s *sweep) row(in inputs, p fabric.PortID) uint32 {
	if id, ok := s.rowID[in]; ok {
		return id
	}
	c := s.plan(in.profile)
	r := row{in: in}
	s.mtus(in, c, &r.port)
	s.caps(in, p, &r.port)
	if !in.logical && c.lossless != 0 {
		s.headrooms(in, c, p, &r)
	}
	id := uint32(len(s.rows))
	s.rows = append(s.rows, r)
	s.rowID[in] = id
	return id
}

// fact finds or makes the facts of a row on a switch with a certain buffer.
func (s *sweep) fact(key final) FactID {
	if id, ok := s.finalID[key]; ok {
		return id
	}
	r := &s.rows[key.row]
	port := r.port
	if !r.in.logical {
		s.ecn(r, key.buffer, &port)
	}
	id, ok := s.factID[port]
	if !ok {
		id = FactID(len(s.facts.Rows))
		s.facts.Rows = append(s.facts.Rows, port)
		s.factID[port] = id
	}
	s.finalID[key] = id
	return id
}

// caps settles caps in percent.
func (s *sweep) caps(in inputs, p fabric.PortID, port *Port) {
	for q, sched := range s.f.Profiles[in.profile].Sched {
		switch {
		case sched.CapMbps > 0:
			port.CapMbps[q] = sched.CapMbps
		case sched.CapPercent == 0:
		case in.mbps == 0:
			s.fail(p, fmt.Sprintf("%s caps queue %d at %d %% of a speed that is not known", s.f.PortName(p), q, sched.CapPercent),
				`write speed on the port, or max_rate as a speed: "10G"`, s.f.PortLabel(p, schema.ASpeed, ""))
		default:
			port.CapMbps[q] = max(uint32(uint64(sched.CapPercent)*uint64(in.mbps)/100), 1)
		}
	}
}

// alphas refuses what no device takes: they all know powers of two only.
func (s *sweep) alphas() {
	refuse := func(what string, r fabric.Ratio, address string, at diag.Label) {
		if _, ok := r.Exponent(); ok || r.Den == 0 {
			return
		}
		s.diags.Add(diag.Diagnostic{
			Summary: fmt.Sprintf("alpha of %s is %d/%d, which is no power of two", what, r.Num, r.Den), Address: address,
			Labels: []diag.Label{at}, Help: `write a power of two, such as "1/8" or 1: devices are told the exponent`,
		})
	}
	for d := range s.f.Devices {
		if dev := &s.f.Devices[d]; d > 0 && dev.Kind == fabric.Switch && dev.Manage != fabric.HandsOff {
			refuse("switch "+s.f.Text(dev.Name), dev.Buffer.Alpha, s.f.Text(dev.Address), s.f.Label(dev.Decl, dev.Layers, schema.ABuffer, ""))
		}
	}
	for q := range s.f.QoS {
		for i := range s.f.QoS[q].Classes {
			c := &s.f.QoS[q].Classes[i]
			refuse("class "+s.f.Text(c.Name), c.Alpha, s.f.Text(s.f.QoS[q].Address), s.f.Label(c.Decl, 0, schema.ABuffer, ""))
		}
	}
}

func (s *sweep) fail(p fabric.PortID, summary, help string, at diag.Label) {
	s.diags.Add(diag.Diagnostic{Summary: summary, Help: help, Address: s.f.PortAddress(p), Labels: []diag.Label{at}})
}
