package linux

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// host is a device with its names resolved.
type host struct {
	*intent.Device
	tool string
	head []string // of every file, made once: it holds a digest
	port map[string]*intent.Port
	lag  map[string]*intent.LAG
	bond map[string]*intent.LAG // by member
	qos  map[string]*intent.QoS
}

func newHost(d *intent.Device) *host {
	h := &host{
		Device: d, tool: qosTool.Value(d),
		port: map[string]*intent.Port{}, lag: map[string]*intent.LAG{}, bond: map[string]*intent.LAG{}, qos: map[string]*intent.QoS{},
	}
	for i := range d.Ports {
		h.port[d.Ports[i].Name] = &d.Ports[i]
	}
	for i := range d.LAGs {
		l := &d.LAGs[i]
		h.lag[l.Name] = l
		for _, m := range l.Members {
			h.bond[m] = l
		}
	}
	for i := range d.QoS {
		h.qos[d.QoS[i].Name] = &d.QoS[i]
	}
	return h
}

// carrier is the port or bond that an interface sits on, by what both have.
type carrier struct {
	name    string
	members []*intent.Port // the port itself, or those of the bond
	mtu     intent.Opt[uint16]
	native  intent.Opt[uint16]
	tagged  intent.Opt[[]uint16]
}

func (h *host) carrier(name string) (carrier, bool) {
	if p, ok := h.port[name]; ok {
		return carrier{name, []*intent.Port{p}, p.MTU, p.Native, p.Tagged}, true
	}
	l, ok := h.lag[name]
	if !ok {
		return carrier{}, false
	}
	c := carrier{name: name, mtu: l.MTU, native: l.Native, tagged: l.Tagged}
	for _, m := range l.Members {
		if p := h.port[m]; p != nil {
			c.members = append(c.members, p)
		}
	}
	return c, true
}

// on lists the interfaces of a kind on a port or bond.
func (h *host) on(name string, kind intent.IfaceKind) []*intent.Iface {
	var list []*intent.Iface
	for i := range h.Ifaces {
		if f := &h.Ifaces[i]; f.On == name && f.Kind == kind {
			list = append(list, f)
		}
	}
	return list
}

// carries is the name of what carries a port's addresses: its bond or itself.
func (h *host) carries(p *intent.Port) string {
	if l := h.bond[p.Name]; l != nil {
		return l.Name
	}
	return p.Name
}

// rdma reports whether a port carries RDMA: itself, or for an interface on it.
func (h *host) rdma(p *intent.Port) bool {
	if p.NIC == nil {
		return false
	}
	if p.NIC.RDMA.Or(false) {
		return true
	}
	on := h.carries(p)
	for i := range h.Ifaces {
		if f := &h.Ifaces[i]; f.RDMA && f.On == on {
			return true
		}
	}
	return false
}

// device is the name of the Linux device that an interface is.
func device(f *intent.Iface) string {
	if f.Kind == intent.Direct {
		return f.On
	}
	return f.Name
}

// linkMTU is the MTU of the link under an interface, as far as it is set.
func (h *host) linkMTU(c carrier) intent.Opt[uint16] {
	if c.mtu.IsSet() {
		return c.mtu
	}
	for _, f := range h.on(c.name, intent.Direct) {
		if f.MTU.IsSet() {
			return f.MTU
		}
	}
	return intent.Opt[uint16]{}
}

// rail is an interface whose traffic needs a routing table of its own.
type rail struct {
	iface *intent.Iface
	table int
}

// firstTable is above what distributions and other tools number by hand.
const firstTable = 1001

// rails lists interfaces with a gateway, and those that share a subnet: the
// main table would send all of a subnet through one of them.
func (h *host) rails() []rail {
	var list []rail
	for i := range h.Ifaces {
		f := &h.Ifaces[i]
		if f.Gateway.IsSet() || h.shared(f) {
			list = append(list, rail{f, firstTable + len(list)})
		}
	}
	return list
}

func (h *host) shared(f *intent.Iface) bool {
	for i := range h.Ifaces {
		if &h.Ifaces[i] != f && overlap(f, &h.Ifaces[i]) {
			return true
		}
	}
	return false
}

