package schema

import "testing"

// TestEveryAttributeHasItsPlace: an attribute of a block whose attributes have an order is in one row, once.
func TestEveryAttributeHasItsPlace(t *testing.T) {
	seen := map[Attr]int{}
	for _, row := range order {
		for _, a := range row {
			seen[a]++
		}
	}
	for a, n := range seen {
		if n > 1 {
			t.Errorf("%s is in the order %d times", a.Name(), n)
		}
	}
	for k := range blocks {
		for _, def := range blocks[k].Attrs {
			if ordered[k] && !def.Observed && seen[def.Num] == 0 {
				t.Errorf("%s of %s has no place in the order of attributes: give it one beside its like", def.Num.Name(), Kind(k))
			}
		}
	}
}
