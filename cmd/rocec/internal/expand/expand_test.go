package expand_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/cmd/rocec/internal/expand"
	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/packs"
)

const head = `
qos "roce" {
  trust = "dscp"
  class "rdma" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = 50
  }
  class "default" {
    priority  = 0
    bandwidth = 50
    default   = true
  }
}
segment "s" {
  vlan   = 100
  subnet = "10.9.0.0/24"
}
`

func nodes(n, nics int, more string) string {
	var slots []string
	for i := range n {
		slots = append(slots, fmt.Sprintf("n%d = %d", i+1, i+1))
	}
	return fmt.Sprintf(head+`
node "n" {
  for_each = { %s }
  os       = "ubuntu/24.04"
  slot     = each.value
  nic "p[0-%d]" {
    model = "nvidia/connectx-7"
    %s
  }
}
`, strings.Join(slots, ", "), nics-1, more)
}

const leaf = `
    model = "nvidia/sn5600"
    os    = "sonic/202505"
    speed = "400G"
    cable = { media = "dac", length = "2m" }`

var fabrics = map[string]string{
	"generated switches that others refer to": nodes(4, 2, `speed = "400G"`) + `
locals {
  second = topology.t.leaf[1]
  first  = topology.t.leaf["t-leaf0"].port["Ethernet8"]
  one    = topology.t.spine[length(topology.t.leaf) - 2]
}
topology "leaf_spine" "t" {
  nodes = node.n
  qos   = qos.roce
  leaf {
    count      = 2` + leaf + `
    node_ports = "Ethernet[0-24:8]"
    up_ports   = "Ethernet[256-264:8]"
    subnet     = cidrsubnet("10.1.0.0/16", 8, leaf.index)
  }
  spine {
    count = 1
    ports = "Ethernet[0-24:8]"
    cable = { media = "dr", length = "10m" }
  }
}
rollout {
  wave "canary" {
    select = [local.one, local.second]
  }
  wave "leaves" {
    select = topology.t.leaf
  }
  wave "rest" {}
}`,
	"rail_optimized, an address on each port": nodes(3, 2, "") + `
topology "rail_optimized" "t" {
  nodes = node.n
  qos   = qos.roce
  mtu   = 4200
  leaf {
    count         = 4` + leaf + `
    name          = "r${leaf.rail}-g${leaf.group}"
    node_ports    = "Ethernet[0-8:8]"
    up_ports      = "Ethernet[256-280:8]"
    subnet        = cidrsubnet("10.1.0.0/16", 8, leaf.index)
    addressing    = "per_port"
    fabric_subnet = "10.2.0.0/24"
    loopback      = "10.3.0.0/24"
    vrf           = "Vrfgpu"
  }
  spine {
    count    = 2
    ports    = "Ethernet[0-56:8]"
    loopback = "10.4.0.0/24"
    vrf      = "Vrfgpu"
    speed    = "800G"
    cable    = { media = "dr", length = leaf.index < 2 ? "10m" : "20m" }
  }
}`,
	"leaf_spine, a subnet for each leaf": nodes(4, 2, `speed = "400G"`) + `
topology "leaf_spine" "t" {
  nodes = node.n
  qos   = qos.roce
  leaf {
    count      = 2` + leaf + `
    node_ports = "Ethernet[0-24:8]"
    up_ports   = "Ethernet[256-264:8]"
    subnet     = cidrsubnet("10.1.0.0/16", 8, leaf.index)
    port "Ethernet[8-16:8]" {
      except "Ethernet8" {
        fec    = "rs"
        reason = "as found"
      }
    }
  }
  spine {
    count = 1
    ports = "Ethernet[0-24:8]"
    cable = { media = "dr", length = "10m" }
  }
}`,
	"segments, and one NIC elsewhere": nodes(2, 1, `untagged = segment.s`) + `
node "odd" {
  os   = "ubuntu/24.04"
  slot = 3
  nic "p0" {
    model  = "nvidia/connectx-7"
    untagged = segment.s
    at     = topology.t.leaf[0].port["Ethernet80"]
  }
}
topology "leaf_spine" "t" {
  nodes = concat(values(node.n), [node.odd])
  qos   = qos.roce
  leaf {
    count      = 1` + leaf + `
    node_ports = "Ethernet[0-24:8]"
    port "Ethernet[0-24:8]" {
      untagged = segment.s
    }
    port "Ethernet80" {
      untagged = segment.s
    }
  }
}`,
	"clos3 over pods": nodes(2, 1, "") + `
topology "leaf_spine" "pod" {
  for_each = { a = ["n1"], b = ["n2"] }
  nodes    = [for n in each.value : node.n[n]]
  nics     = "p0"
  qos      = qos.roce
  leaf {
    count      = 1` + leaf + `
    node_ports = "Ethernet[0-8:8]"
    up_ports   = "Ethernet[256-264:8]"
  }
  spine {
    count      = 2
    down_ports = "Ethernet0"
    up_ports   = "Ethernet[8-16:8]"
  }
}
topology "clos3" "core" {
  pods = topology.pod
  qos  = qos.roce
  core {
    count = 4
    model = "nvidia/sn5600"
    os    = "sonic/202505"
    ports = "Ethernet[0-8:8]"
    cable = { media = "dr", length = "100m" }
  }
}`,
	"dual_tor": nodes(2, 2, "") + `
topology "dual_tor" "t" {
  nodes = node.n
  qos   = qos.roce
  leaf {
    count      = 2` + leaf + `
    node_ports = "Ethernet[0-8:8]"
  }
}`,
	"ring": nodes(1, 1, "") + `
topology "ring" "t" {
  qos = qos.roce
  leaf {
    count    = 3` + leaf + `
    up_ports = "Ethernet[0-24:8]"
  }
}`,
	"full_mesh of switches that are written": nodes(1, 1, "") + `
switch "s" {
  for_each = toset(["x", "y", "z"])
  model    = "nvidia/sn5600"
  os       = "sonic/202505"
}
topology "full_mesh" "t" {
  qos = qos.roce
  leaf {
    switches = switch.s
    up_ports = "Ethernet[0-8:8]"
    link {
      speed = "400G"
      cable = { media = "dac", length = "2m" }
    }
  }
}`,
}

