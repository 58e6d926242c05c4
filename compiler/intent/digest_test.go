package intent

import (
	"encoding/json"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func filled() *Device {
	alpha := int8(-3)
	return &Device{
		Version: Version, Name: "leaf1", Kind: Switch, OS: OS{"sonic", "202405"}, Model: "nvidia/sn5600", ASIC: "spectrum-4",
		Ports: []Port{{
			Name: "Ethernet0", Enabled: Some(true), Mbps: Some(uint32(100_000)), FEC: Some(FECRS), Autoneg: Kept(true), MTU: Some(uint16(9100)),
			Native: Some(uint16(10)), Tagged: Some([]uint16{20, 30}), QoS: "roce", CableMm: Some(uint32(3000)),
			Headroom: []Headroom{{Group: 3, XoffBytes: 80_000, XonBytes: 18_432, SizeBytes: 98_432, Alpha: &alpha, Written: true}},
		}, {Name: "Ethernet4", QoS: "roce", Verify: true}},
		LAGs:   []LAG{{Name: "PortChannel1", ID: 1, Members: []string{"Ethernet0"}, Mode: "lacp", Rate: "fast"}},
		Ifaces: []Iface{{Name: "Vlan10", Kind: SVI, VLAN: 10, Addresses: Some([]netip.Prefix{netip.MustParsePrefix("10.0.0.1/24")})}},
		VLANs:  []VLAN{{ID: 10}, {ID: 20, MTU: Some(uint16(9100))}},
		QoS: []QoS{{
			Name: "roce", Trust: Some(TrustDSCP), DSCP: Some([64]uint8{26: 3, 48: 6}), PFC: Some(PrioritySet(8)), TC: Some([8]uint8{3: 3, 6: 6}),
			Sched:    Some([8]Sched{{Kind: SchedETS, Percent: 50}, {}, {}, {Kind: SchedETS, Percent: 50, CapMbps: 5000}, {}, {}, {Kind: SchedStrict}}),
			ECN:      Some([8]ECN{3: {On: true, MinBytes: 150_000, MaxBytes: 1_500_000, Probability: 100}}),
			Watchdog: Some(Watchdog{On: true, DetectMs: 200}), Pause: Some(false), DCBX: Kept(DCBX{}), Lossless: 8,
		}},
		MLAG:   &MLAG{Domain: 1, Peer: "leaf2", PeerLink: "PortChannel1", Source: netip.MustParseAddr("10.0.0.1")},
		Buffer: Buffer{AlphaExponent: Some(int8(-1))},
		Hash:   Hash{Function: Some("CRC"), Seed: Some(uint32(0))}, Firmware: "5.2.*",
		Options: map[string]string{"b": "1", "a": "2"},
	}
}

func TestDigest(t *testing.T) {
	a, b := Digest(filled()), Digest(filled())
	if a != b {
		t.Fatalf("one intent has two digests: %s, %s", a, b)
	}
	if len(a) != len("sha256:")+64 || a[:7] != "sha256:" {
		t.Errorf("form of %q", a)
	}
	seen := map[string]string{a: "base"}
	for name, change := range map[string]func(*Device){
		"name":    func(d *Device) { d.Name = "x" },
		"state":   func(d *Device) { d.Ports[0].MTU = Kept(uint16(9100)) },
		"absent":  func(d *Device) { d.Ports[0].MTU = Opt[uint16]{} },
		"zero":    func(d *Device) { d.Ports[0].MTU = Some(uint16(0)) },
		"deep":    func(d *Device) { d.QoS[0].DSCP.Value[63] = 7 },
		"hash":    func(d *Device) { d.Hash.Function = Some("XOR") },
		"seed":    func(d *Device) { d.Hash.Seed = Opt[uint32]{} },
		"aging":   func(d *Device) { d.Aging.MACSeconds = Some(uint32(600)) },
		"expects": func(d *Device) { d.Firmware = "5.3.*" },
		"option":  func(d *Device) { d.Options["a"] = "3" },
		"pointer": func(d *Device) { *d.Ports[0].Headroom[0].Alpha = 0 },
	} {
		d := filled()
		change(d)
		got := Digest(d)
		if other, ok := seen[got]; ok {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[got] = name
	}
}

// The digest speaks for the stored form only if that form loses nothing.
func TestDeviceSurvivesJSON(t *testing.T) {
	want := filled()
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got := new(Device)
	if err := json.Unmarshal(b, got); err != nil {
		t.Fatal(err)
	}
	want.Ports[0].Autoneg.Value = false // a default's value is not stored
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b }), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if Digest(want) != Digest(got) {
		t.Error("the copy has another digest")
	}
}

// An empty list that is set says "none", and must not turn into "not managed".
func TestEmptyListStaysSet(t *testing.T) {
	for name, list := range map[string][]uint16{"empty": {}, "nil": nil} {
		b, err := json.Marshal(Port{Tagged: Some(list)})
		if err != nil {
			t.Fatal(err)
		}
		var p Port
		if err := json.Unmarshal(b, &p); err != nil {
			t.Fatal(err)
		}
		if !p.Tagged.IsSet() || len(p.Tagged.Value) != 0 {
			t.Errorf("%s: %s reads back as %+v", name, b, p.Tagged)
		}
	}
}

// TestCanonicalLike: the digests of a device and of parts of it are the same,
// whatever they share with another one.
func TestCanonicalLike(t *testing.T) {
	like := Canonical(filled()).Ready()
	shared := like.device
	for name, change := range map[string]func(*Device){
		"nothing": func(*Device) {},
		"name":    func(d *Device) { d.Name = "leaf7" },
		"addresses": func(d *Device) {
			d.Ifaces = filled().Ifaces
			d.Ifaces[0].Addresses.Value[0] = netip.MustParsePrefix("10.9.0.1/24")
		},
		"peer":    func(d *Device) { d.MLAG = &MLAG{Domain: 1, Peer: "other", PeerLink: "PortChannel1"} },
		"ports":   func(d *Device) { d.Ports = d.Ports[:1] },
		"none":    func(d *Device) { d.Ports, d.MLAG, d.Options = nil, nil, nil },
		"options": func(d *Device) { d.Options = map[string]string{"a": "1"} },
		"scalars": func(d *Device) { d.Kind, d.Buffer, d.Firmware = Node, Buffer{}, "" },
	} {
		d := shared
		change(&d)
		want, got := Canonical(&d), CanonicalLike(&d, like)
		if want.Digest() != got.Digest() {
			t.Errorf("%s: another digest than by itself", name)
		}
		part := d
		part.Name, part.Ifaces = "", nil
		if want.Part(&part) != got.Part(&part) {
			t.Errorf("%s: another digest of a part than by itself", name)
		}
		if name != "nothing" && got.Digest() == like.Digest() {
			t.Errorf("%s: the digest is that of the other device", name)
		}
	}
}
