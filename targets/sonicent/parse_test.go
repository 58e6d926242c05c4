package sonicent

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/targettest"
)

func shown(text string) targets.Captured {
	return targets.Captured{Files: map[string][]byte{running: []byte(text)}}
}

// capture is what a switch shows after the maintenance script and the commands:
// show running-configuration has them as they were given, without the ways out
// of modes.
func capture(files []emit.Artifact) targets.Captured {
	var b strings.Builder
	b.WriteString("sonic# show running-configuration | no-more\n!\n")
	for _, text := range given(files) {
		if strings.HasPrefix(text, "interface breakout ") || strings.HasPrefix(text, "buffer init ") || text == "roce enable" {
			b.WriteString(text + "\n")
		}
	}
	for l := range strings.Lines(targettest.Text(files, configFile)) {
		if strings.TrimSpace(l) != "exit" {
			b.WriteString(l)
		}
	}
	return shown(b.String())
}

// roundTrip reads back what is written. Nothing may differ that either states,
// apart from what stands in no line.
func roundTrip(t targettest.Failer, d *intent.Device) {
	t.Helper()
	files := targettest.Emit(&Target, d)
	if targettest.Text(files, configFile) == "" {
		return
	}
	targettest.RoundTrip(t, &Target, d, capture(files))
}

func TestRoundTrip(t *testing.T) {
	for name, device := range fixtures {
		t.Run(name, func(t *testing.T) { roundTrip(t, device()) })
	}
}

func TestRoundTripGenerated(t *testing.T) {
	t.Parallel()
	taken := 0
	rapid.Check(t, func(r *rapid.T) {
		d := generated(r)
		if list := targets.Check(&Target, d, nil); list.HasErrors() {
			r.Fatalf("the generator made a device that is refused:\n%s", targettest.Refusals(list))
		}
		taken++
		roundTrip(r, d)
		files := targettest.Emit(&Target, d)
		var out emit.Out
		if list := rebase(d, capture(files), &out); len(list) > 0 {
			r.Fatalf("rebase: %v", list)
		}
		if before, after := targettest.Text(files, configFile), targettest.Text(out.Artifacts, configFile); before != after {
			r.Fatalf("a switch that is as wanted gets other commands:\n%s\n%s", before, after)
		}
		if text := targettest.Text(out.Artifacts, maintenanceFile); text != "" {
			r.Fatalf("a switch that is set up is rebooted:\n%s", text)
		}
	})
	if taken == 0 {
		t.Fatal("nothing was generated")
	}
}

// TestRebase: what a port has of another configuration goes, in an order that
// the switch takes.
func TestRebase(t *testing.T) {
	d := tor()
	d.Ifaces = append(d.Ifaces, intent.Iface{Name: "Loopback0", Kind: intent.Loopback})
	const text = `!
roce enable
interface breakout port 1/1 mode 4x25G
interface Ethernet0
 channel-group 9
 switchport trunk allowed Vlan 100,711-713
 queue 3 wred-policy ROCE
 qos-map dscp-tc ROCE
 qos-map dot1p-tc ROCE
!
interface Ethernet8
 switchport access Vlan 5
 priority-flow-control priority 3
 priority-flow-control priority 4
!
interface Vlan100
 ip address 10.1.0.1/24
 ip address 10.2.0.1/24 secondary
 ipv6 address 2001:db8:5::1/64
!
`
	var out emit.Out
	if list := rebase(d, shown(text), &out); len(list) > 0 {
		t.Fatal(list)
	}
	config := targettest.Text(out.Artifacts, configFile)
	for name, want := range map[string][]string{
		"interface Ethernet0": {"no channel-group", "switchport trunk allowed Vlan remove 100,713", "switchport trunk allowed Vlan 711-712", "no qos-map dscp-tc", "no queue 3 wred-policy"},
		"interface Ethernet8": {"switchport access Vlan 100", "no priority-flow-control priority 3", "no priority-flow-control priority 4"},
		"interface Loopback 0\n exit\n!\ninterface Vlan100": {
			"no ip address 10.2.0.1/24 secondary", "no ip address 10.1.0.1/24", "no ipv6 address 2001:db8:5::1/64", "ip vrf forwarding Vrf-host",
			"ip address 10.100.0.1/24", "ip address 10.100.1.1/24 secondary",
		},
	} {
		_, rest, ok := strings.Cut(config, name+"\n")
		if !ok {
			t.Fatalf("no %s in\n%s", name, config)
		}
		rest, _, _ = strings.Cut(rest, "exit")
		for _, w := range want {
			_, after, ok := strings.Cut(rest, " "+w+"\n")
			if !ok {
				t.Errorf("%s: no %q, in this order, in\n%s", name, w, rest)
				continue
			}
			if strings.Contains(name, "Vlan100") {
				rest = after
			}
		}
	}
	if m := targettest.Text(out.Artifacts, maintenanceFile); m != "" {
		t.Errorf("ports are split and buffers are there:\n%s", m)
	}
	if list := rebase(d, targets.Captured{}, &out); !list.HasErrors() {
		t.Error("a plan without a capture")
	}
}

