package derive

import (
	"fmt"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/headroom"
	"github.com/rocec/rocec/lang/schema"
)

// Largest frames where no MTU is known: what hosts have unless told otherwise,
// and the usual limit of switches.
const (
	hostMTU   = 1500
	switchMTU = 9216
)

// headrooms derives the headroom of each lossless priority.
func (s *sweep) headrooms(in inputs, c *plan, p fabric.PortID, r *row) {
	r.port.CableMm = in.cableMm
	for prio := range uint8(8) {
		if c.lossless>>prio&1 == 0 {
			continue
		}
		h := s.headroom(in, c, prio)
		s.meant(in, s.link(in, c, prio), int64(r.port.NeedMTU), &h)
		r.port.Headroom[prio] = h
		if h.Source == SourceNone {
			s.unsettled(in, p)
		}
	}
	r.reserve = s.reserve(in, &r.port)
}

// headroom derives that of one priority: written by the operator, else the
// vendor's table, the formula of the image, the reference formula.
func (s *sweep) headroom(in inputs, c *plan, prio uint8) Headroom {
	where := &s.places[in.place]
	link := s.link(in, c, prio)
	var h Headroom
	if least, err := headroom.PhysicalMinimum(link); err == nil {
		h.Minimum = bytes32(least)
	}
	if ref, err := headroom.Reference(link); err == nil {
		h.Reference = bytes32(ref)
		h.Source, h.Xoff = SourceReference, h.Reference
	}
	h.AssumedMm = in.assumedMm
	switch {
	case where.kind != fabric.Switch:
		s.receive(in, &h)
	case where.rows != nil:
		where.lookUp(in, &h)
	case where.generation != 0:
		where.spectrum(in, &h)
	case where.formula == formulaMlxsw:
		where.mlxsw(in, link, &h)
	case where.formula == formulaCisco:
		where.cisco(link, &h)
	}
	if h.Source == SourceFormula {
		h.Formula = h.Xoff
	}
	s.written(in, c, prio, &h)
	return h
}

// link is one direction of the cable, seen by the port that pauses its peer.
func (s *sweep) link(in inputs, c *plan, prio uint8) headroom.Link {
	local := s.frame(in)
	peer := int64(in.peerMTU)
	if peer == 0 {
		peer = local
	}
	if need := needBytes(c.ask[prio], in.v6); need > 0 {
		peer = int64(need)
	}
	l := headroom.Link{Mbps: int64(in.mbps), CableMm: int64(in.cableMm), LocalMTUBytes: local, PeerMTUBytes: peer}
	if in.peerNs > 0 {
		l.Quanta = max((int64(in.peerNs)*int64(in.mbps)+511_999)/512_000, 1)
	}
	return l
}

// frame is the largest IP packet of any class on the port.
func (s *sweep) frame(in inputs) int64 {
	where := &s.places[in.place]
	switch {
	case in.mtu != 0:
		return int64(in.mtu)
	case where.kind != fabric.Switch:
		return hostMTU
	case where.model != nil && where.model.JumboMTU != 0:
		return int64(where.model.JumboMTU)
	}
	return switchMTU
}

// receive is the buffer a host's adapter keeps [roce-theory A.8].
func (s *sweep) receive(in inputs, h *Headroom) {
	if in.nic == 0 {
		return
	}
	nic := &s.f.NICModels[in.nic]
	if s.f.Text(nic.Driver) != "mlx5" {
		return
	}
	p := headroom.Mlx5Port{
		Mbps: int64(in.mbps), CableMm: int64(in.cableMm), MTUBytes: s.frame(in),
		MaxMTUBytes: max(int64(nic.MaxMTU), 1), CellBytes: nic.Facts[FactReceiveCell] / thousand,
	}
	if in.assumedMm > 0 {
		p.CableMm = headroom.Mlx5DefaultCableMm
		h.AssumedMm = headroom.Mlx5DefaultCableMm
	}
	xoff, err := headroom.Mlx5Xoff(p)
	if err != nil {
		return
	}
	h.Source, h.Xoff = SourceFormula, bytes32(xoff)
	if p.CellBytes > 0 {
		b, _ := headroom.Mlx5Thresholds(p) // refuses a buffer of 0, with the least one at hand
		h.Size = bytes32(b.MinBufferBytes)
	}
}

