package cumulus

import (
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
)

// parse is Target.Parse. Everything of NVUE's tree that this target writes is
// read, for every port. What is absent there is at the vendor's default, which
// is stated where the documents state it. The intent d lends the names of its
// objects and the exact values of what NVUE rounds, where the device has what d
// would be written as.
func parse(d *intent.Device, c targets.Captured) (*intent.Device, diag.List) {
	captured, ok := c.Files[running]
	if !ok {
		return nil, diag.List{{Severity: diag.Warning, Summary: "there is no " + running, Help: "capture it with " + capture}}
	}
	doc := decode(running, captured, c.Label)
	if doc.list.HasErrors() {
		return nil, doc.list
	}
	seen, _ := doc.device(d)
	doc.reaches(d, seen)
	return seen, doc.list
}

// reaches warns of what a change of this switch does beyond what is declared. The RoCE
// mode is that of every port, so ports that nobody declared have it, or lose it, with
// the others; so are the profiles of all ports; and the pools are the switch's.
func (d *document) reaches(want, seen *intent.Device) {
	if want == nil || want.Verify {
		return
	}
	managed, pauses := false, false
	for i := range want.Ports {
		if q := want.QoSNamed(want.Ports[i].QoS); q != nil && !want.Ports[i].Verify {
			managed, pauses = managed || q.PFC.IsSet(), pauses || q.PFC.Or(0) != 0
		}
	}
	var others []string
	for i := range seen.Ports {
		if p := want.PortNamed(seen.Ports[i].Name); p == nil || p.Verify {
			others = append(others, seen.Ports[i].Name)
		}
	}
	on, roce := hasRoCE(d.root), isRoCE(want)
	toggles := managed && on != roce
	var goes *node // what a change unsets, asked for where it may matter
	for _, kind := range d.root.items("qos") {
		profile := d.root.get("qos", kind, global)
		if profile == nil || len(others) == 0 {
			continue
		}
		if goes == nil {
			goes = stale(want, d, build(want))
		}
		if goes.get("qos", kind, global) != nil {
			d.warn(d.place[profile], fmt.Sprintf("qos %s %s goes, as ports that rocec writes are to be without it, and %s, which it does not write, lose it too", kind, global, joined(others)))
		}
	}
	if toggles && len(others) > 0 {
		change := "is switched off, and %s, which rocec does not write, lose its trust, PFC, marking and shares too"
		if roce {
			change = "is switched on, and %s, which rocec does not write, get its trust, PFC, marking and shares too"
		}
		d.list.Add(diag.Diagnostic{
			Severity: diag.Warning, Summary: "qos roce " + fmt.Sprintf(change, joined(others)),
			Help: "declare those that carry RDMA, with their qos", Labels: d.labels(d.place[d.root.get("qos", "roce")]),
		})
	}
	if roce || !pauses {
		return
	}
	for _, pool := range pools {
		if n := d.root.get("qos", "traffic-pool", pool, "memory-percent"); n != nil && n.text != poolPercent {
			d.warn(d.place[n], fmt.Sprintf("pool %s has %s %% of the packet buffer: the next change of this switch gives it %s %%", pool, n.text, poolPercent))
		}
	}
}

// device is the device that a configuration makes.
func (doc *document) device(d *intent.Device) (*intent.Device, diag.List) {
	if d == nil {
		d = &intent.Device{Version: intent.Version, Kind: intent.Switch, OS: intent.OS{Name: "cumulus-linux"}}
	}
	p := &parser{document: doc, hint: d, qos: map[string]int{}, seen: &intent.Device{
		Version: intent.Version, Name: d.Name, Kind: d.Kind, OS: d.OS, Model: d.Model, ASIC: d.ASIC, Options: maps.Clone(d.Options),
	}}
	p.vlans()
	p.mlag()
	p.interfaces()
	p.alpha()
	p.seen.Aging.MACSeconds = count[uint32](p, p.root, maxAgeing, "bridge", "domain", bridge, "ageing")
	p.seen.Hash.Seed = count[uint32](p, p.root, math.MaxUint32, "system", "forwarding", "hash-seed")
	return p.seen, doc.list
}

type parser struct {
	*document
	hint *intent.Device
	seen *intent.Device
	qos  map[string]int // index in seen.QoS by what it was made of
}

