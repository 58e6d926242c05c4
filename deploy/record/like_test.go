package record

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rocec/rocec/compiler/intent"
)

// full is an entry with several of everything that a device has lists of.
func full() *Entry {
	d := &intent.Device{
		Version: intent.Version, Name: "tor", Kind: intent.Switch, OS: intent.OS{Name: "sonic", Version: "202505"}, Model: "nvidia/sn4600c",
		VLANs:   []intent.VLAN{{ID: 10}, {ID: 20, MTU: intent.Some(uint16(9216))}},
		LAGs:    []intent.LAG{{Name: "PortChannel1", ID: 1, Mode: "lacp", Members: []string{"Ethernet0"}}},
		QoS:     []intent.QoS{{Name: "roce", Pause: intent.Some(false)}},
		Options: map[string]string{"text": `a "quoted" [text], {with} \ signs`},
	}
	for _, name := range []string{"Ethernet0", "Ethernet4", "Ethernet8"} {
		d.Ports = append(d.Ports, intent.Port{Name: name, Mbps: intent.Some(uint32(400_000)), Tagged: intent.Some([]uint16{}), QoS: "roce"})
		d.Ifaces = append(d.Ifaces, intent.Iface{Name: name, Kind: intent.Routed, On: name, Addresses: intent.Some([]netip.Prefix{netip.MustParsePrefix("10.0.0.1/31")})})
	}
	return &Entry{
		FormatVersion: FormatVersion, Workspace: "default", Device: "tor", Address: "switch.tor", Emitter: "sonic", Status: Applied, SourcesDigest: Digest(nil),
		Artifacts: map[string]string{"apply.sh": Digest(nil)}, Inputs: map[string]string{"model": "x"}, Intent: d, IntentDigest: intent.Digest(d),
	}
}

var addresses = cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})

// TestDecodeLike: an entry reads the same, whatever it is thought to be, and what
// is alike is not read.
func TestDecodeLike(t *testing.T) {
	for name, change := range map[string]func(*intent.Device){
		"a port":         func(d *intent.Device) { d.Ports[1].MTU = intent.Some(uint16(9000)) },
		"every port":     func(d *intent.Device) { clear(d.Ports) },
		"one port less":  func(d *intent.Device) { d.Ports = d.Ports[:2] },
		"one port first": func(d *intent.Device) { d.Ports = append([]intent.Port{{Name: "Ethernet"}}, d.Ports...) },
		"an address": func(d *intent.Device) {
			d.Ifaces[2].Addresses = intent.Some([]netip.Prefix{netip.MustParsePrefix("10.9.0.1/31")})
		},
		"no lists":  func(d *intent.Device) { d.Ports, d.LAGs, d.VLANs, d.QoS, d.Ifaces = nil, nil, nil, nil, nil },
		"the model": func(d *intent.Device) { d.Model, d.Firmware = "", "1" },
		"options":   func(d *intent.Device) { d.Options = map[string]string{"a]": "},{"} },
		"the pair":  func(d *intent.Device) { d.MLAG = &intent.MLAG{Domain: 1} },
		"the name":  func(d *intent.Device) { d.Name = "tor2" },
	} {
		e, other := full(), full().Intent
		change(other)
		for range 2 { // the other way round too
			e.IntentDigest = intent.Digest(e.Intent)
			e.Device = e.Intent.Name
			text, err := Encode(e)
			if err != nil {
				t.Fatal(err)
			}
			want, err := Decode(text, e.Workspace, e.Device)
			if err != nil {
				t.Fatal(err)
			}
			got := decodeLike(text, e.Workspace, other, intent.Digest(other))
			if e.Device != other.Name {
				want = nil // it is asked for by that name
			}
			if d := cmp.Diff(want, got, addresses); d != "" {
				t.Errorf("%s (-read as a whole +by what it should be):\n%s", name, d)
			}
			e.Intent, other = other, e.Intent
		}
	}
}

// FuzzDecodeLike: nothing is read that Decode would refuse or read otherwise.
func FuzzDecodeLike(f *testing.F) {
	e := full()
	good, err := Encode(e)
	if err != nil {
		f.Fatal(err)
	}
	moved := full().Intent
	moved.Ports[1].MTU, moved.QoS = intent.Some(uint16(9000)), nil
	f.Add(good)
	for _, change := range [][2]string{
		{`"Ethernet4"`, `"Ethernet5"`}, {"400000", "400000,"}, {"400000", "400 000"}, {"400000", "400\n000"}, {`"ports": [`, `"ports": [,`}, {`"ports": [`, `"PORTS": [`}, {`"ports": [`, `"PORTS": [], "ports": [`}, {`"qos": [`, `"qoſ": [], "qos": [`}, {`"vlans"`, `"ports"`}, {"\n      },", "\n      }"}, {`"sonic"`, `"so\u006eic"`},
	} {
		f.Add([]byte(strings.ReplaceAll(string(good), change[0], change[1])))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, by := range []*intent.Device{e.Intent, moved} {
			got := decodeLike(b, "default", by, intent.Digest(by))
			if got == nil {
				continue
			}
			want, err := Decode(b, "default", "tor")
			if err != nil {
				t.Fatalf("it was read, and %v", err)
			}
			if got.Intent == nil {
				got.Intent, got.Inputs = by, want.Inputs
			}
			if d := cmp.Diff(want, got, addresses, cmpopts.EquateEmpty()); d != "" && intent.Digest(want.Intent) != intent.Digest(got.Intent) {
				t.Fatalf("-read as a whole +by what it should be:\n%s", d)
			}
		}
	})
}
