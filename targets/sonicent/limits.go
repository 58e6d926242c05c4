package sonicent

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// limits refuses what depends on values: names and numbers that the CLI does not
// take, settings of ports that the switch has once only, and combinations that
// the documents rule out.
func limits(d *intent.Device, refuse targets.Refuse) {
	l := &limit{device: d, refuse: refuse, vlans: map[uint16]bool{}, member: map[string]string{}, routed: map[string]bool{}, taken: map[string]string{}}
	l.version()
	for i := range d.VLANs {
		l.vlan(&d.VLANs[i])
	}
	for i := range d.Ifaces {
		if f := &d.Ifaces[i]; f.Kind == intent.Routed {
			l.routed[f.On] = true
		}
	}
	l.naming()
	for i := range d.LAGs {
		l.lag(&d.LAGs[i])
	}
	for i := range d.Ports {
		l.port(&d.Ports[i])
	}
	for i := range d.Ifaces {
		l.iface(&d.Ifaces[i])
	}
	l.mlag()
	for i := range d.QoS {
		l.qos(&d.QoS[i])
	}
	l.switchWide()
	l.aging()
}

type limit struct {
	device *intent.Device
	refuse targets.Refuse
	vlans  map[uint16]bool
	member map[string]string // port -> LAG
	routed map[string]bool   // ports and LAGs with addresses
	taken  map[string]string // place -> interface
}

// Ranges of aging, in seconds: NEIGH_TIMEOUT, which sonic_ip_neighbor.py has too,
// and MAC_AGE_TIMER, whose 0 keeps addresses for ever [grammar ipv4-neighbors.xml,
// sonic_types.xml].
const minARP, maxARP, maxMAC = 60, 14_400, 1_000_000

func (l *limit) aging() {
	if n := l.device.Aging.ARPSeconds; n.IsSet() && (n.Value < minARP || n.Value > maxARP) {
		l.refuse(fmt.Sprintf("ARP entries are kept for %d s", n.Value), fmt.Sprintf("write %d to %d s", minARP, maxARP), arpPath)
	}
	if n := l.device.Aging.MACSeconds; n.IsSet() && (n.Value == 0 || n.Value > maxMAC) {
		l.refuse(fmt.Sprintf("MAC addresses are kept for %d s", n.Value), fmt.Sprintf("write 1 to %d s", maxMAC), macPath)
	}
}

// minMTU and maxMTU are RANGE_MTU of the grammar.
const minMTU, maxMTU = 1312, 9216

func (l *limit) version() {
	at := intent.Path{Object: intent.OfDevice, Field: "os"}
	v := l.device.OS.Version
	r, ok := targets.ParseRelease(v)
	switch {
	case !ok:
		l.refuse(fmt.Sprintf("version %q of %s is not one such as 4.1", v, osName), `write os = "`+osName+`/4.1"`, at)
	case r.Compare(oldest) < 0:
		l.refuse(osName+" "+v+" is older than 4.1", "update the switch: the RoCE commands are those of 4.1", at)
	case r.Compare(newest) > 0:
		l.refuse(osName+" "+v+" is newer than 4.5", "write the newest version whose commands are known, 4.5, if the switch takes them", at)
	}
}

func (l *limit) vlan(v *intent.VLAN) {
	at := intent.Path{Object: intent.OfVLAN, Name: decimal(v.ID), Field: "mtu"}
	l.vlans[v.ID] = true
	l.mtu(v.MTU, at)
}

func (l *limit) mtu(m intent.Opt[uint16], at intent.Path) {
	if m.IsSet() && (m.Value < minMTU || m.Value > maxMTU) {
		l.refuse(fmt.Sprintf("mtu %d is not in %d to %d", m.Value, minMTU, maxMTU), fmt.Sprintf("write at most %d", maxMTU), at)
	}
}

