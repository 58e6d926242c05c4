package linux

import (
	"net/netip"

	"github.com/rocec/rocec/compiler/intent"
)

// The hosts of the goldens, one of each shape.

func prefixes(list ...string) intent.Opt[[]netip.Prefix] {
	var p []netip.Prefix
	for _, s := range list {
		p = append(p, netip.MustParsePrefix(s))
	}
	return intent.Some(p)
}

func nic(mac, pci string) *intent.NIC {
	return &intent.NIC{
		Model: "nvidia/connectx-6-dx", Driver: mlx5, MAC: mac, PCI: pci, Adapter: "nic0",
		RDMA: intent.Some(true), RoCE: intent.Some("v2"), RDMAMTU: 4096,
		DCBX: intent.Some(intent.DCBX{Mode: "off", Version: "ieee", Owner: "os"}), Facts: map[string]int64{"max_tc": 8},
	}
}

func dscpMap(exceptions map[int]uint8) intent.Opt[[64]uint8] {
	var m [64]uint8
	for d, p := range exceptions {
		m[d] = p
	}
	return intent.Some(m)
}

// storageQoS is a lossless RDMA class, strict CNPs, and the rest.
func storageQoS() intent.QoS {
	return intent.QoS{
		Name: "storage", Trust: intent.Some(intent.TrustDSCP), DSCP: dscpMap(map[int]uint8{26: 3, 48: 6}),
		TC:    intent.Some([8]uint8{3: 1, 6: 2}),
		Sched: intent.Some([8]intent.Sched{{Kind: intent.SchedETS, Percent: 50}, {Kind: intent.SchedETS, Percent: 50}, {Kind: intent.SchedStrict}}),
		PFC:   intent.Some(intent.PrioritySet(0).With(3)), Lossless: intent.PrioritySet(0).With(3), Pause: intent.Some(false),
		Marks: []intent.Mark{
			{Class: "rdma", Carries: "rdma", Priority: 3, DSCP: intent.Some[uint8](26), ECT: true, Congestion: "dcqcn", Transport: "roce_v2"},
			{Class: "cnp", Carries: "cnp", Priority: 6, DSCP: intent.Some[uint8](48)},
			{Class: "default", Default: true},
		},
	}
}

func node(name string) *intent.Device {
	return &intent.Device{Version: intent.Version, Name: name, Kind: intent.Node, OS: intent.OS{Name: "ubuntu", Version: "24.04"}}
}

// nvmeHost has two ports in two subnets behind a gateway each.
func nvmeHost() *intent.Device {
	d := node("nvme01")
	d.QoS = []intent.QoS{storageQoS()}
	for i, name := range []string{"rail0", "rail1"} {
		n := nic("b8:3f:d2:00:00:0"+itoa(i+1), "0000:3b:00."+itoa(i))
		d.Ports = append(d.Ports, intent.Port{
			Name: name, Mbps: intent.Some[uint32](100000), MTU: intent.Some[uint16](9000), QoS: "storage", CableMm: intent.Some[uint32](2000), NIC: n,
			Headroom: []intent.Headroom{{Group: 3, XoffBytes: 56_667}},
		})
		subnet := "10.10." + itoa(i)
		d.Ifaces = append(d.Ifaces, intent.Iface{
			Name: name, Kind: intent.Direct, On: name, Addresses: prefixes(subnet + ".11/24"),
			Gateway: intent.Some(netip.MustParseAddr(subnet + ".1")), RDMA: true,
		})
	}
	return d
}

// mlnxHost is nvmeHost set with mlnx_qos, its default class held to 40 Gbit/s.
func mlnxHost() *intent.Device {
	d := nvmeHost()
	d.Options = map[string]string{"qos_tool": mlnxTool}
	d.QoS[0].Sched.Value[0].CapMbps = 40_000
	return d
}

// pcpHost has a bond over both ports of one adapter, and RDMA in a VLAN that
// the switch classifies by PCP.
func pcpHost() *intent.Device {
	d := nvmeHost()
	d.Name, d.OS = "pcp01", intent.OS{Name: "debian", Version: "12"}
	q := &d.QoS[0]
	q.Name, q.Trust, q.DSCP = "vlan", intent.Some(intent.TrustPCP), intent.Opt[[64]uint8]{}
	q.PCP = intent.Some([8]uint8{0, 1, 2, 3, 4, 5, 6, 7})
	for i := range d.Ports {
		p := &d.Ports[i]
		p.QoS, p.FEC, p.Autoneg, p.Enabled = "vlan", intent.Some(intent.FECRS), intent.Some(true), intent.Some(true)
		p.NIC.RDMA = intent.Opt[bool]{}
	}
	d.LAGs = []intent.LAG{{
		Name: "bond0", Members: []string{"rail0", "rail1"}, Mode: "lacp", Rate: "fast", Hash: "layer3+4", MLAG: true,
		MTU: intent.Some[uint16](9000), Native: intent.Some[uint16](10), Tagged: intent.Some([]uint16{100}),
	}}
	d.VLANs = []intent.VLAN{{ID: 10}, {ID: 100}}
	d.Ifaces = []intent.Iface{
		{Name: "bond0", Kind: intent.Direct, On: "bond0", VLAN: 10, Addresses: prefixes("192.0.2.11/24")},
		{Name: "bond0.100", Kind: intent.VLANDev, On: "bond0", VLAN: 100, MTU: intent.Some[uint16](8996), Addresses: prefixes("10.100.0.11/24", "2001:db8:100::11/64"), RDMA: true, QoS: "vlan"},
	}
	return d
}

