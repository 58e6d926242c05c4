package windows

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/rocec/rocec/deploy/lab/powershell"
)

// Cluster is a model of Network ATC: intents of a cluster, and a service that
// makes of them what the documents say on each host.
type Cluster struct {
	Name    string // of the cluster, "" for a host in none
	Intents []*Intent
	Global  *powershell.Object
	Silent  int    // polls of Get-NetIntentStatus that throw
	Open    int    // polls of Get-NetIntentStatus that still see work
	Fails   string // the error that every intent ends with
	Fresh   bool   // throws until the first intent is there
	started bool
}

// NewCluster is a cluster in which Network ATC was never used.
func NewCluster(name string) *Cluster {
	return &Cluster{Name: name, Fresh: true, Global: overrideObject("New-NetIntentGlobalClusterOverrides")}
}

// Intent is an intent of Network ATC.
type Intent struct {
	Name      string
	Types     []string
	Adapters  []string
	VLANs     []any
	Mgmt      any
	Overrides map[string]*powershell.Object // by kind
}

// overrideObject is an override object: a property for each parameter of the cmdlet.
func overrideObject(cmdlet string) *powershell.Object {
	o := powershell.NewObject("InstanceId", "6f2c", "ObjectVersion", int64(1))
	for _, p := range table().parameters(cmdlet) {
		o.Set(p, nil)
	}
	return o
}

// Hold is an intent that others made.
func (a *Cluster) Hold(name string, types []string, adapters ...string) {
	i := a.intent(name)
	i.Types, i.Adapters = types, adapters
	a.Intents, a.started = append(a.Intents, i), true
}

func (a *Cluster) intent(name string) *Intent {
	i := &Intent{Name: name, Overrides: map[string]*powershell.Object{}, VLANs: []any{int64(711), int64(712)}}
	for kind, cmdlet := range overrideCmdlets {
		if kind != "Cluster" {
			i.Overrides[kind] = overrideObject(cmdlet)
		}
	}
	return i
}

func (a *Cluster) find(name string) *Intent {
	for _, i := range a.Intents {
		if strings.EqualFold(i.Name, name) {
			return i
		}
	}
	return nil
}

var overrideCmdlets = map[string]string{
	"Adapter": "new-netintentadapterpropertyoverrides", "Qos": "new-netintentqospolicyoverrides",
	"Switch": "new-netintentswitchconfigurationoverrides", "Storage": "new-netintentstorageoverrides", "Cluster": "new-netintentglobalclusteroverrides",
}

func (a *Cluster) register(h *Host, r *powershell.Runner) {
	if h.has("Failover-Clustering") {
		r.Cmdlets["get-cluster"] = func(*powershell.Call) []any {
			if a.Name == "" {
				return nil
			}
			return []any{powershell.NewObject("Name", a.Name, "SetSMBBandwidthLimit", int64(1))}
		}
	}
	if !h.has("NetworkATC") {
		return
	}
	for _, cmdlet := range overrideCmdlets {
		r.Cmdlets[cmdlet] = func(c *powershell.Call) []any {
			return []any{overrideObject(cmdlet)}
		}
	}
	on := func(name string, f func(*powershell.Call) []any) {
		r.Cmdlets[name] = func(c *powershell.Call) []any {
			if c.Has("clustername") && c.Str("clustername") != a.Name {
				powershell.Throw("no cluster %q", c.Str("clustername"))
			}
			return f(c)
		}
	}
	on("get-netintent", func(c *powershell.Call) []any {
		if a.Fresh && !a.started {
			powershell.Throw("Network ATC was never configured")
		}
		if c.Has("globaloverrides") {
			return []any{powershell.NewObject("ClusterOverride", a.Global)}
		}
		return objects(a.Intents, a.show)
	})
	on("get-netintentstatus", func(c *powershell.Call) (out []any) {
		if a.Silent > 0 {
			a.Silent--
			powershell.Throw("there is no status")
		}
		for _, i := range a.Intents {
			if c.Has("name") && !strings.EqualFold(i.Name, c.Str("name")) {
				continue
			}
			configuration, provisioning := "Success", "Completed"
			switch {
			case a.Open > 0:
				configuration, provisioning = "Provisioning", "Pending"
				a.Open--
			case a.Fails != "":
				configuration = "Failed"
			}
			out = append(out, powershell.NewObject("IntentName", i.Name, "Host", h.Computer, "ConfigurationStatus", configuration, "ProvisioningStatus", provisioning, "Error", a.Fails))
		}
		return out
	})
	a.changing(h, on)
}

