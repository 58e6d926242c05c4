package headroom_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/headroom"
)

func TestMlx5Xoff(t *testing.T) {
	for _, tt := range []struct{ mbps, cableMm, mtu, want int64 }{
		// roce-theory A.8
		{25_000, 7_000, 1500, 16_720},
		{100_000, 7_000, 1500, 35_680},
		{100_000, 7_000, 9216, 56_667},
		{200_000, 30_000, 9216, 98_067},
		{400_000, 7_000, 1500, 130_480},
		// metres round up, the rest down: (301 + 216*8/100)*100 + 272*1499/100
		{100_000, 7_001, 1499, 31_800 + 4_077},
		{100_000, 0, 1500, 30_100 + 4_080},
	} {
		got, err := headroom.Mlx5Xoff(headroom.Mlx5Port{Mbps: tt.mbps, CableMm: tt.cableMm, MTUBytes: tt.mtu})
		if err != nil || got != tt.want {
			t.Errorf("%+v: got %d, %v", tt, got, err)
		}
	}
	// The longest cable the driver's 32 bits can take at 400 Gb/s.
	if _, err := headroom.Mlx5Xoff(headroom.Mlx5Port{Mbps: 400_000, CableMm: 4_831_000, MTUBytes: 1500}); err != nil {
		t.Error(err)
	}
	for _, p := range []headroom.Mlx5Port{
		{Mbps: 400_000, CableMm: 4_832_000, MTUBytes: 1500},
		{Mbps: 100_000, CableMm: 7_000, MTUBytes: 1 << 24},
		{Mbps: math.MaxInt64, CableMm: 7_000, MTUBytes: 1500},
		{Mbps: 100_000, CableMm: math.MaxInt64, MTUBytes: 1500},
	} {
		if got, err := headroom.Mlx5Xoff(p); !errors.Is(err, headroom.ErrOverflow) {
			t.Errorf("%+v: got %d, %v, want overflow", p, got, err)
		}
	}
	_, err := headroom.Mlx5Xoff(headroom.Mlx5Port{Mbps: -1, MTUBytes: 1500})
	wantField(t, err, "Mbps")
	_, err = headroom.Mlx5Xoff(headroom.Mlx5Port{Mbps: 1, CableMm: -1, MTUBytes: 1500})
	wantField(t, err, "CableMm")
	_, err = headroom.Mlx5Xoff(headroom.Mlx5Port{Mbps: 1})
	wantField(t, err, "MTUBytes")
}

func TestMlx5Thresholds(t *testing.T) {
	p := headroom.Mlx5Port{Mbps: 100_000, CableMm: headroom.Mlx5DefaultCableMm, MTUBytes: 1500, MaxMTUBytes: 9978, CellBytes: 128, BufferBytes: 131_072}
	got, err := headroom.Mlx5Thresholds(p)
	want := headroom.Mlx5Buffer{XoffBytes: 35_680, MinBufferBytes: 45_786, XoffThresholdBytes: 95_392, XonThresholdBytes: 85_414}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}

	p.MaxMTUBytes = 1500 // the driver counts at least 9216
	p.BufferBytes = 35_680 + 9_216 + 128
	got, err = headroom.Mlx5Thresholds(p)
	want = headroom.Mlx5Buffer{XoffBytes: 35_680, MinBufferBytes: 45_024, XoffThresholdBytes: 9_344, XonThresholdBytes: 128}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}

	p.BufferBytes--
	got, err = headroom.Mlx5Thresholds(p)
	wantField(t, err, "BufferBytes")
	if got.MinBufferBytes != 45_024 {
		t.Errorf("got %+v, want the least size nevertheless", got)
	}
	p.CellBytes = 0
	_, err = headroom.Mlx5Thresholds(p)
	wantField(t, err, "CellBytes")
}

