package headroom_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler/headroom"
)

type ratio = headroom.Ratio

func wantRatio(t *testing.T, what string, want ratio) func(ratio, error) {
	t.Helper()
	return func(got ratio, err error) {
		t.Helper()
		if err != nil || got != want {
			t.Errorf("%s: got %d/%d, %v, want %d/%d", what, got.Num, got.Den, err, want.Num, want.Den)
		}
	}
}

// wantTenths compares a fraction with a published figure of one decimal.
func wantTenths(t *testing.T, what string, unit, want int64) func(ratio, error) {
	t.Helper()
	return func(got ratio, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		if tenths := (20*got.Num + unit*got.Den) / (2 * unit * got.Den); tenths != want {
			t.Errorf("%s: got %d/%d, %d tenths, want %d", what, got.Num, got.Den, tenths, want)
		}
	}
}

// arista is the switch of the DCQCN paper [roce-theory B.1].
var arista = headroom.DCQCNBuffer{BufferBytes: 12_000_000, Ports: 32, Priorities: 8, HeadroomBytes: 22_400}

func TestDCQCN(t *testing.T) {
	if s, err := arista.Shared(); err != nil || s != 6_265_600 {
		t.Errorf("shared: got %d, %v, want 6265600", s, err)
	}
	wantRatio(t, "t_PFC", ratio{24_475, 1})(arista.PFCStatic())
	wantRatio(t, "t_ECN", ratio{24_475, 32})(arista.ECNStatic()) // 764.84
	for beta, tenths := range map[int64]int64{1: 122_375, 2: 163_167, 4: 195_800, 8: 217_556, 16: 230_353, 64: 240_985} {
		wantTenths(t, "t_ECN dynamic", 1, tenths)(arista.ECNDynamic(ratio{beta, 1}))
	}
	wantRatio(t, "t_PFC dynamic", ratio{6_265_600, 1})(arista.PFCDynamic(ratio{8, 1}, 0))
	wantRatio(t, "t_PFC dynamic in use", ratio{782_200, 1})(arista.PFCDynamic(ratio{1, 1}, 8_000))
	wantRatio(t, "t_PFC dynamic full", ratio{0, 1})(arista.PFCDynamic(ratio{8, 1}, 7_000_000))
	if got, err := headroom.ResumeBytes(24_475, 1500); err != nil || got != 21_475 {
		t.Errorf("resume: got %d, %v, want 21475", got, err)
	}
	if got, err := headroom.ResumeBytes(2_999, 1500); err != nil || got != 0 {
		t.Errorf("resume: got %d, %v, want 0", got, err)
	}

	full := arista
	full.HeadroomBytes = 46_875
	if s, err := full.Shared(); err != nil || s != 0 {
		t.Errorf("headroom as large as the buffer: got %d, %v, want 0", s, err)
	}

	for name, spoil := range map[string]func(*headroom.DCQCNBuffer){
		"BufferBytes":   func(b *headroom.DCQCNBuffer) { b.BufferBytes = 0 },
		"Ports":         func(b *headroom.DCQCNBuffer) { b.Ports = 0 },
		"Priorities":    func(b *headroom.DCQCNBuffer) { b.Priorities = -8 },
		"HeadroomBytes": func(b *headroom.DCQCNBuffer) { b.HeadroomBytes = 46_876 }, // 256 of them are 256 bytes too many
	} {
		b := arista
		spoil(&b)
		_, err := b.Shared()
		wantField(t, err, name)
		_, err = b.PFCStatic()
		wantField(t, err, name)
		_, err = b.ECNStatic()
		wantField(t, err, name)
		_, err = b.ECNDynamic(ratio{8, 1})
		wantField(t, err, name)
		_, err = b.PFCDynamic(ratio{8, 1}, 0)
		wantField(t, err, name)
	}
	_, err := arista.ECNDynamic(ratio{})
	wantField(t, err, "beta.Den")
	_, err = arista.PFCDynamic(ratio{1, 1}, -1)
	wantField(t, err, "usedBytes")
	if _, err := arista.ECNDynamic(ratio{math.MaxInt64, 1}); !errors.Is(err, headroom.ErrOverflow) {
		t.Errorf("got %v, want overflow", err)
	}
}

