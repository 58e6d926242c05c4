package sonic

import (
	"strconv"

	"github.com/rocec/rocec/compiler/intent"
)

// config is what an intent becomes: what a normal run loads, and what re-carves
// the packet buffer or is refused by the config updater and so needs a window.
type config struct {
	breakouts   tables // see split.go
	normal      tables
	maintenance tables
}

// build turns an intent that passed Limits into rows. Ports under verify get none.
func build(d *intent.Device) config {
	b := newBuilder(d)
	b.bridge()
	b.route()
	b.qosAndBuffers()
	return b.config
}

// bridgeOf, routesOf and qosOf are its three parts: what names and addresses
// have no say in, what they have, and all above the links.
func bridgeOf(d *intent.Device) config {
	b := newBuilder(d)
	b.bridge()
	return b.config
}

func routesOf(d *intent.Device) config {
	b := newBuilder(d)
	b.route()
	return b.config
}

func qosOf(d *intent.Device) config {
	b := newBuilder(d)
	b.qosAndBuffers()
	return b.config
}

// breakoutsOf are the rows of split ports.
func breakoutsOf(d *intent.Device) tables {
	b := newBuilder(d)
	for i := range d.Ports {
		if p := &d.Ports[i]; !p.Verify {
			b.split(p)
		}
	}
	return b.breakouts
}

func newBuilder(d *intent.Device) *builder {
	b := &builder{
		device: d, config: config{breakouts: tables{}, normal: tables{}, maintenance: tables{}},
		verify: map[string]bool{}, bindings: map[string]*binding{}, profiles: map[[2]string]row{}, empty: row{},
	}
	for i := range d.Ports {
		if d.Ports[i].Verify {
			b.verify[d.Ports[i].Name] = true
		}
	}
	return b
}

// bridge writes ports, VLANs and LAGs.
func (b *builder) bridge() {
	d := b.device
	for i := range d.VLANs {
		b.vlan(&d.VLANs[i])
	}
	for i := range d.Ports {
		if p := &d.Ports[i]; !p.Verify {
			b.port(p)
		}
	}
	for i := range d.LAGs {
		b.lag(&d.LAGs[i])
	}
	b.edge()
	if h := d.Hash.Function; h.IsSet() {
		b.normal.row(hashTable, hashRow).set(hashField, h.Value, hashPath)
	}
}

// route writes interfaces and the MLAG.
func (b *builder) route() {
	const most = "INTERFACE" // of a port with an address: two rows, and there are as many as ports
	if b.normal[most] == nil {
		rows := 2 * len(b.device.Ifaces)
		b.normal[most] = &table{keys: make([]string, 0, rows), rows: make(map[string]row, rows)}
	}
	for i := range b.device.Ifaces {
		b.iface(&b.device.Ifaces[i])
	}
	if len(b.normal[most].keys) == 0 {
		delete(b.normal, most)
	}
	if b.device.MLAG != nil {
		b.mlag(b.device.MLAG)
	}
}

func (b *builder) qosAndBuffers() {
	d := b.device
	for i := range d.QoS {
		b.qos(&d.QoS[i])
	}
	for i := range d.Ports {
		p := &d.Ports[i]
		if p.Verify {
			continue
		}
		if p.CableMm.IsSet() {
			b.normal.row("CABLE_LENGTH", shared).set(p.Name, cable(p.CableMm.Value), intent.Path{Object: intent.OfPort, Name: p.Name, Field: "cable"})
		}
		if q := d.QoSNamed(p.QoS); q != nil {
			b.bind(p, q)
		}
	}
	b.global()
	b.buffers()
}

type builder struct {
	device *intent.Device
	config
	verify   map[string]bool
	bindings map[string]*binding // by QoS
	profiles map[[2]string]row   // by QoS and profile, see shared
	empty    row                 // of addresses
}

func (b *builder) port(p *intent.Port) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfPort, Name: p.Name, Field: field}
	}
	set := func(field, value, from string) { b.normal.row("PORT", p.Name).set(field, value, at(from)) }
	if p.Enabled.IsSet() {
		set("admin_status", upDown(p.Enabled.Value), "enabled")
	}
	if p.Mbps.IsSet() {
		set("speed", strconv.FormatUint(uint64(p.Mbps.Value), 10), "speed")
	}
	if p.FEC.IsSet() {
		set("fec", string(p.FEC.Value), "fec")
	}
	if p.Autoneg.IsSet() {
		set("autoneg", onOff(p.Autoneg.Value), "autoneg")
	}
	if p.MTU.IsSet() {
		set("mtu", decimal(p.MTU.Value), "mtu")
	}
	b.split(p)
	b.members(p.Name, p.Native, p.Tagged, at)
}

