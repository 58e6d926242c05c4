package headroom

// SharedDemand is what the lossless groups of a switch want from a shared
// headroom pool.
type SharedDemand struct {
	// HeadroomBytes is the sum over all lossless groups of what they do not
	// reserve themselves: xon + xoff - size.
	HeadroomBytes int64
	LosslessPorts int64
	PrivateBytes  int64 // headroom each lossless port keeps for itself
	Ratio         int64 // over_subscribe_ratio
}

const (
	// SonicPrivateBytes is the private headroom of a lossless port on Spectrum
	// (sonic-swss cfgmgr/buffer_pool_mellanox.lua).
	SonicPrivateBytes = 10 * kib
	// SonicLeastSharedBytes is the shared headroom pool that the same script sets
	// where the sum comes to nothing.
	SonicLeastSharedBytes = 655_360
)

// SharedPool returns the size in bytes of a shared headroom pool,
// ceil((sum - ports*private)/ratio), zero if private headroom covers everything
// [roce-theory B.4].
func SharedPool(d SharedDemand) (int64, error) {
	var c calc
	c.atLeast("HeadroomBytes", d.HeadroomBytes, 0)
	c.atLeast("LosslessPorts", d.LosslessPorts, 0)
	c.atLeast("PrivateBytes", d.PrivateBytes, 0)
	c.atLeast("Ratio", d.Ratio, 1)
	private := c.mul(d.LosslessPorts, d.PrivateBytes)
	return c.result(c.ceilDiv(max(0, d.HeadroomBytes-private), d.Ratio))
}

// SonicSharedPool is SharedPool as SONiC computes it on Spectrum, where a pool of
// zero bytes becomes SonicLeastSharedBytes [switches-linux-nos 8.1]. It holds when
// the pool's size is not configured and Ratio is.
func SonicSharedPool(d SharedDemand) (int64, error) {
	bytes, err := SharedPool(d)
	if err == nil && bytes == 0 {
		bytes = SonicLeastSharedBytes
	}
	return bytes, err
}

// DefaultHeadroomShare is the largest share of a packet buffer given to headroom
// unless the operator says otherwise [roce-theory B.5].
func DefaultHeadroomShare() Ratio { return Ratio{Num: 1, Den: 2} }

// PriorityFit returns how many lossless priorities a buffer can hold:
// floor(share*buffer / perPriority), where perPriorityBytes is the sum over all
// ports of the cell-rounded headroom of one priority [roce-theory B.5]. It may
// exceed the eight there are, which says how much is to spare.
func PriorityFit(bufferBytes, perPriorityBytes int64, share Ratio) (int64, error) {
	var c calc
	c.atLeast("bufferBytes", bufferBytes, 0)
	c.atLeast("perPriorityBytes", perPriorityBytes, 1)
	c.ratio("share", share)
	if share.Num > share.Den {
		c.fail(&InputError{Field: "share.Num", Value: share.Num, Want: "at most share.Den"})
	}
	num := c.mul(bufferBytes, share.Num)
	den := c.mul(perPriorityBytes, share.Den)
	if c.err != nil {
		return 0, c.err
	}
	return num / den, nil
}

// DynamicThreshold returns T = alpha*(shared - used), the fill in bytes up to
// which a queue may grow [roce-theory B.3].
func DynamicThreshold(alpha Ratio, sharedBytes, usedBytes int64) (Ratio, error) {
	var c calc
	c.ratio("alpha", alpha)
	c.atLeast("sharedBytes", sharedBytes, 0)
	c.atLeast("usedBytes", usedBytes, 0)
	return c.fraction(c.mul(alpha.Num, max(0, sharedBytes-usedBytes)), alpha.Den)
}

// Settle returns the bytes each of equally congested queues ends up with:
// alpha*S/(1 + alpha*N) [roce-theory B.3].
func Settle(alpha Ratio, sharedBytes, queues int64) (Ratio, error) {
	var c calc
	c.ratio("alpha", alpha)
	c.atLeast("sharedBytes", sharedBytes, 0)
	c.atLeast("queues", queues, 1)
	return c.fraction(c.mul(alpha.Num, sharedBytes), c.add(alpha.Den, c.mul(alpha.Num, queues)))
}
