package packs_test

import (
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/packs"
)

// compile compiles a fabric with the data, and fails on any error.
func compile(t *testing.T, src string) *compiler.Result {
	t.Helper()
	cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"fabric.roce.hcl": {Data: []byte(src)}}, Packs: packs.Files()})
	var res *compiler.Result
	if !diags.HasErrors() {
		res = compiler.Compile(cfg, compiler.Options{AsOf: "2026-01-01", Rows: packs.HeadroomRows})
		diags = append(diags, res.Diags...)
	}
	for _, d := range diags {
		if d.Severity == diag.Error {
			t.Errorf("%s %s", d.Rule, d.Summary)
		}
	}
	if res == nil || res.Facts == nil {
		t.Fatalf("nothing is derived:\n%s", src)
	}
	return res
}

// trunk is two switches of a model with one cable between their first ports.
// Hosts would have to hold every model's classes, and here only the switch counts.
func trunk(model, os, qos, speed, mtu string, metres int) string {
	return fmt.Sprintf(`
switch "s" {
  for_each = toset(["a", "b"])
  model    = %q
  os       = %q
  port "Ethernet0" {
    speed   = %q
    fec     = "rs"
    mtu     = %s
    qos     = %s
    address = each.key == "a" ? "10.0.0.0/31" : "10.0.0.1/31"
  }
}
link "ab" {
  ends  = [switch.s["a"].port["Ethernet0"], switch.s["b"].port["Ethernet0"]]
  cable = { media = "fr", length = "%dm" }
}
`, model, os, speed, mtu, qos, metres)
}

// tagged is trunk with a tagged segment in place of addresses: what PCP needs.
func tagged(model, os, qos, speed string) string {
	src := trunk(model, os, qos, speed, "9000", 5)
	src = strings.Replace(src, `address = each.key == "a" ? "10.0.0.0/31" : "10.0.0.1/31"`, "tagged = segment.storage", 1)
	return src + "segment \"storage\" {\n  vlan = 711\n}\n"
}

// headroomOf is what is derived for priority 3 of the first port with a cable.
func headroomOf(t *testing.T, res *compiler.Result) derive.Headroom {
	t.Helper()
	for id := 1; id < len(res.Fabric.Ports); id++ {
		if res.Fabric.Ports[id].Link != 0 {
			return res.Facts.Port(fabric.PortID(id)).Headroom[3]
		}
	}
	t.Fatal("no port has a cable")
	return derive.Headroom{}
}

// TestSpectrumHeadroom holds the data of the chips against worked numbers of
// sonic-swss's buffer_headroom_mellanox.lua, as images ship it (1024 B of lossless
// MTU, half small packets), for a port MTU of 9100 and 100 Gb/s over 5 m.
func TestSpectrumHeadroom(t *testing.T) {
	for _, c := range []struct {
		model       string
		until, from uint32 // xoff up to 202511, and from 202605
	}{
		{"nvidia/sn2700", 41984, 44032},
		{"nvidia/sn3700c", 46080, 48128},
		{"nvidia/sn4600c", 46080, 48128},
		{"nvidia/sn5400", 47104, 49152},
	} {
		for os, want := range map[string]uint32{"sonic/202511": c.until, "sonic/202605": c.from} {
			h := headroomOf(t, compile(t, trunk(c.model, os, "qos.nvidia_roce", "100G", "9100", 5)))
			if h.Source != derive.SourceFormula || h.Xoff != want {
				t.Errorf("%s %s: source %d, xoff %d, want %d", c.model, os, h.Source, h.Xoff, want)
			}
		}
	}
}

// TestTableHeadroom holds the keys of platforms against rows of their images.
func TestTableHeadroom(t *testing.T) {
	for _, c := range []struct {
		model, speed string
		metres       int
		xoff         uint32
	}{
		{"dell/z9332f-on", "400G", 40, 201930},
		{"dell/z9100-on", "100G", 5, 165568},
		{"dell/s5232f-on", "100G", 300, 272640},
		{"dell/z9864f-on", "800G", 5, 729488},
		{"dell/z9664f-on", "400G", 5, 0},
		{"arista/7050cx3-32s", "100G", 5, 0},
		{"arista/7060cx-32s", "100G", 5, 0},
		{"arista/7260cx3-64", "100G", 5, 0},
		{"celestica/ds3000", "100G", 5, 0},
	} {
		h := headroomOf(t, compile(t, trunk(c.model, "sonic/202511", "qos.nvidia_roce", c.speed, "9100", c.metres)))
		if h.Source != derive.SourceTable || c.xoff != 0 && h.Xoff != c.xoff {
			t.Errorf("%s %s over %d m: source %d, xoff %d, want %d", c.model, c.speed, c.metres, h.Source, h.Xoff, c.xoff)
		}
	}
}

// TestContractsCompile puts every contract on both ends of a cable.
func TestContractsCompile(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(packs.Index()["qos"])) {
		t.Run(name, func(t *testing.T) {
			compile(t, tagged("nvidia/sn3700", "sonic/202511", "qos."+name, "100G"))
		})
	}
	t.Run("keep", func(t *testing.T) {
		res := compile(t, tagged("nvidia/sn3700", "sonic/202511", `"keep"`, "100G"))
		p := &res.Fabric.Profiles[res.Fabric.Ports[1].Profile]
		if p.PFC != 1<<3|1<<4 || p.DSCP[3] != 3 || p.DSCP[26] != 1 || p.DSCP[8] != 0 || p.DSCP[46] != 5 {
			t.Errorf("the default of SONiC is PFC on 3 and 4 and DSCP 26 on class 1, not %+v", p)
		}
	})
}

