package targets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sync"
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
	Boot    string        // State.Boot of the session that read the device back, for VerbConfirm; "" = the device has none
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
	// VerbConfirm takes the revert off the schedule and makes the change last over a reboot. It refuses (ExitRefused)
	// where the device was started since Transaction.Boot: what was read back may not be what runs now.
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
	ID    string `json:"id"`           // of the transaction asked for
	Phase Phase  `json:"phase"`        //
	Left  int    `json:"left_seconds"` // until the device goes back by itself; 0: nothing is scheduled
	Open  string `json:"open"`         // ID of a transaction that is begun and neither confirmed nor reverted; "" for none
	// OpenLeft are the seconds until the transaction that is open goes back by itself.
	OpenLeft int `json:"open_left_seconds"`
	// Since is the ID of the change that was confirmed on the device after this one went back, or after it; "": none, or the device cannot tell.
	Since   string `json:"since"`
	Message string `json:"message"` // of the last step, one line
	Boot    string `json:"boot"`    // another one after each start of the device; "" where a start undoes what is not confirmed
}

// errState is an answer to VerbStatus that is no state.
var errState = errors.New("its status cannot be read")

// ReadState reads the answer to VerbStatus: the last line that is not empty. What a
// device says in it is bounded: phases are those of this package, IDs are IDs.
func ReadState(answer []byte) (st State, err error) {
	text := bytes.TrimSpace(answer)
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	if err := json.Unmarshal(text, &st); err != nil {
		return st, fmt.Errorf("%w: it is %.240q", errState, text)
	}
	switch st.Phase {
	case PhaseNone, PhaseBegun, PhaseChanging, PhaseChanged, PhaseFailed, PhaseConfirmed, PhaseReverting, PhaseReverted, PhaseStuck:
	default:
		return st, fmt.Errorf("%w: its phase is %.240q", errState, st.Phase)
	}
	for _, id := range []string{st.Open, st.Since} {
		if id != "" && !transactionID().MatchString(id) {
			return st, fmt.Errorf("%w: it names a transaction %.240q", errState, id)
		}
	}
	return st, nil
}

var transactionID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]{1,32}$`) })

// Armed is a change that is open on a device: it goes back by itself unless it is confirmed.
type Armed struct {
	ID   string
	Left time.Duration // 0: nothing is scheduled, and a person has to look
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

// String says what is open on a device and what to do about it.
func (a *Armed) String() string {
	if a.Left <= 0 {
		return "change " + a.ID + " is open on it and does not go back by itself: run rocec rollback --status where it was begun"
	}
	return fmt.Sprintf("change %s is open on it and goes back in %s: run rocec confirm or rocec rollback where it was begun, or wait", a.ID, a.Left)
}
