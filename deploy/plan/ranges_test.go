package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rocec/rocec/lang/funcs"
)

func names(format string, numbers ...int) []string {
	var list []string
	for _, n := range numbers {
		list = append(list, fmt.Sprintf(format, n))
	}
	return list
}

func TestRanges(t *testing.T) {
	var grid []string
	for a := 1; a <= 2; a++ {
		for b := 1; b <= 4; b++ {
			grid = append(grid, fmt.Sprintf("Eth1/%d/%d", a, b))
		}
	}
	cases := map[string]struct{ in, want []string }{
		"none":              {nil, nil},
		"one":               {[]string{"swp7"}, []string{"swp7"}},
		"neighbours":        {names("swp%d", 10, 9, 11), []string{"swp[9-11]"}},
		"two":               {names("swp%d", 1, 2), []string{"swp[1-2]"}},
		"steps":             {names("Ethernet%d", 0, 4, 8, 12, 16, 20, 24, 28), []string{"Ethernet[0-28:4]"}},
		"two far apart":     {names("Ethernet%d", 0, 4), []string{"Ethernet[0,4]"}},
		"gaps":              {names("swp%d", 1, 2, 3, 9, 20), []string{"swp[1-3,9,20]"}},
		"leading zeros":     {names("gpu%02d", 1, 8, 9, 10, 11), []string{"gpu[01,08-11]"}},
		"zeros and none":    {[]string{"a01", "a02", "a1", "a2", "a100"}, []string{"a[1-2,100]", "a[01-02]"}},
		"grid":              {grid, []string{"Eth1/[1-2]/[1-4]"}},
		"part of a grid":    {grid[:6], []string{"Eth1/1/[1-4]", "Eth1/2/[1-2]"}},
		"behind a number":   {[]string{"eth1np0", "eth2np0", "eth3np0"}, []string{"eth[1-3]np0"}},
		"no number":         {[]string{"smb_a", "smb_b"}, []string{"smb_a", "smb_b"}},
		"brackets":          {[]string{"p[1]", "p[2]"}, []string{"p[1]", "p[2]"}},
		"repeated":          {[]string{"swp1", "swp1"}, []string{"swp1"}},
		"beyond 64 bits":    {[]string{"p99999999999999999999", "p99999999999999999998"}, []string{"p99999999999999999998", "p99999999999999999999"}},
		"different lengths": {[]string{"rail1", "rail1a", "r1"}, []string{"r1", "rail1", "rail1a"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Ranges(c.in)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Ranges are what the language reads back as the same names.
func TestRangesAreTheLanguages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`(swp|Eth1/|gpu0|e)(0{0,2}[0-9]{1,2})((/|s|np)[0-9]{1,2})?`)
		in := rapid.SliceOfDistinct(name, rapid.ID[string]).Draw(t, "names")
		var got []string
		for _, p := range Ranges(in) {
			r, err := funcs.ParseRange(p)
			if err != nil {
				t.Fatalf("%q of %q: %v", p, in, err)
			}
			members, err := r.Names()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, members...)
		}
		slices.Sort(got)
		slices.Sort(in)
		if diff := cmp.Diff(strings.Join(in, " "), strings.Join(got, " ")); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestAddresses(t *testing.T) {
	in := []string{
		"topology.pod1.leaf[0]", "topology.pod1.leaf[1]", "topology.pod1.leaf[10]", "topology.pod1.leaf[2]",
		`node.gpu["gpu01"]`, `node.gpu["gpu02"]`, "switch.old", "switch.tor1", "switch.tor2",
	}
	want := []string{`node.gpu["gpu[01-02]"]`, "switch.old", "switch.tor[1-2]", "topology.pod1.leaf[0..2,10]"}
	var got []string
	members := 0
	for _, s := range addresses(in) {
		got = append(got, s.text)
		for _, n := range s.names {
			if !slices.Contains(in, n) {
				t.Errorf("%q covers %q, which nobody gave", s.text, n)
			}
			members++
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || members != len(in) {
		t.Errorf("%d members of %d (-want +got):\n%s", members, len(in), diff)
	}
}
