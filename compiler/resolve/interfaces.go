package resolve

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// interfaces makes the rows of layer-3 interfaces, those that blocks write and
// those that a segment, subnet or address on a NIC, bond or port implies, and
// notes the segments they bring to the ports below them.
func (r *resolver) interfaces() {
	r.lagNamed = make(map[lagKey]fabric.LAGID, len(r.f.LAGs))
	for id := 1; id < len(r.f.LAGs); id++ {
		r.lagNamed[lagKey{r.f.LAGs[id].Device, r.f.LAGs[id].Name}] = fabric.LAGID(id)
	}
	r.subnetOf = map[lang.Value]netip.Prefix{}
	r.carried = map[fabric.PortID][]lang.BlockID{}
	r.carriedNative = map[fabric.PortID]broughtNative{}
	r.f.Carriers = map[fabric.PortID]fabric.DeclID{}
	r.tierInterfaces()
	r.generated = fabric.IfaceID(len(r.f.Ifaces))
	for id := 1; id < len(r.f.Devices); id++ {
		d := fabric.DeviceID(id)
		b := r.blockOf[d]
		if r.f.Devices[d].Kind == fabric.Node {
			r.kidsByName(b, schema.NIC, func(n lang.BlockID) { r.impliedIface(d, n) })
			r.kidsByName(b, schema.Bond, func(n lang.BlockID) { r.impliedIface(d, n) })
		} else {
			r.kidsByName(b, schema.Port, func(n lang.BlockID) { r.routedPort(d, n) })
		}
		r.kidsByName(b, schema.Interface, func(n lang.BlockID) { r.iface(d, n) })
	}
}

// roomForIfaces makes room for all interfaces while cables are joined: a fabric
// has more of them than of all other rows, and memory is slow to come. Nobody
// asks for interfaces before he has waited.
func (r *resolver) roomForIfaces() (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		more := len(r.f.NICs) + r.tierIfaces() // most NICs have one each
		for b := range r.cfg.Blocks {
			switch r.cfg.Blocks[b].Kind {
			case schema.Interface, schema.Bond:
				more++
			case schema.Port:
				if r.attr(lang.BlockID(b), schema.AAddress).Kind != lang.Absent {
					more++
				}
			}
		}
		r.f.Ifaces, r.f.Prefixes = slices.Grow(r.f.Ifaces, more), slices.Grow(r.f.Prefixes, more)
		r.ifaceBlock = slices.Grow(make([]lang.BlockID, 1), more)
	}()
	return func() { <-done }
}

func (r *resolver) addIface(row fabric.Iface, b lang.BlockID) {
	r.f.Ifaces = append(r.f.Ifaces, row)
	r.ifaceBlock = append(r.ifaceBlock, b)
}

// windows reports whether a device tags on the adapter itself instead of on a
// VLAN device beside it.
func (r *resolver) windows(d fabric.DeviceID) bool {
	os := r.f.Text(r.f.Devices[d].OSName)
	return strings.HasPrefix(os, "windows") || strings.HasPrefix(os, "azure")
}

// impliedIface is the interface of a NIC or bond that has a segment, subnet,
// untagged segment or address of its own, or a leaf with a subnet. A SET team takes none from its untagged segment.
func (r *resolver) impliedIface(d fabric.DeviceID, b lang.BlockID) {
	address := r.said(b, schema.AAddress)
	row := fabric.Iface{Device: d, Name: r.osName(b), Kind: fabric.DirectIface, Decl: r.decl(b)}
	if p := r.portOf[b]; p != 0 {
		row.On = p
	} else {
		row.OnLAG = r.lagOf[b]
	}
	seg, native := r.said(b, schema.ASegment), lang.Value{}
	if seg.Kind != lang.Handle {
		native = r.said(b, schema.ANative)
	}
	if native.Kind == lang.Handle && address.Kind == lang.Absent && r.f.LAGs[row.OnLAG].Mode == fabric.SET && r.said(b, schema.ASubnet).Kind == lang.Absent {
		r.idleGateway(b) // a vSwitch has no address: what is untagged on it is of its vNICs
		return
	}
	switch {
	case seg.Kind == lang.Handle:
		row.Segment, row.Tagged = r.segmentOf[lang.BlockID(seg.N)], true
		if !r.windows(d) {
			row.Kind = fabric.VLANIface
			row.Name = r.f.Names.Add(r.f.Text(row.Name) + "." + strconv.Itoa(int(r.f.Segments[row.Segment].VLAN)))
		}
	case native.Kind == lang.Handle:
		row.Segment = r.segmentOf[lang.BlockID(native.N)]
	case r.said(b, schema.ASubnet).Kind != lang.Absent || address.Kind != lang.Absent:
	default:
		l, _ := r.legOn(row.On)
		if l == nil || r.f.Ports[row.On].LAG != 0 {
			r.idleGateway(b)
			return
		}
		row.Segment = l.segment
	}
	r.addIface(row, b)
}