// lookUp takes the row that the image finds. It compares speed and length for
// equality, so a length that is not listed is told to it as the next longer
// one: that only adds headroom.
func (w *place) lookUp(in inputs, h *Headroom) {
	key := headroom.RowKey{Platform: w.rows[0].Platform, SKU: w.rows[0].SKU, Mbps: int64(in.mbps), CableMm: int64(in.cableMm)}
	row, near, found := headroom.Lookup(w.rows, key)
	if !found && near.LongerMm >= 0 {
		key.CableMm = near.LongerMm
		row, _, found = headroom.Lookup(w.rows, key)
	}
	if !found {
		h.TableMiss = true
		h.ShorterMm = bytes32(near.ShorterMm)
		return
	}
	h.Source = SourceTable
	h.Xoff, h.Xon, h.Size, h.XonOffset = bytes32(row.XoffBytes), bytes32(row.XonBytes), bytes32(row.SizeBytes), bytes32(row.XonOffsetBytes)
	if _, err := headroom.AlphaExponent(row.Threshold); err == nil { // else it is a static threshold in bytes
		h.Alpha, h.HasAlpha = int8(row.Threshold), true
	}
	h.Table, h.TableMm = h.Xoff, bytes32(row.CableMm)
}

// Defaults of SONiC images for NVIDIA switches, in thousandths: see the facts
// of the same meaning.
const (
	sonicLosslessMTU  = 1024 * thousand
	sonicSmallPercent = 50 * thousand
	sonicPeerResponse = 3800
	eightLanes        = 8
)

// spectrum computes as the image does. Data that lacks a constant of the ASIC
// leaves the reference formula.
func (w *place) spectrum(in inputs, h *Headroom) {
	m := w.model
	pg, err := headroom.Spectrum(headroom.SpectrumPort{
		Generation: w.generation, Mbps: int64(in.mbps), CableMm: int64(in.cableMm),
		PortMTUBytes:     w.portMTU(in),
		LosslessMTUBytes: w.factOr(FactLosslessMTU, sonicLosslessMTU) / thousand,
		SmallPercent:     w.factOr(FactSmallPercent, sonicSmallPercent) / thousand,
		CellBytes:        int64(m.CellBytes),
		PipelineKiB:      (int64(m.PipelineLatencyBytes) + 1023) / 1024,
		MacPhyTenthKiB:   (int64(m.MacPhyDelayBytes)*10 + 512) / 1024, // 0.8 KiB is no whole number of bytes
		GearboxNs:        w.factOr(FactGearbox, 0) / thousand,
		EightLanes:       in.lanes == eightLanes, OnTile: m.Tile, CompensationBytes: int64(m.CompensationBytes), SharedPool: w.shared,
		PeerResponseTenthKiB: w.factOr(FactPeerResponse, sonicPeerResponse) / (thousand / 10),
	})
	if err != nil {
		return
	}
	h.Source = SourceFormula
	h.Xoff, h.Xon, h.Size = bytes32(pg.XoffBytes), bytes32(pg.XonBytes), bytes32(pg.SizeBytes)
}

func (w *place) portMTU(in inputs) int64 {
	if in.mtu != 0 {
		return int64(in.mtu)
	}
	return max(int64(w.model.JumboMTU), hostMTU)
}

// mlxsw computes the buffer of the Linux driver. Its delay allowance is all that
// the reference formula lets arrive but the peer's last frame, which the driver
// adds by itself.
func (w *place) mlxsw(in inputs, l headroom.Link, h *Headroom) {
	ref, err := headroom.Reference(l)
	if err != nil {
		return
	}
	cell := int64(w.model.CellBytes)
	b, err := headroom.Mlxsw(headroom.MlxswPort{
		DelayBits: (ref - l.PeerMTUBytes) * 8, MTUBytes: l.PeerMTUBytes, CellBytes: cell, EightLanes: in.lanes == eightLanes,
	})
	if err != nil {
		return
	}
	h.Source, h.Xoff, h.Size = SourceFormula, bytes32(b.DelayCells*cell), bytes32(b.SizeCells*cell)
}

// cisco computes the budget of the vendor's paper; speeds it does not publish
// leave the reference formula.
func (w *place) cisco(l headroom.Link, h *Headroom) {
	bytes, err := headroom.Cisco(headroom.CiscoLink{Mbps: l.Mbps, CableMm: l.CableMm, LocalMTUBytes: l.LocalMTUBytes, PeerMTUBytes: l.PeerMTUBytes})
	if err == nil {
		h.Source, h.Xoff = SourceFormula, bytes32(bytes)
	}
}

