package headroom

import "fmt"

// SharedBuffer is an ingress buffer with dynamic thresholds, as the inequality
// "ECN marks before PFC pauses" sees it.
type SharedBuffer struct {
	SharedBytes int64 // pool that is left after headroom
	Alpha       Ratio // dynamic threshold of an ingress priority group
	Ports       int64 // egress ports that can be congested at once
	Priorities  int64 // lossless priorities
}

// ECNStrict returns the bound below which Kmin must stay so that ECN marks first
// even when one ingress feeds every egress queue: alpha*S/(n*(1 + alpha*q))
// [roce-theory B.2]. Ratio.Admits tests a Kmin against it.
func ECNStrict(b SharedBuffer) (Ratio, error) {
	var c calc
	b.check(&c)
	c.atLeast("Ports", b.Ports, 1)
	c.atLeast("Priorities", b.Priorities, 1)
	den := c.mul(b.Ports, c.add(b.Alpha.Den, c.mul(b.Alpha.Num, b.Priorities)))
	return c.fraction(c.mul(b.Alpha.Num, b.SharedBytes), den)
}

// ECNRelaxed returns the bound below which Kmin must stay so that ECN marks first
// when one ingress feeds one congested queue: alpha*S/(1 + alpha)
// [roce-theory B.2]. Ports and Priorities are not looked at.
func ECNRelaxed(b SharedBuffer) (Ratio, error) {
	var c calc
	b.check(&c)
	return c.fraction(c.mul(b.Alpha.Num, b.SharedBytes), c.add(b.Alpha.Den, b.Alpha.Num))
}

// ECNStatic returns the bound for Kmin below a static xoff threshold: xoff/fan,
// with fan 1 for the relaxed case and the number of ports for the strict one
// [roce-theory B.2].
func ECNStatic(xoffBytes, fan int64) (Ratio, error) {
	var c calc
	c.atLeast("xoffBytes", xoffBytes, 0)
	c.atLeast("fan", fan, 1)
	return c.fraction(xoffBytes, fan)
}

func (b SharedBuffer) check(c *calc) {
	c.atLeast("SharedBytes", b.SharedBytes, 0)
	c.ratio("Alpha", b.Alpha)
}

// ECN is a RED profile that marks instead of dropping.
type ECN struct {
	KminBytes int64
	KmaxBytes int64
	Pmax      Ratio // probability of marking at Kmax
}

// ScaledECN returns the suggested profile of a speed: Kmin 1500 bytes per Gb/s
// but at least two frames, Kmax ten times that, Pmax 5 % [roce-theory B.6].
func ScaledECN(mbps, mtuBytes int64) (ECN, error) {
	var c calc
	c.atLeast("mbps", mbps, 1)
	c.atLeast("mtuBytes", mtuBytes, 1)
	kmin := max(c.ceilDiv(c.mul(mbps, 3), 2), c.mul(mtuBytes, 2))
	kmax := c.mul(kmin, 10)
	if c.err != nil {
		return ECN{}, c.err
	}
	return ECN{KminBytes: kmin, KmaxBytes: kmax, Pmax: Ratio{Num: 1, Den: 20}}, nil
}

// BoundError reports a bound for Kmin that leaves no room for two frames.
type BoundError struct {
	Bound    Ratio // bytes
	MTUBytes int64
}

// Error names the bound and the frame that it is held against, in bytes.
func (e *BoundError) Error() string {
	return fmt.Sprintf("ECN threshold must stay below %d bytes, which leaves no room for two frames of %d", e.Bound.Below()+1, e.MTUBytes)
}

// Clamp returns the profile with Kmin lowered to the largest integer that bound
// admits, and Kmax lowered in the same proportion so that the slope between them
// keeps its shape; a profile within the bound is returned as it is. A Kmin
// lowered below two frames is a *BoundError [roce-theory B.6].
func (e ECN) Clamp(bound Ratio, mtuBytes int64) (ECN, error) {
	var c calc
	e.check(&c)
	c.ratio("bound", bound)
	c.atLeast("mtuBytes", mtuBytes, 1)
	frames := c.mul(mtuBytes, 2)
	if c.err != nil {
		return ECN{}, c.err
	}
	if bound.Admits(e.KminBytes) {
		return e, nil
	}
	kmin := bound.Below()
	if kmin < frames {
		return ECN{}, &BoundError{Bound: bound, MTUBytes: mtuBytes}
	}
	// kmin < KminBytes, so the product over KminBytes is below KmaxBytes.
	kmax := c.mulAddCeil(e.KmaxBytes, kmin, 0, 0, e.KminBytes)
	return ECN{KminBytes: kmin, KmaxBytes: kmax, Pmax: e.Pmax}, c.err
}

// MarkProbability returns the probability with which a packet is marked at a
// queue depth: 0 up to Kmin, then rising to Pmax at Kmax, 1 beyond
// [roce-theory B.6].
func (e ECN) MarkProbability(queueBytes int64) (Ratio, error) {
	var c calc
	e.check(&c)
	c.atLeast("queueBytes", queueBytes, 0)
	switch {
	case c.err != nil:
		return Ratio{}, c.err
	case queueBytes <= e.KminBytes:
		return Ratio{Num: 0, Den: 1}, nil
	case queueBytes > e.KmaxBytes:
		return Ratio{Num: 1, Den: 1}, nil
	}
	return c.fraction(c.mul(e.Pmax.Num, queueBytes-e.KminBytes), c.mul(e.Pmax.Den, e.KmaxBytes-e.KminBytes))
}

func (e ECN) check(c *calc) {
	c.atLeast("KminBytes", e.KminBytes, 0)
	if e.KmaxBytes < e.KminBytes {
		c.fail(&InputError{Field: "KmaxBytes", Value: e.KmaxBytes, Want: "at least KminBytes"})
	}
	c.ratio("Pmax", e.Pmax)
	if c.err == nil && e.Pmax.Num > e.Pmax.Den {
		c.fail(&InputError{Field: "Pmax.Num", Value: e.Pmax.Num, Want: "at most Pmax.Den"})
	}
}
