package compiler

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
)

// pod is the short form of a fabric in two tiers.
const pod = `
qos "roce" {
  trust = "dscp"
  class "rdma" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = 90
    ecn       = "auto"
  }
  class "default" {
    priority  = 0
    bandwidth = 10
    default   = true
  }
}
node "gpu" {
  for_each = { gpu1 = 1, gpu2 = 2 }
  os       = "ubuntu/24.04"
  slot     = each.value
  nic "rail[0-1]" {
    model = "nvidia/connectx-7"
    speed = "400G"
  }
}
topology "rail_optimized" "pod" {
  nodes = node.gpu
  qos   = qos.roce
  mtu   = 9000
  leaf {
    count         = 2
    model         = "nvidia/sn5600"
    os            = "sonic/202505"
    node_ports    = "Ethernet[0-8:8]"
    up_ports      = "Ethernet[256-264:8]"
    subnet        = cidrsubnet("10.1.0.0/16", 8, leaf.index)
    addressing    = "per_port"
    loopback      = "10.255.0.0/24"
    fabric_subnet = "10.9.0.0/24"
    link {
      cable = { media = "dac", length = "2m" }
    }
  }
  spine {
    count = 2
    ports = "Ethernet[0-8:8]"
    mtu   = 9000
    link {
      cable = { media = "dr", length = "40m" }
    }
  }
}
`

