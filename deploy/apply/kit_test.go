package apply_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/targets/emit"
)

func kit(base, text string) *emit.Kit {
	return emit.NewKit(base, []emit.Artifact{
		{Path: "install.sh", Mode: 0o755, Step: emit.Apply, Run: "sudo ../common/" + base + "/install.sh", Bytes: []byte("install " + text)},
		{Path: "lib/part.sh", Mode: 0o644, Step: emit.Data, Bytes: []byte("part " + text)},
	})
}

// using is a device that uses kits.
func using(name, output, text string, kits ...*emit.Kit) apply.Device {
	d := tor(name, output, text)
	d.Kits = kits
	return d
}

func kitListing(folder, text string) string {
	exec := "-rwxr-xr-x"
	if runtime.GOOS == "windows" {
		exec = "-rw-rw-rw-"
	}
	return folder + "/install.sh " + exec + " install " + text + "\n" + folder + "/lib/part.sh -rw-r--r-- part " + text + "\n"
}

// A kit lies once in each output, is in the manifest of the devices that use it,
// and goes with the last of them.
func TestTreeWithKit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	one, two := kit("linux", "1"), kit("linux", "2")
	write(t, dir, tree(t, using("a", "", "1", one), using("b", "", "1", one), using("c", "x", "1", one)))
	folder := "common/" + one.Name
	want := torFiles("a/", "1") + torFiles("b/", "1") + kitListing(folder, "1") + manifestLine + torFiles("x/c/", "1") + kitListing("x/"+folder, "1")
	if diff := cmp.Diff(want, listing(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	m, err := apply.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(m.Devices["b"].Common, m.Devices["c"].Common, m.Common[folder].Digest == one.Digest, len(m.Common)); got != fmt.Sprint([]string{folder}, []string{"x/" + folder}, true, 2) {
		t.Errorf("the manifest says %s", got)
	}
	next := tree(t, using("a", "", "1", two), using("b", "", "1", two))
	list, err := apply.CheckTree(dir, next)
	if err != nil || len(list) != 5+1+2+2+2 {
		t.Errorf("%v, %v", list, err)
	}
	write(t, dir, next)
	want = torFiles("a/", "1") + torFiles("b/", "1") + kitListing("common/"+two.Name, "2") + manifestLine
	if diff := cmp.Diff(want, listing(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A device that stays as it lies keeps its kit.
	part := tree(t, using("a", "", "2", one))
	part.Keep = func(name string) bool { return name == "b" }
	write(t, dir, part)
	kits := []string{kitListing("common/"+one.Name, "1"), kitListing("common/"+two.Name, "2")}
	if one.Name > two.Name {
		kits[0], kits[1] = kits[1], kits[0]
	}
	want = torFiles("a/", "2") + torFiles("b/", "1") + kits[0] + kits[1] + manifestLine
	if diff := cmp.Diff(want, listing(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if list, err := apply.CheckTree(dir, part); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestKitRefused(t *testing.T) {
	for name, c := range map[string]struct {
		device apply.Device
		want   string
	}{
		"a device of the folder's name": {using("Common", "", "1", kit("linux", "1")), "the folder of device Common is that of files which devices share"},
		"a path that leads out":         {using("a", "", "1", emit.NewKit("x", []emit.Artifact{{Path: "../x"}})), "is not a clean relative path"},
		"paths that are one file":       {using("a", "", "1", emit.NewKit("x", []emit.Artifact{{Path: "x"}, {Path: "X"}})), "are one file"},
	} {
		if _, err := apply.WriteTar(io.Discard, tree(t, c.device)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Without kits the name is free.
	if _, err := apply.WriteTar(io.Discard, tree(t, tor("common", "", "1"))); err != nil {
		t.Error(err)
	}
}

// In a bundle the kit is there before its devices, stays while one device of the
// manifest needs it, and is named beside them.
func TestBundleWithKit(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "bundle")
	l := locked(t, filepath.Join(root, "record"))
	one, two := kit("linux", "1"), kit("linux", "2")
	first := bundle(t, dir, l, nil, using("a", "", "1", one), using("b", "", "1", one))
	var out strings.Builder
	if err := first.Text(&out); err != nil {
		t.Fatal(err)
	}
	want := "switch.a: copy " + filepath.Join(dir, "a") + " and " + filepath.Join(dir, "common", one.Name) + " to the device, placed to each other as here, then run in a:\n    sudo ./apply.sh\n    sudo ../common/linux/install.sh\n"
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("%s\nwant at its start\n%s", out.String(), want)
	}
	if got := entry(t, l, "a").Artifacts["common/linux"]; got != one.Digest {
		t.Errorf("the record has %q of the kit", got)
	}
	bundle(t, dir, l, nil, using("a", "", "1", two))
	for _, k := range []*emit.Kit{one, two} {
		if _, err := os.Stat(filepath.Join(dir, "common", k.Name, "install.sh")); err != nil {
			t.Error(err)
		}
	}
	bundle(t, dir, l, []string{"b"}, using("a", "", "1", two))
	if diff := cmp.Diff(torFiles("a/", "1")+kitListing("common/"+two.Name, "2")+manifestLine, listing(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	bundle(t, dir, l, []string{"a"})
	if got := listing(t, dir); got != manifestLine {
		t.Errorf("after the last device:\n%s", got)
	}
	clean(t, dir, root)
}

// many are devices of which few fit into memory at a time, as a caller makes them.
func many(n int, make func(i int) (*apply.Device, error)) apply.Devices {
	d := apply.Devices{Make: make}
	for i := range n {
		d.Places = append(d.Places, apply.Place{Name: fmt.Sprintf("d%03d", i)})
	}
	return d
}

// The bytes do not depend on the number of threads.
func TestThreads(t *testing.T) {
	var archives [2]bytes.Buffer
	var trees [2]string
	for i, threads := range []int{1, 8} {
		before := runtime.GOMAXPROCS(threads)
		devices := many(60, func(i int) (*apply.Device, error) {
			d := using(fmt.Sprintf("d%03d", i), "", fmt.Sprint(i), kit("linux", "1"))
			return &d, nil
		})
		x, err := apply.NewTree(src, devices)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := apply.WriteTar(&archives[i], x); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "out")
		write(t, dir, x)
		m, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		trees[i] = listing(t, dir) + string(m)
		runtime.GOMAXPROCS(before)
	}
	if !bytes.Equal(archives[0].Bytes(), archives[1].Bytes()) || trees[0] != trees[1] {
		t.Error("1 and 8 threads write different bytes")
	}
}

// Of the files of a tree that changes, those stay whose bytes stay.
func TestSameFilesStay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	write(t, dir, tree(t, tor("a", "", "1"), tor("b", "", "1")))
	info := func(name string) os.FileInfo {
		t.Helper()
		i, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	same, other := info("a/apply.sh"), info("b/apply.sh")
	write(t, dir, tree(t, tor("a", "", "1"), tor("b", "", "2")))
	if now := info("a/apply.sh"); !os.SameFile(same, now) || !now.ModTime().Equal(same.ModTime()) {
		t.Error("a file that did not change was written again")
	}
	if os.SameFile(other, info("b/apply.sh")) {
		t.Error("a file that changed is still the old one")
	}
}

// A device that cannot be made leaves everything as it was, whichever is first
// in time: the first in order is named.
func TestDeviceThatFails(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "out")
	write(t, dir, tree(t, tor("d000", "", "old")))
	before := listing(t, dir)
	x, err := apply.NewTree(src, many(200, func(i int) (*apply.Device, error) {
		if i == 40 || i == 41 || i == 90 {
			return nil, fmt.Errorf("number %d", i)
		}
		d := tor(fmt.Sprintf("d%03d", i), "", "new")
		return &d, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	_, one := apply.WriteTree(dir, x)
	_, two := apply.WriteTar(io.Discard, x)
	_, three := apply.CheckTree(dir, x)
	for _, err := range []error{one, two, three} {
		if err == nil || !strings.HasSuffix(err.Error(), "number 40") {
			t.Errorf("%v", err)
		}
	}
	if after := listing(t, dir); after != before {
		t.Error("the tree has changed")
	}
	clean(t, parent)
	l := locked(t, filepath.Join(parent, "record"))
	if _, err := apply.Bundle(filepath.Join(parent, "bundle"), src, x.Devices, nil, l); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
