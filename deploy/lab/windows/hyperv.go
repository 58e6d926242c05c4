package windows

import (
	"slices"
	"strings"

	"github.com/rocec/rocec/deploy/lab/powershell"
)

func (h *Host) hyperV(r *powershell.Runner) {
	if !h.has("Hyper-V") {
		return
	}
	r.Cmdlets["get-vmhost"] = func(*powershell.Call) []any {
		return []any{powershell.NewObject("VirtualMachineMigrationPerformanceOption", h.Option)}
	}
	r.Cmdlets["set-vmhost"] = func(c *powershell.Call) []any {
		h.Option = c.Str("virtualmachinemigrationperformanceoption")
		return h.did("vmhost")
	}
	r.Cmdlets["get-vmswitch"] = func(*powershell.Call) []any {
		return objects(h.Switches, func(s *Switch) *powershell.Object {
			var members []any
			for _, m := range s.Members {
				members = append(members, m)
			}
			return powershell.NewObject("Name", s.Name, "EmbeddedTeamingEnabled", true, "NetAdapterInterfaceDescriptions", members)
		})
	}
	r.Cmdlets["get-vmswitchteam"] = func(c *powershell.Call) (out []any) {
		for _, s := range h.named(c) {
			members := []any{}
			for _, m := range s.Members {
				members = append(members, m)
			}
			out = append(out, powershell.NewObject("NetAdapterInterfaceDescription", members, "LoadBalancingAlgorithm", s.Algorithm))
		}
		return out
	}
	r.Cmdlets["new-vmswitch"] = func(c *powershell.Call) []any {
		if c.Arg("allowmanagementos") != false || c.Arg("enableembeddedteaming") != true {
			powershell.Throw("switch of another kind")
		}
		s := &Switch{Name: c.Str("name"), Algorithm: "Dynamic"}
		if !h.join(s, c.Arg("netadaptername")) {
			powershell.Throw("an adapter is bound to a virtual switch already, or is none of hardware, or they are too many")
		}
		h.Switches = append(h.Switches, s)
		h.did("switch %s", s.Name)
		return []any{powershell.NewObject("Name", s.Name)}
	}
	r.Cmdlets["set-vmswitchteam"] = func(c *powershell.Call) []any {
		for _, s := range h.named(c) {
			if c.Has("loadbalancingalgorithm") {
				s.Algorithm = c.Str("loadbalancingalgorithm")
			}
			if c.Has("netadaptername") {
				was := slices.Clone(s.Members)
				h.leave(s)
				if !h.join(s, c.Arg("netadaptername")) {
					h.bind(s, was)
					powershell.Throw("an adapter is bound to a virtual switch already, or is none of hardware, or they are too many")
				}
			}
		}
		return h.did("switch team %s", c.Str("name"))
	}
	r.Cmdlets["remove-vmswitch"] = func(c *powershell.Call) []any {
		if !c.Has("force") {
			powershell.Throw("Windows PowerShell is in NonInteractive mode. Read and Prompt functionality is not available.")
		}
		for _, s := range h.named(c) {
			h.leave(s)
			h.Switches = slices.DeleteFunc(h.Switches, func(o *Switch) bool { return o == s })
			h.NICs = slices.DeleteFunc(h.NICs, func(n *NIC) bool { return n.Virtual && strings.EqualFold(n.On, s.Name) })
		}
		return h.did("no switch")
	}
	h.vnics(r)
}

// named are the switches of a name; there must be one.
func (h *Host) named(c *powershell.Call) []*Switch {
	list := picked(c, h.Switches, "VMSwitch", func(s *Switch) string { return s.Name })
	if len(list) == 0 {
		powershell.Throw("Hyper-V was unable to find a virtual switch with name \"%s\".", c.Str("name"))
	}
	return list
}

// mostMembers is how many adapters a team takes (azure-stack-docs,
// host-network-requirements).
const mostMembers = 8

// join binds adapters to a switch, or none where one is in another switch.
func (h *Host) join(s *Switch, names any) bool {
	var members []string
	for _, v := range powershell.Spread(names) {
		n := h.NIC(powershell.String(v))
		if slices.Contains(n.Bound, "vms_pp") || n.Virtual {
			return false
		}
		members = append(members, n.Description)
	}
	if len(members) > mostMembers {
		return false
	}
	h.bind(s, members)
	return true
}

func (h *Host) bind(s *Switch, members []string) {
	s.Members = members
	for _, n := range h.NICs {
		if slices.Contains(members, n.Description) {
			n.Bound = []string{"vms_pp"}
		}
	}
}

// leave gives the adapters of a switch back to IP.
func (h *Host) leave(s *Switch) {
	for _, n := range h.NICs {
		if slices.Contains(s.Members, n.Description) {
			n.Bound = []string{"ms_tcpip", "ms_tcpip6"}
		}
	}
	s.Members = nil
}

