package headroom

import (
	"math"
	"math/bits"
)

// calc carries the first error through a chain of checks and products, so that
// a formula reads as a formula. Its operands are never negative: atLeast sees to
// that, and after an error the methods return zero.
type calc struct{ err error }

func (c *calc) fail(err error) int64 {
	if c.err == nil {
		c.err = err
	}
	return 0
}

func (c *calc) atLeast(field string, value, least int64) {
	if value >= least {
		return
	}
	want := "at least 0"
	if least == 1 {
		want = "at least 1"
	}
	c.fail(&InputError{Field: field, Value: value, Want: want})
}

func (c *calc) ratio(field string, r Ratio) {
	if r.Den < 1 {
		c.fail(&InputError{Field: field + ".Den", Value: r.Den, Want: "at least 1"})
	}
	c.atLeast(field+".Num", r.Num, 0)
}

func (c *calc) mul(a, b int64) int64 {
	if c.err != nil {
		return 0
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > math.MaxInt64 {
		return c.fail(ErrOverflow)
	}
	return int64(lo)
}

func (c *calc) add(terms ...int64) int64 {
	if c.err != nil {
		return 0
	}
	var sum uint64
	for _, t := range terms {
		sum += uint64(t)
		if sum > math.MaxInt64 {
			return c.fail(ErrOverflow)
		}
	}
	return int64(sum)
}

// ceilDiv is a/b rounded up; b is positive.
func (c *calc) ceilDiv(a, b int64) int64 {
	if c.err != nil {
		return 0
	}
	q := a / b
	if a%b != 0 {
		q++
	}
	return q
}

// ceilTo rounds a up to a multiple of unit.
func (c *calc) ceilTo(a, unit int64) int64 {
	return c.mul(c.ceilDiv(a, unit), unit)
}

// mulAddCeil is ceil((a1*b1 + a2*b2) / d) with a 128-bit numerator; d is positive.
func (c *calc) mulAddCeil(a1, b1, a2, b2, d int64) int64 {
	if c.err != nil {
		return 0
	}
	hi, lo := bits.Mul64(uint64(a1), uint64(b1))
	hi2, lo2 := bits.Mul64(uint64(a2), uint64(b2))
	// Each product is below 2^126, so the high words cannot carry.
	lo, carry := bits.Add64(lo, lo2, 0)
	hi += hi2 + carry
	lo, carry = bits.Add64(lo, uint64(d-1), 0)
	hi += carry
	return c.quotient(hi, lo, d)
}

// nearest is a*b/d rounded to the nearest integer, halves up; d is positive.
func (c *calc) nearest(a, b, d int64) int64 {
	if c.err != nil {
		return 0
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	lo, carry := bits.Add64(lo, uint64(d/2), 0)
	hi += carry
	return c.quotient(hi, lo, d)
}

// quotient is the 128-bit hi:lo over d, rounded down; d is positive.
func (c *calc) quotient(hi, lo uint64, d int64) int64 {
	if hi >= uint64(d) {
		return c.fail(ErrOverflow)
	}
	q, _ := bits.Div64(hi, lo, uint64(d))
	if q > math.MaxInt64 {
		return c.fail(ErrOverflow)
	}
	return int64(q)
}

// result returns v, or zero and the error met on the way.
func (c *calc) result(v int64) (int64, error) {
	if c.err != nil {
		return 0, c.err
	}
	return v, nil
}

// fraction returns num/den in lowest terms, or the error met on the way.
func (c *calc) fraction(num, den int64) (Ratio, error) {
	if c.err != nil {
		return Ratio{}, c.err
	}
	return Ratio{Num: num, Den: den}.reduced(), nil
}