func compile(t *testing.T, files fs.FS) (*lang.Config, *compiler.Result) {
	t.Helper()
	cfg, diags := lang.Load(lang.Options{FS: files, Packs: packs.Files()})
	if diags.HasErrors() {
		t.Fatalf("load: %v", diags)
	}
	res := compiler.Compile(cfg, compiler.Options{Rows: packs.HeadroomRows})
	if res.Fabric == nil {
		t.Fatalf("compile: %v", res.Diags)
	}
	return cfg, res
}

// told is everything that devices are told, by name.
func told(t *testing.T, res *compiler.Result) map[string]string {
	t.Helper()
	all := map[string]string{}
	f := res.Fabric
	for d := 1; d < len(f.Devices); d++ {
		id := fabric.DeviceID(d)
		name := f.Text(f.Devices[d].Name)
		place := f.Devices[d].Place
		place.Topology = 0
		all[name] = fmt.Sprintf("%s %+v", f.Text(f.Models[f.Devices[d].Model].Name), place)
		if dev := res.Intent(id); dev != nil {
			for path, v := range dev.Fields {
				if v.State != intent.Unmanaged {
					all[name+" "+path.String()] = v.Text
				}
			}
		}
	}
	for l := 1; l < len(f.Links); l++ {
		link := &f.Links[l]
		all[f.PortName(link.A)+" - "+f.PortName(link.B)] = fmt.Sprintf("%s %d mm", f.Text(f.Media[link.Media].Name), link.CableMm)
	}
	return all
}

// wrong is the errors of a fabric.
func wrong(res *compiler.Result) (list []string) {
	for _, d := range res.Diags {
		if d.Severity == diag.Error {
			list = append(list, d.Summary)
		}
	}
	return list
}

