package sonic

import (
	"net/netip"

	"github.com/rocec/rocec/compiler/intent"
)

// roce is the classes of the reference switch: RoCE on priority 3, CNP strict
// on 6, everything else on 0.
func roce(name string, trust intent.Trust) intent.QoS {
	q := intent.QoS{
		Name:     name,
		Trust:    intent.Some(trust),
		DSCP:     intent.Some([64]uint8{26: 3, 48: 6}),
		PCP:      intent.Some([8]uint8{3: 3, 6: 6}),
		TC:       intent.Some([8]uint8{0, 0, 0, 3, 0, 0, 6, 0}),
		Group:    intent.Some([8]uint8{0, 0, 0, 3, 0, 0, 0, 0}),
		PFC:      intent.Some(intent.PrioritySet(1 << 3)),
		PFCQueue: intent.Some([8]uint8{0, 1, 2, 3, 4, 5, 6, 7}),
		Sched: intent.Some([8]intent.Sched{
			0: {Kind: intent.SchedETS, Percent: 50}, 3: {Kind: intent.SchedETS, Percent: 50}, 6: {Kind: intent.SchedStrict},
		}),
		ECN:      intent.Some([8]intent.ECN{3: {On: true, MinBytes: 150_000, MaxBytes: 1_500_000, Probability: 100}}),
		Pause:    intent.Some(false),
		DCBX:     intent.Some(intent.DCBX{Mode: "off"}),
		Watchdog: intent.Some(intent.Watchdog{On: true}),
		Lossless: 1 << 3,
	}
	return q
}

func port(name string, mbps uint32, cableMm uint32, qos string) intent.Port {
	return intent.Port{
		Name: name, Enabled: intent.Some(true), Mbps: intent.Some(mbps), FEC: intent.Some(intent.FECRS), Autoneg: intent.Some(false),
		MTU: intent.Some(uint16(9000)), CableMm: intent.Some(cableMm), QoS: qos,
	}
}

// tor is a storage ToR on Trident 3: two hosts that mark by PCP, three VLANs,
// headroom of the lossless group written by hand.
func tor() *intent.Device {
	alpha := int8(-2)
	d := &intent.Device{
		Version: intent.Version, Name: "tor1", Kind: intent.Switch, OS: intent.OS{Name: "sonic", Version: "202405"},
		Model: "dell/s5232f", ASIC: "trident3",
		VLANs: []intent.VLAN{{ID: 100}, {ID: 711, MTU: intent.Some(uint16(9216))}, {ID: 712, MTU: intent.Some(uint16(9216))}},
		QoS:   []intent.QoS{roce("storage", intent.TrustPCP)},
	}
	d.QoS[0].Lossless, d.QoS[0].ECN = 1<<3, intent.Some([8]intent.ECN{})
	d.QoS[0].Watchdog = intent.Some(intent.Watchdog{On: true, DetectMs: 200, RestoreMs: 400, PollMs: 200, Action: "drop"})
	for _, name := range []string{"Ethernet0", "Ethernet4"} {
		p := port(name, 100000, 3000, "storage")
		p.Native, p.Tagged = intent.Some(uint16(100)), intent.Some([]uint16{711, 712})
		p.Headroom = []intent.Headroom{{Group: 3, XoffBytes: 68580, XonBytes: 2540, SizeBytes: 2540, XonOffset: 2540, Alpha: &alpha, Written: true}}
		d.Ports = append(d.Ports, p)
	}
	d.Ifaces = []intent.Iface{{
		Name: "Vlan100", Kind: intent.SVI, VLAN: 100, VRF: "Vrf-host", MTU: intent.Some(uint16(1500)),
		Addresses: intent.Some([]netip.Prefix{netip.MustParsePrefix("10.100.0.1/24"), netip.MustParsePrefix("2001:db8:100::1/64")}),
	}}
	return d
}

// leaf is a GPU leaf on Spectrum-4: hosts at 400G, uplinks at 800G with routed
// addresses, DSCP trust, ECN and a strict queue for CNPs, a spare port that
// trusts nothing.
func leaf() *intent.Device {
	d := &intent.Device{
		Version: intent.Version, Name: "pod1-leaf0", Kind: intent.Switch, OS: intent.OS{Name: "sonic", Version: "202505"},
		Model: "nvidia/sn5600", ASIC: "spectrum-4",
		VLANs: []intent.VLAN{{ID: 200}},
		QoS:   []intent.QoS{roce("roce", intent.TrustDSCP), {Name: "untrusted"}},
	}
	d.Buffer.AlphaExponent = intent.Some(int8(0))
	d.Hash.Function = intent.Some("CRC_32LO")
	u := &d.QoS[1]
	u.Trust, u.PFC, u.TC = intent.Some(intent.TrustNone), intent.Some(intent.PrioritySet(0)), intent.Some([8]uint8{})
	u.DSCP, u.PCP, u.Group = intent.Some([64]uint8{}), intent.Some([8]uint8{}), intent.Some([8]uint8{})
	u.Sched = intent.Some([8]intent.Sched{{Kind: intent.SchedETS, Percent: 100}})
	u.ECN, u.Watchdog = intent.Some([8]intent.ECN{}), intent.Some(intent.Watchdog{})
	for i, name := range []string{"Ethernet0", "Ethernet8", "Ethernet16"} {
		p := port(name, 400000, 2500, "roce")
		p.Native = intent.Some(uint16(200))
		if i == 2 {
			p.QoS, p.CableMm, p.Enabled = "untrusted", intent.Opt[uint32]{}, intent.Some(false)
			p.Deny = intent.Some([]intent.RDMA{intent.RoCEv2, intent.RoCEv1})
		}
		d.Ports = append(d.Ports, p)
	}
	alpha := int8(-1)
	for i, name := range []string{"Ethernet496", "Ethernet504"} {
		p := port(name, 800000, 40000, "roce")
		p.Headroom = []intent.Headroom{{Group: 3, XoffBytes: 362496, XonBytes: 38912, SizeBytes: 410624, Alpha: &alpha, Written: i == 1}}
		d.Ports = append(d.Ports, p)
		d.Ifaces = append(d.Ifaces, intent.Iface{
			Name: name, Kind: intent.Routed, On: name,
			Addresses: intent.Some([]netip.Prefix{netip.MustParsePrefix("10.0.0." + decimal(2*i) + "/31")}),
		})
	}
	d.Ifaces = append(d.Ifaces,
		intent.Iface{Name: "Loopback0", Kind: intent.Loopback, Addresses: intent.Some([]netip.Prefix{netip.MustParsePrefix("10.255.0.1/32")})},
		intent.Iface{Name: "Vlan200", Kind: intent.SVI, VLAN: 200, Addresses: intent.Some([]netip.Prefix{netip.MustParsePrefix("10.200.0.1/24")})})
	return d
}

