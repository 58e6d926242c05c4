package cumulus

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

// leaf is the leaf of a GPU pod: 32 nodes at 400G in one subnet, 32 routed
// uplinks at 800G. testdata/leaf.by-hand.yaml is what a specialist writes for it.
func leaf() *intent.Device {
	d := &intent.Device{
		Version: intent.Version, Name: "pod1-leaf0", Kind: intent.Switch, OS: intent.OS{Name: "cumulus-linux", Version: "5.15"},
		Model: "nvidia/sn5600", ASIC: "spectrum-4", VLANs: []intent.VLAN{{ID: 100}}, QoS: []intent.QoS{roce("gpu", intent.TrustDSCP, 90)},
	}
	d.QoS[0].Watchdog = intent.Some(intent.Watchdog{On: true, DetectMs: 200, PollMs: 100})
	d.Ifaces = []intent.Iface{
		{Name: "lo", Kind: intent.Loopback, Addresses: prefixes("10.255.0.1/32")},
		{Name: "vlan100", Kind: intent.SVI, VLAN: 100, Addresses: prefixes("10.100.0.1/24")},
	}
	for i := range 64 {
		name := "swp" + decimal(i+1)
		if i < 32 {
			p := port(name, 400_000, 2_500, "gpu")
			p.Native, p.Tagged = intent.Some(uint16(100)), intent.Some([]uint16{})
			d.Ports = append(d.Ports, p)
			continue
		}
		d.Ports = append(d.Ports, port(name, 800_000, 30_000, "gpu"))
		d.Ifaces = append(d.Ifaces, intent.Iface{Name: name, Kind: intent.Routed, On: name, Addresses: prefixes("10.0." + decimal(i-32) + ".0/31")})
	}
	return d
}

// tor is a storage ToR of a mixed rack on 5.11: hosts that mark by PCP with
// three VLANs, split ports, a port that trusts nothing, a VRF, a cap.
func tor() *intent.Device {
	d := &intent.Device{
		Version: intent.Version, Name: "tor1", Kind: intent.Switch, OS: intent.OS{Name: "cumulus-linux", Version: "5.11"},
		Model: "nvidia/sn4700", ASIC: "spectrum-3",
		VLANs: []intent.VLAN{{ID: 100, MTU: intent.Some(uint16(1500))}, {ID: 711}, {ID: 712}},
		QoS:   []intent.QoS{roce("storage", intent.TrustPCP, 50), {Name: "untrusted"}},
	}
	d.Buffer.AlphaExponent = intent.Some(int8(1))
	d.Hash.Seed = intent.Some(uint32(4_294_967_295))
	d.Aging.MACSeconds = intent.Some(uint32(3600))
	q := &d.QoS[0]
	q.ECN = intent.Some([8]intent.ECN{})
	q.Sched.Value[0].CapMbps = 40_000
	q.DCBX = intent.Some(intent.DCBX{Mode: "advertise"})
	u := &d.QoS[1]
	u.Trust, u.PFC, u.TC = intent.Some(intent.TrustNone), intent.Some(intent.PrioritySet(0)), q.TC
	u.DSCP, u.PCP, u.Group = intent.Some([64]uint8{}), intent.Some([8]uint8{}), intent.Some([8]uint8{})
	u.Sched = intent.Some([8]intent.Sched{{Kind: intent.SchedETS, Percent: 100}})
	u.ECN, u.Watchdog = intent.Some([8]intent.ECN{}), intent.Some(intent.Watchdog{})
	for i, name := range []string{"swp1s0", "swp1s1", "swp1s2", "swp3"} {
		p := port(name, 100_000, 3_000, "storage")
		p.Tagged = intent.Some([]uint16{711, 712})
		switch i {
		case 0:
			p.Breakout, p.Mbps = "4x50G", intent.Opt[uint32]{}
			p.Native = intent.Some(uint16(100))
		case 1:
			p.Mbps = intent.Opt[uint32]{}
		case 2:
			p.Mbps = intent.Some(uint32(25_000))
		case 3:
			p.Mbps, p.FEC, p.Enabled = intent.Some(uint32(400_000)), intent.Some(intent.FECNone), intent.Some(false)
			p.Deny = intent.Some([]intent.RDMA{intent.RoCEv2})
			p.QoS, p.CableMm, p.Tagged, p.Native = "untrusted", intent.Opt[uint32]{}, intent.Some([]uint16{711}), intent.Some(uint16(100))
		}
		d.Ports = append(d.Ports, p)
	}
	seen := port("swp4", 100_000, 3_000, "storage")
	seen.Verify = true
	d.Ports = append(d.Ports, seen, port("swp5", 400_000, 20_000, "storage"))
	d.Ifaces = []intent.Iface{
		{Name: "hosts", Kind: intent.SVI, VLAN: 100, VRF: "Vrf-host", Addresses: prefixes("10.100.0.1/24", "2001:db8:100::1/64")},
		{Name: "Vlan711", Kind: intent.SVI, VLAN: 711, MTU: intent.Some(uint16(9000)), Addresses: prefixes("10.71.1.1/24")},
		{Name: "swp5", Kind: intent.Routed, On: "swp5", VRF: "Vrf-host", Addresses: prefixes("10.0.0.0/31", "2001:db8::/127")},
	}
	return d
}

