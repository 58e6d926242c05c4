package sonicent

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/targettest"
)

func qos(change func(*intent.QoS)) func(*intent.Device) {
	return func(d *intent.Device) { change(&d.QoS[0]) }
}

// second gives the last port a QoS value of its own.
func second(change func(*intent.QoS)) func(*intent.Device) {
	return func(d *intent.Device) {
		q := d.QoS[0]
		q.Name = "other"
		change(&q)
		d.QoS = append(d.QoS, q)
		d.Ports[len(d.Ports)-1].QoS = "other"
	}
}

func TestLimits(t *testing.T) {
	for name, c := range map[string]struct {
		base   func() *intent.Device
		change func(*intent.Device)
		want   string // "" = taken
	}{
		"deny":           {leaf, func(d *intent.Device) { d.Ports[0].Deny = intent.Some([]intent.RDMA{intent.RoCEv1, intent.RoCEv2}) }, ""},
		"deny nothing":   {leaf, func(d *intent.Device) { d.Ports[0].Deny = intent.Some([]intent.RDMA{}) }, ""},
		"short arp":      {leaf, func(d *intent.Device) { d.Aging.ARPSeconds = intent.Some(uint32(59)) }, "ARP entries are kept for 59 s"},
		"long arp":       {leaf, func(d *intent.Device) { d.Aging.ARPSeconds = intent.Some(uint32(14_401)) }, "ARP entries are kept for 14401 s"},
		"arp":            {leaf, func(d *intent.Device) { d.Aging.ARPSeconds = intent.Some(uint32(14_400)) }, ""},
		"long mac":       {leaf, func(d *intent.Device) { d.Aging.MACSeconds = intent.Some(uint32(1_000_001)) }, "MAC addresses are kept for 1000001 s"},
		"mac for ever":   {leaf, func(d *intent.Device) { d.Aging.MACSeconds = intent.Some(uint32(0)) }, "MAC addresses are kept for 0 s"},
		"community":      {leaf, func(d *intent.Device) { d.OS.Name = "sonic" }, `does not serve os "sonic"`},
		"a node":         {leaf, func(d *intent.Device) { d.Kind = intent.Node }, "does not serve node"},
		"version":        {leaf, func(d *intent.Device) { d.OS.Version = "" }, `version "" of sonic-enterprise`},
		"old":            {leaf, func(d *intent.Device) { d.OS.Version = "4.0.2" }, "is older than 4.1"},
		"new":            {leaf, func(d *intent.Device) { d.OS.Version = "4.6" }, "is newer than 4.5"},
		"patch":          {leaf, func(d *intent.Device) { d.OS.Version = "4.5.1" }, ""},
		"option":         {leaf, func(d *intent.Device) { d.Options = map[string]string{"buffers": "rocx"} }, `did you mean "roce"`},
		"port of SONiC":  {leaf, func(d *intent.Device) { d.Ports[0].Name = "etp1" }, `port "etp1" is not a name`},
		"port of Dell":   {leaf, func(d *intent.Device) { d.Ports[0].Name = "Eth1/1/1/1" }, `port "Eth1/1/1/1" is not a name`},
		"mixed names":    {leaf, func(d *intent.Device) { d.Ports[0].Name = "Ethernet0" }, "port Ethernet0 is named by lane and port Eth1/33 by cage"},
		"speed":          {leaf, func(d *intent.Device) { d.Ports[0].Mbps = intent.Some(uint32(56_000)) }, "a speed of 56000 Mb/s"},
		"no FEC":         {leaf, func(d *intent.Device) { d.Ports[0].FEC = intent.Some(intent.FECNone) }, "documents spell it off and none"},
		"auto and speed": {leaf, func(d *intent.Device) { d.Ports[0].Autoneg = intent.Some(true) }, "negotiates and has a speed"},
		"no auto":        {leaf, func(d *intent.Device) { d.Ports[0].Mbps = intent.Opt[uint32]{} }, "does not negotiate and has no speed"},
		"mtu":            {leaf, func(d *intent.Device) { d.Ports[0].MTU = intent.Some(uint16(9217)) }, "mtu 9217 is not in 1312 to 9216"},
		"cable":          {leaf, func(d *intent.Device) { d.Ports[0].CableMm = intent.Some(uint32(300_001)) }, "a cable of 300001 mm"},
		"long cable":     {leaf, func(d *intent.Device) { d.Ports[0].CableMm = intent.Some(uint32(300_000)) }, ""},
		"split mode":     {tor, func(d *intent.Device) { d.Ports[0].Breakout = "3x25G" }, `split as "3x25G"`},
		"split, cage":    {tor, func(d *intent.Device) { d.Ports[0].Split = nil }, "nothing says which cage port Ethernet0 is split off"},
		"split by name": {leaf, func(d *intent.Device) {
			d.Ports[0].Name, d.Ports[0].Breakout = "Eth1/1/1", "4x100G"
		}, ""},
		"split, second": {leaf, func(d *intent.Device) {
			d.Ports[0].Name, d.Ports[0].Breakout = "Eth1/1/2", "4x100G"
		}, "nothing says which cage"},
		"split parent": {leaf, func(d *intent.Device) {
			d.Ports[0].Name, d.Ports[0].Breakout = "Eth1/2/1", "4x100G"
		}, "port Eth1/2 is split and has settings of its own"},
		"headroom": {leaf, func(d *intent.Device) {
			d.Ports[0].Headroom = []intent.Headroom{{Group: 3, SizeBytes: 1, Written: true}}
		}, "cannot set headroom"},
		"shared buffer":   {leaf, func(d *intent.Device) { d.Buffer.SharedBytes = intent.Some(uint64(1 << 20)) }, "cannot set shared_buffer"},
		"alpha":           {leaf, func(d *intent.Device) { d.Buffer.AlphaExponent = intent.Some(int8(0)) }, "cannot set alpha"},
		"pool":            {tor, func(d *intent.Device) { d.Buffer.HeadroomBytes = intent.Some(uint64(1 << 32)) }, "a shared headroom pool of 4294967296 bytes"},
		"unknown VLAN":    {leaf, func(d *intent.Device) { d.Ports[0].Native = intent.Some(uint16(5)) }, "Eth1/1 is in VLAN 5, which the device does not carry"},
		"bridged, routed": {leaf, func(d *intent.Device) { d.Ports[2].Native = intent.Some(uint16(100)) }, "Eth1/33 has an address and VLANs"},

		"LAG":             {pair, func(d *intent.Device) { d.LAGs[0].Name = "bond1" }, `LAG "bond1" is not a name`},
		"LAG 257":         {pair, func(d *intent.Device) { d.LAGs[0].Name, d.LAGs[0].ID = "PortChannel257", 257 }, `to "PortChannel256"`},
		"LAG's number":    {pair, func(d *intent.Device) { d.LAGs[0].ID = 9 }, "LAG PortChannel1 has the number 9"},
		"slow":            {pair, func(d *intent.Device) { d.LAGs[0].Rate = "slow" }, "has the rate slow"},
		"hash":            {pair, func(d *intent.Device) { d.LAGs[0].Hash = "layer3+4" }, "cannot set lag_hash"},
		"active backup":   {pair, func(d *intent.Device) { d.LAGs[1].Mode = "active_backup" }, "cannot set lag_active_backup"},
		"member's VLAN":   {pair, func(d *intent.Device) { d.Ports[0].Native = intent.Some(uint16(10)) }, "port Eth1/1 has VLANs and is in PortChannel1"},
		"member's MTU":    {pair, func(d *intent.Device) { d.Ports[0].MTU = intent.Some(uint16(1500)) }, "port Eth1/1 has an mtu that PortChannel1 does not have"},
		"member's same":   {pair, func(d *intent.Device) { d.Ports[0].MTU = d.LAGs[0].MTU }, ""},
		"member, verify":  {pair, func(d *intent.Device) { d.Ports[0].Verify = true }, "is in PortChannel1 and under verify"},
		"leg, no pair":    {pair, func(d *intent.Device) { d.MLAG = nil }, "the switch is no half of a pair"},
		"mlag, domain":    {pair, func(d *intent.Device) { d.MLAG.Domain = 4096 }, "mlag domain 4096"},
		"mlag, IPv6":      {pair, func(d *intent.Device) { d.MLAG.Source = netip.MustParseAddr("2001:db8::1") }, "no IPv4 keepalive addresses"},
		"mlag, same":      {pair, func(d *intent.Device) { d.MLAG.PeerAddress = d.MLAG.Source }, "no IPv4 keepalive addresses"},
		"mlag, peer link": {pair, func(d *intent.Device) { d.MLAG.PeerLink = "PortChannel2" }, `mlag peer link "PortChannel2"`},
		"mlag, peer port": {pair, func(d *intent.Device) { d.MLAG.PeerLink = "Eth1/31" }, ""},
		"mlag, interval":  {pair, func(d *intent.Device) { d.MLAG.IntervalMs = 1500 }, "mlag keepalive every 1500 ms"},
		"unique, no pair": {leaf, func(d *intent.Device) { d.Ifaces[1].Unique = true }, "unlike its peer's"},
		"VRF":             {leaf, func(d *intent.Device) { d.Ifaces[2].VRF = "red" }, `vrf "red" is not a name`},
		"VRF long":        {leaf, func(d *intent.Device) { d.Ifaces[2].VRF = "Vrf4567890123456" }, "is not a name"},
		"loopback":        {leaf, func(d *intent.Device) { d.Ifaces[0].Name = "lo" }, `loopback "lo"`},
		"loopback's MTU":  {leaf, func(d *intent.Device) { d.Ifaces[0].MTU = intent.Some(uint16(1500)) }, "loopback Loopback0 has an mtu"},
		"sub-interface":   {leaf, func(d *intent.Device) { d.Ifaces[2].VLAN = 100 }, "is a sub-interface of VLAN 100"},
		"routed MTU":      {leaf, func(d *intent.Device) { d.Ifaces[2].MTU = intent.Some(uint16(1500)) }, "has an mtu of its own"},
		"routed same MTU": {leaf, func(d *intent.Device) { d.Ifaces[2].MTU = intent.Some(uint16(9216)) }, ""},
		"owned name":      {leaf, func(d *intent.Device) { d.Ifaces[1].Name = "Vlan7" }, `interface "Vlan7" is called Vlan100`},
		"two of a VLAN": {leaf, func(d *intent.Device) {
			d.Ifaces = append(d.Ifaces, intent.Iface{Name: "x", Kind: intent.SVI, VLAN: 100})
		}, "are both Vlan100"},
		"SVI of no VLAN":   {leaf, func(d *intent.Device) { d.Ifaces[1].VLAN = 7 }, "is of VLAN 7, which the device does not carry"},
		"VLAN's other MTU": {tor, func(d *intent.Device) { d.Ifaces[0].MTU = intent.Some(uint16(9000)) }, "has mtu 9000 and VLAN 100 has mtu 1500"},

		"lossless 5":       {leaf, qos(func(q *intent.QoS) { q.PFC.Value, q.Lossless = 1<<5, 1<<5 }), "makes [5] lossless; the switch takes 3 and 4 only"},
		"PFC on lossy":     {leaf, qos(func(q *intent.QoS) { q.PFC.Value = 1<<3 | 1<<4 }), "PFC on [3, 4] and lossless classes on [3]"},
		"lossless group":   {leaf, qos(func(q *intent.QoS) { q.Group.Value[3] = 4 }), `lossless priority 3 of qos "gpu" is in group 4`},
		"lossy groups":     {leaf, qos(func(q *intent.QoS) { q.Group.Value[6] = 6 }), `lossy priority 6 of qos "gpu" is in group 6`},
		"lossy in 3":       {leaf, qos(func(q *intent.QoS) { q.Group.Value[0] = 3 }), `lossy priority 0 of qos "gpu" is in group 3`},
		"lossy in 7":       {leaf, qos(func(q *intent.QoS) { q.Group.Value = [8]uint8{7, 7, 7, 3, 7, 7, 7, 7} }), ""},
		"lossless queue":   {leaf, qos(func(q *intent.QoS) { q.TC.Value[3], q.PFCQueue.Value[3] = 2, 2 }), `lossless priority 3 of qos "gpu" is in queue 2`},
		"PFC queue":        {leaf, qos(func(q *intent.QoS) { q.PFCQueue.Value[3] = 4 }), "stops queue 4, and its frames are in queue 3"},
		"PFC queues":       {leaf, second(func(q *intent.QoS) { q.PFCQueue.Value[5] = 5 }), "stop other queues on a pause"},
		"two qos":          {leaf, second(func(*intent.QoS) {}), ""},
		"polls":            {leaf, second(func(q *intent.QoS) { q.Watchdog.Value.PollMs = 200 }), "poll in other intervals"},
		"watchdog detect":  {leaf, qos(func(q *intent.QoS) { q.Watchdog.Value.DetectMs = 5001 }), "watchdog detection time 5001 ms"},
		"watchdog poll":    {leaf, qos(func(q *intent.QoS) { q.Watchdog.Value.PollMs = 50 }), "watchdog polling interval 50 ms"},
		"watchdog slower":  {leaf, qos(func(q *intent.QoS) { q.Watchdog.Value.PollMs = 400 }), "polls every 400 ms, longer than its times"},
		"watchdog action":  {leaf, qos(func(q *intent.QoS) { q.Watchdog.Value.Action = "panic" }), `watchdog action "panic"`},
		"watchdog, no PFC": {tor, func(d *intent.Device) { d.QoS[1].Watchdog = intent.Some(intent.Watchdog{On: true}) }, "has a watchdog and no priority with PFC"},
		"pause":            {leaf, qos(func(q *intent.QoS) { q.PFC, q.Pause = intent.Opt[intent.PrioritySet]{}, intent.Some(true) }), "cannot set global_pause"},
		"dcbx":             {leaf, qos(func(q *intent.QoS) { q.DCBX = intent.Some(intent.DCBX{Mode: "advertise"}) }), "cannot set dcbx_advertise"},
		"dcbx version":     {leaf, qos(func(q *intent.QoS) { q.DCBX.Value.Version = "ieee" }), "dcbx is off and has a version"},
		"map, no trust":    {leaf, qos(func(q *intent.QoS) { q.Trust = intent.Opt[intent.Trust]{} }), "has a map of marks and no trust"},
		"trust, no map":    {leaf, qos(func(q *intent.QoS) { q.DSCP = intent.Opt[[64]uint8]{} }), "trusts DSCP and has no map"},
		"PCP, no map":      {tor, qos(func(q *intent.QoS) { q.PCP = intent.Opt[[8]uint8]{} }), "trusts PCP and has no map"},
		"untrusted marks":  {tor, func(d *intent.Device) { d.QoS[1].DSCP.Value[26] = 3 }, "trusts nothing and gives marks different priorities"},
		"cap":              {leaf, qos(func(q *intent.QoS) { q.Sched.Value[0].CapMbps = 400_001 }), "a max_rate of 400001 Mb/s"},
		"ECN bytes":        {leaf, qos(func(q *intent.QoS) { q.ECN.Value[3].MinBytes = 150_500 }), "marks from 150500 to 1500000 bytes"},
		"ECN high":         {leaf, qos(func(q *intent.QoS) { q.ECN.Value[3].MaxBytes = 12_481_000 }), "write whole kB"},
		"ECN never":        {leaf, qos(func(q *intent.QoS) { q.ECN.Value[3].Probability = 0 }), "at 0 %"},
	} {
		t.Run(name, func(t *testing.T) {
			d := c.base()
			c.change(d)
			targettest.Limit(t, &Target, d, c.want)
		})
	}
}

