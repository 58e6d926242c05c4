package derive

import (
	"math"
	"math/bits"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/headroom"
)

// buffer sums up a switch: what headroom takes, what is left to share, and how
// many of its ports can be congested.
func (s *sweep) buffer(d fabric.DeviceID, first fabric.PortID) Buffer {
	dev := &s.f.Devices[d]
	if dev.Kind != fabric.Switch {
		return Buffer{}
	}
	var b Buffer
	for i, r := range s.scratch {
		port := &s.f.Ports[first+fabric.PortID(i)]
		if port.Flags&(fabric.IsLAG|fabric.ShutDown) != 0 {
			continue
		}
		b.HeadroomBytes += s.rows[r].reserve
		if port.Link != 0 {
			b.Ports++
		}
	}
	switch {
	case dev.Buffer.SharedBytes > 0:
		b.SharedBytes, b.SharedKnown = dev.Buffer.SharedBytes, true
	case dev.Model != 0 && s.f.Models[dev.Model].BufferBytes > 0:
		total, taken := s.usable(dev), b.HeadroomBytes
		if dev.Buffer.HeadroomBytes > 0 {
			taken = dev.Buffer.HeadroomBytes
		}
		b.SharedBytes, b.SharedKnown = total-min(total, taken), true
	}
	return b
}

// usable is the packet buffer of a switch, of which an image may set up a part.
func (s *sweep) usable(dev *fabric.Device) uint64 {
	m := &s.f.Models[dev.Model]
	pool, stated := m.Facts[FactImagePool]
	if !stated || pool < thousand || s.f.Text(dev.OSName) != sonic {
		return m.BufferBytes
	}
	return min(m.BufferBytes, uint64(pool)/thousand)
}

// ecn settles the marking of every queue. What the operator wrote is kept as it
// is; the bounds are recorded for the rules to judge by.
func (s *sweep) ecn(r *row, b Buffer, port *Port) {
	profile := &s.f.Profiles[r.in.profile]
	if profile.Host {
		return
	}
	c := s.plan(r.in.profile)
	for prio := range port.Alpha {
		if c.lossless>>prio&1 == 0 {
			continue
		}
		if a, known := s.alpha(r, 1<<prio); known && a.Num <= math.MaxInt32 && a.Den <= math.MaxInt32 {
			port.Alpha[prio] = fabric.Ratio{Num: int32(a.Num), Den: int32(a.Den)}
		}
	}
	for q := range profile.ECN {
		w := profile.ECN[q]
		if w.Mode != fabric.Auto && w.Mode != fabric.Written {
			continue
		}
		e := ECN{On: true, Auto: w.MinBytes == 0 || w.MaxBytes == 0, MinBytes: w.MinBytes, MaxBytes: w.MaxBytes, Probability: w.Probability}
		relaxed, strict, bounded := s.bounds(r, c, q, b)
		if bounded {
			e.RelaxedBytes, e.StrictBytes = bytes32(relaxed.Below()), bytes32(strict.Below())
		}
		s.thresholds(r.in, relaxed, bounded, &e)
		port.ECN[q] = e
	}
}

// bounds are the limits for the lower threshold of a queue that a lossless
// priority uses [roce-theory B.2]; a lossy one has none, as nothing pauses.
func (s *sweep) bounds(r *row, c *plan, q int, b Buffer) (relaxed, strict headroom.Ratio, ok bool) {
	alpha, known := s.alpha(r, c.queue[q])
	if c.queue[q] == 0 || !known || !b.SharedKnown {
		return headroom.Ratio{}, headroom.Ratio{}, false
	}
	var priorities int64
	for set := c.lossless; set != 0; set &= set - 1 {
		priorities++
	}
	shared := headroom.SharedBuffer{
		SharedBytes: int64(min(b.SharedBytes, 1<<62)), Alpha: alpha, Ports: int64(max(b.Ports, 1)), Priorities: priorities,
	}
	relaxed, err := headroom.ECNRelaxed(shared)
	if err != nil {
		return relaxed, strict, false
	}
	strict, err = headroom.ECNStrict(shared)
	return relaxed, strict, err == nil
}

// alpha is the smallest dynamic threshold of the given priorities: the class's,
// else the switch's, else the table row's, else the device's own.
func (s *sweep) alpha(r *row, priorities uint8) (alpha headroom.Ratio, known bool) {
	where := &s.places[r.in.place]
	classes := s.f.QoS[s.f.Profiles[r.in.profile].QoS].Classes
	c := s.plan(r.in.profile)
	for prio := range r.port.Headroom {
		if priorities>>prio&1 == 0 {
			continue
		}
		a, ok := ratio(classes[c.class[prio]].Alpha)
		if !ok {
			a, ok = ratio(where.alpha)
		}
		if h := &r.port.Headroom[prio]; !ok && h.HasAlpha {
			a, ok = power(int64(h.Alpha))
		}
		if v, stated := where.fact(FactAlpha); !ok && stated {
			a, ok = power(v / thousand)
		}
		if ok && (!known || a.Compare(alpha) < 0) {
			alpha, known = a, true
		}
	}
	return alpha, known
}

