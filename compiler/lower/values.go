package lower

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
)

// Skeleton is a copy of an intent without what Shape leaves out: devices of one
// shape have one skeleton. A MAC address becomes "some", IP addresses become the
// unspecified one of their family. What is not changed is shared with the intent.
func Skeleton(d *intent.Device) *intent.Device {
	out := *d
	out.Name = ""
	if d.MLAG != nil {
		m := *d.MLAG
		m.Peer, m.Source, m.PeerAddress = "", unspecified(m.Source), unspecified(m.PeerAddress)
		out.MLAG = &m
	}
	out.Ports = slices.Clone(d.Ports)
	for i := range out.Ports {
		if n := out.Ports[i].NIC; n != nil && n.MAC != "" {
			nic := *n
			nic.MAC = "some"
			out.Ports[i].NIC = &nic
		}
	}
	out.Ifaces = slices.Clone(d.Ifaces)
	for i := range out.Ifaces {
		f := &out.Ifaces[i]
		f.Gateway.Value = unspecified(f.Gateway.Value)
		f.Addresses.Value = slices.Clone(f.Addresses.Value)
		for k, a := range f.Addresses.Value {
			f.Addresses.Value[k] = netip.PrefixFrom(unspecified(a.Addr()), a.Bits())
		}
	}
	return &out
}

func unspecified(a netip.Addr) netip.Addr {
	switch {
	case !a.IsValid():
		return a
	case a.Is4():
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}

// Values appends to b what Skeleton takes out of the intent of a device, in the
// order of that intent, without making it: two devices with one skeleton and
// equal values have equal intents, be it in two runs. It is for devices that have
// a shape.
func Values(f *fabric.Fabric, facts *derive.Facts, d fabric.DeviceID, b []byte) []byte {
	dev := &f.Devices[d]
	v := &values{builder{f: f, facts: facts, id: d, dev: dev, host: dev.Kind == fabric.Node}, b}
	v.text(f.Text(dev.Name))
	first, end := f.PortsOf(d)
	for p := first; p < end; p++ {
		if nic := f.Ports[p].NIC; nic != 0 && f.NICs[nic].MAC != 0 && v.lists(p) {
			v.text(f.Text(f.NICs[nic].MAC))
		}
	}
	for _, id := range v.ordered(facts.IfacesOf(d)) {
		i := &f.Ifaces[id]
		if v.skips(i) {
			continue
		}
		v.b = binary.LittleEndian.AppendUint32(v.b, uint32(i.Addresses.Len()))
		for _, a := range f.Addresses(i) {
			v.address(a.Addr())
		}
		v.address(f.Gateway(i))
	}
	if m, side := v.pair(); m != nil {
		v.text(f.Text(f.Devices[m.Switches[1-side]].Name))
		v.address(m.Keepalive[side])
		v.address(m.Keepalive[1-side])
	}
	return v.b
}

// Like is the intent of a device, made of that of another one of its shape: it is
// Device, and shares with the other intent whatever has no name or address in it.
// Neither is to be changed.
func Like(f *fabric.Fabric, facts *derive.Facts, d fabric.DeviceID, other *intent.Device) *intent.Device {
	dev := &f.Devices[d]
	b := &builder{f: f, facts: facts, id: d, dev: dev, host: dev.Kind == fabric.Node}
	out := *other
	out.Name = f.Text(dev.Name)
	b.likePorts(&out)
	if len(out.Ifaces) > 0 {
		out.Ifaces = slices.Clone(out.Ifaces)
	}
	next := 0
	for _, id := range b.ordered(facts.IfacesOf(d)) {
		i := &f.Ifaces[id]
		if b.skips(i) {
			continue
		}
		to := &out.Ifaces[next]
		if next++; i.Addresses.Len() > 0 {
			to.Addresses = intent.Some(f.Addresses(i))
		}
		if !to.Gateway.IsZero() {
			to.Gateway = intent.Some(f.Gateway(i))
		}
	}
	if m, side := b.pair(); m != nil {
		pair := *out.MLAG
		pair.Peer, pair.Source, pair.PeerAddress = f.Text(f.Devices[m.Switches[1-side]].Name), m.Keepalive[side], m.Keepalive[1-side]
		out.MLAG = &pair
	}
	return &out
}

// likePorts gives the adapters their MAC addresses. Most intents have none.
func (b *builder) likePorts(out *intent.Device) {
	first, end := b.f.PortsOf(b.id)
	next := -1
	for p := first; p < end; p++ {
		nic := b.f.Ports[p].NIC
		if nic == 0 || b.f.NICs[nic].MAC == 0 || !b.lists(p) {
			continue
		}
		if next < 0 {
			out.Ports = slices.Clone(out.Ports)
		}
		for next++; out.Ports[next].NIC == nil || out.Ports[next].NIC.MAC == ""; {
			next++
		}
		one := *out.Ports[next].NIC
		one.MAC = b.f.Text(b.f.NICs[nic].MAC)
		out.Ports[next].NIC = &one
	}
}

// values writes each value with its length, so that no two lists read alike.
type values struct {
	builder
	b []byte
}

func (v *values) text(s string) {
	v.b = append(binary.LittleEndian.AppendUint32(v.b, uint32(len(s))), s...)
}

func (v *values) address(a netip.Addr) {
	v.b = append(v.b, byte(a.BitLen()/8))
	if a.Is4() {
		four := a.As4()
		v.b = append(v.b, four[:]...)
	} else if a.IsValid() {
		sixteen := a.As16()
		v.b = append(v.b, sixteen[:]...)
	}
}

// lists reports whether a port can be in the intent.
func (b *builder) lists(p fabric.PortID) bool {
	return b.f.Ports[p].Flags&(fabric.IsLAG|fabric.IsVNIC) == 0 && b.manage(p) != fabric.HandsOff
}

// skips reports whether an interface is not in the intent: what it stands on is
// not managed.
func (b *builder) skips(i *fabric.Iface) bool {
	if i.On != 0 && b.manage(i.On) == fabric.HandsOff {
		return true
	}
	return i.OnLAG != 0 && !slices.ContainsFunc(b.f.LAGs[i.OnLAG].Members, func(p fabric.PortID) bool { return b.manage(p) != fabric.HandsOff })
}
