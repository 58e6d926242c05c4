package lower

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
)

// Shape appends to b all that the intent of a device says, except for its name,
// the name of its MLAG peer, MAC addresses and the values of IP addresses. Of
// those it has their family, prefix length and how they relate to each other
// (see relations). Devices of one shape have intents that differ in nothing else,
// so what is asked of the shape alone has to be asked of one of them. Options
// are no part of it, as they are none of Device.
//
// It is false, and what was appended says nothing, for devices that are taken
// as declared, and where a name or an address is not of the ordinary form:
// those are to be looked at one by one.
func Shape(f *fabric.Fabric, facts *derive.Facts, d fabric.DeviceID, b []byte) ([]byte, bool) {
	dev := &f.Devices[d]
	if dev.Manage == fabric.HandsOff || !ordinaryName(f.Text(dev.Name)) {
		return b, false
	}
	s := &shape{builder: builder{f: f, facts: facts, id: d, dev: dev, host: dev.Kind == fabric.Node}, b: b, ok: true}
	s.device()
	s.put(dev.NPorts)
	first, end := f.PortsOf(d)
	for p := first; p < end && s.ok; p++ {
		s.portOf(p)
	}
	lags := facts.LAGsOf(d)
	s.put(uint32(len(lags)))
	for _, l := range lags {
		s.lagOf(l)
	}
	ifaces := facts.IfacesOf(d)
	s.put(uint32(len(ifaces)))
	s.rel.prefixes = make([]netip.Prefix, 0, len(ifaces))
	for _, i := range ifaces {
		s.ifaceOf(i)
	}
	s.mlagOf()
	if !s.ok {
		return s.b, false
	}
	s.b = s.rel.append(s.b)
	return s.b, true
}

// shape writes numbers one after the other. Every list begins with its length,
// so that no two different devices can read alike.
type shape struct {
	builder
	b   []byte
	ok  bool
	rel relations
}

func (s *shape) put(numbers ...uint32) {
	for _, n := range numbers {
		s.b = binary.LittleEndian.AppendUint32(s.b, n)
	}
}

func (s *shape) flags(flags ...bool) {
	n := uint32(0)
	for i, set := range flags {
		if set {
			n |= 1 << i
		}
	}
	s.put(n)
}

func (s *shape) device() {
	d := s.dev
	s.put(uint32(d.Kind), uint32(d.Manage), uint32(d.OSName), uint32(d.OSVersion), uint32(d.Model), uint32(d.Firmware))
	s.put(uint32(d.Buffer.SharedBytes), uint32(d.Buffer.SharedBytes>>32), uint32(d.Buffer.HeadroomBytes), uint32(d.Buffer.HeadroomBytes>>32))
	s.put(uint32(d.Buffer.Alpha.Num), uint32(d.Buffer.Alpha.Den), uint32(d.Hash.Function), d.Hash.Seed, d.ARPMs, d.MACMs)
	s.flags(d.Hash.SeedSet, d.ShutSpare)
}

func (s *shape) portOf(p fabric.PortID) {
	port := &s.f.Ports[p]
	s.put(uint32(port.Name), uint32(port.Flags), uint32(port.Kept), uint32(port.Manage)|uint32(port.FEC)<<8|uint32(port.MTU)<<16, port.Mbps, uint32(port.Profile),
		uint32(s.facts.Of[p]), s.lagIndex(port.LAG))
	if port.Link == 0 || !s.f.Links[port.Link].LengthWritten {
		s.put(0)
	} else {
		s.put(1, derive.Length(&s.f.Links[port.Link]))
	}
	denies := s.denied(port)
	s.flags(port.Link != 0, denies.IsSet(),
		slices.Contains(denies.Value, intent.RoCEv2), slices.Contains(denies.Value, intent.RoCEv1))
	s.segments(port.Native, port.VLANs)
	s.splitOf(p)
	s.nicOf(port.NIC)
}

func (s *shape) splitOf(p fabric.PortID) {
	split, n := s.f.SplitOf(p)
	if split == nil {
		s.put(0)
		return
	}
	s.put(1, uint32(n), uint32(split.Count), split.Mbps, uint32(split.Mode), uint32(split.Parent))
	if split.Mode != 0 {
		part := split.Parts[n]
		s.put(uint32(part.Lanes), uint32(part.Alias), uint32(part.Index))
	}
}

func (s *shape) nicOf(id fabric.NICID) {
	if id == 0 {
		s.put(0)
		return
	}
	n := &s.f.NICs[id]
	s.put(1, uint32(n.Model), uint32(n.Device), uint32(n.PCI), uint32(n.Adapter), uint32(n.RoCE), uint32(n.Firmware), uint32(n.Driver), uint32(n.GPU), uint32(n.Storm.Ms))
	s.flags(n.MAC != 0, n.Storm.Set, n.VFs.Set, n.VFs.RDMA, n.VFs.Trust)
	if n.VFs.Set {
		s.put(uint32(n.VFs.Count), uint32(n.VFs.Mode), uint32(s.f.Segments[n.VFs.Segment].VLAN))
	}
	if n.MAC != 0 {
		s.ok = s.ok && ordinaryMAC(s.f.Text(n.MAC)) && s.rel.mac(n.MAC)
	}
}

