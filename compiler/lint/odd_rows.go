package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/compiler/lower"
	"github.com/rocec/rocec/lang/schema"
)

// roles numbers the devices and segments that should be alike.
func (o *odds) roles() {
	f := o.p.Fabric
	type role struct {
		alike                 alikeKey
		topology              fabric.TopologyID
		model                 fabric.ModelID
		os                    fabric.Str
		manage                fabric.Manage
		cluster, site, tenant fabric.Str
		pair, trusted         bool
		hosts                 bool // are on it: of a switch that nobody gives a role
	}
	hosts := func(d fabric.DeviceID) bool {
		for p, end := f.PortsOf(d); p < end; p++ {
			if f.Ports[p].Role == fabric.RoleNode {
				return true
			}
		}
		return false
	}
	devices := interned[role]{}
	o.devices = make([]kindID, len(f.Devices))
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		dev := &f.Devices[d]
		o.devices[d] = devices.of(role{
			o.p.roleKey(dev), dev.Topology, dev.Model, dev.OSName, dev.Manage,
			dev.Cluster, dev.Site, dev.Tenant, dev.MLAG != 0, dev.Trusted, dev.Role == 0 && dev.Tier == fabric.NoTier && hosts(d),
		})
	}
	type net struct {
		qos      fabric.QoSID
		mtu      uint16
		vrf      fabric.Str
		isolated bool
		overlay  bool
	}
	nets := interned[net]{}
	o.nets = make([]kindID, len(f.Segments))
	for s := 1; s < len(f.Segments); s++ {
		seg := &f.Segments[s]
		o.nets[s] = nets.of(net{seg.QoS, seg.MTU, seg.VRF, seg.Isolated, seg.Overlay})
	}
	sets := interned[string]{}
	o.sets = make([]kindID, len(f.VLANSets))
	for v := range f.VLANSets {
		var kinds []kindID
		for _, s := range f.VLANSets[v] {
			kinds = append(kinds, o.nets[s])
		}
		if len(kinds) > 0 {
			slices.Sort(kinds)
			o.sets[v] = sets.of(fmt.Sprint(slices.Compact(kinds)))
		}
	}
}

// addressed notes what has an address: that it has none is nothing that an interface
// could say, as there is none then.
func (o *odds) addressed() {
	f := o.p.Fabric
	o.nicHas, o.lagHas = make([]bool, len(f.Ports)), make([]bool, len(f.LAGs))
	for i := 1; i < len(f.Ifaces); i++ {
		iface := &f.Ifaces[i]
		if iface.Addresses.Len() > 0 {
			o.nicHas[iface.On], o.lagHas[iface.OnLAG] = true, true
		}
	}
}

// oddDerived is what a port is told of what was derived for it. Headroom follows from
// its cable, and thresholds of ECN that are auto from the buffer that headroom leaves.
type oddDerived struct {
	capMbps [8]uint32
	ecn     [8]derive.ECN
}

func (o *odds) derived(facts *derive.Port) *oddDerived {
	d := &oddDerived{capMbps: facts.CapMbps}
	for q, e := range facts.ECN {
		d.ecn[q] = derive.ECN{On: e.On, Auto: e.Auto}
		if !e.Auto {
			d.ecn[q] = derive.ECN{On: e.On, MinBytes: e.MinBytes, MaxBytes: e.MaxBytes, Probability: e.Probability}
		}
	}
	return d
}

// marking shows ECN as an intent does, but for thresholds that are auto.
func (d *oddDerived) marking(text string) string {
	queues := strings.Split(text, ", ")
	for i, queue := range queues {
		number, _, _ := strings.Cut(queue, ": ")
		if q, err := strconv.Atoi(number); err == nil && d.ecn[q&7].Auto {
			queues[i] = number + ": auto"
		}
	}
	return strings.Join(queues, ", ")
}

// oddNIC is what a NIC adds.
type oddNIC struct {
	port                   kindID
	roce, firmware, driver fabric.Str
	vfs                    fabric.VFs
	storm                  fabric.StormTimeout
	address                bool
}