func TestMlxsw(t *testing.T) {
	for _, tt := range []struct {
		port headroom.MlxswPort
		want headroom.MlxswBuffer
	}{
		// 25632 B is a quarter of the driver's headroom for 100G and 100 m.
		{headroom.MlxswPort{DelayBits: 4 * 25_632 * 8, MTUBytes: 1500, CellBytes: 96}, headroom.MlxswBuffer{DelayCells: 2*1068 + 16, ThresholdCells: 32, SizeCells: 2184}},
		{headroom.MlxswPort{DelayBits: 4 * 25_632 * 8, MTUBytes: 1500, CellBytes: 96, EightLanes: true}, headroom.MlxswBuffer{DelayCells: 4304, ThresholdCells: 64, SizeCells: 4368}},
		// 65535 bits are 8192 bytes, 57 cells of 144
		{headroom.MlxswPort{DelayBits: 65_535, MTUBytes: 9216, CellBytes: 144}, headroom.MlxswBuffer{DelayCells: 178, ThresholdCells: 128, SizeCells: 306}},
		{headroom.MlxswPort{MTUBytes: 1, CellBytes: 144}, headroom.MlxswBuffer{DelayCells: 1, ThresholdCells: 2, SizeCells: 3}},
	} {
		got, err := headroom.Mlxsw(tt.port)
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%+v: %v %s", tt.port, err, diff)
		}
	}
	_, err := headroom.Mlxsw(headroom.MlxswPort{DelayBits: -1, MTUBytes: 1500, CellBytes: 96})
	wantField(t, err, "DelayBits")
	_, err = headroom.Mlxsw(headroom.MlxswPort{CellBytes: 96})
	wantField(t, err, "MTUBytes")
	_, err = headroom.Mlxsw(headroom.MlxswPort{MTUBytes: 1500})
	wantField(t, err, "CellBytes")
	if _, err := headroom.Mlxsw(headroom.MlxswPort{MTUBytes: math.MaxInt64, CellBytes: 1}); !errors.Is(err, headroom.ErrOverflow) {
		t.Errorf("got %v, want overflow", err)
	}
}

func TestCisco(t *testing.T) {
	for _, tt := range []struct{ mbps, cableMm, want int64 }{
		{10_000, 100_000, 25_694},
		{25_000, 100_000, 28_337},
		{40_000, 100_000, 37_252},
		{100_000, 100_000, 86_992},
		{100_000, 300_000, 111_992},
		{10_000, 1, 24_445}, // a tenth of a bit time more than 195,552 bit
		{10_000, 0, 24_444},
		{10_000, 10_000_000, 149_444},
	} {
		got, err := headroom.Cisco(headroom.CiscoLink{Mbps: tt.mbps, CableMm: tt.cableMm, LocalMTUBytes: 9216, PeerMTUBytes: 9216})
		if err != nil || got != tt.want {
			t.Errorf("%+v: got %d, %v", tt, got, err)
		}
	}
	link := headroom.CiscoLink{Mbps: 400_000, CableMm: 100_000, LocalMTUBytes: 9216, PeerMTUBytes: 2240}
	var speed *headroom.SpeedError
	if _, err := headroom.Cisco(link); !errors.As(err, &speed) || speed.Quantity != "interface delay" {
		t.Errorf("got %v, want no interface delay", err)
	}
	// 73888 + 672 + 2*200000 + 400000 + 463360 + 18080
	link.InterfaceBits = 200_000
	if got, err := headroom.Cisco(link); err != nil || got != 169_500 {
		t.Errorf("got %d, %v, want 169500", got, err)
	}
	link.Mbps = 800_000
	if _, err := headroom.Cisco(link); !errors.As(err, &speed) || speed.Quantity != "response time" {
		t.Errorf("got %v, want no response time", err)
	}
	link.ResponseBits = 463_360
	if got, err := headroom.Cisco(link); err != nil || got != 219_500 {
		t.Errorf("got %d, %v, want 219500", got, err)
	}
	link.CableMm = math.MaxInt64
	if _, err := headroom.Cisco(link); !errors.Is(err, headroom.ErrOverflow) {
		t.Errorf("got %v, want overflow", err)
	}
	link.CableMm = -1
	_, err := headroom.Cisco(link)
	wantField(t, err, "CableMm")
}

func TestResponseQuanta(t *testing.T) {
	// roce-theory A.3: quanta and nanoseconds
	for _, tt := range []struct{ mbps, quanta, nanos int64 }{
		{10_000, 67, 3430},
		{25_000, 80, 1638},
		{40_000, 118, 1510},
		{50_000, 147, 1505},
		{100_000, 394, 2017},
		{200_000, 453, 1160},
		{400_000, 905, 1158},
		{800_000, 905, 579},
	} {
		quanta, err := headroom.ResponseQuanta(tt.mbps)
		if err != nil || quanta != tt.quanta {
			t.Errorf("%d Mb/s: got %d, %v, want %d", tt.mbps, quanta, err, tt.quanta)
		}
		nanos, err := headroom.PauseNanos(quanta, tt.mbps)
		if err != nil || nanos != tt.nanos {
			t.Errorf("%d Mb/s: got %d ns, %v, want %d", tt.mbps, nanos, err, tt.nanos)
		}
	}
}

