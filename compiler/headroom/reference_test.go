package headroom_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler/headroom"
)

// referenceRows is roce-theory table A.4: bytes at MTU 1500, 4200 and 9216.
var referenceRows = []struct {
	mbps, cableMm int64
	bytes         [3]int64
}{
	{10000, 1000, [3]int64{7469, 12869, 22901}},
	{10000, 3000, [3]int64{7494, 12894, 22926}},
	{10000, 5000, [3]int64{7520, 12920, 22952}},
	{10000, 40000, [3]int64{7962, 13362, 23394}},
	{10000, 300000, [3]int64{11244, 16644, 26676}},
	{10000, 2000000, [3]int64{32709, 38109, 48141}},
	{25000, 1000, [3]int64{8320, 13720, 23752}},
	{25000, 3000, [3]int64{8383, 13783, 23815}},
	{25000, 5000, [3]int64{8446, 13846, 23878}},
	{25000, 40000, [3]int64{9551, 14951, 24983}},
	{25000, 300000, [3]int64{17758, 23158, 33190}},
	{25000, 2000000, [3]int64{71420, 76820, 86852}},
	{40000, 1000, [3]int64{10771, 16171, 26203}},
	{40000, 3000, [3]int64{10872, 16272, 26304}},
	{40000, 5000, [3]int64{10973, 16373, 26405}},
	{40000, 40000, [3]int64{12741, 18141, 28173}},
	{40000, 300000, [3]int64{25872, 31272, 41304}},
	{40000, 2000000, [3]int64{111731, 117131, 127163}},
	{50000, 1000, [3]int64{12640, 18040, 28072}},
	{50000, 3000, [3]int64{12766, 18166, 28198}},
	{50000, 5000, [3]int64{12892, 18292, 28324}},
	{50000, 40000, [3]int64{15102, 20502, 30534}},
	{50000, 300000, [3]int64{31516, 36916, 46948}},
	{50000, 2000000, [3]int64{138839, 144239, 154271}},
	{100000, 1000, [3]int64{28511, 33911, 43943}},
	{100000, 3000, [3]int64{28763, 34163, 44195}},
	{100000, 5000, [3]int64{29016, 34416, 44448}},
	{100000, 40000, [3]int64{33435, 38835, 48867}},
	{100000, 300000, [3]int64{66263, 71663, 81695}},
	{100000, 2000000, [3]int64{280910, 286310, 296342}},
	{200000, 1000, [3]int64{32413, 37813, 47845}},
	{200000, 3000, [3]int64{32918, 38318, 48350}},
	{200000, 5000, [3]int64{33423, 38823, 48855}},
	{200000, 40000, [3]int64{42262, 47662, 57694}},
	{200000, 300000, [3]int64{107918, 113318, 123350}},
	{200000, 2000000, [3]int64{537211, 542611, 552643}},
	{400000, 1000, [3]int64{61594, 66994, 77026}},
	{400000, 3000, [3]int64{62604, 68004, 78036}},
	{400000, 5000, [3]int64{63614, 69014, 79046}},
	{400000, 40000, [3]int64{81291, 86691, 96723}},
	{400000, 300000, [3]int64{212604, 218004, 228036}},
	{400000, 2000000, [3]int64{1071190, 1076590, 1086622}},
	{800000, 1000, [3]int64{62099, 67499, 77531}},
	{800000, 3000, [3]int64{64119, 69519, 79551}},
	{800000, 5000, [3]int64{66139, 71539, 81571}},
	{800000, 40000, [3]int64{101493, 106893, 116925}},
	{800000, 300000, [3]int64{364119, 369519, 379551}},
	{800000, 2000000, [3]int64{2081291, 2086691, 2096723}},
}

func TestReferenceTable(t *testing.T) {
	for _, r := range referenceRows {
		for i, mtu := range [...]int64{1500, 4200, 9216} {
			got, err := headroom.Reference(headroom.Link{Mbps: r.mbps, CableMm: r.cableMm, LocalMTUBytes: mtu, PeerMTUBytes: mtu})
			if err != nil || got != r.bytes[i] {
				t.Errorf("%d Mb/s, %d mm, MTU %d: got %d, %v, want %d", r.mbps, r.cableMm, mtu, got, err, r.bytes[i])
			}
		}
	}
}

