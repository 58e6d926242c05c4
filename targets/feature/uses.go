package feature

import (
	"slices"
	"strconv"

	"github.com/rocec/rocec/compiler/intent"
)

// The features of an intent. The comment says what uses it.
const (
	PortSpeed      ID = "port_speed"
	PortFEC        ID = "port_fec"
	PortBreakout   ID = "port_breakout" // a port split into several
	PortAutoneg    ID = "port_autoneg"
	PortAdmin      ID = "port_admin" // a port that is shut or opened
	PortMTU        ID = "port_mtu"
	VLANTrunk      ID = "vlan_trunk"  // tagged VLANs on a port or LAG
	VLANNative     ID = "vlan_native" // an untagged VLAN on a port or LAG
	VLANMTU        ID = "vlan_mtu"
	DenyRoCEv2     ID = "deny_roce_v2" // RDMA dropped as it comes in
	DenyRoCEv1     ID = "deny_roce_v1"
	TrustByDSCP    ID = "trust_dscp"
	TrustByPCP     ID = "trust_pcp"
	TrustNothing   ID = "trust_none"
	DSCPMap        ID = "dscp_map"
	PCPMap         ID = "pcp_map"
	QueueMap       ID = "queue_map"
	GroupMap       ID = "group_map"
	PFC            ID = "pfc"
	PFCQueueMap    ID = "pfc_queue_map"
	GlobalPause    ID = "global_pause" // pause switched on
	PauseOff       ID = "pause_off"    // pause switched off
	ETS            ID = "ets"
	Strict         ID = "strict"
	RateCap        ID = "rate_cap"
	ECN            ID = "ecn"
	Watchdog       ID = "watchdog"
	WatchdogTimes  ID = "watchdog_times"
	DCBXOff        ID = "dcbx_off"
	DCBXAdvertise  ID = "dcbx_advertise"
	DCBXWilling    ID = "dcbx_willing"
	Rewrite        ID = "rewrite" // a declared change of the mark on the way out
	CableLength    ID = "cable_length"
	Headroom       ID = "headroom" // sizes fixed by the operator or a table
	SharedBuffer   ID = "shared_buffer"
	HeadroomPool   ID = "headroom_pool"
	Alpha          ID = "alpha"
	HashFunction   ID = "hash_function" // how flows are spread over links of equal cost
	HashSeed       ID = "hash_seed"
	ARPTimeout     ID = "arp_timeout" // how long a switch keeps what it has learned
	MACTimeout     ID = "mac_timeout"
	LAGLACP        ID = "lag_lacp"
	LAGStatic      ID = "lag_static"
	LAGActiveBkp   ID = "lag_active_backup"
	LAGSet         ID = "lag_set"
	LAGRate        ID = "lag_rate"
	LAGHash        ID = "lag_hash"
	MLAG           ID = "mlag"
	SVI            ID = "svi"
	RoutedPort     ID = "routed_port"
	LoopbackIface  ID = "loopback"
	HostAddress    ID = "host_address" // an address on a host port or bond
	VLANDevice     ID = "vlan_device"
	HostVNIC       ID = "host_vnic"
	VNICPin        ID = "vnic_pin"
	Gateway        ID = "gateway"
	VRF            ID = "vrf"
	IPv6           ID = "ipv6"
	RDMAEnable     ID = "rdma_enable"
	RoCEv2         ID = "roce_v2"
	RoCEv1         ID = "roce_v1"
	IWARP          ID = "iwarp"
	StormTimeout   ID = "pause_storm_timeout" // of a NIC
	VFs            ID = "vfs"
	NICMatch       ID = "nic_match" // adapter found by PCI address or MAC and renamed
	HostMarks      ID = "host_marks"
	HostDSCP       ID = "host_dscp" // a host that writes a DSCP of its own
	NetDirectMatch ID = "netdirect_match"
	TCPMatch       ID = "tcp_match"
	UDPMatch       ID = "udp_match"
	CNPMark        ID = "cnp_mark"
	DCQCN          ID = "dcqcn"
	ClusterClass   ID = "cluster_class"
)

// All is every feature, in the order of the matrix.
var All = []ID{
	PortSpeed, PortFEC, PortBreakout, PortAutoneg, PortAdmin, PortMTU, VLANTrunk, VLANNative, VLANMTU, DenyRoCEv2, DenyRoCEv1,
	TrustByDSCP, TrustByPCP, TrustNothing, DSCPMap, PCPMap, QueueMap, GroupMap,
	PFC, PFCQueueMap, GlobalPause, PauseOff, ETS, Strict, RateCap, ECN, Watchdog, WatchdogTimes,
	DCBXOff, DCBXAdvertise, DCBXWilling, Rewrite, CableLength, Headroom, SharedBuffer, HeadroomPool, Alpha, HashFunction, HashSeed, ARPTimeout, MACTimeout,
	LAGLACP, LAGStatic, LAGActiveBkp, LAGSet, LAGRate, LAGHash, MLAG,
	SVI, RoutedPort, LoopbackIface, HostAddress, VLANDevice, HostVNIC, VNICPin, Gateway, VRF, IPv6,
	RDMAEnable, RoCEv2, RoCEv1, IWARP, StormTimeout, VFs, NICMatch,
	HostMarks, HostDSCP, NetDirectMatch, TCPMatch, UDPMatch, CNPMark, DCQCN, ClusterClass,
}

