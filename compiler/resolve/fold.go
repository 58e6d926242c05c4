package resolve

import (
	"encoding/binary"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// folds shares the work of settling ports: a fabric of 100,000 NICs has some
// dozens of distinct ones. What a port says of itself alone (addresses, PCI
// addresses, names) does not count; everything else that settings reads does.
type folds struct {
	of      []uint32          // what a block says to ports, by BlockID
	ids     map[string]uint32 // the numbers of that, by content
	done    map[foldKey]fold
	arounds map[aroundKey]uint32

	wait     func() // until all blocks are numbered
	defaults bool   // some module has defaults
	keeps    bool   // something is kept as the device has it
	key      []byte
	last     struct { // what the block before said, as neighbours share their attributes
		attrs  *lang.Attr
		module uint32
		id     uint32
	}
	lastKey  foldKey
	lastFold fold

	lastAround *around // for which, with lastFold and lastBy, lastLayers is the chain
	lastBy     [2]lang.BlockID
	lastLink   fabric.DeclID
	lastLayers fabric.LayersID
	chain      []layer
}

func newFolds(cfg *lang.Config) folds {
	return folds{
		of: make([]uint32, len(cfg.Blocks)), ids: map[string]uint32{}, done: map[foldKey]fold{}, arounds: map[aroundKey]uint32{},
		keeps:    saysKeep(cfg),
		defaults: slices.ContainsFunc(cfg.Top, func(b lang.BlockID) bool { return cfg.Blocks[b].Kind == schema.Defaults }),
	}
}

// saysKeep reports whether the source has the word at all.
func saysKeep(cfg *lang.Config) bool {
	_, said := cfg.Intern(keep)
	return said
}

// around is what stands around every port of one device.
type around struct {
	device   *scope
	defaults []layer // of ports or NICs
	nic      bool    // the ports are NICs
	id       uint32  // equal where nothing of it differs
}

type aroundKey struct {
	kind     fabric.DeviceKind
	manage   fabric.Manage
	model    fabric.ModelID
	os       fabric.Str
	contents uint32
	alone    fabric.DeviceID // of devices that exceptions or overrides speak of
}

// foldKey is all that the settings of a port follow from.
type foldKey struct {
	around uint32
	own    uint32 // contents of its block
	link   uint32 // of the block of its link
	tier   uint32 // of the tier that reaches it, if that is not the device
	topo   lang.BlockID
	lag    fabric.LAGID
	nic    uint32           // contents of the NIC at the other end
	byPort bool             // its switch writes VLANs port by port
	bond   uint32           // of the bond of that NIC
	native fabric.SegmentID // by the subnet of the leaf
	mbps   uint32           // by the model of the switch
	flags  fabric.PortFlags
	role   fabric.PortRole
	linked bool
}

// fold is a settled port to copy from. Where its values were written is each
// port's own: the chain is made again for every device.
type fold struct {
	row      fabric.Port
	nic      fabric.NIC
	segments []lang.BlockID
}

// around is where everybody begins who asks what ports are told.
func (r *resolver) around(d fabric.DeviceID) around {
	r.folds.wait()
	b, dev := r.blockOf[d], &r.f.Devices[d]
	a := around{device: r.deviceLayers(b), nic: dev.Kind == fabric.Node}
	label := "port"
	if a.nic {
		label = "nic"
	}
	a.defaults = r.defaultLayers(nil, b, label)
	key := aroundKey{kind: dev.Kind, manage: dev.Manage, model: dev.Model, os: dev.OSName, contents: r.folds.of[b]}
	if len(a.device.before) > 0 {
		key.alone = d
	}
	id, ok := r.folds.arounds[key]
	if !ok {
		id = uint32(len(r.folds.arounds)) + 1
		r.folds.arounds[key] = id
	}
	a.id = id
	return a
}

// portKey is the key of one port.
type portKey struct {
	foldKey
	alone  bool // left alone: nothing mentions it and no cable reaches it
	shared bool // settled like others of the key; else by itself
}

// foldKeys finds the keys of all ports, which changes nothing, while visit settles
// those of the devices before. It visits devices in their order.
func (r *resolver) foldKeys(visit func(d fabric.DeviceID, keys []portKey)) {
	const room, ports = 4, 1 << 12 // lists under way, and how many keys are in one
	type list struct {
		from, end fabric.DeviceID
		keys      []portKey
	}
	free, full := make(chan []portKey, room), make(chan list, room)
	for range room {
		free <- nil
	}
	go func() {
		defer close(full)
		r.folds.wait()
		last := fabric.DeviceID(len(r.f.Devices))
		for d := fabric.DeviceID(1); d < last; {
			l := list{from: d, keys: (<-free)[:0]}
			for ; d < last && len(l.keys) < ports; d++ {
				first, end := r.f.PortsOf(d)
				for p := first; p < end; p++ {
					l.keys = append(l.keys, r.foldKey(p))
				}
			}
			l.end = d
			full <- l
		}
	}()
	for l := range full {
		keys := l.keys
		for d := l.from; d < l.end; d++ {
			n := r.f.Devices[d].NPorts
			visit(d, keys[:n])
			keys = keys[n:]
		}
		free <- l.keys
	}
}

// settle gives a port its settings, those of an equal port if there was one.
func (r *resolver) settle(p fabric.PortID, a *around, own *portKey) {
	switch {
	case own.alone:
		return
	case !own.shared:
		r.fold(p, a)
		return
	}
	t, key := &r.folds, own.foldKey
	key.around = a.id
	if key != t.lastKey || t.lastKey.around == 0 {
		done, ok := t.done[key]
		if !ok {
			before := len(r.diags)
			segments := r.fold(p, a)
			if len(r.diags) == before { // what is wrong is said of each port
				t.done[key] = fold{r.f.Ports[p], r.f.NICs[r.f.Ports[p].NIC], segments}
			}
			return
		}
		t.lastKey, t.lastFold, t.lastAround = key, done, nil
	}
	r.copyFold(p, a, &t.lastFold)
}

// copyFold settles a port like an equal one.
func (r *resolver) copyFold(p fabric.PortID, a *around, from *fold) {
	row, t := &r.f.Ports[p], &from.row
	row.VLANs, row.Native, row.Profile, row.Headroom = t.VLANs, t.Native, t.Profile, t.Headroom
	row.Mbps, row.MTU, row.MTUFloor, row.FEC, row.Role, row.Manage, row.Flags = t.Mbps, t.MTU, t.MTUFloor, t.FEC, t.Role, t.Manage, t.Flags
	row.MACsec, row.Kept = t.MACsec, t.Kept
	var by [2]lang.BlockID // what reaches a NIC, of which a node has several
	if a.nic {
		by[0], by[1] = r.connects(p)
	}
	link := r.decl(r.linkBlock(row.Link))
	if f := &r.folds; f.lastAround != a || f.lastBy != by || f.lastLink != link || row.LAG != 0 {
		var before []layer
		before, f.chain = r.portChain(nil, f.chain[:0], p, a, from.segments)
		f.lastLayers, f.lastAround, f.lastBy, f.lastLink = r.layersOf(before, f.chain, a.nic), a, by, link
	}
	row.Layers = r.folds.lastLayers
	if row.NIC == 0 {
		return
	}
	nic := &r.f.NICs[row.NIC]
	rail, plane := nic.Rail, nic.Plane
	*nic = from.nic
	nic.Port, nic.Rail, nic.Plane = p, rail, plane
	r.nicAlone(p, &scope{cfg: r.cfg, own: r.portBlock[p], chain: a.defaults})
}

// foldKey collects what the settings of a port follow from, but for what stands
// around it. Ports that exceptions, overrides, interfaces or a pair speak of are
// settled one by one.
func (r *resolver) foldKey(p fabric.PortID) portKey {
	row, own := &r.f.Ports[p], r.portBlock[p]
	if len(r.portSets) > 0 && r.portSets[p] != nil {
		return portKey{}
	}
	if row.Flags&fabric.Implicit != 0 && row.Link == 0 && row.LAG == 0 {
		return portKey{alone: true}
	}
	if r.innerOf[row.Device] || row.Role == fabric.RolePeerLink || own != 0 && r.spokenOf(own) {
		return portKey{}
	}
	if r.carries(p) {
		return portKey{}
	}
	key := foldKey{native: r.tierNative(p), own: r.folds.of[own], lag: row.LAG, flags: row.Flags, role: row.Role, linked: row.Link != 0}
	dev := &r.f.Devices[row.Device]
	if dev.Kind == fabric.Switch {
		key.mbps = r.portsOf[row.Device].ports[p-dev.First].mbps
	}
	if row.Link != 0 {
		link := r.linkBlock(row.Link)
		if r.spokenOf(link) {
			return portKey{}
		}
		tier, topo := r.connects(p)
		if r.spokenOf(tier) {
			return portKey{}
		}
		key.link, key.tier, key.topo = r.folds.of[link], r.folds.of[tier], topo
		if nic := row.Peer; row.NIC == 0 && r.f.Ports[nic].NIC != 0 { // whose VLANs it may take
			if r.carries(nic) || r.innerOf[r.f.Ports[nic].Device] || r.spokenOf(r.portBlock[nic]) {
				return portKey{}
			}
			key.nic, key.byPort = r.folds.of[r.portBlock[nic]], r.byPort[row.Device]
			if bond := r.f.Ports[nic].LAG; bond != 0 {
				if r.spokenOf(r.lagBlock[bond]) {
					return portKey{}
				}
				key.bond = r.folds.of[r.lagBlock[bond]]
			}
		}
	}
	return portKey{foldKey: key, shared: true}
}

// spokenOf reports whether exceptions or overrides speak of a block.
func (r *resolver) spokenOf(b lang.BlockID) bool { return len(r.speak) > 0 && r.heard[b] }

// readContents numbers what blocks say, which takes nothing but the configuration,
// while the fabric is joined. Nobody asks for the numbers before he has waited for
// them.
func (r *resolver) readContents() (wait func()) {
	done := make(chan struct{})
	r.folds.wait = func() { <-done }
	go func() {
		defer close(done)
		for b := 1; b < len(r.cfg.Blocks); b++ {
			r.folds.of[b] = r.contents(lang.BlockID(b))
		}
	}()
	return r.folds.wait
}

// contents numbers what a block says to ports: equal numbers, equal words.
func (r *resolver) contents(b lang.BlockID) uint32 {
	attrs, decl, t := r.cfg.AttrsOf(b), r.cfg.Blocks[b].Decl, &r.folds
	module := uint32(0)
	if t.defaults {
		module = r.cfg.Decls[decl].Module // whose defaults hold
	}
	if len(attrs) > 0 && t.last.attrs == &attrs[0] && t.last.module == module {
		return t.last.id
	}
	t.key = binary.LittleEndian.AppendUint32(t.key[:0], module)
	for _, a := range attrs {
		if !alone(a.Num) {
			t.key = binary.LittleEndian.AppendUint16(t.key, uint16(a.Num))
			t.key = r.appendValue(t.key, a.Val())
		}
	}
	id, ok := t.ids[string(t.key)]
	if !ok {
		id = uint32(len(t.ids)) + 1
		t.ids[string(t.key)] = id
	}
	if len(attrs) > 0 {
		t.last.attrs, t.last.module, t.last.id = &attrs[0], module, id
	}
	return id
}

// appendValue writes a value so that equal ones are equal, lists by their
// elements: each block may hold a list of its own.
func (r *resolver) appendValue(key []byte, v lang.Value) []byte {
	key = append(key, byte(v.Kind))
	switch v.Kind {
	case lang.List:
		list := r.cfg.List(v)
		key = binary.LittleEndian.AppendUint32(key, uint32(len(list)))
		for _, e := range list {
			key = r.appendValue(key, e)
		}
		return key
	case lang.Map, lang.Object:
		pairs := r.cfg.Pairs(v)
		key = binary.LittleEndian.AppendUint32(key, uint32(len(pairs)))
		for _, e := range pairs {
			key = r.appendValue(r.appendValue(key, e.Key), e.Val)
		}
		return key
	}
	return binary.LittleEndian.AppendUint64(key, uint64(v.N))
}

// alone reports whether an attribute is a matter of one device, port or link
// alone, and read where that is made.
func alone(n schema.Attr) bool {
	switch n {
	case schema.AName, schema.ADescription, schema.AIfname, schema.APCI, schema.AMAC, schema.AAdapter, schema.ARail, schema.APlane, schema.AGPU, schema.APCIeSwitch, schema.AAt,
		schema.ASubnet, schema.AAddress, schema.AMgmt, schema.AConnection, schema.ASlot, schema.ARack, schema.ACluster, schema.ASite, schema.ATenant, schema.APXE, schema.AVars, schema.AEnds, schema.ACable,
		schema.ABuffer, schema.ALoopback, schema.AVRF, schema.AFabricSubnet, schema.AAddressing:
		return true
	}
	return false
}
