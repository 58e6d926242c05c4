//go:build !unix

package main

import (
	"os"
	"testing"
)

// standStill would hold a process: here it goes on, and has to be slow enough.
func standStill(*testing.T, *os.Process) (goOn func()) { return func() {} }
