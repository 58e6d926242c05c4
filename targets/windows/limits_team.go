package windows

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/intent"
)

// maxTeam is how many members a SET team may have (host-network-requirements).
const maxTeam = 8

// team refuses what a SET team cannot be.
func (l *limiter) team(g *intent.LAG) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfLAG, Name: g.Name, Field: field}
	}
	if n := len(g.Members); n == 0 || n > maxTeam {
		l.refuse(fmt.Sprintf("SET team %q has %d members", g.Name, n), "give it 1 to 8 members", at("members"))
		return
	}
	if g.ID != 0 {
		l.refuse(fmt.Sprintf("SET team %q has the number %d", g.Name, g.ID), "remove id: a SET team has no number", at("id"))
	}
	for _, m := range g.Members {
		if p := l.d.PortNamed(m); p != nil && l.d.PortNamed(g.Members[0]) != nil {
			l.member(g, p, at)
		}
	}
}

// member refuses members that differ: a SET team is symmetric.
func (l *limiter) member(g *intent.LAG, p *intent.Port, at func(string) intent.Path) {
	first := l.d.PortNamed(g.Members[0])
	own := intent.Path{Object: intent.OfPort, Name: p.Name}
	model := func(p *intent.Port) string {
		if p.NIC == nil {
			return ""
		}
		return p.NIC.Model
	}
	if model(first) != model(p) || first.Mbps != p.Mbps || p.Verify != first.Verify {
		l.refuse(fmt.Sprintf("SET team %q joins %q and %q, which differ in model, speed or who manages them", g.Name, first.Name, p.Name),
			"team adapters of one model and speed", at("members"), own)
	}
	if g.MTU.IsSet() && p.MTU.IsSet() && g.MTU.Value != p.MTU.Value {
		l.refuse(fmt.Sprintf("SET team %q has MTU %d, its member %q %d", g.Name, g.MTU.Value, p.Name, p.MTU.Value),
			"write one mtu for both", at("mtu"), own)
	}
	tagged, untagged := teamVLANs(l.d, g)
	if p.Tagged.IsSet() && !slices.Equal(p.Tagged.Value, tagged) || p.Native.IsSet() && p.Native.Value != untagged {
		l.refuse(fmt.Sprintf("SET team %q and its member %q carry different VLANs", g.Name, p.Name),
			"write tagged on the team: a vNIC may move to any member", at("segments"), own)
	}
}

// iface refuses addresses and vNICs that Windows cannot have.
func (l *limiter) iface(f *intent.Iface) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfIface, Name: f.Name, Field: field}
	}
	switch f.Kind {
	case intent.Direct:
		l.direct(f, at)
	case intent.VNIC:
		l.vnic(f, at)
	default:
		return // refused as a feature
	}
	if q := hostQoS(l.d, false); l.d.QoSNamed(f.QoS) != nil && (q == nil || q.Name != f.QoS) {
		l.refuse(fmt.Sprintf("interface %q has qos %q, which is not that of the host", f.Name, f.QoS),
			"give every nic of a Windows node the same qos: NetQos has one table for the host", at("qos"))
	}
	if f.Gateway.IsSet() && !slices.ContainsFunc(f.Addresses.Or(nil), prefixWith(f)) {
		l.refuse(fmt.Sprintf("interface %q has the gateway %s and no address of its subnet", f.Name, f.Gateway.Value),
			"write a gateway inside the interface's subnet", at("gateway"), at("address"))
	}
}

