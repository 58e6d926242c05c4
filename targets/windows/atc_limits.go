package windows

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// atcLimits refuses what depends on values: what no Windows host can have, and
// what Network ATC forces otherwise.
func atcLimits(d *intent.Device, refuse targets.Refuse) {
	l := &limiter{d, refuse}
	l.atcDevice()
	l.size()
	l.names()
	for i := range d.Ports {
		l.port(&d.Ports[i])
		l.atcPort(&d.Ports[i])
	}
	for i := range d.LAGs {
		l.team(&d.LAGs[i])
	}
	for i := range d.Ifaces {
		l.iface(&d.Ifaces[i])
		l.atcIface(&d.Ifaces[i])
	}
	l.hostWide()
	if q := hostQoS(d, false); q != nil {
		l.qos(q)
		l.atcQoS(q)
	}
	seen := map[string]intent.Path{}
	intents := atcIntents(d)
	for i := range intents {
		a := &intents[i]
		if first, taken := seen[strings.ToLower(a.name)]; taken {
			l.refuse(fmt.Sprintf("two intents of node %q have the name %q", d.Name, a.name), "rename the bond, or set option storage_intent", a.at, first)
		}
		seen[strings.ToLower(a.name)] = a.at
		l.atcIntent(a)
	}
	l.atcOptions()
}

// Versions of Azure Local: of the system ("23H2"), and of the solution ("2411.1").
var (
	azureSystem   = regexp.MustCompile(`^2[3-9][hH]2$`)
	azureSolution = regexp.MustCompile(`^2[3-9](0[1-9]|1[0-2])(\.[0-9]+)*$`)
)

// firstSolution is the first with the Network ATC that the documents describe.
const firstSolution = "2311.2"

func (l *limiter) atcDevice() {
	at := intent.Path{Object: intent.OfDevice, Field: "os"}
	v := l.d.OS.Version
	switch {
	case l.d.OS.Name == "windows-server" && v != "2025":
		l.refuse(fmt.Sprintf("node %q has windows-server %s, Network ATC is of 2025", l.d.Name, v), `write os = "windows-server/2025", or select the node in a target "netqos" block`, at)
	case l.d.OS.Name == "azure-local" && v != "" && !azureSystem.MatchString(v) && (!azureSolution.MatchString(v) || v < firstSolution):
		l.refuse(fmt.Sprintf("node %q has azure-local %s", l.d.Name, v), `write the version of the system ("23H2", "24H2"), or of the solution from "2311.2" on`, at)
	}
	if l.d.Model != "" || l.d.ASIC != "" {
		l.refuse(fmt.Sprintf("node %q has the model %q %q, which Windows cannot be told", l.d.Name, l.d.Model, l.d.ASIC),
			"write the model on the nic", intent.Path{Object: intent.OfDevice, Field: "model"})
	}
}

// atcPort refuses adapters that no intent can hold.
func (l *limiter) atcPort(p *intent.Port) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfPort, Name: p.Name, Field: field}
	}
	if strings.Contains(p.Name, "#") {
		l.refuse(fmt.Sprintf("adapter %q has a # in its name, by which Network ATC parts names", p.Name), "rename the nic", at("name"))
	}
	if p.Enabled.IsSet() && !p.Enabled.Value {
		l.refuse(fmt.Sprintf("adapter %q is disabled, and Network ATC wants its adapters up", p.Name), `enable it, or leave it out with manage = "none"`, at("enabled"))
	}
	if !p.Verify && !teamMember(l.d, p.Name) && !portRDMA(l.d, p).Value {
		l.refuse(fmt.Sprintf("adapter %q carries no RDMA and is in no bond, so that no intent would hold it", p.Name),
			`put it into a bond of mode "set", or leave it to Windows with manage = "none"`, at("rdma"))
	}
	if p.QoS != "" && !portRDMA(l.d, p).Value {
		l.refuse(fmt.Sprintf("adapter %q has qos %q and carries no storage; Network ATC configures DCB on storage adapters only", p.Name, p.QoS),
			`remove qos from the nic, or put rdma on an interface of its bond`, at("qos"))
	}
}

