package targettest

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// Exempt lists fields that a target may leave without effect, as
// "Struct.Field" ("Mark.Class"), each with the reason. An exemption that no
// field needs fails the test.
type Exempt map[string]string

// EveryField proves that a target drops nothing: it changes every field of
// each base, one at a time, and demands that targets.Check refuses the result
// or that some artifact differs in more than the digest of its header. Numbers,
// flags, words and references get other values, lists lose and gain elements,
// settings become unmanaged, default and set. The bases must pass Check.
//
// Left out, since they say nothing to a device: Device.Version, OS.Version,
// QoS.Name and QoS values that no written port names; QoS.DCBX on a node; what is compared only
// (ports under Verify, Device.Firmware, NIC.Firmware, NIC.DriverV); NIC.Facts; headroom that is
// not Written, which a device may compute by itself; and fields that another
// switches off (watchdog times of a watchdog that is off).
func EveryField(t *testing.T, tg *targets.Target, base ...*intent.Device) {
	t.Helper()
	EveryFieldExcept(t, tg, nil, base...)
}

// EveryFieldExcept is EveryField with exemptions.
func EveryFieldExcept(t *testing.T, tg *targets.Target, exempt Exempt, base ...*intent.Device) {
	t.Helper()
	needed := map[string]bool{}
	for _, b := range base {
		for _, drop := range Dropped(t, tg, b) {
			if _, ok := exempt[drop.Key]; ok {
				needed[drop.Key] = true
				continue
			}
			t.Errorf("%s: %s", b.Name, drop)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(exempt)) {
		if !needed[key] {
			t.Errorf("the exemption of %s (%s) is not needed", key, exempt[key])
		}
	}
}

// Drop is one change of an intent that had no effect.
type Drop struct {
	Key           string // "Port.MTU"
	Path          string // "Ports[Ethernet0].MTU"
	Before, After string
	Panic         string // what the target panicked with, or another fault; "" if there is none
}

// String is the drop as a test failure.
func (d Drop) String() string {
	if d.Panic != "" {
		return fmt.Sprintf("%s (%s): %s -> %s fails: %s", d.Path, d.Key, d.Before, d.After, d.Panic)
	}
	return fmt.Sprintf("%s (%s): %s -> %s is not refused and changes no artifact", d.Path, d.Key, d.Before, d.After)
}

// Dropped lists the changes of a base that a target neither refuses nor shows.
func Dropped(t testing.TB, tg *targets.Target, base *intent.Device) []Drop {
	t.Helper()
	base = Clone(t, base)
	if list := targets.Check(tg, base, nil); list.HasErrors() {
		t.Fatalf("%s: the base is refused:\n%s", base.Name, Refusals(list))
	}
	want := rendering(tg, base)
	if again := rendering(tg, Clone(t, base)); again != want {
		t.Fatalf("%s: emitting twice gives different artifacts", base.Name)
	}
	memo := emit.NewMemo()
	_ = remembered(tg, base, memo)
	var drops []Drop
	for _, c := range changes(base, tg.Options) {
		d := copied(base)
		c.apply(d)
		if visible, trouble := differs(tg, d, want, memo); !visible {
			drops = append(drops, Drop{Key: c.key, Path: c.path, Before: c.before, After: c.after, Panic: trouble})
		}
	}
	return drops
}

// differs reports whether a target refuses a device or writes something else
// than want, and what it panicked with. What it writes may not depend on the
// devices before it.
func differs(tg *targets.Target, d *intent.Device, want string, memo *emit.Memo) (visible bool, trouble string) {
	defer func() {
		if r := recover(); r != nil {
			visible, trouble = false, fmt.Sprint(r)
		}
	}()
	if targets.Check(tg, d, nil).HasErrors() {
		return true, ""
	}
	got := rendering(tg, d)
	if remembered(tg, d, memo) != got {
		return false, "files of another device"
	}
	return got != want, ""
}
