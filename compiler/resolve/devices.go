package resolve

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/filename"
	"github.com/rocec/rocec/lang/schema"
)

// overlayMarks are the words of the attribute.
var overlayMarks = map[string]fabric.OverlayMarks{"kept": fabric.MarksKept, "lost": fabric.MarksLost}

func (r *resolver) segments() {
	r.segmentOf = map[lang.BlockID]fabric.SegmentID{}
	r.top(schema.Segment, func(b lang.BlockID) {
		s := fabric.Segment{
			Name: r.str(r.cfg.Blocks[b].Name), VLAN: uint16(r.attr(b, schema.AVLAN).N), First: 11,
			VRF: r.vrf(r.routingTable(r.attr(b, schema.AVRF))), Isolated: r.attr(b, schema.AIsolated).N == 1,
			MTU: uint16(r.attr(b, schema.AMTU).N), Decl: r.decl(b), Layers: r.layersOn(b), Address: r.f.Names.Add(r.cfg.Address(b)),
			Overlay: r.attr(b, schema.AOverlay).Kind != lang.Absent, OverlayMarks: overlayMarks[r.cfg.Text(r.attr(b, schema.AOverlayMarks))], About: r.text(r.attr(b, schema.ADescription)),
		}
		switch r.cfg.Text(r.attr(b, schema.AUnknownUnicast)) {
		case "flood":
			s.Unknown = fabric.UnknownFlood
		case "limit":
			s.Unknown = fabric.UnknownLimit
		}
		s.FloodClass = r.text(r.attr(b, schema.AFloodClass))
		s.Subnet = r.subnet(b)
		if v := r.attr(b, schema.AFirst); v.Kind == lang.Int {
			s.First = uint32(v.N)
		}
		if v := r.attr(b, schema.AGateway); v.Kind == lang.Text {
			t := r.cfg.Text(v)
			s.Gateway, _ = netip.ParseAddr(t) // the loader has checked its form
			if s.Subnet.IsValid() && !s.Subnet.Contains(s.Gateway) {
				r.fail(fmt.Sprintf("gateway %s of segment %s is not in its subnet %s", t, r.f.Text(s.Name), s.Subnet),
					"write a host address of the subnet", r.at(b, schema.AGateway, ""), r.at(b, schema.ASubnet, "the subnet"))
			}
			r.routerOf(s.Subnet, s.Gateway, b)
		}
		if s.Outside = r.attr(b, schema.AExternalGateway).N == 1; s.Outside && !s.Gateway.IsValid() {
			r.fail(fmt.Sprintf("segment %s has an external gateway and writes none", r.f.Text(s.Name)), "write gateway, the address of that router",
				r.at(b, schema.AExternalGateway, ""))
		}
		if v := r.attr(b, schema.AQoS); v.Kind == lang.Handle {
			s.QoS = r.qosOf[lang.BlockID(v.N)]
		}
		r.segmentOf[b] = fabric.SegmentID(len(r.f.Segments))
		r.f.Segments = append(r.f.Segments, s)
	})
}

// subnet is the subnet attribute of a block, with host bits refused.
func (r *resolver) subnet(b lang.BlockID) netip.Prefix {
	return r.subnetAt(b, r.attr(b, schema.ASubnet))
}

func (r *resolver) subnetAt(b lang.BlockID, v lang.Value) netip.Prefix {
	t := r.cfg.Text(v)
	if t == "" {
		return netip.Prefix{}
	}
	p, err := netip.ParsePrefix(t)
	if err != nil {
		return netip.Prefix{}
	}
	if p != p.Masked() {
		r.fail(fmt.Sprintf("subnet %s has bits set beyond its length", t), fmt.Sprintf("write %s", p.Masked()), r.at(b, schema.ASubnet, ""))
	}
	return p.Masked()
}

// devices makes a row for each switch and node, in one order whatever the source's,
// and refuses names that are equal but for case.
func (r *resolver) devices() {
	r.deviceOf = make([]fabric.DeviceID, len(r.cfg.Blocks))
	r.blockOf = make([]lang.BlockID, 1)
	list := devicesOf(r.cfg)
	r.f.Devices, r.blockOf = slices.Grow(r.f.Devices, len(list)), slices.Grow(r.blockOf, len(list))
	byName := make(map[string]lang.BlockID, len(list))
	for _, b := range list {
		r.addDevice(b, byName)
	}
}

