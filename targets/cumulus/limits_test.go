package cumulus

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/targettest"
)

func TestLimits(t *testing.T) {
	version := func(v string) func(*intent.Device) {
		return func(d *intent.Device) { d.OS.Version = v }
	}
	qos := func(change func(q *intent.QoS)) func(*intent.Device) {
		return func(d *intent.Device) { change(&d.QoS[0]) }
	}
	second := func(change func(q *intent.QoS)) func(*intent.Device) {
		return func(d *intent.Device) {
			q := roce("other", intent.TrustDSCP, 90)
			q.Watchdog = d.QoS[0].Watchdog
			change(&q)
			d.QoS = append(d.QoS, q)
			d.Ports[3].QoS = "other"
		}
	}
	for name, c := range map[string]struct {
		base   func() *intent.Device
		change func(d *intent.Device)
		want   string // in the refusal; "" = taken
	}{
		"arp":         {leaf, func(d *intent.Device) { d.Aging.ARPSeconds = intent.Some(uint32(300)) }, "cannot set arp_timeout"},
		"mac":         {leaf, func(d *intent.Device) { d.Aging.MACSeconds = intent.Some(uint32(65535)) }, ""},
		"mac, long":   {leaf, func(d *intent.Device) { d.Aging.MACSeconds = intent.Some(uint32(65536)) }, "MAC addresses are kept for 65536 s"},
		"hash word":   {leaf, func(d *intent.Device) { d.Hash.Function = intent.Some("CRC") }, "cannot set hash_function"},
		"no version":  {leaf, version(""), `version "" of cumulus-linux is not one such as 5.11`},
		"a word":      {leaf, version("five"), "is not one such as 5.11"},
		"old":         {leaf, version("5.8.3"), "cumulus-linux 5.8.3 is older than 5.9"},
		"new":         {leaf, version("5.16"), "cumulus-linux 5.16 is newer than 5.15"},
		"next":        {leaf, version("6.0"), "is newer than 5.15"},
		"patch level": {leaf, version("5.15.2"), ""},
		"first":       {leaf, version("5.9"), ""},

		"SONiC's name":  {leaf, func(d *intent.Device) { d.Ports[0].Name = "Ethernet0" }, `port "Ethernet0" is not a name of Cumulus Linux`},
		"speed":         {leaf, func(d *intent.Device) { d.Ports[0].Mbps = intent.Some(uint32(56_000)) }, "a speed of 56000 Mb/s, which NVUE has no word for"},
		"fec auto":      {leaf, func(d *intent.Device) { d.Ports[0].FEC = intent.Some(intent.FECAuto) }, "port swp1 has fec auto (leave fec out"},
		"MTU":           {leaf, func(d *intent.Device) { d.Ports[0].MTU = intent.Some(uint16(9217)) }, "mtu 9217 is not in 552 to 9216"},
		"no cable":      {leaf, func(d *intent.Device) { d.Ports[0].CableMm = intent.Some(uint32(0)) }, "a cable of 0 mm"},
		"long cable":    {leaf, func(d *intent.Device) { d.Ports[0].CableMm = intent.Some(uint32(100_000_001)) }, "a cable of 100000001 mm"},
		"no such qos":   {leaf, func(d *intent.Device) { d.Ports[0].QoS = "gone" }, `names qos "gone"`},
		"implied trunk": {tor, func(d *intent.Device) { d.Ports[0].Tagged = intent.Opt[[]uint16]{} }, "nothing says which are tagged (manage tagged too, [] for none"},
		"deny RoCEv1": {
			tor, func(d *intent.Device) { d.Ports[3].Deny = intent.Some([]intent.RDMA{intent.RoCEv2, intent.RoCEv1}) },
			"cannot set deny_roce_v1 on port \"swp3\" (write deny = [\"roce_v2\"]",
		},
		"deny on a member": {pair, func(d *intent.Device) { d.Ports[0].Deny = intent.Some([]intent.RDMA{}) }, `port "swp1" drops RDMA and is in LAG "bond1"`},
		"forced, no fec":   {tor, forced(100_000), "port swp5 is forced to 100G and says nothing of fec"},
		"forced by a split": {tor, func(d *intent.Device) {
			d.Ports[0].Breakout, d.Ports[0].FEC, d.Ports[0].Autoneg = "4x25G", intent.Opt[intent.FEC]{}, intent.Opt[bool]{}
		}, "port swp1s0 is forced to 25G"},
		"forced, 400G": {tor, forced(400_000), ""},
		"forced, shut": {tor, func(d *intent.Device) {
			forced(100_000)(d)
			d.Ports[5].Enabled = intent.Some(false)
		}, ""},
		"forced since 5.14": {mode14, func(d *intent.Device) {
			for i := range d.Ports {
				d.Ports[i].Mbps, d.Ports[i].FEC = intent.Some(uint32(100_000)), intent.Opt[intent.FEC]{}
			}
		}, "port swp1 is forced to 100G"},
		"negotiated since 5.14": {mode14, func(d *intent.Device) {
			for i := range d.Ports {
				d.Ports[i].Mbps, d.Ports[i].FEC, d.Ports[i].Autoneg = intent.Some(uint32(100_000)), intent.Opt[intent.FEC]{}, intent.Opt[bool]{}
			}
		}, ""},
		"negotiated before": {tor, func(d *intent.Device) { d.Ports[5].Autoneg = intent.Some(true) }, "port swp5 negotiates and has a speed, which ends negotiation before 5.14"},
		"split":             {tor, func(d *intent.Device) { d.Ports[0].Breakout = "3x100G" }, `split as "3x100G"`},
		"split lanes":       {tor, func(d *intent.Device) { d.Ports[0].Breakout = "4x56G" }, `split as "4x56G"`},
		"split child":       {tor, func(d *intent.Device) { d.Ports[1].Breakout = "4x50G" }, "is not the first child"},
		"split parent":      {tor, func(d *intent.Device) { d.Ports[3].Name = "swp1" }, "port swp1 is split and has settings of its own"},
		"headroom": {leaf, func(d *intent.Device) {
			d.Ports[0].Headroom = []intent.Headroom{{Group: 3, SizeBytes: 1, Written: true}}
		}, "cannot set headroom"},
		"shared buffer": {leaf, func(d *intent.Device) { d.Buffer.SharedBytes = intent.Some(uint64(1 << 20)) }, "cannot set"},
		"alpha":         {leaf, func(d *intent.Device) { d.Buffer.AlphaExponent = intent.Some(int8(7)) }, "alpha 2^7 is not in 2^-7 to 2^6"},
		"alpha low":     {leaf, func(d *intent.Device) { d.Buffer.AlphaExponent = intent.Some(int8(-7)) }, ""},
		"VLAN 0":        {leaf, func(d *intent.Device) { d.VLANs[0].ID = 0 }, "VLAN 0 is not one of 1 to 4094"},
		"VLAN kept":     {tor, func(d *intent.Device) { d.VLANs[2].ID = 3725 }, "VLAN 3725 is one of 3725 to 3999"},
		"VLAN of clagd": {pair, func(d *intent.Device) { d.VLANs = append(d.VLANs, intent.VLAN{ID: 4094}) }, "VLAN 4094 is that of the MLAG peer link"},
		"unknown VLAN":  {leaf, func(d *intent.Device) { d.Ports[0].Native = intent.Some(uint16(5)) }, "swp1 is in VLAN 5, which the device does not carry"},
		"VLAN twice":    {leaf, func(d *intent.Device) { d.Ports[0].Tagged = intent.Some([]uint16{100}) }, `port "swp1" is in VLAN 100 twice`},
		"VLAN's MTU": {tor, func(d *intent.Device) {
			d.Ports[1].MTU = intent.Some(uint16(1400))
			d.VLANs[1].MTU = intent.Some(uint16(1500))
		}, "swp1s1 has mtu 1400 and is in VLAN 711 of mtu 1500"},
		"bridged, routed": {leaf, func(d *intent.Device) { d.Ports[40].Native = intent.Some(uint16(100)) }, "swp41 has an address and VLANs"},

		"bond with hyphen": {pair, func(d *intent.Device) { d.LAGs[0].Name = "bond-1" }, `LAG "bond-1" is not a name of a bond`},
		"bond as a port":   {pair, func(d *intent.Device) { d.LAGs[0].Name = "swan" }, `LAG "swan" is not a name of a bond`},
		"bond long":        {pair, func(d *intent.Device) { d.LAGs[0].Name = strings.Repeat("b", 16) }, "at most 15"},
		"no member":        {pair, func(d *intent.Device) { d.LAGs[0].Members[0] = "swp9" }, `LAG "bond1" has the member "swp9"`},
		"member twice":     {pair, func(d *intent.Device) { d.LAGs[0].Members[0] = "swp31" }, `port "swp31" is in LAG "bond1" and in LAG "peerlink"`},
		"member's VLAN":    {pair, func(d *intent.Device) { d.Ports[0].Native = intent.Some(uint16(10)) }, "port swp1 has VLANs and is in bond1"},
		"member's MTU":     {pair, func(d *intent.Device) { d.Ports[0].MTU = intent.Some(uint16(1500)) }, "port swp1 has an mtu that bond1 does not have"},
		"member's same":    {pair, func(d *intent.Device) { d.Ports[0].MTU = d.LAGs[0].MTU }, ""},
		"hash":             {pair, func(d *intent.Device) { d.LAGs[0].Hash = "layer3+4" }, "cannot set lag_hash"},
		"rate":             {pair, func(d *intent.Device) { d.LAGs[0].Rate = "medium" }, `rate "medium"`},
		"rate, no LACP":    {pair, func(d *intent.Device) { d.LAGs[1].Rate = "fast" }, `LAG "peerlink" has an LACP rate and the mode "static"`},
		"leg, no number":   {pair, func(d *intent.Device) { d.LAGs[0].ID = 0 }, "has no number"},

		"mlag, none":      {pair, func(d *intent.Device) { d.MLAG = nil }, "the switch is no half of a pair"},
		"mlag, domain":    {pair, func(d *intent.Device) { d.MLAG.Domain = 0 }, "the mlag has no domain"},
		"mlag, peer link": {pair, func(d *intent.Device) { d.MLAG.PeerLink = "bond1" }, `the peer link of the mlag is "bond1"`},
		"mlag, keepalive": {pair, func(d *intent.Device) { d.MLAG.Source = netip.Addr{} }, "has no keepalive addresses"},
		"mlag, whose":     {pair, func(d *intent.Device) { d.MLAG.Source = netip.MustParseAddr("10.9.9.9") }, "no interface of the device has the keepalive address 10.9.9.9"},
		"mlag, eth0": {pair, func(d *intent.Device) {
			d.MLAG.Source, d.MLAG.PeerAddress, d.MLAG.OutOfBand = netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"), true
		}, ""},
		"mlag, interval":    {pair, func(d *intent.Device) { d.MLAG.IntervalMs = 500 }, "the mlag has keepalive times"},
		"mlag, VRR":         {pair, func(d *intent.Device) { d.Ifaces[1].Unique = false }, "VLAN 10 has one address on both switches"},
		"unique, no pair":   {leaf, func(d *intent.Device) { d.Ifaces[1].Unique = true }, "unlike its peer's"},
		"loopback":          {leaf, func(d *intent.Device) { d.Ifaces[0].Name = "lo0" }, `loopback "lo0"`},
		"loopback's VRF":    {leaf, func(d *intent.Device) { d.Ifaces[0].VRF = "red" }, "loopback lo is in vrf red"},
		"loopback's MTU":    {leaf, func(d *intent.Device) { d.Ifaces[0].MTU = intent.Some(uint16(1500)) }, "loopback lo has an mtu"},
		"VRF mgmt":          {leaf, func(d *intent.Device) { d.Ifaces[3].VRF = "mgmt" }, `vrf "mgmt"`},
		"VRF range":         {leaf, func(d *intent.Device) { d.Ifaces[3].VRF = "red1-2" }, `vrf "red1-2"`},
		"VRF":               {leaf, func(d *intent.Device) { d.Ifaces[3].VRF = "Vrf-red" }, ""},
		"sub-interface":     {leaf, func(d *intent.Device) { d.Ifaces[3].VLAN = 100 }, "is a sub-interface of VLAN 100"},
		"routed MTU":        {leaf, func(d *intent.Device) { d.Ifaces[3].MTU = intent.Some(uint16(1500)) }, "has an mtu of its own"},
		"routed same MTU":   {leaf, func(d *intent.Device) { d.Ifaces[3].MTU = intent.Some(uint16(9216)) }, ""},
		"routed on nothing": {leaf, func(d *intent.Device) { d.Ifaces[3].On = "swp99" }, `is on "swp99", which is no port or LAG`},
		"two on one port":   {leaf, func(d *intent.Device) { d.Ifaces[3].On = "swp33" }, "swp33 has two interfaces"},
		"two of a VLAN": {leaf, func(d *intent.Device) {
			d.Ifaces = append(d.Ifaces, intent.Iface{Name: "x", Kind: intent.SVI, VLAN: 100})
		}, "VLAN 100 has two interfaces"},
		"SVI of no VLAN": {leaf, func(d *intent.Device) { d.Ifaces[1].VLAN = 7 }, "is of VLAN 7, which the device does not carry"},
		"SVI elsewhere":  {leaf, func(d *intent.Device) { d.Ifaces[1].On = "swp1" }, "interface vlan100 of VLAN 100 is on swp1"},
		"SVI as SONiC's": {leaf, func(d *intent.Device) { d.Ifaces[1].On = "Vlan100" }, ""},
		"mapped IPv6": {leaf, func(d *intent.Device) {
			d.Ifaces[3].Addresses = intent.Some([]netip.Prefix{netip.MustParsePrefix("::ffff:10.0.0.1/127")})
		}, "has the address"},

		"watchdog restore":  {leaf, qos(func(q *intent.QoS) { q.Watchdog.Value.RestoreMs = 200 }), "restore"},
		"watchdog action":   {leaf, qos(func(q *intent.QoS) { q.Watchdog.Value.Action = "drop" }), ""},
		"watchdog forward":  {leaf, qos(func(q *intent.QoS) { q.Watchdog.Value.Action = "forward" }), "action"},
		"watchdog multiple": {leaf, qos(func(q *intent.QoS) { q.Watchdog.Value.DetectMs = 250 }), "detects after 250 ms and polls every 100 ms"},
		"watchdog detect":   {leaf, qos(func(q *intent.QoS) { q.Watchdog.Value.PollMs = 0 }), ""},
		"watchdog, no PFC":  {tor, func(d *intent.Device) { d.QoS[1].Watchdog = intent.Some(intent.Watchdog{On: true}) }, "has a watchdog and no priority with PFC"},
		"watchdogs differ":  {leaf, second(func(q *intent.QoS) { q.Watchdog.Value.DetectMs = 400 }), `the watchdogs of qos "other" and qos "gpu" have other times`},
		"queues differ":     {leaf, second(func(q *intent.QoS) { q.TC.Value[6], q.PFCQueue.Value[6] = 5, 5 }), "priority 6 is in queue 5 in qos \"other\" and in queue 6 in qos \"gpu\", and the switch has one map"},
		"two qos":           {leaf, second(func(*intent.QoS) {}), ""},
		"remap on some":     {leaf, second(func(q *intent.QoS) { q.Rewrite = intent.Some([8]uint8{3: 26}) }), `qos "other" rewrites marks and port swp64 does not`},
		"pause":             {leaf, qos(func(q *intent.QoS) { q.Pause = intent.Some(true) }), "cannot set global_pause"},
		"dcbx willing":      {leaf, qos(func(q *intent.QoS) { q.DCBX = intent.Some(intent.DCBX{Mode: "willing"}) }), "cannot set dcbx_willing"},
		"dcbx version":      {mode14, qos(func(q *intent.QoS) { q.DCBX.Value.Version = "cee" }), `dcbx has the version "cee"`},
		"dcbx off, version": {leaf, qos(func(q *intent.QoS) { q.DCBX.Value.Version = "ieee" }), "dcbx is off and has a version"},
		"map, no trust":     {leaf, qos(func(q *intent.QoS) { q.Trust = intent.Opt[intent.Trust]{} }), "has a map of marks and no trust"},
		"trust, no map":     {leaf, qos(func(q *intent.QoS) { q.DSCP = intent.Opt[[64]uint8]{} }), "trusts DSCP and has no map"},
		"untrusted marks":   {tor, func(d *intent.Device) { d.QoS[1].DSCP.Value[26] = 3 }, "trusts nothing and gives marks different priorities"},
		"PFC on lossy":      {leaf, qos(func(q *intent.QoS) { q.PFC.Value = 1<<3 | 1<<4 }), "PFC on [3, 4] and lossless classes on [3]"},
		"two lossless":      {leaf, qos(func(q *intent.QoS) { q.PFC.Value, q.Lossless, q.Group.Value[4] = 0x18, 0x18, 4 }), ""},
		"group":             {leaf, qos(func(q *intent.QoS) { q.Group.Value[3] = 1 }), `priority 3 of qos "gpu" is in group 1`},
		"PFC queue":         {leaf, qos(func(q *intent.QoS) { q.PFCQueue.Value[3] = 4 }), "stops other queues on a pause"},
		"priority":          {leaf, qos(func(q *intent.QoS) { q.DSCP.Value[26] = 8 }), "DSCP 26 goes to priority 8"},
		"shares":            {leaf, qos(func(q *intent.QoS) { q.Sched.Value[0].Percent = 20 }), "sum to 110 %"},
		"share 0":           {leaf, qos(func(q *intent.QoS) { q.Sched.Value[0].Percent = 0 }), `sum to 90 %`},
		"cap":               {leaf, qos(func(q *intent.QoS) { q.Sched.Value[0].CapMbps = 2_147_484 }), "write at most 2147483 Mb/s"},
		"ECN upside down":   {leaf, qos(func(q *intent.QoS) { q.ECN.Value[3].MinBytes = 2_000_000 }), "marks queue 3 from 2000000 to 1500000"},
		"ECN never":         {leaf, qos(func(q *intent.QoS) { q.ECN.Value[3].Probability = 0 }), "at 0 %"},
	} {
		t.Run(name, func(t *testing.T) {
			d := c.base()
			c.change(d)
			targettest.Limit(t, &Target, d, c.want)
		})
	}
}

