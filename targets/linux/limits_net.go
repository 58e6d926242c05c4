package linux

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// bondModes are the modes in which mlx5 makes one RDMA device of a bond
// (NVIDIA RoCE LAG: 1, 2 and 4), and what /proc/net/bonding calls them.
var bondModes = map[string]struct{ netplan, proc string }{
	"lacp":          {"802.3ad", "IEEE 802.3ad Dynamic link aggregation"},
	"static":        {"balance-xor", "load balancing (xor)"},
	"active_backup": {"active-backup", "fault-tolerance (active-backup)"},
}

var bondHashes = []string{"layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4"}

func (l *limit) lagOf(g *intent.LAG) {
	here := func(field string) intent.Path { return at(intent.OfLAG, g.Name, field) }
	if _, ok := bondModes[g.Mode]; !ok {
		return // features refused it
	}
	if g.ID != 0 && !strings.HasSuffix(g.Name, strconv.Itoa(int(g.ID))) {
		l.refuse(fmt.Sprintf("bond %q has the number %d, and Linux bonds have only a name", g.Name, g.ID), "remove the number", here("id"))
	}
	if g.Hash != "" && (g.Mode == "active_backup" || !slices.Contains(bondHashes, g.Hash)) {
		l.refuse(fmt.Sprintf("bond %q of mode %s has the hash_policy %q", g.Name, g.Mode, g.Hash),
			"with lacp or static, write one of "+strings.Join(bondHashes, ", "), here("hash"))
	}
	if g.MLAG && g.Mode != "lacp" {
		l.refuse(fmt.Sprintf("bond %q goes to an MLAG pair in mode %s, in which nothing shows a leg that is not bundled", g.Name, g.Mode),
			`write mode = "lacp"`, here("mlag"), here("mode"))
	}
	if len(g.Members) == 0 {
		l.refuse(fmt.Sprintf("bond %q has no member", g.Name), "name its ports", here("members"))
	}
	l.members(g)
	l.vlans(g.Name, g.Native, g.Tagged, intent.OfLAG)
}

func (l *limit) members(g *intent.LAG) {
	here := at(intent.OfLAG, g.Name, "members")
	var first *intent.Port
	for _, m := range g.Members {
		p := l.port[m]
		if p == nil || p.NIC == nil {
			continue // refused elsewhere
		}
		if first == nil {
			first = p
		}
		if p.MTU.IsSet() && g.MTU.IsSet() && p.MTU.Value != g.MTU.Value {
			l.refuse(fmt.Sprintf("port %q has MTU %d, its bond %q has %d and gives it to its members", m, p.MTU.Value, g.Name, g.MTU.Value),
				"write the MTU once, at the bond", at(intent.OfPort, m, "mtu"), at(intent.OfLAG, g.Name, "mtu"))
		}
		if p.QoS != first.QoS {
			l.refuse(fmt.Sprintf("ports %q and %q of bond %q have different qos", first.Name, m, g.Name), "give all members one qos",
				at(intent.OfPort, m, "qos"), at(intent.OfPort, first.Name, "qos"))
		}
		switch {
		case !l.rdma(p):
		case p.NIC.Driver != mlx5:
			l.refuse(fmt.Sprintf("bond %q carries RDMA over port %q, which is driven by %s", g.Name, m, p.NIC.Driver),
				"bond the ports of one mlx5 adapter, which share an RDMA device (RoCE LAG), or leave these apart", here, at(intent.OfPort, m, "model"))
		case p.NIC.Adapter == "":
			l.refuse(fmt.Sprintf("bond %q carries RDMA, and nothing says on which adapter its port %q is", g.Name, m),
				"write pci on the members, or the same adapter: only ports of one share an RDMA device (RoCE LAG)", here, at(intent.OfPort, m, "adapter"))
		case p.NIC.Adapter != first.NIC.Adapter:
			l.refuse(fmt.Sprintf("bond %q carries RDMA over ports of different adapters", g.Name),
				"bond the ports of one mlx5 adapter: only they share an RDMA device (RoCE LAG)", here, at(intent.OfPort, m, "adapter"))
		}
	}
}

func (l *limit) iface(f *intent.Iface) {
	if f.Kind != intent.Direct && f.Kind != intent.VLANDev {
		return // features refused it
	}
	here := func(field string) intent.Path { return at(intent.OfIface, f.Name, field) }
	if f.Unique {
		l.refuse(fmt.Sprintf("interface %q is told from the one of a peer switch, and a host has no such peer", f.Name), "put the address on a VLAN interface of the pair", here("address"))
	}
	c, ok := l.carrier(f.On)
	if !ok {
		return // refused elsewhere
	}
	if b := l.bond[f.On]; b != nil {
		l.refuse(fmt.Sprintf("interface %q is on port %q, which is in the bond %q", f.Name, f.On, b.Name), "put it on the bond", here("on"))
	}
	if slices.ContainsFunc(c.members, func(p *intent.Port) bool { return p.Verify }) {
		l.refuse(fmt.Sprintf("interface %q is on %q, which is compared only", f.Name, f.On), "manage the port, or remove the interface", here("on"))
	}
	if f.Kind == intent.Direct {
		l.direct(f, c)
	} else {
		l.vlanDevice(f, c)
	}
	l.gateway(f)
	for _, a := range f.Addresses.Or(nil) {
		if a.Addr().IsLoopback() {
			l.refuse(fmt.Sprintf("interface %q has the address %s of the loopback", f.Name, a), "write an address of its subnet", here("address"))
		}
	}
}

