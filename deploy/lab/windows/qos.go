package windows

import (
	"math"
	"slices"
	"strings"

	"github.com/rocec/rocec/deploy/lab/powershell"
)

func (h *Host) policyCmdlets(r *powershell.Runner) {
	show := func(p *Policy) *powershell.Object {
		either, toward := p.Port, int64(0)
		if p.Toward {
			either, toward = 0, p.Port
		}
		return powershell.NewObject("Name", p.Name, "Owner", "Group Policy (Machine)", "Precedence", p.Precedence, "Template", p.Template,
			"NetDirectPortMatchCondition", p.NetDirect, "IPProtocolMatchCondition", p.Protocol, "IPPortMatchCondition", either,
			"IPDstPortStartMatchCondition", toward, "IPDstPortEndMatchCondition", toward, "PriorityValue8021Action", p.Priority, "DSCPAction", p.DSCP, "AppPathNameMatchCondition", p.App)
	}
	r.Cmdlets["get-netqospolicy"] = func(c *powershell.Call) []any {
		list := h.Policies
		if strings.EqualFold(c.Str("policystore"), "ActiveStore") {
			list = append(slices.Clone(list), h.GPO...)
		}
		return objects(picked(c, list, "MSFT_NetQosPolicySettingData", func(p *Policy) string { return p.Name }), show)
	}
	r.Cmdlets["new-netqospolicy"] = func(c *powershell.Call) []any {
		p := &Policy{Name: c.Str("name"), Template: "None", Protocol: "None", Priority: -1, DSCP: -1, Precedence: 127}
		if p.Name == "" {
			c.Mistake("Cannot bind argument to parameter 'Name' because it is an empty string.")
		}
		for _, q := range h.Policies {
			if strings.EqualFold(q.Name, p.Name) {
				powershell.Throw("policy %q exists", p.Name)
			}
		}
		if c.Has("priorityvalue8021action") {
			p.Priority = within(c, "PriorityValue8021Action", c.Arg("priorityvalue8021action"), 0, 7)
		}
		if c.Has("dscpaction") {
			p.DSCP = within(c, "DSCPAction", c.Arg("dscpaction"), 0, 63)
		}
		if c.Has("precedence") {
			p.Precedence = within(c, "Precedence", c.Arg("precedence"), 0, 255)
		}
		p.NetDirect = within(c, "NetDirectPortMatchCondition", c.Arg("netdirectportmatchcondition"), 0, math.MaxUint16)
		if p.Toward = c.Has("ipdstportmatchcondition"); p.Toward {
			p.Port = within(c, "IPDstPortMatchCondition", c.Arg("ipdstportmatchcondition"), 0, math.MaxUint16)
		} else {
			p.Port = within(c, "IPPortMatchCondition", c.Arg("ipportmatchcondition"), 0, math.MaxUint16)
		}
		for _, template := range []string{"Cluster", "Default", "SMB", "NFS", "LiveMigration", "iSCSI", "FCoE"} {
			if c.Has(strings.ToLower(template)) {
				p.Template = template
			}
		}
		if c.Has("ipprotocolmatchcondition") {
			p.Protocol = c.Str("ipprotocolmatchcondition")
		}
		h.Policies = append(h.Policies, p)
		return h.did("policy %s", p.Name)
	}
	r.Cmdlets["remove-netqospolicy"] = func(c *powershell.Call) []any {
		gone := picked(c, h.Policies, "MSFT_NetQosPolicySettingData", func(p *Policy) string { return p.Name })
		h.Policies = slices.DeleteFunc(h.Policies, func(p *Policy) bool { return slices.Contains(gone, p) })
		for _, p := range gone {
			h.did("no policy %s", p.Name)
		}
		return nil
	}
}

