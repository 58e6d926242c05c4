package rocec_test

import (
	"encoding/csv"
	"fmt"
	"io/fs"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/rocec/rocec/compiler/headroom"
	"github.com/rocec/rocec/lang/packs"
)

func packText(t *testing.T, name string) string {
	t.Helper()
	text, err := fs.ReadFile(packs.Files(), name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPCIeData: the usable rates of the data are those of the coding and of
// packets with 256 bytes, for every generation and width.
func TestPCIeData(t *testing.T) {
	// Raw rate of a lane, Mb/s: transfers by coding, 128b/130b up to Gen5 and 242 of
	// 256 bytes of a FLIT in Gen6.
	raw := map[string]float64{"3": 8_000 * 128. / 130, "4": 16_000 * 128. / 130, "5": 32_000 * 128. / 130, "6": 64_000 * 242. / 256}
	blocks := regexp.MustCompile(`(?s)pcie "(\d)" \{\n  usable = \{([^}]*)\}`).FindAllStringSubmatch(packText(t, "pcie.roce.hcl"), -1)
	if len(blocks) != len(raw) {
		t.Fatalf("%d generations, want %d", len(blocks), len(raw))
	}
	for _, b := range blocks {
		widths := regexp.MustCompile(`(\d+) = "([\d.]+)G"`).FindAllStringSubmatch(b[2], -1)
		if len(widths) != 5 {
			t.Errorf("Gen%s has %d widths", b[1], len(widths))
		}
		for _, w := range widths {
			lanes, _ := strconv.Atoi(w[1])
			got, err := headroom.PCIeUsableMbps(int64(math.Round(raw[b[1]]*float64(lanes))), 256)
			if want := strconv.FormatFloat(math.Round(float64(got)/100)/10, 'f', -1, 64); err != nil || w[2] != want {
				t.Errorf("Gen%s x%s: %sG in the data, %sG by the formula, %v", b[1], w[1], w[2], want, err)
			}
		}
	}
}

// TestSpectrumCells: the cells of Spectrum 1 to 4, as the self tests of Linux'
// mlxsw have them [roce-theory A.5].
func TestSpectrumCells(t *testing.T) {
	text := packText(t, "asic_nvidia.roce.hcl")
	for generation, cell := range map[int]string{1: "96", 2: "144", 3: "144", 4: "192"} {
		m := regexp.MustCompile(fmt.Sprintf(`(?s)asic "nvidia/spectrum-%d" \{.*?\n  cell +=  *(\d+)\n`, generation)).FindStringSubmatch(text)
		if m == nil || m[1] != cell {
			t.Errorf("Spectrum-%d: cell %v, want %s", generation, m, cell)
		}
	}
}

// shippingRow is a distinct row of vendors' headroom tables.
type shippingRow struct {
	asic                  string
	mbps, cableMm, xoff   int64
	reference, at1500, hw int64 // the reference formula at MTU 9216 and 1500, the physical minimum at 1500
}

// shippingRows are those of the embedded tables for speeds that the standard
// gives a response time for.
func shippingRows(t *testing.T) (list []shippingRow) {
	t.Helper()
	f, err := os.Open("lang/packs/sonic_pg_profiles.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[shippingRow]bool{}
	for _, l := range lines[1:] {
		var n [3]int64
		for i, at := range []int{3, 4, 8} {
			if n[i], err = strconv.ParseInt(l[at], 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		row := shippingRow{asic: l[2], mbps: n[0], cableMm: n[1] * 1000, xoff: n[2]}
		link := func(mtu int64) headroom.Link {
			return headroom.Link{Mbps: row.mbps, CableMm: row.cableMm, LocalMTUBytes: mtu, PeerMTUBytes: mtu}
		}
		h, err := headroom.Reference(link(9216))
		if err != nil || seen[row] {
			continue
		}
		seen[row] = true
		row.reference = h
		if row.at1500, err = headroom.Reference(link(1500)); err != nil {
			t.Fatal(err)
		}
		if row.hw, err = headroom.PhysicalMinimum(link(1500)); err != nil {
			t.Fatal(err)
		}
		list = append(list, row)
	}
	return list
}

// TestFormulaAgainstShippingTables: the medians of vendors' xoff over the reference
// formula at MTU 9216, over distinct rows, for every family that was published
// [roce-theory A.10]. Where the embedded tables have other rows of a family than
// those that were measured, their own median is asserted beside.
func TestFormulaAgainstShippingTables(t *testing.T) {
	ratios := map[string][]float64{}
	for _, r := range shippingRows(t) {
		ratios[r.asic] = append(ratios[r.asic], float64(r.xoff)/float64(r.reference))
	}
	median := func(r []float64) float64 {
		slices.Sort(r)
		if m := len(r) / 2; len(r)%2 == 1 {
			return r[m]
		}
		return (r[len(r)/2-1] + r[len(r)/2]) / 2
	}
	near := func(got, want, by float64) bool { return want == 0 || math.Abs(got-want) <= by }
	for asic, want := range map[string]struct{ published, here, least, most float64 }{
		"Tomahawk":        {2.58, 0, 1.56, 3.72},
		"Tomahawk2":       {2.18, 2.163, 0, 0}, // other speeds of one platform
		"Tomahawk3":       {3.30, 1.481, 0, 0}, // one platform of two
		"Tomahawk4":       {2.93, 3.187, 0, 0},
		"Tomahawk5":       {4.61, 0, 1.56, 25.6},
		"Trident2":        {published: 1.66}, // none is embedded
		"Trident3":        {2.25, 0, 0, 0},
		"Trident4":        {3.68, 4.282, 0, 0}, // its least here
		"Jericho2-family": {1.33, 0, 0, 0},
		"Tofino":          {0.79, 0, 0.41, 2.03},
	} {
		r := ratios[asic]
		if len(r) == 0 {
			if asic != "Trident2" {
				t.Errorf("no row of %s", asic)
			}
			continue
		}
		got := median(r)
		expected, by := want.published, 0.0051
		if want.here != 0 {
			expected, by = want.here, 0.00051
			if near(got, want.published, 0.0051) {
				t.Errorf("%s: median %.3f is the published one", asic, got)
			}
		}
		if !near(got, expected, by) || !near(r[0], want.least, 0.0051) || !near(r[len(r)-1], want.most, 0.051) {
			t.Errorf("%s: median %.3f, %.3f to %.3f, want %+v", asic, got, r[0], r[len(r)-1], want)
		}
	}
	// Spectrum-1..6: medians 0.96 to 1.34, and 0.49 to 3.15 over all rows.
	var all []float64
	for asic, want := range map[string]float64{"Spectrum-1": 0.984, "Spectrum-2": 1.532, "Spectrum-3": 0.988, "Spectrum-4": 1.320, "Spectrum-5": 0.998, "Spectrum-6": 1.038} {
		got := median(ratios[asic])
		if !near(got, want, 0.00051) || asic != "Spectrum-2" && (got < 0.96 || got > 1.34) {
			t.Errorf("%s: median %.3f, want %.3f", asic, got, want)
		}
		all = append(all, ratios[asic]...)
	}
	if slices.Sort(all); !near(all[0], 0.49, 0.0051) || !near(all[len(all)-1], 3.15, 0.0051) {
		t.Errorf("Spectrum: %.3f to %.3f, want 0.49 to 3.15", all[0], all[len(all)-1])
	}
}

// TestShippingTablesBelow: rows below the physical minimum are Spectrum's for 1500
// to 2000 m alone; how many are below each bound is pinned [roce-theory A.10: 238,
// 34 and 15 of 1130 rows, of which these are a part].
func TestShippingTablesBelow(t *testing.T) {
	below9216, below1500, below := 0, 0, 0
	rows := shippingRows(t)
	for _, r := range rows {
		if r.xoff < r.reference {
			below9216++
		}
		if r.xoff < r.at1500 {
			below1500++
		}
		if r.xoff < r.hw {
			below++
			if !slices.Contains([]string{"Spectrum-1", "Spectrum-2", "Spectrum-3"}, r.asic) || r.cableMm < 1_500_000 || r.cableMm > 2_000_000 {
				t.Errorf("%s at %d Mb/s and %d m: %d B are below the physical minimum of %d", r.asic, r.mbps, r.cableMm/1000, r.xoff, r.hw)
			}
		}
	}
	if got, want := [4]int{len(rows), below9216, below1500, below}, [4]int{889, 194, 23, 11}; got != want {
		t.Errorf("rows, and below H(9216), H(1500) and the physical minimum: %v, want %v", got, want)
	}
}
