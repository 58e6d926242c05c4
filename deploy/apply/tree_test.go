package apply_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/targets/emit"
)

func torFiles(prefix, text string) string {
	exec, secret := "-rwxr-xr-x", "-rw-------"
	if runtime.GOOS == "windows" {
		exec, secret = "-rw-rw-rw-", "-rw-rw-rw-"
	}
	return prefix + "apply.sh " + exec + " apply " + text + "\n" +
		prefix + "conf/secret.json " + secret + " {} " + text + "\n" +
		prefix + "rollback.sh " + exec + " back " + text + "\n" +
		prefix + "verify.sh " + exec + " verify " + text + "\n" +
		prefix + "window.sh " + exec + " window " + text + "\n"
}

const manifestLine = "manifest.json -rw-r--r-- ...\n"

func TestWriteTree(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "deep", "out")
	first := tree(t, tor("a", "", "1"), tor("b", "racks/r1", "1"))
	if !write(t, dir, first) {
		t.Error("a new tree is not a change")
	}
	want := torFiles("a/", "1") + manifestLine + torFiles("racks/r1/b/", "1")
	if diff := cmp.Diff(want, listing(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	before, _ := os.Stat(filepath.Join(dir, "a", "apply.sh"))
	if write(t, dir, first) {
		t.Error("the same tree is written again")
	}
	if after, _ := os.Stat(filepath.Join(dir, "a", "apply.sh")); !os.SameFile(before, after) {
		t.Error("the same tree has new files")
	}
	// What others put there stays; what rocec wrote and no longer writes goes.
	save(t, filepath.Join(dir, "README"), "mine")
	save(t, filepath.Join(dir, "a", "rocec-before.json"), "from the switch")
	if err := os.MkdirAll(filepath.Join(dir, ".git", "refs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if !write(t, dir, tree(t, tor("a", "", "2"))) {
		t.Error("a changed tree is not a change")
	}
	want = "README -rw-r--r-- mine\n" + strings.Replace(torFiles("a/", "2"), "a/rollback.sh", "a/rocec-before.json -rw-r--r-- from the switch\na/rollback.sh", 1) + manifestLine
	if diff := cmp.Diff(want, listing(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, ".git", "refs")); err != nil {
		t.Error("an empty folder of others is gone")
	}
	if _, err := os.Stat(filepath.Join(dir, "racks")); err == nil {
		t.Error("the folder of a device that is gone stays")
	}
	clean(t, dir, filepath.Dir(dir), parent)
}

func TestWriteTreeRefuses(t *testing.T) {
	x := tree(t, tor("a", "", "1"))
	t.Run("foreign folder", func(t *testing.T) {
		dir := t.TempDir()
		save(t, filepath.Join(dir, "thesis.txt"), "mine")
		var foreign *apply.ForeignError
		if _, err := apply.WriteTree(dir, x); !errors.As(err, &foreign) {
			t.Errorf("%v", err)
		}
		if got := listing(t, dir); got != "thesis.txt -rw-r--r-- mine\n" {
			t.Errorf("it holds\n%s", got)
		}
	})
	t.Run("another program's manifest", func(t *testing.T) {
		dir := t.TempDir()
		save(t, filepath.Join(dir, "manifest.json"), `{"name": "web app", "format_version": "1.0"}`)
		if _, err := apply.WriteTree(dir, x); err == nil || !strings.Contains(err.Error(), "is not a manifest of rocec") {
			t.Errorf("%v", err)
		}
	})
	t.Run("a file in the way", func(t *testing.T) {
		parent := t.TempDir()
		dir := filepath.Join(parent, "out")
		write(t, dir, tree(t))
		save(t, filepath.Join(dir, "a", "Apply.sh"), "mine")
		before := listing(t, dir)
		if _, err := apply.WriteTree(dir, x); err == nil || !strings.Contains(err.Error(), "is in the way") {
			t.Errorf("%v", err)
		}
		if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
			t.Error(diff)
		}
		clean(t, parent)
	})
	t.Run("a file instead of a folder", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "out")
		save(t, dir, "mine")
		if _, err := apply.WriteTree(dir, x); err == nil {
			t.Error("a file is replaced")
		}
	})
}

