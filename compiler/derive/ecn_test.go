package derive

import (
	"testing"

	"github.com/rocec/rocec/compiler/fabric"
)

func TestECN(t *testing.T) {
	const mtu = 1500
	eighth := fabric.Ratio{Num: 1, Den: 8}
	for _, tt := range []struct {
		name   string
		mbps   uint32
		ecn    fabric.ECN
		shared uint64
		alpha  fabric.Ratio
		facts  map[string]int64
		want   ECN
	}{
		{name: "by speed", mbps: 100_000, ecn: fabric.ECN{Mode: fabric.Auto}, want: ECN{On: true, Auto: true, MinBytes: 150_000, MaxBytes: 1_500_000, Probability: 5}},
		{name: "whole kB", mbps: 25_000, ecn: fabric.ECN{Mode: fabric.Auto}, want: ECN{On: true, Auto: true, MinBytes: 38_000, MaxBytes: 375_000, Probability: 5}},
		{name: "off", mbps: 100_000, ecn: fabric.ECN{Mode: fabric.Off}},
		{name: "kept", mbps: 100_000, ecn: fabric.ECN{Mode: fabric.Keep}},
		{
			name: "platform", mbps: 100_000, ecn: fabric.ECN{Mode: fabric.Auto},
			facts: map[string]int64{FactECNMin: 200_000_000, FactECNMax: 900_000_000, FactECNProbability: 20_000},
			want:  ECN{On: true, Auto: true, MinBytes: 200_000, MaxBytes: 900_000, Probability: 20},
		},
		{ // roce-theory B.2, Azure box: relaxed bound 2.000 MB
			name: "within the bound", mbps: 400_000, ecn: fabric.ECN{Mode: fabric.Auto}, shared: 18_000_000, alpha: eighth,
			want: ECN{On: true, Auto: true, MinBytes: 600_000, MaxBytes: 6_000_000, Probability: 5, RelaxedBytes: 1_999_999, StrictBytes: 1_999_999},
		},
		{
			name: "clamped", mbps: 400_000, ecn: fabric.ECN{Mode: fabric.Auto}, shared: 1_800_000, alpha: eighth,
			want: ECN{On: true, Auto: true, MinBytes: 199_000, MaxBytes: 2_000_000, Probability: 5, RelaxedBytes: 199_999, StrictBytes: 199_999},
		},
		{
			name: "two frames at least", mbps: 400_000, ecn: fabric.ECN{Mode: fabric.Auto}, shared: 9_000, alpha: eighth,
			want: ECN{On: true, Auto: true, MinBytes: 2 * mtu, MaxBytes: 20 * mtu, Probability: 5, RelaxedBytes: 999, StrictBytes: 999},
		},
		{
			name: "written stays beyond the bound", mbps: 400_000, ecn: fabric.ECN{Mode: fabric.Written, MinBytes: 1_000_000, MaxBytes: 2_000_000, Probability: 7}, shared: 1_800_000, alpha: eighth,
			want: ECN{On: true, MinBytes: 1_000_000, MaxBytes: 2_000_000, Probability: 7, RelaxedBytes: 199_999, StrictBytes: 199_999},
		},
		{
			name: "probability written", mbps: 100_000, ecn: fabric.ECN{Mode: fabric.Written, Probability: 20},
			want: ECN{On: true, Auto: true, MinBytes: 150_000, MaxBytes: 1_500_000, Probability: 20},
		},
		{
			name: "low threshold written", mbps: 100_000, ecn: fabric.ECN{Mode: fabric.Written, MinBytes: 400_000},
			want: ECN{On: true, Auto: true, MinBytes: 400_000, MaxBytes: 4_000_000, Probability: 5},
		},
		{
			name: "high threshold written", mbps: 100_000, ecn: fabric.ECN{Mode: fabric.Written, MaxBytes: 200_000},
			want: ECN{On: true, Auto: true, MinBytes: 20_000, MaxBytes: 200_000, Probability: 5},
		},
		{
			name: "high threshold below two frames", mbps: 100_000, ecn: fabric.ECN{Mode: fabric.Written, MaxBytes: 2_500},
			want: ECN{On: true, Auto: true, MinBytes: 2_499, MaxBytes: 2_500, Probability: 5},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDraft()
			d.roce(func(q *fabric.QoS) { q.Classes[0].ECN = tt.ecn })
			tor, nic := d.pair("other", d.spectrum(96, func(m *fabric.SwitchModel) { m.Facts = tt.facts }), tt.mbps, 1_000, mtu)
			d.Devices[1].Buffer.SharedBytes, d.Devices[1].Buffer.Alpha = tt.shared, tt.alpha
			facts := compute(t, d)
			if got := facts.Port(tor).ECN[3]; got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
			if got := facts.Port(nic).ECN; got != [8]ECN{} {
				t.Errorf("a host marks: %+v", got)
			}
		})
	}
}

