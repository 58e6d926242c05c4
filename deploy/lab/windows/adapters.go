package windows

import (
	"slices"
	"strconv"
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
		for _, n := range h.pick(c) {
			if slices.ContainsFunc(h.NICs, func(o *NIC) bool { return o != n && strings.EqualFold(o.Name, c.Str("newname")) }) {
				powershell.Throw("{Object Exists} An attempt was made to create an object and the object name already existed.")
			}
			n.Name = c.Str("newname")
			h.did("rename %s", n.Name)
		}
		return nil
	}
	r.Cmdlets["get-netadapterhardwareinfo"] = func(c *powershell.Call) (out []any) {
		for _, n := range h.pick(c) {
			if !n.Virtual {
				out = append(out, powershell.NewObject("Name", n.Name, "SegmentNumber", n.PCI[0], "BusNumber", n.PCI[1], "DeviceNumber", n.PCI[2], "FunctionNumber", n.PCI[3]))
			}
		}
		return out
	}
	h.properties(r)
	h.rdmaAndQoS(r)
	h.switches(r)
}

func (h *Host) properties(r *powershell.Runner) {
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
			o, isObject := x.(*powershell.Object)
			if !isObject {
				c.Mistake("The input object cannot be bound to any parameters for the command.")
			}
			p, isProperty := o.Self.(*Property)
			if !isProperty {
				c.Mistake("The input object cannot be bound to any parameters for the command.")
			}
			p.set(c.Str("registryvalue"))
			h.did("%s %s=%s", powershell.String(o.Field("name")), p.Keyword, p.Value)
		}
		if c.Input == nil || !c.Has("norestart") {
			c.Mistake("advanced properties are set through the pipeline and with -NoRestart here")
		}
		return nil
	}
}

// inForce is what an adapter runs (MSFT_NetAdapter_QosSettings): the tables of the host, and one strict class with no PFC
// where it was told nothing, which more classes than it has are as well.
func (h *Host) inForce(n *NIC) *powershell.Object {
	told := n.QoS && !n.Willing && int64(len(h.Classes)) < n.Classes
	on, class, share, tsa := make([]any, 8), make([]any, 8), make([]any, 8), make([]any, 8)
	for i := range 8 {
		on[i], class[i], share[i], tsa[i] = h.PFC[i] && told, int64(0), int64(0), int64(0)
	}
	if told {
		classes := h.classes()
		if n.Own != nil {
			classes = n.Own
		}
		for i, c := range classes {
			if tsa[i] = int64(2); c.Algorithm == "Strict" {
				tsa[i] = int64(0)
			}
			share[i] = c.Percent
			for _, p := range c.Priorities {
				class[powershell.Int(p)] = int64(i)
			}
		}
	}
	return powershell.NewObject("PriorityFlowControlEnableArray", on, "PriorityAssignmentTable", class, "BandwidthAssignmentTable", share, "TsaAssignmentTable", tsa)
}

func (h *Host) rdmaAndQoS(r *powershell.Runner) {
	r.Cmdlets["get-netadapterqos"] = func(c *powershell.Call) (out []any) {
		for _, n := range h.pick(c) {
			if !n.DCB {
				continue
			}
			out = append(out, powershell.NewObject("Name", n.Name, "Enabled", n.QoS,
				"HardwareCapabilities", powershell.NewObject("NumberOfTrafficClasses", n.Classes), "OperationalSettings", h.inForce(n)))
		}
		return out
	}
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

// set gives a property a value that the driver takes.
func (p *Property) set(v string) {
	if len(p.Valid) > 0 && !slices.Contains(p.Valid, v) {
		powershell.Throw("%s does not take %s", p.Keyword, v)
	}
	if n, err := strconv.ParseInt(v, 10, 64); p.Least != "" && (err != nil || n < powershell.Int(p.Least) || n > powershell.Int(p.Most)) {
		powershell.Throw("%s does not take %s", p.Keyword, v)
	}
	p.Value = v
}

// switches are the cmdlets that switch something of adapters on and off. Those of
// QoS and RDMA restart the adapter unless they are told not to.
func (h *Host) switches(r *powershell.Runner) {
	toggle := func(name string, set func(*NIC)) {
		r.Cmdlets[name] = func(c *powershell.Call) []any {
			for _, n := range h.pick(c) {
				set(n)
				h.did("%s %s", name, n.Name)
				if strings.HasSuffix(name, "-netadapterqos") || strings.HasSuffix(name, "-netadapterrdma") {
					if !c.Has("norestart") {
						h.restart(n)
					}
				}
			}
			return nil
		}
	}
	qos := func(on bool) func(*NIC) {
		return func(n *NIC) {
			if !n.DCB {
				powershell.Throw("No MSFT_NetAdapterQosSettingData objects found with property 'Name' equal to '%s'.", n.Name)
			}
			n.QoS = on
		}
	}
	// *NetworkDirect is what Enable-NetAdapterRdma sets (windows-driver-docs,
	// inf-requirements-for-ndkpi).
	rdma := func(on bool) func(*NIC) {
		return func(n *NIC) {
			if !n.RDMAAble {
				powershell.Throw("No MSFT_NetAdapterRdmaSettingData objects found with property 'Name' equal to '%s'.", n.Name)
			}
			n.RDMA = on
			if p := n.Property("*NetworkDirect"); p != nil {
				p.Value = when(on, "1", "0")
			}
		}
	}
	toggle("enable-netadapterqos", qos(true))
	toggle("disable-netadapterqos", qos(false))
	toggle("enable-netadapterrdma", rdma(true))
	toggle("disable-netadapterrdma", rdma(false))
	toggle("enable-netadapter", func(n *NIC) { n.Down = false })
	toggle("disable-netadapter", func(n *NIC) { n.Down = true })
	toggle("restart-netadapter", h.restart)
}

func (h *Host) restart(n *NIC) {
	h.Restarts = append(h.Restarts, n.Name)
	n.restarted()
}
