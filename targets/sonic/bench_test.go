package sonic

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// wide is a leaf of a large fabric: 128 ports, half of them to hosts of one
// VLAN, half of them routed uplinks.
func wide() *intent.Device {
	d := leaf()
	d.OS.Version = "202511"
	d.Ports, d.Ifaces = nil, d.Ifaces[2:]
	for i := range 128 {
		p := port(fmt.Sprintf("Ethernet%d", 4*i), 400000, 3000, "roce")
		if i < 64 {
			p.Native, p.Tagged = intent.Some(uint16(200)), intent.Some([]uint16{})
		} else {
			d.Ifaces = append(d.Ifaces, intent.Iface{Name: p.Name, Kind: intent.Routed, On: p.Name, Addresses: intent.Some([]netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("10.1.%d.1/31", i))})})
		}
		d.Ports = append(d.Ports, p)
	}
	return d
}

// BenchmarkEmit writes the files of one switch of 128 ports.
func BenchmarkEmit(b *testing.B) {
	d := wide()
	perPort(b, func() int {
		var out emit.Out
		write(d, &out)
		n := 0
		for _, f := range out.Artifacts {
			n += len(f.Bytes)
		}
		return n
	}, len(d.Ports))
}

// BenchmarkCheck judges the same switch: features, limits, soundness.
func BenchmarkCheck(b *testing.B) {
	d := wide()
	perPort(b, func() int { return len(targets.Check(&Target, d, nil)) }, len(d.Ports))
}

func perPort(b *testing.B, run func() int, ports int) {
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		size = run()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(ports), "ns/port")
	b.ReportMetric(float64(size)/float64(ports), "bytes/port")
}
