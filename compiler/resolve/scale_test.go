package resolve

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/packs"
)

// sizes are the counts of a regular fabric in three tiers, all links alike.
type sizes struct {
	pods, nodes, nics                int // nodes of a pod
	leaves, nodePorts, leafUp        int
	spines, spineDown, spineUp, core int
	planes                           int
	kind                             string
}

// Presets of known fabrics; their totals are facts that nobody here made up
// [roce-theory F].
var (
	pod256    = sizes{pods: 1, nodes: 32, nics: 8, leaves: 8, nodePorts: 32, leafUp: 32, spines: 4, spineDown: 64, kind: "rail_optimized"}
	fabric4k  = sizes{pods: 1, nodes: 512, nics: 8, leaves: 64, nodePorts: 64, leafUp: 64, spines: 32, spineDown: 128, kind: "rail_optimized"}
	meta24k   = sizes{pods: 8, nodes: 384, nics: 8, leaves: 192, nodePorts: 16, leafUp: 18, spines: 18, spineDown: 192, spineUp: 28, core: 36, kind: "leaf_spine"}
	hpn15k    = sizes{pods: 1, nodes: 1920, nics: 16, leaves: 240, nodePorts: 128, leafUp: 60, spines: 120, spineDown: 120, planes: 2, kind: "rail_optimized"}
	fabric100 = sizes{pods: 25, nodes: 512, nics: 8, leaves: 64, nodePorts: 64, leafUp: 64, spines: 64, spineDown: 64, spineUp: 64, core: 1024, kind: "rail_optimized"}
)

// source writes the fabric in the short form.
func (s sizes) source() fstest.MapFS {
	var b strings.Builder
	b.WriteString(contract)
	fmt.Fprintf(&b, `
asic "t/x" {
  vendor = "test"
  family = "spectrum-4"
  cell   = 192
  buffer = "160MiB"
  formula = "reference"
}
switch_model "t/x" {
  asic  = "t/x"
  ports = { "cumulus-linux" = "swp[1-%d]" }
  speeds = { "*" = "400G" }
  jumbo_mtu = 9216
}
`, max(s.nodePorts+s.leafUp, s.spineDown+s.spineUp, s.coreDown()))
	csv := &strings.Builder{}
	for p := range s.pods {
		fmt.Fprintf(&b, `
node "gpu%d" {
  for_each = rows("nodes%d.csv", "name")
  os       = "ubuntu/24.04"
  slot     = each.value.slot
  mgmt     = each.value.mgmt
  nic "rail[0-%d]" {
    model  = "nvidia/connectx-7"
    speed  = "400G"
    mtu    = 9000
    subnet = cidrsubnet("10.0.0.0/8", 4, nic.index)
  }
}
topology "%s" "pod%d" {
  qos    = qos.q
  mtu    = 9000
  planes = %d
  nodes  = node.gpu%d
  leaf {
    count      = %d
    model      = "t/x"
    os         = "cumulus-linux/5.11"
    node_ports = "swp[1-%d]"
    up_ports   = "swp[%d-%d]"
    cable      = { media = "dac", length = "3m" }
  }
  spine {
    count = %d
    down_ports = "swp[1-%d]"
    %s
    cable = { media = "dr", length = "40m" }
  }
}
`, p, p, s.nics-1, s.kind, p, max(s.planes, 1), p, s.leaves, s.nodePorts, s.nodePorts+1, s.nodePorts+s.leafUp, s.spines, s.spineDown, s.ups())
	}
	fsys := fstest.MapFS{}
	for p := range s.pods {
		csv.Reset()
		csv.WriteString("name,slot,mgmt\n")
		for n := range s.nodes {
			fmt.Fprintf(csv, "gpu%02d-%05d,%d,10.%d.%d.%d\n", p, n, n+1, p, n>>8, n&255)
		}
		fsys[fmt.Sprintf("nodes%d.csv", p)] = &fstest.MapFile{Data: []byte(csv.String())}
	}
	if s.core > 0 {
		var pods []string
		for p := range s.pods {
			pods = append(pods, fmt.Sprintf("topology.pod%d", p))
		}
		fmt.Fprintf(&b, `
topology "clos3" "all" {
  qos  = qos.q
  mtu  = 9000
  pods = [%s]
  core {
    count = %d
    ports = "swp[1-%d]"
    cable = { media = "dr", length = "100m" }
  }
}
`, strings.Join(pods, ", "), s.core, s.coreDown())
	}
	fsys["f.roce.hcl"] = &fstest.MapFile{Data: []byte(b.String())}
	return fsys
}

