package resolve

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// interfaces makes the rows of layer-3 interfaces, those that blocks write and
// those that a segment, subnet or address on a NIC, bond or port implies, and
// notes the segments they bring to the ports below them.
func (r *resolver) interfaces() {
	r.carried = map[fabric.PortID][]lang.BlockID{}
	r.carriedNative = map[fabric.PortID]lang.BlockID{}
	r.ifaceBlock = make([]lang.BlockID, 1)
	for id := 1; id < len(r.f.Devices); id++ {
		d := fabric.DeviceID(id)
		b := r.blockOf[d]
		if r.f.Devices[d].Kind == fabric.Node {
			r.kids(b, schema.NIC, func(n lang.BlockID) { r.impliedIface(d, n) })
			r.kids(b, schema.Bond, func(n lang.BlockID) { r.impliedIface(d, n) })
		} else {
			r.kids(b, schema.Port, func(n lang.BlockID) { r.routedPort(d, n) })
		}
		r.kids(b, schema.Interface, func(n lang.BlockID) { r.iface(d, n) })
	}
}

func (r *resolver) addIface(row fabric.Iface, b lang.BlockID) {
	r.f.Ifaces = append(r.f.Ifaces, row)
	r.ifaceBlock = append(r.ifaceBlock, b)
}

// windows reports whether a device tags on the adapter itself instead of on a
// VLAN device beside it.
func (r *resolver) windows(d fabric.DeviceID) bool {
	return strings.HasPrefix(r.f.Text(r.f.Devices[d].OSName), "windows")
}

// impliedIface is the interface of a NIC or bond that has a segment, subnet,
// native segment or address of its own.
func (r *resolver) impliedIface(d fabric.DeviceID, b lang.BlockID) {
	if r.cfg.IsWord(r.attr(b, schema.AAddress), "none") {
		return
	}
	row := fabric.Iface{Device: d, Name: r.osName(b), Kind: fabric.DirectIface, Decl: r.decl(b)}
	if p, ok := r.portOf[b]; ok {
		row.On = p
	} else {
		row.OnLAG = r.lagOf[b]
	}
	switch seg := r.attr(b, schema.ASegment); {
	case seg.Kind == lang.Handle:
		row.Segment, row.Tagged = r.segmentOf[lang.BlockID(seg.N)], true
		if !r.windows(d) {
			row.Kind = fabric.VLANIface
			row.Name = r.f.Names.Add(r.f.Text(row.Name) + "." + strconv.Itoa(int(r.f.Segments[row.Segment].VLAN)))
		}
		for _, p := range r.below(row) {
			r.carried[p] = append(r.carried[p], lang.BlockID(seg.N))
		}
	case r.attr(b, schema.ANative).Kind == lang.Handle:
		row.Segment = r.segmentOf[lang.BlockID(r.attr(b, schema.ANative).N)]
	case r.attr(b, schema.ASubnet).Kind == lang.Absent && r.attr(b, schema.AAddress).Kind == lang.Absent:
		return
	}
	r.addIface(row, b)
}

// osName is a NIC's name in its operating system: `device`, else its name.
func (r *resolver) osName(b lang.BlockID) fabric.Str {
	if v := r.attr(b, schema.ADevice); v.Kind != lang.Absent {
		return r.text(v)
	}
	return r.str(r.cfg.Blocks[b].Name)
}

// below lists the ports that an interface stands on.
func (r *resolver) below(row fabric.Iface) []fabric.PortID {
	if row.On != 0 {
		return []fabric.PortID{row.On}
	}
	if row.OnLAG != 0 {
		return r.f.LAGs[row.OnLAG].Members
	}
	return nil
}

func (r *resolver) routedPort(d fabric.DeviceID, b lang.BlockID) {
	if r.attr(b, schema.AAddress).Kind == lang.Absent {
		return
	}
	r.addIface(fabric.Iface{
		Device: d, Name: r.str(r.cfg.Blocks[b].Name), Kind: fabric.RoutedIface, On: r.portOf[b],
		VRF: r.text(r.attr(b, schema.AVRF)), Decl: r.decl(b),
	}, b)
}

