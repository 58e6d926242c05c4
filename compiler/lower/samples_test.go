package lower

import (
	"net/netip"

	"github.com/rocec/rocec/compiler/fabric"
)

// s2d is a Windows Server node of a converged cluster, its two ports in a SET
// team with a host vNIC for each storage VLAN, and the ToR with the peers.
func s2d() (d *draft, node, tor fabric.DeviceID) {
	d = newDraft()
	classes := d.storage()
	classes[0].Name, classes[0].NetDirectPort = d.s("smb"), 445
	classes[1] = fabric.Class{Name: d.s("cluster"), Carries: fabric.CarriesCluster, Priority: 7, Queue: 7, Percent: 1}
	classes[2].Percent = 49
	for i := range classes {
		classes[i].DSCP = 0
	}
	q := d.contract("smb_direct", fabric.TrustPCP, classes...)
	a, b, mgmt := d.segment("smb_a", 711, 9000), d.segment("smb_b", 712, 9000), d.segment("mgmt", 10, 0)

	tor = d.device("tor", "sonic", "202405", d.spectrum(), "Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12", "Ethernet16")
	node = d.device("n1", "windows-server", "2025", 0, "smb_a", "smb_b")
	model := d.connectx()
	onSwitch, onHost, untrusted := d.profile(q, false, nil), d.profile(q, true, nil), d.untrusted()
	for i, name := range []string{"smb_a", "smb_b"} {
		p, x := d.Devices[tor].First+fabric.PortID(i), d.port(node, name)
		d.cable(p, x, 3_000)
		d.nic(x, fabric.NIC{Model: model, PCI: d.s("0000:3b:00." + string(rune('0'+i))), Adapter: d.s("1")})
		port, host := &d.Ports[p], &d.Ports[x]
		port.Mbps, port.MTU, port.Profile, port.VLANs, port.Native = 25_000, 9216, onSwitch, d.vlans(a, b), mgmt
		port.Flags = fabric.SpeedSet | fabric.MTUSet | fabric.NativeSet
		host.Mbps, host.MTU, host.Profile, host.Flags = 25_000, 9000, onHost, fabric.SpeedSet|fabric.MTUSet
	}
	outside := &d.Ports[d.port(tor, "Ethernet8")]
	outside.Flags, outside.Profile, outside.Native, outside.Role, outside.Mbps = fabric.External, untrusted, mgmt, fabric.RoleOutside, 10_000
	d.Ports[d.port(tor, "Ethernet12")].Flags = fabric.EnabledSet | fabric.ShutDown
	d.Ports[d.port(tor, "Ethernet16")].Flags = fabric.Implicit

	team := d.lag(fabric.LAG{Device: node, Name: d.s("SET1"), Mode: fabric.SET, Members: []fabric.PortID{d.port(node, "smb_a"), d.port(node, "smb_b")}})
	for i, seg := range []fabric.SegmentID{a, b} {
		d.iface(fabric.Iface{
			Device: node, Name: d.s("vSMB" + string(rune('A'+i))), Kind: fabric.VNICIface, OnLAG: team, Pin: d.Devices[node].First + fabric.PortID(i),
			Segment: seg, Tagged: true, MTU: 9000, RDMA: true, Addresses: d.prefixes([]string{"10.2.199.11/24", "10.2.200.11/24"}[i]),
		})
	}
	d.iface(fabric.Iface{
		Device: node, Name: d.s("vMgmt"), Kind: fabric.VNICIface, OnLAG: team, Segment: mgmt,
		Addresses: d.prefixes("10.0.10.11/24"), Gateway: d.prefixes("10.0.10.1/32"),
	})
	d.iface(fabric.Iface{Device: tor, Name: d.s("Vlan10"), Kind: fabric.SVI, Segment: mgmt, Addresses: d.prefixes("10.0.10.1/24"), Gateway: d.prefixes("10.0.10.1/32")})
	return d, node, tor
}

