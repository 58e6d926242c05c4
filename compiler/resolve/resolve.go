// Package resolve turns a configuration into a fabric: names become IDs, the
// layers of declarations behind each port are folded into values, ranges and
// models into ports, and every cable joins two ends. It reports what cannot be
// joined or read as a fabric; whether the fabric is sound is for compiler/lint
// to say.
package resolve

import (
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// Fabric builds the fabric of a configuration. The result is usable as far as
// it goes even when there are errors; it must not be compiled further then.
func Fabric(cfg *lang.Config) (*fabric.Fabric, diag.List) {
	r := &resolver{cfg: cfg, f: newFabric(cfg), mediaSaid: map[lang.Str]bool{}, versions: map[fabric.Str]bool{}, folds: newFolds(cfg)}
	defer r.readContents()()
	r.decls()          // one row for each written block, same numbers
	r.reach()          // which blocks an override with `set` speaks to
	r.spoken()         // and exceptions
	r.models()         // hardware that the fabric names
	r.contracts()      // qos and classes, `from` folded in
	r.vendorDefaults() // what "keep" leaves
	r.segments()       // VLANs and subnets
	r.ways()           // connections
	r.devices()        // switches and nodes, names unique
	r.inners()         // which of them have exceptions for what is inside
	r.topologyRows()   // generated fabrics: which switch plays which part
	r.routings()       // what may be assumed of paths
	if !r.ports() {    // ports by model and by block, grouped by device
		return r.f, r.diags
	}
	r.setsOnPorts() // of those that no block speaks of
	r.strays()      // what no port or block is there for
	r.links()       // cables join ports
	r.wire()        // so do topologies
	room := r.roomForIfaces()
	r.mlags() // pairs and their peer links
	r.lists() // cable lists join ports, or say what was built
	r.portCables()
	r.compare() // that against what there is
	r.roles()   // where each port leads
	r.lags()    // LAGs and bonds, and the LAGs that bonds imply
	room()
	r.interfaces() // what is written of addresses; the VLANs they bring
	r.gpus()       // of nodes
	read := r.readAddresses()
	r.settings() // what each port is told, layer by layer
	read()
	r.addresses()  // interfaces get addresses and MTUs
	r.localVLANs() // one number on many switches, a subnet on each
	r.neighbours() // which addresses do not fit what is around them
	r.duties()     // which interfaces carry RDMA
	r.f.NoneShut = !r.someShut.Load()
	r.overrides()  // accepted rules, by row
	r.selections() // target blocks
	r.validated()  // versions that were tested
	r.rollout()    // waves of devices
	r.analysis()   // how far the proofs go
	r.unused()
	r.silences() // comments that silence rules
	r.tellers()  // who says what
	return r.f, r.diags
}

type resolver struct {
	cfg   *lang.Config
	f     *fabric.Fabric
	diags diag.List

	someShut atomic.Bool // a port: ports are settled side by side

	qosOf       map[lang.BlockID]fabric.QoSID
	segmentOf   map[lang.BlockID]fabric.SegmentID
	wayOf       map[lang.BlockID]fabric.ConnectionID
	deviceOf    []fabric.DeviceID   // by BlockID
	blockOf     []lang.BlockID      // by DeviceID
	kidRoom     []lang.BlockID      // of kidsByName
	portsOf     []*portList         // by DeviceID
	innerOf     []bool              // by DeviceID: its exceptions speak of blocks inside it
	gpuAt       []uint32            // by DeviceID: its first row of GPUs, that of the next ends them
	versions    map[fabric.Str]bool // expectations that were checked
	portOf      []fabric.PortID     // by BlockID
	portBlock   []lang.BlockID      // by PortID; 0 = by model only
	linkOf      map[lang.BlockID]fabric.LinkID
	lagOf       map[lang.BlockID]fabric.LAGID
	lagBlock    []lang.BlockID // by LAGID; 0 = implied
	lagNamed    map[lagKey]fabric.LAGID
	mlagOf      map[lang.BlockID]fabric.MLAGID
	modelOf     map[string]fabric.ModelID
	modelBlocks []lang.BlockID // by ModelID
	nicModel    map[string]fabric.NICModelID
	mediaOf     map[string]fabric.MediaID

	topos     []*topology // by TopologyID
	topoOf    map[lang.BlockID]*topology
	differ    []int                           // mismatches by CablingID
	tierBlock []lang.BlockID                  // by DeviceID: the tier it is of, or that lists it
	atOf      map[fabric.PortID]fabric.PortID // NICs that `at` puts on a port
	atTaken   map[fabric.PortID]fabric.PortID // the same, by that port
	atBlock   map[fabric.PortID]lang.BlockID  // the block that says so, by NIC
	topoTwice map[fabric.PortID]bool          // ports of two topologies that were reported

	legOf       map[lang.BlockID]*legs // leaves with a subnet
	sharedLegs  bool                   // some leaf has one subnet for all its NICs
	rowsOf      [][]listed             // by CablingID: rows that join two known ports
	loose       [][]loose              // by CablingID: rows with one known end
	rowFaults   map[lang.BlockID]*rowFaults
	deviceNamed map[fabric.Str]fabric.DeviceID
	mediaSaid   map[lang.Str]bool // unknown media that were reported

	generated fabric.IfaceID                      // the first interface that no topology made
	written   int                                 // interfaces that write an address or a subnet
	routedTo  map[fabric.SegmentID]fabric.IfaceID // a host in each segment with a gateway
	askedFor  []fabric.IfaceID                    // those that write a gateway

	lastCable lang.Value // what lastLink was made of
	lastBy    lang.BlockID
	lastLink  fabric.Link

	layers        layerTable
	folds         folds
	profiles      map[fabric.Profile]fabric.ProfileID
	contradicted  map[[2]source.Span]bool // observations that were refused, with the settings
	vlanSets      map[string]fabric.VLANSetID
	sets          map[lang.BlockID][]lang.BlockID // overrides with `set`, by the block they reach
	speak         map[lang.BlockID][]lang.BlockID // those and exceptions, nearest first
	clashes       map[clashKey]bool               // that were told
	heard         []bool                          // by BlockID: some speak of it
	globs         []overrideGlob
	portSets      map[fabric.PortID][]lang.BlockID // overrides with `set`, by ports without a block
	linkBlocks    []lang.BlockID                   // by LinkID
	carried       map[fabric.PortID][]lang.BlockID // tagged segments that interfaces and bonds bring to a port
	carriedNative map[fabric.PortID]broughtNative
	byPort        []bool // by DeviceID: switches whose ports towards nodes write their VLANs, so that one that writes none has none
	pairs         map[fabric.MLAGID][]lang.BlockID
	segmentBlocks []lang.BlockID              // by SegmentID, made when first asked for
	ifaceBlock    []lang.BlockID              // by IfaceID
	subnetOf      map[lang.Value]netip.Prefix // what NICs write
	single        [1]fabric.PortID            // what below returns
	untrusted     fabric.QoSID
}

type lagKey struct {
	device fabric.DeviceID
	name   fabric.Str
}

func newFabric(cfg *lang.Config) *fabric.Fabric {
	known := len(cfg.Strings()) // conditions may add more, which are none of ours
	find := func(text string) (fabric.Str, bool) {
		n, ok := cfg.Intern(text)
		return fabric.Str(n), ok && int(n) < known
	}
	spans := fabric.SpansFrom(func(by fabric.DeclID, n schema.Attr) source.Span { return cfg.SpanOf(lang.DeclID(by), n) })
	spans.Unsure(func(by fabric.DeclID, n schema.Attr) bool { return cfg.SometimesNull(lang.DeclID(by), n) })
	return &fabric.Fabric{
		Names:     fabric.StringsFrom(cfg.Strings(), find),
		Spans:     spans,
		Devices:   make([]fabric.Device, 1),
		Ports:     make([]fabric.Port, 1),
		Links:     make([]fabric.Link, 1),
		LAGs:      make([]fabric.LAG, 1),
		Ifaces:    make([]fabric.Iface, 1),
		NICs:      make([]fabric.NIC, 1),
		Profiles:  make([]fabric.Profile, 1),
		VLANSets:  make([][]fabric.SegmentID, 1),
		QoS:       make([]fabric.QoS, 1),
		Segments:  make([]fabric.Segment, 1),
		Ways:      make([]fabric.Way, 1),
		Models:    make([]fabric.SwitchModel, 1),
		NICModels: make([]fabric.NICModel, 1),
		MLAGs:     make([]fabric.MLAG, 1),
		Media:     make([]fabric.Media, 1),
		Routings:  make([]fabric.Routing, 1),
		Layers:    make([]fabric.Layers, 1),
		Headrooms: make([]fabric.Headroom, 1),
	}
}

// decls copies the written blocks. Decls keep their numbers.
func (r *resolver) decls() {
	cfg, f := r.cfg, r.f
	modules := []fabric.Str{} // by number; 0 is the root's
	for id := range cfg.Decls {
		for n := int(cfg.Decls[id].Module); n >= len(modules); {
			modules = append(modules, 0)
		}
		if n := cfg.Decls[id].Module; modules[n] == 0 && n > 0 {
			modules[n] = f.Names.Add(cfg.ModulePrefix(lang.DeclID(id)))
		}
	}
	f.Decls = make([]fabric.Decl, len(cfg.Decls))
	inParts(len(cfg.Decls), func(from, end int) {
		for id := from; id < end; id++ {
			d := &cfg.Decls[id]
			f.Decls[id] = fabric.Decl{Span: d.Span, Head: fabric.Str(d.Head), Module: modules[d.Module], Parent: fabric.DeclID(d.Parent), Tier: d.Kind.Tier()}
		}
	})
}

// inParts calls f for the parts of a range of rows, one for each core, at once.
func inParts(n int, f func(from, end int)) {
	parts := min(runtime.GOMAXPROCS(0), n/leastPart+1)
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() { f(n*i/parts, n*(i+1)/parts) })
	}
	wg.Wait()
}