func (l *limiter) direct(f *intent.Iface, at func(string) intent.Path) {
	p := l.d.PortNamed(f.On)
	if p == nil && l.d.LAGNamed(f.On) == nil {
		return
	}
	if p == nil || teamMember(l.d, f.On) {
		l.refuse(fmt.Sprintf("interface %q cannot have its address on %q", f.Name, f.On),
			`put the address on a nic outside teams, or on an interface of the bond (mode = "set")`, at("on"))
		return
	}
	if p.Enabled.IsSet() && !p.Enabled.Value {
		l.refuse(fmt.Sprintf("interface %q is on adapter %q, which is disabled", f.Name, p.Name), "enable the nic, or remove its address", at("on"))
	}
	id, _ := vlanID(l.d, p)
	if f.VLAN != id && f.VLAN != p.Native.Or(0) {
		l.refuse(fmt.Sprintf("interface %q is in VLAN %d, its adapter %q in %d", f.Name, f.VLAN, p.Name, id),
			"give nic and interface the same segment", at("segment"), intent.Path{Object: intent.OfPort, Name: p.Name, Field: "segments"})
	}
	if f.Pin != "" {
		l.refuse(fmt.Sprintf("interface %q is pinned to %q and is no vNIC", f.Name, f.Pin), "remove pin", at("pin"))
	}
	if mtu, managed := portMTU(l.d, p); f.MTU.IsSet() && managed && f.MTU.Value > mtu {
		l.refuse(fmt.Sprintf("interface %q has MTU %d, its adapter %q %d", f.Name, f.MTU.Value, p.Name, mtu),
			"raise the mtu of the nic", at("mtu"), intent.Path{Object: intent.OfPort, Name: p.Name, Field: "mtu"})
	}
	if f.RDMA && !portRDMA(l.d, p).Value {
		l.refuse(fmt.Sprintf("interface %q shall carry RDMA, its adapter %q does not", f.Name, p.Name), "set rdma on the nic too", at("rdma"))
	}
}

func (l *limiter) vnic(f *intent.Iface, at func(string) intent.Path) {
	g := l.d.LAGNamed(f.On)
	if g == nil {
		if l.d.PortNamed(f.On) != nil {
			l.refuse(fmt.Sprintf("vNIC %q is on %q, which is no SET team", f.Name, f.On), `put it on a bond of mode "set"`, at("on"))
		}
		return
	}
	if f.Pin != "" && !slices.Contains(g.Members, f.Pin) {
		l.refuse(fmt.Sprintf("vNIC %q is pinned to %q, which is no member of team %q", f.Name, f.Pin, g.Name), "pin it to a member of its team", at("pin"))
	}
	tagged, untagged := teamVLANs(l.d, g)
	if f.VLAN != 0 && f.VLAN != untagged && len(tagged) > 0 && !slices.Contains(tagged, f.VLAN) {
		l.refuse(fmt.Sprintf("vNIC %q is in VLAN %d, which team %q does not carry", f.Name, f.VLAN, g.Name),
			"add the segment to the team", at("segment"), intent.Path{Object: intent.OfLAG, Name: g.Name, Field: "segments"})
	}
	if q := hostQoS(l.d, false); f.RDMA && q != nil && q.PFC.Or(0) != 0 && vnicVLAN(l.d, f) == 0 && !l.iwarp(g) {
		l.refuse(fmt.Sprintf("vNIC %q sends RoCE untagged, so that its frames carry no priority for PFC", f.Name),
			"give the interface a tagged segment", at("segment"))
	}
	for _, m := range g.Members {
		p := l.d.PortNamed(m)
		if p == nil || !f.MTU.IsSet() {
			continue
		}
		if mtu, managed := portMTU(l.d, p); f.MTU.Value > 1500 && (!managed || mtu < f.MTU.Value) {
			l.refuse(fmt.Sprintf("vNIC %q has MTU %d, member %q of its team has less", f.Name, f.MTU.Value, m),
				"write the mtu on the nics of the team too: both ends of the virtual switch count", at("mtu"), intent.Path{Object: intent.OfPort, Name: m, Field: "mtu"})
		}
	}
}

func (l *limiter) iwarp(g *intent.LAG) bool {
	return slices.ContainsFunc(g.Members, func(m string) bool {
		p := l.d.PortNamed(m)
		return p != nil && p.NIC != nil && p.NIC.IWARP
	})
}
