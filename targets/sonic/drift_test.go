package sonic

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
		return given(t, d)
	}, nil, base...)
}

// given is what a switch shows that was bare and got everything of an intent.
func given(t *testing.T, d *intent.Device) targets.Captured {
	t.Helper()
	c := build(d)
	return captured(loaded(t, bare(t, d), c.breakouts, c.normal, c.maintenance))
}
