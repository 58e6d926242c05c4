package targets_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// whole is a switch with one object of each kind, all of them sound.
func whole() *intent.Device {
	return &intent.Device{
		Version: 1, Name: "tor", Kind: intent.Switch, OS: intent.OS{Name: "sonic"},
		Ports: []intent.Port{
			{
				Name: "Ethernet0", QoS: "roce", FEC: intent.Some(intent.FECRS), Mbps: intent.Some(uint32(100000)), Native: intent.Some(uint16(100)),
				Tagged: intent.Some([]uint16{711}), Headroom: []intent.Headroom{{Group: 3}}, NIC: &intent.NIC{DCBX: intent.Some(intent.DCBX{Mode: "off"})},
			},
			{Name: "Ethernet4"},
		},
		VLANs: []intent.VLAN{{ID: 100}, {ID: 711}},
		LAGs:  []intent.LAG{{Name: "PortChannel1", Mode: "lacp", Rate: "fast", Members: []string{"Ethernet4"}}, {Name: "PortChannel2", Mode: "lacp"}},
		Ifaces: []intent.Iface{
			{Name: "Vlan100", Kind: intent.SVI, VLAN: 100, Addresses: intent.Some([]netip.Prefix{netip.MustParsePrefix("10.0.0.1/24")})},
			{Name: "up", Kind: intent.Routed, On: "PortChannel1", QoS: "roce", Addresses: intent.Some([]netip.Prefix{netip.MustParsePrefix("10.0.1.1/24")})},
		},
		QoS: []intent.QoS{{
			Name: "roce", DSCP: intent.Some([64]uint8{26: 3}), TC: intent.Some([8]uint8{3: 3}), PFC: intent.Some(intent.PrioritySet(8)),
			Sched: intent.Some([8]intent.Sched{{Kind: intent.SchedETS, Percent: 50}, {Kind: intent.SchedETS, Percent: 50}, {Kind: intent.SchedStrict}}),
			ECN:   intent.Some([8]intent.ECN{3: {On: true, MinBytes: 1000, MaxBytes: 2000, Probability: 100}}),
			Marks: []intent.Mark{{Class: "roce", Priority: 3, DSCP: intent.Some(uint8(26))}},
		}},
	}
}

