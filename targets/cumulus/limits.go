package cumulus

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// limits refuses what depends on values: names and numbers that NVUE does not
// take, settings of ports that the switch has once only, and combinations that
// the documents rule out.
func limits(d *intent.Device, refuse targets.Refuse) {
	l := &limit{device: d, refuse: refuse, vlans: map[uint16]*intent.VLAN{}, routed: map[string]bool{}}
	l.version()
	for i := range d.VLANs {
		l.vlan(&d.VLANs[i])
	}
	for i := range d.Ifaces {
		if f := &d.Ifaces[i]; f.Kind == intent.Routed {
			l.routed[f.On] = true
		}
	}
	for i := range d.Ports {
		l.port(&d.Ports[i])
	}
	for i := range d.LAGs {
		l.bond(&d.LAGs[i])
	}
	for i := range d.Ifaces {
		l.iface(&d.Ifaces[i])
	}
	l.mlag()
	for i := range d.QoS {
		l.qos(&d.QoS[i])
	}
	l.switchWide()
	if n := d.Aging.MACSeconds; n.IsSet() && n.Value > maxAgeing {
		l.refuse(fmt.Sprintf("MAC addresses are kept for %d s", n.Value), fmt.Sprintf("write at most %d s", maxAgeing), agingPath)
	}
}

type limit struct {
	device *intent.Device
	refuse targets.Refuse
	vlans  map[uint16]*intent.VLAN
	routed map[string]bool // ports and bonds with addresses
}

// Ranges: of link mtu [NVUE command reference], of VLANs, and of those that
// switchd keeps for itself unless told otherwise [VLAN-aware Bridge Mode,
// Reserved VLAN Range].
const (
	minMTU, maxMTU       = 552, 9216
	maxVLAN              = 4094
	firstKept, lastKept  = 3725, 3999
	maxMetres            = 100_000
	maxAgeing            = 65535 // [NVUE command reference, bridge domain ageing]
	maxRateKbps          = 2147483647
	maxNameLength        = 15
	documentedThresholds = 1<<31 - 1
)

func (l *limit) version() {
	at := intent.Path{Object: intent.OfDevice, Field: "os"}
	v := l.device.OS.Version
	r, ok := targets.ParseRelease(v)
	switch {
	case !ok:
		l.refuse(fmt.Sprintf("version %q of cumulus-linux is not one such as 5.11", v), `write os = "cumulus-linux/5.11": NVUE's words depend on it`, at)
	case r.Compare(oldest) < 0:
		l.refuse("cumulus-linux "+v+" is older than 5.9", "update the switch: before 5.9 nv config apply saves nothing and split ports have other lanes", at)
	case r.Compare(newest) > 0:
		l.refuse("cumulus-linux "+v+" is newer than 5.15", "write the newest version whose words are known, 5.15, if the switch takes them", at)
	}
}

func (l *limit) vlan(v *intent.VLAN) {
	at := intent.Path{Object: intent.OfVLAN, Name: decimal(v.ID), Field: "id"}
	l.vlans[v.ID] = v
	switch {
	case v.ID >= firstKept && v.ID <= lastKept:
		l.refuse(fmt.Sprintf("VLAN %d is one of %d to %d, which the switch keeps for its own use", v.ID, firstKept, lastKept), "use another VLAN", at)
	case v.ID == peerVLAN && l.device.MLAG != nil:
		l.refuse(fmt.Sprintf("VLAN %d is that of the MLAG peer link", v.ID), "use another VLAN", at)
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
		l.refuse(fmt.Sprintf("port %q is not a name of Cumulus Linux", p.Name), `write "swp1", and "swp1s0" for a child of a split port`, at("name"))
	}
	l.mtu(p.MTU, at("mtu"))
	if p.Mbps.IsSet() && speeds[p.Mbps.Value] == "" {
		l.refuse(fmt.Sprintf("port %s has a speed of %d Mb/s, which NVUE has no word for", p.Name, p.Mbps.Value), "write one of 10M to 800G", at("speed"))
	}
	if p.FEC.IsSet() && fecs[p.FEC.Value] == "" {
		help := `write "rs", "fc" or "none"`
		if p.FEC.Value == intent.FECAuto {
			help = "leave fec out: auto is what the switch does by itself, and written it makes the link flap with every apply"
		}
		l.refuse(fmt.Sprintf("port %s has fec %s", p.Name, p.FEC.Value), help, at("fec"))
	}
	l.breakout(p, at("breakout"))
	l.forced(p, at)
	l.members(p.Name, p.Native, p.Tagged, p.MTU, at)
	if l.routed[p.Name] && targets.Bridged(p.Native, p.Tagged) {
		l.refuse(fmt.Sprintf("%s has an address and VLANs", p.Name), "put the address on the segment, or take the VLANs off the port", at("segments"))
	}
	if c := p.CableMm; c.IsSet() && (c.Value == 0 || metres(c.Value) > maxMetres) {
		l.refuse(fmt.Sprintf("port %s has a cable of %d mm", p.Name, c.Value), "write a length of up to 100 km", at("cable"))
	}
}

