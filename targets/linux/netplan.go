package linux

import (
	"net/netip"
	"strconv"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// yaml writes a netplan file. Every scalar in it is a number, a word of
// netplan, or text in double quotes that limits has restricted to letters,
// digits, dot, colon, slash, underscore and hyphen.
type yaml struct{ f *emit.File }

func (y yaml) put(p intent.Path, depth int, parts ...string) {
	const deepest = "            "
	var line [8]string
	line[0] = deepest[:2*depth]
	n := copy(line[1:], parts)
	y.f.Put(p, line[:1+n]...)
}

// str is a text in double quotes, which limits has made fit for them.
func str(s string) string { return `"` + s + `"` }

func (h *host) netplan(out *emit.Out) {
	f := out.File(netplanFile, 0o600, emit.Data)
	f.Grow(256 + 640*(len(h.Ports)+len(h.LAGs)+len(h.Ifaces)/2))
	h.header(f)
	y := yaml{f}
	y.put(intent.Path{}, 0, "network:")
	y.put(intent.Path{}, 1, "version: 2")
	y.put(intent.Path{}, 1, "renderer: networkd")
	tables := map[*intent.Iface]int{}
	for _, r := range h.rails() {
		tables[r.iface] = r.table
	}
	first := true
	for i := range h.Ports {
		if h.Ports[i].Verify {
			continue
		}
		if first {
			y.put(intent.Path{}, 1, "ethernets:")
		}
		first = false
		h.netplanPort(y, &h.Ports[i], tables)
	}
	for i := range h.LAGs {
		if i == 0 {
			y.put(intent.Path{}, 1, "bonds:")
		}
		h.netplanBond(y, &h.LAGs[i], tables)
	}
	first = true
	for i := range h.Ifaces {
		v := &h.Ifaces[i]
		if v.Kind != intent.VLANDev {
			continue
		}
		if first {
			y.put(intent.Path{}, 1, "vlans:")
		}
		first = false
		here := func(field string) intent.Path { return at(intent.OfIface, v.Name, field) }
		y.put(here("name"), 2, str(v.Name), ":")
		y.put(here("vlan"), 3, "id: ", itoa(v.VLAN))
		y.put(here("on"), 3, "link: ", str(v.On))
		if v.MTU.IsSet() {
			y.put(here("mtu"), 3, "mtu: ", itoa(v.MTU.Value))
		}
		y.optional(v.RDMA || !v.Addresses.IsSet())
		y.addresses(v, tables[v])
	}
}

func (h *host) netplanPort(y yaml, p *intent.Port, tables map[*intent.Iface]int) {
	here := func(field string) intent.Path { return at(intent.OfPort, p.Name, field) }
	y.put(here("name"), 2, str(p.Name), ":")
	if p.NIC.MAC != "" {
		y.put(here("mac"), 3, "match:")
		y.put(here("mac"), 4, "macaddress: ", str(p.NIC.MAC))
		y.put(here("name"), 3, "set-name: ", str(p.Name))
	}
	if p.Enabled.IsSet() && !p.Enabled.Value {
		y.put(here("enabled"), 3, `activation-mode: "off"`)
	}
	c, _ := h.carrier(p.Name)
	mtu := h.linkMTU(c)
	if b := h.bond[p.Name]; b != nil && !mtu.IsSet() {
		mtu = b.MTU
	}
	if mtu.IsSet() {
		y.put(here("mtu"), 3, "mtu: ", itoa(mtu.Value))
	}
	if p.NIC.VFs.IsSet() {
		v := p.NIC.VFs.Value
		y.put(here("vfs"), 3, "virtual-function-count: ", itoa(v.Count))
		if v.Mode != "" {
			y.put(here("vfs"), 3, "embedded-switch-mode: ", v.Mode)
		}
		if h.bond[p.Name] != nil && v.Mode == "switchdev" {
			y.put(here("vfs"), 3, "delay-virtual-functions-rebind: true")
		}
	}
	y.optional(h.rdma(p) || len(h.on(p.Name, intent.Direct)) == 0)
	y.untagged(h, p.Name, tables)
}

// optional keeps the boot from waiting for a rail whose switch is down, and for
// a device without an address, which never gets as far as the wait demands: the
// default of systemd-networkd-wait-online is two minutes.
func (y yaml) optional(yes bool) {
	if yes {
		y.put(intent.Path{}, 3, "optional: true")
	}
}

// untagged writes the addresses of a port or bond itself, or that it has none: below
// a bond or VLAN devices nothing belongs on it. Of any other it is not known what it
// is for, and the host's own word about it holds.
func (y yaml) untagged(h *host, name string, tables map[*intent.Iface]int) {
	switch list := h.on(name, intent.Direct); {
	case len(list) > 0:
		y.addresses(list[0], tables[list[0]])
	case h.bond[name] != nil || len(h.on(name, intent.VLANDev)) > 0:
		y.noAddresses()
	}
}

// noAddresses switches off all that would give an interface addresses.
func (y yaml) noAddresses() { y.addresses(&intent.Iface{Addresses: intent.Some([]netip.Prefix{})}, 0) }

func (h *host) netplanBond(y yaml, g *intent.LAG, tables map[*intent.Iface]int) {
	here := func(field string) intent.Path { return at(intent.OfLAG, g.Name, field) }
	y.put(here("name"), 2, str(g.Name), ":")
	y.put(here("members"), 3, "interfaces:")
	for _, m := range g.Members {
		y.put(here("members"), 4, "- ", str(m))
	}
	c, _ := h.carrier(g.Name)
	if mtu := h.linkMTU(c); mtu.IsSet() {
		y.put(here("mtu"), 3, "mtu: ", itoa(mtu.Value))
	}
	y.put(here("mode"), 3, "parameters:")
	y.put(here("mode"), 4, "mode: ", bondModes[g.Mode].netplan)
	if g.Rate != "" {
		y.put(here("rate"), 4, "lacp-rate: ", g.Rate)
	}
	if g.Hash != "" {
		y.put(here("hash"), 4, "transmit-hash-policy: ", g.Hash)
	}
	// Without it a bond never sees a link go down: the kernel's default is 0.
	y.put(here("mode"), 4, "mii-monitor-interval: 100")
	y.optional(len(c.members) > 0 && h.rdma(c.members[0]) || len(h.on(g.Name, intent.Direct)) == 0)
	y.untagged(h, g.Name, tables)
}

// addresses writes what an interface has itself, and switches off what would
// add to it: DHCP, router advertisements, and link-local addresses where IPv6,
// which needs them for neighbour discovery, is not used.
func (y yaml) addresses(f *intent.Iface, table int) {
	here := func(field string) intent.Path {
		if f.Name == "" {
			return intent.Path{}
		}
		return at(intent.OfIface, f.Name, field)
	}
	if !f.Addresses.IsSet() {
		return // they are not managed: DHCP, or another file, may give them
	}
	list := f.Addresses.Or(nil)
	v6 := false
	for _, a := range list {
		v6 = v6 || a.Addr().Is6()
	}
	y.put(here("address"), 3, "dhcp4: false")
	y.put(here("address"), 3, "dhcp6: false")
	y.put(here("address"), 3, "accept-ra: false")
	if v6 {
		y.put(here("address"), 3, "link-local: [ipv6]")
	} else {
		y.put(here("address"), 3, "link-local: []")
	}
	if len(list) == 0 {
		return
	}
	y.put(here("address"), 3, "addresses:")
	for _, a := range list {
		y.put(here("address"), 4, "- ", str(a.String()))
	}
	if table != 0 {
		y.routes(f, table, here)
	}
}

// routes gives an interface a table of its own, for all that is sent from its
// addresses. The subnet stands in it too: the rule comes before the main table,
// and neighbours would be sent to the gateway.
func (y yaml) routes(f *intent.Iface, table int, here func(string) intent.Path) {
	y.put(here("gateway"), 3, "routes:")
	seen := map[netip.Prefix]bool{}
	for _, a := range f.Addresses.Value {
		if n := a.Masked(); !seen[n] {
			seen[n] = true
			y.put(here("address"), 4, "- to: ", str(n.String()))
			y.put(here("address"), 5, "scope: link")
			y.put(here("address"), 5, "table: ", itoa(table))
		}
	}
	if f.Gateway.IsSet() {
		y.put(here("gateway"), 4, "- to: ", str(anywhere(f.Gateway.Value)))
		y.put(here("gateway"), 5, "via: ", str(f.Gateway.Value.String()))
		y.put(here("gateway"), 5, "table: ", itoa(table))
	}
	y.put(here("gateway"), 3, "routing-policy:")
	for _, a := range f.Addresses.Value {
		y.put(here("address"), 4, "- from: ", str(netip.PrefixFrom(a.Addr(), a.Addr().BitLen()).String()))
		y.put(here("address"), 5, "table: ", itoa(table))
		y.put(here("address"), 5, "priority: ", itoa(table))
	}
}

// anywhere is the default route, spelt so that every version of netplan takes it.
func anywhere(gateway netip.Addr) string {
	if gateway.Is4() {
		return "0.0.0.0/0"
	}
	return "::/0"
}

// header starts a file in which the number sign begins a comment.
func (h *host) header(f *emit.File) {
	for _, line := range h.head {
		f.Put(intent.Path{}, "# ", line)
	}
}

func itoa[T ~uint8 | ~uint16 | ~uint32 | ~int](n T) string { return strconv.Itoa(int(n)) }
