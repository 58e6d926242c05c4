package linux

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// podHost is a host of a GPU pod: eight rails with a subnet each.
func podHost() *intent.Device {
	d := nvmeHost()
	d.Ports, d.Ifaces = nil, nil
	for i := range 8 {
		name, subnet := "rail"+itoa(i), fmt.Sprintf("10.%d.0", 10+i)
		p := intent.Port{
			Name: name, Mbps: intent.Some[uint32](400_000), MTU: intent.Some[uint16](9000), QoS: "storage", CableMm: intent.Some[uint32](30_000),
			NIC: nic(fmt.Sprintf("b8:3f:d2:00:00:%02x", i), fmt.Sprintf("0000:%02x:00.0", 0x3b+i)),
		}
		p.NIC.Adapter = "nic" + itoa(i)
		d.Ports = append(d.Ports, p)
		d.Ifaces = append(d.Ifaces, intent.Iface{
			Name: name, Kind: intent.Direct, On: name, Addresses: prefixes(subnet + ".11/16"), Gateway: intent.Some(netip.MustParseAddr(subnet + ".1")), RDMA: true,
		})
	}
	return d
}

// BenchmarkEmit writes a host of eight rails. The digest in the headers is one
// walk over the intent, whatever is written.
func BenchmarkEmit(b *testing.B) {
	d := podHost()
	bytes := 0
	b.ReportAllocs()
	for b.Loop() {
		var out emit.Out
		Target.Emit(d, &out)
		bytes = 0
		for _, a := range out.Artifacts {
			bytes += len(a.Bytes)
		}
	}
	b.ReportMetric(float64(bytes), "B/host")
	b.ReportMetric(float64(len(hostFiles(d))), "files/host")
}

func BenchmarkLimits(b *testing.B) {
	d := podHost()
	b.ReportAllocs()
	for b.Loop() {
		limits(d, func(summary, _ string, _ ...intent.Path) { b.Fatal(summary) })
	}
}

func hostFiles(d *intent.Device) []emit.Artifact {
	var out emit.Out
	Target.Emit(d, &out)
	return out.Artifacts
}