// generated is a random device that the target takes.
func generated(r *rapid.T) *intent.Device {
	d := &intent.Device{
		Version: intent.Version, Name: "sw", Kind: intent.Switch, ASIC: "trident3", Model: "dell/s5232f-on",
		OS:      intent.OS{Name: osName, Version: rapid.SampledFrom([]string{"4.1", "4.2.1", "4.4", "4.5.0"}).Draw(r, "os")},
		Options: map[string]string{buffersOption: rapid.SampledFrom([]string{buffersInit, buffersRoCE, buffersKept}).Draw(r, "buffers")},
	}
	d.Aging = intent.Aging{ARPSeconds: targettest.Maybe(r, rapid.Uint32Range(minARP, maxARP)), MACSeconds: targettest.Maybe(r, rapid.Uint32Range(1, maxMAC))}
	kinds := rapid.SampledFrom([][]intent.RDMA{{}, {intent.RoCEv2}, {intent.RoCEv1}, {intent.RoCEv2, intent.RoCEv1}})
	lossless := rapid.Uint8Range(3, 4).Draw(r, "lossless")
	times := intent.Watchdog{On: true, Action: rapid.SampledFrom([]string{"", "drop", "forward", "alert"}).Draw(r, "action")}
	if rapid.Bool().Draw(r, "times") {
		times.PollMs = rapid.SampledFrom([]uint32{0, 100, 200}).Draw(r, "poll")
		times.DetectMs = rapid.Uint32Range(200, 5000).Draw(r, "detect")
		times.RestoreMs = rapid.Uint32Range(200, 60000).Draw(r, "restore")
	}
	for i := range rapid.IntRange(1, 3).Draw(r, "qos") {
		d.QoS = append(d.QoS, generatedQoS(r, "class"+decimal(uint8(i)), lossless, times))
	}
	for _, id := range rapid.SliceOfNDistinct(rapid.Uint16Range(2, 3700), 0, 4, rapid.ID).Draw(r, "vlans") {
		d.VLANs = append(d.VLANs, intent.VLAN{ID: id, MTU: targettest.Maybe(r, rapid.Uint16Range(1312, 9216))})
	}
	slices.SortFunc(d.VLANs, func(a, b intent.VLAN) int { return int(a.ID) - int(b.ID) })
	fecs := rapid.SampledFrom([]intent.FEC{intent.FECAuto, intent.FECRS, intent.FECFC})
	for i := range rapid.IntRange(len(d.QoS), 9).Draw(r, "ports") {
		p := intent.Port{
			Name: "Eth1/" + decimal(uint8(i+1)), Enabled: targettest.Maybe(r, rapid.Bool()), Mbps: targettest.Maybe(r, rapid.SampledFrom([]uint32{25_000, 100_000, 400_000})),
			FEC: targettest.Maybe(r, fecs), MTU: targettest.Maybe(r, rapid.Uint16Range(1312, 9216)),
			CableMm: targettest.Maybe(r, rapid.Uint32Range(1, 300_000)), QoS: d.QoS[i%len(d.QoS)].Name, Deny: targettest.Maybe(r, kinds),
		}
		if !p.Mbps.IsSet() {
			p.Autoneg = targettest.Maybe(r, rapid.Just(true))
		}
		switch rapid.IntRange(0, 3).Draw(r, "kind") {
		case 0:
			p.Name += "/1"
			p.Breakout = rapid.SampledFrom(modes).Draw(r, "split")
		case 1:
			d.Ifaces = append(d.Ifaces, intent.Iface{
				Name: "to" + p.Name, Kind: intent.Routed, On: p.Name, VRF: rapid.SampledFrom([]string{"", "Vrf-red", "Vrfon"}).Draw(r, "vrf"),
				Addresses: intent.Some([]netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 9, byte(i), 0}), 31)}),
			})
			d.Ports = append(d.Ports, p)
			continue
		}
		p.Native, p.Tagged = targettest.VLANs(r, d)
		d.Ports = append(d.Ports, p)
	}
	if last := &d.Ports[len(d.Ports)-1]; len(d.Ports) > 4 && last.Breakout == "" && rapid.Bool().Draw(r, "lag") {
		d.Ifaces = slices.DeleteFunc(d.Ifaces, func(f intent.Iface) bool { return f.On == last.Name })
		last.Native, last.Tagged, last.Deny = intent.Opt[uint16]{}, intent.Opt[[]uint16]{}, intent.Opt[[]intent.RDMA]{}
		g := intent.LAG{Name: "PortChannel7", ID: 7, Mode: "lacp", Members: []string{last.Name}, MTU: targettest.Maybe(r, rapid.Uint16Range(1312, 9216)), Deny: targettest.Maybe(r, kinds)}
		last.MTU = g.MTU
		if rapid.Bool().Draw(r, "static") {
			g.Mode = "static"
		} else {
			g.Rate = rapid.SampledFrom([]string{"", "fast"}).Draw(r, "rate")
		}
		g.Native, g.Tagged = targettest.VLANs(r, d)
		d.LAGs = append(d.LAGs, g)
	}
	for _, v := range d.VLANs {
		if rapid.Bool().Draw(r, "svi") {
			f := intent.Iface{
				Name: "of" + decimal(v.ID), Kind: intent.SVI, VLAN: v.ID, VRF: rapid.SampledFrom([]string{"", "Vrf-red", "Vrf_blue"}).Draw(r, "vrf"),
				Addresses: intent.Some([]netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(v.ID >> 8), byte(v.ID), 1}), 24)}),
			}
			if !v.MTU.IsSet() {
				f.MTU = targettest.Maybe(r, rapid.Uint16Range(1312, 9216))
			}
			d.Ifaces = append(d.Ifaces, f)
		}
	}
	if pausesAny(d) {
		d.Buffer.HeadroomBytes = targettest.Maybe(r, rapid.Uint64Range(1, 1<<32-1))
	}
	return d
}

