package resolve

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/packs"
)

// TestGPUs: a NIC is beside the GPU it names, else beside the first of its PCIe switch; nodes that are equal but for that are told apart.
func TestGPUs(t *testing.T) {
	const nodes = `
node "gpu" {
  for_each = { a = { first = 0 }, b = { first = 1 } }
  os       = "ubuntu/24.04"
  gpu "gpu10" {
    pcie_switch = "pex1"
    numa        = 1
  }
  gpu "gpu2" {
    pcie_switch = "pex1"
  }
  nic "rail[0-1]" {
    model = "nvidia/connectx-7"
    gpu   = each.value.first == nic.index ? "gpu10" : "gpu2"
  }
  nic "far0" {
    model       = "nvidia/connectx-7"
    pcie_switch = "pex1"
    pcie        = { numa = 1 }
  }
  nic "far1" {
    model       = "nvidia/connectx-7"
    pcie_switch = "pex2"
  }
}
`
	want := []string{
		"a far0 gpu2 pex1 1", "a far1  pex2 -1", "a rail0 gpu10  -1", "a rail1 gpu2  -1",
		"b far0 gpu2 pex1 1", "b far1  pex2 -1", "b rail0 gpu2  -1", "b rail1 gpu10  -1",
	}
	cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"f.roce.hcl": {Data: []byte(nodes)}}, Packs: packs.Files()})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	f, diags := Fabric(cfg)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var got []string
	for i := 1; i < len(f.Ports); i++ {
		p := &f.Ports[i]
		n := &f.NICs[p.NIC]
		got = append(got, strings.Join([]string{f.Text(f.Devices[p.Device].Name), f.Text(p.Name), f.Text(n.GPU), f.Text(n.Switch), number(n.NUMA)}, " "))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	first := f.GPUs[0]
	if len(f.GPUs) != 4 || f.Text(first.Name) != "gpu2" || first.NUMA != -1 || f.GPUs[1].NUMA != 1 || f.GPUs[2].Device == first.Device {
		t.Errorf("GPUs %+v", f.GPUs)
	}
}

func number(n int16) string {
	if n < 0 {
		return "-1"
	}
	return string(rune('0' + n))
}

func TestGPURefusals(t *testing.T) {
	for body, says := range map[string]string{
		"gpu \"a\" {}\nnic \"r\" {\n model = \"nvidia/connectx-7\"\n gpu = \"b\"\n}": `beside the GPU "b", which its node does not have`,
		"gpu \"a\" {}\ngpu \"a\" {}":                                                    `"a"`,
		"nic \"r\" {\n model = \"nvidia/connectx-7\"\n gpu = \"any\"\n}":                "",
		"gpu \"a\" {\n numa = 999\n}":                                                   "numa",
		"gpu \"a\" {\n model = \"nvidia/h100\"\n}":                                      "model",
		"gpu \"x\" {\n for_each = toset([\"1\", \"2\"])\n name = \"same\"\n}":           "same",
		"gpu \"x\" {\n for_each = toset([\"1\", \"2\"])\n name = \"gpu${each.key}\"\n}": "",
	} {
		cfg, list := lang.Load(lang.Options{FS: fstest.MapFS{"f.roce.hcl": {Data: []byte("node \"n\" {\n  os = \"ubuntu/24.04\"\n" + body + "\n}\n")}}, Packs: packs.Files()})
		if !list.HasErrors() {
			_, list = Fabric(cfg)
		}
		switch {
		case says == "" && list.HasErrors():
			t.Errorf("%s: %v", body, list)
		case says != "" && (!list.HasErrors() || !strings.Contains(list[0].Summary, says)):
			t.Errorf("%s: %v", body, list)
		}
	}
}
