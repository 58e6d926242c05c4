package windows

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// override is one property of an override object of Network ATC.
type override struct {
	at    intent.Path
	kind  string // "Adapter", "Qos", "Switch", "Storage", "Cluster"
	name  string
	value string // as a literal
}

// atcDesired writes the data of network-atc: the intents, and what
// Network ATC makes of them, which verify.ps1 compares as that of netqos does.
func atcDesired(b *block) {
	d := b.d
	b.open(intent.Path{}, "@{")
	b.set(intent.Path{}, "Target", "'network-atc'")
	b.set(intent.Path{Object: intent.OfDevice, Field: "name"}, "Computer", quote(d.Name))
	build := 0
	if d.OS.Name == "windows-server" {
		build = builds["2025"]
	}
	b.set(intent.Path{Object: intent.OfDevice, Field: "os"}, "MinimumBuild", strconv.Itoa(build))
	b.set(intent.Path{}, "Features", list([]string{"NetworkATC", "Hyper-V", "Failover-Clustering", "Data-Center-Bridging"}))
	b.set(intent.Path{Object: intent.OfOption, Name: optionCluster}, "Cluster", quote(atcOption(d, optionCluster)))
	b.set(intent.Path{Object: intent.OfDevice, Field: "dcbx"}, "Willing", b.willing())
	intents := atcIntents(d)
	b.rows("Intents", len(intents), func(i int) { b.atcIntent(&intents[i]) })
	b.overrides("Global", atcGlobal(d))
	b.liveRestart(atcOption(d, optionRestart))
	b.set(intent.Path{}, "ManageQos", truth(hostQoS(d, true) != nil))
	b.qos()
	b.rows("Adapters", len(d.Ports), func(i int) { b.adapter(&d.Ports[i]) })
	b.rows("Teams", len(d.LAGs), func(i int) { b.team(&d.LAGs[i]) })
	b.ifaces("Vnics", func(f *intent.Iface) bool { return f.Kind == intent.VNIC }, b.atcVnic)
	b.ifaces("Interfaces", func(f *intent.Iface) bool { return !taken(f) }, func(f *intent.Iface) { b.addresses(f, atcAlias(f)) })
	b.ifaces("Taken", taken, b.taken)
	b.close("}")
}

func (b *block) atcIntent(a *atcIntent) {
	names := make([]string, len(a.adapters))
	for i, p := range a.adapters {
		names[i] = p.Name
	}
	b.open(a.at, "@{")
	b.set(a.at, "Name", quote(a.name))
	b.set(intent.Path{}, "Manage", truth(a.manage))
	b.set(intent.Path{}, "Types", list(a.types()))
	b.set(intent.Path{Object: intent.OfLAG, Name: a.name, Field: "members"}, "Adapters", list(names))
	b.set(intent.Path{}, "StorageVlans", optional(a.storage, numbers(a.vlans)))
	b.set(intent.Path{}, "ManagementVlan", optional(a.management, strconv.Itoa(a.mgmtVLAN)))
	b.overrides("Overrides", atcOverrides(b.d, a))
	b.close("}")
}

func (b *block) overrides(key string, rows []override) {
	b.rows(key, len(rows), func(i int) {
		o := rows[i]
		b.row(o.at, fmt.Sprintf("Kind = %s; Name = %s; Value = %s", quote(o.kind), quote(o.name), o.value))
	})
}

// atcOverrides are the values of an intent that are managed, all of them even
// where Network ATC has the same by default: a default may change, and an
// override that was once given can only be replaced.
func atcOverrides(d *intent.Device, a *atcIntent) []override {
	if len(a.adapters) == 0 {
		return nil
	}
	var rows []override
	first := a.adapters[0]
	port := func(field string) intent.Path {
		return intent.Path{Object: intent.OfPort, Name: first.Name, Field: field}
	}
	adapter := func(at intent.Path, name string, value int) {
		rows = append(rows, override{at, "Adapter", name, strconv.Itoa(value)})
	}
	if mtu, managed := portMTU(d, first); managed {
		adapter(port("mtu"), "JumboPacket", int(mtu)+ethernetHeader)
	}
	if r := portRDMA(d, first); r.IsSet() {
		on := 0
		if r.Value {
			on = 1
		}
		adapter(port("rdma"), "NetworkDirect", on)
		if t := technology(first.NIC); t > 0 && r.Value {
			adapter(port("roce_mode"), "NetworkDirectTechnology", t)
		}
	}
	q := d.QoSNamed(first.QoS)
	if q != nil && q.Pause.IsSet() {
		adapter(intent.Path{Object: intent.OfQoS, Name: q.Name, Field: "pause"}, "FlowControl", 0) // true is refused
	}
	if a.storage && q != nil {
		rows = append(rows, atcQoS(q)...)
	}
	if a.compute {
		rows = append(rows, override{a.at, "Switch", "LoadBalancingAlgorithm", quote("HyperVPort")})
	}
	if a.static {
		rows = append(rows, override{intent.Path{}, "Storage", "EnableAutomaticIPGeneration", "$false"})
	}
	return rows
}

