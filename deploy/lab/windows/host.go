// Package windows is a simulated Windows Server for the lab: adapters, QoS,
// Hyper-V, Network ATC, scheduled tasks and files, behind the PowerShell of
// package powershell. It takes the intent of a node and gives a Machine in the
// state in which the node's programs find a host. Every cmdlet and parameter is
// checked against Microsoft's documents (cmdlets.json); what is not there fails
// as an unknown command does. It forwards no packets and knows no drivers.
package windows

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/rocec/rocec/deploy/lab/powershell"
)

// Host is a model of a Windows Server: what the cmdlets of the engine read and
// change, with the failures that Microsoft documents (a second class of one
// priority, shares above 99 %, a value the driver does not list).
type Host struct {
	Computer string
	Build    int64
	Features []string // installed
	NICs     []*NIC
	Policies []*Policy
	GPO      []*Policy // from a group policy
	PFC      [8]bool
	Classes  []*Class // without [Default]
	Willing  bool
	DHCP     []string // adapters with DHCP
	Routes   [][2]string
	Switches []*Switch
	Direct   string
	Across   string
	Limit    map[string]int64
	Option   string
	ATC      *Cluster // of the cluster, nil for none
	Jobs     int      // polls of Get-StorageJob that still see one running
	Boot     int64    // seconds since 1970 at which Windows started
	Clock    int64    // seconds since, at the start of the next Run

	// Dropped is what the driver counts of frames that a priority of an adapter dropped; nil: none.
	Dropped func(counter string) uint64

	Changes  []string // commands that changed something
	Restarts []string
	Most     int                 // lossless priorities at the same time
	Scripts  *powershell.Scripts // for Run, may be shared; nil: none are kept
	Files    map[string]string   // by path, kept between runs of Run
}

// NIC is an adapter, of hardware or a host vNIC.
type NIC struct {
	Name, GUID, Description, MAC string
	PCI                          [4]int64
	Index, Mbps                  int64
	Driver                       string
	Virtual, Down                bool
	Properties                   []*Property
	DCB, QoS, RDMAAble, RDMA     bool
	Willing                      bool
	WinOF                        bool // its driver is NVIDIA's, which brings counter sets
	Classes                      int64
	Own                          []*Class // what it runs instead of those of the host (Switch-NetQosTrafficClass); nil for those
	Addresses                    []netip.Prefix
	MTU                          int64 // of the interface
	link                         int64 // the most that the driver carries; 0 for what MTU was at first
	Bound                        []string
	// Of a host vNIC.
	On, Pin, Tag string
	VLAN         int64
	Isolation    int64
}

// Property is an advanced property of an adapter.
type Property struct {
	Keyword, Value string
	Valid          []string
	Least, Most    string
}

// Policy is a NetQos policy.
type Policy struct {
	Name, Template, Protocol string
	Port, NetDirect          int64
	Toward                   bool // the port is that of the destination alone
	Priority, DSCP           int64
	Precedence               int64
	App                      string
}

// Class is a traffic class.
type Class struct {
	Name, Algorithm string
	Percent         int64
	Priorities      []any
}

// Switch is a virtual switch with embedded teaming.
type Switch struct {
	Name      string
	Members   []string // descriptions
	Algorithm string
}

// NewHost is a server with the adapters of a device under other names, as a
// vendor's driver leaves them.
func NewHost(computer string, names ...string) *Host {
	h := &Host{Computer: computer, Build: 26100, Willing: true, Direct: "Enabled", Across: "Blocked", Limit: map[string]int64{}, Boot: 1_700_000_000, Option: "Compression", Files: map[string]string{}}
	for i, name := range names {
		h.NICs = append(h.NICs, &NIC{
			Name: name, GUID: fmt.Sprintf("{guid-%d}", i), Description: fmt.Sprintf("NVIDIA ConnectX-6 Dx #%d", i+1), MAC: fmt.Sprintf("B83FD200000%d", i+1),
			PCI: [4]int64{0, 0x3b, 0, int64(i)}, Index: int64(10 + i), Mbps: 25000, Driver: "24.4.26429.0",
			DCB: true, RDMAAble: true, Willing: true, WinOF: true, Classes: 8, MTU: 1500, Bound: []string{"ms_tcpip", "ms_tcpip6"},
			Properties: []*Property{
				{Keyword: "*JumboPacket", Value: "1514", Least: "614", Most: "9614"},
				{Keyword: "*FlowControl", Value: "3", Valid: []string{"0", "1", "2", "3"}},
				{Keyword: "*NetworkDirect", Value: "0", Valid: []string{"0", "1"}},
				{Keyword: "*NetworkDirectTechnology", Value: "0", Valid: []string{"0", "1", "3", "4"}},
				{Keyword: "*NetworkDirectRoCEFrameSize", Value: "1024", Valid: []string{"256", "512", "1024", "2048", "4096"}},
				{Keyword: "DscpForGlobalFlowControl", Value: "26", Least: "0", Most: "63"},
				{Keyword: "VlanID", Value: "0", Least: "0", Most: "4094"},
			},
		})
	}
	return h
}

func (h *Host) did(format string, args ...any) []any {
	h.Changes = append(h.Changes, fmt.Sprintf(format, args...))
	return nil
}

