package derive

import (
	"fmt"

	"github.com/rocec/rocec/compiler/fabric"
)

// draft builds small fabrics by hand, the way resolve leaves them.
type draft struct{ *fabric.Fabric }

func newDraft() draft {
	return draft{&fabric.Fabric{
		Devices: make([]fabric.Device, 1), Ports: make([]fabric.Port, 1), Links: make([]fabric.Link, 1), LAGs: make([]fabric.LAG, 1),
		Ifaces: make([]fabric.Iface, 1), NICs: make([]fabric.NIC, 1), Profiles: make([]fabric.Profile, 1), VLANSets: make([][]fabric.SegmentID, 1),
		QoS: make([]fabric.QoS, 1), Segments: make([]fabric.Segment, 1), Models: make([]fabric.SwitchModel, 1), NICModels: make([]fabric.NICModel, 1),
		MLAGs: make([]fabric.MLAG, 1), Decls: make([]fabric.Decl, 1), Layers: make([]fabric.Layers, 1), Headrooms: make([]fabric.Headroom, 1),
	}}
}

// roce is a contract with lossless RDMA on priority 3, CNP on 6 and the rest on 0.
func (d draft) roce(edit func(*fabric.QoS)) fabric.QoSID {
	q := fabric.QoS{Name: d.Names.Add("roce"), Address: d.Names.Add("qos.roce"), Trust: fabric.TrustDSCP, Classes: []fabric.Class{
		{Name: d.Names.Add("rdma"), Carries: fabric.CarriesRDMA, DSCP: 1 << 26, Priority: 3, Queue: 3, Group: 3, Lossless: true, Percent: 50, ECN: fabric.ECN{Mode: fabric.Auto}},
		{Name: d.Names.Add("cnp"), Carries: fabric.CarriesCNP, DSCP: 1 << 48, Priority: 6, Queue: 6, Strict: true},
		{Name: d.Names.Add("default"), Default: true, Percent: 50},
	}}
	if edit != nil {
		edit(&q)
	}
	d.QoS = append(d.QoS, q)
	return fabric.QoSID(len(d.QoS) - 1)
}

// profile is what a port does with a contract.
func (d draft) profile(q fabric.QoSID, host bool, edit func(*fabric.Profile)) fabric.ProfileID {
	p := fabric.Profile{QoS: q, Host: host, Trust: d.QoS[q].Trust}
	for i := range 8 {
		p.Queue[i], p.PFCQueue[i] = uint8(i), uint8(i)
	}
	for i, c := range d.QoS[q].Classes {
		p.On[i] = fabric.ClassOn{Priority: c.Priority, Queue: c.Queue, Group: c.Group, PFC: c.Lossless}
		p.Sched[c.Queue] = fabric.Sched{Used: true, Strict: c.Strict, Percent: c.Percent, CapMbps: c.CapMbps, CapPercent: c.CapPercent}
		p.Group[c.Priority] = c.Group
		p.ECN[c.Queue] = c.ECN
		if c.Lossless {
			p.PFC |= 1 << c.Priority
		}
	}
	if edit != nil {
		edit(&p)
	}
	d.Profiles = append(d.Profiles, p)
	return fabric.ProfileID(len(d.Profiles) - 1)
}

// spectrum is a switch model whose images compute headroom.
func (d draft) spectrum(cell uint32, edit func(*fabric.SwitchModel)) fabric.ModelID {
	m := fabric.SwitchModel{
		Name: d.Names.Add("nvidia/test"), Formula: d.Names.Add("spectrum"), Lanes: 4, CellBytes: cell,
		PipelineLatencyBytes: 19 * 1024, MacPhyDelayBytes: 819, Facts: map[string]int64{},
	}
	if edit != nil {
		edit(&m)
	}
	d.Models = append(d.Models, m)
	return fabric.ModelID(len(d.Models) - 1)
}

func (d draft) device(kind fabric.DeviceKind, os string, model fabric.ModelID, ports int) fabric.DeviceID {
	name, version := os, ""
	for i := range os {
		if os[i] == '/' {
			name, version = os[:i], os[i+1:]
		}
	}
	id := fabric.DeviceID(len(d.Devices))
	d.Devices = append(d.Devices, fabric.Device{
		Name: d.Names.Add(fmt.Sprintf("d%d", id)), Address: d.Names.Add(fmt.Sprintf("switch.d%d", id)), Kind: kind,
		OSName: d.Names.Add(name), OSVersion: d.Names.Add(version), Model: model,
		First: fabric.PortID(len(d.Ports)), NPorts: uint32(ports),
	})
	role := fabric.RoleNode
	if kind == fabric.Node {
		role = fabric.RoleHost
	}
	for i := range ports {
		d.Ports = append(d.Ports, fabric.Port{Device: id, Name: d.Names.Add(fmt.Sprintf("p%d", i)), Role: role})
	}
	return id
}

// cable joins two ports; 0 m means that no length is written.
func (d draft) cable(a, b fabric.PortID, mm uint32) {
	id := fabric.LinkID(len(d.Links))
	d.Links = append(d.Links, fabric.Link{A: min(a, b), B: max(a, b), CableMm: mm, LengthWritten: mm > 0})
	d.Ports[a].Peer, d.Ports[b].Peer = b, a
	d.Ports[a].Link, d.Ports[b].Link = id, id
}

// pair is a switch port cabled to a host port, both lossless on priority 3.
func (d draft) pair(os string, model fabric.ModelID, mbps, mm uint32, mtu uint16) (tor, nic fabric.PortID) {
	q := fabric.QoSID(len(d.QoS) - 1)
	if q == 0 {
		q = d.roce(nil)
	}
	sw := d.device(fabric.Switch, os, model, 1)
	host := d.device(fabric.Node, "ubuntu/24.04", 0, 1)
	tor, nic = d.Devices[sw].First, d.Devices[host].First
	d.cable(tor, nic, mm)
	for _, p := range []fabric.PortID{tor, nic} {
		d.Ports[p].Mbps, d.Ports[p].MTU = mbps, mtu
		d.Ports[p].Profile = d.profile(q, p == nic, nil)
	}
	return tor, nic
}
