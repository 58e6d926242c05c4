package windows

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/targettest"
)

func TestRefusals(t *testing.T) {
	qos := func(change func(*intent.QoS)) func(*intent.Device) {
		return func(d *intent.Device) { change(&d.QoS[0]) }
	}
	for _, c := range []struct {
		name   string
		base   func() *intent.Device
		change func(*intent.Device)
		says   string // part of the summary or the help
	}{
		{"version", s2d, func(d *intent.Device) { d.OS.Version = "2012" }, "does not know windows-server 2012"},
		{"two tagged VLANs", s2d, func(d *intent.Device) { d.Ports[0].Tagged.Value = []uint16{711, 712} }, "Windows tags one per adapter"},
		{"tagged and untagged", s2d, func(d *intent.Device) { d.Ports[0].Native = intent.Some(uint16(10)) }, "untagged beside tagged"},
		{"RoCE untagged", s2d, func(d *intent.Device) {
			d.Ports[0].Tagged, d.Ifaces[0].VLAN = intent.Opt[[]uint16]{}, 0
		}, "sends RoCE untagged"},
		{"vNIC untagged", converged, func(d *intent.Device) { d.Ifaces[0].VLAN = 10 }, "sends RoCE untagged"},
		{"rails differ", s2d, func(d *intent.Device) {
			q := smbQoS()
			q.Name = "other"
			d.QoS, d.Ports[1].QoS = append(d.QoS, q), "other"
		}, "one QoS table for the host"},
		{"two names that differ in case", s2d, func(d *intent.Device) { d.Ports[1].Name, d.Ifaces[1].On = "SMB_A", "SMB_A" }, "same name on Windows"},
		{"a name of combining marks", s2d, func(d *intent.Device) { d.Ports[0].Name, d.Ifaces[0].On = "Speicher-a\u0308", "Speicher-a\u0308" }, "none of"},
		{"a name with a hidden letter", s2d, func(d *intent.Device) { d.Ports[0].Name, d.Ifaces[0].On = "smb\u200b", "smb\u200b" }, "none of"},
		{"a name that is no UTF-8", s2d, func(d *intent.Device) { d.Ports[0].Name, d.Ifaces[0].On = "smb\xff", "smb\xff" }, ""},
		{"a model beyond ASCII", s2d, func(d *intent.Device) { d.Ports[0].NIC.Model = "nvidia/connectx-\u2166" }, "beyond ASCII"},
		{"a name with a wildcard", s2d, func(d *intent.Device) { d.Ports[0].Name, d.Ifaces[0].On = "smb[a]", "smb[a]" }, "none of"},
		{"PFC on 7", s2d, qos(func(q *intent.QoS) { q.PFC, q.Lossless = intent.Some(intent.PrioritySet(1<<7)), 1<<7 }), "PFC on priority 7"},
		{"lossless without PFC", s2d, qos(func(q *intent.QoS) { q.PFC.Value = 0 }), "lossless on [3] and has PFC on []"},
		{"too many classes", s2d, func(d *intent.Device) { d.Ports[0].NIC.Facts = map[string]int64{"max_tc": 2} }, "3 traffic classes"},
		{"DSCP on RDMA", s2d, qos(func(q *intent.QoS) { q.Marks[0].DSCP = intent.Some(uint8(26)) }), `trust = "pcp"`},
		{"trust DSCP", s2d, qos(func(q *intent.QoS) { q.Trust = intent.Some(intent.TrustDSCP) }), `trust = "pcp"`},
		{"DCQCN", s2d, qos(func(q *intent.QoS) { q.Marks[0].Congestion = "dcqcn" }), "cannot set dcqcn"},
		{"CNP", s2d, qos(func(q *intent.QoS) { q.Marks[1].Carries = "cnp" }), "cannot set cnp_mark"},
		{"no match", s2d, qos(func(q *intent.QoS) { q.Marks[0].NetDirectPort = 0 }), "netdirect_port = 445"},
		{"two matches", s2d, qos(func(q *intent.QoS) { q.Marks[0].TCPPort = 445 }), "matched in 2 ways"},
		{"two SMB Direct classes", s2d, qos(func(q *intent.QoS) {
			q.Marks = append(q.Marks, intent.Mark{Class: "more", Carries: "rdma", Priority: 3, NetDirectPort: 445})
		}), `both policy "SMB_Direct"`},
		{"transport", s2d, qos(func(q *intent.QoS) { q.Marks[0].Transport = "iwarp" }), "speaks roce_v2"},
		{"firmware owns DCBX", s2d, func(d *intent.Device) {
			d.Ports[0].NIC.DCBX.Value = intent.DCBX{Mode: "willing", Owner: "firmware"}
		}, "leaves DCBX to firmware"},
		{"willing with PFC", s2d, func(d *intent.Device) { d.Ports[0].NIC.DCBX.Value.Mode = "willing" }, "while DCBX is willing"},
		{"LACP", converged, func(d *intent.Device) { d.LAGs[0].Mode = "lacp" }, `mode = "set"`},
		{"unequal team", converged, func(d *intent.Device) { d.Ports[1].Mbps = intent.Some(uint32(100000)) }, "one model and speed"},
		{"vNIC jumbo on small members", converged, func(d *intent.Device) { d.Ports[0].MTU.Value = 1500 }, "member \"SMB 1\" of its team has less"},
		{"vNIC outside the team's VLANs", converged, func(d *intent.Device) { d.Ifaces[0].VLAN = 713 }, "does not carry"},
		{"address on a team member", converged, func(d *intent.Device) {
			d.Ifaces = append(d.Ifaces, intent.Iface{Name: "SMB 1", Kind: intent.Direct, On: "SMB 1"})
		}, "cannot have its address"},
		{"gateway outside the subnet", converged, func(d *intent.Device) {
			d.Ifaces[2].Gateway = intent.Some(netip.MustParseAddr("198.51.100.1"))
		}, "no address of its subnet"},
		{"PCP that is served differently", s2d, qos(func(q *intent.QoS) { q.PCP.Value[3] = 0 }), "maps PCP 3 to priority 0"},
		{"DSCP that is read", s2d, qos(func(q *intent.QoS) { q.DSCP = intent.Some([64]uint8{26: 3}) }), "maps DSCP 26 to priority 3"},
		{"settings of a disabled adapter", s2d, func(d *intent.Device) { d.Ports[0].Enabled = intent.Some(false) }, "a disabled driver"},
		{"live migration without speed", converged, func(d *intent.Device) {
			for i := range d.Ports {
				d.Ports[i].Mbps = intent.Opt[uint32]{}
			}
		}, "needs the speed of every RDMA nic"},
		{"RoCE on Chelsio", s2d, func(d *intent.Device) { d.Ports[0].NIC.Driver, d.Ports[0].NIC.Model = "cxgb4", "chelsio/t6" }, "(chelsio/t6) speaks iwarp on Windows, not roce_v2"},
		{"RoCE v1 on Marvell", s2d, func(d *intent.Device) {
			d.Ports[0].NIC.Driver, d.Ports[0].NIC.RoCE = "qede", intent.Some("v1")
		}, "speaks iwarp and roce_v2 on Windows, not roce_v1"},
		{"iWARP on NVIDIA", chelsio, func(d *intent.Device) { d.Ports[0].NIC.Driver = "mlx5" }, "not iwarp"},
		{"soft-RoCE", s2d, func(d *intent.Device) { d.Ports[0].NIC.Driver = "rxe" }, "no driver for Windows"},
		{"live migration above all", converged, func(d *intent.Device) { d.Options[optionLiveMigration] = "101" }, "101 percent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := c.base()
			if list := targets.Check(&Target, d, nil); list.HasErrors() {
				t.Fatalf("the base is refused:\n%s", targettest.Refusals(list))
			}
			c.change(d)
			list := targets.Check(&Target, d, nil)
			if !list.HasErrors() {
				t.Fatal("not refused")
			}
			if text := targettest.Refusals(list); !strings.Contains(text, c.says) {
				t.Errorf("want %q in:\n%s", c.says, text)
			}
			for _, f := range list {
				if f.Help == "" || len(f.Labels) == 0 {
					t.Errorf("%q has no help or no label", f.Summary)
				}
			}
		})
	}
}