// A link to the folder stays a link, and an empty folder is as good as none.
func TestWriteTreeThroughLink(t *testing.T) {
	parent := t.TempDir()
	real, link := filepath.Join(parent, "real"), filepath.Join(parent, "out")
	if err := os.Mkdir(real, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	write(t, link, tree(t, tor("a", "", "1")))
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the folder's mode is %v, %v", info.Mode(), err)
	}
	if diff := cmp.Diff(torFiles("a/", "1")+manifestLine, listing(t, real)); diff != "" {
		t.Error(diff)
	}
}

func TestNewTreeRefuses(t *testing.T) {
	one := func(change func(*apply.Device)) []apply.Device {
		d := tor("a", "", "1")
		change(&d)
		return []apply.Device{d}
	}
	path := func(p string) []apply.Device {
		return one(func(d *apply.Device) { d.Artifacts = []emit.Artifact{{Path: p, Mode: 0o644}} })
	}
	paths := func(list ...string) []apply.Device {
		return one(func(d *apply.Device) {
			d.Artifacts = nil
			for _, p := range list {
				d.Artifacts = append(d.Artifacts, emit.Artifact{Path: p, Mode: 0o644})
			}
		})
	}
	for name, c := range map[string]struct {
		devices []apply.Device
		want    string
	}{
		"up":               {path("../x"), `path "../x" is not a clean relative path`},
		"absolute":         {path("/etc/passwd"), "not a clean relative path"},
		"backslash":        {path(`a\..\b`), `has '\\'`},
		"drive":            {path("c:x"), `has ':'`},
		"reserved":         {path("x/nul.txt"), `part "nul.txt"`},
		"empty":            {path(""), "not a clean relative path"},
		"case":             {paths("a.sh", "A.sh"), "are one file where case does not count"},
		"file and folder":  {paths("x", "x/y"), "is a file, and a folder of"},
		"device":           {one(func(d *apply.Device) { d.Name = "../a" }), `device name "../a"`},
		"output":           {one(func(d *apply.Device) { d.Output = "../.." }), "output of device a"},
		"twice":            {[]apply.Device{tor("a", "", "1"), tor("A", "x", "1")}, "device A is there twice, as a"},
		"device in device": {[]apply.Device{tor("a", "", "1"), tor("b", "a", "1")}, "the folder of device b lies in that of a"},
		"the manifest":     {[]apply.Device{tor("manifest.json", "", "1")}, "manifest.json is a file, and a folder of"},
	} {
		x, err := apply.NewTree(src, made(c.devices...))
		if err == nil {
			_, err = apply.WriteTar(io.Discard, x)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", name, err, c.want)
		}
	}
}

func TestCheckTree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	x := tree(t, tor("a", "", "1"), tor("b", "", "1"))
	check := func(x *apply.Tree) string {
		t.Helper()
		list, err := apply.CheckTree(dir, x)
		if err != nil {
			t.Fatal(err)
		}
		var parts []string
		for _, d := range list {
			parts = append(parts, d.Kind+" "+d.Path)
		}
		return strings.Join(parts, ", ")
	}
	if got := check(tree(t)); got != "missing manifest.json" {
		t.Errorf("nothing there: %s", got)
	}
	write(t, dir, x)
	save(t, filepath.Join(dir, "README"), "mine")
	if got := check(x); got != "" {
		t.Errorf("just written: %s", got)
	}
	newer := tree(t, tor("a", "", "1"), tor("b", "", "1"))
	newer.Source.RocecVersion = "0.2.0"
	if got := check(newer); got != "" {
		t.Errorf("another version of rocec: %s", got)
	}
	save(t, filepath.Join(dir, "a", "apply.sh"), "edited")
	if err := os.Remove(filepath.Join(dir, "a", "verify.sh")); err != nil {
		t.Fatal(err)
	}
	want := "changed a/apply.sh, missing a/verify.sh"
	if runtime.GOOS != "windows" {
		if err := os.Chmod(filepath.Join(dir, "a", "conf", "secret.json"), 0o644); err != nil {
			t.Fatal(err)
		}
		want = "changed a/apply.sh, mode a/conf/secret.json, missing a/verify.sh"
	}
	if got := check(x); got != want {
		t.Errorf("after edits: %s", got)
	}
	write(t, dir, x)
	if got := check(tree(t, tor("a", "", "1"))); got != "extra b/apply.sh, extra b/conf/secret.json, extra b/rollback.sh, extra b/verify.sh, extra b/window.sh, changed manifest.json" {
		t.Errorf("a device less: %s", got)
	}
}

