// Package lower turns one device of a fabric and its derived facts into that
// device's intent, and says which target blocks select it. It takes a fabric
// that was resolved and judged, and works device by device: nothing holds all
// intents. A setting is in the intent if some layer of the source wrote it, or
// if it follows from something written; ports and devices under manage =
// "none" are left out whole. Origin leads from a field of an intent back to
// the source.
//
// Left out: judgement, which is for compiler/lint; what a target can express,
// which it says itself; and whether a device under manage = "verify" may be
// written, which it may not: its intent is complete, for comparing.
package lower

import (
	"slices"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
)

// Device is the intent of a device, nil if the device is taken as declared. Its
// Options are empty: a device can have several targets, and whoever emits sets
// those of the one at hand (see Selected). Facts are what derive.Compute made
// of the same fabric.
func Device(f *fabric.Fabric, facts *derive.Facts, d fabric.DeviceID) *intent.Device {
	b := build(f, facts, d)
	if b == nil {
		return nil
	}
	return b.out
}

// builder makes one intent.
type builder struct {
	f     *fabric.Fabric
	facts *derive.Facts
	id    fabric.DeviceID
	dev   *fabric.Device
	model *fabric.SwitchModel // nil for nodes
	host  bool
	out   *intent.Device

	lags     []fabric.LAGID // the rows of out.LAGs
	ifaces   []fabric.IfaceID
	members  map[fabric.LAGID][]fabric.PortID // managed ones
	used     map[fabric.PortID]bool           // ports that LAGs, interfaces and the pair refer to
	qosOf    map[fabric.PortID]string
	qosKeys  map[qosKey]int              // index in out.QoS
	uses     []fabric.PortID             // first port of each of out.QoS
	vlans    map[uint16]uint16           // VLAN -> MTU, 0 = not written
	segments map[uint16]fabric.SegmentID // of those, the first that the device carries
}

func build(f *fabric.Fabric, facts *derive.Facts, d fabric.DeviceID) *builder {
	dev := &f.Devices[d]
	if dev.Manage == fabric.HandsOff {
		return nil
	}
	b := &builder{
		f: f, facts: facts, id: d, dev: dev, host: dev.Kind == fabric.Node,
		members: map[fabric.LAGID][]fabric.PortID{}, used: map[fabric.PortID]bool{}, qosOf: map[fabric.PortID]string{},
		qosKeys: map[qosKey]int{}, vlans: map[uint16]uint16{}, segments: map[uint16]fabric.SegmentID{},
	}
	b.head()
	b.refer()
	first, end := f.PortsOf(d)
	for p := first; p < end; p++ {
		b.port(p)
	}
	for _, l := range b.lags {
		b.lag(l)
	}
	for _, i := range b.ifaces {
		b.iface(i)
	}
	b.mlag()
	b.vlanList()
	return b
}

func (b *builder) head() {
	b.out = &intent.Device{
		Version: intent.Version, Name: b.f.Text(b.dev.Name), Kind: intent.Switch,
		OS: intent.OS{Name: b.f.Text(b.dev.OSName), Version: b.f.Text(b.dev.OSVersion)}, Verify: b.dev.Manage == fabric.Verify,
	}
	if b.host {
		b.out.Kind = intent.Node
		return
	}
	if b.dev.Model != 0 {
		b.model = &b.f.Models[b.dev.Model]
		b.out.Model, b.out.ASIC = b.f.Text(b.model.Name), b.f.Text(b.model.Family)
	}
	buf := &b.dev.Buffer
	if buf.SharedBytes > 0 {
		b.out.Buffer.SharedBytes = intent.Some(buf.SharedBytes)
	}
	if buf.HeadroomBytes > 0 {
		b.out.Buffer.HeadroomBytes = intent.Some(buf.HeadroomBytes)
	}
	if e, ok := buf.Alpha.Exponent(); ok { // derive has refused what is no power of two
		b.out.Buffer.AlphaExponent = intent.Some(e)
	}
	if h := &b.dev.Hash; h.Function != 0 {
		b.out.Hash.Function = intent.Some(b.f.Text(h.Function))
	}
	if h := &b.dev.Hash; h.SeedSet {
		b.out.Hash.Seed = intent.Some(h.Seed)
	}
	if ms := b.dev.ARPMs; ms > 0 {
		b.out.Aging.ARPSeconds = intent.Some(ms / 1000)
	}
	if ms := b.dev.MACMs; ms > 0 {
		b.out.Aging.MACSeconds = intent.Some(ms / 1000)
	}
	b.out.Firmware = b.f.Text(b.dev.Firmware)
}

// refer collects the LAGs and interfaces that are managed and the ports they
// stand on: those are in the intent even if nothing else is said of them.
func (b *builder) refer() {
	for _, l := range b.orderedLAGs(b.facts.LAGsOf(b.id)) {
		for _, p := range orderedMembers(&b.f.LAGs[l]) {
			if b.manage(p) != fabric.HandsOff {
				b.members[l] = append(b.members[l], p)
				b.used[p] = true
			}
		}
		if len(b.members[l]) > 0 {
			b.lags = append(b.lags, l)
		}
	}
	for _, i := range b.ordered(b.facts.IfacesOf(b.id)) {
		iface := &b.f.Ifaces[i]
		if b.skips(iface) {
			continue
		}
		b.ifaces = append(b.ifaces, i)
		b.used[iface.On] = true
		if iface.Pin != 0 && b.manage(iface.Pin) != fabric.HandsOff {
			b.used[iface.Pin] = true
		}
	}
	if m, side := b.pair(); m != nil && m.LAGs[side] == 0 && len(m.Links) > 0 {
		b.used[b.end(m.Links[0])] = true
	}
}

// manage is who writes a port: nothing on a device under verify is written.
func (b *builder) manage(p fabric.PortID) fabric.Manage {
	return max(b.f.Ports[p].Manage, b.dev.Manage)
}

// portName is the name of a port in the intent: on hosts the one the operating
// system shall use.
func (b *builder) portName(p fabric.PortID) string {
	port := &b.f.Ports[p]
	if port.NIC != 0 {
		if name := b.f.Text(b.f.NICs[port.NIC].Device); name != "" {
			return name
		}
	}
	return b.f.Text(port.Name)
}

// on is the name of what an interface sits on, "" if that is a segment.
func (b *builder) on(i *fabric.Iface) string {
	switch {
	case i.OnLAG != 0:
		return b.f.Text(b.f.LAGs[i.OnLAG].Name)
	case i.On != 0:
		return b.portName(i.On)
	}
	return ""
}

// vlanIDs are the VLANs of a set, each once, ascending.
func (b *builder) vlanIDs(set fabric.VLANSetID) []uint16 {
	ids := make([]uint16, 0, len(b.f.VLANSets[set]))
	for _, s := range b.f.VLANSets[set] {
		ids = append(ids, b.f.Segments[s].VLAN)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
