package windows

import (
	"slices"
	"strings"

	"github.com/rocec/rocec/deploy/lab/powershell"
)

// ethernetHeader is what *JumboPacket has more than the MTU of the interface.
const ethernetHeader = 14

func (h *Host) adapters(r *powershell.Runner) {
	r.Cmdlets["get-netadapter"] = func(c *powershell.Call) []any {
		return objects(h.pick(c), func(n *NIC) *powershell.Object {
			return powershell.NewObject("Name", n.Name, "InterfaceDescription", n.Description, "InterfaceGuid", n.GUID, "InterfaceIndex", n.Index,
				"InterfaceAdminStatus", int64(1+len(when(n.Down, "x", ""))), "Status", when(n.Down, "Disabled", "Up"), "PermanentAddress", n.MAC,
				"ReceiveLinkSpeed", n.Mbps*1_000_000, "DriverProvider", "Mellanox", "DriverVersionString", n.Driver, "Virtual", n.Virtual)
		})
	}
	r.Cmdlets["rename-netadapter"] = func(c *powershell.Call) []any {
		for _, n := range h.NICs {
			if strings.EqualFold(n.Name, c.Str("newname")) {
				powershell.Throw("the name %q is taken", n.Name)
			}
		}
		h.pick(c)[0].Name = c.Str("newname")
		return h.did("rename %s", c.Str("newname"))
	}
	r.Cmdlets["get-netadapterhardwareinfo"] = func(c *powershell.Call) (out []any) {
		for _, n := range h.pick(c) {
			if !n.Virtual {
				out = append(out, powershell.NewObject("Name", n.Name, "SegmentNumber", n.PCI[0], "BusNumber", n.PCI[1], "DeviceNumber", n.PCI[2], "FunctionNumber", n.PCI[3]))
			}
		}
		return out
	}
	r.Cmdlets["get-netadapteradvancedproperty"] = func(c *powershell.Call) (out []any) {
		for _, n := range h.pick(c) {
			out = append(out, objects(n.Properties, func(p *Property) *powershell.Object {
				var valid any
				if len(p.Valid) > 0 {
					list := []any{}
					for _, v := range p.Valid {
						list = append(list, v)
					}
					valid = list
				}
				return powershell.NewObject("Name", n.Name, "RegistryKeyword", p.Keyword, "RegistryValue", []any{p.Value}, "ValidRegistryValues", valid,
					"NumericParameterMinValue", p.Least, "NumericParameterMaxValue", p.Most)
			})...)
		}
		return out
	}
	r.Cmdlets["set-netadapteradvancedproperty"] = func(c *powershell.Call) []any {
		for _, x := range c.Input {
			o := x.(*powershell.Object)
			p, v := o.Self.(*Property), c.Str("registryvalue")
			if len(p.Valid) > 0 && !slices.Contains(p.Valid, v) {
				powershell.Throw("%s does not take %s", p.Keyword, v)
			}
			p.Value = v
			h.did("%s %s=%s", powershell.String(o.Field("name")), p.Keyword, v)
		}
		if len(c.Input) != 1 || c.Named["norestart"] != true {
			powershell.Throw("set %d properties, restart or not", len(c.Input))
		}
		return nil
	}
	r.Cmdlets["get-netadapterqos"] = func(c *powershell.Call) (out []any) {
		for _, n := range h.pick(c) {
			if !n.DCB {
				continue
			}
			on := []any{}
			for _, p := range h.PFC {
				on = append(on, p && n.QoS && !n.Willing)
			}
			out = append(out, powershell.NewObject("Name", n.Name, "Enabled", n.QoS,
				"HardwareCapabilities", powershell.NewObject("NumberOfTrafficClasses", n.Classes), "OperationalSettings", powershell.NewObject("PriorityFlowControlEnableArray", on)))
		}
		return out
	}
	toggle := func(name string, set func(*NIC)) {
		r.Cmdlets[name] = func(c *powershell.Call) []any {
			for _, n := range h.pick(c) {
				set(n)
				h.did("%s %s", name, n.Name)
			}
			return nil
		}
	}
	toggle("enable-netadapterqos", func(n *NIC) { n.QoS = true })
	toggle("disable-netadapterqos", func(n *NIC) { n.QoS = false })
	toggle("enable-netadapterrdma", func(n *NIC) { n.RDMA = true })
	toggle("disable-netadapterrdma", func(n *NIC) { n.RDMA = false })
	toggle("enable-netadapter", func(n *NIC) { n.Down = false })
	toggle("disable-netadapter", func(n *NIC) { n.Down = true })
	toggle("restart-netadapter", func(n *NIC) {
		h.Restarts = append(h.Restarts, n.Name)
		if p := n.Property("*JumboPacket"); p != nil {
			n.MTU = powershell.Int(p.Value) - ethernetHeader
		}
	})
	r.Cmdlets["get-netadapterrdma"] = func(c *powershell.Call) (out []any) {
		for _, n := range h.pick(c) {
			if n.RDMAAble {
				technology := int64(0)
				if p := n.Property("*NetworkDirectTechnology"); p != nil {
					technology = powershell.Int(p.Value)
				}
				out = append(out, powershell.NewObject("Name", n.Name, "Enabled", n.RDMA, "RdmaAdapterInfo", powershell.NewObject("RdmaTechnology", technology)))
			}
		}
		return out
	}
	r.Cmdlets["get-netadapterbinding"] = func(c *powershell.Call) (out []any) {
		for _, n := range h.pick(c) {
			for _, b := range n.Bound {
				out = append(out, powershell.NewObject("Enabled", true, "ComponentID", b))
			}
		}
		return out
	}
	r.Cmdlets["get-smbclientnetworkinterface"] = func(*powershell.Call) (out []any) {
		for _, n := range h.NICs {
			out = append(out, powershell.NewObject("InterfaceIndex", n.Index, "RdmaCapable", n.RDMA && !slices.Contains(n.Bound, "vms_pp")))
		}
		return out
	}
}