// said is what the exceptions and overrides of a NIC, port or bond write, those
// of its device among them, else the block, else the defaults.
func (r *resolver) said(b lang.BlockID, n schema.Attr) lang.Value {
	return unlessKept(r.cfg, r.saidAll(b, n))
}

// saidAll is said with the word that keeps what is there.
func (r *resolver) saidAll(b lang.BlockID, n schema.Attr) lang.Value {
	blk := &r.cfg.Blocks[b]
	if v := r.wrote(b, n); v.Kind != lang.Absent {
		return v
	}
	return layered{r.cfg, r.defaultsFor(blk.Parent, blk.Kind.String())}.get(n)
}

// routingTable is the table that a value names, 0 for that of all others.
func (r *resolver) routingTable(v lang.Value) fabric.Str {
	if v.Kind != lang.Text {
		return 0
	}
	return r.text(v)
}

// inners notes the devices whose exceptions speak of blocks inside them.
func (r *resolver) inners() {
	r.innerOf = make([]bool, len(r.f.Devices))
	for d := 1; d < len(r.f.Devices); d++ {
		r.kids(r.blockOf[d], schema.Except, func(e lang.BlockID) {
			first, end := r.cfg.Kids(e)
			r.innerOf[d] = r.innerOf[d] || first < end
		})
	}
}

// osName is a NIC's name in its operating system: `device`, else its name.
func (r *resolver) osName(b lang.BlockID) fabric.Str {
	if v := r.said(b, schema.AIfname); v.Kind != lang.Absent {
		return r.text(v)
	}
	return r.str(r.cfg.Blocks[b].Name)
}

// below lists the ports that an interface stands on.
func (r *resolver) below(row *fabric.Iface) []fabric.PortID {
	if row.On != 0 {
		r.single[0] = row.On
		return r.single[:]
	}
	if row.OnLAG != 0 {
		return r.f.LAGs[row.OnLAG].Members
	}
	return nil
}

func (r *resolver) routedPort(d fabric.DeviceID, b lang.BlockID) {
	if r.said(b, schema.AAddress).Kind == lang.Absent || r.portOf[b] == 0 {
		return
	}
	r.f.Ports[r.portOf[b]].Flags |= fabric.RoutedPort
	r.addIface(fabric.Iface{
		Device: d, Name: r.str(r.cfg.Blocks[b].Name), Kind: fabric.RoutedIface, On: r.portOf[b],
		VRF: r.routingTable(r.said(b, schema.AVRF)), Decl: r.decl(b),
	}, b)
}