// lossyHost runs DCQCN without PFC, found by PCI address, with virtual functions.
func lossyHost() *intent.Device {
	d := nvmeHost()
	d.Name = "gpu01"
	q := &d.QoS[0]
	q.Name, q.PFC, q.Lossless = "lossy", intent.Some(intent.PrioritySet(0)), 0
	for i := range d.Ports {
		p := &d.Ports[i]
		p.QoS, p.NIC.MAC, p.CableMm, p.Headroom = "lossy", "", intent.Opt[uint32]{}, nil
	}
	d.Ports[0].Tagged = intent.Some([]uint16{200})
	d.Ports[0].NIC.VFs = intent.Some(intent.VFs{Count: 4, Mode: "legacy", VLAN: 200, Trust: true, RDMA: true})
	d.Ports[0].NIC.StormMs = intent.Some[uint16](100)
	d.Ports[1].Verify = true
	d.Ports[1].NIC.Firmware = "22.41.1000"
	d.Ifaces = d.Ifaces[:1]
	d.Ifaces[0].Gateway = intent.Opt[netip.Addr]{}
	return d
}

// rxeHost is soft-RoCE with a mark.
func rxeHost() *intent.Device {
	d := node("soft01")
	d.QoS = []intent.QoS{{Name: "soft", Marks: []intent.Mark{
		{Class: "rdma", Carries: "rdma", Priority: 3, DSCP: intent.Some[uint8](26), ECT: true, Transport: "roce_v2"}, {Class: "default", Default: true},
	}}}
	d.Ports = []intent.Port{{
		Name: "ens3", MTU: intent.Some[uint16](4200), QoS: "soft",
		NIC: &intent.NIC{Model: "linux/rxe", Driver: rxe, RDMA: intent.Some(true)},
	}}
	d.Ifaces = []intent.Iface{{Name: "ens3", Kind: intent.Direct, On: "ens3", Addresses: prefixes("10.20.0.5/24")}}
	return d
}

// bnxtHost has adapters of Broadcom.
func bnxtHost() *intent.Device {
	d := nvmeHost()
	d.Name = "bcm01"
	q := &d.QoS[0]
	q.TC = intent.Some([8]uint8{3: 3, 6: 6}) // on the adapter 1 and 2
	q.Sched = intent.Some([8]intent.Sched{0: {Kind: intent.SchedETS, Percent: 50}, 3: {Kind: intent.SchedETS, Percent: 50}, 6: {Kind: intent.SchedStrict}})
	for i := range d.Ports {
		p := &d.Ports[i]
		p.NIC.Model, p.NIC.Driver, p.CableMm, p.Headroom = "broadcom/bcm575xx", bnxt, intent.Opt[uint32]{}, nil
	}
	return d
}

// iceHost has E810 adapters, with one RDMA class that is ECN-capable and no
// class for CNPs, whose mark nothing sets there.
func iceHost() *intent.Device {
	d := nvmeHost()
	d.Name = "e810"
	q := &d.QoS[0]
	q.DSCP, q.TC = dscpMap(map[int]uint8{26: 3}), intent.Some([8]uint8{3: 1})
	q.Sched = intent.Some([8]intent.Sched{{Kind: intent.SchedETS, Percent: 50}, {Kind: intent.SchedETS, Percent: 50}})
	q.Marks = []intent.Mark{q.Marks[0], q.Marks[2]}
	for i := range d.Ports {
		p := &d.Ports[i]
		p.NIC.Model, p.NIC.Driver, p.CableMm, p.Headroom = "intel/e810", ice, intent.Opt[uint32]{}, nil
		p.NIC.Facts = map[string]int64{"max_tc": 8, "pfc_priorities": 1}
	}
	return d
}

// iwarpHost has a Chelsio adapter, on which no application's traffic is marked
// by the host.
func iwarpHost() *intent.Device {
	d := node("iw01")
	d.QoS = []intent.QoS{{Name: "iw", Marks: []intent.Mark{{Class: "rdma", Carries: "rdma", Transport: "iwarp"}, {Class: "default", Default: true}}}}
	d.Ports = []intent.Port{{
		Name: "rail0", MTU: intent.Some[uint16](9000), QoS: "iw",
		NIC: &intent.NIC{Model: "chelsio/t6", Driver: cxgb4, RDMA: intent.Some(true), IWARP: true},
	}}
	d.Ifaces = []intent.Iface{{Name: "rail0", Kind: intent.Direct, On: "rail0", Addresses: prefixes("10.40.0.5/24"), RDMA: true}}
	return d
}

// hosts are all of them, by the name of their golden.
func hosts() map[string]*intent.Device {
	return map[string]*intent.Device{"nvme-dcb": nvmeHost(), "nvme-mlnx": mlnxHost(), "bond-pcp": pcpHost(), "lossy": lossyHost(), "rxe": rxeHost(), "bnxt": bnxtHost(), "ice": iceHost(), "iwarp": iwarpHost()}
}