func (l *limiter) atcIface(f *intent.Iface) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfIface, Name: f.Name, Field: field}
	}
	if f.Gateway.IsSet() && !taken(f) {
		l.refuse(fmt.Sprintf("interface %q of the storage network has the gateway %s", f.Name, f.Gateway.Value), "remove the gateway: storage networks of Network ATC are not routed", at("gateway"))
	}
	if f.Kind == intent.Direct && f.Addresses.IsSet() && !ifaceRDMA(l.d, f) {
		l.refuse(fmt.Sprintf("interface %q is on adapter %q, which no intent holds", f.Name, f.On), "put the address on an interface of a bond", at("address"))
	}
	if f.Kind != intent.VNIC {
		return
	}
	if f.Pin != "" && !f.RDMA {
		l.refuse(fmt.Sprintf("interface %q is pinned to %q; Network ATC pins storage only", f.Name, f.Pin), "remove pin", at("pin"))
	}
	if f.Pin == "" && f.RDMA {
		l.refuse(fmt.Sprintf("interface %q carries RDMA and is not pinned; Network ATC makes a storage vNIC for each adapter", f.Name), "write pin", at("pin"))
	}
	g := l.d.LAGNamed(f.On)
	if g == nil || !f.MTU.IsSet() {
		return
	}
	for _, m := range g.Members {
		if p := l.d.PortNamed(m); p != nil {
			if mtu, managed := portMTU(l.d, p); !managed || mtu != f.MTU.Value {
				l.refuse(fmt.Sprintf("interface %q has MTU %d, its nic %q another; Network ATC sets one for all", f.Name, f.MTU.Value, m),
					"write one mtu on the nics and leave it out here", at("mtu"), intent.Path{Object: intent.OfPort, Name: m, Field: "mtu"})
				return
			}
		}
	}
}

