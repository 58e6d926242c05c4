package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/compiler/lower"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

var roce726 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE726", Name: "role_setting", Severity: diag.Warning,
		Title:  "what is alike is told alike",
		Why:    "RoCE fails when one port differs from the others, late and far from the cause: what one of many was told otherwise, or was not told, is a slip more often than a plan",
		Fix:    "align it; what is meant stands in an except block with its reason, or on a device with a role of its own",
		Source: "theory I20; Guo et al., SIGCOMM 2016, 6.2; no false word on 20,000 random fabrics that are right, and 99 % of single changes named first",
		Bad:    edit(fourNodes(``, ``), "    fec      = \"rs\"\n", ``),
		Good:   fourNodes(``, ``),
	},
	Run:    oddOnes,
	yields: true,
}

// oddOnes compares every field of the intents of what should be alike: ports, LAGs,
// interfaces and devices. They are counted by what they are told, as far as that is
// theirs to say, and only where that differs are intents made, of one device for each
// way: cost follows variety.
func oddOnes(p *Pass) {
	o := &odds{p: p, read: map[fabric.DeviceID]map[intent.Path]intent.Value{}, seen: map[oddWord]bool{}}
	o.roles()
	o.addressed()
	o.ports()
	o.lags()
	o.ifaces()
	o.wholes()
	o.report()
}

// odds is the state of one look.
type odds struct {
	p        *Pass
	devices  []kindID // by DeviceID: those of one role
	nets     []kindID // by SegmentID: segments that mean the same to who is in them
	sets     []kindID // by VLANSetID, likewise
	compared []kindID // by PortID, 0 for those that are compared with none
	mtus     []uint16 // by PortID, of those that are compared
	nicHas   []bool   // by PortID: an interface on it has an address
	lagHas   []bool   // by LAGID
	read     map[fabric.DeviceID]map[intent.Path]intent.Value
	seen     map[oddWord]bool
	found    []oddOne
}

// oddWord is an attribute of something on a device.
type oddWord struct {
	device fabric.DeviceID
	word   string
}

// oddRow is a port, LAG, interface or device by its number.
type oddRow uint32

// oddRole says which rows should be alike: those that share it.
type oddRole struct {
	device, peer kindID     // role of the device, and of the one at the other end of the cable
	name         fabric.Str // of the NIC, at whichever end; else of the host's own LAG or interface
	other        fabric.Str // then, of the NIC
	nic          fabric.NICModelID
	port         fabric.PortRole
	iface        fabric.IfaceKind
	member       bool  // of a LAG
	split        uint8 // ports that its own was split into
}

// oddShare is what a row carries. Rows of one role that carry different things have
// different duties and are not compared; one that carries less than most has lost it.
type oddShare struct {
	qos            fabric.QoSID
	native, tagged kindID
}

// lacks reports whether a row carries a part only of what another one does.
func (s oddShare) lacks(of oddShare) bool {
	part := func(own, other uint32) bool { return own == 0 || own == other }
	return s != of && part(uint32(s.qos), uint32(of.qos)) &&
		part(uint32(s.native), uint32(of.native)) && part(uint32(s.tagged), uint32(of.tagged))
}

// oddKind is a kind of rows: ports, LAGs, interfaces, devices.
type oddKind struct {
	object intent.Object
	word   string               // for many of them
	of     []kindID             // role by what a row itself says; 0 for what is compared with nothing
	role   func(oddRow) oddRole // with what is at the other end, which takes longer
	told   []kindID             // and carry
	device func(oddRow) fabric.DeviceID
	name   func(oddRow) string // in the intent
	text   func(oddRow) string // in messages
	at     func(oddRow) string // address
	layers func(oddRow) fabric.LayersID
	link   func(oddRow) fabric.LinkID
	share  func(oddRow) oddShare
}

// oddOne is one setting of one row that differs from most of its role.
type oddOne struct {
	kind           *oddKind
	row, most      oddRow // the one that differs, and one of those that do not
	path           intent.Path
	value, typical intent.Value
	have, of       int
	lost           bool // not a setting but what the row carries
	meant          bool // an except block or an override says so
	label, example diag.Label
}

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
			t := oddNIC{told, n.RoCE, n.Firmware, n.Driver, n.VFs, o.nicHas[id]}
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