// leastPart is how many rows are worth a goroutine.
const leastPart = 4096

// decl is the declaration of a block.
func (r *resolver) decl(b lang.BlockID) fabric.DeclID {
	if b == 0 {
		return 0
	}
	return fabric.DeclID(r.cfg.Blocks[b].Decl)
}

func (r *resolver) str(s lang.Str) fabric.Str { return fabric.Str(s) }

// text is the interned text of a value, 0 if it is not text.
func (r *resolver) text(v lang.Value) fabric.Str {
	if v.Kind == lang.Text || v.Kind == lang.Word {
		return fabric.Str(v.N)
	}
	return 0
}

// attr is an attribute of a block, or what an override or exception says of it; Absent
// where what is there is kept.
func (r *resolver) attr(b lang.BlockID, n schema.Attr) lang.Value {
	return unlessKept(r.cfg, r.wrote(b, n))
}

// wrote is attr with the word that keeps what is there.
func (r *resolver) wrote(b lang.BlockID, n schema.Attr) lang.Value {
	if r.spokenOf(b) {
		s := r.alone(b)
		v, _ := s.nearest(n)
		return v
	}
	return r.cfg.Attr(b, n)
}

// at is a label for an attribute of a block, where that is written, else for the block.
func (r *resolver) at(b lang.BlockID, n schema.Attr, text string) diag.Label {
	return r.f.Label(r.decl(r.writer(b, n)), 0, n, text)
}