// changing are the cmdlets that change intents.
func (a *Cluster) changing(h *Host, on func(name string, f func(*powershell.Call) []any)) {
	on("add-netintent", func(c *powershell.Call) []any {
		if a.find(c.Str("name")) != nil {
			powershell.Throw("the intent exists")
		}
		i := a.intent(c.Str("name"))
		for _, t := range []string{"Management", "Compute", "Storage"} {
			if powershell.True(c.Arg(strings.ToLower(t))) {
				i.Types = append(i.Types, t)
			}
		}
		a.Intents, a.started = append(a.Intents, i), true
		a.change(h, i, c)
		return h.did("add intent %s", i.Name)
	})
	on("set-netintent", func(c *powershell.Call) []any {
		if o, ok := c.Arg("globalclusteroverrides").(*powershell.Object); ok {
			a.Global = o
			return h.did("global")
		}
		i := a.find(c.Str("name"))
		if i == nil {
			powershell.Throw("no intent %q", c.Str("name"))
		}
		a.change(h, i, c)
		return h.did("set intent %s", i.Name)
	})
	on("update-netintentadapter", func(c *powershell.Call) []any {
		i := a.find(c.Str("name"))
		if i == nil {
			powershell.Throw("no intent %q", c.Str("name"))
		}
		a.change(h, i, c)
		return h.did("adapters of %s", i.Name)
	})
	on("remove-netintent", func(c *powershell.Call) []any {
		a.Intents = slices.DeleteFunc(a.Intents, func(i *Intent) bool { return strings.EqualFold(i.Name, c.Str("name")) })
		return h.did("no intent %s", c.Str("name"))
	})
}

func (a *Cluster) show(i *Intent) *powershell.Object {
	o := powershell.NewObject("IntentName", i.Name, "Scope", "Cluster", "StorageVLANs", i.VLANs, "ManagementVLAN", i.Mgmt,
		"AdapterAdvancedParametersOverride", i.Overrides["Adapter"], "QosPolicyOverride", i.Overrides["Qos"],
		"SwitchConfigOverride", i.Overrides["Switch"], "IPOverride", i.Overrides["Storage"])
	names := []any{}
	for _, n := range i.Adapters {
		names = append(names, n)
	}
	o.Set("NetAdapterNamesAsList", names)
	for _, t := range []string{"Management", "Compute", "Storage", "Stretch"} {
		o.Set("Is"+t+"IntentSet", slices.Contains(i.Types, t))
	}
	return o
}

// change takes arguments into an intent, and lets the service do its work.
func (a *Cluster) change(h *Host, i *Intent, c *powershell.Call) {
	if c.Has("adaptername") {
		i.Adapters = nil
		for _, n := range powershell.Spread(c.Arg("adaptername")) {
			i.Adapters = append(i.Adapters, h.NIC(powershell.String(n)).Name)
		}
	}
	if c.Has("storagevlans") {
		i.VLANs = powershell.Spread(c.Arg("storagevlans"))
	}
	if c.Has("managementvlan") {
		i.Mgmt = c.Arg("managementvlan")
	}
	for kind, names := range map[string][]string{
		"Adapter": {"adapterpropertyoverrides"}, "Qos": {"qospolicyoverrides"}, "Switch": {"switchpropertyoverrides", "switchoverrides"}, "Storage": {"storageoverrides"},
	} {
		for _, n := range names {
			if o, ok := c.Arg(n).(*powershell.Object); ok {
				i.Overrides[kind] = o
			}
		}
	}
	a.Open = 2
	a.provision(h, i)
}

// value is an override, else the default of Network ATC.
func (i *Intent) value(kind, name string, otherwise int64) int64 {
	if v := i.Overrides[kind].Field(name); v != nil {
		return powershell.Int(v)
	}
	return otherwise
}

// vlan is the storage VLAN of the adapter at a place, 0 where too few were given.
func (i *Intent) vlan(k int) any {
	if k < len(i.VLANs) {
		return i.VLANs[k]
	}
	return int64(0)
}

// keyword is an advanced property that Network ATC sets; there must be one.
func (h *Host) keyword(n *NIC, keyword string) *Property {
	p := n.Property(keyword)
	if p == nil {
		powershell.Throw("the driver of %s does not list %s", n.Name, keyword)
	}
	return p
}

