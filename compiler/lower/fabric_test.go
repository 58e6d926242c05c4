package lower

import (
	"fmt"
	"net/netip"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// draft builds fabrics by hand, the way resolve leaves them. Every declaration
// gets a span of its own: file 1, start as counted.
type draft struct {
	*fabric.Fabric
	at uint32
}

func newDraft() *draft {
	return &draft{Fabric: &fabric.Fabric{
		Devices: make([]fabric.Device, 1), Ports: make([]fabric.Port, 1), Links: make([]fabric.Link, 1), LAGs: make([]fabric.LAG, 1),
		Ifaces: make([]fabric.Iface, 1), NICs: make([]fabric.NIC, 1), Profiles: make([]fabric.Profile, 1), VLANSets: make([][]fabric.SegmentID, 1),
		QoS: make([]fabric.QoS, 1), Segments: make([]fabric.Segment, 1), Models: make([]fabric.SwitchModel, 1), NICModels: make([]fabric.NICModel, 1),
		MLAGs: make([]fabric.MLAG, 1), Decls: make([]fabric.Decl, 1), Layers: make([]fabric.Layers, 1), Headrooms: make([]fabric.Headroom, 1),
	}}
}

func (d *draft) s(text string) fabric.Str { return d.Names.Add(text) }

// decl is a block in which the given attributes are written.
func (d *draft) decl(head string, parent fabric.DeclID, attrs ...schema.Attr) fabric.DeclID {
	span := func() source.Span {
		d.at++
		return source.Span{File: 1, Start: d.at, Len: 1}
	}
	id := fabric.DeclID(len(d.Decls))
	d.Decls = append(d.Decls, fabric.Decl{Span: span(), Head: d.s(head), Parent: parent})
	for _, a := range attrs {
		d.Spans.Add(id, a, span())
	}
	return id
}

// contract adds a qos of classes.
func (d *draft) contract(name string, trust fabric.Trust, classes ...fabric.Class) fabric.QoSID {
	decl := d.decl(fmt.Sprintf("qos %q", name), 0, schema.ATrust)
	for i := range classes {
		attrs := []schema.Attr{schema.ACarries, schema.APriority, schema.ABandwidth}
		if classes[i].DSCP != 0 {
			attrs = append(attrs, schema.ADSCP)
		}
		if classes[i].ECN.Mode != fabric.Unwritten {
			attrs = append(attrs, schema.AECN)
		}
		classes[i].Decl = d.decl(fmt.Sprintf("class %q", d.Text(classes[i].Name)), decl, attrs...)
	}
	d.QoS = append(d.QoS, fabric.QoS{Name: d.s(name), Address: d.s("qos." + name), Trust: trust, Classes: classes, Decl: decl})
	return fabric.QoSID(len(d.QoS) - 1)
}

// storage are the classes of SMB Direct, NVMe-oF and the like.
func (d *draft) storage() []fabric.Class {
	return []fabric.Class{
		{
			Name: d.s("rdma"), Carries: fabric.CarriesRDMA, DSCP: 1<<26 | 1<<27, Priority: 3, Queue: 3, Group: 3, Lossless: true, Percent: 50, PercentSet: true,
			ECN: fabric.ECN{Mode: fabric.Auto},
		},
		{Name: d.s("cnp"), Carries: fabric.CarriesCNP, DSCP: 1 << 48, Priority: 6, Queue: 6, Strict: true},
		{Name: d.s("default"), Default: true, Percent: 50, PercentSet: true},
	}
}

// profile is what a port does with a contract.
func (d *draft) profile(q fabric.QoSID, host bool, edit func(*fabric.Profile)) fabric.ProfileID {
	p := fabric.Profile{QoS: q, Host: host, Trust: d.QoS[q].Trust}
	def := fabric.Class{}
	for _, c := range d.QoS[q].Classes {
		if c.Default {
			def = c
		}
	}
	for i := range 8 {
		p.Queue[i], p.PFCQueue[i], p.PCP[i] = def.Queue, def.Queue, def.Priority
	}
	for i, c := range d.QoS[q].Classes {
		p.On[i] = fabric.ClassOn{Priority: c.Priority, Queue: c.Queue, Group: c.Group, PFC: c.Lossless}
		p.Sched[c.Queue] = fabric.Sched{Used: true, Strict: c.Strict, Percent: c.Percent, CapMbps: c.CapMbps, CapPercent: c.CapPercent}
		p.PCP[c.Priority], p.Queue[c.Priority], p.Group[c.Priority], p.PFCQueue[c.Priority] = c.Priority, c.Queue, c.Group, c.Queue
		if !host {
			p.ECN[c.Queue] = c.ECN
		}
		for code := range p.DSCP {
			if c.DSCP>>code&1 == 1 {
				p.DSCP[code] = c.Priority
			}
		}
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

func (d *draft) segment(name string, vlan, mtu uint16) fabric.SegmentID {
	d.Segments = append(d.Segments, fabric.Segment{
		Name: d.s(name), VLAN: vlan, MTU: mtu, Subnet: netip.MustParsePrefix(fmt.Sprintf("10.%d.%d.0/24", vlan>>8, vlan&255)),
		Decl: d.decl(fmt.Sprintf("segment %q", name), 0, schema.AVLAN, schema.AMTU),
	})
	return fabric.SegmentID(len(d.Segments) - 1)
}

func (d *draft) vlans(segments ...fabric.SegmentID) fabric.VLANSetID {
	d.VLANSets = append(d.VLANSets, segments)
	return fabric.VLANSetID(len(d.VLANSets) - 1)
}

// spectrum is a switch model whose images compute headroom.
func (d *draft) spectrum() fabric.ModelID {
	d.Models = append(d.Models, fabric.SwitchModel{
		Name: d.s("nvidia/sn4600c"), Family: d.s("spectrum-3"), Formula: d.s("spectrum"), Lanes: 4, CellBytes: 144, BufferBytes: 64_000_000,
		PipelineLatencyBytes: 19 * 1024, MacPhyDelayBytes: 819, Watchdog: map[string]bool{"sonic": true}, Facts: map[string]int64{"default_alpha_exponent": 0},
	})
	return fabric.ModelID(len(d.Models) - 1)
}

// trident is one that looks it up.
func (d *draft) trident() fabric.ModelID {
	m := fabric.SwitchModel{
		Name: d.s("arista/7050qx-32s"), Family: d.s("trident2"), Formula: d.s("reference"), CellBytes: 208, BufferBytes: 12_000_000,
		Platform: d.s("x86_64-arista_7050_qx32s"), HWSKU: d.s("Arista-7050-QX-32S"), Watchdog: map[string]bool{"*": true},
	}
	d.HeadroomRows = append(d.HeadroomRows,
		fabric.HeadroomRow{Platform: m.Platform, SKU: m.HWSKU, Mbps: 40_000, CableMm: 5_000, SizeBytes: 46_384, XonBytes: 18_432, XonOffsetBytes: 2_496, XoffBytes: 45_136, AlphaExponent: -3},
		fabric.HeadroomRow{Platform: m.Platform, SKU: m.HWSKU, Mbps: 40_000, CableMm: 40_000, SizeBytes: 48_464, XonBytes: 18_432, XonOffsetBytes: 2_496, XoffBytes: 47_216, AlphaExponent: -3})
	d.Models = append(d.Models, m)
	return fabric.ModelID(len(d.Models) - 1)
}

func (d *draft) connectx() fabric.NICModelID {
	d.NICModels = append(d.NICModels, fabric.NICModel{
		Name: d.s("nvidia/connectx-6-dx"), Driver: d.s("mlx5"), TrafficClasses: 8, PFCPriorities: 8, Facts: map[string]int64{"receive_cell_bytes": 128_000},
	})
	return fabric.NICModelID(len(d.NICModels) - 1)
}

// device adds a device with its ports, all alike.
func (d *draft) device(name, os, version string, model fabric.ModelID, ports ...string) fabric.DeviceID {
	kind, word := fabric.Switch, "switch"
	if model == 0 {
		kind, word = fabric.Node, "node"
	}
	id := fabric.DeviceID(len(d.Devices))
	decl := d.decl(fmt.Sprintf("%s %q", word, name), 0, schema.AOS, schema.AModel, schema.AQoS, schema.AHash, schema.AFirmware)
	d.Devices = append(d.Devices, fabric.Device{
		Name: d.s(name), Address: d.s(word + "." + name), Kind: kind, Trusted: true, OSName: d.s(os), OSVersion: d.s(version), Model: model,
		First: fabric.PortID(len(d.Ports)), NPorts: uint32(len(ports)), Decl: decl,
	})
	d.Layers = append(d.Layers, fabric.Layers{Chain: []fabric.Layer{{By: decl, At: fabric.AtDevice}}})
	for _, p := range ports {
		d.Ports = append(d.Ports, fabric.Port{
			Device: id, Name: d.s(p), Role: fabric.RoleUnused, Layers: fabric.LayersID(len(d.Layers) - 1),
			Decl: d.decl(fmt.Sprintf("port %q", p), decl, schema.ASpeed, schema.AMTU),
		})
	}
	return id
}

func (d *draft) port(dev fabric.DeviceID, name string) fabric.PortID {
	first, end := d.PortsOf(dev)
	for p := first; p < end; p++ {
		if d.Text(d.Ports[p].Name) == name {
			return p
		}
	}
	panic("no port " + name)
}

func (d *draft) cable(a, b fabric.PortID, mm uint32) {
	id := fabric.LinkID(len(d.Links))
	d.Links = append(d.Links, fabric.Link{A: min(a, b), B: max(a, b), CableMm: mm, LengthWritten: mm > 0, Decl: d.decl(fmt.Sprintf("link %q", fmt.Sprint(id)), 0, schema.ACable)})
	d.Ports[a].Peer, d.Ports[b].Peer, d.Ports[a].Link, d.Ports[b].Link = b, a, id, id
	for _, p := range []fabric.PortID{a, b} {
		switch {
		case d.Devices[d.Ports[p].Device].Kind == fabric.Node:
			d.Ports[p].Role = fabric.RoleHost
		case d.Devices[d.Ports[d.Ports[p].Peer].Device].Kind == fabric.Node:
			d.Ports[p].Role = fabric.RoleNode
		default:
			d.Ports[p].Role = fabric.RoleFabric
		}
	}
}

// nic makes a port one of an adapter.
func (d *draft) nic(p fabric.PortID, n fabric.NIC) {
	n.Port, n.Rail, n.Plane = p, -1, -1
	d.NICs = append(d.NICs, n)
	d.Ports[p].NIC = fabric.NICID(len(d.NICs) - 1)
}

func (d *draft) lag(l fabric.LAG) fabric.LAGID {
	id := fabric.LAGID(len(d.LAGs))
	l.Decl = d.decl(fmt.Sprintf("lag %q", d.Text(l.Name)), d.Devices[l.Device].Decl, schema.AMembers, schema.AMode)
	d.LAGs = append(d.LAGs, l)
	for _, p := range l.Members {
		d.Ports[p].LAG = id
	}
	return id
}

func (d *draft) iface(i fabric.Iface) fabric.IfaceID {
	i.Decl = d.decl(fmt.Sprintf("interface %q", d.Text(i.Name)), d.Devices[i.Device].Decl, schema.AOn, schema.AAddress)
	d.Ifaces = append(d.Ifaces, i)
	return fabric.IfaceID(len(d.Ifaces) - 1)
}

func (d *draft) prefixes(list ...string) fabric.Prefixes {
	var parsed []netip.Prefix
	for _, s := range list {
		parsed = append(parsed, netip.MustParsePrefix(s))
	}
	return d.Prefixes.Add(parsed...)
}