// count reads a number of at most limit: set, at the default when it is absent,
// unmanaged when it is no number.
func count[T uint8 | uint16 | uint32](p *parser, n *node, limit uint64, keys ...string) intent.Opt[T] {
	k := n.get(keys...)
	if k == nil {
		return intent.Opt[T]{State: intent.Default}
	}
	v, err := strconv.ParseUint(k.text, 10, 64)
	if err != nil || v > limit {
		if k.text != "auto" {
			p.odd(k, k.key)
		}
		return intent.Opt[T]{}
	}
	return intent.Some(T(v))
}

// flag reads a flag in any of NVUE's spellings.
func (p *parser) flag(n *node, keys ...string) intent.Opt[bool] {
	k := n.get(keys...)
	if k == nil {
		return intent.Opt[bool]{State: intent.Default}
	}
	switch k.text {
	case "on", "enable", "enabled", "true", "up":
		return intent.Some(true)
	case "off", "disable", "disabled", "false", "down":
		return intent.Some(false)
	}
	p.odd(k, k.key)
	return intent.Opt[bool]{}
}

// enabled reads the flag of a feature as a whole, enable or state.
func (p *parser) enabled(n *node, keys ...string) intent.Opt[bool] {
	if on := p.flag(n, append(slices.Clone(keys), "state")...); on.State != intent.Default {
		return on
	}
	return p.flag(n, append(slices.Clone(keys), "enable")...)
}

func (p *parser) vlans() {
	for _, key := range p.root.items("bridge", "domain", bridge, "vlan") {
		id, ok := p.vlan(p.root.get("bridge", "domain", bridge, "vlan", key), key)
		if !ok {
			continue
		}
		v := intent.VLAN{ID: id}
		if i := slices.IndexFunc(p.hint.Ifaces, func(f intent.Iface) bool { return f.Kind == intent.SVI && f.VLAN == id && !f.MTU.IsSet() }); i >= 0 {
			v.MTU = count[uint16](p, p.root, maxMTU, "interface", vlanName(id), "link", "mtu")
		}
		p.seen.VLANs = append(p.seen.VLANs, v)
	}
}

func (p *parser) vlan(n *node, key string) (uint16, bool) {
	id, err := strconv.ParseUint(key, 10, 16)
	if err != nil || id == 0 || id > maxVLAN {
		p.pass(n, "VLAN "+strconv.Quote(key)+" is none")
		return 0, false
	}
	return uint16(id), true
}

// mlag reads the pair. The peer's name and the address of this side stand
// nowhere, so the intent lends them.
func (p *parser) mlag() {
	n := p.root.get("mlag")
	if n == nil || !p.enabled(n).Or(true) {
		return
	}
	m := &intent.MLAG{}
	if h := p.hint.MLAG; h != nil {
		m.Peer, m.Source = h.Peer, h.Source
	}
	if hi, lo, ok := strings.Cut(strings.TrimPrefix(strings.ToLower(n.value("mac-address")), "44:38:39:ff:"), ":"); ok {
		if v, err := strconv.ParseUint(hi+lo, 16, 16); err == nil {
			m.Domain = uint16(v)
		}
	}
	for _, backup := range n.items("backup") {
		a, err := netip.ParseAddr(backup)
		switch {
		case err != nil:
			p.pass(n.get("backup", backup), "the backup address "+strconv.Quote(backup)+" is none")
		case !m.PeerAddress.IsValid():
			m.PeerAddress = a
			m.OutOfBand = n.value("backup", backup, "vrf") == mgmtVRF
		}
	}
	if p.root.get("interface", peerlink) != nil {
		m.PeerLink = peerlink
	}
	p.seen.MLAG = m
}

// interfaces reads ports, bonds and addresses in the order of the intent where
// that has them, else by name.
func (p *parser) interfaces() {
	names := p.root.items("interface")
	ports := map[string]bool{}
	for i := range p.hint.Ports { // a port exists whether it is configured or not
		ports[p.hint.Ports[i].Name] = true
	}
	for _, name := range names {
		if portName.MatchString(name) {
			ports[name] = true
		}
	}
	maps.DeleteFunc(ports, func(name string, _ bool) bool { return !exists(p.root, name) })
	for _, name := range slices.SortedFunc(maps.Keys(ports), byName) {
		p.port(name)
	}
	for _, name := range names {
		n := p.root.get("interface", name)
		p.foreign(n)
		for _, mode := range n.items("link", "breakout") {
			if !breakoutMode.MatchString(mode) {
				p.pass(n.get("link", "breakout", mode), fmt.Sprintf("the breakout %q of %s is none", mode, name))
			}
		}
		switch kind := n.value("type"); {
		case kind == "bond" || kind == peerlink || kind == "" && n.get("bond") != nil:
			p.bond(name, n)
		case kind == "svi" || kind == "" && sviName.MatchString(name):
			p.svi(name, n)
		case name == "lo":
			p.address(intent.Iface{Name: "lo", Kind: intent.Loopback}, n)
		}
		if n.get("vlan") == nil && n.value("type") != "eth" && name != "lo" && p.addressed(n) {
			p.address(intent.Iface{Name: name, Kind: intent.Routed, On: name}, n)
		}
	}
}

