package apply_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/deploy/record"
)

func bundle(t testing.TB, dir string, l *record.Lock, removed []string, devices ...apply.Device) *apply.Delivery {
	t.Helper()
	d, err := apply.Bundle(dir, src, made(devices...), removed, l)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func entry(t testing.TB, l *record.Lock, name string) *record.Entry {
	t.Helper()
	e, _, err := l.Store().Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestBundle(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "bundle")
	l := locked(t, filepath.Join(root, "record"))
	first := bundle(t, dir, l, nil, tor("a", "", "1"), tor("b", "windows", "1"))
	if diff := cmp.Diff(torFiles("a/", "1")+manifestLine+torFiles("windows/b/", "1"), listing(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var out strings.Builder
	if err := first.Text(&out); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "a")
	want := "switch.a: copy " + folder + " to the device, then run there:\n    sudo ./apply.sh\n    ./verify.sh\n" +
		"  ! in a maintenance window only:\n  !   sudo ./window.sh\n  to go back:\n    sudo ./rollback.sh\n\n"
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("%s\nwant at its start\n%s", out.String(), want)
	}
	e := entry(t, l, "a")
	if e == nil || e.Status != record.HandedOver || e.Emitter != "fake" || e.Artifacts["apply.sh"] != record.Digest([]byte("apply 1")) {
		t.Fatalf("%+v", e)
	}
	// Seen applied meanwhile, and files of others in the folder of a device.
	_, version, _ := l.Store().Get("a")
	e.Status = record.Applied
	if _, err := l.Put(e, version); err != nil {
		t.Fatal(err)
	}
	save(t, filepath.Join(dir, "a", "rocec-before.json"), "from the switch")
	unchanged, _ := os.Stat(filepath.Join(dir, "a"))
	second := bundle(t, dir, l, nil, tor("a", "", "1"), tor("b", "windows", "2"))
	if second.Devices[0].Changed || !second.Devices[1].Changed {
		t.Errorf("%+v", second.Devices)
	}
	if now, _ := os.Stat(filepath.Join(dir, "a")); !os.SameFile(unchanged, now) {
		t.Error("the folder of an unchanged device was replaced")
	}
	if e := entry(t, l, "a"); e.Status != record.Applied {
		t.Errorf("an unchanged device is %s", e.Status)
	}
	if e := entry(t, l, "b"); e.Artifacts["apply.sh"] != record.Digest([]byte("apply 2")) {
		t.Errorf("%+v", e.Artifacts)
	}
	// One device alone; the others stay in the bundle. One leaves it.
	third := bundle(t, dir, l, []string{"b"}, tor("a", "", "3"), tor("c", "", "1"))
	withForeign := strings.Replace(torFiles("a/", "3"), "a/rollback.sh", "a/rocec-before.json -rw-r--r-- from the switch\na/rollback.sh", 1)
	if diff := cmp.Diff(withForeign+torFiles("c/", "1")+manifestLine, listing(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if entry(t, l, "b") != nil || entry(t, l, "a").Status != record.HandedOver {
		t.Error("the record did not follow")
	}
	bundle(t, dir, l, nil, tor("c", "moved", "1"))
	m, err := apply.ReadManifest(dir)
	if err != nil || len(m.Devices) != 2 || m.Devices["c"].Output != "moved" {
		t.Errorf("%+v, %v", m, err)
	}
	if diff := cmp.Diff(withForeign+manifestLine+torFiles("moved/c/", "1"), listing(t, dir)); diff != "" {
		t.Errorf("a device that moved (-want +got):\n%s", diff)
	}
	clean(t, dir, root)
	out.Reset()
	if err := errors.Join(second.Text(&out), third.Text(&out)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Handed over before, unchanged: switch.a\n", "No longer managed; what was written to them stays there: b\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

func TestBundleRefuses(t *testing.T) {
	root := t.TempDir()
	l := locked(t, filepath.Join(root, "record"))
	foreign := filepath.Join(root, "home")
	save(t, filepath.Join(foreign, "a", "apply.sh"), "mine")
	var refused *apply.ForeignError
	if _, err := apply.Bundle(foreign, src, made(tor("a", "", "1")), nil, l); !errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
	if got := listing(t, foreign); got != "a/apply.sh -rw-r--r-- mine\n" {
		t.Errorf("it holds\n%s", got)
	}
	dir := filepath.Join(root, "bundle")
	bundle(t, dir, l, nil, tor("b", "", "1"))
	save(t, filepath.Join(dir, "a", "apply.sh"), "mine")
	if _, err := apply.Bundle(dir, src, made(tor("a", "", "1")), nil, l); err == nil || !strings.Contains(err.Error(), "is in the way") {
		t.Errorf("%v", err)
	}
	if entry(t, l, "a") != nil {
		t.Error("a device that was not written is recorded")
	}
	clean(t, filepath.Join(dir, "a"))
	if err := l.Store().ForceUnlock(l.Holder.ID); err != nil {
		t.Fatal(err)
	}
	var lost *record.LostError
	if _, err := apply.Bundle(filepath.Join(root, "other"), src, made(tor("c", "", "1")), nil, l); !errors.As(err, &lost) {
		t.Errorf("with a broken lock: %v", err)
	}
}
