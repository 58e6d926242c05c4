package plan_test

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/deploy/disk"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
)

// settledOf is what is kept of devices, with their parts.
func settledOf(devices []plan.Device) (*plan.Settled, []*plan.Part) {
	s, parts := &plan.Settled{}, []*plan.Part{}
	for i := range devices {
		if d := &devices[i]; d.Recorded != nil {
			d.Version = record.Digest([]byte(d.Address))
			if d.Artifacts == nil {
				d.Artifacts = d.Recorded.Artifacts
			}
		}
		parts = append(parts, plan.Compare(&devices[i], plan.Options{}))
		s.Keep(parts[i], plan.Key{byte(i)}, disk.Stamp{WrittenNs: int64(i)})
	}
	return s, parts
}

// reread writes what is kept into a file and reads it.
func reread(t *testing.T, s *plan.Settled) *plan.Settled {
	t.Helper()
	text := s.Encode()
	got, err := plan.DecodeSettled(text)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, got.Encode()) {
		t.Error("what was read is written otherwise")
	}
	return got
}

// TestSettled: devices without a change are found again, with all that a plan and
// its file say of them; every other one is not, and no device whose key or entry
// in the record is another one now.
func TestSettled(t *testing.T) {
	devices := mixed()
	s, parts := settledOf(devices)
	s = reread(t, s)
	found := map[string]bool{}
	for i, d := range devices {
		name := ""
		if d.Want != nil {
			name = d.Want.Name
		}
		stamp := disk.Stamp{WrittenNs: int64(i)}
		part := s.Find(name, d.Address, plan.Key{byte(i)}, stamp)
		if part == nil {
			continue
		}
		found[name] = true
		want, got := []*plan.Part{parts[i]}, []*plan.Part{part}
		a, b := plan.Join(want, plan.Options{}), plan.Join(got, plan.Options{})
		if diff := cmp.Diff(plan.Snapshot("w", "", want, a).Devices, plan.Snapshot("w", "", got, b).Devices); diff != "" {
			t.Errorf("%s (-compared +found):\n%s", name, diff)
		}
		if diff := cmp.Diff(text(t, a, plan.TextOptions{}), text(t, b, plan.TextOptions{})); diff != "" {
			t.Errorf("%s (-compared +found):\n%s", name, diff)
		}
		if s.Find(name, d.Address, plan.Key{byte(i), 1}, stamp) != nil {
			t.Errorf("%s is found by another key", name)
		}
		stamp.SizeBytes++
		if s.Find(name, d.Address, plan.Key{byte(i)}, stamp) != nil {
			t.Errorf("%s is found although its entry has changed", name)
		}
	}
	if diff := cmp.Diff(map[string]bool{"waiting1": true, "waiting2": true, "same": true}, found); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	if !s.Drop(func(name string) bool { return name == "same" }) || s.Drop(func(name string) bool { return name == "same" }) {
		t.Error("a device is dropped once")
	}
	if s.Find("same", "switch.same", plan.Key{5}, disk.Stamp{WrittenNs: 5}) != nil {
		t.Error("a device that was dropped is found")
	}
}

// TestSettledForgets: a device that has changed since is not found as it was.
func TestSettledForgets(t *testing.T) {
	devices := mixed()[5:6]
	s, _ := settledOf(devices)
	if s.Find("same", "switch.same", plan.Key{0}, disk.Stamp{}) == nil {
		t.Fatal("the device is not kept")
	}
	devices[0].Want, devices[0].Digest = leaf("same", 2, nil), ""
	part := plan.Compare(&devices[0], plan.Options{})
	if !s.Keep(part, plan.Key{9}, disk.Stamp{}) {
		t.Error("that a device is forgotten is no news")
	}
	if s.Keep(part, plan.Key{9}, disk.Stamp{}) {
		t.Error("that a device which was not kept is not kept is news")
	}
	if s.Find("same", "switch.same", plan.Key{0}, disk.Stamp{}) != nil || s.Find("same", "switch.same", plan.Key{9}, disk.Stamp{}) != nil {
		t.Error("a device with changes is kept")
	}
}

// TestSettledDamaged: any byte that changes, and any that lacks, makes it no file.
func TestSettledDamaged(t *testing.T) {
	s, _ := settledOf(mixed())
	good := s.Encode()
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		if _, err := plan.DecodeSettled(bad); err == nil {
			t.Fatalf("byte %d of %d is another one and nobody sees it", i, len(good))
		}
		if _, err := plan.DecodeSettled(good[:i]); err == nil {
			t.Fatalf("%d of %d bytes are read", i, len(good))
		}
	}
	if _, err := plan.DecodeSettled(append(bytes.Clone(good), 0)); err == nil {
		t.Error("a byte too many is read")
	}
}

// FuzzSettled gives the decoder texts with a right digest.
func FuzzSettled(f *testing.F) {
	s, _ := settledOf(mixed())
	const head = 16 + sha256.Size
	good := s.Encode()
	f.Add(good[head:])
	f.Add((&plan.Settled{}).Encode()[head:])
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, rest []byte) {
		sum := sha256.Sum256(rest)
		text := append(append(bytes.Clone(good[:16]), sum[:]...), rest...)
		s, err := plan.DecodeSettled(text)
		if err != nil {
			return
		}
		again, err := plan.DecodeSettled(s.Encode())
		if err != nil {
			t.Fatalf("what was written is not read: %v", err)
		}
		if !bytes.Equal(s.Encode(), again.Encode()) {
			t.Fatal("what was read is written otherwise")
		}
	})
}
