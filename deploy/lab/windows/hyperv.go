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
		for _, s := range h.Switches {
			if strings.EqualFold(s.Name, c.Str("name")) {
				members := []any{}
				for _, m := range s.Members {
					members = append(members, m)
				}
				out = append(out, powershell.NewObject("NetAdapterInterfaceDescription", members, "LoadBalancingAlgorithm", s.Algorithm))
			}
		}
		return out
	}
	r.Cmdlets["new-vmswitch"] = func(c *powershell.Call) []any {
		s := &Switch{Name: c.Str("name"), Algorithm: "Dynamic"}
		for _, m := range powershell.Spread(c.Named["netadaptername"]) {
			n := h.NIC(powershell.String(m))
			n.Bound = []string{"vms_pp"}
			s.Members = append(s.Members, n.Description)
		}
		if c.Named["allowmanagementos"] != false || c.Named["enableembeddedteaming"] != true {
			powershell.Throw("switch of another kind")
		}
		h.Switches = append(h.Switches, s)
		return h.did("switch %s", s.Name)
	}
	r.Cmdlets["set-vmswitchteam"] = func(c *powershell.Call) []any {
		for _, s := range h.Switches {
			if strings.EqualFold(s.Name, c.Str("name")) && c.Has("loadbalancingalgorithm") {
				s.Algorithm = c.Str("loadbalancingalgorithm")
			}
		}
		return h.did("switch team %s", c.Str("name"))
	}
	r.Cmdlets["remove-vmswitch"] = func(c *powershell.Call) []any {
		h.Switches = slices.DeleteFunc(h.Switches, func(s *Switch) bool { return strings.EqualFold(s.Name, c.Str("name")) })
		for _, n := range h.NICs {
			if slices.Contains(n.Bound, "vms_pp") {
				n.Bound = []string{"ms_tcpip", "ms_tcpip6"}
			}
		}
		return h.did("no switch")
	}
	h.vnics(r)
}

func (h *Host) vnics(r *powershell.Runner) {
	find := func(c *powershell.Call, name string) *NIC {
		for _, n := range h.NICs {
			if n.Virtual && strings.EqualFold(n.GUID, "{vnic-"+c.Str(name)+"}") {
				return n
			}
		}
		if c.Str("erroraction") != "SilentlyContinue" {
			powershell.Throw("no vNIC %q", c.Str(name))
		}
		return nil
	}
	label := func(n *NIC) string { return strings.TrimSuffix(strings.TrimPrefix(n.GUID, "{vnic-"), "}") }
	r.Cmdlets["add-vmnetworkadapter"] = func(c *powershell.Call) []any {
		h.NICs = append(h.NICs, &NIC{
			Name: "vEthernet (" + c.Str("name") + ")", GUID: "{vnic-" + c.Str("name") + "}", Description: "Hyper-V Virtual Ethernet Adapter " + c.Str("name"),
			Index: int64(30 + len(h.NICs)), Mbps: 50000, Virtual: true, RDMAAble: true, MTU: 1500, On: c.Str("switchname"), Tag: "Off",
			Properties: []*Property{{Keyword: "*JumboPacket", Value: "1514", Valid: []string{"1514", "4088", "9014"}}},
		})
		return h.did("vnic %s", c.Str("name"))
	}
	r.Cmdlets["remove-vmnetworkadapter"] = func(c *powershell.Call) []any {
		gone := find(c, "name")
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
	r.Cmdlets["get-vmnetworkadaptervlan"] = func(c *powershell.Call) []any {
		n := find(c, "vmnetworkadaptername")
		if n == nil {
			return nil
		}
		return []any{powershell.NewObject("OperationMode", when(n.VLAN == 0, "Untagged", "Access"), "AccessVlanId", n.VLAN)}
	}
	r.Cmdlets["get-vmnetworkadapterisolation"] = func(c *powershell.Call) []any {
		n := find(c, "vmnetworkadaptername")
		if n == nil {
			return nil
		}
		return []any{powershell.NewObject("IsolationMode", when(n.Isolation == 0, "None", "Vlan"), "DefaultIsolationID", n.Isolation)}
	}
	r.Cmdlets["set-vmnetworkadaptervlan"] = func(c *powershell.Call) []any {
		find(c, "vmnetworkadaptername").VLAN = powershell.Int(c.Named["vlanid"])
		return h.did("vlan %s", c.Str("vmnetworkadaptername"))
	}
	r.Cmdlets["get-vmnetworkadapterteammapping"] = func(c *powershell.Call) []any {
		if n := find(c, "name"); n != nil && n.Pin != "" {
			return []any{powershell.NewObject("NetAdapterName", h.byGUID(n.Pin).Name)}
		}
		return nil
	}
	r.Cmdlets["set-vmnetworkadapterteammapping"] = func(c *powershell.Call) []any {
		find(c, "vmnetworkadaptername").Pin = h.NIC(c.Str("physicalnetadaptername")).GUID
		return h.did("mapping %s", c.Str("vmnetworkadaptername"))
	}
	r.Cmdlets["remove-vmnetworkadapterteammapping"] = func(c *powershell.Call) []any {
		find(c, "name").Pin = ""
		return h.did("no mapping %s", c.Str("name"))
	}
}
