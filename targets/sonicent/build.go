package sonicent

import (
	"github.com/rocec/rocec/compiler/intent"
)

// line is one command with the field that it came from, and what stands in the
// mode that it enters.
type line struct {
	text string
	from intent.Path
	in   []line
}

// add appends a command without arguments of its own.
func (l *line) add(from intent.Path, text string) { l.in = append(l.in, line{text: text, from: from}) }

// builder makes the commands of an intent that passed Limits. Ports under verify
// are in them nowhere.
type builder struct {
	device *intent.Device
	member map[string]string // port -> LAG
	drop   *drops            // what a captured configuration has and must not keep; may be nil
	lines  []line
}

// build is the whole configuration in an order in which everything exists
// before it is named.
func build(d *intent.Device, drop *drops) []line {
	b := &builder{device: d, member: map[string]string{}, drop: drop}
	for i := range d.LAGs {
		for _, m := range d.LAGs[i].Members {
			b.member[m] = d.LAGs[i].Name
		}
	}
	b.vrfs()
	b.aging()
	b.maps()
	b.edge()
	for i := range d.VLANs {
		b.vlan(&d.VLANs[i])
	}
	for i := range d.LAGs {
		b.lag(&d.LAGs[i])
	}
	for i := range d.Ports {
		if p := &d.Ports[i]; !p.Verify {
			b.port(p)
		}
	}
	b.ifaces(intent.Loopback)
	b.mclag()
	b.ifaces(intent.SVI)
	return b.lines
}

func (b *builder) put(l line) { b.lines = append(b.lines, l) }

func (b *builder) vrfs() {
	seen := map[string]bool{"": true}
	for i := range b.device.Ifaces {
		f := &b.device.Ifaces[i]
		if !seen[f.VRF] && b.written(f) {
			seen[f.VRF] = true
			b.put(line{text: "ip vrf " + f.VRF, from: intent.Path{Object: intent.OfIface, Name: f.Name, Field: "vrf"}})
		}
	}
}

// aging writes how long the switch keeps what it has learned.
func (b *builder) aging() {
	if n := b.device.Aging.ARPSeconds; n.IsSet() {
		b.put(line{text: "ip arp timeout " + decimal(n.Value), from: arpPath})
	}
	if n := b.device.Aging.MACSeconds; n.IsSet() {
		b.put(line{text: "mac address-table aging-time " + decimal(n.Value), from: macPath})
	}
}

// arpPath and macPath are where a device says how long it keeps addresses.
var (
	arpPath = intent.Path{Object: intent.OfDevice, Field: "arp_timeout"}
	macPath = intent.Path{Object: intent.OfDevice, Field: "mac_timeout"}
)

// written reports whether an interface is on something that is written.
func (b *builder) written(f *intent.Iface) bool {
	p := b.device.PortNamed(f.On)
	return f.Kind != intent.Routed || p == nil || !p.Verify
}

func (b *builder) vlan(v *intent.VLAN) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfVLAN, Name: decimal(v.ID), Field: field}
	}
	l := line{text: "interface " + vlanName(v.ID), from: at("id")}
	if v.MTU.IsSet() {
		l.add(at("mtu"), "mtu "+decimal(v.MTU.Value))
	}
	b.put(l)
}

// lag makes a PortChannel. It is LACP unless it says otherwise [ansible
// sonic_lag_interfaces.py], and up only when it is told so [spytest
// switching/portchannel.py create_portchannel].
func (b *builder) lag(g *intent.LAG) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfLAG, Name: g.Name, Field: field}
	}
	l := line{text: "interface " + entered(g.Name), from: at("mode")}
	if g.Mode == "static" {
		l.text += " mode on"
	}
	if g.Rate == "fast" {
		l.add(at("rate"), "fast_rate")
	}
	if g.MTU.IsSet() {
		l.add(at("mtu"), "mtu "+decimal(g.MTU.Value))
	}
	l.add(at(""), "no shutdown")
	b.switched(&l, g.Name, g.Native, g.Tagged, at)
	b.deny(&l, g.Name, g.Deny, at("deny"))
	b.routed(&l, g.Name)
	b.put(l)
}

// switched writes the VLANs of a port or LAG.
func (b *builder) switched(l *line, name string, native intent.Opt[uint16], tagged intent.Opt[[]uint16], at func(string) intent.Path) {
	for _, text := range b.drop.vlans(name, native, tagged) {
		l.add(at("segments"), text)
	}
	if native.IsSet() {
		l.add(at("native"), "switchport access Vlan "+decimal(native.Value))
	}
	if tagged.IsSet() && len(tagged.Value) > 0 {
		l.add(at("segments"), "switchport trunk allowed Vlan "+ranges(tagged.Value))
	}
}

