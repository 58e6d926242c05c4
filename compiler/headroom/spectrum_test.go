package headroom_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler/headroom"
)

type spectrumRow struct {
	cell, mbps, cableMm int64
	want                headroom.PGProfile
}

// spectrumNewRows is the table of roce-theory A.6 for 202405 and newer; cells of
// 192 bytes have bytes on the tile.
var spectrumNewRows = []spectrumRow{
	{96, 25000, 5000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 31744, SizeBytes: 51200}},
	{96, 100000, 5000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 72704, SizeBytes: 92160}},
	{96, 100000, 40000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 81920, SizeBytes: 101376}},
	{96, 100000, 300000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 147456, SizeBytes: 166912}},
	{96, 200000, 5000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 81920, SizeBytes: 101376}},
	{96, 400000, 5000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 142336, SizeBytes: 161792}},
	{96, 400000, 40000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 177152, SizeBytes: 196608}},
	{144, 25000, 5000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 47104, SizeBytes: 66560}},
	{144, 100000, 5000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 108544, SizeBytes: 128000}},
	{144, 100000, 40000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 121856, SizeBytes: 141312}},
	{144, 100000, 300000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 220160, SizeBytes: 239616}},
	{144, 200000, 5000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 121856, SizeBytes: 141312}},
	{144, 400000, 5000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 212992, SizeBytes: 232448}},
	{144, 400000, 40000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 265216, SizeBytes: 284672}},
	{192, 25000, 5000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 48128, SizeBytes: 67584}},
	{192, 100000, 5000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 113664, SizeBytes: 133120}},
	{192, 100000, 40000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 126976, SizeBytes: 146432}},
	{192, 100000, 300000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 225280, SizeBytes: 244736}},
	{192, 200000, 5000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 131072, SizeBytes: 150528}},
	{192, 400000, 5000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 230400, SizeBytes: 249856}},
	{192, 400000, 40000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 283648, SizeBytes: 303104}},
}

// spectrumOldRows is the table of roce-theory A.6 for 202311 and older.
var spectrumOldRows = []spectrumRow{
	{96, 25000, 5000, headroom.PGProfile{XonBytes: 18432, XoffBytes: 31744, SizeBytes: 50176}},
	{96, 100000, 5000, headroom.PGProfile{XonBytes: 18432, XoffBytes: 72704, SizeBytes: 91136}},
	{96, 100000, 40000, headroom.PGProfile{XonBytes: 18432, XoffBytes: 80896, SizeBytes: 99328}},
	{96, 100000, 300000, headroom.PGProfile{XonBytes: 18432, XoffBytes: 144384, SizeBytes: 162816}},
	{96, 200000, 5000, headroom.PGProfile{XonBytes: 18432, XoffBytes: 80896, SizeBytes: 99328}},
	{96, 400000, 5000, headroom.PGProfile{XonBytes: 18432, XoffBytes: 140288, SizeBytes: 158720}},
	{96, 400000, 40000, headroom.PGProfile{XonBytes: 18432, XoffBytes: 175104, SizeBytes: 193536}},
	{144, 25000, 5000, headroom.PGProfile{XonBytes: 18432, XoffBytes: 35840, SizeBytes: 54272}},
	{144, 100000, 5000, headroom.PGProfile{XonBytes: 18432, XoffBytes: 81920, SizeBytes: 100352}},
	{144, 100000, 40000, headroom.PGProfile{XonBytes: 18432, XoffBytes: 92160, SizeBytes: 110592}},
	{144, 100000, 300000, headroom.PGProfile{XonBytes: 18432, XoffBytes: 163840, SizeBytes: 182272}},
	{144, 200000, 5000, headroom.PGProfile{XonBytes: 18432, XoffBytes: 92160, SizeBytes: 110592}},
	{144, 400000, 5000, headroom.PGProfile{XonBytes: 18432, XoffBytes: 159744, SizeBytes: 178176}},
	{144, 400000, 40000, headroom.PGProfile{XonBytes: 18432, XoffBytes: 198656, SizeBytes: 217088}},
	{192, 25000, 5000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 47104, SizeBytes: 66560}},
	{192, 100000, 5000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 108544, SizeBytes: 128000}},
	{192, 100000, 40000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 121856, SizeBytes: 141312}},
	{192, 100000, 300000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 218112, SizeBytes: 237568}},
	{192, 200000, 5000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 121856, SizeBytes: 141312}},
	{192, 400000, 5000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 211968, SizeBytes: 231424}},
	{192, 400000, 40000, headroom.PGProfile{XonBytes: 19456, XoffBytes: 264192, SizeBytes: 283648}},
}

