package headroom

// MlxswPort is what the Linux mlxsw driver knows of a Spectrum port.
type MlxswPort struct {
	DelayBits  int64 // delay allowance of IEEE PFC (dcb pfc ... delay), bit times
	MTUBytes   int64
	CellBytes  int64
	EightLanes bool // such ports split their headroom over two buffers
}

// MlxswBuffer is a lossless priority buffer of mlxsw, in cells.
type MlxswBuffer struct {
	DelayCells     int64 // headroom proper
	ThresholdCells int64 // room below the xoff threshold
	SizeCells      int64
}

// Mlxsw returns the buffer that mlxsw gives to a lossless priority
// [roce-theory A.9; Linux mlxsw spectrum_buffers.c]:
//
//	delay = 2*ceil(ceil(delayBits/8)/cell) + ceil(mtu/cell)
//	threshold = 2*ceil(mtu/cell)
//
// both doubled on ports of eight lanes.
func Mlxsw(p MlxswPort) (MlxswBuffer, error) {
	var c calc
	c.atLeast("DelayBits", p.DelayBits, 0)
	c.atLeast("MTUBytes", p.MTUBytes, 1)
	c.atLeast("CellBytes", p.CellBytes, 1)
	if c.err != nil {
		return MlxswBuffer{}, c.err
	}
	frame := c.ceilDiv(p.MTUBytes, p.CellBytes)
	delay := c.add(c.mul(2, c.ceilDiv(c.ceilDiv(p.DelayBits, 8), p.CellBytes)), frame)
	threshold := c.mul(2, frame)
	if p.EightLanes {
		delay, threshold = c.mul(2, delay), c.mul(2, threshold)
	}
	size := c.add(delay, threshold)
	if c.err != nil {
		return MlxswBuffer{}, c.err
	}
	return MlxswBuffer{DelayCells: delay, ThresholdCells: threshold, SizeCells: size}, nil
}

// CiscoLink is a lossless link as the delay budget of Cisco white paper
// C11-542809 sees it.
type CiscoLink struct {
	Mbps    int64
	CableMm int64
	// LocalMTUBytes is the largest frame of any class, PeerMTUBytes the largest
	// of the no-drop class.
	LocalMTUBytes int64
	PeerMTUBytes  int64
	// InterfaceBits is the delay of one interface and ResponseBits that of the
	// peer's response, in bit times; 0 takes the published figure of the speed.
	InterfaceBits int64
	ResponseBits  int64
}

const (
	ciscoFrameExtraBits = 160 // preamble and gap
	ciscoPauseBits      = 672
	// ciscoCableDen turns mm*Mbps into bit times both ways at 5 ns/m:
	// 2*5e-9*(mm/1e3)*(Mbps*1e6) = mm*Mbps/1e5.
	ciscoCableDen = 100_000
)

// Cisco returns the headroom in bytes by the budget of Cisco's white paper
// [roce-theory A.9]:
//
//	frame + pause + 2*interface + 2*5ns*L*G + response + no-drop frame
//
// in bit times, rounded up to bytes. That the interface delay counts twice is a
// reading of IEEE 802.1Qbb Annex O that is not confirmed by the paper. Speeds
// without published figures are a *SpeedError unless both are given.
func Cisco(l CiscoLink) (int64, error) {
	var c calc
	c.atLeast("Mbps", l.Mbps, 1)
	c.atLeast("CableMm", l.CableMm, 0)
	c.atLeast("LocalMTUBytes", l.LocalMTUBytes, 1)
	c.atLeast("PeerMTUBytes", l.PeerMTUBytes, 1)
	c.atLeast("InterfaceBits", l.InterfaceBits, 0)
	c.atLeast("ResponseBits", l.ResponseBits, 0)
	iface := l.InterfaceBits
	if c.err == nil && iface == 0 {
		table := [...]speedRow{{10_000, 8_192}, {25_000, 6_144}, {40_000, 24_576}, {100_000, 122_880}}
		iface, c.err = lookupSpeed(table[:], l.Mbps, "interface delay")
	}
	response := l.ResponseBits
	if c.err == nil && response == 0 {
		table := [...]speedRow{{10_000, 30_720}, {25_000, 40_960}, {40_000, 60_416}, {100_000, 201_728}, {400_000, 463_360}}
		response, c.err = lookupSpeed(table[:], l.Mbps, "response time")
	}
	bits := c.add(
		c.mul(l.LocalMTUBytes, 8), ciscoFrameExtraBits,
		ciscoPauseBits,
		c.mul(2, iface),
		c.ceilDiv(c.mul(l.CableMm, l.Mbps), ciscoCableDen),
		response,
		c.mul(l.PeerMTUBytes, 8), ciscoFrameExtraBits,
	)
	return c.result(c.ceilDiv(bits, 8))
}