// Words that stand for features of their own.
var (
	lagModes   = map[string]ID{"lacp": LAGLACP, "static": LAGStatic, "active_backup": LAGActiveBkp, "set": LAGSet}
	ifaceKinds = map[intent.IfaceKind]ID{
		intent.SVI: SVI, intent.Routed: RoutedPort, intent.Loopback: LoopbackIface,
		intent.Direct: HostAddress, intent.VLANDev: VLANDevice, intent.VNIC: HostVNIC,
	}
	trusts = map[intent.Trust]ID{intent.TrustDSCP: TrustByDSCP, intent.TrustPCP: TrustByPCP, intent.TrustNone: TrustNothing}
)

// Uses lists what an intent needs of its target, one entry for each place.
func Uses(d *intent.Device) []Use {
	const perPort = 10 // most have fewer
	u := &uses{list: make([]Use, 0, perPort*len(d.Ports))}
	for i := range d.Ports {
		u.port(&d.Ports[i])
	}
	for i := range d.LAGs {
		u.lag(&d.LAGs[i])
	}
	for i := range d.Ifaces {
		u.iface(&d.Ifaces[i])
	}
	for _, v := range d.VLANs {
		u.when(v.MTU.IsSet(), VLANMTU, intent.Path{Object: intent.OfVLAN, Name: itoa(v.ID), Field: "mtu"})
	}
	for i := range d.QoS {
		u.qos(&d.QoS[i])
	}
	u.when(d.MLAG != nil, MLAG, intent.Path{Object: intent.OfDevice, Field: "mlag"})
	u.when(d.Buffer.SharedBytes.IsSet(), SharedBuffer, intent.Path{Object: intent.OfDevice, Field: "buffer"})
	u.when(d.Buffer.HeadroomBytes.IsSet(), HeadroomPool, intent.Path{Object: intent.OfDevice, Field: "buffer"})
	u.when(d.Buffer.AlphaExponent.IsSet(), Alpha, intent.Path{Object: intent.OfDevice, Field: "buffer"})
	u.when(d.Hash.Function.IsSet(), HashFunction, intent.Path{Object: intent.OfDevice, Field: "hash"})
	u.when(d.Hash.Seed.IsSet(), HashSeed, intent.Path{Object: intent.OfDevice, Field: "hash"})
	u.when(d.Aging.ARPSeconds.IsSet(), ARPTimeout, intent.Path{Object: intent.OfDevice, Field: "arp_timeout"})
	u.when(d.Aging.MACSeconds.IsSet(), MACTimeout, intent.Path{Object: intent.OfDevice, Field: "mac_timeout"})
	return u.list
}

type uses struct{ list []Use }

func (u *uses) when(cond bool, id ID, p intent.Path) {
	if cond {
		u.list = append(u.list, Use{id, p})
	}
}

func (u *uses) port(p *intent.Port) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfPort, Name: p.Name, Field: field}
	}
	u.when(p.Mbps.IsSet(), PortSpeed, at("speed"))
	u.when(p.FEC.IsSet(), PortFEC, at("fec"))
	u.when(p.Breakout != "", PortBreakout, at("breakout"))
	u.when(p.Autoneg.IsSet(), PortAutoneg, at("autoneg"))
	u.when(p.Enabled.IsSet(), PortAdmin, at("enabled"))
	u.when(p.MTU.IsSet(), PortMTU, at("mtu"))
	u.when(p.Native.IsSet(), VLANNative, at("native"))
	u.when(p.Tagged.IsSet(), VLANTrunk, at("segments"))
	u.denies(p.Deny, at("deny"))
	u.when(p.CableMm.IsSet(), CableLength, at("cable"))
	for _, h := range p.Headroom {
		u.when(h.Written, Headroom, at("headroom"))
	}
	if p.NIC == nil {
		return
	}
	n := p.NIC
	u.when(n.RDMA.IsSet(), RDMAEnable, at("rdma"))
	u.when(n.RoCE.IsSet() && n.RoCE.Value == "v2", RoCEv2, at("roce_mode"))
	u.when(n.RoCE.IsSet() && n.RoCE.Value == "v1", RoCEv1, at("roce_mode"))
	u.when(n.IWARP, IWARP, at("model"))
	u.when(n.StormMs.IsSet(), StormTimeout, at("pause_storm_timeout"))
	u.when(n.VFs.IsSet(), VFs, at("vfs"))
	u.when(n.PCI != "" || n.MAC != "", NICMatch, at("pci"))
	u.dcbx(n.DCBX, at("dcbx"))
}

