package lang

import (
	"slices"
	"testing"

	"github.com/rocec/rocec/lang/schema"
)

// TestDescribed: every block that stands for something of a fabric can be described.
func TestDescribed(t *testing.T) {
	without := []schema.Kind{
		schema.Rocec, schema.Locals, schema.Module, schema.Defaults, schema.Check, schema.Target, schema.Except, schema.Override, // say something of others
		schema.SwitchModel, schema.NICModel, schema.ASIC, schema.Media, schema.PCIe, // have a source
		schema.Rollout, schema.Analysis, schema.TierLink, // there is one
	}
	for k := schema.None + 1; k < schema.KindCount; k++ {
		if has := schema.Lookup(k, "description") != nil; has == slices.Contains(without, k) {
			t.Errorf("%s: %v", k, has)
		}
	}
}
