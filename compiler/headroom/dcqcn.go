package headroom

// DCQCNBuffer is the switch of "Congestion Control for Large-Scale RDMA
// Deployments" (Zhu et al., SIGCOMM 2015), section "Buffer settings".
type DCQCNBuffer struct {
	BufferBytes   int64 // B, the whole packet buffer
	Ports         int64 // n
	Priorities    int64 // q
	HeadroomBytes int64 // t_f, per port and priority
}

// Shared returns S = B - q*n*t_f, what headroom leaves of the buffer, in bytes
// [roce-theory B.1]. Headroom larger than the buffer is an *InputError.
func (b DCQCNBuffer) Shared() (int64, error) {
	var c calc
	return c.result(b.shared(&c))
}

// PFCStatic returns the largest static PFC threshold in bytes,
// (B - q*n*t_f)/(q*n) [roce-theory B.1].
func (b DCQCNBuffer) PFCStatic() (Ratio, error) {
	var c calc
	s := b.shared(&c)
	return c.fraction(s, c.mul(b.Ports, b.Priorities))
}

// ECNStatic returns the bound in bytes below which the ECN threshold must stay
// with static PFC thresholds: t_PFC/n [roce-theory B.1].
func (b DCQCNBuffer) ECNStatic() (Ratio, error) {
	var c calc
	s := b.shared(&c)
	return c.fraction(s, c.mul(c.mul(b.Ports, b.Ports), b.Priorities))
}

// ECNDynamic returns the bound in bytes below which the ECN threshold must stay
// with dynamic PFC thresholds: beta*S/(q*n*(1 + beta)) [roce-theory B.1]. It
// assumes all priorities busy, as the numbers of the paper do and its text does not.
func (b DCQCNBuffer) ECNDynamic(beta Ratio) (Ratio, error) {
	var c calc
	s := b.shared(&c)
	c.ratio("beta", beta)
	den := c.mul(c.mul(b.Ports, b.Priorities), c.add(beta.Den, beta.Num))
	return c.fraction(c.mul(beta.Num, s), den)
}

// PFCDynamic returns the PFC threshold in bytes when usedBytes are occupied:
// beta*(B - q*n*t_f - s)/q [roce-theory B.1].
func (b DCQCNBuffer) PFCDynamic(beta Ratio, usedBytes int64) (Ratio, error) {
	var c calc
	s := b.shared(&c)
	c.ratio("beta", beta)
	c.atLeast("usedBytes", usedBytes, 0)
	return c.fraction(c.mul(beta.Num, max(0, s-usedBytes)), c.mul(beta.Den, b.Priorities))
}

// ResumeBytes returns the fill at which a paused sender may go on, two frames
// below the PFC threshold, zero if there is no such room [roce-theory B.1].
func ResumeBytes(pfcBytes, mtuBytes int64) (int64, error) {
	var c calc
	c.atLeast("pfcBytes", pfcBytes, 0)
	c.atLeast("mtuBytes", mtuBytes, 1)
	return c.result(max(0, pfcBytes-c.mul(2, mtuBytes)))
}

func (b DCQCNBuffer) shared(c *calc) int64 {
	c.atLeast("BufferBytes", b.BufferBytes, 1)
	c.atLeast("Ports", b.Ports, 1)
	c.atLeast("Priorities", b.Priorities, 1)
	c.atLeast("HeadroomBytes", b.HeadroomBytes, 0)
	reserved := c.mul(c.mul(b.Ports, b.Priorities), b.HeadroomBytes)
	if c.err == nil && reserved > b.BufferBytes {
		return c.fail(&InputError{Field: "HeadroomBytes", Value: b.HeadroomBytes, Want: "at most BufferBytes/(Ports*Priorities)"})
	}
	return b.BufferBytes - reserved
}
