package lower

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/schema"
)

// port adds a port if there is anything to say about it. LAGs and virtual NICs
// are rows of their own lists.
func (b *builder) port(p fabric.PortID) {
	port := &b.f.Ports[p]
	if !b.lists(p) {
		return
	}
	out := intent.Port{Name: b.portName(p), Verify: b.manage(p) == fabric.Verify}
	b.physical(port, &out)
	b.breakout(p, &out)
	if port.LAG == 0 { // the VLANs of a member are those of its LAG
		out.Native, out.Tagged = b.bridged(port.Native, port.VLANs, port.Flags&fabric.NativeSet != 0)
		out.Deny = b.denied(port)
	}
	if b.spare(port) && !b.used[p] {
		out.Enabled = intent.Some(false)
	}
	if port.Profile != 0 && port.Flags&fabric.Kept == 0 {
		out.QoS = b.qos(p)
		b.qosOf[p] = out.QoS
	}
	b.cable(p, &out)
	keepOn(port.Kept, &out)
	said := out.QoS != "" || out.Breakout != "" || !out.Enabled.IsZero() || !out.Mbps.IsZero() || !out.FEC.IsZero() || !out.Autoneg.IsZero() ||
		!out.MTU.IsZero() || !out.Native.IsZero() || !out.Tagged.IsZero() || !out.Deny.IsZero() || !out.CableMm.IsZero()
	if port.NIC != 0 {
		out.NIC = b.nic(p, out.QoS != "")
		if port.Kept.Has(schema.ARoCEMode) {
			out.NIC.RoCE = intent.Opt[string]{}
		}
		said = said || speaks(out.NIC)
	}
	if said || b.used[p] {
		b.out.Ports = append(b.out.Ports, out)
	}
}

// keepOn takes out of a port what is left as the device has it. The untagged VLAN is then
// not none, which a port without one has beside tagged ones, but whatever is there.
func keepOn(kept fabric.Keeps, out *intent.Port) {
	if kept == 0 {
		return
	}
	for n, clear := range map[schema.Attr]func(){
		schema.AAdmin:    func() { out.Enabled = intent.Opt[bool]{} },
		schema.ASpeed:    func() { out.Mbps = intent.Opt[uint32]{} },
		schema.AFEC:      func() { out.FEC = intent.Opt[intent.FEC]{} },
		schema.AAutoneg:  func() { out.Autoneg = intent.Opt[bool]{} },
		schema.AMTU:      func() { out.MTU = intent.Opt[uint16]{} },
		schema.ASegments: func() { out.Tagged = intent.Opt[[]uint16]{} },
		schema.ANative:   func() { out.Native = intent.Opt[uint16]{State: intent.Default} },
		schema.ADeny:     func() { out.Deny = intent.Opt[[]intent.RDMA]{} },
	} {
		if kept.Has(n) {
			clear()
		}
	}
}

// breakout is the split that a port is a child of, and where the platform has
// its own words for it, those and the speed that the child has by it.
func (b *builder) breakout(p fabric.PortID, out *intent.Port) {
	split, n := b.f.SplitOf(p)
	if split == nil {
		return
	}
	if n == 0 {
		out.Breakout = fmt.Sprintf("%dx%dG", split.Count, split.Mbps/1000)
	}
	if split.Mode == 0 {
		return
	}
	part := split.Parts[n]
	out.Split = &intent.Split{
		Parent: b.f.Text(split.Parent), Mode: b.f.Text(split.Mode), Number: uint8(n + 1),
		Lanes: b.f.Text(part.Lanes), Alias: b.f.Text(part.Alias), Index: part.Index,
	}
	if !out.Mbps.IsSet() {
		out.Mbps = intent.Some(split.Mbps)
	}
}

// physical is what the source writes about the port itself.
func (b *builder) physical(port *fabric.Port, out *intent.Port) {
	if port.Flags&fabric.EnabledSet != 0 {
		out.Enabled = intent.Some(port.Flags&fabric.ShutDown == 0)
	}
	if port.Flags&fabric.SpeedSet != 0 && port.Mbps > 0 {
		out.Mbps = intent.Some(port.Mbps)
	}
	if fec, ok := fecOf(port.FEC); ok && port.Flags&fabric.FECSet != 0 {
		out.FEC = intent.Some(fec)
	}
	if port.Flags&fabric.AutonegSet != 0 {
		out.Autoneg = intent.Some(port.Flags&fabric.Autoneg != 0)
	}
	if port.Flags&fabric.MTUSet != 0 && port.MTU > 0 {
		out.MTU = intent.Some(port.MTU)
	}
}

