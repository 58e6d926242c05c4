package rocec_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/lang/diag"
)

var (
	seedFlag = flag.Uint64("seed", 1, "first seed of random fabrics")
	runsFlag = flag.Int("runs", 1000, "how many random fabrics")
)

func siteOf(seed uint64) *site { return randomSite(rand.New(rand.NewPCG(seed, 17))) }

func buildText(text string) made {
	return build(fstest.MapFS{"fabric.roce.hcl": {Data: []byte(text)}}, "2026-06-01")
}

// seeds calls do for many seeds, on all cores.
func seeds(do func(seed uint64)) { seedsOf(*runsFlag, do) }

// seedsOf is seeds for so many of them.
func seedsOf(runs int, do func(seed uint64)) {
	var next atomic.Uint64
	next.Store(*seedFlag)
	end := *seedFlag + uint64(runs)
	var work sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		work.Go(func() {
			for seed := next.Add(1) - 1; seed < end; seed = next.Add(1) - 1 {
				do(seed)
			}
		})
	}
	work.Wait()
}

// TestRandomRight: fabrics that are right, of all kinds, give no error from any
// rule or target, and nothing in them is called odd.
func TestRandomRight(t *testing.T) {
	var mu sync.Mutex
	shown := map[string]int{}
	bad := 0
	seeds(func(seed uint64) {
		s := siteOf(seed)
		m := buildText(s.String())
		if odd := slices.ContainsFunc(m.Diags, func(d diag.Diagnostic) bool { return d.Rule == "ROCE726" }); odd {
			t.Errorf("seed %d (%s): a false word: %s\n%s", seed, s.kind, m.Findings, numbered(s.String()))
		}
		if !strings.Contains("\n"+m.Findings, "\nError: ") {
			if len(m.Devices) == 0 {
				t.Errorf("seed %d: nothing was made of it", seed)
			}
			return
		}
		mu.Lock()
		defer mu.Unlock()
		bad++
		first := firstError(m.Findings)
		if shown[first]++; shown[first] == 1 && len(shown) <= 3 {
			t.Errorf("seed %d (%s): %s\n%s", seed, s.kind, m.Findings, numbered(s.String()))
		}
	})
	if bad > 0 {
		t.Errorf("%d of %d fabrics have errors: %v", bad, *runsFlag, shown)
	}
}

// firstError is the first error of findings, without names and numbers.
func firstError(findings string) string {
	_, rest, _ := strings.Cut("\n"+findings, "\nError: ")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '#'
		}
		return r
	}, line)
}

func numbered(text string) string {
	var out strings.Builder
	for i, line := range strings.Split(text, "\n") {
		fmt.Fprintf(&out, "%3d %s\n", i+1, line)
	}
	return out.String()
}

// foundShare is the least share of faults that are found on the right object,
// in thousandths.
const foundShare = 990

// TestRandomFaults: one random fault in each fabric is named by its rule, on the
// object that has it or the other end of its cable.
func TestRandomFaults(t *testing.T) {
	var mu sync.Mutex
	put, found := 0, 0
	each := map[string][2]int{}
	misses := map[string]string{}
	seeds(func(seed uint64) {
		r := rand.New(rand.NewPCG(seed, 23))
		for range 20 { // not every fault fits every fabric
			s := siteOf(seed)
			f := pick(r, faults...)
			where := f.put(r, s)
			if where == nil {
				continue
			}
			m := buildText(s.String())
			ok := slices.ContainsFunc(m.Diags, func(d diag.Diagnostic) bool { return f.names(d, where) })
			mu.Lock()
			defer mu.Unlock()
			n := each[f.name]
			put, n[0] = put+1, n[0]+1
			if ok {
				found, n[1] = found+1, n[1]+1
			} else if misses[f.name] == "" {
				misses[f.name] = fmt.Sprintf("seed %d (%s, %v): %s\n%s", seed, s.kind, where, m.Findings, numbered(s.String()))
			}
			each[f.name] = n
			return
		}
	})
	for _, f := range faults {
		n := each[f.name]
		t.Logf("%-45s %d of %d found", f.name, n[1], n[0])
		if n[0] == 0 && *runsFlag >= 1000 {
			t.Errorf("%s was never put", f.name)
		}
	}
	if put < *runsFlag*9/10 {
		t.Errorf("%d faults were put into %d fabrics", put, *runsFlag)
	}
	if found*1000 < put*foundShare {
		for name, text := range misses {
			t.Errorf("%s: %s", name, text)
		}
		t.Errorf("%d of %d faults found", found, put)
	}
}

// names reports whether a finding is of a fault, at one of some addresses.
func (f *fault) names(d diag.Diagnostic, where []string) bool {
	if !slices.Contains(f.rules, d.Rule) {
		return false
	}
	at := append([]string{d.Address}, d.Concerns...)
	for _, m := range d.Members {
		at = append(at, m.Address)
	}
	for _, a := range at {
		for _, w := range where {
			if w == anywhere || a != "" && (a == w || strings.HasPrefix(a, w+".")) {
				return true
			}
		}
	}
	return false
}
