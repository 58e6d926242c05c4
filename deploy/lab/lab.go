// Package lab starts simulated devices on loopback, each behind a real SSH
// server, so that plan, apply, drift and rollback can be tried without hardware.
// It takes the intents of a fabric and returns addresses and keys. A simulated
// device keeps state, answers the documented commands with the documented text
// and errors, and goes back by itself when a change is not confirmed; it forwards
// no packets. A command that it does not know fails, as on a real device that
// lacks it.
package lab

import (
	"context"
	"io"
)

// Machine is one simulated device, whatever its system.
type Machine interface {
	// Exec runs one command line as sshd does for a login without a terminal, and
	// returns its exit code. It ends when ctx does; what the command started in the
	// background goes on.
	Exec(ctx context.Context, command string, stdin io.Reader, stdout, stderr io.Writer) int
	// Disk holds the files, which SFTP reads and writes too.
	Disk() *Disk
	// Reboot is a loss of power: what is not on the disk is gone, sessions end, and
	// the device starts from what it has stored.
	Reboot()
	// Close stops what runs on the machine.
	Close() error
}