func TestReference(t *testing.T) {
	tests := []struct {
		name string
		link headroom.Link
		want int64
	}{
		{"80 km", headroom.Link{Mbps: 100_000, CableMm: 80_000_000, LocalMTUBytes: 9216, PeerMTUBytes: 9216}, 10_144_827},
		{"80 km at 800G", headroom.Link{Mbps: 800_000, CableMm: 80_000_000, LocalMTUBytes: 9216, PeerMTUBytes: 9216}, 80_884_601},
		// 9216+4200+168+25216 + 125*5*100/99
		{"only the lossless class is small", headroom.Link{Mbps: 100_000, CableMm: 5_000, LocalMTUBytes: 9216, PeerMTUBytes: 4200}, 39_432},
		// 125*25.5*100/99 = 3219.7
		{"half metres", headroom.Link{Mbps: 100_000, CableMm: 25_500, LocalMTUBytes: 1500, PeerMTUBytes: 1500}, 31_604},
		{"extra delay", headroom.Link{Mbps: 100_000, CableMm: 5_000, LocalMTUBytes: 1500, PeerMTUBytes: 1500, ExtraBytes: 1000}, 30_016},
		// 29016 - 64*(394-100)
		{"stated response", headroom.Link{Mbps: 100_000, CableMm: 5_000, LocalMTUBytes: 1500, PeerMTUBytes: 1500, Quanta: 100}, 10_200},
		{"stated response at an unknown speed", headroom.Link{Mbps: 1_600_000, LocalMTUBytes: 1500, PeerMTUBytes: 1500, Quanta: 905}, 61_088},
		{"no cable", headroom.Link{Mbps: 10_000, LocalMTUBytes: 1500, PeerMTUBytes: 1500}, 7_456},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := headroom.Reference(tt.link)
			if err != nil || got != tt.want {
				t.Errorf("got %d, %v, want %d", got, err, tt.want)
			}
		})
	}
}

func TestPhysicalMinimum(t *testing.T) {
	tests := []struct {
		link headroom.Link
		want int64
	}{
		// ceil(1500+1500+168 + 125*2000*100/99): no response time, no extra delay
		{headroom.Link{Mbps: 100_000, CableMm: 2_000_000, LocalMTUBytes: 1500, PeerMTUBytes: 1500, ExtraBytes: 77}, 255_694},
		{headroom.Link{Mbps: 1_600_000, CableMm: 0, LocalMTUBytes: 9216, PeerMTUBytes: 4200}, 13_584},
		{headroom.Link{Mbps: 10_000, CableMm: 1, LocalMTUBytes: 1500, PeerMTUBytes: 1500}, 3_169},
	}
	for _, tt := range tests {
		got, err := headroom.PhysicalMinimum(tt.link)
		if err != nil || got != tt.want {
			t.Errorf("%+v: got %d, %v, want %d", tt.link, got, err, tt.want)
		}
	}
}

func TestMaxCable(t *testing.T) {
	link := headroom.Link{Mbps: 100_000, LocalMTUBytes: 1500, PeerMTUBytes: 1500}
	tests := []struct {
		alloc int64
		mm    int64
		fits  bool
	}{
		{28_383, 0, false}, // one byte below the fixed part
		{28_384, 0, true},
		{29_016, 5_005, true}, // (29016-28384)*792000/100000
		{66_263, 300_001, true},
		{0, 0, false},
	}
	for _, tt := range tests {
		mm, fits, err := headroom.MaxCableMm(link, tt.alloc)
		if err != nil || mm != tt.mm || fits != tt.fits {
			t.Errorf("%d bytes: got %d mm, %v, %v, want %d mm, %v", tt.alloc, mm, fits, err, tt.mm, tt.fits)
		}
	}
}

func TestCellRound(t *testing.T) {
	for _, tt := range []struct{ bytes, cell, want int64 }{
		{25_872, 208, 26_000}, {26_000, 208, 26_000}, {48_867, 208, 48_880}, {228_036, 254, 228_092}, {0, 254, 0}, {1, 96, 96},
	} {
		got, err := headroom.CellRound(tt.bytes, tt.cell)
		if err != nil || got != tt.want {
			t.Errorf("%d in cells of %d: got %d, %v, want %d", tt.bytes, tt.cell, got, err, tt.want)
		}
	}
}

func TestReferenceRefuses(t *testing.T) {
	good := headroom.Link{Mbps: 100_000, CableMm: 5_000, LocalMTUBytes: 1500, PeerMTUBytes: 1500}
	for name, spoil := range map[string]func(*headroom.Link){
		"Mbps":          func(l *headroom.Link) { l.Mbps = 0 },
		"CableMm":       func(l *headroom.Link) { l.CableMm = -1 },
		"LocalMTUBytes": func(l *headroom.Link) { l.LocalMTUBytes = 0 },
		"PeerMTUBytes":  func(l *headroom.Link) { l.PeerMTUBytes = math.MinInt64 },
		"ExtraBytes":    func(l *headroom.Link) { l.ExtraBytes = -1 },
		"Quanta":        func(l *headroom.Link) { l.Quanta = -1 },
	} {
		link := good
		spoil(&link)
		_, err := headroom.Reference(link)
		wantField(t, err, name)
	}
	for name, spoil := range map[string]func(*headroom.Link){
		"cable":      func(l *headroom.Link) { l.CableMm = math.MaxInt64 },
		"local MTU":  func(l *headroom.Link) { l.LocalMTUBytes = math.MaxInt64 },
		"both MTUs":  func(l *headroom.Link) { l.LocalMTUBytes, l.PeerMTUBytes = math.MaxInt64/2, math.MaxInt64/2+1 },
		"extra":      func(l *headroom.Link) { l.ExtraBytes = math.MaxInt64 },
		"quanta":     func(l *headroom.Link) { l.Quanta = math.MaxInt64 / 2 },
		"everything": func(l *headroom.Link) { l.CableMm, l.Mbps, l.Quanta = math.MaxInt64, math.MaxInt64, 1 },
	} {
		link := good
		spoil(&link)
		if got, err := headroom.Reference(link); !errors.Is(err, headroom.ErrOverflow) || got != 0 {
			t.Errorf("%s: got %d, %v, want overflow", name, got, err)
		}
	}
	_, _, err := headroom.MaxCableMm(good, -1)
	wantField(t, err, "allocBytes")
	if _, fits, err := headroom.MaxCableMm(good, math.MaxInt64); !errors.Is(err, headroom.ErrOverflow) || fits {
		t.Errorf("MaxCableMm: got %v, %v, want overflow", fits, err)
	}
	_, err = headroom.CellRound(1, 0)
	wantField(t, err, "cellBytes")
}