// written lays what the source says over what was found: the port's size before
// the class's, the class's xon and alpha. A reserved size that counts xoff moves
// with it, one that is a bare guarantee stays.
func (s *sweep) written(in inputs, c *plan, prio uint8, h *Headroom) {
	where := &s.places[in.place]
	i := c.class[prio]
	class := &s.f.QoS[s.f.Profiles[in.profile].QoS].Classes[i]
	on := &s.f.Headrooms[in.headroom]
	bytes := class.HeadroomBytes
	if n := on.ByClass[i]; n > 0 {
		bytes = n
	} else if on.AllBytes > 0 {
		bytes = on.AllBytes
	}
	if class.XonBytes > 0 {
		if h.Size > h.Xoff && h.Size-h.Xoff >= h.Xon {
			h.Size = h.Size - h.Xon + class.XonBytes
		}
		h.Xon = class.XonBytes
	}
	switch {
	case on.Keep:
		h.Source = SourceKept
	case bytes > 0:
		if h.Size >= h.Xoff && h.Size > 0 {
			h.Size = bytes32(uint64(bytes) + uint64(h.Size-h.Xoff))
		}
		h.Source, h.Xoff = SourceOperator, bytes
	}
	if e, ok := class.Alpha.Exponent(); ok {
		h.Alpha, h.HasAlpha = e, true
		return
	}
	if h.Source != SourceOperator {
		return
	}
	// A fixed size needs an alpha: the switch's, which targets know, else the one
	// of the row, else what the device has by itself.
	if where.alpha.Den != 0 {
		h.Alpha, h.HasAlpha = 0, false
	} else if v, ok := where.fact(FactAlpha); ok && !h.HasAlpha {
		h.Alpha, h.HasAlpha = int8(v/thousand), true
	}
}

// meant notes what a size that the operator wrote, and that the reference formula
// finds too small, would be enough for: a shorter cable, or no frames larger than
// those of RDMA, of needBytes. Whoever computes by hand does so for whole metres.
func (s *sweep) meant(in inputs, link headroom.Link, needBytes int64, h *Headroom) {
	if h.Source != SourceOperator || h.Xoff >= h.Reference {
		return
	}
	class := link
	class.LocalMTUBytes, class.PeerMTUBytes = needBytes, needBytes
	if ref, err := headroom.Reference(class); err == nil && needBytes < link.LocalMTUBytes {
		h.ClassOnly = bytes32(ref)
	}
	for _, row := range s.places[in.place].rows {
		if row.Mbps == int64(in.mbps) && row.XoffBytes == int64(h.Xoff) && row.CableMm < int64(in.cableMm) {
			h.WrittenMm = bytes32(row.CableMm)
			return
		}
	}
	whole := link
	whole.PeerMTUBytes = link.LocalMTUBytes
	for _, l := range [3]headroom.Link{link, whole, class} {
		mm, fits, err := headroom.MaxCableMm(l, int64(h.Xoff))
		if err != nil || !fits || mm < metreMm {
			continue
		}
		l.CableMm = mm / metreMm * metreMm
		if ref, err := headroom.Reference(l); err == nil && ref == int64(h.Xoff) && l.CableMm < int64(in.cableMm) {
			h.WrittenMm = bytes32(l.CableMm)
			return
		}
	}
}

const metreMm = 1000

// unsettled reports a cabled lossless port that no source gives a size for.
func (s *sweep) unsettled(in inputs, p fabric.PortID) {
	if s.places[in.place].quiet || s.f.Ports[p].Link == 0 || s.places[in.place].kind != fabric.Switch {
		return
	}
	at := s.f.PortLabel(p, schema.ASpeed, "")
	if in.mbps == 0 {
		s.fail(p, "headroom of "+s.f.PortName(p)+" follows from a speed that is not known",
			"write speed on the port, or headroom if the speed is to stay as the device has it", at)
		return
	}
	s.fail(p, fmt.Sprintf("headroom of %s cannot be computed: no pause response time is known for %d Mb/s", s.f.PortName(p), in.mbps),
		"write headroom on the port, or pause_response in the data of the peer's model", at)
}

// reserve is the headroom of the port's groups in whole cells. Priorities that
// share a group share its headroom.
func (s *sweep) reserve(in inputs, port *Port) uint64 {
	profile := &s.f.Profiles[in.profile]
	var groups [16]uint32
	for prio := range port.Headroom {
		g := profile.Group[prio] & 15
		groups[g] = max(groups[g], port.Headroom[prio].Xoff)
	}
	cell := int64(1)
	if m := s.places[in.place].model; m != nil && m.CellBytes > 0 {
		cell = int64(m.CellBytes)
	}
	var sum uint64
	for _, xoff := range groups {
		if whole, err := headroom.CellRound(int64(xoff), cell); err == nil {
			sum += uint64(whole)
		}
	}
	return sum
}