func generatedQoS(r *rapid.T, name string, lossless uint8, times intent.Watchdog) intent.QoS {
	q := intent.QoS{Name: name, Trust: intent.Some(rapid.SampledFrom([]intent.Trust{intent.TrustDSCP, intent.TrustPCP, intent.TrustNone}).Draw(r, "trust"))}
	var dscp [64]uint8
	var pcp [8]uint8
	for i := range dscp {
		if q.Trust.Value != intent.TrustNone {
			dscp[i] = rapid.SampledFrom([]uint8{0, lossless, 7}).Draw(r, "priority")
		}
	}
	copy(pcp[:], dscp[20:])
	q.DSCP, q.PCP = intent.Some(dscp), intent.Some(pcp)
	tc := [8]uint8{7: 7}
	tc[lossless] = lossless
	q.TC, q.PFCQueue = intent.Some(tc), intent.Some(tc)
	if rapid.Bool().Draw(r, "pfc") {
		q.Lossless = 1 << lossless
	}
	q.PFC, q.Pause = intent.Some(q.Lossless), intent.Some(false)
	var group [8]uint8
	for i := range group {
		group[i] = 7
		if q.Lossless == 0 {
			group[i] = 0
		}
	}
	if q.Lossless != 0 {
		group[lossless] = lossless
	}
	q.Group = intent.Some(group)
	share := rapid.Uint8Range(1, 99).Draw(r, "share")
	var s [8]intent.Sched
	s[0], s[lossless] = intent.Sched{Kind: intent.SchedETS, Percent: share}, intent.Sched{Kind: intent.SchedETS, Percent: 100 - share}
	s[7] = intent.Sched{Kind: intent.SchedStrict, CapMbps: rapid.SampledFrom([]uint32{0, 1000, 40_000}).Draw(r, "cap")}
	q.Sched = intent.Some(s)
	var e [8]intent.ECN
	if rapid.Bool().Draw(r, "ecn") {
		low := rapid.Uint32Range(1, 5000).Draw(r, "min")
		e[lossless] = intent.ECN{On: true, MinBytes: low * 1000, MaxBytes: (low + rapid.Uint32Range(0, 7000).Draw(r, "width")) * 1000, Probability: rapid.Uint8Range(1, 100).Draw(r, "probability")}
	}
	q.ECN = intent.Some(e)
	q.DCBX = intent.Some(intent.DCBX{Mode: "off"})
	q.Watchdog = intent.Some(intent.Watchdog{})
	if q.Lossless != 0 && rapid.Bool().Draw(r, "watchdog") {
		q.Watchdog = intent.Some(times)
	}
	if rapid.Bool().Draw(r, "remap") {
		q.Rewrite = intent.Some([8]uint8{rapid.Uint8Range(0, 63).Draw(r, "mark"), 7: 48})
	}
	return q
}

