package resolve

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/packs"
)

// TestTopSpeed: a NIC or a port runs no faster than its model does, wherever its speed
// is written; what a part of a split port has is for ROCE105.
func TestTopSpeed(t *testing.T) {
	const text = `
defaults "nic" { speed = "SPEED" }
node "n" {
  os = "ubuntu/24.04"
  nic "p0" { model = "nvidia/connectx-5" }
  nic "p1" { model = "nvidia/connectx-7" }
}
`
	const ports = `
switch "tor" {
  model = "nvidia/sn3700c"
  os    = "sonic/202505"
  port "Ethernet0" { speed = "SPEED" }
  port "Ethernet4" {
    breakout = "4x25G"
    speed    = "25G"
  }
}
`
	for _, c := range []struct{ text, speed, want string }{
		{text, "25G", ""},
		{text, "100G", ""},
		{text, "200G", "nic n/p0 runs at 200G, and nvidia/connectx-5 does 100G at most"},
		{ports, "50G", ""},
		{ports, "100G", ""},
		{ports, "200G", "port tor/Ethernet0 runs at 200G, and nvidia/sn3700c does 100G at most"},
	} {
		src, speed, want := strings.ReplaceAll(c.text, "SPEED", c.speed), c.speed, c.want
		cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"f.roce.hcl": {Data: []byte(src)}}, Packs: packs.Files()})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		_, found := Fabric(cfg)
		switch {
		case want == "" && found.HasErrors():
			t.Errorf("%s: %v", speed, found)
		case want != "" && (len(found) != 1 || found[0].Summary != want || len(found[0].Labels) != 1 || !strings.Contains(src[found[0].Labels[0].Span.Start:], `"200G"`)):
			t.Errorf("%s: %v", speed, found)
		}
	}
}
