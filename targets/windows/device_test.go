package windows

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// host is a model of a Windows Server: what the cmdlets of the engine read and
// change, with the failures that Microsoft documents (a second class of one
// priority, shares above 99 %, a value the driver does not list).
type host struct {
	computer string
	build    int64
	features []string // installed
	nics     []*hostNIC
	policies []*hostPolicy
	gpo      []*hostPolicy // from a group policy
	pfc      [8]bool
	classes  []*hostClass // without [Default]
	willing  bool
	dhcp     []string // adapters with DHCP
	routes   [][2]string
	switches []*hostSwitch
	direct   string
	across   string
	limit    map[string]int64
	option   string
	atc      *clusterATC // of the cluster, nil for none
	jobs     int         // polls of Get-StorageJob that still see one running
	boot     int64
	clock    int64 // seconds since, at the start of the next run

	changes  []string // commands that changed something
	restarts []string
	most     int // lossless priorities at the same time
	files    map[string]string
}

type hostNIC struct {
	name, guid, description, mac string
	pci                          [4]int64
	index, mbps                  int64
	driver                       string
	virtual, down                bool
	properties                   []*hostProperty
	dcb, qos, rdmaAble, rdma     bool
	willing                      bool
	classes                      int64
	addresses                    []netip.Prefix
	mtu                          int64
	bound                        []string
	// Of a host vNIC.
	on, pin, tag string
	vlan         int64
	isolation    int64
}

type hostProperty struct {
	keyword, value string
	valid          []string
	least, most    string
}

type hostPolicy struct {
	name, template, protocol string
	port, netDirect          int64
	priority, dscp           int64
	precedence               int64
	app                      string
}

type hostClass struct {
	name, algorithm string
	percent         int64
	priorities      []any
}

type hostSwitch struct {
	name      string
	members   []string // descriptions
	algorithm string
}

// newHost is a server with the adapters of a device under other names, as a
// vendor's driver leaves them.
func newHost(computer string, names ...string) *host {
	h := &host{computer: computer, build: 26100, willing: true, direct: "Enabled", across: "Blocked", limit: map[string]int64{}, boot: 1_700_000_000, option: "Compression", files: map[string]string{}}
	for i, name := range names {
		h.nics = append(h.nics, &hostNIC{
			name: name, guid: fmt.Sprintf("{guid-%d}", i), description: fmt.Sprintf("NVIDIA ConnectX-6 Dx #%d", i+1), mac: fmt.Sprintf("B83FD200000%d", i+1),
			pci: [4]int64{0, 0x3b, 0, int64(i)}, index: int64(10 + i), mbps: 25000, driver: "24.4.26429.0",
			dcb: true, rdmaAble: true, willing: true, classes: 8, mtu: 1500, bound: []string{"ms_tcpip", "ms_tcpip6"},
			properties: []*hostProperty{
				{keyword: "*JumboPacket", value: "1514", least: "614", most: "9614"},
				{keyword: "*FlowControl", value: "3", valid: []string{"0", "1", "2", "3"}},
				{keyword: "*NetworkDirect", value: "0", valid: []string{"0", "1"}},
				{keyword: "*NetworkDirectTechnology", value: "0", valid: []string{"0", "1", "3", "4"}},
				{keyword: "*NetworkDirectRoCEFrameSize", value: "1024", valid: []string{"256", "512", "1024", "2048", "4096"}},
				{keyword: "DscpForGlobalFlowControl", value: "26", least: "0", most: "63"},
				{keyword: "VlanID", value: "0", least: "0", most: "4094"},
			},
		})
	}
	return h
}

// run runs a script of a kit in the folder of a host.
func (h *host) run(files map[string]string, script string, params map[string]any) (code int, lines []string, out []any) {
	r := &psRunner{cmdlets: map[string]func(*psCall) []any{}, files: h.files, data: files[dataFile], now: h.boot + h.clock}
	h.register(r)
	h.clock += 1000
	code = r.run(files[script], params)
	return code, r.lines, r.out
}