// forced: a port of 25G or 100G that does not negotiate stays down with the FEC that
// it has by itself [Switch Port Attributes, Considerations, Auto-negotiation and
// FEC]; and before 5.14 one of a written speed never negotiates [the same,
// Auto-negotiation and Link Speed].
func (l *limit) forced(p *intent.Port, at func(string) intent.Path) {
	forces := wordsOf(l.device.OS.Version).forces
	if forces && p.Mbps.IsSet() && p.Autoneg.Or(false) {
		l.refuse(fmt.Sprintf("port %s negotiates and has a speed, which ends negotiation before 5.14", p.Name), "leave speed or autoneg out, or update the switch", at("autoneg"), at("speed"))
	}
	mbps := speedOf(l.device, p)
	off := p.Autoneg.IsSet() && !p.Autoneg.Value || forces && mbps.IsSet() && !p.Autoneg.IsSet()
	used := p.Enabled.Or(p.QoS != "")
	if off && used && !p.FEC.IsSet() && !p.Verify && (mbps.Value == 25_000 || mbps.Value == 100_000) {
		l.refuse(fmt.Sprintf("port %s is forced to %s and says nothing of fec: its link would stay down", p.Name, speeds[mbps.Value]),
			`write the fec of its neighbour, "rs", "fc" or "none", or autoneg = true`, at("speed"))
	}
}

func (l *limit) breakout(p *intent.Port, at intent.Path) {
	if p.Breakout == "" {
		return
	}
	_, mbps, ok := splitOf(p.Breakout)
	switch {
	case !ok || speeds[mbps] == "":
		l.refuse(fmt.Sprintf("port %s is split as %q", p.Name, p.Breakout), `write "2x400G": NVUE splits in 2, 4 or 8`, at)
	case !strings.HasSuffix(p.Name, "s0"):
		l.refuse(fmt.Sprintf("port %s is not the first child of a split port", p.Name), `the children of "swp1" are "swp1s0" and on`, at)
	case slices.ContainsFunc(l.device.Ports, func(o intent.Port) bool { return o.Name == parentOf(p.Name) }):
		l.refuse(fmt.Sprintf("port %s is split and has settings of its own", parentOf(p.Name)), "write them for its children", at)
	}
}

// members checks the VLANs of a port or bond.
func (l *limit) members(port string, native intent.Opt[uint16], tagged intent.Opt[[]uint16], mtu intent.Opt[uint16], at func(string) intent.Path) {
	one := func(id uint16, field string) {
		v := l.vlans[id]
		switch {
		case v == nil:
			l.refuse(fmt.Sprintf("%s is in VLAN %d, which the device does not carry", port, id), "declare a segment for it", at(field))
		case v.MTU.IsSet() && mtu.IsSet() && mtu.Value < v.MTU.Value:
			l.refuse(fmt.Sprintf("%s has mtu %d and is in VLAN %d of mtu %d", port, mtu.Value, id, v.MTU.Value),
				"write an mtu of the port that is large enough: a bridge has none for a VLAN", at("mtu"), intent.Path{Object: intent.OfVLAN, Name: decimal(id), Field: "mtu"})
		}
	}
	if native.IsSet() && !tagged.IsSet() {
		l.refuse(fmt.Sprintf("%s has an untagged VLAN and nothing says which are tagged", port), "manage tagged too, [] for none: NVUE gives a port that names no VLAN all of the bridge", at("native"))
	}
	if native.IsSet() {
		one(native.Value, "native")
	}
	if tagged.IsSet() {
		for _, id := range tagged.Value {
			one(id, "segments")
		}
	}
}