// naming: a switch names its ports by lane or by cage, all of them one way
// [grammar interface-naming].
func (l *limit) naming() {
	var first [2]string
	for i := range l.device.Ports {
		name := l.device.Ports[i].Name
		switch {
		case native.MatchString(name):
			first[0] = name
		case standard.MatchString(name):
			first[1] = name
		}
	}
	if first[0] != "" && first[1] != "" {
		l.refuse(fmt.Sprintf("port %s is named by lane and port %s by cage", first[0], first[1]), "name all ports as interface-naming of the switch has them",
			intent.Path{Object: intent.OfPort, Name: first[1], Field: "name"}, intent.Path{Object: intent.OfPort, Name: first[0], Field: "name"})
	}
}

// speeds are those of the collection's module, in Mb/s [ansible sonic_interfaces.py].
var speeds = []uint32{10, 100, 1_000, 2_500, 5_000, 10_000, 20_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000, 800_000}

func (l *limit) port(p *intent.Port) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfPort, Name: p.Name, Field: field}
	}
	if !native.MatchString(p.Name) && !standard.MatchString(p.Name) {
		l.refuse(fmt.Sprintf("port %q is not a name of Enterprise SONiC", p.Name), `write "Ethernet0", or "Eth1/1" and "Eth1/1/1" where the switch has interface-naming standard`, at("name"))
	}
	l.mtu(p.MTU, at("mtu"))
	if p.Mbps.IsSet() && !slices.Contains(speeds, p.Mbps.Value) {
		l.refuse(fmt.Sprintf("port %s has a speed of %d Mb/s", p.Name, p.Mbps.Value), "write one of 10M to 800G", at("speed"))
	}
	if p.FEC.IsSet() && fecs[p.FEC.Value] == "" {
		l.refuse(fmt.Sprintf("port %s has fec %s", p.Name, p.FEC.Value), `write "rs", "fc" or "auto", or leave fec out: documents spell it off and none`, at("fec"))
	}
	switch {
	case p.Autoneg.Or(false) && p.Mbps.IsSet():
		l.refuse(fmt.Sprintf("port %s negotiates and has a speed", p.Name), "leave one of them out: speed auto and a fixed speed replace each other", at("autoneg"), at("speed"))
	case p.Autoneg.IsSet() && !p.Autoneg.Value && !p.Mbps.IsSet():
		l.refuse(fmt.Sprintf("port %s does not negotiate and has no speed", p.Name), "write speed: a fixed one is what switches negotiation off", at("autoneg"))
	}
	l.breakout(p, at("breakout"))
	l.members(p.Name, p.Native, p.Tagged, at)
	if l.routed[p.Name] && targets.Bridged(p.Native, p.Tagged) {
		l.refuse(fmt.Sprintf("%s has an address and VLANs", p.Name), "put the address on the segment, or take the VLANs off the port", at("segments"))
	}
	if c := p.CableMm; c.IsSet() && (c.Value == 0 || cableWord(c.Value) == "") {
		l.refuse(fmt.Sprintf("port %s has a cable of %d mm", p.Name, c.Value), "write a length of up to 300 m", at("cable"))
	}
	lag := l.member[p.Name]
	switch g := l.device.LAGNamed(lag); {
	case g == nil:
	case targets.Bridged(p.Native, p.Tagged):
		l.refuse(fmt.Sprintf("port %s has VLANs and is in %s", p.Name, lag), "give the VLANs to the LAG", at("segments"))
	case l.routed[p.Name]:
		l.refuse(fmt.Sprintf("port %s has an address and is in %s", p.Name, lag), "put the address on the LAG", at("name"))
	case p.MTU.IsSet() && p.MTU != g.MTU:
		l.refuse(fmt.Sprintf("port %s has an mtu that %s does not have", p.Name, lag), "write the mtu on the LAG: its members take it", at("mtu"))
	}
}

