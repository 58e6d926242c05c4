package lower

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/schema"
)

func (b *builder) lag(id fabric.LAGID) {
	l := &b.f.LAGs[id]
	modes := [...]string{fabric.LACP: "lacp", fabric.Static: "static", fabric.ActiveBackup: "active_backup", fabric.SET: "set"}
	out := intent.LAG{Name: b.f.Text(l.Name), ID: l.Number, Mode: modes[l.Mode], Hash: b.f.Text(l.Hash), MLAG: l.MLAG != 0 && !b.f.MLAGs[l.MLAG].EVPN}
	for _, p := range b.members[id] {
		out.Members = append(out.Members, b.portName(p))
	}
	if l.RateSet {
		out.Rate = "slow"
		if l.Fast {
			out.Rate = "fast"
		}
	}
	out.Native, out.Tagged = b.bridged(l.Native, l.VLANs, false)
	out.Deny = b.deniedBy(b.members[id])
	if l.Kept.Has(schema.ASegments) {
		out.Tagged = intent.Opt[[]uint16]{}
	}
	if l.Kept.Has(schema.ANative) {
		out.Native = intent.Opt[uint16]{State: intent.Default}
	}
	if l.Kept.Has(schema.ADeny) {
		out.Deny = intent.Opt[[]intent.RDMA]{}
	}
	if l.MTU > 0 && b.lagMTUWritten(id) {
		out.MTU = intent.Some(l.MTU)
	}
	b.out.LAGs = append(b.out.LAGs, out)
}

// lagMTUWritten reports whether some layer wrote the MTU of a LAG: its own, or
// that of a member.
func (b *builder) lagMTUWritten(id fabric.LAGID) bool {
	l := &b.f.LAGs[id]
	if _, _, ok := b.f.Origin(l.Decl, l.Layers, schema.AMTU); ok {
		return true
	}
	if l.Port != 0 && b.f.Ports[l.Port].Flags&fabric.MTUSet != 0 {
		return true
	}
	return slices.ContainsFunc(b.members[id], func(p fabric.PortID) bool { return b.f.Ports[p].Flags&fabric.MTUSet != 0 })
}

func (b *builder) iface(id fabric.IfaceID) {
	i := &b.f.Ifaces[id]
	kinds := [...]intent.IfaceKind{
		fabric.SVI: intent.SVI, fabric.RoutedIface: intent.Routed, fabric.LoopbackIface: intent.Loopback,
		fabric.DirectIface: intent.Direct, fabric.VLANIface: intent.VLANDev, fabric.VNICIface: intent.VNIC,
	}
	out := intent.Iface{
		Name: b.ifaceName(i), Kind: kinds[i.Kind], On: b.on(i), VRF: b.vrf(i),
		RDMA: i.RDMA && b.host, // on a switch it is a matter of the port's QoS
	}
	if i.Pin != 0 && b.manage(i.Pin) != fabric.HandsOff {
		out.Pin = b.portName(i.Pin)
	}
	if i.Segment != 0 && (i.Tagged || i.Kind == fabric.SVI) {
		out.VLAN = b.f.Segments[i.Segment].VLAN
	}
	if i.Kind == fabric.SVI && i.Segment != 0 {
		b.carry(i.Segment)
	}
	if i.MTU > 0 && !b.sameMTU(i) {
		out.MTU = intent.Some(i.MTU)
	}
	if i.Addresses.Len() > 0 {
		out.Addresses = intent.Some(b.f.Addresses(i))
	}
	out.Unique = b.ownAddress(i)
	if a := b.f.Gateway(i); a.IsValid() && b.host {
		out.Gateway = intent.Some(a)
	}
	if i.Kind == fabric.VLANIface {
		out.QoS = b.ifaceQoS(i)
	}
	b.out.Ifaces = append(b.out.Ifaces, out)
}

// ownAddress reports whether the other switch of the pair has other addresses in
// the VLAN of an SVI.
func (b *builder) ownAddress(i *fabric.Iface) bool {
	if i.Kind != fabric.SVI || b.dev.MLAG == 0 || i.Addresses.Len() == 0 {
		return false
	}
	pair := b.f.MLAGs[b.dev.MLAG].Switches
	peer := pair[0] + pair[1] - b.id
	for _, id := range b.facts.IfacesOf(peer) {
		o := &b.f.Ifaces[id]
		if o.Kind == fabric.SVI && b.f.Segments[o.Segment].VLAN == b.f.Segments[i.Segment].VLAN {
			return !slices.Equal(b.f.Addresses(o), b.f.Addresses(i))
		}
	}
	return false
}

