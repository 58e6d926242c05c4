package sonic

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// limits refuses what depends on values: names and numbers outside the YANG
// models, settings of ports that the switch has once only, and combinations
// that the images are known not to carry.
func limits(d *intent.Device, refuse targets.Refuse) {
	l := &limit{device: d, refuse: refuse, vlans: map[uint16]bool{}, member: map[string]string{}}
	l.platform()
	for i := range d.VLANs {
		l.vlan(&d.VLANs[i])
	}
	for i := range d.Ports {
		l.port(&d.Ports[i])
	}
	for i := range d.LAGs {
		l.lag(&d.LAGs[i])
	}
	for i := range d.Ifaces {
		l.iface(&d.Ifaces[i])
	}
	for i := range d.QoS {
		l.qos(&d.QoS[i])
	}
	l.mlag()
	l.hash()
	l.switchWide()
	l.headrooms()
}

type limit struct {
	device *intent.Device
	refuse targets.Refuse
	vlans  map[uint16]bool
	member map[string]string // port -> LAG
}

// Ranges of sonic-port.yang and sonic-vlan.yang.
const (
	minMTU, maxMTU   = 68, 9216
	minVLAN, maxVLAN = 2, 4094
	maxMbps          = 1600000
)

func (l *limit) platform() {
	d, at := l.device, func(field string) intent.Path { return intent.Path{Object: intent.OfDevice, Field: field} }
	if v := d.OS.Version; v != "" && v != "master" && branch(v) == newest {
		l.refuse(fmt.Sprintf("sonic version %q is not a release branch", v), `write the branch of the image, such as "202405" or "master"`, at("os"))
	}
	if compare(d.OS.Version, oldest) < 0 {
		l.refuse("sonic "+d.OS.Version+" is older than "+oldest, "update the image: older ones have other table formats and no field validators", at("os"))
	}
	if a := strings.ToLower(d.ASIC); len(d.QoS) > 0 && (strings.HasPrefix(a, "jericho") || strings.HasPrefix(a, "qumran")) {
		l.refuse("the "+d.ASIC+" of model "+d.Model+" has virtual output queues, and its QUEUE rows name system ports",
			"leave its QoS to the image: virtual output queues are not covered", at("model")) // qos_config.j2, voq_chassis
	}
	if d.ASIC == "" && len(d.QoS) > 0 {
		l.refuse("model "+d.Model+" states no ASIC family, and QoS tables differ between families", "choose a switch model whose data has asic", at("model"))
	}
}

func (l *limit) vlan(v *intent.VLAN) {
	at := intent.Path{Object: intent.OfVLAN, Name: decimal(v.ID), Field: "id"}
	l.vlans[v.ID] = true
	if v.ID < minVLAN || v.ID > maxVLAN {
		l.refuse(fmt.Sprintf("VLAN %d is not one of %d to %d", v.ID, minVLAN, maxVLAN), "use another VLAN: SONiC keeps 1 for itself", at)
	}
	at.Field = "mtu"
	l.mtu(v.MTU, at)
}

func (l *limit) mtu(m intent.Opt[uint16], at intent.Path) {
	if m.IsSet() && (m.Value < minMTU || m.Value > maxMTU) {
		l.refuse(fmt.Sprintf("mtu %d is not in %d to %d", m.Value, minMTU, maxMTU), fmt.Sprintf("write at most %d", maxMTU), at)
	}
}

func (l *limit) port(p *intent.Port) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfPort, Name: p.Name, Field: field}
	}
	if !portName.MatchString(p.Name) {
		l.refuse(fmt.Sprintf("port %q is not a name of SONiC", p.Name), `write the name by its first lane, "Ethernet0"; etp1 and Eth1/1 are aliases`, at("name"))
	}
	l.mtu(p.MTU, at("mtu"))
	if p.Mbps.Or(0) > maxMbps {
		l.refuse(fmt.Sprintf("port %s has a speed of %d Mb/s", p.Name, p.Mbps.Value), fmt.Sprintf("write at most %d Mb/s", maxMbps), at("speed"))
	}
	if p.FEC.Or("") == intent.FECAuto && compare(l.device.OS.Version, "202311") < 0 { // orchagent/port/portschema.h PORT_FEC_AUTO
		l.refuse("fec auto needs sonic 202311 or newer", "write the mode both ends shall use", at("fec"))
	}
	l.split(p, at("breakout"))
	l.members(p.Name, p.Native, p.Tagged, at)
	if p.CableMm.IsSet() && p.CableMm.Value == 0 {
		l.refuse("port "+p.Name+" has a cable of 0 m, which switches its lossless buffers off", "write the length of the cable", at("cable"))
	}
}

