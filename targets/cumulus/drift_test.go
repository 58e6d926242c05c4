package cumulus

import (
	"slices"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/targettest"
)

// few ports show what many do.
const few = 6

// TestEveryDrift: what a switch was told otherwise is seen, field by field.
func TestEveryDrift(t *testing.T) {
	var base []*intent.Device
	for _, device := range fixtures {
		d := device()
		if cut := len(d.Ports) - few; cut > 0 {
			d.Ports = slices.Delete(d.Ports, few/2, few/2+cut)
			d.Ifaces = slices.DeleteFunc(d.Ifaces, func(f intent.Iface) bool { return f.Kind == intent.Routed && d.PortNamed(f.On) == nil })
		}
		base = append(base, d)
	}
	targettest.EveryDrift(t, &Target, func(d *intent.Device) targets.Captured {
		return captured(targettest.Text(targettest.Emit(&Target, d), patchFile) + "- header: {}\n")
	}, nil, base...)
}
