package fabricgen_test

import (
	"os"
	"syscall"
)

// peakBytes is the largest resident set of a process that has ended.
func peakBytes(p *os.ProcessState) int64 {
	return p.SysUsage().(*syscall.Rusage).Maxrss * 1024 // in KiB on Linux
}
