package sonicent

import (
	"net/netip"

	"github.com/rocec/rocec/compiler/intent"
)

// roce is the classes of the reference switch: RoCE on priority 3, CNP strict
// on 6, everything else on 0.
func roce(name string, trust intent.Trust, share uint8) intent.QoS {
	return intent.QoS{
		Name: name, Trust: intent.Some(trust),
		DSCP: intent.Some([64]uint8{26: 3, 48: 6}), PCP: intent.Some([8]uint8{3: 3, 6: 6}),
		TC: intent.Some([8]uint8{3: 3, 6: 6}), Group: intent.Some([8]uint8{3: 3}), PFCQueue: intent.Some([8]uint8{3: 3, 6: 6}),
		PFC: intent.Some(intent.PrioritySet(1 << 3)), Lossless: 1 << 3,
		Sched: intent.Some([8]intent.Sched{
			0: {Kind: intent.SchedETS, Percent: 100 - share}, 3: {Kind: intent.SchedETS, Percent: share}, 6: {Kind: intent.SchedStrict},
		}),
		ECN:   intent.Some([8]intent.ECN{3: {On: true, MinBytes: 150_000, MaxBytes: 1_500_000, Probability: 100}}),
		Pause: intent.Some(false), DCBX: intent.Some(intent.DCBX{Mode: "off"}), Watchdog: intent.Some(intent.Watchdog{On: true}),
	}
}

func port(name string, mbps, cableMm uint32, qos string) intent.Port {
	return intent.Port{
		Name: name, Enabled: intent.Some(true), Mbps: intent.Some(mbps), FEC: intent.Some(intent.FECRS), Autoneg: intent.Some(false),
		MTU: intent.Some(uint16(9216)), CableMm: intent.Some(cableMm), QoS: qos,
	}
}

func prefixes(list ...string) intent.Opt[[]netip.Prefix] {
	var all []netip.Prefix
	for _, s := range list {
		all = append(all, netip.MustParsePrefix(s))
	}
	return intent.Some(all)
}

// leaf is a small leaf on 4.5 with ports named by cage: two nodes in one subnet,
// a routed uplink, a loopback. testdata/leaf.by-hand.txt is what a specialist
// writes for it.
func leaf() *intent.Device {
	d := &intent.Device{
		Version: intent.Version, Name: "pod1-leaf0", Kind: intent.Switch, OS: intent.OS{Name: osName, Version: "4.5.0"},
		Model: "dell/z9664f-on", ASIC: "tomahawk4", VLANs: []intent.VLAN{{ID: 100}}, QoS: []intent.QoS{roce("gpu", intent.TrustDSCP, 90)},
	}
	d.QoS[0].Watchdog = intent.Some(intent.Watchdog{On: true, DetectMs: 300, RestoreMs: 500, PollMs: 100, Action: "drop"})
	for _, name := range []string{"Eth1/1", "Eth1/2"} {
		p := port(name, 400_000, 2_500, "gpu")
		p.Native, p.Tagged = intent.Some(uint16(100)), intent.Some([]uint16{})
		d.Ports = append(d.Ports, p)
	}
	d.Ports = append(d.Ports, port("Eth1/33", 400_000, 30_000, "gpu"))
	d.Ifaces = []intent.Iface{
		{Name: "Loopback0", Kind: intent.Loopback, Addresses: prefixes("10.255.0.1/32")},
		{Name: "nodes", Kind: intent.SVI, VLAN: 100, Addresses: prefixes("10.100.0.1/24")},
		{Name: "Eth1/33", Kind: intent.Routed, On: "Eth1/33", Addresses: prefixes("10.0.0.0/31")},
	}
	return d
}