// devicesOf are the blocks of all devices, those that topologies make among them: the
// switches, then the nodes, each in the order of their names.
func devicesOf(cfg *lang.Config) []lang.BlockID {
	switches, nodes := []lang.BlockID{}, []lang.BlockID{}
	for _, b := range cfg.Top {
		switch cfg.Blocks[b].Kind {
		case schema.Switch:
			switches = append(switches, b)
		case schema.Node:
			nodes = append(nodes, b)
		case schema.Topology:
			first, end := cfg.Kids(b)
			for k := first; k < end; k++ {
				if blk := &cfg.Blocks[k]; blk.Kind.Tier() && blk.Name != 0 {
					switches = append(switches, k)
				}
			}
		}
	}
	byName(cfg, switches)
	byName(cfg, nodes)
	return append(switches, nodes...)
}

func (r *resolver) addDevice(b lang.BlockID, byName map[string]lang.BlockID) {
	name := r.blockName(b)
	key := strings.ToLower(name)
	if other, taken := byName[key]; taken {
		r.fail(fmt.Sprintf("two devices are called %s: %s and %s", name, r.cfg.Address(other), r.cfg.Address(b)),
			"names are unique in the whole fabric, modules included, without regard to case; set name on one of them",
			r.nameLabel(b), withText(r.nameLabel(other), "the other"))
		return
	}
	byName[key] = b
	r.deviceOf[b] = fabric.DeviceID(len(r.f.Devices))
	d := r.device(b, r.cfg.Blocks[b].Kind)
	r.f.Devices = append(r.f.Devices, d)
	r.blockOf = append(r.blockOf, b)
	if d.Manage != fabric.HandsOff && (filename.Reserved(name) || strings.HasSuffix(name, ".")) {
		r.fail(fmt.Sprintf("the files of %s lie in a folder called %q, which cannot be a folder on Windows", r.cfg.Address(b), name),
			"set name to another one: nobody who uses Windows could check out its files, or its part of the record", r.nameLabel(b))
	}
}

func (r *resolver) nameLabel(b lang.BlockID) diag.Label { return r.at(b, schema.AName, "") }

func withText(l diag.Label, text string) diag.Label { l.Text = text; return l }

func (r *resolver) device(b lang.BlockID, kind schema.Kind) fabric.Device {
	base := r.deviceLayers(b)
	d := fabric.Device{
		Name: r.str(r.cfg.Blocks[b].Name), Kind: fabric.Node, Trusted: true, Decl: r.decl(b), Layers: base.id,
		Role: r.text(base.get(schema.ARole)), Rack: r.text(base.get(schema.ARack)), Cluster: r.text(base.get(schema.ACluster)),
		Site: r.text(base.get(schema.ASite)), About: r.text(base.get(schema.ADescription)), Mgmt: r.text(base.get(schema.AMgmt)), Tenant: r.text(base.get(schema.ATenant)),
		Slot: uint32(base.get(schema.ASlot).N), Address: r.f.Names.Add(r.cfg.Address(b)),
		Manage: manageOf(r.cfg.Text(base.get(schema.AManage))), Connection: r.way(base),
	}
	if v := base.get(schema.ATrusted); v.Kind == lang.Int {
		d.Trusted = v.N == 1
	}
	below := r.goesBy(b, base)
	os := r.cfg.Text(r.orBelow(base, below, schema.AOS))
	name, version, _ := strings.Cut(os, "/")
	d.OSName, d.OSVersion = r.f.Names.Add(name), r.f.Names.Add(version)
	// Of a tier one switch speaks for all: they are written once.
	speaks := r.cfg.Blocks[b].Index == 0 || !kind.Tier()
	if below != 0 && manageOf(r.cfg.Text(r.attr(below, schema.AManage))) != fabric.HandsOff {
		speaks = false // what the tier below lacks is said there
	}
	if os == "" && d.Manage != fabric.HandsOff && speaks {
		r.fail(fmt.Sprintf("%s %s has no os", kind, r.blockName(b)),
			`write os = "name/version", or manage = "none" for a device that is taken as declared`, r.f.DeclLabel(r.decl(b), ""))
	}
	if kind == schema.Node {
		r.hostAsFound(&d, base)
		return d
	}
	d.Kind = fabric.Switch
	if m := r.orBelow(base, below, schema.AModel); m.Kind != lang.Absent {
		d.Model = r.modelOf[r.cfg.Text(m)] // the loader has refused unknown models
	} else if d.Manage != fabric.HandsOff && speaks {
		r.fail(fmt.Sprintf("%s %s has no model", kind, r.blockName(b)),
			`write model = "vendor/model": its ports, buffers and limits follow from it`, r.f.DeclLabel(r.decl(b), ""))
	}
	buffer := base.get(schema.ABuffer)
	d.Buffer = fabric.DeviceBuffer{
		SharedBytes: uint64(r.cfg.Field(buffer, schema.AShared).N), HeadroomBytes: uint64(r.cfg.Field(buffer, schema.AHeadroom).N),
		Alpha: r.ratio(r.cfg.Field(buffer, schema.AAlpha)), MaxOver: r.ratio(r.cfg.Field(buffer, schema.AMaxOversubscription)),
	}
	r.asFound(&d, base)
	r.foundPools(&d, base)
	d.Layers = base.id
	if v, l := base.where(schema.AMTU); v.Kind == lang.Int && l.height != fabric.AtDefaults {
		d.MTU = uint16(v.N)
	}
	d.ShutSpare = r.cfg.Text(base.get(schema.ASparePorts)) == "shut"
	d.Firmware = r.text(base.get(schema.AFirmware))
	r.expected("firmware", d.Firmware, func() diag.Label { return r.f.Label(d.Decl, d.Layers, schema.AFirmware, "") })
	d.SemiLossless = base.get(schema.ASemiLossless).N == 1
	hash := base.get(schema.AHash)
	d.Hash.Function = r.text(r.cfg.Field(hash, schema.AFunction))
	if seed := r.cfg.Field(hash, schema.ASeed); seed.Kind == lang.Int {
		d.Hash.Seed, d.Hash.SeedSet = uint32(seed.N), true
	}
	return d
}

