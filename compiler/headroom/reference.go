package headroom

// Link is one direction of one lossless priority, seen by the receiver that has
// to take in what still arrives after it has decided to pause the sender.
type Link struct {
	Mbps    int64
	CableMm int64
	// LocalMTUBytes is the largest frame of any class that the receiver itself
	// may just have begun to send on this port: the pause frame waits behind it.
	LocalMTUBytes int64
	// PeerMTUBytes is the largest frame of the paused class, which the sender
	// may just have begun when the pause frame reaches it.
	PeerMTUBytes int64
	// ExtraBytes stands for stated MAC, PHY, gearbox or MACsec delay of both ends.
	ExtraBytes int64
	// Quanta is the sender's response time in pause quanta of 512 bit times;
	// 0 takes the figure of ResponseQuanta for the speed.
	Quanta int64
}

const (
	// frameExtraBytes is what one 802.1Q frame takes on the wire above its MTU:
	// header 14, tag 4, FCS 4, preamble 8, gap 12.
	frameExtraBytes = 42
	// pauseFrameBytes is a PFC frame on the wire: 64, preamble 8, gap 12.
	pauseFrameBytes = 84
	quantumBytes    = 64
	// cableDen turns mm*Mbps into bytes under way in both directions at
	// 198,000,000 m/s: 2*(mm/1e3)*(Mbps*1e6)/198e6/8 = mm*Mbps/792000.
	cableDen = 792_000
)

// Reference returns the vendor neutral headroom in bytes per port and lossless
// priority [roce-theory A.2]:
//
//	ceil(M_r + M_s + 168 + 64*Q + X + 125*L*G/99)
//
// with L in metres and G in Gb/s. A speed without response time, unless Quanta
// is given, is a *SpeedError.
func Reference(l Link) (int64, error) {
	var c calc
	fixed := l.fixed(&c)
	return c.result(c.add(fixed, l.inFlight(&c)))
}

// PhysicalMinimum returns the bytes that arrive even if the sender stops the
// moment it hears the pause frame, with neither response time nor extra delay
// [roce-theory A.10]. Less buffer than this must lose frames.
func PhysicalMinimum(l Link) (int64, error) {
	var c calc
	frames := l.frames(&c)
	return c.result(c.add(frames, l.inFlight(&c)))
}

// MaxCableMm returns the longest cable for which Reference needs no more than
// allocBytes; l.CableMm is not looked at. fits is false when no length is short
// enough [roce-theory A.2].
func MaxCableMm(l Link, allocBytes int64) (mm int64, fits bool, err error) {
	var c calc
	l.CableMm = 0
	fixed := l.fixed(&c)
	c.atLeast("allocBytes", allocBytes, 0)
	if c.err != nil {
		return 0, false, c.err
	}
	if allocBytes < fixed {
		return 0, false, nil
	}
	mm, err = c.result(c.mul(allocBytes-fixed, cableDen) / l.Mbps)
	return mm, err == nil, err
}

// CellRound rounds bytes up to whole cells, the unit in which ASICs allocate
// [roce-theory A.5].
func CellRound(bytes, cellBytes int64) (int64, error) {
	var c calc
	c.atLeast("bytes", bytes, 0)
	c.atLeast("cellBytes", cellBytes, 1)
	if c.err != nil {
		return 0, c.err
	}
	return c.result(c.ceilTo(bytes, cellBytes))
}

// fixed is everything but the cable.
func (l Link) fixed(c *calc) int64 {
	frames := l.frames(c)
	c.atLeast("ExtraBytes", l.ExtraBytes, 0)
	c.atLeast("Quanta", l.Quanta, 0)
	quanta := l.Quanta
	if c.err == nil && quanta == 0 {
		quanta, c.err = ResponseQuanta(l.Mbps)
	}
	return c.add(frames, c.mul(quanta, quantumBytes), l.ExtraBytes)
}

func (l Link) frames(c *calc) int64 {
	c.atLeast("Mbps", l.Mbps, 1)
	c.atLeast("CableMm", l.CableMm, 0)
	c.atLeast("LocalMTUBytes", l.LocalMTUBytes, 1)
	c.atLeast("PeerMTUBytes", l.PeerMTUBytes, 1)
	return c.add(l.LocalMTUBytes, frameExtraBytes, pauseFrameBytes, l.PeerMTUBytes, frameExtraBytes)
}

// inFlight is the only term that is not whole, so it alone is rounded up.
func (l Link) inFlight(c *calc) int64 {
	return c.ceilDiv(c.mul(l.CableMm, l.Mbps), cableDen)
}
