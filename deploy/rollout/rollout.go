// Package rollout changes devices over sessions: wave after wave, a few devices
// at a time, each in a transaction of its own that goes back by itself unless it
// is confirmed after a new session has read the device back. It takes a Plan,
// which names devices, and an Env, through which it reaches them; it writes a
// journal before each step, so that a run that died can be looked at (Look),
// settled (Settle), confirmed (Confirm) or taken back (Back); it returns a Report
// that says of every device what became of it. What happens on a device is done
// there, by programs of its target. Rendering, and what a plan is made from, are
// left to the callers.
package rollout

import (
	"context"
	"iter"
	"net/netip"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/targets"
)

// Plan is what is to be done, and how carefully.
type Plan struct {
	ID           string // of the transactions: [a-z0-9]{1,32}, see NewID
	Workspace    string
	RocecVersion string
	By           string // who runs it, user@host
	Digest       string // of what was approved, for whoever resumes; "" = unknown
	Waves        []Wave
	Devices      []Device
	// Again are devices that earlier runs have changed, of waves that were not watched
	// to their end (History.Unwatched): they are watched with their waves, before a later
	// one begins, and not changed.
	Again []Device
	// Over reports whether a transaction is of an earlier run that is at its end for the
	// device. Its process may have died with the first verb on the way, which came after
	// the device had said that nothing is there. nil: none is known.
	Over func(device, transaction string) bool
	// Partners are the hosts with RDMA addresses in a network, in this plan or not: one
	// that changes alone sends RDMA to one of them for its gate. nil: none is known.
	Partners func(network netip.Prefix) iter.Seq[*Device]
	// Confirm is the time after which a device goes back unless it was confirmed,
	// counted from the beginning of its transaction.
	Confirm time.Duration
	// Hold leaves the confirmation to a person: devices stay armed after a good
	// look back.
	Hold bool
	// KeepFailed leaves a device that failed as it is, for its own timer or a person.
	KeepFailed bool
	// Stop leaves the devices of a wave that are done when another one fails; else
	// those of its part go back too.
	Stop bool
	// Patience is for how long a device is asked again that does not answer, from
	// when it should have gone back by itself: it may be booting. 0 = DefaultPatience.
	Patience    time.Duration
	Parallelism int // devices that change together at most; < 1 is 1
	// MaxSharePercent bounds how many devices of one role change together; 0 = not.
	// One device always may.
	MaxSharePercent int
	Roles           map[string]int // how many devices a role has, in this plan or not
}

// Wave is devices that change before those of the next wave do.
type Wave struct {
	Name  string
	Soak  time.Duration // how long each part of it is watched; see Watched
	Gates Gates
}

// Gates are what must hold before the next part of a wave, and the next wave.
type Gates struct {
	Verify, NoPauseStorm, NoDiscards, RDMAPing bool
}

// Any reports whether there is a gate.
func (g Gates) Any() bool { return g != Gates{} }

// Device is one device that changes. What takes memory is made when its turn comes.
type Device struct {
	Name    string
	Address string // as the command line takes it: `switch.tor`
	Target  *targets.Target
	Session session.Spec
	Wave    int      // 1 + index of its wave; 0: in none, and then last
	Group   string   // the part of its wave
	Rank    int      // inside of the part, the lowest first
	Role    string   // for Plan.MaxSharePercent
	Peers   []string // names of devices at the other end of its links
	// Base is the digest of the observed intent that the plan was made from; "":
	// the plan was made without looking at the device.
	Base   string
	Intent func() *intent.Device
	// Make makes the files, for a device as it was found.
	Make func(found targets.Captured) (*apply.Device, error)
	// Entry makes what the record holds of the device once it is applied.
	Entry func() (*record.Entry, error)
}

// Record keeps what was applied. A lock of the record is held by whoever calls.
type Record interface {
	Get(device string) (e *record.Entry, version string, err error)
	Put(e *record.Entry, expected string) (version string, err error)
	Delete(device, expected string) error
}

// Env is how a run reaches what is outside of it.
type Env struct {
	Dialer session.Dialer
	// Observe runs the probes of a target and returns what they print.
	Observe func(context.Context, session.Session, *intent.Device, *targets.Target) (targets.Captured, error)
	Journal *Journal
	Record  Record
	Now     func() time.Time // for what is written down; how long things take is not measured by it
	Tell    func(Event)      // may be nil; called by one goroutine at a time
}

// Event is something that happened, for whoever watches.
type Event struct {
	Kind    Kind
	Wave    string // "" = none
	Part    string // of Soaking: the part of the wave that is watched, "" = all of it
	Device  string
	Address string
	Phase   string // of Progress: "reading", "changing", "reading back"
	Outcome Outcome
	Message string
	Total   int           // of WaveStart: devices of the wave that change; 0: it is watched again
	Soak    time.Duration // of Soaking
	Until   time.Time     // of Pending: when it goes back by itself
}

// Kind is a kind of event, in the words of the stream.
type Kind string

// Kinds of events.
const (
	WaveStart        Kind = "wave_start"
	WaveComplete     Kind = "wave_complete"
	Soaking          Kind = "wave_soak"
	Start            Kind = "apply_start"
	Progress         Kind = "apply_progress"
	Complete         Kind = "apply_complete"
	Errored          Kind = "apply_errored"
	ConfirmPending   Kind = "confirm_pending"
	RollbackStart    Kind = "rollback_start"
	RollbackComplete Kind = "rollback_complete"
)

// DefaultConfirm is Plan.Confirm where nobody says.
const DefaultConfirm = 5 * time.Minute

// DefaultParallelism is Plan.Parallelism where nobody says, that of Terraform.
const DefaultParallelism = 10

// DefaultPatience is Plan.Patience where nobody says.
const DefaultPatience = 2 * time.Minute

func (p *Plan) patience() time.Duration {
	if p.Patience > 0 {
		return p.Patience
	}
	return DefaultPatience
}
