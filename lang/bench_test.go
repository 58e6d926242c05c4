package lang

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// writtenOut is a fabric without expansion: nodes of 8 nics, and a link for
// each nic, 100 nodes to a file.
func writtenOut(nodes int) (fstest.MapFS, int) {
	files := fstest.MapFS{}
	blocks := 0
	var head strings.Builder
	head.WriteString("qos \"roce\" {\n  class \"default\" {\n    priority = 0\n    default = true\n  }\n}\nsegment \"storage\" {\n  vlan = 100\n  qos = qos.roce\n}\n")
	for s := range 8 {
		fmt.Fprintf(&head, "switch \"leaf%d\" {\n  os = \"sonic/202405\"\n}\n", s)
	}
	files["fabric.roce.hcl"] = &fstest.MapFile{Data: []byte(head.String())}
	for from := 0; from < nodes; from += 100 {
		var b strings.Builder
		for n := from; n < min(nodes, from+100); n++ {
			fmt.Fprintf(&b, "node \"gpu%05d\" {\n  os   = \"ubuntu/24.04\"\n  rack = \"r%d\"\n  slot = %d\n", n, n/16, n+1)
			for i := range 8 {
				fmt.Fprintf(&b, `  nic "rail%d" {
    model      = "nvidia/connectx-7"
    ifname     = "enp%ds0np0"
    pci        = "0000:%02x:00.0"
    speed      = "400G"
    mtu        = 9000
    fec        = "rs"
    rail       = %d
    link_layer = "ethernet"
    segment    = segment.storage
    qos        = qos.roce
  }
`, i, i+16, i+16, i)
			}
			b.WriteString("}\n")
			for i := range 8 {
				fmt.Fprintf(&b, `link "l%05d_%d" {
  ends  = [node.gpu%05d.nic["rail%d"], switch.leaf%d.port["Ethernet%d"]]
  cable = { media = "dac", length = "3m" }
}
`, n, i, n, i, i, n*8)
			}
			blocks += 17
		}
		files[fmt.Sprintf("nodes%05d.roce.hcl", from)] = &fstest.MapFile{Data: []byte(b.String())}
	}
	return files, blocks
}

// BenchmarkWritten compares Load with the parser alone on a fabric of 40,000
// nic blocks and as many links.
func BenchmarkWritten(b *testing.B) {
	files, blocks := writtenOut(5000)
	packs := fstest.MapFS{
		"index.json": {Data: []byte(`{"nvidia/connectx-7":"m.roce.hcl","dac":"m.roce.hcl"}`)},
		"m.roce.hcl": {Data: []byte("nic_model \"nvidia/connectx-7\" {\n  vendor = \"nvidia\"\n  driver = \"mlx5\"\n}\nmedia \"dac\" {\n  class = \"copper\"\n}\n")},
	}
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for name, f := range files {
				if _, diags := hclsyntax.ParseConfig(f.Data, name, hcl.InitialPos); diags.HasErrors() {
					b.Fatal(diags)
				}
			}
		}
		perBlock(b, blocks)
	})
	b.Run("load", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			mustLoad(b, Options{FS: files, Packs: packs})
		}
		perBlock(b, blocks)
	})
}

func perBlock(b *testing.B, blocks int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(blocks), "ns/block")
}

// BenchmarkSmallest is what a fabric of one switch costs.
func BenchmarkSmallest(b *testing.B) {
	files := fstest.MapFS{"a.roce.hcl": {Data: []byte("switch \"tor\" {\n  os = \"sonic/202405\"\n}\n")}}
	for b.Loop() {
		mustLoad(b, Options{FS: files})
	}
}

// BenchmarkExpanded is for_each over 5,000 nodes with 8 nics each.
func BenchmarkExpanded(b *testing.B) {
	files := fstest.MapFS{"a.roce.hcl": {Data: []byte(`
segment "s" {
  for_each = { 0 = 10, 1 = 11 }
  vlan     = each.value
}
node "gpu" {
  for_each = toset(expand_range("gpu[00001-05000]"))
  os       = "ubuntu/24.04"
  slot     = tonumber(trimprefix(each.key, "gpu"))
  nic "rail[0-7]" {
    model   = "x"
    speed   = "400G"
    mtu     = 9000
    segment = segment.s[nic.index % 2]
  }
}
nic_model "x" {
  vendor = "x"
  driver = "mlx5"
}
`)}}
	for b.Loop() {
		mustLoad(b, Options{FS: files})
	}
	perBlock(b, 45000)
}

