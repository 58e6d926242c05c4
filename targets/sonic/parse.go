package sonic

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
)

// parse is Target.Parse. Everything ConfigDB holds is read, for every port. A
// field that is absent there is at the vendor's default. The intent d lends the
// names of its objects, and the exact values of what SONiC rounds: where the
// device has what d would be written as, it is d's value that comes back.
func parse(d *intent.Device, c targets.Captured) (*intent.Device, diag.List) {
	captured, ok := c.Files[running]
	if !ok {
		return nil, diag.List{{Severity: diag.Warning, Summary: "there is no " + running, Help: "capture it with " + capture}}
	}
	db, list := decode(running, captured, c.Label)
	if list.HasErrors() {
		return nil, list
	}
	name := ""
	if d != nil {
		name = d.Name
	}
	return db.device(d, append(list, db.told(name)...))
}

// device is the device that a configuration makes.
func (db *database) device(d *intent.Device, list diag.List) (*intent.Device, diag.List) {
	if d == nil {
		d = &intent.Device{Version: intent.Version, Kind: intent.Switch, OS: intent.OS{Name: "sonic"}}
	}
	p := &parser{db: db, hint: d, list: list, said: map[string]bool{}, names: qosNames(d), seen: &intent.Device{
		Version: intent.Version, Name: d.Name, Kind: d.Kind, OS: d.OS, Model: d.Model, ASIC: d.ASIC, Options: maps.Clone(d.Options),
	}}
	if m := db.value("DEVICE_METADATA", "localhost", optionModel); m == traditional || m == dynamic {
		if m != bufferModel(d) {
			p.seen.Options = maps.Clone(d.Options)
			if p.seen.Options == nil {
				p.seen.Options = map[string]string{}
			}
			p.seen.Options[optionModel] = m
		}
	}
	p.vlans()
	p.mlag()
	p.lags()
	p.ifaces()
	p.ports()
	p.buffer()
	p.hash()
	return p.seen, append(p.list, p.bound.Rest()...)
}

type parser struct {
	db    *database
	hint  *intent.Device
	seen  *intent.Device
	names map[string]string // base name of QoS objects -> QoS
	list  diag.List
	said  map[string]bool // by odd
	bound diag.Bound      // of those
}

// odd reports, once, a value that SONiC could not have taken, or that is none of a
// priority: some images have more than eight traffic classes.
func (p *parser) odd(table, key, field string) {
	summary := fmt.Sprintf("%s|%s has %s = %q, which was passed over", table, key, field, p.db.value(table, key, field))
	if p.said[summary] {
		return // by another port that it is bound to
	}
	p.said[summary] = true
	if !p.bound.Take(diag.Warning) {
		return // to find its place takes longer than to read the row
	}
	p.list.Add(diag.Diagnostic{Severity: diag.Warning, Summary: summary, Labels: p.db.at(table, key, field)})
}

// number reads a decimal field of at most limit: set, at the default when it is
// absent, unmanaged when it is not a number.
func number[T uint8 | uint16 | uint32 | uint64](p *parser, table, key, field string, limit uint64) intent.Opt[T] {
	if !p.db.has(table, key, field) {
		return intent.Opt[T]{State: intent.Default}
	}
	n, err := strconv.ParseUint(p.db.value(table, key, field), 10, 64)
	if err != nil || n > limit {
		p.odd(table, key, field)
		return intent.Opt[T]{}
	}
	return intent.Some(T(n))
}

// flag reads a field of two words.
func (p *parser) flag(table, key, field, on, off string) intent.Opt[bool] {
	switch v := p.db.value(table, key, field); {
	case v == on:
		return intent.Some(true)
	case v == off:
		return intent.Some(false)
	case v == "" && !p.db.has(table, key, field):
		return intent.Opt[bool]{State: intent.Default}
	}
	p.odd(table, key, field)
	return intent.Opt[bool]{}
}

func (p *parser) vlans() {
	for _, key := range p.db.keys("VLAN") {
		id, _ := vlanID(key) // no other is among them
		v := intent.VLAN{ID: id, MTU: number[uint16](p, "VLAN", key, "mtu", maxMTU)}
		if hint := p.svi(id); hint != nil && hint.MTU.IsSet() && !p.vlanHint(id).MTU.IsSet() {
			v.MTU = intent.Opt[uint16]{} // it is the interface's
		}
		p.seen.VLANs = append(p.seen.VLANs, v)
	}
}

func (p *parser) vlanHint(id uint16) intent.VLAN {
	for _, v := range p.hint.VLANs {
		if v.ID == id {
			return v
		}
	}
	return intent.VLAN{}
}

