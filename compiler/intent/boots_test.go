package intent

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBoots: what a device runs with and does not start with, and nothing else.
func TestBoots(t *testing.T) {
	device := func(mtu, other uint16, vlans ...uint16) *Device {
		d := &Device{Kind: Switch, Ports: []Port{{Name: "a", MTU: Some(mtu)}, {Name: "b", MTU: Some(other), Verify: true}}}
		for _, id := range vlans {
			d.VLANs = append(d.VLANs, VLAN{ID: id, MTU: Some(uint16(9000))})
		}
		return d
	}
	want := device(9000, 9000, 7)
	mtu := Difference{Path: Path{OfPort, "a", "stored.mtu"}, Before: "1500", After: "9000"}
	vlan := Difference{Path: Path{OfVLAN, "7", "stored"}, After: Present}
	for _, c := range []struct {
		name            string
		running, starts *Device
		want            []Difference
	}{
		{"alike", want, device(9000, 9000, 7), nil},
		{"another value", want, device(1500, 9000, 7), []Difference{mtu}},
		{"an object is missing", want, device(9000, 9000), []Difference{vlan}},
		{"more than is wanted", want, device(9000, 9000, 7, 8), nil},
		{"it does not run so either", device(1500, 9000), device(1500, 9000), nil},
		{"not read while it runs", &Device{Ports: []Port{{Name: "a"}}}, device(1500, 9000), nil},
		{"compared only", want, device(9000, 1500, 7), nil},
		{"not shown", want, &Device{VLANs: want.VLANs, Ports: []Port{{Name: "a"}, {Name: "b"}}}, nil},
	} {
		if diff := cmp.Diff(c.want, Boots(want, c.running, c.starts)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	for _, p := range []Path{{OfPort, "a", "mtu"}, {OfVLAN, "7", ""}, {OfDevice, "", "hash.seed"}} {
		if at, is := p.Stored().Running(); at != p || !is {
			t.Errorf("%v is %v", p, at)
		}
		if at, is := p.Running(); at != p || is {
			t.Errorf("%v is stored", p)
		}
	}
}