// ECN of a class is the switch's matter: it must not keep a host out.
func TestECNNeedsNothingOfTheHost(t *testing.T) {
	d := s2d()
	d.QoS[0].Marks[0].ECT = true
	if list := targets.Check(&Target, d, nil); list.HasErrors() {
		t.Errorf("refused:\n%s", targettest.Refusals(list))
	}
}

func TestCompareVersions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"2016", "2019", -1}, {"2025", "2022", 1}, {"2022", "2022", 0}, {"", "2025", 1}, {"2025", "next", -1}} {
		if got := features.Compare(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// Marvell adapters speak two kinds of RDMA, and each is a value of its own.
func TestMarvell(t *testing.T) {
	for _, c := range []struct {
		change func(*intent.NIC)
		want   string
	}{
		{func(*intent.NIC) {}, "Keyword = '*NetworkDirectTechnology'; Value = '4'"},
		{func(n *intent.NIC) { n.IWARP, n.RoCE, n.RDMAMTU = true, intent.Opt[string]{}, 0 }, "Keyword = '*NetworkDirectTechnology'; Value = '1'"},
	} {
		d := s2d()
		for i := range d.Ports {
			n := d.Ports[i].NIC
			n.Model, n.Driver = "marvell/ql41000", "qede"
			c.change(n)
		}
		if d.Ports[0].NIC.IWARP {
			d.QoS[0].Marks[0].Transport = "iwarp"
		}
		for _, tg := range []*targets.Target{&Target, &NetworkATC} {
			if list := targets.Check(tg, d, nil); list.HasErrors() {
				t.Errorf("%s refuses:\n%s", tg.Name, targettest.Refusals(list))
			}
			if text := filesOf(tg, d)[dataFile]; strings.Count(text, c.want) != 2 {
				t.Errorf("%s: want %s twice in:\n%s", tg.Name, c.want, text)
			}
		}
	}
}
