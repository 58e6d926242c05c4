package resolve

import (
	"fmt"
	"runtime"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
)

// TestFoldedModules: NICs that say the same in several modules are told the same,
// unless the defaults of one module say more.
func TestFoldedModules(t *testing.T) {
	host := func(more string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(more + `
node "a" {
  os   = "ubuntu/24.04"
  name = var.name
  nic "rail[0-1]" {
    model = "nvidia/connectx-7"
  }
}
variable "name" {
  type = string
}
`)}
	}
	call := func(name, source string) string {
		return fmt.Sprintf("module %q {\n  source = %q\n  name = %q\n}\n", name, source, name)
	}
	for _, c := range []struct {
		name, more string
		want       map[string]uint16
	}{
		{"none", "", map[string]uint16{"u": 1500, "v": 1500, "w": 1500}},
		{"defaults", "defaults \"nic\" {\n  mtu = 4200\n}\n", map[string]uint16{"u": 1500, "v": 1500, "w": 4200}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, ds := Fabric(config(t, fstest.MapFS{
				"a.roce.hcl":       {Data: []byte(call("u", "./plain") + call("v", "./plain") + call("w", "./more"))},
				"plain/a.roce.hcl": host(""), "more/a.roce.hcl": host(c.more),
			}))
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			got := map[string]uint16{}
			for i := range f.Ports[1:] {
				p := &f.Ports[i+1]
				got[f.Text(f.Devices[p.Device].Name)] = p.MTU
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if n := len(f.NICs) - 1; n != 6 {
				t.Errorf("%d NICs, want 6", n)
			}
		})
	}
}

// TestThreads: the rows are the same, to the last number, on one thread and on
// several.
func TestThreads(t *testing.T) {
	files := fstest.MapFS{}
	const devices, ports = 40, 128 // more blocks than one part has
	for d := range devices {
		text := fmt.Sprintf("switch \"s%d\" {\n  manage = \"none\"\n", d)
		for p := range ports {
			text += fmt.Sprintf("  port \"swp%d\" {\n    mtu = %d\n    address = \"10.%d.%d.1/24\"\n  }\n", p+1, 1500+p%7+d%3, d, p)
		}
		files[fmt.Sprintf("%02d.roce.hcl", d)] = &fstest.MapFile{Data: []byte(text + "}\n")}
	}
	cfg := config(t, files)
	if len(cfg.Decls) <= leastPart {
		t.Fatalf("%d blocks make one part", len(cfg.Decls))
	}
	read := func(threads int) *fabric.Fabric {
		before := runtime.GOMAXPROCS(threads)
		defer runtime.GOMAXPROCS(before)
		f, ds := Fabric(cfg)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		return f
	}
	one, eight := read(1), read(8)
	if fmt.Sprint(one.Decls, one.Layers, one.Ports, one.Ifaces, one.Prefixes, one.Profiles) != fmt.Sprint(eight.Decls, eight.Layers, eight.Ports, eight.Ifaces, eight.Prefixes, eight.Profiles) {
		t.Error("eight threads give other rows than one")
	}
	for id := range cfg.Decls {
		for _, s := range cfg.SpansOf(lang.DeclID(id)) {
			if at, ok := eight.Spans.Find(fabric.DeclID(id), s.Num); !ok || at.File != cfg.Decls[id].Span.File || at.Start != s.Start || at.Len != s.Len {
				t.Fatalf("decl %d: %s was written at %d, %d bytes, and is found at %v", id, s.Num.Name(), s.Start, s.Len, at)
			}
		}
	}
}