// denies: to drop nothing is to have rules that drop nothing, so that a platform
// without rules refuses it too.
func (u *uses) denies(x intent.Opt[[]intent.RDMA], p intent.Path) {
	u.when(x.IsSet() && (len(x.Value) == 0 || slices.Contains(x.Value, intent.RoCEv2)), DenyRoCEv2, p)
	u.when(x.IsSet() && slices.Contains(x.Value, intent.RoCEv1), DenyRoCEv1, p)
}

func (u *uses) dcbx(x intent.Opt[intent.DCBX], p intent.Path) {
	if !x.IsSet() {
		return
	}
	switch x.Value.Mode {
	case "off":
		u.when(true, DCBXOff, p)
	case "advertise":
		u.when(true, DCBXAdvertise, p)
	default:
		u.when(true, DCBXWilling, p)
	}
}

func (u *uses) lag(l *intent.LAG) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfLAG, Name: l.Name, Field: field}
	}
	u.when(true, lagModes[l.Mode], at("mode"))
	u.when(l.Rate != "", LAGRate, at("rate"))
	u.when(l.Hash != "", LAGHash, at("hash"))
	u.when(l.MTU.IsSet(), PortMTU, at("mtu"))
	u.when(l.Native.IsSet(), VLANNative, at("native"))
	u.when(l.Tagged.IsSet(), VLANTrunk, at("segments"))
	u.denies(l.Deny, at("deny"))
	u.when(l.MLAG, MLAG, at("mlag"))
}

func (u *uses) iface(f *intent.Iface) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfIface, Name: f.Name, Field: field}
	}
	u.when(true, ifaceKinds[f.Kind], at("on"))
	u.when(f.Pin != "", VNICPin, at("pin"))
	u.when(f.VRF != "", VRF, at("vrf"))
	u.when(f.Gateway.IsSet(), Gateway, at("gateway"))
	u.when(f.RDMA, RDMAEnable, at("rdma"))
	u.when(f.Unique, MLAG, at("address"))
	for _, a := range f.Addresses.Value {
		u.when(a.Addr().Is6(), IPv6, at("address"))
	}
}

func (u *uses) qos(q *intent.QoS) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfQoS, Name: q.Name, Field: field}
	}
	if q.Trust.IsSet() {
		u.when(true, trusts[q.Trust.Value], at("trust"))
	}
	u.when(q.DSCP.IsSet(), DSCPMap, at("dscp_map"))
	u.when(q.PCP.IsSet(), PCPMap, at("pcp_map"))
	u.when(q.TC.IsSet(), QueueMap, at("queue_map"))
	u.when(q.Group.IsSet(), GroupMap, at("group_map"))
	u.when(q.PFC.IsSet() && q.PFC.Value != 0, PFC, at("pfc"))
	u.when(q.PFCQueue.IsSet(), PFCQueueMap, at("pfc_queue_map"))
	u.when(q.Pause.IsSet() && q.Pause.Value, GlobalPause, at("pause"))
	u.when(q.Pause.IsSet() && !q.Pause.Value, PauseOff, at("pause"))
	if q.Sched.IsSet() {
		s := q.Sched.Value[:]
		u.when(slices.ContainsFunc(s, func(s intent.Sched) bool { return s.Kind == intent.SchedETS }), ETS, at("ets"))
		u.when(slices.ContainsFunc(s, func(s intent.Sched) bool { return s.Kind == intent.SchedStrict }), Strict, at("strict"))
		u.when(slices.ContainsFunc(s, func(s intent.Sched) bool { return s.CapMbps > 0 }), RateCap, at("cap"))
	}
	u.when(q.ECN.IsSet() && slices.ContainsFunc(q.ECN.Value[:], func(e intent.ECN) bool { return e.On }), ECN, at("ecn"))
	if q.Watchdog.IsSet() {
		w := q.Watchdog.Value
		u.when(w.On, Watchdog, at("watchdog"))
		u.when(w.On && (w.DetectMs > 0 || w.RestoreMs > 0 || w.PollMs > 0 || w.Action != ""), WatchdogTimes, at("watchdog"))
	}
	u.when(q.Rewrite.IsSet(), Rewrite, at("remap"))
	u.dcbx(q.DCBX, at("dcbx"))
	u.when(len(q.Marks) > 0, HostMarks, at("class"))
	for _, m := range q.Marks {
		c := intent.Path{Object: intent.OfQoS, Name: q.Name, Field: "class." + m.Class}
		u.when(m.DSCP.IsSet() && m.Carries != "cnp", HostDSCP, c)
		u.when(m.NetDirectPort > 0, NetDirectMatch, c)
		u.when(m.TCPPort > 0, TCPMatch, c)
		u.when(m.UDPPort > 0, UDPMatch, c)
		u.when(m.Carries == "cnp", CNPMark, c)
		u.when(m.Carries == "cluster", ClusterClass, c)
		u.when(m.Congestion == "dcqcn", DCQCN, c)
	}
}

func itoa(n uint16) string { return strconv.Itoa(int(n)) }
