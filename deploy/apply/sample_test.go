package apply_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/targets/emit"
)

var src = apply.Source{RocecVersion: "0.1.0", Sources: map[string]string{"fabric.roce.hcl": record.Digest([]byte("x"))}}

// tor is a device whose files say what they hold.
func tor(name, output, text string) apply.Device {
	return apply.Device{
		Name: name, Address: "switch." + name, Emitter: "fake", Output: output,
		Intent: &intent.Device{Version: intent.Version, Name: name, Kind: intent.Switch, Model: text},
		Artifacts: []emit.Artifact{
			{Path: "rollback.sh", Mode: 0o755, Step: emit.Rollback, Run: "sudo ./rollback.sh", Bytes: []byte("back " + text)},
			{Path: "window.sh", Mode: 0o755, Step: emit.Maintenance, Run: "sudo ./window.sh", Bytes: []byte("window " + text)},
			{Path: "verify.sh", Mode: 0o755, Step: emit.Verify, Run: "./verify.sh", Bytes: []byte("verify " + text)},
			{Path: "conf/secret.json", Mode: 0o600, Step: emit.Data, Bytes: []byte("{} " + text)},
			{Path: "apply.sh", Mode: 0o755, Step: emit.Apply, Run: "sudo ./apply.sh", Bytes: []byte("apply " + text)},
		},
	}
}

// made are devices that exist already.
func made(devices ...apply.Device) apply.Devices {
	d := apply.Devices{Make: func(i int) (*apply.Device, error) { return &devices[i], nil }}
	for i := range devices {
		d.Places = append(d.Places, devices[i].Place())
	}
	return d
}

func tree(t testing.TB, devices ...apply.Device) *apply.Tree {
	t.Helper()
	x, err := apply.NewTree(src, made(devices...))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func write(t testing.TB, dir string, x *apply.Tree) bool {
	t.Helper()
	w, err := apply.WriteTree(dir, x)
	if err != nil {
		t.Fatal(err)
	}
	return w.Changed
}

// listing is every file of a folder: path, mode, content; the manifest by name only.
func listing(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		info, err := e.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if e.Name() == "manifest.json" {
			text = []byte("...")
		}
		b.WriteString(filepath.ToSlash(rel) + " " + info.Mode().String() + " " + string(text) + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// clean demands that nothing lies beside or in a folder that rocec left there.
func clean(t testing.TB, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		left, err := filepath.Glob(filepath.Join(dir, ".*rocec*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

func save(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func locked(t testing.TB, root string) *record.Lock {
	t.Helper()
	s, err := record.Open(root, "default")
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Lock(t.Context(), "apply", "0.1.0", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Unlock() })
	return l
}