// values is what a parsed device states, by path.
func values(t *testing.T, d *intent.Device) map[string]string {
	t.Helper()
	m := map[string]string{}
	for p, v := range d.Fields {
		if v.State == intent.Set {
			m[p.String()] = v.Text
		}
	}
	return m
}

// TestParseForeign reads a made-up configuration that rocec did not write: without
// indentation, as versions after roce enable list it, with names and values of
// somebody else, and interfaces in other spellings around it.
func TestParseForeign(t *testing.T) {
	const text = `ops@row3-sw2:~$ sonic-cli -c "show running-configuration | no-more"
!
ip vrf mgmt
interface breakout port 1/9 mode 4x100G
roce enable
!
qos wred-policy marks
green minimum-threshold 1500 maximum-threshold 9000 drop-probability 20
ecn green
!
qos scheduler-policy shares
!
queue 0
type dwrr
weight 35
!
queue 3
type dwrr
weight 65
!
queue 6
type strict
!
qos scheduler-policy copp-scheduler-policy
!
queue 12
type wrr
weight 1
pir 250
!
qos map dscp-tc marked
dscp 0-11,13-17,19-28,30-45,47-63 traffic-class 0
dscp 18,29 traffic-class 3
dscp 12 traffic-class 4
dscp 46 traffic-class 6
!
qos map dot1p-tc tagged
dot1p 0-2,5-7 traffic-class 0
dot1p 3 traffic-class 3
dot1p 4 traffic-class 4
!
qos map tc-pg groups
traffic-class 3 priority-group 3
traffic-class 4 priority-group 4
traffic-class 0-2,5-7 priority-group 7
!
hardware
!
access-list
counters per-entry
!
line vty
service-policy type qos in consoles
!
interface Management 0
mtu 1500
ip address 192.0.2.5/24
!
interface Loopback 0
ip address 198.51.100.7/32
!
interface Eth1/1
description "to row 1 mtu 1 shutdown"
mtu 9216
speed 400000
fec RS
unreliable-los auto
no shutdown
ipv6 enable
ars bind some
queue 3 wred-policy marks
queue 4 wred-policy marks
scheduler-policy shares
qos-map dscp-tc marked
qos-map dot1p-tc tagged
qos-map tc-pg groups
priority-flow-control priority 3
priority-flow-control priority 4
priority-flow-control watchdog action drop
priority-flow-control watchdog on detect-time 300
priority-flow-control watchdog restore-time 600
!
interface Eth 1/9/1
 speed auto 100000
 fec AUTO
 shutdown
 channel-group 10
!
interface PortChannel10
 fast_rate
 no shutdown
 switchport access Vlan 12
 switchport trunk allowed Vlan 20-22
 mclag 5
!
interface PortChannel 11 mode on
!
interface Vlan 12
 mclag-separate-ip
 ip vrf forwarding VrfTenant
 ip address 10.12.0.2/24
 ip address 10.12.1.2/24 secondary
!
mclag domain 5
 source-ip 203.0.113.1
 peer-ip 203.0.113.2
 peer-link PortChannel 11
 keepalive-interval 1
 session-timeout 30
!
router bgp 64601
 neighbor 203.0.113.9
  mtu 7
`
	got, list := parse(nil, shown(text))
	if len(list) > 0 {
		t.Fatalf("findings: %v", list)
	}
	have := values(t, got)
	for path, want := range map[string]string{
		`port["Eth1/1"].mtu`: "9216", `port["Eth1/1"].speed`: "400G", `port["Eth1/1"].autoneg`: "false", `port["Eth1/1"].fec`: "rs", `port["Eth1/1"].enabled`: "true",
		`port["Eth1/1"].trust`: "dscp", `port["Eth1/1"].dscp_map`: "0-11:0 12:4 13-17:0 18:3 19-28:0 29:3 30-45:0 46:6 47-63:0", `port["Eth1/1"].pfc`: "[3, 4]",
		`port["Eth1/1"].ets`: "0:35% 3:65% 6:strict", `port["Eth1/1"].ecn`: "3: 1500000..9000000 @20%, 4: 1500000..9000000 @20%",
		`port["Eth1/1"].group_map`: "0-2:7 3:3 4:4 5-7:7", `port["Eth1/1"].watchdog`: "on", `port["Eth1/1"].watchdog.detect`: "300ms", `port["Eth1/1"].watchdog.restore`: "600ms",
		`port["Eth1/1"].watchdog.action`: "drop", `port["Eth1/1"].dcbx`: "off", `port["Eth1/1"].pause`: "false",
		`port["Eth1/9/1"].breakout`: "4x100G", `port["Eth1/9/1"].autoneg`: "true", `port["Eth1/9/1"].fec`: "auto", `port["Eth1/9/1"].enabled`: "false", `port["Eth1/9/1"].watchdog`: "off",
		`lag["PortChannel10"].members`: "Eth1/9/1", `lag["PortChannel10"].rate`: "fast", `lag["PortChannel10"].mode`: "lacp", `lag["PortChannel11"].mode`: "static",
		`lag["PortChannel10"].native`: "12", `lag["PortChannel10"].segments`: "20, 21, 22", `lag["PortChannel10"].mlag`: "true", `lag["PortChannel10"].id`: "10",
		`interface["Vlan12"].address`: "10.12.0.2/24, 10.12.1.2/24", `interface["Vlan12"].vrf`: "VrfTenant", `interface["Loopback0"].address`: "198.51.100.7/32",
		`mlag.domain`: "5", `mlag.peer_link`: "PortChannel11", `mlag.source`: "203.0.113.1", `mlag.peer_address`: "203.0.113.2", `mlag.interval`: "1000ms", `mlag.timeout`: "30000ms",
		`vlan["12"]`: "present",
	} {
		if have[path] != want {
			t.Errorf("%s is %q, want %q", path, have[path], want)
		}
	}
	for path := range have {
		if strings.Contains(path, "Management") || strings.Contains(path, "2.5/24") {
			t.Errorf("%s has no place in an intent", path)
		}
	}
}