// fecs and the speed words of the CLI. The word for no FEC is "off" in one
// document and "none" in another, so it has none here.
var fecs = map[intent.FEC]string{intent.FECRS: "RS", intent.FECFC: "FC", intent.FECAuto: "AUTO"}

func (b *builder) port(p *intent.Port) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfPort, Name: p.Name, Field: field}
	}
	l := line{text: "interface " + p.Name, from: at("")}
	switch {
	case p.Mbps.IsSet():
		l.add(at("speed"), "speed "+decimal(p.Mbps.Value))
	case p.Autoneg.IsSet() && p.Autoneg.Value:
		l.add(at("autoneg"), "speed auto")
	}
	if p.FEC.IsSet() {
		l.add(at("fec"), "fec "+fecs[p.FEC.Value])
	}
	lag := b.member[p.Name]
	if p.MTU.IsSet() && lag == "" { // a member has that of its PortChannel
		l.add(at("mtu"), "mtu "+decimal(p.MTU.Value))
	}
	if p.Enabled.IsSet() {
		l.add(at("enabled"), map[bool]string{true: "no shutdown", false: "shutdown"}[p.Enabled.Value])
	}
	for _, text := range b.drop.group(p.Name, lag) {
		l.add(at(""), text)
	}
	if lag != "" {
		l.add(intent.Path{Object: intent.OfLAG, Name: lag, Field: "members"}, "channel-group "+lag[len("PortChannel"):])
	}
	b.switched(&l, p.Name, p.Native, p.Tagged, at)
	b.deny(&l, p.Name, p.Deny, at("deny"))
	b.routed(&l, p.Name)
	b.quality(&l, p, at)
	if len(l.in) > 0 {
		b.put(l)
	}
}

// routed writes the addresses of a port or LAG.
func (b *builder) routed(l *line, name string) {
	for i := range b.device.Ifaces {
		if f := &b.device.Ifaces[i]; f.Kind == intent.Routed && f.On == name {
			b.addresses(l, f)
		}
	}
}

// addresses writes a VRF, which no interface changes while it has addresses, and
// then the addresses; of IPv4 one is the first and the others are secondary
// [grammar ipv4.xml].
func (b *builder) addresses(l *line, f *intent.Iface) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfIface, Name: f.Name, Field: field}
	}
	for _, text := range b.drop.addresses(f) {
		l.add(at("address"), text)
	}
	if f.VRF != "" {
		l.add(at("vrf"), "ip vrf forwarding "+f.VRF)
	}
	if !f.Addresses.IsSet() {
		return
	}
	first := true
	for _, a := range f.Addresses.Value {
		switch {
		case a.Addr().Is6():
			l.add(at("address"), "ipv6 address "+b.drop.spelled(place(f), a))
		case first:
			l.add(at("address"), "ip address "+a.String())
			first = false
		default:
			l.add(at("address"), "ip address "+a.String()+" secondary")
		}
	}
}

// ifaces writes loopbacks or the interfaces of VLANs.
func (b *builder) ifaces(kind intent.IfaceKind) {
	for i := range b.device.Ifaces {
		f := &b.device.Ifaces[i]
		if f.Kind != kind {
			continue
		}
		at := func(field string) intent.Path {
			return intent.Path{Object: intent.OfIface, Name: f.Name, Field: field}
		}
		l := line{text: "interface " + entered(place(f)), from: at("")}
		if f.Unique {
			l.add(at("address"), "mclag-separate-ip")
		}
		if f.MTU.IsSet() {
			l.add(at("mtu"), "mtu "+decimal(f.MTU.Value))
		}
		b.addresses(&l, f)
		b.put(l)
	}
}

// mclag writes the pair, and then the PortChannels that span it, which need the
// domain.
func (b *builder) mclag() {
	m := b.device.MLAG
	if m == nil {
		return
	}
	at := intent.Path{Object: intent.OfDevice, Field: "mlag"}
	l := line{text: "mclag domain " + decimal(m.Domain), from: at}
	l.add(at, "source-ip "+m.Source.String())
	l.add(at, "peer-ip "+m.PeerAddress.String())
	l.add(at, "peer-link "+entered(m.PeerLink))
	if m.IntervalMs > 0 {
		l.add(at, "keepalive-interval "+decimal(m.IntervalMs/1000))
	}
	if m.TimeoutMs > 0 {
		l.add(at, "session-timeout "+decimal(m.TimeoutMs/1000))
	}
	b.put(l)
	for i := range b.device.LAGs {
		g := &b.device.LAGs[i]
		if !g.MLAG {
			continue
		}
		from := intent.Path{Object: intent.OfLAG, Name: g.Name, Field: "mlag"}
		l := line{text: "interface " + entered(g.Name), from: from}
		if g.Mode == "static" {
			l.text += " mode on"
		}
		l.add(from, "mclag "+decimal(m.Domain))
		b.put(l)
	}
}