// addVNIC makes a host vNIC with the name of an adapter.
func (h *Host) addVNIC(on, label, name string) *NIC {
	n := &NIC{
		Name: name, GUID: "{vnic-" + label + "}", Description: "Hyper-V Virtual Ethernet Adapter " + label,
		Index: int64(30 + len(h.NICs)), Mbps: 50000, Virtual: true, RDMAAble: true, MTU: 1500, On: on, Tag: "Off",
		Properties: []*Property{{Keyword: "*JumboPacket", Value: "1514", Valid: []string{"1514", "4088", "9014"}}},
	}
	h.NICs = append(h.NICs, n)
	return n
}

func (h *Host) vnics(r *powershell.Runner) {
	find := func(c *powershell.Call, name string) *NIC {
		for _, n := range h.NICs {
			if n.Virtual && strings.EqualFold(n.GUID, "{vnic-"+c.Str(name)+"}") {
				return n
			}
		}
		powershell.Throw("Hyper-V was unable to find a network adapter with name \"%s\".", c.Str(name))
		return nil
	}
	label := func(n *NIC) string { return strings.TrimSuffix(strings.TrimPrefix(n.GUID, "{vnic-"), "}") }
	r.Cmdlets["add-vmnetworkadapter"] = func(c *powershell.Call) []any {
		if !slices.ContainsFunc(h.Switches, func(s *Switch) bool { return strings.EqualFold(s.Name, c.Str("switchname")) }) {
			powershell.Throw("Hyper-V was unable to find a virtual switch with name \"%s\".", c.Str("switchname"))
		}
		h.addVNIC(c.Str("switchname"), c.Str("name"), "vEthernet ("+c.Str("name")+")")
		return h.did("vnic %s", c.Str("name"))
	}
	r.Cmdlets["remove-vmnetworkadapter"] = func(c *powershell.Call) []any {
		gone := find(c, "name")
		if !strings.EqualFold(gone.On, c.Str("switchname")) {
			powershell.Throw("Hyper-V was unable to find a network adapter of switch \"%s\".", c.Str("switchname"))
		}
		h.NICs = slices.DeleteFunc(h.NICs, func(n *NIC) bool { return n == gone })
		return h.did("no vnic %s", c.Str("name"))
	}
	r.Cmdlets["get-vmnetworkadapter"] = func(*powershell.Call) (out []any) {
		for _, n := range h.NICs {
			if n.Virtual {
				out = append(out, powershell.NewObject("Name", label(n), "SwitchName", n.On, "IeeePriorityTag", n.Tag))
			}
		}
		return out
	}
	r.Cmdlets["set-vmnetworkadapter"] = func(c *powershell.Call) []any {
		find(c, "name").Tag = c.Str("ieeeprioritytag")
		return h.did("tag %s", c.Str("name"))
	}
	h.vnicSettings(r, find)
}

func (h *Host) vnicSettings(r *powershell.Runner, find func(c *powershell.Call, parameter string) *NIC) {
	r.Cmdlets["get-vmnetworkadaptervlan"] = func(c *powershell.Call) []any {
		n := find(c, "vmnetworkadaptername")
		return []any{powershell.NewObject("OperationMode", when(n.VLAN == 0, "Untagged", "Access"), "AccessVlanId", n.VLAN)}
	}
	r.Cmdlets["get-vmnetworkadapterisolation"] = func(c *powershell.Call) []any {
		n := find(c, "vmnetworkadaptername")
		return []any{powershell.NewObject("IsolationMode", when(n.Isolation == 0, "None", "Vlan"), "DefaultIsolationID", n.Isolation)}
	}
	r.Cmdlets["set-vmnetworkadaptervlan"] = func(c *powershell.Call) []any {
		n := find(c, "vmnetworkadaptername")
		switch {
		case c.Has("untagged"):
			n.VLAN = 0
		case c.Has("access"):
			n.VLAN = within(c, "VlanId", c.Arg("vlanid"), 1, 4094)
		default:
			c.Mistake("a vNIC is untagged or in access mode here")
		}
		return h.did("vlan %s", c.Str("vmnetworkadaptername"))
	}
	r.Cmdlets["get-vmnetworkadapterteammapping"] = func(c *powershell.Call) []any {
		if pin := h.byGUID(find(c, "name").Pin); pin != nil {
			return []any{powershell.NewObject("NetAdapterName", pin.Name)}
		}
		return nil
	}
	r.Cmdlets["set-vmnetworkadapterteammapping"] = func(c *powershell.Call) []any {
		n, pin := find(c, "vmnetworkadaptername"), h.NIC(c.Str("physicalnetadaptername"))
		if !slices.ContainsFunc(h.Switches, func(s *Switch) bool {
			return strings.EqualFold(s.Name, n.On) && slices.Contains(s.Members, pin.Description)
		}) {
			powershell.Throw("%s is no member of the team of %s", pin.Name, n.On)
		}
		n.Pin = pin.GUID
		return h.did("mapping %s", c.Str("vmnetworkadaptername"))
	}
	r.Cmdlets["remove-vmnetworkadapterteammapping"] = func(c *powershell.Call) []any {
		find(c, "name").Pin = ""
		return h.did("no mapping %s", c.Str("name"))
	}
}
