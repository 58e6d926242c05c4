package cumulus

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// lossy0 has no lossless priority, so that its discards are nobody's.
func healthDevice() *intent.Device {
	return &intent.Device{
		Name: "leaf", Ports: []intent.Port{{Name: "swp1", QoS: "roce"}, {Name: "lossy0"}},
		QoS: []intent.QoS{{Name: "roce", PFC: intent.Some(intent.PrioritySet(0).With(3))}},
	}
}

// TestHealth reads tables in the form of NVIDIA's user guide.
func TestHealth(t *testing.T) {
	const roce = "                               operational   applied\n-----------------------------  ------------  -------\nrx-stats\n  rx-non-roce-stats\n    no-buffer-discard          55                     discards\n  rx-roce-stats\n    buffer-usage               0 Bytes\n    no-buffer-discard          5                     Rx\ntx-stats\n  tx-roce-stats\n    unicast-no-buffer-discard  6\n"
	const watchdog = "traffic-class  status    deadlock-count\n-------------  --------  --------------\n3              DEADLOCK  2\n4              OK        0\n"
	v, list := vitals(healthDevice(), targets.Captured{Files: map[string][]byte{
		"health/swp1/roce.txt": []byte(roce), "health/swp1/watchdog.txt": []byte(watchdog), "health/lossy0/roce.txt": []byte(roce),
	}})
	if len(list) > 0 {
		t.Fatal(list)
	}
	want := map[string]*targets.PortVitals{"swp1": {
		Counters: map[targets.Counter]uint64{{Of: targets.Discarded, Priority: 3}: 11, {Of: targets.Storms, Priority: 3}: 2, {Of: targets.Storms, Priority: 4}: 0},
		Stormed:  intent.PrioritySet(0).With(3),
	}}
	if diff := cmp.Diff(want, v.Ports); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whatever a switch prints, reading it ends, and counts for its own ports only.
func FuzzHealth(f *testing.F) {
	f.Add("rx-roce-stats\n no-buffer-discard 5\n3 DEADLOCK 5\n")
	f.Add("\n\n9 OK 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		d := healthDevice()
		c := targets.Captured{Files: map[string][]byte{}}
		for _, p := range health.Runs(d) {
			c.Files[p.File] = []byte(text)
		}
		v, _ := vitals(d, c)
		for name := range v.Ports {
			if d.PortNamed(name) == nil {
				t.Errorf("a port %q", name)
			}
		}
	})
}
