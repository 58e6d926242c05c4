package main

import "testing"

func TestGrowth(t *testing.T) {
	for live, want := range map[uint64]int{
		0: 300, 1 << 20: 300, 40 << 20: 300, 64 << 20: 300, 128 << 20: 150, 192 << 20: 100, 256 << 20: 100, 320 << 20: 80, 400 << 20: 75, 512 << 20: 75, 600 << 20: 64, 800 << 20: 50, 1 << 40: 50,
	} {
		if got := growth(live); got != want {
			t.Errorf("growth(%d) = %d, want %d", live, got, want)
		}
	}
}
