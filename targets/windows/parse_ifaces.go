package windows

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/rocec/rocec/compiler/intent"
)

func (o *observer) teams() {
	for i := range o.want.LAGs {
		want := &o.want.LAGs[i]
		at := slices.IndexFunc(o.s.Switches, func(r switchRow) bool {
			if o.atc {
				return r.EmbeddedTeamingEnabled && slices.ContainsFunc(r.Members, func(m text) bool { return slices.Contains(want.Members, o.wantedName(m)) })
			}
			return sameName(r.Name, want.Name) && r.EmbeddedTeamingEnabled
		})
		if at < 0 {
			continue
		}
		l := intent.LAG{Name: want.Name, Mode: "set"}
		for _, m := range o.s.Switches[at].Members {
			l.Members = append(l.Members, o.wantedName(m))
		}
		// The order of members means nothing to a switch.
		if sameSet(l.Members, want.Members) {
			l.Members = slices.Clone(want.Members)
		}
		o.got.LAGs = append(o.got.LAGs, l)
	}
}

// wantedName is a port's name in the case the intent writes it.
func (o *observer) wantedName(name text) string {
	for i := range o.want.Ports {
		if sameName(name, o.want.Ports[i].Name) {
			return o.want.Ports[i].Name
		}
	}
	return string(name)
}

func sameSet(a, b []string) bool {
	x, y := slices.Clone(a), slices.Clone(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

func (o *observer) ifaces() {
	for i := range o.want.Ifaces {
		want := &o.want.Ifaces[i]
		f := intent.Iface{Name: want.Name, Kind: want.Kind, On: want.On, QoS: want.QoS, RDMA: want.RDMA, VLAN: want.VLAN}
		alias := o.alias(want)
		switch want.Kind {
		case intent.VNIC:
			if !o.vnic(&f, want) {
				continue
			}
		case intent.Direct:
			p := o.want.PortNamed(want.On)
			if p == nil {
				continue
			}
			a := o.adapter(p)
			if a == nil {
				continue
			}
			alias = string(a.Name)
			if v, ok := o.vlan(a.Name); ok && v > 0 {
				f.VLAN = v
			}
			for _, r := range o.s.Interfaces {
				if !want.MTU.IsSet() {
					break // it follows *JumboPacket, also one that waits for a restart, with which it comes whatever else is done or undone
				}
				if sameName(r.InterfaceAlias, alias) && r.NlMtu > 0 && r.NlMtu <= 65535 {
					f.MTU = intent.Some(uint16(r.NlMtu))
				}
			}
		default:
			continue
		}
		o.addresses(&f, want, alias)
		o.got.Ifaces = append(o.got.Ifaces, f)
	}
}

// untagged is the name of what a vNIC without priority tags does to priorities:
// the switch sends all its frames with 0 (Set-VMNetworkAdapter -IeeePriorityTag).
const untagged = "without priority tags"

// alias is what Windows calls an interface.
func (o *observer) alias(f *intent.Iface) string {
	if o.atc {
		return atcAlias(f)
	}
	return f.Name
}

func (o *observer) vnic(f *intent.Iface, want *intent.Iface) bool {
	at := slices.IndexFunc(o.s.HostAdapters, func(r hostAdapterRow) bool { return sameName(r.Name, o.alias(want)) })
	if at < 0 {
		return false
	}
	r := o.s.HostAdapters[at]
	f.On = string(r.SwitchName)
	if o.atc || sameName(r.SwitchName, want.On) {
		f.On = want.On
	}
	f.Pin = o.wantedName(r.NetAdapterName)
	id := r.AccessVlanId
	if id == 0 {
		id = r.DefaultIsolationID
	}
	if id != number(vnicVLAN(o.want, want)) && id >= 0 && id <= 4094 {
		f.VLAN = uint16(id)
	}
	if v, ok := o.keyword(r.Name, "*JumboPacket"); ok && v > ethernetHeader && v-ethernetHeader <= 65535 {
		f.MTU = intent.Some(uint16(v - ethernetHeader))
	}
	if f.QoS != "" && sameName(r.IeeePriorityTag, "Off") {
		f.QoS = untagged
		if o.got.QoSNamed(untagged) == nil {
			o.got.QoS = append(o.got.QoS, intent.QoS{Name: untagged, PCP: intent.Some([8]uint8{})})
		}
	}
	f.RDMA = slices.ContainsFunc(o.s.AdapterRdma, func(x adapterRdmaRow) bool { return sameName(x.Name, string(r.Name)) && x.Enabled })
	return true
}

// addresses are those that were set by hand; DHCP's and link-local ones are
// nobody's intent.
func (o *observer) addresses(f *intent.Iface, want *intent.Iface, alias string) {
	var found []netip.Prefix
	for _, r := range o.s.Addresses {
		if !sameName(r.InterfaceAlias, alias) || r.PrefixOrigin != "Manual" && r.PrefixOrigin != "1" {
			continue
		}
		a, err := netip.ParseAddr(string(r.IPAddress))
		if err != nil || a.Zone() != "" || a.IsLinkLocalUnicast() || r.PrefixLength < 0 || int(r.PrefixLength) > a.BitLen() {
			continue
		}
		found = append(found, netip.PrefixFrom(a, int(r.PrefixLength)))
	}
	wanted := want.Addresses.Or(nil)
	rank := func(p netip.Prefix) int {
		if i := slices.Index(wanted, p); i >= 0 {
			return i
		}
		return len(wanted)
	}
	slices.SortStableFunc(found, func(a, b netip.Prefix) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.Addr().Compare(b.Addr()))
	})
	f.Addresses = intent.Some(found)
	for _, r := range o.s.Routes {
		hop, err := netip.ParseAddr(string(r.NextHop))
		if err != nil || !sameName(r.InterfaceAlias, alias) || hop.IsUnspecified() {
			continue
		}
		if !f.Gateway.IsSet() || want.Gateway.IsSet() && hop == want.Gateway.Value {
			f.Gateway = intent.Some(hop)
		}
	}
}