func (l *limit) breakout(p *intent.Port, at intent.Path) {
	switch {
	case p.Breakout == "":
	case !slices.Contains(modes, p.Breakout):
		l.refuse(fmt.Sprintf("port %s is split as %q", p.Name, p.Breakout), "write one of "+strings.Join(modes, ", "), at)
	case frontPort(p) == "":
		l.refuse(fmt.Sprintf("nothing says which cage port %s is split off", p.Name), `name the children by cage: "Eth1/5/1" is the first of cage 5`, at)
	case slices.ContainsFunc(l.device.Ports, func(o intent.Port) bool { return standard.MatchString(p.Name) && o.Name+"/1" == p.Name }):
		l.refuse(fmt.Sprintf("port %s is split and has settings of its own", strings.TrimSuffix(p.Name, "/1")), "write them for its children", at)
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

func (l *limit) lag(g *intent.LAG) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfLAG, Name: g.Name, Field: field}
	}
	number := 0
	if m := lagName.FindStringSubmatch(g.Name); m != nil {
		number, _ = strconv.Atoi(m[1])
	}
	switch {
	case number == 0 || number > maxLAG:
		l.refuse(fmt.Sprintf("LAG %q is not a name of Enterprise SONiC", g.Name), fmt.Sprintf(`name it "PortChannel1" to "PortChannel%d"`, maxLAG), at("name"))
	case g.ID != 0 && int(g.ID) != number:
		l.refuse(fmt.Sprintf("LAG %s has the number %d", g.Name, g.ID), fmt.Sprintf(`name it "PortChannel%d": the pair knows it by its name`, g.ID), at("id"))
	}
	l.mtu(g.MTU, at("mtu"))
	if g.Rate == "slow" {
		l.refuse("LAG "+g.Name+" has the rate slow", "leave rate out: slow is what a PortChannel has by itself", at("rate"))
	}
	if g.MLAG && l.device.MLAG == nil {
		l.refuse(g.Name+" is one leg of an MLAG and the switch is no half of a pair", "declare the mlag", at("mlag"))
	}
	if g.MLAG && l.routed[g.Name] {
		l.refuse(g.Name+" is one leg of an MLAG and has an address", "put the address on a segment", at("mlag"))
	}
	if l.routed[g.Name] && targets.Bridged(g.Native, g.Tagged) {
		l.refuse(g.Name+" has an address and VLANs", "put the address on the segment, or take the VLANs off the LAG", at("segments"))
	}
	l.members(g.Name, g.Native, g.Tagged, at)
	for _, m := range g.Members {
		l.member[m] = g.Name
		if p := l.device.PortNamed(m); p != nil && p.Verify {
			l.refuse(fmt.Sprintf("port %s is in %s and under verify", m, g.Name), "manage the members of a LAG that is managed", at("members"))
		}
	}
}

func (l *limit) iface(f *intent.Iface) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfIface, Name: f.Name, Field: field}
	}
	if f.VRF != "" && !vrfName.MatchString(f.VRF) {
		l.refuse(fmt.Sprintf("vrf %q is not a name of Enterprise SONiC", f.VRF), `begin it with "Vrf" and use at most 15 letters, digits, hyphens and underscores`, at("vrf"))
	}
	l.mtu(f.MTU, at("mtu"))
	if f.QoS != "" {
		l.refuse("interface "+f.Name+" names a qos", "name it on the ports", at("qos"))
	}
	where := place(f)
	if ownedNames.MatchString(f.Name) && f.Name != where {
		l.refuse(fmt.Sprintf("interface %q is called %s by the switch", f.Name, where), "name it "+where, at("name"))
	}
	if other := l.taken[where]; other != "" {
		l.refuse(fmt.Sprintf("interfaces %q and %q are both %s", other, f.Name, where), "write one interface with all addresses", at("on"))
	}
	l.taken[where] = f.Name
	if f.Unique && (f.Kind != intent.SVI || l.device.MLAG == nil) {
		l.refuse("interface "+f.Name+" has an address unlike its peer's and is of no VLAN of a pair", "put the address on the VLAN of an mlag pair", at("address"))
	}
	switch f.Kind {
	case intent.SVI:
		l.svi(f, at)
	case intent.Routed:
		l.onPort(f, at)
	case intent.Loopback:
		l.loopback(f, at)
	}
}

