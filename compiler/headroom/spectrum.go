package headroom

// SpectrumPort is what SONiC's cfgmgr/buffer_headroom_mellanox.lua knows of a
// port and its ASIC. Figures of the ASIC come from the platform's asic_table.
type SpectrumPort struct {
	Generation Generation
	Mbps       int64
	CableMm    int64
	// PortMTUBytes is the MTU of the port, LosslessMTUBytes and SmallPercent the
	// mtu and small_packet_percentage (0..100) of LOSSLESS_TRAFFIC_PATTERN.
	PortMTUBytes     int64
	LosslessMTUBytes int64
	SmallPercent     int64
	CellBytes        int64
	PipelineKiB      int64
	MacPhyTenthKiB   int64 // mac_phy_delay in tenths of a KiB: 0.8 is 8
	// PeerResponseTenthKiB is peer_response_time in tenths of a KiB. The device
	// uses it only at speeds its quanta table lacks; 0 refuses such speeds.
	PeerResponseTenthKiB int64
	GearboxNs            int64
	EightLanes           bool
	// OnTile adds the bytes held on the tile (Spectrum-4 and -5), from Spectrum202405 on.
	OnTile bool
	// CompensationBytes is added to xoff from Spectrum202605 on (Spectrum-6: 18 KiB).
	CompensationBytes int64
	SharedPool        bool // a shared headroom pool is in force
}

// PGProfile is a lossless priority group profile as SONiC stores it.
type PGProfile struct {
	XonBytes  int64
	XoffBytes int64 // headroom proper: room above the xoff threshold
	SizeBytes int64 // reserved for the group: xon+xoff, only xon with a shared headroom pool
}

const (
	kib             = 1024
	minPacketBytes  = 64
	tileNanos       = 120
	smallShareExtra = 2 * kib
)

// Spectrum returns the profile that a SONiC image of the given generation
// computes for a port of an NVIDIA switch [roce-theory A.6;
// switches-linux-nos 8.1; sonic-swss cfgmgr/buffer_headroom_mellanox.lua].
// The device computes in binary floating point; this is the exact value, which
// differs only where the unrounded xoff is a whole number of KiB and the
// device's error lifts it over the edge.
func Spectrum(p SpectrumPort) (PGProfile, error) {
	var c calc
	p.check(&c)
	if c.err != nil {
		return PGProfile{}, c.err
	}
	scale := p.scale()
	prop := p.propagation(&c, scale)
	xoff := p.xoff(&c, prop, scale, p.occupancy(&c))
	if p.Generation >= Spectrum202605 {
		xoff = p.compensated(&c, xoff, p.xoff(&c, prop, scale, p.worstCase(&c)))
	}
	xon := p.xon(&c)
	size := xon
	if !p.SharedPool {
		size = c.add(xoff, xon)
		if p.EightLanes {
			size = c.add(size, p.PortMTUBytes)
		}
		size = c.ceilTo(size, kib)
	}
	if c.err != nil {
		return PGProfile{}, c.err
	}
	return PGProfile{XonBytes: xon, XoffBytes: xoff, SizeBytes: size}, nil
}

// Occupancy returns by what factor cells are larger than the traffic in them, for
// a mix of large and minimal packets [roce-theory A.5 and A.6]. Up to
// Spectrum202311 the percentage counts as a share of bytes, later as a share of
// packets, and the worst case of a single cell is rounded up.
func Occupancy(g Generation, cellBytes, smallPercent, losslessMTUBytes int64) (Ratio, error) {
	p := SpectrumPort{Generation: g, CellBytes: cellBytes, SmallPercent: smallPercent, LosslessMTUBytes: losslessMTUBytes}
	var c calc
	p.checkTraffic(&c)
	f := p.occupancy(&c)
	return c.fraction(f.Num, f.Den)
}

func (p SpectrumPort) check(c *calc) {
	p.checkTraffic(c)
	c.atLeast("Mbps", p.Mbps, 1)
	c.atLeast("CableMm", p.CableMm, 0)
	c.atLeast("PortMTUBytes", p.PortMTUBytes, 1)
	c.atLeast("PipelineKiB", p.PipelineKiB, 1)
	c.atLeast("MacPhyTenthKiB", p.MacPhyTenthKiB, 0)
	c.atLeast("PeerResponseTenthKiB", p.PeerResponseTenthKiB, 0)
	c.atLeast("GearboxNs", p.GearboxNs, 0)
	c.atLeast("CompensationBytes", p.CompensationBytes, 0)
}

func (p SpectrumPort) checkTraffic(c *calc) {
	if p.Generation < Spectrum202311 || p.Generation > Spectrum202605 {
		c.fail(&InputError{Field: "Generation", Value: int64(p.Generation), Want: "one that GenerationOf returns"})
	}
	c.atLeast("LosslessMTUBytes", p.LosslessMTUBytes, 1)
	c.atLeast("CellBytes", p.CellBytes, 1)
	if p.SmallPercent < 0 || p.SmallPercent > 100 {
		c.fail(&InputError{Field: "SmallPercent", Value: p.SmallPercent, Want: "0 to 100"})
	}
}

