package headroom_test

import (
	"testing"

	"github.com/rocec/rocec/compiler/headroom"
)

// TestDCQCNAsPublished holds the numbers of the paper, as it prints them, against
// what follows from its switch [roce-theory B.1].
func TestDCQCNAsPublished(t *testing.T) {
	cut := func(r ratio, err error) int64 { // to tens of bytes, as the paper cuts its KB
		if err != nil {
			t.Fatal(err)
		}
		return r.Floor() / 10 * 10
	}
	if got := cut(arista.PFCStatic()); got != 24_470 {
		t.Errorf("static PFC threshold is %d, and 24.47 KB in the paper", got)
	}
	if got := cut(arista.ECNDynamic(ratio{8, 1})); got != 21_750 {
		t.Errorf("ECN threshold with beta 8 is %d, and 21.75 KB in the paper", got)
	}
	// The paper's 0.85 KB does not follow from its own numbers.
	static, err := arista.ECNStatic()
	if err != nil || static.Floor() != 764 || (10*static.Num+static.Den/2)/static.Den != 7648 {
		t.Errorf("static ECN threshold is %v, %v, want 764.8", static, err)
	}
	// Its text has the pool filled by n queues, which gives 97.9 KB; its number has
	// it filled by q*n of them.
	if text := (ratio{8 * 6_265_600, 32 * (8 + 8)}); text.Floor()/100 != 979 {
		t.Errorf("the text of the paper gives %v", text)
	}
	last := ratio{0, 1}
	for beta := int64(1); beta <= 1<<20; beta *= 2 {
		got, err := arista.ECNDynamic(ratio{beta, 1})
		if err != nil || got.Compare(last) <= 0 || got.Compare(ratio{24_475, 1}) >= 0 {
			t.Errorf("beta %d: %v, %v, after %v, below 24475", beta, got, err, last)
		}
		last = got
	}
}

// TestDCQCNHeadroom: the paper's 22.4 KB for each port and priority are the
// reference formula over 100 m at 40G with the delay of both interfaces of
// Cisco's paper, and with that of the upper layers [roce-theory B.1, A.9].
func TestDCQCNHeadroom(t *testing.T) {
	link := headroom.Link{Mbps: 40_000, CableMm: 100_000, LocalMTUBytes: 1500, PeerMTUBytes: 1500, ExtraBytes: 2 * 24_576 / 8}
	for _, tt := range []struct{ extra, want int64 }{{0, 21_915}, {6_144 / 8, 22_683}} {
		l := link
		l.ExtraBytes += tt.extra
		got, err := headroom.Reference(l)
		if err != nil || got != tt.want {
			t.Errorf("got %d, %v, want %d", got, err, tt.want)
		}
		if off := max(got-22_400, 22_400-got); 1000*off > 22*22_400 {
			t.Errorf("%d is not within 2.2 %% of 22.4 KB", got)
		}
	}
}

// TestPrioritySums: what one lossless priority takes of a switch, in units of 10
// kB [roce-theory B.5].
func TestPrioritySums(t *testing.T) {
	for _, tt := range []struct{ cell, ports, mbps, cableM, mtu, want int64 }{
		{208, 32, 40_000, 300, 1500, 83},
		{208, 32, 100_000, 40, 9216, 156},
		{208, 32, 100_000, 300, 9216, 262},
		{254, 32, 400_000, 300, 9216, 730},
		{254, 64, 400_000, 300, 9216, 1460},
		{254, 64, 800_000, 40, 9216, 749},
		{254, 64, 800_000, 300, 9216, 2430},
		{254, 64, 800_000, 2000, 9216, 13419},
	} {
		h, err := headroom.Reference(headroom.Link{Mbps: tt.mbps, CableMm: tt.cableM * 1000, LocalMTUBytes: tt.mtu, PeerMTUBytes: tt.mtu})
		if err != nil {
			t.Fatal(err)
		}
		cells, err := headroom.CellRound(h, tt.cell)
		if got := (cells*tt.ports + 5_000) / 10_000; err != nil || got != tt.want {
			t.Errorf("%+v: got %d, %v", tt, got, err)
		}
	}
}

// TestSharedPoolAsPublished: the switch of Azure's appendix divides 24 MB without
// rest, and its lossless groups share the 6 MB [roce-theory B.4].
func TestSharedPoolAsPublished(t *testing.T) {
	const buffer, ingress, pool = 24_000_000, 18_000_000, 6_000_000
	if ingress+pool != buffer {
		t.Error("pools and buffer differ")
	}
	// 64 ports of two groups with xoff 96,928: the pool is sold about twice.
	got, err := headroom.SharedPool(headroom.SharedDemand{HeadroomBytes: 128 * 96_928, LosslessPorts: 64, Ratio: 2})
	if err != nil || got != 6_203_392 {
		t.Errorf("got %d, %v, want 6203392", got, err)
	}
	wantRatio(t, "threshold", ratio{2_250_000, 1})(headroom.DynamicThreshold(ratio{1, 8}, ingress, 0))
}

// TestPCIeSlots: the least slots of each rate [roce-theory E.2].
func TestPCIeSlots(t *testing.T) {
	raw := map[[2]int64]int64{ // generation and lanes, Mb/s after coding
		{3, 8}: 63_000, {3, 16}: 126_000, {4, 8}: 126_000, {4, 16}: 252_100, {5, 8}: 252_100, {5, 16}: 504_100, {6, 8}: 484_000, {6, 16}: 968_000,
	}
	usable := func(gen, lanes int64) int64 {
		got, err := headroom.PCIeUsableMbps(raw[[2]int64{gen, lanes}], 256)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for slot, tenths := range map[[2]int64]int64{
		{3, 8}: 576, {3, 16}: 1152, {4, 8}: 1152, {4, 16}: 2305, {5, 8}: 2305, {5, 16}: 4609, {6, 8}: 4425, {6, 16}: 8850,
	} {
		if got := (usable(slot[0], slot[1]) + 50) / 100; got != tenths {
			t.Errorf("Gen%d x%d: %d tenths of Gb/s, want %d", slot[0], slot[1], got, tenths)
		}
	}
	for _, tt := range []struct {
		mbps, gen, lanes int64
		fits             bool
	}{
		{100_000, 3, 16, true},
		{100_000, 3, 8, false},
		{100_000, 4, 8, true},
		{200_000, 4, 16, true},
		{200_000, 4, 8, false},
		{200_000, 5, 8, true},
		{400_000, 5, 16, true},
		{400_000, 5, 8, false},
		{400_000, 6, 8, true},
		{800_000, 6, 16, true},
		{800_000, 5, 16, false},
		{2 * 100_000, 4, 16, true},
		{2 * 100_000, 3, 16, false}, // an adapter with two ports at line rate
	} {
		if fits := usable(tt.gen, tt.lanes) >= tt.mbps; fits != tt.fits {
			t.Errorf("%d Mb/s in Gen%d x%d: %v", tt.mbps, tt.gen, tt.lanes, fits)
		}
	}
}