func TestUnknownSpeed(t *testing.T) {
	_, err := headroom.Reference(headroom.Link{Mbps: 1_600_000, LocalMTUBytes: 1500, PeerMTUBytes: 1500})
	var speed *headroom.SpeedError
	if !errors.As(err, &speed) {
		t.Fatalf("got %v, want a speed error", err)
	}
	want := []int64{10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000, 800_000}
	if diff := cmp.Diff(want, speed.KnownMbps); diff != "" {
		t.Error(diff)
	}
	if msg := err.Error(); !strings.Contains(msg, "1600000") || !strings.Contains(msg, " 800000 Mb/s") {
		t.Errorf("message %q names neither the speed nor the known ones", msg)
	}
}

// wantField demands that err is about the named input.
func wantField(t *testing.T, err error, field string) {
	t.Helper()
	var input *headroom.InputError
	if !errors.As(err, &input) || input.Field != field {
		t.Errorf("got %v, want an error about %s", err, field)
	}
}

// linkGen draws links at known speeds, up to 120 km.
func linkGen() *rapid.Generator[headroom.Link] {
	return rapid.Custom(func(t *rapid.T) headroom.Link {
		return headroom.Link{
			Mbps:          rapid.SampledFrom([]int64{10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000, 800_000}).Draw(t, "mbps"),
			CableMm:       rapid.Int64Range(0, 120_000_000).Draw(t, "cable"),
			LocalMTUBytes: rapid.Int64Range(64, 16_000).Draw(t, "local"),
			PeerMTUBytes:  rapid.Int64Range(64, 16_000).Draw(t, "peer"),
			ExtraBytes:    rapid.Int64Range(0, 100_000).Draw(t, "extra"),
			Quanta:        rapid.Int64Range(0, 2_000).Draw(t, "quanta"),
		}
	})
}

func mustReference(t *rapid.T, l headroom.Link) int64 {
	h, err := headroom.Reference(l)
	if err != nil {
		t.Fatalf("%+v: %v", l, err)
	}
	return h
}

func TestReferenceProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := linkGen().Draw(t, "link")
		h := mustReference(t, l)

		phys, err := headroom.PhysicalMinimum(l)
		if err != nil || phys > h {
			t.Fatalf("physical minimum %d, %v above %d", phys, err, h)
		}

		longer := l
		longer.CableMm += rapid.Int64Range(1, 1_000_000).Draw(t, "more")
		if got := mustReference(t, longer); got < h {
			t.Fatalf("%d mm need %d, %d mm only %d", l.CableMm, h, longer.CableMm, got)
		}

		// At a fixed response time in quanta, a faster link needs more.
		if l.Quanta > 0 {
			faster := l
			faster.Mbps *= 2
			if got := mustReference(t, faster); got < h {
				t.Fatalf("%d Mb/s need %d, twice that only %d", l.Mbps, h, got)
			}
		}

		slower := l
		slower.Quanta = max(l.Quanta, 905) + 1
		if got := mustReference(t, slower); got <= h {
			t.Fatalf("a slower response needs %d, not more than %d", got, h)
		}
	})
}

func TestMaxCableInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := linkGen().Draw(t, "link")
		alloc := rapid.Int64Range(0, 10_000_000).Draw(t, "alloc")
		mm, fits, err := headroom.MaxCableMm(l, alloc)
		if err != nil {
			t.Fatal(err)
		}
		l.CableMm = mm
		if h := mustReference(t, l); fits != (h <= alloc) {
			t.Fatalf("%d mm need %d of %d, fits is %v", mm, h, alloc, fits)
		}
		if l.CableMm++; fits && mustReference(t, l) <= alloc {
			t.Fatalf("%d mm fit %d too", l.CableMm, alloc)
		}
	})
}

func BenchmarkReference(b *testing.B) {
	l := headroom.Link{Mbps: 400_000, CableMm: 40_000, LocalMTUBytes: 9216, PeerMTUBytes: 4200}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := headroom.Reference(l); err != nil {
			b.Fatal(err)
		}
	}
}
