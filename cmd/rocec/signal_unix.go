//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreFileSize makes a write beyond the limit of file sizes an error of the
// write, as on a full disk, where the signal would end the process.
func ignoreFileSize() { signal.Ignore(syscall.SIGXFSZ) }
