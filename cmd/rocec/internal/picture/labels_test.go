package picture

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocec/rocec/targets/targettest"
)

// TestLabels: what all lines of a gap have in common is said once, and no label
// that is written hides another.
func TestLabels(t *testing.T) {
	var all labels
	add := func(text string, tiers [2]int, x float64) {
		all = append(all, label{text: text, whole: text, tiers: tiers, spots: [][2]float64{{x, 100}, {x, 120}}, below: 400})
	}
	for i := range 3 {
		add("400G dr 40 m", [2]int{2, 1}, float64(i*10))
	}
	for i := range 3 {
		add(fmt.Sprintf("%d x 100G dac 3 m", i+1), [2]int{1, 0}, float64(i*10))
	}
	var b strings.Builder
	all.draw(&b)
	for text, want := range map[string]int{"each line:": 1, "400G dr 40 m": 1, "1 x 100G": 1, "2 x 100G": 1, "3 x 100G": 0} {
		if got := strings.Count(b.String(), text); got != want {
			t.Errorf("%q is there %d times, want %d", text, got, want)
		}
	}
}

// TestBuffers: a circle is drawn as one, its buffers side by side.
func TestBuffers(t *testing.T) {
	g := &Buffers{Title: "6 lossless buffers, a circle"}
	for i, name := range []string{"a > b", "x > y", "c > a", "b > c", "y > x", "last"} {
		g.Nodes = append(g.Nodes, Buffer{Name: name, Note: "priority 3", Marked: i == 0 || i == 2 || i == 3, Row: i / 5})
	}
	for _, e := range [][2]int{{0, 3}, {3, 2}, {2, 0}, {1, 4}, {0, 5}} {
		g.Waits = append(g.Waits, Wait{From: e[0], To: e[1], Marked: g.Nodes[e[0]].Marked && g.Nodes[e[1]].Marked})
	}
	var b strings.Builder
	if err := buffersSVG(&b, g); err != nil {
		t.Fatal(err)
	}
	targettest.Golden(t, filepath.Join("testdata", "buffers.svg"), b.String())
}