func fecOf(f fabric.FEC) (intent.FEC, bool) {
	switch f {
	case fabric.FECNone:
		return intent.FECNone, true
	case fabric.FECRS:
		return intent.FECRS, true
	case fabric.FECFC:
		return intent.FECFC, true
	case fabric.FECAuto:
		return intent.FECAuto, true
	}
	return "", false
}

// bridged are the VLANs of a port or LAG. On a bridged switch port the list of
// tagged ones is set even when it is empty: what is not declared is not there.
// A host tags what its interfaces tag, so an empty list says nothing on it.
func (b *builder) bridged(native fabric.SegmentID, set fabric.VLANSetID, nativeSet bool) (intent.Opt[uint16], intent.Opt[[]uint16]) {
	var untagged intent.Opt[uint16]
	var tagged intent.Opt[[]uint16]
	if native != 0 {
		b.carry(native)
		untagged = intent.Some(b.f.Segments[native].VLAN)
	}
	ids := b.vlanIDs(set)
	for _, s := range b.f.VLANSets[set] {
		b.carry(s)
	}
	if len(ids) > 0 || !b.host && (native != 0 || nativeSet) {
		tagged = intent.Some(ids)
	}
	return untagged, tagged
}

// carry notes a VLAN of the device.
func (b *builder) carry(s fabric.SegmentID) {
	seg := &b.f.Segments[s]
	if b.segments[seg.VLAN] == 0 {
		b.segments[seg.VLAN] = s
	}
	b.vlans[seg.VLAN] = max(b.vlans[seg.VLAN], seg.MTU)
}

// cable is the length that the device computes headroom from, and the headroom
// of each group. A switch that looks headroom up is told the length of the row
// it has to find. On hosts only mlx5 under Linux takes a length [Linux mlx5
// en/port_buffer.c], and a length nobody wrote is left to the driver.
func (b *builder) cable(p fabric.PortID, out *intent.Port) {
	port, facts := &b.f.Ports[p], b.facts.Port(p)
	var length uint32
	if link := b.f.CableAt(p); link.LengthWritten {
		length = derive.Length(&link)
	}
	if b.host {
		takes := port.NIC != 0 && b.f.Text(b.f.NICModels[b.f.NICs[port.NIC].Model].Driver) == "mlx5" && emitterOf(b.out.OS.Name) == "linux"
		if takes && length > 0 && out.QoS != "" {
			out.CableMm = intent.Some(length)
		}
		return
	}
	if out.QoS != "" && facts.CableMm > 0 {
		length = facts.CableMm
		listed := uint32(0)
		for i := range facts.Headroom {
			listed = max(listed, facts.Headroom[i].TableMm)
		}
		if length = max(length, listed); listed == 0 && b.looksUp() {
			length = commonLength(length)
		}
		out.Headroom = headrooms(&b.f.Profiles[port.Profile], facts)
	}
	if length > 0 {
		out.CableMm = intent.Some(length)
	}
}

// looksUp reports whether the device takes its headroom from a table of its
// own image: SONiC on any ASIC but Spectrum.
func (b *builder) looksUp() bool {
	return b.out.OS.Name == "sonic" && b.model != nil && b.f.Text(b.model.Formula) != "spectrum"
}

// commonLength is the next length that nearly every shipped table has a row
// for, where the device's own table is not known: without a row a port gets no
// lossless group [sonic-buildimage files/build_templates/buffers_config.j2,
// ports2cable].
func commonLength(mm uint32) uint32 {
	for _, listed := range []uint32{5_000, 40_000, 300_000} {
		if mm <= listed {
			return listed
		}
	}
	return mm
}

// headrooms are the groups of the lossless priorities; of two priorities in one
// group the larger size counts.
func headrooms(profile *fabric.Profile, facts *derive.Port) []intent.Headroom {
	var list []intent.Headroom
	for prio := range facts.Headroom {
		h := &facts.Headroom[prio]
		if h.Source == derive.SourceNone || h.Source == derive.SourceKept {
			continue
		}
		g := intent.Headroom{
			Group: profile.Group[prio], XoffBytes: h.Xoff, XonBytes: h.Xon, SizeBytes: h.Size, XonOffset: h.XonOffset,
			Written: h.Source == derive.SourceOperator,
		}
		if h.HasAlpha {
			alpha := h.Alpha
			g.Alpha = &alpha
		}
		i := slices.IndexFunc(list, func(o intent.Headroom) bool { return o.Group == g.Group })
		switch {
		case i < 0:
			list = append(list, g)
		case list[i].XoffBytes < g.XoffBytes:
			list[i] = g
		}
	}
	slices.SortFunc(list, func(a, b intent.Headroom) int { return int(a.Group) - int(b.Group) })
	return list
}
