package cumulus

import (
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// build turns an intent that passed Limits into the tree of a set. Ports under
// verify are in it nowhere.
func build(d *intent.Device) *node {
	b := &builder{
		device: d, words: wordsOf(d.OS.Version), root: &node{}, port: map[string]*intent.Port{}, groups: map[portKey]*group{}, roce: isRoCE(d),
		profiles: map[string]*profile{},
	}
	for i := range d.Ports {
		if p := &d.Ports[i]; !p.Verify {
			b.port[p.Name] = p
		}
	}
	b.bridge()
	for i := range d.Ports {
		if p := &d.Ports[i]; !p.Verify {
			b.physical(p)
		}
	}
	b.written()
	for i := range d.LAGs {
		b.bond(&d.LAGs[i])
	}
	for i := range d.Ifaces {
		b.iface(&d.Ifaces[i])
	}
	b.mlag()
	if seed := d.Hash.Seed; seed.IsSet() {
		b.root.set(number, strconv.FormatUint(uint64(seed.Value), 10), hashPath, "system", "forwarding", "hash-seed")
	}
	if n := d.Aging.MACSeconds; n.IsSet() {
		b.root.set(number, strconv.FormatUint(uint64(n.Value), 10), agingPath, "bridge", "domain", bridge, "ageing")
	}
	b.wide()
	b.root.sort()
	return b.root
}

// hashPath is where a device says how it spreads flows. NVUE has a seed for
// them, and no choice of the function.
var hashPath = intent.Path{Object: intent.OfDevice, Field: "hash"}

// agingPath is where a device says how long it keeps MAC addresses.
var agingPath = intent.Path{Object: intent.OfDevice, Field: "mac_timeout"}

type builder struct {
	device   *intent.Device
	words    words
	root     *node
	port     map[string]*intent.Port // written ports
	groups   map[portKey]*group
	order    []*group
	profiles map[string]*profile // by QoS
	roce     bool                // nv set qos roce says all of it
}

// portKey is all that ports of one key of the patch have in common.
type portKey struct {
	enabled, autoneg intent.Opt[bool]
	mbps             intent.Opt[uint32]
	fec              intent.Opt[intent.FEC]
	mtu              intent.Opt[uint16]
	native           intent.Opt[uint16]
	tagged           string // numbers with commas; "-" if it is not managed
	deny             bool
	qos              string
	pfc              string // profile
}

// group is the ports of one key, and the first of them for where lines come from.
type group struct {
	key   portKey
	first *intent.Port
	names []string
}

func (b *builder) bridge() {
	for i := range b.device.VLANs {
		v := &b.device.VLANs[i]
		at := intent.Path{Object: intent.OfVLAN, Name: decimal(v.ID), Field: "id"}
		b.root.set(word, "vlan-aware", intent.Path{}, "bridge", "domain", bridge, "type")
		b.root.at(at, "bridge", "domain", bridge, "vlan", decimal(v.ID))
	}
}

// physical sorts a port to others with the same settings.
func (b *builder) physical(p *intent.Port) {
	q := b.device.QoSNamed(p.QoS)
	key := portKey{enabled: p.Enabled, autoneg: p.Autoneg, mbps: b.speed(p), fec: p.FEC, mtu: p.MTU, native: p.Native, tagged: "-", deny: deniesRoCE(p.Deny)}
	if p.Tagged.IsSet() {
		key.tagged = list(p.Tagged.Value)
	}
	if q != nil {
		key.qos = q.Name
		if !b.roce {
			key.pfc = pfcProfile(q, p)
		}
	}
	g := b.groups[key]
	if g == nil {
		g = &group{key: key, first: p}
		b.groups[key] = g
		b.order = append(b.order, g)
	}
	g.names = append(g.names, p.Name)
	if m := splitMode.FindStringSubmatch(p.Breakout); m != nil {
		// A quarter of an 8-lane port has two lanes by itself since 5.9.
		at := intent.Path{Object: intent.OfPort, Name: p.Name, Field: "breakout"}
		parent := parentOf(p.Name)
		b.root.at(at, "interface", parent, "link", "breakout", m[1]+"x")
		b.root.set(word, "swp", at, "interface", parent, "type")
	}
}

// speed is the speed of a port: its own, else that of the split it is a child of,
// which a child that negotiates comes to by itself and, where a speed would force
// it, is not told.
func (b *builder) speed(p *intent.Port) intent.Opt[uint32] {
	if b.words.forces && p.Autoneg.Or(false) {
		return p.Mbps
	}
	return speedOf(b.device, p)
}

// speedOf is the speed that a port is meant to have.
func speedOf(d *intent.Device, p *intent.Port) intent.Opt[uint32] {
	parent := parentOf(p.Name)
	if p.Mbps.IsSet() || parent == "" {
		return p.Mbps
	}
	if first := d.PortNamed(parent + "s0"); first != nil {
		if _, mbps, ok := splitOf(first.Breakout); ok {
			return intent.Some(mbps)
		}
	}
	return p.Mbps
}

// splitOf reads "4x100G".
func splitOf(breakout string) (count int, mbps uint32, ok bool) {
	m := splitMode.FindStringSubmatch(breakout)
	if m == nil {
		return 0, 0, false
	}
	n, _ := strconv.ParseUint(m[2], 10, 32)
	return int(m[1][0] - '0'), uint32(n) * 1000, true
}

// list is numbers with commas.
func list(ids []uint16) string {
	var s strings.Builder
	for i, id := range ids {
		if i > 0 {
			s.WriteByte(',')
		}
		s.WriteString(decimal(id))
	}
	return s.String()
}

// written makes the key of each group.
func (b *builder) written() {
	for _, g := range b.order {
		p := g.first
		at := func(field string) intent.Path {
			return intent.Path{Object: intent.OfPort, Name: p.Name, Field: field}
		}
		n := b.root.at(at(""), "interface", joined(g.names))
		n.set(word, "swp", at(""), "type")
		if g.key.enabled.IsSet() {
			// The state is an item of a collection, not a value [nv show output of the NVUE collection: state: up: {}].
			n.at(at("enabled"), "link", "state", upDown(g.key.enabled.Value))
		}
		if g.key.mbps.IsSet() {
			field := "speed"
			if !p.Mbps.IsSet() {
				field = "breakout"
			}
			n.set(word, speeds[g.key.mbps.Value], at(field), "link", "speed")
		}
		if g.key.fec.IsSet() {
			n.set(word, fecs[g.key.fec.Value], at("fec"), "link", "fec")
		}
		if g.key.autoneg.IsSet() {
			n.set(word, b.words.flag(g.key.autoneg.Value), at("autoneg"), "link", "auto-negotiate")
		}
		if g.key.mtu.IsSet() {
			n.set(number, decimal(g.key.mtu.Value), at("mtu"), "link", "mtu")
		}
		members(n, p.Native, p.Tagged, at)
		if g.key.deny {
			b.deny(n, at("deny"))
		}
		if q := b.device.QoSNamed(p.QoS); q != nil {
			b.bind(n, q, g.key.pfc)
		}
	}
}

func upDown(up bool) string {
	if up {
		return "up"
	}
	return "down"
}

// members are the VLANs of a port or bond. What is not declared is not there: a
// port of tagged VLANs alone drops what has no tag [VLAN-aware Bridge Mode,
// Drop Untagged Frames], and one of an untagged VLAN alone is an access port.
func members(n *node, native intent.Opt[uint16], tagged intent.Opt[[]uint16], at func(string) intent.Path) {
	domain := []string{"bridge", "domain", bridge}
	switch {
	case native.IsSet() && tagged.IsSet() && len(tagged.Value) == 0:
		n.set(number, decimal(native.Value), at("native"), append(domain, "access")...)
		return
	case native.IsSet():
		n.set(number, decimal(native.Value), at("native"), append(domain, "untagged")...)
	case tagged.IsSet() && len(tagged.Value) > 0 && native.State != intent.Default: // that is left as it is
		n.set(word, "none", at("segments"), append(domain, "untagged")...)
	}
	if tagged.IsSet() {
		for _, id := range tagged.Value {
			n.at(at("segments"), append(domain, "vlan", decimal(id))...)
		}
	}
}

func (b *builder) bond(l *intent.LAG) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfLAG, Name: l.Name, Field: field}
	}
	n := b.root.at(at(""), "interface", l.Name)
	kind := "bond"
	if b.device.MLAG != nil && b.device.MLAG.PeerLink == l.Name {
		kind = peerlink
	}
	n.set(word, kind, at(""), "type")
	for _, m := range l.Members {
		if b.port[m] != nil {
			n.at(at("members"), "bond", "member", m)
		}
	}
	n.set(word, l.Mode, at("mode"), "bond", "mode")
	if l.Rate != "" {
		n.set(word, l.Rate, at("rate"), "bond", "lacp-rate")
	}
	if l.MTU.IsSet() {
		n.set(number, decimal(l.MTU.Value), at("mtu"), "link", "mtu")
	}
	members(n, l.Native, l.Tagged, at)
	if deniesRoCE(l.Deny) {
		b.deny(n, at("deny"))
	}
	if l.MLAG {
		n.set(word, b.words.on, at("mlag"), "bond", "mlag", b.words.enable)
		n.set(number, decimal(l.ID), at("id"), "bond", "mlag", "id")
	}
}