// iface reads an interface block.
func (r *resolver) iface(d fabric.DeviceID, b lang.BlockID) {
	row := fabric.Iface{Device: d, Name: r.str(r.cfg.Blocks[b].Name), Kind: fabric.DirectIface, VRF: r.text(r.attr(b, schema.AVRF)), Decl: r.decl(b)}
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
	for _, p := range r.below(row) {
		if tagged.Kind == lang.Handle {
			r.carried[p] = append(r.carried[p], lang.BlockID(tagged.N))
		} else if native.Kind == lang.Handle {
			r.carriedNative[p] = lang.BlockID(native.N)
		}
	}
	r.addIface(row, b)
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
		if p, ok := r.portOf[id]; ok {
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
			row.On = r.portName[portKey{d, r.text(on)}]
			for id := 1; id < len(r.f.LAGs) && row.On == 0; id++ {
				if l := &r.f.LAGs[id]; l.Device == d && l.Name == r.text(on) {
					row.OnLAG = fabric.LAGID(id)
				}
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
	p := r.portName[portKey{d, r.text(v)}]
	if p == 0 || r.f.Ports[p].LAG != row.OnLAG {
		r.fail(fmt.Sprintf("interface %s is pinned to %s, which is not a member of %s", r.blockName(b), r.cfg.Text(v), r.f.Text(r.f.LAGs[row.OnLAG].Name)),
			"name a member of the team", r.at(b, schema.APin, ""))
		return
	}
	row.Pin = p
}

// addresses gives every interface its addresses, MTU, VRF, gateway and RDMA
// duty, now that ports are settled.
func (r *resolver) addresses() {
	for id := 1; id < len(r.f.Ifaces); id++ {
		row := &r.f.Ifaces[id]
		b := r.ifaceBlock[id]
		seg := &r.f.Segments[row.Segment]
		row.Layers = r.layersOf(nil, []lang.BlockID{r.blockOf[row.Device]})
		r.address(row, b, seg)
		if row.VRF == 0 {
			row.VRF = seg.VRF
		}
		if seg.Gateway.IsValid() && row.Kind != fabric.SVI {
			row.Gateway = seg.Gateway
		}
		r.ifaceMTU(row, b, seg)
		if v := r.attr(b, schema.ARDMA); v.Kind == lang.Int && r.cfg.Blocks[b].Kind == schema.Interface {
			row.RDMA = v.N == 1
			continue
		}
		// A segment's own contract decides; without a segment, the port's.
		q := seg.QoS
		for _, p := range r.below(*row) {
			if profile := r.f.Ports[p].Profile; row.Segment == 0 && q == 0 && profile != 0 {
				q = r.f.Profiles[profile].QoS
			}
		}
		for _, c := range r.f.QoS[q].Classes {
			row.RDMA = row.RDMA || c.Carries == fabric.CarriesRDMA
		}
	}
}

// address is the written one, else host number first + slot - 1 of the subnet.
func (r *resolver) address(row *fabric.Iface, b lang.BlockID, seg *fabric.Segment) {
	v := r.attr(b, schema.AAddress)
	if r.cfg.IsWord(v, "none") {
		return
	}
	for _, e := range r.cfg.List(v) {
		if p, err := netip.ParsePrefix(r.cfg.Text(e)); err == nil {
			row.Addresses = append(row.Addresses, p)
		}
	}
	if v.Kind != lang.Absent || r.f.Devices[row.Device].Kind == fabric.Switch {
		return
	}
	subnet, first := seg.Subnet, seg.First
	if own := r.subnet(b); own.IsValid() {
		subnet, first = own, 11
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
	row.Addresses = []netip.Prefix{netip.PrefixFrom(a, subnet.Bits())}
}

// hostAddress is host number n of a subnet; ok is false when it is the
// broadcast address or beyond.
func hostAddress(subnet netip.Prefix, n uint64) (netip.Addr, bool) {
	raw := subnet.Masked().Addr().AsSlice()
	for i := len(raw) - 1; i >= 0 && n > 0; i-- {
		n += uint64(raw[i])
		raw[i] = byte(n)
		n >>= 8
	}
	a, ok := netip.AddrFromSlice(raw)
	if !ok || n > 0 || !subnet.Contains(a) {
		return netip.Addr{}, false
	}
	if next := a.Next(); a.Is4() && subnet.Bits() < 31 && (!next.IsValid() || !subnet.Contains(next)) {
		return netip.Addr{}, false // the broadcast address
	}
	return a, true
}

func (r *resolver) ifaceMTU(row *fabric.Iface, b lang.BlockID, seg *fabric.Segment) {
	if v := r.attr(b, schema.AMTU); v.Kind == lang.Int && r.cfg.Blocks[b].Kind == schema.Interface {
		row.MTU = uint16(v.N)
		return
	}
	for _, p := range r.below(*row) {
		if port := &r.f.Ports[p]; port.Flags&fabric.MTUSet != 0 && r.f.Devices[row.Device].Kind == fabric.Node {
			row.MTU = port.MTU
			return
		}
	}
	row.MTU = seg.MTU
}

// nic makes the adapter side of a host port.
func (r *resolver) nic(p fabric.PortID, s *scope) {
	row := &r.f.Ports[p]
	b := s.own
	n := fabric.NIC{
		Port: p, Device: r.osName(b), PCI: r.text(s.get(schema.APCI)), MAC: r.f.Names.Add(strings.ToLower(r.cfg.Text(s.get(schema.AMAC)))),
		Adapter: r.text(s.get(schema.AAdapter)), RoCE: r.text(s.get(schema.ARoCEMode)), Rail: -1, Plane: -1,
		Firmware: r.text(s.get(schema.AFirmware)), Driver: r.text(s.get(schema.ADriver)),
	}
	if m := s.get(schema.AModel); m.Kind != lang.Absent {
		n.Model = r.nicModel[r.cfg.Text(m)]
	} else if row.Manage != fabric.HandsOff {
		r.fail(fmt.Sprintf("nic %s has no model", r.f.PortName(p)), `write model = "vendor/model": what it can do follows from it`, r.f.DeclLabel(row.Decl, ""))
	}
	if v := s.get(schema.ARail); v.Kind == lang.Int {
		n.Rail = int32(v.N)
	}
	if v := s.get(schema.APlane); v.Kind == lang.Int {
		n.Plane = int32(v.N)
	}
	pcie := s.get(schema.APCIe)
	n.PCIeGen, n.PCIeLanes = uint8(r.cfg.Field(pcie, schema.AGen).N), uint8(r.cfg.Field(pcie, schema.ALanes).N)
	if n.Adapter == 0 {
		// Ports whose PCI address differs in the function only are one adapter.
		if pci := r.f.Text(n.PCI); strings.Contains(pci, ".") {
			n.Adapter = r.f.Names.Add(pci[:strings.LastIndexByte(pci, '.')])
		}
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
	}
	row.NIC = fabric.NICID(len(r.f.NICs))
	r.f.NICs = append(r.f.NICs, n)
}
