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
	Classes                      int64
	Addresses                    []netip.Prefix
	MTU                          int64
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
			DCB: true, RDMAAble: true, Willing: true, Classes: 8, MTU: 1500, Bound: []string{"ms_tcpip", "ms_tcpip6"},
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

// pick selects adapters by -Name or by what is piped in.
func (h *Host) pick(c *powershell.Call) (list []*NIC) {
	want := strings.ReplaceAll(c.Str("name"), "`", "")
	for _, n := range h.NICs {
		piped := slices.ContainsFunc(c.Input, func(x any) bool { o, ok := x.(*powershell.Object); return ok && o.Self == n })
		if c.Input != nil && piped || c.Input == nil && (want == "" || want == "*" || strings.EqualFold(want, n.Name)) {
			list = append(list, n)
		}
	}
	if len(list) == 0 && c.Str("erroraction") != "SilentlyContinue" && c.Input == nil {
		powershell.Throw("no adapter %q", want)
	}
	return list
}

// NIC is the adapter of a name; there must be one.
func (h *Host) NIC(name string) *NIC {
	for _, n := range h.NICs {
		if strings.EqualFold(n.Name, name) {
			return n
		}
	}
	powershell.Throw("no adapter %q", name)
	return nil
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
	r.Cmdlets["get-command"] = func(c *powershell.Call) []any {
		name := strings.ToLower(c.Str("name"))
		if _, ok := r.Cmdlets[name]; ok {
			return []any{powershell.NewObject("Name", name)}
		}
		return nil
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
