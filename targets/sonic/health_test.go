package sonic

import (
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

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