func (l *limit) direct(f *intent.Iface, c carrier) {
	here := func(field string) intent.Path { return at(intent.OfIface, f.Name, field) }
	if l.on(f.On, intent.Direct)[0] != f {
		l.refuse(fmt.Sprintf("%q has two untagged interfaces", f.On), "write all addresses in one", here("on"))
	}
	if f.VLAN != 0 && f.VLAN != c.native.Or(0) {
		l.refuse(fmt.Sprintf("interface %q is in VLAN %d, which %q does not carry untagged", f.Name, f.VLAN, f.On),
			"write a VLAN device for a tagged segment", here("vlan"))
	}
	if f.MTU.IsSet() && c.mtu.IsSet() && f.MTU.Value != c.mtu.Value {
		l.refuse(fmt.Sprintf("interface %q has MTU %d, its port %q has %d", f.Name, f.MTU.Value, f.On, c.mtu.Value), "write it once", here("mtu"))
	}
}

func (l *limit) vlanDevice(f *intent.Iface, c carrier) {
	here := func(field string) intent.Path { return at(intent.OfIface, f.Name, field) }
	if f.VLAN == 0 {
		l.refuse(fmt.Sprintf("interface %q is a VLAN device without a VLAN", f.Name), "give it a tagged segment", here("vlan"))
	}
	for _, o := range l.on(f.On, intent.VLANDev) {
		if o == f {
			break
		}
		if o.VLAN == f.VLAN {
			l.refuse(fmt.Sprintf("interfaces %q and %q are both VLAN %d of %q", o.Name, f.Name, f.VLAN, f.On), "write one of them", here("vlan"))
		}
	}
	if c.tagged.IsSet() && !slices.Contains(c.tagged.Value, f.VLAN) {
		l.refuse(fmt.Sprintf("interface %q is VLAN %d, which %q does not carry", f.Name, f.VLAN, f.On), "add the segment to the port", here("vlan"))
	}
	if c.native.Or(0) == f.VLAN && f.VLAN != 0 {
		l.refuse(fmt.Sprintf("interface %q tags VLAN %d, which is untagged on %q", f.Name, f.VLAN, f.On), "put the address on the port itself", here("vlan"))
	}
	if link := l.linkMTU(c); f.MTU.Or(0) > link.Or(1500) {
		l.refuse(fmt.Sprintf("interface %q has MTU %d, %q under it has %d", f.Name, f.MTU.Value, f.On, link.Or(1500)), "raise the MTU of the port", here("mtu"))
	}
	if f.QoS == "" {
		return
	}
	q := l.qos[f.QoS]
	if q == nil {
		return // refused elsewhere
	}
	if slices.ContainsFunc(c.members, func(p *intent.Port) bool { return p.QoS != f.QoS }) {
		// Members that differ among themselves are refused at the bond.
		if !slices.ContainsFunc(c.members, func(p *intent.Port) bool { return p.QoS != c.members[0].QoS }) {
			l.refuse(fmt.Sprintf("interface %q has the qos %q, its port another", f.Name, f.QoS), "give both the same qos", here("qos"))
		}
		return
	}
	if q.Trust.Or("") == intent.TrustPCP {
		l.marksPCP(f, q)
	}
}

// marksPCP demands that RDMA differs from other traffic by what Linux knows
// when it writes the PCP: the priority that follows from the TOS.
func (l *limit) marksPCP(f *intent.Iface, q *intent.QoS) {
	for _, m := range q.Marks {
		if m.Carries != "rdma" || m.Application || m.Priority == 0 {
			continue
		}
		if _, ok := kernelPriority(tos(m)); !ok || !m.DSCP.IsSet() {
			l.refuse(fmt.Sprintf("class %q cannot get PCP %d on %q: Linux gives its TOS the kernel priority of other traffic", m.Class, m.Priority, f.Name),
				"give the class a DSCP whose last three bits are 2 to 7, such as 26",
				at(intent.OfQoS, q.Name, "class."+m.Class), at(intent.OfIface, f.Name, "qos"))
		}
	}
}

func (l *limit) gateway(f *intent.Iface) {
	if !f.Gateway.IsSet() {
		return
	}
	g := f.Gateway.Value
	inside := func(a netip.Prefix) bool { return a.Contains(g) && a.Addr() != g }
	if !slices.ContainsFunc(f.Addresses.Or(nil), inside) {
		l.refuse(fmt.Sprintf("interface %q has the gateway %s outside its subnets", f.Name, g), "write an address of the gateway's subnet",
			at(intent.OfIface, f.Name, "gateway"), at(intent.OfIface, f.Name, "address"))
	}
}
