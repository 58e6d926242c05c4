package lab

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// FaultKind is what goes wrong on a simulated device.
type FaultKind string

// Faults. The first four strike a command on the device that changes settings;
// those of the connection strike a command line that comes over it; the others
// hold for all of a device.
const (
	FaultRefuse FaultKind = "refuse" // it fails and does nothing
	FaultLie    FaultKind = "lie"    // it says that all is well and does nothing
	FaultReboot FaultKind = "reboot" // power goes at its start, and comes back
	FaultStall  FaultKind = "stall"  // it takes long

	FaultDropBefore FaultKind = "drop-before" // the connection ends before the command line is run
	FaultDrop       FaultKind = "drop"        // it ends while the command line runs, which goes on
	FaultDropAfter  FaultKind = "drop-after"  // it ends when the command line has ended, before its result is sent
	FaultHang       FaultKind = "hang"        // it runs and is not answered, and neither is what comes later: logins go through, then all is silent
	FaultSlow       FaultKind = "slow"        // every command line and file waits first
	FaultMute       FaultKind = "mute"        // it never answers: no prompt, no output, no end

	FaultHostKey FaultKind = "host-key"  // another host key is shown
	FaultDown    FaultKind = "down"      // connections are closed at once
	FaultFull    FaultKind = "disk-full" // nothing more fits on the disk

	FaultDrops FaultKind = "drops" // lossless queues drop frames: more at every look at their counters
	FaultStorm FaultKind = "storm" // pauses storm in them, likewise
	FaultLost  FaultKind = "lost"  // RDMA that it sends, gets or passes on is lost
)

var faultKinds = []FaultKind{
	FaultRefuse, FaultLie, FaultReboot, FaultStall, FaultDropBefore, FaultDrop, FaultDropAfter, FaultHang, FaultSlow, FaultMute, FaultHostKey, FaultDown, FaultFull,
	FaultDrops, FaultStorm, FaultLost,
}

// Fault is one thing that goes wrong.
type Fault struct {
	Kind  FaultKind
	Match *regexp.Regexp // command lines that it may strike; nil = any
	Nth   int            // which of them, from 1; 0 = the first
	Times int            // how many from there on; 0 = one, -1 = all
	Delay time.Duration  // of stall and slow; 0 = 3 s
}

// DefaultDelay is how long what is slow takes.
const DefaultDelay = 3 * time.Second

// Place is where a fault may strike.
type Place int

// Places.
const (
	Inside Place = iota // a command on the device that changes settings
	Line                // a command line that came over a connection
	Whole               // all of a device
)

func (k FaultKind) place() Place {
	switch k {
	case FaultRefuse, FaultLie, FaultReboot, FaultStall:
		return Inside
	case FaultDropBefore, FaultDrop, FaultDropAfter, FaultHang:
		return Line
	}
	return Whole
}

// Faults are those of one device. The zero value has none; it is safe for
// concurrent use.
type Faults struct {
	mu      sync.Mutex
	list    []*armed
	counted map[string]uint64 // of Count
}

type armed struct {
	Fault
	seen int
}

// Inject adds a fault.
func (f *Faults) Inject(one Fault) {
	if one.Delay == 0 {
		one.Delay = DefaultDelay
	}
	one.Nth = max(one.Nth, 1)
	if one.Times == 0 {
		one.Times = 1
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, &armed{Fault: one})
}

// Clear removes all faults.
func (f *Faults) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = nil
}

// Next tells which fault strikes at a place, where line is a command line. Each
// call counts.
func (f *Faults) Next(at Place, line string) (Fault, bool) {
	if f == nil {
		return Fault{}, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.list {
		if a.Kind.place() != at || a.Match != nil && !a.Match.MatchString(line) {
			continue
		}
		a.seen++
		if a.seen >= a.Nth && (a.Times < 0 || a.seen < a.Nth+a.Times) {
			return a.Fault, true
		}
	}
	return Fault{}, false
}

// Count is what a counter of frames that are dropped (FaultDrops) or of storms
// (FaultStorm) shows. It grows at every look while the fault is there, so that
// whoever looks twice sees it, however little time has passed; it never falls.
func (f *Faults) Count(k FaultKind, counter string) uint64 {
	if f == nil {
		return 0
	}
	_, grows := f.Has(k)
	f.mu.Lock()
	defer f.mu.Unlock()
	counter = string(k) + " " + counter
	if grows {
		if f.counted == nil {
			f.counted = map[string]uint64{}
		}
		f.counted[counter] += map[FaultKind]uint64{FaultDrops: 12, FaultStorm: 1}[k]
	}
	return f.counted[counter]
}

// Has tells whether a fault is there that holds as long as it is there.
func (f *Faults) Has(k FaultKind) (Fault, bool) {
	if f == nil {
		return Fault{}, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.list {
		if a.Kind == k {
			return a.Fault, true
		}
	}
	return Fault{}, false
}

// Struck tells whether a fault is there that has struck already.
func (f *Faults) Struck(k FaultKind) bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(a *armed) bool { return a.Kind == k && a.seen >= a.Nth })
}

// ParseFault reads ADDRESS=KIND, ADDRESS=KIND:N or ADDRESS=KIND:N:PATTERN, where
// N says which command is struck and PATTERN, a regular expression, which ones
// count.
func ParseFault(s string) (address string, f Fault, err error) {
	address, kind, ok := strings.Cut(s, "=")
	if !ok || address == "" {
		return "", f, fmt.Errorf("%q is not ADDRESS=KIND", s)
	}
	kind, rest, counted := strings.Cut(kind, ":")
	f.Kind = FaultKind(kind)
	if !slices.Contains(faultKinds, f.Kind) {
		var names []string
		for _, k := range faultKinds {
			names = append(names, string(k))
		}
		return "", f, fmt.Errorf("no fault is called %q: there are %s", kind, strings.Join(names, ", "))
	}
	if !counted {
		return address, f, nil
	}
	if f.Kind.place() == Whole {
		return "", f, fmt.Errorf("%s holds for all of a device, so that no number goes with it", f.Kind)
	}
	n, pattern, matched := strings.Cut(rest, ":")
	if f.Nth, err = strconv.Atoi(n); err != nil || f.Nth < 1 {
		return "", f, fmt.Errorf("%q of %q is no number of a command, which count from 1", n, s)
	}
	if matched {
		if f.Match, err = regexp.Compile(pattern); err != nil {
			return "", f, fmt.Errorf("pattern of %q: %w", s, err)
		}
	}
	return address, f, nil
}
