package windows

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// block writes the data of a host. Every row of a kind has
// every key, since strict mode takes a missing key for an error; $null stands
// for what is not managed.
type block struct {
	f     *emit.File
	d     *intent.Device
	q     *intent.QoS
	depth int
}

// desired writes the data of netqos.
func desired(b *block) {
	d := b.d
	b.open(intent.Path{}, "@{")
	b.set(intent.Path{}, "Target", "'netqos'")
	b.set(intent.Path{Object: intent.OfDevice, Field: "name"}, "Computer", quote(d.Name))
	b.set(intent.Path{Object: intent.OfDevice, Field: "os"}, "MinimumBuild", strconv.Itoa(minimumBuild(d)))
	b.set(intent.Path{}, "Features", list(serverFeatures(d)))
	b.set(intent.Path{Object: intent.OfDevice, Field: "dcbx"}, "Willing", b.willing())
	b.set(intent.Path{}, "NetworkDirect", orNull(networkDirect(d)))
	limit := liveMigrationBytes(d)
	b.set(intent.Path{Object: intent.OfOption, Name: optionLiveMigration}, "LiveMigrationBytes", b.remark(strconv.FormatUint(limit, 10), limit > 0, option(d, optionLiveMigration)+" % of the SMB Direct class"))
	b.set(intent.Path{Object: intent.OfOption, Name: optionTransport}, "MigrationOption", quote(transportWords[option(d, optionTransport)]))
	b.liveRestart(option(d, optionRestart))
	b.set(intent.Path{}, "ManageQos", truth(hostQoS(d, true) != nil))
	b.qos()
	b.rows("Adapters", len(d.Ports), func(i int) { b.adapter(&d.Ports[i]) })
	b.rows("Teams", len(d.LAGs), func(i int) { b.team(&d.LAGs[i]) })
	b.ifaces("Vnics", func(f *intent.Iface) bool { return f.Kind == intent.VNIC }, b.vnic)
	b.ifaces("Interfaces", func(f *intent.Iface) bool {
		return f.Kind == intent.Direct || f.Addresses.IsSet() || f.Gateway.IsSet()
	}, func(f *intent.Iface) {
		alias := f.Name
		if f.Kind == intent.Direct {
			alias = f.On
		}
		b.addresses(f, alias)
	})
	b.close("}")
}

// liveRestart is for rocec-live.ps1 alone.
func (b *block) liveRestart(value string) {
	if value == "true" {
		b.set(intent.Path{Object: intent.OfOption, Name: optionRestart}, "LiveRestart", truth(true))
	}
}

func minimumBuild(d *intent.Device) int {
	if n := builds[d.OS.Version]; n > 0 {
		return n
	}
	return builds["2016"]
}

func (b *block) willing() string {
	value, managed := willing(b.d)
	if !managed {
		return "$null"
	}
	return truth(value)
}

func (b *block) qos() {
	q := b.q
	if q == nil {
		b.set(intent.Path{}, "Qos", "$null")
		return
	}
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfQoS, Name: q.Name, Field: field}
	}
	b.open(at("name"), "Qos = @{")
	b.set(at("name"), "Name", quote(q.Name))
	b.set(at("trust"), "Trust", quote(string(q.Trust.Or(""))))
	b.set(at("pfc"), "Pfc", optional(q.PFC.IsSet(), numbers(q.PFC.Value.List())))
	pcp := q.PCP.Or([8]uint8{})
	b.set(at("pcp_map"), "PcpMap", optional(q.PCP.IsSet(), numbers(pcp[:])))
	var ecn []string
	policies := make([]*intent.Mark, 0, len(q.Marks))
	for i := range q.Marks {
		if q.Marks[i].ECT {
			ecn = append(ecn, q.Marks[i].Class)
		}
		if len(matches(&q.Marks[i])) == 1 {
			policies = append(policies, &q.Marks[i])
		} else {
			b.line(at("class."+q.Marks[i].Class), "# "+emit.Comment(fmt.Sprintf("%s (%s) is marked by the application", q.Marks[i].Class, strings.TrimSpace(q.Marks[i].Carries+" "+q.Marks[i].Transport))))
		}
	}
	b.set(at("class"), "Ecn", list(ecn))
	b.rows("Policies", len(policies), func(i int) { b.policy(q, policies[i]) })
	b.classes(q, at)
	b.close("}")
}

func (b *block) policy(q *intent.QoS, m *intent.Mark) {
	dscp := "-1"
	if m.DSCP.IsSet() {
		dscp = strconv.Itoa(int(m.DSCP.Value))
	}
	at := intent.Path{Object: intent.OfQoS, Name: q.Name, Field: "class." + m.Class}
	b.row(at, fmt.Sprintf("Name = %s; Match = %s; Port = %d; Priority = %d; Dscp = %s; Precedence = $null; Class = %s; Carries = %s; Transport = %s",
		quote(policyName(m)), quote(matches(m)[0]), matchPort(m), m.Priority, dscp, quote(m.Class), quote(m.Carries), quote(m.Transport)))
}