// tor is a storage ToR on 4.1 with ports named by lane: hosts that mark by PCP,
// a split port, a port that trusts nothing and drops RDMA, a VRF, a cap, a shared
// headroom pool, times of what is learned.
func tor() *intent.Device {
	d := &intent.Device{
		Version: intent.Version, Name: "tor1", Kind: intent.Switch, OS: intent.OS{Name: osName, Version: "4.1"},
		Model: "dell/s5232f-on", ASIC: "trident3",
		VLANs: []intent.VLAN{{ID: 100, MTU: intent.Some(uint16(1500))}, {ID: 711}, {ID: 712}},
		QoS:   []intent.QoS{roce("storage", intent.TrustPCP, 50), {Name: "untrusted"}},
	}
	d.Buffer.HeadroomBytes = intent.Some(uint64(3_500_000))
	q := &d.QoS[0]
	q.ECN = intent.Some([8]intent.ECN{})
	q.Sched.Value[0].CapMbps = 40_000
	q.PFC, q.Lossless, q.Group = intent.Some(intent.PrioritySet(1<<3|1<<4)), 1<<3|1<<4, intent.Some([8]uint8{3: 3, 4: 4})
	q.TC.Value[4], q.PFCQueue.Value[4] = 4, 4
	u := &d.QoS[1]
	u.Trust, u.PFC, u.TC = intent.Some(intent.TrustNone), intent.Some(intent.PrioritySet(0)), q.TC
	u.DSCP, u.PCP, u.Group = intent.Some([64]uint8{}), intent.Some([8]uint8{}), intent.Some([8]uint8{})
	u.Sched = intent.Some([8]intent.Sched{{Kind: intent.SchedETS, Percent: 100}})
	u.ECN, u.Watchdog = intent.Some([8]intent.ECN{}), intent.Some(intent.Watchdog{})
	for i, name := range []string{"Ethernet0", "Ethernet1", "Ethernet8"} {
		p := port(name, 25_000, 3_000, "storage")
		p.Tagged = intent.Some([]uint16{711, 712})
		switch i {
		case 0:
			p.Breakout = "4x25G"
			p.Split = &intent.Split{Parent: "Ethernet0", Mode: "4x25G", Number: 1, Lanes: "1", Alias: "Eth1/1/1", Index: 1}
			p.Native = intent.Some(uint16(100))
		case 1:
			p.Mbps, p.Autoneg, p.FEC = intent.Opt[uint32]{}, intent.Some(true), intent.Some(intent.FECAuto)
		case 2:
			p.Mbps, p.Enabled = intent.Some(uint32(100_000)), intent.Some(false)
			p.QoS, p.CableMm, p.Tagged, p.Native = "untrusted", intent.Opt[uint32]{}, intent.Some([]uint16{711}), intent.Some(uint16(100))
		}
		d.Ports = append(d.Ports, p)
	}
	seen := port("Ethernet12", 100_000, 3_000, "storage")
	seen.Verify = true
	d.Ports = append(d.Ports, seen, port("Ethernet16", 100_000, 20_000, "storage"))
	d.Ports[2].Deny = intent.Some([]intent.RDMA{intent.RoCEv2})
	d.Aging = intent.Aging{ARPSeconds: intent.Some(uint32(300)), MACSeconds: intent.Some(uint32(600))}
	d.Ifaces = []intent.Iface{
		{Name: "hosts", Kind: intent.SVI, VLAN: 100, VRF: "Vrf-host", Addresses: prefixes("10.100.0.1/24", "10.100.1.1/24", "2001:db8:100::1/64")},
		{Name: "Vlan711", Kind: intent.SVI, VLAN: 711, MTU: intent.Some(uint16(9000)), Addresses: prefixes("10.71.1.1/24")},
		{Name: "Ethernet16", Kind: intent.Routed, On: "Ethernet16", VRF: "Vrf-host", Addresses: prefixes("10.0.0.0/31", "2001:db8::/127")},
	}
	return d
}

// pair is one half of an MCLAG pair on 4.2 that rewrites marks and takes the
// image's own RoCE setup as its base.
func pair() *intent.Device {
	d := &intent.Device{
		Version: intent.Version, Name: "rack7-a", Kind: intent.Switch, OS: intent.OS{Name: osName, Version: "4.2.1"},
		Model: "dell/s5248f-on", ASIC: "trident3",
		VLANs: []intent.VLAN{{ID: 10}, {ID: 711}},
		QoS:   []intent.QoS{roce("converged", intent.TrustDSCP, 50)},
		MLAG: &intent.MLAG{
			Domain: 7, Peer: "rack7-b", PeerLink: "PortChannel31", Source: netip.MustParseAddr("10.255.0.1"), PeerAddress: netip.MustParseAddr("10.255.0.2"),
			IntervalMs: 1000, TimeoutMs: 30000,
		},
		Options: map[string]string{buffersOption: buffersRoCE},
	}
	d.QoS[0].Rewrite = intent.Some([8]uint8{3: 26, 6: 48})
	for _, name := range []string{"Eth1/1", "Eth1/2", "Eth1/31", "Eth1/32"} {
		p := port(name, 100_000, 5_000, "converged")
		p.MTU = intent.Opt[uint16]{}
		d.Ports = append(d.Ports, p)
	}
	d.LAGs = []intent.LAG{
		{
			Name: "PortChannel1", ID: 1, Members: []string{"Eth1/1", "Eth1/2"}, Mode: "lacp", Rate: "fast", MTU: intent.Some(uint16(9000)),
			Native: intent.Some(uint16(10)), Tagged: intent.Some([]uint16{711}), MLAG: true, Deny: intent.Some([]intent.RDMA{intent.RoCEv2, intent.RoCEv1}),
		},
		{Name: "PortChannel31", ID: 31, Members: []string{"Eth1/31", "Eth1/32"}, Mode: "static", MTU: intent.Some(uint16(9216)), Tagged: intent.Some([]uint16{10, 711})},
	}
	d.Ifaces = []intent.Iface{
		{Name: "Loopback0", Kind: intent.Loopback, Addresses: prefixes("10.255.0.1/32")},
		{Name: "Vlan10", Kind: intent.SVI, Unique: true, VLAN: 10, Addresses: prefixes("10.10.0.2/24")},
	}
	return d
}