// untrusted is the predeclared contract of outside ports.
func (d *draft) untrusted() fabric.ProfileID {
	q := d.contract("untrusted", fabric.TrustNone, fabric.Class{Name: d.s("default"), Default: true, Percent: 100})
	return d.profile(q, false, nil)
}

// nvmeof is a Linux node with a tagged and an untagged rail on a switch that
// looks headroom up.
func nvmeof() (d *draft, node, leaf fabric.DeviceID) {
	d = newDraft()
	classes := d.storage()
	classes[0].RDMAMTU, classes[0].CongestionSet, classes[0].Congestion = 4096, true, fabric.DCQCN
	classes[1].CapPercent = 5
	q := d.contract("nvme", fabric.TrustDSCP, classes...)
	tagged, native := d.segment("rail0", 100, 4200), d.segment("rail1", 200, 4200)
	leaf = d.device("leaf", "sonic", "202305", d.trident(), "Ethernet0", "Ethernet4", "Ethernet8")
	node = d.device("nvme1", "ubuntu", "24.04", 0, "rail0", "rail1", "spare")
	model := d.connectx()
	onSwitch, onHost := d.profile(q, false, func(p *fabric.Profile) {
		p.Watchdog = fabric.Watchdog{Mode: fabric.Written, DetectMs: 300, Action: fabric.Drop}
	}), d.profile(q, true, nil)
	for i, name := range []string{"rail0", "rail1"} {
		p, x := d.Devices[leaf].First+fabric.PortID(i), d.port(node, name)
		d.cable(p, x, []uint32{3_000, 0}[i])
		d.nic(x, fabric.NIC{Model: model, Device: d.s("eth" + string(rune('0'+i))), MAC: d.s("02:00:00:00:00:0" + string(rune('0'+i))), Firmware: d.s("22.43.*")})
		port, host := &d.Ports[p], &d.Ports[x]
		port.Mbps, port.MTU, port.Profile, port.Flags, port.FEC = 40_000, 9100, onSwitch, fabric.SpeedSet|fabric.MTUSet|fabric.FECSet, fabric.FECRS
		host.Mbps, host.MTU, host.Profile, host.Flags = 40_000, 4200, onHost, fabric.MTUSet|fabric.AutonegSet|fabric.SpeedSet
	}
	d.Ports[d.port(leaf, "Ethernet0")].VLANs = d.vlans(tagged)
	d.Ports[d.port(leaf, "Ethernet4")].Native = native
	d.Ports[d.port(node, "rail0")].VLANs = d.vlans(tagged)
	d.NICs[d.Ports[d.port(node, "rail1")].NIC].VFs = fabric.VFs{Set: true, Count: 4, Mode: d.s("legacy"), RDMA: true, Segment: native}
	d.NICs[d.Ports[d.port(node, "rail1")].NIC].Storm = fabric.StormTimeout{Set: true, Ms: 100}
	d.nic(d.port(node, "spare"), fabric.NIC{Model: model})
	kept := &d.Ports[d.port(leaf, "Ethernet8")]
	kept.Mbps, kept.Profile, kept.Flags, kept.Manage = 40_000, onSwitch, fabric.Kept|fabric.SpeedSet, fabric.Verify
	d.Headrooms = append(d.Headrooms, fabric.Headroom{AllBytes: 60_000})
	d.Ports[d.port(leaf, "Ethernet4")].Headroom = 1
	d.iface(fabric.Iface{Device: node, Name: d.s("rail0.100"), Kind: fabric.VLANIface, On: d.port(node, "rail0"), Segment: tagged, Tagged: true, MTU: 4200, RDMA: true, Addresses: d.prefixes("10.0.100.11/24")})
	d.iface(fabric.Iface{Device: node, Name: d.s("rail1"), Kind: fabric.DirectIface, On: d.port(node, "rail1"), Segment: native, MTU: 4200, RDMA: true, Addresses: d.prefixes("10.0.200.11/24")})
	return d, node, leaf
}