func (l *limit) svi(f *intent.Iface, at func(string) intent.Path) {
	if !l.vlans[f.VLAN] {
		l.refuse(fmt.Sprintf("interface %s is of VLAN %d, which the device does not carry", f.Name, f.VLAN), "declare a segment for it", at("segment"))
	}
	if f.On != "" && f.On != vlanName(f.VLAN) {
		l.refuse(fmt.Sprintf("interface %s of VLAN %d is on %s", f.Name, f.VLAN, f.On), "put it on the segment", at("on"))
	}
	for _, v := range l.device.VLANs {
		if v.ID == f.VLAN && v.MTU.IsSet() && f.MTU.IsSet() && v.MTU != f.MTU {
			l.refuse(fmt.Sprintf("interface %s has mtu %d and VLAN %d has mtu %d", f.Name, f.MTU.Value, v.ID, v.MTU.Value), "write one of them: the two are one", at("mtu"))
		}
	}
}

func (l *limit) onPort(f *intent.Iface, at func(string) intent.Path) {
	var mtu intent.Opt[uint16]
	if p := l.device.PortNamed(f.On); p != nil {
		mtu = p.MTU
	}
	if g := l.device.LAGNamed(f.On); g != nil {
		mtu = g.MTU
	}
	switch {
	case f.VLAN != 0:
		l.refuse(fmt.Sprintf("interface %s is a sub-interface of VLAN %d", f.Name, f.VLAN), "use an interface on the segment: sub-interfaces are not covered", at("on"))
	case f.MTU.IsSet() && f.MTU != mtu:
		l.refuse("interface "+f.Name+" has an mtu of its own", "write the mtu on "+f.On+": the two are one", at("mtu"))
	}
}

func (l *limit) loopback(f *intent.Iface, at func(string) intent.Path) {
	number := -1
	if m := loopName.FindStringSubmatch(f.Name); m != nil {
		number, _ = strconv.Atoi(m[1])
	}
	switch {
	case number < 0 || number > maxLoopback:
		l.refuse(fmt.Sprintf("loopback %q is not a name of Enterprise SONiC", f.Name), fmt.Sprintf(`name it "Loopback0" to "Loopback%d"`, maxLoopback), at("name"))
	case f.MTU.IsSet():
		l.refuse("loopback "+f.Name+" has an mtu", "leave it out", at("mtu"))
	case f.VLAN != 0 || f.On != "" && f.On != "loopback":
		l.refuse("loopback "+f.Name+" is on something", "leave on and the segment out", at("on"))
	}
}

// mlag: ranges of the grammar, RANGE_1_4095, MCLAG_KA_INTERVAL_RANGE and
// MCLAG_SESSION_TIMEOUT_RANGE, in whole seconds.
func (l *limit) mlag() {
	m := l.device.MLAG
	if m == nil {
		return
	}
	at := intent.Path{Object: intent.OfDevice, Field: "mlag"}
	if m.Domain == 0 || m.Domain > 4095 {
		l.refuse(fmt.Sprintf("mlag domain %d is not in 1 to 4095", m.Domain), "write domain", at)
	}
	if !m.Source.Is4() || !m.PeerAddress.Is4() || m.Source == m.PeerAddress {
		l.refuse("mlag with "+m.Peer+" has no IPv4 keepalive addresses on both sides", "write keepalive with an IPv4 address for each switch: source-ip and peer-ip are of IPv4", at)
	}
	if l.device.PortNamed(m.PeerLink) == nil && l.device.LAGNamed(m.PeerLink) == nil {
		l.refuse(fmt.Sprintf("mlag peer link %q is no port or LAG of the device", m.PeerLink), "name a port or LAG", at)
	}
	if m.IntervalMs%1000 != 0 || m.IntervalMs > 60_000 || m.TimeoutMs%1000 != 0 || m.TimeoutMs > 3_600_000 {
		l.refuse(fmt.Sprintf("mlag keepalive every %d ms with a timeout of %d ms", m.IntervalMs, m.TimeoutMs), "write whole seconds, at most 60 and 3600", at)
	}
	if strings.TrimSpace(m.Peer) == "" {
		l.refuse("the mlag names no peer", "name two switches", at)
	}
}