// occupancy is f = 1 + share*(w-1), with share and w as the generation has them.
func (p SpectrumPort) occupancy(c *calc) Ratio {
	if c.err != nil {
		return Ratio{}
	}
	s, cell := p.SmallPercent, p.CellBytes
	if p.Generation >= Spectrum202405 {
		// share = 64/(mean packet) = 6400/(64*s + (100-s)*mtu)
		den := c.add(minPacketBytes*s, c.mul(100-s, p.LosslessMTUBytes))
		w := p.worstCase(c).Num
		return Ratio{c.add(den, c.mul(100*minPacketBytes, w-1)), den}
	}
	if cell > 2*minPacketBytes {
		// (100 - s + s*cell/64)/100
		return Ratio{c.add(minPacketBytes*(100-s), c.mul(s, cell)), 100 * minPacketBytes}
	}
	// (100 - s + s*2*cell/(1+cell))/100
	return Ratio{(100-s)*(1+cell) + 2*s*cell, 100 * (1 + cell)}
}

// worstCase is the occupancy when every packet is a minimal one, as whole cells'
// worth: the rounding came with Spectrum202405.
func (p SpectrumPort) worstCase(c *calc) Ratio {
	cell := p.CellBytes
	if cell > 2*minPacketBytes {
		return Ratio{c.ceilDiv(cell, minPacketBytes), 1}
	}
	return Ratio{c.ceilDiv(2*cell, 1+cell), 1}
}

// scale is a common denominator of the terms of propagation.
func (p SpectrumPort) scale() int64 {
	if p.Generation >= Spectrum202405 {
		return 50_688_000 // of 792000, 4096, 5 and 200
	}
	return 4_055_040 // of 811008, 4096 and 5
}

// propagation is the bytes that arrive after the decision to pause, except the
// last lossless frame, times scale.
func (p SpectrumPort) propagation(c *calc, scale int64) int64 {
	den := int64(cableDen)
	if p.Generation < Spectrum202405 {
		// Up to 202311 the cable's bits were divided by 8*1024 instead of
		// 8*1000, which makes it 2.3 % too short.
		den = cableDen / 1000 * 1024
	}
	cable := c.mul(c.mul(p.CableMm, p.Mbps), scale/den)
	gearbox := c.mul(c.mul(p.Mbps, p.GearboxNs), scale/4096) // both sides, each Mbps*ns/(8*1024)
	macPhy := c.mul(p.MacPhyTenthKiB, scale/10*kib)
	var tile int64
	if p.OnTile && p.Generation >= Spectrum202405 {
		tile = c.mul(p.Mbps, scale/8000*tileNanos)
	}
	return c.add(c.mul(p.PortMTUBytes, scale), cable, gearbox, macPhy, p.response(c, scale), tile)
}

// response is the peer's response time in bytes, times scale. The device's table
// goes below the speeds of ResponseQuanta; 800 Gb/s is in it since 202211.
func (p SpectrumPort) response(c *calc, scale int64) int64 {
	var quanta int64
	switch p.Mbps {
	case 100:
		quanta = 1
	case 1_000:
		quanta = 2
	default:
		var err error
		quanta, err = ResponseQuanta(p.Mbps)
		if err != nil {
			if p.PeerResponseTenthKiB == 0 {
				return c.fail(err)
			}
			return c.mul(p.PeerResponseTenthKiB, scale/10*kib)
		}
	}
	return c.mul(quanta, quantumBytes*scale)
}

// xoff is ceil_KiB(losslessMTU + propagation*f).
func (p SpectrumPort) xoff(c *calc, prop, scale int64, f Ratio) int64 {
	den := c.mul(scale, f.Den)
	return c.mul(c.mulAddCeil(p.LosslessMTUBytes, den, prop, f.Num, c.mul(den, kib)), kib)
}

// compensated applies what sonic-swss #4757 and #4797 added: a constant of the
// ASIC, then 2 KiB for a reduced share of small packets, if that still leaves
// xoff below the worst case.
func (p SpectrumPort) compensated(c *calc, xoff, worst int64) int64 {
	xoff = c.add(xoff, p.CompensationBytes)
	if p.SharedPool || p.SmallPercent == 100 {
		return xoff
	}
	if more := c.add(xoff, smallShareExtra); more < worst {
		return more
	}
	return xoff
}

func (p SpectrumPort) xon(c *calc) int64 {
	pipeline := c.mul(p.PipelineKiB, kib)
	if !p.EightLanes {
		return pipeline
	}
	if p.Generation >= Spectrum202405 {
		return c.mul(pipeline, 2)
	}
	return c.mul(pipeline, 2) - kib
}