func TestECNBounds(t *testing.T) {
	// roce-theory B.2
	for _, tt := range []struct {
		name    string
		buffer  headroom.SharedBuffer
		strict  int64 // tenths of a byte
		relaxed int64
	}{
		{"DCQCN 7050QX", headroom.SharedBuffer{SharedBytes: 6_265_600, Alpha: ratio{1, 1}, Ports: 32, Priorities: 8}, 217_556, 31_328_000},
		{"Azure 24 MB", headroom.SharedBuffer{SharedBytes: 18_000_000, Alpha: ratio{1, 8}, Ports: 64, Priorities: 2}, 281_250, 20_000_000},
		{"64x400G", headroom.SharedBuffer{SharedBytes: 40_000_000, Alpha: ratio{1, 8}, Ports: 64, Priorities: 2}, 625_000, 44_444_444},
		{"Spectrum", headroom.SharedBuffer{SharedBytes: 50_000_000, Alpha: ratio{8, 1}, Ports: 64, Priorities: 1}, 6_944_444, 444_444_444},
	} {
		wantTenths(t, tt.name+" strict", 1, tt.strict)(headroom.ECNStrict(tt.buffer))
		wantTenths(t, tt.name+" relaxed", 1, tt.relaxed)(headroom.ECNRelaxed(tt.buffer))
	}
	wantRatio(t, "static", ratio{24_475, 32})(headroom.ECNStatic(24_475, 32))
	wantRatio(t, "static relaxed", ratio{24_475, 1})(headroom.ECNStatic(24_475, 1))

	good := headroom.SharedBuffer{SharedBytes: 1, Alpha: ratio{1, 8}, Ports: 1, Priorities: 1}
	for name, spoil := range map[string]func(*headroom.SharedBuffer){
		"SharedBytes": func(b *headroom.SharedBuffer) { b.SharedBytes = -1 },
		"Alpha.Den":   func(b *headroom.SharedBuffer) { b.Alpha = ratio{} },
		"Alpha.Num":   func(b *headroom.SharedBuffer) { b.Alpha.Num = -1 },
		"Ports":       func(b *headroom.SharedBuffer) { b.Ports = 0 },
		"Priorities":  func(b *headroom.SharedBuffer) { b.Priorities = 0 },
	} {
		b := good
		spoil(&b)
		_, err := headroom.ECNStrict(b)
		wantField(t, err, name)
	}
	_, err := headroom.ECNRelaxed(headroom.SharedBuffer{})
	wantField(t, err, "Alpha.Den")
	_, err = headroom.ECNStatic(1, 0)
	wantField(t, err, "fan")
	good.SharedBytes, good.Alpha = math.MaxInt64, ratio{2, 1}
	if _, err := headroom.ECNStrict(good); !errors.Is(err, headroom.ErrOverflow) {
		t.Errorf("got %v, want overflow", err)
	}
}

func TestSettle(t *testing.T) {
	// roce-theory B.3: tenths of KB of an 18 MB pool for 1, 2, 8, 32, 64 queues
	queues := [...]int64{1, 2, 8, 32, 64}
	for alpha, row := range map[ratio][5]int64{
		{1, 64}: {2769, 2727, 2500, 1875, 1406},
		{1, 16}: {10588, 10000, 7500, 3750, 2250},
		{1, 8}:  {20000, 18000, 11250, 4500, 2500},
		{1, 1}:  {90000, 60000, 20000, 5455, 2769},
		{8, 1}:  {160000, 84706, 22154, 5603, 2807},
	} {
		for i, want := range row {
			wantTenths(t, "settle", 1000, want)(headroom.Settle(alpha, 18_000_000, queues[i]))
		}
	}
	wantTenths(t, "incident before", 1000, 7059)(headroom.Settle(ratio{1, 16}, 12_000_000, 1))
	wantTenths(t, "incident after", 1000, 1846)(headroom.Settle(ratio{1, 64}, 12_000_000, 1))
	wantRatio(t, "threshold", ratio{125, 1})(headroom.DynamicThreshold(ratio{1, 8}, 3_000, 2_000))
	wantRatio(t, "threshold when full", ratio{0, 1})(headroom.DynamicThreshold(ratio{1, 8}, 3_000, 4_000))

	_, err := headroom.Settle(ratio{1, 8}, 1, 0)
	wantField(t, err, "queues")
	_, err = headroom.DynamicThreshold(ratio{-1, 8}, 1, 0)
	wantField(t, err, "alpha.Num")
	_, err = headroom.DynamicThreshold(ratio{1, 8}, math.MinInt64, math.MaxInt64)
	wantField(t, err, "sharedBytes")
}

