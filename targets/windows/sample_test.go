package windows

import (
	"net/netip"

	"github.com/rocec/rocec/compiler/intent"
)

// smbQoS is the qos of the S2D example: SMB Direct on 3 with PFC and half the
// bandwidth, cluster on 7, the rest on 0.
func smbQoS() intent.QoS {
	return intent.QoS{
		Name:  "smb_direct",
		Trust: intent.Some(intent.TrustPCP),
		PCP:   intent.Some([8]uint8{0, 0, 0, 3, 0, 0, 0, 7}),
		TC:    intent.Some([8]uint8{0, 0, 0, 1, 0, 0, 0, 2}),
		PFC:   intent.Some(intent.PrioritySet(1 << 3)),
		Sched: intent.Some([8]intent.Sched{
			0: {Kind: intent.SchedETS, Percent: 49},
			1: {Kind: intent.SchedETS, Percent: 50},
			2: {Kind: intent.SchedETS, Percent: 1},
		}),
		Pause:    intent.Some(false),
		Lossless: 1 << 3,
		Marks: []intent.Mark{
			{Class: "smb", Carries: "rdma", Priority: 3, NetDirectPort: 445, ECT: true, Transport: "roce_v2"},
			{Class: "cluster", Carries: "cluster", Priority: 7},
			{Class: "default", Priority: 0, Default: true},
		},
	}
}

func rail(name, pci string, vlan uint16) intent.Port {
	return intent.Port{
		Name:   name,
		Mbps:   intent.Some(uint32(25000)),
		MTU:    intent.Some(uint16(9000)),
		Tagged: intent.Some([]uint16{vlan}),
		QoS:    "smb_direct",
		NIC: &intent.NIC{
			Model: "nvidia/connectx-6-dx", Driver: "mlx5", PCI: pci, Adapter: "slot1",
			RDMA: intent.Some(true), RoCE: intent.Some("v2"), RDMAMTU: 4096,
			DCBX: intent.Some(intent.DCBX{Mode: "off"}),
		},
	}
}

func address(s string) intent.Opt[[]netip.Prefix] {
	return intent.Some([]netip.Prefix{netip.MustParsePrefix(s)})
}

// s2d is node n1 of the two-node S2D example.
func s2d() *intent.Device {
	return &intent.Device{
		Version: intent.Version, Name: "n1", Kind: intent.Node, OS: intent.OS{Name: "windows-server", Version: "2025"},
		Ports: []intent.Port{rail("smb_a", "", 711), rail("smb_b", "", 712)},
		Ifaces: []intent.Iface{
			{Name: "smb_a", Kind: intent.Direct, On: "smb_a", VLAN: 711, Addresses: address("10.71.1.11/24"), RDMA: true},
			{Name: "smb_b", Kind: intent.Direct, On: "smb_b", VLAN: 712, Addresses: address("10.71.2.11/24"), RDMA: true},
		},
		VLANs: []intent.VLAN{{ID: 711}, {ID: 712}},
		QoS:   []intent.QoS{smbQoS()},
	}
}

