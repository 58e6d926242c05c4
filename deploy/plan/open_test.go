package plan

import (
	"testing"
	"time"

	"github.com/rocec/rocec/targets"
)

// TestOpenIsNotStale: a plan that was saved while a change was open on a device is the
// same plan when that was confirmed, or when other seconds are left of it. It is no
// plan without anything to do.
func TestOpenIsNotStale(t *testing.T) {
	plan := func(open *targets.Armed) *Saved {
		part := &Part{name: "tor", address: "switch.tor", open: open, summary: Summary{}}
		p := Join([]*Part{part}, Options{RocecVersion: "1"})
		return Snapshot("lab", "sha256:x", []*Part{part}, p)
	}
	saved := plan(&targets.Armed{ID: "tx1", Left: 20 * time.Second})
	for _, now := range []*Saved{plan(nil), plan(&targets.Armed{ID: "tx1", Left: 3 * time.Second})} {
		if err := saved.Shown(now, false); err != nil {
			t.Error(err)
		}
	}
	if p := saved.Plan; p.DetailedExit() != 2 || len(p.Open) != 1 || p.headline() != NotSettled {
		t.Errorf("exit %d, %q", p.DetailedExit(), p.headline())
	}
}
