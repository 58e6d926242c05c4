package rollout

import (
	"slices"
	"time"
)

// Outcome is what became of a device.
type Outcome string

// Outcomes. Applied, Unchanged, RolledBack and Left are ends; of Pending and Kept the
// device goes back by itself at a time that is known; Stuck and Doubt need a person.
const (
	Unchanged  Outcome = "unchanged"   // its turn did not come, or it was refused before anything was done
	Applied    Outcome = "applied"     // read back and confirmed
	Pending    Outcome = "pending"     // read back, and armed until somebody confirms
	RolledBack Outcome = "rolled_back" // as before
	Kept       Outcome = "kept"        // failed and left as it is, as was asked for; armed
	Stuck      Outcome = "stuck"       // did not go back
	Doubt      Outcome = "in_doubt"    // it is not known how it is
	Left       Outcome = "left"        // of an earlier run, named as Stuck then: nothing is open on it any more, and whoever plans next reads it
)

// Result is one device of a report.
type Result struct {
	Device  string
	Address string
	Wave    string
	Outcome Outcome
	Failed  bool   // it is why the run stopped, or among that
	Message string // why, or what to know; may be ""
	// Manual is what a person types on the device to go back, for outcomes that
	// need one.
	Manual string
	Until  time.Time // of Pending and Kept: when the device goes back by itself
}

// Part is a part of a wave. A wave that is not parted is one, without a name.
type Part struct{ Wave, Name string }

// Report is what became of a run.
type Report struct {
	ID      string
	Results []Result // in the order of the plan
	Failure string   // why the run stopped before its end, "" if it did not
	Apart   []Apart  // links whose ends did not change together
	Watched []Part   // what was watched to its end: its gates held
	Uneven  []Uneven // links that were left with one end changed
}

// Uneven is two devices of a run that a link joins, by their addresses: one was changed,
// and the other was to be and is not.
type Uneven struct{ Changed, Not string }

// Count is how many devices have one of these outcomes.
func (r *Report) Count(outcomes ...Outcome) int {
	n := 0
	for i := range r.Results {
		if slices.Contains(outcomes, r.Results[i].Outcome) {
			n++
		}
	}
	return n
}

// Exit is the exit code: 0, 1 when something failed and every device is either
// as it was or as it shall be, 3 when one is not known to be.
func (r *Report) Exit() int {
	switch {
	case r.Count(Stuck, Doubt, Kept) > 0:
		return 3
	case r.Failure != "":
		return 1
	}
	for i := range r.Results {
		if r.Results[i].Failed {
			return 1
		}
	}
	return 0
}
