package targets

import (
	"time"

	"github.com/rocec/rocec/compiler/intent"
)

// Live says how a device of a target is changed over a session. What happens on
// the device is done there, by a program that the target puts beside the
// artifacts: a session that breaks leaves it at work, and what it did can be
// asked for later. The program takes a verb (Verb), the transaction's ID and the
// time after which the device goes back by itself.
type Live struct {
	Shell Shell
	// Root is the folder on the device under which transactions lie, an absolute
	// path of plain characters. A transaction is the folder Root/ID, which is laid
	// out as a tree of artifacts: ID/<device>/... and ID/common/<kit>/...
	Root string
	// Prepare is the command line that makes the transaction's folder, Root/ID, so
	// that the login may put files there, to be run before any is put, in the folder
	// of the login. It exits with ExitRefused where that cannot be done. Nil: putting
	// files makes it.
	Prepare func(tx Transaction) string
	// Command is the command line for one verb, to be run in the folder of the
	// device inside the transaction's (Root/ID/<device>), but VerbStatus, which runs
	// where nothing may have been put yet, in the folder of the login.
	Command func(v Verb, tx Transaction) string
	// Manual is what a person types on the device to go back, for messages.
	Manual func(tx Transaction) string
	// Confirms says what keeps the time on the device: "nv config apply --confirm",
	// "a systemd timer", "a scheduled task".
	Confirms string
}

// Transaction is one change of one device.
type Transaction struct {
	ID      string // [a-z0-9]{1,32}: that of the whole apply, the same on every device
	Device  *intent.Device
	Confirm time.Duration // after which the device goes back unless it is confirmed; whole seconds
}

// Shell is what takes command lines on a device.
type Shell string

// Shells. Prompt is a system that has no other way in than its own prompt.
const (
	POSIX      Shell = "posix"
	PowerShell Shell = "powershell"
	Prompt     Shell = "prompt"
)

// Verb is one step of a transaction on a device.
type Verb string

// Verbs, in the order of a change that goes well. Each may be given again: what
// is done already is done.
const (
	// VerbBegin refuses (ExitRefused) where the device is another one, where somebody
	// else's change is open or where the revert cannot be scheduled; else it keeps
	// what there is and schedules the revert. Nothing of the device's settings changes.
	VerbBegin Verb = "begin"
	// VerbChange makes the change and returns when it has ended. It goes on when the
	// session breaks.
	VerbChange Verb = "change"
	// VerbStatus prints one line of JSON, a State. It changes nothing.
	VerbStatus Verb = "status"
	// VerbConfirm takes the revert off the schedule and makes the change last over a reboot.
	VerbConfirm Verb = "confirm"
	// VerbRevert goes back now, also after VerbConfirm.
	VerbRevert Verb = "revert"
)

// Exit codes of verbs. Any other is a failure that left the state as VerbStatus says.
const (
	ExitDone    = 0
	ExitRefused = 10 // nothing was changed or begun; the last line of stderr says why
	ExitFailed  = 20 // the change, or its confirmation, did not go through; the revert is scheduled still
	ExitStuck   = 30 // the revert did not go through: a person has to
)

// State is what VerbStatus prints.
type State struct {
	ID      string `json:"id"`           // of the transaction asked for
	Phase   Phase  `json:"phase"`        //
	Left    int    `json:"left_seconds"` // until the device goes back by itself; 0: nothing is scheduled
	Open    string `json:"open"`         // ID of a transaction that is begun and neither confirmed nor reverted; "" for none
	Message string `json:"message"`      // of the last step, one line
}

// Phase is how far a transaction got on a device.
type Phase string

// Phases. Between PhaseBegun and PhaseConfirmed the device goes back by itself.
const (
	PhaseNone      Phase = "none" // never begun, or forgotten
	PhaseBegun     Phase = "begun"
	PhaseChanging  Phase = "changing"
	PhaseChanged   Phase = "changed"
	PhaseFailed    Phase = "failed" // the change ended badly; the revert is scheduled
	PhaseConfirmed Phase = "confirmed"
	PhaseReverting Phase = "reverting"
	PhaseReverted  Phase = "reverted" // the device is as it was before VerbBegin
	PhaseStuck     Phase = "stuck"    // the revert ended badly
)