// pair is one half of an MLAG pair on 5.9 that rewrites marks.
func pair() *intent.Device {
	d := &intent.Device{
		Version: intent.Version, Name: "rack7-a", Kind: intent.Switch, OS: intent.OS{Name: "cumulus-linux", Version: "5.9.2"},
		Model: "nvidia/sn3700", ASIC: "spectrum-2",
		VLANs: []intent.VLAN{{ID: 10}, {ID: 711}},
		QoS:   []intent.QoS{roce("converged", intent.TrustDSCP, 50)},
		MLAG:  &intent.MLAG{Domain: 7, Peer: "rack7-b", PeerLink: "peerlink", Source: netip.MustParseAddr("10.255.0.1"), PeerAddress: netip.MustParseAddr("10.255.0.2")},
	}
	d.QoS[0].Rewrite = intent.Some([8]uint8{3: 26, 6: 48})
	d.QoS[0].Watchdog = intent.Some(intent.Watchdog{On: true, DetectMs: 300})
	for _, name := range []string{"swp1", "swp2", "swp31", "swp32"} {
		p := port(name, 200_000, 5_000, "converged")
		p.MTU = intent.Opt[uint16]{}
		d.Ports = append(d.Ports, p)
	}
	d.LAGs = []intent.LAG{
		{
			Name: "bond1", ID: 1, Members: []string{"swp1", "swp2"}, Mode: "lacp", Rate: "fast", MTU: intent.Some(uint16(9000)),
			Native: intent.Some(uint16(10)), Tagged: intent.Some([]uint16{711}), MLAG: true, Deny: intent.Some([]intent.RDMA{intent.RoCEv2}),
		},
		{Name: "peerlink", ID: 31, Members: []string{"swp31", "swp32"}, Mode: "static", MTU: intent.Some(uint16(9216)), Tagged: intent.Some([]uint16{10, 711})},
	}
	d.Ifaces = []intent.Iface{
		{Name: "lo", Kind: intent.Loopback, Addresses: prefixes("10.255.0.1/32")},
		{Name: "vlan10", Kind: intent.SVI, Unique: true, VLAN: 10, Addresses: prefixes("10.10.0.2/24")},
	}
	return d
}

// mode is a switch for which nv set qos roce says everything.
func mode(version string) *intent.Device {
	q := roce("all", intent.TrustDSCP, 50)
	for mark := range q.DSCP.Value {
		q.DSCP.Value[mark] = uint8(mark / 8)
	}
	q.PCP = intent.Some([8]uint8{0, 1, 2, 3, 4, 5, 6, 7})
	q.ECN.Value[0] = q.ECN.Value[3]
	q.DCBX = intent.Some(intent.DCBX{Mode: "advertise"})
	d := &intent.Device{
		Version: intent.Version, Name: "all-roce", Kind: intent.Switch, OS: intent.OS{Name: "cumulus-linux", Version: version},
		Model: "nvidia/sn3700", ASIC: "spectrum-2", QoS: []intent.QoS{q},
	}
	for i := range 32 {
		d.Ports = append(d.Ports, port("swp"+decimal(i+1), 200_000, roceCableMm, "all"))
	}
	return d
}