// provision does on the host what an intent stands for.
func (a *Cluster) provision(h *Host, i *Intent) {
	storage := slices.Contains(i.Types, "Storage")
	for k, name := range i.Adapters {
		n := h.NIC(name)
		for _, p := range []struct{ Name, Keyword string }{{"JumboPacket", "*JumboPacket"}, {"FlowControl", "*FlowControl"}, {"NetworkDirectTechnology", "*NetworkDirectTechnology"}} {
			if v := i.Overrides["Adapter"].Field(p.Name); v != nil {
				h.keyword(n, p.Keyword).Value = powershell.String(v)
			}
		}
		n.restarted()
		n.RDMA = i.value("Adapter", "NetworkDirect", 1) == 1
		n.QoS, n.Willing = storage, false
		if !slices.Contains(i.Types, "Compute") {
			h.keyword(n, "VlanID").Value = powershell.String(i.vlan(k))
			a.address(i, n, k)
		}
	}
	if storage {
		smb, cluster := i.value("Qos", "PriorityValue8021Action_SMB", 3), i.value("Qos", "PriorityValue8021Action_Cluster", 7)
		h.Willing, h.PFC = false, [8]bool{}
		if smb < 0 || smb > 7 || cluster < 0 || cluster > 7 {
			powershell.Throw("priorities %d and %d are none", smb, cluster)
		}
		h.PFC[smb] = true
		h.Policies = []*Policy{
			{Name: "Cluster", Template: "Cluster", Protocol: "None", Priority: cluster, DSCP: -1, Precedence: 127},
			{Name: "SMB_Direct", Template: "None", Protocol: "None", NetDirect: i.value("Qos", "NetDirectPortMatchCondition", 445), Priority: smb, DSCP: -1, Precedence: 127},
			{Name: "Default", Template: "Default", Protocol: "None", DSCP: -1, Precedence: 127},
		}
		h.Classes = []*Class{
			{"Cluster", "ETS", i.value("Qos", "BandwidthPercentage_Cluster", 1), []any{cluster}},
			{"SMB_Direct", "ETS", i.value("Qos", "BandwidthPercentage_SMB", 50), []any{smb}},
		}
	}
	if slices.Contains(i.Types, "Compute") {
		a.converge(h, i)
	}
}

// address is what automatic addressing gives, unless it is switched off.
func (a *Cluster) address(i *Intent, n *NIC, k int) {
	if i.Overrides["Storage"].Field("enableautomaticipgeneration") != false {
		n.Addresses = []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("10.71.%d.7/24", k+1))}
	}
}

func (a *Cluster) converge(h *Host, i *Intent) {
	if !slices.ContainsFunc(h.Switches, func(s *Switch) bool { return s.Name == "ConvergedSwitch("+i.Name+")" }) {
		s := &Switch{Name: "ConvergedSwitch(" + i.Name + ")"}
		h.Switches = append(h.Switches, s)
		var moved []netip.Prefix
		for _, name := range i.Adapters {
			n := h.NIC(name)
			n.Bound, s.Members = []string{"vms_pp"}, append(s.Members, n.Description)
			moved, n.Addresses = append(moved, n.Addresses...), nil
		}
		if slices.Contains(i.Types, "Management") {
			h.addVNIC(s.Name, "vManagement("+i.Name+")", "vManagement("+i.Name+")").Addresses = moved
			for k, route := range h.Routes {
				for _, name := range i.Adapters {
					if h.NIC(name).GUID == route[0] {
						h.Routes[k][0] = "{vnic-vManagement(" + i.Name + ")}"
					}
				}
			}
		}
		if slices.Contains(i.Types, "Storage") {
			for k, name := range i.Adapters {
				label := "vSMB(" + i.Name + "#" + name + ")"
				n := h.addVNIC(s.Name, label, label)
				n.Pin, n.Tag, n.RDMA = h.NIC(name).GUID, "On", true
				a.address(i, n, k)
			}
		}
	}
	s := h.Switches[len(h.Switches)-1]
	s.Algorithm = "HyperVPort"
	if v := i.Overrides["Switch"].Field("loadbalancingalgorithm"); v != nil {
		s.Algorithm = powershell.String(v)
	}
	for k, name := range i.Adapters {
		for _, n := range h.NICs {
			if n.Virtual && n.Name == "vSMB("+i.Name+"#"+name+")" {
				n.Isolation = powershell.Int(i.vlan(k))
				n.Property("*JumboPacket").Value = h.keyword(h.NIC(name), "*JumboPacket").Value
			}
			if n.Virtual && n.Name == "vManagement("+i.Name+")" {
				n.Isolation = powershell.Int(i.Mgmt)
			}
		}
	}
}
