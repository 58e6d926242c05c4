package resolve

import (
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// Rows are in the order of their names and not of the blocks that make them: which of
// two is the first, and is named or blamed in a tie, must not follow from where in a
// file, or in which file, a block stands.

// byName puts blocks into the natural order of their names, in place.
func byName(cfg *lang.Config, list []lang.BlockID) {
	compare := func(a, b lang.BlockID) int {
		x, y := cfg.Blocks[a].Name, cfg.Blocks[b].Name
		switch {
		case a == b || x == y && x == 0:
			return 0
		case x == y: // in two modules
			return strings.Compare(cfg.Address(a), cfg.Address(b))
		}
		return intent.Natural(cfg.String(x), cfg.String(y))
	}
	if !slices.IsSortedFunc(list, compare) { // as they are mostly
		slices.SortStableFunc(list, compare)
	}
}

// kidsByName calls visit for each child of a kind, by name.
func (r *resolver) kidsByName(b lang.BlockID, k schema.Kind, visit func(lang.BlockID)) {
	first, end := r.cfg.Kids(b)
	r.kidRoom = r.kidRoom[:0]
	for id := first; id < end; id++ {
		if r.cfg.Blocks[id].Kind == k {
			r.kidRoom = append(r.kidRoom, id)
		}
	}
	byName(r.cfg, r.kidRoom)
	for _, id := range r.kidRoom {
		visit(id)
	}
}