func (p *parser) svi(id uint16) *intent.Iface {
	i := slices.IndexFunc(p.hint.Ifaces, func(f intent.Iface) bool { return f.Kind == intent.SVI && f.VLAN == id })
	if i < 0 {
		return nil
	}
	return &p.hint.Ifaces[i]
}

func vlanID(name string) (uint16, bool) {
	n, err := strconv.ParseUint(strings.TrimPrefix(name, "Vlan"), 10, 16)
	return uint16(n), err == nil && strings.HasPrefix(name, "Vlan") && n >= 1 && n <= maxVLAN && vlanName(uint16(n)) == name
}

// memberVLANs are the VLANs of a port or LAG: those of all rows, ascending.
func (p *parser) memberVLANs(port string) (native intent.Opt[uint16], tagged intent.Opt[[]uint16]) {
	native.State = intent.Default
	var ids []uint16
	for _, key := range p.db.keys("VLAN_MEMBER") {
		vlan, member, _ := strings.Cut(key, "|")
		id, ok := vlanID(vlan)
		if member != port || !ok {
			continue
		}
		if p.db.value("VLAN_MEMBER", key, "tagging_mode") == "untagged" {
			native = intent.Some(id)
			continue
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if ids == nil {
		ids = []uint16{}
	}
	return native, intent.Some(ids)
}

func (p *parser) mlag() {
	keys := p.db.keys("MCLAG_DOMAIN")
	if len(keys) == 0 {
		return
	}
	const table = "MCLAG_DOMAIN"
	key := keys[0]
	domain, err := strconv.ParseUint(key, 10, 16)
	if err != nil { // greater than any
		return
	}
	m := &intent.MLAG{Domain: uint16(domain), PeerLink: p.db.value(table, key, "peer_link")}
	if p.hint.MLAG != nil {
		m.Peer, m.OutOfBand = p.hint.MLAG.Peer, p.hint.MLAG.OutOfBand
	}
	m.Source = p.addr(table, key, "source_ip")
	m.PeerAddress = p.addr(table, key, "peer_ip")
	m.IntervalMs = 1000 * number[uint32](p, table, key, "keepalive_interval", 3600).Or(0)
	m.TimeoutMs = 1000 * number[uint32](p, table, key, "session_timeout", 3600).Or(0)
	p.seen.MLAG = m
}

func (p *parser) addr(table, key, field string) netip.Addr {
	a, err := netip.ParseAddr(p.db.value(table, key, field))
	if err != nil {
		p.odd(table, key, field)
	}
	return a
}

func (p *parser) lags() {
	for _, key := range p.db.keys("PORTCHANNEL") {
		g := intent.LAG{Name: key, ID: lagID(key), Members: []string{}, Mode: "lacp", MTU: number[uint16](p, "PORTCHANNEL", key, "mtu", maxMTU)}
		hint := intent.LAG{}
		if i := slices.IndexFunc(p.hint.LAGs, func(h intent.LAG) bool { return h.Name == key }); i >= 0 {
			hint = p.hint.LAGs[i]
			if hint.ID == 0 {
				g.ID = 0
			}
		}
		switch p.db.value("PORTCHANNEL", key, "fast_rate") {
		case "true":
			g.Rate = "fast"
		case "false":
			if hint.Rate != "" || hint.Name == "" {
				g.Rate = "slow"
			}
		}
		for _, m := range p.db.keys("PORTCHANNEL_MEMBER") {
			if lag, port, ok := strings.Cut(m, "|"); ok && lag == key {
				g.Members = append(g.Members, port)
			}
		}
		if sameSet(g.Members, hint.Members) {
			g.Members = slices.Clone(hint.Members)
		}
		g.Native, g.Tagged = p.memberVLANs(key)
		g.Deny = p.denied(key)
		for m := range p.db.rows("MCLAG_INTERFACE") {
			if _, lag, _ := strings.Cut(m, "|"); lag == key {
				g.MLAG = true
			}
		}
		p.seen.LAGs = append(p.seen.LAGs, g)
	}
}

func sameSet(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}

// ifaces reads the four tables of interfaces in the order of the kinds.
func (p *parser) ifaces() {
	for _, t := range []struct {
		table string
		kind  intent.IfaceKind
	}{{"LOOPBACK_INTERFACE", intent.Loopback}, {"INTERFACE", intent.Routed}, {"PORTCHANNEL_INTERFACE", intent.Routed}, {"VLAN_INTERFACE", intent.SVI}} {
		for _, key := range p.db.keys(t.table) {
			if strings.Contains(key, "|") {
				continue
			}
			f := intent.Iface{Name: key, Kind: t.kind, VRF: p.db.value(t.table, key, "vrf_name"), Addresses: p.addresses(t.table, key)}
			switch t.kind {
			case intent.SVI:
				id, ok := vlanID(key)
				if !ok {
					continue
				}
				f.VLAN = id
				f.Unique = p.db.value("MCLAG_UNIQUE_IP", key, "unique_ip") == "enable"
			case intent.Routed:
				f.On = key
			}
			p.ifaceHint(&f, t.table)
			p.seen.Ifaces = append(p.seen.Ifaces, f)
		}
	}
}

// ifaceHint lends what ConfigDB has no place for.
func (p *parser) ifaceHint(f *intent.Iface, table string) {
	for i := range p.hint.Ifaces {
		h := &p.hint.Ifaces[i]
		t, name := place(h)
		if t != table || name != f.Name || h.Kind != f.Kind {
			continue
		}
		f.Name, f.On = h.Name, h.On
		if h.MTU.IsSet() && f.Kind == intent.SVI {
			f.MTU = number[uint16](p, "VLAN", name, "mtu", maxMTU)
		} else if h.MTU.IsSet() {
			f.MTU = number[uint16](p, mtuTable(name), name, "mtu", maxMTU)
		}
		if sameAddresses(f.Addresses.Value, h.Addresses.Value) {
			f.Addresses.Value = slices.Clone(h.Addresses.Value)
		}
		return
	}
}

func mtuTable(name string) string {
	if lagName.MatchString(name) {
		return "PORTCHANNEL"
	}
	return "PORT"
}

func sameAddresses(a, b []netip.Prefix) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(x netip.Prefix) bool { return !slices.Contains(b, x) })
}

