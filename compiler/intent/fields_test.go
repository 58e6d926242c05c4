package intent

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func lines(d *Device) []string {
	var list []string
	for p, v := range d.Fields {
		text := v.Text
		if v.State == Default {
			text = "(default)"
		}
		list = append(list, fmt.Sprintf("%s = %s", p, text))
	}
	return list
}

func TestFields(t *testing.T) {
	want := []string{
		`mlag.domain = 1`, `mlag.peer = leaf2`, `mlag.peer_link = PortChannel1`, `mlag.source = 10.0.0.1`,
		`buffer.alpha = -1`, `hash.function = CRC`, `hash.seed = 0`, `firmware = 5.2.*`,
		`vlan["10"] = present`,
		`vlan["20"] = present`, `vlan["20"].mtu = 9100`,
		`port["Ethernet0"] = present`,
		`port["Ethernet0"].enabled = true`,
		`port["Ethernet0"].speed = 100G`,
		`port["Ethernet0"].fec = rs`,
		`port["Ethernet0"].autoneg = (default)`,
		`port["Ethernet0"].mtu = 9100`,
		`port["Ethernet0"].native = 10`,
		`port["Ethernet0"].segments = 20, 30`,
		`port["Ethernet0"].cable = 3m`,
		`port["Ethernet0"].headroom = 3: 80000`,
		`port["Ethernet0"].headroom.size = 3: 98432`,
		`port["Ethernet0"].headroom.xon = 3: 18432`,
		`port["Ethernet0"].headroom.alpha = 3: -3`,
	}
	qos := []string{
		`.trust = dscp`,
		`.dscp_map = 0-25:0 26:3 27-47:0 48:6 49-63:0`,
		`.queue_map = 0-2:0 3:3 4-5:0 6:6 7:0`,
		`.pfc = [3]`,
		`.ets = 0:50% 3:50% (cap 5G) 6:strict`,
		`.ecn = 3: 150000..1500000 @100%`,
		`.pause = false`,
		`.dcbx = (default)`,
		`.watchdog = on`,
		`.watchdog.detect = 200ms`,
	}
	for _, line := range qos {
		want = append(want, `port["Ethernet0"]`+line)
	}
	want = append(want, `port["Ethernet4"] = present`)
	for _, line := range qos {
		want = append(want, `port["Ethernet4"]`+line)
	}
	want = append(want,
		`lag["PortChannel1"] = present`, `lag["PortChannel1"].id = 1`, `lag["PortChannel1"].members = Ethernet0`,
		`lag["PortChannel1"].mode = lacp`, `lag["PortChannel1"].rate = fast`,
		`interface["Vlan10"] = present`, `interface["Vlan10"].segment = 10`, `interface["Vlan10"].address = 10.0.0.1/24`, `interface["Vlan10"].vrf = default`,
	)
	if diff := cmp.Diff(want, lines(filled())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFieldsOfHost(t *testing.T) {
	d := &Device{
		Kind: Node,
		Ports: []Port{{Name: "eth0", QoS: "h", Mbps: Some(uint32(2500)), NIC: &NIC{
			RDMA: Some(true), RoCE: Some("v2"), StormMs: Some(uint16(100)), VFs: Some(VFs{Count: 4, Mode: "switchdev", VLAN: 7}), DCBX: Some(DCBX{Mode: "off", Owner: "os"}),
		}}},
		QoS: []QoS{{
			Name: "h", DCBX: Some(DCBX{Mode: "willing", Version: "ieee"}), PCP: Some([8]uint8{0, 1, 2, 3, 4, 5, 6, 7}),
			ECN: Some([8]ECN{}), Sched: Some([8]Sched{}), PFC: Some(PrioritySet(0)), Watchdog: Some(Watchdog{DetectMs: 5}),
			Marks: []Mark{{Class: "smb", Priority: 3, NetDirectPort: 445}, {Class: "cnp", Priority: 6, DSCP: Some(uint8(48))}},
		}},
		Ifaces: []Iface{{
			Name: "eth0.7", Kind: VLANDev, On: "eth0", VLAN: 7, QoS: "h", RDMA: true, Gateway: Some(netip.MustParseAddr("10.0.0.254")),
			Addresses: Some([]netip.Prefix{netip.MustParsePrefix("10.0.0.9/24"), netip.MustParsePrefix("10.0.0.2/24")}),
		}},
	}
	want := []string{
		`port["eth0"] = present`, `port["eth0"].speed = 2500M`, `port["eth0"].rdma = true`, `port["eth0"].roce_mode = v2`, `port["eth0"].pause_storm_timeout = 100ms`,
		`port["eth0"].vfs = 4`, `port["eth0"].vfs.mode = switchdev`, `port["eth0"].vfs.segment = 7`,
		`port["eth0"].dcbx = off`, `port["eth0"].dcbx.owner = os`,
		`port["eth0"].pcp_map = 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7`,
		`port["eth0"].pfc = []`, `port["eth0"].ets = none`, `port["eth0"].ecn = off`, `port["eth0"].watchdog = off`,
		`port["eth0"].class.smb.priority = 3`, `port["eth0"].class.smb.netdirect_port = 445`,
		`port["eth0"].class.cnp.priority = 6`, `port["eth0"].class.cnp.dscp = 48`,
		`interface["eth0.7"] = present`, `interface["eth0.7"].on = eth0`, `interface["eth0.7"].segment = 7`,
		`interface["eth0.7"].address = 10.0.0.2/24, 10.0.0.9/24`, `interface["eth0.7"].gateway = 10.0.0.254`, `interface["eth0.7"].rdma = true`,
		`interface["eth0.7"].pcp_map = 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7`,
	}
	if diff := cmp.Diff(want, lines(d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFieldsStops(t *testing.T) {
	n := 0
	for range filled().Fields {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("yielded %d times", n)
	}
}

func TestDiff(t *testing.T) {
	port := func(f string) Path { return Path{OfPort, "Ethernet0", f} }
	cases := map[string]struct {
		have   func(*Device)
		diff   []Difference
		unseen []Path
	}{
		"equal": {func(*Device) {}, nil, nil},
		"value": {func(d *Device) { d.Ports[0].MTU = Some(uint16(1500)) }, []Difference{{port("mtu"), "1500", "9100"}}, nil},
		"at its default": {
			func(d *Device) { d.Ports[0].MTU = Kept(uint16(0)) }, []Difference{{port("mtu"), AtDefault, "9100"}}, nil,
		},
		"could not be read": {func(d *Device) { d.Ports[0].MTU = Opt[uint16]{} }, nil, []Path{port("mtu")}},
		"left at the default by us": {
			func(d *Device) { d.Ports[0].Autoneg = Some(false) }, nil, nil,
		},
		"name of the QoS is no setting": {
			func(d *Device) { d.QoS[0].Name, d.Ports[0].QoS, d.Ports[1].QoS = "x", "x", "x" }, nil, nil,
		},
		"QoS of one port": {
			func(d *Device) {
				q := d.QoS[0]
				q.Name, q.PFC = "other", Some(PrioritySet(16))
				d.QoS = append(d.QoS, q)
				d.Ports[0].QoS = "other"
			},
			[]Difference{{port("pfc"), "[4]", "[3]"}},
			nil,
		},
		"times the device has by itself": {
			func(d *Device) { d.QoS[0].Watchdog.Value.RestoreMs = 400 }, nil, nil,
		},
		"VLAN to create": {
			func(d *Device) { d.VLANs = d.VLANs[:1] },
			[]Difference{{Path{OfVLAN, "20", ""}, "", Present}, {Path{OfVLAN, "20", "mtu"}, "", "9100"}},
			nil,
		},
		"more than we manage": {
			func(d *Device) {
				d.VLANs = append(d.VLANs, VLAN{ID: 99})
				d.Ports = append(d.Ports, Port{Name: "Ethernet8", MTU: Some(uint16(1))})
				d.Buffer.SharedBytes = Some(uint64(1))
			}, nil, nil,
		},
		"no MLAG read": {
			func(d *Device) { d.MLAG = nil }, nil,
			[]Path{{OfDevice, "", "mlag.domain"}, {OfDevice, "", "mlag.peer"}, {OfDevice, "", "mlag.peer_link"}, {OfDevice, "", "mlag.source"}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			have := filled()
			c.have(have)
			if diff := cmp.Diff(c.diff, Diff(filled(), have)); diff != "" {
				t.Errorf("diff (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.unseen, Unseen(filled(), have)); diff != "" {
				t.Errorf("unseen (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDiffOfNewDevice(t *testing.T) {
	var set int
	for _, v := range filled().Fields {
		if v.State == Set {
			set++
		}
	}
	list := Diff(filled(), nil)
	if len(list) != set {
		t.Errorf("%d differences for %d settings", len(list), set)
	}
	created := 0
	for _, d := range list {
		if d.Before != "" || d.After == "" {
			t.Errorf("%+v", d)
		}
		if d.Creates() {
			created++
		}
	}
	if created != 6 { // 2 VLANs, 2 ports, LAG, interface
		t.Errorf("%d objects created", created)
	}
	if got := Unseen(filled(), nil); got != nil {
		t.Errorf("unseen %v", got)
	}
}

func TestGone(t *testing.T) {
	want := filled()
	want.VLANs, want.LAGs, want.Ports = want.VLANs[:1], nil, nil
	got := Gone(want, filled())
	if diff := cmp.Diff([]Difference{{Path{OfVLAN, "20", ""}, Present, ""}, {Path{OfLAG, "PortChannel1", ""}, Present, ""}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, d := range got {
		if !d.Destroys() || d.Creates() {
			t.Errorf("%+v", d)
		}
	}
	if Gone(want, nil) != nil || Gone(filled(), filled()) != nil {
		t.Error("something goes that was never written, or is still wanted")
	}
}

func TestWord(t *testing.T) {
	for field, want := range map[string]string{"mtu": "mtu", "watchdog.detect": "watchdog", "": ""} {
		if got := (Path{Field: field}).Word(); got != want {
			t.Errorf("%q: %q", field, got)
		}
	}
}

// A run-length map says all of the map.
func TestRunsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SliceOfN(rapid.Uint8Range(0, 7), 1, 64).Draw(t, "map")
		got := make([]uint8, 0, len(m))
		s := runs(m)
		for s != "" {
			var from, to, v int
			var part string
			if n, _ := fmt.Sscanf(s, "%s", &part); n != 1 {
				t.Fatalf("%q", s)
			}
			s = s[len(part):]
			if len(s) > 0 {
				s = s[1:]
			}
			if n, _ := fmt.Sscanf(part, "%d-%d:%d", &from, &to, &v); n != 3 {
				if n, _ := fmt.Sscanf(part, "%d:%d", &from, &v); n != 2 {
					t.Fatalf("%q", part)
				}
				to = from
			}
			if from != len(got) {
				t.Fatalf("%q starts at %d, not at %d", part, from, len(got))
			}
			for range to - from + 1 {
				got = append(got, uint8(v))
			}
		}
		if diff := cmp.Diff(m, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func BenchmarkDiff(b *testing.B) {
	d := filled()
	for i := range 64 {
		p := d.Ports[0]
		p.Name = "Ethernet" + number(uint16(100+i))
		d.Ports = append(d.Ports, p)
	}
	for b.Loop() {
		if len(Diff(d, d)) != 0 {
			b.Fatal("differs from itself")
		}
	}
}

// TestDiffLeavesAVRF: an address of no written VRF is in the default one, and an
// interface that a device has in another has to leave it. A host says nothing of it.
func TestDiffLeavesAVRF(t *testing.T) {
	at := func(kind IfaceKind, vrf string) *Device {
		return &Device{Ifaces: []Iface{{Name: "i", Kind: kind, VRF: vrf, Addresses: Some([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/31")})}}}
	}
	want := []Difference{{Path: Path{Object: OfIface, Name: "i", Field: "vrf"}, Before: "red", After: "default"}}
	for _, kind := range []IfaceKind{SVI, Routed} {
		if diff := cmp.Diff(want, Diff(at(kind, ""), at(kind, "red"))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
	if list := Diff(at(Direct, ""), at(Direct, "red")); len(list) > 0 {
		t.Error(list)
	}
}