// pair is one half of an MCLAG pair on Tomahawk 3.
func pair() *intent.Device {
	d := &intent.Device{
		Version: intent.Version, Name: "rack7-a", Kind: intent.Switch, OS: intent.OS{Name: "sonic", Version: "202411"},
		Model: "dell/z9332f", ASIC: "tomahawk3",
		VLANs: []intent.VLAN{{ID: 10}, {ID: 711}, {ID: 712}},
		QoS:   []intent.QoS{roce("converged", intent.TrustDSCP)},
		MLAG: &intent.MLAG{
			Domain: 7, Peer: "rack7-b", PeerLink: "PortChannel100", Source: netip.MustParseAddr("10.10.0.1"),
			PeerAddress: netip.MustParseAddr("10.10.0.2"), IntervalMs: 1000, TimeoutMs: 30000,
		},
	}
	d.QoS[0].Rewrite = intent.Some([8]uint8{3: 26, 6: 48})
	for _, name := range []string{"Ethernet0", "Ethernet8", "Ethernet240", "Ethernet248"} {
		d.Ports = append(d.Ports, port(name, 400000, 5000, "converged"))
	}
	d.LAGs = []intent.LAG{
		{
			Name: "PortChannel1", ID: 1, Members: []string{"Ethernet0", "Ethernet8"}, Mode: "lacp", Rate: "fast", MTU: intent.Some(uint16(9000)),
			Native: intent.Some(uint16(10)), Tagged: intent.Some([]uint16{711, 712}), MLAG: true, Deny: intent.Some([]intent.RDMA{intent.RoCEv2}),
		},
		{
			Name: "PortChannel100", ID: 100, Members: []string{"Ethernet240", "Ethernet248"}, Mode: "lacp", MTU: intent.Some(uint16(9216)),
			Tagged: intent.Some([]uint16{10, 711, 712}),
		},
	}
	d.Ifaces = []intent.Iface{
		{Name: "Vlan10", Kind: intent.SVI, Unique: true, VLAN: 10, Addresses: intent.Some([]netip.Prefix{netip.MustParsePrefix("10.10.0.1/24")})},
		{Name: "Vlan711", Kind: intent.SVI, VLAN: 711, Addresses: intent.Some([]netip.Prefix{netip.MustParsePrefix("10.71.1.1/24")})},
	}
	return d
}

// split is a Spectrum-2 leaf with two ports split: one in four, at a speed that
// the mode has besides its own, and one in two, of which one half is a LAG's.
func split() *intent.Device {
	d := &intent.Device{
		Version: intent.Version, Name: "rack3-leaf", Kind: intent.Switch, OS: intent.OS{Name: "sonic", Version: "202411"},
		Model: "nvidia/sn3700", ASIC: "spectrum-2",
		VLANs: []intent.VLAN{{ID: 100}},
		QoS:   []intent.QoS{roce("roce", intent.TrustDSCP)},
	}
	for i, name := range []string{"Ethernet0", "Ethernet1", "Ethernet2", "Ethernet3"} {
		p := port(name, 25000, 3000, "roce")
		p.Native = intent.Some(uint16(100))
		p.Split = &intent.Split{
			Parent: "Ethernet0", Mode: "4x50G[25G,10G,1G]", Number: uint8(i + 1), Lanes: decimal(i), Alias: "etp1" + string(rune('a'+i)), Index: 1,
		}
		d.Ports = append(d.Ports, p)
	}
	for i, name := range []string{"Ethernet4", "Ethernet6"} {
		p := port(name, 100000, 3000, "roce")
		p.Split = &intent.Split{
			Parent: "Ethernet4", Mode: "2x100G[50G,25G,10G,1G]", Number: uint8(i + 1), Lanes: decimal(4+2*i) + "," + decimal(5+2*i),
			Alias: "etp2" + string(rune('a'+i)), Index: 2,
		}
		d.Ports = append(d.Ports, p)
	}
	d.Ports[0].Breakout, d.Ports[4].Breakout = "4x25G", "2x100G"
	d.Ports = append(d.Ports, port("Ethernet8", 200000, 40000, "roce"))
	d.LAGs = []intent.LAG{{Name: "PortChannel1", ID: 1, Members: []string{"Ethernet6"}, Mode: "lacp", Tagged: intent.Some([]uint16{100})}}
	return d
}
