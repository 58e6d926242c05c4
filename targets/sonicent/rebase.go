package sonicent

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// drops is a captured configuration, asked for what stands in the way of an
// intent. Nil asks for nothing. Only what the intent manages is taken away, on
// ports that are written.
type drops struct{ seen *config }

// rebase is Target.Rebase.
func rebase(d *intent.Device, c targets.Captured, out *emit.Out) diag.List {
	seen, list := captured(c)
	if list.HasErrors() {
		return list
	}
	if seen == nil {
		return diag.List{{Severity: diag.Error, Summary: "there is no " + running, Help: "capture it with " + show}}
	}
	if taken := append(occupied(d, seen), blocked(d, seen)...); len(taken) > 0 {
		return append(list, taken...)
	}
	files(d, &drops{seen}, out)
	return list
}

func (x *drops) iface(name string) *iface {
	if x == nil || x.seen.ifaces[name] == nil {
		return &iface{}
	}
	return x.seen.ifaces[name]
}

// buffered reports whether lossless buffers are known to be set up.
func (x *drops) buffered() bool { return x != nil && (x.seen.buffers || x.seen.roce) }

// isSplit reports whether a port is known to be split as it should be.
func (x *drops) isSplit(p *intent.Port) bool {
	return x != nil && x.seen.breakouts[frontPort(p)] == p.Breakout
}

// vlans takes a port or LAG out of VLANs [grammar interface.xml; spytest
// switching/vlan.py delete_vlan_member].
func (x *drops) vlans(name string, native intent.Opt[uint16], tagged intent.Opt[[]uint16]) []string {
	f := x.iface(name)
	var list []string
	if _, ok := numbers(f.access, 4094); ok && !native.IsSet() && tagged.IsSet() {
		list = append(list, "no switchport access Vlan")
	}
	ids, ok := numbers(f.trunk, 4094)
	if !ok || !tagged.IsSet() {
		return list
	}
	gone := slices.DeleteFunc(ids, func(id int) bool { return slices.Contains(tagged.Value, uint16(id)) })
	if len(gone) > 0 {
		list = append(list, "switchport trunk allowed Vlan remove "+ranges(gone))
	}
	return list
}

// group takes a port out of a PortChannel that it shall not be in.
func (x *drops) group(port, lag string) []string {
	if g := x.iface(port).group; g != "" && "PortChannel"+g != lag && lagName.MatchString("PortChannel"+g) {
		return []string{"no channel-group"}
	}
	return nil
}

// addresses takes addresses away that an interface shall not have, and all of
// them where its VRF changes; secondary ones first, as the first may go only
// without them.
func (x *drops) addresses(f *intent.Iface) []string {
	have := x.iface(place(f))
	moves := have.vrf != f.VRF
	var second, list []string
	four := 0
	for _, a := range have.addresses {
		if !a.Addr().Is6() {
			four++
		}
		switch {
		case !moves && (!f.Addresses.IsSet() || slices.Contains(f.Addresses.Value, a)):
		case a.Addr().Is6():
			list = append(list, "no ipv6 address "+x.spelled(place(f), a))
		case four > 1:
			second = append(second, "no ip address "+a.String()+" secondary")
		default:
			list = append(list, "no ip address "+a.String())
		}
	}
	list = append(second, list...)
	if have.vrf != "" && f.VRF == "" {
		list = append(list, "no ip vrf forwarding "+have.vrf)
	}
	return list
}

// spelled is an address as the switch has it: in capitals, say. One address is one
// address, and no second one comes beside it.
func (x *drops) spelled(name string, a netip.Prefix) string {
	if text, ok := x.iface(name).spelled[a]; ok {
		return text
	}
	return a.String()
}

// quality takes away what a port has of another QoS and this one has nothing
// in the place of [grammar qos_interface.xml].
func (x *drops) quality(port string, q *intent.QoS) []string {
	f := x.iface(port)
	var list []string
	bound := map[string]bool{}
	for _, b := range bindings(q) {
		bound[b.table.kind] = true
	}
	for _, t := range []*table{&dscpTable, &dot1pTable} {
		if q.Trust.IsSet() && f.maps[t.kind] != "" && !bound[t.kind] {
			list = append(list, "no qos-map "+t.kind)
		}
	}
	for _, prio := range f.pfc {
		if n, err := strconv.Atoi(prio); err == nil && n >= 0 && n < 8 && q.PFC.IsSet() && !q.PFC.Value.Has(uint8(n)) {
			list = append(list, "no priority-flow-control priority "+strconv.Itoa(n))
		}
	}
	for queue := range 8 {
		if q.ECN.IsSet() && f.queues[queue] != "" && !q.ECN.Value[queue].On {
			list = append(list, "no queue "+strconv.Itoa(queue)+" wred-policy")
		}
	}
	return list
}

// captured reads the capture; nil if there is none.
func captured(c targets.Captured) (*config, diag.List) {
	text, ok := c.Files[running]
	if !ok {
		return nil, nil
	}
	seen := read(string(text))
	var list diag.List
	if seen.lines == 0 {
		return nil, diag.List{{Severity: diag.Error, Summary: running + " holds no running configuration", Help: "capture it with " + show}}
	}
	for _, o := range seen.odd {
		x := diag.Diagnostic{Severity: diag.Warning, Summary: o.text + " is not understood and was passed over", Help: stays}
		if c.Label != nil {
			x.Labels = []diag.Label{c.Label(running, o.offset, o.length)}
		}
		list.Add(x)
	}
	return seen, list
}

// sorted are addresses in ascending order.
func sorted(list []netip.Prefix) []netip.Prefix {
	return slices.SortedFunc(slices.Values(list), func(a, b netip.Prefix) int {
		if c := a.Addr().Compare(b.Addr()); c != 0 {
			return c
		}
		return a.Bits() - b.Bits()
	})
}
