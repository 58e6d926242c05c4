package intent

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNatural(t *testing.T) {
	for _, want := range [][]string{
		{"Ethernet0", "Ethernet4", "Ethernet12", "Ethernet100", "eth1/1/2", "eth1/1/10", "swp1", "swp1s0", "swp1s10", "swp2", "swp02", "swp10", "swp10s1", "swp10s2", "swp11"},
		{"", "0", "00", "1", "1x", "01", "01x", "01y", "2", "a"},
		{"a1b2", "a1b10", "a01b1", "a2b0"},
		{"p99999999999999999998", "p99999999999999999999", "p100000000000000000000"},
		{"p1", "p9223372036854775808", "p18446744073709551615"},
	} {
		got := slices.Clone(want)
		slices.Reverse(got)
		slices.SortFunc(got, Natural)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// Every short name over letters, digits and zeros, each against each other.
func TestNaturalIsATotalOrder(t *testing.T) {
	names := []string{""}
	for from, n := 0, 0; n < 4; n++ {
		to := len(names)
		for _, name := range names[from:to] {
			for _, c := range []string{"/", "0", "1", "2", "x"} {
				names = append(names, name+c)
			}
		}
		from = to
	}
	slices.SortFunc(names, Natural)
	for i, a := range names {
		for j, b := range names {
			if c := Natural(a, b); (c < 0) != (i < j) || (c == 0) != (i == j) {
				t.Fatalf("%q is name %d in order and %q name %d, yet they compare as %d", a, i, b, j, c)
			}
		}
	}
}

func BenchmarkNatural(b *testing.B) {
	for b.Loop() {
		Natural("Ethernet1/17/3", "Ethernet1/17/12")
	}
}