// judge looks at the roles of a kind whose rows are not all told one thing.
func (o *odds) judge(k *oddKind) {
	if o.p.everyRow {
		for row := range k.told {
			k.told[row] = kindID(row)
		}
	}
	last := slices.Max(append([]kindID{0}, k.of...))
	first := make([]oddRow, last+1) // of each role
	varied := make([]bool, last+1)
	any := false
	for row, of := range k.of {
		switch r := oddRow(row); {
		case of == 0 || varied[of]:
		case first[of] == 0:
			first[of] = r
		case k.told[row] != k.told[first[of]]:
			varied[of], any = true, true
		}
	}
	if !any {
		return
	}
	rows := make([][]oddRow, last+1)
	for row, of := range k.of {
		if varied[of] {
			rows[of] = append(rows[of], oddRow(row))
		}
	}
	for _, list := range rows {
		roles := interned[oddRole]{}
		var fine [][]oddRow
		for _, r := range list {
			id := int(roles.of(k.role(r)))
			if id > len(fine) {
				fine = append(fine, nil)
			}
			fine[id-1] = append(fine[id-1], r)
		}
		for _, list := range fine {
			if len(list) >= oddLeast {
				o.role(k, list)
			}
		}
	}
}

// oddLeast is how many there are at least of what has a majority, which is two thirds:
// what more than every third has otherwise is a design of two kinds.
const oddLeast = 3

func mostOf(have, of int) bool { return of >= oddLeast && 3*have >= 2*of }

// role looks at the rows of one role.
func (o *odds) role(k *oddKind, rows []oddRow) {
	shares := map[oddShare][]oddRow{}
	for _, r := range rows {
		s := k.share(r)
		shares[s] = append(shares[s], r)
	}
	if len(shares) > 1 {
		for _, s := range rows {
			most := k.share(s)
			if !mostOf(len(shares[most]), len(rows)) {
				continue
			}
			for lost, list := range shares {
				if lost.lacks(most) {
					for _, r := range list {
						o.lose(k, r, lost, most, shares[most], len(rows))
					}
				}
			}
			break
		}
	}
	for _, r := range rows {
		s := k.share(r)
		if list := shares[s]; len(list) >= oddLeast && list[0] == r {
			o.fields(k, list)
		}
	}
}

// lose notes a row that lacks what most of its role carry.
func (o *odds) lose(k *oddKind, r oddRow, own, most oddShare, have []oddRow, of int) {
	word := "qos"
	if own.native != most.native || own.tagged != most.tagged {
		word = "segment"
	}
	o.note(oddOne{
		kind: k, row: r, path: intent.Path{Object: k.object, Name: k.name(r), Field: word},
		have: len(have), of: of, lost: true, most: o.firstOf(k, have),
	})
}

// fields compares the fields of rows that carry the same.
func (o *odds) fields(k *oddKind, rows []oddRow) {
	var order []string
	ways := map[kindID]map[string]intent.Value{} // by what rows are told
	for _, r := range rows {
		if ways[k.told[r]] != nil {
			continue
		}
		way := o.way(k, r)
		ways[k.told[r]] = way
		for field := range way {
			if !slices.Contains(order, field) {
				order = append(order, field)
			}
		}
	}
	if len(ways) < 2 {
		return
	}
	slices.Sort(order)
	values := make([]intent.Value, len(rows))
	for _, field := range order {
		same := true
		for i, r := range rows {
			values[i] = ways[k.told[r]][field]
			same = same && values[i] == values[0]
		}
		if !same {
			o.field(k, rows, field, values)
		}
	}
}

// field finds the rows that have a value of their own.
func (o *odds) field(k *oddKind, rows []oddRow, field string, values []intent.Value) {
	all := majorityOf(values)
	if !mostOf(all.have, len(rows)) {
		for _, span := range o.spans(k, rows) {
			if most := majorityOf(values[span[0]:span[1]]); mostOf(most.have, span[1]-span[0]) {
				o.deviants(k, rows[span[0]:span[1]], field, values[span[0]:span[1]], most)
			}
		}
		return
	}
	// A switch on which all of a role have one value is one that differs from other
	// switches, not so many ports that differ from theirs.
	uniform := map[fabric.DeviceID]bool{}
	votes, have := 0, 0
	for _, span := range o.spans(k, rows) {
		own := majorityOf(values[span[0]:span[1]])
		votes++
		if own.value == all.value {
			have++
		} else if n := span[1] - span[0]; n > 1 && own.have == n {
			uniform[k.device(rows[span[0]])] = true
		}
	}
	if len(uniform) > 0 && !mostOf(have, votes) {
		var other []oddRow
		var left []intent.Value
		for i, r := range rows {
			if !uniform[k.device(r)] {
				other, left = append(other, r), append(left, values[i])
			}
		}
		rows, values = other, left
	}
	if all.of = len(rows); mostOf(all.have, all.of) {
		o.deviants(k, rows, field, values, all)
	}
}