// place is the interface that has the addresses of an intent's.
func place(f *intent.Iface) string {
	switch f.Kind {
	case intent.SVI:
		return vlanName(f.VLAN)
	case intent.Loopback:
		return "lo"
	}
	return f.On
}

func (b *builder) iface(f *intent.Iface) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfIface, Name: f.Name, Field: field}
	}
	key := place(f)
	if f.Kind == intent.Routed && b.port[key] == nil && b.device.LAGNamed(key) == nil {
		return // on a port under verify
	}
	n := b.root.at(at(""), "interface", key)
	switch f.Kind {
	case intent.SVI:
		n.set(word, "svi", at("segment"), "type")
		n.set(number, decimal(f.VLAN), at("segment"), "vlan")
		if mtu, field := b.sviMTU(f); mtu.IsSet() {
			n.set(number, decimal(mtu.Value), field, "link", "mtu")
		}
	case intent.Loopback:
		n.set(word, "loopback", at("on"), "type")
	case intent.Routed:
		if b.port[key] != nil {
			n.set(word, "swp", at("on"), "type")
		}
	}
	for _, a := range f.Addresses.Value {
		if f.Addresses.IsSet() {
			n.at(at("address"), b.words.family(a.Addr().Is6()), "address", a.String())
		}
	}
	if f.VRF == "" {
		return
	}
	b.root.set(word, "auto", at("vrf"), "vrf", f.VRF, "table")
	if b.words.split {
		n.set(name, f.VRF, at("vrf"), "vrf")
	} else {
		n.set(name, f.VRF, at("vrf"), "ip", "vrf")
	}
}

