package fabric

import (
	"fmt"
	"net/netip"
	"slices"
)

// AddressFault is how an address or a gateway does not fit what is around it.
type AddressFault uint8

// Faults of addresses.
const (
	OutsideSegment  AddressFault = iota + 1 // Iface is not in Subnet, that of Segment
	OtherMask                               // it is, with another mask
	LinkSubnets                             // Iface and Other, the ends of a cable, have no subnet in common
	LinkMasks                               // each has the other's address in its subnet, and they differ in their masks
	OneEnd                                  // Iface has an address, and the switch port at the other end has none
	OutsideRouter                           // Iface is not in Subnet, that of Other, the SVI of Segment
	AloneInSegment                          // Iface is the only one of Segment in its subnet; most are in Subnet, as Other is
	GatewayMistaken                         // nobody there has the gateway of Iface, and Other routes with another address
	GatewayUnknown                          // nobody there has it, and nobody is known to route
)

// Misaddressed is an address or a gateway that does not fit what is around it.
type Misaddressed struct {
	Fault   AddressFault
	Address netip.Prefix // of Iface; a gateway as a whole address
	Subnet  netip.Prefix // what it should be in; of LinkSubnets and LinkMasks the address of Other
	Iface   IfaceID      // of the gateway of a segment the first that has it
	Other   IfaceID      // 0 = none
	Segment SegmentID    // that Iface is in, 0 = none
	Have    uint32       // of AloneInSegment: how many are in Subnet
	Of      uint32       // and how many there are
}

// IfaceName is an interface as messages name it, like a port: `n1/rail0`.
func (f *Fabric) IfaceName(i IfaceID) string {
	iface := &f.Ifaces[i]
	return f.Text(f.Devices[iface.Device].Name) + "/" + f.Text(iface.Name)
}

// MisaddressedText says what is wrong in one sentence.
func (f *Fabric) MisaddressedText(m *Misaddressed) string {
	seg, name := f.Text(f.Segments[m.Segment].Name), f.IfaceName(m.Iface)
	switch m.Fault {
	case OutsideSegment:
		return fmt.Sprintf("%s of %s is not in %s, the subnet of segment %s", m.Address, name, m.Subnet, seg)
	case OtherMask:
		return fmt.Sprintf("%s of %s has another mask than %s, the subnet of segment %s", m.Address, name, m.Subnet, seg)
	case LinkSubnets, LinkMasks:
		what := "are in two subnets"
		if m.Fault == LinkMasks {
			what = "have two masks"
		}
		return fmt.Sprintf("%s has %s and its peer %s has %s: the ends of one cable %s", name, m.Address, f.IfaceName(m.Other), m.Subnet, what)
	case OneEnd:
		return fmt.Sprintf("%s has %s, and its peer %s has no address", name, m.Address, f.PortName(f.Ports[f.Ifaces[m.Iface].On].Peer))
	case OutsideRouter:
		return fmt.Sprintf("%s of %s is not in %s, the subnet of %s in segment %s", m.Address, name, m.Subnet.Masked(), f.IfaceName(m.Other), seg)
	case AloneInSegment:
		others := fmt.Sprintf("%d of %d are in %s", m.Have, m.Of, m.Subnet.Masked())
		return fmt.Sprintf("%s of %s is in another subnet than the others in segment %s: %s", m.Address, name, seg, others)
	}
	switch gateway := m.Address.Addr(); {
	case m.Segment == 0:
		return fmt.Sprintf("nothing at the other end of %s has %s, its gateway", name, gateway)
	case gateway == f.Segments[m.Segment].Gateway:
		return fmt.Sprintf("nothing in segment %s has %s, its gateway", seg, gateway)
	default:
		return fmt.Sprintf("nothing in segment %s has %s, the gateway of %s", seg, gateway, name)
	}
}

// PortsBelow are the ports that carry an interface: those of its LAG, or the one that
// it is on or pinned to.
func (f *Fabric) PortsBelow(i *Iface) []PortID {
	on, lag := i.On, i.OnLAG
	if f.Ports[on].Flags&IsLAG != 0 {
		lag = f.Ports[on].LAG
	}
	switch {
	case i.Pin != 0:
		return []PortID{i.Pin}
	case lag != 0:
		return f.LAGs[lag].Members
	case on != 0:
		return []PortID{on}
	}
	return nil
}

// Unneighbourly is what is wrong with the addresses at a port, nil if nothing is.
func (f *Fabric) Unneighbourly(p PortID) *Misaddressed {
	for i := range f.Misaddressed {
		m := &f.Misaddressed[i]
		for _, id := range [2]IfaceID{m.Iface, m.Other} {
			if slices.Contains(f.PortsBelow(&f.Ifaces[id]), p) {
				return m
			}
		}
	}
	return nil
}

// Unrouted reports whether no routed packet crosses a link: nothing is bridged over
// it, and the addresses at its ends are no neighbours.
func (f *Fabric) Unrouted(l LinkID) bool {
	if !f.SomeAstray {
		return false
	}
	a, b := &f.Ports[f.Links[l].A], &f.Ports[f.Links[l].B]
	return (a.Flags|b.Flags)&Astray != 0 && a.VLANs|b.VLANs == 0 && a.Native|b.Native == 0
}
