package fabric

import "testing"

func TestExponent(t *testing.T) {
	for _, tt := range []struct {
		r    Ratio
		want int8
		ok   bool
	}{
		{Ratio{1, 1}, 0, true},
		{Ratio{8, 1}, 3, true},
		{Ratio{1, 16}, -4, true},
		{Ratio{3, 24}, -3, true},
		{Ratio{6, 3}, 1, true},
		{Ratio{1, 1 << 30}, -30, true},
		{Ratio{}, 0, false},
		{Ratio{0, 1}, 0, false},
		{Ratio{-1, 2}, 0, false},
		{Ratio{1, -2}, 0, false},
		{Ratio{3, 10}, 0, false},
		{Ratio{3, 1}, 0, false},
	} {
		if e, ok := tt.r.Exponent(); e != tt.want || ok != tt.ok {
			t.Errorf("%d/%d: %d, %t, want %d, %t", tt.r.Num, tt.r.Den, e, ok, tt.want, tt.ok)
		}
	}
}
