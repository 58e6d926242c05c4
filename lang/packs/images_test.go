package packs

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/headroom"
)

// image is what SONiC's own files say of a model: see testdata/images.txt.
type image struct {
	dir       string
	poolBytes int // 0 if the image has no pools
	lanes     int // of its widest port
	mbps      map[string]int
}

func images(t *testing.T) map[string]image {
	t.Helper()
	text, err := os.ReadFile("testdata/images.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]image{}
	for line := range strings.Lines(string(text)) {
		w := strings.Fields(line)
		if len(w) == 0 || w[0] == "#" {
			continue
		}
		im := image{dir: w[1], mbps: map[string]int{}}
		if w[2] != "-" {
			im.poolBytes = atoi(t, w[2])
		}
		for _, run := range w[3:] {
			ports, mbps, _ := strings.Cut(run, "=")
			ports, lanes, _ := strings.Cut(ports, "/")
			im.lanes = max(im.lanes, atoi(t, lanes))
			for _, port := range members(t, "Ethernet["+ports+"]") {
				im.mbps[port] = atoi(t, mbps)
			}
		}
		all[w[0]] = im
	}
	return all
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// integer is a number attribute, 0 if there is none.
func integer(t *testing.T, b block, name string) int {
	t.Helper()
	a := b.body.Attributes[name]
	if a == nil {
		return 0
	}
	v, diags := a.Expr.Value(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	n, _ := v.AsBigFloat().Int64()
	return int(n)
}

// fact is one of the further numbers, 0 if it is not stated.
func fact(t *testing.T, b block, name string) int {
	t.Helper()
	a := b.body.Attributes["facts"]
	if a == nil {
		return 0
	}
	v, diags := a.Expr.Value(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if !v.Type().HasAttribute(name) {
		return 0
	}
	n, _ := v.GetAttr(name).AsBigFloat().Int64()
	return int(n)
}

// TestModelsAsImagesHaveThem holds ports, speeds, lanes and packet buffers of all
// switches against the files of their SONiC images.
func TestModelsAsImagesHaveThem(t *testing.T) {
	chips := map[string]block{}
	for _, b := range blocks(t) {
		if b.kind == "asic" {
			chips[b.name] = b
		}
	}
	left := images(t)
	for _, b := range blocks(t) {
		if b.kind != "switch_model" {
			continue
		}
		im, ok := left[b.name]
		delete(left, b.name)
		source, _ := text(b.body, "source")
		if !ok || !strings.HasSuffix(source, im.dir) {
			t.Errorf("%s has its data from %s, and the figures here are of %q", b, source, im.dir)
			continue
		}
		if got := integer(t, b, "lanes"); got != im.lanes {
			t.Errorf("%s: %d lanes, want %d", b, got, im.lanes)
		}
		asic, _ := text(b.body, "asic")
		got := cmp.Or(fact(t, b, "image_pool_bytes"), integer(t, chips[asic], "buffer"))
		if im.poolBytes > 0 && got != im.poolBytes {
			t.Errorf("%s: buffer of %d bytes, and its image sets up %d", b, got, im.poolBytes)
		}
		if chip := integer(t, chips[asic], "buffer"); im.poolBytes > chip {
			t.Errorf("%s: its image sets up %d bytes, and %s has %d", b, im.poolBytes, asic, chip)
		}
		speeds := map[string]int{}
		all, _ := object(b.body, "speeds")["*"]
		for _, port := range portNames(t, b)["sonic"] {
			speeds[port] = mbps(t, all)
		}
		for ports, speed := range object(b.body, "speeds") {
			for _, port := range members(t, ports) {
				if _, has := speeds[port]; has {
					speeds[port] = mbps(t, speed)
				}
			}
		}
		if b.name == "dell/z9100-on" { // its port_config.ini has no speeds
			for port := range im.mbps {
				im.mbps[port] = 100_000
			}
		}
		if diff := gocmp.Diff(im.mbps, speeds); diff != "" {
			t.Errorf("%s: speed in Mb/s by port (-image +data):\n%s", b, diff)
		}
	}
	for name := range left {
		t.Errorf("there is no %s", name)
	}
}

// mbps reads "100G"; no speed is 0.
func mbps(t *testing.T, speed string) int {
	t.Helper()
	if speed == "" {
		return 0
	}
	gbps, _ := strings.CutSuffix(speed, "G")
	return atoi(t, gbps) * 1000
}

// TestCellsOfTables: an image sizes headroom in whole cells of its chip, so the
// greatest number that divides all sizes of its table is a number of cells.
func TestCellsOfTables(t *testing.T) {
	cells := map[string]int{}
	for _, b := range blocks(t) {
		if b.kind == "asic" {
			cells[b.name] = integer(t, b, "cell")
		}
	}
	for _, c := range []struct{ asic, platform, sku string }{
		{"broadcom/trident3", "x86_64-arista_7050cx3_32s", "Arista-7050CX3-32S-C32/BALANCED"},
		{"broadcom/trident3", "x86_64-dellemc_s5232f_c3538-r0", "DellEMC-S5232f-C32"},
		{"broadcom/tomahawk", "common/profiles/th", "gen/BALANCED"},
		{"broadcom/tomahawk", "x86_64-dell_z9100_c2538-r0", "Force10-Z9100-C32"},
		{"broadcom/tomahawk2", "common/profiles/th2", "7260/BALANCED"},
		{"broadcom/tomahawk3", "x86_64-dellemc_z9332f_d1508-r0", "DellEMC-Z9332f-O32"},
		{"broadcom/tomahawk4", "x86_64-dell_z9664f-r0", "DellEMC-Z9664f-O64"},
		{"broadcom/tomahawk5", "x86_64-dell_z9864f-r0", "Dell-Z9864f-O64"},
	} {
		unit := 0
		rows := slices.DeleteFunc(HeadroomRows(c.platform), func(r headroom.Row) bool { return r.SKU != c.sku })
		for _, r := range rows {
			for _, bytes := range []int64{r.SizeBytes, r.XonBytes, r.XonOffsetBytes, r.XoffBytes} {
				unit = gcd(unit, int(bytes))
			}
		}
		if unit == 0 || cells[c.asic] == 0 || unit != cells[c.asic] {
			t.Errorf("%d rows of %s %s are in units of %d bytes, and the cell of %s is %d", len(rows), c.platform, c.sku, unit, c.asic, cells[c.asic])
		}
	}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