// TestSettleIsFixpoint: at the settled fill each queue stands exactly at the
// dynamic threshold.
func TestSettleIsFixpoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		num := rapid.Int64Range(1, 64).Draw(t, "num")
		den := rapid.Int64Range(1, 128).Draw(t, "den")
		n := rapid.Int64Range(1, 512).Draw(t, "queues")
		// A pool in which the settled fill is whole.
		unit := rapid.Int64Range(1, 1000).Draw(t, "unit")
		shared := unit * (den + num*n)
		fill, err := headroom.Settle(ratio{num, den}, shared, n)
		if err != nil || fill.Den != 1 {
			t.Fatalf("%v, %v", fill, err)
		}
		at, err := headroom.DynamicThreshold(ratio{num, den}, shared, n*fill.Num)
		if err != nil || at != fill {
			t.Fatalf("threshold %v, %v at fill %v", at, err, fill)
		}
	})
}

func TestAlpha(t *testing.T) {
	for e, want := range map[int64]ratio{-8: {1, 256}, -6: {1, 64}, -3: {1, 8}, 0: {1, 1}, 3: {8, 1}, 7: {128, 1}} {
		wantRatio(t, "exponent", want)(headroom.AlphaExponent(e))
	}
	for code, want := range map[int64]ratio{1: {1, 128}, 5: {1, 8}, 8: {1, 1}, 13: {32, 1}, 14: {64, 1}} {
		wantRatio(t, "code", want)(headroom.AlphaCode(code))
	}
	for _, e := range []int64{-9, 8, math.MinInt64} {
		_, err := headroom.AlphaExponent(e)
		wantField(t, err, "exponent")
	}
	for _, code := range []int64{0, 15, math.MinInt64} {
		_, err := headroom.AlphaCode(code)
		wantField(t, err, "code")
	}
}

func TestSharedPool(t *testing.T) {
	for _, tt := range []struct {
		name        string
		demand      headroom.SharedDemand
		want, sonic int64
	}{
		// 32 ports x 2 groups of 72704, less 10 KiB each, at 2:1
		{"two to one", headroom.SharedDemand{HeadroomBytes: 64 * 72_704, LosslessPorts: 32, PrivateBytes: headroom.SonicPrivateBytes, Ratio: 2}, 2_162_688, 2_162_688},
		{"rounds up", headroom.SharedDemand{HeadroomBytes: 10_247, LosslessPorts: 1, PrivateBytes: 10_240, Ratio: 3}, 3, 3},
		{"nothing private", headroom.SharedDemand{HeadroomBytes: 1_000, LosslessPorts: 7, Ratio: 1}, 1_000, 1_000},
		{"all private", headroom.SharedDemand{HeadroomBytes: 10_240, LosslessPorts: 2, PrivateBytes: 10_240, Ratio: 2}, 0, 655_360},
	} {
		got, err := headroom.SharedPool(tt.demand)
		if err != nil || got != tt.want {
			t.Errorf("%s: got %d, %v, want %d", tt.name, got, err, tt.want)
		}
		got, err = headroom.SonicSharedPool(tt.demand)
		if err != nil || got != tt.sonic {
			t.Errorf("%s on SONiC: got %d, %v, want %d", tt.name, got, err, tt.sonic)
		}
	}
	_, err := headroom.SonicSharedPool(headroom.SharedDemand{})
	wantField(t, err, "Ratio")
	_, err = headroom.SharedPool(headroom.SharedDemand{HeadroomBytes: -1, Ratio: 1})
	wantField(t, err, "HeadroomBytes")
	if got, err := headroom.SonicSharedPool(headroom.SharedDemand{LosslessPorts: math.MaxInt64, PrivateBytes: 2, Ratio: 1}); !errors.Is(err, headroom.ErrOverflow) || got != 0 {
		t.Errorf("got %d, %v, want overflow", got, err)
	}
}

