package sonicent

import (
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/targettest"
)

// TestEveryDrift: what a switch was told otherwise is seen, field by field.
func TestEveryDrift(t *testing.T) {
	var base []*intent.Device
	for _, device := range fixtures {
		base = append(base, device())
	}
	targettest.EveryDrift(t, &Target, func(d *intent.Device) targets.Captured {
		return capture(targettest.Emit(&Target, d))
	}, nil, base...)
}