// mlag is a pair of switches with a LAG to a bonded host and a peer link.
func mlag() (d *draft, a, b fabric.DeviceID) {
	d = newDraft()
	q := d.contract("roce", fabric.TrustDSCP, d.storage()...)
	storage, extra := d.segment("storage", 50, 9000), d.segment("extra", 60, 0)
	ports := []string{"Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"}
	m := d.spectrum()
	a, b = d.device("tor-a", "sonic", "202505", m, ports...), d.device("tor-b", "sonic", "202505", m, ports...)
	host := d.device("h1", "debian", "12", 0, "p0", "p1")
	profile, onHost := d.profile(q, false, nil), d.profile(q, true, nil)
	d.MLAGs = append(d.MLAGs, fabric.MLAG{
		Name: d.s("pair"), Switches: [2]fabric.DeviceID{a, b}, Domain: 7, IntervalMs: 1_000, TimeoutMs: 30_000,
		Keepalive: [2]netip.Addr{netip.MustParseAddr("10.0.50.1"), netip.MustParseAddr("10.0.50.2")}, Decl: d.decl(`mlag "pair"`, 0),
	})
	model := d.connectx()
	set := d.vlans(storage, extra)
	for i, dev := range []fabric.DeviceID{a, b} {
		d.Devices[dev].MLAG = 1
		d.Devices[dev].Buffer = fabric.DeviceBuffer{HeadroomBytes: 2_000_000, Alpha: fabric.Ratio{Num: 1, Den: 2}}
		d.Devices[dev].Hash = fabric.Hash{Function: d.s("CRC"), Seed: 0, SeedSet: true}
		d.Devices[dev].Firmware = d.s("5.2.*")
		first := d.Devices[dev].First
		for p := first; p < first+4; p++ {
			d.Ports[p].Mbps, d.Ports[p].MTU, d.Ports[p].Profile, d.Ports[p].Flags = 100_000, 9216, profile, fabric.MTUSet
		}
		x := d.Devices[host].First + fabric.PortID(i)
		d.cable(first, x, 5_000)
		d.nic(x, fabric.NIC{Model: model, Adapter: d.s("card")})
		d.Ports[x].Mbps, d.Ports[x].MTU, d.Ports[x].Profile, d.Ports[x].Flags = 100_000, 9000, onHost, fabric.MTUSet
		d.lag(fabric.LAG{
			Device: dev, Name: d.s("PortChannel1"), Number: 1, Mode: fabric.LACP, Fast: true, RateSet: true, Members: []fabric.PortID{first},
			VLANs: set, MTU: 9216, MLAG: 1, Implied: true,
		})
		d.MLAGs[1].LAGs[i] = d.lag(fabric.LAG{
			Device: dev, Name: d.s("PortChannel999"), Number: 999, Mode: fabric.LACP, Members: []fabric.PortID{first + 1, first + 2}, VLANs: set, MTU: 9216,
		})
		d.iface(fabric.Iface{
			Device: dev, Name: d.s("Vlan50"), Kind: fabric.SVI, Segment: storage, MTU: 9000,
			Addresses: d.prefixes([]string{"10.0.50.1/24", "10.0.50.2/24"}[i]),
		})
	}
	for i := range fabric.PortID(2) {
		d.cable(d.Devices[a].First+1+i, d.Devices[b].First+1+i, 1_000)
	}
	d.cable(d.Devices[a].First+3, d.Devices[b].First+3, 0)
	d.Ports[d.Devices[a].First+3].Manage = fabric.HandsOff
	d.lag(fabric.LAG{
		Device: host, Name: d.s("bond0"), Mode: fabric.LACP, Fast: true, RateSet: true, Hash: d.s("layer3+4"),
		Members: []fabric.PortID{d.port(host, "p0"), d.port(host, "p1")}, VLANs: set, MTU: 9000,
	})
	d.iface(fabric.Iface{
		Device: host, Name: d.s("bond0.50"), Kind: fabric.VLANIface, OnLAG: fabric.LAGID(len(d.LAGs) - 1), Segment: storage, Tagged: true, MTU: 9000, RDMA: true,
		Addresses: d.prefixes("10.0.50.11/24"),
	})
	return d, a, b
}
