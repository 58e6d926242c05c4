package resolve

import (
	"testing"

	"github.com/rocec/rocec/compiler/fabric"
)

// TestRacks: a wave that goes rack by rack knows the racks of written switches, of those of a tier, by exception too, and of nodes.
func TestRacks(t *testing.T) {
	f := load(t, contract+`
switch "tor" {
  rack  = "r0"
  model = "nvidia/sn3700"
  os    = "sonic/202505"
}
node "n" {
  os   = "ubuntu/24.04"
  rack = switch.tor.rack
  nic "p0" {
    model = "nvidia/connectx-6-dx"
  }
}
topology "leaf_spine" "f" {
  leaf {
    count    = 2
    rack     = "r${leaf.index + 1}"
    model    = "nvidia/sn3700"
    os       = "sonic/202505"
    up_ports = "Ethernet0"
    except "1" {
      rack = "odd"
    }
  }
  spine {
    count = 1
    rack  = "top"
    model = "nvidia/sn3700"
    os    = "sonic/202505"
    ports = "Ethernet[0-4:4]"
  }
}
`)
	want := map[string]string{"tor": "r0", "n": "r0", "f-leaf0": "r1", "f-leaf1": "odd", "f-spine0": "top"}
	for d := 1; d < len(f.Devices); d++ {
		name := f.Text(f.Devices[d].Name)
		if got := f.WaveGroup(&fabric.Wave{GroupBy: fabric.GroupRack}, fabric.DeviceID(d)); got != want[name] {
			t.Errorf("%s is in %q, and not in %q", name, got, want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("there is no %v", want)
	}
}