// family is the key over addresses.
func (w words) family(six bool) string {
	switch {
	case !w.split:
		return "ip"
	case six:
		return "ipv6"
	}
	return "ipv4"
}

// sviMTU is the MTU of a VLAN's interface: its own, else that of the VLAN,
// which a bridge has nowhere else.
func (b *builder) sviMTU(f *intent.Iface) (intent.Opt[uint16], intent.Path) {
	if f.MTU.IsSet() {
		return f.MTU, intent.Path{Object: intent.OfIface, Name: f.Name, Field: "mtu"}
	}
	for _, v := range b.device.VLANs {
		if v.ID == f.VLAN {
			return v.MTU, intent.Path{Object: intent.OfVLAN, Name: decimal(v.ID), Field: "mtu"}
		}
	}
	return f.MTU, intent.Path{}
}

// mlag writes the pair. Both switches have one system address: the number of
// the domain in the range that NVIDIA keeps for it.
func (b *builder) mlag() {
	m := b.device.MLAG
	if m == nil {
		return
	}
	at := intent.Path{Object: intent.OfDevice, Field: "mlag"}
	b.root.set(word, b.words.on, at, "mlag", b.words.enable)
	b.root.set(name, systemMAC(m.Domain), at, "mlag", "mac-address")
	b.root.set(word, "linklocal", at, "mlag", "peer-ip")
	backup := b.root.at(at, "mlag", "backup", m.PeerAddress.String())
	if m.OutOfBand { // eth0 is in that VRF [ibid., Loopback or Management IP Address?]
		backup.set(name, mgmtVRF, at, "vrf")
	} else if f := ownerOf(b.device, m.Source); f != nil && f.VRF != "" {
		backup.set(name, f.VRF, at, "vrf")
	}
	sub := b.root.at(at, "interface", peerlink+"."+decimal(peerVLAN))
	sub.set(word, peerlink, at, "base-interface")
	sub.set(word, "sub", at, "type")
	sub.set(number, decimal(peerVLAN), at, "vlan")
}

// systemMAC is in 44:38:39:ff:00:00 to ff:ff [MLAG, Basic Configuration].
func systemMAC(domain uint16) string {
	const hex = "0123456789abcdef"
	return "44:38:39:ff:" + string([]byte{hex[domain>>12], hex[domain>>8&15], ':', hex[domain>>4&15], hex[domain&15]})
}