// oddMost is the most frequent of some values.
type oddMost struct {
	value    intent.Value
	have, of int
}

func majorityOf(values []intent.Value) (most oddMost) {
	counts := map[intent.Value]int{}
	for _, v := range values {
		counts[v]++
		if counts[v] > most.have {
			most = oddMost{v, counts[v], len(values)}
		}
	}
	return most
}

// spans are the runs of rows of one device: rows stand by device.
func (o *odds) spans(k *oddKind, rows []oddRow) (spans [][2]int) {
	for i := 0; i < len(rows); {
		j := i + 1
		for j < len(rows) && k.device(rows[j]) == k.device(rows[i]) {
			j++
		}
		spans = append(spans, [2]int{i, j})
		i = j
	}
	return spans
}

func (o *odds) deviants(k *oddKind, rows []oddRow, field string, values []intent.Value, most oddMost) {
	var typical []oddRow
	for i, r := range rows {
		if values[i] == most.value {
			typical = append(typical, r)
		}
	}
	example := o.firstOf(k, typical)
	for i, r := range rows {
		if values[i] == most.value || o.otherMedium(k, r, example, field, values[i]) {
			continue
		}
		o.note(oddOne{
			kind: k, row: r, most: example, path: intent.Path{Object: k.object, Name: k.name(r), Field: field},
			value: values[i], typical: most.value, have: most.have, of: most.of,
		})
	}
}

// otherMedium reports whether a port is set as its other kind of cable, or another speed of both of its ends, asks for: its
// other end differs from those of the others too, or, on another kind of cable, leaves it to the device.
func (o *odds) otherMedium(k *oddKind, r, example oddRow, field string, v intent.Value) bool {
	f := o.p.Fabric
	a, b := k.link(r), k.link(example)
	if a == 0 || b == 0 || field != "fec" && field != "autoneg" && field != "speed" {
		return false
	}
	port := &f.Ports[r]
	medium := f.Links[a].Media != f.Links[b].Media
	speed := port.Mbps != f.Ports[example].Mbps && port.Mbps == f.Ports[port.Peer].Mbps
	if !medium && !speed {
		return false
	}
	farEnd := func(r oddRow) intent.Value {
		peer := f.Ports[r].Peer
		return o.settings(f.Ports[peer].Device)[intent.Path{Object: intent.OfPort, Name: lower.PortName(f, peer), Field: field}]
	}
	far := farEnd(r)
	return far != farEnd(example) || medium && v.State != intent.Unmanaged && far.State == intent.Unmanaged
}

// firstOf is the first of some rows, by address.
func (o *odds) firstOf(k *oddKind, rows []oddRow) oddRow {
	return slices.MinFunc(rows, func(a, b oddRow) int { return intent.Natural(k.at(a), k.at(b)) })
}

// settings are the fields of a device's intent.
func (o *odds) settings(d fabric.DeviceID) map[intent.Path]intent.Value {
	if all, ok := o.read[d]; ok {
		return all
	}
	all := map[intent.Path]intent.Value{}
	if dev := lower.Device(o.p.Fabric, o.p.Facts, d); dev != nil {
		maps.Insert(all, dev.Fields)
	}
	o.read[d] = all
	return all
}

// way is what a row is told, field by field, without what is free.
func (o *odds) way(k *oddKind, r oddRow) map[string]intent.Value {
	way := map[string]intent.Value{}
	name := k.name(r)
	for path, v := range o.settings(k.device(r)) {
		if path.Object != k.object || path.Name != name || path.Field == "" {
			continue
		}
		switch free := oddFreeOf(path); {
		case free == nil:
			way[path.Field] = v
		case free.given:
			way[path.Field] = oddGiven
		}
	}
	if k.object == intent.OfPort && way["ecn"].State == intent.Set {
		way["ecn"] = intent.Value{State: intent.Set, Text: o.derived(o.p.Facts.Port(fabric.PortID(r))).marking(way["ecn"].Text)}
	}
	switch port := k.object == intent.OfPort; {
	case port && o.p.Fabric.Ports[r].Headroom != 0:
		way["headroom"] = intent.Value{State: intent.Set, Text: "written"}
	case port && o.p.Fabric.Ports[r].NIC != 0 && o.nicHas[r], k.object == intent.OfLAG && o.lagHas[r]:
		way["address"] = oddGiven
	case k.object == intent.OfDevice && o.p.Fabric.Devices[r].ShutSpare: // which the intent has port by port
		way["spare_ports"] = intent.Value{State: intent.Set, Text: "shut"}
	}
	return way
}

