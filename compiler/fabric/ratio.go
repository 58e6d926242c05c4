package fabric

import "math/bits"

// Exponent returns e where the fraction is 2^e, the only form in which devices
// take an alpha. ok is false for every other fraction, the unwritten one included.
func (r Ratio) Exponent() (e int8, ok bool) {
	if r.Num <= 0 || r.Den <= 0 {
		return 0, false
	}
	n, d := uint32(r.Num), uint32(r.Den)
	up, down := bits.TrailingZeros32(n), bits.TrailingZeros32(d)
	if n>>up != d>>down { // what is left of both after the twos has to cancel
		return 0, false
	}
	return int8(up - down), true
}
