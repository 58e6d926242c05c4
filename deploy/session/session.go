// Package session opens sessions to devices over SSH. It takes a Spec, which
// says how a device is reached and names secrets without holding them, and
// returns a Session that runs one command at a time. Host keys are checked
// strictly. Errors say which device, what was being done, and of which kind they
// are (Error); what a device itself answers is an Output and no error. What is
// run, and what the answers mean, is left to the callers.
package session

import (
	"context"
	"fmt"

	"github.com/rocec/rocec/targets"
)

// Spec is how a device is reached.
type Spec struct {
	Device          string // its name, for messages
	Address         string // host name or IP address
	Port            uint16 // 0 = 22
	User            string // "" = that of the process
	Identity        []string
	Agent           bool     // keys of the agent at SSH_AUTH_SOCK
	PasswordEnv     string   // name of the environment variable that holds the password
	PasswordCommand []string // program and arguments that print it
	EnableEnv       string   // name of the variable for the privileged mode of a prompt
	KnownHosts      []string // files; none = that of the user and that of the system
	HostKey         string   // pinned: "SHA256:..." or "ssh-ed25519 AAAA..."
	Legacy          bool     // SHA-1 too, for key exchange and integrity
	Jump            []Spec   // hosts on the way, the nearest first
	Shell           targets.Shell
	Platform        string // of a prompt: which system's it is; "" = "sonic-cli"
}

// Session is one open way to a device. One call at a time, but Close may come at
// any time and ends what is under way. When the context of a call ends, so does
// the session, as it does with KindLost and KindTimeout.
type Session interface {
	// Run runs one command, with stdin, and waits for its end. That a command ends
	// with a code other than 0 is no error. A prompt tells no code: there a command
	// that is refused is one (KindRefused).
	Run(ctx context.Context, command string, stdin []byte) (Output, error)
	// Configure puts files on the device and runs a command among them, or, where
	// there is a prompt only, enters lines in its configuration mode and stops at
	// the first that is refused (KindRefused).
	Configure(ctx context.Context, c Change) (Output, error)
	Close() error
}

// Output is what a command answered.
type Output struct {
	Stdout, Stderr []byte
	Exit           int // code; -1 where the system tells none
}

// Change is what Configure does.
type Change struct {
	Folder  string   // on the device, absolute; made when it is not there
	Files   []File   // put there first, each whole or not at all
	Dir     string   // where Command is run, from Folder
	Command string   // "" = none
	Lines   []string // of a prompt's configuration mode
}

// File is one file of a Change.
type File struct {
	Path  string // from Change.Folder, forward slashes
	Mode  uint32
	Bytes []byte
}

// Dialer opens sessions.
type Dialer interface {
	Dial(ctx context.Context, to Spec) (Session, error)
}

// Kind is what went wrong, as far as it decides what may be done next.
type Kind string

// Kinds. After Lost and Timeout of a command it is not known whether it ran.
const (
	KindUnreachable Kind = "unreachable" // no connection: name, route, port, jump host
	KindHostKey     Kind = "host_key"    // unknown or wrong
	KindAuth        Kind = "auth"
	KindTimeout     Kind = "timeout"
	KindLost        Kind = "lost" // the session ended in the middle
	KindRefused     Kind = "refused"
	KindLocal       Kind = "local" // something here: a key file, a variable, a name
)

// Error is a failure of a session. It holds no secret.
type Error struct {
	Device string
	Op     string // "connect", "run", "copy files", "configure"
	Kind   Kind
	Help   string // what to do; may be ""
	Err    error
}

// Error names the device, what was being done and why it failed.
func (e *Error) Error() string {
	if e.Help == "" {
		return fmt.Sprintf("%s: %s: %v", e.Device, e.Op, e.Err)
	}
	return fmt.Sprintf("%s: %s: %v (%s)", e.Device, e.Op, e.Err, e.Help)
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }
