package sonic

import (
	"net/netip"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/targettest"
)

func TestLimits(t *testing.T) {
	some := func(p string) intent.Opt[[]netip.Prefix] {
		return intent.Some([]netip.Prefix{netip.MustParsePrefix(p)})
	}
	for name, c := range map[string]struct {
		base   func() *intent.Device
		change func(d *intent.Device)
		want   string // in the refusal; "" = taken
	}{
		"tor":           {tor, func(*intent.Device) {}, ""},
		"leaf":          {leaf, func(*intent.Device) {}, ""},
		"pair":          {pair, func(*intent.Device) {}, ""},
		"old image":     {tor, func(d *intent.Device) { d.OS.Version = "202111" }, "sonic 202111 is older than 202205"},
		"no branch":     {tor, func(d *intent.Device) { d.OS.Version = "4.1.1" }, `sonic version "4.1.1" is not a release branch`},
		"hash":          {tor, func(d *intent.Device) { d.Hash.Function = intent.Some("XOR") }, ""},
		"hash, unknown": {tor, func(d *intent.Device) { d.Hash.Function = intent.Some("crc32") }, `sonic has no hash function "crc32"`},
		"hash, old image": {pair, func(d *intent.Device) {
			d.Hash.Function, d.OS.Version, d.QoS[0].Rewrite = intent.Some("XOR"), "202311", intent.Opt[[8]uint8]{}
		}, "cannot set hash_function"},
		"remap, old image": {pair, func(d *intent.Device) { d.OS.Version = "202405" }, "cannot set rewrite"},
		"virtual queues":   {tor, func(d *intent.Device) { d.ASIC = "jericho2c+" }, "has virtual output queues"},
		"hash, seed":       {leaf, func(d *intent.Device) { d.Hash.Seed = intent.Some(uint32(7)) }, "cannot set hash_seed"},
		"no ASIC":          {tor, func(d *intent.Device) { d.ASIC = "" }, "states no ASIC family"},
		"alias":            {tor, func(d *intent.Device) { d.Ports[0].Name = "etp1" }, `port "etp1" is not a name of SONiC`},
		"VLAN 1":           {tor, func(d *intent.Device) { d.VLANs[0].ID = 1 }, "VLAN 1 is not one of 2 to 4094"},
		"unknown VLAN":     {tor, func(d *intent.Device) { d.Ports[0].Native = intent.Some(uint16(5)) }, "Ethernet0 is in VLAN 5, which the device does not carry"},
		"MTU":              {tor, func(d *intent.Device) { d.Ports[0].MTU = intent.Some(uint16(9217)) }, "mtu 9217 is not in 68 to 9216"},
		"fec auto old":     {tor, func(d *intent.Device) { d.OS.Version = "202305"; d.Ports[0].FEC = intent.Some(intent.FECAuto) }, "fec auto needs sonic 202311"},
		"fec auto":         {tor, func(d *intent.Device) { d.Ports[0].FEC = intent.Some(intent.FECAuto) }, ""},
		"no cable":         {tor, func(d *intent.Device) { d.Ports[0].CableMm = intent.Some(uint32(0)) }, "cable of 0 m"},
		"deny twice": {tor, func(d *intent.Device) {
			d.Ports[0].Deny = intent.Some([]intent.RDMA{intent.RoCEv2, intent.RoCEv2})
		}, `port "Ethernet0" denies roce_v2 twice`},
		"deny unknown":    {tor, func(d *intent.Device) { d.Ports[0].Deny = intent.Some([]intent.RDMA{"iwarp"}) }, `port "Ethernet0" denies "iwarp"`},
		"deny nothing":    {tor, func(d *intent.Device) { d.Ports[0].Deny = intent.Some([]intent.RDMA{}) }, ""},
		"VRF":             {tor, func(d *intent.Device) { d.Ifaces[0].VRF = "blue" }, `VRF "blue" is not a name of SONiC`},
		"SVI name":        {tor, func(d *intent.Device) { d.Ifaces[0].Name = "Vlan7" }, `interface "Vlan7" is called Vlan100 by SONiC`},
		"SVI free name":   {tor, func(d *intent.Device) { d.Ifaces[0].Name = "hosts" }, ""},
		"SVI MTU":         {tor, func(d *intent.Device) { d.VLANs[0].MTU = intent.Some(uint16(9000)) }, "VLAN 100 has mtu 9000"},
		"loopback":        {leaf, func(d *intent.Device) { d.Ifaces[2].Name = "lo0" }, `loopback "lo0"`},
		"bridged, routed": {leaf, func(d *intent.Device) { d.Ports[3].Native = intent.Some(uint16(200)) }, "Ethernet496 has an address and VLANs"},
		"sub-interface":   {leaf, func(d *intent.Device) { d.Ifaces[0].VLAN = 200 }, "sub-interface of VLAN 200"},
		"routed MTU":      {leaf, func(d *intent.Device) { d.Ifaces[0].MTU = intent.Some(uint16(1500)) }, "has an mtu of its own"},
		"routed same MTU": {leaf, func(d *intent.Device) { d.Ifaces[0].MTU = intent.Some(uint16(9000)) }, ""},
		"LAG name":        {pair, func(d *intent.Device) { d.LAGs[0].Name = "bond0" }, `LAG "bond0" is not a name of SONiC`},
		"LAG number":      {pair, func(d *intent.Device) { d.LAGs[0].ID = 2 }, "PortChannel1 has the number 2"},
		"LAG static":      {pair, func(d *intent.Device) { d.LAGs[0].Mode = "static" }, "cannot set lag_static"},
		"LAG hash":        {pair, func(d *intent.Device) { d.LAGs[0].Hash = "layer3+4" }, "cannot set lag_hash"},
		"LAG rate, old":   {pair, func(d *intent.Device) { d.OS.Version = "202205" }, "cannot set lag_rate"},
		"LAG member VLAN": {pair, func(d *intent.Device) { d.Ports[0].Native = intent.Some(uint16(10)) }, "has VLANs of its own"},
		"mlag, no source": {pair, func(d *intent.Device) { d.MLAG.Source = netip.Addr{} }, "no IPv4 keepalive addresses"},
		"mlag, IPv6":      {pair, func(d *intent.Device) { d.MLAG.PeerAddress = netip.MustParseAddr("2001:db8::2") }, "no IPv4 keepalive addresses"},
		"mlag, interval":  {pair, func(d *intent.Device) { d.MLAG.IntervalMs = 500 }, "keepalive every 500 ms"},
		"mlag, timeout":   {pair, func(d *intent.Device) { d.MLAG.TimeoutMs = 2000 }, "timeout of 2000 ms"},
		"mlag, domain":    {pair, func(d *intent.Device) { d.MLAG.Domain = 5000 }, "mlag domain 5000"},
		"no mlag":         {pair, func(d *intent.Device) { d.MLAG = nil }, "spans a pair"},
		"two SVIs":        {pair, func(d *intent.Device) { d.Ifaces[1].VLAN, d.Ifaces[1].Name = 10, "x" }, `interfaces "Vlan10" and "x" are both Vlan10`},
		"priority 5":      {tor, func(d *intent.Device) { d.QoS[0].PFC.Value = 1 << 5; d.QoS[0].Lossless = 1 << 5 }, "takes 3 and 4 only"},
		"priority 5, NVDA": {leaf, func(d *intent.Device) {
			q := &d.QoS[0]
			q.PFC.Value, q.Lossless, q.Group.Value[5], d.Ports[4].Headroom = 1<<5, 1<<5, 5, nil
		}, ""},
		"group number":    {tor, func(d *intent.Device) { d.QoS[0].Group.Value[3] = 1 }, "priority 3 of qos \"storage\" is in group 1"},
		"PFC on lossy":    {tor, func(d *intent.Device) { d.QoS[0].PFC.Value = 0x18 }, "PFC on [3, 4] and lossless classes on [3]"},
		"map, no trust":   {tor, func(d *intent.Device) { d.QoS[0].Trust = intent.Opt[intent.Trust]{} }, "has a map of marks and no trust"},
		"trust, no map":   {tor, func(d *intent.Device) { d.QoS[0].PCP = intent.Opt[[8]uint8]{} }, "trusts PCP and has no map"},
		"untrusted marks": {leaf, func(d *intent.Device) { d.QoS[1].DSCP.Value[26] = 3 }, "trusts nothing and gives marks different priorities"},
		"mixed trust": {pair, func(d *intent.Device) {
			d.QoS = append(d.QoS, roce("bypcp", intent.TrustPCP))
			d.Ports[3].QoS = "bypcp"
		}, "port Ethernet248 trusts PCP and port Ethernet0 does not"},
		"mixed trust, NVDA": {leaf, func(d *intent.Device) {
			d.QoS = append(d.QoS, roce("bypcp", intent.TrustPCP))
			d.Ports[1].QoS = "bypcp"
		}, ""},
		"two DSCP maps": {pair, func(d *intent.Device) {
			q := roce("other", intent.TrustDSCP)
			q.DSCP.Value[24] = 3
			d.QoS = append(d.QoS, q)
			d.Ports[3].QoS = "other"
		}, ""},
		"cap":            {leaf, func(d *intent.Device) { d.QoS[0].Sched.Value[0].CapMbps = 1000 }, "cannot set rate_cap"},
		"pause":          {leaf, func(d *intent.Device) { d.QoS[0].Pause = intent.Some(true) }, "cannot set global_pause"},
		"dcbx advertise": {leaf, func(d *intent.Device) { d.QoS[0].DCBX = intent.Some(intent.DCBX{Mode: "advertise"}) }, "cannot set dcbx_advertise"},
		"dcbx version":   {leaf, func(d *intent.Device) { d.QoS[0].DCBX.Value.Version = "ieee" }, "dcbx is off and has a version"},
		"watchdog word":  {leaf, func(d *intent.Device) { d.QoS[0].Watchdog.Value.Action = "shut" }, `watchdog action "shut"`},
		"watchdog words": {pair, func(d *intent.Device) {
			d.QoS = append(d.QoS, roce("other", intent.TrustDSCP))
			d.QoS[1].Watchdog.Value.Action, d.Ports[0].QoS = "forward", "other"
		}, "has the action forward"},
		"watchdog fast": {leaf, func(d *intent.Device) { d.QoS[0].Watchdog.Value.DetectMs = 50 }, "detection time 50 ms"},
		"watchdog poll": {leaf, func(d *intent.Device) { d.QoS[0].Watchdog.Value.PollMs = 800 }, "polls every 800 ms"},
		"watchdog polls": {leaf, func(d *intent.Device) {
			d.QoS = append(d.QoS, roce("other", intent.TrustDSCP))
			d.QoS[0].Watchdog.Value.PollMs, d.QoS[2].Watchdog.Value.PollMs = 200, 100
		}, "another every 200 ms"},
		"watchdog, no PFC": {leaf, func(d *intent.Device) { d.QoS[1].Watchdog = intent.Some(intent.Watchdog{On: true}) }, "a watchdog and no priority with PFC"},
		"headroom group":   {leaf, func(d *intent.Device) { d.Ports[4].Headroom[0].Group = 5 }, "group 5, which no lossless priority uses"},
		"headroom, no th": {leaf, func(d *intent.Device) {
			d.Ports[4].Headroom[0].Alpha, d.Buffer.AlphaExponent = nil, intent.Opt[int8]{}
		}, "states no alpha for group 3"},
		"headroom, size":     {tor, func(d *intent.Device) { d.Ports[0].Headroom[0].SizeBytes = 0 }, "states no reserved size"},
		"headroom differs":   {tor, func(d *intent.Device) { d.Ports[0].Headroom[0].XoffBytes++ }, "one speed and cable and different headroom"},
		"headroom one only":  {tor, func(d *intent.Device) { d.Ports[0].Headroom = nil }, "one speed and cable and different headroom"},
		"headroom, no speed": {tor, func(d *intent.Device) { d.Ports[0].Mbps = intent.Opt[uint32]{} }, "no managed speed or cable"},
		"alpha alone":        {pair, func(d *intent.Device) { d.Buffer.AlphaExponent = intent.Some(int8(-3)) }, "takes alpha from the image's own profiles"},
		"alpha range":        {leaf, func(d *intent.Device) { d.Buffer.AlphaExponent = intent.Some(int8(9)) }, "alpha 2^9"},
		"second address":     {leaf, func(d *intent.Device) { d.Ifaces[0].Addresses = some("2001:db8::/127") }, ""},
		"option":             {leaf, func(d *intent.Device) { d.Options = map[string]string{"buffer_model": "static"} }, `option "buffer_model" of target sonic is "static"`},
	} {
		t.Run(name, func(t *testing.T) {
			d := c.base()
			c.change(d)
			targettest.Limit(t, &Target, d, c.want)
		})
	}
}