// iface reads an interface block.
func (r *resolver) iface(d fabric.DeviceID, b lang.BlockID) {
	row := fabric.Iface{Device: d, Name: r.str(r.cfg.Blocks[b].Name), Kind: fabric.DirectIface, VRF: r.routingTable(r.attr(b, schema.AVRF)), Decl: r.decl(b)}
	on := r.attr(b, schema.AOn)
	if !r.stand(d, b, on, &row) {
		return
	}
	tagged, native := r.attr(b, schema.ASegment), r.attr(b, schema.ANative)
	if tagged.Kind == lang.Handle {
		row.Segment, row.Tagged = r.segmentOf[lang.BlockID(tagged.N)], true
	} else if native.Kind == lang.Handle {
		row.Segment = r.segmentOf[lang.BlockID(native.N)]
	}
	host := r.f.Devices[d].Kind == fabric.Node
	switch set := row.OnLAG != 0 && r.f.LAGs[row.OnLAG].Mode == fabric.SET; {
	case row.Kind != fabric.DirectIface: // SVI or loopback
	case set:
		row.Kind = fabric.VNICIface
		r.pin(d, b, &row)
	case host && row.Tagged && !r.windows(d):
		row.Kind = fabric.VLANIface
	case !host:
		row.Kind = fabric.RoutedIface
	}
	for _, p := range r.below(&row) {
		if r.f.Carriers[p] == 0 && (tagged.Kind == lang.Handle || native.Kind == lang.Handle) {
			r.f.Carriers[p] = row.Decl
		}
		if tagged.Kind == lang.Handle {
			r.carried[p] = append(r.carried[p], lang.BlockID(tagged.N))
		} else if native.Kind == lang.Handle {
			r.bringNative(p, b, lang.BlockID(native.N))
		}
	}
	r.addIface(row, b)
}

// broughtNative is an untagged segment that an interface brings to a port.
type broughtNative struct{ segment, by lang.BlockID }

// bringNative notes it. A port has one: two interfaces that name two are refused.
func (r *resolver) bringNative(p fabric.PortID, by, segment lang.BlockID) {
	if was := r.carriedNative[p]; was.segment != 0 && was.segment != segment {
		r.twoNatives(p, by, segment, was.by, was.segment)
		return
	}
	r.carriedNative[p] = broughtNative{segment, by}
}

// twoNatives refuses two blocks that put a port untagged into two segments, once for
// all ports of which they do.
func (r *resolver) twoNatives(p fabric.PortID, a, inA, b, inB lang.BlockID) {
	if !r.toldOf(a, b, schema.ANative) {
		r.fail(fmt.Sprintf("%s is untagged in two segments: %s and %s", r.f.PortName(p), r.blockName(inA), r.blockName(inB)),
			"a frame without a tag is of one segment: write the other as tagged", r.at(a, schema.ANative, ""), r.at(b, schema.ANative, "the other"))
	}
}

// stand finds what an interface is on: a handle, a name in its device, or
// "loopback".
func (r *resolver) stand(d fabric.DeviceID, b lang.BlockID, on lang.Value, row *fabric.Iface) bool {
	if on.Kind == lang.Handle {
		id := lang.BlockID(on.N)
		if s, ok := r.segmentOf[id]; ok {
			row.Kind, row.Segment = fabric.SVI, s
			row.Name = r.f.Names.Add("Vlan" + strconv.Itoa(int(r.f.Segments[s].VLAN)))
			return true
		}
		if p := r.portAt(id); p != 0 {
			row.On = p
		} else if l, ok := r.lagOf[id]; ok {
			row.OnLAG = l
		}
	} else {
		switch name := r.cfg.Text(on); {
		case name == "loopback":
			row.Kind = fabric.LoopbackIface
			return true
		default:
			row.On = r.port(d, r.text(on))
			if row.On == 0 {
				row.OnLAG = r.lagNamed[lagKey{d, r.text(on)}]
			}
		}
	}
	owner := r.f.Ports[row.On].Device
	if row.OnLAG != 0 {
		owner = r.f.LAGs[row.OnLAG].Device
	}
	if owner != d {
		r.fail(fmt.Sprintf("interface %s of %s is on nothing that %s has", r.blockName(b), r.f.Text(r.f.Devices[d].Name), r.f.Text(r.f.Devices[d].Name)),
			"name a port, NIC, bond or LAG of the same device, a segment, or \"loopback\"", r.at(b, schema.AOn, ""))
		return false
	}
	return true
}

func (r *resolver) pin(d fabric.DeviceID, b lang.BlockID, row *fabric.Iface) {
	v := r.attr(b, schema.APin)
	if v.Kind == lang.Absent {
		return
	}
	p := r.port(d, r.text(v))
	if p == 0 || r.f.Ports[p].LAG != row.OnLAG {
		r.fail(fmt.Sprintf("interface %s is pinned to %s, which is not a member of %s", r.blockName(b), r.cfg.Text(v), r.f.Text(r.f.LAGs[row.OnLAG].Name)),
			"name a member of the team", r.at(b, schema.APin, ""))
		return
	}
	row.Pin = p
}