// forced takes a routed port of tor to a speed that it does not negotiate, and its FEC away.
func forced(mbps uint32) func(*intent.Device) {
	return func(d *intent.Device) {
		p := &d.Ports[5]
		p.Mbps, p.FEC, p.Autoneg = intent.Some(mbps), intent.Opt[intent.FEC]{}, intent.Opt[bool]{}
	}
}

func mode14() *intent.Device { return mode("5.14") }

func TestNames(t *testing.T) {
	for _, c := range []struct {
		names string
		want  string
	}{
		{"swp1", "swp1"},
		{"swp1 swp2 swp3", "swp1-3"},
		{"swp10 swp9 swp2", "swp2,swp9-10"},
		{"swp1s0 swp1s1 swp2s0 swp2", "swp1s0-1,swp2,swp2s0"},
		{"bond1 bond2", "bond1-2"},
		{"a b", "a,b"},
	} {
		names := strings.Fields(c.names)
		if got := joined(names); got != c.want {
			t.Errorf("%s: %q, want %q", c.names, got, c.want)
		}
		back, ok := expanded(c.want)
		slices.SortFunc(names, byName)
		if diff := cmp.Diff(names, back); !ok || diff != "" {
			t.Errorf("%s: (-want +got):\n%s", c.want, diff)
		}
	}
	for key, want := range map[string]string{
		"swp1-2,5": "swp1 swp2 swp5", "10,20-22": "10 20 21 22", "2001:db8::1/64": "2001:db8::1/64", "bond-a": "bond-a", "bond-a-3": "bond-a-3",
		"swp3-1": "", "swp1,,2": "", "swp1-5000": "", "swp1-99999999999": "",
	} {
		if got, ok := expanded(key); strings.Join(got, " ") != want || ok != (want != "") {
			t.Errorf("%s: %q %v, want %q", key, got, ok, want)
		}
	}
	seen := map[string]string{}
	for _, name := range []string{"gpu", "gpu_t0", "gpu_p3_l3m", "gpu pod", "gpu_pod", "Gpu", strings.Repeat("g", 20), strings.Repeat("g", 21), strings.Repeat("g", 22), "$(x)", "é", "ü", ""} {
		b := base(name)
		if seen[b] != "" || !plain.MatchString(b) || len(b) > len(prefix)+maxBase || !strings.HasPrefix(b, prefix) {
			t.Errorf("%q is %q, as %q is", name, b, seen[b])
		}
		seen[b] = name + " "
	}
}

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"5.9", "5.10", -1}, {"5.11.0", "5.11", 0}, {"5.15", "5.9.2", 1}, {"6.0", "5.15", 1}, {"", "5.15", 0}} {
		if got := compare(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestImpact(t *testing.T) {
	for _, c := range []struct {
		path    intent.Path
		version string
		after   string
		note    string // "" = without interruption
	}{
		{intent.Path{Object: intent.OfPort, Name: "swp1", Field: "speed"}, "5.13", "", "negotiation off"},
		{intent.Path{Object: intent.OfPort, Name: "swp1", Field: "speed"}, "5.14", "", "goes down and comes up"},
		{intent.Path{Object: intent.OfPort, Name: "swp1", Field: "fec"}, "5.14", "", "same fec"},
		{intent.Path{Object: intent.OfPort, Name: "swp1s0", Field: "breakout"}, "5.14", "", "nonatomic"},
		{intent.Path{Object: intent.OfPort, Name: "swp1", Field: "enabled"}, "5.14", "false", "state"},
		{intent.Path{Object: intent.OfPort, Name: "swp1", Field: "pfc"}, "5.14", "", "carves the packet buffer"},
		{intent.Path{Object: intent.OfPort, Name: "swp1", Field: "cable"}, "5.14", "", "carves the packet buffer"},
		{intent.Path{Object: intent.OfPort, Name: "swp1", Field: "segments"}, "5.14", "", "dropped"},
		{intent.Path{Object: intent.OfPort, Name: "swp1", Field: "dscp_map"}, "5.14", "", "class"},
		{intent.Path{Object: intent.OfPort, Name: "swp1", Field: "ecn"}, "5.14", "", ""},
		{intent.Path{Object: intent.OfPort, Name: "swp1", Field: "ets"}, "5.14", "", ""},
		{intent.Path{Object: intent.OfLAG, Name: "bond1", Field: "members"}, "5.14", "", "LACP"},
		{intent.Path{Object: intent.OfLAG, Name: "bond1", Field: "id"}, "5.14", "", "both switches"},
		{intent.Path{Object: intent.OfIface, Name: "vlan1", Field: "address"}, "5.14", "", "learnt anew"},
		{intent.Path{Object: intent.OfDevice, Field: "buffer.alpha"}, "5.14", "", "carves"},
		{intent.Path{Object: intent.OfDevice, Field: "mlag.domain"}, "5.14", "", "restarts"},
		{intent.Path{Object: intent.OfDevice, Field: "hash.seed"}, "5.14", "", "every port"},
	} {
		d := leaf()
		d.OS.Version = c.version
		got := impact(d, targets.Change{Path: c.path, After: c.after})
		if got.Interrupts != (c.note != "") || !strings.Contains(got.Note, c.note) {
			t.Errorf("%s at %s: %+v, want %q", c.path, c.version, got, c.note)
		}
	}
}

// TestObservable: the names of what has no place in NVUE's tree are not missed.
func TestObservable(t *testing.T) {
	d := leaf()
	for _, p := range []intent.Path{
		{Object: intent.OfDevice, Field: "os"},
		{Object: intent.OfDevice, Field: "firmware"},
		{Object: intent.OfDevice, Field: "mlag.peer"},
		{Object: intent.OfPort, Name: "swp1", Field: "headroom"},
		{Object: intent.OfPort, Name: "swp1", Field: "watchdog.action"},
		{Object: intent.OfVLAN, Name: "200", Field: "mtu"},
	} {
		if observable(d, p) {
			t.Errorf("%s is no key of NVUE", p)
		}
	}
	for _, p := range []intent.Path{
		{Object: intent.OfDevice, Field: "hash.seed"},
		{Object: intent.OfPort, Name: "swp1", Field: "cable"},
		{Object: intent.OfPort, Name: "swp1", Field: "speed"},
		{Object: intent.OfVLAN, Name: "100", Field: "mtu"},
	} {
		if !observable(d, p) {
			t.Errorf("%s stands in NVUE's tree", p)
		}
	}
}

// plain is a name of the characters that every platform takes.
var plain = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// TestImpactReaches: what a switch has once changes ports that nobody declared.
func TestImpactReaches(t *testing.T) {
	const everyPort = "every port of the switch, declared or not"
	for _, c := range []struct {
		d     *intent.Device
		field string
		want  bool
	}{{leaf(), "queue_map", true}, {leaf(), "dscp_map", false}, {leaf(), "pfc", false}, {mode("5.14"), "pfc", true}} {
		i := impact(c.d, targets.Change{Path: intent.Path{Object: intent.OfPort, Name: "swp1", Field: c.field}})
		if !i.Interrupts || strings.HasSuffix(i.Note, everyPort) != c.want {
			t.Errorf("%s of %s: %+v", c.field, c.d.Name, i)
		}
	}
}
