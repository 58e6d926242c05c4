package rollout

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
)

// losslessDevice has a port with priority 3 lossless, in group 4, and one without.
func losslessDevice(port string) *intent.Device {
	groups := [8]uint8{0, 0, 0, 4}
	return &intent.Device{
		Name: "a", Ports: []intent.Port{{Name: port, QoS: "roce"}, {Name: "other0"}},
		QoS: []intent.QoS{{Name: "roce", PFC: intent.Some(intent.PrioritySet(0).With(3)), Group: intent.Some(groups)}},
	}
}

// TestCounters reads what devices print. The tables are in the form of
// sonic-utilities' tests and of NVIDIA's user guide, the statistics in that of
// ethtool.
func TestCounters(t *testing.T) {
	for _, c := range []struct {
		name, port string
		looks      func(*intent.Device) []look
		command    string
		text       string
		want       counts
	}{
		{
			"linux discards", "eth0", linuxDiscards, "ethtool -S eth0",
			"NIC statistics:\n     rx_prio3_discards: 7\n     rx_prio4_discards: 9\n     rx_packets: 12\n     rx_prio3_discards_x: 1\n",
			counts{events: map[string]uint64{"eth0 rx_prio3_discards": 7}},
		},
		{
			"linux storms", "eth0", linuxStorms, "ethtool -S eth0",
			"NIC statistics:\n     tx_pause_storm_warning_events: 1\n     tx_pause_storm_error_events: 0\n",
			counts{events: map[string]uint64{"eth0 tx_pause_storm_warning_events": 1, "eth0 tx_pause_storm_error_events": 0}},
		},
		{"soft-RoCE has none", "eth0", linuxDiscards, "ethtool -S eth0", "no stats available\n", counts{events: map[string]uint64{}}},
		{
			"sonic discards", "Ethernet0", sonicDiscards, "show priority-group drop counters",
			"Ingress PG dropped packets:\n     Port    PG0    PG3    PG4\n---------  -----  -----  -----\nEthernet0    800    803  1,804\nEthernet4    400    403    N/A\n   other0      1      1      1\n",
			counts{events: map[string]uint64{"Ethernet0 PG4 dropped packets": 1804}},
		},
		{
			"sonic storms", "Ethernet0", sonicStorms, "pfcwd show stats",
			"      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP\n-----------  -----------  -------------------------  ------------\nEthernet0:3      stormed                        3/2       100/300\nEthernet0:4  operational                        2/2       100/100\nEthernet4:3  operational                        2/2       100/100\n",
			counts{events: map[string]uint64{"Ethernet0:3 storms": 3, "Ethernet0:4 storms": 2}, states: map[string]bool{"Ethernet0:3 is stormed": true, "Ethernet0:4 is stormed": false}},
		},
		{
			"cumulus discards", "swp1", cumulusDiscards, "nv show interface swp1 qos roce counters",
			"                               operational   applied\n-----------------------------  ------------  -------\nrx-stats\n  rx-non-roce-stats\n    no-buffer-discard          55                     discards\n  rx-roce-stats\n    buffer-usage               0 Bytes\n    no-buffer-discard          5                     Rx\ntx-stats\n  tx-roce-stats\n    unicast-no-buffer-discard  6\n",
			counts{events: map[string]uint64{"swp1 rx-roce-stats no-buffer-discard": 5, "swp1 tx-roce-stats unicast-no-buffer-discard": 6}},
		},
		{
			"cumulus storms", "swp1", cumulusStorms, "nv show interface swp1 qos pfc-watchdog",
			"traffic-class  status    deadlock-count\n-------------  --------  --------------\n3              DEADLOCK  2\n4              OK        0\n",
			counts{
				events: map[string]uint64{"swp1 traffic class 3 deadlocks": 2, "swp1 traffic class 4 deadlocks": 0},
				states: map[string]bool{"swp1 traffic class 3 is in deadlock": true, "swp1 traffic class 4 is in deadlock": false},
			},
		},
	} {
		list := c.looks(losslessDevice(c.port))
		if len(list) != 1 || list[0].command != c.command {
			t.Errorf("%s: %d looks, %v", c.name, len(list), list)
			continue
		}
		if d := cmp.Diff(c.want, list[0].parse([]byte(c.text)), cmp.AllowUnexported(counts{})); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		if list := c.looks(&intent.Device{Ports: []intent.Port{{Name: c.port}}}); len(list) != 0 {
			t.Errorf("%s: a device without lossless traffic is looked at", c.name)
		}
	}
	if list := linuxDiscards(losslessDevice("$(reboot)")); len(list) != 1 || !strings.Contains(list[0].command, `'$(reboot)'`) {
		t.Errorf("a hostile name is not quoted: %v", list)
	}
}

// TestWorse compares two looks.
func TestWorse(t *testing.T) {
	seen := func(n uint64, there bool) counts {
		return counts{events: map[string]uint64{"drops": n, "others": 1}, states: map[string]bool{"it is stormed": there}}
	}
	for _, c := range []struct {
		before, now counts
		want        string
	}{
		{seen(1, false), seen(1, false), ""},
		{seen(1, true), seen(1, false), ""},
		{seen(9, false), seen(1, false), ""}, // cleared meanwhile
		{seen(1, false), seen(4, false), "drops: 3 more"},
		{seen(1, false), seen(1, true), "it is stormed"},
		{seen(1, false), seen(2, true), "drops: 1 more, and 1 more"},
		{counts{}, seen(5, false), ""}, // there is nothing to compare with
	} {
		if got := worse(c.before, c.now); got != c.want {
			t.Errorf("%q, expected %q", got, c.want)
		}
	}
}

// FuzzCounters reads anything as what devices print.
func FuzzCounters(f *testing.F) {
	f.Add([]byte("Port PG4\nEthernet0 5\n"))
	f.Add([]byte("\n\n"))
	f.Add([]byte("Ethernet0:3 stormed 1/0 2/2\n"))
	f.Add([]byte("rx-roce-stats\n no-buffer-discard 5\n3 DEADLOCK 5\n rx_prio3_discards: 5\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, target := range counting {
			for _, looks := range []func(*intent.Device) []look{target.discards, target.storms} {
				for _, l := range looks(losslessDevice("Ethernet0")) {
					_ = worse(counts{}, l.parse(b))
				}
			}
		}
	})
}