// TestGenerated: the intent of generated devices is what the tiers say, and
// every field leads back to the tier, topology, node or row that says it.
func TestGenerated(t *testing.T) {
	r, diags, view := compileText(t, pod)
	if diags.HasErrors() {
		t.Fatal(shown(diags, view))
	}
	f := r.Fabric
	device := func(name string) (fabric.DeviceID, *intent.Device) {
		for d := 1; d < len(f.Devices); d++ {
			if f.Text(f.Devices[d].Name) == name {
				return fabric.DeviceID(d), r.Intent(fabric.DeviceID(d))
			}
		}
		t.Fatalf("no device %s", name)
		return 0, nil
	}
	port := func(d *intent.Device, name string) *intent.Port {
		i := slices.IndexFunc(d.Ports, func(p intent.Port) bool { return p.Name == name })
		if i < 0 {
			t.Fatalf("%s has no port %s", d.Name, name)
		}
		return &d.Ports[i]
	}
	leafID, leaf := device("pod-leaf1")
	spineID, spine := device("pod-spine0")
	nodeID, node := device("gpu2")
	down, up, sp := port(leaf, "Ethernet8"), port(leaf, "Ethernet256"), port(spine, "Ethernet8")
	if v := down.Mbps.Value; v != 400_000 {
		t.Errorf("node port: %d Mb/s", v)
	}
	for what, got := range map[string][2]any{
		"cable of the node port": {down.CableMm.Value, uint32(2000)}, "cable of the uplink": {up.CableMm.Value, uint32(40_000)},
		"MTU of the node port": {down.MTU.Value, uint16(9000)}, "MTU of the spine": {sp.MTU.Value, uint16(9000)},
		"qos of the uplink": {up.QoS, "roce"}, "qos of the NIC": {port(node, "rail1").QoS, "roce"},
		"lossless groups of the uplink": {len(up.Headroom), 1}, "model of the spine": {spine.Model, "nvidia/sn5600"},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %v, want %v", what, got[0], got[1])
		}
	}
	var got []string
	for _, c := range []struct {
		device fabric.DeviceID
		path   intent.Path
	}{
		{leafID, intent.Path{Object: intent.OfDevice, Field: "model"}},
		{leafID, intent.Path{Object: intent.OfPort, Name: "Ethernet8", Field: "speed"}},
		{leafID, intent.Path{Object: intent.OfPort, Name: "Ethernet8", Field: "mtu"}},
		{leafID, intent.Path{Object: intent.OfPort, Name: "Ethernet8", Field: "cable"}},
		{leafID, intent.Path{Object: intent.OfPort, Name: "Ethernet256", Field: "cable"}},
		{leafID, intent.Path{Object: intent.OfPort, Name: "Ethernet256", Field: "qos"}},
		{leafID, intent.Path{Object: intent.OfIface, Name: "Loopback0", Field: "address"}},
		{leafID, intent.Path{Object: intent.OfIface, Name: "Ethernet8", Field: "address"}},
		{leafID, intent.Path{Object: intent.OfIface, Name: "Ethernet256", Field: "address"}},
		{spineID, intent.Path{Object: intent.OfDevice, Field: "model"}},
		{spineID, intent.Path{Object: intent.OfDevice, Field: "os"}},
		{spineID, intent.Path{Object: intent.OfPort, Name: "Ethernet8", Field: "mtu"}},
		{spineID, intent.Path{Object: intent.OfIface, Name: "Ethernet8", Field: "address"}},
		{nodeID, intent.Path{Object: intent.OfPort, Name: "rail1", Field: "mtu"}},
		{nodeID, intent.Path{Object: intent.OfPort, Name: "rail1", Field: "speed"}},
		{nodeID, intent.Path{Object: intent.OfIface, Name: "rail1", Field: "address"}},
		{nodeID, intent.Path{Object: intent.OfIface, Name: "rail1", Field: "gateway"}},
	} {
		line := f.Text(f.Devices[c.device].Name) + " " + c.path.String() + ":"
		for _, l := range r.Origin(c.device, c.path) {
			line += " " + l.Where + " = " + strings.SplitN(pod[l.Span.Start:l.Span.Start+l.Span.Len], "\n", 2)[0]
		}
		got = append(got, line)
	}
	want := []string{
		`pod-leaf1 model: topology "rail_optimized" "pod", leaf = "nvidia/sn5600"`,
		`pod-leaf1 port["Ethernet8"].speed: node "gpu", nic "rail[0-1]" = "400G"`,
		`pod-leaf1 port["Ethernet8"].mtu: topology "rail_optimized" "pod" = 9000`,
		`pod-leaf1 port["Ethernet8"].cable: topology "rail_optimized" "pod", leaf = { media = "dac", length = "2m" }`,
		`pod-leaf1 port["Ethernet256"].cable: topology "rail_optimized" "pod", spine = { media = "dr", length = "40m" }`,
		`pod-leaf1 port["Ethernet256"].qos: topology "rail_optimized" "pod" = qos.roce`,
		`pod-leaf1 interface["Loopback0"].address: topology "rail_optimized" "pod", leaf = "10.255.0.0/24"`,
		`pod-leaf1 interface["Ethernet8"].address: topology "rail_optimized" "pod", leaf = cidrsubnet("10.1.0.0/16", 8, leaf.index)`,
		`pod-leaf1 interface["Ethernet256"].address: topology "rail_optimized" "pod", leaf = "10.9.0.0/24"`,
		`pod-spine0 model: topology "rail_optimized" "pod", leaf = "nvidia/sn5600"`,
		`pod-spine0 os: topology "rail_optimized" "pod", leaf = "sonic/202505"`,
		`pod-spine0 port["Ethernet8"].mtu: topology "rail_optimized" "pod", spine = 9000`,
		`pod-spine0 interface["Ethernet8"].address: topology "rail_optimized" "pod", leaf = "10.9.0.0/24"`,
		`gpu2 port["rail1"].mtu: topology "rail_optimized" "pod" = 9000`,
		`gpu2 port["rail1"].speed: node "gpu", nic "rail[0-1]" = "400G"`,
		`gpu2 interface["rail1"].address: topology "rail_optimized" "pod", leaf = cidrsubnet("10.1.0.0/16", 8, leaf.index)`,
		`gpu2 interface["rail1"].gateway: topology "rail_optimized" "pod", leaf = cidrsubnet("10.1.0.0/16", 8, leaf.index)`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