// members are the VLANs of a port or LAG.
func (b *builder) members(port string, native intent.Opt[uint16], tagged intent.Opt[[]uint16], at func(string) intent.Path) {
	if native.IsSet() {
		b.normal.row("VLAN_MEMBER", vlanName(native.Value)+"|"+port).set("tagging_mode", "untagged", at("native"))
	}
	if tagged.IsSet() {
		for _, id := range tagged.Value {
			b.normal.row("VLAN_MEMBER", vlanName(id)+"|"+port).set("tagging_mode", "tagged", at("segments"))
		}
	}
}

func (b *builder) vlan(v *intent.VLAN) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfVLAN, Name: decimal(v.ID), Field: field}
	}
	r := b.normal.row("VLAN", vlanName(v.ID))
	r.set("vlanid", decimal(v.ID), at("id"))
	r.set("admin_status", "up", at("id"))
	if v.MTU.IsSet() {
		r.set("mtu", decimal(v.MTU.Value), at("mtu"))
	}
}

// lag writes the fields that config portchannel add writes, and of those only
// what an intent decides. lacp_key auto is the number of the name, which both
// switches of an MLAG pair share.
func (b *builder) lag(l *intent.LAG) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfLAG, Name: l.Name, Field: field}
	}
	r := b.normal.row("PORTCHANNEL", l.Name)
	r.set("admin_status", "up", at("mode"))
	r.set("lacp_key", "auto", at("mode"))
	if l.Rate != "" {
		r.set("fast_rate", strconv.FormatBool(l.Rate == "fast"), at("rate"))
	}
	if l.MTU.IsSet() {
		r.set("mtu", decimal(l.MTU.Value), at("mtu"))
	}
	for _, m := range l.Members {
		if !b.verify[m] {
			b.normal.row("PORTCHANNEL_MEMBER", l.Name+"|"+m)
		}
	}
	b.members(l.Name, l.Native, l.Tagged, at)
}

func (b *builder) iface(f *intent.Iface) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfIface, Name: f.Name, Field: field}
	}
	table, name := place(f)
	if b.verify[name] {
		return
	}
	r := b.normal.row(table, name)
	if f.VRF != "" {
		b.normal.row("VRF", f.VRF)
		r.set("vrf_name", f.VRF, at("vrf"))
	}
	if f.Kind == intent.SVI && f.MTU.IsSet() {
		b.normal.row("VLAN", name).set("mtu", decimal(f.MTU.Value), at("mtu"))
	}
	if f.Addresses.IsSet() {
		for _, a := range f.Addresses.Value {
			b.normal.share(table, name+"|"+a.String(), b.empty)
		}
	}
	// ICCPd takes the addresses of both peers in a VLAN to be one gateway unless
	// told otherwise. [sonic-buildimage sonic-mclag.yang, MCLAG_UNIQUE_IP]
	if f.Unique && f.Kind == intent.SVI {
		b.normal.row("MCLAG_UNIQUE_IP", name).set("unique_ip", "enable", at("address"))
	}
}

// place is the table of an interface and the name of its row.
func place(f *intent.Iface) (table, name string) {
	switch {
	case f.Kind == intent.SVI:
		return "VLAN_INTERFACE", vlanName(f.VLAN)
	case f.Kind == intent.Loopback:
		return "LOOPBACK_INTERFACE", f.Name
	case lagName.MatchString(f.On):
		return "PORTCHANNEL_INTERFACE", f.On
	}
	return "INTERFACE", f.On
}

func (b *builder) mlag(m *intent.MLAG) {
	at := intent.Path{Object: intent.OfDevice, Field: "mlag"}
	r := b.normal.row("MCLAG_DOMAIN", decimal(m.Domain))
	r.set("source_ip", m.Source.String(), at)
	r.set("peer_ip", m.PeerAddress.String(), at)
	if m.PeerLink != "" {
		r.set("peer_link", m.PeerLink, at)
	}
	if m.IntervalMs > 0 {
		r.set("keepalive_interval", decimal(m.IntervalMs/1000), at)
	}
	if m.TimeoutMs > 0 {
		r.set("session_timeout", decimal(m.TimeoutMs/1000), at)
	}
	for i := range b.device.LAGs {
		if l := &b.device.LAGs[i]; l.MLAG {
			b.normal.row("MCLAG_INTERFACE", decimal(m.Domain)+"|"+l.Name).set("if_type", "PortChannel", intent.Path{Object: intent.OfLAG, Name: l.Name, Field: "mlag"})
		}
	}
}

// cable is a length as the device is told: whole metres, rounded up.
func cable(mm uint32) string {
	m := mm / 1000
	if mm%1000 > 0 {
		m++
	}
	return strconv.FormatUint(uint64(m), 10) + "m"
}

func decimal[T uint8 | uint16 | uint32 | int](n T) string { return strconv.FormatInt(int64(n), 10) }

func upDown(up bool) string {
	if up {
		return "up"
	}
	return "down"
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