// members checks the VLANs of a port or LAG.
func (l *limit) members(port string, native intent.Opt[uint16], tagged intent.Opt[[]uint16], at func(string) intent.Path) {
	one := func(id uint16, field string) {
		if !l.vlans[id] {
			l.refuse(fmt.Sprintf("%s is in VLAN %d, which the device does not carry", port, id), "declare a segment for it", at(field))
		}
	}
	if native.IsSet() {
		one(native.Value, "native")
	}
	for _, id := range tagged.Or(nil) {
		one(id, "segments")
	}
}

// bridged reports whether a port or LAG is a member of a VLAN.
func (l *limit) bridged(name string) bool {
	return slices.ContainsFunc(l.device.Ports, func(p intent.Port) bool { return p.Name == name && targets.Bridged(p.Native, p.Tagged) }) ||
		slices.ContainsFunc(l.device.LAGs, func(g intent.LAG) bool { return g.Name == name && targets.Bridged(g.Native, g.Tagged) })
}

func (l *limit) has(name string) bool {
	return slices.ContainsFunc(l.device.Ports, func(p intent.Port) bool { return p.Name == name }) ||
		slices.ContainsFunc(l.device.LAGs, func(g intent.LAG) bool { return g.Name == name })
}

func (l *limit) lag(g *intent.LAG) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfLAG, Name: g.Name, Field: field}
	}
	if !lagName.MatchString(g.Name) {
		l.refuse(fmt.Sprintf("LAG %q is not a name of SONiC", g.Name), `name it "PortChannel1" to "PortChannel9999"`, at("name"))
	} else if g.ID != 0 && g.ID != lagID(g.Name) {
		l.refuse(fmt.Sprintf("LAG %s has the number %d", g.Name, g.ID), fmt.Sprintf(`name it "PortChannel%d": the LACP key follows from the name`, g.ID), at("id"))
	}
	l.mtu(g.MTU, at("mtu"))
	l.members(g.Name, g.Native, g.Tagged, at)
	for _, m := range g.Members {
		if l.bridged(m) {
			l.refuse(fmt.Sprintf("port %s is in %s and has VLANs of its own", m, g.Name), "give the VLANs to the LAG", at("members"))
		}
		l.member[m] = g.Name
	}
	if g.MLAG && l.device.MLAG == nil {
		l.refuse("LAG "+g.Name+" spans a pair that the device is not part of", "declare the mlag", at("mlag"))
	}
}

func (l *limit) iface(f *intent.Iface) {
	if f.Unique && f.Kind != intent.SVI {
		l.refuse(fmt.Sprintf("sonic shares no address of %s between the switches of a pair", f.Name), "put the address on the VLAN interface",
			intent.Path{Object: intent.OfIface, Name: f.Name, Field: "address"})
	}
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfIface, Name: f.Name, Field: field}
	}
	if f.VRF != "" && !vrfName.MatchString(f.VRF) {
		l.refuse(fmt.Sprintf("VRF %q is not a name of SONiC", f.VRF), `begin it with "Vrf" and use at most 15 letters, digits, "_" and "-"`, at("vrf"))
	}
	_, name := place(f)
	if ownedNames.MatchString(f.Name) && f.Name != name {
		l.refuse(fmt.Sprintf("interface %q is called %s by SONiC", f.Name, name), "name it "+name, at("name"))
	}
	for i := range l.device.Ifaces {
		o := &l.device.Ifaces[i]
		if o == f {
			break
		}
		if _, n := place(o); n == name {
			l.refuse(fmt.Sprintf("interfaces %q and %q are both %s", o.Name, f.Name, name), "write one interface with all addresses", at("on"))
			break
		}
	}
	switch f.Kind {
	case intent.SVI:
		l.svi(f, at)
	case intent.Routed:
		l.routed(f, at)
	case intent.Loopback:
		l.loopback(f, at)
	}
}