func (p *parser) addresses(table, name string) intent.Opt[[]netip.Prefix] {
	found := []netip.Prefix{}
	for _, key := range p.db.keys(table) {
		owner, address, ok := strings.Cut(key, "|")
		if !ok || owner != name {
			continue
		}
		if a, err := netip.ParsePrefix(address); err == nil { // no other is among them
			found = append(found, a)
		}
	}
	for _, a := range p.wanted(table, name) {
		if !slices.Contains(found, a) && p.db.spelled(table, name+"|"+a.String()) != "" {
			found = append(found, a)
		}
	}
	return intent.Some(found)
}

// wanted are the addresses of the intent's interface in that place.
func (p *parser) wanted(table, name string) []netip.Prefix {
	for i := range p.hint.Ifaces {
		f := &p.hint.Ifaces[i]
		if t, n := place(f); t == table && n == name {
			return f.Addresses.Value
		}
	}
	return nil
}

func (p *parser) ports() {
	for _, key := range p.db.keys("PORT") {
		const table = "PORT"
		port := intent.Port{
			Name: key, Enabled: p.flag(table, key, "admin_status", "up", "down"), Mbps: number[uint32](p, table, key, "speed", maxMbps),
			FEC: intent.Opt[intent.FEC]{State: intent.Default}, Autoneg: p.flag(table, key, "autoneg", "on", "off"),
			MTU: number[uint16](p, table, key, "mtu", maxMTU), CableMm: p.cable(key),
		}
		if f := p.db.value(table, key, "fec"); f != "" {
			port.FEC = intent.Some(intent.FEC(f))
		}
		port.Native, port.Tagged = p.memberVLANs(key)
		port.Deny = p.denied(key)
		q := p.qos(key)
		port.QoS = q
		hint := p.port(key)
		port.Verify = hint.Verify
		port.Breakout, port.Split = p.split(key, hint)
		port.Headroom = p.headroom(&port, hint)
		p.seen.Ports = append(p.seen.Ports, port)
	}
}

// port is the intent of a port, a zero one if there is none.
func (p *parser) port(name string) *intent.Port {
	i := slices.IndexFunc(p.hint.Ports, func(h intent.Port) bool { return h.Name == name })
	if i < 0 {
		return &intent.Port{}
	}
	return &p.hint.Ports[i]
}

// cable reads the length of a port's cable, whatever the row is called.
func (p *parser) cable(port string) intent.Opt[uint32] {
	for _, key := range p.db.keys("CABLE_LENGTH") {
		v := p.db.value("CABLE_LENGTH", key, port)
		if v == "" {
			continue
		}
		m, err := strconv.ParseUint(strings.TrimSuffix(v, "m"), 10, 32)
		if err != nil || m > 4_000_000 {
			p.odd("CABLE_LENGTH", key, port)
			return intent.Opt[uint32]{}
		}
		if h := p.port(port).CableMm; h.IsSet() && cable(h.Value) == v {
			return h
		}
		return intent.Some(uint32(m) * 1000)
	}
	return intent.Opt[uint32]{State: intent.Default}
}