// TestPFCWithoutBuffers: a priority that pauses without lossless buffers is not
// lossless, and the plan shows it with the reboot.
func TestPFCWithoutBuffers(t *testing.T) {
	d := leaf()
	c := capture(targettest.Emit(&Target, d))
	text := strings.ReplaceAll(string(c.Files[running]), "buffer init lossless\n", "")
	got, list := parse(d, shown(text))
	if len(list) != 1 || list[0].Severity != diag.Warning || !strings.Contains(list[0].Summary, "has no lossless buffers") {
		t.Errorf("findings: %v", list)
	}
	found := false
	for _, x := range intent.Diff(d, got) {
		if x.Path.Field != "pfc" {
			t.Errorf("%s: %q -> %q", x.Path, x.Before, x.After)
			continue
		}
		found = true
		if i := impact(d, targets.Change{Path: x.Path, Before: x.Before, After: x.After}); !i.Interrupts || !strings.Contains(i.Note, "buffer init lossless saves the configuration and reboots the switch") {
			t.Errorf("the impact is %+v", i)
		}
	}
	if !found {
		t.Error("nothing has to change")
	}
	d.Options = map[string]string{buffersOption: buffersKept}
	if _, list := parse(d, shown(text)); len(list) > 0 {
		t.Errorf("buffers that others keep: %v", list)
	}
}

