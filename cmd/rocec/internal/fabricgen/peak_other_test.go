//go:build !linux

package fabricgen_test

import "os"

// peakBytes is not known: systems count it in different units or not at all.
func peakBytes(*os.ProcessState) int64 { return 0 }