func TestPriorityFit(t *testing.T) {
	const mb = 1_000_000
	// roce-theory B.5. Where the row is computed from the reference formula, so is ours.
	for _, tt := range []struct {
		buffer, cell, ports, mbps, cableM, mtu, cellBytes, want int64
	}{
		{12 * mb, 208, 32, 40_000, 300, 1500, 26_000, 7},
		{16 * mb, 208, 32, 100_000, 40, 9216, 48_880, 5},
		{16 * mb, 208, 32, 100_000, 300, 9216, 81_744, 3},
		{64 * mb, 254, 32, 400_000, 300, 9216, 228_092, 4},
		{113 * mb, 254, 64, 400_000, 300, 9216, 228_092, 3},
		{165 * mb, 254, 64, 800_000, 40, 9216, 117_094, 11},
		{165 * mb, 254, 64, 800_000, 300, 9216, 379_730, 3},
		{165 * mb, 254, 64, 800_000, 2000, 9216, 2_096_770, 0},
	} {
		h, err := headroom.Reference(headroom.Link{Mbps: tt.mbps, CableMm: tt.cableM * 1000, LocalMTUBytes: tt.mtu, PeerMTUBytes: tt.mtu})
		if err != nil {
			t.Fatal(err)
		}
		cells, err := headroom.CellRound(h, tt.cell)
		if err != nil || cells != tt.cellBytes {
			t.Errorf("%+v: got %d bytes, %v", tt, cells, err)
		}
		got, err := headroom.PriorityFit(tt.buffer, cells*tt.ports, headroom.DefaultHeadroomShare())
		if err != nil || got != tt.want {
			t.Errorf("%+v: got %d, %v", tt, got, err)
		}
	}
	if got, err := headroom.PriorityFit(12*mb, 32*64_064, headroom.DefaultHeadroomShare()); err != nil || got != 2 {
		t.Errorf("table row: got %d, %v, want 2", got, err)
	}
	_, err := headroom.PriorityFit(mb, 0, ratio{1, 2})
	wantField(t, err, "perPriorityBytes")
	_, err = headroom.PriorityFit(mb, 1, ratio{3, 2})
	wantField(t, err, "share.Num")
	if _, err := headroom.PriorityFit(math.MaxInt64, 1, ratio{2, 2}); !errors.Is(err, headroom.ErrOverflow) {
		t.Errorf("got %v, want overflow", err)
	}
}

func TestMarkProbability(t *testing.T) {
	// roce-theory B.6
	red := headroom.ECN{KminBytes: 5_000, KmaxBytes: 200_000, Pmax: ratio{1, 100}}
	for queue, want := range map[int64]ratio{
		0: {0, 1}, 5_000: {0, 1}, 102_500: {1, 200}, 200_000: {1, 100}, 200_001: {1, 1}, 201_000: {1, 1},
	} {
		wantRatio(t, "probability", want)(red.MarkProbability(queue))
	}
	step := headroom.ECN{KminBytes: 1_000, KmaxBytes: 1_000, Pmax: ratio{1, 1}}
	wantRatio(t, "step below", ratio{0, 1})(step.MarkProbability(1_000))
	wantRatio(t, "step above", ratio{1, 1})(step.MarkProbability(1_001))

	_, err := headroom.ECN{KminBytes: 2, KmaxBytes: 1, Pmax: ratio{1, 1}}.MarkProbability(1)
	wantField(t, err, "KmaxBytes")
	_, err = headroom.ECN{Pmax: ratio{2, 1}}.MarkProbability(1)
	wantField(t, err, "Pmax.Num")
	_, err = red.MarkProbability(-1)
	wantField(t, err, "queueBytes")
}

func TestScaledECN(t *testing.T) {
	for _, tt := range []struct{ mbps, mtu, kmin int64 }{
		{100_000, 4200, 150_000}, {400_000, 9216, 600_000}, {25_000, 4200, 37_500}, {10_000, 9216, 18_432}, {10_000, 1500, 15_000}, {1, 1, 2},
	} {
		got, err := headroom.ScaledECN(tt.mbps, tt.mtu)
		want := headroom.ECN{KminBytes: tt.kmin, KmaxBytes: 10 * tt.kmin, Pmax: ratio{1, 20}}
		if err != nil || got != want {
			t.Errorf("%+v: got %+v, %v", tt, got, err)
		}
	}
	_, err := headroom.ScaledECN(0, 1500)
	wantField(t, err, "mbps")
	if _, err := headroom.ScaledECN(math.MaxInt64/3, 1500); !errors.Is(err, headroom.ErrOverflow) {
		t.Errorf("got %v, want overflow", err)
	}
}

