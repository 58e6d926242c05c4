package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// What the heap may grow by before it is collected: as much as is live, as the
// runtime has it, but not less than leastBytes nor more than mostBytes, and of what
// is larger by largePercent up to largeBytes. A fabric grows while it is compiled and
// little of it is garbage, so that collecting often while it is small is mostly in
// vain; of a large one the peak counts more than the time. Percents bound what a very
// small or very large heap would ask for.
const (
	leastBytes   = 192 << 20
	mostBytes    = 256 << 20
	largePercent = 75
	largeBytes   = 384 << 20
	mostPercent  = 300
	leastPercent = 50
)

// growth is the percentage of live memory that the heap may grow by.
func growth(live uint64) int {
	if live == 0 {
		return mostPercent
	}
	spare := max(min(max(live, leastBytes), mostBytes), min(live*largePercent/100, largeBytes))
	return int(min(max(spare*100/live, leastPercent), mostPercent))
}

// collectLess paces the collector by the memory that is live, unless the
// environment does. It has the say over the whole process.
func collectLess() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(growth(0))
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	type mark struct{ _ [16]byte }
	var pace func(*mark)
	pace = func(m *mark) {
		metrics.Read(live)
		debug.SetGCPercent(growth(live[0].Value.Uint64()))
		runtime.SetFinalizer(m, pace) // the next collection finds it unused again
	}
	runtime.SetFinalizer(&mark{}, pace)
}
