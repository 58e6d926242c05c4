//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// separate gives a process a session of its own, so that it goes on without the
// terminal.
func separate(c *exec.Cmd) error {
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return nil
}
