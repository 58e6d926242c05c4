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

// TestFormulaAgainstShippingTables: the medians of vendors' xoff over the reference
// formula at MTU 9216, over distinct rows, are those that were published for the
// families whose tables have not changed since [roce-theory A.10].
func TestFormulaAgainstShippingTables(t *testing.T) {
	f, err := os.Open("lang/packs/sonic_pg_profiles.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	type key struct {
		asic              string
		mbps, cable, xoff int64
	}
	seen, ratios := map[key]bool{}, map[string][]float64{}
	for _, l := range lines[1:] {
		var n [3]int64
		for i, at := range []int{3, 4, 8} {
			if n[i], err = strconv.ParseInt(l[at], 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		k := key{l[2], n[0], n[1], n[2]}
		h, err := headroom.Reference(headroom.Link{Mbps: k.mbps, CableMm: k.cable * 1000, LocalMTUBytes: 9216, PeerMTUBytes: 9216})
		if err != nil || seen[k] { // a speed that the standard gives no response time for
			continue
		}
		seen[k] = true
		ratios[k.asic] = append(ratios[k.asic], float64(k.xoff)/float64(h))
	}
	for asic, want := range map[string][3]float64{ // median, least, most
		"Tomahawk":        {2.58, 1.56, 3.72},
		"Tomahawk5":       {4.61, 1.56, 25.6},
		"Trident3":        {2.25, 0, 0},
		"Jericho2-family": {1.33, 0, 0},
		"Tofino":          {0.79, 0.41, 2.03},
	} {
		r := ratios[asic]
		if len(r) == 0 {
			t.Errorf("no row of %s", asic)
			continue
		}
		slices.Sort(r)
		median := r[len(r)/2]
		if len(r)%2 == 0 {
			median = (r[len(r)/2-1] + median) / 2
		}
		near := func(got, want, by float64) bool { return want == 0 || math.Abs(got-want) <= by }
		if !near(median, want[0], 0.0051) || !near(r[0], want[1], 0.0051) || !near(r[len(r)-1], want[2], 0.051) {
			t.Errorf("%s: median %.3f, %.3f to %.3f, want %v", asic, median, r[0], r[len(r)-1], want)
		}
	}
}
