package intent

import (
	"strings"
	"testing"
)

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		expected, version string
		want              bool
	}{
		{"28.43.2026", "28.43.2026", true},
		{"28.43.2026", "28.43.2026 (MT_0000000838)", true},
		{"28.43.2026", "28.43.2027", false},
		{"28.43", "28.43.2026", false},
		{"28.43.98", "28.43.0098", true},
		{"28.43.*", "28.43.2026", true},
		{"28.43.*", "28.430.2026", false},
		{"28.43.*", "28.43", false},
		{"28.*", "28.43.2026", true},
		{">= 28.43, < 29", "28.43.0", true},
		{">= 28.43, < 29", "28.43", true},
		{">= 28.43, < 29", "29.0", false},
		{">= 28.43, < 29", "28.9.1", false},
		{">28.43", "28.43.1", true},
		{"<= 28.43", "28.43", true},
		{"!= 28.43.1000", "28.43.1000", false},
		{"!= 28.43.1000", "28.43.1001", true},
		{"~> 28.43", "28.99", true},
		{"~> 28.43", "29.0", false},
		{"~> 28.43.1", "28.44.0", false},
		{"~> 28", "30", true},
		{"229.0.154.0", "229.0.154.0/pkg 229.1.123.0", true},
		{">= 8.25", "mfw 8.25.7.0 storm 8.20.0.0", true}, // qede_get_drvinfo
		{"15.20.6", "mbi 15.20.6 [mfw 8.52.16.0]", true},
		{"8.52.16.0", "mbi 15.20.6 [mfw 8.52.16.0]", false},
		{">= 4.40", "4.40 0x8001b2a5 1.3429.0", true},
		{"5.8-2.0.3", "5.8-2.0.3", true},
		{">= 5.8-2.0.3", "5.8-1.0.1", false},
		{">= 24.10-rc2", "24.10-rc1", false},
		{"28.43.*", "", false},
		{">= 1", "N/A", false},
	} {
		v, err := ParseVersions(c.expected)
		if err != nil {
			t.Errorf("%q: %v", c.expected, err)
			continue
		}
		if got := v.Allow(c.version); got != c.want {
			t.Errorf("%q allows %q: %t, want %t", c.expected, c.version, got, c.want)
		}
	}
	for _, bad := range []string{"", " ", "latest", "*", "28.*.1", ">= 28.*", ">=", "28.43,", ", 28", "=> 28", "28 43", "28..4", "$(id)", "28;1", "28\n"} {
		if _, err := ParseVersions(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// FuzzVersions: nothing panics, and a version without a wildcard allows itself.
func FuzzVersions(f *testing.F) {
	f.Add("28.43.*", "28.43.1")
	f.Add(">= 1.2-rc1, ~> 3", "v001.2_3")
	f.Fuzz(func(t *testing.T, expected, version string) {
		v, err := ParseVersions(expected)
		if err != nil {
			return
		}
		v.Allow(version)
		if len(v.conditions) == 1 && v.conditions[0].operator == "" && !v.Allow(strings.Trim(expected, " ")) {
			t.Errorf("%q does not allow itself", expected)
		}
	})
}

func TestDiffExpected(t *testing.T) {
	want := &Device{Kind: Switch, Firmware: ">= 5.2", Ports: []Port{{Name: "eth0", NIC: &NIC{Firmware: "28.43.*", DriverV: "24.10"}}}}
	have := &Device{Kind: Switch, Firmware: "5.3.1", Ports: []Port{{Name: "eth0", NIC: &NIC{Firmware: "28.43.1000 (MT_1)"}}}}
	if d := Diff(want, have); len(d) > 0 {
		t.Errorf("differences: %v", d)
	}
	if u := Unseen(want, have); len(u) != 1 || u[0] != (Path{OfPort, "eth0", "driver"}) {
		t.Errorf("unseen: %v", u)
	}
	have.Firmware, have.Ports[0].NIC.Firmware = "5.1", "28.44.1"
	d := Diff(want, have)
	if len(d) != 2 || d[0].Before != "5.1" || d[0].After != ">= 5.2" || d[1].Path.Field != "firmware" {
		t.Errorf("differences: %v", d)
	}
}