// tablePort has the inputs that all worked tables share.
func tablePort(g headroom.Generation, cell, mbps, cableMm int64) headroom.SpectrumPort {
	return headroom.SpectrumPort{
		Generation:       g,
		Mbps:             mbps,
		CableMm:          cableMm,
		PortMTUBytes:     9100,
		LosslessMTUBytes: 1024,
		SmallPercent:     100,
		CellBytes:        cell,
		PipelineKiB:      19,
		MacPhyTenthKiB:   8,
		OnTile:           cell == 192,
	}
}

func wantProfile(t *testing.T, p headroom.SpectrumPort, want headroom.PGProfile) {
	t.Helper()
	got, err := headroom.Spectrum(p)
	if err != nil {
		t.Errorf("%+v: %v", p, err)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%+v:\n%s", p, diff)
	}
}

func TestSpectrumTables(t *testing.T) {
	for _, r := range spectrumNewRows {
		for _, g := range [...]headroom.Generation{headroom.Spectrum202405, headroom.Spectrum202605} {
			wantProfile(t, tablePort(g, r.cell, r.mbps, r.cableMm), r.want)
		}
	}
	for _, r := range spectrumOldRows {
		p := tablePort(headroom.Spectrum202311, r.cell, r.mbps, r.cableMm)
		if r.cell != 192 {
			p.PipelineKiB = 18
		}
		wantProfile(t, p, r.want)
	}
}

func TestSpectrumSingles(t *testing.T) {
	old, mid, now := headroom.Spectrum202311, headroom.Spectrum202405, headroom.Spectrum202605
	p := tablePort(mid, 144, 400_000, 40_000)
	p.EightLanes = true
	wantProfile(t, p, headroom.PGProfile{XonBytes: 38912, XoffBytes: 265216, SizeBytes: 313344})

	p = tablePort(mid, 192, 800_000, 40_000)
	p.EightLanes = true
	wantProfile(t, p, headroom.PGProfile{XonBytes: 38912, XoffBytes: 362496, SizeBytes: 410624})

	p = tablePort(old, 144, 400_000, 5_000)
	p.PipelineKiB, p.EightLanes = 18, true
	wantProfile(t, p, headroom.PGProfile{XonBytes: 35840, XoffBytes: 159744, SizeBytes: 204800})

	p = tablePort(old, 144, 100_000, 5_000)
	p.PipelineKiB, p.SharedPool = 18, true
	wantProfile(t, p, headroom.PGProfile{XonBytes: 18432, XoffBytes: 81920, SizeBytes: 18432})

	// Shipped default of half small packets, without a shared pool.
	for _, tt := range []struct{ cell, mid, now int64 }{{96, 41984, 44032}, {144, 46080, 48128}, {192, 47104, 49152}} {
		p = tablePort(mid, tt.cell, 100_000, 5_000)
		p.SmallPercent = 50
		wantProfile(t, p, headroom.PGProfile{XonBytes: 19456, XoffBytes: tt.mid, SizeBytes: tt.mid + 19456})
		p.Generation = now
		wantProfile(t, p, headroom.PGProfile{XonBytes: 19456, XoffBytes: tt.now, SizeBytes: tt.now + 19456})
		p.SharedPool = true
		wantProfile(t, p, headroom.PGProfile{XonBytes: 19456, XoffBytes: tt.mid, SizeBytes: 19456})
	}

	// The 2 KiB are added only while xoff stays below the worst case: here it is
	// 1, 2 and 3 KiB away.
	for _, tt := range []struct{ mbps, cableMm, xoff int64 }{{10_000, 5_000, 28672}, {10_000, 40_000, 28672}, {10_000, 300_000, 34816 + 2048}} {
		p = tablePort(now, 96, tt.mbps, tt.cableMm)
		p.SmallPercent = 99
		wantProfile(t, p, headroom.PGProfile{XonBytes: 19456, XoffBytes: tt.xoff, SizeBytes: tt.xoff + 19456})
	}

	// The compensation of an ASIC counts in the newest generation only.
	p = tablePort(mid, 144, 100_000, 5_000)
	p.CompensationBytes = 18 * 1024
	wantProfile(t, p, headroom.PGProfile{XonBytes: 19456, XoffBytes: 108544, SizeBytes: 128000})
	p.Generation = now
	wantProfile(t, p, headroom.PGProfile{XonBytes: 19456, XoffBytes: 108544 + 18432, SizeBytes: 128000 + 18432})
}