// vrf is the routing table of an interface. That of a segment speaks for
// switches: a host has one only where its own interface says so.
func (b *builder) vrf(i *fabric.Iface) string {
	if b.host {
		if _, _, ok := b.f.Origin(i.Decl, i.Layers, schema.AVRF); !ok {
			return ""
		}
	}
	return b.f.Text(i.VRF)
}

// ifaceName is the name of an interface in the intent: an address on a NIC goes
// by the name that the NIC has there.
func (b *builder) ifaceName(i *fabric.Iface) string {
	if i.Kind == fabric.DirectIface && i.On != 0 && i.Name == b.f.Ports[i.On].Name {
		return b.portName(i.On)
	}
	return b.f.Text(i.Name)
}

// sameMTU reports whether an interface is its port or LAG under another name
// and has its MTU, which then stands there.
func (b *builder) sameMTU(i *fabric.Iface) bool {
	if i.Kind != fabric.DirectIface && i.Kind != fabric.RoutedIface {
		return false
	}
	if i.OnLAG != 0 {
		return b.f.LAGs[i.OnLAG].MTU == i.MTU
	}
	return i.On != 0 && b.f.Ports[i.On].MTU == i.MTU
}

// ifaceQoS is the QoS of the port under a VLAN device, or of the first member
// of the bond that has one.
func (b *builder) ifaceQoS(i *fabric.Iface) string {
	if i.OnLAG == 0 {
		return b.qosOf[i.On]
	}
	for _, p := range b.members[i.OnLAG] {
		if name := b.qosOf[p]; name != "" {
			return name
		}
	}
	return ""
}

// pair is the MLAG pair of the device and which of the two it is.
func (b *builder) pair() (*fabric.MLAG, int) {
	if b.dev.MLAG == 0 || b.f.MLAGs[b.dev.MLAG].EVPN {
		return nil, 0
	}
	m := &b.f.MLAGs[b.dev.MLAG]
	if m.Switches[1] == b.id {
		return m, 1
	}
	return m, 0
}

func (b *builder) mlag() {
	m, side := b.pair()
	if m == nil {
		return
	}
	out := &intent.MLAG{
		Domain: m.Domain, Peer: b.f.Text(b.f.Devices[m.Switches[1-side]].Name),
		Source: m.Keepalive[side], PeerAddress: m.Keepalive[1-side], OutOfBand: b.outOfBand(m, side), IntervalMs: m.IntervalMs, TimeoutMs: m.TimeoutMs,
	}
	switch {
	case m.LAGs[side] != 0:
		out.PeerLink = b.f.Text(b.f.LAGs[m.LAGs[side]].Name)
	case len(m.Links) > 0:
		out.PeerLink = b.portName(b.end(m.Links[0]))
	}
	b.out.MLAG = out
}

// outOfBand reports whether a pair watches itself over the management ports of its switches: the keepalive addresses are their management
// addresses, and no interface of this one has its own.
func (b *builder) outOfBand(m *fabric.MLAG, side int) bool {
	for i, d := range m.Switches {
		if a, ok := b.f.MgmtAddr(d); !ok || a != m.Keepalive[i] {
			return false
		}
	}
	return !slices.ContainsFunc(b.facts.IfacesOf(b.id), func(id fabric.IfaceID) bool {
		return slices.ContainsFunc(b.f.Addresses(&b.f.Ifaces[id]), func(p netip.Prefix) bool { return p.Addr() == m.Keepalive[side] })
	})
}

// end is the device's own end of a link.
func (b *builder) end(l fabric.LinkID) fabric.PortID {
	link := &b.f.Links[l]
	if b.f.Ports[link.B].Device == b.id {
		return link.B
	}
	return link.A
}

// vlanList lists what a switch carries. On hosts the interfaces say it.
func (b *builder) vlanList() {
	if b.host {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(b.vlans)) {
		v := intent.VLAN{ID: id}
		if mtu := b.vlans[id]; mtu > 0 {
			v.MTU = intent.Some(mtu)
		}
		b.out.VLANs = append(b.out.VLANs, v)
	}
}