func (o *odds) ports() {
	f, p := o.p.Fabric, o.p
	kinds := p.kinds().ports
	k := &oddKind{
		object: intent.OfPort, word: "ports", of: make([]kindID, len(f.Ports)), told: make([]kindID, len(f.Ports)),
		device: func(r oddRow) fabric.DeviceID { return f.Ports[r].Device },
		name:   func(r oddRow) string { return lower.PortName(f, fabric.PortID(r)) },
		text:   func(r oddRow) string { return "port " + f.PortName(fabric.PortID(r)) },
		at:     func(r oddRow) string { return f.PortAddress(fabric.PortID(r)) },
		layers: func(r oddRow) fabric.LayersID { return f.Ports[r].Layers },
		link:   func(r oddRow) fabric.LinkID { return f.Ports[r].Link },
		share: func(r oddRow) oddShare {
			port := &f.Ports[r]
			return oddShare{f.Profiles[port.Profile].QoS, o.nets[port.Native], o.sets[port.VLANs]}
		},
	}
	o.compared, o.mtus = k.of, make([]uint16, len(f.Ports))
	k.role = func(r oddRow) oddRole { return o.portRole(fabric.PortID(r)) }
	type switchPort struct {
		share   oddShare
		port    fabric.Port
		derived oddDerived
	}
	roles, tolds, nics := interned[oddRole]{}, interned[switchPort]{}, interned[oddNIC]{}
	byKind := make([]kindID, len(f.Ports)+1) // of the switch ports of a kind: there are at most as many kinds
	for id := fabric.PortID(1); int(id) < len(f.Ports); id++ {
		port := &f.Ports[id]
		if port.Flags&(fabric.IsLAG|fabric.IsVNIC|fabric.External) != 0 ||
			port.Manage == fabric.HandsOff || f.Devices[port.Device].Manage == fabric.HandsOff {
			continue
		}
		if port.Link == 0 && port.NIC == 0 {
			continue // prepared for whatever comes
		}
		role := oddRole{device: o.devices[port.Device], port: port.Role, member: port.LAG != 0}
		k.of[id], o.mtus[id] = roles.of(role), port.MTU
		told := byKind[kinds[id]] // without what it is free in: see oddFree
		if told == 0 {
			t := p.portKind(id).port
			t.Native, t.VLANs, t.Role, t.MACsec, t.MTUFloor = 0, 0, 0, 0, 0
			t.Flags &^= fabric.Implicit | fabric.InfiniBand
			told = tolds.of(switchPort{k.share(oddRow(id)), t, *o.derived(p.Facts.Port(id))})
			byKind[kinds[id]] = told
		}
		if port.NIC != 0 {
			n := &f.NICs[port.NIC]
			t := oddNIC{told, n.RoCE, n.Firmware, n.Driver, n.VFs, n.Storm, o.nicHas[id]}
			t.vfs.Segment = min(n.VFs.Segment, 1)
			told = 1<<31 | nics.of(t)
		}
		k.told[id] = told
	}
	o.judge(k)
}

// portRole is the role of a port, with what is at the other end of its cable.
func (o *odds) portRole(id fabric.PortID) oddRole {
	f := o.p.Fabric
	port := &f.Ports[id]
	peer := &f.Ports[port.Peer]
	role := oddRole{device: o.devices[port.Device], port: port.Role, member: port.LAG != 0}
	if port.Peer != 0 {
		role.peer = o.devices[peer.Device]
	}
	if port.NIC != 0 {
		role.name, role.nic = port.Name, f.NICs[port.NIC].Model
	} else if peer.NIC != 0 {
		role.name, role.nic = peer.Name, f.NICs[peer.NIC].Model
	}
	if split, _ := f.SplitOf(id); split != nil {
		role.split = split.Count
	}
	return role
}

// oddLAG is what a LAG is told.
type oddLAG struct {
	share   oddShare
	mode    fabric.LAGMode
	hash    fabric.Str
	mtu     uint16
	fast    bool
	rateSet bool
	mlag    bool
	address bool
	written bool // its MTU
	denies  fabric.PortFlags
}

