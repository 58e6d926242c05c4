package cumulus

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/targettest"
)

// TestRebase: what a patch would leave behind is unset, and nothing else.
func TestRebase(t *testing.T) {
	all := keys(t)
	for name, c := range map[string]struct {
		want   func() *intent.Device
		before func(d *intent.Device)
		extra  string // more of what the switch has, under set
		lines  []string
	}{
		"as wanted": {leaf, func(*intent.Device) {}, "", nil},
		"VLANs": {leaf, func(d *intent.Device) {
			d.VLANs = append(d.VLANs, intent.VLAN{ID: 200}, intent.VLAN{ID: 201})
			d.Ports[0].Tagged = intent.Some([]uint16{200, 201})
			d.Ports[40].Native, d.Ports[40].Tagged = intent.Some(uint16(200)), intent.Some([]uint16{})
			d.Ifaces = slices.DeleteFunc(d.Ifaces, func(f intent.Iface) bool { return f.On == "swp41" })
		}, "", []string{
			"nv unset interface swp1 bridge domain br_default untagged",
			"nv unset interface swp1 bridge domain br_default vlan 200,201",
			"nv unset interface swp41 bridge",
		}},
		"addresses": {leaf, func(d *intent.Device) {
			d.Ifaces[1].Addresses = prefixes("10.100.0.1/24", "10.101.0.1/24", "2001:db8::1/64")
		}, "", []string{
			"nv unset interface vlan100 ipv4 address 10.101.0.1/24",
			"nv unset interface vlan100 ipv6 address 2001:db8::1/64",
		}},
		"members": {pair, func(d *intent.Device) {
			d.Ports = append(d.Ports, port("swp3", 200_000, 5_000, "converged"))
			d.Ports[len(d.Ports)-1].MTU = intent.Opt[uint16]{}
			d.LAGs[0].Members = []string{"swp1", "swp2", "swp3"}
		}, "", []string{"nv unset interface bond1 bond member swp3"}},
		"breakout": {tor, func(d *intent.Device) { d.Ports[0].Breakout = "2x50G" }, "", []string{"nv unset interface swp1 link breakout 2x"}},
		"fewer children": {tor, func(d *intent.Device) { d.Ports[0].Breakout = "8x25G" }, "    interface:\n      swp1s4-7:\n        type: swp\n", []string{
			"nv unset interface swp1s4",
			"nv unset interface swp1s5",
			"nv unset interface swp1s6",
			"nv unset interface swp1s7",
			"nv unset interface swp1 link breakout 8x",
		}},
		"whole again": {tor, func(d *intent.Device) {
			d.Ports[5].Name, d.Ports[5].Breakout, d.Ports[5].Mbps = "swp5s0", "2x200G", intent.Opt[uint32]{}
			d.Ifaces[2].Name, d.Ifaces[2].On = "swp5s0", "swp5s0"
		}, "", []string{"nv unset interface swp5s0", "nv unset interface swp5 link breakout"}},
		"disabled for a neighbour": {tor, func(*intent.Device) {}, "    interface:\n      swp5:\n        link:\n          breakout:\n            disabled: {}\n", []string{
			"nv unset interface swp5 link breakout",
		}},
		"no split":        {tor, func(*intent.Device) {}, "    interface:\n      swp5:\n        link:\n          breakout:\n            1x: {}\n", nil},
		"VRF":             {tor, func(d *intent.Device) {}, "    interface:\n      vlan711:\n        ip:\n          vrf: blue\n", []string{"nv unset interface vlan711 ip vrf"}},
		"VRF by its name": {tor, func(d *intent.Device) {}, "    interface:\n      vlan711:\n        ip:\n          vrf: default\n", nil},
		"keepalive":       {pair, func(d *intent.Device) { d.MLAG.PeerAddress = d.MLAG.PeerAddress.Next() }, "", []string{"nv unset mlag backup 10.255.0.3"}},
		"no PFC any more": {tor, func(d *intent.Device) { d.Ports[3].QoS, d.Ports[3].CableMm = "storage", intent.Some(uint32(3000)) }, "", []string{
			"nv unset interface swp3 qos egress-shaper",
			"nv unset interface swp3 qos pfc",
			"nv unset interface swp3 qos pfc-watchdog",
		}},
		"a profile of others": {tor, func(*intent.Device) {}, "    interface:\n      swp5:\n        qos:\n          link-pause:\n            profile: theirs\n", []string{
			"nv unset interface swp5 qos link-pause",
		}},
		"not ours": {tor, func(*intent.Device) {}, "    interface:\n      swp9:\n        qos:\n          pfc:\n            profile: theirs\n    qos:\n      pfc:\n        theirs:\n          tx: enable\n", nil},
		"roce mode": {func() *intent.Device { return mode("5.14") }, func(d *intent.Device) { d.QoS[0].ECN.Value[0] = intent.ECN{} }, "", []string{
			"nv unset interface swp1 qos congestion-control",
			"nv unset qos egress-queue-mapping",
			"nv unset qos traffic-pool default-lossless",
		}},
		"roce mode with profiles of all ports": {
			func() *intent.Device { return mode("5.14") }, func(*intent.Device) {},
			"    qos:\n      congestion-control:\n        default-global:\n          traffic-class:\n            '0':\n              ecn: disable\n      pfc:\n        default-global:\n          switch-priority:\n            '2': {}\n      traffic-pool:\n        default-lossy:\n          memory-percent: 10\n        roce-lossless:\n          memory-percent: 90\n",
			[]string{
				"nv unset qos congestion-control default-global",
				"nv unset qos pfc default-global",
			},
		},
		"roce mode before": {tor, func(*intent.Device) {}, "    qos:\n      roce:\n        mode: lossless\n      traffic-pool:\n        default-lossy:\n          memory-percent: 10\n        roce-lossless:\n          memory-percent: 90\n", []string{
			"nv unset qos traffic-pool roce-lossless",
		}},
		"all ports pause and one shall not": {tor, func(*intent.Device) {}, "    qos:\n      pfc:\n        default-global:\n          switch-priority:\n            '3': {}\n", []string{
			"nv unset qos pfc default-global",
		}},
		"roce mode and no port shall pause": {lossy, func(*intent.Device) {}, "    qos:\n      roce:\n        enable: on\n", []string{"nv unset qos roce"}},
	} {
		t.Run(name, func(t *testing.T) {
			d, before := c.want(), c.want()
			c.before(before)
			have := artifact(t, before, patchFile)
			if c.extra != "" {
				have += "- set:\n" + c.extra
			}
			var out emit.Out
			if list := rebase(d, captured(have), &out); len(list) > 0 {
				t.Fatal(list)
			}
			var lines []string
			for line := range strings.Lines(targettest.Text(out.Artifacts, commandsFile)) {
				if line = strings.TrimSpace(line); strings.HasPrefix(line, "nv unset") {
					lines = append(lines, line)
				}
			}
			for _, line := range c.lines {
				if !slices.Contains(lines, line) {
					t.Errorf("%q is missing of\n%s", line, strings.Join(lines, "\n"))
				}
			}
			if name != "roce mode" && !slices.Equal(lines, c.lines) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(c.lines, "\n"))
			}
			for _, bad := range unknown(all, out.Artifacts, d.OS.Version) {
				t.Error(bad)
			}
			if err := sound(out.Artifacts); err != nil {
				t.Error(err)
			}
			for _, f := range out.Artifacts {
				if f.Path == applyFile && len(lines) > 0 && strings.Contains(string(f.Bytes), "It removes nothing") {
					t.Error("apply.sh says that it removes nothing")
				}
			}
		})
	}
}