func (b *block) classes(q *intent.QoS, at func(string) intent.Path) {
	if !q.Sched.IsSet() {
		b.set(at("ets"), "Classes", "$null")
		b.set(at("ets"), "DefaultPercent", "$null")
		return
	}
	classes, rest := trafficClasses(q)
	b.rows("Classes", len(classes), func(i int) {
		c := classes[i]
		algorithm := "ETS"
		if c.kind == intent.SchedStrict {
			algorithm = "Strict"
		}
		b.row(at("ets"), fmt.Sprintf("Name = %s; Algorithm = %s; Percent = %d; Priority = %s", quote(c.name), quote(algorithm), c.percent, numbers(c.priorities)))
	})
	b.set(at("ets"), "DefaultPercent", strconv.Itoa(rest))
}

func (b *block) adapter(p *intent.Port) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfPort, Name: p.Name, Field: field}
	}
	n := p.NIC
	if n == nil {
		n = &intent.NIC{}
	}
	b.open(at(""), "@{")
	b.set(at("name"), "Name", quote(p.Name))
	b.set(at("manage"), "Manage", truth(!p.Verify))
	words := []string{n.Driver, n.Adapter}
	if n.GPU != "" {
		words = append(words, "beside GPU "+n.GPU)
	}
	b.set(at("model"), "Model", b.remark(quote(n.Model), strings.Join(words, "") != "", strings.Join(strings.Fields(strings.Join(words, " ")), " ")))
	b.set(at("pci"), "Pci", quote(pciAddress(n.PCI)))
	b.set(at("mac"), "Mac", quote(macDigits(n.MAC)))
	b.set(at("driver"), "DriverVersion", quote(driverPattern(n.DriverV)))
	b.set(at("firmware"), "Notes", list(notes(p, n)))
	b.set(at("enabled"), "Enabled", optional(p.Enabled.IsSet(), truth(p.Enabled.Value)))
	b.set(at("speed"), "Mbps", optional(p.Mbps.IsSet(), strconv.Itoa(int(p.Mbps.Value))))
	b.set(at("bond"), "Team", quote(teamName(b.d, p.Name)))
	b.set(at("dcbx"), "Willing", b.remark(optional(n.DCBX.IsSet(), truth(n.DCBX.Value.Mode == "willing")), n.DCBX.IsSet() && n.DCBX.Value.Owner != "", "owner "+n.DCBX.Value.Owner))
	b.set(at("qos"), "Qos", truth(p.QoS != "" && b.q != nil && p.QoS == b.q.Name))
	b.set(at("rdma"), "Rdma", b.rdma(p, n))
	b.set(at("roce_mode"), "Technology", optional(technology(n) > 0, strconv.Itoa(technology(n))))
	b.set(intent.Path{Object: intent.OfQoS, Name: p.QoS, Field: "pause"}, "FlowControl", b.flowControl(p))
	b.properties(p, n, at)
	b.close("}")
}

// notes are expectations that no cmdlet shows.
func notes(p *intent.Port, n *intent.NIC) []string {
	var l []string
	if n.Firmware != "" {
		l = append(l, "firmware "+n.Firmware)
	}
	if n.DriverV != "" && driverPattern(n.DriverV) == "" {
		l = append(l, "driver "+n.DriverV)
	}
	if p.CableMm.IsSet() {
		l = append(l, fmt.Sprintf("a cable of %d mm", p.CableMm.Value))
	}
	return l
}

// driverPattern is a version, with * at most, that -like can compare; "" for
// constraints, which verify.ps1 shows instead.
func driverPattern(v string) string {
	if strings.Trim(v, "0123456789.*") != "" {
		return ""
	}
	return v
}

func teamName(d *intent.Device, port string) string {
	if l := teamOf(d, port); l != nil {
		return l.Name
	}
	return ""
}

func (b *block) rdma(p *intent.Port, n *intent.NIC) string {
	setting := portRDMA(b.d, p)
	text := optional(setting.IsSet(), truth(setting.Value))
	if rdmaVNICs(b.d, teamOf(b.d, p.Name)) {
		own := "for the host vNICs"
		if n.RDMA.IsSet() {
			own = fmt.Sprintf("for the host vNICs; the port itself: %t", n.RDMA.Value)
		}
		return b.remark(text, true, own)
	}
	return text
}

