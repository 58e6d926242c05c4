package main

import "testing"

func TestGrowth(t *testing.T) {
	for live, want := range map[uint64]int{
		0: 300, 1 << 20: 300, 40 << 20: 300, 64 << 20: 200, 128 << 20: 100, 256 << 20: 100, 400 << 20: 64, 600 << 20: 50, 800 << 20: 50, 1 << 40: 50,
	} {
		if got := growth(live); got != want {
			t.Errorf("growth(%d) = %d, want %d", live, got, want)
		}
	}
}
