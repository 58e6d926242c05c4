package sonic

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// Tables in the form of sonic-utilities' tests (tests/pgdropstat_test.py,
// tests/pfcwd_input/pfcwd_test_vectors.py): what a group drops counts for the
// lossless priority that is in it, and a queue that is stormed is told.
func TestHealth(t *testing.T) {
	groups := [8]uint8{0, 0, 0, 4}
	d := &intent.Device{
		Name: "tor", Ports: []intent.Port{{Name: "Ethernet0", QoS: "roce"}, {Name: "Ethernet4", QoS: "plain"}, {Name: "other0"}},
		QoS: []intent.QoS{
			{Name: "roce", PFC: intent.Some(intent.PrioritySet(0).With(3)), Group: intent.Some(groups)},
			{Name: "plain", PFC: intent.Some(intent.PrioritySet(0).With(3))},
		},
	}
	v, list := vitals(d, targets.Captured{Files: map[string][]byte{
		"health/pg_drops.txt": []byte("Ingress PG dropped packets:\n     Port    PG0    PG3    PG4\n---------  -----  -----  -----\nEthernet0    800    803  1,804\nEthernet4    400    403    N/A\n   other0      1      1      1\n"),
		"health/watchdog.txt": []byte("      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP\n-----------  -----------  -------------------------  ------------\nEthernet0:3      stormed                        3/2       100/300\nEthernet0:4  operational                        2/2       100/100\nEthernet8:3  operational                        2/2       100/100\nEthernet4:3          N/A                        0/0           0/0\n"),
	}})
	if len(list) > 0 {
		t.Fatal(list)
	}
	want := map[string]*targets.PortVitals{
		"Ethernet0": {
			Counters: map[targets.Counter]uint64{{Of: targets.Discarded, Priority: 3}: 1804, {Of: targets.Storms, Priority: 3}: 3, {Of: targets.Storms, Priority: 4}: 2},
			Stormed:  intent.PrioritySet(0).With(3),
		},
		"Ethernet4": {Counters: map[targets.Counter]uint64{{Of: targets.Discarded, Priority: 3}: 403}},
	}
	if diff := cmp.Diff(want, v.Ports); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whatever a switch prints, reading it ends, and counts for its own ports only.
func FuzzHealth(f *testing.F) {
	f.Add("  Port Rx    PFC0    PFC3\n---------  ------  ------\nEthernet0       0  1,200\n\n  Port Tx    PFC0\n---------  ----\nEthernet0     N/A\n")
	f.Add("Ingress PG dropped packets:\n     Port    PG0\n---------  -----\nEthernet4      9\n")
	f.Add("      QUEUE       STATUS    STORM DETECTED/RESTORED\n-----------  -----------  -------------------------\nEthernet0:3  operational                        1/0\n")
	f.Add("-\n\n--- -\nx")
	f.Fuzz(func(t *testing.T, text string) {
		d := &intent.Device{Name: "tor", Ports: []intent.Port{{Name: "Ethernet0"}}}
		c := targets.Captured{Files: map[string][]byte{}}
		for _, p := range health.Probes {
			c.Files[p.File] = []byte(text)
		}
		v, _ := vitals(d, c)
		for name := range v.Ports {
			if name != "Ethernet0" {
				t.Errorf("a port %q", name)
			}
		}
	})
}