func (l *limit) svi(f *intent.Iface, at func(string) intent.Path) {
	if !l.vlans[f.VLAN] {
		l.refuse(fmt.Sprintf("interface %s is on VLAN %d, which the device does not carry", f.Name, f.VLAN), "declare a segment for it", at("on"))
	}
	if f.On != "" && f.On != vlanName(f.VLAN) {
		l.refuse(fmt.Sprintf("interface %s of VLAN %d is on %s", f.Name, f.VLAN, f.On), "put it on the segment", at("on"))
	}
	l.mtu(f.MTU, at("mtu"))
	i := slices.IndexFunc(l.device.VLANs, func(v intent.VLAN) bool { return v.ID == f.VLAN })
	if i >= 0 && f.MTU.IsSet() && l.device.VLANs[i].MTU.IsSet() && l.device.VLANs[i].MTU.Value != f.MTU.Value {
		l.refuse(fmt.Sprintf("interface %s has mtu %d, VLAN %d has mtu %d", f.Name, f.MTU.Value, f.VLAN, l.device.VLANs[i].MTU.Value),
			"write one of them: SONiC has one for both", at("mtu"))
	}
}

func (l *limit) routed(f *intent.Iface, at func(string) intent.Path) {
	switch {
	case f.VLAN != 0:
		l.refuse(fmt.Sprintf("interface %s is a sub-interface of VLAN %d", f.Name, f.VLAN), "use an interface on the segment: sub-interfaces are not covered", at("on"))
	case l.bridged(f.On):
		l.refuse(fmt.Sprintf("%s has an address and VLANs", f.On), "put the address on the segment, or take the VLANs off the port", at("on"))
	case l.member[f.On] != "":
		l.refuse(fmt.Sprintf("%s has an address and is in %s", f.On, l.member[f.On]), "put the address on the LAG", at("on"))
	}
	if f.MTU.IsSet() && l.mtuOf(f.On) != f.MTU {
		l.refuse(fmt.Sprintf("interface %s has an mtu of its own", f.Name), "write the mtu on "+f.On+": SONiC has one for both", at("mtu"))
	}
}

func (l *limit) mtuOf(name string) intent.Opt[uint16] {
	for i := range l.device.Ports {
		if l.device.Ports[i].Name == name {
			return l.device.Ports[i].MTU
		}
	}
	for i := range l.device.LAGs {
		if l.device.LAGs[i].Name == name {
			return l.device.LAGs[i].MTU
		}
	}
	return intent.Opt[uint16]{}
}

func (l *limit) loopback(f *intent.Iface, at func(string) intent.Path) {
	if !loopName.MatchString(f.Name) {
		l.refuse(fmt.Sprintf("loopback %q is not a name of SONiC", f.Name), `name it "Loopback0"`, at("name"))
	}
	if f.MTU.IsSet() {
		l.refuse("loopback "+f.Name+" has an mtu", "leave it out: LOOPBACK_INTERFACE has none", at("mtu"))
	}
	if f.VLAN != 0 || f.On != "" && f.On != "loopback" {
		l.refuse("loopback "+f.Name+" is on something", "leave on and the segment out", at("on"))
	}
}

func (l *limit) mlag() {
	m := l.device.MLAG
	if m == nil {
		return
	}
	at := intent.Path{Object: intent.OfDevice, Field: "mlag"}
	if m.Domain == 0 || m.Domain > 4095 {
		l.refuse(fmt.Sprintf("mlag domain %d is not in 1 to 4095", m.Domain), "write domain", at)
	}
	if !m.Source.Is4() || !m.PeerAddress.Is4() {
		l.refuse("mlag with "+m.Peer+" has no IPv4 keepalive addresses on both sides", "write keepalive with an IPv4 address for each switch: MCLAG_DOMAIN needs source_ip and peer_ip", at)
	}
	if m.PeerLink != "" && !l.has(m.PeerLink) {
		l.refuse(fmt.Sprintf("mlag peer link %q is no port or LAG of the device", m.PeerLink), "name a port or LAG", at)
	}
	interval, timeout := uint32(1000), uint32(30000) // defaults of sonic-mclag.yang
	if m.IntervalMs > 0 {
		interval = m.IntervalMs
	}
	if m.TimeoutMs > 0 {
		timeout = m.TimeoutMs
	}
	if interval%1000 != 0 || interval > 60_000 || timeout%1000 != 0 || timeout > 3_600_000 || 3*interval > timeout {
		l.refuse(fmt.Sprintf("mlag keepalive every %d ms with a timeout of %d ms", interval, timeout),
			"write whole seconds, at most 60 and 3600, and a timeout of at least three intervals", at)
	}
	if strings.TrimSpace(m.Peer) == "" {
		l.refuse("mlag names no peer", "name two switches", at)
	}
}
