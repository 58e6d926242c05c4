package lint

import (
	"encoding/binary"
	"net/netip"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// Where the address of an interface comes from, and which of two is to mend.

// addressWritten says where the address of an interface is written, or the subnet of a tier that it follows from.
func (p *Pass) addressWritten(id fabric.IfaceID, text string) (diag.Label, bool) {
	f, iface := p.Fabric, &p.Fabric.Ifaces[id]
	if at, by, ok := f.Origin(iface.Decl, iface.Layers, schema.AAddress); ok {
		return diag.Label{Span: at, Where: f.Where(by), Text: text}, true
	}
	if f.Devices[iface.Device].Kind == fabric.Node {
		return diag.Label{}, false
	}
	from := []schema.Attr{schema.ASubnet, schema.AFabricSubnet}
	if iface.Kind == fabric.LoopbackIface {
		from = []schema.Attr{schema.ALoopback}
	}
	for _, n := range from {
		if at, by, ok := f.Origin(iface.Decl, 0, n); ok {
			return diag.Label{Span: at, Where: f.Where(by), Text: text}, true
		}
	}
	return diag.Label{}, false
}

// atAddress points at a written address, else at what it follows from: the subnet of a tier, or the slot of a node.
func (p *Pass) atAddress(id fabric.IfaceID, text string) diag.Label {
	if l, ok := p.addressWritten(id, text); ok {
		return l
	}
	f, iface := p.Fabric, &p.Fabric.Ifaces[id]
	dev := &f.Devices[iface.Device]
	if dev.Kind != fabric.Node {
		return f.Label(iface.Decl, iface.Layers, schema.AAddress, text)
	}
	return f.Label(dev.Decl, dev.Layers, schema.ASlot, text)
}

// atSubnet points at the subnet of an interface: with its address where that is written, else of its NIC, its segment or its tier.
func (p *Pass) atSubnet(id fabric.IfaceID, text string) diag.Label {
	f, iface := p.Fabric, &p.Fabric.Ifaces[id]
	if l, ok := p.addressWritten(id, text); ok {
		return l
	}
	if l, ok := p.onPort(iface, text, schema.ASubnet); ok {
		return l
	}
	if at, by, ok := f.Origin(iface.Decl, 0, schema.ASubnet); ok {
		return diag.Label{Span: at, Where: f.Where(by), Text: text}
	}
	if at, by, ok := f.Origin(f.Segments[iface.Segment].Decl, 0, schema.ASubnet); ok {
		return diag.Label{Span: at, Where: f.Where(by), Text: text}
	}
	return p.atAddress(id, text)
}

// atSubnets are labels at the subnets of two interfaces, or where each gets its address or is put into the segment
// that both have it from.
func (p *Pass) atSubnets(a, b fabric.IfaceID) []diag.Label {
	x, y := p.atSubnet(a, ""), p.atSubnet(b, "the other")
	if _, written := p.addressWritten(a, ""); x.Span != y.Span || written {
		return []diag.Label{x, y}
	}
	for i, l := range map[fabric.IfaceID]*diag.Label{a: &x, b: &y} {
		iface := &p.Fabric.Ifaces[i]
		if at, ok := p.onPort(iface, l.Text, schema.ANative, schema.ASegment, schema.ASegments); ok {
			*l = at
		} else if at, by, ok := p.Fabric.Origin(iface.Decl, iface.Layers, schema.ASegment); ok {
			*l = diag.Label{Span: at, Where: p.Fabric.Where(by), Text: l.Text}
		}
	}
	return []diag.Label{x, y}
}

// bySlot reports whether an address of an interface is the one that its slot gives it in its segment.
func (p *Pass) bySlot(id fabric.IfaceID) bool {
	f, iface := p.Fabric, &p.Fabric.Ifaces[id]
	seg, slot := &f.Segments[iface.Segment], f.Devices[iface.Device].Slot
	if !seg.Subnet.IsValid() || slot == 0 {
		return false
	}
	low := func(a netip.Addr) uint64 { b := a.As16(); return binary.BigEndian.Uint64(b[8:]) }
	for _, a := range f.Addresses(iface) {
		if a.Masked() == seg.Subnet.Masked() && low(a.Addr())-low(seg.Subnet.Masked().Addr()) == uint64(seg.First)+uint64(slot)-1 {
			return true
		}
	}
	return false
}

// sharers orders two interfaces with one address: first the one that writes it, where the other has it by its slot,
// else the first by address.
func (p *Pass) sharers(a, b fabric.IfaceID) (first, second fabric.IfaceID) {
	_, wa := p.addressWritten(a, "")
	_, wb := p.addressWritten(b, "")
	if wa && wb { // by one line perhaps, which leaves it to the slot of some
		wa, wb = !p.bySlot(a), !p.bySlot(b)
	}
	if wb && !wa || wa == wb && p.Fabric.IfaceAddress(b) < p.Fabric.IfaceAddress(a) {
		a, b = b, a
	}
	return a, b
}

// atAddresses are labels at the addresses of two interfaces. One line may write it for the first and leave it to the
// slot of the second.
func (p *Pass) atAddresses(first, second fabric.IfaceID) []diag.Label {
	f := p.Fabric
	x, y := p.atAddress(first, ""), p.atAddress(second, "the other")
	if x.Span != y.Span {
		return []diag.Label{x, y}
	}
	dev := &f.Devices[f.Ifaces[second].Device]
	if _, written := p.addressWritten(second, ""); written && p.bySlot(second) && !p.bySlot(first) {
		return []diag.Label{x, f.Label(dev.Decl, dev.Layers, schema.ASlot, y.Text)}
	}
	return []diag.Label{x, y}
}