// writer is what writes an attribute of a block: an override, an exception, else itself.
func (r *resolver) writer(b lang.BlockID, n schema.Attr) lang.BlockID {
	if r.spokenOf(b) {
		s := scope{cfg: r.cfg, before: itself(r.speak[b])}
		if _, l := s.nearest(n); l.by != 0 {
			return l.by
		}
	}
	return b
}

// layersOn are the layers of a row whose block exceptions or overrides speak of.
func (r *resolver) layersOn(b lang.BlockID) fabric.LayersID {
	return r.layersOf(itself(r.speak[b]), nil, false)
}

// layersIn are the layers of a row inside a device, and perhaps in a segment that overrides speak of.
func (r *resolver) layersIn(b, device lang.BlockID, segment ...lang.BlockID) fabric.LayersID {
	before, chain := itself(r.speak[b]), []layer(nil)
	for _, s := range segment {
		before, _ = r.stands(before, nil, s, fabric.AtSegment)
	}
	before, chain = r.stands(before, chain, device, r.heightOf(device))
	return r.layersOf(before, chain, false)
}

func (r *resolver) fail(summary, help string, labels ...diag.Label) {
	r.diags.Add(diag.Diagnostic{Severity: diag.Error, Summary: summary, Help: help, Labels: labels})
}

// kids calls visit for each child of a kind.
func (r *resolver) kids(b lang.BlockID, k schema.Kind, visit func(lang.BlockID)) {
	first, end := r.cfg.Kids(b)
	for id := first; id < end; id++ {
		if r.cfg.Blocks[id].Kind == k {
			visit(id)
		}
	}
}

// top calls visit for each block of a kind at the top of a file or module, by name.
func (r *resolver) top(k schema.Kind, visit func(lang.BlockID)) {
	var list []lang.BlockID
	for _, id := range r.cfg.Top {
		if r.cfg.Blocks[id].Kind == k {
			list = append(list, id)
		}
	}
	byName(r.cfg, list)
	for _, id := range list {
		visit(id)
	}
}