// atcName are names that stand as they are in the names of switches and vNICs.
var atcName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`)

// atcIntent refuses intents whose adapters differ, and storage that is not whole.
func (l *limiter) atcIntent(a *atcIntent) {
	if !atcName.MatchString(a.name) {
		l.refuse(fmt.Sprintf("%q cannot be the name of an intent", a.name), "use up to 32 letters, digits, hyphens and underscores", a.at)
	}
	if len(a.adapters) == 0 {
		return // refused as a team
	}
	first := a.adapters[0]
	for _, p := range a.adapters[1:] {
		if field := l.unequal(first, p); field != "" {
			l.refuse(fmt.Sprintf("intent %q holds %q and %q, which differ in %s", a.name, first.Name, p.Name, field),
				"Network ATC wants adapters of one intent alike: make them so", intent.Path{Object: intent.OfPort, Name: p.Name, Field: field},
				intent.Path{Object: intent.OfPort, Name: first.Name, Field: field})
		}
	}
	if !a.storage {
		return
	}
	for i, p := range a.adapters {
		at := intent.Path{Object: intent.OfPort, Name: p.Name, Field: "segments"}
		switch {
		case a.vlans[i] == 0:
			l.refuse(fmt.Sprintf("intent %q has no storage VLAN for adapter %q", a.name, p.Name), "give each nic, or a pinned interface with RDMA on each nic of the bond, a tagged segment", at)
		case slices.Contains(a.vlans[:i], a.vlans[i]):
			l.refuse(fmt.Sprintf("intent %q has VLAN %d on two adapters", a.name, a.vlans[i]), "give each adapter a segment of its own: a cluster joins networks of one subnet", at)
		}
		if p.QoS == "" {
			l.refuse(fmt.Sprintf("adapter %q carries storage and has no qos; Network ATC configures DCB there in any case", p.Name),
				"write the qos that the fabric has for it", intent.Path{Object: intent.OfPort, Name: p.Name, Field: "qos"})
		}
	}
	l.atcAddresses(a)
}

// unequal names what differs between two adapters of one intent.
func (l *limiter) unequal(a, b *intent.Port) string {
	x, y := a.NIC, b.NIC
	if x == nil || y == nil {
		x, y = &intent.NIC{}, &intent.NIC{}
	}
	mtuA, _ := portMTU(l.d, a)
	mtuB, _ := portMTU(l.d, b)
	switch {
	case x.Model != y.Model, x.Driver != y.Driver:
		return "model"
	case a.Mbps != b.Mbps:
		return "speed"
	case mtuA != mtuB:
		return "mtu"
	case portRDMA(l.d, a) != portRDMA(l.d, b):
		return "rdma"
	case technology(x) != technology(y):
		return "roce_mode"
	case a.QoS != b.QoS:
		return "qos"
	case a.Verify != b.Verify:
		return "manage"
	}
	return ""
}

// atcAddresses: Network ATC gives addresses to all storage adapters or to none,
// and the vNICs of a team are one for each adapter.
func (l *limiter) atcAddresses(a *atcIntent) {
	pinned := map[string]bool{}
	for i := range l.d.Ifaces {
		f := &l.d.Ifaces[i]
		member := slices.ContainsFunc(a.adapters, func(p *intent.Port) bool {
			return f.Kind == intent.Direct && f.On == p.Name || f.Kind == intent.VNIC && f.RDMA && f.Pin == p.Name
		})
		if !member {
			continue
		}
		at := intent.Path{Object: intent.OfIface, Name: f.Name, Field: "pin"}
		key := f.On + "#" + f.Pin
		if pinned[key] {
			l.refuse(fmt.Sprintf("interface %q is the second storage network of adapter %q", f.Name, f.Pin), "put one storage interface on each nic", at)
		}
		pinned[key] = true
		if a.static && len(f.Addresses.Or(nil)) == 0 {
			at.Field = "address"
			l.refuse(fmt.Sprintf("interface %q has no address, others of intent %q have one; Network ATC gives addresses to all or to none", f.Name, a.name),
				"write an address on each storage interface, or on none", at)
		}
	}
	if a.static && len(pinned) < len(a.adapters) {
		l.refuse(fmt.Sprintf("intent %q has %d adapters and addresses for %d; Network ATC gives addresses to all or to none", a.name, len(a.adapters), len(pinned)),
			"write an address on each storage interface, or on none", a.at)
	}
}

// atcQoS refuses what differs from the three classes that Network ATC makes.
func (l *limiter) atcQoS(q *intent.QoS) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfQoS, Name: q.Name, Field: field}
	}
	var smb, cluster *intent.Mark
	for i := range q.Marks {
		m := &q.Marks[i]
		switch {
		case m.Default:
			if m.Priority != 0 {
				l.refuse(fmt.Sprintf("class %q is the default with priority %d; Network ATC leaves that at 0", m.Class, m.Priority), "write priority = 0", at("class."+m.Class))
			}
		case m.Carries == "cluster" && cluster == nil:
			cluster = m
		case m.NetDirectPort > 0 && smb == nil:
			smb = m
		default:
			l.refuse(fmt.Sprintf("class %q is none of the three that Network ATC makes", m.Class),
				`keep one class with match = { netdirect_port = 445 }, one with carries = "cluster" and the default one`, at("class."+m.Class))
		}
	}
	switch {
	case smb == nil:
		l.refuse(fmt.Sprintf("qos %q has no class for SMB Direct, which Network ATC makes in any case", q.Name), `write a class with carries = "rdma" and match = { netdirect_port = 445 }`, at("class"))
		return
	case cluster == nil:
		l.refuse(fmt.Sprintf("qos %q has no class for the cluster, which Network ATC makes in any case", q.Name), `write a class with carries = "cluster", by custom priority 7 and 1 or 2 percent`, at("class"))
		return
	}
	if !q.PFC.IsSet() || q.PFC.Value != intent.PrioritySet(0).With(smb.Priority) {
		l.refuse(fmt.Sprintf("qos %q has PFC on %s; Network ATC switches it on for priority %d and no other", q.Name, q.PFC.Value, smb.Priority), "make the class of SMB Direct lossless", at("pfc"))
	}
	if !q.Sched.IsSet() {
		l.refuse(fmt.Sprintf("qos %q has no bandwidths; Network ATC reserves some in any case", q.Name), "write a bandwidth in each class", at("ets"))
		return
	}
	targets.LimitShares(q, "a traffic class of Windows has 1 percent at least", l.refuse)
	for _, c := range []struct {
		m    *intent.Mark
		name string
	}{{smb, "SMB Direct"}, {cluster, "the cluster"}} {
		if with := queues(q)[queueOf(q, c.m.Priority)]; len(with) != 1 {
			l.refuse(fmt.Sprintf("qos %q serves priority %d of %s together with others", q.Name, c.m.Priority, c.name), "give the class a queue of its own", at("queue_map"), at("class."+c.m.Class))
		}
	}
	if n := servedQueues(q); n > 3 {
		l.refuse(fmt.Sprintf("qos %q serves %d queues; Network ATC makes traffic classes for SMB Direct, the cluster and the rest", q.Name, n), "remove the other classes", at("queue_map"), at("ets"))
	}
}

func (l *limiter) atcOptions() {
	at := func(name string) intent.Path { return intent.Path{Object: intent.OfOption, Name: name} }
	if name, written := l.d.Options[optionIntent]; written && !slices.ContainsFunc(atcIntents(l.d), func(a atcIntent) bool { return a.at == at(optionIntent) }) {
		l.refuse(fmt.Sprintf("option storage_intent names %q, and node %q has no RDMA nic outside of bonds", name, l.d.Name), "remove it: the intent of a bond has the bond's name", at(optionIntent))
	}
	if name := atcOption(l.d, optionCluster); name != "" && !clusterName.MatchString(name) {
		l.refuse(fmt.Sprintf("%q cannot be the name of a cluster", name), "write its NetBIOS name: up to 15 letters, digits and hyphens", at(optionCluster))
	}
	for _, o := range []struct {
		name string
		most uint64
		unit string
	}{{optionBandwidth, 1<<32 - 1, "Gbit/s"}, {optionMigrations, 10, "migrations"}} {
		if n, err := strconv.ParseUint(atcOption(l.d, o.name), 10, 64); err != nil || n > o.most {
			l.refuse(fmt.Sprintf("option %s is %s %s", o.name, atcOption(l.d, o.name), o.unit), fmt.Sprintf("write 0 to %d", o.most), at(o.name))
		}
	}
	if atcOption(l.d, optionBandwidth) != "0" && slices.Contains([]string{"compression", "tcpip"}, atcOption(l.d, optionTransport)) {
		l.refuse("option live_migration_gbps limits migration over SMB, and option live_migration_transport chooses another transport",
			`write live_migration_transport = "smb", or remove one of the two`, at(optionBandwidth), at(optionTransport))
	}
}

// clusterName is a computer name: a cluster has an account of its own.
var clusterName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,14}$`)
