package sonicent

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strconv"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
)

// parse is Target.Parse. Everything that this target writes is read, for every
// port. What stands nowhere is at the switch's default. The intent d lends the
// names of its objects and the exact values of what the CLI rounds, where the
// switch has what d would be written as.
func parse(d *intent.Device, c targets.Captured) (*intent.Device, diag.List) {
	seen, list := captured(c)
	if list.HasErrors() {
		return nil, list
	}
	if seen == nil {
		return nil, diag.List{{Severity: diag.Warning, Summary: "there is no " + running, Help: "capture it with " + show}}
	}
	if d == nil {
		d = &intent.Device{Version: intent.Version, Kind: intent.Switch, OS: intent.OS{Name: osName}}
	}
	p := &parser{config: seen, hint: d, list: list, qos: map[string]int{}, seen: &intent.Device{
		Version: intent.Version, Name: d.Name, Kind: d.Kind, OS: d.OS, Model: d.Model, ASIC: d.ASIC, Options: maps.Clone(d.Options),
	}}
	p.mlag()
	p.interfaces()
	p.pool()
	p.seen.Aging.ARPSeconds = count[uint32](p, p.arp, maxARP, "ip arp timeout")
	p.seen.Aging.MACSeconds = count[uint32](p, p.mac, maxMAC, "mac address-table aging-time")
	return p.seen, p.list
}

type parser struct {
	*config
	hint *intent.Device
	seen *intent.Device
	list diag.List
	qos  map[string]int // index in seen.QoS by what it was made of
	said bool           // that pauses are of no use
}

func (p *parser) odd(what, text string) {
	p.list.Add(diag.Diagnostic{Severity: diag.Warning, Summary: what + " is " + strconv.Quote(text) + ", which is not understood", Help: stays})
}

// count reads a number of at most limit: set, at the default when the text is
// absent, unmanaged when it is no number.
func count[T uint8 | uint16 | uint32 | uint64](p *parser, text string, limit uint64, what string) intent.Opt[T] {
	if text == "" {
		return intent.Opt[T]{State: intent.Default}
	}
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil || v > limit {
		p.odd(what, text)
		return intent.Opt[T]{}
	}
	return intent.Some(T(v))
}

// mlag reads the pair; the peer's name stands nowhere, so the intent lends it.
func (p *parser) mlag() {
	d := p.domain
	if d == nil {
		return
	}
	m := &intent.MLAG{Domain: count[uint16](p, d.id, 4095, "mclag domain").Or(0), PeerLink: d.link}
	if p.hint.MLAG != nil {
		m.Peer, m.OutOfBand = p.hint.MLAG.Peer, p.hint.MLAG.OutOfBand
	}
	for _, a := range []struct {
		text string
		to   *netip.Addr
	}{{d.source, &m.Source}, {d.peer, &m.PeerAddress}} {
		if v, err := netip.ParseAddr(a.text); err == nil && v.Zone() == "" {
			*a.to = v
		}
	}
	m.IntervalMs = count[uint32](p, d.interval, 60, "keepalive-interval").Or(0) * 1000
	m.TimeoutMs = count[uint32](p, d.timeout, 3600, "session-timeout").Or(0) * 1000
	p.seen.MLAG = m
}