func (h *host) did(format string, args ...any) []any {
	h.changes = append(h.changes, fmt.Sprintf(format, args...))
	return nil
}

// pick selects adapters by -Name or by what is piped in.
func (h *host) pick(c *psCall) (list []*hostNIC) {
	want := strings.ReplaceAll(c.str("name"), "`", "")
	for _, n := range h.nics {
		piped := slices.ContainsFunc(c.input, func(x any) bool { o, ok := x.(*psObject); return ok && o.self == n })
		if c.input != nil && piped || c.input == nil && (want == "" || want == "*" || strings.EqualFold(want, n.name)) {
			list = append(list, n)
		}
	}
	if len(list) == 0 && c.str("erroraction") != "SilentlyContinue" && c.input == nil {
		throw("no adapter %q", want)
	}
	return list
}

func (h *host) nic(name string) *hostNIC {
	for _, n := range h.nics {
		if strings.EqualFold(n.name, name) {
			return n
		}
	}
	throw("no adapter %q", name)
	return nil
}

func (n *hostNIC) property(keyword string) *hostProperty {
	for _, p := range n.properties {
		if strings.EqualFold(p.keyword, keyword) {
			return p
		}
	}
	return nil
}

func objects[T any](list []T, make func(T) *psObject) (out []any) {
	for _, x := range list {
		o := make(x)
		o.self = x
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

func (h *host) has(feature string) bool { return slices.Contains(h.features, feature) }

// register gives the runner the cmdlets of this host. Those of a feature that
// is not installed do not exist.
func (h *host) register(r *psRunner) {
	r.cmdlets["get-command"] = func(c *psCall) []any {
		name := strings.ToLower(c.str("name"))
		if _, ok := r.cmdlets[name]; ok {
			return []any{newObject("Name", name)}
		}
		return nil
	}
	h.system(r)
	h.adapters(r)
	h.policyCmdlets(r)
	h.dcb(r)
	h.addressCmdlets(r)
	h.hyperV(r)
	if h.atc != nil {
		h.atc.register(h, r)
	}
}

func (h *host) system(r *psRunner) {
	r.cmdlets["get-ciminstance"] = func(c *psCall) []any {
		if c.str("classname") == "Win32_OperatingSystem" {
			return []any{newObject("BuildNumber", fmt.Sprint(h.build), "ProductType", int64(3), "LastBootUpTime", psTime(h.boot))}
		}
		return []any{newObject("DNSHostName", h.computer, "Domain", "corp.example.com")}
	}
	r.cmdlets["get-windowsfeature"] = func(c *psCall) (out []any) {
		for _, f := range spread(c.named["name"]) {
			out = append(out, newObject("Name", f, "InstallState", when(h.has(toString(f)), "Installed", "Available")))
		}
		return out
	}
	r.cmdlets["install-windowsfeature"] = func(c *psCall) []any {
		h.features = append(h.features, c.str("name"))
		h.register(r)
		return h.did("install %s", c.str("name"))
	}
	r.cmdlets["get-storagejob"] = func(*psCall) []any {
		if h.jobs == 0 {
			return []any{newObject("JobState", "Completed")}
		}
		h.jobs--
		return []any{newObject("JobState", "Running")}
	}
	r.cmdlets["get-netoffloadglobalsetting"] = func(*psCall) []any {
		return []any{newObject("NetworkDirect", h.direct, "NetworkDirectAcrossIPSubnets", h.across)}
	}
	r.cmdlets["set-netoffloadglobalsetting"] = func(c *psCall) []any {
		if c.has("networkdirect") {
			h.direct = c.str("networkdirect")
		}
		if c.has("networkdirectacrossipsubnets") {
			h.across = c.str("networkdirectacrossipsubnets")
		}
		return h.did("offload")
	}
	if !h.has("FS-SMBBW") {
		return
	}
	r.cmdlets["get-smbbandwidthlimit"] = func(c *psCall) []any {
		if n, ok := h.limit[c.str("category")]; ok {
			return []any{newObject("BytesPerSecond", n)}
		}
		return nil
	}
	r.cmdlets["set-smbbandwidthlimit"] = func(c *psCall) []any {
		h.limit[c.str("category")] = toInt(c.named["bytespersecond"])
		return h.did("smb limit")
	}
	r.cmdlets["remove-smbbandwidthlimit"] = func(c *psCall) []any {
		delete(h.limit, c.str("category"))
		return h.did("smb limit")
	}
}

func (h *host) adapters(r *psRunner) {
	r.cmdlets["get-netadapter"] = func(c *psCall) []any {
		return objects(h.pick(c), func(n *hostNIC) *psObject {
			return newObject("Name", n.name, "InterfaceDescription", n.description, "InterfaceGuid", n.guid, "InterfaceIndex", n.index,
				"InterfaceAdminStatus", int64(1+len(when(n.down, "x", ""))), "Status", when(n.down, "Disabled", "Up"), "PermanentAddress", n.mac,
				"ReceiveLinkSpeed", n.mbps*1_000_000, "DriverProvider", "Mellanox", "DriverVersionString", n.driver, "Virtual", n.virtual)
		})
	}
	r.cmdlets["rename-netadapter"] = func(c *psCall) []any {
		for _, n := range h.nics {
			if strings.EqualFold(n.name, c.str("newname")) {
				throw("the name %q is taken", n.name)
			}
		}
		h.pick(c)[0].name = c.str("newname")
		return h.did("rename %s", c.str("newname"))
	}
	r.cmdlets["get-netadapterhardwareinfo"] = func(c *psCall) (out []any) {
		for _, n := range h.pick(c) {
			if !n.virtual {
				out = append(out, newObject("Name", n.name, "SegmentNumber", n.pci[0], "BusNumber", n.pci[1], "DeviceNumber", n.pci[2], "FunctionNumber", n.pci[3]))
			}
		}
		return out
	}
	r.cmdlets["get-netadapteradvancedproperty"] = func(c *psCall) (out []any) {
		for _, n := range h.pick(c) {
			out = append(out, objects(n.properties, func(p *hostProperty) *psObject {
				var valid any
				if len(p.valid) > 0 {
					list := []any{}
					for _, v := range p.valid {
						list = append(list, v)
					}
					valid = list
				}
				return newObject("Name", n.name, "RegistryKeyword", p.keyword, "RegistryValue", []any{p.value}, "ValidRegistryValues", valid,
					"NumericParameterMinValue", p.least, "NumericParameterMaxValue", p.most)
			})...)
		}
		return out
	}
	r.cmdlets["set-netadapteradvancedproperty"] = func(c *psCall) []any {
		for _, x := range c.input {
			o := x.(*psObject)
			p, v := o.self.(*hostProperty), c.str("registryvalue")
			if len(p.valid) > 0 && !slices.Contains(p.valid, v) {
				throw("%s does not take %s", p.keyword, v)
			}
			p.value = v
			h.did("%s %s=%s", toString(o.values["name"]), p.keyword, v)
		}
		if len(c.input) != 1 || c.named["norestart"] != true {
			throw("set %d properties, restart or not", len(c.input))
		}
		return nil
	}
	r.cmdlets["get-netadapterqos"] = func(c *psCall) (out []any) {
		for _, n := range h.pick(c) {
			if !n.dcb {
				continue
			}
			on := []any{}
			for _, p := range h.pfc {
				on = append(on, p && n.qos && !n.willing)
			}
			out = append(out, newObject("Name", n.name, "Enabled", n.qos,
				"HardwareCapabilities", newObject("NumberOfTrafficClasses", n.classes), "OperationalSettings", newObject("PriorityFlowControlEnableArray", on)))
		}
		return out
	}
	toggle := func(name string, set func(*hostNIC)) {
		r.cmdlets[name] = func(c *psCall) []any {
			for _, n := range h.pick(c) {
				set(n)
				h.did("%s %s", name, n.name)
			}
			return nil
		}
	}
	toggle("enable-netadapterqos", func(n *hostNIC) { n.qos = true })
	toggle("disable-netadapterqos", func(n *hostNIC) { n.qos = false })
	toggle("enable-netadapterrdma", func(n *hostNIC) { n.rdma = true })
	toggle("disable-netadapterrdma", func(n *hostNIC) { n.rdma = false })
	toggle("enable-netadapter", func(n *hostNIC) { n.down = false })
	toggle("disable-netadapter", func(n *hostNIC) { n.down = true })
	toggle("restart-netadapter", func(n *hostNIC) {
		h.restarts = append(h.restarts, n.name)
		if p := n.property("*JumboPacket"); p != nil {
			n.mtu = toInt(p.value) - ethernetHeader
		}
	})
	r.cmdlets["get-netadapterrdma"] = func(c *psCall) (out []any) {
		for _, n := range h.pick(c) {
			if n.rdmaAble {
				technology := int64(0)
				if p := n.property("*NetworkDirectTechnology"); p != nil {
					technology = toInt(p.value)
				}
				out = append(out, newObject("Name", n.name, "Enabled", n.rdma, "RdmaAdapterInfo", newObject("RdmaTechnology", technology)))
			}
		}
		return out
	}
	r.cmdlets["get-netadapterbinding"] = func(c *psCall) (out []any) {
		for _, n := range h.pick(c) {
			for _, b := range n.bound {
				out = append(out, newObject("Enabled", true, "ComponentID", b))
			}
		}
		return out
	}
	r.cmdlets["get-smbclientnetworkinterface"] = func(*psCall) (out []any) {
		for _, n := range h.nics {
			out = append(out, newObject("InterfaceIndex", n.index, "RdmaCapable", n.rdma && !slices.Contains(n.bound, "vms_pp")))
		}
		return out
	}
}

func (h *host) policyCmdlets(r *psRunner) {
	show := func(p *hostPolicy) *psObject {
		return newObject("Name", p.name, "Owner", "Group Policy (Machine)", "Precedence", p.precedence, "Template", p.template,
			"NetDirectPortMatchCondition", p.netDirect, "IPProtocolMatchCondition", p.protocol, "IPDstPortStartMatchCondition", p.port,
			"IPDstPortEndMatchCondition", p.port, "PriorityValue8021Action", p.priority, "DSCPAction", p.dscp, "AppPathNameMatchCondition", p.app)
	}
	r.cmdlets["get-netqospolicy"] = func(c *psCall) []any {
		list := h.policies
		if c.str("policystore") == "ActiveStore" {
			list = append(slices.Clone(list), h.gpo...)
		}
		return objects(list, show)
	}
	r.cmdlets["new-netqospolicy"] = func(c *psCall) []any {
		p := &hostPolicy{name: c.str("name"), template: "None", protocol: "None", priority: -1, dscp: -1, precedence: 127}
		if c.has("netdirectportmatchcondition") && c.has("dscpaction") {
			throw("NetworkDirect takes no DSCP")
		}
		for _, q := range h.policies {
			if strings.EqualFold(q.name, p.name) {
				throw("policy %q exists", p.name)
			}
		}
		if c.has("priorityvalue8021action") {
			p.priority = toInt(c.named["priorityvalue8021action"])
		}
		if c.has("dscpaction") {
			p.dscp = toInt(c.named["dscpaction"])
		}
		if c.has("precedence") {
			p.precedence = toInt(c.named["precedence"])
		}
		p.netDirect, p.port = toInt(c.named["netdirectportmatchcondition"]), toInt(c.named["ipdstportmatchcondition"])
		switch {
		case c.has("cluster"):
			p.template = "Cluster"
		case c.has("default"):
			p.template = "Default"
		case c.has("ipprotocolmatchcondition"):
			p.protocol = c.str("ipprotocolmatchcondition")
		}
		h.policies = append(h.policies, p)
		return h.did("policy %s", p.name)
	}
	r.cmdlets["remove-netqospolicy"] = func(c *psCall) []any {
		n := len(h.policies)
		h.policies = slices.DeleteFunc(h.policies, func(p *hostPolicy) bool {
			return c.input == nil && strings.EqualFold(p.name, c.str("name")) ||
				slices.ContainsFunc(c.input, func(x any) bool { return x.(*psObject).self == p })
		})
		if len(h.policies) == n {
			throw("no policy to remove")
		}
		return h.did("no policy %s", c.str("name"))
	}
}

// rest is what [Default] keeps.
func (h *host) rest() (percent int64, priorities []any) {
	percent = 100
	held := map[int64]bool{}
	for _, c := range h.classes {
		percent -= c.percent
		for _, p := range c.priorities {
			held[toInt(p)] = true
		}
	}
	for p := range int64(8) {
		if !held[p] {
			priorities = append(priorities, p)
		}
	}
	return percent, priorities
}

func (h *host) dcb(r *psRunner) {
	if !h.has("Data-Center-Bridging") {
		return
	}
	r.cmdlets["get-netqosflowcontrol"] = func(*psCall) (out []any) {
		for p, on := range h.pfc {
			out = append(out, newObject("Priority", int64(p), "Enabled", on, "InterfaceAlias", ""))
		}
		return out
	}
	set := func(on bool) func(*psCall) []any {
		return func(c *psCall) []any {
			for _, p := range spread(c.named["priority"]) {
				h.pfc[toInt(p)] = on
			}
			n := 0
			for _, p := range h.pfc {
				if p {
					n++
				}
			}
			h.most = max(h.most, n)
			return h.did("pfc %v %v", on, spread(c.named["priority"]))
		}
	}
	r.cmdlets["enable-netqosflowcontrol"], r.cmdlets["disable-netqosflowcontrol"] = set(true), set(false)
	r.cmdlets["get-netqostrafficclass"] = func(*psCall) []any {
		percent, priorities := h.rest()
		all := append(slices.Clone(h.classes), &hostClass{"[Default]", "ETS", percent, priorities})
		return objects(all, func(c *hostClass) *psObject {
			return newObject("Name", c.name, "Algorithm", c.algorithm, "BandwidthPercentage", c.percent, "Priority", c.priorities, "InterfaceAlias", "")
		})
	}
	check := func() {
		if percent, _ := h.rest(); percent < 1 {
			throw("the shares leave %d %% to [Default]", percent)
		}
	}
	r.cmdlets["new-netqostrafficclass"] = func(c *psCall) []any {
		n := &hostClass{c.str("name"), c.str("algorithm"), toInt(c.named["bandwidthpercentage"]), spread(c.named["priority"])}
		for _, o := range h.classes {
			if strings.EqualFold(o.name, n.name) || slices.ContainsFunc(n.priorities, func(p any) bool { return slices.Contains(o.priorities, p) }) {
				throw("traffic class %q takes the name or a priority of %q", n.name, o.name)
			}
		}
		h.classes = append(h.classes, n)
		check()
		return h.did("class %s", n.name)
	}
	r.cmdlets["set-netqostrafficclass"] = func(c *psCall) []any {
		for _, o := range h.classes {
			if strings.EqualFold(o.name, c.str("name")) {
				o.percent = toInt(c.named["bandwidthpercentage"])
				check()
				return h.did("class %s %d", o.name, o.percent)
			}
		}
		throw("no traffic class %q", c.str("name"))
		return nil
	}
	r.cmdlets["remove-netqostrafficclass"] = func(c *psCall) []any {
		h.classes = slices.DeleteFunc(h.classes, func(o *hostClass) bool {
			return slices.ContainsFunc(c.input, func(x any) bool { return x.(*psObject).self == o })
		})
		return h.did("no class")
	}
	r.cmdlets["get-netqosdcbxsetting"] = func(c *psCall) []any {
		if !c.has("interfacealias") {
			return []any{newObject("InterfaceAlias", "", "Willing", h.willing)}
		}
		return []any{newObject("InterfaceAlias", c.str("interfacealias"), "Willing", h.nic(c.str("interfacealias")).willing)}
	}
	r.cmdlets["set-netqosdcbxsetting"] = func(c *psCall) []any {
		if c.has("interfacealias") {
			h.nic(c.str("interfacealias")).willing = truthy(c.named["willing"])
		} else {
			h.willing = truthy(c.named["willing"])
		}
		return h.did("willing")
	}
}

func (h *host) addressCmdlets(r *psRunner) {
	each := func(c *psCall, f func(*hostNIC)) {
		for _, n := range h.nics {
			if !c.has("interfacealias") || strings.EqualFold(n.name, c.str("interfacealias")) {
				f(n)
			}
		}
	}
	r.cmdlets["get-netipaddress"] = func(c *psCall) (out []any) {
		each(c, func(n *hostNIC) {
			for _, a := range n.addresses {
				o := newObject("InterfaceAlias", n.name, "IPAddress", a.Addr().String(), "PrefixLength", int64(a.Bits()), "PrefixOrigin", "Manual")
				o.self = a
				out = append(out, o)
			}
		})
		return out
	}
	r.cmdlets["new-netipaddress"] = func(c *psCall) []any {
		n := h.nic(c.str("interfacealias"))
		n.addresses = append(n.addresses, netip.PrefixFrom(netip.MustParseAddr(c.str("ipaddress")), int(toInt(c.named["prefixlength"]))))
		return h.did("address %s", c.str("ipaddress"))
	}
	r.cmdlets["set-netipaddress"] = func(c *psCall) []any {
		n := h.nic(c.str("interfacealias"))
		for i, a := range n.addresses {
			if a.Addr().String() == c.str("ipaddress") {
				n.addresses[i] = netip.PrefixFrom(a.Addr(), int(toInt(c.named["prefixlength"])))
			}
		}
		return h.did("prefix %s", c.str("ipaddress"))
	}
	r.cmdlets["remove-netipaddress"] = func(c *psCall) []any {
		for _, n := range h.nics {
			n.addresses = slices.DeleteFunc(n.addresses, func(a netip.Prefix) bool {
				return slices.ContainsFunc(c.input, func(x any) bool { return x.(*psObject).self == a })
			})
		}
		return h.did("no address")
	}
	r.cmdlets["get-netipinterface"] = func(c *psCall) (out []any) {
		each(c, func(n *hostNIC) {
			for _, family := range []string{"IPv4", "IPv6"} {
				if !c.has("addressfamily") || c.str("addressfamily") == family {
					dhcp := family == "IPv4" && slices.Contains(h.dhcp, n.guid)
					out = append(out, newObject("InterfaceAlias", n.name, "AddressFamily", family, "NlMtu", n.mtu, "Dhcp", when(dhcp, "Enabled", "Disabled")))
				}
			}
		})
		return out
	}
	r.cmdlets["set-netipinterface"] = func(c *psCall) []any {
		n := h.nic(c.str("interfacealias"))
		if c.has("nlmtubytes") {
			n.mtu = toInt(c.named["nlmtubytes"])
		}
		if c.has("dhcp") {
			h.dhcp = slices.DeleteFunc(h.dhcp, func(g string) bool { return g == n.guid })
			if c.str("dhcp") == "Enabled" {
				h.dhcp = append(h.dhcp, n.guid)
			}
		}
		return h.did("interface %s", n.name)
	}
	r.cmdlets["get-netroute"] = func(c *psCall) (out []any) {
		for _, x := range h.routes {
			n := h.byGUID(x[0])
			prefix := "0.0.0.0/0"
			if strings.Contains(x[1], ":") {
				prefix = "::/0"
			}
			if n != nil && (!c.has("interfacealias") || strings.EqualFold(n.name, c.str("interfacealias"))) && slices.Contains(spread(c.named["destinationprefix"]), any(prefix)) {
				o := newObject("InterfaceAlias", n.name, "DestinationPrefix", prefix, "NextHop", x[1])
				o.self = x
				out = append(out, o)
			}
		}
		return out
	}
	r.cmdlets["new-netroute"] = func(c *psCall) []any {
		h.routes = append(h.routes, [2]string{h.nic(c.str("interfacealias")).guid, c.str("nexthop")})
		return h.did("route %s", c.str("nexthop"))
	}
	r.cmdlets["remove-netroute"] = func(c *psCall) []any {
		h.routes = slices.DeleteFunc(h.routes, func(x [2]string) bool {
			return slices.ContainsFunc(c.input, func(o any) bool { return o.(*psObject).self == x })
		})
		return h.did("no route")
	}
}

func (h *host) byGUID(guid string) *hostNIC {
	for _, n := range h.nics {
		if n.guid == guid {
			return n
		}
	}
	return nil
}

func (h *host) hyperV(r *psRunner) {
	if !h.has("Hyper-V") {
		return
	}
	r.cmdlets["get-vmhost"] = func(*psCall) []any { return []any{newObject("VirtualMachineMigrationPerformanceOption", h.option)} }
	r.cmdlets["set-vmhost"] = func(c *psCall) []any {
		h.option = c.str("virtualmachinemigrationperformanceoption")
		return h.did("vmhost")
	}
	r.cmdlets["get-vmswitch"] = func(*psCall) []any {
		return objects(h.switches, func(s *hostSwitch) *psObject {
			var members []any
			for _, m := range s.members {
				members = append(members, m)
			}
			return newObject("Name", s.name, "EmbeddedTeamingEnabled", true, "NetAdapterInterfaceDescriptions", members)
		})
	}
	r.cmdlets["get-vmswitchteam"] = func(c *psCall) (out []any) {
		for _, s := range h.switches {
			if strings.EqualFold(s.name, c.str("name")) {
				members := []any{}
				for _, m := range s.members {
					members = append(members, m)
				}
				out = append(out, newObject("NetAdapterInterfaceDescription", members, "LoadBalancingAlgorithm", s.algorithm))
			}
		}
		return out
	}
	r.cmdlets["new-vmswitch"] = func(c *psCall) []any {
		s := &hostSwitch{name: c.str("name"), algorithm: "Dynamic"}
		for _, m := range spread(c.named["netadaptername"]) {
			n := h.nic(toString(m))
			n.bound = []string{"vms_pp"}
			s.members = append(s.members, n.description)
		}
		if c.named["allowmanagementos"] != false || c.named["enableembeddedteaming"] != true {
			throw("switch of another kind")
		}
		h.switches = append(h.switches, s)
		return h.did("switch %s", s.name)
	}
	r.cmdlets["set-vmswitchteam"] = func(c *psCall) []any {
		for _, s := range h.switches {
			if strings.EqualFold(s.name, c.str("name")) && c.has("loadbalancingalgorithm") {
				s.algorithm = c.str("loadbalancingalgorithm")
			}
		}
		return h.did("switch team %s", c.str("name"))
	}
	r.cmdlets["remove-vmswitch"] = func(c *psCall) []any {
		h.switches = slices.DeleteFunc(h.switches, func(s *hostSwitch) bool { return strings.EqualFold(s.name, c.str("name")) })
		for _, n := range h.nics {
			if slices.Contains(n.bound, "vms_pp") {
				n.bound = []string{"ms_tcpip", "ms_tcpip6"}
			}
		}
		return h.did("no switch")
	}
	h.vnics(r)
}

func (h *host) vnics(r *psRunner) {
	find := func(c *psCall, name string) *hostNIC {
		for _, n := range h.nics {
			if n.virtual && strings.EqualFold(n.guid, "{vnic-"+c.str(name)+"}") {
				return n
			}
		}
		if c.str("erroraction") != "SilentlyContinue" {
			throw("no vNIC %q", c.str(name))
		}
		return nil
	}
	label := func(n *hostNIC) string { return strings.TrimSuffix(strings.TrimPrefix(n.guid, "{vnic-"), "}") }
	r.cmdlets["add-vmnetworkadapter"] = func(c *psCall) []any {
		h.nics = append(h.nics, &hostNIC{
			name: "vEthernet (" + c.str("name") + ")", guid: "{vnic-" + c.str("name") + "}", description: "Hyper-V Virtual Ethernet Adapter " + c.str("name"),
			index: int64(30 + len(h.nics)), mbps: 50000, virtual: true, rdmaAble: true, mtu: 1500, on: c.str("switchname"), tag: "Off",
			properties: []*hostProperty{{keyword: "*JumboPacket", value: "1514", valid: []string{"1514", "4088", "9014"}}},
		})
		return h.did("vnic %s", c.str("name"))
	}
	r.cmdlets["remove-vmnetworkadapter"] = func(c *psCall) []any {
		gone := find(c, "name")
		h.nics = slices.DeleteFunc(h.nics, func(n *hostNIC) bool { return n == gone })
		return h.did("no vnic %s", c.str("name"))
	}
	r.cmdlets["get-vmnetworkadapter"] = func(*psCall) (out []any) {
		for _, n := range h.nics {
			if n.virtual {
				out = append(out, newObject("Name", label(n), "SwitchName", n.on, "IeeePriorityTag", n.tag))
			}
		}
		return out
	}
	r.cmdlets["set-vmnetworkadapter"] = func(c *psCall) []any {
		find(c, "name").tag = c.str("ieeeprioritytag")
		return h.did("tag %s", c.str("name"))
	}
	r.cmdlets["get-vmnetworkadaptervlan"] = func(c *psCall) []any {
		n := find(c, "vmnetworkadaptername")
		if n == nil {
			return nil
		}
		return []any{newObject("OperationMode", when(n.vlan == 0, "Untagged", "Access"), "AccessVlanId", n.vlan)}
	}
	r.cmdlets["get-vmnetworkadapterisolation"] = func(c *psCall) []any {
		n := find(c, "vmnetworkadaptername")
		if n == nil {
			return nil
		}
		return []any{newObject("IsolationMode", when(n.isolation == 0, "None", "Vlan"), "DefaultIsolationID", n.isolation)}
	}
	r.cmdlets["set-vmnetworkadaptervlan"] = func(c *psCall) []any {
		find(c, "vmnetworkadaptername").vlan = toInt(c.named["vlanid"])
		return h.did("vlan %s", c.str("vmnetworkadaptername"))
	}
	r.cmdlets["get-vmnetworkadapterteammapping"] = func(c *psCall) []any {
		if n := find(c, "name"); n != nil && n.pin != "" {
			return []any{newObject("NetAdapterName", h.byGUID(n.pin).name)}
		}
		return nil
	}
	r.cmdlets["set-vmnetworkadapterteammapping"] = func(c *psCall) []any {
		find(c, "vmnetworkadaptername").pin = h.nic(c.str("physicalnetadaptername")).guid
		return h.did("mapping %s", c.str("vmnetworkadaptername"))
	}
	r.cmdlets["remove-vmnetworkadapterteammapping"] = func(c *psCall) []any {
		find(c, "name").pin = ""
		return h.did("no mapping %s", c.str("name"))
	}
}