// oddGiven stands for the value of a field that everyone has one of their own in.
var oddGiven = intent.Value{State: intent.Set, Text: "given"}

// oddFree is a field in which rows of one role may differ.
type oddFree struct {
	field  string // or a word of fields
	given  bool   // but all of them have one, or none
	reason string
}

var oddFrees = []oddFree{
	{"cable", false, "cables have the length that they need"},
	{"headroom", false, "follows from cable, speed and MTU; one that is written counts as such"},
	{"breakout", false, "stands at the first child of a split"},
	{"native", true, "each place may have a VLAN of its own; the ends of a cable are compared by ROCE601 and ROCE602"},
	{"segments", true, "likewise"},
	{"segment", true, "likewise"},
	{"vfs.segment", true, "likewise"},
	{"address", true, "everyone has its own"},
	{"gateway", true, "each subnet has its own"},
	{"on", true, "a name"},
	{"pin", true, "a name"},
	{"id", false, "a number"},
	{"members", false, "names"},
	{"pcp_map of an interface", false, "its port has it"},
	{"unique", false, "follows from the addresses of a pair"},
	{"gpu", false, "each NIC is beside a GPU of its own"},
	{"hash.seed", false, "switches on one path need different ones: ROCE812"},
	{"mlag.domain", false, "a number of the pair"},
	{"mlag.peer", false, "a name"},
	{"mlag.peer_link", false, "a name"},
	{"mlag.source", true, "an address"},
	{"mlag.peer_address", true, "an address"},
}

func oddFreeOf(p intent.Path) *oddFree {
	i := slices.IndexFunc(oddFrees, func(f oddFree) bool {
		return f.field == p.Field || f.field == p.Word() || p.Object == intent.OfIface && f.field == p.Field+" of an interface"
	})
	if i < 0 {
		return nil
	}
	return &oddFrees[i]
}

// note keeps a deviation unless it is meant or follows from one that is known: an
// interface or LAG has the MTU of what it stands on.
func (o *odds) note(one oddOne) {
	w := oddWord{one.kind.device(one.row), one.path.Word()}
	if one.kind.object != intent.OfPort && o.seen[w] {
		return
	}
	if one.kind.object == intent.OfPort {
		o.seen[w] = true
	}
	one.meant = o.p.excepted(one.kind.layers(one.row), lower.Attrs(one.path)...)
	one.label = o.origin(one.kind, one.row, one.path)
	path := one.path
	path.Name = one.kind.name(one.most)
	one.example = o.origin(one.kind, one.most, path)
	o.found = append(o.found, one)
}

// origin is where a field of a row comes from: its first label, or none.
func (o *odds) origin(k *oddKind, r oddRow, path intent.Path) diag.Label {
	for _, l := range lower.Origin(o.p.Fabric, o.p.Facts, k.device(r), path) {
		return l
	}
	return diag.Label{}
}

// report says each deviation once: one line of the source, one cable, one value on all
// of a device.
func (o *odds) report() {
	slices.SortStableFunc(o.found, func(a, b oddOne) int {
		return cmp.Or(intent.Natural(a.kind.at(a.row), b.kind.at(b.row)),
			cmp.Compare(oddRank(a.path.Word()), oddRank(b.path.Word())), cmp.Compare(a.path.Field, b.path.Field))
	})
	type cause struct {
		word   string
		span   source.Span
		link   fabric.LinkID
		device fabric.DeviceID
		value  intent.Value
	}
	told := map[cause]*diag.Diagnostic{}
	more := map[*diag.Diagnostic][]string{}
	causes := map[cause]string{} // the word that a line of a device was told for
	var list []*diag.Diagnostic
	for i := range o.found {
		one := &o.found[i]
		k, word := one.kind, one.path.Word()
		// What follows from a line that most have too follows from something else that
		// was told.
		line := cause{span: one.label.Span, device: k.device(one.row)}
		if same := one.label.Span == one.example.Span; one.meant || same && o.follows(one) || causes[line] != "" && causes[line] != word {
			continue
		}
		causes[line] = word
		keys := []cause{{word: word, span: one.label.Span}, {word: word, device: k.device(one.row), value: one.value}}
		if l := k.link(one.row); l != 0 {
			keys = append(keys, cause{word: word, link: l})
		}
		var d *diag.Diagnostic
		for _, key := range keys {
			if told[key] != nil {
				d = told[key]
			}
		}
		if d == nil {
			d = o.diagnostic(one)
			list = append(list, d)
		} else if a := k.at(one.row); a != d.Address && !slices.Contains(d.Concerns, a) {
			d.Concerns = append(d.Concerns, a)
			more[d] = append(more[d], k.text(one.row))
		}
		for _, key := range keys {
			told[key] = d
		}
	}
	for _, d := range list {
		switch m := more[d]; {
		case len(m) > 3:
			d.Notes = append(d.Notes, fmt.Sprintf("likewise %s and %d more", strings.Join(m[:3], ", "), len(m)-3))
		case len(m) > 0:
			d.Notes = append(d.Notes, "likewise "+strings.Join(m, ", "))
		}
		o.p.Report(*d)
	}
}

