package targets

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
)

// The probes of a port are those of each port, and a name that leads elsewhere has none.
func TestRuns(t *testing.T) {
	tg := &Target{Probes: []Probe{{File: "all.txt", Command: "show all"}, {File: "ports/%s.txt", Command: "show port %s", PerPort: true}}}
	d := &intent.Device{Ports: []intent.Port{{Name: "eth0"}, {Name: "../../x"}, {Name: "a b"}, {Name: "nul\x00"}}}
	want := []Probe{
		{File: "all.txt", Command: "show all"},
		{File: "ports/eth0.txt", Command: "show port eth0", PerPort: true},
		{File: "ports/a b.txt", Command: "show port 'a b'", PerPort: true},
	}
	if diff := cmp.Diff(want, tg.Runs(d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
