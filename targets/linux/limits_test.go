package linux

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/feature"
)

// TestLimits: each change of a host that is fine is refused for one reason.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name string
		base func() *intent.Device
		edit func(d *intent.Device)
		says string
	}{
		{"old system", nvmeHost, func(d *intent.Device) { d.OS.Version = "20.04" }, "has no dcb"},
		{"long name", nvmeHost, func(d *intent.Device) { d.Ports[0].Name = "storage-network0" }, "has 16 bytes"},
		{"odd name", nvmeHost, func(d *intent.Device) { d.Ports[0].Name = "a b" }, "no name of a Linux network device"},
		{"reserved name", nvmeHost, func(d *intent.Device) { d.Ports[0].Name = "all" }, "keeps for itself"},
		{"two of a name", pcpHost, func(d *intent.Device) { d.Ifaces[1].Name = "bond0" }, `two devices have the name "bond0"`},
		{"other driver", nvmeHost, func(d *intent.Device) { d.Ports[0].NIC.Driver = "mlx4" }, `driver "mlx4"`},
		{"bad MAC", nvmeHost, func(d *intent.Device) { d.Ports[0].NIC.MAC = "b8:3f" }, "MAC address"},
		{"bad PCI", nvmeHost, func(d *intent.Device) { d.Ports[0].NIC.PCI = "3b:00.0" }, "PCI address"},
		{"one MAC twice", nvmeHost, func(d *intent.Device) { d.Ports[1].NIC.MAC = d.Ports[0].NIC.MAC }, "one MAC address"},
		{"long cable", nvmeHost, func(d *intent.Device) { d.Ports[0].CableMm = intent.Some[uint32](1_000_000) }, "takes 1 to 999"},
		{"name that is a number", nvmeHost, func(d *intent.Device) { d.Ports[0].Name = "12" }, "is a number"},
		{"name that is a word of netplan", nvmeHost, func(d *intent.Device) { d.Ports[0].Name = "renderer" }, "keeps for itself"},
		{"small MTU", nvmeHost, func(d *intent.Device) { d.Ports[0].MTU = intent.Some[uint16](4191) }, "needs 4192"},
		{"forced without speed", nvmeHost, func(d *intent.Device) { d.Ports[0].Autoneg, d.Ports[0].Mbps = intent.Some(false), intent.Opt[uint32]{} }, "no speed"},
		{"CEE", nvmeHost, func(d *intent.Device) { d.Ports[0].NIC.DCBX.Value.Version = "cee" }, "only ieee"},
		{"lldpad", nvmeHost, func(d *intent.Device) { d.Ports[0].NIC.DCBX.Value.Owner = "lldpad" }, "leaves DCBX"},
		{"RoCE v1 by DSCP", nvmeHost, func(d *intent.Device) { d.Ports[0].NIC.RoCE = intent.Some("v1") }, "has no DSCP"},
		{"few classes", nvmeHost, func(d *intent.Device) { d.Ports[0].NIC.Facts["max_tc"] = 2 }, "has 2 traffic classes"},
		{"gateway outside", nvmeHost, func(d *intent.Device) { d.Ifaces[0].Gateway = intent.Some(netip.MustParseAddr("10.11.0.1")) }, "outside its subnets"},
		{"class without scheduler", nvmeHost, func(d *intent.Device) { d.QoS[0].Sched.Value[2] = intent.Sched{} }, "has no scheduler"},
		{"scheduler without class", nvmeHost, func(d *intent.Device) { d.QoS[0].Sched.Value[5] = intent.Sched{Kind: intent.SchedStrict} }, "no priority uses"},
		{"cap with dcb", nvmeHost, func(d *intent.Device) { d.QoS[0].Sched.Value[0].CapMbps = 10_000 }, "125 times off"},
		{"cap of half a Gbit", mlnxHost, func(d *intent.Device) { d.QoS[0].Sched.Value[0].CapMbps = 10_500 }, "10500 Mbit/s"},
		{"PFC of a lossy class", nvmeHost, func(d *intent.Device) { d.QoS[0].PFC = intent.Some(intent.PrioritySet(0x18)) }, "[3, 4] and lossless classes on [3]"},
		{"PFC is kept", nvmeHost, func(d *intent.Device) { d.QoS[0].PFC = intent.Opt[intent.PrioritySet]{} }, "leaves PFC as the device has it, and its classes on [3] are lossless"},
		{"trust is kept", nvmeHost, func(d *intent.Device) { d.QoS[0].Trust = intent.Opt[intent.Trust]{} }, "leaves trust as the device has it"},
		{"the map is kept", nvmeHost, func(d *intent.Device) { d.QoS[0].DSCP = intent.Opt[[64]uint8]{} }, "trusts DSCP and has no map of it"},
		{"shares are kept", nvmeHost, func(d *intent.Device) { d.QoS[0].Sched = intent.Opt[[8]intent.Sched]{} }, "writes queue_map and leaves ets as the device has it"},
		{"queues are kept", nvmeHost, func(d *intent.Device) { d.QoS[0].TC = intent.Opt[[8]uint8]{} }, "writes ets and leaves queue_map as the device has it"},
		{"map without trust", nvmeHost, func(d *intent.Device) { d.QoS[0].Trust = intent.Some(intent.TrustPCP) }, "does not trust them"},
		{"PCP map", nvmeHost, func(d *intent.Device) { d.QoS[0].PCP = intent.Some([8]uint8{0, 1, 2, 4, 3, 5, 6, 7}) }, "maps PCP 3 to priority 4"},
		{"two RDMA marks", nvmeHost, func(d *intent.Device) {
			q := &d.QoS[0]
			q.Marks = append(q.Marks, intent.Mark{Class: "bulk", Carries: "rdma", DSCP: intent.Some[uint8](10)})
		}, "one default TOS"},
		{"mark and map", nvmeHost, func(d *intent.Device) { d.QoS[0].Marks[0].Priority = 4 }, "DSCP 26 goes to 3"},
		{"DCQCN without ECT", nvmeHost, func(d *intent.Device) { d.QoS[0].Marks[0].ECT = false }, "no switch may mark"},
		{"unmarked class", nvmeHost, func(d *intent.Device) {
			q := &d.QoS[0]
			q.Marks = append(q.Marks, intent.Mark{Class: "backup", Carries: "other", DSCP: intent.Some[uint8](10)})
		}, "nothing on the host writes it"},
		{"NetDirect", nvmeHost, func(d *intent.Device) { d.QoS[0].Marks[0].NetDirectPort = 445 }, "netdirect_match"},
		{"VLAN MTU", pcpHost, func(d *intent.Device) { d.Ifaces[1].MTU = intent.Some[uint16](9001) }, `"bond0" under it has 9000`},
		{"VLAN of no segment", pcpHost, func(d *intent.Device) { d.Ifaces[1].VLAN = 101 }, "does not carry"},
		{"unused segment", pcpHost, func(d *intent.Device) { d.LAGs[0].Tagged = intent.Some([]uint16{100, 200}) }, "uses the tagged VLAN 200"},
		{"tagged and untagged", pcpHost, func(d *intent.Device) { d.LAGs[0].Native = intent.Some[uint16](100) }, "untagged"},
		{"DSCP that Linux confuses", pcpHost, func(d *intent.Device) { d.QoS[0].Marks[0].DSCP = intent.Some[uint8](24) }, "cannot get PCP 3"},
		{"bond over two adapters", pcpHost, func(d *intent.Device) { d.Ports[1].NIC.Adapter = "nic1" }, "different adapters"},
		{"bond over ports of unknown adapters", pcpHost, func(d *intent.Device) { d.Ports[0].NIC.Adapter, d.Ports[1].NIC.Adapter = "", "" }, "nothing says on which adapter"},
		{"bond of bnxt", pcpHost, func(d *intent.Device) { d.Ports[1].NIC.Driver = bnxt }, `port "rail1", which is driven by bnxt`},
		{"rate of a static bond", pcpHost, func(d *intent.Device) { d.LAGs[0].Mode, d.LAGs[0].MLAG = "static", false }, "LACP rate"},
		{"address on a member", pcpHost, func(d *intent.Device) { d.Ifaces[0].On = "rail0" }, "is in the bond"},
		{"address of a switch in a pair", pcpHost, func(d *intent.Device) { d.Ifaces[1].Unique = true }, "no such peer"},
		{"VF VLAN where PCP classifies", lossyHost, func(d *intent.Device) {
			q := &d.QoS[0]
			q.Trust, q.DSCP, q.PCP = intent.Some(intent.TrustPCP), intent.Opt[[64]uint8]{}, intent.Some([8]uint8{0, 1, 2, 3, 4, 5, 6, 7})
		}, "with PCP 0 for all their frames"},
		{"VF VLAN in switchdev", lossyHost, func(d *intent.Device) { d.Ports[0].NIC.VFs.Value.Mode = "switchdev" }, "representor"},
		{"soft-RoCE with PFC", rxeHost, func(d *intent.Device) {
			d.QoS[0].PFC, d.QoS[0].Lossless = intent.Some(intent.PrioritySet(8)), 8
		}, "cannot have pfc set"},
		{"two lossless classes on ice", iceHost, func(d *intent.Device) {
			d.QoS[0].PFC, d.QoS[0].Lossless = intent.Some(intent.PrioritySet(0x18)), 0x18
		}, "PFC on 1 of its priorities at most"},
		{"two lossless classes on an ice of no facts", iceHost, func(d *intent.Device) {
			d.Ports[0].NIC.Facts = nil
			d.QoS[0].PFC, d.QoS[0].Lossless = intent.Some(intent.PrioritySet(0x18)), 0x18
		}, "an E810 has it on one priority"},
		{"CNPs on ice", iceHost, func(d *intent.Device) {
			d.QoS[0].Marks = append(d.QoS[0].Marks, intent.Mark{Class: "cnp", Carries: "cnp", Priority: 6, DSCP: intent.Some[uint8](48)})
		}, "no setting of irdma does"},
		{"priorities that share a class on ice", iceHost, func(d *intent.Device) { d.QoS[0].DSCP.Value[10] = 2 }, "gives two priorities one traffic class"},
		{"gap in the classes of ice", iceHost, func(d *intent.Device) {
			q := &d.QoS[0]
			q.Trust, q.DSCP, q.TC.Value[3] = intent.Some(intent.TrustPCP), intent.Opt[[64]uint8]{}, 2
			q.Sched.Value[1], q.Sched.Value[2] = intent.Sched{}, q.Sched.Value[1]
		}, "leaves out traffic class 1"},
		{"RoCE v1 on ice", iceHost, func(d *intent.Device) { d.Ports[0].NIC.RoCE = intent.Some("v1") }, "driven by ice, which has no RoCE v1"},
		{"ice in a bond", iceHost, func(d *intent.Device) {
			d.LAGs = []intent.LAG{{Name: "bond0", Members: []string{"rail0", "rail1"}, Mode: "active_backup"}}
			d.Ifaces = nil
		}, "no DCB setting while it is in a bond"},
		{"cable on bnxt", bnxtHost, func(d *intent.Device) { d.Ports[0].CableMm = intent.Some[uint32](2000) }, "takes no length of a cable"},
		{"pause storms on bnxt", bnxtHost, func(d *intent.Device) {
			d.Ports[0].NIC.StormMs = intent.Some[uint16](100)
		}, "takes no time after which it stops pausing"},
		{"pause of a moment", nvmeHost, func(d *intent.Device) {
			d.Ports[0].NIC.StormMs = intent.Some[uint16](20)
		}, "may pause for 20 ms, mlx5 takes 80 to 8000"},
		{"pause beyond the bound", nvmeHost, func(d *intent.Device) {
			d.Ports[0].NIC.StormMs = intent.Some[uint16](9000)
		}, "may pause for 9000 ms"},
		{"cap on bnxt", bnxtHost, func(d *intent.Device) {
			d.Options = map[string]string{"qos_tool": mlnxTool}
			d.QoS[0].Sched.Value[0].CapMbps = 10_000
		}, "which has no rate limits"},
		{"two priorities of RoCE on bnxt", bnxtHost, func(d *intent.Device) {
			q := &d.QoS[0]
			q.DSCP.Value[30] = 4
			q.Marks = append(q.Marks, intent.Mark{Class: "gpu", Carries: "rdma", Priority: 4, Application: true, Transport: "roce_v2"})
		}, "several priorities, and bnxt gives RoCE one"},
		{"FEC on Chelsio", iwarpHost, func(d *intent.Device) { d.Ports[0].FEC = intent.Some(intent.FECRS) }, "does not show what FEC it was told"},
		{"FEC auto on ice", iceHost, func(d *intent.Device) { d.Ports[0].FEC = intent.Some(intent.FECAuto) }, "does not show that its FEC is auto"},
		{"DCB on Chelsio", iwarpHost, func(d *intent.Device) { d.QoS[0].Trust = intent.Some(intent.TrustPCP) }, "cannot have trust set: cxgb4 takes DCB settings only from the switch"},
		{"DCB on Marvell", iwarpHost, func(d *intent.Device) {
			d.Ports[0].NIC.Driver, d.QoS[0].PFC, d.QoS[0].Lossless = qede, intent.Some(intent.PrioritySet(8)), 8
		}, "cannot have pfc set: qede takes DCB settings only from DCBX"},
		{"marks of iWARP", iwarpHost, func(d *intent.Device) { d.QoS[0].Marks[0].DSCP = intent.Some[uint8](26) }, "which only applications mark"},
		{"RoCE on Chelsio", iwarpHost, func(d *intent.Device) { d.Ports[0].NIC.IWARP, d.Ports[0].NIC.RoCE = false, intent.Some("v2") }, "driven by cxgb4, which has no RoCE v2"},
		{"iWARP on mlx5", nvmeHost, func(d *intent.Device) { d.Ports[0].NIC.IWARP = true }, "which has no iWARP"},
		{"mode of virtual functions on ice", iceHost, func(d *intent.Device) {
			d.Ports[0].NIC.VFs = intent.Some(intent.VFs{Count: 2, Mode: "switchdev"})
		}, "sets the mode of virtual functions for mlx5"},
		{"class that names no file", nvmeHost, func(d *intent.Device) { d.QoS[0].Marks[0].Class = "../x" }, "names a file of settings"},
		{"one class, two marks", nvmeHost, func(d *intent.Device) {
			other := d.QoS[0]
			other.Name, other.DSCP = "other", dscpMap(map[int]uint8{26: 3, 30: 3, 48: 6})
			other.Marks = append([]intent.Mark{}, other.Marks...)
			other.Marks[0].DSCP = intent.Some[uint8](30)
			d.QoS = append(d.QoS, other)
			d.Ports[1].QoS = "other"
		}, "is not the same on ports"},
		{"application without a mark", nvmeHost, func(d *intent.Device) {
			q := &d.QoS[0]
			q.Marks[0].Application, q.Marks[0].DSCP, q.Marks[0].Priority = true, intent.Opt[uint8]{}, 0
		}, "no DSCP leads to it alone"},
		{"soft-RoCE with CNPs", rxeHost, func(d *intent.Device) {
			d.QoS[0].Marks = append(d.QoS[0].Marks, intent.Mark{Class: "cnp", Carries: "cnp", Priority: 6})
		}, "cannot have class.cnp set"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := c.base()
			if list := targets.Check(&Target, d, nil); list.HasErrors() {
				t.Fatalf("the base is refused: %+v", list)
			}
			c.edit(d)
			list := targets.Check(&Target, d, nil)
			for _, f := range list {
				if strings.Contains(f.Summary, c.says) {
					if f.Help == "" || len(f.Labels) == 0 {
						t.Errorf("no help or no place: %+v", f)
					}
					return
				}
			}
			t.Errorf("no %q in %+v", c.says, list)
		})
	}
}

