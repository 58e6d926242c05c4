package resolve

import (
	"fmt"
	"strconv"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// models reads the hardware that the fabric names. The facts of an ASIC are
// folded into each switch model that has it; the model's own win.
func (r *resolver) models() {
	r.modelOf = map[string]fabric.ModelID{}
	r.modelBlocks = make([]lang.BlockID, 1)
	r.nicModel = map[string]fabric.NICModelID{}
	r.mediaOf = map[string]fabric.MediaID{}
	asics := map[string]lang.BlockID{}
	r.top(schema.ASIC, func(b lang.BlockID) { asics[r.blockName(b)] = b })
	r.top(schema.SwitchModel, func(b lang.BlockID) { r.switchModel(b, asics) })
	r.top(schema.NICModel, r.nicModelOf)
	r.top(schema.Media, r.media)
	r.top(schema.PCIe, r.pcie)
}

func (r *resolver) blockName(b lang.BlockID) string { return r.cfg.String(r.cfg.Blocks[b].Name) }

func (r *resolver) switchModel(b lang.BlockID, asics map[string]lang.BlockID) {
	name := r.cfg.Text(r.attr(b, schema.AASIC))
	asic, ok := asics[name]
	if !ok {
		r.fail("switch_model "+r.blockName(b)+" names asic "+strconv.Quote(name)+", which nothing defines",
			"write an asic block of that name, or name one that exists", r.at(b, schema.AASIC, ""))
	}
	facts := layered{cfg: r.cfg, blocks: []lang.BlockID{b, asic}}
	m := fabric.SwitchModel{
		Name: r.str(r.cfg.Blocks[b].Name), ASIC: r.text(r.attr(b, schema.AASIC)),
		Family: r.text(facts.get(schema.AFamily)), Vendor: r.text(facts.get(schema.AVendor)),
		Lanes:                uint8(facts.get(schema.ALanes).N),
		MaxMTU:               uint16(facts.get(schema.AMaxMTU).N),
		JumboMTU:             uint16(facts.get(schema.AJumboMTU).N),
		BufferBytes:          uint64(facts.get(schema.ABuffer).N),
		CellBytes:            uint32(facts.get(schema.ACell).N),
		MaxLossless:          uint8(facts.get(schema.AMaxLossless).N),
		LosslessPriorities:   r.prioritySet(facts.get(schema.APFCQueues)),
		Queues:               uint8(facts.get(schema.AQueues).N),
		HeadroomSharePercent: uint8(facts.get(schema.AReservedHeadroomShare).N),
		Formula:              r.text(facts.get(schema.AFormula)),
		PipelineLatencyBytes: uint32(facts.get(schema.APipelineLatency).N),
		MacPhyDelayBytes:     uint32(facts.get(schema.AMacPhyDelay).N),
		CompensationBytes:    uint32(facts.get(schema.ACompensation).N),
		Tile:                 facts.get(schema.ATile).N == 1,
		PauseResponseNs:      uint32(facts.get(schema.APauseResponse).N * 1000),
		PFC:                  fact(facts.get(schema.ACapPFC)),
		ECN:                  fact(facts.get(schema.ACapECN)),
		ETS:                  fact(facts.get(schema.ACapETS)),
		DSCPPFC:              fact(facts.get(schema.ADSCPPFC)),
		Platform:             r.text(facts.get(schema.APlatform)), HWSKU: r.text(facts.get(schema.AHWSKU)),
		PortNames: map[string][]string{}, Mbps: map[string]uint32{}, Watchdog: map[string]bool{}, Autoneg: map[string]bool{}, Facts: map[string]int64{},
		Decl: r.decl(b),
	}
	for _, p := range r.cfg.Pairs(r.attr(b, schema.APorts)) {
		var names []string
		for _, v := range r.cfg.List(p.Val) {
			names = append(names, r.cfg.Text(v))
		}
		m.PortNames[r.cfg.Text(p.Key)] = names
	}
	for _, p := range r.cfg.Pairs(r.attr(b, schema.ASpeeds)) {
		names, err := lang.Members(r.cfg.Text(p.Key))
		if err != nil {
			r.fail(fmt.Sprintf("speeds of switch_model %s: %v", r.blockName(b), err), `name ports by range, or "*" for all`, r.at(b, schema.ASpeeds, ""))
		}
		for _, n := range names {
			m.Mbps[n] = uint32(p.Val.N)
		}
	}
	for _, v := range r.cfg.List(r.attr(asic, schema.ASpeeds)) {
		m.Speeds = append(m.Speeds, uint32(v.N))
	}
	for _, p := range r.cfg.Pairs(r.attr(asic, schema.AAutoneg)) {
		m.Autoneg[r.cfg.Text(p.Key)] = p.Val.N == 1
	}
	// The ASIC can have a watchdog for every OS; the model says it by OS.
	if v := r.attr(asic, schema.AHasWatchdog); asic != 0 && v.Kind == lang.Int {
		m.Watchdog["*"] = v.N == 1
	}
	for _, p := range r.cfg.Pairs(r.attr(b, schema.AHasWatchdog)) {
		m.Watchdog[r.cfg.Text(p.Key)] = p.Val.N == 1
	}
	for _, from := range []lang.BlockID{asic, b} {
		if from != 0 {
			r.facts(r.attr(from, schema.AFacts), m.Facts)
		}
	}
	r.modelBlocks = append(r.modelBlocks, b)
	r.modelOf[r.blockName(b)] = fabric.ModelID(len(r.f.Models))
	r.f.Models = append(r.f.Models, m)
}

func (r *resolver) nicModelOf(b lang.BlockID) {
	m := fabric.NICModel{
		Name: r.str(r.cfg.Blocks[b].Name), Vendor: r.text(r.attr(b, schema.AVendor)), Driver: r.text(r.attr(b, schema.ADriver)),
		Ports: uint8(r.attr(b, schema.APorts).N), IWARP: fact(r.attr(b, schema.AIWARP)), IB: fact(r.attr(b, schema.AIB)),
		TrafficClasses: uint8(r.attr(b, schema.ATrafficClasses).N), PFCPriorities: uint8(r.attr(b, schema.APFCPriorities).N),
		DSCPTrust: fact(r.attr(b, schema.ADSCPTrust)), Resilient: fact(r.attr(b, schema.AResilient)),
		Reordering: fact(r.attr(b, schema.AReordering)), Autoneg: fact(r.attr(b, schema.AAutoneg)), Interop: r.words(r.attr(b, schema.AInterop)),
		MaxMTU: uint16(r.attr(b, schema.AMaxMTU).N), CNPDSCP: -1, CNPPriority: -1,
		MinOS: map[string]string{}, Facts: map[string]int64{}, Decl: r.decl(b),
	}
	pcie := r.attr(b, schema.APCIe)
	m.PCIeGen, m.PCIeLanes = uint8(r.cfg.Field(pcie, schema.AGen).N), uint8(r.cfg.Field(pcie, schema.ALanes).N)
	if v := r.attr(b, schema.ARoCE); v.Kind != lang.Absent {
		m.RoCEv1, m.RoCEv2 = fabric.No, fabric.No
		for _, e := range r.cfg.List(v) {
			switch r.cfg.Text(e) {
			case "v1":
				m.RoCEv1 = fabric.Yes
			case "v2":
				m.RoCEv2 = fabric.Yes
			}
		}
	}
	for _, v := range r.cfg.List(r.attr(b, schema.ASpeeds)) {
		m.Mbps = append(m.Mbps, uint32(v.N))
	}
	if v := r.attr(b, schema.ACNPDSCP); v.Kind == lang.Int {
		m.CNPDSCP = int16(v.N)
	}
	if v := r.attr(b, schema.ACNPPriority); v.Kind == lang.Int {
		m.CNPPriority = int16(v.N)
	}
	for _, p := range r.cfg.Pairs(r.attr(b, schema.AOS)) {
		m.MinOS[r.cfg.Text(p.Key)] = r.cfg.Text(p.Val)
	}
	r.facts(r.attr(b, schema.AFacts), m.Facts)
	r.nicModel[r.blockName(b)] = fabric.NICModelID(len(r.f.NICModels))
	r.f.NICModels = append(r.f.NICModels, m)
}

func (r *resolver) media(b lang.BlockID) {
	m := fabric.Media{Name: r.str(r.cfg.Blocks[b].Name), Class: r.text(r.attr(b, schema.AClassOfMedia)), Decl: r.decl(b)}
	for _, v := range r.cfg.List(r.attr(b, schema.AReach)) {
		m.Reach = append(m.Reach, fabric.Reach{
			MinMbps: uint32(r.cfg.Field(v, schema.AMinSpeed).N), MaxMm: uint32(r.cfg.Field(v, schema.AMaxLength).N),
		})
	}
	r.mediaOf[r.blockName(b)] = fabric.MediaID(len(r.f.Media))
	r.f.Media = append(r.f.Media, m)
}

func (r *resolver) pcie(b lang.BlockID) {
	gen, err := strconv.ParseUint(r.blockName(b), 10, 8)
	if err != nil {
		r.fail("pcie "+strconv.Quote(r.blockName(b))+" is not a generation", "label it with a number, as in pcie \"4\"", r.f.DeclLabel(r.decl(b), ""))
		return
	}
	p := fabric.PCIe{Generation: uint8(gen), UsableMbps: map[uint8]uint32{}}
	for _, e := range r.cfg.Pairs(r.attr(b, schema.AUsableMbps)) {
		p.UsableMbps[uint8(e.Key.N)] = uint32(e.Val.N)
	}
	r.f.PCIe = append(r.f.PCIe, p)
}

// facts adds named numbers in thousandths.
func (r *resolver) facts(v lang.Value, into map[string]int64) {
	for _, p := range r.cfg.Pairs(v) {
		q := r.cfg.Fraction(p.Val)
		into[r.cfg.Text(p.Key)] = q.Num * 1000 / max(q.Den, 1)
	}
}

// fact is a yes or no that may be left out.
func fact(v lang.Value) fabric.Fact {
	switch {
	case v.Kind != lang.Int:
		return fabric.Unknown
	case v.N == 1:
		return fabric.Yes
	}
	return fabric.No
}

// prioritySet is a list of priorities as a set.
func (r *resolver) prioritySet(v lang.Value) uint8 {
	var set uint8
	for _, e := range r.cfg.List(v) {
		set |= 1 << (e.N & 7)
	}
	return set
}

// layered reads attributes through a chain of blocks, nearest first.
type layered struct {
	cfg    *lang.Config
	blocks []lang.BlockID
}

func (l layered) get(n schema.Attr) lang.Value {
	for _, b := range l.blocks {
		if b == 0 {
			continue
		}
		if v := at(l.cfg, b, n); v.Kind != lang.Absent {
			return v
		}
	}
	return lang.Value{}
}

// vendorDefaults notes what the data of models says the vendor's default is.
func (r *resolver) vendorDefaults() {
	read := func(b lang.BlockID) map[string]fabric.QoSID {
		m := map[string]fabric.QoSID{}
		for _, p := range r.cfg.Pairs(r.attr(b, schema.ADefaults)) {
			if p.Val.Kind == lang.Handle {
				m[r.cfg.Text(p.Key)] = r.qosOf[lang.BlockID(p.Val.N)]
			}
		}
		return m
	}
	r.top(schema.SwitchModel, func(b lang.BlockID) { r.f.Models[r.modelOf[r.blockName(b)]].Defaults = read(b) })
	r.top(schema.NICModel, func(b lang.BlockID) { r.f.NICModels[r.nicModel[r.blockName(b)]].Defaults = read(b) })
}
