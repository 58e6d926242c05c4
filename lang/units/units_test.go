package units_test

import (
	"testing"

	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/units"
)

// TestCanonical: what people write, and what is refused as it could be meant in two ways or in none ("").
func TestCanonical(t *testing.T) {
	for _, c := range []struct {
		base    schema.Base
		in, out string
	}{
		{schema.Speed, "100G", "100G"},
		{schema.Speed, "100g", "100G"},
		{schema.Speed, "100 G", "100G"},
		{schema.Speed, "100gbps", "100G"},
		{schema.Speed, "100GBPS", "100G"},
		{schema.Speed, "100Gb/s", "100G"},
		{schema.Speed, " 1.6t ", "1.6T"},
		{schema.Speed, "100GbE", "100G"},
		{schema.Speed, "100000k", "100M"},
		{schema.Speed, "100000000k", "100G"},
		{schema.Speed, "100k", ""},
		{schema.Speed, "40000 Mbps", "40000M"},
		{schema.Speed, "100m", ""},
		{schema.Speed, "100GB", ""},
		{schema.Speed, "100GBps", ""},
		{schema.Speed, "100GB/s", ""},
		{schema.Speed, "100", ""},
		{schema.Speed, "fast", ""},
		{schema.Speed, "1..6T", ""},
		{schema.Speed, ".5G", ""},
		{schema.Speed, "1.G", ""},
		{schema.Speed, "-1G", ""},
		{schema.Cap, "10g", "10G"},
		{schema.Cap, "40", ""},
		{schema.Cap, "40%", ""},
		{schema.Bytes, "100k", "100KB"},
		{schema.Bytes, "100", "100"},
		{schema.Bytes, "150 kB", "150KB"},
		{schema.Bytes, "150kb", ""},
		{schema.Bytes, "150KB", "150KB"},
		{schema.Bytes, "1.5 MiB", "1.5MiB"},
		{schema.Bytes, "1.5mib", ""},
		{schema.Bytes, "32M", "32MB"},
		{schema.Bytes, "1b", ""},
		{schema.Bytes, "1T", ""},
		{schema.Length, "3 m", "3m"},
		{schema.Length, "3", ""},
		{schema.Length, "10ft", ""},
		{schema.Length, "3M", ""},
		{schema.Time, "200 ms", "200ms"},
		{schema.Time, "5min", "5m"},
		{schema.Time, "20µs", "20us"},
		{schema.Time, "200Ms", ""},
		{schema.Delay, "250 ns", "250ns"},
		{schema.Delay, "1s", ""},
		{schema.String, "100g", ""},
	} {
		out, ok := units.Canonical(c.base, c.in)
		if out != c.out || ok != (c.out != "") {
			t.Errorf("%q is %q, %v, and %q is wanted", c.in, out, ok, c.out)
		}
	}
}
