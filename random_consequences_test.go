package rocec_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang/diag"
)

// fewShare is the least share of random faults that give at most two findings, in
// thousandths.
const fewShare = 990

// TestOneFaultFewFindings: one random fault is at most two findings more than the fabric
// had without it, as what follows from it stands below; and none that stands beside another
// follows from that by what lint knows of causes.
func TestOneFaultFewFindings(t *testing.T) {
	var mu sync.Mutex
	put, few := 0, 0
	beside := map[string]int{}
	seedsOf(min(*runsFlag, 500), func(seed uint64) {
		r := rand.New(rand.NewPCG(seed, 23))
		for range 20 { // not every fault fits every fabric
			s := siteOf(seed)
			before := map[string]bool{}
			for _, d := range buildText(s.String()).Diags {
				before[d.Rule] = true
			}
			f := pick(r, faults...)
			if f.put(r, s) == nil {
				continue
			}
			var rules []string
			after := buildText(s.String()).Diags
			for _, d := range after {
				if d.Severity != diag.Notice && !before[d.Rule] {
					rules = append(rules, d.Rule)
				}
			}
			if again := lint.Consequences(slices.Clone(after)); len(again) != len(after) {
				t.Errorf("seed %d, %s: of %d findings %d follow from others of them", seed, f.name, len(after), len(after)-len(again))
			}
			mu.Lock()
			defer mu.Unlock()
			if put++; len(rules) <= 2 {
				few++
			}
			if len(rules) > 1 {
				slices.Sort(rules)
				beside[fmt.Sprintf("%s: %s", f.name, strings.Join(rules, " "))]++
			}
			return
		}
	})
	t.Logf("%d of %d faults give at most two findings", few, put)
	for _, k := range slices.Sorted(maps.Keys(beside)) {
		t.Logf("%4d %s", beside[k], k)
	}
	if few*1000 < put*fewShare {
		t.Errorf("%d of %d faults give more than two findings", put-few, put)
	}
}
