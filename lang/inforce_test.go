package lang

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/lang/schema"
)

const inForceText = `
defaults "node" {
  rack    = "r9"
  cluster = null
}
defaults "nic" {
  driver = "24.10"
}
defaults "switch" {
  site = "far"
}
node "h" {
  for_each = { a = 1, b = 2, c = 3 }
  slot     = each.value
  os       = "ubuntu/24.04"
  cluster  = each.key == "c" ? "own" : null
  except "a" {
    reason = "r"
    slot   = 9
    nic "p0" {
      driver = "23.04"
    }
  }
  except "b" {
    reason = "r"
    rack   = each.key == "b" ? null : "no"
    vars   = { n = self.slot + 40 }
    nic "p[0-1]" {
      pci    = "0000:0${nic.index}:00.0"
      driver = self.name == "b" ? "23.05" : null
    }
  }
  nic "p[0-2]" {
    model = "nvidia/connectx-7"
    except "p2" {
      reason = "r"
      driver = "23.10-${nic.index}"
    }
  }
}
switch "s" {
  model = "nvidia/sn3700"
  os    = "sonic/202505"
  mgmt  = "192.0.2.${node.h["a"].slot}"
}
output "x" {
  value = join(" ", [
    node.h["a"].slot, node.h["b"].slot, node.h["a"].rack, node.h["b"].rack, node.h["c"].cluster, node.h["a"].cluster == null ? "none" : "some",
    node.h["a"].nic["p0"].driver, node.h["a"].nic["p1"].driver, node.h["a"].nic["p2"].driver, node.h["b"].nic["p1"].driver, node.h["b"].nic["p1"].pci,
    switch.s.site, switch.s.mgmt, node.h["b"].vars.n,
  ])
}
`

// TestHandlesInForce: what is read through a reference is what counts among the block, its
// exceptions and the defaults, wherever those are written.
func TestHandlesInForce(t *testing.T) {
	want := `"9 2 r9 r9 own none 23.04 24.10 23.10-2 23.05 0000:01:00.0 far 192.0.2.9 42"`
	value := func(files fstest.MapFS) string {
		t.Helper()
		cfg, diags := Load(Options{FS: files})
		for _, d := range diags {
			if !strings.Contains(d.Summary, "model") {
				t.Error(d.Summary, d.Labels)
			}
		}
		for _, o := range cfg.Outputs {
			return string(o.JSON)
		}
		return ""
	}
	if got := value(fstest.MapFS{"a.roce.hcl": {Data: []byte(inForceText)}}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// In other files, the other way around.
	files := fstest.MapFS{}
	for i, b := range strings.SplitAfter(inForceText, "\n}\n") {
		files[string(rune('z'-i))+".roce.hcl"] = &fstest.MapFile{Data: []byte(b)}
	}
	if got := value(files); got != want {
		t.Errorf("in other files: %s, want %s", got, want)
	}
}

// TestDefaultsAround: a handle in a module reads the defaults of the module around it,
// though that has no expression of its own.
func TestDefaultsAround(t *testing.T) {
	cfg, diags := Load(Options{FS: fstest.MapFS{
		"a.roce.hcl":   {Data: []byte("defaults \"node\" {\n  rack = \"r9\"\n}\nmodule \"m\" {\n  source = \"./m\"\n}\n")},
		"m/m.roce.hcl": {Data: []byte("node \"h\" {\n  os   = \"ubuntu/24.04\"\n  role = self.rack\n}\n")},
	}})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	for _, b := range cfg.Top {
		if v := cfg.Attr(b, schema.ARole); cfg.Blocks[b].Kind == schema.Node && cfg.Text(v) != "r9" {
			t.Errorf("role is %q", cfg.Text(v))
		}
	}
}

// TestHandleOfANameInTheMaking: which exception holds is not known while the name is made.
func TestHandleOfANameInTheMaking(t *testing.T) {
	_, diags := Load(Options{FS: fstest.MapFS{"a.roce.hcl": {Data: []byte(`
node "h" {
  for_each = { a = 1 }
  name     = "h${self.slot}"
  slot     = each.value
  except "h1" {
    slot = 2
  }
}
`)}}})
	for _, d := range diags {
		if strings.Contains(d.Summary, "is what an `except` may change") {
			return
		}
	}
	t.Error(diags)
}