// classes are all traffic classes.
func (h *Host) classes() []*Class {
	percent, priorities := h.rest()
	return append(slices.Clone(h.Classes), &Class{defaultClass, "ETS", percent, priorities})
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
			if !c.Has("priority") {
				c.Mistake("flow control is switched by -Priority only here")
			}
			for _, p := range powershell.Spread(c.Arg("priority")) {
				h.PFC[within(c, "Priority", p, 0, 7)] = on
			}
			n := 0
			for _, p := range h.PFC {
				if p {
					n++
				}
			}
			h.Most = max(h.Most, n)
			return h.did("pfc %v %v", on, powershell.Spread(c.Arg("priority")))
		}
	}
	r.Cmdlets["enable-netqosflowcontrol"], r.Cmdlets["disable-netqosflowcontrol"] = set(true), set(false)
	name := func(c *Class) string { return c.Name }
	r.Cmdlets["get-netqostrafficclass"] = func(c *powershell.Call) []any {
		return objects(picked(c, h.classes(), classOfClasses, name), func(c *Class) *powershell.Object {
			return powershell.NewObject("Name", c.Name, "Algorithm", c.Algorithm, "BandwidthPercentage", c.Percent, "Priority", c.Priorities, "InterfaceAlias", "")
		})
	}
	r.Cmdlets["new-netqostrafficclass"] = func(c *powershell.Call) []any {
		h.addClass(c)
		return h.did("class %s", c.Str("name"))
	}
	r.Cmdlets["set-netqostrafficclass"] = func(c *powershell.Call) []any {
		for _, o := range picked(c, h.classes(), classOfClasses, name) {
			if o.Name == defaultClass || o.Algorithm != "ETS" {
				powershell.Throw("the share of %q is not set", o.Name)
			}
			old := o.Percent
			o.Percent = within(c, "BandwidthPercentage", c.Arg("bandwidthpercentage"), 1, 100)
			if percent, _ := h.rest(); percent < 1 {
				o.Percent = old
				powershell.Throw("the shares leave %d %% to [Default]", percent)
			}
			h.did("class %s %d", o.Name, o.Percent)
		}
		return nil
	}
	r.Cmdlets["remove-netqostrafficclass"] = func(c *powershell.Call) []any {
		gone := picked(c, h.Classes, classOfClasses, name)
		h.Classes = slices.DeleteFunc(h.Classes, func(o *Class) bool { return slices.Contains(gone, o) })
		return h.did("no class")
	}
	h.dcbx(r)
}

const (
	defaultClass   = "[Default]"
	classOfClasses = "MSFT_NetQosTrafficClassSettingData"
	mostClasses    = 7 // besides [Default]
)

// addClass is New-NetQosTrafficClass.
func (h *Host) addClass(c *powershell.Call) {
	n := &Class{Name: c.Str("name"), Algorithm: c.Str("algorithm")}
	if strings.EqualFold(n.Algorithm, "ETS") {
		n.Percent = within(c, "BandwidthPercentage", c.Arg("bandwidthpercentage"), 1, 100)
	}
	for _, p := range powershell.Spread(c.Arg("priority")) {
		n.Priorities = append(n.Priorities, within(c, "Priority", p, 0, 7))
	}
	if len(h.Classes) == mostClasses || n.Name == defaultClass {
		powershell.Throw("traffic class %q is one too many", n.Name)
	}
	for _, o := range h.Classes {
		if strings.EqualFold(o.Name, n.Name) || slices.ContainsFunc(n.Priorities, func(p any) bool { return slices.Contains(o.Priorities, p) }) {
			powershell.Throw("traffic class %q takes the name or a priority of %q", n.Name, o.Name)
		}
	}
	if percent, _ := h.rest(); percent-n.Percent < 1 {
		powershell.Throw("the shares leave %d %% to [Default]", percent-n.Percent)
	}
	h.Classes = append(h.Classes, n)
}

// dcbx are the settings of DCBX, of the host and of adapters that have DCB.
func (h *Host) dcbx(r *powershell.Runner) {
	nic := func(c *powershell.Call) *NIC {
		n := h.NIC(c.Str("interfacealias"))
		if !n.DCB {
			powershell.Throw("No MSFT_NetQosDcbxSettingData objects found with property 'InterfaceAlias' equal to '%s'.", n.Name)
		}
		return n
	}
	r.Cmdlets["get-netqosdcbxsetting"] = func(c *powershell.Call) []any {
		if !c.Has("interfacealias") {
			return []any{powershell.NewObject("InterfaceAlias", "", "Willing", h.Willing)}
		}
		n := nic(c)
		return []any{powershell.NewObject("InterfaceAlias", n.Name, "Willing", n.Willing)}
	}
	r.Cmdlets["set-netqosdcbxsetting"] = func(c *powershell.Call) []any {
		if c.Has("interfacealias") {
			nic(c).Willing = powershell.True(c.Arg("willing"))
		} else {
			h.Willing = powershell.True(c.Arg("willing"))
		}
		return h.did("willing")
	}
}