// segments are the VLANs of a port or LAG with the MTU of each: segments of
// different racks may be alike.
func (s *shape) segments(native fabric.SegmentID, tagged fabric.VLANSetID) {
	s.segment(native)
	set := s.f.VLANSets[tagged]
	s.put(uint32(len(set)))
	for _, id := range set {
		s.segment(id)
	}
}

func (s *shape) segment(id fabric.SegmentID) {
	if id == 0 {
		s.put(0)
		return
	}
	seg := &s.f.Segments[id]
	s.put(1+uint32(seg.VLAN), uint32(seg.MTU))
}

func (s *shape) lagOf(id fabric.LAGID) {
	l := &s.f.LAGs[id]
	s.put(uint32(l.Name), uint32(l.Kept), uint32(l.Number)|uint32(l.Mode)<<16, uint32(l.Hash), uint32(l.MTU))
	s.members = map[fabric.LAGID][]fabric.PortID{}
	s.put(uint32(len(l.Members)))
	for _, p := range l.Members {
		s.local(p)
		if s.manage(p) != fabric.HandsOff {
			s.members[id] = append(s.members[id], p)
		}
	}
	s.flags(l.MLAG != 0 && !s.f.MLAGs[l.MLAG].EVPN, l.RateSet, l.Fast, s.lagMTUWritten(id))
	s.segments(l.Native, l.VLANs)
}

func (s *shape) ifaceOf(id fabric.IfaceID) {
	i := &s.f.Ifaces[id]
	s.put(uint32(i.Name), uint32(i.Kind)|uint32(i.MTU)<<16, s.lagIndex(i.OnLAG))
	s.local(i.On)
	s.local(i.Pin)
	s.segment(i.Segment)
	vrf := fabric.Str(0)
	if i.VRF != 0 && s.vrf(i) != "" {
		vrf = i.VRF
	}
	s.put(uint32(vrf))
	s.flags(i.Tagged, i.RDMA, s.ownAddress(i), i.Gateway.Len() > 0)
	s.put(uint32(i.Addresses.Len()))
	for _, a := range s.f.Addresses(i) {
		s.ok = s.ok && s.rel.prefix(a)
	}
	if a := s.f.Gateway(i); a.IsValid() {
		s.ok = s.ok && s.rel.address(a)
	}
}

func (s *shape) mlagOf() {
	m, side := s.pair()
	if m == nil {
		s.put(0)
		return
	}
	s.put(1, uint32(m.Domain), m.IntervalMs, m.TimeoutMs, s.lagIndex(m.LAGs[side]))
	if len(m.Links) > 0 {
		s.local(s.end(m.Links[0]))
	}
	s.flags(len(m.Links) > 0, m.Keepalive[side].IsValid(), m.Keepalive[1-side].IsValid(), s.outOfBand(m, side))
	s.ok = s.ok && ordinaryName(s.f.Text(s.f.Devices[m.Switches[1-side]].Name))
	for _, a := range []int{side, 1 - side} {
		if m.Keepalive[a].IsValid() {
			s.ok = s.ok && s.rel.address(m.Keepalive[a])
		}
	}
}

// local is a port by its place in the device.
func (s *shape) local(p fabric.PortID) {
	if p == 0 {
		s.put(0)
		return
	}
	s.ok = s.ok && s.f.Ports[p].Device == s.id
	s.put(1 + uint32(p-s.dev.First))
}

// lagIndex is a LAG by its place in the device, from 1; 0 for none.
func (s *shape) lagIndex(l fabric.LAGID) uint32 {
	if l == 0 {
		return 0
	}
	i := slices.Index(s.facts.LAGsOf(s.id), l)
	s.ok = s.ok && i >= 0
	return 1 + uint32(i)
}

// ordinaryName reports whether a text is in the letters that every platform
// takes for the name of a device, in a length that all take.
func ordinaryName(name string) bool {
	const most = 64
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case (c == '-' || c == '_' || c == '.') && i > 0:
		default:
			return false
		}
	}
	return 0 < len(name) && len(name) <= most
}

// ordinaryMAC reports whether a text is the address of one adapter, as rocec
// writes it: b8:3f:d2:00:00:01.
func ordinaryMAC(s string) bool {
	if len(s) != 17 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if i%3 == 2 {
			if c != ':' {
				return false
			}
			continue
		}
		digit := '0' <= c && c <= '9' || 'a' <= c && c <= 'f'
		group := i == 1 && (c == 'b' || c == 'd' || c == 'f' || c <= '9' && c%2 == 1)
		if !digit || group {
			return false
		}
	}
	return s != "00:00:00:00:00:00"
}