// readAddresses gives interfaces the addresses that are written while ports are
// settled, which takes nothing of them. Nobody asks before he has waited.
func (r *resolver) readAddresses() (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		var list []netip.Prefix
		for id := 1; id < len(r.f.Ifaces); id++ {
			row := &r.f.Ifaces[id]
			if row.Addresses.Len() > 0 { // those of tiers are there
				continue
			}
			list = list[:0]
			for _, e := range r.cfg.List(r.said(r.ifaceBlock[id], schema.AAddress)) {
				if p, err := netip.ParsePrefix(r.cfg.Text(e)); err == nil { // no word
					list = append(list, p)
				}
			}
			row.Addresses = r.f.Prefixes.Add(list...)
		}
	}()
	return func() { <-done }
}

// addresses gives every interface the addresses that follow from its place, and
// its MTU, VRF and gateway, now that ports are settled.
func (r *resolver) addresses() {
	around := make([]fabric.LayersID, len(r.f.Devices)) // 0: not asked for yet
	r.routedTo = map[fabric.SegmentID]fabric.IfaceID{}
	for id := 1; id < len(r.f.Ifaces); id++ {
		row := &r.f.Ifaces[id]
		b := r.ifaceBlock[id]
		seg := &r.f.Segments[row.Segment]
		if around[row.Device] == 0 {
			around[row.Device] = r.layersIn(0, r.blockOf[row.Device])
		}
		row.Layers = around[row.Device]
		if within := r.segmentBlock(row.Segment); r.spokenOf(b) || within != 0 && r.spokenOf(within) {
			row.Layers = r.layersIn(b, r.blockOf[row.Device], within)
		}
		if row.Addresses.Len() == 0 {
			r.address(row, b, seg)
		} else {
			r.noHosts(row, b)
			if fabric.IfaceID(id) >= r.generated {
				r.written++
			}
		}
		if row.VRF == 0 && seg.VRF != 0 && !r.cfg.IsWord(r.said(b, schema.AVRF), "off") {
			row.VRF = seg.VRF
		}
		row.VRF = r.vrf(row.VRF)
		if seg.Gateway.IsValid() && row.Kind != fabric.SVI {
			row.Gateway = r.f.Prefixes.AddAddr(seg.Gateway)
			if r.routedTo[row.Segment] == 0 && row.Addresses.Len() > 0 && r.f.Devices[row.Device].Kind == fabric.Node {
				r.routedTo[row.Segment] = fabric.IfaceID(id)
			}
		}
		row.Outside = seg.Outside
		if r.cfg.Blocks[b].Kind == schema.NIC {
			r.gateway(fabric.IfaceID(id), row, b)
		}
		r.ifaceMTU(row, b, seg)
	}
}

// vrf is the routing table of a name: "default", as every OS calls it, is that of the device itself, which has no name here.
func (r *resolver) vrf(name fabric.Str) fabric.Str {
	if r.f.Text(name) == "default" {
		return 0
	}
	return name
}

// duties says which interfaces carry RDMA: those that say so, else those in a
// segment in which a port below sends it. Then it is known of segments too.
func (r *resolver) duties() {
	for id := 1; id < len(r.f.Ifaces); id++ {
		row, b := &r.f.Ifaces[id], r.ifaceBlock[id]
		if r.cfg.Blocks[b].Kind == schema.Interface {
			if v := r.attr(b, schema.ARDMA); v.Kind == lang.Int {
				row.RDMA = v.N == 1
				continue
			}
		}
		row.RDMA = r.f.CarriesRDMA(r.f.Segments[row.Segment].QoS)
		for _, p := range r.below(row) {
			row.RDMA = row.RDMA || r.f.SendsRDMA(p, row.Segment)
		}
	}
	r.f.MarkRDMA()
	r.top(schema.Segment, func(b lang.BlockID) { r.floodClass(b, &r.f.Segments[r.segmentOf[b]]) })
}