func TestOccupancy(t *testing.T) {
	tests := []struct {
		gen            headroom.Generation
		cell, pct, mtu int64
		want           headroom.Ratio
	}{
		{headroom.Spectrum202311, 144, 100, 1024, headroom.Ratio{Num: 9, Den: 4}},
		{headroom.Spectrum202311, 96, 100, 1024, headroom.Ratio{Num: 192, Den: 97}},
		{headroom.Spectrum202311, 192, 50, 1024, headroom.Ratio{Num: 2, Den: 1}},
		{headroom.Spectrum202311, 96, 0, 1024, headroom.Ratio{Num: 1, Den: 1}},
		{headroom.Spectrum202405, 96, 100, 1024, headroom.Ratio{Num: 2, Den: 1}},
		{headroom.Spectrum202405, 144, 100, 1024, headroom.Ratio{Num: 3, Den: 1}},
		{headroom.Spectrum202405, 192, 100, 1024, headroom.Ratio{Num: 3, Den: 1}},
		{headroom.Spectrum202605, 256, 100, 1024, headroom.Ratio{Num: 4, Den: 1}},
		// 1 + 2*6400/54400
		{headroom.Spectrum202405, 144, 50, 1024, headroom.Ratio{Num: 21, Den: 17}},
	}
	for _, tt := range tests {
		got, err := headroom.Occupancy(tt.gen, tt.cell, tt.pct, tt.mtu)
		if err != nil || got != tt.want {
			t.Errorf("%v, cell %d, %d%%: got %v, %v, want %v", tt.gen, tt.cell, tt.pct, got, err, tt.want)
		}
	}
}

func TestSpectrumRefuses(t *testing.T) {
	good := tablePort(headroom.Spectrum202605, 144, 100_000, 5_000)
	for name, spoil := range map[string]func(*headroom.SpectrumPort){
		"Generation":           func(p *headroom.SpectrumPort) { p.Generation = 0 },
		"Mbps":                 func(p *headroom.SpectrumPort) { p.Mbps = 0 },
		"CableMm":              func(p *headroom.SpectrumPort) { p.CableMm = -1 },
		"PortMTUBytes":         func(p *headroom.SpectrumPort) { p.PortMTUBytes = 0 },
		"LosslessMTUBytes":     func(p *headroom.SpectrumPort) { p.LosslessMTUBytes = 0 },
		"SmallPercent":         func(p *headroom.SpectrumPort) { p.SmallPercent = 101 },
		"CellBytes":            func(p *headroom.SpectrumPort) { p.CellBytes = 0 },
		"PipelineKiB":          func(p *headroom.SpectrumPort) { p.PipelineKiB = 0 },
		"MacPhyTenthKiB":       func(p *headroom.SpectrumPort) { p.MacPhyTenthKiB = -8 },
		"PeerResponseTenthKiB": func(p *headroom.SpectrumPort) { p.PeerResponseTenthKiB = -1 },
		"GearboxNs":            func(p *headroom.SpectrumPort) { p.GearboxNs = -1 },
		"CompensationBytes":    func(p *headroom.SpectrumPort) { p.CompensationBytes = -1 },
	} {
		p := good
		spoil(&p)
		_, err := headroom.Spectrum(p)
		wantField(t, err, name)
	}
	for name, spoil := range map[string]func(*headroom.SpectrumPort){
		"cable":        func(p *headroom.SpectrumPort) { p.CableMm = math.MaxInt64 },
		"port MTU":     func(p *headroom.SpectrumPort) { p.PortMTUBytes = math.MaxInt64 },
		"lossless MTU": func(p *headroom.SpectrumPort) { p.LosslessMTUBytes, p.SmallPercent = math.MaxInt64, 0 },
		"cell":         func(p *headroom.SpectrumPort) { p.CellBytes = math.MaxInt64 },
		"pipeline":     func(p *headroom.SpectrumPort) { p.PipelineKiB = math.MaxInt64 / 1024 * 2 },
		"gearbox":      func(p *headroom.SpectrumPort) { p.GearboxNs = math.MaxInt64 },
		"compensation": func(p *headroom.SpectrumPort) { p.CompensationBytes = math.MaxInt64 },
	} {
		for g := headroom.Spectrum202311; g <= headroom.Spectrum202605; g++ {
			p := good
			spoil(&p)
			p.Generation = g
			if p.CompensationBytes > 0 && g < headroom.Spectrum202605 {
				continue
			}
			if got, err := headroom.Spectrum(p); !errors.Is(err, headroom.ErrOverflow) || got != (headroom.PGProfile{}) {
				t.Errorf("%s, %v: got %+v, %v, want overflow", name, g, got, err)
			}
		}
	}
	p := good
	p.Mbps = 1_600_000
	var speed *headroom.SpeedError
	if _, err := headroom.Spectrum(p); !errors.As(err, &speed) || speed.Mbps != 1_600_000 {
		t.Errorf("got %v, want a speed error", err)
	}
	p.PeerResponseTenthKiB = 38
	if _, err := headroom.Spectrum(p); err != nil {
		t.Errorf("stated response time: %v", err)
	}
	_, err := headroom.Occupancy(headroom.Spectrum202405, 0, 50, 1024)
	wantField(t, err, "CellBytes")
}

func TestSpectrumProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := headroom.SpectrumPort{
			Generation:        headroom.Generation(rapid.IntRange(1, 3).Draw(t, "generation")),
			Mbps:              rapid.SampledFrom([]int64{10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000, 800_000}).Draw(t, "mbps"),
			CableMm:           rapid.Int64Range(0, 120_000_000).Draw(t, "cable"),
			PortMTUBytes:      rapid.Int64Range(64, 16_000).Draw(t, "mtu"),
			LosslessMTUBytes:  rapid.Int64Range(64, 16_000).Draw(t, "lossless"),
			SmallPercent:      rapid.Int64Range(0, 100).Draw(t, "small"),
			CellBytes:         rapid.SampledFrom([]int64{96, 144, 192, 256}).Draw(t, "cell"),
			PipelineKiB:       rapid.Int64Range(1, 60).Draw(t, "pipeline"),
			MacPhyTenthKiB:    rapid.Int64Range(0, 30).Draw(t, "macphy"),
			GearboxNs:         rapid.Int64Range(0, 500).Draw(t, "gearbox"),
			EightLanes:        rapid.Bool().Draw(t, "lanes"),
			OnTile:            rapid.Bool().Draw(t, "tile"),
			CompensationBytes: rapid.SampledFrom([]int64{0, 18 * 1024}).Draw(t, "compensation"),
		}
		own, err := headroom.Spectrum(p)
		if err != nil {
			t.Fatal(err)
		}
		if own.SizeBytes < own.XonBytes+own.XoffBytes || own.SizeBytes%1024 != 0 || own.XoffBytes%1024 != 0 {
			t.Fatalf("%+v is not whole KiB or too small", own)
		}
		if own.XoffBytes < p.PortMTUBytes+p.LosslessMTUBytes {
			t.Fatalf("xoff %d is below two frames", own.XoffBytes)
		}

		longer := p
		longer.CableMm += rapid.Int64Range(0, 1_000_000).Draw(t, "more")
		if got, err := headroom.Spectrum(longer); err != nil || got.XoffBytes < own.XoffBytes {
			t.Fatalf("longer cable: %+v, %v after %+v", got, err, own)
		}

		p.SharedPool = true
		shared, err := headroom.Spectrum(p)
		if err != nil || shared.SizeBytes != own.XonBytes || shared.XoffBytes > own.XoffBytes {
			t.Fatalf("shared pool: %+v, %v, alone %+v", shared, err, own)
		}
	})
}

func BenchmarkSpectrum(b *testing.B) {
	p := tablePort(headroom.Spectrum202605, 144, 400_000, 40_000)
	p.SmallPercent = 50
	b.ReportAllocs()
	for b.Loop() {
		if _, err := headroom.Spectrum(p); err != nil {
			b.Fatal(err)
		}
	}
}
