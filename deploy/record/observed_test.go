package record_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/record"
)

// What was observed comes back as it was, also from an entry whose intent need
// not be read; that of another device is refused.
func TestObserved(t *testing.T) {
	e := entry("tor", 9000)
	e.Observed = entry("tor", 1500).Intent
	s := open(t, t.TempDir())
	put(t, lock(t, s), e, "")
	got, _, err := s.GetUnless(e.Intent, e.IntentDigest)
	if err != nil || got.Intent != nil {
		t.Fatalf("%+v (%v)", got, err)
	}
	if diff := cmp.Diff(e.Observed, got.Observed, cmp.Comparer(func(a, b *intent.Device) bool { return intent.Digest(a) == intent.Digest(b) })); diff != "" {
		t.Errorf("observed (-want +got):\n%s", diff)
	}
	e.Observed = entry("leaf", 1500).Intent
	if _, err := record.Encode(e); err == nil {
		t.Error("what another device showed is taken")
	}
}