func (b *block) flowControl(p *intent.Port) string {
	q := b.d.QoSNamed(p.QoS)
	if q == nil || !q.Pause.IsSet() {
		return "$null"
	}
	value := 0
	if q.Pause.Value {
		value = 3 // Rx and Tx
	}
	return keyword("*FlowControl", value, false)
}

func (b *block) properties(p *intent.Port, n *intent.NIC, at func(string) intent.Path) {
	b.open(at(""), "Properties = @(")
	if mtu, managed := portMTU(b.d, p); managed {
		b.line(at("mtu"), keyword("*JumboPacket", int(mtu)+ethernetHeader, false))
	}
	if id, managed := vlanID(b.d, p); managed {
		tagged, untagged := p.Tagged.Or(nil), p.Native.Or(0)
		text := keyword("VlanID", int(id), false)
		switch {
		case teamMember(b.d, p.Name):
			text += fmt.Sprintf(" # the vNICs tag%s", settings(p.Tagged, p.Native))
		case len(tagged) == 0 && untagged > 0:
			text += fmt.Sprintf(" # untagged; VLAN %d on the switch", untagged)
		}
		b.line(at("segments"), text)
	}
	if id, _ := vlanID(b.d, p); id > 0 || p.QoS != "" {
		b.line(at("segments"), keyword(vlanTag, tagsBoth, true))
	}
	if t := technology(n); t > 0 {
		b.line(at("roce_mode"), keyword("*NetworkDirectTechnology", t, false))
	}
	if n.RDMAMTU > 0 {
		// Not every driver has the standard keyword, which none needs to have (NDKPI).
		b.line(at("rdma_mtu"), keyword(frameSize, int(n.RDMAMTU), true))
		if own := frameSizes[n.Driver]; own != "" {
			b.line(at("rdma_mtu"), keyword(own, int(n.RDMAMTU), true))
		}
	}
	b.close(")")
}

// vlanTag is the keyword of what a driver takes from 802.1Q tags and puts there: 3 is
// the default, both the VLAN and the priority. With QoS 0 and 1 are the priority
// alone, and below a virtual switch its vNICs are left without both
// (windows-driver-docs standardized-inf-keywords-for-ndis-qos). Hosts are found with
// another value: Azure/azure-container-networking sets 3 on adapters of Mellanox
// (platform/os_windows.go). A driver that does not list it has no such choice.
const (
	vlanTag  = "*PriorityVLANTag"
	tagsBoth = 3
)

// frameSize is the standard keyword of the MTU of RoCE.
const frameSize = "*NetworkDirectRoCEFrameSize"

// frameSizes are keywords of drivers without it: of Intel's icea 1.13, where it is
// 1024 however large *JumboPacket is (intel/mfd-win-registry), and of WinOF-2 before
// 24.1 (NVIDIA WinOF-2 24.1, Changes and New Features). What a driver does not list
// is not set.
var frameSizes = map[string]string{"ice": "RdmaRoceFrameSize", "mlx5": "RoceFrameSize"}

// settings shows what a team member states of its VLANs.
func settings(tagged intent.Opt[[]uint16], untagged intent.Opt[uint16]) string {
	s := ""
	if tagged.IsSet() {
		s += " " + joined(tagged.Value)
	}
	if untagged.IsSet() {
		s += fmt.Sprintf(", %d is untagged", untagged.Value)
	}
	return s
}

func (b *block) team(l *intent.LAG) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfLAG, Name: l.Name, Field: field}
	}
	tagged, untagged := teamVLANs(b.d, l)
	b.open(at(""), "@{")
	b.set(at("name"), "Name", quote(l.Name))
	b.set(at("members"), "Members", b.remark(list(l.Members), l.MTU.IsSet(), fmt.Sprintf("IP MTU %d", l.MTU.Value)))
	b.set(at("segments"), "Vlans", b.remark(numbers(tagged), true, "a virtual switch passes every tag; set on the team:"+settings(l.Tagged, l.Native)))
	b.set(at("native"), "Untagged", strconv.Itoa(int(untagged)))
	b.close("}")
}

func (b *block) vnic(f *intent.Iface) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfIface, Name: f.Name, Field: field}
	}
	jumbo := "$null"
	if f.MTU.IsSet() {
		jumbo = keyword("*JumboPacket", int(f.MTU.Value)+ethernetHeader, false)
	}
	id := vnicVLAN(b.d, f)
	b.open(at(""), "@{")
	b.set(at("name"), "Name", quote(f.Name))
	b.set(at("on"), "Switch", quote(f.On))
	b.set(at("segment"), "Vlan", b.remark(strconv.Itoa(int(id)), id != f.VLAN, fmt.Sprintf("VLAN %d is untagged on the team", f.VLAN)))
	b.set(at("pin"), "Pin", quote(f.Pin))
	b.set(at("qos"), "PriorityTag", b.remark(truth(f.RDMA || f.QoS != ""), f.QoS != "", "qos "+f.QoS))
	b.set(at("mtu"), "Jumbo", jumbo)
	b.set(at("rdma"), "Rdma", optional(f.RDMA, "$true"))
	b.close("}")
}

