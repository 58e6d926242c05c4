package targettest

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// Text is one artifact as text, "" if there is none of that path.
func Text(files []emit.Artifact, path string) string {
	for _, f := range files {
		if f.Path == path {
			return string(f.Bytes)
		}
	}
	return ""
}

// Limit fails unless a device is taken (want is "") or refused with want in the
// refusals.
func Limit(t testing.TB, tg *targets.Target, d *intent.Device, want string) {
	t.Helper()
	got := Refusals(targets.Check(tg, d, nil))
	if want == "" && got != "" || !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Failer is what testing.TB and rapid.T have in common.
type Failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// RoundTrip reads back what a device shows that was given an intent. Nothing
// observable may differ that either states, or be missing, and no object be there
// that was never written.
func RoundTrip(t Failer, tg *targets.Target, d *intent.Device, c targets.Captured) {
	t.Helper()
	got, list := tg.Parse(d, c)
	if len(list) > 0 {
		t.Fatalf("parse: %v", list)
	}
	want := *d
	want.Ports = slices.DeleteFunc(slices.Clone(d.Ports), func(p intent.Port) bool { return p.Verify })
	for _, x := range intent.Diff(&want, got) {
		if tg.Observable(d, x.Path) {
			t.Fatalf("%s: %q -> %q has to change on a switch that was just configured", x.Path, x.Before, x.After)
		}
	}
	for _, p := range intent.Unseen(&want, got) {
		if tg.Observable(d, p) {
			t.Fatalf("%s cannot be seen", p)
		}
	}
	stated := map[intent.Path]bool{}
	for p := range d.Fields {
		stated[p] = true
	}
	for p, v := range got.Fields {
		if v.State == intent.Set && p.Field == "" && !stated[p] {
			t.Fatalf("%s is there and was never written", p)
		}
	}
}

// Maybe is a setting that is managed three times of four.
func Maybe[T any](r *rapid.T, g *rapid.Generator[T]) intent.Opt[T] {
	if rapid.IntRange(0, 3).Draw(r, "managed") == 0 {
		return intent.Opt[T]{}
	}
	return intent.Some(g.Draw(r, "value"))
}

// VLANs are VLANs for a port or LAG, of those that a device carries.
func VLANs(r *rapid.T, d *intent.Device) (native intent.Opt[uint16], tagged intent.Opt[[]uint16]) {
	ids := []uint16{}
	for _, v := range d.VLANs {
		switch rapid.IntRange(0, 2).Draw(r, "member") {
		case 0:
			ids = append(ids, v.ID)
		case 1:
			if !native.IsSet() {
				native = intent.Some(v.ID)
			}
		}
	}
	return native, intent.Some(ids)
}