// gateway is the router that a NIC names for its address.
func (r *resolver) gateway(id fabric.IfaceID, row *fabric.Iface, b lang.BlockID) {
	if v := r.said(b, schema.AExternalGateway); v.Kind != lang.Absent {
		row.Outside = v.N == 1
	}
	v := r.saidAll(b, schema.AGateway)
	if v.Kind == lang.Word { // "off", or what is there is kept
		row.Gateway, row.Outside = fabric.Prefixes{}, false
		return
	}
	if v.Kind == lang.Absent {
		if row.Outside && row.Gateway.Len() == 0 {
			r.idleGateway(b)
		}
		return
	}
	if row.Addresses.Len() == 0 && r.saidAll(b, schema.AAddress).Kind != lang.Absent {
		r.idleGateway(b)
		return
	}
	a, _ := netip.ParseAddr(r.cfg.Text(v)) // the loader has checked its form
	row.Gateway = r.f.Prefixes.AddAddr(a)
	r.askedFor = append(r.askedFor, id)
	if !slices.ContainsFunc(r.f.Addresses(row), func(p netip.Prefix) bool { return p.Contains(a) }) {
		r.fail(fmt.Sprintf("gateway %s of %s is in none of its subnets", a, r.f.PortName(row.On)), "write an address of the same subnet",
			r.at(b, schema.AGateway, ""), r.at(b, schema.AAddress, "its address"))
	}
	for _, p := range r.f.Addresses(row) {
		r.routerOf(p, a, b)
	}
}

// idleGateway refuses a router for no address, and an external one that has none.
func (r *resolver) idleGateway(b lang.BlockID) {
	if r.cfg.Blocks[b].Kind != schema.NIC {
		return
	}
	switch {
	case r.said(b, schema.AGateway).Kind != lang.Absent:
		r.fail(fmt.Sprintf("NIC %s has a gateway and no address", r.blockName(b)), "write its address, or leave the gateway out", r.at(b, schema.AGateway, ""))
	case r.attr(b, schema.AExternalGateway).N == 1: // of its own: defaults speak of those that have one
		r.fail(fmt.Sprintf("NIC %s has an external gateway and writes none", r.blockName(b)), "write gateway, the address of that router",
			r.at(b, schema.AExternalGateway, ""))
	}
}

// address is that of an interface that writes none: host number first + slot - 1
// of the subnet, else one in the subnet of the leaf.
func (r *resolver) address(row *fabric.Iface, b lang.BlockID, seg *fabric.Segment) {
	if r.f.Devices[row.Device].Kind == fabric.Switch || r.saidAll(b, schema.AAddress).Kind != lang.Absent {
		return
	}
	subnet, first := seg.Subnet, seg.First
	if own := r.nicSubnet(b); own.IsValid() {
		subnet, first = own, 11
		r.written++
	}
	if !subnet.IsValid() && row.On != 0 {
		if a, gateway, ok := r.legAddress(row.On); ok {
			row.Addresses, row.Gateway = r.f.Prefixes.Add(a), r.f.Prefixes.AddAddr(gateway)
			_, tier := r.legOn(row.On)
			before, chain := r.stands(nil, nil, r.blockOf[row.Device], fabric.AtDevice)
			before, chain = r.stands(before, chain, tier, fabric.AtTier)
			row.Layers = r.layersOf(before, chain, true)
			return
		}
	}
	slot := r.f.Devices[row.Device].Slot
	if !subnet.IsValid() || slot == 0 {
		return // no slot: the address is not managed
	}
	a, ok := hostAddress(subnet, uint64(first)+uint64(slot)-1)
	if !ok {
		r.fail(fmt.Sprintf("slot %d of %s does not fit subnet %s from host %d", slot, r.f.Text(r.f.Devices[row.Device].Name), subnet, first),
			"widen the subnet, lower first, or write the address", r.at(r.blockOf[row.Device], schema.ASlot, ""))
		return
	}
	row.Addresses = r.f.Prefixes.Add(netip.PrefixFrom(a, subnet.Bits()))
}