// addresses writes the addresses of an interface, which Windows calls alias.
func (b *block) addresses(f *intent.Iface, alias string) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfIface, Name: f.Name, Field: field}
	}
	mtu := "$null"
	if f.Kind == intent.Direct {
		mtu = optional(f.MTU.IsSet(), strconv.Itoa(int(f.MTU.Value)))
	}
	note := fmt.Sprintf("interface %s, VLAN %d", f.Name, f.VLAN)
	if f.QoS != "" {
		note += ", qos " + f.QoS
	}
	b.open(at(""), "@{")
	b.set(at("on"), "Alias", b.remark(quote(alias), alias != f.Name || f.Kind == intent.Direct, note))
	b.prefixes(f)
	b.set(at("gateway"), "Gateway", quote(gatewayText(f)))
	b.set(at("mtu"), "Mtu", mtu)
	b.set(at("rdma"), "Rdma", b.remark(truth(ifaceRDMA(b.d, f)), f.RDMA, "as the interface says"))
	b.close("}")
}

func (b *block) prefixes(f *intent.Iface) {
	at := intent.Path{Object: intent.OfIface, Name: f.Name, Field: "address"}
	prefixes := f.Addresses.Or(nil)
	b.rows("Addresses", len(prefixes), func(i int) {
		a := prefixes[i]
		family := "IPv4"
		if a.Addr().Is6() {
			family = "IPv6"
		}
		b.row(at, fmt.Sprintf("Address = %s; Prefix = %d; Family = %s", quote(a.Addr().String()), a.Bits(), quote(family)))
	})
}

func gatewayText(f *intent.Iface) string {
	if !f.Gateway.IsSet() {
		return ""
	}
	return f.Gateway.Value.String()
}

func (b *block) ifaces(key string, keep func(*intent.Iface) bool, write func(*intent.Iface)) {
	var kept []*intent.Iface
	for i := range b.d.Ifaces {
		if keep(&b.d.Ifaces[i]) {
			kept = append(kept, &b.d.Ifaces[i])
		}
	}
	b.rows(key, len(kept), func(i int) { write(kept[i]) })
}

const blanks = "                                "

func (b *block) indent() string { return blanks[:4*b.depth] }

func (b *block) line(at intent.Path, text string) { b.f.Put(at, b.indent(), text) }

func (b *block) open(at intent.Path, text string) {
	b.line(at, text)
	b.depth++
}

func (b *block) close(text string) {
	b.depth--
	b.line(intent.Path{}, text)
}

func (b *block) set(at intent.Path, key, value string) { b.f.Put(at, b.indent(), key, " = ", value) }

// rows writes an array of hashtables.
func (b *block) rows(key string, n int, write func(int)) {
	if n == 0 {
		b.set(intent.Path{}, key, "@()")
		return
	}
	b.open(intent.Path{}, key+" = @(")
	for i := range n {
		write(i)
	}
	b.close(")")
}

func (b *block) row(at intent.Path, pairs string) { b.f.Put(at, b.indent(), "@{ ", pairs, " }") }

// remark adds a comment to a value. It shows where a value is from, and never
// stands for one.
func (b *block) remark(value string, when bool, text string) string {
	if !when {
		return value
	}
	return value + " # " + emit.Comment(text)
}

func keyword(name string, value int, optional bool) string {
	return "@{ Keyword = '" + name + "'; Value = '" + strconv.Itoa(value) + "'; Optional = " + truth(optional) + " }"
}

// quote is a literal. What cannot be one was refused; should it come here all
// the same, it must not end the literal.
func quote(s string) string {
	q, err := emit.PowerShellText(s)
	if err != nil {
		return "'?'"
	}
	return q
}

func truth(v bool) string {
	if v {
		return "$true"
	}
	return "$false"
}

func optional(set bool, value string) string {
	if !set {
		return "$null"
	}
	return value
}

func orNull(s string) string { return optional(s != "", quote(s)) }

func list(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return "@(" + strings.Join(quoted, ", ") + ")"
}

func joined[N uint8 | uint16](values []N) string {
	text := make([]string, len(values))
	for i, v := range values {
		text[i] = strconv.Itoa(int(v))
	}
	return strings.Join(text, ", ")
}

// numbers is an array of numbers in ascending order, or as given where the
// place matters.
func numbers[N uint8 | uint16](values []N) string { return "@(" + joined(slices.Clone(values)) + ")" }
