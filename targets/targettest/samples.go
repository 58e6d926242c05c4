package targettest

import (
	"net/netip"
	"reflect"

	"github.com/rocec/rocec/compiler/intent"
)

// words are the known values of string fields, by struct and field. A field
// with words is changed to each of the others, and set to each when it is empty.
var words = map[string][]string{
	"Device.Kind":     {"switch", "node"},
	"Port.FEC":        {"none", "rs", "fc", "auto"},
	"Port.Deny":       {"roce_v2", "roce_v1"},
	"LAG.Deny":        {"roce_v2", "roce_v1"},
	"NIC.RoCE":        {"v2", "v1"},
	"NIC.Driver":      {"mlx5", "ice", "bnxt", "qede", "cxgb4", "rxe"},
	"VFs.Mode":        {"legacy", "switchdev"},
	"DCBX.Mode":       {"off", "advertise", "willing"},
	"DCBX.Version":    {"ieee", "cee"},
	"DCBX.Owner":      {"os", "firmware", "lldpad"},
	"LAG.Mode":        {"lacp", "static", "active_backup", "set"},
	"LAG.Rate":        {"fast", "slow"},
	"LAG.Hash":        {"layer2", "layer2+3", "layer3+4"},
	"Hash.Function":   {"CRC", "XOR"},
	"Iface.Kind":      {"svi", "routed", "loopback", "direct", "vlan", "vnic"},
	"Iface.VRF":       {"Vrf-blue"},
	"QoS.Trust":       {"dscp", "pcp", "none"},
	"Sched.Kind":      {"ets", "strict"},
	"Watchdog.Action": {"drop", "forward", "alert"},
	"Mark.Carries":    {"rdma", "cnp", "cluster", "other"},
	"Mark.Congestion": {"dcqcn", "receiver"},
	"Mark.Transport":  {"roce_v2", "roce_v1", "iwarp"},
}

// numbers are values for number fields that are zero when they are not used,
// and other values for fields in which plus one is no value at all.
var numbers = map[string][]uint64{
	"Port.Mbps":          {25000, 100000, 400000},
	"Sched.CapMbps":      {10000},
	"NIC.RDMAMTU":        {1024, 2048, 4096},
	"Mark.NetDirectPort": {445},
	"Mark.TCPPort":       {3260},
	"Mark.UDPPort":       {4791},
	"Watchdog.DetectMs":  {400},
	"Watchdog.RestoreMs": {600},
	"Watchdog.PollMs":    {100},
	"MLAG.IntervalMs":    {500},
	"MLAG.TimeoutMs":     {9000},
}