// nicSubnet is the subnet that a NIC or bond writes, read once for equal ones.
func (r *resolver) nicSubnet(b lang.BlockID) netip.Prefix {
	v := r.said(b, schema.ASubnet)
	if v.Kind == lang.Absent {
		return netip.Prefix{}
	}
	if p, ok := r.subnetOf[v]; ok {
		return p
	}
	p := r.subnetAt(b, v)
	r.subnetOf[v] = p
	return p
}

// noHosts refuses written addresses that no host of an IPv4 subnet can have.
func (r *resolver) noHosts(row *fabric.Iface, b lang.BlockID) {
	for _, p := range r.f.Addresses(row) {
		if what := noHost(p, p.Addr()); what != "" {
			r.fail(fmt.Sprintf("%s is the %s address of its subnet, which no host can have", p, what), "write another address of the subnet", r.at(b, schema.AAddress, ""))
		}
	}
}

// routerOf refuses a gateway that no router of an IPv4 subnet can have.
func (r *resolver) routerOf(subnet netip.Prefix, gateway netip.Addr, b lang.BlockID) {
	if what := noHost(subnet, gateway); what != "" {
		r.fail(fmt.Sprintf("gateway %s is the %s address of subnet %s, which no router can have", gateway, what, subnet.Masked()), "write the address of the router in that subnet", r.at(b, schema.AGateway, ""))
	}
}

// noHost says what an IPv4 address is to its subnet where no host can have it:
// its "network" or "broadcast" address [RFC 1122 section 3.2.1.3]. The two of a
// /31 are hosts [RFC 3021].
func noHost(subnet netip.Prefix, a netip.Addr) string {
	if !a.Is4() || subnet.Bits() > 30 || !subnet.Contains(a) {
		return ""
	}
	raw, hosts := a.As4(), uint32(math.MaxUint32)>>subnet.Bits()
	switch binary.BigEndian.Uint32(raw[:]) & hosts {
	case 0:
		return "network"
	case hosts:
		return "broadcast"
	}
	return ""
}

// hostAddress is host number n of a subnet; ok is false when it is the
// broadcast address or beyond.
func hostAddress(subnet netip.Prefix, n uint64) (netip.Addr, bool) {
	a, ok := offset(subnet, n)
	if !ok {
		return netip.Addr{}, false
	}
	return a, noHost(subnet, a) != "broadcast"
}

// offset is address number n of a prefix, from 0; ok is false beyond its end.
func offset(p netip.Prefix, n uint64) (netip.Addr, bool) {
	start := p.Masked().Addr()
	if start.Is4() {
		raw := start.As4()
		first := binary.BigEndian.Uint32(raw[:])
		if n > uint64(math.MaxUint32-first) {
			return netip.Addr{}, false // beyond the last one
		}
		binary.BigEndian.PutUint32(raw[:], first+uint32(n))
		a := netip.AddrFrom4(raw)
		return a, p.Contains(a)
	}
	raw := start.As16()
	for i := len(raw) - 1; i >= 0 && n > 0; i-- {
		n += uint64(raw[i])
		raw[i] = byte(n)
		n >>= 8
	}
	a := netip.AddrFrom16(raw)
	return a, n == 0 && p.Contains(a)
}

func (r *resolver) ifaceMTU(row *fabric.Iface, b lang.BlockID, seg *fabric.Segment) {
	if v := r.inside(b, schema.AMTU, r.blockOf[row.Device], row.Segment); v.Kind != lang.Absent && r.cfg.Blocks[b].Kind == schema.Interface {
		if v.Kind == lang.Int { // else what is there is kept
			row.MTU = uint16(v.N)
		}
		return
	}
	if r.f.Devices[row.Device].Kind == fabric.Node {
		for _, p := range r.below(row) {
			if r.f.Ports[p].Kept.Has(schema.AMTU) && !row.Tagged {
				return // it is the port's
			}
			if port := &r.f.Ports[p]; port.Flags&fabric.MTUSet != 0 {
				row.MTU = port.MTU
				return
			}
		}
	}
	row.MTU = seg.MTU
}