func (o *odds) lags() {
	f := o.p.Fabric
	k := &oddKind{
		object: intent.OfLAG, word: "LAGs", of: make([]kindID, len(f.LAGs)), told: make([]kindID, len(f.LAGs)),
		device: func(r oddRow) fabric.DeviceID { return f.LAGs[r].Device },
		name:   func(r oddRow) string { return f.Text(f.LAGs[r].Name) },
		text: func(r oddRow) string {
			word := "LAG "
			if f.Devices[f.LAGs[r].Device].Kind == fabric.Node {
				word = "bond "
			}
			return word + f.Text(f.Devices[f.LAGs[r].Device].Name) + "/" + f.Text(f.LAGs[r].Name)
		},
		at:     func(r oddRow) string { return f.LAGAddress(fabric.LAGID(r)) },
		layers: func(r oddRow) fabric.LayersID { return f.LAGs[r].Layers },
		link:   func(oddRow) fabric.LinkID { return 0 },
		share: func(r oddRow) oddShare {
			l := &f.LAGs[r]
			return oddShare{0, o.nets[l.Native], o.sets[l.VLANs]}
		},
	}
	k.role = func(r oddRow) oddRole {
		l := &f.LAGs[r]
		role := o.portRole(l.Members[0])
		if role.other = role.name; f.Devices[l.Device].Kind == fabric.Node {
			role.name = l.Name
		}
		return role
	}
	roles, tolds := interned[oddRole]{}, interned[oddLAG]{}
	for id := 1; id < len(f.LAGs); id++ {
		l := &f.LAGs[id]
		if len(l.Members) == 0 || o.compared[l.Members[0]] == 0 {
			continue
		}
		k.of[id] = roles.of(oddRole{device: o.devices[l.Device]})
		t := oddLAG{
			share: k.share(oddRow(id)), mode: l.Mode, hash: l.Hash, mtu: l.MTU, fast: l.Fast, rateSet: l.RateSet,
			mlag: l.MLAG != 0, address: o.lagHas[id],
		}
		_, _, t.written = f.Origin(l.Decl, l.Layers, schema.AMTU)
		for _, m := range append(l.Members[:len(l.Members):len(l.Members)], l.Port) {
			port := &f.Ports[m]
			t.denies |= port.Flags & (fabric.DenySet | fabric.DenyRoCEv2 | fabric.DenyRoCEv1 | fabric.MTUSet)
		}
		k.told[id] = tolds.of(t)
	}
	o.judge(k)
}

// oddIface is what an interface is told.
type oddIface struct {
	share            oddShare
	mtu              uint16
	vrf              fabric.Str
	rdma             bool
	tagged           bool
	pinned           bool
	address, gateway bool
	written          bool // the VRF of a host, which that of a segment is not
}