// splitOf compiles a switch of a model with one port split.
func splitOf(t *testing.T, model, os, port, breakout string) *fabric.Fabric {
	t.Helper()
	return compile(t, fmt.Sprintf(`
switch "s" {
  model = %q
  os    = %q
  port %q { breakout = %q }
}
`, model, os, port, breakout)).Fabric
}

// TestBreakouts holds the data of split ports against platform.json of their images.
func TestBreakouts(t *testing.T) {
	for _, c := range []struct {
		model, port, breakout string
		want                  string // mode, then name, lanes and alias of the last child
	}{
		{"nvidia/sn3700", "Ethernet4", "4x50G", "4x50G[25G,10G,1G] Ethernet7 7 etp2d"},
		{"nvidia/sn4700", "Ethernet248", "4x25G", "4x25G(4)[10G,1G] Ethernet251 251 etp32d"},
		{"nvidia/sn4600c", "Ethernet4", "2x50G", "2x50G[25G,10G,1G] Ethernet6 10,11 etp2b"},
		{"nvidia/sn5600", "Ethernet504", "2x400G", "2x400G[200G,100G,50G,40G,25G,10G] Ethernet508 508,509,510,511 etp64b"},
		{"dell/z9332f-on", "Ethernet8", "2x200G", "2x200G[100G,40G] Ethernet12 45,46,47,48 etp2b"},
		{"dell/z9864f-on", "Ethernet8", "4x100G", "4x100G(8) Ethernet14 23,24 etp2d"},
		{"dell/s5248f-on", "Ethernet76", "4x10G", "4x25G[10G] Ethernet79 44 Eth56/4"},
		{"arista/7060dx5-64s", "Ethernet8", "8x50G", "8x50G[40G,25G,10G] Ethernet15 16 Ethernet2/8"},
		{"edgecore/as7816-64x", "Ethernet120", "4x25G", "4x25G Ethernet123 248 Eth31/4(Port31)"},
		{"celestica/silverstone", "Ethernet248", "2x100G", "2x100G Ethernet252 221,222,223,224 Eth32/5"},
	} {
		f := splitOf(t, c.model, "sonic/202605", c.port, c.breakout)
		if len(f.Breakouts) != 1 {
			t.Fatalf("%s: %d splits", c.model, len(f.Breakouts))
		}
		b := f.Breakouts[0]
		if b.Mode == 0 {
			t.Errorf("%s %s: no data", c.model, c.port)
			continue
		}
		last := len(b.Children) - 1
		_, name, _ := strings.Cut(f.PortName(b.Children[last]), "/")
		if got := strings.Join([]string{f.Text(b.Mode), name, f.Text(b.Parts[last].Lanes), f.Text(b.Parts[last].Alias)}, " "); got != c.want {
			t.Errorf("%s %s split %s is %s, want %s", c.model, c.port, c.breakout, got, c.want)
		}
	}
}

// TestEveryBreakout splits every port of every model in every way its data have:
// a range with a lane or an alias too few would be an error.
func TestEveryBreakout(t *testing.T) {
	ports := regexp.MustCompile(`(?m)^    "(Ethernet[^"]*)" = \{\n      lanes`)
	modes := regexp.MustCompile(`(?m)^        "([1-9]x[0-9]+G)[^"]*" +=`)
	models := 0
	for model, file := range packs.Index()["switch_model"] {
		text, err := fs.ReadFile(packs.Files(), file)
		if err != nil {
			t.Fatal(err)
		}
		_, block, _ := strings.Cut(string(text), "switch_model \""+model+"\" {\n")
		block, _, _ = strings.Cut(block, "\n}\n")
		at := ports.FindStringSubmatch(block)
		if at == nil {
			continue
		}
		models++
		for _, m := range modes.FindAllStringSubmatch(block, -1) {
			f := splitOf(t, model, "sonic/202605", at[1], m[1])
			for i := range f.Breakouts {
				if f.Breakouts[i].Mode == 0 {
					t.Errorf("%s: %s of %s has no data", model, m[1], f.Text(f.Breakouts[i].Parent))
				}
			}
		}
	}
	if models < 20 {
		t.Errorf("%d models have data on split ports", models)
	}
}

// TestEnterpriseBreakouts: Enterprise SONiC names the children of a split port as
// githedgehog/fabric has them, pkg/ctrl/switchprofile, BaseNOSName and Offsets, and
// its target knows their cage, NOSName there; where ports are named by cage, so are
// they.
func TestEnterpriseBreakouts(t *testing.T) {
	for _, c := range []struct{ model, port, breakout, want string }{
		{"dell/z9332f-on", "Ethernet8", "4x100G", "Ethernet8 Ethernet10 Ethernet12 Ethernet14 cage 2"},
		{"dell/z9332f-on", "Ethernet248", "2x200G", "Ethernet248 Ethernet252 cage 32"},
		{"dell/s5248f-on", "Ethernet48", "4x25G", "Ethernet48 Ethernet49 Ethernet50 Ethernet51 cage 49"},
		{"dell/s5232f-on", "Ethernet120", "2x50G", "Ethernet120 Ethernet122 cage 31"},
		{"dell/z9664f-on", "Eth1/5", "2x200G", "Eth1/5/1 Eth1/5/2"},
	} {
		f := splitOf(t, c.model, "sonic-enterprise/4.2", c.port, c.breakout)
		var got []string
		for _, b := range f.Breakouts {
			for _, p := range b.Children {
				_, name, _ := strings.Cut(f.PortName(p), "/")
				got = append(got, name)
			}
			if len(b.Parts) > 0 {
				got = append(got, fmt.Sprint("cage ", b.Parts[0].Index))
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s %s split %s is %s, want %s", c.model, c.port, c.breakout, text, c.want)
		}
	}
}
