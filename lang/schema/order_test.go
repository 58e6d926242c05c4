package schema

import "testing"

// TestEveryAttributeHasItsPlace: an attribute of a block whose attributes have an order is in one row, once.
func TestEveryAttributeHasItsPlace(t *testing.T) {
	seen := map[string]int{}
	for _, word := range order {
		if seen[word]++; seen[word] > 1 {
			t.Errorf("%s is in the order twice", word)
		}
	}
	for k := range blocks {
		for _, def := range blocks[k].Attrs {
			if ordered[k] && !def.Observed && seen[def.Num.Name()] == 0 {
				t.Errorf("%s of %s has no place in the order of attributes: give it one beside its like", def.Num.Name(), Kind(k))
			}
		}
	}
}
