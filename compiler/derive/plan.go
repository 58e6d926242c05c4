package derive

import (
	"math"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/headroom"
)

// plan is what a profile says about its classes, by priority and queue.
type plan struct {
	lossless uint8    // priorities that have PFC and carry a lossless class
	class    [8]uint8 // by priority: index of the first lossless class on it
	ask      [8]uint16
	rdma     []uint8  // indices of the classes that carry RoCE
	queue    [8]uint8 // by queue: lossless priorities that use it
}

// plan returns that of a profile.
func (s *sweep) plan(id fabric.ProfileID) *plan {
	if s.plans[id] != nil {
		return s.plans[id]
	}
	profile := &s.f.Profiles[id]
	c := &plan{}
	s.plans[id] = c
	classes := s.f.QoS[profile.QoS].Classes
	open := uint8(0) // priorities with a lossless class whose RDMA MTU is not written
	for i := range classes[:min(len(classes), fabric.MaxClasses)] {
		class, on := &classes[i], profile.On[i]
		if class.Carries == fabric.CarriesRDMA && class.Transport != fabric.IWARP {
			c.rdma = append(c.rdma, uint8(i))
		}
		prio := on.Priority & 7
		bit := uint8(1) << prio
		if !class.Lossless || profile.PFC&bit == 0 {
			continue
		}
		if c.lossless&bit == 0 {
			c.class[prio] = uint8(i)
		}
		c.lossless |= bit
		if q := profile.Queue[prio]; q < 8 {
			c.queue[q] |= bit
		}
		if class.RDMAMTU == 0 {
			open |= bit
		}
		c.ask[prio] = max(c.ask[prio], class.RDMAMTU)
	}
	for prio := range c.ask {
		if open>>prio&1 == 1 {
			c.ask[prio] = 0
		}
	}
	return c
}

// mtus derives the MTU that the RDMA classes of a port need. A class that asks
// for no RDMA MTU takes what Linux gives it on the port, which always fits.
func (s *sweep) mtus(in inputs, c *plan, port *Port) {
	if len(c.rdma) == 0 {
		return
	}
	if mtu, err := headroom.RDMAMTU(int64(in.mtu)); err == nil {
		port.RDMAMTU = uint16(mtu)
	}
	classes := s.f.QoS[s.f.Profiles[in.profile].QoS].Classes
	for _, i := range c.rdma {
		mtu := classes[i].RDMAMTU
		if mtu == 0 {
			mtu = port.RDMAMTU
		}
		if need := needBytes(mtu, in.v6); need > port.NeedMTU {
			port.NeedMTU, port.NeedClass = need, i
		}
	}
}

// needBytes is the IP packet of an RDMA MTU, 0 if it is none.
func needBytes(rdmaMTU uint16, v6 bool) uint16 {
	version := headroom.IPv4
	if v6 {
		version = headroom.IPv6
	}
	need, err := headroom.NeedBytes(int64(rdmaMTU), version)
	if err != nil {
		return 0
	}
	return uint16(need)
}

// bytes32 is a number in the width of facts. What does not fit is larger than
// any buffer, and stays so.
func bytes32[T int64 | uint64](n T) uint32 {
	if n < 0 {
		return 0
	}
	if uint64(n) > math.MaxUint32 {
		return math.MaxUint32
	}
	return uint32(n)
}
