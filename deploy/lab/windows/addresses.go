package windows

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/rocec/rocec/deploy/lab/powershell"
)

func (h *Host) addressCmdlets(r *powershell.Runner) {
	each := func(c *powershell.Call, f func(*NIC)) {
		for _, n := range h.NICs {
			if !c.Has("interfacealias") || strings.EqualFold(n.Name, c.Str("interfacealias")) {
				f(n)
			}
		}
	}
	r.Cmdlets["get-netipaddress"] = func(c *powershell.Call) (out []any) {
		each(c, func(n *NIC) {
			for _, a := range n.Addresses {
				o := powershell.NewObject("InterfaceAlias", n.Name, "IPAddress", a.Addr().String(), "PrefixLength", int64(a.Bits()), "PrefixOrigin", "Manual")
				o.Self = a
				out = append(out, o)
			}
		})
		return out
	}
	r.Cmdlets["new-netipaddress"] = func(c *powershell.Call) []any {
		n := h.NIC(c.Str("interfacealias"))
		n.Addresses = append(n.Addresses, netip.PrefixFrom(netip.MustParseAddr(c.Str("ipaddress")), int(powershell.Int(c.Named["prefixlength"]))))
		return h.did("address %s", c.Str("ipaddress"))
	}
	r.Cmdlets["set-netipaddress"] = func(c *powershell.Call) []any {
		n := h.NIC(c.Str("interfacealias"))
		for i, a := range n.Addresses {
			if a.Addr().String() == c.Str("ipaddress") {
				n.Addresses[i] = netip.PrefixFrom(a.Addr(), int(powershell.Int(c.Named["prefixlength"])))
			}
		}
		return h.did("prefix %s", c.Str("ipaddress"))
	}
	r.Cmdlets["remove-netipaddress"] = func(c *powershell.Call) []any {
		for _, n := range h.NICs {
			n.Addresses = slices.DeleteFunc(n.Addresses, func(a netip.Prefix) bool {
				return slices.ContainsFunc(c.Input, func(x any) bool { return x.(*powershell.Object).Self == a })
			})
		}
		return h.did("no address")
	}
	r.Cmdlets["get-netipinterface"] = func(c *powershell.Call) (out []any) {
		each(c, func(n *NIC) {
			for _, family := range []string{"IPv4", "IPv6"} {
				if !c.Has("addressfamily") || c.Str("addressfamily") == family {
					dhcp := family == "IPv4" && slices.Contains(h.DHCP, n.GUID)
					out = append(out, powershell.NewObject("InterfaceAlias", n.Name, "AddressFamily", family, "NlMtu", n.MTU, "Dhcp", when(dhcp, "Enabled", "Disabled")))
				}
			}
		})
		return out
	}
	r.Cmdlets["set-netipinterface"] = func(c *powershell.Call) []any {
		n := h.NIC(c.Str("interfacealias"))
		if c.Has("nlmtubytes") {
			n.MTU = powershell.Int(c.Named["nlmtubytes"])
		}
		if c.Has("dhcp") {
			h.DHCP = slices.DeleteFunc(h.DHCP, func(g string) bool { return g == n.GUID })
			if c.Str("dhcp") == "Enabled" {
				h.DHCP = append(h.DHCP, n.GUID)
			}
		}
		return h.did("interface %s", n.Name)
	}
	r.Cmdlets["get-netroute"] = func(c *powershell.Call) (out []any) {
		for _, x := range h.Routes {
			n := h.byGUID(x[0])
			prefix := "0.0.0.0/0"
			if strings.Contains(x[1], ":") {
				prefix = "::/0"
			}
			if n != nil && (!c.Has("interfacealias") || strings.EqualFold(n.Name, c.Str("interfacealias"))) && slices.Contains(powershell.Spread(c.Named["destinationprefix"]), any(prefix)) {
				o := powershell.NewObject("InterfaceAlias", n.Name, "DestinationPrefix", prefix, "NextHop", x[1])
				o.Self = x
				out = append(out, o)
			}
		}
		return out
	}
	r.Cmdlets["new-netroute"] = func(c *powershell.Call) []any {
		h.Routes = append(h.Routes, [2]string{h.NIC(c.Str("interfacealias")).GUID, c.Str("nexthop")})
		return h.did("route %s", c.Str("nexthop"))
	}
	r.Cmdlets["remove-netroute"] = func(c *powershell.Call) []any {
		h.Routes = slices.DeleteFunc(h.Routes, func(x [2]string) bool {
			return slices.ContainsFunc(c.Input, func(o any) bool { return o.(*powershell.Object).Self == x })
		})
		return h.did("no route")
	}
}

func (h *Host) byGUID(guid string) *NIC {
	for _, n := range h.NICs {
		if n.GUID == guid {
			return n
		}
	}
	return nil
}