// converged is a Hyper-V host: a SET team found by PCI address and MAC, host
// vNICs for SMB and management, live migration limited.
func converged() *intent.Device {
	a, b := rail("SMB 1", "0000:3b:00.0", 0), rail("SMB 2", "0000:3b:00.1", 0)
	b.NIC.MAC = "b8:3f:d2:00:00:02"
	for _, p := range []*intent.Port{&a, &b} {
		p.Tagged = intent.Opt[[]uint16]{}
		p.NIC.RDMA = intent.Some(false)
	}
	return &intent.Device{
		Version: intent.Version, Name: "hv07", Kind: intent.Node, OS: intent.OS{Name: "windows-server", Version: "2022"},
		Ports: []intent.Port{a, b},
		LAGs: []intent.LAG{{
			Name: "team", Members: []string{"SMB 1", "SMB 2"}, Mode: "set",
			Tagged: intent.Some([]uint16{711, 712}), Native: intent.Some(uint16(10)),
		}},
		Ifaces: []intent.Iface{
			{Name: "vSMB1", Kind: intent.VNIC, On: "team", Pin: "SMB 1", VLAN: 711, MTU: intent.Some(uint16(9000)), Addresses: address("10.71.1.17/24"), RDMA: true, QoS: "smb_direct"},
			{Name: "vSMB2", Kind: intent.VNIC, On: "team", Pin: "SMB 2", VLAN: 712, MTU: intent.Some(uint16(9000)), Addresses: address("10.71.2.17/24"), RDMA: true, QoS: "smb_direct"},
			{
				Name: "Management", Kind: intent.VNIC, On: "team", VLAN: 10,
				Addresses: intent.Some([]netip.Prefix{netip.MustParsePrefix("192.0.2.17/24"), netip.MustParsePrefix("2001:db8::17/64")}),
				Gateway:   intent.Some(netip.MustParseAddr("192.0.2.1")),
			},
		},
		QoS:     []intent.QoS{smbQoS()},
		Options: map[string]string{optionLiveMigration: "29", optionTransport: "smb"},
	}
}

// chelsio is a host with iWARP adapters: no PFC, no VLAN, an iSCSI class with a
// DSCP, a strict class the application marks, a spare adapter shut down and one
// that is only verified.
func chelsio() *intent.Device {
	q := intent.QoS{
		Name:  "iwarp",
		Trust: intent.Some(intent.TrustPCP),
		PFC:   intent.Some(intent.PrioritySet(0)),
		Sched: intent.Some([8]intent.Sched{
			0: {Kind: intent.SchedETS, Percent: 40}, 3: {Kind: intent.SchedETS, Percent: 50},
			4: {Kind: intent.SchedETS, Percent: 10}, 6: {Kind: intent.SchedStrict},
		}),
		Pause: intent.Some(true),
		Marks: []intent.Mark{
			{Class: "smb", Carries: "rdma", Priority: 3, NetDirectPort: 445, Transport: "iwarp"},
			{Class: "iscsi", Carries: "other", Priority: 4, TCPPort: 3260, DSCP: intent.Some(uint8(18))},
			{Class: "telemetry", Carries: "other", Priority: 4, UDPPort: 6343},
			{Class: "voice", Carries: "other", Priority: 6, Application: true},
			{Class: "default", Priority: 0, Default: true},
		},
	}
	nic := func() *intent.NIC {
		return &intent.NIC{Model: "chelsio/t6", Driver: "cxgb4", IWARP: true, RDMA: intent.Some(true), DCBX: intent.Some(intent.DCBX{Mode: "off", Owner: "os"}), Firmware: "1.27.*", DriverV: ">= 7.0"}
	}
	return &intent.Device{
		Version: intent.Version, Name: "files", Kind: intent.Node, OS: intent.OS{Name: "windows-server", Version: "2019"},
		Ports: []intent.Port{
			{Name: "Slot 3", Mbps: intent.Some(uint32(100000)), MTU: intent.Some(uint16(9000)), Native: intent.Some(uint16(20)), QoS: "iwarp", CableMm: intent.Some(uint32(3000)), NIC: nic()},
			{Name: "Slot 4", Enabled: intent.Some(true), Mbps: intent.Some(uint32(100000)), QoS: "iwarp", Verify: true, NIC: nic()},
			{Name: "John's spare", Enabled: intent.Some(false), NIC: &intent.NIC{Model: "intel/i350", Driver: "igb", DriverV: "14.*"}},
		},
		Ifaces: []intent.Iface{{
			Name: "storage", Kind: intent.Direct, On: "Slot 3", VLAN: 20, MTU: intent.Some(uint16(8900)),
			Addresses: address("10.9.0.5/24"), Gateway: intent.Some(netip.MustParseAddr("10.9.0.1")),
		}},
		VLANs: []intent.VLAN{{ID: 20}},
		QoS:   []intent.QoS{q},
	}
}

func samples() map[string]*intent.Device {
	return map[string]*intent.Device{"s2d": s2d(), "converged": converged(), "iwarp": chelsio()}
}
