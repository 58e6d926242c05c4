package lower

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

func TestSelected(t *testing.T) {
	d := newDraft()
	m := d.spectrum()
	tor := d.device("tor", "sonic", "202405", m)
	w1, w2 := d.device("w1", "windows-server", "2025", 0), d.device("w2", "windows-server", "2025", 0)
	deb, hci, odd := d.device("d", "debian", "12", 0), d.device("hci", "azure-local", "23h2", 0), d.device("x", "nx-os", "10", m)
	names := func(id fabric.DeviceID) (list []string) {
		for _, c := range Selected(d.Fabric, id) {
			list = append(list, c.Emitter)
		}
		return list
	}
	all := []fabric.DeviceID{tor, w1, w2, deb, hci, odd}
	compare := func(what string, want ...[]string) {
		t.Helper()
		var got [][]string
		for _, id := range all {
			got = append(got, names(id))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	compare("by default", []string{"sonic"}, []string{"netqos"}, []string{"netqos"}, []string{"linux"}, []string{"network-atc"}, nil)
	d.Selections = []fabric.Selection{
		{Emitter: d.s("netqos"), Output: d.s("win")},
		{Emitter: d.s("network-atc"), Devices: []fabric.DeviceID{w2, hci}, Delivery: d.s("bundle"), Options: []fabric.Option{{Name: d.s("a"), Value: d.s("1")}}},
		{Emitter: d.s("sonic")},
		{Emitter: d.s("sonic")},
	}
	compare("written", []string{"sonic", "sonic"}, []string{"netqos"}, []string{"network-atc"}, []string{"linux"}, []string{"network-atc"}, nil)
	if diff := cmp.Diff([]Chosen{{Emitter: "network-atc", Options: map[string]string{"a": "1"}, Delivery: "bundle"}}, Selected(d.Fabric, w2)); diff != "" {
		t.Error(diff)
	}
	d.Selections[1].Devices = []fabric.DeviceID{}
	compare("a select of nothing", []string{"sonic", "sonic"}, []string{"netqos"}, []string{"netqos"}, []string{"linux"}, []string{"network-atc"}, nil)
	d.Devices[w1].Manage = fabric.HandsOff
	if got := names(w1); got != nil {
		t.Errorf("a device taken as declared has targets %v", got)
	}
}

// Every field of the samples leads somewhere, and those below to one place.
func TestOrigin(t *testing.T) {
	d, node, leaf := nvmeof()
	span := func(decl fabric.DeclID, attr schema.Attr) source.Span {
		at, ok := d.Spans.Find(decl, attr)
		if !ok {
			t.Fatalf("%s does not write %s", d.Where(decl), attr.Name())
		}
		return at
	}
	e0, e4 := d.port(leaf, "Ethernet0"), d.port(leaf, "Ethernet4")
	class := func(i int) fabric.DeclID { return d.QoS[1].Classes[i].Decl }
	portDecl, leafDecl := d.Ports[e0].Decl, d.Devices[leaf].Decl
	restated := d.decl(`port "Ethernet4"`, leafDecl, schema.AHeadroom, schema.APFC)
	d.Ports[e4].Decl = restated
	d.Profiles = append(d.Profiles, d.Profiles[d.Ports[e4].Profile])
	d.Ports[e4].Profile = fabric.ProfileID(len(d.Profiles) - 1)
	p := &d.Profiles[d.Ports[e4].Profile]
	p.Deviates, p.PFCQueue[3] = fabric.DeviatesPFC, 4 // so that it is a value of its own
	f := facts(t, d)
	target := d.decl(`target "sonic"`, 0, schema.AOptions)
	optionAt := source.Span{File: 2, Start: 9, Len: 3}
	d.Selections = []fabric.Selection{{Emitter: d.s("sonic"), Decl: target, Options: []fabric.Option{{Name: d.s("buffer_model"), Value: d.s("x"), Span: optionAt}}}}

	port := func(name, field string) intent.Path {
		return intent.Path{Object: intent.OfPort, Name: name, Field: field}
	}
	qos := func(name, field string) intent.Path {
		return intent.Path{Object: intent.OfQoS, Name: name, Field: field}
	}
	for _, tt := range []struct {
		device fabric.DeviceID
		path   intent.Path
		want   source.Span
	}{
		{leaf, port("Ethernet0", "speed"), span(portDecl, schema.ASpeed)},
		{leaf, port("Ethernet0", "mtu"), span(portDecl, schema.AMTU)},
		{leaf, port("Ethernet0", "qos"), span(leafDecl, schema.AQoS)},
		{leaf, port("Ethernet0", "cable"), span(d.Links[d.Ports[e0].Link].Decl, schema.ACable)},
		{leaf, port("Ethernet0", "enabled"), d.Decls[portDecl].Span}, // nobody wrote it
		{leaf, port("Ethernet0", "headroom.size"), span(class(0), schema.ACarries)},
		{leaf, port("Ethernet4", "headroom"), span(restated, schema.AHeadroom)},
		{leaf, port("Ethernet0", "pfc"), span(class(0), schema.ACarries)},
		{leaf, port("Ethernet0", "watchdog.detect"), span(class(0), schema.ACarries)},
		{leaf, qos("nvme", "pfc"), span(class(0), schema.ACarries)},
		{leaf, qos("nvme-2", "pfc"), span(restated, schema.APFC)},
		{leaf, qos("nvme-2", "ecn"), span(class(0), schema.AECN)},
		{leaf, qos("nvme", "trust"), span(d.QoS[1].Decl, schema.ATrust)},
		{leaf, qos("nvme", "dscp_map"), span(class(0), schema.ADSCP)},
		{leaf, qos("nvme", "ets"), span(class(0), schema.ABandwidth)},
		{leaf, qos("nvme", "strict"), span(class(1), schema.ACarries)},
		{leaf, qos("nvme", "cap"), d.Decls[class(1)].Span},
		{leaf, qos("nvme", "queue_map"), d.Decls[d.QoS[1].Decl].Span},
		{leaf, intent.Path{Object: intent.OfVLAN, Name: "200", Field: "mtu"}, span(d.Segments[2].Decl, schema.AMTU)},
		{leaf, intent.Path{Object: intent.OfVLAN, Name: "200", Field: "id"}, span(d.Segments[2].Decl, schema.AVLAN)},
		{leaf, intent.Path{Object: intent.OfDevice, Field: "os"}, span(leafDecl, schema.AOS)},
		{leaf, intent.Path{Object: intent.OfDevice, Field: "buffer.alpha"}, d.Decls[leafDecl].Span},
		{leaf, intent.Path{Object: intent.OfDevice, Field: "hash.seed"}, span(leafDecl, schema.AHash)},
		{leaf, intent.Path{Object: intent.OfDevice, Field: "hash"}, span(leafDecl, schema.AHash)},
		{leaf, intent.Path{Object: intent.OfDevice, Field: "firmware"}, span(leafDecl, schema.AFirmware)},
		{leaf, intent.Path{Object: intent.OfOption, Name: "buffer_model"}, optionAt},
		{leaf, intent.Path{Object: intent.OfOption, Name: "other"}, d.Decls[target].Span},
		{node, port("eth1", "mtu"), span(d.Ports[d.port(node, "rail1")].Decl, schema.AMTU)},
		{node, qos("nvme", "class.cnp.dscp"), span(class(1), schema.ADSCP)},
		{node, qos("nvme", "class.rdma"), span(class(0), schema.ACarries)},
		{node, intent.Path{Object: intent.OfIface, Name: "rail0.100", Field: "on"}, span(d.Ifaces[1].Decl, schema.AOn)},
	} {
		labels := Origin(d.Fabric, f, tt.device, tt.path)
		if len(labels) == 0 || labels[0].Span != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.path, labels, tt.want)
			continue
		}
		if labels[0].Where == "" || len(labels) > 2 || len(labels) == 2 && labels[1].Text == "" {
			t.Errorf("%s: %+v", tt.path, labels)
		}
	}
	for _, make := range []func() (*draft, fabric.DeviceID, fabric.DeviceID){s2d, nvmeof, mlag} {
		d, a, b := make()
		f := facts(t, d)
		for _, id := range []fabric.DeviceID{a, b} {
			for p := range Device(d.Fabric, f, id).Fields {
				if l := Origin(d.Fabric, f, id, p); len(l) == 0 || l[0].Span.IsZero() {
					t.Errorf("%s leads nowhere: %+v", p, l)
				}
			}
		}
	}
}