// expected refuses a version that is none and no condition on one, once for
// each text: it is compared with what a device shows, and would never be met.
func (r *resolver) expected(what string, text fabric.Str, at func() diag.Label) {
	if text == 0 || r.versions[text] {
		return
	}
	r.versions[text] = true
	if _, err := intent.ParseVersions(r.f.Text(text)); err != nil {
		r.fail(fmt.Sprintf("%s: %v", what, err), `write a version, "28.43.*" or conditions such as ">= 28.43, < 29"`, at())
	}
}

// goesBy is the tier whose model and OS a generated switch has when its own
// tier writes none: the one below, in the first of its pods.
func (r *resolver) goesBy(b lang.BlockID, base *scope) lang.BlockID {
	kind := r.cfg.Blocks[b].Kind
	if !kind.Tier() || kind == schema.Leaf || base.get(schema.AOS).Kind != lang.Absent && base.get(schema.AModel).Kind != lang.Absent {
		return 0
	}
	topo := r.cfg.Blocks[b].Parent
	if pods := r.cfg.List(r.attr(topo, schema.APods)); len(pods) > 0 && pods[0].Kind == lang.Handle {
		topo = lang.BlockID(pods[0].N)
	}
	found := lang.BlockID(0)
	first, end := r.cfg.Kids(topo)
	for k := first; k < end && found == 0; k++ {
		if r.cfg.Blocks[k].Kind == schema.Leaf {
			found = k
		}
	}
	if found != 0 && r.cfg.Blocks[found].Name == 0 { // written switches say it themselves
		if list := r.cfg.List(r.attr(found, schema.ASwitches)); len(list) > 0 && list[0].Kind == lang.Handle {
			found = lang.BlockID(list[0].N)
		}
	}
	return found
}

// orBelow is an attribute of a device, else that of the tier it goes by.
func (r *resolver) orBelow(base *scope, below lang.BlockID, n schema.Attr) lang.Value {
	v := base.get(n)
	if v.Kind == lang.Absent && below != 0 {
		v = r.attr(below, n)
		if v.Kind != lang.Absent {
			l := r.f.Layers[base.id]
			if l.Below != r.decl(below) {
				base.id = r.layersBelow(base, below)
			}
		}
	}
	return v
}

func manageOf(word string) fabric.Manage {
	switch word {
	case "verify":
		return fabric.Verify
	case "none":
		return fabric.HandsOff
	}
	return fabric.Full
}