func TestNames(t *testing.T) {
	for text, want := range map[string][]int{
		"0-3,5": {0, 1, 2, 3, 5}, "7": {7}, "5-": nil, "-5": nil, "": nil, "3-1": nil, "0,,1": nil, "64": nil, "x": nil,
	} {
		got, ok := numbers(text, 63)
		if diff := cmp.Diff(want, got); diff != "" || ok != (want != nil) {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
		if ok && ranges(got) != text {
			t.Errorf("%q comes back as %q", text, ranges(got))
		}
	}
	seen := map[string]string{}
	for _, name := range []string{"gpu", "gpu_q0", "gpu_s036", "gpu_none", "gpu pod", "gpu_pod", "Gpu", "pfc", strings.Repeat("g", 16), strings.Repeat("g", 17), strings.Repeat("g", 18), "$(x)", "é", "ü", "a.b", ""} {
		b := base(name)
		if seen[b] != "" || b == pfcMap || !plain.MatchString(b) || len(b)+len("_s01234567") > 32 || !strings.HasPrefix(b, prefix) {
			t.Errorf("%q is %q, as %q is", name, b, seen[b])
		}
		seen[b] = name + " "
	}
	for mm, want := range map[uint32]string{1: "5m", 5_000: "5m", 5_001: "40m", 300_000: "300m", 300_001: ""} {
		if got := cableWord(mm); got != want {
			t.Errorf("%d mm is %q, want %q", mm, got, want)
		}
	}
}

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"4.1", "4.10", -1}, {"4.5.0", "4.5", 0}, {"5.0", "4.5", 1}, {"", "4.5", 0}, {"x", "4.4", 1}} {
		if got := compare(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestImpact(t *testing.T) {
	at := func(o intent.Object, name, field string) intent.Path {
		return intent.Path{Object: o, Name: name, Field: field}
	}
	kept := leaf()
	kept.Options = map[string]string{buffersOption: buffersKept}
	for _, c := range []struct {
		device        *intent.Device
		path          intent.Path
		before, after string
		note          string // "" = without interruption
	}{
		{leaf(), at(intent.OfPort, "Eth1/1", "pfc"), "", "[3]", "buffer init lossless saves the configuration and reboots the switch"},
		{leaf(), at(intent.OfPort, "Eth1/1", "pfc"), "[]", "[3]", "high level design"},
		{pair(), at(intent.OfPort, "Eth1/1", "pfc"), "default", "[3]", "roce enable saves the configuration and reboots the switch"},
		{leaf(), at(intent.OfPort, "Eth1/1", "pfc"), "[3]", "[3, 4]", "may be lost for a moment"},
		{kept, at(intent.OfPort, "Eth1/1", "pfc"), "[]", "[3]", "may be lost for a moment"},
		{tor(), at(intent.OfPort, "Ethernet0", "breakout"), "", "4x25G", "only after a reboot"},
		{kept, at(intent.OfPort, "Eth1/1", "breakout"), "", "4x100G", "its settings go"},
		{leaf(), at(intent.OfPort, "Eth1/1", "speed"), "", "", "goes down and comes up"},
		{leaf(), at(intent.OfPort, "Eth1/1", "enabled"), "", "false", "changes its state"},
		{leaf(), at(intent.OfPort, "Eth1/1", "enabled"), "", "true", ""},
		{leaf(), at(intent.OfPort, "Eth1/1", "segments"), "", "", "dropped"},
		{leaf(), at(intent.OfPort, "Eth1/1", "cable"), "", "", "headroom"},
		{leaf(), at(intent.OfPort, "Eth1/1", "dscp_map"), "", "", "class"},
		{leaf(), at(intent.OfPort, "Eth1/1", "ecn"), "", "", ""},
		{leaf(), at(intent.OfPort, "Eth1/1", "watchdog.detect"), "", "", ""},
		{pair(), at(intent.OfLAG, "PortChannel1", "members"), "", "", "LACP"},
		{pair(), at(intent.OfLAG, "PortChannel1", "mlag"), "", "", "both switches"},
		{leaf(), at(intent.OfIface, "nodes", "vrf"), "", "", "taken away"},
		{leaf(), at(intent.OfIface, "nodes", "address"), "", "", "learnt anew"},
		{tor(), at(intent.OfDevice, "", "buffer.headroom"), "", "", "sized anew"},
		{pair(), at(intent.OfDevice, "", "mlag.domain"), "", "", "restarts"},
	} {
		got := impact(c.device, targets.Change{Path: c.path, Before: c.before, After: c.after})
		if want := c.note != "" && !(strings.HasSuffix(c.note, "its state") && c.after == "true"); got.Interrupts != want || !strings.Contains(got.Note, c.note) {
			t.Errorf("%s of %s: %+v, want %q", c.path, c.device.Name, got, c.note)
		}
	}
}

// TestObservable: what stands in no line is not missed.
func TestObservable(t *testing.T) {
	d := tor()
	for _, p := range []intent.Path{
		{Object: intent.OfDevice, Field: "os"},
		{Object: intent.OfDevice, Field: "mlag.peer"},
		{Object: intent.OfPort, Name: "Ethernet0", Field: "headroom"},
		{Object: intent.OfVLAN, Name: "711", Field: "mtu"},
	} {
		if observable(d, p) {
			t.Errorf("%s stands in no line", p)
		}
	}
	for _, p := range []intent.Path{
		{Object: intent.OfPort, Name: "Ethernet1", Field: "autoneg"},
		{Object: intent.OfPort, Name: "Ethernet0", Field: "cable"},
		{Object: intent.OfVLAN, Name: "100", Field: "mtu"},
	} {
		if !observable(d, p) {
			t.Errorf("%s can be seen", p)
		}
	}
}

// TestVerified: ports under verify are written nowhere.
func TestVerified(t *testing.T) {
	for _, f := range targettest.Emit(&Target, tor()) {
		if strings.Contains(string(f.Bytes), "Ethernet12") {
			t.Errorf("%s names a port that is only compared", f.Path)
		}
	}
	d := leaf()
	for i := range d.Ports {
		d.Ports[i].Verify = true
	}
	d.VLANs, d.Ifaces = nil, slices.DeleteFunc(d.Ifaces, func(f intent.Iface) bool { return f.Kind != intent.Routed })
	for i := range d.Ports {
		d.Ports[i].Native = intent.Opt[uint16]{}
	}
	if files := targettest.Emit(&Target, d); len(files) != 0 {
		t.Errorf("%d files for a device of which nothing is managed", len(files))
	}
	var out emit.Out
	write(&intent.Device{}, &out)
	if len(out.Artifacts) != 0 {
		t.Error("files for an empty device")
	}
}

// plain is a name of the characters that every platform takes.
var plain = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