// lossy is the ToR without a port that pauses.
func lossy() *intent.Device {
	d := tor()
	for i := range d.QoS {
		q := &d.QoS[i]
		q.PFC, q.Lossless, q.Group, q.Watchdog = intent.Some(intent.PrioritySet(0)), 0, intent.Some([8]uint8{}), intent.Some(intent.Watchdog{})
	}
	return d
}

// BenchmarkEmit is the leaf of a GPU pod: 64 ports, 32 of them routed.
func BenchmarkEmit(b *testing.B) {
	d := leaf()
	b.ReportAllocs()
	for b.Loop() {
		targettest.Emit(&Target, d)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(d.Ports)), "ns/port")
}

// BenchmarkEmitManyPorts is a switch of which every port is split in eight and
// has an address.
func BenchmarkEmitManyPorts(b *testing.B) {
	d := leaf()
	d.Ports, d.Ifaces = nil, nil
	for i := range 512 {
		name := fmt.Sprintf("swp%ds%d", i/8+1, i%8)
		d.Ports = append(d.Ports, port(name, 100_000, 3_000, "gpu"))
		d.Ifaces = append(d.Ifaces, intent.Iface{Name: name, Kind: intent.Routed, On: name, Addresses: prefixes(fmt.Sprintf("10.0.%d.%d/31", i/64, i%64*2))})
	}
	b.ReportAllocs()
	for b.Loop() {
		targettest.Emit(&Target, d)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(d.Ports)), "ns/port")
}

// TestSplitPorts: which ports there are follows from the split, so that one that is
// split otherwise than wanted is missing and not merely of other settings.
func TestSplitPorts(t *testing.T) {
	const split = "- set:\n    interface:\n      swp1:\n        link:\n          breakout:\n            %s: {}\n      swp1s0-7:\n        type: swp\n"
	whole := &intent.Device{Kind: intent.Switch, Ports: []intent.Port{{Name: "swp1", Enabled: intent.Some(true)}}}
	child := &intent.Device{Kind: intent.Switch, Ports: []intent.Port{{Name: "swp1s3", Enabled: intent.Some(true)}}}
	for mode, c := range map[string]struct{ whole, child bool }{
		"1x": {true, false}, "2x": {false, false}, "4x": {false, true}, "disabled": {false, false},
	} {
		for d, exists := range map[*intent.Device]bool{whole: c.whole, child: c.child} {
			seen, list := parse(d, captured(fmt.Sprintf(split, mode)))
			if len(list) > 0 {
				t.Fatal(list)
			}
			differs := intent.Diff(d, seen)
			if made := len(differs) > 0 && differs[0].Creates(); made == exists {
				t.Errorf("%s of %s: %v", d.Ports[0].Name, mode, differs)
			}
		}
	}
}
