package headroom

import "math/bits"

// Ratio is an exact fraction that is not negative: an alpha, a share, a
// probability, or a bound in bytes that need not be whole. Den is positive;
// literals such as Ratio{1, 8} need not be in lowest terms. The zero value is
// no number, and the functions of this package refuse it.
type Ratio struct{ Num, Den int64 }

// Floor returns the largest integer that is not above r, 0 for the zero Ratio.
func (r Ratio) Floor() int64 {
	if r.Den < 1 {
		return 0
	}
	return r.Num / r.Den
}

// Below returns the largest integer strictly below r, what a bound of the form
// "x < r" admits; it is -1 when nothing from 0 up is.
func (r Ratio) Below() int64 {
	if r.Den < 1 {
		return -1
	}
	q := r.Num / r.Den
	if r.Num%r.Den == 0 {
		q--
	}
	return q
}

// Admits reports whether x lies strictly below r.
func (r Ratio) Admits(x int64) bool { return x <= r.Below() }

// Compare returns -1, 0 or 1 as r is below, equal to or above s, without
// rounding. Both are valid fractions.
func (r Ratio) Compare(s Ratio) int {
	rhi, rlo := bits.Mul64(uint64(r.Num), uint64(s.Den))
	shi, slo := bits.Mul64(uint64(s.Num), uint64(r.Den))
	switch {
	case rhi < shi || rhi == shi && rlo < slo:
		return -1
	case rhi == shi && rlo == slo:
		return 0
	}
	return 1
}

// AlphaExponent returns alpha = 2^e, the meaning of SONiC's dynamic_th = e
// [roce-theory B.3]. e outside -8..7 is an *InputError: sonic-buffer-profile.yang
// admits no other.
func AlphaExponent(e int64) (Ratio, error) {
	switch {
	case e < -8 || e > 7:
		return Ratio{}, &InputError{Field: "exponent", Value: e, Want: "-8 to 7"}
	case e < 0:
		return Ratio{Num: 1, Den: 1 << -e}, nil
	}
	return Ratio{Num: 1 << e, Den: 1}, nil
}

// AlphaCode returns alpha = 2^(code-1)/128, the encoding of mlx5 and Spectrum
// shared buffer registers (13 is 32) [roce-theory B.3; mlx5 en/port_buffer.c].
// A code outside 1..14 is an *InputError: those do not stand for a power of two.
func AlphaCode(code int64) (Ratio, error) {
	if code < 1 || code > 14 {
		return Ratio{}, &InputError{Field: "code", Value: code, Want: "1 to 14"}
	}
	return AlphaExponent(code - 8)
}

func (r Ratio) reduced() Ratio {
	a, b := r.Num, r.Den
	for b != 0 {
		a, b = b, a%b
	}
	if a < 2 {
		return r
	}
	return Ratio{Num: r.Num / a, Den: r.Den / a}
}