func overlap(a, b *intent.Iface) bool {
	for _, x := range a.Addresses.Or(nil) {
		if slices.ContainsFunc(b.Addresses.Or(nil), x.Overlaps) {
			return true
		}
	}
	return false
}

// railFolder has a folder for each device, and railSettings are those of its files that
// tie ARP to the interface which owns an address: Documentation/networking/ip-sysctl.rst.
const railFolder = "net/ipv4/conf/"

var railSettings = []struct{ name, value string }{{"arp_ignore", "1"}, {"arp_announce", "2"}, {"rp_filter", "2"}}

// multiRail reports whether ARP has to be tied to the interface that owns an address.
func (h *host) multiRail() []string {
	var names []string
	for i := range h.Ifaces {
		f := &h.Ifaces[i]
		if slices.ContainsFunc(f.Addresses.Or(nil), func(a netip.Prefix) bool { return a.Addr().Is4() }) {
			names = append(names, device(f))
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) < 2 {
		return nil
	}
	return names
}

// roceTOS is the TOS byte of RDMA that rdma_cm sets up, DSCP and ECN field,
// and whether the QoS says one. ECT(0) is 2 (RFC 3168, 5).
func roceTOS(q *intent.QoS) (uint8, bool) {
	for _, m := range q.Marks {
		if m.Carries == "rdma" && !m.Application && (m.DSCP.IsSet() || m.ECT) {
			return tos(m), true
		}
	}
	return 0, false
}

func tos(m intent.Mark) uint8 {
	t := m.DSCP.Or(0) << 2
	if m.ECT {
		t |= 2
	}
	return t
}

// kernelPriority is the priority that Linux gives to RDMA with a TOS byte:
// rt_tos2priority, ip_tos2prio of net/ipv4/route.c. The second is false where
// other traffic has it as well, or where it depends on the ECN field.
func kernelPriority(tos uint8) (uint8, bool) {
	switch tos & 0x18 >> 3 {
	case 1: // bulk
		return 2, true
	case 2: // interactive
		return 6, true
	case 3: // interactive bulk
		return 4, true
	}
	return 0, false
}

// egress is the PCP by kernel priority of a VLAN device: RDMA by the priority
// of its TOS (iboe_tos_to_sl of drivers/infiniband/core/cma.c), applications by
// the one they set.
func egress(q *intent.QoS) map[uint8]uint8 {
	m := map[uint8]uint8{}
	for _, k := range q.Marks {
		if k.Carries == "rdma" && !k.Application && k.DSCP.IsSet() {
			if p, ok := kernelPriority(tos(k)); ok {
				m[p] = k.Priority
			}
		}
	}
	for _, k := range q.Marks {
		if _, taken := m[k.Priority]; !taken && k.Application && k.Priority != 0 {
			m[k.Priority] = k.Priority
		}
	}
	return m
}

// pairs writes a map of priorities as FROM, a separator and TO, ascending.
func pairs(m map[uint8]uint8, sep string) []string {
	var list []string
	for from := range uint8(8) {
		if to, ok := m[from]; ok && to != 0 {
			list = append(list, strconv.Itoa(int(from))+sep+strconv.Itoa(int(to)))
		}
	}
	return list
}

// quote makes one word of the shell of any text that passed the target's check.
// Most are plain, and the quoting of what is not costs a parser.
func quote(s string) string {
	plain, blank := true, false
	for i := 0; i < len(s) && plain; i++ {
		c := s[i]
		blank = blank || c == ' '
		plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == ' ' || c == '.' || c == ':' || c == '_' || c == '-' || c == '/' || c == ','
	}
	if plain && s != "" {
		if blank {
			return "'" + s + "'"
		}
		return s
	}
	q, err := emit.Shell(s)
	if err != nil {
		return "''" // only for NUL, which the check refuses
	}
	return q
}

func at(o intent.Object, name, field string) intent.Path {
	return intent.Path{Object: o, Name: name, Field: field}
}
