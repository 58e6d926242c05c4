package headroom_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/headroom"
)

// trident2Rows is the file of the Arista 7050QX-32S [roce-theory A.7].
func trident2Rows() []headroom.Row {
	var rows []headroom.Row
	for _, r := range []struct{ mbps, cableM, size, xoff int64 }{
		{40_000, 5, 46_384, 45_136},
		{40_000, 40, 48_464, 47_216},
		{40_000, 300, 64_064, 62_816},
		{50_000, 5, 46_592, 45_344},
		{50_000, 40, 49_296, 48_048},
		{50_000, 300, 68_848, 67_600},
		{100_000, 5, 48_464, 47_216},
		{100_000, 40, 53_872, 52_624},
		{100_000, 300, 92_976, 91_728},
	} {
		rows = append(rows, headroom.Row{
			Platform: "x86_64-arista_7050_qx32s", SKU: "Arista-7050-QX-32S",
			Mbps: r.mbps, CableMm: r.cableM * 1000,
			SizeBytes: r.size, XonBytes: 18_432, XonOffsetBytes: 2_496, HasXonOffset: true, XoffBytes: r.xoff, Threshold: -3,
		})
	}
	return rows
}

func TestLookup(t *testing.T) {
	rows := trident2Rows()
	key := headroom.RowKey{Platform: rows[0].Platform, SKU: rows[0].SKU}
	for _, want := range rows {
		k := key
		k.Mbps, k.CableMm = want.Mbps, want.CableMm
		got, _, found := headroom.Lookup(rows, k)
		if !found {
			t.Errorf("%+v not found", k)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}

	speeds := []int64{40_000, 50_000, 100_000}
	for _, tt := range []struct {
		name string
		edit func(*headroom.RowKey)
		want headroom.Near
	}{
		{"between", func(k *headroom.RowKey) { k.CableMm = 25_500 }, headroom.Near{KnownSKU: true, Mbps: speeds, ShorterMm: 5_000, LongerMm: 40_000}},
		{"one millimetre more", func(k *headroom.RowKey) { k.CableMm = 40_001 }, headroom.Near{KnownSKU: true, Mbps: speeds, ShorterMm: 40_000, LongerMm: 300_000}},
		{"too short", func(k *headroom.RowKey) { k.CableMm = 1_000 }, headroom.Near{KnownSKU: true, Mbps: speeds, ShorterMm: -1, LongerMm: 5_000}},
		{"too long", func(k *headroom.RowKey) { k.CableMm = 2_000_000 }, headroom.Near{KnownSKU: true, Mbps: speeds, ShorterMm: 300_000, LongerMm: -1}},
		{"speed", func(k *headroom.RowKey) { k.Mbps = 25_000 }, headroom.Near{KnownSKU: true, Mbps: speeds, ShorterMm: -1, LongerMm: -1}},
		{"SKU", func(k *headroom.RowKey) { k.SKU = "Force10-S6000" }, headroom.Near{ShorterMm: -1, LongerMm: -1}},
		{"platform", func(k *headroom.RowKey) { k.Platform = "x86_64-dell_s6000_s1220-r0" }, headroom.Near{ShorterMm: -1, LongerMm: -1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := key
			k.Mbps, k.CableMm = 40_000, 5_000
			tt.edit(&k)
			row, near, found := headroom.Lookup(rows, k)
			if found || row != (headroom.Row{}) {
				t.Errorf("found %+v", row)
			}
			if diff := cmp.Diff(tt.want, near); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLookupLastRowCounts(t *testing.T) {
	rows := trident2Rows()
	again := rows[0]
	again.XoffBytes++
	rows = append(rows, again)
	got, _, found := headroom.Lookup(rows, headroom.RowKey{Platform: again.Platform, SKU: again.SKU, Mbps: 40_000, CableMm: 5_000})
	if !found || got != again {
		t.Errorf("got %+v, want the later of two equal rows", got)
	}
}