// settings are values for settings that nobody manages, by struct and field.
var settings = map[string][]any{
	"Port.Enabled":         {true, false},
	"Port.Mbps":            {uint32(100000)},
	"Port.FEC":             {intent.FECRS, intent.FECNone},
	"Port.Autoneg":         {true, false},
	"Port.MTU":             {uint16(9000)},
	"Port.Native":          {uint16(spareVLAN)},
	"Port.Tagged":          {[]uint16{spareVLAN}},
	"Port.Deny":            {[]intent.RDMA{intent.RoCEv2}, []intent.RDMA{intent.RoCEv2, intent.RoCEv1}},
	"Port.CableMm":         {uint32(7000)},
	"NIC.RDMA":             {true, false},
	"NIC.RoCE":             {"v2", "v1"},
	"NIC.StormMs":          {uint16(100), uint16(0)},
	"NIC.VFs":              {intent.VFs{Count: 4, Mode: "legacy"}},
	"NIC.DCBX":             {intent.DCBX{Mode: "off"}, intent.DCBX{Mode: "willing", Version: "ieee", Owner: "os"}},
	"LAG.MTU":              {uint16(9000)},
	"LAG.Native":           {uint16(spareVLAN)},
	"LAG.Tagged":           {[]uint16{spareVLAN}},
	"LAG.Deny":             {[]intent.RDMA{intent.RoCEv2}},
	"Iface.MTU":            {uint16(8000)},
	"Iface.Addresses":      {[]netip.Prefix{netip.MustParsePrefix("192.0.2.1/24")}, []netip.Prefix{netip.MustParsePrefix("2001:db8::1/64")}},
	"Iface.Gateway":        {netip.MustParseAddr("192.0.2.254")},
	"VLAN.MTU":             {uint16(8000)},
	"QoS.Trust":            {intent.TrustDSCP, intent.TrustPCP, intent.TrustNone},
	"QoS.DSCP":             {[64]uint8{26: 3, 48: 6}},
	"QoS.PCP":              {[8]uint8{0, 1, 2, 3, 4, 5, 6, 7}},
	"QoS.TC":               {[8]uint8{0, 0, 0, 3, 0, 0, 6, 0}},
	"QoS.Group":            {[8]uint8{0, 0, 0, 3, 0, 0, 0, 0}},
	"QoS.PFC":              {intent.PrioritySet(1 << 3)},
	"QoS.PFCQueue":         {[8]uint8{0, 1, 2, 3, 4, 5, 6, 7}},
	"QoS.Sched":            {[8]intent.Sched{0: {Kind: intent.SchedETS, Percent: 50}, 3: {Kind: intent.SchedETS, Percent: 50}}},
	"QoS.ECN":              {[8]intent.ECN{3: marking}},
	"QoS.Pause":            {true, false},
	"QoS.DCBX":             {intent.DCBX{Mode: "off"}, intent.DCBX{Mode: "advertise", Version: "ieee"}},
	"QoS.Watchdog":         {intent.Watchdog{On: true}, intent.Watchdog{On: true, DetectMs: 200, RestoreMs: 400, Action: "drop"}},
	"QoS.Rewrite":          {[8]uint8{3: 26}},
	"Mark.DSCP":            {uint8(26)},
	"Buffer.SharedBytes":   {uint64(8 << 20)},
	"Buffer.HeadroomBytes": {uint64(4 << 20)},
	"Buffer.AlphaExponent": {int8(-3)},
	"Hash.Function":        {"CRC", "XOR"},
	"Hash.Seed":            {uint32(50)},
	"Aging.ARPSeconds":     {uint32(600)},
	"Aging.MACSeconds":     {uint32(1800)},
}

// spareVLAN is a VLAN that no base uses.
const spareVLAN = 3999

var (
	marking  = intent.ECN{On: true, MinBytes: 150_000, MaxBytes: 1_500_000, Probability: 100}
	headroom = intent.Headroom{Group: 3, XoffBytes: 80_000, SizeBytes: 100_000, Written: true}
)

func sampleLAGs(d *intent.Device) []intent.LAG {
	if len(d.Ports) == 0 {
		return nil
	}
	var lags []intent.LAG
	for _, mode := range words["LAG.Mode"] {
		lags = append(lags, intent.LAG{Name: "PortChannel9", ID: 9, Mode: mode, Members: []string{d.Ports[len(d.Ports)-1].Name}})
	}
	return lags
}

func sampleIfaces(d *intent.Device) []intent.Iface {
	if len(d.Ports) == 0 {
		return nil
	}
	on := d.Ports[len(d.Ports)-1].Name
	at := intent.Some([]netip.Prefix{netip.MustParsePrefix("198.51.100.1/31")})
	return []intent.Iface{
		{Name: "Vlan3999", Kind: intent.SVI, VLAN: spareVLAN, Addresses: at},
		{Name: on, Kind: intent.Routed, On: on, Addresses: at},
		{Name: "Loopback9", Kind: intent.Loopback, Addresses: at},
		{Name: on, Kind: intent.Direct, On: on, Addresses: at},
		{Name: "vlan3999", Kind: intent.VLANDev, On: on, VLAN: spareVLAN, Addresses: at},
		{Name: "vStorage9", Kind: intent.VNIC, On: on, VLAN: spareVLAN, Addresses: at},
	}
}

func sampleMLAG(d *intent.Device) *intent.MLAG {
	m := &intent.MLAG{Domain: 1, Peer: "peer", Source: netip.MustParseAddr("192.0.2.1"), PeerAddress: netip.MustParseAddr("192.0.2.2")}
	if len(d.Ports) > 0 {
		m.PeerLink = d.Ports[len(d.Ports)-1].Name
	}
	return m
}

func sampleMark() intent.Mark {
	return intent.Mark{Class: "sample", Carries: "rdma", Priority: 5, DSCP: intent.Some(uint8(40)), ECT: true, Congestion: "dcqcn", Transport: "roce_v2"}
}

func fieldKey(owner reflect.Type, name string) string { return owner.Name() + "." + name }