// coreDown is the number of ports of a core, 0 without one.
func (s sizes) coreDown() int {
	if s.core == 0 {
		return 0
	}
	return s.pods * s.spineUp * s.spines / s.core
}

func (s sizes) ups() string {
	if s.spineUp == 0 {
		return ""
	}
	return fmt.Sprintf(`up_ports = "swp[%d-%d]"`, s.spineDown+1, s.spineDown+s.spineUp)
}

func config(t testing.TB, fsys fstest.MapFS) *lang.Config {
	t.Helper()
	cfg, diags := lang.Load(lang.Options{FS: fsys, Packs: packs.Files()})
	if diags.HasErrors() {
		t.Fatalf("load: %+v", diags)
	}
	return cfg
}

// TestPresets counts the parts of known fabrics.
func TestPresets(t *testing.T) {
	for name, c := range map[string]struct {
		sizes                 sizes
		switches, host, links int
	}{
		"pod-256":     {pod256, 8 + 4, 256, 256},
		"fabric-4k":   {fabric4k, 64 + 32, 4096, 4096},
		"meta-24k":    {meta24k, 1536 + 144 + 36, 24_576, 27_648 + 4_032},
		"hpn-15k":     {hpn15k, 240 + 120, 30_720, 14_400},
		"fabric-100k": {fabric100, 1600 + 1600 + 1024, 102_400, 102_400 + 102_400},
	} {
		t.Run(name, func(t *testing.T) {
			f, diags := Fabric(config(t, c.sizes.source()))
			if diags.HasErrors() {
				t.Fatalf("%+v", diags)
			}
			var switches, host, links int
			for i := 1; i < len(f.Devices); i++ {
				if f.Devices[i].Kind == fabric.Switch {
					switches++
				}
			}
			for i := 1; i < len(f.Links); i++ {
				l := &f.Links[i]
				if f.Ports[l.A].Role == fabric.RoleHost || f.Ports[l.B].Role == fabric.RoleHost {
					host++
				} else {
					links++
				}
				if f.Ports[l.A].Peer != l.B || f.Ports[l.B].Peer != l.A {
					t.Fatalf("%s and %s are joined and do not face each other", f.PortName(l.A), f.PortName(l.B))
				}
			}
			if switches != c.switches || host != c.host || links != c.links {
				t.Errorf("%d switches, %d links to hosts and %d between switches; want %d, %d, %d", switches, host, links, c.switches, c.host, c.links)
			}
		})
	}
}