func TestCable(t *testing.T) {
	for mm, want := range map[uint32]string{500: "1m", 2500: "3m", 5000: "5m", 5001: "6m", 4294967295: "4294968m"} {
		if got := cable(mm); got != want {
			t.Errorf("%d mm: %s, want %s", mm, got, want)
		}
	}
}

// TestOwnTimes pins pfcwd start_default: 512 ports give 3200, 3200 and 1000 ms.
func TestOwnTimes(t *testing.T) {
	for _, c := range []struct {
		ports           int
		w               intent.Watchdog
		detect, restore uint32
		poll            uint32
	}{
		{1, intent.Watchdog{On: true}, 200, 200, 200},
		{32, intent.Watchdog{On: true}, 200, 200, 200},
		{33, intent.Watchdog{On: true}, 400, 400, 400},
		{512, intent.Watchdog{On: true}, 3200, 3200, 1000},
		{512, intent.Watchdog{On: true, DetectMs: 300}, 300, 600, 300},
		{2, intent.Watchdog{On: true, DetectMs: 400, PollMs: 100}, 400, 800, 100},
	} {
		d := &intent.Device{Ports: make([]intent.Port, c.ports), QoS: []intent.QoS{{Watchdog: intent.Some(c.w)}}}
		got := ownTimes(d, c.w)
		if got.DetectMs != c.detect || got.RestoreMs != c.restore || got.Action != "drop" || pollMs(d) != c.poll {
			t.Errorf("%d ports, %+v: %+v polled every %d ms", c.ports, c.w, got, pollMs(d))
		}
	}
}