func (o *odds) ifaces() {
	f := o.p.Fabric
	k := &oddKind{
		object: intent.OfIface, word: "interfaces",
		device: func(r oddRow) fabric.DeviceID { return f.Ifaces[r].Device },
		name:   func(r oddRow) string { return lower.IfaceName(f, fabric.IfaceID(r)) },
		text: func(r oddRow) string {
			return "interface " + f.Text(f.Devices[f.Ifaces[r].Device].Name) + "/" + f.Text(f.Ifaces[r].Name)
		},
		at:     func(r oddRow) string { return f.IfaceAddress(fabric.IfaceID(r)) },
		layers: func(r oddRow) fabric.LayersID { return f.Ifaces[r].Layers },
		link:   func(oddRow) fabric.LinkID { return 0 },
		share:  func(r oddRow) oddShare { return oddShare{0, o.nets[f.Ifaces[r].Segment], 0} },
	}
	tolds := interned[oddIface]{}
	k.role = func(r oddRow) (role oddRole) {
		i := &f.Ifaces[r]
		if i.On != 0 {
			role = o.portRole(i.On)
			role.other = role.name
		}
		role.device, role.iface, role.name = o.devices[i.Device], i.Kind, 0
		if f.Devices[i.Device].Kind == fabric.Node && i.Kind != fabric.DirectIface || i.Kind == fabric.LoopbackIface {
			role.name = i.Name
		}
		return role
	}
	const kinds = 8 // at least those of fabric.IfaceKind
	role := func(i *fabric.Iface) kindID {
		if f.Devices[i.Device].Manage == fabric.HandsOff || i.On != 0 && o.compared[i.On] == 0 {
			return 0
		}
		return o.devices[i.Device]*kinds + kindID(i.Kind)
	}
	alike := func(i, as *fabric.Iface) bool {
		return i.Segment == as.Segment && i.MTU == as.MTU && o.mtus[i.On] == o.mtus[as.On] &&
			i.OnLAG == as.OnLAG && i.RDMA == as.RDMA && i.Tagged == as.Tagged && i.Pin == as.Pin &&
			i.VRF == as.VRF && (i.VRF == 0 || f.Devices[i.Device].Kind == fabric.Switch) && (i.On != 0) == (as.On != 0) &&
			(i.Addresses.Len() > 0) == (as.Addresses.Len() > 0) && (i.Gateway.Len() > 0) == (as.Gateway.Len() > 0)
	}
	// Most roles are of one mind, and nothing has to be kept of their rows.
	first := make([]int, (slices.Max(o.devices)+1)*kinds)
	varied, any := make([]bool, len(first)), false
	for id := 1; id < len(f.Ifaces); id++ {
		switch of := role(&f.Ifaces[id]); {
		case of == 0:
		case first[of] == 0:
			first[of] = id
		case !alike(&f.Ifaces[id], &f.Ifaces[first[of]]):
			varied[of], any = true, true
		}
	}
	if !any && !o.p.everyRow {
		return
	}
	k.of, k.told = make([]kindID, len(f.Ifaces)), make([]kindID, len(f.Ifaces))
	for id := 1; id < len(f.Ifaces); id++ {
		i := &f.Ifaces[id]
		dev, of, mtu := &f.Devices[i.Device], role(i), o.mtus[i.On]
		if of == 0 || !varied[of] && !o.p.everyRow {
			continue
		}
		k.of[id] = of
		t := oddIface{
			share: k.share(oddRow(id)), mtu: i.MTU, vrf: i.VRF, rdma: i.RDMA, tagged: i.Tagged,
			pinned: i.Pin != 0, address: i.Addresses.Len() > 0, gateway: i.Gateway.Len() > 0,
		}
		if i.Kind == fabric.DirectIface || i.Kind == fabric.RoutedIface {
			if i.On != 0 && mtu == i.MTU || i.OnLAG != 0 && f.LAGs[i.OnLAG].MTU == i.MTU {
				t.mtu = 0 // which stands there
			}
		}
		if dev.Kind == fabric.Node && i.VRF != 0 {
			_, _, t.written = f.Origin(i.Decl, i.Layers, schema.AVRF)
		}
		k.told[id] = tolds.of(t)
	}
	o.judge(k)
}

// oddDevice is what a device as a whole is told.
type oddDevice struct {
	buffer   fabric.DeviceBuffer
	firmware fabric.Str
	hash     fabric.Str
	arp, mac uint32
	interval uint32
	timeout  uint32
	shut     bool
}

func (o *odds) wholes() {
	f := o.p.Fabric
	k := &oddKind{
		object: intent.OfDevice, word: "devices", of: make([]kindID, len(f.Devices)), told: make([]kindID, len(f.Devices)),
		device: func(r oddRow) fabric.DeviceID { return fabric.DeviceID(r) },
		name:   func(oddRow) string { return "" },
		text:   func(r oddRow) string { return f.Text(f.Devices[r].Name) },
		role:   func(r oddRow) oddRole { return oddRole{device: o.devices[r]} },
		at:     func(r oddRow) string { return f.Text(f.Devices[r].Address) },
		layers: func(r oddRow) fabric.LayersID { return f.Devices[r].Layers },
		link:   func(oddRow) fabric.LinkID { return 0 },
		share:  func(oddRow) oddShare { return oddShare{} },
	}
	tolds := interned[oddDevice]{}
	for d := 1; d < len(f.Devices); d++ {
		dev := &f.Devices[d]
		if dev.Manage == fabric.HandsOff || dev.Kind != fabric.Switch {
			continue
		}
		t := oddDevice{dev.Buffer, dev.Firmware, dev.Hash.Function, dev.ARPMs, dev.MACMs, 0, 0, dev.ShutSpare}
		if dev.MLAG != 0 {
			t.interval, t.timeout = f.MLAGs[dev.MLAG].IntervalMs, f.MLAGs[dev.MLAG].TimeoutMs
		}
		k.of[d], k.told[d] = o.devices[d], tolds.of(t)
	}
	o.judge(k)
}
