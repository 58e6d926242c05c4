package windows

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocec/rocec/targets/oracle"
)

// clusterATC is a model of Network ATC: intents of a cluster, and a service that
// makes of them what the documents say on each host. Parameters are checked
// against the table of cmdlets, since scripts pass them by splatting.
type clusterATC struct {
	name    string // of the cluster, "" for a host in none
	table   map[string]cmdletTable
	intents []*modelIntent
	global  *psObject
	silent  int    // polls of Get-NetIntentStatus that throw
	open    int    // polls of Get-NetIntentStatus that still see work
	fails   string // the error that every intent ends with
	fresh   bool   // throws until the first intent is there
	started bool
}

type modelIntent struct {
	name      string
	types     []string
	adapters  []string
	vlans     []any
	mgmt      any
	overrides map[string]*psObject // by kind
}

type cmdletTable struct {
	Sets map[string]struct {
		Mandatory, Optional []string
	} `json:"parameter_sets"`
	Parameters map[string]struct {
		Range []int64
	}
}

func newATC(t *testing.T, name string) *clusterATC {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(oracle.Dir(t), "powershell-cmdlets.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Cmdlets map[string]cmdletTable }
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	a := &clusterATC{name: name, table: map[string]cmdletTable{}, fresh: true}
	for n, c := range doc.Cmdlets {
		if strings.Contains(n, "NetIntent") {
			a.table[strings.ToLower(n)] = c
		}
	}
	a.global = a.object("new-netintentglobalclusteroverrides")
	return a
}

// object is an override object: a property for each parameter of the cmdlet.
func (a *clusterATC) object(cmdlet string) *psObject {
	o := newObject("InstanceId", "6f2c", "ObjectVersion", int64(1))
	var names []string
	for p := range a.table[cmdlet].Parameters {
		names = append(names, p)
	}
	slices.Sort(names)
	for _, p := range names {
		o.set(p, nil)
	}
	return o
}

// check demands one set of parameters that takes all that was given.
func (a *clusterATC) check(c *psCall) {
	def, ok := a.table[c.name]
	if !ok {
		panic("no cmdlet " + c.name)
	}
	has := func(list []string, p string) bool {
		return slices.ContainsFunc(list, func(x string) bool { return strings.EqualFold(x, p) })
	}
	for _, set := range def.Sets {
		fits := true
		for p := range c.named {
			fits = fits && (p == "erroraction" || has(set.Mandatory, p) || has(set.Optional, p))
		}
		for _, p := range set.Mandatory {
			fits = fits && c.has(strings.ToLower(p))
		}
		if fits && len(c.rest) == 0 {
			return
		}
	}
	panic(fmt.Sprintf("no set of %s takes %v", c.name, c.named))
}

// holds is an intent that others made.
func (a *clusterATC) holds(name string, types []string, adapters ...string) {
	i := a.intent(name)
	i.types, i.adapters = types, adapters
	a.intents, a.started = append(a.intents, i), true
}

func (a *clusterATC) intent(name string) *modelIntent {
	i := &modelIntent{name: name, overrides: map[string]*psObject{}, vlans: []any{int64(711), int64(712)}}
	for kind, cmdlet := range overrideCmdlets {
		if kind != "Cluster" {
			i.overrides[kind] = a.object(cmdlet)
		}
	}
	return i
}

func (a *clusterATC) find(name string) *modelIntent {
	for _, i := range a.intents {
		if strings.EqualFold(i.name, name) {
			return i
		}
	}
	return nil
}

var overrideCmdlets = map[string]string{
	"Adapter": "new-netintentadapterpropertyoverrides", "Qos": "new-netintentqospolicyoverrides",
	"Switch": "new-netintentswitchconfigurationoverrides", "Storage": "new-netintentstorageoverrides", "Cluster": "new-netintentglobalclusteroverrides",
}

func (a *clusterATC) register(h *host, r *psRunner) {
	if h.has("Failover-Clustering") {
		r.cmdlets["get-cluster"] = func(*psCall) []any {
			if a.name == "" {
				return nil
			}
			return []any{newObject("Name", a.name, "SetSMBBandwidthLimit", int64(1))}
		}
	}
	if !h.has("NetworkATC") {
		return
	}
	for _, cmdlet := range overrideCmdlets {
		r.cmdlets[cmdlet] = func(c *psCall) []any {
			a.check(c)
			return []any{a.object(cmdlet)}
		}
	}
	on := func(name string, f func(*psCall) []any) {
		r.cmdlets[name] = func(c *psCall) []any {
			a.check(c)
			if c.has("clustername") && c.str("clustername") != a.name {
				throw("no cluster %q", c.str("clustername"))
			}
			return f(c)
		}
	}
	on("get-netintent", func(c *psCall) []any {
		if a.fresh && !a.started {
			throw("Network ATC was never configured")
		}
		if c.has("globaloverrides") {
			return []any{newObject("ClusterOverride", a.global)}
		}
		return objects(a.intents, a.show)
	})
	on("get-netintentstatus", func(c *psCall) (out []any) {
		if a.silent > 0 {
			a.silent--
			throw("there is no status")
		}
		for _, i := range a.intents {
			if c.has("name") && !strings.EqualFold(i.name, c.str("name")) {
				continue
			}
			configuration, provisioning := "Success", "Completed"
			switch {
			case a.open > 0:
				configuration, provisioning = "Provisioning", "Pending"
				a.open--
			case a.fails != "":
				configuration = "Failed"
			}
			out = append(out, newObject("IntentName", i.name, "Host", h.computer, "ConfigurationStatus", configuration, "ProvisioningStatus", provisioning, "Error", a.fails))
		}
		return out
	})
	on("add-netintent", func(c *psCall) []any {
		if a.find(c.str("name")) != nil {
			throw("the intent exists")
		}
		i := a.intent(c.str("name"))
		for _, t := range []string{"Management", "Compute", "Storage"} {
			if truthy(c.named[strings.ToLower(t)]) {
				i.types = append(i.types, t)
			}
		}
		a.intents, a.started = append(a.intents, i), true
		a.change(h, i, c)
		return h.did("add intent %s", i.name)
	})
	on("set-netintent", func(c *psCall) []any {
		if o, ok := c.named["globalclusteroverrides"].(*psObject); ok {
			a.global = o
			return h.did("global")
		}
		i := a.find(c.str("name"))
		if i == nil {
			throw("no intent %q", c.str("name"))
		}
		a.change(h, i, c)
		return h.did("set intent %s", i.name)
	})
	on("update-netintentadapter", func(c *psCall) []any {
		i := a.find(c.str("name"))
		a.change(h, i, c)
		return h.did("adapters of %s", i.name)
	})
	on("remove-netintent", func(c *psCall) []any {
		a.intents = slices.DeleteFunc(a.intents, func(i *modelIntent) bool { return strings.EqualFold(i.name, c.str("name")) })
		return h.did("no intent %s", c.str("name"))
	})
}

func (a *clusterATC) show(i *modelIntent) *psObject {
	o := newObject("IntentName", i.name, "Scope", "Cluster", "StorageVLANs", i.vlans, "ManagementVLAN", i.mgmt,
		"AdapterAdvancedParametersOverride", i.overrides["Adapter"], "QosPolicyOverride", i.overrides["Qos"],
		"SwitchConfigOverride", i.overrides["Switch"], "IPOverride", i.overrides["Storage"])
	names := []any{}
	for _, n := range i.adapters {
		names = append(names, n)
	}
	o.set("NetAdapterNamesAsList", names)
	for _, t := range []string{"Management", "Compute", "Storage", "Stretch"} {
		o.set("Is"+t+"IntentSet", slices.Contains(i.types, t))
	}
	return o
}

// change takes arguments into an intent, and lets the service do its work.
func (a *clusterATC) change(h *host, i *modelIntent, c *psCall) {
	if c.has("adaptername") {
		i.adapters = nil
		for _, n := range spread(c.named["adaptername"]) {
			i.adapters = append(i.adapters, h.nic(toString(n)).name)
		}
	}
	if c.has("storagevlans") {
		i.vlans = spread(c.named["storagevlans"])
	}
	if c.has("managementvlan") {
		i.mgmt = c.named["managementvlan"]
	}
	for kind, names := range map[string][]string{
		"Adapter": {"adapterpropertyoverrides"}, "Qos": {"qospolicyoverrides"}, "Switch": {"switchpropertyoverrides", "switchoverrides"}, "Storage": {"storageoverrides"},
	} {
		for _, n := range names {
			if o, ok := c.named[n].(*psObject); ok {
				i.overrides[kind] = o
			}
		}
	}
	a.open = 2
	a.provision(h, i)
}

// value is an override, else the default of Network ATC.
func (i *modelIntent) value(kind, name string, otherwise int64) int64 {
	if v := i.overrides[kind].values[strings.ToLower(name)]; v != nil {
		return toInt(v)
	}
	return otherwise
}

// provision does on the host what an intent stands for.
func (a *clusterATC) provision(h *host, i *modelIntent) {
	storage := slices.Contains(i.types, "Storage")
	for k, name := range i.adapters {
		n := h.nic(name)
		for _, p := range []struct{ name, keyword string }{{"JumboPacket", "*JumboPacket"}, {"FlowControl", "*FlowControl"}, {"NetworkDirectTechnology", "*NetworkDirectTechnology"}} {
			if v := i.overrides["Adapter"].values[strings.ToLower(p.name)]; v != nil {
				n.property(p.keyword).value = toString(v)
			}
		}
		n.mtu = toInt(n.property("*JumboPacket").value) - ethernetHeader
		n.rdma = i.value("Adapter", "NetworkDirect", 1) == 1
		n.qos, n.willing = storage, false
		if !slices.Contains(i.types, "Compute") {
			n.property("VlanID").value = toString(i.vlans[k])
			a.address(i, n, k)
		}
	}
	if storage {
		smb, cluster := i.value("Qos", "PriorityValue8021Action_SMB", 3), i.value("Qos", "PriorityValue8021Action_Cluster", 7)
		h.willing, h.pfc = false, [8]bool{}
		h.pfc[smb] = true
		h.policies = []*hostPolicy{
			{name: "Cluster", template: "Cluster", protocol: "None", priority: cluster, dscp: -1, precedence: 127},
			{name: "SMB_Direct", template: "None", protocol: "None", netDirect: i.value("Qos", "NetDirectPortMatchCondition", 445), priority: smb, dscp: -1, precedence: 127},
			{name: "Default", template: "Default", protocol: "None", dscp: -1, precedence: 127},
		}
		h.classes = []*hostClass{
			{"Cluster", "ETS", i.value("Qos", "BandwidthPercentage_Cluster", 1), []any{cluster}},
			{"SMB_Direct", "ETS", i.value("Qos", "BandwidthPercentage_SMB", 50), []any{smb}},
		}
	}
	if slices.Contains(i.types, "Compute") {
		a.converge(h, i)
	}
}

// address is what automatic addressing gives, unless it is switched off.
func (a *clusterATC) address(i *modelIntent, n *hostNIC, k int) {
	if i.overrides["Storage"].values["enableautomaticipgeneration"] != false {
		n.addresses = []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("10.71.%d.7/24", k+1))}
	}
}

