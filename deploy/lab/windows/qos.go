package windows

import (
	"slices"
	"strings"

	"github.com/rocec/rocec/deploy/lab/powershell"
)

func (h *Host) policyCmdlets(r *powershell.Runner) {
	show := func(p *Policy) *powershell.Object {
		return powershell.NewObject("Name", p.Name, "Owner", "Group Policy (Machine)", "Precedence", p.Precedence, "Template", p.Template,
			"NetDirectPortMatchCondition", p.NetDirect, "IPProtocolMatchCondition", p.Protocol, "IPDstPortStartMatchCondition", p.Port,
			"IPDstPortEndMatchCondition", p.Port, "PriorityValue8021Action", p.Priority, "DSCPAction", p.DSCP, "AppPathNameMatchCondition", p.App)
	}
	r.Cmdlets["get-netqospolicy"] = func(c *powershell.Call) []any {
		list := h.Policies
		if c.Str("policystore") == "ActiveStore" {
			list = append(slices.Clone(list), h.GPO...)
		}
		return objects(list, show)
	}
	r.Cmdlets["new-netqospolicy"] = func(c *powershell.Call) []any {
		p := &Policy{Name: c.Str("name"), Template: "None", Protocol: "None", Priority: -1, DSCP: -1, Precedence: 127}
		if c.Has("netdirectportmatchcondition") && c.Has("dscpaction") {
			powershell.Throw("NetworkDirect takes no DSCP")
		}
		for _, q := range h.Policies {
			if strings.EqualFold(q.Name, p.Name) {
				powershell.Throw("policy %q exists", p.Name)
			}
		}
		if c.Has("priorityvalue8021action") {
			p.Priority = powershell.Int(c.Named["priorityvalue8021action"])
		}
		if c.Has("dscpaction") {
			p.DSCP = powershell.Int(c.Named["dscpaction"])
		}
		if c.Has("precedence") {
			p.Precedence = powershell.Int(c.Named["precedence"])
		}
		p.NetDirect, p.Port = powershell.Int(c.Named["netdirectportmatchcondition"]), powershell.Int(c.Named["ipdstportmatchcondition"])
		switch {
		case c.Has("cluster"):
			p.Template = "Cluster"
		case c.Has("default"):
			p.Template = "Default"
		case c.Has("ipprotocolmatchcondition"):
			p.Protocol = c.Str("ipprotocolmatchcondition")
		}
		h.Policies = append(h.Policies, p)
		return h.did("policy %s", p.Name)
	}
	r.Cmdlets["remove-netqospolicy"] = func(c *powershell.Call) []any {
		n := len(h.Policies)
		h.Policies = slices.DeleteFunc(h.Policies, func(p *Policy) bool {
			return c.Input == nil && strings.EqualFold(p.Name, c.Str("name")) ||
				slices.ContainsFunc(c.Input, func(x any) bool { return x.(*powershell.Object).Self == p })
		})
		if len(h.Policies) == n {
			powershell.Throw("no policy to remove")
		}
		return h.did("no policy %s", c.Str("name"))
	}
}

// rest is what [Default] keeps.
func (h *Host) rest() (percent int64, priorities []any) {
	percent = 100
	held := map[int64]bool{}
	for _, c := range h.Classes {
		percent -= c.Percent
		for _, p := range c.Priorities {
			held[powershell.Int(p)] = true
		}
	}
	for p := range int64(8) {
		if !held[p] {
			priorities = append(priorities, p)
		}
	}
	return percent, priorities
}

func (h *Host) dcb(r *powershell.Runner) {
	if !h.has("Data-Center-Bridging") {
		return
	}
	r.Cmdlets["get-netqosflowcontrol"] = func(*powershell.Call) (out []any) {
		for p, on := range h.PFC {
			out = append(out, powershell.NewObject("Priority", int64(p), "Enabled", on, "InterfaceAlias", ""))
		}
		return out
	}
	set := func(on bool) func(*powershell.Call) []any {
		return func(c *powershell.Call) []any {
			for _, p := range powershell.Spread(c.Named["priority"]) {
				h.PFC[powershell.Int(p)] = on
			}
			n := 0
			for _, p := range h.PFC {
				if p {
					n++
				}
			}
			h.Most = max(h.Most, n)
			return h.did("pfc %v %v", on, powershell.Spread(c.Named["priority"]))
		}
	}
	r.Cmdlets["enable-netqosflowcontrol"], r.Cmdlets["disable-netqosflowcontrol"] = set(true), set(false)
	r.Cmdlets["get-netqostrafficclass"] = func(*powershell.Call) []any {
		percent, priorities := h.rest()
		all := append(slices.Clone(h.Classes), &Class{"[Default]", "ETS", percent, priorities})
		return objects(all, func(c *Class) *powershell.Object {
			return powershell.NewObject("Name", c.Name, "Algorithm", c.Algorithm, "BandwidthPercentage", c.Percent, "Priority", c.Priorities, "InterfaceAlias", "")
		})
	}
	check := func() {
		if percent, _ := h.rest(); percent < 1 {
			powershell.Throw("the shares leave %d %% to [Default]", percent)
		}
	}
	r.Cmdlets["new-netqostrafficclass"] = func(c *powershell.Call) []any {
		n := &Class{c.Str("name"), c.Str("algorithm"), powershell.Int(c.Named["bandwidthpercentage"]), powershell.Spread(c.Named["priority"])}
		for _, o := range h.Classes {
			if strings.EqualFold(o.Name, n.Name) || slices.ContainsFunc(n.Priorities, func(p any) bool { return slices.Contains(o.Priorities, p) }) {
				powershell.Throw("traffic class %q takes the name or a priority of %q", n.Name, o.Name)
			}
		}
		h.Classes = append(h.Classes, n)
		check()
		return h.did("class %s", n.Name)
	}
	r.Cmdlets["set-netqostrafficclass"] = func(c *powershell.Call) []any {
		for _, o := range h.Classes {
			if strings.EqualFold(o.Name, c.Str("name")) {
				o.Percent = powershell.Int(c.Named["bandwidthpercentage"])
				check()
				return h.did("class %s %d", o.Name, o.Percent)
			}
		}
		powershell.Throw("no traffic class %q", c.Str("name"))
		return nil
	}
	r.Cmdlets["remove-netqostrafficclass"] = func(c *powershell.Call) []any {
		h.Classes = slices.DeleteFunc(h.Classes, func(o *Class) bool {
			return slices.ContainsFunc(c.Input, func(x any) bool { return x.(*powershell.Object).Self == o })
		})
		return h.did("no class")
	}
	r.Cmdlets["get-netqosdcbxsetting"] = func(c *powershell.Call) []any {
		if !c.Has("interfacealias") {
			return []any{powershell.NewObject("InterfaceAlias", "", "Willing", h.Willing)}
		}
		return []any{powershell.NewObject("InterfaceAlias", c.Str("interfacealias"), "Willing", h.NIC(c.Str("interfacealias")).Willing)}
	}
	r.Cmdlets["set-netqosdcbxsetting"] = func(c *powershell.Call) []any {
		if c.Has("interfacealias") {
			h.NIC(c.Str("interfacealias")).Willing = powershell.True(c.Named["willing"])
		} else {
			h.Willing = powershell.True(c.Named["willing"])
		}
		return h.did("willing")
	}
}