// interfaces reads ports, LAGs, VLANs and addresses.
func (p *parser) interfaces() {
	ports := map[string]bool{}
	for i := range p.hint.Ports { // a port exists whether it is configured or not
		ports[p.hint.Ports[i].Name] = true
	}
	for _, name := range p.order {
		if native.MatchString(name) || standard.MatchString(name) {
			ports[name] = true
		}
	}
	names := slices.SortedFunc(slices.Values(p.order), intent.Natural)
	for _, name := range names {
		if id, err := strconv.Atoi(name[min(len("Vlan"), len(name)):]); err == nil && vlanNumber(name) {
			p.vlan(uint16(id), p.ifaces[name])
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(ports), intent.Natural) {
		p.port(name)
	}
	for _, name := range names {
		f := p.ifaces[name]
		switch {
		case lagName.MatchString(name):
			p.lag(name, f)
			p.address(intent.Iface{Name: name, Kind: intent.Routed, On: name}, f, len(f.addresses) > 0 || f.vrf != "")
		case loopName.MatchString(name):
			p.address(intent.Iface{Name: name, Kind: intent.Loopback}, f, true)
		case ports[name]:
			p.address(intent.Iface{Name: name, Kind: intent.Routed, On: name}, f, len(f.addresses) > 0 || f.vrf != "")
		}
	}
	slices.SortFunc(p.seen.VLANs, func(a, b intent.VLAN) int { return cmp.Compare(a.ID, b.ID) })
}

// vlan reads a VLAN and its interface, which have one MTU.
func (p *parser) vlan(id uint16, f *iface) {
	mtu := count[uint16](p, f.mtu, maxMTU, "mtu of "+vlanName(id))
	h := p.known(func(h *intent.Iface) bool { return h.Kind == intent.SVI && h.VLAN == id })
	v := intent.VLAN{ID: id, MTU: mtu}
	out := intent.Iface{Name: vlanName(id), Kind: intent.SVI, VLAN: id, Unique: f.separate}
	if h != nil && h.MTU.IsSet() {
		out.MTU = mtu
	}
	p.seen.VLANs = append(p.seen.VLANs, v)
	p.address(out, f, h != nil || len(f.addresses) > 0 || f.vrf != "" || f.separate)
}

// known is the interface of the intent that is meant, nil if there is none.
func (p *parser) known(is func(*intent.Iface) bool) *intent.Iface {
	for i := range p.hint.Ifaces {
		if is(&p.hint.Ifaces[i]) {
			return &p.hint.Ifaces[i]
		}
	}
	return nil
}

// address completes an interface, where there is one. Its name is the intent's
// where that has one in the same place.
func (p *parser) address(f intent.Iface, from *iface, exists bool) {
	if h := p.known(func(h *intent.Iface) bool { return h.Kind == f.Kind && place(h) == place(&f) }); h != nil {
		f.Name, f.On = h.Name, h.On
		if f.Kind == intent.Routed && h.MTU.IsSet() {
			f.MTU = count[uint16](p, from.mtu, maxMTU, "mtu of "+h.On)
		}
		exists = true
	}
	if !exists {
		return
	}
	f.Addresses = intent.Some(sorted(from.addresses))
	if from.vrf != "" && from.vrf != "default" {
		f.VRF = from.vrf
	}
	p.seen.Ifaces = append(p.seen.Ifaces, f)
}

func (p *parser) lag(name string, f *iface) {
	g := intent.LAG{Name: name, Mode: "lacp", Members: []string{}, MTU: count[uint16](p, f.mtu, maxMTU, "mtu of "+name), MLAG: f.mclag != ""}
	if f.static {
		g.Mode = "static"
	}
	if f.fast {
		g.Rate = "fast"
	}
	if h := p.hint.LAGNamed(name); h == nil || h.ID != 0 {
		n, _ := strconv.Atoi(lagName.FindStringSubmatch(name)[1])
		g.ID = uint16(n)
	}
	for _, port := range slices.SortedFunc(maps.Keys(p.ifaces), intent.Natural) {
		if x := p.ifaces[port]; x.group != "" && "PortChannel"+x.group == name {
			g.Members = append(g.Members, port)
		}
	}
	g.Native, g.Tagged = p.switched(name, f)
	g.Deny = p.denied(f)
	p.seen.LAGs = append(p.seen.LAGs, g)
}

// switched reads the VLANs of a port or LAG.
func (p *parser) switched(name string, f *iface) (native intent.Opt[uint16], tagged intent.Opt[[]uint16]) {
	native = count[uint16](p, f.access, 4094, "access VLAN of "+name)
	ids := []uint16{}
	if f.trunk != "" {
		list, ok := numbers(f.trunk, 4094)
		if !ok {
			p.odd("trunk of "+name, f.trunk)
			return native, tagged
		}
		for _, id := range list {
			ids = append(ids, uint16(id))
		}
		slices.Sort(ids)
		ids = slices.Compact(ids)
	}
	return native, intent.Some(ids)
}

func (p *parser) port(name string) {
	f := p.ifaces[name]
	if f == nil {
		f = &iface{}
	}
	var hint intent.Port
	if h := p.hint.PortNamed(name); h != nil {
		hint = *h
	}
	out := intent.Port{Name: name, Verify: hint.Verify, Enabled: intent.Opt[bool]{State: intent.Default}}
	if f.shutdown != "" {
		out.Enabled = intent.Some(f.shutdown == "no shutdown")
	}
	out.Mbps, out.Autoneg = p.speed(name, f.speed)
	out.FEC = intent.Opt[intent.FEC]{State: intent.Default}
	if f.fec != "" {
		out.FEC = intent.Opt[intent.FEC]{}
		for mode, word := range fecs {
			if word == f.fec {
				out.FEC = intent.Some(mode)
			}
		}
		switch {
		case f.fec == "off" || f.fec == "none":
			out.FEC = intent.Some(intent.FECNone)
		case !out.FEC.IsSet():
			p.odd("fec of "+name, f.fec)
		}
	}
	mtu := f.mtu
	if lag := p.ifaces["PortChannel"+f.group]; f.group != "" && lag != nil && mtu == "" {
		mtu = lag.mtu // a member has that of its PortChannel
	}
	out.MTU = count[uint16](p, mtu, maxMTU, "mtu of "+name)
	out.Native, out.Tagged = p.switched(name, f)
	out.Deny = p.denied(f)
	out.CableMm = p.cable(name, f.cable, &hint)
	if hint.Breakout != "" || frontPort(&intent.Port{Name: name}) != "" {
		at := hint
		at.Name = name
		out.Breakout = p.breakouts[frontPort(&at)]
	}
	p.quality(name, f, &hint, &out)
	p.seen.Ports = append(p.seen.Ports, out)
}

// speed reads a speed. One that is fixed is without negotiation.
func (p *parser) speed(name, text string) (mbps intent.Opt[uint32], autoneg intent.Opt[bool]) {
	switch {
	case text == "":
		return intent.Opt[uint32]{State: intent.Default}, intent.Opt[bool]{State: intent.Default}
	case len(text) >= len("auto") && text[:len("auto")] == "auto":
		return intent.Opt[uint32]{State: intent.Default}, intent.Some(true)
	}
	return count[uint32](p, text, 10_000_000, "speed of "+name), intent.Some(false)
}

// cable reads a length, which is the intent's where that would be written so.
func (p *parser) cable(name, text string, hint *intent.Port) intent.Opt[uint32] {
	if text == "" {
		return intent.Opt[uint32]{State: intent.Default}
	}
	if hint.CableMm.IsSet() && cableWord(hint.CableMm.Value) == text {
		return hint.CableMm
	}
	for _, c := range cableWords {
		if c.word == text {
			return intent.Some(c.mm)
		}
	}
	p.odd("cable-length of "+name, text)
	return intent.Opt[uint32]{}
}

func (p *parser) pool() {
	p.seen.Buffer.HeadroomBytes = count[uint64](p, p.config.pool, 1<<32-1, "shared-headroom-size")
}