// nic fills in the adapter side of a host port.
func (r *resolver) nic(p fabric.PortID, s *scope) {
	row := &r.f.Ports[p]
	n := &r.f.NICs[row.NIC]
	n.Port = p
	n.RoCE, n.Firmware, n.Driver = r.text(s.get(schema.ARoCEMode)), r.text(s.get(schema.AFirmware)), r.text(s.get(schema.ADriver))
	r.expected("firmware", n.Firmware, func() diag.Label { return r.f.Label(row.Decl, s.id, schema.AFirmware, "") })
	r.expected("driver", n.Driver, func() diag.Label { return r.f.Label(row.Decl, s.id, schema.ADriver, "") })
	if m := s.get(schema.AModel); m.Kind != lang.Absent {
		n.Model = r.nicModel[r.cfg.Text(m)]
		r.within(p, s)
	} else if row.Manage != fabric.HandsOff {
		r.fail(fmt.Sprintf("nic %s has no model", r.f.PortName(p)), `write model = "vendor/model": what it can do follows from it`, r.f.DeclLabel(row.Decl, ""))
	}
	switch r.cfg.Text(s.get(schema.ADriverOrigin)) {
	case "inbox":
		n.Inbox = fabric.Yes
	case "vendor":
		n.Inbox = fabric.No
	}
	n.Storm = r.stormTimeout(row, s)
	n.GIDIndex, n.RxBytes = -1, uint32(min(s.get(schema.AReceiveBuffer).N, 1<<32-1))
	if v := s.get(schema.AGIDIndex); v.Kind == lang.Int {
		n.GIDIndex = int16(v.N)
	}
	pcie := s.get(schema.APCIe)
	n.NUMA = -1
	if v := r.cfg.Field(pcie, schema.ANUMA); v.Kind == lang.Int {
		n.NUMA = int16(v.N)
	}
	n.PXE = s.get(schema.APXE).N == 1
	n.PCIeGen, n.PCIeLanes = uint8(r.cfg.Field(pcie, schema.AGen).N), uint8(r.cfg.Field(pcie, schema.ALanes).N)
	if m := &r.f.NICModels[n.Model]; m.PCIeGen > 0 && m.PCIeLanes > 0 { // no slot makes a card wider or faster than it is
		n.PCIeGen, n.PCIeLanes = min(n.PCIeGen, m.PCIeGen), min(n.PCIeLanes, m.PCIeLanes)
	}
	if v := s.get(schema.AVFs); v.Kind == lang.Object {
		n.VFs = fabric.VFs{
			Set: true, Count: uint16(r.cfg.Field(v, schema.ACount).N), Mode: r.text(r.cfg.Field(v, schema.AMode)),
			RDMA: r.cfg.Field(v, schema.ARDMA).N == 1, Trust: r.cfg.Field(v, schema.ATrusted).N == 1,
		}
		if g := r.cfg.Field(v, schema.ASegment); g.Kind == lang.Handle {
			n.VFs.Segment = r.segmentOf[lang.BlockID(g.N)]
		}
	}
	if r.cfg.Text(s.get(schema.ALinkLayer)) == "infiniband" {
		row.Flags |= fabric.InfiniBand
		if m := &r.f.NICModels[n.Model]; m.IB == fabric.No {
			r.fail(fmt.Sprintf("nic %s has link_layer infiniband, and %s has none", r.f.PortName(p), r.f.Text(m.Name)), "write the model that it is, or leave link_layer out",
				r.f.Label(row.Decl, s.id, schema.ALinkLayer, ""), r.f.Label(row.Decl, s.id, schema.AModel, "its model"))
		}
	}
	r.nicAlone(p, s)
}

// autoStormMs is what a NIC should wait at most [Guo et al., SIGCOMM 2016, 4.3], and what "auto" of
// ethtool means on ConnectX [Linux mlx5/core/en_ethtool.c, MLX5E_PFC_PREVEN_AUTO_TOUT_MSEC].
const autoStormMs = 100