func (l *limit) bond(g *intent.LAG) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfLAG, Name: g.Name, Field: field}
	}
	taken := func(s string) bool { return strings.HasPrefix(strings.ToLower(g.Name), s) }
	if !bondName.MatchString(g.Name) || slices.ContainsFunc(reserved, taken) {
		l.refuse(fmt.Sprintf("LAG %q is not a name of a bond", g.Name),
			fmt.Sprintf("use at most %d letters, digits and underscores, such as bond1, and none of the starts %s", maxNameLength, strings.Join(reserved, ", ")), at("name"))
	}
	lower := strings.ToLower(g.Name)
	if slices.Contains(spoken, lower) || lower == peerlink && (l.device.MLAG == nil || l.device.MLAG.PeerLink != g.Name) {
		l.refuse(fmt.Sprintf("LAG %q has a name that means something else to NVUE", g.Name),
			"name it otherwise, such as bond1: "+strings.Join(spoken, ", ")+" are words of NVUE, and peerlink is the bond between an MLAG pair", at("name"))
	}
	l.mtu(g.MTU, at("mtu"))
	if g.MLAG && g.ID == 0 {
		l.refuse(fmt.Sprintf("%s is one leg of an MLAG and has no number", g.Name), "write id: both switches have to give it the same", at("id"))
	}
	if g.MLAG && l.routed[g.Name] {
		l.refuse(fmt.Sprintf("%s is one leg of an MLAG and has an address", g.Name), "put the address on a segment", at("mlag"))
	}
	if l.routed[g.Name] && targets.Bridged(g.Native, g.Tagged) {
		l.refuse(fmt.Sprintf("%s has an address and VLANs", g.Name), "put the address on the segment, or take the VLANs off the LAG", at("segments"))
	}
	l.members(g.Name, g.Native, g.Tagged, g.MTU, at)
	for _, m := range g.Members {
		l.bonded(g, m, at)
	}
}

// bonded checks one member of a bond.
func (l *limit) bonded(g *intent.LAG, port string, at func(string) intent.Path) {
	p := l.device.PortNamed(port)
	switch {
	case p == nil: // refused before
	case targets.Bridged(p.Native, p.Tagged):
		l.refuse(fmt.Sprintf("port %s has VLANs and is in %s", port, g.Name), "give the VLANs to the LAG", at("members"))
	case l.routed[port]:
		l.refuse(fmt.Sprintf("port %s has an address and is in %s", port, g.Name), "put the address on the LAG", at("members"))
	case p.MTU.IsSet() && g.MTU != p.MTU:
		l.refuse(fmt.Sprintf("port %s has an mtu that %s does not have", port, g.Name), "write the mtu on the LAG: its members take it", at("mtu"))
	}
}

func (l *limit) iface(f *intent.Iface) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfIface, Name: f.Name, Field: field}
	}
	if f.VRF != "" && (!vrfName.MatchString(f.VRF) || ranged.MatchString(f.VRF) || slices.Contains(spoken, strings.ToLower(f.VRF))) {
		l.refuse(fmt.Sprintf("vrf %q is not a name of a VRF", f.VRF), "use at most 15 letters, digits, hyphens and underscores, and none of "+strings.Join(spoken, ", "), at("vrf"))
	}
	l.mtu(f.MTU, at("mtu"))
	if f.QoS != "" {
		l.refuse("interface "+f.Name+" names a qos", "name it on the ports", at("qos"))
	}
	switch f.Kind {
	case intent.SVI:
		l.svi(f, at)
	case intent.Loopback:
		switch {
		case f.Name != "lo":
			l.refuse(fmt.Sprintf("loopback %q is not a name of Cumulus Linux", f.Name), `name it "lo"; the switch has one`, at("name"))
		case f.Unique:
			l.refuse("loopback lo is no VLAN's and has an address unlike its peer's", "", at("address"))
		case f.VRF != "":
			l.refuse("loopback lo is in vrf "+f.VRF, "leave vrf out: the loopback of a VRF is another interface", at("vrf"))
		case f.MTU.IsSet():
			l.refuse("loopback lo has an mtu", "leave it out", at("mtu"))
		case f.VLAN != 0 || f.On != "" && f.On != "loopback":
			l.refuse("loopback lo is on something", "leave on and the segment out", at("on"))
		}
	case intent.Routed:
		l.onPort(f, at)
	}
}