// follows reports whether another field of the same device has a line of its own.
func (o *odds) follows(one *oddOne) bool {
	return slices.ContainsFunc(o.found, func(x oddOne) bool {
		return x.kind.device(x.row) == one.kind.device(one.row) &&
			(x.label.Span != x.example.Span || oddRank(x.path.Word()) < oddRank(one.path.Word()))
	})
}

// oddRank orders words by how likely one is the cause of others.
func oddRank(word string) int {
	causes := []string{"segment", "qos", "rdma", "enabled", "speed", "autoneg", "fec", "mtu"}
	if i := slices.Index(causes, word); i >= 0 {
		return i
	}
	return len(causes)
}

func (o *odds) diagnostic(one *oddOne) *diag.Diagnostic {
	k := one.kind
	d := &diag.Diagnostic{
		Address: k.at(one.row), Labels: []diag.Label{one.label},
		Help: "align it; if it is meant, say so: an except block with its reason, a role of its own, or a comment",
	}
	count := fmt.Sprintf("%d of %d %s of its role", one.have, one.of, k.word)
	field := one.path.Field
	if slices.Contains([]string{"mtu", "fec", "rdma", "pfc", "ecn", "ets", "dcbx"}, field) {
		field = strings.ToUpper(field)
	}
	switch {
	case one.lost && one.path.Field == "segment":
		d.Summary = fmt.Sprintf("%s is not in the segments that %s are in", k.text(one.row), count)
	case one.lost:
		d.Summary = fmt.Sprintf("%s has no qos, %s have one", k.text(one.row), count)
	case one.typical == oddGiven:
		d.Summary = fmt.Sprintf("%s has no %s, %s have one", k.text(one.row), field, count)
	case one.value == oddGiven:
		d.Summary = fmt.Sprintf("%s has a %s of its own, %s have none", k.text(one.row), field, count)
	default:
		d.Summary = fmt.Sprintf("%s of %s %s, %s %s", field, k.text(one.row), o.isWords(one.row, one, one.value), count, one.haveWords())
	}
	if !one.example.Span.IsZero() && one.example.Span != one.label.Span {
		one.example.Text = "as on " + strings.TrimPrefix(k.text(one.most), "port ")
		d.Labels = append(d.Labels, one.example)
	} else {
		d.Notes = append(d.Notes, "one of the others is "+k.text(one.most))
	}
	return d
}

// isWords shows the value of the one that differs. What it leaves to the device is told
// where the fabric knows it.
func (o *odds) isWords(r oddRow, one *oddOne, v intent.Value) string {
	switch {
	case v.State == intent.Set:
		return "is " + v.Text
	case v.State == intent.Default:
		return "is the vendor's default"
	case one.onOff():
		return "is off"
	}
	port := &o.p.Fabric.Ports[0]
	if one.kind.object == intent.OfPort {
		port = &o.p.Fabric.Ports[r]
	}
	switch {
	case one.path.Field == "speed" && port.Mbps > 0:
		return "is not written, and left to the device (" + fabric.Speed(port.Mbps) + ")"
	case one.path.Field == "mtu" && port.MTU > 0:
		return fmt.Sprintf("is not written, and left to the device (%d)", port.MTU)
	}
	return "is not written, and left to the device"
}

// onOff reports whether a setting is on with most, and that it is off leaves nothing
// to the device.
func (one *oddOne) onOff() bool {
	return one.typical.Text == "true" && slices.Contains([]string{"rdma", "vfs.rdma", "vfs.trust", "mlag"}, one.path.Field)
}

func (one *oddOne) haveWords() string {
	v := one.typical
	switch {
	case one.onOff():
		return "have it on"
	case v.State == intent.Set:
		return "have " + v.Text
	case v.State == intent.Default:
		return "have the vendor's default"
	}
	return "leave it to the device"
}