func (a *clusterATC) converge(h *host, i *modelIntent) {
	if !slices.ContainsFunc(h.switches, func(s *hostSwitch) bool { return s.name == "ConvergedSwitch("+i.name+")" }) {
		s := &hostSwitch{name: "ConvergedSwitch(" + i.name + ")"}
		h.switches = append(h.switches, s)
		var moved []netip.Prefix
		for _, name := range i.adapters {
			n := h.nic(name)
			n.bound, s.members = []string{"vms_pp"}, append(s.members, n.description)
			moved, n.addresses = append(moved, n.addresses...), nil
		}
		if slices.Contains(i.types, "Management") {
			a.vnic(h, s, "vManagement("+i.name+")").addresses = moved
			for k, route := range h.routes {
				for _, name := range i.adapters {
					if h.nic(name).guid == route[0] {
						h.routes[k][0] = "{vnic-vManagement(" + i.name + ")}"
					}
				}
			}
		}
		if slices.Contains(i.types, "Storage") {
			for k, name := range i.adapters {
				n := a.vnic(h, s, "vSMB("+i.name+"#"+name+")")
				n.pin, n.tag, n.rdma = h.nic(name).guid, "On", true
				a.address(i, n, k)
			}
		}
	}
	s := h.switches[len(h.switches)-1]
	s.algorithm = "HyperVPort"
	if v := i.overrides["Switch"].values["loadbalancingalgorithm"]; v != nil {
		s.algorithm = toString(v)
	}
	for k, name := range i.adapters {
		for _, n := range h.nics {
			if n.virtual && n.name == "vSMB("+i.name+"#"+name+")" {
				n.isolation = toInt(i.vlans[k])
				n.property("*JumboPacket").value = h.nic(name).property("*JumboPacket").value
			}
			if n.virtual && n.name == "vManagement("+i.name+")" {
				n.isolation = toInt(i.mgmt)
			}
		}
	}
}

func (a *clusterATC) vnic(h *host, s *hostSwitch, name string) *hostNIC {
	n := &hostNIC{
		name: name, guid: "{vnic-" + name + "}", description: "Hyper-V Virtual Ethernet Adapter " + name,
		index: int64(30 + len(h.nics)), mbps: 50000, virtual: true, rdmaAble: true, mtu: 1500, on: s.name, tag: "Off",
		properties: []*hostProperty{{keyword: "*JumboPacket", value: "1514", valid: []string{"1514", "4088", "9014"}}},
	}
	h.nics = append(h.nics, n)
	return n
}
