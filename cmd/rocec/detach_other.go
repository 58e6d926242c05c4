//go:build !unix

package main

import (
	"errors"
	"os/exec"
)

func separate(*exec.Cmd) error {
	return errors.New("--detach works on Linux and macOS: start the lab in a window of its own here")
}