// Whatever the sizes, as long as they fit: every uplink and every NIC is joined
// once, and nothing else is.
func TestEveryPortOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string, most int) int { return rapid.IntRange(1, most).Draw(t, name) }
		planes, rails, groups, slots := n("planes", 2), n("rails", 3), n("groups", 3), n("slots", 3)
		s := sizes{
			pods: n("pods", 2), nics: planes * rails, leaves: groups * planes * rails, nodePorts: slots, nodes: rapid.IntRange(1, groups*slots).Draw(t, "nodes"),
			planes: planes, kind: "rail_optimized",
		}
		per, pairs := n("spines of a plane", 3), n("links of a pair", 2)
		s.spines, s.leafUp, s.spineDown = per*planes, per*pairs, pairs*groups*rails
		if rapid.Bool().Draw(t, "with a core") {
			part := n("cores of a spine", 2)
			s.core, s.spineUp = part*s.spines, part*n("links to a core", 2)
		}
		cfg, diags := lang.Load(lang.Options{FS: s.source(), Packs: packs.Files()})
		f, more := Fabric(cfg)
		if diags.HasErrors() || more.HasErrors() {
			t.Fatalf("%+v: %+v %+v", s, diags, more)
		}
		want := s.pods * (s.nodes*s.nics + s.leaves*s.leafUp + s.spines*s.spineUp)
		joined := 0
		for p := 1; p < len(f.Ports); p++ {
			if row := &f.Ports[p]; row.Link != 0 {
				joined++
				if f.Ports[row.Peer].Peer != fabric.PortID(p) || f.Ports[row.Peer].Link != row.Link {
					t.Fatalf("%s faces a port that does not face it", f.PortName(fabric.PortID(p)))
				}
			}
		}
		if len(f.Links)-1 != want || joined != 2*want {
			t.Fatalf("%+v: %d links, %d ports joined; want %d links", s, len(f.Links)-1, joined, want)
		}
	})
}

// asBuilt is the cable list of a fabric.
func asBuilt(f *fabric.Fabric) []byte {
	out := []byte(header)
	for i := 1; i < len(f.Links); i++ {
		l := &f.Links[i]
		out = fmt.Appendf(out, "%s,%s,%s,%s,%s,%dmm\n", f.Text(f.Devices[f.Ports[l.A].Device].Name), f.Text(f.Ports[l.A].Name),
			f.Text(f.Devices[f.Ports[l.B].Device].Name), f.Text(f.Ports[l.B].Name), f.Text(f.Media[l.Media].Name), l.CableMm)
	}
	return out
}

const verifyList = `
cabling "built" {
  file   = "cables.csv"
  format = "csv"
  mode   = "verify"
}
`

// A list of all cables equals the fabric, and two exchanged lines are one swap.
func TestVerifyOfAWholeFabric(t *testing.T) {
	fsys := pod256.source()
	f, _ := Fabric(config(t, fsys))
	list := asBuilt(f)
	fsys["list.roce.hcl"] = &fstest.MapFile{Data: []byte(verifyList)}
	for want := range 2 {
		if want == 1 {
			list = []byte(strings.NewReplacer("pod0-leaf2,swp7,", "pod0-leaf3,swp9,", "pod0-leaf3,swp9,", "pod0-leaf2,swp7,").Replace(string(list)))
		}
		fsys["cables.csv"] = &fstest.MapFile{Data: list}
		f, diags := Fabric(config(t, fsys))
		if diags.HasErrors() || len(f.Mismatches) != want || f.Cablings[1].Rows != 512 {
			t.Errorf("%d mismatches in %d rows, want %d: %+v", len(f.Mismatches), f.Cablings[1].Rows, want, diags)
		}
	}
}

func BenchmarkFabric100k(b *testing.B) {
	fsys := fabric100.source()
	cfg := config(b, fsys)
	run := func(name string, cfg *lang.Config) (f *fabric.Fabric) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var diags diag.List
				if f, diags = Fabric(cfg); diags.HasErrors() {
					b.Fatalf("%+v", diags[0])
				}
			}
		})
		return f
	}
	f := run("resolve", cfg)
	if f == nil { // another part was asked for
		f, _ = Fabric(cfg)
	}
	b.Run("derive", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			derive.Compute(f, derive.Options{})
		}
	})
	fsys["list.roce.hcl"], fsys["cables.csv"] = &fstest.MapFile{Data: []byte(verifyList)}, &fstest.MapFile{Data: asBuilt(f)}
	if f = run("verify", config(b, fsys)); f != nil && len(f.Mismatches) > 0 {
		b.Errorf("%d mismatches", len(f.Mismatches))
	}
}