func TestClamp(t *testing.T) {
	ecn := headroom.ECN{KminBytes: 150_000, KmaxBytes: 1_500_000, Pmax: ratio{1, 20}}
	for _, tt := range []struct {
		name       string
		bound      ratio
		kmin, kmax int64
	}{
		{"far below", ratio{20_000_000, 9}, 150_000, 1_500_000},
		{"just below", ratio{300_001, 2}, 150_000, 1_500_000},
		{"on the bound", ratio{150_000, 1}, 149_999, 1_499_990},
		{"above", ratio{62_500, 1}, 62_499, 624_990},
		{"two frames left", ratio{16_801, 2}, 8_400, 84_000},
	} {
		got, err := ecn.Clamp(tt.bound, 4200)
		want := headroom.ECN{KminBytes: tt.kmin, KmaxBytes: tt.kmax, Pmax: ecn.Pmax}
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", tt.name, got, err, want)
		}
	}
	_, err := ecn.Clamp(ratio{8_400, 1}, 4200)
	var bound *headroom.BoundError
	if !errors.As(err, &bound) || err.Error() != "ECN threshold must stay below 8400 bytes, which leaves no room for two frames of 4200" {
		t.Errorf("got %v, want a bound error", err)
	}
	// The paper's own switch cannot mark before static PFC at all.
	static, err := arista.ECNStatic()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ecn.Clamp(static, 1500); !errors.As(err, &bound) {
		t.Errorf("got %v, want a bound error", err)
	}
	if _, err := (headroom.ECN{Pmax: ratio{1, 1}}).Clamp(ratio{0, 1}, 1500); !errors.As(err, &bound) {
		t.Errorf("got %v, want a bound error", err)
	}
	_, err = ecn.Clamp(ratio{}, 4200)
	wantField(t, err, "bound.Den")
}

func TestClampProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kmin := rapid.Int64Range(1, 1<<30).Draw(t, "kmin")
		ecn := headroom.ECN{KminBytes: kmin, KmaxBytes: kmin + rapid.Int64Range(0, 1<<32).Draw(t, "spread"), Pmax: ratio{1, 20}}
		bound := ratio{rapid.Int64Range(0, 1<<32).Draw(t, "num"), rapid.Int64Range(1, 100).Draw(t, "den")}
		got, err := ecn.Clamp(bound, 1500)
		if err != nil {
			if bound.Admits(3000) || bound.Admits(kmin) {
				t.Fatalf("%v although two frames fit", err)
			}
			return
		}
		if !bound.Admits(got.KminBytes) || got.KminBytes > ecn.KminBytes || got.KmaxBytes > ecn.KmaxBytes || got.KmaxBytes < got.KminBytes {
			t.Fatalf("%+v clamped by %v is %+v", ecn, bound, got)
		}
	})
}

func TestRatio(t *testing.T) {
	for _, tt := range []struct {
		r            ratio
		floor, below int64
	}{
		{ratio{7, 2}, 3, 3}, {ratio{8, 2}, 4, 3}, {ratio{0, 5}, 0, -1}, {ratio{1, 5}, 0, 0}, {ratio{}, 0, -1},
	} {
		if tt.r.Floor() != tt.floor || tt.r.Below() != tt.below {
			t.Errorf("%v: got floor %d, below %d", tt.r, tt.r.Floor(), tt.r.Below())
		}
		if !tt.r.Admits(tt.below) || tt.r.Admits(tt.below+1) {
			t.Errorf("%v does not admit exactly up to %d", tt.r, tt.below)
		}
	}
	for _, tt := range []struct {
		a, b ratio
		want int
	}{
		{ratio{1, 3}, ratio{2, 6}, 0},
		{ratio{1, 3}, ratio{1, 2}, -1},
		{ratio{math.MaxInt64, 2}, ratio{math.MaxInt64, 3}, 1},
		{ratio{math.MaxInt64 - 1, math.MaxInt64}, ratio{math.MaxInt64 - 2, math.MaxInt64 - 1}, 1},
	} {
		if got := tt.a.Compare(tt.b); got != tt.want {
			t.Errorf("%v and %v: got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
