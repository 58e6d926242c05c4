package headroom_test

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/headroom"
)

// TestSpectrumScript compares the exact arithmetic with what the device's script
// computed in floating point.
func TestSpectrumScript(t *testing.T) {
	f, err := os.Open("testdata/spectrum.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, seen := 0, map[string]int{}
	for in := bufio.NewScanner(f); in.Scan(); {
		if strings.HasPrefix(in.Text(), "#") {
			continue
		}
		w := strings.Fields(in.Text())
		if len(w) != 17 {
			t.Fatalf("row of %d words: %s", len(w), in.Text())
		}
		port, want := scriptRow(t, w)
		got, err := headroom.Spectrum(port)
		if err != nil || got != want {
			t.Errorf("%s\ngot  %+v, %v\nwant %+v", in.Text(), got, err, want)
		}
		rows++
		seen[w[0]]++
	}
	if rows < 300 || len(seen) != 3 {
		t.Errorf("%d rows of %v, want 300 or more of three branches", rows, seen)
	}
}

// scriptRow turns a line of testdata/spectrum.txt into an input and its result.
func scriptRow(t *testing.T, w []string) (headroom.SpectrumPort, headroom.PGProfile) {
	t.Helper()
	gen, err := headroom.GenerationOf(w[0])
	if err != nil {
		t.Fatal(err)
	}
	p := headroom.SpectrumPort{
		Generation:           gen,
		Mbps:                 decimal(t, w[1], 0),
		CableMm:              decimal(t, w[2], 3),
		PortMTUBytes:         decimal(t, w[3], 0),
		GearboxNs:            decimal(t, w[4], 0),
		EightLanes:           w[5] == "8",
		OnTile:               w[6] == "4" || w[6] == "5",
		CellBytes:            decimal(t, w[7], 0),
		PipelineKiB:          decimal(t, w[8], 0),
		MacPhyTenthKiB:       decimal(t, w[9], 1),
		PeerResponseTenthKiB: decimal(t, w[10], 1),
		LosslessMTUBytes:     decimal(t, w[11], 0),
		SmallPercent:         decimal(t, w[12], 0),
		SharedPool:           w[13] != "0",
	}
	if w[6] == "6" {
		p.CompensationBytes = 18 * 1024
	}
	return p, headroom.PGProfile{
		XonBytes:  decimal(t, w[14], 0),
		XoffBytes: decimal(t, w[15], 0),
		SizeBytes: decimal(t, w[16], 0),
	}
}

// decimal reads a number with up to places digits after the point, scaled up by
// 10^places.
func decimal(t *testing.T, s string, places int) int64 {
	t.Helper()
	whole, frac, _ := strings.Cut(s, ".")
	if len(frac) > places {
		t.Fatalf("%s has more than %d places", s, places)
	}
	n, err := strconv.ParseInt(whole+frac+strings.Repeat("0", places-len(frac)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