func TestImpact(t *testing.T) {
	of := func(object intent.Object, name, field string) intent.Path {
		return intent.Path{Object: object, Name: name, Field: field}
	}
	for _, c := range []struct {
		path          intent.Path
		before, after string
		want          bool
	}{
		{of(intent.OfPort, "Ethernet0", "speed"), "", "", true},
		{of(intent.OfPort, "Ethernet0", "mtu"), "", "", false},
		{of(intent.OfPort, "Ethernet0", "headroom"), "", "", true},
		{of(intent.OfQoS, "roce", "pfc"), "[3, 4]", "[3]", true},
		{of(intent.OfQoS, "roce", "ecn"), "3: 150000..1500000 @100%", "3: 150000..1000000 @10%", false},
		{of(intent.OfQoS, "roce", "ecn"), "3: 150000..1500000 @100%", "off", true},
		{of(intent.OfQoS, "roce", "ecn"), "3: 1..2 @100%", "3: 1..2 @100%, 4: 1..2 @100%", true},
		{of(intent.OfQoS, "roce", "ets"), "0:50% 3:50% 6:strict", "0:10% 3:90% 6:strict", false},
		{of(intent.OfQoS, "roce", "ets"), "0:50% 3:50%", "0:50% 3:50% 6:strict", true},
		{of(intent.OfQoS, "roce", "trust"), "pcp", "dscp", true},
		{of(intent.OfQoS, "roce", "watchdog"), "off", "on", true},
		{of(intent.OfQoS, "roce", "watchdog"), "200ms", "400ms", false}, // of watchdog.detect
		{of(intent.OfDevice, "", "buffer"), "", "", true},
		{of(intent.OfDevice, "", "hash.function"), "", "", true},
		{of(intent.OfLAG, "PortChannel1", "members"), "", "", true},
		{of(intent.OfLAG, "PortChannel1", "rate"), "slow", "fast", false},
	} {
		got := impact(leaf(), targets.Change{Path: c.path, Before: c.before, After: c.after})
		if got.Interrupts != c.want || c.want && got.Note == "" {
			t.Errorf("%s: %s -> %s: %+v", c.path, c.before, c.after, got)
		}
	}
}