// atcQoS are the priorities and shares of the two classes that can be overridden.
func atcQoS(q *intent.QoS) []override {
	var rows []override
	for i := range q.Marks {
		m := &q.Marks[i]
		suffix := ""
		switch {
		case m.Carries == "cluster":
			suffix = "Cluster"
		case m.NetDirectPort > 0:
			suffix = "SMB"
		default:
			continue
		}
		at := intent.Path{Object: intent.OfQoS, Name: q.Name, Field: "class." + m.Class}
		put := func(name string, value int) { rows = append(rows, override{at, "Qos", name, strconv.Itoa(value)}) }
		put("PriorityValue8021Action_"+suffix, int(m.Priority))
		if q.Sched.IsSet() {
			put("BandwidthPercentage_"+suffix, int(q.Sched.Value[queueOf(q, m.Priority)].Percent))
		}
		if m.NetDirectPort > 0 {
			put("NetDirectPortMatchCondition", int(m.NetDirectPort))
		}
	}
	return rows
}

// atcGlobal are the settings of the whole cluster. A transport is in force only
// where Network ATC does not choose one (manage-network-atc).
func atcGlobal(d *intent.Device) []override {
	var rows []override
	put := func(option, name, value string) {
		rows = append(rows, override{intent.Path{Object: intent.OfOption, Name: option}, "Cluster", name, value})
	}
	if word := transportWords[atcOption(d, optionTransport)]; word != "" {
		put(optionTransport, "EnableVirtualMachineMigrationPerformanceSelection", "$false")
		put(optionTransport, "VirtualMachineMigrationPerformanceOption", quote(word))
	}
	if n := atcOption(d, optionBandwidth); n != "0" {
		put(optionBandwidth, "MaximumSMBMigrationBandwidthInGbps", n)
	}
	if n := atcOption(d, optionMigrations); n != "0" {
		put(optionMigrations, "MaximumVirtualMachineMigrations", n)
	}
	return rows
}

func (b *block) atcVnic(f *intent.Iface) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfIface, Name: f.Name, Field: field}
	}
	jumbo := "$null"
	if f.MTU.IsSet() {
		jumbo = keyword("*JumboPacket", int(f.MTU.Value)+ethernetHeader, false)
	}
	id := vnicVLAN(b.d, f)
	b.open(at(""), "@{")
	b.set(at("name"), "Name", b.remark(quote(atcAlias(f)), true, "interface "+f.Name))
	b.set(at("on"), "Switch", "''") // its name is Network ATC's
	b.set(at("segment"), "Vlan", b.remark(strconv.Itoa(int(id)), id != f.VLAN, fmt.Sprintf("VLAN %d is untagged on the team", f.VLAN)))
	b.set(at("pin"), "Pin", quote(f.Pin))
	b.set(at("qos"), "PriorityTag", b.remark(truth(f.RDMA), f.QoS != "", "qos "+f.QoS))
	b.set(at("mtu"), "Jumbo", jumbo)
	b.set(at("rdma"), "Rdma", optional(f.RDMA, "$true"))
	b.close("}")
}

// taken is an interface whose address Network ATC moves from an adapter.
func (b *block) taken(f *intent.Iface) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfIface, Name: f.Name, Field: field}
	}
	var members []string
	if l := b.d.LAGNamed(f.On); l != nil {
		members = slices.Clone(l.Members)
	}
	note := []string{"interface " + f.Name, fmt.Sprintf("VLAN %d", f.VLAN)}
	b.open(at(""), "@{")
	b.set(at("on"), "Alias", b.remark(quote(atcAlias(f)), true, strings.Join(note, ", ")))
	b.set(at("on"), "Members", list(members))
	b.prefixes(f)
	b.set(at("gateway"), "Gateway", quote(gatewayText(f)))
	b.set(at("mtu"), "Mtu", "$null")
	b.set(at("rdma"), "Rdma", "$false")
	b.close("}")
}
