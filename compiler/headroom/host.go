package headroom

import "math"

// Mlx5Port is what the Linux mlx5 driver knows of a port when it sizes its
// receive buffers.
type Mlx5Port struct {
	Mbps        int64
	CableMm     int64 // the driver counts whole metres: rounded up here
	MTUBytes    int64 // of the network device
	MaxMTUBytes int64 // largest the network device accepts
	CellBytes   int64 // port_buff_cell_sz
	BufferBytes int64 // size of the lossless buffer; only Mlx5Thresholds looks at it
}

// Mlx5Buffer is what the driver programs for one lossless receive buffer.
type Mlx5Buffer struct {
	XoffBytes          int64 // headroom proper
	MinBufferBytes     int64 // least size the driver accepts
	XoffThresholdBytes int64 // fill at which it pauses the peer
	XonThresholdBytes  int64 // fill at which it lets the peer go on
}

const (
	// Mlx5DefaultCableMm is the length the driver assumes when none is set
	// (MLX5E_DEFAULT_CABLE_LEN).
	Mlx5DefaultCableMm = 7_000

	mlx5LeastMbps   = 40_000
	mlx5LeastMaxMTU = 9216
)

// Mlx5Xoff returns the headroom in bytes that mlx5 keeps for a lossless buffer
// [roce-theory A.8; Linux mlx5 en/port_buffer.c, calculate_xoff]:
//
//	(301 + 216*L/100) * max(Mbps, 40000)/1000 + 272*mtu/100
//
// in the driver's truncating integers. The driver computes in 32 bits and wraps
// beyond some 4800 m at 400 Gb/s; such inputs are ErrOverflow here.
func Mlx5Xoff(p Mlx5Port) (int64, error) {
	var c calc
	c.atLeast("Mbps", p.Mbps, 1)
	c.atLeast("CableMm", p.CableMm, 0)
	c.atLeast("MTUBytes", p.MTUBytes, 1)
	metres := c.ceilDiv(p.CableMm, 1000)
	perMbps := c.add(301, c.uint32(c.mul(216, metres))/100)
	cable := c.uint32(c.mul(perMbps, max(p.Mbps, mlx5LeastMbps))) / 1000
	frames := c.uint32(c.mul(272, p.MTUBytes)) / 100
	return c.result(c.uint32(c.add(cable, frames)))
}

// Mlx5Thresholds returns what mlx5 programs for a lossless buffer of
// p.BufferBytes [roce-theory A.8; Linux mlx5 en/port_buffer.c,
// update_xoff_threshold]. A buffer the driver would refuse as too small is an
// *InputError; MinBufferBytes is set even then.
func Mlx5Thresholds(p Mlx5Port) (Mlx5Buffer, error) {
	xoff, err := Mlx5Xoff(p)
	c := calc{err: err}
	c.atLeast("MaxMTUBytes", p.MaxMTUBytes, 1)
	c.atLeast("CellBytes", p.CellBytes, 1)
	c.atLeast("BufferBytes", p.BufferBytes, 0)
	maxMTU := max(p.MaxMTUBytes, mlx5LeastMaxMTU)
	least := c.add(xoff, maxMTU, p.CellBytes)
	if c.err != nil {
		return Mlx5Buffer{}, c.err
	}
	b := Mlx5Buffer{XoffBytes: xoff, MinBufferBytes: least}
	if p.BufferBytes < least {
		return b, &InputError{Field: "BufferBytes", Value: p.BufferBytes, Want: "at least MinBufferBytes"}
	}
	b.XoffThresholdBytes = p.BufferBytes - xoff
	b.XonThresholdBytes = b.XoffThresholdBytes - maxMTU
	return b, nil
}

func (c *calc) uint32(v int64) int64 {
	if v > math.MaxUint32 {
		return c.fail(ErrOverflow)
	}
	return v
}