// pick selects adapters by -Name, which takes patterns, or by what is piped in.
func (h *Host) pick(c *powershell.Call) []*NIC {
	return picked(c, h.NICs, "MSFT_NetAdapter", func(n *NIC) string { return n.Name })
}

// picked selects by -Name, which takes patterns, or by what is piped in. A name
// that nothing has is an error, a pattern is not.
func picked[T comparable](c *powershell.Call, all []T, class string, name func(T) string) (list []T) {
	if c.Input != nil {
		for _, x := range c.Input {
			if o, ok := x.(*powershell.Object); ok {
				if self, ok := o.Self.(T); ok && slices.Contains(all, self) {
					list = append(list, self)
				}
			}
		}
		return list
	}
	if !c.Has("name") {
		return slices.Clone(all)
	}
	for _, v := range powershell.Spread(c.Arg("name")) {
		want, n := powershell.String(v), len(list)
		for _, x := range all {
			if powershell.Like(name(x), want) {
				list = append(list, x)
			}
		}
		if len(list) == n && !strings.ContainsAny(escaped.Replace(want), "*?[") {
			powershell.Throw("No %s objects found with property 'Name' equal to '%s'.  Verify the value of the property and retry.", class, want)
		}
	}
	return list
}

// escaped takes away what a backtick makes a letter.
var escaped = strings.NewReplacer("`*", "", "`?", "", "`[", "", "`]", "")

// NIC is the adapter of a name; there must be one.
func (h *Host) NIC(name string) *NIC {
	for _, n := range h.NICs {
		if strings.EqualFold(n.Name, name) {
			return n
		}
	}
	powershell.Throw("No MSFT_NetAdapter objects found with property 'Name' equal to '%s'.  Verify the value of the property and retry.", name)
	return nil
}

// restarted is what a restart of an adapter changes: the driver reads its settings.
func (n *NIC) restarted() {
	if p := n.Property("*JumboPacket"); p != nil {
		n.link = powershell.Int(p.Value) - ethernetHeader
		n.MTU = n.link
	}
}

// within demands a number from least to most.
func within(c *powershell.Call, parameter string, v any, least, most int64) int64 {
	n := powershell.Int(v)
	if n < least || n > most {
		c.Mistake("Cannot validate argument on parameter '%s'. The argument %d is not from %d to %d.", parameter, n, least, most)
	}
	return n
}

// Property is an advanced property, nil where the driver has none.
func (n *NIC) Property(keyword string) *Property {
	for _, p := range n.Properties {
		if strings.EqualFold(p.Keyword, keyword) {
			return p
		}
	}
	return nil
}

func objects[T any](list []T, make func(T) *powershell.Object) (out []any) {
	for _, x := range list {
		o := make(x)
		o.Self = x
		out = append(out, o)
	}
	return out
}

func when(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}

func (h *Host) has(feature string) bool { return slices.Contains(h.Features, feature) }

// register gives the runner the cmdlets of this host. Those of a feature that
// is not installed do not exist.
func (h *Host) register(r *powershell.Runner) {
	r.Idle, r.Function = idle, inModule
	r.Cmdlets["get-command"] = func(c *powershell.Call) []any {
		name := strings.ToLower(c.Str("name"))
		if _, ok := r.Cmdlets[name]; !ok {
			powershell.Throw("The term '%s' is not recognized as the name of a cmdlet, function, script file, or operable program.", name)
		}
		return []any{powershell.NewObject("Name", name)}
	}
	h.system(r)
	h.adapters(r)
	h.policyCmdlets(r)
	h.dcb(r)
	h.addressCmdlets(r)
	h.hyperV(r)
	if h.ATC != nil {
		h.ATC.register(h, r)
	}
}

// idle are parameters that change nothing of what is simulated.
var idle = map[string][]string{
	// The model has one store, and IP settings that last.
	"get-netipaddress": {"policystore"}, "get-netipinterface": {"policystore"},
	// All host vNICs are those of the management operating system.
	"add-vmnetworkadapter": {"managementos"}, "remove-vmnetworkadapter": {"managementos"}, "get-vmnetworkadapter": {"managementos"},
	"set-vmnetworkadapter": {"managementos"}, "get-vmnetworkadaptervlan": {"managementos"}, "set-vmnetworkadaptervlan": {"managementos"},
	"get-vmnetworkadapterisolation": {"managementos"}, "get-vmnetworkadapterteammapping": {"managementos"},
	"set-vmnetworkadapterteammapping": {"managementos"}, "remove-vmnetworkadapterteammapping": {"managementos"},
	"install-windowsfeature": {"includemanagementtools"},
	// Batteries and the network are there, and nobody logs in.
	"new-scheduledtasksettingsset": {"allowstartifonbatteries", "dontstopifgoingonbatteries", "startwhenavailable"},
	"new-scheduledtaskprincipal":   {"logontype", "runlevel"},
	"register-scheduledtask":       {"description"},
	"set-netipinterface":           {"addressfamily"},
}

// inModule reports whether a cmdlet is a function of a module, as those are that
// are made of CIM classes or written in PowerShell. Those of the language and of
// Hyper-V are compiled.
func inModule(cmdlet string) bool {
	if cmdlet == "import-powershelldatafile" {
		return true
	}
	_, noun, _ := strings.Cut(cmdlet, "-")
	return !slices.Contains(powershell.Builtins(), cmdlet) && !strings.HasPrefix(noun, "vm") && noun != "ciminstance" && noun != "command"
}