// exists reports whether a switch has a port by how it is split: a whole one is
// not there beside its children, nor where it is disabled for a neighbour's, and
// a child only if there are as many.
func exists(root *node, name string) bool {
	whole, child := name, -1
	if parent := parentOf(name); parent != "" {
		whole = parent
		_, child = portID(name)
	}
	for _, mode := range root.items("interface", whole, "link", "breakout") {
		if n, isSplit := strings.CutSuffix(mode, "x"); n != "1" {
			children, _ := strconv.Atoi(n)
			return isSplit && child >= 0 && child < children
		}
	}
	return child < 0
}

func (p *parser) port(name string) {
	n := p.root.get("interface", name)
	hint := portOf(p.hint, name)
	out := intent.Port{
		Name: name, Verify: hint.Verify, MTU: count[uint16](p, n, maxMTU, "link", "mtu"), Autoneg: p.flag(n, "link", "auto-negotiate"),
		Enabled: intent.Opt[bool]{State: intent.Default}, Mbps: intent.Opt[uint32]{State: intent.Default}, FEC: intent.Opt[intent.FEC]{State: intent.Default},
	}
	switch state := n.get("link", "state"); {
	case state == nil:
	case state.get("up") != nil || state.text == "up":
		out.Enabled = intent.Some(true)
	case state.get("down") != nil || state.text == "down":
		out.Enabled = intent.Some(false)
	}
	if speed := n.get("link", "speed"); speed != nil && speed.text != "auto" {
		out.Mbps = lookup(p, speed, speeds, "speed of "+name)
	}
	if fec := n.get("link", "fec"); fec != nil {
		out.FEC = lookup(p, fec, map[intent.FEC]string{intent.FECNone: "off", intent.FECRS: "rs", intent.FECFC: "baser", intent.FECAuto: "auto"}, "fec of "+name)
	}
	p.split(name, &hint, &out)
	out.Native, out.Tagged = p.members(n)
	out.Deny = p.denied(n)
	p.quality(n, &hint, &out)
	p.seen.Ports = append(p.seen.Ports, out)
}

// lookup finds what a word stands for.
func lookup[T comparable](p *parser, n *node, words map[T]string, what string) intent.Opt[T] {
	for v, w := range words {
		if strings.EqualFold(w, n.text) {
			return intent.Some(v)
		}
	}
	p.odd(n, what)
	return intent.Opt[T]{}
}

// split reads the split that a first child belongs to. NVUE has a number of
// children and no speed, which is that of the children.
func (p *parser) split(name string, hint, out *intent.Port) {
	parent := parentOf(name)
	if parent == "" || name != parent+"s0" {
		return
	}
	for _, mode := range p.root.items("interface", parent, "link", "breakout") {
		count, mbps, ok := splitOf(hint.Breakout)
		switch {
		case mode == "1x":
		case ok && mode == strconv.Itoa(count)+"x":
			out.Breakout = hint.Breakout
			if !hint.Mbps.IsSet() && out.Mbps == intent.Some(mbps) {
				out.Mbps = intent.Opt[uint32]{}
			}
		case out.Mbps.IsSet() && splitMode.MatchString(mode+speeds[out.Mbps.Value]):
			out.Breakout = mode + speeds[out.Mbps.Value]
		}
	}
}