// The bounds of roce-theory B.2 for a switch with 64 cabled ports and two
// lossless priorities: 28.125 KB and 2.000 MB.
func TestBoundsOfManyPorts(t *testing.T) {
	d := newDraft()
	q := d.roce(func(q *fabric.QoS) {
		storage := q.Classes[0]
		storage.Name, storage.Priority, storage.Queue, storage.Group = d.Names.Add("storage"), 4, 4, 4
		q.Classes = append(q.Classes, storage)
	})
	profile := d.profile(q, false, nil)
	a, b := d.device(fabric.Switch, "other", 0, 66), d.device(fabric.Switch, "other", 0, 66)
	for i := range fabric.PortID(66) {
		p, x := d.Devices[a].First+i, d.Devices[b].First+i
		d.Ports[p].Mbps, d.Ports[p].MTU, d.Ports[p].Profile = 400_000, 1500, profile
		if i < 65 {
			d.cable(p, x, 1_000)
		}
	}
	d.Ports[d.Devices[a].First].Flags = fabric.ShutDown // 64 of 66 are in use
	d.Devices[a].Buffer.SharedBytes, d.Devices[a].Buffer.Alpha = 18_000_000, fabric.Ratio{Num: 1, Den: 8}
	facts := compute(t, d)
	e := facts.Port(d.Devices[a].First + 5).ECN[4]
	if e.StrictBytes != 28_124 || e.RelaxedBytes != 1_999_999 {
		t.Errorf("strict %d, relaxed %d, want 28124 and 1999999", e.StrictBytes, e.RelaxedBytes)
	}
	if got := facts.Buffers[a]; got.Ports != 64 || got.SharedBytes != 18_000_000 || !got.SharedKnown {
		t.Errorf("buffer %+v", got)
	}
}

// Without a written pool, the buffer loses what headroom takes, in cells.
func TestSharedAfterHeadroom(t *testing.T) {
	d := newDraft()
	tor, _ := d.pair("other", d.spectrum(208, func(m *fabric.SwitchModel) { m.BufferBytes = 12_000_000 }), 40_000, 300_000, 1500)
	b := compute(t, d).Buffers[1]
	if want := uint64(26_000); b.HeadroomBytes != want || b.SharedBytes != 12_000_000-want { // roce-theory B.5, first row
		t.Errorf("got %+v, want headroom %d", b, want)
	}
	d.Ports[tor].Flags |= fabric.ShutDown
	if b := compute(t, d).Buffers[1]; b.HeadroomBytes != 0 {
		t.Errorf("a port that is shut down takes %d", b.HeadroomBytes)
	}
	d.Ports[tor].Flags = 0
	d.Devices[1].Buffer.HeadroomBytes = 2_000_000
	if b := compute(t, d).Buffers[1]; b.SharedBytes != 10_000_000 {
		t.Errorf("with a pool of 2 MB there are %d left", b.SharedBytes)
	}
}

// An image that sets up a part of the chip's buffer leaves no more than that to
// share, under SONiC alone, and written pools take its place.
func TestPoolOfTheImage(t *testing.T) {
	for _, tt := range []struct {
		os            string
		pool, written uint64
		want          uint64 // to share before headroom is taken off
	}{
		{"sonic", 5_000_000, 0, 5_000_000},
		{"sonic", 12_000_001, 0, 12_000_000},
		{"sonic", 0, 0, 12_000_000},
		{"other", 5_000_000, 0, 12_000_000},
		{"sonic", 5_000_000, 9_000_000, 9_000_000},
	} {
		d := newDraft()
		d.roce(nil)
		d.pair(tt.os, d.spectrum(96, func(m *fabric.SwitchModel) {
			m.BufferBytes = 12_000_000
			m.Facts = map[string]int64{FactImagePool: int64(tt.pool) * thousand}
		}), 100_000, 1_000, 1500)
		d.Devices[1].Buffer.SharedBytes = tt.written
		b := compute(t, d).Buffers[1]
		if tt.written == 0 {
			tt.want -= b.HeadroomBytes
		}
		if b.HeadroomBytes == 0 || b.SharedBytes != tt.want {
			t.Errorf("%s, a pool of %d, %d written: %d to share, want %d", tt.os, tt.pool, tt.written, b.SharedBytes, tt.want)
		}
	}
}

// A lossy class that marks has no pause to be faster than.
func TestLossyMarkingIsUnbounded(t *testing.T) {
	d := newDraft()
	d.roce(func(q *fabric.QoS) { q.Classes[0].Lossless = false })
	tor, _ := d.pair("other", d.spectrum(96, nil), 400_000, 1_000, 1500)
	d.Devices[1].Buffer = fabric.DeviceBuffer{SharedBytes: 100_000, Alpha: fabric.Ratio{Num: 1, Den: 8}}
	p := compute(t, d).Port(tor)
	if e := p.ECN[3]; e.RelaxedBytes != 0 || e.MinBytes != 600_000 {
		t.Errorf("got %+v", e)
	}
	if p.Headroom[3] != (Headroom{}) || p.CableMm != 0 {
		t.Errorf("a lossy class has headroom: %+v", p.Headroom[3])
	}
}

// Where alpha comes from, nearest first.
func TestAlpha(t *testing.T) {
	bound := func(num, den, shared uint32) uint32 { return (num*shared - 1) / (num + den) }
	d := newDraft()
	d.roce(nil)
	m := d.trident2()
	d.Models[m].Facts = map[string]int64{FactAlpha: -1000}
	tor, _ := d.pair("other", m, 40_000, 5_000, 1500)
	const shared = 9_000_000
	d.Devices[1].Buffer.SharedBytes = shared
	relaxed := func() uint32 { return compute(t, d).Port(tor).ECN[3].RelaxedBytes }
	if got, want := relaxed(), bound(1, 2, shared); got != want {
		t.Errorf("the device's own: %d, want %d", got, want)
	}
	d.Devices[1].OSName = d.Names.Add("sonic")
	if got, want := relaxed(), bound(1, 8, shared); got != want {
		t.Errorf("the table's row: %d, want %d", got, want)
	}
	d.Devices[1].Buffer.Alpha = fabric.Ratio{Num: 1, Den: 4}
	if got, want := relaxed(), bound(1, 4, shared); got != want {
		t.Errorf("the switch's: %d, want %d", got, want)
	}
	d.QoS[1].Classes[0].Alpha = fabric.Ratio{Num: 2, Den: 1}
	if got, want := relaxed(), bound(2, 1, shared); got != want {
		t.Errorf("the class's: %d, want %d", got, want)
	}
}