func ratio(r fabric.Ratio) (headroom.Ratio, bool) {
	return headroom.Ratio{Num: int64(r.Num), Den: int64(r.Den)}, r.Num > 0 && r.Den > 0
}

func power(exponent int64) (headroom.Ratio, bool) {
	r, err := headroom.AlphaExponent(exponent)
	return r, err == nil
}

// thresholds fills in what the operator left open, in whole kB.
func (s *sweep) thresholds(in inputs, bound headroom.Ratio, bounded bool, e *ECN) {
	mtu := s.frame(in)
	base, probability, ok := s.base(in, mtu)
	if e.Probability == 0 {
		e.Probability = probability
	}
	if !ok {
		return
	}
	least, most := 2*mtu, int64(math.MaxUint32)
	if bounded {
		most = bound.Below()
	}
	switch {
	case e.MinBytes == 0 && e.MaxBytes == 0:
		if bounded {
			base = clamp(base, bound, mtu)
		}
		kmin := wholeKB(base.KminBytes, least, most)
		e.MinBytes, e.MaxBytes = bytes32(kmin), bytes32(upToKB(base.KmaxBytes))
	case e.MaxBytes == 0:
		// The slope keeps its shape above a lower threshold that is raised.
		e.MaxBytes = bytes32(upToKB(max(base.KmaxBytes, scale(int64(e.MinBytes), base.KmaxBytes, base.KminBytes))))
	case e.MinBytes == 0:
		most = min(most, int64(e.MaxBytes)-1)
		k := min(base.KminBytes, scale(int64(e.MaxBytes), base.KminBytes, base.KmaxBytes))
		k = wholeKB(max(min(k, most), least), least, most)
		if k >= int64(e.MaxBytes) {
			k = int64(e.MaxBytes) - 1 // two frames do not fit below what is written
		}
		e.MinBytes = bytes32(k)
	}
}

// wholeKB is a derived threshold in kB of 1000 bytes, the coarsest unit that an OS takes (Enterprise SONiC, QoS_THRESHOLD):
// the next one up, the next one down where that is above most; what has no whole kB from least to most is rounded up.
func wholeKB(n, least, most int64) int64 {
	if up, down := upToKB(n), n-n%thousand; up <= most || down < least {
		return up
	}
	return n - n%thousand
}

func upToKB(n int64) int64 { return (min(n, math.MaxUint32) + thousand - 1) / thousand * thousand }

// base is the marking without any bound: the platform's own RoCE profile where
// its data states one, else by speed [roce-theory B.6]; two frames at least.
func (s *sweep) base(in inputs, mtu int64) (e headroom.ECN, probability uint8, ok bool) {
	where := &s.places[in.place]
	probability = 5
	if v, stated := where.fact(FactECNProbability); stated {
		probability = uint8(min(max(v/thousand, 1), 100))
	}
	lo, hasMin := where.fact(FactECNMin)
	hi, hasMax := where.fact(FactECNMax)
	if hasMin && hasMax && 0 < lo && lo < hi {
		e = headroom.ECN{KminBytes: lo / thousand, KmaxBytes: hi / thousand, Pmax: headroom.Ratio{Num: int64(probability), Den: 100}}
		if e.KminBytes < 2*mtu {
			e.KmaxBytes = scale(2*mtu, e.KmaxBytes, max(e.KminBytes, 1))
			e.KminBytes = 2 * mtu
		}
		return e, probability, true
	}
	e, err := headroom.ScaledECN(int64(in.mbps), mtu)
	return e, probability, err == nil
}

// clamp lowers a profile below the bound, but not below two frames.
func clamp(e headroom.ECN, bound headroom.Ratio, mtu int64) headroom.ECN {
	if c, err := e.Clamp(bound, mtu); err == nil {
		return c
	}
	e.KmaxBytes = scale(2*mtu, e.KmaxBytes, e.KminBytes)
	e.KminBytes = 2 * mtu
	return e
}

// scale is n*by/of of numbers that are not negative, rounded up; what leaves 63
// bits is larger than any buffer and stays so. of is positive.
func scale(n, by, of int64) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(by))
	lo, carry := bits.Add64(lo, uint64(of-1), 0)
	hi += carry
	if hi >= uint64(of) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(of))
	return int64(min(q, math.MaxInt64))
}
