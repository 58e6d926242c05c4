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
    device     = "enp%ds0np0"
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