func (r *resolver) stormTimeout(row *fabric.Port, s *scope) fabric.StormTimeout {
	v := s.get(schema.APauseStormTimeout)
	switch word := r.cfg.Text(v); {
	case v.Kind == lang.Int:
		if v.N%1000 != 0 || v.N == 0 || v.N > math.MaxUint16*1000 {
			r.fail(fmt.Sprintf("pause_storm_timeout of nic %s is %g ms", r.f.PortName(r.f.NICs[row.NIC].Port), float64(v.N)/1000),
				`write whole milliseconds, "auto", or "off" for no end`, r.f.Label(row.Decl, s.id, schema.APauseStormTimeout, ""))
		}
		return fabric.StormTimeout{Set: true, Ms: uint16(min(v.N/1000, math.MaxUint16))}
	case word == "auto":
		return fabric.StormTimeout{Set: true, Ms: autoStormMs}
	case word == "off":
		return fabric.StormTimeout{Set: true}
	}
	return fabric.StormTimeout{}
}

// within refuses a speed that no port of the NIC's model has, or not this port of the
// switch's, or no part of the split that it is of.
func (r *resolver) within(p fabric.PortID, s *scope) {
	row := &r.f.Ports[p]
	if row.Flags&fabric.SpeedSet == 0 {
		return
	}
	word, model, most := "nic", fabric.Str(0), uint32(0)
	if dev := &r.f.Devices[row.Device]; dev.Kind == fabric.Switch {
		word, model = "port", r.f.Models[dev.Model].Name
		if x, _ := r.f.SplitOf(p); x != nil {
			if row.Mbps > x.Mbps && (x.Lanes == 0 || x.Count <= x.Lanes) { // else ROCE105
				r.diags.Add(diag.Diagnostic{
					Severity: diag.Error, Address: r.f.PortAddress(p),
					Summary: fmt.Sprintf("port %s runs at %s, and is a part of a breakout %dx%s", r.f.PortName(p), fabric.Speed(row.Mbps), x.Count, fabric.Speed(x.Mbps)),
					Help:    "write the speed of the parts, or do not split it: the parts replace the port",
					Labels:  []diag.Label{r.f.Label(x.Decl, 0, schema.ABreakout, ""), r.f.Label(row.Decl, s.id, schema.ASpeed, "its speed")},
				})
			}
			return
		}
		most = r.modelSpeed(p, s)
	} else if m := &r.f.NICModels[r.f.NICs[row.NIC].Model]; len(m.Mbps) > 0 {
		model, most = m.Name, slices.Max(m.Mbps)
	}
	if most == 0 || row.Mbps <= most {
		return
	}
	r.fail(fmt.Sprintf("%s %s runs at %s, and %s does %s at most", word, r.f.PortName(p), fabric.Speed(row.Mbps), r.f.Text(model), fabric.Speed(most)),
		"write a speed that it has, or the model that it is", r.f.PortLabel(p, schema.ASpeed, ""))
}

// nicAlone reads what is each NIC's own: its names and addresses on the host,
// and where it stands among its node's NICs, if that is written.
func (r *resolver) nicAlone(p fabric.PortID, s *scope) {
	n := &r.f.NICs[r.f.Ports[p].NIC]
	n.Device, n.PCI, n.Adapter = r.osName(s.own), r.text(s.get(schema.APCI)), r.text(s.get(schema.AAdapter))
	if slot := r.cfg.Text(r.cfg.Field(s.get(schema.APCIe), schema.ASlot)); n.Adapter == 0 && slot != "" {
		n.Adapter = r.f.Names.Add("slot " + slot)
	}
	n.MAC = r.f.Names.Add(strings.ToLower(r.cfg.Text(s.get(schema.AMAC))))
	if v := s.get(schema.ARail); v.Kind == lang.Int {
		n.Rail = int32(v.N)
	}
	if v := s.get(schema.APlane); v.Kind == lang.Int {
		n.Plane = int32(v.N)
	}
	r.beside(p, n, s)
	if n.Adapter == 0 {
		// Ports whose PCI address differs in the function only are one adapter.
		if pci := r.f.Text(n.PCI); strings.Contains(pci, ".") {
			n.Adapter = r.f.Names.Add(pci[:strings.LastIndexByte(pci, '.')])
		}
	}
}