func TestParseTrouble(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":         {"", "holds no running configuration"},
		"a message":     {"%Error: Could not connect to Management REST Server\n", "holds no running configuration"},
		"mtu":           {"interface Eth1/1\n mtu big\n", `mtu of Eth1/1 is "big"`},
		"speed":         {"interface Eth1/1\n speed fast\n", `speed of Eth1/1 is "fast"`},
		"fec":           {"interface Eth1/1\n fec RS2\n", `fec of Eth1/1 is "RS2"`},
		"address":       {"interface Eth1/1\n ip address 10.0.0.1\n", `the address "10.0.0.1"`},
		"trunk":         {"interface Eth1/1\n switchport trunk allowed Vlan 5-\n", `trunk of Eth1/1 is "5-"`},
		"trunk of many": {"interface Eth1/1\n switchport trunk allowed Vlan 1-4095\n", `trunk of Eth1/1`},
		"map":           {"qos map dscp-tc x\n dscp 0-70 traffic-class 1\n", `an entry of dscp-tc "x"`},
		"map value":     {"qos map dscp-tc x\n dscp 0 traffic-class 9\n", `an entry of dscp-tc "x"`},
		"queue":         {"interface Eth1/1\n queue 9 wred-policy x\n", "a queue of an interface"},
		"policy":        {"interface Eth1/1\n scheduler-policy gone\n", `scheduler-policy of Eth1/1 is "gone"`},
		"wred":          {"interface Eth1/1\n queue 3 wred-policy gone\n", `wred-policy of Eth1/1 is "gone"`},
		"priority":      {"roce enable\ninterface Eth1/1\n priority-flow-control priority 9\n", `a priority of Eth1/1 is "9"`},
		"cable":         {"interface Eth1/1\n cable-length 7m\n", `cable-length of Eth1/1 is "7m"`},
		"pool":          {"buffer pool ingress_lossless_pool shared-headroom-size lots\n", `shared-headroom-size is "lots"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, list := parse(nil, shown(c.text))
			text := ""
			for _, d := range list {
				text += d.Summary + "\n"
			}
			if !strings.Contains(text, c.want) {
				t.Errorf("findings %q, want %q", text, c.want)
			}
			if (got == nil) != list.HasErrors() {
				t.Errorf("a device: %v, errors: %v", got != nil, list.HasErrors())
			}
		})
	}
	if got, list := parse(nil, targets.Captured{}); got != nil || len(list) != 1 || list.HasErrors() {
		t.Errorf("no capture: %v, %v", got, list)
	}
}

// TestParseMangled: whatever a capture has become on its way, it is read or
// refused, twice alike.
func TestParseMangled(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, device := range []func() *intent.Device{leaf, tor, pair} {
		lines = append(lines, strings.SplitAfter(string(capture(targettest.Emit(&Target, device())).Files[running]), "\n")...)
	}
	words := strings.Fields(strings.Join(lines, " "))
	rapid.Check(t, func(r *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 60).Draw(r, "lines") {
			switch rapid.IntRange(0, 4).Draw(r, "kind") {
			case 0:
				b.WriteString(strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 6).Draw(r, "words"), " ") + "\n")
			case 1:
				b.WriteString(rapid.String().Draw(r, "text") + "\n")
			default:
				b.WriteString(rapid.SampledFrom(lines).Draw(r, "line"))
			}
		}
		reads(r, tor(), b.String())
	})
}

// reads parses a text with and without an intent and plans from it.
func reads(t targettest.Failer, d *intent.Device, text string) {
	t.Helper()
	for _, hint := range []*intent.Device{nil, d} {
		got, list := parse(hint, shown(text))
		if (got == nil) != list.HasErrors() {
			t.Fatalf("a device: %v, findings: %v", got != nil, list)
		}
		if got == nil {
			continue
		}
		for range got.Fields {
		}
		if again, _ := parse(hint, shown(text)); intent.Digest(again) != intent.Digest(got) {
			t.Fatalf("parsing twice gives different devices")
		}
	}
	var out emit.Out
	if list := rebase(d, shown(text), &out); !list.HasErrors() && targettest.Text(out.Artifacts, configFile) == "" {
		t.Fatalf("a plan without commands")
	}
}

func FuzzParse(f *testing.F) {
	for _, device := range fixtures {
		f.Add(string(capture(targettest.Emit(&Target, device())).Files[running]))
	}
	f.Add("interface Eth1/1\n\tqueue 3\n")
	f.Add("qos map tc-pg x\ntraffic-class 0-7 priority-group 7\ninterface PortChannel 300\n channel-group 3\n")
	f.Add("mclag domain x\npeer-link\nsource-ip ::1%a\ninterface Vlan 99999999999999999999\n")
	d := tor()
	f.Fuzz(func(t *testing.T, text string) { reads(t, d, text) })
}