func (l *limit) svi(f *intent.Iface, at func(string) intent.Path) {
	v := l.vlans[f.VLAN]
	if v == nil {
		l.refuse(fmt.Sprintf("interface %s is of VLAN %d, which the device does not carry", f.Name, f.VLAN), "declare a segment for it", at("segment"))
	}
	if f.On != "" && f.On != "Vlan"+decimal(f.VLAN) && f.On != vlanName(f.VLAN) {
		l.refuse(fmt.Sprintf("interface %s of VLAN %d is on %s", f.Name, f.VLAN, f.On), "put it on the segment", at("on"))
	}
	if m := l.device.MLAG; m != nil && !f.Unique && f.Addresses.IsSet() && len(f.Addresses.Value) > 0 {
		l.refuse(fmt.Sprintf("VLAN %d has one address on both switches of the pair", f.VLAN),
			"give each switch an address of its own: a shared one needs VRR beside them, which is not covered", at("address"))
	}
	if f.Unique && l.device.MLAG == nil {
		l.refuse("interface "+f.Name+" has an address unlike its peer's and the switch is no half of a pair", "", at("address"))
	}
	if slices.ContainsFunc(l.device.Ifaces, func(o intent.Iface) bool { return o.Kind == intent.SVI && o.VLAN == f.VLAN && o.Name != f.Name }) {
		l.refuse(fmt.Sprintf("VLAN %d has two interfaces", f.VLAN), "write all its addresses on one", at("segment"))
	}
}

func (l *limit) onPort(f *intent.Iface, at func(string) intent.Path) {
	port := portOf(l.device, f.On)
	bond := slices.IndexFunc(l.device.LAGs, func(g intent.LAG) bool { return g.Name == f.On })
	mtu := port.MTU
	if bond >= 0 {
		mtu = l.device.LAGs[bond].MTU
	}
	switch {
	case f.VLAN != 0:
		l.refuse(fmt.Sprintf("interface %s is a sub-interface of VLAN %d", f.Name, f.VLAN), "use an interface on the segment: sub-interfaces are not covered", at("on"))
	case f.MTU.IsSet() && f.MTU != mtu:
		l.refuse("interface "+f.Name+" has an mtu of its own", "write the mtu on "+f.On+": the two are one", at("mtu"))
	case f.Unique:
		l.refuse("interface "+f.Name+" is no VLAN's and has an address unlike its peer's", "", at("address"))
	}
	if slices.ContainsFunc(l.device.Ifaces, func(o intent.Iface) bool { return o.Kind == intent.Routed && o.On == f.On && o.Name != f.Name }) {
		l.refuse(fmt.Sprintf("%s has two interfaces", f.On), "write all its addresses on one", at("on"))
	}
}

// ownerOf is the interface that has an address, nil if none of the intent has.
func ownerOf(d *intent.Device, a netip.Addr) *intent.Iface {
	for i := range d.Ifaces {
		f := &d.Ifaces[i]
		if f.Addresses.IsSet() && slices.ContainsFunc(f.Addresses.Value, func(p netip.Prefix) bool { return p.Addr() == a }) {
			return f
		}
	}
	return nil
}

func (l *limit) mlag() {
	m := l.device.MLAG
	if m == nil {
		for i := range l.device.LAGs {
			if g := &l.device.LAGs[i]; g.MLAG {
				l.refuse(g.Name+" is one leg of an MLAG and the switch is no half of a pair", "", intent.Path{Object: intent.OfLAG, Name: g.Name, Field: "mlag"})
			}
		}
		return
	}
	at := intent.Path{Object: intent.OfDevice, Field: "mlag"}
	switch {
	case m.Domain == 0:
		l.refuse("the mlag has no domain", "write domain: the system address of the pair is made of it", at)
	case m.PeerLink != peerlink || l.device.LAGNamed(peerlink) == nil:
		l.refuse(fmt.Sprintf("the peer link of the mlag is %q", m.PeerLink), `make it a LAG of the name "peerlink", of one port or more: NVUE knows it by that`, at)
	case !m.Source.IsValid() || !m.PeerAddress.IsValid() || m.Source == m.PeerAddress:
		l.refuse("mlag with "+m.Peer+" has no keepalive addresses on both sides", "write keepalive with an address for each switch", at)
	case ownerOf(l.device, m.Source) == nil && !m.OutOfBand:
		l.refuse(fmt.Sprintf("no interface of the device has the keepalive address %s", m.Source),
			"write an address that the peer reaches other than by the peer link: of lo where the uplinks are routed, else the `mgmt` of each switch, which is that of eth0", at)
	}
	if m.IntervalMs > 0 || m.TimeoutMs > 0 {
		l.refuse("the mlag has keepalive times", "leave them out: NVUE has no setting for clagd's", at)
	}
	if strings.TrimSpace(m.Peer) == "" {
		l.refuse("the mlag names no peer", "name two switches", at)
	}
}
