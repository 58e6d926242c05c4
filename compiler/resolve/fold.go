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
	of      []uint32          // what a block says to ports, by BlockID; 0 = not asked yet
	ids     map[string]uint32 // the numbers of that, by content
	done    map[foldKey]fold
	arounds map[aroundKey]uint32

	wait     func() // until what can be numbered early is
	defaults bool   // some module has defaults
	key      []byte
	last     struct { // what the block before said, as neighbours share their attributes
		attrs  *lang.Attr
		module uint32
		id     uint32
	}
	lastKey  foldKey
	lastFold fold

	lastAround *around // for which, with lastFold, lastLayers is the chain
	lastLayers fabric.LayersID
	chain      []lang.BlockID
}

func newFolds(cfg *lang.Config) folds {
	return folds{
		of: make([]uint32, len(cfg.Blocks)), ids: map[string]uint32{}, done: map[foldKey]fold{}, arounds: map[aroundKey]uint32{},
		defaults: slices.ContainsFunc(cfg.Top, func(b lang.BlockID) bool { return cfg.Blocks[b].Kind == schema.Defaults }),
	}
}

// around is what stands around every port of one device.
type around struct {
	device   *scope
	defaults []lang.BlockID // of ports or NICs
	nic      bool           // the ports are NICs
	id       uint32         // equal where nothing of it differs
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
	peer   lang.Value // what the NIC at the other end says of it
	lag    fabric.LAGID
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
	a.defaults = r.defaultsFor(b, label)
	key := aroundKey{kind: dev.Kind, manage: dev.Manage, model: dev.Model, os: dev.OSName, contents: r.contents(b)}
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

// settle gives a port its settings, those of an equal port if there was one.
func (r *resolver) settle(p fabric.PortID, a *around) {
	row := &r.f.Ports[p]
	set := len(r.portSets) > 0 && r.portSets[p] != nil
	if row.Flags&fabric.Implicit != 0 && row.Link == 0 && row.LAG == 0 && !set {
		return // nothing mentions it and no cable reaches it: left alone
	}
	key, shared := r.foldKey(p, a)
	if !shared || set {
		r.fold(p, a)
		return
	}
	t := &r.folds
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
	row.MACsec = t.MACsec
	if f := &r.folds; f.lastAround != a || row.LAG != 0 || a.nic && row.Link != 0 {
		f.chain = r.portChain(f.chain[:0], p, a, from.segments)
		f.lastLayers, f.lastAround = r.layersOf(nil, f.chain, a.nic), a
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

// foldKey collects what the settings of a port follow from. Ports that
// exceptions, overrides, interfaces or a pair speak of are settled one by one.
func (r *resolver) foldKey(p fabric.PortID, a *around) (foldKey, bool) {
	row, own := &r.f.Ports[p], r.portBlock[p]
	if r.innerOf[row.Device] || row.Role == fabric.RolePeerLink || own != 0 && r.spokenOf(own) {
		return foldKey{}, false
	}
	if len(r.carried) > 0 && r.carried[p] != nil || len(r.carriedNative) > 0 && r.carriedNative[p] != 0 {
		return foldKey{}, false
	}
	key := foldKey{native: r.tierNative(p), around: a.id, own: r.contents(own), lag: row.LAG, flags: row.Flags, role: row.Role, linked: row.Link != 0}
	if !a.nic {
		key.mbps = r.portsOf[row.Device].ports[p-r.f.Devices[row.Device].First].mbps
	}
	if row.Link != 0 {
		link := r.linkBlock(row.Link)
		if len(r.sets[link]) > 0 {
			return foldKey{}, false
		}
		key.link = r.contents(link)
		tier, topo := r.connects(p)
		key.tier, key.topo = r.contents(tier), topo
		if !a.nic {
			key.peer = r.peerSaid(row.Peer)
		}
	}
	return key, true
}

// spokenOf reports whether exceptions or overrides speak of a block.
func (r *resolver) spokenOf(b lang.BlockID) bool {
	if len(r.sets) > 0 && len(r.sets[b]) > 0 {
		return true
	}
	first, end := r.cfg.Kids(b)
	for k := first; k < end; k++ {
		if r.cfg.Blocks[k].Kind == schema.Except {
			return true
		}
	}
	return false
}

// readContents numbers what devices, ports and links say, which takes nothing but
// the configuration, while the fabric is joined. Nobody asks for contents before
// he has waited for it.
func (r *resolver) readContents() (wait func()) {
	done := make(chan struct{})
	r.folds.wait = func() { <-done }
	go func() {
		defer close(done)
		for b := range r.cfg.Blocks {
			switch r.cfg.Blocks[b].Kind {
			case schema.Switch, schema.Node, schema.Port, schema.NIC, schema.Link:
				r.contents(lang.BlockID(b))
			}
		}
	}()
	return r.folds.wait
}

// contents numbers what a block says to ports: equal numbers, equal words.
func (r *resolver) contents(b lang.BlockID) uint32 {
	if b == 0 {
		return 0
	}
	attrs, decl, t := r.cfg.AttrsOf(b), r.cfg.Blocks[b].Decl, &r.folds
	module := uint32(0)
	if t.defaults {
		module = r.cfg.Decls[decl].Module // whose defaults hold
	}
	if t.of[b] != 0 {
		return t.of[b]
	}
	if len(attrs) > 0 && t.last.attrs == &attrs[0] && t.last.module == module {
		t.of[b] = t.last.id
		return t.last.id
	}
	t.key = binary.LittleEndian.AppendUint32(t.key[:0], module)
	for _, a := range attrs {
		if !alone(a.Num) {
			t.key = binary.LittleEndian.AppendUint16(t.key, uint16(a.Num))
			t.key = r.appendValue(t.key, a.Val)
		}
	}
	id, ok := t.ids[string(t.key)]
	if !ok {
		id = uint32(len(t.ids)) + 1
		t.ids[string(t.key)] = id
	}
	t.of[b] = id
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
	case schema.AName, schema.ADevice, schema.APCI, schema.AMAC, schema.AAdapter, schema.ARail, schema.APlane, schema.AGPU, schema.APCIeSwitch, schema.AAt,
		schema.ASubnet, schema.AAddress, schema.AMgmt, schema.AConnection, schema.ASlot, schema.ARack, schema.ACluster, schema.ASite, schema.ATenant, schema.APXE, schema.AVars, schema.AEnds, schema.ACable,
		schema.ABuffer, schema.ALoopback, schema.AVRF, schema.AFabricSubnet, schema.AAddressing:
		return true
	}
	return false
}