func TestPauseNanos(t *testing.T) {
	// roce-theory A.11: the longest pause; the sheet rounds to 1 or 0.1 us
	for _, tt := range []struct{ mbps, nanos int64 }{
		{10_000, 3_355_392},
		{25_000, 1_342_157},
		{40_000, 838_848},
		{100_000, 335_539},
		{200_000, 167_770},
		{400_000, 83_885},
		{800_000, 41_942},
	} {
		got, err := headroom.PauseNanos(headroom.MaxPauseQuanta, tt.mbps)
		if err != nil || got != tt.nanos {
			t.Errorf("%d Mb/s: got %d, %v, want %d", tt.mbps, got, err, tt.nanos)
		}
	}
	_, err := headroom.PauseNanos(-1, 1)
	wantField(t, err, "quanta")
	_, err = headroom.PauseNanos(1, 0)
	wantField(t, err, "mbps")
	if _, err := headroom.PauseNanos(math.MaxInt64, 1); !errors.Is(err, headroom.ErrOverflow) {
		t.Errorf("got %v, want overflow", err)
	}
}

func TestQueueNanos(t *testing.T) {
	// roce-theory B.6
	for _, tt := range []struct{ bytes, mbps, nanos int64 }{
		{200_000, 40_000, 40_000}, {200_000, 10_000, 160_000}, {1_500_000, 100_000, 120_000}, {2 << 20, 400_000, 41_943},
	} {
		got, err := headroom.QueueNanos(tt.bytes, tt.mbps)
		if err != nil || got != tt.nanos {
			t.Errorf("%+v: got %d, %v", tt, got, err)
		}
	}
	_, err := headroom.QueueNanos(-1, 1)
	wantField(t, err, "bytes")
}

func TestRDMAMTU(t *testing.T) {
	// roce-theory E.1, and the edges of the smaller sizes
	for device, want := range map[int64]int64{
		576: 256, 1280: 1024, 1500: 1024, 2143: 1024, 2144: 2048, 2200: 2048, 4191: 2048, 4192: 4096, 4200: 4096, 9000: 4096,
		352: 256, 607: 256, 608: 512, 1119: 512, 1120: 1024, math.MaxInt64: 4096,
	} {
		if got, err := headroom.RDMAMTU(device); err != nil || got != want {
			t.Errorf("%d: got %d, %v, want %d", device, got, err, want)
		}
	}
	for _, device := range []int64{351, 0, -1, math.MinInt64} {
		_, err := headroom.RDMAMTU(device)
		wantField(t, err, "deviceMTUBytes")
	}
}

func TestNeedBytes(t *testing.T) {
	for _, tt := range []struct {
		mtu  int64
		ip   headroom.IPVersion
		want int64
	}{
		{4096, headroom.IPv4, 4156}, {4096, headroom.IPv6, 4176}, {1024, headroom.IPv4, 1084}, {2048, headroom.IPv6, 2128},
	} {
		if got, err := headroom.NeedBytes(tt.mtu, tt.ip); err != nil || got != tt.want {
			t.Errorf("%+v: got %d, %v", tt, got, err)
		}
	}
	_, err := headroom.NeedBytes(4200, headroom.IPv4)
	wantField(t, err, "rdmaMTUBytes")
	_, err = headroom.NeedBytes(4096, 5)
	wantField(t, err, "ip")
	if got, err := headroom.SwitchFrameBytes(9000); err != nil || got != 9022 {
		t.Errorf("got %d, %v, want 9022", got, err)
	}
	_, err = headroom.SwitchFrameBytes(0)
	wantField(t, err, "hostMTUBytes")
}

func TestPCIeUsable(t *testing.T) {
	// roce-theory E.2, x8 and x16 of Gen3 to Gen6
	for raw, want := range map[int64]int64{
		63_000: 57_600, 126_000: 115_200, 252_100: 230_491, 504_100: 460_891, 484_000: 442_514, 968_000: 885_028,
	} {
		if got, err := headroom.PCIeUsableMbps(raw, 256); err != nil || got != want {
			t.Errorf("%d: got %d, %v, want %d", raw, got, err, want)
		}
	}
	_, err := headroom.PCIeUsableMbps(1, 0)
	wantField(t, err, "payloadBytes")
	if _, err := headroom.PCIeUsableMbps(math.MaxInt64, 256); !errors.Is(err, headroom.ErrOverflow) {
		t.Errorf("got %v, want overflow", err)
	}
}