// The same devices give the same bytes, whatever their order, and the archive
// holds what the folder does.
func TestTar(t *testing.T) {
	var a, b bytes.Buffer
	long := tor("c", strings.Repeat("long/", 30)+"x", "3")
	if _, err := apply.WriteTar(&a, tree(t, tor("b", "", "2"), tor("a", "x", "1"), long)); err != nil {
		t.Fatal(err)
	}
	if _, err := apply.WriteTar(&b, tree(t, long, tor("a", "x", "1"), tor("b", "", "2"))); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the order of devices shows")
	}
	out := t.TempDir()
	r := tar.NewReader(&a)
	last := ""
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Name != "manifest.json" && h.Name <= last || h.ModTime.Unix() != 0 || h.Uid != 0 || h.Gid != 0 || h.Uname != "" {
			t.Errorf("after %s: %+v", last, h)
		}
		last = h.Name
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		place := filepath.Join(out, filepath.FromSlash(h.Name))
		save(t, place, string(text))
		if err := os.Chmod(place, h.FileInfo().Mode()); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "out")
	write(t, dir, tree(t, tor("b", "", "2"), tor("a", "x", "1"), long))
	if diff := cmp.Diff(listing(t, dir), listing(t, out)); diff != "" {
		t.Errorf("(-folder +archive):\n%s", diff)
	}
}

// manifestOf is the manifest of a tree of devices.
func manifestOf(t testing.TB, devices ...apply.Device) *apply.Manifest {
	t.Helper()
	w, err := apply.WriteTar(io.Discard, tree(t, devices...))
	if err != nil {
		t.Fatal(err)
	}
	return w.Manifest
}

func TestManifest(t *testing.T) {
	m := manifestOf(t, tor("b", "x", "1"), tor("a", "", "1"))
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := apply.DecodeManifest(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, got); diff != "" {
		t.Error(diff)
	}
	a := got.Devices["b"].Artifacts[3]
	want := apply.ManifestArtifact{Path: "x/b/conf/secret.json", SHA256: record.Digest([]byte("{} 1")), Mode: "0600", Step: emit.Data}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Error(diff)
	}
	good := string(b)
	for name, c := range map[string]struct{ text, want string }{
		"half":       {good[:99], "line "},
		"next major": {strings.Replace(good, `"format_version": "1.1"`, `"format_version": "2.0"`, 1), `it is "2.0", known is "1.1"`},
		"escape":     {strings.Replace(good, "x/b/conf/secret.json", "../../secret.json", 1), "is not a clean relative path"},
		"mode":       {strings.Replace(good, `"0600"`, `"7777777"`, 1), "conf/secret.json is \"7777777\""},
		"device":     {strings.Replace(good, `"a": {`, `"../a": {`, 1), `device "../a"`},
		"nothing":    {"{}", "it is not a manifest of rocec"},
	} {
		if _, err := apply.DecodeManifest([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", name, err, c.want)
		}
	}
}

func FuzzManifest(f *testing.F) {
	b, err := manifestOf(f, tor("a", "x", "1")).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"kind":"rocec manifest","format_version":"1.0","devices":{"a":{"artifacts":null}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := apply.DecodeManifest(b)
		if err != nil {
			return
		}
		for _, d := range m.Devices {
			for _, a := range d.Artifacts {
				if !filepath.IsLocal(filepath.FromSlash(a.Path)) {
					t.Fatalf("path %q leads out of the tree", a.Path)
				}
			}
		}
		if out, err := m.Encode(); err != nil || !json.Valid(out) {
			t.Fatalf("%v: %s", err, out)
		}
	})
}
