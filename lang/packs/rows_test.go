package packs

import (
	"encoding/csv"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/headroom"
)

func hasSKU(sku string) func(headroom.Row) bool {
	return func(r headroom.Row) bool { return r.SKU == sku }
}

// strict reads the whole table with the reader of the library, and refuses what
// the fast one lets pass.
func strict(t *testing.T) []headroom.Row {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"platform", "sku", "asic", "speed_mbps", "cable_m", "size", "xon", "xon_offset", "xoff", "threshold"}
	if diff := cmp.Diff(want, lines[0]); diff != "" {
		t.Fatal(diff)
	}
	var rows []headroom.Row
	for i, f := range lines[1:] {
		cell := func(n int) int64 {
			v, err := strconv.ParseInt(f[n], 10, 64)
			if err != nil {
				t.Errorf("line %d, column %s: %v", i+2, lines[0][n], err)
			}
			return v
		}
		r := headroom.Row{
			Platform: f[0], SKU: f[1], Mbps: cell(3), CableMm: cell(4) * 1000,
			SizeBytes: cell(5), XonBytes: cell(6), XoffBytes: cell(8), Threshold: cell(9),
		}
		if f[7] != "" {
			r.XonOffsetBytes, r.HasXonOffset = cell(7), true
		}
		if f[0] == "" || f[1] == "" || r.Mbps <= 0 || r.CableMm <= 0 || r.XoffBytes <= 0 {
			t.Errorf("line %d: %v", i+2, f)
		}
		rows = append(rows, r)
	}
	return rows
}

func TestHeadroomRows(t *testing.T) {
	all := strict(t)
	byPlatform := map[string][]headroom.Row{}
	var platforms []string
	for _, r := range all {
		if byPlatform[r.Platform] == nil {
			platforms = append(platforms, r.Platform)
		}
		byPlatform[r.Platform] = append(byPlatform[r.Platform], r)
	}
	for _, p := range platforms {
		if diff := cmp.Diff(byPlatform[p], HeadroomRows(p)); diff != "" {
			t.Errorf("%s (-csv +got):\n%s", p, diff)
		}
	}
	if diff := cmp.Diff(all, HeadroomRows(platforms...)); diff != "" {
		t.Error("all platforms at once are not the whole table")
	}
	for _, none := range []string{"", "x86_64", "platform", "x86_64-mlnx_msn4700", "no such"} {
		if rows := HeadroomRows(none); rows != nil {
			t.Errorf("HeadroomRows(%q) has %d rows", none, len(rows))
		}
	}
	if HeadroomRows() != nil {
		t.Error("no platform has rows")
	}
}

// TestPublishedRows holds rows against the figures of the images' own files.
func TestPublishedRows(t *testing.T) {
	for _, want := range []headroom.Row{
		{Platform: "x86_64-mlnx_msn4700-r0", SKU: "ACS-MSN4700", Mbps: 400_000, CableMm: 40_000, SizeBytes: 124_928, XonBytes: 37_888, XoffBytes: 77_824},
		{Platform: "x86_64-nvidia_sn5600-r0", SKU: "ACS-SN5600", Mbps: 800_000, CableMm: 5_000, SizeBytes: 304_128, XonBytes: 38_912, XoffBytes: 257_024},
		{Platform: "x86_64-dellemc_z9332f_d1508-r0", SKU: "DellEMC-Z9332f-O32", Mbps: 400_000, CableMm: 40_000, SizeBytes: 2_540, XonBytes: 2_540, XonOffsetBytes: 2_540, HasXonOffset: true, XoffBytes: 201_930, Threshold: -2},
		{Platform: "x86_64-dell_z9864f-r0", SKU: "Dell-Z9864f-O64", Mbps: 800_000, CableMm: 5_000, SizeBytes: 18_796, XonOffsetBytes: 3_556, HasXonOffset: true, XoffBytes: 729_488},
	} {
		key := headroom.RowKey{Platform: want.Platform, SKU: want.SKU, Mbps: want.Mbps, CableMm: want.CableMm}
		got, _, found := headroom.Lookup(HeadroomRows(want.Platform), key)
		if !found {
			t.Errorf("no row for %v", key)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestSection(t *testing.T) {
	const rows = "head,x\na,1\na,2\nab,3\nb,4"
	for platform, want := range map[string]string{"a": "a,1\na,2\n", "ab": "ab,3\n", "b": "b,4", "head": "", "c": "", "": ""} {
		if got := section(rows, platform); got != want {
			t.Errorf("section(%q) = %q, want %q", platform, got, want)
		}
	}
}

func TestPlatformsStandTogether(t *testing.T) {
	var seen []string
	for _, r := range strict(t) {
		if n := len(seen); n > 0 && seen[n-1] == r.Platform {
			continue
		}
		if slices.Contains(seen, r.Platform) {
			t.Errorf("rows of %s stand in two places", r.Platform)
		}
		seen = append(seen, r.Platform)
	}
}

func BenchmarkHeadroomRows(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if len(HeadroomRows("x86_64-wistron_sw_to3200k-r0")) == 0 {
			b.Fatal("no rows")
		}
	}
}
