package windows

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/rocec/rocec/deploy/lab/powershell"
)

func (h *Host) addressCmdlets(r *powershell.Runner) {
	each := func(c *powershell.Call, f func(*NIC)) {
		any := false
		for _, n := range h.NICs {
			if slices.Contains(n.Bound, "vms_pp") { // the switch has taken it from IP
				continue
			}
			if !c.Has("interfacealias") || powershell.Like(n.Name, c.Str("interfacealias")) {
				any = true
				f(n)
			}
		}
		if !any {
			powershell.Throw("No matching interfaces found with property 'InterfaceAlias' equal to '%s'.", c.Str("interfacealias"))
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
		n, a := h.NIC(c.Str("interfacealias")), prefix(c)
		for _, o := range h.NICs {
			if slices.ContainsFunc(o.Addresses, func(p netip.Prefix) bool { return p.Addr() == a.Addr() }) {
				powershell.Throw("Instance MSFT_NetIPAddress already exists")
			}
		}
		n.Addresses = append(n.Addresses, a)
		return h.did("address %s", c.Str("ipaddress"))
	}
	r.Cmdlets["set-netipaddress"] = func(c *powershell.Call) []any {
		n, a := h.NIC(c.Str("interfacealias")), prefix(c)
		i := slices.IndexFunc(n.Addresses, func(p netip.Prefix) bool { return p.Addr() == a.Addr() })
		if i < 0 {
			powershell.Throw("No matching MSFT_NetIPAddress objects found by CIM query for instances of the class.")
		}
		n.Addresses[i] = a
		return h.did("prefix %s", c.Str("ipaddress"))
	}
	r.Cmdlets["remove-netipaddress"] = func(c *powershell.Call) []any {
		gone := selves[netip.Prefix](c)
		for _, n := range h.NICs {
			n.Addresses = slices.DeleteFunc(n.Addresses, func(a netip.Prefix) bool { return slices.Contains(gone, a) })
		}
		return h.did("no address")
	}
	h.interfaceCmdlets(r, each)
	h.routeCmdlets(r)
}

func (h *Host) interfaceCmdlets(r *powershell.Runner, each func(*powershell.Call, func(*NIC))) {
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
			if n.link == 0 {
				n.link = n.MTU
			}
			n.MTU = min(powershell.Int(c.Arg("nlmtubytes")), n.link) // more does not get through
		}
		if c.Has("dhcp") {
			if strings.EqualFold(c.Str("addressfamily"), "IPv6") {
				powershell.Throw("DHCP of IPv6 is not simulated")
			}
			h.DHCP = slices.DeleteFunc(h.DHCP, func(g string) bool { return g == n.GUID })
			if strings.EqualFold(c.Str("dhcp"), "Enabled") {
				h.DHCP = append(h.DHCP, n.GUID)
			}
		}
		return h.did("interface %s", n.Name)
	}
}

// prefix is -IPAddress with -PrefixLength.
func prefix(c *powershell.Call) netip.Prefix {
	a, err := netip.ParseAddr(c.Str("ipaddress"))
	if err != nil {
		powershell.Throw("Invalid parameter IPAddress %s", c.Str("ipaddress"))
	}
	p := netip.PrefixFrom(a, int(powershell.Int(c.Arg("prefixlength"))))
	if !p.IsValid() {
		powershell.Throw("Invalid parameter PrefixLength %s", c.Str("prefixlength"))
	}
	return p
}

// selves are what the objects in the pipeline were made of.
func selves[T any](c *powershell.Call) (list []T) {
	for _, x := range c.Input {
		if o, ok := x.(*powershell.Object); ok {
			if self, ok := o.Self.(T); ok {
				list = append(list, self)
			}
		}
	}
	return list
}

// everywhere is the destination of a default route by a gateway.
func everywhere(gateway string) string {
	if strings.Contains(gateway, ":") {
		return "::/0"
	}
	return "0.0.0.0/0"
}

func (h *Host) routeCmdlets(r *powershell.Runner) {
	r.Cmdlets["get-netroute"] = func(c *powershell.Call) (out []any) {
		for _, x := range h.Routes {
			n := h.byGUID(x[0])
			if n == nil || c.Has("interfacealias") && !powershell.Like(n.Name, c.Str("interfacealias")) {
				continue
			}
			to := everywhere(x[1])
			if c.Has("destinationprefix") && !slices.Contains(powershell.Spread(c.Arg("destinationprefix")), any(to)) {
				continue
			}
			o := powershell.NewObject("InterfaceAlias", n.Name, "DestinationPrefix", to, "NextHop", x[1])
			o.Self = x
			out = append(out, o)
		}
		if out == nil {
			powershell.Throw("No matching MSFT_NetRoute objects found by CIM query for instances of the class.")
		}
		return out
	}
	r.Cmdlets["new-netroute"] = func(c *powershell.Call) []any {
		route := [2]string{h.NIC(c.Str("interfacealias")).GUID, c.Str("nexthop")}
		if _, err := netip.ParseAddr(route[1]); err != nil || c.Str("destinationprefix") != everywhere(route[1]) {
			powershell.Throw("only default routes are simulated, not %s by %s", c.Str("destinationprefix"), route[1])
		}
		if slices.Contains(h.Routes, route) {
			powershell.Throw("Instance MSFT_NetRoute already exists")
		}
		h.Routes = append(h.Routes, route)
		return h.did("route %s", c.Str("nexthop"))
	}
	r.Cmdlets["remove-netroute"] = func(c *powershell.Call) []any {
		gone := selves[[2]string](c)
		h.Routes = slices.DeleteFunc(h.Routes, func(x [2]string) bool { return slices.Contains(gone, x) })
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