// TestFeatures: every feature has a row, with a source, and a note where it is
// not native.
func TestFeatures(t *testing.T) {
	rows := map[feature.ID]feature.Row{}
	for _, r := range table.Rows {
		if _, twice := rows[r.ID]; twice {
			t.Errorf("%s has two rows", r.ID)
		}
		rows[r.ID] = r
		if r.Source == "" || r.Support != feature.Native && r.Note == "" {
			t.Errorf("%s: no source or no note", r.ID)
		}
	}
	for _, id := range feature.All {
		if _, ok := rows[id]; !ok {
			t.Errorf("%s has no row", id)
		}
	}
}

func TestCompareVersions(t *testing.T) {
	order := []string{"11", "12", "12.4", "20.04", "22.04", "22.04.5", "24.04", "24.10", "100", ""}
	for i, a := range order {
		for j, b := range order {
			if got := compareVersions(a, b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%q and %q: %d", a, b, got)
			}
		}
	}
}

func TestImpact(t *testing.T) {
	pfc := impact(nvmeHost(), targets.Change{Path: at(intent.OfQoS, "storage", "pfc")})
	if !pfc.Interrupts || !strings.Contains(pfc.Note, "link flap") {
		t.Errorf("PFC: %+v", pfc)
	}
	if ets := impact(nvmeHost(), targets.Change{Path: at(intent.OfQoS, "storage", "ets")}); ets.Interrupts {
		t.Errorf("ETS: %+v", ets)
	}
	if ets := impact(iceHost(), targets.Change{Path: at(intent.OfQoS, "storage", "ets")}); !ets.Interrupts || !strings.Contains(ets.Note, "ice") {
		t.Errorf("ETS of ice: %+v", ets)
	}
	if pfc := impact(bnxtHost(), targets.Change{Path: at(intent.OfQoS, "storage", "pfc")}); !pfc.Interrupts || !strings.Contains(pfc.Note, "bnxt") {
		t.Errorf("PFC of bnxt: %+v", pfc)
	}
}
