package lower

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
)

// A port to the outside, or to a node that nobody trusts, drops what the ACLs of
// its system match, unless it says itself what; a host drops nothing.
func TestEdge(t *testing.T) {
	both := intent.Some([]intent.RDMA{intent.RoCEv2, intent.RoCEv1})
	for name, c := range map[string]struct {
		change func(d *draft, node, tor fabric.DeviceID)
		want   intent.Opt[[]intent.RDMA] // of the port to the node
	}{
		"inside":   {func(*draft, fabric.DeviceID, fabric.DeviceID) {}, intent.Opt[[]intent.RDMA]{}},
		"external": {func(d *draft, _, tor fabric.DeviceID) { d.Ports[d.port(tor, "Ethernet0")].Flags |= fabric.External }, both},
		"hostile":  {func(d *draft, node, _ fabric.DeviceID) { d.Devices[node].Trusted = false }, both},
		"Cumulus": {func(d *draft, node, tor fabric.DeviceID) {
			d.Devices[node].Trusted, d.Devices[tor].OSName = false, d.s("cumulus-linux")
		}, intent.Some([]intent.RDMA{intent.RoCEv2})},
		"another system": {func(d *draft, node, tor fabric.DeviceID) {
			d.Devices[node].Trusted, d.Devices[tor].OSName = false, d.s("eos")
		}, intent.Opt[[]intent.RDMA]{}},
		"Enterprise SONiC": {func(d *draft, node, tor fabric.DeviceID) {
			d.Devices[node].Trusted, d.Devices[tor].OSName = false, d.s("sonic-enterprise")
		}, both},
		"told to, there": {func(d *draft, _, tor fabric.DeviceID) {
			d.Devices[tor].OSName = d.s("eos")
			d.Ports[d.port(tor, "Ethernet0")].Flags |= fabric.DenySet | fabric.DenyRoCEv1
		}, intent.Some([]intent.RDMA{intent.RoCEv1})},
		"told nothing": {func(d *draft, node, tor fabric.DeviceID) {
			d.Devices[node].Trusted = false
			d.Ports[d.port(tor, "Ethernet0")].Flags |= fabric.DenySet
		}, intent.Some([]intent.RDMA{})},
	} {
		d, node, tor := s2d()
		c.change(d, node, tor)
		f := facts(t, d)
		if diff := cmp.Diff(c.want, Device(d.Fabric, f, tor).PortNamed("Ethernet0").Deny); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for _, p := range Device(d.Fabric, f, node).Ports {
			if p.Deny.IsSet() {
				t.Errorf("%s: port %s of the node drops something", name, p.Name)
			}
		}
	}
}

// A LAG drops what one of its members shall, and the members by themselves nothing.
func TestEdgeOfLAG(t *testing.T) {
	d, a, _ := mlag()
	var members []fabric.PortID
	for _, l := range facts(t, d).LAGsOf(a) {
		if len(d.LAGs[l].Members) > 0 && members == nil {
			members = d.LAGs[l].Members
		}
	}
	d.Ports[members[0]].Flags |= fabric.DenySet | fabric.DenyRoCEv2
	dev := Device(d.Fabric, facts(t, d), a)
	name := d.Text(d.Ports[members[0]].Name)
	i := slices.IndexFunc(dev.LAGs, func(g intent.LAG) bool { return slices.Contains(g.Members, name) })
	if i < 0 || !slices.Equal(dev.LAGs[i].Deny.Value, []intent.RDMA{intent.RoCEv2}) {
		t.Errorf("LAGs are %+v", dev.LAGs)
	}
	if p := dev.PortNamed(name); p == nil || p.Deny.IsSet() {
		t.Errorf("the member is %+v", p)
	}
	labels := Origin(d.Fabric, facts(t, d), a, intent.Path{Object: intent.OfLAG, Name: dev.LAGs[i].Name, Field: "deny"})
	if len(labels) == 0 {
		t.Error("nobody says why the LAG drops something")
	}
}

// Spare ports are shut where the switch says so: those without a block, a cable,
// or an interface.
func TestSparePorts(t *testing.T) {
	d, _, tor := s2d()
	spare := d.port(tor, "Ethernet0") // its cable is taken away
	d.Ports[spare].Flags |= fabric.Implicit
	d.Ports[spare].Link, d.Ports[spare].Peer = 0, 0
	shut := func() (names []string) {
		dev := Device(d.Fabric, facts(t, d), tor)
		for _, p := range dev.Ports {
			if p.Enabled.IsSet() && !p.Enabled.Value {
				names = append(names, p.Name)
			}
		}
		return names
	}
	if got := shut(); !slices.Equal(got, []string{"Ethernet12"}) { // enabled = false
		t.Errorf("%v are shut and nobody asked for it", got)
	}
	d.Devices[tor].ShutSpare = true
	if got := shut(); !slices.Equal(got, []string{"Ethernet0", "Ethernet12", "Ethernet16"}) {
		t.Errorf("%v are shut", got)
	}
	for name, change := range map[string]func(*fabric.Port){
		"a block":         func(p *fabric.Port) { p.Flags &^= fabric.Implicit },
		"not managed":     func(p *fabric.Port) { p.Manage = fabric.HandsOff },
		"it says itself":  func(p *fabric.Port) { p.Flags |= fabric.EnabledSet },
		"an address":      func(p *fabric.Port) { p.Flags |= fabric.RoutedPort },
		"a cable again":   func(p *fabric.Port) { p.Link = 1 },
		"member of a LAG": func(p *fabric.Port) { p.LAG = 1 },
	} {
		before := d.Ports[spare]
		change(&d.Ports[spare])
		b := build(d.Fabric, facts(t, d), tor)
		if b.spare(&d.Ports[spare]) && d.Ports[spare].Manage != fabric.HandsOff {
			t.Errorf("%s: the port is shut", name)
		}
		if p := b.out.PortNamed("Ethernet0"); name == "not managed" && p != nil {
			t.Errorf("%s: %+v", name, p)
		}
		d.Ports[spare] = before
	}
}