// TestModules: a topology of a module is written out for each call, and into the
// module where that is called once.
func TestModules(t *testing.T) {
	for _, name := range []string{"rail_optimized, an address on each port", "leaf_spine, a subnet for each leaf"} {
		pod := strings.NewReplacer(`node "n" {`, `variable "of" {}`+"\n"+`node "n" {`, "  slot     = each.value\n", "  slot     = each.value\n  name     = \"${var.of}${each.key}\"\n").Replace(fabrics[name])
		call := func(of string) string {
			return fmt.Sprintf("module %q {\n  source = \"./pod\"\n  of     = %[1]q\n}\n", of)
		}
		files := fstest.MapFS{"f.roce.hcl": {Data: []byte(call("a"))}, "pod/p.roce.hcl": {Data: []byte(pod)}}
		read := func(name string) ([]byte, error) { return fs.ReadFile(files, name) }
		cfg, res := compile(t, files)
		changes, err := expand.Topologies(cfg, res.Fabric)
		if err != nil {
			t.Fatal(err)
		}
		text, err := expand.Text(cfg, changes, read)
		if err != nil || !strings.Contains(text, `"t", pod/p.roce.hcl:`) || !strings.Contains(text, ", as of module.a\n") || strings.Contains(text, "= module.") {
			t.Errorf("%v\n%s", err, text)
		}
		out, err := expand.Files(cfg, res.Fabric, changes, read)
		if err != nil {
			t.Fatal(err)
		}
		_, again := compile(t, fstest.MapFS{"f.roce.hcl": files["f.roce.hcl"], "pod/p.roce.hcl": {Data: out["pod/p.roce.hcl"]}})
		if d := cmp.Diff(told(t, res), told(t, again)); d != "" {
			t.Errorf("-before +after:\n%s\n%s", d, out["pod/p.roce.hcl"])
		}

		files["f.roce.hcl"] = &fstest.MapFile{Data: []byte(call("a") + call("b"))}
		twice := strings.NewReplacer("  leaf {\n", "  leaf {\n    name = \"${var.of}-l${leaf.index}\"\n", "  spine {\n", "  spine {\n    name = \"${var.of}-s${spine.index}\"\n",
			`    name          = "r${leaf.rail}-g${leaf.group}"`+"\n", "").Replace(pod)
		files["pod/p.roce.hcl"] = &fstest.MapFile{Data: []byte(twice)}
		cfg, res = compile(t, files)
		if changes, err = expand.Topologies(cfg, res.Fabric); err != nil {
			t.Fatal(err)
		}
		if text, err = expand.Text(cfg, changes, read); err != nil || !strings.Contains(text, `switch "a-l0"`) || !strings.Contains(text, `switch "b-l0"`) {
			t.Errorf("%v\n%s", err, text)
		}
		if _, err = expand.Files(cfg, res.Fabric, changes, read); err == nil || !strings.Contains(err.Error(), "which module.a and module.b share") {
			t.Errorf("it is written into the module of two calls: %v", err)
		}
	}
}

// TestSameFabric: what is written out tells every device the same, and has no
// topology left.
func TestSameFabric(t *testing.T) {
	for name, source := range fabrics {
		t.Run(name, func(t *testing.T) {
			const file = "f.roce.hcl"
			src := []byte(source)
			cfg, res := compile(t, fstest.MapFS{file: {Data: src}})
			read := func(string) ([]byte, error) { return src, nil }
			changes, err := expand.Topologies(cfg, res.Fabric)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := expand.Text(cfg, changes, read); err != nil {
				t.Error(err)
			}
			files, err := expand.Files(cfg, res.Fabric, changes, read)
			if err != nil {
				t.Fatal(err)
			}
			text := string(files[file])
			if strings.Contains(text, "topology \"") || !strings.Contains(text, "link \"") {
				t.Errorf("it is not written out:\n%s", text)
			}
			_, again := compile(t, fstest.MapFS{file: {Data: []byte(text)}})
			if d := cmp.Diff(told(t, res), told(t, again)); d != "" {
				t.Errorf("-before +after:\n%s\n%s", d, text)
			}
			if d := cmp.Diff(wrong(res), wrong(again)); d != "" {
				t.Errorf("-before +after:\n%s\n%s", d, text)
			}
		})
	}
}