func TestSound(t *testing.T) {
	bare := &targets.Target{Name: "any"}
	for name, c := range map[string]struct {
		change func(*intent.Device)
		want   string // of the first refusal that is not of a feature; "" for none
	}{
		"whole":            {func(*intent.Device) {}, ""},
		"no name":          {func(d *intent.Device) { d.Ports[0].Name = "" }, "a port has no name"},
		"no name of a qos": {func(d *intent.Device) { d.QoS = append(d.QoS, intent.QoS{}) }, "a qos has no name"},
		"one name":         {func(d *intent.Device) { d.LAGs[0].Name = "Ethernet0" }, `port "Ethernet0" and lag "Ethernet0" have one name`},
		"two qos":          {func(d *intent.Device) { d.QoS = append(d.QoS, intent.QoS{Name: "roce"}) }, `qos "roce" and qos "roce" have one name`},
		"unknown qos":      {func(d *intent.Device) { d.Ports[0].QoS = "x" }, `port "Ethernet0" names qos "x", which the device does not have`},
		"unknown qos, interface": {
			func(d *intent.Device) { d.Ifaces[1].QoS = "x" }, `interface "up" names qos "x", which the device does not have`,
		},
		"VLAN 0":          {func(d *intent.Device) { d.VLANs[0].ID = 0 }, "VLAN 0 is not one of 1 to 4094"},
		"VLAN 4095":       {func(d *intent.Device) { d.Ports[0].Tagged.Value[0] = 4095 }, "VLAN 4095 is not one of 1 to 4094"},
		"VLAN of a LAG":   {func(d *intent.Device) { d.LAGs[0].Native = intent.Some(uint16(4095)) }, "VLAN 4095 is not one of 1 to 4094"},
		"interface VLAN":  {func(d *intent.Device) { d.Ifaces[0].VLAN = 5000 }, "VLAN 5000 is not one of 1 to 4094"},
		"tagged and not":  {func(d *intent.Device) { d.Ports[0].Native.Value = 711 }, `port "Ethernet0" is in VLAN 711 twice`},
		"tagged twice":    {func(d *intent.Device) { d.Ports[0].Tagged.Value = []uint16{711, 711} }, `port "Ethernet0" is in VLAN 711 twice`},
		"fec":             {func(d *intent.Device) { d.Ports[0].FEC.Value = "xx" }, `port "Ethernet0" has fec "xx"`},
		"speed":           {func(d *intent.Device) { d.Ports[0].Mbps.Value = 0 }, `port "Ethernet0" has no speed`},
		"headroom":        {func(d *intent.Device) { d.Ports[0].Headroom[0].Group = 8 }, "headroom for group 8"},
		"dcbx mode":       {func(d *intent.Device) { d.Ports[0].NIC.DCBX.Value.Mode = "on" }, `port "Ethernet0" has the DCBX mode "on"`},
		"dcbx owner":      {func(d *intent.Device) { d.QoS[0].DCBX = intent.Some(intent.DCBX{Mode: "off", Owner: "me"}) }, `qos "roce" has the DCBX owner "me"`},
		"rate":            {func(d *intent.Device) { d.LAGs[0].Rate = "often" }, `LAG "PortChannel1" has the rate "often"`},
		"rate of no LACP": {func(d *intent.Device) { d.LAGs[0].Mode = "static" }, "has an LACP rate and the mode"},
		"member":          {func(d *intent.Device) { d.LAGs[0].Members[0] = "x" }, `has the member "x", which the device does not have`},
		"member twice":    {func(d *intent.Device) { d.LAGs[0].Members = []string{"Ethernet4", "Ethernet4"} }, `names its member "Ethernet4" twice`},
		"member of two":   {func(d *intent.Device) { d.LAGs[1].Members = []string{"Ethernet4"} }, `port "Ethernet4" is in LAG "PortChannel1" and in LAG "PortChannel2"`},
		"on nothing":      {func(d *intent.Device) { d.Ifaces[1].On = "x" }, `interface "up" is on "x"`},
		"multicast":       {func(d *intent.Device) { d.Ifaces[1].Addresses.Value[0] = netip.MustParsePrefix("224.0.0.1/32") }, `has the address 224.0.0.1/32`},
		"no address":      {func(d *intent.Device) { d.Ifaces[1].Addresses.Value[0] = netip.Prefix{} }, `has the address`},
		"one address":     {func(d *intent.Device) { d.Ifaces[1].Addresses.Value[0] = netip.MustParsePrefix("10.0.0.1/31") }, "have one address, 10.0.0.1"},
		"one address, VRF": {func(d *intent.Device) {
			d.Ifaces[1].Addresses.Value[0], d.Ifaces[1].VRF = netip.MustParsePrefix("10.0.0.1/31"), "x"
		}, ""},
		"dscp map":      {func(d *intent.Device) { d.QoS[0].DSCP.Value[26] = 8 }, `in qos "roce" DSCP 26 goes to priority 8`},
		"queue map":     {func(d *intent.Device) { d.QoS[0].TC.Value[7] = 9 }, `in qos "roce" priority 7 goes to queue 9`},
		"remap":         {func(d *intent.Device) { d.QoS[0].Rewrite = intent.Some([8]uint8{64}) }, `in qos "roce" priority 0 gets DSCP 64`},
		"share":         {func(d *intent.Device) { d.QoS[0].Sched.Value[0].Percent = 0 }, "sum to 50 %"},
		"share, strict": {func(d *intent.Device) { d.QoS[0].Sched.Value[2].Percent = 10 }, "gives 10 % to queue 2, which is strict"},
		"share, idle":   {func(d *intent.Device) { d.QoS[0].Sched.Value[3].Percent = 10 }, "gives 10 % to queue 3, which is idle"},
		"shares":        {func(d *intent.Device) { d.QoS[0].Sched.Value[0].Percent = 40 }, "sum to 90 %"},
		"scheduler":     {func(d *intent.Device) { d.QoS[0].Sched.Value[0].Kind = "wfq" }, `serves queue 0 by "wfq"`},
		"ECN":           {func(d *intent.Device) { d.QoS[0].ECN.Value[3].MinBytes = 3000 }, "marks queue 3 from 3000 to 2000 bytes"},
		"pause and PFC": {func(d *intent.Device) { d.QoS[0].Pause = intent.Some(true) }, "global pause and PFC on [3]"},
		"mark":          {func(d *intent.Device) { d.QoS[0].Marks[0].Priority = 9 }, `class "roce" of qos "roce" has priority 9`},
	} {
		t.Run(name, func(t *testing.T) {
			d := whole()
			c.change(d)
			got := ""
			for _, x := range targets.Check(bare, d, nil) {
				if !strings.Contains(x.Summary, "any cannot set ") {
					got = x.Summary
					break
				}
			}
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