// members reads the VLANs of a port or bond. One that names none, or all, has those
// of the bridge.
func (p *parser) members(n *node) (native intent.Opt[uint16], tagged intent.Opt[[]uint16]) {
	native.State = intent.Default
	domain := n.get("bridge", "domain", bridge)
	if domain == nil {
		return native, intent.Some([]uint16{})
	}
	if access := count[uint16](p, domain, maxVLAN, "access"); access.IsSet() {
		return access, intent.Some([]uint16{})
	}
	list := domain
	if domain.get("vlan") == nil || domain.get("vlan", "all") != nil {
		list = p.root.get("bridge", "domain", bridge)
	}
	if untagged := domain.get("untagged"); untagged == nil {
		native = intent.Some(uint16(1))
		if own := p.root.value("bridge", "domain", bridge, "untagged"); own != "" {
			native = count[uint16](p, p.root, maxVLAN, "bridge", "domain", bridge, "untagged")
		}
	} else if untagged.text != "none" {
		native = count[uint16](p, domain, maxVLAN, "untagged")
	}
	ids := []uint16{}
	for _, key := range list.items("vlan") {
		if id, ok := p.vlan(list.get("vlan", key), key); ok && !(native.IsSet() && native.Value == id) {
			ids = append(ids, id)
		}
	}
	return native, intent.Some(ids)
}

func (p *parser) bond(name string, n *node) {
	g := intent.LAG{Name: name, Members: n.items("bond", "member"), Mode: "lacp", Rate: n.value("bond", "lacp-rate"), MTU: count[uint16](p, n, maxMTU, "link", "mtu")}
	if mode := n.value("bond", "mode"); mode != "" {
		g.Mode = mode
	}
	if g.Members == nil {
		g.Members = []string{}
	}
	g.Native, g.Tagged = p.members(n)
	g.Deny = p.denied(n)
	id := count[uint16](p, n, 65535, "bond", "mlag", "id")
	g.MLAG = id.Or(0) > 0 && p.enabled(n, "bond", "mlag").Or(true)
	if g.ID = id.Or(0); !g.MLAG {
		if i := slices.IndexFunc(p.hint.LAGs, func(h intent.LAG) bool { return h.Name == name }); i >= 0 {
			g.ID = p.hint.LAGs[i].ID
		}
	}
	p.seen.LAGs = append(p.seen.LAGs, g)
}

func (p *parser) svi(name string, n *node) {
	id := count[uint16](p, n, maxVLAN, "vlan")
	if m := sviName.FindStringSubmatch(name); !id.IsSet() && m != nil {
		v, _ := strconv.ParseUint(m[1], 10, 16)
		id = intent.Some(uint16(v))
	}
	if !id.IsSet() || id.Value == 0 {
		return
	}
	f := intent.Iface{Name: name, Kind: intent.SVI, VLAN: id.Value, Unique: p.seen.MLAG != nil && p.addressed(n)}
	if h := p.known(func(h *intent.Iface) bool { return h.Kind == intent.SVI && h.VLAN == f.VLAN }); h == nil || h.MTU.IsSet() {
		f.MTU = count[uint16](p, n, maxMTU, "link", "mtu")
	}
	p.address(f, n)
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

// families are the keys over addresses, of all versions.
var families = []string{"ip", "ipv4", "ipv6"}

// vrfs are the keys of an interface's VRF, of all versions.
var vrfs = [][]string{{"vrf"}, {"ip", "vrf"}}

func (p *parser) addressed(n *node) bool {
	return slices.ContainsFunc(families, func(f string) bool { return len(n.items(f, "address")) > 0 })
}

// address completes an interface. Its name is the intent's where that has one
// in the same place.
func (p *parser) address(f intent.Iface, n *node) {
	if h := p.known(func(h *intent.Iface) bool { return h.Kind == f.Kind && place(h) == place(&f) }); h != nil {
		f.Name, f.On = h.Name, h.On
	}
	list := []netip.Prefix{}
	for _, family := range families {
		for _, key := range n.items(family, "address") {
			if a, err := netip.ParsePrefix(key); err == nil {
				list = append(list, a)
			} else {
				p.passAddress(&f, n, family, key)
			}
		}
	}
	f.Addresses = intent.Some(list)
	for _, keys := range vrfs {
		if vrf := n.value(keys...); vrf != "" && vrf != "default" {
			f.VRF = vrf
		}
	}
	p.seen.Ifaces = append(p.seen.Ifaces, f)
}

func (p *parser) alpha() {
	n := p.root.get("qos", "advance-buffer-config", global, "ingress-lossless-buffer", "shared-alpha")
	p.seen.Buffer.AlphaExponent.State = intent.Default
	if n == nil {
		return
	}
	i := slices.Index(alphas, n.text)
	if i < 0 {
		p.odd(n, "shared-alpha of the lossless buffer")
		p.seen.Buffer.AlphaExponent = intent.Opt[int8]{}
		return
	}
	p.seen.Buffer.AlphaExponent = intent.Some(int8(i + minAlpha))
}
