package lint_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/packs"
)

// pod is a fabric of two tiers in which most ports and links are alike.
const pod = `
node "gpu" {
  for_each = toset(expand_range("gpu[1-8]"))
  os       = "ubuntu/24.04"
  slot     = tonumber(substr(each.key, 3, 1))
  nic "rail[0-1]" {
    model = "nvidia/connectx-6-dx"
    speed = "100G"
    mtu   = 9000
  }
}
segment "storage" {
  vlan = 100
  qos  = qos.roce
}
segment "office" {
  vlan = 10
}
topology "rail_optimized" "pod" {
  qos   = qos.roce
  nodes = node.gpu
  leaf {
    count      = 2
    model      = "nvidia/sn3700"
    os         = "sonic/202505"
    node_ports = "Ethernet[0-28:4]"
    up_ports   = "Ethernet[64-92:4]"
    subnet     = "10.${1 + leaf.index}.0.0/24"
    link {
      speed = "100G"
      cable = { media = "dac", length = "3m" }
    }
    port "Ethernet124" {
      qos    = qos.roce
      tagged = [segment.storage, segment.office]
    }
  }
  spine {
    count = 2
    model = "nvidia/sn3700"
    os    = "sonic/202505"
    ports = "Ethernet[0-28:4]"
    link {
      speed = "100G"
      cable = { media = "dr", length = "20m" }
    }
    port "Ethernet124" {
      qos      = qos.untrusted
      untagged = segment.office
    }
  }
}
`

func compiledPod(t *testing.T) *compiler.Result {
	t.Helper()
	contract, _, _ := strings.Cut(lint.Find("ROCE301").Good, `segment "storage"`)
	cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"pod.roce.hcl": {Data: []byte(contract + pod)}}, Packs: packs.Files()})
	if diags.HasErrors() {
		t.Fatal(diags[0])
	}
	res := compiler.Compile(cfg, compiler.Options{Rows: packs.HeadroomRows})
	if res.Fabric == nil {
		t.Fatal(res.Diags[0])
	}
	for _, w := range words {
		res.Fabric.Names.Add(w)
	}
	return res
}

// words are what strings are changed to.
var words = []string{"v1", "v2", "22.04", "windows-server", ""}

// TestKinds spoils ports, links, devices and NICs of a fabric in which most are
// alike: looking at one of each kind finds what looking at all of them finds.
func TestKinds(t *testing.T) {
	res := compiledPod(t)
	rapid.Check(t, func(t *rapid.T) {
		f := *res.Fabric
		f.Ports = append([]fabric.Port(nil), f.Ports...)
		f.Links = append([]fabric.Link(nil), f.Links...)
		f.Devices = append([]fabric.Device(nil), f.Devices...)
		f.NICs = append([]fabric.NIC(nil), f.NICs...)
		facts := *res.Facts
		facts.Of = append([]derive.FactID(nil), facts.Of...)
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			spoil(t, &f, &facts)
		}
		want := lint.RunEvery(&f, &facts, lint.All)
		got := lint.Run(&f, &facts, "", lint.All)
		if d := cmp.Diff(summaries(want), summaries(got)); d != "" {
			t.Fatalf("findings (-every row +one of each kind):\n%s", d)
		}
	})
}

// spoil changes one thing that a rule may look at.
func spoil(t *rapid.T, f *fabric.Fabric, facts *derive.Facts) {
	port := &f.Ports[rapid.IntRange(1, len(f.Ports)-1).Draw(t, "port")]
	link := &f.Links[rapid.IntRange(1, len(f.Links)-1).Draw(t, "link")]
	dev := &f.Devices[rapid.IntRange(1, len(f.Devices)-1).Draw(t, "device")]
	nic := &f.NICs[rapid.IntRange(1, len(f.NICs)-1).Draw(t, "nic")]
	word := func() fabric.Str { return f.Names.Find(rapid.SampledFrom(words).Draw(t, "word")) }
	switch rapid.IntRange(0, 22).Draw(t, "what") {
	case 0:
		port.MTU = rapid.SampledFrom([]uint16{0, 1500, 4200, 9000, 9500}).Draw(t, "mtu")
	case 1:
		port.Mbps = rapid.SampledFrom([]uint32{0, 25_000, 100_000, 200_000}).Draw(t, "mbps")
	case 2:
		port.FEC = fabric.FEC(rapid.IntRange(0, 4).Draw(t, "fec"))
	case 3:
		port.Flags ^= 1 << rapid.IntRange(2, 15).Draw(t, "flag")
	case 4:
		port.Profile = fabric.ProfileID(rapid.IntRange(0, len(f.Profiles)-1).Draw(t, "profile"))
	case 5:
		port.VLANs = fabric.VLANSetID(rapid.IntRange(0, len(f.VLANSets)-1).Draw(t, "vlans"))
	case 6:
		port.Native = fabric.SegmentID(rapid.IntRange(0, len(f.Segments)-1).Draw(t, "native"))
	case 7:
		port.Manage = fabric.Manage(rapid.IntRange(0, 2).Draw(t, "manage"))
	case 8:
		link.CableMm = rapid.SampledFrom([]uint32{0, 3_000, 300_000}).Draw(t, "mm")
	case 9:
		link.BadLength = true
	case 10:
		link.Media = fabric.MediaID(rapid.IntRange(0, len(f.Media)-1).Draw(t, "media"))
	case 11:
		dev.Trusted = !dev.Trusted
	case 12:
		dev.Manage = fabric.Manage(rapid.IntRange(0, 2).Draw(t, "manage"))
	case 13:
		dev.Model = fabric.ModelID(rapid.IntRange(0, len(f.Models)-1).Draw(t, "model"))
	case 14:
		dev.OSName = word()
	case 15:
		dev.OSVersion = word()
	case 16:
		nic.RoCE = word()
	case 17:
		nic.Model = fabric.NICModelID(rapid.IntRange(0, len(f.NICModels)-1).Draw(t, "nic model"))
	case 18:
		p := rapid.IntRange(1, len(facts.Of)-1).Draw(t, "port of fact")
		facts.Of[p] = derive.FactID(rapid.IntRange(0, len(facts.Rows)-1).Draw(t, "fact"))
	case 19:
		nic.Firmware = word()
	case 20:
		port.MACsec = fabric.MACsec(rapid.IntRange(0, 4).Draw(t, "macsec"))
	case 21:
		nic.RxBytes = rapid.SampledFrom([]uint32{0, 10_000, 200_000}).Draw(t, "receive buffer")
	case 22:
		nic.GIDIndex = int16(rapid.IntRange(-1, 4).Draw(t, "gid"))
	case 23:
		nic.Storm = fabric.StormTimeout{Set: true, Ms: uint16(rapid.SampledFrom([]int{0, 100, 8000}).Draw(t, "storm"))}
	}
}

func summaries(found diag.List) []string {
	list := make([]string, len(found))
	for i, d := range found {
		list[i] = d.Rule + " " + d.Address + ": " + d.Summary
	}
	return list
}
