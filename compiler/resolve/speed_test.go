package resolve

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/packs"
)

// TestNICSpeed: a NIC runs no faster than its model does, wherever its speed is written.
func TestNICSpeed(t *testing.T) {
	const text = `
defaults "nic" { speed = "SPEED" }
node "n" {
  os = "ubuntu/24.04"
  nic "p0" { model = "nvidia/connectx-5" }
  nic "p1" { model = "nvidia/connectx-7" }
}
`
	for speed, want := range map[string]string{
		"25G": "", "100G": "", "200G": "nic n/p0 runs at 200G, and nvidia/connectx-5 does 100G at most",
	} {
		src := strings.ReplaceAll(text, "SPEED", speed)
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