// inventory is a table of nodes as for_each = rows(...) reads it, and a node block whose NICs use `nic`, `each` or neither.
func inventory(nodes int, nic string) fstest.MapFS {
	var b strings.Builder
	b.WriteString("name,rack,slot,mgmt\n")
	for i := range nodes {
		fmt.Fprintf(&b, "gpu%05d,r%d,%d,10.0.%d.%d\n", i, i/4, i+1, i/250, i%250+1)
	}
	return fstest.MapFS{
		"nodes.csv": {Data: []byte(b.String())},
		"a.roce.hcl": {Data: []byte(`
node "gpu" {
  for_each = rows("nodes.csv", "name")
  os       = "ubuntu/24.04"
  rack     = each.value.rack
  mgmt     = each.value.mgmt
  slot     = each.value.slot
  nic "rail[0-7]" {
    speed = "400G"
    ` + nic + `
  }
}
`)},
	}
}

// BenchmarkRows is for_each over the 12,800 nodes of a table. The budget is 20 us a node, and 5 us more for each NIC with attributes of its own.
func BenchmarkRows(b *testing.B) {
	const nodes = 12800
	for _, c := range []struct{ name, nic string }{
		{"plain", ""},
		{"nic", `subnet = cidrsubnet("10.64.0.0/13", 8, nic.index)`},
		{"each", `ifname = "${each.value.rack}-${nic.key}"`},
	} {
		files := inventory(nodes, c.nic)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mustLoad(b, Options{FS: files})
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/nodes, "us/node")
		})
	}
}

// BenchmarkTopology is a fabric of 100,000 NICs in its compact form: 25 pods of 64 leaves and 64 spines under 1024 cores.
func BenchmarkTopology(b *testing.B) {
	var nodes strings.Builder
	for pod := range 25 {
		fmt.Fprintf(&nodes, `
node "p%02d" {
  for_each = toset(expand_range("p%02d-gpu[001-512]"))
  os       = "ubuntu/24.04"
  slot     = tonumber(substr(each.key, -3, 3))
  nic "rail[0-7]" {
    speed = "400G"
    rail  = nic.index
  }
}
`, pod, pod)
	}
	for _, c := range []struct{ name, cable string }{{"one cable", `{ media = "dr", length = "40m" }`}, {"cable of both ends", `{ media = "dr", length = "${20 + leaf.index}m" }`}} {
		files := fstest.MapFS{"a.roce.hcl": {Data: []byte(nodes.String() + `
locals {
  nodes = { ` + func() (s string) {
			for pod := range 25 {
				s += fmt.Sprintf("p%02d = node.p%02d, ", pod, pod)
			}
			return s
		}() + ` }
}
topology "rail_optimized" "pod" {
  for_each = local.nodes
  nodes    = each.value
  leaf {
    count         = 64
    os            = "sonic/202405"
    name          = "${each.key}-leaf${leaf.index}"
    node_ports    = "Ethernet[0-504:8]"
    up_ports      = "Ethernet[512-1016:8]"
    loopback      = "10.${leaf.pod}.0.${leaf.index}/32"
    subnet        = cidrsubnet("10.64.0.0/13", 8, leaf.rail)
    fabric_subnet = "10.253.0.0/22"
  }
  spine {
    count      = 64
    os         = "sonic/202405"
    down_ports = "Ethernet[0-504:8]"
    up_ports   = "Ethernet[512-1016:8]"
    cable      = ` + c.cable + `
  }
}
topology "clos3" "dc" {
  pods = topology.pod
  core {
    count = 1024
    os    = "sonic/202405"
    ports = "Ethernet[0-792:8]"
    role  = "core-${core.group}"
  }
}
media "dr" {
  class = "singlemode"
}
`)}}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mustLoad(b, Options{FS: files})
			}
		})
	}
}
